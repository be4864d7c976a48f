/* cache_stress: the cache under conditions that take long, or that other programs set up.
 *
 *   cache_stress once DIRECTORY FIRST COUNT    asks for sample kernels FIRST ... FIRST + COUNT - 1,
 *                                              one after the other; prints a line "results=miss,hit
 *                                              builds=N right=N lines=N" and the log's last line
 *   cache_stress herd [PROCESSES [ROUNDS]]     processes that start at once on an empty directory
 *   cache_stress damage [CUBIN KERNEL]         every truncation and 2,000 flipped bits of an entry
 *
 * The first is for cache_kill.py and cache_places.py; the others are one test each and speak TAP.
 * Exits 0 only if all was as it must be. */
#include "tests/runtime/cache_sample.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LARGE_CODE_BYTES = 100000, PATH_SIZE = SAMPLE_PATH_SIZE + 128 };

static void give_up(const char *what)
{
    fprintf(stderr, "cache_stress: %s: %s\n", what, strerror(errno));
    exit(1);
}

static struct lt_cache *make_cache(const char *directory, struct sample_log *log)
{
    struct lt_cache_settings settings = {
        .enabled = true, .directory = directory, .log = sample_log, .log_user = log};
    struct lt_cache *cache = NULL;

    if (lt_cache_create(&cache, &settings, NULL) != LATHE_OK)
        give_up("no cache");
    return cache;
}

/* The whole output of a test. */
static int report(bool ok, const char *what)
{
    printf("1..1\n%sok 1 - %s\n", ok ? "" : "not ", what);
    return ok ? 0 : 1;
}

/* One call. False if it fails or the value is not the right one. */
static bool obtain(struct lt_cache *cache, struct sample *sample, enum lathe_cache_result *result)
{
    struct lt_cache_value value;
    struct lathe_error err;

    if (lt_cache_obtain(cache, &sample->key, sample_build, sample, &value, result, &err) !=
        LATHE_OK)
        return false;

    bool right = sample_is(sample, &value);

    lt_cache_value_release(cache, &value);
    return right;
}

/* ---- once ---- */

static int run_once(const char *directory, unsigned first, unsigned count)
{
    static const char *const words[] = {
        [LATHE_CACHE_OFF] = "off", [LATHE_CACHE_MISS] = "miss", [LATHE_CACHE_HIT] = "hit"};
    struct sample_log log = {.lines = 0};
    struct lt_cache *cache = make_cache(directory, &log);
    int builds = 0;
    unsigned right = 0;

    printf("results=");
    for (unsigned i = 0; i < count; i++) {
        struct sample sample;
        enum lathe_cache_result result = LATHE_CACHE_OFF;

        sample_make(&sample, first + i, LARGE_CODE_BYTES);
        right += obtain(cache, &sample, &result);
        builds += atomic_load(&sample.builds);
        printf("%s%s", i ? "," : "", words[result]);
        sample_free(&sample);
    }
    printf(" builds=%d right=%u lines=%d\n%s\n", builds, right, atomic_load(&log.lines), log.last);
    lt_cache_destroy(&cache);
    return right == count ? 0 : 1;
}

/* ---- herd ---- */

enum { KERNELS = 4 };

/* Each process begins with another kernel, so that all of them are wanted at once. */
static int run_member(const char *directory, const char *scratch, unsigned member, int gate)
{
    struct sample_log log = {.lines = 0};
    struct lt_cache *cache = make_cache(directory, &log);
    char byte, journal[PATH_SIZE];
    bool right = true;

    /* Ends when the parent closes the other end: for all at once. */
    if (read(gate, &byte, 1) != 0)
        return 1;
    for (unsigned i = 0; i < KERNELS; i++) {
        unsigned number = (member + i) % KERNELS;
        struct sample sample;
        enum lathe_cache_result result;

        sample_make(&sample, number, LARGE_CODE_BYTES);
        snprintf(journal, sizeof journal, "%s/builds-%u", scratch, number);
        sample.journal = journal;
        sample.build_ms = 20;
        right = obtain(cache, &sample, &result) && result != LATHE_CACHE_OFF && right;
        sample_free(&sample);
    }
    lt_cache_destroy(&cache);
    if (atomic_load(&log.lines) > 0)
        fprintf(stderr, "%s\n", log.last);
    return right && atomic_load(&log.lines) == 0 ? 0 : 1;
}

static void start_members(const char *directory, const char *scratch, unsigned processes)
{
    int gate[2];

    if (pipe(gate) != 0)
        give_up("pipe");
    for (unsigned i = 0; i < processes; i++) {
        pid_t child = fork();

        if (child < 0)
            give_up("fork");
        if (child == 0) {
            close(gate[1]);
            _exit(run_member(directory, scratch, i, gate[0]));
        }
    }
    close(gate[0]);
    close(gate[1]);
}

static int run_round(unsigned processes)
{
    char scratch[SAMPLE_PATH_SIZE], directory[PATH_SIZE], journal[PATH_SIZE];
    int wrong = 0, status;
    struct stat builds;

    if (!sample_directory_make(scratch))
        give_up("no directory");
    snprintf(directory, sizeof directory, "%s/cache", scratch);
    start_members(directory, scratch, processes);
    for (unsigned i = 0; i < processes; i++)
        if (wait(&status) < 0 || status != 0)
            wrong++;
    if (wrong)
        printf("# %d of %u processes failed\n", wrong, processes);
    for (unsigned i = 0; i < KERNELS; i++) {
        snprintf(journal, sizeof journal, "%s/builds-%u", scratch, i);
        if (stat(journal, &builds) != 0 || builds.st_size != 1) {
            printf("# kernel %u was built %lld times\n", i, (long long)builds.st_size);
            wrong++;
        }
    }
    sample_directory_remove(scratch);
    return wrong;
}

static int run_herd(unsigned processes, unsigned rounds)
{
    char what[128];
    int wrong = 0;

    for (unsigned i = 0; i < rounds; i++)
        wrong += run_round(processes);
    snprintf(what, sizeof what, "%u processes, %u rounds, %d kernels: each is built once a round",
             processes, rounds, KERNELS);
    return report(wrong == 0, what);
}

/* ---- damage ---- */

static unsigned char *read_file(const char *path, size_t *bytes)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    unsigned char *data = NULL;

    if (descriptor < 0 || fstat(descriptor, &status) != 0)
        give_up(path);
    *bytes = (size_t)status.st_size;
    data = malloc(*bytes);
    if (!data || read(descriptor, data, *bytes) != (ssize_t)*bytes)
        give_up(path);
    close(descriptor);
    return data;
}

/* The entry holds these bytes: it must be refused, built anew, and good again. */
static bool is_healed(struct lt_cache *cache, struct sample *sample, const char *path,
                      const void *data, size_t bytes)
{
    int descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    enum lathe_cache_result first, second;

    if (descriptor < 0 || write(descriptor, data, bytes) != (ssize_t)bytes)
        give_up(path);
    close(descriptor);
    return obtain(cache, sample, &first) && first == LATHE_CACHE_MISS &&
           obtain(cache, sample, &second) && second == LATHE_CACHE_HIT;
}

static int run_damage(const char *cubin, const char *kernel)
{
    char directory[SAMPLE_PATH_SIZE], path[PATH_SIZE], name[LT_CACHE_NAME_SIZE], what[256];
    struct sample_log log = {.lines = 0};
    struct sample sample;
    enum lathe_cache_result result;
    size_t bytes, wrong = 0;
    unsigned draw = 12345;

    if (!sample_directory_make(directory))
        give_up("no directory");
    sample_make(&sample, 1, cubin ? 1 : 3000);
    if (cubin) {
        free(sample.cubin);
        sample.cubin = read_file(cubin, &sample.value.cubin_bytes);
        sample.value.cubin = sample.cubin;
        sample.value.kernel = kernel;
    }

    struct lt_cache *cache = make_cache(directory, &log);

    if (!obtain(cache, &sample, &result) || result != LATHE_CACHE_MISS)
        give_up("the first call");
    lt_cache_name(&sample.key, name);
    snprintf(path, sizeof path, "%s/%s", directory, name);

    unsigned char *entry = read_file(path, &bytes);

    for (size_t cut = 0; cut < bytes; cut++)
        wrong += !is_healed(cache, &sample, path, entry, cut);
    for (int i = 0; i < 2000; i++) {
        draw = draw * 1664525U + 1013904223U;

        size_t bit = (size_t)((uint64_t)draw * (8 * bytes) >> 32);

        entry[bit / 8] ^= (unsigned char)(1U << bit % 8);
        wrong += !is_healed(cache, &sample, path, entry, bytes);
        entry[bit / 8] ^= (unsigned char)(1U << bit % 8);
    }
    snprintf(what, sizeof what,
             "%s of %zu bytes: %zu truncations and 2000 flipped bits, %zu not refused and healed, "
             "%d line in the log",
             cubin ? "an entry with a linked cubin" : "a made-up entry", bytes, bytes, wrong,
             atomic_load(&log.lines));
    lt_cache_destroy(&cache);
    sample_free(&sample);
    free(entry);
    sample_directory_remove(directory);
    return report(wrong == 0 && atomic_load(&log.lines) == 1, what);
}

static unsigned number(const char *word)
{
    return (unsigned)strtoul(word, NULL, 10);
}

int main(int count, char **words)
{
    const char *verb = count > 1 ? words[1] : "";

    if (strcmp(verb, "once") == 0 && count == 5)
        return run_once(words[2], number(words[3]), number(words[4]));
    if (strcmp(verb, "herd") == 0)
        return run_herd(count > 2 ? number(words[2]) : 64, count > 3 ? number(words[3]) : 20);
    if (strcmp(verb, "damage") == 0 && (count == 2 || count == 4))
        return run_damage(count == 4 ? words[2] : NULL, count == 4 ? words[3] : NULL);
    fprintf(stderr, "usage: cache_stress once DIRECTORY FIRST COUNT | herd [PROCESSES [ROUNDS]] | "
                    "damage [CUBIN KERNEL]\n");
    return 2;
}
