/* mma_fragment.h: which elements of the matrices the registers of a lane hold (PTX ISA, "Matrix
 * Fragments for mma" and "Register Fragments and Shared Memory Matrix Layouts" of wgmma).
 *
 * All shapes but the m8n8k4 of f16 follow one pattern, scaled by how many elements a register
 * holds: groups of four lanes share a row of A and D and a column of B. */
#ifndef EMU_MMA_FRAGMENT_H
#define EMU_MMA_FRAGMENT_H

struct emu_place {
    int row, column;
};

/* Element `element` of A's register number `index`, of `per_register` elements each. */
static inline struct emu_place emu_place_a(int lane, int index, int element, int per_register)
{
    return (struct emu_place){
        .row = lane / 4 + 8 * (index % 2),
        .column = per_register * (lane % 4 + 4 * (index / 2)) + element,
    };
}

static inline struct emu_place emu_place_b(int lane, int index, int element, int per_register)
{
    return (struct emu_place){
        .row = per_register * (lane % 4 + 4 * index) + element,
        .column = lane / 4,
    };
}

/* Accumulator number `index` of C and D, whether it has a register of its own or half of one. */
static inline struct emu_place emu_place_d(int lane, int index)
{
    return (struct emu_place){
        .row = lane / 4 + 8 * (index / 2 % 2),
        .column = 8 * (index / 4) + 2 * (lane % 4) + index % 2,
    };
}

/* ---- m8n8k4 of f16: four products, each of two groups of four lanes ---- */

static inline int emu_quad_pair(int lane)
{
    return lane / 4 % 4;
}

/* Element 0 to 3 of A, row-major; of B, column-major, with row and column exchanged. */
static inline struct emu_place emu_place_quad(int lane, int element)
{
    return (struct emu_place){.row = lane % 4 + 4 * (lane / 16), .column = element};
}

/* The same of A column-major, and of B row-major, exchanged. */
static inline struct emu_place emu_place_quad_other(int lane, int element)
{
    return (struct emu_place){.row = element + 4 * (lane / 16), .column = lane % 4};
}

/* Accumulator 0 to 7 of f16 and of f32. */
static inline struct emu_place emu_place_quad_f16(int lane, int index)
{
    return (struct emu_place){.row = lane % 4 + 4 * (lane / 16), .column = index};
}

static inline struct emu_place emu_place_quad_f32(int lane, int index)
{
    return (struct emu_place){
        .row = (lane & 1) + (index & 2) + 4 * (lane / 16),
        .column = (index & 4) + (lane & 2) + (index & 1),
    };
}

#endif
