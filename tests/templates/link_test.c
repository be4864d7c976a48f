/* What ptxas says of the kernels: no spilled register, no warning of the MMA pipeline. */
#include "tests/support/cmocka_all.h"
#include "tests/support/golden.h"
#include "tests/support/nvjitlink.h"
#include "tests/templates/fixture.h"

#include <stdlib.h>
#include <string.h>

static int linked;

static void link_golden(const char *file)
{
    char *text = golden_read(file);

    nvjitlink_expect_clean(text,
                           strstr(text, ".target sm_103a")   ? "sm_103a"
                           : strstr(text, ".target sm_100a") ? "sm_100a"
                                                             : "sm_90a",
                           file);
    free(text);
    linked++;
}

static void every_kept_text_links_without_spills_or_warnings(void **state)
{
    (void)state;
    nvjitlink_need();

    linked = 0;
    golden_for_each(".ptx", link_golden);

    assert_true(linked >= 16);
}

static void every_sample_links_without_spills_or_warnings(void **state)
{
    (void)state;
    nvjitlink_need();

    for (int i = 0; i < sample_count; i++) {
        struct lathe_kernel *kernel = kernel_of(sample_requests[i]);

        /* setmaxnreg has no effect in a text that is linked, and ptxas says so. */
        if (lathe_kernel_plan(kernel)->regs[0] == 0)
            nvjitlink_expect_clean(lathe_kernel_text(kernel, NULL), "sm_90a", sample_requests[i]);
        lathe_kernel_destroy(&kernel);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kept_text_links_without_spills_or_warnings),
        cmocka_unit_test(every_sample_links_without_spills_or_warnings),
    };

    return cmocka_run_group_tests(tests, nvjitlink_setup, NULL);
}
