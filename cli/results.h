/* results.h: files of measurements, JSON lines: a record a line, which is an object with "words",
 * appended as they are made, so that what is there stays whatever happens later. */
#ifndef LT_CLI_RESULTS_H
#define LT_CLI_RESULTS_H

#include "lathe.h"

#include <jansson.h>
#include <stdio.h>

/* The records of a file. A last line that was cut, as by a process that was killed, is left out;
 * one that merely lacks its newline is not. Null after a failure. Errors: LATHE_IO_FAILED,
 * LATHE_BAD_WORD (a line that is no record: its number is named; a NUL). */
json_t *results_read(const char *path, struct lathe_error *err);

/* Opens a file for more of them, and gives those that it holds already; none is a new one. A last
 * line that was cut is taken off, where all before it are records, and one that lacks its newline
 * gets it. What is no file of results is refused, and left as it is.
 * Errors: those of results_read(). */
enum lathe_status results_open(const char *path, FILE **file, json_t **held,
                               struct lathe_error *err);
/* Appends one, and takes it to the disk. Errors: LATHE_IO_FAILED. */
enum lathe_status results_append(FILE *file, const char *path, const json_t *object,
                                 struct lathe_error *err);

#endif
