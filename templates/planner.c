#include "templates/planner.h"

#include "codegen/arch.h"
#include "codegen/fields.h"
#include "codegen/plan.h"
#include "codegen/status.h"
#include "templates/registry.h"

#include <stdio.h>
#include <string.h>

static bool has_plans(const struct lt_variant *variant, enum lathe_arch arch)
{
    return variant ? lt_variant_is_for(variant, arch)
                   : lt_variant_find(LATHE_GEMM, arch, "") != NULL;
}

/* "sm_100a and sm_103a": those that the variant is for, or, without one, that any is for. */
static void print_archs(const struct lt_variant *variant, char *names, size_t size)
{
    size_t length = 0;
    int left = 0;

    for (const struct lt_arch *row = lt_arch_table; row->id != LATHE_ARCH_DEFAULT; row++)
        left += has_plans(variant, row->id);
    names[0] = '\0';
    for (const struct lt_arch *row = lt_arch_table; row->id != LATHE_ARCH_DEFAULT; row++) {
        if (!has_plans(variant, row->id))
            continue;
        snprintf(names + length, size - length, "%s%s",
                 length == 0 ? ""
                 : left == 1 ? " and "
                             : ", ",
                 row->name);
        length = strlen(names);
        left--;
    }
}

enum lathe_status lt_refuse_variant(const struct lathe_plan *plan, struct lathe_error *err)
{
    char preset[LATHE_NAME_SIZE], archs[64];
    const struct lt_variant *usual = lt_variant_find(LATHE_GEMM, plan->arch, "");
    const char *nearest = NULL;

    lt_plan_preset(plan->variant, preset);
    for (size_t i = 0; i < lt_variant_count; i++) {
        if (strcmp(lt_variants[i].name, preset) == 0) {
            print_archs(&lt_variants[i], archs, sizeof archs);
            return lt_fail(err, LATHE_UNSUPPORTED, "variant=%s is for %s, not for %s",
                           plan->variant, archs, lathe_arch_name(plan->arch));
        }
        nearest = lt_nearer(preset, nearest, lt_variants[i].name);
    }
    if (preset[0])
        return lt_fail(err, LATHE_BAD_WORD, "variant=%s: no such variant; nearest: variant=%s",
                       plan->variant,
                       nearest ? nearest
                       : usual ? usual->name
                               : lt_variants[0].name);
    print_archs(NULL, archs, sizeof archs);
    return lt_fail(err, LATHE_UNSUPPORTED, "arch=%s: there are kernels for %s so far",
                   lathe_arch_name(plan->arch), archs);
}

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

enum lathe_status lt_name_plan(struct lathe_plan *named, const struct lathe_gemm *problem,
                               const struct lathe_plan_options *options, struct lathe_error *err)
{
    name_fields(named, problem, options);
    if (named->arch == LATHE_ARCH_DEFAULT)
        named->arch = lt_variant_arch(named->variant);
    if (named->annotate == LATHE_SWITCH_DEFAULT)
        named->annotate = LATHE_ON;

    const struct lt_variant *variant = lt_variant_of(named);

    if (!variant)
        return lt_refuse_variant(named, err);
    if (named->sms == 0)
        named->sms = lt_arch(named->arch)->sms;
    label(named, options, variant);
    return LATHE_OK;
}

enum lathe_status lt_complete_plan(struct lathe_plan *plan, const struct lathe_gemm *problem,
                                   struct lathe_error *err)
{
    const struct lt_variant *variant = lt_variant_of(plan);
    enum lathe_status status = variant->choose(plan, problem, err);

    return status == LATHE_OK ? variant->check(plan, err) : status;
}

enum lathe_status lt_attempt_plan(struct lt_attempt *attempt, const struct lathe_gemm *given,
                                  const struct lathe_plan_options *options, struct lathe_error *err)
{
    *attempt = (struct lt_attempt){.given = given, .options = options, .problem = *given};

    enum lathe_status status = lt_gemm_resolve(&attempt->problem, err);

    attempt->resolved = status == LATHE_OK;
    if (status == LATHE_OK)
        status = lt_name_plan(&attempt->named, &attempt->problem, options, err);
    attempt->plan = attempt->named;
    return status == LATHE_OK ? lt_complete_plan(&attempt->plan, &attempt->problem, err) : status;
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

enum lathe_status lt_import_request(struct lathe_gemm *problem, struct lathe_plan_options *options,
                                    const struct lathe_gemm *given,
                                    const struct lathe_plan_options *given_options,
                                    struct lathe_error *err)
{
    enum lathe_status status = lt_import(problem, given, "lathe_gemm", err);

    if (status == LATHE_OK)
        status = lt_import_options(options, given_options, err);
    return status == LATHE_OK ? check_options(options, err) : status;
}
