/* Tensor maps: every rule of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col at its edge, the
 * bytes, tensormap.replace. */
#include "emulator/tensor_map.h"
#include "tests/support/cmocka_all.h"

#include <string.h>

enum { SUCCESS = 0, INVALID_VALUE = 1 };

/* cuda.h's numbers */
enum { FLOAT16 = 6 };

static struct emu_tensor_map tiled(void)
{
    return (struct emu_tensor_map){
        .type = FLOAT16,
        .rank = 3,
        .address = 0x7f0000000100,
        .dims = {100, 50, 20},
        .strides = {0, 208, 10400},
        .box = {64, 8, 2},
        .element_strides = {1, 2, 1},
        .swizzle = 3,
        .promotion = 2,
    };
}

static struct emu_tensor_map im2col(int rank)
{
    return (struct emu_tensor_map){
        .is_im2col = true,
        .type = FLOAT16,
        .rank = rank,
        .address = 0x1000,
        .dims = {64, 9, 8, 7, 6},
        .strides = {0, 128, 1152, 9216, 64512},
        .element_strides = {1, 1, 1, 1, 1},
        .lower = {-1, -1, -1},
        .upper = {-1, -1, -1},
        .channels = 64,
        .pixels = 128,
        .swizzle = 3,
    };
}

static int encode(const struct emu_tensor_map *map)
{
    unsigned char bytes[EMU_TENSOR_MAP_BYTES], untouched[EMU_TENSOR_MAP_BYTES];

    memset(bytes, 0x5a, sizeof bytes);
    memset(untouched, 0x5a, sizeof untouched);

    int result = emu_tensor_map_encode(bytes, map);

    if (result != SUCCESS)
        assert_memory_equal(bytes, untouched, sizeof bytes);
    return result;
}

/* What encoding says of the map with one field set to a value. */
#define assert_with(map, field, value, expected)                                                   \
    do {                                                                                           \
        struct emu_tensor_map changed = (map);                                                     \
        changed.field = (value);                                                                   \
        assert_int_equal(encode(&changed), (expected));                                            \
    } while (0)

static void types_are_those_of_whole_bytes(void **state)
{
    (void)state;
    static const int bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    struct emu_tensor_map map = tiled();

    map.swizzle = 0;
    for (int type = -2; type < 20; type++) {
        bool exists = type >= 0 && type < 13;

        assert_int_equal(emu_tensor_element_bytes(type), exists ? bytes[type] : 0);
        assert_with(map, type, type, exists ? SUCCESS : INVALID_VALUE);
    }
}

static void ranks_are_1_to_5_and_3_to_5(void **state)
{
    (void)state;
    struct emu_tensor_map map = tiled();

    for (int i = 0; i < 5; i++) {
        map.dims[i] = map.box[i] = 8;
        map.strides[i] = 16;
        map.element_strides[i] = 1;
    }
    for (int rank = -1; rank <= 7; rank++) {
        assert_with(map, rank, rank, rank >= 1 && rank <= 5 ? SUCCESS : INVALID_VALUE);

        struct emu_tensor_map other = im2col(5);

        other.rank = rank;
        assert_int_equal(encode(&other), rank >= 3 && rank <= 5 ? SUCCESS : INVALID_VALUE);
    }
}

static void addresses_are_multiples_of_16(void **state)
{
    (void)state;
    for (uint64_t i = 0; i <= 64; i++)
        assert_with(tiled(), address, 0x1000 + i, i % 16 == 0 ? SUCCESS : INVALID_VALUE);
}

static void sizes_are_1_to_2_to_the_32(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_with(tiled(), dims[i], 0, INVALID_VALUE);
        assert_with(tiled(), dims[i], 1, SUCCESS);
        assert_with(tiled(), dims[i], UINT64_C(1) << 32, SUCCESS);
        assert_with(tiled(), dims[i], (UINT64_C(1) << 32) + 1, INVALID_VALUE);
    }
    assert_with(tiled(), dims[3], 0, SUCCESS);
}

static void strides_are_multiples_of_16_below_2_to_the_40(void **state)
{
    (void)state;
    for (int i = 1; i < 3; i++) {
        assert_with(tiled(), strides[i], 8, INVALID_VALUE);
        assert_with(tiled(), strides[i], 24, INVALID_VALUE);
        assert_with(tiled(), strides[i], 16, SUCCESS);
        assert_with(tiled(), strides[i], (UINT64_C(1) << 40) - 16, SUCCESS);
        assert_with(tiled(), strides[i], UINT64_C(1) << 40, INVALID_VALUE);
    }
    /* Nobody gives that of dimension 0, and that behind the rank is not looked at. */
    assert_with(tiled(), strides[0], 7, SUCCESS);
    assert_with(tiled(), strides[3], 7, SUCCESS);
}

static void boxes_are_1_to_256_in_rows_of_16_bytes(void **state)
{
    (void)state;
    for (int i = 1; i < 3; i++) {
        assert_with(tiled(), box[i], 0, INVALID_VALUE);
        assert_with(tiled(), box[i], 1, SUCCESS);
        assert_with(tiled(), box[i], 256, SUCCESS);
        assert_with(tiled(), box[i], 257, INVALID_VALUE);
    }
    for (int type = 0; type < 13; type++) {
        struct emu_tensor_map map = tiled();

        map.type = type;
        map.swizzle = 0;
        for (uint32_t box = 0; box < 300; box++)
            assert_with(map, box[0], box,
                        box >= 1 && box <= 256 &&
                                box * (uint32_t)emu_tensor_element_bytes(type) % 16 == 0
                            ? SUCCESS
                            : INVALID_VALUE);
    }
}

static void element_strides_are_1_to_8(void **state)
{
    (void)state;
    for (uint32_t stride = 0; stride < 12; stride++) {
        int expected = stride >= 1 && stride <= 8 ? SUCCESS : INVALID_VALUE;

        assert_with(tiled(), element_strides[1], stride, expected);
        assert_with(tiled(), element_strides[2], stride, expected);
        assert_with(tiled(), element_strides[0], stride, expected);
        assert_with(im2col(4), element_strides[1], stride, expected);
        assert_with(im2col(4), element_strides[2], stride, expected);
    }
}

static void rows_fit_the_span_of_the_swizzle(void **state)
{
    (void)state;
    static const uint32_t spans[] = {UINT32_MAX, 32, 64, 128, 128, 128, 128};

    for (int swizzle = 0; swizzle < 7; swizzle++)
        for (uint32_t box = 8; box <= 128; box += 8) {
            struct emu_tensor_map map = tiled(), other = im2col(4);
            int expected = 2 * box <= spans[swizzle] ? SUCCESS : INVALID_VALUE;

            map.swizzle = other.swizzle = swizzle;
            assert_with(map, box[0], box, expected);
            assert_with(other, channels, box, expected);
        }
    assert_with(tiled(), swizzle, -1, INVALID_VALUE);
    assert_with(tiled(), swizzle, 7, INVALID_VALUE);
}

static void modes_are_those_of_cuda_h(void **state)
{
    (void)state;
    for (int mode = -1; mode < 6; mode++) {
        /* Interleaved layouts are not supported. */
        assert_with(tiled(), interleave, mode, mode == 0 ? SUCCESS : INVALID_VALUE);
        assert_with(tiled(), promotion, mode, mode >= 0 && mode <= 3 ? SUCCESS : INVALID_VALUE);
        assert_with(tiled(), fill, mode, mode == 0 || mode == 1 ? SUCCESS : INVALID_VALUE);
    }
}

static void nan_fills_floating_point_alone(void **state)
{
    (void)state;
    for (int type = 0; type < 13; type++) {
        struct emu_tensor_map map = tiled();

        map.swizzle = 0;
        map.fill = 1;
        assert_with(map, type, type, type >= FLOAT16 ? SUCCESS : INVALID_VALUE);
    }
}

static void corners_fit_their_rank(void **state)
{
    (void)state;
    static const int limits[] = {32768, 128, 16};

    for (int rank = 3; rank <= 5; rank++) {
        int limit = limits[rank - 3];
        struct emu_tensor_map map = im2col(rank);

        for (int i = 0; i < 5; i++)
            map.dims[i] = 100000;
        for (int axis = 0; axis < rank - 2; axis++) {
            assert_with(map, lower[axis], -limit, SUCCESS);
            assert_with(map, lower[axis], -limit - 1, INVALID_VALUE);
            assert_with(map, lower[axis], limit - 1, SUCCESS);
            assert_with(map, lower[axis], limit, INVALID_VALUE);
            assert_with(map, upper[axis], -limit, SUCCESS);
            assert_with(map, upper[axis], -limit - 1, INVALID_VALUE);
            assert_with(map, upper[axis], limit - 1, SUCCESS);
            assert_with(map, upper[axis], limit, INVALID_VALUE);
        }
        /* Those of axes that the rank lacks are not looked at. */
        if (rank < 5)
            assert_with(map, lower[rank - 2], 1 << 20, SUCCESS);
    }
}

static void bounding_boxes_are_not_empty(void **state)
{
    (void)state;
    struct emu_tensor_map map = im2col(4);

    /* W is 9: positions from the lower corner to 8 + upper. */
    map.lower[0] = 3;
    assert_with(map, upper[0], -5, SUCCESS);
    assert_with(map, upper[0], -6, INVALID_VALUE);
}

static void channels_and_pixels_have_limits(void **state)
{
    (void)state;
    struct emu_tensor_map map = im2col(4);

    map.swizzle = 0;
    for (uint32_t channels = 0; channels < 300; channels++)
        assert_with(map, channels, channels,
                    channels >= 1 && channels <= 256 && channels % 8 == 0 ? SUCCESS
                                                                          : INVALID_VALUE);
    assert_with(map, pixels, 0, INVALID_VALUE);
    assert_with(map, pixels, 1, SUCCESS);
    assert_with(map, pixels, 1024, SUCCESS);
    assert_with(map, pixels, 1025, INVALID_VALUE);
    /* A tiled map's box means nothing here. */
    assert_with(map, box[0], 1000, SUCCESS);
}

static void maps_are_read_as_they_were_written(void **state)
{
    (void)state;
    unsigned char bytes[EMU_TENSOR_MAP_BYTES];
    struct emu_tensor_map map = tiled(), read;

    map.dims[1] = UINT64_C(1) << 32;
    map.strides[2] = (UINT64_C(1) << 40) - 16;
    map.fill = 1;
    assert_int_equal(emu_tensor_map_encode(bytes, &map), SUCCESS);
    assert_true(emu_tensor_map_decode(&read, bytes));
    assert_false(read.is_im2col);
    assert_int_equal(read.type, FLOAT16);
    assert_int_equal(read.rank, 3);
    assert_int_equal(read.swizzle, 3);
    assert_int_equal(read.promotion, 2);
    assert_int_equal(read.fill, 1);
    assert_int_equal(read.interleave, 0);
    assert_int_equal(read.address, map.address);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(read.dims[i], map.dims[i]);
        assert_int_equal(read.strides[i], i == 0 ? 2 : map.strides[i]);
        assert_int_equal(read.box[i], map.box[i]);
        assert_int_equal(read.element_strides[i], map.element_strides[i]);
    }

    map = im2col(5);
    map.lower[1] = -16;
    map.upper[2] = 15;
    map.pixels = 1024;
    assert_int_equal(emu_tensor_map_encode(bytes, &map), SUCCESS);
    assert_true(emu_tensor_map_decode(&read, bytes));
    assert_true(read.is_im2col);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(read.lower[i], map.lower[i]);
        assert_int_equal(read.upper[i], map.upper[i]);
    }
    assert_int_equal(read.channels, 64);
    assert_int_equal(read.pixels, 1024);
}

static void foreign_bytes_are_no_map(void **state)
{
    (void)state;
    unsigned char bytes[EMU_TENSOR_MAP_BYTES] = {0}, copy[EMU_TENSOR_MAP_BYTES];
    struct emu_tensor_map map = tiled(), read;

    assert_false(emu_tensor_map_decode(&read, bytes));
    bytes[EMU_TENSOR_MAP_BYTES - 1] = 1;
    assert_false(emu_tensor_map_replace(bytes, "rank", 0, 1));
    assert_int_equal(emu_tensor_map_encode(bytes, &map), SUCCESS);
    for (int bit = 0; bit < 64; bit++) {
        memcpy(copy, bytes, sizeof copy);
        copy[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_false(emu_tensor_map_decode(&read, copy));
    }
}

/* tensormap.replace and the host agree: a field replaced is a field encoded. */
static void assert_replaces(const char *field, int ordinal, uint64_t value,
                            const struct emu_tensor_map *expected)
{
    unsigned char bytes[EMU_TENSOR_MAP_BYTES], other[EMU_TENSOR_MAP_BYTES];
    struct emu_tensor_map map = tiled();

    assert_int_equal(emu_tensor_map_encode(bytes, &map), SUCCESS);
    assert_int_equal(emu_tensor_map_encode(other, expected), SUCCESS);
    assert_true(emu_tensor_map_replace(bytes, field, ordinal, value));
    assert_memory_equal(bytes, other, sizeof bytes);
}

static void fields_are_replaced(void **state)
{
    (void)state;
    struct emu_tensor_map expected = tiled();

    expected.address = 0x4000;
    assert_replaces("global_address", 0, 0x4000, &expected);
    expected = tiled();
    expected.rank = 2;
    /* The rank counts from zero; sizes behind it stay, unseen by the host. */
    {
        unsigned char bytes[EMU_TENSOR_MAP_BYTES];
        struct emu_tensor_map map = tiled(), read;

        assert_int_equal(emu_tensor_map_encode(bytes, &map), SUCCESS);
        assert_true(emu_tensor_map_replace(bytes, "rank", 0, 1));
        assert_true(emu_tensor_map_decode(&read, bytes));
        assert_int_equal(read.rank, 2);
        assert_false(emu_tensor_map_replace(bytes, "rank", 0, 5));
        /* Raised above what was encoded, the new dimensions are of size 1. */
        assert_true(emu_tensor_map_replace(bytes, "rank", 0, 4));
        assert_true(emu_tensor_map_decode(&read, bytes));
        assert_int_equal(read.dims[4], 1);
        assert_int_equal(read.box[4], 1);
    }
    for (int i = 0; i < 3; i++) {
        expected = tiled();
        expected.box[i] = 16;
        assert_replaces("box_dim", i, 16, &expected);
        expected = tiled();
        expected.dims[i] = 77;
        assert_replaces("global_dim", i, 77, &expected);
    }
    /* Ordinal 0 is the stride of dimension 1, in bytes. */
    for (int i = 0; i < 2; i++) {
        expected = tiled();
        expected.strides[i + 1] = 4096;
        assert_replaces("global_stride", i, 4096, &expected);
        expected = tiled();
        expected.element_strides[i + 1] = 5;
        assert_replaces("element_stride", i + 1, 5, &expected);
    }
    for (int mode = 0; mode < 2; mode++) {
        expected = tiled();
        expected.fill = mode;
        assert_replaces("fill_mode", 0, (uint64_t)mode, &expected);
    }
    expected = tiled();
    assert_replaces("interleave_layout", 0, 0, &expected);
    expected.box[0] = 64;
    expected.swizzle = 3;
    assert_replaces("swizzle_mode", 0, 3, &expected);
    for (int atom = 0; atom < 4; atom++) {
        expected.swizzle = 3 + atom;
        assert_replaces("swizzle_atomicity", 0, (uint64_t)atom, &expected);
    }
}

/* What a kernel does that makes a map itself: zeros, then every field. */
static void a_map_of_zeros_can_be_filled_in(void **state)
{
    (void)state;
    unsigned char bytes[EMU_TENSOR_MAP_BYTES] = {0}, other[EMU_TENSOR_MAP_BYTES];
    struct emu_tensor_map expected = tiled(), read;

    assert_int_equal(emu_tensor_map_encode(other, &expected), SUCCESS);
    assert_true(emu_tensor_map_decode(&expected, other));
    assert_int_equal(expected.type, 6); /* f16, which has the code 6 in PTX too */
    assert_true(emu_tensor_map_replace(bytes, "global_address", 0, expected.address));
    assert_true(emu_tensor_map_replace(bytes, "rank", 0, (uint64_t)expected.rank - 1));
    for (int i = 0; i < expected.rank; i++) {
        assert_true(emu_tensor_map_replace(bytes, "box_dim", i, expected.box[i]));
        assert_true(emu_tensor_map_replace(bytes, "global_dim", i, expected.dims[i]));
        assert_true(
            emu_tensor_map_replace(bytes, "element_stride", i, expected.element_strides[i]));
        if (i > 0)
            assert_true(emu_tensor_map_replace(bytes, "global_stride", i - 1, expected.strides[i]));
    }
    assert_true(emu_tensor_map_replace(bytes, "elemtype", 0, 6));
    assert_true(emu_tensor_map_replace(bytes, "swizzle_mode", 0, (uint64_t)expected.swizzle));
    assert_true(emu_tensor_map_replace(bytes, "fill_mode", 0, (uint64_t)expected.fill));
    assert_true(emu_tensor_map_decode(&read, bytes));
    read.promotion = expected.promotion; /* there is no instruction for it */
    assert_memory_equal(&read, &expected, sizeof read);
}

static void element_types_have_codes_of_their_own(void **state)
{
    (void)state;
    /* u8 u16 u32 s32 u64 s64 f16 f32 f32.ftz f64 bf16 tf32 tf32.ftz, as cuda.h numbers them */
    static const int types[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12};

    for (int code = 0; code < 13; code++) {
        unsigned char bytes[EMU_TENSOR_MAP_BYTES];
        struct emu_tensor_map map = tiled(), read;

        assert_int_equal(emu_tensor_map_encode(bytes, &map), SUCCESS);
        assert_true(emu_tensor_map_replace(bytes, "elemtype", 0, (uint64_t)code));
        assert_true(emu_tensor_map_decode(&read, bytes));
        assert_int_equal(read.type, types[code]);
        assert_int_equal(read.strides[0], emu_tensor_element_bytes(types[code]));
    }
}

static void what_is_no_field_or_value_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *field;
        int ordinal;
        uint64_t value;
    } cases[] = {
        {"box", 0, 1},
        {"", 0, 1},
        {"rank", 0, 5},
        {"box_dim", 5, 8},
        {"box_dim", -1, 8},
        {"box_dim", 0, 0},
        {"box_dim", 0, 257},
        {"global_dim", 0, 0},
        {"global_stride", 4, 16},
        {"global_stride", 0, UINT64_C(1) << 40},
        {"element_stride", 1, 0},
        {"element_stride", 1, 9},
        {"elemtype", 0, 13}, /* of less than a byte: not supported */
        {"elemtype", 0, 16},
        {"interleave_layout", 0, 1}, /* not supported */
        {"swizzle_mode", 0, 4},      /* 96 bytes, sm_103a: not supported */
        {"swizzle_atomicity", 0, 4},
        {"fill_mode", 0, 2},
    };
    unsigned char bytes[EMU_TENSOR_MAP_BYTES], before[EMU_TENSOR_MAP_BYTES];
    struct emu_tensor_map map = tiled();

    assert_int_equal(emu_tensor_map_encode(bytes, &map), SUCCESS);
    memcpy(before, bytes, sizeof before);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(
            emu_tensor_map_replace(bytes, cases[i].field, cases[i].ordinal, cases[i].value));
        assert_memory_equal(bytes, before, sizeof bytes);
    }
    map = im2col(4);
    assert_int_equal(emu_tensor_map_encode(bytes, &map), SUCCESS);
    assert_false(emu_tensor_map_replace(bytes, "box_dim", 0, 8));
}

static void swizzles_are_those_of_the_manual(void **state)
{
    (void)state;
    for (uint32_t a = 0; a < 4096; a++) {
        assert_int_equal(emu_swizzle(0, a), a);
        assert_int_equal(emu_swizzle(1, a), a ^ ((a >> 7) & 1) << 4);
        assert_int_equal(emu_swizzle(2, a), a ^ ((a >> 7) & 3) << 4);
        assert_int_equal(emu_swizzle(3, a), a ^ ((a >> 7) & 7) << 4);
        assert_int_equal(emu_swizzle(4, a), a ^ ((a >> 7) & 3) << 5);
        assert_int_equal(emu_swizzle(5, a), a ^ ((a >> 7) & 3) << 5 ^ ((a >> 7) & 1) << 3);
        assert_int_equal(emu_swizzle(6, a), a ^ ((a >> 7) & 1) << 6);
    }
    /* The example of a bf16 tile of 64 columns. */
    for (uint32_t r = 0; r < 64; r++)
        for (uint32_t c = 0; c < 64; c++)
            assert_int_equal(emu_swizzle(3, r * 128 + c * 2),
                             r * 128 + ((c / 8) ^ (r & 7)) * 16 + c % 8 * 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_those_of_whole_bytes),
        cmocka_unit_test(ranks_are_1_to_5_and_3_to_5),
        cmocka_unit_test(addresses_are_multiples_of_16),
        cmocka_unit_test(sizes_are_1_to_2_to_the_32),
        cmocka_unit_test(strides_are_multiples_of_16_below_2_to_the_40),
        cmocka_unit_test(boxes_are_1_to_256_in_rows_of_16_bytes),
        cmocka_unit_test(element_strides_are_1_to_8),
        cmocka_unit_test(rows_fit_the_span_of_the_swizzle),
        cmocka_unit_test(modes_are_those_of_cuda_h),
        cmocka_unit_test(nan_fills_floating_point_alone),
        cmocka_unit_test(corners_fit_their_rank),
        cmocka_unit_test(bounding_boxes_are_not_empty),
        cmocka_unit_test(channels_and_pixels_have_limits),
        cmocka_unit_test(maps_are_read_as_they_were_written),
        cmocka_unit_test(foreign_bytes_are_no_map),
        cmocka_unit_test(fields_are_replaced),
        cmocka_unit_test(a_map_of_zeros_can_be_filled_in),
        cmocka_unit_test(element_types_have_codes_of_their_own),
        cmocka_unit_test(what_is_no_field_or_value_is_refused),
        cmocka_unit_test(swizzles_are_those_of_the_manual),
    };

    return cmocka_run_group_tests_name("emulator tensor maps", tests, NULL, NULL);
}
