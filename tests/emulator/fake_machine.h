/* fake_machine.h: a machine that records launches and executes nothing, for tests of the driver.
 *
 * It stands where machine.h, ptx.h and tensor_map.h have their functions, in a library of the
 * test's own with the driver on top, and knows of PTX what the texts of these tests have: entries
 * with parameters and directives, shared and global arrays of bytes. Variables hold zeros. */
#ifndef EMU_TESTS_FAKE_MACHINE_H
#define EMU_TESTS_FAKE_MACHINE_H

#include "emulator/machine.h"

enum { FAKE_PARAM_BYTES = 512 };

struct fake_launch {
    char entry[64];
    uint32_t grid[3], block[3], cluster[3], shared_bytes;
    unsigned char params[FAKE_PARAM_BYTES];
    uint32_t param_bytes;
    int target, multiprocessors;
    struct emu_limits limits;
    uint64_t seed;
    bool exact;
    uint32_t threads;
};

/* Launches since the last fake_reset(). */
int fake_launches(void);
const struct fake_launch *fake_last_launch(void);
/* How the following launches end, and what they report. */
void fake_set_outcome(enum emu_outcome outcome, const char *message);
/* What every entry of modules loaded later says. */
void fake_set_registers(int registers);
void fake_reset(void);

#endif
