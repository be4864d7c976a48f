/* Texts and structs that nobody meant: whatever is accepted is a plan, whatever is not is refused
 * in one line. Thousands of each, drawn from a fixed seed. */
#include "codegen/fields.h"

#include "tests/support/cmocka_all.h"
#include "tests/templates/draw.h"
#include "tests/templates/fixture.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS = 12000, REQUESTS = 4000, STRUCTS = 6000, PROBLEMS = 500, TEXT_SIZE = 4096 };

static const int odd_numbers[] = {
    0,  1,  -1,  2,   3,   4,   7,   8,   16,   24,   32,    40,    63,      64,      65,
    80, 96, 128, 192, 208, 232, 240, 256, 1024, 4096, 65536, 65537, INT_MAX, INT_MIN, 1 << 30};

/* ---- What must hold ---- */

static void assert_refusal(enum lathe_status status, const struct lathe_error *err)
{
    size_t length = strnlen(err->message, sizeof err->message);
    json_t *text = json_string(err->message); /* none of what is no UTF-8 */

    assert_int_equal(err->status, status);
    assert_true(status != LATHE_INTERNAL && status != LATHE_OUT_OF_MEMORY);
    assert_in_range(length, 10, sizeof err->message - 2);
    assert_non_null(text);
    for (size_t i = 0; i < length; i++)
        assert_true((unsigned char)err->message[i] >= ' ' && err->message[i] != 0x7f);
    json_decref(text);
}

static void assert_same_plan(const struct lathe_plan *a, const struct lathe_plan *b)
{
    char a_text[TEXT_SIZE], b_text[TEXT_SIZE];

    lathe_plan_words(a, a_text, sizeof a_text);
    lathe_plan_words(b, b_text, sizeof b_text);
    assert_string_equal(a_text, b_text);
    lathe_plan_json(a, a_text, sizeof a_text);
    lathe_plan_json(b, b_text, sizeof b_text);
    assert_string_equal(a_text, b_text);
}

static void assert_emits(const struct lathe_plan *plan)
{
    struct lathe_kernel *kernel = NULL;
    struct lathe_error err = {0};

    if (lathe_emit(&kernel, plan, NULL, &err) != LATHE_OK)
        fail_msg("%s", err.message);
    assert_int_equal(lathe_kernel_contract(kernel)->smem_bytes, plan->smem_bytes);
    lathe_kernel_destroy(&kernel);
}

/* A plan that was accepted: within its budget, and the same after words, JSON and a check. */
static void assert_is_a_plan(const struct lathe_plan *accepted)
{
    struct lathe_plan plan = *accepted, again = LATHE_PLAN_INIT;
    char text[TEXT_SIZE];

    plan.predicted_ns = 0; /* the planner's own, of a problem */
    memset(plan.reason, 0, sizeof plan.reason);
    assert_budget_adds_up(&plan);
    lathe_plan_words(&plan, text, sizeof text);
    assert_int_equal(lathe_plan_parse(&again, text, NULL), LATHE_OK);
    assert_same_plan(&plan, &again);
    lathe_plan_json(&plan, text, sizeof text);
    assert_int_equal(lathe_plan_parse(&again, text, NULL), LATHE_OK);
    assert_same_plan(&plan, &again);
    assert_int_equal(lathe_plan_check(&again, NULL), LATHE_OK);
    assert_same_plan(&plan, &again);
    if (one_in(8))
        assert_emits(&plan);
}

/* ---- Texts ---- */

static const char *odd_value(void)
{
    static const char *const values[] = {
        "",
        "0",
        "-1",
        "1",
        "64",
        "9999999999",
        "99999999999999999999",
        "x",
        "1x1x1",
        "2x1x1",
        "1x8x1",
        "128x128x64",
        "64x8x128",
        "128x64x1",
        "any",
        "none",
        "k",
        "m,n,k",
        "f16",
        "bf16",
        "f32",
        "e4m3",
        "tn",
        "sm_90a",
        "sm_80",
        "persistent",
        "40x232",
        "hopper-best",
        "a b",
        "custom(from hopper-best)",
        "custom(from hopper-best)x",
        "custom(from ",
        "\xc3\xa4",
        "\xc3",
        "\"",
        "{}",
        "\\u0000",
        "\x1b[31m",
        "1\n2",
    };

    return PICK(values);
}

static const char *some_key(void)
{
    uint32_t at = draw((uint32_t)(lt_gemm_field_count + lt_plan_field_count));

    return at < lt_gemm_field_count ? lt_gemm_fields[at].key
                                    : lt_plan_fields[at - lt_gemm_field_count].key;
}

/* Puts `insert` in place of `count` bytes, as far as they are there and as there is room. */
static void splice(char *text, size_t at, size_t count, const char *insert)
{
    char rest[TEXT_SIZE];
    size_t length = strlen(text);

    at = at < length ? at : length;
    count = count < length - at ? count : length - at;
    snprintf(rest, sizeof rest, "%s", text + at + count);
    snprintf(text + at, TEXT_SIZE - at, "%s%s", insert, rest);
}

/* Where a value ends, in words and in JSON. */
static size_t value_length(const char *value)
{
    return *value == '"' ? 1 + strcspn(value + 1, "\"") + 1 : strcspn(value, " ,}");
}

static void change_a_value(char *text)
{
    const char *sign = *text == '{' ? "\":" : "=";
    const char *at = strstr(text + draw((uint32_t)strlen(text) + 1), sign);
    char value[64];

    if (!at)
        return;
    at += strlen(sign);

    bool quoted = *at == '"' && one_in(2);

    snprintf(value, sizeof value, quoted ? "\"%s\"" : "%s", odd_value());
    splice(text, (size_t)(at - text), value_length(at), value);
}

static void change_bytes(char *text)
{
    size_t length = strlen(text);
    char byte[2] = {(char)(one_in(2) ? draw(256) : ' ' + draw(95)), '\0'};
    uint32_t at = draw((uint32_t)length + 1);

    switch (draw(4)) {
    case 0: /* one is another */
        splice(text, at, at < length, byte);
        break;
    case 1: /* one more */
        splice(text, at, 0, byte);
        break;
    case 2: /* some fewer */
        splice(text, at, draw((uint32_t)(length - at) + 1) % 16, "");
        break;
    default: /* no more from here on */
        text[at] = '\0';
        break;
    }
}

static void add_a_word(char *text)
{
    const char *key = some_key(), *value = odd_value();
    char word[128];

    snprintf(word, sizeof word, *text == '{' ? "\"%s\":\"%s\"," : "%s=%s ", key, value);
    splice(text, *text == '{' ? 1 : strcspn(text, " ") + 1, 0, word);
}

static void change(char *text)
{
    if (*text == '\0')
        return;
    switch (draw(4)) {
    case 0:
        change_bytes(text);
        break;
    case 1:
        add_a_word(text);
        break;
    default:
        change_a_value(text);
        break;
    }
}

static void draw_bytes(char *text)
{
    size_t length = draw(300);

    for (size_t i = 0; i < length; i++)
        text[i] = (char)(1 + draw(255));
    text[length] = '\0';
}

static void a_text_is_a_plan_or_refused_in_a_line(void **state)
{
    (void)state;
    int accepted = 0;

    draw_from(0x243f6a8885a308d3);
    for (int i = 0; i < TEXTS; i++) {
        struct lathe_plan plan = plan_of(sample_requests[i % sample_count]), read = LATHE_PLAN_INIT;
        struct lathe_error err = {0};
        char text[TEXT_SIZE];

        if (one_in(2))
            lathe_plan_words(&plan, text, sizeof text);
        else
            lathe_plan_json(&plan, text, sizeof text);
        do
            change(text);
        while (one_in(2));
        if (one_in(16))
            draw_bytes(text);

        enum lathe_status status = lathe_plan_parse(&read, text, &err);

        if (status != LATHE_OK) {
            assert_refusal(status, &err);
            continue;
        }
        assert_is_a_plan(&read);
        accepted++;
    }
    print_message("# %d of %d texts are plans\n", accepted, TEXTS);
    assert_in_range(accepted, TEXTS / 50, TEXTS - TEXTS / 4);
}

/* ---- Words of a request ---- */

/* The words of a line; a blank within parentheses belongs to its word. */
static int split(char *line, const char **words, int most)
{
    int count = 0, open = 0;

    for (char *at = line, *word = line; count < most; at++) {
        open += (*at == '(') - (*at == ')');
        if (*at != '\0' && (*at != ' ' || open > 0))
            continue;
        words[count++] = word;
        word = at + 1;
        if (*at == '\0')
            break;
        *at = '\0';
    }
    return count;
}

static void assert_request_is_read_back(const struct lathe_request *request)
{
    struct lathe_request again = LATHE_REQUEST_INIT;
    char line[TEXT_SIZE], same[TEXT_SIZE];
    const char *words[64];
    struct lathe_error err = {0};

    lathe_request_words(request, line, sizeof line);
    if (lathe_request_parse(&again, split(line, words, 64), words, &err) != LATHE_OK)
        fail_msg("%s", err.message);
    lathe_request_words(request, line, sizeof line);
    lathe_request_words(&again, same, sizeof same);
    assert_string_equal(line, same);
}

static int draw_words(char text[TEXT_SIZE], const char **words)
{
    snprintf(text, TEXT_SIZE, "%s", sample_requests[draw((uint32_t)sample_count)]);
    while (one_in(2))
        change(text);

    int count = split(text, words, 60);

    /* Words come one by one, so that each may hold anything. */
    while (one_in(3))
        words[count++ % 60] = odd_value();
    return count < 60 ? count : 60;
}

static void words_are_a_request_or_refused_in_a_line(void **state)
{
    (void)state;
    int accepted = 0, planned = 0;

    draw_from(0x13198a2e03707344);
    for (int i = 0; i < REQUESTS; i++) {
        struct lathe_request request = LATHE_REQUEST_INIT;
        struct lathe_plan plan = LATHE_PLAN_INIT;
        struct lathe_error err = {0};
        char text[TEXT_SIZE];
        const char *words[64];
        enum lathe_status status =
            lathe_request_parse(&request, draw_words(text, words), words, &err);

        if (status == LATHE_OK) {
            assert_request_is_read_back(&request);
            accepted++;
            status = lathe_plan_gemm(&plan, &request.gemm, &request.plan, &err);
        }
        if (status != LATHE_OK) {
            assert_refusal(status, &err);
            continue;
        }
        assert_is_a_plan(&plan);
        planned++;
    }
    print_message("# %d of %d requests are read, %d planned\n", accepted, REQUESTS, planned);
    assert_true(planned > REQUESTS / 10 && accepted < REQUESTS - REQUESTS / 10);
}

/* ---- Structs ---- */

/* Any number into any place behind the size, or bytes over a whole stretch. */
static void change_struct(void *object, size_t size)
{
    unsigned char *bytes = object;
    size_t at = sizeof(size_t) + draw((uint32_t)(size - sizeof(size_t)));

    if (one_in(6)) {
        for (size_t count = draw(64); count > 0 && at < size; count--)
            bytes[at++] = (unsigned char)draw(256);
        return;
    }

    int number = one_in(8) ? (int)draw(UINT32_MAX) : PICK(odd_numbers);

    at = at / sizeof number * sizeof number;
    memcpy(bytes + at, &number, sizeof number);
}

/* On the heap, where a sanitizer sees what is read behind it. */
static void *copy_of(const void *object, size_t size)
{
    void *copy = malloc(size);

    assert_non_null(copy);
    return memcpy(copy, object, size);
}

static void a_struct_is_a_plan_or_refused_in_a_line(void **state)
{
    (void)state;
    int accepted = 0;

    draw_from(0xa4093822299f31d0);
    for (int i = 0; i < STRUCTS; i++) {
        struct lathe_plan sample = plan_of(sample_requests[i % sample_count]);
        struct lathe_plan *plan = copy_of(&sample, sizeof sample);
        struct lathe_kernel *kernel = NULL;
        struct lathe_error err = {0};
        char text[TEXT_SIZE];

        do
            change_struct(plan, sizeof *plan);
        while (one_in(2));
        assert_true(lathe_plan_words(plan, text, sizeof text) > 0);
        assert_true(lathe_plan_json(plan, text, sizeof text) > 0);

        enum lathe_status emitted =
            one_in(4) ? lathe_emit(&kernel, plan, NULL, &err) : lathe_plan_check(plan, &err);
        enum lathe_status status = lathe_plan_check(plan, &err);

        assert_int_equal(status, emitted);
        if (status == LATHE_OK)
            assert_is_a_plan(plan);
        else
            assert_refusal(status, &err);
        accepted += status == LATHE_OK;
        lathe_kernel_destroy(&kernel);
        free(plan);
    }
    print_message("# %d of %d structs are plans\n", accepted, STRUCTS);
    assert_in_range(accepted, STRUCTS / 10, STRUCTS - STRUCTS / 10);
}

static void any_problem_and_options_are_planned_or_refused_in_a_line(void **state)
{
    (void)state;
    int planned = 0;

    draw_from(0x082efa98ec4e6c89);
    for (int i = 0; i < PROBLEMS; i++) {
        struct lathe_request request = request_of(sample_requests[i % sample_count]);
        struct lathe_gemm *problem = copy_of(&request.gemm, sizeof request.gemm);
        struct lathe_plan_options *options = copy_of(&request.plan, sizeof request.plan);
        struct lathe_plan plan = LATHE_PLAN_INIT;
        struct lathe_error err = {0};

        if (one_in(2))
            change_struct(problem, sizeof *problem);
        else
            change_struct(options, sizeof *options);

        enum lathe_status status = lathe_plan_gemm(&plan, problem, options, &err);

        if (status == LATHE_OK)
            assert_is_a_plan(&plan);
        else
            assert_refusal(status, &err);
        planned += status == LATHE_OK;
        free(problem);
        free(options);
    }
    print_message("# %d of %d are planned\n", planned, PROBLEMS);
    assert_in_range(planned, PROBLEMS / 10, PROBLEMS - PROBLEMS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_a_plan_or_refused_in_a_line),
        cmocka_unit_test(words_are_a_request_or_refused_in_a_line),
        cmocka_unit_test(a_struct_is_a_plan_or_refused_in_a_line),
        cmocka_unit_test(any_problem_and_options_are_planned_or_refused_in_a_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
