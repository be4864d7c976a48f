/* once.h: a table of values of which each is made once, by the first thread that asks for it, while
 * others that ask for the same wait. A value that could not be made is tried again by the next that
 * asks; those that waited get the same error. Any thread. */
#ifndef LT_RUNTIME_ONCE_H
#define LT_RUNTIME_ONCE_H

#include "include/lathe.h"

struct lt_once;

typedef enum lathe_status (*lt_once_make)(void *user, void **value, struct lathe_error *err);

enum lathe_status lt_once_create(struct lt_once **once, const struct lathe_allocator *allocator,
                                 struct lathe_error *err);
/* Frees the values with `destroy`, newest first. */
void lt_once_destroy(struct lt_once **once, void (*destroy)(void *user, void *value), void *user);

/* The value for the key, which is compared byte for byte. */
enum lathe_status lt_once_get(struct lt_once *once, const void *key, size_t key_bytes,
                              lt_once_make make, void *user, void **value, struct lathe_error *err);

#endif
