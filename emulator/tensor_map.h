/* tensor_map.h: CUtensorMap: encoding with the driver's checks, and walking the box of a copy.
 *
 * The 128 bytes are the emulator's own layout: an opaque value, as the real one is. */
#ifndef EMU_TENSOR_MAP_H
#define EMU_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

enum { EMU_TENSOR_MAP_BYTES = 128, EMU_TENSOR_RANK_MAX = 5 };

/* Arguments as in cuda.h; enumerations by their numbers there. */
struct emu_tensor_map {
    bool is_im2col;
    int type, rank, interleave, swizzle, promotion, fill;
    uint64_t address;
    uint64_t dims[EMU_TENSOR_RANK_MAX];
    uint64_t strides[EMU_TENSOR_RANK_MAX]; /* bytes from one index of dimension i to the next; of
                                            * dimension 0 the element's size */
    uint32_t box[EMU_TENSOR_RANK_MAX];     /* tiled */
    uint32_t element_strides[EMU_TENSOR_RANK_MAX];
    int lower[EMU_TENSOR_RANK_MAX - 2], upper[EMU_TENSOR_RANK_MAX - 2]; /* im2col: W, H, D */
    uint32_t channels, pixels;                                          /* im2col */
};

/* Bytes of an element, 0 for types that are none or are packed below a byte. */
int emu_tensor_element_bytes(int type);

/* Checks every field as the real driver does; 0, or the CUresult (1: invalid value). `bytes` is
 * written only if all is well. */
int emu_tensor_map_encode(unsigned char bytes[EMU_TENSOR_MAP_BYTES],
                          const struct emu_tensor_map *map);
/* False where the bytes are no map of this emulator's. */
bool emu_tensor_map_decode(struct emu_tensor_map *map,
                           const unsigned char bytes[EMU_TENSOR_MAP_BYTES]);

/* tensormap.replace: `field` is its word ("global_address", "rank", "box_dim" ...), `ordinal` the
 * dimension where it has one. The codes of elemtype, interleave, swizzle and fill are PTX's, not
 * cuda.h's. Zeros alone are where a kernel that makes a map begins. False for a word that is no
 * field, a value that is none, or other bytes that are no map. */
bool emu_tensor_map_replace(unsigned char bytes[EMU_TENSOR_MAP_BYTES], const char *field,
                            int ordinal, uint64_t value);

/* ---- Copies ---- */

struct emu_tensor_copy {
    const struct emu_tensor_map *map;
    int32_t coordinates[EMU_TENSOR_RANK_MAX];
    uint32_t offsets[EMU_TENSOR_RANK_MAX - 2]; /* im2col: W, H, D */
    uint32_t shared;                           /* offset of the box in a CTA's shared memory */
    bool is_load;
};

/* Bytes that a load completes on its barrier. */
uint32_t emu_tensor_copy_bytes(const struct emu_tensor_map *map);

/* Called for every piece that is contiguous on both sides: `shared` is the swizzled offset,
 * `global` the address; its first `inside` bytes lie in the tensor. Of a load that is all or none:
 * then `fill` holds its bytes. Of a store what is outside is dropped, without a call, but for the
 * rest of the last unit, which goes where the address says. Returns false to stop. */
typedef bool (*emu_tensor_piece)(void *user, uint32_t shared, uint64_t global, uint32_t bytes,
                                 uint32_t inside, const unsigned char *fill);

/* Why a copy traps; EMU_COPY_STOPPED where the callback stopped it. */
enum emu_copied {
    EMU_COPIED,
    EMU_COPY_ILLEGAL,    /* illegal instruction: an unaligned first coordinate, a negative one of a
                          * store, an im2col start outside of its bounding box */
    EMU_COPY_MISALIGNED, /* the box in shared memory */
    EMU_COPY_STOPPED
};
enum emu_copied emu_tensor_copy(const struct emu_tensor_copy *copy, emu_tensor_piece piece,
                                void *user, const char **why);

/* What a load does to the bytes of a piece that is inside: those of tf32 maps are rounded to
 * nearest even, all others stay as they are (also FLOAT32_FTZ, which flushes in reductions alone).
 */
void emu_tensor_convert(const struct emu_tensor_map *map, unsigned char *bytes, uint32_t count);

/* The swizzle of tensor_map's code (1: 32 bytes, 2: 64, 3: 128, 4 ... as cuda.h) on an offset. */
uint32_t emu_swizzle(int swizzle, uint32_t offset);

#endif
