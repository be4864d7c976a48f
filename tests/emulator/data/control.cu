// Recursion, a switch as a table of labels, function pointers, printf, structures by value.
#include <cstdio>
struct point {
    float x, y;
    short tag;
};
__device__ int (*table[2])(int);
__device__ int twice(int x)
{
    return 2 * x;
}
__device__ int (*const fixed[])(int) = {twice, twice};
__device__ __noinline__ int factorial(int n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}
__device__ __noinline__ point mirror(point p)
{
    p.x = -p.x;
    p.tag++;
    return p;
}
__global__ void __launch_bounds__(128, 2) control(int *out, int n, point p)
{
    int r = 0;
    switch (n) {
    case 0:
        r = 5 + out[3];
        break;
    case 1:
        r = out[1] * out[0];
        break;
    case 2:
        out[7] = 9;
        break;
    case 3:
        r = __popc(out[2]);
        break;
    case 4:
        r = out[9] - out[4];
        __syncthreads();
        break;
    case 5:
        r = out[5] << 3;
        break;
    case 6:
        r = factorial(out[6]);
        break;
    default:
        printf("%d %f\n", n, p.x);
    }
    p = mirror(p);
    out[threadIdx.x] = r + (int)p.x + p.tag + table[n & 1](r) + fixed[n & 1](n);
    if (n > 100)
        __trap();
}
