"""Kernels of Triton: random numbers, functions, integers, conversions, assembly."""
import triton
import triton.language as tl
from triton.language.extra import cuda, libdevice


@triton.jit
def dropout(x, y, count, p, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < count)
    tl.store(y + i, tl.where(tl.rand(seed, i) > p, v / (1 - p), 0.0), mask=i < count)


@triton.jit
def randoms(words, normal, count, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a, b, c, d = tl.randint4x(seed, i)
    tl.store(words + 4 * i, a, mask=i < count)
    tl.store(words + 4 * i + 1, b, mask=i < count)
    tl.store(words + 4 * i + 2, c, mask=i < count)
    tl.store(words + 4 * i + 3, d, mask=i < count)
    tl.store(normal + i, tl.randn(seed, i), mask=i < count)


@triton.jit
def functions(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    size = tl.abs(v) + 0.125
    tl.store(y + i, tl.exp(v))
    tl.store(y + N + i, tl.log(size))
    tl.store(y + 2 * N + i, tl.sin(v))
    tl.store(y + 3 * N + i, tl.cos(v))
    tl.store(y + 4 * N + i, tl.sqrt(size))
    tl.store(y + 5 * N + i, tl.rsqrt(size))
    tl.store(y + 6 * N + i, tl.sqrt_rn(size))
    tl.store(y + 7 * N + i, tl.div_rn(v, size))
    tl.store(y + 8 * N + i, tl.erf(v))
    tl.store(y + 9 * N + i, tl.sigmoid(v))
    tl.store(y + 10 * N + i, libdevice.tanh(v))
    tl.store(y + 11 * N + i, libdevice.pow(size, v))
    tl.store(y + 12 * N + i, libdevice.rint(v))
    tl.store(y + 13 * N + i, libdevice.fmod(v, size))
    tl.store(y + 14 * N + i, tl.clamp(v, -1.0, 1.0))
    tl.store(y + 15 * N + i, libdevice.log1p(size))
    tl.store(y + 16 * N + i, libdevice.sin(v * 100000.0))
    tl.store(y + 17 * N + i, tl.fma(v, size, 1.0))
    tl.store(y + 18 * N + i, tl.floor(v) + tl.ceil(v))


@triton.jit
def integers(x, y, narrow, wide, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    b = tl.load(y + i)
    tl.store(narrow + i, a // b)
    tl.store(narrow + N + i, a % b)
    tl.store(narrow + 2 * N + i, tl.umulhi(a.to(tl.uint32, bitcast=True),
                                           b.to(tl.uint32, bitcast=True)))
    tl.store(narrow + 3 * N + i, a << (b & 31))
    tl.store(narrow + 4 * N + i, a >> (b & 31))
    tl.store(narrow + 5 * N + i, libdevice.popc(a) + 100 * libdevice.clz(a))
    tl.store(narrow + 6 * N + i, libdevice.brev(a))
    tl.store(narrow + 7 * N + i, (a.to(tl.uint8) // 7 % 5).to(tl.int32))
    c = a.to(tl.int64) * 123456789
    d = b.to(tl.int64)
    tl.store(wide + i, c // d)
    tl.store(wide + N + i, c % d)
    tl.store(wide + 2 * N + i, c * c ^ (c >> 7))
    tl.store(wide + 3 * N + i, (c.to(tl.uint64, bitcast=True) // 1000003).to(tl.int64))


@triton.jit
def casts(x, half, brain, e4m3, e5m2, byte, whole, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(half + i, v.to(tl.float16, fp_downcast_rounding="rtz"))
    tl.store(brain + i, v.to(tl.bfloat16))
    tl.store(e4m3 + i, v.to(tl.float8e4nv))
    tl.store(e5m2 + i, v.to(tl.float8e5))
    tl.store(byte + i, v.to(tl.int8))
    tl.store(whole + i, v.to(tl.int64))
    tl.store(half + N + i, tl.load(half + i).to(tl.bfloat16).to(tl.float16))


@triton.jit
def assembly(x, y, z, N: tl.constexpr):
    """A rotation of each word, and the bytes of each four turned about."""
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(y + i, tl.inline_asm_elementwise("shf.l.wrap.b32 $0, $1, $1, 7;", "=r,r", [v],
                                              dtype=tl.int32, is_pure=True, pack=1))
    tl.store(z + i, tl.inline_asm_elementwise("prmt.b32 $0, $1, 0, 0x0123;", "=r,r",
                                              [v.to(tl.int8)], dtype=tl.int8, is_pure=True,
                                              pack=4))


@triton.jit
def dependent(x, y, count, B: tl.constexpr):
    """What a launch that may begin before the last one has ended is compiled to."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    cuda.gdc_wait()
    v = tl.load(x + i, mask=i < count)
    cuda.gdc_launch_dependents()
    tl.store(y + i, v, mask=i < count)


@triton.jit
def prints(x, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.device_assert(v < 1000, "too large")
    tl.device_print("value", v)
