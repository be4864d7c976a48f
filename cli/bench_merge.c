#include "cli/bench_merge.h"

#include "cli/bench_record.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* What has figures: a row, or a part of it that stands beside its own. */
struct place {
    size_t row;
    const char *part; /* or null */
};

static json_t *find(const json_t *record, struct place place)
{
    json_t *row = json_array_get(json_object_get(record, "rows"), place.row);

    return place.part ? json_object_get(row, place.part) : row;
}

/* The number of that key there in each pass, sorted; those that have none are left out. */
static size_t collect(const json_t *passes, struct place place, const char *key, double *values)
{
    size_t i, count = 0;
    json_t *pass;

    json_array_foreach(passes, i, pass)
    {
        const json_t *value = json_object_get(find(pass, place), key);

        if (json_is_number(value))
            values[count++] = json_number_value(value);
    }
    qsort(values, count, sizeof *values, by_value);
    return count;
}

static double median(const double *sorted, size_t count)
{
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

/* `values` has room for one of each pass. */
static int merge_figures(json_t *merged, const json_t *passes, struct place place, double *values)
{
    static const struct {
        const char *key;
        enum { MEDIAN, LEAST, GREATEST } what;
    } numbers[] = {{"time_us", MEDIAN},     {"tflops", MEDIAN}, {"vs_time_us", MEDIAN},
                   {"vs_tflops", MEDIAN},   {"ratio", MEDIAN},  {"ratio_low", LEAST},
                   {"ratio_high", GREATEST}};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        size_t count = collect(passes, place, numbers[i].key, values);
        double value;

        if (count == 0)
            continue;
        value = numbers[i].what == MEDIAN  ? median(values, count)
                : numbers[i].what == LEAST ? values[0]
                                           : values[count - 1];
        if (json_object_set_new(find(merged, place), numbers[i].key, json_real(value)) != 0)
            return -1;
    }
    return 0;
}

static int merge_row(json_t *merged, const json_t *passes, size_t row, double *values)
{
    static const char *const parts[] = {NULL, "isolated", "warm"};

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct place place = {row, parts[i]};

        if (json_is_object(find(merged, place)) &&
            merge_figures(merged, passes, place, values) != 0)
            return -1;
    }
    return 0;
}

/* One that is wrong or refused stands for all. */
static const json_t *spokesman(const json_t *passes)
{
    size_t i;
    json_t *pass;

    json_array_foreach(passes, i, pass)
    {
        if (!json_is_true(json_object_get(pass, "verified")))
            return pass;
    }
    return json_array_get(passes, 0);
}

static int merge_rows(json_t *merged, const json_t *passes)
{
    double *values = calloc(json_array_size(passes), sizeof *values);
    int status = values ? 0 : -1;

    for (size_t i = 0; status == 0 && i < json_array_size(json_object_get(merged, "rows")); i++)
        status = merge_row(merged, passes, i, values);
    free(values);
    return status;
}

static json_t *merge(const json_t *passes)
{
    json_t *merged = json_deep_copy(spokesman(passes));
    size_t count = json_array_size(passes);

    if (!merged || count == 1)
        return merged;
    json_object_del(merged, "pass");
    if (merge_rows(merged, passes) == 0 &&
        json_object_set_new(merged, "passes", json_integer((json_int_t)count)) == 0)
        return merged;
    json_decref(merged);
    return NULL;
}

/* A pass that was measured twice counts with its latest. */
static int add_pass(json_t *passes, json_t *record)
{
    const json_t *number = json_object_get(record, "pass");
    size_t i;
    json_t *pass;

    json_array_foreach(passes, i, pass)
    {
        const json_t *other = json_object_get(pass, "pass");

        if (number == other || json_equal(number, other))
            return json_array_set(passes, i, record);
    }
    return json_array_append(passes, record);
}

/* Adds the record to those of its key; the object keeps the order of its keys. */
static int add_record(json_t *groups, json_t *record)
{
    char *key = record_key(record);
    json_t *passes = key ? json_object_get(groups, key) : NULL;
    int status = key ? 0 : -1;

    if (status == 0 && !passes) {
        passes = json_array();
        status = json_object_set_new(groups, key, passes);
    }
    if (status == 0)
        status = add_pass(passes, record);
    free(key);
    return status;
}

json_t *records_merge(const json_t *records)
{
    json_t *groups = json_object(), *all = json_array(), *record, *passes;
    int status = groups && all ? 0 : -1;
    const char *key;
    size_t i;

    json_array_foreach(records, i, record)
    {
        if (status == 0)
            status = add_record(groups, record);
    }
    json_object_foreach(groups, key, passes)
    {
        if (status == 0)
            status = json_array_append_new(all, merge(passes));
    }
    json_decref(groups);
    if (status == 0)
        return all;
    json_decref(all);
    return NULL;
}
