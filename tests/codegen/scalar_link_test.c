/* Every opcode of scalar.def in a kernel of its own, as ptxas takes it. */
#include "codegen/builder.h"

#include "codegen/text.h"

#include "tests/codegen/fixture.h"
#include "tests/support/child.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/nvjitlink.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *opcode, *signature;
} scalars[] = {
#define LT_SCALAR(opcode, signature) {opcode, signature},
#include "codegen/scalar.def"
#undef LT_SCALAR
};
enum { SCALARS = sizeof scalars / sizeof scalars[0] };

static const char letters[] = "philf"; /* in the order of enum lt_type */
static const char *const names[] = {"p", "h", "i", "l", "f"};
enum { SCALAR_TYPES = sizeof names / sizeof names[0] };

static void write_scalar(struct lt_builder *b, int i)
{
    lt_value of_type[SCALAR_TYPES], operands[8];
    size_t count = 0;

    for (int type = 0; type < SCALAR_TYPES; type++)
        of_type[type] = lt_variable(b, (enum lt_type)type, names[type]);
    for (const char *letter = scalars[i].signature + 1; *letter; letter++)
        operands[count++] = of_type[strchr(letters, *letter) - letters];
    lt_op_(b, "result", scalars[i].opcode, operands, count);
}

static void every_scalar_opcode_assembles_for_its_target(void **state)
{
    (void)state;
    nvjitlink_need();

    for (int i = 0; i < SCALARS; i++) {
        struct lt_builder *b = kernel_for(LATHE_SM_90A, true, NULL);
        char *text;

        write_scalar(b, i);
        lt_raw(b, "ret;");
        text = finished(b);
        free(nvjitlink_log(text, "sm_90a", scalars[i].opcode));
        lt_release(NULL, text);
        lt_builder_destroy(&b);
    }
}

static char *all_opcodes_for(enum lathe_arch arch)
{
    struct lt_builder *b = kernel_for(arch, true, NULL);
    char *text;

    for (int i = 0; i < SCALARS; i++) {
        lt_scope_open(b, NULL);
        write_scalar(b, i);
        lt_scope_close(b);
    }
    lt_raw(b, "ret;");
    text = finished(b);
    lt_builder_destroy(&b);
    return text;
}

static enum lathe_arch tried;

static int link_for_tried(void)
{
    return !nvjitlink_takes(all_opcodes_for(tried), lathe_arch_name(tried));
}

/* In a process of its own: for these targets the library loses some memory. */
static void all_scalar_opcodes_together_assemble_for_every_later_target(void **state)
{
    (void)state;
    static const enum lathe_arch later[] = {LATHE_SM_100A, LATHE_SM_103A, LATHE_SM_110A,
                                            LATHE_SM_120A};

    nvjitlink_need();
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++) {
        tried = later[i];
        if (result_in_child(link_for_tried) != 0)
            fail_msg("%s: %s", lathe_arch_name(tried),
                     nvjitlink_log(all_opcodes_for(tried), lathe_arch_name(tried), "all opcodes"));
    }
}

static int link_what_does_not_exist(void)
{
    struct lt_builder *b = kernel_for(LATHE_SM_90A, true, NULL);

    lt_raw(b, "add.u33 %r, 1, 2;");
    return nvjitlink_takes(finished(b), "sm_90a");
}

static void an_opcode_that_does_not_exist_is_refused(void **state)
{
    (void)state;
    nvjitlink_need();

    assert_int_equal(result_in_child(link_what_does_not_exist), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scalar_opcode_assembles_for_its_target),
        cmocka_unit_test(all_scalar_opcodes_together_assemble_for_every_later_target),
        cmocka_unit_test(an_opcode_that_does_not_exist_is_refused),
    };

    return cmocka_run_group_tests(tests, nvjitlink_setup, NULL);
}
