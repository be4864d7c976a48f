/* cublaslt_types.h: what is used of cublasLt.h of CUDA 12 and 13, declared by ourselves so that
 * everything builds without it. tests/runtime/cublaslt_header_test.c compares, where it is. */
#ifndef LT_RUNTIME_CUBLASLT_TYPES_H
#define LT_RUNTIME_CUBLASLT_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* By the names they have there, without the CUBLAS_, CUBLASLT_ or CUDA_ prefix. */
enum {
    LT_CUBLAS_STATUS_SUCCESS = 0,
    LT_CUBLAS_STATUS_NOT_SUPPORTED = 15,

    LT_CUBLAS_R_32F = 0,
    LT_CUBLAS_R_16F = 2,
    LT_CUBLAS_R_16BF = 14,

    LT_CUBLAS_COMPUTE_32F = 68,
    LT_CUBLAS_OP_N = 0,
    LT_CUBLAS_OP_T = 1,

    LT_CUBLASLT_MATMUL_DESC_TRANSA = 3,
    LT_CUBLASLT_MATMUL_DESC_TRANSB = 4,
    LT_CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1
};

typedef struct lt_cublaslt_handle_tag *lt_cublaslt_handle;
typedef struct lt_cublaslt_desc_tag *lt_cublaslt_desc;
typedef struct lt_cublaslt_layout_tag *lt_cublaslt_layout;
typedef struct lt_cublaslt_preference_tag *lt_cublaslt_preference;

struct lt_cublaslt_algo {
    uint64_t data[8];
};

struct lt_cublaslt_heuristic {
    struct lt_cublaslt_algo algo;
    size_t workspace_bytes;
    int state; /* cublasStatus_t: the rest counts only when it is success */
    float waves;
    int reserved[4];
};

/* Results are cublasStatus_t, types cudaDataType, the stream a CUstream. */
struct lt_cublaslt_table {
    int (*create)(lt_cublaslt_handle *handle);
    int (*destroy)(lt_cublaslt_handle handle);
    size_t (*version)(void);
    const char *(*status_name)(int status);
    int (*desc_create)(lt_cublaslt_desc *desc, int compute_type, int scale_type);
    int (*desc_destroy)(lt_cublaslt_desc desc);
    int (*desc_set)(lt_cublaslt_desc desc, int attribute, const void *value, size_t bytes);
    int (*layout_create)(lt_cublaslt_layout *layout, int type, uint64_t rows, uint64_t columns,
                         int64_t pitch);
    int (*layout_destroy)(lt_cublaslt_layout layout);
    int (*preference_create)(lt_cublaslt_preference *preference);
    int (*preference_destroy)(lt_cublaslt_preference preference);
    int (*preference_set)(lt_cublaslt_preference preference, int attribute, const void *value,
                          size_t bytes);
    int (*heuristic)(lt_cublaslt_handle handle, lt_cublaslt_desc desc, lt_cublaslt_layout a,
                     lt_cublaslt_layout b, lt_cublaslt_layout c, lt_cublaslt_layout d,
                     lt_cublaslt_preference preference, int wanted,
                     struct lt_cublaslt_heuristic *results, int *found);
    int (*matmul)(lt_cublaslt_handle handle, lt_cublaslt_desc desc, const void *alpha,
                  const void *a, lt_cublaslt_layout a_layout, const void *b,
                  lt_cublaslt_layout b_layout, const void *beta, const void *c,
                  lt_cublaslt_layout c_layout, void *d, lt_cublaslt_layout d_layout,
                  const struct lt_cublaslt_algo *algo, void *workspace, size_t workspace_bytes,
                  void *stream);
};

#endif
