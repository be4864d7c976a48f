/* form_words.c: the words that may stand behind an instruction's name, for those whose decoders ask
 * for the words they need and would not see another: one that does not belong there is refused. */
#include "emulator/state.h"

#include <stdio.h>
#include <string.h>

/* PTX ISA 9.0, each instruction's own section, and no words of targets before sm_70. */
#define SPACES                                                                                     \
    " const global local param param::entry param::func shared shared::cta shared::cluster "
#define SCOPES " cta cluster gpu sys "
#define TYPES " b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64 "
#define PACKED " f16 f16x2 bf16 bf16x2 noftz "
#define EVICTIONS                                                                                  \
    " L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate"         \
    " L2::evict_normal L2::evict_first L2::evict_last L2::cache_hint "
#define OPERATIONS " add min max inc dec and or xor "

static const struct entry {
    const char *opcode, *words; /* a space before and behind each */
} entries[] = {
    {"ld", SPACES SCOPES TYPES EVICTIONS " weak volatile relaxed acquire mmio ca cg cs lu cv nc"
                                         " L2::64B L2::128B L2::256B unified v2 v4 v8 "},
    {"ldu", TYPES " global v2 v4 "},
    {"st", SPACES SCOPES TYPES EVICTIONS " weak volatile relaxed release mmio wb cg cs wt v2 v4 v8"
                                         " async bulk mbarrier::complete_tx::bytes "},
    {"mov", TYPES " pred "},
    {"atom", SPACES SCOPES TYPES PACKED OPERATIONS
     " relaxed acquire release acq_rel cas exch L2::cache_hint v2 v4 v8 "},
    {"red", SPACES SCOPES TYPES PACKED OPERATIONS
     " relaxed release mmio async mbarrier::complete_tx::bytes L2::cache_hint v2 v4 v8 "},
    {"cvta", SPACES " to u32 u64 "},
    {"isspacep", SPACES},
    {"mapa", " shared::cluster u32 u64 "},
    {"getctarank", " shared::cluster u32 u64 "},
    {"prefetch", SPACES " L1 L2 L2::evict_last L2::evict_normal tensormap "},
    {"prefetchu", " L1 "},
    {"applypriority", " global L2::evict_normal "},
    {"discard", " global L2 "},
    {"createpolicy", EVICTIONS " L2::evict_unchanged fractional range cvt global L2 b64 "},
    {"mbarrier", " init inval expect_tx complete_tx arrive arrive_drop test_wait try_wait"
                 " pending_count parity noComplete relaxed acquire release cta cluster"
                 " shared shared::cta shared::cluster b64 "},
    {"bar", " cta warp sync arrive red popc and or pred u32 "},
    {"barrier", " cta cluster sync arrive wait red popc and or pred u32 aligned relaxed acquire"
                " release "},
    {"fence", SCOPES " sc acq_rel acquire release proxy alias async async::generic"
                     " tensormap::generic mbarrier_init global shared::cta shared::cluster"
                     " sync_restrict::shared::cta sync_restrict::shared::cluster "},
    {"membar", " cta gl sys proxy alias async global shared::cta shared::cluster "},
    {"cp", OPERATIONS PACKED
     " async bulk tensor reduce prefetch mbarrier arrive noinc commit_group wait_group wait_all "
     "read"
     " ca cg shared shared::cta shared::cluster global 1d 2d 3d 4d 5d tile tile::gather4"
     " tile::scatter4 im2col im2col::w im2col::w::128 im2col_no_offs mbarrier::complete_tx::bytes"
     " bulk_group multicast::cluster cta_group::1 cta_group::2 cp_mask ignore_oob"
     " L2 L2::cache_hint L2::64B L2::128B L2::256B b32 b64 u32 u64 s32 s64 f32 f64 "},
    {"ldmatrix", " sync aligned m8n8 m8n16 m16n16 x1 x2 x4 trans shared shared::cta b16 b8 b8x16"
                 " b6x16_p32 b4x16_p64 "},
    {"stmatrix", " sync aligned m8n8 m16n8 x1 x2 x4 trans shared shared::cta b16 b8 "},
    {"movmatrix", " sync aligned m8n8 trans b16 "},
    {"setmaxnreg", " inc dec sync aligned u32 "},
    {"griddepcontrol", " launch_dependents wait "},
    {"nanosleep", " u32 "},
    {"pmevent", " mask "},
    {"bra", " uni "},
    {"brx", " idx uni "},
    {"call", " uni "},
    {"ret", " uni "},
    {"exit", " "},
    {"trap", " "},
    {"brkpt", " "},
};

static bool has(const char *words, const char *word)
{
    char spaced[64];

    return snprintf(spaced, sizeof spaced, " %s ", word) < (int)sizeof spaced &&
           strstr(words, spaced);
}

static const struct entry *find(const char *opcode)
{
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (strcmp(entries[i].opcode, opcode) == 0)
            return &entries[i];
    return NULL;
}

static bool stands_before(const struct emu_instruction *i, int at)
{
    for (int k = 1; k < at; k++)
        if (strcmp(i->words[k], i->words[at]) == 0)
            return true;
    return false;
}

/* Copies and fences name two spaces; a policy may name a priority twice, for either fraction. */
bool emu_check_words(struct emu_decoder *d, const struct emu_instruction *i)
{
    const struct entry *entry = find(i->words[0]);
    bool is_policy = entry && strcmp(entry->opcode, "createpolicy") == 0;
    bool has_places = entry && has(" cp fence membar ", entry->opcode);
    int types = 0, spaces = 0;

    for (int k = 1; entry && k < i->word_count; k++) {
        const char *word = i->words[k];

        if (!has(entry->words, word))
            return emu_fail(d->error, i->line, "%s: .%s is no word of %s", i->opcode, word,
                            entry->opcode);
        if (stands_before(i, k) && !is_policy)
            return emu_fail(d->error, i->line, "%s: .%s stands there twice", i->opcode, word);
        types += emu_type_of(word, strlen(word)) != EMU_TYPE_NONE;
        spaces += has(SPACES, word) && !has_places;
        if (types > 1 || spaces > 1)
            return emu_fail(d->error, i->line, "%s: .%s is its second %s", i->opcode, word,
                            types > 1 ? "type" : "space");
    }
    return true;
}
