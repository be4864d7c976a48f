/* fuzz_mutate.c: changes of PTX that mostly leave it PTX: words, numbers and lines in place of
 * others of their kind. Raw bytes would seldom come past the parser. */
#include "tests/emulator/fuzz_run.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libFuzzer's own. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

enum kind { BLANK, SIGN, NUMBER, REGISTER, DOTTED, WORD };
enum { TOKENS_MAX = 16384, LINES_MAX = 4096 };

struct span {
    size_t begin, end;
    enum kind kind;
};

/* A text that is being changed, cut into tokens. */
struct text {
    char *bytes;
    size_t size, room;
    struct span tokens[TOKENS_MAX];
    size_t token_count;
    size_t body; /* where the first one begins: most changes of what is before leave no program */
    uint64_t random;
};

static uint32_t draw(struct text *text, size_t limit)
{
    text->random = text->random * 6364136223846793005u + 1442695040888963407u;
    return limit ? (uint32_t)((text->random >> 33) % limit) : 0;
}

static size_t draw_place(struct text *text)
{
    return text->body + draw(text, text->size - text->body);
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static enum kind kind_of(const char *at, size_t left)
{
    if (isspace((unsigned char)*at))
        return BLANK;
    if (*at == '.' && left > 1 && is_name(at[1]))
        return DOTTED;
    if (isdigit((unsigned char)*at))
        return NUMBER;
    if (*at == '%')
        return REGISTER;
    return is_name(*at) ? WORD : SIGN;
}

static void cut(struct text *text)
{
    const char *brace = memchr(text->bytes, '{', text->size);
    size_t at;

    text->body = brace && draw(text, 8) ? (size_t)(brace - text->bytes) + 1 : 0;
    if (text->body == text->size)
        text->body = 0;
    at = text->body;
    text->token_count = 0;
    while (at < text->size && text->token_count < TOKENS_MAX) {
        struct span span = {.begin = at, .kind = kind_of(text->bytes + at, text->size - at)};

        for (at++; at < text->size && span.kind != SIGN; at++)
            if (span.kind == BLANK ? !isspace((unsigned char)text->bytes[at])
                                   : !is_name(text->bytes[at]) && text->bytes[at] != ':')
                break;
        if (span.kind != BLANK && span.kind != SIGN && text->bytes[at - 1] == ':')
            at--;
        if (at == span.begin)
            at++;
        span.end = at;
        if (text->body && at - span.begin == 4 &&
            memcmp(text->bytes + span.begin, ".reg", 4) == 0) { /* names without it are errors */
            const char *end = memchr(text->bytes + at, ';', text->size - at);

            at = end ? (size_t)(end - text->bytes) : text->size;
            continue;
        }
        if (span.kind != BLANK)
            text->tokens[text->token_count++] = span;
    }
}

/* Bytes in place of others, where there is room. */
static void replace(struct text *text, size_t begin, size_t end, const char *by, size_t length)
{
    if (text->size - (end - begin) + length > text->room)
        return;
    memmove(text->bytes + begin + length, text->bytes + end, text->size - end);
    memcpy(text->bytes + begin, by, length);
    text->size = text->size - (end - begin) + length;
}

/* ---- Tokens ---- */

static const struct span *draw_token(struct text *text, enum kind kind)
{
    for (int tries = 0; tries < 64 && text->token_count; tries++) {
        const struct span *token = &text->tokens[draw(text, text->token_count)];

        if (token->kind == kind)
            return token;
    }
    return NULL;
}

static void copy_token(struct text *text, const struct span *to, const struct span *from)
{
    char copy[256];
    size_t length = from->end - from->begin;

    if (length > sizeof copy)
        return;
    memcpy(copy, text->bytes + from->begin, length);
    replace(text, to->begin, to->end, copy, length);
}

static void put(struct text *text, const struct span *to, const char *by)
{
    replace(text, to->begin, to->end, by, strlen(by));
}

static void swap_kind(struct text *text, enum kind kind)
{
    const struct span *to = draw_token(text, kind), *from = draw_token(text, kind);

    if (to && from)
        copy_token(text, to, from);
}

static void change_number(struct text *text)
{
    static const char *const numbers[] = {"0",
                                          "1",
                                          "2",
                                          "3",
                                          "4",
                                          "7",
                                          "8",
                                          "15",
                                          "16",
                                          "17",
                                          "24",
                                          "31",
                                          "32",
                                          "33",
                                          "63",
                                          "64",
                                          "65",
                                          "127",
                                          "128",
                                          "255",
                                          "256",
                                          "512",
                                          "1023",
                                          "1024",
                                          "4096",
                                          "32764",
                                          "65535",
                                          "65536",
                                          "233472",
                                          "0x1000000",
                                          "0x1000400",
                                          "0x2000400",
                                          "1048575",
                                          "0x7fffffff",
                                          "0x80000000",
                                          "0xffffffff",
                                          "0xfffffff8",
                                          "0xfffff",
                                          "0x1000000000",
                                          "0x2000000000",
                                          "0x3000000000",
                                          "0x3100000000",
                                          "0x3200000000",
                                          "0x700000000000",
                                          "0x600000000001",
                                          "0x7fffffffffffffff",
                                          "0x8000000000000000",
                                          "0xffffffffffffffff",
                                          "0xfffffffffffffff0",
                                          "0f7F800000",
                                          "0fFFC00000",
                                          "0f4F000000",
                                          "0d7FF0000000000000",
                                          "0d43E0000000000000"};
    const struct span *to = draw_token(text, NUMBER);

    if (to)
        put(text, to, numbers[draw(text, sizeof numbers / sizeof numbers[0])]);
}

static void change_word(struct text *text)
{
    static const char *const words[] = {".u8",
                                        ".u16",
                                        ".u32",
                                        ".u64",
                                        ".s8",
                                        ".s16",
                                        ".s32",
                                        ".s64",
                                        ".f16",
                                        ".f16x2",
                                        ".bf16",
                                        ".bf16x2",
                                        ".f32",
                                        ".f64",
                                        ".b8",
                                        ".b16",
                                        ".b32",
                                        ".b64",
                                        ".b128",
                                        ".pred",
                                        ".v2",
                                        ".v4",
                                        ".v8",
                                        ".sync",
                                        ".wide",
                                        ".hi",
                                        ".lo",
                                        ".sat",
                                        ".ftz",
                                        ".rn",
                                        ".rz",
                                        ".rni",
                                        ".rzi",
                                        ".wrap",
                                        ".clamp",
                                        ".shared",
                                        ".global",
                                        ".local",
                                        ".param",
                                        ".const",
                                        ".shared::cluster",
                                        ".shared::cta",
                                        ".cas",
                                        ".exch",
                                        ".add",
                                        ".inc",
                                        ".and",
                                        ".aligned",
                                        ".noinc",
                                        ".multicast::cluster",
                                        ".tensor",
                                        ".1d",
                                        ".2d",
                                        ".3d",
                                        ".5d",
                                        ".tile",
                                        ".im2col",
                                        ".read",
                                        ".L2::cache_hint",
                                        ".cluster",
                                        ".x4",
                                        ".x2",
                                        ".popc",
                                        ".or",
                                        ".red",
                                        ".arrive",
                                        ".expect_tx",
                                        ".noComplete",
                                        ".parity"};
    const struct span *to = draw_token(text, DOTTED);

    if (to)
        put(text, to, words[draw(text, sizeof words / sizeof words[0])]);
}

static void change_sign(struct text *text)
{
    static const char *const pieces[] = {"_",   "{}",  "{",     "}",      "!",      "-",
                                         "|",   ",",   "+-8",   "+8",     "%r1",    "%rd1",
                                         "%p1", "_|_", "{_,_}", "%tid.x", "%laneid"};
    const struct span *to = draw_token(text, draw(text, 4) ? REGISTER : SIGN);

    if (to)
        put(text, to, pieces[draw(text, sizeof pieces / sizeof pieces[0])]);
}

/* ---- Operands ---- */

/* From a comma, or a blank behind an opcode, to the next comma or the end of the statement. */
static struct span draw_operand(struct text *text)
{
    size_t begin = draw_place(text), end;
    int depth = 0;

    while (begin > text->body && !strchr(",;\n ", text->bytes[begin - 1]))
        begin--;
    for (end = begin; end < text->size && text->bytes[end] != ';'; end++) {
        char c = text->bytes[end];

        depth += (c == '{' || c == '[' || c == '(') - (c == '}' || c == ']' || c == ')');
        if (depth < 0 || (depth == 0 && c == ','))
            break;
    }
    return (struct span){.begin = begin, .end = end};
}

/* Another operand, or one that suits few instructions, or many of them in a list. */
static void change_operand(struct text *text)
{
    static const char *const pieces[] = {"_",
                                         "{}",
                                         "{_}",
                                         "0",
                                         "-1",
                                         "%p1",
                                         "[%rd1]",
                                         "[%r1]",
                                         "[1024]",
                                         "%tid.x",
                                         "_|_",
                                         "%r1|%p1",
                                         "{%r1, %r2, %r3, %r4}",
                                         "{%rd1, %rd2, %rd3, %rd1, %rd2, %rd3, %rd1, %rd2}",
                                         "{1, 2}"};
    struct span to = draw_operand(text), from = draw_operand(text);

    if (draw(text, 3))
        copy_token(text, &to, &from);
    else
        put(text, &to, pieces[draw(text, sizeof pieces / sizeof pieces[0])]);
}

/* ---- Lines ---- */

static size_t line_begin(const struct text *text, size_t at)
{
    while (at > text->body && text->bytes[at - 1] != '\n' && text->bytes[at - 1] != ';')
        at--;
    return at;
}

static size_t line_end(const struct text *text, size_t at)
{
    while (at < text->size && text->bytes[at] != '\n' && text->bytes[at] != ';')
        at++;
    return at < text->size ? at + 1 : at;
}

static void drop_line(struct text *text)
{
    size_t at = draw_place(text);

    replace(text, line_begin(text, at), line_end(text, at), "", 0);
}

static void copy_line(struct text *text)
{
    size_t at = draw_place(text), begin = line_begin(text, at), end = line_end(text, at),
           to = line_begin(text, draw_place(text));
    char line[512];

    if (end - begin > sizeof line)
        return;
    memcpy(line, text->bytes + begin, end - begin);
    replace(text, to, to, line, end - begin);
}

/* Statements over the registers that most seeds declare. */
static void add_line(struct text *text)
{
    static const char *const lines[] = {"mov.u64 %rd1, 0x1000000000;",
                                        "mov.u32 %r1, %tid.x;",
                                        "setp.lt.u32 %p1, %r1, 7;",
                                        "@%p1 exit;",
                                        "@%p1 ret;",
                                        "exit;",
                                        "@%p1 bra L1;",
                                        "L1:",
                                        "bar.sync 0;",
                                        "barrier.cluster.arrive;",
                                        "barrier.cluster.wait;",
                                        "mbarrier.init.shared.b64 [1024], 1;",
                                        "mbarrier.inval.shared.b64 [1024];",
                                        "ld.u32 %r1, [%rd1];",
                                        "st.u32 [%rd1], %r1;",
                                        "ld.local.u32 %r1, [%r1];",
                                        "ld.shared::cluster.u32 %r1, [%r2];",
                                        "cvt.rzi.s32.f64 %r1, 0d7FF0000000000000;",
                                        "shl.b64 %rd1, %rd2, %r1;",
                                        "bfe.s32 %r1, %r2, %r3, 255;",
                                        "div.s32 %r1, %r2, %r3;",
                                        "rem.s64 %rd1, %rd2, %rd3;",
                                        "shfl.sync.idx.b32 %r1, %r2, %r3, 31, -1;",
                                        "cp.async.ca.shared.global [%r1], [%rd1], 16;",
                                        "cp.async.wait_all;",
                                        "cp.async.mbarrier.arrive.shared.b64 [%r1];",
                                        "wgmma.fence.sync.aligned;",
                                        "wgmma.commit_group.sync.aligned;",
                                        "wgmma.wait_group.sync.aligned 0;",
                                        "barrier.red.popc.u32 %r1, 1, %p1;",
                                        "cp.async.bulk.commit_group;",
                                        "cp.async.bulk.wait_group 0;",
                                        "nanosleep.u32 %r1;",
                                        "vote.sync.ballot.b32 %r1, %p1, -1;",
                                        "red.global.add.u32 [%rd1], %r1;",
                                        "mapa.shared::cluster.u32 %r1, %r2, %r3;",
                                        "elect.sync _|%p1, -1;"};
    size_t to = line_begin(text, draw_place(text));
    const char *line = lines[draw(text, sizeof lines / sizeof lines[0])];

    replace(text, to, to, line, strlen(line));
}

static void change_shape(struct text *text)
{
    static const unsigned blocks[] = {1, 31, 32, 33, 64, 127, 128, 160};
    char line[64];
    int length =
        snprintf(line, sizeof line, "//@ %u %u %u %u %u\n", 1 + draw(text, 4),
                 blocks[draw(text, 8)], draw(text, 5), 256 * draw(text, 9), draw(text, 1000));
    size_t end = text->size > 3 && memcmp(text->bytes, "//@", 3) == 0 ? 0 : SIZE_MAX;

    while (end < text->size && text->bytes[end++] != '\n')
        ;
    replace(text, 0, end == SIZE_MAX ? 0 : end, line, (size_t)length);
}

static void change(struct text *text)
{
    cut(text);
    switch (draw(text, 20)) {
    case 0:
    case 1:
    case 2:
        swap_kind(text, REGISTER);
        break;
    case 3:
        swap_kind(text, WORD);
        break;
    case 4:
    case 5:
        swap_kind(text, DOTTED);
        break;
    case 6:
        swap_kind(text, NUMBER);
        break;
    case 7:
    case 8:
        change_number(text);
        break;
    case 9:
        change_word(text);
        break;
    case 10:
        change_sign(text);
        break;
    case 15:
    case 16:
    case 17:
    case 18:
        change_operand(text);
        break;
    case 11:
        drop_line(text);
        break;
    case 12:
        copy_line(text);
        break;
    case 13:
    case 14:
        add_line(text);
        break;
    default:
        change_shape(text);
        break;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    static struct text text; /* too large for a stack; one thread */

    if (size == 0 || seed % 64 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    text.bytes = (char *)data;
    text.size = size;
    text.room = max_size;
    text.random = seed;
    for (uint32_t i = 1 + draw(&text, 4) / 2; i > 0 && text.size > 0; i--)
        change(&text);
    return text.size;
}

/* Some statements of one text in another. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t out_size, unsigned seed)
{
    static struct text from, to;

    if (a_size > out_size || a_size == 0 || b_size == 0)
        return 0;
    memcpy(out, a, a_size);
    to.bytes = (char *)out;
    to.size = a_size;
    to.room = out_size;
    from.bytes = (char *)(uintptr_t)b;
    from.size = b_size;
    from.random = seed;

    size_t at = draw(&from, b_size), begin = line_begin(&from, at), end = line_end(&from, at),
           place = line_begin(&to, draw(&from, a_size));

    for (uint32_t more = draw(&from, 6); more > 0 && end < b_size; more--)
        end = line_end(&from, end);
    replace(&to, place, place, (const char *)b + begin, end - begin);
    return to.size;
}
