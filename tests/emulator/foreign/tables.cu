// Variables with first values: constant tables, global ones, and pointers from one to another.
__constant__ unsigned short powers[12] = {
    1, 3, 9, 27, 81, 243, 729, 2187, 6561, 19683, 59049 & 0xffff, 7};
__constant__ float weights[3][4] = {
    {1, 2, 3, 4}, {-0.5f, 0.25f, -0.125f, 1e-3f}, {100, 0, -100, 1}};
__device__ unsigned char squares[16] = {0,  1,  4,   9,   16,  25,  36,  49,
                                        64, 81, 100, 121, 144, 169, 196, 225};
__device__ const char *const words[4] = {"zero", "one", "two", "three and more"};
__device__ unsigned long long seen = 1000;
__device__ unsigned char *volatile middle = squares + 8;

extern "C" __global__ void tables(const unsigned *in, float *out, unsigned *letters)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = in[at];
    float sum = 0;

    for (int i = 0; i < 4; i++)
        sum += weights[value % 3][i] * (float)(value >> i * 4 & 15);
    sum += powers[value % 12] + squares[value >> 8 & 15];
    if (value & 1)
        sum += middle[(int)(value >> 16 & 7) - 4];
    out[at] = sum;
    const char *word = words[min(value >> 4 & 7, 3)];
    unsigned letter = 0;
    for (; *word; word++)
        letter = letter * 33 + (unsigned char)*word;
    letters[at] = letter;
}

// A variable keeps what the launch before has left, so only the difference is given out.
extern "C" __global__ void tables_count(unsigned long long *out)
{
    __shared__ unsigned long long before;

    if (threadIdx.x == 0)
        before = seen;
    __syncthreads();
    atomicAdd(&seen, (unsigned long long)threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0)
        *out = atomicAdd(&seen, 0ull) - before;
}
