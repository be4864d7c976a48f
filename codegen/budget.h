/* budget.h: a CTA's shared memory as a list of tenants.
 *
 * The one arithmetic behind plans and texts: the bytes that a plan reports are the sum of its
 * tenants, and each tenant's offset is the one that the emitted text uses. Whatever a tenant's
 * alignment costs becomes a tenant of its own, named "padding". */
#ifndef LT_CODEGEN_BUDGET_H
#define LT_CODEGEN_BUDGET_H

#include "include/lathe.h"

/* TMA and wgmma want swizzled tiles at multiples of this (the 128-byte pattern's repeat). */
enum { LT_TILE_ALIGNMENT = 1024 };

struct lt_budget {
    int count, bytes;
    struct {
        const char *name; /* a literal */
        int bytes, offset;
    } tenants[LATHE_TENANTS_MAX];
};

/* Lets `bytes` follow what is there. Returns the tenant's offset. */
int lt_budget_add(struct lt_budget *budget, const char *name, int64_t bytes);

/* Fills up with padding to the next multiple of `alignment`. */
void lt_budget_align(struct lt_budget *budget, int alignment);

/* Writes the tenants and their sum into a plan. */
void lt_budget_store(const struct lt_budget *budget, struct lathe_plan *plan);

/* The bytes of a tenant; 0 where the plan has none of that name. */
int lt_budget_bytes(const struct lathe_plan *plan, const char *name);

/* The offset of a tenant that is known to be there. */
int lt_budget_offset(const struct lathe_plan *plan, const char *name);

#endif
