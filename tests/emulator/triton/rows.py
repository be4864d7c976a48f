"""Kernels of Triton: a row or a block of rows a program, sums along them, locks between them."""
import triton
import triton.language as tl


@triton.jit
def softmax(x, y, rows, columns, B: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=3):
        j = tl.arange(0, B)
        v = tl.load(x + row * columns + j, mask=j < columns, other=-float("inf"))
        e = tl.exp(v - tl.max(v, axis=0))
        tl.store(y + row * columns + j, e / tl.sum(e, axis=0), mask=j < columns)


@triton.jit
def norm(x, y, weight, bias, mean, rstd, columns, epsilon, B: tl.constexpr):
    """Layer normalisation of rows of any length."""
    row = tl.program_id(0)
    total = tl.zeros((B,), tl.float32)
    squares = tl.zeros((B,), tl.float32)
    for first in range(0, columns, B):
        j = first + tl.arange(0, B)
        v = tl.load(x + row * columns + j, mask=j < columns, other=0.0).to(tl.float32)
        total += v
        squares += v * v
    m = tl.sum(total) / columns
    r = tl.rsqrt(tl.sum(squares) / columns - m * m + epsilon)
    tl.store(mean + row, m)
    tl.store(rstd + row, r)
    for first in range(0, columns, B):
        j = first + tl.arange(0, B)
        v = tl.load(x + row * columns + j, mask=j < columns, other=0.0).to(tl.float32)
        w = tl.load(weight + j, mask=j < columns)
        b = tl.load(bias + j, mask=j < columns)
        tl.store(y + row * columns + j, (v - m) * r * w + b, mask=j < columns)


@triton.jit
def norm_back(dx, dw, db, dy, x, weight, mean, rstd, locks, columns, GROUPS: tl.constexpr,
              B: tl.constexpr):
    """Gradients: of x for the row; of weight and bias added to those of its group, under a lock.
    locks: GROUPS of them, then whether a group's sums have begun."""
    row = tl.program_id(0)
    j = tl.arange(0, B)
    inside = j < columns
    v = tl.load(x + row * columns + j, mask=inside, other=0.0)
    g = tl.load(dy + row * columns + j, mask=inside, other=0.0)
    w = tl.load(weight + j, mask=inside, other=0.0)
    r = tl.load(rstd + row)
    h = tl.where(inside, (v - tl.load(mean + row)) * r, 0.0)
    along = tl.sum(h * w * g) / columns
    level = tl.sum(w * g) / columns
    tl.store(dx + row * columns + j, (w * g - h * along - level) * r, mask=inside)
    group = row % GROUPS
    of_w = g * h
    of_b = g
    while tl.atomic_cas(locks + group, 0, 1) == 1:
        pass
    if tl.load(locks + GROUPS + group) == 0:
        tl.atomic_xchg(locks + GROUPS + group, 1)
    else:
        of_w += tl.load(dw + group * columns + j, mask=inside)
        of_b += tl.load(db + group * columns + j, mask=inside)
    tl.store(dw + group * columns + j, of_w, mask=inside)
    tl.store(db + group * columns + j, of_b, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(locks + group, 0)


@triton.jit
def norm_sums(parts, sums, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    j = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, rows, BM):
        i = first + tl.arange(0, BM)
        total += tl.load(parts + i[:, None] * columns + j[None, :],
                         mask=(i[:, None] < rows) & (j[None, :] < columns), other=0.0)
    tl.store(sums + j, tl.sum(total, axis=0), mask=j < columns)


@triton.jit
def attention(q, k, v, o, logs, length, scale, D: tl.constexpr, BM: tl.constexpr,
              BN: tl.constexpr, CAUSAL: tl.constexpr):
    """A block of queries against all keys, block by block, with the maximum and the sum of each
    row as they are so far. A head a row of the grid."""
    head = tl.program_id(1)
    base = head.to(tl.int64) * length * D
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    x = tl.load(q + base + i[:, None] * D + d[None, :], mask=i[:, None] < length, other=0.0)
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    mixed = tl.zeros((BM, D), tl.float32)
    end = length
    if CAUSAL:
        end = tl.minimum(length, (tl.program_id(0) + 1) * BM)
    for first in range(0, end, BN):
        j = first + tl.arange(0, BN)
        keys = tl.load(k + base + j[None, :] * D + d[:, None], mask=j[None, :] < length,
                       other=0.0)
        seen = j[None, :] < length
        if CAUSAL:
            seen = seen & (i[:, None] >= j[None, :])
        z = tl.where(seen, tl.dot(x, keys) * (scale * 1.4426950408889634), -1.0e6)
        now = tl.maximum(top, tl.max(z, 1))
        p = tl.exp2(z - now[:, None])
        fade = tl.exp2(top - now)
        total = total * fade + tl.sum(p, 1)
        values = tl.load(v + base + j[:, None] * D + d[None, :], mask=j[:, None] < length,
                         other=0.0)
        mixed = tl.dot(p.to(values.dtype), values, mixed * fade[:, None])
        top = now
    tl.store(logs + head * length + i, top + tl.log2(total), mask=i < length)
    tl.store(o + base + i[:, None] * D + d[None, :], mixed / total[:, None],
             mask=i[:, None] < length)


@triton.jit
def merge(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    """Mean and squared distances from it of two sets, from those of each."""
    count = count_a + count_b
    part = tl.where(count == 0.0, 0.0, count_b / count)
    apart = mean_b - mean_a
    return mean_a + apart * part, m2_a + m2_b + apart * apart * count_a * part, count


@triton.jit
def variance(x, mean, spread, columns, R: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0) * R + tl.arange(0, R)
    j = tl.arange(0, B)
    zero = tl.zeros((R, B), tl.float32)
    m, s, n = zero, zero, zero
    for first in range(0, columns, B):
        inside = (first + j)[None, :] < columns
        v = tl.load(x + row[:, None] * columns + (first + j)[None, :], mask=inside, other=0.0,
                    eviction_policy="evict_first")
        m_new, s_new, n_new = merge(m, s, n, v, zero, zero + 1.0)
        m = tl.where(inside, m_new, m)
        s = tl.where(inside, s_new, s)
        n = tl.where(inside, n_new, n)
    m, s, n = tl.reduce((m, s, n), 1, merge)
    tl.store(mean + row, m)
    tl.store(spread + row, s / n)


@triton.jit
def sum_split(x, sums, done, count, B: tl.constexpr):
    """A sum a program, and the sum of those by whichever program is the last."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(sums + 1 + tl.program_id(0), tl.sum(tl.load(x + i, mask=i < count, other=0.0)))
    tl.debug_barrier()
    if tl.atomic_add(done, 1) == tl.num_programs(0) - 1:
        j = tl.arange(0, 64)
        tl.store(sums, tl.sum(tl.load(sums + 1 + j, mask=j < tl.num_programs(0), other=0.0,
                                      volatile=True)))
