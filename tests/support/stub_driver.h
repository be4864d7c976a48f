/* stub_driver.h: how a test steers and questions the stub driver.
 *
 * libcuda_stub.so exports the CUDA driver's functions that Lathe calls and behaves as the driver
 * does wherever a user could tell, but computes nothing: it takes cubins, and text as far as
 * stub_text.c reads it, checks arguments, keeps device memory as host memory and records launches.
 * The functions of stub_controls.def are exported beside: a test opens the library as Lathe does,
 * calls stub_control_open(), and then says stub.fail_call(...) or stub.launch_at(0).
 *
 * Everything may be called from any thread. A mistake in a test, such as an unknown symbol, prints
 * a line and aborts.
 *
 * For tests of whole processes the environment says the same, read at the first call and at every
 * stub_reset():
 *   STUB_LOG=FILE                 append a line for each call: its symbol, a blank, its result
 *   STUB_FAIL=SYMBOL=RESULT,...   fail these calls always
 *   STUB_DEVICES=1  STUB_CAPABILITY=9.0  STUB_SMS=132  STUB_MEMORY=BYTES  STUB_VERSION=13000
 *   STUB_L2=BYTES
 *   STUB_ELAPSED_US=1             what lies between any two events
 *
 * libcuda_old_stub.so is the same made with STUB_DRIVER_VERSION=11080: a driver of CUDA 11.8, which
 * lacks the symbols that came later. */
#ifndef STUB_DRIVER_H
#define STUB_DRIVER_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    STUB_DEVICES_MAX = 16,
    STUB_PARAMS_MAX = 16,
    STUB_PARAM_BYTES = 128,
    STUB_NAME_SIZE = 128,
    STUB_ALWAYS = -1
};

struct stub_device {
    char name[64];
    int major, minor;    /* compute capability */
    int sms;             /* multiprocessors */
    int optin_bytes;     /* shared memory that a block may have once its function asked for it */
    int l2_bytes;        /* level 2 cache */
    int clock_khz;       /* of the multiprocessors */
    size_t memory_bytes; /* that all allocations together may take */
};

enum stub_kind {
    STUB_CONTEXT,
    STUB_MODULE,
    STUB_FUNCTION,
    STUB_STREAM,
    STUB_EVENT,
    STUB_GRAPH,
    STUB_GRAPH_EXEC,
    STUB_ALLOCATION,
    STUB_KIND_COUNT
};

/* One launch as it reached the device: by cuLaunchKernelEx or by the launch of a graph. */
struct stub_launch {
    char kernel[STUB_NAME_SIZE];
    unsigned grid[3], block[3];
    unsigned cluster[3]; /* as asked for, or as the kernel requires, or 1 1 1 */
    unsigned smem;       /* dynamic shared memory, bytes */
    void *stream;
    int device;
    int from_graph;   /* a graph's launch, not a call of cuLaunchKernelEx */
    int programmatic; /* programmatic stream serialization was allowed */
    int param_count;  /* of the kernel; the first STUB_PARAMS_MAX are kept */
    size_t param_bytes[STUB_PARAMS_MAX];
    unsigned char params[STUB_PARAMS_MAX][STUB_PARAM_BYTES]; /* their first bytes, then zeros */
};

/* One tensor map: the arguments of cuTensorMapEncodeTiled that made it. */
struct stub_tensor_map {
    int type;
    uint32_t rank;
    uint64_t address;
    uint64_t dims[5];
    uint64_t strides[4]; /* bytes, of the dimensions from the second on */
    uint32_t box[5], element_strides[5];
    int interleave, swizzle, promotion, fill;
};

/* The functions of stub_controls.def, as the library has them once it is open. */
struct stub_control {
#define STUB_CONTROL(result, name, arguments) result(*name) arguments;
#include "tests/support/stub_controls.def"
#undef STUB_CONTROL
};

/* Fills the table from a library got by dlopen. Returns the first name that is missing, else null.
 */
static inline const char *stub_control_open(struct stub_control *control, void *library)
{
    void *symbol;

#define STUB_CONTROL(result, name, arguments)                                                      \
    symbol = dlsym(library, "stub_" #name);                                                        \
    if (symbol == NULL)                                                                            \
        return "stub_" #name;                                                                      \
    memcpy(&control->name, &symbol, sizeof symbol);
#include "tests/support/stub_controls.def"
#undef STUB_CONTROL
    return NULL;
}

#endif
