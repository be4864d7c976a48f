/* fragment.h: accumulators between registers and a swizzled tile in shared memory.
 *
 * Source: PTX ISA "ldmatrix", "stmatrix", "cvt". A warp's 16 rows of a wgmma accumulator are, for
 * every 16 columns, four 8x8 matrices; stmatrix stores them and ldmatrix reads them with the same
 * map. The row addresses come from the lanes: 0 to 15 the rows of the left 8 columns, 16 to 31 of
 * the right ones. */
#ifndef LT_CODEGEN_FRAGMENT_H
#define LT_CODEGEN_FRAGMENT_H

#include "codegen/builder.h"

/* Rounds two floats to a 16-bit type and packs them, `low` in the lower half. */
lt_value lt_pack(struct lt_builder *b, const char *name, enum lathe_type type, lt_value high,
                 lt_value low);

/* The two halves of a register as floats of these names. */
struct lt_halves {
    lt_value low, high;
};
struct lt_halves lt_unpack(struct lt_builder *b, enum lathe_type type, lt_value packed,
                           const char *low, const char *high);

/* The sums numbered `first` and `first` + 1 of a vector that has an f32 for each, or a b32 for two
 * neighbours of f16, as floats; the names are for those that are unpacked. */
struct lt_halves lt_sum_pair(struct lt_builder *b, const struct lt_vector *acc, int first,
                             const char *low, const char *high);

/* Stores or reads 2 or 4 matrices: as many registers of `packed`. */
void lt_stmatrix(struct lt_builder *b, lt_value address, const lt_value *packed, int count);
void lt_ldmatrix(struct lt_builder *b, lt_value address, const lt_value *packed, int count);

/* Two neighbouring floats. */
void lt_store_pair(struct lt_builder *b, lt_value address, lt_value first, lt_value second);
void lt_load_pair(struct lt_builder *b, lt_value address, lt_value first, lt_value second);

/* 16 bytes of shared memory to four registers. */
void lt_load_quad(struct lt_builder *b, lt_value address, const struct lt_vector *quad);

/* One element of a type of 2 or 4 bytes to a generic address. */
void lt_store_global(struct lt_builder *b, enum lathe_type type, lt_value address,
                     lt_value element);
void lt_load_global(struct lt_builder *b, enum lathe_type type, lt_value element, lt_value address);

/* alpha * sum, and + beta * c where there is a c. */
lt_value lt_scaled(struct lt_builder *b, const char *name, lt_value alpha, lt_value sum,
                   lt_value beta, lt_value c);

#endif
