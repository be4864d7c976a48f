/* mutants.c: kernels that are broken on purpose, one line at a time, under the emulator's
 * sanitizer: each mutant has to be reported, with a code that fits, or to stand among the harmless
 * ones.
 *
 *     mutants [plan=N] [start=WORDS] [show=1]
 *
 * The changes and their codes stand in mutants.def. A mutant runs under a few schedules, until one
 * finds something; none may run forever. Prints TAP, then "N passed, M failed, K skipped". */
#include "emulator/emulator.h"
#include "runtime/context.h"
#include "tests/gpu/gpu_run.h"
#include "tests/gpu/mutant_text.h"

#include "include/lathe_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEDULES = 6, FINDINGS_MAX = 64, STEPS_MAX = 20 * 1000 * 1000, CODES_SIZE = 512 };

/* Several tiles for a CTA, so that rings go round, and do not end where they began; rows and
 * columns that no tile divides, columns that no 16 bytes divide, and something in every piece of
 * the last tile. */
static const char problem_words[] = "m=520 n=500 k=392 ldd=504 type=f16";

static const char *const plans[] = {
    "arch=sm_90a tile=128x128x64 cluster=1x1x1 stages=3",
    "arch=sm_90a tile=128x128x64 cluster=2x1x1 stages=4",
    "arch=sm_90a tile=128x128x64 cluster=1x2x1 stages=2 beta=any ldc=504",
    "arch=sm_90a tile=64x128x64 cluster=1x1x1 stages=2 out=f32 beta=any ldc=504",
    "arch=sm_90a tile=128x256x64 cluster=2x1x1 regs=24x240",
    "arch=sm_100a variant=blackwell-7",
    "arch=sm_100a variant=blackwell-8 tile=256x128x64",
    "arch=sm_100a variant=blackwell-9 tile=512x128x64",
    "arch=sm_100a variant=blackwell-best tile=256x64x64 beta=any ldc=504",
    "arch=sm_100a variant=blackwell-8 tile=256x64x64 schedule=dynamic",
    "arch=sm_100a variant=blackwell-8 tile=256x64x64 stages=3 cluster=4x1x1",
    "arch=sm_100a variant=blackwell-7 tile=128x64x64 stages=5 cluster=2x2x1",
};
enum { PLANS = sizeof plans / sizeof plans[0] };

struct rule {
    const char *start;
    enum mutant_change change;
    const char *codes;
};

static const struct rule rules[] = {
#define MUTATE(start, change, codes) {start, MUTANT_##change, codes},
#define HARMLESS(plan, start, change, which, why)
#include "tests/gpu/mutants.def"
#undef MUTATE
#undef HARMLESS
};

static const struct harmless {
    const char *plan, *start;
    enum mutant_change change;
    int which;
    const char *why;
} harmless[] = {
#define MUTATE(start, change, codes)
#define HARMLESS(plan, start, change, which, why) {plan, start, MUTANT_##change, which, why},
#include "tests/gpu/mutants.def"
#undef MUTATE
#undef HARMLESS
    {NULL, NULL, MUTANT_DELETED, 0, NULL},
};

struct emulator {
    void (*set_seed)(uint64_t seed);
    void (*set_limits)(uint64_t memory_bytes, uint64_t steps, uint32_t depth);
    int (*set_check)(int mode);
    size_t (*findings)(struct emu_finding *list, size_t room);
    void (*forget)(void);
};

struct suite {
    struct emulator emulator;
    const char *start;
    bool shows;
    int passed, failed, harmless;
};

/* ---- One mutant ---- */

struct subject {
    const char *words;
    struct gpu_case c;
    struct lathe_kernel *kernel;
};

/* Words that are new are put down: "race deadlock"; "wrong" for an answer that is. */
static void note(char codes[CODES_SIZE], const char *code)
{
    size_t length = strlen(codes);

    if (!strstr(codes, code))
        snprintf(codes + length, CODES_SIZE - length, "%s%s", length ? " " : "", code);
}

static void collect(struct suite *suite, char codes[CODES_SIZE])
{
    static struct emu_finding list[FINDINGS_MAX];
    size_t count = suite->emulator.findings(list, FINDINGS_MAX);

    for (size_t i = 0; i < count && i < FINDINGS_MAX; i++) {
        note(codes, list[i].code);
        if (suite->shows)
            printf("# %s, line %d: %.300s\n", list[i].code, list[i].who.line, list[i].what);
    }
    suite->emulator.forget();
}

static void run_once(struct suite *suite, const struct subject *subject, const char *text,
                     uint64_t seed, char codes[CODES_SIZE])
{
    struct lathe_context *context = NULL;
    struct lathe_kernel *edited = NULL;
    struct lathe_function *function = NULL;
    struct gpu_outcome outcome = {.verdict = LT_VERDICT_INIT};
    struct lathe_error error;

    suite->emulator.set_seed(seed);
    if (lathe_context_create(
            &context,
            lathe_context_options(.emulator = LATHE_EMULATOR_ALWAYS,
                                  .emulated_arch = lathe_kernel_plan(subject->kernel)->arch),
            &error) == LATHE_OK &&
        lathe_kernel_edit(&edited, subject->kernel, text, &error) == LATHE_OK &&
        lathe_load_kernel(context, &function, edited, &error) == LATHE_OK &&
        gpu_run_function(context, function, &subject->c, seed, &outcome, &error) == LATHE_OK) {
        if (outcome.verdict.wrong > 0 || outcome.damage > 0)
            note(codes, "wrong");
    } else if (suite->shows) {
        printf("# %s\n", error.message);
    }
    collect(suite, codes);
    lathe_kernel_destroy(&edited);
    lathe_context_destroy(&context);
}

static bool fits(const char *codes, const char *wanted)
{
    char copy[CODES_SIZE], *rest = NULL;

    snprintf(copy, sizeof copy, "%s", wanted);
    for (char *code = strtok_r(copy, " ", &rest); code; code = strtok_r(NULL, " ", &rest))
        if (strstr(codes, code))
            return true;
    return false;
}

static const struct harmless *find_harmless(const char *words, const struct rule *rule, int which)
{
    for (const struct harmless *h = harmless; h->start; h++)
        if (strstr(words, h->plan) && strcmp(h->start, rule->start) == 0 &&
            h->change == rule->change && h->which == which)
            return h;
    return NULL;
}

static void judge(struct suite *suite, const struct subject *subject, const struct rule *rule,
                  int which, int line, const char *text)
{
    const struct harmless *is_harmless = find_harmless(subject->words, rule, which);
    char codes[CODES_SIZE] = "";
    bool right;

    for (uint64_t seed = 1; seed <= SCHEDULES && !fits(codes, rule->codes); seed++)
        run_once(suite, subject, text, seed, codes);
    right = is_harmless ? codes[0] == '\0' : fits(codes, rule->codes);
    printf("%sok %d - %s: %s %s (%d., line %d): %s%s\n", right ? "" : "not ",
           suite->passed + suite->failed + 1, subject->words, rule->start,
           mutant_change_name(rule->change), which, line, codes[0] ? codes : "nothing",
           is_harmless ? ", as it has to be" : "");
    suite->harmless += is_harmless != NULL;
    if (right)
        suite->passed++;
    else
        suite->failed++;
}

/* ---- All of them ---- */

static void mutate(struct suite *suite, const struct subject *subject, const struct rule *rule)
{
    const char *text = lathe_kernel_text(subject->kernel, NULL);
    bool is_changed;
    char *made;
    int line;

    if (suite->start && !strstr(rule->start, suite->start))
        return;
    for (int which = 0;
         (made = mutant_make(text, rule->start, which, rule->change, &line, &is_changed));
         which++) {
        if (is_changed)
            judge(suite, subject, rule, which, line, made);
        free(made);
    }
}

static bool prepare(struct subject *subject, const char *words)
{
    struct lathe_request request = LATHE_REQUEST_INIT;
    struct lathe_plan plan = LATHE_PLAN_INIT;
    struct lathe_error error;
    char text[512], *rest = NULL;
    const char *list[32];
    int count = 0;

    snprintf(text, sizeof text, "gemm %s %s", problem_words, words);
    for (char *word = strtok_r(text, " ", &rest); word && count < 32;
         word = strtok_r(NULL, " ", &rest))
        list[count++] = word;
    *subject = (struct subject){.words = words};
    if (lathe_request_parse(&request, count, list, &error) == LATHE_OK &&
        lathe_plan_gemm(&plan, &request.gemm, &request.plan, &error) == LATHE_OK &&
        lathe_emit(&subject->kernel, &plan, NULL, &error) == LATHE_OK) {
        subject->c = (struct gpu_case){.kind = "mutant",
                                       .problem = request.gemm,
                                       .options = request.plan,
                                       .alpha = 1,
                                       .beta = strstr(words, "beta=any") ? 0.5f : 0};
        return true;
    }
    printf("# %s: %s\n", words, error.message);
    return false;
}

/* The kernel as it is: nothing may be found. */
static void judge_original(struct suite *suite, const struct subject *subject)
{
    char codes[CODES_SIZE] = "";

    for (uint64_t seed = 1; seed <= SCHEDULES; seed++)
        run_once(suite, subject, lathe_kernel_text(subject->kernel, NULL), seed, codes);
    printf("%sok %d - %s: as it is: %s\n", codes[0] ? "not " : "",
           suite->passed + suite->failed + 1, subject->words, codes[0] ? codes : "nothing");
    if (codes[0])
        suite->failed++;
    else
        suite->passed++;
}

static bool find_emulator(struct emulator *emulator)
{
    struct lathe_context *context = NULL;
    const struct lt_device *device = NULL;
    struct lathe_error error;
    const struct lt_library_function functions[] = {
        {"emu_set_seed", &emulator->set_seed},      {"emu_set_limits", &emulator->set_limits},
        {"emu_set_check", &emulator->set_check},    {"emu_findings", &emulator->findings},
        {"emu_forget_findings", &emulator->forget},
    };

    if (lathe_context_create(&context, lathe_context_options(.emulator = LATHE_EMULATOR_ALWAYS),
                             &error) == LATHE_OK &&
        lt_context_probe(context, &device, &error) == LATHE_OK)
        lt_library_load(&device->driver.library, functions, sizeof functions / sizeof functions[0],
                        NULL);
    else
        printf("# %s\n", error.message);
    lathe_context_destroy(&context);
    return emulator->set_seed && emulator->set_limits && emulator->set_check &&
           emulator->findings && emulator->forget;
}

int main(int arguments, char **words)
{
    struct suite suite = {.start = NULL};
    int only = -1;

    setvbuf(stdout, NULL, _IOLBF, 0);
    setenv("LATHE_EMU_SMS", "4", 1); /* so that a CTA has several tiles */
    for (int i = 1; i < arguments; i++) {
        if (strncmp(words[i], "plan=", 5) == 0)
            only = atoi(words[i] + 5);
        else if (strncmp(words[i], "start=", 6) == 0)
            suite.start = words[i] + 6;
        else if (strcmp(words[i], "show=1") == 0)
            suite.shows = true;
        else
            return fprintf(stderr, "usage: mutants [plan=N] [start=WORDS] [show=1]\n"), 2;
    }
    if (!find_emulator(&suite.emulator) || !suite.emulator.set_check(EMU_CHECK_ALL))
        return printf("0 passed, 1 failed, 0 skipped\n"), 1;
    suite.emulator.set_limits(0, STEPS_MAX, 0);
    for (int p = 0; p < PLANS; p++) {
        struct subject subject;

        if (only >= 0 && p != only)
            continue;
        if (!prepare(&subject, plans[p])) {
            suite.failed++;
            continue;
        }
        judge_original(&suite, &subject);
        for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
            mutate(&suite, &subject, &rules[i]);
        lathe_kernel_destroy(&subject.kernel);
    }
    printf("# %d changes are harmless\n", suite.harmless);
    printf("%d passed, %d failed, 0 skipped\n", suite.passed, suite.failed);
    return suite.failed > 0;
}
