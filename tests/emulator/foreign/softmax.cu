// A row a block: its largest value, the sum of exponentials, and the quotients.
template <bool maximum> static __device__ float combine(float value, float *scratch)
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    for (int step = 16; step > 0; step >>= 1) {
        float other = __shfl_xor_sync(~0u, value, step);
        value = maximum ? fmaxf(value, other) : value + other;
    }
    if (lane == 0)
        scratch[warp] = value;
    __syncthreads();
    value = scratch[0];
    for (int i = 1; i < blockDim.x / 32; i++)
        value = maximum ? fmaxf(value, scratch[i]) : value + scratch[i];
    __syncthreads();
    return value;
}

extern "C" __global__ void softmax(const float *__restrict__ in, float *__restrict__ out,
                                   int columns)
{
    __shared__ float scratch[8];
    const float *row = in + (size_t)blockIdx.x * columns;
    float largest = __int_as_float(0xff800000), sum = 0;

    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        largest = fmaxf(largest, row[i]);
    largest = combine<true>(largest, scratch);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += expf(row[i] - largest);
    sum = combine<false>(sum, scratch);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        out[(size_t)blockIdx.x * columns + i] = __expf(row[i] - largest) / sum;
}
