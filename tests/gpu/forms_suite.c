/* forms_suite.c: one small kernel for each form of an instruction, run on the emulator and on a
 * GPU.
 *
 *     forms_suite emulator [expected=FILE]     compares with what an H200 gave, by its hash
 *     forms_suite gpu [write=FILE]             runs both, and compares every value; the file is
 *                                              forms.expected, anew
 *
 * The forms stand in forms.def. Every kernel reads its sources, which are drawn for their types
 * with the special values among them, executes the one instruction, and stores its results. Prints
 * a line a form, as TAP does, then "N passed, M failed, K skipped". */
#include "tests/gpu/form.h"
#include "tests/gpu/form_machine.h"

#include <stdio.h>
#include <string.h>

struct suite {
    struct form_machine emulator, gpu;
    bool has_gpu;
    FILE *expected, *written;
    int passed, failed, skipped, unknown;
    form_values values, got, want;
};

static bool run(struct form_machine *machine, const char *text, form_values values,
                form_values results)
{
    const struct form_launch launch = {.grid = FORM_BLOCKS, .block = FORM_LANES};
    const size_t bytes = sizeof(form_values);
    uint64_t in = 0, out = 0;
    void *params[] = {&in, &out};
    bool done;

    memset(results, 0, bytes);
    done = form_machine_allocate(machine, &in, bytes) &&
           form_machine_allocate(machine, &out, bytes) &&
           form_machine_write(machine, in, values, bytes) &&
           form_machine_write(machine, out, results, bytes) &&
           form_machine_launch(machine, text, &launch, params) &&
           form_machine_read(machine, results, out, bytes);
    form_machine_free(machine, in);
    form_machine_free(machine, out);
    return done;
}

/* A kernel that fails takes its context with it; the next one gets another. */
static bool run_or_reopen(struct form_machine *machine, enum lathe_emulator_use use,
                          const char *text, form_values values, form_values results)
{
    if (!machine->context && !form_machine_open(machine, use))
        return false;
    if (run(machine, text, values, results))
        return true;
    form_machine_close(machine);
    return false;
}

/* The file has a line a form, "hash opcode operands", in the order of the table. */
static bool expected_hash(struct suite *suite, const struct form *form, uint64_t *hash)
{
    char line[2 * FORM_NAME_SIZE], opcode[FORM_NAME_SIZE];
    unsigned long long number;

    if (!suite->expected || !fgets(line, sizeof line, suite->expected) ||
        sscanf(line, "%llx %95s", &number, opcode) != 2 || strcmp(opcode, form->opcode) != 0)
        return false;
    *hash = number;
    return true;
}

static void count(struct suite *suite, bool ok, const struct form *form)
{
    printf("%sok %d - %s: %s\n", ok ? "" : "not ", suite->passed + suite->failed + 1, form->chapter,
           form->opcode);
    if (ok)
        suite->passed++;
    else
        suite->failed++;
}

static void run_form(void *user, struct form *form)
{
    struct suite *suite = user;
    char text[FORM_TEXT_SIZE];
    uint64_t hash = 0;
    bool known = !suite->has_gpu && expected_hash(suite, form, &hash), ran;

    form_write_kernel(form, text);
    form_draw_inputs(form, suite->values);
    ran = run_or_reopen(&suite->emulator, LATHE_EMULATOR_ALWAYS, text, suite->values, suite->got);
    if (suite->has_gpu) {
        ran = run_or_reopen(&suite->gpu, LATHE_EMULATOR_NEVER, text, suite->values, suite->want) &&
              ran;
        if (suite->written)
            fprintf(suite->written, "%016llx %s\n",
                    (unsigned long long)form_hash(form, suite->want), form->opcode);
        count(suite, ran && form_compare(form, suite->values, suite->got, suite->want), form);
        return;
    }
    suite->unknown += !known;
    if (ran && form->tolerance > 0) { /* a hash knows no bounds */
        printf("# %s is compared beside a GPU alone\n", form->opcode);
        suite->skipped++;
        return;
    }
    count(suite, ran && known && form_hash(form, suite->got) == hash, form);
}

int main(int arguments, char **words)
{
    static struct suite suite;
    const char *mode = arguments > 1 ? words[1] : "";
    bool wants_gpu = strcmp(mode, "gpu") == 0, opened;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!wants_gpu && strcmp(mode, "emulator") != 0) {
        fprintf(stderr, "usage: forms_suite emulator expected=FILE\n"
                        "       forms_suite gpu [write=FILE]\n");
        return 2;
    }
    for (int i = 2; i < arguments; i++) {
        if (strncmp(words[i], "expected=", 9) == 0)
            suite.expected = fopen(words[i] + 9, "r");
        else if (strncmp(words[i], "write=", 6) == 0)
            suite.written = fopen(words[i] + 6, "w");
    }
    opened = form_machine_be_exact() && form_machine_open(&suite.emulator, LATHE_EMULATOR_ALWAYS);
    suite.has_gpu = wants_gpu && opened && form_machine_open(&suite.gpu, LATHE_EMULATOR_NEVER);
    if (opened && suite.has_gpu == wants_gpu)
        form_each(run_form, &suite);
    if (suite.unknown > 0)
        printf("# of %d forms it is not known what an H200 gives\n", suite.unknown);
    printf("%d passed, %d failed, %d skipped\n", suite.passed, suite.failed,
           suite.skipped + (suite.passed + suite.failed == 0));
    form_machine_close(&suite.gpu);
    form_machine_close(&suite.emulator);
    if (suite.expected)
        fclose(suite.expected);
    if (suite.written)
        fclose(suite.written);
    return suite.passed + suite.failed == 0 ? 77 : suite.failed > 0;
}
