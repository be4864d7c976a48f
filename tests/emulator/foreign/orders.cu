// cuda::atomic: acquire, release and their scopes, as the standard library writes them.
#include <cuda/atomic>

// A message goes through all blocks, one after the other.
extern "C" __global__ void orders(const unsigned *in, unsigned *message, unsigned *turn,
                                  unsigned long long *sum)
{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> now(*turn);
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> total(*sum);
    __shared__ unsigned received;

    if (threadIdx.x == 0) {
        while (now.load(cuda::std::memory_order_acquire) != blockIdx.x)
            __nanosleep(100);
        received = message[0];
        message[0] = received * 5 + in[blockIdx.x];
        now.store(blockIdx.x + 1, cuda::std::memory_order_release);
    }
    __syncthreads();
    total.fetch_add((unsigned long long)received * threadIdx.x, cuda::std::memory_order_relaxed);
    total.fetch_xor(0, cuda::std::memory_order_acq_rel);
    unsigned long long expected = total.load(cuda::std::memory_order_relaxed);
    while (!total.compare_exchange_weak(expected, expected + 1, cuda::std::memory_order_acq_rel,
                                        cuda::std::memory_order_relaxed))
        ;
    cuda::atomic_thread_fence(cuda::std::memory_order_seq_cst, cuda::thread_scope_system);
}
