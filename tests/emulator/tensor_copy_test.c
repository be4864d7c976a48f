/* Tensor copies against a model that goes element by element through the rules as the manual and
 * the measurements state them, on maps and boxes drawn at random; then what traps. */
#include "emulator/tensor_map.h"
#include "tests/emulator/random.h"
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <string.h>

enum { SHARED_BYTES = 1 << 18, GLOBAL_BYTES = 1 << 20, UNTOUCHED = 0xee };

static const uint64_t global_base = UINT64_C(0x700000000000);

struct world {
    unsigned char shared[SHARED_BYTES], global[GLOBAL_BYTES];
    unsigned char expected[SHARED_BYTES > GLOBAL_BYTES ? SHARED_BYTES : GLOBAL_BYTES];
    const struct emu_tensor_map *map;
    bool is_load;
    uint32_t inside_bytes;
};

/* ---- Moving the pieces, as a machine would ---- */

static bool move_piece(void *user, uint32_t shared, uint64_t global, uint32_t bytes,
                       uint32_t inside, const unsigned char *fill)
{
    struct world *world = user;

    assert_true(bytes > 0);
    assert_in_range(shared, 0, SHARED_BYTES - bytes);
    assert_in_range(inside, 0, bytes);
    world->inside_bytes += inside;
    if (fill) {
        assert_true(world->is_load && inside == 0);
        memcpy(world->shared + shared, fill, bytes);
        return true;
    }
    assert_in_range(global - global_base, 0, GLOBAL_BYTES - bytes);
    if (world->is_load) {
        memcpy(world->shared + shared, world->global + (global - global_base), bytes);
        emu_tensor_convert(world->map, world->shared + shared, bytes);
    } else {
        memcpy(world->global + (global - global_base), world->shared + shared, bytes);
    }
    return true;
}

/* ---- The model ---- */

static uint32_t model_swizzle(int swizzle, uint32_t a)
{
    switch (swizzle) {
    case 1:
        return a ^ ((a >> 7) & 1) << 4;
    case 2:
        return a ^ ((a >> 7) & 3) << 4;
    case 3:
        return a ^ ((a >> 7) & 7) << 4;
    case 4:
        return a ^ ((a >> 7) & 3) << 5;
    case 5:
        return (a ^ ((a >> 7) & 3) << 5) ^ ((a >> 7) & 1) << 3;
    case 6:
        return a ^ ((a >> 7) & 1) << 6;
    default:
        return a;
    }
}

/* To tf32 by the host's rounding of a double: 10 fraction bits, 13 fewer for each subnormal bit. */
static void model_tf32(unsigned char *element)
{
    float value;

    memcpy(&value, element, 4);
    if (isnan(value)) {
        const uint32_t nan = 0x7fffe000;

        memcpy(element, &nan, 4);
    } else if (isfinite(value) && value != 0) {
        int exponent;

        frexp((double)value, &exponent);
        exponent = exponent < -125 ? -125 : exponent;
        value = (float)(nearbyint(ldexp((double)value, 11 - exponent)) * ldexp(1, exponent - 11));
        memcpy(element, &value, 4);
    }
}

static int element_size(int type)
{
    static const int sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

    return sizes[type];
}

static uint32_t model_pitch(const struct emu_tensor_map *map, uint32_t row_bytes)
{
    static const uint32_t spans[] = {0, 32, 64, 128, 128, 128, 128};

    return map->swizzle ? spans[map->swizzle] : row_bytes;
}

/* One element at a place of the box: into the expected shared memory, or out to the expected
 * global memory. */
static void model_element(struct world *world, const struct emu_tensor_copy *copy, uint32_t linear,
                          const int64_t *at)
{
    const struct emu_tensor_map *map = copy->map;
    int size = element_size(map->type);
    uint64_t offset = map->address - global_base + (uint64_t)at[0] * (uint64_t)size;
    unsigned char value[8] = {0};
    bool inside = true;

    for (int i = 0; i < map->rank; i++) {
        int64_t end = (int64_t)map->dims[i];

        if (i == 0 && !copy->is_load) /* memory is written in units of 16 bytes */
            end = (end * size + 15) / 16 * 16 / size;
        inside = inside && at[i] >= 0 && at[i] < end;
    }
    for (int i = 1; i < map->rank; i++)
        offset += (uint64_t)at[i] * map->strides[i];
    for (int byte = 0; byte < size; byte++) {
        uint32_t a = model_swizzle(map->swizzle, copy->shared + linear + (uint32_t)byte);

        if (copy->is_load)
            value[byte] = inside      ? world->global[offset + (uint64_t)byte]
                          : map->fill ? (byte & 1 ? 0x7f : 0xf7)
                                      : 0;
        else if (inside)
            world->expected[offset + (uint64_t)byte] = world->shared[a];
    }
    if (!copy->is_load)
        return;
    if (inside && (map->type == 11 || map->type == 12))
        model_tf32(value);
    for (int byte = 0; byte < size; byte++)
        world->expected[model_swizzle(map->swizzle, copy->shared + linear + (uint32_t)byte)] =
            value[byte];
}

static void model_tile(struct world *world, const struct emu_tensor_copy *copy)
{
    const struct emu_tensor_map *map = copy->map;
    uint32_t size = (uint32_t)element_size(map->type), count[5] = {1, 1, 1, 1, 1}, j[5];
    uint32_t pitch = model_pitch(map, map->box[0] * size);

    for (int i = 0; i < map->rank; i++)
        count[i] =
            i == 0 ? map->box[0] : (uint32_t)ceil((double)map->box[i] / map->element_strides[i]);
    for (j[4] = 0; j[4] < count[4]; j[4]++)
        for (j[3] = 0; j[3] < count[3]; j[3]++)
            for (j[2] = 0; j[2] < count[2]; j[2]++)
                for (j[1] = 0; j[1] < count[1]; j[1]++)
                    for (j[0] = 0; j[0] < count[0]; j[0]++) {
                        uint32_t row =
                            j[1] + count[1] * (j[2] + count[2] * (j[3] + count[3] * j[4]));
                        int64_t at[5];

                        for (int i = 0; i < map->rank; i++)
                            at[i] = (int64_t)copy->coordinates[i] +
                                    (int64_t)j[i] * (i ? map->element_strides[i] : 1);
                        model_element(world, copy, row * pitch + j[0] * size, at);
                    }
}

static void model_im2col(struct world *world, const struct emu_tensor_copy *copy)
{
    const struct emu_tensor_map *map = copy->map;
    uint32_t size = (uint32_t)element_size(map->type);
    uint32_t pitch = model_pitch(map, map->channels * size);
    int64_t w = copy->coordinates[1];
    int64_t h = map->rank > 3 ? copy->coordinates[2] : 0;
    int64_t d = map->rank > 4 ? copy->coordinates[3] : 0;
    int64_t n = copy->coordinates[map->rank - 1];

    for (uint32_t p = 0; p < map->pixels; p++) {
        int64_t sw = w, sh = h, sd = d;

        if (copy->is_load) {
            sw += copy->offsets[0];
            sh += copy->offsets[1];
            sd += copy->offsets[2];
        }
        for (uint32_t k = 0; k < map->channels; k++) {
            int64_t c = (int64_t)copy->coordinates[0] + k;
            const int64_t at3[] = {c, sw, n}, at4[] = {c, sw, sh, n}, at5[] = {c, sw, sh, sd, n};

            model_element(world, copy, p * pitch + k * size,
                          map->rank == 3   ? at3
                          : map->rank == 4 ? at4
                                           : at5);
        }
        w += map->element_strides[1];
        if (w <= (int64_t)map->dims[1] - 1 + map->upper[0])
            continue;
        w = map->lower[0];
        if (map->rank == 3) {
            n++;
            continue;
        }
        h += map->element_strides[2];
        if (h <= (int64_t)map->dims[2] - 1 + map->upper[1])
            continue;
        h = map->lower[1];
        if (map->rank == 4) {
            n++;
            continue;
        }
        d += map->element_strides[3];
        if (d <= (int64_t)map->dims[3] - 1 + map->upper[2])
            continue;
        d = map->lower[2];
        n++;
    }
}

/* ---- Drawing ---- */

/* Sizes and strides of a tensor that lies within the global memory, every element apart. */
static void draw_tensor(uint64_t *seed, struct emu_tensor_map *map)
{
    uint64_t end;

    do {
        end = 0;
        map->address = global_base + 16 * (uint64_t)draw_between(seed, 0, 8);
        for (int i = 0; i < map->rank; i++) {
            uint64_t before = i ? map->dims[i - 1] * map->strides[i - 1] : 0;

            map->dims[i] = (uint64_t)draw_between(seed, 1, i ? 9 : 70);
            map->strides[i] = i ? (before + 15) / 16 * 16 + 16 * (uint64_t)draw_between(seed, 0, 2)
                                : (uint64_t)element_size(map->type);
            end = map->dims[i] * map->strides[i];
        }
    } while (end + 128 > GLOBAL_BYTES);
}

static uint32_t draw_row(uint64_t *seed, const struct emu_tensor_map *map)
{
    uint32_t size = (uint32_t)element_size(map->type), limit = map->swizzle ? 128 : 256 * size;

    if (map->swizzle == 1 || map->swizzle == 2)
        limit = 32u << (map->swizzle - 1);
    if (limit > 512)
        limit = 512;
    if (limit > 256 * size)
        limit = 256 * size;
    return 16 * (uint32_t)draw_between(seed, 1, limit / 16) / size;
}

static int32_t draw_first(uint64_t *seed, const struct emu_tensor_map *map, bool is_load)
{
    int32_t step = 16 / element_size(map->type);

    return step * (int32_t)draw_between(seed, is_load ? -3 : 0, (int64_t)map->dims[0] / step + 2);
}

static struct emu_tensor_map draw_modes(uint64_t *seed, int rank)
{
    struct emu_tensor_map map = {.rank = rank,
                                 .type = (int)draw_between(seed, 0, 12),
                                 .swizzle = (int)draw_between(seed, 0, 6)};

    if (map.type >= 6)
        map.fill = (int)draw_between(seed, 0, 1);
    for (int i = 0; i < 5; i++)
        map.element_strides[i] = draw(seed) % 2 ? 1 : (uint32_t)draw_between(seed, 1, 8);
    return map;
}

static void draw_tile(uint64_t *seed, struct emu_tensor_map *map, struct emu_tensor_copy *copy)
{
    uint64_t elements;

    *map = draw_modes(seed, (int)draw_between(seed, 1, 5));
    draw_tensor(seed, map);
    do {
        elements = 1;
        map->box[0] = draw_row(seed, map);
        for (int i = 1; i < map->rank; i++) {
            map->box[i] = (uint32_t)draw_between(seed, 1, map->rank > 3 ? 5 : 20);
            elements *= map->box[i];
        }
    } while (elements > 700);
    copy->coordinates[0] = draw_first(seed, map, copy->is_load);
    for (int i = 1; i < map->rank; i++)
        copy->coordinates[i] = (int32_t)draw_between(seed, copy->is_load ? -12 : 0, 12);
    /* Far outside: all fill, or nothing. */
    if (map->rank > 1 && draw(seed) % 16 == 0)
        copy->coordinates[1] = copy->is_load && draw(seed) % 2 ? INT32_MIN : INT32_MAX;
    if (draw(seed) % 16 == 0)
        copy->coordinates[0] = INT32_MAX / 16 * 16;
}

static void draw_im2col(uint64_t *seed, struct emu_tensor_map *map, struct emu_tensor_copy *copy)
{
    *map = draw_modes(seed, (int)draw_between(seed, 3, 5));
    map->is_im2col = true;
    draw_tensor(seed, map);
    map->channels = draw_row(seed, map);
    map->pixels = (uint32_t)draw_between(seed, 1, 200);
    copy->coordinates[0] = draw_first(seed, map, copy->is_load);
    for (int axis = 0; axis < map->rank - 2; axis++) {
        int64_t end;

        do {
            map->lower[axis] = (int)draw_between(seed, copy->is_load ? -4 : 0, 4);
            map->upper[axis] = (int)draw_between(seed, -4, copy->is_load ? 4 : 0);
            end = (int64_t)map->dims[axis + 1] - 1 + map->upper[axis];
        } while (end < map->lower[axis]);
        copy->coordinates[axis + 1] = (int32_t)draw_between(seed, map->lower[axis], end);
        copy->offsets[axis] = (uint32_t)draw_between(seed, 0, draw(seed) % 8 ? 6 : 31);
    }
    copy->coordinates[map->rank - 1] =
        (int32_t)draw_between(seed, copy->is_load ? -2 : 0, (int64_t)map->dims[map->rank - 1] + 1);
}

static void fill_random(uint64_t *seed, unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i += 8) {
        uint64_t word = draw(seed);

        memcpy(bytes + i, &word, 8);
    }
}

/* The map goes through its bytes on the way to the copy. */
static void assert_copies(struct world *world, struct emu_tensor_copy *copy,
                          const struct emu_tensor_map *drawn)
{
    unsigned char bytes[EMU_TENSOR_MAP_BYTES];
    struct emu_tensor_map map;
    const char *why = NULL;

    assert_int_equal(emu_tensor_map_encode(bytes, drawn), 0);
    assert_true(emu_tensor_map_decode(&map, bytes));
    copy->map = world->map = &map;
    world->is_load = copy->is_load;
    if (copy->is_load)
        memset(world->expected, UNTOUCHED, SHARED_BYTES);
    else
        memcpy(world->expected, world->global, GLOBAL_BYTES);
    (map.is_im2col ? model_im2col : model_tile)(world, copy);
    if (copy->is_load)
        memset(world->shared, UNTOUCHED, SHARED_BYTES);
    assert_int_equal(emu_tensor_copy(copy, move_piece, world, &why), EMU_COPIED);
    assert_null(why);
    if (copy->is_load)
        assert_memory_equal(world->shared, world->expected, SHARED_BYTES);
    else
        assert_memory_equal(world->global, world->expected, GLOBAL_BYTES);
    copy->map = NULL;
}

static struct world *create_world(uint64_t *seed)
{
    struct world *world = test_malloc(sizeof *world);

    fill_random(seed, world->global, GLOBAL_BYTES);
    fill_random(seed, world->shared, SHARED_BYTES);
    return world;
}

static void compare(uint64_t seed, int count, bool is_load,
                    void (*draw_copy)(uint64_t *, struct emu_tensor_map *,
                                      struct emu_tensor_copy *))
{
    struct world *world = create_world(&seed);

    for (int i = 0; i < count; i++) {
        struct emu_tensor_map map;
        struct emu_tensor_copy copy = {.is_load = is_load};

        copy.shared = 128 * (uint32_t)draw_between(&seed, 0, 20);
        draw_copy(&seed, &map, &copy);
        assert_copies(world, &copy, &map);
    }
    test_free(world);
}

static void tiles_are_loaded_as_the_model_says(void **state)
{
    (void)state;
    compare(1, 4000, true, draw_tile);
}

static void tiles_are_stored_as_the_model_says(void **state)
{
    (void)state;
    compare(2, 1500, false, draw_tile);
}

static void im2col_pixels_are_loaded_as_the_model_says(void **state)
{
    (void)state;
    compare(3, 3000, true, draw_im2col);
}

static void im2col_pixels_are_stored_as_the_model_says(void **state)
{
    (void)state;
    compare(4, 1000, false, draw_im2col);
}

/* ---- Measured cases ---- */

static struct emu_tensor_map plain(int type)
{
    int size = element_size(type);

    return (struct emu_tensor_map){
        .type = type,
        .rank = 2,
        .address = global_base,
        .dims = {96, 40},
        .strides = {(uint64_t)size, (uint64_t)(96 * size)},
        .box = {64 / (uint32_t)size, 8},
        .element_strides = {1, 1},
    };
}

static void bytes_count_what_is_outside_but_no_padding(void **state)
{
    (void)state;
    struct emu_tensor_map map = plain(1);

    map.box[0] = 64;
    assert_int_equal(emu_tensor_copy_bytes(&map), 1024);
    map.box[0] = 32;
    map.swizzle = 3;
    assert_int_equal(emu_tensor_copy_bytes(&map), 512);
    map.box[0] = 16;
    map.box[1] = 7;
    map.element_strides[1] = 2;
    assert_int_equal(emu_tensor_copy_bytes(&map), 128);
    map.is_im2col = true;
    map.channels = 64;
    map.pixels = 100;
    assert_int_equal(emu_tensor_copy_bytes(&map), 12800);
}

/* A unit at the edge is stored as a whole, and it is known how much of it is the tensor's, wherever
 * the swizzle cuts it. */
static void stores_tell_what_lies_in_the_tensor(void **state)
{
    (void)state;
    struct world *world = test_calloc(1, sizeof *world);
    struct emu_tensor_map map = plain(6);
    const char *why;

    map.dims[0] = 45; /* of 2 bytes: 90, of 96 that are stored of a row of 128 */
    map.box[0] = 64;
    for (map.swizzle = 0; map.swizzle <= 6; map.swizzle++) {
        const struct emu_tensor_copy copy = {.map = &map};

        if (map.swizzle == 1 || map.swizzle == 2)
            continue; /* their rows are shorter */
        world->inside_bytes = 0;
        assert_int_equal(emu_tensor_copy(&copy, move_piece, world, &why), EMU_COPIED);
        assert_int_equal(world->inside_bytes, 8 * 90);
    }
    test_free(world);
}

static void tf32_is_rounded_on_its_way_in(void **state)
{
    (void)state;
    static const uint32_t cases[][2] = {
        {0x3f801000, 0x3f800000}, {0x3f803000, 0x3f804000}, {0x7f7fffff, 0x7f800000},
        {0xff7fffff, 0xff800000}, {0x7fc00001, 0x7fffe000}, {0x7f800001, 0x7fffe000},
        {0x7f800000, 0x7f800000}, {0x00001001, 0x00002000}, {0x80000000, 0x80000000},
        {0x00001000, 0x00000000},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int type = 0; type < 13; type++) {
            struct emu_tensor_map map = plain(type);
            uint32_t bits = cases[i][0];

            emu_tensor_convert(&map, (unsigned char *)&bits, sizeof bits);
            /* FLOAT32 and FLOAT32_FTZ are bit copies. */
            assert_int_equal(bits, type >= 11 ? cases[i][1] : cases[i][0]);
        }
}

static void convolutions_read_what_the_examples_say(void **state)
{
    (void)state;
    uint64_t seed = 5;
    struct world *world = create_world(&seed);
    struct emu_tensor_map map = {
        .is_im2col = true,
        .type = 1,
        .rank = 4,
        .address = global_base,
        .dims = {8, 7, 6, 2},
        .strides = {2, 16, 112, 672},
        .element_strides = {1, 1, 1, 1},
        .lower = {-1, -1},
        .upper = {-1, -1},
        .channels = 8,
        .pixels = 50,
    };
    struct emu_tensor_copy copy = {
        .map = &map, .coordinates = {0, -1, -1, 0}, .is_load = true, .offsets = {1, 1}};
    const unsigned char zeros[16] = {0};
    const char *why;

    world->map = &map;
    world->is_load = true;
    /* 3x3, stride 1, padding 1; the middle tap: pixels are those of the image in turn. */
    assert_int_equal(emu_tensor_copy(&copy, move_piece, world, &why), EMU_COPIED);
    for (int pixel = 0; pixel < 50; pixel++)
        assert_memory_equal(world->shared + 16 * pixel, world->global + 16 * pixel, 16);
    /* The first tap: pixel 0 and 7 lie in the padding, pixel 8 is (0, 0). */
    copy.offsets[0] = copy.offsets[1] = 0;
    assert_int_equal(emu_tensor_copy(&copy, move_piece, world, &why), EMU_COPIED);
    assert_memory_equal(world->shared, zeros, 16);
    assert_memory_equal(world->shared + 16 * 7, zeros, 16);
    assert_memory_equal(world->shared + 16 * 8, world->global, 16);
    /* Stride 2, tap r = 2, s = 0: 12 pixels an image; (1, 1), padding, (5, 5). */
    map.element_strides[1] = map.element_strides[2] = 2;
    copy.offsets[1] = 2;
    assert_int_equal(emu_tensor_copy(&copy, move_piece, world, &why), EMU_COPIED);
    assert_memory_equal(world->shared, zeros, 16);
    assert_memory_equal(world->shared + 16, world->global + 112 + 16, 16);
    assert_memory_equal(world->shared + 16 * 4, zeros, 16);
    assert_memory_equal(world->shared + 16 * 11, world->global + 5 * 112 + 5 * 16, 16);
    assert_memory_equal(world->shared + 16 * 13, world->global + 672 + 112 + 16, 16);
    test_free(world);
}

/* ---- Traps ---- */

static bool refuse_piece(void *user, uint32_t shared, uint64_t global, uint32_t bytes,
                         uint32_t inside, const unsigned char *fill)
{
    (void)shared, (void)global, (void)bytes, (void)inside, (void)fill;
    ++*(int *)user;
    return false;
}

/* Stopped: it would have moved something. */
static void assert_outcome(const struct emu_tensor_copy *copy, enum emu_copied expected)
{
    const char *why = NULL;
    int calls = 0;

    assert_int_equal(emu_tensor_copy(copy, refuse_piece, &calls, &why), expected);
    assert_int_equal(calls, expected == EMU_COPY_STOPPED ? 1 : 0);
    assert_true((why != NULL) == (expected == EMU_COPY_ILLEGAL || expected == EMU_COPY_MISALIGNED));
}

static void first_coordinates_are_multiples_of_16_bytes(void **state)
{
    (void)state;
    for (int type = 0; type < 13; type++) {
        struct emu_tensor_map map = plain(type);
        struct emu_tensor_copy copy = {.map = &map, .is_load = true};

        for (int c = -40; c < 40; c++) {
            copy.coordinates[0] = c;
            assert_outcome(&copy,
                           c * element_size(type) % 16 == 0 ? EMU_COPY_STOPPED : EMU_COPY_ILLEGAL);
        }
    }
}

static void boxes_in_shared_memory_are_128_byte_aligned(void **state)
{
    (void)state;
    struct emu_tensor_map map = plain(1);
    struct emu_tensor_copy copy = {.map = &map};

    for (uint32_t at = 0; at <= 256; at += 16)
        for (int load = 0; load < 2; load++) {
            copy.shared = at;
            copy.is_load = load;
            assert_outcome(&copy, at % 128 == 0 ? EMU_COPY_STOPPED : EMU_COPY_MISALIGNED);
        }
}

static void stores_have_no_negative_coordinates(void **state)
{
    (void)state;
    struct emu_tensor_map map = plain(1);
    struct emu_tensor_copy copy = {.map = &map};

    copy.coordinates[0] = -8;
    assert_outcome(&copy, EMU_COPY_ILLEGAL);
    copy.coordinates[0] = 0;
    copy.coordinates[1] = -1;
    assert_outcome(&copy, EMU_COPY_ILLEGAL);
    copy.coordinates[1] = 0;
    assert_outcome(&copy, EMU_COPY_STOPPED);
}

static void im2col_starts_inside_of_its_box(void **state)
{
    (void)state;
    struct emu_tensor_map map = {
        .is_im2col = true,
        .type = 1,
        .rank = 4,
        .address = global_base,
        .dims = {8, 7, 6, 2},
        .strides = {2, 16, 112, 672},
        .element_strides = {1, 1, 1, 1},
        .lower = {-1, -2},
        .upper = {-1, 2},
        .channels = 8,
        .pixels = 50,
    };
    struct emu_tensor_copy copy = {.map = &map, .is_load = true};

    for (int w = -4; w < 12; w++)
        for (int h = -4; h < 12; h++) {
            copy.coordinates[1] = w;
            copy.coordinates[2] = h;
            assert_outcome(&copy, w >= -1 && w <= 5 && h >= -2 && h <= 7 ? EMU_COPY_STOPPED
                                                                         : EMU_COPY_ILLEGAL);
        }
    copy.coordinates[1] = copy.coordinates[2] = 0;
    copy.coordinates[3] = -5;
    assert_outcome(&copy, EMU_COPY_STOPPED);
    copy.coordinates[0] = 4;
    assert_outcome(&copy, EMU_COPY_ILLEGAL);
    copy.coordinates[0] = 0;
    copy.offsets[1] = 255;
    assert_outcome(&copy, EMU_COPY_STOPPED);
    copy.offsets[1] = 256;
    assert_outcome(&copy, EMU_COPY_ILLEGAL);
}

static void boxes_that_fit_no_shared_memory_are_refused(void **state)
{
    (void)state;
    struct emu_tensor_map map = {
        .type = 1,
        .rank = 5,
        .address = global_base,
        .dims = {8, 8, 8, 8, 8},
        .strides = {2, 16, 128, 1024, 8192},
        .box = {256, 256, 256, 256, 256},
        .element_strides = {1, 1, 1, 1, 1},
    };
    struct emu_tensor_copy copy = {.map = &map, .coordinates = {0, 100, 100, 100, 100}};

    /* All of it is outside of the tensor: nothing but the check ends such a store soon. */
    assert_outcome(&copy, EMU_COPY_ILLEGAL);
    assert_int_equal(emu_tensor_copy_bytes(&map), UINT32_MAX);
}

static void maps_that_replace_has_broken_are_refused(void **state)
{
    (void)state;
    struct emu_tensor_map map = plain(1);
    struct emu_tensor_copy copy = {.map = &map, .is_load = true};

    map.swizzle = 2;
    assert_outcome(&copy, EMU_COPY_STOPPED);
    map.swizzle = 1;
    assert_outcome(&copy, EMU_COPY_ILLEGAL);
    map.swizzle = 0;
    map.address += 8;
    assert_outcome(&copy, EMU_COPY_ILLEGAL);
}

static bool check_piece(void *user, uint32_t shared, uint64_t global, uint32_t bytes,
                        uint32_t inside, const unsigned char *fill)
{
    unsigned sum = 0;

    (void)global, (void)inside;
    assert_in_range(shared, 0, 2 * SHARED_BYTES - bytes);
    for (uint32_t i = 0; i < bytes && fill; i++)
        sum += fill[i];
    ++*(int *)user;
    return sum < UINT32_MAX;
}

/* What a kernel can write over a map: a sanitizer sees what goes wrong. */
static void spoilt_maps_do_no_harm(void **state)
{
    (void)state;
    uint64_t seed = 6;
    int copied = 0, refused = 0, pieces = 0;

    for (int i = 0; i < 20000; i++) {
        unsigned char bytes[EMU_TENSOR_MAP_BYTES];
        struct emu_tensor_map map;
        struct emu_tensor_copy copy = {.is_load = draw(&seed) % 2};
        const char *why;

        copy.shared = 128 * (uint32_t)draw_between(&seed, 0, 20);
        (i % 2 ? draw_tile : draw_im2col)(&seed, &map, &copy);
        assert_int_equal(emu_tensor_map_encode(bytes, &map), 0);
        for (int64_t spoilt = draw_between(&seed, 1, 3); spoilt > 0; spoilt--)
            bytes[draw_between(&seed, 8, EMU_TENSOR_MAP_BYTES - 1)] = (unsigned char)draw(&seed);
        if (!emu_tensor_map_decode(&map, bytes))
            continue;
        copy.map = &map;
        emu_tensor_copy_bytes(&map);

        enum emu_copied outcome = emu_tensor_copy(&copy, check_piece, &pieces, &why);

        copied += outcome == EMU_COPIED;
        refused += outcome == EMU_COPY_ILLEGAL;
    }
    assert_true(copied > 1000 && refused > 1000 && pieces > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_loaded_as_the_model_says),
        cmocka_unit_test(tiles_are_stored_as_the_model_says),
        cmocka_unit_test(im2col_pixels_are_loaded_as_the_model_says),
        cmocka_unit_test(im2col_pixels_are_stored_as_the_model_says),
        cmocka_unit_test(bytes_count_what_is_outside_but_no_padding),
        cmocka_unit_test(stores_tell_what_lies_in_the_tensor),
        cmocka_unit_test(tf32_is_rounded_on_its_way_in),
        cmocka_unit_test(convolutions_read_what_the_examples_say),
        cmocka_unit_test(first_coordinates_are_multiples_of_16_bytes),
        cmocka_unit_test(boxes_in_shared_memory_are_128_byte_aligned),
        cmocka_unit_test(stores_have_no_negative_coordinates),
        cmocka_unit_test(im2col_starts_inside_of_its_box),
        cmocka_unit_test(boxes_that_fit_no_shared_memory_are_refused),
        cmocka_unit_test(maps_that_replace_has_broken_are_refused),
        cmocka_unit_test(spoilt_maps_do_no_harm),
    };

    return cmocka_run_group_tests_name("emulator tensor copies", tests, NULL, NULL);
}
