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
 *                      processors that the program may use */
#ifndef EMU_EMULATOR_H
#define EMU_EMULATOR_H

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

#ifdef __cplusplus
}
#endif

#endif
