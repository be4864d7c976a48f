/* The driver as a table: found, missing, too old, failing. */
#include "runtime/driver.h"

#include "runtime/library.h"
#include "tests/runtime/fixture.h"

#include <stdio.h>
#include <stdlib.h>

static void a_missing_driver_is_named_with_what_to_install(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_driver driver;

    assert_status(f, lt_driver_open(&driver, "/nowhere/libcuda.so.1", &f->error), LATHE_NO_DRIVER);
    assert_message(f, "/nowhere/libcuda.so.1");
    assert_message(f, "install NVIDIA's driver for CUDA 12.0 or newer");
}

static void a_driver_of_cuda_11_is_too_old(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_driver driver;

    assert_status(f, lt_driver_open(&driver, STUB_OLD_DRIVER_PATH, &f->error), LATHE_NO_DRIVER);
    assert_message(f, "CUDA 11.8");
    assert_message(f, "too old");
}

static void a_driver_that_says_it_is_old_is_believed(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_driver driver;

    f->stub.set_version(11040);
    assert_status(f, lt_driver_open(&driver, STUB_DRIVER_PATH, &f->error), LATHE_NO_DRIVER);
    assert_message(f, "CUDA 11.4");
}

static void a_library_that_is_no_driver_is_refused(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_driver driver;

    assert_status(f, lt_driver_open(&driver, STUB_LINKER_PATH, &f->error), LATHE_NO_DRIVER);
    assert_message(f, "is no CUDA driver");
    assert_message(f, "has no cuInit");
}

static void no_device_is_a_status_of_its_own(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_driver driver;

    f->stub.fail_call("cuInit", LT_CUDA_ERROR_NO_DEVICE, 0, STUB_ALWAYS);
    assert_status(f, lt_driver_open(&driver, STUB_DRIVER_PATH, &f->error), LATHE_NO_DEVICE);
    assert_message(f, "finds no GPU");
}

static void a_failing_call_is_told_in_the_drivers_words(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_driver driver;

    assert_status(f, lt_driver_open(&driver, STUB_DRIVER_PATH, &f->error), LATHE_OK);
    assert_status(f, lt_driver_check(&driver, 719, "cuStreamSynchronize", &f->error),
                  LATHE_DRIVER_FAILED);
    assert_message(f, "cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED (719)");
    assert_status(f, lt_driver_check(&driver, 2, "cuMemAlloc", &f->error), LATHE_OUT_OF_MEMORY);
    assert_status(f, lt_driver_check(&driver, 123456, "cuMemAlloc", &f->error),
                  LATHE_DRIVER_FAILED);
    assert_message(f, "123456");
    lt_driver_close(&driver);
}

static void a_library_is_found_under_a_toolkits_root(void **state)
{
    struct runtime_fixture *f = *state;
    const char *names[] = {"libfound-under-root.so", NULL};
    const char *roots[] = {"", f->cache, NULL};
    struct lt_library_search search = {
        .title = "the library", .status = LATHE_NO_LIBRARY, .names = names, .roots = roots};
    struct lt_library library;
    char command[2048];

    snprintf(command, sizeof command, "mkdir -p '%s/lib' && cp '%s' '%s/lib/%s'", f->cache,
             STUB_LINKER_PATH, f->cache, names[0]);
    assert_int_equal(system(command), 0);
    assert_status(f, lt_library_open(&library, &search, &f->error), LATHE_OK);
    assert_non_null(strstr(library.found, "/lib/libfound-under-root.so"));
}

static void what_was_looked_for_is_told(void **state)
{
    struct runtime_fixture *f = *state;
    const char *names[] = {"libno-such-thing.so.13", "libno-such-thing.so.12", NULL};
    const char *roots[] = {"/no/toolkit", NULL};
    struct lt_library_search search = {.title = "such thing",
                                       .install = "make one",
                                       .status = LATHE_NO_LIBRARY,
                                       .names = names,
                                       .roots = roots};
    struct lt_library library;

    assert_status(f, lt_library_open(&library, &search, &f->error), LATHE_NO_LIBRARY);
    assert_string_equal(f->error.message,
                        "no such thing: looked for libno-such-thing.so.13, libno-such-thing.so.12 "
                        "in the loader's path and under /no/toolkit; make one");
}

static void why_a_library_that_was_named_cannot_be_loaded_is_told(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_library_search search = {
        .title = "such thing", .install = "make one", .status = LATHE_NO_DRIVER};
    struct lt_library library;
    char path[SAMPLE_PATH_SIZE + 16];
    FILE *file;

    snprintf(path, sizeof path, "%s/text.so", f->cache);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("this is no library, though it is long enough to be looked at as one, header and all",
          file);
    fclose(file);
    search.path = path;
    assert_status(f, lt_library_open(&library, &search, &f->error), LATHE_NO_DRIVER);
    assert_message(f, path);
    assert_message(f, "invalid ELF header");
    assert_message(f, "; make one");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUNTIME_TEST(a_missing_driver_is_named_with_what_to_install),
        RUNTIME_TEST(a_driver_of_cuda_11_is_too_old),
        RUNTIME_TEST(a_driver_that_says_it_is_old_is_believed),
        RUNTIME_TEST(a_library_that_is_no_driver_is_refused),
        RUNTIME_TEST(no_device_is_a_status_of_its_own),
        RUNTIME_TEST(a_failing_call_is_told_in_the_drivers_words),
        RUNTIME_TEST(a_library_is_found_under_a_toolkits_root),
        RUNTIME_TEST(what_was_looked_for_is_told),
        RUNTIME_TEST(why_a_library_that_was_named_cannot_be_loaded_is_told),
    };

    return cmocka_run_group_tests_name("driver", tests, NULL, NULL);
}
