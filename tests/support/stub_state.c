/* stub_state.c: the stub's state: its lock, how it is set up, and every call counted, failed on
 * demand and logged. Objects are in stub_objects.c. */
#include "tests/support/stub_state.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stub_state stub;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static const struct {
    const char *symbol;
    enum { NOTHING, INIT, CONTEXT, WAITS } needs;
} call_table[STUB_CALL_COUNT] = {
#define STUB_CALL(symbol, since, needs) {#symbol, needs},
#include "tests/support/stub_calls.def"
#undef STUB_CALL
};

static const struct stub_device h200 = {
    .name = "NVIDIA H200",
    .major = 9,
    .minor = 0,
    .sms = 132,
    .optin_bytes = 232448,
    .l2_bytes = 60 << 20,
    .clock_khz = 1980000,
    .memory_bytes = (size_t)140 << 30,
};

void stub_die(const char *format, ...)
{
    va_list arguments;

    fputs("stub driver: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    abort();
}

void *stub_grow(void *array, size_t count, size_t *capacity, size_t item_bytes)
{
    size_t larger = *capacity != 0 ? *capacity * 2 : 16;
    void *grown;

    if (count < *capacity)
        return array;
    grown = realloc(array, larger * item_bytes);
    if (grown != NULL)
        *capacity = larger;
    return grown;
}

/* ---- The environment ------------------------------------------------------------------------- */

static enum stub_call call_named(const char *symbol)
{
    for (int i = 0; i < STUB_CALL_COUNT; i++)
        if (strcmp(symbol, call_table[i].symbol) == 0)
            return (enum stub_call)i;
    stub_die("it plays no %s", symbol);
}

static void add_rule(const char *symbol, int result, int after, int times)
{
    if (stub.rule_count == STUB_RULES_MAX)
        stub_die("more than %d rules of failure", STUB_RULES_MAX);
    stub.rules[stub.rule_count++] = (struct stub_rule){call_named(symbol), result, after, times};
}

static long long number_or_die(const char *name, const char *text, long long low, long long high)
{
    char *end;
    long long value;

    errno = 0;
    value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < low || value > high)
        stub_die("%s=%s: a number from %lld to %lld is needed", name, text, low, high);
    return value;
}

static long long environment_number(const char *name, long long otherwise, long long high)
{
    const char *text = getenv(name);

    return text != NULL && text[0] != '\0' ? number_or_die(name, text, 0, high) : otherwise;
}

/* "cuModuleLoadData=200,cuMemAlloc_v2=2" */
static void read_failures(const char *list)
{
    char *words = strdup(list), *rest = NULL;

    if (words == NULL)
        stub_die("out of memory");
    for (char *word = strtok_r(words, ",", &rest); word != NULL;
         word = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(word, '=');

        if (equals == NULL)
            stub_die("STUB_FAIL=%s: SYMBOL=RESULT, separated by commas, is needed", list);
        *equals = '\0';
        add_rule(word, (int)number_or_die("STUB_FAIL", equals + 1, 1, 999), 0, STUB_ALWAYS);
    }
    free(words);
}

static void read_capability(const char *text, struct stub_device *device)
{
    int used = 0;

    if (sscanf(text, "%d.%d%n", &device->major, &device->minor, &used) != 2 || text[used] != '\0')
        stub_die("STUB_CAPABILITY=%s: such as 9.0 is needed", text);
}

static void set_up(void)
{
    const char *log = getenv("STUB_LOG"), *failures = getenv("STUB_FAIL");
    const char *capability = getenv("STUB_CAPABILITY");
    struct stub_device device = h200;

    device.sms = (int)environment_number("STUB_SMS", device.sms, 1 << 16);
    device.l2_bytes = (int)environment_number("STUB_L2", device.l2_bytes, INT32_MAX);
    device.memory_bytes =
        (size_t)environment_number("STUB_MEMORY", (long long)device.memory_bytes, INT64_MAX);
    if (capability != NULL && capability[0] != '\0')
        read_capability(capability, &device);

    stub.version = (int)environment_number("STUB_VERSION", STUB_DRIVER_VERSION, 1 << 20);
    stub.device_count = (int)environment_number("STUB_DEVICES", 1, STUB_DEVICES_MAX);
    for (int i = 0; i < STUB_DEVICES_MAX; i++)
        stub.devices[i] = device;
    stub.image_limit = (size_t)1 << 30;
    stub.elapsed_us = (int)environment_number("STUB_ELAPSED_US", 1, 1 << 30);
    if (failures != NULL)
        read_failures(failures);

    stub.log = -1;
    if (log != NULL && log[0] != '\0') {
        stub.log = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (stub.log < 0)
            stub_die("STUB_LOG=%s: %s", log, strerror(errno));
    }
    stub.ready = true;
}

static void tear_down(void)
{
    unsigned resets = stub.resets + 1;

    for (size_t i = 0; i < stub.object_count; i++) {
        if (stub.objects[i]->live)
            stub_destroy(stub.objects[i]);
        free(stub.objects[i]);
    }
    for (size_t i = 0; i < stub.launch_count; i++)
        free(stub.launches[i]);
    for (size_t i = 0; i < stub.map_count; i++)
        free(stub.maps[i]);
    free(stub.objects);
    free(stub.launches);
    free(stub.maps);
    if (stub.ready && stub.log >= 0)
        close(stub.log);
    memset(&stub, 0, sizeof stub);
    stub.resets = resets;
}

/* So that a leak checker sees the leaks of the program that was tested, and none of the stub's. */
__attribute__((destructor)) static void unload(void)
{
    tear_down();
}

void stub_lock(void)
{
    pthread_mutex_lock(&mutex);
    if (!stub.ready)
        set_up();
}

void stub_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static CUresult failure_asked_for(enum stub_call call)
{
    for (int i = 0; i < stub.rule_count; i++) {
        struct stub_rule *rule = &stub.rules[i];

        if (rule->call != call || rule->times == 0)
            continue;
        if (rule->after > 0) {
            rule->after--;
            continue;
        }
        if (rule->times > 0)
            rule->times--;
        return (CUresult)rule->result;
    }
    return CUDA_SUCCESS;
}

/* While a stream is being captured, calls that wait are refused to the thread that began it, and in
 * the global mode to all threads; they also spoil the capture. */
static CUresult check_nothing_captured(void)
{
    CUresult result = CUDA_SUCCESS;

    for (size_t i = 0; i < stub.object_count; i++) {
        struct stub_object *stream = stub.objects[i];

        if (!stream->live || stream->kind != STUB_STREAM ||
            stream->as.stream.capture == STUB_NOT_CAPTURING)
            continue;
        if (stream->as.stream.mode == CU_STREAM_CAPTURE_MODE_GLOBAL ||
            (stream->as.stream.mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL &&
             stream->as.stream.thread == stub_thread())) {
            stream->as.stream.capture = STUB_CAPTURE_INVALID;
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return result;
}

static CUresult check_needs(enum stub_call call)
{
    if (call_table[call].needs == NOTHING)
        return CUDA_SUCCESS;
    if (!stub.initialised)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (call_table[call].needs == INIT)
        return CUDA_SUCCESS;
    if (stub_current_handle() == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (stub_current() == NULL)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (call_table[call].needs == CONTEXT)
        return CUDA_SUCCESS;
    return check_nothing_captured();
}

CUresult stub_enter(enum stub_call call)
{
    CUresult result;

    stub_lock();
    stub.calls[call]++;
    result = failure_asked_for(call);
    return result != CUDA_SUCCESS ? result : check_needs(call);
}

CUresult stub_leave(enum stub_call call, CUresult result)
{
    char line[STUB_NAME_SIZE];

    if (result != CUDA_SUCCESS)
        stub.failures[call]++;
    if (stub.log >= 0) {
        int length = snprintf(line, sizeof line, "%s %d\n", call_table[call].symbol, (int)result);

        if (write(stub.log, line, (size_t)length) != length)
            stub_die("its log cannot be written: %s", strerror(errno));
    }
    stub_unlock();
    return result;
}

/* ---- Control --------------------------------------------------------------------------------- */

void stub_reset(void)
{
    stub_lock();
    tear_down();
    set_up();
    stub_unlock();
}

void stub_fail_call(const char *symbol, int result, int after, int times)
{
    stub_lock();
    add_rule(symbol, result, after, times);
    stub_unlock();
}

void stub_fail_nothing(void)
{
    stub_lock();
    stub.rule_count = 0;
    stub_unlock();
}

static int sum_or_one(const int *counts, const char *symbol)
{
    int sum = 0;

    stub_lock();
    if (symbol != NULL)
        sum = counts[call_named(symbol)];
    else
        for (int i = 0; i < STUB_CALL_COUNT; i++)
            sum += counts[i];
    stub_unlock();
    return sum;
}

int stub_calls(const char *symbol)
{
    return sum_or_one(stub.calls, symbol);
}

int stub_failures(const char *symbol)
{
    return sum_or_one(stub.failures, symbol);
}

const char *stub_symbol(int i)
{
    return i >= 0 && i < STUB_CALL_COUNT ? call_table[i].symbol : NULL;
}

void stub_set_version(int version)
{
    stub_lock();
    stub.version = version;
    stub_unlock();
}

void stub_set_device_count(int count)
{
    if (count < 0 || count > STUB_DEVICES_MAX)
        stub_die("%d devices: it plays at most %d", count, STUB_DEVICES_MAX);
    stub_lock();
    stub.device_count = count;
    stub_unlock();
}

void stub_get_device(int ordinal, struct stub_device *device)
{
    if (ordinal < 0 || ordinal >= STUB_DEVICES_MAX)
        stub_die("no device %d", ordinal);
    stub_lock();
    *device = stub.devices[ordinal];
    stub_unlock();
}

void stub_set_device(int ordinal, const struct stub_device *device)
{
    if (ordinal < 0 || ordinal >= STUB_DEVICES_MAX)
        stub_die("no device %d", ordinal);
    stub_lock();
    stub.devices[ordinal] = *device;
    stub_unlock();
}

void stub_set_image_limit(size_t bytes)
{
    stub_lock();
    stub.image_limit = bytes;
    stub_unlock();
}
