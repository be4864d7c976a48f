/* help.c: help texts, and the verb that prints them. */
#include "cli/help.h"

#include "lathe_tools.h"

#include <stdlib.h>
#include <string.h>

static const char options_of_all[] =
    "  --json          one object on standard output; a refusal is the object\n"
    "                  {\"error\": {\"code\", \"message\", ...}}\n"
    "  -h, --help      this text\n";

static const char exit_codes[] =
    "Exit code: 0 done; 1 what was asked for cannot be, or the answer is wrong;\n"
    "2 a word that means nothing, or a value outside its key's range.\n";

static void print_heading(struct output *out, const char *heading)
{
    output_text(out, "%s%s%s\n", output_style(out, STYLE_BOLD), heading,
                output_style(out, STYLE_PLAIN));
}

/* The keys of the problem, or of the plan, in lines of 78. */
static void print_request_keys(struct output *out, const char *label, int of_plan)
{
    enum { INDENT = 11, WIDTH = 78 };
    struct lathe_field_info info;
    int column = INDENT;

    output_text(out, "  %-*s", INDENT - 3, label);
    for (size_t i = 0; lathe_field_at(i, &info); i++) {
        int length = (int)strlen(info.key) + 1;

        if (info.of_plan != of_plan)
            continue;
        if (column + length > WIDTH) {
            output_text(out, "\n%*s", INDENT - 1, "");
            column = INDENT;
        }
        output_text(out, " %s", info.key);
        column += length;
    }
    output_text(out, "\n");
}

static void print_own_keys(struct output *out, const struct key *keys)
{
    struct table table = {.columns = 3};

    for (; keys->name; keys++) {
        char range[64];

        snprintf(range, sizeof range, "%lld to %lld", (long long)keys->lowest,
                 (long long)keys->highest);
        table_cell(&table, "%s=", keys->name);
        table_cell(&table, "%s", keys->values ? keys->values : range);
        if (keys->fallback)
            table_cell(&table, "%s (default: %s)", keys->doc, keys->fallback);
        else
            table_cell(&table, "%s", keys->doc);
    }
    table_print(&table, out, 2);
}

static void print_keys(struct output *out, const struct verb *verb)
{
    if (!verb->takes_request && !verb->keys)
        return;
    output_text(out, "\n");
    print_heading(out, "Keys:");
    if (verb->takes_request) {
        print_request_keys(out, "problem", 0);
        print_request_keys(out, "plan", 1);
        output_text(out, "  'lathe list' says what each takes.\n");
    }
    if (verb->keys)
        print_own_keys(out, verb->keys);
}

static void print_verb(struct output *out, const struct verb *verb)
{
    output_text(out, "lathe %s: %s\n\n", verb->name, verb->summary);
    print_heading(out, "Usage:");
    output_text(out, "  lathe %s%s%s\n\n%s", verb->name, verb->synopsis[0] ? " " : "",
                verb->synopsis, verb->about);
    print_keys(out, verb);
    output_text(out, "\n");
    print_heading(out, "Options:");
    if (verb->explains)
        output_text(out,
                    "  --explain       the budget: where the shared memory goes, what one more "
                    "stage\n                  costs, and which other choice would give it\n");
    if (verb->output)
        output_text(out, "  -o, --output FILE\n                  %s\n", verb->output);
    output_text(out, "%s\n", options_of_all);
    print_heading(out, "Examples:");
    output_text(out, "%s\n%s", verb->examples, exit_codes);
}

int help_verb(struct output *out, const struct verb *verb)
{
    if (!out->json) {
        print_verb(out, verb);
        return EXIT_DONE;
    }
    return output_json(out,
                       json_pack("{s:s, s:s, s:s, s:s, s:s}", "verb", verb->name, "summary",
                                 verb->summary, "synopsis", verb->synopsis, "about", verb->about,
                                 "examples", verb->examples),
                       EXIT_DONE);
}

static void print_variables(struct output *out)
{
    struct table table = {.columns = 2};
    struct lathe_variable_info info;

    print_heading(out, "Environment:");
    for (size_t i = 0; lathe_variable_at(i, &info); i++) {
        table_cell(&table, "%s", info.name);
        table_cell(&table, "%s", info.doc);
    }
    table_print(&table, out, 2);
    output_text(out, "\n");
}

void help_all(struct output *out)
{
    struct table table = {.columns = 2};

    output_text(out,
                "lathe: tensor-core kernels written, linked, kept and launched at run time\n\n");
    print_heading(out, "Usage:");
    output_text(out, "  lathe VERB [WORD...] [--json] [--help]\n\n");
    print_heading(out, "Verbs:");
    for (size_t i = 0; verbs[i]; i++) {
        table_cell(&table, "%s", verbs[i]->name);
        table_cell(&table, "%s", verbs[i]->summary);
    }
    table_print(&table, out, 2);
    output_text(
        out,
        "\n"
        "Problems and plans are key=value words: gemm m=4096 n=4096 k=4096 type=bf16.\n"
        "A key that is given twice holds as given last, but for those that may be repeated.\n\n");
    print_heading(out, "Options:");
    output_text(out, "%s  --version       the version\n\n", options_of_all);
    print_variables(out);
    print_heading(out, "Examples:");
    output_text(out,
                "  lathe plan gemm m=4096 n=4096 k=4096\n"
                "  lathe emit gemm m=4096 n=4096 k=4096 -o kernel.ptx\n"
                "  lathe doctor\n"
                "  lathe help plan\n\n%s",
                exit_codes);
}

/* ---- The verb ---- */

static json_t *verbs_json(void)
{
    json_t *array = json_array();

    for (size_t i = 0; verbs[i]; i++)
        json_array_append_new(
            array, json_pack("{s:s, s:s}", "name", verbs[i]->name, "summary", verbs[i]->summary));
    return json_pack("{s:o}", "verbs", array);
}

static int run(const struct words *words, struct output *out)
{
    struct lathe_error err;

    if (words_at_most(words, 1, &err) != LATHE_OK)
        return output_refuse(out, &err);
    if (words->count == 0 && out->json)
        return output_json(out, verbs_json(), EXIT_DONE);
    if (words->count == 0) {
        help_all(out);
        return EXIT_DONE;
    }

    const struct verb *verb = verb_find(words->list[0]);

    if (verb)
        return help_verb(out, verb);
    verb_refuse(words->list[0], &err);
    return output_refuse(out, &err);
}

const struct verb verb_help = {
    .name = "help",
    .synopsis = "[VERB]",
    .summary = "what the command can do, and what each verb takes",
    .about = "Prints the verbs, or how to use one.\n"
             "\n"
             "--json: without VERB {\"verbs\": [{\"name\", \"summary\"}]}, with VERB\n"
             "{\"verb\", \"summary\", \"synopsis\", \"about\", \"examples\"}.\n",
    .examples = "  lathe help\n"
                "  lathe help plan\n",
    .run = run,
};
