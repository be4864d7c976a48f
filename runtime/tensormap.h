/* tensormap.h: a contract's recipes, encoded for one launch. */
#ifndef LT_RUNTIME_TENSORMAP_H
#define LT_RUNTIME_TENSORMAP_H

#include "runtime/driver.h"
#include "runtime/matrix.h"

/* The driver's number of a swizzle of so many bytes; -1: there is none. */
int lt_tensor_map_swizzle(int bytes);

/* Errors: LATHE_DRIVER_FAILED with what the driver was given. */
enum lathe_status lt_tensor_map_encode(const struct lt_driver *driver,
                                       const struct lathe_tensor_map *recipe,
                                       const struct lt_matrix *matrix, struct lt_cu_tensor_map *map,
                                       struct lathe_error *err);

#endif
