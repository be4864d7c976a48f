#include "runtime/clocks.h"

#include "codegen/memory.h"
#include "runtime/statistics.h"

#include <time.h>

/* 20 a second, for 13 minutes: what comes later is not kept. */
enum { PERIOD_MS = 50, ROOM = 1 << 14 };

/* Clocks that differ by more than this part are not compared, nor are those of fewer samples. */
#define DIFFERENT 1.015
enum { LEAST_SAMPLES = 3 };

void lt_clocks_open(struct lt_clocks *clocks, const struct lt_device *device, const char *path,
                    const struct lathe_allocator *allocator)
{
    pthread_condattr_t attributes;

    clocks->allocator = allocator;
    if (lt_nvml_open(&clocks->nvml, device, path, NULL) != LATHE_OK)
        return;
    clocks->samples = lt_allocate(allocator, ROOM * sizeof *clocks->samples);
    clocks->scratch = lt_allocate(allocator, ROOM * sizeof *clocks->scratch);
    if (!clocks->samples || !clocks->scratch) {
        lt_clocks_close(clocks);
        return;
    }
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&clocks->mutex, NULL);
    pthread_cond_init(&clocks->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    clocks->is_open = true;
}

void lt_clocks_close(struct lt_clocks *clocks)
{
    lt_clocks_stop(clocks);
    if (clocks->is_open) {
        pthread_cond_destroy(&clocks->wake);
        pthread_mutex_destroy(&clocks->mutex);
    }
    lt_release(clocks->allocator, clocks->samples);
    lt_release(clocks->allocator, clocks->scratch);
    lt_nvml_close(&clocks->nvml);
    *clocks = (struct lt_clocks){.allocator = NULL};
}

/* ---- The thread ---- */

/* True when it is to end. The mutex is held. */
static bool wait_a_period(struct lt_clocks *clocks)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += PERIOD_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    while (!clocks->stop)
        if (pthread_cond_timedwait(&clocks->wake, &clocks->mutex, &until) != 0)
            break;
    return clocks->stop;
}

static void *sample(void *argument)
{
    struct lt_clocks *clocks = argument;

    pthread_mutex_lock(&clocks->mutex);
    do {
        struct lt_clock_sample *next = &clocks->samples[clocks->count];

        if (clocks->count < ROOM && lt_nvml_read(&clocks->nvml, next))
            clocks->count++;
    } while (!wait_a_period(clocks));
    pthread_mutex_unlock(&clocks->mutex);
    return NULL;
}

void lt_clocks_start(struct lt_clocks *clocks)
{
    if (!clocks->is_open || clocks->running)
        return;
    clocks->count = 0;
    clocks->stop = false;
    clocks->running = pthread_create(&clocks->thread, NULL, sample, clocks) == 0;
}

void lt_clocks_stop(struct lt_clocks *clocks)
{
    if (!clocks->running)
        return;
    pthread_mutex_lock(&clocks->mutex);
    clocks->stop = true;
    pthread_cond_signal(&clocks->wake);
    pthread_mutex_unlock(&clocks->mutex);
    pthread_join(clocks->thread, NULL);
    clocks->running = false;
}

/* ---- What was heard ---- */

static bool is_within(const struct lt_clock_sample *sample, const struct lt_turn *taken, int turns,
                      int contender)
{
    for (int i = 0; i < turns; i++)
        if ((contender < 0 || taken[i].contender == contender) &&
            sample->at_us >= taken[i].begin_us && sample->at_us <= taken[i].end_us)
            return true;
    return false;
}

static double clock_of(const struct lt_clock_sample *sample)
{
    return sample->sm_mhz;
}

static double power_of(const struct lt_clock_sample *sample)
{
    return sample->power_w;
}

static double temperature_of(const struct lt_clock_sample *sample)
{
    return sample->temperature_c;
}

struct lathe_bench_clocks lt_clocks_of(const struct lt_clocks *clocks, const struct lt_turn *taken,
                                       int turns, int contender)
{
    struct lathe_bench_clocks medians = {.samples = 0};
    const struct {
        double (*value)(const struct lt_clock_sample *sample);
        double *median;
    } values[] = {
        {clock_of, &medians.sm_mhz},
        {power_of, &medians.power_w},
        {temperature_of, &medians.temperature_c},
    };

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        int count = 0;

        for (int j = 0; j < clocks->count; j++)
            if (is_within(&clocks->samples[j], taken, turns, contender))
                clocks->scratch[count++] = values[i].value(&clocks->samples[j]);
        *values[i].median = lt_median(clocks->scratch, count);
        medians.samples = count;
    }
    return medians;
}

bool lt_clocks_differ(const struct lathe_bench_clocks *all, int count)
{
    double least = 0, most = 0;

    for (int i = 0; i < count; i++) {
        double mhz = all[i].sm_mhz;

        if (all[i].samples < LEAST_SAMPLES || mhz <= 0)
            continue;
        least = least > 0 && least < mhz ? least : mhz;
        most = most > mhz ? most : mhz;
    }
    return most > DIFFERENT * least;
}

/* Dense operations a clock an SM. Hopper: four tensor cores of 512 multiply-adds each, for f16 and
 * bf16; 132 SMs at 1,830 MHz make the 989.4 TFLOPS of NVIDIA's H100 whitepaper. Of other
 * architectures nothing is said before it was looked up. */
enum { FLOP_SM90_16_BIT = 4096 };

double lt_peak_tflops(enum lathe_arch arch, enum lathe_type type, int sms, double sm_mhz)
{
    bool known = arch == LATHE_SM_90A && (type == LATHE_F16 || type == LATHE_BF16);

    return known ? (double)sms * FLOP_SM90_16_BIT * sm_mhz / 1e6 : 0;
}
