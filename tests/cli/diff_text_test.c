#include "cli/compare.h"
#include "cli/diff_text.h"

#include "tests/support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

static void assert_diff(const char *a, const char *b, const char *wanted)
{
    json_t *seen = diff_text_json(a, b);
    char *text = json_dumps(seen, JSON_COMPACT);

    assert_string_equal(text, wanted);
    free(text);
    json_decref(seen);
}

static void sections_meet_by_their_role(void **state)
{
    (void)state;
    assert_diff("x\n// ---- setup: all warps ----\na\nb\n", "x\n// ---- setup: warp 0 ----\na\nc\n",
                "[{\"name\":\"head\",\"same\":1,\"changes\":[]},"
                "{\"name\":\"setup\",\"same\":1,\"changes\":["
                "{\"op\":\"-\",\"line\":\"// ---- setup: all warps ----\"},"
                "{\"op\":\"+\",\"line\":\"// ---- setup: warp 0 ----\"},"
                "{\"op\":\"-\",\"line\":\"b\"},{\"op\":\"+\",\"line\":\"c\"}]}]");
}

/* Under the undefined sanitizer too: there is nothing to compare its lines with. */
static void a_section_of_one_text_alone_is_shown_whole(void **state)
{
    (void)state;
    assert_diff("x\n// ---- producer: warp 0 ----\na\n", "x\n// ---- consumer: warp 1 ----\nb\n",
                "[{\"name\":\"head\",\"same\":1,\"changes\":[]},"
                "{\"name\":\"producer\",\"same\":0,\"changes\":["
                "{\"op\":\"-\",\"line\":\"// ---- producer: warp 0 ----\"},"
                "{\"op\":\"-\",\"line\":\"a\"}]},"
                "{\"name\":\"consumer\",\"same\":0,\"changes\":["
                "{\"op\":\"+\",\"line\":\"// ---- consumer: warp 1 ----\"},"
                "{\"op\":\"+\",\"line\":\"b\"}]}]");
}

static void without_headings_the_whole_texts_meet(void **state)
{
    (void)state;
    static const char annotated[] = "x\n// ---- setup: all warps ----\na  // why\nb\n";

    assert_diff("x\na\nb\n", annotated,
                "[{\"name\":\"text\",\"same\":2,\"changes\":["
                "{\"op\":\"-\",\"line\":\"a\"},"
                "{\"op\":\"+\",\"line\":\"// ---- setup: all warps ----\"},"
                "{\"op\":\"+\",\"line\":\"a  // why\"}]}]");
    assert_diff("x\n", "y\n",
                "[{\"name\":\"text\",\"same\":0,\"changes\":["
                "{\"op\":\"-\",\"line\":\"x\"},{\"op\":\"+\",\"line\":\"y\"}]}]");
}

static void as_many_lines_as_can_be_are_the_same(void **state)
{
    (void)state;
    static const char marks[] = {[STEP_SAME] = ' ', [STEP_A_ONLY] = '-', [STEP_B_ONLY] = '+'};
    struct lines a, b;
    char seen[64] = "";
    size_t count = 0;

    assert_int_equal(lines_split(&a, "1\n2\n3\n4\n5"), 0);
    assert_int_equal(lines_split(&b, "1\n3\n2\n4\n6\n5\n"), 0);

    struct edit *edits = lines_compare(a.list, a.count, b.list, b.count, &count);

    assert_non_null(edits);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(seen);

        seen[length] = marks[edits[i].step];
        seen[length + 1] = edits[i].line.at[0];
    }
    assert_string_equal(seen, " 1-2 3+2 4+6 5");
    free(edits);
    lines_free(&a);
    lines_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_meet_by_their_role),
        cmocka_unit_test(a_section_of_one_text_alone_is_shown_whole),
        cmocka_unit_test(without_headings_the_whole_texts_meet),
        cmocka_unit_test(as_many_lines_as_can_be_are_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
