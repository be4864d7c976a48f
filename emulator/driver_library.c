/* driver_library.c: libraries and kernels: modules and functions that are of no context yet. */
#include "emulator/driver_image.h"
#include "emulator/driver_state.h"
#include "emulator/driver_work.h"

#include <stdlib.h>
#include <string.h>

/* Independent of contexts: each context in which it is used gets a module of its own. */
struct emu_cu_library {
    struct emu_cu_object object;
    char *text;
    int ptx_version;
    struct emu_cu_kernel *kernels;
};

struct emu_cu_kernel {
    struct emu_cu_object object;
    struct emu_cu_library *library;
    struct emu_cu_kernel *next;
    char *name;
};

/* ---- Libraries ---- */

void emu_cu_release_kernel(struct emu_cu_kernel *kernel)
{
    free(kernel->name);
}

void emu_cu_release_library(struct emu_cu_library *library)
{
    struct emu_cu_module *module;
    size_t at = 0;

    while ((module = emu_cu_next(EMU_CU_MODULE, NULL, &at)) != NULL)
        if (module->library == library)
            emu_cu_destroy(module);
    while (library->kernels) {
        struct emu_cu_kernel *kernel = library->kernels;

        library->kernels = kernel->next;
        emu_cu_destroy(kernel);
    }
    free(library->text);
}

/* Nothing is read yet but what it is: a driver 580 on an H200 takes any text that begins like PTX,
 * and what is wrong with it shows where it is used. */
CUresult emu_cu_library_load(CUlibrary *handle, const void *image, CUjit_option *options,
                             void **values, unsigned count, CUlibraryOption *library_options,
                             void **library_values, unsigned library_count)
{
    struct emu_cu_library *library;
    struct emu_cu_log log;
    CUresult result;
    int version;
    char *text;

    if (!handle || (library_count > 0 && (!library_options || !library_values)))
        return CUDA_ERROR_INVALID_VALUE;
    result = emu_cu_log_init(&log, count, options, values);
    if (!result)
        result = emu_cu_image_copy(&text, &version, image);
    if (result)
        return result;
    library = emu_cu_create(EMU_CU_LIBRARY, sizeof *library, NULL);
    if (!library) {
        free(text);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    emu_cu_log_write(&log, "");
    library->text = text;
    library->ptx_version = version;
    *handle = library->object.handle;
    return CUDA_SUCCESS;
}

CUresult emu_cu_library_load_file(CUlibrary *handle, const char *path, CUjit_option *options,
                                  void **values, unsigned count, CUlibraryOption *library_options,
                                  void **library_values, unsigned library_count)
{
    char *content;
    CUresult result;

    if (!handle || !path)
        return CUDA_ERROR_INVALID_VALUE;
    result = emu_cu_image_read(&content, path);
    if (result)
        return result;
    result = emu_cu_library_load(handle, content, options, values, count, library_options,
                                 library_values, library_count);
    free(content);
    return result;
}

CUresult emu_cu_library_unload(CUlibrary handle)
{
    struct emu_cu_library *library = emu_cu_find(EMU_CU_LIBRARY, handle);

    if (!library)
        return CUDA_ERROR_INVALID_HANDLE;
    emu_cu_destroy(library);
    return CUDA_SUCCESS;
}

/* What the library is in the current context; loaded there if it was not. */
static CUresult module_of(struct emu_cu_module **module, struct emu_cu_library *library)
{
    const struct emu_cu_log no_log = {0};
    size_t at = 0;
    CUresult result;
    char *text;

    while ((*module = emu_cu_next(EMU_CU_MODULE, emu_cu_current(), &at)) != NULL)
        if ((*module)->library == library)
            return CUDA_SUCCESS;
    text = strdup(library->text);
    if (!text)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = emu_cu_module_make(module, text, library->ptx_version, &no_log);
    if (!result)
        (*module)->library = library;
    return result;
}

CUresult emu_cu_library_module(CUmodule *handle, CUlibrary library_handle)
{
    struct emu_cu_library *library = emu_cu_find(EMU_CU_LIBRARY, library_handle);
    struct emu_cu_module *module;
    CUresult result;

    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    if (!library)
        return CUDA_ERROR_INVALID_HANDLE;
    result = module_of(&module, library);
    if (!result)
        *handle = module->object.handle;
    return result;
}

CUresult emu_cu_library_global(CUdeviceptr *pointer, size_t *bytes, CUlibrary library_handle,
                               const char *name)
{
    CUmodule module;
    CUresult result = emu_cu_library_module(&module, library_handle);

    return result ? result : emu_cu_module_global(pointer, bytes, module, name);
}

/* ---- Kernels ---- */

static CUresult make_kernel(struct emu_cu_kernel **made, struct emu_cu_library *library,
                            const char *name)
{
    struct emu_cu_kernel *kernel;

    for (kernel = library->kernels; kernel; kernel = kernel->next)
        if (strcmp(kernel->name, name) == 0) {
            *made = kernel;
            return CUDA_SUCCESS;
        }
    kernel = emu_cu_create(EMU_CU_KERNEL, sizeof *kernel, NULL);
    if (!kernel)
        return CUDA_ERROR_OUT_OF_MEMORY;
    kernel->name = strdup(name);
    if (!kernel->name) {
        emu_cu_destroy(kernel);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    kernel->library = library;
    kernel->next = library->kernels;
    library->kernels = kernel;
    *made = kernel;
    return CUDA_SUCCESS;
}

struct kernel_list {
    struct emu_cu_library *library;
    CUkernel *kernels;  /* to be filled, or null */
    const char *wanted; /* or null */
    CUkernel found;
};

static CUresult list_kernel(void *user, unsigned index, const char *name)
{
    struct kernel_list *list = user;
    struct emu_cu_kernel *kernel;
    CUresult result;

    if (list->wanted && strcmp(list->wanted, name) != 0)
        return CUDA_SUCCESS;
    result = make_kernel(&kernel, list->library, name);
    if (result)
        return result;
    if (list->kernels)
        list->kernels[index] = kernel->object.handle;
    list->found = kernel->object.handle;
    return CUDA_SUCCESS;
}

CUresult emu_cu_library_kernel(CUkernel *handle, CUlibrary library, const char *name)
{
    struct kernel_list list = {emu_cu_find(EMU_CU_LIBRARY, library), NULL, name, NULL};
    unsigned there;
    CUresult result;

    if (!handle || !name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!list.library)
        return CUDA_ERROR_INVALID_HANDLE;
    result = emu_cu_image_entries(&there, list.library->text, UINT32_MAX, list_kernel, &list);
    if (result)
        return result;
    if (!list.found)
        return CUDA_ERROR_NOT_FOUND;
    *handle = list.found;
    return CUDA_SUCCESS;
}

CUresult emu_cu_library_kernel_count(unsigned *count, CUlibrary handle)
{
    const struct emu_cu_library *library = emu_cu_find(EMU_CU_LIBRARY, handle);

    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    return library ? emu_cu_image_entries(count, library->text, 0, NULL, NULL)
                   : CUDA_ERROR_INVALID_HANDLE;
}

CUresult emu_cu_library_kernels(CUkernel *kernels, unsigned count, CUlibrary handle)
{
    struct kernel_list list = {emu_cu_find(EMU_CU_LIBRARY, handle), kernels, NULL, NULL};
    unsigned there;

    if (!kernels || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!list.library)
        return CUDA_ERROR_INVALID_HANDLE;
    return emu_cu_image_entries(&there, list.library->text, count, list_kernel, &list);
}

static CUresult function_of(struct emu_cu_function **function, CUkernel handle)
{
    const struct emu_cu_kernel *kernel = emu_cu_find(EMU_CU_KERNEL, handle);
    struct emu_cu_module *module;
    CUresult result;

    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    result = module_of(&module, kernel->library);
    return result ? result : emu_cu_module_named(function, module, kernel->name);
}

CUresult emu_cu_function_find(struct emu_cu_function **function, CUfunction handle)
{
    *function = emu_cu_find(EMU_CU_FUNCTION, handle);
    if (!*function)
        return function_of(function, (CUkernel)(void *)handle);
    return (*function)->object.context == emu_cu_current() ? CUDA_SUCCESS
                                                           : CUDA_ERROR_INVALID_HANDLE;
}

CUresult emu_cu_kernel_function(CUfunction *handle, CUkernel kernel)
{
    struct emu_cu_function *function;
    CUresult result;

    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    result = function_of(&function, kernel);
    if (!result)
        *handle = function->object.handle;
    return result;
}

CUresult emu_cu_kernel_library(CUlibrary *library, CUkernel handle)
{
    const struct emu_cu_kernel *kernel = emu_cu_find(EMU_CU_KERNEL, handle);

    if (!library)
        return CUDA_ERROR_INVALID_VALUE;
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    *library = kernel->library->object.handle;
    return CUDA_SUCCESS;
}

CUresult emu_cu_kernel_name(const char **name, CUkernel handle)
{
    const struct emu_cu_kernel *kernel = emu_cu_find(EMU_CU_KERNEL, handle);

    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    *name = kernel->name;
    return CUDA_SUCCESS;
}

/* A kernel has its attributes for each device; the emulator knows those of the current context. */
static CUresult check_device(CUdevice device)
{
    if (!emu_cu_gpu_of(device))
        return CUDA_ERROR_INVALID_DEVICE;
    return emu_cu_current()->gpu->ordinal == device ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult emu_cu_kernel_attribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
                                 CUdevice device)
{
    CUresult result = check_device(device);

    return result ? result
                  : emu_cu_function_attribute(value, attribute, (CUfunction)(void *)kernel);
}

CUresult emu_cu_kernel_set_attribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                                     CUdevice device)
{
    CUresult result = check_device(device);

    return result ? result
                  : emu_cu_function_set_attribute((CUfunction)(void *)kernel, attribute, value);
}

CUresult emu_cu_kernel_set_cache(CUkernel kernel, CUfunc_cache config, CUdevice device)
{
    CUresult result = check_device(device);

    return result ? result : emu_cu_function_set_cache((CUfunction)(void *)kernel, config);
}

CUresult emu_cu_kernel_param(CUkernel kernel, size_t index, size_t *offset, size_t *bytes)
{
    return emu_cu_function_param((CUfunction)(void *)kernel, index, offset, bytes);
}
