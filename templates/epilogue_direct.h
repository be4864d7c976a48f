/* epilogue_direct.h: accumulators to D without staging: each lane stores what it holds, two
 * neighbouring columns at a time, as far as they lie within D; C, if any, comes the same way.
 *
 * A warp's store of one pair of columns reaches 8 rows with 16 bytes each: four times as many
 * sectors as whole rows would be. That is what staging and TMA are for. */
#ifndef LT_TEMPLATES_EPILOGUE_DIRECT_H
#define LT_TEMPLATES_EPILOGUE_DIRECT_H

#include "codegen/builder.h"

struct lt_direct {
    const struct lathe_plan *plan;
    int blocks;           /* of a thread's accumulators, one below the other     */
    int block_rows;       /* from one to the next                                */
    int columns;          /* of each, over the four lanes of a row               */
    lt_value m, n;        /* rows and columns of D                               */
    lt_value row, column; /* in D, of the first that this lane holds             */
    lt_value alpha, beta;
};

/* `acc`: for every 8 columns of a block two neighbouring ones in the lane's row, and two 8 rows
 * below, as wgmma and mma.sync leave them. */
void lt_direct_store(struct lt_builder *b, const struct lt_direct *d, const struct lt_vector *acc);

#endif
