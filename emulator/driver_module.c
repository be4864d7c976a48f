/* driver_module.c: modules of PTX text, their variables and functions. */
#include "emulator/driver_image.h"
#include "emulator/driver_state.h"
#include "emulator/driver_work.h"

#include <stdlib.h>
#include <string.h>

/* ---- Modules ---- */

void emu_cu_release_module(struct emu_cu_module *module)
{
    while (module->functions) {
        struct emu_cu_function *function = module->functions;

        module->functions = function->next;
        emu_cu_destroy(function);
    }
    if (module->program)
        emu_program_unload(module->program);
    free(module->text);
}

void emu_cu_release_function(struct emu_cu_function *function)
{
    free(function->name);
}

/* Takes the text. */
CUresult emu_cu_module_make(struct emu_cu_module **made, char *text, int version,
                            const struct emu_cu_log *log)
{
    struct emu_cu_context *context = emu_cu_current();
    struct emu_cu_module *module = emu_cu_create(EMU_CU_MODULE, sizeof *module, context);
    struct emu_error error = {.line = 0};

    if (!module) {
        free(text);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    module->text = text;
    module->ptx_version = version;
    module->program = emu_program_load(context->gpu->machine, text, strlen(text), &error);
    if (!module->program) {
        emu_cu_destroy(module);
        emu_cu_log_write(log, error.message);
        return emu_cu_report(CUDA_ERROR_INVALID_PTX, "%s", error.message);
    }
    emu_cu_log_write(log, "");
    *made = module;
    return CUDA_SUCCESS;
}

CUresult emu_cu_module_load_with(CUmodule *handle, const void *image, unsigned count,
                                 CUjit_option *options, void **values)
{
    struct emu_cu_module *module;
    struct emu_cu_log log;
    CUresult result;
    int version;
    char *text;

    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    result = emu_cu_log_init(&log, count, options, values);
    if (!result)
        result = emu_cu_image_copy(&text, &version, image);
    if (!result)
        result = emu_cu_module_make(&module, text, version, &log);
    if (!result)
        *handle = module->object.handle;
    return result;
}

CUresult emu_cu_module_load(CUmodule *handle, const void *image)
{
    return emu_cu_module_load_with(handle, image, 0, NULL, NULL);
}

CUresult emu_cu_module_load_file(CUmodule *handle, const char *path)
{
    char *content;
    CUresult result;

    if (!handle || !path)
        return CUDA_ERROR_INVALID_VALUE;
    result = emu_cu_image_read(&content, path);
    if (result)
        return result;
    result = emu_cu_module_load(handle, content);
    free(content);
    return result;
}

static struct emu_cu_module *module_find(CUmodule handle)
{
    struct emu_cu_module *module = emu_cu_find(EMU_CU_MODULE, handle);

    return module && module->object.context == emu_cu_current() ? module : NULL;
}

CUresult emu_cu_module_unload(CUmodule handle)
{
    struct emu_cu_module *module = module_find(handle);

    if (!module || module->library)
        return CUDA_ERROR_INVALID_HANDLE;
    emu_cu_destroy(module);
    return CUDA_SUCCESS;
}

CUresult emu_cu_module_loading_mode(CUmoduleLoadingMode *mode)
{
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

CUresult emu_cu_module_global(CUdeviceptr *pointer, size_t *bytes, CUmodule handle,
                              const char *name)
{
    const struct emu_cu_module *module = module_find(handle);
    uint64_t address, length;

    if (!name || (!pointer && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    /* A kernel's name is wrong, not missing, as a driver 580 on an H200 sees it. */
    if (!emu_program_variable(module->program, name, &address, &length))
        return emu_program_entry(module->program, name) >= 0 ? CUDA_ERROR_INVALID_VALUE
                                                             : CUDA_ERROR_NOT_FOUND;
    if (pointer)
        *pointer = address;
    if (bytes)
        *bytes = length;
    return CUDA_SUCCESS;
}

/* ---- Functions of a module ---- */

static CUresult make_function(struct emu_cu_function **made, struct emu_cu_module *module,
                              int entry, const char *name)
{
    struct emu_cu_function *function =
        emu_cu_create(EMU_CU_FUNCTION, sizeof *function, module->object.context);

    if (!function)
        return CUDA_ERROR_OUT_OF_MEMORY;
    function->name = strdup(name);
    if (!function->name) {
        emu_cu_destroy(function);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    function->module = module;
    function->entry = entry;
    emu_program_entry_info(module->program, entry, &function->info);
    function->max_dynamic = EMU_SHARED_PLAIN - (int)function->info.static_shared_bytes;
    function->carveout = -1;
    memcpy(function->cluster, function->info.function->reqnctapercluster, sizeof function->cluster);
    function->next = module->functions;
    module->functions = function;
    *made = function;
    return CUDA_SUCCESS;
}

CUresult emu_cu_module_named(struct emu_cu_function **function, struct emu_cu_module *module,
                             const char *name)
{
    int entry = emu_program_entry(module->program, name);

    if (entry < 0)
        return CUDA_ERROR_NOT_FOUND;
    for (*function = module->functions; *function; *function = (*function)->next)
        if ((*function)->entry == entry)
            return CUDA_SUCCESS;
    return make_function(function, module, entry, name);
}

CUresult emu_cu_module_function(CUfunction *handle, CUmodule module_handle, const char *name)
{
    struct emu_cu_module *module = module_find(module_handle);
    struct emu_cu_function *function;
    CUresult result;

    if (handle)
        *handle = NULL; /* and so it stays, as with a driver 580 on an H200 */
    if (!handle || !name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    result = emu_cu_module_named(&function, module, name);
    if (!result)
        *handle = function->object.handle;
    return result;
}

CUresult emu_cu_module_function_count(unsigned *count, CUmodule handle)
{
    const struct emu_cu_module *module = module_find(handle);

    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    return module ? emu_cu_image_entries(count, module->text, 0, NULL, NULL)
                  : CUDA_ERROR_INVALID_HANDLE;
}

struct function_list {
    struct emu_cu_module *module;
    CUfunction *functions;
};

static CUresult list_function(void *user, unsigned index, const char *name)
{
    const struct function_list *list = user;
    struct emu_cu_function *function;
    CUresult result = emu_cu_module_named(&function, list->module, name);

    if (!result)
        list->functions[index] = function->object.handle;
    return result;
}

CUresult emu_cu_module_functions(CUfunction *functions, unsigned count, CUmodule handle)
{
    struct function_list list = {module_find(handle), functions};
    unsigned there;

    if (!functions || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!list.module)
        return CUDA_ERROR_INVALID_HANDLE;
    return emu_cu_image_entries(&there, list.module->text, count, list_function, &list);
}
