/* request.c: problems and plan fields as key=value words. */
#include "codegen/fields.h"
#include "codegen/plan.h"
#include "codegen/status.h"

#include <string.h>

static enum lathe_status refuse_key(const char *key, const char *value, struct lathe_error *err)
{
    const char *nearest = NULL;

    for (size_t i = 0; i < lt_gemm_field_count; i++)
        nearest = lt_nearer(key, nearest, lt_gemm_fields[i].key);
    for (size_t i = 0; i < lt_plan_field_count; i++)
        nearest = lt_nearer(key, nearest, lt_plan_fields[i].key);
    return lt_fail(err, LATHE_BAD_WORD, "%.40s=%.40s: no such key%s%s; lathe list names them all",
                   key, value, nearest ? "; nearest: " : "", nearest ? nearest : "");
}

enum lathe_status lathe_request_set(struct lathe_request *request, const char *key,
                                    const char *value, struct lathe_error *err)
{
    if (!request || !key || !value)
        return lt_fail(err, LATHE_MISUSED, "lathe_request_set: needs a request, a key and a value");

    if (lt_check_layout(request, "lathe_request", err) != LATHE_OK)
        return LATHE_MISUSED;

    const struct lt_field *field = lt_field_find(lt_gemm_fields, lt_gemm_field_count, key);

    if (field)
        return lt_field_set(field, (char *)&request->gemm + field->offset, value, err);
    field = lt_field_find(lt_plan_fields, lt_plan_field_count, key);
    if (field)
        return lt_field_set(field, (char *)&request->plan + field->offset, value, err);
    return refuse_key(key, value, err);
}

static enum lathe_status set_word(struct lathe_request *request, const char *word,
                                  struct lathe_error *err)
{
    char key[32];
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : 0;

    if (!equals || length == 0)
        return lt_fail(err, LATHE_BAD_WORD, "'%.40s': not of the form key=value", word);
    if (length >= sizeof key)
        return lt_fail(err, LATHE_BAD_WORD, "'%.40s...': no key is that long", word);
    memcpy(key, word, length);
    key[length] = '\0';
    return lathe_request_set(request, key, equals + 1, err);
}

enum lathe_status lathe_request_parse(struct lathe_request *request, int count,
                                      const char *const *words, struct lathe_error *err)
{
    static const char *const required[] = {"m", "n", "k"};
    struct lathe_request parsed = LATHE_REQUEST_INIT;
    unsigned found = 0;

    if (!request || (count > 0 && !words))
        return lt_fail(err, LATHE_MISUSED, "lathe_request_parse: needs a request and words");
    if (lt_check_layout(request, "lathe_request", err) != LATHE_OK)
        return LATHE_MISUSED;
    for (int i = 0; i < count; i++)
        if (!words[i])
            return lt_fail(err, LATHE_MISUSED, "lathe_request_parse: word %d of %d is null", i + 1,
                           count);
    if (count < 1)
        return lt_fail(err, LATHE_BAD_WORD,
                       "no problem given; for example: gemm m=4096 n=4096 "
                       "k=4096");

    enum lathe_status status = lt_family_set(&parsed.family, words[0], err);

    for (int i = 1; i < count && status == LATHE_OK; i++) {
        status = set_word(&parsed, words[i], err);
        for (unsigned r = 0; r < 3; r++)
            if (strncmp(words[i], required[r], 1) == 0 && words[i][1] == '=')
                found |= 1u << r;
    }
    if (status != LATHE_OK)
        return status;
    for (unsigned r = 0; r < 3; r++)
        if (!(found & 1u << r))
            return lt_fail(err, LATHE_BAD_WORD,
                           "%s is missing; a gemm needs m=, n= and k=", required[r]);
    lt_export(request, &parsed);
    return LATHE_OK;
}

static void append_set_fields(struct lt_text *text, const struct lt_field *fields, size_t count,
                              const void *object)
{
    for (size_t i = 0; i < count; i++) {
        const void *storage = (const char *)object + fields[i].offset;
        bool size = strlen(fields[i].key) == 1; /* m, n, k: 0 is a size like any other */

        if (!size && !lt_field_is_set(&fields[i], storage))
            continue;
        lt_text_append(text, " ");
        lt_text_append(text, fields[i].key);
        lt_text_append(text, "=");
        lt_field_print(&fields[i], storage, text);
    }
}

size_t lathe_request_words(const struct lathe_request *request, char *buffer, size_t size)
{
    static const struct lathe_request nothing = LATHE_REQUEST_INIT;
    struct lt_text text = {0};

    /* There is no telling what is where in one of another header. */
    if (!request || request->struct_size != sizeof *request)
        request = &nothing;

    const char *family = lt_word_of(lt_words_family, (int)request->family);

    lt_text_append(&text, family ? family : "none");
    append_set_fields(&text, lt_gemm_fields, lt_gemm_field_count, &request->gemm);
    append_set_fields(&text, lt_plan_fields, lt_plan_field_count, &request->plan);

    size_t length = lt_text_copy(&text, buffer, size);

    lt_text_free(&text);
    return length;
}
