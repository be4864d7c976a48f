#include "runtime/cache_scan.h"

#include "runtime/cache_file.h"
#include "codegen/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool lt_scan_is_entry(const char *name)
{
    return strspn(name, "0123456789abcdef") == LT_FILE_NAME_LENGTH &&
           strcmp(name + LT_FILE_NAME_LENGTH, ".cubin") == 0;
}

/* A stream of its own, so that the directory's descriptor can be read again later. */
static DIR *open_stream(int directory)
{
    int descriptor = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (descriptor < 0)
        return NULL;

    DIR *stream = fdopendir(descriptor);

    if (!stream) {
        int trouble = errno;

        close(descriptor);
        errno = trouble;
    }
    return stream;
}

static int add_file(struct lt_scan *scan, const struct lathe_allocator *allocator, int directory,
                    const char *name)
{
    struct stat status;

    /* Gone in the meantime: another process evicts too. */
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    if (scan->count == scan->room) {
        size_t room = scan->room ? 2 * scan->room : 64;
        struct lt_scan_file *files = lt_reallocate(allocator, scan->files, room * sizeof *files);

        if (!files)
            return ENOMEM;
        scan->files = files;
        scan->room = room;
    }

    struct lt_scan_file *file = &scan->files[scan->count++];

    memcpy(file->name, name, sizeof file->name);
    file->bytes = status.st_size;
    file->written = status.st_mtim;
    scan->bytes += file->bytes;
    return 0;
}

/* By name where the times are the same, so that all processes evict alike. */
static int compare_age(const void *left, const void *right)
{
    const struct lt_scan_file *a = left, *b = right;

    if (a->written.tv_sec != b->written.tv_sec)
        return a->written.tv_sec < b->written.tv_sec ? -1 : 1;
    if (a->written.tv_nsec != b->written.tv_nsec)
        return a->written.tv_nsec < b->written.tv_nsec ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int scan_directory(int directory, const struct lathe_allocator *allocator, bool sweep,
                          struct lt_scan *scan)
{
    DIR *stream = open_stream(directory);
    int trouble = 0;

    *scan = (struct lt_scan){NULL, 0, 0, 0};
    if (!stream)
        return errno;
    while (trouble == 0) {
        errno = 0;

        const struct dirent *found = readdir(stream);

        if (!found) {
            trouble = errno;
            break;
        }
        if (lt_scan_is_entry(found->d_name))
            trouble = add_file(scan, allocator, directory, found->d_name);
        else if (sweep && lt_file_is_temporary(found->d_name))
            lt_file_remove_stale(directory, found->d_name);
    }
    closedir(stream);
    if (scan->count > 1)
        qsort(scan->files, scan->count, sizeof *scan->files, compare_age);
    return trouble;
}

int lt_scan_list(int directory, const struct lathe_allocator *allocator, struct lt_scan *scan)
{
    return scan_directory(directory, allocator, false, scan);
}

void lt_scan_free(struct lt_scan *scan, const struct lathe_allocator *allocator)
{
    lt_release(allocator, scan->files);
    *scan = (struct lt_scan){NULL, 0, 0, 0};
}

int lt_scan_evict(int directory, const struct lathe_allocator *allocator, int64_t limit,
                  const char *keep, int *removed)
{
    struct lt_scan scan;
    int trouble = scan_directory(directory, allocator, true, &scan);
    int64_t left = scan.bytes;

    *removed = 0;
    for (size_t i = 0; i < scan.count && left > limit; i++) {
        const struct lt_scan_file *file = &scan.files[i];

        if (keep && strcmp(file->name, keep) == 0)
            continue;

        bool gone = unlinkat(directory, file->name, 0) == 0;

        *removed += gone;
        if (gone || errno == ENOENT)
            left -= file->bytes;
        else if (trouble == 0)
            trouble = errno;
    }
    lt_scan_free(&scan, allocator);
    return trouble;
}
