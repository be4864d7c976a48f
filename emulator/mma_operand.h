/* mma_operand.h: operands of tensor cores in shared memory, as their descriptors tell. */
#ifndef EMU_MMA_OPERAND_H
#define EMU_MMA_OPERAND_H

#include "emulator/mma.h"
#include "emulator/mma_element.h"
#include "emulator/wgmma_descriptor.h"

struct emu_matrix {
    const unsigned char *shared;
    uint32_t bytes; /* of it */
    struct emu_descriptor descriptor;
    bool mn_major;
    uint32_t size; /* of an element; of those below a byte, of the byte that it is counted as */
    int bits;      /* of those: 16 of them lie one behind the other in 16 bytes; else 0 */
    uint32_t sign; /* the sign bit where the operand is negated */
};

static inline struct emu_matrix emu_matrix_of(const struct emu_descriptor *descriptor,
                                              enum emu_type type, bool mn_major, bool negate,
                                              const unsigned char *shared, uint32_t shared_bytes)
{
    int width = emu_element_bits(type);

    return (struct emu_matrix){
        .shared = shared,
        .bytes = shared_bytes,
        .descriptor = *descriptor,
        .mn_major = mn_major,
        .size = width < 8 ? 1 : (uint32_t)width / 8,
        .bits = width < 8 ? width : 0,
        .sign = negate ? UINT32_C(1) << (width - 1) : 0,
    };
}

/* Of the first byte of an element. */
static inline uint32_t emu_matrix_offset(const struct emu_matrix *matrix, int mn, int k)
{
    uint32_t at = emu_descriptor_offset(&matrix->descriptor, matrix->mn_major, matrix->size,
                                        (uint32_t)mn, (uint32_t)(matrix->bits ? k & ~15 : k));

    return matrix->bits ? at + (uint32_t)(k % 16 * matrix->bits) / 8 : at;
}

/* False where the element is outside. */
static inline bool emu_matrix_element(const struct emu_matrix *matrix, int mn, int k,
                                      union emu_element *element)
{
    uint32_t at = emu_matrix_offset(matrix, mn, k);

    if (at >= matrix->bytes || matrix->size > matrix->bytes - at)
        return false;

    const unsigned char *from = matrix->shared + at;

    if (matrix->bits) {
        int shift = k % 16 * matrix->bits % 8;
        uint32_t pair = from[0] | (shift + matrix->bits > 8 ? (uint32_t)from[1] << 8 : 0);

        element->bits = pair >> shift & ((UINT32_C(1) << matrix->bits) - 1);
    } else if (matrix->size == 1) {
        element->bits = *from;
    } else if (matrix->size == 2) {
        element->bits = from[0] | (uint32_t)from[1] << 8;
    } else {
        element->bits =
            from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
    }
    element->bits ^= matrix->sign;
    return true;
}

/* An operand of one product: so many rows (of B columns) of so many elements. */
struct emu_shared_operand {
    char name; /* 'A', 'B' */
    struct emu_matrix matrix;
    int rows, depth;
};
enum { EMU_SHARED_OPERANDS = 2 };

/* Tells which bytes it is, in runs of neighbours; what is outside of shared memory is left out. */
void emu_shared_operand_tell(const struct emu_shared_operand *operand, emu_bytes_read tell,
                             void *user);

/* What a wgmma reads of shared memory: how many operands. */
int emu_wgmma_in_shared(const struct emu_wgmma *wgmma, uint64_t a_descriptor, uint64_t b_descriptor,
                        uint32_t shared_bytes,
                        struct emu_shared_operand operands[EMU_SHARED_OPERANDS]);

#endif
