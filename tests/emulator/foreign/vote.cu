// Votes and matches, among all lanes and among those that a branch has left.
extern "C" __global__ void vote(const unsigned *in, unsigned *out)
{
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x, value = in[at];
    unsigned lane = threadIdx.x & 31, *to = out + at * 10, below, equal;
    int same;

    to[0] = __ballot_sync(0xffffffff, value & 1);
    to[1] = __any_sync(0xffffffff, (value & 31) == 0) | __all_sync(0xffffffff, value & 0xff) << 1;
    to[2] = __match_any_sync(0xffffffff, value & 3);
    to[3] = __match_all_sync(0xffffffff, value & 0x100, &same);
    to[4] = same;
    to[5] = __match_any_sync(0xffffffff, (unsigned long long)(value & 1) << 40);
    to[6] = to[7] = 0;
    // Only the odd ones: numbered in their order, they agree among themselves.
    unsigned odd = __ballot_sync(0xffffffff, value & 1);
    if (value & 1) {
        asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
        to[6] = __popc(odd & below) + 1;
        to[7] = __ballot_sync(odd, value & 2) | 0x80000000u * __any_sync(odd, value & 4);
    }
    __syncwarp();
    asm("{\n.reg .pred in, all;\nsetp.ne.u32 in, %1, 0;\n"
        "vote.sync.uni.pred all, in, 0xffffffff;\nselp.u32 %0, 1, 0, all;\n}"
        : "=r"(equal)
        : "r"(value & 0x200));
    to[8] = equal;
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(below));
    to[9] = below ^ lane;
}

// Shuffles of all kinds, of narrower rows, of 64 bits, and from lanes outside.
extern "C" __global__ void shuffle(const unsigned *in, unsigned *out)
{
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x, value = in[at];
    unsigned lane = threadIdx.x & 31, *to = out + at * 10, moved, valid;

    to[0] = __shfl_sync(0xffffffff, value, value);
    to[1] = __shfl_sync(0xffffffff, value, 5, 8);
    to[2] = __shfl_up_sync(0xffffffff, value, 3);
    to[3] = __shfl_up_sync(0xffffffff, value, 2, 4);
    to[4] = __shfl_down_sync(0xffffffff, value, 7, 16);
    to[5] = __shfl_xor_sync(0xffffffff, value, 21);
    to[6] = __shfl_xor_sync(0xffffffff, value, 4, 4);
    unsigned long long wide = __shfl_sync(0xffffffff, (unsigned long long)value * value, lane ^ 9);
    to[7] = (unsigned)(wide >> 32) ^ (unsigned)wide;
    double real = __shfl_down_sync(0xffffffff, (double)value / 3, 1);
    to[8] = (unsigned)(real * 2);
    asm("{\n.reg .pred inside;\nshfl.sync.up.b32 %0|inside, %2, 6, 0x0800, 0xffffffff;\n"
        "selp.u32 %1, 1, 0, inside;\n}"
        : "=r"(moved), "=r"(valid)
        : "r"(value));
    to[9] = moved + valid;
}
