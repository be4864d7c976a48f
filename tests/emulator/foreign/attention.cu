// Attention of 16 queries a warp over many keys, with mma.sync for both products: scores of one
// product become, in their registers, an operand of the next.
#include <cuda_fp16.h>

static __device__ void multiply(float d[4], const unsigned a[4], unsigned b0, unsigned b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ unsigned pack(float low, float high)
{
    __half2 pair = __floats2half2_rn(low, high);
    return *(unsigned *)&pair;
}

// Rows of 16 elements; keys a multiple of 16.
extern "C" __global__ void attention(const __half *q, const __half *k, const __half *v, float *out,
                                     int keys)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    int row = lane / 4, pair = lane % 4 * 2;
    const float lowest = __int_as_float(0xff800000);
    unsigned query[4];
    float sums[2][4] = {}, largest[2] = {lowest, lowest}, total[2] = {};

    for (int i = 0; i < 4; i++)
        query[i] = *(const unsigned *)&q[(warp * 16 + row + i % 2 * 8) * 16 + pair + i / 2 * 8];
    for (int from = 0; from < keys; from += 16) {
        float scores[2][4] = {};
        for (int j = 0; j < 2; j++) {
            const __half *key = k + (from + j * 8 + row) * 16 + pair;
            multiply(scores[j], query, *(const unsigned *)key, *(const unsigned *)(key + 8));
        }
        for (int half = 0; half < 2; half++) {
            float now = largest[half];
            for (int j = 0; j < 2; j++)
                now = fmaxf(now, fmaxf(scores[j][half * 2], scores[j][half * 2 + 1]));
            now = fmaxf(now, __shfl_xor_sync(0xffffffff, now, 1));
            now = fmaxf(now, __shfl_xor_sync(0xffffffff, now, 2));
            float scale = exp2f((largest[half] - now) * 1.44269504f);
            largest[half] = now;
            total[half] *= scale;
            for (int j = 0; j < 2; j++)
                for (int i = half * 2; i < half * 2 + 2; i++) {
                    sums[j][i] *= scale;
                    scores[j][i] = exp2f((scores[j][i] - now) * 1.44269504f);
                    total[half] += scores[j][i];
                }
        }
        unsigned weights[4] = {pack(scores[0][0], scores[0][1]), pack(scores[0][2], scores[0][3]),
                               pack(scores[1][0], scores[1][1]), pack(scores[1][2], scores[1][3])};
        for (int j = 0; j < 2; j++) {
            unsigned b[2];
            for (int i = 0; i < 2; i++) {
                const __half *value = v + (from + pair + i * 8) * 16 + j * 8 + row;
                __half2 two = __halves2half2(value[0], value[16]);
                b[i] = *(unsigned *)&two;
            }
            multiply(sums[j], weights, b[0], b[1]);
        }
    }
    for (int half = 0; half < 2; half++) {
        total[half] += __shfl_xor_sync(0xffffffff, total[half], 1);
        total[half] += __shfl_xor_sync(0xffffffff, total[half], 2);
        for (int j = 0; j < 2; j++)
            for (int i = 0; i < 2; i++)
                out[(warp * 16 + row + half * 8) * 16 + j * 8 + pair + i] =
                    sums[j][half * 2 + i] / total[half];
    }
}
