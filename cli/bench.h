/* bench.h: what the ways to measure share: one problem (bench.c), a suite (bench_suite.c), a ladder
 * (bench_ladder.c). Each appends its records to the file of -o. */
#ifndef LT_CLI_BENCH_H
#define LT_CLI_BENCH_H

#include "cli/progress.h"
#include "cli/words.h"
#include "lathe_tools.h"

/* What holds for all problems of one command. */
struct bench_setup {
    const struct words *words;
    struct output *out;
    struct lathe_context *context;
    struct lathe_bench_options options;
    struct lathe_bench_machine machine;
    const char *vs;   /* as given: "cublaslt,cublaslt-best" */
    const char *git;  /* the commit that all was built from */
    const char *path; /* of -o; or null: there is no file   */
    FILE *file;
    json_t *held; /* what it held before */
    struct progress progress;
};

/* Reads vs= and the protocol. `block_ms` is that of who gives none. */
enum lathe_status bench_options(const struct words *words, int64_t block_ms,
                                struct lathe_bench_options *options, struct lathe_error *err);
/* Opens the device and the file; options are read. To be ended also after a failure. */
enum lathe_status bench_begin(struct bench_setup *setup, const struct words *words,
                              struct output *out, int64_t block_ms, struct lathe_error *err);
void bench_end(struct bench_setup *setup);

/* Appends a record to the file, if there is one. */
enum lathe_status bench_keep(const struct bench_setup *setup, const json_t *record,
                             struct lathe_error *err);

/* Whether a failure is about the problem, so that others may still be measured. */
bool bench_is_refusal(enum lathe_status status);

int bench_suite(const struct words *words, struct output *out);
int bench_ladder(const struct words *words, struct output *out);

#endif
