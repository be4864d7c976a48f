#include "tests/templates/fixture.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"

#include <string.h>

const char *const sample_requests[] = {
    "gemm m=4096 n=4096 k=4096 tile=128x256x64 cluster=1x1x1",
    "gemm m=4096 n=4096 k=4096 tile=128x256x64 cluster=2x1x1",
    "gemm m=4096 n=4096 k=4096 tile=128x256x64 cluster=2x1x1 type=bf16 out=f32",
    "gemm m=4096 n=4096 k=4096 tile=128x256x64 cluster=2x1x1 beta=any",
    "gemm m=4096 n=4096 k=4096 tile=256x128x64 cluster=1x2x1",
    "gemm m=4096 n=4096 k=4096 tile=256x128x64 cluster=1x4x1 out=f32 beta=any",
    "gemm m=4096 n=4096 k=4096 tile=256x64x64 cluster=2x2x1 type=bf16 beta=any",
    "gemm m=4096 n=4096 k=4096 tile=128x128x64 cluster=4x2x1",
    "gemm m=4096 n=4096 k=4096 tile=128x128x64 cluster=2x1x1 regs=40x232",
    "gemm m=4096 n=4096 k=4096 tile=192x80x64 cluster=1x1x1",
    "gemm m=4096 n=4096 k=4096 tile=192x64x64 cluster=8x1x1 out=bf16",
    "gemm m=4096 n=4096 k=4096 tile=64x64x64 cluster=1x1x1",
    "gemm m=4096 n=4096 k=4096 tile=64x256x64 cluster=1x1x1 stages=3",
    "gemm m=4096 n=4096 k=4096 tile=64x8x128 cluster=1x8x1",
    "gemm m=4096 n=4096 k=4096 tile=64x16x128 cluster=1x1x1",
    "gemm m=4096 n=4096 k=4096 tile=64x24x192 cluster=1x1x1 out=f32",
    "gemm m=4096 n=4096 k=4096 tile=64x32x256 cluster=2x1x1 stages=2",
    "gemm m=4096 n=4096 k=4096 tile=64x72x64 cluster=1x1x1 beta=any",
    "gemm m=4096 n=4096 k=4096 tile=128x72x64 cluster=1x1x1 out=f32 beta=any",
    "gemm m=4096 n=4096 k=4096 tile=128x208x64 cluster=2x1x1",
    "gemm m=4096 n=4096 k=4096 tile=128x208x64 cluster=1x1x1 out=f32 epilogue=128x32x1",
    "gemm m=4096 n=4096 k=4096 tile=128x208x64 cluster=1x1x1 beta=any epilogue=128x64x1",
    "gemm m=4096 n=4096 k=4096 tile=128x128x64 cluster=1x1x1 beta=any epilogue=128x64x3",
    "gemm m=4096 n=4096 k=4096 tile=128x64x128 cluster=1x1x1 epilogue=128x64x8 beta=any",
    "gemm m=4096 n=4096 k=1024 tile=128x128x64 cluster=1x1x1 static=k",
    "gemm m=1000 n=520 k=200 tile=128x128x64 cluster=2x1x1 static=m,n,k",
    "gemm m=1000 n=520 k=0 tile=128x128x64 cluster=1x1x1 static=m,n,k beta=any",
    "gemm m=128 n=128 k=128",
    "gemm m=1 n=4096 k=4096",
};
const int sample_count = sizeof sample_requests / sizeof sample_requests[0];

static enum lathe_status read_request(struct lathe_request *request, const char *line,
                                      struct lathe_error *err)
{
    char copy[WORDS_MAX];
    const char *words[64];
    int count = 0;

    assert_true(strlen(line) < sizeof copy);
    strcpy(copy, line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        assert_true(count < 64);
        words[count++] = word;
    }

    enum lathe_status status = lathe_request_parse(request, count, words, err);

    if (request->plan.arch == LATHE_ARCH_DEFAULT)
        request->plan.arch = LATHE_SM_90A;
    return status;
}

enum lathe_status plan_words(struct lathe_plan *plan, const char *words, struct lathe_error *err)
{
    struct lathe_request request = LATHE_REQUEST_INIT;
    enum lathe_status status = read_request(&request, words, err);

    *plan = (struct lathe_plan)LATHE_PLAN_INIT;
    return status == LATHE_OK ? lathe_plan_gemm(plan, &request.gemm, &request.plan, err) : status;
}

struct lathe_plan plan_of(const char *words)
{
    struct lathe_plan plan;
    struct lathe_error err = {0};

    if (plan_words(&plan, words, &err) != LATHE_OK)
        fail_msg("%s: %s", words, err.message);
    return plan;
}

struct lathe_request request_of(const char *words)
{
    struct lathe_request request = LATHE_REQUEST_INIT;
    struct lathe_error err = {0};

    if (read_request(&request, words, &err) != LATHE_OK)
        fail_msg("%s: %s", words, err.message);
    return request;
}

struct lathe_kernel *kernel_of(const char *words)
{
    struct lathe_plan plan = plan_of(words);
    struct lathe_kernel *kernel = NULL;
    struct lathe_error err = {0};

    if (lathe_emit(&kernel, &plan, NULL, &err) != LATHE_OK)
        fail_msg("%s: %s", words, err.message);
    return kernel;
}

const struct lathe_tenant *tenant_of(const struct lathe_plan *plan, const char *name)
{
    for (int i = 0; i < plan->tenant_count; i++)
        if (strcmp(plan->tenants[i].name, name) == 0)
            return &plan->tenants[i];
    fail_msg("the budget has no tenant %s", name);
    return NULL;
}

void assert_refused_(const char *words, enum lathe_status status, const char *part,
                     const char *file, int line)
{
    struct lathe_plan plan;
    struct lathe_error err = {0};
    enum lathe_status got = plan_words(&plan, words, &err);

    if (got == status && err.status == status && strstr(err.message, part))
        return;
    print_error("%s\nis %s \"%s\" instead of %s \"...%s...\"\n", words, lathe_status_name(got),
                err.message, lathe_status_name(status), part);
    _fail(file, line);
}

void assert_budget_adds_up(const struct lathe_plan *plan)
{
    int sum = 0;

    assert_in_range(plan->tenant_count, 1, LATHE_TENANTS_MAX);
    for (int i = 0; i < plan->tenant_count; i++) {
        assert_true(plan->tenants[i].bytes >= 0);
        assert_int_equal(plan->tenants[i].offset, sum);
        sum += plan->tenants[i].bytes;
    }
    assert_int_equal(plan->smem_bytes, sum);
    assert_int_equal(plan->smem_limit, 232448);
    assert_true(plan->smem_bytes <= plan->smem_limit);
    assert_int_equal(tenant_of(plan, "stage ring")->offset % 1024, 0);
    if (plan->store == LATHE_COPY_TMA)
        assert_int_equal(tenant_of(plan, "epilogue staging")->offset % 1024, 0);
    if (plan->tmem_columns > 0)
        assert_true(plan->tmem_columns >= 32 && plan->tmem_columns <= 512 &&
                    (plan->tmem_columns & (plan->tmem_columns - 1)) == 0);
}
