/* emulator.h: where the emulator's library is. */
#ifndef LT_RUNTIME_EMULATOR_H
#define LT_RUNTIME_EMULATOR_H

enum { LT_EMULATOR_PATH_SIZE = 4096 };

/* `given` if it is not null; else libcuda-emu.so beside this library or program, where the build
 * and the installation put it; else its name, for the loader to find. The result is one of these,
 * or `path`. */
const char *lt_emulator_find(const char *given, char path[LT_EMULATOR_PATH_SIZE]);

#endif
