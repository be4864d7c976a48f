/* The plan's numbers in the text and in the launch contract. */
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"
#include "tests/templates/fixture.h"

#include <stdio.h>
#include <string.h>

struct sample {
    const char *words;
    const struct lathe_plan *plan;
    const char *text;
    const struct lathe_contract *contract;
};

static void for_each_sample(void (*act)(const struct sample *sample))
{
    for (int i = 0; i < sample_count; i++) {
        struct lathe_kernel *kernel = kernel_of(sample_requests[i]);
        struct sample sample = {sample_requests[i], lathe_kernel_plan(kernel),
                                lathe_kernel_text(kernel, NULL), lathe_kernel_contract(kernel)};

        act(&sample);
        lathe_kernel_destroy(&kernel);
    }
}

static int ctas_of(const struct lathe_plan *plan)
{
    return plan->cluster[0] * plan->cluster[1];
}

static int stage_bytes_of(const struct lathe_plan *plan)
{
    return (plan->tile[0] + plan->tile[1]) * plan->tile[2] * 2;
}

/* ---- The plan's numbers in the text ---- */

static void expect_line(const struct sample *sample, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void expect_line(const struct sample *sample, const char *format, ...)
{
    char line[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (!strstr(sample->text, line))
        fail_msg("%s: the text lacks '%s'", sample->words, line);
}

static void check_offsets(const struct sample *sample)
{
    const struct lathe_plan *plan = sample->plan;

    expect_line(sample, "add.u32 %%ring, %%smem_start, %d;\n",
                tenant_of(plan, "stage ring")->offset);
    expect_line(sample, "add.u32 %%staging, %%smem_start, %d;\n",
                tenant_of(plan, "epilogue staging")->offset);
    expect_line(sample, "mbarrier.init.shared::cta.b64 [%%tiles_full], 1;");
    expect_line(sample, "add.u32 %%tiles_empty, %%smem_start, %d;\n", 8 * plan->stages);
    expect_line(sample, "add.u32 %%tiles_empty, %%tiles_full, %d;\n", 8 * plan->stages);
    expect_line(sample, "mad.lo.u32 %%a_tile, %%tiles_stage, %d, %%ring;\n", stage_bytes_of(plan));
    if (plan->beta == LATHE_BETA_ANY)
        expect_line(sample, "add.u32 %%c_full, %%smem_start, %d;\n", 16 * plan->stages);
    else
        assert_lacks(sample->text, "c_full");
}

static void offsets_are_those_of_the_tenants(void **state)
{
    (void)state;

    for_each_sample(check_offsets);
}

static void check_counts(const struct sample *sample)
{
    const struct lathe_plan *plan = sample->plan;
    int readers = plan->consumers * 4 * ctas_of(plan);
    char init[64];

    assert_int_equal(ptx_count(sample->text, "mbarrier.arrive.expect_tx"),
                     1 + (plan->beta == LATHE_BETA_ANY ? ptx_count(sample->text, "[%c_map") +
                                                             ptx_count(sample->text, "[%c_tail_map")
                                                       : 0));
    if (plan->static_size[0] < plan->tile[0])
        expect_line(
            sample,
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%tiles_full], %%stage_bytes;\n");
    else
        expect_line(sample, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%tiles_full], %d;\n",
                    stage_bytes_of(plan));
    assert_true(stage_bytes_of(plan) * plan->stages == tenant_of(plan, "stage ring")->bytes);

    snprintf(init, sizeof init, "], %d;", readers);
    assert_int_equal(ptx_count(sample->text, "mbarrier.init.shared::cta.b64 ["),
                     2 * plan->stages +
                         (plan->beta == LATHE_BETA_ANY ? plan->consumers * plan->epilogue[2] : 0));
    struct ptx_lines lines = ptx_lines_of(sample->text);
    int full = 0, empty = 0, c = 0;

    for (size_t i = 0; i < lines.count; i++) {
        if (!strstr(lines.line[i], "mbarrier.init"))
            continue;
        if (strstr(lines.line[i], "[%tiles_empty") && strstr(lines.line[i], init))
            empty++;
        if (strstr(lines.line[i], "[%tiles_full") && strstr(lines.line[i], "], 1;"))
            full++;
        if (strstr(lines.line[i], "[%c_full") && strstr(lines.line[i], "], 1;"))
            c++;
    }
    assert_int_equal(full, plan->stages);
    assert_int_equal(empty, plan->stages);
    assert_int_equal(c, plan->beta == LATHE_BETA_ANY ? plan->consumers * plan->epilogue[2] : 0);
    ptx_lines_free(&lines);
}

static void barriers_expect_the_stages_bytes_and_every_warp_of_every_cta(void **state)
{
    (void)state;

    for_each_sample(check_counts);
}

static void check_entry(const struct sample *sample)
{
    const struct lathe_plan *plan = sample->plan;

    expect_line(sample, ".visible .entry %s(\n", sample->contract->name);
    expect_line(sample, ") .maxntid %d, 1, 1 .minnctapersm 1%s", plan->threads,
                ctas_of(plan) > 1 ? " .explicitcluster .reqnctapercluster " : "\n");
    if (ctas_of(plan) > 1)
        expect_line(sample, ".reqnctapercluster %d, %d, 1\n{\n", plan->cluster[0],
                    plan->cluster[1]);
    expect_line(sample, ".version 8.0\n.target sm_90a\n.address_size 64\n");
    expect_line(sample, ".extern .shared .align 1024 .b8 smem[];\n");
    assert_int_equal(ptx_count(sample->text, "setmaxnreg"), plan->regs[0] > 0 ? 2 : 0);
    if (plan->regs[0] > 0) {
        expect_line(sample, "setmaxnreg.dec.sync.aligned.u32 %d;\n", plan->regs[0]);
        expect_line(sample, "setmaxnreg.inc.sync.aligned.u32 %d;\n", plan->regs[1]);
    }
    expect_line(sample, ".reg .f32  %%acc<%d>;\n", plan->accumulators);
}

static void the_entry_carries_threads_cluster_and_registers(void **state)
{
    (void)state;

    for_each_sample(check_entry);
}

static void check_mmas(const struct sample *sample)
{
    const struct lathe_plan *plan = sample->plan;
    int blocks = plan->tile[0] / (64 * plan->consumers);
    char opcode[96];

    snprintf(opcode, sizeof opcode, "wgmma.mma_async.sync.aligned.m64n%dk16.f32.%s.%s\n",
             plan->tile[1], lathe_type_name(plan->type), lathe_type_name(plan->type));
    assert_int_equal(ptx_count(sample->text, opcode), blocks * plan->tile[2] / 16);
    assert_int_equal(ptx_count(sample->text, "wgmma.mma_async"), blocks * plan->tile[2] / 16);
    /* The first MMA of each block overwrites in a tile's first step; all others add. */
    assert_int_equal(ptx_count(sample->text, ", %later, 1, 1, 0, 0;"), blocks);
    assert_int_equal(ptx_count(sample->text, "wgmma.commit_group"), 1);
    assert_int_equal(ptx_count(sample->text, "wgmma.fence"), 1);
}

static void the_main_loop_is_written_once(void **state)
{
    (void)state;

    for_each_sample(check_mmas);
}

static void check_sharing(const struct sample *sample)
{
    const struct lathe_plan *plan = sample->plan;
    int spans = plan->tile[2] / 64;
    size_t shared =
        (size_t)((plan->cluster[0] > 1 ? spans : 0) + (plan->cluster[1] > 1 ? spans : 0));

    assert_int_equal(ptx_count(sample->text, ".multicast::cluster "), shared);
    assert_int_equal(ptx_count(sample->text, ".tile.mbarrier::complete_tx::bytes"),
                     2 * (size_t)spans + ptx_count(sample->text, "[%c_map, {") +
                         ptx_count(sample->text, "[%c_tail_map, {"));
    assert_int_equal(ptx_count(sample->text, "[%a_map, {"), spans);
    assert_int_equal(ptx_count(sample->text, "[%b_map, {"), spans);
    assert_int_equal(ptx_count(sample->text, "barrier.cluster.wait;"), ctas_of(plan) > 1);
    assert_int_equal(ptx_count(sample->text, "$producer_tiles_drained_wait:"), ctas_of(plan) > 1);
    assert_int_equal(ptx_count(sample->text, "bar.sync 0;"), ctas_of(plan) > 1 ? 0 : 1);
    assert_int_equal(ptx_count(sample->text, "mapa."), ctas_of(plan) > 1 ? 2 : 0);
}

static void ctas_of_a_cluster_share_what_they_have_in_common(void **state)
{
    (void)state;

    for_each_sample(check_sharing);
}

/* ---- The contract ---- */

static void check_contract(const struct sample *sample)
{
    const struct lathe_contract *c = sample->contract;
    const struct lathe_plan *plan = sample->plan;
    int span = plan->out == LATHE_F32 ? 32 : 64, maps = 0;

    assert_int_equal(c->arch, LATHE_SM_90A);
    assert_int_equal(c->block[0], plan->threads);
    assert_memory_equal(c->cluster, plan->cluster, sizeof c->cluster);
    assert_int_equal(c->smem_bytes, plan->smem_bytes);
    assert_int_equal(c->cluster_tile[0], plan->tile[0] * plan->cluster[0]);
    assert_int_equal(c->cluster_tile[1], plan->tile[1] * plan->cluster[1]);
    for (int i = 0; i < c->tensor_map_count; i++) {
        const struct lathe_tensor_map *map = &c->tensor_maps[i];
        bool input = map->operand == LATHE_A || map->operand == LATHE_B;

        assert_int_equal(map->swizzle_bytes, 128);
        assert_int_equal(map->type, input ? plan->type : plan->out);
        if (map->operand == LATHE_A)
            assert_true(map->box[0] == 64 && map->box[1] == plan->tile[0] / plan->cluster[1]);
        else if (map->operand == LATHE_B)
            assert_true(map->box[0] == 64 && map->box[1] == plan->tile[1] / plan->cluster[0]);
        else
            assert_true(map->box[1] == 64 && map->box[0] <= span);
        /* TMA writes whole pieces of 16 bytes; the kernel writes what is behind the last. */
        assert_int_equal(map->inner_multiple,
                         map->operand == LATHE_D ? 16 / lathe_type_bytes(map->type) : 1);
        assert_true(map->box[1] >= 1 && map->box[1] <= 256);
        assert_int_equal(map->box[0] * lathe_type_bytes(map->type) % 16, 0);
        for (int j = 0; j < c->param_count; j++)
            if (c->params[j].tensor_map == i) {
                assert_string_equal(c->params[j].name, map->name);
                assert_int_equal(c->params[j].bytes, 128);
                maps++;
            }
    }
    assert_int_equal(maps, c->tensor_map_count);
    for (int i = 0; i < c->param_count; i++) {
        char param[96];

        snprintf(param, sizeof param, " %s%s%s", c->params[i].name,
                 c->params[i].kind == LATHE_PARAM_TENSOR_MAP ? "[128]"
                 : c->params[i].kind == LATHE_PARAM_WALK     ? "[40]"
                                                             : "",
                 i + 1 < c->param_count ? ",  //" : "  //");
        assert_has(sample->text, param);
    }
}

static void the_contract_agrees_with_plan_and_text(void **state)
{
    (void)state;

    for_each_sample(check_contract);
}

static bool has_param(const struct lathe_contract *c, enum lathe_param_kind kind)
{
    for (int i = 0; i < c->param_count; i++)
        if (c->params[i].kind == kind)
            return true;
    return false;
}

/* Rows of D may end within 16 bytes. */
static bool may_have_edge(const struct lathe_plan *plan)
{
    return plan->statics != LATHE_STATIC_MNK ||
           plan->static_size[1] * lathe_type_bytes(plan->out) % 16 != 0;
}

static void check_sizes(const struct sample *sample)
{
    const struct lathe_plan *plan = sample->plan;
    const struct lathe_contract *c = sample->contract;

    assert_true(has_param(c, LATHE_PARAM_M) == (plan->statics != LATHE_STATIC_MNK));
    assert_true(has_param(c, LATHE_PARAM_N) == (plan->statics != LATHE_STATIC_MNK));
    assert_true(has_param(c, LATHE_PARAM_K) == (plan->statics == LATHE_STATIC_NONE));
    assert_true(has_param(c, LATHE_PARAM_BETA) == (plan->beta == LATHE_BETA_ANY));
    assert_true(has_param(c, LATHE_PARAM_ALPHA) && has_param(c, LATHE_PARAM_WALK));
    assert_true(has_param(c, LATHE_PARAM_D) == may_have_edge(plan));
    assert_true(has_param(c, LATHE_PARAM_LDD) == may_have_edge(plan));
    if (plan->statics != LATHE_STATIC_NONE)
        expect_line(sample, "mov.u32 %%k, %lld;\n", (long long)plan->static_size[2]);
    if (plan->statics == LATHE_STATIC_MNK)
        assert_lacks(sample->text, "%m,");
}

static void sizes_are_parameters_unless_they_are_baked_in(void **state)
{
    (void)state;

    for_each_sample(check_sizes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_are_those_of_the_tenants),
        cmocka_unit_test(barriers_expect_the_stages_bytes_and_every_warp_of_every_cta),
        cmocka_unit_test(the_entry_carries_threads_cluster_and_registers),
        cmocka_unit_test(the_main_loop_is_written_once),
        cmocka_unit_test(ctas_of_a_cluster_share_what_they_have_in_common),
        cmocka_unit_test(the_contract_agrees_with_plan_and_text),
        cmocka_unit_test(sizes_are_parameters_unless_they_are_baked_in),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
