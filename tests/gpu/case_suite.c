#include "tests/gpu/case_suite.h"

#include "runtime/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Cases ---- */

int case_draw(struct case_suite *suite, int limit)
{
    return (int)lt_random_below(suite->seed, suite->drawn++, (uint32_t)limit);
}

int64_t case_draw_pitch(struct case_suite *suite, int64_t columns, enum lathe_type type)
{
    int64_t unit = 16 / lathe_type_bytes(type);
    int64_t units = columns > 0 ? (columns + unit - 1) / unit : 1;

    return (units + case_draw(suite, 2)) * unit;
}

void case_count(struct case_suite *suite, bool ok, const struct gpu_case *c)
{
    char words[768];

    gpu_describe(c, words, sizeof words);
    printf("%sok %d - %s\n", ok ? "" : "not ", suite->passed + suite->failed + 1, words);
    if (ok)
        suite->passed++;
    else
        suite->failed++;
}

static bool run_once(struct case_suite *suite, const struct gpu_case *c, uint64_t seed)
{
    struct gpu_outcome outcome;
    struct lathe_error error = {.status = LATHE_OK};

    if (gpu_run_case(suite->context, c, seed, &outcome, &error) != LATHE_OK) {
        printf("# %s\n", error.message);
        return false;
    }
    return gpu_tell(c, &outcome);
}

void case_run(struct case_suite *suite, const struct gpu_case *c, int schedules)
{
    if (suite->number++ % suite->every != 0)
        return;
    for (int i = 0; i < (suite->set_seed ? schedules : 1); i++) {
        uint64_t seed = suite->seed + (uint64_t)(1000 * suite->number + i);

        if (suite->set_seed)
            suite->set_seed(seed);
        case_count(suite, run_once(suite, c, seed), c);
    }
}

/* ---- Words ---- */

static enum lathe_arch arch_named(const char *name)
{
    enum lathe_arch arch = LATHE_SM_120A;

    while (arch != LATHE_ARCH_DEFAULT && strcmp(lathe_arch_name(arch), name) != 0)
        arch--;
    return arch;
}

static bool read_word(struct case_suite *suite, const char *word)
{
    const char *value = strchr(word, '=');

    if (!value)
        return false;
    value++;
    if (strncmp(word, "arch=", 5) == 0)
        suite->arch = arch_named(value);
    else if (strncmp(word, "seed=", 5) == 0)
        suite->seed = strtoull(value, NULL, 10);
    else if (strncmp(word, "every=", 6) == 0)
        suite->every = atoi(value);
    else if (strncmp(word, "schedules=", 10) == 0)
        suite->schedules = atoi(value);
    else
        return suite->read_word && suite->read_word(suite->user, word, value);
    return true;
}

static bool read_words(struct case_suite *suite, int count, char **words)
{
    for (int i = 2; i < count; i++)
        if (!read_word(suite, words[i]))
            return false;
    return suite->arch != LATHE_ARCH_DEFAULT && suite->every > 0 && suite->schedules > 0;
}

/* ---- All of it ---- */

static bool has_tcgen05(enum lathe_arch arch)
{
    return arch == LATHE_SM_100A || arch == LATHE_SM_103A;
}

/* The exit code of a suite that can do nothing here; 0: it can. */
static int open_device(struct case_suite *suite, bool emulated)
{
    struct lathe_error error = {.status = LATHE_OK};

    if (!gpu_open(&suite->context, emulated, suite->arch, &suite->set_seed, &error)) {
        printf("not ok 1 - %s\n0 passed, 1 failed, 0 skipped\n", error.message);
        return 1;
    }
    if (lathe_context_arch(suite->context, &suite->arch, &error) == LATHE_OK &&
        (has_tcgen05(suite->arch) || !suite->needs_tcgen05))
        return 0;
    printf("# %s\n0 passed, 0 failed, 1 skipped\n",
           error.message[0] ? error.message : "the GPU has no tcgen05");
    return 77;
}

int case_suite_main(struct case_suite *suite, int count, char **words)
{
    bool emulated = count > 1 && strcmp(words[1], "emulator") == 0;
    struct timespec now;
    int status;

    setvbuf(stdout, NULL, _IOLBF, 0);
    clock_gettime(CLOCK_REALTIME, &now);
    suite->seed = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    suite->every = 1;
    if ((!emulated && !(count > 1 && strcmp(words[1], "gpu") == 0)) ||
        !read_words(suite, count, words)) {
        fprintf(stderr, "usage: %s emulator|gpu [arch=sm_NN] [seed=N] [every=N] [schedules=N]%s\n",
                suite->name, suite->words);
        return 2;
    }
    status = open_device(suite, emulated);
    if (status == 0) {
        printf("# seed %llu\n", (unsigned long long)suite->seed);
        suite->run(suite, suite->user);
        printf("%d passed, %d failed, %d skipped\n", suite->passed, suite->failed, suite->skipped);
        status = suite->failed > 0 || suite->passed == 0;
    }
    lathe_context_destroy(&suite->context);
    return status;
}
