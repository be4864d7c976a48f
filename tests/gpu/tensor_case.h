/* tensor_case.h: one kernel of the tensor suite with the memory it works on. Both machines get the
 * same memory and have to leave the same. */
#ifndef LATHE_TESTS_TENSOR_CASE_H
#define LATHE_TESTS_TENSOR_CASE_H

#include "tests/gpu/tensor_map.h"

#include <stddef.h>

enum {
    TENSOR_NAME_SIZE = 160,
    TENSOR_TEXT_SIZE = 1 << 16,
    TENSOR_MEMORY_SIZE = 1 << 20,
    TENSOR_THREADS_MAX = 256
};

/* What a thread leaves in its word of status. Others than the first two are failures. */
enum tensor_status {
    TENSOR_DONE = 0x600d,
    TENSOR_NOT_A_TARGET = 0x600e, /* a CTA that waits for nothing */
    TENSOR_TIMED_OUT = 0xbad0,
    TENSOR_MORE_BYTES = 0xbad1 /* the barrier's next phase did not end by an arrival alone */
};

/* Memory holds a tensor with canaries around it, then the image that every CTA's shared memory
 * begins with, then, of each CTA, a word of status a thread and what its shared memory became. */
struct tensor_case {
    char name[TENSOR_NAME_SIZE];
    char text[TENSOR_TEXT_SIZE]; /* entry k(memory, map) */
    unsigned ctas, threads;
    bool exact;  /* the emulator's tensor cores */
    bool traps;  /* the machine ends the kernel, and says why */
    bool is_map; /* it is the map's encoding that is looked at */
    struct tensor_map map;
    uint32_t shared_bytes; /* that begin with the image, and are given back */
    uint32_t image_at, result_at, bytes;
    unsigned char memory[TENSOR_MEMORY_SIZE];
};

/* Calls `use` for every case, always in the same order, until it returns false. `it` is where they
 * are made: made whole only if `from` others have gone before. */
typedef bool (*tensor_use)(void *user, struct tensor_case *it);
struct tensor_cases {
    struct tensor_case *it;
    int from, count; /* to skip; that have been met */
    tensor_use use;
    void *user;
};
/* Each returns false where `use` did. */
bool tensor_each_copy(struct tensor_cases *cases);
bool tensor_each_product(struct tensor_cases *cases, bool exact);

/* Whether the next case is to be made; counts it. */
bool tensor_is_wanted(struct tensor_cases *cases);

/* The parts of memory, one behind the other; the tensor's extent is `tensor_bytes`. */
void tensor_case_lay_out(struct tensor_case *it, uint64_t tensor_bytes);
/* Bytes of the results of a CTA. */
uint32_t tensor_result_bytes(const struct tensor_case *it);
/* Any bytes, by the seed. */
void tensor_fill(unsigned char *bytes, size_t count, uint64_t seed);

#endif
