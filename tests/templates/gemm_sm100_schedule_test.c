/* schedule=dynamic on sm_100a: who asks for tiles, who reads the replies, and in which order. */
#include "include/lathe.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"
#include "tests/templates/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Readers: in each CTA a producer and 128 writers for each consumer, for each pair as many issuers
 * as consumers, and the scheduler. */
static const struct {
    const char *words;
    int ctas, readers;
    bool other_roles; /* warp 10 instead of 6 */
} samples[] = {
    {"gemm m=512 n=512 k=256 arch=sm_100a variant=blackwell-7 schedule=dynamic", 1, 131, false},
    {"gemm m=512 n=512 k=256 arch=sm_100a variant=blackwell-7 schedule=dynamic cluster=2x1x1", 2,
     2 * 130 + 1, false},
    {"gemm m=512 n=512 k=256 arch=sm_100a variant=blackwell-8 schedule=dynamic", 2, 260, false},
    {"gemm m=512 n=512 k=256 arch=sm_103a variant=blackwell-8 schedule=dynamic cluster=4x1x1", 4,
     2 * 259 + 1, false},
    {"gemm m=512 n=512 k=256 arch=sm_100a variant=blackwell-9 schedule=dynamic beta=any", 2,
     2 * 257 + 2 + 1, true},
    {"gemm m=512 n=512 k=256 arch=sm_103a variant=blackwell-best schedule=dynamic", 2, 260, false},
};
enum { SAMPLES = sizeof samples / sizeof samples[0] };

/* From the part's heading to the next one; to be freed. */
static char *part_of(const char *text, const char *heading)
{
    char start[64];

    snprintf(start, sizeof start, "// ---- %s:", heading);

    const char *from = strstr(text, start);

    if (!from)
        fail_msg("no part is headed %s", heading);

    const char *to = strstr(from + strlen(start), "// ---- ");
    size_t length = to ? (size_t)(to - from) : strlen(from);
    char *part = calloc(1, length + 1);

    assert_non_null(part);
    memcpy(part, from, length);
    return part;
}

/* The parts stand in the text in this order. */
static void assert_in_order(const char *text, const char *const *parts)
{
    const char *at = text;

    for (; *parts; parts++) {
        at = strstr(at, *parts);
        if (!at)
            fail_msg("'%s' is not there, or not behind what is to come before", *parts);
        at += strlen(*parts);
    }
}

static void the_grid_has_a_cluster_for_every_tile(void **state)
{
    (void)state;

    for (int i = 0; i < SAMPLES; i++) {
        struct lathe_kernel *kernel = kernel_of(samples[i].words);

        assert_int_equal(lathe_kernel_contract(kernel)->one_tile, 1);
        assert_int_equal(lathe_kernel_contract(kernel)->most_clusters, 0);
        lathe_kernel_destroy(&kernel);
    }
}

static void all_who_read_a_reply_count(void **state)
{
    (void)state;

    for (int i = 0; i < SAMPLES; i++) {
        struct lathe_kernel *kernel = kernel_of(samples[i].words);
        char init[96];

        snprintf(init, sizeof init, "mbarrier.init.shared::cta.b64 [%%replies_empty], %d;",
                 samples[i].readers);
        assert_has(lathe_kernel_text(kernel, NULL), init);
        snprintf(init, sizeof init, "mbarrier.init.shared::cta.b64 [%%replies_empty+8], %d;",
                 samples[i].readers);
        assert_has(lathe_kernel_text(kernel, NULL), init);
        lathe_kernel_destroy(&kernel);
    }
}

static void one_thread_of_a_cluster_asks_for_all_its_ctas(void **state)
{
    (void)state;

    for (int i = 0; i < SAMPLES; i++) {
        struct lathe_kernel *kernel = kernel_of(samples[i].words);
        const char *text = lathe_kernel_text(kernel, NULL);
        char *scheduler = part_of(text, "scheduler");
        size_t expecting = ptx_count(scheduler, "mbarrier.arrive.expect_tx");
        bool in_cluster = samples[i].ctas > 1;

        assert_int_equal(ptx_count(text, "clusterlaunchcontrol.try_cancel"), 1);
        assert_int_equal(ptx_count(scheduler, "clusterlaunchcontrol.try_cancel"), 1);
        assert_int_equal(ptx_count(scheduler, ".multicast::cluster::all"), in_cluster);
        assert_int_equal(expecting, samples[i].ctas);
        assert_has(scheduler, samples[i].other_roles ? "warp 10, one lane" : "warp 6, one lane");
        assert_int_equal(ptx_count(text, "and.pred %schedules, %schedules, %first_cta;"),
                         in_cluster);
        free(scheduler);
        lathe_kernel_destroy(&kernel);
    }
}

static void nobody_asks_behind_the_reply_that_has_no_tile(void **state)
{
    (void)state;
    static const char *const order[] = {"$scheduler_request:",
                                        "$scheduler_replies_free_wait:",
                                        "mbarrier.arrive.expect_tx",
                                        "clusterlaunchcontrol.try_cancel",
                                        "$scheduler_replies_ready_wait:",
                                        "query_cancel.is_canceled.pred.b128 %has_next",
                                        "@!%has_next bra $scheduler_request_end;",
                                        "bra $scheduler_request;",
                                        "$scheduler_request_end:",
                                        NULL};

    for (int i = 0; i < SAMPLES; i++) {
        struct lathe_kernel *kernel = kernel_of(samples[i].words);
        char *scheduler = part_of(lathe_kernel_text(kernel, NULL), "scheduler");

        assert_in_order(scheduler, order);
        free(scheduler);
        lathe_kernel_destroy(&kernel);
    }
}

#define FIRST_CTA "@%has_next clusterlaunchcontrol.query_cancel.get_first_ctaid::x"

/* The fences stand between the read and what lets the stage go. Who is blind does not ask which
 * tile is next, and reads no more of the reply than that there is one. */
static void check_reader(const char *part, const char *role, bool in_cluster, bool is_blind)
{
    static const char *const alone[] = {"ld.shared.b128 %reply", "fence.proxy.async.shared::cta;",
                                        "mbarrier.arrive.shared::cta.b64 _, [%replies_empty];",
                                        NULL};
    static const char *const together[] = {
        "ld.shared.b128 %reply",
        "fence.proxy.async.shared::cta;",
        "fence.release.sync_restrict::shared::cta.cluster;",
        "mapa.shared::cluster.u32 %scheduler_empty, %replies_empty, 0;",
        "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%scheduler_empty];",
        NULL};
    char loop[64], end[64], again[64];
    const char *const order[] = {loop,
                                 "[%replies_full], %replies_parity;",
                                 "ld.shared.b128 %reply, [%reply_at];",
                                 "query_cancel.is_canceled.pred.b128 %has_next, %reply;",
                                 is_blind ? "fence.proxy.async" : FIRST_CTA,
                                 end,
                                 again,
                                 NULL};

    snprintf(loop, sizeof loop, "$%s_next_tile:", role);
    snprintf(end, sizeof end, "@!%%has_next bra $%s_next_tile_end;", role);
    snprintf(again, sizeof again, "bra $%s_next_tile;", role);
    assert_in_order(part, order);
    assert_in_order(part, in_cluster ? together : alone);
    assert_int_equal(ptx_count(part, "ld.shared.b128"), 1);
    assert_int_equal(ptx_count(part, FIRST_CTA), !is_blind);
}

static void every_role_reads_each_reply_and_lets_it_go(void **state)
{
    (void)state;

    for (int i = 0; i < SAMPLES; i++) {
        struct lathe_kernel *kernel = kernel_of(samples[i].words);
        const char *text = lathe_kernel_text(kernel, NULL);
        char *producer = part_of(text, "producer"), *mma = part_of(text, "mma"),
             *writer = part_of(text, "writer");
        bool in_cluster = samples[i].ctas > 1;

        check_reader(producer, "producer", in_cluster, false);
        check_reader(mma, "mma", in_cluster, true);
        check_reader(writer, "writer", in_cluster, false);
        free(producer);
        free(mma);
        free(writer);
        lathe_kernel_destroy(&kernel);
    }
}

static void a_cluster_begins_and_ends_together(void **state)
{
    (void)state;

    for (int i = 0; i < SAMPLES; i++) {
        struct lathe_kernel *kernel = kernel_of(samples[i].words);
        const char *text = lathe_kernel_text(kernel, NULL);
        char *setup = part_of(text, "tensor memory"), *teardown = part_of(text, "teardown");
        size_t syncs = samples[i].ctas > 1;

        assert_int_equal(ptx_count(setup, "barrier.cluster.wait"), syncs);
        assert_int_equal(ptx_count(teardown, "barrier.cluster.wait"), syncs);
        free(setup);
        free(teardown);
        lathe_kernel_destroy(&kernel);
    }
}

static void other_schedules_ask_nobody(void **state)
{
    (void)state;
    struct lathe_kernel *kernel =
        kernel_of("gemm m=512 n=512 k=256 arch=sm_100a variant=blackwell-9 schedule=persistent");
    const char *text = lathe_kernel_text(kernel, NULL);

    assert_lacks(text, "clusterlaunchcontrol");
    assert_lacks(text, "replies");
    assert_lacks(text, "schedules");
    assert_int_equal(lathe_kernel_contract(kernel)->one_tile, 0);
    lathe_kernel_destroy(&kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_grid_has_a_cluster_for_every_tile),
        cmocka_unit_test(all_who_read_a_reply_count),
        cmocka_unit_test(one_thread_of_a_cluster_asks_for_all_its_ctas),
        cmocka_unit_test(nobody_asks_behind_the_reply_that_has_no_tile),
        cmocka_unit_test(every_role_reads_each_reply_and_lets_it_go),
        cmocka_unit_test(a_cluster_begins_and_ends_together),
        cmocka_unit_test(other_schedules_ask_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
