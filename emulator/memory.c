/* memory.c: devices and their global memory: allocations at addresses that no host pointer has. */
#include "emulator/state.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 512, FRESH_BYTE = 0xcd };
#define USUAL_LIMIT ((uint64_t)16 << 30)

/* ---- Devices ---- */

struct emu_device *emu_device_create(const struct emu_options *options)
{
    struct emu_device *device = calloc(1, sizeof *device);

    if (!device)
        return NULL;
    device->options = *options;
    device->memory.limit =
        options->limits.memory_bytes ? options->limits.memory_bytes : USUAL_LIMIT;
    return device;
}

void emu_device_destroy(struct emu_device *device)
{
    if (!device)
        return;
    for (size_t i = 0; i < device->memory.count; i++)
        free(device->memory.list[i].host);
    free(device->memory.list);
    emu_check_destroy(device->check);
    free(device);
}

bool emu_device_set_check(struct emu_device *device, const struct emu_check_options *options)
{
    struct emu_check *check = options->is_on ? emu_check_create(options) : NULL;

    if (options->is_on && !check)
        return false;
    emu_check_destroy(device->check);
    device->check = check;
    return true;
}

void emu_written(struct emu_device *device, uint64_t address, uint64_t bytes)
{
    if (device->check)
        emu_check_written(device->check, address, bytes);
}

void emu_unwritten(struct emu_device *device, uint64_t address, uint64_t bytes)
{
    if (device->check)
        emu_check_unwritten(device->check, address, bytes);
}

void emu_device_set_trace(struct emu_device *device, struct emu_trace *trace)
{
    device->trace = trace;
}

void emu_device_set_seed(struct emu_device *device, uint64_t seed)
{
    device->options.seed = seed;
}

void emu_device_set_threads(struct emu_device *device, uint32_t threads)
{
    device->options.threads = threads;
}

/* ---- Allocations ---- */

/* The first that ends behind the address. */
static size_t find(const struct emu_memory *memory, uint64_t address)
{
    size_t low = 0, high = memory->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct emu_allocation *here = &memory->list[middle];

        if (here->base + here->bytes <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool make_room(struct emu_memory *memory)
{
    size_t room = memory->room ? 2 * memory->room : 64;
    struct emu_allocation *list;

    if (memory->count < memory->room)
        return true;
    list = realloc(memory->list, room * sizeof *list);
    if (!list)
        return false;
    memory->list = list;
    memory->room = room;
    return true;
}

/* Where the next may begin: behind a guard of one alignment. */
static uint64_t behind(const struct emu_allocation *last)
{
    return (last->base + last->bytes + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The lowest gap that is wide enough. It is looked for behind those that have none, or thousands of
 * variables would take millions of steps. */
static uint64_t find_gap(struct emu_memory *memory, uint64_t bytes, size_t *at)
{
    uint64_t base = memory->packed ? behind(&memory->list[memory->packed - 1]) : EMU_GLOBAL_BASE;

    for (*at = memory->packed; *at < memory->count; ++*at) {
        const struct emu_allocation *next = &memory->list[*at];

        if (next->base - base >= bytes + ALIGNMENT)
            return base;
        if (next->base == base && memory->packed == *at)
            memory->packed++;
        base = behind(next);
    }
    return base;
}

static uint64_t allocate(struct emu_memory *memory, uint64_t bytes, bool is_heap)
{
    struct emu_allocation made = {.bytes = bytes, .is_heap = is_heap};
    size_t at;

    if (bytes == 0 || bytes > memory->limit - memory->used || !make_room(memory))
        return 0;
    made.host = malloc(bytes);
    if (!made.host)
        return 0;
    memset(made.host, FRESH_BYTE, bytes);
    made.base = find_gap(memory, bytes, &at);
    memmove(memory->list + at + 1, memory->list + at, (memory->count - at) * sizeof made);
    memory->list[at] = made;
    memory->count++;
    memory->used += bytes;
    return made.base;
}

uint64_t emu_allocate(struct emu_device *device, uint64_t bytes)
{
    return allocate(&device->memory, bytes, false);
}

bool emu_hold(struct emu_cluster *cluster, uint64_t bytes)
{
    struct emu_memory *memory = &cluster->run->device->memory;

    if (cluster->apart) {
        cluster->lacks_memory = bytes > cluster->memory_left;
        if (cluster->lacks_memory)
            return false;
        cluster->memory_left -= bytes;
        cluster->memory_taken += bytes;
        return true;
    }
    if (bytes > memory->limit - memory->used)
        return false;
    memory->used += bytes;
    return true;
}

void emu_let_go(struct emu_cluster *cluster, uint64_t bytes)
{
    if (cluster->apart) { /* what it gives back it may take again */
        cluster->memory_left += bytes;
        cluster->memory_taken -= bytes;
    } else {
        cluster->run->device->memory.used -= bytes;
    }
}

/* In whole units, so that crumbs count for what they take of the host. */
uint64_t emu_heap_allocate(struct emu_device *device, uint64_t bytes)
{
    uint64_t address;

    if (bytes > device->memory.limit)
        return 0;
    address = allocate(&device->memory, emu_align_up(bytes, ALIGNMENT), true);
    if (address)
        emu_unwritten(device, address, bytes);
    return address;
}

static bool release(struct emu_memory *memory, uint64_t address, bool is_heap)
{
    size_t at = find(memory, address);

    if (at == memory->count || memory->list[at].base != address ||
        memory->list[at].is_heap != is_heap)
        return false;
    free(memory->list[at].host);
    memory->used -= memory->list[at].bytes;
    memory->count--;
    memory->packed = at < memory->packed ? at : memory->packed;
    memmove(memory->list + at, memory->list + at + 1, (memory->count - at) * sizeof *memory->list);
    return true;
}

bool emu_release(struct emu_device *device, uint64_t address)
{
    return release(&device->memory, address, false);
}

bool emu_heap_release(struct emu_device *device, uint64_t address)
{
    return release(&device->memory, address, true);
}

const struct emu_allocation *emu_allocation_of(const struct emu_device *device, uint64_t address)
{
    const struct emu_memory *memory = &device->memory;
    size_t at = find(memory, address);

    return at < memory->count && memory->list[at].base <= address ? &memory->list[at] : NULL;
}

void emu_set_constant(struct emu_device *device, uint64_t address)
{
    device->memory.list[find(&device->memory, address)].is_constant = true;
}

void *emu_bytes(struct emu_device *device, uint64_t address, uint64_t bytes)
{
    const struct emu_allocation *here = emu_allocation_of(device, address);

    if (!here || bytes > here->bytes - (address - here->base))
        return NULL;
    return here->host + (address - here->base);
}

bool emu_range(struct emu_device *device, uint64_t address, uint64_t *base, uint64_t *bytes)
{
    const struct emu_allocation *here = emu_allocation_of(device, address);

    if (!here)
        return false;
    *base = here->base;
    *bytes = here->bytes;
    return true;
}

uint64_t emu_used_bytes(const struct emu_device *device)
{
    return device->memory.used;
}
