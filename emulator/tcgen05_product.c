/* tcgen05_product.c: tcgen05.mma on whole memories: which rows and columns of D each lane of tensor
 * memory holds, and the product, sixteen lanes at a time. Source: PTX ISA "tcgen05.mma" and its
 * figures of layouts, whose formulas are those of CUTLASS's traits. */
#include "emulator/tcgen05_product.h"

#include "emulator/mma_block.h"
#include "emulator/mma_operand.h"

enum { DEPTH_MAX = 32, N_MAX = 256, LANE_MAX = EMU_TMEM_LANES };

struct matrices {
    union emu_element a[EMU_SPAN_ROWS * DEPTH_MAX];
    union emu_element b[DEPTH_MAX * N_MAX];
    union emu_element d[EMU_SPAN_ROWS * N_MAX];
};

/* ---- Who holds what ---- */

/* How many parts the columns of D are cut into, which lie in lanes of their own. */
static int parts_of(const struct emu_product *product)
{
    if (product->ws)
        return product->m == 32 ? 4 : product->m == 64 ? 2 : 1;
    return product->group == EMU_PAIR && product->m == 128 ? 2 : 1;
}

static int rows_of(const struct emu_product *product)
{
    return product->m / product->group;
}

/* Of 64 rows of one CTA each 16 begin a sub-partition, at lane 0 or at lane 16 of it. */
static bool is_scattered(const struct emu_product *product)
{
    return !product->ws && product->group == 1 && product->m == 64;
}

int emu_product_spans(const struct emu_product *product, struct emu_span spans[EMU_SPANS_MAX])
{
    int parts = parts_of(product), rows = rows_of(product), count = 0;

    for (int part = 0; part < parts; part++)
        for (int row = 0; row < rows; row += EMU_SPAN_ROWS)
            spans[count++] = (struct emu_span){
                .lane = is_scattered(product)
                            ? (uint32_t)(2 * row) + emu_tmem_lane(product->d_address)
                            : (uint32_t)(row + part * LANE_MAX / parts),
                .row = row,
                .first = part * product->n / parts,
                .columns = product->n / parts,
            };
    return count;
}

uint32_t emu_product_d_columns(const struct emu_product *product)
{
    return (uint32_t)(product->n / parts_of(product));
}

/* 32 bytes of K, four a column. */
uint32_t emu_product_a_columns(const struct emu_product *product)
{
    enum { K_BYTES = 32, COLUMN_BYTES = 4 };

    (void)product;
    return K_BYTES / COLUMN_BYTES;
}

/* ---- Operands ---- */

static struct emu_matrix a_of(const struct emu_product *product,
                              const struct emu_tcgen05_memory *memory)
{
    return emu_matrix_of(&product->a_matrix, product->a, product->a_mn_major, product->negate_a,
                         memory->shared, memory->shared_bytes);
}

static struct emu_matrix b_of(const struct emu_product *product,
                              const struct emu_tcgen05_memory *memory)
{
    return emu_matrix_of(&product->b_matrix, product->b, product->b_mn_major, product->negate_b,
                         memory->shared, memory->shared_bytes);
}

/* Columns `first` and following. Of a pair each CTA has half of B. */
static bool load_b(const struct emu_product *product, const struct emu_tcgen05_memory *memories,
                   int first, int columns, union emu_element *b)
{
    int own = product->n / product->group;

    for (int cta = 0; cta < product->group; cta++) {
        const struct emu_matrix matrix = b_of(product, &memories[cta]);

        for (int k = 0; k < product->k; k++)
            for (int column = 0; column < columns; column++) {
                int n = first + column - cta * own;

                if (n >= 0 && n < own &&
                    !emu_matrix_element(&matrix, n, k, &b[k * columns + column]))
                    return false;
            }
    }
    return true;
}

/* An element in the bytes of a lane's columns. Of six bits it is the low ones of its byte; of four
 * those from bit 2 on, as the registers of mma.sync have it. */
static uint32_t tmem_element(enum emu_type type, const uint32_t *columns, int k)
{
    int bits = emu_element_bits(type);

    if (bits == 32)
        return columns[k];
    if (bits == 16)
        return columns[k / 2] >> 16 * (k % 2) & 0xffff;

    uint32_t byte = columns[k / 4] >> 8 * (k % 4) & 0xff;

    return bits == 8 ? byte : bits == 6 ? byte & 0x3f : byte >> 2 & 0xf;
}

/* Each lane multiplies the A that it holds itself; shifted, that of the lane behind it, but for the
 * last of a sub-partition. */
static void load_a_tmem(const struct emu_product *product, const uint32_t *cells,
                        const struct emu_span *span, union emu_element *a)
{
    enum { PARTITION = 32 };
    int bits = emu_element_bits(product->a);
    uint32_t sign = product->negate_a ? UINT32_C(1) << (bits - 1) : 0;

    for (int row = 0; row < EMU_SPAN_ROWS; row++) {
        uint32_t lane = span->lane + (uint32_t)row;

        if (product->ashift && lane % PARTITION != PARTITION - 1)
            lane++;

        const uint32_t *columns =
            cells + lane * EMU_TMEM_COLUMNS + emu_tmem_column(product->a_address);

        for (int k = 0; k < product->k; k++)
            a[row * product->k + k].bits = tmem_element(product->a, columns, k) ^ sign;
    }
}

static bool load_a(const struct emu_product *product, const struct emu_tcgen05_memory *memory,
                   const struct emu_span *span, union emu_element *a)
{
    const struct emu_matrix matrix = a_of(product, memory);

    if (product->a_in_tmem) {
        load_a_tmem(product, memory->cells, span, a);
        return true;
    }
    for (int row = 0; row < EMU_SPAN_ROWS; row++)
        for (int k = 0; k < product->k; k++)
            if (!emu_matrix_element(&matrix, span->row + row, k, &a[row * product->k + k]))
                return false;
    return true;
}

static uint32_t *row_of(const struct emu_product *product, uint32_t *cells,
                        const struct emu_span *span, int row)
{
    return cells + (span->lane + (uint32_t)row) * EMU_TMEM_COLUMNS +
           emu_tmem_column(product->d_address);
}

/* An element of 16 bits is the low half of a cell. */
static void load_d(const struct emu_product *product, uint32_t *cells, const struct emu_span *span,
                   union emu_element *d)
{
    uint32_t mask = product->d == EMU_F16 ? 0xffff : UINT32_MAX;

    if (!product->add_d) {
        memset(d, 0, sizeof *d * (size_t)(EMU_SPAN_ROWS * span->columns));
        return;
    }
    for (int row = 0; row < EMU_SPAN_ROWS; row++) {
        const uint32_t *from = row_of(product, cells, span, row);

        for (int column = 0; column < span->columns; column++)
            d[row * span->columns + column].bits = from[column] & mask;
    }
}

static void store_d(const struct emu_product *product, const uint32_t masked[EMU_LANE_WORDS],
                    uint32_t *cells, const struct emu_span *span, const union emu_element *d)
{
    for (int row = 0; row < EMU_SPAN_ROWS; row++) {
        uint32_t lane = span->lane + (uint32_t)row;

        if (!(masked[lane / 32] >> lane % 32 & 1))
            memcpy(row_of(product, cells, span, row), d + row * span->columns,
                   (size_t)span->columns * sizeof *d);
    }
}

/* ---- The product ---- */

static bool multiply_span(const struct emu_product *product, const struct emu_block *block,
                          const struct emu_tcgen05_memory *memory, const uint32_t *masked,
                          const struct emu_span *span, struct matrices *matrices)
{
    if (!load_a(product, memory, span, matrices->a))
        return false;
    emu_block_prepare(block, block->a, matrices->a, block->m * block->k);
    load_d(product, memory->cells, span, matrices->d);
    emu_block_multiply(block, matrices->a, matrices->b, matrices->d);
    store_d(product, masked, memory->cells, span, matrices->d);
    return true;
}

bool emu_product_multiply(const struct emu_product *product,
                          const struct emu_tcgen05_memory *memories, bool exact, const char **why)
{
    struct emu_span spans[EMU_SPANS_MAX];
    struct matrices matrices;
    int count = emu_product_spans(product, spans), loaded = -1;
    struct emu_block block = {.m = EMU_SPAN_ROWS,
                              .n = spans[0].columns,
                              .k = product->k,
                              .d = product->d,
                              .a = product->a,
                              .b = product->b,
                              .saturate = product->saturate,
                              .exact = exact,
                              .is_fine = true,
                              .scale_c = product->scale_d};

    for (int i = 0; i < count; i++) {
        if (spans[i].first != loaded) {
            if (!load_b(product, memories, spans[i].first, block.n, matrices.b)) {
                *why = "the descriptor of B leads outside of shared memory";
                return false;
            }
            emu_block_prepare(&block, block.b, matrices.b, block.k * block.n);
            loaded = spans[i].first;
        }
        for (int cta = 0; cta < product->group; cta++)
            if (!multiply_span(product, &block, &memories[cta], product->masked[cta], &spans[i],
                               &matrices)) {
                *why = "the descriptor of A leads outside of shared memory";
                return false;
            }
    }
    return true;
}

int emu_product_in_shared(const struct emu_product *product, uint32_t shared_bytes,
                          struct emu_shared_operand operands[EMU_SHARED_OPERANDS])
{
    const struct emu_tcgen05_memory memory = {.shared_bytes = shared_bytes};
    int count = 0;

    if (!product->a_in_tmem)
        operands[count++] =
            (struct emu_shared_operand){'A', a_of(product, &memory), rows_of(product), product->k};
    operands[count++] = (struct emu_shared_operand){'B', b_of(product, &memory),
                                                    product->n / product->group, product->k};
    return count;
}
