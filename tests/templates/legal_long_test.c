/* Every legal plan of the list: what ptxas says of it, and what it does (see walk.h). Too long for
 * every day. */
#include "include/lathe_tools.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/nvjitlink.h"
#include "tests/templates/fixture.h"
#include "tests/templates/walk.h"

#include <stdio.h>

static int for_each_legal_plan(void (*act)(const struct lathe_kernel *kernel, const char *words))
{
    char words[LATHE_WORDS_SIZE * 2];
    int count = 0;

    for (; lathe_legal_plan_at((size_t)count, words, sizeof words); count++) {
        char request[WORDS_MAX];
        struct lathe_kernel *kernel;

        snprintf(request, sizeof request, "gemm m=4096 n=4096 k=4096 %s", words);
        kernel = kernel_of(request);
        act(kernel, words);
        lathe_kernel_destroy(&kernel);
    }
    return count;
}

static void link_cleanly(const struct lathe_kernel *kernel, const char *words)
{
    nvjitlink_expect_clean(lathe_kernel_text(kernel, NULL), "sm_90a", words);
}

static void every_legal_plan_links_without_spills_or_warnings(void **state)
{
    (void)state;
    nvjitlink_need();

    assert_true(for_each_legal_plan(link_cleanly) > 300);
}

static void walk_with_edge(const struct lathe_kernel *kernel, const char *words)
{
    const struct lathe_plan *plan = lathe_kernel_plan(kernel);

    (void)words;
    walk_cluster(kernel, plan->tile[0] * plan->cluster[0] + 10,
                 plan->tile[1] * plan->cluster[1] + 3, plan->tile[2] + 8, 2, 1.0f);
}

static void every_legal_plan_makes_every_element_of_d(void **state)
{
    (void)state;

    assert_true(for_each_legal_plan(walk_with_edge) > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_legal_plan_links_without_spills_or_warnings),
        cmocka_unit_test(every_legal_plan_makes_every_element_of_d),
    };

    return cmocka_run_group_tests(tests, nvjitlink_setup, NULL);
}
