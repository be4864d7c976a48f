/* The forms of mma.sync that exist, and those that ptxas refuses. */
#include "tests/emulator/mma_forms.h"

static void all_forms_are_decoded(void **state)
{
    (void)state;
    struct form forms[FORMS_MAX];
    int count = all_forms(forms);

    for (int i = 0; i < count; i++) {
        static struct text text;
        const struct form *form = &forms[i];
        struct emu_mma_sync mma = decode_form(form, "");
        struct emu_error error = {.line = 0};
        char opcode[128];

        assert_int_equal(mma.m, form->m);
        assert_int_equal(mma.n, form->n);
        assert_int_equal(mma.k, form->k);
        assert_int_equal(mma.d, form->d);
        assert_int_equal(mma.a, form->a);
        assert_int_equal(mma.b, form->b);
        assert_int_equal(mma.c, form->c);
        assert_int_equal(mma.is_xor, form->is_xor);
        assert_int_equal(mma.a_column, form->a_column);
        assert_int_equal(mma.b_row, form->b_row);
        assert_false(mma.saturate);
        assert_int_equal(mma.a_registers, registers_for(form, form->a, form->m * form->k));
        assert_int_equal(mma.b_registers, registers_for(form, form->b, form->k * form->n));
        assert_int_equal(mma.c_registers, registers_for(form, form->c, form->m * form->n));
        assert_int_equal(mma.d_registers, registers_for(form, form->d, form->m * form->n));

        write_opcode(opcode, sizeof opcode, form, "");
        begin_mma(&text, form, opcode);
        assert_int_equal(emu_mma_sync_decode(&mma, &text.instruction, form->target - 1, &error),
                         EMU_REFUSED);
        for (int operand = 0; operand < 4; operand++) {
            text.operands[operand].item_count++;
            assert_int_equal(emu_mma_sync_decode(&mma, &text.instruction, 90, &error), EMU_REFUSED);
            text.operands[operand].item_count--;
        }
        text.instruction.operand_count = 3;
        assert_int_equal(emu_mma_sync_decode(&mma, &text.instruction, 90, &error), EMU_REFUSED);
    }
}

/* Some registers of the manual's tables, by number. */
static void registers_are_as_many_as_the_manual_says(void **state)
{
    (void)state;
    static const struct {
        struct form form;
        int d, a, b, c;
    } cases[] = {
        {{16, 8, 16, EMU_F32, EMU_F16, EMU_F16, EMU_F32, .target = 80}, 4, 4, 2, 4},
        {{16, 8, 8, EMU_F16, EMU_F16, EMU_F16, EMU_F16, .target = 80}, 2, 2, 1, 2},
        {{8, 8, 4, EMU_F32, EMU_F16, EMU_F16, EMU_F16, .target = 80}, 8, 2, 2, 4},
        {{16, 8, 4, EMU_F32, EMU_TF32, EMU_TF32, EMU_F32, .target = 80}, 4, 2, 1, 4},
        {{16, 8, 32, EMU_S32, EMU_S8, EMU_U8, EMU_S32, .target = 80}, 4, 4, 2, 4},
        {{8, 8, 32, EMU_S32, EMU_U4, EMU_S4, EMU_S32, .target = 80}, 2, 1, 1, 2},
        {{16, 8, 256, EMU_S32, EMU_B1, EMU_B1, EMU_S32, .target = 80}, 4, 4, 2, 4},
        {{16, 8, 16, EMU_F64, EMU_F64, EMU_F64, EMU_F64, .target = 90}, 4, 8, 4, 4},
        {{8, 8, 4, EMU_F64, EMU_F64, EMU_F64, EMU_F64, .target = 80}, 2, 1, 1, 2},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct emu_mma_sync mma = decode_form(&cases[i].form, "");

        assert_int_equal(mma.d_registers, cases[i].d);
        assert_int_equal(mma.a_registers, cases[i].a);
        assert_int_equal(mma.b_registers, cases[i].b);
        assert_int_equal(mma.c_registers, cases[i].c);
    }
}

/* As ptxas refuses them, with the number of registers that the types would have. */
static void forms_that_do_not_exist_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *opcode;
        int d, a, b, c;
    } cases[] = {
        {"mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f32", 4, 2, 2, 8},
        {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16", 4, 2, 1, 2},
        {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f32", 2, 2, 1, 4},
        {"mma.sync.aligned.m16n8k8.col.row.f32.f16.f16.f32", 4, 2, 1, 4},
        {"mma.sync.aligned.m16n8k8.row.row.f32.f16.f16.f32", 4, 2, 1, 4},
        {"mma.sync.aligned.m16n8k8.f32.f16.f16.f32", 4, 2, 1, 4},
        {"mma.sync.aligned.m16n8k8.row.col.row.f32.f16.f16.f32", 4, 2, 1, 4},
        {"mma.aligned.m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, 4},
        {"mma.sync.m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, 4},
        {"mma.sync.aligned.row.col.f32.f16.f16.f32", 4, 2, 1, 4},
        {"mma.sync.aligned.m16n8k8.m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, 4},
        {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16", 4, 2, 1, 4},
        {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32.f32", 4, 2, 1, 4},
        {"mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32", 4, 2, 1, 4},
        {"mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16", 2, 4, 2, 2},
        {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f16", 4, 4, 2, 2},
        {"mma.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32", 4, 8, 4, 4},
        {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s4.s32", 4, 4, 1, 4},
        {"mma.sync.aligned.m16n8k256.row.col.satfinite.s32.b1.b1.s32.and.popc", 4, 4, 2, 4},
        {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32", 4, 4, 2, 4},
        {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and", 4, 4, 2, 4},
        {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.xor.popc", 4, 4, 2, 4},
        {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32.and.popc", 4, 4, 2, 4},
        {"mma.sync.aligned.m16n8k8.row.col.satfinite.f32.f16.f16.f32", 4, 2, 1, 4},
        {"mma.sync.aligned.m16n8k8.row.col.rn.f32.f16.f16.f32", 4, 2, 1, 4},
        /* Not supported. */
        {"mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64", 2, 1, 1, 2},
        {"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 2, 4},
        {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32", 4, 4, 2, 4},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct text text;
        struct emu_mma_sync mma;
        struct emu_error error = {.line = 0};

        begin_text(&text, cases[i].opcode);
        add_vector(&text, cases[i].d);
        add_vector(&text, cases[i].a);
        add_vector(&text, cases[i].b);
        add_vector(&text, cases[i].c);
        assert_int_equal(emu_mma_sync_decode(&mma, &text.instruction, 90, &error), EMU_REFUSED);
        assert_int_equal(error.line, 7);
        assert_non_null(strstr(error.message, cases[i].opcode));
    }

    static struct text other;
    struct emu_mma_sync mma;
    struct emu_error error = {.line = 0};

    begin_text(&other, "wmma.mma.sync.aligned");
    assert_int_equal(emu_mma_sync_decode(&mma, &other.instruction, 90, &error), EMU_NOT_MINE);
    assert_int_equal(error.message[0], '\0');
    /* A vector of one is still a vector. */
    begin_text(&other, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32");
    add_vector(&other, 4);
    add_vector(&other, 2);
    add_register(&other);
    add_vector(&other, 4);
    assert_int_equal(emu_mma_sync_decode(&mma, &other.instruction, 90, &error), EMU_REFUSED);
}

/* Qualifiers may stand in any order. */
static void words_are_taken_in_any_order(void **state)
{
    (void)state;
    static struct text text;
    struct emu_mma_sync mma;
    struct emu_error error = {.line = 0};

    begin_text(&text, "mma.sync.aligned.row.col.m16n8k32.s32.s8.u8.s32.satfinite");
    add_vector(&text, 4);
    add_vector(&text, 4);
    add_vector(&text, 2);
    add_vector(&text, 4);
    assert_int_equal(emu_mma_sync_decode(&mma, &text.instruction, 90, &error), EMU_DECODED);
    assert_true(mma.saturate);
    assert_int_equal(mma.b, EMU_U8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_forms_are_decoded),
        cmocka_unit_test(registers_are_as_many_as_the_manual_says),
        cmocka_unit_test(forms_that_do_not_exist_are_refused),
        cmocka_unit_test(words_are_taken_in_any_order),
    };

    return cmocka_run_group_tests_name("emulator mma.sync decoding", tests, NULL, NULL);
}
