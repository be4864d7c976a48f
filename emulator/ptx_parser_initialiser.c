/* What stands behind = in a declaration: PTX ISA "Initializers".
 *
 * Values are written one behind the other, and the rest is zeros: braces that have fewer than
 * their dimension leave no gap (so does ptxas 13.0, and so does an H200). */
#include "emulator/bits.h"
#include "emulator/ptx_parser.h"

#include <string.h>

struct initialiser {
    struct emu_variable *variable;
    uint64_t dimensions[EMU_DIMENSIONS + 1]; /* the last may be the vector's */
    int dimension_count;
    struct emu_list bytes, relocations;
};

/* ---- Values ---- */

static bool put_bytes(struct emu_parser *p, struct initialiser *in, uint64_t at, uint64_t bits,
                      int count)
{
    if (at > EMU_INITIALISED_LIMIT)
        return emu_fail(p->error, p->token.line, "%s: too large to be initialised",
                        in->variable->name);
    if (!emu_list_extend(&in->bytes, (size_t)at + (size_t)count, p->arena))
        return emu_no_memory(p);
    for (int i = 0; i < count && i < 8; i++)
        in->bytes.items[at + (uint64_t)i] = (unsigned char)(bits >> 8 * i);
    return true;
}

/* Integers for integers, and for what floating-point numbers can be too: .b32 and .b64. */
static bool convert(struct emu_parser *p, const struct emu_variable *variable,
                    const struct emu_constant *value, int line, uint64_t *bits)
{
    enum emu_type type = variable->type;
    bool is_bits = type >= EMU_B8 && type <= EMU_B128;
    bool is_f32 = type == EMU_F32 || type == EMU_B32, is_f64 = type == EMU_F64 || type == EMU_B64;
    bool takes_integer = is_bits || (type >= EMU_U8 && type <= EMU_S64);
    bool matches;

    *bits = value->bits;
    switch (value->kind) {
    case EMU_EXACT_F32:
        matches = is_f32 || type == EMU_B64;
        break;
    case EMU_EXACT_F64:
    case EMU_FLOAT:
        matches = is_f32 || is_f64;
        if (is_f32)
            *bits = emu_f32_bits((float)emu_f64_of(*bits));
        break;
    default:
        matches = takes_integer;
    }
    return matches || emu_fail(p->error, line, "%s: this value is none of type .%s", variable->name,
                               emu_type_name(type));
}

/* ---- Addresses: name, name+4, generic(name)+4, and 0xff00(...) of any of them ---- */

static bool parse_symbol(struct emu_parser *p, struct emu_relocation *relocation)
{
    int line = p->token.line;
    struct emu_name *name = emu_expect_name(p, "an initialiser");
    const struct emu_symbol *symbol = name ? emu_symbol_find(&p->names, name) : NULL;

    relocation->variable = relocation->function = -1;
    if (!name)
        return false;
    if (!symbol)
        return emu_symbol_missing(&p->names, name, line);
    if (symbol->kind == EMU_SYMBOL_FUNCTION) {
        relocation->function = symbol->index;
        return true;
    }
    if (symbol->kind == EMU_SYMBOL_VARIABLE) {
        const struct emu_variable *of = emu_list_at(&p->variables, (size_t)symbol->index);

        relocation->variable = symbol->index;
        if (of->space == EMU_SPACE_GLOBAL || of->space == EMU_SPACE_CONST)
            return true;
    }
    return emu_fail(p->error, line,
                    "'%s': an initialiser has addresses of .global and .const "
                    "variables and of functions alone",
                    name->text);
}

static bool parse_address(struct emu_parser *p, struct emu_relocation *relocation)
{
    relocation->generic =
        emu_token_is(&p->token, EMU_TOKEN_NAME, "generic") && p->ahead.sign == '(';
    if (relocation->generic) {
        emu_advance(p);
        emu_advance(p);
    }
    if (!parse_symbol(p, relocation))
        return false;
    if (relocation->generic && !emu_expect_sign(p, ')', "generic"))
        return false;
    return !emu_take_sign(p, '+') || emu_parse_offset(p, &relocation->offset);
}

static bool add_relocation(struct emu_parser *p, struct initialiser *in, uint64_t at,
                           struct emu_relocation *relocation, int line)
{
    enum emu_type type = in->variable->type;
    bool fits = type == EMU_B32 || type == EMU_B64 || type == EMU_U32 || type == EMU_U64;
    bool masked = relocation->shift >= 0 && type != EMU_B128 &&
                  ((type >= EMU_B8 && type <= EMU_B64) || (type >= EMU_U8 && type <= EMU_S64));

    if (!masked && (!fits || relocation->shift >= 0))
        return emu_fail(p->error, line, "%s: .%s cannot hold this address", in->variable->name,
                        emu_type_name(type));
    relocation->at = (size_t)at;
    relocation->bytes = emu_type_bytes(type);

    struct emu_relocation *added = emu_list_add(&in->relocations, p->arena);

    if (!added)
        return emu_no_memory(p);
    *added = *relocation;
    return put_bytes(p, in, at, 0, relocation->bytes);
}

/* 0xff00(name): one byte of the address. */
static bool parse_masked(struct emu_parser *p, struct emu_relocation *relocation)
{
    uint64_t mask = p->token.bits;

    relocation->shift = 0;
    while (relocation->shift < 56 && mask != (uint64_t)0xff << relocation->shift)
        relocation->shift += 8;
    if (mask != (uint64_t)0xff << relocation->shift)
        return emu_fail(p->error, p->token.line, "the mask 0x%llx is not that of one byte",
                        (unsigned long long)mask);
    emu_advance(p);
    emu_advance(p);
    return parse_address(p, relocation) && emu_expect_sign(p, ')', "a masked address");
}

static bool parse_scalar(struct emu_parser *p, struct initialiser *in)
{
    uint64_t at = in->bytes.count;
    int line = p->token.line;
    bool is_masked = p->token.kind == EMU_TOKEN_INTEGER && p->ahead.sign == '(';
    struct emu_relocation relocation = {.shift = -1};
    struct emu_constant value;
    uint64_t bits;

    if (is_masked || (p->token.kind == EMU_TOKEN_NAME && !emu_constant_here(p)))
        return (is_masked ? parse_masked(p, &relocation) : parse_address(p, &relocation)) &&
               add_relocation(p, in, at, &relocation, line);
    return emu_parse_constant(p, &value) && convert(p, in->variable, &value, line, &bits) &&
           put_bytes(p, in, at, bits, emu_type_bytes(in->variable->type));
}

/* ---- Braces ---- */

/* Bytes of what has the dimensions from `level` on. */
static uint64_t bytes_within(const struct initialiser *in, int level)
{
    uint64_t bytes = (uint64_t)emu_type_bytes(in->variable->type);

    for (int i = level; i < in->dimension_count; i++)
        bytes *= in->dimensions[i];
    return bytes;
}

/* Values of a vector are not left out. */
static bool has_all(struct emu_parser *p, const struct initialiser *in, int level, uint64_t count)
{
    bool is_vector = in->variable->vector > 1 && level == in->dimension_count - 1;

    return !is_vector || count == in->dimensions[level] ||
           emu_fail(p->error, p->token.line, "%s: %llu values for a vector", in->variable->name,
                    (unsigned long long)count);
}

static bool parse_level(struct emu_parser *p, struct initialiser *in, int level)
{
    uint64_t count = 0;

    if (level == in->dimension_count)
        return parse_scalar(p, in);
    if (!emu_expect_sign(p, '{', "an initialiser"))
        return false;
    if (!emu_at_sign(p, '}')) {
        do {
            bool is_open = level == 0 && in->variable->count == 0;

            if (!is_open && count == in->dimensions[level])
                return emu_fail(p->error, p->token.line, "%s: more than %llu values in braces",
                                in->variable->name, (unsigned long long)count);
            if (!parse_level(p, in, level + 1))
                return false;
            count++;
        } while (emu_take_sign(p, ','));
    }
    if (!has_all(p, in, level, count))
        return false;
    if (level == 0)
        in->dimensions[0] = in->variable->count == 0 ? count : in->dimensions[0];
    return emu_expect_sign(p, '}', "an initialiser");
}

static bool finish(struct emu_parser *p, struct initialiser *in)
{
    struct emu_variable *variable = in->variable;

    variable->bytes = bytes_within(in, 0);
    variable->count =
        variable->bytes / (uint64_t)(variable->vector * emu_type_bytes(variable->type));
    if (variable->bytes > EMU_INITIALISED_LIMIT)
        return emu_fail(p->error, variable->line, "%s: too large to be initialised",
                        variable->name);
    variable->data = emu_arena_allocate(p->arena, (size_t)variable->bytes, 1);
    if (!variable->data)
        return emu_no_memory(p);
    if (in->bytes.count > 0)
        memcpy(variable->data, in->bytes.items, in->bytes.count);
    variable->relocation_count = (int)in->relocations.count;
    return emu_list_take(&in->relocations, 0, p->arena, &variable->relocations) || emu_no_memory(p);
}

bool emu_parse_initialiser(struct emu_parser *p, struct emu_variable *variable,
                           const uint64_t *dimensions, int dimension_count)
{
    struct initialiser in = {.variable = variable,
                             .dimension_count = dimension_count,
                             .bytes = {.size = 1},
                             .relocations = {.size = sizeof(struct emu_relocation)}};

    memcpy(in.dimensions, dimensions, (size_t)dimension_count * sizeof *dimensions);
    if (variable->vector > 1)
        in.dimensions[in.dimension_count++] = (uint64_t)variable->vector;

    bool done = parse_level(p, &in, 0) && finish(p, &in);

    emu_list_free(&in.bytes, p->arena);
    emu_list_free(&in.relocations, p->arena);
    return done;
}
