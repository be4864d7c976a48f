/* form_machine.h: the emulator, or a GPU, as a thing that runs kernels given as text. Every
 * function that fails has printed why, as a comment of TAP. */
#ifndef LATHE_TESTS_FORM_MACHINE_H
#define LATHE_TESTS_FORM_MACHINE_H

#include "runtime/context.h"

struct form_machine {
    struct lathe_context *context;
    const struct lt_device *device; /* with the table of the driver's functions */
    struct lt_entered entered;
    bool is_entered;
};

/* Zero in any field is one, or none of `cluster` and `shared_bytes`. */
struct form_launch {
    unsigned grid, block, cluster; /* of x; y and z are 1 */
    unsigned shared_bytes;         /* dynamic */
};

/* The emulator's tensor cores as a Hopper's, in all machines that are opened later. */
bool form_machine_be_exact(void);

/* And its schedule, which is drawn from a seed. */
bool form_machine_set_seed(uint64_t seed);

/* Its CUDA context is current in this thread until it is closed, or another is opened. */
bool form_machine_open(struct form_machine *machine, enum lathe_emulator_use use);
/* Accepts one that is all zero. */
void form_machine_close(struct form_machine *machine);

/* Whether the call succeeded. */
bool form_machine_check(const struct form_machine *machine, int result, const char *call);

/* Loads the text, runs its entry `k` to the end, and unloads it. After a kernel that failed the
 * machine is of no more use: close it. */
bool form_machine_launch(const struct form_machine *machine, const char *text,
                         const struct form_launch *launch, void **params);

bool form_machine_allocate(const struct form_machine *machine, uint64_t *address, size_t bytes);
void form_machine_free(const struct form_machine *machine, uint64_t address);
bool form_machine_write(const struct form_machine *machine, uint64_t to, const void *from,
                        size_t bytes);
bool form_machine_read(const struct form_machine *machine, void *to, uint64_t from, size_t bytes);

#endif
