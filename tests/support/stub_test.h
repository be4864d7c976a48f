/* stub_test.h: what the tests of the stub driver share: the library opened as Lathe opens it, and a
 * device with a current context and the kernels of stub_kernel.ptx. */
#ifndef STUB_TEST_H
#define STUB_TEST_H

#include "tests/support/cmocka_all.h"
#include "tests/support/stub_cuda.h"
#include "tests/support/stub_driver.h"

/* Every function that the stub plays, by its symbol. */
struct cuda {
#define STUB_CALL(symbol, since, needs) __typeof__(symbol) *symbol;
#include "tests/support/stub_calls.def"
#undef STUB_CALL
};

extern struct cuda cuda;
extern struct stub_control stub;
extern void *stub_library;

/* A cubin for sm_90a; see stub_kernel.ptx. */
extern const unsigned char *const stub_cubin;
extern const size_t stub_cubin_size;

/* Opens the library and fills the tables; says why and returns 1 if it cannot. */
int stub_test_open(const char *path);

/* cmocka's set-up and teardown: a stub as freshly loaded; and one with device 0's primary context
 * current, of which nothing may be left in the end. */
int stub_test_reset(void **state);
int stub_test_enter(void **state);
int stub_test_leave(void **state);

/* The cubin loaded, and a kernel of it. */
CUmodule stub_test_module(void);
CUfunction stub_test_function(CUmodule module, const char *name);

/* A map that the driver takes, with one word of it changed or none. */
struct stub_map_arguments {
    CUtensorMapDataType type;
    uint32_t rank;
    uint64_t address;
    uint64_t dims[5], strides[4];
    uint32_t box[5], element_strides[5];
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
};
/* bf16, 4096 x 1000, boxes of 64 x 128, as Lathe makes them */
struct stub_map_arguments stub_test_map_arguments(void);
CUresult stub_test_encode(CUtensorMap *map, const struct stub_map_arguments *arguments);

#endif
