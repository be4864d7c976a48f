// bf16 and bf16x2.
#include <cuda_bf16.h>

extern "C" __global__ void bfloat_math(const __nv_bfloat162 *a, const __nv_bfloat162 *b,
                                       const __nv_bfloat162 *c, __nv_bfloat162 *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    __nv_bfloat162 x = a[at], y = b[at], z = c[at];
    __nv_bfloat162 *to = out + at * 8;

    to[0] = __hadd2_rn(x, y);
    to[1] = __hsub2_rn(x, y);
    to[2] = __hmul2_rn(x, y);
    to[3] = __hfma2(x, y, z);
    to[4] = __hmax2(x, y);
    to[5] = __hmin2(y, z);
    to[6] = __hneg2(__habs2(x));
    to[7] = __hfma2_relu(x, z, y);
}

extern "C" __global__ void bfloat_convert(const float *in, __nv_bfloat16 *narrow, float *wide)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[at];
    __nv_bfloat162 pair = __floats2bfloat162_rn(x, x * 3);

    narrow[at * 4] = __float2bfloat16_rn(x);
    narrow[at * 4 + 1] = __float2bfloat16_rz(x);
    narrow[at * 4 + 2] = pair.x;
    narrow[at * 4 + 3] = pair.y;
    wide[at * 2] = __bfloat162float(__float2bfloat16_rn(x));
    wide[at * 2 + 1] = __low2float(pair) + __high2float(pair);
}
