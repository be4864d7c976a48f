#include "templates/registry.h"

#if defined(LT_CODEGEN_BUILDER_H) || defined(LT_CODEGEN_ARCH_H)
#error "runtime/ sees the kernels through registry.h, not the language that they are written in"
#endif

#include "tests/support/child.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/fail_allocator.h"
#include "tests/support/ptx_assert.h"
#include "tests/templates/fixture.h"

#include <stdio.h>
#include <string.h>

/* ---- Variants ---- */

static void every_variant_is_found_by_its_name_and_can_do_its_work(void **state)
{
    (void)state;

    assert_true(lt_variant_count >= 1);
    for (size_t i = 0; i < lt_variant_count; i++) {
        const struct lt_variant *variant = &lt_variants[i];

        for (int j = 0; variant->archs[j] != LATHE_ARCH_DEFAULT; j++)
            assert_ptr_equal(lt_variant_find(variant->family, variant->archs[j], variant->name),
                             variant);
        assert_int_not_equal(variant->archs[0], LATHE_ARCH_DEFAULT);
        assert_true(variant->choose && variant->check);
        assert_true(strlen(variant->doc) > 0 && strlen(variant->name) < 30);
    }
}

static void without_a_name_an_architecture_has_one_variant_or_none(void **state)
{
    (void)state;

    assert_string_equal(lt_variant_find(LATHE_GEMM, LATHE_SM_90A, "")->name, "hopper-best");
    assert_string_equal(lt_variant_find(LATHE_GEMM, LATHE_SM_100A, "")->name, "blackwell-best");
    assert_string_equal(lt_variant_find(LATHE_GEMM, LATHE_SM_103A, "")->name, "blackwell-best");
    assert_null(lt_variant_find(LATHE_GEMM, LATHE_SM_80, ""));
    assert_null(lt_variant_find(LATHE_GEMM, LATHE_SM_90A, "hopper-worst"));
    assert_null(lt_variant_find(LATHE_FAMILY_NONE, LATHE_SM_90A, ""));
}

static void a_capability_leads_to_its_architecture_and_to_no_other(void **state)
{
    (void)state;
    static const struct {
        int major, minor;
        enum lathe_arch arch;
    } devices[] = {
        {8, 0, LATHE_SM_80},        {8, 6, LATHE_SM_86},         {8, 9, LATHE_SM_89},
        {9, 0, LATHE_SM_90A},       {10, 0, LATHE_SM_100A},      {10, 3, LATHE_SM_103A},
        {11, 0, LATHE_SM_110A},     {12, 0, LATHE_SM_120A},      {7, 5, LATHE_ARCH_DEFAULT},
        {8, 7, LATHE_ARCH_DEFAULT}, {12, 1, LATHE_ARCH_DEFAULT}, {0, 0, LATHE_ARCH_DEFAULT},
    };

    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        assert_int_equal(lt_arch_of_capability(devices[i].major, devices[i].minor),
                         devices[i].arch);
}

static void the_default_architecture_has_kernels(void **state)
{
    (void)state;

    assert_non_null(lt_variant_find(LATHE_GEMM, lt_default_arch(), ""));
}

/* ---- Planning: versions of the structs ---- */

static void a_plan_needs_a_problem_and_a_place(void **state)
{
    (void)state;
    struct lathe_plan plan = LATHE_PLAN_INIT;
    struct lathe_error err = {0};

    assert_int_equal(lathe_plan_gemm(NULL, lathe_gemm(.m = 64, .n = 64, .k = 64), NULL, &err),
                     LATHE_MISUSED);
    assert_int_equal(err.status, LATHE_MISUSED);
    assert_int_equal(lathe_plan_gemm(&plan, NULL, NULL, &err), LATHE_MISUSED);
    assert_int_equal(lathe_plan_gemm(&plan, NULL, NULL, NULL), LATHE_MISUSED);
}

/* The first header that was given out; programs that were compiled with it go on working. */
static void what_the_first_header_had_stands_where_it_stood(void **state)
{
    (void)state;
    struct first_options {
        size_t struct_size;
        int arch;
        char variant[48];
        int tile[3], cluster[3], cta_group, stages, consumers, schedule, raster, epilogue[3], split,
            regs[2], annotate, sms;
    };
    struct first_choices {
        int tile[3], cluster[3], cta_group, stages, consumers, schedule, raster, epilogue[3], split,
            regs[2], annotate, sms, threads, tenant_count;
    };
    const size_t choices = offsetof(struct lathe_plan, tile);

#define ASSERT_OPTION(field)                                                                       \
    assert_int_equal(offsetof(struct lathe_plan_options, field),                                   \
                     offsetof(struct first_options, field))
    ASSERT_OPTION(consumers);
    ASSERT_OPTION(schedule);
    ASSERT_OPTION(epilogue);
    ASSERT_OPTION(sms);
    assert_int_equal(offsetof(struct lathe_plan_options, acc_stages), sizeof(struct first_options));
#undef ASSERT_OPTION
#define ASSERT_CHOICE(field)                                                                       \
    assert_int_equal(offsetof(struct lathe_plan, field) - choices,                                 \
                     offsetof(struct first_choices, field))
    ASSERT_CHOICE(consumers);
    ASSERT_CHOICE(schedule);
    ASSERT_CHOICE(sms);
    ASSERT_CHOICE(tenant_count);
#undef ASSERT_CHOICE
    assert_int_equal(offsetof(struct lathe_plan, acc_stages),
                     offsetof(struct lathe_plan, reason) + sizeof((struct lathe_plan *)0)->reason);
}

static void a_problem_of_an_older_header_has_defaults_for_what_it_lacks(void **state)
{
    (void)state;
    struct lathe_gemm old;
    struct lathe_plan plan = LATHE_PLAN_INIT;

    memset(&old, 0x5a, sizeof old);
    old.m = old.n = old.k = 64;
    old.struct_size = offsetof(struct lathe_gemm, type);

    assert_int_equal(lathe_plan_gemm(&plan, &old, NULL, NULL), LATHE_OK);
    assert_int_equal(plan.type, LATHE_F16);
}

static void a_problem_of_a_newer_header_is_read_as_far_as_it_is_known(void **state)
{
    (void)state;
    struct {
        struct lathe_gemm gemm;
        char more[40];
    } new = {.gemm = LATHE_GEMM_INIT};
    struct lathe_plan plan = LATHE_PLAN_INIT, same = LATHE_PLAN_INIT;

    new.gemm.struct_size = sizeof new;
    new.gemm.m = new.gemm.n = new.gemm.k = 640;
    memset(new.more, 0, sizeof new.more);

    assert_int_equal(lathe_plan_gemm(&plan, &new.gemm, NULL, NULL), LATHE_OK);
    assert_int_equal(lathe_plan_gemm(&same, lathe_gemm(.m = 640, .n = 640, .k = 640), NULL, NULL),
                     LATHE_OK);
    assert_memory_equal(&plan, &same, sizeof plan);
}

static void options_of_older_and_newer_headers_are_read_as_far_as_they_go(void **state)
{
    (void)state;
    struct {
        struct lathe_plan_options options;
        char more[40];
    } new;
    struct lathe_plan plan = LATHE_PLAN_INIT;
    const struct lathe_gemm *problem = lathe_gemm(.m = 4096, .n = 4096, .k = 4096);

    memset(&new, 0, sizeof new);
    new.options.struct_size = sizeof new;
    new.options.arch = LATHE_SM_90A;
    new.options.stages = 2;
    assert_int_equal(lathe_plan_gemm(&plan, problem, &new.options, NULL), LATHE_OK);
    assert_int_equal(plan.stages, 2);

    memset(&new.options.consumers, 0x5a,
           sizeof new - offsetof(struct lathe_plan_options, consumers));
    new.options.struct_size = offsetof(struct lathe_plan_options, consumers);
    assert_int_equal(lathe_plan_gemm(&plan, problem, &new.options, NULL), LATHE_OK);
    assert_int_equal(plan.stages, 2);
    assert_int_equal(plan.consumers, 2);
}

static void a_plan_of_an_older_header_is_written_as_far_as_it_goes(void **state)
{
    (void)state;
    union {
        struct lathe_plan plan;
        unsigned char bytes[sizeof(struct lathe_plan)];
    } old;
    size_t size = offsetof(struct lathe_plan, predicted_ns);

    memset(&old, 0x5a, sizeof old);
    old.plan.struct_size = size;

    assert_int_equal(lathe_plan_gemm(&old.plan, lathe_gemm(.m = 64, .n = 64, .k = 64), NULL, NULL),
                     LATHE_OK);
    assert_int_equal(old.plan.struct_size, size);
    assert_budget_adds_up(&old.plan);
    for (size_t i = size; i < sizeof old; i++)
        assert_int_equal(old.bytes[i], 0x5a);

    /* Such a plan can be checked and emitted too. */
    struct lathe_kernel *kernel = NULL;

    assert_int_equal(lathe_plan_check(&old.plan, NULL), LATHE_OK);
    assert_int_equal(lathe_emit(&kernel, &old.plan, NULL, NULL), LATHE_OK);
    lathe_kernel_destroy(&kernel);
}

static void a_plan_of_the_first_header_is_checked_and_emitted_as_its_variant_is(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "gemm m=512 n=512 k=512 tile=128x128x64",
        "gemm m=512 n=512 k=512 arch=sm_100a variant=blackwell-8",
    };

    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        struct lathe_plan whole = plan_of(requests[i]), old = whole;
        size_t size = offsetof(struct lathe_plan, acc_stages);

        memset((char *)&old + size, 0x5a, sizeof old - size);
        old.struct_size = size;
        assert_int_equal(lathe_plan_check(&old, NULL), LATHE_OK);
        assert_int_equal(old.struct_size, size);
        assert_memory_equal(&old.family, &whole.family, size - offsetof(struct lathe_plan, family));
        old.raster = 0; /* which that header had: left out it is refused */
        assert_int_equal(lathe_plan_check(&old, NULL), LATHE_OUT_OF_RANGE);
    }

    struct lathe_plan old = plan_of(requests[0]);
    struct lathe_kernel *kernel = NULL, *same = kernel_of(requests[0]);

    old.struct_size = offsetof(struct lathe_plan, acc_stages);
    assert_int_equal(lathe_emit(&kernel, &old, NULL, NULL), LATHE_OK);
    assert_string_equal(lathe_kernel_text(kernel, NULL), lathe_kernel_text(same, NULL));
    lathe_kernel_destroy(&same);
    lathe_kernel_destroy(&kernel);
}

static int check_plans_of_every_size(void)
{
    struct lathe_plan whole = plan_of("gemm m=512 n=512 k=512");
    int accepted = 0;

    for (size_t size = sizeof size + 1; size <= sizeof whole; size++) {
        struct lathe_plan plan = whole;

        plan.struct_size = size;
        accepted += lathe_plan_check(&plan, NULL) == LATHE_OK;
        plan.type = plan.out = LATHE_TYPE_DEFAULT;
        accepted += lathe_plan_check(&plan, NULL) == LATHE_OK;
    }
    return accepted > 0 ? 0 : 1;
}

static void a_plan_of_any_size_is_a_plan_or_refused(void **state)
{
    (void)state;

    assert_int_equal(result_in_child(check_plans_of_every_size), 0);
}

static void a_plan_of_a_newer_header_keeps_what_is_not_known(void **state)
{
    (void)state;
    struct {
        struct lathe_plan plan;
        unsigned char more[40];
    } new = {.plan = LATHE_PLAN_INIT};
    struct lathe_kernel *kernel = NULL;

    memset(new.more, 0x5a, sizeof new.more);
    new.plan.struct_size = sizeof new;

    assert_int_equal(lathe_plan_gemm(&new.plan, lathe_gemm(.m = 64, .n = 64, .k = 64), NULL, NULL),
                     LATHE_OK);
    assert_int_equal(new.plan.struct_size, sizeof new);
    for (size_t i = 0; i < sizeof new.more; i++)
        assert_int_equal(new.more[i], 0x5a);
    assert_int_equal(lathe_emit(&kernel, &new.plan, NULL, NULL), LATHE_MISUSED);

    memset(new.more, 0, sizeof new.more);
    assert_int_equal(lathe_emit(&kernel, &new.plan, NULL, NULL), LATHE_OK);
    assert_int_equal(lathe_kernel_plan(kernel)->struct_size, sizeof(struct lathe_plan));
    lathe_kernel_destroy(&kernel);
}

static void a_struct_that_no_macro_made_is_refused(void **state)
{
    (void)state;
    struct lathe_gemm bare = {.m = 64, .n = 64, .k = 64};
    struct lathe_plan_options options = {.stages = 4};
    struct lathe_plan plan = LATHE_PLAN_INIT, bare_plan = {.stages = 4};
    struct lathe_kernel *kernel = NULL;
    const struct lathe_gemm *problem = lathe_gemm(.m = 64, .n = 64, .k = 64);
    struct lathe_error err;

    assert_int_equal(lathe_plan_gemm(&plan, &bare, NULL, &err), LATHE_MISUSED);
    assert_string_equal(err.message, "struct lathe_gemm with a struct_size of 0: make it with its "
                                     "_INIT macro");
    assert_int_equal(lathe_plan_gemm(&plan, problem, &options, NULL), LATHE_MISUSED);
    assert_int_equal(lathe_plan_gemm(&bare_plan, problem, NULL, NULL), LATHE_MISUSED);
    assert_int_equal(lathe_plan_check(&bare_plan, NULL), LATHE_MISUSED);
    assert_int_equal(lathe_plan_parse(&bare_plan, "gemm", NULL), LATHE_MISUSED);
    assert_int_equal(lathe_emit(&kernel, &bare_plan, NULL, NULL), LATHE_MISUSED);
    assert_int_equal(lathe_plan_check(NULL, NULL), LATHE_MISUSED);
    assert_int_equal(lathe_plan_parse(&plan, NULL, NULL), LATHE_MISUSED);
    assert_int_equal(lathe_emit(NULL, &plan, NULL, NULL), LATHE_MISUSED);
}

static void a_refused_request_leaves_the_plan_as_it_was(void **state)
{
    (void)state;
    struct lathe_plan plan, before;

    memset(&plan, 0x5a, sizeof plan);
    plan.struct_size = sizeof plan;
    before = plan;

    assert_int_equal(lathe_plan_gemm(&plan, lathe_gemm(.m = 64, .n = 64, .k = 63), NULL, NULL),
                     LATHE_UNSUPPORTED);
    assert_memory_equal(&plan, &before, sizeof plan);
}

/* ---- Reading ---- */

static void assert_unread(const char *text, enum lathe_status status, const char *part)
{
    struct lathe_plan plan, before;
    struct lathe_error err = {0};

    memset(&plan, 0x5a, sizeof plan);
    plan.struct_size = sizeof plan;
    before = plan;
    assert_int_equal(lathe_plan_parse(&plan, text, &err), status);
    assert_has(err.message, part);
    assert_memory_equal(&plan, &before, sizeof plan);
}

static void what_is_read_is_checked(void **state)
{
    (void)state;

    assert_unread("gemm stages=4", LATHE_OUT_OF_RANGE,
                  "arch is missing; known: sm_80 sm_86 sm_89 sm_90a sm_100a sm_103a sm_110a "
                  "sm_120a");
    assert_unread("{\"stages\":4}", LATHE_BAD_WORD, "family is missing; a plan begins with: gemm");
    assert_unread("gemm arch=sm_90a stages=4", LATHE_OUT_OF_RANGE, "variant is missing");
    assert_unread("gemm arch=sm_90a variant=hopper-best stages=4", LATHE_OUT_OF_RANGE,
                  "tile is missing: each number must be 1 to 4096");
    assert_unread("gemm arch=sm_90a variant=hopper-best tile=64x64x64 cluster=1x1x1 cta_group=1",
                  LATHE_OUT_OF_RANGE, "stages is missing: must be a whole number from 1 to 64");
    assert_unread("gemm arch=sm_80", LATHE_UNSUPPORTED, "arch=sm_80");
    assert_unread("nonsense", LATHE_BAD_WORD, "no such family");
    assert_unread("gemm type=f16 out=f16 layout=tn beta=0 static=none arch=sm_90a "
                  "variant=hopper-best tile=128x256x64 cluster=1x1x1 cta_group=1 stages=9 "
                  "consumers=2 acc_stages=1 load=tma store=tma flow=specialised mma=wgmma acc=f32 "
                  "stage_index=runtime mma_groups=2 "
                  "schedule=persistent raster=16 epilogue=128x64x2 split=1 annotate=1 sms=132",
                  LATHE_DOES_NOT_FIT, "needs ");
}

static void what_follows_is_never_believed(void **state)
{
    (void)state;
    struct lathe_plan plan = plan_of("gemm m=4096 n=4096 k=4096 tile=128x128x64");
    struct lathe_plan read = LATHE_PLAN_INIT;
    char json[4096];
    char *bytes;

    lathe_plan_json(&plan, json, sizeof json);
    bytes = strstr(json, "\"smem\":{\"bytes\":");
    assert_non_null(bytes);
    memcpy(bytes + strlen("\"smem\":{\"bytes\":"), "1111", 4);

    assert_int_equal(lathe_plan_parse(&read, json, NULL), LATHE_OK);
    assert_budget_adds_up(&read);
    assert_int_equal(read.smem_bytes, plan.smem_bytes);
}

static void every_sample_is_read_back_from_words_and_from_json(void **state)
{
    (void)state;

    for (int i = 0; i < sample_count; i++) {
        struct lathe_plan plan = plan_of(sample_requests[i]);
        struct lathe_plan from_words = LATHE_PLAN_INIT, from_json = LATHE_PLAN_INIT;
        char text[4096];

        lathe_plan_words(&plan, text, sizeof text);
        assert_int_equal(lathe_plan_parse(&from_words, text, NULL), LATHE_OK);
        lathe_plan_json(&plan, text, sizeof text);
        assert_int_equal(lathe_plan_parse(&from_json, text, NULL), LATHE_OK);

        /* Estimate and reason are the planner's, about the problem: no plan is read with them. */
        plan.predicted_ns = 0;
        memset(plan.reason, 0, sizeof plan.reason);
        assert_memory_equal(&from_json, &plan, sizeof plan);
        assert_memory_equal(&from_words, &plan, sizeof plan);
    }
}

/* ---- Emitting ---- */

static void a_plan_that_cannot_exist_is_not_emitted(void **state)
{
    (void)state;
    struct lathe_plan plan = plan_of("gemm m=4096 n=4096 k=4096 tile=128x256x64");
    struct lathe_kernel *kernel = NULL;
    struct lathe_error err = {0};

    plan.stages = 9;

    assert_int_equal(lathe_emit(&kernel, &plan, NULL, &err), LATHE_DOES_NOT_FIT);
    assert_int_equal(err.needs_bytes, 1024 + 9 * 49152 + 32768);
    assert_null(kernel);
}

static void what_a_plan_says_to_follow_is_not_believed_when_emitting(void **state)
{
    (void)state;
    struct lathe_plan plan = plan_of(sample_requests[0]), lied = plan;
    struct lathe_kernel *right = NULL, *same = NULL;

    lied.smem_bytes = 7;
    lied.threads = 64;
    lied.tenant_count = 1;
    lied.accumulators = 3;
    assert_int_equal(lathe_emit(&right, &plan, NULL, NULL), LATHE_OK);
    assert_int_equal(lathe_emit(&same, &lied, NULL, NULL), LATHE_OK);

    assert_string_equal(lathe_kernel_text(right, NULL), lathe_kernel_text(same, NULL));
    assert_memory_equal(lathe_kernel_contract(right), lathe_kernel_contract(same),
                        sizeof(struct lathe_contract));
    lathe_kernel_destroy(&right);
    lathe_kernel_destroy(&same);
}

static void emitting_changes_no_plan(void **state)
{
    (void)state;
    struct lathe_plan plan = plan_of(sample_requests[1]), before = plan;
    struct lathe_kernel *kernel = NULL;

    assert_int_equal(lathe_emit(&kernel, &plan, NULL, NULL), LATHE_OK);

    assert_memory_equal(&plan, &before, sizeof plan);
    assert_memory_equal(lathe_kernel_plan(kernel), &before, sizeof plan);
    lathe_kernel_destroy(&kernel);
}

/* Emits while the n-th allocation fails, and those after it too unless memory comes back. */
static enum lathe_status emit_without(const struct lathe_plan *plan, long n, bool recovers)
{
    struct fail_allocator fail;
    struct lathe_kernel *kernel = NULL;
    struct lathe_error err = {0};

    fail_allocator_init(&fail, n);
    fail.recovers = recovers;

    enum lathe_status status = lathe_emit(&kernel, plan, &fail.allocator, &err);

    assert_true(status == LATHE_OK || status == LATHE_OUT_OF_MEMORY);
    assert_true((status == LATHE_OK) == (kernel != NULL));
    assert_true((status == LATHE_OK) == (fail.calls <= n));
    assert_int_equal(err.status, status);
    assert_true(status == LATHE_OK || strstr(err.message, "memory"));
    lathe_kernel_destroy(&kernel);
    assert_int_equal(fail.live, 0);
    return status;
}

static void every_allocation_may_fail_and_leaves_no_block_behind(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "gemm m=64 n=64 k=64 tile=128x256x64 cluster=2x1x1 beta=any",
        "gemm m=64 n=64 k=64 tile=64x8x64 cluster=1x1x1 annotate=0",
    };

    for (size_t i = 0; i < 2; i++)
        for (int recovers = 0; recovers <= 1; recovers++) {
            struct lathe_plan plan = plan_of(requests[i]);
            long n = 0;

            while (emit_without(&plan, n, recovers) != LATHE_OK)
                n++;
            print_message("# %ld allocations for %s\n", n, requests[i]);
            assert_in_range(n, 3, 1000);
        }
}

static void an_allocator_that_lacks_a_function_is_refused(void **state)
{
    (void)state;
    struct lathe_plan plan = plan_of(sample_requests[0]);
    struct fail_allocator whole;
    struct lathe_allocator lacks[4];
    struct lathe_kernel *kernel = NULL;
    struct lathe_error err = {0};

    fail_allocator_init(&whole, -1);
    for (int i = 0; i < 4; i++)
        lacks[i] = whole.allocator;
    lacks[0].allocate = NULL;
    lacks[1].reallocate = NULL;
    lacks[2].release = NULL;
    lacks[3] = (struct lathe_allocator){0};

    for (int i = 0; i < 4; i++) {
        assert_int_equal(lathe_emit(&kernel, &plan, &lacks[i], &err), LATHE_MISUSED);
        assert_string_equal(err.message, "an allocator needs all three of its functions");
    }
    assert_null(kernel);
}

static void a_kernel_lives_in_the_callers_memory_alone(void **state)
{
    (void)state;
    struct fail_allocator fail;
    struct lathe_plan plan = plan_of(sample_requests[0]);
    struct lathe_kernel *kernel = NULL;

    fail_allocator_init(&fail, -1);

    assert_int_equal(lathe_emit(&kernel, &plan, &fail.allocator, NULL), LATHE_OK);
    assert_int_equal(fail.live, 2);
    lathe_kernel_destroy(&kernel);
    assert_int_equal(fail.live, 0);
}

static void names_of_kernels_say_what_they_are_for(void **state)
{
    (void)state;
    struct lathe_kernel *kernel =
        kernel_of("gemm m=64 n=64 k=64 tile=128x256x64 cluster=2x1x1 type=bf16 out=f32");
    struct lathe_kernel *with_c =
        kernel_of("gemm m=64 n=64 k=64 tile=64x8x128 cluster=1x1x1 stages=3 beta=any");

    assert_string_equal(lathe_kernel_contract(kernel)->name,
                        "lathe_gemm_bf16_f32_128x256x64_s4_c2x1");
    assert_string_equal(lathe_kernel_contract(with_c)->name,
                        "lathe_gemm_f16_f16_64x8x128_s3_c1x1_beta");
    lathe_kernel_destroy(&kernel);
    lathe_kernel_destroy(&with_c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant_is_found_by_its_name_and_can_do_its_work),
        cmocka_unit_test(without_a_name_an_architecture_has_one_variant_or_none),
        cmocka_unit_test(a_capability_leads_to_its_architecture_and_to_no_other),
        cmocka_unit_test(the_default_architecture_has_kernels),
        cmocka_unit_test(a_plan_needs_a_problem_and_a_place),
        cmocka_unit_test(a_problem_of_an_older_header_has_defaults_for_what_it_lacks),
        cmocka_unit_test(a_problem_of_a_newer_header_is_read_as_far_as_it_is_known),
        cmocka_unit_test(options_of_older_and_newer_headers_are_read_as_far_as_they_go),
        cmocka_unit_test(a_plan_of_an_older_header_is_written_as_far_as_it_goes),
        cmocka_unit_test(what_the_first_header_had_stands_where_it_stood),
        cmocka_unit_test(a_plan_of_the_first_header_is_checked_and_emitted_as_its_variant_is),
        cmocka_unit_test(a_plan_of_any_size_is_a_plan_or_refused),
        cmocka_unit_test(a_plan_of_a_newer_header_keeps_what_is_not_known),
        cmocka_unit_test(a_struct_that_no_macro_made_is_refused),
        cmocka_unit_test(a_refused_request_leaves_the_plan_as_it_was),
        cmocka_unit_test(what_is_read_is_checked),
        cmocka_unit_test(what_follows_is_never_believed),
        cmocka_unit_test(every_sample_is_read_back_from_words_and_from_json),
        cmocka_unit_test(a_plan_that_cannot_exist_is_not_emitted),
        cmocka_unit_test(what_a_plan_says_to_follow_is_not_believed_when_emitting),
        cmocka_unit_test(emitting_changes_no_plan),
        cmocka_unit_test(every_allocation_may_fail_and_leaves_no_block_behind),
        cmocka_unit_test(an_allocator_that_lacks_a_function_is_refused),
        cmocka_unit_test(a_kernel_lives_in_the_callers_memory_alone),
        cmocka_unit_test(names_of_kernels_say_what_they_are_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
