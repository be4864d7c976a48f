#include "codegen/fragment.h"

lt_value lt_pack(struct lt_builder *b, const char *name, enum lathe_type type, lt_value high,
                 lt_value low)
{
    /* The first source of cvt goes to the upper half. */
    return lt_op_(b, name, type == LATHE_F16 ? "cvt.rn.f16x2.f32" : "cvt.rn.bf16x2.f32",
                  (const lt_value[]){high, low}, 2);
}

struct lt_halves lt_unpack(struct lt_builder *b, enum lathe_type type, lt_value packed,
                           const char *low, const char *high)
{
    struct lt_halves halves;

    if (type == LATHE_F16) {
        lt_value low_half = lt_define(b, LT_B16, "low_half");
        lt_value high_half = lt_define(b, LT_B16, "high_half");

        lt_inst(b, "mov.b32 {%0, %1}, %2;", low_half, high_half, packed);
        halves.low = lt_op(b, low, "cvt.f32.f16", low_half);
        halves.high = lt_op(b, high, "cvt.f32.f16", high_half);
        return halves;
    }
    /* bf16 is the upper half of an f32. */
    halves.low = lt_define(b, LT_F32, low);
    halves.high = lt_define(b, LT_F32, high);
    lt_inst(b, "shl.b32 %0, %1, 16;", halves.low, packed);
    lt_inst(b, "and.b32 %0, %1, 0xffff0000;", halves.high, packed);
    return halves;
}

struct lt_halves lt_sum_pair(struct lt_builder *b, const struct lt_vector *acc, int first,
                             const char *low, const char *high)
{
    if (acc->base.type == LT_B32)
        return lt_unpack(b, LATHE_F16, lt_element(acc, first / 2), low, high);
    return (struct lt_halves){lt_element(acc, first), lt_element(acc, first + 1)};
}

static const char *matrix_form(struct lt_builder *b, bool store, int count)
{
    if (count != 2 && count != 4)
        lt_mistake(b, "ldmatrix and stmatrix are used with 2 or 4 matrices here, not %d", count);
    if (store)
        return count == 4 ? "stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};"
                          : "stmatrix.sync.aligned.m8n8.x2.shared::cta.b16 [%0], {%1, %2};";
    return count == 4 ? "ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%1, %2, %3, %4}, [%0];"
                      : "ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%1, %2}, [%0];";
}

static void move_matrices(struct lt_builder *b, bool store, lt_value address,
                          const lt_value *packed, int count)
{
    lt_value operands[5] = {address};

    for (int i = 0; i < count && i < 4; i++)
        operands[1 + i] = packed[i];
    lt_inst_(b, matrix_form(b, store, count), operands, 5);
}

void lt_stmatrix(struct lt_builder *b, lt_value address, const lt_value *packed, int count)
{
    lt_require(b, LT_HAS_TMA, "stmatrix");
    move_matrices(b, true, address, packed, count);
}

void lt_ldmatrix(struct lt_builder *b, lt_value address, const lt_value *packed, int count)
{
    move_matrices(b, false, address, packed, count);
}

void lt_store_pair(struct lt_builder *b, lt_value address, lt_value first, lt_value second)
{
    lt_inst(b, "st.shared.v2.f32 [%0], {%1, %2};", address, first, second);
}

void lt_load_pair(struct lt_builder *b, lt_value address, lt_value first, lt_value second)
{
    lt_inst(b, "ld.shared.v2.f32 {%0, %1}, [%2];", first, second, address);
}

void lt_load_quad(struct lt_builder *b, lt_value address, const struct lt_vector *quad)
{
    lt_inst(b, "ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];", lt_element(quad, 0), lt_element(quad, 1),
            lt_element(quad, 2), lt_element(quad, 3), address);
}

void lt_store_global(struct lt_builder *b, enum lathe_type type, lt_value address, lt_value element)
{
    lt_inst(b, lathe_type_bytes(type) == 4 ? "st.b32 [%0], %1;" : "st.b16 [%0], %1;", address,
            element);
}

void lt_load_global(struct lt_builder *b, enum lathe_type type, lt_value element, lt_value address)
{
    lt_inst(b, lathe_type_bytes(type) == 4 ? "ld.b32 %0, [%1];" : "ld.b16 %0, [%1];", element,
            address);
}

lt_value lt_scaled(struct lt_builder *b, const char *name, lt_value alpha, lt_value sum,
                   lt_value beta, lt_value c)
{
    lt_value value = lt_op(b, name, "mul.f32", sum, alpha);

    return c.kind == LT_NOTHING ? value : lt_op(b, name, "fma.rn.f32", beta, c, value);
}
