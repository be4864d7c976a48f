/* Functions: their heads and directives, the scopes of their bodies, labels, and tables of labels
 * and functions (PTX ISA "Kernel and Function Directives", "Control Flow Directives",
 * "Performance-Tuning Directives", "Cluster Dimension Directives"). */
#include "emulator/ptx_parser.h"

#include <stddef.h>
#include <string.h>

/* ---- Heads ---- */

/* (.param .b32 a, .param .b64 b), or nothing at all. Registers are marked by the space NONE. */
static bool parse_parameters(struct emu_parser *p, bool is_entry, struct emu_variable **params,
                             int *count)
{
    struct emu_list list = {.size = sizeof(struct emu_variable)};
    bool done = true, is_register;

    *params = NULL;
    *count = 0;
    if (!emu_take_sign(p, '('))
        return true;
    if (!emu_at_sign(p, ')')) {
        do {
            struct emu_variable *param = emu_list_add(&list, p->arena);

            done = param ? emu_parse_parameter(p, is_entry, param, &is_register) : emu_no_memory(p);
        } while (done && emu_take_sign(p, ','));
    }
    done = done && emu_expect_sign(p, ')', "the list of parameters");
    *count = (int)list.count;
    done = done && (emu_list_take(&list, 0, p->arena, params) || emu_no_memory(p));
    emu_list_free(&list, p->arena);
    return done;
}

struct directive {
    const char *word;
    bool is_for_entries;
    int values;    /* at most; 0 for one without any */
    size_t offset; /* of a bool or of as many uint32_t in struct emu_function; or NOWHERE */
};

#define NOWHERE ((size_t)-1)

static const struct directive directives[] = {
    {"maxntid", true, 3, offsetof(struct emu_function, maxntid)},
    {"reqntid", true, 3, offsetof(struct emu_function, reqntid)},
    {"reqnctapercluster", true, 3, offsetof(struct emu_function, reqnctapercluster)},
    {"minnctapersm", true, 1, offsetof(struct emu_function, minnctapersm)},
    {"maxnreg", true, 1, offsetof(struct emu_function, maxnreg)},
    {"maxclusterrank", true, 1, offsetof(struct emu_function, maxclusterrank)},
    {"explicitcluster", true, 0, offsetof(struct emu_function, explicitcluster)},
    {"blocksareclusters", true, 0, offsetof(struct emu_function, blocksareclusters)},
    {"noreturn", false, 0, offsetof(struct emu_function, is_noreturn)},
    /* Which registers a function saves: there is no such thing here. */
    {"abi_preserve", false, 1, NOWHERE},
    {"abi_preserve_control", false, 1, NOWHERE},
};

static bool parse_directive(struct emu_parser *p, const struct directive *directive,
                            struct emu_function *function)
{
    uint32_t values[3] = {1, 1, 1};
    int count = 0;

    emu_advance(p);
    while (count < directive->values && (count == 0 || emu_take_sign(p, ','))) {
        uint64_t value, least = directive->offset == NOWHERE ? 0 : 1;

        if (!emu_expect_integer(p, least, UINT32_MAX, directive->word, &value))
            return false;
        values[count++] = (uint32_t)value;
    }
    if (directive->offset == NOWHERE)
        return true;

    unsigned char *field = (unsigned char *)function + directive->offset;

    if (directive->values == 0)
        memcpy(field, &(bool){true}, sizeof(bool));
    else
        memcpy(field, values, (size_t)directive->values * sizeof values[0]);
    return true;
}

/* What stands between the parameters and the body or semicolon. */
static bool parse_directives(struct emu_parser *p, struct emu_function *function)
{
    while (p->token.kind == EMU_TOKEN_DOTTED) {
        const struct directive *found = NULL;
        bool is_remark;

        if (!emu_parse_remark(p, &is_remark))
            return false;
        if (is_remark)
            continue;
        for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++) {
            if (emu_at_dotted(p, directives[i].word) &&
                directives[i].is_for_entries == function->is_entry)
                found = &directives[i];
        }
        if (emu_at_dotted(p, "maxnctapersm"))
            return emu_fail(p->error, p->token.line,
                            ".maxnctapersm is no more since PTX 2.1: .minnctapersm");
        if (!found)
            return emu_unexpected(
                p, function->is_entry ? "a directive of kernels" : "a directive of functions",
                function->name);
        if (!parse_directive(p, found, function))
            return false;
    }
    return true;
}

/* ---- One function of a name ---- */

static bool are_same_parameters(const struct emu_variable *a, int a_count,
                                const struct emu_variable *b, int b_count)
{
    if (a_count != b_count)
        return false;
    for (int i = 0; i < a_count; i++) {
        if (a[i].space != b[i].space || a[i].type != b[i].type || a[i].vector != b[i].vector ||
            a[i].count != b[i].count)
            return false;
    }
    return true;
}

static bool merge_function(struct emu_parser *p, struct emu_function *old,
                           struct emu_function *function)
{
    if (old->has_body && function->has_body)
        return emu_fail(p->error, function->line, "'%s' has a body already, in line %d",
                        function->name, old->line);
    if (old->is_entry != function->is_entry ||
        !are_same_parameters(old->params, old->param_count, function->params,
                             function->param_count) ||
        !are_same_parameters(old->returns, old->return_count, function->returns,
                             function->return_count))
        return emu_fail(p->error, function->line, "'%s' has other parameters in line %d",
                        function->name, old->line);
    function->is_noreturn |= old->is_noreturn;
    function->is_visible |= old->is_visible;
    function->is_weak |= old->is_weak;
    if (old->has_body)
        old->is_noreturn = function->is_noreturn;
    else
        *old = *function;
    return true;
}

static bool add_function(struct emu_parser *p, struct emu_name *name, struct emu_function *function,
                         int *index)
{
    const struct emu_symbol *known = name->symbol;

    if (known && known->kind == EMU_SYMBOL_FUNCTION) {
        *index = known->index;
        return merge_function(p, emu_list_at(&p->functions, (size_t)*index), function);
    }

    struct emu_function *added = emu_list_add(&p->functions, p->arena);

    if (!added)
        return emu_no_memory(p);
    *added = *function;
    *index = (int)p->functions.count - 1;
    return emu_symbol_add(&p->names, name, 0, EMU_SYMBOL_FUNCTION, *index, function->line) != NULL;
}

/* ---- Scopes and labels ---- */

static bool open_scope(struct emu_parser *p)
{
    if (!emu_scope_open(&p->names, p->token.line))
        return false;
    p->body.first_reference[p->names.scope] = p->body.references.count;
    return true;
}

bool emu_add_reference(struct emu_parser *p, struct emu_name *name, int *index, int line)
{
    struct emu_reference *reference = emu_list_add(&p->body.references, p->arena);

    if (!reference)
        return emu_no_memory(p);
    *reference = (struct emu_reference){.name = name, .index = index, .line = line};
    return true;
}

/* A label is known in all of its scope, also before it stands there: references are resolved where
 * the scope ends, and what is no label of it is left to the scope around. */
static bool close_scope(struct emu_parser *p)
{
    struct emu_list *references = &p->body.references;
    int scope = p->names.scope;
    size_t kept = p->body.first_reference[scope];

    for (size_t i = kept; i < references->count; i++) {
        struct emu_reference *reference = emu_list_at(references, i);
        const struct emu_symbol *symbol = reference->name->symbol;

        if (symbol && symbol->scope == scope && symbol->kind == EMU_SYMBOL_LABEL) {
            *reference->index = symbol->index;
        } else if (symbol && (symbol->scope == scope || scope == 1)) {
            return emu_fail(p->error, reference->line, "'%s' of line %d is no label",
                            reference->name->text, symbol->line);
        } else if (scope == 1) {
            return emu_symbol_missing(&p->names, reference->name, reference->line);
        } else {
            struct emu_reference *place = emu_list_at(references, kept++);

            *place = *reference;
        }
    }
    references->count = kept;
    emu_scope_close(&p->names);
    return true;
}

static bool declare_label(struct emu_parser *p, struct emu_name *name, int line)
{
    size_t at = p->body.instructions.count;

    if (!emu_list_extend(&p->body.labels, at + 1, p->arena))
        return emu_no_memory(p);
    *(const char **)emu_list_at(&p->body.labels, at) = name->text;
    return emu_symbol_add(&p->names, name, p->names.scope, EMU_SYMBOL_LABEL, (int)at, line) != NULL;
}

/* ---- Tables ---- */

static bool parse_targets(struct emu_parser *p, struct emu_list *names)
{
    do {
        struct emu_name **name = emu_list_add(names, p->arena);

        if (!name)
            return emu_no_memory(p);
        *name = emu_expect_name(p, "a table of targets");
        if (!*name)
            return false;
    } while (emu_take_sign(p, ','));
    return true;
}

static bool resolve_targets(struct emu_parser *p, const struct emu_list *names,
                            struct emu_table *table, int line)
{
    table->target_count = (int)names->count;
    table->targets = emu_arena_allocate(p->arena, names->count, sizeof(int));
    if (!table->targets)
        return emu_no_memory(p);
    for (int i = 0; i < table->target_count; i++) {
        struct emu_name *name = *(struct emu_name **)emu_list_at(names, (size_t)i);
        const struct emu_symbol *symbol = name->symbol;

        if (table->kind == EMU_BRANCH_TARGETS) {
            if (!emu_add_reference(p, name, &table->targets[i], line))
                return false;
        } else if (!symbol) {
            return emu_symbol_missing(&p->names, name, line);
        } else if (symbol->kind != EMU_SYMBOL_FUNCTION) {
            return emu_fail(p->error, line, "'%s' is no function", name->text);
        } else {
            table->targets[i] = symbol->index;
        }
    }
    return true;
}

static bool parse_target_list(struct emu_parser *p, struct emu_table *table, int line)
{
    struct emu_list names = {.size = sizeof(struct emu_name *)};
    bool done = parse_targets(p, &names) && resolve_targets(p, &names, table, line);

    emu_list_free(&names, p->arena);
    return done;
}

/* (.param .b32 _) _ (.param .b32 _) .noreturn */
static bool parse_prototype(struct emu_parser *p, struct emu_table *table)
{
    struct emu_function ignored = {.name = ".callprototype"};

    if (!parse_parameters(p, false, &table->returns, &table->return_count))
        return false;
    if (p->token.kind != EMU_TOKEN_NAME)
        return emu_unexpected(p, "_ in place of the name", ".callprototype");
    emu_advance(p);
    return parse_parameters(p, false, &table->params, &table->param_count) &&
           parse_directives(p, &ignored);
}

/* .branchtargets, .calltargets or .callprototype, of the label before it. */
static bool parse_table(struct emu_parser *p, struct emu_name *name, int line)
{
    struct emu_table table = {.name = name->text, .kind = EMU_CALL_PROTOTYPE};
    bool done;

    if (emu_at_dotted(p, "callprototype")) {
        emu_advance(p);
        done = parse_prototype(p, &table);
    } else {
        table.kind = emu_at_dotted(p, "branchtargets") ? EMU_BRANCH_TARGETS : EMU_CALL_TARGETS;
        emu_advance(p);
        done = parse_target_list(p, &table, line);
    }
    if (!done || !emu_expect_sign(p, ';', "a table"))
        return false;

    struct emu_table *added = emu_list_add(&p->body.tables, p->arena);

    if (!added)
        return emu_no_memory(p);
    *added = table;
    return emu_symbol_add(&p->names, name, p->names.scope, EMU_SYMBOL_TABLE,
                          (int)p->body.tables.count - 1, line) != NULL;
}

/* ---- Bodies ---- */

static bool parse_label(struct emu_parser *p)
{
    int line = p->token.line;
    struct emu_name *name = emu_expect_name(p, "a label");

    if (!name || !emu_expect_sign(p, ':', "a label"))
        return false;
    if (emu_at_dotted(p, "branchtargets") || emu_at_dotted(p, "calltargets") ||
        emu_at_dotted(p, "callprototype"))
        return parse_table(p, name, line);
    return declare_label(p, name, line);
}

static bool parse_directive_statement(struct emu_parser *p)
{
    enum emu_space space;
    enum emu_linkage linkage;
    bool is_register, is_remark;

    if (emu_space_here(p, &space, &is_register))
        return emu_parse_variables(p, EMU_LINKAGE_NONE);
    if (!emu_parse_remark(p, &is_remark))
        return false;
    if (is_remark)
        return true;
    if (emu_parse_linkage(p, &linkage) && emu_at_dotted(p, "func"))
        return emu_parse_function(p, linkage);
    return emu_unexpected(p, "a statement", "the body of a function");
}

static bool parse_statement(struct emu_parser *p)
{
    if (emu_take_sign(p, '{'))
        return open_scope(p);
    if (emu_take_sign(p, '}'))
        return close_scope(p);
    if (p->token.kind == EMU_TOKEN_DOTTED)
        return parse_directive_statement(p);
    if (p->token.kind == EMU_TOKEN_NAME && p->ahead.kind == EMU_TOKEN_SIGN && p->ahead.sign == ':')
        return parse_label(p);
    if (p->token.kind == EMU_TOKEN_NAME || emu_at_sign(p, '@'))
        return emu_parse_instruction(p);
    return emu_unexpected(p, "a statement or '}'", "the body of a function");
}

/* Declares the parameters or returns in the scope of the body; registers[i] is -1 for others. */
static bool declare_parameters(struct emu_parser *p, enum emu_symbol_kind kind,
                               const struct emu_variable *params, int count, int **registers)
{
    *registers = emu_arena_allocate(p->arena, (size_t)count, sizeof(int));
    if (!*registers)
        return emu_no_memory(p);
    for (int i = 0; i < count; i++) {
        const struct emu_variable *param = &params[i];
        struct emu_name *name =
            emu_name_of(&p->names, param->name, strlen(param->name), param->line);

        (*registers)[i] = -1;
        if (!name)
            return false;
        if (param->space == EMU_SPACE_NONE) {
            int index = emu_make_register(p, name, param->type, param->vector);

            if (index < 0 || !emu_symbol_add(&p->names, name, p->names.scope, EMU_SYMBOL_REGISTER,
                                             index, param->line))
                return false;
            (*registers)[i] = index;
        } else if (strcmp(param->name, "_") != 0 &&
                   !emu_symbol_add(&p->names, name, p->names.scope, kind, i, param->line)) {
            return false;
        }
    }
    return true;
}

static void start_body(struct emu_parser *p, int function)
{
    struct emu_body *body = &p->body;

    body->function = function;
    body->slots = 0;
    body->registers.count = body->locals.count = body->instructions.count = 0;
    body->tables.count = body->labels.count = body->references.count = 0;
}

static bool finish_body(struct emu_parser *p, struct emu_function *function)
{
    struct emu_body *body = &p->body;

    function->register_count = (int)body->registers.count;
    function->slot_count = body->slots;
    function->local_count = (int)body->locals.count;
    function->instruction_count = (int)body->instructions.count;
    function->table_count = (int)body->tables.count;
    return (emu_list_extend(&body->labels, body->instructions.count + 1, p->arena) &&
            emu_list_take(&body->registers, 0, p->arena, &function->registers) &&
            emu_list_take(&body->locals, 0, p->arena, &function->locals) &&
            emu_list_take(&body->instructions, 0, p->arena, &function->instructions) &&
            emu_list_take(&body->tables, 0, p->arena, &function->tables) &&
            emu_list_take(&body->labels, 0, p->arena, &function->labels)) ||
           emu_no_memory(p);
}

static bool parse_body(struct emu_parser *p, int index, struct emu_function *function)
{
    start_body(p, index);
    if (!emu_expect_sign(p, '{', function->name) || !open_scope(p) ||
        !declare_parameters(p, EMU_SYMBOL_RETURN, function->returns, function->return_count,
                            &function->return_registers) ||
        !declare_parameters(p, EMU_SYMBOL_PARAM, function->params, function->param_count,
                            &function->param_registers))
        return false;
    while (p->names.scope > 0) {
        if (!parse_statement(p))
            return false;
    }
    if (!finish_body(p, function))
        return false;
    /* Its place may have moved: a body can declare functions. */
    memcpy(emu_list_at(&p->functions, (size_t)index), function, sizeof *function);
    return true;
}

bool emu_parse_function(struct emu_parser *p, enum emu_linkage linkage)
{
    struct emu_function function = {.line = p->token.line,
                                    .is_entry = emu_at_dotted(p, "entry"),
                                    .is_extern = linkage == EMU_EXTERN,
                                    .is_visible = linkage == EMU_VISIBLE,
                                    .is_weak = linkage == EMU_WEAK};
    bool is_managed;
    int index;

    emu_advance(p);
    if (!function.is_entry &&
        (!emu_parse_attributes(p, &is_managed) ||
         !parse_parameters(p, false, &function.returns, &function.return_count)))
        return false;

    struct emu_name *name = emu_expect_name(p, function.is_entry ? ".entry" : ".func");

    if (!name)
        return false;
    function.name = name->text;
    if (!parse_parameters(p, function.is_entry, &function.params, &function.param_count) ||
        !parse_directives(p, &function))
        return false;
    function.has_body = emu_at_sign(p, '{');
    if (!function.has_body)
        return emu_expect_sign(p, ';', function.name) && add_function(p, name, &function, &index);
    if (p->names.scope > 0)
        return emu_unexpected(p, "';'", "a function declared within a function");
    if (linkage == EMU_EXTERN)
        return emu_fail(p->error, function.line, "%s: .extern, but with a body", function.name);
    return add_function(p, name, &function, &index) && parse_body(p, index, &function);
}

/* ---- Aliases ---- */

bool emu_parse_alias(struct emu_parser *p)
{
    struct emu_alias *alias = emu_list_add(&p->aliases, p->arena);

    if (!alias)
        return emu_no_memory(p);
    emu_advance(p);
    alias->line = p->token.line;
    alias->name = emu_expect_name(p, ".alias");
    if (!alias->name || !emu_expect_sign(p, ',', ".alias"))
        return false;
    alias->of = emu_expect_name(p, ".alias");
    return alias->of && emu_expect_sign(p, ';', ".alias");
}

static struct emu_function *find_function(struct emu_parser *p, const struct emu_name *name,
                                          int line)
{
    if (name->symbol && name->symbol->kind == EMU_SYMBOL_FUNCTION)
        return emu_list_at(&p->functions, (size_t)name->symbol->index);
    if (name->symbol)
        emu_fail(p->error, line, ".alias: '%s' is no function", name->text);
    else
        emu_symbol_missing(&p->names, name, line);
    return NULL;
}

/* Both must have been declared, and the body may follow the .alias. */
bool emu_finish_aliases(struct emu_parser *p)
{
    for (size_t i = 0; i < p->aliases.count; i++) {
        const struct emu_alias *alias = emu_list_at(&p->aliases, i);
        struct emu_function *function = find_function(p, alias->name, alias->line);
        const struct emu_function *of = function ? find_function(p, alias->of, alias->line) : NULL;

        if (!of)
            return false;
        if (function->has_body || !of->has_body || of->is_entry || function->is_entry)
            return emu_fail(p->error, alias->line,
                            ".alias %s, %s: the first is a .func without a body, the second one "
                            "with a body",
                            alias->name->text, alias->of->text);
        if (!are_same_parameters(function->params, function->param_count, of->params,
                                 of->param_count) ||
            !are_same_parameters(function->returns, function->return_count, of->returns,
                                 of->return_count))
            return emu_fail(p->error, alias->line, ".alias: '%s' has other parameters than '%s'",
                            alias->name->text, alias->of->text);

        struct emu_function declared = *function;

        *function = *of;
        function->name = declared.name;
        function->line = declared.line;
        function->is_visible = declared.is_visible;
        function->is_weak = declared.is_weak;
    }
    return true;
}
