/* emulator_header_test.c: holds runtime/emulator_calls.h, and what of lathe_tools.h the emulator
 * fills in, against the emulator's own header. */
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
        print_error("%s: %zu here, %zu in emulator.h\n", pairs[i].what, pairs[i].ours,
                    pairs[i].theirs);
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

static void options_of_a_trace_are_the_emulators(void **state)
{
#define OPTIONS(member) PLACE(struct lt_emu_trace_options, struct emu_trace_options, member)
    static const struct pair pairs[] = {
        TYPE(struct lt_emu_trace_options, struct emu_trace_options),
        OPTIONS(first_cluster),
        OPTIONS(clusters),
        OPTIONS(events_most),
        OPTIONS(skip_products),
    };

    (void)state;
    COMPARE(pairs);
}

static void an_event_is_the_emulators(void **state)
{
#define EVENT(member) PLACE(struct lathe_trace_event, struct emu_event, member)
    static const struct pair pairs[] = {
        TYPE(struct lathe_trace_event, struct emu_event),
        EVENT(kind),
        EVENT(launch),
        EVENT(begin),
        EVENT(end),
        EVENT(cta),
        EVENT(warp),
        EVENT(line),
        EVENT(address),
        EVENT(value),
        EVENT(bytes),
        EVENT(role),
        EVENT(name),
    };

    (void)state;
    COMPARE(pairs);
}

static void a_total_is_the_emulators(void **state)
{
#define TOTAL(member) PLACE(struct lathe_trace_total, struct emu_trace_summary, member)
    static const struct pair pairs[] = {
        TYPE(struct lathe_trace_total, struct emu_trace_summary),
        TOTAL(cycles),
        TOTAL(clock_khz),
        TOTAL(launches),
        TOTAL(multiprocessors),
        TOTAL(instructions),
        TOTAL(tensor_cycles),
        TOTAL(copy_bytes),
        TOTAL(store_bytes),
        TOTAL(l2_bytes),
        TOTAL(dram_bytes),
        TOTAL(events_lost),
    };

    (void)state;
    COMPARE(pairs);
}

static void kinds_of_events_have_the_emulators_values(void **state)
{
    static const struct pair pairs[] = {
        {"RUN", LATHE_TRACE_RUN, EMU_EVENT_RUN},
        {"WAIT", LATHE_TRACE_WAIT, EMU_EVENT_WAIT},
        {"COPY", LATHE_TRACE_COPY, EMU_EVENT_COPY},
        {"READ", LATHE_TRACE_READ, EMU_EVENT_READ},
        {"WRITE", LATHE_TRACE_WRITE, EMU_EVENT_WRITE},
        {"PRODUCT", LATHE_TRACE_PRODUCT, EMU_EVENT_PRODUCT},
        {"PHASE", LATHE_TRACE_PHASE, EMU_EVENT_PHASE},
        {"BARRIER", LATHE_TRACE_BARRIER, EMU_EVENT_BARRIER},
        {"COMMIT", LATHE_TRACE_COMMIT, EMU_EVENT_COMMIT},
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
        {"emu_set_trace",
         IS(((struct lt_emulator_calls *)0)->set_trace,
            int (*)(int, const struct lt_emu_trace_options *)),
         IS(&emu_set_trace, int (*)(int, const struct emu_trace_options *))},
        {"emu_events",
         IS(((struct lt_emulator_calls *)0)->events, size_t(*)(struct lathe_trace_event *, size_t)),
         IS(&emu_events, size_t(*)(struct emu_event *, size_t))},
        {"emu_trace_total",
         IS(((struct lt_emulator_calls *)0)->trace_total, void (*)(struct lathe_trace_total *)),
         IS(&emu_trace_total, void (*)(struct emu_trace_summary *))},
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
        cmocka_unit_test(options_of_a_trace_are_the_emulators),
        cmocka_unit_test(an_event_is_the_emulators),
        cmocka_unit_test(a_total_is_the_emulators),
        cmocka_unit_test(kinds_of_events_have_the_emulators_values),
        cmocka_unit_test(modes_have_the_emulators_values),
        cmocka_unit_test(functions_take_what_the_emulators_take),
    };

    return cmocka_run_group_tests_name("emulator header", tests, NULL, NULL);
}
