/* 02_specialise: a process that makes its kernels when it starts, then launches them.
 *
 * The problems that the process will meet are known at its start. One call plans, emits, links and
 * loads a kernel for each, in parallel; a second start finds the cubins in the cache. After that a
 * launch costs a few microseconds, and the same function serves other sizes of the same kind.
 *
 * Memory, streams and the CUDA context are the program's own: Lathe works in the context that is
 * current. This program gets the few driver calls it needs from libcuda by itself.
 * Exits 77 where there is no GPU to run on. */
#include <lathe.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { NOT_RUN = 77, CHECKED = 256 };

/* ---- The driver ---- */

static struct {
    int (*init)(unsigned flags);
    int (*device_get)(int *device, int ordinal);
    int (*context_retain)(void **context, int device);
    int (*context_set_current)(void *context);
    int (*allocate)(uint64_t *address, size_t bytes);
    int (*release)(uint64_t address);
    int (*copy_to_device)(uint64_t to, const void *from, size_t bytes);
    int (*copy_to_host)(void *to, uint64_t from, size_t bytes);
    int (*synchronize)(void);
} cu;

static int bind(void *library, void *function, const char *symbol)
{
    void *found = dlsym(library, symbol);

    *(void **)function = found;
    return found != NULL;
}

static int open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);

    return library && bind(library, &cu.init, "cuInit") &&
           bind(library, &cu.device_get, "cuDeviceGet") &&
           bind(library, &cu.context_retain, "cuDevicePrimaryCtxRetain") &&
           bind(library, &cu.context_set_current, "cuCtxSetCurrent") &&
           bind(library, &cu.allocate, "cuMemAlloc_v2") &&
           bind(library, &cu.release, "cuMemFree_v2") &&
           bind(library, &cu.copy_to_device, "cuMemcpyHtoD_v2") &&
           bind(library, &cu.copy_to_host, "cuMemcpyDtoH_v2") &&
           bind(library, &cu.synchronize, "cuCtxSynchronize");
}

static int use_first_gpu(void)
{
    void *context;
    int device;

    return cu.init(0) == 0 && cu.device_get(&device, 0) == 0 &&
           cu.context_retain(&context, device) == 0 && cu.context_set_current(context) == 0;
}

/* ---- Matrices of small whole numbers, on which the answer is exact ---- */

struct matrix {
    int64_t rows, columns;
    signed char *values; /* -2 ... 2               */
    uint64_t address;    /* the same on the device, as bf16 */
};

static int make_matrix(struct matrix *matrix, int64_t rows, int64_t columns)
{
    static const uint16_t bf16_of[] = {0xc000, 0xbf80, 0x0000, 0x3f80, 0x4000};
    size_t count = (size_t)(rows * columns);
    uint16_t *elements = malloc(count * sizeof *elements);
    int done = 0;

    *matrix = (struct matrix){.rows = rows, .columns = columns, .values = malloc(count)};
    if (elements && matrix->values) {
        for (size_t i = 0; i < count; i++) {
            int drawn = rand() % 5;

            matrix->values[i] = (signed char)(drawn - 2);
            elements[i] = bf16_of[drawn];
        }
        done = cu.allocate(&matrix->address, count * sizeof *elements) == 0 &&
               cu.copy_to_device(matrix->address, elements, count * sizeof *elements) == 0;
    }
    free(elements);
    return done;
}

static void free_matrix(struct matrix *matrix)
{
    free(matrix->values);
    if (matrix->address)
        cu.release(matrix->address);
}

/* Compares some elements of D = A * B^T; returns how many are wrong. */
static int count_wrong(const struct matrix *a, const struct matrix *b, const float *d)
{
    int wrong = 0;

    for (int i = 0; i < CHECKED; i++) {
        int64_t row = rand() % a->rows, column = rand() % b->rows, sum = 0;

        for (int64_t k = 0; k < a->columns; k++)
            sum += a->values[row * a->columns + k] * b->values[column * b->columns + k];
        wrong += d[row * b->rows + column] != (float)sum;
    }
    return wrong;
}

/* ---- One launch ---- */

static int launch(struct lathe_function *function, const struct matrix *a, const struct matrix *b,
                  uint64_t d)
{
    struct lathe_gemm_args args = LATHE_GEMM_ARGS_INIT;
    struct lathe_error err = {0};

    args.m = a->rows;
    args.n = b->rows;
    args.k = a->columns;
    args.a = a->address;
    args.b = b->address;
    args.d = d;
    if (lathe_gemm_launch(function, &args, &err) == LATHE_OK)
        return 1;
    fprintf(stderr, "02_specialise: %s\n", err.message);
    return 0;
}

/* Multiplies random matrices of the size and says whether the answer is right. */
static int run(struct lathe_function *function, int64_t m, int64_t n, int64_t k)
{
    size_t bytes = (size_t)(m * n) * sizeof(float);
    struct matrix a = {0}, b = {0};
    float *d = malloc(bytes);
    uint64_t device_d = 0;
    int good = 0;

    if (d && make_matrix(&a, m, k) && make_matrix(&b, n, k) && cu.allocate(&device_d, bytes) == 0 &&
        launch(function, &a, &b, device_d) && cu.synchronize() == 0 &&
        cu.copy_to_host(d, device_d, bytes) == 0) {
        int wrong = count_wrong(&a, &b, d);

        good = wrong == 0;
        printf("  m=%lld n=%lld k=%lld: %d elements checked, %d wrong\n", (long long)m,
               (long long)n, (long long)k, CHECKED, wrong);
    } else {
        printf("  m=%lld n=%lld k=%lld: could not be run\n", (long long)m, (long long)n,
               (long long)k);
    }
    free_matrix(&a);
    free_matrix(&b);
    if (device_d)
        cu.release(device_d);
    free(d);
    return good;
}

/* ---- The process ---- */

/* What cannot be helped on this machine, as opposed to a failure. */
static int is_missing(enum lathe_status status)
{
    return status == LATHE_NO_DRIVER || status == LATHE_NO_DEVICE || status == LATHE_NO_LIBRARY;
}

static int serve(struct lathe_context *context, const struct lathe_gemm *problem)
{
    static const char *const caches[] = {"no cache", "linked", "from the cache"};
    struct lathe_function *function;
    struct lathe_error err = {0};

    /* Prepared before: found in memory, without planning. */
    if (lathe_gemm_get(context, &function, problem, NULL, &err) != LATHE_OK) {
        fprintf(stderr, "02_specialise: %s\n", err.message);
        return 0;
    }
    printf("%s: %s, %.1f ms in the linker, %.1f ms to load\n",
           lathe_function_plan(function)->variant, caches[lathe_function_cache(function)],
           lathe_function_link_ms(function), lathe_function_load_ms(function));
    return run(function, problem->m, problem->n, problem->k) &&
           run(function, problem->m / 2 + 1, problem->n, problem->k); /* the same kernel */
}

static int work(struct lathe_context *context)
{
    const struct lathe_gemm problems[] = {
        *lathe_gemm(.m = 2048, .n = 1024, .k = 512, .type = LATHE_BF16, .out = LATHE_F32),
        *lathe_gemm(.m = 1000, .n = 1000, .k = 1000, .type = LATHE_BF16, .out = LATHE_F32),
        *lathe_gemm(.m = 16, .n = 4096, .k = 1024, .type = LATHE_BF16, .out = LATHE_F32),
    };
    const size_t count = sizeof problems / sizeof problems[0];
    struct lathe_error err = {0};
    int good = 1;

    if (lathe_gemm_prepare(context, count, problems, NULL, 0, &err) != LATHE_OK) {
        fprintf(stderr, "02_specialise: %s\n", err.message);
        return is_missing(err.status) ? NOT_RUN : EXIT_FAILURE;
    }
    for (size_t i = 0; i < count; i++)
        good &= serve(context, &problems[i]);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(void)
{
    struct lathe_context *context = NULL;
    struct lathe_error err = {0};

    if (!open_driver() || !use_first_gpu()) {
        puts("02_specialise: nothing was run, for no GPU was found through libcuda.so.1");
        return NOT_RUN;
    }
    if (lathe_context_create(&context, NULL, &err) != LATHE_OK) {
        fprintf(stderr, "02_specialise: %s\n", err.message);
        return EXIT_FAILURE;
    }

    int status = work(context);

    lathe_context_destroy(&context);
    return status;
}
