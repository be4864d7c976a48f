// ldmatrix in all its forms of 8 x 8, and movmatrix.
extern "C" __global__ void matrix_moves(const unsigned short *in, unsigned *out)
{
    __shared__ alignas(16) unsigned short tiles[4][8][8];
    unsigned lane = threadIdx.x, at, r[4];

    for (int i = lane; i < 256; i += 32)
        (&tiles[0][0][0])[i] = in[i];
    __syncwarp();
    at = (unsigned)__cvta_generic_to_shared(&tiles[lane / 8][lane % 8][0]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(at));
    out[lane] = r[0];
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(at));
    out[32 + lane] = r[0] ^ r[1] * 5;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
    for (int i = 0; i < 4; i++)
        out[64 + i * 32 + lane] = r[i];
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r[0]) : "r"(r[2]));
    out[192 + lane] = r[0];
}
