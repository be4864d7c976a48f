/* form_compare.c: whether two machines gave the same. */
#include "tests/gpu/form.h"
#include "runtime/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

uint64_t form_hash(const struct form *form, form_values results)
{
    uint64_t hash = 0;

    for (int thread = 0; thread < FORM_THREADS; thread++)
        for (int i = 0; i < form->results; i++)
            hash = lt_random_mix(hash ^ results[thread][i]) + (uint64_t)i;
    return hash;
}

static bool is_near(const struct form *form, uint64_t got, uint64_t want)
{
    uint32_t narrow[2] = {(uint32_t)got, (uint32_t)want};
    float value[2];

    if (got == want)
        return true;
    if (form->tolerance == 0)
        return false;
    memcpy(value, narrow, sizeof value);
    if (isnan(value[0]) && isnan(value[1]))
        return true;
    return fabs((double)value[0] - (double)value[1]) <=
           form->tolerance * fabs((double)value[1]) + (double)1e-45f;
}

bool form_compare(const struct form *form, form_values values, form_values got, form_values want)
{
    int wrong = 0;

    for (int thread = 0; thread < FORM_THREADS; thread++)
        for (int i = 0; i < form->results; i++) {
            if (is_near(form, got[thread][i], want[thread][i]) || wrong++ > 0)
                continue;
            printf("# of");
            for (int k = form->results; k < form->count; k++)
                printf(" 0x%llx", (unsigned long long)values[thread][k]);
            printf(": 0x%llx here, 0x%llx on the GPU\n", (unsigned long long)got[thread][i],
                   (unsigned long long)want[thread][i]);
        }
    if (wrong > 0)
        printf("# %d values differ\n", wrong);
    return wrong == 0;
}
