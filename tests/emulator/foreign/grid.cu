// What concerns the whole grid: the last block finishes, a barrier of all, the shape of a launch.
__device__ unsigned finished;

extern "C" __global__ void grid_last(const float *in, float *sums, float *result, int count)
{
    __shared__ float partial[128];
    __shared__ bool last;
    float sum = 0;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        sum += in[i];
    partial[threadIdx.x] = sum;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = partial[0];
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float total = 0;
        for (int i = 0; i < gridDim.x; i++)
            total += ((volatile float *)sums)[i];
        *result = total;
    }
}

// Values go round the grid, a step a barrier.
extern "C" __global__ void grid_barrier(unsigned *even, unsigned *odd, unsigned *arrived, int turns)
{
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;

    for (int turn = 0; turn < turns; turn++) {
        volatile unsigned *from = turn % 2 ? odd : even, *to = turn % 2 ? even : odd;
        to[at] = from[(at + 37) % all] * 3 + turn;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(arrived, 1u);
            while (*(volatile unsigned *)arrived < (turn + 1) * gridDim.x)
                ;
            __threadfence();
        }
        __syncthreads();
    }
}

extern "C" __global__ void grid_shape(unsigned *out)
{
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned *to = out + (block * blockDim.x * blockDim.y * blockDim.z + thread) * 5, lane, warps;

    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("mov.u32 %0, %%nwarpid;" : "=r"(warps));
    to[0] = threadIdx.x | threadIdx.y << 8 | threadIdx.z << 16 | lane << 24;
    to[1] = blockIdx.x | blockIdx.y << 8 | blockIdx.z << 16;
    to[2] = blockDim.x | blockDim.y << 8 | blockDim.z << 16 | (unsigned)warpSize << 24;
    to[3] = gridDim.x | gridDim.y << 8 | gridDim.z << 16 | (warps > 0) << 24;
    long long before = clock64();
    to[4] = clock64() >= before;
}
