/* async_decode.c: the instructions of bulk copies. */
#include "emulator/async_work.h"
#include "emulator/reduce.h"

#include <string.h>

/* A source into its place. */
static bool bind(struct emu_decoder *d, struct emu_op *op, int place,
                 const struct emu_operand *operand)
{
    return operand->kind == EMU_OPERAND_ADDRESS
               ? emu_bind_address(d, operand, &op->sources[place])
               : emu_bind_source(d, operand, EMU_U64, &op->sources[place]);
}

static bool bind_list(struct emu_decoder *d, struct emu_op *op, int place,
                      const struct emu_operand *list, int count)
{
    if (list->kind != EMU_OPERAND_LIST || list->item_count != count)
        return emu_fail(d->error, 0, "%s: %d values are wanted here",
                        list->name ? list->name : "a list", count);
    for (int i = 0; i < count; i++)
        if (!emu_bind_source(d, &list->items[i], EMU_U32, &op->sources[place + i]))
            return false;
    return true;
}

/* The order of spaces in the words is target, source. */
static uint32_t flags_of(const struct emu_instruction *i)
{
    uint32_t flags = 0;
    bool shared_seen = false, global_seen = false;

    for (int k = 1; k < i->word_count; k++) {
        const char *word = i->words[k];

        if (strncmp(word, "shared", 6) == 0) {
            if (global_seen || shared_seen)
                flags |= EMU_BULK_FROM_SHARED;
            shared_seen = true;
        } else if (strcmp(word, "global") == 0) {
            global_seen = true;
        } else if (strncmp(word, "mbarrier::complete_tx", 21) == 0) {
            flags |= EMU_BULK_ON_BARRIER;
        } else if (strcmp(word, "multicast::cluster") == 0) {
            flags |= EMU_BULK_MULTICAST;
        } else if (strncmp(word, "im2col", 6) == 0) {
            flags |= EMU_BULK_IM2COL;
        } else if (strcmp(word, "cta_group::2") == 0) {
            flags |= EMU_BULK_OF_PAIR;
        }
    }
    if (strcmp(i->words[1], "reduce") == 0)
        flags |= EMU_BULK_REDUCES;
    return flags;
}

/* Of Blackwell's targets with an a or an f, and of loads. */
static bool has_groups(const struct emu_decoder *d, const struct emu_op *op)
{
    struct emu_target target = emu_target_of(d->target, d->program->module->target);

    return (target.number / 10 == 10 || target.number / 10 == 11) &&
           op->flags & EMU_BULK_ON_BARRIER;
}

static int rank_of(const struct emu_instruction *i)
{
    for (int k = 1; k < i->word_count; k++) {
        const char *word = i->words[k];

        if (word[0] >= '1' && word[0] <= '5' && word[1] == 'd' && word[2] == '\0')
            return word[0] - '0';
    }
    return 0;
}

/* {[to],} [map, {c}] {, [from]} {, [barrier]} {, {offsets}} {, mask} {, policy} */
static enum emu_decoded decode_tensor(struct emu_decoder *d, const struct emu_instruction *i,
                                      struct emu_op *op)
{
    bool from_shared = op->flags & EMU_BULK_FROM_SHARED;
    const struct emu_operand *map, *shared;
    int at = 2;

    op->execute = emu_bulk_tensor_copy;
    op->vector = rank_of(i);
    if (op->vector == 0 || i->operand_count < 2 + ((op->flags & EMU_BULK_ON_BARRIER) != 0))
        return emu_refuse_form(d, i, "takes a tensor map with coordinates, and shared memory");
    if (emu_has_word(i, "tile::gather4") || emu_has_word(i, "tile::scatter4") ||
        emu_has_word(i, "im2col::w") || emu_has_word(i, "im2col::w::128"))
        return emu_refuse_form(d, i, "this mode is not supported");
    if ((emu_has_word(i, "cta_group::1") || emu_has_word(i, "cta_group::2")) && !has_groups(d, op))
        return emu_refuse_form(d, i,
                               "loads of sm_100a, sm_103a and their families alone are of a "
                               "group of CTAs");
    map = &i->operands[from_shared ? 0 : 1];
    shared = &i->operands[from_shared ? 1 : 0];
    if (map->kind != EMU_OPERAND_ADDRESS || map->item_count != 2)
        return emu_refuse_form(d, i, "takes [map, {coordinates}]");
    if (!bind(d, op, EMU_BULK_FROM, map) ||
        !bind_list(d, op, EMU_BULK_COORDINATES, &map->items[1], op->vector) ||
        !bind(d, op, EMU_BULK_TO, shared))
        return EMU_REFUSED;
    if ((op->flags & EMU_BULK_ON_BARRIER) && !bind(d, op, EMU_BULK_BARRIER, &i->operands[at++]))
        return EMU_REFUSED;
    if (op->flags & EMU_BULK_IM2COL && !from_shared) {
        if (at >= i->operand_count || op->vector < 3 ||
            !bind_list(d, op, EMU_BULK_OFFSETS, &i->operands[at++], op->vector - 2))
            return emu_refuse_form(d, i, "takes an offset for each dimension of space");
    }
    if (op->flags & EMU_BULK_MULTICAST &&
        (at >= i->operand_count || !bind(d, op, EMU_BULK_MASK, &i->operands[at])))
        return emu_refuse_form(d, i, "takes a mask of CTAs");
    return EMU_DECODED;
}

/* [to], [from], size {, [barrier]} {, mask} {, policy} */
static enum emu_decoded decode_bulk(struct emu_decoder *d, const struct emu_instruction *i,
                                    struct emu_op *op)
{
    int at = 3;

    op->execute = emu_bulk_copy;
    if (i->operand_count < 3 + ((op->flags & EMU_BULK_ON_BARRIER) != 0))
        return emu_refuse_form(d, i, "takes two addresses and a size");
    if (emu_has_word(i, "cp_mask"))
        return emu_refuse_form(d, i, "a mask of bytes is not supported");
    if (!bind(d, op, EMU_BULK_TO, &i->operands[0]) ||
        !bind(d, op, EMU_BULK_FROM, &i->operands[1]) ||
        !bind(d, op, EMU_BULK_BYTES, &i->operands[2]))
        return EMU_REFUSED;
    if ((op->flags & EMU_BULK_ON_BARRIER) && !bind(d, op, EMU_BULK_BARRIER, &i->operands[at++]))
        return EMU_REFUSED;
    if (op->flags & EMU_BULK_MULTICAST &&
        (at >= i->operand_count || !bind(d, op, EMU_BULK_MASK, &i->operands[at])))
        return emu_refuse_form(d, i, "takes a mask of CTAs");
    if (op->flags & EMU_BULK_REDUCES && !emu_can_reduce((enum emu_reduction)op->variant, op->type))
        return emu_refuse_form(d, i, "no such reduction on this type");
    return EMU_DECODED;
}

static enum emu_step prefetch(struct emu_warp *warp, struct emu_group *group,
                              const struct emu_op *op, uint32_t mask)
{
    (void)warp, (void)group, (void)op, (void)mask;
    return EMU_STEP_NEXT;
}

static enum emu_decoded decode_groups(struct emu_decoder *d, const struct emu_instruction *i,
                                      struct emu_op *op)
{
    if (emu_has_word(i, "commit_group")) {
        op->execute = emu_bulk_commit;
        return EMU_DECODED;
    }
    op->execute = emu_bulk_wait;
    op->variant = emu_has_word(i, "read");
    return i->operand_count == 1 && emu_add_sources(d, op, &i->operands[0], EMU_U32)
               ? EMU_DECODED
               : emu_refuse_form(d, i, "takes a number of groups");
}

enum emu_decoded emu_decode_async(struct emu_decoder *d, const struct emu_instruction *i,
                                  struct emu_op *op)
{
    if (strcmp(i->words[0], "cp") != 0 || !emu_has_word(i, "bulk"))
        return EMU_NOT_MINE;
    if (emu_has_word(i, "commit_group") || emu_has_word(i, "wait_group"))
        return decode_groups(d, i, op);
    if (emu_has_word(i, "prefetch")) {
        op->execute = prefetch;
        return EMU_DECODED;
    }
    op->flags = flags_of(i);
    op->variant = (int)emu_reduction_of(i);
    op->source_count = EMU_BULK_PLACES;
    return emu_has_word(i, "tensor") ? decode_tensor(d, i, op) : decode_bulk(d, i, op);
}
