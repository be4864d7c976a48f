#include "tests/runtime/fixture.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void *open_stub(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        fail_msg("cannot open %s: %s", path, dlerror());
    return library;
}

static void find(void *library, const char *name, void *slot)
{
    void *symbol = dlsym(library, name);

    assert_non_null(symbol);
    memcpy(slot, &symbol, sizeof symbol);
}

int runtime_set_up(void **state)
{
    struct runtime_fixture *f = calloc(1, sizeof *f);
    void *linker = open_stub(STUB_LINKER_PATH);

    assert_non_null(f);
    assert_null(stub_control_open(&f->stub, open_stub(STUB_DRIVER_PATH)));
    find(linker, STUB_LINKER_SET, &f->link_mode);
    find(linker, STUB_LINKER_COUNT, &f->links);
    find(linker, STUB_LINKER_DELAY, &f->link_delay);
    f->stub.reset();
    f->link_mode(STUB_LINKS);
    f->link_delay(0);
    assert_true(sample_directory_make(f->cache));
    f->options = (struct lathe_context_options)LATHE_CONTEXT_OPTIONS_INIT;
    f->options.driver_library = STUB_DRIVER_PATH;
    f->options.linker_library = STUB_LINKER_PATH;
    f->options.cache_dir = f->cache;
    f->options.log = sample_log;
    f->options.log_user = &f->log;
    assert_status(f, lathe_context_create(&f->context, &f->options, &f->error), LATHE_OK);
    *state = f;
    return 0;
}

int runtime_tear_down(void **state)
{
    struct runtime_fixture *f = *state;

    lathe_context_destroy(&f->context);
    sample_directory_remove(f->cache);
    free(f);
    return 0;
}

void runtime_again(struct runtime_fixture *f)
{
    lathe_context_destroy(&f->context);
    assert_null(f->context);
    assert_status(f, lathe_context_create(&f->context, &f->options, &f->error), LATHE_OK);
}

struct lathe_gemm runtime_problem(void)
{
    struct lathe_gemm problem = LATHE_GEMM_INIT;

    problem.m = 512;
    problem.n = 512;
    problem.k = 256;
    return problem;
}

struct lathe_function *runtime_get(struct runtime_fixture *f, const struct lathe_gemm *problem,
                                   const struct lathe_plan_options *options)
{
    struct lathe_function *function = NULL;

    assert_status(f, lathe_gemm_get(f->context, &function, problem, options, &f->error), LATHE_OK);
    assert_non_null(function);
    return function;
}

struct lathe_gemm_args runtime_args(int64_t m, int64_t n, int64_t k)
{
    struct lathe_gemm_args args = LATHE_GEMM_ARGS_INIT;

    args.m = m;
    args.n = n;
    args.k = k;
    args.a = 0x100000000;
    args.b = 0x200000000;
    args.c = 0x300000000;
    args.d = 0x400000000;
    return args;
}
