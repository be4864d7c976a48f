/* stub_state.h: what the stub's files share: the machine that is played, the objects alive on it,
 * the calls that were counted, and the lock around all of it.
 *
 * A driver has one state a process, so the stub has one too. Every exported function takes the lock
 * once, at its beginning (stub_enter, stub_lock), and everything declared here runs under it. */
#ifndef STUB_STATE_H
#define STUB_STATE_H

#include "tests/support/stub_cubin.h"
#include "tests/support/stub_cuda.h"
#include "tests/support/stub_driver.h"

#include <stdbool.h>

/* The exported form of the functions of stub_controls.def. */
#define STUB_CONTROL(result, name, arguments) STUB_API result stub_##name arguments;
#include "tests/support/stub_controls.def"
#undef STUB_CONTROL

enum stub_call {
#define STUB_CALL(symbol, since, needs) STUB_CALL_##symbol,
#include "tests/support/stub_calls.def"
#undef STUB_CALL
    STUB_CALL_COUNT
};

/* ---- Objects -----------------------------------------------------------------------------------
 *
 * A handle is a number made of the object's place and of the count of resets, never an address: it
 * is never given twice, so a handle that was destroyed is always told from one that lives. */

/* What a stream does, or a graph will do. */
struct stub_work {
    enum { STUB_LAUNCH, STUB_COPY, STUB_FILL } kind;
    struct stub_launch *launch; /* owned */
    CUdeviceptr to, from;
    size_t count; /* bytes of a copy, values of a fill */
    unsigned value, value_bytes;
};

struct stub_work_list {
    struct stub_work *items;
    size_t count, capacity;
};

enum stub_capture { STUB_NOT_CAPTURING, STUB_CAPTURING, STUB_CAPTURE_INVALID };

struct stub_object {
    enum stub_kind kind;
    bool live;
    size_t place;
    struct stub_object *context; /* that it dies with; null for contexts and graphs */
    union {
        struct {
            int device;
            bool primary;
        } context;
        struct {
            struct stub_cubin cubin;
            unsigned char *image;
        } module;
        struct {
            struct stub_object *module;
            const struct stub_kernel *kernel;
            int max_dynamic, carveout;
            bool non_portable;
        } function;
        struct {
            unsigned flags;
            enum stub_capture capture;
            CUstreamCaptureMode mode;
            const void *thread; /* that began the capture */
            struct stub_work_list captured;
        } stream;
        struct {
            unsigned flags;
            enum { STUB_NOT_RECORDED, STUB_RECORDED, STUB_CAPTURED } state;
        } event;
        struct stub_work_list graph; /* of a graph or its executable form */
        struct {
            void *memory;         /* as the host gave it */
            unsigned char *bytes; /* aligned as a device's */
            size_t size;
            int device;
        } allocation;
    } as;
};

struct stub_rule {
    enum stub_call call;
    int result, after, times;
};

enum { STUB_RULES_MAX = 64 };

struct stub_state {
    bool ready; /* set up from the environment */
    unsigned resets;
    bool initialised; /* by cuInit */

    int version, device_count;
    struct stub_device devices[STUB_DEVICES_MAX];
    size_t image_limit;
    int elapsed_us; /* between any two events */

    int log; /* file descriptor, or -1 */
    int calls[STUB_CALL_COUNT], failures[STUB_CALL_COUNT];
    struct stub_rule rules[STUB_RULES_MAX];
    int rule_count;

    struct stub_object **objects;
    size_t object_count, object_capacity;
    int live[STUB_KIND_COUNT], lost[STUB_KIND_COUNT];
    struct stub_object *primary[STUB_DEVICES_MAX]; /* null while nobody retains it */
    int retained[STUB_DEVICES_MAX];

    struct stub_launch **launches;
    size_t launch_count, launch_capacity;
    struct stub_tensor_map **maps;
    size_t map_count, map_capacity;
};

extern struct stub_state stub;

/* Takes the lock, and sets the state up at the first time. */
void stub_lock(void);
void stub_unlock(void);

/* Takes the lock, counts the call and says whether it may go on: the result that a rule asks for,
 * or what the column `needs` of stub_calls.def leads to. stub_leave() counts the result, logs it,
 * lets go of the lock and returns it. */
CUresult stub_enter(enum stub_call call);
CUresult stub_leave(enum stub_call call, CUresult result);

/* Says what is wrong with the test, and aborts. */
_Noreturn void stub_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Makes room for one more item. Returns null, and leaves the array as it is, without memory. */
void *stub_grow(void *array, size_t count, size_t *capacity, size_t item_bytes);

/* A new object that lives, zero in its part; null without memory. */
struct stub_object *stub_create(enum stub_kind kind, struct stub_object *context);
/* Ends it and frees what it holds. */
void stub_destroy(struct stub_object *object);
/* Ends a context and, as lost, everything in it. */
void stub_destroy_context(struct stub_object *context);
void *stub_handle(const struct stub_object *object);
/* Null when there is no such object alive. */
struct stub_object *stub_find(enum stub_kind kind, const void *handle);

/* The calling thread's stack of contexts; the current one is on top. */
CUresult stub_push_context(void *handle);
void *stub_pop_context(void); /* null when the stack is empty */
void *stub_current_handle(void);
/* Null if there is none, or if it was destroyed. */
struct stub_object *stub_current(void);
/* Tells threads apart: an address of the calling thread's own. */
const void *stub_thread(void);

#endif
