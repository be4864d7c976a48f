/* reduce.c: see reduce.h. */
#include "emulator/reduce.h"

#include "emulator/bits.h"
#include "emulator/number.h"
#include "emulator/state.h"

#include <math.h>
#include <string.h>

static const char *const words[] = {"",    "add", "min", "max",  "inc", "dec",
                                    "and", "or",  "xor", "exch", "cas"};

enum emu_reduction emu_reduction_of(const struct emu_instruction *instruction)
{
    for (int i = 1; i < instruction->word_count; i++)
        for (int k = EMU_REDUCE_ADD; k <= EMU_REDUCE_CAS; k++)
            if (strcmp(instruction->words[i], words[k]) == 0)
                return (enum emu_reduction)k;
    return EMU_REDUCE_NONE;
}

static bool is_half(enum emu_type type)
{
    return type == EMU_F16 || type == EMU_BF16;
}

static bool is_packed(enum emu_type type)
{
    return type == EMU_F16X2 || type == EMU_BF16X2;
}

static bool is_integer(enum emu_type type)
{
    return type == EMU_U32 || type == EMU_S32 || type == EMU_U64 || type == EMU_S64;
}

bool emu_can_reduce(enum emu_reduction how, enum emu_type type)
{
    switch (how) {
    case EMU_REDUCE_NONE:
        return false;
    case EMU_REDUCE_ADD:
        return is_integer(type) || is_half(type) || is_packed(type) || type == EMU_F32 ||
               type == EMU_F64;
    case EMU_REDUCE_MIN:
    case EMU_REDUCE_MAX:
        return is_integer(type) || is_half(type) || is_packed(type) || type == EMU_F32;
    case EMU_REDUCE_INC:
    case EMU_REDUCE_DEC:
        return type == EMU_U32;
    case EMU_REDUCE_AND:
    case EMU_REDUCE_OR:
    case EMU_REDUCE_XOR:
        return type == EMU_B32 || type == EMU_B64;
    case EMU_REDUCE_EXCH:
        return type == EMU_B32 || type == EMU_B64;
    case EMU_REDUCE_CAS:
        return type == EMU_B16 || type == EMU_B32 || type == EMU_B64;
    }
    return false;
}

/* ---- Floats ---- */

static enum emu_format format_of(enum emu_type type)
{
    switch (type) {
    case EMU_F16:
    case EMU_F16X2:
        return EMU_FORMAT_F16;
    case EMU_BF16:
    case EMU_BF16X2:
        return EMU_FORMAT_BF16;
    default:
        return EMU_FORMAT_F32;
    }
}

/* The one that is a number wins; -0 is less than +0. */
static double least(double a, double b)
{
    if (isnan(a))
        return b;
    if (isnan(b))
        return a;
    if (a == b)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}

/* Of f16, bf16 and f32: their sums in f64 round once to all of them. */
static double combined(enum emu_reduction how, double a, double b)
{
    if (how == EMU_REDUCE_ADD)
        return a + b;
    return how == EMU_REDUCE_MIN ? least(a, b) : -least(-a, -b);
}

static uint64_t reduced_float(enum emu_reduction how, enum emu_format format, bool flush,
                              uint64_t old, uint64_t value)
{
    struct emu_narrowing narrowing = {.rounding = EMU_NEAREST_EVEN, .flush = flush};
    double a = emu_widen(format, old), b = emu_widen(format, value);

    if (flush && format == EMU_FORMAT_F32) {
        a = (double)emu_flush((float)a);
        b = (double)emu_flush((float)b);
    }
    return emu_narrow(format, combined(how, a, b), &narrowing);
}

static uint64_t reduced_pair(enum emu_reduction how, enum emu_format format, uint64_t old,
                             uint64_t value)
{
    uint64_t low = reduced_float(how, format, false, old & 0xffff, value & 0xffff),
             high = reduced_float(how, format, false, old >> 16 & 0xffff, value >> 16 & 0xffff);

    return (low & 0xffff) | (high & 0xffff) << 16;
}

/* ---- Integers ---- */

static bool is_less(enum emu_type type, uint64_t a, uint64_t b)
{
    switch (type) {
    case EMU_S32:
        return (int32_t)(uint32_t)a < (int32_t)(uint32_t)b;
    case EMU_S64:
        return (int64_t)a < (int64_t)b;
    default:
        return a < b;
    }
}

static uint64_t reduced_integer(enum emu_reduction how, enum emu_type type, uint64_t old,
                                uint64_t value)
{
    switch (how) {
    case EMU_REDUCE_ADD:
        return old + value;
    case EMU_REDUCE_MIN:
        return is_less(type, old, value) ? old : value;
    case EMU_REDUCE_MAX:
        return is_less(type, old, value) ? value : old;
    case EMU_REDUCE_INC:
        return old >= value ? 0 : old + 1;
    case EMU_REDUCE_DEC:
        return old == 0 || old > value ? value : old - 1;
    case EMU_REDUCE_AND:
        return old & value;
    case EMU_REDUCE_OR:
        return old | value;
    case EMU_REDUCE_XOR:
        return old ^ value;
    default: /* exchanges */
        return value;
    }
}

/* A multiprocessor adds as add.f64 does: of two NaN the one that was there is the result, made
 * quiet. The units of global memory leave its bits alone, and of two take the one that is added
 * (both measured on an H200). */
static uint64_t sum_f64(bool is_local, uint64_t old, uint64_t value)
{
    double a = emu_f64_of(old), b = emu_f64_of(value);

    if (!is_local && (isnan(a) || isnan(b)))
        return isnan(b) ? value : old;
    return emu_f64_bits(emu_add_f64(b, a, EMU_NEAREST_EVEN));
}

uint64_t emu_reduced(const struct emu_change *change, uint64_t old, uint64_t value)
{
    enum emu_reduction how = change->how;
    enum emu_type type = change->type;
    int bytes = emu_type_bytes(type);
    uint64_t mask = bytes < 8 ? ((uint64_t)1 << (8 * bytes)) - 1 : ~(uint64_t)0;

    old &= mask;
    value &= mask;
    if (is_packed(type))
        return reduced_pair(how, format_of(type), old, value);
    if (type == EMU_F64 && how == EMU_REDUCE_ADD)
        return sum_f64(change->is_local, old, value);
    if (is_half(type) || type == EMU_F32)
        return reduced_float(how, format_of(type), change->flush, old, value) & mask;
    return reduced_integer(how, type, old, value) & mask;
}

void emu_change_bytes(const struct emu_change *change, unsigned char *to, const unsigned char *from,
                      uint64_t bytes)
{
    int size = emu_type_bytes(change->type);

    for (uint64_t i = 0; i + (uint64_t)size <= bytes; i += (uint64_t)size)
        emu_store_bits(to + i,
                       emu_reduced(change, emu_load_bits(to + i, change->type, 8),
                                   emu_load_bits(from + i, change->type, 8)),
                       size);
}
