// What is not regular: a sparse matrix by warps, and a search through a graph in one block.
extern "C" __global__ void graph_sparse(const unsigned *begins, const unsigned *columns,
                                        const float *values, const float *x, float *y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;

    if (row >= rows)
        return;
    for (unsigned i = begins[row] + lane; i < begins[row + 1]; i += 32)
        sum += values[i] * __ldg(&x[columns[i]]);
    for (int step = 16; step; step >>= 1)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (lane == 0)
        y[row] = sum;
}

// Distances from node 0; each node has four edges.
extern "C" __global__ void graph_search(const unsigned *edges, int *distances, int nodes)
{
    extern __shared__ unsigned queue[];
    __shared__ unsigned begin, end, next;

    for (int i = threadIdx.x; i < nodes; i += blockDim.x)
        distances[i] = -1;
    __syncthreads();
    if (threadIdx.x == 0) {
        distances[0] = 0;
        queue[0] = 0;
        begin = 0;
        end = next = 1;
    }
    __syncthreads();
    for (int distance = 1; begin < end; distance++) {
        for (unsigned i = begin + threadIdx.x; i < end; i += blockDim.x)
            for (int j = 0; j < 4; j++) {
                unsigned to = edges[queue[i] * 4 + j] % nodes;
                if (atomicCAS(&distances[to], -1, distance) == -1)
                    queue[atomicAdd(&next, 1u)] = to;
            }
        __syncthreads();
        if (threadIdx.x == 0) {
            begin = end;
            end = next;
        }
        __syncthreads();
    }
}

// Sets joined by their edges, without a lock: the smallest member stands for all. One block.
extern "C" __global__ void graph_join(const unsigned *edges, unsigned *parents, int count,
                                      int nodes)
{
    volatile unsigned *up = parents;

    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        unsigned a = edges[i * 2], b = edges[i * 2 + 1];
        for (;;) {
            while (up[a] != a)
                a = up[a];
            while (up[b] != b)
                b = up[b];
            if (a == b)
                break;
            unsigned low = min(a, b), high = max(a, b);
            if (atomicCAS(&parents[high], high, low) == high)
                break;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < nodes; i += blockDim.x) {
        unsigned root = i;
        while (up[root] != root)
            root = up[root];
        up[i] = root;
    }
}
