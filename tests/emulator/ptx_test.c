/* Instructions and operands, and whole texts: those of data/ came from
 *
 *     nvcc -ptx -arch=sm_90a control.cu     (control.sm_90a.ptx; CUDA 13.0)
 *     nvcc -ptx -arch=sm_80 memory.cu
 *     nvcc -ptx -arch=sm_90a inline_asm.cu
 *     nvcc -ptx -lineinfo -arch=sm_100a jump.cu, with the folders in .file taken out. */
#include "tests/emulator/ptx_support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- An operand as one word, to compare with ---- */

static void describe(const struct emu_module *module, const struct emu_operand *operand, char *out,
                     size_t size);

static size_t describe_items(const struct emu_module *module, const struct emu_operand *operand,
                             char *out, size_t size)
{
    size_t used = 0;

    for (int i = 0; i < operand->item_count; i++) {
        used += (size_t)snprintf(out + used, size - used, i ? " " : "");
        describe(module, &operand->items[i], out + used, size - used);
        used += strlen(out + used);
    }
    return used;
}

static void describe(const struct emu_module *module, const struct emu_operand *operand, char *out,
                     size_t size)
{
    static const char *const kinds[] = {
        [EMU_OPERAND_NONE] = "none",         [EMU_OPERAND_REGISTER] = "reg",
        [EMU_OPERAND_INTEGER] = "int",       [EMU_OPERAND_F32] = "f32",
        [EMU_OPERAND_F64] = "f64",           [EMU_OPERAND_SPECIAL] = "special",
        [EMU_OPERAND_VARIABLE] = "variable", [EMU_OPERAND_LOCAL] = "local",
        [EMU_OPERAND_PARAM] = "param",       [EMU_OPERAND_RETURN] = "return",
        [EMU_OPERAND_FUNCTION] = "function", [EMU_OPERAND_LABEL] = "label",
        [EMU_OPERAND_LIST] = "list",         [EMU_OPERAND_ADDRESS] = "address",
        [EMU_OPERAND_SINK] = "sink",         [EMU_OPERAND_BOTH] = "both",
        [EMU_OPERAND_TABLE] = "table"};
    const struct emu_function *k = &module->functions[module->function_count - 1];
    size_t used =
        (size_t)snprintf(out, size, "%s%s", operand->negated ? "!" : "", kinds[operand->kind]);

    switch (operand->kind) {
    case EMU_OPERAND_REGISTER:
        used += (size_t)snprintf(out + used, size - used, ":%s", k->registers[operand->reg].name);
        break;
    case EMU_OPERAND_INTEGER:
    case EMU_OPERAND_F32:
    case EMU_OPERAND_F64:
        used +=
            (size_t)snprintf(out + used, size - used, ":%llx", (unsigned long long)operand->bits);
        break;
    case EMU_OPERAND_LIST:
    case EMU_OPERAND_ADDRESS:
    case EMU_OPERAND_BOTH:
        used += (size_t)snprintf(out + used, size - used, "(");
        used += describe_items(module, operand, out + used, size - used);
        used += (size_t)snprintf(out + used, size - used, ")");
        break;
    default:
        if (operand->index >= 0)
            used += (size_t)snprintf(out + used, size - used, ":%d", operand->index);
    }
    if (operand->part)
        used += (size_t)snprintf(out + used, size - used, ".%c", operand->part);
    if (operand->selector)
        used += (size_t)snprintf(out + used, size - used, ".%s", operand->selector);
    if (operand->offset)
        used += (size_t)snprintf(out + used, size - used, "+%lld", (long long)operand->offset);
    if (operand->is_unified)
        snprintf(out + used, size - used, ".unified");
}

static void assert_operands(const struct emu_module *module,
                            const struct emu_instruction *instruction, const char *wanted)
{
    char text[1024] = "";
    struct emu_operand all = {.items = instruction->operands,
                              .item_count = instruction->operand_count};

    describe_items(module, &all, text, sizeof text);
    assert_string_equal(text, wanted);
}

/* ---- Instructions ---- */

static void every_form_of_operand_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *text, *operands;
    } cases[] = {
        {"ret;", ""},
        {"mov.u32 r0, r9;", "reg:r0 reg:r9"},
        {"add.s32 r0, r1, -r2;", "reg:r0 reg:r1 !reg:r2"},
        {"setp.eq.and.u32 p0|p1, r0, 1, !p2;", "both(reg:p0 reg:p1) reg:r0 int:1 !reg:p2"},
        {"elect.sync _|p2, 0xffffffff;", "both(sink reg:p2) int:ffffffff"},
        {"setp.eq.u32 p0|_, r0, 1;", "both(reg:p0 sink) reg:r0 int:1"},
        {"mov.f32 f0, 0f3f800000;", "reg:f0 f32:3f800000"},
        {"mov.f32 f0, 0d3ff0000000000000;", "reg:f0 f64:3ff0000000000000"},
        {"mov.f32 f0, -1.5;", "reg:f0 f64:bff8000000000000"},
        {"mov.f32 f0, .5;", "reg:f0 f64:3fe0000000000000"},
        {"mov.u32 r0, (1+2)*WARP_SZ;", "reg:r0 int:60"},
        {"wgmma.x p0, 1, -1, 0;", "reg:p0 int:1 int:ffffffffffffffff int:0"},
        {"mov.u32 r0, %tid.x;", "reg:r0 special:0.x"},
        {"mov.u32 r0, %tid.b;", "reg:r0 special:0.z"},
        {"mov.v4.u32 v, %tid;", "reg:v special:0"},
        {"mov.u64 d0, %clock64;", "reg:d0 special:24"},
        {"mov.u32 r0, %envreg17;", "reg:r0 special:27+17"},
        {"mov.u32 v.x, v.w;", "reg:v.x reg:v.w"},
        {"mov.u32 v.r, v.g;", "reg:v.x reg:v.y"},
        {"mov.u32 v .b, w.a;", NULL},
        {"mov.u32 v.b, v.a;", "reg:v.z reg:v.w"},
        {"vadd.s32.s32.s32 r0, r1.b0, r2.h1;", "reg:r0 reg:r1.b0 reg:r2.h1"},
        {"vadd2.s32.s32.s32 r0.h10, r1.h10, r2.h32, r3;",
         "reg:r0.h10 reg:r1.h10 reg:r2.h32 reg:r3"},
        {"vadd4.s32.s32.s32 r0.b3210, r1.b7654, -r2, r3;",
         "reg:r0.b3210 reg:r1.b7654 !reg:r2 reg:r3"},
        {"mov.b64 d0, {r0, r1};", "reg:d0 list(reg:r0 reg:r1)"},
        {"mov.b64 {_, r0}, d0;", "list(sink reg:r0) reg:d0"},
        {"mov.b64 d0, {1, %tid.y};", "reg:d0 list(int:1 special:0.y)"},
        {"mma.x {}, {r0};", "list() list(reg:r0)"},
        {"tex.2d.v4.f32.f32 {f0, f1, f2, f3}|p0, [g, {f0, f1}];",
         "both(list(reg:f0 reg:f1 reg:f2 reg:f3) reg:p0) address(variable:0 list(reg:f0 reg:f1))"},
        {"ld.global.u32 r0, [d0];", "reg:r0 address(reg:d0)"},
        {"ld.global.u32 r0, [d0+4];", "reg:r0 address(reg:d0+4)"},
        {"ld.global.u32 r0, [d0 + -4];", "reg:r0 address(reg:d0+-4)"},
        {"ld.global.u32 r0, [d0+4*2+1];", "reg:r0 address(reg:d0+9)"},
        {"ld.global.u32 r0, [d0].unified;", "reg:r0 address(reg:d0).unified"},
        {"ld.global.u32 r0, [d0].unified, d1;", "reg:r0 address(reg:d0).unified reg:d1"},
        {"ld.local.u32 r0, [16];", "reg:r0 address(int:10)"},
        {"ld.local.u32 r0, [4*2];", "reg:r0 address(int:8)"},
        {"ld.global.u32 r0, [g];", "reg:r0 address(variable:0)"},
        {"ld.global.u32 r0, [g+12];", "reg:r0 address(variable:0+12)"},
        {"ld.global.u32 r0, g[3];", "reg:r0 address(variable:0+12)"},
        {"st.global.u32 g[3], r0;", "address(variable:0+12) reg:r0"},
        {"mov.u64 d0, g;", "reg:d0 variable:0"},
        {"mov.u64 d0, g+4*2;", "reg:d0 variable:0+8"},
        {"mov.u64 d0, g[1];", "reg:d0 variable:0+4"},
        {"mapa.u32 r0, s+4, r1;", "reg:r0 variable:1+4 reg:r1"},
        {"mov.u64 d0, f;", "reg:d0 function:0"},
        {"ld.param.u64 d0, [p];", "reg:d0 address(param:0)"},
        {"ld.param.u64 d0, [p+4];", "reg:d0 address(param:0+4)"},
        {"mov.u64 d0, p;", "reg:d0 param:0"},
        {"cp.x [s], [d1, {r0, r1, r2}], [d0+8], {r3, 4}, d2;",
         "address(variable:1) address(reg:d1 list(reg:r0 reg:r1 reg:r2)) address(reg:d0+8) "
         "list(reg:r3 int:4) reg:d2"},
        {"tex.x {f0}, [d0, d1, {f0}];", "list(reg:f0) address(reg:d0 reg:d1 list(reg:f0))"},
        {"suld.x {r0}, [d0, r1];", "list(reg:r0) address(reg:d0 reg:r1)"},
        {"call f;", "list() function:0 list()"},
        {"call.uni f, ();", "list() function:0 list()"},
        {"call (), f, ();", "list() function:0 list()"},
        {"call (_), f, (5, r0, -3+1);",
         "list(sink) function:0 list(int:5 reg:r0 int:fffffffffffffffe)"},
        {"call (r0), d0, (r1);", "list(reg:r0) reg:d0 list(reg:r1)"},
        {"call d0;", "list() reg:d0 list()"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];

        snprintf(
            text, sizeof text,
            ".global .u32 g[8]; .shared .u32 s; .func f(); .entry k(.param .u64 p) { .reg .b32 "
            "r<10>; .reg .b64 d<10>; .reg .f32 f<4>; .reg .pred p<4>; .reg .v4 .b32 v; "
            ".reg .v2 .b32 w; %s }",
            cases[i].text);
        if (!cases[i].operands) {
            expect_refusal(text, 1, "w has two parts");
            continue;
        }

        struct emu_module *module = parse_text(text);

        assert_int_equal(module->functions[1].instruction_count, 1);
        assert_operands(module, &module->functions[1].instructions[0], cases[i].operands);
        emu_module_free(module);
    }
}

static void an_opcode_is_its_words(void **state)
{
    (void)state;
    struct emu_module *module =
        parse_body(".reg .b32 mov;\n"
                   "@p1 cp.async.bulk.tensor.2d.shared::cluster.mbarrier::complete_tx::bytes r0;\n"
                   "@ ! p0\nld .global /**/ .v2.f32 r0; mma.m16n8k8.1d.4x256b r1;\n"
                   "mov.u32 mov, r0; ld.global.v2.f32 r1;");
    const struct emu_function *k = &module->functions[0];
    const struct emu_instruction *copy = &k->instructions[0], *load = &k->instructions[1];
    const char *const words[] = {
        "cp", "async", "bulk", "tensor", "2d", "shared::cluster", "mbarrier::complete_tx::bytes"};

    assert_int_equal(copy->word_count, 7);
    for (int i = 0; i < 7; i++)
        assert_string_equal(copy->words[i], words[i]);
    assert_string_equal(copy->opcode,
                        "cp.async.bulk.tensor.2d.shared::cluster.mbarrier::complete_tx::bytes");
    assert_string_equal(k->registers[copy->guard].name, "p1");
    assert_false(copy->guard_negated);
    assert_int_equal(copy->line, 2);
    assert_string_equal(load->opcode, "ld.global.v2.f32");
    assert_int_equal(load->word_count, 4);
    assert_string_equal(load->words[3], "f32");
    assert_true(load->guard_negated);
    assert_string_equal(k->registers[load->guard].name, "p0");
    assert_int_equal(load->line, 4);
    assert_string_equal(k->instructions[2].words[1], "m16n8k8");
    assert_string_equal(k->instructions[2].words[3], "4x256b");
    assert_string_equal(k->registers[k->instructions[3].operands[0].reg].name, "mov");
    assert_ptr_equal(k->instructions[4].words, load->words);
    assert_int_equal(k->instructions[4].guard, -1);
    emu_module_free(module);
}

static void operands_keep_their_words(void **state)
{
    (void)state;
    struct emu_module *module =
        parse_body("cp.x {r0,\n\t r1}, [d0+4], p0|p1, 0x10U, -r3, v.x, %tid.y;");
    const struct emu_operand *operands = module->functions[0].instructions[0].operands;
    const char *const words[] = {"{r0, r1}", "[d0+4]", "p0|p1", "0x10U", "-r3", "v.x", "%tid.y"};

    for (int i = 0; i < 7; i++)
        assert_string_equal(operands[i].name, words[i]);
    assert_string_equal(operands[0].items[1].name, "r1");
    assert_string_equal(operands[1].items[0].name, "d0");
    assert_string_equal(operands[2].items[0].name, "p0");
    assert_string_equal(operands[2].items[1].name, "p1");
    emu_module_free(module);
}

static void names_of_special_registers_can_be_taken(void **state)
{
    (void)state;
    struct emu_module *module = parse_body(".reg .b32 %clock; mov.u32 %clock, %clock;");

    assert_operands(module, first_instruction(module), "reg:%clock reg:%clock");
    emu_module_free(module);
}

static void wrong_instructions_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"\nmov.u32 r0, r1", "mov.u32: expected ';', not 'ret'"},
        {"\nmov.u32 r0 r1;", "mov.u32: expected ';', not 'r1'"},
        {"\nmov.u32 r0,;", "mov.u32: expected an operand, not ';'"},
        {"\nmov.u32 , r0;", "expected an operand, not ','"},
        {"\nld. global r0;", "'.' has no meaning in PTX here"},
        {"\nmov.u32 r10, 1;", "'r10' is not declared; the nearest is"},
        {"\nmov.u32 rr, 1;", "'rr' is not declared; the nearest is"},
        {"\nmov.u32 r01, 1;", "'r01' is not declared; the nearest is"},
        {"\n.reg .b32 %counter; mov.u32 %countre, 1;",
         "'%countre' is not declared; the nearest is '%counter' of line 2"},
        {"\n.reg .b32 %temp<4>; mov.u32 %tepm3, 1;",
         "'%tepm3' is not declared; the nearest is %temp<4>"},
        {"\nmov.u32 r0, %tidx;", "'%tidx' is not declared"},
        {"\nmov.u32 later, 1; .reg .b32 later;", "'later' is not declared"},
        {"\n{ .reg .b32 in; } mov.u32 in, 1;", "'in' is not declared"},
        {"\nmov.u32 %tid.q, 1;", "%tid has no part .q"},
        {"\nmov.u32 v.q, 1;", "v has no part .q"},
        {"\nmov.u32 w.z, 1;", "w has two parts"},
        {"\nmov.u32 w.w, 1;", "w has two parts"},
        {"\nmov.u32 r0.x, 1;", "r0 has no part .x"},
        {"\nmov.u32 r0.b8, 1;", "r0 has no part .b8"},
        {"\nmov.u32 %laneid.x, 1;", "%laneid has no part .x"},
        {"\nmov.u32 r0, !5r;", "something behind it"},
        {"\nmov.u32 r0, -p;", "only registers are negated"},
        {"\nmov.u32 r0, -%tid.x;", "only registers are negated"},
        {"\nmov.b64 d0, {{r0, r1}, r2};", "expected an operand, not '{'"},
        {"\nmov.b64 d0, {[r0]};", "expected an operand, not '['"},
        {"\nmov.b64 d0, {r0, r1;", "expected '}', not ';'"},
        {"\nld.u32 r0, [[d0]];", "expected an operand, not '['"},
        {"\nld.u32 r0, [d0-4];", "write [d0+-4] for [d0-4]"},
        {"\nld.u32 r0, [d0+r1];", "expected a number, not 'r1'"},
        {"\nld.u32 r0, [4+d0];", "expected a number, not 'd0'"},
        {"\nld.u32 r0, [d0+1.5];", "an offset is an integer"},
        {"\nld.u32 r0, [1.5];", "1.5 is no address"},
        {"\nld.u32 r0, [%tid.x];", "%tid.x is no address"},
        {"\nld.u32 r0, [v.x];", "v.x is no address"},
        {"\nld.u32 r0, [k];", "k is no address"},
        {"\nld.u32 r0, [d0;", "expected ']', not ';'"},
        {"\nld.u32 r0, [];", "expected an operand, not ']'"},
        {"\n.shared .u32 s[4]; ld.u32 r0, s[r1];", "s[register] is not supported"},
        {"\n.shared .u32 s[4]; ld.u32 r0, s[1][1];", "expected ';', not '['"},
        {"\n.shared .u32 s[4]; ld.u32 r0, [s[1]];", "expected ']', not '['"},
        {"\n.shared .u32 s[4]; mov.u32 r0, s-4;", "expected ';', not '-'"},
        {"\n.shared .u32 s[4]; mov.u32 r0, s[-1];", "s has no such element"},
        {"\nx: mov.u32 r0, x;", "the label 'x' is no operand here"},
        {"\n@r0 ret;", "a guard is a register of type .pred"},
        {"\n@p ret;", "a guard is a register of type .pred"},
        {"\n@5 ret;", "a guard: expected a predicate, not '5'"},
        {"\n@p0 { ret; }", "expected an instruction, not '{'"},
        {"\n@p0 x: ret;", "expected an operand, not ':'"},
        {"\n@p0 .reg .b32 x;", "p0 has no part .reg"},
        {"\nbra;", "bra: expected a name, not ';'"},
        {"\nbra x, y; x: y:", "bra: expected ';', not ','"},
        {"\ncall;", "expected an operand, not ';'"},
        {"\ncall k;", "call: k is a kernel"},
        {"\ncall p;", "call: p is no function and no register"},
        {"\ncall nothing;", "'nothing' is not declared"},
        {"\n.extern .func f; call f ();", "expected ';', not '('"},
        {"\n.extern .func f; call () f;", "call: expected ',', not 'f'"},
        {"\n.extern .func f; call f, (), r0;", "call: r0 is no .callprototype"},
        {"\n.extern .func f; call f, (r0;", "expected ')', not ';'"},
        {"\nmov.u32 WARP_SZ, 1; .reg .b32 WARP_SZ;", ".reg: expected a name, not 'WARP_SZ'"},
        {"\n.reg .b32 _;", ".reg: expected a name, not '_'"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_body_refusal(cases[i].text, 2, cases[i].words);
}

/* ---- Whole texts ---- */

static struct emu_module *parse_file(const char *folder, const char *name)
{
    char path[1024];
    size_t length;
    struct emu_error error = {.line = 0};

    snprintf(path, sizeof path, "%s/%s", folder, name);

    char *text = read_file(path, &length);

    assert_non_null(text);

    struct emu_module *module = emu_module_parse(text, length, &error);

    free(text);
    if (!module)
        fail_msg("%s: %s", name, error.message);
    return module;
}

static void recursion_printf_and_function_pointers_are_read(void **state)
{
    (void)state;
    struct emu_module *module = parse_file(EMU_TEST_DATA, "control.sm_90a.ptx");
    const struct emu_function *control =
        &module->functions[emu_function_find(module, "_Z7controlPii5point")];
    const struct emu_variable *fixed = &module->variables[emu_variable_find(module, "fixed")];
    const struct emu_variable *format = &module->variables[emu_variable_find(module, "$str")];
    int calls = 0, indirect = 0;

    assert_int_equal(module->version, 90);
    assert_int_equal(module->function_count, 5);
    assert_int_equal(fixed->relocation_count, 2);
    assert_int_equal(fixed->relocations[1].at, 8);
    assert_int_equal(fixed->relocations[1].function, emu_function_find(module, "_Z5twicei"));
    assert_memory_equal(format->data, "%d %f\n", 7);
    assert_memory_equal(control->maxntid, ((uint32_t[]){128, 1, 1}), 12);
    assert_int_equal(control->minnctapersm, 2);
    assert_int_equal(control->table_count, 2);
    for (int i = 0; i < control->instruction_count; i++) {
        const struct emu_instruction *call = &control->instructions[i];

        if (strcmp(call->words[0], "call") != 0)
            continue;
        calls++;
        indirect += call->operand_count == 4;
        assert_int_equal(call->operands[0].items[0].kind, EMU_OPERAND_LOCAL);
    }
    assert_int_equal(calls, 5);
    assert_int_equal(indirect, 2);
    emu_module_free(module);
}

static void initialised_memory_is_read(void **state)
{
    (void)state;
    struct emu_module *module = parse_file(EMU_TEST_DATA, "memory.sm_80.ptx");
    const struct emu_variable *floats = &module->variables[emu_variable_find(module, "floats")];
    const struct emu_variable *packed = &module->variables[emu_variable_find(module, "packed")];
    const struct emu_variable *records = &module->variables[emu_variable_find(module, "records")];
    const struct emu_variable *dynamic = &module->variables[emu_variable_find(module, "dynamic")];
    const float wanted[] = {1.5f, -0.0f, 1e-40f};

    assert_memory_equal(floats->data, wanted, sizeof wanted);
    assert_int_equal(records->relocation_count, 2);
    assert_int_equal(records->relocations[1].at, 40);
    assert_int_equal(records->relocations[1].offset, 12);
    assert_true(records->relocations[1].generic);
    assert_int_equal(packed->bytes, 9);
    assert_int_equal(packed->relocation_count, 8);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(packed->relocations[i].at, i + 1);
        assert_int_equal(packed->relocations[i].shift, 8 * i);
        assert_int_equal(packed->relocations[i].variable, emu_variable_find(module, "grid"));
    }
    assert_true(module->variables[emu_variable_find(module, "managed")].is_managed);
    assert_true(dynamic->is_extern && dynamic->count == 0);
    assert_int_equal(module->functions[0].local_count, 2);
    emu_module_free(module);
}

static void inline_assembly_and_line_information_are_read(void **state)
{
    (void)state;
    struct emu_module *module = parse_file(EMU_TEST_DATA, "inline_asm.sm_90a.ptx");

    assert_int_equal(module->functions[0].local_count, 2);
    emu_module_free(module);
    module = parse_file(EMU_TEST_DATA, "jump.sm_100a.ptx");
    assert_int_equal(module->function_count, 1);
    assert_string_equal(module->target, "sm_100a");
    emu_module_free(module);
}

/* Statements that end in a semicolon and begin with a lower-case word or a guard, as Lathe writes
 * them: one on a line. */
static int count_instructions(const char *text)
{
    int count = 0;

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += strspn(line, "\n \t");
        if (line[0] == '@' || (line[0] >= 'a' && line[0] <= 'z'))
            count++;
        else if (line[0] == '\0')
            break;
    }
    return count;
}

static void every_golden_text_is_read(void **state)
{
    (void)state;
    DIR *folder = opendir(EMU_GOLDEN);
    int texts = 0;

    assert_non_null(folder);
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        const char *ending = strrchr(entry->d_name, '.');

        if (!ending || strcmp(ending, ".ptx") != 0)
            continue;

        struct emu_module *module = parse_file(EMU_GOLDEN, entry->d_name);
        char path[1024];
        size_t length;

        snprintf(path, sizeof path, "%s/%s", EMU_GOLDEN, entry->d_name);

        char *text = read_file(path, &length);

        assert_int_equal(module->function_count, 1);
        assert_true(module->functions[0].is_entry && module->functions[0].param_count > 0);
        assert_int_equal(module->functions[0].instruction_count, count_instructions(text));
        free(text);
        emu_module_free(module);
        texts++;
    }
    closedir(folder);
    assert_true(texts > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_operand_is_read),
        cmocka_unit_test(an_opcode_is_its_words),
        cmocka_unit_test(operands_keep_their_words),
        cmocka_unit_test(names_of_special_registers_can_be_taken),
        cmocka_unit_test(wrong_instructions_are_refused),
        cmocka_unit_test(recursion_printf_and_function_pointers_are_read),
        cmocka_unit_test(initialised_memory_is_read),
        cmocka_unit_test(inline_assembly_and_line_information_are_read),
        cmocka_unit_test(every_golden_text_is_read),
    };

    return cmocka_run_group_tests_name("emulator instructions", tests, NULL, NULL);
}
