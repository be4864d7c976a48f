/* form_compare_test.c: that a form within the manual's bounds passes, and one beyond them does not;
 * what the file of expectations says. */
#include "tests/gpu/form.h"
#include "tests/gpu/form_expected.h"
#include "tests/support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

static struct form_state given, got, want;

static bool is_near(const char *type, struct form_bound bound, uint64_t here, uint64_t there)
{
    struct form form = {.bound = bound, .count = 1, .results = 1};

    strcpy(form.operands[0].type, type);
    got.values[77][0] = here;
    want.values[77][0] = there;
    return form_compare(&form, &given, &got, &want);
}

static void exact_ones_differ_by_a_bit(void **state)
{
    (void)state;
    assert_true(is_near("f32", (struct form_bound){0}, 0x3f800000, 0x3f800000));
    assert_false(is_near("f32", (struct form_bound){0}, 0x3f800000, 0x3f800001));
    assert_false(is_near("f32", (struct form_bound){0}, 0x7fc00000, 0x7fffffff));
}

static void twice_the_bound_is_allowed(void **state)
{
    const struct form_bound one = {.ulps = 1}, relative = {.relative = 20},
                            absolute = {.absolute = 10};

    (void)state;
    assert_true(is_near("f32", one, 0x3f800002, 0x3f800000));
    assert_false(is_near("f32", one, 0x3f800004, 0x3f800000));
    assert_true(is_near("f32", one, 0x7fc00000, 0x7fffffff));
    assert_false(is_near("f32", one, 0x7fc00000, 0x3f800000));
    assert_false(is_near("f32", one, 0x7f800000, 0x3f800000));
    assert_true(is_near("f64", relative, 0x3ff0000000000000, 0x3ff0000200000000));
    assert_false(is_near("f64", relative, 0x3ff0000000000000, 0x3ff0000300000000));
    assert_true(is_near("f32", absolute, 0x3a800000, 0));  /* 2^-10 */
    assert_false(is_near("f32", absolute, 0x3b800000, 0)); /* 2^-8  */
}

static void both_halves_of_a_pair_count(void **state)
{
    const struct form_bound bound = {.relative = 9.9};

    (void)state;
    assert_true(is_near("f16x2", bound, 0x3c003c02, 0x3c003c00));
    assert_false(is_near("f16x2", bound, 0x3c003c08, 0x3c003c00));
    assert_false(is_near("f16x2", bound, 0x3c083c00, 0x3c003c00));
    assert_true(is_near("f16", bound, 0x0002, 0x0003)); /* a step of subnormals */
    assert_false(is_near("f16", bound, 0x0001, 0x0003));
    assert_true(is_near("bf16", (struct form_bound){.relative = 7}, 0x3f81, 0x3f80));
    assert_false(is_near("bf16x2", (struct form_bound){.relative = 7}, 0x3f863f80, 0x3f803f80));
}

static void what_a_sequence_leaves_in_memory_counts(void **state)
{
    struct form form = {.body = ""};
    uint64_t hash = form_hash(&form, &got);

    (void)state;
    assert_true(form_compare(&form, &given, &got, &want));
    got.memory[FORM_MEMORY_WORDS - 1] = 1;
    assert_false(form_compare(&form, &given, &got, &want));
    assert_true(form_hash(&form, &got) != hash);
    got.memory[FORM_MEMORY_WORDS - 1] = 0;
}

static void every_form_has_a_name_of_its_own_and_a_text(void *user, const struct form *form)
{
    struct form_expected *seen = user;
    char text[FORM_TEXT_SIZE], key[FORM_KEY_SIZE];
    struct form_expectation *items =
        realloc(seen->items, (size_t)(seen->count + 1) * sizeof *items);

    assert_non_null(items);
    seen->items = items;
    seen->next = 0;
    snprintf(key, sizeof key, "%s %s", form->name, form->operand_text);
    if (form_expected_find(seen, key))
        fail_msg("twice: %s", key);
    items = &seen->items[seen->count++];
    *items = (struct form_expectation){.is_known = false};
    memcpy(items->key, key, sizeof key);
    assert_true(form_write_kernel(form, text));
}

static void the_table_can_be_read(void **state)
{
    struct form_expected seen = {0};

    (void)state;
    assert_true(form_each(every_form_has_a_name_of_its_own_and_a_text, &seen));
    assert_true(seen.count > 4000);
    form_expected_free(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_ones_differ_by_a_bit),
        cmocka_unit_test(twice_the_bound_is_allowed),
        cmocka_unit_test(both_halves_of_a_pair_count),
        cmocka_unit_test(what_a_sequence_leaves_in_memory_counts),
        cmocka_unit_test(the_table_can_be_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
