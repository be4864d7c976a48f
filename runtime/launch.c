/* launch.c: one launch of a gemm: arguments checked, maps encoded, work enqueued. No call here may
 * wait for the device or change what a graph capture forbids. */
#include "codegen/plan.h"
#include "codegen/status.h"
#include "runtime/functions.h"
#include "runtime/tensormap.h"
#include "templates/registry.h"

struct launch {
    const struct lathe_function *function;
    struct lathe_gemm problem; /* this launch's sizes and strides, resolved */
    struct lathe_gemm_args args;
    struct lt_matrix matrices[4]; /* by enum lathe_operand */
    uint64_t ends[4];             /* one past their last bytes */
    struct lathe_walk walk;       /* of the tiles of D     */
};

/* ---- Checks ---- */

static enum lathe_status check_baked(const struct launch *launch, struct lathe_error *err)
{
    const struct lathe_plan *plan = &launch->function->plan;
    const int64_t sizes[3] = {launch->args.m, launch->args.n, launch->args.k};

    for (int i = 0; i < 3; i++) {
        int64_t baked = plan->static_size[i];

        if (baked >= 0 && baked != sizes[i])
            return lt_fail(err, LATHE_MISUSED, "%c=%lld: this kernel has %c=%lld baked in",
                           "mnk"[i], (long long)sizes[i], "mnk"[i], (long long)baked);
    }
    if (plan->beta == LATHE_BETA_ZERO && launch->args.beta != 0.0f)
        return lt_fail(err, LATHE_MISUSED,
                       "beta=%g: this kernel has no path for C; ask for one with beta=any",
                       (double)launch->args.beta);
    return LATHE_OK;
}

static bool is_whole(float x)
{
    const float beyond = 2147483648.0f;

    return x >= -beyond && x < beyond && x == (float)(int32_t)x;
}

/* Sums of int8 stay whole. */
static enum lathe_status check_factors(const struct launch *launch, struct lathe_error *err)
{
    const float factors[2] = {launch->args.alpha, launch->args.beta};

    if (launch->function->plan.out != LATHE_S32)
        return LATHE_OK;
    for (int i = 0; i < 2; i++)
        if (!is_whole(factors[i]))
            return lt_fail(err, LATHE_OUT_OF_RANGE,
                           "%s=%g: out=s32 takes whole numbers of 32 bits for alpha and beta",
                           i == 0 ? "alpha" : "beta", (double)factors[i]);
    return LATHE_OK;
}

static enum lathe_status resolve(struct launch *launch, struct lathe_error *err)
{
    const struct lathe_plan *plan = &launch->function->plan;
    const struct lathe_gemm_args *args = &launch->args;

    launch->problem = (struct lathe_gemm){
        .struct_size = sizeof(struct lathe_gemm),
        .m = args->m,
        .n = args->n,
        .k = args->k,
        .type = plan->type,
        .out = plan->out,
        .layout = plan->layout,
        .beta = args->beta != 0.0f ? LATHE_BETA_ANY : LATHE_BETA_ZERO,
        .lda = args->lda,
        .ldb = args->ldb,
        .ldc = args->ldc,
        .ldd = args->ldd,
    };
    return lt_gemm_resolve(&launch->problem, err);
}

static void place_matrices(struct launch *launch)
{
    const struct lathe_gemm *p = &launch->problem;
    const struct lathe_gemm_args *args = &launch->args;
    struct lt_matrix *matrices = launch->matrices;

    matrices[LATHE_A] = (struct lt_matrix){args->a, p->type, p->m, p->k, p->lda};
    matrices[LATHE_B] = (struct lt_matrix){args->b, p->type, p->n, p->k, p->ldb};
    matrices[LATHE_D] = (struct lt_matrix){args->d, p->out, p->m, p->n, p->ldd};
    /* What is never read may be any address that the driver takes: D's. */
    matrices[LATHE_C] = matrices[LATHE_D];
    if (args->beta != 0.0f)
        matrices[LATHE_C] = (struct lt_matrix){args->c, p->out, p->m, p->n, p->ldc};
    if (p->k == 0) {
        matrices[LATHE_A].at = args->d;
        matrices[LATHE_B].at = args->d;
    }
}

/* One past the matrix's last byte; false where that is beyond the last address there can be. */
static bool find_end(const struct lt_matrix *matrix, uint64_t *end)
{
    uint64_t bytes = (uint64_t)lathe_type_bytes(matrix->type), last_row;

    *end = matrix->at;
    if (matrix->rows == 0 || matrix->columns == 0)
        return true;
    return !__builtin_mul_overflow((uint64_t)(matrix->rows - 1), (uint64_t)matrix->pitch * bytes,
                                   &last_row) &&
           !__builtin_add_overflow(*end, last_row, end) &&
           !__builtin_add_overflow(*end, (uint64_t)matrix->columns * bytes, end);
}

/* Bytes between the starts of two rows; a single row has no next one, so any distance fits it. */
static uint64_t row_bytes(const struct lt_matrix *matrix, const struct lt_matrix *other)
{
    const struct lt_matrix *of = matrix->rows > 1 ? matrix : other;

    return (uint64_t)of->pitch * (uint64_t)lathe_type_bytes(of->type);
}

/* Two blocks of columns of one wider matrix interleave row by row without touching. */
static bool interleave(const struct launch *launch, int a, int b)
{
    const struct lt_matrix *low = &launch->matrices[a], *high = &launch->matrices[b];
    uint64_t pitch = row_bytes(low, high);

    if (low->at > high->at)
        return interleave(launch, b, a);
    if (pitch == 0 || pitch != row_bytes(high, low))
        return false;

    uint64_t offset = (high->at - low->at) % pitch;

    return offset >= (uint64_t)low->columns * (uint64_t)lathe_type_bytes(low->type) &&
           offset + (uint64_t)high->columns * (uint64_t)lathe_type_bytes(high->type) <= pitch;
}

static bool overlap(const struct launch *launch, int a, int b)
{
    return launch->matrices[a].at < launch->ends[b] && launch->matrices[b].at < launch->ends[a] &&
           !interleave(launch, a, b);
}

static enum lathe_status check_place(struct launch *launch, int operand, struct lathe_error *err)
{
    const struct lt_matrix *matrix = &launch->matrices[operand];

    if (matrix->at == 0 || matrix->at % 16 != 0)
        return lt_fail(err, LATHE_MISUSED, "%c at 0x%llx: must be aligned to 16 bytes%s",
                       "ABCD"[operand], (unsigned long long)matrix -> at,
                       matrix -> at == 0 ? " and not null" : "");
    if (!find_end(matrix, &launch->ends[operand]))
        return lt_fail(
            err, LATHE_MISUSED,
            "%c at 0x%llx: %lld rows, %lld elements apart, reach beyond the last address",
            "ABCD"[operand], (unsigned long long)matrix -> at, (long long)matrix -> rows,
            (long long)matrix -> pitch);
    return LATHE_OK;
}

static enum lathe_status check_memory(struct launch *launch, struct lathe_error *err)
{
    const struct lt_matrix *c = &launch->matrices[LATHE_C], *d = &launch->matrices[LATHE_D];

    for (int i = LATHE_A; i <= LATHE_D; i++) {
        bool stands_for_d = i == LATHE_C && launch->args.beta == 0.0f;
        enum lathe_status status = stands_for_d ? LATHE_OK : check_place(launch, i, err);

        if (status != LATHE_OK)
            return status;
    }
    if (launch->problem.k > 0 &&
        (overlap(launch, LATHE_A, LATHE_D) || overlap(launch, LATHE_B, LATHE_D)))
        return lt_fail(err, LATHE_MISUSED, "D overlaps %c, which is read while D is written",
                       overlap(launch, LATHE_A, LATHE_D) ? 'A' : 'B');
    if (launch->args.beta != 0.0f && overlap(launch, LATHE_C, LATHE_D) &&
        (c->at != d->at || (c->pitch != d->pitch && d->rows > 1)))
        return lt_fail(err, LATHE_MISUSED,
                       "C and D overlap; they may be one buffer with one row distance, or apart");
    return LATHE_OK;
}

/* ---- Launch ---- */

/* The parameters in the contract's order, and the places that they point to. */
struct params {
    struct lt_cu_tensor_map maps[LATHE_TENSOR_MAPS_MAX];
    uint32_t m, n, k;
    struct lathe_walk walk;
    uint64_t a, lda, b, ldb, c, ldc, d, ldd;
    float alpha, beta;
    void *pointers[LATHE_PARAMS_MAX];
};

static void *scalar_of(struct params *params, enum lathe_param_kind kind)
{
    switch (kind) {
    case LATHE_PARAM_TENSOR_MAP:
        break;
    case LATHE_PARAM_M:
        return &params->m;
    case LATHE_PARAM_N:
        return &params->n;
    case LATHE_PARAM_K:
        return &params->k;
    case LATHE_PARAM_WALK:
        return &params->walk;
    case LATHE_PARAM_ALPHA:
        return &params->alpha;
    case LATHE_PARAM_BETA:
        return &params->beta;
    case LATHE_PARAM_D:
        return &params->d;
    case LATHE_PARAM_LDD:
        return &params->ldd;
    case LATHE_PARAM_A:
        return &params->a;
    case LATHE_PARAM_LDA:
        return &params->lda;
    case LATHE_PARAM_B:
        return &params->b;
    case LATHE_PARAM_LDB:
        return &params->ldb;
    case LATHE_PARAM_C:
        return &params->c;
    case LATHE_PARAM_LDC:
        return &params->ldc;
    }
    return NULL;
}

static enum lathe_status fill_params(const struct launch *launch, struct params *params,
                                     struct lathe_error *err)
{
    const struct lathe_contract *contract = &launch->function->loaded->contract;
    const struct lathe_gemm_args *args = &launch->args;

    params->m = (uint32_t)args->m;
    params->n = (uint32_t)args->n;
    params->k = (uint32_t)args->k;
    params->walk = launch->walk;
    params->alpha = args->alpha;
    params->beta = args->beta;
    params->a = launch->matrices[LATHE_A].at;
    params->lda = (uint64_t)launch->matrices[LATHE_A].pitch;
    params->b = launch->matrices[LATHE_B].at;
    params->ldb = (uint64_t)launch->matrices[LATHE_B].pitch;
    params->c = launch->matrices[LATHE_C].at;
    params->ldc = (uint64_t)launch->matrices[LATHE_C].pitch;
    params->d = args->d;
    params->ldd = (uint64_t)launch->problem.ldd;
    for (int i = 0; i < contract->param_count; i++) {
        const struct lathe_param *param = &contract->params[i];

        if (param->kind != LATHE_PARAM_TENSOR_MAP) {
            params->pointers[i] = scalar_of(params, param->kind);
            continue;
        }

        const struct lathe_tensor_map *recipe = &contract->tensor_maps[param->tensor_map];
        enum lathe_status status = lt_tensor_map_encode(&launch->function->device->driver, recipe,
                                                        &launch->matrices[recipe->operand],
                                                        &params->maps[param->tensor_map], err);

        if (status != LATHE_OK)
            return status;
        params->pointers[i] = &params->maps[param->tensor_map];
    }
    return LATHE_OK;
}

/* Of the grid: `places` is how many run at a time. */
static int64_t clusters_of(const struct lathe_contract *contract, int64_t tiles, int64_t places)
{
    int64_t clusters = contract->one_tile || tiles < places ? tiles : places;

    return contract->most_clusters > 0 && clusters > contract->most_clusters
               ? contract->most_clusters
               : clusters;
}

static enum lathe_status enqueue(const struct launch *launch, struct params *params,
                                 struct lathe_error *err)
{
    const struct lt_loaded *loaded = launch->function->loaded;
    const struct lathe_contract *contract = &loaded->contract;
    const struct lt_driver *driver = &launch->function->device->driver;
    int64_t clusters = clusters_of(contract, launch->walk.tiles, loaded->clusters);
    struct lt_cu_launch_attribute cluster = {
        .id = LT_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        .value.cluster = {(unsigned)contract->cluster[0], (unsigned)contract->cluster[1], 1},
    };
    struct lt_cu_launch_config config = {
        .grid_x = (unsigned)(contract->cluster[0] * clusters),
        .grid_y = (unsigned)contract->cluster[1],
        .grid_z = 1,
        .block_x = (unsigned)contract->block[0],
        .block_y = 1,
        .block_z = 1,
        .smem_bytes = (unsigned)contract->smem_bytes,
        .stream = launch->args.stream,
        .attributes = &cluster,
        .attribute_count = contract->cluster[0] * contract->cluster[1] > 1 ? 1 : 0,
    };

    return lt_driver_check(
        driver, driver->cuLaunchKernelEx(&config, loaded->function, params->pointers, NULL),
        "cuLaunchKernelEx", err);
}

static enum lathe_status find_walk(struct launch *launch, struct lathe_error *err)
{
    const struct lathe_function *function = launch->function;
    int raster = launch->args.raster > 0 ? launch->args.raster : function->plan.raster;

    return lathe_contract_walk(&function->loaded->contract, launch->problem.m, launch->problem.n,
                               raster, &launch->walk, err);
}

static enum lathe_status launch_checked(const struct launch *launch, struct lathe_error *err)
{
    const struct lt_device *device = launch->function->device;
    struct lt_entered entered;
    struct params params;
    enum lathe_status status = lt_enter(device, &entered, err);

    if (status != LATHE_OK)
        return status;
    status = fill_params(launch, &params, err);
    if (status == LATHE_OK)
        status = enqueue(launch, &params, err);
    lt_leave(device, &entered);
    return status;
}

enum lathe_status lathe_gemm_launch(struct lathe_function *function,
                                    const struct lathe_gemm_args *args, struct lathe_error *err)
{
    struct launch launch = {.function = function};
    enum lathe_status status;

    if (!function || !args)
        return lt_fail(err, LATHE_MISUSED, "lathe_gemm_launch: needs a function and arguments");
    if ((status = lt_import(&launch.args, args, "lathe_gemm_args", err)) != LATHE_OK ||
        (status = check_baked(&launch, err)) != LATHE_OK ||
        (status = check_factors(&launch, err)) != LATHE_OK ||
        (status = resolve(&launch, err)) != LATHE_OK)
        return status;
    if (launch.problem.m == 0 || launch.problem.n == 0)
        return LATHE_OK;
    place_matrices(&launch);
    if ((status = check_memory(&launch, err)) != LATHE_OK ||
        (status = find_walk(&launch, err)) != LATHE_OK)
        return status;
    return launch_checked(&launch, err);
}
