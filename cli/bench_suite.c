/* bench_suite.c: many problems, one after the other. Each is kept in the file of -o as soon as it
 * is measured, so that a suite can be measured in several runs. */
#include "cli/bench_merge.h"
#include "cli/bench_record.h"
#include "cli/bench_table.h"
#include "cli/request.h"
#include "cli/suite.h"

#include <stdlib.h>
#include <string.h>

/* Blocks of a suite last so long that clocks can be compared, and large problems are given time to
 * settle at theirs. */
enum { SUITE_BLOCK_MS = 100, SUITE_LONG_WARM_UP_MS = 1000, HEAT_SIZE = 8192, HEAT_MS = 3000 };

struct suite_run {
    struct bench_setup setup;
    struct suite suite;
    struct lathe_request *requests; /* one a problem */
    json_t *records;                /* measured, refused or held */
    int passes, pass;               /* counted from 1 */
    int measured, left;
    bool is_hot, limited;
    double begun_us;
};

/* ---- Before the first problem ---- */

/* All words are read before anything is measured, so that no mistake waits until the end. */
static enum lathe_status read_requests(struct suite_run *run, const struct words *words,
                                       struct lathe_error *err)
{
    const struct suite *suite = &run->suite;
    enum lathe_status status = LATHE_OK;

    run->requests = calloc(suite->count + 1, sizeof *run->requests);
    if (!run->requests)
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for %zu problems", suite->count);
    for (size_t i = 0; i < suite->count && status == LATHE_OK; i++)
        status = suite_request(suite, &suite->list[i], words->count, words->list, &run->requests[i],
                               err);
    return status;
}

static enum lathe_status begin(struct suite_run *run, const struct words *words, struct output *out,
                               struct lathe_error *err)
{
    enum lathe_status status = suite_read(&run->suite, words_value(words, "suite"), err);

    if (status == LATHE_OK && words_given(words, "class"))
        status = suite_keep(&run->suite, words_value(words, "class"), err);
    if (status == LATHE_OK)
        status = read_requests(run, words, err);
    if (status == LATHE_OK && words_are(words, "resume", "1") && !words->output)
        status = fail(err, LATHE_BAD_WORD, "resume=1: -o FILE names what is to be gone on with");
    if (status == LATHE_OK)
        status = bench_begin(&run->setup, words, out, SUITE_BLOCK_MS, err);
    run->setup.options.long_warm_up_ms = SUITE_LONG_WARM_UP_MS;
    run->records = json_array();
    if (status == LATHE_OK && !run->records)
        status = fail(err, LATHE_OUT_OF_MEMORY, "no memory for records");
    return status;
}

static void end(struct suite_run *run)
{
    bench_end(&run->setup);
    suite_free(&run->suite);
    free(run->requests);
    json_decref(run->records);
}

/* Large products of all contenders, until power and clocks have settled. What they give is of no
 * interest; where they cannot be had, as on a small GPU, there is less heat. */
static void heat(struct suite_run *run)
{
    struct bench_setup *setup = &run->setup;
    struct lathe_bench_options options = setup->options;
    struct lathe_bench_report report = {.plan = LATHE_PLAN_INIT};
    struct lathe_gemm problem = LATHE_GEMM_INIT;
    struct lathe_error err;

    run->is_hot = true;
    options.warm_up_ms = (double)words_number(setup->words, "heat_ms", HEAT_MS);
    if (options.warm_up_ms <= 0)
        return;
    problem.m = problem.n = problem.k = HEAT_SIZE;
    problem.type = LATHE_BF16;
    options.pairs = 1;
    options.block_ms = 1;
    options.long_warm_up_ms = 0;
    options.isolated = options.warm = 0;
    options.vs_cublaslt = options.vs_cublaslt || options.vs_cublaslt_best;
    options.vs_cublaslt_best = 0;
    if (lathe_bench_gemm(setup->context, &problem, NULL, &options, &report, &err) != LATHE_OK)
        output_note("warning: not warmed up: %s", err.message);
}

/* ---- Problems ---- */

/* What is warmed up before the first problem is part of how all were measured. */
static int add_heat(json_t *head, const struct suite_run *run)
{
    return json_object_set_new(json_object_get(head, "protocol"), "heat_ms",
                               json_integer(words_number(run->setup.words, "heat_ms", HEAT_MS)));
}

static json_t *make_head(const struct suite_run *run, size_t index)
{
    const struct suite_case *problem = &run->suite.list[index];
    json_t *head = record_head(&run->setup, &run->requests[index]);

    if (head &&
        (add_heat(head, run) != 0 ||
         json_object_set_new(head, "suite", json_text(run->suite.name)) != 0 ||
         json_object_set_new(head, "class", json_text(problem->class)) != 0 ||
         json_object_set_new(head, "model",
                             problem->model[0] ? json_text(problem->model) : json_null()) != 0 ||
         (run->passes > 1 && json_object_set_new(head, "pass", json_integer(run->pass)) != 0))) {
        json_decref(head);
        head = NULL;
    }
    return head;
}

/* What the file holds of it, the latest; or null. */
static json_t *find_held(const struct suite_run *run, const json_t *head)
{
    const json_t *held = run->setup.held;

    if (!held || !words_are(run->setup.words, "resume", "1"))
        return NULL;
    for (size_t i = json_array_size(held); i-- > 0;)
        if (record_answers(json_array_get(held, i), head))
            return json_array_get(held, i);
    return NULL;
}

/* Adds a record to the answer, and shows it unless all is printed at the end. */
static enum lathe_status add(struct suite_run *run, json_t *record, bool held,
                             struct lathe_error *err)
{
    struct output *out = run->setup.out;

    if (json_array_append(run->records, record) != 0)
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for a record");
    if (!out->json) {
        print_record(out, record, held);
        fflush(stdout);
    }
    return LATHE_OK;
}

static enum lathe_status measure(struct suite_run *run, size_t index, json_t *record,
                                 struct lathe_error *err)
{
    struct bench_setup *setup = &run->setup;
    const struct lathe_request *request = &run->requests[index];
    struct lathe_bench_report report = {.plan = LATHE_PLAN_INIT};
    struct lathe_error why;
    enum lathe_status status;
    bool is_filled;

    if (!run->is_hot)
        heat(run);
    status = lathe_bench_gemm(setup->context, &request->gemm, &request->plan, &setup->options,
                              &report, &why);
    if (status != LATHE_OK && !bench_is_refusal(status)) {
        *err = why;
        return status;
    }
    is_filled =
        status == LATHE_OK ? record_report(record, request, &report) : record_refusal(record, &why);
    if (!is_filled)
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for a record");
    run->measured += status == LATHE_OK;
    return bench_keep(setup, record, err);
}

/* Whether it is too late to begin another. */
static bool is_over(const struct suite_run *run)
{
    int64_t limit = words_number(run->setup.words, "limit_s", 0);

    return limit > 0 && now_us() - run->begun_us > (double)limit * 1e6;
}

static enum lathe_status take(struct suite_run *run, size_t index, struct lathe_error *err)
{
    json_t *head = make_head(run, index);
    json_t *held = head ? find_held(run, head) : NULL;
    enum lathe_status status;

    if (!head)
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for a record");
    if (held) {
        run->measured += !json_object_get(held, "refused");
        status = add(run, held, true, err);
    } else if (is_over(run)) {
        run->left++;
        status = LATHE_OK;
    } else {
        progress_begin(&run->setup.progress, run->setup.out, "measuring");
        progress_parts(&run->setup.progress, (int)index + (run->pass - 1) * (int)run->suite.count,
                       run->passes * (int)run->suite.count);
        status = measure(run, index, head, err);
        progress_end(&run->setup.progress);
        if (status == LATHE_OK)
            status = add(run, head, false, err);
    }
    json_decref(head);
    return status;
}

/* ---- The answer ---- */

static void print_answer(struct suite_run *run, const json_t *merged)
{
    struct output *out = run->setup.out;

    print_summary(out, merged);
    if (run->passes > 1)
        output_text(out, "of %d passes: medians, with all that their intervals reach\n",
                    run->passes);
    if (strcmp(run->suite.name, "public") == 0)
        output_text(out, "grouped products of the public suite are left out: no kernel yet\n");
    if (run->left > 0)
        output_text(out, "%d left by limit_s=%s: the same command with resume=1 goes on\n",
                    run->left, words_value(run->setup.words, "limit_s"));
}

static int answer(struct suite_run *run, struct lathe_error *err)
{
    struct output *out = run->setup.out;
    json_t *merged = records_merge(run->records);
    int code =
        run->measured == 0 || count_failures(run->records).wrong > 0 ? EXIT_CANNOT : EXIT_DONE;

    if (!merged) {
        fail(err, LATHE_OUT_OF_MEMORY, "no memory for what the records come to");
        return output_refuse(out, err);
    }
    if (out->json)
        code = output_json(out,
                           json_pack("{s:o, s:O, s:o, s:i}", "suite", json_text(run->suite.name),
                                     "records", run->records, "summary", summary_json(merged),
                                     "left", run->left),
                           code);
    else
        print_answer(run, merged);
    json_decref(merged);
    return code;
}

/* Pass by pass, so that a problem's measurements lie as far apart as the suite is long. */
static enum lathe_status take_all(struct suite_run *run, struct lathe_error *err)
{
    enum lathe_status status = LATHE_OK;

    run->passes = (int)words_number(run->setup.words, "passes", 1);
    for (run->pass = 1; run->pass <= run->passes; run->pass++)
        for (size_t i = 0; i < run->suite.count && status == LATHE_OK; i++)
            status = take(run, i, err);
    return status;
}

int bench_suite(const struct words *words, struct output *out)
{
    struct suite_run run = {.begun_us = now_us()};
    struct lathe_error err;
    enum lathe_status status = begin(&run, words, out, &err);
    int code;

    if (status == LATHE_OK)
        status = take_all(&run, &err);
    code = status == LATHE_OK ? answer(&run, &err) : output_refuse(out, &err);
    end(&run);
    return code;
}
