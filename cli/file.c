#include "cli/file.h"

#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum lathe_status refuse(const char *path, int number, struct lathe_error *err)
{
    return fail(err, LATHE_IO_FAILED, "%.300s: cannot be written: %s", path, strerror(number));
}

/* Returns 0, or the errno of the call that failed. Closes in any case: some file systems tell only
 * then that there was no room. */
static int write_and_close(int descriptor, const char *data, size_t size)
{
    int number = 0;

    while (size > 0 && number == 0) {
        ssize_t written = write(descriptor, data, size);

        if (written > 0) {
            data += written;
            size -= (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            number = written == 0 ? EIO : errno;
        }
    }
    if (close(descriptor) != 0 && number == 0)
        number = errno;
    return number;
}

static enum lathe_status write_in_place(const char *path, const void *data, size_t size,
                                        struct lathe_error *err)
{
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    int number = descriptor < 0 ? errno : write_and_close(descriptor, data, size);

    return number == 0 ? LATHE_OK : refuse(path, number, err);
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

static enum lathe_status replace(const char *path, const struct stat *old, const void *data,
                                 size_t size, struct lathe_error *err)
{
    char *beside;
    int number;

    if (old && access(path, W_OK) != 0)
        return refuse(path, errno, err);
    if (asprintf(&beside, "%s.XXXXXX", path) < 0)
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for a file name");
    number = write_beside(path, beside, old, data, size);
    free(beside);
    return number == 0 ? LATHE_OK : refuse(path, number, err);
}

enum lathe_status file_write(const char *path, const void *data, size_t size,
                             struct lathe_error *err)
{
    struct stat old;

    if (stat(path, &old) != 0)
        return errno == ENOENT ? replace(path, NULL, data, size, err) : refuse(path, errno, err);
    if (!S_ISREG(old.st_mode))
        return write_in_place(path, data, size, err);

    /* A link stays a link: what it points to is replaced. */
    char *target = realpath(path, NULL);

    if (!target)
        return refuse(path, errno, err);

    enum lathe_status status = replace(target, &old, data, size, err);

    free(target);
    return status;
}
