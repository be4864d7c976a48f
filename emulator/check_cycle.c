#include "emulator/check_cycle.h"

#include <stdlib.h>

static void fill(size_t count, emu_waits_for *waits_for, const void *user, bool *leads)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            leads[i * count + j] = waits_for(user, i, j);
}

/* Warshall's algorithm: over one, over two, over three. */
static void follow(size_t count, bool *leads)
{
    for (size_t over = 0; over < count; over++)
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; leads[i * count + over] && j < count; j++)
                leads[i * count + j] = leads[i * count + j] || leads[over * count + j];
}

bool emu_find_ends(size_t count, emu_waits_for *waits_for, const void *user, bool *is_end)
{
    bool *leads = calloc(count * count + 1, sizeof *leads);

    if (!leads)
        return false;
    fill(count, waits_for, user, leads);
    follow(count, leads);
    for (size_t i = 0; i < count; i++) {
        is_end[i] = true;
        for (size_t j = 0; j < count; j++)
            is_end[i] = is_end[i] && (!leads[i * count + j] || leads[j * count + i]);
    }
    free(leads);
    return true;
}
