/* plan.c: how a problem would be done: every choice, the budget, and why. */
#include "cli/explain.h"
#include "cli/report.h"
#include "cli/request.h"
#include "cli/verb.h"

#include <string.h>

static const char reason_key[] = "reason", prediction_key[] = "predicted_us";

/* "launch 168, producer 40, consumer 232" */
static void add_numbers(struct table *table, const char *key, json_t *object)
{
    char text[256] = "";
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value)
    {
        size_t length = strlen(text);

        snprintf(text + length, sizeof text - length, "%s%s %lld", length > 0 ? ", " : "", name,
                 (long long)json_integer_value(value));
    }
    table_cell(table, "%s", key);
    table_cell(table, "%s", text);
}

/* Whatever fields the plan has, in its own order; the rest of it is told below. */
static void print_fields(struct output *out, json_t *plan)
{
    struct table table = {.columns = 2};
    const char *key;
    json_t *value;

    json_object_foreach(plan, key, value)
    {
        if (strcmp(key, reason_key) == 0 || strcmp(key, "smem") == 0)
            continue;
        if (json_is_object(value)) {
            add_numbers(&table, key, value);
        } else if (json_is_integer(value)) {
            table_cell(&table, "%s", key);
            table_cell(&table, "%lld", (long long)json_integer_value(value));
        } else if (json_is_string(value)) {
            table_cell(&table, "%s", key);
            table_cell(&table, "%s", json_string_value(value));
        }
    }
    table_print(&table, out, 0);
}

static void print_budget(struct output *out, const struct lathe_plan *plan)
{
    struct table table = {.columns = 3, .right = 1U << 1 | 1U << 2};

    table_cell(&table, "shared memory of a CTA");
    table_cell(&table, "offset");
    table_cell(&table, "bytes");
    for (int i = 0; i < plan->tenant_count; i++) {
        table_cell(&table, "  %s", plan->tenants[i].name);
        table_cell(&table, "%d", plan->tenants[i].offset);
        table_cell(&table, "%d", plan->tenants[i].bytes);
    }
    table_cell(&table, "  sum");
    table_cell(&table, "%s", "");
    table_cell(&table, "%d", plan->smem_bytes);
    table_cell(&table, "  of at most");
    table_cell(&table, "%s", "");
    table_cell(&table, "%d", plan->smem_limit);
    table_print(&table, out, 0);
}

/* A long estimate in seconds: nobody reads microseconds of many digits. */
static void print_prediction(struct output *out, const struct lathe_request *request, double us)
{
    double tflops = problem_tflops(&request->gemm, us);

    if (us < 1e6)
        output_text(out, "predicted  %.1f us, %.1f TFLOPS\n", us, tflops);
    else
        output_text(out, "predicted  %.4g s, %.1f TFLOPS\n", us / 1e6, tflops);
}

static void print_plan(struct output *out, const struct lathe_request *request,
                       const struct lathe_plan *plan, json_t *object)
{
    print_fields(out, object);
    output_text(out, "\n");
    print_budget(out, plan);
    output_text(out, "\n");
    if (json_object_get(object, prediction_key))
        print_prediction(out, request, (double)plan->predicted_ns / 1e3);
    output_text(out, "reason     %s\n", plan->reason);
}

static int run(const struct words *words, struct output *out)
{
    struct lathe_request request;
    struct lathe_plan plan;
    struct lathe_error err;

    if (words->explain)
        return explain_run(words, out);
    if (words->output) {
        fail(&err, LATHE_BAD_WORD, "-o %.80s: a picture is what --explain draws; add it",
             words->output);
        return output_refuse(out, &err);
    }
    if (request_plan(words, &request, &plan, &err) != LATHE_OK)
        return output_refuse(out, &err);

    json_t *object = report_plan(&plan);

    if (out->json || !object)
        return output_json(out, object, EXIT_DONE);
    print_plan(out, &request, &plan, object);
    json_decref(object);
    return EXIT_DONE;
}

const struct verb verb_plan = {
    .name = "plan",
    .synopsis = "gemm m=M n=N k=K [KEY=VALUE...] [--explain [-o budget.svg]]",
    .summary = "how a problem would be done: every choice, the budget, and why",
    .about =
        "Prints the plan's fields, the shared memory of a CTA as a list of tenants, the\n"
        "time that the planner predicts (for sm_90a), and its reason. Needs no GPU and,\n"
        "where arch= is named, touches no driver; else arch is the GPU's, or without one\n"
        "that of the variant, if one is named, or sm_100a.\n"
        "\n"
        "A field that is named never shrinks another: what does not fit is refused, with\n"
        "words that, appended to the same command, would make it fit.\n"
        "\n"
        "--explain draws the tenants as bars up to the wall, says what one more stage costs,\n"
        "and names the doors: moves along one axis, or two, that give more stages, with the\n"
        "bytes that each takes from L2. What does not fit is explained too, and refused.\n"
        "\n"
        "--json: {\"family\", \"type\", \"out\", \"layout\", \"beta\", \"static\", the fields, "
        "\"cta_tile\",\n"
        "\"cluster_tile\", \"threads\", \"smem\": {\"bytes\", \"limit\", \"tenants\": [{\"name\", "
        "\"bytes\",\n"
        "\"offset\"}]}, \"tmem_columns\", \"registers\": {\"launch\", \"producer\", \"consumer\",\n"
        "\"accumulators\"}, \"predicted_us\" if there is an estimate, \"reason\"}. What does not\n"
        "fit has \"needs_bytes\", \"limit_bytes\" and \"fits_with\", a list of lists of words, in\n"
        "\"error\".\n"
        "With --explain: {\"plan\": all of that, \"fits\", \"stage\": {\"bytes\", \"a\", \"b\", "
        "\"expected\"},\n"
        "\"wall\": {\"stages\", \"next_bytes\"}, \"l2_bytes\": per operation, \"waves\", "
        "\"limit\", \"doors\":\n"
        "[{\"words\", \"cta_group\", \"stages\", \"stage_bytes\", \"smem_bytes\", "
        "\"tmem_columns\",\n"
        "\"l2_bytes\", \"waves\", \"changes_result\"}], \"error\" where it does not fit, and with "
        "-o\n"
        "\"output\", the file that has the picture}.\n",
    .examples = "  lathe plan gemm m=4096 n=4096 k=4096\n"
                "  lathe plan gemm m=4096 n=4096 k=4096 out=f32 arch=sm_100a --explain\n"
                "  lathe plan gemm m=4096 n=4096 k=4096 type=bf16 out=f32 arch=sm_90a\n"
                "  lathe plan gemm m=8192 n=8192 k=8192 arch=sm_90a tile=128x256x64 stages=3\n"
                "  lathe plan gemm m=64 n=4096 k=14336 beta=any --json\n",
    .output = "with --explain: draw the budget there, as an SVG picture",
    .explains = true,
    .takes_request = true,
    .run = run,
};
