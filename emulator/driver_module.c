/* driver_module.c: modules of PTX text, libraries and kernels, and links of one text. */
#include "emulator/driver_state.h"
#include "emulator/driver_work.h"

#include <ctype.h>
#include <stdio.h>
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

/* Where a load writes what went wrong, as the options of the call say. */
struct jit_log {
    unsigned count;
    const CUjit_option *options;
    void **values;
};

struct emu_cu_link {
    struct emu_cu_object object;
    struct jit_log log;
    char *text;
    size_t bytes;
};

/* ---- The logs of a load ---- */

static int option_at(const struct jit_log *log, CUjit_option option)
{
    for (unsigned i = 0; i < log->count; i++)
        if (log->options[i] == option)
            return (int)i;
    return -1;
}

/* The size of a buffer is an argument and, afterwards, what was written. */
static void write_log(const struct jit_log *log, CUjit_option buffer_option,
                      CUjit_option size_option, const char *words)
{
    int buffer = option_at(log, buffer_option), size = option_at(log, size_option);
    size_t room = size >= 0 ? (unsigned)(uintptr_t)log->values[size] : 0, length = strlen(words);

    if (size < 0)
        return;
    if (buffer < 0 || !log->values[buffer] || room == 0) {
        log->values[size] = NULL;
        return;
    }
    if (length >= room)
        length = room - 1;
    memcpy(log->values[buffer], words, length);
    ((char *)log->values[buffer])[length] = '\0';
    log->values[size] = (void *)(uintptr_t)length;
}

static void write_logs(const struct jit_log *log, const char *words)
{
    int wall_time = option_at(log, CU_JIT_WALL_TIME);

    write_log(log, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, "");
    write_log(log, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, words);
    if (wall_time >= 0)
        log->values[wall_time] = NULL; /* 0.0f */
}

static CUresult check_options(struct jit_log *log, unsigned count, const CUjit_option *options,
                              void **values)
{
    if (count > 0 && (!options || !values))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++)
        if (options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS)
            return CUDA_ERROR_INVALID_VALUE;
    *log = (struct jit_log){count, options, values};
    return CUDA_SUCCESS;
}

/* ---- Images ---- */

/* Byte by byte: a text may be shorter than the mark that it is compared with. */
static bool begins_with(const char *image, const char *mark, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (image[i] != mark[i])
            return false;
    return true;
}

static const char *skip_comments(const char *text)
{
    for (;;) {
        while (isspace((unsigned char)*text))
            text++;
        if (text[0] == '/' && text[1] == '/') {
            text += strcspn(text, "\n");
        } else if (text[0] == '/' && text[1] == '*') {
            const char *end = strstr(text + 2, "*/");

            text = end ? end + 2 : text + strlen(text);
        } else {
            return text;
        }
    }
}

/* Whether it is PTX text, from its beginning, and of which version. */
static CUresult check_image(const char *image, int *version)
{
    static const char directive[] = ".version";
    const char *start;
    int major = 0, minor = 0;

    if (begins_with(image,
                    "\x7f"
                    "ELF",
                    4))
        return emu_cu_report(CUDA_ERROR_NO_BINARY_FOR_GPU,
                             "the image is a cubin: the emulator runs PTX text; load the PTX");
    if (begins_with(image, "\x50\xed\x55\xba", 4) || begins_with(image, "\xb1\x43\x62\x46", 4))
        return emu_cu_report(CUDA_ERROR_NO_BINARY_FOR_GPU,
                             "the image is a fatbin: the emulator runs PTX text; load the PTX");
    start = skip_comments(image);
    if (strncmp(start, directive, strlen(directive)) != 0)
        return emu_cu_report(CUDA_ERROR_INVALID_IMAGE,
                             "the image is no PTX text: it does not begin with .version");
    sscanf(start + strlen(directive), "%d.%d", &major, &minor);
    *version = major > 0 && major < 100 ? 10 * major + minor % 10 : 0;
    return CUDA_SUCCESS;
}

static CUresult copy_image(char **text, int *version, const void *image)
{
    CUresult result;

    if (!image)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_image(image, version);
    if (result)
        return result;
    *text = strdup(image);
    return *text ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* All of a file and a NUL; to be freed. */
static CUresult read_file(char **content, const char *path)
{
    enum { STEP = 1 << 16 };
    FILE *file = fopen(path, "rb");
    size_t length = 0, read;
    char *bytes = NULL, *moved;

    if (!file)
        return CUDA_ERROR_FILE_NOT_FOUND;
    do {
        moved = realloc(bytes, length + STEP + 1);
        if (!moved) {
            free(bytes);
            fclose(file);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        bytes = moved;
        read = fread(bytes + length, 1, STEP, file);
        length += read;
    } while (read > 0);
    fclose(file);
    bytes[length] = '\0';
    *content = bytes;
    return CUDA_SUCCESS;
}

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
static CUresult load_text(struct emu_cu_module **made, char *text, int version,
                          const struct jit_log *log)
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
        write_logs(log, error.message);
        return emu_cu_report(CUDA_ERROR_INVALID_PTX, "%s", error.message);
    }
    write_logs(log, "");
    *made = module;
    return CUDA_SUCCESS;
}

CUresult emu_cu_module_load_with(CUmodule *handle, const void *image, unsigned count,
                                 CUjit_option *options, void **values)
{
    struct emu_cu_module *module;
    struct jit_log log;
    CUresult result;
    int version;
    char *text;

    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_options(&log, count, options, values);
    if (!result)
        result = copy_image(&text, &version, image);
    if (!result)
        result = load_text(&module, text, version, &log);
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
    result = read_file(&content, path);
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
    if (!emu_program_variable(module->program, name, &address, &length))
        return CUDA_ERROR_NOT_FOUND;
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
    function->next = module->functions;
    module->functions = function;
    *made = function;
    return CUDA_SUCCESS;
}

static CUresult function_named(struct emu_cu_function **function, struct emu_cu_module *module,
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

    if (!handle || !name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    result = function_named(&function, module, name);
    if (!result)
        *handle = function->object.handle;
    return result;
}

/* Calls `visit` for the first `limit` entries of a text; how many there are, or -1 without memory.
 */
static int each_entry(const char *text, unsigned limit,
                      CUresult (*visit)(void *user, unsigned index, const char *name), void *user)
{
    struct emu_error error = {.line = 0};
    struct emu_module *tree = emu_module_parse(text, strlen(text), &error);
    int count = 0;

    if (!tree)
        return -1;
    for (int i = 0; i < tree->function_count; i++) {
        const struct emu_function *function = &tree->functions[i];

        if (!function->is_entry || !function->has_body)
            continue;
        if ((unsigned)count < limit && visit(user, (unsigned)count, function->name)) {
            count = -1;
            break;
        }
        count++;
    }
    emu_module_free(tree);
    return count;
}

CUresult emu_cu_module_function_count(unsigned *count, CUmodule handle)
{
    const struct emu_cu_module *module = module_find(handle);
    int counted;

    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    counted = each_entry(module->text, 0, NULL, NULL);
    if (counted < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *count = (unsigned)counted;
    return CUDA_SUCCESS;
}

struct function_list {
    struct emu_cu_module *module;
    CUfunction *functions;
};

static CUresult list_function(void *user, unsigned index, const char *name)
{
    const struct function_list *list = user;
    struct emu_cu_function *function;
    CUresult result = function_named(&function, list->module, name);

    if (!result)
        list->functions[index] = function->object.handle;
    return result;
}

CUresult emu_cu_module_functions(CUfunction *functions, unsigned count, CUmodule handle)
{
    struct function_list list = {module_find(handle), functions};

    if (!functions || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!list.module)
        return CUDA_ERROR_INVALID_HANDLE;
    return each_entry(list.module->text, count, list_function, &list) < 0 ? CUDA_ERROR_OUT_OF_MEMORY
                                                                          : CUDA_SUCCESS;
}

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

/* Whether it is PTX; what a device thinks of it shows when it is used there. */
static CUresult check_text(const char *text, const struct jit_log *log)
{
    struct emu_error error = {.line = 0};
    struct emu_module *tree = emu_module_parse(text, strlen(text), &error);

    write_logs(log, tree ? "" : error.message);
    if (!tree)
        return emu_cu_report(CUDA_ERROR_INVALID_PTX, "%s", error.message);
    emu_module_free(tree);
    return CUDA_SUCCESS;
}

CUresult emu_cu_library_load(CUlibrary *handle, const void *image, CUjit_option *options,
                             void **values, unsigned count, CUlibraryOption *library_options,
                             void **library_values, unsigned library_count)
{
    struct emu_cu_library *library;
    struct jit_log log;
    CUresult result;
    int version;
    char *text;

    if (!handle || (library_count > 0 && (!library_options || !library_values)))
        return CUDA_ERROR_INVALID_VALUE;
    result = check_options(&log, count, options, values);
    if (!result)
        result = copy_image(&text, &version, image);
    if (result)
        return result;
    result = check_text(text, &log);
    library = result ? NULL : emu_cu_create(EMU_CU_LIBRARY, sizeof *library, NULL);
    if (!library) {
        free(text);
        return result ? result : CUDA_ERROR_OUT_OF_MEMORY;
    }
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
    result = read_file(&content, path);
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
    const struct jit_log no_log = {0};
    size_t at = 0;
    CUresult result;
    char *text;

    while ((*module = emu_cu_next(EMU_CU_MODULE, emu_cu_current(), &at)) != NULL)
        if ((*module)->library == library)
            return CUDA_SUCCESS;
    text = strdup(library->text);
    if (!text)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = load_text(module, text, library->ptx_version, &no_log);
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

/* ---- Kernels: functions that are of no context yet ---- */

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

    if (!handle || !name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!list.library)
        return CUDA_ERROR_INVALID_HANDLE;
    if (each_entry(list.library->text, UINT32_MAX, list_kernel, &list) < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!list.found)
        return CUDA_ERROR_NOT_FOUND;
    *handle = list.found;
    return CUDA_SUCCESS;
}

CUresult emu_cu_library_kernel_count(unsigned *count, CUlibrary handle)
{
    const struct emu_cu_library *library = emu_cu_find(EMU_CU_LIBRARY, handle);
    int counted;

    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    if (!library)
        return CUDA_ERROR_INVALID_HANDLE;
    counted = each_entry(library->text, 0, NULL, NULL);
    if (counted < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *count = (unsigned)counted;
    return CUDA_SUCCESS;
}

CUresult emu_cu_library_kernels(CUkernel *kernels, unsigned count, CUlibrary handle)
{
    struct kernel_list list = {emu_cu_find(EMU_CU_LIBRARY, handle), kernels, NULL, NULL};

    if (!kernels || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!list.library)
        return CUDA_ERROR_INVALID_HANDLE;
    return each_entry(list.library->text, count, list_kernel, &list) < 0 ? CUDA_ERROR_OUT_OF_MEMORY
                                                                         : CUDA_SUCCESS;
}

static CUresult function_of(struct emu_cu_function **function, CUkernel handle)
{
    const struct emu_cu_kernel *kernel = emu_cu_find(EMU_CU_KERNEL, handle);
    struct emu_cu_module *module;
    CUresult result;

    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    result = module_of(&module, kernel->library);
    return result ? result : function_named(function, module, kernel->name);
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

/* ---- Links ---- */

void emu_cu_release_link(struct emu_cu_link *link)
{
    free(link->text);
}

CUresult emu_cu_link_create(unsigned count, CUjit_option *options, void **values,
                            CUlinkState *handle)
{
    struct emu_cu_link *link;
    struct jit_log log;
    CUresult result =
        handle ? check_options(&log, count, options, values) : CUDA_ERROR_INVALID_VALUE;

    if (result)
        return result;
    link = emu_cu_create(EMU_CU_LINK, sizeof *link, emu_cu_current());
    if (!link)
        return CUDA_ERROR_OUT_OF_MEMORY;
    link->log = log; /* the program keeps the arrays as long as the link, says the manual */
    *handle = link->object.handle;
    return CUDA_SUCCESS;
}

CUresult emu_cu_link_add(CUlinkState handle, CUjitInputType type, void *data, size_t bytes,
                         const char *name, unsigned count, CUjit_option *options, void **values)
{
    struct emu_cu_link *link = emu_cu_find(EMU_CU_LINK, handle);
    struct jit_log log;
    CUresult result = check_options(&log, count, options, values);

    (void)name;
    if (!link)
        return CUDA_ERROR_INVALID_HANDLE;
    if (result || !data || bytes == 0 || type < 0 || type >= CU_JIT_NUM_INPUT_TYPES)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_JIT_INPUT_PTX)
        return emu_cu_report(CUDA_ERROR_NO_BINARY_FOR_GPU,
                             "the emulator links PTX text alone; add the PTX");
    if (link->text)
        return emu_cu_report(CUDA_ERROR_NOT_SUPPORTED,
                             "the emulator links one PTX text; load the texts as modules");
    link->text = strndup(data, bytes);
    if (!link->text)
        return CUDA_ERROR_OUT_OF_MEMORY;
    link->bytes = strlen(link->text) + 1;
    result = check_text(link->text, &link->log);
    if (result) {
        free(link->text);
        link->text = NULL;
    }
    return result;
}

CUresult emu_cu_link_complete(CUlinkState handle, void **image, size_t *bytes)
{
    const struct emu_cu_link *link = emu_cu_find(EMU_CU_LINK, handle);

    if (!link)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!image || !link->text)
        return CUDA_ERROR_INVALID_VALUE;
    *image = link->text;
    if (bytes)
        *bytes = link->bytes;
    return CUDA_SUCCESS;
}

CUresult emu_cu_link_destroy(CUlinkState handle)
{
    struct emu_cu_link *link = emu_cu_find(EMU_CU_LINK, handle);

    if (!link)
        return CUDA_ERROR_INVALID_HANDLE;
    emu_cu_destroy(link);
    return CUDA_SUCCESS;
}
