// An interpreter of byte code, first by a dense switch, which the compiler may turn into a tree of
// branches or a table of them, then by a table for sure.
extern "C" __global__ void switch_table(const unsigned char *code, const int *in, int *out,
                                        int length)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    int x = in[at], y = at, z = 1;

#pragma unroll 1
    for (int i = 0; i < length; i++) {
        switch (code[(i * 7 + at) % length] % 16) {
        case 0:
            x += y;
            break;
        case 1:
            y -= z;
            break;
        case 2:
            z ^= x;
            break;
        case 3:
            x = x * 5 + 1;
            break;
        case 4:
            y = __brev(y);
            break;
        case 5:
            z = __popc(z) + y;
            break;
        case 6:
            x = min(x, y);
            break;
        case 7:
            y = max(y, z);
            break;
        case 8:
            z = x >> (y & 31);
            break;
        case 9:
            x = z << (x & 31);
            break;
        case 10:
            y = ~y;
            break;
        case 11:
            z = -z;
            break;
        case 12:
            x = __clz(x) + z;
            break;
        case 13:
            y = y / (abs(z % 100) + 1);
            break;
        case 14:
            z = x % (abs(y % 50) + 1);
            break;
        case 15:
            x = y;
            y = z;
            z = at;
            break;
        }
    }
    out[at * 3] = x;
    out[at * 3 + 1] = y;
    out[at * 3 + 2] = z;
}

// One step: s = 0..5 by a table of branches.
static __device__ unsigned step(unsigned s, unsigned x, unsigned y)
{
    asm("{\n"
        "TABLE_%=: .branchtargets ADD_%=, SUB_%=, XOR_%=, ROT_%=, ADD_%=, NOT_%=;\n"
        "brx.idx %1, TABLE_%=;\n"
        "ADD_%=: add.u32 %0, %0, %2;\n bra.uni DONE_%=;\n"
        "SUB_%=: sub.u32 %0, %0, %2;\n bra.uni DONE_%=;\n"
        "XOR_%=: xor.b32 %0, %0, %2;\n bra.uni DONE_%=;\n"
        "NOT_%=: not.b32 %0, %0;\n bra.uni DONE_%=;\n"
        "ROT_%=: shf.l.wrap.b32 %0, %0, %0, %2;\n"
        "DONE_%=:\n}"
        : "+r"(x)
        : "r"(s), "r"(y));
    return x;
}

extern "C" __global__ void switch_branches(const unsigned char *code, const unsigned *in,
                                           unsigned *out, int length)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = in[at];

#pragma unroll 1
    for (int i = 0; i < length; i++)
        x = step(code[(i * 3 + at / 4) % length] % 6, x, 0x9e3779b9 * i + at);
    out[at] = x;
}
