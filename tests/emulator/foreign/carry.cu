// Numbers wider than a register: carry chains.
typedef unsigned __int128 wide;

extern "C" __global__ void carry_128(const unsigned long long *in, unsigned long long *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned long long *from = in + at * 4;
    unsigned long long *to = out + at * 12;
    wide a = (wide)from[1] << 64 | from[0], b = (wide)from[3] << 64 | from[2];
    wide results[6] = {a + b,
                       a - b,
                       a * b,
                       a >> (from[2] & 127),
                       a << (from[0] & 127),
                       (wide)((__int128)a >> 3) + (a < b)};

    for (int i = 0; i < 6; i++) {
        to[i * 2] = (unsigned long long)results[i];
        to[i * 2 + 1] = (unsigned long long)(results[i] >> 64);
    }
}

// 256 bits in words of 32: a + b, a - b, and the low half of a * b.
extern "C" __global__ void carry_chain(const unsigned *in, unsigned *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a[8], b[8], sum[8], difference[8], product[9];

    for (int i = 0; i < 8; i++) {
        a[i] = in[at * 16 + i];
        b[i] = in[at * 16 + 8 + i];
        product[i] = 0;
    }
    asm("add.cc.u32 %0, %8, %16;\n\taddc.cc.u32 %1, %9, %17;\n\taddc.cc.u32 %2, %10, %18;\n\t"
        "addc.cc.u32 %3, %11, %19;\n\taddc.cc.u32 %4, %12, %20;\n\taddc.cc.u32 %5, %13, %21;\n\t"
        "addc.cc.u32 %6, %14, %22;\n\taddc.u32 %7, %15, %23;"
        : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3]), "=r"(sum[4]), "=r"(sum[5]),
          "=r"(sum[6]), "=r"(sum[7])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]),
          "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
    asm("sub.cc.u32 %0, %8, %16;\n\tsubc.cc.u32 %1, %9, %17;\n\tsubc.cc.u32 %2, %10, %18;\n\t"
        "subc.cc.u32 %3, %11, %19;\n\tsubc.cc.u32 %4, %12, %20;\n\tsubc.cc.u32 %5, %13, %21;\n\t"
        "subc.cc.u32 %6, %14, %22;\n\tsubc.u32 %7, %15, %23;"
        : "=r"(difference[0]), "=r"(difference[1]), "=r"(difference[2]), "=r"(difference[3]),
          "=r"(difference[4]), "=r"(difference[5]), "=r"(difference[6]), "=r"(difference[7])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]),
          "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
    for (int i = 0; i < 8; i++) {
        unsigned carry = 0;
        for (int j = 0; i + j < 8; j++)
            asm("{\n\t.reg .u32 low;\n\t"
                "mad.lo.cc.u32 low, %2, %3, %0;\n\tmadc.hi.u32 %1, %2, %3, 0;\n\t"
                "add.cc.u32 %0, low, %4;\n\taddc.u32 %1, %1, 0;\n\t}"
                : "+r"(product[i + j]), "=&r"(carry)
                : "r"(a[i]), "r"(b[j]), "r"(carry));
    }
    for (int i = 0; i < 8; i++) {
        out[at * 24 + i] = sum[i];
        out[at * 24 + 8 + i] = difference[i];
        out[at * 24 + 16 + i] = product[i];
    }
}
