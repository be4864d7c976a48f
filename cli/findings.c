#include "cli/findings.h"

#include "cli/report.h"

#include <string.h>

/* Of one code; a fault in a loop shows at many lines. */
enum { SHOWN_MOST = 4 };

int findings_code(const struct lathe_findings *findings)
{
    return lathe_findings_errors(findings) > 0 ? EXIT_CANNOT : EXIT_DONE;
}

/* ---- As JSON ---- */

static json_t *text_or_null(const char *text)
{
    return text[0] ? json_text(text) : json_null();
}

/* -1 and, of a line, 0 are none. */
static json_t *number_or_null(int number, int lowest)
{
    return number >= lowest ? json_integer(number) : json_null();
}

/* Sets the members that tell of a side; null all of them where there is none. */
static void set_side(json_t *object, const struct lathe_check_side *side, int is_there)
{
    json_object_set_new(object, "cta",
                        is_there ? json_pack("[I, I, I]", (json_int_t)side->cta[0],
                                             (json_int_t)side->cta[1], (json_int_t)side->cta[2])
                                 : json_null());
    json_object_set_new(object, "warp", number_or_null(side->warp, 0));
    json_object_set_new(object, "lane", number_or_null(side->lane, 0));
    json_object_set_new(object, "role", text_or_null(side->role));
    json_object_set_new(object, "line", number_or_null(side->line, 1));
    json_object_set_new(object, "instruction", text_or_null(side->instruction));
    json_object_set_new(object, "operand", text_or_null(side->operand));
}

static json_t *side_json(const struct lathe_check_side *side)
{
    json_t *object = json_object();

    set_side(object, side, 1);
    return object;
}

static json_t *finding_json(const struct lathe_check_finding *f)
{
    json_t *object = json_pack("{s:s, s:b, s:o, s:s}", "code", f->code, "warning", f->is_warning,
                               "message", json_text(f->what), "kernel", f->kernel);

    if (!object)
        return NULL;
    set_side(object, &f->who, f->has_who);
    json_object_set_new(object, "object", text_or_null(f->object));
    json_object_set_new(object, "other", f->has_other ? side_json(&f->other) : json_null());
    json_object_set_new(object, "needed", text_or_null(f->needed));
    json_object_set_new(object, "seed", json_integer((json_int_t)f->seed));
    json_object_set_new(object, "schedules", json_integer(f->schedules));
    json_object_set_new(object, "times", json_integer((json_int_t)f->times));
    json_object_set_new(object, "report", report_lines(f->words));
    return object;
}

json_t *findings_json(const struct lathe_findings *findings)
{
    json_t *array = json_array();

    for (size_t i = 0; i < lathe_findings_count(findings); i++)
        json_array_append_new(array, finding_json(lathe_findings_at(findings, i)));
    return array;
}

/* ---- As text ---- */

void findings_schedules(struct output *out, uint64_t seed, int runs, int wanted)
{
    unsigned long long first = seed, last = seed + (uint64_t)(runs > 0 ? runs - 1 : 0);

    output_text(out, "%d", runs);
    if (runs < wanted)
        output_text(out, " of %d", wanted);
    if (first == last)
        output_text(out, ", seed %llu\n", first);
    else
        output_text(out, ", seeds %llu to %llu\n", first, last);
}

/* Its words begin with the code, of a warning with that before it. */
static void print_finding(struct output *out, const struct lathe_check_finding *f, int runs)
{
    const char *code = strstr(f->words, f->code);
    int before = code ? (int)(code - f->words) : 0;
    int length = code ? (int)strlen(f->code) : 0;

    output_text(out, "\n%.*s%s%.*s%s%s\n", before, f->words,
                output_style(out, f->is_warning ? STYLE_BOLD : STYLE_BAD), length,
                f->words + before, output_style(out, STYLE_PLAIN), f->words + before + length);
    output_text(out, "  seed %llu", (unsigned long long)f->seed);
    if (runs > 1)
        output_text(out, ", in %d of %d schedules", f->schedules, runs);
    if (f->times > 1)
        output_text(out, ", seen %llu times", (unsigned long long)f->times);
    output_text(out, "\n");
}

/* How many before this one have its code. */
static size_t count_before(const struct lathe_findings *findings, size_t index)
{
    const char *code = lathe_findings_at(findings, index)->code;
    size_t count = 0;

    for (size_t i = 0; i < index; i++)
        count += strcmp(lathe_findings_at(findings, i)->code, code) == 0;
    return count;
}

/* What was not shown, once it is clear how much that is: at the last of a code. */
static void print_rest(struct output *out, const struct lathe_findings *findings, size_t index)
{
    const char *code = lathe_findings_at(findings, index)->code;
    size_t before = count_before(findings, index);

    for (size_t i = index + 1; i < lathe_findings_count(findings); i++)
        if (strcmp(lathe_findings_at(findings, i)->code, code) == 0)
            return;
    output_text(out, "\n%s: %zu more, of other instructions; --json has them\n", code,
                before + 1 - SHOWN_MOST);
}

static void print_count(struct output *out, size_t count, const char *what)
{
    output_text(out, "%zu %s%s", count, what, count == 1 ? "" : "s");
}

void findings_print(struct output *out, const struct lathe_findings *findings, int runs)
{
    size_t errors = lathe_findings_errors(findings);
    size_t warnings = lathe_findings_count(findings) - errors;

    for (size_t i = 0; i < errors + warnings; i++)
        if (count_before(findings, i) < SHOWN_MOST)
            print_finding(out, lathe_findings_at(findings, i), runs);
        else
            print_rest(out, findings, i);
    output_text(out, "\n%s", output_style(out, errors > 0 ? STYLE_BAD : STYLE_GOOD));
    if (errors > 0)
        print_count(out, errors, "finding");
    else
        output_text(out, "nothing was found");
    output_text(out, "%s", output_style(out, STYLE_PLAIN));
    if (warnings > 0) {
        output_text(out, errors > 0 ? ", " : " but ");
        print_count(out, warnings, "warning");
    }
    output_text(out, "\n");
}
