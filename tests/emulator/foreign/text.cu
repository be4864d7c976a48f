// Text, byte by byte: words counted, letters turned round, numbers read, a checksum.
static __device__ bool is_letter(unsigned char c)
{
    return (unsigned char)((c | 32) - 'a') < 26;
}

extern "C" __global__ void text_words(const char *text, char *upper, unsigned *counts, int length)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    char c = at < length ? text[at] : 0;

    if (at < length)
        upper[at] = c >= 'a' && c <= 'z' ? c - 32 : c;
    bool begins = is_letter(c) && (at == 0 || !is_letter(text[at - 1]));
    unsigned mask = __ballot_sync(0xffffffff, begins);
    if (threadIdx.x % 32 == 0 && mask != 0)
        atomicAdd(&counts[0], __popc(mask));
    if (begins) {
        int end = at;
        while (end < length && is_letter(text[end]))
            end++;
        atomicMax(&counts[1], (unsigned)(end - at));
        atomicAdd(&counts[2 + min(end - at, 13)], 1u);
    }
}

// A line of 40 bytes a thread: its number, its CRC-32 and how often it reads the same backwards.
extern "C" __global__ void text_lines(const unsigned char *text, int *numbers, unsigned *crc)
{
    const unsigned char *line = text + (blockIdx.x * blockDim.x + threadIdx.x) * 40;
    int number = 0, mirrored = 0;
    unsigned sum = 0xffffffff;

    for (int i = 0; i < 40; i++) {
        if (line[i] >= '0' && line[i] <= '9')
            number = number * 10 + (line[i] - '0');
        mirrored += line[i] == line[39 - i];
        sum ^= line[i];
#pragma unroll
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (0xedb88320 & -(sum & 1));
    }
    numbers[blockIdx.x * blockDim.x + threadIdx.x] = number * 64 + mirrored;
    crc[blockIdx.x * blockDim.x + threadIdx.x] = ~sum;
}
