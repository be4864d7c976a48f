/* tensor_product_draw.c: where A and B lie in shared memory, drawn inside of what PTX allows (ISA,
 * "Matrix Descriptor Format", "Strides"). */
#include "tests/gpu/tensor_product.h"

#include <string.h>

enum {
    CORE_BYTES = 128, /* of a core matrix: 8 rows of 16 bytes */
    K_BYTES = 32,     /* of one instruction, whatever the type */
    REGION = 1024
};

const struct tensor_product_type *tensor_product_type(const char *name)
{
    static const struct tensor_product_type types[] = {
        {"f16", 16, 5, 10}, {"bf16", 16, 8, 7}, {"tf32", 32, 8, 23}, {"e4m3", 8, 4, 3},
        {"e5m2", 8, 5, 2},  {"s8", 8, 0, 0},    {"u8", 8, 0, 0},     {"b1", 1, 0, 0},
        {"f32", 32, 8, 23}, {"s32", 32, 0, 0},
    };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

int tensor_product_registers(const struct tensor_product *product)
{
    return product->n * product->d->bits / 64;
}

int tensor_product_depth(const struct tensor_product *product)
{
    return 8 * K_BYTES / product->a.type->bits;
}

/* Of the swizzle's span, in 16 bytes. */
static int width_of(const struct tensor_operand *operand)
{
    return operand->swizzle == 0 ? 1 : operand->swizzle / 16;
}

static void set_canonical(struct tensor_operand *operand)
{
    uint32_t core = (uint32_t)(CORE_BYTES * width_of(operand));

    if (operand->swizzle == 0) {
        operand->leading = operand->is_mn_major ? core * (uint32_t)operand->rows / 8 : core;
        operand->stride = operand->is_mn_major ? core : 2 * core;
    } else {
        operand->leading = operand->is_mn_major ? 2 * core : 16;
        operand->stride = core;
    }
}

/* In a swizzled matrix the leading offset is of no meaning where K is contiguous. */
static void draw_offsets(struct tensor_draw *draw, struct tensor_operand *operand)
{
    uint32_t unit = operand->swizzle == 0 ? 16 : CORE_BYTES;

    operand->leading = unit * (uint32_t)tensor_draw_from(draw, 1, 24);
    operand->stride = unit * (uint32_t)tensor_draw_from(draw, 1, operand->swizzle == 0 ? 80 : 16);
}

/* From the start to behind the last byte that is read. */
static uint32_t extent_of(const struct tensor_operand *operand)
{
    uint32_t width = (uint32_t)width_of(operand), rows = (uint32_t)operand->rows,
             within = 7 * 16 * width + 16 * width;

    if (!operand->is_mn_major && operand->swizzle == 0)
        return (rows / 8 - 1) * operand->stride + operand->leading + within;
    if (!operand->is_mn_major)
        return (rows / 8 - 1) * operand->stride + within + K_BYTES;
    if (operand->swizzle == 0)
        return (rows / 8 - 1) * operand->stride + operand->leading + within;
    return (rows / (8 * width)) * operand->leading + operand->stride + within;
}

/* The pattern begins at a line of 128 bytes, in a fourth not at one of 1024; an instruction may
 * begin further on along K. */
static void draw_start(struct tensor_draw *draw, struct tensor_operand *operand)
{
    int width = width_of(operand);

    if (operand->swizzle == 0) {
        operand->start = (uint32_t)(16 * tensor_draw_below(draw, 40));
        return;
    }
    operand->base_offset =
        tensor_draw_below(draw, 4) == 0 ? (uint32_t)tensor_draw_from(draw, 1, 7) : 0;
    operand->start = CORE_BYTES * operand->base_offset;
    if (!operand->is_mn_major)
        operand->start += (uint32_t)(K_BYTES * tensor_draw_below(draw, width / 2));
}

void tensor_draw_operand(struct tensor_draw *draw, struct tensor_operand *operand, uint32_t at,
                         bool is_canonical)
{
    operand->at = at;
    if (is_canonical)
        set_canonical(operand);
    else
        draw_offsets(draw, operand);
    draw_start(draw, operand);
    operand->bytes = (operand->start + extent_of(operand) + REGION - 1) / REGION * REGION;
}
