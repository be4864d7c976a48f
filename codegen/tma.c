#include "codegen/tma.h"

void lt_tma_prefetch_map(struct lt_builder *b, lt_value map)
{
    lt_require(b, LT_HAS_TMA, "prefetch.tensormap");
    lt_inst(b, "prefetch.tensormap [%0];", map);
}

void lt_tma_load(struct lt_builder *b, lt_value map, lt_value column, lt_value row, lt_value smem,
                 lt_value full, lt_value mask)
{
    if (mask.kind == LT_NOTHING) {
        lt_require(b, LT_HAS_TMA, "cp.async.bulk.tensor");
        lt_inst(b,
                "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                "[%0], [%1, {%2, %3}], [%4];",
                smem, map, column, row, full);
        return;
    }
    lt_require(b, LT_HAS_MULTICAST, "cp.async.bulk.tensor with .multicast::cluster");
    lt_inst(b,
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
            ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;",
            smem, map, column, row, full, mask);
}

void lt_tma_load_for_pair(struct lt_builder *b, lt_value map, lt_value column, lt_value row,
                          lt_value smem, lt_value leader_full, lt_value mask)
{
    lt_require(b, LT_HAS_TCGEN05, "cp.async.bulk.tensor with .cta_group::2");
    if (mask.kind == LT_NOTHING) {
        lt_inst(b,
                "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                ".cta_group::2 [%0], [%1, {%2, %3}], [%4];",
                smem, map, column, row, leader_full);
        return;
    }
    lt_require(b, LT_HAS_MULTICAST, "cp.async.bulk.tensor with .multicast::cluster");
    lt_inst(b,
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
            ".multicast::cluster.cta_group::2 [%0], [%1, {%2, %3}], [%4], %5;",
            smem, map, column, row, leader_full, mask);
}

void lt_tma_store(struct lt_builder *b, lt_value map, lt_value column, lt_value row, lt_value smem)
{
    lt_require(b, LT_HAS_TMA, "cp.async.bulk.tensor");
    lt_inst(b, "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];",
            map, column, row, smem);
}

void lt_tma_commit(struct lt_builder *b)
{
    lt_require(b, LT_HAS_TMA, "cp.async.bulk.commit_group");
    lt_raw(b, "cp.async.bulk.commit_group;");
}

void lt_tma_wait_read(struct lt_builder *b, int pending)
{
    lt_require(b, LT_HAS_TMA, "cp.async.bulk.wait_group");
    lt_inst(b, "cp.async.bulk.wait_group.read %0;", lt_imm(pending));
}
