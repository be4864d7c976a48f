#include "codegen/cluster.h"

void lt_cluster_sync(struct lt_builder *b)
{
    lt_require(b, LT_HAS_TMA, "barrier.cluster");
    lt_raw(b, "barrier.cluster.arrive.relaxed;");
    lt_raw(b, "barrier.cluster.wait;");
}

void lt_cluster_sync_with_memory(struct lt_builder *b)
{
    lt_require(b, LT_HAS_TMA, "barrier.cluster");
    lt_raw(b, "barrier.cluster.arrive.release.aligned;");
    lt_raw(b, "barrier.cluster.wait.acquire.aligned;");
}

void lt_fence_cluster_release(struct lt_builder *b)
{
    lt_require(b, LT_HAS_TMA, "fence.release.sync_restrict");
    lt_raw(b, "fence.release.sync_restrict::shared::cta.cluster;");
}

void lt_fence_cluster_acquire(struct lt_builder *b)
{
    lt_require(b, LT_HAS_TMA, "fence.acquire.sync_restrict");
    lt_raw(b, "fence.acquire.sync_restrict::shared::cluster.cluster;");
}

lt_value lt_mapa(struct lt_builder *b, const char *name, lt_value address, lt_value rank)
{
    lt_require(b, LT_HAS_TMA, "mapa");

    lt_value remote = lt_define(b, LT_B32, name);

    lt_inst(b, "mapa.shared::cluster.u32 %0, %1, %2;", remote, address, rank);
    return remote;
}
