#include "runtime/nvrtc.h"

#include "runtime/reference_source.h"
#include "tests/support/cmocka_all.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const roots[] = {"/usr/local/cuda", NULL};

/* The library, or a skipped test with the reason why. */
static struct lt_nvrtc *open_or_skip(void)
{
    struct lt_nvrtc *nvrtc = NULL;
    struct lathe_error err;

    if (lt_nvrtc_open(&nvrtc, getenv("LATHE_NVRTC_LIBRARY"), roots, NULL, &err) != LATHE_OK) {
        print_message("skipped: %s\n", err.message);
        skip();
    }
    return nvrtc;
}

static void the_reference_compiles_for_hopper(void **state)
{
    (void)state;
    struct lt_nvrtc *nvrtc = open_or_skip();
    size_t size = lt_reference_source(NULL, 0) + 1, cubin_bytes = 0;
    char *text = malloc(size);
    void *cubin = NULL;
    struct lathe_error err = {.message = ""};

    assert_non_null(text);
    lt_reference_source(text, size);
    if (lt_nvrtc_compile(nvrtc, text, "reference.cu", LATHE_SM_90A, &cubin, &cubin_bytes, &err) !=
        LATHE_OK)
        fail_msg("%s", err.message);

    assert_true(cubin_bytes > sizeof(Elf64_Ehdr));
    assert_memory_equal(cubin, ELFMAG, SELFMAG);
    assert_non_null(memmem(cubin, cubin_bytes, ".text.lathe_compare", 19));
    assert_non_null(memmem(cubin, cubin_bytes, ".text.lathe_damage", 18));
    assert_non_null(memmem(cubin, cubin_bytes, ".text.lathe_fill", 16));
    free(cubin);
    free(text);
    lt_nvrtc_close(&nvrtc);
    assert_null(nvrtc);
}

static void the_version_is_told(void **state)
{
    (void)state;
    struct lt_nvrtc *nvrtc = open_or_skip();
    int major = 0, minor = 0;

    assert_int_equal(sscanf(lt_nvrtc_version(nvrtc), "NVRTC %d.%d", &major, &minor), 2);
    assert_true(major >= 12);
    lt_nvrtc_close(&nvrtc);
}

static void a_text_that_does_not_compile_is_refused_with_the_compilers_words(void **state)
{
    (void)state;
    struct lt_nvrtc *nvrtc = open_or_skip();
    size_t cubin_bytes = 7;
    void *cubin = NULL;
    struct lathe_error err;

    assert_int_equal(lt_nvrtc_compile(nvrtc, "__global__ void f() { nonsense; }", "bad.cu",
                                      LATHE_SM_90A, &cubin, &cubin_bytes, &err),
                     LATHE_LINK_FAILED);
    assert_non_null(strstr(err.message, "bad.cu"));
    assert_non_null(strstr(err.message, "nonsense"));
    assert_null(cubin);
    assert_int_equal(cubin_bytes, 7);
    lt_nvrtc_close(&nvrtc);
}

static void a_missing_library_says_what_to_install(void **state)
{
    (void)state;
    struct lt_nvrtc *nvrtc = NULL;
    struct lathe_error err;

    assert_int_equal(lt_nvrtc_open(&nvrtc, "/nowhere/libnvrtc.so", roots, NULL, &err),
                     LATHE_NO_LIBRARY);
    assert_null(nvrtc);
    assert_non_null(strstr(err.message, "/nowhere/libnvrtc.so"));
    assert_non_null(strstr(err.message, "install"));
    assert_non_null(strstr(err.message, "LATHE_NVRTC_LIBRARY"));
}

static void another_library_is_no_nvrtc(void **state)
{
    (void)state;
    struct lt_nvrtc *nvrtc = NULL;
    struct lathe_error err;

    assert_int_equal(lt_nvrtc_open(&nvrtc, "libc.so.6", roots, NULL, &err), LATHE_NO_LIBRARY);
    assert_null(nvrtc);
    assert_non_null(strstr(err.message, "libc.so.6 is no NVRTC"));
}

static void closing_nothing_is_fine(void **state)
{
    (void)state;
    struct lt_nvrtc *nvrtc = NULL;

    lt_nvrtc_close(&nvrtc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reference_compiles_for_hopper),
        cmocka_unit_test(the_version_is_told),
        cmocka_unit_test(a_text_that_does_not_compile_is_refused_with_the_compilers_words),
        cmocka_unit_test(a_missing_library_says_what_to_install),
        cmocka_unit_test(another_library_is_no_nvrtc),
        cmocka_unit_test(closing_nothing_is_fine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
