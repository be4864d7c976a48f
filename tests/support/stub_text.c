/* stub_text.c: reads kernels in PTX text, as far as the stub's driver has to know them: names,
 * scalar parameters, .maxntid. There is no compiler here: what a body says is not looked at. */
#include "tests/support/stub_cubin.h"

#include <stdlib.h>
#include <string.h>

static const char entry_word[] = ".entry ";

bool stub_is_text(const void *image, size_t limit)
{
    static const char start[] = ".version ";

    return limit >= sizeof start && strncmp(image, start, sizeof start - 1) == 0;
}

/* ".u64 name" and its like have 8 bytes; 0: no scalar. */
static size_t scalar_bytes(const char *type)
{
    size_t bits =
        strspn(type, ".") == 1 && strchr("ubsf", type[1]) != NULL ? strtoul(type + 2, NULL, 10) : 0;

    return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? bits / 8 : 0;
}

/* Up to the closing bracket. */
static bool read_params(struct stub_kernel *kernel, const char *list, const char *end)
{
    static const char param_word[] = ".param ";
    const char *at = list;

    while ((at = strstr(at, param_word)) != NULL && at < end) {
        at += sizeof param_word - 1;
        if (kernel->param_count == STUB_KERNEL_PARAMS_MAX || scalar_bytes(at) == 0)
            return false;
        kernel->param_bytes[kernel->param_count++] = scalar_bytes(at);
    }
    return true;
}

/* From behind the word; ends the name in the text. */
static bool read_entry(struct stub_kernel *kernel, char *text)
{
    static const char threads_word[] = ".maxntid ";
    char *list = strchr(text, '('), *end = list ? strchr(list, ')') : NULL;
    const char *body = end ? strchr(end, '{') : NULL;
    const char *threads = body ? strstr(end, threads_word) : NULL;

    if (body == NULL || !read_params(kernel, list, end))
        return false;
    if (threads != NULL && threads < body)
        kernel->max_threads = atoi(threads + sizeof threads_word - 1);
    kernel->name = text;
    *list = '\0';
    return true;
}

static int count_entries(const char *text)
{
    int count = 0;

    for (; (text = strstr(text, entry_word)) != NULL; text++)
        count++;
    return count;
}

bool stub_text_read(struct stub_cubin *cubin, char *text)
{
    static const char target_word[] = ".target sm_";
    const char *target = strstr(text, target_word);
    int count = count_entries(text);

    memset(cubin, 0, sizeof *cubin);
    if (target == NULL || count == 0)
        return false;
    cubin->sm = atoi(target + sizeof target_word - 1);
    cubin->is_text = true;
    cubin->kernels = calloc((size_t)count, sizeof *cubin->kernels);
    if (cubin->kernels == NULL)
        return false;
    while (cubin->kernel_count < count) {
        text = strstr(text, entry_word) + sizeof entry_word - 1;
        if (!read_entry(&cubin->kernels[cubin->kernel_count++], text)) {
            stub_cubin_release(cubin);
            return false;
        }
        text += strlen(text) + 1;
    }
    return true;
}
