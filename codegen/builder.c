#include "codegen/builder_state.h"

#include "codegen/status.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct lt_builder *lt_builder_create(enum lathe_arch arch, bool annotate,
                                     const struct lathe_allocator *allocator)
{
    struct lt_builder *b = lt_allocate(allocator, sizeof *b);

    if (!b)
        return NULL;
    memset(b, 0, sizeof *b);
    b->arch = lt_arch(arch);
    b->annotate = annotate;
    b->allocator = allocator;
    b->text.allocator = allocator;
    b->contract.arch = arch;
    b->contract.registers = -1;
    b->contract.spill_bytes = -1;
    b->contract.warnings = -1;
    for (int i = 0; i < BUCKETS; i++)
        b->buckets[i] = -1;
    lt_text_reserve(&b->text, TEXT_EXPECTED);
    if (!b->arch)
        lt_mistake(b, "a kernel needs an architecture");
    return b;
}

void lt_builder_destroy(struct lt_builder **builder)
{
    struct lt_builder *b = *builder;

    if (!b)
        return;
    lt_text_free(&b->text);
    lt_release(b->allocator, b);
    *builder = NULL;
}

void lt_mistake(struct lt_builder *b, const char *format, ...)
{
    char cause[LATHE_MESSAGE_SIZE];
    va_list arguments;

    if (b->error.status != LATHE_OK)
        return;
    va_start(arguments, format);
    vsnprintf(cause, sizeof cause, format, arguments);
    va_end(arguments);
    lt_fail(&b->error, LATHE_INTERNAL, "%s", cause);
}

void lt_require(struct lt_builder *b, unsigned feature, const char *what)
{
    if (!b->arch || (b->arch->features & feature))
        return;

    char names[128];

    lt_arch_names_with(feature, names, sizeof names);
    lt_mistake(b, "%s needs %s; this kernel is for %s", what, names, b->arch->name);
}

/* ---- Names ---- */

static unsigned bucket_of(const char *name)
{
    unsigned hash = 2166136261u; /* FNV-1a */

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash % BUCKETS;
}

static int find_register(const struct lt_builder *b, const char *name)
{
    for (int at = b->buckets[bucket_of(name)]; at >= 0; at = b->registers[at].next)
        if (strcmp(b->registers[at].name, name) == 0)
            return at;
    return -1;
}

static bool valid_name(const char *name)
{
    if (!isalpha((unsigned char)name[0]) || strlen(name) >= NAME_SIZE)
        return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_')
            return false;
    return true;
}

static lt_value value_of(const struct lt_builder *b, int at)
{
    return (lt_value){.kind = LT_REGISTER,
                      .type = (uint8_t)b->registers[at].type,
                      .generation = b->registers[at].generation,
                      .id = (uint32_t)at};
}

static int add_register(struct lt_builder *b, enum lt_type type, const char *name, int count)
{
    if (!valid_name(name)) {
        lt_mistake(b, "'%s' cannot name a register", name);
        return -1;
    }
    if (b->register_count == REGISTERS_MAX || b->depth == 0) {
        lt_mistake(b, "%%%s: %s", name, b->depth ? "too many names" : "no scope is open");
        return -1;
    }

    int at = b->register_count++;
    unsigned bucket = bucket_of(name);

    b->registers[at] = (struct reg){
        .length = strlen(name),
        .type = type,
        .count = count,
        .generation = ++b->generation,
        .next = b->buckets[bucket],
    };
    strcpy(b->registers[at].name, name);
    b->buckets[bucket] = at;
    return at;
}

lt_value lt_define(struct lt_builder *b, enum lt_type type, const char *name)
{
    int at = find_register(b, name);

    if (at < 0) {
        at = add_register(b, type, name, 0);
        return at < 0 ? (lt_value){0} : value_of(b, at);
    }
    if (b->registers[at].variable || b->registers[at].count > 0)
        lt_mistake(b, "%%%s is a variable already", name);
    else if (at < b->scopes[b->depth - 1].first_register)
        lt_mistake(b, "%%%s is a name of an outer scope already", name);
    else if (b->registers[at].type != type)
        lt_mistake(b, "%%%s has another type already", name);
    b->registers[at].generation = ++b->generation;
    return value_of(b, at);
}

lt_value lt_variable(struct lt_builder *b, enum lt_type type, const char *name)
{
    if (find_register(b, name) >= 0)
        lt_mistake(b, "%%%s is taken already", name);

    int at = add_register(b, type, name, 0);

    if (at < 0)
        return (lt_value){0};
    b->registers[at].variable = true;
    return value_of(b, at);
}

struct lt_vector lt_vector(struct lt_builder *b, enum lt_type type, const char *name, int count)
{
    if (find_register(b, name) >= 0)
        lt_mistake(b, "%%%s is taken already", name);

    int at = add_register(b, type, name, count);

    if (at < 0)
        return (struct lt_vector){0};
    return (struct lt_vector){.base = value_of(b, at), .count = count};
}

lt_value lt_element(const struct lt_vector *vector, int index)
{
    lt_value element = vector->base;

    element.kind = LT_ELEMENT;
    element.number = index;
    return element;
}

void lt_forget_register(struct lt_builder *b)
{
    const struct reg *reg = &b->registers[--b->register_count];

    b->buckets[bucket_of(reg->name)] = reg->next;
}

/* A register may be used while it is in scope and holds what the handle stands for. */
bool lt_usable(struct lt_builder *b, lt_value value)
{
    if (value.id >= (uint32_t)b->register_count) {
        lt_mistake(b, "a value is used after its scope was closed");
        return false;
    }

    const struct reg *reg = &b->registers[value.id];

    if (value.generation != reg->generation) {
        lt_mistake(b, "%%%s is used after it was overwritten", reg->name);
        return false;
    }
    if (value.kind == LT_ELEMENT && (value.number < 0 || value.number >= reg->count)) {
        lt_mistake(b, "%%%s has no element %lld", reg->name, (long long)value.number);
        return false;
    }
    return true;
}

lt_value lt_imm(int64_t number)
{
    return (lt_value){.kind = LT_INTEGER, .number = number};
}

lt_value lt_hex(uint64_t number)
{
    return (lt_value){.kind = LT_HEX, .number = (int64_t)number};
}

lt_value lt_float(float number)
{
    uint32_t bits;

    memcpy(&bits, &number, sizeof bits);
    return (lt_value){.kind = LT_FLOAT, .type = LT_F32, .number = bits};
}

lt_value lt_special(const char *name)
{
    return (lt_value){.kind = LT_NAMED, .type = LT_B32, .name = name};
}

lt_value lt_at(lt_value address, int bytes)
{
    address.offset += bytes;
    return address;
}

lt_value lt_not(lt_value predicate)
{
    predicate.negated = !predicate.negated;
    return predicate;
}

/* ---- The end ---- */

static void append_head(const struct lt_builder *b, struct lt_text *head)
{
    lt_text_printf(head, ".version %s\n.target %s\n.address_size 64\n", b->arch->ptx_version,
                   b->arch->name);
    if (b->annotate)
        lt_text_append(head, "\n");
}

enum lathe_status lt_builder_finish(struct lt_builder *b, char **text, size_t *length,
                                    struct lathe_contract *contract, struct lathe_error *err)
{
    if (b->depth != 1)
        lt_mistake(b, "%s", b->depth > 1 ? "a scope was left open" : "the kernel has no entry");
    if (b->guard.kind != LT_NOTHING || b->open_regions != 0)
        lt_mistake(b, "a branch, a loop or a guard was left open");
    while (b->depth > 0 && b->error.status == LATHE_OK)
        lt_scope_close(b);

    struct lt_text head = {.allocator = b->allocator};

    if (b->arch)
        append_head(b, &head);
    if (!b->text.failed)
        lt_text_insert(&b->text, 0, &head);
    lt_text_free(&head);

    if (b->text.failed)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for the kernel's text");
    if (b->error.status != LATHE_OK)
        return lt_fail(err, b->error.status, "while emitting: %s", b->error.message);
    *text = b->text.data;
    *length = b->text.length;
    *contract = b->contract;
    b->text = (struct lt_text){.allocator = b->allocator};
    return LATHE_OK;
}
