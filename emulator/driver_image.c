/* driver_image.c: what a program gives as code: PTX text, told from anything else, the logs of a
 * load, and links of one text. */
#include "emulator/driver_image.h"
#include "emulator/driver_state.h"
#include "emulator/driver_work.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct emu_cu_link {
    struct emu_cu_object object;
    struct emu_cu_log log;
    char *text;
    size_t bytes;
};

/* ---- The logs of a load ---- */

static int option_at(const struct emu_cu_log *log, CUjit_option option)
{
    for (unsigned i = 0; i < log->count; i++)
        if (log->options[i] == option)
            return (int)i;
    return -1;
}

/* The size of a buffer is an argument and, afterwards, what was written. */
static void write_log(const struct emu_cu_log *log, CUjit_option buffer_option,
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

void emu_cu_log_write(const struct emu_cu_log *log, const char *words)
{
    int wall_time = option_at(log, CU_JIT_WALL_TIME);

    write_log(log, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, "");
    write_log(log, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, words);
    if (wall_time >= 0)
        log->values[wall_time] = NULL; /* 0.0f */
}

CUresult emu_cu_log_init(struct emu_cu_log *log, unsigned count, const CUjit_option *options,
                         void **values)
{
    if (count > 0 && (!options || !values))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++)
        if (options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS)
            return CUDA_ERROR_INVALID_VALUE;
    *log = (struct emu_cu_log){count, options, values};
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

CUresult emu_cu_image_copy(char **text, int *version, const void *image)
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
CUresult emu_cu_image_read(char **content, const char *path)
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

/* Whether it is PTX; what a device thinks of it shows when it is used there. */
static CUresult check_text(const char *text, const struct emu_cu_log *log)
{
    struct emu_error error = {.line = 0};
    struct emu_module *tree = emu_module_parse(text, strlen(text), &error);

    emu_cu_log_write(log, tree ? "" : error.message);
    if (!tree)
        return emu_cu_report(CUDA_ERROR_INVALID_PTX, "%s", error.message);
    emu_module_free(tree);
    return CUDA_SUCCESS;
}

CUresult emu_cu_image_entries(unsigned *count, const char *text, unsigned limit,
                              CUresult (*visit)(void *user, unsigned index, const char *name),
                              void *user)
{
    struct emu_error error = {.line = 0};
    struct emu_module *tree = emu_module_parse(text, strlen(text), &error);
    CUresult result = CUDA_SUCCESS;

    if (!tree)
        return emu_cu_report(CUDA_ERROR_INVALID_PTX, "%s", error.message);
    *count = 0;
    for (int i = 0; !result && i < tree->function_count; i++) {
        const struct emu_function *function = &tree->functions[i];

        if (!function->is_entry || !function->has_body)
            continue;
        if (*count < limit)
            result = visit(user, *count, function->name);
        ++*count;
    }
    emu_module_free(tree);
    return result;
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
    struct emu_cu_log log;
    CUresult result =
        handle ? emu_cu_log_init(&log, count, options, values) : CUDA_ERROR_INVALID_VALUE;

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
    struct emu_cu_log log;
    CUresult result = emu_cu_log_init(&log, count, options, values);

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
