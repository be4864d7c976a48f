/* machine.h: a GPU without a GPU: memory, programs, and launches that run to their end.
 *
 * What the driver API is built on. One device is used by one thread at a time; the driver's mutex
 * sees to it. */
#ifndef EMU_MACHINE_H
#define EMU_MACHINE_H

#include "emulator/emulator.h"
#include "emulator/ptx.h"

/* ---- Devices ---- */

struct emu_device;

struct emu_limits {
    uint64_t memory_bytes; /* that can be allocated; 0: 16 GiB                                  */
    uint64_t steps;        /* warp instructions of one launch; 0: 2^36                          */
    uint32_t depth;        /* of calls; 0: 4096                                                 */
};

struct emu_options {
    int target;          /* 90 of sm_90a                                                      */
    int multiprocessors; /* that run CTAs at a time                                           */
    struct emu_limits limits;
    uint64_t seed;    /* of the schedule; the same seed gives the same run                 */
    bool exact;       /* tensor cores bit for bit as hardware; else fast in f32            */
    uint32_t threads; /* of the host that a launch may use; 0: one for each processor      */
    /* For tests: short launches use them too, and clusters have their turns the other way round
     * than with one thread, so that what depends on who is first shows. */
    bool eager;
};

/* Null without memory. */
struct emu_device *emu_device_create(const struct emu_options *options);
void emu_device_destroy(struct emu_device *device);
void emu_device_set_seed(struct emu_device *device, uint64_t seed);
void emu_device_set_threads(struct emu_device *device, uint32_t threads);

struct emu_check_options {
    bool is_on;   /* the sanitizer watches every launch        */
    bool goes_on; /* past a finding; else the first ends the run */
};

/* The sanitizer: from now on, or no more. False without memory. */
bool emu_device_set_check(struct emu_device *device, const struct emu_check_options *options);

struct emu_trace;

/* Launches follow the schedule in which time is modelled, and tell of it: null, no more. The caller
 * keeps it; trace.h makes one. */
void emu_device_set_trace(struct emu_device *device, struct emu_trace *trace);

/* ---- Global memory ---- */

/* Aligned to 512 bytes; 0 where there is no room. Contents are undefined (0xcd). */
uint64_t emu_allocate(struct emu_device *device, uint64_t bytes);
/* False for what was never allocated, or not at that address. */
bool emu_release(struct emu_device *device, uint64_t address);
/* The bytes at an address of the device, for the host; null where not all are allocated. */
void *emu_bytes(struct emu_device *device, uint64_t address, uint64_t bytes);
/* For the sanitizer: nobody has written there yet; the host has. Without a word memory counts as
 * written. */
void emu_unwritten(struct emu_device *device, uint64_t address, uint64_t bytes);
void emu_written(struct emu_device *device, uint64_t address, uint64_t bytes);
/* The allocation that an address lies in; false where it lies in none. */
bool emu_range(struct emu_device *device, uint64_t address, uint64_t *base, uint64_t *bytes);
uint64_t emu_used_bytes(const struct emu_device *device);

/* ---- Programs ---- */

struct emu_program;

/* Parses and decodes all of the text, and places its variables. Null and the reason where it is no
 * PTX, is for a newer target, or has an instruction that the machine does not know. */
struct emu_program *emu_program_load(struct emu_device *device, const char *text, size_t length,
                                     struct emu_error *error);
void emu_program_unload(struct emu_program *program);

/* Of an entry by its name, or -1. */
int emu_program_entry(const struct emu_program *program, const char *name);
/* A .global or .const variable; false where there is none. */
bool emu_program_variable(const struct emu_program *program, const char *name, uint64_t *address,
                          uint64_t *bytes);

struct emu_entry_info {
    const struct emu_function *function;
    uint32_t static_shared_bytes, local_bytes, param_bytes;
    int param_count;
    int registers; /* of a thread, as far as that means anything here */
};
void emu_program_entry_info(const struct emu_program *program, int entry,
                            struct emu_entry_info *info);
/* Offset and size of a parameter; false behind the last. */
bool emu_program_param(const struct emu_program *program, int entry, int index, uint32_t *offset,
                       uint32_t *bytes);

/* ---- Launches ---- */

enum emu_outcome {
    EMU_DONE,
    EMU_ILLEGAL_ADDRESS,
    EMU_MISALIGNED_ADDRESS,
    EMU_ILLEGAL_INSTRUCTION,
    EMU_TRAPPED,      /* trap, or an assertion of the program's */
    EMU_DEADLOCK,     /* nothing can move any more              */
    EMU_OUT_OF_STEPS, /* a limit ended it                       */
    EMU_FOUND,        /* the sanitizer has                      */
    EMU_NO_RESOURCES  /* it could never have begun              */
};

struct emu_launch {
    const struct emu_program *program;
    int entry;
    uint32_t grid[3], block[3], cluster[3]; /* a cluster of 0 is of 1 */
    uint32_t dynamic_shared_bytes;
    const unsigned char *params; /* param_bytes of them, as the kernel sees them */
    bool
        is_dependent; /* it may begin before the one before it is over: griddepcontrol.wait waits */
};

/* Runs it. After anything but EMU_DONE `error` has a report: what, where (kernel, CTA, warp, line)
 * and, of a deadlock, who waits for what. printf goes to `stdout` of the process. */
enum emu_outcome emu_run(struct emu_device *device, const struct emu_launch *launch,
                         struct emu_error *error);

/* ---- Findings of the sanitizer, of all launches since they were forgotten ---- */

size_t emu_device_findings(const struct emu_device *device);
const struct emu_finding *emu_device_finding(const struct emu_device *device, size_t index);
void emu_device_forget(struct emu_device *device);
/* In words, of some lines. */
void emu_finding_text(const struct emu_finding *finding, char *text, size_t size);

#endif
