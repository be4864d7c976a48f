#include "codegen/plan.h"

#include "codegen/fields.h"
#include "codegen/plan_json.h"
#include "codegen/status.h"
#include "codegen/text.h"

#include <assert.h>
#include <string.h>

static const char custom_prefix[] = "custom(from ";

const char *lathe_version(void)
{
#define STRING_(x) #x
#define STRING(x) STRING_(x)
    return STRING(LATHE_VERSION_MAJOR) "." STRING(LATHE_VERSION_MINOR) "." STRING(
        LATHE_VERSION_PATCH);
#undef STRING
#undef STRING_
}

int lathe_type_bytes(enum lathe_type type)
{
    switch (type) {
    case LATHE_TYPE_DEFAULT:
        return 0;
    case LATHE_F16:
    case LATHE_BF16:
        return 2;
    case LATHE_F32:
    case LATHE_TF32:
    case LATHE_S32:
        return 4;
    case LATHE_E4M3:
    case LATHE_E5M2:
    case LATHE_INT8:
        return 1;
    }
    return 0;
}

const char *lathe_type_name(enum lathe_type type)
{
    const char *word = lt_word_of(lt_words_type, (int)type);

    return word ? word : "default";
}

/* Every such struct begins with its size. Any that is larger is none of ours. */
enum { STRUCT_SIZE_MOST = 1 << 16 };

static size_t size_of(const void *object)
{
    size_t size;

    memcpy(&size, object, sizeof size);
    return size;
}

enum lathe_status lt_check_size(const void *theirs, const char *name, struct lathe_error *err)
{
    size_t size = size_of(theirs);

    if (size > sizeof size && size <= STRUCT_SIZE_MOST)
        return LATHE_OK;
    return lt_fail(err, LATHE_MISUSED,
                   "struct %s with a struct_size of %zu: make it with its _INIT macro", name, size);
}

enum lathe_status lt_check_layout_(const void *theirs, size_t our_size, const char *name,
                                   struct lathe_error *err)
{
    enum lathe_status status = lt_check_size(theirs, name, err);

    if (status == LATHE_OK && size_of(theirs) != our_size)
        return lt_fail(err, LATHE_MISUSED,
                       "struct %s of %zu bytes: in Lathe %s it has %zu; compile what uses it anew",
                       name, size_of(theirs), lathe_version(), our_size);
    return status;
}

enum lathe_status lt_import_(void *ours, size_t our_size, const void *theirs, const char *name,
                             struct lathe_error *err)
{
    memset(ours, 0, our_size);
    memcpy(ours, &our_size, sizeof our_size);
    if (!theirs)
        return LATHE_OK;

    enum lathe_status status = lt_check_size(theirs, name, err);
    size_t size = status == LATHE_OK ? size_of(theirs) : 0;

    for (size_t i = our_size; i < size; i++)
        if (((const char *)theirs)[i] != 0)
            return lt_fail(err, LATHE_MISUSED,
                           "struct %s has a field set that Lathe %s does not know yet", name,
                           lathe_version());
    if (status == LATHE_OK)
        memcpy((char *)ours + sizeof size, (const char *)theirs + sizeof size,
               (size < our_size ? size : our_size) - sizeof size);
    return status;
}

/* Behind the end of a string anything may stand, and there may be no end; a name that is cut by
 * this is none that anything has. */
static void end_string(char *string, size_t size)
{
    size_t length = strnlen(string, size - 1);

    memset(string + length, 0, size - length);
}

enum lathe_status lt_import_plan(struct lathe_plan *ours, const struct lathe_plan *theirs,
                                 struct lathe_error *err)
{
    enum lathe_status status = lt_import(ours, theirs, "lathe_plan", err);

    end_string(ours->variant, sizeof ours->variant);
    end_string(ours->reason, sizeof ours->reason);
    for (int i = 0; i < LATHE_TENANTS_MAX; i++)
        end_string(ours->tenants[i].name, sizeof ours->tenants[i].name);
    if (ours->tenant_count < 0)
        ours->tenant_count = 0;
    if (ours->tenant_count > LATHE_TENANTS_MAX)
        ours->tenant_count = LATHE_TENANTS_MAX;
    return status;
}

enum lathe_status lt_import_options(struct lathe_plan_options *ours,
                                    const struct lathe_plan_options *theirs,
                                    struct lathe_error *err)
{
    enum lathe_status status = lt_import(ours, theirs, "lathe_plan_options", err);

    end_string(ours->variant, sizeof ours->variant);
    return status;
}

void lt_export(void *theirs, const void *ours)
{
    size_t their_size = size_of(theirs), our_size = size_of(ours);

    /* Everything behind struct_size, as far as both have it. */
    memcpy((char *)theirs + sizeof their_size, (const char *)ours + sizeof our_size,
           (their_size < our_size ? their_size : our_size) - sizeof our_size);
}

static size_t append_fields(unsigned char *key, size_t at, const struct lt_field *fields,
                            size_t count, const void *object)
{
    for (size_t i = 0; i < count; i++) {
        const void *storage = (const char *)object + fields[i].offset;
        size_t bytes = lt_field_bytes(&fields[i]);

        assert(at + bytes <= LT_PLAN_KEY_BYTES);
        /* Behind the end of a name anything may stand. */
        memcpy(key + at, storage, fields[i].kind == LT_NAME ? strnlen(storage, bytes) : bytes);
        at += bytes;
    }
    return at;
}

void lt_plan_key(unsigned char key[LT_PLAN_KEY_BYTES], const struct lathe_gemm *problem,
                 const struct lathe_plan_options *options)
{
    memset(key, 0, LT_PLAN_KEY_BYTES);

    size_t at = append_fields(key, 0, lt_gemm_fields, lt_gemm_field_count, problem);

    append_fields(key, at, lt_plan_fields, lt_plan_field_count, options);
}

void lt_plan_preset(const char *variant, char preset[LATHE_NAME_SIZE])
{
    size_t prefix = sizeof custom_prefix - 1;
    size_t length = strnlen(variant, LATHE_NAME_SIZE - 1);
    bool custom = length > prefix + 1 && variant[length - 1] == ')' &&
                  strncmp(variant, custom_prefix, prefix) == 0;

    if (custom) {
        variant += prefix;
        length -= prefix + 1;
    }
    memcpy(preset, variant, length);
    preset[length] = '\0';
}

/* ---- Words ---- */

static void append_word(struct lt_text *text, const struct lt_field *field, const void *storage)
{
    lt_text_append(text, text->length > 0 ? " " : "");
    lt_text_append(text, field->key);
    lt_text_append(text, "=");
    lt_field_print(field, storage, text);
}

/* The problem's part of a plan: types, layout, beta, baked-in sizes. */
static void append_problem(struct lt_text *text, const struct lathe_plan *plan)
{
    static const char *const size_keys[] = {"m", "n", "k"};
    struct lathe_gemm gemm = LATHE_GEMM_INIT;

    gemm.type = plan->type;
    gemm.out = plan->out;
    gemm.layout = plan->layout;
    gemm.beta = plan->beta;
    gemm.statics = plan->statics;
    lt_text_append(text, lt_word_of(lt_words_family, (int)plan->family)
                             ? lt_word_of(lt_words_family, (int)plan->family)
                             : "none");
    for (size_t i = 0; i < lt_gemm_field_count; i++)
        if (lt_gemm_fields[i].decides == LT_TEXT)
            append_word(text, &lt_gemm_fields[i], (const char *)&gemm + lt_gemm_fields[i].offset);
    for (int i = 0; i < 3; i++)
        if (plan->statics != LATHE_STATIC_NONE && plan->static_size[i] >= 0) {
            lt_text_append(text, " ");
            lt_text_append(text, size_keys[i]);
            lt_text_append(text, "=");
            lt_text_append_int(text, plan->static_size[i]);
        }
}

static size_t print_words(const struct lathe_plan *plan, bool text_only, char *buffer, size_t size)
{
    struct lathe_plan named = *plan;
    struct lt_text text = {0};

    if (text_only) /* the text is the same whether the preset was changed or named field by field */
        lt_plan_preset(plan->variant, named.variant);
    append_problem(&text, &named);
    for (size_t i = 0; i < lt_plan_field_count; i++) {
        const struct lt_field *field = &lt_plan_fields[i];
        const void *storage = (const char *)&named + field->plan_offset;

        if (lt_field_is_set(field, storage) && !(text_only && field->decides != LT_TEXT))
            append_word(&text, field, storage);
    }

    size_t length = lt_text_copy(&text, buffer, size);

    lt_text_free(&text);
    return length;
}

size_t lathe_plan_words(const struct lathe_plan *given, char *buffer, size_t size)
{
    struct lathe_plan plan;

    /* There is no way to say what is wrong: what is no plan prints as one of zeros. */
    lt_import_plan(&plan, given, NULL);
    return print_words(&plan, false, buffer, size);
}

size_t lt_plan_text_words(const struct lathe_plan *plan, char *buffer, size_t size)
{
    return print_words(plan, true, buffer, size);
}

/* ---- Reading ---- */

static enum lathe_status refuse_key(const char *key, const char *value, struct lathe_error *err)
{
    const char *nearest = NULL;

    for (size_t i = 0; i < lt_gemm_field_count; i++)
        if (lt_gemm_fields[i].decides == LT_TEXT)
            nearest = lt_nearer(key, nearest, lt_gemm_fields[i].key);
    for (size_t i = 0; i < lt_plan_field_count; i++)
        nearest = lt_nearer(key, nearest, lt_plan_fields[i].key);
    return lt_fail(err, LATHE_BAD_WORD, "%.40s=%.40s: a plan has no such field%s%s", key, value,
                   nearest ? "; nearest: " : "", nearest ? nearest : "");
}

enum lathe_status lt_plan_set_key(struct lathe_plan *plan, const char *key, const char *value,
                                  struct lathe_error *err)
{
    static const char *const size_keys[] = {"m", "n", "k"};
    const struct lt_field *field = lt_field_find(lt_plan_fields, lt_plan_field_count, key);

    if (field)
        return lt_field_set(field, (char *)plan + field->plan_offset, value, err);
    field = lt_field_find(lt_gemm_fields, lt_gemm_field_count, key);
    for (int i = 0; field && i < 3; i++)
        if (strcmp(key, size_keys[i]) == 0)
            return lt_field_set(field, &plan->static_size[i], value, err);
    if (!field || field->decides != LT_TEXT)
        return refuse_key(key, value, err);

    struct lathe_gemm gemm = LATHE_GEMM_INIT;
    enum lathe_status status = lt_field_set(field, (char *)&gemm + field->offset, value, err);

    if (status != LATHE_OK)
        return status;
    if (gemm.type != LATHE_TYPE_DEFAULT)
        plan->type = gemm.type;
    if (gemm.out != LATHE_TYPE_DEFAULT)
        plan->out = gemm.out;
    if (gemm.layout != LATHE_LAYOUT_DEFAULT)
        plan->layout = gemm.layout;
    if (gemm.beta != LATHE_BETA_DEFAULT)
        plan->beta = gemm.beta;
    if (gemm.statics != LATHE_STATIC_NONE)
        plan->statics = gemm.statics;
    return LATHE_OK;
}

enum lathe_status lt_family_set(enum lathe_family *family, const char *word,
                                struct lathe_error *err)
{
    for (const struct lt_word *known = lt_words_family; known->word; known++)
        if (strcmp(known->word, word) == 0) {
            *family = (enum lathe_family)known->value;
            return LATHE_OK;
        }
    return lt_fail(err, LATHE_BAD_WORD, "'%.40s': no such family; nearest: gemm", word);
}

/* A word ends at a blank, but for the one within the parentheses of "custom(from PRESET)". */
static size_t word_length(const char *text)
{
    static const char blanks[] = " \t\r\n";
    size_t length = strcspn(text, " \t\r\n(");

    if (text[length] == '(')
        length += strcspn(text + length, ")\r\n");
    return length + strcspn(text + length, blanks);
}

static enum lathe_status read_words(struct lathe_plan *plan, const char *text,
                                    struct lathe_error *err)
{
    char word[128];
    bool first = true;

    for (;;) {
        text += strspn(text, " \t\r\n");
        if (*text == '\0')
            break;

        size_t length = word_length(text);

        if (length >= sizeof word)
            return lt_fail(err, LATHE_BAD_WORD, "'%.40s...': too long for a word of a plan", text);
        memcpy(word, text, length);
        word[length] = '\0';
        text += length;

        char *equals = strchr(word, '=');
        enum lathe_status status;

        if (first) {
            status = lt_family_set(&plan->family, word, err);
        } else if (!equals) {
            status = lt_fail(err, LATHE_BAD_WORD, "'%.40s': not of the form key=value", word);
        } else {
            *equals = '\0';
            status = lt_plan_set_key(plan, word, equals + 1, err);
        }
        if (status != LATHE_OK)
            return status;
        first = false;
    }
    return LATHE_OK;
}

enum lathe_status lt_plan_read(struct lathe_plan *plan, const char *text, struct lathe_error *err)
{
    *plan = (struct lathe_plan)LATHE_PLAN_INIT;
    for (int i = 0; i < 3; i++)
        plan->static_size[i] = -1;
    text += strspn(text, " \t\r\n");

    enum lathe_status status =
        *text == '{' ? lt_plan_read_json(plan, text, err) : read_words(plan, text, err);

    if (status == LATHE_OK && plan->family == LATHE_FAMILY_NONE)
        return lt_fail(err, LATHE_BAD_WORD, "family is missing; a plan begins with: gemm");
    return status;
}
