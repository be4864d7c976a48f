#include "tests/emulator/alu_fixture.h"

#include "tests/support/cmocka_all.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- Text to instruction ---- */

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    for (size_t length = strlen(text); length > 0 && isspace((unsigned char)text[length - 1]);)
        text[--length] = '\0';
    return text;
}

static const char *selector_of(const char *name)
{
    const char *dot = strchr(name, '.');

    return dot ? dot + 1 : NULL;
}

static struct emu_operand simple_operand(char *text)
{
    struct emu_operand operand = {.selector = NULL};

    text = trim(text);
    operand.name = text;
    if (isdigit((unsigned char)*text) || (*text == '-' && isdigit((unsigned char)text[1]))) {
        operand.kind = EMU_OPERAND_INTEGER;
        operand.bits = strtoull(text, NULL, 0);
        return operand;
    }
    if (strcmp(text, "_") == 0) {
        operand.kind = EMU_OPERAND_SINK;
        return operand;
    }
    operand.kind = EMU_OPERAND_REGISTER;
    operand.negated = *text == '!' || *text == '-';
    operand.selector = selector_of(text);
    return operand;
}

static void split_items(struct fixture_line *line, struct emu_operand *operand, char *text,
                        const char *separator)
{
    char *rest = NULL;

    operand->items = &line->items[line->item_count];
    for (char *item = strtok_r(text, separator, &rest); item;
         item = strtok_r(NULL, separator, &rest)) {
        assert_true(line->item_count < FIXTURE_ITEMS);
        line->items[line->item_count++] = simple_operand(item);
        operand->item_count++;
    }
}

static void add_operand(struct fixture_line *line, char *text)
{
    struct emu_operand *operand = &line->operands[line->instruction.operand_count++];

    assert_true(line->instruction.operand_count <= FIXTURE_OPERANDS);
    text = trim(text);
    if (*text == '{') {
        *operand = (struct emu_operand){.kind = EMU_OPERAND_LIST};
        text[strlen(text) - 1] = '\0';
        split_items(line, operand, text + 1, ",");
    } else if (strchr(text, '|')) {
        *operand = (struct emu_operand){.kind = EMU_OPERAND_BOTH};
        split_items(line, operand, text, "|");
    } else {
        *operand = simple_operand(text);
    }
}

void fixture_parse(struct fixture_line *line, const char *text)
{
    memset(line, 0, sizeof *line);
    assert_true(strlen(text) < sizeof line->text);
    strcpy(line->text, text);

    char *operands = line->text + strcspn(line->text, " ");

    if (*operands != '\0')
        *operands++ = '\0';
    strcpy(line->opcode, line->text);
    line->instruction = (struct emu_instruction){.line = 7,
                                                 .guard = -1,
                                                 .opcode = line->opcode,
                                                 .words = line->words,
                                                 .operands = line->operands};

    char *rest = NULL;

    for (char *word = strtok_r(line->text, ".", &rest); word; word = strtok_r(NULL, ".", &rest)) {
        assert_true(line->instruction.word_count < FIXTURE_WORDS);
        line->words[line->instruction.word_count++] = word;
    }
    operands = trim(operands);
    while (*operands != '\0') {
        size_t length = *operands == '{' ? strcspn(operands, "}") + 1 : strcspn(operands, ",");
        char *next = operands + length;

        if (*next != '\0')
            *next++ = '\0';
        add_operand(line, operands);
        operands = next + strspn(next, " ,");
    }
}

/* ---- Running ---- */

enum emu_decoded fixture_decode(struct emu_alu *op, const char *text, int target,
                                struct emu_error *error)
{
    struct fixture_line line;

    fixture_parse(&line, text);
    return emu_alu_decode(op, &line.instruction, target, error);
}

struct emu_alu fixture_op(const char *text)
{
    struct emu_alu op;
    struct emu_error error = {.line = 0};

    if (fixture_decode(&op, text, 100, &error) != EMU_DECODED)
        fail_msg("%s is not decoded: %s", text, error.message);
    return op;
}

uint64_t fixture_run_op(const struct emu_alu *op, const uint64_t *values, int count,
                        uint64_t *second)
{
    emu_lanes sources[EMU_ALU_SOURCES], results[EMU_ALU_RESULTS];
    const uint64_t *source_arrays[EMU_ALU_SOURCES];
    uint64_t *result_arrays[EMU_ALU_RESULTS];
    const char *why = NULL;

    assert_int_equal(count, op->source_count);
    for (int s = 0; s < op->source_count; s++) {
        for (int i = 0; i < EMU_LANES; i++)
            sources[s][i] = values[s];
        source_arrays[s] = sources[s];
    }
    for (int r = 0; r < EMU_ALU_RESULTS; r++) {
        memset(results[r], 0x5a, sizeof results[r]);
        result_arrays[r] = results[r];
    }
    if (!op->execute(op, result_arrays, source_arrays, UINT32_MAX, &why))
        fail_msg("%s", why);
    for (int r = 0; r < op->result_count; r++)
        for (int i = 1; i < EMU_LANES; i++)
            assert_true(results[r][i] == results[r][0]);
    if (second)
        *second = results[1][0];
    return results[0][0];
}

uint64_t fixture_run(const char *text, const uint64_t *values, int count)
{
    struct emu_alu op = fixture_op(text);

    return fixture_run_op(&op, values, count, NULL);
}

/* ---- Values ---- */

uint64_t fixture_f32(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t fixture_f64(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

float fixture_to_f32(uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float value;

    memcpy(&value, &word, sizeof value);
    return value;
}

double fixture_to_f64(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

uint64_t fixture_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

uint64_t fixture_random_f32(uint64_t *state)
{
    static const uint32_t special[] = {0,          0x80000000, 0x00000001, 0x80000001, 0x007fffff,
                                       0x00800000, 0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff,
                                       0x7f800000, 0xff800000, 0x7fc00001, 0x3f800001, 0x34000000};
    uint64_t random = fixture_random(state);
    uint32_t bits = (uint32_t)random;

    switch (random >> 60) {
    case 0:
    case 1:
        return special[(random >> 32) % (sizeof special / sizeof *special)];
    case 2:
        return bits & 0x807fffff; /* subnormal */
    case 3:
        return (bits & 0x807fffff) | 0x7f000000;
    case 4:
    case 5:
    case 6:
        return (bits & 0xbfffffff) | 0x3c000000; /* about one: sums that cancel and do not */
    case 7:
        return bits & 0xfff00000; /* few bits: exact results and ties */
    default:
        return bits;
    }
}

uint64_t fixture_random_f64(uint64_t *state)
{
    static const double special[] = {0.0,
                                     -0.0,
                                     0x1p-1074,
                                     -0x1p-1074,
                                     0x1p-1022,
                                     1,
                                     -1,
                                     0x1.fffffffffffffp1023,
                                     -0x1.fffffffffffffp1023};
    uint64_t random = fixture_random(state), bits = fixture_random(state);

    switch (random >> 60) {
    case 0:
        return fixture_f64(special[random % (sizeof special / sizeof *special)]);
    case 1:
        return bits & UINT64_C(0x800fffffffffffff);
    case 2:
        return (bits & UINT64_C(0x800fffffffffffff)) | (random >> 8 & 0x3f) << 52;
    case 3:
    case 4:
    case 5:
    case 6:
        return (bits & UINT64_C(0xbc0fffffffffffff)) | UINT64_C(0x3c00000000000000);
    case 7:
        return bits & UINT64_C(0xffff000000000000);
    default:
        return bits;
    }
}
