#include "tests/gpu/gpu_draw.h"

enum { TRIES = 1000, LARGE_MADDS_BILLIONS = 10 };

static uint64_t draw_bits(struct gpu_draw *draw)
{
    uint64_t z = draw->state += 0x9e3779b97f4a7c15u; /* splitmix64 */

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int64_t draw_from(struct gpu_draw *draw, int64_t low, int64_t high)
{
    return low + (int64_t)(draw_bits(draw) % (uint64_t)(high - low + 1));
}

static bool draw_chance(struct gpu_draw *draw, int percent)
{
    return draw_from(draw, 1, 100) <= percent;
}

/* ---- The plan ---- */

/* Every shape of at most eight CTAs that kernels take. */
static const int cluster_shapes[][2] = {{1, 1}, {2, 1}, {1, 2}, {4, 1}, {2, 2},
                                        {1, 4}, {8, 1}, {4, 2}, {2, 4}, {1, 8}};
enum { SHAPES = sizeof cluster_shapes / sizeof cluster_shapes[0], BUFFERS = 8, STAGES = 8 };

static void set_cluster(struct gpu_case *c, int64_t shape)
{
    c->options.cluster[0] = cluster_shapes[shape][0];
    c->options.cluster[1] = cluster_shapes[shape][1];
    c->options.cluster[2] = 1;
}

static void draw_cluster(struct gpu_draw *draw, struct gpu_case *c)
{
    set_cluster(c, draw_from(draw, 0, SHAPES - 1));
}

/* Columns of 0: any. */
static void draw_tile(struct gpu_draw *draw, struct gpu_case *c, int columns)
{
    c->options.tile[0] = 64 * (int)draw_from(draw, 1, 4);
    c->options.tile[1] = columns > 0 ? columns : 8 * (int)draw_from(draw, 1, 32);
    c->options.tile[2] = 64 * (int)draw_from(draw, 1, 4);
    c->options.consumers = (int)draw_from(draw, 1, 2);
    if (draw_chance(draw, 30))
        c->options.stages = (int)draw_from(draw, 2, STAGES);
}

/* The staging of the tile and the type that are set already; only its depth is free. */
static void set_buffers(struct gpu_case *c, int buffers)
{
    int whole = 128 / lathe_type_bytes(c->problem.out);

    c->options.epilogue[0] = 64 * c->options.consumers;
    c->options.epilogue[1] = c->options.tile[1] < whole ? c->options.tile[1] : whole;
    c->options.epilogue[2] = buffers;
}

/* ---- Sizes ---- */

/* A size of any magnitude, so that small ones are not drowned by large ones. */
static int64_t draw_size(struct gpu_draw *draw, int64_t low, int64_t high)
{
    int64_t top = high;

    while (top / 4 > low && draw_chance(draw, 50))
        top /= 4;
    return draw_from(draw, low, top);
}

/* Near where a tile ends, or where the tiles of a cluster do. */
static int64_t draw_edge(struct gpu_draw *draw, int64_t tile, int64_t ctas, int64_t high)
{
    int64_t step = draw_chance(draw, 50) ? tile * ctas : tile;
    int64_t most = high / step < 4 ? high / step : 4;
    int64_t edge = step * draw_from(draw, 1, most > 1 ? most : 1);

    return edge + draw_from(draw, -1, 1);
}

static int64_t draw_extent(struct gpu_draw *draw, int64_t tile, int64_t ctas, int64_t high)
{
    static const int64_t smallest[] = {0, 1, 7, 8, 9};

    if (draw_chance(draw, 15))
        return smallest[draw_from(draw, 0, 4)];
    if (draw_chance(draw, 50))
        return draw_edge(draw, tile, ctas, high);
    return draw_size(draw, 1, high);
}

/* For the tile and the cluster that are named; for usual ones where none are. */
static void draw_sizes(struct gpu_draw *draw, struct gpu_case *c, int64_t high_m, int64_t high_n,
                       int64_t high_k)
{
    const int *tile = c->options.tile, *cluster = c->options.cluster;
    int64_t ctas_m = cluster[0] > 0 ? cluster[0] : 1, ctas_n = cluster[1] > 0 ? cluster[1] : 1;

    c->problem.m = draw_extent(draw, tile[0] > 0 ? tile[0] : 64, ctas_m, high_m);
    c->problem.n = draw_extent(draw, tile[1] > 0 ? tile[1] : 64, ctas_n, high_n);
    c->problem.k = draw_extent(draw, tile[2] > 0 ? tile[2] : 64, 1, high_k);
}

/* A legal distance between rows, often with room behind the row. */
static int64_t draw_pitch(struct gpu_draw *draw, int64_t columns, enum lathe_type type)
{
    int64_t unit = 16 / lathe_type_bytes(type);
    int64_t pitch = (columns + unit - 1) / unit * unit;

    if (pitch == 0)
        pitch = unit;
    return draw_chance(draw, 50) ? pitch + unit * draw_from(draw, 1, 9) : pitch;
}

static void draw_pitches(struct gpu_draw *draw, struct gpu_case *c)
{
    struct lathe_gemm *p = &c->problem;

    p->lda = draw_pitch(draw, p->k, p->type);
    p->ldb = draw_pitch(draw, p->k, p->type);
    p->ldd = draw_pitch(draw, p->n, p->out);
    if (p->beta != LATHE_BETA_ANY)
        return;
    p->ldc = c->c == GPU_C_IS_D ? p->ldd : draw_pitch(draw, p->n, p->out);
}

/* ---- What every case has ---- */

static void draw_types(struct gpu_draw *draw, struct lathe_gemm *p)
{
    static const enum lathe_type outs[] = {LATHE_F16, LATHE_BF16, LATHE_F32};

    p->type = draw_chance(draw, 50) ? LATHE_F16 : LATHE_BF16;
    p->out = outs[draw_from(draw, 0, 2)];
    p->beta = draw_chance(draw, 45) ? LATHE_BETA_ANY : LATHE_BETA_ZERO;
}

/* From -2 to 2: whole, or a multiple of 1/8; 1 and 0 more often than the others. */
static float draw_factor(struct gpu_draw *draw, bool whole, int percent_zero)
{
    int64_t steps = whole ? 2 : 16;

    if (draw_chance(draw, percent_zero))
        return draw_chance(draw, 50) ? 0.0f : -0.0f;
    if (draw_chance(draw, 20))
        return 1;

    float size = (float)draw_from(draw, 1, steps) * 2 / (float)steps;

    return draw_chance(draw, 50) ? size : -size;
}

static void draw_launch(struct gpu_draw *draw, struct gpu_case *c)
{
    c->integers = draw_chance(draw, 30);
    c->alpha = draw_factor(draw, c->integers, 8);
    c->raster = draw_chance(draw, 60) ? (int)draw_from(draw, 1, 32) : 0;
    if (c->problem.beta != LATHE_BETA_ANY)
        return;
    c->beta = draw_factor(draw, c->integers, 25);
    if (c->beta == 0 && draw_chance(draw, 60))
        c->c = GPU_C_NULL;
    else if (draw_chance(draw, 45))
        c->c = GPU_C_IS_D;
}

enum lathe_status gpu_draw_plan(const struct gpu_draw *draw, const struct gpu_case *c,
                                struct lathe_plan *plan)
{
    struct lathe_plan_options options = c->options;

    options.arch = draw->arch;
    options.sms = draw->sms;
    *plan = (struct lathe_plan)LATHE_PLAN_INIT;
    return lathe_plan_gemm(plan, &c->problem, &options, NULL);
}

/* Any other error than that no kernel does it is a mistake, to be seen when the case is run. */
static bool may_be_kept(const struct gpu_draw *draw, const struct gpu_case *c)
{
    struct lathe_plan plan;
    enum lathe_status status = gpu_draw_plan(draw, c, &plan);

    return status != LATHE_UNSUPPORTED && status != LATHE_DOES_NOT_FIT;
}

/* ---- Kinds of cases: each sets sizes, and fields of the plan. `which` counts from 0. ---- */

/* Every width of a tile. */
enum { WIDTHS = 32 };
static void draw_width(struct gpu_draw *draw, int which, struct gpu_case *c)
{
    draw_tile(draw, c, 8 * (which % WIDTHS + 1));
    draw_cluster(draw, c);
    draw_sizes(draw, c, 700, 900, 1500);
}

/* Every shape of a cluster with every number of staging buffers. */
static void draw_fields(struct gpu_draw *draw, int which, struct gpu_case *c)
{
    draw_tile(draw, c, 0);
    set_cluster(c, which % SHAPES);
    set_buffers(c, which / SHAPES % BUFFERS + 1);
    draw_sizes(draw, c, 2500, 2500, 1500);
}

/* Every depth and height of a tile that leave room for two stages, with one consumer and with two.
 */
static void draw_depth(struct gpu_draw *draw, int which, struct gpu_case *c)
{
    static const int heights[][2] = {{64, 1}, {128, 1}, {128, 2}, {192, 1}, {256, 1}, {256, 2}};
    const int *height = heights[which % 6];

    draw_tile(draw, c, 0);
    c->options.tile[0] = height[0];
    c->options.consumers = height[1];
    c->options.tile[2] = 64 * (which / 6 % 4 + 1);
    if (height[0] == 256 && c->options.tile[2] > 128)
        c->options.tile[2] = 128; /* two stages and a staging of more are too large */
    if (draw_chance(draw, 50))
        set_buffers(c, (int)draw_from(draw, 1, BUFFERS));
    if (draw_chance(draw, 50))
        draw_cluster(draw, c);
    draw_sizes(draw, c, 1500, 1500, 3000);
}

static void draw_edge_of_k(struct gpu_draw *draw, int which, struct gpu_case *c)
{
    static const int64_t ks[] = {0, 1, 7, 8, 9, 63, 64, 65, 127, 20000};

    c->problem.m = draw_size(draw, 1, 300);
    c->problem.n = draw_size(draw, 1, 300);
    c->problem.k = ks[which % 10];
}

static void draw_one_row(struct gpu_draw *draw, int which, struct gpu_case *c)
{
    (void)which;
    c->problem.m = 1;
    c->problem.n = draw_size(draw, 1, 4000);
    c->problem.k = draw_size(draw, 1, 5000);
}

static void draw_one_column(struct gpu_draw *draw, int which, struct gpu_case *c)
{
    (void)which;
    c->problem.m = draw_size(draw, 1, 4000);
    c->problem.n = 1;
    c->problem.k = draw_size(draw, 1, 5000);
}

static void draw_empty(struct gpu_draw *draw, int which, struct gpu_case *c)
{
    c->problem.m = which % 3 == 1 ? draw_size(draw, 1, 500) : 0;
    c->problem.n = which % 3 == 0 ? draw_size(draw, 1, 500) : 0;
    c->problem.k = draw_size(draw, 0, 500);
}

/* Sizes in the kernel's text, with a plan of the planner's or a drawn one. */
static void draw_baked(struct gpu_draw *draw, int which, struct gpu_case *c)
{
    c->problem.statics = which % 2 ? LATHE_STATIC_MNK : LATHE_STATIC_K;
    if (which % 4 > 1) {
        draw_tile(draw, c, 0);
        draw_cluster(draw, c);
    }
    draw_sizes(draw, c, 900, 900, 900);
}

/* Above 10^10 multiply-adds, left to the planner or with a cluster drawn. */
static void draw_large(struct gpu_draw *draw, int which, struct gpu_case *c)
{
    struct lathe_gemm *p = &c->problem;

    p->m = draw_from(draw, 1500, 5000);
    p->n = draw_from(draw, 1500, 5000);
    p->k = LARGE_MADDS_BILLIONS * 1000000000LL / (p->m * p->n) + draw_from(draw, 1, 3000);
    if (which % 3 == 0) {
        draw_tile(draw, c, 256 - 8 * (int)draw_from(draw, 0, 8));
        draw_cluster(draw, c);
    }
}

/* More than 2^31 elements in A, in B and in D. */
static void draw_huge(struct gpu_draw *draw, int which, struct gpu_case *c)
{
    static const int64_t sizes[][3] = {{65601, 40, 32800}, {72, 65737, 32800}, {46400, 46400, 24}};

    (void)draw;
    c->problem.m = sizes[which % 3][0];
    c->problem.n = sizes[which % 3][1];
    c->problem.k = sizes[which % 3][2];
    c->integers = false; /* a few whole numbers look alike wherever they are read */
}

static void draw_any(struct gpu_draw *draw, int which, struct gpu_case *c)
{
    (void)which;
    if (draw_chance(draw, 40))
        draw_tile(draw, c, 0);
    if (c->options.tile[0] > 0 && draw_chance(draw, 50))
        set_buffers(c, (int)draw_from(draw, 1, BUFFERS));
    if (draw_chance(draw, 50))
        draw_cluster(draw, c);
    c->problem.statics = draw_chance(draw, 80)   ? LATHE_STATIC_NONE
                         : draw_chance(draw, 50) ? LATHE_STATIC_K
                                                 : LATHE_STATIC_MNK;
    draw_sizes(draw, c, 3000, 3000, 20000);
}

static const struct group {
    const char *kind;
    int count;
    void (*draw)(struct gpu_draw *draw, int which, struct gpu_case *c);
} groups[] = {
    {"tile width", 3 * WIDTHS, draw_width},
    {"plan fields", SHAPES *BUFFERS, draw_fields},
    {"tile depth", 48, draw_depth},
    {"edge of k", 30, draw_edge_of_k},
    {"one row", 10, draw_one_row},
    {"one column", 10, draw_one_column},
    {"empty", 6, draw_empty},
    {"baked in", 20, draw_baked},
    {"large", 30, draw_large},
    {"beyond 2^31", 3, draw_huge},
};
static const struct group others = {"drawn", GPU_CASES_MAX, draw_any};

static void add(struct gpu_draw *draw, const struct group *group, int which)
{
    struct gpu_case *c = &draw->cases[draw->count++];

    for (int i = 0; i < TRIES; i++) {
        *c = (struct gpu_case){
            .kind = group->kind, .problem = LATHE_GEMM_INIT, .options = LATHE_PLAN_OPTIONS_INIT};
        draw_types(draw, &c->problem);
        draw_launch(draw, c);
        group->draw(draw, which, c);
        draw_pitches(draw, c);
        if (may_be_kept(draw, c))
            return;
        draw->refused++;
    }
    draw->count--; /* a case that no kernel does tests nothing */
}

void gpu_draw_cases(struct gpu_draw *draw, int wanted)
{
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        for (int which = 0; which < groups[i].count; which++)
            add(draw, &groups[i], which);
    for (int which = 0; draw->count < wanted; which++)
        add(draw, &others, which);
}
