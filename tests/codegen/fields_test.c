#include "codegen/fields.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"

#include <stdio.h>
#include <string.h>

static const struct lt_field *gemm_field(const char *key)
{
    const struct lt_field *field = lt_field_find(lt_gemm_fields, lt_gemm_field_count, key);

    assert_non_null(field);
    return field;
}

static const struct lt_field *plan_field(const char *key)
{
    const struct lt_field *field = lt_field_find(lt_plan_fields, lt_plan_field_count, key);

    assert_non_null(field);
    return field;
}

static void every_key_is_there_once_among_problem_and_plan(void **state)
{
    (void)state;

    for (size_t i = 0; i < lt_gemm_field_count; i++)
        assert_ptr_equal(gemm_field(lt_gemm_fields[i].key), &lt_gemm_fields[i]);
    for (size_t i = 0; i < lt_plan_field_count; i++) {
        assert_ptr_equal(plan_field(lt_plan_fields[i].key), &lt_plan_fields[i]);
        assert_null(lt_field_find(lt_gemm_fields, lt_gemm_field_count, lt_plan_fields[i].key));
    }
    assert_null(lt_field_find(lt_plan_fields, lt_plan_field_count, "stage"));
}

static void every_field_has_a_default_and_one_line_of_doc(void **state)
{
    (void)state;

    for (size_t i = 0; i < lt_gemm_field_count + lt_plan_field_count; i++) {
        const struct lt_field *field =
            i < lt_gemm_field_count ? &lt_gemm_fields[i] : &lt_plan_fields[i - lt_gemm_field_count];

        assert_true(strlen(field->fallback) > 0);
        assert_true(strlen(field->doc) > 0 && strlen(field->doc) <= 60);
        assert_null(strchr(field->doc, '\n'));
        assert_true((field->kind == LT_WORD) == (field->words != NULL));
    }
}

static void every_field_of_a_plan_lies_at_its_own_member(void **state)
{
    (void)state;
    struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;
    struct lathe_plan plan = LATHE_PLAN_INIT;

    assert_int_equal(LATHE_OK,
                     lt_field_set(plan_field("stages"),
                                  (char *)&options + plan_field("stages")->offset, "7", NULL));
    assert_int_equal(options.stages, 7);
    assert_int_equal(LATHE_OK,
                     lt_field_set(plan_field("stages"),
                                  (char *)&plan + plan_field("stages")->plan_offset, "6", NULL));
    assert_int_equal(plan.stages, 6);
    assert_int_equal(LATHE_OK,
                     lt_field_set(plan_field("regs"), (char *)&options + plan_field("regs")->offset,
                                  "40x232", NULL));
    assert_true(options.regs[0] == 40 && options.regs[1] == 232 && options.annotate == 0);
    assert_int_equal(
        LATHE_OK,
        lt_field_set(plan_field("sms"), (char *)&options + plan_field("sms")->offset, "132", NULL));
    assert_int_equal(options.sms, 132);
}

/* A value of each key, read and written again. */
static void a_value_is_written_as_it_was_read(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value;
    } values[] = {
        {"m", "0"},
        {"n", "2147479552"},
        {"k", "4096"},
        {"type", "e5m2"},
        {"out", "s32"},
        {"layout", "nt"},
        {"beta", "any"},
        {"static", "m,n,k"},
        {"lda", "1"},
        {"ldd", "1099511627776"},
        {"arch", "sm_120a"},
        {"variant", "hopper-best"},
        {"tile", "128x256x64"},
        {"cluster", "2x1x1"},
        {"cta_group", "2"},
        {"stages", "64"},
        {"consumers", "1"},
        {"schedule", "persistent"},
        {"raster", "65536"},
        {"epilogue", "128x64x2"},
        {"split", "1024"},
        {"regs", "40x232"},
        {"annotate", "0"},
        {"sms", "132"},
    };

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        const struct lt_field *field =
            lt_field_find(lt_gemm_fields, lt_gemm_field_count, values[i].key);
        int64_t storage[8] = {0};
        struct lt_text text = {0};

        if (!field)
            field = plan_field(values[i].key);
        assert_int_equal(lt_field_set(field, storage, values[i].value, NULL), LATHE_OK);
        lt_field_print(field, storage, &text);
        assert_string_equal(text.data, values[i].value);
        assert_int_equal(lt_field_is_set(field, storage), strcmp(values[i].key, "m") != 0);
        lt_text_free(&text);
    }
}

static void staging_without_buffers_has_one(void **state)
{
    (void)state;
    int staging[3] = {0};

    assert_int_equal(lt_field_set(plan_field("epilogue"), staging, "128x64", NULL), LATHE_OK);

    assert_true(staging[0] == 128 && staging[1] == 64 && staging[2] == 1);
}

static void a_field_that_nobody_named_is_not_set(void **state)
{
    (void)state;
    struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;

    for (size_t i = 0; i < lt_plan_field_count; i++)
        assert_false(
            lt_field_is_set(&lt_plan_fields[i], (const char *)&options + lt_plan_fields[i].offset));
}

static void a_number_outside_its_range_is_refused_with_the_range(void **state)
{
    (void)state;
    struct lathe_error err = {0};
    int64_t size = 5;
    int stages = 5;

    assert_int_equal(lt_field_set(gemm_field("m"), &size, "-1", &err), LATHE_OUT_OF_RANGE);
    assert_string_equal(err.message, "m=-1: must be a whole number from 0 to 2147479552");
    assert_int_equal(lt_field_set(gemm_field("m"), &size, "2147479553", &err), LATHE_OUT_OF_RANGE);
    assert_int_equal(lt_field_set(gemm_field("m"), &size, "1e3", &err), LATHE_OUT_OF_RANGE);
    assert_int_equal(lt_field_set(gemm_field("lda"), &size, "0", &err), LATHE_OUT_OF_RANGE);
    assert_int_equal(size, 5);
    assert_int_equal(lt_field_set(plan_field("stages"), &stages, "65", &err), LATHE_OUT_OF_RANGE);
    assert_string_equal(err.message, "stages=65: must be a whole number from 1 to 64");
    assert_int_equal(lt_field_set(plan_field("stages"), &stages, "0", &err), LATHE_OUT_OF_RANGE);
    assert_int_equal(lt_field_set(plan_field("stages"), &stages, "4294967297", &err),
                     LATHE_OUT_OF_RANGE);
    assert_int_equal(stages, 5);
}

static const char *message_of_check(const struct lt_field *field, const void *storage)
{
    static struct lathe_error err;

    assert_int_equal(lt_field_check(field, storage, false, &err), LATHE_OUT_OF_RANGE);
    return err.message;
}

/* Values from a program are refused as words would be. */
static void a_value_out_of_range_is_shown_as_a_word_would_give_it(void **state)
{
    (void)state;
    const int cluster[3] = {0, 1, 1}, regs[2] = {40, 300}, epilogue[3] = {128, 64, -2}, stages = 65;
    const int arch = 99;

    assert_string_equal(message_of_check(plan_field("cluster"), cluster),
                        "cluster=0x1x1: each number must be 1 to 16");
    assert_string_equal(message_of_check(plan_field("regs"), regs),
                        "regs=40x300: each number must be 24 to 256");
    assert_string_equal(message_of_check(plan_field("epilogue"), epilogue),
                        "epilogue=128x64x-2: each number must be 1 to 4096");
    assert_string_equal(message_of_check(plan_field("stages"), &stages),
                        "stages=65: must be a whole number from 1 to 64");
    assert_string_equal(message_of_check(plan_field("arch"), &arch),
                        "arch: 99 is none of its values; known: sm_80 sm_86 sm_89 sm_90a sm_100a "
                        "sm_103a sm_110a sm_120a");
}

static void what_must_be_there_and_is_not_is_missing(void **state)
{
    (void)state;
    static const int nothing[3] = {0, 0, 0};

    assert_string_equal(message_of_check(plan_field("tile"), nothing),
                        "tile is missing: each number must be 1 to 4096");
    assert_string_equal(message_of_check(plan_field("stages"), nothing),
                        "stages is missing: must be a whole number from 1 to 64");
    assert_string_equal(message_of_check(plan_field("schedule"), nothing),
                        "schedule is missing; known: persistent single grid dynamic grouped");
    assert_int_equal(lt_field_check(plan_field("tile"), nothing, true, NULL), LATHE_OK);
    assert_int_equal(lt_field_check(gemm_field("static"), nothing, false, NULL), LATHE_OK);
}

static void a_product_of_the_wrong_form_is_refused_with_the_form(void **state)
{
    (void)state;
    struct lathe_error err = {0};
    int tile[3] = {5, 5, 5};

    assert_int_equal(lt_field_set(plan_field("tile"), tile, "128x256", &err), LATHE_OUT_OF_RANGE);
    assert_has(err.message, "tile=128x256: ");
    assert_has(err.message, "AxBxC");
    assert_int_equal(lt_field_set(plan_field("tile"), tile, "128x4097x64", &err),
                     LATHE_OUT_OF_RANGE);
    assert_string_equal(err.message, "tile=128x4097x64: each number must be 1 to 4096");
    assert_int_equal(lt_field_set(plan_field("regs"), tile, "40", &err), LATHE_OUT_OF_RANGE);
    assert_has(err.message, "AxB");
    assert_int_equal(lt_field_set(plan_field("regs"), tile, "16x232", &err), LATHE_OUT_OF_RANGE);
    assert_int_equal(lt_field_set(plan_field("epilogue"), tile, "128", &err), LATHE_OUT_OF_RANGE);
    assert_has(err.message, "MxN");
    assert_true(tile[0] == 5 && tile[1] == 5 && tile[2] == 5);
}

static void an_unknown_word_is_refused_with_the_nearest_and_all_known_ones(void **state)
{
    (void)state;
    struct lathe_error err = {0};
    int type = 5;

    assert_int_equal(lt_field_set(gemm_field("type"), &type, "bf61", &err), LATHE_BAD_WORD);

    assert_int_equal(type, 5);
    assert_has(err.message, "type=bf61: ");
    assert_has(err.message, "nearest: type=bf16");
    assert_has(err.message, "f16 bf16 f32 tf32 e4m3 e5m2 int8 s32");
}

/* An enumeration may grow: as many words as the longest table of later versions will have. */
static void any_number_of_words_may_be_known(void **state)
{
    (void)state;
    enum { COUNT = 400 };
    static char names[COUNT][8];
    static struct lt_word words[COUNT + 1];
    const struct lt_field field = {.key = "colour", .kind = LT_WORD, .words = words};
    struct lathe_error err = {0};
    int value = 5;

    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "w%d", 1000 + i);
        words[i] = (struct lt_word){names[i], i};
    }

    assert_int_equal(lt_field_set(&field, &value, "w1399x", &err), LATHE_BAD_WORD);
    assert_has(err.message, "nearest: colour=w1399; known: w1000 ");
    assert_int_equal(value, 5);
}

static void a_name_must_be_there_and_must_fit(void **state)
{
    (void)state;
    struct lathe_error err = {0};
    char name[LATHE_NAME_SIZE] = "before";

    assert_int_equal(lt_field_set(plan_field("variant"), name, "", &err), LATHE_BAD_WORD);
    assert_int_equal(lt_field_set(plan_field("variant"), name,
                                  "a-name-of-more-than-forty-seven-characters-in-all", &err),
                     LATHE_BAD_WORD);
    assert_has(err.message, "a name of 1 to 47 letters, digits");
    assert_string_equal(name, "before");
    assert_int_equal(lt_field_set(plan_field("variant"), name,
                                  "a-name-of-just-forty-seven-characters-is-enough", &err),
                     LATHE_OK);
}

/* Names stand in lines of words, between which there are blanks. */
static void a_name_has_neither_blanks_nor_signs(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "hopper best",     "a m=7 b",
        " hopper-best",    "hopper\nbest",
        "hopper=best",     "custom(from )",
        "custom(from a",   "custom(a)",
        "custom(from a)b", "custom(from a b)",
        "\xc3\xa4",        "x/y",
        "\"x\"",           "{",
        "custom(from a))",
    };
    static const char *const right[] = {"hopper-best", "blackwell_9.1", "X",
                                        "custom(from hopper-best)"};
    char name[LATHE_NAME_SIZE] = "before";
    struct lathe_error err = {0};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(lt_field_set(plan_field("variant"), name, wrong[i], &err), LATHE_BAD_WORD);
        assert_string_equal(name, "before");
    }
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        assert_int_equal(lt_field_set(plan_field("variant"), name, right[i], &err), LATHE_OK);
        assert_string_equal(name, right[i]);
    }
}

static void a_value_of_any_length_is_refused_within_the_message(void **state)
{
    (void)state;
    char longer[2000];
    int64_t storage[8] = {0};

    memset(longer, '9', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    for (size_t i = 0; i < lt_plan_field_count; i++) {
        struct lathe_error err = {0};

        assert_int_not_equal(lt_field_set(&lt_plan_fields[i], storage, longer, &err), LATHE_OK);
        assert_true(strlen(err.message) < 300);
        assert_has(err.message, lt_plan_fields[i].key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_there_once_among_problem_and_plan),
        cmocka_unit_test(every_field_has_a_default_and_one_line_of_doc),
        cmocka_unit_test(every_field_of_a_plan_lies_at_its_own_member),
        cmocka_unit_test(a_value_is_written_as_it_was_read),
        cmocka_unit_test(staging_without_buffers_has_one),
        cmocka_unit_test(a_field_that_nobody_named_is_not_set),
        cmocka_unit_test(a_number_outside_its_range_is_refused_with_the_range),
        cmocka_unit_test(a_value_out_of_range_is_shown_as_a_word_would_give_it),
        cmocka_unit_test(what_must_be_there_and_is_not_is_missing),
        cmocka_unit_test(a_product_of_the_wrong_form_is_refused_with_the_form),
        cmocka_unit_test(an_unknown_word_is_refused_with_the_nearest_and_all_known_ones),
        cmocka_unit_test(any_number_of_words_may_be_known),
        cmocka_unit_test(a_name_must_be_there_and_must_fit),
        cmocka_unit_test(a_name_has_neither_blanks_nor_signs),
        cmocka_unit_test(a_value_of_any_length_is_refused_within_the_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
