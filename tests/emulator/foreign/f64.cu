// Double precision: each rounding, division, roots, and functions that the compiler writes out.
extern "C" __global__ void f64_exact(const double *in, double *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    double a = in[at * 3], b = in[at * 3 + 1], c = in[at * 3 + 2];
    double *to = out + at * 16;

    to[0] = __dadd_rn(a, b);
    to[1] = __dadd_rz(a, b);
    to[2] = __dmul_ru(a, b);
    to[3] = __dmul_rd(a, b);
    to[4] = __fma_rn(a, b, c);
    to[5] = __fma_rz(a, b, c);
    to[6] = a / b;
    to[7] = __ddiv_ru(a, c);
    to[8] = sqrt(fabs(a));
    to[9] = __dsqrt_rd(fabs(b));
    to[10] = __drcp_rn(c);
    to[11] = floor(a) + ceil(b) + trunc(c) + rint(a * 2);
    to[12] = fmin(a, b) + fmax(b, c);
    to[13] = copysign(a, b);
    to[14] = (double)(float)a;
    to[15] = (double)(long long)(a * 1e6) + (double)__double2int_rn(b) +
             (double)__double2uint_rz(fabs(c));
}

extern "C" __global__ void f64_functions(const double *in, double *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    double a = in[at];
    double *to = out + at * 6;

    to[0] = exp(a);
    to[1] = log(fabs(a));
    to[2] = sin(a * 1000);
    to[3] = cbrt(a);
    to[4] = atan2(a, 2.0);
    to[5] = rsqrt(fabs(a));
}
