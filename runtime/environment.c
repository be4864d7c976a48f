#include "runtime/environment.h"

#include "codegen/memory.h"
#include "include/lathe_tools.h"

#include <stdlib.h>
#include <string.h>

static const struct lathe_variable_info variables[] = {
#define LT_VARIABLE(name, doc) {#name, doc},
#include "runtime/environment.def"
#undef LT_VARIABLE
};

int lathe_variable_at(size_t index, struct lathe_variable_info *info)
{
    if (index >= LT_VARIABLES || !info)
        return 0;
    *info = variables[index];
    return 1;
}

static bool copy_value(char **copy, const char *value, const struct lathe_allocator *allocator)
{
    *copy = NULL;
    if (!value || !value[0])
        return true;
    *copy = lt_allocate(allocator, strlen(value) + 1);
    if (*copy)
        strcpy(*copy, value);
    return *copy != NULL;
}

/* The only place where Lathe reads the environment. */
bool lt_environment_read(struct lt_environment *environment,
                         const struct lathe_allocator *allocator)
{
    *environment = (struct lt_environment){{NULL}};
    for (int i = 0; i < LT_VARIABLES; i++)
        if (!copy_value(&environment->values[i], secure_getenv(variables[i].name), allocator))
            return false;
    return true;
}

bool lt_environment_copy(struct lt_environment *environment, const struct lt_environment *like,
                         const struct lathe_allocator *allocator)
{
    *environment = (struct lt_environment){{NULL}};
    for (int i = 0; i < LT_VARIABLES; i++)
        if (!copy_value(&environment->values[i], like->values[i], allocator))
            return false;
    return true;
}

void lt_environment_free(struct lt_environment *environment,
                         const struct lathe_allocator *allocator)
{
    for (int i = 0; i < LT_VARIABLES; i++)
        lt_release(allocator, environment->values[i]);
    *environment = (struct lt_environment){{NULL}};
}

const char *lt_environment_value(const struct lt_environment *environment, const char *name)
{
    for (int i = 0; i < LT_VARIABLES; i++)
        if (strcmp(variables[i].name, name) == 0)
            return environment->values[i];
    return NULL;
}

enum lathe_switch lt_switch_of(const char *word)
{
    static const char *const words[][2] = {
        {"on", "off"}, {"1", "0"}, {"yes", "no"}, {"true", "false"}};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(word, words[i][0]) == 0)
            return LATHE_ON;
        if (strcasecmp(word, words[i][1]) == 0)
            return LATHE_OFF;
    }
    return LATHE_SWITCH_DEFAULT;
}

int lathe_bytes_parse(const char *text, int64_t *bytes)
{
    static const char suffixes[] = "KMG";
    int64_t sum = 0;

    if (!text || !bytes || *text < '0' || *text > '9')
        return 0;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, *text - '0', &sum))
            return 0;

    const char *suffix = *text ? strchr(suffixes, *text) : NULL;

    if (suffix) {
        if (__builtin_mul_overflow(sum, (int64_t)1 << (10 * (suffix - suffixes + 1)), &sum))
            return 0;
        text++;
    }
    if (*text)
        return 0;
    *bytes = sum;
    return 1;
}
