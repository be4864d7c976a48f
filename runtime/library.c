#include "runtime/library.h"

#include "codegen/status.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Where toolkits keep their libraries below their root. */
static const char *const places[] = {"lib64", "lib", "targets/x86_64-linux/lib",
                                     "targets/sbsa-linux/lib"};

/* ---- Opening ---- */

static bool try_name(struct lt_library *library, const char *name)
{
    library->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library->handle)
        snprintf(library->found, sizeof library->found, "%s", name);
    return library->handle != NULL;
}

static bool try_root(struct lt_library *library, const char *root, const char *name)
{
    char path[sizeof library->found];

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int length = snprintf(path, sizeof path, "%s/%s/%s", root, places[i], name);

        if (length > 0 && (size_t)length < sizeof path && try_name(library, path))
            return true;
    }
    return false;
}

static bool try_all(struct lt_library *library, const struct lt_library_search *search)
{
    for (size_t i = 0; search->names[i]; i++)
        if (try_name(library, search->names[i]))
            return true;
    for (size_t i = 0; search->names[i]; i++)
        for (size_t j = 0; search->roots && search->roots[j]; j++)
            if (search->roots[j][0] && try_root(library, search->roots[j], search->names[i]))
                return true;
    return false;
}

static void note(char *buffer, size_t size, const char *separator, const char *word)
{
    size_t length = strlen(buffer);

    if (length < size)
        snprintf(buffer + length, size - length, "%s%s", length > 0 ? separator : "", word);
}

static enum lathe_status fail_absent(const struct lt_library_search *search,
                                     struct lathe_error *err)
{
    char tried[320] = "";

    for (size_t i = 0; search->names[i]; i++)
        note(tried, sizeof tried, ", ", search->names[i]);
    note(tried, sizeof tried, " ", "in the loader's path");
    for (size_t i = 0; search->roots && search->roots[i]; i++)
        if (search->roots[i][0])
            note(tried, sizeof tried, " and under ", search->roots[i]);
    return lt_fail(err, search->status, "no %s: looked for %s; %s", search->title, tried,
                   search->install);
}

enum lathe_status lt_library_open(struct lt_library *library,
                                  const struct lt_library_search *search, struct lathe_error *err)
{
    *library = (struct lt_library){.handle = NULL};
    if (!search->path)
        return try_all(library, search) ? LATHE_OK : fail_absent(search, err);
    if (try_name(library, search->path))
        return LATHE_OK;

    /* The loader's words begin with the path, and say more than that it is not there. */
    const char *why = dlerror();

    return lt_fail(err, search->status, "no %s: %.300s; %s", search->title,
                   why ? why : search->path, search->install);
}

/* ---- Functions ---- */

const char *lt_library_load(const struct lt_library *library,
                            const struct lt_library_function *functions, size_t count,
                            void *(*find)(void *handle, const char *name))
{
    const char *missing = NULL;

    for (size_t i = 0; i < count; i++) {
        void *symbol = find ? find(library->handle, functions[i].name)
                            : dlsym(library->handle, functions[i].name);

        /* dlsym returns an object pointer; POSIX lets it stand for a function, C does not. */
        memcpy(functions[i].slot, &symbol, sizeof symbol);
        if (!symbol && !missing)
            missing = functions[i].name;
    }
    return missing;
}

enum lathe_status lt_library_refuse(const struct lt_library *library,
                                    const struct lt_library_search *search, const char *missing,
                                    struct lathe_error *err)
{
    return lt_fail(err, search->status, "%.200s is no %s of CUDA 12.0 or newer: it has no %s; %s",
                   library->found, search->title, missing, search->install);
}
