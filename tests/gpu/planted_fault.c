/* planted_fault.c: one launch of a kernel, with a fault planted in its text on purpose, to see what
 * a tool such as compute-sanitizer says of it.
 *
 *     planted_fault none | staging | barrier
 *
 *   staging   both consumer warpgroups store to the same staging buffers
 *   barrier   nobody waits for the stores to staging before TMA reads them
 *
 * Prints whether the answer was right; exits 0 if the launch itself came to its end. */
#include "include/lathe.h"
#include "runtime/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* N is no multiple of 4: the last columns of D are copied by threads, from staging too. */
enum { M = 256, N = 510, K = 256, LDD = 512, BLOCK_ROWS = 64 };

struct fault {
    const char *name;
    const char *line; /* the start of the line that is taken out; null: none */
    int which;        /* its how manyeth occurrence, from 0                 */
};

static const struct fault faults[] = {
    {"none", NULL, 0},
    {"staging", "mad.lo.u32 %staging, %consumer,", 0},
    {"barrier", "bar.sync %store_barrier", 1},
};

/* The text without the line. */
static char *without_line(const char *text, const struct fault *fault)
{
    const char *at = text;
    char *copy = strdup(text);

    for (int i = 0; fault->line && at && i <= fault->which; i++)
        at = strstr(i == 0 ? at : at + 1, fault->line);
    if (!copy || !at) {
        free(copy);
        return NULL;
    }
    if (fault->line)
        memset(copy + (at - text), ' ', strcspn(at, "\n"));
    return copy;
}

static enum lathe_status get_function(struct lathe_context *context, const struct fault *fault,
                                      struct lathe_function **function, struct lathe_error *err)
{
    struct lathe_gemm problem = LATHE_GEMM_INIT;
    struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;
    struct lathe_plan plan = LATHE_PLAN_INIT;
    struct lathe_kernel *kernel = NULL, *edited = NULL;
    struct lathe_image *image = NULL;
    char *text = NULL;
    enum lathe_status status;

    problem.m = M;
    problem.n = N;
    problem.k = K;
    problem.ldd = LDD;
    problem.out = LATHE_F32;
    options.arch = LATHE_SM_90A;
    options.tile[0] = 128;
    options.tile[1] = 256;
    options.tile[2] = 64;
    status = lathe_plan_gemm(&plan, &problem, &options, err);
    if (status == LATHE_OK)
        status = lathe_emit(&kernel, &plan, NULL, err);
    if (status == LATHE_OK) {
        text = without_line(lathe_kernel_text(kernel, NULL), fault);
        status = text ? lathe_kernel_edit(&edited, kernel, text, err) : LATHE_INTERNAL;
    }
    if (status == LATHE_OK)
        status = lathe_build(context, &image, edited, err);
    if (status == LATHE_OK)
        status = lathe_load(context, function, image, err);
    free(text);
    lathe_image_destroy(&image);
    lathe_kernel_destroy(&edited);
    lathe_kernel_destroy(&kernel);
    return status;
}

/* B is ones, and A has the number of its block of 64 rows, from 1: so is every element of D, times
 * K. A tool that compares what racing threads write sees different values. */
static enum lathe_status fill(const struct lt_driver *cu, const struct lathe_gemm_args *args,
                              struct lathe_error *err)
{
    static const unsigned short numbers[] = {0x3c00, 0x4000, 0x4200, 0x4400}; /* 1 to 4 as f16 */
    int result = cu->cuMemsetD16Async(args->b, 0x3c00, N * K, NULL);

    for (unsigned block = 0; result == 0 && block < M / BLOCK_ROWS; block++)
        result = cu->cuMemsetD16Async(args->a + block * BLOCK_ROWS * K * 2, numbers[block],
                                      BLOCK_ROWS * K, NULL);
    if (result == 0)
        result = cu->cuMemsetD16Async(args->d, 0x7fff, M * LDD * 2, NULL);
    return lt_driver_check(cu, result, "cuMemsetD16Async", err);
}

static int count_wrong(const float *d)
{
    int wrong = 0;

    for (int row = 0; row < M; row++)
        for (int column = 0; column < N; column++)
            wrong += d[row * LDD + column] != (float)(K * (row / BLOCK_ROWS + 1));
    return wrong;
}

static int launch(const struct lt_device *device, struct lathe_function *function,
                  struct lathe_error *err)
{
    const struct lt_driver *cu = &device->driver;
    struct lathe_gemm_args args = LATHE_GEMM_ARGS_INIT;
    float *d = malloc(M * LDD * sizeof *d);
    struct lt_entered entered;
    int result = -1;

    args.m = M;
    args.n = N;
    args.k = K;
    args.ldd = LDD;
    if (!d || lt_enter(device, &entered, err) != LATHE_OK) {
        free(d);
        return -1;
    }
    if (cu->cuMemAlloc(&args.a, M * K * 2) == 0 && cu->cuMemAlloc(&args.b, N * K * 2) == 0 &&
        cu->cuMemAlloc(&args.d, M * LDD * sizeof *d) == 0 && fill(cu, &args, err) == LATHE_OK &&
        lathe_gemm_launch(function, &args, err) == LATHE_OK && cu->cuCtxSynchronize() == 0 &&
        cu->cuMemcpyDtoH(d, args.d, M * LDD * sizeof *d) == 0)
        result = count_wrong(d);
    cu->cuMemFree(args.a);
    cu->cuMemFree(args.b);
    cu->cuMemFree(args.d);
    lt_leave(device, &entered);
    free(d);
    return result;
}

int main(int count, char **words)
{
    const struct fault *fault = NULL;
    struct lathe_context *context = NULL;
    struct lathe_function *function = NULL;
    const struct lt_device *device;
    struct lathe_error error = {.status = LATHE_OK};
    int wrong = -1;

    for (size_t i = 0; count == 2 && i < sizeof faults / sizeof faults[0]; i++)
        if (strcmp(words[1], faults[i].name) == 0)
            fault = &faults[i];
    if (!fault) {
        fprintf(stderr, "usage: planted_fault none | staging | barrier\n");
        return 2;
    }
    if (lathe_context_create(&context, NULL, &error) == LATHE_OK &&
        lt_context_device(context, &device, &error) == LATHE_OK &&
        get_function(context, fault, &function, &error) == LATHE_OK)
        wrong = launch(device, function, &error);
    printf("fault %s: %s, %d of %d elements wrong\n", fault->name,
           wrong < 0 ? error.message : "ran", wrong, M * N);
    lathe_context_destroy(&context);
    return wrong < 0;
}
