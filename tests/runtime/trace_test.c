/* A problem on the emulator, whose time is modelled: by what can be counted by hand. */
#include "include/lathe_tools.h"
#include "tests/runtime/fixture.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Traces ---- */

static enum lathe_status try_trace(struct runtime_fixture *f, const char *words,
                                   struct lathe_trace_report *report)
{
    struct lathe_request request = LATHE_REQUEST_INIT;
    const char *list[16];
    char copy[256], *rest = NULL;
    int count = 0;

    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        list[count++] = word;
    assert_status(f, lathe_request_parse(&request, count, list, &f->error), LATHE_OK);
    return lathe_trace_gemm(f->context, &request.gemm, &request.plan, NULL, report, &f->error);
}

static void use_emulator(struct runtime_fixture *f)
{
    f->options.emulator = LATHE_EMULATOR_ALWAYS;
    if (f->options.emulated_arch == LATHE_ARCH_DEFAULT)
        f->options.emulated_arch = LATHE_SM_90A;
    setenv("LATHE_EMU_LIBRARY", EMULATOR_PATH, 1);
    runtime_again(f);
    unsetenv("LATHE_EMU_LIBRARY");
}

static struct lathe_trace *trace(struct runtime_fixture *f, const char *words)
{
    struct lathe_trace_report report = LATHE_TRACE_REPORT_INIT;

    assert_status(f, try_trace(f, words, &report), LATHE_OK);
    return report.trace;
}

/* Two tiles of D; each takes A of 8 KB, B of 8 KB, four products of 32 cycles. */
#define TWO_TILES "gemm m=128 n=64 k=64 arch=sm_90a tile=64x64x64 stages=2 "

static void what_is_moved_and_multiplied_adds_up(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_trace *one;
    const struct lathe_trace_total *total;

    use_emulator(f);
    one = trace(f, TWO_TILES "cluster=1x1x1");
    total = lathe_trace_total(one);
    assert_int_equal(total->tensor_cycles, 2 * 4 * 32);
    assert_int_equal(total->copy_bytes, 4 * 8192);
    assert_int_equal(total->store_bytes, 2 * 8192);
    assert_int_equal(total->l2_bytes, 6 * 8192);
    assert_int_equal(total->dram_bytes, (3 + 2) * 8192);
    assert_int_equal(total->clock_khz, 1980000);
    assert_int_equal(total->multiprocessors, 2);
    assert_int_equal(total->launches, 1);
    lathe_trace_free(one);
}

/* B is read once for both CTAs. */
static void a_multicast_is_read_once(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_trace *one;

    use_emulator(f);
    one = trace(f, TWO_TILES "cluster=2x1x1");
    assert_int_equal(lathe_trace_total(one)->copy_bytes, 4 * 8192);
    assert_int_equal(lathe_trace_total(one)->l2_bytes, 5 * 8192);
    lathe_trace_free(one);
}

/* Two pairs: A of 32 KB and B of 8 KB each, and D of 32 KB. Side by side along m they share B,
 * along n A, if they are of one cluster. */
static void what_pairs_of_a_cluster_share_is_read_once(void **state)
{
    static const struct {
        const char *words;
        uint64_t kilobytes;
    } cases[] = {
        {"gemm m=512 n=64 k=64 arch=sm_100a variant=blackwell-8 tile=256x64x64 cluster=2x1x1",
         2 * (32 + 8)},
        {"gemm m=512 n=64 k=64 arch=sm_100a variant=blackwell-8 tile=256x64x64 cluster=4x1x1",
         2 * 32 + 8},
        {"gemm m=256 n=128 k=64 arch=sm_100a variant=blackwell-8 tile=256x64x64 cluster=2x2x1",
         32 + 2 * 8},
    };
    struct runtime_fixture *f = *state;

    f->options.emulated_arch = LATHE_SM_100A;
    use_emulator(f);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lathe_trace *one = trace(f, cases[i].words);

        assert_int_equal(lathe_trace_total(one)->copy_bytes, 2 * (32 + 8) * 1024);
        assert_int_equal(lathe_trace_total(one)->l2_bytes, (cases[i].kilobytes + 2 * 32) * 1024);
        lathe_trace_free(one);
    }
}

/* Unless shared memory is too slow for them. */
static void products_take_half_as_many_cycles_as_columns(void **state)
{
    static const struct {
        const char *words;
        uint64_t cycles;
    } cases[] = {
        {"gemm m=64 n=256 k=64 arch=sm_90a tile=64x256x64 stages=2 cluster=1x1x1", 4 * 128},
        {"gemm m=64 n=128 k=64 type=bf16 arch=sm_90a tile=64x128x64 stages=2 cluster=1x1x1",
         4 * 64},
        /* A and B have 64 + 8 rows of 32 bytes, which take 18 cycles to come. */
        {"gemm m=64 n=8 k=64 arch=sm_90a tile=64x8x64 stages=2 cluster=1x1x1", 4 * 18},
    };
    struct runtime_fixture *f = *state;

    use_emulator(f);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lathe_trace *one = trace(f, cases[i].words);

        assert_int_equal(lathe_trace_total(one)->tensor_cycles, cases[i].cycles);
        lathe_trace_free(one);
    }
}

/* Tensor cores that are busy for much of the time take more than the board's power has; those of
 * one multiprocessor do not. */
static void power_lowers_the_clock(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_trace *all, *one;

    use_emulator(f);
    all = trace(f, "gemm m=2048 n=2048 k=512 arch=sm_90a tile=128x256x64 cluster=2x1x1");
    one = trace(f, "gemm m=128 n=256 k=2048 arch=sm_90a tile=128x256x64 cluster=1x1x1");
    assert_int_equal(lathe_trace_total(all)->multiprocessors, 128);
    assert_in_range(lathe_trace_total(all)->clock_khz, 1400000, 1700000);
    assert_int_equal(lathe_trace_total(one)->clock_khz, 1980000);
    lathe_trace_free(all);
    lathe_trace_free(one);
}

/* ---- Events ---- */

static bool share_a_track(const struct lathe_trace_event *a, const struct lathe_trace_event *b)
{
    bool spans = a->kind <= LATHE_TRACE_WAIT && b->kind <= LATHE_TRACE_WAIT && a->warp == b->warp;
    bool products = a->kind == LATHE_TRACE_PRODUCT && b->kind == LATHE_TRACE_PRODUCT;

    return (spans || products) && memcmp(a->cta, b->cta, sizeof a->cta) == 0;
}

static void events_of_a_track_do_not_overlap(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_trace *one;
    const struct lathe_trace_event *events;
    const struct lathe_trace_total *total;
    size_t count, products = 0, copies = 0;

    use_emulator(f);
    one = trace(f, "gemm m=256 n=256 k=256 arch=sm_90a tile=128x256x64 stages=3 cluster=2x1x1");
    events = lathe_trace_events(one, &count);
    total = lathe_trace_total(one);
    assert_true(count > 100);
    for (size_t i = 0; i < count; i++) {
        products += events[i].kind == LATHE_TRACE_PRODUCT;
        copies += events[i].kind == LATHE_TRACE_COPY;
        assert_true(events[i].begin <= events[i].end && events[i].end <= total->cycles);
        for (size_t k = 0; k < i; k++)
            assert_true(!share_a_track(&events[i], &events[k]) ||
                        events[k].end <= events[i].begin || events[i].end <= events[k].begin);
    }
    assert_int_equal(products, 2 * 2 * 4 * 4);
    assert_int_equal(copies, 2 * 4 * (1 + 2)); /* of B a half from each of both */
    assert_true(total->tensor_cycles <= total->cycles * total->multiprocessors);
    lathe_trace_free(one);
}

static bool has_event(const struct lathe_trace *one, int kind, const char *role, const char *name)
{
    size_t count;
    const struct lathe_trace_event *events = lathe_trace_events(one, &count);

    for (size_t i = 0; i < count; i++)
        if (events[i].kind == kind && strcmp(events[i].role, role) == 0 &&
            strcmp(events[i].name, name) == 0 && (role[0] == '\0') == (events[i].line == 0))
            return true;
    return false;
}

static void events_have_the_words_of_the_text(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_trace *one;

    use_emulator(f);
    one = trace(f, "gemm m=128 n=128 k=512 arch=sm_90a tile=128x128x64 stages=2 cluster=1x1x1");
    assert_true(has_event(one, LATHE_TRACE_RUN, "setup", ""));
    assert_true(has_event(one, LATHE_TRACE_RUN, "producer", ""));
    assert_true(has_event(one, LATHE_TRACE_WAIT, "producer", "%tiles_empty"));
    assert_true(has_event(one, LATHE_TRACE_WAIT, "consumer", "%tiles_full"));
    assert_true(has_event(one, LATHE_TRACE_COPY, "producer", "%a_map"));
    assert_true(has_event(one, LATHE_TRACE_WRITE, "consumer", "%d_map"));
    assert_true(has_event(one, LATHE_TRACE_PRODUCT, "consumer", "m64n128k16"));
    assert_true(has_event(one, LATHE_TRACE_PHASE, "", "%tiles_full"));
    lathe_trace_free(one);
}

static void two_runs_are_the_same(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_trace *one, *other;
    const struct lathe_trace_event *x, *y;
    size_t count, other_count;

    use_emulator(f);
    one = trace(f, TWO_TILES "cluster=2x1x1");
    other = trace(f, TWO_TILES "cluster=2x1x1");
    x = lathe_trace_events(one, &count);
    y = lathe_trace_events(other, &other_count);
    assert_int_equal(count, other_count);
    for (size_t i = 0; i < count; i++)
        assert_true(x[i].kind == y[i].kind && x[i].begin == y[i].begin && x[i].end == y[i].end &&
                    strcmp(x[i].name, y[i].name) == 0);
    lathe_trace_free(one);
    lathe_trace_free(other);
}

/* ---- What cannot be ---- */

static void without_the_emulator_there_is_no_model(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_trace_report report = LATHE_TRACE_REPORT_INIT;

    assert_status(f, try_trace(f, TWO_TILES, &report), LATHE_MISUSED);
    assert_null(report.trace);
    report.struct_size -= 16;
    assert_status(f, try_trace(f, TWO_TILES, &report), LATHE_MISUSED);
    assert_non_null(strstr(f->error.message, "compile what uses it anew"));
    assert_status(f, lathe_trace_gemm(NULL, NULL, NULL, NULL, NULL, &f->error), LATHE_MISUSED);
    lathe_trace_free(NULL);
}

static void running_out_of_memory_is_reported_at_every_allocation(void **state)
{
    struct runtime_fixture *f = *state;
    struct fail_allocator allocator;
    enum lathe_status status = LATHE_OUT_OF_MEMORY;

    fail_allocator_init(&allocator, -1);
    f->options.allocator = &allocator.allocator;
    use_emulator(f);
    lathe_trace_free(trace(f, TWO_TILES)); /* the kernel is there */
    for (long n = 0; status == LATHE_OUT_OF_MEMORY && n < 40; n++) {
        struct lathe_trace_report report = LATHE_TRACE_REPORT_INIT;
        long live = allocator.live;

        allocator.fails_from = allocator.calls + n;
        status = try_trace(f, TWO_TILES, &report);
        if (status == LATHE_OK)
            lathe_trace_free(report.trace);
        assert_int_equal(allocator.live, live);
    }
    allocator.fails_from = -1;
    assert_status(f, status, LATHE_OK);
    lathe_context_destroy(&f->context); /* before its allocator goes */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUNTIME_TEST(what_is_moved_and_multiplied_adds_up),
        RUNTIME_TEST(a_multicast_is_read_once),
        RUNTIME_TEST(what_pairs_of_a_cluster_share_is_read_once),
        RUNTIME_TEST(products_take_half_as_many_cycles_as_columns),
        RUNTIME_TEST(power_lowers_the_clock),
        RUNTIME_TEST(events_of_a_track_do_not_overlap),
        RUNTIME_TEST(events_have_the_words_of_the_text),
        RUNTIME_TEST(two_runs_are_the_same),
        RUNTIME_TEST(without_the_emulator_there_is_no_model),
        RUNTIME_TEST(running_out_of_memory_is_reported_at_every_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
