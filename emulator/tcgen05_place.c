/* tcgen05_place.c: which cells of tensor memory the registers of a warp hold in tcgen05.ld and .st.
 * Source: PTX ISA "Tensor Memory and Register Load/Store Instructions", the shapes' figures, whose
 * formulas are those of CUTLASS's copy traits. */
#include "emulator/bits.h"
#include "emulator/tcgen05.h"

#include <math.h>

enum { PAIR = 2 }; /* columns of a register that is packed */

struct emu_tmem_place emu_tmem_place(const struct emu_tcgen05 *form, int thread, int index)
{
    uint32_t t = (uint32_t)thread, i = (uint32_t)index;
    struct emu_tmem_place place = {.lane = 0};

    switch (form->shape) {
    case EMU_TMEM_32X32B:
        place = (struct emu_tmem_place){t, i};
        break;
    case EMU_TMEM_16X64B:
        place = (struct emu_tmem_place){t / 4 + 8 * (t % 2), t / 2 % 2 + 2 * i};
        break;
    case EMU_TMEM_16X128B:
        place = (struct emu_tmem_place){t / 4 + 8 * (i % 2), t % 4 + 4 * (i / 2)};
        break;
    case EMU_TMEM_16X256B:
        place = (struct emu_tmem_place){t / 4 + 8 * (i / 2 % 2), 2 * (t % 4) + i % 2 + 8 * (i / 4)};
        break;
    case EMU_TMEM_16X32BX2:
        place = (struct emu_tmem_place){t % 16, i};
        break;
    }
    if (form->is_packed)
        place.column *= PAIR;
    if (form->shape == EMU_TMEM_16X32BX2)
        place.column += t / 16 * form->split;
    return place;
}

uint32_t emu_tmem_shape_lanes(enum emu_tmem_shape shape)
{
    return shape == EMU_TMEM_32X32B ? 32 : 16;
}

/* Cells of all lanes over the lanes. */
uint32_t emu_tmem_shape_columns(const struct emu_tcgen05 *form)
{
    uint32_t cells = (uint32_t)form->registers * EMU_LANES * (form->is_packed ? PAIR : 1),
             columns = cells / emu_tmem_shape_lanes(form->shape);

    return form->shape == EMU_TMEM_16X32BX2 ? columns / 2 + form->split : columns;
}

static uint32_t cell_of(const struct emu_tcgen05 *form, uint32_t address, int thread, int index)
{
    struct emu_tmem_place place = emu_tmem_place(form, thread, index);

    return (emu_tmem_lane(address) + place.lane) * EMU_TMEM_COLUMNS + emu_tmem_column(address) +
           place.column;
}

uint32_t emu_tmem_load(const struct emu_tcgen05 *form, const uint32_t *cells, uint32_t address,
                       int thread, int index)
{
    const uint32_t *cell = cells + cell_of(form, address, thread, index);

    return form->is_packed ? (cell[0] & 0xffff) | cell[1] << 16 : cell[0];
}

/* What becomes of the upper half of a cell that gets 16 bits no figure tells: zeros here. */
void emu_tmem_store(const struct emu_tcgen05 *form, uint32_t *cells, uint32_t address, int thread,
                    int index, uint32_t value)
{
    uint32_t *cell = cells + cell_of(form, address, thread, index);

    cell[0] = form->is_packed ? value & 0xffff : value;
    if (form->is_packed)
        cell[1] = value >> 16;
}

/* ---- ld.red ---- */

static bool is_nan(uint32_t bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

/* NaN loses against a number, and with .NaN it wins. */
static uint32_t better_float(const struct emu_tcgen05 *form, uint32_t a, uint32_t b)
{
    if (form->has_abs) {
        a &= 0x7fffffff;
        b &= 0x7fffffff;
    }
    if (is_nan(a) || is_nan(b)) {
        if (form->has_nan || (is_nan(a) && is_nan(b)))
            return 0x7fffffff;
        return is_nan(a) ? b : a;
    }
    if (emu_f32_of(a) == emu_f32_of(b)) /* of two zeros the negative one is less */
        return form->is_max ? a & b : a | b;
    return (emu_f32_of(a) > emu_f32_of(b)) == form->is_max ? a : b;
}

static uint32_t better(const struct emu_tcgen05 *form, uint32_t a, uint32_t b)
{
    if (form->type == EMU_F32)
        return better_float(form, a, b);
    if (form->type == EMU_S32)
        return ((int32_t)a > (int32_t)b) == form->is_max ? a : b;
    return (a > b) == form->is_max ? a : b;
}

uint32_t emu_tmem_reduce(const struct emu_tcgen05 *form, const uint32_t *values, int step)
{
    uint32_t best = values[0];

    for (int i = 1; i < form->registers; i++)
        best = better(form, best, values[(size_t)i * (size_t)step]);
    return best;
}
