/* From a problem to a loaded function: made once, kept, cached, shared, unwound. */
#include "runtime/context.h"

#include "tests/runtime/fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 64 };

static void the_same_problem_is_the_same_function(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();
    struct lathe_function *first = runtime_get(f, &problem, NULL);
    int links = f->links();

    assert_ptr_equal(runtime_get(f, &problem, NULL), first);
    assert_int_equal(f->links(), links);
    assert_int_equal(f->stub.calls("cuModuleLoadData"), 1);
    assert_int_equal(lathe_function_cache(first), LATHE_CACHE_MISS);
    assert_int_equal(lathe_function_contract(first)->registers, 96);
    assert_int_equal(lathe_function_plan(first)->sms, 132);
    assert_true(lathe_function_emit_us(first) > 0);
}

static void padding_bytes_do_not_tell_problems_apart(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem, fields = runtime_problem();
    struct lathe_function *first = runtime_get(f, &fields, NULL);

    memset(&problem, 0xa5, sizeof problem);
    problem.struct_size = sizeof problem;
    problem.m = fields.m;
    problem.n = fields.n;
    problem.k = fields.k;
    problem.type = fields.type;
    problem.out = fields.out;
    problem.layout = fields.layout;
    problem.beta = fields.beta;
    problem.statics = fields.statics;
    problem.lda = problem.ldb = problem.ldc = problem.ldd = 0;
    assert_ptr_equal(runtime_get(f, &problem, NULL), first);
}

static void problems_with_one_text_share_a_module(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();
    struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;
    int before = f->links();

    options.tile[0] = 128;
    options.tile[1] = 128;
    options.tile[2] = 64;
    options.cluster[0] = options.cluster[1] = options.cluster[2] = 1;

    struct lathe_function *small = runtime_get(f, &problem, &options);

    problem.m = 4096;
    options.raster = 3;

    struct lathe_function *large = runtime_get(f, &problem, &options);

    assert_ptr_not_equal(small, large);
    assert_int_equal(lathe_function_plan(large)->raster, 3);
    assert_int_equal(f->links() - before, 1);
    assert_int_equal(f->stub.calls("cuModuleLoadData"), 1);
}

static void a_second_process_finds_the_cubin_and_opens_no_linker(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();

    runtime_get(f, &problem, NULL);

    int before = f->links();

    f->options.linker_library = "/nowhere/libnvJitLink.so";
    runtime_again(f);

    struct lathe_function *function = runtime_get(f, &problem, NULL);

    assert_int_equal(f->links(), before);
    assert_int_equal(lathe_function_cache(function), LATHE_CACHE_HIT);
    assert_int_equal(lathe_function_contract(function)->registers, 96);
    assert_true(lathe_function_link_ms(function) == 0);
}

static void without_a_cache_every_process_links(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();
    int before = f->links();

    f->options.cache = LATHE_OFF;
    runtime_again(f);
    assert_int_equal(lathe_function_cache(runtime_get(f, &problem, NULL)), LATHE_CACHE_OFF);
    runtime_again(f);
    runtime_get(f, &problem, NULL);
    assert_int_equal(f->links() - before, 2);
}

static void modules_go_with_the_context(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();

    runtime_get(f, &problem, NULL);
    assert_int_equal(f->stub.live(STUB_MODULE), 1);
    lathe_context_destroy(&f->context);
    assert_int_equal(f->stub.live(STUB_MODULE), 0);
    assert_int_equal(f->stub.lost(STUB_MODULE), 0);
    assert_int_equal(f->stub.live(STUB_CONTEXT), 0);
}

static void a_cached_cubin_that_the_driver_refuses_is_linked_anew(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();

    runtime_get(f, &problem, NULL);

    int before = f->links();

    runtime_again(f);
    f->stub.fail_call("cuModuleLoadData", LT_CUDA_ERROR_INVALID_IMAGE, 0, 1);

    struct lathe_function *function = runtime_get(f, &problem, NULL);

    assert_int_equal(f->links() - before, 1);
    assert_int_equal(lathe_function_cache(function), LATHE_CACHE_MISS);
    assert_non_null(strstr(f->log.last, "refuses the cached kernel"));
    assert_non_null(strstr(f->log.last, "CUDA_ERROR_INVALID_IMAGE"));

    runtime_again(f); /* what was linked anew is what the cache has now */
    assert_int_equal(lathe_function_cache(runtime_get(f, &problem, NULL)), LATHE_CACHE_HIT);
    assert_int_equal(f->links() - before, 1);
}

/* An entry is not to blame for what the driver says of something else. */
static void a_cached_cubin_stays_when_the_driver_has_other_trouble(void **state)
{
    static const char *const calls[] = {"cuModuleLoadData", "cuCtxPushCurrent_v2",
                                        "cuFuncSetAttribute"};
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();
    struct lathe_function *function = NULL;

    runtime_get(f, &problem, NULL);

    int before = f->links();

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        runtime_again(f);
        f->stub.fail_call(calls[i], 700, 0, STUB_ALWAYS);
        assert_status(f, lathe_gemm_get(f->context, &function, &problem, NULL, &f->error),
                      LATHE_DRIVER_FAILED);
        f->stub.fail_nothing();
    }
    runtime_again(f);
    assert_int_equal(lathe_function_cache(runtime_get(f, &problem, NULL)), LATHE_CACHE_HIT);
    assert_int_equal(f->links(), before);
}

/* A caller's cache with room for one entry. */
struct one_entry {
    char data[1 << 16];
    size_t bytes;
    int loads, stores;
};

static void *load_one(void *user, const char *key, size_t *bytes)
{
    struct one_entry *entry = user;
    void *copy = entry->bytes > 0 ? malloc(entry->bytes) : NULL;

    (void)key;
    entry->loads++;
    if (copy)
        memcpy(copy, entry->data, *bytes = entry->bytes);
    return copy;
}

static void store_one(void *user, const char *key, const void *data, size_t bytes)
{
    struct one_entry *entry = user;

    (void)key;
    assert_true(bytes <= sizeof entry->data);
    memcpy(entry->data, data, entry->bytes = bytes);
    entry->stores++;
}

static void a_callers_entry_that_the_driver_refuses_is_stored_over(void **state)
{
    static struct one_entry entry;
    struct lathe_cache_callbacks callbacks = {load_one, store_one, &entry};
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();

    f->options.cache_callbacks = &callbacks;
    runtime_again(f);
    runtime_get(f, &problem, NULL);
    assert_int_equal(entry.stores, 1);

    int before = f->links();

    runtime_again(f);
    f->stub.fail_call("cuModuleLoadData", LT_CUDA_ERROR_INVALID_IMAGE, 0, 1);
    assert_int_equal(lathe_function_cache(runtime_get(f, &problem, NULL)), LATHE_CACHE_MISS);
    assert_int_equal(f->links() - before, 1);
    assert_true(entry.loads == 2 && entry.stores == 2);
    runtime_again(f); /* the callbacks end with this test */
    f->options.cache_callbacks = NULL;
    runtime_again(f);
}

static void an_image_that_the_driver_refuses_is_forgotten(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();
    struct lathe_plan plan = LATHE_PLAN_INIT;
    struct lathe_kernel *kernel = NULL;
    struct lathe_image *image = NULL;
    struct lathe_function *function = NULL;

    assert_status(
        f, lathe_plan_gemm(&plan, &problem, lathe_plan_options(.arch = LATHE_SM_90A), &f->error),
        LATHE_OK);
    assert_status(f, lathe_emit(&kernel, &plan, NULL, &f->error), LATHE_OK);
    for (int i = 0; i < 2; i++) {
        lathe_image_destroy(&image);
        assert_status(f, lathe_build(f->context, &image, kernel, &f->error), LATHE_OK);
    }
    assert_int_equal(lathe_image_cache(image), LATHE_CACHE_HIT);
    f->stub.fail_call("cuModuleLoadData", LT_CUDA_ERROR_NO_BINARY_FOR_GPU, 0, 1);
    assert_status(f, lathe_load(f->context, &function, image, &f->error), LATHE_DRIVER_FAILED);
    lathe_image_destroy(&image);
    assert_status(f, lathe_build(f->context, &image, kernel, &f->error), LATHE_OK);
    assert_int_equal(lathe_image_cache(image), LATHE_CACHE_MISS);
    lathe_image_destroy(&image);
    lathe_kernel_destroy(&kernel);
}

/* Every field of a request tells it apart from others. */
static void a_request_that_differs_in_any_field_is_another(void **state)
{
    static const char *const words[] = {
        "m=64",        "n=64",
        "k=64",        "type=bf16",
        "out=f32",     "lda=264",
        "ldb=264",     "ldc=264",
        "ldd=264",     "beta=any",
        "static=k",    "tile=64x64x64",
        "stages=3",    "cluster=1x1x1",
        "consumers=2", "schedule=persistent",
        "raster=3",    "epilogue=128x64x3",
        "split=1",     "annotate=0",
        "sms=100",     "cta_group=1",
        "arch=sm_90a", "variant=hopper-best",
        "layout=tn",   "regs=40x232",
    };
    struct runtime_fixture *f = *state;
    struct lathe_function *functions[sizeof words / sizeof words[0] + 1];
    size_t count = 0;

    for (size_t i = 0; i <= sizeof words / sizeof words[0]; i++) {
        /* A tile is named, so that every word goes with it. */
        const char *request_words[] = {"gemm",  "m=256",          "n=256",
                                       "k=256", "tile=128x64x64", i > 0 ? words[i - 1] : "m=256"};
        struct lathe_request request = LATHE_REQUEST_INIT;

        assert_status(f, lathe_request_parse(&request, 6, request_words, &f->error), LATHE_OK);
        if (i > 0 && strncmp(words[i - 1], "tile", 4) == 0)
            request.plan.consumers = 0;
        functions[count] = runtime_get(f, &request.gemm, &request.plan);
        for (size_t j = 0; j < count; j++)
            assert_ptr_not_equal(functions[count], functions[j]);
        count++;
    }
}

static void a_fresh_cubin_that_the_driver_refuses_is_an_error(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();
    struct lathe_function *function = NULL;

    f->stub.fail_call("cuModuleLoadData", LT_CUDA_ERROR_INVALID_IMAGE, 0, STUB_ALWAYS);
    assert_status(f, lathe_gemm_get(f->context, &function, &problem, NULL, &f->error),
                  LATHE_DRIVER_FAILED);
    assert_message(f, "cuModuleLoadData: CUDA_ERROR_INVALID_IMAGE");
    assert_null(function);
    f->stub.fail_nothing();
    runtime_get(f, &problem, NULL); /* the failure was not kept */
}

static void an_empty_cubin_is_not_loaded(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();
    struct lathe_function *function = NULL;

    f->link_mode(STUB_EMPTY);
    assert_status(f, lathe_gemm_get(f->context, &function, &problem, NULL, &f->error),
                  LATHE_LINK_FAILED);
    assert_int_equal(f->stub.calls("cuModuleLoadData"), 0);
}

static void spills_and_warnings_reach_the_log(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();

    f->link_mode(STUB_WARNS);

    const struct lathe_contract *contract = lathe_function_contract(runtime_get(f, &problem, NULL));

    assert_int_equal(contract->spill_bytes, 48);
    assert_int_equal(contract->warnings, 1);
    assert_int_equal(f->log.lines, 2);
    assert_non_null(strstr(f->log.last, "C7510"));
}

static void every_driver_call_that_fails_unwinds(void **state)
{
    struct runtime_fixture *f = *state;
    static const char *const symbols[] = {"cuModuleLoadData", "cuModuleGetFunction",
                                          "cuFuncSetAttribute", "cuOccupancyMaxActiveClusters",
                                          "cuCtxPushCurrent_v2"};
    struct lathe_gemm problem = runtime_problem();
    struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;

    options.cluster[0] = 2;
    options.cluster[1] = options.cluster[2] = 1;
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        struct lathe_function *function = NULL;

        f->stub.reset();
        runtime_again(f);
        f->stub.fail_call(symbols[i], 999, 0, STUB_ALWAYS);
        assert_status(f, lathe_gemm_get(f->context, &function, &problem, &options, &f->error),
                      LATHE_DRIVER_FAILED);
        assert_int_equal(f->stub.live(STUB_MODULE), 0);
        f->stub.fail_nothing();
        lathe_context_destroy(&f->context);
        assert_int_equal(f->stub.live(STUB_CONTEXT), 0);
    }
}

static void running_out_of_memory_unwinds_at_every_allocation(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();
    bool succeeded = false;

    for (long n = 0; !succeeded && n < 400; n++) {
        struct fail_allocator memory;
        struct lathe_context *context = NULL;
        struct lathe_function *function = NULL;

        fail_allocator_init(&memory, -1);
        f->options.allocator = &memory.allocator;
        assert_status(f, lathe_context_create(&context, &f->options, &f->error), LATHE_OK);
        memory.fails_from = memory.calls + n;

        enum lathe_status status = lathe_gemm_get(context, &function, &problem, NULL, &f->error);

        succeeded = status == LATHE_OK;
        if (!succeeded && status != LATHE_OUT_OF_MEMORY)
            fail_msg("allocation %ld: %s", n, f->error.message);
        lathe_context_destroy(&context);
        assert_int_equal(memory.live, 0);
    }
    assert_true(succeeded);
    f->options.allocator = NULL;
}

static void the_log_says_what_is_linked_and_what_is_not(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();

    runtime_get(f, &problem, NULL);
    assert_int_equal(f->log.of_level[LATHE_LOG_INFO], 1);
    assert_int_equal(f->log.of_level[LATHE_LOG_DEBUG], 0);
    runtime_get(f, &problem, NULL);
    runtime_again(f);
    runtime_get(f, &problem, NULL);
    assert_int_equal(f->log.of_level[LATHE_LOG_INFO], 1);
    assert_int_equal(f->log.of_level[LATHE_LOG_DEBUG], 1);
    assert_int_equal(f->log.of_level[LATHE_LOG_WARNING], 0);
}

static void a_kernel_for_another_architecture_is_refused(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();
    struct stub_device blackwell;
    struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;
    struct lathe_function *function = NULL;

    f->stub.get_device(0, &blackwell);
    blackwell.major = 10;
    blackwell.minor = 0;
    f->stub.set_device(0, &blackwell);
    options.arch = LATHE_SM_90A;
    assert_status(f, lathe_gemm_get(f->context, &function, &problem, &options, &f->error),
                  LATHE_NO_DEVICE);
    assert_message(f, "sm_90a cannot run on GPU 0");
}

static void an_image_is_built_without_a_device_and_loaded_later(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();
    struct lathe_plan plan = LATHE_PLAN_INIT;
    struct lathe_kernel *kernel = NULL;
    struct lathe_image *image = NULL;
    struct lathe_function *first = NULL, *second = NULL;
    size_t bytes = 0;

    assert_status(
        f, lathe_plan_gemm(&plan, &problem, lathe_plan_options(.arch = LATHE_SM_90A), &f->error),
        LATHE_OK);
    assert_status(f, lathe_emit(&kernel, &plan, NULL, &f->error), LATHE_OK);
    assert_status(f, lathe_build(f->context, &image, kernel, &f->error), LATHE_OK);
    assert_int_equal(f->stub.calls(NULL), 0);
    assert_non_null(lathe_image_cubin(image, &bytes));
    assert_true(bytes > 64);
    assert_int_equal(lathe_image_cache(image), LATHE_CACHE_MISS);
    assert_string_equal(lathe_image_warnings(image), "");
    assert_status(f, lathe_load(f->context, &first, image, &f->error), LATHE_OK);
    assert_status(f, lathe_load(f->context, &second, image, &f->error), LATHE_OK);
    assert_ptr_equal(first, second);
    assert_int_equal(f->stub.calls("cuModuleLoadData"), 1);
    lathe_context_destroy(&f->context);
    assert_string_equal(lathe_image_contract(image)->name, lathe_kernel_contract(kernel)->name);
    lathe_image_destroy(&image);
    lathe_kernel_destroy(&kernel);
}

/* And shares its module with the problem that emits the same text. */
static void a_kernel_is_loaded_without_an_image(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();
    struct lathe_plan plan = LATHE_PLAN_INIT;
    struct lathe_kernel *kernel = NULL, *edited = NULL;
    struct lathe_function *first = NULL, *second = NULL, *other = NULL;
    char *text;

    assert_status(
        f, lathe_plan_gemm(&plan, &problem, lathe_plan_options(.arch = LATHE_SM_90A), &f->error),
        LATHE_OK);
    assert_status(f, lathe_emit(&kernel, &plan, NULL, &f->error), LATHE_OK);
    assert_status(f, lathe_load_kernel(f->context, &first, kernel, &f->error), LATHE_OK);
    assert_status(f, lathe_load_kernel(f->context, &second, kernel, &f->error), LATHE_OK);
    assert_ptr_equal(first, second);
    assert_int_equal(f->stub.calls("cuModuleLoadData"), 1);
    text = test_malloc(strlen(lathe_kernel_text(kernel, NULL)) + 16);
    strcpy(text, lathe_kernel_text(kernel, NULL));
    strcat(text, "\n// edited\n");
    assert_status(f, lathe_kernel_edit(&edited, kernel, text, &f->error), LATHE_OK);
    assert_status(f, lathe_load_kernel(f->context, &other, edited, &f->error), LATHE_OK);
    assert_ptr_not_equal(first, other);
    assert_int_equal(f->stub.calls("cuModuleLoadData"), 2);
    assert_status(f, lathe_load_kernel(f->context, NULL, kernel, &f->error), LATHE_MISUSED);
    test_free(text);
    lathe_kernel_destroy(&edited);
    lathe_kernel_destroy(&kernel);
}

static void an_edited_text_is_another_image(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();
    struct lathe_plan plan = LATHE_PLAN_INIT;
    struct lathe_kernel *kernel = NULL, *edited = NULL;
    struct lathe_image *image = NULL;
    char text[65536];

    assert_status(f, lathe_plan_gemm(&plan, &problem, NULL, &f->error), LATHE_OK);
    assert_status(f, lathe_emit(&kernel, &plan, NULL, &f->error), LATHE_OK);
    assert_status(f, lathe_kernel_edit(&edited, kernel, "no kernel", &f->error), LATHE_MISUSED);
    snprintf(text, sizeof text, "%s// by hand\n", lathe_kernel_text(kernel, NULL));
    assert_status(f, lathe_kernel_edit(&edited, kernel, text, &f->error), LATHE_OK);
    assert_string_equal(lathe_kernel_text(edited, NULL), text);
    assert_status(f, lathe_build(f->context, &image, kernel, &f->error), LATHE_OK);
    lathe_image_destroy(&image);
    assert_status(f, lathe_build(f->context, &image, edited, &f->error), LATHE_OK);
    assert_int_equal(lathe_image_cache(image), LATHE_CACHE_MISS);
    lathe_image_destroy(&image);
    lathe_kernel_destroy(&edited);
    lathe_kernel_destroy(&kernel);
}

struct asker {
    struct lathe_context *context;
    struct lathe_function *function;
    enum lathe_status status;
};

static void *ask(void *argument)
{
    struct asker *asker = argument;
    struct lathe_gemm problem = runtime_problem();

    asker->status = lathe_gemm_get(asker->context, &asker->function, &problem, NULL, NULL);
    return NULL;
}

static void threads_that_ask_first_at_once_link_and_load_once(void **state)
{
    struct runtime_fixture *f = *state;
    pthread_t threads[THREADS];
    struct asker askers[THREADS];
    int before = f->links();

    f->link_delay(30);
    for (int i = 0; i < THREADS; i++) {
        askers[i] = (struct asker){.context = f->context};
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(askers[i].status, LATHE_OK);
        assert_ptr_equal(askers[i].function, askers[0].function);
    }
    assert_int_equal(f->links() - before, 1);
    assert_int_equal(f->stub.calls("cuModuleLoadData"), 1);
}

static void a_list_is_prepared_by_several_threads(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problems[12];
    struct lathe_plan_options options[12];
    int before = f->links();

    for (int i = 0; i < 12; i++) {
        problems[i] = runtime_problem();
        options[i] = (struct lathe_plan_options)LATHE_PLAN_OPTIONS_INIT;
        options[i].tile[0] = 64;
        options[i].tile[1] = 8 * (i + 1);
        options[i].tile[2] = 64;
    }
    assert_status(f, lathe_gemm_prepare(f->context, 12, problems, options, 4, &f->error), LATHE_OK);
    assert_int_equal(f->links() - before, 12);
    runtime_get(f, &problems[5], &options[5]);
    assert_int_equal(f->links() - before, 12);
    assert_status(f, lathe_gemm_prepare(f->context, 0, NULL, NULL, 4, &f->error), LATHE_OK);
}

static void the_first_failure_of_a_list_is_reported_and_the_rest_prepared(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problems[6];

    for (int i = 0; i < 6; i++) {
        problems[i] = runtime_problem();
        problems[i].m = 256 * (i + 1);
    }
    problems[2].k = 101;
    problems[2].lda = 101;
    problems[4].n = -1;
    assert_status(f, lathe_gemm_prepare(f->context, 6, problems, NULL, 3, &f->error),
                  LATHE_UNSUPPORTED);
    assert_message(f, "lda=101");

    int links = f->links();

    runtime_get(f, &problems[5], NULL);
    assert_int_equal(f->links(), links);
}

static void a_list_of_an_older_headers_structs_is_walked_by_their_size(void **state)
{
    struct runtime_fixture *f = *state;
    struct {
        size_t struct_size;
        int64_t m, n, k;
    } problems[3] = {{sizeof problems[0], 256, 256, 256},
                     {sizeof problems[0], 512, 512, 512},
                     {sizeof problems[0], 1024, 0, 64}};

    assert_status(f,
                  lathe_gemm_prepare(f->context, 3, (const struct lathe_gemm *)(void *)problems,
                                     NULL, 1, &f->error),
                  LATHE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUNTIME_TEST(the_same_problem_is_the_same_function),
        RUNTIME_TEST(padding_bytes_do_not_tell_problems_apart),
        RUNTIME_TEST(problems_with_one_text_share_a_module),
        RUNTIME_TEST(a_second_process_finds_the_cubin_and_opens_no_linker),
        RUNTIME_TEST(without_a_cache_every_process_links),
        RUNTIME_TEST(modules_go_with_the_context),
        RUNTIME_TEST(a_cached_cubin_that_the_driver_refuses_is_linked_anew),
        RUNTIME_TEST(a_cached_cubin_stays_when_the_driver_has_other_trouble),
        RUNTIME_TEST(a_callers_entry_that_the_driver_refuses_is_stored_over),
        RUNTIME_TEST(an_image_that_the_driver_refuses_is_forgotten),
        RUNTIME_TEST(a_request_that_differs_in_any_field_is_another),
        RUNTIME_TEST(a_fresh_cubin_that_the_driver_refuses_is_an_error),
        RUNTIME_TEST(an_empty_cubin_is_not_loaded),
        RUNTIME_TEST(spills_and_warnings_reach_the_log),
        RUNTIME_TEST(every_driver_call_that_fails_unwinds),
        RUNTIME_TEST(running_out_of_memory_unwinds_at_every_allocation),
        RUNTIME_TEST(the_log_says_what_is_linked_and_what_is_not),
        RUNTIME_TEST(a_kernel_for_another_architecture_is_refused),
        RUNTIME_TEST(an_image_is_built_without_a_device_and_loaded_later),
        RUNTIME_TEST(a_kernel_is_loaded_without_an_image),
        RUNTIME_TEST(an_edited_text_is_another_image),
        RUNTIME_TEST(threads_that_ask_first_at_once_link_and_load_once),
        RUNTIME_TEST(a_list_is_prepared_by_several_threads),
        RUNTIME_TEST(the_first_failure_of_a_list_is_reported_and_the_rest_prepared),
        RUNTIME_TEST(a_list_of_an_older_headers_structs_is_walked_by_their_size),
    };

    return cmocka_run_group_tests_name("functions", tests, NULL, NULL);
}
