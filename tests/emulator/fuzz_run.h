/* fuzz_run.h: any text as a program, run on a small device: for the fuzzer and for its replay. */
#ifndef EMU_TESTS_FUZZ_RUN_H
#define EMU_TESTS_FUZZ_RUN_H

#include <stddef.h>
#include <stdint.h>

/* Loads the text and launches its entries; aborts where a promise of machine.h does not hold. What
 * a sanitizer or a limit of time finds is up to who calls it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same for a text that ends with a NUL, and with the sanitizer past all findings. */
void fuzz_run_checked(const char *text, size_t size);

/* A change of the text that leaves most of it a program: see fuzz_mutate.c. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t out_size, unsigned seed);

#endif
