// A sorting network over a whole block in dynamic shared memory, with keys and values.
extern __shared__ unsigned long long records[];

extern "C" __global__ void sort_bitonic(const unsigned *keys, unsigned long long *out, int count)
{
    unsigned base = blockIdx.x * count;

    for (int i = threadIdx.x; i < count; i += blockDim.x)
        records[i] = (unsigned long long)keys[base + i] << 32 | (unsigned)i;
    __syncthreads();
    for (int size = 2; size <= count; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            for (int i = threadIdx.x; i < count / 2; i += blockDim.x) {
                int low = 2 * i - (i & (step - 1)), high = low + step;
                bool up = (low & size) == 0;
                unsigned long long a = records[low], b = records[high];
                if ((a > b) == up) {
                    records[low] = b;
                    records[high] = a;
                }
            }
            __syncthreads();
        }
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        out[base + i] = records[i];
}

// 32 values in the registers of a warp, descending.
extern "C" __global__ void sort_warp(int *values)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, value = values[at];

    for (int size = 2; size <= 32; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            int other = __shfl_xor_sync(0xffffffff, value, step);
            bool larger = ((lane & step) == 0) == ((lane & size) == 0);
            value = larger ? max(value, other) : min(value, other);
        }
    values[at] = value;
}
