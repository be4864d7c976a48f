/* driver_state.h: what the driver's files share: the process's one state, its objects, contexts.
 *
 * Everything runs in the thread that asks for it, under one mutex, to its end: a launch has been
 * done, and its helpers (pool.h) are gone, when the call returns. Only work of a stream that is
 * being captured is put down instead (driver_work.h). Every function here, and all that driver.def
 * names, is called with the mutex held; driver_state.c alone takes it. */
#ifndef EMU_DRIVER_STATE_H
#define EMU_DRIVER_STATE_H

#include "emulator/cuda_types.h"
#include "emulator/machine.h"

/* ---- Devices ---- */

enum { EMU_DRIVER_VERSION = 13000 };

enum {
    EMU_SHARED_PLAIN = 49152,   /* bytes that a block may have without asking for more */
    EMU_SHARED_RESERVED = 1024, /* of each block, taken by the driver                  */
    EMU_SHARED_UNIT = 128,      /* shared memory is handed out in                      */
    EMU_BLOCK_THREADS = 1024,
    EMU_SM_REGISTERS = 65536,
    EMU_CLUSTER_PORTABLE = 8,
    EMU_CLUSTER_MAX = 16
};

/* Facts of an architecture, and of the product that the emulated device is modelled on. */
struct emu_cu_architecture {
    const char *name; /* "sm_90a" */
    int target;
    int multiprocessors, l2_bytes, clock_khz, memory_khz, bus_bits;
    int shared_bytes, threads, blocks; /* of a multiprocessor */
    int double_ratio;                  /* f32 to f64 throughput */
};

struct emu_cu_context;

/* A piece of memory that a program asked for. Those of module variables are none. */
enum emu_cu_block_kind { EMU_CU_BLOCK_DEVICE, EMU_CU_BLOCK_POOL, EMU_CU_BLOCK_HOST };
struct emu_cu_block {
    enum emu_cu_block_kind kind;
    uint64_t address;
    size_t bytes;
    void *host; /* the same bytes, for the host */
    unsigned flags;
    unsigned long long id;
    struct emu_cu_context *context;
};

/* Memory of the program's own that it registered. */
struct emu_cu_registered {
    char *host;
    size_t bytes;
    unsigned flags;
};

struct emu_cu_gpu {
    int ordinal;
    const struct emu_cu_architecture *arch;
    int multiprocessors;
    struct emu_device *machine; /* while there is a context */
    size_t machine_bytes;       /* of its memory */
    int contexts;
    struct emu_cu_context *primary; /* once it was retained, for ever: its handle stays the same */
    int retained;
    unsigned primary_flags;
    uint64_t pool_values[8], pool_high;
    struct emu_cu_block *blocks;
    size_t block_count, block_room;
};

/* ---- Objects ---- */

enum emu_cu_kind {
    EMU_CU_CONTEXT = 1,
    EMU_CU_MODULE,
    EMU_CU_FUNCTION,
    EMU_CU_LIBRARY,
    EMU_CU_KERNEL,
    EMU_CU_LINK,
    EMU_CU_STREAM,
    EMU_CU_EVENT,
    EMU_CU_GRAPH,
    EMU_CU_NODE,
    EMU_CU_EXEC
};

/* First in every object. A handle is a place in a table and how often that was used before, so that
 * one of a destroyed object is never taken for another's. */
struct emu_cu_object {
    enum emu_cu_kind kind;
    void *handle;
    struct emu_cu_context *context; /* null: it belongs to none */
};

/* Zeroed; null without memory. `object` is first in what is made. */
void *emu_cu_create(enum emu_cu_kind kind, size_t bytes, struct emu_cu_context *context);
/* Null for a handle of another kind, of a destroyed object, or of none. */
void *emu_cu_find(enum emu_cu_kind kind, const void *handle);
/* Releases what it owns (by its kind), and itself. Null is nothing. */
void emu_cu_destroy(void *object);
/* The next object of the kind and the context from place `*at` on, or null. A null context: any. */
void *emu_cu_next(enum emu_cu_kind kind, const struct emu_cu_context *context, size_t *at);

/* What is behind the kinds, for emu_cu_destroy(). */
struct emu_cu_stream;
struct emu_cu_module;
struct emu_cu_library;
struct emu_cu_link;
struct emu_cu_graph;
struct emu_cu_exec;
struct emu_cu_event;
struct emu_cu_function;
struct emu_cu_kernel;
struct emu_cu_node;
void emu_cu_release_stream(struct emu_cu_stream *stream);
void emu_cu_release_event(struct emu_cu_event *event);
void emu_cu_release_module(struct emu_cu_module *module);
void emu_cu_release_function(struct emu_cu_function *function);
void emu_cu_release_library(struct emu_cu_library *library);
void emu_cu_release_kernel(struct emu_cu_kernel *kernel);
void emu_cu_release_link(struct emu_cu_link *link);
void emu_cu_release_graph(struct emu_cu_graph *graph);
void emu_cu_release_node(struct emu_cu_node *node);
void emu_cu_release_exec(struct emu_cu_exec *exec);

/* ---- Contexts ---- */

enum { EMU_LIMIT_COUNT = 10, EMU_GREATEST_PRIORITY = -5, EMU_REPORT_SIZE = 2 * EMU_MESSAGE_SIZE };

struct emu_cu_context {
    struct emu_cu_object object;
    struct emu_cu_gpu *gpu;
    bool active; /* false: a primary one that nobody retains */
    unsigned flags;
    unsigned long long id;
    CUresult failed;               /* the fault of a launch: nothing works in it any more */
    char failure[EMU_REPORT_SIZE]; /* and what was said of it */
    uint64_t limits[EMU_LIMIT_COUNT];
    CUfunc_cache cache;
    struct emu_cu_stream *legacy; /* the default stream; then those of threads */
    struct emu_cu_stream **per_thread;
    size_t per_thread_count;
};

/* ---- The state ---- */

struct emu_cu_driver {
    bool initialised;
    struct emu_cu_gpu *gpus;
    int gpu_count;
    unsigned long long next_id; /* of contexts, streams, captures, pieces of memory */
    uint64_t seed;
    bool exact;
    struct emu_limits limits;
    uint32_t threads, threads_of_environment; /* the former goes before; 0: nothing is said */
    int check_mode;                           /* enum emu_check_mode */
    bool check_prints;                        /* findings, to standard error */
    struct emu_finding *findings;
    size_t finding_count;
    struct emu_trace *trace; /* null: time is not modelled */
    size_t capturing;        /* streams that are being captured */
    struct emu_cu_registered *registered;
    size_t registered_count, registered_room;
};

extern struct emu_cu_driver emu_cu_driver;

/* Of the host, that a launch may use; 0: as many as there are processors. */
uint32_t emu_cu_threads(void);

enum { EMU_CONTEXT_DEPTH = 128 };

/* Of the calling thread. */
struct emu_cu_thread {
    unsigned long long id;
    bool reported;       /* words were found for what this call gives  */
    bool in_callback;    /* a host function runs: it may not call us   */
    bool default_is_own; /* in this call, the null stream is its own   */
    CUstreamCaptureMode capture_mode;
    int depth;
    void *contexts[EMU_CONTEXT_DEPTH]; /* handles */
};
struct emu_cu_thread *emu_cu_thread(void);

enum emu_cu_needs {
    EMU_NEEDS_NOTHING,
    EMU_NEEDS_INIT,
    EMU_NEEDS_CONTEXT,
    EMU_NEEDS_DEVICE,
    EMU_NEEDS_WAITS
};
/* Around every exported call. */
CUresult emu_cu_enter(enum emu_cu_needs needs, bool default_is_own);
CUresult emu_cu_leave(CUresult result, const char *symbol);
/* Around a function of the program's: others may use the driver meanwhile. */
void emu_cu_enter_callback(void);
void emu_cu_leave_callback(void);

/* The block that an address, or a host pointer of it, lies in; null where there is none. */
struct emu_cu_block *emu_cu_block_around(const struct emu_cu_gpu *gpu, uint64_t address);
/* Bytes that can be allocated on it. */
size_t emu_cu_memory_total(const struct emu_cu_gpu *gpu);
void emu_cu_memory_free_all(struct emu_cu_context *context);
/* Null where `device` is no ordinal. */
struct emu_cu_gpu *emu_cu_gpu_of(CUdevice device);
/* The calling thread's, after emu_cu_enter() with NEEDS_CONTEXT or more. */
struct emu_cu_context *emu_cu_current(void);
/* The same for calls that need none: null without a reason where there is none. */
struct emu_cu_context *emu_cu_current_if_any(void);
/* Of a handle, whether of a primary context that nobody retains or not; null for none. */
struct emu_cu_context *emu_cu_context_of(CUcontext handle);

/* The context has failed, for good, for the reason that was reported last. */
CUresult emu_cu_fail(struct emu_cu_context *context, CUresult result);

/* "invalid argument"; null for no result. */
const char *emu_cu_error_words(CUresult error);
/* Keeps the words for emu_last_report(), and returns the result that it is given. A call that fails
 * without words gets those of its result. */
CUresult emu_cu_report(CUresult result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The sanitizer's mode that the environment asks for; -1 and a report where that makes no sense. */
int emu_cu_check_mode(void);
/* A device that is made gets the mode; false without memory for it. */
bool emu_cu_check_device(struct emu_device *machine);
/* Takes what a launch has found. */
void emu_cu_check_collect(struct emu_device *machine);
/* The driver's mutex, for exported functions that are not the driver API's. */
void emu_cu_lock(void);
void emu_cu_unlock(void);

/* What driver.def names. */
#define EMU_CU(symbol, name, since, needs, function, parameters, arguments)                        \
    CUresult function parameters;
#define EMU_CU_STREAM(symbol, suffix, name, since, needs, function, parameters, arguments)         \
    CUresult function parameters;
#include "emulator/driver.def"
#undef EMU_CU
#undef EMU_CU_STREAM

#endif
