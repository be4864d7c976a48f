#include "runtime/cache_work.h"

#include "codegen/memory.h"
#include "codegen/status.h"
#include "runtime/cache_entry.h"
#include "runtime/cubin.h"

#include <stdarg.h>
#include <stdio.h>

const char *lt_work_take(struct lt_work *work, const struct lt_bytes *bytes)
{
    struct lt_entry entry;
    const char *fault = lt_entry_decode(&entry, bytes->data, bytes->bytes);

    if (fault)
        return fault;
    if (!lt_entry_is_for(&entry, work->key))
        return "it is the entry of another kernel";
    work->value = entry.value;
    work->value.memory = bytes->data;
    return NULL;
}

enum lathe_status lt_work_build(struct lt_work *work)
{
    struct lt_cache_value value = {.memory = NULL};
    enum lathe_status status = work->build(work->user, &value, &work->err);

    if (status != LATHE_OK)
        return status;

    const char *fault = lt_elf_fault(value.cubin, value.cubin_bytes, value.kernel);

    if (fault) {
        status = lt_fail(&work->err, LATHE_LINK_FAILED,
                         "%.40s reported success for %.80s, but %s (%zu bytes); try another "
                         "version of it",
                         value.linker, value.kernel, fault, value.cubin_bytes);
        lt_cache_value_release(work->cache, &value);
        return status;
    }
    work->value = value;
    return LATHE_OK;
}

bool lt_work_encode(struct lt_work *work)
{
    struct lt_cache *cache = work->cache;
    size_t bytes = lt_entry_bytes(work->key, &work->value);
    void *data = bytes > 0 ? lt_allocate(cache->allocator, bytes) : NULL;

    if (bytes == 0) {
        lt_cache_complain(cache, LT_CAUSE_SIZE,
                          "a cubin of %zu bytes is too large to be kept in the cache",
                          work->value.cubin_bytes);
        return false;
    }
    if (!data) {
        lt_cache_complain(cache, LT_CAUSE_MEMORY,
                          "no memory to write an entry of %zu bytes to the cache", bytes);
        return false;
    }
    lt_entry_encode(data, work->key, &work->value);
    work->encoded = (struct lt_bytes){data, bytes};
    return true;
}

void lt_cache_complain(struct lt_cache *cache, enum lt_cause cause, const char *format, ...)
{
    char line[2 * LATHE_MESSAGE_SIZE];
    va_list arguments;
    unsigned bit = 1U << cause;

    if ((atomic_fetch_or(&cache->complained, bit) & bit) || !cache->log)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    cache->log(cache->log_user, LATHE_LOG_WARNING, line);
}
