#include "cli/report.h"

#include "cli/output.h"

#include <stdlib.h>
#include <string.h>

json_t *report_plan(const struct lathe_plan *plan)
{
    size_t size = lathe_plan_json(plan, NULL, 0) + 1;
    char *text = malloc(size);
    json_t *object = NULL;

    if (text) {
        lathe_plan_json(plan, text, size);
        object = json_loads(text, 0, NULL);
    }
    free(text);
    return object;
}

json_t *report_contract(const struct lathe_contract *contract)
{
    static const char *const once_linked[] = {"registers", "spills", "warnings"};
    size_t size = lathe_contract_json(contract, NULL, 0) + 1;
    char *text = malloc(size);
    json_t *object = NULL;

    if (text) {
        lathe_contract_json(contract, text, size);
        object = json_loads(text, 0, NULL);
    }
    free(text);
    for (size_t i = 0; i < sizeof once_linked / sizeof once_linked[0]; i++)
        if (object && !json_object_get(object, once_linked[i]))
            json_object_set_new(object, once_linked[i], json_null());
    return object;
}

json_t *report_kernel(const struct lathe_plan *plan, const struct lathe_contract *contract,
                      double emit_us)
{
    return json_pack("{s:s, s:o, s:o, s:o}", "arch", lathe_arch_name(plan->arch), "plan",
                     report_plan(plan), "kernel", report_contract(contract), "emit_us",
                     json_number(emit_us));
}

json_t *report_lines(const char *text)
{
    json_t *lines = json_array();
    char *copy = strdup(text);
    char *rest = copy;

    for (char *line; copy && (line = strsep(&rest, "\n"));)
        if (line[0])
            json_array_append_new(lines, json_text(line));
    if (!copy) {
        json_decref(lines);
        lines = NULL;
    }
    free(copy);
    return lines;
}

const char *cache_result_name(enum lathe_cache_result result)
{
    switch (result) {
    case LATHE_CACHE_OFF:
        return "off";
    case LATHE_CACHE_MISS:
        return "miss";
    case LATHE_CACHE_HIT:
        return "hit";
    }
    return "off";
}
