/* walk.c: lathe_contract_walk(), what the host works out for schedule.h. */
#include "codegen/fields.h"
#include "codegen/status.h"
#include "templates/gemm_problem.h"

/* Of a divisor from 1 on. For x below 2^31 umulhi(x, factor) + x has no carry. */
static struct lathe_divisor divisor_of(uint32_t divisor)
{
    uint32_t shift = 0;

    while (UINT64_C(1) << shift < divisor)
        shift++;
    return (struct lathe_divisor){
        .factor = (uint32_t)((((UINT64_C(1) << shift) - divisor) << 32) / divisor + 1),
        .shift = shift,
    };
}

static enum lathe_status check(const struct lathe_contract *contract, int64_t m, int64_t n,
                               int raster, const struct lathe_walk *walk, struct lathe_error *err)
{
    if (!contract || !walk)
        return lt_fail(err, LATHE_MISUSED, "lathe_contract_walk: needs a contract and a walk");
    if (contract->cluster_tile[0] < 1 || contract->cluster_tile[1] < 1)
        return lt_fail(err, LATHE_MISUSED,
                       "lathe_contract_walk: the contract's cluster_tile is "
                       "%dx%d; take the contract of a kernel",
                       contract->cluster_tile[0], contract->cluster_tile[1]);
    if (m < 0 || m > LT_SIZE_MAX || n < 0 || n > LT_SIZE_MAX)
        return lt_fail(err, LATHE_OUT_OF_RANGE,
                       "m=%lld n=%lld: D has from 0 to %d rows and columns", (long long)m,
                       (long long)n, LT_SIZE_MAX);
    if (raster < 1)
        return lt_fail(err, LATHE_OUT_OF_RANGE, "raster=%d: must be a whole number from 1", raster);
    return LATHE_OK;
}

enum lathe_status lathe_contract_walk(const struct lathe_contract *contract, int64_t m, int64_t n,
                                      int raster, struct lathe_walk *walk, struct lathe_error *err)
{
    enum lathe_status status = check(contract, m, n, raster, walk, err);
    int64_t tiles;

    if (status != LATHE_OK)
        return status;
    status = lt_gemm_count_tiles(&(struct lathe_gemm){.m = m, .n = n}, contract->cluster_tile,
                                 &tiles, err);
    if (status != LATHE_OK)
        return status;

    *walk = (struct lathe_walk){.tiles = (uint32_t)tiles};
    if (tiles == 0)
        return LATHE_OK;

    uint32_t tiles_m = (uint32_t)((m - 1) / contract->cluster_tile[0] + 1);
    uint32_t rows = (uint32_t)raster < tiles_m ? (uint32_t)raster : tiles_m;
    uint32_t group_tiles = rows * ((uint32_t)tiles / tiles_m);

    *walk = (struct lathe_walk){
        .tiles = (uint32_t)tiles,
        .tiles_m = tiles_m,
        .raster = rows,
        .group_tiles = group_tiles,
        .by_group_tiles = divisor_of(group_tiles),
        .by_raster = divisor_of(rows),
        .by_last_rows = divisor_of((tiles_m - 1) % rows + 1),
    };
    return LATHE_OK;
}
