/* kernel.h: what emitting makes: the text, the plan it came from and the launch contract. */
#ifndef LT_CODEGEN_KERNEL_H
#define LT_CODEGEN_KERNEL_H

#include "codegen/builder.h"

/* Takes what the builder has written; the builder is used up either way. */
enum lathe_status lt_kernel_create(struct lathe_kernel **kernel, struct lt_builder **builder,
                                   const struct lathe_plan *plan,
                                   const struct lathe_allocator *allocator,
                                   struct lathe_error *err);

#endif
