// D = A B in f16 with sums in f32: ldmatrix (one operand transposed) and mma.sync, 64 x 64 a block.
#include <cuda_fp16.h>

enum { TILE = 64, DEPTH = 32, PITCH_A = DEPTH + 8, PITCH_B = TILE + 8 };

static __device__ unsigned shared_address(const void *at)
{
    return (unsigned)__cvta_generic_to_shared(at);
}

extern "C" __global__ void gemm_mma(const __half *a, const __half *b, float *d, int m, int n, int k)
{
    __shared__ alignas(16) __half tile_a[TILE * PITCH_A], tile_b[DEPTH * PITCH_B];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int row = warp / 2 * 32, column = warp % 2 * 32;
    float sums[2][4][4] = {};

    for (int from = 0; from < k; from += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH / 8; i += 128) {
            int y = i / (DEPTH / 8), x = i % (DEPTH / 8) * 8;
            *(uint4 *)&tile_a[y * PITCH_A + x] =
                *(const uint4 *)&a[(blockIdx.y * TILE + y) * k + from + x];
            y = i / (TILE / 8);
            x = i % (TILE / 8) * 8;
            *(uint4 *)&tile_b[y * PITCH_B + x] =
                *(const uint4 *)&b[(from + y) * n + blockIdx.x * TILE + x];
        }
        __syncthreads();
        for (int step = 0; step < DEPTH; step += 16) {
            unsigned fragment_a[2][4], fragment_b[4][2];
            for (int i = 0; i < 2; i++)
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(fragment_a[i][0]), "=r"(fragment_a[i][1]),
                               "=r"(fragment_a[i][2]), "=r"(fragment_a[i][3])
                             : "r"(shared_address(&tile_a[(row + i * 16 + lane % 16) * PITCH_A +
                                                          step + lane / 16 * 8])));
            for (int j = 0; j < 4; j++)
                asm volatile(
                    "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                    : "=r"(fragment_b[j][0]), "=r"(fragment_b[j][1])
                    : "r"(shared_address(&tile_b[(step + lane % 16) * PITCH_B + column + j * 8])));
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                                 : "+f"(sums[i][j][0]), "+f"(sums[i][j][1]), "+f"(sums[i][j][2]),
                                   "+f"(sums[i][j][3])
                                 : "r"(fragment_a[i][0]), "r"(fragment_a[i][1]),
                                   "r"(fragment_a[i][2]), "r"(fragment_a[i][3]),
                                   "r"(fragment_b[j][0]), "r"(fragment_b[j][1]));
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int half = 0; half < 2; half++) {
                int y = blockIdx.y * TILE + row + i * 16 + half * 8 + lane / 4;
                int x = blockIdx.x * TILE + column + j * 8 + lane % 4 * 2;
                *(float2 *)&d[y * n + x] =
                    make_float2(sums[i][j][half * 2], sums[i][j][half * 2 + 1]);
            }
}
