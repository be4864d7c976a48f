/* lathe.h: tensor-core kernels written, linked, cached and launched at run time.
 *
 * The way of a kernel is one straight line, and every noun on it is a value that can be looked at,
 * kept and changed:
 *
 *     problem --plan--> plan --emit--> kernel text --build--> image --load--> function --launch-->
 *
 *   problem    what is asked: sizes, types, strides             struct lathe_gemm
 *   plan       how it is done: every choice a named field       struct lathe_plan
 *   kernel     annotated PTX text and its launch contract       struct lathe_kernel
 *   image      the cubin that nvJitLink made of it              struct lathe_image
 *   function   the image loaded on a device, ready to launch    struct lathe_function
 *
 * Planning and emitting need no GPU, no CUDA and no context. A context owns everything else.
 * lathe_gemm_get() walks the whole line in one call and remembers the result.
 *
 * Conventions
 *   - Every function that can fail returns a status; LATHE_OK is 0. The last parameter, where there
 *     is one, may point to a struct lathe_error of the caller's (or be null): it receives one line
 *     that says what was asked, which rule it broke and what would work. Outputs come first and are
 *     untouched when a call fails.
 *   - Where a comment lists errors, those are the ones to expect; any call may also give
 *     LATHE_OUT_OF_MEMORY, and LATHE_MISUSED for a null that is not allowed. "May be null" says
 *     where null is allowed; functions that return no status (accessors, and printers but for
 *     their buffer) take none.
 *   - Structs with a `struct_size` are made with their _INIT macro, so that a later header with
 * more fields breaks nobody. In C the macro of the same name in lower case makes one in place:
 *     lathe_gemm(.m = 4096, .n = 4096, .k = 4096). A field left at zero means "the default".
 *   - Objects made by a call are freed by the call of the same noun that ends in _destroy; it takes
 *     the handle's address, accepts null and clears the handle.
 *   - The library never prints, exits or aborts, and keeps no state outside a context.
 *   - Threads: values may be used by one thread at a time; kernels and images never change once
 *     made; contexts and functions may be used by any number of threads at once. */
#ifndef LATHE_H
#define LATHE_H

#include <stddef.h>
#include <stdint.h>

#define LATHE_VERSION_MAJOR 0
#define LATHE_VERSION_MINOR 1
#define LATHE_VERSION_PATCH 0

#if defined(__GNUC__)
#define LATHE_API __attribute__((visibility("default")))
#else
#define LATHE_API
#endif

/* Initialisers: all fields zero but the first. C++ before 20 has no designated initialisers. */
#ifdef __cplusplus
#define LATHE_INIT_(name) lathe_init_<struct name>()
template <typename T> static inline T lathe_init_()
{
    T value = T();
    value.struct_size = sizeof(T);
    return value;
}
extern "C" {
#else
#define LATHE_INIT_(name)                                                                          \
    {                                                                                              \
        .struct_size = sizeof(struct name)                                                         \
    }
#endif

/* The version of the library that runs, such as "0.1.0"; the macros above are the header's. */
LATHE_API const char *lathe_version(void);

/* ---- Errors -----------------------------------------------------------------------------------
 */

enum lathe_status {
    LATHE_OK = 0,
    LATHE_BAD_WORD,      /* an unknown key or value in a text; the nearest right one is named   */
    LATHE_OUT_OF_RANGE,  /* a value outside what its field can ever hold                        */
    LATHE_UNSUPPORTED,   /* understood, but no kernel of this version can do it                 */
    LATHE_DOES_NOT_FIT,  /* the plan breaks its budget; see needs_bytes, limit_bytes, fits_with */
    LATHE_OUT_OF_MEMORY, /* of the host or of the device                                        */
    LATHE_NO_DRIVER,     /* libcuda.so.1 was not found, or is too old                           */
    LATHE_NO_DEVICE,     /* no such GPU, or not one that the plan is for                        */
    LATHE_NO_LIBRARY,    /* nvJitLink, NVRTC or cuBLASLt was not found, or is too old           */
    LATHE_LINK_FAILED,   /* the linker refused the text; the message has its first words        */
    LATHE_DRIVER_FAILED, /* a call to the CUDA driver returned an error                         */
    LATHE_IO_FAILED,     /* a file could not be read or written                                 */
    LATHE_MISUSED,       /* a call that breaks the rules of this header, such as a null problem */
    LATHE_INTERNAL       /* a mistake of the library's own; please report it                    */
};

/* The status as a word for programs: "ok", "bad-word", "does-not-fit" ... Never null. */
LATHE_API const char *lathe_status_name(enum lathe_status status);

enum { LATHE_MESSAGE_SIZE = 512, LATHE_FITS_MAX = 8, LATHE_WORDS_SIZE = 96 };

/* Filled by a failing call. The first cause wins; nothing in it needs freeing. */
struct lathe_error {
    enum lathe_status status;
    char message[LATHE_MESSAGE_SIZE]; /* one line, without a final newline */

    /* For LATHE_DOES_NOT_FIT where bytes are what is short, else 0. */
    int64_t needs_bytes, limit_bytes;

    /* Sets of words that would make it fit: each, appended to the words of the same request,
     * gives a plan that can exist. */
    int fits_count;
    char fits_with[LATHE_FITS_MAX][LATHE_WORDS_SIZE];
};

/* ---- Memory and messages of the library --------------------------------------------------------
 */

/* Where the library gets host memory. All three are set, or the pointer to the struct is null and
 * malloc, realloc and free are used. They may be called from any thread. */
struct lathe_allocator {
    void *(*allocate)(void *user, size_t bytes);
    void *(*reallocate)(void *user, void *pointer, size_t bytes);
    void (*release)(void *user, void *pointer);
    void *user;
};

enum lathe_log_level {
    LATHE_LOG_DEBUG,  /* a kernel came from the cache */
    LATHE_LOG_INFO,   /* a kernel was linked          */
    LATHE_LOG_WARNING /* what went differently from what one would expect although the call
                       * succeeded: a cache that could not be used, a spill */
};

/* One line, without a newline. May be called from any thread, also while the context is being made;
 * it must not ask the context for a kernel. */
typedef void (*lathe_log_callback)(void *user, enum lathe_log_level level, const char *line);

/* ---- Problem -----------------------------------------------------------------------------------
 */

/* Element types. The words in requests are: f16 bf16 f32 tf32 e4m3 e5m2 int8 s32.
 * An element of tf32 is an f32 of which the tensor cores use the upper 19 bits; it is rounded to
 * them, to nearest even, on its way. e4m3 and e5m2 as `out` saturate: what is too large, infinity
 * too, becomes 448 or 57344. int8 is signed, and its sums are of s32, exact, and wrap. */
enum lathe_type {
    LATHE_TYPE_DEFAULT = 0,
    LATHE_F16,
    LATHE_BF16,
    LATHE_F32,
    LATHE_TF32,
    LATHE_E4M3,
    LATHE_E5M2,
    LATHE_INT8,
    LATHE_S32
};

/* Bytes of one element; 0 for LATHE_TYPE_DEFAULT. */
LATHE_API int lathe_type_bytes(enum lathe_type type);
/* The word for it: "f16" ... Never null. */
LATHE_API const char *lathe_type_name(enum lathe_type type);

/* The layouts of A and B, one letter each: t when its rows run along k. */
enum lathe_layout {
    LATHE_LAYOUT_DEFAULT = 0, /* tn */
    LATHE_TN,                 /* A is m x k and B is n x k, both with k contiguous */
    LATHE_NN,                 /* A is k x m with m contiguous, B is n x k          */
    LATHE_NT,                 /* A is k x m, B is k x n                            */
    LATHE_TT                  /* A is m x k, B is k x n                            */
};

/* Whether the kernel can add beta * C. A kernel made for LATHE_BETA_ZERO has no path for C at all.
 */
enum lathe_beta { LATHE_BETA_DEFAULT = 0, LATHE_BETA_ZERO, LATHE_BETA_ANY };

/* Which sizes are baked into the kernel; the others are given at launch. */
enum lathe_static { LATHE_STATIC_NONE = 0, LATHE_STATIC_K, LATHE_STATIC_MNK };

/* D = alpha * A * B^T + beta * C, each matrix row-major with its own distance between rows.
 * m, n, k from 0 upwards: k = 0 gives beta * C, m = 0 or n = 0 gives nothing to do. */
struct lathe_gemm {
    size_t struct_size;
    int64_t m, n, k;            /* elements                                                       */
    enum lathe_type type;       /* of A and B; default f16                                        */
    enum lathe_type out;        /* of C and D; default: as type; of tf32, e4m3, e5m2 f32; of int8
                                 * s32                                                            */
    enum lathe_layout layout;   /* default tn                                                     */
    enum lathe_beta beta;       /* default LATHE_BETA_ZERO                                        */
    enum lathe_static statics;  /* default none                                                   */
    int64_t lda, ldb, ldc, ldd; /* elements between the starts of two rows; 0: packed            */
};
#define LATHE_GEMM_INIT LATHE_INIT_(lathe_gemm)

/* ---- Plan --------------------------------------------------------------------------------------
 */

enum lathe_family { LATHE_FAMILY_NONE = 0, LATHE_GEMM };

/* Target architectures. The words are sm_80 ... sm_120a. */
enum lathe_arch {
    LATHE_ARCH_DEFAULT = 0, /* of lathe_gemm_get(): the device's; of plans without a context: that
                             * of the variant that is named, else sm_100a */
    LATHE_SM_80,
    LATHE_SM_86,
    LATHE_SM_89,
    LATHE_SM_90A,
    LATHE_SM_100A,
    LATHE_SM_103A,
    LATHE_SM_110A,
    LATHE_SM_120A
};
/* "sm_90a" ... Never null. */
LATHE_API const char *lathe_arch_name(enum lathe_arch arch);

/* Who copies tiles between global and shared memory. */
enum lathe_copy {
    LATHE_COPY_DEFAULT = 0,
    LATHE_COPY_THREADS, /* every thread some of it, through registers */
    LATHE_COPY_TMA      /* the copy engine, at one thread's word      */
};

/* How loading, multiplying and storing take turns. */
enum lathe_flow {
    LATHE_FLOW_DEFAULT = 0,
    LATHE_STEPWISE,   /* one after the other; each step of k begins with a barrier made anew */
    LATHE_SERIAL,     /* one after the other; barriers go on by their phase                  */
    LATHE_PIPELINED,  /* the same threads load some steps ahead of the MMA                   */
    LATHE_SPECIALISED /* warps of their own for each, which meet at barriers                 */
};

/* What multiplies. */
enum lathe_mma {
    LATHE_MMA_DEFAULT = 0,
    LATHE_MMA_SYNC, /* a warp at a time, from registers (mma.sync)                           */
    LATHE_MMA_WGMMA /* four warps together, from shared memory, beside other instructions    */
};

/* What is known of the stage that a step of k is in when the text is written. */
enum lathe_stage_index {
    LATHE_STAGE_INDEX_DEFAULT = 0,
    LATHE_STAGE_RUNTIME, /* nothing: the step's number says where the stage is              */
    LATHE_STAGE_CONSTANT /* all: a turn of the loop has a step for each stage                */
};

/* How CTAs come by tiles. */
enum lathe_schedule {
    LATHE_SCHEDULE_DEFAULT = 0,
    LATHE_PERSISTENT, /* as many CTAs as the device holds; each walks the tiles with that stride */
    LATHE_SINGLE,     /* one CTA, or one pair, walks them all                                   */
    LATHE_GRID,       /* a CTA, or a pair, for each; row by row                                 */
    LATHE_DYNAMIC,    /* those that run ask for the next one (cluster launch control)           */
    LATHE_GROUPED     /* a CTA for each; column by column through groups of `raster` rows       */
};

enum lathe_switch { LATHE_SWITCH_DEFAULT = 0, LATHE_ON, LATHE_OFF };

enum { LATHE_NAME_SIZE = 48, LATHE_TENANTS_MAX = 8 };

/* The fields that the caller decides; what is left at zero is the planner's choice. A field that is
 * named never shrinks another: what does not fit is refused, with what would fit. */
struct lathe_plan_options {
    size_t struct_size;
    enum lathe_arch arch;
    char variant[LATHE_NAME_SIZE]; /* a preset, such as "hopper-best"                           */
    int tile[3];                   /* m, n, k that one CTA makes at a time                      */
    int cluster[3];                /* CTAs of a cluster along m, along n, and 1                 */
    int cta_group;                 /* CTAs that share one MMA                                   */
    int stages;                    /* depth of the ring of A and B tiles                        */
    int consumers;                 /* warpgroups that multiply, or whose accumulators are stored */
    enum lathe_schedule schedule;
    int raster;                 /* rows of tiles that are walked together (a launch value)   */
    int epilogue[3];            /* rows, columns, buffers of the staging of a CTA            */
    int split;                  /* CTAs that share the k of one tile                         */
    int regs[2];                /* registers per thread of the producer and of the consumers */
    enum lathe_switch annotate; /* comments in the text; default on                          */
    int sms;                    /* multiprocessors to plan for; 0: the architecture's usual  */

    /* Later than the first header. */
    int acc_stages; /* accumulators that take turns in tensor memory */
    enum lathe_copy load, store;
    enum lathe_flow flow;

    /* Later still; of sm_90a. */
    enum lathe_mma mma;
    enum lathe_type acc; /* of the sums                                         */
    enum lathe_stage_index stage_index;
    int mma_groups; /* of wgmma that run at a time                          */
};
#define LATHE_PLAN_OPTIONS_INIT LATHE_INIT_(lathe_plan_options)

/* One part of a CTA's shared memory, in the order of their offsets. */
struct lathe_tenant {
    char name[24];
    int bytes;
    int offset;
};

/* Every choice that decides a kernel's text, and the budget that follows from them. A plain value:
 * no pointers, comparable, printable. Made by lathe_plan_gemm(); a caller who changes a field calls
 * lathe_plan_check() before using it. */
struct lathe_plan {
    size_t struct_size;
    enum lathe_family family;
    enum lathe_arch arch;
    char variant[LATHE_NAME_SIZE]; /* the preset, or "custom(from PRESET)" */

    /* From the problem, since they decide the text. */
    enum lathe_type type, out;
    enum lathe_layout layout;
    enum lathe_beta beta;
    enum lathe_static statics;
    int64_t static_size[3]; /* m, n, k where baked in, else -1 */

    /* The choices. */
    int tile[3], cluster[3];
    int cta_group, stages, consumers;
    enum lathe_schedule schedule;
    int raster;
    int epilogue[3];
    int split;
    int regs[2];
    enum lathe_switch annotate;
    int sms;

    /* What follows from them: lathe_plan_check() works these out again. */
    int threads;      /* of one CTA                              */
    int tenant_count; /* shared memory of one CTA ...            */
    struct lathe_tenant tenants[LATHE_TENANTS_MAX];
    int smem_bytes, smem_limit; /* ... their sum, and the most there can be */
    int tmem_columns;           /* tensor memory of one CTA; 0 where none  */
    int registers;              /* per thread at launch                     */
    int accumulators;           /* of them, a consumer thread's sums        */

    /* What the planner says of it; 0 and empty after lathe_plan_parse(), which knows no problem. */
    int64_t predicted_ns; /* estimate for the problem; 0: none */
    char reason[160];     /* why this plan, in one line */

    /* Choices later than the first header. A plan whose struct has no room for them is checked and
     * emitted as its variant has them. */
    int acc_stages;
    enum lathe_copy load, store;
    enum lathe_flow flow;

    /* Of sm_90a; 0 elsewhere. */
    enum lathe_mma mma;
    enum lathe_type acc;
    enum lathe_stage_index stage_index;
    int mma_groups;
};
#define LATHE_PLAN_INIT LATHE_INIT_(lathe_plan)

/* Chooses a plan for the problem. `options` may be null. Deterministic: the same problem, options
 * and library version give the same plan on every machine.
 * Errors: LATHE_OUT_OF_RANGE, LATHE_UNSUPPORTED (a stride, type or layout that no kernel takes yet;
 * the message names the nearest that works), LATHE_DOES_NOT_FIT. */
LATHE_API enum lathe_status lathe_plan_gemm(struct lathe_plan *plan,
                                            const struct lathe_gemm *problem,
                                            const struct lathe_plan_options *options,
                                            struct lathe_error *err);

/* Says whether the plan can exist, and fills in what follows from its choices.
 * Errors: LATHE_OUT_OF_RANGE, LATHE_BAD_WORD (a variant that is not), LATHE_UNSUPPORTED,
 * LATHE_DOES_NOT_FIT. */
LATHE_API enum lathe_status lathe_plan_check(struct lathe_plan *plan, struct lathe_error *err);

/* Writes the plan as the words that name every field ("arch=sm_90a variant=hopper-best ...") or as
 * one JSON object into `buffer`, as snprintf does: at most `size` bytes with the final NUL, and the
 * length that the whole has is returned. A changed preset keeps its blank among the words too:
 * "variant=custom(from hopper-best)". */
LATHE_API size_t lathe_plan_words(const struct lathe_plan *plan, char *buffer, size_t size);
LATHE_API size_t lathe_plan_json(const struct lathe_plan *plan, char *buffer, size_t size);

/* Reads what lathe_plan_words() or lathe_plan_json() wrote (told apart by the first character) and
 * checks it: what follows from the choices is worked out again, never believed. All fields must be
 * there; predicted_ns and reason are the planner's own, about a problem that the plan does not
 * hold: they are no words, and the plan that is read has neither. Errors: LATHE_BAD_WORD, and those
 * of lathe_plan_check(). */
LATHE_API enum lathe_status lathe_plan_parse(struct lathe_plan *plan, const char *text,
                                             struct lathe_error *err);

/* ---- Requests as text --------------------------------------------------------------------------
 */

/* A problem and the plan fields named with it, as key=value words give them. */
struct lathe_request {
    size_t struct_size; /* the structs within grow with the header: compile what uses it anew */
    enum lathe_family family;
    struct lathe_gemm gemm;
    struct lathe_plan_options plan;
};
#define LATHE_REQUEST_INIT                                                                         \
    {                                                                                              \
        sizeof(struct lathe_request), LATHE_FAMILY_NONE, LATHE_GEMM_INIT, LATHE_PLAN_OPTIONS_INIT  \
    }

/* Sets one field by its word: "m" "4096", "type" "bf16", "tile" "128x256x64" ...
 * Errors: LATHE_BAD_WORD (unknown key or value, with the nearest right one), LATHE_OUT_OF_RANGE. */
LATHE_API enum lathe_status lathe_request_set(struct lathe_request *request, const char *key,
                                              const char *value, struct lathe_error *err);

/* Reads "gemm", "m=4096", "n=4096" ...; the first word is the family. A key that is given twice
 * holds as given last. Sizes that the family needs must be there.
 * Errors: LATHE_BAD_WORD, LATHE_OUT_OF_RANGE. */
LATHE_API enum lathe_status lathe_request_parse(struct lathe_request *request, int count,
                                                const char *const *words, struct lathe_error *err);

/* Writes the problem of the request and every field that it names, as words. As snprintf. */
LATHE_API size_t lathe_request_words(const struct lathe_request *request, char *buffer,
                                     size_t size);

/* ---- Kernel text and launch contract -----------------------------------------------------------
 */

enum lathe_operand { LATHE_A, LATHE_B, LATHE_C, LATHE_D };

/* What a kernel parameter holds. */
enum lathe_param_kind {
    LATHE_PARAM_TENSOR_MAP, /* 128 bytes by value, aligned to 64                    */
    LATHE_PARAM_M,          /* u32: the sizes of the problem                        */
    LATHE_PARAM_N,
    LATHE_PARAM_K,
    LATHE_PARAM_WALK,  /* struct lathe_walk: see lathe_contract_walk()         */
    LATHE_PARAM_ALPHA, /* f32                                                  */
    LATHE_PARAM_BETA,  /* f32; C is not read when it is 0                      */
    LATHE_PARAM_D,     /* u64: the address of D                                */
    LATHE_PARAM_LDD,   /* u64: elements between the starts of two rows of D    */
    LATHE_PARAM_C,     /* u64: the address of C; any where beta is 0           */
    LATHE_PARAM_LDC,   /* u64: elements between the starts of two rows of C    */
    LATHE_PARAM_A,     /* u64: the addresses of A and of B, and elements between the starts of two
                          of their rows, where threads copy them */
    LATHE_PARAM_LDA,
    LATHE_PARAM_B,
    LATHE_PARAM_LDB
};

struct lathe_param {
    char name[24];
    enum lathe_param_kind kind;
    int bytes;
    int tensor_map; /* index into tensor_maps for LATHE_PARAM_TENSOR_MAP, else -1 */
};

/* How to encode one tensor map (cuTensorMapEncodeTiled, rank 2, interleave none, element strides 1,
 * zeros outside). The inner dimension is the contiguous one: k of A and B, n of C and D; the outer
 * is m of A, C and D, n of B, with the operand's distance between rows in bytes. The inner size is
 * rounded down to a multiple of inner_multiple; a size of 0 is then encoded as 1. With
 * outer_multiple the box has no more rows than the matrix, rounded up to a multiple of it. With k =
 * 0 the kernel reads nothing of A and B, and any aligned address will do. */
struct lathe_tensor_map {
    char name[24]; /* the parameter */
    enum lathe_operand operand;
    enum lathe_type type;
    int box[2];          /* elements along the inner, rows along the outer dimension */
    int swizzle_bytes;   /* 0 (none), 32, 64 or 128 */
    int promotion_bytes; /* L2 promotion */
    int inner_multiple;  /* 1, but for what is written: TMA writes whole 16 bytes, so the kernel
                          * itself stores the columns beyond this multiple */
    int outer_multiple;  /* 0: the box as it is; else no more rows than there are, rounded up to
                          * this: fetching rows that are not there takes TMA longer */
};

enum { LATHE_PARAMS_MAX = 16, LATHE_TENSOR_MAPS_MAX = 8 };

/* Everything that a launch needs, as data: with it and the cubin, plain driver calls suffice, and
 * for the one parameter that is arithmetic lathe_contract_walk(), or the rules written there.
 * Block and shared memory as given. Grid: {cluster[0] * c, cluster[1], 1}. With `one_tile` c is the
 * number of cluster tiles, ceil(m / cluster_tile[0]) * ceil(n / cluster_tile[1]); else any from 1
 * to that number, or to `most_clusters` where this is not 0: the work is shared among however many
 * there are, and one cluster a place on the device is best. */
struct lathe_contract {
    char name[96]; /* of the entry */
    enum lathe_arch arch;
    int block[3], cluster[3];
    int smem_bytes;      /* dynamic */
    int cluster_tile[2]; /* rows and columns of D that one cluster makes at a time */
    int param_count;
    struct lathe_param params[LATHE_PARAMS_MAX];
    int tensor_map_count;
    struct lathe_tensor_map tensor_maps[LATHE_TENSOR_MAPS_MAX];

    /* Known once linked; -1 before. */
    int registers, spill_bytes, warnings;

    int one_tile;      /* 1: the grid has a cluster for each tile; those that run may take over
                        * tiles of those that have not begun (schedule=dynamic) */
    int most_clusters; /* of the grid, where there is a limit; 0: none */
};

/* Divides without a division: x / d is (umulhi(x, factor) + x) >> shift, for any x below 2^31.
 * With l = ceil(log2(d)), factor is 2^32 * (2^l - d) / d + 1, rounded down, and shift is l. Source:
 * Granlund and Montgomery, "Division by Invariant Integers using Multiplication", PLDI 1994, 4. */
struct lathe_divisor {
    uint32_t factor, shift;
};

/* In which order the tiles of D (lathe_contract.cluster_tile) are made: groups of `raster` rows of
 * tiles are walked column by column. Worked out once a launch, since a kernel would divide for
 * every tile. Of an empty D all but `tiles` is unused. */
struct lathe_walk {
    uint32_t tiles;
    uint32_t tiles_m;     /* rows of them                      */
    uint32_t raster;      /* rows of a group, at most tiles_m  */
    uint32_t group_tiles; /* raster times the columns of tiles */
    struct lathe_divisor by_group_tiles, by_raster;
    struct lathe_divisor by_last_rows; /* of the last group, which may have fewer than raster */
};

/* The value of LATHE_PARAM_WALK for a D of m x n, which may be empty. `raster` may be any number
 * from 1; which is fastest depends on the sizes, and lathe_plan.raster is a good one.
 * Errors: LATHE_MISUSED, LATHE_OUT_OF_RANGE, LATHE_UNSUPPORTED (more tiles than kernels count). */
LATHE_API enum lathe_status lathe_contract_walk(const struct lathe_contract *contract, int64_t m,
                                                int64_t n, int raster, struct lathe_walk *walk,
                                                struct lathe_error *err);

/* One JSON object; as snprintf. */
LATHE_API size_t lathe_contract_json(const struct lathe_contract *contract, char *buffer,
                                     size_t size);

struct lathe_kernel;

/* Writes the text for a plan. `allocator` may be null.
 * Errors: those of lathe_plan_check(), LATHE_OUT_OF_MEMORY. */
LATHE_API enum lathe_status lathe_emit(struct lathe_kernel **kernel, const struct lathe_plan *plan,
                                       const struct lathe_allocator *allocator,
                                       struct lathe_error *err);
/* PTX, ASCII, ended by NUL; `length` (may be null) receives the bytes before it. */
LATHE_API const char *lathe_kernel_text(const struct lathe_kernel *kernel, size_t *length);
LATHE_API const struct lathe_plan *lathe_kernel_plan(const struct lathe_kernel *kernel);
LATHE_API const struct lathe_contract *lathe_kernel_contract(const struct lathe_kernel *kernel);
/* A copy whose text was changed by hand: to try something, or to break it on purpose. Plan and
 * contract stay, so the text must keep the entry's name and parameters. Nothing checks the rest.
 * Errors: LATHE_MISUSED (the entry's name does not occur), LATHE_OUT_OF_MEMORY. */
LATHE_API enum lathe_status lathe_kernel_edit(struct lathe_kernel **edited,
                                              const struct lathe_kernel *kernel, const char *text,
                                              struct lathe_error *err);
LATHE_API void lathe_kernel_destroy(struct lathe_kernel **kernel);

/* ---- Context -----------------------------------------------------------------------------------
 */

/* The caller's own cache in place of the directory. `load` returns the bytes that `store` was given
 * for the same key, allocated with the context's allocator (or malloc), or null; they are checked
 * before use, so it may return anything. Called from any thread, for one key by one thread at a
 * time within a context. */
struct lathe_cache_callbacks {
    void *(*load)(void *user, const char *key, size_t *bytes);
    void (*store)(void *user, const char *key, const void *data, size_t bytes);
    void *user;
};

/* Whether the CPU stands in for a GPU: libcuda-emu.so, beside this library or in the loader's path,
 * or as LATHE_EMU_LIBRARY names it. It runs the kernels' text; nothing is linked or cached. */
enum lathe_emulator_use {
    LATHE_EMULATOR_NEVER,
    LATHE_EMULATOR_WITHOUT_GPU, /* where there is no driver, or it finds no GPU */
    LATHE_EMULATOR_ALWAYS
};

struct lathe_context_options {
    size_t struct_size;
    int device;                /* ordinal + 1; 0: the device of the CUDA context below, else the
                                * first */
    void *cuda_context;        /* a CUcontext to live in, which must outlive this context; null: the
                                * one that is current when the device is first looked at, if it is
                                * of that device, else the device's primary one */
    enum lathe_switch cache;   /* keep cubins on disk; default on, unless LATHE_CACHE=off        */
    const char *cache_dir;     /* null: LATHE_CACHE_DIR, XDG_CACHE_HOME, HOME, password file     */
    int64_t cache_limit_bytes; /* 0: LATHE_CACHE_LIMIT, else 1 GiB */
    const struct lathe_cache_callbacks *cache_callbacks;
    const char *driver_library; /* null: LATHE_CUDA_LIBRARY, else libcuda.so.1 */
    const char *linker_library; /* null: LATHE_NVJITLINK_LIBRARY, else found   */
    const struct lathe_allocator *allocator;
    lathe_log_callback log;
    void *log_user;
    enum lathe_emulator_use emulator;
    enum lathe_arch emulated_arch; /* of the emulator's device; default: that of plans, or where it
                                    * has none the first that kernels are for */
};
#define LATHE_CONTEXT_OPTIONS_INIT LATHE_INIT_(lathe_context_options)

struct lathe_context;

/* Makes a context; touches no device, library or file yet, but reads the environment: the variables
 * that `lathe help` lists. `options` may be null; what its strings say is copied.
 * Errors: LATHE_OUT_OF_RANGE, LATHE_MISUSED (an allocator or callbacks that lack a function). */
LATHE_API enum lathe_status lathe_context_create(struct lathe_context **context,
                                                 const struct lathe_context_options *options,
                                                 struct lathe_error *err);
/* Frees the context and every function got from it. None of them may be in use, nor be launched
 * again by a graph that captured them; work that was launched goes on. Images and kernels stay. */
LATHE_API void lathe_context_destroy(struct lathe_context **context);

/* The architecture of the context's device, and how many multiprocessors it has: what a plan for it
 * is made with. No CUDA context is made for it. Errors: LATHE_NO_DRIVER, LATHE_NO_DEVICE,
 * LATHE_DRIVER_FAILED, LATHE_MISUSED (a cuda_context of another device than the one named). */
LATHE_API enum lathe_status lathe_context_arch(struct lathe_context *context, enum lathe_arch *arch,
                                               struct lathe_error *err);
LATHE_API enum lathe_status lathe_context_sms(struct lathe_context *context, int *sms,
                                              struct lathe_error *err);

/* ---- Image -------------------------------------------------------------------------------------
 */

enum lathe_cache_result { LATHE_CACHE_OFF, LATHE_CACHE_MISS, LATHE_CACHE_HIT };

struct lathe_image;

/* The cubin of a kernel: from the cache when it is there, else linked with nvJitLink and kept.
 * Needs no GPU. Errors: LATHE_NO_LIBRARY, LATHE_LINK_FAILED, LATHE_OUT_OF_MEMORY. */
LATHE_API enum lathe_status lathe_build(struct lathe_context *context, struct lathe_image **image,
                                        const struct lathe_kernel *kernel, struct lathe_error *err);
LATHE_API const void *lathe_image_cubin(const struct lathe_image *image, size_t *bytes);
/* The kernel's contract, with registers, spills and the number of warnings filled in. */
LATHE_API const struct lathe_contract *lathe_image_contract(const struct lathe_image *image);
LATHE_API const struct lathe_plan *lathe_image_plan(const struct lathe_image *image);
/* The linker's warnings, a line each; empty when there are none. */
LATHE_API const char *lathe_image_warnings(const struct lathe_image *image);
LATHE_API enum lathe_cache_result lathe_image_cache(const struct lathe_image *image);
/* Milliseconds spent in the linker; 0 on a hit. */
LATHE_API double lathe_image_link_ms(const struct lathe_image *image);
LATHE_API void lathe_image_destroy(struct lathe_image **image);

/* ---- Function and launch -----------------------------------------------------------------------
 */

struct lathe_function;

/* The whole way: plan, emit, cache or link, load on the context's device. The same problem and
 * options again return the same function from memory, without planning. Owned by the context, which
 * keeps a plan for each distinct problem that it was asked for (about a kilobyte), and one module
 * for all whose text is the same. `options` may be null. Any number of threads may ask at once; the
 * first compiles, the others wait for it.
 * Errors: those of lathe_plan_gemm(), lathe_build() and lathe_load(). */
LATHE_API enum lathe_status lathe_gemm_get(struct lathe_context *context,
                                           struct lathe_function **function,
                                           const struct lathe_gemm *problem,
                                           const struct lathe_plan_options *options,
                                           struct lathe_error *err);

/* Loads an image that lathe_build() made. Owned by the context; the image may be destroyed. Errors:
 * LATHE_NO_DRIVER, LATHE_NO_DEVICE (none, or another architecture), LATHE_DRIVER_FAILED. */
LATHE_API enum lathe_status lathe_load(struct lathe_context *context,
                                       struct lathe_function **function,
                                       const struct lathe_image *image, struct lathe_error *err);

/* The same for a kernel of lathe_emit() or lathe_kernel_edit(): from the cache, or linked; the
 * emulator runs its text as it stands. The kernel may be destroyed. Errors: those of lathe_build()
 * and lathe_load(). */
LATHE_API enum lathe_status lathe_load_kernel(struct lathe_context *context,
                                              struct lathe_function **function,
                                              const struct lathe_kernel *kernel,
                                              struct lathe_error *err);

/* Prepares a list of problems with up to `threads` threads (0: one for each core) and waits.
 * `options` is null or one entry for each problem. All are tried; the first error in list order is
 * reported. Errors: those of lathe_gemm_get(). */
LATHE_API enum lathe_status lathe_gemm_prepare(struct lathe_context *context, size_t count,
                                               const struct lathe_gemm *problems,
                                               const struct lathe_plan_options *options,
                                               int threads, struct lathe_error *err);

LATHE_API const struct lathe_plan *lathe_function_plan(const struct lathe_function *function);
LATHE_API const struct lathe_contract *lathe_function_contract(
    const struct lathe_function *function);
/* How the image was come by, and what it cost. */
LATHE_API enum lathe_cache_result lathe_function_cache(const struct lathe_function *function);
LATHE_API double lathe_function_emit_us(const struct lathe_function *function);
LATHE_API double lathe_function_link_ms(const struct lathe_function *function);
LATHE_API double lathe_function_load_ms(const struct lathe_function *function);

/* One launch. Pointers are device addresses, aligned to 16 bytes; sizes that the kernel has baked
 * in must be the same again. Any sizes the plan can serve may follow one another. */
struct lathe_gemm_args {
    size_t struct_size;
    int64_t m, n, k;
    int64_t lda, ldb, ldc, ldd; /* elements; 0: packed                              */
    uint64_t a, b, c, d;        /* c is not used when beta is 0                     */
    float alpha, beta;          /* the initialiser sets 1 and 0; whole for s32      */
    int raster;                 /* 0: the plan's                                    */
    void *stream;               /* CUstream; null: the default stream               */
};
#ifdef __cplusplus
#define LATHE_GEMM_ARGS_INIT lathe_gemm_args_init_()
#else
#define LATHE_GEMM_ARGS_INIT                                                                       \
    {                                                                                              \
        .struct_size = sizeof(struct lathe_gemm_args), .alpha = 1.0f                               \
    }
#endif

/* Enqueues D = alpha * A * B^T + beta * C and returns. Makes no driver call that could wait, so it
 * may be captured into a graph. The caller's current CUDA context is the same afterwards.
 * Where D is of s32, alpha and beta must be whole numbers from -2^31 to below 2^31, and D has the
 * low 32 bits of what they give.
 * C and D may be one buffer with the same row distance; other overlaps that can be seen are
 * refused. Errors: LATHE_MISUSED (alignment, overlap, a baked-in size), LATHE_OUT_OF_RANGE (a size,
 * a factor of s32), LATHE_UNSUPPORTED (a stride), LATHE_DRIVER_FAILED. */
LATHE_API enum lathe_status lathe_gemm_launch(struct lathe_function *function,
                                              const struct lathe_gemm_args *args,
                                              struct lathe_error *err);

#ifdef __cplusplus
} /* extern "C" */
static inline struct lathe_gemm_args lathe_gemm_args_init_()
{
    struct lathe_gemm_args args = LATHE_INIT_(lathe_gemm_args);
    args.alpha = 1.0f;
    return args;
}
#else
/* A pointer to a value made in place; it lives as long as the enclosing block. */
#define lathe_gemm(...)                                                                            \
    (&(const struct lathe_gemm){.struct_size = sizeof(struct lathe_gemm), __VA_ARGS__})
#define lathe_plan_options(...)                                                                    \
    (&(const struct lathe_plan_options){.struct_size = sizeof(struct lathe_plan_options),          \
                                        __VA_ARGS__})
#define lathe_context_options(...)                                                                 \
    (&(const struct lathe_context_options){.struct_size = sizeof(struct lathe_context_options),    \
                                           __VA_ARGS__})
#endif

#endif /* LATHE_H */
