/* file.h: what -o names is written whole or not at all. */
#ifndef LT_CLI_FILE_H
#define LT_CLI_FILE_H

#include "lathe.h"

#include <stdbool.h>

/* Whether -o means standard output, by whatever name: "-", /dev/stdout, or the file or pipe that
 * it is redirected to. The caller prints to it then. */
bool file_is_standard_output(const char *path);

/* Writes to a new file beside `path` and renames that into place.
 *
 * What has to stay what it is, is written to as it is: a descriptor that the caller opened
 * (/dev/stderr, /dev/fd/3, or what standard error is redirected to), a device or a pipe.
 * Errors: LATHE_IO_FAILED; then an old file is as it was, and no new one is left behind. */
enum lathe_status file_write(const char *path, const void *data, size_t size,
                             struct lathe_error *err);

#endif
