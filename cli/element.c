#include "cli/element.h"

#include "cli/output.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct element elements[] = {
    {"u8", ELEMENT_UNSIGNED, 1, 0},  {"u16", ELEMENT_UNSIGNED, 2, 0},
    {"u32", ELEMENT_UNSIGNED, 4, 0}, {"u64", ELEMENT_UNSIGNED, 8, 0},
    {"s8", ELEMENT_SIGNED, 1, 0},    {"s16", ELEMENT_SIGNED, 2, 0},
    {"s32", ELEMENT_SIGNED, 4, 0},   {"s64", ELEMENT_SIGNED, 8, 0},
    {"f16", ELEMENT_FLOAT, 2, 10},   {"bf16", ELEMENT_FLOAT, 2, 7},
    {"f32", ELEMENT_FLOAT, 4, 23},   {"f64", ELEMENT_FLOAT, 8, 52},
};

const char element_names[] = "u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64";

const struct element *element_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
        if (strlen(elements[i].name) == length && strncmp(elements[i].name, name, length) == 0)
            return &elements[i];
    return NULL;
}

/* ---- Bits ---- */

static void put(const struct element *element, uint64_t bits, unsigned char *bytes)
{
    for (int i = 0; i < element->bytes; i++)
        bytes[i] = (unsigned char)(bits >> 8 * i);
}

static uint64_t get(const struct element *element, const unsigned char *bytes)
{
    uint64_t bits = 0;

    for (int i = 0; i < element->bytes; i++)
        bits |= (uint64_t)bytes[i] << 8 * i;
    return bits;
}

static int64_t get_signed(const struct element *element, const unsigned char *bytes)
{
    int unused = 64 - 8 * element->bytes;

    return (int64_t)(get(element, bytes) << unused) >> unused;
}

static int bias_of(const struct element *element)
{
    return (1 << (8 * element->bytes - 2 - element->fraction)) - 1;
}

/* To nearest even; what is too large becomes infinite. */
static uint64_t float_bits(const struct element *element, double number)
{
    int bias = bias_of(element), exponent;
    uint64_t sign = (uint64_t)(signbit(number) != 0) << (8 * element->bytes - 1);
    uint64_t infinite = (uint64_t)(2 * bias + 1) << element->fraction;
    double size = fabs(number);

    if (isnan(number))
        return infinite | ((UINT64_C(1) << element->fraction) - 1);
    if (isinf(number) || size == 0)
        return sign | (size == 0 ? 0 : infinite);
    frexp(size, &exponent);
    exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;

    /* In units of the last bit. Where the rounding carries, the sum of the fields is right, too. */
    uint64_t units = (uint64_t)nearbyint(ldexp(size, element->fraction - exponent));
    uint64_t bits = ((uint64_t)(exponent + bias - 1) << element->fraction) + units;

    return sign | (bits < infinite ? bits : infinite);
}

static double float_value(const struct element *element, const unsigned char *bytes)
{
    uint64_t bits = get(element, bytes);
    uint64_t fraction = bits & ((UINT64_C(1) << element->fraction) - 1);
    int bias = bias_of(element);
    int field = (int)(bits >> element->fraction) & (2 * bias + 1);
    bool negative = bits >> (8 * element->bytes - 1) & 1;
    double size;

    if (field == 2 * bias + 1)
        size = fraction ? (double)NAN : (double)INFINITY;
    else if (field == 0)
        size = ldexp((double)fraction, 1 - bias - element->fraction);
    else
        size = ldexp((double)(fraction | UINT64_C(1) << element->fraction),
                     field - bias - element->fraction);
    return negative ? -size : size;
}

/* ---- Words ---- */

static bool parse_float(const struct element *element, const char *text, unsigned char *bytes)
{
    char *end;
    double number = strtod(text, &end);

    if (end == text || *end)
        return false;
    put(element, float_bits(element, number), bytes);
    return true;
}

/* Decimal or 0x. The type's range, of signed and unsigned ones. */
static bool parse_integer(const struct element *element, const char *text, unsigned char *bytes)
{
    bool negative = text[0] == '-';
    const char *digits = text + negative;
    bool is_signed = element->kind == ELEMENT_SIGNED;
    uint64_t most = UINT64_MAX >> (64 - 8 * element->bytes + is_signed);
    char *end;

    if (*digits < '0' || *digits > '9' || (negative && !is_signed))
        return false;
    errno = 0;

    uint64_t size = strtoull(digits, &end, strncmp(digits, "0x", 2) == 0 ? 16 : 10);

    if (errno || *end || size > most + negative)
        return false;
    put(element, negative ? 0 - size : size, bytes);
    return true;
}

bool element_parse(const struct element *element, const char *text, unsigned char *bytes)
{
    return element->kind == ELEMENT_FLOAT ? parse_float(element, text, bytes)
                                          : parse_integer(element, text, bytes);
}

void element_store(const struct element *element, double number, unsigned char *bytes)
{
    put(element,
        element->kind == ELEMENT_FLOAT ? float_bits(element, number) : (uint64_t)(int64_t)number,
        bytes);
}

const char *element_text(const struct element *element, const unsigned char *bytes,
                         char text[ELEMENT_TEXT_SIZE])
{
    switch (element->kind) {
    case ELEMENT_UNSIGNED:
        snprintf(text, ELEMENT_TEXT_SIZE, "%llu", (unsigned long long)get(element, bytes));
        break;
    case ELEMENT_SIGNED:
        snprintf(text, ELEMENT_TEXT_SIZE, "%lld", (long long)get_signed(element, bytes));
        break;
    case ELEMENT_FLOAT:
        snprintf(text, ELEMENT_TEXT_SIZE, "%.*g",
                 element->bytes == 8   ? 17
                 : element->bytes == 4 ? 9
                                       : 5,
                 float_value(element, bytes));
        break;
    }
    return text;
}

json_t *element_json(const struct element *element, const unsigned char *bytes)
{
    uint64_t bits = get(element, bytes);

    if (element->kind == ELEMENT_FLOAT)
        return json_number(float_value(element, bytes));
    if (element->kind == ELEMENT_SIGNED)
        return json_integer(get_signed(element, bytes));
    return bits <= INT64_MAX ? json_integer((json_int_t)bits) : json_real((double)bits);
}
