/* tcgen05_pipe.h: what a thread has issued to the tensor cores, and is not done: for tcgen05_pipe.c
 * and the sanitizer. */
#ifndef EMU_TCGEN05_PIPE_H
#define EMU_TCGEN05_PIPE_H

#include "emulator/tcgen05_product.h"
#include "emulator/tmem.h"

struct emu_piped {
    uint64_t due; /* turn of the cluster */
    struct emu_warp *warp;
    int lane;
    const struct emu_op *op;
    uint64_t number;         /* in the order of issue; commits to several CTAs have the same */
    struct emu_cta *ctas[2]; /* the even one first */
    int cta_count;
    struct emu_product product;   /* mma */
    uint32_t address;             /* cp, shift */
    struct emu_descriptor matrix; /* cp */
    struct emu_cta *barrier_cta;  /* commit */
    uint32_t barrier;
    bool is_done;
    struct emu_check_piped *check; /* owned; null without the sanitizer */
};

/* Whether the tensor cores do the one before the other by themselves. */
bool emu_is_pipelined(const struct emu_piped *before, const struct emu_piped *after);

#endif
