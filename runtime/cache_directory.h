/* cache_directory.h: where the cache is, and whether it may be used.
 *
 * A directory is used only if this process's user owns it and no other user may write to it: what
 * is in it will run on the GPU with that user's rights. The check is made on the opened directory,
 * and files are opened relative to it, so that nothing can be swapped in between. It is opened anew
 * for each use (a few microseconds), so that one that is removed and made again, or mended, serves
 * a process that runs for long. */
#ifndef LT_RUNTIME_CACHE_DIRECTORY_H
#define LT_RUNTIME_CACHE_DIRECTORY_H

#include "runtime/cache.h"

/* What the messages about a directory end in. */
#define LT_DIRECTORY_ADVICE "set LATHE_CACHE_DIR to a directory of your own, or LATHE_CACHE=off"

struct lt_directory {
    char *path;        /* absolute; null if there is none                                 */
    size_t home_bytes; /* of the leading part that is a home directory: never created     */
};

/* Works out the path; touches nothing. False when memory ran out. */
bool lt_directory_find(struct lt_directory *directory, const struct lt_cache_settings *settings);
void lt_directory_free(struct lt_directory *directory, const struct lathe_allocator *allocator);

enum lt_opened { LT_DIRECTORY_OPEN, LT_DIRECTORY_ABSENT, LT_DIRECTORY_REFUSED };

/* Opens it: `descriptor` is the caller's to close. With `create` it is made if it is not there,
 * private to the user. If it is refused, `err` says why and how to go on. */
enum lt_opened lt_directory_open(const struct lt_directory *directory, bool create, int *descriptor,
                                 struct lathe_error *err);

#endif
