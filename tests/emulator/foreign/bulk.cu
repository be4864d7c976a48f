// Copies by the bulk engine: in under an mbarrier that counts bytes, out in bulk groups, and sums.
// TARGETS: sm_90a sm_100a
static __device__ unsigned address(const void *at)
{
    return (unsigned)__cvta_generic_to_shared(at);
}

static __device__ void wait(unsigned barrier, unsigned parity)
{
    asm volatile("{\n.reg .pred done;\n"
                 "WAIT_%=:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1, 1000;\n"
                 "@done bra DONE_%=;\nbra WAIT_%=;\nDONE_%=:\n}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

// Rows of 1024 bytes go through two buffers, and each value is changed on its way.
extern "C" __global__ void bulk_pipeline(const unsigned *in, unsigned *out, int rows)
{
    __shared__ alignas(128) unsigned buffer[2][256];
    __shared__ alignas(8) unsigned long long full[2];

    in += blockIdx.x * rows * 256;
    out += blockIdx.x * rows * 256;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&full[i]))
                         : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    auto fetch = [&](int row) {
        unsigned barrier = address(&full[row & 1]);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(barrier)
                     : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], 1024, [%2];" ::"r"(address(buffer[row & 1])),
                     "l"(in + row * 256), "r"(barrier)
                     : "memory");
    };
    if (threadIdx.x == 0)
        fetch(0);
    for (int row = 0; row < rows; row++) {
        if (threadIdx.x == 0 && row + 1 < rows) {
            // The buffer's last store must have read it.
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
            fetch(row + 1);
        }
        wait(address(&full[row & 1]), row >> 1 & 1);
        buffer[row & 1][threadIdx.x] = buffer[row & 1][threadIdx.x] * 3 + row;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(
                             out + row * 256),
                         "r"(address(buffer[row & 1]))
                         : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Sums of rows in global memory, by the engine: every block adds its own.
extern "C" __global__ void bulk_reduce(const unsigned *in, unsigned *sums, unsigned *least)
{
    __shared__ alignas(16) unsigned row[64];

    row[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile(
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 256;" ::"l"(
                sums),
            "r"(address(row))
            : "memory");
        asm volatile(
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.u32 [%0], [%1], 256;" ::"l"(
                least),
            "r"(address(row))
            : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}
