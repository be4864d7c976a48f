/* tensor_copy.h: one copy of a tensor's box, or a row of them, as the suite draws it. */
#ifndef LATHE_TESTS_TENSOR_COPY_H
#define LATHE_TESTS_TENSOR_COPY_H

#include "tests/gpu/tensor_case.h"
#include "tests/gpu/tensor_draw.h"

enum { TENSOR_REPLACED_MAX = 12 };

struct tensor_copy {
    const char *reduction; /* null: it is none */
    bool is_store;         /* or a reduction */
    struct tensor_map map;
    int at[TENSOR_RANK_MAX];
    unsigned offsets[TENSOR_SPACE_MAX]; /* im2col */
    uint32_t box_at;                    /* in shared memory */

    unsigned issuer, targets;   /* of a cluster: a rank, a mask of ranks */
    bool is_multicast, is_afar; /* to one CTA alone, another one */
    bool has_hint, is_prefetched, to_own_cta;
    bool traps;

    /* A map that the kernel makes of the one it is given, field by field. */
    bool replaces, in_global;
    struct tensor_map first_map;
    struct {
        enum tensor_field field;
        int ordinal;
    } replaced[TENSOR_REPLACED_MAX];
    int replaced_count;

    /* Stores of several boxes, along dimension 1, a group each; `allowed` of them may be pending
     * when the rest is looked at. */
    int boxes, allowed;
    bool waits_for_reads;
};

/* Boxes behind each other in shared memory begin so far apart. */
uint32_t tensor_copy_pitch(const struct tensor_copy *copy);

/* The kernel's text, into the case that has all else. */
void tensor_copy_write(const struct tensor_copy *copy, struct tensor_case *it);

/* ---- Cases ---- */

/* `kind` is the first word of its name, `index` what makes that unlike others. False where `use`
 * said so. */
bool tensor_copy_emit(struct tensor_cases *cases, const struct tensor_copy *copy, unsigned ctas,
                      int index, const char *kind);
/* Parts of tensor_each_copy. */
bool tensor_each_replacement(struct tensor_cases *cases);
bool tensor_each_map(struct tensor_cases *cases);
bool tensor_each_trap(struct tensor_cases *cases);

/* ---- Drawing ---- */

/* Maps whose box fits into shared memory, and coordinates that are legal. */
void tensor_draw_tile(struct tensor_draw *draw, struct tensor_map *map, int rank, bool is_strided);
void tensor_draw_im2col(struct tensor_draw *draw, struct tensor_map *map, int rank, bool is_store);
void tensor_draw_place(struct tensor_draw *draw, struct tensor_copy *copy);
/* Each dimension is before the tensor, or behind it; so far as that is legal. */
void tensor_draw_outside(struct tensor_draw *draw, struct tensor_copy *copy);

#endif
