/* Kernels of CUDA C++, through the PTX of two compilers for three targets: each must compute what
 * its reference on the host does. See foreign/cases.def for them all, foreign/generate.py for the
 * texts. A case runs with three seeds, each of them other data and another schedule, and with each
 * by one thread and by three, which gives the same to the bit. */
#include "emulator/machine.h"
#include "tests/emulator/foreign/foreign.h"
#include "tests/support/cmocka_all.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEEDS = 3, CANARY_BYTES = 256, CANARY = 0x5c, POISON = 0xa5, CASES_AT_MOST = 512 };

static const struct variant {
    unsigned target;
    int device;
    const char *suffix;
} variants[] = {{FOREIGN_SM_80, 80, "sm_80.ptx"},
                {FOREIGN_SM_90A, 90, "sm_90a.ptx"},
                {FOREIGN_SM_90A, 90, "sm_90a.nvrtc.ptx"},
                {FOREIGN_SM_100A, 100, "sm_100a.ptx"}};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

/* One case on one text, and what it holds meanwhile. */
struct run {
    const struct foreign_case *is;
    const struct variant *variant;
    char name[128];

    struct emu_device *device;
    struct emu_program *program;
    char *text;
    unsigned char *params;
    int printed; /* the argument that is no parameter but the output; -1: none */
    uint64_t addresses[FOREIGN_ARGUMENTS];
    void *before[FOREIGN_ARGUMENTS], *expected[FOREIGN_ARGUMENTS], *got[FOREIGN_ARGUMENTS];
};

static bool is_buffer(const struct foreign_argument *argument)
{
    return argument->role != FOREIGN_VALUE && argument->role != FOREIGN_PRINTED;
}

static char *read_text(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *text;

    if (file == NULL)
        return NULL;
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    text = malloc(*length + 1);
    if (text != NULL && fread(text, 1, *length, file) != *length) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

/* ---- Set-up ---- */

static void load(struct run *run)
{
    struct emu_error error = {0};
    char path[512];
    size_t length = 0;

    snprintf(path, sizeof path, "%s/%s.%s", FOREIGN_PTX, run->is->file, run->variant->suffix);
    run->text = read_text(path, &length);
    if (run->text == NULL)
        fail_msg("%s cannot be read", path);
    run->device = emu_device_create(
        &(struct emu_options){.target = run->variant->device, .multiprocessors = 8, .eager = true});
    assert_non_null(run->device);
    run->program = emu_program_load(run->device, run->text, length, &error);
    if (run->program == NULL)
        fail_msg("%s: %s", path, error.message);
}

static void allocate(struct run *run)
{
    run->printed = -1;
    for (int i = 0; i < FOREIGN_ARGUMENTS && run->is->arguments[i].count > 0; i++) {
        const struct foreign_argument *argument = &run->is->arguments[i];
        size_t bytes = foreign_bytes(argument);

        run->before[i] = calloc(1, bytes);
        run->expected[i] = calloc(1, bytes);
        run->got[i] = calloc(1, bytes);
        assert_true(run->before[i] && run->expected[i] && run->got[i]);
        if (argument->role == FOREIGN_PRINTED)
            run->printed = i;
        if (!is_buffer(argument))
            continue;
        run->addresses[i] = emu_allocate(run->device, bytes + CANARY_BYTES);
        assert_int_not_equal(run->addresses[i], 0);
    }
}

/* Every parameter of the entry has an argument of its size. */
static void check_params(const struct run *run, int entry)
{
    int index = 0;

    for (int i = 0; i < FOREIGN_ARGUMENTS && run->is->arguments[i].count > 0; i++) {
        const struct foreign_argument *argument = &run->is->arguments[i];
        uint32_t offset, bytes;

        if (argument->role == FOREIGN_PRINTED)
            continue;
        assert_true(emu_program_param(run->program, entry, index++, &offset, &bytes));
        assert_int_equal(bytes, is_buffer(argument) ? 8 : foreign_bytes(argument));
    }
}

/* ---- One launch ---- */

static void *bytes_of(const struct run *run, int argument)
{
    void *bytes = emu_bytes(run->device, run->addresses[argument],
                            foreign_bytes(&run->is->arguments[argument]) + CANARY_BYTES);

    assert_non_null(bytes);
    return bytes;
}

/* Draws the arguments, works out what is expected, fills the device's buffers and the parameters.
 */
static void fill(struct run *run, int entry, uint64_t seed)
{
    int index = 0;

    for (int i = 0; i < FOREIGN_ARGUMENTS && run->is->arguments[i].count > 0; i++) {
        const struct foreign_argument *argument = &run->is->arguments[i];
        size_t bytes = foreign_bytes(argument);
        uint32_t offset, param_bytes;
        const void *param = run->before[i];
        unsigned char *to;

        foreign_draw(argument, seed * FOREIGN_ARGUMENTS + (uint64_t)i, run->before[i]);
        memcpy(run->expected[i], run->before[i], bytes);
        if (argument->role == FOREIGN_PRINTED)
            continue;
        if (is_buffer(argument)) {
            to = bytes_of(run, i);
            if (argument->role == FOREIGN_OUT)
                memset(to, POISON, bytes);
            else
                memcpy(to, run->before[i], bytes);
            memset(to + bytes, CANARY, CANARY_BYTES);
            param = &run->addresses[i];
        }
        assert_true(emu_program_param(run->program, entry, index++, &offset, &param_bytes));
        memcpy(run->params + offset, param, param_bytes);
    }
    run->is->reference(run->expected);
}

/* Runs it; what goes to stdout meanwhile is kept for the argument that stands for it. */
static enum emu_outcome launch(struct run *run, const struct emu_launch *launch,
                               struct emu_error *error)
{
    enum emu_outcome outcome;
    FILE *kept;
    int out;

    if (run->printed < 0)
        return emu_run(run->device, launch, error);
    kept = tmpfile();
    assert_non_null(kept);
    fflush(stdout);
    out = dup(STDOUT_FILENO);
    assert_true(out >= 0 && dup2(fileno(kept), STDOUT_FILENO) >= 0);
    outcome = emu_run(run->device, launch, error);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    rewind(kept);
    memset(run->got[run->printed], 0, foreign_bytes(&run->is->arguments[run->printed]));
    if (fread(run->got[run->printed], 1, run->is->arguments[run->printed].count, kept) == 0)
        print_message("%s printed nothing\n", run->name);
    fclose(kept);
    return outcome;
}

static void compare(struct run *run, int index, uint64_t seed)
{
    const struct foreign_argument *argument = &run->is->arguments[index];
    size_t bytes = foreign_bytes(argument);
    long at;

    if (is_buffer(argument)) {
        const unsigned char *device = bytes_of(run, index);

        memcpy(run->got[index], device, bytes);
        for (size_t i = bytes; i < bytes + CANARY_BYTES; i++)
            if (device[i] != CANARY)
                fail_msg("seed %llu: argument %d was written %zu bytes behind its end",
                         (unsigned long long)seed, index, i - bytes);
        if (argument->role == FOREIGN_IN && memcmp(device, run->before[index], bytes) != 0)
            fail_msg("seed %llu: argument %d, an input, has changed", (unsigned long long)seed,
                     index);
    }
    if (argument->role == FOREIGN_IN || argument->role == FOREIGN_VALUE)
        return;
    if (argument->role == FOREIGN_PRINTED)
        assert_string_equal((char *)run->got[index], (char *)run->expected[index]);
    at = foreign_differs(argument, run->got[index], run->expected[index]);
    if (at >= 0)
        fail_msg("seed %llu: argument %d, element %ld: %.17g, expected %.17g",
                 (unsigned long long)seed, index, at,
                 foreign_element(argument->type, run->got[index], (size_t)at),
                 foreign_element(argument->type, run->expected[index], (size_t)at));
}

/* To the bit what the run before it gave: also where a reference leaves some freedom. */
static void compare_with_last(const struct run *run, uint64_t seed)
{
    for (int i = 0; i < FOREIGN_ARGUMENTS && run->is->arguments[i].count > 0; i++)
        if (is_buffer(&run->is->arguments[i]) &&
            memcmp(bytes_of(run, i), run->got[i], foreign_bytes(&run->is->arguments[i])) != 0)
            fail_msg("seed %llu: argument %d is another with more threads",
                     (unsigned long long)seed, i);
}

/* A launch with so many threads. */
static void run_once(struct run *run, const struct emu_launch *of, uint64_t seed, uint32_t threads)
{
    struct emu_error error = {0};

    emu_device_set_seed(run->device, seed);
    emu_device_set_threads(run->device, threads);
    fill(run, of->entry, seed);
    if (launch(run, of, &error) != EMU_DONE)
        fail_msg("seed %llu, %u threads: %s", (unsigned long long)seed, threads, error.message);
    if (threads > 1)
        compare_with_last(run, seed);
    for (int i = 0; i < FOREIGN_ARGUMENTS && run->is->arguments[i].count > 0; i++)
        compare(run, i, seed);
}

static void computes_what_the_reference_does(void **state)
{
    struct run *run = *state;
    struct emu_launch of = {.dynamic_shared_bytes = run->is->dynamic_shared_bytes};
    struct emu_entry_info info;

    load(run);
    allocate(run);
    of.program = run->program;
    of.entry = emu_program_entry(run->program, run->is->entry);
    assert_true(of.entry >= 0);
    check_params(run, of.entry);
    emu_program_entry_info(run->program, of.entry, &info);
    run->params = calloc(1, info.param_bytes + 1);
    assert_non_null(run->params);
    of.params = run->params;
    for (int i = 0; i < 3; i++) {
        of.grid[i] = run->is->grid[i] ? run->is->grid[i] : 1;
        of.block[i] = run->is->block[i] ? run->is->block[i] : 1;
        of.cluster[i] = run->is->cluster[i] ? run->is->cluster[i] : 1;
    }
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run_once(run, &of, seed, 1);
        run_once(run, &of, seed, 3);
    }
}

static int tear_down(void **state)
{
    struct run *run = *state;

    for (int i = 0; i < FOREIGN_ARGUMENTS; i++) {
        free(run->before[i]);
        free(run->expected[i]);
        free(run->got[i]);
    }
    free(run->params);
    if (run->program != NULL)
        emu_program_unload(run->program);
    if (run->device != NULL)
        emu_device_destroy(run->device);
    free(run->text);
    return 0;
}

/* ---- All of them ---- */

/* Whether there is a case that a text of the folder is made for. */
static bool is_known(const char *name)
{
    for (const struct foreign_case *is = foreign_cases; is->file != NULL; is++)
        for (int i = 0; i < VARIANTS; i++) {
            size_t length = strlen(is->file);

            if ((is->targets & variants[i].target) != 0 && strncmp(name, is->file, length) == 0 &&
                name[length] == '.' && strcmp(name + length + 1, variants[i].suffix) == 0)
                return true;
        }
    return false;
}

static void every_text_of_the_folder_has_a_case(void **state)
{
    DIR *folder = opendir(FOREIGN_PTX);
    int texts = 0;

    (void)state;
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] == '.')
            continue;
        texts++;
        if (!is_known(entry->d_name))
            fail_msg("%s has no case", entry->d_name);
    }
    closedir(folder);
    assert_true(texts > 100);
}

int main(void)
{
    struct run *runs = calloc(CASES_AT_MOST, sizeof *runs);
    struct CMUnitTest *tests = calloc(CASES_AT_MOST + 1, sizeof *tests);
    size_t count = 0;
    int failed;

    if (runs == NULL || tests == NULL)
        return 1;
    tests[CASES_AT_MOST] = (struct CMUnitTest)cmocka_unit_test(every_text_of_the_folder_has_a_case);
    for (const struct foreign_case *is = foreign_cases; is->file != NULL; is++)
        for (int i = 0; i < VARIANTS && count < CASES_AT_MOST; i++) {
            struct run *run = &runs[count];

            if ((is->targets & variants[i].target) == 0)
                continue;
            run->is = is;
            run->variant = &variants[i];
            snprintf(run->name, sizeof run->name, "%s of %s.%s", is->entry, is->file,
                     run->variant->suffix);
            tests[count++] = (struct CMUnitTest){.name = run->name,
                                                 .test_func = computes_what_the_reference_does,
                                                 .teardown_func = tear_down,
                                                 .initial_state = run};
        }
    tests[count++] = tests[CASES_AT_MOST];
    failed = _cmocka_run_group_tests("emulator foreign", tests, count, NULL, NULL);
    free(tests);
    free(runs);
    return failed;
}
