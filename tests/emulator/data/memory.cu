// Variables of all spaces: initialised, nested, extern, volatile, local arrays.
struct __align__(8) record
{
    int a;
    const int *b;
    char c[3];
    double d;
};
__device__ int plain = 7;
__device__ float floats[3] = {1.5f, -0.f, 1e-40f};
__constant__ int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
__constant__ double wide[2] = {3.141592653589793, -1e300};
__device__ record records[2] = {{1, &plain, "ab", 2.5}, {2, &plain + 3, "", 0}};
struct __attribute__((packed)) tight {
    char c;
    const void *p;
};
__device__ tight packed = {1, &grid};
__managed__ int managed;
extern __shared__ float dynamic[];
__global__ void memory(float *out, const __grid_constant__ record r, volatile int *flag, int n)
{
    __shared__ int counts[4][8];
    int local[16];
    for (int i = 0; i < 16; i++)
        local[i] = flag[i];
    counts[n & 3][n & 7] = local[n & 15];
    __syncthreads();
    dynamic[threadIdx.x] = counts[0][threadIdx.x & 7] + grid[n & 1][n % 3] + wide[n & 1];
    float4 v = reinterpret_cast<float4 *>(out)[n];
    v.x += dynamic[n];
    v.w = r.d + floats[n % 3] + *records[n & 1].b + *(const int *)packed.p;
    reinterpret_cast<float4 *>(out)[n] = v;
    managed = plain + r.c[n % 3];
    atomicAdd(&plain, n);
}
