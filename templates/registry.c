#include "templates/registry.h"

#include "codegen/arch.h"
#include "codegen/builder.h"
#include "codegen/fields.h"
#include "codegen/kernel.h"
#include "codegen/memory.h"
#include "codegen/plan.h"
#include "codegen/status.h"
#include "templates/doors.h"
#include "templates/gemm_sm90_plan.h"
#include "templates/gemm_sm90.h"

#include <stdio.h>
#include <string.h>

const struct lt_variant lt_variants[] = {
    {
        .name = "hopper-best",
        .ladder_name = "",
        .family = LATHE_GEMM,
        .arch = LATHE_SM_90A,
        .doc = "warp-specialised and persistent: TMA ring, wgmma with one group in flight, "
               "multicast in clusters, TMA-store epilogue",
        .choose = lt_gemm_sm90_choose,
        .check = lt_gemm_sm90_check,
        .emit = lt_gemm_sm90_specialised,
    },
};
const size_t lt_variant_count = sizeof lt_variants / sizeof lt_variants[0];

enum lathe_arch lt_default_arch(void)
{
    return LATHE_SM_90A;
}

enum lathe_arch lt_arch_of_capability(int major, int minor)
{
    for (const struct lt_arch *row = lt_arch_table; row->id != LATHE_ARCH_DEFAULT; row++)
        if (row->capability == 10 * major + minor)
            return row->id;
    return LATHE_ARCH_DEFAULT;
}

const struct lt_variant *lt_variant_find(enum lathe_family family, enum lathe_arch arch,
                                         const char *name)
{
    for (size_t i = 0; i < lt_variant_count; i++)
        if (lt_variants[i].family == family && lt_variants[i].arch == arch &&
            (name[0] == '\0' || strcmp(lt_variants[i].name, name) == 0))
            return &lt_variants[i];
    return NULL;
}

/* Of the preset that the plan's variant starts from. */
static const struct lt_variant *variant_of(const struct lathe_plan *plan)
{
    char preset[LATHE_NAME_SIZE];

    lt_plan_preset(plan->variant, preset);
    return lt_variant_find(plan->family, plan->arch, preset);
}

static enum lathe_status refuse_variant(const struct lathe_plan *plan, struct lathe_error *err)
{
    char preset[LATHE_NAME_SIZE];
    const char *nearest = NULL;

    lt_plan_preset(plan->variant, preset);
    for (size_t i = 0; i < lt_variant_count; i++) {
        if (strcmp(lt_variants[i].name, preset) == 0)
            return lt_fail(err, LATHE_UNSUPPORTED, "variant=%s is for %s, not for %s",
                           plan->variant, lathe_arch_name(lt_variants[i].arch),
                           lathe_arch_name(plan->arch));
        nearest = lt_nearer(preset, nearest, lt_variants[i].name);
    }
    if (preset[0])
        return lt_fail(err, LATHE_BAD_WORD, "variant=%s: no such variant; nearest: variant=%s",
                       plan->variant, nearest ? nearest : lt_variants[0].name);
    return lt_fail(err, LATHE_UNSUPPORTED, "arch=%s: there are kernels for %s alone so far",
                   lathe_arch_name(plan->arch), lathe_arch_name(lt_default_arch()));
}

/* ---- Planning ---- */

/* A plan in which what the options name stands and the rest is zero. */
static void name_fields(struct lathe_plan *plan, const struct lathe_gemm *problem,
                        const struct lathe_plan_options *options)
{
    *plan = (struct lathe_plan)LATHE_PLAN_INIT;
    for (size_t i = 0; i < lt_plan_field_count; i++) {
        const struct lt_field *field = &lt_plan_fields[i];

        memcpy((char *)plan + field->plan_offset, (const char *)options + field->offset,
               lt_field_bytes(field));
    }
    plan->family = LATHE_GEMM;
    plan->type = problem->type;
    plan->out = problem->out;
    plan->layout = problem->layout;
    plan->beta = problem->beta;
    plan->statics = problem->statics;
    plan->static_size[0] = problem->statics == LATHE_STATIC_MNK ? problem->m : -1;
    plan->static_size[1] = problem->statics == LATHE_STATIC_MNK ? problem->n : -1;
    plan->static_size[2] = problem->statics != LATHE_STATIC_NONE ? problem->k : -1;
}

/* The preset's own name, or "custom(from PRESET)" when one of its fields was named, or the preset
 * itself in that way. */
static void label(struct lathe_plan *plan, const struct lathe_plan_options *options,
                  const struct lt_variant *variant)
{
    static const char *const not_of_presets[] = {"arch", "variant", "annotate", "sms"};
    bool custom = plan->variant[0] && strcmp(plan->variant, variant->name) != 0;

    for (size_t i = 0; i < lt_plan_field_count; i++) {
        const struct lt_field *field = &lt_plan_fields[i];
        bool counts = lt_field_is_set(field, (const char *)options + field->offset);

        for (size_t j = 0; j < 4; j++)
            if (strcmp(field->key, not_of_presets[j]) == 0)
                counts = false;
        custom = custom || counts;
    }
    memset(plan->variant, 0, sizeof plan->variant);
    snprintf(plan->variant, sizeof plan->variant, custom ? "custom(from %s)" : "%s", variant->name);
}

static enum lathe_status make_plan(struct lathe_plan *plan, const struct lathe_gemm *problem,
                                   const struct lathe_plan_options *options,
                                   struct lathe_error *err)
{
    name_fields(plan, problem, options);
    if (plan->arch == LATHE_ARCH_DEFAULT)
        plan->arch = lt_default_arch();
    if (plan->annotate == LATHE_SWITCH_DEFAULT)
        plan->annotate = LATHE_ON;

    const struct lt_variant *variant = variant_of(plan);

    if (!variant)
        return refuse_variant(plan, err);
    if (plan->sms == 0)
        plan->sms = lt_arch(plan->arch)->sms;
    label(plan, options, variant);

    enum lathe_status status = variant->choose(plan, problem, err);

    return status == LATHE_OK ? variant->check(plan, err) : status;
}

static enum lathe_status check_options(const struct lathe_plan_options *options,
                                       struct lathe_error *err)
{
    for (size_t i = 0; i < lt_plan_field_count; i++) {
        const struct lt_field *field = &lt_plan_fields[i];
        enum lathe_status status =
            lt_field_check(field, (const char *)options + field->offset, true, err);

        if (status != LATHE_OK)
            return status;
    }
    return LATHE_OK;
}

/* Resolves and plans, without looking for doors. */
static enum lathe_status plan_quietly(struct lathe_plan *plan, const struct lathe_gemm *given,
                                      const struct lathe_plan_options *options,
                                      struct lathe_error *err)
{
    struct lathe_gemm problem = *given;
    enum lathe_status status = lt_gemm_resolve(&problem, err);

    return status == LATHE_OK ? make_plan(plan, &problem, options, err) : status;
}

static enum lathe_status plan_resolved(struct lathe_plan *plan, const struct lathe_gemm *given,
                                       const struct lathe_plan_options *options,
                                       struct lathe_error *err)
{
    struct lathe_gemm problem = *given;
    enum lathe_status status = lt_gemm_resolve(&problem, err);

    if (status == LATHE_UNSUPPORTED) {
        lt_find_doors(given, options, NULL, plan_quietly, err);
        return status;
    }
    if (status != LATHE_OK)
        return status;
    status = make_plan(plan, &problem, options, err);
    if (status == LATHE_UNSUPPORTED || status == LATHE_DOES_NOT_FIT)
        lt_find_doors(given, options, plan, plan_quietly, err);
    return status;
}

enum lathe_status lathe_plan_gemm(struct lathe_plan *out, const struct lathe_gemm *given,
                                  const struct lathe_plan_options *given_options,
                                  struct lathe_error *err)
{
    struct lathe_gemm problem;
    struct lathe_plan_options options;
    struct lathe_plan plan;

    if (!out || !given)
        return lt_fail(err, LATHE_MISUSED, "lathe_plan_gemm: needs a plan and a problem");

    enum lathe_status status = lt_check_size(out, "lathe_plan", err);

    if (status == LATHE_OK)
        status = lt_import(&problem, given, "lathe_gemm", err);
    if (status == LATHE_OK)
        status = lt_import_options(&options, given_options, err);
    if (status == LATHE_OK)
        status = check_options(&options, err);
    if (status == LATHE_OK)
        status = plan_resolved(&plan, &problem, &options, err);
    if (status == LATHE_OK)
        lt_export(out, &plan);
    return status;
}

/* What the plan is looked up by. */
static enum lathe_status check_place(const struct lathe_plan *plan, struct lathe_error *err)
{
    static const struct lt_field family = {
        .key = "family", .kind = LT_WORD, .words = lt_words_family};
    const struct lt_field *arch = lt_field_find(lt_plan_fields, lt_plan_field_count, "arch");
    enum lathe_status status = lt_field_check(&family, &plan->family, false, err);

    return status == LATHE_OK ? lt_field_check(arch, &plan->arch, false, err) : status;
}

static enum lathe_status check_own(struct lathe_plan *plan, struct lathe_error *err)
{
    const struct lt_variant *variant = variant_of(plan);
    enum lathe_status status = check_place(plan, err);

    if (status != LATHE_OK)
        return status;
    if (variant && plan->variant[0] == '\0')
        return lt_fail(err, LATHE_OUT_OF_RANGE,
                       "variant is missing; a plan says which it starts from: variant=%s",
                       variant->name);
    return variant ? variant->check(plan, err) : refuse_variant(plan, err);
}

enum lathe_status lathe_plan_check(struct lathe_plan *given, struct lathe_error *err)
{
    struct lathe_plan plan;

    if (!given)
        return lt_fail(err, LATHE_MISUSED, "lathe_plan_check: needs a plan");

    enum lathe_status status = lt_import_plan(&plan, given, err);

    if (status == LATHE_OK)
        status = check_own(&plan, err);
    if (status == LATHE_OK)
        lt_export(given, &plan);
    return status;
}

enum lathe_status lathe_plan_parse(struct lathe_plan *out, const char *text,
                                   struct lathe_error *err)
{
    struct lathe_plan plan;

    if (!out || !text)
        return lt_fail(err, LATHE_MISUSED, "lathe_plan_parse: needs a plan and a text");

    enum lathe_status status = lt_check_size(out, "lathe_plan", err);

    if (status == LATHE_OK)
        status = lt_plan_read(&plan, text, err);
    if (status == LATHE_OK)
        status = check_own(&plan, err);
    if (status == LATHE_OK)
        lt_export(out, &plan);
    return status;
}

/* ---- Emitting ---- */

enum lathe_status lathe_emit(struct lathe_kernel **kernel, const struct lathe_plan *given,
                             const struct lathe_allocator *allocator, struct lathe_error *err)
{
    struct lathe_plan plan;

    if (!kernel || !given)
        return lt_fail(err, LATHE_MISUSED, "lathe_emit: needs a place for the kernel and a plan");

    enum lathe_status status = lt_check_allocator(allocator, err);

    if (status == LATHE_OK)
        status = lt_import_plan(&plan, given, err);
    if (status == LATHE_OK)
        status = check_own(&plan, err);
    if (status != LATHE_OK)
        return status;

    struct lt_builder *b = lt_builder_create(plan.arch, plan.annotate != LATHE_OFF, allocator);

    if (!b)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory to emit a kernel");
    variant_of(&plan)->emit(b, &plan);
    return lt_kernel_create(kernel, &b, &plan, allocator, err);
}
