/* file.h: files, read whole, and what -o names written whole or not at all, where there is a way to
 * do so. */
#ifndef LT_CLI_FILE_H
#define LT_CLI_FILE_H

#include "lathe.h"

#include <stdbool.h>

/* Whether -o means standard output, by whatever name: "-", /dev/stdout, or the file or pipe that
 * it is redirected to. The caller prints to it then. */
bool file_is_standard_output(const char *path);

/* Writes to a new file beside `path` and renames that into place; links are followed.
 *
 * What has to stay what it is, is written to as it is: a descriptor that the caller opened
 * (/dev/stderr, /dev/fd/3, or what standard error is redirected to), a device or a pipe, and a file
 * where none can be put beside it or in its place.
 * Errors: LATHE_IO_FAILED; then an old file is as it was, unless it was written to as it is, and no
 * new one is left behind. */
enum lathe_status file_write(const char *path, const void *data, size_t size,
                             struct lathe_error *err);

/* All of a file, and a zero behind it, to be freed. Errors: LATHE_IO_FAILED, LATHE_OUT_OF_MEMORY.
 */
enum lathe_status file_read(const char *path, char **data, size_t *size, struct lathe_error *err);

#endif
