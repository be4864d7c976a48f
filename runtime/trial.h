/* trial.h: one problem on drawn data: the kernel by the same way as any caller's, lathe_gemm_get(),
 * a launch of it, and every element of the answer compared. */
#ifndef LT_RUNTIME_TRIAL_H
#define LT_RUNTIME_TRIAL_H

#include "include/lathe_tools.h"
#include "runtime/checker.h"
#include "runtime/operands.h"
#include "runtime/stream.h"

#include <stdbool.h>

struct lt_trial_options {
    uint64_t seed; /* draws the data */
    bool integers, guard;
    int reference;    /* as in lathe_run_options */
    const char *text; /* in the place of what the plan emits; or null */
};

struct lt_trial {
    struct lathe_context *context;
    struct lathe_gemm problem; /* resolved */
    enum lt_data data;
    float alpha, beta;
    struct lathe_function *function;
    struct lt_stream stream;
    struct lt_checker checker;
    struct lt_operands operands;
    /* Of the answer that was checked last. */
    struct lt_verdict verdict;
    int64_t guard_damage;
    double launch_ms; /* how long that launch took */
};

/* `trial` is to be closed after failures, too. While it is open the device's CUDA context is the
 * thread's current one. */
enum lathe_status lt_trial_open(struct lt_trial *trial, struct lathe_context *context,
                                const struct lathe_gemm *problem,
                                const struct lathe_plan_options *plan,
                                const struct lt_trial_options *options, struct lathe_error *err);
/* Waits for what is under way. */
void lt_trial_close(struct lt_trial *trial);

/* Enqueues a launch. */
enum lathe_status lt_trial_launch(const struct lt_trial *trial, struct lathe_error *err);
/* Launches, and compares. LATHE_OK also where the answer is wrong. */
enum lathe_status lt_trial_check(struct lt_trial *trial, struct lathe_error *err);
bool lt_trial_is_right(const struct lt_trial *trial);

#endif
