/* matrix.c: ldmatrix, stmatrix and movmatrix: 8x8 matrices of 16 bits between shared memory and the
 * registers of a warp. Source: PTX ISA "ldmatrix", "stmatrix", "movmatrix"; the maps of plain and
 * transposed ones as measured on H200. */
#include "emulator/state.h"

#include <string.h>

enum { ROWS = 8, ROW_BYTES = 16, MATRICES_MAX = 4 };

/* All lanes take part, also those that a guard leaves out: what they hold is defined, if nothing
 * else. */

/* Where half h of the register of a lane lies in its matrix. */
static void place_of(int lane, int half, bool transposed, int *row, int *column)
{
    int major = lane / 4, minor = 2 * (lane % 4) + half;

    *row = transposed ? minor : major;
    *column = transposed ? major : minor;
}

/* Rows of all matrices: `op->vector` of them, row r of matrix i by lane 8 i + r. */
static enum emu_step find_rows(struct emu_warp *warp, struct emu_group *group,
                               const struct emu_op *op, enum emu_use use, struct emu_places *rows)
{
    uint32_t mask = op->vector == MATRICES_MAX ? UINT32_MAX : (1u << (op->vector * ROWS)) - 1;
    emu_lanes lanes;

    return emu_find_places(warp, group, op, mask, op->space,
                           emu_read(warp, group, &op->sources[0], mask, lanes), ROW_BYTES,
                           ROW_BYTES, use, rows);
}

static enum emu_step load(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                          uint32_t mask)
{
    struct emu_places rows;
    enum emu_step step = find_rows(warp, group, op, EMU_LOADS, &rows);

    (void)mask;
    if (step != EMU_STEP_NEXT)
        return step;
    for (int i = 0; i < op->vector; i++)
        for (int lane = 0; lane < EMU_LANES && op->results[i] >= 0; lane++) {
            uint64_t value = 0;

            for (int half = 0; half < 2; half++) {
                int row, column;

                place_of(lane, half, op->variant, &row, &column);
                value |= emu_load_bits(rows.at[i * ROWS + row] + 2 * column, EMU_B16, 2)
                         << (16 * half);
            }
            emu_slot(group, op->results[i])[lane] = value;
        }
    return EMU_STEP_NEXT;
}

static enum emu_step store(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                           uint32_t mask)
{
    struct emu_places rows;
    enum emu_step step = find_rows(warp, group, op, EMU_UPDATES, &rows);

    (void)mask;
    if (step != EMU_STEP_NEXT)
        return step;
    for (int i = 0; i < op->vector; i++) {
        emu_lanes lanes;
        const uint64_t *values = emu_read(warp, group, &op->sources[1 + i], UINT32_MAX, lanes);

        for (int lane = 0; lane < EMU_LANES; lane++)
            for (int half = 0; half < 2; half++) {
                int row, column;

                place_of(lane, half, op->variant, &row, &column);
                emu_store_bits(rows.at[i * ROWS + row] + 2 * column, values[lane] >> (16 * half),
                               2);
            }
    }
    warp->cta->cluster->progress++;
    return EMU_STEP_NEXT;
}

static enum emu_step transpose(struct emu_warp *warp, struct emu_group *group,
                               const struct emu_op *op, uint32_t mask)
{
    emu_lanes lanes, made;
    const uint64_t *values = emu_read(warp, group, &op->sources[0], UINT32_MAX, lanes);

    (void)mask;
    for (int lane = 0; lane < EMU_LANES; lane++) {
        made[lane] = 0;
        for (int half = 0; half < 2; half++) {
            int row, column;

            place_of(lane, half, true, &row, &column);
            made[lane] |= (values[4 * row + column / 2] >> (16 * (column % 2)) & 0xffff)
                          << (16 * half);
        }
    }
    if (op->results[0] >= 0)
        memcpy(emu_slot(group, op->results[0]), made, sizeof made);
    return EMU_STEP_NEXT;
}

static int matrices_of(const struct emu_instruction *i)
{
    return emu_has_word(i, "x4") ? 4 : emu_has_word(i, "x2") ? 2 : emu_has_word(i, "x1") ? 1 : 0;
}

enum emu_decoded emu_decode_matrix(struct emu_decoder *d, const struct emu_instruction *i,
                                   struct emu_op *op)
{
    bool is_load = strcmp(i->words[0], "ldmatrix") == 0,
         is_store = strcmp(i->words[0], "stmatrix") == 0;

    op->variant = emu_has_word(i, "trans");
    op->vector = matrices_of(i);
    if (strcmp(i->words[0], "movmatrix") == 0) {
        op->execute = transpose;
        return i->operand_count == 2 && emu_add_results(d, op, &i->operands[0]) &&
                       emu_add_sources(d, op, &i->operands[1], EMU_B32)
                   ? EMU_DECODED
                   : emu_refuse_form(d, i, "takes two registers");
    }
    if (!is_load && !is_store)
        return EMU_NOT_MINE;
    if (!emu_has_word(i, "m8n8") || op->type != EMU_B16 || op->vector == 0)
        return emu_refuse_form(d, i, "only matrices m8n8 of b16 are known");
    if (i->operand_count != 2)
        return emu_refuse_form(d, i, "takes registers and an address");
    op->execute = is_load ? load : store;
    op->source_count = 1;
    if (!emu_bind_address(d, &i->operands[is_load ? 1 : 0], &op->sources[0]))
        return EMU_REFUSED;
    if (is_load ? !emu_add_results(d, op, &i->operands[0])
                : !emu_add_sources(d, op, &i->operands[1], EMU_B32))
        return EMU_REFUSED;
    if ((is_load ? op->result_count : op->source_count - 1) != op->vector)
        return emu_refuse_form(d, i, "takes a register for each matrix");
    return EMU_DECODED;
}
