/* fixture.h: a kernel that is just open, for tests of what is written into one.
 *
 * Sees the inside of the builder, as tests of codegen/ may. */
#ifndef LATHE_TESTS_CODEGEN_FIXTURE_H
#define LATHE_TESTS_CODEGEN_FIXTURE_H

#include "codegen/builder.h"

/* An annotated kernel of one warpgroup, entered; *state is the builder. Set-up and tear-down of
 * cmocka tests. */
int open_kernel(void **state);
int close_kernel(void **state);

/* The same for another target. */
struct lt_builder *kernel_for(enum lathe_arch arch, bool annotate,
                              const struct lathe_allocator *allocator);

/* What the builder has written so far. */
const char *written(const struct lt_builder *b);

/* The whole text, to be freed; the builder has none left. */
char *finished(struct lt_builder *b);

/* What finishing says; the text is dropped. */
enum lathe_status status_of_finishing(struct lt_builder *b);

/* A value with a name, made by one instruction. */
lt_value number(struct lt_builder *b, const char *name, int64_t value);

/* A tensor map of boxes of 64 x 128 for B, and a plan of 384 threads for clusters of two. */
struct lathe_tensor_map map_named(const char *name);
struct lathe_plan plan_of_384_threads(void);

/* The builder's first mistake is this one, and finishing says so. */
#define assert_mistake(b, cause) assert_mistake_(b, cause, __FILE__, __LINE__)
void assert_mistake_(struct lt_builder *b, const char *cause, const char *file, int line);
#define assert_no_mistake(b) assert_no_mistake_(b, __FILE__, __LINE__)
void assert_no_mistake_(const struct lt_builder *b, const char *file, int line);

#endif
