/* driver_context_test.c: start, errors in words, devices, contexts. Argument: the library. */
#include "tests/emulator/driver_fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- Start ---- */

static void calls_before_init_are_refused(void **state)
{
    CUdevice device = 77;
    const char *name;
    int number;
    void *function;

    (void)state;
    FAILS(cu.cuDeviceGetCount(&number), CUDA_ERROR_NOT_INITIALIZED);
    FAILS(cu.cuDeviceGet(&device, 0), CUDA_ERROR_NOT_INITIALIZED);
    FAILS(cu.cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
    FAILS(cu.cuDeviceGet(NULL, 0), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(device, 77);
    OK(cu.cuDriverGetVersion(&number));
    assert_true(number >= 13000);
    FAILS(cu.cuDriverGetVersion(NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuGetErrorName(CUDA_ERROR_INVALID_PTX, &name));
    assert_string_equal(name, "CUDA_ERROR_INVALID_PTX");
    OK(cu.cuGetProcAddress("cuInit", &function, 13000, 0));
    FAILS(cu.cuInit(1), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuInit(0));
    OK(cu.cuInit(0));
}

static void errors_have_names_and_words(void **state)
{
    const char *words = "";

    (void)state;
    OK(cu.cuGetErrorString(CUDA_SUCCESS, &words));
    assert_string_equal(words, "no error");
    OK(cu.cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &words));
    assert_string_equal(words, "an illegal memory access was encountered");
    OK(cu.cuGetErrorName(CUDA_ERROR_UNKNOWN, &words));
    assert_string_equal(words, "CUDA_ERROR_UNKNOWN");
    FAILS(cu.cuGetErrorName(12345, &words), CUDA_ERROR_INVALID_VALUE);
    assert_null(words);
    FAILS(cu.cuGetErrorString(-1, &words), CUDA_ERROR_INVALID_VALUE);
    assert_null(words);
    only_on_the_fake(); /* a real driver writes there */
    FAILS(cu.cuGetErrorName(0, NULL), CUDA_ERROR_INVALID_VALUE);
}

/* ---- Devices: sm_90a and sm_80, as main() asked for ---- */

static int attribute(CUdevice_attribute which, CUdevice device)
{
    int value = -1;

    OK(cu.cuDeviceGetAttribute(&value, which, device));
    return value;
}

static void devices_are_those_asked_for(void **state)
{
    CUdevice device = -1;
    char name[64] = "", small[7];
    int count = 0;

    (void)state;
    only_on_the_fake();
    OK(cu.cuDeviceGetCount(&count));
    assert_int_equal(count, 2);
    OK(cu.cuDeviceGet(&device, 1));
    assert_int_equal(device, 1);
    FAILS(cu.cuDeviceGet(&device, 2), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cu.cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
    OK(cu.cuDeviceGetName(name, sizeof name, 0));
    assert_non_null(strstr(name, "sm_90a"));
    OK(cu.cuDeviceGetName(small, sizeof small, 0));
    assert_int_equal(strlen(small), 6);
    FAILS(cu.cuDeviceGetName(small, 0, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1), 8);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 1), 0);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1), 0);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 1), 166912);
}

/* Read on an H200 ([H200], misc.md 1). */
static void attributes_are_those_of_an_h200(void **state)
{
    int value;

    (void)state;
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0), 132);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 0),
                     233472);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0), 232448);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 0), 1024);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 0), 65536);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 0), 62914560);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 0), 2048);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 0), 32);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0), 9);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0), 2147483647);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 0), 1);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0), 1);
    FAILS(cu.cuDeviceGetAttribute(&value, 9999, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuDeviceGetAttribute(NULL, 1, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuDeviceGetAttribute(&value, 1, 99), CUDA_ERROR_INVALID_DEVICE);
}

static void devices_have_identities(void **state)
{
    CUuuid first, second;
    CUdevice device = -1;
    char id[16];
    size_t bytes = 0;
    int can = -1;

    (void)state;
    only_on_the_fake();
    OK(cu.cuDeviceGetUuid_v2(&first, 0));
    OK(cu.cuDeviceGetUuid_v2(&second, 1));
    assert_memory_not_equal(&first, &second, sizeof first);
    OK(cu.cuDeviceGetPCIBusId(id, sizeof id, 1));
    OK(cu.cuDeviceGetByPCIBusId(&device, id));
    assert_int_equal(device, 1);
    FAILS(cu.cuDeviceGetByPCIBusId(&device, "0000:00:7f.0"), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cu.cuDeviceGetByPCIBusId(&device, "here"), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuDeviceGetPCIBusId(id, 12, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuDeviceTotalMem_v2(&bytes, 0));
    assert_int_equal(bytes, (size_t)16 << 30);
    OK(cu.cuDeviceCanAccessPeer(&can, 0, 1));
    assert_int_equal(can, 0);
}

/* ---- Contexts ---- */

static void a_primary_context_lives_while_it_is_retained(void **state)
{
    CUcontext first, second, current = NULL;
    CUdevice device = -1;
    unsigned flags;
    int active = -1;

    (void)state;
    FAILS(cu.cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
    OK(cu.cuDevicePrimaryCtxRetain(&first, 0));
    OK(cu.cuDevicePrimaryCtxRetain(&second, 0));
    assert_ptr_equal(first, second);
    OK(cu.cuCtxPushCurrent_v2(first));
    OK(cu.cuDevicePrimaryCtxRelease_v2(0));
    OK(cu.cuCtxGetDevice(&device));
    assert_int_equal(device, 0);
    OK(cu.cuDevicePrimaryCtxRelease_v2(0));
    OK(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    assert_int_equal(active, 0);
    device = -1;
    OK(cu.cuCtxGetDevice(&device)); /* though it is no more */
    assert_int_equal(device, 0);
    FAILS(cu.cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    OK(cu.cuCtxGetCurrent(&current));
    assert_ptr_equal(current, first);
    OK(cu.cuCtxPushCurrent_v2(first));
    FAILS(cu.cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    OK(cu.cuCtxPopCurrent_v2(NULL));
    OK(cu.cuCtxSetCurrent(first));
    FAILS(cu.cuCtxPushCurrent_v2(NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuDevicePrimaryCtxRetain(&second, 0));
    assert_ptr_equal(first, second);
    OK(cu.cuCtxGetDevice(&device));
    OK(cu.cuCtxPopCurrent_v2(NULL));
    OK(cu.cuDevicePrimaryCtxRelease_v2(0));
    FAILS(cu.cuDevicePrimaryCtxRetain(&first, 99), CUDA_ERROR_INVALID_DEVICE);
    FAILS(cu.cuDevicePrimaryCtxRetain(NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

static void contexts_are_a_stack(void **state)
{
    CUcontext outer, inner, current = NULL;
    CUdevice device = -1;

    (void)state;
    OK(cu.cuCtxGetCurrent(&current));
    assert_null(current);
    FAILS(cu.cuCtxPopCurrent_v2(&current), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cu.cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
    OK(cu.cuDevicePrimaryCtxRetain(&outer, 0));
    OK(cu.cuCtxPushCurrent_v2(outer));
    OK(cu.cuCtxCreate_v2(&inner, 0, 0));
    OK(cu.cuCtxGetCurrent(&current));
    assert_ptr_equal(current, inner);
    OK(cu.cuCtxPopCurrent_v2(&current));
    assert_ptr_equal(current, inner);
    OK(cu.cuCtxSetCurrent(inner)); /* replaces the top */
    OK(cu.cuCtxPopCurrent_v2(NULL));
    FAILS(cu.cuCtxPopCurrent_v2(NULL), CUDA_ERROR_INVALID_CONTEXT);
    OK(cu.cuCtxSetCurrent(inner));
    OK(cu.cuCtxDestroy_v2(inner)); /* and pops it, since it is current */
    OK(cu.cuCtxGetCurrent(&current));
    assert_null(current);
    FAILS(cu.cuCtxDestroy_v2(outer), CUDA_ERROR_INVALID_CONTEXT); /* a primary one */
    OK(cu.cuCtxSetCurrent(NULL));
    OK(cu.cuDevicePrimaryCtxRelease_v2(0));
    only_on_the_fake(); /* a real driver looks into what was freed */
    FAILS(cu.cuCtxSetCurrent(inner), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cu.cuCtxDestroy_v2(inner), CUDA_ERROR_INVALID_CONTEXT);
}

static void what_was_made_in_a_context_goes_with_it(void **state)
{
    CUfunction function;
    CUcontext context;
    CUmodule module;
    CUstream stream;
    CUevent event;

    (void)state;
    OK(cu.cuCtxCreate_v2(&context, 0, 0));
    module = driver_module();
    function = driver_function(module, "plain");
    driver_memory(100);
    OK(cu.cuStreamCreate(&stream, 0));
    OK(cu.cuEventCreate(&event, 0));
    OK(cu.cuCtxDestroy_v2(context));
    only_on_the_fake(); /* a real driver looks into what was freed */
    FAILS(cu.cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
          CUDA_ERROR_INVALID_HANDLE);
    FAILS(cu.cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cu.cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
}

static void *current_of_this_thread(void *unused)
{
    CUcontext context = NULL;

    (void)unused;
    cu.cuCtxGetCurrent(&context);
    return context;
}

static void each_thread_has_its_own_current_context(void **state)
{
    CUcontext mine = NULL;
    pthread_t thread;
    void *others = &thread;

    OK(cu.cuCtxGetCurrent(&mine));
    assert_ptr_equal(mine, *state);
    assert_int_equal(pthread_create(&thread, NULL, current_of_this_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, &others), 0);
    assert_null(others);
}

static void limits_and_flags_are_kept(void **state)
{
    size_t value = 0;
    unsigned flags = 99;
    int least = -1, greatest = 1;

    (void)state;
    OK(cu.cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    assert_int_equal(value, 1024);
    OK(cu.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    OK(cu.cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    assert_int_equal(value, 4096);
    FAILS(cu.cuCtxGetLimit(&value, 1000), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuCtxGetFlags(&flags));
    OK(cu.cuCtxGetStreamPriorityRange(&least, &greatest));
    assert_int_equal(least, 0);
    assert_true(greatest < 0);
    OK(cu.cuCtxSynchronize());
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_before_init_are_refused), /* must be the first */
        cmocka_unit_test(errors_have_names_and_words),
        cmocka_unit_test(devices_are_those_asked_for),
        cmocka_unit_test(attributes_are_those_of_an_h200),
        cmocka_unit_test(devices_have_identities),
        cmocka_unit_test(a_primary_context_lives_while_it_is_retained),
        cmocka_unit_test(contexts_are_a_stack),
        IN_CONTEXT(what_was_made_in_a_context_goes_with_it),
        IN_CONTEXT(each_thread_has_its_own_current_context),
        IN_CONTEXT(limits_and_flags_are_kept),
    };

    setenv("LATHE_EMU_ARCH", "sm_90a, sm_80", 1);
    if (argc != 2 || driver_open(argv[1]))
        return 2;
    return cmocka_run_group_tests_name("emulator driver context", tests, NULL, NULL);
}
