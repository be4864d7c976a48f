"""Kernels of Triton: products of matrices through tensor descriptors, which become TMA."""
import triton
import triton.language as tl

from matmul import tile_of


@triton.jit
def tma(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = A * B^T by descriptors that the kernel makes."""
    of_a = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    of_b = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    of_c = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    m, n = tile_of(tl.program_id(0), M, N, BM, BN, 3)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(of_a.load([m * BM, k]), of_b.load([n * BN, k]).T, total)
    of_c.store([m * BM, n * BN], total.to(tl.float16))


@triton.jit
def tma_given(of_a, of_b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """By descriptors that the host made."""
    m, n = tile_of(tl.program_id(0), M, N, BM, BN, 3)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(of_a.load([m * BM, k]), of_b.load([n * BN, k]).T, total)
    i = m * BM + tl.arange(0, BM)
    j = n * BN + tl.arange(0, BN)
    tl.store(c + i[:, None] * N + j[None, :], total.to(tl.float16),
             mask=(i[:, None] < M) & (j[None, :] < N))


@triton.jit
def tma_persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                   FLAT: tl.constexpr, ROLES: tl.constexpr):
    """Each program makes tiles until there are none; with ROLES its warps divide the work. C is
    stored in halves."""
    of_a = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    of_b = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    of_c = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN // 2])
    tiles = tl.cdiv(M, BM) * tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=FLAT,
                         warp_specialize=ROLES):
        m, n = tile_of(tile, M, N, BM, BN, 3)
        total = tl.zeros((BM, BN), tl.float32)
        for k in range(tl.cdiv(K, BK)):
            total = tl.dot(of_a.load([m * BM, k * BK]), of_b.load([n * BN, k * BK]).T, total)
        left, right = tl.split(tl.permute(tl.reshape(total, (BM, 2, BN // 2)), (0, 2, 1)))
        of_c.store([m * BM, n * BN], left.to(tl.float16))
        of_c.store([m * BM, n * BN + BN // 2], right.to(tl.float16))


@triton.jit
def tma_batch(a, b, c, COUNT, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = A * B for each of COUNT matrices: descriptors of three dimensions."""
    of_a = tl.make_tensor_descriptor(a, shape=[COUNT, M, K], strides=[M * K, K, 1],
                                     block_shape=[1, BM, BK])
    of_b = tl.make_tensor_descriptor(b, shape=[COUNT, K, N], strides=[K * N, N, 1],
                                     block_shape=[1, BK, BN])
    of_c = tl.make_tensor_descriptor(c, shape=[COUNT, M, N], strides=[M * N, N, 1],
                                     block_shape=[1, BM, BN])
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    which = tl.program_id(2)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = of_a.load([which, m, k]).reshape(BM, BK)
        y = of_b.load([which, k, n]).reshape(BK, BN)
        total = tl.dot(x, y, total)
    of_c.store([which, m, n], total.to(tl.float16).reshape(1, BM, BN))


@triton.jit
def tma_reduce(x, add, most, least, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """Reductions by TMA into what is there."""
    of_x = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    of_add = tl.make_tensor_descriptor(add, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    of_most = tl.make_tensor_descriptor(most, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    of_least = tl.make_tensor_descriptor(least, shape=[M, N], strides=[N, 1],
                                         block_shape=[BM, BN])
    at = [tl.program_id(0) * BM, tl.program_id(1) * BN]
    v = of_x.load(at)
    of_add.atomic_add(at, v)
    of_most.atomic_max(at, v)
    of_least.atomic_min(at, v)
