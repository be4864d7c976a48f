#include "cli/names.h"

#include <stdlib.h>
#include <string.h>

bool names_have(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->list[i], name) == 0)
            return true;
    return false;
}

bool names_add(struct names *names, const char *name)
{
    if (names_have(names, name))
        return true;
    if (names->count == names->room) {
        size_t room = names->room ? 2 * names->room : 16;
        const char **list = realloc(names->list, room * sizeof *list);

        if (!list)
            return false;
        names->list = list;
        names->room = room;
    }
    names->list[names->count++] = name;
    return true;
}

void names_free(struct names *names)
{
    free(names->list);
    *names = (struct names){0};
}
