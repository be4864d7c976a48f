/* emulator_header_test.c: holds runtime/emulator_calls.h against the emulator's own header. */
#include "runtime/emulator_calls.h"

#include "emulator/emulator.h"
#include "tests/support/cmocka_all.h"

#include <stddef.h>

struct pair {
    const char *what;
    size_t ours, theirs;
};

static void compare(const struct pair *pairs, size_t count)
{
    int wrong = 0;

    for (size_t i = 0; i < count; i++) {
        if (pairs[i].ours == pairs[i].theirs)
            continue;
        print_error("%s: %zu in emulator_calls.h, %zu in emulator.h\n", pairs[i].what,
                    pairs[i].ours, pairs[i].theirs);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

#define COMPARE(pairs) compare(pairs, sizeof(pairs) / sizeof(pairs)[0])
#define TYPE(ours, theirs)                                                                         \
    {                                                                                              \
        "sizeof " #theirs, sizeof(ours), sizeof(theirs)                                            \
    }
/* Where a member lies, and what it is: one of these types, or an array of one. */
#define KIND(member)                                                                               \
    _Generic(member, const char * : 1, char * : 2, int32_t : 3, uint64_t : 4, uint32_t * : 5,      \
             default : 0)
#define PLACE(our_struct, their_struct, member)                                                    \
    {"offset of " #member, offsetof(our_struct, member), offsetof(their_struct, member)},          \
        {"sizeof " #member, sizeof(((our_struct *)0)->member),                                     \
         sizeof(((their_struct *)0)->member)},                                                     \
    {                                                                                              \
        "type of " #member, KIND(((our_struct *)0)->member), KIND(((their_struct *)0)->member)     \
    }

static void a_side_is_the_emulators(void **state)
{
#define SIDE(member) PLACE(struct lt_emu_side, struct emu_finding_side, member)
    static const struct pair pairs[] = {
        TYPE(struct lt_emu_side, struct emu_finding_side),
        SIDE(cta),
        SIDE(warp),
        SIDE(lane),
        SIDE(line),
        SIDE(role),
        SIDE(instruction),
        SIDE(operand),
        SIDE(reads),
        SIDE(writes),
    };

    (void)state;
    COMPARE(pairs);
}

static void a_finding_is_the_emulators(void **state)
{
#define FINDING(member) PLACE(struct lt_emu_finding, struct emu_finding, member)
    static const struct pair pairs[] = {
        TYPE(struct lt_emu_finding, struct emu_finding),
        FINDING(code),
        FINDING(kernel),
        FINDING(who),
        FINDING(other),
        FINDING(has_other),
        FINDING(object),
        FINDING(what),
        FINDING(needed),
        FINDING(times),
        FINDING(is_warning),
    };

    (void)state;
    COMPARE(pairs);
}

static void modes_have_the_emulators_values(void **state)
{
    static const struct pair pairs[] = {
        {"OFF", LT_EMU_CHECK_OFF, EMU_CHECK_OFF},
        {"FIRST", LT_EMU_CHECK_FIRST, EMU_CHECK_FIRST},
        {"ALL", LT_EMU_CHECK_ALL, EMU_CHECK_ALL},
    };

    (void)state;
    COMPARE(pairs);
}

/* That a function has this type: the pointer of ours or the function of theirs. */
#define IS(function, type) _Generic(function, type : 1, default : 0)
#define SAME(member, function, type)                                                               \
    {                                                                                              \
#function, IS(((struct lt_emulator_calls *)0)->member, type), IS(&function, type)          \
    }

static void functions_take_what_the_emulators_take(void **state)
{
    const struct pair pairs[] = {
        SAME(set_seed, emu_set_seed, void (*)(uint64_t)),
        SAME(set_exact, emu_set_exact, void (*)(int)),
        SAME(set_limits, emu_set_limits, void (*)(uint64_t, uint64_t, uint32_t)),
        SAME(set_check, emu_set_check, int (*)(int)),
        SAME(check, emu_check, int (*)(void)),
        SAME(forget_findings, emu_forget_findings, void (*)(void)),
        {"emu_last_report", IS(((struct lt_driver *)0)->emu_last_report, const char *(*)(void)),
         IS(&emu_last_report, const char *(*)(void))},
        {"emu_findings",
         IS(((struct lt_emulator_calls *)0)->findings, size_t(*)(struct lt_emu_finding *, size_t)),
         IS(&emu_findings, size_t(*)(struct emu_finding *, size_t))},
        {"emu_finding_words",
         IS(((struct lt_emulator_calls *)0)->finding_words,
            void (*)(const struct lt_emu_finding *, char *, size_t)),
         IS(&emu_finding_words, void (*)(const struct emu_finding *, char *, size_t))},
    };

    (void)state;
    COMPARE(pairs);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (!pairs[i].ours)
            fail_msg("%s has another type", pairs[i].what);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_side_is_the_emulators),
        cmocka_unit_test(a_finding_is_the_emulators),
        cmocka_unit_test(modes_have_the_emulators_values),
        cmocka_unit_test(functions_take_what_the_emulators_take),
    };

    return cmocka_run_group_tests_name("emulator header", tests, NULL, NULL);
}
