/* The fuzzer's property on a fixed set of texts: the samples, changed in ways that a seed decides.
 * And the limits: of nesting, of sizes, of memory. */
#include "tests/emulator/fuzz_parser.h"
#include "tests/emulator/ptx_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const samples[] = {"control.sm_90a.ptx", "memory.sm_80.ptx",
                                      "inline_asm.sm_90a.ptx", "jump.sm_100a.ptx", "forms.ptx"};
enum { SAMPLES = sizeof samples / sizeof samples[0], ROUNDS = 4000 };

static char *read_sample(int index, size_t *length)
{
    char path[1024];

    snprintf(path, sizeof path, "%s/%s", EMU_TEST_DATA, samples[index]);

    char *text = read_file(path, length);

    assert_non_null(text);
    return text;
}

static uint32_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* What a text may lose, get twice, or have in place of something else. */
static size_t change(char *text, size_t length, size_t size, uint64_t *seed)
{
    static const char *const pieces[] = {
        "{",        "}",          "(",       ")",       "[",        "]",      ";",
        ",",        "-",          "0x",      "%r",      "%r<9>",    ".b32",   ".v4",
        ".reg ",    "@!",         "|",       "<",       ">",        "\"",     "/*",
        "99999999", ".align 8",   "_",       "WARP_SZ", "generic(", "0xff(",  "{{{{",
        "call ",    ".section x", ": ",      "\n",      "\x80",     "1e9",    "= {",
        ".param ",  "bra ",       ".func f", "+",       "!",        "((((((", ".loc 1 1 1"};
    size_t at = draw(seed) % length, run = 1 + draw(seed) % 24;

    run = run < length - at ? run : length - at;
    switch (draw(seed) % 5) {
    case 0: /* lose */
        memmove(text + at, text + at + run, length - at - run);
        return length - run;
    case 1: /* cut */
        return draw(seed) % 8 ? length : at;
    case 2: /* one bit */
        text[at] = (char)(text[at] ^ 1 << draw(seed) % 8);
        return length;
    case 3: { /* move a run elsewhere */
        size_t to = draw(seed) % length;

        run = run < length - to ? run : length - to;
        memmove(text + to, text + at, run);
        return length;
    }
    default: { /* put a piece in */
        const char *piece = pieces[draw(seed) % (sizeof pieces / sizeof pieces[0])];
        size_t more = strlen(piece);

        if (length + more > size)
            return length;
        memmove(text + at + more, text + at, length - at);
        memcpy(text + at, piece, more);
        return length + more;
    }
    }
}

static void changed_samples_parse_or_have_a_message(void **state)
{
    (void)state;

    for (int s = 0; s < SAMPLES; s++) {
        size_t length;
        char *text = read_sample(s, &length);
        size_t size = length + 1024;
        char *changed = malloc(size);
        uint64_t seed = 4711 + (uint64_t)s;

        assert_non_null(changed);
        LLVMFuzzerTestOneInput((const uint8_t *)text, length);
        for (int round = 0; round < ROUNDS; round++) {
            size_t now = length;

            memcpy(changed, text, length);
            for (uint32_t i = 0, changes = 1 + draw(&seed) % 4; i < changes && now > 0; i++)
                now = change(changed, now, size, &seed);
            LLVMFuzzerTestOneInput((const uint8_t *)changed, now);
        }
        free(changed);
        free(text);
    }
}

static void every_shortage_of_memory_is_reported(void **state)
{
    (void)state;

    for (int s = 0; s < SAMPLES; s++) {
        size_t length, memory = 0;
        char *text = read_sample(s, &length);
        struct emu_module *module = NULL;
        int refusals = 0;

        for (; !module; memory += 997, refusals++) {
            struct emu_error error = {.line = 0};

            module = emu_module_parse_within(text, length, memory, &error);
            assert_int_equal(module == NULL, strstr(error.message, "no memory") != NULL);
            assert_true(memory < 64 * 1024 * 1024);
        }
        assert_true(refusals > 50);
        emu_module_free(module);
        free(text);
    }
}

/* The piece so many times between the two others. */
static char *repeat(const char *before, const char *piece, size_t count, const char *after)
{
    size_t head = strlen(before), step = strlen(piece);
    char *text = malloc(head + step * count + strlen(after) + 1);

    assert_non_null(text);
    memcpy(text, before, head);
    for (size_t i = 0; i < count; i++)
        memcpy(text + head + i * step, piece, step);
    strcpy(text + head + step * count, after);
    return text;
}

static void what_is_too_much_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *before, *piece;
        size_t count;
        const char *after, *words;
    } cases[] = {
        {".entry k() { ", "{ ", 100000, "", "more than 100 scopes"},
        {".entry k() { mov.u32 ", "(", 100000, "", "deeper than 100"},
        {".entry k() { mov.u32 ", "-", 100000, "1;", "deeper than 100"},
        {".entry k() { mov.u32 ", "1?", 100000, "1;", "deeper than 100"},
        {".entry k() { mov.u32 ", "1?1:", 100000, "1; }", "deeper than 100"},
        {".entry k() { mov.u32 ", "1+", 100000, "1; }", ""},
        {".entry k() { mov.u32 ", "{", 100000, "1; }", "expected an operand, not '{'"},
        {".entry k() { mov.u32 {", "1,", 5000, "1}; }", "more than 4096 operands"},
        {".entry k() { mov.u32 ", "1,", 5000, "1; }", "more than 4096 operands"},
        {".entry k() { x", ".abcdefg", 100, "; }", "more than 512 characters"},
        {".entry k() { x", ".a", 100, "; }", "more than 48 words"},
        {".global .u32 ", "x", 100000, ";", "more than 65536 characters"},
        {".global .u32 x", "[1]", 17, ";", "more than 16 dimensions"},
        {".global .u32 x = ", "{", 100000, ";", "expected a number, not '{'"},
        {".global .f64 x = 1.", "1", 2000, ";", "more than a thousand digits"},
        {".global .u64 x = 0x", "0", 2000, ";", ""},
        {".entry k() { ret; } ", "/**/", 100000, "", ""},
        {".entry k() {", "ret;", 100000, "}", ""},
        {".entry k() { .reg .b32 r<1000000000>;", "a r1,r2,r3,r4;", 10000, "}", ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = repeat(cases[i].before, cases[i].piece, cases[i].count, cases[i].after);

        if (cases[i].words[0] != '\0')
            expect_refusal(text, 1, cases[i].words);
        else
            emu_module_free(parse_text(text));
        free(text);
    }
}

static void a_text_that_is_too_long_is_not_read(void **state)
{
    (void)state;
    struct emu_error error = {.line = 0};

    assert_null(emu_module_parse("", (size_t)EMU_TEXT_LIMIT + 1, &error));
    assert_string_equal(error.message, "a text of more than 67108864 bytes");
}

static void many_names_are_no_trouble(void **state)
{
    (void)state;
    enum { NAMES = 50000 };
    size_t size = NAMES * 40, used = 0;
    char *text = malloc(size);

    assert_non_null(text);
    for (int i = 0; i < NAMES; i++)
        used += (size_t)snprintf(text + used, size - used, ".global .u32 variable_%d;\n", i);

    struct emu_module *module = parse_text(text);

    assert_int_equal(module->variable_count, NAMES);
    assert_int_equal(emu_variable_find(module, "variable_49999"), NAMES - 1);
    emu_module_free(module);
    free(text);
}

/* The hash of the table of names, and how many of its low bits text must know to be slow. */
static bool falls_into_place_zero(const char *text)
{
    uint32_t hash = 2166136261u;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return ((hash ^ hash >> 15) & 4095) == 0;
}

static void names_made_to_collide_are_refused(void **state)
{
    (void)state;
    enum { NAMES = 1200 };
    size_t size = NAMES * 40, used = 0;
    char *text = malloc(size), name[16];

    assert_non_null(text);
    for (int i = 0, found = 0; found < NAMES; i++) {
        snprintf(name, sizeof name, "n%d", i);
        if (!falls_into_place_zero(name))
            continue;
        used += (size_t)snprintf(text + used, size - used, ".global .u32 %s; ", name);
        found++;
    }
    expect_refusal(text, 1, "too many names of the same hash value");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changed_samples_parse_or_have_a_message),
        cmocka_unit_test(every_shortage_of_memory_is_reported),
        cmocka_unit_test(what_is_too_much_is_refused),
        cmocka_unit_test(a_text_that_is_too_long_is_not_read),
        cmocka_unit_test(many_names_are_no_trouble),
        cmocka_unit_test(names_made_to_collide_are_refused),
    };

    return cmocka_run_group_tests_name("emulator parser limits", tests, NULL, NULL);
}
