/* registry.h: the kernels there are, by family, architecture and variant; all that runtime/
 * includes of templates/. Planning and emitting themselves are public: lathe_plan_gemm(),
 * lathe_emit(). */
#ifndef LT_TEMPLATES_REGISTRY_H
#define LT_TEMPLATES_REGISTRY_H

#include "templates/gemm_check.h"
#include "templates/gemm_problem.h"

#include <stdbool.h>
#include <stddef.h>

struct lt_builder;

enum { LT_VARIANT_ARCHS = 3 };

struct lt_variant {
    const char *name;        /* "hopper-best"                                   */
    const char *ladder_name; /* of the ladder that it comes from, or ""         */
    enum lathe_family family;
    enum lathe_arch archs[LT_VARIANT_ARCHS]; /* ended by LATHE_ARCH_DEFAULT                     */
    bool is_default;                         /* of its family, on these architectures           */
    const char *doc;                         /* one line                                        */

    /* Fills the fields that `plan` has not named (zero). `problem` is resolved. */
    enum lathe_status (*choose)(struct lathe_plan *plan, const struct lathe_gemm *problem,
                                struct lathe_error *err);
    /* The same for a plan whose tile is there. */
    void (*complete)(struct lathe_plan *plan);
    lt_gemm_budget_of budget_of;
    /* What the plan's flow can do with. */
    struct lt_stages (*stages_of)(const struct lathe_plan *plan);
    /* Checks a full plan and fills in what follows from it. */
    enum lathe_status (*check)(struct lathe_plan *plan, struct lathe_error *err);
    /* Null where the kernel is not there yet, and plans are all there is. */
    void (*emit)(struct lt_builder *b, const struct lathe_plan *plan);
};

extern const struct lt_variant lt_variants[];
extern const size_t lt_variant_count;

/* The variant of that name; the one a family and architecture have by default when it is empty. */
const struct lt_variant *lt_variant_find(enum lathe_family family, enum lathe_arch arch,
                                         const char *name);
/* The same by the plan's label, "custom(from NAME)" too. */
const struct lt_variant *lt_variant_of(const struct lathe_plan *plan);

bool lt_variant_is_for(const struct lt_variant *variant, enum lathe_arch arch);

/* Whether there is a kernel that an architecture can run. */
bool lt_arch_has_kernels(enum lathe_arch arch);

/* What is planned for without a GPU, where no variant says otherwise. */
enum lathe_arch lt_default_arch(void);
/* The same where a variant, or "custom(from VARIANT)", is named: what it is for. */
enum lathe_arch lt_variant_arch(const char *variant);

/* The architecture for a device's compute capability, LATHE_ARCH_DEFAULT if none of ours. */
enum lathe_arch lt_arch_of_capability(int major, int minor);

#endif
