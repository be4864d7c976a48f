#include "codegen/launch_control.h"

#include "tests/codegen/fixture.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"

#include <stdlib.h>

static int open_for_blackwell(void **state)
{
    *state = kernel_for(LATHE_SM_100A, true, NULL);
    return *state ? 0 : -1;
}

static void ask(struct lt_builder *b, bool to_cluster)
{
    lt_try_cancel(b, lt_variable(b, LT_B32, "reply_at"), lt_variable(b, LT_B32, "replies_full"),
                  to_cluster);
}

static void a_request_names_where_the_reply_goes_and_what_counts_it(void **state)
{
    struct lt_builder *b = *state;

    ask(b, false);

    assert_no_mistake(b);
    assert_ends_with(
        written(b),
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
        "[%reply_at], [%replies_full];\n");
}

static void a_request_may_be_answered_to_all_ctas_of_the_cluster(void **state)
{
    struct lt_builder *b = *state;

    ask(b, true);

    assert_no_mistake(b);
    assert_ends_with(
        written(b), "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
                    ".multicast::cluster::all.b128 [%reply_at], [%replies_full];\n");
}

static void a_reply_is_a_register_of_128_bits_that_is_asked_what_it_says(void **state)
{
    struct lt_builder *b = *state;
    lt_value reply = lt_reply_load(b, "reply", lt_variable(b, LT_B32, "reply_at"));

    lt_reply_is_canceled(b, "has_next", reply);
    lt_reply_first_cta(b, "next_cta", reply);

    assert_no_mistake(b);

    char *text = finished(b);

    assert_ends_with(
        text, ".reg .pred %has_next;\n"
              ".reg .b32  %reply_at, %next_cta;\n"
              ".reg .b128 %reply;\n"
              "ld.shared.b128 %reply, [%reply_at];\n"
              "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %has_next, %reply;\n"
              "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %next_cta, %reply;\n"
              "}\n");
    free(text);
}

static void a_reply_is_no_operand_of_scalar_operations(void **state)
{
    struct lt_builder *b = *state;
    lt_value reply = lt_reply_load(b, "reply", lt_variable(b, LT_B32, "reply_at"));

    lt_op(b, "copy", "mov.b64", reply);

    assert_mistake(b, "mov.b64: operand 1 has the wrong type");
}

static void hopper_has_none_of_it(void **state)
{
    (void)state;
    struct lt_builder *b = kernel_for(LATHE_SM_90A, true, NULL);

    ask(b, false);

    assert_mistake(b,
                   "clusterlaunchcontrol needs sm_100a, sm_103a, sm_110a or sm_120a; this kernel "
                   "is for sm_90a");
    lt_builder_destroy(&b);
}

#define in_kernel(test) cmocka_unit_test_setup_teardown(test, open_for_blackwell, close_kernel)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_kernel(a_request_names_where_the_reply_goes_and_what_counts_it),
        in_kernel(a_request_may_be_answered_to_all_ctas_of_the_cluster),
        in_kernel(a_reply_is_a_register_of_128_bits_that_is_asked_what_it_says),
        in_kernel(a_reply_is_no_operand_of_scalar_operations),
        cmocka_unit_test(hopper_has_none_of_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
