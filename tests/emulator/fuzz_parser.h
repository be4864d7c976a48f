/* fuzz_parser.h: what must hold of any text, for the fuzzer and for its replay in the tests. */
#ifndef EMU_TESTS_FUZZ_PARSER_H
#define EMU_TESTS_FUZZ_PARSER_H

#include <stddef.h>
#include <stdint.h>

/* Parses it, and aborts if what comes out is not what the header promises. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
