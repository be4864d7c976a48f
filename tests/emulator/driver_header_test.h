/* driver_header_test.h: a number that two declarations of one API must agree on. */
#ifndef EMU_TESTS_DRIVER_HEADER_TEST_H
#define EMU_TESTS_DRIVER_HEADER_TEST_H

#include <stddef.h>

struct driver_fact {
    const char *what;
    long long value;
};

extern const struct driver_fact driver_facts_ours[], driver_facts_cudas[];
extern const size_t driver_facts_ours_count, driver_facts_cudas_count;

#endif
