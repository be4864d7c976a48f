/* 03_embed: a framework that takes only the cubin and the launch contract, and launches by itself.
 *
 *     03_embed [DIRECTORY]     writes 03_embed.cubin and 03_embed.json there (default: here)
 *
 * Everything after lathe_build() uses plain driver calls, declared below, and the contract as data:
 * it loops over the parameters and tensor maps and knows nothing of the kernel but what they say.
 * Exits 77, with the contract printed, where there is no GPU to run on. */
#include <lathe.h>

#include <dlfcn.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_RUN = 77, CHECKED = 512 };

/* ---- The driver: what cuda.h declares, as far as it is needed ---- */

struct tensor_map {
    alignas(64) uint64_t opaque[16];
};

struct launch_attribute {
    int id;
    char pad[4];
    union {
        char bytes[64];
        unsigned cluster[3];
    } value;
};

struct launch_config {
    unsigned grid[3], block[3];
    unsigned smem_bytes;
    void *stream;
    struct launch_attribute *attributes;
    unsigned attribute_count;
};

enum {
    MAX_DYNAMIC_SHARED_SIZE_BYTES = 8, /* CUfunction_attribute   */
    CLUSTER_DIMENSION = 4              /* CUlaunchAttributeID    */
};

static struct {
    int (*init)(unsigned flags);
    int (*device_get)(int *device, int ordinal);
    int (*context_retain)(void **context, int device);
    int (*context_set_current)(void *context);
    int (*module_load)(void **module, const void *image);
    int (*module_get_function)(void **function, void *module, const char *name);
    int (*function_set)(void *function, int attribute, int value);
    int (*max_clusters)(int *clusters, void *function, const struct launch_config *config);
    int (*encode_tiled)(struct tensor_map *map, int type, uint32_t rank, uint64_t address,
                        const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                        const uint32_t *element_strides, int interleave, int swizzle, int promotion,
                        int fill);
    int (*launch)(const struct launch_config *config, void *function, void **params, void **extra);
    int (*allocate)(uint64_t *address, size_t bytes);
    int (*copy_to_device)(uint64_t to, const void *from, size_t bytes);
    int (*copy_to_host)(void *to, uint64_t from, size_t bytes);
    int (*synchronize)(void);
} cu;

static int open_driver(void)
{
    const struct {
        void *function;
        const char *symbol;
    } calls[] = {
        {&cu.init, "cuInit"},
        {&cu.device_get, "cuDeviceGet"},
        {&cu.context_retain, "cuDevicePrimaryCtxRetain"},
        {&cu.context_set_current, "cuCtxSetCurrent"},
        {&cu.module_load, "cuModuleLoadData"},
        {&cu.module_get_function, "cuModuleGetFunction"},
        {&cu.function_set, "cuFuncSetAttribute"},
        {&cu.max_clusters, "cuOccupancyMaxActiveClusters"},
        {&cu.encode_tiled, "cuTensorMapEncodeTiled"},
        {&cu.launch, "cuLaunchKernelEx"},
        {&cu.allocate, "cuMemAlloc_v2"},
        {&cu.copy_to_device, "cuMemcpyHtoD_v2"},
        {&cu.copy_to_host, "cuMemcpyDtoH_v2"},
        {&cu.synchronize, "cuCtxSynchronize"},
    };
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void *context;
    int device;

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        void *found = library ? dlsym(library, calls[i].symbol) : NULL;

        if (!found)
            return 0;
        *(void **)calls[i].function = found;
    }
    return cu.init(0) == 0 && cu.device_get(&device, 0) == 0 &&
           cu.context_retain(&context, device) == 0 && cu.context_set_current(context) == 0;
}

static int fine(int result, const char *call)
{
    if (result != 0)
        fprintf(stderr, "03_embed: %s failed with %d\n", call, result);
    return result == 0;
}

/* ---- The problem: D = 2 A B^T + 3 C, A and B in bf16, C and D in f32 ---- */

enum { M = 1000, N = 1024, K = 520, ALPHA = 2, BETA = 3 };

/* An operand as the contract's recipes speak of it. */
struct operand {
    int64_t rows, columns; /* outer and inner dimension */
    int element_bytes;
    uint64_t address;
};

struct data {
    int a[M * K], b[N * K], c[M * N];
    float d[M * N];
    struct operand operands[4]; /* by enum lathe_operand */
};

/* Fills with whole numbers from -2 to 2, on which the answer is exact, and copies them as floats,
 * of which bf16 is the upper half. */
static int make_operand(struct operand *operand, int *values)
{
    size_t count = (size_t)(operand->rows * operand->columns);
    size_t bytes = (size_t)operand->element_bytes;
    char *elements = malloc(count * bytes);
    int done = 0;

    if (elements) {
        for (size_t i = 0; i < count; i++) {
            float value = (float)(values[i] = rand() % 5 - 2);

            /* little-endian: the upper bytes come last */
            memcpy(elements + i * bytes, (const char *)&value + sizeof value - bytes, bytes);
        }
        done = fine(cu.allocate(&operand->address, count * bytes), "cuMemAlloc") &&
               fine(cu.copy_to_device(operand->address, elements, count * bytes), "cuMemcpyHtoD");
    }
    free(elements);
    return done;
}

static int make_data(struct data *data)
{
    struct operand *d = &data->operands[LATHE_D];

    data->operands[LATHE_A] = (struct operand){M, K, 2, 0};
    data->operands[LATHE_B] = (struct operand){N, K, 2, 0};
    data->operands[LATHE_C] = (struct operand){M, N, 4, 0};
    data->operands[LATHE_D] = (struct operand){M, N, 4, 0};
    return make_operand(&data->operands[LATHE_A], data->a) &&
           make_operand(&data->operands[LATHE_B], data->b) &&
           make_operand(&data->operands[LATHE_C], data->c) &&
           fine(cu.allocate(&d->address, sizeof data->d), "cuMemAlloc");
}

static int count_wrong(const struct data *data)
{
    int wrong = 0;

    for (int i = 0; i < CHECKED; i++) {
        int row = rand() % M, column = rand() % N, sum = 0;

        for (int k = 0; k < K; k++)
            sum += data->a[row * K + k] * data->b[column * K + k];
        sum = ALPHA * sum + BETA * data->c[row * N + column];
        wrong += data->d[row * N + column] != (float)sum;
    }
    return wrong;
}

/* ---- The contract, read as data ---- */

/* CUtensorMapDataType, CUtensorMapSwizzle and CUtensorMapL2promotion; -1: cuda.h has none. */
static int map_type(enum lathe_type type)
{
    switch (type) {
    case LATHE_F16:
        return 6;
    case LATHE_F32:
        return 7;
    case LATHE_BF16:
        return 9;
    case LATHE_TF32:
        return 11;
    case LATHE_E4M3:
    case LATHE_E5M2:
    case LATHE_INT8:
        return 0; /* UINT8 */
    case LATHE_S32:
        return 3;
    case LATHE_TYPE_DEFAULT:
        break;
    }
    return -1;
}

static int map_swizzle(int bytes)
{
    return bytes == 0 ? 0 : bytes == 32 ? 1 : bytes == 64 ? 2 : bytes == 128 ? 3 : -1;
}

static int map_promotion(int bytes)
{
    return bytes == 0 ? 0 : bytes == 64 ? 1 : bytes == 128 ? 2 : bytes == 256 ? 3 : -1;
}

static int64_t box_rows(const struct lathe_tensor_map *recipe, int64_t rows)
{
    const int64_t multiple = recipe->outer_multiple;
    const int64_t cut = multiple ? (rows + multiple - 1) / multiple * multiple : recipe->box[1];

    return cut < recipe->box[1] ? cut : recipe->box[1];
}

static int encode(struct tensor_map *map, const struct lathe_tensor_map *recipe,
                  const struct operand *operand)
{
    const int64_t columns = operand->columns / recipe->inner_multiple * recipe->inner_multiple;
    const uint64_t sizes[2] = {columns ? (uint64_t)columns : 1, (uint64_t)operand->rows};
    const uint64_t pitch = (uint64_t)(operand->columns * operand->element_bytes);
    const uint32_t box[2] = {(uint32_t)recipe->box[0], (uint32_t)box_rows(recipe, operand->rows)};
    const uint32_t ones[2] = {1, 1};

    return fine(cu.encode_tiled(map, map_type(recipe->type), 2, operand->address, sizes, &pitch,
                                box, ones, 0, map_swizzle(recipe->swizzle_bytes),
                                map_promotion(recipe->promotion_bytes), 0),
                "cuTensorMapEncodeTiled");
}

/* Room for the value of any parameter. */
union value {
    struct tensor_map map;
    struct lathe_walk walk;
    uint32_t u32;
    uint64_t u64;
    float f32;
};

static int fill(union value *value, const struct lathe_param *param,
                const struct lathe_contract *contract, const struct data *data)
{
    switch (param->kind) {
    case LATHE_PARAM_TENSOR_MAP: {
        const struct lathe_tensor_map *recipe = &contract->tensor_maps[param->tensor_map];

        return encode(&value->map, recipe, &data->operands[recipe->operand]);
    }
    case LATHE_PARAM_M:
        value->u32 = M;
        return 1;
    case LATHE_PARAM_N:
        value->u32 = N;
        return 1;
    case LATHE_PARAM_K:
        value->u32 = K;
        return 1;
    case LATHE_PARAM_WALK: /* any number of rows is right; which is fastest depends on the sizes */
        return lathe_contract_walk(contract, M, N, 8, &value->walk, NULL) == LATHE_OK;
    case LATHE_PARAM_ALPHA:
        value->f32 = ALPHA;
        return 1;
    case LATHE_PARAM_BETA:
        value->f32 = BETA;
        return 1;
    case LATHE_PARAM_D:
        value->u64 = (uint64_t)(uintptr_t)data->operands[LATHE_D].address;
        return 1;
    case LATHE_PARAM_LDD:
    case LATHE_PARAM_LDC:
    case LATHE_PARAM_LDB:
        value->u64 = N;
        return 1;
    case LATHE_PARAM_LDA:
        value->u64 = K;
        return 1;
    case LATHE_PARAM_A:
        value->u64 = (uint64_t)(uintptr_t)data->operands[LATHE_A].address;
        return 1;
    case LATHE_PARAM_B:
        value->u64 = (uint64_t)(uintptr_t)data->operands[LATHE_B].address;
        return 1;
    case LATHE_PARAM_C:
        value->u64 = (uint64_t)(uintptr_t)data->operands[LATHE_C].address;
        return 1;
    }
    fprintf(stderr, "03_embed: parameter %s is of a kind newer than this program\n", param->name);
    return 0;
}

/* One cluster a place on the device, but no more than there are tiles; or one a tile. */
static int size_grid(struct launch_config *config, const struct lathe_contract *contract,
                     void *function)
{
    struct lathe_walk walk;
    int tiles, clusters = 0;

    if (lathe_contract_walk(contract, M, N, 1, &walk, NULL) != LATHE_OK) {
        fprintf(stderr, "03_embed: D has too many tiles\n");
        return 0;
    }
    tiles = (int)walk.tiles;
    if (!fine(cu.max_clusters(&clusters, function, config), "cuOccupancyMaxActiveClusters"))
        return 0;
    if (clusters < 1) {
        fprintf(stderr, "03_embed: no cluster of this kernel fits on the device\n");
        return 0;
    }
    if (contract->one_tile || clusters > tiles)
        clusters = tiles;
    if (contract->most_clusters > 0 && clusters > contract->most_clusters)
        clusters = contract->most_clusters;
    config->grid[0] *= (unsigned)clusters;
    return 1;
}

static int launch(void *function, const struct lathe_contract *contract, const struct data *data)
{
    struct launch_attribute cluster = {.id = CLUSTER_DIMENSION};
    struct launch_config config = {
        .smem_bytes = (unsigned)contract->smem_bytes, .attributes = &cluster, .attribute_count = 1};
    union value values[LATHE_PARAMS_MAX];
    void *params[LATHE_PARAMS_MAX];

    for (int i = 0; i < 3; i++) {
        config.block[i] = (unsigned)contract->block[i];
        config.grid[i] = cluster.value.cluster[i] = (unsigned)contract->cluster[i];
    }
    for (int i = 0; i < contract->param_count; i++) {
        params[i] = &values[i];
        if (!fill(&values[i], &contract->params[i], contract, data))
            return 0;
    }
    return size_grid(&config, contract, function) &&
           fine(cu.launch(&config, function, params, NULL), "cuLaunchKernelEx");
}

static int run(const void *cubin, const struct lathe_contract *contract)
{
    struct data *data = calloc(1, sizeof *data);
    void *module, *function;
    int good = 0;

    if (data && make_data(data) && fine(cu.module_load(&module, cubin), "cuModuleLoadData") &&
        fine(cu.module_get_function(&function, module, contract->name), "cuModuleGetFunction") &&
        fine(cu.function_set(function, MAX_DYNAMIC_SHARED_SIZE_BYTES, contract->smem_bytes),
             "cuFuncSetAttribute") &&
        launch(function, contract, data) && fine(cu.synchronize(), "cuCtxSynchronize") &&
        fine(cu.copy_to_host(data->d, data->operands[LATHE_D].address, sizeof data->d),
             "cuMemcpyDtoH")) {
        int wrong = count_wrong(data);

        good = wrong == 0;
        printf("launched %s: %d elements checked, %d wrong\n", contract->name, CHECKED, wrong);
    }
    free(data); /* device memory and module go with the process */
    return good;
}

/* ---- What the framework asks Lathe for ---- */

static int report(const struct lathe_error *err)
{
    fprintf(stderr, "03_embed: %s\n", err->message);
    return err->status == LATHE_NO_LIBRARY ? NOT_RUN : EXIT_FAILURE;
}

static int write_file(const char *directory, const char *name, const void *bytes, size_t size)
{
    char path[4096];
    size_t written = 0;

    snprintf(path, sizeof path, "%s/%s", directory, name);

    FILE *file = fopen(path, "wb");

    if (file)
        written = fwrite(bytes, 1, size, file);
    if (!file || fclose(file) != 0 || written != size) {
        perror(path);
        return 0;
    }
    return 1;
}

static int write_contract(const char *directory, const struct lathe_contract *contract)
{
    size_t size = lathe_contract_json(contract, NULL, 0) + 1;
    char *json = malloc(size);
    int done = 0;

    if (json) {
        lathe_contract_json(contract, json, size);
        puts(json);
        done = write_file(directory, "03_embed.json", json, size - 1);
    }
    free(json);
    return done;
}

/* From here on neither the plan nor the text is looked at. */
static int use(const char *directory, const struct lathe_image *image, int have_gpu)
{
    size_t bytes;
    const void *cubin = lathe_image_cubin(image, &bytes);
    const struct lathe_contract *contract = lathe_image_contract(image);

    if (!write_contract(directory, contract) ||
        !write_file(directory, "03_embed.cubin", cubin, bytes))
        return EXIT_FAILURE;
    if (!have_gpu) {
        puts("03_embed: the kernel was not run, for no GPU that it is for was found through "
             "libcuda.so.1");
        return NOT_RUN;
    }
    return run(cubin, contract) ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct lathe_gemm problem = LATHE_GEMM_INIT;
    struct lathe_plan plan = LATHE_PLAN_INIT;
    struct lathe_context *context = NULL;
    struct lathe_kernel *kernel = NULL;
    struct lathe_image *image = NULL;
    struct lathe_error err = {0};
    enum lathe_arch arch = LATHE_ARCH_DEFAULT; /* without a GPU: as plans have it */
    int has_driver = open_driver();
    int status;

    problem.m = M;
    problem.n = N;
    problem.k = K;
    problem.type = LATHE_BF16;
    problem.out = LATHE_F32;
    problem.beta = LATHE_BETA_ANY;
    if (lathe_context_create(&context, NULL, &err) != LATHE_OK ||
        (has_driver && lathe_context_arch(context, &arch, &err) != LATHE_OK) ||
        lathe_plan_gemm(&plan, &problem, lathe_plan_options(.arch = arch), &err) != LATHE_OK ||
        lathe_emit(&kernel, &plan, NULL, &err) != LATHE_OK) {
        status = report(&err);
    } else if (lathe_build(context, &image, kernel, &err) != LATHE_OK) {
        write_contract(argc > 1 ? argv[1] : ".", lathe_kernel_contract(kernel));
        status = report(&err);
    } else {
        status = use(argc > 1 ? argv[1] : ".", image, arch == plan.arch);
    }
    lathe_image_destroy(&image);
    lathe_kernel_destroy(&kernel);
    lathe_context_destroy(&context);
    return status;
}
