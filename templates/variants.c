/* variants.c: the table of all kernels, and who is found in it. */
#include "codegen/arch.h"
#include "codegen/plan.h"
#include "templates/gemm_sm100.h"
#include "templates/gemm_sm100_check.h"
#include "templates/gemm_sm100_plan.h"
#include "templates/gemm_sm90.h"
#include "templates/gemm_sm90_check.h"
#include "templates/gemm_sm90_plan.h"
#include "templates/registry.h"

#include <string.h>

const struct lt_variant lt_variants[] = {
/* Of the presets that come from no step of a ladder the best one is the default. */
#define LT_PRESET(preset, step, mma, acc, store, flow, index, groups, schedule, raster, rows,      \
                  columns, stages, consumers, turns, line)                                         \
    {                                                                                              \
        .name = preset,                                                                            \
        .ladder_name = step,                                                                       \
        .family = LATHE_GEMM,                                                                      \
        .archs = {LATHE_SM_90A},                                                                   \
        .is_default = sizeof step == 1,                                                            \
        .doc = line,                                                                               \
        .choose = lt_gemm_sm90_choose,                                                             \
        .complete = lt_gemm_sm90_complete,                                                         \
        .budget_of = lt_gemm_sm90_budget,                                                          \
        .stages_of = lt_gemm_sm90_stages,                                                          \
        .check = lt_gemm_sm90_check,                                                               \
        .emit = lt_gemm_sm90_emit,                                                                 \
    },
#include "templates/gemm_sm90.def"
#undef LT_PRESET
#define LT_PRESET(preset, step, load, store, flow, schedule, raster, cta_group, rows, columns,     \
                  stages, acc_stages, staging_columns, line)                                       \
    {                                                                                              \
        .name = preset,                                                                            \
        .ladder_name = step,                                                                       \
        .family = LATHE_GEMM,                                                                      \
        .archs = {LATHE_SM_100A, LATHE_SM_103A},                                                   \
        .is_default = sizeof step == 1,                                                            \
        .doc = line,                                                                               \
        .choose = lt_gemm_sm100_choose,                                                            \
        .complete = lt_gemm_sm100_complete,                                                        \
        .budget_of = lt_gemm_sm100_budget,                                                         \
        .stages_of = lt_gemm_sm100_stages,                                                         \
        .check = lt_gemm_sm100_check,                                                              \
        .emit = lt_gemm_sm100_emit,                                                                \
    },
#include "templates/gemm_sm100.def"
#undef LT_PRESET
};
const size_t lt_variant_count = sizeof lt_variants / sizeof lt_variants[0];

enum lathe_arch lt_default_arch(void)
{
    return LATHE_SM_100A;
}

enum lathe_arch lt_arch_of_capability(int major, int minor)
{
    for (const struct lt_arch *row = lt_arch_table; row->id != LATHE_ARCH_DEFAULT; row++)
        if (row->capability == 10 * major + minor)
            return row->id;
    return LATHE_ARCH_DEFAULT;
}

bool lt_variant_is_for(const struct lt_variant *variant, enum lathe_arch arch)
{
    for (int i = 0; i < LT_VARIANT_ARCHS && variant->archs[i] != LATHE_ARCH_DEFAULT; i++)
        if (variant->archs[i] == arch)
            return true;
    return false;
}

const struct lt_variant *lt_variant_find(enum lathe_family family, enum lathe_arch arch,
                                         const char *name)
{
    for (size_t i = 0; i < lt_variant_count; i++) {
        const struct lt_variant *variant = &lt_variants[i];

        if (variant->family == family && lt_variant_is_for(variant, arch) &&
            (name[0] ? strcmp(variant->name, name) == 0 : variant->is_default))
            return variant;
    }
    return NULL;
}

enum lathe_arch lt_variant_arch(const char *variant)
{
    char preset[LATHE_NAME_SIZE];
    enum lathe_arch usual = lt_default_arch();

    lt_plan_preset(variant, preset);
    for (size_t i = 0; i < lt_variant_count; i++)
        if (strcmp(lt_variants[i].name, preset) == 0 && !lt_variant_is_for(&lt_variants[i], usual))
            return lt_variants[i].archs[0];
    return usual;
}

const struct lt_variant *lt_variant_of(const struct lathe_plan *plan)
{
    char preset[LATHE_NAME_SIZE];

    lt_plan_preset(plan->variant, preset);
    return lt_variant_find(plan->family, plan->arch, preset);
}

bool lt_arch_has_kernels(enum lathe_arch arch)
{
    for (size_t i = 0; i < lt_variant_count; i++)
        if (lt_variant_is_for(&lt_variants[i], arch))
            return true;
    return false;
}
