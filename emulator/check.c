/* check.c: the sanitizer's lives: of a device, a launch, a cluster; and its shadow of memory. */
#include "emulator/check_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- Pages of global memory ---- */

static struct emu_page *slot_of(struct emu_page *pages, size_t room, uint64_t number)
{
    size_t at = (size_t)(number * 0x9e3779b97f4a7c15u >> 20) & (room - 1);

    while (pages[at].is_used && pages[at].number != number)
        at = (at + 1) & (room - 1);
    return &pages[at];
}

static bool widen_pages(struct emu_check *check)
{
    size_t room = check->page_room ? 2 * check->page_room : 256;
    struct emu_page *wider;

    if (2 * (check->page_count + 1) <= check->page_room)
        return true;
    wider = calloc(room, sizeof *wider);
    if (!wider)
        return false;
    for (size_t i = 0; i < check->page_room; i++)
        if (check->pages[i].is_used)
            *slot_of(wider, room, check->pages[i].number) = check->pages[i];
    free(check->pages);
    check->pages = wider;
    check->page_room = room;
    return true;
}

static struct emu_page *page_of(struct emu_check *check, uint64_t number)
{
    struct emu_page *page;

    if (!widen_pages(check))
        return NULL;
    page = slot_of(check->pages, check->page_room, number);
    if (!page->is_used) {
        *page = (struct emu_page){.number = number, .all = EMU_WRITTEN_BEFORE, .is_used = true};
        check->page_count++;
    }
    return page;
}

static bool spread(struct emu_page *page)
{
    if (page->bytes)
        return true;
    page->bytes = malloc(EMU_PAGE_BYTES * sizeof *page->bytes);
    for (uint32_t i = 0; page->bytes && i < EMU_PAGE_BYTES; i++)
        page->bytes[i] = page->all;
    return page->bytes != NULL;
}

uint32_t *emu_check_page(struct emu_check *check, uint64_t address, uint64_t *bytes)
{
    struct emu_page *page = page_of(check, address / EMU_PAGE_BYTES);
    uint64_t offset = address % EMU_PAGE_BYTES;

    if (!page || !spread(page))
        return NULL;
    if (*bytes > EMU_PAGE_BYTES - offset)
        *bytes = EMU_PAGE_BYTES - offset;
    return page->bytes + offset;
}

static bool is_known(const struct emu_check *check, uint64_t number)
{
    return check->page_room > 0 && slot_of(check->pages, check->page_room, number)->is_used;
}

static bool set_global(struct emu_check *check, uint64_t address, uint64_t bytes, uint32_t history)
{
    while (bytes > 0) {
        uint64_t here = bytes, left = EMU_PAGE_BYTES - address % EMU_PAGE_BYTES;
        struct emu_page *page;

        if (history == EMU_WRITTEN_BEFORE && !is_known(check, address / EMU_PAGE_BYTES)) {
            here = here < left ? here : left; /* so it is anyway */
            address += here;
            bytes -= here;
            continue;
        }
        page = page_of(check, address / EMU_PAGE_BYTES);
        if (!page)
            return false;
        if (address % EMU_PAGE_BYTES == 0 && bytes >= EMU_PAGE_BYTES) {
            free(page->bytes);
            page->bytes = NULL;
            page->all = history;
            here = EMU_PAGE_BYTES;
        } else if (page->bytes || page->all != history) {
            uint32_t *list = emu_check_page(check, address, &here);

            if (!list)
                return false;
            for (uint64_t i = 0; i < here; i++)
                list[i] = history;
        } else if (here > left) {
            here = left;
        }
        address += here;
        bytes -= here;
    }
    return true;
}

bool emu_check_unwritten(struct emu_check *check, uint64_t address, uint64_t bytes)
{
    return set_global(check, address, bytes, EMU_NEVER_WRITTEN);
}

bool emu_check_written(struct emu_check *check, uint64_t address, uint64_t bytes)
{
    return set_global(check, address, bytes, EMU_WRITTEN_BEFORE);
}

/* After a launch. */
static void settle_page(const struct emu_histories *histories, struct emu_page *page)
{
    bool all_same = true;

    if (!page->bytes) {
        page->all = emu_histories_to_last(histories, page->all);
        return;
    }
    for (uint32_t i = 0; i < EMU_PAGE_BYTES; i++) {
        page->bytes[i] = emu_histories_to_last(histories, page->bytes[i]);
        all_same = all_same && page->bytes[i] == page->bytes[0];
    }
    if (!all_same)
        return;
    page->all = page->bytes[0];
    free(page->bytes);
    page->bytes = NULL;
}

/* ---- Of a device ---- */

struct emu_check *emu_check_create(const struct emu_check_options *options)
{
    struct emu_check *check = calloc(1, sizeof *check);

    if (!check)
        return NULL;
    check->options = *options;
    check->histories = emu_histories_create();
    if (check->histories)
        return check;
    free(check);
    return NULL;
}

void emu_check_destroy(struct emu_check *check)
{
    if (!check)
        return;
    emu_check_forget_places(check);
    for (size_t i = 0; i < check->page_room; i++)
        free(check->pages[i].bytes);
    free(check->pages);
    free(check->findings);
    emu_histories_destroy(check->histories);
    free(check);
}

/* ---- Of a cluster ---- */

struct emu_agent emu_check_agent(struct emu_cluster *cluster)
{
    return (struct emu_agent){cluster->check->number, cluster->check->agents++};
}

static bool begin_warp(struct emu_warp *warp)
{
    struct emu_agent start = warp->cta->check->start;
    const struct emu_time once = emu_time_of(1);
    struct emu_check_warp *check = calloc(1, sizeof *check);

    warp->check = check;
    if (!check)
        return false;
    check->self = emu_check_agent(warp->cta->cluster);
    check->inits = emu_check_agent(warp->cta->cluster);
    check->bulk_reads = emu_check_agent(warp->cta->cluster);
    check->bulk_writes = emu_check_agent(warp->cta->cluster);
    check->copies = emu_check_agent(warp->cta->cluster);
    check->copy_time = 1;
    if (!emu_clock_see(&check->clock, check->self, (struct emu_time){.seen = 1}))
        return false;
    if (!warp->cta->cluster->run->launch->is_dependent &&
        !emu_clock_see(&check->clock, EMU_LAST_LAUNCH, once))
        return false;
    if (warp->cta->cluster->cta_count == 1)
        return true;
    /* That it is there needs no fence. */
    for (int level = 0; level < EMU_SCOPES; level++)
        if (!emu_clock_see(&check->released[level], start, once))
            return false;
    return emu_clock_see(&check->clock, start, once);
}

static bool begin_cta(struct emu_cta *cta)
{
    struct emu_check_cta *check = calloc(1, sizeof *check);

    cta->check = check;
    if (!check)
        return false;
    check->shadow = calloc(cta->shared_bytes, sizeof *check->shadow);
    if (!check->shadow)
        return false;
    check->start = emu_check_agent(cta->cluster);
    for (int i = 0; i < EMU_WARPGROUPS_MAX; i++)
        check->tensor[i] = emu_check_agent(cta->cluster);
    for (uint32_t w = 0; w < cta->warp_count; w++)
        if (!begin_warp(&cta->warps[w]))
            return false;
    return true;
}

bool emu_check_begin_cluster(struct emu_cluster *cluster)
{
    cluster->check = calloc(1, sizeof *cluster->check);
    if (!cluster->check)
        return false;
    cluster->check->number = cluster->run->device->check->clusters++;
    for (uint32_t i = 0; i < cluster->cta_count; i++)
        if (!begin_cta(&cluster->ctas[i]))
            return false;
    return true;
}

static void end_warp(struct emu_warp *warp)
{
    struct emu_check_warp *check = warp->check;

    if (!check)
        return;
    emu_clock_free(&check->clock);
    for (int level = 0; level < EMU_SCOPES; level++) {
        emu_clock_free(&check->released[level]);
        emu_clock_free(&check->acquired[level]);
    }
    emu_clock_free(&check->missed);
    for (int i = 0; i < EMU_CHECK_MAPS; i++)
        emu_clock_free(&check->maps[i].told);
    emu_check_drop(check->snapshot);
    emu_check_tcgen05_drop(check);
    free(check->registers);
    free(check->lanes);
    free(check);
    warp->check = NULL;
}

static void end_cta(struct emu_cta *cta)
{
    struct emu_check_cta *check = cta->check;

    for (uint32_t w = 0; cta->warps && w < cta->warp_count; w++)
        end_warp(&cta->warps[w]);
    if (!check)
        return;
    for (int i = 0; i < EMU_NAMED_BARRIERS; i++) {
        emu_clock_free(&check->arrived[i]);
        emu_clock_free(&check->complete[i][0]);
        emu_clock_free(&check->complete[i][1]);
    }
    for (size_t i = 0; i < check->mbarrier_count; i++) {
        for (int level = 0; level < EMU_MBARRIER_SCOPES; level++) {
            emu_clock_free(&check->mbarriers[i]->arrived[level]);
            emu_clock_free(&check->mbarriers[i]->complete[level]);
        }
        emu_clock_free(&check->mbarriers[i]->missed);
        emu_check_signals_forget(check->mbarriers[i]);
        free(check->mbarriers[i]);
    }
    emu_clock_free(&check->exited);
    free(check->mbarriers);
    free(check->remote);
    free(check->shadow);
    free(check->tmem);
    free(check);
    cta->check = NULL;
}

void emu_check_end_cluster(struct emu_cluster *cluster)
{
    for (uint32_t i = 0; cluster->ctas && i < cluster->cta_count; i++)
        end_cta(&cluster->ctas[i]);
    if (!cluster->check)
        return;
    emu_clock_free(&cluster->check->arrived);
    emu_clock_free(&cluster->check->complete);
    free(cluster->check->lines);
    free(cluster->check);
    cluster->check = NULL;
}

/* ---- Of a launch ---- */

void emu_check_end_run(struct emu_run *run)
{
    struct emu_check *check = run->device->check;

    for (size_t i = 0; i < check->page_room; i++)
        settle_page(check->histories, &check->pages[i]);
    emu_histories_reset(check->histories);
    emu_check_forget_places(check);
    check->clusters = 0;
}

typedef void (*each_shadow)(struct emu_histories *histories, uint32_t *shadow, size_t bytes);

static void mark(struct emu_histories *histories, uint32_t *shadow, size_t bytes)
{
    emu_histories_mark(histories, shadow, bytes);
}

static void renumber(struct emu_histories *histories, uint32_t *shadow, size_t bytes)
{
    emu_histories_renumber(histories, shadow, bytes);
}

static void shadows_of(struct emu_histories *histories, const struct emu_cta *cta, each_shadow use)
{
    use(histories, cta->check->shadow, cta->shared_bytes);
    if (cta->check->tmem)
        use(histories, cta->check->tmem, EMU_TMEM_CELLS);
}

static void all_shadows(struct emu_run *run, each_shadow use)
{
    struct emu_check *check = run->device->check;

    for (size_t i = 0; i < check->page_room; i++)
        if (check->pages[i].bytes)
            use(check->histories, check->pages[i].bytes, EMU_PAGE_BYTES);
    for (uint32_t c = 0; c < run->cluster_count; c++)
        for (uint32_t i = 0; i < run->clusters[c]->cta_count; i++)
            shadows_of(check->histories, &run->clusters[c]->ctas[i], use);
}

/* Without memory for it everything stays. */
void emu_check_sweep(struct emu_run *run)
{
    struct emu_histories *histories = run->device->check->histories;

    if (!emu_histories_are_many(histories) || !emu_histories_begin_sweep(histories))
        return;
    all_shadows(run, mark);
    if (emu_histories_end_sweep(histories))
        all_shadows(run, renumber);
}

/* ---- Helpers ---- */

void emu_check_no_memory(struct emu_warp *warp)
{
    emu_fault(warp, NULL, -1, EMU_NO_RESOURCES, "no memory for the sanitizer");
}

void emu_check_join(struct emu_warp *warp, struct emu_clock *to, const struct emu_clock *from)
{
    if (to == &warp->check->clock) {
        emu_check_drop(warp->check->snapshot);
        warp->check->snapshot = NULL;
    }
    if (!emu_clock_join(to, from))
        emu_check_no_memory(warp);
}

void emu_check_tick(struct emu_warp *warp)
{
    struct emu_check_warp *check = warp->check;
    struct emu_time time = emu_clock_get(&check->clock, check->self);

    emu_check_drop(check->snapshot);
    check->snapshot = NULL;
    emu_clock_see(&check->clock, check->self, (struct emu_time){.seen = time.seen + 1});
}
