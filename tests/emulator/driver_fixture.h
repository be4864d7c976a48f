/* driver_fixture.h: the driver API as a library gives it, and a context to work in.
 *
 * Every test is given a path: of the emulator's driver on a machine that executes nothing, or of a
 * real libcuda.so.1, which must then answer as the tests say but for those that ask the machine. */
#ifndef EMU_TESTS_DRIVER_FIXTURE_H
#define EMU_TESTS_DRIVER_FIXTURE_H

#include "emulator/cuda_types.h"
#include "tests/emulator/fake_machine.h"
#include "tests/support/cmocka_all.h"

#define EMU_CU(symbol, name, since, needs, function, parameters, arguments)                        \
    CUresult(*symbol) parameters;
#define EMU_CU_STREAM(symbol, suffix, name, since, needs, function, parameters, arguments)         \
    CUresult(*symbol) parameters;                                                                  \
    CUresult(*symbol##_##suffix) parameters;
extern struct driver_calls {
#include "emulator/driver.def"
} cu;
#undef EMU_CU
#undef EMU_CU_STREAM

/* What is beside the driver API; null members before a real driver. */
extern struct emulator_calls {
    const char *(*last_report)(void);
    void (*set_seed)(uint64_t seed);
    void (*set_threads)(unsigned threads);
    void (*set_exact)(int exact);
    void (*set_limits)(uint64_t memory_bytes, uint64_t steps, uint32_t depth);
    int (*set_check)(int mode);
    int (*check)(void);
} emulator;
extern struct fake_calls {
    int (*launches)(void);
    const struct fake_launch *(*last)(void);
    void (*set_outcome)(enum emu_outcome outcome, const char *message);
    void (*set_registers)(int registers);
    void (*reset)(void);
} fake;

/* 0 if the library is there and has all that it must have; else it says what is missing. */
int driver_open(const char *path);
void *driver_symbol(const char *name);
/* Skips the test before a real driver. */
void only_on_the_fake(void);

/* Around a test: device 0 with its primary context current, and with nothing left of it after. */
int driver_enter(void **state);
int driver_leave(void **state);

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)
#define FAILS(call, result) assert_int_equal(call, result)
#define IN_CONTEXT(test) cmocka_unit_test_setup_teardown(test, driver_enter, driver_leave)

/* Kernels: plain() and scale(out, count, factor) of any shape, small() with .maxntid 128, exact()
 * with .reqntid 64,2,1, pairs() in clusters of 2, clusters() in clusters of any size, tile() with
 * 1024 bytes of shared memory; a variable counter of 4 bytes and a table of 256. */
extern const char driver_ptx[];
CUmodule driver_module(void);
CUfunction driver_function(CUmodule module, const char *name);
CUdeviceptr driver_memory(size_t bytes);

#endif
