// An inclusive scan over many blocks in one launch: each block waits for the sum of the one before.
extern "C" __global__ void scan(const unsigned *in, unsigned *out, volatile unsigned *ready,
                                volatile unsigned *prefix, unsigned *ticket, int count)
{
    __shared__ unsigned of_warps[8], before, block;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;

    if (threadIdx.x == 0)
        block = atomicAdd(ticket, 1u);
    __syncthreads();
    int at = block * blockDim.x + threadIdx.x;
    unsigned sum = at < count ? in[at] : 0;
    for (int step = 1; step < 32; step *= 2) {
        unsigned other = __shfl_up_sync(0xffffffff, sum, step);
        if (lane >= step)
            sum += other;
    }
    if (lane == 31)
        of_warps[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        unsigned total = lane < 8 ? of_warps[lane] : 0;
        for (int step = 1; step < 8; step *= 2) {
            unsigned other = __shfl_up_sync(0xffffffff, total, step, 8);
            if ((lane & 7) >= step)
                total += other;
        }
        if (lane < 8)
            of_warps[lane] = total;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned sum_before = 0;
        if (block > 0) {
            while (ready[block - 1] == 0)
                ;
            __threadfence();
            sum_before = prefix[block - 1];
        }
        before = sum_before;
        prefix[block] = sum_before + of_warps[7];
        __threadfence();
        ready[block] = 1;
    }
    __syncthreads();
    if (at < count)
        out[at] = before + (warp > 0 ? of_warps[warp - 1] : 0) + sum;
}
