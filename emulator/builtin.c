/* builtin.c: functions that every device has although no module defines them: vprintf,
 * __assertfail, malloc and free, as nvcc calls them. */
#include "emulator/bits.h"
#include "emulator/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a width or a precision no more than three digits count. */
enum { TEXT_MAX = 4096, CONVERSION_MAX = 32, DIGITS_MAX = 3 };

/* ---- What a call passes ---- */

static uint64_t argument(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                         int lane, int index)
{
    const struct emu_passed *passed = &op->call->arguments[index];
    uint64_t value = 0;
    emu_lanes lanes;

    if (passed->in_register)
        return emu_read(warp, group, &passed->source, 1u << lane, lanes)[lane];
    memcpy(&value,
           group->frame->params + (size_t)lane * group->frame->code->frame_param_bytes +
               passed->offset,
           passed->bytes < sizeof value ? passed->bytes : sizeof value);
    return value;
}

static void give(struct emu_group *group, const struct emu_op *op, int lane, uint64_t value)
{
    const struct emu_passed *passed = &op->call->returns[0];

    if (op->call->return_count == 0)
        return;
    if (passed->in_register) {
        if (passed->slot >= 0)
            emu_slot(group, passed->slot)[lane] = value;
        return;
    }
    memcpy(group->frame->params + (size_t)lane * group->frame->code->frame_param_bytes +
               passed->offset,
           &value, passed->bytes < sizeof value ? passed->bytes : sizeof value);
}

/* A string of the device, cut at TEXT_MAX; false after a fault. */
static bool read_text(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                      int lane, uint64_t address, char text[TEXT_MAX])
{
    for (size_t i = 0; i + 1 < TEXT_MAX; i++) {
        const unsigned char *at =
            emu_translate(warp, group, op, lane, EMU_SPACE_NONE, address + i, 1);

        if (!at)
            return false;
        text[i] = (char)*at;
        text[i + 1] = '\0';
        if (*at == '\0')
            return true;
    }
    return true;
}

/* ---- vprintf ---- */

/* The conversions are the program's, one at a time and made anew from what is known to be sound. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* The output of one thread, and what it still has to read. */
struct print {
    struct emu_warp *warp;
    struct emu_group *group;
    const struct emu_op *op;
    int lane;
    uint64_t arguments;
    uint32_t read;  /* how many of them           */
    uint64_t bytes; /* of all that it has put out */
    bool failed;
};

/* What printf returns. */
static void note(struct print *print, int bytes)
{
    print->bytes += bytes > 0 ? (uint64_t)bytes : 0;
}

static uint64_t next_value(struct print *print, uint32_t bytes)
{
    const unsigned char *at;
    uint64_t value = 0;

    print->arguments = (print->arguments + bytes - 1) / bytes * bytes;
    at = emu_translate(print->warp, print->group, print->op, print->lane, EMU_SPACE_NONE,
                       print->arguments, bytes);
    print->failed = print->failed || !at;
    print->arguments += bytes;
    print->read++;
    if (at)
        memcpy(&value, at, bytes);
    return value;
}

static void print_string(struct print *print, const char *conversion)
{
    char text[TEXT_MAX];
    uint64_t address = next_value(print, 8);

    if (!print->failed &&
        read_text(print->warp, print->group, print->op, print->lane, address, text))
        note(print, printf(conversion, text));
    else
        print->failed = true;
}

/* `conversion` is "%", flags, width and precision; what kind it is follows. */
static void print_value(struct print *print, char *conversion, size_t length, bool is_long,
                        char kind)
{
    uint64_t value;
    double real;

    if (strchr("diouxXc", kind)) {
        value = next_value(print, is_long ? 8 : 4);
        if (strchr("di", kind) && !is_long)
            value = (uint64_t)(int64_t)(int32_t)(uint32_t)value;
        if (kind == 'c') {
            snprintf(conversion + length, 2, "c");
            note(print, printf(conversion, (int)value));
            return;
        }
        snprintf(conversion + length, 4, "ll%c", kind);
        note(print, printf(conversion, (long long)value));
    } else if (strchr("eEfFgGaA", kind)) {
        real = emu_f64_of(next_value(print, 8));
        snprintf(conversion + length, 2, "%c", kind);
        note(print, printf(conversion, real));
    } else if (kind == 's') {
        snprintf(conversion + length, 2, "s");
        print_string(print, conversion);
    } else {
        printf("0x%llx", (unsigned long long)next_value(print, 8)); /* p */
    }
}

#pragma GCC diagnostic pop

/* A width or precision that an argument gives: a thousand is as wide as it gets. */
static size_t put_star(struct print *print, char *at)
{
    return (size_t)snprintf(at, DIGITS_MAX + 1, "%u", (unsigned)(next_value(print, 4) % 1000));
}

/* One conversion; returns what follows it. */
static const char *print_conversion(struct print *print, const char *format)
{
    char conversion[CONVERSION_MAX + 8] = "%";
    size_t length = 1;
    const char *at = format + 1;
    bool is_long = false;
    int digits = 0;

    for (; *at && strchr("-+ #0123456789.*", *at); at++) {
        bool is_digit = *at >= '0' && *at <= '9';

        if (length > CONVERSION_MAX - 12 || (is_digit && digits == DIGITS_MAX))
            continue;
        if (*at == '*' && digits > 0) /* would make a longer number of the one before it */
            continue;
        if (*at == '*')
            length += put_star(print, conversion + length);
        else
            conversion[length++] = *at;
        digits = *at == '*' ? DIGITS_MAX : is_digit ? digits + 1 : 0;
    }
    conversion[length] = '\0';
    for (; *at && strchr("hlLqjzt", *at); at++)
        is_long = is_long || *at != 'h';
    if (*at == '\0')
        return at;
    if (*at == '%')
        putchar('%');
    else if (strchr("diouxXceEfFgGaAsp", *at))
        print_value(print, conversion, length, is_long, *at);
    else
        printf("%s%c", conversion, *at);
    return at + 1;
}

static enum emu_step print(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                           int lane)
{
    char format[TEXT_MAX];
    struct print state = {.warp = warp, .group = group, .op = op, .lane = lane};
    const char *at = format;

    if (op->call->argument_count != 2)
        return emu_fault(warp, op, lane, EMU_ILLEGAL_INSTRUCTION, "vprintf takes two arguments");
    if (!read_text(warp, group, op, lane, argument(warp, group, op, lane, 0), format))
        return EMU_STEP_FAULT;
    state.arguments = argument(warp, group, op, lane, 1);
    while (*at && !state.failed) {
        if (*at == '%')
            at = print_conversion(&state, at);
        else
            putchar(*at++);
    }
    emu_charge(warp->cta->cluster, state.bytes + (uint64_t)(at - format));
    /* Unlike C's: CUDA C++ Programming Guide, "Formatted Output". */
    give(group, op, lane, state.read);
    return state.failed ? EMU_STEP_FAULT : EMU_STEP_NEXT;
}

/* ---- Assertions ---- */

static enum emu_step assertion(struct emu_warp *warp, struct emu_group *group,
                               const struct emu_op *op, int lane)
{
    char message[TEXT_MAX] = "", file[TEXT_MAX] = "";

    if (op->call->argument_count < 3)
        return emu_fault(warp, op, lane, EMU_TRAPPED, "an assertion");
    if (!read_text(warp, group, op, lane, argument(warp, group, op, lane, 0), message) ||
        !read_text(warp, group, op, lane, argument(warp, group, op, lane, 1), file))
        return EMU_STEP_FAULT;
    return emu_fault(warp, op, lane, EMU_TRAPPED, "%.100s:%u: assertion %.200s failed", file,
                     (unsigned)argument(warp, group, op, lane, 2), message);
}

/* ---- The heap ---- */

static enum emu_step allocate(struct emu_warp *warp, struct emu_group *group,
                              const struct emu_op *op, int lane)
{
    struct emu_device *device = warp->cta->cluster->run->device;
    uint64_t bytes, address;

    if (op->call->argument_count != 1)
        return emu_fault(warp, op, lane, EMU_ILLEGAL_INSTRUCTION, "malloc takes one argument");
    bytes = argument(warp, group, op, lane, 0);
    address = emu_heap_allocate(device, bytes);
    emu_charge(warp->cta->cluster, (address ? bytes : 0) + device->memory.count * sizeof(uint64_t));
    give(group, op, lane, address);
    return EMU_STEP_NEXT;
}

static enum emu_step release(struct emu_warp *warp, struct emu_group *group,
                             const struct emu_op *op, int lane)
{
    uint64_t address;

    if (op->call->argument_count != 1)
        return emu_fault(warp, op, lane, EMU_ILLEGAL_INSTRUCTION, "free takes one argument");
    address = argument(warp, group, op, lane, 0);
    if (address != 0 && !emu_heap_release(warp->cta->cluster->run->device, address))
        return emu_fault(warp, op, lane, EMU_ILLEGAL_ADDRESS, "free of 0x%llx",
                         (unsigned long long)address);
    return EMU_STEP_NEXT;
}

enum emu_step emu_builtin_call(struct emu_warp *warp, struct emu_group *group,
                               const struct emu_op *op, const struct emu_code *code, uint32_t mask)
{
    static const struct {
        const char *name;
        enum emu_step (*call)(struct emu_warp *, struct emu_group *, const struct emu_op *, int);
    } builtins[] = {
        {"vprintf", print}, {"__assertfail", assertion}, {"malloc", allocate}, {"free", release}};

    for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++) {
        if (strcmp(builtins[i].name, code->function->name) != 0)
            continue;
        for (int lane = 0; lane < EMU_LANES; lane++)
            if ((mask >> lane & 1) && builtins[i].call(warp, group, op, lane) == EMU_STEP_FAULT)
                return EMU_STEP_FAULT;
        return EMU_STEP_NEXT;
    }
    return emu_fault(warp, op, -1, EMU_ILLEGAL_INSTRUCTION,
                     "%s is declared, has no body, and is none that every device has",
                     code->function->name);
}
