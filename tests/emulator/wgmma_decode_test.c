/* The forms of wgmma.mma_async that exist, and those that ptxas refuses. */
#include "emulator/mma.h"
#include "tests/emulator/wgmma_forms.h"
#include "tests/support/cmocka_all.h"

static enum emu_decoded decode(struct text *text, struct emu_wgmma *wgmma, int target,
                               struct emu_error *error)
{
    *error = (struct emu_error){.line = 0};
    return emu_wgmma_decode(wgmma, &text->instruction, target, error);
}

static void begin_wgmma(struct text *text, const char *opcode, int d_count, bool a_in_registers,
                        int scales, int transposes)
{
    begin_text(text, opcode);
    add_vector(text, d_count);
    if (a_in_registers)
        add_vector(text, 4);
    else
        add_register(text);
    add_register(text);
    add_register(text);
    for (int i = 0; i < scales; i++)
        add_integer(text, 1);
    for (int i = 0; i < transposes; i++)
        add_integer(text, 0);
}

static void all_forms_are_decoded(void **state)
{
    (void)state;
    static const char *const names[] = {
        [EMU_F32] = "f32",   [EMU_F16] = "f16", [EMU_BF16] = "bf16", [EMU_TF32] = "tf32",
        [EMU_E4M3] = "e4m3", [EMU_S32] = "s32", [EMU_E5M2] = "e5m2", [EMU_S8] = "s8",
        [EMU_U8] = "u8",     [EMU_B1] = "b1",
    };

    for (int kind = 0; kind < KIND_COUNT; kind++)
        for (int n = 0; n <= 264; n += 4)
            for (int in_registers = 0; in_registers < 2; in_registers++) {
                static struct text text;
                struct emu_wgmma wgmma;
                struct emu_error error;
                enum emu_type d = kinds[kind].d, a = kinds[kind].a;
                int registers = d == EMU_F16 ? n / 4 : n / 2;
                bool exists = n >= 8 && n <= 256 && n % 8 == 0 && has_n(d, n);
                char opcode[128];

                snprintf(opcode, sizeof opcode, "wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s%s",
                         n, 256 / width_of(a), names[d], names[a], names[kinds[kind].b],
                         a == EMU_B1 ? ".and.popc" : "");
                if (registers > 128)
                    registers = 128;
                begin_wgmma(&text, opcode, registers, in_registers, d == EMU_S32 ? 0 : 2,
                            width_of(a) == 16 ? 2 - in_registers : 0);
                assert_int_equal(decode(&text, &wgmma, 90, &error),
                                 exists ? EMU_DECODED : EMU_REFUSED);
                if (!exists)
                    continue;
                assert_int_equal(wgmma.n, n);
                assert_int_equal(wgmma.k, 256 / width_of(a));
                assert_int_equal(wgmma.d, d);
                assert_int_equal(wgmma.a, a);
                assert_int_equal(wgmma.b, kinds[kind].b);
                assert_int_equal(wgmma.d_registers, registers);
                assert_int_equal(wgmma.a_in_registers, in_registers);
                assert_false(wgmma.negate_a || wgmma.negate_b || wgmma.transpose_a ||
                             wgmma.transpose_b || wgmma.saturate);
                /* One register more or less, or a target that is not sm_90. */
                text.operands[0].item_count++;
                assert_int_equal(decode(&text, &wgmma, 90, &error), EMU_REFUSED);
                text.operands[0].item_count--;
                assert_int_equal(decode(&text, &wgmma, 100, &error), EMU_REFUSED);
            }
}

static void immediates_are_read(void **state)
{
    (void)state;
    static struct text text;
    struct emu_wgmma wgmma;
    struct emu_error error;
    const char *opcode = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16";

    for (int bits = 0; bits < 16; bits++) {
        begin_wgmma(&text, opcode, 4, false, 2, 2);
        text.operands[4].bits = bits & 1 ? UINT64_MAX : 1;
        text.operands[5].bits = bits & 2 ? UINT64_MAX : 1;
        text.operands[6].bits = bits & 4 ? 1 : 0;
        text.operands[7].bits = bits & 8 ? 1 : 0;
        assert_int_equal(decode(&text, &wgmma, 90, &error), EMU_DECODED);
        assert_int_equal(wgmma.negate_a, bits & 1);
        assert_int_equal(wgmma.negate_b, bits >> 1 & 1);
        assert_int_equal(wgmma.transpose_a, bits >> 2 & 1);
        assert_int_equal(wgmma.transpose_b, bits >> 3 & 1);
    }
    /* Of A in registers there is but imm-trans-b. */
    begin_wgmma(&text, opcode, 4, true, 2, 1);
    text.operands[6].bits = 1;
    assert_int_equal(decode(&text, &wgmma, 90, &error), EMU_DECODED);
    assert_true(wgmma.transpose_b && !wgmma.transpose_a);
    begin_wgmma(&text, "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8.satfinite", 4, true, 0, 0);
    assert_int_equal(decode(&text, &wgmma, 90, &error), EMU_DECODED);
    assert_true(wgmma.saturate);
    begin_wgmma(&text, "wgmma.mma_async.sync.aligned.m64n8k32.satfinite.s32.s8.s8", 4, true, 0, 0);
    assert_int_equal(decode(&text, &wgmma, 90, &error), EMU_DECODED);
    assert_true(wgmma.saturate);
    /* scale-d may be an immediate of 0 or 1. */
    begin_wgmma(&text, opcode, 4, false, 2, 2);
    text.operands[3] = (struct emu_operand){.kind = EMU_OPERAND_INTEGER, .bits = 1};
    assert_int_equal(decode(&text, &wgmma, 90, &error), EMU_DECODED);
    text.operands[3].bits = 2;
    assert_int_equal(decode(&text, &wgmma, 90, &error), EMU_REFUSED);
}

/* As ptxas refuses them. */
static void forms_that_do_not_exist_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *opcode;
        int d_count, in_registers, scales, transposes;
    } cases[] = {
        {"wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16", 2, 0, 2, 2},
        {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16", 4, 0, 2, 2},
        {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", 4, 0, 2, 0},
        {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", 4, 0, 2, 1},
        {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", 4, 0, 0, 0},
        {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", 4, 1, 2, 2},
        {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", 4, 1, 2, 0},
        {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32", 4, 0, 2, 2},
        {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32", 4, 0, 0, 0},
        {"wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8", 4, 0, 2, 0},
        {"wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.u8", 20, 0, 0, 0},
        {"wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.xor.popc", 4, 0, 0, 0},
        {"wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1", 4, 0, 0, 0},
        {"wgmma.mma_async.sync.aligned.m64n8k16.satfinite.f32.f16.f16", 4, 0, 2, 2},
        {"wgmma.mma_async.sync.aligned.m64n8k8.f32.f16.f16", 4, 0, 2, 2},
        {"wgmma.mma_async.sync.aligned.m128n8k16.f32.f16.f16", 4, 0, 2, 2},
        {"wgmma.mma_async.sync.m64n8k16.f32.f16.f16", 4, 0, 2, 2},
        {"wgmma.mma_async.aligned.m64n8k16.f32.f16.f16", 4, 0, 2, 2},
        {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.f16", 4, 0, 2, 2},
        {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16", 4, 0, 2, 2},
        {"wgmma.mma_async.sync.aligned.m64n8k32.s32.s4.s4", 4, 0, 0, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct text text;
        struct emu_wgmma wgmma;
        struct emu_error error;

        begin_wgmma(&text, cases[i].opcode, cases[i].d_count, cases[i].in_registers,
                    cases[i].scales, cases[i].transposes);
        assert_int_equal(decode(&text, &wgmma, 90, &error), EMU_REFUSED);
        assert_int_equal(error.line, 7);
        assert_non_null(strstr(error.message, cases[i].opcode));
    }

    static struct text other;
    struct emu_wgmma wgmma;
    struct emu_error error;

    begin_text(&other, "wgmma.fence.sync.aligned");
    assert_int_equal(decode(&other, &wgmma, 90, &error), EMU_NOT_MINE);
    begin_text(&other, "wgmma");
    assert_int_equal(decode(&other, &wgmma, 90, &error), EMU_NOT_MINE);
    begin_text(&other, "add.u32");
    assert_int_equal(decode(&other, &wgmma, 90, &error), EMU_NOT_MINE);
    assert_int_equal(error.message[0], '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_forms_are_decoded),
        cmocka_unit_test(immediates_are_read),
        cmocka_unit_test(forms_that_do_not_exist_are_refused),
    };

    return cmocka_run_group_tests_name("emulator wgmma decoding", tests, NULL, NULL);
}
