// A producer and three consumers, warps of one block, hand eight stages over by mbarriers: the
// instructions of sm_80, where waiting is testing in a loop.
static __device__ unsigned address(const void *at)
{
    return (unsigned)__cvta_generic_to_shared(at);
}

static __device__ void initialise(unsigned barrier, unsigned count)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

static __device__ void arrive(unsigned barrier)
{
    asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(barrier)
                 : "memory");
}

static __device__ void wait(unsigned barrier, unsigned parity)
{
    unsigned done;

    do
        asm volatile("{\n.reg .pred done;\nmbarrier.test_wait.parity.shared.b64 done, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, done;\n}"
                     : "=r"(done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
    while (!done);
}

extern "C" __global__ void mbarrier(const unsigned *in, unsigned *out, int stages)
{
    __shared__ unsigned ring[2][32];
    __shared__ alignas(8) unsigned long long full[2], empty[2];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned sum = 0;

    if (threadIdx.x < 2) {
        initialise(address(&full[threadIdx.x]), 32);
        initialise(address(&empty[threadIdx.x]), 96);
    }
    __syncthreads();
    for (int i = 0; i < stages; i++) {
        int slot = i % 2, parity = i / 2 % 2;
        if (warp == 0) {
            wait(address(&empty[slot]), parity ^ 1);
            ring[slot][lane] = in[i * 32 + lane];
            arrive(address(&full[slot]));
        } else {
            wait(address(&full[slot]), parity);
            sum = sum * 31 + ring[slot][(lane + warp) % 32];
            arrive(address(&empty[slot]));
        }
    }
    if (warp > 0)
        out[threadIdx.x - 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(address(&full[0])) : "memory");
}

// A barrier whose phase is a token; cp.async arrives on it when its bytes are there.
extern "C" __global__ void mbarrier_token(const uint4 *in, uint4 *out)
{
    __shared__ alignas(16) uint4 row[128];
    __shared__ alignas(8) unsigned long long full;
    unsigned here = address(&full), done;
    unsigned long long token;

    if (threadIdx.x == 0)
        initialise(here, blockDim.x);
    __syncthreads();
    for (int turn = 0; turn < 3; turn++) {
        int at = turn * blockDim.x + threadIdx.x;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(&row[threadIdx.x])),
                     "l"(in + at)
                     : "memory");
        asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(here) : "memory");
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(here) : "memory");
        do
            asm volatile("{\n.reg .pred done;\nmbarrier.test_wait.shared.b64 done, [%1], %2;\n"
                         "selp.u32 %0, 1, 0, done;\n}"
                         : "=r"(done)
                         : "r"(here), "l"(token)
                         : "memory");
        while (!done);
        out[at] = row[blockDim.x - 1 - threadIdx.x];
        __syncthreads();
    }
}
