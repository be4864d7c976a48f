#include "runtime/checker.h"

#include "codegen/memory.h"
#include "codegen/status.h"
#include "runtime/host_reference.h"

/* What the CPU is asked to do unless the caller insists: a few seconds. */
#define CPU_MULTIPLY_ADDS 2e9

/* ---- Choosing ---- */

enum lathe_status lt_checker_open(struct lt_checker *checker, struct lathe_context *context,
                                  const struct lt_stream *stream, enum lt_checker_place place,
                                  double multiply_adds, struct lathe_error *err)
{
    struct lt_checker made = {
        .stream = stream,
        .allocator = lt_context_allocator(context),
        .name = "CPU, f64",
    };
    struct lathe_error why = {.status = LATHE_OK};

    if (place == LT_CHECKER_ANY && lt_device_is_emulated(stream->device) &&
        multiply_adds > CPU_MULTIPLY_ADDS)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "%.2g multiply-adds would take the emulator and the check long; up to %.2g "
                       "are run (m=n=k=1024 has half of them), and reference=cpu insists",
                       multiply_adds, CPU_MULTIPLY_ADDS);
    if (place == LT_CHECKER_ANY && !lt_device_is_emulated(stream->device)) {
        enum lathe_status status = lt_context_reference(context, &made.reference, &why);

        if (status == LATHE_OK) {
            made.name = "NVRTC, f64";
        } else if (status != LATHE_NO_LIBRARY) {
            if (err)
                *err = why;
            return status;
        } else if (multiply_adds > CPU_MULTIPLY_ADDS) {
            return lt_fail(err, status, "%.2g multiply-adds are too many to check on the CPU: %s",
                           multiply_adds, why.message);
        }
    }
    *checker = made;
    return LATHE_OK;
}

/* ---- The CPU's way: copies of what lies on the device ---- */

/* A copy of device memory, to be released; `*copy` is null when nothing was read. */
static enum lathe_status read_copy(const struct lt_checker *checker, void **copy, uint64_t from,
                                   int64_t bytes, struct lathe_error *err)
{
    void *made = lt_allocate(checker->allocator, bytes > 0 ? (size_t)bytes : 1);
    enum lathe_status status =
        made ? lt_stream_read(checker->stream, made, from, bytes, err)
             : lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a copy of %lld bytes",
                       (long long)bytes);

    if (status == LATHE_OK)
        *copy = made;
    else
        lt_release(checker->allocator, made);
    return status;
}

/* The rows are read first, so that what lies between them goes back as it was. */
static enum lathe_status fill_on_cpu(const struct lt_checker *checker,
                                     const struct lt_matrix *matrix, const struct lt_fill *fill,
                                     struct lathe_error *err)
{
    struct lt_matrix copy = *matrix;
    int64_t bytes = lt_matrix_bytes(matrix);
    void *data = NULL;
    enum lathe_status status = read_copy(checker, &data, matrix->at, bytes, err);

    if (status == LATHE_OK) {
        copy.at = (uintptr_t)data;
        lt_host_fill(&copy, fill);
        status = lt_stream_write(checker->stream, matrix->at, data, bytes, err);
    }
    lt_release(checker->allocator, data);
    return status;
}

static enum lathe_status compare_on_cpu(const struct lt_checker *checker,
                                        const struct lt_product *product,
                                        struct lt_verdict *verdict, struct lathe_error *err)
{
    struct lt_product copy = *product;
    struct lt_matrix *matrices[] = {&copy.a, &copy.b, &copy.c, &copy.d};
    enum { MATRICES = sizeof matrices / sizeof matrices[0] };
    void *data[MATRICES] = {NULL};
    enum lathe_status status = LATHE_OK;

    for (int i = 0; i < MATRICES && status == LATHE_OK; i++) {
        status = read_copy(checker, &data[i], matrices[i]->at, lt_matrix_bytes(matrices[i]), err);
        matrices[i]->at = (uintptr_t)data[i];
    }
    if (status == LATHE_OK)
        status = lt_host_compare(&copy, verdict, checker->allocator, err);
    for (int i = 0; i < MATRICES; i++)
        lt_release(checker->allocator, data[i]);
    return status;
}

static enum lathe_status damage_on_cpu(const struct lt_checker *checker,
                                       const struct lt_region *region, unsigned char canary,
                                       int64_t *damage, struct lathe_error *err)
{
    struct lt_region copy = *region;
    void *data = NULL;
    enum lathe_status status;

    if (region->rows <= 0 || region->bytes <= 0)
        return LATHE_OK;
    status = read_copy(checker, &data, region->at,
                       (region->rows - 1) * region->pitch + region->bytes, err);
    if (status == LATHE_OK) {
        copy.at = (uintptr_t)data;
        *damage += lt_host_damage(&copy, canary);
    }
    lt_release(checker->allocator, data);
    return status;
}

/* ---- Either ---- */

enum lathe_status lt_checker_fill(const struct lt_checker *checker, const struct lt_matrix *matrix,
                                  const struct lt_fill *fill, struct lathe_error *err)
{
    if (checker->reference)
        return lt_reference_fill(checker->reference, checker->stream, matrix, fill, err);
    return fill_on_cpu(checker, matrix, fill, err);
}

enum lathe_status lt_checker_compare(const struct lt_checker *checker,
                                     const struct lt_product *product, struct lt_verdict *verdict,
                                     struct lathe_error *err)
{
    int64_t elements = product->d.rows * product->d.columns;
    enum lathe_status status =
        checker->reference
            ? lt_reference_compare(checker->reference, checker->stream, product, verdict, err)
            : compare_on_cpu(checker, product, verdict, err);

    /* A comparison that did not take place finds nothing wrong either. */
    if (status == LATHE_OK && verdict->compared != elements)
        return lt_fail(err, LATHE_INTERNAL, "the reference compared %lld of %lld elements",
                       (long long)verdict->compared, (long long)elements);
    return status;
}

enum lathe_status lt_checker_damage(const struct lt_checker *checker,
                                    const struct lt_region *regions, int count,
                                    unsigned char canary, int64_t *damage, struct lathe_error *err)
{
    enum lathe_status status = LATHE_OK;
    int64_t found = 0;

    if (checker->reference)
        return lt_reference_damage(checker->reference, checker->stream, regions, count, canary,
                                   damage, err);
    for (int i = 0; i < count && status == LATHE_OK; i++)
        status = damage_on_cpu(checker, &regions[i], canary, &found, err);
    if (status == LATHE_OK)
        *damage = found;
    return status;
}
