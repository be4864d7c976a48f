#include "codegen/builder.h"

#include "tests/codegen/fixture.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *opcode, *signature;
} scalars[] = {
#define LT_SCALAR(opcode, signature) {opcode, signature},
#include "codegen/scalar.def"
#undef LT_SCALAR
};
enum { SCALARS = sizeof scalars / sizeof scalars[0] };

static const char letters[] = "philf"; /* in the order of enum lt_type */
static const char *const names[LT_TYPES] = {"p", "h", "i", "l", "f", "q"};

static void opcodes_are_sorted_so_that_a_binary_search_finds_each(void **state)
{
    (void)state;

    for (int i = 1; i < SCALARS; i++)
        assert_true(strcmp(scalars[i - 1].opcode, scalars[i].opcode) < 0);
}

static void signatures_are_a_result_and_one_to_five_operands(void **state)
{
    (void)state;

    for (int i = 0; i < SCALARS; i++) {
        size_t length = strlen(scalars[i].signature);

        assert_in_range(length, 2, 6);
        assert_int_equal(strspn(scalars[i].signature, letters), length);
    }
}

/* A variable of each type. */
static void declare(struct lt_builder *b, lt_value of_type[LT_TYPES])
{
    for (int type = 0; type < LT_TYPES; type++)
        of_type[type] = lt_variable(b, (enum lt_type)type, names[type]);
}

static int type_of(char letter)
{
    return (int)(strchr(letters, letter) - letters);
}

static size_t operands_of(const char *signature, const lt_value of_type[LT_TYPES],
                          lt_value operands[8])
{
    size_t count = 0;

    for (const char *letter = signature + 1; *letter; letter++)
        operands[count++] = of_type[type_of(*letter)];
    return count;
}

static void every_opcode_takes_operands_of_its_signature_and_gives_its_result(void **state)
{
    struct lt_builder *b = *state;
    lt_value of_type[LT_TYPES], operands[8];

    declare(b, of_type);
    for (int i = 0; i < SCALARS; i++) {
        const char *signature = scalars[i].signature;
        size_t count = operands_of(signature, of_type, operands);
        char name[32], line[128];

        snprintf(name, sizeof name, "result%d", i);
        lt_value result = lt_op_(b, name, scalars[i].opcode, operands, count);

        assert_no_mistake(b);
        assert_int_equal(result.kind, LT_REGISTER);
        assert_int_equal(result.type, type_of(signature[0]));

        int length = snprintf(line, sizeof line, "%s %%%s", scalars[i].opcode, name);

        for (size_t j = 0; j < count; j++)
            length +=
                snprintf(line + length, sizeof line - (size_t)length, ", %%%c", signature[1 + j]);
        snprintf(line + length, sizeof line - (size_t)length, ";\n");
        assert_ends_with(written(b), line);
    }
}

static void no_opcode_takes_an_operand_of_another_type(void **state)
{
    (void)state;
    int tried = 0;

    for (int i = 0; i < SCALARS; i++)
        for (size_t at = 0; at + 1 < strlen(scalars[i].signature); at++)
            for (int type = 0; type < LT_TYPES; type++) {
                struct lt_builder *b = kernel_for(LATHE_SM_90A, false, NULL);
                lt_value of_type[LT_TYPES], operands[8];
                char cause[96];

                declare(b, of_type);

                size_t count = operands_of(scalars[i].signature, of_type, operands);

                operands[at] = of_type[type];
                lt_op_(b, "result", scalars[i].opcode, operands, count);
                snprintf(cause, sizeof cause, "%s: operand %zu has the wrong type",
                         scalars[i].opcode, at + 1);
                if (type == type_of(scalars[i].signature[1 + at])) {
                    assert_no_mistake(b);
                } else {
                    assert_mistake(b, cause);
                    tried++;
                }
                lt_builder_destroy(&b);
            }
    assert_true(tried > 4 * SCALARS);
}

static void integers_stand_for_16_32_and_64_bits_and_floats_for_floats(void **state)
{
    struct lt_builder *b = *state;

    lt_op(b, "h", "cvt.f32.f16", lt_hex(0x3c00));
    lt_op(b, "i", "mov.b32", lt_hex(0x10));
    lt_op(b, "l", "mov.b64", lt_imm(-1));
    lt_op(b, "f", "mul.f32", lt_float(1.0f), lt_float(0.5f));

    assert_no_mistake(b);
    assert_ends_with(written(b), "cvt.f32.f16 %h, 0x3c00;\n"
                                 "mov.b32 %i, 0x10;\n"
                                 "mov.b64 %l, -1;\n"
                                 "mul.f32 %f, 0f3F800000, 0f3F000000;\n");
}

static void powers_of_two_divide_by_shifts_and_masks(void **state)
{
    struct lt_builder *b = *state;
    lt_value x = lt_variable(b, LT_B32, "x");

    assert_int_equal(lt_quotient(b, "itself", x, 1).id, x.id);
    lt_quotient(b, "half", x, 2);
    lt_quotient(b, "blocks", x, 256);
    lt_quotient(b, "odd", x, 192);
    lt_remainder(b, "rest", x, 8);
    lt_remainder(b, "nothing", x, 1);
    lt_remainder(b, "odd_rest", x, 6);

    assert_no_mistake(b);
    assert_ends_with(written(b), "shr.u32 %half, %x, 1;\n"
                                 "shr.u32 %blocks, %x, 8;\n"
                                 "div.u32 %odd, %x, 192;\n"
                                 "and.b32 %rest, %x, 7;\n"
                                 "and.b32 %nothing, %x, 0;\n"
                                 "rem.u32 %odd_rest, %x, 6;\n");
}

static void an_integer_is_no_float(void **state)
{
    struct lt_builder *b = *state;

    lt_op(b, "f", "mul.f32", lt_imm(1), lt_float(0.5f));

    assert_mistake(b, "mul.f32: operand 1 has the wrong type");
}

static void a_float_is_no_integer(void **state)
{
    struct lt_builder *b = *state;

    lt_op(b, "i", "add.u32", lt_imm(1), lt_float(0.5f));

    assert_mistake(b, "add.u32: operand 2 has the wrong type");
}

static void an_integer_is_no_predicate(void **state)
{
    struct lt_builder *b = *state;

    lt_op(b, "i", "selp.b32", lt_imm(1), lt_imm(2), lt_imm(1));

    assert_mistake(b, "selp.b32: operand 3 has the wrong type");
}

static void an_opcode_that_is_not_in_the_table_is_a_mistake(void **state)
{
    (void)state;
    static const char *const unknown[] = {"",    "add",      "add.u33", "aaa",
                                          "zzz", "xor.b32 ", "ADD.U32"};

    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        struct lt_builder *b = kernel_for(LATHE_SM_90A, false, NULL);
        char cause[64];

        lt_value result = lt_op(b, "x", unknown[i], lt_imm(1), lt_imm(2));

        assert_int_equal(result.kind, LT_NOTHING);
        snprintf(cause, sizeof cause, "%s is not in scalar.def", unknown[i]);
        assert_mistake(b, cause);
        lt_builder_destroy(&b);
    }
}

static void too_few_operands_are_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    lt_op(b, "x", "add.u32", lt_imm(1));

    assert_mistake(b, "add.u32 takes 2 operands, not 1");
}

static void too_many_operands_are_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    lt_set(b, lt_variable(b, LT_B32, "x"), "mov.u32", lt_imm(1), lt_imm(2));

    assert_mistake(b, "mov.u32 takes 1 operands, not 2");
}

static void a_scalar_operand_has_no_offset(void **state)
{
    struct lt_builder *b = *state;

    lt_op(b, "x", "add.u32", lt_at(lt_variable(b, LT_B32, "y"), 8), lt_imm(1));

    assert_mistake(b, "add.u32: operand 1 has the wrong type");
}

static void a_scalar_operand_is_not_negated(void **state)
{
    struct lt_builder *b = *state;
    lt_value p = lt_variable(b, LT_PRED, "p");

    lt_op(b, "q", "and.pred", p, lt_not(p));

    assert_mistake(b, "and.pred: operand 2 has the wrong type");
}

static void nothing_is_no_scalar_operand(void **state)
{
    struct lt_builder *b = *state;

    lt_op(b, "x", "add.u32", lt_imm(1), (lt_value){0});

    assert_mistake(b, "add.u32: operand 2 has the wrong type");
}

static void special_registers_are_operands_of_32_bits(void **state)
{
    struct lt_builder *b = *state;

    lt_op(b, "thread", "mov.u32", lt_special("%tid.x"));

    assert_no_mistake(b);
    assert_ends_with(written(b), "mov.u32 %thread, %tid.x;\n");
}

static void an_operation_that_was_refused_writes_nothing(void **state)
{
    struct lt_builder *b = *state;
    size_t before = strlen(written(b));

    lt_op(b, "x", "add.u32", lt_imm(1));

    assert_int_equal(strlen(written(b)), before);
}

#define in_kernel(test) cmocka_unit_test_setup_teardown(test, open_kernel, close_kernel)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opcodes_are_sorted_so_that_a_binary_search_finds_each),
        cmocka_unit_test(signatures_are_a_result_and_one_to_five_operands),
        in_kernel(every_opcode_takes_operands_of_its_signature_and_gives_its_result),
        cmocka_unit_test(no_opcode_takes_an_operand_of_another_type),
        in_kernel(integers_stand_for_16_32_and_64_bits_and_floats_for_floats),
        in_kernel(powers_of_two_divide_by_shifts_and_masks),
        in_kernel(an_integer_is_no_float),
        in_kernel(a_float_is_no_integer),
        in_kernel(an_integer_is_no_predicate),
        cmocka_unit_test(an_opcode_that_is_not_in_the_table_is_a_mistake),
        in_kernel(too_few_operands_are_a_mistake),
        in_kernel(too_many_operands_are_a_mistake),
        in_kernel(a_scalar_operand_has_no_offset),
        in_kernel(a_scalar_operand_is_not_negated),
        in_kernel(nothing_is_no_scalar_operand),
        in_kernel(special_registers_are_operands_of_32_bits),
        in_kernel(an_operation_that_was_refused_writes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
