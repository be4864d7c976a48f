#include "cli/output.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Standard output ---- */

static bool is_terminal(int descriptor)
{
    const char *terminal = getenv("TERM");

    return isatty(descriptor) && terminal && strcmp(terminal, "dumb") != 0;
}

struct output output_open(bool json)
{
    const char *no_color = getenv("NO_COLOR");

    return (struct output){
        .json = json,
        .colour = is_terminal(STDOUT_FILENO) && !(no_color && no_color[0]),
        .progress = is_terminal(STDERR_FILENO),
    };
}

static void note_failure(struct output *out)
{
    if (out->write_errno == 0)
        out->write_errno = errno ? errno : EIO;
}

int output_close(struct output *out, int code)
{
    errno = 0;
    if (fclose(stdout) != 0)
        note_failure(out);
    if (out->write_errno == 0)
        return code;
    /* Who closed the pipe, such as head, has read enough: no reason to complain. */
    if (out->write_errno != EPIPE)
        output_note("standard output: %s", strerror(out->write_errno));
    return code == EXIT_DONE ? EXIT_CANNOT : code;
}

void output_text(struct output *out, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (vprintf(format, arguments) < 0)
        note_failure(out);
    va_end(arguments);
}

void output_bytes(struct output *out, const void *data, size_t size)
{
    if (fwrite(data, 1, size, stdout) != size)
        note_failure(out);
}

int output_json(struct output *out, json_t *object, int code)
{
    char *text =
        object ? json_dumps(object, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9))
               : NULL;

    json_decref(object);
    if (!text) {
        output_note("no memory for the answer");
        return EXIT_CANNOT;
    }
    output_text(out, "%s\n", text);
    free(text);
    return code;
}

const char *output_style(const struct output *out, enum style style)
{
    static const char *const escapes[] = {
        [STYLE_PLAIN] = "\033[0m",
        [STYLE_BOLD] = "\033[1m",
        [STYLE_GOOD] = "\033[32m",
        [STYLE_BAD] = "\033[1;31m",
    };

    return out->colour ? escapes[style] : "";
}

/* ---- Words from outside ---- */

/* Those of one byte, and those of two bytes of UTF-8 that terminals take for them. */
static bool is_control(const char *at)
{
    unsigned char c = (unsigned char)at[0], next = (unsigned char)at[1];

    return c < 0x20 || c == 0x7f || (c == 0xc2 && next >= 0x80 && next < 0xa0);
}

const char *output_plain(const char *text, char room[PLAIN_SIZE])
{
    size_t length = 0;

    for (; *text && length < PLAIN_SIZE - 1; text++) {
        bool control = is_control(text);

        text += control && text[0] == '\xc2';
        room[length++] = control ? '?' : *text;
    }
    room[length] = '\0';
    return room;
}

/* ---- Standard error ---- */

/* One line, whatever the words of the user hold: no line ends, no escapes. */
static void print_line(const char *text)
{
    for (; *text; text++) {
        bool control = is_control(text);

        text += control && text[0] == '\xc2';
        fputc(control ? '?' : *text, stderr);
    }
    fputc('\n', stderr);
}

void output_note(const char *format, ...)
{
    char line[LATHE_MESSAGE_SIZE + 256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fputs("lathe: ", stderr);
    print_line(line);
}

/* ---- Refusals ---- */

enum lathe_status fail(struct lathe_error *err, enum lathe_status status, const char *format, ...)
{
    va_list arguments;

    *err = (struct lathe_error){.status = status};
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return status;
}

void fail_more(struct lathe_error *err, const char *format, ...)
{
    size_t length = strlen(err->message);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(err->message + length, sizeof err->message - length, format, arguments);
    va_end(arguments);
}

static json_t *doors_json(const struct lathe_error *err)
{
    json_t *doors = json_array();

    for (int i = 0; i < err->fits_count; i++) {
        json_t *door = json_array();
        char words[LATHE_WORDS_SIZE];
        char *rest = words;

        memcpy(words, err->fits_with[i], sizeof words);
        for (char *word; (word = strsep(&rest, " "));)
            json_array_append_new(door, json_text(word));
        json_array_append_new(doors, door);
    }
    return doors;
}

json_t *output_error(const struct lathe_error *err)
{
    bool budget = err->status == LATHE_DOES_NOT_FIT;
    json_t *error = json_pack("{s:s, s:o}", "code", lathe_status_name(err->status), "message",
                              json_text(err->message));

    if (budget || err->needs_bytes > 0) {
        json_object_set_new(error, "needs_bytes", json_integer(err->needs_bytes));
        json_object_set_new(error, "limit_bytes", json_integer(err->limit_bytes));
    }
    if (budget || err->fits_count > 0)
        json_object_set_new(error, "fits_with", doors_json(err));
    return error;
}

int output_code(const struct lathe_error *err)
{
    bool usage = err->status == LATHE_BAD_WORD || err->status == LATHE_OUT_OF_RANGE;

    return usage ? EXIT_USAGE : EXIT_CANNOT;
}

int output_refuse(struct output *out, const struct lathe_error *err)
{
    output_note("%s", err->message);
    if (out->json)
        return output_json(out, json_pack("{s:o}", "error", output_error(err)), output_code(err));
    for (int i = 0; i < err->fits_count; i++)
        fprintf(stderr, "%s%s", i == 0 ? "  would fit: " : " | ", err->fits_with[i]);
    if (err->fits_count > 0)
        fputc('\n', stderr);
    return output_code(err);
}

/* ---- JSON values ---- */

json_t *json_text(const char *text)
{
    json_t *value = json_string(text);

    if (value)
        return value;

    /* Not UTF-8, such as a word of the user's cut short. */
    char *copy = strdup(text);

    for (char *at = copy; at && *at; at++)
        if ((unsigned char)*at >= 0x80)
            *at = '?';
    value = copy ? json_string(copy) : NULL;
    free(copy);
    return value;
}

json_t *json_number(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

/* ---- Tables ---- */

void table_cell(struct table *table, const char *format, ...)
{
    va_list arguments;
    char *cell = NULL;

    if (table->count == table->room) {
        size_t room = table->room ? 2 * table->room : 64;
        char **cells = realloc(table->cells, room * sizeof *cells);

        if (!cells) {
            table->failed = true;
            return;
        }
        table->cells = cells;
        table->room = room;
    }
    va_start(arguments, format);
    if (vasprintf(&cell, format, arguments) < 0)
        cell = NULL;
    va_end(arguments);
    table->failed = table->failed || !cell;
    table->cells[table->count++] = cell;
}

static void measure(const struct table *table, int widths[TABLE_COLUMNS_MAX])
{
    memset(widths, 0, TABLE_COLUMNS_MAX * sizeof *widths);
    for (size_t i = 0; i < table->count; i++) {
        int *width = &widths[i % (size_t)table->columns];
        int length = (int)strlen(table->cells[i]);

        if (length > *width)
            *width = length;
    }
}

/* Lines end with their last word, not with the spaces that would fill them up. */
static void print_row(const struct table *table, size_t first, const int *widths,
                      struct output *out)
{
    int last = table->columns - 1;

    while (last > 0 && table->cells[first + (size_t)last][0] == '\0')
        last--;
    for (int i = 0; i <= last; i++) {
        const char *cell = table->cells[first + (size_t)i];
        bool right = table->right >> i & 1;

        if (right)
            output_text(out, "%*s", widths[i], cell);
        else
            output_text(out, "%-*s", i < last ? widths[i] : 0, cell);
        output_text(out, i < last ? "  " : "\n");
    }
}

void table_print(struct table *table, struct output *out, int indent)
{
    int widths[TABLE_COLUMNS_MAX];

    if (table->failed) {
        errno = ENOMEM;
        note_failure(out);
    } else {
        measure(table, widths);
        for (size_t i = 0; i + (size_t)table->columns <= table->count;
             i += (size_t)table->columns) {
            output_text(out, "%*s", indent, "");
            print_row(table, i, widths, out);
        }
    }
    table_free(table);
}

void table_free(struct table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    table->cells = NULL;
    table->count = table->room = 0;
}

/* "sm_100a sm_103a" */
static void add_words(struct table *table, const json_t *words)
{
    char text[256] = "";
    const json_t *word;
    size_t i;

    json_array_foreach(words, i, word)
    {
        size_t length = strlen(text);

        snprintf(text + length, sizeof text - length, "%s%s", length > 0 ? " " : "",
                 json_string_value(word));
    }
    table_cell(table, "%s", text[0] ? text : "-");
}

static void add_value(struct table *table, const json_t *value)
{
    if (json_is_array(value))
        add_words(table, value);
    else if (json_is_integer(value))
        table_cell(table, "%lld", (long long)json_integer_value(value));
    else if (json_is_boolean(value))
        table_cell(table, "%s", json_is_true(value) ? "yes" : "no");
    else if (json_string_length(value) > 0)
        table_cell(table, "%s", json_string_value(value));
    else
        table_cell(table, "-");
}

void output_rows(struct output *out, const json_t *rows, int indent)
{
    json_t *first = json_array_get(rows, 0);
    struct table table = {.columns = (int)json_object_size(first)};
    const char *key;
    json_t *value;
    size_t i;
    json_t *row;

    json_object_foreach(first, key, value)
    {
        if (json_is_integer(value))
            table.right |= 1U << table.count;
        table_cell(&table, "%s", key);
    }
    json_array_foreach(rows, i, row)
    {
        json_object_foreach(row, key, value) add_value(&table, value);
    }
    table_print(&table, out, indent);
}
