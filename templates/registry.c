#include "templates/registry.h"

#include "codegen/arch.h"
#include "codegen/builder.h"
#include "codegen/fields.h"
#include "codegen/kernel.h"
#include "codegen/memory.h"
#include "codegen/plan.h"
#include "codegen/status.h"
#include "templates/doors.h"
#include "templates/planner.h"

#include <stdio.h>
#include <string.h>

enum lathe_status lathe_plan_gemm(struct lathe_plan *out, const struct lathe_gemm *given,
                                  const struct lathe_plan_options *given_options,
                                  struct lathe_error *err)
{
    struct lathe_gemm problem;
    struct lathe_plan_options options;
    struct lt_attempt attempt;

    if (!out || !given)
        return lt_fail(err, LATHE_MISUSED, "lathe_plan_gemm: needs a plan and a problem");

    enum lathe_status status = lt_check_size(out, "lathe_plan", err);

    if (status == LATHE_OK)
        status = lt_import_request(&problem, &options, given, given_options, err);
    if (status != LATHE_OK)
        return status;
    status = lt_attempt_plan(&attempt, &problem, &options, err);
    if (status == LATHE_OK)
        lt_export(out, &attempt.plan);
    else
        lt_find_ways_out(&attempt, err);
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
    const struct lt_variant *variant = lt_variant_of(plan);
    enum lathe_status status = check_place(plan, err);

    if (status != LATHE_OK)
        return status;
    if (variant && plan->variant[0] == '\0')
        return lt_fail(err, LATHE_OUT_OF_RANGE,
                       "variant is missing; a plan says which it starts from: variant=%s",
                       variant->name);
    return variant ? variant->check(plan, err) : lt_refuse_variant(plan, err);
}

/* The fields that the caller's header lacks follow from those that it has, as for a request that
 * does not name them; where one of these is out of range, the check says so. No header ever had
 * fewer than those up to `sms`. */
static void complete_older(struct lathe_plan *plan, size_t size)
{
    const struct lt_variant *variant = lt_variant_of(plan);
    struct lathe_plan complete = *plan;

    if (size <= offsetof(struct lathe_plan, sms) || !variant)
        return;
    for (size_t i = 0; i < lt_plan_field_count; i++) {
        const struct lt_field *field = &lt_plan_fields[i];
        const char *storage = (const char *)plan + field->plan_offset;

        if (field->plan_offset < size &&
            lt_field_check(field, storage, field->kind == LT_PAIR, NULL) != LATHE_OK)
            return;
    }
    variant->complete(&complete);
    for (size_t i = 0; i < lt_plan_field_count; i++) {
        const struct lt_field *field = &lt_plan_fields[i];

        if (field->plan_offset >= size)
            memcpy((char *)plan + field->plan_offset, (const char *)&complete + field->plan_offset,
                   lt_field_bytes(field));
    }
}

static enum lathe_status import_plan(struct lathe_plan *plan, const struct lathe_plan *given,
                                     struct lathe_error *err)
{
    enum lathe_status status = lt_import_plan(plan, given, err);

    if (status == LATHE_OK && given->struct_size < sizeof *plan)
        complete_older(plan, given->struct_size);
    return status;
}

enum lathe_status lathe_plan_check(struct lathe_plan *given, struct lathe_error *err)
{
    struct lathe_plan plan;

    if (!given)
        return lt_fail(err, LATHE_MISUSED, "lathe_plan_check: needs a plan");

    enum lathe_status status = import_plan(&plan, given, err);

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
        status = import_plan(&plan, given, err);
    if (status == LATHE_OK)
        status = check_own(&plan, err);
    if (status != LATHE_OK)
        return status;

    struct lt_builder *b = lt_builder_create(plan.arch, plan.annotate != LATHE_OFF, allocator);

    if (!b)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory to emit a kernel");
    lt_variant_of(&plan)->emit(b, &plan);
    return lt_kernel_create(kernel, &b, &plan, allocator, err);
}
