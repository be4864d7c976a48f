/* What reaches the driver when a gemm is launched, and what is refused before. */
#include "runtime/context.h"

#include "tests/runtime/fixture.h"

static struct lathe_plan_options tile(int rows, int columns, int cluster_m, int cluster_n)
{
    struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;

    options.tile[0] = rows;
    options.tile[1] = columns;
    options.tile[2] = 64;
    options.cluster[0] = cluster_m;
    options.cluster[1] = cluster_n;
    options.cluster[2] = 1;
    return options;
}

static struct lathe_function *get(struct runtime_fixture *f, struct lathe_plan_options options)
{
    struct lathe_gemm problem = runtime_problem();

    return runtime_get(f, &problem, &options);
}

static void launch(struct runtime_fixture *f, struct lathe_function *function,
                   const struct lathe_gemm_args *args)
{
    assert_status(f, lathe_gemm_launch(function, args, &f->error), LATHE_OK);
}

static const struct stub_launch *newest(struct runtime_fixture *f)
{
    assert_true(f->stub.launches() > 0);
    return f->stub.launch_at(f->stub.launches() - 1);
}

/* The map that arrived as the parameter of that name. */
static const struct stub_tensor_map *map_of(struct runtime_fixture *f,
                                            struct lathe_function *function, const char *name)
{
    const struct lathe_contract *contract = lathe_function_contract(function);

    for (int i = 0; i < contract->param_count; i++)
        if (strcmp(contract->params[i].name, name) == 0)
            return f->stub.tensor_map_of(newest(f)->params[i]);
    return NULL;
}

static uint32_t scalar_of(struct runtime_fixture *f, struct lathe_function *function,
                          enum lathe_param_kind kind)
{
    const struct lathe_contract *contract = lathe_function_contract(function);
    uint32_t value = 0xdeadbeef;

    for (int i = 0; i < contract->param_count; i++)
        if (contract->params[i].kind == kind)
            memcpy(&value, newest(f)->params[i], sizeof value);
    return value;
}

static uint64_t wide_of(struct runtime_fixture *f, struct lathe_function *function,
                        enum lathe_param_kind kind)
{
    const struct lathe_contract *contract = lathe_function_contract(function);
    uint64_t value = 0xdeadbeefdeadbeef;

    for (int i = 0; i < contract->param_count; i++)
        if (contract->params[i].kind == kind)
            memcpy(&value, newest(f)->params[i], sizeof value);
    return value;
}

static void grid_block_and_memory_follow_the_contract(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(128, 256, 2, 1));
    struct lathe_gemm_args args = runtime_args(4096, 4096, 1024);

    args.stream = NULL;
    launch(f, function, &args);

    const struct stub_launch *seen = newest(f);

    assert_string_equal(seen->kernel, lathe_function_contract(function)->name);
    assert_int_equal(seen->grid[0], 2 * 66); /* 256 tiles, and places for 66 clusters */
    assert_int_equal(seen->grid[1], 1);
    assert_int_equal(seen->block[0], 384);
    assert_int_equal(seen->cluster[0], 2);
    assert_int_equal(seen->smem, lathe_function_contract(function)->smem_bytes);
    assert_int_equal(scalar_of(f, function, LATHE_PARAM_M), 4096);
    assert_int_equal(scalar_of(f, function, LATHE_PARAM_K), 1024);
    assert_int_equal(scalar_of(f, function, LATHE_PARAM_ALPHA), 0x3f800000);
}

static void there_are_no_more_clusters_than_tiles(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(128, 128, 1, 2));
    struct lathe_gemm_args args = runtime_args(300, 504, 64);

    launch(f, function, &args);
    assert_int_equal(newest(f)->grid[0], 3 * 2);
    assert_int_equal(newest(f)->grid[1], 2);
}

static void a_kernel_of_one_tile_a_cta_has_a_cta_for_each(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;
    struct lathe_gemm_args args = runtime_args(4096, 4000, 1024);

    strcpy(options.variant, "hopper-v3");
    launch(f, get(f, options), &args);
    assert_int_equal(newest(f)->grid[0], 32 * 32); /* though no more than 132 run at a time */
    assert_int_equal(newest(f)->block[0], 160);
}

static void threads_that_store_are_told_where_c_and_d_are(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;
    struct lathe_gemm problem = runtime_problem();
    struct lathe_gemm_args args = runtime_args(256, 256, 64);
    struct lathe_function *function;

    strcpy(options.variant, "hopper-v1");
    problem.beta = LATHE_BETA_ANY;
    args.beta = 1;
    args.ldc = 264;
    args.ldd = 272;
    function = runtime_get(f, &problem, &options);
    launch(f, function, &args);
    assert_int_equal(wide_of(f, function, LATHE_PARAM_C), args.c);
    assert_int_equal(wide_of(f, function, LATHE_PARAM_LDC), 264);
    assert_int_equal(wide_of(f, function, LATHE_PARAM_D), args.d);
    assert_int_equal(wide_of(f, function, LATHE_PARAM_LDD), 272);
    assert_null(map_of(f, function, "map_d"));
}

static void maps_are_encoded_as_the_recipes_say(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(128, 208, 2, 1));
    struct lathe_gemm_args args = runtime_args(1000, 600, 328);

    args.lda = 336;
    args.ldd = 640;
    launch(f, function, &args);

    const struct stub_tensor_map *a = map_of(f, function, "map_a");
    const struct stub_tensor_map *b = map_of(f, function, "map_b");
    const struct stub_tensor_map *d = map_of(f, function, "map_d");
    const struct stub_tensor_map *tail = map_of(f, function, "map_d_tail");

    assert_int_equal(a->address, args.a);
    assert_int_equal(a->dims[0], 328);
    assert_int_equal(a->dims[1], 1000);
    assert_int_equal(a->strides[0], 672);
    assert_int_equal(a->box[0], 64);
    assert_int_equal(a->box[1], 128);
    assert_int_equal(a->swizzle, LT_TENSOR_MAP_SWIZZLE_128B);
    assert_int_equal(a->type, LT_TENSOR_MAP_FLOAT16);
    assert_int_equal(b->dims[1], 600);
    assert_int_equal(b->box[1], 104); /* half of B's rows each, for two CTAs */
    assert_int_equal(d->dims[0], 600);
    assert_int_equal(d->strides[0], 1280);
    assert_int_equal(d->box[0], 64);
    assert_int_equal(tail->box[0], 16);
}

/* TMA writes whole 16 bytes: D's map ends before the last columns that are none, and the kernel is
 * told where D is, to store those itself. */
static void what_tma_may_write_of_d_is_whole_16_bytes(void **state)
{
    static const int64_t columns[][2] = {{600, 600}, {601, 600}, {607, 600}, {7, 1}, {1, 1}};
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(64, 64, 1, 1));
    struct lathe_gemm_args args = runtime_args(100, 600, 64);

    args.ldd = 640;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        args.n = columns[i][0];
        launch(f, function, &args);
        assert_int_equal(map_of(f, function, "map_d")->dims[0], columns[i][1]);
        assert_int_equal(map_of(f, function, "map_b")->dims[1], args.n);
        assert_int_equal(wide_of(f, function, LATHE_PARAM_D), args.d);
        assert_int_equal(wide_of(f, function, LATHE_PARAM_LDD), 640);
    }
}

/* Rows of a box that lie outside A take TMA longer than real ones. */
static void boxes_of_a_have_no_more_rows_than_a(void **state)
{
    static const int64_t rows[][2] = {{1, 8}, {8, 8}, {9, 16}, {31, 32}, {33, 32}, {5000, 32}};
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(64, 64, 1, 2));

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct lathe_gemm_args args = runtime_args(rows[i][0], 8, 64);

        launch(f, function, &args);
        assert_int_equal(map_of(f, function, "map_a")->box[1], rows[i][1]);
        assert_int_equal(map_of(f, function, "map_b")->box[1], 64);
        assert_int_equal(map_of(f, function, "map_d")->box[1], 64);
    }
}

static void c_is_mapped_to_its_last_column(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();
    struct lathe_plan_options options = tile(64, 64, 1, 1);
    struct lathe_gemm_args args = runtime_args(100, 7, 64);

    problem.beta = LATHE_BETA_ANY;
    args.ldc = args.ldd = 8;
    args.c = args.d;
    args.beta = 1.0f;

    struct lathe_function *function = runtime_get(f, &problem, &options);

    launch(f, function, &args);
    assert_int_equal(map_of(f, function, "map_c")->dims[0], 7);
    assert_int_equal(map_of(f, function, "map_d")->dims[0], 1);
}

static void other_sizes_may_follow_one_another(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(64, 64, 1, 1));
    struct lathe_gemm_args args = runtime_args(64, 64, 64);

    for (int64_t m = 1; m <= 4096; m *= 4) {
        args.m = m;
        launch(f, function, &args);
        assert_int_equal(map_of(f, function, "map_d")->dims[1], m);
        assert_int_equal(scalar_of(f, function, LATHE_PARAM_M), m);
    }
}

static void nothing_is_launched_for_an_empty_result(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(64, 64, 1, 1));
    struct lathe_gemm_args args = runtime_args(0, 64, 64);

    args.a = args.b = args.d = 0;
    launch(f, function, &args);
    args.m = 64;
    args.n = 0;
    launch(f, function, &args);
    assert_int_equal(f->stub.launches(), 0);
}

static void with_k_of_zero_a_and_b_may_be_null(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(64, 64, 1, 1));
    struct lathe_gemm_args args = runtime_args(64, 64, 0);

    args.a = args.b = 0;
    launch(f, function, &args);
    assert_int_equal(map_of(f, function, "map_a")->dims[0], 1);
    assert_int_equal(map_of(f, function, "map_a")->address, args.d);
    assert_int_equal(scalar_of(f, function, LATHE_PARAM_K), 0);
}

static void a_single_row_may_have_any_distance_to_the_next(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(64, 64, 1, 1));
    struct lathe_gemm_args args = runtime_args(1, 8, 8);

    args.lda = 9;
    args.ldd = 13;
    launch(f, function, &args);
    assert_int_equal(map_of(f, function, "map_a")->strides[0] % 16, 0);
}

static struct lathe_function *get_with_beta(struct runtime_fixture *f)
{
    struct lathe_gemm problem = runtime_problem();
    struct lathe_plan_options options = tile(128, 128, 1, 1);

    problem.beta = LATHE_BETA_ANY;
    return runtime_get(f, &problem, &options);
}

static void c_is_mapped_when_beta_is_not_zero(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get_with_beta(f);
    struct lathe_gemm_args args = runtime_args(256, 256, 64);

    args.beta = 2.0f;
    args.ldc = 264;
    launch(f, function, &args);
    assert_int_equal(map_of(f, function, "map_c")->address, args.c);
    assert_int_equal(map_of(f, function, "map_c")->strides[0], 528);
    assert_int_equal(scalar_of(f, function, LATHE_PARAM_BETA), 0x40000000);
}

static void c_is_not_touched_when_beta_is_zero(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get_with_beta(f);
    struct lathe_gemm_args args = runtime_args(256, 256, 64);

    args.c = 0;
    args.ldc = 3;
    launch(f, function, &args);
    assert_int_equal(map_of(f, function, "map_c")->address, args.d);
}

static void c_and_d_may_be_one_buffer(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get_with_beta(f);
    struct lathe_gemm_args args = runtime_args(256, 256, 64);

    args.beta = 1.0f;
    args.c = args.d;
    launch(f, function, &args);
    args.ldc = 264;
    assert_status(f, lathe_gemm_launch(function, &args, &f->error), LATHE_MISUSED);
    assert_message(f, "C and D overlap");
    args.ldc = 0;
    args.c = args.d + 64;
    assert_status(f, lathe_gemm_launch(function, &args, &f->error), LATHE_MISUSED);
}

static void d_over_an_operand_is_refused(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(64, 64, 1, 1));
    struct lathe_gemm_args args = runtime_args(256, 256, 256);

    args.d = args.a + 256 * 256 * 2 - 16;
    assert_status(f, lathe_gemm_launch(function, &args, &f->error), LATHE_MISUSED);
    assert_message(f, "D overlaps A");
    args.d = args.b;
    assert_status(f, lathe_gemm_launch(function, &args, &f->error), LATHE_MISUSED);
    assert_message(f, "D overlaps B");
    args.d = args.a + 256 * 256 * 2;
    launch(f, function, &args);
}

static void columns_of_one_wider_matrix_do_not_overlap(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(64, 64, 1, 1));
    struct lathe_gemm_args args = runtime_args(256, 64, 64);

    args.lda = args.ldd = 128;
    args.d = args.a + 128; /* the right half of rows of 128 */
    launch(f, function, &args);
    args.d = args.a + 112; /* reaches into the left half */
    assert_status(f, lathe_gemm_launch(function, &args, &f->error), LATHE_MISUSED);
}

static void a_single_row_may_stand_between_the_rows_of_another(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(64, 64, 1, 1));
    struct lathe_gemm_args args = runtime_args(1, 64, 64);

    args.ldb = 256;
    args.d = args.b + 64 * 2; /* behind the 64 columns of B's first row */
    launch(f, function, &args);
    args.d = args.b + 7 * 256 * 2 + 64 * 2;
    launch(f, function, &args);
    args.d = args.b + 256 * 2 - 16; /* into its second row */
    assert_status(f, lathe_gemm_launch(function, &args, &f->error), LATHE_MISUSED);
    assert_message(f, "D overlaps B");
}

static void what_reaches_beyond_the_last_address_is_refused(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(64, 64, 1, 1));
    struct lathe_gemm_args args = runtime_args(64, 64, 64);

    args.d = UINT64_MAX - 4095; /* of which 8192 are needed */
    assert_status(f, lathe_gemm_launch(function, &args, &f->error), LATHE_MISUSED);
    assert_message(f, "D at 0xfffffffffffff000");
    assert_message(f, "beyond the last address");

    args = runtime_args(((int64_t)1 << 26) + 1, 64, 64);
    args.lda = (int64_t)1 << 36; /* 2^26 times 2^37 bytes, and D in the second row */
    args.d = args.a + ((uint64_t)1 << 37);
    assert_status(f, lathe_gemm_launch(function, &args, &f->error), LATHE_MISUSED);
    args.lda = ((int64_t)1 << 39) - 8; /* 2^66 bytes */
    assert_status(f, lathe_gemm_launch(function, &args, &f->error), LATHE_MISUSED);
    assert_message(f, "A at");
}

static void addresses_must_be_aligned(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(64, 64, 1, 1));
    struct lathe_gemm_args args = runtime_args(64, 64, 64);

    args.b += 8;
    assert_status(f, lathe_gemm_launch(function, &args, &f->error), LATHE_MISUSED);
    assert_message(f, "B at 0x200000008: must be aligned to 16 bytes");
    args.b = 0;
    assert_status(f, lathe_gemm_launch(function, &args, &f->error), LATHE_MISUSED);
    assert_message(f, "not null");
    assert_int_equal(f->stub.launches(), 0);
    args = runtime_args(64, 64, 64);
    args.d += 4;
    assert_status(f, lathe_gemm_launch(function, &args, &f->error), LATHE_MISUSED);
    assert_message(f, "D at 0x400000004");
}

static void a_stride_that_tma_cannot_take_is_refused(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(64, 64, 1, 1));
    struct lathe_gemm_args args = runtime_args(64, 64, 100);

    assert_status(f, lathe_gemm_launch(function, &args, &f->error), LATHE_UNSUPPORTED);
    assert_message(f, "lda=100 (packed)");
    assert_message(f, "nearest: lda=104");
}

static void what_is_baked_in_must_be_the_same_again(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();
    struct lathe_function *function;
    struct lathe_gemm_args args = runtime_args(512, 512, 256);

    problem.statics = LATHE_STATIC_K;
    function = runtime_get(f, &problem, NULL);
    launch(f, function, &args);
    args.m = 77;
    launch(f, function, &args);
    args.k = 128;
    assert_status(f, lathe_gemm_launch(function, &args, &f->error), LATHE_MISUSED);
    assert_message(f, "k=128: this kernel has k=256 baked in");
}

static void beta_needs_a_kernel_that_has_it(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(64, 64, 1, 1));
    struct lathe_gemm_args args = runtime_args(64, 64, 64);

    args.beta = 0.5f;
    assert_status(f, lathe_gemm_launch(function, &args, &f->error), LATHE_MISUSED);
    assert_message(f, "beta=0.5");
}

static void more_tiles_than_can_be_counted_are_refused(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(64, 8, 1, 1));
    struct lathe_gemm_args args = runtime_args(2000000000, 2000000000, 8);

    args.a = 1LL << 45;
    args.b = 1LL << 46;
    args.d = 1LL << 47;
    assert_status(f, lathe_gemm_launch(function, &args, &f->error), LATHE_UNSUPPORTED);
    assert_message(f, "tiles");
}

static void sizes_beyond_the_range_are_refused(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(64, 64, 1, 1));
    struct lathe_gemm_args args = runtime_args(-1, 64, 64);

    assert_status(f, lathe_gemm_launch(function, &args, &f->error), LATHE_OUT_OF_RANGE);
    args.m = 1LL << 31;
    assert_status(f, lathe_gemm_launch(function, &args, &f->error), LATHE_OUT_OF_RANGE);
    assert_status(f, lathe_gemm_launch(NULL, &args, &f->error), LATHE_MISUSED);
    assert_status(f, lathe_gemm_launch(function, NULL, &f->error), LATHE_MISUSED);
}

static void the_callers_current_context_stays(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(64, 64, 1, 1));
    struct lathe_gemm_args args = runtime_args(64, 64, 64);
    struct lt_driver driver;
    lt_cu_context theirs, now = NULL;

    assert_status(f, lt_driver_open(&driver, STUB_DRIVER_PATH, &f->error), LATHE_OK);
    launch(f, function, &args);
    driver.cuCtxGetCurrent(&now);
    assert_null(now);
    theirs = f->stub.context_create(0);
    driver.cuCtxPushCurrent(theirs);
    launch(f, function, &args);
    driver.cuCtxGetCurrent(&now);
    assert_ptr_equal(now, theirs);
    f->stub.fail_call("cuLaunchKernelEx", 719, 0, 1);
    assert_status(f, lathe_gemm_launch(function, &args, &f->error), LATHE_DRIVER_FAILED);
    driver.cuCtxGetCurrent(&now);
    assert_ptr_equal(now, theirs);
    driver.cuCtxPopCurrent(&now);
    f->stub.context_destroy(theirs);
}

static void a_launch_can_be_captured_into_a_graph(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_function *function = get(f, tile(64, 64, 1, 1));
    struct lathe_gemm_args args = runtime_args(64, 64, 64);
    const struct lt_device *device;
    struct lt_entered entered;
    lt_cu_stream stream;
    lt_cu_graph graph = NULL;
    lt_cu_graph_exec exec = NULL;

    assert_status(f, lt_context_device(f->context, &device, &f->error), LATHE_OK);
    assert_status(f, lt_enter(device, &entered, &f->error), LATHE_OK);
    device->driver.cuStreamCreate(&stream, LT_STREAM_NON_BLOCKING);
    args.stream = stream;
    assert_int_equal(device->driver.cuStreamBeginCapture(stream, 0), 0);
    launch(f, function, &args);
    launch(f, function, &args);
    assert_int_equal(device->driver.cuStreamEndCapture(stream, &graph), 0);
    assert_int_equal(f->stub.launches(), 0);
    assert_int_equal(device->driver.cuGraphInstantiate(&exec, graph, 0), 0);
    assert_int_equal(device->driver.cuGraphLaunch(exec, stream), 0);
    assert_int_equal(f->stub.launches(), 2);
    device->driver.cuGraphExecDestroy(exec);
    device->driver.cuGraphDestroy(graph);
    device->driver.cuStreamDestroy(stream);
    lt_leave(device, &entered);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUNTIME_TEST(grid_block_and_memory_follow_the_contract),
        RUNTIME_TEST(there_are_no_more_clusters_than_tiles),
        RUNTIME_TEST(a_kernel_of_one_tile_a_cta_has_a_cta_for_each),
        RUNTIME_TEST(threads_that_store_are_told_where_c_and_d_are),
        RUNTIME_TEST(maps_are_encoded_as_the_recipes_say),
        RUNTIME_TEST(what_tma_may_write_of_d_is_whole_16_bytes),
        RUNTIME_TEST(boxes_of_a_have_no_more_rows_than_a),
        RUNTIME_TEST(c_is_mapped_to_its_last_column),
        RUNTIME_TEST(other_sizes_may_follow_one_another),
        RUNTIME_TEST(nothing_is_launched_for_an_empty_result),
        RUNTIME_TEST(with_k_of_zero_a_and_b_may_be_null),
        RUNTIME_TEST(a_single_row_may_have_any_distance_to_the_next),
        RUNTIME_TEST(c_is_mapped_when_beta_is_not_zero),
        RUNTIME_TEST(c_is_not_touched_when_beta_is_zero),
        RUNTIME_TEST(c_and_d_may_be_one_buffer),
        RUNTIME_TEST(d_over_an_operand_is_refused),
        RUNTIME_TEST(columns_of_one_wider_matrix_do_not_overlap),
        RUNTIME_TEST(a_single_row_may_stand_between_the_rows_of_another),
        RUNTIME_TEST(what_reaches_beyond_the_last_address_is_refused),
        RUNTIME_TEST(addresses_must_be_aligned),
        RUNTIME_TEST(a_stride_that_tma_cannot_take_is_refused),
        RUNTIME_TEST(what_is_baked_in_must_be_the_same_again),
        RUNTIME_TEST(beta_needs_a_kernel_that_has_it),
        RUNTIME_TEST(more_tiles_than_can_be_counted_are_refused),
        RUNTIME_TEST(sizes_beyond_the_range_are_refused),
        RUNTIME_TEST(the_callers_current_context_stays),
        RUNTIME_TEST(a_launch_can_be_captured_into_a_graph),
    };

    return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}
