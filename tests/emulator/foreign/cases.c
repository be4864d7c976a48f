/* The tables of all cases, and the values of a case before and after its launch. */
#include "tests/emulator/foreign/foreign.h"

#include <math.h>
#include <string.h>

#define GRID(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define BLOCK(...)                                                                                 \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define CLUSTER(...)                                                                               \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

#define ZERO                                                                                       \
    {                                                                                              \
        .kind = FOREIGN_ZERO                                                                       \
    }
#define BITS                                                                                       \
    {                                                                                              \
        .kind = FOREIGN_BITS                                                                       \
    }
#define INDEX                                                                                      \
    {                                                                                              \
        .kind = FOREIGN_INDEX                                                                      \
    }
#define SPECIAL                                                                                    \
    {                                                                                              \
        .kind = FOREIGN_SPECIAL                                                                    \
    }
#define FP8                                                                                        \
    {                                                                                              \
        .kind = FOREIGN_FP8                                                                        \
    }
#define STRIPES                                                                                    \
    {                                                                                              \
        .kind = FOREIGN_STRIPES                                                                    \
    }
#define TEXT                                                                                       \
    {                                                                                              \
        .kind = FOREIGN_TEXT                                                                       \
    }
#define SETTINGS                                                                                   \
    {                                                                                              \
        .kind = FOREIGN_SETTINGS                                                                   \
    }
#define WHOLE(from, to)                                                                            \
    {                                                                                              \
        .kind = FOREIGN_WHOLE, .low = (from), .high = (to)                                         \
    }
#define RANGE(from, to)                                                                            \
    {                                                                                              \
        .kind = FOREIGN_RANGE, .low = (from), .high = (to)                                         \
    }
#define SCALES(from, to)                                                                           \
    {                                                                                              \
        .kind = FOREIGN_SCALES, .low = (from), .high = (to)                                        \
    }
#define RISING(from, to)                                                                           \
    {                                                                                              \
        .kind = FOREIGN_RISING, .low = (from), .high = (to)                                        \
    }

#define EXACT                                                                                      \
    {                                                                                              \
        .all = { 0, 0 }                                                                            \
    }
#define NEAR(r, a)                                                                                 \
    {                                                                                              \
        .all = {(r), (a) }                                                                         \
    }
#define BY_TABLE(t)                                                                                \
    {                                                                                              \
        .table = (t), .count = sizeof(t) / sizeof((t)[0])                                          \
    }

#define ARGUMENT(r, t, n) .role = FOREIGN_##r, .type = FOREIGN_##t, .count = (n)
#define IN(t, n, f)                                                                                \
    {                                                                                              \
        ARGUMENT(IN, t, n), .fill = f                                                              \
    }
#define OUT(t, n, near)                                                                            \
    {                                                                                              \
        ARGUMENT(OUT, t, n), .tolerance = near                                                     \
    }
#define INOUT(t, n, f, near)                                                                       \
    {                                                                                              \
        ARGUMENT(INOUT, t, n), .fill = f, .tolerance = near                                        \
    }
#define BY_VALUE(t, n, f)                                                                          \
    {                                                                                              \
        ARGUMENT(VALUE, t, n), .fill = f                                                           \
    }
#define VALUE(t, v) BY_VALUE(t, 1, WHOLE(v, v))
#define REAL(v) BY_VALUE(F32, 1, RANGE(v, v))
#define MAP(r, c, box_r, box_c, f)                                                                 \
    {                                                                                              \
        ARGUMENT(MAP, F16, (r) * (c)), .fill = f, .map = {(r), (c), (box_r), (box_c) }             \
    }
#define SCRATCH(n)                                                                                 \
    {                                                                                              \
        ARGUMENT(SCRATCH, U8, n)                                                                   \
    }
#define PRINTED(n)                                                                                 \
    {                                                                                              \
        ARGUMENT(PRINTED, U8, n)                                                                   \
    }

#define FOREIGN(f, e, t, g, b, c, shared, ...)                                                     \
    {.file = #f,                                                                                   \
     .entry = #e,                                                                                  \
     .targets = FOREIGN_##t,                                                                       \
     .grid = g,                                                                                    \
     .block = b,                                                                                   \
     .cluster = c,                                                                                 \
     .dynamic_shared_bytes = (shared),                                                             \
     .arguments = {__VA_ARGS__},                                                                   \
     .reference = foreign_##e},

/* How the texts of Triton are launched. */
#define LAUNCHED(name, entry, target, threads, shared, scratch, ctas)                              \
    static const char name##_entry[] = #entry;                                                     \
    enum {                                                                                         \
        name##_target = (target),                                                                  \
        name##_threads = (threads),                                                                \
        name##_shared = (shared),                                                                  \
        name##_scratch = (scratch),                                                                \
        name##_ctas = (ctas)                                                                       \
    };
#include "tests/emulator/triton/texts.def"

/* After its own arguments a kernel has one for scratch memory, of all CTAs, and one for a profile.
 */
enum { CTAS_AT_MOST = 64, SCRATCH_LEAST = 16 };
#define TRITON_TARGET(capability)                                                                  \
    ((capability) == 80   ? FOREIGN_TRITON_SM_80                                                   \
     : (capability) == 90 ? FOREIGN_TRITON_SM_90A                                                  \
                          : FOREIGN_TRITON_SM_100A)
#define TRITON(text, r, g, ...)                                                                    \
    {.file = #text,                                                                                \
     .entry = text##_entry,                                                                        \
     .targets = TRITON_TARGET(text##_target),                                                      \
     .grid = g,                                                                                    \
     .block = {text##_threads},                                                                    \
     .cluster = {text##_ctas},                                                                     \
     .dynamic_shared_bytes = text##_shared,                                                        \
     .arguments = {__VA_ARGS__, SCRATCH(text##_scratch * CTAS_AT_MOST + SCRATCH_LEAST),            \
                   VALUE(U64, 0)},                                                                 \
     .reference = triton_##r},

const struct foreign_case foreign_cases[] = {
#include "tests/emulator/foreign/cases.def"
#include "tests/emulator/triton/cases.def"
    {.file = NULL}};

static const uint32_t type_bytes[] = {
    [FOREIGN_U8] = 1,  [FOREIGN_S8] = 1,   [FOREIGN_U16] = 2,  [FOREIGN_U32] = 4,
    [FOREIGN_U64] = 8, [FOREIGN_F16] = 2,  [FOREIGN_BF16] = 2, [FOREIGN_F32] = 4,
    [FOREIGN_F64] = 8, [FOREIGN_E4M3] = 1, [FOREIGN_E5M2] = 1,
};

/* Of those that are smaller than f32; null for others. */
static const struct foreign_format *format_of(enum foreign_type type)
{
    switch (type) {
    case FOREIGN_F16:
        return &foreign_f16;
    case FOREIGN_BF16:
        return &foreign_bf16;
    case FOREIGN_E4M3:
        return &foreign_e4m3;
    case FOREIGN_E5M2:
        return &foreign_e5m2;
    case FOREIGN_U8:
    case FOREIGN_S8:
    case FOREIGN_U16:
    case FOREIGN_U32:
    case FOREIGN_U64:
    case FOREIGN_F32:
    case FOREIGN_F64:
        break;
    }
    return NULL;
}

size_t foreign_bytes(const struct foreign_argument *argument)
{
    return (size_t)argument->count * type_bytes[argument->type];
}

/* ---- Before ---- */

/* splitmix64 */
static uint64_t next_bits(uint64_t *random)
{
    uint64_t z = *random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* From 0 to below 1, in steps of 2^-53. */
static double next_real(uint64_t *random)
{
    return ldexp((double)(next_bits(random) >> 11), -53);
}

static double next_whole(uint64_t *random, double low, double high)
{
    return low + (double)(next_bits(random) % (uint64_t)(high - low + 1));
}

void foreign_store(enum foreign_type type, void *to, size_t index, double value)
{
    unsigned char *at = (unsigned char *)to + index * type_bytes[type];
    float single = (float)value;
    uint32_t code;
    int64_t whole;

    switch (type) {
    case FOREIGN_F16:
    case FOREIGN_BF16:
    case FOREIGN_E4M3:
    case FOREIGN_E5M2:
        code = foreign_narrow(format_of(type), FOREIGN_NEAREST, value);
        memcpy(at, &code, type_bytes[type]); /* little-endian: the low bytes */
        break;
    case FOREIGN_F32:
        memcpy(at, &single, sizeof single);
        break;
    case FOREIGN_F64:
        memcpy(at, &value, sizeof value);
        break;
    case FOREIGN_U8:
    case FOREIGN_S8:
    case FOREIGN_U16:
    case FOREIGN_U32:
    case FOREIGN_U64:
        whole = (int64_t)value;
        memcpy(at, &whole, type_bytes[type]);
        break;
    }
}

static uint32_t next_special(uint64_t *random)
{
    static const uint32_t codes[] = {0,          0x80000000, 0x7f800000, 0xff800000,
                                     0x7fc00000, 0x00000001, 0x807fffff, 0x00800000,
                                     0x7f7fffff, 0x3f800000, 0xbf800000, 0x3f000000};
    uint64_t bits = next_bits(random);

    if (bits % 4 == 0)
        return codes[bits / 4 % (sizeof codes / sizeof codes[0])];
    if (bits % 4 == 1) /* of the size of integers, so that conversions meet halves and limits */
        return (uint32_t)(bits >> 32 & 0x807fffff) | (uint32_t)(126 + bits / 4 % 40) << 23;
    return (uint32_t)(bits >> 32);
}

static unsigned char next_letter(uint64_t *random)
{
    static const char others[] = "  ,.-09175\n";
    uint64_t bits = next_bits(random);

    if (bits % 5 == 0)
        return (unsigned char)others[bits / 5 % (sizeof others - 1)];
    return (unsigned char)((bits / 5 % 4 ? 'a' : 'A') + bits / 20 % 26);
}

static void draw_settings(uint64_t *random, void *to)
{
    struct foreign_settings settings;

    memset(&settings, 0, sizeof settings); /* what lies between its fields, too */
    settings.step = (short)next_bits(random);
    settings.scale = next_real(random) * 8 - 4;
    settings.seed = next_bits(random);
    for (int i = 0; i < 6; i++)
        settings.name[i] = (signed char)next_bits(random);
    for (int i = 0; i < 9; i++)
        settings.table[i] = (float)next_real(random) * 100;
    memcpy(to, &settings, sizeof settings);
}

static void draw_bits(const struct foreign_argument *argument, uint64_t *random, void *to)
{
    unsigned char *bytes = to;
    uint32_t *words = to;
    size_t count = argument->count;

    for (size_t i = 0; i < foreign_bytes(argument) && argument->fill.kind == FOREIGN_BITS; i++)
        bytes[i] = (unsigned char)(next_bits(random) >> 24);
    for (size_t i = 0; i < count && argument->fill.kind == FOREIGN_SPECIAL; i++)
        words[i] = next_special(random);
    for (size_t i = 0; i < count && argument->fill.kind == FOREIGN_STRIPES; i++)
        words[i] = i / 32 % 2 ? (uint32_t)next_bits(random)
                              : (uint32_t)(i / 64 << 8 | (next_bits(random) & 0xff));
    for (size_t i = 0; i < count && argument->fill.kind == FOREIGN_TEXT; i++)
        bytes[i] = next_letter(random);
    for (size_t i = 0; i < count && argument->fill.kind == FOREIGN_FP8; i++)
        bytes[i] = (unsigned char)((next_bits(random) & 0x80) | next_bits(random) % 0x7f);
}

void foreign_draw(const struct foreign_argument *argument, uint64_t seed, void *to)
{
    const struct foreign_fill *fill = &argument->fill;
    uint64_t random = seed * 0x2545f4914f6cdd1du;
    double value = 0;

    memset(to, 0, foreign_bytes(argument));
    if (fill->kind == FOREIGN_SETTINGS)
        draw_settings(&random, to);
    draw_bits(argument, &random, to);
    for (size_t i = 0; i < argument->count; i++) {
        if (fill->kind == FOREIGN_INDEX)
            value = (double)i;
        else if (fill->kind == FOREIGN_RISING)
            value = i == 0 ? 0 : value + next_whole(&random, fill->low, fill->high);
        else if (fill->kind == FOREIGN_WHOLE)
            value = next_whole(&random, fill->low, fill->high);
        else if (fill->kind == FOREIGN_RANGE)
            value = fill->low + next_real(&random) * (fill->high - fill->low);
        else if (fill->kind == FOREIGN_SCALES)
            value = (next_bits(&random) & 1 ? -1 : 1) *
                    exp2(fill->low + next_real(&random) * (fill->high - fill->low));
        else
            return;
        foreign_store(argument->type, to, i, value);
    }
}

/* ---- After ---- */

double foreign_element(enum foreign_type type, const void *from, size_t index)
{
    const unsigned char *at = (const unsigned char *)from + index * type_bytes[type];
    uint64_t whole = 0;
    float single;
    double value;

    memcpy(&whole, at, type_bytes[type]);
    switch (type) {
    case FOREIGN_F16:
    case FOREIGN_BF16:
    case FOREIGN_E4M3:
    case FOREIGN_E5M2:
        return foreign_widen(format_of(type), (uint32_t)whole);
    case FOREIGN_S8:
        return (int8_t)whole;
    case FOREIGN_F32:
        memcpy(&single, at, sizeof single);
        return (double)single;
    case FOREIGN_F64:
        memcpy(&value, at, sizeof value);
        return value;
    case FOREIGN_U8:
    case FOREIGN_U16:
    case FOREIGN_U32:
    case FOREIGN_U64:
        break;
    }
    return (double)whole;
}

static bool is_near(const struct foreign_argument *argument, const void *got, const void *expected,
                    size_t index)
{
    const struct foreign_tolerance *tolerance = &argument->tolerance;
    const struct foreign_near *near =
        tolerance->table ? &tolerance->table[index % tolerance->count] : &tolerance->all;
    uint32_t bytes = type_bytes[argument->type];
    double g, e;

    if (memcmp((const char *)got + index * bytes, (const char *)expected + index * bytes, bytes) ==
        0)
        return true;
    if (argument->type < FOREIGN_F16)
        return false;
    g = foreign_element(argument->type, got, index);
    e = foreign_element(argument->type, expected, index);
    if (isnan(g) || isnan(e))
        return isnan(g) && isnan(e);
    if (near->relative == 0 && near->absolute == 0)
        return false;
    if (isinf(e))
        return false;
    return fabs(g - e) <= near->relative * fabs(e) + near->absolute;
}

long foreign_differs(const struct foreign_argument *argument, const void *got, const void *expected)
{
    for (size_t i = 0; i < argument->count; i++)
        if (!is_near(argument, got, expected, i))
            return (long)i;
    return -1;
}
