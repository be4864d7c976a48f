/* reference_suite.c: whether the GPU's reference fills and judges as the CPU's does, in every type.
 *
 *     reference_suite [seed=N]
 *
 * Both fill the same matrices, byte by byte the same; both judge an answer that is right but for a
 * few elements. Prints a line a case, as TAP does, then "N passed, M failed, K skipped". */
#include "runtime/checker.h"
#include "runtime/context.h"
#include "runtime/number.h"
#include "runtime/operands.h"
#include "templates/registry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 130, N = 77, K = 91 };

static const enum lathe_type pairs[][2] = {
    {LATHE_F16, LATHE_F16},  {LATHE_F16, LATHE_F32},   {LATHE_BF16, LATHE_BF16},
    {LATHE_TF32, LATHE_F32}, {LATHE_E4M3, LATHE_E4M3}, {LATHE_E5M2, LATHE_E5M2},
    {LATHE_E4M3, LATHE_F16}, {LATHE_INT8, LATHE_S32},
};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

struct suite {
    struct lathe_context *context;
    struct lt_stream stream;
    struct lt_checker gpu, cpu;
    uint64_t seed;
    int passed, failed;
};

static void count(struct suite *suite, bool ok, const char *what, const enum lathe_type types[2],
                  enum lt_data data)
{
    printf("%sok %d - %s type=%s out=%s%s\n", ok ? "" : "not ", suite->passed + suite->failed + 1,
           what, lathe_type_name(types[0]), lathe_type_name(types[1]),
           data == LT_DATA_INTEGERS ? ", whole numbers" : "");
    if (ok)
        suite->passed++;
    else
        suite->failed++;
}

/* A copy of what an operand holds from its first element on; to be freed. */
static void *copy_of(const struct suite *suite, const struct lt_operand *operand)
{
    int64_t bytes = lt_matrix_bytes(&operand->matrix);
    void *copy = malloc((size_t)bytes);

    if (!copy || lt_stream_read(&suite->stream, copy, operand->matrix.at, bytes, NULL) != LATHE_OK)
        abort();
    return copy;
}

static bool fills_agree(const struct suite *suite, const struct lt_operands *operands,
                        enum lt_data data)
{
    const struct lt_operand *inputs[] = {&operands->a, &operands->b, &operands->c};
    void *by_cpu[3];
    bool agree = lt_operands_fill(operands, &suite->cpu, data, suite->seed, NULL) == LATHE_OK;

    for (int i = 0; i < 3; i++)
        by_cpu[i] = copy_of(suite, inputs[i]);
    agree &= lt_operands_poison(operands, NULL) == LATHE_OK;
    agree &= lt_operands_fill(operands, &suite->gpu, data, suite->seed + 1, NULL) == LATHE_OK;
    agree &= lt_operands_fill(operands, &suite->gpu, data, suite->seed, NULL) == LATHE_OK;
    for (int i = 0; i < 3; i++) {
        void *by_gpu = copy_of(suite, inputs[i]);

        agree &= memcmp(by_gpu, by_cpu[i], (size_t)lt_matrix_bytes(&inputs[i]->matrix)) == 0;
        free(by_gpu);
        free(by_cpu[i]);
    }
    return agree;
}

/* A whole number of 32 bits may have more of them than f32. */
static void store(enum lathe_type type, void *array, int64_t index, double value)
{
    if (type == LATHE_S32 && isfinite(value))
        ((int32_t *)array)[index] = (int32_t)(uint32_t)(int64_t)value;
    else
        lt_number_store(type, array, index, (float)value);
}

/* As a kernel would, but for some elements, every 501st. */
static void write_answer(const struct suite *suite, const struct lt_operands *operands,
                         const struct lt_product *p)
{
    static const float planted[] = {NAN, 1000000, -0.25f, INFINITY};
    void *a = copy_of(suite, &operands->a), *b = copy_of(suite, &operands->b);
    void *c = copy_of(suite, &operands->c), *d = copy_of(suite, &operands->d);
    int wrong = 0;

    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            double sum = 0;

            for (int64_t k = 0; k < K; k++)
                sum += lt_number_load(p->a.type, a, i * p->a.pitch + k) *
                       lt_number_load(p->b.type, b, j * p->b.pitch + k);
            sum = p->alpha * sum + p->beta * lt_number_load(p->c.type, c, i * p->c.pitch + j);
            if ((i * N + j) % 501 == 500)
                sum = (double)planted[wrong++ % 4];
            store(p->d.type, d, i * p->d.pitch + j, sum);
        }
    if (lt_stream_write(&suite->stream, operands->d.matrix.at, d, lt_matrix_bytes(&p->d), NULL) !=
        LATHE_OK)
        abort();
    free(a);
    free(b);
    free(c);
    free(d);
}

/* The order of a sum is each one's own affair. */
static bool is_near(double x, double y)
{
    return x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= 1e-9 * fabs(y);
}

static bool verdicts_agree(const struct suite *suite, const struct lt_operands *operands,
                           float alpha, enum lt_data data)
{
    struct lt_product product = lt_operands_product(operands, alpha, -1, data);
    struct lt_verdict gpu = LT_VERDICT_INIT, cpu = LT_VERDICT_INIT;
    bool agree;

    write_answer(suite, operands, &product);
    if (lt_checker_compare(&suite->gpu, &product, &gpu, NULL) != LATHE_OK ||
        lt_checker_compare(&suite->cpu, &product, &cpu, NULL) != LATHE_OK)
        return false;
    agree = gpu.compared == cpu.compared && gpu.wrong == cpu.wrong && gpu.first == cpu.first &&
            is_near(gpu.got, cpu.got) && is_near(gpu.want, cpu.want) &&
            is_near(gpu.bound, cpu.bound) && is_near(gpu.max_abs_error, cpu.max_abs_error) &&
            is_near(gpu.error_squares, cpu.error_squares) &&
            is_near(gpu.reference_squares, cpu.reference_squares);
    if (!agree || cpu.wrong == 0 || cpu.wrong > M * N / 501 + 1)
        printf("# GPU: %lld wrong, first %lld, %g for %g within %g; CPU: %lld, %lld, %g, %g, %g\n",
               (long long)gpu.wrong, (long long)gpu.first, gpu.got, gpu.want, gpu.bound,
               (long long)cpu.wrong, (long long)cpu.first, cpu.got, cpu.want, cpu.bound);
    return agree && cpu.wrong > 0 && cpu.wrong <= M * N / 501 + 1;
}

static void run_pair(struct suite *suite, const enum lathe_type types[2], enum lt_data data)
{
    struct lathe_gemm problem =
        *lathe_gemm(.m = M, .n = N, .k = K, .type = types[0], .out = types[1],
                    .beta = LATHE_BETA_ANY, .lda = 96, .ldb = 112, .ldc = 80, .ldd = 96);
    struct lt_operands operands = {.stream = NULL};

    if (lt_gemm_resolve(&problem, NULL) != LATHE_OK ||
        lt_operands_create(&operands, &suite->stream, &problem, true, NULL) != LATHE_OK) {
        count(suite, false, "making operands", types, data);
        return;
    }
    count(suite, fills_agree(suite, &operands, data), "fills agree", types, data);
    count(suite, verdicts_agree(suite, &operands, 2, data), "verdicts agree", types, data);
    count(suite, verdicts_agree(suite, &operands, 512, data), "verdicts on large sums agree", types,
          data);
    lt_operands_destroy(&operands);
}

static enum lathe_status open_suite(struct suite *suite, struct lathe_error *err)
{
    enum lathe_status status = lathe_context_create(&suite->context, NULL, err);

    if (status == LATHE_OK)
        status = lt_stream_open(&suite->stream, suite->context, err);
    if (status == LATHE_OK)
        status =
            lt_checker_open(&suite->cpu, suite->context, &suite->stream, LT_CHECKER_CPU, 1, err);
    if (status == LATHE_OK)
        status =
            lt_checker_open(&suite->gpu, suite->context, &suite->stream, LT_CHECKER_ANY, 1, err);
    if (status == LATHE_OK && !suite->gpu.reference)
        status = lt_context_reference(suite->context, &suite->gpu.reference, err);
    return status;
}

int main(int count, char **words)
{
    struct suite suite = {.seed = 1};
    struct lathe_error error = {.status = LATHE_OK};

    if (count > 1 && strncmp(words[1], "seed=", 5) == 0)
        suite.seed = strtoull(words[1] + 5, NULL, 10);
    if (open_suite(&suite, &error) != LATHE_OK) {
        printf("# no GPU, or no NVRTC: %s\n0 passed, 0 failed, 1 skipped\n", error.message);
        return 77;
    }
    for (int i = 0; i < PAIRS; i++)
        for (int data = LT_DATA_NORMAL; data <= LT_DATA_INTEGERS; data++)
            run_pair(&suite, pairs[i], (enum lt_data)data);
    printf("%d passed, %d failed, 0 skipped\n", suite.passed, suite.failed);
    lt_stream_close(&suite.stream);
    lathe_context_destroy(&suite.context);
    return suite.failed > 0;
}
