// Blocks of a cluster read, write and count in each other's shared memory.
// TARGETS: sm_90a sm_100a
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// A histogram whose bins are spread over the four blocks of a cluster.
extern "C" __global__ void __cluster_dims__(4, 1, 1)
    cluster_histogram(const unsigned *in, unsigned *bins, int count)
{
    __shared__ unsigned local[64];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();

    for (int i = threadIdx.x; i < 64; i += blockDim.x)
        local[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        unsigned bin = in[i] % (64 * blocks);
        unsigned *there = cluster.map_shared_rank(local, bin / 64);
        atomicAdd(&there[bin % 64], 1u);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < 64; i += blockDim.x)
        atomicAdd(&bins[rank * 64 + i], local[i]);
}

// Each block sends its row to the next block of its cluster, and both ends are told by an mbarrier
// that lies at the receiver.
extern "C" __global__ void cluster_ring(const unsigned *in, unsigned *out, unsigned *ids)
{
    __shared__ alignas(16) unsigned row[32];
    __shared__ alignas(8) unsigned long long full;
    unsigned here = (unsigned)__cvta_generic_to_shared(&full);
    unsigned rank, blocks, far_row, far_full, done;

    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(here) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    unsigned to = (rank + 1) % blocks;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(far_row)
        : "r"((unsigned)__cvta_generic_to_shared(&row[threadIdx.x])), "r"(to));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far_full) : "r"(here), "r"(to));
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(far_row),
                 "r"(in[blockIdx.x * 32 + threadIdx.x] ^ rank)
                 : "memory");
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(far_full)
                 : "memory");
    do
        asm volatile("{\n.reg .pred done;\n"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, done;\n}"
                     : "=r"(done)
                     : "r"(here)
                     : "memory");
    while (!done);
    out[blockIdx.x * 32 + threadIdx.x] = row[threadIdx.x];
    if (threadIdx.x == 0) {
        unsigned x, y, clusters, inside;
        asm("mov.u32 %0, %%clusterid.x;" : "=r"(x));
        asm("mov.u32 %0, %%clusterid.y;" : "=r"(y));
        asm("mov.u32 %0, %%nclusterid.x;" : "=r"(clusters));
        asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(inside));
        ids[blockIdx.x] = x | y << 8 | clusters << 16 | inside << 24;
    }
    // A block must not end while another may still write to it.
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}
