// One mma.sync of each kind that the tensor cores of sm_80 know, a warp each, operands row by row.
// Every kernel computes D = A B^T + C.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// m16n8k16
extern "C" __global__ void mma_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, const float *c,
                                    float *d)
{
    int lane = threadIdx.x, row = lane / 4, pair = lane % 4 * 2;
    unsigned fa[4], fb[2];
    float fd[4];

    for (int i = 0; i < 4; i++)
        fa[i] = *(const unsigned *)&a[(row + i % 2 * 8) * 16 + pair + i / 2 * 8];
    for (int i = 0; i < 2; i++)
        fb[i] = *(const unsigned *)&b[row * 16 + pair + i * 8];
    for (int i = 0; i < 4; i++)
        fd[i] = c[(row + i / 2 * 8) * 8 + pair + i % 2];
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(fd[0]), "+f"(fd[1]), "+f"(fd[2]), "+f"(fd[3])
        : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    for (int i = 0; i < 4; i++)
        d[(row + i / 2 * 8) * 8 + pair + i % 2] = fd[i];
}

// m16n8k8, sums in f16
extern "C" __global__ void mma_f16(const __half *a, const __half *b, const __half *c, __half *d)
{
    int lane = threadIdx.x, row = lane / 4, pair = lane % 4 * 2;
    unsigned fa[2], fb, fd[2];

    for (int i = 0; i < 2; i++)
        fa[i] = *(const unsigned *)&a[(row + i * 8) * 8 + pair];
    fb = *(const unsigned *)&b[row * 8 + pair];
    for (int i = 0; i < 2; i++)
        fd[i] = *(const unsigned *)&c[(row + i * 8) * 8 + pair];
    asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
        : "+r"(fd[0]), "+r"(fd[1])
        : "r"(fa[0]), "r"(fa[1]), "r"(fb));
    for (int i = 0; i < 2; i++)
        *(unsigned *)&d[(row + i * 8) * 8 + pair] = fd[i];
}

// m16n8k8, operands rounded by cvt.rna.tf32
extern "C" __global__ void mma_tf32(const float *a, const float *b, const float *c, float *d)
{
    int lane = threadIdx.x, row = lane / 4, one = lane % 4;
    unsigned fa[4], fb[2];
    float fd[4];

    for (int i = 0; i < 4; i++)
        asm("cvt.rna.tf32.f32 %0, %1;"
            : "=r"(fa[i])
            : "f"(a[(row + i % 2 * 8) * 8 + one + i / 2 * 4]));
    for (int i = 0; i < 2; i++)
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(fb[i]) : "f"(b[row * 8 + one + i * 4]));
    for (int i = 0; i < 4; i++)
        fd[i] = c[(row + i / 2 * 8) * 8 + one * 2 + i % 2];
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(fd[0]), "+f"(fd[1]), "+f"(fd[2]), "+f"(fd[3])
        : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    for (int i = 0; i < 4; i++)
        d[(row + i / 2 * 8) * 8 + one * 2 + i % 2] = fd[i];
}

// m16n8k32: signed by unsigned, sums that clamp
extern "C" __global__ void mma_s8(const signed char *a, const unsigned char *b, const int *c,
                                  int *d)
{
    int lane = threadIdx.x, row = lane / 4, four = lane % 4 * 4;
    unsigned fa[4], fb[2];
    int fd[4];

    for (int i = 0; i < 4; i++)
        fa[i] = *(const unsigned *)&a[(row + i % 2 * 8) * 32 + four + i / 2 * 16];
    for (int i = 0; i < 2; i++)
        fb[i] = *(const unsigned *)&b[row * 32 + four + i * 16];
    for (int i = 0; i < 4; i++)
        fd[i] = c[(row + i / 2 * 8) * 8 + four / 2 + i % 2];
    asm("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(fd[0]), "+r"(fd[1]), "+r"(fd[2]), "+r"(fd[3])
        : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    for (int i = 0; i < 4; i++)
        d[(row + i / 2 * 8) * 8 + four / 2 + i % 2] = fd[i];
}

// m8n8k4
extern "C" __global__ void mma_f64(const double *a, const double *b, const double *c, double *d)
{
    int lane = threadIdx.x, row = lane / 4, one = lane % 4;
    double d0 = c[row * 8 + one * 2], d1 = c[row * 8 + one * 2 + 1];

    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(d0), "+d"(d1)
        : "d"(a[row * 4 + one]), "d"(b[row * 4 + one]));
    d[row * 8 + one * 2] = d0;
    d[row * 8 + one * 2 + 1] = d1;
}
