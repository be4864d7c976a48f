/* What the sanitizer tells of registers along all ways through a text: on kernels that it must let
 * be, and beside each the same with the one line less that makes it right. */
#include "tests/emulator/machine_support.h"
#include "tests/support/cmocka_all.h"

#include <stdio.h>

/* The sanitizer is turned on when the text is loaded already. */
static struct trial watched_run(const char *text)
{
    const struct emu_check_options options = {.is_on = true, .goes_on = true};
    struct trial t = trial_make(text, 1);

    assert_true(emu_device_set_check(t.device, &options));
    trial_expect_done(&t, 1, 32, 0, 0);
    return t;
}

static void expect_nothing(const char *text)
{
    struct trial t = watched_run(text);
    char words[4096];

    for (size_t i = 0; i < emu_device_findings(t.device); i++) {
        emu_finding_text(emu_device_finding(t.device, i), words, sizeof words);
        print_error("%s\n", words);
    }
    assert_int_equal(emu_device_findings(t.device), 0);
    trial_free(&t);
}

/* One of that code, about the register, at an instruction. */
static void expect_one(const char *text, const char *code, const char *reg, const char *instruction)
{
    struct trial t = watched_run(text);
    const struct emu_finding *finding;
    char object[64];

    assert_int_equal(emu_device_findings(t.device), 1);
    finding = emu_device_finding(t.device, 0);
    snprintf(object, sizeof object, "register %s", reg);
    assert_string_equal(finding->code, code);
    assert_string_equal(finding->object, object);
    assert_string_equal(finding->who.instruction, instruction);
    trial_free(&t);
}

static void expect_unwritten(const char *text, const char *reg, const char *instruction)
{
    expect_one(text, "uninitialised", reg, instruction);
}

/* ---- Registers that nobody has written ---- */

static void a_write_on_one_way_of_two_is_enough(void **state)
{
    (void)state;
#define ONE_WAY(write)                                                                             \
    KERNEL("mov.u32 %r0, %tid.x;\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra there;\n" write               \
           "there:\nadd.u32 %r1, %r2, %r0;\n")

    expect_nothing(ONE_WAY("mov.u32 %r2, 1;\n"));
    expect_unwritten(ONE_WAY(""), "%r2", "add.u32");
}

static void a_guarded_write_is_one(void **state)
{
    (void)state;
    expect_nothing(KERNEL("mov.u32 %r0, %tid.x;\nsetp.eq.u32 %p0, %r0, 0;\n"
                          "@%p0 mov.u32 %r1, 1;\n@!%p0 add.u32 %r2, %r1, 1;\n"));
}

static void a_write_of_the_round_before_is_one(void **state)
{
    (void)state;
#define ROUNDS(write)                                                                              \
    KERNEL("mov.u32 %r0, 0;\nbra test;\nbody:\nadd.u32 %r0, %r0, 1;\nadd.u32 %r2, %r1, 1;\n" write \
           "test:\nsetp.lt.u32 %p0, %r0, 3;\n@%p0 bra body;\n")

    expect_nothing(ROUNDS("mov.u32 %r1, %r0;\n"));
    expect_unwritten(ROUNDS(""), "%r1", "add.u32");
}

/* The way back from the last loop makes the first one's register known, and needs a sweep each. */
static void writes_come_back_out_of_nested_loops(void **state)
{
    (void)state;
#define NESTED(write)                                                                              \
    KERNEL("mov.u32 %r0, 0;\nouter:\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 bra first;\n"                  \
           "add.u32 %r3, %r2, 1;\nfirst:\nmov.u32 %r1, 0;\ninner:\nadd.u32 %r1, %r1, 1;\n" write   \
           "setp.lt.u32 %p0, %r1, 3;\n@%p0 bra inner;\nadd.u32 %r0, %r0, 1;\n"                     \
           "setp.lt.u32 %p0, %r0, 3;\n@%p0 bra outer;\n")

    expect_nothing(NESTED("mov.u32 %r2, 7;\n"));
    expect_unwritten(NESTED(""), "%r2", "add.u32");
}

static void each_target_of_a_table_is_on_the_way(void **state)
{
    (void)state;
#define BY_TABLE(write)                                                                            \
    KERNEL("mov.u32 %r0, %laneid;\nand.b32 %r0, %r0, 1;\n" write                                   \
           "ways: .branchtargets even, odd;\nbrx.idx %r0, ways;\n"                                 \
           "even:\nret;\nodd:\nadd.u32 %r2, %r1, 1;\n")

    expect_nothing(BY_TABLE("mov.u32 %r1, 2;\n"));
    expect_unwritten(BY_TABLE(""), "%r1", "add.u32");
}

static void what_a_call_takes_and_gives_is_written(void **state)
{
    (void)state;
#define TWICE                                                                                      \
    ".func (.reg .b32 %twice) twice(.reg .b32 %once)\n{\nadd.u32 %twice, %once, %once;\nret;\n}\n"

    expect_nothing(KERNEL_WITH(TWICE, "call (%r1), twice, (4);\nadd.u32 %r2, %r1, 1;\n"));
    expect_unwritten(KERNEL_WITH(TWICE, "call (%r1), twice, (%r3);\nadd.u32 %r2, %r1, 1;\n"), "%r3",
                     "call");
}

static void what_is_never_executed_is_not_told_of(void **state)
{
    (void)state;
#define BEHIND(guard)                                                                              \
    KERNEL("mov.u32 %r0, %tid.x;\nsetp.ge.u32 %p0, %r0, 64;\n" guard "add.u32 %r1, %r2, 1;\n")

    expect_nothing(BEHIND("@%p0 "));
    expect_unwritten(BEHIND("@!%p0 "), "%r2", "add.u32");
}

/* Though nothing is executed: that is what is wrong. */
static void a_guard_is_read_where_it_does_not_hold(void **state)
{
    (void)state;
    expect_unwritten(KERNEL("@%p0 mov.u32 %r1, 1;\n"), "%p0", "mov.u32");
}

static void an_operation_is_told_of_once(void **state)
{
    (void)state;
    expect_unwritten(KERNEL("mov.u32 %r0, 0;\nagain:\nadd.u32 %r2, %r1, 1;\nadd.u32 %r0, %r0, 1;\n"
                            "setp.lt.u32 %p0, %r0, 5;\n@%p0 bra again;\n"),
                     "%r1", "add.u32");
}

/* As LLVM stores a vector of which one element is undefined, and nvcc -G passes an empty class. */
static void an_element_beside_others_is_a_warning(void **state)
{
    (void)state;
    static const char *const texts[] = {
        KERNEL("mov.u32 %r0, 1;\nst.global.v2.b32 [%out], {%r0, %r1};\n"),
        KERNEL("mov.u32 %r0, 1;\nmov.b64 %d0, {%r0, %r1};\n"),
        KERNEL_WITH(".func take(.param .b32 none)\n{\nret;\n}",
                    "{\n.param .b32 none;\nst.param.b32 [none], %r1;\ncall take, (none);\n}\n"),
        KERNEL("st.global.v2.b32 [%out], {%r0, %r1};\n"),
        KERNEL("mov.b64 %d0, {%r0, %r1};\n"),
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct trial t = watched_run(texts[i]);

        assert_int_equal(emu_device_findings(t.device), 1);
        assert_int_equal(emu_device_finding(t.device, 0)->is_warning, i < 3);
        trial_free(&t);
    }
}

/* ---- Waits whose result nobody reads ---- */

/* Of a barrier of one arrival that every warp's first lane waits for. */
#define WAITING(text)                                                                              \
    KERNEL(".shared .align 8 .b64 full;\nmov.u32 %r0, full;\nmov.u32 %r1, %tid.x;\n"               \
           "setp.ne.u32 %p0, %r1, 0;\n@%p0 ret;\n"                                                 \
           "mbarrier.init.shared.b64 [%r0], 1;\nmbarrier.arrive.shared.b64 _, [%r0];\n" text)
#define TRY "mbarrier.try_wait.parity.shared.b64 %p1, [%r0], 0;\n"

static void expect_unchecked(const char *text)
{
    struct trial t = watched_run(text);

    assert_int_equal(emu_device_findings(t.device), 1);
    assert_string_equal(emu_device_finding(t.device, 0)->code, "unchecked-wait");
    assert_string_equal(emu_device_finding(t.device, 0)->object, "full (shared 0x400)");
    trial_free(&t);
}

static void a_wait_in_a_loop_is_read_by_its_branch(void **state)
{
    (void)state;
    expect_nothing(WAITING("wait:\n" TRY "@!%p1 bra wait;\n"));
    expect_unchecked(WAITING("wait:\n" TRY));
}

/* Though the phase is over, so that nothing else comes of it. */
static void a_predicate_that_the_next_wait_writes_is_not_read(void **state)
{
    (void)state;
    expect_nothing(WAITING(TRY "@%p1 bra over;\nagain:\n" TRY "@!%p1 bra again;\nover:\n"));
    expect_unchecked(WAITING(TRY "again:\n" TRY "@!%p1 bra again;\n"));
}

static void a_read_in_the_next_round_is_one(void **state)
{
    (void)state;
#define NEXT_ROUND(read)                                                                           \
    WAITING("mov.u32 %r2, 0;\nsetp.eq.u32 %p1, %r2, 0;\nround:\n" read TRY                         \
            "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 3;\n@%p2 bra round;\n")

    expect_nothing(NEXT_ROUND("@!%p1 trap;\n"));
    expect_unchecked(NEXT_ROUND(""));
}

static void a_guarded_write_leaves_the_predicate(void **state)
{
    (void)state;
#define OVERWRITTEN(guard)                                                                         \
    WAITING(TRY "setp.gt.u32 %p2, %r1, 5;\n" guard "setp.eq.u32 %p1, %r1, 0;\n@!%p1 trap;\n")

    expect_nothing(OVERWRITTEN("@%p2 "));
    expect_unchecked(OVERWRITTEN(""));
}

/* As CUDA C++ has it where the result of a wait is thrown away. */
static void a_copy_that_nobody_reads_reads_nothing(void **state)
{
    (void)state;
    expect_nothing(WAITING(TRY "selp.b32 %r3, 1, 0, %p1;\nst.global.b32 [%out], %r3;\n"));
    expect_unchecked(WAITING(TRY "selp.b32 %r3, 1, 0, %p1;\nmov.b32 %r4, %r3;\n"));
}

static void a_test_wait_is_looked_at_too(void **state)
{
    (void)state;
    expect_unchecked(WAITING("mbarrier.test_wait.parity.shared.b64 %p1, [%r0], 0;\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_on_one_way_of_two_is_enough),
        cmocka_unit_test(a_guarded_write_is_one),
        cmocka_unit_test(a_write_of_the_round_before_is_one),
        cmocka_unit_test(writes_come_back_out_of_nested_loops),
        cmocka_unit_test(each_target_of_a_table_is_on_the_way),
        cmocka_unit_test(what_a_call_takes_and_gives_is_written),
        cmocka_unit_test(what_is_never_executed_is_not_told_of),
        cmocka_unit_test(a_guard_is_read_where_it_does_not_hold),
        cmocka_unit_test(an_operation_is_told_of_once),
        cmocka_unit_test(an_element_beside_others_is_a_warning),
        cmocka_unit_test(a_wait_in_a_loop_is_read_by_its_branch),
        cmocka_unit_test(a_predicate_that_the_next_wait_writes_is_not_read),
        cmocka_unit_test(a_read_in_the_next_round_is_one),
        cmocka_unit_test(a_guarded_write_leaves_the_predicate),
        cmocka_unit_test(a_copy_that_nobody_reads_reads_nothing),
        cmocka_unit_test(a_test_wait_is_looked_at_too),
    };

    return cmocka_run_group_tests_name("check flow", tests, NULL, NULL);
}
