// Functions of f32: as the compiler writes them out, and the fast ones that are one instruction.
extern "C" __global__ void math(const float *in, float *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[at], size = fabsf(x) + 0.001f;
    float *to = out + at * 14;

    to[0] = sinf(x);
    to[1] = cosf(x * 100000);
    to[2] = tanf(x);
    to[3] = expf(x);
    to[4] = logf(size);
    to[5] = powf(size, x * 0.25f);
    to[6] = tanhf(x);
    to[7] = atanf(x);
    to[8] = erff(x);
    to[9] = cbrtf(x);
    to[10] = log1pf(size);
    to[11] = expm1f(x);
    to[12] = rsqrtf(size);
    to[13] = hypotf(x, 3);
}

extern "C" __global__ void math_fast(const float *in, float *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[at], size = fabsf(x) + 0.25f, tanh;
    float *to = out + at * 10;

    to[0] = __sinf(x);
    to[1] = __cosf(x);
    to[2] = __expf(x);
    to[3] = __logf(size);
    to[4] = __log2f(size);
    to[5] = __fdividef(x, size);
    to[6] = __frsqrt_rn(size);
    asm("tanh.approx.f32 %0, %1;" : "=f"(tanh) : "f"(x));
    to[7] = tanh;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(tanh) : "f"(size));
    to[8] = tanh;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(tanh) : "f"(size));
    to[9] = tanh;
}

// One code for every NaN: which of them an operation gives is no matter here.
static __device__ unsigned code(float value)
{
    return isnan(value) ? 0x7fc00000 : __float_as_uint(value);
}

// What is exact in every rounding, on any bits: infinities, NaN and subnormals too.
extern "C" __global__ void math_exact(const unsigned *in, unsigned *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    float a = __uint_as_float(in[at * 3]), b = __uint_as_float(in[at * 3 + 1]);
    float c = __uint_as_float(in[at * 3 + 2]), result;
    unsigned *to = out + at * 20;

    to[0] = code(__fadd_rn(a, b));
    to[1] = code(__fadd_rz(a, b));
    to[2] = code(__fadd_ru(a, b));
    to[3] = code(__fadd_rd(a, b));
    to[4] = code(__fmul_rz(a, b));
    to[5] = code(__fmul_ru(a, b));
    to[6] = code(__fmaf_rn(a, b, c));
    to[7] = code(__fmaf_rd(a, b, c));
    to[8] = code(__fdiv_rn(a, b));
    to[9] = code(__fdiv_rz(a, b));
    to[10] = code(__fsqrt_rn(fabsf(a)));
    to[11] = code(__frcp_rn(a));
    to[12] = code(fminf(a, b));
    to[13] = code(fmaxf(a, c));
    to[14] = code(__saturatef(a) + 0.0f); // of -0 either zero is right
    asm("add.ftz.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    to[15] = code(result);
    asm("mul.ftz.sat.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    to[16] = code(result + 0.0f);
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    to[17] = code(result);
    to[18] = (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (a >= c) << 4 |
             (a > c) << 5 | isnan(a) << 6 | (isinf(b) != 0) << 7 | (__isnanf(c) || a < c) << 8 |
             signbit(a) << 9;
    unsigned both;
    asm("{\n.reg .pred low, odd;\nsetp.ne.u32 odd, %3, 0;\nsetp.ltu.xor.f32 low, %1, %2, odd;\n"
        "selp.u32 %0, 1, 0, low;\n}"
        : "=r"(both)
        : "f"(a), "f"(b), "r"(in[at * 3] & 1));
    to[19] = both;
}
