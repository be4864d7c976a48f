/* The text of kernels: what a reader meets, and what must agree with the plan. */
#include "include/lathe.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"
#include "tests/templates/fixture.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

struct sample {
    const char *words;
    const struct lathe_plan *plan;
    const char *text;
    const struct lathe_contract *contract;
};

static void for_each_sample(void (*act)(const struct sample *sample))
{
    for (int i = 0; i < sample_count; i++) {
        struct lathe_kernel *kernel = kernel_of(sample_requests[i]);
        struct sample sample = {sample_requests[i], lathe_kernel_plan(kernel),
                                lathe_kernel_text(kernel, NULL), lathe_kernel_contract(kernel)};

        act(&sample);
        lathe_kernel_destroy(&kernel);
    }
}

/* ---- Names ---- */

struct declared {
    int count;
    char name[512][40];
    int elements[512]; /* of a vector, else 0 */
};

static void add_declarations(struct declared *declared, const char *line)
{
    for (const char *at = strchr(line, '%'); at; at = strchr(at + 1, '%')) {
        size_t length = strcspn(at + 1, " ,;<");
        const char *behind = at + 1 + length;
        int slot = declared->count++;

        assert_true(declared->count < 512 && length < 40);
        memcpy(declared->name[slot], at + 1, length);
        declared->name[slot][length] = '\0';
        declared->elements[slot] = *behind == '<' ? atoi(behind + 1) : 0;
    }
}

/* Words of lower-case letters; a number may be a word ("row_64"), but not the end of one ("r12").
 */
static bool is_plain_name(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        bool digit = isdigit((unsigned char)name[i]);

        if (!islower((unsigned char)name[i]) && name[i] != '_' && !digit)
            return false;
        if (digit && (i == 0 || islower((unsigned char)name[i - 1])))
            return false;
    }
    return length >= 1;
}

/* A register is declared by its name, or is an element of a vector that is. */
static bool is_declared(const struct declared *declared, const char *name, size_t length)
{
    size_t letters = length;

    while (letters > 0 && isdigit((unsigned char)name[letters - 1]))
        letters--;
    for (int i = 0; i < declared->count; i++) {
        bool vector = declared->elements[i] > 0;
        size_t compared = vector ? letters : length;

        if (strlen(declared->name[i]) == compared &&
            memcmp(declared->name[i], name, compared) == 0 &&
            (!vector || (letters < length && atoi(name + letters) < declared->elements[i])))
            return true;
    }
    return false;
}

static bool is_special(const char *name, size_t length)
{
    static const char *const specials[] = {"tid.x",    "ctaid.x",         "ctaid.y",
                                           "nctaid.x", "cluster_ctarank", "laneid"};

    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++)
        if (strlen(specials[i]) == length && memcmp(specials[i], name, length) == 0)
            return true;
    return false;
}

static void check_names(const struct sample *sample)
{
    char *code = ptx_code_of(sample->text);
    struct ptx_lines lines = ptx_lines_of(code);
    struct declared *declared = calloc(1, sizeof *declared);
    size_t used = 0;

    assert_non_null(declared);
    for (size_t i = 0; i < lines.count; i++)
        if (ptx_starts_with(ptx_trimmed(lines.line[i]), ".reg "))
            add_declarations(declared, lines.line[i]);
    for (int i = 0; i < declared->count; i++)
        if (!is_plain_name(declared->name[i], strlen(declared->name[i])))
            fail_msg("%s: a register is named %%%s", sample->words, declared->name[i]);
    for (size_t i = 0; i < lines.count; i++) {
        if (ptx_starts_with(ptx_trimmed(lines.line[i]), ".reg "))
            continue;
        for (const char *at = strchr(lines.line[i], '%'); at; at = strchr(at + 1, '%')) {
            size_t length = strspn(at + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "0123456789_.");

            if (!is_declared(declared, at + 1, length) && !is_special(at + 1, length))
                fail_msg("%s: nobody declared %s", sample->words, at);
            used++;
        }
        for (const char *at = strchr(lines.line[i], '$'); at; at = strchr(at + 1, '$'))
            if (!is_plain_name(at + 1, strcspn(at + 1, ":; ")))
                fail_msg("%s: a label is named %s", sample->words, at);
    }
    assert_true(used > 300);
    free(declared);
    ptx_lines_free(&lines);
    free(code);
}

static void registers_and_labels_have_names_and_no_numbers(void **state)
{
    (void)state;

    for_each_sample(check_names);
}

/* The operand behind `at`, which must be a register: "%name", "[%name", "{%name". */
static void expect_register(const struct sample *sample, const char *line, const char *at)
{
    at += strspn(at, " [{");
    if (at[0] != '%' ||
        !is_plain_name(at + 1, strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_0123456789")))
        fail_msg("%s: '%s' has an operand without a name at '%s'", sample->words, line, at);
}

static void check_operands(const struct sample *sample)
{
    char *code = ptx_code_of(sample->text);
    struct ptx_lines lines = ptx_lines_of(code);
    size_t barriers = 0, copies = 0, mmas = 0;

    for (size_t i = 0; i < lines.count; i++) {
        const char *line = ptx_trimmed(lines.line[i]);

        if (*line == '@')
            line = ptx_trimmed(line + strcspn(line, " "));
        if (ptx_starts_with(line, "mbarrier.")) {
            expect_register(sample, line, strchr(line, '['));
            barriers++;
        } else if (ptx_starts_with(line, "cp.async.bulk.tensor.") ||
                   ptx_starts_with(line, "prefetch.tensormap")) {
            const char *at = strchr(line, '[');

            for (const char *comma = at; comma; comma = strchr(comma + 1, ','))
                expect_register(sample, line, comma + (*comma == ','));
            copies++;
        } else if (ptx_starts_with(line, "wgmma.mma_async.")) {
            size_t last = i + 1;

            assert_true(ptx_starts_with(ptx_trimmed(lines.line[i + 1]), "{%acc"));
            while (!strchr(lines.line[last], ';'))
                last++;
            expect_register(sample, lines.line[last], lines.line[last]);
            expect_register(sample, lines.line[last], strchr(lines.line[last], ',') + 1);
            mmas++;
        }
    }
    assert_true(barriers >= 8 && copies >= 4 && mmas >= 4);
    ptx_lines_free(&lines);
    free(code);
}

static void barriers_copies_and_mmas_name_what_they_work_on(void **state)
{
    (void)state;

    for_each_sample(check_operands);
}

/* ---- What a reader sees ---- */

static void check_headings(const struct sample *sample)
{
    char consumer[80];
    const char *const expected[] = {
        "// ---- setup: all warps ----",
        "// ---- barriers: one thread, for all ----",
        "// ---- producer: warps 0 to 3, of which one lane of warp 0 works ----",
        consumer,
        "// ---- teardown: all warps ----",
    };
    struct ptx_lines lines = ptx_lines_of(sample->text);
    size_t found = 0;

    snprintf(consumer, sizeof consumer, "// ---- consumer: warps 4 to %d, %s of 4 warps ----",
             sample->plan->consumers == 2 ? 11 : 7,
             sample->plan->consumers == 2 ? "2 warpgroups" : "1 warpgroup");
    for (size_t i = 0; i < lines.count; i++) {
        if (!strstr(lines.line[i], "// ----"))
            continue;
        assert_true(found < 5);
        assert_string_equal(ptx_trimmed(lines.line[i]), expected[found++]);
        assert_string_equal(lines.line[i - 1], "");
    }
    assert_int_equal(found, 5);
    ptx_lines_free(&lines);
}

static void each_role_has_one_heading_in_order(void **state)
{
    (void)state;

    for_each_sample(check_headings);
}

static void check_characters(const struct sample *sample)
{
    struct ptx_lines lines = ptx_lines_of(sample->text);
    int empty = 0;

    for (const char *at = sample->text; *at; at++)
        assert_true(*at == '\n' || (*at >= ' ' && *at <= '~'));
    assert_int_equal(sample->text[strlen(sample->text) - 1], '\n');
    for (size_t i = 0; i < lines.count; i++) {
        const char *line = lines.line[i];
        size_t length = strlen(line);
        const char *comment = strstr(line, "//");
        size_t code = comment ? (size_t)(comment - line) : length;

        if (length > 0 && line[length - 1] == ' ')
            fail_msg("%s: '%s' ends with a blank", sample->words, line);
        if (code > 190)
            fail_msg("%s: '%s' is too long", sample->words, line);
        /* The accumulators of an MMA are set in by one more. */
        assert_int_equal(strspn(line, " ") % 4, ptx_starts_with(ptx_trimmed(line), "%acc"));
        empty = length == 0 ? empty + 1 : 0;
        assert_true(empty < 2);
    }
    ptx_lines_free(&lines);
}

static void texts_are_ascii_with_clean_lines(void **state)
{
    (void)state;

    for_each_sample(check_characters);
}

/* The substring changes what ptxas does. */
static void check_forbidden(const struct sample *sample)
{
    for (const char *at = sample->text; *at; at++)
        assert_int_not_equal(strncasecmp(at, "cutlass", 7), 0);
}

static void a_certain_name_stands_in_no_text(void **state)
{
    (void)state;

    for_each_sample(check_forbidden);
}

static void check_description(const struct sample *sample)
{
    char words[WORDS_MAX], line[WORDS_MAX];
    const struct lathe_plan *plan = sample->plan;

    snprintf(line, sizeof line,
             "// D = alpha * A * B^T%s: A is m x k and B n x k of %s, D is m x n "
             "of %s; f32 sums.\n",
             plan->beta == LATHE_BETA_ANY ? " + beta * C" : "", lathe_type_name(plan->type),
             lathe_type_name(plan->out));
    assert_has(sample->text, line);
    snprintf(line, sizeof line, "// Lathe %s, plan:\n//   gemm type=%s ", lathe_version(),
             lathe_type_name(plan->type));
    assert_has(sample->text, line);
    snprintf(line, sizeof line, "// Shared memory of a CTA, %d of %d bytes:\n", plan->smem_bytes,
             plan->smem_limit);
    assert_has(sample->text, line);
    for (int i = 0; i < plan->tenant_count; i++) {
        snprintf(line, sizeof line, "//   %6d  %6d  %s\n", plan->tenants[i].offset,
                 plan->tenants[i].bytes, plan->tenants[i].name);
        assert_has(sample->text, line);
    }
    snprintf(words, sizeof words, "stages=%d consumers=%d", plan->stages, plan->consumers);
    assert_has(sample->text, words);
}

static void the_head_says_what_is_computed_by_which_plan_in_which_memory(void **state)
{
    (void)state;

    for_each_sample(check_description);
}

static void comments_count_in_the_grammar_of_one_and_many(void **state)
{
    (void)state;
    struct lathe_kernel *one = kernel_of("gemm m=64 n=64 k=64 tile=64x64x64 cluster=1x1x1");
    struct lathe_kernel *many = kernel_of("gemm m=64 n=64 k=64 tile=64x64x64 cluster=2x1x1");

    assert_has(lathe_kernel_text(one, NULL), "each of 64 x 64; a CTA makes one at a time\n");
    assert_has(lathe_kernel_text(many, NULL),
               "each of 128 x 64; the CTAs of a cluster make one at a time\n");
    lathe_kernel_destroy(&one);
    lathe_kernel_destroy(&many);
}

/* ---- Same plan, same bytes ---- */

static char *text_of(const char *words)
{
    struct lathe_kernel *kernel = kernel_of(words);
    char *text = strdup(lathe_kernel_text(kernel, NULL));

    assert_non_null(text);
    lathe_kernel_destroy(&kernel);
    return text;
}

static void assert_same_text(const char *words, const char *text)
{
    char *again = text_of(words);

    if (strcmp(again, text) != 0)
        fail_msg("%s: the text differs", words);
    free(again);
}

static void check_without_comments(const struct sample *sample)
{
    char words[WORDS_MAX];
    char *code = ptx_code_of(sample->text);
    char *bare;

    snprintf(words, sizeof words, "%s annotate=0", sample->words);
    bare = text_of(words);

    assert_lacks(bare, "//");
    assert_lacks(bare, "\n\n");
    assert_string_equal(bare, code);
    free(bare);
    free(code);
}

static void without_annotation_the_code_is_the_same(void **state)
{
    (void)state;

    for_each_sample(check_without_comments);
}

static void check_twice(const struct sample *sample)
{
    assert_same_text(sample->words, sample->text);
}

static void emitting_twice_gives_the_same_bytes(void **state)
{
    (void)state;

    for_each_sample(check_twice);
}

static void sizes_that_are_not_baked_in_leave_no_trace(void **state)
{
    (void)state;
    static const char plan[] = "tile=128x128x64 cluster=2x1x1";
    char words[WORDS_MAX];
    char *text;

    snprintf(words, sizeof words, "gemm m=4096 n=4096 k=4096 %s", plan);
    text = text_of(words);
    snprintf(words, sizeof words, "gemm m=1 n=8 k=0 lda=4096 ldb=8 ldd=64 %s", plan);
    assert_same_text(words, text);
    free(text);
}

static void what_goes_to_the_launch_leaves_no_trace(void **state)
{
    (void)state;
    static const char plain[] = "gemm m=4096 n=4096 k=4096 tile=128x128x64 cluster=1x1x1";
    char *text = text_of(plain);
    char words[WORDS_MAX];

    snprintf(words, sizeof words, "%s raster=3 sms=17 variant=hopper-best", plain);
    assert_same_text(words, text);
    free(text);
}

static void a_plan_that_was_written_and_read_gives_the_same_text(void **state)
{
    (void)state;

    for (int i = 0; i < sample_count; i++) {
        struct lathe_plan plan = plan_of(sample_requests[i]), read = LATHE_PLAN_INIT;
        size_t (*const writers[])(const struct lathe_plan *, char *, size_t) = {lathe_plan_words,
                                                                                lathe_plan_json};
        char *text = text_of(sample_requests[i]);

        for (int j = 0; j < 2; j++) {
            struct lathe_kernel *kernel = NULL;
            char written[4096];

            writers[j](&plan, written, sizeof written);
            assert_int_equal(lathe_plan_parse(&read, written, NULL), LATHE_OK);
            assert_int_equal(lathe_emit(&kernel, &read, NULL, NULL), LATHE_OK);
            assert_string_equal(lathe_kernel_text(kernel, NULL), text);
            lathe_kernel_destroy(&kernel);
        }
        free(text);
    }
}

/* ---- Time and size, as information ---- */

static double microseconds_of_emitting(const struct lathe_plan *plan)
{
    struct timespec start, end;
    struct lathe_kernel *kernel = NULL;

    clock_gettime(CLOCK_MONOTONIC, &start);
    assert_int_equal(lathe_emit(&kernel, plan, NULL, NULL), LATHE_OK);
    clock_gettime(CLOCK_MONOTONIC, &end);
    lathe_kernel_destroy(&kernel);
    return (double)(end.tv_sec - start.tv_sec) * 1e6 + (double)(end.tv_nsec - start.tv_nsec) / 1e3;
}

static void the_time_of_the_largest_kernel_is_printed(void **state)
{
    (void)state;
    struct lathe_kernel *largest = kernel_of(sample_requests[0]);
    size_t most = 0;

    for (int i = 0; i < sample_count; i++) {
        struct lathe_kernel *kernel = kernel_of(sample_requests[i]);
        size_t length;

        lathe_kernel_text(kernel, &length);
        if (length > most) {
            most = length;
            lathe_kernel_destroy(&largest);
            largest = kernel;
        } else {
            lathe_kernel_destroy(&kernel);
        }
    }

    double least = 1e9;

    for (int i = 0; i < 50; i++) {
        double us = microseconds_of_emitting(lathe_kernel_plan(largest));

        least = us < least ? us : least;
    }
    print_message("# %s: %zu bytes in %.0f us\n", lathe_kernel_contract(largest)->name, most,
                  least);
    assert_true(most > 20000);
    lathe_kernel_destroy(&largest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_and_labels_have_names_and_no_numbers),
        cmocka_unit_test(barriers_copies_and_mmas_name_what_they_work_on),
        cmocka_unit_test(each_role_has_one_heading_in_order),
        cmocka_unit_test(texts_are_ascii_with_clean_lines),
        cmocka_unit_test(a_certain_name_stands_in_no_text),
        cmocka_unit_test(the_head_says_what_is_computed_by_which_plan_in_which_memory),
        cmocka_unit_test(comments_count_in_the_grammar_of_one_and_many),
        cmocka_unit_test(without_annotation_the_code_is_the_same),
        cmocka_unit_test(emitting_twice_gives_the_same_bytes),
        cmocka_unit_test(sizes_that_are_not_baked_in_leave_no_trace),
        cmocka_unit_test(what_goes_to_the_launch_leaves_no_trace),
        cmocka_unit_test(a_plan_that_was_written_and_read_gives_the_same_text),
        cmocka_unit_test(the_time_of_the_largest_kernel_is_printed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
