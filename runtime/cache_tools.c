/* cache_tools.c: the cache of a context, for those who look after it. */
#include "codegen/status.h"
#include "include/lathe_tools.h"
#include "runtime/context.h"

static enum lathe_status cache_of(struct lathe_context *context, struct lt_cache **cache,
                                  struct lathe_error *err)
{
    return context ? lt_context_cache(context, cache, err)
                   : lt_fail(err, LATHE_MISUSED, "the cache is a context's: no context");
}

enum lathe_status lathe_cache_path(struct lathe_context *context, char *path, size_t size,
                                   struct lathe_error *err)
{
    struct lt_cache *cache = NULL;

    if (!path)
        return lt_fail(err, LATHE_MISUSED, "lathe_cache_path: no place for the path");

    enum lathe_status status = cache_of(context, &cache, err);

    return status == LATHE_OK ? lt_cache_path(cache, path, size, err) : status;
}

enum lathe_status lathe_cache_list(struct lathe_context *context,
                                   int (*each)(void *user, const struct lathe_cache_entry *entry),
                                   void *user, struct lathe_error *err)
{
    struct lt_cache *cache = NULL;

    if (!each)
        return lt_fail(err, LATHE_MISUSED, "lathe_cache_list: no function to call");

    enum lathe_status status = cache_of(context, &cache, err);

    return status == LATHE_OK ? lt_cache_list(cache, each, user, err) : status;
}

enum lathe_status lathe_cache_verify(struct lathe_context *context, int *checked, int *removed,
                                     struct lathe_error *err)
{
    struct lt_cache *cache = NULL;
    enum lathe_status status = cache_of(context, &cache, err);

    return status == LATHE_OK ? lt_cache_verify(cache, checked, removed, err) : status;
}

enum lathe_status lathe_cache_prune(struct lathe_context *context, int64_t limit_bytes,
                                    int *removed, struct lathe_error *err)
{
    struct lt_cache *cache = NULL;
    enum lathe_status status = cache_of(context, &cache, err);

    return status == LATHE_OK ? lt_cache_prune(cache, limit_bytes, removed, err) : status;
}

enum lathe_status lathe_cache_write_part(struct lathe_context *context, const char *name,
                                         enum lathe_cache_part part, int descriptor,
                                         struct lathe_error *err)
{
    struct lt_cache *cache = NULL;

    if (!name)
        return lt_fail(err, LATHE_MISUSED, "lathe_cache_write_part: no name of an entry");

    enum lathe_status status = cache_of(context, &cache, err);

    return status == LATHE_OK ? lt_cache_write_part(cache, name, part, descriptor, err) : status;
}
