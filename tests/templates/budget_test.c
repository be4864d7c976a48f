/* The numbers of the ladders that follow from arithmetic, and the doors around the wall. Source:
 * LADDERS, "Blackwell (sm_100a)" and "Convolution: the stage budget". */
#include "codegen/budget.h"
#include "codegen/fields.h"
#include "include/lathe_tools.h"
#include "templates/gemm_sm100_check.h"
#include "templates/gemm_tile.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"
#include "tests/templates/draw.h"
#include "tests/templates/fixture.h"

#include <stdio.h>
#include <string.h>

#define NOTE "gemm m=4096 n=4096 k=4096 type=f16 out=f32 arch=sm_100a cluster=2x1x1 "
#define ONE_SM NOTE "tile=128x128x64 cta_group=1"
#define TWO_SM NOTE "tile=256x128x64 cta_group=2"

static int bytes_of(const struct lathe_plan *plan, const char *tenant)
{
    return lt_budget_bytes(plan, tenant);
}

static int header_bytes(const struct lathe_plan *plan)
{
    return tenant_of(plan, "stage ring")->offset;
}

/* ---- The two atoms ---- */

static void both_atoms_fill_the_same_bytes_with_six_and_with_eight_stages(void **state)
{
    (void)state;
    struct lathe_plan one = plan_of(ONE_SM), two = plan_of(TWO_SM);

    assert_int_equal(one.stages, 6);
    assert_int_equal(lt_gemm_a_bytes(&one), 16384);
    assert_int_equal(lt_gemm_b_bytes(&one), 16384);
    assert_int_equal(two.stages, 8);
    assert_int_equal(lt_gemm_a_bytes(&two), 16384);
    assert_int_equal(lt_gemm_b_bytes(&two), 8192);
    for (int i = 0; i < 2; i++) {
        const struct lathe_plan *plan = i ? &two : &one;

        assert_int_equal(bytes_of(plan, "stage ring"), 196608);
        assert_int_equal(bytes_of(plan, "epilogue staging"), 2 * 128 * 32 * 4);
        assert_int_equal(header_bytes(plan), 1024);
        assert_int_equal(plan->smem_bytes, 230400);
        assert_int_equal(plan->smem_limit, 232448);
        assert_budget_adds_up(plan);
    }
}

static struct lathe_error refusal_of(const char *words)
{
    struct lathe_plan plan;
    struct lathe_error err = {0};

    assert_int_equal(plan_words(&plan, words, &err), LATHE_DOES_NOT_FIT);
    return err;
}

static void assert_door(const struct lathe_error *err, const char *words)
{
    for (int i = 0; i < err->fits_count; i++)
        if (strcmp(err->fits_with[i], words) == 0)
            return;
    fail_msg("%s is no door", words);
}

static void a_seventh_stage_leads_to_the_pair(void **state)
{
    (void)state;
    struct lathe_error err = refusal_of(ONE_SM " stages=7");

    assert_int_equal(err.needs_bytes, 263168);
    assert_int_equal(err.limit_bytes, 232448);
    assert_string_equal(err.fits_with[0], "cta_group=2 tile=256x128x64 stages=8");
    assert_door(&err, "tile=128x80x64 stages=7");
    assert_door(&err, "stages=6");
}

static void a_ninth_stage_leads_to_the_doors_of_the_note(void **state)
{
    (void)state;
    struct lathe_error err = refusal_of(TWO_SM " stages=9");

    assert_int_equal(err.needs_bytes, 254976);
    assert_int_equal(err.limit_bytes, 232448);
    assert_string_equal(err.fits_with[0], "epilogue=128x16x1 stages=9");
    assert_door(&err, "out=e4m3 stages=9");
    assert_door(&err, "tile=256x80x64 stages=9");
    assert_door(&err, "tile=128x128x64 stages=12");
    assert_door(&err, "stages=8");
    for (int i = 0; i < err.fits_count; i++)
        assert_null(strstr(err.fits_with[i], "out=f16")); /* which has 8 stages as well */
    assert_int_equal(plan_of(TWO_SM " out=f16").stages, 8);
}

/* ---- The ladders ---- */

static void barriers_expect_the_bytes_of_the_ladder(void **state)
{
    (void)state;
    static const struct {
        const char *variant;
        int bytes;
    } steps[] = {{"blackwell-7", 32768}, {"blackwell-8", 65536}, {"blackwell-9", 98304}};

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        char words[WORDS_MAX];
        struct lathe_plan plan;

        snprintf(words, sizeof words, "gemm m=4096 n=4096 k=4096 arch=sm_100a variant=%s",
                 steps[i].variant);
        plan = plan_of(words);
        assert_int_equal(lt_gemm_expected_bytes(&plan), steps[i].bytes);
    }
}

static void what_threads_copy_needs_no_barrier_to_be_full(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        int barriers; /* of 8 bytes */
    } cases[] = {
        {"variant=blackwell-1", 1}, /* the MMA's */
        {"variant=blackwell-7 load=threads", 1},
        {"variant=blackwell-4", 1 + 1},
        {"variant=blackwell-3 flow=pipelined stages=3", 3 + 3},
        {"variant=blackwell-3 flow=specialised stages=3", 3 + 3 + 2},
        {"variant=blackwell-7 stages=3", 3 + 3 + 2},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[WORDS_MAX];
        struct lathe_plan plan;

        snprintf(words, sizeof words, "gemm m=4096 n=4096 k=4096 arch=sm_100a %s", cases[i].words);
        plan = plan_of(words);
        assert_int_equal(bytes_of(&plan, "barriers"), 8 * cases[i].barriers);
        assert_int_equal(lt_gemm_expected_bytes(&plan),
                         plan.load == LATHE_COPY_TMA ? lt_gemm_stage_bytes(&plan) : 0);
    }
}

static void without_a_producer_each_cta_fetches_for_itself_alone(void **state)
{
    (void)state;
    static const char *const rungs[] = {"3", "3 cluster=4x2x1", "4 cluster=2x1x1",
                                        "6 cluster=4x2x1"};

    for (int i = 0; i < 4; i++) {
        char words[WORDS_MAX];
        struct lathe_plan plan;

        snprintf(words, sizeof words, "gemm m=4096 n=4096 k=4096 arch=sm_100a variant=blackwell-%s",
                 rungs[i]);
        plan = plan_of(words);
        assert_true(lt_gemm_l2_bytes(&plan) == (128 + 128) * 2 / (2.0 * 128 * 128));
    }
}

static void what_a_cluster_shares_comes_from_l2_once(void **state)
{
    (void)state;
    struct lathe_plan four = plan_of(
        "gemm m=4096 n=4096 k=4096 arch=sm_100a variant=blackwell-8 tile=256x128x64 cluster=4x1x1");
    struct lathe_plan eight =
        plan_of("gemm m=4096 n=4096 k=4096 arch=sm_100a variant=blackwell-7 cluster=4x2x1");

    assert_true(lt_gemm_l2_bytes(&four) == (512 + 128) * 2 / (2.0 * 512 * 128));
    assert_true(lt_gemm_l2_bytes(&eight) == (512 + 256) * 2 / (2.0 * 512 * 256));
}

static void step_nine_takes_what_its_source_says(void **state)
{
    (void)state;
    struct lathe_plan plan = plan_of("gemm m=4096 n=4096 k=4096 arch=sm_100a variant=blackwell-9");

    assert_int_equal(plan.smem_bytes, 1024 + 4 * (2 * 16384 + 16384) + 2 * 128 * 64 * 2);
    assert_int_equal(plan.smem_bytes, 230400);
    assert_int_equal(plan.tmem_columns, 512);
    assert_int_equal(plan.consumers, 2);
    assert_int_equal(plan.threads, 384);
}

static void five_stages_of_hopper_are_the_bytes_of_the_ladder(void **state)
{
    (void)state;
    struct lathe_error err = refusal_of("gemm m=4096 n=4096 k=4096 tile=128x256x64 stages=5");

    assert_has(err.message, "the stage ring takes 245760 (5 stages of 49152)");
}

static void every_step_of_the_ladder_is_a_plan(void **state)
{
    (void)state;
    static const struct {
        const char *variant, *tile;
        int stages, threads, tmem_columns, smem_bytes;
    } steps[] = {
        {"blackwell-1", "tile=128x128x64 ", 1, 128, 128, 1024 + 32768},
        {"blackwell-2", "tile=128x128x64 ", 1, 128, 128, 1024 + 32768},
        {"blackwell-3", "tile=128x128x64 ", 1, 128, 128, 1024 + 32768},
        {"blackwell-4", "tile=128x128x64 ", 1, 128, 128, 1024 + 32768 + 16384},
        {"blackwell-5", "tile=128x128x64 ", 2, 128, 128, 1024 + 65536 + 16384},
        {"blackwell-6", "tile=128x128x64 ", 2, 128, 128, 1024 + 65536 + 16384},
        {"blackwell-7", "tile=128x128x64 ", 2, 256, 128, 1024 + 65536 + 16384},
        {"blackwell-8", "tile=256x256x64 ", 4, 256, 256, 1024 + 131072 + 16384},
        {"blackwell-9", "tile=512x256x64 ", 4, 384, 512, 230400},
        {"blackwell-best", "tile=256x256x64 ", 6, 256, 512, 1024 + 196608 + 16384},
    };
    static const char *const archs[] = {"sm_100a", "sm_103a"};

    for (size_t i = 0; i < 2 * sizeof steps / sizeof steps[0]; i++) {
        char words[WORDS_MAX], printed[1024];
        struct lathe_plan plan;

        snprintf(words, sizeof words, "gemm m=4096 n=4096 k=4096 arch=%s variant=%s", archs[i % 2],
                 steps[i / 2].variant);
        plan = plan_of(words);
        lathe_plan_words(&plan, printed, sizeof printed);
        assert_has(printed, steps[i / 2].tile);
        assert_string_equal(plan.variant, steps[i / 2].variant);
        assert_int_equal(plan.stages, steps[i / 2].stages);
        assert_int_equal(plan.threads, steps[i / 2].threads);
        assert_int_equal(plan.tmem_columns, steps[i / 2].tmem_columns);
        assert_int_equal(plan.smem_bytes, steps[i / 2].smem_bytes);
        assert_budget_adds_up(&plan);
    }
}

/* The keys of the fields in which two plans differ, but for their labels. */
static void print_differences(const struct lathe_plan *a, const struct lathe_plan *b, char *keys,
                              size_t size)
{
    size_t length = 0;

    keys[0] = '\0';
    for (size_t i = 0; i < lt_plan_field_count; i++) {
        const struct lt_field *field = &lt_plan_fields[i];

        if (field->kind == LT_NAME ||
            memcmp((const char *)a + field->plan_offset, (const char *)b + field->plan_offset,
                   lt_field_bytes(field)) == 0)
            continue;
        length += (size_t)snprintf(keys + length, size - length, "%s%s", length > 0 ? " " : "",
                                   field->key);
        assert_true(length < size);
    }
}

/* In the field that is the idea, in what only follows from it, and in nothing else. */
static void neighbours_on_the_ladder_differ_where_the_idea_does(void **state)
{
    (void)state;
    static const char *const ideas[] = {
        "flow",                          /* the barrier goes on by its phase     */
        "schedule",                      /* a CTA for each tile                  */
        "load store epilogue",           /* TMA, which stores through a staging  */
        "stages flow",                   /* a ring                               */
        "schedule raster",               /* tiles are walked, so in some order   */
        "flow",                          /* roles                                */
        "tile cluster cta_group stages", /* pairs, with the tile of two CTAs     */
        "tile consumers epilogue",       /* two accumulators share B             */
    };
    struct lathe_plan plans[9];

    for (int i = 0; i < 9; i++) {
        char words[WORDS_MAX];

        snprintf(words, sizeof words, "gemm m=512 n=512 k=512 arch=sm_100a variant=blackwell-%d",
                 i + 1);
        plans[i] = plan_of(words);
    }
    for (int i = 0; i < 8; i++) {
        char keys[256];

        print_differences(&plans[i], &plans[i + 1], keys, sizeof keys);
        assert_string_equal(keys, ideas[i]);
    }
    assert_int_equal(plans[0].flow, LATHE_STEPWISE);
    assert_int_equal(plans[1].flow, LATHE_SERIAL);
    assert_int_equal(plans[2].schedule, LATHE_GRID);
    assert_int_equal(plans[3].load, LATHE_COPY_TMA);
    assert_int_equal(plans[4].flow, LATHE_PIPELINED);
    assert_int_equal(plans[5].schedule, LATHE_PERSISTENT);
    assert_int_equal(plans[6].flow, LATHE_SPECIALISED);
    assert_int_equal(plans[7].cta_group, 2);
    assert_int_equal(plans[8].consumers, 2);
}

/* ---- What is chosen and what is named ---- */

/* The plan's words without its label. */
static void choices_of(const struct lathe_plan *plan, char *words, size_t size)
{
    struct lathe_plan same = *plan;

    snprintf(same.variant, sizeof same.variant, "blackwell-best");
    lathe_plan_words(&same, words, size);
}

static void assert_naming_what_was_chosen_moves_nothing(const char *words)
{
    struct lathe_plan plan = plan_of(words);
    char chosen[1024];

    choices_of(&plan, chosen, sizeof chosen);
    for (size_t i = 0; i < lt_plan_field_count; i++) {
        const struct lt_field *field = &lt_plan_fields[i];
        const char *storage = (const char *)&plan + field->plan_offset;
        struct lt_text value = {0};
        char again[2 * WORDS_MAX], named[1024];
        struct lathe_plan other;

        if (field->kind == LT_NAME || !lt_field_is_set(field, storage))
            continue;
        lt_field_print(field, storage, &value);
        snprintf(again, sizeof again, "%s %s=%s", words, field->key, value.data);
        other = plan_of(again);
        choices_of(&other, named, sizeof named);
        if (strcmp(chosen, named) != 0)
            fail_msg("%s\nchose  %s\nbut with %s=%s  %s", words, chosen, field->key, value.data,
                     named);
        lt_text_free(&value);
    }
}

static void naming_what_was_chosen_moves_nothing(void **state)
{
    (void)state;
    static const int sizes[] = {64, 128, 200, 512, 1000, 2048, 4096, 5120, 8192, 16384};
    static const char *const more[] = {"",
                                       " load=threads",
                                       " flow=pipelined",
                                       " flow=serial",
                                       " store=threads",
                                       " schedule=dynamic",
                                       " cta_group=1",
                                       " cta_group=2",
                                       " out=f32",
                                       " acc_stages=1",
                                       " type=e4m3"};

    draw_from(0x452821e638d01377);
    for (int i = 0; i < 400; i++) {
        char words[WORDS_MAX];

        snprintf(words, sizeof words, "gemm m=%d n=%d k=%d arch=sm_100a%s", PICK(sizes),
                 PICK(sizes), 16 * (1 + (int)draw(400)), PICK(more));
        assert_naming_what_was_chosen_moves_nothing(words);
    }
}

/* ---- Tensor memory ---- */

static void accumulators_take_columns_of_tensor_memory(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        int columns;
    } cases[] = {
        {"tile=128x32x64 cta_group=1 acc_stages=1", 32},
        {"tile=128x96x64 cta_group=1 acc_stages=1", 128}, /* a power of two */
        {"tile=128x96x64 cta_group=1 acc_stages=2", 256},
        {"tile=64x128x64 cta_group=1 acc_stages=1", 128}, /* half the lanes stay free */
        {"tile=256x256x64 cta_group=2 acc_stages=2", 512},
        {"tile=128x256x64 cta_group=2 acc_stages=2", 256}, /* 64 rows, folded over 128 lanes */
        {"tile=512x256x64 cta_group=2 acc_stages=1", 512},
        {"tile=512x128x64 cta_group=2 acc_stages=2", 512},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[WORDS_MAX];

        snprintf(words, sizeof words, "gemm m=4096 n=4096 k=4096 arch=sm_100a %s", cases[i].words);
        assert_int_equal(plan_of(words).tmem_columns, cases[i].columns);
    }
}

static void a_staging_is_no_larger_than_an_accumulator(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        int rows, columns;
    } cases[] = {
        {"tile=128x128x64 cta_group=1", 128, 32},
        {"tile=128x16x64 cta_group=1", 128, 16},
        {"tile=64x128x64 cta_group=1", 64, 32}, /* 64 lanes */
        {"tile=128x128x64 cta_group=2", 128, 32},
        {"tile=128x32x64 cta_group=2", 128, 16},          /* folded */
        {"tile=128x96x64 cta_group=2 out=e4m3", 128, 32}, /* 48 columns */
        {"tile=256x32x64 cta_group=2", 128, 32},
        {"variant=blackwell-9", 128, 64},
        {"variant=blackwell-9 out=f32", 128, 32}, /* 128 bytes */
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[WORDS_MAX];
        struct lathe_plan plan;

        snprintf(words, sizeof words, "gemm m=4096 n=4096 k=4096 arch=sm_100a %s", cases[i].words);
        plan = plan_of(words);
        assert_int_equal(plan.epilogue[0], cases[i].rows);
        assert_int_equal(plan.epilogue[1], cases[i].columns);
        assert_int_equal(plan.epilogue[2], 2);
    }
}

static void too_many_columns_are_refused_without_bytes(void **state)
{
    (void)state;
    struct lathe_error err =
        refusal_of("gemm m=4096 n=4096 k=4096 arch=sm_100a tile=512x256x64 acc_stages=2");

    assert_has(err.message, "needs 1024 columns of tensor memory and an SM has 512");
    assert_int_equal(err.needs_bytes, 0);
    assert_int_equal(err.limit_bytes, 0);
    assert_door(&err, "cta_group=2 cluster=2x1x1 acc_stages=1 stages=4");
}

/* ---- Rules of the architecture ---- */

static void every_rule_of_blackwell_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *words, *part;
    } refusals[] = {
        {"type=f32", "type=f32: the tensor cores of sm_100a multiply f16 bf16 tf32 e4m3 e5m2 int8"},
        {"type=int8 arch=sm_103a", "multiply f16 bf16 tf32 e4m3 e5m2"},
        {"type=int8 out=f32", "out=f32: from type=int8 there is s32"},
        {"out=s32", "from type=f16 there is f32 f16 bf16 e4m3 e5m2"},
        {"tile=192x128x64", "a tile has 128 or 256 rows"},
        {"tile=128x128x64 cta_group=2 consumers=2", "a tile has 256 or 512 rows"},
        {"tile=128x72x64", "the columns of a tile are a multiple of 16 up to 256"},
        {"tile=128x264x64", "up to 256"},
        {"tile=128x48x64 cta_group=2 out=e4m3",
         "24 columns of a row, which are stored in whole 16"},
        {"tile=64x24x64 out=e5m2 store=threads", "24 columns of a row"},
        {"tile=128x128x32", "the k of a tile is a multiple of 64 up to 256"},
        {"cta_group=2 cluster=1x2x1", "the two CTAs of a pair lie along m"},
        {"variant=blackwell-6 cta_group=2", "pairs are fed by load=tma flow=specialised"},
        {"variant=blackwell-4 stages=2", "what is loaded is waited for at once; stages=1"},
        {"variant=blackwell-5 stages=1", "loading ahead takes at least stages=2"},
        {"variant=blackwell-6 acc_stages=2", "takes flow=specialised"},
        {"variant=blackwell-6 schedule=dynamic", "a warp of its own asks for tiles"},
        {"variant=blackwell-3 epilogue=128x32x2", "threads store from registers"},
        {"epilogue=64x32x2", "the staging has 128 rows"},
        {"tile=64x128x64 epilogue=128x32x2", "the staging has 64 rows"},
        {"tile=128x32x64 cta_group=2 epilogue=128x32x2", "no more than the 16 columns"},
        {"out=f32 epilogue=128x64x2", "16 to 128 bytes"},
        {"split=2", "split=2: kernels have split=1 so far"},
        {"consumers=3", "consumers=3"},
    };

    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        char words[WORDS_MAX];

        snprintf(words, sizeof words, "gemm m=4096 n=4096 k=4096 %s%s",
                 strstr(refusals[i].words, "arch=") ? "" : "arch=sm_100a ", refusals[i].words);
        assert_refused(words, LATHE_UNSUPPORTED, refusals[i].part);
    }
}

static void a_dynamic_schedule_has_a_reply_in_its_header(void **state)
{
    (void)state;
    struct lathe_plan plan = plan_of("gemm m=4096 n=4096 k=4096 arch=sm_100a schedule=dynamic");

    assert_int_equal(tenant_of(&plan, "scheduler reply")->offset % 16, 0);
    assert_int_equal(header_bytes(&plan), 1024);
    assert_budget_adds_up(&plan);
}

/* Two clusters on the same multiprocessors could each wait for the tensor memory that the other's
 * first CTA has. */
static void a_cluster_has_no_more_ctas_beside_it_than_tensor_memory_is_for(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        int ctas; /* for which tensor memory is there */
    } cases[] = {
        {"tile=128x256x64 acc_stages=2 cluster=2x1x1", 1},
        {"tile=128x128x64 acc_stages=2 cluster=2x1x1", 2},
        {"tile=128x64x64 acc_stages=2 cluster=1x2x1", 4},
    };
    const int all = 228 * 1024, reserved = 1024;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[WORDS_MAX];
        struct lathe_plan plan;

        snprintf(words, sizeof words,
                 "gemm m=4096 n=4096 k=4096 arch=sm_100a cta_group=1 stages=1 %s", cases[i].words);
        plan = plan_of(words);
        assert_budget_adds_up(&plan);
        assert_true(all / (plan.smem_bytes + reserved) <= cases[i].ctas);
        assert_int_equal(plan.tmem_columns, 512 / cases[i].ctas);
    }
}

/* ---- Emitted text ---- */

/* The offsets that the text speaks of are those of the plan, and so is the sum. */
static void assert_text_has_the_budget(const char *words)
{
    struct lathe_plan plan = plan_of(words);
    struct lathe_kernel *kernel = kernel_of(words);
    const char *text = lathe_kernel_text(kernel, NULL);
    char line[128];

    assert_budget_adds_up(&plan);
    assert_int_equal(lathe_kernel_contract(kernel)->smem_bytes, plan.smem_bytes);
    snprintf(line, sizeof line, "// Shared memory of a CTA, %d of %d bytes:\n", plan.smem_bytes,
             plan.smem_limit);
    assert_has(text, line);
    for (int i = 0; i < plan.tenant_count; i++) {
        const struct lathe_tenant *tenant = &plan.tenants[i];

        snprintf(line, sizeof line, "//   %6d  %6d  %s\n", tenant->offset, tenant->bytes,
                 tenant->name);
        assert_has(text, line);
    }
    snprintf(line, sizeof line, "add.u32 %%ring, %%smem_start, %d;",
             tenant_of(&plan, "stage ring")->offset);
    assert_has(text, line);
    snprintf(line, sizeof line, "add.u32 %%staging, %%smem_start, %d;",
             tenant_of(&plan, "epilogue staging")->offset);
    assert_has(text, line);
    lathe_kernel_destroy(&kernel);
}

static void texts_of_all_legal_plans_have_the_budget_of_their_plans(void **state)
{
    (void)state;
    char words[WORDS_MAX], request[WORDS_MAX + 64];

    for (size_t i = 0; lathe_legal_plan_at(i, words, sizeof words); i++) {
        snprintf(request, sizeof request, "gemm m=4096 n=4096 k=4096 %s", words);
        assert_text_has_the_budget(request);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_atoms_fill_the_same_bytes_with_six_and_with_eight_stages),
        cmocka_unit_test(a_seventh_stage_leads_to_the_pair),
        cmocka_unit_test(a_ninth_stage_leads_to_the_doors_of_the_note),
        cmocka_unit_test(barriers_expect_the_bytes_of_the_ladder),
        cmocka_unit_test(what_threads_copy_needs_no_barrier_to_be_full),
        cmocka_unit_test(without_a_producer_each_cta_fetches_for_itself_alone),
        cmocka_unit_test(what_a_cluster_shares_comes_from_l2_once),
        cmocka_unit_test(step_nine_takes_what_its_source_says),
        cmocka_unit_test(five_stages_of_hopper_are_the_bytes_of_the_ladder),
        cmocka_unit_test(every_step_of_the_ladder_is_a_plan),
        cmocka_unit_test(neighbours_on_the_ladder_differ_where_the_idea_does),
        cmocka_unit_test(naming_what_was_chosen_moves_nothing),
        cmocka_unit_test(accumulators_take_columns_of_tensor_memory),
        cmocka_unit_test(a_staging_is_no_larger_than_an_accumulator),
        cmocka_unit_test(too_many_columns_are_refused_without_bytes),
        cmocka_unit_test(every_rule_of_blackwell_is_named),
        cmocka_unit_test(a_dynamic_schedule_has_a_reply_in_its_header),
        cmocka_unit_test(a_cluster_has_no_more_ctas_beside_it_than_tensor_memory_is_for),
        cmocka_unit_test(texts_of_all_legal_plans_have_the_budget_of_their_plans),
    };

    return cmocka_run_group_tests_name("templates budget", tests, NULL, NULL);
}
