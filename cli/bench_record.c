#include "cli/bench_record.h"

#include "cli/report.h"
#include "cli/request.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PLAN_WORDS_SIZE = 1024 };

/* ---- The head ---- */

/* What was not asked for is left out, so that records of before it could be are still the same. */
static json_t *protocol_json(const struct lathe_bench_options *options)
{
    json_t *protocol =
        json_pack("{s:i, s:o, s:o, s:o, s:I}", "pairs", options->pairs, "block_ms",
                  json_number(options->block_ms), "warm_up_ms", json_number(options->warm_up_ms),
                  "long_warm_up_ms", json_number(options->long_warm_up_ms), "seed",
                  (json_int_t)options->seed);

    if (options->isolated)
        json_object_set_new(protocol, "isolated", json_integer(1));
    if (options->warm)
        json_object_set_new(protocol, "warm", json_integer(1));
    return protocol;
}

static json_t *text_or_null(const char *text)
{
    return text[0] ? json_text(text) : json_null();
}

static json_t *now_json(void)
{
    char text[32];
    time_t now = time(NULL);
    struct tm utc;

    if (!gmtime_r(&now, &utc) || strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        return json_null();
    return json_text(text);
}

static json_t *machine_json(const struct lathe_bench_machine *machine, const char *git)
{
    char cuda[16];

    snprintf(cuda, sizeof cuda, "%d.%d", machine->cuda_version / 1000,
             machine->cuda_version % 1000 / 10);
    return json_pack(
        "{s:o, s:o, s:s, s:i, s:s, s:o, s:o, s:s, s:s, s:o}", "device", json_text(machine->device),
        "device_hash", text_or_null(machine->device_hash), "arch", lathe_arch_name(machine->arch),
        "sms", machine->sms, "cuda", cuda, "driver", text_or_null(machine->driver), "cublaslt",
        text_or_null(machine->cublaslt), "lathe", lathe_version(), "git", git, "date", now_json());
}

json_t *record_head(const struct bench_setup *setup, const struct lathe_request *request)
{
    const struct lathe_gemm *p = &request->gemm;
    char *words = request_words(request);
    json_t *machine = machine_json(&setup->machine, setup->git);
    json_t *head =
        json_pack("{s:o, s:I, s:I, s:I, s:s, s:s, s:o}", "words", json_text(words ? words : ""),
                  "m", (json_int_t)p->m, "n", (json_int_t)p->n, "k", (json_int_t)p->k, "type",
                  lathe_type_name(p->type == LATHE_TYPE_DEFAULT ? LATHE_F16 : p->type), "vs",
                  setup->vs, "protocol", protocol_json(&setup->options));

    if (!words || !machine || !head || json_object_update(head, machine) != 0) {
        json_decref(head);
        head = NULL;
    }
    json_decref(machine);
    free(words);
    return head;
}

/* ---- What was measured ---- */

json_t *record_clocks(const struct lathe_bench_clocks *clocks)
{
    if (clocks->samples == 0)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:i}", "sm_mhz", json_number(clocks->sm_mhz), "power_w",
                     json_number(clocks->power_w), "temperature_c",
                     json_number(clocks->temperature_c), "samples", clocks->samples);
}

/* A contender beside the plan. */
static json_t *row_json(const struct lathe_bench_row *plan, const struct lathe_bench_row *vs)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:o}", "vs",
                     json_text(vs->name), "time_us", json_number(plan->time_us), "tflops",
                     json_number(plan->tflops), "vs_time_us", json_number(vs->time_us), "vs_tflops",
                     json_number(vs->tflops), "ratio", json_number(vs->ratio), "ratio_low",
                     json_number(vs->ratio_low), "ratio_high", json_number(vs->ratio_high),
                     "heuristic", vs->heuristic, "heuristics", vs->heuristics, "vs_clocks",
                     record_clocks(&vs->clocks));
}

static json_t *row_alone(const struct lathe_bench_row *plan)
{
    return json_pack("{s:n, s:o, s:o, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n}", "vs", "time_us",
                     json_number(plan->time_us), "tflops", json_number(plan->tflops), "vs_time_us",
                     "vs_tflops", "ratio", "ratio_low", "ratio_high", "heuristic", "heuristics",
                     "vs_clocks");
}

/* Times beside those of the blocks: the plan's, and those of row `index`, where that is another. */
static json_t *figures_json(const struct lathe_bench_figures *figures, int index)
{
    const struct lathe_bench_figures *vs = &figures[index];

    if (index == 0)
        return json_pack("{s:o, s:n, s:n, s:n, s:n}", "time_us", json_number(vs->time_us),
                         "vs_time_us", "ratio", "ratio_low", "ratio_high");
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "time_us", json_number(figures[0].time_us),
                     "vs_time_us", json_number(vs->time_us), "ratio", json_number(vs->ratio),
                     "ratio_low", json_number(vs->ratio_low), "ratio_high",
                     json_number(vs->ratio_high));
}

/* Row 0 is the plan alone. */
static void append_row(json_t *rows, const struct lathe_bench_report *report, int index)
{
    const struct lathe_bench_row *plan = &report->rows[0];
    json_t *row = index == 0 ? row_alone(plan) : row_json(plan, &report->rows[index]);

    if (report->isolated[0].time_us > 0)
        json_object_set_new(row, "isolated", figures_json(report->isolated, index));
    if (report->warm[0].time_us > 0)
        json_object_set_new(row, "warm", figures_json(report->warm, index));
    else if (report->warm_refused[0])
        json_object_set_new(row, "warm", json_null());
    json_array_append_new(rows, row);
}

static json_t *rows_json(const struct lathe_bench_report *report)
{
    json_t *rows = json_array();

    for (int i = 1; i < report->row_count; i++)
        append_row(rows, report, i);
    if (report->row_count == 1)
        append_row(rows, report, 0);
    return rows;
}

/* Bytes that a GEMM reads and writes at least, in TB/s: what counts where there is little to
 * multiply. */
static double tb_per_s(const struct lathe_gemm *p, const struct lathe_plan *plan, double time_us)
{
    double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    double bytes = (m * k + n * k) * lathe_type_bytes(plan->type) +
                   m * n * lathe_type_bytes(plan->out) * (p->beta == LATHE_BETA_ANY ? 2 : 1);

    return time_us > 0 ? bytes / time_us / 1e6 : 0;
}

static bool update(json_t *record, json_t *more)
{
    bool is_done = more && json_object_update(record, more) == 0;

    json_decref(more);
    return is_done;
}

bool record_report(json_t *record, const struct lathe_request *request,
                   const struct lathe_bench_report *report)
{
    const struct lathe_bench_row *plan = &report->rows[0];
    char words[PLAN_WORDS_SIZE];

    lathe_plan_words(&report->plan, words, sizeof words);
    if (report->isolated[0].time_us > 0)
        json_object_set_new(record, "isolated_spin_us", json_number(report->isolated_spin_us));
    if (report->warm[0].time_us > 0 || report->warm_refused[0])
        json_object_set_new(record, "warm_refused", text_or_null(report->warm_refused));
    return update(
        record,
        json_pack("{s:o, s:o, s:b, s:i, s:i, s:b, s:b, s:o, s:o, s:o, s:o}", "plan",
                  report_plan(&report->plan), "plan_words", json_text(words), "f16_sums",
                  report->plan.acc == LATHE_F16, "launches", report->launches, "sets", report->sets,
                  "verified", report->verified, "measured_again", report->measured_again, "clocks",
                  record_clocks(&plan->clocks), "efficiency",
                  plan->efficiency > 0 ? json_number(plan->efficiency) : json_null(), "tb_per_s",
                  json_number(tb_per_s(&request->gemm, &report->plan, plan->time_us)), "rows",
                  rows_json(report)));
}

bool record_refusal(json_t *record, const struct lathe_error *err)
{
    return update(record, json_pack("{s:o}", "refused", output_error(err)));
}

/* ---- Records that are there ---- */

/* What has no memory today, or a mistake of ours, may be otherwise tomorrow. */
static bool is_refused_for_good(const json_t *record)
{
    static const enum lathe_status lasting[] = {LATHE_UNSUPPORTED, LATHE_DOES_NOT_FIT,
                                                LATHE_OUT_OF_RANGE};
    const char *code =
        json_string_value(json_object_get(json_object_get(record, "refused"), "code"));

    for (size_t i = 0; code && i < sizeof lasting / sizeof lasting[0]; i++)
        if (strcmp(code, lathe_status_name(lasting[i])) == 0)
            return true;
    return false;
}

static bool has_same(const json_t *one, const json_t *other, const char *key)
{
    const json_t *a = json_object_get(one, key), *b = json_object_get(other, key);

    return a == b || json_equal(a, b);
}

static const char *const same_keys[] = {"class",  "words",       "vs",    "protocol", "ladder",
                                        "device", "device_hash", "lathe", "cublaslt"};
enum { SAME_KEYS = sizeof same_keys / sizeof same_keys[0], PROBLEM_KEYS = 2 };

bool record_is_same(const json_t *one, const json_t *other)
{
    for (size_t i = 0; i < SAME_KEYS; i++)
        if (!has_same(one, other, same_keys[i]))
            return false;
    return true;
}

/* The values of the first `count` keys, with `more` behind them, as text. */
static char *key_text(const json_t *record, size_t count, json_t *more)
{
    json_t *values = json_array();
    char *text;

    for (size_t i = 0; i < count; i++) {
        json_t *value = json_object_get(record, same_keys[i]);

        json_array_append_new(values, value ? json_incref(value) : json_null());
    }
    json_array_append_new(values, more);
    text = json_array_size(values) == count + 1 ? json_dumps(values, JSON_COMPACT | JSON_SORT_KEYS)
                                                : NULL;
    json_decref(values);
    return text;
}

char *record_key(const json_t *record)
{
    return key_text(record, SAME_KEYS, json_boolean(json_object_get(record, "pass") != NULL));
}

char *record_problem(const json_t *record)
{
    return key_text(record, PROBLEM_KEYS, json_null());
}

bool record_answers(const json_t *held, const json_t *head)
{
    if (!record_is_same(held, head) || !has_same(held, head, "pass"))
        return false;
    return is_refused_for_good(held) || json_is_true(json_object_get(held, "verified"));
}

/* ---- What counts ---- */

bool record_is_refused(const json_t *record)
{
    const json_t *refused = json_object_get(record, "refused");
    const char *code = json_string_value(json_object_get(refused, "code"));

    return refused && !(code && strcmp(code, lathe_status_name(LATHE_INTERNAL)) == 0);
}

bool record_is_wrong(const json_t *record)
{
    return !record_is_refused(record) && !json_is_true(json_object_get(record, "verified"));
}

const char f16_sums_words[] = "f16 sums: not like for like";

bool record_has_f16_sums(const json_t *record)
{
    const json_t *key = json_object_get(record, "f16_sums");
    const char *acc = json_string_value(json_object_get(json_object_get(record, "plan"), "acc"));

    return key ? json_is_true(key) : acc && strcmp(acc, lathe_type_name(LATHE_F16)) == 0;
}

const char *record_mark(const json_t *record)
{
    return record_is_wrong(record) ? "wrong" : record_has_f16_sums(record) ? f16_sums_words : NULL;
}

/* A file may hold any number; beyond this it is no measurement, and no page is wide enough. */
#define RATIO_MOST 1e4

static bool is_measured(const json_t *row)
{
    double ratio = json_number_value(json_object_get(row, "ratio"));
    double low = json_number_value(json_object_get(row, "ratio_low"));
    double high = json_number_value(json_object_get(row, "ratio_high"));

    return ratio > 0 && ratio < RATIO_MOST && low >= 0 && low < RATIO_MOST && high >= 0 &&
           high < RATIO_MOST;
}

static const json_t *find_row(const json_t *record, const char *contender)
{
    size_t i, length = strlen(contender);
    json_t *row;

    json_array_foreach(json_object_get(record, "rows"), i, row)
    {
        const char *vs = json_string_value(json_object_get(row, "vs"));

        if (vs && strncmp(vs, contender, length) == 0 && (vs[length] == ' ' || !vs[length]))
            return row;
    }
    return NULL;
}

const json_t *record_row(const json_t *record, const char *contender)
{
    const json_t *row = find_row(record, contender);

    return is_measured(row) ? row : NULL;
}

/* What was refused has no rows. */
bool record_concerns(const json_t *record, const char *contender)
{
    const char *vs = json_string_value(json_object_get(record, "vs"));
    size_t length = strlen(contender);

    for (; vs; vs = strchr(vs, ',')) {
        vs += *vs == ',';
        if (strncmp(vs, contender, length) == 0 && (vs[length] == ',' || !vs[length]))
            return true;
    }
    return find_row(record, contender) != NULL;
}

const char *record_name(const json_t *record, char name[RECORD_NAME_SIZE])
{
    snprintf(name, RECORD_NAME_SIZE, "%lldx%lldx%lld",
             (long long)json_integer_value(json_object_get(record, "m")),
             (long long)json_integer_value(json_object_get(record, "n")),
             (long long)json_integer_value(json_object_get(record, "k")));
    return name;
}
