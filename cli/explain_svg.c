/* explain_svg.c: the budget as a slide: a bar in which every stage is a box, the wall, the stage
 * that does not fit any more, and below it a bar for each door. */
#include "cli/explain.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 960,
    HEIGHT = 540,
    LEFT = 40,        /* where bars begin                                */
    USUAL_WALL = 720, /* where a CTA's shared memory ends */
    RIGHT = 920,      /* where what is beyond it must end */
    TOP = 130,        /* of the plan's own bar                           */
    BAR_HEIGHT = 56,
    DOOR_TOP = 312,
    DOOR_STEP = 46,
    DOOR_HEIGHT = 18,
    DOORS_SHOWN = 5
};

static const char ring_colour[] = "#4477aa", staging_colour[] = "#ccbb44";
static const char header_colour[] = "#bbbbbb", beyond_colour[] = "#ee6677";

struct svg {
    FILE *stream;
    double scale; /* of a byte */
    double wall;
};

static void put(struct svg *svg, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct svg *svg, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(svg->stream, format, arguments);
    va_end(arguments);
}

static double x_of(const struct svg *svg, double bytes)
{
    return LEFT + bytes * svg->scale;
}

static void put_box(struct svg *svg, double first, double bytes, int y, int height,
                    const char *colour)
{
    put(svg,
        "  <rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\" "
        "stroke=\"#ffffff\"/>\n",
        x_of(svg, first), y, x_of(svg, first + bytes) - x_of(svg, first), height, colour);
}

static void put_text(struct svg *svg, double x, int y, int size, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Nothing of what is written comes from outside but numbers and words of our own tables. */
static void put_text(struct svg *svg, double x, int y, int size, const char *format, ...)
{
    va_list arguments;

    put(svg, "  <text x=\"%.1f\" y=\"%d\" font-size=\"%d\">", x, y, size);
    va_start(arguments, format);
    vfprintf(svg->stream, format, arguments);
    va_end(arguments);
    put(svg, "</text>\n");
}

static bool is_named(const struct lathe_tenant *tenant, const char *name)
{
    return strcmp(tenant->name, name) == 0;
}

static void put_ring(struct svg *svg, double first, int stages, int stage_bytes, int y, int height)
{
    for (int i = 0; i < stages; i++)
        put_box(svg, first + (double)i * stage_bytes, stage_bytes, y, height, ring_colour);
}

/* Where the next stage would have to go, it is drawn; behind a plan that is too large, or whose
 * flow has no use for it, there is nothing to draw. */
static bool shows_next_stage(const struct lathe_explanation *e)
{
    return e->plan.smem_bytes <= e->plan.smem_limit && e->plan.stages == e->room_stages;
}

static int stage_bytes(const struct lathe_explanation *e)
{
    return e->a_bytes + e->b_bytes;
}

static void put_plan(struct svg *svg, const struct lathe_explanation *e)
{
    const struct lathe_plan *plan = &e->plan;

    for (int i = 0; i < plan->tenant_count; i++) {
        const struct lathe_tenant *tenant = &plan->tenants[i];

        if (is_named(tenant, "stage ring"))
            put_ring(svg, tenant->offset, plan->stages, stage_bytes(e), TOP, BAR_HEIGHT);
        else
            put_box(svg, tenant->offset, tenant->bytes, TOP, BAR_HEIGHT,
                    is_named(tenant, "epilogue staging") ? staging_colour : header_colour);
    }
    if (shows_next_stage(e))
        put(svg,
            "  <rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"none\" stroke=\"%s\" "
            "stroke-width=\"2\" stroke-dasharray=\"6 4\"/>\n",
            x_of(svg, plan->smem_bytes), TOP, stage_bytes(e) * svg->scale, BAR_HEIGHT,
            beyond_colour);
}

static void put_wall(struct svg *svg, const struct lathe_explanation *e)
{
    enum { LINE = 19 };
    char limit[LATHE_GROUPED_SIZE], stage[LATHE_GROUPED_SIZE], a[LATHE_GROUPED_SIZE],
        b[LATHE_GROUPED_SIZE], wall[EXPLAIN_TEXT_SIZE];
    int y = TOP + BAR_HEIGHT + 28;

    put(svg,
        "  <line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#222222\" "
        "stroke-width=\"3\"/>\n",
        svg->wall, TOP - 24, svg->wall, TOP + BAR_HEIGHT + 12);
    put_text(svg, svg->wall + 8, TOP - 10, 15, "%s bytes",
             lathe_grouped(e->plan.smem_limit, limit));
    explain_wall(e, wall);
    put_text(svg, LEFT, y, 15, "one stage: %s bytes, %s of A and %s of B",
             lathe_grouped(stage_bytes(e), stage), lathe_grouped(e->a_bytes, a),
             lathe_grouped(e->b_bytes, b));
    put_text(svg, LEFT, y + LINE, 15, "the wall: %s", wall);
    put_text(svg, LEFT, y + 2 * LINE, 15, "the limit: %s", e->limit);
}

static bool has_staging(const struct lathe_explanation *e)
{
    for (int i = 0; i < e->door_count; i++)
        if (e->doors[i].smem_bytes >
            e->doors[i].ring_offset + e->doors[i].stages * e->doors[i].stage_bytes)
            return true;
    for (int i = 0; i < e->plan.tenant_count; i++)
        if (is_named(&e->plan.tenants[i], "epilogue staging"))
            return true;
    return false;
}

static void put_legend(struct svg *svg, const struct lathe_explanation *e)
{
    const struct {
        const char *colour, *name;
        bool shown;
    } entries[] = {{header_colour, "barriers, padding", true},
                   {ring_colour, "stages", true},
                   {staging_colour, "epilogue staging", has_staging(e)},
                   {beyond_colour, "the next stage", shows_next_stage(e)}};
    int x = LEFT;

    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (!entries[i].shown)
            continue;
        put(svg, "  <rect x=\"%d\" y=\"84\" width=\"14\" height=\"14\" fill=\"%s\"/>\n", x,
            entries[i].colour);
        put_text(svg, x + 20, 96, 14, "%s", entries[i].name);
        x += 170;
    }
}

/* Its header is what stands before its ring, its staging what follows. */
static void put_door(struct svg *svg, const struct lathe_door *door, int index)
{
    int y = DOOR_TOP + index * DOOR_STEP;
    double end = door->ring_offset + (double)door->stages * door->stage_bytes;

    put_text(svg, LEFT, y - 5, 14, "%s%s", door->words,
             door->changes_result ? "  (D of another type)" : "");
    put_box(svg, 0, door->ring_offset, y, DOOR_HEIGHT, header_colour);
    put_ring(svg, door->ring_offset, door->stages, door->stage_bytes, y, DOOR_HEIGHT);
    if (door->smem_bytes > end)
        put_box(svg, end, door->smem_bytes - end, y, DOOR_HEIGHT, staging_colour);
    put_text(svg, svg->wall + 8, y + 14, 14, "%d stages, %.4f L2 B/op", door->stages,
             door->l2_bytes);
}

static void put_doors(struct svg *svg, const struct lathe_explanation *e)
{
    int shown = e->door_count < DOORS_SHOWN ? e->door_count : DOORS_SHOWN;

    put_text(svg, LEFT, DOOR_TOP - 32, 18,
             shown == 0 ? "No door along two axes"
             : e->fits  ? "Doors: the same problem with more stages"
                        : "Doors: the same problem in other ways, which fit");
    for (int i = 0; i < shown; i++)
        put_door(svg, &e->doors[i], i);
    if (shown == 0)
        return;
    put(svg,
        "  <line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#222222\" "
        "stroke-width=\"2\"/>\n",
        svg->wall, DOOR_TOP - 6, svg->wall, DOOR_TOP + (shown - 1) * DOOR_STEP + DOOR_HEIGHT + 6);
    if (shown < e->door_count)
        put_text(svg, LEFT, DOOR_TOP + (DOORS_SHOWN - 1) * DOOR_STEP + DOOR_HEIGHT + 17, 14,
                 "and %d more: lathe plan --explain lists them all", e->door_count - shown);
}

static void put_slide(struct svg *svg, const struct lathe_explanation *e)
{
    const struct lathe_plan *plan = &e->plan;
    char bytes[LATHE_GROUPED_SIZE], limit[LATHE_GROUPED_SIZE];

    put(svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
        "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" fill=\"#222222\">\n"
        "  <rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
    put_text(svg, LEFT, 42, 24, "Shared memory of a CTA: %s of %s bytes%s",
             lathe_grouped(plan->smem_bytes, bytes), lathe_grouped(plan->smem_limit, limit),
             e->fits ? "" : "; does not fit");
    put_text(svg, LEFT, 68, 15,
             "%s, %s to %s: tile=%dx%dx%d cluster=%dx%dx%d cta_group=%d stages=%d",
             lathe_arch_name(plan->arch), lathe_type_name(plan->type), lathe_type_name(plan->out),
             plan->tile[0], plan->tile[1], plan->tile[2], plan->cluster[0], plan->cluster[1],
             plan->cluster[2], plan->cta_group, plan->stages);
    put_legend(svg, e);
    put_plan(svg, e);
    put_wall(svg, e);
    put_doors(svg, e);
    put(svg, "</svg>\n");
}

char *explain_svg(const struct lathe_explanation *explanation)
{
    char *text = NULL;
    size_t size = 0;
    double limit = explanation->plan.smem_limit, end = explanation->plan.smem_bytes;
    struct svg svg = {.stream = open_memstream(&text, &size), .scale = (USUAL_WALL - LEFT) / limit};

    /* What goes far beyond the wall moves it to the left. */
    if (shows_next_stage(explanation))
        end += stage_bytes(explanation);
    if (end * svg.scale > RIGHT - LEFT)
        svg.scale = (RIGHT - LEFT) / end;
    svg.wall = LEFT + limit * svg.scale;
    if (!svg.stream)
        return NULL;
    put_slide(&svg, explanation);
    if (fclose(svg.stream) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
