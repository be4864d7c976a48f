/* form_words.c: the words that may stand behind an instruction's name, for those whose decoders ask
 * for the words they need and would not see another: one that does not belong there is refused. */
#include "emulator/state.h"

#include <stdio.h>
#include <string.h>

/* As ptxas 13.0 takes them for sm_90a. Words of a form that this machine has not, such as those of
 * a later target, are left out, so that none is passed over. */
#define SHARED " shared shared::cta shared::cluster "
#define SCOPES " cta cluster gpu sys "
#define TYPES " b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64 "
#define PACKED " f16 f16x2 bf16 bf16x2 "
#define EVICTIONS                                                                                  \
    " L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate"         \
    " L2::evict_normal L2::evict_first L2::evict_last L2::cache_hint "
#define OPERATIONS " add min max inc dec and or xor "
#define DIMENSIONS " 1d 2d 3d 4d 5d "
#define MODES " tile tile::gather4 tile::scatter4 im2col im2col::w im2col::w::128 "
#define ON_MBARRIER " mbarrier::complete_tx::bytes "
#define PROXIES " alias async async::generic tensormap::generic global shared::cta shared::cluster "
#define RESTRICTIONS " sync_restrict::shared::cta sync_restrict::shared::cluster "
#define REDUCTION " popc and or pred u32 "

/* The longest that an instruction begins with is its own. */
static const struct entry {
    const char *opcode, *words; /* those that may follow, a space before and behind each */
} entries[] = {
    {"ld", SHARED SCOPES TYPES EVICTIONS " const global local param param::entry param::func weak"
                                         " volatile relaxed acquire mmio ca cg cs lu cv nc"
                                         " L2::64B L2::128B L2::256B v2 v4 v8 "},
    {"ldu", TYPES " global v2 v4 "},
    {"st", SHARED SCOPES TYPES EVICTIONS " global local param param::func weak volatile relaxed"
                                         " release mmio wb cg cs wt v2 v4 v8 "},
    {"st.async", SHARED SCOPES TYPES ON_MBARRIER " weak v2 v4 "},
    {"st.bulk", " weak shared shared::cta "},
    {"mov", TYPES " pred "},
    {"atom", SHARED SCOPES TYPES PACKED OPERATIONS " noftz global relaxed acquire release acq_rel"
                                                   " cas exch L2::cache_hint v2 v4 v8 "},
    {"red", SHARED SCOPES TYPES PACKED OPERATIONS " noftz global relaxed release L2::cache_hint v2"
                                                  " v4 v8 "},
    {"red.async", SCOPES TYPES OPERATIONS ON_MBARRIER " relaxed shared::cluster "},
    {"cvta", SHARED " to const global local param param::entry u32 u64 "},
    {"isspacep", SHARED " const global local param param::entry "},
    {"mapa", " shared::cluster u32 u64 "},
    {"getctarank", " shared::cluster u32 u64 "},
    {"prefetch", " global local L1 L2 L2::evict_last L2::evict_normal "},
    {"prefetch.tensormap", " "},
    {"prefetch.const.tensormap", " "},
    {"prefetch.param.tensormap", " "},
    {"prefetchu", " L1 "},
    {"applypriority", " global L2::evict_normal "},
    {"discard", " global L2 "},
    {"createpolicy", EVICTIONS " L2::evict_unchanged fractional range cvt global L2 b64 "},
    {"mbarrier.init", " shared shared::cta b64 "},
    {"mbarrier.inval", " shared shared::cta b64 "},
    {"mbarrier.expect_tx", SHARED " relaxed cta cluster b64 "},
    {"mbarrier.complete_tx", SHARED " relaxed cta cluster b64 "},
    {"mbarrier.arrive", SHARED " expect_tx noComplete release relaxed cta cluster b64 "},
    {"mbarrier.arrive_drop", SHARED " expect_tx noComplete release relaxed cta cluster b64 "},
    {"mbarrier.test_wait", " parity acquire relaxed cta cluster shared shared::cta b64 "},
    {"mbarrier.try_wait", " parity acquire relaxed cta cluster shared shared::cta b64 "},
    {"mbarrier.pending_count", " b64 "},
    {"bar.warp", " sync "},
    {"bar.sync", " "},
    {"bar.arrive", " "},
    {"bar.red", REDUCTION},
    {"bar.cta.sync", " "},
    {"bar.cta.arrive", " "},
    {"bar.cta.red", REDUCTION},
    {"barrier.sync", " aligned "},
    {"barrier.arrive", " aligned "},
    {"barrier.red", REDUCTION " aligned "},
    {"barrier.cta.sync", " aligned "},
    {"barrier.cta.arrive", " aligned "},
    {"barrier.cta.red", REDUCTION " aligned "},
    {"barrier.cluster.arrive", " release relaxed aligned "},
    {"barrier.cluster.wait", " acquire aligned "},
    {"fence", SCOPES RESTRICTIONS " sc acq_rel acquire release "},
    {"fence.mbarrier_init", " release cluster "},
    {"fence.proxy", SCOPES PROXIES RESTRICTIONS " acquire release "},
    {"fence.proxy.alias", " "},
    {"membar", " cta gl sys "},
    {"membar.proxy", PROXIES},
    {"cp.async", " ca cg shared shared::cta global L2::cache_hint L2::64B L2::128B L2::256B "},
    {"cp.async.commit_group", " "},
    {"cp.async.wait_group", " "},
    {"cp.async.wait_all", " "},
    {"cp.async.mbarrier.arrive", " noinc shared shared::cta b64 "},
    {"cp.async.bulk",
     ON_MBARRIER " shared::cta shared::cluster global bulk_group multicast::cluster cp_mask"
                 " L2::cache_hint "},
    {"cp.async.bulk.commit_group", " "},
    {"cp.async.bulk.wait_group", " read "},
    {"cp.async.bulk.prefetch", " L2 global L2::cache_hint "},
    {"cp.async.bulk.prefetch.tensor", DIMENSIONS MODES " L2 global L2::cache_hint "},
    {"cp.async.bulk.tensor",
     ON_MBARRIER DIMENSIONS MODES " shared::cta shared::cluster global bulk_group"
                                  " multicast::cluster im2col_no_offs cta_group::1 cta_group::2"
                                  " L2::cache_hint "},
    {"cp.reduce.async.bulk",
     ON_MBARRIER OPERATIONS " shared::cta shared::cluster global bulk_group noftz f16 bf16 b32 b64"
                            " u32 u64 s32 s64 f32 f64 L2::cache_hint "},
    {"cp.reduce.async.bulk.tensor",
     OPERATIONS DIMENSIONS MODES " shared::cta global bulk_group im2col_no_offs L2::cache_hint "},
    {"ldmatrix", " sync aligned m8n8 x1 x2 x4 trans shared shared::cta b16 "},
    {"stmatrix", " sync aligned m8n8 x1 x2 x4 trans shared shared::cta b16 "},
    {"movmatrix", " sync aligned m8n8 trans b16 "},
    {"clusterlaunchcontrol.try_cancel",
     ON_MBARRIER " async shared::cta multicast::cluster::all b128 "},
    {"clusterlaunchcontrol.query_cancel.is_canceled", " pred b128 "},
    {"clusterlaunchcontrol.query_cancel.get_first_ctaid", " v4 b32 b128 "},
    {"clusterlaunchcontrol.query_cancel.get_first_ctaid::x", " b32 b128 "},
    {"clusterlaunchcontrol.query_cancel.get_first_ctaid::y", " b32 b128 "},
    {"clusterlaunchcontrol.query_cancel.get_first_ctaid::z", " b32 b128 "},
    {"setmaxnreg.inc", " sync aligned u32 "},
    {"setmaxnreg.dec", " sync aligned u32 "},
    {"griddepcontrol.launch_dependents", " "},
    {"griddepcontrol.wait", " "},
    {"nanosleep", " u32 "},
    {"pmevent", " mask "},
    {"bra", " uni "},
    {"brx.idx", " uni "},
    {"call", " uni "},
    {"ret", " uni "},
    {"exit", " "},
    {"trap", " "},
    {"brkpt", " "},
    /* What none of those above begins with is no form of these. */
    {"mbarrier", " "},
    {"bar", " "},
    {"barrier", " "},
    {"barrier.cta", " "},
    {"barrier.cluster", " "},
    {"cp", " "},
    {"clusterlaunchcontrol", " "},
    {"setmaxnreg", " "},
    {"griddepcontrol", " "},
    {"brx", " "},
};

static bool has(const char *words, const char *word)
{
    char spaced[64];

    return snprintf(spaced, sizeof spaced, " %s ", word) < (int)sizeof spaced &&
           strstr(words, spaced);
}

/* Null: none asks. */
static const struct entry *find(const char *opcode)
{
    const struct entry *found = NULL;
    size_t longest = 0;

    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        size_t length = strlen(entries[i].opcode);

        if (length > longest && strncmp(opcode, entries[i].opcode, length) == 0 &&
            (opcode[length] == '.' || opcode[length] == '\0')) {
            found = &entries[i];
            longest = length;
        }
    }
    return found;
}

static int words_of(const char *opcode)
{
    int count = 1;

    for (; *opcode; opcode++)
        count += *opcode == '.';
    return count;
}

/* Of each of these an instruction has one at most. */
static const struct group {
    const char *what, *words;
} groups[] = {
    {"type", TYPES PACKED " pred "},
    {"scope", SCOPES " gl "},
    {"vector", " v2 v4 v8 "},
    {"operation", OPERATIONS " popc cas exch "},
    {"order", " weak volatile relaxed acquire release acq_rel sc "},
    {"way through the caches", " ca cg cs lu cv wb wt "},
    {"number of dimensions", DIMENSIONS},
    {"mode", MODES " im2col_no_offs "},
    {"group of CTAs", " cta_group::1 cta_group::2 "},
    {"space", SHARED " const global local param param::entry param::func "},
};

/* Copies and fences are between two spaces. */
static bool may_repeat(const struct entry *entry, const struct group *group)
{
    if (strcmp(group->what, "type") == 0 && strncmp(entry->opcode, "clusterl", 8) == 0)
        return true; /* of the result, and of the answer */
    return strcmp(group->what, "space") == 0 &&
           (strncmp(entry->opcode, "cp.", 3) == 0 || strncmp(entry->opcode, "fence", 5) == 0 ||
            strncmp(entry->opcode, "membar", 6) == 0);
}

/* The group in which word `at` is, and one before it; or null. */
static const struct group *shared_group(const struct entry *entry, const struct emu_instruction *i,
                                        int at)
{
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
        for (int k = 1; k < at && has(groups[g].words, i->words[at]); k++)
            if (has(groups[g].words, i->words[k]) && !may_repeat(entry, &groups[g]))
                return &groups[g];
    return NULL;
}

static bool stands_before(const struct emu_instruction *i, int at)
{
    for (int k = 1; k < at; k++)
        if (strcmp(i->words[k], i->words[at]) == 0)
            return true;
    return false;
}

bool emu_check_words(struct emu_decoder *d, const struct emu_instruction *i)
{
    const struct entry *entry = find(i->opcode);
    /* A policy may have one priority for either fraction. */
    bool is_policy = entry && strcmp(entry->opcode, "createpolicy") == 0;

    for (int k = entry ? words_of(entry->opcode) : i->word_count; k < i->word_count; k++) {
        const char *word = i->words[k];
        const struct group *group = shared_group(entry, i, k);

        if (!has(entry->words, word))
            return emu_fail(d->error, i->line, "%s: .%s is no word of %s", i->opcode, word,
                            entry->opcode);
        if (stands_before(i, k) && !is_policy)
            return emu_fail(d->error, i->line, "%s: .%s stands there twice", i->opcode, word);
        if (group)
            return emu_fail(d->error, i->line, "%s: .%s is its second %s", i->opcode, word,
                            group->what);
    }
    return true;
}
