// Arrays of a thread that are indexed by values: they live in local memory.
extern "C" __global__ void local_sort(const unsigned *in, unsigned *out)
{
    unsigned values[16], at = blockIdx.x * blockDim.x + threadIdx.x;

    for (int i = 0; i < 16; i++)
        values[i] = in[at * 16 + i];
#pragma unroll 1
    for (int i = 1; i < 16; i++) {
        unsigned value = values[i];
        int j = i;
        while (j > 0 && values[j - 1] > value) {
            values[j] = values[j - 1];
            j--;
        }
        values[j] = value;
    }
    for (int i = 0; i < 16; i++)
        out[at * 16 + i] = values[i];
}

struct record {
    unsigned char tag;
    short weight;
    double value;
    unsigned long long link[3];
};

static __device__ __noinline__ void fill(record *records, int count, unsigned seed)
{
    for (int i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        records[i].tag = (unsigned char)(seed >> 24);
        records[i].weight = (short)(seed >> 12);
        records[i].value = (double)(int)seed / 65536;
        for (int j = 0; j < 3; j++)
            records[i].link[j] = (unsigned long long)seed * (j + 1);
    }
}

// Records by value and by address, walked in an order that the data give.
extern "C" __global__ void local_records(const unsigned *in, double *sums,
                                         unsigned long long *links)
{
    record records[11];
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;
    unsigned long long link = 0;

    fill(records, 11, in[at]);
    unsigned next = in[at] % 11;
    for (int i = 0; i < 20; i++) {
        record copy = records[next];
        sum += copy.value * copy.weight;
        link ^= copy.link[next % 3];
        next = (copy.tag + i) % 11;
    }
    sums[at] = sum;
    links[at] = link;
}
