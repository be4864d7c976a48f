/* Modules and functions: heads, directives, scopes, labels, tables, aliases, debug information. */
#include "tests/emulator/ptx_support.h"

#include <string.h>

static const struct emu_function *find(const struct emu_module *module, const char *name)
{
    int index = emu_function_find(module, name);

    assert_true(index >= 0);
    return &module->functions[index];
}

/* ---- The first lines ---- */

static void the_first_lines_say_version_target_and_address_size(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int version, address_bits;
        const char *target;
        bool is_debug;
    } cases[] = {
        {".version 9.0\n.target sm_90a\n.address_size 64\n", 90, 64, "sm_90a", false},
        {".version 7.0 .target sm_80", 70, 64, "sm_80", false},
        {"// x\n.version 8.6\n.target sm_100f, debug, texmode_independent\n", 86, 64, "sm_100f",
         true},
        {".version 6.5\n.target texmode_unified, sm_103a\n.address_size 32", 65, 32, "sm_103a",
         false},
        {".version 10.0\n.target compute_120a", 100, 64, "compute_120a", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct emu_error error = {.line = 0};
        struct emu_module *module = emu_module_parse(cases[i].text, strlen(cases[i].text), &error);

        assert_string_equal(error.message, "");
        assert_non_null(module);
        assert_int_equal(module->version, cases[i].version);
        assert_int_equal(module->address_bits, cases[i].address_bits);
        assert_string_equal(module->target, cases[i].target);
        assert_int_equal(module->is_debug, cases[i].is_debug);
        assert_int_equal(module->function_count + module->variable_count, 0);
        emu_module_free(module);
    }
    emu_module_free(NULL);
}

static void wrong_first_lines_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "line 1: a module: expected .version, but the text ends"},
        {"\n.target sm_90\n", "line 2: a module: expected .version, not '.target'"},
        {".VERSION 9.0", "line 1: a module: expected .version, not '.VERSION'"},
        {".version 9\n", "line 1: .version: expected a number such as 9.0, not '9'"},
        {".version 9.", "line 1: .version: expected a number such as 9.0, not '9.'"},
        {".version 0.0", "line 1: .version: expected a number such as 9.0, not '0.0'"},
        {".version 9.00", "line 1: .version: expected a number such as 9.0, not '9.00'"},
        {".version 0d3ff0000000000000", "line 1: .version: expected a number such as 9.0, not "},
        {".version 9.0\n", "line 2: a module: expected .target, but the text ends"},
        {".version 9.0\n.address_size 64 .target sm_90", "line 2: a module: expected .target, not"},
        {".version 9.0\n.target debug\n", "line 2: .target names no architecture"},
        {".version 9.0\n.target sm_9x", "line 2: .target: expected an architecture"},
        {".version 9.0\n.target sm_", "line 2: .target: expected an architecture"},
        {".version 9.0\n.target sm_90b", "line 2: .target: expected an architecture"},
        {".version 9.0\n.target sm_80, sm_90", "line 2: .target: both sm_80 and sm_90"},
        {".version 9.0\n.target sm_90, map_f64_to_f32",
         "line 2: .target: expected an architecture"},
        {".version 9.0 .target sm_90\n.address_size 48", "line 2: .address_size is 32 or 64"},
        {".version 9.0 .target sm_90\n.global .u32 x; .address_size 64",
         "line 2: a module: expected a function, a variable or another directive, not"},
        {".version 9.0 .target sm_90\n{ }",
         "line 2: a module: expected a function, a variable or another directive, not '{'"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct emu_error error = {.line = 0};

        assert_null(emu_module_parse(cases[i].text, strlen(cases[i].text), &error));
        assert_memory_equal(error.message, cases[i].message, strlen(cases[i].message));
    }
    assert_null(emu_module_parse("", 0, NULL));
}

/* ---- Heads ---- */

static void directives_of_kernels_are_kept(void **state)
{
    (void)state;
    struct emu_module *module = parse_text(
        ".visible .entry a() .maxntid 128, 2 .minnctapersm 3 .maxnreg 168 .pragma \"x\"; { ret; }\n"
        ".weak .entry b .reqntid 32, 4, 2 .reqnctapercluster 2 .explicitcluster { }\n"
        ".entry c() .reqntid 8 .reqnctapercluster 4, 1, 1 .blocksareclusters .maxclusterrank 16 "
        "{}");
    const struct emu_function *a = find(module, "a"), *b = find(module, "b"),
                              *c = find(module, "c");

    assert_true(a->is_entry && a->is_visible && a->has_body && !a->is_weak && !a->is_extern);
    assert_memory_equal(a->maxntid, ((uint32_t[]){128, 2, 1}), 12);
    assert_memory_equal(a->reqntid, ((uint32_t[]){0, 0, 0}), 12);
    assert_int_equal(a->minnctapersm, 3);
    assert_int_equal(a->maxnreg, 168);
    assert_int_equal(a->maxclusterrank, 0);
    assert_false(a->explicitcluster || a->blocksareclusters);
    assert_true(b->is_entry && b->is_weak && b->explicitcluster && !b->blocksareclusters);
    assert_memory_equal(b->reqntid, ((uint32_t[]){32, 4, 2}), 12);
    assert_memory_equal(b->reqnctapercluster, ((uint32_t[]){2, 1, 1}), 12);
    assert_int_equal(b->line, 2);
    assert_int_equal(b->instruction_count, 0);
    assert_true(c->blocksareclusters && !c->is_visible);
    assert_int_equal(c->maxclusterrank, 16);
    emu_module_free(module);
}

static void functions_have_returns_and_parameters_in_memory_or_registers(void **state)
{
    (void)state;
    struct emu_module *module = parse_text(
        ".func (.param .b32 r) f (.param .b64 a, .param .align 4 .b8 b[12])\n"
        "{ ld.param.b64 _, [a]; st.param.b32 [r+0], 5; ret; }\n"
        ".func (.reg .b32 r) g (.reg .b32 a, .reg .pred p) { mov.b32 r, a; ret; }\n"
        ".func .attribute(.unified(1, 2)) h .noreturn { trap; }\n"
        ".extern .func (.param .b32 _) vprintf (.param .b64 _, .param .b64 _) .abi_preserve 8;");
    const struct emu_function *f = find(module, "f"), *g = find(module, "g"),
                              *h = find(module, "h"), *v = find(module, "vprintf");

    assert_int_equal(f->return_count, 1);
    assert_int_equal(f->param_count, 2);
    assert_int_equal(f->params[1].bytes, 12);
    assert_int_equal(f->return_registers[0], -1);
    assert_int_equal(f->instructions[0].operands[1].items[0].kind, EMU_OPERAND_PARAM);
    assert_int_equal(f->instructions[0].operands[1].items[0].index, 0);
    assert_int_equal(f->instructions[1].operands[0].items[0].kind, EMU_OPERAND_RETURN);
    assert_int_equal(f->instructions[1].operands[0].items[0].index, 0);
    assert_int_equal(g->params[0].space, EMU_SPACE_NONE);
    assert_int_equal(g->return_registers[0], 0);
    assert_int_equal(g->param_registers[0], 1);
    assert_int_equal(g->param_registers[1], 2);
    assert_int_equal(g->registers[2].type, EMU_PRED);
    assert_int_equal(g->instructions[0].operands[0].reg, 0);
    assert_int_equal(g->instructions[0].operands[1].reg, 1);
    assert_true(h->is_noreturn && !g->is_noreturn && !h->is_entry);
    assert_true(v->is_extern && !v->has_body);
    assert_string_equal(v->params[1].name, "_");
    emu_module_free(module);
}

static void declarations_and_definition_are_one_function(void **state)
{
    (void)state;
    struct emu_module *module =
        parse_text(".func (.param .b32 r) f (.param .b32 x) .noreturn;\n"
                   ".entry k() { .param .b32 a; call (a), f, (a); .extern .func g; call g; ret; }\n"
                   ".visible .func (.param .b32 r) f (.param .b32 y) { ret; }\n"
                   ".func (.param .b32 r) f (.param .b32 x);");
    const struct emu_function *f = find(module, "f");

    assert_int_equal(module->function_count, 3);
    assert_int_equal(emu_function_find(module, "f"), 0);
    assert_true(f->has_body && f->is_visible && f->is_noreturn);
    assert_string_equal(f->params[0].name, "y");
    assert_int_equal(f->line, 3);
    assert_int_equal(find(module, "k")->instructions[0].operands[1].index, 0);
    assert_true(find(module, "g")->is_extern);
    assert_int_equal(emu_function_find(module, "h"), -1);
    emu_module_free(module);
}

static void a_function_may_call_itself(void **state)
{
    (void)state;
    struct emu_module *module =
        parse_text(".func f() { .reg .pred p; @p call f; @!p call f, (); ret; }");
    const struct emu_function *f = find(module, "f");

    assert_int_equal(f->instructions[0].operands[1].kind, EMU_OPERAND_FUNCTION);
    assert_int_equal(f->instructions[0].operands[1].index, 0);
    assert_int_equal(f->instructions[0].guard, 0);
    assert_false(f->instructions[0].guard_negated);
    assert_true(f->instructions[1].guard_negated);
    assert_int_equal(f->instructions[2].guard, -1);
    emu_module_free(module);
}

/* ---- Labels ---- */

static int target_of(const struct emu_function *function, int instruction)
{
    const struct emu_operand *target = &function->instructions[instruction].operands[0];

    assert_int_equal(target->kind, EMU_OPERAND_LABEL);
    return target->index;
}

static void a_label_is_the_instruction_behind_it(void **state)
{
    (void)state;
    struct emu_module *module = parse_text(
        ".entry k() { .reg .pred p;\n first: second: @p bra third; bra.uni first; bra end;\n"
        "third: bra second; end: }");
    const struct emu_function *k = find(module, "k");

    assert_int_equal(k->instruction_count, 4);
    assert_int_equal(target_of(k, 0), 3);
    assert_int_equal(target_of(k, 1), 0);
    assert_int_equal(target_of(k, 2), 4);
    assert_int_equal(target_of(k, 3), 0);
    assert_string_equal(k->labels[0], "second");
    assert_null(k->labels[1]);
    assert_string_equal(k->labels[3], "third");
    assert_string_equal(k->labels[4], "end");
    assert_int_equal(k->instructions[0].line, 2);
    assert_int_equal(k->instructions[3].line, 3);
    emu_module_free(module);
}

static void the_innermost_label_of_a_name_is_meant(void **state)
{
    (void)state;
    struct emu_module *module = parse_text(".global .u32 a; .entry k() { bra a; { bra a; { bra a; "
                                           "bra b; } a: bra a; } ret; a: b: bra a; }"
                                           ".entry l() { bra a; a: }");
    const struct emu_function *k = find(module, "k"), *l = find(module, "l");

    assert_int_equal(target_of(k, 0), 6);
    assert_int_equal(target_of(k, 1), 4);
    assert_int_equal(target_of(k, 2), 4);
    assert_int_equal(target_of(k, 3), 6);
    assert_int_equal(target_of(k, 4), 4);
    assert_int_equal(target_of(k, 6), 6);
    assert_int_equal(target_of(l, 0), 1);
    emu_module_free(module);
}

static void braces_have_registers_and_variables_of_their_own(void **state)
{
    (void)state;
    struct emu_module *module = parse_text(
        ".entry k() { .reg .b32 x; mov.b32 x, 1; { .reg .b64 x; mov.b64 x, 2; } mov.b32 x, 3;\n"
        "{ .reg .f32 x, r<4>; mov.f32 r1, r1; { .reg .b16 r<4>; mov.b16 r1, 0; } mov.f32 r1, x; } "
        "ret; }");
    const struct emu_function *k = find(module, "k");
    const enum emu_type types[] = {EMU_B32, EMU_B64, EMU_B32, EMU_F32, EMU_B16, EMU_F32};

    for (int i = 0; i < 6; i++)
        assert_int_equal(k->registers[k->instructions[i].operands[0].reg].type, types[i]);
    assert_int_equal(k->instructions[3].operands[0].reg, k->instructions[5].operands[0].reg);
    emu_module_free(module);
}

/* ---- Tables ---- */

static void tables_have_labels_functions_or_parameters(void **state)
{
    (void)state;
    struct emu_module *module = parse_text(
        ".func f(); .func g();\n.entry k() { .reg .b32 r; .reg .b64 d; .param .b32 x, y;\n"
        "jumps: .branchtargets one, two, one; brx.idx r, jumps; one: ret; two:\n"
        "calls: .calltargets g, f; call d, (), calls; call d, calls;\n"
        "shape : .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]) "
        ".noreturn;\n"
        "call (x), d, (y, y), shape; none: .callprototype _; call d, none; }");
    const struct emu_function *k = find(module, "k");
    const struct emu_table *tables = k->tables;

    assert_int_equal(k->table_count, 4);
    assert_int_equal(tables[0].kind, EMU_BRANCH_TARGETS);
    assert_string_equal(tables[0].name, "jumps");
    assert_int_equal(tables[0].target_count, 3);
    assert_memory_equal(tables[0].targets, ((int[]){1, 2, 1}), 3 * sizeof(int));
    assert_int_equal(k->instructions[0].operands[1].kind, EMU_OPERAND_TABLE);
    assert_int_equal(k->instructions[0].operands[1].index, 0);
    assert_int_equal(tables[1].kind, EMU_CALL_TARGETS);
    assert_memory_equal(tables[1].targets, ((int[]){1, 0}), 2 * sizeof(int));
    for (int i = 2; i < 6; i++) {
        const struct emu_instruction *call = &k->instructions[i];
        const int returns[] = {0, 0, 1, 0}, arguments[] = {0, 0, 2, 0}, table[] = {1, 1, 2, 3};

        assert_int_equal(call->operand_count, 4);
        assert_int_equal(call->operands[0].kind, EMU_OPERAND_LIST);
        assert_int_equal(call->operands[0].item_count, returns[i - 2]);
        assert_int_equal(call->operands[1].kind, EMU_OPERAND_REGISTER);
        assert_int_equal(call->operands[2].kind, EMU_OPERAND_LIST);
        assert_int_equal(call->operands[2].item_count, arguments[i - 2]);
        assert_int_equal(call->operands[3].kind, EMU_OPERAND_TABLE);
        assert_int_equal(call->operands[3].index, table[i - 2]);
    }
    assert_int_equal(tables[2].kind, EMU_CALL_PROTOTYPE);
    assert_int_equal(tables[2].return_count, 1);
    assert_int_equal(tables[2].param_count, 2);
    assert_int_equal(tables[2].params[1].bytes, 16);
    assert_int_equal(tables[3].return_count + tables[3].param_count, 0);
    emu_module_free(module);
}

static void an_alias_has_what_the_other_function_has(void **state)
{
    (void)state;
    struct emu_module *module = parse_text(
        ".visible .func f(.param .b32 x); .visible .func g(.param .b32 x);\n.alias f, g;\n"
        ".visible .func g(.param .b32 x) { trap; ret; }");
    const struct emu_function *f = find(module, "f"), *g = find(module, "g");

    assert_true(f->has_body);
    assert_ptr_equal(f->instructions, g->instructions);
    assert_int_equal(f->instruction_count, 2);
    assert_string_equal(f->name, "f");
    emu_module_free(module);
}

/* ---- Debug information ---- */

static void debug_information_is_left_out(void **state)
{
    (void)state;
    struct emu_module *module = parse_text(
        ".file 1 \"a.cu\"\n.file 2 \"b \\\" c.h\", 123, 456\n.pragma \"nounroll\", \"x\";\n"
        ".entry k() { .loc 1 2 3\nret; .pragma \"nounroll\"; .loc 1 4 0 ret;\n"
        ".loc 1 2 3, function_name $L__info0, inlined_at 1 2 3\n"
        ".loc 1 2 3, function_name info+12, inlined_at 1 2 3\nret; $L__end: }\n"
        ".section .debug_str { $L__info0: .b8 95, 90\n.b8 -1\n.b8 0 }\n"
        ".section .debug_info\n{\n.b32 .debug_abbrev\n.b64 $L__end\n.b32 $L__end-$L__info0\n"
        ".b32 .debug_line+4\n}\n.section .debug_macinfo { }\n.file 3 \"last\"");

    assert_int_equal(module->function_count, 1);
    assert_int_equal(module->variable_count, 0);
    assert_int_equal(module->functions[0].instruction_count, 3);
    assert_int_equal(module->functions[0].instructions[0].line, 5);
    assert_int_equal(module->functions[0].instructions[1].line, 5);
    assert_int_equal(module->functions[0].instructions[2].line, 8);
    emu_module_free(module);
}

/* ---- Refusals ---- */

static void wrong_functions_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"\n.entry k() {", "expected a statement or '}', but the text ends"},
        {"\n.entry k() { ret;", "expected a statement or '}', but the text ends"},
        {"\n.entry k() { { ret; }", "expected a statement or '}', but the text ends"},
        {"\n.entry k() { ret; } }", "expected a function, a variable"},
        {"\n.entry k() .maxntid { }", "maxntid: expected an integer, not '{'"},
        {"\n.entry k() .maxntid 0 { }", "maxntid: 0 is not from 1 to 4294967295"},
        {"\n.entry k() .maxntid 1,1,1,1 { }", "k: expected '"},
        {"\n.entry k() .maxntid 32, .minnctapersm 1 { }", "expected an integer"},
        {"\n.entry k() .maxntid 32*2 { }", "k: expected '"},
        {"\n.entry k() .maxnctapersm 2 { }", ".minnctapersm"},
        {"\n.entry k() .foo 3 { }", "k: expected a directive of kernels, not '.foo'"},
        {"\n.func k() .maxnreg 32 { }", "k: expected a directive of functions, not '.maxnreg'"},
        {"\n.entry k() .noreturn { }", "k: expected a directive of kernels, not '.noreturn'"},
        {"\n.entry (.param .b32 r) k() { }", ".entry: expected a name, not '('"},
        {"\n.func f() { } .func f() { }", "'f' has a body already, in line 2"},
        {"\n.func f(.param .b32 a); .func f() { }", "'f' has other parameters in line 2"},
        {"\n.func f(.param .b32 a); .func f(.param .f32 a) { }", "has other parameters"},
        {"\n.func f(.param .b8 a[4]); .func f(.param .b8 a[5]) { }", "has other parameters"},
        {"\n.func (.param .b32 a) f(); .func f() { }", "has other parameters"},
        {"\n.func f(); .entry f() { }", "has other parameters"},
        {"\n.extern .func f() { }", "f: .extern, but with a body"},
        {"\n.global .u32 f; .func f() { }", "'f' is declared already, in line 2"},
        {"\n.common .func f();", ".common: expected a variable"},
        {"\n.entry k() { .func f(); }", "expected a statement, not '.func'"},
        {"\n.entry k() { .extern .func f() { } }", "expected ';', not '{'"},
        {"\n.entry k() { bra a; }", "'a' is not declared"},
        {"\n.entry k() { bra a; { a: } }", "'a' is not declared"},
        {"\n.entry k() { bra k; }", "'k' of line 2 is no label"},
        {"\n.entry k() { .reg .b32 r; bra r; }", "'r' of line 2 is no label"},
        {"\n.entry k() { a: a: bra a; }", "'a' is declared already, in line 2"},
        {"\n.entry k() { .reg .b32 r<3>; r0: bra r0; }", "'r0' is declared already, in line 2"},
        {"\n.entry k() { t: .branchtargets a; a: ret; t: }", "'t' is declared already"},
        {"\n.entry k() { t: .branchtargets a, ; a: }", "a table of targets: expected a name"},
        {"\n.entry k() { t: .branchtargets a; }", "'a' is not declared"},
        {"\n.entry k() { t: .calltargets g; }", "'g' is not declared"},
        {"\n.global .u32 g; .entry k() { t: .calltargets g; }", "'g' is no function"},
        {"\n.entry k() { t: .callprototype (.param .b32 _) (.param .b32 _); }",
         "expected _ in place of the name"},
        {"\n.entry k() { .reg .b32 r; brx.idx r, t; a: t: .branchtargets a; }",
         "'t' is not declared"},
        {"\n.func f(); .func g();\n.alias f, g;", ".alias f, g: the first"},
        {"\n.func f() { } .func g() { }\n.alias f, g;", ".alias f, g: the first"},
        {"\n.func f(); .entry g() { }\n.alias f, g;", ".alias f, g: the first"},
        {"\n.func f(); .func g(.param .b32 a) { }\n.alias f, g;", "other parameters than 'g'"},
        {"\n.func f();\n.alias f, g;", "'g' is not declared; the nearest is 'f' of line 2"},
        {"\n.func f(); .global .u32 g;\n.alias f, g;", "'g' is no function"},
        {"\n.file \"x\"", ".file: expected an integer"},
        {"\n.file 1", ".file: expected a string"},
        {"\n.file 1 \"x\", 2", ".file: expected ','"},
        {"\n.pragma nounroll;", ".pragma: expected a string"},
        {"\n.section .debug { ( }", ".section: expected data or '}', not '('"},
        {"\n.section .debug { .b8 1", ".section: expected data or '}', but the text ends"},
        {"\n.entry k() { .loc 1 2; }", ".loc: expected an integer"},
        {"\n.entry k() { .loc 1 2 3, other x\n }", ".loc: expected function_name or inlined_at"},
        {"\n.entry k() { .section .debug_str { } }", "expected a statement, not '.section'"},
        {"\n.entry k() { ; }", "expected a statement or '}', not ';'"},
        {"\n.entry k() { 5; }", "expected a statement or '}', not '5'"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *text = cases[i].text;
        int line = strstr(text, "\n.alias") ? 3 : 2;

        expect_refusal(text, line, cases[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_lines_say_version_target_and_address_size),
        cmocka_unit_test(wrong_first_lines_are_refused),
        cmocka_unit_test(directives_of_kernels_are_kept),
        cmocka_unit_test(functions_have_returns_and_parameters_in_memory_or_registers),
        cmocka_unit_test(declarations_and_definition_are_one_function),
        cmocka_unit_test(a_function_may_call_itself),
        cmocka_unit_test(a_label_is_the_instruction_behind_it),
        cmocka_unit_test(the_innermost_label_of_a_name_is_meant),
        cmocka_unit_test(braces_have_registers_and_variables_of_their_own),
        cmocka_unit_test(tables_have_labels_functions_or_parameters),
        cmocka_unit_test(an_alias_has_what_the_other_function_has),
        cmocka_unit_test(debug_information_is_left_out),
        cmocka_unit_test(wrong_functions_are_refused),
    };

    return cmocka_run_group_tests_name("emulator functions", tests, NULL, NULL);
}
