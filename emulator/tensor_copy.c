/* tensor_copy.c: which bytes a tensor copy moves: the box of a tiled map (PTX ISA, "Tiled mode")
 * and the pixels of an im2col map (PTX ISA, "im2col mode"), swizzled.
 *
 * A row of the box is the run along dimension 0. What of a row lies inside of the tensor is one
 * run too, since only its ends can be outside. */
#include "emulator/tensor_copy.h"

#include <stddef.h>
#include <string.h>

/* No CTA has more shared memory than this; a box that is larger could only take forever. */
enum { FOOTPRINT_MAX = 1 << 18 };

/* The longest row that a map without swizzle may have: 256 elements of 8 bytes. */
enum { ROW_BYTES_MAX = 2048 };

/* Rows begin at multiples of so many bytes, and memory is written in such units. */
enum { STORE_UNIT = 16 };

struct walk {
    const struct emu_tensor_copy *copy;
    const struct emu_tensor_map *map;
    emu_tensor_piece piece;
    void *user;
    uint32_t element, row_elements, pitch, unit;
    unsigned char fill[ROW_BYTES_MAX];
};

static uint32_t count_steps(const struct emu_tensor_map *map, int dimension)
{
    if (dimension >= map->rank)
        return 1;
    return (map->box[dimension] + map->element_strides[dimension] - 1) /
           map->element_strides[dimension];
}

static uint64_t count_rows(const struct emu_tensor_map *map)
{
    uint64_t rows = 1;

    if (map->is_im2col)
        return map->pixels;
    for (int i = 1; i < map->rank; i++)
        rows *= count_steps(map, i);
    return rows;
}

static uint32_t row_elements(const struct emu_tensor_map *map)
{
    return map->is_im2col ? map->channels : map->box[0];
}

uint32_t emu_tensor_copy_bytes(const struct emu_tensor_map *map)
{
    uint64_t bytes =
        count_rows(map) * row_elements(map) * (uint64_t)emu_tensor_element_bytes(map->type);

    return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

/* A run of a row that is moved as one, cut where the swizzle cuts it. It is in the tensor up to
 * `edge`. */
static bool copy_run(const struct walk *walk, uint32_t row_at, uint64_t row_address, uint32_t begin,
                     uint32_t end, uint32_t edge)
{
    bool is_fill = edge <= begin;

    if (is_fill && !walk->copy->is_load)
        return true;
    while (begin < end) {
        uint32_t stop = walk->unit == 0 ? end : (begin / walk->unit + 1) * walk->unit;
        uint32_t inside;

        if (stop > end)
            stop = end;
        inside = edge <= begin ? 0 : edge < stop ? edge - begin : stop - begin;
        if (!walk->piece(walk->user, emu_swizzle(walk->map->swizzle, row_at + begin),
                         is_fill ? 0 : row_address + begin, stop - begin, inside,
                         is_fill ? walk->fill : NULL))
            return false;
        begin = stop;
    }
    return true;
}

/* Row number `row` of the box, of which element 0 is at `position`; dimensions from 1 up say
 * whether any of it is `inside`. */
static bool copy_row(const struct walk *walk, uint32_t row, const int64_t *position, bool inside)
{
    const struct emu_tensor_map *map = walk->map;
    int64_t first = -position[0], last = (int64_t)map->dims[0] - position[0];
    int64_t length = walk->row_elements;
    uint32_t row_at = walk->copy->shared + row * walk->pitch;
    uint64_t address = map->address + (uint64_t)position[0] * walk->element;

    first = first < 0 ? 0 : first > length ? length : first;
    last = last < first ? first : last > length ? length : last;
    if (!inside)
        first = last = length;
    for (int i = 1; i < map->rank; i++)
        address += (uint64_t)position[i] * map->strides[i];

    uint32_t from = (uint32_t)first * walk->element, edge = (uint32_t)last * walk->element;
    uint32_t end = walk->row_elements * walk->element, to = edge;

    /* Stores and reductions end with a whole unit, also behind the tensor's edge: measured on H200,
     * for every type. */
    if (!walk->copy->is_load)
        to = (to + STORE_UNIT - 1) / STORE_UNIT * STORE_UNIT;
    if (to > end)
        to = end;
    return copy_run(walk, row_at, address, 0, from, 0) &&
           copy_run(walk, row_at, address, from, to, edge) &&
           copy_run(walk, row_at, address, to, end, 0);
}

static bool is_inside(const struct emu_tensor_map *map, const int64_t *position)
{
    for (int i = 1; i < map->rank; i++)
        if (position[i] < 0 || position[i] >= (int64_t)map->dims[i])
            return false;
    return true;
}

static bool walk_tile(const struct walk *walk)
{
    const struct emu_tensor_map *map = walk->map;
    uint32_t step[EMU_TENSOR_RANK_MAX] = {0}, row = 0;
    int64_t position[EMU_TENSOR_RANK_MAX];
    int dimension;

    for (int i = 0; i < EMU_TENSOR_RANK_MAX; i++)
        position[i] = i < map->rank ? walk->copy->coordinates[i] : 0;
    do {
        if (!copy_row(walk, row++, position, is_inside(map, position)))
            return false;
        for (dimension = 1; dimension < map->rank; dimension++) {
            position[dimension] += map->element_strides[dimension];
            if (++step[dimension] < count_steps(map, dimension))
                break;
            step[dimension] = 0;
            position[dimension] = walk->copy->coordinates[dimension];
        }
    } while (dimension < map->rank);
    return true;
}

/* The last position of the bounding box in dimension 1 + `axis`; the upper corner is relative to
 * the tensor's last element. */
static int64_t box_end(const struct emu_tensor_map *map, int axis)
{
    return (int64_t)map->dims[axis + 1] - 1 + map->upper[axis];
}

static bool walk_im2col(const struct walk *walk)
{
    const struct emu_tensor_map *map = walk->map;
    int axes = map->rank - 2; /* W, H, D; after them comes N, in which there is no box */
    int64_t start[EMU_TENSOR_RANK_MAX], position[EMU_TENSOR_RANK_MAX];

    for (int i = 0; i < map->rank; i++)
        start[i] = walk->copy->coordinates[i];
    for (uint32_t pixel = 0; pixel < map->pixels; pixel++) {
        memcpy(position, start, sizeof position);
        for (int axis = 0; axis < axes && walk->copy->is_load; axis++)
            position[axis + 1] += walk->copy->offsets[axis];
        if (!copy_row(walk, pixel, position, is_inside(map, position)))
            return false;

        int axis = 0;

        for (; axis < axes; axis++) {
            start[axis + 1] += map->element_strides[axis + 1];
            if (start[axis + 1] <= box_end(map, axis))
                break;
            start[axis + 1] = map->lower[axis];
        }
        if (axis == axes)
            start[map->rank - 1]++;
    }
    return true;
}

/* ---- What traps ---- */

static const char *find_im2col_fault(const struct emu_tensor_copy *copy)
{
    static const uint32_t offset_limits[EMU_TENSOR_RANK_MAX + 1] = {0, 0, 0, 65536, 256, 32};
    const struct emu_tensor_map *map = copy->map;

    for (int axis = 0; axis < map->rank - 2; axis++) {
        int64_t at = copy->coordinates[axis + 1];

        if (at < map->lower[axis] || at > box_end(map, axis))
            return "the start of an im2col copy is outside of its bounding box";
        if (copy->is_load && copy->offsets[axis] >= offset_limits[map->rank])
            return "an im2col offset has too many bits for the rank";
    }
    return NULL;
}

static const char *find_copy_fault(const struct emu_tensor_copy *copy)
{
    const struct emu_tensor_map *map = copy->map;

    if ((int64_t)copy->coordinates[0] * emu_tensor_element_bytes(map->type) % 16 != 0)
        return "the first coordinate is no multiple of 16 bytes";
    for (int i = 0; i < map->rank && !copy->is_load; i++)
        if (copy->coordinates[i] < 0)
            return "a coordinate of a store is negative";
    return map->is_im2col ? find_im2col_fault(copy) : NULL;
}

static enum emu_copied refuse(enum emu_copied how, const char **why, const char *reason)
{
    *why = reason;
    return how;
}

enum emu_copied emu_tensor_copy(const struct emu_tensor_copy *copy, emu_tensor_piece piece,
                                void *user, const char **why)
{
    const struct emu_tensor_map *map = copy->map;
    const char *fault = emu_tensor_map_fault(map);

    if (!fault)
        fault = find_copy_fault(copy);
    if (fault)
        return refuse(EMU_COPY_ILLEGAL, why, fault);
    if (copy->shared % 128 != 0)
        return refuse(EMU_COPY_MISALIGNED, why, "the box in shared memory is not 128-byte aligned");

    struct walk walk = {
        .copy = copy,
        .map = map,
        .piece = piece,
        .user = user,
        .element = (uint32_t)emu_tensor_element_bytes(map->type),
        .row_elements = row_elements(map),
        .unit = emu_swizzle_unit(map->swizzle),
    };
    uint32_t span = emu_swizzle_span(map->swizzle);

    /* Rows lie a span apart even where they are shorter; what is behind them is not touched. */
    walk.pitch = span != 0 ? span : walk.row_elements * walk.element;
    if (count_rows(map) * walk.pitch > FOOTPRINT_MAX || copy->shared > FOOTPRINT_MAX)
        return refuse(EMU_COPY_ILLEGAL, why, "the box is larger than shared memory");
    /* Every half of 16 bits is 0x7ff7, in f32 and f64 as well. */
    for (uint32_t i = 0; map->fill == 1 && i < sizeof walk.fill; i++)
        walk.fill[i] = i % 2 == 0 ? 0xf7 : 0x7f;
    return (map->is_im2col ? walk_im2col : walk_tile)(&walk) ? EMU_COPIED : EMU_COPY_STOPPED;
}

/* ---- Conversion ---- */

static uint32_t round_to_tf32(uint32_t bits)
{
    if ((bits & 0x7fffffff) > 0x7f800000)
        return 0x7fffe000;
    /* To nearest, ties to even, of the 13 bits that go; the carry may reach the exponent. */
    return (bits + 0xfff + (bits >> 13 & 1)) & ~UINT32_C(0x1fff);
}

void emu_tensor_convert(const struct emu_tensor_map *map, unsigned char *bytes, uint32_t count)
{
    if (!emu_tensor_is_tf32(map->type))
        return;
    for (uint32_t i = 0; i + 4 <= count; i += 4) {
        uint32_t bits;

        memcpy(&bits, bytes + i, sizeof bits);
        bits = round_to_tf32(bits);
        memcpy(bytes + i, &bits, sizeof bits);
    }
}
