// e4m3 and e5m2, from and to; sm_80 has no instruction for them, its text computes by integers.
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void fp8_narrow(const float2 *in, unsigned short *e4m3, unsigned short *e5m2)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    float2 pair = in[at];

    e4m3[at * 2] = __nv_cvt_float2_to_fp8x2(pair, __NV_SATFINITE, __NV_E4M3);
    e4m3[at * 2 + 1] =
        __nv_cvt_halfraw2_to_fp8x2(__float22half2_rn(pair), __NV_SATFINITE, __NV_E4M3);
    e5m2[at * 2] = __nv_cvt_float2_to_fp8x2(pair, __NV_SATFINITE, __NV_E5M2);
    e5m2[at * 2 + 1] =
        __nv_cvt_halfraw2_to_fp8x2(__float22half2_rn(pair), __NV_SATFINITE, __NV_E5M2);
}

// All 256 codes.
extern "C" __global__ void fp8_widen(const unsigned char *in, float *e4m3, float *e5m2)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    __nv_fp8x2_storage_t pair = (__nv_fp8x2_storage_t)(in[at] | in[at ^ 1] << 8);
    __half2_raw low = __nv_cvt_fp8x2_to_halfraw2(pair, __NV_E4M3);
    __half2_raw wide = __nv_cvt_fp8x2_to_halfraw2(pair, __NV_E5M2);

    e4m3[at] = __half2float(__half(__half2(low).x)) + 2 * __half2float(__half(__half2(low).y));
    e5m2[at] = __half2float(__half(__half2(wide).x));
}

// A dot product of rows in e4m3 with sums in f32.
extern "C" __global__ void fp8_dot(const unsigned *a, const unsigned *b, float *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    for (int i = 0; i < 16; i++) {
        unsigned x = a[at * 16 + i], y = b[at * 16 + i];
        for (int half = 0; half < 2; half++) {
            __half2 left = __nv_cvt_fp8x2_to_halfraw2((unsigned short)(x >> half * 16), __NV_E4M3);
            __half2 right = __nv_cvt_fp8x2_to_halfraw2((unsigned short)(y >> half * 16), __NV_E4M3);
            float2 f = __half22float2(left), g = __half22float2(right);
            sum = fmaf(f.x, g.x, sum);
            sum = fmaf(f.y, g.y, sum);
        }
    }
    out[at] = sum;
}
