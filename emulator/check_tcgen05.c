/* check_tcgen05.c: accesses to tensor memory, and what orders those of one instruction before those
 * of another. */
#include "emulator/check_tcgen05.h"

#include "emulator/tcgen05_copy.h"

#include <stdlib.h>
#include <string.h>

/* ---- Lives ---- */

struct emu_check_tcgen05 *emu_check_tcgen05_of(struct emu_warp *warp)
{
    struct emu_check_tcgen05 *made = warp->check->tcgen05;
    struct emu_cluster *cluster = warp->cta->cluster;

    if (made)
        return made;
    made = warp->check->tcgen05 = calloc(1, sizeof *made);
    if (!made) {
        emu_check_no_memory(warp);
        return NULL;
    }
    made->loads.agent = emu_check_agent(cluster);
    made->loads.waits = emu_check_agent(cluster);
    made->stores.agent = emu_check_agent(cluster);
    made->stores.waits = emu_check_agent(cluster);
    return made;
}

void emu_check_tcgen05_drop(struct emu_check_warp *check)
{
    if (check->tcgen05)
        emu_clock_free(&check->tcgen05->known);
    free(check->tcgen05);
    check->tcgen05 = NULL;
}

void emu_check_piped_drop(struct emu_check_piped *check)
{
    if (!check)
        return;
    emu_check_drop(check->known);
    emu_clock_free(&check->done);
    free(check);
}

static void see(struct emu_warp *warp, struct emu_clock *clock, struct emu_agent agent,
                uint32_t time)
{
    if (clock == &warp->check->clock) {
        emu_check_drop(warp->check->snapshot);
        warp->check->snapshot = NULL;
    }
    if (time > 0 && !emu_clock_see(clock, agent, emu_time_of(time)))
        emu_check_no_memory(warp);
}

static uint32_t seen(const struct emu_clock *clock, struct emu_agent agent)
{
    return emu_clock_get(clock, agent).seen;
}

/* ---- Tensor memory ---- */

static uint64_t place_of(uint32_t lane, uint32_t column)
{
    return EMU_TMEM_AT + lane * EMU_TMEM_COLUMNS + column;
}

static void reset(const struct emu_cta *cta, uint32_t column, uint32_t columns)
{
    for (uint32_t lane = 0; lane < EMU_TMEM_LANES; lane++)
        memset(cta->check->tmem + lane * EMU_TMEM_COLUMNS + column, 0,
               columns * sizeof *cta->check->tmem);
}

/* What is allocated anew nobody has written. */
void emu_check_tmem_allocate(struct emu_warp *warp, struct emu_cta *cta, uint32_t column,
                             uint32_t columns)
{
    struct emu_check_cta *check = cta->check;

    if (!check->tmem)
        check->tmem = calloc(EMU_TMEM_CELLS, sizeof *check->tmem);
    if (check->tmem)
        reset(cta, column, columns);
    else
        emu_check_no_memory(warp);
}

/* Who deallocates has to know that all is done, by barriers: without fences too. */
static bool know_for_dealloc(struct emu_warp *warp, struct emu_check_tcgen05 *own,
                             struct emu_clock *clock)
{
    const struct emu_cluster *cluster = warp->cta->cluster;

    if (!emu_clock_join(clock, &warp->check->clock) || !emu_clock_join(clock, &own->known))
        return false;
    for (uint32_t i = 0; i < cluster->cta_count; i++)
        for (uint32_t w = 0; w < cluster->ctas[i].warp_count; w++) {
            const struct emu_check_warp *check = cluster->ctas[i].warps[w].check;

            if (!check->tcgen05)
                continue;
            see(warp, clock, check->tcgen05->loads.agent,
                seen(&warp->check->clock, check->tcgen05->loads.waits));
            see(warp, clock, check->tcgen05->stores.agent,
                seen(&warp->check->clock, check->tcgen05->stores.waits));
        }
    return true;
}

/* Of a pair the columns of both CTAs go, so what uses those of the other has to be done too. */
static void end_columns(struct emu_warp *warp, const struct emu_access *access,
                        const struct emu_clock *clock, struct emu_cta *cta, uint32_t column,
                        uint32_t columns)
{
    for (uint32_t lane = 0; cta->check->tmem && lane < EMU_TMEM_LANES; lane++)
        emu_check_access(warp, -1, access, clock, cta, place_of(lane, column), columns);
}

void emu_check_tmem_deallocate(struct emu_warp *warp, const struct emu_op *op, uint32_t column,
                               uint32_t columns)
{
    struct emu_check_tcgen05 *own = emu_check_tcgen05_of(warp);
    struct emu_clock clock = {.count = 0};
    struct emu_agent self = warp->check->self;
    const struct emu_access access =
        emu_access_of(warp, op, self, seen(&warp->check->clock, self), EMU_WRITES | EMU_BY_ASYNC);

    if (!own || !warp->cta->check->tmem)
        return;
    if (!know_for_dealloc(warp, own, &clock))
        emu_check_no_memory(warp);
    end_columns(warp, &access, &clock, warp->cta, column, columns);
    if (op->tensor.tcgen05.group == 2)
        end_columns(warp, &access, &clock, emu_pair_of(warp->cta), column, columns);
    emu_clock_free(&clock);
    reset(warp->cta, column, columns);
}

/* ---- ld and st ---- */

static void access_lanes(struct emu_warp *warp, const struct emu_access *access,
                         const struct emu_clock *clock, struct emu_cta *cta, uint32_t lane,
                         uint32_t lanes, uint32_t column, uint32_t columns)
{
    for (uint32_t i = 0; cta->check->tmem && i < lanes; i++)
        emu_check_access(warp, -1, access, clock, cta, place_of(lane + i, column), columns);
}

/* Lanes and columns that no product wrote are loaded with others, and left unused: only where
 * nothing of it was written it is a mistake. */
static bool has_writes(const struct emu_cta *cta, uint32_t lane, uint32_t lanes, uint32_t column,
                       uint32_t columns)
{
    for (uint32_t i = lane; cta->check->tmem && i < lane + lanes; i++)
        for (uint32_t k = column; k < column + columns; k++)
            if (emu_check_is_written(cta, place_of(i, k)))
                return true;
    return false;
}

void emu_check_tmem_move(struct emu_warp *warp, const struct emu_op *op, uint32_t address)
{
    const struct emu_tcgen05 *form = &op->tensor.tcgen05;
    struct emu_check_tcgen05 *own = emu_check_tcgen05_of(warp);
    struct emu_check_moves *moves;
    struct emu_access access;
    uint32_t column = emu_tmem_column(address), columns = emu_tmem_shape_columns(form),
             lanes = emu_tmem_shape_lanes(form->shape);

    if (!own)
        return;
    moves = form->what == EMU_TCGEN05_LD ? &own->loads : &own->stores;
    access = emu_access_of(warp, op, moves->agent, ++moves->issued,
                           (form->what == EMU_TCGEN05_LD ? EMU_READS : EMU_WRITES) | EMU_BY_ASYNC);
    moves->last = seen(&warp->check->clock, warp->check->self);
    emu_check_tick(warp);
    if (has_writes(warp->cta, emu_tmem_lane(address), lanes, column, columns))
        access.kind |= EMU_MAY_BE_UNUSED;
    if (form->split == 0) {
        access_lanes(warp, &access, &own->known, warp->cta, emu_tmem_lane(address), lanes, column,
                     columns);
        return;
    }
    columns -= form->split; /* two halves */
    access_lanes(warp, &access, &own->known, warp->cta, emu_tmem_lane(address), lanes, column,
                 columns);
    access_lanes(warp, &access, &own->known, warp->cta, emu_tmem_lane(address), lanes,
                 column + form->split, columns);
}

/* The warp's own instructions need no more than the wait. */
void emu_check_tmem_wait(struct emu_warp *warp, bool is_load)
{
    struct emu_check_tcgen05 *own = emu_check_tcgen05_of(warp);
    struct emu_check_moves *moves;

    if (!own)
        return;
    moves = is_load ? &own->loads : &own->stores;
    moves->waited = moves->issued;
    see(warp, &own->known, moves->agent, moves->waited);
    see(warp, &warp->check->clock, moves->waits, moves->waited);
}

/* ---- Lines ---- */

static bool is_what(const struct emu_piped *item, enum emu_tcgen05_what what)
{
    return item->op->tensor.tcgen05.what == what;
}

static bool is_of_thread(const struct emu_line *line, const struct emu_piped *item)
{
    return line->first.warp == item->warp && line->first.lane == item->lane;
}

/* One line: the same thread's, and what the pipeline orders is alike for all of it. */
static bool is_of_line(const struct emu_line *line, const struct emu_piped *item)
{
    const struct emu_piped *first = &line->first;
    enum emu_tcgen05_what what = item->op->tensor.tcgen05.what;

    if (!is_of_thread(line, item) || !is_what(first, what) || first->ctas[0] != item->ctas[0] ||
        first->cta_count != item->cta_count)
        return false;
    if (what == EMU_TCGEN05_MMA)
        return emu_is_pipelined(first, item);
    return what == EMU_TCGEN05_SHIFT || (first->op->tensor.tcgen05.copy == EMU_COPY_4X256B) ==
                                            (item->op->tensor.tcgen05.copy == EMU_COPY_4X256B);
}

/* A line more; null without memory. */
static struct emu_line *add_line(struct emu_check_cluster *check)
{
    struct emu_lines *lines = check->lines, *grown;
    int count = lines ? lines->count : 0;

    if (!lines || count == lines->room) {
        int room = count ? 2 * count : 16;

        grown = realloc(lines, sizeof *grown + (size_t)room * sizeof grown->list[0]);
        if (!grown)
            return NULL;
        grown->count = count;
        grown->room = room;
        check->lines = lines = grown;
    }
    return &lines->list[lines->count++];
}

static struct emu_line *line_of(const struct emu_piped *item)
{
    struct emu_cluster *cluster = item->warp->cta->cluster;
    struct emu_lines *lines = cluster->check->lines;
    struct emu_line *made;

    for (int i = 0; lines && i < lines->count; i++)
        if (is_of_line(&lines->list[i], item))
            return &lines->list[i];
    made = add_line(cluster->check);
    if (!made) {
        emu_check_no_memory(item->warp);
        return NULL;
    }
    *made = (struct emu_line){
        .agent = emu_check_agent(cluster), .order = emu_check_agent(cluster), .first = *item};
    return made;
}

/* What an item may count on in tensor memory: what its warp knows, and what the pipeline does
 * before it: of others' lines what is known of their issue. */
static bool know_for_item(const struct emu_piped *item, struct emu_check_tcgen05 *own,
                          struct emu_clock *clock)
{
    struct emu_warp *warp = item->warp;
    const struct emu_lines *lines = warp->cta->cluster->check->lines;

    if (!emu_clock_join(clock, &own->known))
        return false;
    for (int i = 0; i < lines->count; i++) {
        const struct emu_line *line = &lines->list[i];

        if (emu_is_pipelined(&line->first, item))
            see(warp, clock, line->agent,
                line->first.warp == warp ? line->issued : seen(&own->known, line->order));
    }
    return true;
}

/* ---- Items ---- */

static uint32_t count_written(const struct emu_cta *cta, uint32_t lane, uint32_t column,
                              uint32_t columns)
{
    uint32_t count = 0;

    for (uint32_t k = column; k < column + columns; k++)
        count += emu_check_is_written(cta, place_of(lane, k));
    return count;
}

/* Rows that nobody wrote may be unused where others are written, as in shared memory: see
 * check_operand.c. */
static void access_a(const struct emu_piped *item, const struct emu_access *access,
                     const struct emu_clock *clock, struct emu_cta *cta,
                     const struct emu_span *spans, int count)
{
    uint32_t column = emu_tmem_column(item->product.a_address),
             columns = emu_product_a_columns(&item->product);
    bool has_rows = false;

    for (int i = 0; i < count && cta->check->tmem; i++)
        has_rows |= has_writes(cta, spans[i].lane, EMU_SPAN_ROWS, column, columns);
    for (int i = 0; i < count && cta->check->tmem; i++)
        for (uint32_t lane = spans[i].lane; lane < spans[i].lane + EMU_SPAN_ROWS; lane++) {
            struct emu_access of_a = *access;
            bool is_unused = has_rows && count_written(cta, lane, column, columns) == 0;

            of_a.kind = EMU_READS | EMU_BY_ASYNC | (is_unused ? EMU_MAY_BE_UNUSED : 0u);
            access_lanes(item->warp, &of_a, clock, cta, lane, 1, column, columns);
        }
}

static void access_product(const struct emu_piped *item, const struct emu_access *access,
                           const struct emu_clock *clock, int cta)
{
    const struct emu_product *product = &item->product;
    const uint32_t *masked = product->masked[cta];
    struct emu_access of_d = *access;
    struct emu_span spans[EMU_SPANS_MAX];
    int count = emu_product_spans(product, spans);

    of_d.kind = EMU_WRITES | EMU_BY_ASYNC | (product->add_d ? EMU_READS : 0u);
    if (product->a_in_tmem)
        access_a(item, access, clock, item->ctas[cta], spans, count);
    for (int i = 0; i < count; i++)
        for (uint32_t lane = spans[i].lane; lane < spans[i].lane + EMU_SPAN_ROWS; lane++) {
            if (!(masked[lane / 32] >> lane % 32 & 1))
                access_lanes(item->warp, &of_d, clock, item->ctas[cta], lane, 1,
                             emu_tmem_column(product->d_address), (uint32_t)spans[i].columns);
        }
}

static void access_copy(const struct emu_piped *item, const struct emu_access *access,
                        const struct emu_clock *clock, int cta)
{
    const struct emu_tcgen05 *form = &item->op->tensor.tcgen05;
    struct emu_access to = *access;
    uint32_t lanes[4];

    to.kind = EMU_WRITES | EMU_BY_ASYNC;
    emu_tmem_copy_lanes(form->copy, emu_tmem_lane(item->address), lanes);
    for (uint32_t lane = 0; lane < EMU_TMEM_LANES; lane++)
        if (lanes[lane / 32] >> lane % 32 & 1)
            access_lanes(item->warp, &to, clock, item->ctas[cta], lane, 1,
                         emu_tmem_column(item->address), emu_tmem_copy_columns(form->copy));
}

static void access_shift(const struct emu_piped *item, const struct emu_access *access,
                         const struct emu_clock *clock, int cta)
{
    struct emu_access both = *access;
    uint32_t lane = emu_tmem_lane(item->address);

    both.kind = EMU_READS | EMU_WRITES | EMU_BY_ASYNC;
    access_lanes(item->warp, &both, clock, item->ctas[cta], lane, EMU_TMEM_LANES - lane,
                 emu_tmem_column(item->address), EMU_SHIFT_COLUMNS);
}

static void access_tmem(const struct emu_piped *item, const struct emu_access *access,
                        const struct emu_clock *clock)
{
    for (int cta = 0; cta < item->cta_count; cta++) {
        if (item->ctas[cta] != item->warp->cta)
            emu_check_peer(item->warp, item->lane, item->ctas[cta],
                           place_of(0, emu_tmem_column(item->address)), access);
        if (is_what(item, EMU_TCGEN05_MMA))
            access_product(item, access, clock, cta);
        else if (is_what(item, EMU_TCGEN05_CP))
            access_copy(item, access, clock, cta);
        else
            access_shift(item, access, clock, cta);
    }
}

static struct emu_check_piped *make_piped(struct emu_piped *item)
{
    item->check = calloc(1, sizeof *item->check);
    if (!item->check)
        emu_check_no_memory(item->warp);
    return item->check;
}

/* In tensor memory it is at once as if it were done: that is a question of order alone. Shared
 * memory is looked at when it is read. */
void emu_check_tcgen05_issue(struct emu_piped *item)
{
    struct emu_check_tcgen05 *own = emu_check_tcgen05_of(item->warp);
    struct emu_line *line = own ? line_of(item) : NULL;
    struct emu_check_piped *check = line ? make_piped(item) : NULL;
    struct emu_clock clock = {.count = 0};
    struct emu_access access;

    if (!check)
        return;
    if (!know_for_item(item, own, &clock))
        emu_check_no_memory(item->warp);
    check->known = emu_check_issue(item->warp);
    check->agent = line->agent;
    check->time = ++line->issued;
    access = emu_access_of(item->warp, item->op, check->agent, check->time, EMU_READS);
    access_tmem(item, &access, &clock);
    emu_clock_free(&clock);
}

/* ---- Commits ---- */

static void see_moves(struct emu_warp *warp, struct emu_clock *clock,
                      const struct emu_check_moves *moves)
{
    see(warp, clock, moves->agent, moves->waited);
}

/* It tells of all that its thread has issued, other lanes of the warp not (PTX ISA
 * "tcgen05.commit"), and of what that came behind; it is a fence::before_thread_sync, and no
 * release of what the thread itself has written. */
void emu_check_tcgen05_commit(struct emu_piped *item)
{
    struct emu_warp *warp = item->warp;
    struct emu_check_tcgen05 *own = emu_check_tcgen05_of(warp);
    const struct emu_lines *lines = warp->cta->cluster->check->lines;
    struct emu_mbarrier *barrier = emu_mbarrier_at(item->barrier_cta, item->barrier);
    struct emu_check_piped *check = own ? make_piped(item) : NULL;
    struct emu_access access;

    if (!check)
        return;
    if (!emu_clock_join(&check->done, &warp->check->clock))
        emu_check_no_memory(warp);
    emu_clock_forget(&check->done, warp->check->self);
    for (int i = 0; lines && i < lines->count; i++)
        if (is_of_thread(&lines->list[i], item)) {
            check->agent = lines->list[i].agent;
            check->time = lines->list[i].issued;
            see(warp, &check->done, check->agent, check->time);
        }
    see_moves(warp, &check->done, &own->loads);
    see_moves(warp, &check->done, &own->stores);
    access = emu_access_of(warp, item->op, check->agent, check->time, 0);
    if (barrier)
        emu_check_mbarrier_commit(warp, item->op, barrier, check->time ? &access : NULL);
}

void emu_check_tcgen05_arrive(const struct emu_piped *item)
{
    struct emu_mbarrier *barrier = emu_mbarrier_at(item->barrier_cta, item->barrier);

    if (!barrier || !barrier->check || !item->check)
        return;
    barrier->check->last_arrival =
        emu_access_of(item->warp, item->op, item->check->agent, item->check->time, 0);
    for (int level = 0; level < EMU_MBARRIER_SCOPES; level++)
        emu_check_join(item->warp, &barrier->check->arrived[level], &item->check->done);
}

/* ---- Fences ---- */

void emu_check_tcgen05_fence(struct emu_warp *warp, bool is_before)
{
    struct emu_check_tcgen05 *own = emu_check_tcgen05_of(warp);
    const struct emu_lines *lines = warp->cta->cluster->check->lines;

    if (!own)
        return;
    if (!is_before) {
        emu_check_join(warp, &own->known, &warp->check->clock);
        return;
    }
    see_moves(warp, &warp->check->clock, &own->loads);
    see_moves(warp, &warp->check->clock, &own->stores);
    for (int i = 0; lines && i < lines->count; i++)
        if (lines->list[i].first.warp == warp)
            see(warp, &warp->check->clock, lines->list[i].order, lines->list[i].issued);
}
