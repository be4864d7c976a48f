/* tensor_edges.c: copies that trap, and maps at the edge of what the driver encodes, or behind. */
#include "tests/gpu/tensor_copy.h"
#include "tests/gpu/tensor_text.h"

#include <stdio.h>

enum { SEED = 0xed6e };

/* ---- What traps ---- */

/* A tile of 16-bit elements, 32 x 8 in 64 x 16, at the origin. */
static struct tensor_copy plain_copy(bool is_store)
{
    return (struct tensor_copy){.map = {.type = TENSOR_U16,
                                        .rank = 2,
                                        .offset = 256,
                                        .dims = {64, 16},
                                        .strides = {0, 128},
                                        .box = {32, 8},
                                        .element_strides = {1, 1}},
                                .targets = 1,
                                .is_store = is_store,
                                .boxes = is_store};
}

/* Pixels of 32 channels, 8 of them, with one of padding around 7 x 6. */
static struct tensor_copy plain_pixels(void)
{
    return (struct tensor_copy){.map = {.is_im2col = true,
                                        .type = TENSOR_U16,
                                        .rank = 4,
                                        .offset = 256,
                                        .dims = {64, 7, 6, 2},
                                        .strides = {0, 128, 896, 5376},
                                        .element_strides = {1, 1, 1, 1},
                                        .lower = {-1, -1},
                                        .upper = {-1, -1},
                                        .channels = 32,
                                        .pixels = 8},
                                .at = {0, -1, -1, 0},
                                .targets = 1};
}

bool tensor_each_trap(struct tensor_cases *cases)
{
    static const struct {
        const char *kind;
        bool is_store, is_im2col;
        int dimension, at;
        uint32_t box_at;
    } rows[] = {
        {"the first coordinate no multiple of 16 bytes", false, false, 0, 4, 0},
        {"the first coordinate negative and no multiple of 16 bytes", false, false, 0, -4, 0},
        {"a store whose first coordinate is no multiple of 16 bytes", true, false, 0, 4, 0},
        {"a store before the first column", true, false, 0, -8, 0},
        {"a store before the first row", true, false, 1, -1, 0},
        {"a box at 64 bytes of shared memory", false, false, 1, 0, 64},
        {"a box at 16 bytes of shared memory", false, false, 1, 0, 16},
        {"a store of a box at 64 bytes of shared memory", true, false, 1, 0, 64},
        {"pixels from before the lower corner", false, true, 1, -2, 0},
        {"pixels from behind the upper corner", false, true, 2, 5, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tensor_copy copy = rows[i].is_im2col ? plain_pixels() : plain_copy(rows[i].is_store);
        char kind[96];

        copy.traps = true;
        copy.at[rows[i].dimension] = rows[i].at;
        copy.box_at = rows[i].box_at;
        snprintf(kind, sizeof kind, "trap, %s", rows[i].kind);
        if (!tensor_copy_emit(cases, &copy, 1, (int)i, kind))
            return false;
    }
    return true;
}

/* ---- Which maps there are ---- */

static bool emit_map(struct tensor_cases *cases, const struct tensor_map *map, const char *kind,
                     int index)
{
    struct tensor_case *it = cases->it;

    if (!tensor_is_wanted(cases))
        return true;
    it->ctas = 1;
    it->threads = 32;
    it->exact = it->traps = false;
    it->is_map = true;
    it->map = *map;
    it->shared_bytes = 16;
    snprintf(it->name, sizeof it->name, "map %d: %s", index, kind);
    tensor_case_lay_out(it, 4096);
    tensor_fill(it->memory, it->bytes, SEED);
    tensor_say_begin(it, "");
    tensor_say_fill(it);
    tensor_say_end(it);
    return cases->use(cases->user, it);
}

/* One field of the plain maps above, with a value at the edge of what cuda.h allows or behind. */
bool tensor_each_map(struct tensor_cases *cases)
{
    static const struct {
        const char *kind;
        bool is_im2col;
        enum tensor_field field;
        int ordinal;
        int64_t value;
    } rows[] = {
        {"plain", false, TENSOR_PROMOTION, 0, 0},
        {"pixels", true, TENSOR_PROMOTION, 0, 0},
        {"box of no rows", false, TENSOR_BOX_DIM, 1, 0},
        {"box of 256 rows", false, TENSOR_BOX_DIM, 1, 256},
        {"box of 257 rows", false, TENSOR_BOX_DIM, 1, 257},
        {"rows of the box of 256 elements", false, TENSOR_BOX_DIM, 0, 256},
        {"rows of the box of 264 elements", false, TENSOR_BOX_DIM, 0, 264},
        {"rows of the box of 24 bytes", false, TENSOR_BOX_DIM, 0, 12},
        {"box larger than the tensor", false, TENSOR_BOX_DIM, 0, 128},
        {"no columns", false, TENSOR_GLOBAL_DIM, 0, 0},
        {"2^32 rows", false, TENSOR_GLOBAL_DIM, 1, INT64_C(1) << 32},
        {"2^32 + 1 rows", false, TENSOR_GLOBAL_DIM, 1, (INT64_C(1) << 32) + 1},
        {"columns longer than the stride", false, TENSOR_GLOBAL_DIM, 0, 100},
        {"stride of 136", false, TENSOR_GLOBAL_STRIDE, 0, 136},
        {"stride of 2^40 - 16", false, TENSOR_GLOBAL_STRIDE, 0, (INT64_C(1) << 40) - 16},
        {"stride of 2^40", false, TENSOR_GLOBAL_STRIDE, 0, INT64_C(1) << 40},
        {"stride of 0", false, TENSOR_GLOBAL_STRIDE, 0, 0},
        {"element stride of 0", false, TENSOR_ELEMENT_STRIDE, 1, 0},
        {"element stride of 8", false, TENSOR_ELEMENT_STRIDE, 1, 8},
        {"element stride of 9", false, TENSOR_ELEMENT_STRIDE, 1, 9},
        {"first element stride of 0", false, TENSOR_ELEMENT_STRIDE, 0, 0},
        {"first element stride of 2", false, TENSOR_ELEMENT_STRIDE, 0, 2},
        {"first element stride of 9", false, TENSOR_ELEMENT_STRIDE, 0, 9},
        {"integers filled with NaN", false, TENSOR_FILL, 0, 1},
        {"fill of 2", false, TENSOR_FILL, 0, 2},
        {"promotion of 3", false, TENSOR_PROMOTION, 0, 3},
        {"promotion of 4", false, TENSOR_PROMOTION, 0, 4},
        {"rows longer than the swizzle", false, TENSOR_SWIZZLE, 0, 1},
        {"rows as long as the swizzle", false, TENSOR_SWIZZLE, 0, 2},
        {"swizzle with atoms of 32 bytes", false, TENSOR_SWIZZLE, 0, 4},
        {"swizzle of 7", false, TENSOR_SWIZZLE, 0, 7},
        {"interleaved with two dimensions", false, TENSOR_INTERLEAVE, 0, 1},
        {"interleave of 3", false, TENSOR_INTERLEAVE, 0, 3},
        {"address at 8 bytes", false, TENSOR_ADDRESS, 0, 264},
        {"type of 16", false, TENSOR_ELEMTYPE, 0, 16},
        {"rank of 0", false, TENSOR_RANK, 0, 0},
        {"rank of 6", false, TENSOR_RANK, 0, 6},
        {"pixels of two dimensions", true, TENSOR_RANK, 0, 2},
        {"lower corner at -128", true, TENSOR_LOWER, 0, -128},
        {"lower corner at -129", true, TENSOR_LOWER, 0, -129},
        {"upper corner at 127", true, TENSOR_UPPER, 1, 127},
        {"upper corner at 128", true, TENSOR_UPPER, 1, 128},
        {"lower corner behind the upper", true, TENSOR_LOWER, 0, 6},
        {"lower corner at the upper", true, TENSOR_LOWER, 0, 5},
        {"no channels", true, TENSOR_CHANNELS, 0, 0},
        {"256 channels", true, TENSOR_CHANNELS, 0, 256},
        {"264 channels", true, TENSOR_CHANNELS, 0, 264},
        {"12 channels", true, TENSOR_CHANNELS, 0, 12},
        {"no pixels", true, TENSOR_PIXELS, 0, 0},
        {"1024 pixels", true, TENSOR_PIXELS, 0, 1024},
        {"1025 pixels", true, TENSOR_PIXELS, 0, 1025},
        {"pixels filled with NaN", true, TENSOR_FILL, 0, 1},
        {"pixels with stride 8", true, TENSOR_ELEMENT_STRIDE, 1, 8},
        {"pixels with stride 9", true, TENSOR_ELEMENT_STRIDE, 1, 9},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tensor_map map = rows[i].is_im2col ? plain_pixels().map : plain_copy(false).map;

        tensor_map_set(&map, rows[i].field, rows[i].ordinal, (uint64_t)rows[i].value);
        if (!emit_map(cases, &map, rows[i].kind, (int)i))
            return false;
    }
    return true;
}
