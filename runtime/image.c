#include "runtime/image.h"

#include "codegen/memory.h"
#include "codegen/status.h"

#include <stdio.h>
#include <string.h>

enum { PLAN_SIZE = 1024, CONTRACT_SIZE = 8192 };

/* What the cache's callback needs to link a kernel, and keeps until the entry is stored. */
struct job {
    struct lathe_context *context;
    const struct lathe_kernel *kernel;
    struct lt_linker *linker;
    struct lt_linked linked;
    char plan[PLAN_SIZE], contract[CONTRACT_SIZE];
};

struct lt_cache_key lt_image_key(const struct lathe_kernel *kernel,
                                 char options[LT_LINK_OPTIONS_SIZE])
{
    struct lt_cache_key key = {.options = options};
    enum lathe_arch arch = lathe_kernel_contract(kernel)->arch;

    lt_link_options(arch, options, LT_LINK_OPTIONS_SIZE);
    key.text = lathe_kernel_text(kernel, &key.text_bytes);
    key.arch = lathe_arch_name(arch);
    return key;
}

/* The cache stores this, and hands it on. The memory stays the job's. */
static enum lathe_status build(void *user, struct lt_cache_value *value, struct lathe_error *err)
{
    struct job *job = user;
    const struct lathe_contract *contract = lathe_kernel_contract(job->kernel);
    size_t text_bytes;
    const char *text = lathe_kernel_text(job->kernel, &text_bytes);
    enum lathe_status status = lt_context_linker(job->context, &job->linker, err);

    if (status == LATHE_OK)
        status = lt_link(job->linker, text, text_bytes, contract->name, contract->arch,
                         &job->linked, err);
    if (status != LATHE_OK)
        return status;

    lathe_plan_words(lathe_kernel_plan(job->kernel), job->plan, sizeof job->plan);
    lathe_contract_json(contract, job->contract, sizeof job->contract);
    *value = (struct lt_cache_value){
        .cubin = job->linked.cubin,
        .cubin_bytes = job->linked.cubin_bytes,
        .kernel = contract->name,
        .plan = job->plan,
        .contract = job->contract,
        .linker = lt_linker_version(job->linker),
        .warnings = job->linked.warnings,
        .registers = job->linked.registers,
        .spill_bytes = job->linked.spill_bytes,
        .warning_count = job->linked.warning_count,
    };
    return LATHE_OK;
}

/* An image owns all it holds, so that it may outlive the context. */
static enum lathe_status make_image(struct lathe_image **image, const struct job *job,
                                    const struct lt_cache_value *value, struct lathe_error *err)
{
    const struct lathe_allocator *allocator = lt_context_allocator(job->context);
    size_t warnings = strlen(value->warnings) + 1;
    struct lathe_image *made = lt_allocate(allocator, sizeof *made + value->cubin_bytes + warnings);

    if (!made)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for an image of %zu bytes",
                       value->cubin_bytes);
    *made = (struct lathe_image){
        .has_allocator = allocator != NULL,
        .plan = *lathe_kernel_plan(job->kernel),
        .contract = *lathe_kernel_contract(job->kernel),
        .link_ms = job->linked.milliseconds,
        .cubin_bytes = value->cubin_bytes,
        .cubin = made + 1,
        .warnings = (char *)(made + 1) + value->cubin_bytes,
    };
    if (allocator)
        made->allocator = *allocator;
    made->contract.registers = value->registers;
    made->contract.spill_bytes = value->spill_bytes;
    made->contract.warnings = value->warning_count;
    memcpy(made->cubin, value->cubin, value->cubin_bytes);
    memcpy(made->warnings, value->warnings, warnings);
    *image = made;
    return LATHE_OK;
}

static void tell(struct lathe_context *context, const struct lathe_image *image)
{
    const struct lathe_contract *contract = &image->contract;

    if (image->cache == LATHE_CACHE_HIT)
        lt_context_log(context, LATHE_LOG_DEBUG, "%s: from the cache", contract->name);
    else
        lt_context_log(context, LATHE_LOG_INFO, "%s: linked in %.1f ms", contract->name,
                       image->link_ms);
    if (contract->spill_bytes > 0)
        lt_context_log(context, LATHE_LOG_WARNING, "%s: the linker spills %d bytes per thread",
                       contract->name, contract->spill_bytes);
    if (contract->warnings > 0)
        lt_context_log(context, LATHE_LOG_WARNING, "%s: the linker warns: %.*s", contract->name,
                       (int)strcspn(image->warnings, "\n"), image->warnings);
}

static enum lathe_status obtain(struct lathe_context *context, struct lathe_image **image,
                                const struct lathe_kernel *kernel, bool renew,
                                struct lathe_error *err)
{
    struct job job = {.context = context, .kernel = kernel};
    struct lt_cache_value value = {.memory = NULL};
    enum lathe_cache_result result = LATHE_CACHE_OFF;
    char options[LT_LINK_OPTIONS_SIZE];
    struct lt_cache *cache = NULL;
    enum lathe_status status = lt_context_cache(context, &cache, err);

    if (status != LATHE_OK)
        return status;

    struct lt_cache_key key = lt_image_key(kernel, options);

    status =
        (renew ? lt_cache_renew : lt_cache_obtain)(cache, &key, build, &job, &value, &result, err);
    if (status == LATHE_OK) {
        status = make_image(image, &job, &value, err);
        lt_cache_value_release(cache, &value);
    }
    if (status == LATHE_OK) {
        (*image)->cache = result;
        lt_cache_name(&key, (*image)->cache_name);
        tell(context, *image);
    }
    if (job.linker)
        lt_linked_release(job.linker, &job.linked);
    return status;
}

enum lathe_status lathe_build(struct lathe_context *context, struct lathe_image **image,
                              const struct lathe_kernel *kernel, struct lathe_error *err)
{
    if (!context || !image || !kernel)
        return lt_fail(err, LATHE_MISUSED, "lathe_build: needs a context and a kernel");
    return obtain(context, image, kernel, false, err);
}

enum lathe_status lt_image_rebuild(struct lathe_context *context, struct lathe_image **image,
                                   const struct lathe_kernel *kernel, struct lathe_error *err)
{
    return obtain(context, image, kernel, true, err);
}

const void *lathe_image_cubin(const struct lathe_image *image, size_t *bytes)
{
    if (bytes)
        *bytes = image->cubin_bytes;
    return image->cubin;
}

const struct lathe_contract *lathe_image_contract(const struct lathe_image *image)
{
    return &image->contract;
}

const struct lathe_plan *lathe_image_plan(const struct lathe_image *image)
{
    return &image->plan;
}

const char *lathe_image_warnings(const struct lathe_image *image)
{
    return image->warnings;
}

enum lathe_cache_result lathe_image_cache(const struct lathe_image *image)
{
    return image->cache;
}

double lathe_image_link_ms(const struct lathe_image *image)
{
    return image->link_ms;
}

void lathe_image_destroy(struct lathe_image **image)
{
    if (!image || !*image)
        return;

    struct lathe_allocator allocator = (*image)->allocator;

    lt_release((*image)->has_allocator ? &allocator : NULL, *image);
    *image = NULL;
}
