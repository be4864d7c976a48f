#include "cli/emulate_words.h"

#include "cli/file.h"
#include "cli/output.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_MOST = 1024, CLUSTER_MOST = 16 };

static const int64_t BUFFER_MOST = INT64_C(1) << 34;

static const char buffer_words[] = "BYTES[:zero|:iota32|:iota-TYPE|:random|:random-TYPE|:FILE]";

/* ---- Buffers ---- */

static enum lathe_status add_buffer(struct job *job, const struct listed *word, const char *text,
                                    struct lathe_error *err)
{
    struct lathe_emulated_buffer *buffer = &job->buffers[job->buffer_count];
    const char *how = strchr(text, ':');
    char digits[24];
    size_t length = how ? (size_t)(how - text) : strlen(text);
    int64_t bytes = 0;

    snprintf(digits, sizeof digits, "%.*s", (int)length, text);
    if (length >= sizeof digits || !lathe_bytes_parse(digits, &bytes) || bytes < 1 ||
        bytes > BUFFER_MOST)
        return fail(err, LATHE_OUT_OF_RANGE,
                    "%s=%.80s: a buffer is %s, of 1 to %lld bytes (K, M, G for powers of 1024)",
                    word->key->name, word->value, buffer_words, (long long)BUFFER_MOST);
    *buffer = (struct lathe_emulated_buffer){calloc(1, (size_t)bytes), (size_t)bytes};
    if (!buffer->data)
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for a buffer of %lld bytes",
                    (long long)bytes);
    job->buffer_count++;
    return buffer_fill(buffer, job->buffer_count - 1, how ? how + 1 : "zero", err);
}

/* ---- Arguments ---- */

/* KIND: of "KIND:..."; what is behind it, or null. */
static const char *behind(const char *text, const char *kind)
{
    size_t length = strlen(kind);

    return strncmp(text, kind, length) == 0 && text[length] == ':' ? text + length + 1 : NULL;
}

static enum lathe_status refuse_argument(const char *value, struct lathe_error *err)
{
    return fail(err, LATHE_BAD_WORD,
                "arg=%.80s: must be TYPE:NUMBER[,NUMBER...] (%s), buf:%s, ptr:BUFFER[:OFFSET], %s "
                "or file:FILE",
                value, element_names, buffer_words, map_words);
}

static enum lathe_status read_pointer(const char *text, const char *value,
                                      struct lathe_argument *argument, struct lathe_error *err)
{
    uint64_t numbers[2] = {0, 0};
    const char *offset = strchr(text, ':');
    size_t length = offset ? (size_t)(offset - text) : strlen(text);

    if (shape_parse(text, length, &numbers[0], 1) != 1 || numbers[0] > INT16_MAX ||
        (offset && shape_parse(offset + 1, strlen(offset + 1), &numbers[1], 1) != 1))
        return refuse_argument(value, err);
    argument->kind = LATHE_ARGUMENT_POINTER;
    argument->buffer = (int)numbers[0];
    argument->offset = numbers[1];
    return LATHE_OK;
}

/* The numbers of "1,2,3", which is cut up, one behind the other; false where a piece is no number
 * of the type. */
static bool read_numbers(const struct element *element, char *text, unsigned char *bytes)
{
    for (char *comma; (comma = strchr(text, ',')); text = comma + 1) {
        *comma = '\0';
        if (!element_parse(element, text, bytes))
            return false;
        bytes += element->bytes;
    }
    return element_parse(element, text, bytes);
}

static enum lathe_status read_value(struct job *job, const char *value,
                                    struct lathe_argument *argument, struct lathe_error *err)
{
    size_t length = strcspn(value, ":"), count = 1;
    const struct element *element = value[length] ? element_find(value, length) : NULL;
    char *bytes, *text;
    bool are_numbers;

    if (!element)
        return refuse_argument(value, err);
    for (const char *comma = value; (comma = strchr(comma, ',')); comma++)
        count++;
    bytes = calloc(count, (size_t)element->bytes);
    text = strdup(value + length + 1);
    job->values[job->argument_count] = bytes;
    argument->bytes = count * (size_t)element->bytes;
    are_numbers = bytes && text && read_numbers(element, text, (unsigned char *)bytes);
    free(text);
    if (!bytes || !text)
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for an argument");
    if (!are_numbers)
        return fail(err, LATHE_OUT_OF_RANGE,
                    "arg=%.80s: behind %s: must stand a number of it, or several with commas",
                    value, element->name);
    return LATHE_OK;
}

static enum lathe_status read_argument(struct job *job, const struct listed *word,
                                       struct lathe_argument *argument, struct lathe_error *err)
{
    const char *value = word->value, *rest;

    if ((rest = behind(value, "buf"))) {
        argument->kind = LATHE_ARGUMENT_POINTER;
        argument->buffer = job->buffer_count;
        return add_buffer(job, word, rest, err);
    }
    if ((rest = behind(value, "ptr")))
        return read_pointer(rest, value, argument, err);
    if ((rest = behind(value, "map"))) {
        argument->kind = LATHE_ARGUMENT_MAP;
        return map_parse(rest, &argument->buffer, &argument->map) ? LATHE_OK
                                                                  : refuse_argument(value, err);
    }
    if ((rest = behind(value, "file")))
        return file_read(rest, &job->values[job->argument_count], &argument->bytes, err);
    return read_value(job, value, argument, err);
}

static enum lathe_status add_argument(struct job *job, const struct listed *word,
                                      struct lathe_error *err)
{
    struct lathe_argument *argument = &job->arguments[job->argument_count];
    enum lathe_status status;

    *argument = (struct lathe_argument){.kind = LATHE_ARGUMENT_VALUE};
    status = read_argument(job, word, argument, err);
    argument->value = job->values[job->argument_count++];
    return status;
}

/* ---- What becomes of the buffers ---- */

static enum lathe_status refuse_wish(const struct listed *word, struct lathe_error *err)
{
    return fail(err, LATHE_BAD_WORD, "%s=%.80s: must be %s", word->key->name, word->value,
                word->key->values);
}

static enum lathe_status read_print(struct wish *wish, const struct listed *word, const char *text,
                                    struct lathe_error *err)
{
    size_t length = strcspn(text, ":");
    uint64_t count;

    wish->element = element_find(text, length);
    if (!wish->element)
        return fail(err, LATHE_BAD_WORD, "print=%.80s: no such type (known: %s)", word->value,
                    element_names);

    size_t most = wish->buffer->bytes / (size_t)wish->element->bytes;

    wish->count = most;
    if (!text[length])
        return LATHE_OK;
    if (shape_parse(text + length + 1, strlen(text + length + 1), &count, 1) != 1)
        return refuse_wish(word, err);
    wish->count = (size_t)count;
    return count <= most ? LATHE_OK
                         : fail(err, LATHE_OUT_OF_RANGE, "print=%.80s: the buffer has %zu elements",
                                word->value, most);
}

static enum lathe_status read_expected(struct wish *wish, const char *path, struct lathe_error *err)
{
    size_t size;
    enum lathe_status status = file_read(path, &wish->expected, &size, err);

    if (status == LATHE_OK && size != wish->buffer->bytes)
        status = fail(err, LATHE_OUT_OF_RANGE, "%.200s: has %zu bytes, and buffer %d has %zu", path,
                      size, wish->index, wish->buffer->bytes);
    return status;
}

static enum lathe_status add_wish(struct job *job, const struct listed *word,
                                  struct lathe_error *err)
{
    struct wish *wish = &job->wishes[job->wish_count++];
    const char *name = word->key->name, *text = strchr(word->value, ':');
    size_t length = strcspn(word->value, ":");
    uint64_t index;

    *wish = (struct wish){.kind = WISH_OUT};
    if (!text || !text[1] || shape_parse(word->value, length, &index, 1) != 1)
        return refuse_wish(word, err);
    text++;
    if (index >= (uint64_t)job->buffer_count)
        return fail(err, LATHE_OUT_OF_RANGE,
                    "%s=%.80s: there is no such buffer; buf: and buffer= made %d, counted from 0",
                    name, word->value, job->buffer_count);
    wish->index = (int)index;
    wish->buffer = &job->buffers[index];
    if (strcmp(name, "print") == 0) {
        wish->kind = WISH_PRINT;
        return read_print(wish, word, text, err);
    }
    if (strcmp(name, "expect") == 0) {
        wish->kind = WISH_EXPECT;
        wish->path = text;
        return read_expected(wish, text, err);
    }
    wish->path = text;
    return LATHE_OK;
}

/* ---- All of it ---- */

static enum lathe_status read_shape(const struct words *words, const char *key, uint32_t shape[3],
                                    struct lathe_error *err)
{
    const char *value = words_value(words, key);
    uint64_t numbers[3] = {1, 1, 1};
    bool good = shape_parse(value, strlen(value), numbers, 3) > 0;

    for (int i = 0; i < 3; i++) {
        good = good && numbers[i] >= 1 && numbers[i] <= INT32_MAX;
        shape[i] = (uint32_t)numbers[i];
    }
    return good ? LATHE_OK
                : fail(err, LATHE_OUT_OF_RANGE,
                       "%s=%.40s: must be one to three whole numbers from 1 on, as 8x4x1", key,
                       value);
}

static enum lathe_status check_product(const char *key, const uint32_t shape[3], uint64_t most,
                                       struct lathe_error *err)
{
    if ((uint64_t)shape[0] * shape[1] <= most && (uint64_t)shape[0] * shape[1] * shape[2] <= most)
        return LATHE_OK;
    return fail(err, LATHE_OUT_OF_RANGE, "%s=%ux%ux%u: is more than %llu in all", key, shape[0],
                shape[1], shape[2], (unsigned long long)most);
}

static enum lathe_status read_launch(struct job *job, const struct words *words,
                                     struct lathe_error *err)
{
    struct lathe_emulation *e = &job->emulation;
    enum lathe_status status = read_shape(words, "grid", e->grid, err);

    if (status == LATHE_OK)
        status = read_shape(words, "block", e->block, err);
    if (status == LATHE_OK && words_given(words, "cluster"))
        status = read_shape(words, "cluster", e->cluster, err);
    if (status == LATHE_OK)
        status = check_product("block", e->block, BLOCK_MOST, err);
    if (status == LATHE_OK)
        status = check_product("cluster", e->cluster, CLUSTER_MOST, err);
    for (int i = 0; i < 3 && status == LATHE_OK && e->cluster[0] > 0; i++)
        if (e->grid[i] % e->cluster[i] != 0)
            status = fail(err, LATHE_OUT_OF_RANGE, "cluster=%s: grid=%s is no multiple of it",
                          words_value(words, "cluster"), words_value(words, "grid"));
    e->entry = words_given(words, "entry") ? words_value(words, "entry") : NULL;
    e->arch = words_given(words, "arch") ? words_value(words, "arch") : NULL;
    e->smem_bytes = (uint32_t)words_number(words, "smem", 0);
    e->seed = (uint64_t)words_number(words, "seed", 0);
    e->steps = (uint64_t)words_number(words, "steps", 0);
    e->exact = words_are(words, "exact", "1");
    e->check = (enum lathe_check)words_index("0 1 all", words_value(words, "check"));
    e->schedules = (int)words_number(words, "seeds", 1);
    if (status == LATHE_OK && e->schedules > 1 && e->check == LATHE_CHECK_OFF)
        status = fail(err, LATHE_OUT_OF_RANGE, "seeds=%d: more than one need check=1 or check=all",
                      e->schedules);
    if (status == LATHE_OK && e->schedules > 1 && words_given(words, "trace"))
        status =
            fail(err, LATHE_OUT_OF_RANGE,
                 "seeds=%d: trace= is of one schedule, in which time is modelled", e->schedules);
    return status;
}

static enum lathe_status make_room(struct job *job, int count, struct lathe_error *err)
{
    size_t room = (size_t)count + 1;

    job->buffers = calloc(room, sizeof *job->buffers);
    job->arguments = calloc(room, sizeof *job->arguments);
    job->values = calloc(room, sizeof *job->values);
    job->wishes = calloc(room, sizeof *job->wishes);
    if (job->buffers && job->arguments && job->values && job->wishes)
        return LATHE_OK;
    return fail(err, LATHE_OUT_OF_MEMORY, "no memory for %d words", count);
}

/* Buffers first: a wish may name one that stands behind it. */
static enum lathe_status read_lists(struct job *job, const struct words *words,
                                    struct lathe_error *err)
{
    enum lathe_status status = make_room(job, words->listed_count, err);

    for (int i = 0; i < words->listed_count && status == LATHE_OK; i++) {
        const struct listed *word = &words->listed[i];

        if (strcmp(word->key->name, "arg") == 0)
            status = add_argument(job, word, err);
        else if (strcmp(word->key->name, "buffer") == 0)
            status = add_buffer(job, word, word->value, err);
    }
    for (int i = 0; i < words->listed_count && status == LATHE_OK; i++) {
        const char *name = words->listed[i].key->name;

        if (strcmp(name, "arg") != 0 && strcmp(name, "buffer") != 0)
            status = add_wish(job, &words->listed[i], err);
    }
    return status;
}

enum lathe_status job_read(struct job *job, const struct words *words, struct lathe_error *err)
{
    size_t size;
    enum lathe_status status;

    *job = (struct job){.emulation = LATHE_EMULATION_INIT};
    if (words->count == 0)
        return fail(err, LATHE_BAD_WORD, "no file given; see lathe emulate --help");
    status = words_at_most(words, 1, err);
    if (status == LATHE_OK)
        status = read_launch(job, words, err);
    if (status == LATHE_OK)
        status = read_lists(job, words, err);
    if (status == LATHE_OK)
        status = file_read(words->list[0], &job->text, &size, err);
    job->emulation.text = job->text;
    job->emulation.buffers = job->buffers;
    job->emulation.buffer_count = job->buffer_count;
    job->emulation.arguments = job->arguments;
    job->emulation.argument_count = job->argument_count;
    return status;
}

void job_free(struct job *job)
{
    for (int i = 0; i < job->buffer_count; i++)
        free(job->buffers[i].data);
    for (int i = 0; i < job->argument_count; i++)
        free(job->values[i]);
    for (int i = 0; i < job->wish_count; i++)
        free(job->wishes[i].expected);
    free(job->buffers);
    free(job->arguments);
    free(job->values);
    free(job->wishes);
    free(job->text);
    *job = (struct job){.text = NULL};
}
