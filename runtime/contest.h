/* contest.h: who takes part in a benchmark, on what: operands that rotate, one or more plans of
 * Lathe's, and cuBLASLt's choices, each with its block; and whether their answers are right. What
 * is made of their times is not known here. */
#ifndef LT_RUNTIME_CONTEST_H
#define LT_RUNTIME_CONTEST_H

#include "include/lathe_tools.h"
#include "runtime/entrant.h"
#include "runtime/turns.h"

struct lt_contest {
    struct lathe_context *context;
    struct lathe_gemm problem;          /* resolved */
    struct lathe_bench_options options; /* with all defaults filled in */
    float alpha, beta;
    struct lt_stream stream;
    struct lt_checker checker;
    struct lt_cublaslt *cublaslt; /* null: there is no contender */
    struct lt_rotation rotation;

    /* Plans come first; entrant i is what contender i launches. */
    int plans, count;
    enum lathe_bench_kind kinds[LATHE_BENCH_ROWS_MAX];
    struct lt_entrant entrants[LATHE_BENCH_ROWS_MAX];
    struct lt_contender contenders[LATHE_BENCH_ROWS_MAX];
    struct lt_turns turns;
};

/* Opens the stream, the libraries and the operands, and takes the contenders in, behind the plans
 * that are there. All that is above them in the struct is filled in, the rest zero. To be closed
 * after failures, too. */
enum lathe_status lt_contest_open(struct lt_contest *contest, struct lathe_error *err);
/* After a failure, work may still be under way on what is freed: it is waited for. */
void lt_contest_close(struct lt_contest *contest);

/* Takes a plan in, before it is opened. */
void lt_contest_add_plan(struct lt_contest *contest, struct lathe_function *function);

/* A contender that computes something else would make every ratio worthless: refused. */
enum lathe_status lt_contest_check(struct lt_contest *contest, struct lathe_error *err);
/* Makes everybody's block. */
enum lathe_status lt_contest_capture(struct lt_contest *contest, struct lathe_error *err);

/* Judges a plan by a block of it that was timed, in the first `sets` of buffers, which the block
 * goes through: one that had skipped a launch leaves poison behind. */
enum lathe_status lt_contest_verify(struct lt_contest *contest, int plan,
                                    const struct lt_graph *block, int sets,
                                    struct lt_verdict *verdict, struct lathe_error *err);

#endif
