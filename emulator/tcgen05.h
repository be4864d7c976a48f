/* tcgen05.h: the tensor cores of Blackwell, apart from the machine: the forms of their
 * instructions, and tensor memory as an array of cells. Source: PTX ISA "TensorCore 5th Generation
 * Family Instructions". */
#ifndef EMU_TCGEN05_H
#define EMU_TCGEN05_H

#include "emulator/alu.h"

/* ---- Tensor memory: 128 lanes of 512 columns of 32 bits ---- */

enum { EMU_TMEM_LANES = 128, EMU_TMEM_COLUMNS = 512, EMU_TMEM_CELLS = 128 * 512 };

static inline uint32_t emu_tmem_lane(uint32_t address)
{
    return address >> 16;
}

static inline uint32_t emu_tmem_column(uint32_t address)
{
    return address & 0xffff;
}

/* ---- Forms ---- */

enum emu_tcgen05_what {
    EMU_TCGEN05_ALLOC,
    EMU_TCGEN05_DEALLOC,
    EMU_TCGEN05_RELINQUISH,
    EMU_TCGEN05_LD,
    EMU_TCGEN05_ST,
    EMU_TCGEN05_WAIT_LD,
    EMU_TCGEN05_WAIT_ST,
    EMU_TCGEN05_FENCE_BEFORE,
    EMU_TCGEN05_FENCE_AFTER,
    EMU_TCGEN05_COMMIT,
    EMU_TCGEN05_MMA,
    EMU_TCGEN05_CP,
    EMU_TCGEN05_SHIFT
};

enum emu_tcgen05_kind { EMU_KIND_F16, EMU_KIND_TF32, EMU_KIND_F8F6F4, EMU_KIND_I8 };

/* Of ld and st. */
enum emu_tmem_shape {
    EMU_TMEM_32X32B,
    EMU_TMEM_16X64B,
    EMU_TMEM_16X128B,
    EMU_TMEM_16X256B,
    EMU_TMEM_16X32BX2
};

/* Of cp: rows and bits of a row, and where in tensor memory each row goes. */
enum emu_tmem_copy {
    EMU_COPY_128X256B,
    EMU_COPY_4X256B,
    EMU_COPY_128X128B,
    EMU_COPY_64X128B_02_13,
    EMU_COPY_64X128B_01_23,
    EMU_COPY_32X128B
};

struct emu_tcgen05 {
    enum emu_tcgen05_what what;
    int group; /* CTAs: 1 or 2; 0 where none is named */

    enum emu_tcgen05_kind kind; /* mma */
    bool ws, a_in_tmem, ashift;
    int mask_registers; /* of disable-output-lane: 0, 4 or 8 */
    bool has_zero_mask;
    int scale_d; /* D counts 2^-scale_d of itself */

    enum emu_tmem_shape shape; /* ld, st */
    int registers;             /* of a thread */
    bool is_packed;            /* .pack::16b, .unpack::16b */
    uint32_t split;            /* columns to the second half of 16x32bx2 */
    bool reduces, is_max, has_abs, has_nan;
    enum emu_type type; /* of the reduction */

    enum emu_tmem_copy copy; /* cp */
    int packed_bits;         /* of an element in shared memory, to be 8 in tensor memory; 0: none */

    bool multicast; /* commit */
};

/* What a target has: the number of sm_NN, and the letter behind it in the text: 'a', 'f' or 0. */
struct emu_target {
    int number;
    char letter;
};

struct emu_target emu_target_of(int device, const char *text);
enum emu_decoded emu_tcgen05_decode(struct emu_tcgen05 *form,
                                    const struct emu_instruction *instruction,
                                    struct emu_target target, struct emu_error *error);

/* ---- ld and st: what a thread's register holds ---- */

/* Lanes and columns counted from the address; of a packed form two neighbouring columns. */
struct emu_tmem_place {
    uint32_t lane, column;
};
struct emu_tmem_place emu_tmem_place(const struct emu_tcgen05 *form, int thread, int index);
/* Of all registers. */
uint32_t emu_tmem_shape_lanes(enum emu_tmem_shape shape);
uint32_t emu_tmem_shape_columns(const struct emu_tcgen05 *form);
/* The register's value in one thread, and the reverse; `cells` are those of the whole memory. */
uint32_t emu_tmem_load(const struct emu_tcgen05 *form, const uint32_t *cells, uint32_t address,
                       int thread, int index);
void emu_tmem_store(const struct emu_tcgen05 *form, uint32_t *cells, uint32_t address, int thread,
                    int index, uint32_t value);
/* The least or the greatest of a thread's registers. */
uint32_t emu_tmem_reduce(const struct emu_tcgen05 *form, const uint32_t *values, int step);

#endif
