/* space.c: state spaces: which bytes an address of a lane means. Source: PTX ISA "State Spaces",
 * "Generic Addressing". */
#include "emulator/state.h"

#include <stdlib.h>
#include <string.h>

enum { LOCAL_BYTES_FIRST = 1 << 10, FRESH_BYTE = 0xcd, OFFSET_MASK = (1 << EMU_RANK_SHIFT) - 1 };

struct emu_cta *emu_cta_of_address(struct emu_cta *own, uint64_t address, uint32_t *offset)
{
    uint64_t rank;

    if (address - EMU_SHARED_WINDOW < EMU_WINDOW_BYTES)
        address -= EMU_SHARED_WINDOW;
    rank = address >> EMU_RANK_SHIFT;
    *offset = (uint32_t)(address & OFFSET_MASK);
    return rank < own->cluster->cta_count ? &own->cluster->ctas[rank] : NULL;
}

/* ---- Each space ---- */

/* Without ::cluster an address with no rank in it is one of the own CTA. */
static unsigned char *in_shared(struct emu_warp *warp, const struct emu_op *op, uint64_t address,
                                uint64_t bytes)
{
    uint32_t offset;
    struct emu_cta *cta = emu_cta_of_address(warp->cta, address, &offset);

    if (cta && !op->cluster && op->space == EMU_SPACE_SHARED && cta->rank == 0)
        cta = warp->cta;
    if (!cta || offset > cta->shared_bytes || bytes > cta->shared_bytes - offset)
        return NULL;
    return cta->shared + offset;
}

static bool grow_local(struct emu_warp *warp, const struct emu_op *op, int lane, uint32_t room)
{
    struct emu_cluster *cluster = warp->cta->cluster;
    uint32_t have = warp->local_bytes[lane];
    unsigned char *grown;

    if (emu_hold(cluster, room - have)) {
        grown = realloc(warp->local[lane], room);
        if (grown) {
            memset(grown + have, FRESH_BYTE, room - have);
            warp->local[lane] = grown;
            warp->local_bytes[lane] = room;
            return true;
        }
        emu_let_go(cluster, room - have);
    }
    if (!cluster->lacks_memory)
        emu_fault(warp, op, lane, EMU_NO_RESOURCES, "no memory for %u bytes of local memory", room);
    return false;
}

static unsigned char *in_local(struct emu_warp *warp, const struct emu_op *op, int lane,
                               uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes;
    uint32_t have = warp->local_bytes[lane], room = have ? have : LOCAL_BYTES_FIRST;

    if (address > EMU_LOCAL_BYTES_MAX || end > EMU_LOCAL_BYTES_MAX)
        return NULL;
    if (end <= have)
        return warp->local[lane] + address;
    while (room < end)
        room *= 2;
    return grow_local(warp, op, lane, room) ? warp->local[lane] + address : NULL;
}

static unsigned char *in_param(const struct emu_warp *warp, const struct emu_group *group, int lane,
                               uint64_t address, uint64_t bytes)
{
    const struct emu_frame *frame = group->frame;
    const struct emu_run *run = warp->cta->cluster->run;
    uint64_t area = address >> EMU_PARAM_AREA_SHIFT, offset = (uint32_t)address, size;
    unsigned char *base;

    switch (area) {
    case EMU_PARAM_ENTRY:
        size = run->code->argument_bytes;
        base = run->params;
        break;
    case EMU_PARAM_GIVEN:
        size = frame->code->return_bytes;
        base = frame->arguments + (size_t)lane * size;
        break;
    case EMU_PARAM_OWN:
        size = frame->code->frame_param_bytes;
        base = frame->params + (size_t)lane * size;
        break;
    default:
        return NULL;
    }
    return offset <= size && bytes <= size - offset ? base + offset : NULL;
}

static unsigned char *in_generic(struct emu_warp *warp, struct emu_group *group,
                                 const struct emu_op *op, int lane, uint64_t address,
                                 uint64_t bytes)
{
    if (address - EMU_SHARED_WINDOW < EMU_WINDOW_BYTES)
        return in_shared(warp, op, address, bytes);
    if (address - EMU_LOCAL_WINDOW < EMU_WINDOW_BYTES)
        return in_local(warp, op, lane, address - EMU_LOCAL_WINDOW, bytes);
    if (address - EMU_PARAM_WINDOW < EMU_WINDOW_BYTES)
        return in_param(warp, group, lane, address - EMU_PARAM_WINDOW, bytes);
    return emu_bytes(warp->cta->cluster->run->device, address, bytes);
}

/* ---- All of them ---- */

static const char *space_name(enum emu_space space)
{
    static const char *const names[] = {"generic", "const", "global", "local", "param", "shared"};

    return names[space];
}

static void tell_place(struct emu_warp *warp, enum emu_space space, uint64_t address)
{
    uint32_t offset;
    bool is_window = address - EMU_SHARED_WINDOW < 3 * EMU_WINDOW_BYTES;

    if (space == EMU_SPACE_GLOBAL || (space == EMU_SPACE_NONE && !is_window))
        emu_check_fault_place(warp, NULL, address);
    else if (space == EMU_SPACE_SHARED && emu_cta_of_address(warp->cta, address, &offset))
        emu_check_fault_place(warp, emu_cta_of_address(warp->cta, address, &offset), offset);
}

unsigned char *emu_translate(struct emu_warp *warp, struct emu_group *group,
                             const struct emu_op *op, int lane, enum emu_space space,
                             uint64_t address, uint64_t bytes)
{
    unsigned char *at = NULL;

    switch (space) {
    case EMU_SPACE_NONE:
        at = in_generic(warp, group, op, lane, address, bytes);
        break;
    case EMU_SPACE_CONST:
    case EMU_SPACE_GLOBAL:
        at = emu_bytes(warp->cta->cluster->run->device, address, bytes);
        break;
    case EMU_SPACE_LOCAL:
        at = in_local(warp, op, lane, address, bytes);
        break;
    case EMU_SPACE_PARAM:
        at = in_param(warp, group, lane, address, bytes);
        break;
    case EMU_SPACE_SHARED:
        at = address <= UINT32_MAX ? in_shared(warp, op, address, bytes) : NULL;
        break;
    }
    if (at || warp->cta->cluster->lacks_memory)
        return at;
    if (warp->check)
        tell_place(warp, space, address);
    emu_fault(warp, op, lane, EMU_ILLEGAL_ADDRESS, "%llu bytes at %s address 0x%llx",
              (unsigned long long)bytes, space_name(space), (unsigned long long)address);
    return NULL;
}

unsigned char *emu_access(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                          int lane, enum emu_space space, uint64_t address, uint64_t bytes,
                          uint32_t alignment)
{
    if (alignment > 1 && address % alignment != 0) {
        if (warp->check)
            tell_place(warp, space, address);
        emu_fault(warp, op, lane, EMU_MISALIGNED_ADDRESS, "%s address 0x%llx is no multiple of %u",
                  space_name(space), (unsigned long long)address, alignment);
        return NULL;
    }
    return emu_translate(warp, group, op, lane, space, address, bytes);
}

enum emu_step emu_stopped(struct emu_cluster *cluster)
{
    bool is_held = cluster->lacks_memory;

    cluster->lacks_memory = false;
    return is_held ? EMU_STEP_HELD : EMU_STEP_FAULT;
}

/* ---- All lanes of an instruction ---- */

bool emu_is_global(enum emu_space space, uint64_t address)
{
    return space == EMU_SPACE_NONE ? address - EMU_SHARED_WINDOW >= 3 * EMU_WINDOW_BYTES
                                   : space == EMU_SPACE_GLOBAL || space == EMU_SPACE_CONST;
}

/* Within the allocation that another lane has found; null outside of it. */
static unsigned char *beside(const struct emu_allocation *here, uint64_t address, uint32_t bytes,
                             uint32_t alignment)
{
    uint64_t offset;

    if (!here || (address & (alignment - 1)) != 0)
        return NULL;
    offset = address - here->base;
    return offset < here->bytes && bytes <= here->bytes - offset ? here->host + offset : NULL;
}

/* Of a cluster that runs apart, with accesses to global memory: whether it may do them now. */
static enum emu_step allowed(const struct emu_cluster *cluster, const uint64_t *address,
                             uint32_t mask, uint32_t bytes, enum emu_use use)
{
    if (use != EMU_LOADS)
        return use == EMU_UPDATES || emu_log_is_full(cluster) ? EMU_STEP_HELD : EMU_STEP_NEXT;
    for (int lane = 0; lane < EMU_LANES; lane++)
        if ((mask >> lane & 1) && emu_log_may_hold(&cluster->log, address[lane], bytes))
            return EMU_STEP_LATER;
    return EMU_STEP_NEXT;
}

enum emu_step emu_find_places(struct emu_warp *warp, struct emu_group *group,
                              const struct emu_op *op, uint32_t mask, enum emu_space space,
                              const uint64_t *address, uint32_t bytes, uint32_t alignment,
                              enum emu_use use, struct emu_places *places)
{
    struct emu_cluster *cluster = warp->cta->cluster;
    const struct emu_allocation *here = NULL;
    enum emu_step step;
    uint32_t in_global = 0;

    for (int lane = 0; lane < EMU_LANES; lane++) {
        bool global;
        unsigned char *at;

        if (!(mask >> lane & 1))
            continue;
        global = emu_is_global(space, address[lane]);
        at = global ? beside(here, address[lane], bytes, alignment) : NULL;
        if (!at)
            at = emu_access(warp, group, op, lane, space, address[lane], bytes, alignment);
        if (!at)
            return emu_stopped(cluster);
        places->at[lane] = at;
        if (!global)
            continue;
        in_global |= 1u << lane;
        if (!here)
            here = emu_allocation_of(cluster->run->device, address[lane]);
    }
    places->logged = cluster->apart ? in_global : 0;
    step = places->logged ? allowed(cluster, address, in_global, bytes, use) : EMU_STEP_NEXT;
    if (step == EMU_STEP_NEXT && warp->check)
        emu_check_lanes(warp, op, mask, space, address, bytes);
    return step;
}

/* ---- Values in memory: little-endian ---- */

bool emu_is_signed(enum emu_type type)
{
    return type == EMU_S8 || type == EMU_S16 || type == EMU_S32 || type == EMU_S64;
}

static inline uint64_t extended(uint64_t value, enum emu_type type, int size, int width)
{
    if (emu_is_signed(type) && size < 8 && (value >> (8 * size - 1) & 1))
        value |= ~(uint64_t)0 << (8 * size);
    return width < 8 ? value & (((uint64_t)1 << (8 * width)) - 1) : value;
}

uint64_t emu_extend(uint64_t value, enum emu_type type, int width)
{
    return extended(value, type, emu_type_bytes(type), width);
}

/* Of a constant size they are one access each. */
static inline uint64_t load_little(const unsigned char *bytes, int size)
{
    uint64_t value = 0;

    for (int i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static inline void store_little(unsigned char *bytes, uint64_t value, int size)
{
    for (int i = 0; i < size; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
}

uint64_t emu_load_bits(const unsigned char *bytes, enum emu_type type, int width)
{
    int size = emu_type_bytes(type);
    uint64_t value = size == 4   ? load_little(bytes, 4)
                     : size == 2 ? load_little(bytes, 2)
                     : size == 8 ? load_little(bytes, 8)
                                 : load_little(bytes, size);

    return extended(value, type, size, width);
}

void emu_store_bits(unsigned char *bytes, uint64_t value, int count)
{
    if (count == 4)
        store_little(bytes, value, 4);
    else if (count == 2)
        store_little(bytes, value, 2);
    else if (count == 8)
        store_little(bytes, value, 8);
    else
        store_little(bytes, value, count);
}
