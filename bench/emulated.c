/* emulated.c: how fast the emulator is on this machine.
 *
 *     emulated [every=N] [check=1]
 *
 * Warp instructions a second, of a kernel whose instructions can be counted by hand; then the time
 * of a GEMM of 512 x 512 x 512 in f16 by every N-th plan of `lathe list plans` (all of them without
 * the word), on normal data, the answer checked: mean, slowest, and what the default plan comes to
 * in GFLOP/s. With check=1 the sanitizer watches. LATHE_EMU_THREADS says how many threads run. */
#include "include/lathe_tools.h"
#include "runtime/clock.h"
#include "runtime/statistics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 5, LOOPS = 4000, CTAS = 132, WARPS = 8 };

static const char default_words[] = "gemm m=512 n=512 k=512 type=f16 arch=sm_90a";

/* Four instructions a loop, in each of all warps. */
static const char loop_text[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry loop()\n{\n"
    "    .reg .b32 %i, %x;\n    .reg .pred %more;\n    mov.u32 %i, 4000;\n    mov.u32 %x, %tid.x;\n"
    "again:\n    mad.lo.u32 %x, %x, 1664525, 1013904223;\n    sub.u32 %i, %i, 1;\n"
    "    setp.ne.u32 %more, %i, 0;\n    @%more bra again;\n    ret;\n}\n";

static void must(enum lathe_status status, const struct lathe_error *error)
{
    if (status == LATHE_OK)
        return;
    fprintf(stderr, "emulated: %s\n", error->message);
    exit(1);
}

static struct lathe_context *open_context(void)
{
    struct lathe_context *context = NULL;
    struct lathe_error error;

    must(lathe_context_create(&context,
                              lathe_context_options(.emulator = LATHE_EMULATOR_ALWAYS,
                                                    .emulated_arch = LATHE_SM_90A),
                              &error),
         &error);
    return context;
}

static void print_instructions(struct lathe_context *context)
{
    struct lathe_emulation emulation = LATHE_EMULATION_INIT;
    double times[REPEATS];

    emulation.text = loop_text;
    emulation.arch = "sm_90a";
    emulation.grid[0] = CTAS;
    emulation.block[0] = 32 * WARPS;
    for (int i = 1; i < 3; i++)
        emulation.grid[i] = emulation.block[i] = 1;
    for (int i = 0; i < REPEATS; i++) {
        struct lathe_emulation_report report = LATHE_EMULATION_REPORT_INIT;
        struct lathe_error error;

        must(lathe_emulate(context, &emulation, &report, &error), &error);
        times[i] = report.time_ms;
    }
    printf("instructions  %6.1f million warp instructions a second (%d CTAs of %d warps)\n",
           4e-3 * LOOPS * CTAS * WARPS / lt_median(times, REPEATS), CTAS, WARPS);
}

static double time_ms(struct lathe_context *context, const char *text)
{
    struct lathe_request request = LATHE_REQUEST_INIT;
    struct lathe_run_options options = LATHE_RUN_OPTIONS_INIT;
    struct lathe_run_report report = {.plan = LATHE_PLAN_INIT};
    struct lathe_error error;
    const char *list[40];
    char copy[1024], *rest = NULL;
    int count = 0;

    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &rest); word && count < 40;
         word = strtok_r(NULL, " ", &rest))
        list[count++] = word;
    must(lathe_request_parse(&request, count, list, &error), &error);
    options.seed = 1;
    must(lathe_run_gemm(context, &request.gemm, &request.plan, &options, &report, &error), &error);
    if (report.ok)
        return report.emulated_ms;
    fprintf(stderr, "emulated: a wrong answer: %s\n", text);
    exit(1);
}

static void print_default(struct lathe_context *context)
{
    double times[REPEATS];

    for (int i = 0; i < REPEATS; i++)
        times[i] = time_ms(context, default_words);
    printf("default plan  %6.0f ms, %.2f GFLOP/s\n", lt_median(times, REPEATS),
           2e-6 * 512 * 512 * 512 / lt_median(times, REPEATS));
}

/* A plan's words name the problem's types, so the request is made of both. */
static void print_plans(struct lathe_context *context, size_t every)
{
    char words[512], text[1024], slowest[512] = "";
    double sum = 0, most = 0;
    int count = 0;

    for (size_t i = 0; lathe_legal_plan_at(i, words, sizeof words); i += every, count++) {
        double ms;

        snprintf(text, sizeof text, "gemm m=512 n=512 k=512 %s", words);
        ms = time_ms(context, text);
        sum += ms;
        if (ms > most) {
            most = ms;
            snprintf(slowest, sizeof slowest, "%s", words);
        }
    }
    printf("%4d plans    %6.0f ms the mean, %.0f ms the slowest: %s\n", count,
           count ? sum / count : 0, most, slowest);
}

int main(int count, char **words)
{
    size_t every = 1;
    struct lathe_context *context;

    for (int i = 1; i < count; i++) {
        if (strncmp(words[i], "every=", 6) == 0 && atoi(words[i] + 6) > 0)
            every = (size_t)atoi(words[i] + 6);
        else if (strcmp(words[i], "check=1") == 0)
            setenv("LATHE_EMU_CHECK", "1", 1);
        else
            return fprintf(stderr, "usage: emulated [every=N] [check=1]\n"), 2;
    }
    context = open_context();
    print_instructions(context);
    print_default(context);
    print_plans(context, every);
    lathe_context_destroy(&context);
    return 0;
}
