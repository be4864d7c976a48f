/* driver_header_test.c: holds emulator/cuda_types.h and driver.def against CUDA's own header, where
 * that is installed; elsewhere it is skipped and says so. */
#if defined(__has_include)
#if __has_include(<cuda.h>)
#include <cuda.h>
#endif
#endif

#include "tests/emulator/driver_header_test.h"
#include "tests/support/cmocka_all.h"

#include <stdbool.h>
#include <string.h>

#if defined(CUDA_VERSION) && CUDA_VERSION >= 13000

#define FACTS_NAME cudas
#include "tests/emulator/driver_header_facts.h"

static void types_and_constants_are_those_of_cuda_h(void **state)
{
    int wrong = 0;

    (void)state;
    assert_int_equal(driver_facts_ours_count, driver_facts_cudas_count);
    for (size_t i = 0; i < driver_facts_ours_count; i++) {
        assert_string_equal(driver_facts_ours[i].what, driver_facts_cudas[i].what);
        if (driver_facts_ours[i].value == driver_facts_cudas[i].value)
            continue;
        print_error("%s: %lld in cuda_types.h, %lld in cuda.h\n", driver_facts_ours[i].what,
                    driver_facts_ours[i].value, driver_facts_cudas[i].value);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

/* What cuda.h makes of each name that a program writes, and what driver.def exports for it. */
#define TEXT_(words) #words
#define TEXT(words) TEXT_(words)
static const struct {
    const char *name, *symbol, *bound;
    int since;
} calls[] = {
#define EMU_CU(symbol, name, since, needs, function, parameters, arguments)                        \
    {#name, #symbol, TEXT(name), since},
#define EMU_CU_STREAM(symbol, suffix, name, since, needs, function, parameters, arguments)         \
    {#name, #symbol, TEXT(name), since},
#include "emulator/driver.def"
#undef EMU_CU
#undef EMU_CU_STREAM
};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* Every name's binding is exported, whatever else is for its sake. A later header may bind it to
 * what CUDA 13.0 did not have. */
static void the_names_of_cuda_h_are_exported(void **state)
{
    int wrong = 0;

    (void)state;
    if (CUDA_VERSION != 13000)
        skip();
    for (size_t i = 0; i < CALLS; i++) {
        bool is_there = false;

        for (size_t j = 0; j < CALLS; j++)
            is_there |= strcmp(calls[j].symbol, calls[i].bound) == 0;
        if (is_there)
            continue;
        print_error("%s: cuda.h binds it to %s\n", calls[i].name, calls[i].bound);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_and_constants_are_those_of_cuda_h),
        cmocka_unit_test(the_names_of_cuda_h_are_exported),
    };

    return cmocka_run_group_tests_name("emulator driver header", tests, NULL, NULL);
}

#else

static void types_and_constants_are_those_of_cuda_h(void **state)
{
    (void)state;
    print_message("skipped: no cuda.h of CUDA 13 on the include path\n");
    skip();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_and_constants_are_those_of_cuda_h),
    };

    return cmocka_run_group_tests_name("emulator driver header", tests, NULL, NULL);
}

#endif
