#include "codegen/barrier.h"

#include <stdio.h>

void lt_mbarrier_init(struct lt_builder *b, lt_value address, int arrivals)
{
    lt_require(b, LT_HAS_MBARRIER, "mbarrier");
    if (arrivals < 1 || arrivals >= 1 << 20)
        lt_mistake(b, "mbarrier.init takes 1 to 2^20 - 1 arrivals, not %d", arrivals);
    lt_inst(b, "mbarrier.init.shared::cta.b64 [%0], %1;", address, lt_imm(arrivals));
}

void lt_mbarrier_inval(struct lt_builder *b, lt_value address)
{
    lt_require(b, LT_HAS_MBARRIER, "mbarrier");
    lt_inst(b, "mbarrier.inval.shared::cta.b64 [%0];", address);
}

static void wait_by(struct lt_builder *b, const char *name, const char *form, lt_value address,
                    lt_value parity)
{
    char label[LT_LABEL_SIZE];
    char wait[LT_LABEL_SIZE];

    lt_require(b, LT_HAS_TMA, "mbarrier.try_wait");
    snprintf(wait, sizeof wait, "%.40s_wait", name);
    lt_label_name(b, label, wait);
    lt_label(b, label);

    lt_value ready = lt_define(b, LT_PRED, name);

    lt_inst(b, form, ready, address, parity);
    lt_branch(b, label, lt_not(ready));
}

void lt_mbarrier_wait(struct lt_builder *b, const char *name, lt_value address, lt_value parity)
{
    wait_by(b, name, "mbarrier.try_wait.parity.shared::cta.b64 %0, [%1], %2;", address, parity);
}

void lt_mbarrier_wait_cluster(struct lt_builder *b, const char *name, lt_value address,
                              lt_value parity)
{
    wait_by(b, name, "mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %0, [%1], %2;",
            address, parity);
}

static void check_bytes(struct lt_builder *b, lt_value bytes)
{
    lt_require(b, LT_HAS_TMA, "mbarrier.arrive.expect_tx");
    if (bytes.kind == LT_INTEGER && (bytes.number < 1 || bytes.number >= 1 << 20))
        lt_mistake(b, "a phase of an mbarrier counts 1 to 2^20 - 1 bytes, not %lld",
                   (long long)bytes.number);
}

void lt_mbarrier_arrive_expect_tx(struct lt_builder *b, lt_value address, lt_value bytes)
{
    check_bytes(b, bytes);
    lt_inst(b, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;", address, bytes);
}

void lt_mbarrier_arrive_expect_tx_remote(struct lt_builder *b, lt_value address, lt_value bytes)
{
    check_bytes(b, bytes);
    lt_inst(b, "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%0], %1;",
            address, bytes);
}

void lt_mbarrier_arrive(struct lt_builder *b, lt_value address)
{
    lt_require(b, LT_HAS_MBARRIER, "mbarrier");
    lt_inst(b, "mbarrier.arrive.shared::cta.b64 _, [%0];", address);
}

void lt_mbarrier_arrive_remote(struct lt_builder *b, lt_value address)
{
    lt_require(b, LT_HAS_TMA, "a remote mbarrier.arrive");
    lt_inst(b, "mbarrier.arrive.shared::cluster.b64 _, [%0];", address);
}

void lt_mbarrier_arrive_relaxed(struct lt_builder *b, lt_value address)
{
    lt_require(b, LT_HAS_TMA, "a remote mbarrier.arrive");
    lt_inst(b, "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];", address);
}

void lt_fence_mbarrier_init(struct lt_builder *b)
{
    lt_require(b, LT_HAS_TMA, "fence.mbarrier_init");
    lt_raw(b, "fence.mbarrier_init.release.cluster;");
}

void lt_fence_proxy_async(struct lt_builder *b)
{
    lt_require(b, LT_HAS_TMA, "fence.proxy.async");
    lt_raw(b, "fence.proxy.async.shared::cta;");
}

void lt_warp_sync(struct lt_builder *b)
{
    lt_raw(b, "bar.warp.sync 0xffffffff;");
}

void lt_bar_sync_cta(struct lt_builder *b)
{
    lt_raw(b, "bar.sync 0;");
}

static void named_barrier(struct lt_builder *b, const char *form, lt_value id, int threads)
{
    if (threads % 32 != 0)
        lt_mistake(b, "a named barrier counts whole warps, not %d threads", threads);
    lt_inst(b, form, id, lt_imm(threads));
}

void lt_bar_sync(struct lt_builder *b, lt_value id, int threads)
{
    named_barrier(b, "bar.sync %0, %1;", id, threads);
}

void lt_bar_arrive(struct lt_builder *b, lt_value id, int threads)
{
    named_barrier(b, "bar.arrive %0, %1;", id, threads);
}
