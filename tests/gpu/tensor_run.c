/* tensor_run.c: see tensor_run.h. */
#include "tests/gpu/tensor_run.h"
#include "runtime/random.h"

#include <stdio.h>
#include <string.h>

/* Of shared memory, behind what is given back: a barrier and a tensor map, at multiples of 128. */
enum { WORK_BYTES = 3 * 128 };

static bool launch(const struct form_machine *machine, const struct tensor_case *it,
                   uint64_t memory, struct lt_cu_tensor_map *map)
{
    const struct form_launch launch = {.grid = it->ctas,
                                       .block = it->threads,
                                       .cluster = it->ctas > 1 ? it->ctas : 0,
                                       .shared_bytes = it->shared_bytes + WORK_BYTES};
    void *params[] = {&memory, map};

    return form_machine_write(machine, memory, it->memory, it->bytes) &&
           form_machine_launch(machine, it->text, &launch, params);
}

static void run_in(const struct form_machine *machine, const struct tensor_case *it,
                   uint64_t memory, struct tensor_outcome *outcome)
{
    const struct lt_driver *driver = &machine->device->driver;
    struct lt_cu_tensor_map map = {{0}};

    outcome->stage = TENSOR_ENCODE;
    outcome->code =
        it->map.rank == 0 && !it->is_map ? 0 : tensor_map_encode(driver, &it->map, memory, &map);
    if (outcome->code)
        return;
    outcome->stage = TENSOR_KERNEL;
    if (!launch(machine, it, memory, &map)) {
        outcome->code = driver->cuCtxSynchronize(); /* what has ended the context goes on */
        outcome->is_lost = true;
    } else if (form_machine_read(machine, outcome->memory, memory, it->bytes)) {
        outcome->stage = TENSOR_ENDED;
    }
}

void tensor_run(const struct form_machine *machine, const struct tensor_case *it,
                struct tensor_outcome *outcome)
{
    uint64_t memory = 0;

    memset(outcome, 0, sizeof *outcome);
    if (!form_machine_allocate(machine, &memory, it->bytes)) {
        outcome->is_lost = true;
        return;
    }
    run_in(machine, it, memory, outcome);
    form_machine_free(machine, memory);
}

/* ---- What is right of itself ---- */

static bool has_waited(const struct tensor_case *it, const struct tensor_outcome *outcome)
{
    for (unsigned cta = 0; cta < it->ctas; cta++)
        for (unsigned thread = 0; thread < it->threads; thread++) {
            uint32_t status;

            memcpy(&status,
                   outcome->memory + it->result_at + cta * tensor_result_bytes(it) + 4 * thread,
                   sizeof status);
            if (status == TENSOR_DONE || status == TENSOR_NOT_A_TARGET)
                continue;
            printf("# CTA %u thread %u: %s\n", cta, thread,
                   status == TENSOR_TIMED_OUT    ? "its wait timed out"
                   : status == TENSOR_MORE_BYTES ? "more bytes came than the box has"
                                                 : "no word of status");
            return false;
        }
    return true;
}

bool tensor_is_sound(const struct tensor_case *it, const struct tensor_outcome *outcome)
{
    switch (outcome->stage) {
    case TENSOR_ENCODE:
        if (!it->is_map)
            printf("# the map's encoding is refused: %d\n", outcome->code);
        return it->is_map && !outcome->is_lost;
    case TENSOR_KERNEL:
        if (outcome->code == 0 || !it->traps)
            printf("# the kernel did not end: %d\n", outcome->code);
        return it->traps && outcome->code != 0;
    case TENSOR_ENDED:
        break;
    }
    if (it->traps)
        printf("# the kernel was to trap\n");
    return !it->traps && has_waited(it, outcome);
}

/* ---- Two machines ---- */

uint64_t tensor_hash(const struct tensor_case *it, const struct tensor_outcome *outcome)
{
    uint64_t hash = lt_random_mix((uint64_t)outcome->stage << 32 | (uint64_t)outcome->code);

    for (uint32_t i = 0; outcome->stage == TENSOR_ENDED && i < it->bytes; i += sizeof hash) {
        uint64_t word;

        memcpy(&word, outcome->memory + i, sizeof word);
        hash = lt_random_mix(hash ^ word) + i;
    }
    return hash;
}

static const char *part_of(const struct tensor_case *it, uint32_t at, uint32_t *offset)
{
    const char *const parts[] = {"the tensor's memory", "the image", "the results"};
    const uint32_t begins[] = {0, it->image_at, it->result_at};
    int part = at < it->image_at ? 0 : at < it->result_at ? 1 : 2;

    *offset = at - begins[part];
    return parts[part];
}

bool tensor_compare(const struct tensor_case *it, const struct tensor_outcome *got,
                    const struct tensor_outcome *want)
{
    uint32_t wrong = 0, offset;

    if (got->stage != want->stage || got->code != want->code) {
        printf("# %s %d here, %s %d on the GPU\n",
               got->stage == TENSOR_ENCODE ? "the encoding gives" : "the kernel gives", got->code,
               want->stage == TENSOR_ENCODE ? "the encoding gives" : "the kernel gives",
               want->code);
        return false;
    }
    for (uint32_t i = 0; got->stage == TENSOR_ENDED && i < it->bytes; i++) {
        if (got->memory[i] == want->memory[i] || wrong++ > 0)
            continue;

        const char *part = part_of(it, i, &offset);

        printf("# byte %u of %s: 0x%02x here, 0x%02x on the GPU, 0x%02x before\n", offset, part,
               got->memory[i], want->memory[i], it->memory[i]);
    }
    if (wrong > 0)
        printf("# %u bytes differ\n", wrong);
    return wrong == 0;
}
