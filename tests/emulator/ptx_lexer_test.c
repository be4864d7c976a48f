/* Tokens: PTX ISA "Syntax", "Identifiers", "Constants". */
#include "emulator/ptx_lexer.h"
#include "tests/support/cmocka_all.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

/* The tokens of a text, one line of words: kind and text of each. */
static void write_tokens(const char *text, size_t length, char *out, size_t size,
                         struct emu_error *error)
{
    static const char *const kinds[] = {"end", "error", "name",   "dotted", "integer",
                                        "f32", "f64",   "string", "sign"};
    struct emu_lexer lexer;
    struct emu_token token;
    size_t used = 0;

    *error = (struct emu_error){.line = 0};
    out[0] = '\0';
    if (!emu_lexer_open(&lexer, text, length, error))
        return;
    do {
        emu_lexer_next(&lexer, &token);
        used +=
            (size_t)snprintf(out + used, size - used, "%s%s", used ? " " : "", kinds[token.kind]);
        if (token.kind != EMU_TOKEN_END && token.kind != EMU_TOKEN_ERROR)
            used += (size_t)snprintf(out + used, size - used, ":%.*s",
                                     (int)(token.end - token.begin), token.begin);
    } while (token.kind != EMU_TOKEN_END && token.kind != EMU_TOKEN_ERROR && used < size);
    emu_lexer_close(&lexer);
}

static void text_becomes_tokens(void **state)
{
    (void)state;
    static const struct {
        const char *text, *tokens;
    } cases[] = {
        {"", "end"},
        {" \t\r\n\f\v", "end"},
        {"// nothing\n/* and /* nothing\n*/", "end"},
        {"ld.global.v2.f32 {%f1,f2},[%rd3+-4];",
         "name:ld dotted:.global dotted:.v2 dotted:.f32 sign:{ name:%f1 sign:, name:f2 sign:} "
         "sign:, sign:[ name:%rd3 sign:+ sign:- integer:4 sign:] sign:; end"},
        {"x.shared::cta.mbarrier::complete_tx::bytes.1d.64x1.m16n8k8",
         "name:x dotted:.shared::cta dotted:.mbarrier::complete_tx::bytes dotted:.1d "
         "dotted:.64x1 dotted:.m16n8k8 end"},
        {"a: $L__BB0_1 _ __x %p", "name:a sign:: name:$L__BB0_1 name:_ name:__x name:%p end"},
        {"a::b", "name:a sign:: sign:: name:b end"},
        {".a: .b", "dotted:.a sign:: dotted:.b end"},
        {"7 % 3 %3", "integer:7 sign:% integer:3 name:%3 end"},
        {"<< >> <= >= == != && || < > = ! & |",
         "sign:<< sign:>> sign:<= sign:>= sign:== sign:!= sign:&& sign:|| sign:< sign:> sign:= "
         "sign:! sign:& sign:| end"},
        {"1.5 .5 5. 1e5 1.e+5 2E-3 .5e1 0.5 007.5",
         "f64:1.5 f64:.5 f64:5. f64:1e5 f64:1.e+5 f64:2E-3 f64:.5e1 f64:0.5 f64:007.5 end"},
        {"0f3F800000 0D3ff0000000000000", "f32:0f3F800000 f64:0D3ff0000000000000 end"},
        {"\"a \\\" b\" \"\"", "string:\"a \\\" b\" string:\"\" end"},
        {"a/**/b//\nc", "name:a name:b name:c end"},
    };
    char tokens[1024];
    struct emu_error error;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_tokens(cases[i].text, strlen(cases[i].text), tokens, sizeof tokens, &error);
        assert_string_equal(tokens, cases[i].tokens);
    }
}

static void integers_have_their_value_and_type(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bits;
        bool is_unsigned;
    } cases[] = {
        {"0", 0, false},
        {"42", 42, false},
        {"42U", 42, true},
        {"010", 8, false},
        {"0777U", 511, true},
        {"0b101", 5, false},
        {"0B1U", 1, true},
        {"0xff", 255, false},
        {"0XFFU", 255, true},
        {"0x7fffffffffffffff", 0x7fffffffffffffffu, false},
        {"0x8000000000000000", 0x8000000000000000u, true},
        {"9223372036854775807", 0x7fffffffffffffffu, false},
        {"9223372036854775808", 0x8000000000000000u, true},
        {"18446744073709551615", 0xffffffffffffffffu, true},
        {"0b1111111111111111111111111111111111111111111111111111111111111111", UINT64_MAX, true},
        {"01777777777777777777777", UINT64_MAX, true},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct emu_lexer lexer;
        struct emu_token token;

        assert_true(emu_lexer_open(&lexer, cases[i].text, strlen(cases[i].text), NULL));
        emu_lexer_next(&lexer, &token);
        assert_int_equal(token.kind, EMU_TOKEN_INTEGER);
        assert_true(token.bits == cases[i].bits);
        assert_int_equal(token.is_unsigned, cases[i].is_unsigned);
        emu_lexer_next(&lexer, &token);
        assert_int_equal(token.kind, EMU_TOKEN_END);
        emu_lexer_close(&lexer);
    }
}

static void floating_point_numbers_have_their_bits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bits;
        bool is_exact;
    } cases[] = {
        {"0f3f800000", 0x3f800000, true},
        {"0F7FC00001", 0x7fc00001, true},
        {"0d3ff0000000000000", 0x3ff0000000000000, true},
        {"0DFFF8000000000000", 0xfff8000000000000, true},
        {"1.0", 0x3ff0000000000000, false},
        {".5", 0x3fe0000000000000, false},
        {"5.", 0x4014000000000000, false},
        {"1.1", 0x3ff199999999999a, false},
        {"1e-400", 0, false},
        {"1.7976931348623157e308", 0x7fefffffffffffff, false},
        {"4.9406564584124654e-324", 1, false},
    };
    const char *const commas[] = {"C", "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};

    /* The point is one in every locale that the machine happens to have. */
    for (size_t l = 0; l < sizeof commas / sizeof commas[0]; l++) {
        if (!setlocale(LC_ALL, commas[l]))
            continue;
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            struct emu_lexer lexer;
            struct emu_token token;

            assert_true(emu_lexer_open(&lexer, cases[i].text, strlen(cases[i].text), NULL));
            emu_lexer_next(&lexer, &token);
            assert_true(token.kind == EMU_TOKEN_F32 || token.kind == EMU_TOKEN_F64);
            assert_true(token.bits == cases[i].bits);
            assert_int_equal(token.is_exact, cases[i].is_exact);
            emu_lexer_close(&lexer);
        }
    }
    setlocale(LC_ALL, "C");
}

static void what_is_no_token_is_refused_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a\n\n/* b", "line 3: a comment begins here that nothing ends"},
        {"a\n\"b\nc\"", "line 2: a string begins here that nothing ends"},
        {"\"b\\", "line 1: a string begins here that nothing ends"},
        {"\n#line", "line 2: '#' has no meaning in PTX here"},
        {"$", "line 1: '$' has no meaning in PTX here"},
        {"a \x01", "line 1: the byte 0x01 is no character of PTX"},
        {"// \n// \xc3\xa9", "line 2: the byte 0xc3 is no ASCII character"},
        {"0x", "line 1: 0x: digits are missing"},
        {"0b2", "line 1: 0b2: digits are missing"},
        {"09", "line 1: 09: a number with something behind it"},
        {"8u", "line 1: 8u: a number with something behind it"},
        {"1.5f", "line 1: 1.5f: a number with something behind it"},
        {"1e", "line 1: 1e: a number with something behind it"},
        {"0f3f8", "line 1: 0f3f8: 0f is followed by eight hexadecimal digits"},
        {"0f3f80000000", "line 1: 0f3f80000000: a number with something behind it"},
        {"0d3f800000", "line 1: 0d3f800000: 0d is followed by sixteen hexadecimal digits"},
        {"18446744073709551616", "line 1: 18446744073709551616: an integer of more than 64 bits"},
        {"0x10000000000000000", "line 1: 0x10000000000000000: an integer of more than 64 bits"},
        {"1e400", "line 1: 1e400: too large for .f64"},
    };
    char tokens[1024];
    struct emu_error error;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_tokens(cases[i].text, strlen(cases[i].text), tokens, sizeof tokens, &error);
        assert_string_equal(error.message, cases[i].message);
    }
}

static void the_text_ends_at_its_length_and_at_a_nul(void **state)
{
    (void)state;
    char tokens[256];
    struct emu_error error;
    const char *const cut[] = {"/", "/*", "0", "0x", "0f", "1.", "1e+", ".", "%", "\"", "<", "a:"};
    const char *const whole[] = {"sign:/ end", "error",      "integer:0 end", "error",
                                 "error",      "f64:1. end", "error",         "error",
                                 "sign:% end", "error",      "sign:< end",    "name:a sign:: end"};

    write_tokens("abc def", 3, tokens, sizeof tokens, &error);
    assert_string_equal(tokens, "name:abc end");
    write_tokens("abc\0def\xff", 8, tokens, sizeof tokens, &error);
    assert_string_equal(tokens, "name:abc end");
    for (size_t i = 0; i < sizeof cut / sizeof cut[0]; i++) {
        /* Of its exact size, so that a sanitizer sees a step too far. */
        char text[4];
        size_t length = strlen(cut[i]);

        memset(text, '3', sizeof text);
        memcpy(text + sizeof text - length, cut[i], length);
        write_tokens(text + sizeof text - length, length, tokens, sizeof tokens, &error);
        assert_string_equal(tokens, whole[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_becomes_tokens),
        cmocka_unit_test(integers_have_their_value_and_type),
        cmocka_unit_test(floating_point_numbers_have_their_bits),
        cmocka_unit_test(what_is_no_token_is_refused_with_its_line),
        cmocka_unit_test(the_text_ends_at_its_length_and_at_a_nul),
    };

    return cmocka_run_group_tests_name("emulator lexer", tests, NULL, NULL);
}
