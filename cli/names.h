/* names.h: names, each once, in the order in which they were met; as many as there are. */
#ifndef LT_CLI_NAMES_H
#define LT_CLI_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The strings are the caller's. Begins as {0}. */
struct names {
    const char **list;
    size_t count, room;
};

/* False without memory. */
bool names_add(struct names *names, const char *name);
bool names_have(const struct names *names, const char *name);
void names_free(struct names *names);

#endif
