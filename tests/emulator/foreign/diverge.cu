// Loops that every thread leaves at another turn, with early returns, breaks and continues.
extern "C" __global__ void collatz(const unsigned *in, unsigned *steps, unsigned *peaks)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long value = in[at], peak = value;
    unsigned count = 0;

    if (value == 0) {
        steps[at] = peaks[at] = 0xffffffff;
        return;
    }
    while (value != 1) {
        value = value & 1 ? value * 3 + 1 : value >> 1;
        count++;
        peak = value > peak ? value : peak;
    }
    steps[at] = count;
    peaks[at] = (unsigned)(peak % 1000003);
}

// The nearest prime that is not smaller, and what its loop has passed over.
extern "C" __global__ void primes(const unsigned *in, unsigned *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = in[at] | 1, passed = 0;

    for (;; value += 2) {
        bool prime = true;
        for (unsigned by = 3; by * by <= value; by += 2) {
            if (by % 3 == 0 && by > 3)
                continue;
            if (value % by == 0) {
                prime = false;
                break;
            }
        }
        if (prime)
            break;
        passed++;
    }
    out[at * 2] = value;
    out[at * 2 + 1] = passed + __popc(__activemask() & 1u << (threadIdx.x & 31));
}

// Iterations of z^2 + c in exact fixed point.
extern "C" __global__ void mandelbrot(unsigned char *out, int width, int limit)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    long long cr = (long long)(x * 3 - width * 2) * 65536 / width;
    long long ci = (long long)(y * 2 - width) * 65536 / width, r = 0, i = 0;
    int turn = 0;

    while (turn < limit && r * r + i * i < 4ll << 32) {
        long long next = ((r * r - i * i) >> 16) + cr;
        i = (2 * r * i >> 16) + ci;
        r = next;
        turn++;
    }
    out[y * width + x] = (unsigned char)turn;
}
