/* doctor.c: what was found on this machine, and what to do about what was not. */
#include "cli/build_id.h"
#include "cli/request.h"
#include "cli/verb.h"

#include "lathe_tools.h"

enum { FINDINGS_MAX = 64 };

static const char *found_name(enum lathe_found found)
{
    switch (found) {
    case LATHE_FOUND:
        return "found";
    case LATHE_MISSING:
        return "missing";
    case LATHE_TROUBLE:
        return "trouble";
    }
    return "trouble";
}

static json_t *report_json(const struct lathe_finding *findings, size_t count)
{
    json_t *array = json_array();
    bool ok = true;

    for (size_t i = 0; i < count; i++) {
        const struct lathe_finding *f = &findings[i];

        ok = ok && f->found == LATHE_FOUND;
        json_array_append_new(array, json_pack("{s:s, s:s, s:o, s:o}", "what", f->what, "found",
                                               found_name(f->found), "detail", json_text(f->detail),
                                               "advice", json_text(f->advice)));
    }
    return json_pack("{s:s, s:s, s:b, s:o}", "version", lathe_version(), "git", build_git_id(),
                     "ok", ok, "findings", array);
}

static void print_report(struct output *out, const struct lathe_finding *findings, size_t count)
{
    int width = 0;

    for (size_t i = 0; i < count; i++) {
        int length = snprintf(NULL, 0, "%s", findings[i].what);

        width = length > width ? length : width;
    }
    output_text(out, "%-*s  %-7s  lathe %s, git %s\n", width, "library", "found", lathe_version(),
                build_git_id());
    for (size_t i = 0; i < count; i++) {
        const struct lathe_finding *f = &findings[i];

        output_text(out, "%-*s  %s%-7s%s  %s%s%s\n", width, f->what,
                    output_style(out, f->found == LATHE_FOUND ? STYLE_GOOD : STYLE_BAD),
                    found_name(f->found), output_style(out, STYLE_PLAIN), f->detail,
                    f->advice[0] ? "; " : "", f->advice);
    }
}

static int run(const struct words *words, struct output *out)
{
    struct lathe_finding findings[FINDINGS_MAX];
    struct lathe_context *context = NULL;
    struct lathe_error err;

    if (words_at_most(words, 0, &err) != LATHE_OK || context_open(&context, &err) != LATHE_OK)
        return output_refuse(out, &err);

    size_t count = lathe_doctor(context, findings, FINDINGS_MAX);

    lathe_context_destroy(&context);
    if (count > FINDINGS_MAX)
        count = FINDINGS_MAX;
    if (out->json)
        return output_json(out, report_json(findings, count), EXIT_DONE);
    print_report(out, findings, count);
    return EXIT_DONE;
}

const struct verb verb_doctor = {
    .name = "doctor",
    .synopsis = "",
    .summary = "what was found on this machine, and what to do about what was not",
    .about =
        "One line a finding: GPU, driver, libraries and their versions, the cache; and advice\n"
        "where something is missing or in trouble. The exit code is 0 whatever was found,\n"
        "for the report is what was asked for; \"ok\" in --json says whether all is well.\n"
        "\n"
        "--json: {\"version\", \"git\": the commit it was built from, -dirty where files had "
        "changed,\n"
        "\"ok\": nothing is missing or in trouble, \"findings\": [{\"what\", \"found\": "
        "\"found\", \"missing\"\n"
        "or \"trouble\", \"detail\", \"advice\": empty if found}]}.\n",
    .examples = "  lathe doctor\n"
                "  lathe doctor --json\n",
    .run = run,
};
