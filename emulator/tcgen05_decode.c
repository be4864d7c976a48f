/* tcgen05_decode.c: the forms of tcgen05 instructions: their words, each of which one table knows,
 * and the kinds of their operands, as ptxas 13.0 takes them. Block scaling and sparse products are
 * not supported. */
#include "emulator/mma_words.h"
#include "emulator/tcgen05.h"

#include <stdlib.h>
#include <string.h>

/* ---- Targets ---- */

struct emu_target emu_target_of(int device, const char *text)
{
    struct emu_target target = {.number = 0};
    char *end;
    long number;

    if (!text || strncmp(text, "sm_", 3) != 0)
        return target;
    number = strtol(text + 3, &end, 10);
    /* PTX ISA ".target": an "a" is for that architecture alone, an "f" for later ones of its
     * family. */
    if ((*end == 'a' && number == device) ||
        (*end == 'f' && number <= device && number / 10 == device / 10))
        target = (struct emu_target){.number = (int)number, .letter = *end};
    return target;
}

/* ---- Words ---- */

/* Of each of these an instruction has one word at most. */
enum slot {
    GROUP,
    SYNC,
    ALIGNED,
    SPACE,
    TYPE,
    SHAPE,
    REPEAT,
    PACKING,
    RED,
    OPERATION,
    ABS,
    NOT_A_NUMBER,
    KIND,
    WS,
    ASHIFT,
    COLLECTOR,
    ARRIVE,
    MULTICAST,
    SOURCES,
    FORMAT,
    DOWN,
    SLOTS
};

#define BIT(what) (1u << EMU_TCGEN05_##what)
#define WARP_WIDE                                                                                  \
    (BIT(ALLOC) | BIT(DEALLOC) | BIT(RELINQUISH) | BIT(LD) | BIT(ST) | BIT(WAIT_LD) | BIT(WAIT_ST))
#define GROUPED                                                                                    \
    (BIT(ALLOC) | BIT(DEALLOC) | BIT(RELINQUISH) | BIT(COMMIT) | BIT(MMA) | BIT(CP) | BIT(SHIFT))
#define MOVES (BIT(LD) | BIT(ST))

/* Those of collectors are hints: what they may be is looked at apart. */
enum { COLLECTOR_KEEPS = 1, COLLECTOR_ENDS };

static const struct word {
    const char *word;
    uint32_t forms;
    enum slot slot;
    int value; /* above 0 */
} words[] = {
    {"cta_group::1", GROUPED, GROUP, 1},
    {"cta_group::2", GROUPED, GROUP, 2},
    {"sync", WARP_WIDE, SYNC, 1},
    {"aligned", WARP_WIDE, ALIGNED, 1},
    {"shared::cta", BIT(ALLOC), SPACE, 1},
    {"shared::cluster", BIT(COMMIT), SPACE, 1},
    {"b32", BIT(ALLOC) | BIT(DEALLOC) | MOVES, TYPE, EMU_B32},
    {"f32", BIT(LD), TYPE, EMU_F32},
    {"u32", BIT(LD), TYPE, EMU_U32},
    {"s32", BIT(LD), TYPE, EMU_S32},
    {"b64", BIT(COMMIT), TYPE, EMU_B64},
    {"32x32b", MOVES, SHAPE, 1 + EMU_TMEM_32X32B},
    {"16x64b", MOVES, SHAPE, 1 + EMU_TMEM_16X64B},
    {"16x128b", MOVES, SHAPE, 1 + EMU_TMEM_16X128B},
    {"16x256b", MOVES, SHAPE, 1 + EMU_TMEM_16X256B},
    {"16x32bx2", MOVES, SHAPE, 1 + EMU_TMEM_16X32BX2},
    {"x1", MOVES, REPEAT, 1},
    {"x2", MOVES, REPEAT, 2},
    {"x4", MOVES, REPEAT, 4},
    {"x8", MOVES, REPEAT, 8},
    {"x16", MOVES, REPEAT, 16},
    {"x32", MOVES, REPEAT, 32},
    {"x64", MOVES, REPEAT, 64},
    {"x128", MOVES, REPEAT, 128},
    {"pack::16b", BIT(LD), PACKING, 1},
    {"unpack::16b", BIT(ST), PACKING, 1},
    {"red", BIT(LD), RED, 1},
    {"min", BIT(LD), OPERATION, 1},
    {"max", BIT(LD), OPERATION, 2},
    {"abs", BIT(LD), ABS, 1},
    {"NaN", BIT(LD), NOT_A_NUMBER, 1},
    {"kind::f16", BIT(MMA), KIND, 1 + EMU_KIND_F16},
    {"kind::tf32", BIT(MMA), KIND, 1 + EMU_KIND_TF32},
    {"kind::f8f6f4", BIT(MMA), KIND, 1 + EMU_KIND_F8F6F4},
    {"kind::i8", BIT(MMA), KIND, 1 + EMU_KIND_I8},
    {"ws", BIT(MMA), WS, 1},
    {"ashift", BIT(MMA), ASHIFT, 1},
    {"mbarrier::arrive::one", BIT(COMMIT), ARRIVE, 1},
    {"multicast::cluster", BIT(COMMIT), MULTICAST, 1},
    {"128x256b", BIT(CP), SHAPE, 1 + EMU_COPY_128X256B},
    {"4x256b", BIT(CP), SHAPE, 1 + EMU_COPY_4X256B},
    {"128x128b", BIT(CP), SHAPE, 1 + EMU_COPY_128X128B},
    {"64x128b", BIT(CP), SHAPE, 1 + EMU_COPY_64X128B_02_13},
    {"32x128b", BIT(CP), SHAPE, 1 + EMU_COPY_32X128B},
    {"warpx2::02_13", BIT(CP), SOURCES, 1 + EMU_COPY_64X128B_02_13},
    {"warpx2::01_23", BIT(CP), SOURCES, 1 + EMU_COPY_64X128B_01_23},
    {"warpx4", BIT(CP), SOURCES, 1 + EMU_COPY_32X128B},
    {"b8x16", BIT(CP), PACKING, 1},
    {"b4x16_p64", BIT(CP), FORMAT, 4},
    {"b6x16_p32", BIT(CP), FORMAT, 6},
    {"down", BIT(SHIFT), DOWN, 1},
};

/* What each form cannot be without. */
static const struct {
    const char *word;
    uint32_t needed; /* slots */
} forms[] = {
    [EMU_TCGEN05_ALLOC] = {"alloc", 1u << GROUP | 1u << SYNC | 1u << ALIGNED | 1u << TYPE},
    [EMU_TCGEN05_DEALLOC] = {"dealloc", 1u << GROUP | 1u << SYNC | 1u << ALIGNED | 1u << TYPE},
    [EMU_TCGEN05_RELINQUISH] = {"relinquish_alloc_permit",
                                1u << GROUP | 1u << SYNC | 1u << ALIGNED},
    [EMU_TCGEN05_LD] = {"ld", 1u << SYNC | 1u << ALIGNED | 1u << SHAPE | 1u << REPEAT | 1u << TYPE},
    [EMU_TCGEN05_ST] = {"st", 1u << SYNC | 1u << ALIGNED | 1u << SHAPE | 1u << REPEAT | 1u << TYPE},
    [EMU_TCGEN05_WAIT_LD] = {"wait::ld", 1u << SYNC | 1u << ALIGNED},
    [EMU_TCGEN05_WAIT_ST] = {"wait::st", 1u << SYNC | 1u << ALIGNED},
    [EMU_TCGEN05_FENCE_BEFORE] = {"fence::before_thread_sync", 0},
    [EMU_TCGEN05_FENCE_AFTER] = {"fence::after_thread_sync", 0},
    [EMU_TCGEN05_COMMIT] = {"commit", 1u << GROUP | 1u << ARRIVE | 1u << TYPE},
    [EMU_TCGEN05_MMA] = {"mma", 1u << GROUP | 1u << KIND},
    [EMU_TCGEN05_CP] = {"cp", 1u << GROUP | 1u << SHAPE},
    [EMU_TCGEN05_SHIFT] = {"shift", 1u << GROUP | 1u << DOWN},
};

struct reading {
    int values[SLOTS];
    uint32_t seen;
    char collector; /* a, or b of .ws */
};

/* collector::a::fill, collector::b3::lastuse. */
static bool read_collector(const char *word, struct reading *reading)
{
    static const struct {
        const char *word;
        int value;
    } uses[] = {{"::fill", COLLECTOR_KEEPS},
                {"::use", COLLECTOR_KEEPS},
                {"::lastuse", COLLECTOR_ENDS},
                {"::discard", COLLECTOR_ENDS}};
    const char *rest = word + strlen("collector::");

    if (strncmp(word, "collector::", strlen("collector::")) != 0 || reading->values[COLLECTOR])
        return false;
    reading->collector = *rest;
    if (rest[0] == 'b' && rest[1] >= '0' && rest[1] <= '3')
        rest += 2;
    else if (rest[0] == 'a')
        rest++;
    else
        return false;
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++)
        if (strcmp(rest, uses[i].word) == 0)
            reading->values[COLLECTOR] = uses[i].value;
    return reading->values[COLLECTOR] != 0;
}

static bool read_word(const char *word, enum emu_tcgen05_what what, struct reading *reading)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!(words[i].forms >> what & 1) || strcmp(word, words[i].word) != 0)
            continue;
        if (reading->values[words[i].slot])
            return false;
        reading->values[words[i].slot] = words[i].value;
        reading->seen |= 1u << words[i].slot;
        return true;
    }
    return what == EMU_TCGEN05_MMA && read_collector(word, reading);
}

/* What the words ask for that this machine has not; null: nothing that it knows of. */
static const char *find_missing(const struct emu_instruction *instruction)
{
    for (int i = 2; i < instruction->word_count; i++) {
        const char *word = instruction->words[i];

        if (strcmp(word, "sp") == 0)
            return "sparse products are not supported";
        if (strncmp(word, "kind::mx", 8) == 0 || strcmp(word, "block_scale") == 0)
            return "block-scaled kinds are not supported";
    }
    return NULL;
}

static bool find_form(const char *word, enum emu_tcgen05_what *what)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(word, forms[i].word) == 0) {
            *what = (enum emu_tcgen05_what)i;
            return true;
        }
    return false;
}

/* ---- What the words say ---- */

static int registers_of(enum emu_tmem_shape shape, int repeat)
{
    return shape == EMU_TMEM_16X256B ? 4 * repeat : shape == EMU_TMEM_16X128B ? 2 * repeat : repeat;
}

static const char *fill_move(struct emu_tcgen05 *form, const struct reading *reading)
{
    enum { REGISTERS_MAX = 128 };
    const int *values = reading->values;

    form->shape = (enum emu_tmem_shape)(values[SHAPE] - 1);
    form->registers = registers_of(form->shape, values[REPEAT]);
    form->is_packed = values[PACKING];
    form->reduces = values[RED];
    form->is_max = values[OPERATION] == 2;
    form->has_abs = values[ABS];
    form->has_nan = values[NOT_A_NUMBER];
    form->type = (enum emu_type)values[TYPE];
    if (form->registers > REGISTERS_MAX)
        return "has more than 128 registers";
    if (form->reduces != (form->type != EMU_B32) || form->reduces != (values[OPERATION] != 0))
        return "takes .b32, and with .red .min or .max of .f32, .u32 or .s32";
    if ((form->has_abs || form->has_nan) && form->type != EMU_F32)
        return "takes .abs and .NaN with .red of .f32 alone";
    if (form->reduces && (form->is_packed || form->registers < 2 ||
                          (form->shape != EMU_TMEM_32X32B && form->shape != EMU_TMEM_16X32BX2)))
        return "takes .red with .32x32b or .16x32bx2, from .x2 on, and not packed";
    return NULL;
}

static const char *fill_product(struct emu_tcgen05 *form, const struct reading *reading)
{
    form->kind = (enum emu_tcgen05_kind)(reading->values[KIND] - 1);
    form->ws = reading->values[WS];
    form->ashift = reading->values[ASHIFT];
    if (form->ws && form->group != 1)
        return "takes .ws with .cta_group::1 alone";
    if (form->ws && form->ashift)
        return "takes no .ashift with .ws";
    if (reading->values[COLLECTOR] && reading->collector != (form->ws ? 'b' : 'a'))
        return "takes collector::a, and with .ws collector::b0 to ::b3";
    if (form->ashift && reading->values[COLLECTOR] == COLLECTOR_KEEPS)
        return "takes .ashift with ::lastuse or ::discard alone";
    return NULL;
}

static const char *fill_copy(struct emu_tcgen05 *form, const struct reading *reading)
{
    int shape = reading->values[SHAPE], sources = reading->values[SOURCES];
    bool is_64 = shape == 1 + EMU_COPY_64X128B_02_13, is_32 = shape == 1 + EMU_COPY_32X128B;

    if (is_32 ? sources != 1 + EMU_COPY_32X128B
              : is_64 != (sources != 0) || (is_64 && sources == 1 + EMU_COPY_32X128B))
        return "takes .warpx2::02_13 or ::01_23 with .64x128b, and .warpx4 with .32x128b";
    if (reading->values[PACKING] != (reading->values[FORMAT] != 0))
        return "takes .b8x16 with .b4x16_p64 or .b6x16_p32";
    form->copy = (enum emu_tmem_copy)((sources ? sources : shape) - 1);
    form->packed_bits = reading->values[FORMAT];
    return NULL;
}

static const char *fill(struct emu_tcgen05 *form, const struct reading *reading)
{
    if ((forms[form->what].needed & ~reading->seen) != 0)
        return "lacks a word: .cta_group, .sync.aligned, a shape, a kind or a type";
    form->group = reading->values[GROUP];
    form->multicast = reading->values[MULTICAST];
    switch (form->what) {
    case EMU_TCGEN05_LD:
    case EMU_TCGEN05_ST:
        return fill_move(form, reading);
    case EMU_TCGEN05_MMA:
        return fill_product(form, reading);
    case EMU_TCGEN05_CP:
        return fill_copy(form, reading);
    default:
        return NULL;
    }
}

static const char *find_lack(const struct emu_tcgen05 *form, struct emu_target target)
{
    int family = target.number / 10;

    if (family != 10 && family != 11)
        return "exists for sm_100a, sm_103a, sm_110a and their families alone";
    if (form->what == EMU_TCGEN05_SHIFT && target.letter != 'a')
        return "exists for sm_100a, sm_103a and sm_110a alone";
    if (form->what == EMU_TCGEN05_MMA && form->kind == EMU_KIND_I8 &&
        (target.letter != 'a' || target.number == 103))
        return "exists with .kind::i8 for sm_100a and sm_110a alone";
    if (form->reduces && target.number != 103 && family != 11)
        return "exists with .red for sm_103 and sm_110 alone";
    return NULL;
}

/* ---- Operands ---- */

static bool is_register(const struct emu_operand *operand)
{
    return operand->kind == EMU_OPERAND_REGISTER;
}

static bool is_address(const struct emu_operand *operand)
{
    return operand->kind == EMU_OPERAND_ADDRESS && operand->item_count == 1;
}

static bool is_number(const struct emu_operand *operand)
{
    return operand->kind == EMU_OPERAND_INTEGER;
}

static bool are_registers(const struct emu_operand *list, int count)
{
    if (!emu_is_vector(list, count))
        return false;
    for (int i = 0; i < count; i++)
        if (!is_register(&list->items[i]))
            return false;
    return true;
}

static const char *read_allocation(const struct emu_instruction *i, bool is_alloc)
{
    enum { LEAST = 32, MOST = 512 };
    const struct emu_operand *operands = i->operands;
    uint64_t bits;

    if (i->operand_count != 2 ||
        !(is_alloc ? is_address(&operands[0]) : is_register(&operands[0])) ||
        (!is_register(&operands[1]) && !is_number(&operands[1])))
        return is_alloc ? "takes an address and a number of columns"
                        : "takes a register with an address and a number of columns";
    bits = operands[1].bits;
    if (is_number(&operands[1]) && (bits < LEAST || bits > MOST || (bits & (bits - 1)) != 0))
        return "takes 32, 64, 128, 256 or 512 columns";
    return NULL;
}

/* {registers} {, reduced}, [address] {, split}; of a store the address comes first. */
static const char *read_move(struct emu_tcgen05 *form, const struct emu_instruction *i)
{
    bool is_load = form->what == EMU_TCGEN05_LD, is_split = form->shape == EMU_TMEM_16X32BX2;
    int address = is_load ? 1 + form->reduces : 0, list = is_load ? 0 : 1 + is_split;

    if (i->operand_count != 2 + form->reduces + is_split)
        return is_split ? "takes registers, an address, and the columns to its second half"
                        : "takes registers and an address";
    if (!are_registers(&i->operands[list], form->registers))
        return "has another number of registers than its shape needs, or none in braces";
    if (!is_address(&i->operands[address]) || (form->reduces && !is_register(&i->operands[1])))
        return "takes an address in brackets, and with .red a register before it";
    if (!is_split)
        return NULL;
    if (!is_number(&i->operands[address + 1]) || i->operands[address + 1].bits >= EMU_TMEM_COLUMNS)
        return "needs a number of columns to its second half";
    form->split = (uint32_t)i->operands[address + 1].bits;
    return NULL;
}

static const char *read_scale(struct emu_tcgen05 *form, const struct emu_operand *scale,
                              struct emu_target target)
{
    enum { SCALE_MAX = 15 };

    if ((form->kind != EMU_KIND_F16 && form->kind != EMU_KIND_TF32) || target.number == 110)
        return "takes scale-input-d with .kind::f16 and .kind::tf32 alone, and not for sm_110a";
    if (!is_number(scale) || scale->bits > SCALE_MAX)
        return "needs a number from 0 to 15 as scale-input-d";
    form->scale_d = (int)scale->bits;
    return NULL;
}

/* [d], A, B, descriptor {, {lanes}}, enable {, scale or mask of columns}. */
static const char *read_product(struct emu_tcgen05 *form, const struct emu_instruction *i,
                                struct emu_target target)
{
    enum { LANES_AT = 4, REGISTERS_OF_CTA = 4 };
    const struct emu_operand *operands = i->operands;
    int at = LANES_AT;

    if (i->operand_count < 5 || !is_address(&operands[0]) || !is_register(&operands[2]) ||
        !is_register(&operands[3]))
        return "takes [D], A, the descriptor of B, an instruction descriptor and enable-input-d";
    form->a_in_tmem = is_address(&operands[1]);
    if (!form->a_in_tmem && !is_register(&operands[1]))
        return "needs a descriptor or an address in brackets as A";
    if (form->ashift && !form->a_in_tmem)
        return "takes .ashift where A is in tensor memory alone";
    if (operands[at].kind == EMU_OPERAND_LIST) {
        form->mask_registers = form->group * REGISTERS_OF_CTA;
        if (form->ws || !are_registers(&operands[at], form->mask_registers))
            return "takes a mask of lanes in four registers, of a pair in eight, and none with .ws";
        at++;
    }
    if (at >= i->operand_count || (!is_register(&operands[at]) && !is_number(&operands[at])))
        return "needs a predicate as enable-input-d";
    if (++at == i->operand_count)
        return NULL;
    if (i->operand_count > at + 1)
        return "has too many operands";
    if (!form->ws)
        return read_scale(form, &operands[at], target);
    form->has_zero_mask = is_register(&operands[at]);
    return form->has_zero_mask ? NULL : "needs a register as its mask of columns";
}

static const char *read_operands(struct emu_tcgen05 *form, const struct emu_instruction *i,
                                 struct emu_target target)
{
    const struct emu_operand *operands = i->operands;
    int count = i->operand_count;

    switch (form->what) {
    case EMU_TCGEN05_ALLOC:
    case EMU_TCGEN05_DEALLOC:
        return read_allocation(i, form->what == EMU_TCGEN05_ALLOC);
    case EMU_TCGEN05_LD:
    case EMU_TCGEN05_ST:
        return read_move(form, i);
    case EMU_TCGEN05_MMA:
        return read_product(form, i, target);
    case EMU_TCGEN05_COMMIT:
        return count == 1 + form->multicast && is_address(&operands[0]) &&
                       (!form->multicast || is_register(&operands[1]))
                   ? NULL
                   : "takes the address of an mbarrier, and with .multicast::cluster a mask of "
                     "CTAs";
    case EMU_TCGEN05_CP:
        return count == 2 && is_address(&operands[0]) && is_register(&operands[1])
                   ? NULL
                   : "takes an address and a descriptor";
    case EMU_TCGEN05_SHIFT:
        return count == 1 && is_address(&operands[0]) ? NULL : "takes an address";
    case EMU_TCGEN05_RELINQUISH:
    case EMU_TCGEN05_WAIT_LD:
    case EMU_TCGEN05_WAIT_ST:
    case EMU_TCGEN05_FENCE_BEFORE:
    case EMU_TCGEN05_FENCE_AFTER:
        return count == 0 ? NULL : "takes no operands";
    }
    return NULL;
}

enum emu_decoded emu_tcgen05_decode(struct emu_tcgen05 *form,
                                    const struct emu_instruction *instruction,
                                    struct emu_target target, struct emu_error *error)
{
    struct reading reading = {.seen = 0};
    const char *fault;

    if (!emu_word_is(instruction->words[0], "tcgen05"))
        return EMU_NOT_MINE;
    *form = (struct emu_tcgen05){.group = 0};
    if (instruction->word_count < 2 || !find_form(instruction->words[1], &form->what))
        return emu_refuse(error, instruction, "is no instruction of tcgen05 that is supported");
    fault = find_missing(instruction);
    if (fault)
        return emu_refuse(error, instruction, "%s", fault);
    for (int i = 2; i < instruction->word_count; i++)
        if (!read_word(instruction->words[i], form->what, &reading))
            return emu_refuse(error, instruction,
                              "has a modifier that is not supported, or stands there twice: .%s",
                              instruction->words[i]);
    fault = fill(form, &reading);
    if (!fault)
        fault = find_lack(form, target);
    if (!fault)
        fault = read_operands(form, instruction, target);
    return fault ? emu_refuse(error, instruction, "%s", fault) : EMU_DECODED;
}
