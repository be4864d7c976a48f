/* map_replace.c: kernels that change tensor maps. Source: PTX ISA "tensormap.replace",
 * "tensormap.cp_fenceproxy". */
#include "emulator/state.h"

#include <string.h>

/* Sources: address, value or ordinal, value. `variant`: the word of the field. */
static enum emu_step replace(struct emu_warp *warp, struct emu_group *group,
                             const struct emu_op *op, uint32_t mask)
{
    const char *field = op->text->words[op->variant];
    emu_lanes lanes[3];
    const uint64_t *sources[3];
    struct emu_places maps;
    enum emu_step step;

    for (int i = 0; i < op->source_count; i++)
        sources[i] = emu_read(warp, group, &op->sources[i], mask, lanes[i]);
    step = emu_find_places(warp, group, op, mask, op->space, sources[0], EMU_TENSOR_MAP_BYTES,
                           EMU_TENSOR_MAP_BYTES, EMU_UPDATES, &maps);
    if (step != EMU_STEP_NEXT)
        return step;
    for (int lane = 0; lane < EMU_LANES; lane++) {
        int ordinal = op->source_count > 2 ? (int)(uint32_t)sources[1][lane] : 0;

        if (!(mask >> lane & 1))
            continue;
        if (!emu_tensor_map_replace(maps.at[lane], field, ordinal,
                                    sources[op->source_count - 1][lane]))
            return emu_fault(warp, op, lane, EMU_ILLEGAL_INSTRUCTION,
                             "no tensor map is there, or %s cannot be 0x%llx", field,
                             (unsigned long long)sources[op->source_count - 1][lane]);
        warp->cta->cluster->progress++;
    }
    return EMU_STEP_NEXT;
}

/* The whole warp executes it, and one copy is made. */
static enum emu_step copy_map(struct emu_warp *warp, struct emu_group *group,
                              const struct emu_op *op, uint32_t mask)
{
    int lane = __builtin_ctz(mask);
    emu_lanes lanes[2];
    const uint64_t *to = emu_read(warp, group, &op->sources[0], mask, lanes[0]),
                   *from = emu_read(warp, group, &op->sources[1], mask, lanes[1]);
    struct emu_places target, source;
    enum emu_step step =
        emu_find_places(warp, group, op, 1u << lane, EMU_SPACE_GLOBAL, to, EMU_TENSOR_MAP_BYTES,
                        EMU_TENSOR_MAP_BYTES, EMU_UPDATES, &target);

    if (step == EMU_STEP_NEXT)
        step = emu_find_places(warp, group, op, 1u << lane, EMU_SPACE_SHARED, from,
                               EMU_TENSOR_MAP_BYTES, EMU_TENSOR_MAP_BYTES, EMU_LOADS, &source);
    if (step != EMU_STEP_NEXT)
        return step;
    memcpy(target.at[lane], source.at[lane], EMU_TENSOR_MAP_BYTES);
    warp->cta->cluster->progress++;
    return EMU_STEP_NEXT;
}

static bool is_field(const char *word)
{
    static const char *const fields[] = {
        "global_address", "rank",     "box_dim",           "global_dim",   "global_stride",
        "element_stride", "elemtype", "interleave_layout", "swizzle_mode", "swizzle_atomicity",
        "fill_mode",
    };

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (strcmp(fields[i], word) == 0)
            return true;
    return false;
}

enum emu_decoded emu_decode_map(struct emu_decoder *d, const struct emu_instruction *i,
                                struct emu_op *op)
{
    if (strcmp(i->words[0], "tensormap") != 0)
        return EMU_NOT_MINE;
    op->source_count = 1;
    if (emu_has_word(i, "cp_fenceproxy")) {
        op->execute = copy_map;
        op->source_count = 2;
        return i->operand_count >= 2 && emu_bind_address(d, &i->operands[0], &op->sources[0]) &&
                       emu_bind_address(d, &i->operands[1], &op->sources[1])
                   ? EMU_DECODED
                   : emu_refuse_form(d, i, "takes two addresses");
    }
    op->execute = replace;
    for (int k = 1; k < i->word_count && op->variant == 0; k++)
        op->variant = is_field(i->words[k]) ? k : 0;
    if (op->variant == 0 || i->operand_count < 2 || i->operand_count > 3)
        return emu_refuse_form(d, i, "names no field of a tensor map, or lacks its value");
    if (!emu_bind_address(d, &i->operands[0], &op->sources[0]))
        return EMU_REFUSED;
    for (int k = 1; k < i->operand_count; k++)
        if (!emu_add_sources(d, op, &i->operands[k], EMU_U64))
            return EMU_REFUSED;
    if (op->source_count != i->operand_count) /* a list stands where a value should */
        return emu_refuse_form(d, i, "takes an address, an ordinal and a value");
    return EMU_DECODED;
}
