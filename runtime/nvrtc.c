#include "runtime/nvrtc.h"

#include "codegen/memory.h"
#include "codegen/status.h"
#include "runtime/library.h"

#include <stdio.h>
#include <string.h>

/* nvrtc.h of CUDA 12 and 13, as far as it is used: the program is opaque, results are ints. */
typedef struct lt_nvrtc_program_tag *program;

enum { SUCCESS = 0 };

struct lt_nvrtc {
    struct lt_library library;
    const struct lathe_allocator *allocator;
    char version[32];
    int (*create)(program *made, const char *text, const char *name, int header_count,
                  const char *const *headers, const char *const *header_names);
    int (*destroy)(program *gone);
    int (*compile)(program of, int option_count, const char *const *options);
    int (*cubin_size)(program of, size_t *size);
    int (*cubin)(program of, char *cubin);
    int (*log_size)(program of, size_t *size);
    int (*log)(program of, char *log);
    const char *(*error_string)(int result);
};

/* The first function that the library lacks, or null. */
static const char *load(struct lt_nvrtc *nvrtc)
{
    const struct lt_library_function functions[] = {
        {"nvrtcCreateProgram", &nvrtc->create},   {"nvrtcDestroyProgram", &nvrtc->destroy},
        {"nvrtcCompileProgram", &nvrtc->compile}, {"nvrtcGetCUBINSize", &nvrtc->cubin_size},
        {"nvrtcGetCUBIN", &nvrtc->cubin},         {"nvrtcGetProgramLogSize", &nvrtc->log_size},
        {"nvrtcGetProgramLog", &nvrtc->log},      {"nvrtcGetErrorString", &nvrtc->error_string},
    };

    return lt_library_load(&nvrtc->library, functions, sizeof functions / sizeof functions[0],
                           NULL);
}

static void read_version(struct lt_nvrtc *nvrtc)
{
    int (*version)(int *major, int *minor);
    const struct lt_library_function function = {"nvrtcVersion", &version};
    int major = 0, minor = 0;

    if (!lt_library_load(&nvrtc->library, &function, 1, NULL) && version(&major, &minor) == SUCCESS)
        snprintf(nvrtc->version, sizeof nvrtc->version, "NVRTC %d.%d", major, minor);
    else
        snprintf(nvrtc->version, sizeof nvrtc->version, "NVRTC");
}

enum lathe_status lt_nvrtc_open(struct lt_nvrtc **nvrtc, const char *path, const char *const *roots,
                                const struct lathe_allocator *allocator, struct lathe_error *err)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", NULL};
    const struct lt_library_search search = {
        .title = "NVRTC",
        .install = "install it (package cuda-nvrtc-13-0, PyPI nvidia-cuda-nvrtc, or a CUDA "
                   "toolkit) or name it in LATHE_NVRTC_LIBRARY",
        .status = LATHE_NO_LIBRARY,
        .path = path,
        .names = names,
        .roots = roots,
    };
    struct lt_nvrtc *made = lt_allocate(allocator, sizeof *made);

    if (!made)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for NVRTC");
    *made = (struct lt_nvrtc){.allocator = allocator};

    enum lathe_status status = lt_library_open(&made->library, &search, err);
    const char *missing = status == LATHE_OK ? load(made) : NULL;

    if (missing)
        status = lt_library_refuse(&made->library, &search, missing, err);
    if (status != LATHE_OK) {
        lt_nvrtc_close(&made);
        return status;
    }
    read_version(made);
    *nvrtc = made;
    return LATHE_OK;
}

void lt_nvrtc_close(struct lt_nvrtc **nvrtc)
{
    if (!*nvrtc)
        return;
    lt_release((*nvrtc)->allocator, *nvrtc);
    *nvrtc = NULL;
}

const char *lt_nvrtc_version(const struct lt_nvrtc *nvrtc)
{
    return nvrtc->version;
}

/* ---- The log ---- */

static char *read_log(const struct lt_nvrtc *nvrtc, program of)
{
    size_t size = 0;

    if (nvrtc->log_size(of, &size) != SUCCESS)
        size = 0;

    char *log = lt_allocate(nvrtc->allocator, size + 1);

    if (!log)
        return NULL;
    log[0] = '\0';
    if (size > 0 && nvrtc->log(of, log) != SUCCESS)
        log[0] = '\0';
    log[size] = '\0';
    return log;
}

/* The line that holds the first "error", which is rarely the log's first. */
static const char *telling_line(const char *log)
{
    const char *at = strstr(log, "error");

    while (at && at > log && at[-1] != '\n')
        at--;
    return at ? at : log;
}

static enum lathe_status refuse(const struct lt_nvrtc *nvrtc, program of, int result,
                                const char *step, const char *name, struct lathe_error *err)
{
    char *log = of ? read_log(nvrtc, of) : NULL;
    const char *line = log && log[0] ? telling_line(log) : nvrtc->error_string(result);
    enum lathe_status status =
        lt_fail(err, LATHE_LINK_FAILED, "%s: %s failed on %s: %.*s", nvrtc->version, step, name,
                line ? (int)strcspn(line, "\n") : 0, line ? line : "");

    lt_release(nvrtc->allocator, log);
    return status;
}

/* ---- The compilation ---- */

static enum lathe_status take_cubin(const struct lt_nvrtc *nvrtc, program of, const char *name,
                                    void **cubin, size_t *cubin_bytes, struct lathe_error *err)
{
    size_t size = 0;
    int result = nvrtc->cubin_size(of, &size);

    if (result != SUCCESS || size == 0)
        return refuse(nvrtc, of, result, "nvrtcGetCUBINSize", name, err);

    char *bytes = lt_allocate(nvrtc->allocator, size);

    if (!bytes)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a cubin of %zu bytes", size);
    result = nvrtc->cubin(of, bytes);
    if (result != SUCCESS) {
        lt_release(nvrtc->allocator, bytes);
        return refuse(nvrtc, of, result, "nvrtcGetCUBIN", name, err);
    }
    *cubin = bytes;
    *cubin_bytes = size;
    return LATHE_OK;
}

enum lathe_status lt_nvrtc_compile(struct lt_nvrtc *nvrtc, const char *text, const char *name,
                                   enum lathe_arch arch, void **cubin, size_t *cubin_bytes,
                                   struct lathe_error *err)
{
    char arch_option[32];
    const char *options[] = {arch_option};
    program of = NULL;
    enum lathe_status status;

    snprintf(arch_option, sizeof arch_option, "-arch=%s", lathe_arch_name(arch));

    int result = nvrtc->create(&of, text, name, 0, NULL, NULL);

    if (result != SUCCESS)
        return refuse(nvrtc, NULL, result, "nvrtcCreateProgram", name, err);
    result = nvrtc->compile(of, sizeof options / sizeof options[0], options);
    status = result == SUCCESS ? take_cubin(nvrtc, of, name, cubin, cubin_bytes, err)
                               : refuse(nvrtc, of, result, "nvrtcCompileProgram", name, err);
    nvrtc->destroy(&of);
    return status;
}
