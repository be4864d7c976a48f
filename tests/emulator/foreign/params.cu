// Parameters of all sizes, structures by value, and one that an index reads.
struct settings {
    char name[6];
    short step;
    double scale;
    float table[9];
    unsigned long long seed;
};

extern "C" __global__ void params(char small, settings all, unsigned short medium, const int *in,
                                  double *out, float last)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = small + medium;

    sum += all.scale * in[at];
    sum += all.table[(unsigned)in[at] % 9];
    sum += all.name[at % 6] * all.step;
    sum += (double)(all.seed >> at % 64 & 0xff);
    out[at] = sum - last;
}

// A structure that is changed becomes a copy of the thread's own.
struct row {
    int values[8];
};

extern "C" __global__ void params_changed(row values, const int *in, int *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;

    for (int i = 0; i < 4; i++)
        values.values[in[at * 4 + i] & 7] += in[at * 4 + i];
    int sum = 0;
    for (int i = 0; i < 8; i++)
        sum = sum * 17 + values.values[i];
    out[at] = sum;
}
