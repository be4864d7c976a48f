// printf of all sorts of arguments; one thread at a time.
#ifndef __CUDACC_RTC__
#include <cstdio>
#endif

extern "C" __global__ void print(const int *in, float *out)
{
    int value = in[threadIdx.x];

    for (int turn = 0; turn < blockDim.x; turn++) {
        if (turn == threadIdx.x) {
            if (value < 0)
                printf("thread %d: %d is negative, as %u or %#x\n", turn, value, (unsigned)value,
                       (unsigned)value);
            else
                printf("thread %d: %5d|%-5d|%05d|%s|%c|%%\n", turn, value, value, value,
                       value % 2 ? "odd" : "even", 'a' + value % 26);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        int written = printf("%lld %llu %.3f %e %g\n", -5000000000ll, 18446744073709551615ull, 2.5,
                             1234.5, 0.0625f);
        printf("done\n");
        out[0] = (float)written;
    }
}
