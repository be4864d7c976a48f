"""Kernels of Triton: scans, sorting, counting, gathering, reductions of all kinds, atomics."""
import triton
import triton.language as tl


@triton.jit
def follow(a, b, c, d):
    """x -> a x + b, then x -> c x + d."""
    return a * c, b * c + d


@triton.jit
def scans(x, factors, sums, back, linear, products, R: tl.constexpr, C: tl.constexpr):
    at = tl.program_id(0) * R * C + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    v = tl.load(x + at)
    f = tl.load(factors + at)
    tl.store(sums + at, tl.cumsum(v, 1))
    tl.store(back + at, tl.cumsum(v, 0, reverse=True))
    _, y = tl.associative_scan((f, v), 1, follow)
    tl.store(linear + at, y)
    tl.store(products + at, tl.cumprod(f, 0))


@triton.jit
def scan_chained(x, y, state, ticket, count, B: tl.constexpr):
    """Over all programs: each waits for the sum of the one before it. state: twice a sum, and one
    where it is there."""
    turn = tl.atomic_add(ticket, 1)
    i = turn * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < count, other=0)
    before = tl.full((), 0, tl.int64)
    if turn > 0:
        seen = tl.atomic_add(state + turn - 1, 0, sem="acquire")
        while seen == 0:
            seen = tl.atomic_add(state + turn - 1, 0, sem="acquire")
        before = seen >> 1
    tl.atomic_xchg(state + turn, (before + tl.sum(v)) * 2 + 1, sem="release")
    tl.store(y + i, tl.cumsum(v) + before, mask=i < count)


@triton.jit
def sorts(x, up, down, most, N: tl.constexpr, K: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + at)
    tl.store(up + at, tl.sort(v))
    tl.store(down + at, tl.flip(tl.sort(tl.flip(v), descending=True)))
    tl.store(most + tl.program_id(0) * K + tl.arange(0, K), tl.topk(v, K))


@triton.jit
def counts(x, order, bins, gathered, count, N: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + i, mask=i < count, other=0)
    tl.atomic_add(bins + tl.arange(0, BINS), tl.histogram(v, BINS, mask=i < count))
    picked = tl.gather(v, tl.load(order + tl.arange(0, N)), 0)
    tl.store(gathered + i, picked)


@triton.jit
def reductions(x, reals, whole, R: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, R)
    v = tl.load(x + i[:, None] * C + tl.arange(0, C)[None, :])
    w = v.to(tl.int32)
    tl.store(reals + i, tl.sum(v, 1))
    tl.store(reals + R + i, tl.min(v, 1))
    most, where = tl.max(v, 1, return_indices=True)
    tl.store(reals + 2 * R + i, most)
    tl.store(whole + i, where)
    tl.store(whole + R + i, tl.argmin(v, 1))
    tl.store(whole + 2 * R + i, tl.xor_sum(w, 1))
    tl.store(whole + 3 * R + i, tl.reduce_or(w, 1))
    tl.store(whole + 4 * R + i, tl.sum((w & 1) != 0, 1))


@triton.jit
def atomics(x, slots, count, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < count
    v = tl.load(x + i, mask=inside, other=0)
    at = slots + (v & 7)
    tl.atomic_add(at, v, mask=inside)
    tl.atomic_max(at + 8, v, mask=inside)
    tl.atomic_min(at + 16, v, mask=inside)
    tl.atomic_and(at + 24, v, mask=inside)
    tl.atomic_or(at + 32, v, mask=inside)
    tl.atomic_xor(at + 40, v, mask=inside, sem="relaxed")


@triton.jit
def atomics_real(x, singles, halves, doubles, brains, count, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < count
    v = tl.load(x + i, mask=inside, other=0.0)
    tl.atomic_add(singles + i % 16, v, mask=inside)
    tl.atomic_max(singles + 16 + i % 16, v, mask=inside)
    tl.atomic_min(singles + 32 + i % 16, v, mask=inside)
    tl.atomic_add(halves + i % 32, v.to(tl.float16), mask=inside)
    tl.atomic_add(doubles + i % 4, v.to(tl.float64), mask=inside)
    tl.atomic_add(brains + i % 32, v.to(tl.bfloat16), mask=inside)


@triton.jit
def shapes(x, y, R: tl.constexpr, C: tl.constexpr):
    """The same elements in other orders, four times."""
    v = tl.load(x + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    all_of = tl.arange(0, R * C)
    tl.store(y + tl.arange(0, C)[:, None] * R + tl.arange(0, R)[None, :], tl.trans(v))
    even, odd = tl.split(tl.reshape(v, (R * C // 2, 2)))
    tl.store(y + R * C + all_of, tl.reshape(tl.join(odd, even), (R * C,)))
    tl.store(y + 2 * R * C + all_of, tl.interleave(even, odd + odd))
    turned = tl.permute(tl.reshape(v, (R // 4, 4, C)), (1, 2, 0))
    tl.store(y + 3 * R * C + all_of, tl.reshape(turned, (R * C,)))
