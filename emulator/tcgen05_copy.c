/* tcgen05_copy.c: tcgen05.cp: rows of shared memory into lanes of tensor memory; tcgen05.shift.
 * Source: PTX ISA "tcgen05.cp", "tcgen05.shift"; which bytes a row is, and where it goes, as
 * apache/tvm found on a B200. */
#include "emulator/tcgen05_copy.h"

#include <string.h>

enum { UNIT_BYTES = 16, ROWS_MAX = 128, PARTITION = 32 };

/* Each row goes to lane `step` * (row / 32) + row % 32 (of 4x256b `step` * row), and to others
 * behind it: a bit for each 32 lanes. */
static const struct shape {
    int rows, units; /* of 16 bytes */
    uint32_t step, replicas;
} shapes[] = {
    [EMU_COPY_128X256B] = {128, 2, 32, 1},     [EMU_COPY_4X256B] = {4, 2, 32, 1},
    [EMU_COPY_128X128B] = {128, 1, 32, 1},     [EMU_COPY_64X128B_02_13] = {64, 1, 32, 5},
    [EMU_COPY_64X128B_01_23] = {64, 1, 64, 3}, [EMU_COPY_32X128B] = {32, 1, 32, 15},
};

uint32_t emu_tmem_copy_columns(enum emu_tmem_copy copy)
{
    return (uint32_t)shapes[copy].units * UNIT_BYTES / 4;
}

uint32_t emu_tmem_copy_bytes(enum emu_tmem_copy copy)
{
    return (uint32_t)(shapes[copy].rows * shapes[copy].units * UNIT_BYTES);
}

static uint32_t lane_of(enum emu_tmem_copy copy, int row)
{
    const struct shape *shape = &shapes[copy];

    return copy == EMU_COPY_4X256B
               ? shape->step * (uint32_t)row
               : shape->step * (uint32_t)(row / PARTITION) + (uint32_t)(row % PARTITION);
}

/* Of a unit: without swizzle they are a leading offset apart. */
static uint32_t unit_at(const struct emu_descriptor *matrix, int row, int unit)
{
    uint32_t r = (uint32_t)row, u = (uint32_t)unit,
             at = matrix->start + r % 8 * UNIT_BYTES * matrix->width + r / 8 * matrix->stride +
                  u * (matrix->width == 1 ? matrix->leading : UNIT_BYTES);

    return at ^ (((at >> 7) - matrix->base_offset) & (matrix->width - 1)) << 4;
}

/* Sixteen elements of 4 or 6 bits, one behind the other, to a byte each: six bits to the low end,
 * four from bit 2 on, as the product reads them. */
static void widen(const unsigned char *from, int bits, unsigned char to[UNIT_BYTES])
{
    for (int i = 0; i < UNIT_BYTES; i++) {
        int at = i * bits, shift = at % 8;
        uint32_t pair = from[at / 8] | (shift + bits > 8 ? (uint32_t)from[at / 8 + 1] << 8 : 0);
        uint32_t element = pair >> shift & ((1u << bits) - 1);

        to[i] = (unsigned char)(bits == 4 ? element << 2 : element);
    }
}

static void put_unit(const struct shape *shape, uint32_t *cells, uint32_t lane, uint32_t column,
                     const unsigned char bytes[UNIT_BYTES])
{
    for (uint32_t replica = 0; replica < 4; replica++)
        for (uint32_t i = 0; (shape->replicas >> replica & 1) && i < UNIT_BYTES / 4; i++) {
            const unsigned char *word = bytes + 4 * i;
            uint32_t to = (lane + replica * PARTITION) % EMU_TMEM_LANES;

            cells[to * EMU_TMEM_COLUMNS + column + i] = word[0] | (uint32_t)word[1] << 8 |
                                                        (uint32_t)word[2] << 16 |
                                                        (uint32_t)word[3] << 24;
        }
}

bool emu_tmem_copy(const struct emu_tcgen05 *form, const struct emu_descriptor *matrix,
                   const unsigned char *shared, uint32_t shared_bytes, uint32_t *cells,
                   uint32_t address)
{
    const struct shape *shape = &shapes[form->copy];

    for (int row = 0; row < shape->rows; row++)
        for (int unit = 0; unit < shape->units; unit++) {
            uint32_t at = unit_at(matrix, row, unit);
            unsigned char bytes[UNIT_BYTES];

            if (at >= shared_bytes || UNIT_BYTES > shared_bytes - at)
                return false;
            if (form->packed_bits)
                widen(shared + at, form->packed_bits, bytes);
            else
                memcpy(bytes, shared + at, sizeof bytes);
            put_unit(shape, cells, emu_tmem_lane(address) + lane_of(form->copy, row),
                     emu_tmem_column(address) + (uint32_t)unit * UNIT_BYTES / 4, bytes);
        }
    return true;
}

void emu_tmem_copy_reads(const struct emu_tcgen05 *form, const struct emu_descriptor *matrix,
                         uint32_t shared_bytes, emu_bytes_read tell, void *user)
{
    const struct shape *shape = &shapes[form->copy];
    uint32_t bytes = form->packed_bits ? (uint32_t)form->packed_bits * UNIT_BYTES / 8 : UNIT_BYTES;

    for (int row = 0; row < shape->rows; row++)
        for (int unit = 0; unit < shape->units; unit++) {
            uint32_t at = unit_at(matrix, row, unit);

            if (at < shared_bytes && bytes <= shared_bytes - at)
                tell(user, at, bytes);
        }
}

void emu_tmem_copy_lanes(enum emu_tmem_copy copy, uint32_t first, uint32_t lanes[4])
{
    const struct shape *shape = &shapes[copy];

    memset(lanes, 0, 4 * sizeof *lanes);
    for (int row = 0; row < shape->rows; row++)
        for (uint32_t replica = 0; replica < 4; replica++) {
            uint32_t lane = (first + lane_of(copy, row) + replica * PARTITION) % EMU_TMEM_LANES;

            if (shape->replicas >> replica & 1)
                lanes[lane / 32] |= 1u << lane % 32;
        }
}

void emu_tmem_shift(uint32_t *cells, uint32_t address)
{
    for (uint32_t lane = emu_tmem_lane(address); lane + 1 < EMU_TMEM_LANES; lane++) {
        uint32_t *to = cells + lane * EMU_TMEM_COLUMNS + emu_tmem_column(address);

        if (lane % PARTITION != PARTITION - 1)
            memcpy(to, to + EMU_TMEM_COLUMNS, EMU_SHIFT_COLUMNS * sizeof *to);
    }
}
