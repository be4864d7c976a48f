/* list.c: what there is to ask for. */
#include "cli/verb.h"

#include "lathe_tools.h"

#include <string.h>

static const char *family_name(enum lathe_family family)
{
    switch (family) {
    case LATHE_FAMILY_NONE:
        break;
    case LATHE_GEMM:
        return "gemm";
    }
    return "none";
}

/* ---- Lists: arrays of objects with the same keys ---- */

static json_t *list_families(void)
{
    return json_pack("[{s:s, s:s}]", "name", family_name(LATHE_GEMM), "doc",
                     "D = alpha * A * B^T + beta * C");
}

static bool plans(const char *variant, enum lathe_arch arch)
{
    struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;
    struct lathe_plan plan = LATHE_PLAN_INIT;

    options.arch = arch;
    snprintf(options.variant, sizeof options.variant, "%s", variant);
    return lathe_plan_gemm(&plan, lathe_gemm(.m = 4096, .n = 4096, .k = 4096), &options, NULL) ==
           LATHE_OK;
}

/* A variant's table names the first of its architectures; where it plans are the others. */
static json_t *archs_of(const char *variant)
{
    json_t *archs = json_array();

    for (int arch = LATHE_SM_80; arch <= LATHE_SM_120A; arch++)
        if (plans(variant, (enum lathe_arch)arch))
            json_array_append_new(archs, json_text(lathe_arch_name((enum lathe_arch)arch)));
    return archs;
}

static json_t *list_variants(void)
{
    struct lathe_variant_info info;
    json_t *array = json_array();

    for (size_t i = 0; lathe_variant_at(i, &info); i++)
        json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:o, s:s}", "name", info.name,
                                               "ladder_name", info.ladder_name, "family",
                                               family_name(info.family), "archs",
                                               archs_of(info.name), "doc", info.doc));
    return array;
}

static json_t *list_architectures(void)
{
    struct lathe_arch_info info;
    json_t *array = json_array();

    for (size_t i = 0; lathe_arch_at(i, &info); i++)
        json_array_append_new(array, json_pack("{s:s, s:b, s:i, s:i, s:i}", "name", info.name,
                                               "has_kernels", info.has_kernels, "smem_bytes",
                                               info.smem_bytes, "sms", info.sms, "tmem_columns",
                                               info.tmem_columns));
    return array;
}

static json_t *list_types(void)
{
    json_t *array = json_array();

    for (int type = LATHE_F16; type <= LATHE_S32; type++)
        json_array_append_new(array, json_pack("{s:s, s:i}", "name",
                                               lathe_type_name((enum lathe_type)type), "bytes",
                                               lathe_type_bytes((enum lathe_type)type)));
    return array;
}

static json_t *list_fields(int of_plan)
{
    struct lathe_field_info info;
    json_t *array = json_array();

    for (size_t i = 0; lathe_field_at(i, &info); i++)
        if (info.of_plan == of_plan)
            json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s}", "key", info.key,
                                                   "values", info.values, "default", info.fallback,
                                                   "doc", info.doc));
    return array;
}

static json_t *list_problem_keys(void)
{
    return list_fields(0);
}

static json_t *list_plan_keys(void)
{
    return list_fields(1);
}

static const struct list {
    const char *name, *heading;
    json_t *(*make)(void);
} lists[] = {
    {"families", "Families", list_families},
    {"variants", "Variants", list_variants},
    {"architectures", "Architectures", list_architectures},
    {"types", "Element types", list_types},
    {"problem", "Keys of a gemm problem", list_problem_keys},
    {"plan", "Fields of a plan", list_plan_keys},
};
enum { LISTS = sizeof lists / sizeof lists[0] };

/* ---- Legal plans ---- */

static int print_plans(struct output *out)
{
    char words[512];
    json_t *array = json_array();
    size_t count = 0;

    for (; lathe_legal_plan_at(count, words, sizeof words); count++) {
        if (out->json)
            json_array_append_new(array, json_text(words));
        else
            output_text(out, "%s\n", words);
    }
    output_note("%zu plans, each legal after gemm m=4096 n=4096 k=4096", count);
    if (out->json)
        return output_json(out, json_pack("{s:o}", "plans", array), EXIT_DONE);
    json_decref(array);
    return EXIT_DONE;
}

/* ---- The verb ---- */

static enum lathe_status refuse_list(const char *name, struct lathe_error *err)
{
    const char *known[LISTS + 1];

    for (size_t i = 0; i < LISTS; i++)
        known[i] = lists[i].name;
    known[LISTS] = "plans";
    return words_refuse(name, "list", known, LISTS + 1, err);
}

static json_t *make_lists(const char *wanted)
{
    json_t *object = json_object();

    for (size_t i = 0; i < LISTS; i++)
        if (!wanted || strcmp(wanted, lists[i].name) == 0)
            json_object_set_new(object, lists[i].name, lists[i].make());
    return object;
}

static void print_lists(struct output *out, const json_t *object)
{
    bool first = true;

    for (size_t i = 0; i < LISTS; i++) {
        const json_t *rows = json_object_get(object, lists[i].name);

        if (!rows)
            continue;
        output_text(out, "%s%s%s%s\n", first ? "" : "\n", output_style(out, STYLE_BOLD),
                    lists[i].heading, output_style(out, STYLE_PLAIN));
        output_rows(out, rows, 2);
        first = false;
    }
}

static int run(const struct words *words, struct output *out)
{
    const char *wanted = words->count > 0 ? words->list[0] : NULL;
    struct lathe_error err;

    if (words_at_most(words, 1, &err) != LATHE_OK)
        return output_refuse(out, &err);
    if (wanted && strcmp(wanted, "plans") == 0)
        return print_plans(out);

    json_t *object = make_lists(wanted);

    if (wanted && json_object_size(object) == 0) {
        json_decref(object);
        refuse_list(wanted, &err);
        return output_refuse(out, &err);
    }
    if (out->json)
        return output_json(out, object, EXIT_DONE);
    print_lists(out, object);
    json_decref(object);
    return EXIT_DONE;
}

const struct verb verb_list = {
    .name = "list",
    .synopsis = "[families|variants|architectures|types|problem|plan|plans]",
    .summary = "families, variants, architectures, types, and every key with its values",
    .about =
        "Without a word: all lists but the last. 'plans' prints words that stand for all plans\n"
        "of the persistent kernels for sm_90a, one line each; each line, appended to\n"
        "'gemm m=4096 n=4096 k=4096', is legal. The rungs of the ladders are variants.\n"
        "\n"
        "--json: an object with the lists that were asked for:\n"
        "  families      [{\"name\", \"doc\"}]\n"
        "  variants      [{\"name\", \"ladder_name\", \"family\", \"archs\": [...], "
        "\"doc\"}]\n"
        "  architectures [{\"name\", \"has_kernels\", \"smem_bytes\", \"sms\", \"tmem_columns\"}]\n"
        "  types         [{\"name\", \"bytes\"}]\n"
        "  problem, plan [{\"key\", \"values\", \"default\", \"doc\"}]\n"
        "  plans         [\"words\", ...]\n",
    .examples = "  lathe list\n"
                "  lathe list variants\n"
                "  lathe list plans\n"
                "  lathe list --json\n",
    .run = run,
};
