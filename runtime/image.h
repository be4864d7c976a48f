/* image.h: the cubin of a kernel, from the cache or from the linker. */
#ifndef LT_RUNTIME_IMAGE_H
#define LT_RUNTIME_IMAGE_H

#include "runtime/cache.h"
#include "runtime/context.h"

struct lathe_image {
    bool has_allocator;
    struct lathe_allocator allocator;
    struct lathe_plan plan;
    struct lathe_contract contract;
    enum lathe_cache_result cache;
    char cache_name[LT_CACHE_NAME_SIZE]; /* of its entry */
    double link_ms;
    size_t cubin_bytes;
    char *warnings;
    void *cubin;
};

/* The cache key of a kernel. `options` receives the linker's options and must live as long. */
enum { LT_LINK_OPTIONS_SIZE = 128 };
struct lt_cache_key lt_image_key(const struct lathe_kernel *kernel,
                                 char options[LT_LINK_OPTIONS_SIZE]);

/* lathe_build() without looking into the cache: what it has was refused by the driver. The new
 * image is stored over it. */
enum lathe_status lt_image_rebuild(struct lathe_context *context, struct lathe_image **image,
                                   const struct lathe_kernel *kernel, struct lathe_error *err);

#endif
