/* What the planner chooses, what follows from it, and what it refuses. */
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"
#include "tests/templates/fixture.h"

#include <stdio.h>
#include <string.h>

/* Requests that stand for all there are. */
static const char *const requests[] = {
    "gemm m=4096 n=4096 k=4096",
    "gemm m=8192 n=8192 k=8192 type=bf16",
    "gemm m=1 n=4096 k=4096",
    "gemm m=16 n=16 k=16",
    "gemm m=64 n=7168 k=2048 beta=any",
    "gemm m=4096 n=64 k=512 out=f32",
    "gemm m=1000 n=1000 k=1000",
    "gemm m=300 n=208 k=72 beta=any out=f32",
    "gemm m=0 n=0 k=0",
    "gemm m=128 n=128 k=0",
    "gemm m=100000 n=8 k=8",
    "gemm m=4096 n=4096 k=4096 static=k",
    "gemm m=512 n=512 k=512 static=m,n,k beta=any type=bf16 out=f16",
};
enum { REQUESTS = sizeof requests / sizeof requests[0] };

/* ---- What is not named ---- */

static void every_plan_of_the_planner_is_within_its_budget(void **state)
{
    (void)state;

    for (int i = 0; i < REQUESTS; i++) {
        struct lathe_plan plan = plan_of(requests[i]);

        assert_budget_adds_up(&plan);
        assert_string_equal(plan.variant, "hopper-best");
        assert_int_equal(plan.arch, LATHE_SM_90A);
        assert_int_equal(plan.annotate, LATHE_ON);
        assert_int_equal(plan.sms, 132);
        assert_true(plan.cta_group == 1 && plan.split == 1 && plan.tmem_columns == 0);
        assert_int_equal(plan.schedule, LATHE_PERSISTENT);
        assert_true(plan.predicted_ns > 0);
        assert_has(plan.reason, "bound by ");
    }
}

static void the_same_request_gives_the_same_plan(void **state)
{
    (void)state;
    struct lathe_plan first[REQUESTS];

    for (int i = 0; i < REQUESTS; i++)
        first[i] = plan_of(requests[i]);
    for (int i = REQUESTS - 1; i >= 0; i--) {
        struct lathe_plan again = plan_of(requests[i]);

        assert_memory_equal(&again, &first[i], sizeof again);
    }
}

static void options_of_zeros_are_no_options(void **state)
{
    (void)state;
    struct lathe_plan_options zeros = LATHE_PLAN_OPTIONS_INIT;
    struct lathe_plan with = LATHE_PLAN_INIT, without = LATHE_PLAN_INIT;
    const struct lathe_gemm *problem = lathe_gemm(.m = 512, .n = 512, .k = 512);

    assert_int_equal(lathe_plan_gemm(&with, problem, &zeros, NULL), LATHE_OK);
    assert_int_equal(lathe_plan_gemm(&without, problem, NULL, NULL), LATHE_OK);

    assert_memory_equal(&with, &without, sizeof with);
}

static void a_small_problem_gets_no_larger_tile_than_it_has_use_for(void **state)
{
    (void)state;
    struct lathe_plan tiny = plan_of("gemm m=1 n=8 k=4096");
    struct lathe_plan flat = plan_of("gemm m=16 n=4096 k=4096");

    assert_true(tiny.tile[0] == 64 && tiny.tile[1] <= 16);
    assert_int_equal(flat.tile[0], 64);
}

/* Of 128 rows or fewer one of a pair's CTAs would have none. */
static void few_rows_are_no_work_for_a_pair(void **state)
{
    (void)state;
    static const char *const single[] = {
        "gemm m=1 n=4096 k=4096 arch=sm_100a",
        "gemm m=64 n=2112 k=7168 arch=sm_100a type=bf16",
        "gemm m=128 n=24576 k=1536 arch=sm_103a type=e4m3",
    };

    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++) {
        struct lathe_plan plan = plan_of(single[i]);

        assert_int_equal(plan.cta_group, 1);
        assert_int_equal(plan.tile[0], 128);
    }
    assert_int_equal(plan_of("gemm m=64 n=4096 k=4096 arch=sm_100a cta_group=2").cta_group, 2);
    assert_int_equal(plan_of("gemm m=4096 n=4096 k=4096 arch=sm_100a").cta_group, 2);
}

static void a_large_problem_keeps_all_tensor_cores_fed(void **state)
{
    (void)state;
    struct lathe_plan plan = plan_of("gemm m=8192 n=8192 k=8192");

    assert_true(plan.tile[0] * plan.tile[1] >= 128 * 192);
    assert_int_equal(plan.consumers, 2);
    assert_true(plan.stages >= 4);
}

/* ---- What follows from the choices ---- */

static const char *const tiles[] = {
    "64x8x64",   "64x16x128", "64x64x64",   "64x256x64",  "64x72x64",   "64x208x64",
    "128x8x128", "128x64x64", "128x128x64", "128x208x64", "128x256x64", "192x64x64",
    "192x80x64", "256x8x64",  "256x72x64",  "256x128x64", "64x32x192",  "128x24x256",
};
enum { TILES = sizeof tiles / sizeof tiles[0] };
static const char *const outputs[] = {"", "out=f32", "beta=any", "beta=any out=f32"};
enum { OUTPUTS = sizeof outputs / sizeof outputs[0] };

static void for_each_tile(void (*act)(const struct lathe_plan *plan, const char *words))
{
    for (int i = 0; i < TILES; i++)
        for (int j = 0; j < OUTPUTS; j++) {
            char words[WORDS_MAX];
            struct lathe_plan plan;

            snprintf(words, sizeof words, "gemm m=4096 n=4096 k=4096 tile=%s %s", tiles[i],
                     outputs[j]);
            plan = plan_of(words);
            act(&plan, words);
        }
}

static void check_consumers(const struct lathe_plan *plan, const char *words)
{
    (void)words;
    assert_int_equal(plan->consumers, plan->tile[0] % 128 == 0 ? 2 : 1);
    assert_int_equal(plan->threads, plan->consumers == 2 ? 384 : 256);
    assert_int_equal(plan->registers, plan->consumers == 2 ? 168 : 255);
    assert_int_equal(plan->accumulators, plan->tile[0] * plan->tile[1] / (128 * plan->consumers));
    assert_true(plan->regs[0] == 0 && plan->regs[1] == 0);
}

static void consumers_threads_and_registers_follow_the_tile(void **state)
{
    (void)state;

    for_each_tile(check_consumers);
}

static void check_epilogue(const struct lathe_plan *plan, const char *words)
{
    int span = plan->out == LATHE_F32 ? 32 : 64;

    (void)words;
    assert_int_equal(plan->epilogue[0], 64 * plan->consumers);
    assert_int_equal(plan->epilogue[1], plan->tile[1] < span ? plan->tile[1] : span);
    assert_int_equal(plan->epilogue[2], 2);
}

static void staging_is_64_rows_a_consumer_and_a_span_of_columns_twice(void **state)
{
    (void)state;

    for_each_tile(check_epilogue);
}

/* The budget once more, by hand. */
static void check_budget(const struct lathe_plan *plan, const char *words)
{
    int stage = (plan->tile[0] + plan->tile[1]) * plan->tile[2] * 2;
    int barriers = plan->stages * 2 * 8;

    (void)words;
    if (plan->beta == LATHE_BETA_ANY)
        barriers += plan->consumers * plan->epilogue[2] * 8;
    assert_budget_adds_up(plan);
    assert_int_equal(tenant_of(plan, "barriers")->bytes, barriers);
    assert_int_equal(tenant_of(plan, "padding")->bytes, 1024 - barriers % 1024);
    assert_int_equal(tenant_of(plan, "stage ring")->bytes, plan->stages * stage);
    assert_int_equal(tenant_of(plan, "epilogue staging")->bytes,
                     plan->consumers * plan->epilogue[2] * 64 * 128);
    assert_int_equal(plan->smem_bytes,
                     1024 + plan->stages * stage + plan->consumers * plan->epilogue[2] * 8192);
}

static void the_budget_is_barriers_padding_ring_and_staging(void **state)
{
    (void)state;

    for_each_tile(check_budget);
}

static void check_stages(const struct lathe_plan *plan, const char *words)
{
    char more[WORDS_MAX];

    if (plan->stages == 64)
        return;
    snprintf(more, sizeof more, "%s stages=%d", words, plan->stages + 1);
    assert_refused(more, LATHE_DOES_NOT_FIT, "bytes of shared memory and a CTA has 232448");
}

static void stages_that_are_not_named_are_as_many_as_fit(void **state)
{
    (void)state;

    for_each_tile(check_stages);
}

static void stages_fill_what_a_larger_staging_leaves(void **state)
{
    (void)state;
    struct lathe_plan two = plan_of("gemm m=4096 n=4096 k=4096 tile=128x128x64");
    struct lathe_plan eight =
        plan_of("gemm m=4096 n=4096 k=4096 tile=128x128x64 epilogue=128x64x8");

    assert_int_equal(two.stages, (232448 - 1024 - 32768) / 32768);
    assert_int_equal(eight.stages, (232448 - 1024 - 131072) / 32768);
}

static void baked_in_sizes_stand_in_the_plan(void **state)
{
    (void)state;
    struct lathe_plan none = plan_of("gemm m=512 n=256 k=128");
    struct lathe_plan k = plan_of("gemm m=512 n=256 k=128 static=k");
    struct lathe_plan all = plan_of("gemm m=512 n=256 k=128 static=m,n,k");

    assert_true(none.static_size[0] == -1 && none.static_size[1] == -1 &&
                none.static_size[2] == -1);
    assert_true(k.static_size[0] == -1 && k.static_size[1] == -1 && k.static_size[2] == 128);
    assert_true(all.static_size[0] == 512 && all.static_size[1] == 256 &&
                all.static_size[2] == 128);
}

/* ---- A field that is named never moves another ---- */

static void assert_same_but_for(const char *field, const struct lathe_plan *a,
                                const struct lathe_plan *b)
{
    if (strcmp(field, "tile") != 0)
        assert_memory_equal(a->tile, b->tile, sizeof a->tile);
    if (strcmp(field, "cluster") != 0 && strcmp(field, "tile") != 0)
        assert_memory_equal(a->cluster, b->cluster, sizeof a->cluster);
    if (strcmp(field, "stages") != 0 && strcmp(field, "epilogue") != 0)
        assert_int_equal(a->stages, b->stages);
    if (strcmp(field, "epilogue") != 0)
        assert_memory_equal(a->epilogue, b->epilogue, sizeof a->epilogue);
    if (strcmp(field, "regs") != 0)
        assert_memory_equal(a->regs, b->regs, sizeof a->regs);
    assert_int_equal(a->consumers, b->consumers);
    assert_int_equal(a->split, b->split);
    assert_int_equal(a->cta_group, b->cta_group);
}

static void naming_a_field_leaves_the_others_as_they_were(void **state)
{
    (void)state;
    static const struct {
        const char *field, *value;
    } named[] = {
        {"stages", "2"},          {"stages", "3"},
        {"epilogue", "128x64x1"}, {"epilogue", "128x64x3"},
        {"regs", "40x232"},       {"raster", "3"},
        {"consumers", "2"},       {"cta_group", "1"},
        {"split", "1"},           {"schedule", "persistent"},
        {"annotate", "0"},        {"variant", "hopper-best"},
        {"arch", "sm_90a"},       {"cluster", "1x1x1"},
        {"cluster", "1x2x1"},
    };
    struct lathe_plan free = plan_of("gemm m=4096 n=4096 k=4096");

    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        char words[WORDS_MAX];
        struct lathe_plan plan;

        snprintf(words, sizeof words, "gemm m=4096 n=4096 k=4096 %s=%s", named[i].field,
                 named[i].value);
        plan = plan_of(words);
        if (strcmp(named[i].field, "cluster") != 0)
            assert_same_but_for(named[i].field, &free, &plan);
    }
}

static void too_many_stages_keep_the_tile_and_are_refused(void **state)
{
    (void)state;
    struct lathe_plan free = plan_of("gemm m=4096 n=4096 k=4096");
    char part[64];

    snprintf(part, sizeof part, "tile=%dx%dx%d stages=20: needs ", free.tile[0], free.tile[1],
             free.tile[2]);
    assert_refused("gemm m=4096 n=4096 k=4096 stages=20", LATHE_DOES_NOT_FIT, part);
}

static void one_consumer_keeps_the_tile_and_is_refused(void **state)
{
    (void)state;
    struct lathe_plan free = plan_of("gemm m=4096 n=4096 k=4096");
    char part[80];

    snprintf(part, sizeof part, "tile=%dx%dx%d: needs %d accumulator registers", free.tile[0],
             free.tile[1], free.tile[2], 2 * free.accumulators);
    assert_refused("gemm m=4096 n=4096 k=4096 consumers=1", LATHE_UNSUPPORTED, part);
}

static void a_named_tile_lets_the_cluster_be_chosen_and_the_other_way_round(void **state)
{
    (void)state;
    struct lathe_plan tile = plan_of("gemm m=8192 n=8192 k=8192 tile=128x128x64");
    struct lathe_plan cluster = plan_of("gemm m=8192 n=8192 k=8192 cluster=1x4x1");

    assert_true(tile.tile[0] == 128 && tile.tile[1] == 128 && tile.tile[2] == 64);
    assert_true(tile.cluster[0] * tile.cluster[1] > 1);
    assert_true(cluster.cluster[0] == 1 && cluster.cluster[1] == 4 && cluster.cluster[2] == 1);
    assert_true(cluster.tile[0] * cluster.tile[1] >= 128 * 128);
}

static void the_label_says_whether_the_preset_was_changed(void **state)
{
    (void)state;
    static const struct {
        const char *words, *label;
    } labels[] = {
        {"", "hopper-best"},
        {"variant=hopper-best", "hopper-best"},
        {"arch=sm_90a sms=78 annotate=0", "hopper-best"},
        {"stages=2", "custom(from hopper-best)"},
        {"tile=128x128x64", "custom(from hopper-best)"},
        {"variant=hopper-best raster=1", "custom(from hopper-best)"},
        {"split=1", "custom(from hopper-best)"},
    };

    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        char words[WORDS_MAX];
        struct lathe_plan plan;

        snprintf(words, sizeof words, "gemm m=4096 n=4096 k=4096 %s", labels[i].words);
        plan = plan_of(words);
        assert_string_equal(plan.variant, labels[i].label);
    }
}

/* ---- Refusals, each with its constraint ---- */

static void every_refusal_names_its_constraint(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        enum lathe_status status;
        const char *part;
    } refusals[] = {
        {"type=tf32", LATHE_UNSUPPORTED, "type=tf32: kernels for sm_90a take f16 and bf16 so far"},
        {"type=int8 out=f16", LATHE_UNSUPPORTED, "type=int8: kernels for sm_90a take"},
        {"out=e5m2", LATHE_UNSUPPORTED, "out=e5m2: kernels for sm_90a give f16, bf16 and f32"},
        {"layout=nt", LATHE_UNSUPPORTED, "layout=nt: kernels take layout=tn so far"},
        {"arch=sm_80", LATHE_UNSUPPORTED,
         "arch=sm_80: there are kernels for sm_90a, sm_100a and sm_103a so far"},
        {"variant=hopper-bets", LATHE_BAD_WORD, "nearest: variant=hopper-best"},
        {"variant=hopper-best arch=sm_100a", LATHE_UNSUPPORTED,
         "variant=hopper-best is for sm_90a, not for sm_100a"},
        {"consumers=3", LATHE_UNSUPPORTED,
         "consumers=3: with schedule=persistent there are 1 or 2"},
        {"tile=100x64x64", LATHE_UNSUPPORTED, "a multiple of 64 up to 256 (64 for each wgmma)"},
        {"tile=320x64x64", LATHE_UNSUPPORTED, "a multiple of 64 up to 256 (64 for each wgmma)"},
        {"tile=192x64x64 consumers=2", LATHE_UNSUPPORTED,
         "with consumers=2 the rows of a tile are a multiple of 128 up to 256"},
        {"tile=128x100x64", LATHE_UNSUPPORTED,
         "the columns of a tile are a multiple of 8 up to 256 (the n of wgmma)"},
        {"tile=128x264x64", LATHE_UNSUPPORTED, "a multiple of 8 up to 256"},
        {"tile=128x64x32", LATHE_UNSUPPORTED,
         "the k of a tile is a multiple of 64 up to 256 (rows of the 128-byte swizzle)"},
        {"tile=128x64x320", LATHE_UNSUPPORTED, "a multiple of 64 up to 256"},
        {"tile=256x256x64", LATHE_UNSUPPORTED,
         "needs 256 accumulator registers per thread of 2 consumer warpgroups, and there is room "
         "for 128"},
        {"cluster=3x1x1", LATHE_UNSUPPORTED, "powers of two with at most 8 CTAs"},
        {"cluster=4x4x1", LATHE_UNSUPPORTED, "powers of two with at most 8 CTAs"},
        {"cluster=1x1x2", LATHE_UNSUPPORTED, "cluster=1x1x2: must be AxBx1"},
        {"cta_group=2", LATHE_UNSUPPORTED, "CTA pairs need tcgen05 (sm_100a)"},
        {"split=2", LATHE_UNSUPPORTED, "split=2: kernels have split=1 so far"},
        {"stages=1", LATHE_UNSUPPORTED, "at least stages=2"},
        {"consumers=5", LATHE_OUT_OF_RANGE, "consumers=5: must be a whole number from 1 to 4"},
        {"schedule=single", LATHE_UNSUPPORTED,
         "schedule=single: kernels for sm_90a are schedule=persistent, grid or grouped"},
        {"schedule=grid", LATHE_UNSUPPORTED,
         "flow=specialised schedule=grid stage_index=runtime: kernels of this kind have "
         "stage_index=constant"},
        {"load=threads", LATHE_UNSUPPORTED, "load=threads flow=specialised: kernels for sm_90a"},
        {"flow=serial", LATHE_UNSUPPORTED, "flow=serial schedule=persistent"},
        {"store=threads", LATHE_UNSUPPORTED, "store=threads: kernels of this kind have store=tma"},
        {"acc=f16", LATHE_UNSUPPORTED, "acc=f16: kernels of this kind have acc=f32"},
        {"acc=s32", LATHE_UNSUPPORTED, "acc=s32: sums are acc=f32 or acc=f16"},
        {"mma=sync", LATHE_UNSUPPORTED, "mma=sync: kernels of this kind have mma=wgmma"},
        {"mma_groups=1", LATHE_UNSUPPORTED, "mma_groups=1: kernels of this kind have mma_groups=2"},
        {"stage_index=constant", LATHE_UNSUPPORTED, "for a tile may begin at any stage"},
        {"arch=sm_100a mma=wgmma", LATHE_UNSUPPORTED, "are fields of plans for sm_90a"},
        {"arch=sm_100a schedule=grouped", LATHE_UNSUPPORTED,
         "schedule=persistent or dynamic, with raster="},
        {"arch=sm_100a schedule=grid raster=4", LATHE_UNSUPPORTED,
         "schedule=grid raster=4: tiles go row by row; schedule=persistent or raster=1"},
        {"arch=sm_100a variant=blackwell-1 raster=2", LATHE_UNSUPPORTED,
         "schedule=single raster=2: tiles go"},
        {"variant=hopper-v6 type=bf16", LATHE_UNSUPPORTED,
         "acc=f16 type=bf16: wgmma sums in f16 what is of type=f16; with type=bf16 acc=f32"},
        {"variant=hopper-v6 acc=f32", LATHE_UNSUPPORTED,
         "needs 128 accumulator registers per thread of 4 consumer warpgroups, and there is room "
         "for 64"},
        {"variant=hopper-v0 acc=f16", LATHE_UNSUPPORTED, "acc=f16 mma=sync: kernels that sum"},
        {"variant=hopper-v0 tile=128x72x64", LATHE_UNSUPPORTED,
         "with mma=sync the columns of a tile are a multiple of 32 up to 256"},
        {"variant=hopper-v0 tile=48x64x64", LATHE_UNSUPPORTED,
         "a multiple of 32 up to 256 (16 for each of two warps, one below the other)"},
        {"variant=hopper-v0 store=tma", LATHE_UNSUPPORTED, "store=threads with mma=sync"},
        {"variant=hopper-v1 stages=2", LATHE_UNSUPPORTED,
         "flow=serial stages=2: what is loaded is waited for at once; stages=1"},
        {"variant=hopper-v1 epilogue=64x64x2", LATHE_UNSUPPORTED,
         "store=threads epilogue=64x64x2: threads store from registers and have no staging"},
        {"variant=hopper-v2 stage_index=constant", LATHE_UNSUPPORTED,
         "kernels of this kind have stage_index=runtime"},
        {"variant=hopper-v2 mma_groups=2", LATHE_UNSUPPORTED,
         "mma_groups=2: kernels of this kind have mma_groups=1"},
        {"variant=hopper-v3 cluster=2x1x1", LATHE_UNSUPPORTED,
         "schedule=grid cluster=2x1x1: clusters share tiles with schedule=persistent"},
        {"variant=hopper-v3 raster=4", LATHE_UNSUPPORTED,
         "schedule=grid raster=4: tiles go row by row; schedule=grouped or raster=1"},
        {"variant=hopper-v5 stages=1", LATHE_UNSUPPORTED, "at least stages=2"},
        {"variant=hopper-v5 stages=5", LATHE_DOES_NOT_FIT,
         "needs 246784 bytes of shared memory and a CTA has 232448"},
        {"variant=hopper-v5 regs=40x232", LATHE_UNSUPPORTED,
         "there is no producer warpgroup to take registers from"},
        {"variant=hopper-v6 epilogue=64x64x4", LATHE_UNSUPPORTED,
         "with epilogue=64x256x1, all columns of the tile"},
        {"tile=128x64x64 schedule=persistent epilogue=64x64x1", LATHE_UNSUPPORTED,
         "do so in one tile (schedule=grid or grouped)"},
        {"acc_stages=2", LATHE_UNSUPPORTED, "the accumulators of sm_90a are registers"},
        {"tile=64x64x64 regs=40x232", LATHE_UNSUPPORTED,
         "regs=40x232: with 256 threads every one has 255 registers already"},
        {"tile=128x64x64 regs=41x232", LATHE_UNSUPPORTED, "must be multiples of 8"},
        {"tile=128x64x64 regs=32x240", LATHE_UNSUPPORTED, "producer + 2 x consumer at most 504"},
        {"tile=128x64x64 regs=176x168", LATHE_UNSUPPORTED, "the producer's at most 168"},
        {"tile=128x64x64 epilogue=64x64x2", LATHE_UNSUPPORTED,
         "else each has rows of its own: epilogue=128x64x2"},
        {"tile=128x64x64 epilogue=128x32x2", LATHE_UNSUPPORTED, "it is 128x64"},
        {"tile=128x64x64 epilogue=128x64x9", LATHE_UNSUPPORTED, "1 to 8 buffers"},
        {"tile=128x64x64 out=f32 epilogue=128x64x2", LATHE_UNSUPPORTED, "it is 128x32"},
        {"tile=128x256x64 stages=5", LATHE_DOES_NOT_FIT,
         "tile=128x256x64 stages=5: needs 279552 bytes of shared memory and a CTA has 232448; the "
         "stage ring takes 245760 (5 stages of 49152), the epilogue staging 32768"},
        {"tile=128x256x256", LATHE_DOES_NOT_FIT, "(2 stages of 196608)"},
    };

    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        char words[WORDS_MAX];

        snprintf(words, sizeof words, "gemm m=4096 n=4096 k=4096 %s", refusals[i].words);
        assert_refused(words, refusals[i].status, refusals[i].part);
    }
}

static void limits_themselves_are_allowed(void **state)
{
    (void)state;
    static const char *const words[] = {
        "tile=256x128x64",
        "tile=64x256x64",
        "tile=64x8x256",
        "cluster=8x1x1",
        "cluster=1x8x1",
        "cluster=2x4x1",
        "tile=64x8x64 stages=23",
        "stages=2",
        "tile=128x64x64 regs=24x240",
        "tile=128x64x64 regs=168x168",
        "tile=64x64x64 epilogue=64x64x8",
        "tile=64x64x64 epilogue=64x64x1",
        "raster=65536",
        "variant=hopper-v5 stages=4",
        "variant=hopper-v5 stages=2",
        "variant=hopper-v3 stages=7",
        "variant=hopper-v3 tile=64x256x64",
        "variant=hopper-v3 mma=sync",
        "variant=hopper-v4 tile=256x128x64 consumers=4",
        "variant=hopper-v6 consumers=2 tile=128x256x64",
        "variant=hopper-v0 tile=64x32x64",
        "sms=1",
        "sms=4096",
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char request[WORDS_MAX];

        snprintf(request, sizeof request, "gemm m=4096 n=4096 k=4096 %s", words[i]);
        plan_of(request);
    }
}

/* A slice of B that the CTAs cannot share equally: 8 rows among 8 CTAs are one each, which is as
 * far as it goes; no tile has fewer rows than a cluster has CTAs. */
static void a_cluster_may_be_as_long_as_a_tile_has_rows_to_share(void **state)
{
    (void)state;
    struct lathe_plan plan = plan_of("gemm m=4096 n=4096 k=4096 tile=64x8x64 cluster=8x1x1");

    assert_true(plan.cluster[0] == 8 && plan.tile[1] == 8);
}

/* ---- Estimates ---- */

static void more_work_is_never_predicted_to_take_less_time(void **state)
{
    (void)state;
    static const char *const tile = "tile=128x256x64 cluster=1x1x1";
    int64_t before = 0;

    for (long k = 64; k <= 65536; k *= 2) {
        char words[WORDS_MAX];
        struct lathe_plan plan;

        snprintf(words, sizeof words, "gemm m=4096 n=4096 k=%ld %s", k, tile);
        plan = plan_of(words);
        assert_true(plan.predicted_ns > before);
        before = plan.predicted_ns;
    }
}

static void the_largest_problem_has_a_plan_and_a_prediction(void **state)
{
    (void)state;
    struct lathe_plan plan = plan_of("gemm m=2147479552 n=65536 k=2147479552");

    assert_budget_adds_up(&plan);
    assert_true(plan.predicted_ns > 0);
    assert_lacks(plan.reason, "inf");
    assert_lacks(plan.reason, "nan");
}

/* On one multiprocessor it would take centuries. */
static void an_estimate_that_nanoseconds_cannot_hold_is_none(void **state)
{
    (void)state;
    struct lathe_plan plan = plan_of("gemm m=2147479552 n=131072 k=2147479552 sms=8");
    char json[4096];

    assert_int_equal(plan.predicted_ns, 0);
    lathe_plan_json(&plan, json, sizeof json);
    assert_lacks(json, "predicted_us");
    assert_has(json, "reason");
}

static void a_reason_counts_in_words(void **state)
{
    (void)state;

    assert_has(plan_of("gemm m=64 n=64 k=64 tile=64x64x64 cluster=1x1x1 sms=1").reason,
               "1 tile on 1 CTA: 1 wave,");
    assert_has(plan_of("gemm m=64 n=64 k=64 tile=64x64x64 cluster=2x1x1 sms=2").reason,
               "1 tile on 1 cluster: 1 wave,");
    assert_has(plan_of("gemm m=256 n=64 k=64 tile=64x64x64 cluster=2x1x1 sms=4").reason,
               "2 tiles on 2 clusters: 1 wave,");
}

static void a_cluster_has_a_multiprocessor_for_each_cta(void **state)
{
    (void)state;
    static const char *const archs[] = {"sm_90a", "sm_100a"};

    for (int i = 0; i < 2; i++) {
        char words[WORDS_MAX];

        snprintf(words, sizeof words, "gemm m=4096 n=4096 k=4096 arch=%s cluster=8x1x1 sms=7",
                 archs[i]);
        assert_refused(words, LATHE_UNSUPPORTED, "each on a multiprocessor of its own");
        words[strlen(words) - 1] = '8';
        plan_of(words);
        for (int sms = 1; sms <= 4; sms++) {
            snprintf(words, sizeof words, "gemm m=4096 n=4096 k=4096 arch=%s sms=%d", archs[i],
                     sms);

            struct lathe_plan plan = plan_of(words);

            assert_true(plan.cluster[0] * plan.cluster[1] <= sms);
        }
    }
}

/* ---- As many tiles as a kernel counts ---- */

static void small_tiles_of_a_large_d_are_refused_with_their_number(void **state)
{
    (void)state;

    assert_refused("gemm m=2147479552 n=4096 k=64 tile=64x8x64 cluster=1x1x1", LATHE_UNSUPPORTED,
                   "m=2147479552 n=4096: a kernel counts up to 2^31 - 1 tiles of D, and of 64x8 "
                   "(tile times cluster) there are 17179836416; use a larger tile or cluster, or "
                   "make D in parts");
    assert_refused("gemm m=2147479552 n=2147479552 k=64", LATHE_UNSUPPORTED, "make D in parts");
    assert_refused("gemm m=2147479552 n=4096 k=64 tile=64x7x64", LATHE_UNSUPPORTED,
                   "the columns of a tile are a multiple of 8");
}

/* 2^17 rows of tiles of 64 and 2^14 columns of tiles of 8 are 2^31 tiles, one too many. */
static void the_last_number_of_tiles_is_planned(void **state)
{
    (void)state;

    plan_of("gemm m=8388608 n=131064 k=8 tile=64x8x64 cluster=1x1x1");
    assert_refused("gemm m=8388608 n=131072 k=8 tile=64x8x64 cluster=1x1x1", LATHE_UNSUPPORTED,
                   " there are 2147483648; ");
    plan_of("gemm m=8388608 n=131072 k=8 tile=64x8x64 cluster=2x1x1");
    plan_of("gemm m=8388608 n=131072 k=8 tile=64x8x64"); /* the planner takes a cluster that can */
}

static void baked_in_sizes_are_counted_by_the_check_too(void **state)
{
    (void)state;
    struct lathe_plan plan =
        plan_of("gemm m=8388608 n=131064 k=8 tile=64x8x64 cluster=1x1x1 static=m,n,k");
    struct lathe_error err = {0};

    assert_int_equal(lathe_plan_check(&plan, &err), LATHE_OK);
    plan.static_size[1] = 131072;
    assert_int_equal(lathe_plan_check(&plan, &err), LATHE_UNSUPPORTED);
    assert_has(err.message, "m=8388608 n=131072: a kernel counts up to 2^31 - 1 tiles of D");
}

static void a_problem_of_one_row_of_two_billion_has_a_plan(void **state)
{
    (void)state;
    static const char *const words[] = {"gemm m=1 n=2147479552 k=8", "gemm m=2147479552 n=8 k=8",
                                        "gemm m=1 n=8 k=2147479552"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct lathe_plan plan = plan_of(words[i]);

        assert_budget_adds_up(&plan);
        assert_true(plan.predicted_ns > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_plan_of_the_planner_is_within_its_budget),
        cmocka_unit_test(the_same_request_gives_the_same_plan),
        cmocka_unit_test(options_of_zeros_are_no_options),
        cmocka_unit_test(a_small_problem_gets_no_larger_tile_than_it_has_use_for),
        cmocka_unit_test(few_rows_are_no_work_for_a_pair),
        cmocka_unit_test(a_large_problem_keeps_all_tensor_cores_fed),
        cmocka_unit_test(consumers_threads_and_registers_follow_the_tile),
        cmocka_unit_test(staging_is_64_rows_a_consumer_and_a_span_of_columns_twice),
        cmocka_unit_test(the_budget_is_barriers_padding_ring_and_staging),
        cmocka_unit_test(stages_that_are_not_named_are_as_many_as_fit),
        cmocka_unit_test(stages_fill_what_a_larger_staging_leaves),
        cmocka_unit_test(baked_in_sizes_stand_in_the_plan),
        cmocka_unit_test(naming_a_field_leaves_the_others_as_they_were),
        cmocka_unit_test(too_many_stages_keep_the_tile_and_are_refused),
        cmocka_unit_test(one_consumer_keeps_the_tile_and_is_refused),
        cmocka_unit_test(a_named_tile_lets_the_cluster_be_chosen_and_the_other_way_round),
        cmocka_unit_test(the_label_says_whether_the_preset_was_changed),
        cmocka_unit_test(every_refusal_names_its_constraint),
        cmocka_unit_test(limits_themselves_are_allowed),
        cmocka_unit_test(a_cluster_may_be_as_long_as_a_tile_has_rows_to_share),
        cmocka_unit_test(more_work_is_never_predicted_to_take_less_time),
        cmocka_unit_test(the_largest_problem_has_a_plan_and_a_prediction),
        cmocka_unit_test(an_estimate_that_nanoseconds_cannot_hold_is_none),
        cmocka_unit_test(a_reason_counts_in_words),
        cmocka_unit_test(a_cluster_has_a_multiprocessor_for_each_cta),
        cmocka_unit_test(small_tiles_of_a_large_d_are_refused_with_their_number),
        cmocka_unit_test(the_last_number_of_tiles_is_planned),
        cmocka_unit_test(baked_in_sizes_are_counted_by_the_check_too),
        cmocka_unit_test(a_problem_of_one_row_of_two_billion_has_a_plan),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
