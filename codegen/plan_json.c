/* plan_json.c: plans as JSON objects, both ways. */
#include "codegen/plan_json.h"

#include "codegen/fields.h"
#include "codegen/plan.h"
#include "codegen/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t lt_json_copy(json_t *object, char *buffer, size_t size)
{
    char *dump = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    size_t length = dump ? strlen(dump) : 0;

    if (buffer && size > 0) {
        size_t count = length < size ? length : size - 1;

        if (count > 0)
            memcpy(buffer, dump, count);
        buffer[count] = '\0';
    }
    free(dump);
    json_decref(object);
    return length;
}

static json_t *field_json(const struct lt_field *field, const void *storage)
{
    if (field->kind == LT_INT)
        return json_integer(*(const int *)storage);

    struct lt_text text = {0};

    lt_field_print(field, storage, &text);

    json_t *value = json_string(text.data ? text.data : "");

    lt_text_free(&text);
    return value;
}

static json_t *smem_json(const struct lathe_plan *plan)
{
    json_t *tenants = json_array();

    for (int i = 0; i < plan->tenant_count; i++)
        json_array_append_new(tenants,
                              json_pack("{s:s, s:i, s:i}", "name", plan->tenants[i].name, "bytes",
                                        plan->tenants[i].bytes, "offset", plan->tenants[i].offset));
    return json_pack("{s:i, s:i, s:o}", "bytes", plan->smem_bytes, "limit", plan->smem_limit,
                     "tenants", tenants);
}

static void set_product(json_t *object, const char *key, int64_t a, int64_t b, int64_t c)
{
    json_object_set_new(object, key,
                        json_sprintf("%lldx%lldx%lld", (long long)a, (long long)b, (long long)c));
}

static void set_derived(json_t *object, const struct lathe_plan *plan)
{
    int64_t rows = plan->tile[0] / (plan->cta_group > 0 ? plan->cta_group : 1);
    int64_t columns = plan->tile[1];

    set_product(object, "cta_tile", rows, columns, plan->tile[2]);
    set_product(object, "cluster_tile", rows * plan->cluster[0], columns * plan->cluster[1],
                plan->tile[2]);
    json_object_set_new(object, "threads", json_integer(plan->threads));
    json_object_set_new(object, "smem", smem_json(plan));
    json_object_set_new(object, "tmem_columns", json_integer(plan->tmem_columns));
    json_object_set_new(object, "registers",
                        json_pack("{s:i, s:i, s:i, s:i}", "launch", plan->registers, "producer",
                                  plan->regs[0] ? plan->regs[0] : plan->registers, "consumer",
                                  plan->regs[1] ? plan->regs[1] : plan->registers, "accumulators",
                                  plan->accumulators));
    if (plan->predicted_ns > 0)
        json_object_set_new(object, "predicted_us", json_real((double)plan->predicted_ns / 1e3));
    json_object_set_new(object, "reason", json_string(plan->reason));
}

static json_t *plan_object(const struct lathe_plan *plan)
{
    static const char *const size_keys[] = {"m", "n", "k"};
    json_t *object = json_object();

    json_object_set_new(object, "family",
                        json_string(lt_word_of(lt_words_family, (int)plan->family)));
    json_object_set_new(object, "type", json_string(lathe_type_name(plan->type)));
    json_object_set_new(object, "out", json_string(lathe_type_name(plan->out)));
    json_object_set_new(object, "layout",
                        json_string(lt_word_of(lt_words_layout, (int)plan->layout)));
    json_object_set_new(object, "beta", json_string(lt_word_of(lt_words_beta, (int)plan->beta)));
    json_object_set_new(object, "static",
                        json_string(lt_word_of(lt_words_static, (int)plan->statics)));
    for (int i = 0; i < 3; i++)
        if (plan->statics != LATHE_STATIC_NONE && plan->static_size[i] >= 0)
            json_object_set_new(object, size_keys[i], json_integer(plan->static_size[i]));
    for (size_t i = 0; i < lt_plan_field_count; i++) {
        const void *storage = (const char *)plan + lt_plan_fields[i].plan_offset;

        if (lt_field_is_set(&lt_plan_fields[i], storage))
            json_object_set_new(object, lt_plan_fields[i].key,
                                field_json(&lt_plan_fields[i], storage));
    }
    set_derived(object, plan);
    return object;
}

size_t lathe_plan_json(const struct lathe_plan *given, char *buffer, size_t size)
{
    struct lathe_plan plan;

    lt_import_plan(&plan, given, NULL); /* no plan prints as one of zeros */
    return lt_json_copy(plan_object(&plan), buffer, size);
}

static const char *const derived_keys[] = {"cta_tile",     "cluster_tile", "threads",
                                           "smem",         "tmem_columns", "registers",
                                           "predicted_us", "reason"};

static bool is_derived(const char *key)
{
    for (size_t i = 0; i < sizeof derived_keys / sizeof derived_keys[0]; i++)
        if (strcmp(key, derived_keys[i]) == 0)
            return true;
    return false;
}

static enum lathe_status read_member(struct lathe_plan *plan, const char *key, json_t *value,
                                     struct lathe_error *err)
{
    char number[32];
    const char *word = json_string_value(value);

    if (is_derived(key))
        return LATHE_OK;
    if (json_is_integer(value)) {
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
        word = number;
    }
    if (!word)
        return lt_fail(err, LATHE_BAD_WORD, "\"%.40s\": must be a string or a whole number", key);
    if (strcmp(key, "family") == 0)
        return lt_family_set(&plan->family, word, err);
    return lt_plan_set_key(plan, key, word, err);
}

enum lathe_status lt_plan_read_json(struct lathe_plan *plan, const char *text,
                                    struct lathe_error *err)
{
    json_error_t where;
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &where);
    enum lathe_status status = LATHE_OK;
    const char *key;
    json_t *value;

    if (!json_is_object(object))
        status =
            lt_fail(err, LATHE_BAD_WORD, "a plan as JSON must be one object: line %d: %.80s",
                    object ? 1 : where.line, object ? "something else stands here" : where.text);
    else
        json_object_foreach(object, key, value)
        {
            status = read_member(plan, key, value, err);
            if (status != LATHE_OK)
                break;
        }
    json_decref(object);
    return status;
}
