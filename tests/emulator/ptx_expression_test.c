/* Constant expressions. Values are those that ptxas 13.0 writes into a cubin for
 * ".visible .global .u64 q = ...;" (section .nv.global.init), not this parser's. */
#include "tests/emulator/ptx_support.h"

#include <stdio.h>
#include <string.h>

static void integers_are_as_ptxas_has_them(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {
        {"1+2*3", 7},
        {"(1+2)*3", 9},
        {"7/2", 3},
        {"-7/2", (uint64_t)-3},
        {"-7 % 3", 0},
        {"7 % -3", 7},
        {"-5 % 3", 2},
        {"(.s64)-5 % (.s64)3", 2},
        {"-7/2U", 0x7ffffffffffffffc},
        {"1<<4", 16},
        {"1<<64", 1},
        {"1<<63", 0x8000000000000000},
        {"1<<-1", 0x8000000000000000},
        {"-1>>1", UINT64_MAX},
        {"-1U>>1", 0x7fffffffffffffff},
        {"0xffffffffffffffff>>63", 1},
        {"~0", UINT64_MAX},
        {"~0>>60", 15},
        {"~-1", 0},
        {"(~8) / 2", 0x7ffffffffffffffb},
        {"!5", 0},
        {"!0", 1},
        {"!!7", 1},
        {"-9/!0", (uint64_t)-9},
        {"-1<0", 1},
        {"-1<0U", 0},
        {"-1>2U", 1},
        {"(.s64)-1<(.u64)1", 0},
        {"1<2", 1},
        {"2>=2", 1},
        {"3<=2", 0},
        {"3==3", 1},
        {"3!=3", 0},
        {"1==1==1", 1},
        {"-9/(3>2)", (uint64_t)-9},
        {"5&3", 1},
        {"5|3", 7},
        {"5^3", 6},
        {"1|2^3&1", 3},
        {"(-9 | 0) >> 1", (uint64_t)-5},
        {"(-9 & -1) / 2", (uint64_t)-4},
        {"(-9 ^ 0) / 2", (uint64_t)-4},
        {"1&&0", 0},
        {"1||0", 1},
        {"1?2:3", 2},
        {"0?2:3", 3},
        {"1?0?1:2:3", 2},
        {"0?-1:2U", 2},
        {"(1?-9:2U)/2", (uint64_t)-4},
        {"(.u64)-1>>60", 15},
        {"(.s64)-1>>60", UINT64_MAX},
        {"(.s64)0xffffffffffffffff/2", 0},
        {"-1/2", 0},
        {"-1/2U", 0x7fffffffffffffff},
        {"-1U/2", 0x7fffffffffffffff},
        {"-(9U)/2", 0x7ffffffffffffffb},
        {"(-1)*2U", (uint64_t)-2},
        {"(0x7fffffffffffffff+1)/2", 0xc000000000000000},
        {"9223372036854775808/2", 0x4000000000000000},
        {"(-9<<1)/2", (uint64_t)-9},
        {"(-9<<1U)/2", (uint64_t)-9},
        {"1-2-3", (uint64_t)-4},
        {"100/10/5", 2},
        {"1<<2<<3", 32},
        {"2+3<<1", 10},
        {"-2*-3", 6},
        {"- - 5", 5},
        {"+5", 5},
        {"+-9/2", (uint64_t)-4},
        {"010", 8},
        {"0b101", 5},
        {"WARP_SZ*2", 64},
        {"1.5<2.5 && 1", 1},
        {"1+(2.0>1.0)", 2},
        {"-0x7fffffffffffffff-1", 0x8000000000000000},
        /* Not asked of ptxas: the one division of signed numbers that overflows. It wraps. */
        {"(-0x7fffffffffffffff-1)/-1", 0x8000000000000000},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[128];
        uint64_t value;

        snprintf(text, sizeof text, ".visible .global .u64 q = %s;", cases[i].text);

        struct emu_module *module = parse_text(text);

        assert_int_equal(module->variable_count, 1);
        memcpy(&value, module->variables[0].data, sizeof value);
        if (value != cases[i].value)
            fail_msg("%s: 0x%llx, not 0x%llx", cases[i].text, (unsigned long long)value,
                     (unsigned long long)cases[i].value);
        emu_module_free(module);

        /* The same as an operand. */
        snprintf(text, sizeof text, "mov.u64 d0, %s;", cases[i].text);
        module = parse_body(text);
        assert_int_equal(first_instruction(module)->operands[1].kind, EMU_OPERAND_INTEGER);
        assert_true(first_instruction(module)->operands[1].bits == cases[i].value);
        emu_module_free(module);
    }
}

static void floating_point_numbers_are_as_ptxas_has_them(void **state)
{
    (void)state;
    static const struct {
        const char *type, *text;
        uint64_t value;
    } cases[] = {
        {"f32", "1.1", 0x3f8ccccd},
        {"f64", "1.1", 0x3ff199999999999a},
        {"f32", "1.0/3.0", 0x3eaaaaab},
        {"f32", "0.1+0.2", 0x3e99999a},
        {"f32", "-1.5", 0xbfc00000},
        {"f64", "1.0+2.0*3.0", 0x401c000000000000},
        {"f64", "-1.0+-2.5*2.0", 0xc018000000000000},
        {"f64", "16777217.0", 0x4170000010000000},
        {"f32", "16777217.0", 0x4b800000},
        {"f32", "1.0000000596046448", 0x3f800000},
        {"f32", "1e39", 0x7f800000},
        {"f32", "1e-50", 0},
        {"f64", ".5", 0x3fe0000000000000},
        {"f64", "5.", 0x4014000000000000},
        {"f32", "0f3f800000", 0x3f800000},
        {"f32", "0d3ff8000000000001", 0x3fc00000},
        {"f64", "0d3ff8000000000001", 0x3ff8000000000001},
        {"b32", "1.0", 0x3f800000},
        {"b32", "1.1", 0x3f8ccccd},
        {"b64", "1.0", 0x3ff0000000000000},
        {"b32", "0f3f800000", 0x3f800000},
        {"b32", "0d3ff8000000000000", 0x3fc00000},
        {"b64", "0f3f800000", 0x3f800000},
        {"u32", "1.0<2.0", 1},
        {"u8", "300", 0x2c},
        {"s8", "-300", 0xd4},
        {"u16", "65537", 1},
        {"s32", "2147483648", 0x80000000},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[128];
        uint64_t value = 0;

        snprintf(text, sizeof text, ".global .%s q = %s;", cases[i].type, cases[i].text);

        struct emu_module *module = parse_text(text);

        memcpy(&value, module->variables[0].data, (size_t)module->variables[0].bytes);
        if (value != cases[i].value)
            fail_msg("%s: 0x%llx, not 0x%llx", text, (unsigned long long)value,
                     (unsigned long long)cases[i].value);
        emu_module_free(module);
    }
}

static void what_ptxas_refuses_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"5/0", "divides by zero"},
        {"5 % 0", "divides by zero"},
        {"1.0/0.0", "divides by zero"},
        {"1.0-1", "an integer and a floating-point number"},
        {"1/3.0", "an integer and a floating-point number"},
        {"-0f3f800000", "'-' cannot stand before"},
        {"~1.0", "'~' cannot stand before"},
        {"0f3f800000+1.0", "0f and 0d numbers are no part of expressions"},
        {"1.0 % 2.0", "an operator of integers"},
        {"1?1.5:2.5", "?: takes integers"},
        {"(.s64)(1.5)", "a cast of what is no integer"},
        {"(.s32)1", "expected .s64 or .u64"},
        {"1e308*10.0", "overflows .f64"},
        {"(1", "expected ')'"},
        {"1?2", "expected ':'"},
        {"1+", "expected a number"},
        {"7%3", "expected ';'"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[128];

        snprintf(text, sizeof text, ".global .u64 q =\n %s;", cases[i].text);
        expect_refusal(text, 2, cases[i].words);
    }
}

static void depth_has_a_limit(void **state)
{
    (void)state;
    char text[512];
    const char *const openings[] = {"(", "-", "1?", "!(", "(.s64)"};

    for (size_t i = 0; i < sizeof openings / sizeof openings[0]; i++) {
        strcpy(text, ".global .u64 q = ");
        while (strlen(text) + strlen(openings[i]) + 1 < sizeof text)
            strcat(text, openings[i]);
        expect_refusal(text, 1, strlen(openings[i]) < 3 ? "deeper than 100" : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_as_ptxas_has_them),
        cmocka_unit_test(floating_point_numbers_are_as_ptxas_has_them),
        cmocka_unit_test(what_ptxas_refuses_is_refused),
        cmocka_unit_test(depth_has_a_limit),
    };

    return cmocka_run_group_tests_name("emulator constant expressions", tests, NULL, NULL);
}
