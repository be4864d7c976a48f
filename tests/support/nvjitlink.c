#include "tests/support/nvjitlink.h"

#include "tests/support/cmocka_all.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_PTX = 2 };

/* As nvJitLink.h of CUDA 12 and 13 has them. */
static struct {
    int (*create)(void **handle, uint32_t count, const char **options);
    int (*destroy)(void **handle);
    int (*add_data)(void *handle, int type, const void *data, size_t size, const char *name);
    int (*complete)(void *handle);
    int (*cubin_size)(void *handle, size_t *size);
    int (*error_log_size)(void *handle, size_t *size);
    int (*error_log)(void *handle, char *log);
    int (*info_log_size)(void *handle, size_t *size);
    int (*info_log)(void *handle, char *log);
} link_calls;

static int find_calls(void *library)
{
    const struct {
        const char *name;
        void *call;
    } calls[] = {
        {"nvJitLinkCreate", &link_calls.create},
        {"nvJitLinkDestroy", &link_calls.destroy},
        {"nvJitLinkAddData", &link_calls.add_data},
        {"nvJitLinkComplete", &link_calls.complete},
        {"nvJitLinkGetLinkedCubinSize", &link_calls.cubin_size},
        {"nvJitLinkGetErrorLogSize", &link_calls.error_log_size},
        {"nvJitLinkGetErrorLog", &link_calls.error_log},
        {"nvJitLinkGetInfoLogSize", &link_calls.info_log_size},
        {"nvJitLinkGetInfoLog", &link_calls.info_log},
    };

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        void *symbol = dlsym(library, calls[i].name);

        if (!symbol)
            return 0;
        memcpy(calls[i].call, &symbol, sizeof symbol);
    }
    return 1;
}

int nvjitlink_setup(void **state)
{
    const char *const names[] = {getenv("LATHE_NVJITLINK_LIBRARY"), "libnvJitLink.so.13",
                                 "libnvJitLink.so.12"};
    void *library = NULL;

    (void)state;
    for (size_t i = 0; !library && i < sizeof names / sizeof names[0]; i++)
        library = names[i] ? dlopen(names[i], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library || !find_calls(library)) {
        print_message("# no libnvJitLink.so.13 or .12 in the loader's path, nor named by "
                      "LATHE_NVJITLINK_LIBRARY\n");
        link_calls.create = NULL;
    }
    /* Beside a driver the linker keeps answers, and then says nothing of registers. */
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    return 0;
}

void nvjitlink_need(void)
{
    if (!link_calls.create)
        skip();
}

static char *log_of(void *handle, int (*get_size)(void *, size_t *), int (*get)(void *, char *))
{
    size_t size = 0;
    char *log;

    assert_int_equal(get_size(handle, &size), 0);
    log = calloc(1, size + 1);
    assert_non_null(log);
    if (size > 0)
        assert_int_equal(get(handle, log), 0);
    return log;
}

static void *linker_for(const char *arch)
{
    char arch_option[32];
    const char *options[] = {arch_option, "-verbose"};
    void *handle = NULL;

    snprintf(arch_option, sizeof arch_option, "-arch=%s", arch);
    assert_int_equal(link_calls.create(&handle, 2, options), 0);
    return handle;
}

static int link_text(void *handle, const char *text, const char *name)
{
    int result = link_calls.add_data(handle, INPUT_PTX, text, strlen(text) + 1, name);

    return result == 0 ? link_calls.complete(handle) : result;
}

bool nvjitlink_takes(const char *text, const char *arch)
{
    void *handle = linker_for(arch);
    int result = link_text(handle, text, "text");

    link_calls.destroy(&handle);
    return result == 0;
}

char *nvjitlink_log(const char *text, const char *arch, const char *name)
{
    void *handle = linker_for(arch);
    size_t cubin_bytes = 0;
    char *log;

    if (link_text(handle, text, name) != 0) {
        log = log_of(handle, link_calls.error_log_size, link_calls.error_log);
        link_calls.destroy(&handle);
        fail_msg("%s is refused for %s: %s", name, arch, log);
    }
    assert_int_equal(link_calls.cubin_size(handle, &cubin_bytes), 0);
    assert_true(cubin_bytes > 0);
    log = log_of(handle, link_calls.info_log_size, link_calls.info_log);
    link_calls.destroy(&handle);
    return log;
}

void nvjitlink_expect_clean(const char *text, const char *arch, const char *name)
{
    char *log = nvjitlink_log(text, arch, name);
    const char *spills = strstr(log, " bytes spill stores");

    if (strstr(log, "C75") || strstr(log, "warning") || !spills ||
        strncmp(spills - 2, " 0", 2) != 0 || !strstr(log, " 0 bytes spill loads"))
        fail_msg("%s: the linker says: %s", name, log);
    free(log);
}
