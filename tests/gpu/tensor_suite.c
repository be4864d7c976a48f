/* tensor_suite.c: tensor copies and wgmma, one small kernel for each configuration, run on the
 * emulator and on a GPU: all bytes of memory are the same afterwards.
 *
 *     tensor_suite emulator expected=FILE     compares with what an H200 gave, by its hash
 *     tensor_suite gpu                        runs both, and compares every byte
 *     tensor_suite texts FOLDER               writes the kernels, for ptxas to read
 *
 *     write=FILE                              what is expected, anew: all that an H200 gives, or
 *                                             what was known and a "?" for what was not
 *     only=WORD                               cases that have the word in their name
 *     first=N count=N                         cases from that number on, so many
 *     seed=N                                  of the emulator's schedule: no result depends on it
 *
 * The cases are drawn by fixed seeds. A kernel that traps takes its context with it, and the rest
 * of the cases runs in another process; so do those that need the emulator's other arithmetic.
 * Prints a line a case, as TAP does, then "N passed, M failed, K skipped".
 *
 * What is not known of an H200 is skipped, and only if FILE says so with a "?": a case that it does
 * not name fails, as does one that it names and that is none. */
#include "tests/gpu/form_expected.h"
#include "tests/gpu/tensor_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* What one process tells the next. */
struct progress {
    int next; /* case */
    int passed, failed, skipped;
    bool is_over, is_exact; /* the emulator's arithmetic from now on */
};

struct suite {
    const char *folder; /* of texts, or null */
    const char *only;
    bool wants_gpu;
    int end; /* case; -1: the last */
    uint64_t seed;
    struct form_expected expected;
    FILE *written;
    struct progress *progress;
    struct form_machine emulator, gpu;
    struct tensor_case it;
    struct tensor_outcome got, want;
};

/* ---- A case ---- */

static void count(struct suite *suite, bool ok)
{
    struct progress *progress = suite->progress;

    printf("%sok %d - %s\n", ok ? "" : "not ", progress->next + 1, suite->it.name);
    if (ok)
        progress->passed++;
    else
        progress->failed++;
}

/* To the file that a process before this one has begun, perhaps. */
static void write_expected(struct suite *suite, const uint64_t *hash)
{
    if (!suite->written)
        return;
    form_expected_write(suite->written, suite->it.name, hash);
    fflush(suite->written);
}

static void judge_beside_gpu(struct suite *suite)
{
    bool is_sound;
    uint64_t hash;

    tensor_run(&suite->gpu, &suite->it, &suite->want);
    is_sound = tensor_is_sound(&suite->it, &suite->want);
    hash = tensor_hash(&suite->it, &suite->want);
    write_expected(suite, is_sound ? &hash : NULL);
    count(suite, tensor_compare(&suite->it, &suite->got, &suite->want) && is_sound);
}

static void judge_by_hash(struct suite *suite)
{
    const struct form_expectation *expectation =
        form_expected_find(&suite->expected, suite->it.name);
    bool is_sound = tensor_is_sound(&suite->it, &suite->got);

    write_expected(suite, expectation && expectation->is_known ? &expectation->hash : NULL);
    if (!expectation)
        printf("# no line in the file\n");
    if (!is_sound || !expectation || expectation->is_known) {
        count(suite,
              is_sound && expectation && expectation->hash == tensor_hash(&suite->it, &suite->got));
        return;
    }
    printf("# skipped: %s: not known what an H200 gives\n", suite->it.name);
    suite->progress->skipped++;
}

static void write_text(struct suite *suite)
{
    char path[1024];
    FILE *file;

    snprintf(path, sizeof path, "%s/%03d.ptx", suite->folder, suite->progress->next);
    file = fopen(path, "w");
    if (file)
        fprintf(file, "// %s\n%s", suite->it.name, suite->it.text);
    count(suite, file && fclose(file) == 0);
}

/* False where another process is to go on. */
static bool run_case(void *user, struct tensor_case *it)
{
    struct suite *suite = user;

    if (suite->progress->next == suite->end)
        return false;
    if (suite->folder || (suite->only && !strstr(it->name, suite->only))) {
        if (suite->folder)
            write_text(suite);
        suite->progress->next++;
        return true;
    }
    if (it->exact != suite->progress->is_exact) {
        suite->progress->is_exact = it->exact;
        return false;
    }
    tensor_run(&suite->emulator, it, &suite->got);
    if (suite->wants_gpu)
        judge_beside_gpu(suite);
    else
        judge_by_hash(suite);
    suite->progress->next++;
    return !suite->got.is_lost && !(suite->wants_gpu && suite->want.is_lost);
}

/* ---- All ---- */

/* Without a GPU there is nothing to compare with; that there is no emulator is a failure. */
static bool open_machines(struct suite *suite)
{
    bool opened = (!suite->progress->is_exact || form_machine_be_exact()) &&
                  form_machine_set_seed(suite->seed) &&
                  form_machine_open(&suite->emulator, LATHE_EMULATOR_ALWAYS);

    suite->progress->failed += !opened;
    return opened && (!suite->wants_gpu || form_machine_open(&suite->gpu, LATHE_EMULATOR_NEVER));
}

/* Cases from the next one on, as far as this process can run them. */
static void run_some(struct suite *suite)
{
    struct tensor_cases cases = {
        .it = &suite->it, .from = suite->progress->next, .use = run_case, .user = suite};

    suite->progress->is_over = !(suite->folder || open_machines(suite)) ||
                               (tensor_each_copy(&cases) && tensor_each_product(&cases, false) &&
                                tensor_each_product(&cases, true));
    form_machine_close(&suite->gpu);
    form_machine_close(&suite->emulator);
}

/* Whether the child came to its end by itself. */
static bool run_child(struct suite *suite)
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        run_some(suite);
        exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void run_all(struct suite *suite)
{
    struct progress *progress = suite->progress;

    while (!progress->is_over && progress->next != suite->end) {
        if (run_child(suite))
            continue;
        printf("not ok %d - the process of this case did not end by itself\n", ++progress->next);
        progress->failed++;
    }
}

/* ---- Lines that name no case ---- */

static bool mark(void *user, struct tensor_case *it)
{
    struct suite *suite = user;

    form_expected_find(&suite->expected, it->name);
    return true;
}

/* The cases were looked up in other processes, each with a list of its own. */
static void report_unused(struct suite *suite)
{
    struct tensor_cases cases = {.it = &suite->it, .use = mark, .user = suite};
    struct progress *progress = suite->progress;

    tensor_each_copy(&cases);
    tensor_each_product(&cases, false);
    tensor_each_product(&cases, true);
    progress->failed += form_expected_report_unused(&suite->expected, progress->next + 1);
}

/* ---- Words ---- */

/* Whether it says something. */
static bool read_word(struct suite *suite, const char *word)
{
    if (strncmp(word, "expected=", 9) == 0)
        return form_expected_read(&suite->expected, word + 9);
    if (strncmp(word, "only=", 5) == 0)
        return (suite->only = word + 5) != NULL;
    if (strncmp(word, "write=", 6) == 0)
        return (suite->written = fopen(word + 6, "w")) != NULL;
    if (strncmp(word, "first=", 6) == 0)
        return (suite->progress->next = atoi(word + 6) - 1) >= 0;
    if (strncmp(word, "seed=", 5) == 0)
        return (suite->seed = strtoull(word + 5, NULL, 10)) > 0;
    return strncmp(word, "count=", 6) == 0 && (suite->end = atoi(word + 6)) > 0;
}

static int usage(const char *word)
{
    fprintf(stderr,
            "%s%susage: tensor_suite emulator expected=FILE [write=FILE] [only=WORD] [first=N] "
            "[count=N] [seed=N]\n"
            "       tensor_suite gpu [write=FILE] [only=WORD] [first=N] [count=N] [seed=N]\n"
            "       tensor_suite texts FOLDER [only=WORD] [first=N] [count=N]\n",
            word, *word ? ": no such word, or no such file\n" : "");
    return 2;
}

static int read_words(struct suite *suite, int count, char **words)
{
    const char *mode = count > 1 ? words[1] : "";
    bool wants_texts = strcmp(mode, "texts") == 0;

    suite->wants_gpu = strcmp(mode, "gpu") == 0;
    suite->end = -1;
    if ((!suite->wants_gpu && !wants_texts && strcmp(mode, "emulator") != 0) ||
        (wants_texts && count < 3))
        return usage("");
    suite->folder = wants_texts ? words[2] : NULL;
    for (int i = wants_texts ? 3 : 2; i < count; i++)
        if (!read_word(suite, words[i]))
            return usage(words[i]);
    if (suite->end > 0)
        suite->end += suite->progress->next;
    return 0;
}

static int finish(const struct suite *suite)
{
    const struct progress *progress = suite->progress;
    int judged = progress->passed + progress->failed, none = judged + progress->skipped == 0;

    printf("%d passed, %d failed, %d skipped\n", progress->passed, progress->failed,
           progress->skipped + none);
    return judged == 0 ? 77 : progress->failed > 0;
}

int main(int arguments, char **words)
{
    static struct suite suite;
    int status;

    setvbuf(stdout, NULL, _IOLBF, 0);
    suite.progress = mmap(NULL, sizeof *suite.progress, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (suite.progress == MAP_FAILED)
        return 1;
    status = read_words(&suite, arguments, words);
    if (status == 0) {
        run_all(&suite);
        if (suite.expected.count > 0 && suite.progress->is_over && !suite.only)
            report_unused(&suite);
        status = finish(&suite);
    }
    if (suite.written && fclose(suite.written) != 0)
        status = 1;
    form_expected_free(&suite.expected);
    return status;
}
