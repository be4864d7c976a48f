#include "codegen/kernel.h"

#include "codegen/memory.h"
#include "codegen/status.h"

#include <string.h>

struct lathe_kernel {
    struct lathe_plan plan;
    struct lathe_contract contract;
    char *text;
    size_t length;
    bool has_allocator;
    struct lathe_allocator allocator;
};

static const struct lathe_allocator *allocator_of(const struct lathe_kernel *kernel)
{
    return kernel->has_allocator ? &kernel->allocator : NULL;
}

enum lathe_status lt_kernel_create(struct lathe_kernel **kernel, struct lt_builder **builder,
                                   const struct lathe_plan *plan,
                                   const struct lathe_allocator *allocator, struct lathe_error *err)
{
    struct lathe_kernel *made = lt_allocate(allocator, sizeof *made);
    enum lathe_status status;

    if (!made) {
        status = lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a kernel");
    } else {
        *made = (struct lathe_kernel){.plan = *plan, .has_allocator = allocator != NULL};
        if (allocator)
            made->allocator = *allocator;
        status = lt_builder_finish(*builder, &made->text, &made->length, &made->contract, err);
    }
    lt_builder_destroy(builder);
    if (status != LATHE_OK) {
        lt_release(allocator, made);
        return status;
    }
    *kernel = made;
    return LATHE_OK;
}

const char *lathe_kernel_text(const struct lathe_kernel *kernel, size_t *length)
{
    if (length)
        *length = kernel->length;
    return kernel->text;
}

const struct lathe_plan *lathe_kernel_plan(const struct lathe_kernel *kernel)
{
    return &kernel->plan;
}

const struct lathe_contract *lathe_kernel_contract(const struct lathe_kernel *kernel)
{
    return &kernel->contract;
}

enum lathe_status lathe_kernel_edit(struct lathe_kernel **edited, const struct lathe_kernel *kernel,
                                    const char *text, struct lathe_error *err)
{
    if (!edited || !kernel || !text || !strstr(text, kernel->contract.name))
        return lt_fail(err, LATHE_MISUSED, "an edited text must keep the entry %s",
                       kernel ? kernel->contract.name : "of a kernel");

    struct lathe_kernel *made = lt_allocate(allocator_of(kernel), sizeof *made);
    size_t length = strlen(text);
    char *copy = made ? lt_allocate(allocator_of(kernel), length + 1) : NULL;

    if (!copy) {
        lt_release(allocator_of(kernel), made);
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a kernel");
    }
    memcpy(copy, text, length + 1);
    *made = *kernel;
    made->text = copy;
    made->length = length;
    *edited = made;
    return LATHE_OK;
}

void lathe_kernel_destroy(struct lathe_kernel **kernel)
{
    if (!kernel || !*kernel)
        return;

    struct lathe_kernel *gone = *kernel;
    struct lathe_allocator allocator = gone->allocator;
    const struct lathe_allocator *with = gone->has_allocator ? &allocator : NULL;

    lt_release(allocator_of(gone), gone->text);
    lt_release(with, gone);
    *kernel = NULL;
}
