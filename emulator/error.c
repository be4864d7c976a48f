#include "emulator/ptx.h"

#include <stdarg.h>
#include <stdio.h>

bool emu_fail(struct emu_error *error, int line, const char *format, ...)
{
    va_list arguments;

    if (!error || error->message[0] != '\0')
        return false;
    error->line = line;

    int length = line > 0 ? snprintf(error->message, sizeof error->message, "line %d: ", line) : 0;

    va_start(arguments, format);
    vsnprintf(error->message + length, sizeof error->message - (size_t)length, format, arguments);
    va_end(arguments);
    return false;
}
