/* output.h: how the command answers. Results go to standard output, all else to standard error.
 *
 * With --json the result, or the refusal, is one object. A result that could not be written is an
 * error like any other: output_close() finds out. */
#ifndef LT_CLI_OUTPUT_H
#define LT_CLI_OUTPUT_H

#include "lathe.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Exit codes. */
enum {
    EXIT_DONE = 0,
    EXIT_CANNOT = 1, /* what was asked for cannot be; a finding; a wrong answer    */
    EXIT_USAGE = 2   /* a word that means nothing, or a value outside its key's range */
};

struct output {
    bool json;
    bool colour;     /* standard output is a terminal, and NO_COLOR is not set */
    bool progress;   /* standard error is a terminal                           */
    int write_errno; /* of the first write that failed                        */
};

struct output output_open(bool json);
/* Flushes and closes standard output; returns `code`, or EXIT_CANNOT where writing failed. Says
 * why, unless it is that nobody reads any more. */
int output_close(struct output *out, int code);

void output_text(struct output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void output_bytes(struct output *out, const void *data, size_t size);
/* Prints and releases the object; null is out of memory. Returns `code`, or EXIT_CANNOT then. */
int output_json(struct output *out, json_t *object, int code);
/* What a refusal is in JSON: {"code", "message", ...}. */
json_t *output_error(const struct lathe_error *err);
/* The exit code that goes with it. */
int output_code(const struct lathe_error *err);
/* Says why not, and returns the exit code that goes with it. */
int output_refuse(struct output *out, const struct lathe_error *err);
/* One line to standard error, begun with "lathe: ". */
void output_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Words of a file or of a user as they may go to a terminal, in `room` and cut to it: control
 * characters, which it would obey, are '?'. */
enum { PLAIN_SIZE = LATHE_MESSAGE_SIZE };
const char *output_plain(const char *text, char room[PLAIN_SIZE]);

/* Escapes for a terminal; empty elsewhere. */
enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_GOOD, STYLE_BAD };
const char *output_style(const struct output *out, enum style style);

/* A refusal of the command's own: the same as the library's. `err` may not be null. */
enum lathe_status fail(struct lathe_error *err, enum lathe_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Appends to the message. */
void fail_more(struct lathe_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Values for json_pack("o"): a string whatever its bytes are, and null for what is no number. */
json_t *json_text(const char *text);
json_t *json_number(double number);

/* Rows of aligned cells, filled from left to right. */
enum { TABLE_COLUMNS_MAX = 12 };
struct table {
    int columns;
    unsigned right; /* bit i: column i is aligned to the right */
    size_t count, room;
    char **cells;
    bool failed; /* out of memory */
};
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints, each line after `indent` spaces, and frees the cells. */
void table_print(struct table *table, struct output *out, int indent);
void table_free(struct table *table);

/* An array of objects with the same keys as a table under these keys; a value may be a list of
 * words. */
void output_rows(struct output *out, const json_t *rows, int indent);

#endif
