/* driver_work.h: work of streams, done at once or put down in a graph while one is captured. */
#ifndef EMU_DRIVER_WORK_H
#define EMU_DRIVER_WORK_H

#include "emulator/driver_state.h"

/* ---- Work ---- */

enum emu_cu_work_kind {
    EMU_CU_WORK_EMPTY,
    EMU_CU_WORK_KERNEL,
    EMU_CU_WORK_COPY,
    EMU_CU_WORK_FILL,
    EMU_CU_WORK_HOST,
    EMU_CU_WORK_CHILD
};

struct emu_cu_kernel_work {
    void *function; /* handle of a function: its module may be gone when the work is done */
    uint32_t grid[3], block[3], cluster[3], shared_bytes;
    bool in_clusters; /* somebody said so; else `cluster` is of one CTA */
    bool cooperative;
    bool is_dependent; /* programmatic stream serialization */
    unsigned char *params;
    uint32_t param_bytes;
};

struct emu_cu_side {
    CUmemorytype type; /* HOST, DEVICE, or UNIFIED: what the address tells */
    uint64_t address;
    struct emu_cu_gpu *gpu;
    size_t x_bytes, y, z, pitch, height;
};
struct emu_cu_copy_work {
    struct emu_cu_side to, from;
    size_t width_bytes, height, depth;
};

struct emu_cu_fill_work {
    uint64_t to;
    size_t pitch, width, height; /* width in elements */
    uint32_t value;
    unsigned element_bytes;
};

struct emu_cu_host_work {
    CUhostFn function;
    CUstreamCallback callback; /* instead, with the stream */
    CUstream stream;
    void *user;
};

struct emu_cu_work {
    enum emu_cu_work_kind kind;
    void *context; /* handle */
    union {
        struct emu_cu_kernel_work kernel;
        struct emu_cu_copy_work copy;
        struct emu_cu_fill_work fill;
        struct emu_cu_host_work host;
        struct emu_cu_graph *child; /* owned */
    } as;
};

/* Checks it against what there is now, then does it or puts it down, as the stream says. Takes what
 * the work owns in any case. */
CUresult emu_cu_submit(CUstream stream, struct emu_cu_work *work);
/* Whether a copy or a fill has all its memory; others can always be tried. */
CUresult emu_cu_work_check(const struct emu_cu_work *work);
CUresult emu_cu_work_do(const struct emu_cu_work *work);
CUresult emu_cu_work_copy(struct emu_cu_work *to, const struct emu_cu_work *from);
void emu_cu_work_release(struct emu_cu_work *work);

/* Each in the file of its kind; `check` gives what the call that asks for it is to return. */
CUresult emu_cu_kernel_do(struct emu_cu_context *context, const struct emu_cu_kernel_work *work);
CUresult emu_cu_copy_check(struct emu_cu_context *context, const struct emu_cu_copy_work *work);
void emu_cu_copy_do(struct emu_cu_context *context, const struct emu_cu_copy_work *work);
CUresult emu_cu_fill_check(struct emu_cu_context *context, const struct emu_cu_fill_work *work);
void emu_cu_fill_do(struct emu_cu_context *context, const struct emu_cu_fill_work *work);

/* Work as the parameters of graph nodes and launches describe it. */
CUresult emu_cu_kernel_work(struct emu_cu_work *work, const CUlaunchConfig *config,
                            CUfunction function, void **params, void **extra);
CUresult emu_cu_copy_work(struct emu_cu_work *work, const CUDA_MEMCPY3D *copy);

/* ---- Streams ---- */

struct emu_cu_capture;

struct emu_cu_stream {
    struct emu_cu_object object;
    bool is_default; /* one of the two kinds that cannot be destroyed */
    bool is_legacy;
    unsigned flags;
    int priority;
    unsigned long long id, thread; /* thread: whose default stream it is */
    struct emu_cu_capture *capture;
    struct emu_cu_node **last; /* of the capture: what the next work depends on */
    size_t last_count;
    CUgraphNode *last_handles; /* the same, as cuStreamGetCaptureInfo gives them out */
};

/* Of the current context. A null handle is a default stream. Finds an invalidated capture too. */
CUresult emu_cu_stream_find(struct emu_cu_stream **stream, CUstream handle);
/* The same for work: refuses where a capture is invalid, and where the legacy stream would have to
 * wait for one that is being captured. */
CUresult emu_cu_stream_for_work(struct emu_cu_stream **stream, CUstream handle);
struct emu_cu_stream *emu_cu_stream_make(struct emu_cu_context *context);

/* ---- Captures ---- */

/* Shared by the streams that take part; freed with the last of them. */
struct emu_cu_capture {
    unsigned long long id, thread; /* thread that began it */
    CUstreamCaptureMode mode;
    bool invalid;
    struct emu_cu_graph *graph;
    struct emu_cu_stream *origin;
    size_t streams;
};

/* Success, or that a capture forbids the calling thread to wait for the device; then it is
 * invalid. */
CUresult emu_cu_capture_forbids(void);
/* The stream leaves its capture. */
void emu_cu_capture_leave(struct emu_cu_stream *stream);
void emu_cu_capture_invalidate(struct emu_cu_capture *capture);

/* ---- Graphs ---- */

struct emu_cu_node {
    struct emu_cu_object object;
    struct emu_cu_graph *graph;
    size_t index; /* among the graph's nodes */
    struct emu_cu_work work;
    struct emu_cu_node **needs;
    size_t need_count;
};

struct emu_cu_graph {
    struct emu_cu_object object;
    bool is_owned; /* by a capture or a node: not the program's to destroy */
    struct emu_cu_node **nodes;
    size_t count, room;
};

/* Takes what the work owns, also where it fails. */
CUresult emu_cu_graph_add(struct emu_cu_node **node, struct emu_cu_graph *graph,
                          struct emu_cu_node *const *needs, size_t count, struct emu_cu_work *work);
struct emu_cu_graph *emu_cu_graph_make(void);
CUresult emu_cu_graph_copy(struct emu_cu_graph **copy, const struct emu_cu_graph *graph);
/* Whether `node` is one of the `count`, or needed, however far, by one of them. */
bool emu_cu_graph_reaches(struct emu_cu_node *const *from, size_t count,
                          const struct emu_cu_node *node);

/* ---- Events ---- */

enum emu_cu_event_state { EMU_CU_EVENT_NEVER, EMU_CU_EVENT_RECORDED, EMU_CU_EVENT_CAPTURED };

struct emu_cu_event {
    struct emu_cu_object object;
    unsigned flags;
    enum emu_cu_event_state state;
    int64_t nanoseconds;
    unsigned long long capture; /* its id */
    void **nodes;               /* handles of what it stands behind */
    size_t node_count;
};

/* ---- Functions ---- */

struct emu_cu_library;

struct emu_cu_function {
    struct emu_cu_object object;
    struct emu_cu_module *module;
    struct emu_cu_function *next; /* of the module */
    int entry;
    char *name;
    struct emu_entry_info info;
    uint32_t cluster[3]; /* that it must have; 0: any */
    int max_dynamic, carveout, non_portable, policy;
};

struct emu_cu_module {
    struct emu_cu_object object;
    struct emu_program *program;
    int ptx_version; /* 10 * major + minor */
    char *text;
    struct emu_cu_library *library; /* or null */
    struct emu_cu_function *functions;
};

/* Of the current context; a kernel's handle is taken for the function that it is there. */
CUresult emu_cu_function_find(struct emu_cu_function **function, CUfunction handle);
/* Threads that a block of it may have. */
int emu_cu_function_threads(const struct emu_cu_function *function);
/* Blocks of a multiprocessor at a time. */
int emu_cu_occupancy(const struct emu_cu_function *function, int threads, size_t dynamic_bytes);
/* Grid, block, cluster and shared bytes of a launch, checked. */
CUresult emu_cu_shape(struct emu_cu_kernel_work *shape, const struct emu_cu_function *function,
                      const CUlaunchConfig *config);

#endif
