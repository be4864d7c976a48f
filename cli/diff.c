/* diff.c: what one choice changes: two plans, and two texts section by section. */
#include "cli/compare.h"
#include "cli/report.h"
#include "cli/request.h"
#include "cli/verb.h"

#include "lathe_tools.h"

#include <stdlib.h>
#include <string.h>

enum { SIDES = 2, CONTEXT = 2, WORD_SIZE = 256 };

struct side {
    char word[WORD_SIZE]; /* KEY=A or KEY=B */
    struct lathe_request request;
    struct lathe_plan plan;
    struct lathe_kernel *kernel; /* null where there is none yet */
    json_t *object;              /* the plan */
    struct lines lines;
};

struct diff {
    char key[WORD_SIZE];
    struct side sides[SIDES];
};

/* ---- Which key has two values ---- */

static bool takes(const char *key, const char *value)
{
    struct lathe_request request = LATHE_REQUEST_INIT;

    return lathe_request_set(&request, key, value, NULL) == LATHE_OK;
}

/* KEY=A,B at the comma where both sides are values of the key: those of static= hold commas too. */
static bool split(struct diff *diff, const char *word)
{
    const char *equals = strchr(word, '=');
    char a[WORD_SIZE];

    if (!equals || strlen(word) >= WORD_SIZE)
        return false;
    snprintf(diff->key, sizeof diff->key, "%.*s", (int)(equals - word), word);
    for (const char *comma = equals; (comma = strchr(comma + 1, ',')) != NULL;) {
        snprintf(a, sizeof a, "%.*s", (int)(comma - equals - 1), equals + 1);
        if (!takes(diff->key, a) || !takes(diff->key, comma + 1))
            continue;
        snprintf(diff->sides[0].word, WORD_SIZE, "%.*s", (int)(comma - word), word);
        snprintf(diff->sides[1].word, WORD_SIZE, "%.*s%s", (int)(equals + 1 - word), word,
                 comma + 1);
        return true;
    }
    return false;
}

/* Why a word with a comma in it is no pair: which of its values the key does not take. */
static enum lathe_status refuse_pair(const char *word, struct lathe_error *err)
{
    struct lathe_request request = LATHE_REQUEST_INIT;
    const char *equals = strchr(word, '=');
    char key[WORD_SIZE], value[WORD_SIZE];
    size_t first = strcspn(equals + 1, ",");
    enum lathe_status status;

    snprintf(key, sizeof key, "%.*s", (int)(equals - word), word);
    snprintf(value, sizeof value, "%.*s", (int)first, equals + 1);
    status = lathe_request_set(&request, key, value, err);
    return status == LATHE_OK ? lathe_request_set(&request, key, equals + 1 + first + 1, err)
                              : status;
}

/* Its place among the words, or -1. */
static int find_pair(struct diff *diff, const struct words *words, struct lathe_error *err)
{
    struct diff other;
    int found = -1;

    for (int i = 0; i < words->count; i++) {
        if (!split(found < 0 ? diff : &other, words->list[i]))
            continue;
        if (found >= 0) {
            fail(err, LATHE_BAD_WORD, "%.80s and %.80s: one key at a time can have two values",
                 words->list[found], words->list[i]);
            return -1;
        }
        found = i;
    }
    for (int i = 0; i < words->count && found < 0; i++) {
        const char *equals = strchr(words->list[i], '=');

        if (equals && strchr(equals, ',') && strlen(words->list[i]) < WORD_SIZE &&
            refuse_pair(words->list[i], err) != LATHE_OK)
            return -1;
    }
    if (found < 0)
        fail(err, LATHE_BAD_WORD,
             "no key has two values to compare; for example stages=3,4 or beta=0,any");
    return found;
}

/* ---- The two plans and texts ---- */

static enum lathe_status make_side(struct side *side, const struct words *words, int pair,
                                   struct lathe_error *err)
{
    const char **list = malloc((size_t)words->count * sizeof *list);
    struct words own = *words;

    if (!list)
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for the words");
    memcpy(list, words->list, (size_t)words->count * sizeof *list);
    list[pair] = side->word;
    own.list = list;

    enum lathe_status status = request_plan(&own, &side->request, &side->plan, err);

    free(list);
    if (status != LATHE_OK)
        return status;
    side->object = report_plan(&side->plan);
    if (!side->object)
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for a plan");
    status = lathe_emit(&side->kernel, &side->plan, NULL, err);
    if (status == LATHE_UNSUPPORTED)
        return LATHE_OK; /* a plan whose kernel is not there yet */
    if (status == LATHE_OK && lines_split(&side->lines, lathe_kernel_text(side->kernel, NULL)) != 0)
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for the lines of a text");
    return status;
}

static void free_diff(struct diff *diff)
{
    for (int i = 0; i < SIDES; i++) {
        lines_free(&diff->sides[i].lines);
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

/* ---- Texts: sections begin with a heading, a comment between dashes ---- */

static bool is_heading(struct line line)
{
    static const char mark[] = "// ----";

    return memmem(line.at, line.length, mark, sizeof mark - 1) != NULL;
}

/* "producer" of "// ---- producer: warps 0 to 3 ----"; sections of two texts meet by it. */
static struct line role_of(struct line heading)
{
    const char *end = heading.at + heading.length, *at = memchr(heading.at, '-', heading.length);

    while (at < end && (*at == '-' || *at == ' '))
        at++;

    const char *stop = memchr(at, ':', (size_t)(end - at));

    return (struct line){at, (size_t)((stop ? stop : end) - at)};
}

/* A stretch of lines that begins with its heading; the first of a text has none. */
struct section {
    struct line role;
    const struct line *lines;
    size_t count;
};

static bool next_section(const struct lines *lines, size_t *at, struct section *section)
{
    size_t first = *at;

    if (first >= lines->count)
        return false;
    *section = (struct section){{"head", 4}, lines->list + first, 0};
    if (is_heading(lines->list[first]))
        section->role = role_of(lines->list[first]);
    for (++*at; *at < lines->count && !is_heading(lines->list[*at]);)
        ++*at;
    section->count = *at - first;
    return true;
}

/* An empty one where the text has none of that role. */
static struct section section_of_role(const struct lines *lines, struct line role)
{
    struct section section;

    for (size_t at = 0; next_section(lines, &at, &section);)
        if (section.role.length == role.length &&
            memcmp(section.role.at, role.at, role.length) == 0)
            return section;
    return (struct section){role, NULL, 0};
}

/* What is to be said of one pair of sections; false without memory. */
typedef bool (*tell_section)(void *user, struct line role, const struct edit *edits, size_t count);

static bool compare_pair(const struct section *a, const struct section *b, tell_section tell,
                         void *user)
{
    size_t count = 0;
    struct edit *edits = lines_compare(a->lines, a->count, b->lines, b->count, &count);
    bool told = edits && tell(user, a->role, edits, count);

    free(edits);
    return told;
}

static bool compare_texts(const struct diff *diff, tell_section tell, void *user)
{
    const struct lines *a = &diff->sides[0].lines, *b = &diff->sides[1].lines;
    struct section section;

    for (size_t at = 0; next_section(a, &at, &section);) {
        struct section theirs = section_of_role(b, section.role);

        if (!compare_pair(&section, &theirs, tell, user))
            return false;
    }
    for (size_t at = 0; next_section(b, &at, &section);) {
        struct section theirs = section_of_role(a, section.role);

        if (theirs.count == 0 && !compare_pair(&theirs, &section, tell, user))
            return false;
    }
    return true;
}

static size_t count_steps(const struct edit *edits, size_t count, enum step step)
{
    size_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += edits[i].step == step;
    return sum;
}

/* ---- The answer in words ---- */

static void print_line(struct output *out, const struct edit *edit)
{
    static const char marks[] = {[STEP_SAME] = ' ', [STEP_A_ONLY] = '-', [STEP_B_ONLY] = '+'};
    static const enum style styles[] = {
        [STEP_SAME] = STYLE_PLAIN, [STEP_A_ONLY] = STYLE_BAD, [STEP_B_ONLY] = STYLE_GOOD};

    output_text(out, "%s%c %.*s%s\n",
                edit->step == STEP_SAME ? "" : output_style(out, styles[edit->step]),
                marks[edit->step], (int)edit->line.length, edit->line.at,
                edit->step == STEP_SAME ? "" : output_style(out, STYLE_PLAIN));
}

static bool is_near_a_change(const struct edit *edits, size_t count, size_t at)
{
    size_t first = at > CONTEXT ? at - CONTEXT : 0;

    for (size_t i = first; i < count && i <= at + CONTEXT; i++)
        if (edits[i].step != STEP_SAME)
            return true;
    return false;
}

static bool print_section(void *user, struct line role, const struct edit *edits, size_t count)
{
    struct output *out = user;
    size_t out_count = count_steps(edits, count, STEP_A_ONLY);
    size_t in_count = count_steps(edits, count, STEP_B_ONLY);
    bool skipped = false;

    output_text(out, "\n%s== %.*s%s: ", output_style(out, STYLE_BOLD), (int)role.length, role.at,
                output_style(out, STYLE_PLAIN));
    if (out_count + in_count == 0) {
        output_text(out, "the same, %zu lines\n", count);
        return true;
    }
    output_text(out, "%zu lines the same, - %zu, + %zu\n", count - out_count - in_count, out_count,
                in_count);
    for (size_t i = 0; i < count; i++) {
        if (is_near_a_change(edits, count, i)) {
            if (skipped)
                output_text(out, "  ...\n");
            print_line(out, &edits[i]);
            skipped = false;
        } else {
            skipped = true;
        }
    }
    return true;
}

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
    table_cell(&table, "%s", diff->sides[0].word);
    table_cell(&table, "%s", diff->sides[1].word);
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
    bool texts = diff->sides[0].kernel && diff->sides[1].kernel;

    print_plans(out, diff, rows);
    if (!texts)
        output_note("there is no kernel for %s yet: the plans alone",
                    diff->sides[diff->sides[0].kernel ? 1 : 0].word);
    if (texts && !compare_texts(diff, print_section, out)) {
        output_note("no memory to compare the texts");
        return EXIT_CANNOT;
    }
    return EXIT_DONE;
}

/* ---- The answer as an object ---- */

static bool add_section(void *user, struct line role, const struct edit *edits, size_t count)
{
    static const char *const marks[] = {
        [STEP_SAME] = " ", [STEP_A_ONLY] = "-", [STEP_B_ONLY] = "+"};
    json_t *sections = user;
    json_t *changes = json_array();

    for (size_t i = 0; i < count; i++)
        if (edits[i].step != STEP_SAME)
            json_array_append_new(changes,
                                  json_pack("{s:s, s:o}", "op", marks[edits[i].step], "line",
                                            json_stringn(edits[i].line.at, edits[i].line.length)));
    return json_array_append_new(
               sections, json_pack("{s:o, s:I, s:o}", "name", json_stringn(role.at, role.length),
                                   "same", (json_int_t)count_steps(edits, count, STEP_SAME),
                                   "changes", changes)) == 0;
}

static json_t *diff_json(const struct diff *diff, json_t *rows)
{
    json_t *sections = json_null();

    if (diff->sides[0].kernel && diff->sides[1].kernel) {
        sections = json_array();
        if (!compare_texts(diff, add_section, sections)) {
            json_decref(sections);
            json_decref(rows);
            return NULL;
        }
    }
    return json_pack("{s:s, s:s, s:s, s:o, s:o}", "key", diff->key, "a", diff->sides[0].word, "b",
                     diff->sides[1].word, "plan", rows, "text", sections);
}

static int run(const struct words *words, struct output *out)
{
    struct diff diff = {.key = ""};
    struct lathe_error err = {.status = LATHE_OK};
    int pair = find_pair(&diff, words, &err);
    enum lathe_status status = pair < 0 ? err.status : LATHE_OK;
    int code;

    for (int i = 0; i < SIDES && status == LATHE_OK; i++)
        status = make_side(&diff.sides[i], words, pair, &err);
    if (status == LATHE_OK) {
        json_t *rows = json_array();

        compare_objects(rows, "", diff.sides[0].object, diff.sides[1].object);
        if (out->json) {
            code = output_json(out, diff_json(&diff, rows), EXIT_DONE);
        } else {
            code = print_diff(out, &diff, rows);
            json_decref(rows);
        }
    } else {
        code = output_refuse(out, &err);
    }
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
        "lines of the second after +, with two lines around. Where a kernel is not there yet,\n"
        "the plans alone. Needs no GPU.\n"
        "\n"
        "--json: {\"key\", \"a\" and \"b\": the two words, \"plan\": [{\"field\", \"a\", "
        "\"b\"}], \"text\":\n"
        "[{\"name\", \"same\": lines, \"changes\": [{\"op\": \"-\" or \"+\", \"line\"}]}] or "
        "null}.\n",
    .examples = "  lathe diff gemm m=4096 n=4096 k=4096 arch=sm_90a cluster=1x1x1,2x1x1\n"
                "  lathe diff gemm m=4096 n=4096 k=4096 arch=sm_90a beta=0,any\n"
                "  lathe diff gemm m=4096 n=4096 k=4096 arch=sm_90a stages=3,4 --json\n",
    .takes_request = true,
    .run = run,
};
