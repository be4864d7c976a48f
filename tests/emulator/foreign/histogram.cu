// A histogram of bytes in shared memory, added to one in global memory.
extern "C" __global__ void histogram(const unsigned char *in, unsigned *bins, int count)
{
    __shared__ unsigned local[256];

    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&local[in[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (local[i] != 0)
            atomicAdd(&bins[i], local[i]);
}

// Extremes of each class (value % 16), by every other atomic operation on 32 bits.
extern "C" __global__ void extremes(const int *in, int *out, int count)
{
    __shared__ int least[16], largest[16];
    __shared__ unsigned ones[16], zeros[16], parity[16], turns;

    if (threadIdx.x < 16) {
        least[threadIdx.x] = 0x7fffffff;
        largest[threadIdx.x] = (int)0x80000000;
        ones[threadIdx.x] = 0;
        zeros[threadIdx.x] = 0xffffffff;
        parity[threadIdx.x] = 0;
    }
    if (threadIdx.x == 0)
        turns = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        int value = in[i], kind = value & 15;
        atomicMin(&least[kind], value);
        atomicMax(&largest[kind], value);
        atomicOr(&ones[kind], (unsigned)value);
        atomicAnd(&zeros[kind], (unsigned)value);
        atomicXor(&parity[kind], (unsigned)value);
        atomicInc(&turns, 99);
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        out[threadIdx.x] = least[threadIdx.x];
        out[16 + threadIdx.x] = largest[threadIdx.x];
        out[32 + threadIdx.x] = (int)ones[threadIdx.x];
        out[48 + threadIdx.x] = (int)zeros[threadIdx.x];
        out[64 + threadIdx.x] = (int)parity[threadIdx.x];
    }
    if (threadIdx.x == 0)
        out[80] = (int)turns;
}
