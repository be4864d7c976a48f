#include "cli/bench_merge.h"

#include "cli/bench_record.h"

#include <stdlib.h>
#include <string.h>

enum { PASSES_MAX = 64 };

/* Records that are passes of one measurement. */
struct passes {
    const json_t *list[PASSES_MAX];
    size_t count;
};

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
static size_t collect(const struct passes *passes, struct place place, const char *key,
                      double values[PASSES_MAX])
{
    size_t count = 0;

    for (size_t i = 0; i < passes->count; i++) {
        const json_t *value = json_object_get(find(passes->list[i], place), key);

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

static int merge_figures(json_t *merged, const struct passes *passes, struct place place)
{
    static const struct {
        const char *key;
        enum { MEDIAN, LEAST, GREATEST } what;
    } numbers[] = {{"time_us", MEDIAN},     {"tflops", MEDIAN}, {"vs_time_us", MEDIAN},
                   {"vs_tflops", MEDIAN},   {"ratio", MEDIAN},  {"ratio_low", LEAST},
                   {"ratio_high", GREATEST}};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        double values[PASSES_MAX];
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

static int merge_row(json_t *merged, const struct passes *passes, size_t row)
{
    static const char *const parts[] = {NULL, "isolated", "warm"};

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct place place = {row, parts[i]};

        if (json_is_object(find(merged, place)) && merge_figures(merged, passes, place) != 0)
            return -1;
    }
    return 0;
}

/* One that is wrong or refused stands for all. */
static const json_t *spokesman(const struct passes *passes)
{
    for (size_t i = 0; i < passes->count; i++)
        if (!json_is_true(json_object_get(passes->list[i], "verified")))
            return passes->list[i];
    return passes->list[0];
}

static json_t *merge(const struct passes *passes)
{
    json_t *merged = json_deep_copy(spokesman(passes));

    if (!merged || passes->count == 1)
        return merged;
    for (size_t i = 0; i < json_array_size(json_object_get(merged, "rows")); i++)
        if (merge_row(merged, passes, i) != 0) {
            json_decref(merged);
            return NULL;
        }
    json_object_del(merged, "pass");
    if (json_object_set_new(merged, "passes", json_integer((json_int_t)passes->count)) == 0)
        return merged;
    json_decref(merged);
    return NULL;
}

/* Of `first` and those behind it that are other passes of the same. A pass that was measured twice
 * counts with its latest. */
static void find_passes(const json_t *records, size_t first, struct passes *passes)
{
    const json_t *head = json_array_get(records, first);
    json_int_t numbers[PASSES_MAX];

    passes->count = 0;
    for (size_t i = first; i < json_array_size(records) && passes->count < PASSES_MAX; i++) {
        const json_t *record = json_array_get(records, i);
        json_int_t number = json_integer_value(json_object_get(record, "pass"));
        size_t at = 0;

        if (!record_is_same(record, head))
            continue;
        while (at < passes->count && numbers[at] != number)
            at++;
        numbers[at] = number;
        passes->list[at] = record;
        passes->count += at == passes->count;
    }
}

static bool has_come(const json_t *records, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (record_is_same(json_array_get(records, i), json_array_get(records, index)))
            return true;
    return false;
}

json_t *records_merge(const json_t *records)
{
    json_t *all = json_array();

    for (size_t i = 0; all && i < json_array_size(records); i++) {
        struct passes passes;

        if (has_come(records, i))
            continue;
        find_passes(records, i, &passes);
        if (json_array_append_new(all, merge(&passes)) != 0) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}
