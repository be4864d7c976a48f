// Bits: counting, fields, permutation of bytes, shifts over two words.
extern "C" __global__ void bits(const unsigned *in, unsigned *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = in[at * 3], b = in[at * 3 + 1], c = in[at * 3 + 2], field;
    unsigned long long wide = (unsigned long long)a << 32 | b;
    unsigned *to = out + at * 24;

    to[0] = __popc(a);
    to[1] = __popcll(wide);
    to[2] = __clz(a);
    to[3] = __clzll(wide >> (c & 63));
    to[4] = __brev(a);
    to[5] = (unsigned)(__brevll(wide) >> 16);
    to[6] = __ffs(a & b & c);
    to[7] = __byte_perm(a, b, c);
    to[8] = __funnelshift_l(a, b, c);
    to[9] = __funnelshift_r(a, b, c);
    to[10] = __funnelshift_lc(a, b, c & 63);
    to[11] = __funnelshift_rc(a, b, c & 63);
    to[12] = __fns(a, c & 31, 2);
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(field) : "r"(a), "r"(c & 63), "r"(c >> 8 & 63));
    to[13] = field;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(field) : "r"(a), "r"(c & 63), "r"(c >> 8 & 63));
    to[14] = field;
    asm("bfi.b32 %0, %1, %2, %3, %4;"
        : "=r"(field)
        : "r"(a), "r"(b), "r"(c & 63), "r"(c >> 8 & 63));
    to[15] = field;
    asm("bfind.u32 %0, %1;" : "=r"(field) : "r"(a >> (c & 31)));
    to[16] = field;
    asm("bfind.shiftamt.s32 %0, %1;" : "=r"(field) : "r"(a));
    to[17] = field;
    asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(field) : "r"(a), "r"(b), "r"(c));
    to[18] = field;
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(field) : "r"(c & 31), "r"(c >> 8 & 63));
    to[19] = field;
    asm("szext.wrap.s32 %0, %1, %2;" : "=r"(field) : "r"(a), "r"(c));
    to[20] = field;
    asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(field) : "r"(a), "r"(b), "r"(c));
    to[21] = field;
    asm("cnot.b32 %0, %1;" : "=r"(field) : "r"(a & 1));
    to[22] = field;
    asm("{\n.reg .b64 wide;\nbfi.b64 wide, %1, %2, %3, %4;\nshr.u64 wide, wide, 7;\n"
        "cvt.u32.u64 %0, wide;\n}"
        : "=r"(field)
        : "l"(wide), "l"(~wide), "r"(c & 63), "r"(c >> 8 & 63));
    to[23] = field;
}

// Shifts that are too far, as C has no word for: PTX clamps them.
extern "C" __global__ void shifts(const unsigned *in, unsigned *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = in[at], by = in[at] >> 3 & 127, result;
    unsigned long long wide = (unsigned long long)a * 0x9e3779b97f4a7c15ull, far;

    asm("shl.b32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(by));
    out[at * 5] = result;
    asm("shr.u32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(by));
    out[at * 5 + 1] = result;
    asm("shr.s32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(by));
    out[at * 5 + 2] = result;
    asm("shr.s64 %0, %1, %2;" : "=l"(far) : "l"(wide), "r"(by));
    out[at * 5 + 3] = (unsigned)far;
    asm("shl.b64 %0, %1, %2;" : "=l"(far) : "l"(wide), "r"(by));
    out[at * 5 + 4] = (unsigned)(far >> 32);
}
