#include "codegen/status.h"

#include <stdarg.h>
#include <stdio.h>

enum lathe_status lt_fail(struct lathe_error *err, enum lathe_status status, const char *format,
                          ...)
{
    if (!err)
        return status;

    va_list arguments;

    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    err->status = status;
    err->needs_bytes = 0;
    err->limit_bytes = 0;
    err->fits_count = 0;
    return status;
}

void lt_fits_with(struct lathe_error *err, const char *format, ...)
{
    if (!err || err->fits_count >= LATHE_FITS_MAX)
        return;

    va_list arguments;

    va_start(arguments, format);
    vsnprintf(err->fits_with[err->fits_count++], LATHE_WORDS_SIZE, format, arguments);
    va_end(arguments);
}

const char *lathe_status_name(enum lathe_status status)
{
    switch (status) {
    case LATHE_OK:
        return "ok";
    case LATHE_BAD_WORD:
        return "bad-word";
    case LATHE_OUT_OF_RANGE:
        return "out-of-range";
    case LATHE_UNSUPPORTED:
        return "unsupported";
    case LATHE_DOES_NOT_FIT:
        return "does-not-fit";
    case LATHE_OUT_OF_MEMORY:
        return "out-of-memory";
    case LATHE_NO_DRIVER:
        return "no-driver";
    case LATHE_NO_DEVICE:
        return "no-device";
    case LATHE_NO_LIBRARY:
        return "no-library";
    case LATHE_LINK_FAILED:
        return "link-failed";
    case LATHE_DRIVER_FAILED:
        return "driver-failed";
    case LATHE_IO_FAILED:
        return "io-failed";
    case LATHE_MISUSED:
        return "misused";
    case LATHE_INTERNAL:
        return "internal";
    }
    return "unknown";
}
