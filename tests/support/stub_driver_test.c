/* stub_driver_test.c: tests of the stub driver itself: symbols, steering, devices, contexts,
 * memory. Modules and launches are in stub_launch_test.c, streams and graphs in stub_stream_test.c.
 *
 * Arguments: libcuda_stub.so and libcuda_old_stub.so, as paths. */
#include "tests/support/stub_test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *old_path;

/* ---- Symbols --------------------------------------------------------------------------------- */

static const char *const lathe_calls[] = {
#define LT_CU(name, symbol, arguments) symbol,
#include "runtime/driver.def"
#undef LT_CU
};
enum { LATHE_CALLS = sizeof lathe_calls / sizeof lathe_calls[0] };

static void it_exports_all_that_lathe_calls(void **state)
{
    (void)state;
    for (int i = 0; i < LATHE_CALLS; i++)
        if (dlsym(stub_library, lathe_calls[i]) == NULL)
            fail_msg("the stub lacks %s", lathe_calls[i]);
}

static void an_old_driver_lacks_what_came_later(void **state)
{
    static const struct {
        const char *symbol;
        int since;
    } calls[] = {
#define STUB_CALL(symbol, since, needs) {#symbol, since},
#include "tests/support/stub_calls.def"
#undef STUB_CALL
    };
    void *old = dlopen(old_path, RTLD_NOW | RTLD_LOCAL), *found;
    __typeof__(cuDriverGetVersion) *get_version;
    int version = 0, lacking = 0;

    (void)state;
    assert_non_null(old);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        found = dlsym(old, calls[i].symbol);
        assert_int_equal(found != NULL, calls[i].since <= 11080);
        lacking += found == NULL;
    }
    assert_true(lacking > 0);
    found = dlsym(old, "cuDriverGetVersion");
    memcpy(&get_version, &found, sizeof found);
    assert_int_equal(get_version(&version), CUDA_SUCCESS);
    assert_int_equal(version, 11080);
    dlclose(old);
}

/* ---- Steering -------------------------------------------------------------------------------- */

static void calls_before_init_are_refused(void **state)
{
    int value = 7;
    const char *name = NULL;

    (void)state;
    assert_int_equal(cuda.cuDeviceGetCount(&value), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(value, 7);
    assert_int_equal(cuda.cuDriverGetVersion(&value), CUDA_SUCCESS);
    assert_int_equal(value, 13000);
    assert_int_equal(cuda.cuGetErrorName(CUDA_ERROR_NOT_INITIALIZED, &name), CUDA_SUCCESS);
    assert_string_equal(name, "CUDA_ERROR_NOT_INITIALIZED");
    assert_int_equal(cuda.cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuDeviceGetCount(&value), CUDA_SUCCESS);
    assert_int_equal(value, 1);
}

static void errors_have_names_and_words(void **state)
{
    const char *text = "";

    (void)state;
    assert_int_equal(cuda.cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
    assert_string_equal(text, "out of memory");
    assert_int_equal(cuda.cuGetErrorString((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    assert_null(text);
    text = "";
    assert_int_equal(cuda.cuGetErrorName((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    assert_null(text);
}

static void a_rule_lets_calls_pass_then_fails_so_many(void **state)
{
    static const CUresult expected[] = {0, 0, 100, 100, 100, 0, 0};
    int version;

    (void)state;
    stub.fail_call("cuDriverGetVersion", CUDA_ERROR_NO_DEVICE, 2, 3);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        version = -1;
        assert_int_equal(cuda.cuDriverGetVersion(&version), expected[i]);
        assert_int_equal(version, expected[i] == 0 ? 13000 : -1);
    }
    stub.fail_call("cuDriverGetVersion", CUDA_ERROR_UNKNOWN, 0, STUB_ALWAYS);
    for (int i = 0; i < 5; i++)
        assert_int_equal(cuda.cuDriverGetVersion(&version), CUDA_ERROR_UNKNOWN);
    assert_int_equal(stub.calls("cuDriverGetVersion"), 12);
    assert_int_equal(stub.failures("cuDriverGetVersion"), 8);
    assert_int_equal(stub.calls("cuInit"), 0);
    assert_int_equal(stub.calls(NULL), 12);
    stub.fail_nothing();
    assert_int_equal(cuda.cuDriverGetVersion(&version), CUDA_SUCCESS);
}

static void the_environment_sets_the_machine(void **state)
{
    struct stub_device device;
    int value = 0;

    (void)state;
    setenv("STUB_DEVICES", "3", 1);
    setenv("STUB_CAPABILITY", "10.3", 1);
    setenv("STUB_SMS", "148", 1);
    setenv("STUB_MEMORY", "1000000", 1);
    setenv("STUB_L2", "1000", 1);
    setenv("STUB_VERSION", "12040", 1);
    stub.reset();
    stub.get_device(2, &device);
    assert_int_equal(cuda.cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuDeviceGetCount(&value), CUDA_SUCCESS);
    assert_int_equal(value, 3);
    assert_int_equal(cuda.cuDriverGetVersion(&value), CUDA_SUCCESS);
    assert_int_equal(value, 12040);
    assert_int_equal(device.major, 10);
    assert_int_equal(device.minor, 3);
    assert_int_equal(device.sms, 148);
    assert_int_equal(device.memory_bytes, 1000000);
    assert_int_equal(device.l2_bytes, 1000);
    for (const char *const *name =
             (const char *const[]){"STUB_DEVICES", "STUB_CAPABILITY", "STUB_SMS", "STUB_MEMORY",
                                   "STUB_VERSION", "STUB_L2", NULL};
         *name != NULL; name++)
        unsetenv(*name);
}

static void the_environment_makes_calls_fail(void **state)
{
    int value = 0;

    (void)state;
    setenv("STUB_FAIL", "cuInit=802,cuDriverGetVersion=1", 1);
    stub.reset();
    assert_int_equal(cuda.cuInit(0), CUDA_ERROR_SYSTEM_NOT_READY);
    assert_int_equal(cuda.cuDriverGetVersion(&value), CUDA_ERROR_INVALID_VALUE);
    unsetenv("STUB_FAIL");
    stub.reset();
    assert_int_equal(cuda.cuInit(0), CUDA_SUCCESS);
}

static void the_log_has_a_line_for_each_call(void **state)
{
    char path[64], text[256];
    int file = memfd_create("log", MFD_CLOEXEC), value;
    ssize_t length;

    (void)state;
    assert_true(file >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    setenv("STUB_LOG", path, 1);
    stub.reset();
    unsetenv("STUB_LOG");
    cuda.cuDeviceGetCount(&value);
    cuda.cuInit(0);
    cuda.cuDeviceGetCount(&value);
    length = pread(file, text, sizeof text - 1, 0);
    close(file);
    assert_true(length > 0);
    text[length] = '\0';
    assert_string_equal(text, "cuDeviceGetCount 3\ncuInit 0\ncuDeviceGetCount 0\n");
}

/* ---- Devices --------------------------------------------------------------------------------- */

static int attribute(CUdevice_attribute which, CUdevice device)
{
    int value = -1;

    assert_int_equal(cuda.cuDeviceGetAttribute(&value, which, device), CUDA_SUCCESS);
    return value;
}

static void without_a_device_init_fails(void **state)
{
    (void)state;
    stub.set_device_count(0);
    assert_int_equal(cuda.cuInit(0), CUDA_ERROR_NO_DEVICE);
}

static void devices_are_as_set(void **state)
{
    struct stub_device device;
    CUdevice ordinal = -1;
    char name[64];

    (void)state;
    stub.set_device_count(2);
    stub.get_device(1, &device);
    snprintf(device.name, sizeof device.name, "Small One");
    device.major = 8;
    device.minor = 6;
    device.sms = 28;
    device.optin_bytes = 101376;
    stub.set_device(1, &device);
    assert_int_equal(cuda.cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuDeviceGet(&ordinal, 1), CUDA_SUCCESS);
    assert_int_equal(ordinal, 1);
    assert_int_equal(cuda.cuDeviceGet(&ordinal, 2), CUDA_ERROR_INVALID_DEVICE);
    assert_int_equal(cuda.cuDeviceGetName(name, sizeof name, 0), CUDA_SUCCESS);
    assert_string_equal(name, "NVIDIA H200");
    assert_int_equal(cuda.cuDeviceGetName(name, 6, 1), CUDA_SUCCESS);
    assert_string_equal(name, "Small");
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0), 132);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 1), 28);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1), 8);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 1), 101376);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1), 0);
    assert_int_equal(cuda.cuDeviceGetAttribute(&ordinal, (CUdevice_attribute)9999, 0),
                     CUDA_ERROR_INVALID_VALUE);
}

/* ---- Contexts -------------------------------------------------------------------------------- */

static void a_primary_context_lives_while_it_is_retained(void **state)
{
    CUcontext first, second, current = NULL;
    CUdevice device = -1;

    (void)state;
    assert_int_equal(cuda.cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(cuda.cuDevicePrimaryCtxRetain(&first, 0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuDevicePrimaryCtxRetain(&second, 0), CUDA_SUCCESS);
    assert_ptr_equal(first, second);
    assert_int_equal(stub.live(STUB_CONTEXT), 1);
    assert_int_equal(cuda.cuCtxPushCurrent_v2(first), CUDA_SUCCESS);
    assert_int_equal(cuda.cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuCtxGetDevice(&device), CUDA_SUCCESS);
    assert_int_equal(device, 0);
    assert_int_equal(cuda.cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
    assert_int_equal(stub.live(STUB_CONTEXT), 0);
    assert_int_equal(cuda.cuCtxGetDevice(&device), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    assert_int_equal(cuda.cuCtxGetCurrent(&current), CUDA_SUCCESS);
    assert_ptr_equal(current, first);
    assert_int_equal(cuda.cuCtxPushCurrent_v2(first), CUDA_ERROR_INVALID_CONTEXT);
}

static void contexts_are_a_stack(void **state)
{
    CUcontext outer, inner, current = NULL;
    CUdevice device = -1;

    (void)state;
    stub.set_device_count(2);
    assert_int_equal(cuda.cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuCtxGetCurrent(&current), CUDA_SUCCESS);
    assert_null(current);
    assert_int_equal(cuda.cuCtxPopCurrent_v2(&current), CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(cuda.cuDevicePrimaryCtxRetain(&outer, 0), CUDA_SUCCESS);
    inner = stub.context_create(1);
    assert_int_equal(cuda.cuCtxPushCurrent_v2(outer), CUDA_SUCCESS);
    assert_int_equal(cuda.cuCtxPushCurrent_v2(inner), CUDA_SUCCESS);
    assert_int_equal(cuda.cuCtxGetDevice(&device), CUDA_SUCCESS);
    assert_int_equal(device, 1);
    assert_int_equal(cuda.cuCtxPopCurrent_v2(&current), CUDA_SUCCESS);
    assert_ptr_equal(current, inner);
    assert_int_equal(cuda.cuCtxGetCurrent(&current), CUDA_SUCCESS);
    assert_ptr_equal(current, outer);
    stub.context_destroy(inner);
    assert_int_equal(stub.live(STUB_CONTEXT), 1);
}

static void calls_without_a_context_are_refused(void **state)
{
    CUdeviceptr pointer;
    CUmodule module;
    CUstream stream;
    CUdevice device;

    (void)state;
    assert_int_equal(cuda.cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(cuda.cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(cuda.cuMemAlloc_v2(&pointer, 16), CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(cuda.cuModuleLoadData(&module, stub_cubin), CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(cuda.cuStreamCreate(&stream, 0), CUDA_ERROR_INVALID_CONTEXT);
}

static void *current_of_this_thread(void *unused)
{
    CUcontext context = NULL;

    (void)unused;
    cuda.cuCtxGetCurrent(&context);
    return context;
}

static void each_thread_has_its_own_current_context(void **state)
{
    CUcontext mine = NULL;
    pthread_t thread;
    void *others = &thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, current_of_this_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, &others), 0);
    assert_null(others);
    assert_int_equal(cuda.cuCtxGetCurrent(&mine), CUDA_SUCCESS);
    assert_non_null(mine);
}

static void what_dies_with_its_context_is_lost(void **state)
{
    void *context;
    CUdeviceptr pointer;
    CUevent event;

    (void)state;
    assert_int_equal(cuda.cuInit(0), CUDA_SUCCESS);
    context = stub.context_create(0);
    assert_int_equal(cuda.cuCtxPushCurrent_v2(context), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemAlloc_v2(&pointer, 16), CUDA_SUCCESS);
    assert_int_equal(cuda.cuEventCreate(&event, 0), CUDA_SUCCESS);
    stub_test_function(stub_test_module(), "scale_tile");
    assert_int_equal(stub.live(STUB_ALLOCATION), 1);
    stub.context_destroy(context);
    assert_int_equal(stub.live(STUB_ALLOCATION), 0);
    assert_int_equal(stub.lost(STUB_ALLOCATION), 1);
    assert_int_equal(stub.lost(STUB_EVENT), 1);
    assert_int_equal(stub.lost(STUB_MODULE), 1);
    assert_int_equal(stub.lost(STUB_STREAM), 0);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void memory_is_aligned_and_exact(void **state)
{
    unsigned char bytes[1001] = {0};
    CUdeviceptr pointer;

    (void)state;
    assert_int_equal(cuda.cuMemAlloc_v2(&pointer, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuda.cuMemAlloc_v2(&pointer, 1000), CUDA_SUCCESS);
    assert_int_equal(pointer % 256, 0);
    bytes[999] = 1;
    assert_int_equal(cuda.cuMemcpyDtoH_v2(bytes, pointer, 1000), CUDA_SUCCESS);
    assert_int_equal(bytes[999], 0);
    assert_int_equal(cuda.cuMemcpyHtoD_v2(pointer, bytes, 1000), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemcpyHtoD_v2(pointer, bytes, 1001), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuda.cuMemcpyHtoD_v2(pointer + 999, bytes, 2), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuda.cuMemcpyDtoH_v2(bytes, pointer + 999, 1), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemcpyDtoH_v2(bytes, pointer + 1000, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuda.cuMemcpyDtoH_v2(bytes, pointer - 1, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuda.cuMemcpyDtoH_v2(bytes, pointer, SIZE_MAX), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuda.cuMemFree_v2(pointer + 256), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(stub.live(STUB_ALLOCATION), 1);
    assert_int_equal(cuda.cuMemFree_v2(pointer), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemFree_v2(pointer), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuda.cuMemcpyHtoD_v2(pointer, bytes, 1), CUDA_ERROR_INVALID_VALUE);
}

static void memory_is_copied_and_filled(void **state)
{
    static const unsigned char expected[12] = {9,    9,    0xcd, 0xab, 0xcd, 0xab,
                                               0xcd, 0xab, 0x04, 0x03, 0x02, 0x01};
    unsigned char bytes[12] = {0};
    CUdeviceptr from, to;

    (void)state;
    assert_int_equal(cuda.cuMemAlloc_v2(&from, 12), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemAlloc_v2(&to, 12), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemsetD8Async(from, 9, 12, NULL), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemsetD16Async(from + 2, 0xabcd, 3, NULL), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemsetD32Async(from + 8, 0x01020304, 1, NULL), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemcpyDtoDAsync_v2(to, from, 12, NULL), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemcpyDtoH_v2(bytes, to, 12), CUDA_SUCCESS);
    assert_memory_equal(bytes, expected, 12);
    assert_int_equal(cuda.cuMemsetD16Async(from + 1, 0, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuda.cuMemsetD32Async(from + 2, 0, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuda.cuMemsetD32Async(from, 0, 4, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuda.cuMemsetD32Async(from, 0, SIZE_MAX / 2, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuda.cuMemcpyDtoDAsync_v2(to, from, 13, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuda.cuMemFree_v2(from), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemFree_v2(to), CUDA_SUCCESS);
}

static void memory_runs_out_at_the_limit(void **state)
{
    struct stub_device device;
    CUdeviceptr first, second;
    size_t left = 0, all = 0;

    (void)state;
    stub.get_device(0, &device);
    device.memory_bytes = 4096;
    stub.set_device(0, &device);
    assert_int_equal(cuda.cuMemAlloc_v2(&first, 3000), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemAlloc_v2(&second, 3000), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(cuda.cuMemGetInfo_v2(&left, &all), CUDA_SUCCESS);
    assert_int_equal(left, 1096);
    assert_int_equal(all, 4096);
    assert_int_equal(cuda.cuMemFree_v2(first), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemAlloc_v2(&second, 4096), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemFree_v2(second), CUDA_SUCCESS);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_exports_all_that_lathe_calls),
        cmocka_unit_test(an_old_driver_lacks_what_came_later),
        cmocka_unit_test_setup(calls_before_init_are_refused, stub_test_reset),
        cmocka_unit_test_setup(errors_have_names_and_words, stub_test_reset),
        cmocka_unit_test_setup(a_rule_lets_calls_pass_then_fails_so_many, stub_test_reset),
        cmocka_unit_test_setup(the_environment_sets_the_machine, stub_test_reset),
        cmocka_unit_test_setup(the_environment_makes_calls_fail, stub_test_reset),
        cmocka_unit_test_setup(the_log_has_a_line_for_each_call, stub_test_reset),
        cmocka_unit_test_setup(without_a_device_init_fails, stub_test_reset),
        cmocka_unit_test_setup(devices_are_as_set, stub_test_reset),
        cmocka_unit_test_setup(a_primary_context_lives_while_it_is_retained, stub_test_reset),
        cmocka_unit_test_setup(contexts_are_a_stack, stub_test_reset),
        cmocka_unit_test_setup(calls_without_a_context_are_refused, stub_test_reset),
        cmocka_unit_test_setup_teardown(each_thread_has_its_own_current_context, stub_test_enter,
                                        stub_test_leave),
        cmocka_unit_test_setup(what_dies_with_its_context_is_lost, stub_test_reset),
        cmocka_unit_test_setup_teardown(memory_is_aligned_and_exact, stub_test_enter,
                                        stub_test_leave),
        cmocka_unit_test_setup_teardown(memory_is_copied_and_filled, stub_test_enter,
                                        stub_test_leave),
        cmocka_unit_test_setup_teardown(memory_runs_out_at_the_limit, stub_test_enter,
                                        stub_test_leave),
    };

    if (argc != 3) {
        fprintf(stderr, "usage: %s libcuda_stub.so libcuda_old_stub.so\n", argv[0]);
        return 2;
    }
    old_path = argv[2];
    if (stub_test_open(argv[1]) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
