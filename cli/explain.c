#include "cli/explain.h"

#include "cli/file.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Bars ---- */

/* A CTA's shared memory is so many columns wide; what is beyond the wall goes on behind it. */
enum { BAR = 40, BEYOND = 8 };

static int column_of(const struct lathe_plan *plan, int64_t bytes)
{
    int64_t column = bytes * BAR / plan->smem_limit;

    return (int)(column < BAR + BEYOND ? column : BAR + BEYOND);
}

/* From its offset to its end, at least one mark; the wall stands in every line. */
static void print_bar(struct output *out, const struct lathe_plan *plan,
                      const struct lathe_tenant *tenant)
{
    char bar[BAR + BEYOND + 2];
    int first = column_of(plan, tenant->offset);
    int end = column_of(plan, (int64_t)tenant->offset + tenant->bytes);
    int length = BAR + 1;

    if (first == BAR + BEYOND) /* so far beyond that only its last mark is shown */
        first--;
    memset(bar, ' ', sizeof bar);
    for (int i = first; i < end || i == first; i++) {
        int at = i < BAR ? i : i + 1;

        bar[at] = '#';
        length = at + 1 > length ? at + 1 : length;
    }
    bar[BAR] = '|';
    output_text(out, "%.*s\n", length, bar);
}

static void print_tenants(struct output *out, const struct lathe_plan *plan)
{
    enum { USUAL = 8 };
    char sum[LATHE_GROUPED_SIZE], limit[LATHE_GROUPED_SIZE], bytes[LATHE_GROUPED_SIZE];
    int width = (int)strlen(lathe_grouped(plan->smem_bytes, sum));

    output_text(out, "%sshared memory of a CTA: %s of %s bytes%s\n",
                output_style(out, plan->smem_bytes > plan->smem_limit ? STYLE_BAD : STYLE_BOLD),
                sum, lathe_grouped(plan->smem_limit, limit), output_style(out, STYLE_PLAIN));
    for (int i = 0; i < plan->tenant_count; i++) {
        const struct lathe_tenant *tenant = &plan->tenants[i];

        output_text(out, "  %-16s %*s  ", tenant->name, width > USUAL ? width : USUAL,
                    lathe_grouped(tenant->bytes, bytes));
        print_bar(out, plan, tenant);
    }
}

/* ---- What stands in the way ---- */

enum { EDGE = 80, LABEL = 12 };

/* Words that begin at a column; what would pass the edge of a terminal goes on below the first. The
 * mark stays with the last one. */
static void print_words(struct output *out, int column, const char *words, const char *mark)
{
    int at = column;

    for (const char *word = words; *word; word += strspn(word, " ")) {
        int length = (int)strcspn(word, " ");
        int width = length + (word[length] ? 0 : (int)strlen(mark));
        bool first = at == column;

        if (!first && at + 1 + width > EDGE) {
            output_text(out, "\n%*s", column, "");
            at = column;
            first = true;
        }
        output_text(out, "%s%.*s", first ? "" : " ", length, word);
        at += length + !first;
        word += length;
    }
    output_text(out, "%s\n", mark);
}

static void print_line(struct output *out, const char *label, const char *words)
{
    output_text(out, "%-*s", LABEL, label);
    print_words(out, LABEL, words, "");
}

void explain_wall(const struct lathe_explanation *e, char text[EXPLAIN_TEXT_SIZE])
{
    char needed[LATHE_GROUPED_SIZE], over[LATHE_GROUPED_SIZE], least[64] = "";
    const char *many = e->room_stages == 1 ? "" : "s";

    if (e->most_stages > 0 && e->most_stages < e->room_stages) {
        snprintf(text, EXPLAIN_TEXT_SIZE,
                 "%d stage%s, all that the flow can use; there is room for %d", e->most_stages,
                 e->most_stages == 1 ? "" : "s", e->room_stages);
        return;
    }
    if (e->most_stages < e->room_stages)
        snprintf(least, sizeof least, ", and the flow takes at least %d", e->least_stages);
    snprintf(text, EXPLAIN_TEXT_SIZE, "%d stage%s fit%s%s; %d would need %s bytes, %s too many",
             e->room_stages, many, e->room_stages == 1 ? "s" : "", least, e->room_stages + 1,
             lathe_grouped(e->wall_bytes, needed),
             lathe_grouped(e->wall_bytes - e->plan.smem_limit, over));
}

static void print_wall(struct output *out, const struct lathe_explanation *e)
{
    const struct lathe_plan *plan = &e->plan;
    char stage[LATHE_GROUPED_SIZE], a[LATHE_GROUPED_SIZE], b[LATHE_GROUPED_SIZE],
        bytes[LATHE_GROUPED_SIZE];
    char text[EXPLAIN_TEXT_SIZE];

    output_text(out, "one stage   %s bytes: %s of A and %s of B\n",
                lathe_grouped(e->a_bytes + e->b_bytes, stage), lathe_grouped(e->a_bytes, a),
                lathe_grouped(e->b_bytes, b));
    if (e->expected_bytes > 0)
        output_text(out, "its barrier waits for %s bytes%s\n",
                    lathe_grouped(e->expected_bytes, bytes),
                    plan->cta_group == 2 ? ", those of both CTAs of the pair" : "");
    explain_wall(e, text);
    print_line(out, "the wall", text);
    print_line(out, "the limit", e->limit);
    output_text(out, "the price   %.4f bytes from L2 per operation; %.2f waves\n", e->l2_bytes,
                e->waves);
}

/* In six columns, whatever it is: 6.92, 123456, 1e+07. */
static void print_waves(struct output *out, double waves)
{
    enum { FRACTIONS = 1000, DIGITS = 1000000 };

    if (waves < FRACTIONS - 0.005)
        output_text(out, "%6.2f", waves);
    else if (waves < DIGITS - 0.5)
        output_text(out, "%6.0f", waves);
    else
        output_text(out, "%6.0e", waves);
}

/* Words that would pass the edge of a terminal stand in lines of their own. */
static void print_door(struct output *out, const struct lathe_door *door)
{
    enum { NUMBERS = 42, INDENT = 6 };
    const char *mark = door->changes_result ? " *" : "";
    bool fits = NUMBERS + strlen(door->words) + strlen(mark) <= EDGE;
    char bytes[LATHE_GROUPED_SIZE];

    output_text(out, "%8d %9s %8.4f ", door->stages, lathe_grouped(door->smem_bytes, bytes),
                door->l2_bytes);
    print_waves(out, door->waves);
    output_text(out, " %5d%s", door->tmem_columns, fits ? "  " : "\n      ");
    print_words(out, fits ? NUMBERS : INDENT, door->words, mark);
}

static void print_doors(struct output *out, const struct lathe_explanation *e)
{
    bool marked = false;

    if (e->door_count == 0) {
        output_text(out, "no door: no move along one or two axes gives more stages\n");
        return;
    }
    output_text(out, "doors: appended to the same command, each gives a plan\n");
    output_text(out, "%8s %9s %8s %6s %5s  %s\n", "stages", "bytes", "L2 B/op", "waves", "TMEM",
                "words");
    for (int i = 0; i < e->door_count; i++) {
        print_door(out, &e->doors[i]);
        marked = marked || e->doors[i].changes_result;
    }
    if (marked)
        output_text(out, "  * D is of another type then\n");
}

static void print_explanation(struct output *out, const struct lathe_explanation *e)
{
    const struct lathe_plan *plan = &e->plan;

    output_text(out, "%s, %s to %s: tile=%dx%dx%d cluster=%dx%dx%d cta_group=%d stages=%d\n\n",
                lathe_arch_name(plan->arch), lathe_type_name(plan->type),
                lathe_type_name(plan->out), plan->tile[0], plan->tile[1], plan->tile[2],
                plan->cluster[0], plan->cluster[1], plan->cluster[2], plan->cta_group,
                plan->stages);
    print_tenants(out, plan);
    output_text(out, "\n");
    print_wall(out, e);
    output_text(out, "\n");
    print_doors(out, e);
}

/* ---- As an object ---- */

static json_t *door_json(const struct lathe_door *door)
{
    json_t *words = json_array();
    char copy[LATHE_WORDS_SIZE];
    char *rest = copy;

    memcpy(copy, door->words, sizeof copy);
    for (char *word; (word = strsep(&rest, " "));)
        json_array_append_new(words, json_text(word));
    return json_pack("{s:o, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:b}", "words", words, "cta_group",
                     door->cta_group, "stages", door->stages, "stage_bytes", door->stage_bytes,
                     "smem_bytes", door->smem_bytes, "tmem_columns", door->tmem_columns, "l2_bytes",
                     json_number(door->l2_bytes), "waves", json_number(door->waves),
                     "changes_result", door->changes_result);
}

static json_t *explanation_json(const struct lathe_explanation *e, const struct lathe_error *err)
{
    json_t *doors = json_array();

    for (int i = 0; i < e->door_count; i++)
        json_array_append_new(doors, door_json(&e->doors[i]));

    json_t *object = json_pack(
        "{s:o, s:b, s:{s:i, s:i, s:i, s:i}, s:{s:i, s:i, s:i, s:i}, s:o, s:o, s:s, s:o}", "plan",
        report_plan(&e->plan), "fits", e->fits, "stage", "bytes", e->a_bytes + e->b_bytes, "a",
        e->a_bytes, "b", e->b_bytes, "expected", e->expected_bytes, "wall", "stages",
        e->most_stages, "least", e->least_stages, "room", e->room_stages, "next_bytes",
        e->wall_bytes, "l2_bytes", json_number(e->l2_bytes), "waves", json_number(e->waves),
        "limit", e->limit, "doors", doors);

    if (object && !e->fits)
        json_object_set_new(object, "error", output_error(err));
    return object;
}

/* ---- The answer ---- */

static enum lathe_status write_picture(const char *file, struct output *out,
                                       const struct lathe_explanation *e, struct lathe_error *err)
{
    char *picture = explain_svg(e);
    enum lathe_status status = LATHE_OK;

    if (!picture)
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for the picture");
    if (file_is_standard_output(file))
        output_bytes(out, picture, strlen(picture));
    else
        status = file_write(file, picture, strlen(picture), err);
    free(picture);
    return status;
}

/* With the file that has the picture. */
static int answer_json(struct output *out, const struct lathe_explanation *e, const char *file,
                       const struct lathe_error *err)
{
    json_t *object = explanation_json(e, err);

    if (object && file)
        json_object_set_new(object, "output", json_text(file));
    if (!e->fits)
        output_note("%s", err->message);
    return output_json(out, object, e->fits ? EXIT_DONE : output_code(err));
}

/* In words, or as a picture in their place, or in JSON, beside which there can be a picture. */
static int answer(const struct words *words, struct output *out, const struct lathe_explanation *e,
                  const struct lathe_error *err)
{
    struct lathe_error other;

    if (words->output && write_picture(words->output, out, e, &other) != LATHE_OK)
        return output_refuse(out, &other);
    if (out->json)
        return answer_json(out, e, words->output, err);
    if (!words->output)
        print_explanation(out, e);
    return e->fits ? EXIT_DONE : output_refuse(out, err);
}

int explain_run(const struct words *words, struct output *out)
{
    struct lathe_request request;
    struct lathe_explanation explanation = LATHE_EXPLANATION_INIT;
    struct lathe_error err = {.status = LATHE_OK};
    enum lathe_status status = request_detect(words, &request, &err);

    if (out->json && words->output && file_is_standard_output(words->output))
        status = fail(&err, LATHE_BAD_WORD, "-o %.80s and --json: both want standard output",
                      words->output);
    if (status == LATHE_OK)
        status = lathe_explain_gemm(&explanation, &request.gemm, &request.plan, &err);
    if (status != LATHE_OK)
        return output_refuse(out, &err);
    return answer(words, out, &explanation, &explanation.refusal);
}
