/* tmem.h: the tensor memory of a CTA, and who has which columns of it: for the files of tcgen05. */
#ifndef EMU_TMEM_H
#define EMU_TMEM_H

#include "emulator/state.h"

/* Columns are handed out in units; so many allocations there may be at a time. */
enum { EMU_TMEM_UNIT = 32, EMU_TMEM_UNITS = EMU_TMEM_COLUMNS / EMU_TMEM_UNIT };

struct emu_allocated {
    uint32_t column, columns;
    const struct emu_op *by;
};

struct emu_tmem {
    uint32_t cells[EMU_TMEM_CELLS];
    struct emu_allocated list[EMU_TMEM_UNITS];
    int count;
    int warp;              /* that allocates and deallocates; -1: none has */
    uint32_t last_columns; /* of the last allocation; 0: there was none */
    int group;             /* its .cta_group, which all of a kernel have alike */
    bool has_relinquished;
    /* What this CTA of a pair has asked for, and what it was given when the other had asked too. */
    const struct emu_op *wanted_by;
    uint32_t wanted_columns, given_column;
    bool is_given;
};

/* The other CTA of the pair, or null where there is none. */
struct emu_cta *emu_pair_of(const struct emu_cta *cta);
/* False after a fault that tells that columns are not allocated there. */
bool emu_tmem_check_columns(struct emu_warp *warp, const struct emu_op *op,
                            const struct emu_cta *cta, uint32_t column, uint32_t columns);
/* The CTAs that an operation of the thread is of, itself or its pair, the even one first; their
 * number is that of its .cta_group, or 0 after a fault. */
int emu_tcgen05_ctas(struct emu_warp *warp, const struct emu_op *op, struct emu_cta *ctas[2]);

/* What an operand is in all lanes of the mask; false after a fault. */
bool emu_uniform(struct emu_warp *warp, const struct emu_group *group, const struct emu_op *op,
                 int place, uint32_t mask, uint32_t *value);

enum emu_step emu_tmem_allocate(struct emu_warp *warp, struct emu_group *group,
                                const struct emu_op *op, uint32_t mask);
enum emu_step emu_tmem_deallocate(struct emu_warp *warp, struct emu_group *group,
                                  const struct emu_op *op, uint32_t mask);
enum emu_step emu_tmem_relinquish(struct emu_warp *warp, struct emu_group *group,
                                  const struct emu_op *op, uint32_t mask);

enum emu_step emu_tcgen05_move(struct emu_warp *warp, struct emu_group *group,
                               const struct emu_op *op, uint32_t mask);
enum emu_step emu_tcgen05_wait(struct emu_warp *warp, struct emu_group *group,
                               const struct emu_op *op, uint32_t mask);

/* The load under way that is to fill the register, or null; whether any move is under way. */
const struct emu_op *emu_moves_loading(const struct emu_warp *warp, const struct emu_frame *frame,
                                       int slot);
bool emu_moves_any(const struct emu_warp *warp);

enum emu_step emu_tcgen05_issue(struct emu_warp *warp, struct emu_group *group,
                                const struct emu_op *op, uint32_t mask);
enum emu_step emu_tcgen05_commit(struct emu_warp *warp, struct emu_group *group,
                                 const struct emu_op *op, uint32_t mask);

/* Sources of an operation, by place: of all but tcgen05.mma the first two. */
enum emu_tcgen05_place {
    EMU_PLACE_TO,
    EMU_PLACE_SECOND, /* columns, a mask of CTAs, a descriptor; A of a product */
    EMU_PLACE_B,
    EMU_PLACE_DESCRIPTOR,
    EMU_PLACE_ENABLE,
    EMU_PLACE_ZERO_MASK,
    EMU_PLACE_LANES, /* eight registers */
    EMU_PLACES = EMU_PLACE_LANES + 8
};

#endif
