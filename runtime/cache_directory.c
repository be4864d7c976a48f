#include "runtime/cache_directory.h"

#include "codegen/status.h"
#include "codegen/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC };

/* ---- Finding ---- */

static bool join(struct lt_directory *directory, const struct lathe_allocator *allocator,
                 const char *base, const char *rest)
{
    size_t size = strlen(base) + strlen(rest) + 2;
    char *path = lt_allocate(allocator, size);

    if (!path)
        return false;
    snprintf(path, size, "%s%s%s", base, *rest ? "/" : "", rest);

    /* "link/" would be followed whatever the flags of open() say. */
    for (size_t length = strlen(path); length > 1 && path[length - 1] == '/'; length--)
        path[length - 1] = '\0';
    directory->path = path;
    return true;
}

/* A relative path means the working directory of now: the program may leave it later. */
static bool join_given(struct lt_directory *directory, const struct lathe_allocator *allocator,
                       const char *given)
{
    char here[PATH_MAX];

    if (given[0] != '/' && getcwd(here, sizeof here))
        return join(directory, allocator, here, given);
    return join(directory, allocator, given, "");
}

static bool join_home(struct lt_directory *directory, const struct lathe_allocator *allocator,
                      const char *home)
{
    directory->home_bytes = strlen(home);
    return join(directory, allocator, home, ".cache/lathe");
}

static bool join_password_file(struct lt_directory *directory,
                               const struct lathe_allocator *allocator)
{
    char buffer[16384];
    struct passwd record, *found = NULL;

    if (getpwuid_r(geteuid(), &record, buffer, sizeof buffer, &found) != 0 || !found ||
        found->pw_dir[0] != '/')
        return true; /* no directory at all: lt_directory_open() says so */
    return join_home(directory, allocator, found->pw_dir);
}

bool lt_directory_find(struct lt_directory *directory, const struct lt_cache_settings *settings)
{
    const char *given = settings->directory, *xdg = settings->xdg_cache_home;
    const char *home = settings->home;

    *directory = (struct lt_directory){NULL, 0};
    if (given && given[0])
        return join_given(directory, settings->allocator, given);
    /* The XDG specification: a relative path is to be ignored. */
    if (xdg && xdg[0] == '/')
        return join(directory, settings->allocator, xdg, "lathe");
    if (home && home[0] == '/')
        return join_home(directory, settings->allocator, home);
    return join_password_file(directory, settings->allocator);
}

void lt_directory_free(struct lt_directory *directory, const struct lathe_allocator *allocator)
{
    lt_release(allocator, directory->path);
    *directory = (struct lt_directory){NULL, 0};
}

/* ---- Opening ---- */

/* Follows a link in the last place only if this user or root made it: anyone may put one into /tmp
 * that points to a directory of this user's. */
static int open_directory(const char *path)
{
    int descriptor = open(path, OPEN_FLAGS | O_NOFOLLOW);
    struct stat link;

    if (descriptor >= 0 || (errno != ENOTDIR && errno != ELOOP))
        return descriptor;
    if (lstat(path, &link) != 0)
        return -1;
    if (!S_ISLNK(link.st_mode)) {
        errno = ENOTDIR;
        return -1;
    }
    if (link.st_uid != geteuid() && link.st_uid != 0) {
        errno = ELOOP;
        return -1;
    }
    return open(path, OPEN_FLAGS);
}

/* Makes what is missing of the path, private to the user; 0, or the errno of the first part that
 * could not be made. A part that is there may be one that we could not make (EACCES, EROFS), which
 * does not matter when the last one can be opened in the end. */
static int create_parts(const struct lt_directory *directory)
{
    char part[PATH_MAX];
    size_t length = strlen(directory->path);
    int trouble = 0;

    if (length >= sizeof part)
        return ENAMETOOLONG;
    memcpy(part, directory->path, length + 1);
    for (size_t at = directory->home_bytes + 1; at <= length; at++) {
        if (part[at] != '/' && part[at] != '\0')
            continue;
        part[at] = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST && trouble == 0)
            trouble = errno;
        part[at] = directory->path[at];
    }
    return trouble;
}

static enum lt_opened refuse(struct lathe_error *err, const char *what, const char *path,
                             const char *why)
{
    lt_fail(err, LATHE_IO_FAILED,
            "kernels are not cached: cannot %s %.200s: %s; " LT_DIRECTORY_ADVICE, what, path, why);
    return LT_DIRECTORY_REFUSED;
}

/* Of an opened directory: whether what lies in it can only be this user's. */
static bool check_private(int descriptor, const char *path, struct lathe_error *err)
{
    struct stat status;

    if (fstat(descriptor, &status) != 0) {
        lt_fail(err, LATHE_IO_FAILED, "kernels are not cached: cannot look at %.200s: %s", path,
                strerror(errno));
        return false;
    }
    if (status.st_uid != geteuid()) {
        lt_fail(
            err, LATHE_IO_FAILED,
            "kernels are not cached: %.200s belongs to user %lu, not to user %lu who runs this, so "
            "that its entries cannot be trusted; " LT_DIRECTORY_ADVICE,
            path, (unsigned long)status.st_uid, (unsigned long)geteuid());
        return false;
    }
    /* With an access control list, the bits of the group are the most that any entry of the list
     * can give. */
    if (status.st_mode & (S_IWGRP | S_IWOTH)) {
        lt_fail(err, LATHE_IO_FAILED,
                "kernels are not cached: other users may write to %.200s (mode %04o), so that its "
                "entries cannot be trusted; chmod go-w it, or " LT_DIRECTORY_ADVICE,
                path, (unsigned)status.st_mode & 07777);
        return false;
    }
    return true;
}

enum lt_opened lt_directory_open(const struct lt_directory *directory, bool create, int *descriptor,
                                 struct lathe_error *err)
{
    const char *path = directory->path;

    if (!path) {
        lt_fail(err, LATHE_IO_FAILED,
                "kernels are not cached: user %lu has no home directory; " LT_DIRECTORY_ADVICE,
                (unsigned long)geteuid());
        return LT_DIRECTORY_REFUSED;
    }

    int opened = open_directory(path);

    if (opened < 0 && errno == ENOENT) {
        if (!create)
            return LT_DIRECTORY_ABSENT;

        int trouble = create_parts(directory);

        opened = open_directory(path);
        if (opened < 0)
            return refuse(err, "create", path, strerror(trouble ? trouble : errno));
    }
    if (opened < 0 && errno == ELOOP)
        return refuse(err, "open", path, "it is a link that another user made");
    if (opened < 0)
        return refuse(err, "open", path, strerror(errno));
    if (!check_private(opened, path, err)) {
        close(opened);
        return LT_DIRECTORY_REFUSED;
    }
    *descriptor = opened;
    return LT_DIRECTORY_OPEN;
}
