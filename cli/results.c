#include "cli/results.h"

#include "cli/file.h"
#include "cli/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Appends the line's object. */
static enum lathe_status read_line(json_t *array, const char *path, const char *line, size_t length,
                                   int number, struct lathe_error *err)
{
    json_error_t why;
    json_t *object;

    if (strspn(line, " \t\r") >= length)
        return LATHE_OK;
    object = json_loadb(line, length, 0, &why);
    if (!json_is_object(object)) {
        json_decref(object);
        return fail(err, LATHE_BAD_WORD,
                    "%.200s:%d: no JSON object; files of results hold one a line", path, number);
    }
    return json_array_append_new(array, object) == 0
               ? LATHE_OK
               : fail(err, LATHE_OUT_OF_MEMORY, "no memory for %.200s", path);
}

/* `whole` is how much of it there is without a last line that was cut. */
static json_t *parse(const char *path, const char *text, size_t *whole, struct lathe_error *err)
{
    json_t *array = json_array();
    enum lathe_status status =
        array ? LATHE_OK : fail(err, LATHE_OUT_OF_MEMORY, "no memory for %.200s", path);
    const char *at = text;
    int number = 0;

    for (const char *end; status == LATHE_OK && (end = strchr(at, '\n')); at = end + 1)
        status = read_line(array, path, at, (size_t)(end - at), ++number, err);
    if (status == LATHE_OK && *at && *at != '{')
        status =
            fail(err, LATHE_BAD_WORD, "%.200s:%d: no JSON object; files of results hold one a line",
                 path, number + 1);
    *whole = (size_t)(at - text);
    if (status == LATHE_OK)
        return array;
    json_decref(array);
    return NULL;
}

json_t *results_read(const char *path, struct lathe_error *err)
{
    char *text = NULL;
    size_t size = 0, whole = 0;
    json_t *array = NULL;

    if (file_read(path, &text, &size, err) == LATHE_OK)
        array = parse(path, text, &whole, err);
    free(text);
    return array;
}

/* ---- Appending ---- */

/* What a file holds, and how much of it; another kind of file, such as a pipe, holds nothing. */
static json_t *read_held(const char *path, size_t *whole, bool *is_cut, struct lathe_error *err)
{
    struct stat target;
    bool is_there = stat(path, &target) == 0 && S_ISREG(target.st_mode);
    char *text = NULL;
    size_t size = 0;
    json_t *array;

    if (is_there && file_read(path, &text, &size, err) != LATHE_OK)
        return NULL;
    array = parse(path, text ? text : "", whole, err);
    *is_cut = *whole < size;
    free(text);
    return array;
}

enum lathe_status results_open(const char *path, FILE **file, json_t **held,
                               struct lathe_error *err)
{
    size_t whole;
    bool is_cut;
    json_t *array = read_held(path, &whole, &is_cut, err);
    FILE *opened;

    if (!array)
        return err->status;
    opened = fopen(path, "abe");
    if (!opened || (is_cut && ftruncate(fileno(opened), (off_t)whole) != 0)) {
        fail(err, LATHE_IO_FAILED, "%.300s: cannot be written: %s", path, strerror(errno));
        if (opened)
            fclose(opened);
        json_decref(array);
        return err->status;
    }
    *file = opened;
    *held = array;
    return LATHE_OK;
}

enum lathe_status results_append(FILE *file, const char *path, const json_t *object,
                                 struct lathe_error *err)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));

    if (!text)
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for a line of %.200s", path);
    errno = 0;

    bool is_written = fprintf(file, "%s\n", text) > 0 && fflush(file) == 0;

    free(text);
    /* A pipe cannot be synchronised, which is no failure to write to it. */
    if (is_written && fsync(fileno(file)) != 0 && errno != EINVAL && errno != EROFS)
        is_written = false;
    return is_written
               ? LATHE_OK
               : fail(err, LATHE_IO_FAILED, "%.300s: cannot be written: %s", path, strerror(errno));
}
