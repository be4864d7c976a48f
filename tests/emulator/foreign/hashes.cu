// Hashes and generators: rotations, products of 64 bits, long rows of exact arithmetic.
static __constant__ unsigned rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static __device__ unsigned turn(unsigned x, int by)
{
    return x >> by | x << (32 - by);
}

// SHA-256 of one block of 64 bytes a thread, without padding.
extern "C" __global__ void hashes_sha256(const unsigned *in, unsigned *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned w[16], s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned first[8];

    for (int i = 0; i < 8; i++)
        first[i] = s[i];
    for (int i = 0; i < 16; i++)
        w[i] = in[at * 16 + i];
    for (int i = 0; i < 64; i++) {
        if (i >= 16) {
            unsigned a = w[(i + 1) & 15], b = w[(i + 14) & 15];
            w[i & 15] += (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[(i + 9) & 15] +
                         (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
        }
        unsigned t1 = s[7] + (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) +
                      ((s[4] & s[5]) ^ (~s[4] & s[6])) + rounds[i] + w[i & 15];
        unsigned t2 = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) +
                      ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        for (int j = 7; j > 0; j--)
            s[j] = s[j - 1];
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        out[at * 8 + i] = s[i] + first[i];
}

// Philox of ten rounds, as random numbers in [0, 1), and how many points lie in the circle.
extern "C" __global__ void hashes_philox(float *out, unsigned *inside, unsigned seed)
{
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned c[4] = {at, 0, 7, 0}, k0 = seed, k1 = ~seed;

#pragma unroll 2
    for (int i = 0; i < 10; i++) {
        unsigned high0 = __umulhi(0xd2511f53, c[0]), low0 = 0xd2511f53 * c[0];
        unsigned high1 = __umulhi(0xcd9e8d57, c[2]), low1 = 0xcd9e8d57 * c[2];
        c[0] = high1 ^ c[1] ^ k0;
        c[1] = low1;
        c[2] = high0 ^ c[3] ^ k1;
        c[3] = low0;
        k0 += 0x9e3779b9;
        k1 += 0xbb67ae85;
    }
    for (int i = 0; i < 4; i++)
        out[at * 4 + i] = (float)(c[i] >> 8) * 0x1p-24f;
    float x = out[at * 4], y = out[at * 4 + 1];
    unsigned hit = __ballot_sync(0xffffffff, __fmaf_rn(x, x, __fmul_rn(y, y)) < 1.0f);
    if (threadIdx.x % 32 == 0)
        atomicAdd(inside, __popc(hit));
}
