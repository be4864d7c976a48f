// Atomic operations on 64 bits, on floating point, and loops over compare-and-swap.
#include <cuda_fp16.h>

extern "C" __global__ void atomics_wide(const unsigned long long *in, unsigned long long *out)
{
    unsigned long long value = in[blockIdx.x * blockDim.x + threadIdx.x];

    atomicAdd(&out[0], value);
    atomicMin(&out[1], value);
    atomicMax(&out[2], value);
    atomicMin((long long *)&out[3], (long long)value);
    atomicMax((long long *)&out[4], (long long)value);
    atomicAnd(&out[5], value | 0xffff);
    atomicOr(&out[6], value & 0xff00ff);
    atomicXor(&out[7], value);
    // Multiplication modulo 2^64, for which there is no instruction.
    unsigned long long old = out[8], assumed;
    do {
        assumed = old;
        old = atomicCAS(&out[8], assumed, assumed * (value | 1));
    } while (old != assumed);
    atomicExch(&out[9 + value % 4], 0x1234567887654321ull);
}

extern "C" __global__ void atomics_float(const float *in, float *sums, double *wide, __half2 *pair,
                                         unsigned short *halves)
{
    float value = in[blockIdx.x * blockDim.x + threadIdx.x];
    __shared__ float block_sum;
    __shared__ double block_wide;

    if (threadIdx.x == 0) {
        block_sum = 0;
        block_wide = 0;
    }
    __syncthreads();
    atomicAdd(&block_sum, value);
    atomicAdd(&block_wide, (double)value);
    atomicAdd(pair, __floats2half2_rn(value > 0 ? 1.0f : 0.0f, value < 0 ? 1.0f : 0.0f));
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&sums[0], block_sum);
        atomicAdd(&wide[0], block_wide);
    }
    // The largest: an integer that is ordered as the floats are.
    int order = __float_as_int(value);
    atomicMax((int *)&sums[1], order >= 0 ? order : order ^ 0x7fffffff);
    // A counter of 16 bits between two others.
    unsigned short old = halves[1], assumed;
    do {
        assumed = old;
        old = atomicCAS(&halves[1], assumed, (unsigned short)(assumed + 3));
    } while (old != assumed);
}

// Tickets: each thread gets one, none twice; and a lock that only one thread holds at a time.
extern "C" __global__ void atomics_lock(unsigned *tickets, unsigned *words)
{
    unsigned ticket = atomicInc(&words[0], 0xffffffff);

    tickets[ticket] = ticket ^ 0x5555;
    atomicDec(&words[1], 40);
    atomicSub(&words[2], ticket);
    for (bool done = false; !done;) {
        if (atomicCAS(&words[3], 0, 1) == 0) {
            __threadfence();
            volatile unsigned *guarded = words + 4;
            guarded[0] = guarded[0] * 3 + 1;
            __threadfence();
            atomicExch(&words[3], 0);
            done = true;
        }
    }
    atomicAdd_block(&words[5], 1u);
    atomicAdd_system(&words[6], 2u);
}
