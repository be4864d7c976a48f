/* reference_source.h: the text of the kernels that reference.c compiles with NVRTC and launches:
 * lathe_fill, lathe_damage and lathe_compare. They do on the GPU what random.c, host_reference.c
 * and comparison.c do on the CPU, with the same arithmetic; change both together. */
#ifndef LT_RUNTIME_REFERENCE_SOURCE_H
#define LT_RUNTIME_REFERENCE_SOURCE_H

#include <stddef.h>

/* As snprintf: at most `size` bytes with the final NUL are written, the whole length returned. */
size_t lt_reference_source(char *buffer, size_t size);

/* Threads of a block, of all three; rows and columns of D that a block compares at a time. */
enum { LT_REFERENCE_THREADS = 256, LT_REFERENCE_SIDE = 64 };

#endif
