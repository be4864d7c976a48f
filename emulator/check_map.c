/* check_map.c: tensor maps that a kernel changes: TMA reads them by a proxy of their own, which has
 * to be told. Source: PTX ISA "fence.proxy.tensormap::generic", "tensormap.cp_fenceproxy". */
#include "emulator/check_state.h"

/* Of that map the proxy is told what the warp knows now. */
void emu_check_map_fence(struct emu_warp *warp, uint64_t address)
{
    struct emu_check_warp *check = warp->check;
    struct emu_check_map *map = &check->maps[check->map_fences++ % EMU_CHECK_MAPS];

    for (int i = 0; i < EMU_CHECK_MAPS; i++)
        if (check->maps[i].address == address)
            map = &check->maps[i];
    map->address = address;
    emu_check_join(warp, &map->told, &check->clock);
}

static struct emu_time told_of(const struct emu_check_warp *check, uint64_t address,
                               struct emu_agent agent)
{
    for (int i = 0; i < EMU_CHECK_MAPS; i++)
        if (check->maps[i].address == address)
            return emu_clock_get(&check->maps[i].told, agent);
    return emu_time_of(0);
}

void emu_check_map_use(struct emu_warp *warp, const struct emu_op *op, int lane, uint64_t address)
{
    struct emu_check *check = warp->cta->cluster->run->device->check;
    uint64_t bytes = 1;
    const uint32_t *shadow = emu_check_page(check, address, &bytes);
    struct emu_access writer;
    const struct emu_found found = {
        .code = "missing-proxy-fence",
        .warp = warp,
        .op = op,
        .lane = lane,
        .kind = EMU_READS,
        .other = &writer,
        .address = address,
        .has_address = true,
        .what = "the map was changed in this launch, and TMA reads it by another proxy",
        .needed = "fence.proxy.tensormap::generic.acquire of the map by this warp, behind what "
                  "tells it of the change (and .release by who made it)"};

    if (!shadow) {
        emu_check_no_memory(warp);
        return;
    }
    if (emu_histories_writer(check->histories, *shadow, &writer) &&
        told_of(warp->check, address, writer.agent).seen < writer.time)
        emu_check_found(&found);
}
