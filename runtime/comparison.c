#include "runtime/comparison.h"

#include "runtime/number.h"

#include <math.h>

int64_t lt_matrix_bytes(const struct lt_matrix *matrix)
{
    if (matrix->rows == 0 || matrix->columns == 0)
        return 0;
    return ((matrix->rows - 1) * matrix->pitch + matrix->columns) * lathe_type_bytes(matrix->type);
}

double lt_sum_step(enum lathe_type sums)
{
    return sums == LATHE_F16 ? 0x1p-9 : 0x1p-20;
}

double lt_sum_least(enum lathe_type sums)
{
    return sums == LATHE_F16 ? 0x1p-24 : 0;
}

double lt_sum_exact_below(enum lathe_type sums)
{
    return sums == LATHE_F16 ? 0x1p11 : 0x1p24;
}

/* Of whole numbers: the low 32 bits of what they give, as two's complement. */
static double wrapped(const struct lt_product *product, double sum, double c)
{
    uint64_t r = (uint64_t)(int64_t)product->alpha * (uint64_t)(int64_t)sum;

    if (product->beta != 0)
        r += (uint64_t)(int64_t)product->beta * (uint64_t)(int64_t)c;
    return (double)(int32_t)(uint32_t)r;
}

/* What lies beyond the largest number of a type that saturates is that number. */
static double saturated(enum lathe_type type, double r)
{
    double largest = lt_number_largest(type);

    if (!isinf(lt_number_overflow(type)) || fabs(r) <= largest)
        return r;
    return r < 0 ? -largest : r > 0 ? largest : r;
}

/* The least and the greatest number of the type that any value within the slack rounds to. */
static bool is_within(enum lathe_type type, double d, double r, double slack, double *want,
                      double *bound)
{
    double low = lt_number_round(type, (float)(isinf(r) ? r : r - slack));
    double high = lt_number_round(type, (float)(isinf(r) ? r : r + slack));

    *want = lt_number_round(type, (float)r);
    *bound = fmax(*want - low, high - *want);
    if (isnan(d) || isnan(r))
        return isnan(d) && isnan(r);
    return d >= low && d <= high;
}

/* `slack` is what the arithmetic may be off by, before the result is rounded to the type. */
static bool is_right(enum lathe_type type, double d, double r, double slack, double bound)
{
    if (isnan(d) || isnan(r))
        return isnan(d) && isnan(r);
    if (isinf(d))
        return (d > 0) == (r > 0) && fabs(r) + slack >= lt_number_overflow(type);
    return fabs(r) - slack < lt_number_overflow(type) && fabs(d - r) <= bound;
}

static bool is_exact(const struct lt_product *product, double magnitude, double beta_c)
{
    double alpha = fabs(product->alpha);

    return product->whole &&
           (alpha > 1 ? alpha : 1) * magnitude + fabs(beta_c) < lt_sum_exact_below(product->sums);
}

void lt_verdict_add(struct lt_verdict *verdict, const struct lt_product *product, int64_t index,
                    double d, double sum, double magnitude, double c)
{
    enum lathe_type type = product->d.type;
    double beta_c = product->beta != 0 ? product->beta * c : 0;
    double r = product->alpha * sum + beta_c;
    double k = (double)product->a.columns;
    double alpha = fabs(product->alpha);
    double slack = (k / 16 + 2) * (lt_sum_step(product->sums) * (alpha * magnitude + fabs(beta_c)) +
                                   lt_sum_least(product->sums) * alpha);
    double want = r, bound = lt_number_spacing(type, r) + slack;
    bool right;

    if (type == LATHE_S32) {
        want = r = wrapped(product, sum, c);
        bound = 0;
        right = d == want;
    } else if (is_exact(product, magnitude, beta_c)) {
        want = lt_number_round(type, (float)r);
        bound = 0;
        right = d == want;
    } else if (isinf(lt_number_overflow(type))) {
        right = is_within(type, d, r, slack, &want, &bound);
    } else {
        right = is_right(type, d, r, slack, bound);
    }
    r = saturated(type, r);

    double error = isfinite(d) && isfinite(r) ? fabs(d - r) : right ? 0 : HUGE_VAL;

    verdict->compared++;
    verdict->wrong += !right;
    if (!right && index < verdict->first) {
        verdict->first = index;
        verdict->got = d;
        verdict->want = want;
        verdict->bound = bound;
    }
    if (error > verdict->max_abs_error)
        verdict->max_abs_error = error;
    verdict->error_squares += error * error;
    verdict->reference_squares += isfinite(r) ? r * r : 0;
}

void lt_verdict_merge(struct lt_verdict *verdict, const struct lt_verdict *part)
{
    if (part->first < verdict->first) {
        verdict->first = part->first;
        verdict->got = part->got;
        verdict->want = part->want;
        verdict->bound = part->bound;
    }
    verdict->compared += part->compared;
    verdict->wrong += part->wrong;
    if (part->max_abs_error > verdict->max_abs_error)
        verdict->max_abs_error = part->max_abs_error;
    verdict->error_squares += part->error_squares;
    verdict->reference_squares += part->reference_squares;
}

double lt_verdict_rel_error(const struct lt_verdict *verdict)
{
    if (verdict->error_squares == 0)
        return 0;
    return sqrt(verdict->error_squares) / sqrt(verdict->reference_squares);
}
