/* tools.c: what the command asks of the language: words and fields. */
#include "codegen/fields.h"
#include "include/lathe_tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *lathe_nearest(const char *word, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;

    for (size_t i = 0; word && candidates && i < count; i++)
        if (candidates[i])
            nearest = lt_nearer(word, nearest, candidates[i]);
    return nearest;
}

static void describe_values(const struct lt_field *field, char *values, size_t size)
{
    struct lt_text text = {0};

    switch (field->kind) {
    case LT_SIZE:
    case LT_INT:
        lt_text_printf(&text, "%lld to %lld", (long long)field->lowest, (long long)field->highest);
        break;
    case LT_WORD:
        for (const struct lt_word *word = field->words; word->word; word++)
            lt_text_printf(&text, "%s%s", text.length > 0 ? " " : "", word->word);
        break;
    case LT_PAIR:
        lt_text_append(&text, "AxB");
        break;
    case LT_TRIPLE:
        lt_text_append(&text, strcmp(field->key, "tile") == 0 ? "MxNxK" : "AxBx1");
        break;
    case LT_STAGING:
        lt_text_append(&text, "MxN[xBUFFERS]");
        break;
    case LT_NAME:
        lt_text_append(&text, "a name of the list of variants");
        break;
    }
    lt_text_copy(&text, values, size);
    lt_text_free(&text);
}

int lathe_field_at(size_t index, struct lathe_field_info *info)
{
    bool of_plan = index >= lt_gemm_field_count;
    size_t within = of_plan ? index - lt_gemm_field_count : index;

    if (!info || (of_plan && within >= lt_plan_field_count))
        return 0;

    const struct lt_field *field = of_plan ? &lt_plan_fields[within] : &lt_gemm_fields[within];

    *info = (struct lathe_field_info){
        .key = field->key,
        .fallback = field->fallback,
        .doc = field->doc,
        .of_plan = of_plan,
    };
    describe_values(field, info->values, sizeof info->values);
    return 1;
}

const char *lathe_grouped(int64_t number, char buffer[LATHE_GROUPED_SIZE])
{
    char digits[LATHE_GROUPED_SIZE];
    int length = snprintf(digits, sizeof digits, "%" PRId64, number);
    int at = 0;

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-')
            buffer[at++] = ',';
        buffer[at++] = digits[i];
    }
    buffer[at] = '\0';
    return buffer;
}
