/* diff.c: what one choice changes: two plans, and two texts section by section. */
#include "cli/diff_text.h"
#include "cli/pair.h"
#include "cli/report.h"
#include "cli/request.h"
#include "cli/verb.h"

#include <stdlib.h>
#include <string.h>

struct side {
    struct lathe_request request;
    struct lathe_plan plan;
    struct lathe_kernel *kernel; /* null where there is none yet */
    json_t *object;              /* the plan */
};

struct diff {
    struct pair pair;
    struct side sides[SIDES];
};

/* ---- The two plans and texts ---- */

/* The plan of one side: its word in place of the pair, and behind all words those of a door. */
static enum lathe_status plan_side(const struct diff *diff, int index, const struct words *words,
                                   const char *door, struct lathe_request *request,
                                   struct lathe_plan *plan, struct lathe_error *err)
{
    char copy[LATHE_WORDS_SIZE];
    char *rest = copy;
    struct words own = *words;
    const char **list = malloc(((size_t)words->count + sizeof copy) * sizeof *list);

    if (!list)
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for the words");
    memcpy(list, words->list, (size_t)words->count * sizeof *list);
    list[diff->pair.at] = diff->pair.words[index];
    snprintf(copy, sizeof copy, "%s", door);
    for (char *word; (word = strsep(&rest, " "));)
        if (word[0])
            list[own.count++] = word;
    own.list = list;

    enum lathe_status status = request_plan(&own, request, plan, err);

    free(list);
    return status;
}

/* Takes the side's own word out of a door, which both sides would get. False where it names
 * another value of the key, or where nothing is left. */
static bool strip_door(const struct diff *diff, int index, char door[LATHE_WORDS_SIZE])
{
    char copy[LATHE_WORDS_SIZE];
    char *rest = copy;
    size_t length = 0;

    memcpy(copy, door, sizeof copy);
    for (char *word; (word = strsep(&rest, " "));) {
        if (strcmp(word, diff->pair.words[index]) == 0)
            continue;
        if (pair_names(&diff->pair, word))
            return false;
        length += (size_t)snprintf(door + length, LATHE_WORDS_SIZE - length, "%s%s",
                                   length > 0 ? " " : "", word);
    }
    return length > 0;
}

/* The doors of a refusal are those of one side. Kept are those that, appended to the words of the
 * comparison, give a plan on both. */
static void keep_doors_of_both(const struct diff *diff, int index, const struct words *words,
                               struct lathe_error *err)
{
    int kept = 0;

    for (int i = 0; i < err->fits_count; i++) {
        char door[LATHE_WORDS_SIZE];
        struct lathe_request request;
        struct lathe_plan plan;
        struct lathe_error other;
        bool opens;

        memcpy(door, err->fits_with[i], sizeof door);
        opens = strip_door(diff, index, door);
        for (int side = 0; side < SIDES && opens; side++)
            opens = plan_side(diff, side, words, door, &request, &plan, &other) == LATHE_OK;
        if (opens)
            memcpy(err->fits_with[kept++], door, sizeof door);
    }
    err->fits_count = kept;
}

static enum lathe_status make_side(struct diff *diff, int index, const struct words *words,
                                   struct lathe_error *err)
{
    struct side *side = &diff->sides[index];
    enum lathe_status status = plan_side(diff, index, words, "", &side->request, &side->plan, err);

    if (status != LATHE_OK) {
        keep_doors_of_both(diff, index, words, err);
        return status;
    }
    side->object = report_plan(&side->plan);
    if (!side->object)
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for a plan");
    return lathe_emit(&side->kernel, &side->plan, NULL, err);
}

static void free_diff(struct diff *diff)
{
    for (int i = 0; i < SIDES; i++) {
        json_decref(diff->sides[i].object);
        lathe_kernel_destroy(&diff->sides[i].kernel);
    }
}

/* ---- Plans ---- */

static char *value_text(const json_t *value)
{
    if (!value)
        return strdup("-");
    if (json_is_string(value))
        return strdup(json_string_value(value));
    return json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
}

static void add_difference(json_t *rows, const char *prefix, const char *field, const json_t *a,
                           const json_t *b)
{
    char *a_text = value_text(a), *b_text = value_text(b);
    char name[96];

    snprintf(name, sizeof name, "%s%s%s", prefix, prefix[0] ? "." : "", field);
    if (a_text && b_text)
        json_array_append_new(rows, json_pack("{s:s, s:o, s:o}", "field", name, "a",
                                              json_text(a_text), "b", json_text(b_text)));
    free(a_text);
    free(b_text);
}

/* Tenants are told apart by name, in the order in which A has them. */
static const json_t *tenant_bytes(const json_t *tenants, const char *name)
{
    const json_t *tenant;
    size_t i;

    json_array_foreach(tenants, i, tenant)
    {
        if (strcmp(json_string_value(json_object_get(tenant, "name")), name) == 0)
            return json_object_get(tenant, "bytes");
    }
    return NULL;
}

static void compare_tenants(json_t *rows, const json_t *a, const json_t *b)
{
    const json_t *tenant;
    size_t i;

    json_array_foreach(a, i, tenant)
    {
        const char *name = json_string_value(json_object_get(tenant, "name"));
        const json_t *theirs = tenant_bytes(b, name);

        if (!json_equal(json_object_get(tenant, "bytes"), theirs))
            add_difference(rows, "smem", name, json_object_get(tenant, "bytes"), theirs);
    }
    json_array_foreach(b, i, tenant)
    {
        const char *name = json_string_value(json_object_get(tenant, "name"));

        if (!tenant_bytes(a, name))
            add_difference(rows, "smem", name, NULL, json_object_get(tenant, "bytes"));
    }
}

static void compare_objects(json_t *rows, const char *prefix, json_t *a, json_t *b)
{
    const char *key;
    json_t *value;

    json_object_foreach(a, key, value)
    {
        json_t *theirs = json_object_get(b, key);

        if (json_equal(value, theirs))
            continue;
        if (json_is_object(value) && json_is_object(theirs))
            compare_objects(rows, key, value, theirs);
        else if (json_is_array(value) && json_is_array(theirs))
            compare_tenants(rows, value, theirs);
        else
            add_difference(rows, prefix, key, value, theirs);
    }
    json_object_foreach(b, key, value)
    {
        if (!json_object_get(a, key))
            add_difference(rows, prefix, key, NULL, value);
    }
}

/* ---- The answer in words ---- */

static const char *member(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

/* Values that would make the table wider than a terminal come below it, one line each. */
static bool is_long(const json_t *row)
{
    enum { WIDE = 24 };

    return strlen(member(row, "a")) > WIDE || strlen(member(row, "b")) > WIDE;
}

static void print_plans(struct output *out, const struct diff *diff, const json_t *rows)
{
    struct table table = {.columns = 3};
    const json_t *row;
    size_t i;

    table_cell(&table, "plan");
    table_cell(&table, "%s", diff->pair.words[0]);
    table_cell(&table, "%s", diff->pair.words[1]);
    json_array_foreach(rows, i, row)
    {
        if (is_long(row))
            continue;
        table_cell(&table, "%s", member(row, "field"));
        table_cell(&table, "%s", member(row, "a"));
        table_cell(&table, "%s", member(row, "b"));
    }
    table_print(&table, out, 0);
    json_array_foreach(rows, i, row)
    {
        if (is_long(row))
            output_text(out, "%s\n%s- %s%s\n%s+ %s%s\n", member(row, "field"),
                        output_style(out, STYLE_BAD), member(row, "a"),
                        output_style(out, STYLE_PLAIN), output_style(out, STYLE_GOOD),
                        member(row, "b"), output_style(out, STYLE_PLAIN));
    }
}

static int print_diff(struct output *out, const struct diff *diff, const json_t *rows)
{
    print_plans(out, diff, rows);
    if (!diff_text_print(out, lathe_kernel_text(diff->sides[0].kernel, NULL),
                         lathe_kernel_text(diff->sides[1].kernel, NULL))) {
        output_note("no memory to compare the texts");
        return EXIT_CANNOT;
    }
    return EXIT_DONE;
}

/* ---- The answer as an object ---- */

/* Null without memory: json_pack() releases what it was given. */
static json_t *diff_json(const struct diff *diff, json_t *rows)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:o}", "key", diff->pair.key, "a", diff->pair.words[0],
                     "b", diff->pair.words[1], "plan", rows, "text",
                     diff_text_json(lathe_kernel_text(diff->sides[0].kernel, NULL),
                                    lathe_kernel_text(diff->sides[1].kernel, NULL)));
}

static int answer(const struct diff *diff, struct output *out)
{
    json_t *rows = json_array();
    int code;

    compare_objects(rows, "", diff->sides[0].object, diff->sides[1].object);
    if (out->json) {
        code = output_json(out, diff_json(diff, rows), EXIT_DONE);
    } else {
        code = print_diff(out, diff, rows);
        json_decref(rows);
    }
    return code;
}

static int run(const struct words *words, struct output *out)
{
    struct diff diff = {.pair = {0}};
    struct lathe_error err;
    enum lathe_status status = pair_find(&diff.pair, words, &err);

    for (int i = 0; i < SIDES && status == LATHE_OK; i++)
        status = make_side(&diff, i, words, &err);

    int code = status == LATHE_OK ? answer(&diff, out) : output_refuse(out, &err);

    free_diff(&diff);
    return code;
}

const struct verb verb_diff = {
    .name = "diff",
    .synopsis = "gemm m=M n=N k=K KEY=A,B [KEY=VALUE...]",
    .summary = "what one choice changes in the plan and in the kernel's text",
    .about =
        "Plans and emits twice, once with each value of the key, and prints the fields of the\n"
        "plans that differ, then the two texts section by section: lines of the first after -,\n"
        "lines of the second after +, with two lines around. A text without comments has no\n"
        "sections and is compared as a whole. Needs no GPU. Where one of the two does not fit,\n"
        "the words that are offered make both fit.\n"
        "\n"
        "--json: {\"key\", \"a\" and \"b\": the two words, \"plan\": [{\"field\", \"a\", "
        "\"b\"}], \"text\":\n"
        "[{\"name\", \"same\": lines, \"changes\": [{\"op\": \"-\" or \"+\", \"line\"}]}]}.\n",
    .examples = "  lathe diff gemm m=4096 n=4096 k=4096 arch=sm_90a cluster=1x1x1,2x1x1\n"
                "  lathe diff gemm m=4096 n=4096 k=4096 variant=blackwell-7,blackwell-8\n"
                "  lathe diff gemm m=4096 n=4096 k=4096 arch=sm_90a stages=3,4 --json\n",
    .takes_request = true,
    .run = run,
};
