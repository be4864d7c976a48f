#include "codegen/fields.h"

#include "codegen/plan.h"
#include "codegen/status.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NOT_IN_PLAN SIZE_MAX

/* clang-format off */
#define LT_FIELD(key, kind, words, member, lowest, highest, decides, fallback, doc)                \
    {key, kind, words, offsetof(struct lathe_gemm, member), NOT_IN_PLAN,                           \
     lowest, highest, decides, fallback, doc},
const struct lt_field lt_gemm_fields[] = {
#include "codegen/gemm.def"
};
#undef LT_FIELD

#define LT_FIELD(key, kind, words, member, lowest, highest, decides, fallback, doc)                \
    {key, kind, words, offsetof(struct lathe_plan_options, member),                                \
     offsetof(struct lathe_plan, member), lowest, highest, decides, fallback, doc},
const struct lt_field lt_plan_fields[] = {
#include "codegen/plan.def"
};
#undef LT_FIELD
/* clang-format on */

const size_t lt_gemm_field_count = sizeof lt_gemm_fields / sizeof lt_gemm_fields[0];
const size_t lt_plan_field_count = sizeof lt_plan_fields / sizeof lt_plan_fields[0];

size_t lt_field_bytes(const struct lt_field *field)
{
    switch (field->kind) {
    case LT_SIZE:
        return sizeof(int64_t);
    case LT_INT:
    case LT_WORD:
        return sizeof(int);
    case LT_PAIR:
        return 2 * sizeof(int);
    case LT_TRIPLE:
    case LT_STAGING:
        return 3 * sizeof(int);
    case LT_NAME:
        return LATHE_NAME_SIZE;
    }
    return 0;
}

const struct lt_field *lt_field_find(const struct lt_field *fields, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].key, key) == 0)
            return &fields[i];
    return NULL;
}

/* `value` is what was given, or null where nothing was. */
static enum lathe_status refuse_number(const struct lt_field *field, const char *value,
                                       struct lathe_error *err)
{
    bool one = field->kind == LT_SIZE || field->kind == LT_INT;

    return lt_fail(err, LATHE_OUT_OF_RANGE, "%s%s%.40s: %s %lld to %lld", field->key,
                   value ? "=" : " is missing", value ? value : "",
                   one ? "must be a whole number from" : "each number must be",
                   (long long)field->lowest, (long long)field->highest);
}

/* " f16 bf16 ...": all that the field knows; to be freed. */
static struct lt_text known_words(const struct lt_field *field)
{
    struct lt_text known = {0};

    for (const struct lt_word *word = field->words; word->word; word++)
        lt_text_printf(&known, " %s", word->word);
    return known;
}

static enum lathe_status refuse_word(const struct lt_field *field, const char *value,
                                     struct lathe_error *err)
{
    const char *nearest = NULL;
    struct lt_text known = known_words(field);

    for (const struct lt_word *word = field->words; word->word; word++)
        nearest = lt_nearer(value, nearest, word->word);

    enum lathe_status status = lt_fail(
        err, LATHE_BAD_WORD, "%s=%.40s: no such %s; %s%s%s%s%sknown:%s", field->key, value,
        field->key, nearest ? "nearest: " : "", nearest ? field->key : "", nearest ? "=" : "",
        nearest ? nearest : "", nearest ? "; " : "", known.failed ? "" : known.data);

    lt_text_free(&known);
    return status;
}

static enum lathe_status set_word(const struct lt_field *field, void *target, const char *value,
                                  struct lathe_error *err)
{
    for (const struct lt_word *word = field->words; word->word; word++)
        if (strcmp(word->word, value) == 0) {
            *(int *)target = word->value;
            return LATHE_OK;
        }
    return refuse_word(field, value, err);
}

static enum lathe_status set_product(const struct lt_field *field, int *target, const char *value,
                                     struct lathe_error *err)
{
    static const char *const forms[] = {[LT_PAIR] = "AxB, such as 40x232",
                                        [LT_TRIPLE] = "AxBxC, such as 128x256x64 or 2x1x1",
                                        [LT_STAGING] = "MxN or MxNxBUFFERS, such as 128x64x2"};
    int numbers[3] = {0, 0, 1};
    int most = field->kind == LT_PAIR ? 2 : 3;
    int least = field->kind == LT_TRIPLE ? 3 : 2;

    if (!lt_parse_product(value, least, most, numbers))
        return lt_fail(err, LATHE_OUT_OF_RANGE, "%s=%.40s: must be positive numbers written %s",
                       field->key, value, forms[field->kind]);
    for (int i = 0; i < most; i++)
        if (numbers[i] < field->lowest || numbers[i] > field->highest)
            return refuse_number(field, value, err);
    memcpy(target, numbers, (size_t)most * sizeof *target);
    return LATHE_OK;
}

/* A name stands in a line of words without quotes. */
static enum lathe_status set_name(const struct lt_field *field, char *target, const char *value,
                                  struct lathe_error *err)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t length = strlen(value);
    char preset[LATHE_NAME_SIZE];

    lt_plan_preset(value, preset);
    if (length == 0 || length >= LATHE_NAME_SIZE || preset[strspn(preset, allowed)] != '\0')
        return lt_fail(err, LATHE_BAD_WORD,
                       "%s=%.60s: must be a name of 1 to %d letters, digits, '-', '_' or '.'; "
                       "lathe list names them all",
                       field->key, value, LATHE_NAME_SIZE - 1);
    memcpy(target, value, length + 1);
    return LATHE_OK;
}

enum lathe_status lt_field_set(const struct lt_field *field, void *target, const char *value,
                               struct lathe_error *err)
{
    int64_t number = 0;

    switch (field->kind) {
    case LT_SIZE:
    case LT_INT:
        if (!lt_parse_int(value, &number) || number < field->lowest || number > field->highest)
            return refuse_number(field, value, err);
        if (field->kind == LT_SIZE)
            *(int64_t *)target = number;
        else
            *(int *)target = (int)number;
        return LATHE_OK;
    case LT_WORD:
        return set_word(field, target, value, err);
    case LT_PAIR:
    case LT_TRIPLE:
    case LT_STAGING:
        return set_product(field, target, value, err);
    case LT_NAME:
        return set_name(field, target, value, err);
    }
    return lt_fail(err, LATHE_INTERNAL, "%s: a field of no known kind", field->key);
}

bool lt_field_is_set(const struct lt_field *field, const void *storage)
{
    switch (field->kind) {
    case LT_SIZE:
        return *(const int64_t *)storage != 0;
    case LT_INT:
    case LT_WORD:
    case LT_PAIR:
    case LT_TRIPLE:
    case LT_STAGING:
        return *(const int *)storage != 0;
    case LT_NAME:
        return *(const char *)storage != '\0';
    }
    return false;
}

/* The ints of a field that is made of them. */
static int int_count(enum lt_field_kind kind)
{
    switch (kind) {
    case LT_INT:
    case LT_WORD:
        return 1;
    case LT_PAIR:
        return 2;
    case LT_TRIPLE:
    case LT_STAGING:
        return 3;
    case LT_SIZE:
    case LT_NAME:
        break;
    }
    return 0;
}

static enum lathe_status refuse_enumerator(const struct lt_field *field, int value,
                                           struct lathe_error *err)
{
    struct lt_text known = known_words(field);
    const char *words = known.failed ? "" : known.data;
    enum lathe_status status =
        value == 0 ? lt_fail(err, LATHE_OUT_OF_RANGE, "%s is missing; known:%s", field->key, words)
                   : lt_fail(err, LATHE_OUT_OF_RANGE, "%s: %d is none of its values; known:%s",
                             field->key, value, words);

    lt_text_free(&known);
    return status;
}

/* As a word would give them. */
static enum lathe_status refuse_numbers(const struct lt_field *field, const int *numbers,
                                        bool missing, struct lathe_error *err)
{
    struct lt_text value = {0};
    enum lathe_status status;

    lt_field_print(field, numbers, &value);
    status = refuse_number(field, missing || value.failed ? NULL : value.data, err);
    lt_text_free(&value);
    return status;
}

/* 64-bit sizes have checks of their own, with the problem's other sizes; names are looked up. */
enum lathe_status lt_field_check(const struct lt_field *field, const void *storage,
                                 bool may_be_open, struct lathe_error *err)
{
    const int *numbers = storage;
    int count = int_count(field->kind);
    bool open = true;

    for (int i = 0; i < count; i++)
        open = open && numbers[i] == 0;
    if (open && may_be_open)
        return LATHE_OK;
    if (field->kind == LT_WORD)
        return lt_word_of(field->words, *numbers) ? LATHE_OK
                                                  : refuse_enumerator(field, *numbers, err);
    for (int i = 0; i < count; i++)
        if (numbers[i] < field->lowest || numbers[i] > field->highest)
            return refuse_numbers(field, numbers, open, err);
    return LATHE_OK;
}

void lt_field_print(const struct lt_field *field, const void *storage, struct lt_text *text)
{
    const int *numbers = storage;
    int count = field->kind == LT_PAIR ? 2 : 3;
    const char *word;

    switch (field->kind) {
    case LT_SIZE:
        lt_text_append_int(text, *(const int64_t *)storage);
        break;
    case LT_INT:
        lt_text_append_int(text, *numbers);
        break;
    case LT_WORD:
        word = lt_word_of(field->words, *numbers);
        lt_text_append(text, word ? word : "default");
        break;
    case LT_PAIR:
    case LT_TRIPLE:
    case LT_STAGING:
        for (int i = 0; i < count; i++) {
            lt_text_append(text, i > 0 ? "x" : "");
            lt_text_append_int(text, numbers[i]);
        }
        break;
    case LT_NAME:
        lt_text_append_bytes(text, storage, strnlen(storage, LATHE_NAME_SIZE));
        break;
    }
}
