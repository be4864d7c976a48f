/* mma_words.h: reading the words and operands of mma and wgmma. */
#ifndef EMU_MMA_WORDS_H
#define EMU_MMA_WORDS_H

#include "emulator/alu.h"

bool emu_word_is(const char *word, const char *name);
/* Notes that the word was there if it is `name`; a word that comes twice is not taken. */
bool emu_take_word(const char *word, const char *name, bool *taken);

/* EMU_TYPE_NONE for words that are no type of a matrix. */
enum emu_type emu_mma_type_of(const char *word);
/* Of an element: 1 for b1. */
int emu_mma_type_bits(enum emu_type type);
bool emu_mma_type_is_integer(enum emu_type type);

bool emu_is_vector(const struct emu_operand *operand, int count);

/* "mma.sync...: what is wrong"; returns EMU_REFUSED. */
enum emu_decoded emu_refuse(struct emu_error *error, const struct emu_instruction *instruction,
                            const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
