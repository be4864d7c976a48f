/* tcgen05_product.h: one tcgen05.mma: what its descriptors say, who holds what, and the product. */
#ifndef EMU_TCGEN05_PRODUCT_H
#define EMU_TCGEN05_PRODUCT_H

#include "emulator/mma_operand.h"
#include "emulator/tcgen05.h"
#include "emulator/wgmma_descriptor.h"

enum { EMU_PAIR = 2, EMU_LANE_WORDS = EMU_TMEM_LANES / 32, EMU_SPANS_MAX = 8, EMU_SPAN_ROWS = 16 };

struct emu_product {
    int m, n, k; /* of a pair those of both CTAs together */
    int group;
    enum emu_type d, a, b;
    bool ws, a_in_tmem, ashift, saturate;
    bool negate_a, negate_b, a_mn_major, b_mn_major;

    /* Operands. */
    struct emu_descriptor a_matrix, b_matrix;
    uint32_t d_address, a_address;
    bool add_d;
    int scale_d;
    uint32_t masked[EMU_PAIR][EMU_LANE_WORDS]; /* lanes that are not written: a bit each */
};

/* False where the descriptor is not legal for the form: `why` says which rule it breaks. */
bool emu_product_of(struct emu_product *product, const struct emu_tcgen05 *form,
                    uint32_t instruction_descriptor, const char **why);
/* The same of a matrix descriptor. */
bool emu_tcgen05_descriptor(struct emu_descriptor *matrix, uint64_t bits, const char **why);
/* The rule that the operands break, or null. */
const char *emu_product_fault(const struct emu_product *product);

/* Sixteen lanes of tensor memory that hold 16 rows of D, of some of its columns. */
struct emu_span {
    uint32_t lane; /* the first */
    int row;       /* the first, counted in the CTA */
    int first;     /* column of D that stands in the first column of tensor memory */
    int columns;
};
int emu_product_spans(const struct emu_product *product, struct emu_span spans[EMU_SPANS_MAX]);
/* Columns of tensor memory that D, and A, take. */
uint32_t emu_product_d_columns(const struct emu_product *product);
uint32_t emu_product_a_columns(const struct emu_product *product);

/* The memories of a CTA. */
struct emu_tcgen05_memory {
    const unsigned char *shared;
    uint32_t shared_bytes;
    uint32_t *cells;
};

/* Of one CTA, or of the pair, the even one first. False where a descriptor leads outside of shared
 * memory: `why` says which. */
bool emu_product_multiply(const struct emu_product *product,
                          const struct emu_tcgen05_memory *memories, bool exact, const char **why);
/* What it reads of the shared memory of a CTA, of each of a pair: how many operands. */
int emu_product_in_shared(const struct emu_product *product, uint32_t shared_bytes,
                          struct emu_shared_operand operands[EMU_SHARED_OPERANDS]);

#endif
