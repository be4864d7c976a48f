/* driver_image.h: between the files that load code: driver_image.c, driver_module.c and
 * driver_library.c. */
#ifndef EMU_DRIVER_IMAGE_H
#define EMU_DRIVER_IMAGE_H

#include "emulator/driver_work.h"

/* Where a load writes what went wrong, as the options of the call say. */
struct emu_cu_log {
    unsigned count;
    const CUjit_option *options;
    void **values;
};

CUresult emu_cu_log_init(struct emu_cu_log *log, unsigned count, const CUjit_option *options,
                         void **values);
/* The words of the error log, "" for none, and the other results that a load gives. */
void emu_cu_log_write(const struct emu_cu_log *log, const char *words);

/* A copy of the image if it is PTX text, from its beginning, and its version. */
CUresult emu_cu_image_copy(char **text, int *version, const void *image);
/* All of a file and a NUL; to be freed. */
CUresult emu_cu_image_read(char **content, const char *path);
/* Calls `visit` for the first `limit` entries, as long as it is well; how many there are. */
CUresult emu_cu_image_entries(unsigned *count, const char *text, unsigned limit,
                              CUresult (*visit)(void *user, unsigned index, const char *name),
                              void *user);

/* In the current context. Takes the text. */
CUresult emu_cu_module_make(struct emu_cu_module **made, char *text, int version,
                            const struct emu_cu_log *log);
/* Of an entry of the module, made when it is first asked for. */
CUresult emu_cu_module_named(struct emu_cu_function **function, struct emu_cu_module *module,
                             const char *name);

#endif
