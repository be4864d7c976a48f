/* tensor_products.c: which products the suite has. Half of them are of small whole numbers, of
 * which every sum is exact, the other half of any finite ones; a few have infinities and NaN. */
#include "tests/gpu/form_bits.h"
#include "tests/gpu/tensor_product.h"

#include <stdio.h>
#include <string.h>

enum {
    N_MAX = 256,
    THREADS = 128,
    A_REGISTERS = 4,
    LAYOUTS = 64, /* both majors and four swizzles, of A and of B */
    K_LAYOUTS = 32,
    GROUPED = 12,
    HIGH = 8,
    HIGH_BYTES = 120 << 10,
    SPECIAL = 12,
    TWO_WARPGROUPS = 4
};

/* Seeds of the chapters. */
enum {
    SEED_SHAPES = 0x3a30,
    SEED_TYPES,
    SEED_LAYOUTS,
    SEED_K_LAYOUTS,
    SEED_REGISTERS,
    SEED_GROUPS,
    SEED_HIGH,
    SEED_SPECIAL,
    SEED_WARPGROUPS
};

enum values { WHOLE, FINITE, SPECIALS };

static const struct {
    const char *d, *a, *b;
    bool saturates;
} types[] = {
    {"f32", "f16", "f16", false},   {"f16", "f16", "f16", false},   {"f32", "bf16", "bf16", false},
    {"f32", "tf32", "tf32", false}, {"f32", "e4m3", "e4m3", false}, {"f32", "e4m3", "e5m2", false},
    {"f32", "e5m2", "e4m3", false}, {"f32", "e5m2", "e5m2", false}, {"f16", "e4m3", "e4m3", false},
    {"f16", "e4m3", "e5m2", false}, {"f16", "e5m2", "e4m3", false}, {"f16", "e5m2", "e5m2", false},
    {"s32", "s8", "s8", false},     {"s32", "s8", "u8", false},     {"s32", "u8", "s8", false},
    {"s32", "u8", "u8", false},     {"s32", "s8", "s8", true},      {"s32", "s8", "u8", true},
    {"s32", "u8", "s8", true},      {"s32", "u8", "u8", true},      {"s32", "b1", "b1", false},
};
enum { TYPES = sizeof types / sizeof types[0], FIRST_OTHER = 2, FLOATS = 12 };

/* ---- Values ---- */

static uint64_t whole_bits(const struct tensor_product_type *type, int value)
{
    int magnitude = value < 0 ? -value : value, exponent = 0;
    uint64_t sign = (uint64_t)(value < 0) << (type->exponent + type->mantissa), fraction;

    if (magnitude == 0)
        return 0;
    while (magnitude >> (exponent + 1))
        exponent++;
    fraction = (uint64_t)(magnitude - (1 << exponent)) << type->mantissa >> exponent;
    return sign | (uint64_t)((1 << (type->exponent - 1)) - 1 + exponent) << type->mantissa |
           fraction;
}

/* Of a sum: every other one so near an end that products may go beyond it. */
static uint64_t draw_sum(uint64_t random)
{
    uint64_t from_end = random >> 8 & ((UINT64_C(1) << (random >> 40) % 20) - 1);

    if (random & 1)
        return random >> 32;
    return random & 2 ? 0x7fffffff - from_end : 0x80000000 + from_end;
}

static uint64_t draw_value(const struct tensor_product_type *type, enum values values,
                           uint64_t index)
{
    uint64_t random = lt_random_mix(index),
             ignored = strcmp(type->name, "tf32") == 0 ? random >> 32 & 0x1fff : 0;

    if (type->exponent == 0)
        return type->bits == 32 ? draw_sum(random) : random;
    if (values == WHOLE)
        return whole_bits(type, (int)(random % 9) - 4) | ignored;
    return values == FINITE ? form_draw_finite(index, type->exponent, type->mantissa)
                            : form_draw_float(index, type->exponent, type->mantissa);
}

static void fill_values(unsigned char *bytes, uint32_t count,
                        const struct tensor_product_type *type, enum values values, uint64_t seed)
{
    uint32_t size = type->bits < 8 ? 1 : (uint32_t)type->bits / 8;

    for (uint32_t i = 0; i + size <= count; i += size) {
        uint64_t value = draw_value(type, values, seed + i);

        memcpy(bytes + i, &value, size);
    }
}

/* ---- Making a case ---- */

static void fill_case(const struct tensor_product *product, struct tensor_case *it,
                      enum values values)
{
    uint32_t a_bytes = A_REGISTERS * product->threads * 4,
             d_bytes = tensor_product_register_bytes(product) - a_bytes;
    unsigned char *image = it->memory + it->image_at;

    tensor_fill(it->memory, it->bytes, 0x3a7);
    fill_values(it->memory, d_bytes, product->d, values, 0x10000000);
    fill_values(it->memory + d_bytes, a_bytes, product->a.type, values, 0x20000000);
    fill_values(image + product->a.at, product->a.bytes, product->a.type, values, 0x30000000);
    fill_values(image + product->b.at, product->b.bytes, product->b.type, values, 0x40000000);
}

static const char *major_of(const struct tensor_operand *operand)
{
    return operand->is_mn_major ? "mn" : "k";
}

struct chapter {
    struct tensor_cases *cases;
    bool exact; /* the cases that are looked for */
    const char *name;
};

static bool emit(const struct chapter *chapter, const struct tensor_product *product, int index,
                 enum values values)
{
    struct tensor_case *it = chapter->cases->it;
    bool exact = values != WHOLE;

    if (exact != chapter->exact || !tensor_is_wanted(chapter->cases))
        return true;
    it->ctas = 1;
    it->threads = product->threads;
    it->exact = exact;
    it->traps = it->is_map = false;
    it->map = (struct tensor_map){.rank = 0};
    it->shared_bytes = product->b.at + product->b.bytes;
    snprintf(it->name, sizeof it->name, "wgmma, %s %d: n%d %s.%s.%s%s A %s %s%d B %s %d%s",
             chapter->name, index, product->n, product->d->name, product->a.type->name,
             product->b.type->name, product->saturates ? ".satfinite" : "", major_of(&product->a),
             product->a_in_registers ? "registers " : "", product->a.swizzle, major_of(&product->b),
             product->b.swizzle,
             values == WHOLE    ? " whole"
             : values == FINITE ? " finite"
                                : " special");
    tensor_case_lay_out(it, tensor_product_register_bytes(product));
    fill_case(product, it, values);
    tensor_product_write(product, it);
    return chapter->cases->use(chapter->cases->user, it);
}

/* ---- Drawing ---- */

static int draw_swizzle(struct tensor_draw *draw)
{
    static const int swizzles[] = {0, 32, 64, 128};

    return swizzles[tensor_draw_below(draw, 4)];
}

static struct tensor_product draw_product(struct tensor_draw *draw, int type, int n)
{
    struct tensor_product product = {
        .d = tensor_product_type(types[type].d),
        .n = n,
        .a = {.type = tensor_product_type(types[type].a), .rows = 64},
        .b = {.type = tensor_product_type(types[type].b), .rows = n},
        .saturates = types[type].saturates,
        .scale_d = (enum tensor_scale_d)(tensor_draw_below(draw, 2) ? tensor_draw_below(draw, 4)
                                                                    : TENSOR_TRUE),
        .steps = 1,
        .accumulators = 1,
        .threads = THREADS};

    product.a.swizzle = draw_swizzle(draw);
    product.b.swizzle = draw_swizzle(draw);
    product.a.is_negated = tensor_draw_below(draw, 3) == 0;
    product.b.is_negated = tensor_draw_below(draw, 3) == 0;
    return product;
}

static int span_elements(const struct tensor_operand *operand)
{
    return operand->swizzle == 0 ? 8 : operand->swizzle / 2;
}

/* Operands of 16 bits, along M and N too where whole spans fit. */
static void draw_majors(struct tensor_draw *draw, struct tensor_product *product)
{
    if (product->a.type->bits != 16)
        return;
    product->a.is_mn_major = tensor_draw_below(draw, 2);
    product->b.is_mn_major =
        tensor_draw_below(draw, 2) && product->n % span_elements(&product->b) == 0;
}

static void place_operands(struct tensor_draw *draw, struct tensor_product *product,
                           bool is_canonical)
{
    tensor_draw_operand(draw, &product->a, 0, is_canonical);
    tensor_draw_operand(draw, &product->b, product->a.bytes, is_canonical);
}

/* ---- Chapters ---- */

static bool shapes(struct chapter *chapter)
{
    for (int i = 0; i < 2 * N_MAX / 8; i++) {
        struct tensor_draw draw = tensor_draw_of(SEED_SHAPES, i);
        struct tensor_product product = draw_product(&draw, i % 2, 8 * (i / 2 + 1));

        draw_majors(&draw, &product);
        place_operands(&draw, &product, tensor_draw_below(&draw, 2));
        if (!emit(chapter, &product, i, (i / 2 + i) % 2 ? FINITE : WHOLE))
            return false;
    }
    return true;
}

static bool other_types(struct chapter *chapter)
{
    static const int columns[] = {8, 24, 32, 64, 112, 256};
    enum { COLUMNS = sizeof columns / sizeof columns[0] };

    for (int i = 0; i < (TYPES - FIRST_OTHER) * COLUMNS; i++) {
        struct tensor_draw draw = tensor_draw_of(SEED_TYPES, i);
        struct tensor_product product =
            draw_product(&draw, FIRST_OTHER + i / COLUMNS, columns[i % COLUMNS]);

        draw_majors(&draw, &product);
        place_operands(&draw, &product, tensor_draw_below(&draw, 2));
        if (!emit(chapter, &product, i, i % 2 ? FINITE : WHOLE))
            return false;
    }
    return true;
}

static bool layouts(struct chapter *chapter)
{
    static const int swizzles[] = {0, 32, 64, 128};

    for (int i = 0; i < LAYOUTS; i++) {
        struct tensor_draw draw = tensor_draw_of(SEED_LAYOUTS, i);
        int type = tensor_draw_below(&draw, 3);
        struct tensor_product product =
            draw_product(&draw, type, 64 * tensor_draw_from(&draw, 1, 2));

        product.a.swizzle = swizzles[i % 4];
        product.b.swizzle = swizzles[i / 4 % 4];
        product.a.is_mn_major = i / 16 % 2;
        product.b.is_mn_major = i / 32 % 2;
        place_operands(&draw, &product, tensor_draw_below(&draw, 2));
        if (!emit(chapter, &product, i, (i + i / 4 + i / 16) % 2 ? FINITE : WHOLE))
            return false;
    }
    return true;
}

/* Of the types that lie along K alone. */
static bool k_layouts(struct chapter *chapter)
{
    static const int swizzles[] = {0, 32, 64, 128};

    for (int i = 0; i < K_LAYOUTS; i++) {
        struct tensor_draw draw = tensor_draw_of(SEED_K_LAYOUTS, i);
        int type = tensor_draw_from(&draw, 3, TYPES - 1);
        struct tensor_product product =
            draw_product(&draw, type, 16 * tensor_draw_from(&draw, 1, 8));

        product.a.swizzle = swizzles[i % 4];
        product.b.swizzle = swizzles[i / 4 % 4];
        place_operands(&draw, &product, i >= K_LAYOUTS / 2);
        if (!emit(chapter, &product, i, (i + i / 4) % 2 ? FINITE : WHOLE))
            return false;
    }
    return true;
}

static bool from_registers(struct chapter *chapter)
{
    for (int i = 0; i < 2 * TYPES; i++) {
        struct tensor_draw draw = tensor_draw_of(SEED_REGISTERS, i);
        struct tensor_product product =
            draw_product(&draw, i / 2, 16 * tensor_draw_from(&draw, 1, 8));

        draw_majors(&draw, &product);
        product.a_in_registers = true;
        product.a.is_mn_major = false;
        place_operands(&draw, &product, tensor_draw_below(&draw, 2));
        if (!emit(chapter, &product, i, i % 2 ? FINITE : WHOLE))
            return false;
    }
    return true;
}

/* Groups in flight, several D, and sums along K. */
static bool groups(struct chapter *chapter)
{
    for (int i = 0; i < GROUPED; i++) {
        struct tensor_draw draw = tensor_draw_of(SEED_GROUPS, i);
        int type = tensor_draw_below(&draw, TYPES);
        struct tensor_product product =
            draw_product(&draw, type, 16 * tensor_draw_from(&draw, 1, 4));

        product.accumulators = tensor_draw_from(&draw, 1, TENSOR_ACCUMULATORS_MAX);
        product.steps = product.accumulators *
                        tensor_draw_from(&draw, 1, TENSOR_STEPS_MAX / product.accumulators);
        product.a.swizzle = product.b.swizzle = 128;
        product.step_bytes = product.steps <= 4 ? 32 : 1024;
        place_operands(&draw, &product, true);
        product.a.start = product.b.start = product.a.base_offset = product.b.base_offset = 0;
        product.a.bytes += (uint32_t)product.steps * 1024;
        product.b.at = product.a.bytes;
        product.b.bytes += (uint32_t)product.steps * 1024;
        if (!emit(chapter, &product, i, i % 2 ? FINITE : WHOLE))
            return false;
    }
    return true;
}

/* Addresses that need all bits of a descriptor. */
static bool high_addresses(struct chapter *chapter)
{
    for (int i = 0; i < HIGH; i++) {
        struct tensor_draw draw = tensor_draw_of(SEED_HIGH, i);
        int type = tensor_draw_below(&draw, TYPES);
        struct tensor_product product =
            draw_product(&draw, type, 16 * tensor_draw_from(&draw, 1, 8));

        draw_majors(&draw, &product);
        tensor_draw_operand(&draw, &product.a, HIGH_BYTES + (uint32_t)(i % 4) * 8192, i % 2);
        tensor_draw_operand(&draw, &product.b, product.a.at + product.a.bytes, i % 2);
        if (!emit(chapter, &product, i, i % 2 ? FINITE : WHOLE))
            return false;
    }
    return true;
}

static bool special_values(struct chapter *chapter)
{
    for (int i = 0; i < SPECIAL; i++) {
        struct tensor_draw draw = tensor_draw_of(SEED_SPECIAL, i);
        struct tensor_product product =
            draw_product(&draw, i % FLOATS, 8 * tensor_draw_from(&draw, 1, 16));

        place_operands(&draw, &product, true);
        if (!emit(chapter, &product, i, SPECIALS))
            return false;
    }
    return true;
}

static bool two_warpgroups(struct chapter *chapter)
{
    for (int i = 0; i < TWO_WARPGROUPS; i++) {
        struct tensor_draw draw = tensor_draw_of(SEED_WARPGROUPS, i);
        int type = tensor_draw_below(&draw, TYPES);
        struct tensor_product product =
            draw_product(&draw, type, 16 * tensor_draw_from(&draw, 1, 6));

        product.threads = 2 * THREADS;
        product.a_in_registers = i / 2;
        place_operands(&draw, &product, false);
        if (!emit(chapter, &product, i, i % 2 ? FINITE : WHOLE))
            return false;
    }
    return true;
}

bool tensor_each_product(struct tensor_cases *cases, bool exact)
{
    static const struct {
        const char *name;
        bool (*each)(struct chapter *chapter);
    } chapters[] = {
        {"shape", shapes},
        {"type", other_types},
        {"layout", layouts},
        {"K layout", k_layouts},
        {"registers", from_registers},
        {"groups", groups},
        {"high address", high_addresses},
        {"special values", special_values},
        {"two warpgroups", two_warpgroups},
    };

    for (size_t i = 0; i < sizeof chapters / sizeof chapters[0]; i++) {
        struct chapter chapter = {.cases = cases, .exact = exact, .name = chapters[i].name};

        if (!chapters[i].each(&chapter))
            return false;
    }
    return true;
}
