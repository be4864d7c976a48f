/* contract.c: the launch contract as a JSON object. */
#include "codegen/builder.h"
#include "codegen/plan_json.h"

#include <stdbool.h>

static const char *const param_words[] = {
    [LATHE_PARAM_TENSOR_MAP] = "tensor_map",
    [LATHE_PARAM_M] = "m",
    [LATHE_PARAM_N] = "n",
    [LATHE_PARAM_K] = "k",
    [LATHE_PARAM_WALK] = "walk",
    [LATHE_PARAM_ALPHA] = "alpha",
    [LATHE_PARAM_BETA] = "beta",
    [LATHE_PARAM_D] = "d",
    [LATHE_PARAM_LDD] = "ldd",
    [LATHE_PARAM_C] = "c",
    [LATHE_PARAM_LDC] = "ldc",
    [LATHE_PARAM_A] = "a",
    [LATHE_PARAM_LDA] = "lda",
    [LATHE_PARAM_B] = "b",
    [LATHE_PARAM_LDB] = "ldb",
};

static json_t *param_json(const struct lathe_param *param)
{
    return json_pack("{s:s, s:s, s:s, s:i}", "name", param->name, "holds", param_words[param->kind],
                     "type", lt_param_type(param->kind), "bytes", param->bytes);
}

static json_t *tensor_map_json(const struct lathe_tensor_map *map)
{
    static const struct {
        const char *operand, *columns, *rows, *pitch;
    } of[] = {
        [LATHE_A] = {"a", "k", "m", "lda"},
        [LATHE_B] = {"b", "k", "n", "ldb"},
        [LATHE_C] = {"c", "n", "m", "ldc"},
        [LATHE_D] = {"d", "n", "m", "ldd"},
    };

    return json_pack("{s:s, s:s, s:s, s:[s, s], s:s, s:[i, i], s:i, s:i, s:i, s:i}", "name",
                     map->name, "operand", of[map->operand].operand, "type",
                     lathe_type_name(map->type), "dims", of[map->operand].columns,
                     of[map->operand].rows, "pitch", of[map->operand].pitch, "box", map->box[0],
                     map->box[1], "swizzle_bytes", map->swizzle_bytes, "promotion_bytes",
                     map->promotion_bytes, "inner_multiple", map->inner_multiple, "outer_multiple",
                     map->outer_multiple);
}

size_t lathe_contract_json(const struct lathe_contract *contract, char *buffer, size_t size)
{
    if (!contract)
        return lt_json_copy(NULL, buffer, size);

    json_t *params = json_array();
    json_t *maps = json_array();

    for (int i = 0; i < contract->param_count; i++)
        json_array_append_new(params, param_json(&contract->params[i]));
    for (int i = 0; i < contract->tensor_map_count; i++)
        json_array_append_new(maps, tensor_map_json(&contract->tensor_maps[i]));

    json_t *object = json_pack(
        "{s:s, s:s, s:[i, i, i], s:[i, i, i], s:i, s:[i, i], s:b, s:i, s:o, s:o}", "name",
        contract->name, "arch", lathe_arch_name(contract->arch), "block", contract->block[0],
        contract->block[1], contract->block[2], "cluster", contract->cluster[0],
        contract->cluster[1], contract->cluster[2], "smem", contract->smem_bytes, "cluster_tile",
        contract->cluster_tile[0], contract->cluster_tile[1], "one_tile", contract->one_tile,
        "most_clusters", contract->most_clusters, "params", params, "tensor_maps", maps);

    if (object && contract->registers >= 0) {
        json_object_set_new(object, "registers", json_integer(contract->registers));
        json_object_set_new(object, "spills", json_integer(contract->spill_bytes));
        json_object_set_new(object, "warnings", json_integer(contract->warnings));
    }
    return lt_json_copy(object, buffer, size);
}
