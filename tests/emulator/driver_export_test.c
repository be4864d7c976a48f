/* driver_export_test.c: what the library shows, cuGetProcAddress, the environment. Argument: the
 * library. Every test before main()'s cuInit has a process of its own. */
#include "tests/emulator/driver_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *library;

/* ---- Symbols ---- */

static bool begins_with(const char *word, const char *start)
{
    return strncmp(word, start, strlen(start)) == 0;
}

/* cu... and emu_... of emulator.h alone, or a program's own names could be taken for ours. */
static void nothing_else_is_exported(void **state)
{
    static const char *const ours[] = {
        "emu_last_report",     "emu_set_seed",      "emu_set_threads", "emu_set_exact",
        "emu_set_limits",      "emu_set_check",     "emu_check",       "emu_findings",
        "emu_forget_findings", "emu_finding_words", "emu_set_trace",   "emu_events",
        "emu_trace_total",     "emu_forget_events"};
    char line[512], word[256];
    int symbols = 0, strangers = 0;
    FILE *nm;

    (void)state;
    only_on_the_fake();
    snprintf(line, sizeof line, "nm -D --defined-only --format=posix '%s' 2>/dev/null", library);
    nm = popen(line, "r");
    assert_non_null(nm);
    while (fgets(line, sizeof line, nm)) {
        bool is_known;

        if (sscanf(line, "%255s", word) != 1)
            continue;
        is_known = begins_with(word, "cu") || begins_with(word, "fake_");
        for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
            is_known |= strcmp(word, ours[i]) == 0;
        if (!is_known) {
            print_error("%s is exported\n", word);
            strangers++;
        }
        symbols++;
    }
    pclose(nm);
    if (symbols == 0)
        skip(); /* no nm here */
    assert_true(symbols > 200);
    assert_int_equal(strangers, 0);
}

static void *found(const char *name, int version, uint64_t flags)
{
    CUdriverProcAddressQueryResult status = -1;
    void *function = &status;

    OK(cu.cuGetProcAddress_v2(name, &function, version, flags, &status));
    assert_int_equal(status, function ? CU_GET_PROC_ADDRESS_SUCCESS : status);
    return function;
}

static void functions_are_found_by_name_and_version(void **state)
{
    CUdriverProcAddressQueryResult status = -1;
    void *function = &status;

    (void)state;
    assert_ptr_equal(found("cuInit", 13000, 0), driver_symbol("cuInit"));
    assert_ptr_equal(found("cuMemAlloc", 13000, 0), driver_symbol("cuMemAlloc_v2"));
    assert_ptr_equal(found("cuMemAlloc", 3020, 0), driver_symbol("cuMemAlloc_v2"));
    assert_ptr_equal(found("cuCtxCreate", 11030, 0), driver_symbol("cuCtxCreate_v2"));
    assert_ptr_equal(found("cuCtxCreate", 12040, 0), driver_symbol("cuCtxCreate_v3"));
    assert_ptr_equal(found("cuCtxCreate", 13000, 0), driver_symbol("cuCtxCreate_v4"));
    assert_ptr_equal(found("cuGetProcAddress", 11030, 0), driver_symbol("cuGetProcAddress"));
    assert_ptr_equal(found("cuGetProcAddress", 12000, 0), driver_symbol("cuGetProcAddress_v2"));
    assert_non_null(found("cuGraphInstantiate", 12000, 0));
    assert_ptr_equal(found("cuLaunchKernel", 13000, 0), driver_symbol("cuLaunchKernel"));
    assert_ptr_equal(found("cuLaunchKernel", 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM),
                     driver_symbol("cuLaunchKernel"));
    assert_ptr_equal(found("cuLaunchKernel", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM),
                     driver_symbol("cuLaunchKernel_ptsz"));
    assert_ptr_equal(found("cuMemcpyDtoH", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM),
                     driver_symbol("cuMemcpyDtoH_v2_ptds"));
    assert_ptr_equal(found("cuInit", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM),
                     driver_symbol("cuInit"));

    OK(cu.cuGetProcAddress_v2("cuNothing", &function, 13000, 0, &status));
    assert_null(function);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    OK(cu.cuGetProcAddress_v2("cuTensorMapEncodeTiled", &function, 11080, 0, &status));
    assert_null(function);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    OK(cu.cuGetProcAddress_v2("cuNothing", &function, 13000, 0, NULL));
    assert_null(function);
    only_on_the_fake(); /* a real one has an entry of its own, and private tables */
    assert_ptr_equal(found("cuGraphInstantiate", 12000, 0),
                     driver_symbol("cuGraphInstantiateWithFlags"));
    FAILS(cu.cuGetExportTable((const void **)&function, &(CUuuid){"no such table"}),
          CUDA_ERROR_NOT_FOUND);
    assert_non_null(strstr(emulator.last_report(), "run-time library"));
    FAILS(cu.cuGetProcAddress("cuNothing", &function, 13000, 0), CUDA_ERROR_NOT_FOUND);
    FAILS(cu.cuGetProcAddress_v2(NULL, &function, 13000, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuGetProcAddress_v2("cuInit", NULL, 13000, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuGetProcAddress_v2("cuInit", &function, 13000, 3, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuGetProcAddress_v2("cuInit", &function, 999990, 0, NULL), CUDA_ERROR_INVALID_VALUE);
}

/* ---- The environment ---- */

/* What cuInit finds with the variables so; the exit status of a child of its own. */
static int in_child(const char *arch, const char *sms, int (*look)(void))
{
    int status = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        if (arch)
            setenv("LATHE_EMU_ARCH", arch, 1);
        if (sms)
            setenv("LATHE_EMU_SMS", sms, 1);
        _exit(look());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int result_of_init(void)
{
    CUresult result = cu.cuInit(0);

    /* It says why. */
    return result == CUDA_ERROR_NO_DEVICE && strstr(emulator.last_report(), "LATHE_EMU_") ? 100
                                                                                          : result;
}

static int count_devices(void)
{
    int count = -1;

    return cu.cuInit(0) || cu.cuDeviceGetCount(&count) ? 99 : count;
}

static int multiprocessors_of_the_last(void)
{
    int count = 0, value = -1;

    if (cu.cuInit(0) || cu.cuDeviceGetCount(&count) ||
        cu.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, count - 1))
        return 99;
    return value;
}

static int capability_of_the_second(void)
{
    int major = 0, minor = 0;

    if (cu.cuInit(0) || cu.cuDeviceComputeCapability(&major, &minor, 1))
        return 99;
    return 10 * major + minor;
}

static void the_environment_chooses_the_devices(void **state)
{
    (void)state;
    only_on_the_fake();
    assert_int_equal(in_child("sm_90a", NULL, count_devices), 1);
    assert_int_equal(in_child("sm_90", NULL, count_devices), 1);
    assert_int_equal(in_child("sm_100a,sm_90a", NULL, count_devices), 2);
    assert_int_equal(in_child("sm_100a,sm_90a", NULL, capability_of_the_second), 90);
    assert_int_equal(in_child(" sm_90a  sm_103a,", NULL, capability_of_the_second), 103);
    assert_int_equal(in_child("sm_90a,sm_90a", NULL, capability_of_the_second), 90);
    assert_int_equal(in_child("sm_9", NULL, result_of_init), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(in_child("sm_90aa", NULL, result_of_init), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(in_child("sm_90a,hopper", NULL, result_of_init), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(in_child("", NULL, count_devices), 7);
    assert_int_equal(in_child(NULL, NULL, count_devices), 7);
    assert_int_equal(in_child(NULL, "3", multiprocessors_of_the_last), 3);
    assert_int_equal(in_child(NULL, "", multiprocessors_of_the_last), 170);
    assert_int_equal(in_child(NULL, "0", result_of_init), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(in_child(NULL, "-1", result_of_init), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(in_child(NULL, "4x", result_of_init), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(in_child(NULL, "99999999999999999999", result_of_init), CUDA_ERROR_NO_DEVICE);
}

/* Of a launch that nobody asked anything for; what the program asks for goes before. */
static int threads_of_a_launch(void)
{
    CUcontext context;
    CUfunction function;
    int threads;

    if (cu.cuInit(0) || cu.cuDevicePrimaryCtxRetain(&context, 0) || cu.cuCtxSetCurrent(context))
        return 99;
    function = driver_function(driver_module(), "plain");
    if (cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL))
        return 99;
    threads = (int)fake.last()->threads;
    emulator.set_threads(7);
    if (cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) ||
        fake.last()->threads != 7)
        return 99;
    emulator.set_threads(0);
    if (cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) ||
        (int)fake.last()->threads != threads)
        return 99;
    return threads;
}

static void the_environment_or_the_program_says_how_many_threads(void **state)
{
    (void)state;
    only_on_the_fake();
    assert_int_equal(in_child(NULL, NULL, threads_of_a_launch), 0);
    setenv("LATHE_EMU_THREADS", "3", 1);
    assert_int_equal(in_child(NULL, NULL, threads_of_a_launch), 3);
    setenv("LATHE_EMU_THREADS", "", 1);
    assert_int_equal(in_child(NULL, NULL, threads_of_a_launch), 0);
    setenv("LATHE_EMU_THREADS", "0", 1);
    assert_int_equal(in_child(NULL, NULL, result_of_init), 100);
    setenv("LATHE_EMU_THREADS", "two", 1);
    assert_int_equal(in_child(NULL, NULL, result_of_init), 100);
    unsetenv("LATHE_EMU_THREADS");
}

static int check_mode_after_init(void)
{
    return cu.cuInit(0) ? -1 : emulator.check();
}

static int check_mode_of_the_program(void)
{
    return emulator.set_check(1) && cu.cuInit(0) == CUDA_SUCCESS ? emulator.check() : -1;
}

static void the_environment_or_the_program_says_what_is_checked(void **state)
{
    (void)state;
    only_on_the_fake();
    assert_int_equal(emulator.check(), 0);
    assert_int_equal(in_child(NULL, NULL, check_mode_after_init), 0);
    assert_int_equal(in_child(NULL, NULL, check_mode_of_the_program), 1);
    setenv("LATHE_EMU_CHECK", "1", 1);
    assert_int_equal(in_child(NULL, NULL, check_mode_after_init), 2);
    assert_int_equal(in_child(NULL, NULL, check_mode_of_the_program), 1);
    setenv("LATHE_EMU_CHECK", "0", 1);
    assert_int_equal(in_child(NULL, NULL, check_mode_after_init), 0);
    setenv("LATHE_EMU_CHECK", "yes", 1); /* which is not to be taken for no */
    assert_int_equal(in_child(NULL, NULL, result_of_init), 100);
    unsetenv("LATHE_EMU_CHECK");
    assert_false(emulator.set_check(3));
    assert_false(emulator.set_check(-1));
    assert_int_equal(emulator.check(), 0);
}

/* ---- The table of architectures, against that of the reference (misc.md 1) ---- */

static void every_architecture_has_a_device(void **state)
{
    static const struct {
        int capability, shared_kb, optin_kb, threads, blocks, clusters;
    } wanted[] = {
        {80, 164, 163, 2048, 32, 0}, {86, 100, 99, 1536, 16, 0},   {89, 100, 99, 1536, 24, 0},
        {90, 228, 227, 2048, 32, 1}, {100, 228, 227, 2048, 32, 1}, {103, 228, 227, 2048, 32, 1},
        {120, 100, 99, 1536, 24, 1},
    };
    int count = 0, value = 0, all = 0;

    (void)state;
    only_on_the_fake();
    OK(cu.cuInit(0));
    OK(cu.cuDeviceGetCount(&count));
    assert_int_equal(count, 7);
    for (int i = 0; i < count; i++) {
        const struct {
            CUdevice_attribute attribute;
            int value;
        } rows[] = {
            {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, wanted[i].capability / 10},
            {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, wanted[i].capability % 10},
            {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, wanted[i].shared_kb * 1024},
            {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, wanted[i].optin_kb * 1024},
            {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
            {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, wanted[i].threads},
            {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, wanted[i].blocks},
            {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, wanted[i].clusters},
            {CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, wanted[i].clusters},
        };

        for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++) {
            OK(cu.cuDeviceGetAttribute(&value, rows[j].attribute, i));
            assert_int_equal(value, rows[j].value);
        }
        for (int attribute = 1; attribute < 200; attribute++)
            all += cu.cuDeviceGetAttribute(&value, attribute, i) == CUDA_SUCCESS;
    }
    assert_int_equal(all, 7 * 147); /* CUDA 13.0 has the numbers 1 to 147 */
}

static void older_devices_have_no_clusters_and_no_tensor_maps(void **state)
{
    const uint64_t dims[2] = {64, 32}, strides[1] = {128};
    const uint32_t box[2] = {64, 8}, ones[2] = {1, 1};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value.clusterDim = {2, 1, 1}};
    CUlaunchConfig config = {2, 1, 1, 32, 1, 1, 0, NULL, &attribute, 1};
    CUtensorMap map;
    CUmodule module;
    int size;

    (void)state; /* sm_80 is current */
    only_on_the_fake();
    module = driver_module();
    FAILS(cu.cuLaunchKernelEx(&config, driver_function(module, "plain"), NULL, NULL),
          CUDA_ERROR_INVALID_CLUSTER_SIZE);
    FAILS(cu.cuOccupancyMaxPotentialClusterSize(&size, driver_function(module, "plain"), &config),
          CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cu.cuTensorMapEncodeTiled(&map, 6, 2, (void *)0x10000, dims, strides, box, ones, 0, 0, 0,
                                    0),
          CUDA_ERROR_NOT_SUPPORTED);
    OK(cu.cuModuleUnload(module));
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_else_is_exported),
        cmocka_unit_test(functions_are_found_by_name_and_version),
        cmocka_unit_test(the_environment_chooses_the_devices),
        cmocka_unit_test(the_environment_or_the_program_says_how_many_threads),
        cmocka_unit_test(the_environment_or_the_program_says_what_is_checked),
        cmocka_unit_test(every_architecture_has_a_device),
        IN_CONTEXT(older_devices_have_no_clusters_and_no_tensor_maps),
    };

    unsetenv("LATHE_EMU_ARCH");
    unsetenv("LATHE_EMU_SMS");
    unsetenv("LATHE_EMU_THREADS");
    unsetenv("LATHE_EMU_CHECK");
    if (argc != 2 || driver_open(argv[1]))
        return 2;
    library = argv[1];
    return cmocka_run_group_tests_name("emulator driver export", tests, NULL, NULL);
}
