/* lathe_tools.h: what the command `lathe` needs beyond lathe.h. Public, but not promised: it may
 * change with any release. */
#ifndef LATHE_TOOLS_H
#define LATHE_TOOLS_H

#include "lathe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What there is ---- */

/* The candidate nearest to a mistyped word, or null. */
LATHE_API const char *lathe_nearest(const char *word, const char *const *candidates, size_t count);

/* One key of a request. `values` lists the words it takes, or describes them ("MxNxK"). */
struct lathe_field_info {
    const char *key;
    char values[96];
    const char *fallback;
    const char *doc;
    int of_plan; /* 1: a field of the plan, 0: of the problem */
};
/* 0 when there is no such index. */
LATHE_API int lathe_field_at(size_t index, struct lathe_field_info *info);

struct lathe_variant_info {
    const char *name, *ladder_name, *doc;
    enum lathe_family family;
    enum lathe_arch arch; /* the first of those that it is for          */
};
LATHE_API int lathe_variant_at(size_t index, struct lathe_variant_info *info);

/* What plans with this variant, or "custom(from VARIANT)", are made for where no architecture is
 * named and no device is at hand: sm_100a if the variant is for it, else the first that it is for.
 * Of a name that is no variant, the empty one too: sm_100a. */
LATHE_API enum lathe_arch lathe_variant_arch(const char *variant);

struct lathe_arch_info {
    const char *name;
    int has_kernels, smem_bytes, sms, tmem_columns;
};
LATHE_API int lathe_arch_at(size_t index, struct lathe_arch_info *info);

/* Words of plans that stand for all of the persistent kernels for sm_90a (tiles, stages, clusters,
 * types, outputs, beta); each, appended to "gemm m=4096 n=4096 k=4096", plans, emits and links
 * without spills or warnings. */
LATHE_API int lathe_legal_plan_at(size_t index, char *words, size_t size);

/* An environment variable that a context reads when it is made. */
struct lathe_variable_info {
    const char *name, *doc;
};
LATHE_API int lathe_variable_at(size_t index, struct lathe_variable_info *info);

/* Digits, and K, M or G for powers of 1024: how LATHE_CACHE_LIMIT is read. 0, and `bytes` as it
 * was, for any other text and beyond what 63 bits hold. */
LATHE_API int lathe_bytes_parse(const char *text, int64_t *bytes);

/* "232,448"; returns the buffer. */
enum { LATHE_GROUPED_SIZE = 28 };
LATHE_API const char *lathe_grouped(int64_t number, char buffer[LATHE_GROUPED_SIZE]);

/* ---- The machine ---- */

enum lathe_found { LATHE_FOUND, LATHE_MISSING, LATHE_TROUBLE };

struct lathe_finding {
    char what[32]; /* "driver", "GPU 0", "nvJitLink", "NVRTC", "cuBLASLt", "cache" */
    enum lathe_found found;
    char detail[512]; /* version, path, name                 */
    char advice[256]; /* what to do about it; empty if found */
};
/* Looks at everything; returns how many findings there are, of which at most `room` are written. No
 * CUDA context is made. Without a context (null) there are none. */
LATHE_API size_t lathe_doctor(struct lathe_context *context, struct lathe_finding *findings,
                              size_t room);

/* ---- The budget, explained ---- */

enum { LATHE_DOORS_MAX = 12 };

/* Another way to do the same problem, in which the ring is deeper. */
struct lathe_door {
    size_t struct_size;           /* written by the library                       */
    char words[LATHE_WORDS_SIZE]; /* appended to the request, they give it       */
    int tile[3], cta_group;
    int stages, stage_bytes;
    int ring_offset;              /* where they begin, behind barriers and padding */
    int smem_bytes, tmem_columns; /* of a CTA                                    */
    double l2_bytes;              /* that come from L2 for each operation        */
    double waves;                 /* how often the tiles of D fill the device    */
    int changes_result;           /* 1: D is of another type                     */
};

/* Where the shared memory of a plan goes, and what stands in the way of one more stage. */
struct lathe_explanation {
    size_t struct_size;     /* the structs within grow with the header: compile what uses it anew */
    struct lathe_plan plan; /* complete, whether it fits or not                            */
    int fits;               /* 1: the plan can exist                                       */
    struct lathe_error refusal; /* else that of lathe_plan_gemm()                          */
    int a_bytes, b_bytes;       /* of A and of B in one stage of one CTA: what a stage costs   */
    int expected_bytes; /* that a full barrier waits for: of both CTAs of a pair; 0: threads copy */
    int most_stages;    /* the wall: that the flow can use and that fit beside the other tenants; 0:
                           none */
    int least_stages;   /* that the flow can do with                                       */
    int room_stages;    /* that fit, whatever the flow makes of them                       */
    int wall_bytes;     /* what one stage more than there is room for would need           */
    double l2_bytes, waves; /* as those of a door                                          */
    char limit[256];        /* what is short now, or next                                  */

    /* Ways to more stages than fit; where the plan does not fit, to as many as were asked for, or,
     * if there is none, to more than fit. Best first: those that keep the type of D, then those
     * that take fewer bytes from L2. */
    int door_count;
    struct lathe_door doors[LATHE_DOORS_MAX];
};
#define LATHE_EXPLANATION_INIT LATHE_INIT_(lathe_explanation)

/* Explains the plan of a problem, also one that does not fit. Needs no GPU.
 * Errors: those of lathe_plan_gemm() but LATHE_DOES_NOT_FIT, which is explained. */
LATHE_API enum lathe_status lathe_explain_gemm(struct lathe_explanation *explanation,
                                               const struct lathe_gemm *problem,
                                               const struct lathe_plan_options *options,
                                               struct lathe_error *err);

/* ---- The cache ---- */

struct lathe_cache_entry {
    char name[40];
    int64_t bytes;
    int64_t written; /* seconds since 1970 */
    int valid;       /* 0: does not pass the checks; the rest is then empty */
    char kernel[96], arch[16], linker[32], options[128];
    char plan[640];
    int registers, spill_bytes, warning_count;
};

/* The directory in use. Errors: LATHE_IO_FAILED with the reason why there is none. */
LATHE_API enum lathe_status lathe_cache_path(struct lathe_context *context, char *path, size_t size,
                                             struct lathe_error *err);
/* Calls `each` for every entry, oldest first, until it returns nonzero. One that cannot be read at
 * the moment may well be good: it is left out, and the call fails once all others were listed. */
LATHE_API enum lathe_status lathe_cache_list(struct lathe_context *context,
                                             int (*each)(void *user,
                                                         const struct lathe_cache_entry *entry),
                                             void *user, struct lathe_error *err);
/* Removes entries that do not pass the checks; `checked` and `removed` may be null. */
LATHE_API enum lathe_status lathe_cache_verify(struct lathe_context *context, int *checked,
                                               int *removed, struct lathe_error *err);
/* Removes the oldest entries until at most `limit_bytes` are left (-1: the context's limit). */
LATHE_API enum lathe_status lathe_cache_prune(struct lathe_context *context, int64_t limit_bytes,
                                              int *removed, struct lathe_error *err);
/* The text, cubin or contract kept in an entry, written to a file descriptor. */
enum lathe_cache_part { LATHE_CACHE_TEXT, LATHE_CACHE_CUBIN, LATHE_CACHE_CONTRACT };
LATHE_API enum lathe_status lathe_cache_write_part(struct lathe_context *context, const char *name,
                                                   enum lathe_cache_part part, int descriptor,
                                                   struct lathe_error *err);

/* ---- Run and check ---- */

struct lathe_run_options {
    size_t struct_size;
    uint64_t seed;
    int integers;     /* 1: small whole numbers, on which the answer is exact          */
    int guard;        /* 1: NaN around A, B and C, canaries around D                   */
    int repeats;      /* launches that are timed; 0: 10                                */
    int reference;    /* 0: NVRTC where it is, else the CPU for small sizes; 1: CPU    */
    const char *text; /* PTX that runs in the place of the plan's, as by lathe_kernel_edit(),
                         whose errors it has too; null: none                           */
};
#define LATHE_RUN_OPTIONS_INIT LATHE_INIT_(lathe_run_options)

struct lathe_run_report {
    char device[96];
    enum lathe_arch arch;
    /* Made with LATHE_PLAN_INIT: by its struct_size it is seen whether the report is laid out as
     * here. One of another header is refused: compile what uses it anew. */
    struct lathe_plan plan;
    char reference[32]; /* "NVRTC, f64" or "CPU, f64"                              */
    float alpha, beta;  /* as drawn                                                */
    int ok;
    double rel_error; /* ||d - r|| / ||r||                                       */
    double max_abs_error;
    int64_t wrong;                   /* elements outside the bound                              */
    int64_t wrong_row, wrong_column; /* the first of them                             */
    double wrong_got, wrong_want, wrong_bound;
    int64_t guard_damage; /* bytes around D that changed                             */
    double time_us;       /* median of the repeats; 0 on the emulator                */
    double emit_us, link_ms, load_ms;
    enum lathe_cache_result cache;
    int registers, spill_bytes, warning_count;
    int emulated;       /* 1: the CPU ran it, which tells nothing of a GPU's time    */
    double emulated_ms; /* how long the CPU took for one launch                      */
};

/* Runs the problem on random data and compares every element with a reference in f64, by the rule
 * |d - r| <= 1 ulp(r) + (k/16 + 2) * 2^-20 * (|alpha| sum|a||b| + |beta c|).
 * An e4m3 or e5m2 must be what some number within the second term of r rounds to, and saturates at
 * 448 and 57344; an s32 must be exact. LATHE_OK also when the answer is wrong: see `ok`. */
LATHE_API enum lathe_status lathe_run_gemm(struct lathe_context *context,
                                           const struct lathe_gemm *problem,
                                           const struct lathe_plan_options *options,
                                           const struct lathe_run_options *run,
                                           struct lathe_run_report *report,
                                           struct lathe_error *err);

/* ---- What the sanitizer found ---- */

enum lathe_check {
    LATHE_CHECK_OFF,
    LATHE_CHECK_FIRST, /* up to the first finding that is no warning, which ends the launch */
    LATHE_CHECK_ALL    /* goes on past findings, as far as the kernel can                   */
};

/* One of those who are part of a finding: a warp, and what it did. */
struct lathe_check_side {
    uint32_t cta[3];
    int warp, lane;        /* -1: none in particular                                        */
    int line;              /* of the text; 0: none                                          */
    char role[48];         /* the heading or label that it stands under, or empty           */
    char instruction[128]; /* the opcode                                                    */
    char operand[64];      /* as the text names the place: "[%full]"; or empty              */
    int reads, writes;
};

/* One thing that is wrong. What is seen by the same instructions, in whatever schedule, is one. */
struct lathe_check_finding {
    size_t struct_size; /* written by the library                                       */
    char code[32];      /* "race", "deadlock", "wrong-answer": docs/sanitizer.md        */
    char kernel[128];
    int is_warning; /* 1: the answer stays right, and it may cost time               */
    uint64_t seed;  /* of the first schedule that shows it                           */
    int schedules;  /* that show it                                                  */
    uint64_t times; /* that it was seen, in all of them                              */
    int has_who, has_other;
    struct lathe_check_side who, other;
    char object[128]; /* the place in memory, or empty                                */
    char what[1024];
    char needed[256]; /* what would have been right, or empty                         */
    char words[4096]; /* all of it but seed and counts, in lines; no newline at the end */
};

/* Findings in the order in which they were found. One thread at a time. */
struct lathe_findings;
LATHE_API size_t lathe_findings_count(const struct lathe_findings *findings); /* 0 of null */
/* Null when there is no such index. Good as long as the list. */
LATHE_API const struct lathe_check_finding *lathe_findings_at(const struct lathe_findings *findings,
                                                              size_t index);
/* Those that are no warnings. */
LATHE_API size_t lathe_findings_errors(const struct lathe_findings *findings);
LATHE_API void lathe_findings_destroy(struct lathe_findings **findings);

/* Called by the calling thread after each schedule: `done` of `count` have run. */
typedef void (*lathe_progress_callback)(void *user, int done, int count);

/* ---- Time, modelled by the emulator ---- */

struct lathe_trace_options {
    size_t struct_size;
    uint64_t first_cluster, clusters; /* whose events are kept; 0 clusters: one        */
    uint64_t events;                  /* that are kept at most; 0: 2^20                */
};
#define LATHE_TRACE_OPTIONS_INIT LATHE_INIT_(lathe_trace_options)

enum lathe_trace_kind {
    LATHE_TRACE_RUN,     /* a warp runs, from one wait to the next                          */
    LATHE_TRACE_WAIT,    /* a warp waits                                                    */
    LATHE_TRACE_COPY,    /* a bulk copy into shared memory, from its issue to its end       */
    LATHE_TRACE_READ,    /* a bulk copy out of it: until its source has been read           */
    LATHE_TRACE_WRITE,   /* and from then on                                                */
    LATHE_TRACE_PRODUCT, /* a wgmma, while it has the tensor cores                          */
    LATHE_TRACE_PHASE,   /* of an mbarrier, over: begin is end                              */
    LATHE_TRACE_BARRIER, /* a barrier of the CTA, complete: begin is end                    */
    LATHE_TRACE_COMMIT   /* of a group of asynchronous work, by a warp: begin is end        */
};

/* As the emulator tells it: emulator/emulator.h. */
struct lathe_trace_event {
    int32_t kind;
    uint32_t launch;
    uint64_t begin, end; /* cycles since the launch began */
    uint32_t cta[3];
    int32_t warp;     /* -1: none in particular                              */
    int32_t line;     /* of the text; 0: none                                */
    uint32_t address; /* of an mbarrier, in its CTA's shared memory          */
    uint32_t value;   /* the parity that is waited for, the phase that is over, N of a product, the
                       * number of a barrier */
    uint32_t bytes;   /* of a copy */
    const char *role; /* the heading that it stands under */
    const char *name; /* as the text names the barrier, the map or the instruction */
};

/* Of the whole launch, not of the clusters alone whose events are kept. */
struct lathe_trace_total {
    uint64_t cycles, clock_khz, launches, multiprocessors, instructions, tensor_cycles, copy_bytes,
        store_bytes, l2_bytes, dram_bytes, events_lost;
};

/* What one launch was told of; to be freed by lathe_trace_free(). */
struct lathe_trace;
LATHE_API const struct lathe_trace_total *lathe_trace_total(const struct lathe_trace *trace);
LATHE_API const struct lathe_trace_event *lathe_trace_events(const struct lathe_trace *trace,
                                                             size_t *count);
/* Null is accepted. */
LATHE_API void lathe_trace_free(struct lathe_trace *trace);

struct lathe_trace_report {
    size_t struct_size; /* the plan within grows with the header: compile what uses it anew */
    char device[96];
    struct lathe_plan plan;
    struct lathe_trace *trace; /* the caller's */
    double emulated_ms;
};
#define LATHE_TRACE_REPORT_INIT LATHE_INIT_(lathe_trace_report)

/* Launches a problem on the emulator, whose time is modelled as docs/trace.md says. The operands
 * hold no numbers and D is not computed: time does not depend on them. The context is one with
 * LATHE_EMULATOR_ALWAYS; what others launch on the emulator meanwhile is traced too.
 * Errors: those of lathe_gemm_get(), LATHE_NO_DRIVER (no emulator, or one of another version). */
LATHE_API enum lathe_status lathe_trace_gemm(struct lathe_context *context,
                                             const struct lathe_gemm *problem,
                                             const struct lathe_plan_options *options,
                                             const struct lathe_trace_options *trace,
                                             struct lathe_trace_report *report,
                                             struct lathe_error *err);

/* ---- Anyone's text, on the emulator ---- */

enum { LATHE_RANK_MAX = 5 };

/* The types of a tensor map, by their numbers in cuda.h. */
enum lathe_map_type {
    LATHE_MAP_U8,
    LATHE_MAP_U16,
    LATHE_MAP_U32,
    LATHE_MAP_S32,
    LATHE_MAP_U64,
    LATHE_MAP_S64,
    LATHE_MAP_F16,
    LATHE_MAP_F32,
    LATHE_MAP_F64,
    LATHE_MAP_BF16,
    LATHE_MAP_F32_FTZ,
    LATHE_MAP_TF32,
    LATHE_MAP_TF32_FTZ
};

/* A tiled tensor map; dimension 0 is the one whose elements lie side by side. */
struct lathe_emulated_map {
    enum lathe_map_type type;
    int rank;
    uint64_t dims[LATHE_RANK_MAX];        /* elements                                    */
    uint64_t strides[LATHE_RANK_MAX - 1]; /* bytes from one index of dimension i + 1 on  */
    uint32_t box[LATHE_RANK_MAX];
    int swizzle_bytes; /* 0, 32, 64, 128 */
};

/* Device memory for one launch. */
struct lathe_emulated_buffer {
    void *data; /* what it begins with, and after a launch that went well what it holds */
    size_t bytes;
};

enum lathe_argument_kind { LATHE_ARGUMENT_VALUE, LATHE_ARGUMENT_POINTER, LATHE_ARGUMENT_MAP };

/* What a parameter of the entry receives. */
struct lathe_argument {
    enum lathe_argument_kind kind;
    const void *value; /* of LATHE_ARGUMENT_VALUE, `bytes` of it                   */
    size_t bytes;
    int buffer; /* index of that which a pointer or a map means             */
    uint64_t offset;
    struct lathe_emulated_map map;
};

struct lathe_emulation {
    size_t struct_size;
    const char *text;  /* PTX                                                      */
    const char *entry; /* null: the only one                                       */
    const char *arch;  /* "sm_90a"; null: the oldest device that takes the text    */
    uint32_t grid[3], block[3], cluster[3]; /* a cluster of 0: as the text says    */
    uint32_t smem_bytes;                    /* dynamic                             */
    uint64_t seed;                          /* of the schedule                     */
    int exact;      /* 1: tensor cores bit for bit; 0: fast, in f32             */
    uint64_t steps; /* warp instructions after which it ends; 0: 2^36           */
    struct lathe_emulated_buffer *buffers;
    int buffer_count;
    const struct lathe_argument *arguments;
    int argument_count;
    enum lathe_check check; /* the sanitizer                                            */
    int schedules;          /* to run with, by the seed and those after it; 0: one.
                               More need a check                                        */
    lathe_progress_callback progress;
    void *progress_user;
    const struct lathe_trace_options *trace; /* its time is modelled, in one schedule, to which
                                                the seed means nothing; null: it is not */
};
#define LATHE_EMULATION_INIT LATHE_INIT_(lathe_emulation)

struct lathe_emulation_report {
    size_t struct_size;
    char device[96];
    char entry[256];
    double load_ms, time_ms; /* of the last load; of all launches */
    char trouble[2048];      /* of a fault all that the emulator says, in lines; else empty */
    int runs;                /* schedules that ran                                          */
    int completed;           /* those that went to their end: 0: the buffers are as they were */
    struct lathe_findings *findings; /* of a check: to be destroyed; else null          */
    struct lathe_trace *trace; /* as asked for, of a launch that went to its end; to be freed */
};
#define LATHE_EMULATION_REPORT_INIT LATHE_INIT_(lathe_emulation_report)

/* Loads the text on the emulator, whatever GPU there is, and runs one launch of it to its end. With
 * a check it is one for each schedule, each from the same buffers, which afterwards hold what the
 * first of them gave; a later one that gives something else is a finding, answer-changes. What ends
 * a launch is a finding then, and no error. Of the emulator's settings (seed, check, trace) there
 * is one set for the process: no other thread may use it meanwhile. Errors: LATHE_NO_DRIVER (no
 * emulator), LATHE_BAD_WORD (no such entry or arch), LATHE_OUT_OF_RANGE (arguments that are not the
 * entry's), LATHE_DRIVER_FAILED (text that is refused, a launch that cannot be, a fault: the
 * message is the first line of what the report says). */
LATHE_API enum lathe_status lathe_emulate(struct lathe_context *context,
                                          const struct lathe_emulation *emulation,
                                          struct lathe_emulation_report *report,
                                          struct lathe_error *err);

/* ---- Check: a problem on the emulator, under many schedules ---- */

struct lathe_check_options {
    size_t struct_size;
    int schedules;         /* 0: 20                                                       */
    uint64_t seed;         /* of the first; the others have those after it                */
    enum lathe_check mode; /* 0: LATHE_CHECK_FIRST                                        */
    uint64_t data_seed;    /* draws the data, the same for all schedules                  */
    int integers, guard, reference; /* as of lathe_run_options                            */
    lathe_progress_callback progress;
    void *progress_user;
    const char *text; /* as of lathe_run_options                                         */
};
#define LATHE_CHECK_OPTIONS_INIT LATHE_INIT_(lathe_check_options)

struct lathe_check_report {
    size_t struct_size; /* the plan within grows with the header: compile what uses it anew */
    char device[96];
    struct lathe_plan plan;
    char reference[32];              /* "CPU, f64"                                         */
    int runs;                        /* schedules that ran                                 */
    double emulated_ms;              /* what their launches took                           */
    struct lathe_findings *findings; /* to be destroyed                                    */
};
#define LATHE_CHECK_REPORT_INIT LATHE_INIT_(lathe_check_report)

/* Runs the problem on the emulator, whatever GPU there is, once a schedule, with the sanitizer on,
 * and compares every answer as lathe_run_gemm() does: one that is wrong is a finding, wrong-answer.
 * LATHE_OK also where something was found. Of the emulator's settings (seed, check) there is one
 * set for the process: no other thread may use it meanwhile. The check is put back; CUDA contexts
 * of others on the emulator are left alone.
 * Errors: LATHE_NO_DRIVER (no emulator), those of lathe_gemm_get(), LATHE_UNSUPPORTED (more work
 * than is done unless `reference` insists). */
LATHE_API enum lathe_status lathe_check_gemm(struct lathe_context *context,
                                             const struct lathe_gemm *problem,
                                             const struct lathe_plan_options *options,
                                             const struct lathe_check_options *check,
                                             struct lathe_check_report *report,
                                             struct lathe_error *err);

/* ---- Benchmark ---- */

/* The plan, more plans to compare it with, and the contenders. */
enum { LATHE_BENCH_ROWS_MAX = 16 };

struct lathe_bench_options {
    size_t struct_size;
    int vs_cublaslt;   /* 1: beside cuBLASLt's first heuristic, 64 MiB of workspace    */
    int pairs;         /* of interleaved blocks; 0: 8                                  */
    double block_ms;   /* how long a block lasts at least; 0: 20                       */
    double warm_up_ms; /* before the first block; 0: 500                               */
    uint64_t seed;
    const char *cublaslt_library; /* null: LATHE_CUBLASLT_LIBRARY, else found           */
    int vs_cublaslt_best;         /* 1: beside the fastest of up to 32 heuristics, too   */
    double long_warm_up_ms;       /* more, where a launch lasts longer than 0.5 ms       */
    const struct lathe_plan_options *rungs; /* other plans for the problem, timed as well   */
    int rung_count;
    const char *nvml_library; /* null: LATHE_NVML_LIBRARY, else found; may be absent */
    int isolated;             /* 1: also one launch by itself; what was measured is in the report */
    int warm; /* 1: also blocks over one set of buffers, where it fits into L2; likewise */
};
#define LATHE_BENCH_OPTIONS_INIT LATHE_INIT_(lathe_bench_options)

enum lathe_bench_kind { LATHE_BENCH_PLAN, LATHE_BENCH_CUBLASLT, LATHE_BENCH_CUBLASLT_BEST };

/* Medians of what NVML said while the blocks ran, 20 times a second. */
struct lathe_bench_clocks {
    int samples; /* 0: there is no NVML, or too little time; the rest means nothing then */
    double sm_mhz, power_w, temperature_c;
};

/* A time of a row that stands beside that of its blocks, and what it is compared with, as there. */
struct lathe_bench_figures {
    double time_us; /* 0: not measured */
    double ratio, ratio_low, ratio_high;
};

/* One that took turns with the others. */
struct lathe_bench_row {
    enum lathe_bench_kind kind;
    char name[64];          /* the plan's variant, "cublaslt 13.1", "cublaslt-best 13.1"     */
    int launches;           /* of a block                                                    */
    double time_us, tflops; /* medians over the blocks                                       */
    /* Of a contender: its time by the plan's; of a plan: the first contender's time by its own:
     * above 1 the plan is faster. Median over turns, 95 % bootstrap interval; 0: no contender. */
    double ratio, ratio_low, ratio_high;
    int heuristic, heuristics; /* of a contender: number `heuristic`, from 1, of so many      */
    int verified;              /* of a plan: 1: every element, in every set, was right        */
    struct lathe_bench_clocks clocks;
    double efficiency; /* tflops by what the tensor cores could do at sm_mhz; 0: not known */
};

struct lathe_bench_report {
    char device[96];
    struct lathe_plan plan; /* made with LATHE_PLAN_INIT; see lathe_run_report         */
    int launches;           /* of a block                                              */
    int sets;               /* of buffers that a block rotates through                 */
    double time_us, tflops; /* medians over the blocks                                 */
    char vs[64];            /* "cublaslt 13.1", or empty                               */
    double vs_time_us, vs_tflops;
    double ratio;                 /* median over pairs of vs_time / time: above 1 Lathe is faster */
    double ratio_low, ratio_high; /* 95 % bootstrap interval                            */
    int verified;                 /* 1: every element of D, in every set, was right afterwards */
    int measured_again; /* 1: clocks of two contenders differed by more than 1.5 %        */
    int row_count;      /* the plan, the rungs, the contenders                            */
    struct lathe_bench_row rows[LATHE_BENCH_ROWS_MAX];
    struct lathe_bench_clocks clocks; /* of all blocks                                    */
    /* One launch by itself, behind a kernel that spins for so long: medians of 50, and of the
     * ratios over them. */
    struct lathe_bench_figures isolated[LATHE_BENCH_ROWS_MAX];
    double isolated_spin_us;
    /* Blocks over one set of buffers, whose operands stay in L2. */
    struct lathe_bench_figures warm[LATHE_BENCH_ROWS_MAX];
    char warm_refused[96]; /* asked for, but: "the operands take 74.5 MB, and L2 ..."; or empty */
};

/* Measures as docs/benchmark.md says: one stream, graphs of launches over rotating buffers that
 * exceed L2, normal data, contenders interleaved A B C C B A, the answer checked afterwards. What
 * is not in `rows` is of the plan and the first contender. Options that end before `isolated` leave
 * untouched what is behind `clocks`. */
LATHE_API enum lathe_status lathe_bench_gemm(struct lathe_context *context,
                                             const struct lathe_gemm *problem,
                                             const struct lathe_plan_options *options,
                                             const struct lathe_bench_options *bench,
                                             struct lathe_bench_report *report,
                                             struct lathe_error *err);

/* What figures depend on beside the problem. */
struct lathe_bench_machine {
    size_t struct_size;
    char device[96];
    char device_hash[20]; /* of the device's UUID, which names it and gives nothing away     */
    enum lathe_arch arch;
    int sms;
    int cuda_version;  /* that the driver supports: 1000 * major + 10 * minor                 */
    char driver[32];   /* its own version, "580.95.05"; empty without NVML                    */
    char cublaslt[32]; /* "cublaslt 13.1"; empty where there is none, or no contender      */
};
#define LATHE_BENCH_MACHINE_INIT LATHE_INIT_(lathe_bench_machine)

/* Of the options, which may be null, contenders and paths count. Makes no CUDA context.
 * Errors: LATHE_NO_DRIVER, LATHE_NO_DEVICE. */
LATHE_API enum lathe_status lathe_bench_machine(struct lathe_context *context,
                                                const struct lathe_bench_options *bench,
                                                struct lathe_bench_machine *machine,
                                                struct lathe_error *err);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* LATHE_TOOLS_H */
