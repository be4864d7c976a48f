/* planting_emulator.c: the emulator, but for a fault that it plants into every text that is loaded:
 * of EMU_PLANT=OLD|NEW each OLD becomes NEW. What is not here is the emulator's, on which this
 * library depends. It shows that what checks kernels can fail. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The emulator's own; the one without options is played here. */
int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options,
                       void **values);
__attribute__((visibility("default"))) int cuModuleLoadData(void **module, const void *image);

/* To be freed; null without memory, or where there is nothing to plant. */
static char *plant(const char *text)
{
    const char *words = getenv("EMU_PLANT"), *bar = words ? strchr(words, '|') : NULL;
    size_t length = bar ? (size_t)(bar - words) : 0, size;
    char *planted = NULL, *old = length > 0 ? strndup(words, length) : NULL;
    FILE *out = old ? open_memstream(&planted, &size) : NULL;

    for (const char *at; out && (at = strstr(text, old)); text = at + length)
        fprintf(out, "%.*s%s", (int)(at - text), text, bar + 1);
    if (out) {
        fputs(text, out);
        fclose(out);
    }
    free(old);
    return planted;
}

int cuModuleLoadData(void **module, const void *image)
{
    char *planted = plant(image);
    int result = cuModuleLoadDataEx(module, planted ? planted : image, 0, NULL, NULL);

    free(planted);
    return result;
}
