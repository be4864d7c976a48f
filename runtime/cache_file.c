#include "runtime/cache_file.h"

#include "codegen/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* O_NONBLOCK: a named pipe must not hold us up; for a regular file it means nothing. */
enum { SAFE_FLAGS = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC };

/* A writer takes milliseconds; this leaves room for a clock of a file server that goes wrong. */
enum { STALE_SECONDS = 600 };

/* ---- Reading ---- */

static const char *check_status(const struct stat *status, size_t limit)
{
    if (!S_ISREG(status->st_mode))
        return "it is not a regular file";
    if (status->st_uid != geteuid())
        return "it belongs to another user";
    if (status->st_mode & (S_IWGRP | S_IWOTH))
        return "other users may write to it";
    if (status->st_size <= 0)
        return "it is empty";
    if ((uint64_t)status->st_size > limit)
        return "it is larger than any entry";
    return NULL;
}

/* What there is, up to `bytes`; -1 and errno on an error. */
static ssize_t read_all(int descriptor, void *data, size_t bytes)
{
    size_t at = 0;

    while (at < bytes) {
        ssize_t got = read(descriptor, (char *)data + at, bytes - at);

        if (got == 0)
            break;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        at += (size_t)got;
    }
    return (ssize_t)at;
}

static enum lt_read read_opened(int descriptor, size_t limit,
                                const struct lathe_allocator *allocator, struct lt_bytes *contents,
                                const char **fault)
{
    struct stat status;

    if (fstat(descriptor, &status) != 0)
        return LT_READ_FAILED;
    *fault = check_status(&status, limit);
    if (*fault)
        return LT_READ_WRONG;

    /* Copied rather than mapped: what was checked is then what is used, whatever happens to the
     * file, and a failing disk is an error instead of a signal. */
    size_t bytes = (size_t)status.st_size;
    void *data = lt_allocate(allocator, bytes);

    if (!data) {
        errno = ENOMEM;
        return LT_READ_FAILED;
    }

    ssize_t got = read_all(descriptor, data, bytes);

    if (got == (ssize_t)bytes) {
        *contents = (struct lt_bytes){data, bytes};
        return LT_READ_WHOLE;
    }

    int trouble = errno;

    lt_release(allocator, data);
    errno = trouble;
    *fault = "it became shorter while it was read";
    return got < 0 ? LT_READ_FAILED : LT_READ_WRONG;
}

enum lt_read lt_file_read(int directory, const char *name, size_t limit,
                          const struct lathe_allocator *allocator, struct lt_bytes *contents,
                          const char **fault)
{
    int descriptor = openat(directory, name, O_RDONLY | SAFE_FLAGS);

    if (descriptor < 0 && errno == ENOENT)
        return LT_READ_ABSENT;
    if (descriptor < 0 && errno == ELOOP) {
        *fault = "it is a link";
        return LT_READ_WRONG;
    }
    if (descriptor < 0)
        return LT_READ_FAILED;

    enum lt_read outcome = read_opened(descriptor, limit, allocator, contents, fault);
    int trouble = errno;

    close(descriptor);
    errno = trouble;
    return outcome;
}

/* ---- Locks ---- */

static enum lt_locked try_byte(int descriptor, off_t byte)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};

    if (fcntl(descriptor, F_OFD_SETLK, &lock) == 0)
        return LT_LOCK_HELD;
    return errno == EAGAIN || errno == EACCES ? LT_LOCK_BUSY : LT_LOCK_UNUSABLE;
}

/* The first 60 bits of the name, all of which a file offset can hold. */
static off_t byte_of(const char *name)
{
    uint64_t byte = 0;

    for (int i = 0; i < 15; i++)
        byte = byte << 4 | (uint64_t)(name[i] <= '9' ? name[i] - '0' : name[i] - 'a' + 10);
    return (off_t)byte;
}

int lt_lock_open(int directory)
{
    return openat(directory, "lock", O_RDWR | O_CREAT | SAFE_FLAGS, 0600);
}

enum lt_locked lt_lock_try(int lock, const char *name)
{
    return try_byte(lock, byte_of(name));
}

/* Given back by hand: a child that the program forked in the meantime keeps the descriptor, and
 * with it the lock, open. */
void lt_lock_close(int lock, const char *name)
{
    if (lock < 0)
        return;

    struct flock none = {
        .l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = byte_of(name), .l_len = 1};

    fcntl(lock, F_OFD_SETLK, &none);
    close(lock);
}

/* ---- Writing ---- */

enum { TEMPORARY_NAME_SIZE = 64, TEMPORARY_TRIES = 16 };
static const char temporary_ending[] = ".tmp";

/* A name that no other writer has: also not one of another machine that shares the directory, with
 * the same process id, because of O_EXCL. */
static int create_temporary(int directory, const char *name, char temporary[TEMPORARY_NAME_SIZE])
{
    for (int i = 0; i < TEMPORARY_TRIES; i++) {
        struct timespec now;

        clock_gettime(CLOCK_REALTIME, &now);
        snprintf(temporary, TEMPORARY_NAME_SIZE, "%.32s.%lx-%lx%s", name, (unsigned long)getpid(),
                 (unsigned long)now.tv_nsec, temporary_ending);

        int descriptor =
            openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | SAFE_FLAGS, 0600);

        if (descriptor >= 0 || errno != EEXIST)
            return descriptor;
    }
    return -1;
}

/* A write over the limit of the process would not fail but end it, by SIGXFSZ. */
static bool is_over_limit(size_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           bytes > limit.rlim_cur;
}

int lt_file_write_all(int descriptor, const void *data, size_t bytes)
{
    size_t at = 0;

    while (at < bytes) {
        ssize_t put = write(descriptor, (const char *)data + at, bytes - at);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        at += (size_t)put;
    }
    return 0;
}

int lt_file_write(int directory, const char *name, const void *data, size_t bytes)
{
    char temporary[TEMPORARY_NAME_SIZE];

    if (is_over_limit(bytes))
        return EFBIG;

    int descriptor = create_temporary(directory, name, temporary);

    if (descriptor < 0)
        return errno;

    /* Says that the writer lives; where locks do not work, the file's age must do. */
    try_byte(descriptor, 0);

    int trouble = lt_file_write_all(descriptor, data, bytes);

    /* Network file systems tell of a full disk only here. */
    if (close(descriptor) != 0 && trouble == 0)
        trouble = errno;
    if (trouble == 0 && renameat(directory, temporary, directory, name) != 0)
        trouble = errno;
    if (trouble != 0)
        unlinkat(directory, temporary, 0);
    return trouble;
}

bool lt_file_is_temporary(const char *name)
{
    size_t length = strlen(name), ending = sizeof temporary_ending - 1;

    return length > LT_FILE_NAME_LENGTH + ending && name[LT_FILE_NAME_LENGTH] == '.' &&
           strspn(name, "0123456789abcdef") == LT_FILE_NAME_LENGTH &&
           strcmp(name + length - ending, temporary_ending) == 0;
}

void lt_file_remove_stale(int directory, const char *name)
{
    struct stat status;
    struct timespec now;

    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec - status.st_mtim.tv_sec < STALE_SECONDS)
        return;

    int descriptor = openat(directory, name, O_WRONLY | SAFE_FLAGS);

    if (descriptor < 0)
        return;
    if (try_byte(descriptor, 0) != LT_LOCK_BUSY)
        unlinkat(directory, name, 0);
    close(descriptor);
}
