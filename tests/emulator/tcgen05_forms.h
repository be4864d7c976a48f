/* tcgen05_forms.h: the kinds and shapes of tcgen05.mma, for its tests, from the manual's tables. */
#ifndef EMU_TESTS_TCGEN05_FORMS_H
#define EMU_TESTS_TCGEN05_FORMS_H

#include "emulator/tcgen05_product.h"
#include "tests/emulator/matrix.h"

static const struct kind {
    enum emu_tcgen05_kind kind;
    enum emu_type d, a, b;
    uint32_t d_code, a_code, b_code; /* of the instruction descriptor */
} kinds[] = {
    {EMU_KIND_F16, EMU_F32, EMU_F16, EMU_F16, 1, 0, 0},
    {EMU_KIND_F16, EMU_F16, EMU_F16, EMU_F16, 0, 0, 0},
    {EMU_KIND_F16, EMU_F32, EMU_BF16, EMU_BF16, 1, 1, 1},
    {EMU_KIND_TF32, EMU_F32, EMU_TF32, EMU_TF32, 1, 2, 2},
    {EMU_KIND_F8F6F4, EMU_F32, EMU_E4M3, EMU_E4M3, 1, 0, 0},
    {EMU_KIND_F8F6F4, EMU_F16, EMU_E5M2, EMU_E4M3, 0, 1, 0},
    {EMU_KIND_F8F6F4, EMU_F32, EMU_E2M3, EMU_E3M2, 1, 3, 4},
    {EMU_KIND_F8F6F4, EMU_F32, EMU_E3M2, EMU_E2M1, 1, 4, 5},
    {EMU_KIND_F8F6F4, EMU_F16, EMU_E2M1, EMU_E2M3, 0, 5, 3},
    {EMU_KIND_F8F6F4, EMU_F32, EMU_E2M1, EMU_E4M3, 1, 5, 0},
    {EMU_KIND_I8, EMU_S32, EMU_U8, EMU_U8, 2, 0, 0},
    {EMU_KIND_I8, EMU_S32, EMU_S8, EMU_U8, 2, 1, 0},
    {EMU_KIND_I8, EMU_S32, EMU_S8, EMU_S8, 2, 1, 1},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* M, and whether of a pair or .ws. */
static const struct shape {
    int m, group;
    bool ws;
} shapes[] = {{64, 1, false}, {128, 1, false}, {128, 2, false}, {256, 2, false},
              {32, 1, true},  {64, 1, true},   {128, 1, true}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static inline bool has_n(const struct kind *kind, const struct shape *shape, int n, bool a_in_tmem)
{
    int step = shape->group == 2 ? a_in_tmem ? 32 : 16 : shape->m == 128 && a_in_tmem ? 16 : 8;

    if (shape->ws)
        return n == 64 || n == 128 || n == 256;
    if (kind->kind == EMU_KIND_I8 && shape->group == 2)
        return n >= 32 && n <= 256 && n % 32 == 0;
    if (kind->kind == EMU_KIND_I8 && n != 8 && n != 24 && n % 16 != 0)
        return false;
    return n >= step && n <= 256 && n % step == 0;
}

static inline int depth_of(const struct kind *kind)
{
    return kind->kind == EMU_KIND_F16 ? 16 : kind->kind == EMU_KIND_TF32 ? 8 : 32;
}

#endif
