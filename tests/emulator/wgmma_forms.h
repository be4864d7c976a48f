/* wgmma_forms.h: the types and shapes of wgmma, for its tests. */
#ifndef EMU_TESTS_WGMMA_FORMS_H
#define EMU_TESTS_WGMMA_FORMS_H

#include "tests/emulator/matrix.h"

static const struct {
    enum emu_type d, a, b;
} kinds[] = {
    {EMU_F32, EMU_F16, EMU_F16},   {EMU_F16, EMU_F16, EMU_F16},   {EMU_F32, EMU_BF16, EMU_BF16},
    {EMU_F32, EMU_TF32, EMU_TF32}, {EMU_F32, EMU_E4M3, EMU_E4M3}, {EMU_F32, EMU_E4M3, EMU_E5M2},
    {EMU_F32, EMU_E5M2, EMU_E4M3}, {EMU_F32, EMU_E5M2, EMU_E5M2}, {EMU_F16, EMU_E4M3, EMU_E4M3},
    {EMU_F16, EMU_E4M3, EMU_E5M2}, {EMU_F16, EMU_E5M2, EMU_E4M3}, {EMU_F16, EMU_E5M2, EMU_E5M2},
    {EMU_S32, EMU_S8, EMU_S8},     {EMU_S32, EMU_S8, EMU_U8},     {EMU_S32, EMU_U8, EMU_S8},
    {EMU_S32, EMU_U8, EMU_U8},     {EMU_S32, EMU_B1, EMU_B1},
};

enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

static inline bool has_n(enum emu_type d, int n)
{
    return d != EMU_S32 || n <= 32 || n % 16 == 0;
}

#endif
