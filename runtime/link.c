#include "runtime/link.h"

#include "codegen/memory.h"
#include "codegen/status.h"
#include "runtime/clock.h"
#include "runtime/library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* nvJitLink.h of CUDA 12 and 13, as far as it is used: the handle is opaque, results are ints. */
typedef struct lt_nvjitlink_tag *handle;

enum { SUCCESS = 0, INPUT_PTX = 2 };

struct lt_linker {
    struct lt_library library;
    const struct lathe_allocator *allocator;
    char version[32];
    int (*create)(handle *link, uint32_t count, const char **options);
    int (*destroy)(handle *link);
    int (*add_data)(handle link, int type, const void *data, size_t size, const char *name);
    int (*complete)(handle link);
    int (*cubin_size)(handle link, size_t *size);
    int (*cubin)(handle link, void *cubin);
    int (*error_log_size)(handle link, size_t *size);
    int (*error_log)(handle link, char *log);
    int (*info_log_size)(handle link, size_t *size);
    int (*info_log)(handle link, char *log);
};

/* From CUDA 12.4 on the library exports plain names; before, only those that carry its version. */
static void *find_symbol(void *library, const char *name)
{
    static const char *const versions[] = {"12_0", "12_1", "12_2", "12_3", "12_4", "12_5", "12_6",
                                           "12_8", "12_9", "13_0", "13_1", "13_2", "13_3"};
    char versioned[96];
    void *symbol = dlsym(library, name);

    for (size_t i = 0; !symbol && i < sizeof versions / sizeof versions[0]; i++) {
        snprintf(versioned, sizeof versioned, "__%s_%s", name, versions[i]);
        symbol = dlsym(library, versioned);
    }
    return symbol;
}

/* The first function that the library lacks, or null. */
static const char *load(struct lt_linker *linker)
{
    const struct lt_library_function functions[] = {
        {"nvJitLinkCreate", &linker->create},
        {"nvJitLinkDestroy", &linker->destroy},
        {"nvJitLinkAddData", &linker->add_data},
        {"nvJitLinkComplete", &linker->complete},
        {"nvJitLinkGetLinkedCubinSize", &linker->cubin_size},
        {"nvJitLinkGetLinkedCubin", &linker->cubin},
        {"nvJitLinkGetErrorLogSize", &linker->error_log_size},
        {"nvJitLinkGetErrorLog", &linker->error_log},
        {"nvJitLinkGetInfoLogSize", &linker->info_log_size},
        {"nvJitLinkGetInfoLog", &linker->info_log},
    };

    return lt_library_load(&linker->library, functions, sizeof functions / sizeof functions[0],
                           find_symbol);
}

static void read_version(struct lt_linker *linker)
{
    int (*version)(unsigned *major, unsigned *minor);
    const struct lt_library_function function = {"nvJitLinkVersion", &version};
    unsigned major = 0, minor = 0;

    if (!lt_library_load(&linker->library, &function, 1, NULL) &&
        version(&major, &minor) == SUCCESS)
        snprintf(linker->version, sizeof linker->version, "nvJitLink %u.%u", major, minor);
    else
        snprintf(linker->version, sizeof linker->version, "nvJitLink");
}

enum lathe_status lt_linker_open(struct lt_linker **linker, const char *path,
                                 const char *const *roots, const struct lathe_allocator *allocator,
                                 struct lathe_error *err)
{
    static const char *const names[] = {"libnvJitLink.so.13", "libnvJitLink.so.12",
                                        "libnvJitLink.so", NULL};
    const struct lt_library_search search = {
        .title = "nvJitLink",
        .install = "install it (package libnvjitlink-13-0, PyPI nvidia-nvjitlink, or a CUDA "
                   "toolkit) or name it in LATHE_NVJITLINK_LIBRARY",
        .status = LATHE_NO_LIBRARY,
        .path = path,
        .names = names,
        .roots = roots,
    };
    struct lt_linker *made = lt_allocate(allocator, sizeof *made);

    if (!made)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for the linker");
    *made = (struct lt_linker){.allocator = allocator};

    enum lathe_status status = lt_library_open(&made->library, &search, err);
    const char *missing = status == LATHE_OK ? load(made) : NULL;

    if (missing)
        status = lt_library_refuse(&made->library, &search, missing, err);
    if (status != LATHE_OK) {
        lt_linker_close(&made);
        return status;
    }
    read_version(made);
    *linker = made;
    return LATHE_OK;
}

void lt_linker_close(struct lt_linker **linker)
{
    if (!*linker)
        return;
    lt_release((*linker)->allocator, *linker);
    *linker = NULL;
}

const char *lt_linker_version(const struct lt_linker *linker)
{
    return linker->version;
}

void lt_link_options(enum lathe_arch arch, char *buffer, size_t size)
{
    /* -verbose puts registers and spills into the log. */
    snprintf(buffer, size, "-arch=%s -verbose", lathe_arch_name(arch));
}

/* ---- The log ---- */

static char *read_log(const struct lt_linker *linker, handle link,
                      int (*log_size)(handle, size_t *), int (*log)(handle, char *))
{
    size_t size = 0;

    if (log_size(link, &size) != SUCCESS)
        size = 0;

    char *text = lt_allocate(linker->allocator, size + 1);

    if (!text)
        return NULL;
    text[0] = '\0';
    if (size > 0 && log(link, text) != SUCCESS)
        text[0] = '\0';
    text[size] = '\0';
    return text;
}

/* The number before `words` in the log, or -1. */
static int number_before(const char *log, const char *words)
{
    const char *at = strstr(log, words);
    int number = 0, scale = 1;

    if (!at || at == log)
        return -1;
    for (at--; at > log && *at == ' '; at--)
        ;
    if (*at < '0' || *at > '9')
        return -1;
    for (; at >= log && *at >= '0' && *at <= '9' && scale < 100000000; at--, scale *= 10)
        number += (*at - '0') * scale;
    return number;
}

/* ptxas speaks of lost performance in lines marked (C75xx), of wgmma among them. */
static bool is_warning(const char *line, size_t length)
{
    static const char *const marks[] = {"(C75", "warning", "Warning"};

    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (memmem(line, length, marks[i], strlen(marks[i])))
            return true;
    return false;
}

/* Moves the warning lines to the front of the log and cuts it behind them. */
static int keep_warnings(char *log)
{
    char *to = log;
    int count = 0;

    for (char *line = log; *line;) {
        size_t length = strcspn(line, "\n");
        bool last = line[length] == '\0';

        if (is_warning(line, length)) {
            memmove(to, line, length);
            to += length;
            if (!last)
                *to++ = '\n';
            count++;
        }
        if (last)
            break;
        line += length + 1;
    }
    *to = '\0';
    return count;
}

static enum lathe_status refuse(const struct lt_linker *linker, handle link, const char *step,
                                const char *name, struct lathe_error *err)
{
    char *log = link ? read_log(linker, link, linker->error_log_size, linker->error_log) : NULL;
    enum lathe_status status =
        lt_fail(err, LATHE_LINK_FAILED, "%s: %s failed on %s: %.*s", linker->version, step, name,
                log && log[0] ? (int)strcspn(log, "\n") : 6, log && log[0] ? log : "no log");

    lt_release(linker->allocator, log);
    return status;
}

/* ---- The link ---- */

static enum lathe_status take_cubin(const struct lt_linker *linker, handle link, const char *name,
                                    struct lt_linked *linked, struct lathe_error *err)
{
    size_t size = 0;

    if (linker->cubin_size(link, &size) != SUCCESS || size == 0)
        return refuse(linker, link, "nvJitLinkGetLinkedCubinSize", name, err);
    linked->cubin = lt_allocate(linker->allocator, size);
    if (!linked->cubin)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a cubin of %zu bytes", size);
    linked->cubin_bytes = size;
    if (linker->cubin(link, linked->cubin) != SUCCESS)
        return refuse(linker, link, "nvJitLinkGetLinkedCubin", name, err);

    linked->warnings = read_log(linker, link, linker->info_log_size, linker->info_log);
    if (!linked->warnings)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for the linker's log");
    linked->registers = number_before(linked->warnings, " registers");
    linked->spill_bytes = number_before(linked->warnings, " bytes spill stores");
    linked->warning_count = keep_warnings(linked->warnings);
    return LATHE_OK;
}

static enum lathe_status run_link(struct lt_linker *linker, handle link, const char *text,
                                  size_t text_bytes, const char *name, struct lt_linked *linked,
                                  struct lathe_error *err)
{
    /* PTX is compiled here; the size may include the final NUL. */
    if (linker->add_data(link, INPUT_PTX, text, text_bytes + 1, name) != SUCCESS)
        return refuse(linker, link, "nvJitLinkAddData", name, err);
    if (linker->complete(link) != SUCCESS)
        return refuse(linker, link, "nvJitLinkComplete", name, err);
    return take_cubin(linker, link, name, linked, err);
}

/* The linker would keep a cache of its own beside ours, and start the driver for it. Linkers that
 * do not know -no-cache do without. Source: nvJitLink documentation, "Supported Link Options". */
static bool create(const struct lt_linker *linker, enum lathe_arch arch, handle *link)
{
    char words[128];
    const char *options[8];
    uint32_t count = 0;
    char *rest = words;

    lt_link_options(arch, words, sizeof words);
    while (count < 7 && (options[count] = strtok_r(count ? NULL : words, " ", &rest)) != NULL)
        count++;
    options[count] = "-no-cache";
    if (linker->create(link, count + 1, options) == SUCCESS)
        return true;
    if (*link)
        linker->destroy(link);
    *link = NULL;
    return linker->create(link, count, options) == SUCCESS;
}

enum lathe_status lt_link(struct lt_linker *linker, const char *text, size_t text_bytes,
                          const char *name, enum lathe_arch arch, struct lt_linked *linked,
                          struct lathe_error *err)
{
    handle link = NULL;
    double start = lt_now_us();

    *linked = (struct lt_linked){.registers = -1, .spill_bytes = -1};

    enum lathe_status status = create(linker, arch, &link)
                                   ? run_link(linker, link, text, text_bytes, name, linked, err)
                                   : refuse(linker, link, "nvJitLinkCreate", name, err);

    if (link)
        linker->destroy(&link);
    linked->milliseconds = (lt_now_us() - start) / 1e3;
    if (status != LATHE_OK)
        lt_linked_release(linker, linked);
    return status;
}

void lt_linked_release(struct lt_linker *linker, struct lt_linked *linked)
{
    lt_release(linker->allocator, linked->cubin);
    lt_release(linker->allocator, linked->warnings);
    *linked = (struct lt_linked){.registers = -1, .spill_bytes = -1};
}
