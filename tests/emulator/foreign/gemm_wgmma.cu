// wgmma from tiles that the threads themselves lay out in shared memory.
// TARGETS: sm_90a
#include <cuda_bf16.h>
#include <cuda_fp16.h>

static __device__ unsigned long long descriptor(const void *tile, unsigned leading, unsigned stride,
                                                unsigned long long swizzle)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(tile);

    return (at & 0x3ffff) >> 4 | (unsigned long long)(leading >> 4) << 16 |
           (unsigned long long)(stride >> 4) << 32 | swizzle << 62;
}

static __device__ void begin()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

static __device__ void end()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// 64 x 32 of D = A B^T, k a multiple of 64: rows of 128 bytes, 16-byte chunks exchanged by row.
extern "C" __global__ void gemm_wgmma_f16(const __half *a, const __half *b, float *d, int k)
{
    __shared__ alignas(1024) unsigned char tile_a[64 * 128], tile_b[32 * 128];
    float sums[16] = {};
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    for (int from = 0; from < k; from += 64) {
        for (int i = threadIdx.x; i < 64 * 8; i += 128) {
            int row = i / 8, chunk = i % 8;
            *(uint4 *)(tile_a + row * 128 + (chunk ^ row % 8) * 16) =
                *(const uint4 *)(a + row * k + from + chunk * 8);
            if (row < 32)
                *(uint4 *)(tile_b + row * 128 + (chunk ^ row % 8) * 16) =
                    *(const uint4 *)(b + row * k + from + chunk * 8);
        }
        begin();
        for (int step = 0; step < 4; step++)
            asm volatile("{\n"
                         "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 "
                         "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
                         "%16, %17, 1, 1, 1, 0, 0;\n}"
                         : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]),
                           "+f"(sums[4]), "+f"(sums[5]), "+f"(sums[6]), "+f"(sums[7]),
                           "+f"(sums[8]), "+f"(sums[9]), "+f"(sums[10]), "+f"(sums[11]),
                           "+f"(sums[12]), "+f"(sums[13]), "+f"(sums[14]), "+f"(sums[15])
                         : "l"(descriptor(tile_a + step * 32, 16, 1024, 1)),
                           "l"(descriptor(tile_b + step * 32, 16, 1024, 1)));
        end();
        __syncthreads();
    }
    for (int i = 0; i < 16; i++)
        d[(warp * 16 + lane / 4 + i / 2 % 2 * 8) * 32 + i / 4 * 8 + lane % 4 * 2 + i % 2] = sums[i];
}

template <int keep, int sign>
static __device__ void multiply(float sums[4], const unsigned a[4], unsigned long long b)
{
    asm volatile("{\n"
                 ".reg .pred keep;\n"
                 "setp.ne.b32 keep, %9, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, %8, keep, %10, 1, 0;\n}"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep), "n"(sign));
}

// A from registers, B from core matrices without a swizzle: 64 x 8 of D = A B^T over the first 16 k
// less that over the next 16.
extern "C" __global__ void gemm_wgmma_registers(const __nv_bfloat16 *a, const __nv_bfloat16 *b,
                                                float *d)
{
    __shared__ alignas(128) __nv_bfloat16 tile_b[8 * 32];
    int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4, pair = lane % 4 * 2;
    unsigned fragment[2][4];
    float sums[4] = {99, 99, 99, 99};

    for (int i = threadIdx.x; i < 8 * 32; i += 128) {
        int n = i / 32, k = i % 32;
        tile_b[k / 8 * 64 + n * 8 + k % 8] = b[i];
    }
    for (int step = 0; step < 2; step++)
        for (int i = 0; i < 4; i++)
            fragment[step][i] =
                *(const unsigned *)&a[(row + i % 2 * 8) * 32 + step * 16 + pair + i / 2 * 8];
    begin();
    multiply<0, 1>(sums, fragment[0], descriptor(tile_b, 128, 256, 0));
    multiply<1, -1>(sums, fragment[1], descriptor(tile_b + 128, 128, 256, 0));
    end();
    for (int i = 0; i < 4; i++)
        d[(row + i / 2 * 8) * 8 + pair + i % 2] = sums[i];
}

// Bytes: 64 x 16 of D = A B^T, k = 64, rows of 64 bytes with their swizzle.
extern "C" __global__ void gemm_wgmma_s8(const signed char *a, const signed char *b, int *d)
{
    __shared__ alignas(1024) unsigned char tile_a[64 * 64], tile_b[16 * 64];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sums[8];

    for (int i = threadIdx.x; i < 64 * 4; i += 128) {
        int row = i / 4, chunk = i % 4 ^ row / 2 % 4;
        *(uint4 *)(tile_a + row * 64 + chunk * 16) = *(const uint4 *)(a + i * 16);
        if (row < 16)
            *(uint4 *)(tile_b + row * 64 + chunk * 16) = *(const uint4 *)(b + i * 16);
    }
    begin();
    asm volatile("wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 0;"
                 : "=r"(sums[0]), "=r"(sums[1]), "=r"(sums[2]), "=r"(sums[3]), "=r"(sums[4]),
                   "=r"(sums[5]), "=r"(sums[6]), "=r"(sums[7])
                 : "l"(descriptor(tile_a, 16, 512, 2)), "l"(descriptor(tile_b, 16, 512, 2)));
    asm volatile("wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 1;"
                 : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3]), "+r"(sums[4]),
                   "+r"(sums[5]), "+r"(sums[6]), "+r"(sums[7])
                 : "l"(descriptor(tile_a + 32, 16, 512, 2)),
                   "l"(descriptor(tile_b + 32, 16, 512, 2)));
    end();
    for (int i = 0; i < 8; i++)
        d[(warp * 16 + lane / 4 + i / 2 % 2 * 8) * 16 + i / 4 * 8 + lane % 4 * 2 + i % 2] = sums[i];
}
