#include "templates/doors.h"

#include "codegen/arch.h"
#include "codegen/fields.h"
#include "codegen/status.h"
#include "codegen/text.h"
#include "templates/budget_doors.h"
#include "templates/gemm_check.h"
#include "templates/gemm_problem.h"
#include "templates/registry.h"

#include <stdio.h>
#include <string.h>

struct search {
    const struct lt_attempt *attempt;
    struct lathe_error *err;
};

/* Sets one word in copies of the problem and the options. */
static bool set_word(struct lathe_gemm *problem, struct lathe_plan_options *options,
                     const char *word)
{
    char key[32];
    const char *equals = strchr(word, '=');
    size_t length = (size_t)(equals - word);

    memcpy(key, word, length);
    key[length] = '\0';

    const struct lt_field *field = lt_field_find(lt_gemm_fields, lt_gemm_field_count, key);

    if (field)
        return lt_field_set(field, (char *)problem + field->offset, equals + 1, NULL) == LATHE_OK;
    field = lt_field_find(lt_plan_fields, lt_plan_field_count, key);
    return field &&
           lt_field_set(field, (char *)options + field->offset, equals + 1, NULL) == LATHE_OK;
}

/* Plans the request with the words, which stand apart by spaces, appended. */
static bool plan_with(const struct lt_attempt *attempt, const char *words, struct lathe_plan *plan)
{
    struct lathe_gemm problem = *attempt->given;
    struct lathe_plan_options options = *attempt->options;
    struct lt_attempt again;
    char word[LATHE_WORDS_SIZE];

    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");

        memcpy(word, at, length);
        word[length] = '\0';
        at += length;
        if (!set_word(&problem, &options, word))
            return false;
    }
    if (lt_attempt_plan(&again, &problem, &options, NULL) != LATHE_OK)
        return false;
    *plan = again.plan;
    return true;
}

/* Names the words if they lead to a plan. */
static bool try_words(const struct search *search, const char *words)
{
    struct lathe_plan plan;

    if (!plan_with(search->attempt, words, &plan))
        return false;
    lt_fits_with(search->err, "%s", words);
    return true;
}

/* Otherwise it was refused before these were chosen, or is of no variant. */
static bool has_choices(const struct lathe_plan *refused)
{
    return lt_variant_of(refused) && refused->tile[0] > 0 && refused->cluster[0] > 0 &&
           refused->cta_group > 0 && refused->stages > 0;
}

static bool try_tile(const struct search *search, int rows, int columns, int k)
{
    char words[LATHE_WORDS_SIZE];

    if (rows <= 0 || columns <= 0 || k <= 0)
        return false;
    snprintf(words, sizeof words, "tile=%dx%dx%d", rows, columns, k);
    return try_words(search, words);
}

/* The deepest ring that the plan can have beside the rest of it. */
static int deepest(const struct search *search, const struct lathe_plan *refused)
{
    const struct lt_variant *variant = lt_variant_of(refused);
    struct lathe_plan open = *refused;

    if (search->err->status == LATHE_DOES_NOT_FIT)
        return lt_gemm_stages_that_fit(refused, variant->budget_of, 0);
    open.stages = 0;
    variant->complete(&open); /* which reckons with no bytes that a check refuses */
    return open.stages;
}

/* The most stages below those asked for, else the fewest above: tile and cluster do not depend on
 * them, so that each is one plan to try and no search. */
static void try_stages(const struct search *search, const struct lathe_plan *refused)
{
    char words[LATHE_WORDS_SIZE];

    if (!has_choices(refused))
        return;

    struct lt_stages range = lt_variant_of(refused)->stages_of(refused);
    int fit = deepest(search, refused), stages = refused->stages - 1;

    stages = stages < fit ? stages : fit;
    stages = stages < range.most ? stages : range.most;
    if (stages < range.least)
        stages = range.least;
    if (stages == refused->stages)
        return;
    snprintf(words, sizeof words, "stages=%d", stages);
    try_words(search, words);
}

/* One axis at a time: fewer columns, the next more, other rows, other k. */
static void try_tiles(const struct search *search, const struct lathe_plan *refused)
{
    static const int rows[] = {64, 128, 192, 256};
    static const int ks[] = {32, 64, 128};
    const int *tile = refused->tile;
    int columns;

    for (columns = (tile[1] - 1) / 8 * 8; columns >= 8; columns -= 8)
        if (try_tile(search, tile[0], columns, tile[2]))
            break;
    columns = (tile[1] + 7) / 8 * 8;
    if (columns != tile[1])
        try_tile(search, tile[0], columns, tile[2]);
    for (size_t i = sizeof rows / sizeof rows[0]; i-- > 0;)
        if (rows[i] != tile[0] && try_tile(search, rows[i], tile[1], tile[2]))
            break;
    for (size_t i = sizeof ks / sizeof ks[0]; i-- > 0;)
        if (ks[i] != tile[2] && try_tile(search, tile[0], tile[1], ks[i]))
            break;
}

/* Fewer and larger tiles, where a kernel could not count them. */
static void try_larger(const struct search *search, const struct lathe_plan *refused)
{
    static const char *const larger[] = {"tile=256x128x64", "cluster=2x4x1",
                                         "tile=256x128x64 cluster=2x4x1"};

    if (!has_choices(refused) ||
        lt_gemm_check_tiles(refused, &search->attempt->problem, NULL) == LATHE_OK)
        return;
    for (size_t i = 0; i < sizeof larger / sizeof larger[0]; i++)
        if (try_words(search, larger[i]))
            return;
}

static void try_field_values(const struct search *search, const char *key, int value,
                             const struct lt_word *words)
{
    char word[LATHE_WORDS_SIZE];

    for (; words->word; words++) {
        if (words->value == value)
            continue;
        snprintf(word, sizeof word, "%s=%s", key, words->word);
        try_words(search, word);
    }
}

static void try_others(const struct search *search, const struct lathe_plan *refused)
{
    char words[LATHE_WORDS_SIZE];

    if (refused->epilogue[2] > 1) {
        snprintf(words, sizeof words, "epilogue=%dx%dx1", refused->epilogue[0],
                 refused->epilogue[1]);
        try_words(search, words);
    }
    if (refused->cluster[0] * refused->cluster[1] * refused->cluster[2] > 1 &&
        !try_words(search, "cluster=2x1x1"))
        try_words(search, "cluster=1x1x1");
    if (refused->consumers != 1)
        try_words(search, "consumers=1");
    if (refused->consumers != 2)
        try_words(search, "consumers=2");
    if (refused->cta_group != 1)
        try_words(search, "cta_group=1");
    if (refused->split != 1)
        try_words(search, "split=1");
}

/* Strides that TMA cannot take, each replaced by the nearest that it can. */
static void try_pitches(const struct search *search)
{
    struct lathe_gemm problem = *search->attempt->given;
    struct lt_text words = {0};
    struct lathe_gemm legal;

    lt_gemm_legal_pitches(&problem, &legal);

    const struct {
        const char *key;
        int64_t before, after;
    } pitches[] = {
        {"lda", problem.lda, legal.lda},
        {"ldb", problem.ldb, legal.ldb},
        {"ldc", problem.ldc, legal.ldc},
        {"ldd", problem.ldd, legal.ldd},
    };

    for (size_t i = 0; i < sizeof pitches / sizeof pitches[0]; i++)
        if (pitches[i].before != pitches[i].after)
            lt_text_printf(&words, "%s%s=%lld", words.length > 0 ? " " : "", pitches[i].key,
                           (long long)pitches[i].after);
    if (words.length > 0 && words.length < LATHE_WORDS_SIZE)
        try_words(search, words.data);
    lt_text_free(&words);
}

/* What no kernel of the kind can do, along one axis after the other. */
static void try_kinds(const struct search *search, const struct lathe_plan *refused)
{
    if (refused->stages > 0) {
        try_larger(search, refused);
        try_stages(search, refused);
        try_tiles(search, refused);
    }
    try_field_values(search, "out", (int)refused->out, lt_words_type);
    if (refused->stages > 0)
        try_others(search, refused);
    try_field_values(search, "load", (int)refused->load, lt_words_copy);
    try_field_values(search, "flow", (int)refused->flow, lt_words_flow);
    try_field_values(search, "schedule", (int)refused->schedule, lt_words_schedule);
    try_field_values(search, "arch", (int)refused->arch, lt_words_arch);
}

/* ---- Around the budget ---- */

/* The doors that give at least so many stages. */
static int find_doors(const struct lt_attempt *attempt, int stages, struct lathe_door *doors,
                      int room)
{
    const struct lt_door_search search = {
        .problem = &attempt->problem,
        .named = &attempt->named,
        .plan = &attempt->plan,
        .stages = stages,
    };
    int found = lt_find_budget_doors(&search, doors, room), count = 0;

    for (int i = 0; i < found; i++) {
        struct lathe_plan plan;

        if (!plan_with(attempt, doors[i].words, &plan))
            continue;
        doors[count] = doors[i];
        lt_describe_door(&search, &plan, &doors[count++]);
    }
    return count;
}

int lt_most_stages(const struct lathe_plan *plan)
{
    const struct lt_variant *variant = lt_variant_of(plan);
    struct lt_stages range = variant->stages_of(plan);
    int fit = lt_gemm_stages_that_fit(plan, variant->budget_of, 0);

    fit = fit < range.most ? fit : range.most;
    return fit >= range.least ? fit : 0;
}

int lt_find_ways_around(const struct lt_attempt *attempt, struct lathe_door *doors, int room)
{
    const struct lathe_plan *plan = &attempt->plan;
    int beyond = lt_most_stages(plan) + 1;
    int asked = attempt->named.stages > 0 ? attempt->named.stages : 1;
    bool fits = plan->smem_bytes <= plan->smem_limit;

    /* Where bytes are not what is short, any ring will do. */
    if (fits && lt_arch(plan->arch)->tmem_columns < plan->tmem_columns)
        beyond = 1;
    else if (fits)
        asked = beyond;

    int count = find_doors(attempt, asked, doors, room);

    return count == 0 && beyond < asked ? find_doors(attempt, beyond, doors, room) : count;
}

/* ---- Ways out ---- */

void lt_add_ways_out(const struct lt_attempt *attempt, const struct lathe_door *doors, int count,
                     struct lathe_error *err)
{
    struct search search = {attempt, err};

    if (!err)
        return;
    if (err->status == LATHE_DOES_NOT_FIT) {
        for (int i = 0; i < count && i < LATHE_FITS_MAX - 1; i++) /* one is for fewer stages */
            lt_fits_with(err, "%s", doors[i].words);
        try_stages(&search, &attempt->plan);
    } else if (err->status == LATHE_UNSUPPORTED && attempt->resolved) {
        try_kinds(&search, &attempt->plan);
    } else if (err->status == LATHE_UNSUPPORTED) {
        try_pitches(&search);
    }
}

void lt_find_ways_out(const struct lt_attempt *attempt, struct lathe_error *err)
{
    struct lathe_door doors[LATHE_DOORS_MAX];
    bool too_large = err && err->status == LATHE_DOES_NOT_FIT;
    int count = too_large ? lt_find_ways_around(attempt, doors, LATHE_DOORS_MAX) : 0;

    lt_add_ways_out(attempt, doors, count, err);
}
