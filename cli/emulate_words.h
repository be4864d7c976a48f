/* emulate_words.h: from the words of `lathe emulate` to a launch with its buffers and arguments,
 * and to what becomes of the buffers afterwards. */
#ifndef LT_CLI_EMULATE_WORDS_H
#define LT_CLI_EMULATE_WORDS_H

#include "cli/element.h"
#include "cli/words.h"

#include "lathe_tools.h"

/* out=, expect= or print=, in the order in which they were given. */
enum wish_kind { WISH_OUT, WISH_EXPECT, WISH_PRINT };

struct wish {
    enum wish_kind kind;
    const struct lathe_emulated_buffer *buffer;
    int index;                     /* of the buffer       */
    const char *path;              /* of WISH_OUT         */
    char *expected;                /* of WISH_EXPECT: as many bytes as the buffer has */
    const struct element *element; /* of WISH_PRINT */
    size_t count;                  /* of its elements */
};

struct job {
    struct lathe_emulation emulation;
    char *text;
    struct lathe_emulated_buffer *buffers;
    struct lathe_argument *arguments;
    char **values; /* of the arguments; null where they have none */
    struct wish *wishes;
    int buffer_count, argument_count, wish_count;
};

/* Reads the words, and the files that they name. To be freed also after a failure. */
enum lathe_status job_read(struct job *job, const struct words *words, struct lathe_error *err);
void job_free(struct job *job);

/* Fills a buffer of zeros as the word says: zero, iota32, iota-TYPE, random, random-TYPE, or a
 * file. What is drawn depends on the buffer's index alone, never on the seed of the schedule. */
enum lathe_status buffer_fill(const struct lathe_emulated_buffer *buffer, int index,
                              const char *how, struct lathe_error *err);

/* "128" or "8x8x2": how many numbers it has; 0 where it is no shape, or one of more than `most`. */
int shape_parse(const char *text, size_t length, uint64_t *numbers, int most);

/* What stands behind "map:"; false where it is no map as `map_words` has it. */
extern const char map_words[];
bool map_parse(const char *text, int *buffer, struct lathe_emulated_map *map);

#endif
