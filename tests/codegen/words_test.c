#include "codegen/words.h"

#include "include/lathe_tools.h"

#include "tests/support/cmocka_all.h"

#include <string.h>

static const struct lt_word *const tables[] = {
    lt_words_type, lt_words_layout,   lt_words_beta,   lt_words_static,
    lt_words_arch, lt_words_schedule, lt_words_switch, lt_words_family,
};

static void every_word_leads_to_its_value_and_back(void **state)
{
    (void)state;

    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++) {
        assert_non_null(tables[t]->word);
        for (const struct lt_word *word = tables[t]; word->word; word++) {
            assert_string_equal(lt_word_of(tables[t], word->value), word->word);
            for (const struct lt_word *other = tables[t]; other != word; other++)
                assert_string_not_equal(other->word, word->word);
        }
        assert_null(lt_word_of(tables[t], 12345));
    }
}

static void the_public_names_are_the_words_of_the_tables(void **state)
{
    (void)state;

    assert_string_equal(lathe_type_name(LATHE_BF16), "bf16");
    assert_string_equal(lathe_type_name(LATHE_TYPE_DEFAULT), "default");
    assert_string_equal(lathe_type_name((enum lathe_type)99), "default");
    for (const struct lt_word *word = lt_words_type; word->word; word++)
        assert_string_equal(lathe_type_name((enum lathe_type)word->value), word->word);
    for (const struct lt_word *word = lt_words_arch; word->word; word++)
        assert_string_equal(lathe_arch_name((enum lathe_arch)word->value), word->word);
}

static void elements_have_the_bytes_of_their_type(void **state)
{
    (void)state;
    static const struct {
        enum lathe_type type;
        int bytes;
    } sizes[] = {
        {LATHE_TYPE_DEFAULT, 0}, {LATHE_F16, 2},  {LATHE_BF16, 2}, {LATHE_F32, 4}, {LATHE_TF32, 4},
        {LATHE_E4M3, 1},         {LATHE_E5M2, 1}, {LATHE_INT8, 1}, {LATHE_S32, 4},
    };

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        assert_int_equal(lathe_type_bytes(sizes[i].type), sizes[i].bytes);
}

static void edits_are_counted_one_for_each_slip_of_the_hand(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        int edits;
    } slips[] = {
        {"", "", 0},
        {"stages", "stages", 0},
        {"stages", "stage", 1},   /* dropped                  */
        {"stages", "staages", 1}, /* doubled                  */
        {"stages", "stagas", 1},  /* changed                  */
        {"stages", "satges", 1},  /* neighbours swapped       */
        {"stages", "", 6},        /* nothing left             */
        {"tile", "cluster", 6},   /* only the l stays         */
        {"hoper-bets", "hopper-best", 2},
    };

    for (size_t i = 0; i < sizeof slips / sizeof slips[0]; i++) {
        assert_int_equal(lt_edit_distance(slips[i].a, slips[i].b), slips[i].edits);
        assert_int_equal(lt_edit_distance(slips[i].b, slips[i].a), slips[i].edits);
    }
}

static void words_of_any_length_have_a_distance(void **state)
{
    (void)state;
    char longer[300];

    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';

    assert_int_equal(lt_edit_distance(longer, longer), 0);
    assert_true(lt_edit_distance(longer, "stages") > 6);
}

static void the_nearest_word_is_named_and_of_equals_the_one_that_begins_alike(void **state)
{
    (void)state;
    static const char *const keys[] = {"m", "tile", "stages", "type", "split"};
    enum { COUNT = sizeof keys / sizeof keys[0] };

    assert_string_equal(lathe_nearest("stage", keys, COUNT), "stages");
    assert_string_equal(lathe_nearest("tiel", keys, COUNT), "tile");
    assert_string_equal(lathe_nearest("tyle", keys, COUNT), "type"); /* tile is as near */
    assert_string_equal(lathe_nearest("typ", keys, COUNT), "type");
}

static void a_word_of_which_more_is_wrong_than_right_has_no_nearest(void **state)
{
    (void)state;
    static const char *const keys[] = {"m", "tile", "stages"};

    assert_null(lathe_nearest("xyz", keys, 3));
    assert_null(lathe_nearest("tax", keys, 3));
    assert_null(lathe_nearest("n", keys, 3));
    assert_null(lathe_nearest("tile", keys, 0));
}

static void whole_numbers_are_read_and_nothing_else(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "-",
                                        "+1",
                                        " 1",
                                        "1 ",
                                        "1.0",
                                        "0x10",
                                        "1e3",
                                        "--1",
                                        "12a",
                                        "9223372036854775808",
                                        "99999999999999999999"};
    int64_t number = 77;

    assert_true(lt_parse_int("0", &number));
    assert_int_equal(number, 0);
    assert_true(lt_parse_int("-12", &number));
    assert_int_equal(number, -12);
    assert_true(lt_parse_int("0042", &number));
    assert_int_equal(number, 42);
    assert_true(lt_parse_int("9223372036854775807", &number));
    assert_true(number == INT64_MAX);

    number = 77;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(lt_parse_int(wrong[i], &number));
        assert_int_equal(number, 77);
    }
}

static void products_are_read_with_as_many_numbers_as_asked_for(void **state)
{
    (void)state;
    int n[3] = {7, 7, 7};

    assert_int_equal(lt_parse_product("128x256x64", 3, 3, n), 3);
    assert_int_equal(n[0], 128);
    assert_int_equal(n[1], 256);
    assert_int_equal(n[2], 64);
    assert_int_equal(lt_parse_product("40x232", 2, 3, n), 2);
    assert_int_equal(n[0], 40);
    assert_int_equal(n[1], 232);
    assert_int_equal(n[2], 64);
    assert_int_equal(lt_parse_product("5", 1, 1, n), 1);
    assert_int_equal(n[0], 5);
}

static void what_is_no_product_of_positive_numbers_leaves_them_as_they_were(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "x",
                                        "128x",
                                        "x128",
                                        "128x256",
                                        "1x2x3x4",
                                        "0x1x1",
                                        "1x0x1",
                                        "1x-2x3",
                                        "1 x2x3",
                                        "1x2x3 ",
                                        "1X2X3",
                                        "1x2x3x",
                                        "1xx2x3",
                                        "1.5x2x3",
                                        "123456789x1x1",
                                        "1x2x99999999999999999999"};
    int n[3] = {7, 7, 7};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(lt_parse_product(wrong[i], 3, 3, n), 0);
        assert_true(n[0] == 7 && n[1] == 7 && n[2] == 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_leads_to_its_value_and_back),
        cmocka_unit_test(the_public_names_are_the_words_of_the_tables),
        cmocka_unit_test(elements_have_the_bytes_of_their_type),
        cmocka_unit_test(edits_are_counted_one_for_each_slip_of_the_hand),
        cmocka_unit_test(words_of_any_length_have_a_distance),
        cmocka_unit_test(the_nearest_word_is_named_and_of_equals_the_one_that_begins_alike),
        cmocka_unit_test(a_word_of_which_more_is_wrong_than_right_has_no_nearest),
        cmocka_unit_test(whole_numbers_are_read_and_nothing_else),
        cmocka_unit_test(products_are_read_with_as_many_numbers_as_asked_for),
        cmocka_unit_test(what_is_no_product_of_positive_numbers_leaves_them_as_they_were),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
