/* Types and special registers of PTX: their names and what one needs to know of each. */
#include "emulator/ptx.h"

#include <string.h>

static const struct {
    const char *name;
    int bytes;
} types[] = {
    [EMU_TYPE_NONE] = {"no type", 0},
    [EMU_PRED] = {"pred", 0},
    [EMU_B8] = {"b8", 1},
    [EMU_B16] = {"b16", 2},
    [EMU_B32] = {"b32", 4},
    [EMU_B64] = {"b64", 8},
    [EMU_B128] = {"b128", 16},
    [EMU_U8] = {"u8", 1},
    [EMU_U16] = {"u16", 2},
    [EMU_U32] = {"u32", 4},
    [EMU_U64] = {"u64", 8},
    [EMU_S8] = {"s8", 1},
    [EMU_S16] = {"s16", 2},
    [EMU_S32] = {"s32", 4},
    [EMU_S64] = {"s64", 8},
    [EMU_F16] = {"f16", 2},
    [EMU_F16X2] = {"f16x2", 4},
    [EMU_BF16] = {"bf16", 2},
    [EMU_BF16X2] = {"bf16x2", 4},
    [EMU_TF32] = {"tf32", 4},
    [EMU_F32] = {"f32", 4},
    [EMU_F32X2] = {"f32x2", 8},
    [EMU_F64] = {"f64", 8},
    [EMU_E4M3] = {"e4m3", 1},
    [EMU_E5M2] = {"e5m2", 1},
    [EMU_E4M3X2] = {"e4m3x2", 2},
    [EMU_E5M2X2] = {"e5m2x2", 2},
    [EMU_E4M3X4] = {"e4m3x4", 4},
    [EMU_E5M2X4] = {"e5m2x4", 4},
    /* Values of six bits stand in a byte each. */
    [EMU_E2M3X2] = {"e2m3x2", 2},
    [EMU_E3M2X2] = {"e3m2x2", 2},
    [EMU_E2M1X2] = {"e2m1x2", 1},
    [EMU_E2M3X4] = {"e2m3x4", 4},
    [EMU_E3M2X4] = {"e3m2x4", 4},
    [EMU_E2M1X4] = {"e2m1x4", 2},
    [EMU_UE8M0X2] = {"ue8m0x2", 2},
    [EMU_U16X2] = {"u16x2", 4},
    [EMU_S16X2] = {"s16x2", 4},
    /* Smaller than a byte: they stand in matrices only. */
    [EMU_U4] = {"u4", 0},
    [EMU_S4] = {"s4", 0},
    [EMU_B1] = {"b1", 0},
    [EMU_E2M3] = {"e2m3", 0},
    [EMU_E3M2] = {"e3m2", 0},
    [EMU_E2M1] = {"e2m1", 0},
    [EMU_TEXREF] = {"texref", 8},
    [EMU_SAMPLERREF] = {"samplerref", 8},
    [EMU_SURFREF] = {"surfref", 8},
};
enum { TYPES = sizeof types / sizeof types[0] };

static bool is_word(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(word, name, length) == 0;
}

enum emu_type emu_type_of(const char *word, size_t length)
{
    for (int i = EMU_TYPE_NONE + 1; i < TYPES; i++) {
        if (is_word(word, length, types[i].name))
            return (enum emu_type)i;
    }
    return EMU_TYPE_NONE;
}

const char *emu_type_name(enum emu_type type)
{
    return types[(unsigned)type < TYPES ? type : EMU_TYPE_NONE].name;
}

int emu_type_bytes(enum emu_type type)
{
    return types[(unsigned)type < TYPES ? type : EMU_TYPE_NONE].bytes;
}

static const struct {
    const char *name, *tail; /* a number below `count` stands between them */
    int count;
    enum emu_type type;
    bool is_vector;
} specials[] = {
    [EMU_TID] = {"%tid", "", 0, EMU_U32, true},
    [EMU_NTID] = {"%ntid", "", 0, EMU_U32, true},
    [EMU_LANEID] = {"%laneid", "", 0, EMU_U32, false},
    [EMU_WARPID] = {"%warpid", "", 0, EMU_U32, false},
    [EMU_NWARPID] = {"%nwarpid", "", 0, EMU_U32, false},
    [EMU_CTAID] = {"%ctaid", "", 0, EMU_U32, true},
    [EMU_NCTAID] = {"%nctaid", "", 0, EMU_U32, true},
    [EMU_SMID] = {"%smid", "", 0, EMU_U32, false},
    [EMU_NSMID] = {"%nsmid", "", 0, EMU_U32, false},
    [EMU_GRIDID] = {"%gridid", "", 0, EMU_U64, false},
    [EMU_IS_EXPLICIT_CLUSTER] = {"%is_explicit_cluster", "", 0, EMU_PRED, false},
    [EMU_CLUSTERID] = {"%clusterid", "", 0, EMU_U32, true},
    [EMU_NCLUSTERID] = {"%nclusterid", "", 0, EMU_U32, true},
    [EMU_CLUSTER_CTAID] = {"%cluster_ctaid", "", 0, EMU_U32, true},
    [EMU_CLUSTER_NCTAID] = {"%cluster_nctaid", "", 0, EMU_U32, true},
    [EMU_CLUSTER_CTARANK] = {"%cluster_ctarank", "", 0, EMU_U32, false},
    [EMU_CLUSTER_NCTARANK] = {"%cluster_nctarank", "", 0, EMU_U32, false},
    [EMU_LANEMASK_EQ] = {"%lanemask_eq", "", 0, EMU_U32, false},
    [EMU_LANEMASK_LE] = {"%lanemask_le", "", 0, EMU_U32, false},
    [EMU_LANEMASK_LT] = {"%lanemask_lt", "", 0, EMU_U32, false},
    [EMU_LANEMASK_GE] = {"%lanemask_ge", "", 0, EMU_U32, false},
    [EMU_LANEMASK_GT] = {"%lanemask_gt", "", 0, EMU_U32, false},
    [EMU_CLOCK] = {"%clock", "", 0, EMU_U32, false},
    [EMU_CLOCK_HI] = {"%clock_hi", "", 0, EMU_U32, false},
    [EMU_CLOCK64] = {"%clock64", "", 0, EMU_U64, false},
    [EMU_PM] = {"%pm", "", 8, EMU_U32, false},
    [EMU_PM64] = {"%pm", "_64", 8, EMU_U64, false},
    [EMU_ENVREG] = {"%envreg", "", 32, EMU_U32, false},
    [EMU_GLOBALTIMER] = {"%globaltimer", "", 0, EMU_U64, false},
    [EMU_GLOBALTIMER_LO] = {"%globaltimer_lo", "", 0, EMU_U32, false},
    [EMU_GLOBALTIMER_HI] = {"%globaltimer_hi", "", 0, EMU_U32, false},
    [EMU_RESERVED_SMEM_OFFSET_BEGIN] = {"%reserved_smem_offset_begin", "", 0, EMU_U32, false},
    [EMU_RESERVED_SMEM_OFFSET_END] = {"%reserved_smem_offset_end", "", 0, EMU_U32, false},
    [EMU_RESERVED_SMEM_OFFSET_CAP] = {"%reserved_smem_offset_cap", "", 0, EMU_U32, false},
    [EMU_RESERVED_SMEM_OFFSET] = {"%reserved_smem_offset_", "", 2, EMU_U32, false},
    [EMU_TOTAL_SMEM_SIZE] = {"%total_smem_size", "", 0, EMU_U32, false},
    [EMU_AGGR_SMEM_SIZE] = {"%aggr_smem_size", "", 0, EMU_U32, false},
    [EMU_DYNAMIC_SMEM_SIZE] = {"%dynamic_smem_size", "", 0, EMU_U32, false},
    [EMU_CURRENT_GRAPH_EXEC] = {"%current_graph_exec", "", 0, EMU_U64, false},
};
enum { SPECIALS = sizeof specials / sizeof specials[0] };

/* The decimal number, without zeros before it, that is all of the text; -1 for others. */
static int read_number(const char *text, size_t length, int below)
{
    int number = 0;

    if (length < 1 || length > 2 || (length == 2 && text[0] == '0'))
        return -1;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        number = 10 * number + (text[i] - '0');
    }
    return number < below ? number : -1;
}

static int read_numbered(int special, const char *name, size_t length)
{
    size_t head = strlen(specials[special].name), tail = strlen(specials[special].tail);

    if (length < head + tail || memcmp(name, specials[special].name, head) != 0 ||
        memcmp(name + length - tail, specials[special].tail, tail) != 0)
        return -1;
    return read_number(name + head, length - head - tail, specials[special].count);
}

int emu_special_of(const char *name, size_t length, int *number)
{
    *number = 0;
    for (int i = 0; i < SPECIALS; i++) {
        if (specials[i].count > 0) {
            int found = read_numbered(i, name, length);

            if (found >= 0) {
                *number = found;
                return i;
            }
        } else if (is_word(name, length, specials[i].name)) {
            return i;
        }
    }
    return -1;
}

enum emu_type emu_special_type(enum emu_special special)
{
    return (unsigned)special < SPECIALS ? specials[special].type : EMU_TYPE_NONE;
}

bool emu_special_is_vector(enum emu_special special)
{
    return (unsigned)special < SPECIALS && specials[special].is_vector;
}

int emu_register_slots(const struct emu_register *reg)
{
    return reg->vector * (reg->type == EMU_B128 ? 2 : 1);
}
