/* alu_fixture.h: instructions from a line of text, and running one on values. */
#ifndef EMU_TESTS_ALU_FIXTURE_H
#define EMU_TESTS_ALU_FIXTURE_H

#include "emulator/alu.h"

enum { FIXTURE_WORDS = 16, FIXTURE_OPERANDS = 10, FIXTURE_ITEMS = 16, FIXTURE_TEXT = 256 };

/* Not the parser: as much of the grammar as tests of single instructions need. */
struct fixture_line {
    char text[FIXTURE_TEXT], opcode[FIXTURE_TEXT];
    const char *words[FIXTURE_WORDS];
    struct emu_operand operands[FIXTURE_OPERANDS], items[FIXTURE_ITEMS];
    int item_count;
    struct emu_instruction instruction;
};

/* "add.u32 d, a, 7": names are registers, !p and -a negated ones, numbers immediates, _ a sink. */
void fixture_parse(struct fixture_line *line, const char *text);

enum emu_decoded fixture_decode(struct emu_alu *op, const char *text, int target,
                                struct emu_error *error);

/* Decodes for a target that has everything, or fails the test. */
struct emu_alu fixture_op(const char *text);

/* The first result, the same in all lanes; `values` are the sources in order. */
uint64_t fixture_run(const char *text, const uint64_t *values, int count);
#define RUN(text, ...)                                                                             \
    fixture_run(text, (const uint64_t[]){__VA_ARGS__},                                             \
                (int)(sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)))

/* For what is decoded once and run often. */
uint64_t fixture_run_op(const struct emu_alu *op, const uint64_t *values, int count,
                        uint64_t *second);

uint64_t fixture_f32(float value);
uint64_t fixture_f64(double value);
float fixture_to_f32(uint64_t bits);
double fixture_to_f64(uint64_t bits);

/* Bits in the manner of a generator; the state is any number but zero. */
uint64_t fixture_random(uint64_t *state);
/* Bits of f32 (f64) of all kinds: often special ones. */
uint64_t fixture_random_f32(uint64_t *state);
uint64_t fixture_random_f64(uint64_t *state);

#endif
