// D = A B in f32: tiles of 32 x 32 by cp.async into two buffers, the next while the last is used.
extern "C" __global__ void gemm_cp_async(const float *a, const float *b, float *d, int m, int n,
                                         int k)
{
    __shared__ alignas(16) float tile_a[2][32][32], tile_b[2][32][32];
    int x = threadIdx.x % 8 * 4, y = threadIdx.x / 8;
    float sums[4] = {};

    auto fetch = [&](int at, int from) {
        unsigned to_a = (unsigned)__cvta_generic_to_shared(&tile_a[at][y][x]);
        unsigned to_b = (unsigned)__cvta_generic_to_shared(&tile_b[at][y][x]);
        // Of the last tile only what there is: the rest is filled with zeros.
        int bytes_a = max(0, min(16, (k - from - x) * 4)), bytes_b = from + y < k ? 16 : 0;
        const float *from_a = &a[(blockIdx.y * 32 + y) * k + (bytes_a ? from + x : 0)];
        const float *from_b = &b[(bytes_b ? from + y : 0) * n + blockIdx.x * 32 + x];
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to_a), "l"(from_a),
                     "r"(bytes_a)
                     : "memory");
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to_b), "l"(from_b),
                     "r"(bytes_b)
                     : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    int tiles = (k + 31) / 32;
    fetch(0, 0);
    for (int tile = 0; tile < tiles; tile++) {
        if (tile + 1 < tiles) {
            fetch((tile + 1) & 1, (tile + 1) * 32);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_all;" ::: "memory");
        }
        __syncthreads();
        for (int i = 0; i < 32; i++) {
            float left = tile_a[tile & 1][y][i];
            float4 right = *(const float4 *)&tile_b[tile & 1][i][x];
            sums[0] += left * right.x;
            sums[1] += left * right.y;
            sums[2] += left * right.z;
            sums[3] += left * right.w;
        }
        __syncthreads();
    }
    *(float4 *)&d[(blockIdx.y * 32 + y) * n + blockIdx.x * 32 + x] =
        make_float4(sums[0], sums[1], sums[2], sums[3]);
}
