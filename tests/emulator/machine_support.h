/* machine_support.h: small kernels on a device of the emulator's. */
#ifndef EMU_TESTS_MACHINE_SUPPORT_H
#define EMU_TESTS_MACHINE_SUPPORT_H

#include "emulator/machine.h"

/* One device, one program, one buffer of 32-bit words that the kernel `k` gets the address of. */
struct trial {
    struct emu_device *device;
    struct emu_program *program;
    uint64_t buffer;
    uint32_t *words;
    struct emu_error error;
};

enum { TRIAL_WORDS = 4096, TRIAL_FRESH = 0x7e7e7e7e };

/* A module whose entry is `k(.param .u64 out)`, with its address in %out as a global one; the
 * registers %r0-%r31, %d0-%d15 (64 bits), %f0-%f15 and %p0-%p7 are there. */
#define KERNEL_WITH(declarations, body)                                                            \
    ".version 8.3\n.target sm_90a\n.address_size 64\n" declarations                                \
    "\n.visible .entry k(.param .u64 out)\n{\n"                                                    \
    ".reg .b32 %r<32>;\n.reg .b64 %d<16>, %out;\n.reg .f32 %f<16>;\n.reg .pred %p<8>;\n"           \
    "ld.param.u64 %out, [out];\ncvta.to.global.u64 %out, %out;\n" body "\nret;\n}\n"
#define KERNEL(body) KERNEL_WITH("", body)
/* out[%tid.x] = the register; uses %d15, %r31. */
#define STORE_BY_THREAD(reg)                                                                       \
    "mov.u32 %r31, %tid.x;\nmul.wide.u32 %d15, %r31, 4;\nadd.u64 %d15, %out, %d15;\n"              \
    "st.global.u32 [%d15], " reg ";\n"

/* Fails the test where the text does not load. */
struct trial trial_make(const char *text, uint64_t seed);
/* The same on a device of one's own. */
struct trial trial_make_on(const char *text, const struct emu_options *options);
/* The error of a text that has to be refused. */
struct emu_error trial_refused(const char *text);
void trial_free(struct trial *trial);
enum emu_outcome trial_run(struct trial *trial, uint32_t grid, uint32_t block, uint32_t cluster,
                           uint32_t dynamic_shared_bytes);
/* The same, and fails the test with the report where it does not end well. */
void trial_expect_done(struct trial *trial, uint32_t grid, uint32_t block, uint32_t cluster,
                       uint32_t dynamic_shared_bytes);
/* The run has ended so, and the report has all of the words, which end with a null. */
void trial_expect_fault(struct trial *trial, uint32_t grid, uint32_t block, uint32_t cluster,
                        enum emu_outcome outcome, const char *const *words);

#endif
