/* cache_file.h: one file of the cache: read it, make it appear whole, lock it.
 *
 * All names are relative to the opened directory; no link is followed. Knows nothing of what is in
 * the files. */
#ifndef LT_RUNTIME_CACHE_FILE_H
#define LT_RUNTIME_CACHE_FILE_H

#include "include/lathe.h"

#include <stdbool.h>

/* Hexadecimal digits of the name of an entry's file; ".cubin" follows. */
enum { LT_FILE_NAME_LENGTH = 32 };

struct lt_bytes {
    void *data;
    size_t bytes;
};

enum lt_read {
    LT_READ_WHOLE,
    LT_READ_ABSENT,
    LT_READ_WRONG, /* not a file that this cache wrote: it will be no better next time */
    LT_READ_FAILED /* the system could not, maybe only now; errno says why            */
};

/* Reads a file of at most `limit` bytes into memory of the allocator's. `fault` is set with
 * LT_READ_WRONG: a phrase for a message. */
enum lt_read lt_file_read(int directory, const char *name, size_t limit,
                          const struct lathe_allocator *allocator, struct lt_bytes *contents,
                          const char **fault);

/* Makes the file appear with these contents, in place of what may be there, in one step: whoever
 * reads sees all or nothing of it, also when this process is killed. 0 or an errno.
 *
 * Nothing is forced to the disk (fsync): that would cost more than many a compile, and all it could
 * save is an entry. After a crash of the machine the file may be missing, empty or full of zeros;
 * the reader's checks find that, and the entry is built again. */
int lt_file_write(int directory, const char *name, const void *data, size_t bytes);

/* Writes all of it, however many calls that takes. 0 or an errno. */
int lt_file_write_all(int descriptor, const void *data, size_t bytes);

/* What a writer that was killed leaves behind has such a name. */
bool lt_file_is_temporary(const char *name);

/* Removes such a file if it is so old that its writer must be gone, and is. */
void lt_file_remove_stale(int directory, const char *name);

/* ---- Locks ----
 *
 * One file, "lock", serves all entries: a process that builds an entry holds the one byte of it
 * that the entry's name says. So lock files do not pile up, and none must ever be removed. The
 * locks are the kernel's (fcntl, of the open file description): they go with their holder, however
 * it ends, and hold between threads too. Two entries that share a byte only wait for each other. */

enum lt_locked { LT_LOCK_HELD, LT_LOCK_BUSY, LT_LOCK_UNUSABLE };

/* A descriptor for lt_lock_try(), or -1 and errno. */
int lt_lock_open(int directory);
/* Never waits. */
enum lt_locked lt_lock_try(int lock, const char *name);
/* Gives the byte back and closes; -1 is nothing. */
void lt_lock_close(int lock, const char *name);

#endif
