/* forms_suite.c: one small kernel for each form of an instruction, run on the emulator and on a
 * GPU.
 *
 *     forms_suite emulator expected=FILE      compares with what an H200 gave, by its hash
 *     forms_suite gpu [expected=FILE]         runs both, and compares every value
 *     forms_suite texts FOLDER                writes the kernels, for ptxas to read
 *
 *     write=FILE                              what is expected, anew: all that an H200 gives, or
 *                                             what was known and a "?" for what was not
 *     only=WORD but=WORD                      forms that have the one in their name or chapter,
 *                                             and not the other
 *     show=N                                  prints what N threads read and got
 *     seed=N                                  of the emulator's schedule: no result depends on it
 *
 * The forms stand in forms.def and sequences_*.def. Every kernel reads its sources, which are drawn
 * for their types with the special values among them, executes the one instruction, or the few of a
 * sequence, and stores its results. Prints a line a form, as TAP does, then "N passed, M failed, K
 * skipped".
 *
 * What is not known of an H200 is skipped, and only if FILE says so with a "?": a form that it does
 * not name fails, as does one that it names and that is none. */
#include "tests/gpu/form.h"
#include "tests/gpu/form_expected.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct suite {
    struct form_machine emulator, gpu;
    bool has_gpu;
    const char *only, *but, *folder;
    int show; /* threads */
    uint64_t seed;
    struct form_expected expected;
    FILE *written;
    int passed, failed, skipped, unknown;
    struct form_state given, got, want;
};

/* ---- One form ---- */

static void form_launch_of(const struct form *form, struct form_launch *launch)
{
    launch->block = form->setting.block ? form->setting.block : FORM_LANES;
    launch->grid = FORM_THREADS / launch->block;
    launch->cluster = form->setting.cluster;
    launch->shared_bytes = form->setting.shared_bytes;
}

static bool run_between(struct form_machine *machine, const struct form *form, const char *text,
                        uint64_t addresses[3], const struct form_state *given,
                        struct form_state *results)
{
    unsigned char bytes[64];
    void *params[] = {&addresses[0], &addresses[1], &addresses[2], bytes};
    struct form_launch launch;

    form_launch_of(form, &launch);
    for (int i = 0; i < 64; i++)
        bytes[i] = (unsigned char)(37 * i + 129);
    memset(results->values, 0, sizeof results->values);
    return form_machine_write(machine, addresses[0], given->values, sizeof given->values) &&
           form_machine_write(machine, addresses[1], results->values, sizeof results->values) &&
           form_machine_write(machine, addresses[2], given->memory, sizeof given->memory) &&
           form_machine_launch(machine, text, &launch, params) &&
           form_machine_read(machine, results->values, addresses[1], sizeof results->values) &&
           form_machine_read(machine, results->memory, addresses[2], sizeof results->memory);
}

static bool run(struct form_machine *machine, const struct form *form, const char *text,
                const struct form_state *given, struct form_state *results)
{
    uint64_t addresses[3] = {0};
    bool done = form_machine_allocate(machine, &addresses[0], sizeof given->values) &&
                form_machine_allocate(machine, &addresses[1], sizeof given->values) &&
                form_machine_allocate(machine, &addresses[2], sizeof given->memory) &&
                run_between(machine, form, text, addresses, given, results);

    for (int i = 0; i < 3; i++)
        form_machine_free(machine, addresses[i]);
    return done;
}

/* A kernel that fails takes its context with it; the next one gets another. */
static bool run_or_close(struct form_machine *machine, enum lathe_emulator_use use,
                         const struct form *form, const char *text, const struct form_state *given,
                         struct form_state *results)
{
    if (!machine->context && !form_machine_open(machine, use))
        return false;
    if (run(machine, form, text, given, results))
        return true;
    form_machine_close(machine);
    return false;
}

/* ---- Verdicts ---- */

static void count(struct suite *suite, bool ok, const struct form *form)
{
    printf("%sok %d - %s: %s\n", ok ? "" : "not ", suite->passed + suite->failed + 1, form->chapter,
           form->name);
    if (ok)
        suite->passed++;
    else
        suite->failed++;
}

static void skip(struct suite *suite, const struct form *form, const char *why)
{
    printf("# skipped: %s: %s\n", form->name, why);
    suite->skipped++;
}

static bool is_approximate(const struct form *form)
{
    return form->bound.relative > 0 || form->bound.absolute > 0 || form->bound.ulps > 0;
}

static void set_key(const struct form *form, char key[FORM_KEY_SIZE])
{
    snprintf(key, FORM_KEY_SIZE, "%s %s", form->name, form->operand_text);
}

/* What was known of a form goes into the new file. */
static const struct form_expectation *keep(struct suite *suite, const struct form *form)
{
    const struct form_expectation *expectation;
    char key[FORM_KEY_SIZE];

    set_key(form, key);
    expectation = form_expected_find(&suite->expected, key);
    if (suite->written)
        form_expected_write(suite->written, key,
                            expectation && expectation->is_known ? &expectation->hash : NULL);
    return expectation;
}

static void judge_by_hash(struct suite *suite, const struct form *form, bool ran)
{
    const struct form_expectation *expectation = keep(suite, form);

    if (!expectation)
        printf("# %s %s: no line in the file\n", form->name, form->operand_text);
    if (!ran || !expectation) {
        count(suite, false, form);
    } else if (!expectation->is_known) {
        skip(suite, form, "not known what an H200 gives");
        suite->unknown++;
    } else if (is_approximate(form)) {
        skip(suite, form, "a hash knows no bounds, so it is compared beside a GPU alone");
    } else {
        count(suite, form_hash(form, &suite->got) == expectation->hash, form);
    }
}

static void judge_beside_gpu(struct suite *suite, const struct form *form, const char *text,
                             bool ran)
{
    bool ran_there =
        run_or_close(&suite->gpu, LATHE_EMULATOR_NEVER, form, text, &suite->given, &suite->want);
    uint64_t hash = form_hash(form, &suite->want);
    char key[FORM_KEY_SIZE];

    set_key(form, key);
    if (suite->written)
        form_expected_write(suite->written, key, ran_there ? &hash : NULL);
    count(suite, ran && ran_there && form_compare(form, &suite->given, &suite->got, &suite->want),
          form);
}

static bool has_word(const struct form *form, const char *word)
{
    return strstr(form->name, word) || strstr(form->chapter, word);
}

static bool is_wanted(const struct suite *suite, const struct form *form)
{
    return (!suite->only || has_word(form, suite->only)) &&
           !(suite->but && has_word(form, suite->but));
}

static void show(const struct suite *suite, const struct form *form)
{
    for (int thread = 0; thread < suite->show && thread < FORM_THREADS; thread++) {
        const uint64_t *memory = &suite->got.memory[thread * FORM_OWN_BYTES / 8];

        printf("# thread %d:", thread);
        for (int i = 0; i < form->count; i++)
            printf("%s 0x%llx", i == form->results ? " of" : "",
                   (unsigned long long)(i < form->results ? suite->got.values
                                                          : suite->given.values)[thread][i]);
        for (int i = 0; i < FORM_OWN_BYTES / 8 && form->body; i++)
            printf("%s %llx", i == 0 ? "; memory" : "", (unsigned long long)memory[i]);
        printf("\n");
    }
    if (suite->show > 0)
        printf("# all: %016llx\n", (unsigned long long)form_hash(form, &suite->got));
}

static void run_form(void *user, const struct form *form)
{
    struct suite *suite = user;
    char text[FORM_TEXT_SIZE];
    bool ran;

    if (!is_wanted(suite, form)) {
        keep(suite, form);
        return;
    }
    form_draw(form, &suite->given);
    ran = form_write_kernel(form, text) && run_or_close(&suite->emulator, LATHE_EMULATOR_ALWAYS,
                                                        form, text, &suite->given, &suite->got);
    show(suite, form);
    if (suite->has_gpu)
        judge_beside_gpu(suite, form, text, ran);
    else
        judge_by_hash(suite, form, ran);
}

/* ---- All ---- */

static bool open_machines(struct suite *suite, bool wants_gpu)
{
    bool opened = form_machine_be_exact() && form_machine_set_seed(suite->seed) &&
                  form_machine_open(&suite->emulator, LATHE_EMULATOR_ALWAYS);

    suite->failed += !opened; /* a GPU may lack, the emulator never */
    suite->has_gpu = wants_gpu && opened && form_machine_open(&suite->gpu, LATHE_EMULATOR_NEVER);
    return opened && suite->has_gpu == wants_gpu;
}

/* Lines that no form asked for. */
static void judge_rest(struct suite *suite)
{
    if (suite->has_gpu)
        return;
    suite->failed +=
        form_expected_report_unused(&suite->expected, suite->passed + suite->failed + 1);
}

static int run_all(struct suite *suite, bool wants_gpu)
{
    if (open_machines(suite, wants_gpu)) {
        suite->failed += !form_each(run_form, suite);
        judge_rest(suite);
    }
    if (suite->unknown > 0)
        printf("# of %d forms it is not known what an H200 gives\n", suite->unknown);
    printf("%d passed, %d failed, %d skipped\n", suite->passed, suite->failed,
           suite->skipped + (suite->passed + suite->failed + suite->skipped == 0));
    form_machine_close(&suite->gpu);
    form_machine_close(&suite->emulator);
    return suite->passed + suite->failed == 0 ? 77 : suite->failed > 0;
}

static void write_text(void *user, const struct form *form)
{
    struct suite *suite = user;
    char text[FORM_TEXT_SIZE], path[4096];
    FILE *file;

    if (!is_wanted(suite, form))
        return;
    snprintf(path, sizeof path, "%s/%04d.ptx", suite->folder, suite->passed++);
    file = fopen(path, "w");
    if (!file || !form_write_kernel(form, text) ||
        fprintf(file, "// %s: %s %s\n%s", form->chapter, form->name, form->operand_text, text) < 0)
        suite->failed++;
    if (file)
        fclose(file);
}

static int write_texts(struct suite *suite)
{
    suite->failed += !form_each(write_text, suite);
    printf("%d written, %d failed\n", suite->passed, suite->failed);
    return suite->failed > 0;
}

/* Whether it says something. */
static bool read_word(struct suite *suite, const char *word)
{
    if (strncmp(word, "expected=", 9) == 0)
        return form_expected_read(&suite->expected, word + 9);
    if (strncmp(word, "only=", 5) == 0)
        return (suite->only = word + 5) != NULL;
    if (strncmp(word, "but=", 4) == 0)
        return (suite->but = word + 4) != NULL;
    if (strncmp(word, "seed=", 5) == 0)
        return (suite->seed = strtoull(word + 5, NULL, 10)) > 0;
    if (strncmp(word, "show=", 5) == 0)
        return (suite->show = atoi(word + 5)) > 0;
    if (strncmp(word, "write=", 6) == 0)
        return (suite->written = fopen(word + 6, "w")) != NULL;
    return false;
}

static int usage(const char *word)
{
    fprintf(stderr,
            "%s%susage: forms_suite emulator expected=FILE [WORD...]\n"
            "       forms_suite gpu [WORD...]\n"
            "       forms_suite texts FOLDER [WORD...]\n"
            "words: only=WORD but=WORD show=N seed=N write=FILE\n",
            word, *word ? ": no such word, or no such file\n" : "");
    return 2;
}

int main(int arguments, char **words)
{
    static struct suite suite;
    const char *mode = arguments > 1 ? words[1] : "";
    bool wants_gpu = strcmp(mode, "gpu") == 0, wants_texts = strcmp(mode, "texts") == 0;
    int status = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if ((!wants_gpu && !wants_texts && strcmp(mode, "emulator") != 0) ||
        (wants_texts && arguments < 3))
        return usage("");
    if (wants_texts)
        suite.folder = words[2];
    for (int i = wants_texts ? 3 : 2; i < arguments && status == 0; i++)
        if (!read_word(&suite, words[i]))
            status = usage(words[i]);
    if (status == 0)
        status = wants_texts ? write_texts(&suite) : run_all(&suite, wants_gpu);
    if (suite.written && fclose(suite.written) != 0)
        status = 1;
    form_expected_free(&suite.expected);
    return status;
}
