#include "tests/stress/stress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void *open_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        fprintf(stderr, "cannot open %s: %s\n", path, dlerror());
        exit(1);
    }
    return library;
}

static void find(void *library, const char *name, void *slot)
{
    void *symbol = dlsym(library, name);

    if (!symbol) {
        fprintf(stderr, "the stub has no %s\n", name);
        exit(1);
    }
    memcpy(slot, &symbol, sizeof symbol);
}

void stress_open(struct stress *stress)
{
    void *linker = open_library(STUB_LINKER_PATH);
    const char *missing;

    *stress = (struct stress){.driver = open_library(STUB_DRIVER_PATH)};
    missing = stub_control_open(&stress->stub, stress->driver);
    if (missing || !sample_directory_make(stress->scratch)) {
        fprintf(stderr, "no %s\n", missing ? missing : "directory to work in");
        exit(1);
    }
    find(linker, STUB_LINKER_SET, &stress->link_mode);
    find(linker, STUB_LINKER_DELAY, &stress->link_delay);
    snprintf(stress->cache, sizeof stress->cache, "%.500s/cache", stress->scratch);
    setvbuf(stdout, NULL, _IOLBF, 0);
}

int stress_close(struct stress *stress)
{
    sample_directory_remove(stress->scratch);
    printf("1..%d\n", stress->results);
    return stress->failed > 0;
}

struct lathe_context_options stress_options(const struct stress *stress)
{
    struct lathe_context_options options = LATHE_CONTEXT_OPTIONS_INIT;

    options.driver_library = STUB_DRIVER_PATH;
    options.linker_library = STUB_LINKER_PATH;
    options.cache = LATHE_ON;
    options.cache_dir = stress->cache;
    return options;
}

bool stress_driver_is_clean(const struct stress *stress)
{
    for (int kind = 0; kind < STUB_KIND_COUNT; kind++)
        if (stress->stub.live((enum stub_kind)kind) != 0 ||
            stress->stub.lost((enum stub_kind)kind) != 0)
            return false;
    return true;
}

bool stress_error_is_told(const struct lathe_error *error, enum lathe_status status)
{
    size_t length = strnlen(error->message, sizeof error->message);

    return error->status == status && length > 0 && length < sizeof error->message &&
           !memchr(error->message, '\n', length);
}

void stress_result(struct stress *stress, bool ok, const char *format, ...)
{
    va_list arguments;

    printf("%sok %d - ", ok ? "" : "not ", ++stress->results);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    stress->failed += !ok;
}

uint64_t stress_draw(uint64_t *state, uint64_t count)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % count;
}
