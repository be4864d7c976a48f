#include "runtime/cublaslt.h"

#include "codegen/memory.h"
#include "codegen/status.h"
#include "runtime/cublaslt_types.h"
#include "runtime/library.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct lt_cublaslt {
    struct lt_library library;
    const struct lathe_allocator *allocator;
    char version[32];
    struct lt_cublaslt_table lt;

    /* Of the prepared problem. */
    const struct lt_stream *stream;
    lt_cublaslt_handle handle;
    lt_cublaslt_desc desc;
    lt_cublaslt_layout a, b, c, d; /* of A, B, C and D as we name them */
    struct lt_cublaslt_algo algorithms[LT_CUBLASLT_ALGORITHMS_MOST];
    int algorithm_count;
    uint64_t workspace;
};

/* ---- The library ---- */

/* The first function that the library lacks, or null. */
static const char *load(struct lt_cublaslt *cublaslt)
{
    struct lt_cublaslt_table *lt = &cublaslt->lt;
    const struct lt_library_function functions[] = {
        {"cublasLtCreate", &lt->create},
        {"cublasLtDestroy", &lt->destroy},
        {"cublasLtGetVersion", &lt->version},
        {"cublasLtGetStatusName", &lt->status_name},
        {"cublasLtMatmulDescCreate", &lt->desc_create},
        {"cublasLtMatmulDescDestroy", &lt->desc_destroy},
        {"cublasLtMatmulDescSetAttribute", &lt->desc_set},
        {"cublasLtMatrixLayoutCreate", &lt->layout_create},
        {"cublasLtMatrixLayoutDestroy", &lt->layout_destroy},
        {"cublasLtMatmulPreferenceCreate", &lt->preference_create},
        {"cublasLtMatmulPreferenceDestroy", &lt->preference_destroy},
        {"cublasLtMatmulPreferenceSetAttribute", &lt->preference_set},
        {"cublasLtMatmulAlgoGetHeuristic", &lt->heuristic},
        {"cublasLtMatmul", &lt->matmul},
    };

    return lt_library_load(&cublaslt->library, functions, sizeof functions / sizeof functions[0],
                           NULL);
}

static void read_version(struct lt_cublaslt *cublaslt)
{
    size_t version = cublaslt->lt.version(); /* 10000 * major + 100 * minor + patch */

    snprintf(cublaslt->version, sizeof cublaslt->version, "cublaslt %zu.%zu", version / 10000,
             version / 100 % 100);
}

enum lathe_status lt_cublaslt_open(struct lt_cublaslt **cublaslt, const char *path,
                                   const char *const *roots,
                                   const struct lathe_allocator *allocator, struct lathe_error *err)
{
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so",
                                        NULL};
    const struct lt_library_search search = {
        .title = "cuBLASLt",
        .install = "install it (package libcublas-13-0, PyPI nvidia-cublas, or a CUDA toolkit) or "
                   "name it in LATHE_CUBLASLT_LIBRARY",
        .status = LATHE_NO_LIBRARY,
        .path = path,
        .names = names,
        .roots = roots,
    };
    struct lt_cublaslt *made = lt_allocate(allocator, sizeof *made);

    if (!made)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for cuBLASLt");
    *made = (struct lt_cublaslt){.allocator = allocator};

    enum lathe_status status = lt_library_open(&made->library, &search, err);
    const char *missing = status == LATHE_OK ? load(made) : NULL;

    if (missing)
        status = lt_library_refuse(&made->library, &search, missing, err);
    if (status != LATHE_OK) {
        lt_cublaslt_close(&made);
        return status;
    }
    read_version(made);
    *cublaslt = made;
    return LATHE_OK;
}

void lt_cublaslt_close(struct lt_cublaslt **cublaslt)
{
    struct lt_cublaslt *gone = *cublaslt;

    if (!gone)
        return;

    lt_cublaslt_layout layouts[] = {gone->a, gone->b, gone->c, gone->d};

    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
        if (layouts[i])
            gone->lt.layout_destroy(layouts[i]);
    if (gone->desc)
        gone->lt.desc_destroy(gone->desc);
    if (gone->handle)
        gone->lt.destroy(gone->handle);
    if (gone->workspace)
        lt_stream_free(gone->stream, &gone->workspace);
    lt_release(gone->allocator, gone);
    *cublaslt = NULL;
}

const char *lt_cublaslt_version(const struct lt_cublaslt *cublaslt)
{
    return cublaslt->version;
}

/* ---- The problem ---- */

static enum lathe_status check(const struct lt_cublaslt *cublaslt, int result, const char *call,
                               struct lathe_error *err)
{
    const char *name = result == LT_CUBLAS_STATUS_SUCCESS ? NULL : cublaslt->lt.status_name(result);

    if (result == LT_CUBLAS_STATUS_SUCCESS)
        return LATHE_OK;
    return lt_fail(
        err, result == LT_CUBLAS_STATUS_NOT_SUPPORTED ? LATHE_UNSUPPORTED : LATHE_DRIVER_FAILED,
        "%s: %s: %s (%d)", cublaslt->version, call, name ? name : "unknown status", result);
}

static int data_type(enum lathe_type type)
{
    if (type == LATHE_F16)
        return LT_CUBLAS_R_16F;
    return type == LATHE_BF16 ? LT_CUBLAS_R_16BF : LT_CUBLAS_R_32F;
}

/* To cuBLAS, matrices go down their columns, so our row-major ones are their transposes: it is to
 * compute D^T (n x m) = B (k x n, transposed) * A^T (k x m), with B as its first operand. */
static enum lathe_status describe(struct lt_cublaslt *cublaslt, const struct lathe_gemm *p,
                                  struct lathe_error *err)
{
    const struct lt_cublaslt_table *lt = &cublaslt->lt;
    int64_t ldc = p->beta == LATHE_BETA_ANY ? p->ldc : p->ldd;
    const struct {
        lt_cublaslt_layout *layout;
        enum lathe_type type;
        int64_t rows, columns, pitch;
    } layouts[] = {
        {&cublaslt->a, p->type, p->k, p->m, p->lda},
        {&cublaslt->b, p->type, p->k, p->n, p->ldb},
        {&cublaslt->c, p->out, p->n, p->m, ldc},
        {&cublaslt->d, p->out, p->n, p->m, p->ldd},
    };
    const int transposed = LT_CUBLAS_OP_T, as_is = LT_CUBLAS_OP_N;
    int result = lt->desc_create(&cublaslt->desc, LT_CUBLAS_COMPUTE_32F, LT_CUBLAS_R_32F);

    if (result == LT_CUBLAS_STATUS_SUCCESS)
        result = lt->desc_set(cublaslt->desc, LT_CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                              sizeof transposed);
    if (result == LT_CUBLAS_STATUS_SUCCESS)
        result = lt->desc_set(cublaslt->desc, LT_CUBLASLT_MATMUL_DESC_TRANSB, &as_is, sizeof as_is);
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
        if (result == LT_CUBLAS_STATUS_SUCCESS)
            result = lt->layout_create(layouts[i].layout, data_type(layouts[i].type),
                                       (uint64_t)layouts[i].rows, (uint64_t)layouts[i].columns,
                                       layouts[i].pitch);
    return check(cublaslt, result, "describing the problem", err);
}

static enum lathe_status fail_without_kernel(const struct lt_cublaslt *cublaslt,
                                             const struct lathe_gemm *p, struct lathe_error *err)
{
    return lt_fail(err, LATHE_UNSUPPORTED,
                   "%s has no kernel for m=%lld n=%lld k=%lld type=%s out=%s; measure without it",
                   cublaslt->version, (long long)p->m, (long long)p->n, (long long)p->k,
                   lathe_type_name(p->type), lathe_type_name(p->out));
}

/* Appends what the heuristic gives, without what is there already. */
static int ask(struct lt_cublaslt *cublaslt, lt_cublaslt_preference preference, int wanted)
{
    struct lt_cublaslt_heuristic given[LT_CUBLASLT_ALGORITHMS_MOST];
    int count = 0;
    int result =
        cublaslt->lt.heuristic(cublaslt->handle, cublaslt->desc, cublaslt->b, cublaslt->a,
                               cublaslt->c, cublaslt->d, preference, wanted, given, &count);

    if (result != LT_CUBLAS_STATUS_SUCCESS)
        return result;
    for (int i = 0; i < count && cublaslt->algorithm_count < LT_CUBLASLT_ALGORITHMS_MOST; i++) {
        bool is_first = cublaslt->algorithm_count > 0 &&
                        memcmp(&cublaslt->algorithms[0], &given[i].algo, sizeof given[i].algo) == 0;

        if (given[i].state == LT_CUBLAS_STATUS_SUCCESS && !is_first)
            cublaslt->algorithms[cublaslt->algorithm_count++] = given[i].algo;
    }
    return result;
}

/* One is asked for alone, as who does not search asks: it is the first whatever a longer list
 * begins with. */
static enum lathe_status choose(struct lt_cublaslt *cublaslt, const struct lathe_gemm *p,
                                int wanted, struct lathe_error *err)
{
    const struct lt_cublaslt_table *lt = &cublaslt->lt;
    const uint64_t workspace_bytes = LT_CUBLASLT_WORKSPACE;
    lt_cublaslt_preference preference = NULL;
    int result = lt->preference_create(&preference);

    if (result == LT_CUBLAS_STATUS_SUCCESS)
        result = lt->preference_set(preference, LT_CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                    &workspace_bytes, sizeof workspace_bytes);
    if (result == LT_CUBLAS_STATUS_SUCCESS)
        result = ask(cublaslt, preference, 1);
    if (result == LT_CUBLAS_STATUS_SUCCESS && wanted > 1 && cublaslt->algorithm_count > 0)
        result = ask(cublaslt, preference,
                     wanted < LT_CUBLASLT_ALGORITHMS_MOST ? wanted : LT_CUBLASLT_ALGORITHMS_MOST);
    if (preference)
        lt->preference_destroy(preference);
    if (result == LT_CUBLAS_STATUS_NOT_SUPPORTED ||
        (result == LT_CUBLAS_STATUS_SUCCESS && cublaslt->algorithm_count == 0))
        return fail_without_kernel(cublaslt, p, err);
    return check(cublaslt, result, "cublasLtMatmulAlgoGetHeuristic", err);
}

enum lathe_status lt_cublaslt_prepare(struct lt_cublaslt *cublaslt, const struct lt_stream *stream,
                                      const struct lathe_gemm *problem, int wanted,
                                      struct lathe_error *err)
{
    enum lathe_status status;

    cublaslt->stream = stream;
    status = check(cublaslt, cublaslt->lt.create(&cublaslt->handle), "cublasLtCreate", err);
    if (status == LATHE_OK)
        status = describe(cublaslt, problem, err);
    if (status == LATHE_OK)
        status = choose(cublaslt, problem, wanted, err);
    if (status == LATHE_OK)
        status = lt_stream_allocate(stream, &cublaslt->workspace, LT_CUBLASLT_WORKSPACE,
                                    "cuBLASLt's workspace", err);
    return status;
}

int lt_cublaslt_algorithms(const struct lt_cublaslt *cublaslt)
{
    return cublaslt->algorithm_count;
}

enum lathe_status lt_cublaslt_launch(const struct lt_cublaslt *cublaslt, int algorithm,
                                     const struct lathe_gemm_args *args, struct lathe_error *err)
{
    void *a = (void *)(uintptr_t)args->a, *b = (void *)(uintptr_t)args->b;
    void *d = (void *)(uintptr_t)args->d;
    void *c = args->beta != 0 ? (void *)(uintptr_t)args->c : d;

    return check(cublaslt,
                 cublaslt->lt.matmul(
                     cublaslt->handle, cublaslt->desc, &args->alpha, b, cublaslt->b, a, cublaslt->a,
                     &args->beta, c, cublaslt->c, d, cublaslt->d, &cublaslt->algorithms[algorithm],
                     (void *)(uintptr_t)cublaslt->workspace, LT_CUBLASLT_WORKSPACE, args->stream),
                 "cublasLtMatmul", err);
}
