// Warps of different roles, as kernels of sm_90 have them: a thread elected, registers moved over,
// a launch that waits for the one before.
// TARGETS: sm_90a sm_100a
static __device__ bool elected()
{
    unsigned one;

    asm volatile("{\n.reg .pred one;\nelect.sync _|one, 0xffffffff;\nselp.u32 %0, 1, 0, one;\n}"
                 : "=r"(one));
    return one;
}

extern "C" __global__ void __launch_bounds__(256) roles(const unsigned *in, unsigned *out)
{
    __shared__ unsigned square[128], elections;

    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (threadIdx.x == 0)
        elections = 0;
    __syncthreads();
    if (threadIdx.x >= 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        square[threadIdx.x - 128] = in[threadIdx.x - 128] * in[threadIdx.x - 128];
        if (elected())
            atomicAdd(&elections, 1u);
        asm volatile("fence.acq_rel.cta;" ::: "memory");
        asm volatile("barrier.cta.arrive 1, 256;" ::: "memory");
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 120;");
        asm volatile("barrier.cta.sync 1, 256;" ::: "memory");
        unsigned sum = 0;
        for (int i = 0; i < 8; i++)
            sum += square[(threadIdx.x + i * 16) % 128];
        out[threadIdx.x] = sum;
        if (threadIdx.x == 0)
            out[128] = elections;
    }
    asm volatile("griddepcontrol.launch_dependents;");
}

// Matrices of 8 x 8 that go out of registers by stmatrix, and sums of four floats in one operation.
extern "C" __global__ void roles_matrix(const unsigned *in, unsigned short *out, float4 *sums)
{
    __shared__ alignas(16) unsigned short tiles[4][8][8];
    unsigned lane = threadIdx.x, at;

    at = (unsigned)__cvta_generic_to_shared(&tiles[lane / 8][lane % 8][0]);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
                 "r"(in[lane]), "r"(in[32 + lane]), "r"(in[64 + lane]), "r"(in[96 + lane])
                 : "memory");
    __syncwarp();
    for (int i = lane; i < 256; i += 32)
        out[i] = (&tiles[0][0][0])[i];
    __syncwarp();
    at = (unsigned)__cvta_generic_to_shared(&tiles[0][lane % 8][0]);
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(at),
                 "r"(in[lane])
                 : "memory");
    __syncwarp();
    for (int i = lane; i < 64; i += 32)
        out[256 + i] = (&tiles[0][0][0])[i];
    atomicAdd(sums, make_float4(1, (float)lane, (float)(in[lane] & 15), -2));
}
