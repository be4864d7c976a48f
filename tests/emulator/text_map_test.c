/* Headings and names of shared memory, out of the comments of a text. */
#include "emulator/text_map.h"
#include "tests/support/cmocka_all.h"

#include <string.h>

static struct emu_text_map read(const char *text)
{
    struct emu_text_map map = {.headings = NULL};

    assert_true(emu_text_map_read(&map, text, strlen(text)));
    return map;
}

static void headings_stand_over_what_follows(void **state)
{
    (void)state;
    struct emu_text_map map = read(".version 8.0\n    // ---- setup: all warps ----\nret;\n"
                                   "// ---- producer ----\nret;\n// -- no heading --\nret;\n"
                                   "// ---- left open: at the end");

    assert_int_equal(map.heading_count, 3);
    assert_null(emu_text_map_heading(&map, 1, 1));
    assert_string_equal(emu_text_map_heading(&map, 1, 3), "setup");
    assert_string_equal(emu_text_map_heading(&map, 1, 7), "producer");
    assert_string_equal(emu_text_map_heading(&map, 1, 8), "left open");
    /* Of a function that begins behind it a heading says nothing. */
    assert_null(emu_text_map_heading(&map, 5, 7));
    emu_text_map_free(&map);
}

static void names_of_shared_memory_stand_below_their_heading(void **state)
{
    (void)state;
    struct emu_text_map map =
        read("// 7 7 before the heading\n// Shared memory of a CTA, 2048 of 4096 bytes:\n"
             "//        0      64  barriers\n//     1024  1024  stage ring\n"
             "// and other words\n// 5000 8 behind them\n");

    assert_int_equal(map.region_count, 2);
    assert_string_equal(emu_text_map_region(&map, 63)->name, "barriers");
    assert_null(emu_text_map_region(&map, 64));
    assert_string_equal(emu_text_map_region(&map, 2047)->name, "stage ring");
    assert_null(emu_text_map_region(&map, 5000));
    emu_text_map_free(&map);
}

/* Whatever stands there, nothing is read behind the end, and nothing too long is kept whole. */
static void odd_texts_give_less(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "\n",
                                        "//",
                                        "// ---- ",
                                        "// ---- ----",
                                        "// ----  ----",
                                        "// Shared memory of a CTA\n//",
                                        "// Shared memory of a CTA\n// 1",
                                        "// Shared memory of a CTA\n// 99999999999 1 x",
                                        "// Shared memory of a CTA\n// 1 1"};
    char text[400] = "// ---- ";

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct emu_text_map map = read(texts[i]);

        emu_text_map_free(&map);
    }
    memset(text + 8, 'x', sizeof text - 9);

    struct emu_text_map map = read(text);

    assert_int_equal(strlen(map.headings[0].text), EMU_HEADING_SIZE - 1);
    emu_text_map_free(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headings_stand_over_what_follows),
        cmocka_unit_test(names_of_shared_memory_stand_below_their_heading),
        cmocka_unit_test(odd_texts_give_less),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
