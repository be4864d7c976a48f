/* emulator.h: what a program can tell the emulator and ask of it beside the CUDA driver API.
 *
 * The one public header of libcuda-emu.so, plain C without other headers of the emulator. The
 * functions are exported beside the cu... ones; a program that opened the library finds them by
 * dlsym, and one that finds none has a real driver before it. All may be called from any thread at
 * any time, before cuInit too.
 *
 * Environment, read by cuInit:
 *   LATHE_EMU_ARCH  the devices, in this order: "sm_90a", "sm_90a,sm_100a"; without it one device
 *                   for each architecture that the emulator has
 *   LATHE_EMU_SMS   multiprocessors of every device; without it as many as a product has
 *   LATHE_EMU_THREADS  threads of the host that a launch uses; without it as many as there are
 *                      processors that the program may use
 *   LATHE_EMU_CHECK 1: the sanitizer watches every launch, goes on past findings, and prints them
 *                   to standard error */
#ifndef EMU_EMULATOR_H
#define EMU_EMULATOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the last thing that went wrong in the process was, in words: why a module was refused, where
 * a kernel faulted, who waits for whom in a deadlock. Empty, never null, where nothing did. It is
 * the calling thread's copy, good until the thread asks again. */
const char *emu_last_report(void);

/* Of the schedule: in which order warps take turns and asynchronous work completes. The same seed
 * gives the same run, with any number of threads. For all launches from now on. */
void emu_set_seed(uint64_t seed);

/* Threads of the host that a launch uses, that of the caller among them: 1 to 1024; 0 (the
 * default): what LATHE_EMU_THREADS says, else one for each processor that the program may use. No
 * result and no report depends on it. For all launches from now on. */
void emu_set_threads(unsigned threads);

/* Not 0: tensor cores bit for bit as the hardware's; 0 (the default): fast, in f32. For devices
 * whose first context is made later. */
void emu_set_exact(int exact);

/* Bytes of memory of a device, warp instructions of a launch, depth of calls; 0 is the default
 * of each (16 GiB, 2^36, 4096). For devices whose first context is made later. */
void emu_set_limits(uint64_t memory_bytes, uint64_t steps, uint32_t depth);

/* ---- The sanitizer ----
 *
 * It watches what warps and asynchronous work do in memory and tells what is wrong with it, though
 * the run may have given the right answer: docs/sanitizer.md. */

enum emu_check_mode {
    EMU_CHECK_OFF,   /* the default */
    EMU_CHECK_FIRST, /* the first finding that is no warning ends the launch, which then fails */
    EMU_CHECK_ALL    /* goes on past findings */
};

/* For all launches from now on; what was allocated before counts as written. False without memory
 * for it, or for a mode that there is not. */
int emu_set_check(int mode);
/* The mode that holds: for a program that puts it back. */
int emu_check(void);

/* One of those who are part of it: a warp, and what it did. */
struct emu_finding_side {
    uint32_t cta[3];
    int32_t warp, lane; /* -1: none in particular */
    int32_t line;       /* of the text; 0: none */
    char role[48];      /* the heading or the label that it stands under; may be empty */
    char instruction[128];
    char operand[64]; /* as the text names the place: "[%full]" */
    int32_t reads, writes;
};

struct emu_finding {
    const char *code; /* "race": docs/sanitizer.md lists them; for good */
    char kernel[128];
    struct emu_finding_side who, other;
    int32_t has_other;
    char object[128]; /* the place in memory; may be empty */
    char what[1024];
    const char *needed; /* what would have been right; null: nothing to say; for good */
    uint64_t times;     /* that it was found, at the same instructions */
    int32_t is_warning; /* hardware makes up for it, and it costs time */
};

/* The first `room` of all findings since they were forgotten; returns how many there are. The list
 * may be null where the room is 0. */
size_t emu_findings(struct emu_finding *list, size_t room);
void emu_forget_findings(void);
/* All of it in words, in some lines without a last newline; cut off where there is no room. */
void emu_finding_words(const struct emu_finding *finding, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
