/* mma_operand.c: which bytes of shared memory an operand of tensor cores is. */
#include "emulator/mma_operand.h"

/* Elements that lie one behind the other are told together. */
void emu_shared_operand_tell(const struct emu_shared_operand *operand, emu_bytes_read tell,
                             void *user)
{
    const struct emu_matrix *matrix = &operand->matrix;
    int outer = matrix->mn_major ? operand->depth : operand->rows,
        inner = matrix->mn_major ? operand->rows : operand->depth;
    uint32_t from = 0, to = 0;

    for (int o = 0; o < outer; o++)
        for (int i = 0; i < inner; i++) {
            uint32_t at = emu_matrix_offset(matrix, matrix->mn_major ? i : o,
                                            matrix->mn_major ? o : i),
                     end = at + matrix->size;

            if (at >= matrix->bytes || matrix->size > matrix->bytes - at)
                continue;
            if (at >= from && at <= to && to > from) { /* behind it, or part of the same byte */
                to = end > to ? end : to;
                continue;
            }
            if (to > from)
                tell(user, from, to - from);
            from = at;
            to = end;
        }
    if (to > from)
        tell(user, from, to - from);
}
