/* tensor_case.c: see tensor_case.h. */
#include "tests/gpu/tensor_case.h"
#include "runtime/random.h"

#include <assert.h>
#include <string.h>

enum { PART_ALIGNMENT = 1024, CANARY_BYTES = 256 };

bool tensor_is_wanted(struct tensor_cases *cases)
{
    return cases->count++ >= cases->from;
}

static uint32_t align(uint64_t bytes)
{
    return (uint32_t)((bytes + PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT);
}

void tensor_case_lay_out(struct tensor_case *it, uint64_t tensor_bytes)
{
    it->image_at = align(tensor_bytes + CANARY_BYTES);
    it->result_at = align(it->image_at + it->shared_bytes);
    it->bytes = align(it->result_at + it->ctas * tensor_result_bytes(it));
    assert(it->bytes <= sizeof it->memory);
}

uint32_t tensor_result_bytes(const struct tensor_case *it)
{
    return it->threads * 4 + it->shared_bytes;
}

void tensor_fill(unsigned char *bytes, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i += sizeof seed) {
        uint64_t random = lt_random_mix(seed + i);

        memcpy(bytes + i, &random, count - i < sizeof random ? count - i : sizeof random);
    }
}
