/* Contexts: options, the environment, the device they live on, and whose CUDA context. */
#include "runtime/context.h"

#include "include/lathe_tools.h"
#include "tests/runtime/fixture.h"

#include <pthread.h>
#include <stdlib.h>

static lt_cu_context current(void)
{
    struct lt_driver driver;
    lt_cu_context context = NULL;

    if (lt_driver_open(&driver, STUB_DRIVER_PATH, NULL) == LATHE_OK)
        driver.cuCtxGetCurrent(&context);
    return context;
}

static const struct lt_device *open_device(struct runtime_fixture *f)
{
    const struct lt_device *device = NULL;

    assert_status(f, lt_context_device(f->context, &device, &f->error), LATHE_OK);
    return device;
}

static void making_a_context_calls_no_driver(void **state)
{
    struct runtime_fixture *f = *state;

    assert_int_equal(f->stub.calls(NULL), 0);
}

static void the_first_device_and_its_primary_context_are_used(void **state)
{
    struct runtime_fixture *f = *state;
    const struct lt_device *device = open_device(f);

    assert_int_equal(device->ordinal, 0);
    assert_int_equal(device->arch, LATHE_SM_90A);
    assert_int_equal(device->sms, 132);
    assert_int_equal(f->stub.calls("cuDevicePrimaryCtxRetain"), 1);
    lathe_context_destroy(&f->context);
    assert_int_equal(f->stub.calls("cuDevicePrimaryCtxRelease_v2"), 1);
    assert_int_equal(f->stub.live(STUB_CONTEXT), 0);
}

static void a_device_is_named_by_its_ordinal(void **state)
{
    struct runtime_fixture *f = *state;
    struct stub_device second;

    f->stub.set_device_count(2);
    f->stub.get_device(1, &second);
    second.sms = 114;
    f->stub.set_device(1, &second);
    f->options.device = 2;
    runtime_again(f);
    assert_int_equal(open_device(f)->ordinal, 1);
    assert_int_equal(open_device(f)->sms, 114);
}

static void a_device_that_is_not_there_is_refused(void **state)
{
    struct runtime_fixture *f = *state;
    const struct lt_device *device;

    f->options.device = 4;
    runtime_again(f);
    assert_status(f, lt_context_device(f->context, &device, &f->error), LATHE_NO_DEVICE);
    assert_string_equal(f->error.message, "device gpu:3: the driver has 1 GPU");
}

static void the_callers_current_context_is_lived_in(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_driver driver;
    lt_cu_context theirs, popped;

    assert_status(f, lt_driver_open(&driver, STUB_DRIVER_PATH, &f->error), LATHE_OK);
    theirs = f->stub.context_create(0);
    assert_int_equal(driver.cuCtxPushCurrent(theirs), 0);
    assert_ptr_equal(open_device(f)->cu_context, theirs);
    assert_int_equal(f->stub.calls("cuDevicePrimaryCtxRetain"), 0);
    assert_ptr_equal(current(), theirs);
    lathe_context_destroy(&f->context);
    assert_ptr_equal(current(), theirs);
    driver.cuCtxPopCurrent(&popped);
    f->stub.context_destroy(theirs);
}

static void the_current_context_of_the_device_named_is_lived_in(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_driver driver;
    lt_cu_context theirs, popped;

    assert_status(f, lt_driver_open(&driver, STUB_DRIVER_PATH, &f->error), LATHE_OK);
    f->stub.set_device_count(2);
    theirs = f->stub.context_create(0);
    assert_int_equal(driver.cuCtxPushCurrent(theirs), 0);
    f->options.device = 1;
    runtime_again(f);
    assert_ptr_equal(open_device(f)->cu_context, theirs);
    f->options.device = 2;
    runtime_again(f);
    assert_ptr_not_equal(open_device(f)->cu_context, theirs);
    assert_int_equal(open_device(f)->ordinal, 1);
    lathe_context_destroy(&f->context);
    driver.cuCtxPopCurrent(&popped);
    f->stub.context_destroy(theirs);
}

static void a_context_of_another_device_is_refused(void **state)
{
    struct runtime_fixture *f = *state;
    enum lathe_arch arch;

    f->stub.set_device_count(2);
    f->options.device = 2;
    f->options.cuda_context = f->stub.context_create(0);
    runtime_again(f);
    assert_status(f, lathe_context_arch(f->context, &arch, &f->error), LATHE_MISUSED);
    assert_message(f, "device gpu:1: the cuda_context given with it is of GPU 0");
    lathe_context_destroy(&f->context);
    f->stub.context_destroy(f->options.cuda_context);
}

static void a_context_that_is_given_is_lived_in(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_driver driver;

    assert_status(f, lt_driver_open(&driver, STUB_DRIVER_PATH, &f->error), LATHE_OK);
    f->options.cuda_context = f->stub.context_create(0);
    runtime_again(f);
    assert_ptr_equal(open_device(f)->cu_context, f->options.cuda_context);
    assert_null(current());
    lathe_context_destroy(&f->context);
    f->stub.context_destroy(f->options.cuda_context);
}

static void a_device_without_kernels_for_it_is_named(void **state)
{
    struct runtime_fixture *f = *state;
    struct stub_device old;
    enum lathe_arch arch;

    f->stub.get_device(0, &old);
    old.major = 7;
    old.minor = 5;
    strcpy(old.name, "Old GPU");
    f->stub.set_device(0, &old);
    assert_status(f, lathe_context_arch(f->context, &arch, &f->error), LATHE_NO_DEVICE);
    assert_message(f, "Old GPU");
    assert_message(f, "7.5");
}

static void a_gpu_without_kernels_is_named_by_get(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = runtime_problem();
    struct lathe_function *function;
    struct stub_device ada;
    enum lathe_arch arch;

    f->stub.get_device(0, &ada);
    ada.major = 8;
    ada.minor = 9;
    strcpy(ada.name, "Ada GPU");
    f->stub.set_device(0, &ada);
    assert_status(f, lathe_context_arch(f->context, &arch, &f->error), LATHE_OK);
    assert_int_equal(arch, LATHE_SM_89);
    assert_status(f, lathe_gemm_get(f->context, &function, &problem, NULL, &f->error),
                  LATHE_NO_DEVICE);
    assert_message(f, "GPU 0 (Ada GPU, sm_89): there are no kernels for it yet");
    assert_int_equal(f->error.fits_count, 0);
    assert_int_equal(f->stub.calls("cuDevicePrimaryCtxRetain"), 0);
}

static void a_missing_driver_stays_missing(void **state)
{
    struct runtime_fixture *f = *state;
    enum lathe_arch arch;

    f->stub.fail_call("cuInit", LT_CUDA_ERROR_NO_DEVICE, 0, 1);
    assert_status(f, lathe_context_arch(f->context, &arch, &f->error), LATHE_NO_DEVICE);
    f->error.message[0] = '\0';
    assert_status(f, lathe_context_arch(f->context, &arch, &f->error), LATHE_NO_DEVICE);
    assert_message(f, "finds no GPU");
    assert_int_equal(f->stub.calls("cuInit"), 1);
}

static void what_fails_once_is_tried_again(void **state)
{
    struct runtime_fixture *f = *state;
    static const char *const symbols[] = {"cuInit", "cuDeviceGetCount", "cuDeviceGetAttribute",
                                          "cuDevicePrimaryCtxRetain"};

    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        const struct lt_device *device = NULL;

        f->stub.reset();
        runtime_again(f);
        f->stub.fail_call(symbols[i], 2, 0, 1);
        assert_status(f, lt_context_device(f->context, &device, &f->error), LATHE_OUT_OF_MEMORY);
        assert_message(f, symbols[i]);
        assert_int_equal(open_device(f)->sms, 132);
        lathe_context_destroy(&f->context);
        assert_int_equal(f->stub.live(STUB_CONTEXT), 0);
    }
}

static void looking_at_a_device_makes_no_context_on_it(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_finding findings[16];
    enum lathe_arch arch;
    int sms;

    assert_status(f, lathe_context_arch(f->context, &arch, &f->error), LATHE_OK);
    assert_status(f, lathe_context_sms(f->context, &sms, &f->error), LATHE_OK);
    lathe_doctor(f->context, findings, 16);
    assert_int_equal(sms, 132);
    assert_int_equal(f->stub.calls("cuDevicePrimaryCtxRetain"), 0);
}

static void every_call_that_fails_on_the_way_is_a_status(void **state)
{
    struct runtime_fixture *f = *state;
    static const char *const symbols[] = {
        "cuInit",      "cuDriverGetVersion",   "cuDeviceGetCount",
        "cuDeviceGet", "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain"};

    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        const struct lt_device *device;

        f->stub.reset();
        f->stub.fail_call(symbols[i], 999, 0, STUB_ALWAYS);
        runtime_again(f);
        assert_int_not_equal(lt_context_device(f->context, &device, &f->error), LATHE_OK);
        assert_true(f->error.message[0] != '\0');
        lathe_context_destroy(&f->context);
        assert_int_equal(f->stub.live(STUB_CONTEXT), 0);
    }
}

static void the_environment_is_read_when_the_context_is_made(void **state)
{
    struct runtime_fixture *f = *state;

    setenv("LATHE_CUDA_LIBRARY", "/one", 1);
    setenv("LATHE_NVRTC_LIBRARY", "", 1);
    runtime_again(f);
    setenv("LATHE_CUDA_LIBRARY", "/two", 1);
    assert_string_equal(lt_context_variable(f->context, "LATHE_CUDA_LIBRARY"), "/one");
    assert_null(lt_context_variable(f->context, "LATHE_NVRTC_LIBRARY"));
    assert_null(lt_context_variable(f->context, "PATH"));
    unsetenv("LATHE_CUDA_LIBRARY");
    unsetenv("LATHE_NVRTC_LIBRARY");
}

static void what_the_environment_says_of_the_cache_is_understood(void **state)
{
    struct runtime_fixture *f = *state;
    static const struct {
        const char *word;
        bool enabled;
        int warnings;
    } cases[] = {{"off", false, 0}, {"0", false, 0},    {"No", false, 0}, {"false", false, 0},
                 {"on", true, 0},   {"1", true, 0},     {"", true, 0},    {"yes", true, 0},
                 {"TRUE", true, 0}, {"maybe", true, 1}, {"of", true, 1}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lt_cache *cache = NULL;

        f->log.lines = 0;
        setenv("LATHE_CACHE", cases[i].word, 1);
        runtime_again(f);
        assert_status(f, lt_context_cache(f->context, &cache, &f->error), LATHE_OK);
        assert_int_equal(lt_cache_enabled(cache), cases[i].enabled);
        assert_int_equal(f->log.lines, cases[i].warnings);
    }
    unsetenv("LATHE_CACHE");
}

static void the_limit_of_the_cache_may_have_a_suffix(void **state)
{
    struct runtime_fixture *f = *state;
    static const char *const good[] = {"1", "4096", "512M", "2G", "8K"};
    static const char *const bad[] = {
        "0", "-1", "1GB", "G", "9999999999G", "92233720368547758080", "much"};

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        f->log.lines = 0;
        setenv("LATHE_CACHE_LIMIT", good[i], 1);
        runtime_again(f);
        assert_int_equal(f->log.lines, 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        f->log.lines = 0;
        setenv("LATHE_CACHE_LIMIT", bad[i], 1);
        runtime_again(f);
        assert_int_equal(f->log.lines, 1);
        assert_non_null(strstr(f->log.last, bad[i]));
    }
    unsetenv("LATHE_CACHE_LIMIT");
}

static void an_option_goes_before_the_environment(void **state)
{
    struct runtime_fixture *f = *state;

    setenv("LATHE_CUDA_LIBRARY", "/nowhere", 1);
    runtime_again(f);
    open_device(f);
    f->options.driver_library = NULL;
    runtime_again(f);

    enum lathe_arch arch;

    assert_status(f, lathe_context_arch(f->context, &arch, &f->error), LATHE_NO_DRIVER);
    assert_message(f, "/nowhere");
    unsetenv("LATHE_CUDA_LIBRARY");
}

static void options_that_make_no_sense_are_refused(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_context *context = NULL;
    struct lathe_allocator half = {.user = NULL};
    struct lathe_cache_callbacks none = {.user = NULL};

    assert_status(f, lathe_context_create(NULL, NULL, &f->error), LATHE_MISUSED);
    assert_status(
        f, lathe_context_create(&context, lathe_context_options(.allocator = &half), &f->error),
        LATHE_MISUSED);
    assert_status(
        f,
        lathe_context_create(&context, lathe_context_options(.cache_callbacks = &none), &f->error),
        LATHE_MISUSED);
    assert_status(f, lathe_context_create(&context, lathe_context_options(.device = -1), &f->error),
                  LATHE_OUT_OF_RANGE);
    assert_null(context);
    lathe_context_destroy(&context);
    lathe_context_destroy(NULL);
}

static void an_older_headers_smaller_options_are_taken(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_context_options older = LATHE_CONTEXT_OPTIONS_INIT;
    struct lathe_context *context = NULL;

    older.struct_size = offsetof(struct lathe_context_options, cuda_context);
    older.cuda_context = (void *)1; /* beyond what the older header had */
    older.driver_library = "/nowhere";
    assert_status(f, lathe_context_create(&context, &older, &f->error), LATHE_OK);
    lathe_context_destroy(&context);
}

static void memory_comes_from_the_callers_allocator_and_goes_back(void **state)
{
    struct runtime_fixture *f = *state;
    struct fail_allocator memory;
    bool succeeded = false;

    for (long n = 0; !succeeded && n < 60; n++) {
        struct lathe_context *context = NULL;

        fail_allocator_init(&memory, n);
        f->options.allocator = &memory.allocator;
        succeeded = lathe_context_create(&context, &f->options, &f->error) == LATHE_OK;
        if (!succeeded)
            assert_int_equal(f->error.status, LATHE_OUT_OF_MEMORY);
        lathe_context_destroy(&context);
        assert_int_equal(memory.live, 0);
    }
    assert_true(succeeded);
    f->options.allocator = NULL;
}

static const struct lathe_finding *finding(const struct lathe_finding *findings, size_t count,
                                           const char *what)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(findings[i].what, what) == 0)
            return &findings[i];
    fail_msg("no finding named %s", what);
    return NULL;
}

static void the_doctor_finds_what_is_there(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_finding findings[16];
    size_t count = lathe_doctor(f->context, findings, 16);

    assert_int_equal(finding(findings, count, "driver")->found, LATHE_FOUND);
    assert_non_null(strstr(finding(findings, count, "GPU 0")->detail, "132 multiprocessors"));
    assert_non_null(strstr(finding(findings, count, "nvJitLink")->detail, "99.1"));
    assert_non_null(strstr(finding(findings, count, "cache")->detail, f->cache));
    assert_int_equal(lathe_doctor(f->context, findings, 1), count);
    assert_int_equal(lathe_doctor(f->context, NULL, 0), count);
}

static void a_cache_that_is_switched_off_is_no_trouble(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_finding findings[16];

    f->options.cache = LATHE_OFF;
    runtime_again(f);

    size_t count = lathe_doctor(f->context, findings, 16);

    assert_int_equal(finding(findings, count, "cache")->found, LATHE_FOUND);
    assert_string_equal(finding(findings, count, "cache")->detail, "switched off");
    assert_int_equal(lathe_doctor(NULL, findings, 16), 0);
    assert_int_equal(lathe_doctor(f->context, NULL, 16), count);
}

static void the_doctor_says_what_to_do(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_finding findings[16];

    f->options.driver_library = "/nowhere";
    f->options.linker_library = "/nowhere";
    runtime_again(f);

    size_t count = lathe_doctor(f->context, findings, 16);

    assert_int_equal(finding(findings, count, "driver")->found, LATHE_MISSING);
    assert_non_null(strstr(finding(findings, count, "driver")->advice, "install"));
    assert_non_null(strstr(finding(findings, count, "nvJitLink")->advice, "install"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUNTIME_TEST(making_a_context_calls_no_driver),
        RUNTIME_TEST(the_first_device_and_its_primary_context_are_used),
        RUNTIME_TEST(a_device_is_named_by_its_ordinal),
        RUNTIME_TEST(a_device_that_is_not_there_is_refused),
        RUNTIME_TEST(the_callers_current_context_is_lived_in),
        RUNTIME_TEST(the_current_context_of_the_device_named_is_lived_in),
        RUNTIME_TEST(a_context_of_another_device_is_refused),
        RUNTIME_TEST(a_context_that_is_given_is_lived_in),
        RUNTIME_TEST(a_device_without_kernels_for_it_is_named),
        RUNTIME_TEST(a_gpu_without_kernels_is_named_by_get),
        RUNTIME_TEST(a_missing_driver_stays_missing),
        RUNTIME_TEST(what_fails_once_is_tried_again),
        RUNTIME_TEST(looking_at_a_device_makes_no_context_on_it),
        RUNTIME_TEST(every_call_that_fails_on_the_way_is_a_status),
        RUNTIME_TEST(the_environment_is_read_when_the_context_is_made),
        RUNTIME_TEST(what_the_environment_says_of_the_cache_is_understood),
        RUNTIME_TEST(the_limit_of_the_cache_may_have_a_suffix),
        RUNTIME_TEST(an_option_goes_before_the_environment),
        RUNTIME_TEST(options_that_make_no_sense_are_refused),
        RUNTIME_TEST(an_older_headers_smaller_options_are_taken),
        RUNTIME_TEST(memory_comes_from_the_callers_allocator_and_goes_back),
        RUNTIME_TEST(the_doctor_finds_what_is_there),
        RUNTIME_TEST(a_cache_that_is_switched_off_is_no_trouble),
        RUNTIME_TEST(the_doctor_says_what_to_do),
    };

    return cmocka_run_group_tests_name("context", tests, NULL, NULL);
}
