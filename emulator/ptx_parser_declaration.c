/* Declarations of variables, parameters and registers: PTX ISA "State Spaces, Types, and
 * Variables" and "Linking Directives". */
#include "emulator/ptx_parser.h"

#include <stdio.h>
#include <string.h>

/* What stands before the names of a declaration. */
struct declaration {
    enum emu_space space;
    bool is_register;
    enum emu_linkage linkage;
    enum emu_type type;
    int vector;
    uint64_t align; /* 0: that of the type */
    bool is_managed;
};

bool emu_parse_linkage(struct emu_parser *p, enum emu_linkage *linkage)
{
    static const char *const words[] = {[EMU_EXTERN] = "extern",
                                        [EMU_VISIBLE] = "visible",
                                        [EMU_WEAK] = "weak",
                                        [EMU_COMMON] = "common"};

    *linkage = EMU_LINKAGE_NONE;
    for (int i = EMU_EXTERN; i <= EMU_COMMON; i++) {
        if (emu_take_dotted(p, words[i])) {
            *linkage = (enum emu_linkage)i;
            return true;
        }
    }
    return false;
}

bool emu_space_here(const struct emu_parser *p, enum emu_space *space, bool *is_register)
{
    static const struct {
        const char *word;
        enum emu_space space;
    } spaces[] = {
        {"reg", EMU_SPACE_NONE},    {"const", EMU_SPACE_CONST}, {"global", EMU_SPACE_GLOBAL},
        {"local", EMU_SPACE_LOCAL}, {"param", EMU_SPACE_PARAM}, {"shared", EMU_SPACE_SHARED},
    };

    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        if (emu_at_dotted(p, spaces[i].word)) {
            *space = spaces[i].space;
            *is_register = spaces[i].space == EMU_SPACE_NONE;
            return true;
        }
    }
    return false;
}

/* ---- What stands before the name ---- */

static bool parse_align(struct emu_parser *p, uint64_t *align)
{
    if (!emu_take_dotted(p, "align"))
        return true;

    int line = p->token.line;

    if (!emu_expect_integer(p, 1, (uint64_t)1 << 30, ".align", align))
        return false;
    if ((*align & (*align - 1)) != 0)
        return emu_fail(p->error, line, ".align %llu: no power of two", (unsigned long long)*align);
    return true;
}

/* .attribute(.managed, .unified(1, 2)) */
bool emu_parse_attributes(struct emu_parser *p, bool *is_managed)
{
    uint64_t id;

    if (!emu_take_dotted(p, "attribute"))
        return true;
    if (!emu_expect_sign(p, '(', ".attribute"))
        return false;
    do {
        if (emu_take_dotted(p, "managed")) {
            *is_managed = true;
            continue;
        }
        if (!emu_take_dotted(p, "unified"))
            return emu_unexpected(p, ".managed or .unified", ".attribute");
        if (!emu_expect_sign(p, '(', ".unified") ||
            !emu_expect_integer(p, 0, UINT64_MAX, ".unified", &id) ||
            !emu_expect_sign(p, ',', ".unified") ||
            !emu_expect_integer(p, 0, UINT64_MAX, ".unified", &id) ||
            !emu_expect_sign(p, ')', ".unified"))
            return false;
    } while (emu_take_sign(p, ','));
    return emu_expect_sign(p, ')', ".attribute");
}

/* The formats of tensor cores stand in instructions only. */
static bool is_declarable(enum emu_type type, bool is_register)
{
    switch (type) {
    case EMU_PRED:
        return is_register;
    case EMU_TEXREF:
    case EMU_SAMPLERREF:
    case EMU_SURFREF:
        return !is_register;
    case EMU_F16:
    case EMU_F16X2:
    case EMU_F32:
    case EMU_F64:
        return true;
    default:
        return type >= EMU_B8 && type <= EMU_S64;
    }
}

static bool parse_type(struct emu_parser *p, struct declaration *d)
{
    int line = p->token.line;

    d->vector = emu_take_dotted(p, "v2") ? 2 : emu_take_dotted(p, "v4") ? 4 : 1;
    d->type = p->token.kind == EMU_TOKEN_DOTTED ? emu_type_of(p->token.text, p->token.length)
                                                : EMU_TYPE_NONE;
    if (d->type == EMU_TYPE_NONE)
        return emu_unexpected(p, "a type such as .b32", "a declaration");
    if (!is_declarable(d->type, d->is_register))
        return emu_fail(p->error, line, "there are no %s of type .%s",
                        d->is_register ? "registers" : "variables", emu_type_name(d->type));
    if (d->vector > 1 &&
        (d->type == EMU_PRED || d->type >= EMU_TEXREF || d->vector * emu_type_bytes(d->type) > 16))
        return emu_fail(p->error, line, "there are no vectors of %d .%s", d->vector,
                        emu_type_name(d->type));
    emu_advance(p);
    return true;
}

static void start_variable(struct emu_variable *variable, const struct declaration *d, int line)
{
    unsigned element = (unsigned)(d->vector * emu_type_bytes(d->type));

    *variable = (struct emu_variable){.line = line,
                                      .space = d->space,
                                      .type = d->type,
                                      .vector = d->vector,
                                      .count = 1,
                                      .align = d->align ? (uint32_t)d->align : element,
                                      .is_extern = d->linkage == EMU_EXTERN,
                                      .is_visible = d->linkage == EMU_VISIBLE,
                                      .is_weak = d->linkage == EMU_WEAK,
                                      .is_common = d->linkage == EMU_COMMON,
                                      .is_managed = d->is_managed};
    if (variable->align == 0)
        variable->align = 1; /* predicates */
}

/* ---- Behind the name ---- */

/* [4][2]; the first may be []. */
static bool parse_dimensions(struct emu_parser *p, uint64_t *dimensions, int limit, int *count)
{
    for (*count = 0; emu_take_sign(p, '['); (*count)++) {
        if (*count == limit)
            return emu_fail(p->error, p->token.line, "more than %d dimensions", limit);
        dimensions[*count] = 0;
        if (*count == 0 && emu_take_sign(p, ']'))
            continue;
        if (!emu_expect_integer(p, *count > 0, UINT64_MAX, "a dimension", &dimensions[*count]) ||
            !emu_expect_sign(p, ']', "a dimension"))
            return false;
    }
    return true;
}

static bool set_size(struct emu_parser *p, struct emu_variable *variable,
                     const uint64_t *dimensions, int dimension_count)
{
    uint64_t bytes = (uint64_t)(variable->vector * emu_type_bytes(variable->type));
    bool overflow = false;

    for (int i = 0; i < dimension_count; i++) {
        /* Of [][4] the size of one row must do, too. */
        overflow |= __builtin_mul_overflow(bytes, dimensions[i] ? dimensions[i] : 1, &bytes);
        if (overflow || bytes > EMU_VARIABLE_LIMIT)
            return emu_fail(p->error, variable->line, "%s: larger than any memory", variable->name);
        variable->count *= dimensions[i];
    }
    variable->bytes = variable->count == 0 ? 0 : bytes;
    return true;
}

/* ---- Registers ---- */

int emu_make_register(struct emu_parser *p, const struct emu_name *name, enum emu_type type,
                      int vector)
{
    struct emu_body *body = &p->body;
    struct emu_register *made = emu_list_add(&body->registers, p->arena);

    if (!made) {
        emu_no_memory(p);
        return -1;
    }
    *made = (struct emu_register){
        .name = name->text, .type = type, .vector = vector, .slot = body->slots};
    body->slots += emu_register_slots(made);
    return (int)body->registers.count - 1;
}

/* <100> */
static bool parse_range(struct emu_parser *p, uint64_t limit, uint64_t *count)
{
    return emu_expect_sign(p, '<', "a range of names") &&
           emu_expect_integer(p, 0, limit, "a range of names", count) &&
           emu_expect_sign(p, '>', "a range of names");
}

static bool parse_register(struct emu_parser *p, const struct declaration *d)
{
    int line = p->token.line;
    struct emu_name *name = emu_expect_name(p, ".reg");

    if (!name)
        return false;
    if (!emu_at_sign(p, '<')) {
        int index = emu_make_register(p, name, d->type, d->vector);

        return index >= 0 &&
               emu_symbol_add(&p->names, name, p->names.scope, EMU_SYMBOL_REGISTER, index, line);
    }

    uint64_t count;

    if (!parse_range(p, INT32_MAX, &count))
        return false;

    struct emu_symbol *range =
        emu_symbol_add(&p->names, name, p->names.scope, EMU_SYMBOL_RANGE, -1, line);

    if (!range)
        return false;
    range->type = d->type;
    range->vector = d->vector;
    range->count = count;
    return true;
}

/* ---- Variables ---- */

static bool is_in_module(const struct emu_parser *p, enum emu_space space)
{
    return p->names.scope == 0 || space == EMU_SPACE_GLOBAL || space == EMU_SPACE_CONST;
}

/* A variable that .extern announced, or that is announced once more: one stays. */
static bool merge_variable(struct emu_parser *p, const struct emu_symbol *known,
                           const struct emu_variable *variable)
{
    struct emu_variable *old = emu_list_at(&p->variables, (size_t)known->index);
    bool same = old->space == variable->space && old->type == variable->type &&
                old->vector == variable->vector &&
                (old->count == variable->count || old->count == 0 || variable->count == 0);

    if (!old->is_extern && !variable->is_extern)
        return emu_fail(p->error, variable->line, "'%s' is declared already, in line %d",
                        variable->name, old->line);
    if (!same)
        return emu_fail(p->error, variable->line, "'%s' is another variable in line %d",
                        variable->name, old->line);
    if (!variable->is_extern && !variable->is_visible && !variable->is_weak && !variable->is_common)
        return emu_fail(p->error, variable->line,
                        "'%s' is .extern in line %d, so it cannot be the module's own",
                        variable->name, old->line);

    uint32_t align = old->align > variable->align ? old->align : variable->align;

    if (old->is_extern && (!variable->is_extern || old->count == 0))
        *old = *variable;
    old->align = align;
    return true;
}

static bool add_variable(struct emu_parser *p, struct emu_name *name, struct emu_variable *variable)
{
    bool in_module = is_in_module(p, variable->space);
    struct emu_list *list = in_module ? &p->variables : &p->body.locals;
    const struct emu_symbol *known = name->symbol;

    variable->is_inner = in_module && p->names.scope > 0;
    if (p->names.scope == 0 && known && known->kind == EMU_SYMBOL_VARIABLE)
        return merge_variable(p, known, variable);

    struct emu_variable *added = emu_list_add(list, p->arena);

    if (!added)
        return emu_no_memory(p);
    *added = *variable;
    return emu_symbol_add(&p->names, name, p->names.scope,
                          in_module ? EMU_SYMBOL_VARIABLE : EMU_SYMBOL_LOCAL, (int)list->count - 1,
                          variable->line) != NULL;
}

/* .shared .b32 x<3>; is x0, x1, x2. */
static bool add_range(struct emu_parser *p, const struct emu_name *name,
                      struct emu_variable *variable)
{
    uint64_t count;
    char text[512];

    if (!parse_range(p, EMU_RANGE_LIMIT, &count) || !set_size(p, variable, NULL, 0))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        int length = snprintf(text, sizeof text, "%s%llu", name->text, (unsigned long long)i);

        if (length >= (int)sizeof text)
            return emu_fail(p->error, variable->line, "the name of a range is too long");

        struct emu_name *one = emu_name_of(&p->names, text, (size_t)length, variable->line);

        if (!one)
            return false;
        variable->name = one->text;
        if (!add_variable(p, one, variable))
            return false;
    }
    return true;
}

static bool check_initialised(struct emu_parser *p, const struct emu_variable *variable)
{
    if (variable->space != EMU_SPACE_GLOBAL && variable->space != EMU_SPACE_CONST)
        return emu_fail(p->error, p->token.line, "%s: only .global and .const are initialised",
                        variable->name);
    if (variable->is_extern)
        return emu_fail(p->error, p->token.line, "%s: what is .extern is initialised elsewhere",
                        variable->name);
    if (variable->type >= EMU_TEXREF)
        return emu_fail(p->error, p->token.line, "%s: initialisers of .%s are not supported",
                        variable->name, emu_type_name(variable->type));
    return true;
}

static bool parse_variable(struct emu_parser *p, const struct declaration *d)
{
    uint64_t dimensions[EMU_DIMENSIONS];
    int dimension_count;
    struct emu_variable variable;

    start_variable(&variable, d, p->token.line);

    struct emu_name *name = emu_expect_name(p, "a declaration");

    if (!name)
        return false;
    variable.name = name->text;
    if (emu_at_sign(p, '<'))
        return add_range(p, name, &variable);
    if (!parse_dimensions(p, dimensions, EMU_DIMENSIONS, &dimension_count) ||
        !set_size(p, &variable, dimensions, dimension_count))
        return false;
    if (emu_take_sign(p, '=')) {
        if (!check_initialised(p, &variable) ||
            !emu_parse_initialiser(p, &variable, dimensions, dimension_count))
            return false;
    }
    if (variable.count == 0 && !variable.is_extern)
        return emu_fail(p->error, variable.line, "%s: of unknown size, which is for .extern alone",
                        variable.name);
    return add_variable(p, name, &variable);
}

static bool check_place(struct emu_parser *p, const struct declaration *d)
{
    if (p->names.scope == 0 &&
        (d->is_register || d->space == EMU_SPACE_LOCAL || d->space == EMU_SPACE_PARAM))
        return emu_fail(p->error, p->token.line,
                        ".%.*s outside of functions is not allowed with the ABI",
                        (int)p->token.length, p->token.text);
    if (p->names.scope > 0 && d->linkage != EMU_LINKAGE_NONE)
        return emu_fail(p->error, p->token.line, "a variable of a function has no linkage");
    if (d->linkage == EMU_COMMON && d->space != EMU_SPACE_GLOBAL)
        return emu_fail(p->error, p->token.line, ".common is for .global variables");
    return true;
}

bool emu_parse_variables(struct emu_parser *p, enum emu_linkage linkage)
{
    struct declaration d = {.linkage = linkage};

    if (!emu_space_here(p, &d.space, &d.is_register))
        return emu_unexpected(p, "a state space such as .global", "a declaration");
    if (!check_place(p, &d))
        return false;
    emu_advance(p);
    if (!emu_parse_attributes(p, &d.is_managed) || !parse_align(p, &d.align) || !parse_type(p, &d))
        return false;
    do {
        if (!(d.is_register ? parse_register(p, &d) : parse_variable(p, &d)))
            return false;
    } while (emu_take_sign(p, ','));
    return emu_expect_sign(p, ';', "a declaration");
}

/* ---- Parameters ---- */

/* .ptr .global .align 16: what the parameter points to, of no effect here. */
static bool parse_pointer(struct emu_parser *p)
{
    enum emu_space space;
    bool is_register;
    uint64_t align;

    if (!emu_take_dotted(p, "ptr"))
        return true;
    if (emu_space_here(p, &space, &is_register) && !is_register)
        emu_advance(p);
    return parse_align(p, &align);
}

bool emu_parse_parameter(struct emu_parser *p, bool is_entry, struct emu_variable *variable,
                         bool *is_register)
{
    struct declaration d = {.linkage = EMU_LINKAGE_NONE};
    uint64_t dimension;
    int dimension_count;

    if (!emu_space_here(p, &d.space, is_register) || (*is_register && is_entry) ||
        (!*is_register && d.space != EMU_SPACE_PARAM))
        return emu_unexpected(p, is_entry ? ".param" : ".param or .reg", "a parameter");
    d.is_register = *is_register;
    emu_advance(p);
    if (!parse_align(p, &d.align) || !parse_type(p, &d))
        return false;
    if (!*is_register && (!parse_pointer(p) || !parse_align(p, &d.align)))
        return false;
    if (!*is_register && d.vector > 1)
        return emu_fail(p->error, p->token.line, "a parameter is no vector");
    start_variable(variable, &d, p->token.line);
    variable->name = "_";
    if (emu_token_is(&p->token, EMU_TOKEN_NAME, "_")) {
        emu_advance(p);
    } else {
        const struct emu_name *name = emu_expect_name(p, "a parameter");

        if (!name)
            return false;
        variable->name = name->text;
    }
    return parse_dimensions(p, &dimension, *is_register ? 0 : 1, &dimension_count) &&
           set_size(p, variable, &dimension, dimension_count);
}
