#include "runtime/reference.h"

#include "codegen/memory.h"
#include "codegen/status.h"
#include "runtime/nvrtc.h"
#include "runtime/reference_source.h"

#include <assert.h>

struct lt_reference {
    const struct lathe_allocator *allocator;
    const struct lt_device *device;
    lt_cu_module module;
    lt_cu_function fill, damage, compare;
};

/* The structs of reference_source.c, as kernel parameters and results. */
struct device_matrix {
    uint64_t at;
    int64_t rows, columns, pitch, type;
};

struct device_product {
    struct device_matrix a, b, c, d;
    double alpha, beta;
    int64_t whole;
    double sum_step, sum_least, exact_below;
};

struct device_verdict {
    int64_t compared, wrong, first;
    double got, want, bound, max_abs_error, error_squares, reference_squares;
};

static_assert(LATHE_F16 == 1 && LATHE_BF16 == 2 && LATHE_F32 == 3 && LATHE_TF32 == 4 &&
                  LATHE_E4M3 == 5 && LATHE_E5M2 == 6 && LATHE_INT8 == 7 && LATHE_S32 == 8 &&
                  LT_NORMAL == 0,
              "reference_source.c knows these values");

/* ---- Making it ---- */

static enum lathe_status compile(const char *text, enum lathe_arch arch, const char *path,
                                 const char *const *roots, const struct lathe_allocator *allocator,
                                 void **cubin, struct lathe_error *err)
{
    struct lt_nvrtc *nvrtc = NULL;
    size_t cubin_bytes = 0;
    enum lathe_status status = lt_nvrtc_open(&nvrtc, path, roots, allocator, err);

    if (status == LATHE_OK)
        status = lt_nvrtc_compile(nvrtc, text, "reference.cu", arch, cubin, &cubin_bytes, err);
    lt_nvrtc_close(&nvrtc);
    return status;
}

/* The device's CUDA context is current. */
static enum lathe_status find_kernels(struct lt_reference *reference, const void *cubin,
                                      struct lathe_error *err)
{
    const struct lt_driver *driver = &reference->device->driver;
    const struct {
        const char *name;
        lt_cu_function *function;
    } functions[] = {
        {"lathe_fill", &reference->fill},
        {"lathe_damage", &reference->damage},
        {"lathe_compare", &reference->compare},
    };
    int result = driver->cuModuleLoadData(&reference->module, cubin);

    if (result != LT_CUDA_SUCCESS) {
        reference->module = NULL;
        return lt_driver_check(driver, result, "cuModuleLoadData", err);
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        result = driver->cuModuleGetFunction(functions[i].function, reference->module,
                                             functions[i].name);
        if (result != LT_CUDA_SUCCESS)
            return lt_driver_check(driver, result, "cuModuleGetFunction", err);
    }
    return LATHE_OK;
}

static enum lathe_status load(struct lt_reference *reference, const void *cubin,
                              struct lathe_error *err)
{
    struct lt_entered entered;
    enum lathe_status status = lt_enter(reference->device, &entered, err);

    if (status != LATHE_OK)
        return status;
    status = find_kernels(reference, cubin, err);
    lt_leave(reference->device, &entered);
    return status;
}

enum lathe_status lt_reference_create(struct lt_reference **reference,
                                      const struct lt_device *device, const char *path,
                                      const char *const *roots,
                                      const struct lathe_allocator *allocator,
                                      struct lathe_error *err)
{
    size_t size = lt_reference_source(NULL, 0) + 1;
    char *text = lt_allocate(allocator, size);
    struct lt_reference *made = lt_allocate(allocator, sizeof *made);
    void *cubin = NULL;
    enum lathe_status status;

    if (made)
        *made = (struct lt_reference){.allocator = allocator, .device = device};
    if (!text || !made) {
        status = lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for the reference");
        goto done;
    }
    lt_reference_source(text, size);
    status = compile(text, device->arch, path, roots, allocator, &cubin, err);
    if (status == LATHE_OK)
        status = load(made, cubin, err);
    if (status == LATHE_OK) {
        *reference = made;
        made = NULL;
    }

done:
    lt_reference_destroy(&made);
    lt_release(allocator, cubin);
    lt_release(allocator, text);
    return status;
}

void lt_reference_destroy(struct lt_reference **reference)
{
    struct lt_reference *gone = *reference;
    struct lt_entered entered;

    if (!gone)
        return;
    if (gone->module && lt_enter(gone->device, &entered, NULL) == LATHE_OK) {
        gone->device->driver.cuModuleUnload(gone->module);
        lt_leave(gone->device, &entered);
    }
    lt_release(gone->allocator, gone);
    *reference = NULL;
}

/* ---- Launching ---- */

/* Enough blocks for the work, but no more than fill the device several times over. */
static unsigned blocks_for(const struct lt_stream *stream, int64_t work, int64_t a_block)
{
    int64_t most = (int64_t)stream->device->sms * 16;
    int64_t blocks = (work + a_block - 1) / a_block;

    return (unsigned)(blocks < most ? blocks : most);
}

static struct device_matrix to_device(const struct lt_matrix *matrix)
{
    return (struct device_matrix){matrix->at, matrix->rows, matrix->columns, matrix->pitch,
                                  (int64_t)matrix->type};
}

enum lathe_status lt_reference_fill(const struct lt_reference *reference,
                                    const struct lt_stream *stream, const struct lt_matrix *matrix,
                                    const struct lt_fill *fill, struct lathe_error *err)
{
    struct device_matrix device_matrix = to_device(matrix);
    int pattern = (int)fill->pattern, range = fill->range;
    uint64_t seed = fill->seed;
    float factor = fill->scale * 0x1p-16f;
    void *params[] = {&device_matrix, &pattern, &range, &seed, &factor};

    if (matrix->rows == 0 || matrix->columns == 0)
        return LATHE_OK;
    return lt_stream_launch(
        stream, reference->fill,
        blocks_for(stream, matrix->rows * matrix->columns, LT_REFERENCE_THREADS),
        LT_REFERENCE_THREADS, params, err);
}

static enum lathe_status count_damage(const struct lt_reference *reference,
                                      const struct lt_stream *stream,
                                      const struct lt_region *region, unsigned canary,
                                      uint64_t total, struct lathe_error *err)
{
    struct lt_region r = *region;
    void *params[] = {&r.at, &r.rows, &r.bytes, &r.pitch, &canary, &total};

    if (r.rows <= 0 || r.bytes <= 0)
        return LATHE_OK;
    return lt_stream_launch(stream, reference->damage,
                            blocks_for(stream, r.rows * r.bytes, LT_REFERENCE_THREADS),
                            LT_REFERENCE_THREADS, params, err);
}

enum lathe_status lt_reference_damage(const struct lt_reference *reference,
                                      const struct lt_stream *stream,
                                      const struct lt_region *regions, int count,
                                      unsigned char canary, int64_t *damage,
                                      struct lathe_error *err)
{
    uint64_t total = 0, found = 0;
    enum lathe_status status =
        lt_stream_allocate(stream, &total, sizeof found, "the count of damaged bytes", err);

    if (status == LATHE_OK)
        status = lt_stream_set(stream, total, 0, sizeof found, err);
    for (int i = 0; i < count && status == LATHE_OK; i++)
        status = count_damage(reference, stream, &regions[i], canary, total, err);
    if (status == LATHE_OK)
        status = lt_stream_read(stream, &found, total, sizeof found, err);
    if (status == LATHE_OK)
        *damage = (int64_t)found;
    lt_stream_free(stream, &total);
    return status;
}

/* ---- Comparing ---- */

/* Takes the blocks' verdicts together, in their order: the same answer every time. */
static struct lt_verdict merge(const struct device_verdict *parts, unsigned count)
{
    struct lt_verdict verdict = LT_VERDICT_INIT;

    for (unsigned i = 0; i < count; i++) {
        struct lt_verdict part = {
            .compared = parts[i].compared,
            .wrong = parts[i].wrong,
            .first = parts[i].first,
            .got = parts[i].got,
            .want = parts[i].want,
            .bound = parts[i].bound,
            .max_abs_error = parts[i].max_abs_error,
            .error_squares = parts[i].error_squares,
            .reference_squares = parts[i].reference_squares,
        };

        lt_verdict_merge(&verdict, &part);
    }
    return verdict;
}

enum lathe_status lt_reference_compare(const struct lt_reference *reference,
                                       const struct lt_stream *stream,
                                       const struct lt_product *product, struct lt_verdict *verdict,
                                       struct lathe_error *err)
{
    struct device_product device_product = {
        to_device(&product->a),
        to_device(&product->b),
        to_device(&product->c),
        to_device(&product->d),
        product->alpha,
        product->beta,
        product->whole,
        lt_sum_step(product->sums),
        lt_sum_least(product->sums),
        lt_sum_exact_below(product->sums),
    };
    const int64_t side = LT_REFERENCE_SIDE;
    int64_t squares =
        (product->d.rows + side - 1) / side * ((product->d.columns + side - 1) / side);
    unsigned blocks = blocks_for(stream, squares, 1);
    int64_t bytes = blocks * (int64_t)sizeof(struct device_verdict);
    struct device_verdict *parts = NULL;
    uint64_t device_parts = 0;
    void *params[] = {&device_product, &device_parts};
    enum lathe_status status;

    if (squares == 0) {
        *verdict = (struct lt_verdict)LT_VERDICT_INIT;
        return LATHE_OK;
    }
    parts = lt_allocate(reference->allocator, (size_t)bytes);
    status = parts ? lt_stream_allocate(stream, &device_parts, bytes, "the verdicts", err)
                   : lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for the verdicts");
    if (status == LATHE_OK) /* what no block writes does not pass for a verdict */
        status = lt_stream_set(stream, device_parts, 0xff, bytes, err);
    if (status == LATHE_OK)
        status =
            lt_stream_launch(stream, reference->compare, blocks, LT_REFERENCE_THREADS, params, err);
    if (status == LATHE_OK)
        status = lt_stream_read(stream, parts, device_parts, bytes, err);
    if (status == LATHE_OK)
        *verdict = merge(parts, blocks);
    lt_stream_free(stream, &device_parts);
    lt_release(reference->allocator, parts);
    return status;
}
