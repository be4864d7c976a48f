/* tensor_copy_case.c: a copy as a case: what it is called, and the bytes that it moves. */
#include "tests/gpu/form_bits.h"
#include "tests/gpu/tensor_copy.h"

#include <stdio.h>
#include <string.h>

enum {
    THREADS = 128,
    TAIL = 128 /* bytes behind the last box that are given back too */
};

/* Of the low bits of an f32, which tf32 has not: around the half, which is rounded to even. */
static uint64_t tf32_value(uint64_t index)
{
    static const uint64_t lows[] = {0, 0xfff, 0x1000, 0x1001};
    uint64_t bits = form_draw_float(index, 8, 23), random = lt_random_mix(index);

    return random % 5 < 4 ? (bits & ~UINT64_C(0x1fff)) | lows[random % 5] : bits;
}

/* Values that meet: of integers small ones, large ones and any; of floats the special ones too. */
static uint64_t draw_value(int type, uint64_t index)
{
    uint64_t random = lt_random_mix(index);

    switch (type) {
    case TENSOR_F16:
        return form_draw_float(index, 5, 10);
    case TENSOR_BF16:
        return form_draw_float(index, 8, 7);
    case TENSOR_F32:
    case TENSOR_F32_FTZ:
        return form_draw_float(index, 8, 23);
    case TENSOR_F64:
        return form_draw_float(index, 11, 52);
    case TENSOR_TF32:
    case TENSOR_TF32_FTZ:
        return tf32_value(index);
    default:
        return random % 3 == 0 ? random >> 8 & 7 : random % 3 == 1 ? ~(random >> 8 & 7) : random;
    }
}

static void fill_values(unsigned char *bytes, uint32_t count, int type, uint64_t seed)
{
    uint32_t size = tensor_element_bytes(type);

    for (uint32_t i = 0; i + size <= count; i += size) {
        uint64_t value = draw_value(type, seed + i);

        memcpy(bytes + i, &value, size);
    }
}

static void make_case(const struct tensor_copy *copy, struct tensor_case *it)
{
    int boxes = copy->boxes > 1 ? copy->boxes : 1;

    it->threads = THREADS;
    it->map = copy->replaces ? copy->first_map : copy->map;
    it->shared_bytes = copy->box_at + (uint32_t)boxes * tensor_copy_pitch(copy) + TAIL;
    it->shared_bytes = (it->shared_bytes + 15) / 16 * 16;
    tensor_case_lay_out(it, copy->map.offset + tensor_extent(&copy->map));
    tensor_fill(it->memory, it->bytes, 0x7e45);
    if (copy->reduction || tensor_type_is_float(copy->map.type)) {
        fill_values(it->memory, it->image_at, copy->map.type, 0x10000000);
        fill_values(it->memory + it->image_at, it->shared_bytes, copy->map.type, 0x20000000);
    }
    tensor_copy_write(copy, it);
}

bool tensor_copy_emit(struct tensor_cases *cases, const struct tensor_copy *copy, unsigned ctas,
                      int index, const char *kind)
{
    struct tensor_case *it = cases->it;
    const struct tensor_map *map = &copy->map;

    if (!tensor_is_wanted(cases))
        return true;
    it->ctas = ctas;
    it->exact = it->is_map = false;
    it->traps = copy->traps;
    snprintf(it->name, sizeof it->name, "%s %d: %dd %s swizzle %u%s%s", kind, index, map->rank,
             tensor_type_name(map->type), tensor_swizzle_bytes(map),
             map->is_im2col ? " im2col" : "", map->fill ? " nan" : "");
    make_case(copy, it);
    return cases->use(cases->user, it);
}
