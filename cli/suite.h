/* suite.h: lists of problems to be measured one after the other: the public one, and files. */
#ifndef LT_CLI_SUITE_H
#define LT_CLI_SUITE_H

#include "lathe.h"

/* One problem, with its words as they stand: "m=1 n=6144 k=4096". */
struct suite_case {
    char class[24];
    char model[24]; /* or empty */
    char *words;
    int line; /* of the file; 0: of the public suite */
};

struct suite {
    const char *name; /* "public", or the file's */
    struct suite_case *list;
    size_t count;
};

/* The public suite where the name is "public", else the file: one problem a line, `[class=WORD]
 * m=M n=N k=K [KEY=VALUE...]`, # begins a comment. To be freed also after a failure.
 * Errors: LATHE_BAD_WORD, which names the line, LATHE_IO_FAILED. */
enum lathe_status suite_read(struct suite *suite, const char *name, struct lathe_error *err);
void suite_free(struct suite *suite);

/* Keeps the problems of the classes that `classes` lists, apart by commas. Errors: LATHE_BAD_WORD
 * (a class that none of them has). */
enum lathe_status suite_keep(struct suite *suite, const char *classes, struct lathe_error *err);

/* Reads the words of a problem, and behind them those for all, which override them. */
enum lathe_status suite_request(const struct suite *suite, const struct suite_case *problem,
                                int count, const char *const *words, struct lathe_request *request,
                                struct lathe_error *err);

#endif
