/* ptx_support.h: PTX for tests, with the first lines that every module has. */
#ifndef EMU_TESTS_PTX_SUPPORT_H
#define EMU_TESTS_PTX_SUPPORT_H

#include "emulator/ptx_parser.h"
#include "tests/support/cmocka_all.h"

/* Parses the text behind the header, which is on its first line. The test fails with it. */
struct emu_module *parse_text(const char *text);
/* The same of the body of a kernel k that has one parameter, p, and some registers:
 * r0-r9 .b32, d0-d9 .b64, f0-f3 .f32, p0-p3 .pred, v .v4 .b32, w .v2 .b32. */
struct emu_module *parse_body(const char *body);

/* It must not parse, and the message must have the line and the words. */
void expect_refusal(const char *text, int line, const char *words);
void expect_body_refusal(const char *body, int line, const char *words);

/* The first instruction of the first function that has a body. */
const struct emu_instruction *first_instruction(const struct emu_module *module);

/* All of a file; null if there is none. The caller frees it. */
char *read_file(const char *path, size_t *length);
/* FOLDER/NAME.ptx, which must be there, and fit. */
void read_ptx(const char *folder, const char *name, char *text, size_t size);

#endif
