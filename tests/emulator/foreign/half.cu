// f16 and f16x2: arithmetic, comparison, conversion.
#include <cuda_fp16.h>

extern "C" __global__ void half2_math(const __half2 *a, const __half2 *b, const __half2 *c,
                                      __half2 *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 x = a[at], y = b[at], z = c[at];
    __half2 *to = out + at * 12;

    to[0] = __hadd2_rn(x, y);
    to[1] = __hsub2_rn(x, y);
    to[2] = __hmul2_rn(x, y);
    to[3] = __hfma2(x, y, z);
    to[4] = __hfma2_relu(x, y, z);
    to[5] = __hmax2(x, y);
    to[6] = __hmin2_nan(x, y);
    to[7] = __hneg2(x);
    to[8] = __habs2(y);
    to[9] = __hgt2(x, y);
    to[10] = __hadd2_sat(x, z);
    to[11] = __halves2half2(__hle(__low2half(x), __high2half(y)) ? __high2half(x) : __low2half(y),
                            __hfma_sat(__low2half(x), __low2half(y), __high2half(z)));
}

extern "C" __global__ void half_math(const __half *in, __half *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    __half x = in[at];

    out[at * 6] = hexp(x);
    out[at * 6 + 1] = hlog2(__habs(x));
    out[at * 6 + 2] = hsqrt(__habs(x));
    out[at * 6 + 3] = hrcp(x);
    out[at * 6 + 4] = __hdiv(__float2half(1.5f), x);
    out[at * 6 + 5] = hexp2(x);
}

// From and to f16, by every rounding.
extern "C" __global__ void half_convert(const float *in, const unsigned *bits, __half *halves,
                                        int *whole, float *wide)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[at];
    __half any = __ushort_as_half((unsigned short)bits[at]);

    halves[at * 8] = __float2half_rn(x);
    halves[at * 8 + 1] = __float2half_rz(x);
    halves[at * 8 + 2] = __float2half_ru(x);
    halves[at * 8 + 3] = __float2half_rd(x);
    halves[at * 8 + 4] = __int2half_rn((int)bits[at] >> 12);
    halves[at * 8 + 5] = __ushort2half_rz((unsigned short)bits[at]);
    halves[at * 8 + 6] = __double2half((double)x);
    halves[at * 8 + 7] = hrint(__float2half_rn(x));
    __half2 pair = __floats2half2_rn(x, -x);
    whole[at * 4] = __half2int_rz(pair.x);
    whole[at * 4 + 1] = __half2int_rn(pair.y);
    whole[at * 4 + 2] = __half2short_ru(pair.x);
    whole[at * 4 + 3] = (int)__half2uint_rd(pair.x);
    wide[at * 2] = __half2float(any);
    wide[at * 2 + 1] = __half2float(hceil(pair.x));
}
