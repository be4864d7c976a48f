/* form_values.c: what a form reads, drawn for the types of its operands. */
#include "tests/gpu/form.h"
#include "tests/gpu/form_bits.h"

#include <stdlib.h>
#include <string.h>

int form_type_bits(const char *type)
{
    if (type[0] == 'm') /* of a multiplication */
        type++;
    if (strcmp(type, "shift") == 0 || strcmp(type, "f16x2") == 0 || strcmp(type, "bf16x2") == 0 ||
        strcmp(type, "e8x4") == 0 || strcmp(type, "angle") == 0 || strcmp(type, "wide") == 0)
        return 32;
    if (strcmp(type, "bf16") == 0 || strcmp(type, "f16") == 0)
        return 16;
    if (strcmp(type, "p") == 0)
        return 1;
    return atoi(type + 1);
}

/* Of integers: small ones, those at the ends, and any. */
static uint64_t draw_integer(uint64_t index, int bits)
{
    static const int64_t corners[] = {0, 1, -1, 2, 7, 8, 31, 32, 33, 63, 64, 100, -128, 255};
    uint64_t random = form_draw_any(index), top = (uint64_t)1 << (bits - 1), value;

    switch (random >> 60) {
    case 0:
    case 1:
    case 2:
        value = (uint64_t)corners[random % (sizeof corners / sizeof corners[0])];
        break;
    case 3:
        value = top - (random & 1);
        break;
    default:
        value = random >> (random >> 8 & 1 ? 0 : random >> 10 & 31);
    }
    return bits == 64 ? value : value & ((top << 1) - 1);
}

static uint64_t draw_factor(const char *type, uint64_t index)
{
    uint64_t bytes = 0;

    if (strcmp(type, "f32") == 0)
        return form_draw_finite(index, 8, 23);
    if (strcmp(type, "b32") == 0) /* tf32 */
        return form_draw_finite(index, 8, 10) << 13;
    if (strcmp(type, "f64") == 0)
        return form_draw_finite(index, 11, 52);
    if (strcmp(type, "f16x2") == 0)
        return form_draw_finite(index, 5, 10) | form_draw_finite(index ^ 0x4000000000u, 5, 10)
                                                    << 16;
    if (strcmp(type, "bf16x2") == 0)
        return form_draw_finite(index, 8, 7) | form_draw_finite(index ^ 0x4000000000u, 8, 7) << 16;
    for (int i = 0; i < 4; i++) /* e8x4: e4m3, or e5m2 by the same bits */
        bytes |= form_draw_finite(index ^ (uint64_t)i << 34, 4, 3) << (8 * i);
    return bytes;
}

/* An f32 of that many pi at most, or a special value. */
static uint64_t draw_angle(uint64_t index, double pis)
{
    uint64_t random = form_draw_any(index);
    float angle = (float)(((double)(random >> 11) * 0x1p-52 - 1) * 3.14159 * pis);
    uint32_t bits;

    if (random % 16 == 0)
        return form_draw_float(index, 8, 23) &
               ~(UINT64_C(1) << 30); /* below 2, and so no infinity */
    memcpy(&bits, &angle, sizeof bits);
    return bits;
}

static uint64_t draw_value(const char *type, uint64_t index)
{
    if (type[0] == 'm')
        return draw_factor(type + 1, index);
    if (strcmp(type, "f32") == 0)
        return form_draw_float(index, 8, 23);
    if (strcmp(type, "f64") == 0)
        return form_draw_float(index, 11, 52);
    if (strcmp(type, "f16") == 0)
        return form_draw_float(index, 5, 10);
    if (strcmp(type, "bf16") == 0)
        return form_draw_float(index, 8, 7);
    if (strcmp(type, "f16x2") == 0)
        return form_draw_float(index, 5, 10) | form_draw_float(index ^ 0x4000000000u, 5, 10) << 16;
    if (strcmp(type, "bf16x2") == 0)
        return form_draw_float(index, 8, 7) | form_draw_float(index ^ 0x4000000000u, 8, 7) << 16;
    if (strcmp(type, "p") == 0)
        return form_draw_any(index) & 1;
    if (strcmp(type, "angle") == 0)
        return draw_angle(index, 2);
    if (strcmp(type, "wide") == 0)
        return draw_angle(index, 100);
    if (strcmp(type, "b8") == 0)
        return form_draw_any(index) >> 9 & 3; /* for match: some are equal */
    if (strcmp(type, "shift") == 0)
        return form_draw_any(index) >> 9 & (form_draw_any(index) & 1 ? 63 : 31);
    return draw_integer(index, form_type_bits(type));
}

static void draw_operands(const struct form *form, form_values values)
{
    for (int thread = 0; thread < FORM_THREADS; thread++)
        for (int i = 0; i < FORM_OPERANDS_MAX; i++)
            values[thread][i] =
                i < form->count && form->operands[i].type[0] != '#'
                    ? draw_value(form->operands[i].type, (uint64_t)(thread * FORM_OPERANDS_MAX + i))
                    : 0;
}

void form_draw(const struct form *form, struct form_state *state)
{
    draw_operands(form, state->values);
    for (uint64_t i = 0; i < FORM_MEMORY_WORDS; i++)
        state->memory[i] = form->setting.drawn ? form_draw_any(i ^ 0x6000000000u) : 0;
}
