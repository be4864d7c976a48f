/* mma_forms.h: all forms of mma.sync that the manual has, for its tests. */
#ifndef EMU_TESTS_MMA_FORMS_H
#define EMU_TESTS_MMA_FORMS_H

#include "tests/emulator/matrix.h"
#include "tests/support/cmocka_all.h"

struct form {
    int m, n, k;
    enum emu_type d, a, b, c;
    bool is_xor, a_column, b_row;
    int target;
};

enum { FORMS_MAX = 128 };

static const char *const names[] = {
    [EMU_F64] = "f64",   [EMU_F32] = "f32",   [EMU_F16] = "f16", [EMU_BF16] = "bf16",
    [EMU_TF32] = "tf32", [EMU_E4M3] = "e4m3", [EMU_S32] = "s32", [EMU_E5M2] = "e5m2",
    [EMU_S8] = "s8",     [EMU_U8] = "u8",     [EMU_S4] = "s4",   [EMU_U4] = "u4",
    [EMU_B1] = "b1",
};

/* ---- The forms of the manual ---- */

static inline int add_form(struct form *forms, int count, struct form form)
{
    assert_in_range(count, 0, FORMS_MAX - 1);
    forms[count] = form;
    return count + 1;
}

/* All four mixes of two types. */
static inline int add_mixes(struct form *forms, int count, struct form form, enum emu_type x,
                            enum emu_type y)
{
    for (int mix = 0; mix < 4; mix++) {
        form.a = mix & 1 ? y : x;
        form.b = mix & 2 ? y : x;
        count = add_form(forms, count, form);
    }
    return count;
}

static inline int all_forms(struct form *forms)
{
    static const struct {
        enum emu_type d, c;
    } quads[] = {{EMU_F32, EMU_F32}, {EMU_F32, EMU_F16}, {EMU_F16, EMU_F16}};
    int count = 0;

    for (int i = 0; i < 3; i++)
        for (int layout = 0; layout < 4; layout++)
            count = add_form(forms, count,
                             (struct form){8, 8, 4, quads[i].d, EMU_F16, EMU_F16, quads[i].c, false,
                                           layout & 1, layout & 2, 70});
    for (int i = 0; i < 2; i++) {
        enum emu_type d = i ? EMU_F16 : EMU_F32;

        count =
            add_form(forms, count, (struct form){16, 8, 8, d, EMU_F16, EMU_F16, d, .target = 75});
        count =
            add_form(forms, count, (struct form){16, 8, 16, d, EMU_F16, EMU_F16, d, .target = 80});
        for (int k = 16; k <= 32; k += 16)
            count = add_mixes(forms, count,
                              (struct form){16, 8, k, d, EMU_E4M3, EMU_E4M3, d, .target = 89},
                              EMU_E4M3, EMU_E5M2);
        count = add_form(
            forms, count,
            (struct form){16, 8, i ? 16 : 8, EMU_F32, EMU_BF16, EMU_BF16, EMU_F32, .target = 80});
        count = add_form(
            forms, count,
            (struct form){16, 8, i ? 8 : 4, EMU_F32, EMU_TF32, EMU_TF32, EMU_F32, .target = 80});
    }
    for (int i = 0; i < 4; i++)
        count = add_form(forms, count,
                         (struct form){i ? 16 : 8, 8, i ? 2 << i : 4, EMU_F64, EMU_F64, EMU_F64,
                                       EMU_F64, .target = i ? 90 : 80});
    for (int i = 0; i < 3; i++) {
        struct form form = {i ? 16 : 8, 8, i == 2 ? 32 : 16, .d = EMU_S32, .c = EMU_S32};

        form.target = i ? 80 : 75;
        count = add_mixes(forms, count, form, EMU_S8, EMU_U8);
        form.k *= 2;
        count = add_mixes(forms, count, form, EMU_S4, EMU_U4);
        form.k *= 4;
        form.a = form.b = EMU_B1;
        form.target = 80;
        count = add_form(forms, count, form);
        form.is_xor = true;
        form.target = i ? 80 : 75;
        count = add_form(forms, count, form);
    }
    return count;
}

static inline void write_opcode(char *opcode, size_t size, const struct form *form,
                                const char *extra)
{
    snprintf(opcode, size, "mma.sync.aligned.m%dn%dk%d.%s.%s%s.%s.%s.%s.%s%s", form->m, form->n,
             form->k, form->a_column ? "col" : "row", form->b_row ? "row" : "col", extra,
             names[form->d], names[form->a], names[form->b], names[form->c],
             form->a != EMU_B1 ? ""
             : form->is_xor    ? ".xor.popc"
                               : ".and.popc");
}

static inline bool is_quad(const struct form *form)
{
    return form->k == 4 && form->a == EMU_F16;
}

static inline int bits_in(enum emu_type type)
{
    return type == EMU_F64 ? 64 : width_of(type);
}

static inline int registers_for(const struct form *form, enum emu_type type, int elements)
{
    int bits = bits_in(type);

    return elements * bits * (is_quad(form) ? 4 : 1) / (32 * (bits == 64 ? 64 : 32));
}

static inline void begin_mma(struct text *text, const struct form *form, const char *opcode)
{
    begin_text(text, opcode);
    add_vector(text, registers_for(form, form->d, form->m * form->n));
    add_vector(text, registers_for(form, form->a, form->m * form->k));
    add_vector(text, registers_for(form, form->b, form->k * form->n));
    add_vector(text, registers_for(form, form->c, form->m * form->n));
}

static inline struct emu_mma_sync decode_form(const struct form *form, const char *extra)
{
    static struct text text;
    struct emu_mma_sync mma;
    struct emu_error error = {.line = 0};
    char opcode[128];

    write_opcode(opcode, sizeof opcode, form, extra);
    begin_mma(&text, form, opcode);
    assert_int_equal(emu_mma_sync_decode(&mma, &text.instruction, form->target, &error),
                     EMU_DECODED);
    return mma;
}

#endif
