#include "codegen/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* Bytes of the UTF-8 character that begins at `at`, which is ended by NUL; 0 where none does, or
 * where it is a control character. */
static size_t character_bytes(const unsigned char *at)
{
    size_t count = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;

    if (at[0] < 0x20 || at[0] == 0x7f || (at[0] > 0x7f && at[0] < 0xc2) || at[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < count; i++)
        if (at[i] < 0x80 || at[i] > 0xbf)
            return 0;

    bool control = at[0] == 0xc2 && at[1] < 0xa0;
    bool longer_than_needed = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    bool surrogate = at[0] == 0xed && at[1] > 0x9f;
    bool beyond_unicode = at[0] == 0xf4 && at[1] > 0x8f;

    return control || longer_than_needed || surrogate || beyond_unicode ? 0 : count;
}

/* A message quotes what it was given: line breaks, escape codes of terminals, and characters that
 * were cut in the middle, by the end of the buffer or by a quotation's. */
static void make_one_line(char *message)
{
    for (char *at = message; *at;) {
        size_t count = character_bytes((const unsigned char *)at);

        if (count == 0)
            *at = '?';
        at += count > 0 ? count : 1;
    }
}

enum lathe_status lt_fail(struct lathe_error *err, enum lathe_status status, const char *format,
                          ...)
{
    if (!err)
        return status;

    va_list arguments;

    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    make_one_line(err->message);
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
