// Sums of blocks by shuffles, then of warps through shared memory; reductions by redux.sync.
extern "C" __global__ void reduce_shuffle(const float *in, float *sums, int count)
{
    __shared__ float of_warps[32];
    float sum = 0;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        sum += in[i];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (threadIdx.x % 32 == 0)
        of_warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? of_warps[threadIdx.x] : 0;
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, step);
        if (threadIdx.x == 0)
            sums[blockIdx.x] = sum;
    }
}

// Eight results a warp: of all lanes, and of the lanes whose value is odd or even.
extern "C" __global__ void reduce_redux(const unsigned *in, unsigned *out)
{
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = in[at];
    unsigned all[7], part;

    all[0] = __reduce_add_sync(0xffffffff, value);
    all[1] = __reduce_min_sync(0xffffffff, value);
    all[2] = __reduce_max_sync(0xffffffff, value);
    all[3] = __reduce_and_sync(0xffffffff, value);
    all[4] = __reduce_or_sync(0xffffffff, value);
    all[5] = __reduce_xor_sync(0xffffffff, value);
    all[6] = (unsigned)__reduce_min_sync(0xffffffff, (int)value);
    unsigned odd = __ballot_sync(0xffffffff, value & 1);
    if (value & 1)
        part = (unsigned)__reduce_max_sync(odd, (int)value);
    else
        part = __reduce_add_sync(~odd, value);
    for (int i = 0; i < 7; i++)
        if (threadIdx.x % 32 == i)
            out[at / 32 * 8 + i] = all[i];
    if (odd != 0 && threadIdx.x % 32 == __ffs(odd) - 1)
        out[at / 32 * 8 + 7] = part;
    if (odd == 0 && threadIdx.x % 32 == 0)
        out[at / 32 * 8 + 7] = part;
}
