/* fixture.h: from the words of a request to its plan and text, for tests of templates/. */
#ifndef LATHE_TESTS_TEMPLATES_FIXTURE_H
#define LATHE_TESTS_TEMPLATES_FIXTURE_H

#include "include/lathe.h"

enum { WORDS_MAX = 1024 };

/* Requests whose kernels stand for all there are: tiles, clusters, types, outputs, baked-in sizes.
 */
extern const char *const sample_requests[];
extern const int sample_count;

/* Reads "gemm m=1 ..." and plans it. Here a request that names no architecture is for sm_90a, as
 * all samples are. */
enum lathe_status plan_words(struct lathe_plan *plan, const char *words, struct lathe_error *err);

/* The same for a request that can be planned; the test fails with the message if it cannot. */
struct lathe_plan plan_of(const char *words);

/* The request as such, which must be one. */
struct lathe_request request_of(const char *words);

/* The kernel of a request, to be destroyed. */
struct lathe_kernel *kernel_of(const char *words);

/* Offset and bytes of a tenant that must be there. */
const struct lathe_tenant *tenant_of(const struct lathe_plan *plan, const char *name);

/* The request is refused with this status, and the message has the part. */
#define assert_refused(words, status, part) assert_refused_(words, status, part, __FILE__, __LINE__)
void assert_refused_(const char *words, enum lathe_status status, const char *part,
                     const char *file, int line);

/* The budget is within its limit and the sum of its tenants, each behind the one before. */
void assert_budget_adds_up(const struct lathe_plan *plan);

#endif
