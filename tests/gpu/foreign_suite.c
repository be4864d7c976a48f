/* foreign_suite.c: kernels that other compilers have made, on the emulator or on a GPU: each must
 * compute what its reference on the host does.
 *
 *     foreign_suite emulator [WORD=VALUE ...]
 *     foreign_suite gpu [WORD=VALUE ...]
 *
 *     texts=FOLDER   tests/emulator, which is the default at the top of the tree
 *     case=WORD      only those that have the word in their names
 *     seeds=N        each with other data, and on the emulator another schedule; default 5
 *     timed=1        on the emulator in the schedule that models time, whatever the seed
 *
 * The cases stand in tests/emulator/foreign/cases.def and tests/emulator/triton/cases.def. A text
 * is given to the driver as it is. Prints TAP. */
#include "runtime/driver.h"
#include "runtime/emulator.h"
#include "runtime/emulator_calls.h"
#include "tests/emulator/foreign/foreign.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CANARY_BYTES = 256,
    CANARY = 0x5c,
    POISON = 0xa5,
    PATH_SIZE = 512,
    DEVICES_MAX = 16,
    NOT_THERE = -1,
    STATIC_SHARED_MAX = 48 << 10 /* of dynamic shared memory that nobody has to ask for */
};

static const struct variant {
    unsigned target;
    int device; /* 10 * major + minor */
    bool exactly;
    const char *folder, *suffix;
} variants[] = {
    {FOREIGN_SM_80, 80, false, "foreign/ptx", "sm_80.ptx"},
    {FOREIGN_SM_90A, 90, true, "foreign/ptx", "sm_90a.ptx"},
    {FOREIGN_SM_90A, 90, true, "foreign/ptx", "sm_90a.nvrtc.ptx"},
    {FOREIGN_SM_100A, 100, true, "foreign/ptx", "sm_100a.ptx"},
    {FOREIGN_TRITON_SM_80, 80, false, "triton/ptx", "ptx"},
    {FOREIGN_TRITON_SM_90A, 90, true, "triton/ptx", "ptx"},
    {FOREIGN_TRITON_SM_100A, 100, true, "triton/ptx", "ptx"},
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

struct suite {
    struct lt_driver driver;
    bool wants_gpu, is_timed;
    void (*set_seed)(uint64_t seed); /* null before a real driver, as may be the next */
    int (*param_info)(lt_cu_function function, size_t index, size_t *offset, size_t *bytes);
    const char *texts, *only;
    uint64_t seeds, launches;
    struct lt_emulator_calls calls; /* where it is timed */
    int capabilities[DEVICES_MAX], device_count;
    int numbered, failed;
};

/* One case on one text, and what it holds meanwhile. */
struct run {
    struct suite *suite;
    const struct foreign_case *is;
    const struct variant *variant;
    uint64_t seed; /* 0: before the first */

    int device;
    lt_cu_context context;
    lt_cu_module module;
    lt_cu_function function;
    char *text;
    int printed; /* the argument that is no parameter but the output, or NOT_THERE */
    uint64_t addresses[FOREIGN_ARGUMENTS];
    struct lt_cu_tensor_map maps[FOREIGN_ARGUMENTS];
    void *before[FOREIGN_ARGUMENTS], *expected[FOREIGN_ARGUMENTS], *got[FOREIGN_ARGUMENTS];
    void *params[FOREIGN_ARGUMENTS];
};

/* Says what went wrong, as a remark of the case's line; false. */
static bool fail(const struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail(const struct run *run, const char *format, ...)
{
    va_list arguments;

    printf("# ");
    if (run->seed)
        printf("seed %llu: ", (unsigned long long)run->seed);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    return false;
}

static bool check(const struct run *run, int result, const char *call)
{
    struct lathe_error error;

    return lt_driver_check(&run->suite->driver, result, call, &error) == LATHE_OK ||
           fail(run, "%s", error.message);
}

static const struct foreign_argument *argument_of(const struct run *run, int index)
{
    bool is_there = index < FOREIGN_ARGUMENTS && run->is->arguments[index].count > 0;

    return is_there ? &run->is->arguments[index] : NULL;
}

static bool is_buffer(const struct foreign_argument *argument)
{
    return argument->role != FOREIGN_VALUE && argument->role != FOREIGN_PRINTED;
}

static bool is_input(const struct foreign_argument *argument)
{
    return argument->role == FOREIGN_IN || argument->role == FOREIGN_MAP;
}

static bool is_output(const struct foreign_argument *argument)
{
    return argument->role == FOREIGN_OUT || argument->role == FOREIGN_INOUT;
}

/* ---- Set-up ---- */

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long length;

    if (!file)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0) {
        rewind(file);
        text = calloc((size_t)length + 1, 1);
        if (text && fread(text, 1, (size_t)length, file) != (size_t)length) {
            free(text);
            text = NULL;
        }
    }
    fclose(file);
    return text;
}

/* The ordinal of a device that runs a text, or NOT_THERE. */
static int find_device(const struct suite *suite, const struct variant *variant)
{
    for (int i = 0; i < suite->device_count; i++)
        if (suite->capabilities[i] == variant->device)
            return i;
    for (int i = 0; i < suite->device_count && !variant->exactly; i++)
        if (suite->capabilities[i] > variant->device)
            return i;
    return NOT_THERE;
}

static bool load(struct run *run)
{
    const struct lt_driver *driver = &run->suite->driver;
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "%s/%s/%s.%s", run->suite->texts, run->variant->folder,
             run->is->file, run->variant->suffix);
    run->text = read_text(path);
    if (!run->text)
        return fail(run, "%s cannot be read", path);
    return check(run, driver->cuDevicePrimaryCtxRetain(&run->context, run->device),
                 "cuDevicePrimaryCtxRetain") &&
           check(run, driver->cuCtxPushCurrent(run->context), "cuCtxPushCurrent") &&
           check(run, driver->cuModuleLoadData(&run->module, run->text), "cuModuleLoadData") &&
           check(run, driver->cuModuleGetFunction(&run->function, run->module, run->is->entry),
                 "cuModuleGetFunction") &&
           (run->is->dynamic_shared_bytes <= STATIC_SHARED_MAX ||
            check(run,
                  driver->cuFuncSetAttribute(run->function,
                                             LT_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                             (int)run->is->dynamic_shared_bytes),
                  "cuFuncSetAttribute"));
}

static bool allocate(struct run *run)
{
    const struct foreign_argument *argument;

    for (int i = 0; (argument = argument_of(run, i)) != NULL; i++) {
        size_t bytes = foreign_bytes(argument);

        run->before[i] = calloc(1, bytes + CANARY_BYTES);
        run->expected[i] = calloc(1, bytes);
        run->got[i] = calloc(1, bytes + CANARY_BYTES);
        if (!run->before[i] || !run->expected[i] || !run->got[i])
            return fail(run, "no memory for an argument");
        if (argument->role == FOREIGN_PRINTED)
            run->printed = i;
        if (is_buffer(argument) &&
            !check(run, run->suite->driver.cuMemAlloc(&run->addresses[i], bytes + CANARY_BYTES),
                   "cuMemAlloc"))
            return false;
    }
    return true;
}

static bool encode_map(struct run *run, int index)
{
    const struct foreign_map *of = &run->is->arguments[index].map;
    const uint64_t dims[2] = {of->columns, of->rows}, pitch = of->columns * sizeof(uint16_t);
    const uint32_t box[2] = {of->box_columns, of->box_rows}, strides[2] = {1, 1};

    return check(run,
                 run->suite->driver.cuTensorMapEncodeTiled(
                     &run->maps[index], LT_TENSOR_MAP_FLOAT16, 2,
                     (void *)(uintptr_t)run->addresses[index], dims, &pitch, box, strides, 0,
                     LT_TENSOR_MAP_SWIZZLE_128B, LT_TENSOR_MAP_L2_PROMOTION_128B, 0),
                 "cuTensorMapEncodeTiled");
}

static size_t param_bytes(const struct foreign_argument *argument)
{
    if (argument->role == FOREIGN_MAP)
        return sizeof(struct lt_cu_tensor_map);
    return is_buffer(argument) ? sizeof(uint64_t) : foreign_bytes(argument);
}

static void *param_of(struct run *run, int index)
{
    const struct foreign_argument *argument = &run->is->arguments[index];

    if (argument->role == FOREIGN_MAP)
        return &run->maps[index];
    return is_buffer(argument) ? (void *)&run->addresses[index] : run->before[index];
}

/* Every parameter of the entry has an argument of its size. */
static bool set_params(struct run *run)
{
    const struct foreign_argument *argument;
    size_t offset, bytes, count = 0;

    for (int i = 0; (argument = argument_of(run, i)) != NULL; i++) {
        if (argument->role == FOREIGN_PRINTED)
            continue;
        if (run->suite->param_info &&
            (run->suite->param_info(run->function, count, &offset, &bytes) != LT_CUDA_SUCCESS ||
             bytes != param_bytes(argument)))
            return fail(run, "parameter %zu is not of %zu bytes", count, param_bytes(argument));
        if (argument->role == FOREIGN_MAP && !encode_map(run, i))
            return false;
        run->params[count++] = param_of(run, i);
    }
    if (run->suite->param_info &&
        run->suite->param_info(run->function, count, &offset, &bytes) == LT_CUDA_SUCCESS)
        return fail(run, "there are more parameters than arguments");
    return true;
}

/* ---- One launch ---- */

/* Draws the arguments, works out what is expected, and fills the device's buffers. */
static bool fill(struct run *run)
{
    const struct foreign_argument *argument;

    for (int i = 0; (argument = argument_of(run, i)) != NULL; i++) {
        size_t bytes = foreign_bytes(argument);
        unsigned char *to = run->got[i];

        foreign_draw(argument, run->seed * FOREIGN_ARGUMENTS + (uint64_t)i, run->before[i]);
        memcpy(run->expected[i], run->before[i], bytes);
        if (!is_buffer(argument))
            continue;
        memcpy(to, run->before[i], bytes);
        if (argument->role == FOREIGN_OUT)
            memset(to, POISON, bytes);
        memset(to + bytes, CANARY, CANARY_BYTES);
        if (!check(run,
                   run->suite->driver.cuMemcpyHtoD(run->addresses[i], to, bytes + CANARY_BYTES),
                   "cuMemcpyHtoD"))
            return false;
    }
    run->is->reference(run->expected);
    return true;
}

static bool launch(struct run *run)
{
    const struct foreign_case *is = run->is;
    struct lt_cu_launch_attribute cluster = {.id = LT_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    struct lt_cu_launch_config config = {
        .grid_x = is->grid[0],
        .grid_y = is->grid[1] ? is->grid[1] : 1,
        .grid_z = is->grid[2] ? is->grid[2] : 1,
        .block_x = is->block[0],
        .block_y = is->block[1] ? is->block[1] : 1,
        .block_z = is->block[2] ? is->block[2] : 1,
        .smem_bytes = is->dynamic_shared_bytes,
        .attributes = &cluster,
        .attribute_count = is->cluster[0] > 1,
    };

    run->suite->launches++;
    cluster.value.cluster.x = is->cluster[0];
    cluster.value.cluster.y = is->cluster[1] ? is->cluster[1] : 1;
    cluster.value.cluster.z = is->cluster[2] ? is->cluster[2] : 1;
    return check(run,
                 run->suite->driver.cuLaunchKernelEx(&config, run->function, run->params, NULL),
                 "cuLaunchKernelEx") &&
           check(run, run->suite->driver.cuCtxSynchronize(), "cuCtxSynchronize");
}

/* Launches it; what goes to stdout meanwhile is kept for the argument that stands for it. */
static bool launch_and_listen(struct run *run)
{
    FILE *kept = tmpfile();
    bool done = false;
    int out;

    if (!kept)
        return fail(run, "no file for what is printed");
    fflush(stdout);
    out = dup(STDOUT_FILENO);
    if (out >= 0 && dup2(fileno(kept), STDOUT_FILENO) >= 0) {
        done = launch(run);
        fflush(stdout);
        dup2(out, STDOUT_FILENO);
    }
    if (out >= 0)
        close(out);
    rewind(kept);
    memset(run->got[run->printed], 0, run->is->arguments[run->printed].count);
    if (fread(run->got[run->printed], 1, run->is->arguments[run->printed].count - 1, kept) == 0)
        done = fail(run, "nothing was printed");
    fclose(kept);
    if (!done)
        fail(run, "%s", (char *)run->got[run->printed]);
    return done;
}

static bool fetch(struct run *run, int index)
{
    const struct foreign_argument *argument = &run->is->arguments[index];
    size_t bytes = foreign_bytes(argument);
    unsigned char *got = run->got[index];

    if (!check(run,
               run->suite->driver.cuMemcpyDtoH(got, run->addresses[index], bytes + CANARY_BYTES),
               "cuMemcpyDtoH"))
        return false;
    for (size_t i = bytes; i < bytes + CANARY_BYTES; i++)
        if (got[i] != CANARY)
            return fail(run, "argument %d was written %zu bytes behind its end", index, i - bytes);
    if (is_input(argument) && memcmp(got, run->before[index], bytes) != 0)
        return fail(run, "argument %d, an input, has changed", index);
    return true;
}

static bool compare(struct run *run, int index)
{
    const struct foreign_argument *argument = &run->is->arguments[index];
    long at;

    if (argument->role == FOREIGN_PRINTED)
        return strcmp(run->got[index], run->expected[index]) == 0 ||
               fail(run, "printed: %s", (char *)run->got[index]);
    if (is_buffer(argument) && !fetch(run, index))
        return false;
    if (!is_output(argument))
        return true;
    at = foreign_differs(argument, run->got[index], run->expected[index]);
    return at < 0 || fail(run, "argument %d, element %ld: %.17g, expected %.17g", index, at,
                          foreign_element(argument->type, run->got[index], (size_t)at),
                          foreign_element(argument->type, run->expected[index], (size_t)at));
}

static bool run_once(struct run *run)
{
    if (run->suite->set_seed)
        run->suite->set_seed(run->seed);
    if (!fill(run) || !(run->printed == NOT_THERE ? launch(run) : launch_and_listen(run)))
        return false;
    for (int i = 0; argument_of(run, i) != NULL; i++)
        if (!compare(run, i))
            return false;
    return true;
}

/* Without the last that holds the context it is gone, and what a fault has left in it. */
static void clean_up(struct run *run)
{
    const struct lt_driver *driver = &run->suite->driver;
    lt_cu_context popped;

    for (int i = 0; i < FOREIGN_ARGUMENTS; i++) {
        free(run->before[i]);
        free(run->expected[i]);
        free(run->got[i]);
        if (run->addresses[i])
            driver->cuMemFree(run->addresses[i]);
    }
    free(run->text);
    if (run->module)
        driver->cuModuleUnload(run->module);
    if (run->context) {
        driver->cuCtxPopCurrent(&popped);
        driver->cuDevicePrimaryCtxRelease(run->device);
    }
}

static bool computes_what_the_reference_does(struct run *run)
{
    bool ok = load(run) && allocate(run) && set_params(run);

    for (uint64_t seed = 1; ok && seed <= run->suite->seeds; seed++) {
        run->seed = seed;
        ok = run_once(run);
    }
    clean_up(run);
    return ok;
}

/* ---- All of them ---- */

static void report(struct suite *suite, bool ok, const char *name, const char *directive)
{
    suite->failed += !ok;
    printf("%sok %d - %s%s\n", ok ? "" : "not ", ++suite->numbered, name, directive);
}

static void run_case(struct suite *suite, const struct foreign_case *is,
                     const struct variant *variant)
{
    struct run run = {.suite = suite, .is = is, .variant = variant, .printed = NOT_THERE};
    char name[PATH_SIZE];

    snprintf(name, sizeof name, "%s of %s.%s", is->entry, is->file, variant->suffix);
    if (suite->only && !strstr(name, suite->only))
        return;
    run.device = find_device(suite, variant);
    if (run.device == NOT_THERE)
        report(suite, true, name, " # SKIP no device of its target");
    else
        report(suite, computes_what_the_reference_does(&run), name, "");
}

static bool is_text_of(const char *name, const struct foreign_case *is,
                       const struct variant *variant)
{
    size_t length = strlen(is->file);

    return (is->targets & variant->target) != 0 && strncmp(name, is->file, length) == 0 &&
           name[length] == '.' && strcmp(name + length + 1, variant->suffix) == 0;
}

/* Whether there is a case that a text of the folder is made for. */
static bool is_known(const char *folder, const char *name)
{
    for (const struct foreign_case *is = foreign_cases; is->file != NULL; is++)
        for (int i = 0; i < VARIANTS; i++)
            if (strcmp(variants[i].folder, folder) == 0 && is_text_of(name, is, &variants[i]))
                return true;
    return false;
}

static void every_text_has_a_case(struct suite *suite, const char *name)
{
    char path[PATH_SIZE];
    bool all_known = true;
    int texts = 0;
    DIR *folder;

    snprintf(path, sizeof path, "%s/%s", suite->texts, name);
    folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        texts++;
        if (is_known(name, entry->d_name))
            continue;
        printf("# %s has no case\n", entry->d_name);
        all_known = false;
    }
    if (folder)
        closedir(folder);
    report(suite, all_known && texts > 0, "every text has a case: ", name);
}

/* ---- The driver ---- */

static bool find_devices(struct suite *suite)
{
    const struct lt_driver *driver = &suite->driver;
    int count = 0;

    if (driver->cuDeviceGetCount(&count) != LT_CUDA_SUCCESS)
        return false;
    for (int i = 0; i < count && i < DEVICES_MAX; i++) {
        int major = 0, minor = 0;

        if (driver->cuDeviceGetAttribute(&major, LT_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, i) ||
            driver->cuDeviceGetAttribute(&minor, LT_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, i))
            return false;
        suite->capabilities[suite->device_count++] = 10 * major + minor;
    }
    return true;
}

static bool begin_timing(struct suite *suite)
{
    struct lathe_error error;

    if (lt_emulator_load(&suite->calls, &suite->driver, &error) != LATHE_OK) {
        printf("Bail out! %s\n", error.message);
        return false;
    }
    if (suite->calls.set_trace(1, NULL))
        return true;
    printf("Bail out! no memory for a trace\n");
    return false;
}

static void every_launch_was_timed(struct suite *suite)
{
    struct lathe_trace_total total;

    suite->calls.trace_total(&total);
    printf("# %llu launches, %llu cycles\n", (unsigned long long)total.launches,
           (unsigned long long)total.cycles);
    report(suite, total.launches == suite->launches && total.launches > 0, "every launch was timed",
           "");
}

static bool open_driver(struct suite *suite)
{
    const struct lt_library_function extras[] = {{"emu_set_seed", &suite->set_seed},
                                                 {"cuFuncGetParamInfo", &suite->param_info}};
    char path[LT_EMULATOR_PATH_SIZE];
    struct lathe_error error;

    if (suite->wants_gpu) {
        if (lt_driver_open(&suite->driver, NULL, &error) != LATHE_OK) {
            printf("1..0 # SKIP %s\n", error.message);
            return false;
        }
    } else if (lt_driver_open_emulator(&suite->driver,
                                       lt_emulator_find(getenv("LATHE_EMU_LIBRARY"), path),
                                       &error) != LATHE_OK) {
        printf("Bail out! %s\n", error.message);
        return false;
    }
    for (size_t i = 0; i < sizeof extras / sizeof extras[0]; i++)
        lt_library_load(&suite->driver.library, &extras[i], 1, NULL);
    return find_devices(suite) && (!suite->is_timed || begin_timing(suite));
}

static bool read_words(struct suite *suite, int count, char **words)
{
    suite->wants_gpu = count > 1 && strcmp(words[1], "gpu") == 0;
    if (count < 2 || (!suite->wants_gpu && strcmp(words[1], "emulator") != 0))
        return false;
    for (int i = 2; i < count; i++) {
        if (strncmp(words[i], "texts=", 6) == 0)
            suite->texts = words[i] + 6;
        else if (strncmp(words[i], "case=", 5) == 0)
            suite->only = words[i] + 5;
        else if (strncmp(words[i], "seeds=", 6) == 0)
            suite->seeds = strtoull(words[i] + 6, NULL, 10);
        else if (strcmp(words[i], "timed=1") == 0)
            suite->is_timed = true;
        else
            return false;
    }
    return suite->seeds > 0 && !(suite->is_timed && suite->wants_gpu);
}

int main(int count, char **words)
{
    struct suite suite = {.texts = "tests/emulator", .seeds = 5};

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!read_words(&suite, count, words)) {
        fprintf(stderr, "usage: foreign_suite emulator|gpu [texts=FOLDER] [case=WORD] [seeds=N]\n"
                        "       foreign_suite emulator timed=1 ...\n");
        return 2;
    }
    if (!open_driver(&suite))
        return suite.wants_gpu ? 0 : 1;
    for (const struct foreign_case *is = foreign_cases; is->file != NULL; is++)
        for (int i = 0; i < VARIANTS; i++)
            if (is->targets & variants[i].target)
                run_case(&suite, is, &variants[i]);
    if (!suite.only) {
        every_text_has_a_case(&suite, "foreign/ptx");
        every_text_has_a_case(&suite, "triton/ptx");
    }
    if (suite.is_timed)
        every_launch_was_timed(&suite);
    printf("1..%d\n", suite.numbered);
    lt_driver_close(&suite.driver);
    return suite.failed > 0;
}
