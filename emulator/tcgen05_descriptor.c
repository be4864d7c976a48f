/* tcgen05_descriptor.c: what the descriptors of tcgen05.mma and .cp may say. Source: PTX ISA
 * "Instruction descriptor", "Shared memory descriptor", "Matrix shape". */
#include "emulator/mma_element.h"
#include "emulator/tcgen05_product.h"

enum { N_MAX = 256 };

/* ---- Matrix descriptors ---- */

bool emu_tcgen05_descriptor(struct emu_descriptor *matrix, uint64_t bits, const char **why)
{
    enum { NONE, ATOMS_OF_32, SPAN_128, SPAN_64 = 4, SPAN_32 = 6, CODES = 8 };
    static const uint8_t widths[CODES] = {
        [NONE] = 1, [ATOMS_OF_32] = 8, [SPAN_128] = 8, [SPAN_64] = 4, [SPAN_32] = 2};
    uint64_t code = bits >> 61;

    *matrix = (struct emu_descriptor){
        .start = (uint32_t)(bits & 0x3fff) << 4,
        .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
        .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
        .base_offset = (uint32_t)(bits >> 49 & 7),
        .width = widths[code],
        .has_atoms_of_32 = code == ATOMS_OF_32,
    };
    if ((bits >> 46 & 7) != 1)
        *why = "bits 46 to 48 of a descriptor are not 0b001";
    else if (widths[code] == 0)
        *why = "bits 61 to 63 of a descriptor name no swizzle";
    else if ((bits >> 53 & 0xff) != 0 || (bits >> 14 & 3) != 0 || (bits >> 30 & 3) != 0)
        *why = "bits of a descriptor that have to be zero are not";
    else if (bits >> 52 & 1)
        *why = "an absolute leading offset (bit 52 of a descriptor) is not supported";
    else
        return true;
    return false;
}

/* ---- Instruction descriptors ---- */

static enum emu_type operand_type(enum emu_tcgen05_kind kind, uint32_t code)
{
    static const enum emu_type f16[] = {EMU_F16, EMU_BF16},
                               small[] = {EMU_E4M3, EMU_E5M2, EMU_TYPE_NONE,
                                          EMU_E2M3, EMU_E3M2, EMU_E2M1},
                               integers[] = {EMU_U8, EMU_S8};

    switch (kind) {
    case EMU_KIND_F16:
        return code < 2 ? f16[code] : EMU_TYPE_NONE;
    case EMU_KIND_TF32:
        return code == 2 ? EMU_TF32 : EMU_TYPE_NONE;
    case EMU_KIND_F8F6F4:
        return code < 6 ? small[code] : EMU_TYPE_NONE;
    case EMU_KIND_I8:
        return code < 2 ? integers[code] : EMU_TYPE_NONE;
    }
    return EMU_TYPE_NONE;
}

static bool d_fits(const struct emu_product *product, enum emu_tcgen05_kind kind)
{
    switch (kind) {
    case EMU_KIND_F16:
        return product->d == EMU_F32 ||
               (product->d == EMU_F16 && product->a == EMU_F16 && product->b == EMU_F16);
    case EMU_KIND_TF32:
        return product->d == EMU_F32;
    case EMU_KIND_F8F6F4:
        return product->d == EMU_F32 || product->d == EMU_F16;
    case EMU_KIND_I8:
        return product->d == EMU_S32;
    }
    return false;
}

/* For 128 rows the manual's table and CUTLASS's forms with A in shared memory have N in steps of 8;
 * with A in tensor memory CUTLASS has steps of 16, and of 32 for pairs. */
static int step_of(const struct emu_product *product)
{
    int step = product->m == 128 && product->a_in_tmem ? 16 : 8;

    if (product->group == EMU_PAIR)
        step = product->a_in_tmem ? 32 : 16;
    return step;
}

static bool n_fits(const struct emu_product *product, enum emu_tcgen05_kind kind)
{
    int n = product->n, least = product->group == EMU_PAIR ? 16 : 8;

    if (product->ws)
        return n == 64 || n == 128 || n == 256;
    if (n < least || n > N_MAX || n % step_of(product) != 0)
        return false;
    if (kind != EMU_KIND_I8)
        return true;
    return product->group == EMU_PAIR ? n % 32 == 0 : n % 16 == 0 || n == 8 || n == 24;
}

static bool m_fits(const struct emu_product *product)
{
    int m = product->m;

    if (product->ws)
        return m == 32 || m == 64 || m == 128;
    return product->group == EMU_PAIR ? m == 128 || m == 256 : m == 64 || m == 128;
}

static const char *find_fault(const struct emu_product *product, enum emu_tcgen05_kind kind,
                              uint32_t bits)
{
    if ((bits & 7) != 0)
        return "the instruction descriptor is of a sparse product, and the instruction is not";
    if ((bits >> 6 & 1) || (bits >> 23 & 1) || (bits >> 29 & 1) || (bits >> 30 && !product->ws))
        return "bits of the instruction descriptor that have to be zero are not";
    if (product->a == EMU_TYPE_NONE || product->b == EMU_TYPE_NONE ||
        (kind == EMU_KIND_F16 && product->a != product->b))
        return "the instruction descriptor names no types of A and B that the kind has";
    if (!d_fits(product, kind))
        return "the instruction descriptor names no type of D that the kind has";
    if (product->saturate && kind != EMU_KIND_I8)
        return "the instruction descriptor saturates, which .kind::i8 alone does";
    if ((product->negate_a || product->negate_b) && kind == EMU_KIND_I8)
        return "the instruction descriptor negates, which .kind::i8 does not";
    if (!m_fits(product))
        return "the instruction descriptor has an M that there is not";
    if (!n_fits(product, kind))
        return "the instruction descriptor has an N that there is not for its M and kind";
    return NULL;
}

bool emu_product_of(struct emu_product *product, const struct emu_tcgen05 *form, uint32_t bits,
                    const char **why)
{
    static const enum emu_type sums[] = {EMU_F16, EMU_F32, EMU_S32, EMU_TYPE_NONE};

    *product = (struct emu_product){
        .m = (int)(bits >> 24 & 31) << 4,
        .n = (int)(bits >> 17 & 63) << 3,
        .group = form->group,
        .d = sums[bits >> 4 & 3],
        .a = operand_type(form->kind, bits >> 7 & 7),
        .b = operand_type(form->kind, bits >> 10 & 7),
        .ws = form->ws,
        .a_in_tmem = form->a_in_tmem,
        .ashift = form->ashift,
        .saturate = bits >> 3 & 1,
        .negate_a = bits >> 13 & 1,
        .negate_b = bits >> 14 & 1,
        .a_mn_major = bits >> 15 & 1,
        .b_mn_major = bits >> 16 & 1,
        .scale_d = form->scale_d,
    };
    *why = find_fault(product, form->kind, bits);
    if (*why)
        return false;
    product->k = form->kind == EMU_KIND_F16 ? 16 : form->kind == EMU_KIND_TF32 ? 8 : 32;
    return true;
}

/* ---- Operands ---- */

/* Which orders of elements in shared memory a type has. */
static const char *major_fault(enum emu_type type, const struct emu_descriptor *matrix,
                               bool mn_major)
{
    if (matrix->has_atoms_of_32 && (type != EMU_TF32 || !mn_major))
        return "a descriptor has atoms of 32 bytes, which MN-major tf32 alone has";
    if (!mn_major)
        return NULL;
    if (emu_element_bits(type) < 8)
        return "types of less than 8 bits are K-major alone";
    if (type == EMU_TF32 && !matrix->has_atoms_of_32)
        return "MN-major tf32 needs a descriptor with atoms of 32 bytes";
    return NULL;
}

static const char *tmem_fault(const struct emu_product *product)
{
    uint32_t lane = emu_tmem_lane(product->d_address);
    bool may_be_16 = !product->ws && product->group == 1 && product->m == 64;

    if (lane != 0 && !(lane == 16 && may_be_16))
        return "D begins at a lane other than 0 (of 64 rows 0 or 16)";
    if (product->a_in_tmem && emu_tmem_lane(product->a_address) != lane)
        return "A in tensor memory does not begin at the lane of D";
    if (product->a_in_tmem && product->a_mn_major)
        return "A in tensor memory is K-major alone";
    if (product->ashift && product->m < 128)
        return "the shift of A takes an M of 128 or 256";
    return NULL;
}

const char *emu_product_fault(const struct emu_product *product)
{
    const char *why = tmem_fault(product);
    int step = product->group == EMU_PAIR ? 32 : 16;

    if (!why && !product->a_in_tmem)
        why = major_fault(product->a, &product->a_matrix, product->a_mn_major);
    if (!why)
        why = major_fault(product->b, &product->b_matrix, product->b_mn_major);
    if (!why && product->b_mn_major && emu_element_bits(product->b) == 8 && product->n % step != 0)
        why = "MN-major B of 8 bits needs an N in steps of 16, of a pair of 32";
    return why;
}
