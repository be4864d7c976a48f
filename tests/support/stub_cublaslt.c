/* stub_cublaslt.c: plays cuBLASLt on the stub driver, whose device memory is the host's: a matmul
 * computes its product at once, in f32, also while a stream is being captured. Its heuristic knows
 * STUB_CUBLASLT_ALGORITHMS (3) algorithms; those that STUB_CUBLASLT_FAILS names by their numbers
 * from 1 ("2,3") refuse to run, those of STUB_CUBLASLT_WRONG leave D as it is. */
#include "runtime/cublaslt_types.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { ALGORITHMS = 3, VERSION = 130100 };

struct layout {
    int type;
    uint64_t rows, columns;
    int64_t pitch;
};

EXPORT int cublasLtCreate(void **handle);
EXPORT int cublasLtDestroy(void *handle);
EXPORT size_t cublasLtGetVersion(void);
EXPORT const char *cublasLtGetStatusName(int status);
EXPORT int cublasLtMatmulDescCreate(void **desc, int compute_type, int scale_type);
EXPORT int cublasLtMatmulDescDestroy(void *desc);
EXPORT int cublasLtMatmulDescSetAttribute(void *desc, int attribute, const void *value,
                                          size_t bytes);
EXPORT int cublasLtMatrixLayoutCreate(struct layout **layout, int type, uint64_t rows,
                                      uint64_t columns, int64_t pitch);
EXPORT int cublasLtMatrixLayoutDestroy(struct layout *layout);
EXPORT int cublasLtMatmulPreferenceCreate(void **preference);
EXPORT int cublasLtMatmulPreferenceDestroy(void *preference);
EXPORT int cublasLtMatmulPreferenceSetAttribute(void *preference, int attribute, const void *value,
                                                size_t bytes);
EXPORT int cublasLtMatmulAlgoGetHeuristic(void *handle, void *desc, struct layout *a,
                                          struct layout *b, struct layout *c, struct layout *d,
                                          void *preference, int wanted,
                                          struct lt_cublaslt_heuristic *results, int *found);
EXPORT int cublasLtMatmul(void *handle, void *desc, const float *alpha, const void *a,
                          const struct layout *a_layout, const void *b,
                          const struct layout *b_layout, const float *beta, const void *c,
                          const struct layout *c_layout, void *d, const struct layout *d_layout,
                          const struct lt_cublaslt_algo *algo, void *workspace,
                          size_t workspace_bytes, void *stream);

/* ---- Objects that hold nothing ---- */

static int place;

static int give(void **object)
{
    *object = &place;
    return LT_CUBLAS_STATUS_SUCCESS;
}

int cublasLtCreate(void **handle)
{
    return give(handle);
}

int cublasLtDestroy(void *handle)
{
    (void)handle;
    return LT_CUBLAS_STATUS_SUCCESS;
}

size_t cublasLtGetVersion(void)
{
    return VERSION;
}

const char *cublasLtGetStatusName(int status)
{
    return status == LT_CUBLAS_STATUS_NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED"
                                                    : "CUBLAS_STATUS_INTERNAL_ERROR";
}

int cublasLtMatmulDescCreate(void **desc, int compute_type, int scale_type)
{
    (void)compute_type, (void)scale_type;
    return give(desc);
}

int cublasLtMatmulDescDestroy(void *desc)
{
    (void)desc;
    return LT_CUBLAS_STATUS_SUCCESS;
}

int cublasLtMatmulDescSetAttribute(void *desc, int attribute, const void *value, size_t bytes)
{
    (void)desc, (void)attribute, (void)value, (void)bytes;
    return LT_CUBLAS_STATUS_SUCCESS;
}

int cublasLtMatmulPreferenceCreate(void **preference)
{
    return give(preference);
}

int cublasLtMatmulPreferenceDestroy(void *preference)
{
    (void)preference;
    return LT_CUBLAS_STATUS_SUCCESS;
}

int cublasLtMatmulPreferenceSetAttribute(void *preference, int attribute, const void *value,
                                         size_t bytes)
{
    (void)preference, (void)attribute, (void)value, (void)bytes;
    return LT_CUBLAS_STATUS_SUCCESS;
}

int cublasLtMatrixLayoutCreate(struct layout **layout, int type, uint64_t rows, uint64_t columns,
                               int64_t pitch)
{
    *layout = malloc(sizeof **layout);
    if (!*layout)
        return 3; /* CUBLAS_STATUS_ALLOC_FAILED */
    **layout = (struct layout){type, rows, columns, pitch};
    return LT_CUBLAS_STATUS_SUCCESS;
}

int cublasLtMatrixLayoutDestroy(struct layout *layout)
{
    free(layout);
    return LT_CUBLAS_STATUS_SUCCESS;
}

/* ---- Algorithms ---- */

int cublasLtMatmulAlgoGetHeuristic(void *handle, void *desc, struct layout *a, struct layout *b,
                                   struct layout *c, struct layout *d, void *preference, int wanted,
                                   struct lt_cublaslt_heuristic *results, int *found)
{
    const char *text = getenv("STUB_CUBLASLT_ALGORITHMS");
    int count = text ? atoi(text) : ALGORITHMS;

    (void)handle, (void)desc, (void)a, (void)b, (void)c, (void)d, (void)preference;
    *found = count < wanted ? count : wanted;
    for (int i = 0; i < *found; i++) {
        memset(&results[i], 0, sizeof results[i]);
        results[i].algo.data[0] = (uint64_t)i + 1;
    }
    return LT_CUBLAS_STATUS_SUCCESS;
}

static int is_listed(const char *name, uint64_t number)
{
    const char *at = getenv(name);

    while (at && *at) {
        char *end;

        if (strtoull(at, &end, 10) == number)
            return 1;
        at = *end == ',' ? end + 1 : NULL;
    }
    return 0;
}

/* ---- Numbers; halves are cut, not rounded ---- */

static float from_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static float load(const void *at, int64_t index, int type)
{
    uint16_t half;

    if (type == LT_CUBLAS_R_32F)
        return ((const float *)at)[index];
    half = ((const uint16_t *)at)[index];
    if (type == LT_CUBLAS_R_16BF)
        return from_bits((uint32_t)half << 16);
    return from_bits((uint32_t)(half & 0x8000) << 16 | (uint32_t)(half & 0x7fff) << 13) * 0x1p112F;
}

static void store(void *at, int64_t index, int type, float value)
{
    uint32_t bits;
    float scaled = type == LT_CUBLAS_R_16F ? value * 0x1p-112F : value;

    if (type == LT_CUBLAS_R_32F) {
        ((float *)at)[index] = value;
        return;
    }
    memcpy(&bits, &scaled, sizeof bits);
    ((uint16_t *)at)[index] = type == LT_CUBLAS_R_16BF
                                  ? (uint16_t)(bits >> 16)
                                  : (uint16_t)((bits >> 16 & 0x8000) | (bits >> 13 & 0x7fff));
}

/* Columns lie one behind the other, and the first operand is transposed. */
int cublasLtMatmul(void *handle, void *desc, const float *alpha, const void *a,
                   const struct layout *a_layout, const void *b, const struct layout *b_layout,
                   const float *beta, const void *c, const struct layout *c_layout, void *d,
                   const struct layout *d_layout, const struct lt_cublaslt_algo *algo,
                   void *workspace, size_t workspace_bytes, void *stream)
{
    (void)handle, (void)desc, (void)workspace, (void)workspace_bytes, (void)stream;
    if (is_listed("STUB_CUBLASLT_FAILS", algo->data[0]))
        return LT_CUBLAS_STATUS_NOT_SUPPORTED;
    if (is_listed("STUB_CUBLASLT_WRONG", algo->data[0]))
        return LT_CUBLAS_STATUS_SUCCESS;
    for (int64_t column = 0; column < (int64_t)d_layout->columns; column++)
        for (int64_t row = 0; row < (int64_t)d_layout->rows; row++) {
            float sum = 0, old = 0;

            for (int64_t k = 0; k < (int64_t)a_layout->rows; k++)
                sum += load(a, row * a_layout->pitch + k, a_layout->type) *
                       load(b, column * b_layout->pitch + k, b_layout->type);
            if (*beta != 0)
                old = load(c, column * c_layout->pitch + row, c_layout->type);
            store(d, column * d_layout->pitch + row, d_layout->type, *alpha * sum + *beta * old);
        }
    return LT_CUBLAS_STATUS_SUCCESS;
}
