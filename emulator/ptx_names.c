#include "emulator/ptx_names.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_CAPACITY = 256,
    /* Names of a real program need a few steps; text made to collide is refused. */
    PROBE_LIMIT = 1024,
    NAME_LIMIT = 65536,
    RANGE_DIGITS = 10, /* of a number in %r123 */
    NEAR_LENGTH = 64,  /* longer names are compared by this much */
    SHOWN = 80         /* characters of a name in a message */
};

static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash ^ hash >> 15;
}

/* Where the name is, or would go; null where it takes too long. */
static struct emu_name **find_place(struct emu_name **table, size_t capacity, const char *text,
                                    size_t length, uint32_t hash)
{
    for (size_t step = 0; step < PROBE_LIMIT; step++) {
        struct emu_name **place = &table[(hash + step) & (capacity - 1)];

        if (!*place || ((*place)->hash == hash && (*place)->length == length &&
                        memcmp((*place)->text, text, length) == 0))
            return place;
    }
    return NULL;
}

/* Doubles the table; the old ones stay in the arena, together as large as the new one. */
static bool grow(struct emu_names *names)
{
    size_t capacity = names->capacity == 0 ? FIRST_CAPACITY : 2 * names->capacity;
    struct emu_name **table = emu_arena_allocate(names->arena, capacity, sizeof(struct emu_name *));

    if (!table)
        return false;
    for (size_t i = 0; i < names->capacity; i++) {
        const struct emu_name *name = names->table[i];

        if (!name)
            continue;

        struct emu_name **place = find_place(table, capacity, name->text, name->length, name->hash);

        if (!place)
            return false;
        *place = names->table[i];
    }
    names->table = table;
    names->capacity = capacity;
    return true;
}

static struct emu_name *make_name(struct emu_names *names, const char *text, size_t length,
                                  uint32_t hash)
{
    struct emu_name *name = emu_arena_allocate(names->arena, 1, sizeof *name);
    char *copy = emu_arena_allocate(names->arena, length + 1, 1);

    if (!name || !copy)
        return NULL;
    memcpy(copy, text, length);
    *name = (struct emu_name){.text = copy, .length = length, .hash = hash};
    names->count++;
    return name;
}

struct emu_name *emu_name_of(struct emu_names *names, const char *text, size_t length, int line)
{
    uint32_t hash = hash_of(text, length);

    if (length > NAME_LIMIT) {
        emu_fail(names->error, line, "a name of more than %d characters", NAME_LIMIT);
        return NULL;
    }
    if (2 * names->count >= names->capacity && !grow(names)) {
        emu_fail(names->error, line, "no memory for more names");
        return NULL;
    }

    struct emu_name **place = find_place(names->table, names->capacity, text, length, hash);

    if (!place) {
        emu_fail(names->error, line, "too many names of the same hash value");
        return NULL;
    }
    if (!*place)
        *place = make_name(names, text, length, hash);
    if (!*place)
        emu_fail(names->error, line, "no memory for more names");
    return *place;
}

bool emu_scope_open(struct emu_names *names, int line)
{
    if (names->scope == EMU_SCOPE_LIMIT)
        return emu_fail(names->error, line, "more than %d scopes within one another",
                        EMU_SCOPE_LIMIT);
    names->scopes[++names->scope] = NULL;
    return true;
}

void emu_scope_close(struct emu_names *names)
{
    for (struct emu_symbol *symbol = names->scopes[names->scope]; symbol; symbol = symbol->next) {
        if (symbol->kind == EMU_SYMBOL_RANGE)
            symbol->name->range = symbol->outer;
        else
            symbol->name->symbol = symbol->outer;
    }
    names->scopes[names->scope--] = NULL;
    names->changes++;
}

/* The range that has the name as one of its: of %r12<4> and %r<100>, say, for %r123. */
static struct emu_symbol *find_range(struct emu_names *names, const struct emu_name *name)
{
    uint64_t number = 0, power = 1;
    struct emu_symbol *best = NULL;

    for (size_t digits = 1; digits <= RANGE_DIGITS && digits < name->length; digits++) {
        size_t head = name->length - digits;
        char c = name->text[head];

        if (c < '0' || c > '9')
            break;
        number += power * (uint64_t)(c - '0');
        power *= 10;
        if (c == '0' && digits > 1)
            continue; /* %r007 is none of %r<100> */

        struct emu_name **place =
            find_place(names->table, names->capacity, name->text, head, hash_of(name->text, head));
        struct emu_symbol *range = place && *place ? (*place)->range : NULL;

        while (range && number >= range->count)
            range = range->outer;
        if (range && (!best || range->scope > best->scope))
            best = range;
    }
    return best;
}

static struct emu_symbol *push_symbol(struct emu_names *names, struct emu_name *name, int scope,
                                      enum emu_symbol_kind kind, int index, int line)
{
    struct emu_symbol **chain = kind == EMU_SYMBOL_RANGE ? &name->range : &name->symbol;
    struct emu_symbol *symbol = emu_arena_allocate(names->arena, 1, sizeof *symbol);

    if (!symbol) {
        emu_fail(names->error, line, "no memory for more declarations");
        return NULL;
    }
    *symbol = (struct emu_symbol){.kind = kind,
                                  .index = index,
                                  .line = line,
                                  .scope = scope,
                                  .name = name,
                                  .outer = *chain,
                                  .next = names->scopes[scope]};
    names->scopes[scope] = symbol;
    *chain = symbol;
    names->changes++;
    return symbol;
}

struct emu_symbol *emu_symbol_add(struct emu_names *names, struct emu_name *name, int scope,
                                  enum emu_symbol_kind kind, int index, int line)
{
    const struct emu_symbol *known = kind == EMU_SYMBOL_RANGE ? name->range : name->symbol;
    const struct emu_symbol *range = kind == EMU_SYMBOL_RANGE ? NULL : find_range(names, name);

    if (!known || known->scope < scope)
        known = range && range->scope == scope ? range : NULL;
    if (known) {
        emu_fail(names->error, line, "'%.*s' is declared already, in line %d", SHOWN, name->text,
                 known->line);
        return NULL;
    }
    return push_symbol(names, name, scope, kind, index, line);
}

/* Of the range's scope, of which no inner one can have the name: it would have been found. */
struct emu_symbol *emu_symbol_of_range(struct emu_names *names, struct emu_name *name,
                                       const struct emu_symbol *range, int index)
{
    return push_symbol(names, name, range->scope, EMU_SYMBOL_REGISTER, index, range->line);
}

struct emu_symbol *emu_symbol_find(struct emu_names *names, struct emu_name *name)
{
    if (names->changes == 0 || name->found_at != names->changes) {
        struct emu_symbol *range = find_range(names, name);
        bool is_range = range && (!name->symbol || name->symbol->scope < range->scope);

        name->found = is_range ? range : name->symbol;
        name->found_at = names->changes;
    }
    return name->found;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* How many characters one has to insert, delete or change. */
static int distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int row[NEAR_LENGTH + 1];
    int columns = least((int)b_length, NEAR_LENGTH), rows = least((int)a_length, NEAR_LENGTH);

    for (int j = 0; j <= columns; j++)
        row[j] = j;
    for (int i = 1; i <= rows; i++) {
        int diagonal = row[0];

        row[0] = i;
        for (int j = 1; j <= columns; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            row[j] = least(change, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[columns];
}

static const struct emu_name *find_nearest(const struct emu_names *names,
                                           const struct emu_name *name)
{
    const struct emu_name *nearest = NULL;
    int best = NEAR_LENGTH;

    for (size_t i = 0; i < names->capacity; i++) {
        const struct emu_name *other = names->table[i];

        if (!other || !(other->symbol || other->range))
            continue;

        int apart = distance(name->text, name->length, other->text, other->length);

        if (apart < best || (apart == best && nearest && strcmp(other->text, nearest->text) < 0)) {
            best = apart;
            nearest = other;
        }
    }
    return nearest;
}

bool emu_symbol_missing(struct emu_names *names, const struct emu_name *name, int line)
{
    const struct emu_name *nearest = find_nearest(names, name);

    if (!nearest)
        return emu_fail(names->error, line, "'%.*s' is not declared", SHOWN, name->text);
    if (!nearest->symbol)
        return emu_fail(names->error, line, "'%.*s' is not declared; the nearest is %.*s<%llu>",
                        SHOWN, name->text, SHOWN, nearest->text,
                        (unsigned long long)nearest->range->count);
    return emu_fail(names->error, line, "'%.*s' is not declared; the nearest is '%.*s' of line %d",
                    SHOWN, name->text, SHOWN, nearest->text, nearest->symbol->line);
}
