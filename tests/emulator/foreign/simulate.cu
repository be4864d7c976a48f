// Numerical kernels: bodies that attract each other, a Fourier transform, a convolution.
extern "C" __global__ void simulate_bodies(const float4 *bodies, float4 *forces, int count)
{
    extern __shared__ float4 tile[];
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    float4 mine = bodies[at];
    float x = 0, y = 0, z = 0;

    for (int from = 0; from < count; from += blockDim.x) {
        tile[threadIdx.x] = bodies[from + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < blockDim.x; i++) {
            float dx = tile[i].x - mine.x, dy = tile[i].y - mine.y, dz = tile[i].z - mine.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.0625f);
            float force = tile[i].w * inverse * inverse * inverse;
            x += dx * force;
            y += dy * force;
            z += dz * force;
        }
        __syncthreads();
    }
    forces[at] = make_float4(x, y, z, mine.w);
}

// 256 complex values a block, in place in shared memory.
extern "C" __global__ void simulate_fourier(const float2 *in, float2 *out)
{
    __shared__ float2 values[256];
    int t = threadIdx.x;

    values[__brev(t) >> 24] = in[blockIdx.x * 256 + t];
    values[__brev(t + 128) >> 24] = in[blockIdx.x * 256 + t + 128];
    for (int half = 1; half < 256; half *= 2) {
        int place = t % half, low = (t - place) * 2 + place;
        float s, c;
        __syncthreads();
        sincospif(-(float)place / half, &s, &c);
        float2 a = values[low], b = values[low + half];
        float2 turned = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
        values[low] = make_float2(a.x + turned.x, a.y + turned.y);
        values[low + half] = make_float2(a.x - turned.x, a.y - turned.y);
    }
    __syncthreads();
    out[blockIdx.x * 256 + t] = values[t];
    out[blockIdx.x * 256 + t + 128] = values[t + 128];
}

__constant__ float kernel[5][5] = {
    {1, 4, 6, 4, 1}, {4, 16, 24, 16, 4}, {6, 24, 36, 24, 6}, {4, 16, 24, 16, 4}, {1, 4, 6, 4, 1}};

// A picture of bytes, blurred; its borders are repeated.
extern "C" __global__ void simulate_blur(const unsigned char *in, unsigned char *out, int width,
                                         int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;

    if (x >= width || y >= height)
        return;
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++) {
            int u = min(max(x + i, 0), width - 1), v = min(max(y + j, 0), height - 1);
            sum += kernel[j + 2][i + 2] * in[v * width + u];
        }
    out[y * width + x] = (unsigned char)(sum / 256 + 0.5f);
}
