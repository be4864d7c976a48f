/* walk_model.h: the inside of walk.h, for the files that are the walk: walk.c (the whole),
 * walk_producer.c, walk_consumer.c and walk_epilogue.c (the roles). */
#ifndef LATHE_TESTS_TEMPLATES_WALK_MODEL_H
#define LATHE_TESTS_TEMPLATES_WALK_MODEL_H

#include "tests/support/ptx_run.h"
#include "tests/templates/fixture.h"

#define D_BASE (UINT64_C(1) << 40) /* the "address" of D */

enum {
    SMEM_START = 1024,
    SMEM_BYTES = 232448,
    PIECES = SMEM_BYTES / 16,
    MAP_BASE = 0x10000, /* the "address" of tensor map i is this + i */
    LDD_MORE = 24,      /* elements between two rows of D beyond its columns */
    WARPGROUP = 128
};

/* One TMA load of the producer. */
struct load {
    int step, cta;
    const struct lathe_tensor_map *map;
    int64_t column, row;
    uint32_t smem, barrier, mask;
};

/* 16 bytes of A or B in shared memory. */
struct piece {
    int step;
    enum lathe_operand operand;
    int64_t row, k;
};

struct place {
    int64_t m, n;
};

struct walk {
    const struct lathe_plan *plan;
    const struct lathe_contract *contract;
    const struct ptx_program *program;
    int64_t m, n, k;
    int raster;
    struct lathe_walk order; /* as the kernel is told; tiles[] is found by hand */
    float beta;

    int ctas, k_blocks, steps; /* steps of the ring: tiles x k_blocks       */
    int stage_bytes, readers;
    int a_rows;          /* of a box of A                                      */
    int arrive_bytes;    /* at a stage: fewer than it holds where A is short    */
    struct place *tiles; /* of the cluster, in order */
    int tile_count;

    struct load *loads;
    int load_count;
    int *releases; /* of each step in each CTA */
    float *d;
    unsigned char *written;
};

/* Who wrote two bytes of staging last, and behind how many barriers of the warpgroup. */
struct touch {
    int epoch, thread;
};

/* What a consumer warpgroup has in common. */
struct group {
    struct view *views; /* of its threads */
    int consumer;
    int epoch; /* barriers passed, from 1 */
    unsigned char smem[SMEM_BYTES];
    struct touch writes[SMEM_BYTES / 2];
    struct piece pieces[PIECES];
    int tile;         /* that is being multiplied or stored               */
    int mmas;         /* of this step                                     */
    int c_phases[16]; /* completed, of each barrier of C                  */
    int c_waits[16];
    int open_stores; /* since the last commit                            */
    int groups;      /* of stores committed                              */
    int groups_read; /* of them known to have read their source          */
    int buffer_of_group[256];
};

/* What one thread sees and has done. */
struct view {
    struct walk *walk;
    struct group *group; /* null for the producer's warps                       */
    int cta, thread;
    int step;               /* of the ring that was waited for last, -1 before  */
    int releases;           /* of stages                                        */
    int committed, pending; /* groups of MMAs                                   */
    int fenced;             /* an MMA may follow                                */
    int unfenced_writes;    /* to staging, which TMA could not see yet          */
    int c_bytes;            /* announced for the next box of C                  */
};

/* The offset in shared memory of an address, which may carry a CTA's rank. */
uint32_t walk_offset_of(uint64_t address);
/* The value of what a kernel knows by name; `user` is a view. */
uint64_t walk_special(void *user, const char *name);
/* The bytes of a parameter that is a block, or null. */
const void *walk_block(void *user, const char *name);
const struct lathe_tensor_map *walk_map_at(const struct walk *walk, uint64_t address);
/* Where the 128-byte swizzle puts the byte of an address. */
uint32_t walk_swizzled(uint32_t address);
/* What the product is at a place, and what C holds there (zero outside of it). */
float walk_d_value(int64_t row, int64_t column);
float walk_c_value(const struct walk *walk, int64_t row, int64_t column);
/* The place of a CTA's part of a tile, and the first column of k of a step. */
struct place walk_tile_of(const struct walk *walk, int tile, int cta);
int64_t walk_k_of(const struct walk *walk, int step);
/* A wait for a barrier and parity, which is answered with yes. */
void walk_expect_wait(const struct view *view, struct ptx_thread *thread,
                      const struct ptx_insn *insn, uint32_t barrier, int parity);

/* The offset of a warpgroup's mbarriers for C. */
uint32_t walk_c_barriers(const struct view *view);
/* Takes an instruction of the epilogue, if it is one; and what a warpgroup does together. */
bool walk_take_epilogue(struct view *view, struct ptx_thread *thread, const struct ptx_insn *insn);
void walk_move_matrices(struct view *views, struct ptx_thread **threads,
                        const struct ptx_insn *insn);

/* Plays the producer's warps, and a consumer warpgroup, of one CTA from start to end. */
void walk_producer(struct walk *walk, int cta);
void walk_warpgroup(struct walk *walk, int cta, int consumer);

#endif
