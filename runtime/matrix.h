/* matrix.h: a matrix in memory, as the runtime hands it about. */
#ifndef LT_RUNTIME_MATRIX_H
#define LT_RUNTIME_MATRIX_H

#include "include/lathe.h"

/* A row-major matrix at a device or a host address. */
struct lt_matrix {
    uint64_t at;
    enum lathe_type type;
    int64_t rows, columns;
    int64_t pitch; /* elements between the starts of two rows */
};

#endif
