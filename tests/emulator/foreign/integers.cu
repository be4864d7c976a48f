// Integer arithmetic of all widths: high halves, 24 bits, division, dot products, averages, lanes
// of a word.
extern "C" __global__ void integers(const int *in, int *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    int a = in[at * 3], b = in[at * 3 + 1], c = in[at * 3 + 2], result;
    unsigned ua = a, ub = b, uc = c;
    int *to = out + at * 24;

    to[0] = __mulhi(a, b);
    to[1] = (int)__umulhi(ua, ub);
    to[2] = __mul24(a, b);
    to[3] = (int)__umul24(ua, ub);
    to[4] = (int)__sad(a, b, uc);
    to[5] = (int)__usad(ua, ub, uc);
    to[6] = __hadd(a, b);
    to[7] = (int)__urhadd(ua, ub);
    to[8] = a / (b | 1);
    to[9] = a % (b | 1);
    to[10] = (int)(ua / (ub >> 20 | 1));
    to[11] = (int)(ua % (ub >> 20 | 1));
    to[12] = a / 7 + (int)(ub % 1000);
    to[13] = __dp4a(a, b, c);
    to[14] = (int)__dp4a(ua, ub, uc);
    to[15] = __dp2a_lo(a, b, c);
    to[16] = (int)__dp2a_hi(ua, ub, uc);
    asm("mad.hi.sat.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
    to[17] = result;
    asm("add.sat.s32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
    to[18] = result;
    asm("sub.sat.s32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
    to[19] = result;
    asm("mad.wide.s16 %0, %1, %2, %3;" : "=r"(result) : "h"((short)a), "h"((short)b), "r"(c));
    to[20] = result;
    asm("mad24.hi.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
    to[21] = result;
    asm("slct.s32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
    to[22] = result;
    to[23] = (short)a * (short)b + (signed char)c - (unsigned char)(a >> 8);
}

extern "C" __global__ void integers_wide(const long long *in, long long *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    long long a = in[at * 2], b = in[at * 2 + 1];
    unsigned long long ua = a, ub = b;
    long long *to = out + at * 10;

    to[0] = __mul64hi(a, b);
    to[1] = (long long)__umul64hi(ua, ub);
    to[2] = a * b + (a >> 7);
    to[3] = a / (b | 1);
    to[4] = a % (b >> 30 | 1);
    to[5] = (long long)(ua / (ub >> 33 | 1));
    to[6] = (long long)(ua % 1000000007ull);
    to[7] = min(a, b) ^ llabs(b >> 1);
    to[8] = (long long)max(ua, ub) - (a < b);
    to[9] = (long long)(int)a * (int)b + (long long)((unsigned long long)(unsigned)a * (unsigned)b);
}

// Four bytes or two shorts at a time.
extern "C" __global__ void integers_packed(const unsigned *in, unsigned *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = in[at * 2], b = in[at * 2 + 1];
    unsigned *to = out + at * 12;

    to[0] = __vadd4(a, b);
    to[1] = __vsub2(a, b);
    to[2] = __vabsdiffu4(a, b);
    to[3] = __vsadu4(a, b);
    to[4] = __vmaxs2(a, b);
    to[5] = __vminu2(a, b);
    to[6] = __vaddus4(a, b);
    to[7] = __vavgu4(a, b);
    to[8] = __vcmpgts4(a, b);
    to[9] = __vseteq4(a, b & a);
    to[10] = __vmaxs4(a, b);
    to[11] = __vsubss2(a, b);
}
