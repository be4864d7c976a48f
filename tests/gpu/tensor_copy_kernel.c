/* tensor_copy_kernel.c: the text of a copy (PTX ISA, "cp.async.bulk.tensor",
 * "cp.reduce.async.bulk.tensor", "cp.async.bulk.prefetch.tensor", "tensormap.replace").
 *
 * A load waits by an mbarrier that expects the bytes the ISA says, in a loop with an end; then the
 * barrier's next phase must end by an arrival alone. */
#include "tests/gpu/tensor_copy.h"
#include "tests/gpu/tensor_text.h"

#include <stdio.h>
#include <string.h>

enum {
    TRIES_MAX = 100000, /* of try_wait, which itself waits about a microsecond */
    BOX_ALIGNMENT = 1024
};

uint32_t tensor_copy_pitch(const struct tensor_copy *copy)
{
    return (tensor_footprint(&copy->map) + BOX_ALIGNMENT - 1) / BOX_ALIGNMENT * BOX_ALIGNMENT;
}

/* Behind what is given back lie the barrier and then a tensor map. */
static uint32_t barrier_at(const struct tensor_case *it)
{
    return (it->shared_bytes + 127) / 128 * 128;
}

/* ---- A map that is changed ---- */

static const char *field_word(enum tensor_field field)
{
    static const char *const words[TENSOR_REPLACEABLE] = {
        "global_address", "rank",     "box_dim",           "global_dim",   "global_stride",
        "element_stride", "elemtype", "interleave_layout", "swizzle_mode", "fill_mode"};

    return words[field];
}

/* By PTX's codes, which are not those of cuda.h. */
static unsigned element_code(int type)
{
    static const unsigned codes[TENSOR_TYPES] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12};

    return codes[type];
}

static uint64_t field_value(const struct tensor_map *map, enum tensor_field field, int ordinal)
{
    switch (field) {
    case TENSOR_RANK:
        return (uint64_t)map->rank - 1;
    case TENSOR_BOX_DIM:
        return map->box[ordinal];
    case TENSOR_GLOBAL_DIM:
        return map->dims[ordinal];
    case TENSOR_GLOBAL_STRIDE:
        return map->strides[ordinal + 1];
    case TENSOR_ELEMENT_STRIDE:
        return map->element_strides[ordinal];
    case TENSOR_ELEMTYPE:
        return element_code(map->type);
    case TENSOR_SWIZZLE:
        return (uint64_t)map->swizzle;
    case TENSOR_FILL:
        return (uint64_t)map->fill;
    default: /* of the interleaved layouts there is none yet */
        return 0;
    }
}

static bool is_wide(enum tensor_field field)
{
    return field == TENSOR_ADDRESS || field == TENSOR_GLOBAL_STRIDE;
}

/* Codes are immediates, other values registers. */
static void say_value(struct tensor_case *it, const struct tensor_copy *copy,
                      enum tensor_field field, int ordinal)
{
    unsigned long long value = field_value(&copy->map, field, ordinal);

    if (field == TENSOR_ADDRESS)
        tensor_say(it, "    add.u64 %%value, %%memory, %llu;\n",
                   (unsigned long long)copy->map.offset);
    else if (is_wide(field))
        tensor_say(it, "    mov.b64 %%value, %llu;\n", value);
    else
        tensor_say(it, "    mov.b32 %%n, %llu;\n", value);
}

static void say_replace_field(struct tensor_case *it, const struct tensor_copy *copy,
                              enum tensor_field field, int ordinal)
{
    bool is_code = field >= TENSOR_ELEMTYPE,
         is_indexed = field >= TENSOR_BOX_DIM && field <= TENSOR_ELEMENT_STRIDE;

    if (!is_code)
        say_value(it, copy, field, ordinal);
    tensor_say(it, "    @%%first tensormap.replace.tile.%s.%s.b1024.%s [%s]", field_word(field),
               copy->in_global ? "global" : "shared::cta", is_wide(field) ? "b64" : "b32",
               copy->in_global ? "%scratch" : "%draft");
    if (is_indexed)
        tensor_say(it, ", %d", ordinal);
    if (is_code)
        tensor_say(it, ", %u;\n", (unsigned)field_value(&copy->map, field, ordinal));
    else
        tensor_say(it, ", %s;\n", is_wide(field) ? "%value" : "%n");
}

/* The first warp makes the map, in shared memory or where it will lie, and publishes it. */
static void say_replace(struct tensor_case *it, const struct tensor_copy *copy)
{
    tensor_say(it,
               "    mov.u64 %%scratch, scratch;\n"
               "    cvta.global.u64 %%tensor, %%scratch;\n"
               "    add.u32 %%draft, %%space, %u;\n"
               "    setp.ge.u32 %%p, %%thread, 32;\n"
               "    @%%p bra $replaced;\n"
               "    mul.wide.u32 %%at, %%thread, 4;\n"
               "    add.u64 %%value, %%map, %%at;\n"
               "    ld.b32 %%v0, [%%value];\n",
               barrier_at(it) + 128);
    if (copy->in_global)
        tensor_say(it, "    add.u64 %%at, %%at, %%scratch;\n    st.global.b32 [%%at], %%v0;\n");
    else
        tensor_say(it, "    shl.b32 %%i, %%thread, 2;\n    add.u32 %%to, %%draft, %%i;\n"
                       "    st.shared.b32 [%%to], %%v0;\n");
    tensor_say(it, "    bar.warp.sync 0xffffffff;\n");
    for (int i = 0; i < copy->replaced_count; i++)
        say_replace_field(it, copy, copy->replaced[i].field, copy->replaced[i].ordinal);
    tensor_say(it, "    bar.warp.sync 0xffffffff;\n");
    if (copy->in_global)
        tensor_say(it, "    fence.proxy.tensormap::generic.release.gpu;\n");
    else
        tensor_say(it, "    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release"
                       ".gpu.sync.aligned [%%scratch], [%%draft], 128;\n");
    tensor_say(it, "    fence.proxy.tensormap::generic.acquire.gpu [%%tensor], 128;\n$replaced:\n");
}

/* ---- Operands ---- */

static void say_list(struct tensor_case *it, const char *prefix, int count)
{
    for (int i = 0; i < count; i++)
        tensor_say(it, "%s%s%d", i == 0 ? "{" : ", ", prefix, i);
    tensor_say(it, "}");
}

static void say_operands(struct tensor_case *it, const struct tensor_copy *copy)
{
    for (int i = 0; i < copy->map.rank; i++)
        tensor_say(it, "    mov.b32 %%c%d, %d;\n", i, copy->at[i]);
    for (int i = 0; i < copy->map.rank - 2 && copy->map.is_im2col; i++)
        tensor_say(it, "    mov.b16 %%o%d, %u;\n", i, copy->offsets[i]);
    tensor_say(it, "    mov.b16 %%mask, %u;\n    add.u32 %%box, %%space, %u;\n", copy->targets,
               copy->box_at);
    if (copy->has_hint)
        tensor_say(it, "    createpolicy.fractional.L2::evict_first.b64 %%policy, 1.0;\n");
}

static void say_offsets(struct tensor_case *it, const struct tensor_copy *copy)
{
    if (!copy->map.is_im2col)
        return;
    tensor_say(it, ", ");
    say_list(it, "%o", copy->map.rank - 2);
}

static void say_prefetch(struct tensor_case *it, const struct tensor_copy *copy)
{
    tensor_say(it, "    @%%first prefetch.tensormap [%%tensor];\n");
    tensor_say(it, "    @%%first cp.async.bulk.prefetch.tensor.%dd.L2.global%s%s [%%tensor, ",
               copy->map.rank, copy->map.is_im2col ? ".im2col" : ".tile",
               copy->has_hint ? ".L2::cache_hint" : "");
    say_list(it, "%c", copy->map.rank);
    tensor_say(it, "]");
    say_offsets(it, copy);
    tensor_say(it, "%s;\n", copy->has_hint ? ", %policy" : "");
}

/* ---- Loads ---- */

static void say_barrier(struct tensor_case *it)
{
    tensor_say(it,
               "    add.u32 %%bar, %%space, %u;\n"
               "    @%%first mbarrier.init.shared.b64 [%%bar], 1;\n"
               "    @%%first fence.mbarrier_init.release.cluster;\n",
               barrier_at(it));
}

/* %to, %n: where box and barrier are, in the issuer or in the one other CTA that is the target. */
static void say_load_ends(struct tensor_case *it, const struct tensor_copy *copy)
{
    if (copy->is_afar)
        tensor_say(it,
                   "    mapa.shared::cluster.u32 %%to, %%box, %d;\n"
                   "    mapa.shared::cluster.u32 %%n, %%bar, %d;\n",
                   __builtin_ctz(copy->targets), __builtin_ctz(copy->targets));
    else
        tensor_say(it, "    mov.b32 %%to, %%box;\n    mov.b32 %%n, %%bar;\n");
}

static void say_load(struct tensor_case *it, const struct tensor_copy *copy)
{
    say_load_ends(it, copy);
    tensor_say(it,
               "    setp.eq.and.u32 %%p, %%rank, %u, %%first;\n"
               "    @%%p cp.async.bulk.tensor.%dd.%s.global%s.mbarrier::complete_tx::bytes%s%s "
               "[%%to], [%%tensor, ",
               copy->issuer, copy->map.rank, copy->to_own_cta ? "shared::cta" : "shared::cluster",
               copy->map.is_im2col ? ".im2col" : ".tile",
               copy->is_multicast ? ".multicast::cluster" : "",
               copy->has_hint ? ".L2::cache_hint" : "");
    say_list(it, "%c", copy->map.rank);
    tensor_say(it, "], [%%n]");
    say_offsets(it, copy);
    tensor_say(it, "%s%s;\n", copy->is_multicast ? ", %mask" : "",
               copy->has_hint ? ", %policy" : "");
}

/* Until the phase of that parity has ended; goes on all the same where it does not. */
static void say_wait(struct tensor_case *it, int parity, int failure)
{
    tensor_say(it,
               "    mov.b32 %%tries, 0;\n"
               "$wait%d:\n"
               "    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %%p, [%%bar], %d;\n"
               "    @%%p bra $waited%d;\n"
               "    add.u32 %%tries, %%tries, 1;\n"
               "    setp.lt.u32 %%p, %%tries, %d;\n"
               "    @%%p bra $wait%d;\n"
               "    mov.b32 %%status, %d;\n"
               "$waited%d:\n",
               parity, parity, parity, TRIES_MAX, parity, failure, parity);
}

/* %target: this CTA is one; %q: its thread that announces the bytes. */
static void say_load_and_wait(struct tensor_case *it, const struct tensor_copy *copy)
{
    tensor_say(it,
               "    mov.b32 %%n, %u;\n"
               "    shr.b32 %%n, %%n, %%rank;\n"
               "    and.b32 %%n, %%n, 1;\n"
               "    setp.ne.u32 %%target, %%n, 0;\n"
               "    and.pred %%q, %%target, %%first;\n"
               "    @%%q mbarrier.arrive.expect_tx.shared.b64 _, [%%bar], %u;\n",
               copy->targets, tensor_load_bytes(&copy->map));
    say_load(it, copy);
    tensor_say(it, "    @!%%target mov.b32 %%status, %d;\n    @!%%target bra $over;\n",
               TENSOR_NOT_A_TARGET);
    say_wait(it, 0, TENSOR_TIMED_OUT);
    tensor_say(it, "    bar.sync 0;\n    @%%q mbarrier.arrive.shared.b64 _, [%%bar];\n");
    say_wait(it, 1, TENSOR_MORE_BYTES);
    tensor_say(it, "$over:\n");
}

/* ---- Stores and reductions ---- */

static void say_store(struct tensor_case *it, const struct tensor_copy *copy)
{
    const char *mode = copy->map.is_im2col ? ".im2col_no_offs" : ".tile";

    if (copy->reduction)
        tensor_say(it, "    @%%first cp.reduce.async.bulk.tensor.%dd.global.shared::cta.%s%s",
                   copy->map.rank, copy->reduction, mode);
    else
        tensor_say(it, "    @%%first cp.async.bulk.tensor.%dd.global.shared::cta%s", copy->map.rank,
                   mode);
    tensor_say(it, ".bulk_group%s [%%tensor, ", copy->has_hint ? ".L2::cache_hint" : "");
    say_list(it, "%c", copy->map.rank);
    tensor_say(it, "], [%%box]%s;\n    @%%first cp.async.bulk.commit_group;\n",
               copy->has_hint ? ", %policy" : "");
}

/* A box that has been read is overwritten at once; of one that is written, a word is read back and
 * kept behind the boxes. */
static void say_look_at(struct tensor_case *it, const struct tensor_copy *copy, int box)
{
    uint32_t at = copy->box_at + (uint32_t)box * tensor_copy_pitch(copy);
    uint64_t row = (uint64_t)box * copy->map.box[1] * copy->map.strides[1];

    if (!copy->waits_for_reads) {
        tensor_say(it,
                   "    @%%first ld.global.b32 %%v0, [%%memory+%llu];\n"
                   "    @%%first st.shared.b32 [%%space+%u], %%v0;\n",
                   (unsigned long long)(copy->map.offset + row),
                   copy->box_at + (uint32_t)copy->boxes * tensor_copy_pitch(copy) +
                       4 * (uint32_t)box);
        return;
    }
    tensor_say(it,
               "    add.u32 %%i, %%space, %u;\n"
               "    add.u32 %%n, %%i, %u;\n"
               "$overwrite%d:\n"
               "    @%%first st.shared.b32 [%%i], 0xffffffff;\n"
               "    add.u32 %%i, %%i, 4;\n"
               "    setp.lt.u32 %%p, %%i, %%n;\n"
               "    @%%p bra $overwrite%d;\n",
               at, tensor_copy_pitch(copy), box, box);
}

static void say_stores(struct tensor_case *it, const struct tensor_copy *copy)
{
    for (int box = 0; box < copy->boxes; box++) {
        if (box > 0)
            tensor_say(it, "    add.u32 %%box, %%box, %u;\n    add.u32 %%c1, %%c1, %u;\n",
                       tensor_copy_pitch(copy), copy->map.box[1]);
        say_store(it, copy);
    }
    tensor_say(it, "    @%%first cp.async.bulk.wait_group%s %d;\n",
               copy->waits_for_reads ? ".read" : "", copy->allowed);
    for (int box = 0; copy->boxes > 1 && box < copy->boxes - copy->allowed; box++)
        say_look_at(it, copy, box);
    tensor_say(it, "    @%%first cp.async.bulk.wait_group 0;\n");
}

void tensor_copy_write(const struct tensor_copy *copy, struct tensor_case *it)
{
    tensor_say_begin(it, "    .reg .b16 %o<3>, %mask;\n"
                         "    .reg .b32 %c<5>, %box, %bar, %draft, %tries;\n"
                         "    .reg .b64 %policy, %tensor, %scratch, %value;\n");
    tensor_say_fill(it);
    if (!copy->is_store)
        say_barrier(it);
    tensor_say_meet(it);
    tensor_say(it, "    mov.b64 %%tensor, %%map;\n");
    if (copy->replaces)
        say_replace(it, copy);
    say_operands(it, copy);
    if (copy->is_prefetched)
        say_prefetch(it, copy);
    if (copy->is_store)
        say_stores(it, copy);
    else
        say_load_and_wait(it, copy);
    tensor_say_end(it);
}
