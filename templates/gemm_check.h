/* gemm_check.h: the rules that plans of a gemm keep on every architecture. Each says why not. */
#ifndef LT_TEMPLATES_GEMM_CHECK_H
#define LT_TEMPLATES_GEMM_CHECK_H

#include "codegen/budget.h"

/* Every field holds what its word could have given it, or, for what a plan may leave open (regs,
 * and the staging of an epilogue that stores from registers), nothing. */
enum lathe_status lt_gemm_check_fields(const struct lathe_plan *plan, struct lathe_error *err);

/* The problem's part: words that stand for something, the layout, and baked-in sizes that go with
 * static=. Which types there are is the architecture's own rule. */
enum lathe_status lt_gemm_check_problem(const struct lathe_plan *plan, struct lathe_error *err);

/* k in whole spans of the swizzle, four at most. */
enum lathe_status lt_gemm_check_k(const struct lathe_plan *plan, struct lathe_error *err);

/* A portable cluster that has as many multiprocessors as CTAs, which share the rows of A and B
 * equally. */
enum lathe_status lt_gemm_check_cluster(const struct lathe_plan *plan, struct lathe_error *err);

/* A kernel counts the tiles of the problem in 32 bits; of sizes that are baked in, if they are.
 * Also refuses a tile of which there is no half for each CTA of a pair: it has no cluster tile. */
enum lathe_status lt_gemm_check_tiles(const struct lathe_plan *plan,
                                      const struct lathe_gemm *problem, struct lathe_error *err);
enum lathe_status lt_gemm_check_baked_tiles(const struct lathe_plan *plan, struct lathe_error *err);

/* Registers that setmaxnreg moves from the producer's warpgroup to the others, if any. */
enum lathe_status lt_gemm_check_regs(const struct lathe_plan *plan, struct lathe_error *err);

/* The sum of the tenants is no more than a CTA can have. */
enum lathe_status lt_gemm_check_bytes(const struct lathe_plan *plan, struct lathe_error *err);

/* ---- What follows from the choices ---- */

/* The tenants of a plan that is in range, in the order of their offsets. */
typedef void (*lt_gemm_budget_of)(const struct lathe_plan *plan, struct lt_budget *budget);

/* The threads of a CTA, and the registers that each has at launch. */
void lt_gemm_derive_threads(struct lathe_plan *plan, int threads);
/* The tenants, their sum and the limit. */
void lt_gemm_derive_bytes(struct lathe_plan *plan, lt_gemm_budget_of budget_of);

/* How deep a ring may be, whatever else fits. */
struct lt_stages {
    int least, most;
};

/* The deepest ring for which all tenants fit; `least` where even that does not. */
int lt_gemm_stages_that_fit(const struct lathe_plan *plan, lt_gemm_budget_of budget_of, int least);

#endif
