#include "codegen/tcgen05.h"

#include <assert.h>
#include <stdio.h>

/* Field positions: PTX ISA, tables "Shared memory descriptor" and "Instruction descriptor". */
enum {
    LEADING_BIT = 16,
    STRIDE_BIT = 32,
    CONSTANT_BIT = 46, /* 0b001 stands there */
    SWIZZLE_BIT = 61,
    D_TYPE_BIT = 4,
    A_TYPE_BIT = 7,
    B_TYPE_BIT = 10,
    COLUMNS_BIT = 17, /* in units of 8  */
    ROWS_BIT = 24     /* in units of 16 */
};

enum { D_F32 = 1, D_S32 = 2 };

/* ---- Host arithmetic ---- */

static uint64_t swizzle_code(enum lt_swizzle swizzle)
{
    switch (swizzle) {
    case LT_SWIZZLE_NONE:
        return 0;
    case LT_SWIZZLE_128B:
        return 2;
    case LT_SWIZZLE_64B:
        return 4;
    case LT_SWIZZLE_32B:
        return 6;
    }
    return 0;
}

uint64_t lt_tcgen05_descriptor(enum lt_swizzle swizzle, uint32_t address)
{
    const uint32_t leading = 16, stride = 8 * (swizzle == LT_SWIZZLE_NONE ? 16 : (uint32_t)swizzle);

    assert(address % 16 == 0);
    return (uint64_t)((address & 0x3ffff) >> 4) | (uint64_t)(leading >> 4) << LEADING_BIT |
           (uint64_t)(stride >> 4) << STRIDE_BIT | (uint64_t)1 << CONSTANT_BIT |
           swizzle_code(swizzle) << SWIZZLE_BIT;
}

const char *lt_tcgen05_kind(enum lathe_type type)
{
    switch (type) {
    case LATHE_F16:
    case LATHE_BF16:
        return "f16";
    case LATHE_TF32:
        return "tf32";
    case LATHE_E4M3:
    case LATHE_E5M2:
        return "f8f6f4";
    case LATHE_INT8:
        return "i8";
    case LATHE_TYPE_DEFAULT:
    case LATHE_F32:
    case LATHE_S32:
        break;
    }
    return NULL;
}

/* The codes are the kind's own. */
static uint32_t operand_code(enum lathe_type type)
{
    switch (type) {
    case LATHE_TF32:
        return 2;
    case LATHE_BF16:
    case LATHE_E5M2:
    case LATHE_INT8: /* signed */
        return 1;
    case LATHE_F16:
    case LATHE_E4M3:
    case LATHE_TYPE_DEFAULT:
    case LATHE_F32:
    case LATHE_S32:
        break;
    }
    return 0;
}

uint32_t lt_tcgen05_instruction(enum lathe_type type, int rows, int columns)
{
    uint32_t operand = operand_code(type), sums = type == LATHE_INT8 ? D_S32 : D_F32;

    assert(rows % 16 == 0 && columns % 8 == 0);
    return sums << D_TYPE_BIT | operand << A_TYPE_BIT | operand << B_TYPE_BIT |
           (uint32_t)(columns / 8) << COLUMNS_BIT | (uint32_t)(rows / 16) << ROWS_BIT;
}

/* ---- Instructions ---- */

/* "tcgen05.NAME.cta_group::G" and the rest of the form. */
static void append_group(struct lt_builder *b, char form[160], const char *name, int group,
                         const char *rest)
{
    lt_require(b, LT_HAS_TCGEN05, "tcgen05");
    if (group != 1 && group != 2)
        lt_mistake(b, "tcgen05 works for one CTA or for two, not %d", group);
    snprintf(form, 160, "tcgen05.%s.cta_group::%d%s", name, group, rest);
}

static void check_columns(struct lt_builder *b, int columns)
{
    if (columns < 32 || columns > 512 || (columns & (columns - 1)) != 0)
        lt_mistake(b, "tensor memory is had in powers of two from 32 to 512 columns, not %d",
                   columns);
}

void lt_tmem_alloc(struct lt_builder *b, int group, lt_value smem, int columns)
{
    char form[160];

    check_columns(b, columns);
    append_group(b, form, "alloc", group, ".sync.aligned.shared::cta.b32 [%0], %1;");
    lt_inst(b, form, smem, lt_imm(columns));
}

void lt_tmem_dealloc(struct lt_builder *b, int group, lt_value address, int columns)
{
    char form[160];

    check_columns(b, columns);
    append_group(b, form, "dealloc", group, ".sync.aligned.b32 %0, %1;");
    lt_inst(b, form, address, lt_imm(columns));
}

void lt_tmem_relinquish(struct lt_builder *b, int group)
{
    char form[160];

    append_group(b, form, "relinquish_alloc_permit", group, ".sync.aligned;");
    lt_raw(b, form);
}

void lt_tcgen05_mma(struct lt_builder *b, int group, enum lathe_type type, lt_value d,
                    lt_value a_descriptor, lt_value b_descriptor, lt_value instruction,
                    lt_value accumulate)
{
    const char *kind = lt_tcgen05_kind(type);
    char form[160], rest[80];

    if (!kind)
        lt_mistake(b, "tcgen05.mma multiplies no %s", lathe_type_name(type));
    if (type == LATHE_INT8)
        lt_require(b, LT_HAS_TCGEN05_I8, "tcgen05.mma of kind i8");
    snprintf(rest, sizeof rest, ".kind::%s [%%0], %%1, %%2, %%3, %%4;", kind ? kind : "f16");
    append_group(b, form, "mma", group, rest);
    lt_inst(b, form, d, a_descriptor, b_descriptor, instruction, accumulate);
}

void lt_tcgen05_commit(struct lt_builder *b, int group, lt_value mbarrier, lt_value mask)
{
    char form[160];

    if (mask.kind == LT_NOTHING) {
        append_group(b, form, "commit", group, ".mbarrier::arrive::one.shared::cluster.b64 [%0];");
        lt_inst(b, form, mbarrier);
        return;
    }
    append_group(b, form, "commit", group,
                 ".mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;");
    lt_inst(b, form, mbarrier, mask);
}

void lt_tcgen05_ld(struct lt_builder *b, const struct lt_vector *to, int first, int count,
                   lt_value address)
{
    char form[80];

    lt_require(b, LT_HAS_TCGEN05, "tcgen05.ld");
    if (count < 1 || count > LT_TCGEN05_LD_MOST || (count & (count - 1)) != 0)
        lt_mistake(b, "tcgen05.ld reads a power of two of columns up to %d, not %d",
                   LT_TCGEN05_LD_MOST, count);
    snprintf(form, sizeof form, "tcgen05.ld.sync.aligned.32x32b.x%d.b32", count);
    lt_inst_open(b, form);
    lt_inst_elements(b, to, first, count);
    lt_inst_close(b, "[%0];", address);
}

void lt_tcgen05_wait_ld(struct lt_builder *b)
{
    lt_require(b, LT_HAS_TCGEN05, "tcgen05.wait");
    lt_raw(b, "tcgen05.wait::ld.sync.aligned;");
}

void lt_tcgen05_fence_before(struct lt_builder *b)
{
    lt_require(b, LT_HAS_TCGEN05, "tcgen05.fence");
    lt_raw(b, "tcgen05.fence::before_thread_sync;");
}

void lt_tcgen05_fence_after(struct lt_builder *b)
{
    lt_require(b, LT_HAS_TCGEN05, "tcgen05.fence");
    lt_raw(b, "tcgen05.fence::after_thread_sync;");
}
