/* Variables, initialisers, parameters and registers. */
#include "tests/emulator/ptx_support.h"

#include <string.h>

static const struct emu_variable *find(const struct emu_module *module, const char *name)
{
    int index = emu_variable_find(module, name);

    assert_true(index >= 0);
    return &module->variables[index];
}

static void variables_have_space_type_size_and_alignment(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum emu_space space;
        enum emu_type type;
        int vector;
        uint64_t count, bytes;
        uint32_t align;
    } cases[] = {
        {".global .u32 q;", EMU_SPACE_GLOBAL, EMU_U32, 1, 1, 4, 4},
        {".const .f64 q;", EMU_SPACE_CONST, EMU_F64, 1, 1, 8, 8},
        {".shared .b8 q[40];", EMU_SPACE_SHARED, EMU_B8, 1, 40, 40, 1},
        {".shared .align 1024 .b8 q[40];", EMU_SPACE_SHARED, EMU_B8, 1, 40, 40, 1024},
        {".extern .shared .align 16 .b8 q[];", EMU_SPACE_SHARED, EMU_B8, 1, 0, 0, 16},
        {".extern .shared .b8 q[0];", EMU_SPACE_SHARED, EMU_B8, 1, 0, 0, 1},
        {".global .v4 .f32 q;", EMU_SPACE_GLOBAL, EMU_F32, 4, 1, 16, 16},
        {".global .v2 .u16 q[3];", EMU_SPACE_GLOBAL, EMU_U16, 2, 3, 12, 4},
        {".global .s16 q[4][2][3];", EMU_SPACE_GLOBAL, EMU_S16, 1, 24, 48, 2},
        {".global .b128 q[2];", EMU_SPACE_GLOBAL, EMU_B128, 1, 2, 32, 16},
        {".global .f16x2 q;", EMU_SPACE_GLOBAL, EMU_F16X2, 1, 1, 4, 4},
        {".global .texref q;", EMU_SPACE_GLOBAL, EMU_TEXREF, 1, 1, 8, 8},
        {".global .b8 q[0x10];", EMU_SPACE_GLOBAL, EMU_B8, 1, 16, 16, 1},
        {".global .attribute(.managed) .align 4 .u32 q;", EMU_SPACE_GLOBAL, EMU_U32, 1, 1, 4, 4},
        {".global .attribute(.unified(19, 95)) .u32 q;", EMU_SPACE_GLOBAL, EMU_U32, 1, 1, 4, 4},
        {".global .b8 q[140737488355328];", EMU_SPACE_GLOBAL, EMU_B8, 1, 1ull << 47, 1ull << 47, 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct emu_module *module = parse_text(cases[i].text);
        const struct emu_variable *q = find(module, "q");

        assert_int_equal(module->variable_count, 1);
        assert_string_equal(q->name, "q");
        assert_int_equal(q->line, 1);
        assert_int_equal(q->space, cases[i].space);
        assert_int_equal(q->type, cases[i].type);
        assert_int_equal(q->vector, cases[i].vector);
        assert_true(q->count == cases[i].count);
        assert_true(q->bytes == cases[i].bytes);
        assert_int_equal(q->align, cases[i].align);
        assert_null(q->data);
        assert_false(q->is_inner);
        emu_module_free(module);
    }
}

static void one_declaration_has_several_names(void **state)
{
    (void)state;
    struct emu_module *module =
        parse_text(".visible .global .u32 a, b[2] = {1, 2},\n c = 3;\n.shared .u64 x<3>, y;");

    assert_int_equal(module->variable_count, 7);
    assert_int_equal(find(module, "b")->bytes, 8);
    assert_int_equal(find(module, "c")->data[0], 3);
    assert_int_equal(find(module, "c")->line, 2);
    assert_true(find(module, "c")->is_visible);
    assert_int_equal(find(module, "x2")->bytes, 8);
    assert_int_equal(emu_variable_find(module, "x3"), -1);
    assert_int_equal(emu_variable_find(module, "x"), -1);
    emu_module_free(module);
}

static void linkage_is_kept(void **state)
{
    (void)state;
    struct emu_module *module = parse_text(".extern .global .u32 e; .visible .global .u32 v; "
                                           ".weak .global .u32 w; .common .global .u32 c; "
                                           ".global .attribute(.managed) .u32 m;");

    assert_true(find(module, "e")->is_extern && !find(module, "e")->is_visible);
    assert_true(find(module, "v")->is_visible && !find(module, "v")->is_extern);
    assert_true(find(module, "w")->is_weak);
    assert_true(find(module, "c")->is_common);
    assert_true(find(module, "m")->is_managed && !find(module, "c")->is_managed);
    emu_module_free(module);
}

static void a_definition_takes_the_place_of_an_extern_declaration(void **state)
{
    (void)state;
    struct emu_module *module =
        parse_text(".extern .global .align 16 .u32 q[]; .global .u64 r = q; "
                   ".visible .global .u32 q[3] = {7}; "
                   ".extern .global .u32 q[3];");

    assert_int_equal(module->variable_count, 2);
    assert_int_equal(find(module, "r")->relocations[0].variable, emu_variable_find(module, "q"));
    assert_false(find(module, "q")->is_extern);
    assert_int_equal(find(module, "q")->bytes, 12);
    assert_int_equal(find(module, "q")->align, 16);
    assert_int_equal(find(module, "q")->data[0], 7);
    emu_module_free(module);

    module = parse_text(".extern .shared .b8 s[]; .extern .shared .align 128 .b8 s[];");
    assert_int_equal(module->variable_count, 1);
    assert_int_equal(find(module, "s")->align, 128);
    emu_module_free(module);
}

static void initialisers_fill_arrays_in_order(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t words[8];
        int count;
    } cases[] = {
        {".global .u32 q = 5;", {5}, 1},
        {".global .u32 q[3] = {1, 2};", {1, 2, 0}, 3},
        {".global .u32 q[] = {1, 2, 3};", {1, 2, 3}, 3},
        {".global .u32 q[2] = {};", {0, 0}, 2},
        /* no gaps: so ptxas has it, and an H200 */
        {".global .u32 q[2][2] = {{1}, {3, 4}};", {1, 3, 4, 0}, 4},
        {".global .u32 q[][2] = {{1, 2}, {3}, {5, 6}};", {1, 2, 3, 5, 6, 0}, 6},
        {".global .u32 q[2][2][2] = {{{1}, {2, 3}}, {{}, {4}}};", {1, 2, 3, 4, 0, 0, 0, 0}, 8},
        {".global .v4 .u32 q = {1, 2, 3, 4};", {1, 2, 3, 4}, 4},
        {".global .v2 .u32 q[2] = {{1, 2}};", {1, 2, 0, 0}, 4},
        {".global .v2 .u32 q[] = {{1, 2}, {3, 4}, {5, 6}};", {1, 2, 3, 4, 5, 6}, 6},
        {".global .u16 q[4] = {1, 2, 3, 0xffff};", {0x20001, 0xffff0003}, 2},
        {".global .u64 q[1] = {0x123456789abcdef0};", {0x9abcdef0, 0x12345678}, 2},
        {".global .b128 q[1] = {-1};", {0xffffffff, 0xffffffff, 0, 0}, 4},
        {".const .f32 q[2] = {1.5, 0fbf800000};", {0x3fc00000, 0xbf800000}, 2},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct emu_module *module = parse_text(cases[i].text);
        const struct emu_variable *q = find(module, "q");

        assert_int_equal(q->bytes, 4 * cases[i].count);
        assert_int_equal(q->count * (uint64_t)(q->vector * emu_type_bytes(q->type)), q->bytes);
        assert_memory_equal(q->data, cases[i].words, (size_t)q->bytes);
        assert_int_equal(q->relocation_count, 0);
        emu_module_free(module);
    }
}

static void addresses_in_initialisers_are_relocations(void **state)
{
    (void)state;
    struct emu_module *module =
        parse_text(".global .b8 g[64]; .const .u32 c; .func f() { ret; }\n"
                   ".global .u64 q[6] = {g, g+4*2, generic(g)+-8, 7, generic(c), f};\n"
                   ".global .u32 s = g+2;\n"
                   ".global .u8 m[5] = {0xff(g), 0xff00(g+4), 1, 0XFF00000000000000(generic(c)), "
                   "0xff0000(generic(f)+8)};");
    static const struct {
        size_t at;
        int bytes, shift;
        char of;
        int64_t offset;
        bool generic;
    } wanted[] = {
        {0, 8, -1, 'g', 0, false}, {8, 8, -1, 'g', 8, false},  {16, 8, -1, 'g', -8, true},
        {32, 8, -1, 'c', 0, true}, {40, 8, -1, 'f', 0, false}, {0, 4, -1, 'g', 2, false},
        {0, 1, 0, 'g', 0, false},  {1, 1, 8, 'g', 4, false},   {3, 1, 56, 'c', 0, true},
        {4, 1, 16, 'f', 8, true},
    };
    const char *const names[] = {"q", "s", "m"};
    const int counts[] = {5, 1, 4};
    size_t next = 0;

    for (int v = 0; v < 3; v++) {
        const struct emu_variable *variable = find(module, names[v]);

        assert_int_equal(variable->relocation_count, counts[v]);
        for (int i = 0; i < counts[v]; i++, next++) {
            const struct emu_relocation *relocation = &variable->relocations[i];

            assert_int_equal(relocation->at, wanted[next].at);
            assert_int_equal(relocation->bytes, wanted[next].bytes);
            assert_int_equal(relocation->shift, wanted[next].shift);
            assert_int_equal(relocation->offset, wanted[next].offset);
            assert_int_equal(relocation->generic, wanted[next].generic);
            assert_int_equal(relocation->function,
                             wanted[next].of == 'f' ? emu_function_find(module, "f") : -1);
            assert_int_equal(relocation->variable, wanted[next].of == 'f' ? -1
                                                   : wanted[next].of == 'g'
                                                       ? emu_variable_find(module, "g")
                                                       : emu_variable_find(module, "c"));
        }
    }
    assert_int_equal(find(module, "q")->data[24], 7);
    assert_int_equal(find(module, "m")->data[2], 1);
    emu_module_free(module);
}

static void registers_take_slots_when_they_are_named(void **state)
{
    (void)state;
    struct emu_module *module = parse_text(
        ".entry k() { .reg .b32 a, r<100>; .reg .v4 .f32 v; .reg .b128 q; .reg .v2 .u64 w<2>; "
        ".reg .pred z; .reg .f16x2 h; mov.u32 r99, r7; mov.u32 r7, a; mov.b64 w1.x, w1.y; ret; }");
    static const struct {
        const char *name;
        enum emu_type type;
        int vector, slot;
    } wanted[] = {
        {"a", EMU_B32, 1, 0},   {"v", EMU_F32, 4, 1},   {"q", EMU_B128, 1, 5},
        {"z", EMU_PRED, 1, 7},  {"h", EMU_F16X2, 1, 8}, {"r99", EMU_B32, 1, 9},
        {"r7", EMU_B32, 1, 10}, {"w1", EMU_U64, 2, 11},
    };
    const struct emu_function *k = &module->functions[0];

    assert_int_equal(k->register_count, 8);
    assert_int_equal(k->slot_count, 13);
    for (int i = 0; i < 8; i++) {
        assert_string_equal(k->registers[i].name, wanted[i].name);
        assert_int_equal(k->registers[i].type, wanted[i].type);
        assert_int_equal(k->registers[i].vector, wanted[i].vector);
        assert_int_equal(k->registers[i].slot, wanted[i].slot);
    }
    assert_int_equal(k->instructions[0].operands[0].reg, 5);
    assert_int_equal(k->instructions[0].operands[1].reg, 6);
    assert_int_equal(k->instructions[1].operands[0].reg, 6);
    emu_module_free(module);
}

static void ranges_of_names_may_look_alike(void **state)
{
    (void)state;
    struct emu_module *module = parse_text(
        ".entry k() { .reg .b32 r<10>; .reg .b64 r1<3>; mov.b32 r1, r9; mov.b64 r10, r12; "
        "{ .reg .f32 r1<1>; mov.f32 r10, r10; } ret; }");
    const struct emu_function *k = &module->functions[0];

    assert_int_equal(k->registers[k->instructions[0].operands[0].reg].type, EMU_B32);
    assert_int_equal(k->registers[k->instructions[1].operands[0].reg].type, EMU_B64);
    assert_int_equal(k->registers[k->instructions[2].operands[0].reg].type, EMU_F32);
    assert_string_equal(k->registers[k->instructions[2].operands[0].reg].name, "r10");
    emu_module_free(module);
}

static void variables_of_a_body_are_its_locals_or_hidden_in_the_module(void **state)
{
    (void)state;
    struct emu_module *module = parse_text(
        ".global .u32 g; .entry k() { .local .align 16 .b8 depot[64]; .shared .f32 tile[4][4];\n"
        ".param .align 8 .b8 out[16]; .global .u32 g = 9; .const .u32 c[2] = {1, 2};\n"
        "{ .local .v4 .f32 depot[3]; .param .b32 x<2>; } ret; }");
    const struct emu_function *k = &module->functions[0];
    static const struct {
        const char *name;
        enum emu_space space;
        uint64_t bytes;
    } locals[] = {
        {"depot", EMU_SPACE_LOCAL, 64}, {"tile", EMU_SPACE_SHARED, 64},
        {"out", EMU_SPACE_PARAM, 16},   {"depot", EMU_SPACE_LOCAL, 48},
        {"x0", EMU_SPACE_PARAM, 4},     {"x1", EMU_SPACE_PARAM, 4},
    };

    assert_int_equal(k->local_count, 6);
    for (int i = 0; i < 6; i++) {
        assert_string_equal(k->locals[i].name, locals[i].name);
        assert_int_equal(k->locals[i].space, locals[i].space);
        assert_true(k->locals[i].bytes == locals[i].bytes);
        assert_false(k->locals[i].is_inner);
    }
    assert_int_equal(module->variable_count, 3);
    assert_int_equal(emu_variable_find(module, "g"), 0);
    assert_true(module->variables[1].is_inner && module->variables[2].is_inner);
    assert_int_equal(module->variables[1].data[0], 9);
    assert_int_equal(emu_variable_find(module, "c"), -1);
    emu_module_free(module);
}

static void parameters_are_as_declared(void **state)
{
    (void)state;
    struct emu_module *module =
        parse_text(".entry k(.param .u64 .ptr .global .align 16 a, .param .align 64 .b8 t[128],\n"
                   ".param .u64 .ptr b, .param .b8 .align 4 c[4], .param .texref d, .param .u16 "
                   ".ptr .shared e)"
                   "{ ret; }");
    static const struct {
        const char *name;
        enum emu_type type;
        uint64_t bytes;
        uint32_t align;
    } wanted[] = {
        {"a", EMU_U64, 8, 8}, {"t", EMU_B8, 128, 64},  {"b", EMU_U64, 8, 8},
        {"c", EMU_B8, 4, 4},  {"d", EMU_TEXREF, 8, 8}, {"e", EMU_U16, 2, 2},
    };
    const struct emu_function *k = &module->functions[0];

    assert_int_equal(k->param_count, 6);
    for (int i = 0; i < 6; i++) {
        assert_string_equal(k->params[i].name, wanted[i].name);
        assert_int_equal(k->params[i].space, EMU_SPACE_PARAM);
        assert_int_equal(k->params[i].type, wanted[i].type);
        assert_true(k->params[i].bytes == wanted[i].bytes);
        assert_int_equal(k->params[i].align, wanted[i].align);
        assert_int_equal(k->param_registers[i], -1);
    }
    emu_module_free(module);
}

static void wrong_declarations_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {".global .u32;", "expected a name, not ';'"},
        {".global q;", "expected a type such as .b32, not 'q'"},
        {".global .bf16 q;", "no variables of type .bf16"},
        {".global .e4m3x2 q;", "no variables of type .e4m3x2"},
        {".global .pred q;", "no variables of type .pred"},
        {".global .v8 .b32 q;", "expected a type such as .b32, not '.v8'"},
        {".global .v4 .b64 q;", "no vectors of 4 .b64"},
        {".global .b8 .align 4 q;", "expected a name, not '.align'"},
        {".global .align 3 .b8 q;", "no power of two"},
        {".global .align 0 .b8 q;", "0 is not from 1"},
        {".reg .b32 q;", ".reg outside of functions"},
        {".local .b32 q;", ".local outside of functions"},
        {".param .b32 q;", ".param outside of functions"},
        {".common .const .b32 q;", ".common is for .global"},
        {".visible .weak .global .b32 q;", "expected a function, a variable"},
        {".global .u32 q[];", "of unknown size"},
        {".global .u32 q[0];", "of unknown size"},
        {".global .u32 q[2][];", "expected an integer, not ']'"},
        {".global .u32 q[2][0];", "0 is not from 1"},
        {".global .u32 q[-1];", "expected an integer, not '-'"},
        {".global .u32 q[4294967296][4294967296];", "larger than any memory"},
        {".global .b8 q[140737488355329];", "larger than any memory"},
        {".extern .global .b8 q[][9223372036854775807][9223372036854775807];", "larger than"},
        {".global .b8 q[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1];", "16 dimensions"},
        {".global .u32 q; .global .u32 q;", "'q' is declared already, in line 1"},
        {".extern .global .u32 q; .visible .global .u64 q;", "'q' is another variable in line 1"},
        {".extern .global .u32 q; .global .u32 q;", "'q' is .extern in line 1"},
        {".func q(); .global .u32 q;", "'q' is declared already"},
        {".shared .u32 q<70000>;", "70000 is not from 0 to 65536"},
        {".global .u32 q[2] = {1, 2, 3};", "q: more than 2 values in braces"},
        {".global .u32 q[2][2] = {1, 2, 3, 4};", "expected '{', not '1'"},
        {".global .v2 .u32 q[2] = {{1, 2}, {3}};", "q: 1 values for a vector"},
        {".global .u32 q[2] = {1,};", "expected a number, not '}'"},
        {".global .u32 q = {1};", "expected a number, not '{'"},
        {".global .u32 q[2] = 1;", "expected '{', not '1'"},
        {".global .u32 q = 1.0;", "none of type .u32"},
        {".global .f32 q = 1;", "none of type .f32"},
        {".global .f64 q = 0f3f800000;", "none of type .f64"},
        {".global .f16 q = 1.0;", "none of type .f16"},
        {".global .b16 q = 1.0;", "none of type .b16"},
        {".shared .u32 q = 1;", "only .global and .const are initialised"},
        {".extern .global .u32 q = 1;", "initialised elsewhere"},
        {".global .texref q = {1};", "initialisers of .texref are not supported"},
        {".global .u64 q = q;", "'q' is not declared"},
        {".global .u64 qu = 1, r = qo;", "'qo' is not declared; the nearest is 'qu' of line 1"},
        {".shared .u32 s; .global .u64 q = s;", "addresses of .global and .const"},
        {".global .u32 g; .global .s64 q = g;", ".s64 cannot hold this address"},
        {".global .u32 g; .global .u16 q = g;", ".u16 cannot hold this address"},
        {".global .u32 g; .global .f64 q = 0xff(g);", ".f64 cannot hold this address"},
        {".global .u32 g; .global .u8 q = 0xffff(g);", "the mask 0xffff is not that of one byte"},
        {".global .u32 g; .global .u8 q = 0xff0(g);", "the mask 0xff0 is not that of one byte"},
        {".global .u32 g; .global .u8 q = 0(g);", "the mask 0x0 is not that of one byte"},
        {".global .u32 g; .global .u64 q = g-4;", "expected ';', not '-'"},
        {".global .u32 g; .global .u64 q = 4+g;", "expected a number, not 'g'"},
        {".global .u32 g; .global .u64 q = generic(g+4);", "expected ')', not '+'"},
        {".global .u32 g; .global .u64 q = g+1.0;", "an offset is an integer"},
        {".global .b8 q[1000000000] = {1};", "too large to be initialised"},
        {".global .b8 q[2][1000000000] = {{1}, {1}};", "too large to be initialised"},
        {".global .b8 q[][1000000000000] = {{1}, {1}};", "too large to be initialised"},
        {".entry k(.param .b32 a, .param .b32 a) {}", "'a' is declared already"},
        {".entry k(.param .b32 a,) {}", "expected .param, not ')'"},
        {".entry k(.reg .b32 a) {}", "expected .param, not '.reg'"},
        {".entry k(.param .v4 .b32 a) {}", "a parameter is no vector"},
        {".entry k(.param .b8 a[4][4]) {}", "more than 1 dimensions"},
        {".entry k(.param .b32 a) { .reg .b32 a; }", "'a' is declared already, in line 1"},
        {".entry k() { .reg .b32 r<4>; .reg .b32 r3; }", "'r3' is declared already"},
        {".entry k() { .reg .b32 r<4>; .reg .b64 r<4>; }", "'r' is declared already"},
        {".entry k() { .reg .b32 r[4]; }", "expected ';', not '['"},
        {".entry k() { .reg .tf32 r; }", "no registers of type .tf32"},
        {".entry k() { .reg .texref r; }", "no registers of type .texref"},
        {".entry k() { .reg .v2 .pred r; }", "no vectors of 2 .pred"},
        {".entry k() { .local .u32 q = 1; }", "only .global and .const are initialised"},
        {".entry k() { .visible .global .u32 q; }", "expected a statement"},
        {".entry k() { .shared .u32 q[]; }", "of unknown size"},
        {".global .attribute(.other) .u32 q;", "expected .managed or .unified"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_refusal(cases[i].text, 1, cases[i].words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_have_space_type_size_and_alignment),
        cmocka_unit_test(one_declaration_has_several_names),
        cmocka_unit_test(linkage_is_kept),
        cmocka_unit_test(a_definition_takes_the_place_of_an_extern_declaration),
        cmocka_unit_test(initialisers_fill_arrays_in_order),
        cmocka_unit_test(addresses_in_initialisers_are_relocations),
        cmocka_unit_test(registers_take_slots_when_they_are_named),
        cmocka_unit_test(ranges_of_names_may_look_alike),
        cmocka_unit_test(variables_of_a_body_are_its_locals_or_hidden_in_the_module),
        cmocka_unit_test(parameters_are_as_declared),
        cmocka_unit_test(wrong_declarations_are_refused),
    };

    return cmocka_run_group_tests_name("emulator declarations", tests, NULL, NULL);
}
