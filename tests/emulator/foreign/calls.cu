// Calls by address: tables of functions, of which a global variable holds one, and virtual
// functions.
typedef int operation(int, int);

static __device__ __noinline__ int add(int a, int b)
{
    return a + b;
}

static __device__ __noinline__ int subtract(int a, int b)
{
    return a - b;
}

static __device__ __noinline__ int multiply(int a, int b)
{
    return a * b;
}

static __device__ __noinline__ int mix(int a, int b)
{
    return (a ^ b) * 31 + (a & b);
}

__device__ operation *const volatile operations[4] = {add, subtract, multiply, mix};

extern "C" __global__ void calls_by_table(const int *in, int *out, int turns)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x, value = in[at];

    for (int i = 0; i < turns; i++)
        value = operations[(unsigned)value >> 3 & 3](value, i + at);
    out[at] = value;
}

struct shape {
    int size;
    __device__ shape(int size) : size(size)
    {
    }
    virtual __device__ int area() const = 0;
    virtual __device__ int corners() const
    {
        return 0;
    }
};

struct square : shape {
    __device__ square(int size) : shape(size)
    {
    }
    __device__ int area() const override
    {
        return size * size;
    }
    __device__ int corners() const override
    {
        return 4;
    }
};

struct disc : shape {
    __device__ disc(int size) : shape(size)
    {
    }
    __device__ int area() const override
    {
        return size * size * 355 / 113;
    }
};

struct ring : disc {
    int hole;
    __device__ ring(int size, int hole) : disc(size), hole(hole)
    {
    }
    __device__ int area() const override
    {
        return disc::area() - hole * hole * 355 / 113;
    }
};

static __device__ __noinline__ int measure(const shape *of)
{
    return of->area() * 10 + of->corners();
}

extern "C" __global__ void calls_virtual(const int *in, int *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x, value = in[at];
    square first(value);
    disc second(value + 1);
    ring third(value + 2, value / 2);
    const shape *all[3] = {&first, &second, &third};

    out[at] = measure(all[value % 3]) - measure(all[(value + at) % 3]);
}

// A structure goes in and another comes out by value.
struct pair {
    double real;
    int whole[3];
};

static __device__ __noinline__ pair turn(pair in, float by)
{
    pair out = {in.real * by, {in.whole[2], in.whole[0], in.whole[1]}};
    return out;
}

extern "C" __global__ void calls_struct(const int *in, double *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    pair value = {(double)in[at], {in[at], at, 7}};

    for (int i = 0; i < (at & 3) + 1; i++)
        value = turn(value, 0.5f);
    out[at] = value.real + value.whole[0] * 3 + value.whole[1] * 5 + value.whole[2];
}
