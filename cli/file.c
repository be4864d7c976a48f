#include "cli/file.h"

#include "cli/output.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Descriptors that are already open ---- */

static const char *const descriptor_folders[] = {"/dev/fd/", "/proc/self/fd/"};

/* The descriptor that the path means by its name; -1: none. */
static int named_descriptor(const char *path)
{
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof descriptor_folders / sizeof descriptor_folders[0]; i++) {
        size_t length = strlen(descriptor_folders[i]);
        char *end;

        if (strncmp(path, descriptor_folders[i], length) != 0)
            continue;

        long number = strtol(path + length, &end, 10);

        if (isdigit((unsigned char)path[length]) && !*end && number <= INT_MAX)
            return (int)number;
    }
    return -1;
}

/* A device is left out: it takes the same bytes however it was opened, and a descriptor that was
 * closed by the caller is open on /dev/null only so that writing fails. */
static bool is_open_as(const struct stat *target, int descriptor)
{
    struct stat opened;

    return !S_ISCHR(target->st_mode) && fstat(descriptor, &opened) == 0 &&
           opened.st_dev == target->st_dev && opened.st_ino == target->st_ino;
}

/* The descriptor through which the path must be written, so that a redirection keeps its place in
 * the file, and appends where it does; -1: none. */
static int open_descriptor(const char *path)
{
    int descriptor = named_descriptor(path);
    struct stat target;

    if (descriptor >= 0 || stat(path, &target) != 0)
        return descriptor;
    for (descriptor = STDOUT_FILENO; descriptor <= STDERR_FILENO; descriptor++)
        if (is_open_as(&target, descriptor))
            return descriptor;
    return -1;
}

bool file_is_standard_output(const char *path)
{
    return strcmp(path, "-") == 0 || open_descriptor(path) == STDOUT_FILENO;
}

/* ---- Writing; each returns 0 or the errno of the call that failed ---- */

static int write_all(int descriptor, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t written = write(descriptor, data, size);

        if (written > 0) {
            data += written;
            size -= (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            return written == 0 ? EIO : errno;
        }
    }
    return 0;
}

/* Closes in any case: some file systems tell only then that there was no room. */
static int write_and_close(int descriptor, const char *data, size_t size)
{
    int number = write_all(descriptor, data, size);

    if (close(descriptor) != 0 && number == 0)
        number = errno;
    return number;
}

/* What the caller opened for us is not closed by exec; what we opened is, and is not meant. */
static int write_through(int descriptor, const void *data, size_t size)
{
    int flags = fcntl(descriptor, F_GETFD);

    return flags < 0 || (flags & FD_CLOEXEC) ? EBADF : write_all(descriptor, data, size);
}

static int write_in_place(const char *path, const void *data, size_t size)
{
    int descriptor = open(path, O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);

    return descriptor < 0 ? errno : write_and_close(descriptor, data, size);
}

/* There is no such file, but there may be a link that names it, which is followed. */
static int create_in_place(const char *path, const void *data, size_t size)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    if (descriptor < 0)
        return errno;

    int number = write_and_close(descriptor, data, size);
    char *made = number != 0 ? realpath(path, NULL) : NULL;

    if (made)
        unlink(made);
    free(made);
    return number;
}

/* The permissions that open() would give a new file; mkostemp() gives it fewer. */
static mode_t default_mode(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

/* `old` describes the file that will be replaced, or is null. */
static int write_beside(const char *path, char *beside, const struct stat *old, const void *data,
                        size_t size)
{
    int descriptor = mkostemp(beside, O_CLOEXEC);

    if (descriptor < 0)
        return errno;

    int number = fchmod(descriptor, old ? old->st_mode & 0777 : default_mode()) != 0 ? errno : 0;
    int written = write_and_close(descriptor, data, size);

    if (number == 0)
        number = written;

    if (number == 0 && rename(beside, path) != 0)
        number = errno;
    if (number != 0)
        unlink(beside);
    return number;
}

/* Whether it was the way that failed, by a file beside, and the path itself may yet be written: the
 * longer name is too long, the directory may not be changed, or the file is a mount point. */
static bool forbids_beside(int number)
{
    return number == ENAMETOOLONG || number == EACCES || number == EPERM || number == EROFS ||
           number == EBUSY;
}

static int replace(const char *path, const struct stat *old, const void *data, size_t size)
{
    char *beside;

    if (old && access(path, W_OK) != 0)
        return errno;
    if (asprintf(&beside, "%s.XXXXXX", path) < 0)
        return ENOMEM;

    int number = write_beside(path, beside, old, data, size);

    free(beside);
    if (!forbids_beside(number))
        return number;
    return old ? write_in_place(path, data, size) : create_in_place(path, data, size);
}

/* A link stays a link: what it points to is replaced. */
static int replace_target(const char *path, const struct stat *old, const void *data, size_t size)
{
    char *target = realpath(path, NULL);
    int number = target ? replace(target, old, data, size) : errno;

    free(target);
    return number;
}

static int write_to_path(const char *path, const void *data, size_t size)
{
    struct stat old, itself;

    if (stat(path, &old) == 0)
        return S_ISREG(old.st_mode) ? replace_target(path, &old, data, size)
                                    : write_in_place(path, data, size);
    if (errno != ENOENT)
        return errno;
    return lstat(path, &itself) == 0 ? create_in_place(path, data, size)
                                     : replace(path, NULL, data, size);
}

enum lathe_status file_write(const char *path, const void *data, size_t size,
                             struct lathe_error *err)
{
    int descriptor = open_descriptor(path);
    int number =
        descriptor >= 0 ? write_through(descriptor, data, size) : write_to_path(path, data, size);

    if (number == 0)
        return LATHE_OK;
    return fail(err, LATHE_IO_FAILED, "%.300s: cannot be written: %s", path, strerror(number));
}

/* ---- Reading; each returns 0 or the errno of the call that failed ---- */

static int read_all(FILE *file, char **data, size_t *size)
{
    size_t room = 0, count = 0, more = 1;

    *data = NULL;
    while (more > 0) {
        if (count + 1 >= room) {
            char *grown = realloc(*data, room ? 2 * room : 65536);

            if (!grown)
                return ENOMEM;
            *data = grown;
            room = room ? 2 * room : 65536;
        }
        more = fread(*data + count, 1, room - count - 1, file);
        count += more;
    }
    (*data)[count] = '\0';
    *size = count;
    return ferror(file) ? errno : 0;
}

enum lathe_status file_read(const char *path, char **data, size_t *size, struct lathe_error *err)
{
    FILE *file = fopen(path, "rbe");
    int number = file ? read_all(file, data, size) : errno;

    if (file)
        fclose(file);
    if (number == 0)
        return LATHE_OK;
    if (file)
        free(*data);
    *data = NULL;
    return fail(err, number == ENOMEM ? LATHE_OUT_OF_MEMORY : LATHE_IO_FAILED,
                "%.300s: cannot be read: %s", path, strerror(number));
}
