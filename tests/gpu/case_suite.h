/* case_suite.h: what the suites share that run cases on a GPU or on the emulator: their words, a
 * seed, schedules, a line a case as TAP has it, and the last line, which counts.
 *
 *     NAME_suite emulator|gpu [arch=sm_NN] [seed=N] [every=N] [schedules=N], and words of its own
 *
 * Data and whatever else a case leaves open are drawn from the seed, which is printed. On the
 * emulator each case runs under so many schedules; every=N leaves out all but each N-th case. A
 * kernel that the linker spills for or warns of fails; on the emulator nothing is linked. */
#ifndef LATHE_TESTS_CASE_SUITE_H
#define LATHE_TESTS_CASE_SUITE_H

#include "tests/gpu/gpu_run.h"

struct case_suite {
    /* Before the start: */
    const char *name, *words; /* "ladder_suite", and its own words for the usage */
    enum lathe_arch arch;     /* of the emulator's device unless arch= says      */
    bool needs_tcgen05;       /* on another GPU it is skipped                    */
    int schedules;            /* unless schedules= says                          */
    void *user;               /* for the two functions                           */
    /* A word of its own, and what stands behind its "=" ; null: there is none. */
    bool (*read_word)(void *user, const char *word, const char *value);
    void (*run)(struct case_suite *suite, void *user);

    /* From then on: */
    struct lathe_context *context;
    void (*set_seed)(uint64_t seed); /* of the emulator's schedule; null on a GPU */
    uint64_t seed, drawn;
    int every, number;
    int passed, failed, skipped;
};

/* What main() gives back. */
int case_suite_main(struct case_suite *suite, int count, char **words);

/* From 0 to limit - 1. */
int case_draw(struct case_suite *suite, int limit);
/* Elements between rows of so many columns: whole 16 bytes, and 16 more now and then. */
int64_t case_draw_pitch(struct case_suite *suite, int64_t columns, enum lathe_type type);

/* A line, and the count. */
void case_count(struct case_suite *suite, bool ok, const struct gpu_case *c);
/* Under so many schedules (on a GPU: once), unless every= leaves it out. */
void case_run(struct case_suite *suite, const struct gpu_case *c, int schedules);

#endif
