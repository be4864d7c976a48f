"""Kernels of Triton: products of matrices through pointers, in tiles."""
import triton
import triton.language as tl


@triton.jit
def tile_of(index, M, N, BM: tl.constexpr, BN: tl.constexpr, BAND: tl.constexpr):
    """Row and column of a tile: down in bands of BAND rows, so that neighbours share operands."""
    rows = tl.cdiv(M, BM)
    band = BAND * tl.cdiv(N, BN)
    top = index // band * BAND
    height = min(rows - top, BAND)
    inside = index % band
    return top + inside % height, inside // height


@triton.jit
def matmul(a, b, c, M, N, K, lda, ldb, ldc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
           SUM: tl.constexpr, PRECISION: tl.constexpr):
    m, n = tile_of(tl.program_id(0), M, N, BM, BN, 3)
    i = m * BM + tl.arange(0, BM)
    j = n * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    at_a = a + i[:, None] * lda + k[None, :]
    at_b = b + k[:, None] * ldb + j[None, :]
    total = tl.zeros((BM, BN), dtype=SUM)
    for step in range(0, tl.cdiv(K, BK)):
        left = K - step * BK
        x = tl.load(at_a, mask=(i[:, None] < M) & (k[None, :] < left), other=0.0)
        y = tl.load(at_b, mask=(k[:, None] < left) & (j[None, :] < N), other=0.0)
        if x.dtype != y.dtype:
            x = x.to(y.dtype)
        total = tl.dot(x, y, total, input_precision=PRECISION, out_dtype=SUM)
        at_a += BK
        at_b += BK * ldb
    tl.store(c + i[:, None] * ldc + j[None, :], total.to(c.dtype.element_ty),
             mask=(i[:, None] < M) & (j[None, :] < N))


@triton.jit
def leaky(x):
    return tl.where(x >= 0, x, 0.125 * x)


@triton.jit
def layer(a, b, bias, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Rows that wrap around in place of a mask, and an activation behind the product."""
    m, n = tile_of(tl.program_id(0), M, N, BM, BN, 8)
    i = (m * BM + tl.arange(0, BM)) % M
    j = (n * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    at_a = a + i[:, None] * K + k[None, :]
    at_b = b + j[None, :] * K + k[:, None]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        left = K - step * BK
        x = tl.load(at_a, mask=k[None, :] < left, other=0.0)
        y = tl.load(at_b, mask=k[:, None] < left, other=0.0)
        total = tl.dot(x, y, total)
        at_a += BK
        at_b += BK
    total = leaky(total + tl.load(bias + j)[None, :])
    i = m * BM + tl.arange(0, BM)
    j = n * BN + tl.arange(0, BN)
    tl.store(c + i[:, None] * N + j[None, :], total.to(tl.float16),
             mask=(i[:, None] < M) & (j[None, :] < N))


@triton.jit
def grouped(a, b, c, sizes, groups, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Products of several sizes: the operands stand one behind the other, sizes has an M, N, K
    each. Programs take tile after tile, of whichever product."""
    tile = tl.program_id(0)
    begin = 0
    for g in range(groups):
        M = tl.load(sizes + 3 * g)
        N = tl.load(sizes + 3 * g + 1)
        K = tl.load(sizes + 3 * g + 2)
        wide = tl.cdiv(N, BN)
        end = begin + tl.cdiv(M, BM) * wide
        while tile >= begin and tile < end:
            i = (tile - begin) // wide * BM + tl.arange(0, BM)
            j = (tile - begin) % wide * BN + tl.arange(0, BN)
            total = tl.zeros((BM, BN), tl.float32)
            for first in range(0, K, BK):
                k = first + tl.arange(0, BK)
                x = tl.load(a + i[:, None] * K + k[None, :],
                            mask=(i[:, None] < M) & (k[None, :] < K), other=0.0)
                y = tl.load(b + k[:, None] * N + j[None, :],
                            mask=(k[:, None] < K) & (j[None, :] < N), other=0.0)
                total = tl.dot(x, y, total)
            tl.store(c + i[:, None] * N + j[None, :], total.to(tl.float16),
                     mask=(i[:, None] < M) & (j[None, :] < N))
            tile += tl.num_programs(0)
        begin = end
        a += M * K
        b += K * N
        c += M * N


@triton.jit
def scaled(a, scale_a, b, scale_b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr, KIND: tl.constexpr, PACKED: tl.constexpr):
    """Each 32 elements of a row have a power of two; PACKED of them stand in a byte."""
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first // PACKED + tl.arange(0, BK // PACKED)
        s = first // 32 + tl.arange(0, BK // 32)
        x = tl.load(a + i[:, None] * (K // PACKED) + k[None, :])
        y = tl.load(b + j[None, :] * (K // PACKED) + k[:, None])
        u = tl.load(scale_a + i[:, None] * (K // 32) + s[None, :])
        v = tl.load(scale_b + j[:, None] * (K // 32) + s[None, :])
        total = tl.dot_scaled(x, u, KIND, y, v, KIND, total)
    tl.store(c + i[:, None] * N + j[None, :], total)


@triton.jit
def convolve(x, w, y, H, W, C: tl.constexpr, F: tl.constexpr, BP: tl.constexpr):
    """3 x 3, with zeros around the image: nine products."""
    p = tl.program_id(0) * BP + tl.arange(0, BP)
    c = tl.arange(0, C)
    f = tl.arange(0, F)
    total = tl.zeros((BP, F), tl.float32)
    for tap in tl.static_range(9):
        row = p // W + tap // 3 - 1
        column = p % W + tap % 3 - 1
        inside = (p < H * W) & (row >= 0) & (row < H) & (column >= 0) & (column < W)
        pixels = tl.load(x + (row * W + column)[:, None] * C + c[None, :],
                         mask=inside[:, None], other=0.0)
        weights = tl.load(w + (tap * C + c)[:, None] * F + f[None, :])
        total = tl.dot(pixels, weights, total)
    tl.store(y + p[:, None] * F + f[None, :], total, mask=(p < H * W)[:, None])
