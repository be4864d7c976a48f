/* status.h: the one way in which the library says no.
 *
 * A failing function calls lt_fail() once, where it knows the cause, and returns its value. Callers
 * pass the status on; they neither add to the message nor replace it. */
#ifndef LT_CODEGEN_STATUS_H
#define LT_CODEGEN_STATUS_H

#include "include/lathe.h"

/* Fills `err` (may be null) with the status and a message of one line, and returns the status.
 * Whatever the arguments hold, the message is UTF-8 without control characters: each byte that is
 * not is a question mark. */
enum lathe_status lt_fail(struct lathe_error *err, enum lathe_status status, const char *format,
                          ...) __attribute__((format(printf, 3, 4)));

/* Adds a set of words that would have worked; more than LATHE_FITS_MAX are dropped. */
void lt_fits_with(struct lathe_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
