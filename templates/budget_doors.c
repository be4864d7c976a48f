#include "templates/budget_doors.h"

#include "codegen/words.h"
#include "templates/gemm_tile.h"
#include "templates/registry.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- Moves: values of some fields, 0 where a field stays ---- */

struct move {
    int cta_group, rows;
    int columns;
    int k;
    int staging_columns, staging_buffers;
    int acc_stages;
    enum lathe_type out;
    enum lathe_flow flow;
};

/* The atom is one axis: how many CTAs share an MMA, and of how many rows. */
enum axis { ATOM, COLUMNS, DEPTH, STAGING, ACCUMULATORS, OUTPUT, FLOW, AXES };
enum { MOVES_MAX = 40 }; /* the most is 5 widths of a staging of 8 buffers, less the one there is */

struct moves {
    int count;
    struct move list[MOVES_MAX];
};

static void add_move(struct moves *moves, struct move move)
{
    assert(moves->count < MOVES_MAX);
    moves->list[moves->count++] = move;
}

/* Pairs where the architecture has them; the check refuses what is none of its atoms. */
static void list_atoms(const struct lathe_plan *plan, struct moves *moves)
{
    static const int rows[] = {64, 128, 192, 256, 512};

    for (int group = 1; group <= 2; group++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            if (group != plan->cta_group || rows[i] != plan->tile[0])
                add_move(moves, (struct move){.cta_group = group, .rows = rows[i]});
}

/* From the widest down, so that the first that leads somewhere is the best. */
static void list_columns(const struct lathe_plan *plan, struct moves *moves)
{
    for (int columns = (plan->tile[1] - 1) / 8 * 8; columns >= 8; columns -= 8)
        add_move(moves, (struct move){.columns = columns});
}

static void list_depths(const struct lathe_plan *plan, struct moves *moves)
{
    int span = lt_gemm_span_columns(plan);

    for (int k = (plan->tile[2] - 1) / span * span; k >= span; k -= span)
        add_move(moves, (struct move){.k = k});
}

/* From the largest down. */
static void list_stagings(const struct lathe_plan *plan, struct moves *moves)
{
    for (int columns = plan->epilogue[1]; columns >= 8; columns /= 2)
        for (int buffers = plan->epilogue[2]; buffers >= 1; buffers--)
            if (columns != plan->epilogue[1] || buffers != plan->epilogue[2])
                add_move(moves,
                         (struct move){.staging_columns = columns, .staging_buffers = buffers});
}

static void list_accumulators(const struct lathe_plan *plan, struct moves *moves)
{
    for (int acc_stages = plan->acc_stages - 1; acc_stages >= 1; acc_stages--)
        add_move(moves, (struct move){.acc_stages = acc_stages});
}

static void list_outputs(const struct lathe_plan *plan, struct moves *moves)
{
    for (const struct lt_word *word = lt_words_type; word->word; word++)
        if (lathe_type_bytes((enum lathe_type)word->value) < lathe_type_bytes(plan->out))
            add_move(moves, (struct move){.out = (enum lathe_type)word->value});
}

/* Those that can use a deeper ring. */
static void list_flows(const struct lathe_plan *plan, struct moves *moves)
{
    const struct lt_variant *variant = lt_variant_of(plan);

    for (const struct lt_word *word = lt_words_flow; word->word; word++) {
        struct lathe_plan other = *plan;

        other.flow = (enum lathe_flow)word->value;
        if (variant->stages_of(&other).most > variant->stages_of(plan).most)
            add_move(moves, (struct move){.flow = other.flow});
    }
}

static void list_moves(const struct lathe_plan *plan, struct moves moves[AXES])
{
    memset(moves, 0, AXES * sizeof *moves);
    list_atoms(plan, &moves[ATOM]);
    list_columns(plan, &moves[COLUMNS]);
    list_depths(plan, &moves[DEPTH]);
    if (plan->store == LATHE_COPY_TMA)
        list_stagings(plan, &moves[STAGING]);
    list_accumulators(plan, &moves[ACCUMULATORS]);
    list_outputs(plan, &moves[OUTPUT]);
    list_flows(plan, &moves[FLOW]);
}

/* Both; they are along different axes. */
static struct move both(const struct move *a, const struct move *b)
{
    return (struct move){
        .cta_group = a->cta_group | b->cta_group,
        .rows = a->rows | b->rows,
        .columns = a->columns | b->columns,
        .k = a->k | b->k,
        .staging_columns = a->staging_columns | b->staging_columns,
        .staging_buffers = a->staging_buffers | b->staging_buffers,
        .acc_stages = a->acc_stages | b->acc_stages,
        .out = a->out ? a->out : b->out,
        .flow = a->flow ? a->flow : b->flow,
    };
}

/* ---- Where a move leads ---- */

static int moved(int to, int from)
{
    return to ? to : from;
}

/* What was asked for stands, but for what moves; tile, atom and cluster stand as they were chosen.
 * What follows from them follows anew. */
static void apply(const struct lt_door_search *search, const struct move *move,
                  struct lathe_plan *plan)
{
    const struct lathe_plan *from = search->plan;

    *plan = *search->named;
    plan->stages = 0;
    plan->cta_group = moved(move->cta_group, from->cta_group);
    plan->tile[0] = moved(move->rows, from->tile[0]);
    plan->tile[1] = moved(move->columns, from->tile[1]);
    plan->tile[2] = moved(move->k, from->tile[2]);
    memcpy(plan->cluster, from->cluster, sizeof plan->cluster);
    if (plan->cta_group == 2 && plan->cluster[0] % 2 != 0)
        plan->cluster[0] *= 2; /* the two CTAs of a pair lie along m */
    if (move->staging_columns)
        memset(plan->epilogue, 0, sizeof plan->epilogue);
    plan->acc_stages = moved(move->acc_stages, plan->acc_stages);
    if (move->out)
        plan->out = move->out;
    if (move->flow)
        plan->flow = move->flow;
}

/* D of another type may have rows that TMA cannot write. */
static bool suits(const struct lathe_gemm *problem, const struct lathe_plan *plan)
{
    struct lathe_gemm same = *problem;

    same.out = plan->out;
    return lt_gemm_resolve(&same, NULL) == LATHE_OK &&
           lt_gemm_check_tiles(plan, &same, NULL) == LATHE_OK;
}

/* Completes the plan with the deepest ring that fits; false if it cannot exist, or is too shallow.
 */
static bool is_deep_enough(const struct lt_door_search *search, const struct move *move,
                           struct lathe_plan *plan)
{
    const struct lt_variant *variant = lt_variant_of(plan);

    plan->stages = search->stages;
    variant->complete(plan);
    if (move->staging_columns) { /* its rows follow from the atom */
        plan->epilogue[1] = move->staging_columns;
        plan->epilogue[2] = move->staging_buffers;
    }
    if (lt_gemm_stage_bytes(plan) == 0)
        return false;

    struct lathe_plan deepest = *plan;

    deepest.stages = lt_gemm_stages_that_fit(plan, variant->budget_of, search->stages);
    if (variant->check(&deepest, NULL) == LATHE_OK)
        *plan = deepest;
    else if (variant->check(plan, NULL) != LATHE_OK)
        return false;
    return suits(search->problem, plan);
}

/* ---- Doors ---- */

static void add_word(struct lathe_door *door, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_word(struct lathe_door *door, const char *format, ...)
{
    size_t length = strlen(door->words);
    va_list arguments;

    if (length > 0 && length + 1 < sizeof door->words) {
        door->words[length++] = ' ';
        door->words[length] = '\0';
    }
    va_start(arguments, format);
    vsnprintf(door->words + length, sizeof door->words - length, format, arguments);
    va_end(arguments);
}

/* Every field that stands otherwise than in the plan that the search set out from; and what the
 * planner would choose anew, where it had chosen. */
static void write_words(const struct lt_door_search *search, const struct lathe_plan *plan,
                        struct lathe_door *door)
{
    const struct lathe_plan *from = search->plan, *named = search->named;

    if (plan->cta_group != from->cta_group || (named->cta_group == 0 && plan->tmem_columns > 0))
        add_word(door, "cta_group=%d", plan->cta_group);
    if (memcmp(plan->tile, from->tile, sizeof plan->tile) != 0 || named->tile[0] == 0)
        add_word(door, "tile=%dx%dx%d", plan->tile[0], plan->tile[1], plan->tile[2]);
    if (memcmp(plan->cluster, from->cluster, sizeof plan->cluster) != 0 || named->cluster[0] == 0)
        add_word(door, "cluster=%dx%dx%d", plan->cluster[0], plan->cluster[1], plan->cluster[2]);
    if (plan->out != from->out)
        add_word(door, "out=%s", lathe_type_name(plan->out));
    if (plan->acc_stages != from->acc_stages)
        add_word(door, "acc_stages=%d", plan->acc_stages);
    if (plan->flow != from->flow)
        add_word(door, "flow=%s", lt_word_of(lt_words_flow, (int)plan->flow));
}

void lt_describe_door(const struct lt_door_search *search, const struct lathe_plan *plan,
                      struct lathe_door *door)
{
    door->struct_size = sizeof *door;
    memcpy(door->tile, plan->tile, sizeof door->tile);
    door->cta_group = plan->cta_group;
    door->stages = plan->stages;
    door->stage_bytes = lt_gemm_stage_bytes(plan);
    door->ring_offset = lt_budget_offset(plan, "stage ring");
    door->smem_bytes = plan->smem_bytes;
    door->tmem_columns = plan->tmem_columns;
    door->l2_bytes = lt_gemm_l2_bytes(plan);
    door->waves = lt_gemm_waves(plan, search->problem);
    door->changes_result = plan->out != search->plan->out;
}

static void name_door(const struct lt_door_search *search, const struct move *move,
                      const struct lathe_plan *plan, struct lathe_door *door)
{
    door->words[0] = '\0';
    write_words(search, plan, door);
    if (move->staging_columns)
        add_word(door, "epilogue=%dx%dx%d", plan->epilogue[0], plan->epilogue[1],
                 plan->epilogue[2]);
    add_word(door, "stages=%d", plan->stages);
}

static bool is_better(const struct lathe_door *a, const struct lathe_door *b)
{
    if (a->changes_result != b->changes_result)
        return b->changes_result;
    if (a->l2_bytes != b->l2_bytes)
        return a->l2_bytes < b->l2_bytes;
    return a->stages > b->stages;
}

/* Doors in order; of those of one kind, which move the same fields, the best alone. What takes as
 * many bytes from L2 as the ceiling is passed over. */
struct found {
    struct lathe_door *doors;
    int count, room;
    unsigned kinds[LATHE_DOORS_MAX + 1];
    double ceiling;
};

static unsigned kind_of(const struct lt_door_search *search, const struct move *move)
{
    const struct lathe_plan *from = search->plan;
    const bool fields[] = {
        move->cta_group && move->cta_group != from->cta_group,
        move->rows && move->rows != from->tile[0],
        move->columns != 0,
        move->k != 0,
        move->staging_columns != 0,
        move->acc_stages != 0,
        move->out != LATHE_TYPE_DEFAULT,
        move->flow != LATHE_FLOW_DEFAULT,
    };
    unsigned kind = 0;

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        kind |= (unsigned)fields[i] << i;
    return kind;
}

static void remove_door(struct found *found, int index)
{
    for (int i = index; i + 1 < found->count; i++) {
        found->doors[i] = found->doors[i + 1];
        found->kinds[i] = found->kinds[i + 1];
    }
    found->count--;
}

static void keep(struct found *found, const struct lathe_door *door, unsigned kind)
{
    int at = 0;

    for (int i = 0; i < found->count; i++)
        if (found->kinds[i] == kind) {
            if (!is_better(door, &found->doors[i]))
                return;
            remove_door(found, i);
        }
    while (at < found->count && !is_better(door, &found->doors[at]))
        at++;
    if (at == found->room)
        return;
    if (found->count == found->room)
        found->count--;
    for (int i = found->count; i > at; i--) {
        found->doors[i] = found->doors[i - 1];
        found->kinds[i] = found->kinds[i - 1];
    }
    found->doors[at] = *door;
    found->kinds[at] = kind;
    found->count++;
}

/* The bytes from L2 that the move leads to; HUGE_VAL where it leads to no door. */
static double try_move(const struct lt_door_search *search, const struct move *move,
                       struct found *found)
{
    struct lathe_plan plan;
    struct lathe_door door;

    apply(search, move, &plan);
    if (!is_deep_enough(search, move, &plan) || lt_gemm_l2_bytes(&plan) >= found->ceiling)
        return HUGE_VAL;
    lt_describe_door(search, &plan, &door);
    name_door(search, move, &plan, &door);
    keep(found, &door, kind_of(search, move));
    return door.l2_bytes;
}

/* The same for the best move along an axis. Most lists begin with what costs least, so that nothing
 * behind the first that leads somewhere is better. */
static double try_axis(const struct lt_door_search *search, const struct moves *moves,
                       enum axis axis, const struct move *besides, struct found *found)
{
    bool first_is_best = axis != ATOM && axis != ACCUMULATORS && axis != FLOW;
    double best = HUGE_VAL;

    for (int i = 0; i < moves[axis].count && !(best < HUGE_VAL && first_is_best); i++) {
        struct move move = both(&moves[axis].list[i], besides);
        double bytes = try_move(search, &move, found);

        best = bytes < best ? bytes : best;
    }
    return best;
}

int lt_find_budget_doors(const struct lt_door_search *search, struct lathe_door *doors, int room)
{
    struct moves moves[AXES];
    struct found found = {.doors = doors, .room = room < LATHE_DOORS_MAX ? room : LATHE_DOORS_MAX};
    const struct move none = {.rows = 0};
    double alone[AXES];

    list_moves(search->plan, moves);
    for (int a = 0; a < AXES; a++) {
        found.ceiling = HUGE_VAL;
        alone[a] = try_axis(search, moves, (enum axis)a, &none, &found);
    }
    for (int a = 0; a < AXES; a++)
        for (int b = a + 1; b < AXES; b++) {
            found.ceiling = alone[a] < alone[b] ? alone[a] : alone[b];
            for (int i = 0; i < moves[a].count; i++)
                try_axis(search, moves, (enum axis)b, &moves[a].list[i], &found);
        }
    return found.count;
}
