#include "runtime/driver.h"

#include "codegen/status.h"

#include <string.h>

/* CUDA 12.0: the first with cuLaunchKernelEx, clusters and cuTensorMapEncodeTiled. */
enum { LEAST_VERSION = 12000 };

static const char install_hint[] = "install NVIDIA's driver for CUDA 12.0 or newer (R525)";

/* The name of the first function that the library lacks, or null. */
static const char *load_functions(struct lt_driver *driver)
{
    const struct lt_library_function functions[] = {
#define LT_CU(name, symbol, arguments) {symbol, &driver->name},
#include "runtime/driver.def"
#undef LT_CU
    };

    return lt_library_load(&driver->library, functions, sizeof functions / sizeof functions[0],
                           NULL);
}

static enum lathe_status refuse_old(const struct lt_driver *driver, const char *missing,
                                    struct lathe_error *err)
{
    int version = 0;

    if (driver->cuDriverGetVersion(&version) != LT_CUDA_SUCCESS)
        version = 0;
    return lt_fail(err, LATHE_NO_DRIVER, "the driver %.200s is for CUDA %d.%d%s%s, too old; %s",
                   driver->library.found, version / 1000, version % 1000 / 10,
                   missing ? " and has no " : "", missing ? missing : "", install_hint);
}

/* What only the emulator has. The names are those of its own header, emulator.h. */
static void load_emulator_functions(struct lt_driver *driver)
{
    const struct lt_library_function functions[] = {{"emu_last_report", &driver->emu_last_report}};

    lt_library_load(&driver->library, functions, sizeof functions / sizeof functions[0], NULL);
}

static enum lathe_status start(struct lt_driver *driver, const struct lt_library_search *search,
                               struct lathe_error *err)
{
    const char *missing = load_functions(driver);

    if (missing && !driver->cuDriverGetVersion)
        return lt_library_refuse(&driver->library, search, missing, err);
    if (missing)
        return refuse_old(driver, missing, err);

    load_emulator_functions(driver);

    int result = driver->cuInit(0);

    /* The emulator has no device where its environment makes no sense, and says so. */
    if (result == LT_CUDA_ERROR_NO_DEVICE && driver->emu_last_report)
        return lt_fail(err, LATHE_BAD_WORD, "%s", driver->emu_last_report());
    if (result == LT_CUDA_ERROR_NO_DEVICE)
        return lt_fail(err, LATHE_NO_DEVICE, "the driver %.200s finds no GPU (cuInit: no device)",
                       driver->library.found);
    if (result != LT_CUDA_SUCCESS)
        return lt_driver_check(driver, result, "cuInit", err);
    if (driver->cuDriverGetVersion(&driver->version) != LT_CUDA_SUCCESS ||
        driver->version < LEAST_VERSION)
        return refuse_old(driver, NULL, err);
    return LATHE_OK;
}

static enum lathe_status open_as(struct lt_driver *driver, const struct lt_library_search *search,
                                 struct lathe_error *err)
{
    enum lathe_status status;

    memset(driver, 0, sizeof *driver);
    status = lt_library_open(&driver->library, search, err);
    if (status == LATHE_OK)
        status = start(driver, search, err);
    if (status != LATHE_OK)
        lt_driver_close(driver);
    return status;
}

enum lathe_status lt_driver_open(struct lt_driver *driver, const char *path,
                                 struct lathe_error *err)
{
    static const char *const names[] = {"libcuda.so.1", NULL};
    const struct lt_library_search search = {
        .title = "CUDA driver",
        .install = install_hint,
        .status = LATHE_NO_DRIVER,
        .path = path,
        .names = names,
    };

    return open_as(driver, &search, err);
}

enum lathe_status lt_driver_open_emulator(struct lt_driver *driver, const char *path,
                                          struct lathe_error *err)
{
    const struct lt_library_search search = {
        .title = "emulator",
        .install = "it is built and installed with Lathe; LATHE_EMU_LIBRARY names another",
        .status = LATHE_NO_DRIVER,
        .path = path,
    };
    enum lathe_status status = open_as(driver, &search, err);

    if (status == LATHE_OK && !driver->emu_last_report) {
        lt_driver_close(driver);
        return lt_fail(err, LATHE_NO_DRIVER, "no emulator: %.300s is the driver of a GPU", path);
    }
    return status;
}

void lt_driver_close(struct lt_driver *driver)
{
    memset(driver, 0, sizeof *driver);
}

/* A deadlock's report has a line for each that waits. */
static const char *in_one_line(const char *text, char line[LATHE_MESSAGE_SIZE])
{
    size_t length = 0;

    for (; *text && length + 2 < LATHE_MESSAGE_SIZE; text++) {
        if (*text != '\n') {
            line[length++] = *text;
            continue;
        }
        line[length++] = ';';
        while (text[1] == ' ' && text[2] == ' ')
            text++;
    }
    line[length] = '\0';
    return line;
}

enum lathe_status lt_driver_check(const struct lt_driver *driver, int result, const char *call,
                                  struct lathe_error *err)
{
    const char *name = NULL, *text = NULL;
    char report[LATHE_MESSAGE_SIZE];

    if (result == LT_CUDA_SUCCESS)
        return LATHE_OK;
    if (driver->cuGetErrorName(result, &name) != LT_CUDA_SUCCESS || !name)
        name = "unknown error";
    if (driver->cuGetErrorString(result, &text) != LT_CUDA_SUCCESS || !text)
        text = "no description";
    if (driver->emu_last_report && driver->emu_last_report()[0])
        text = in_one_line(driver->emu_last_report(), report);
    return lt_fail(
        err, result == LT_CUDA_ERROR_OUT_OF_MEMORY ? LATHE_OUT_OF_MEMORY : LATHE_DRIVER_FAILED,
        "%s: %s (%d): %s", call, name, result, text);
}
