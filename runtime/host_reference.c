#include "runtime/host_reference.h"

#include "codegen/memory.h"
#include "codegen/status.h"
#include "runtime/number.h"

#include <string.h>

/* Sums of a square of D at a time, over slices of k: each element of A and B is converted once for
 * SIDE uses, and the innermost loop runs along a row of sums. */
enum { SIDE = 32, SLICE = 512 };

struct square {
    double a[SIDE][SLICE], b[SLICE][SIDE];
    double sum[SIDE][SIDE], magnitude[SIDE][SIDE];
};

static void *at(const struct lt_matrix *matrix)
{
    return (void *)(uintptr_t)matrix->at;
}

static double load(const struct lt_matrix *matrix, int64_t row, int64_t column)
{
    return lt_number_load(matrix->type, at(matrix), row * matrix->pitch + column);
}

void lt_host_fill(const struct lt_matrix *matrix, const struct lt_fill *fill)
{
    uint64_t index = 0;

    for (int64_t row = 0; row < matrix->rows; row++)
        for (int64_t column = 0; column < matrix->columns; column++)
            lt_number_store(matrix->type, at(matrix), row * matrix->pitch + column,
                            lt_fill_value(fill, index++));
}

int64_t lt_host_damage(const struct lt_region *region, unsigned char canary)
{
    int64_t damage = 0;

    for (int64_t row = 0; row < region->rows; row++) {
        const unsigned char *bytes =
            (const unsigned char *)(uintptr_t)region->at + row * region->pitch;

        for (int64_t i = 0; i < region->bytes; i++)
            damage += bytes[i] != canary;
    }
    return damage;
}

/* Rows of a matrix that a square covers from `first` on. */
static int64_t covered(const struct lt_matrix *matrix, int64_t first)
{
    return matrix->rows - first < SIDE ? matrix->rows - first : SIDE;
}

/* Rows beyond the matrix count as zeros. */
static void load_slice(struct square *square, const struct lt_product *product, int64_t row,
                       int64_t column, int64_t k, int64_t depth)
{
    int64_t rows = covered(&product->a, row), columns = covered(&product->b, column);

    memset(square->b, 0, sizeof square->b);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t s = 0; s < depth; s++)
            square->a[i][s] = load(&product->a, row + i, k + s);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t s = 0; s < depth; s++)
            square->b[s][j] = load(&product->b, column + j, k + s);
}

static void multiply_slice(struct square *square, int64_t rows, int64_t depth)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t s = 0; s < depth; s++)
            for (int64_t j = 0; j < SIDE; j++) {
                double product = square->a[i][s] * square->b[s][j];

                square->sum[i][j] += product;
                square->magnitude[i][j] += product < 0 ? -product : product;
            }
}

static void judge_square(const struct square *square, const struct lt_product *product, int64_t row,
                         int64_t column, struct lt_verdict *verdict)
{
    int64_t rows = covered(&product->a, row), columns = covered(&product->b, column);

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            double d = load(&product->d, row + i, column + j);
            double c = product->beta != 0 ? load(&product->c, row + i, column + j) : 0;

            lt_verdict_add(verdict, product, (row + i) * product->d.columns + column + j, d,
                           square->sum[i][j], square->magnitude[i][j], c);
        }
}

enum lathe_status lt_host_compare(const struct lt_product *product, struct lt_verdict *verdict,
                                  const struct lathe_allocator *allocator, struct lathe_error *err)
{
    struct square *square = lt_allocate(allocator, sizeof *square);
    struct lt_verdict found = LT_VERDICT_INIT;
    int64_t m = product->a.rows, n = product->b.rows, k = product->a.columns;

    if (!square)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for the reference on the CPU");
    for (int64_t row = 0; row < m; row += SIDE)
        for (int64_t column = 0; column < n; column += SIDE) {
            memset(square->sum, 0, sizeof square->sum);
            memset(square->magnitude, 0, sizeof square->magnitude);
            for (int64_t from = 0; from < k; from += SLICE) {
                int64_t depth = k - from < SLICE ? k - from : SLICE;

                load_slice(square, product, row, column, from, depth);
                multiply_slice(square, covered(&product->a, row), depth);
            }
            judge_square(square, product, row, column, &found);
        }
    lt_release(allocator, square);
    *verdict = found;
    return LATHE_OK;
}
