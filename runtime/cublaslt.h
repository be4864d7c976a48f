/* cublaslt.h: NVIDIA's GEMM library, opened when a benchmark asks for it, as the contender. Types
 * and constants of cublasLt.h are declared in cublaslt_types.h. */
#ifndef LT_RUNTIME_CUBLASLT_H
#define LT_RUNTIME_CUBLASLT_H

#include "include/lathe.h"
#include "runtime/stream.h"

enum { LT_CUBLASLT_WORKSPACE = 64 << 20, LT_CUBLASLT_ALGORITHMS_MOST = 32 };

struct lt_cublaslt; /* the opened library and one prepared problem; one thread at a time */

/* `path`: the library, or null: libcublasLt.so.13, .12 and so on, in the loader's path and under
 * the `roots` of toolkits (ended by null). Needs no device. Errors: LATHE_NO_LIBRARY (what was
 * looked for, and what to install). */
enum lathe_status lt_cublaslt_open(struct lt_cublaslt **cublaslt, const char *path,
                                   const char *const *roots,
                                   const struct lathe_allocator *allocator,
                                   struct lathe_error *err);
/* While the stream that a problem was prepared for is open. */
void lt_cublaslt_close(struct lt_cublaslt **cublaslt);
/* "cublaslt 13.1" */
const char *lt_cublaslt_version(const struct lt_cublaslt *cublaslt);

/* Takes up to `wanted` algorithms that the library's heuristic gives for a problem that is
 * resolved, with 64 MiB of workspace, in its order; the first is the one that it gives who asks for
 * no more. Once. Errors: LATHE_UNSUPPORTED (the library has none for it), LATHE_OUT_OF_MEMORY,
 * LATHE_DRIVER_FAILED. */
enum lathe_status lt_cublaslt_prepare(struct lt_cublaslt *cublaslt, const struct lt_stream *stream,
                                      const struct lathe_gemm *problem, int wanted,
                                      struct lathe_error *err);
/* How many there are. */
int lt_cublaslt_algorithms(const struct lt_cublaslt *cublaslt);

/* Enqueues the prepared problem with these addresses, factors and stream, by algorithm number
 * `algorithm`, from 0. */
enum lathe_status lt_cublaslt_launch(const struct lt_cublaslt *cublaslt, int algorithm,
                                     const struct lathe_gemm_args *args, struct lathe_error *err);

#endif
