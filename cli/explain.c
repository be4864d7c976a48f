#include "cli/explain.h"

#include "cli/file.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *explain_number(int64_t number, char buffer[GROUPED_SIZE])
{
    char digits[GROUPED_SIZE];
    int length = snprintf(digits, sizeof digits, "%" PRId64, number);
    int at = 0;

    for (int i = 0; i < length && at < GROUPED_SIZE - 2; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-')
            buffer[at++] = ',';
        buffer[at++] = digits[i];
    }
    buffer[at] = '\0';
    return buffer;
}

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
    char sum[GROUPED_SIZE], limit[GROUPED_SIZE], bytes[GROUPED_SIZE];

    output_text(out, "%sshared memory of a CTA: %s of %s bytes%s\n",
                output_style(out, plan->smem_bytes > plan->smem_limit ? STYLE_BAD : STYLE_BOLD),
                explain_number(plan->smem_bytes, sum), explain_number(plan->smem_limit, limit),
                output_style(out, STYLE_PLAIN));
    for (int i = 0; i < plan->tenant_count; i++) {
        const struct lathe_tenant *tenant = &plan->tenants[i];

        output_text(out, "  %-17s %8s  ", tenant->name, explain_number(tenant->bytes, bytes));
        print_bar(out, plan, tenant);
    }
}

/* ---- What stands in the way ---- */

static void print_wall(struct output *out, const struct lathe_explanation *e)
{
    const struct lathe_plan *plan = &e->plan;
    char stage[GROUPED_SIZE], a[GROUPED_SIZE], b[GROUPED_SIZE], bytes[GROUPED_SIZE];

    output_text(out, "one stage   %s bytes: %s of A and %s of B\n",
                explain_number(e->a_bytes + e->b_bytes, stage), explain_number(e->a_bytes, a),
                explain_number(e->b_bytes, b));
    if (e->expected_bytes > 0)
        output_text(out, "its barrier waits for %s bytes%s\n",
                    explain_number(e->expected_bytes, bytes),
                    plan->cta_group == 2 ? ", those of both CTAs of the pair" : "");
    output_text(out, "the wall    %d stage%s; ", e->most_stages,
                e->most_stages == 1 ? " fits" : "s fit");
    output_text(out, "%d would need %s bytes", e->most_stages + 1,
                explain_number(e->wall_bytes, bytes));
    output_text(out, ", %s too many\n", explain_number(e->wall_bytes - plan->smem_limit, bytes));
    output_text(out, "the limit   %s\n", e->limit);
    output_text(out, "the price   %.4f bytes from L2 per operation; %.2f waves\n", e->l2_bytes,
                e->waves);
}

/* Words that would pass the edge of a terminal stand in a line of their own. */
static void print_door(struct output *out, const struct lathe_door *door)
{
    enum { EDGE = 80, NUMBERS = 40 };
    char bytes[GROUPED_SIZE];
    bool fits = NUMBERS + strlen(door->words) + 2 <= EDGE;

    output_text(out, "%8d %9s %8.4f %6.2f %5d%s%s%s\n", door->stages,
                explain_number(door->smem_bytes, bytes), door->l2_bytes, door->waves,
                door->tmem_columns, fits ? "  " : "\n      ", door->words,
                door->changes_result ? " *" : "");
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

    json_t *object =
        json_pack("{s:o, s:b, s:{s:i, s:i, s:i, s:i}, s:{s:i, s:i}, s:o, s:o, s:s, s:o}", "plan",
                  report_plan(&e->plan), "fits", e->fits, "stage", "bytes", e->a_bytes + e->b_bytes,
                  "a", e->a_bytes, "b", e->b_bytes, "expected", e->expected_bytes, "wall", "stages",
                  e->most_stages, "next_bytes", e->wall_bytes, "l2_bytes", json_number(e->l2_bytes),
                  "waves", json_number(e->waves), "limit", e->limit, "doors", doors);

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
