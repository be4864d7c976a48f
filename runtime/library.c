#include "runtime/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Where toolkits keep their libraries below their root. */
static const char *const places[] = {"lib64", "lib", "targets/x86_64-linux/lib",
                                     "targets/sbsa-linux/lib"};

static void note(char *buffer, size_t size, const char *separator, const char *word)
{
    size_t length = strlen(buffer);

    if (length < size)
        snprintf(buffer + length, size - length, "%s%s", length > 0 ? separator : "", word);
}

/* The libraries of CUDA start threads and exit handlers of their own: none is ever unloaded. */
static void *try_name(const char *name, char *found, size_t found_size)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

    if (library && found_size > 0)
        snprintf(found, found_size, "%s", name);
    return library;
}

static void *try_root(const char *root, const char *name, char *found, size_t found_size)
{
    char path[1024];

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int length = snprintf(path, sizeof path, "%s/%s/%s", root, places[i], name);

        if (length < 0 || (size_t)length >= sizeof path)
            continue;

        void *library = try_name(path, found, found_size);

        if (library)
            return library;
    }
    return NULL;
}

static void *try_roots(const struct lt_library_search *search, const char *name, char *found,
                       size_t found_size)
{
    void *library = NULL;

    for (size_t i = 0; search->roots && search->roots[i] && !library; i++)
        if (search->roots[i][0] != '\0')
            library = try_root(search->roots[i], name, found, found_size);
    return library;
}

void *lt_library_open(const struct lt_library_search *search, char *found, size_t found_size,
                      char *tried, size_t tried_size)
{
    void *library = NULL;

    if (tried_size > 0)
        tried[0] = '\0';
    if (search->path) {
        note(tried, tried_size, "", search->path);
        return try_name(search->path, found, found_size);
    }
    for (size_t i = 0; search->names[i] && !library; i++) {
        note(tried, tried_size, ", ", search->names[i]);
        library = try_name(search->names[i], found, found_size);
    }
    for (size_t i = 0; search->names[i] && !library; i++)
        library = try_roots(search, search->names[i], found, found_size);
    note(tried, tried_size, " ", "in the loader's path");
    for (size_t i = 0; search->roots && search->roots[i]; i++)
        if (search->roots[i][0] != '\0')
            note(tried, tried_size, " and under ", search->roots[i]);
    return library;
}
