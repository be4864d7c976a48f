// tcgen05.mma from tiles that TMA brings: by one CTA, and by a pair of CTAs that share a product.
// TARGETS: sm_100a
#include <cuda_fp16.h>

struct alignas(64) tensor_map {
    char bytes[128];
};

static __device__ unsigned shared_address(const void *pointer)
{
    return (unsigned)__cvta_generic_to_shared(pointer);
}

static __device__ bool elected()
{
    unsigned one;

    asm volatile("{\n.reg .pred one;\nelect.sync _|one, 0xffffffff;\nselp.u32 %0, 1, 0, one;\n}"
                 : "=r"(one));
    return one;
}

static __device__ void wait(unsigned barrier, unsigned parity)
{
    asm volatile("{\n.reg .pred done;\nagain:\n"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

static __device__ unsigned long long descriptor(unsigned address)
{
    return 0x4000404000010000ull | (address & 0x3ffff) >> 4;
}

template <int Group>
static __device__ void allocate(unsigned slot)
{
    if (Group == 1) {
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(slot),
                     "n"(64)
                     : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    } else {
        asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(slot),
                     "n"(64)
                     : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;");
    }
}

template <int Group>
static __device__ void load(unsigned to, const tensor_map *map, int k, int row, unsigned barrier)
{
    if (Group == 1)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
                     ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                     "l"(map), "r"(k), "r"(row), "r"(barrier)
                     : "memory");
    else
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
                     ".mbarrier::complete_tx::bytes.cta_group::2 "
                     "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                     "l"(map), "r"(k), "r"(row), "r"(barrier & 0xfeffffff)
                     : "memory");
}

template <int Group>
static __device__ void multiply(unsigned d, unsigned long long a, unsigned long long b,
                                unsigned kind, bool add)
{
    if (Group == 1)
        asm volatile("{\n.reg .pred add;\nsetp.ne.u32 add, %4, 0;\n"
                     "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, add;\n}" ::"r"(d),
                     "l"(a), "l"(b), "r"(kind), "r"((unsigned)add)
                     : "memory");
    else
        asm volatile("{\n.reg .pred add;\nsetp.ne.u32 add, %4, 0;\n"
                     "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, add;\n}" ::"r"(d),
                     "l"(a), "l"(b), "r"(kind), "r"((unsigned)add)
                     : "memory");
}

template <int Group>
static __device__ void commit(unsigned barrier)
{
    if (Group == 1)
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
                     "[%0];" ::"r"(barrier)
                     : "memory");
    else
        asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster"
                     ".multicast::cluster.b64 [%0], %1;" ::"r"(barrier),
                     "h"((unsigned short)3)
                     : "memory");
}

static __device__ void synchronise(int group)
{
    __syncthreads();
    if (group == 2) {
        asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
        asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    }
}

// 128 * Group x 64 of D = A B^T, k a multiple of 64: two stages, four warps that also store.
template <int Group>
static __device__ void gemm(const tensor_map *map_a, const tensor_map *map_b, float *d, int k)
{
    constexpr int rows_b = 64 / Group, stage = 16384 + rows_b * 128;
    constexpr unsigned kind = (Group * 8u) << 24 | 8u << 17 | 1u << 4;
    extern __shared__ __align__(1024) unsigned char stages[];
    __shared__ alignas(8) unsigned long long full[2], empty[2], sums;
    __shared__ unsigned slot;
    unsigned base = shared_address(stages), rank = 0, taddr;
    int warp = threadIdx.x / 32, blocks = k / 64;

    if (Group == 2)
        asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full[i])));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&empty[i])));
        }
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&sums)));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (warp == 0) {
        __syncwarp();
        allocate<Group>(shared_address(&slot));
    }
    synchronise(Group);
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    taddr = slot;

    if (warp == 1 && elected())
        for (int i = 0; i < blocks; i++) {
            unsigned to = base + i % 2 * stage, bar = shared_address(&full[i % 2]);

            wait(shared_address(&empty[i % 2]), i / 2 % 2 ^ 1);
            if (rank == 0)
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar),
                             "r"(stage * Group)
                             : "memory");
            load<Group>(to, map_a, i * 64, (int)rank * 128, bar);
            load<Group>(to + 16384, map_b, i * 64, (int)rank * rows_b, bar);
        }
    if (warp == 2 && rank == 0 && elected()) {
        for (int i = 0; i < blocks; i++) {
            unsigned from = base + i % 2 * stage;

            wait(shared_address(&full[i % 2]), i / 2 % 2);
            asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
            for (int step = 0; step < 4; step++)
                multiply<Group>(taddr, descriptor(from + step * 32),
                                descriptor(from + 16384 + step * 32), kind, i + step > 0);
            commit<Group>(shared_address(&empty[i % 2]));
        }
        commit<Group>(shared_address(&sums));
    }
    __syncwarp();
    wait(shared_address(&sums), 0);
    __syncwarp();
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    for (int column = 0; column < 64; column += 8) {
        float v[8];

        asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                     : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]),
                       "=f"(v[6]), "=f"(v[7])
                     : "r"(taddr + (warp * 32u << 16) + column));
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
        for (int i = 0; i < 8; i++)
            d[(rank * 128 + threadIdx.x) * 64 + column + i] = v[i];
    }
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    synchronise(Group);
    if (warp == 0) {
        asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
        if (Group == 1)
            asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(taddr),
                         "n"(64));
        else
            asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(taddr),
                         "n"(64));
    }
}

extern "C" __global__ void __launch_bounds__(128)
    gemm_tcgen05_cta(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,
                     float *d, int k)
{
    gemm<1>(&a, &b, d, k);
}

extern "C" __global__ void __launch_bounds__(128) __cluster_dims__(2, 1, 1)
    gemm_tcgen05_pair(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,
                      float *d, int k)
{
    gemm<2>(&a, &b, d, k);
}
