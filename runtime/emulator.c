#include "runtime/emulator.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char name[] = "libcuda-emu.so";

/* From the folder of what this code is linked into, liblathe or a program: the build's own folder,
 * then those of an installation; LT_LIBRARY_FOLDER is what meson was told, "lib/x86_64-linux-gnu".
 */
static const char *const places[] = {"", "../emulator/", "../lib/", "../" LT_LIBRARY_FOLDER "/"};

/* The length of the folder's name with its slash; 0 where it is not known. */
static int own_folder(const char **file)
{
    Dl_info info;
    const char *slash;

    if (!dladdr((const void *)name, &info) || !info.dli_fname)
        return 0;
    slash = strrchr(info.dli_fname, '/');
    *file = info.dli_fname;
    return slash ? (int)(slash - info.dli_fname) + 1 : 0;
}

const char *lt_emulator_find(const char *given, char path[LT_EMULATOR_PATH_SIZE])
{
    const char *file = "";
    int folder;

    if (given)
        return given;
    folder = own_folder(&file);
    for (size_t i = 0; folder > 0 && i < sizeof places / sizeof places[0]; i++) {
        int length =
            snprintf(path, LT_EMULATOR_PATH_SIZE, "%.*s%s%s", folder, file, places[i], name);

        if (length < LT_EMULATOR_PATH_SIZE && access(path, R_OK) == 0)
            return path;
    }
    return name;
}
