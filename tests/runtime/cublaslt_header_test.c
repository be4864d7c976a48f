/* Holds runtime/cublaslt_types.h against NVIDIA's header; skipped where that is not installed. */
#include "runtime/cublaslt_types.h"

#include "tests/support/cmocka_all.h"

#if defined(__has_include)
#if __has_include(<cublasLt.h>)
#define HAVE_CUBLASLT 1
#endif
#endif

#ifdef HAVE_CUBLASLT
#include <cublasLt.h>

#include <assert.h>

#define SAME(ours, theirs) static_assert((int)(ours) == (int)(theirs), #theirs)

SAME(LT_CUBLAS_STATUS_SUCCESS, CUBLAS_STATUS_SUCCESS);
SAME(LT_CUBLAS_STATUS_NOT_SUPPORTED, CUBLAS_STATUS_NOT_SUPPORTED);
SAME(LT_CUBLAS_R_32F, CUDA_R_32F);
SAME(LT_CUBLAS_R_16F, CUDA_R_16F);
SAME(LT_CUBLAS_R_16BF, CUDA_R_16BF);
SAME(LT_CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F);
SAME(LT_CUBLAS_OP_N, CUBLAS_OP_N);
SAME(LT_CUBLAS_OP_T, CUBLAS_OP_T);
SAME(LT_CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSA);
SAME(LT_CUBLASLT_MATMUL_DESC_TRANSB, CUBLASLT_MATMUL_DESC_TRANSB);
SAME(LT_CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);

SAME(sizeof(struct lt_cublaslt_algo), sizeof(cublasLtMatmulAlgo_t));
SAME(sizeof(struct lt_cublaslt_heuristic), sizeof(cublasLtMatmulHeuristicResult_t));
SAME(offsetof(struct lt_cublaslt_heuristic, workspace_bytes),
     offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
SAME(offsetof(struct lt_cublaslt_heuristic, state),
     offsetof(cublasLtMatmulHeuristicResult_t, state));
SAME(offsetof(struct lt_cublaslt_heuristic, waves),
     offsetof(cublasLtMatmulHeuristicResult_t, wavesCount));

/* Theirs, in the order of the table's entries: a change of a parameter fails to compile here. */
static struct {
    cublasStatus_t (*create)(cublasLtHandle_t *);
    cublasStatus_t (*destroy)(cublasLtHandle_t);
    size_t (*version)(void);
    const char *(*status_name)(cublasStatus_t);
    cublasStatus_t (*desc_create)(cublasLtMatmulDesc_t *, cublasComputeType_t, cudaDataType_t);
    cublasStatus_t (*desc_destroy)(cublasLtMatmulDesc_t);
    cublasStatus_t (*desc_set)(cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, const void *,
                               size_t);
    cublasStatus_t (*layout_create)(cublasLtMatrixLayout_t *, cudaDataType, uint64_t, uint64_t,
                                    int64_t);
    cublasStatus_t (*layout_destroy)(cublasLtMatrixLayout_t);
    cublasStatus_t (*preference_create)(cublasLtMatmulPreference_t *);
    cublasStatus_t (*preference_destroy)(cublasLtMatmulPreference_t);
    cublasStatus_t (*preference_set)(cublasLtMatmulPreference_t,
                                     cublasLtMatmulPreferenceAttributes_t, const void *, size_t);
    cublasStatus_t (*heuristic)(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,
                                cublasLtMatmulHeuristicResult_t *, int *);
    cublasStatus_t (*matmul)(cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *,
                             cublasLtMatrixLayout_t, const void *, cublasLtMatrixLayout_t,
                             const void *, const void *, cublasLtMatrixLayout_t, void *,
                             cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *, void *, size_t,
                             cudaStream_t);
} theirs;

/* Never called: nothing is linked, only the types of the declarations are looked at. */
static void assign(void)
{
#define TYPE_OF(entry, function)                                                                   \
    static_assert(_Generic(&(function), __typeof__(theirs.entry) : 1, default : 0), #function)
    TYPE_OF(create, cublasLtCreate);
    TYPE_OF(destroy, cublasLtDestroy);
    TYPE_OF(version, cublasLtGetVersion);
    TYPE_OF(status_name, cublasLtGetStatusName);
    TYPE_OF(desc_create, cublasLtMatmulDescCreate);
    TYPE_OF(desc_destroy, cublasLtMatmulDescDestroy);
    TYPE_OF(desc_set, cublasLtMatmulDescSetAttribute);
    TYPE_OF(layout_create, cublasLtMatrixLayoutCreate);
    TYPE_OF(layout_destroy, cublasLtMatrixLayoutDestroy);
    TYPE_OF(preference_create, cublasLtMatmulPreferenceCreate);
    TYPE_OF(preference_destroy, cublasLtMatmulPreferenceDestroy);
    TYPE_OF(preference_set, cublasLtMatmulPreferenceSetAttribute);
    TYPE_OF(heuristic, cublasLtMatmulAlgoGetHeuristic);
    TYPE_OF(matmul, cublasLtMatmul);
#undef TYPE_OF
}

static void what_is_declared_here_is_what_the_header_says(void **state)
{
    (void)state;
    (void)assign; /* compiled, which is the test */
    assert_int_equal(sizeof theirs, sizeof(struct lt_cublaslt_table));
}
#else
static void what_is_declared_here_is_what_the_header_says(void **state)
{
    (void)state;
    print_message("skipped: no cublasLt.h on the include path\n");
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_declared_here_is_what_the_header_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
