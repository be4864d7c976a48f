// Tiles of 32 x 32 through shared memory, with a column more against bank conflicts.
template <class T>
static __device__ void transpose(const T *in, T *out, int rows, int columns, T (*tile)[33])
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;

    for (int i = 0; i < 32; i += 8)
        if (x < columns && y + i < rows)
            tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * columns + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        if (x < rows && y + i < columns)
            out[(y + i) * rows + x] = tile[threadIdx.x][threadIdx.y + i];
}

extern "C" __global__ void transpose_f32(const float *in, float *out, int rows, int columns)
{
    __shared__ float tile[32][33];
    transpose(in, out, rows, columns, tile);
}

extern "C" __global__ void transpose_u8(const unsigned char *in, unsigned char *out, int rows,
                                        int columns)
{
    __shared__ unsigned char tile[32][33];
    transpose(in, out, rows, columns, tile);
}

extern "C" __global__ void transpose_f64(const double *in, double *out, int rows, int columns)
{
    __shared__ double tile[32][33];
    transpose(in, out, rows, columns, tile);
}
