/* file.h: what -o names is written whole or not at all. */
#ifndef LT_CLI_FILE_H
#define LT_CLI_FILE_H

#include "lathe.h"

/* Writes to a new file beside `path` and renames that into place. What is there already and is no
 * regular file, such as a device or a pipe, is written to as it is.
 * Errors: LATHE_IO_FAILED; then an old file is as it was, and no new one is left behind. */
enum lathe_status file_write(const char *path, const void *data, size_t size,
                             struct lathe_error *err);

#endif
