/* form_compare.c: whether two machines gave the same. */
#include "tests/gpu/form.h"
#include "runtime/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

uint64_t form_hash(const struct form *form, const struct form_state *state)
{
    uint64_t hash = 0;

    for (int thread = 0; thread < FORM_THREADS; thread++)
        for (int i = 0; i < form->results; i++)
            hash = lt_random_mix(hash ^ state->values[thread][i]) + (uint64_t)i;
    for (int i = 0; i < FORM_MEMORY_WORDS && form->body; i++)
        hash = lt_random_mix(hash ^ state->memory[i]);
    return hash;
}

/* ---- Floats ---- */

/* Of so many bits of exponent and mantissa; an infinity is the next power of two, so that it is
 * near what a bound lets overflow. */
static double decode(uint64_t bits, int exponent, int mantissa)
{
    uint64_t most = ((uint64_t)1 << exponent) - 1, biased = bits >> mantissa & most,
             fraction = bits & (((uint64_t)1 << mantissa) - 1);
    int bias = (int)(most >> 1), scale = biased ? (int)biased - bias : 1 - bias;
    double value = ldexp((double)fraction + (biased ? ldexp(1, mantissa) : 0), scale - mantissa);

    if (biased == most)
        value = fraction ? (double)NAN : ldexp(1, bias + 1);
    return bits >> (exponent + mantissa) & 1 ? -value : value;
}

/* The result's floats; how many. `step` is what subnormals of the type are apart. */
static int decode_result(const char *type, uint64_t bits, double floats[2], double *step)
{
    int exponent = 8, mantissa = 7; /* bf16 */

    if (strcmp(type, "f64") == 0)
        exponent = 11, mantissa = 52;
    else if (strcmp(type, "f32") == 0)
        mantissa = 23;
    else if (type[0] == 'f')
        exponent = 5, mantissa = 10;
    floats[0] = decode(bits, exponent, mantissa);
    floats[1] = decode(bits >> 16, exponent, mantissa);
    *step = decode(1, exponent, mantissa);
    return strstr(type, "x2") ? 2 : 1;
}

/* Twice what the manual allows, as both may have it, and a step of rounding. */
static double allowed_error(const struct form_bound *bound, double want, double step)
{
    double relative = bound->relative > 0 ? exp2(-bound->relative) * fabs(want) : 0,
           absolute = bound->absolute > 0 ? exp2(-bound->absolute) : 0;

    if (bound->ulps > 0)
        return 2 * bound->ulps * (0x1p-23 * fabs(want) + step);
    return 2 * fmax(relative, absolute) + step;
}

static bool is_near(const struct form *form, const char *type, uint64_t got, uint64_t want)
{
    double here[2], there[2], step;
    int floats;

    if (got == want)
        return true;
    if (form->bound.relative <= 0 && form->bound.absolute <= 0 && form->bound.ulps == 0)
        return false;
    floats = decode_result(type, got, here, &step);
    decode_result(type, want, there, &step);
    for (int i = 0; i < floats; i++)
        if (!(isnan(here[i]) && isnan(there[i])) &&
            !(fabs(here[i] - there[i]) <= allowed_error(&form->bound, there[i], step)))
            return false;
    return true;
}

/* ---- All ---- */

static void print_sources(const struct form *form, const uint64_t *values)
{
    printf("# of");
    for (int k = form->results; k < form->count; k++)
        printf(" 0x%llx", (unsigned long long)values[k]);
}

static int compare_results(const struct form *form, const struct form_state *given,
                           const struct form_state *got, const struct form_state *want)
{
    int wrong = 0;

    for (int thread = 0; thread < FORM_THREADS; thread++)
        for (int i = 0; i < form->results; i++) {
            uint64_t here = got->values[thread][i], there = want->values[thread][i];

            if (is_near(form, form->operands[i].type, here, there) || wrong++ > 0)
                continue;
            print_sources(form, given->values[thread]);
            printf(": thread %d, result %d: 0x%llx here, 0x%llx on the GPU\n", thread, i,
                   (unsigned long long)here, (unsigned long long)there);
        }
    return wrong;
}

static int compare_memory(const struct form_state *got, const struct form_state *want)
{
    int wrong = 0;

    for (int i = 0; i < FORM_MEMORY_WORDS; i++)
        if (got->memory[i] != want->memory[i] && wrong++ == 0)
            printf("# memory, thread %d, word %d: 0x%llx here, 0x%llx on the GPU\n",
                   i * 8 / FORM_OWN_BYTES, i * 8 % FORM_OWN_BYTES / 8,
                   (unsigned long long)got->memory[i], (unsigned long long)want->memory[i]);
    return wrong;
}

bool form_compare(const struct form *form, const struct form_state *given,
                  const struct form_state *got, const struct form_state *want)
{
    int wrong = compare_results(form, given, got, want) + compare_memory(got, want);

    if (wrong > 0)
        printf("# %d values differ\n", wrong);
    return wrong == 0;
}
