/* entry.c: the head of a kernel: shared memory, parameters, the entry and the contract of all that.
 */
#include "codegen/builder_state.h"

#include <stdio.h>
#include <string.h>

void lt_shared(struct lt_builder *b, int bytes, int alignment)
{
    b->contract.smem_bytes = bytes;
    lt_text_printf(&b->text, ".extern .shared .align %d .b8 smem[];\n", alignment);
}

static struct lathe_param *add_param(struct lt_builder *b, const char *name,
                                     enum lathe_param_kind kind, int bytes)
{
    if (b->contract.param_count == LATHE_PARAMS_MAX || b->entered) {
        lt_mistake(b, "parameter %s: %s", name, b->entered ? "comes too late" : "is one too many");
        return NULL;
    }

    struct lathe_param *param = &b->contract.params[b->contract.param_count++];

    snprintf(param->name, sizeof param->name, "%s", name);
    param->kind = kind;
    param->bytes = bytes;
    param->tensor_map = -1;
    return param;
}

const char *lt_param_type(enum lathe_param_kind kind)
{
    switch (kind) {
    case LATHE_PARAM_TENSOR_MAP:
        return "tensor_map";
    case LATHE_PARAM_WALK:
        return "walk";
    case LATHE_PARAM_M:
    case LATHE_PARAM_N:
    case LATHE_PARAM_K:
        return "u32";
    case LATHE_PARAM_ALPHA:
    case LATHE_PARAM_BETA:
        return "f32";
    case LATHE_PARAM_D:
    case LATHE_PARAM_LDD:
    case LATHE_PARAM_C:
    case LATHE_PARAM_LDC:
    case LATHE_PARAM_A:
    case LATHE_PARAM_LDA:
    case LATHE_PARAM_B:
    case LATHE_PARAM_LDB:
        return "u64";
    }
    return NULL;
}

static bool is_scalar(enum lathe_param_kind kind)
{
    return kind != LATHE_PARAM_TENSOR_MAP && kind != LATHE_PARAM_WALK;
}

/* The register that holds a scalar. */
static enum lt_type register_type(enum lathe_param_kind kind)
{
    const char *type = lt_param_type(kind);

    return strcmp(type, "f32") == 0 ? LT_F32 : strcmp(type, "u64") == 0 ? LT_B64 : LT_B32;
}

static int bytes_of(enum lathe_param_kind kind)
{
    if (kind == LATHE_PARAM_WALK)
        return (int)sizeof(struct lathe_walk);
    return register_type(kind) == LT_B64 ? 8 : 4;
}

void lt_param(struct lt_builder *b, const char *name, enum lathe_param_kind kind)
{
    add_param(b, name, kind, bytes_of(kind));
}

void lt_param_tensor_map(struct lt_builder *b, const struct lathe_tensor_map *map)
{
    if (b->contract.tensor_map_count == LATHE_TENSOR_MAPS_MAX) {
        lt_mistake(b, "tensor map %s is one too many", map->name);
        return;
    }

    struct lathe_param *param = add_param(b, map->name, LATHE_PARAM_TENSOR_MAP, 128);

    if (!param)
        return;
    param->tensor_map = b->contract.tensor_map_count;
    b->contract.tensor_maps[b->contract.tensor_map_count++] = *map;
}

static void append_param(struct lt_builder *b, const struct lathe_param *param, bool last)
{
    static const char operand_letters[] = "ABCD";
    static const char *const meanings[] = {
        [LATHE_PARAM_TENSOR_MAP] = "",
        [LATHE_PARAM_M] = "rows of A and D",
        [LATHE_PARAM_N] = "rows of B, columns of D",
        [LATHE_PARAM_K] = "columns of A and B",
        [LATHE_PARAM_WALK] = "the order of the tiles of D, worked out by the host",
        [LATHE_PARAM_ALPHA] = "D = alpha * A * B^T",
        [LATHE_PARAM_BETA] = "    + beta * C; with 0 nothing of C is read",
        [LATHE_PARAM_D] = "address of D",
        [LATHE_PARAM_LDD] = "elements between two rows of D",
        [LATHE_PARAM_C] = "address of C",
        [LATHE_PARAM_LDC] = "elements between two rows of C",
        [LATHE_PARAM_A] = "address of A",
        [LATHE_PARAM_LDA] = "elements between two rows of A",
        [LATHE_PARAM_B] = "address of B",
        [LATHE_PARAM_LDB] = "elements between two rows of B",
    };

    if (param->kind == LATHE_PARAM_TENSOR_MAP) {
        const struct lathe_tensor_map *map = &b->contract.tensor_maps[param->tensor_map];

        lt_note(b, "%c in boxes of %d columns x %d rows, %d-byte swizzle",
                operand_letters[map->operand], map->box[0], map->box[1], map->swizzle_bytes);
        lt_text_printf(&b->text, "    .param .align 64 .b8 %s[128]%s", param->name,
                       last ? "" : ",");
    } else {
        lt_note(b, "%s", meanings[param->kind]);
        if (is_scalar(param->kind))
            lt_text_printf(&b->text, "    .param .%s %s", lt_param_type(param->kind), param->name);
        else
            lt_text_printf(&b->text, "    .param .align 4 .b8 %s[%d]", param->name, param->bytes);
        lt_text_append(&b->text, last ? "" : ",");
    }
    lt_end_line(b);
}

void lt_entry(struct lt_builder *b, const char *name, const struct lathe_plan *plan)
{
    struct lathe_contract *contract = &b->contract;

    snprintf(contract->name, sizeof contract->name, "%s", name);
    contract->block[0] = plan->threads;
    contract->block[1] = 1;
    contract->block[2] = 1;
    for (int i = 0; i < 3; i++)
        contract->cluster[i] = plan->cluster[i];
    contract->one_tile = plan->schedule == LATHE_GRID || plan->schedule == LATHE_GROUPED ||
                         plan->schedule == LATHE_DYNAMIC;
    contract->most_clusters = plan->schedule == LATHE_SINGLE;
    contract->cluster_tile[0] = plan->tile[0] / plan->cta_group * plan->cluster[0];
    contract->cluster_tile[1] = plan->tile[1] * plan->cluster[1];

    if (b->annotate)
        lt_text_append(&b->text, "\n");
    lt_text_printf(&b->text, ".visible .entry %s(\n", name);
    for (int i = 0; i < contract->param_count; i++)
        append_param(b, &contract->params[i], i + 1 == contract->param_count);
    lt_text_printf(&b->text, ") .maxntid %d, 1, 1 .minnctapersm 1", plan->threads);
    if (plan->cluster[0] * plan->cluster[1] > 1)
        lt_text_printf(&b->text, " .explicitcluster .reqnctapercluster %d, %d, 1", plan->cluster[0],
                       plan->cluster[1]);
    lt_text_append(&b->text, "\n");
    b->entered = true;
    lt_scope_open(b, NULL);
}

static const struct lathe_param *find_param(struct lt_builder *b, const char *name)
{
    for (int i = 0; i < b->contract.param_count; i++)
        if (strcmp(b->contract.params[i].name, name) == 0)
            return &b->contract.params[i];
    lt_mistake(b, "there is no parameter %s", name);
    return NULL;
}

lt_value lt_param_load(struct lt_builder *b, const char *name)
{
    const struct lathe_param *param = find_param(b, name);
    bool loads = param && is_scalar(param->kind);
    lt_value symbol = {.kind = LT_NAMED, .name = name};
    lt_value value = lt_define(b, loads ? register_type(param->kind) : LT_B32, name);
    char line[32];

    if (!loads) {
        lt_mistake(b, "parameter %s is no scalar", name);
        return value;
    }
    snprintf(line, sizeof line, "ld.param.%s %%0, [%%1];", lt_param_type(param->kind));
    lt_inst(b, line, value, symbol);
    return value;
}

lt_value lt_param_member(struct lt_builder *b, const char *param, size_t offset, const char *name)
{
    const struct lathe_param *block = find_param(b, param);
    lt_value symbol = {.kind = LT_NAMED, .name = param};
    lt_value value = lt_define(b, LT_B32, name);

    if (block && (block->kind != LATHE_PARAM_WALK || offset + 4 > (size_t)block->bytes))
        lt_mistake(b, "parameter %s has no member %s", param, name);
    lt_inst(b, "ld.param.u32 %0, [%1];", value, lt_at(symbol, (int)offset));
    return value;
}

lt_value lt_param_address(struct lt_builder *b, const char *name, const char *address)
{
    find_param(b, name);

    lt_value symbol = {.kind = LT_NAMED, .type = LT_B64, .name = name};
    lt_value value = lt_op(b, address, "mov.b64", symbol);

    lt_inst(b, "cvta.param.u64 %0, %0;", value);
    return value;
}
