#include "codegen/barrier.h"

#include "codegen/cluster.h"

#include "tests/codegen/fixture.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"

#include <stdio.h>

static void barriers_are_initialised_with_their_arrivals(void **state)
{
    struct lt_builder *b = *state;
    lt_value full = lt_variable(b, LT_B32, "full");

    lt_mbarrier_init(b, full, 1);
    lt_mbarrier_init(b, lt_at(full, 8), 16);

    assert_no_mistake(b);
    assert_ends_with(written(b), "mbarrier.init.shared::cta.b64 [%full], 1;\n"
                                 "mbarrier.init.shared::cta.b64 [%full+8], 16;\n");
}

static void a_wait_turns_until_the_phase_of_its_parity_has_completed(void **state)
{
    struct lt_builder *b = *state;

    lt_mbarrier_wait(b, "ready", lt_at(lt_variable(b, LT_B32, "full"), 8),
                     lt_variable(b, LT_B32, "parity"));

    assert_no_mistake(b);
    assert_ends_with(written(b),
                     "$ready_wait:\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 %ready, [%full+8], %parity;\n"
                     "@!%ready bra $ready_wait;\n");
}

static void an_arrival_may_announce_bytes(void **state)
{
    struct lt_builder *b = *state;
    lt_value full = lt_variable(b, LT_B32, "full");

    lt_mbarrier_arrive_expect_tx(b, full, lt_imm(49152));
    lt_mbarrier_arrive(b, full);

    assert_no_mistake(b);
    assert_ends_with(written(b), "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full], 49152;\n"
                                 "mbarrier.arrive.shared::cta.b64 _, [%full];\n");
}

static void an_arrival_at_another_cta_goes_to_a_mapped_address(void **state)
{
    struct lt_builder *b = *state;
    lt_value local = lt_variable(b, LT_B32, "empty"), rank = lt_variable(b, LT_B32, "rank");

    lt_mbarrier_arrive_remote(b, lt_mapa(b, "remote", local, rank));

    assert_no_mistake(b);
    assert_ends_with(written(b), "mapa.shared::cluster.u32 %remote, %empty, %rank;\n"
                                 "mbarrier.arrive.shared::cluster.b64 _, [%remote];\n");
}

/* Relaxed operations say nothing of what was done before; the fences beside them do. */
static void a_signal_between_ctas_has_fences_of_the_cluster(void **state)
{
    struct lt_builder *b = *state;
    lt_value full = lt_variable(b, LT_B32, "full"), empty = lt_variable(b, LT_B32, "empty");
    lt_value parity = lt_variable(b, LT_B32, "parity");

    lt_fence_cluster_release(b);
    lt_mbarrier_arrive_relaxed(b, lt_mapa(b, "remote", empty, lt_imm(0)));
    lt_mbarrier_wait_cluster(b, "free", empty, parity);
    lt_fence_cluster_acquire(b);
    lt_mbarrier_arrive_expect_tx_remote(b, full, lt_imm(16));

    assert_no_mistake(b);
    assert_ends_with(
        written(b),
        "fence.release.sync_restrict::shared::cta.cluster;\n"
        "mapa.shared::cluster.u32 %remote, %empty, 0;\n"
        "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%remote];\n"
        "$free_wait:\n"
        "mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %free, [%empty], %parity;\n"
        "@!%free bra $free_wait;\n"
        "fence.acquire.sync_restrict::shared::cluster.cluster;\n"
        "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%full], 16;\n");
}

static void fences_and_barriers_are_those_of_the_manual(void **state)
{
    struct lt_builder *b = *state;

    lt_fence_mbarrier_init(b);
    lt_fence_proxy_async(b);
    lt_bar_sync_cta(b);
    lt_bar_sync(b, lt_imm(1), 128);
    lt_cluster_sync(b);

    assert_no_mistake(b);
    assert_ends_with(written(b), "fence.mbarrier_init.release.cluster;\n"
                                 "fence.proxy.async.shared::cta;\n"
                                 "bar.sync 0;\n"
                                 "bar.sync 1, 128;\n"
                                 "barrier.cluster.arrive.relaxed;\n"
                                 "barrier.cluster.wait;\n");
}

/* The ranges of the object: PTX ISA "mbarrier: Size and alignment". */
static void counts_outside_the_objects_range_are_mistakes(void **state)
{
    (void)state;
    static const int wrong[] = {0, -1, 1 << 20};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char cause[96];
        struct lt_builder *b = kernel_for(LATHE_SM_90A, true, NULL);

        lt_mbarrier_init(b, lt_variable(b, LT_B32, "full"), wrong[i]);
        snprintf(cause, sizeof cause, "mbarrier.init takes 1 to 2^20 - 1 arrivals, not %d",
                 wrong[i]);
        assert_mistake(b, cause);
        lt_builder_destroy(&b);

        b = kernel_for(LATHE_SM_90A, true, NULL);
        lt_mbarrier_arrive_expect_tx(b, lt_variable(b, LT_B32, "full"), lt_imm(wrong[i]));
        snprintf(cause, sizeof cause, "a phase of an mbarrier counts 1 to 2^20 - 1 bytes, not %d",
                 wrong[i]);
        assert_mistake(b, cause);
        lt_builder_destroy(&b);
    }
}

static void the_largest_counts_are_no_mistakes(void **state)
{
    struct lt_builder *b = *state;
    lt_value full = lt_variable(b, LT_B32, "full");

    lt_mbarrier_init(b, full, (1 << 20) - 1);
    lt_mbarrier_arrive_expect_tx(b, full, lt_imm((1 << 20) - 1));

    assert_no_mistake(b);
}

static void a_named_barrier_counts_whole_warps(void **state)
{
    struct lt_builder *b = *state;

    lt_bar_sync(b, lt_imm(1), 100);

    assert_mistake(b, "a named barrier counts whole warps, not 100 threads");
}

static void an_arrival_at_a_named_barrier_does_not_wait(void **state)
{
    struct lt_builder *b = *state;

    lt_bar_arrive(b, lt_variable(b, LT_B32, "next"), 256);

    assert_no_mistake(b);
    assert_ends_with(written(b), "bar.arrive %next, 256;\n");
}

static void refuse(enum lathe_arch arch, void (*write)(struct lt_builder *b), const char *what)
{
    struct lt_builder *b = kernel_for(arch, true, NULL);
    char cause[160];

    write(b);
    snprintf(cause, sizeof cause,
             "%s needs sm_90a, sm_100a, sm_103a, sm_110a or sm_120a; this kernel is for %s", what,
             lathe_arch_name(arch));
    assert_mistake(b, cause);
    lt_builder_destroy(&b);
}

static void write_wait(struct lt_builder *b)
{
    lt_mbarrier_wait(b, "ready", lt_variable(b, LT_B32, "full"), lt_imm(0));
}

static void write_expect(struct lt_builder *b)
{
    lt_mbarrier_arrive_expect_tx(b, lt_variable(b, LT_B32, "full"), lt_imm(16));
}

static void write_remote(struct lt_builder *b)
{
    lt_mbarrier_arrive_remote(b, lt_variable(b, LT_B32, "full"));
}

static void write_mapa(struct lt_builder *b)
{
    lt_mapa(b, "remote", lt_variable(b, LT_B32, "full"), lt_imm(0));
}

static void what_came_with_sm_90_is_refused_before_it(void **state)
{
    (void)state;

    refuse(LATHE_SM_80, write_wait, "mbarrier.try_wait");
    refuse(LATHE_SM_86, write_expect, "mbarrier.arrive.expect_tx");
    refuse(LATHE_SM_89, write_remote, "a remote mbarrier.arrive");
    refuse(LATHE_SM_89, lt_fence_mbarrier_init, "fence.mbarrier_init");
    refuse(LATHE_SM_89, lt_fence_proxy_async, "fence.proxy.async");
    refuse(LATHE_SM_89, lt_cluster_sync, "barrier.cluster");
    refuse(LATHE_SM_89, write_mapa, "mapa");
}

static void what_came_with_sm_80_is_there(void **state)
{
    (void)state;
    struct lt_builder *b = kernel_for(LATHE_SM_80, true, NULL);
    lt_value full = lt_variable(b, LT_B32, "full");

    lt_mbarrier_init(b, full, 4);
    lt_mbarrier_arrive(b, full);
    lt_bar_sync_cta(b);

    assert_no_mistake(b);
    lt_builder_destroy(&b);
}

#define in_kernel(test) cmocka_unit_test_setup_teardown(test, open_kernel, close_kernel)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_kernel(barriers_are_initialised_with_their_arrivals),
        in_kernel(a_wait_turns_until_the_phase_of_its_parity_has_completed),
        in_kernel(an_arrival_may_announce_bytes),
        in_kernel(an_arrival_at_another_cta_goes_to_a_mapped_address),
        in_kernel(a_signal_between_ctas_has_fences_of_the_cluster),
        in_kernel(fences_and_barriers_are_those_of_the_manual),
        cmocka_unit_test(counts_outside_the_objects_range_are_mistakes),
        in_kernel(the_largest_counts_are_no_mistakes),
        in_kernel(a_named_barrier_counts_whole_warps),
        in_kernel(an_arrival_at_a_named_barrier_does_not_wait),
        cmocka_unit_test(what_came_with_sm_90_is_refused_before_it),
        cmocka_unit_test(what_came_with_sm_80_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
