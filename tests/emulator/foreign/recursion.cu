// Functions that call themselves, and each other.
static __device__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

static __device__ unsigned is_odd(unsigned n);

static __device__ __noinline__ unsigned is_even(unsigned n)
{
    return n == 0 ? 1 : is_odd(n - 1);
}

static __device__ __noinline__ unsigned is_odd(unsigned n)
{
    return n == 0 ? 0 : is_even(n - 1);
}

static __device__ __noinline__ unsigned fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void recursion(const unsigned *in, unsigned *out)
{
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x, value = in[at];

    out[at * 3] = fibonacci(value % 12);
    out[at * 3 + 1] = ackermann(value % 3, value / 3 % 4);
    out[at * 3 + 2] = is_even(value % 20);
}

// Quicksort of 24 values a thread, in place.
static __device__ __noinline__ void quicksort(int *values, int count)
{
    while (count > 1) {
        int pivot = values[count / 2], low = 0, high = count - 1;
        while (low <= high) {
            while (values[low] < pivot)
                low++;
            while (values[high] > pivot)
                high--;
            if (low <= high) {
                int value = values[low];
                values[low++] = values[high];
                values[high--] = value;
            }
        }
        quicksort(values, high + 1);
        values += low;
        count -= low;
    }
}

extern "C" __global__ void recursion_sort(int *values)
{
    quicksort(values + (blockIdx.x * blockDim.x + threadIdx.x) * 24, 24);
}
