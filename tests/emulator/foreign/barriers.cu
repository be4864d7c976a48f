// Barriers by number, of some warps, that count, that some only arrive at.
extern "C" __global__ void barriers_count(const unsigned *in, unsigned *out)
{
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x, value = in[at];
    int odd = __syncthreads_count(value & 1);
    int all = __syncthreads_and(value != 0), any = __syncthreads_or((value & 0xff) == 7);

    out[at] = odd << 8 | (all != 0) << 4 | (any != 0);
}

// Pairs of warps exchange their values at a barrier of their own, then all do by way of two
// barriers: four warps write and only arrive, the other four wait and read.
extern "C" __global__ void barriers_named(const unsigned *in, unsigned *out)
{
    __shared__ unsigned pairs[256], ring[128];
    unsigned warp = threadIdx.x / 32, pair = warp / 2 + 1, mixed;

    pairs[threadIdx.x] = in[threadIdx.x];
    asm volatile("bar.sync %0, 64;" ::"r"(pair) : "memory");
    mixed = pairs[threadIdx.x ^ 32] + pairs[threadIdx.x] * 2;
    for (int turn = 0; turn < 3; turn++) {
        if (warp < 4) {
            asm volatile("barrier.sync 9, 256;" ::: "memory");
            ring[threadIdx.x] = mixed * (turn + 1);
            __threadfence_block();
            asm volatile("bar.arrive 10, 256;" ::: "memory");
        } else {
            asm volatile("bar.arrive 9, 256;" ::: "memory");
            asm volatile("bar.sync 10, 256;" ::: "memory");
            mixed ^= ring[(threadIdx.x * 5 + turn) % 128];
        }
    }
    out[threadIdx.x] = mixed;
    unsigned votes;
    asm volatile("{\n.reg .pred odd;\nsetp.ne.u32 odd, %1, 0;\nbarrier.cta.red.popc.aligned.u32 "
                 "%0, 11, odd;\n}"
                 : "=r"(votes)
                 : "r"(mixed & 1)
                 : "memory");
    if (threadIdx.x == 0)
        out[256] = votes;
}
