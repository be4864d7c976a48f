/* cubin.h: whether some bytes are a cubin that holds a kernel.
 *
 * A bounded reader: it may be given anything, reads nothing outside of what it was given, and
 * follows no more than one table. */
#ifndef LT_RUNTIME_CUBIN_H
#define LT_RUNTIME_CUBIN_H

#include <stddef.h>

/* Null if the bytes are a 64-bit little-endian ELF file for CUDA with a non-empty section
 * .text.<kernel>; else what is wrong with them, as a phrase for a message. */
const char *lt_elf_fault(const void *data, size_t bytes, const char *kernel);

#endif
