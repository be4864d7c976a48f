/* async_move.c: the bytes of a bulk copy: from where they are to where they belong. */
#include "emulator/async_work.h"
#include "emulator/reduce.h"

#include <stdlib.h>
#include <string.h>

static unsigned char *shared_bytes(const struct emu_async *work, const struct emu_cta *cta,
                                   uint64_t offset, uint64_t bytes)
{
    if (offset <= cta->shared_bytes && bytes <= cta->shared_bytes - offset)
        return cta->shared + offset;
    if (work->warp->check)
        emu_check_fault_place(work->warp, work->to_cta ? work->to_cta : work->cta, offset);
    emu_fault(work->warp, work->op, work->lane, EMU_ILLEGAL_ADDRESS,
              "a copy of %llu bytes at shared address 0x%llx", (unsigned long long)bytes,
              (unsigned long long)offset);
    return NULL;
}

static unsigned char *global_bytes(const struct emu_async *work, uint64_t address, uint64_t bytes)
{
    unsigned char *at = emu_bytes(work->warp->cta->cluster->run->device, address, bytes);

    if (!at && work->warp->check)
        emu_check_fault_place(work->warp, NULL, address);
    if (!at)
        emu_fault(work->warp, work->op, work->lane, EMU_ILLEGAL_ADDRESS,
                  "a copy of %llu bytes at global address 0x%llx", (unsigned long long)bytes,
                  (unsigned long long)address);
    return at;
}

static void check(const struct emu_async *work, struct emu_cta *cta, uint64_t address,
                  uint32_t bytes, uint32_t kind)
{
    if (work->known && bytes > 0)
        emu_check_copy(work, cta, address, bytes, kind);
}

static struct emu_change change_of(const struct emu_async *work)
{
    return (struct emu_change){
        .how = work->op->flags & EMU_BULK_REDUCES ? (enum emu_reduction)work->op->variant
                                                  : EMU_REDUCE_NONE,
        .type = work->type,
        .flush = work->flush,
    };
}

static void put(const struct emu_async *work, unsigned char *to, const unsigned char *from,
                uint64_t bytes)
{
    const struct emu_change change = change_of(work);

    if (change.how != EMU_REDUCE_NONE)
        emu_change_bytes(&change, to, from, bytes);
    else
        memcpy(to, from, bytes);
}

/* Reductions are atomic in each element. */
static uint32_t kind_of(const struct emu_async *work)
{
    return work->op->flags & EMU_BULK_REDUCES ? EMU_READS | EMU_WRITES | EMU_STRONG : EMU_WRITES;
}

/* The same in global memory: now, or in the log. */
static bool put_global(const struct emu_async *work, uint64_t address, const unsigned char *from,
                       uint32_t bytes)
{
    struct emu_cluster *cluster = work->warp->cta->cluster;
    const struct emu_change change = change_of(work);
    unsigned char *to = global_bytes(work, address, bytes);

    if (!to)
        return false;
    check(work, NULL, address, bytes, kind_of(work));
    if (!cluster->apart) {
        put(work, to, from, bytes);
        return true;
    }
    to = emu_log_add(&cluster->log, address, to, bytes, &change);
    if (!to)
        return emu_async_fault(work, EMU_NO_RESOURCES, "no memory for a store");
    memcpy(to, from, bytes);
    return true;
}

/* A piece of a tensor's load. */
static bool load_piece(void *user, uint32_t shared, uint64_t global, uint32_t bytes,
                       uint32_t inside, const unsigned char *fill)
{
    struct emu_async *work = user;
    unsigned char *to = shared_bytes(work, work->cta, shared, bytes);
    const unsigned char *from = inside && to ? global_bytes(work, global, bytes) : fill;

    if (!to || !from)
        return false;
    if (inside)
        check(work, NULL, global, bytes, EMU_READS);
    check(work, work->cta, shared, bytes, EMU_WRITES);
    memcpy(to, from, bytes);
    if (inside)
        emu_tensor_convert(&work->map, to, bytes);
    return true;
}

/* Pieces of a tensor's store, read one after the other into `data` ... */
static bool read_piece(void *user, uint32_t shared, uint64_t global, uint32_t bytes,
                       uint32_t inside, const unsigned char *fill)
{
    struct emu_async *work = user;
    const unsigned char *from = shared_bytes(work, work->cta, shared, bytes);

    (void)global, (void)fill;
    if (!from || work->bytes + bytes > work->room)
        return false;
    check(work, work->cta, shared, inside, EMU_READS);
    check(work, work->cta, shared + inside, bytes - inside, EMU_READS | EMU_MAY_BE_UNUSED);
    memcpy(work->data + work->bytes, from, bytes);
    work->bytes += bytes;
    return true;
}

/* The last unit of a row may reach behind the allocation, where a GPU has memory of nobody's. */
static uint32_t within_allocation(const struct emu_async *work, uint64_t global, uint32_t bytes)
{
    struct emu_device *device = work->warp->cta->cluster->run->device;
    uint64_t base, size;

    if (!emu_range(device, global, &base, &size) || global - base + bytes <= size)
        return bytes;
    return global - base + bytes - size < EMU_BULK_ALIGNMENT ? (uint32_t)(base + size - global)
                                                             : bytes;
}

/* ... and written from there. */
static bool write_piece(void *user, uint32_t shared, uint64_t global, uint32_t bytes,
                        uint32_t inside, const unsigned char *fill)
{
    struct emu_async *work = user;
    uint32_t there = within_allocation(work, global, bytes);

    (void)shared, (void)inside, (void)fill;
    if (!put_global(work, global, work->data + work->bytes, there))
        return false;
    work->bytes += bytes;
    return true;
}

static bool walk(struct emu_async *work, emu_tensor_piece piece)
{
    const char *why = "a tensor copy that is not legal";

    work->copy.map = &work->map; /* the list may have moved */
    switch (emu_tensor_copy(&work->copy, piece, work, &why)) {
    case EMU_COPIED:
        return true;
    case EMU_COPY_MISALIGNED:
        return emu_async_fault(work, EMU_MISALIGNED_ADDRESS, why);
    case EMU_COPY_ILLEGAL:
        return emu_async_fault(work, EMU_ILLEGAL_INSTRUCTION, why);
    case EMU_COPY_STOPPED:
        break;
    }
    return false;
}

static bool make_data(struct emu_async *work, uint32_t bytes)
{
    work->data = malloc(bytes ? bytes : 1);
    work->is_read = true;
    if (work->data) {
        work->room = bytes;
        work->warp->cta->cluster->async_bytes += bytes;
    }
    return work->data || emu_async_fault(work, EMU_NO_RESOURCES, "no memory for a copy");
}

/* The bytes are asked for when it is known that there is such a copy: a map that a kernel wrote may
 * tell of a box of gigabytes, and so may a register. */
bool emu_async_read(struct emu_async *work)
{
    const unsigned char *from;

    if (work->is_tensor) {
        uint32_t bytes = emu_tensor_copy_bytes(&work->map);

        if (bytes > EMU_SHARED_BYTES_MAX)
            return emu_async_fault(work, EMU_ILLEGAL_INSTRUCTION,
                                   "the box is larger than shared memory");
        work->bytes = 0;
        return make_data(work, bytes) && walk(work, read_piece);
    }
    from = work->op->flags & EMU_BULK_FROM_SHARED
               ? shared_bytes(work, work->cta, work->from, work->bytes)
               : global_bytes(work, work->from, work->bytes);
    if (!from || !make_data(work, work->bytes))
        return false;
    check(work, work->op->flags & EMU_BULK_FROM_SHARED ? work->cta : NULL, work->from, work->bytes,
          EMU_READS);
    memcpy(work->data, from, work->bytes);
    return true;
}

bool emu_async_write(struct emu_async *work)
{
    unsigned char *to;

    if (work->is_tensor) {
        work->bytes = 0;
        return walk(work, write_piece);
    }
    if (!work->to_cta)
        return put_global(work, work->to, work->data, work->bytes);
    to = shared_bytes(work, work->to_cta, work->to, work->bytes);
    if (!to)
        return false;
    check(work, work->to_cta, work->to, work->bytes, kind_of(work));
    put(work, to, work->data, work->bytes);
    return true;
}

bool emu_async_load(struct emu_async *work)
{
    return walk(work, load_piece);
}
