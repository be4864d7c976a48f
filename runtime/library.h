/* library.h: finding a shared library of CUDA at run time, and the functions in it. */
#ifndef LT_RUNTIME_LIBRARY_H
#define LT_RUNTIME_LIBRARY_H

#include "include/lathe.h"

/* What to look for. Names are tried in order, first as the loader finds them, then in lib64/, lib/
 * and targets/x86_64-linux/lib/ (or sbsa-linux) of each root. */
struct lt_library_search {
    const char *title;        /* "nvJitLink", for messages                              */
    const char *install;      /* what to do where there is none                         */
    enum lathe_status status; /* where there is none                                    */
    const char *path;         /* given by the user: nothing else is tried then; or null */
    const char *const *names; /* "libnvJitLink.so.13", ..., null                        */
    const char *const *roots; /* "/usr/local/cuda", ..., null; may hold empty strings   */
};

/* A library that is open, and the name by which it was found. None is ever unloaded: those of CUDA
 * start threads and exit handlers of their own. */
struct lt_library {
    void *handle;
    char found[512];
};

/* Errors: the search's status, with what was looked for or why the loader refused it. */
enum lathe_status lt_library_open(struct lt_library *library,
                                  const struct lt_library_search *search, struct lathe_error *err);

/* A function by its name, and the place for its address. */
struct lt_library_function {
    const char *name;
    void *slot;
};

/* Fills all slots, with null for what is missing. Returns the first missing name, or null. `find`
 * is how a name is looked up; null: as it is. */
const char *lt_library_load(const struct lt_library *library,
                            const struct lt_library_function *functions, size_t count,
                            void *(*find)(void *handle, const char *name));

/* The refusal of a library that lacks `missing`: it is something else, or of another version. */
enum lathe_status lt_library_refuse(const struct lt_library *library,
                                    const struct lt_library_search *search, const char *missing,
                                    struct lathe_error *err);

#endif
