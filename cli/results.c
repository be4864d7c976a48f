#include "cli/results.h"

#include "cli/file.h"
#include "cli/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a record begins with: how one that was cut is known where it is all that there is. */
static const char opening[] = "{\"words\":";

static enum lathe_status refuse_line(const char *path, int number, const json_t *object,
                                     struct lathe_error *err)
{
    return fail(err, LATHE_BAD_WORD, "%.200s:%d: no %s; files of results hold one a line", path,
                number, json_is_object(object) ? "record of lathe bench" : "JSON object");
}

static bool is_blank(const char *line, size_t length)
{
    return strspn(line, " \t\r") >= length;
}

/* Appends the line's record. */
static enum lathe_status read_line(json_t *array, const char *path, const char *line, size_t length,
                                   int number, struct lathe_error *err)
{
    json_error_t why;
    json_t *object;

    if (is_blank(line, length))
        return LATHE_OK;
    object = json_loadb(line, length, 0, &why);
    if (!json_is_string(json_object_get(object, "words"))) {
        enum lathe_status status = refuse_line(path, number, object, err);

        json_decref(object);
        return status;
    }
    return json_array_append_new(array, object) == 0
               ? LATHE_OK
               : fail(err, LATHE_OUT_OF_MEMORY, "no memory for %.200s", path);
}

/* Whether the last line is the beginning of a record. Only behind other records is any object taken
 * for one, so that nothing of a file that is not ours is ever cut. */
static bool is_cut(const char *line, size_t length, bool has_records)
{
    size_t known = has_records ? 1 : sizeof opening - 1;
    json_error_t why;
    json_t *object;
    bool ends;

    if (strncmp(line, opening, length < known ? length : known) != 0)
        return false;
    /* What ends, and has more behind it, was not cut. */
    object = json_loadb(line, length, JSON_DISABLE_EOF_CHECK, &why);
    ends = object != NULL;
    json_decref(object);
    return !ends;
}

/* `whole` is how much of it there is without a last line that was cut. */
static json_t *parse(const char *path, const char *text, size_t size, size_t *whole,
                     struct lathe_error *err)
{
    json_t *array = json_array();
    enum lathe_status status =
        array ? LATHE_OK : fail(err, LATHE_OUT_OF_MEMORY, "no memory for %.200s", path);
    const char *at = text, *last = text + size;
    int number = 0;

    if (status == LATHE_OK && memchr(text, '\0', size))
        status =
            fail(err, LATHE_BAD_WORD,
                 "%.200s: has a NUL byte in it; files of results hold a JSON object a line", path);
    for (const char *end;
         status == LATHE_OK && (end = memchr(at, '\n', (size_t)(last - at))) != NULL; at = end + 1)
        status = read_line(array, path, at, (size_t)(end - at), ++number, err);
    *whole = size;
    if (status == LATHE_OK && at < last) {
        if (is_cut(at, (size_t)(last - at), json_array_size(array) > 0))
            *whole = (size_t)(at - text);
        else
            status = read_line(array, path, at, (size_t)(last - at), number + 1, err);
    }
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
        array = parse(path, text, size, &whole, err);
    free(text);
    return array;
}

/* ---- Appending ---- */

/* How a file ends: how many bytes of it are kept, whether there are more, and whether those that
 * are kept lack the end of their last line. */
struct ending {
    size_t whole;
    bool is_cut, lacks_newline;
};

/* What a file holds; another kind of file, such as a pipe, holds nothing. */
static json_t *read_held(const char *path, struct ending *ending, struct lathe_error *err)
{
    struct stat target;
    bool is_there = stat(path, &target) == 0 && S_ISREG(target.st_mode);
    char *text = NULL;
    size_t size = 0;
    json_t *array;

    if (is_there && file_read(path, &text, &size, err) != LATHE_OK)
        return NULL;
    array = parse(path, text ? text : "", size, &ending->whole, err);
    ending->is_cut = ending->whole < size;
    ending->lacks_newline = ending->whole > 0 && text[ending->whole - 1] != '\n';
    free(text);
    return array;
}

/* So that the next line begins where a line begins. */
static bool mend(FILE *file, const struct ending *ending)
{
    if (ending->is_cut && ftruncate(fileno(file), (off_t)ending->whole) != 0)
        return false;
    return !ending->lacks_newline || (fputc('\n', file) != EOF && fflush(file) == 0);
}

enum lathe_status results_open(const char *path, FILE **file, json_t **held,
                               struct lathe_error *err)
{
    struct ending ending;
    json_t *array = read_held(path, &ending, err);
    FILE *opened;

    if (!array)
        return err->status;
    opened = fopen(path, "abe");
    if (!opened || !mend(opened, &ending)) {
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
