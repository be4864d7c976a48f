/* The module: its first lines, its statements, and debug information, which is read and left out
 * (PTX ISA "PTX Module Directives", "Debugging Directives", "Miscellaneous Directives"). */
#include "emulator/ptx_parser.h"

#include <stdlib.h>
#include <string.h>

/* ---- .version 9.0 .target sm_90a, debug .address_size 64 ---- */

static bool parse_version(struct emu_parser *p)
{
    uint64_t version = 0;
    const char *dot;

    if (!emu_take_dotted(p, "version"))
        return emu_unexpected(p, ".version", "a module");
    /* To the lexer 9.0 is a floating-point number; what counts are its digits. */
    dot = p->token.kind == EMU_TOKEN_F64
              ? memchr(p->token.begin, '.', (size_t)(p->token.end - p->token.begin))
              : NULL;
    if (!dot || dot + 2 != p->token.end || dot - p->token.begin < 1 || dot - p->token.begin > 2)
        return emu_unexpected(p, "a number such as 9.0", ".version");
    for (const char *at = p->token.begin; at < p->token.end; at++) {
        if (at != dot)
            version = 10 * version + (uint64_t)(*at - '0');
    }
    if (version < 10)
        return emu_unexpected(p, "a number such as 9.0", ".version");
    p->module->version = (int)version;
    emu_advance(p);
    return true;
}

/* sm_90, sm_90a, sm_100f, compute_90 */
static bool is_architecture(const struct emu_token *token)
{
    static const char *const heads[] = {"sm_", "compute_"};
    size_t digits = 0;

    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        size_t head = strlen(heads[i]);

        if (token->kind != EMU_TOKEN_NAME || token->length <= head ||
            memcmp(token->text, heads[i], head) != 0)
            continue;
        for (size_t at = head; at < token->length; at++) {
            if (token->text[at] >= '0' && token->text[at] <= '9')
                digits++;
            else if (at + 1 < token->length || !strchr("af", token->text[at]))
                return false;
        }
    }
    return digits >= 2 && digits <= 3;
}

static bool parse_target_word(struct emu_parser *p)
{
    if (is_architecture(&p->token)) {
        const struct emu_name *name =
            emu_name_of(&p->names, p->token.text, p->token.length, p->token.line);

        if (!name)
            return false;
        if (p->module->target)
            return emu_fail(p->error, p->token.line, ".target: both %s and %s", p->module->target,
                            name->text);
        p->module->target = name->text;
    } else if (emu_token_is(&p->token, EMU_TOKEN_NAME, "debug")) {
        p->module->is_debug = true;
    } else if (!emu_token_is(&p->token, EMU_TOKEN_NAME, "texmode_unified") &&
               !emu_token_is(&p->token, EMU_TOKEN_NAME, "texmode_independent")) {
        return emu_unexpected(p, "an architecture such as sm_90a, debug, or a texmode", ".target");
    }
    emu_advance(p);
    return true;
}

static bool parse_target(struct emu_parser *p)
{
    int line = p->token.line;

    if (!emu_take_dotted(p, "target"))
        return emu_unexpected(p, ".target", "a module");
    do {
        if (!parse_target_word(p))
            return false;
    } while (emu_take_sign(p, ','));
    return p->module->target || emu_fail(p->error, line, ".target names no architecture");
}

static bool parse_address_size(struct emu_parser *p)
{
    int line = p->token.line;
    uint64_t bits = 64;

    if (emu_take_dotted(p, "address_size") &&
        !emu_expect_integer(p, 32, 64, ".address_size", &bits))
        return false;
    if (bits != 32 && bits != 64)
        return emu_fail(p->error, line, ".address_size is 32 or 64");
    p->module->address_bits = (int)bits;
    return true;
}

/* ---- Debug information and hints ---- */

static bool expect_string(struct emu_parser *p, const char *where)
{
    if (p->token.kind != EMU_TOKEN_STRING)
        return emu_unexpected(p, "a string", where);
    emu_advance(p);
    return true;
}

/* .file 1 "name", 123, 456 */
static bool parse_file(struct emu_parser *p)
{
    uint64_t ignored;

    if (!emu_expect_integer(p, 0, UINT32_MAX, ".file", &ignored) || !expect_string(p, ".file"))
        return false;
    return !emu_take_sign(p, ',') || (emu_expect_integer(p, 0, UINT64_MAX, ".file", &ignored) &&
                                      emu_expect_sign(p, ',', ".file") &&
                                      emu_expect_integer(p, 0, UINT64_MAX, ".file", &ignored));
}

static bool parse_place(struct emu_parser *p)
{
    uint64_t ignored;

    return emu_expect_integer(p, 0, UINT32_MAX, ".loc", &ignored) &&
           emu_expect_integer(p, 0, UINT32_MAX, ".loc", &ignored) &&
           emu_expect_integer(p, 0, UINT32_MAX, ".loc", &ignored);
}

/* .loc 1 2 3, function_name $L__info_string0+4, inlined_at 1 2 3 */
static bool parse_loc(struct emu_parser *p)
{
    int64_t offset;

    if (!parse_place(p))
        return false;
    while (emu_take_sign(p, ',')) {
        bool is_name = emu_token_is(&p->token, EMU_TOKEN_NAME, "function_name");

        if (!is_name && !emu_token_is(&p->token, EMU_TOKEN_NAME, "inlined_at"))
            return emu_unexpected(p, "function_name or inlined_at", ".loc");
        emu_advance(p);
        if (!is_name && !parse_place(p))
            return false;
        if (is_name && (!emu_expect_name(p, ".loc") ||
                        (emu_take_sign(p, '+') && !emu_parse_offset(p, &offset))))
            return false;
    }
    return true;
}

/* .section .debug_str { label: .b8 1, 2 .b32 label+4 }: DWARF, which nothing here reads. */
static bool parse_section(struct emu_parser *p)
{
    if (p->token.kind != EMU_TOKEN_DOTTED && p->token.kind != EMU_TOKEN_NAME)
        return emu_unexpected(p, "its name", ".section");
    emu_advance(p);
    if (!emu_expect_sign(p, '{', ".section"))
        return false;
    while (!emu_at_sign(p, '}')) {
        bool is_data = p->token.kind == EMU_TOKEN_NAME || p->token.kind == EMU_TOKEN_DOTTED ||
                       p->token.kind == EMU_TOKEN_INTEGER || emu_at_sign(p, ',') ||
                       emu_at_sign(p, ':') || emu_at_sign(p, '+') || emu_at_sign(p, '-');

        if (!is_data)
            return emu_unexpected(p, "data or '}'", ".section");
        emu_advance(p);
    }
    emu_advance(p);
    return true;
}

/* .pragma "nounroll"; what is unknown has no effect, says the manual. */
static bool parse_pragma(struct emu_parser *p)
{
    do {
        if (!expect_string(p, ".pragma"))
            return false;
    } while (emu_take_sign(p, ','));
    return emu_expect_sign(p, ';', ".pragma");
}

bool emu_parse_remark(struct emu_parser *p, bool *found)
{
    *found = true;
    if (emu_take_dotted(p, "loc"))
        return parse_loc(p);
    if (emu_take_dotted(p, "file"))
        return parse_file(p);
    if (emu_take_dotted(p, "pragma"))
        return parse_pragma(p);
    if (p->names.scope == 0 && emu_take_dotted(p, "section"))
        return parse_section(p);
    *found = false;
    return true;
}

/* ---- The module ---- */

static bool parse_statement(struct emu_parser *p)
{
    enum emu_linkage linkage;
    enum emu_space space;
    bool is_remark, is_register;

    if (!emu_parse_remark(p, &is_remark))
        return false;
    if (is_remark)
        return true;
    if (emu_at_dotted(p, "alias"))
        return emu_parse_alias(p);
    emu_parse_linkage(p, &linkage);
    if (emu_at_dotted(p, "entry") || emu_at_dotted(p, "func"))
        return linkage == EMU_COMMON ? emu_unexpected(p, "a variable", ".common")
                                     : emu_parse_function(p, linkage);
    if (emu_space_here(p, &space, &is_register))
        return emu_parse_variables(p, linkage);
    return emu_unexpected(p, "a function, a variable or another directive", "a module");
}

static bool parse_module(struct emu_parser *p)
{
    emu_advance(p);
    emu_advance(p);
    if (!parse_version(p) || !parse_target(p) || !parse_address_size(p))
        return false;
    while (p->token.kind != EMU_TOKEN_END) {
        if (!parse_statement(p))
            return false;
    }
    if (!emu_finish_aliases(p))
        return false;
    p->module->variable_count = (int)p->variables.count;
    p->module->function_count = (int)p->functions.count;
    return (emu_list_take(&p->variables, 0, p->arena, &p->module->variables) &&
            emu_list_take(&p->functions, 0, p->arena, &p->module->functions)) ||
           emu_no_memory(p);
}

/* The module and what it owns. */
struct owner {
    struct emu_module module; /* first: its address is the owner's */
    struct emu_arena arena;
};

static void free_lists(struct emu_parser *p)
{
    struct emu_list *lists[] = {&p->variables,         &p->functions,      &p->aliases,
                                &p->operands,          &p->body.registers, &p->body.locals,
                                &p->body.instructions, &p->body.tables,    &p->body.labels,
                                &p->body.references};

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        emu_list_free(lists[i], p->arena);
}

static void set_sizes(struct emu_parser *p)
{
    p->variables.size = p->body.locals.size = sizeof(struct emu_variable);
    p->functions.size = sizeof(struct emu_function);
    p->aliases.size = sizeof(struct emu_alias);
    p->operands.size = sizeof(struct emu_operand);
    p->body.registers.size = sizeof(struct emu_register);
    p->body.instructions.size = sizeof(struct emu_instruction);
    p->body.tables.size = sizeof(struct emu_table);
    p->body.labels.size = sizeof(const char *);
    p->body.references.size = sizeof(struct emu_reference);
}

struct emu_module *emu_module_parse_within(const char *text, size_t length, size_t memory,
                                           struct emu_error *error)
{
    struct owner *owner = calloc(1, sizeof *owner);
    struct emu_parser *p = calloc(1, sizeof *p);
    bool done = false;

    if (!owner || !p) {
        emu_fail(error, 0, "no memory");
    } else if (length > EMU_TEXT_LIMIT) {
        emu_fail(error, 0, "a text of more than %d bytes", EMU_TEXT_LIMIT);
    } else if (emu_lexer_open(&p->lexer, text, length, error)) {
        owner->arena.limit = memory;
        p->error = error;
        p->arena = p->names.arena = &owner->arena;
        p->names.error = error;
        p->module = &owner->module;
        p->body.function = -1;
        set_sizes(p);
        done = parse_module(p);
        free_lists(p);
        emu_lexer_close(&p->lexer);
    }
    free(p);
    if (done)
        return &owner->module;
    if (owner)
        emu_arena_free(&owner->arena);
    free(owner);
    return NULL;
}

struct emu_module *emu_module_parse(const char *text, size_t length, struct emu_error *error)
{
    return emu_module_parse_within(text, length, EMU_MEMORY_LIMIT, error);
}

void emu_module_free(struct emu_module *module)
{
    struct owner *owner = (struct owner *)module;

    if (!owner)
        return;
    emu_arena_free(&owner->arena);
    free(owner);
}

int emu_function_find(const struct emu_module *module, const char *name)
{
    for (int i = 0; i < module->function_count; i++) {
        if (strcmp(module->functions[i].name, name) == 0)
            return i;
    }
    return -1;
}

int emu_variable_find(const struct emu_module *module, const char *name)
{
    for (int i = 0; i < module->variable_count; i++) {
        if (!module->variables[i].is_inner && strcmp(module->variables[i].name, name) == 0)
            return i;
    }
    return -1;
}
