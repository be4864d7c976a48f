// Loads and stores of vectors, of bytes and shorts, and through caches that are named.
extern "C" __global__ void vectors(const uchar4 *bytes, const short2 *shorts,
                                   const float4 *__restrict__ floats, const double2 *doubles,
                                   int4 *out, ushort4 *narrow, ulonglong2 *wide)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    uchar4 b = bytes[at];
    short2 s = shorts[at];
    float4 f = __ldg(&floats[at]);
    double2 d = doubles[at];

    out[at] = make_int4(b.x + s.x, b.y - s.y, (int)f.x + b.z, (int)f.y * (int)f.z - b.w);
    narrow[at] =
        make_ushort4((unsigned short)(s.x * 3), (unsigned short)f.w, b.w, (unsigned short)s.y);
    wide[at] =
        make_ulonglong2((unsigned long long)(long long)d.x, (unsigned long long)(long long)d.y);
}

extern "C" __global__ void caches(const int *in, int *out, int count)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x, value;
    int sum = __ldcg(in + at) + 2 * __ldca(in + (at ^ 1)) + 3 * __ldcs(in + (at ^ 2)) +
              4 * __ldlu(in + (at ^ 3)) + 5 * __ldcv(in + (at ^ 4));

    asm volatile("prefetch.global.L2 [%0];" ::"l"(in + (at + 64) % count));
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.b32 %0, [%1];"
                 : "=r"(value)
                 : "l"(in + (at ^ 5)));
    sum += 6 * value;
    asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];"
                 : "=r"(value)
                 : "l"(in + (at ^ 6))
                 : "memory");
    sum += 7 * value;
    __stcg(out + at * 4, sum);
    __stcs(out + at * 4 + 1, ~sum);
    __stwb(out + at * 4 + 2, sum * 2);
    __stwt(out + at * 4 + 3, sum - 1);
}
