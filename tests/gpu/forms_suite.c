/* forms_suite.c: one small kernel for each form of an instruction, run on the emulator and on a
 * GPU.
 *
 *     forms_suite emulator [expected=FILE]     compares with what an H200 gave, by its hash
 *     forms_suite gpu [write=FILE]             runs both, and compares every value; the file is
 *                                              forms.expected, anew
 *
 * The forms stand in forms.def. Every kernel reads its sources, which are drawn for their types
 * with the special values among them, executes the one instruction, and stores its results. Prints
 * a line a form, as TAP does, then "N passed, M failed, K skipped". */
#include "runtime/context.h"
#include "runtime/random.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANES = 32,
    BLOCKS = 32,
    THREADS = LANES * BLOCKS,
    OPERANDS_MAX = 16, /* registers and immediates */
    NAME_SIZE = 128,
    TEXT_SIZE = 8192,
    SLOT_BYTES = 8 /* of an operand of a thread, whatever its type */
};

/* ---- Forms ---- */

struct operand {
    char type[16]; /* "f32"; "#" for immediates */
    char immediate[16];
    bool joined;                      /* the second of two results of one operand        */
    bool is_in_vector, opens, closes; /* one of {a, b}; its first; its last */
};

struct form {
    char opcode[NAME_SIZE];
    const char *chapter;
    double tolerance;
    struct operand operands[OPERANDS_MAX];
    int count, results;
};

/* Rows without a pattern are headings. */
static const struct {
    const char *chapter, *pattern, *operands;
    double tolerance;
} rows[] = {
#define CHAPTER(title) {title, NULL, NULL, 0},
#define FORM(pattern, operands, tolerance) {NULL, pattern, operands, tolerance},
#include "tests/gpu/forms.def"
#undef CHAPTER
#undef FORM
};

/* One register of each of the vector's, or the immediate; false where there are too many. */
static bool add_operand(struct form *form, const char *text, int length, bool joined)
{
    bool is_vector = length > 2 && text[1] == '*';
    int registers = is_vector ? text[0] - '0' : 1;

    if (is_vector) {
        text += 2;
        length -= 2;
    }
    for (int i = 0; i < registers; i++) {
        struct operand *operand = &form->operands[form->count];

        if (form->count == OPERANDS_MAX || (size_t)length >= sizeof operand->type)
            return false;
        operand->joined = joined;
        operand->is_in_vector = is_vector;
        operand->opens = is_vector && i == 0;
        operand->closes = is_vector && i == registers - 1;
        if (*text == '#') {
            strcpy(operand->type, "#");
            snprintf(operand->immediate, sizeof operand->immediate, "%.*s", length - 1, text + 1);
        } else {
            snprintf(operand->type, sizeof operand->type, "%.*s", length, text);
        }
        form->count++;
    }
    return true;
}

static bool parse_operands(struct form *form, const char *text)
{
    bool is_result = true, joined = false;

    while (*text) {
        size_t length = strcspn(text, "=,|");

        if (!add_operand(form, text, (int)length, joined))
            return false;
        if (is_result)
            form->results = form->count;
        text += length;
        joined = *text == '|';
        if (*text == '=')
            is_result = false;
        text += *text != '\0';
    }
    return form->results > 0;
}

/* Calls `use` for every form of the pattern, its first braces replaced by each alternative. */
static void expand(struct form *form, const char *pattern, void (*use)(void *, struct form *),
                   void *user)
{
    const char *open = strchr(pattern, '{'), *close = open ? strchr(open, '}') : NULL;

    if (!close) {
        snprintf(form->opcode, sizeof form->opcode, "%s", pattern);
        use(user, form);
        return;
    }
    for (const char *at = open; at < close;) {
        size_t length = strcspn(at + 1, ",}");
        char chosen[NAME_SIZE];

        snprintf(chosen, sizeof chosen, "%.*s%.*s%s", (int)(open - pattern), pattern, (int)length,
                 at + 1, close + 1);
        expand(form, chosen, use, user);
        at += 1 + length;
    }
}

static void each_form(void (*use)(void *, struct form *), void *user)
{
    const char *chapter = "";

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct form form = {.chapter = chapter, .tolerance = rows[i].tolerance};

        if (!rows[i].pattern)
            chapter = rows[i].chapter;
        else if (parse_operands(&form, rows[i].operands))
            expand(&form, rows[i].pattern, use, user);
    }
}

/* ---- Its kernel ---- */

static int bits_of(const char *type)
{
    if (type[0] == 'm') /* of a multiplication */
        type++;
    if (strcmp(type, "shift") == 0 || strcmp(type, "f16x2") == 0 || strcmp(type, "bf16x2") == 0 ||
        strcmp(type, "e8x4") == 0)
        return 32;
    if (strcmp(type, "bf16") == 0 || strcmp(type, "f16") == 0)
        return 16;
    if (strcmp(type, "p") == 0)
        return 1;
    return atoi(type + 1);
}

/* Of a register: nothing is narrower than 16 bits. */
static int register_bits(const char *type)
{
    int bits = bits_of(type);

    return bits < 16 ? (strcmp(type, "b8") == 0 ? 32 : 16) : bits;
}

static void append(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char *text, const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + length, TEXT_SIZE - length, format, arguments);
    va_end(arguments);
}

static bool is_float_register(const char *type)
{
    type += type[0] == 'm';
    return strcmp(type, "f32") == 0 || strcmp(type, "f64") == 0;
}

static void append_declaration(char *text, const struct operand *operand, int i)
{
    if (operand->type[0] == '#')
        return;
    if (strcmp(operand->type, "p") == 0)
        append(text, "    .reg .pred %%x%d;\n    .reg .b32 %%w%d;\n", i, i);
    else
        append(text, "    .reg .%s%d %%x%d;\n", is_float_register(operand->type) ? "f" : "b",
               register_bits(operand->type), i);
}

static void append_load(char *text, const struct operand *operand, int i)
{
    if (operand->type[0] == '#')
        return;
    if (strcmp(operand->type, "p") == 0)
        append(text, "    ld.global.b32 %%w%d, [%%in+%d];\n    setp.ne.b32 %%x%d, %%w%d, 0;\n", i,
               i * SLOT_BYTES, i, i);
    else
        append(text, "    ld.global.b%d %%x%d, [%%in+%d];\n", register_bits(operand->type), i,
               i * SLOT_BYTES);
}

static void append_store(char *text, const struct operand *operand, int i)
{
    if (strcmp(operand->type, "p") == 0)
        append(text, "    selp.b32 %%w%d, 1, 0, %%x%d;\n    st.global.b32 [%%out+%d], %%w%d;\n", i,
               i, i * SLOT_BYTES, i);
    else
        append(text, "    st.global.b%d [%%out+%d], %%x%d;\n", register_bits(operand->type),
               i * SLOT_BYTES, i);
}

static void write_kernel(const struct form *form, char text[TEXT_SIZE])
{
    text[0] = '\0';
    append(text, ".version 8.4\n.target sm_90a\n.address_size 64\n"
                 ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                 "    .reg .b64 %%in, %%out, %%at;\n    .reg .b32 %%r<3>;\n");
    for (int i = 0; i < form->count; i++)
        append_declaration(text, &form->operands[i], i);
    append(text,
           "    ld.param.u64 %%in, [in];\n    ld.param.u64 %%out, [out];\n"
           "    mov.u32 %%r0, %%tid.x;\n    mov.u32 %%r1, %%ctaid.x;\n"
           "    mad.lo.u32 %%r2, %%r1, %d, %%r0;\n    mul.wide.u32 %%at, %%r2, %d;\n"
           "    add.u64 %%in, %%in, %%at;\n    add.u64 %%out, %%out, %%at;\n",
           LANES, OPERANDS_MAX * SLOT_BYTES);
    for (int i = form->results; i < form->count; i++)
        append_load(text, &form->operands[i], i);
    append(text, "    %s ", form->opcode);
    for (int i = 0; i < form->count; i++) {
        const struct operand *operand = &form->operands[i];

        append(text, "%s%s", i == 0 ? "" : operand->joined ? "|" : ", ", operand->opens ? "{" : "");
        if (operand->type[0] == '#')
            append(text, "%s", operand->immediate);
        else
            append(text, "%%x%d%s", i, operand->closes ? "}" : "");
    }
    append(text, ";\n");
    for (int i = 0; i < form->results; i++)
        append_store(text, &form->operands[i], i);
    append(text, "    ret;\n}\n");
}

/* ---- Values ---- */

static uint64_t draw(uint64_t index)
{
    return lt_random_mix(lt_random_stream(0x5eed, index));
}

/* Of integers: small ones, those at the ends, and any. */
static uint64_t draw_integer(uint64_t index, int bits)
{
    static const int64_t corners[] = {0, 1, -1, 2, 7, 8, 31, 32, 33, 63, 64, 100, -128, 255};
    uint64_t random = draw(index), top = (uint64_t)1 << (bits - 1), value;

    switch (random >> 60) {
    case 0:
    case 1:
    case 2:
        value = (uint64_t)corners[random % (sizeof corners / sizeof corners[0])];
        break;
    case 3:
        value = top - (random & 1);
        break;
    default:
        value = random >> (random >> 8 & 1 ? 0 : random >> 10 & 31);
    }
    return bits == 64 ? value : value & ((top << 1) - 1);
}

/* Bits of a float with so many of exponent and mantissa: specials, neighbours of 1, any. */
static uint64_t draw_float(uint64_t index, int exponent, int mantissa)
{
    uint64_t random = draw(index), sign = (random >> 1 & 1) << (exponent + mantissa),
             most = ((uint64_t)1 << exponent) - 1, bias = most >> 1,
             fraction = draw(index ^ 0x8000000000u) & (((uint64_t)1 << mantissa) - 1);

    switch (random >> 59) {
    case 0:
        return sign;
    case 1:
        return sign | most << mantissa; /* infinity */
    case 2:
        return sign | most << mantissa | fraction | 1; /* NaN */
    case 3:
    case 4:
        return sign | fraction; /* subnormal */
    case 5:
        return sign | bias << mantissa; /* 1 */
    case 6:
        return sign | (most - 1) << mantissa | fraction; /* large */
    case 7:
    case 8:
    case 9:
    case 10:
    case 11:
    case 12:
        return sign | (random >> 8 & most) << mantissa | fraction;
    default: /* near 1, so that sums and products are of their size */
        return sign | (bias - 4 + (random >> 8 & 7)) << mantissa | fraction;
    }
}

/* Finite, for sums: near 1, widely spread by the eighth of the exponents around it, or zero. */
static uint64_t draw_finite(uint64_t index, int exponent, int mantissa)
{
    uint64_t random = draw(index), bias = ((uint64_t)1 << (exponent - 1)) - 1,
             sign = (random >> 1 & 1) << (exponent + mantissa),
             spread = random >> 60 < 4 ? ((uint64_t)1 << exponent) / 8 : 2;

    if (random >> 60 == 15)
        return sign;
    return sign | (bias - spread + (random >> 8) % (2 * spread)) << mantissa |
           (draw(index ^ 0x8000000000u) & (((uint64_t)1 << mantissa) - 1));
}

static uint64_t draw_factor(const char *type, uint64_t index)
{
    uint64_t bytes = 0;

    if (strcmp(type, "f32") == 0)
        return draw_finite(index, 8, 23);
    if (strcmp(type, "b32") == 0) /* tf32 */
        return draw_finite(index, 8, 10) << 13;
    if (strcmp(type, "f64") == 0)
        return draw_finite(index, 11, 52);
    if (strcmp(type, "f16x2") == 0)
        return draw_finite(index, 5, 10) | draw_finite(index ^ 0x4000000000u, 5, 10) << 16;
    if (strcmp(type, "bf16x2") == 0)
        return draw_finite(index, 8, 7) | draw_finite(index ^ 0x4000000000u, 8, 7) << 16;
    for (int i = 0; i < 4; i++) /* e8x4: e4m3, or e5m2 by the same bits */
        bytes |= draw_finite(index ^ (uint64_t)i << 34, 4, 3) << (8 * i);
    return bytes;
}

static uint64_t draw_value(const char *type, uint64_t index)
{
    if (type[0] == 'm')
        return draw_factor(type + 1, index);
    if (strcmp(type, "f32") == 0)
        return draw_float(index, 8, 23);
    if (strcmp(type, "f64") == 0)
        return draw_float(index, 11, 52);
    if (strcmp(type, "f16") == 0)
        return draw_float(index, 5, 10);
    if (strcmp(type, "bf16") == 0)
        return draw_float(index, 8, 7);
    if (strcmp(type, "f16x2") == 0)
        return draw_float(index, 5, 10) | draw_float(index ^ 0x4000000000u, 5, 10) << 16;
    if (strcmp(type, "bf16x2") == 0)
        return draw_float(index, 8, 7) | draw_float(index ^ 0x4000000000u, 8, 7) << 16;
    if (strcmp(type, "p") == 0)
        return draw(index) & 1;
    if (strcmp(type, "b8") == 0)
        return draw(index) >> 9 & 3; /* for match: some are equal */
    if (strcmp(type, "shift") == 0)
        return draw(index) >> 9 & (draw(index) & 1 ? 63 : 31);
    return draw_integer(index, bits_of(type));
}

static void draw_inputs(const struct form *form, uint64_t values[THREADS][OPERANDS_MAX])
{
    for (int thread = 0; thread < THREADS; thread++)
        for (int i = 0; i < OPERANDS_MAX; i++)
            values[thread][i] =
                i < form->count && form->operands[i].type[0] != '#'
                    ? draw_value(form->operands[i].type, (uint64_t)(thread * OPERANDS_MAX + i))
                    : 0;
}

/* ---- Running ---- */

struct machine {
    struct lathe_context *context;
    const struct lt_device *device;
    struct lt_entered entered;
    uint64_t in, out;
};

static bool check(const struct machine *machine, int result, const char *call)
{
    struct lathe_error error;

    if (lt_driver_check(&machine->device->driver, result, call, &error) == LATHE_OK)
        return true;
    printf("# %s\n", error.message);
    return false;
}

static bool launch(const struct machine *machine, const char *text)
{
    const struct lt_driver *driver = &machine->device->driver;
    struct lt_cu_launch_config config = {
        .grid_x = BLOCKS, .grid_y = 1, .grid_z = 1, .block_x = LANES, .block_y = 1, .block_z = 1};
    uint64_t in = machine->in, out = machine->out;
    void *params[] = {&in, &out};
    lt_cu_module module;
    lt_cu_function function;
    bool done;

    if (!check(machine, driver->cuModuleLoadData(&module, text), "cuModuleLoadData"))
        return false;
    done = check(machine, driver->cuModuleGetFunction(&function, module, "k"),
                 "cuModuleGetFunction") &&
           check(machine, driver->cuLaunchKernelEx(&config, function, params, NULL),
                 "cuLaunchKernelEx") &&
           check(machine, driver->cuStreamSynchronize(NULL), "cuStreamSynchronize");
    driver->cuModuleUnload(module);
    return done;
}

static bool run(const struct machine *machine, const char *text,
                uint64_t values[THREADS][OPERANDS_MAX], uint64_t results[THREADS][OPERANDS_MAX])
{
    const struct lt_driver *driver = &machine->device->driver;
    size_t bytes = sizeof(uint64_t) * THREADS * OPERANDS_MAX;

    memset(results, 0, bytes);
    return check(machine, driver->cuMemcpyHtoD(machine->in, values, bytes), "cuMemcpyHtoD") &&
           check(machine, driver->cuMemcpyHtoD(machine->out, results, bytes), "cuMemcpyHtoD") &&
           launch(machine, text) &&
           check(machine, driver->cuMemcpyDtoH(results, machine->out, bytes), "cuMemcpyDtoH");
}

static bool open_machine(struct machine *machine, enum lathe_emulator_use use)
{
    size_t bytes = sizeof(uint64_t) * THREADS * OPERANDS_MAX;
    struct lathe_error error;

    if (lathe_context_create(&machine->context, lathe_context_options(.emulator = use), &error) !=
            LATHE_OK ||
        lt_context_device(machine->context, &machine->device, &error) != LATHE_OK ||
        lt_enter(machine->device, &machine->entered, &error) != LATHE_OK) {
        printf("# %s\n", error.message);
        return false;
    }
    return check(machine, machine->device->driver.cuMemAlloc(&machine->in, bytes), "cuMemAlloc") &&
           check(machine, machine->device->driver.cuMemAlloc(&machine->out, bytes), "cuMemAlloc");
}

/* The emulator's tensor cores, for all contexts that are made later in the process. */
static bool be_exact(void)
{
    struct lathe_context *context = NULL;
    const struct lt_device *device = NULL;
    void (*set_exact)(int exact) = NULL;
    struct lathe_error error;

    if (lathe_context_create(&context, lathe_context_options(.emulator = LATHE_EMULATOR_ALWAYS),
                             &error) == LATHE_OK &&
        lt_context_probe(context, &device, &error) == LATHE_OK) {
        const struct lt_library_function function = {"emu_set_exact", &set_exact};

        lt_library_load(&device->driver.library, &function, 1, NULL);
        if (set_exact)
            set_exact(1);
    } else {
        printf("# %s\n", error.message);
    }
    lathe_context_destroy(&context);
    return set_exact != NULL;
}

static void close_machine(struct machine *machine)
{
    if (machine->in)
        machine->device->driver.cuMemFree(machine->in);
    if (machine->out)
        machine->device->driver.cuMemFree(machine->out);
    if (machine->in)
        lt_leave(machine->device, &machine->entered);
    lathe_context_destroy(&machine->context);
}

/* ---- Comparing ---- */

static uint64_t hash_results(const struct form *form, uint64_t results[THREADS][OPERANDS_MAX])
{
    uint64_t hash = 0;

    for (int thread = 0; thread < THREADS; thread++)
        for (int i = 0; i < form->results; i++)
            hash = lt_random_mix(hash ^ results[thread][i]) + (uint64_t)i;
    return hash;
}

static bool is_near(const struct form *form, uint64_t got, uint64_t want)
{
    uint32_t narrow[2] = {(uint32_t)got, (uint32_t)want};
    float value[2];

    if (got == want)
        return true;
    if (form->tolerance == 0)
        return false;
    memcpy(value, narrow, sizeof value);
    if (isnan(value[0]) && isnan(value[1]))
        return true;
    return fabs((double)value[0] - (double)value[1]) <=
           form->tolerance * fabs((double)value[1]) + (double)1e-45f;
}

static bool compare(const struct form *form, uint64_t values[THREADS][OPERANDS_MAX],
                    uint64_t got[THREADS][OPERANDS_MAX], uint64_t want[THREADS][OPERANDS_MAX])
{
    int wrong = 0;

    for (int thread = 0; thread < THREADS; thread++)
        for (int i = 0; i < form->results; i++) {
            if (is_near(form, got[thread][i], want[thread][i]) || wrong++ > 0)
                continue;
            printf("# of");
            for (int k = form->results; k < form->count; k++)
                printf(" 0x%llx", (unsigned long long)values[thread][k]);
            printf(": 0x%llx here, 0x%llx on the GPU\n", (unsigned long long)got[thread][i],
                   (unsigned long long)want[thread][i]);
        }
    if (wrong > 0)
        printf("# %d values differ\n", wrong);
    return wrong == 0;
}

/* ---- All ---- */

struct suite {
    struct machine emulator, gpu;
    bool has_gpu;
    FILE *expected, *written;
    int passed, failed, skipped, unknown;
    uint64_t values[THREADS][OPERANDS_MAX], got[THREADS][OPERANDS_MAX], want[THREADS][OPERANDS_MAX];
};

/* The file has a line a form, "hash opcode operands", in the order of the table. */
static bool expected_hash(struct suite *suite, const struct form *form, uint64_t *hash)
{
    char line[2 * NAME_SIZE], opcode[NAME_SIZE];
    unsigned long long number;

    if (!suite->expected || !fgets(line, sizeof line, suite->expected) ||
        sscanf(line, "%llx %95s", &number, opcode) != 2 || strcmp(opcode, form->opcode) != 0)
        return false;
    *hash = number;
    return true;
}

static void count(struct suite *suite, bool ok, const struct form *form)
{
    printf("%sok %d - %s: %s\n", ok ? "" : "not ", suite->passed + suite->failed + 1, form->chapter,
           form->opcode);
    if (ok)
        suite->passed++;
    else
        suite->failed++;
}

static void run_form(void *user, struct form *form)
{
    struct suite *suite = user;
    char text[TEXT_SIZE];
    uint64_t hash = 0;
    bool known = !suite->has_gpu && expected_hash(suite, form, &hash), ran;

    write_kernel(form, text);
    draw_inputs(form, suite->values);
    ran = run(&suite->emulator, text, suite->values, suite->got);
    if (suite->has_gpu) {
        ran = run(&suite->gpu, text, suite->values, suite->want) && ran;
        if (suite->written)
            fprintf(suite->written, "%016llx %s\n",
                    (unsigned long long)hash_results(form, suite->want), form->opcode);
        count(suite, ran && compare(form, suite->values, suite->got, suite->want), form);
        return;
    }
    suite->unknown += !known;
    if (ran && form->tolerance > 0) { /* a hash knows no bounds */
        printf("# %s is compared beside a GPU alone\n", form->opcode);
        suite->skipped++;
        return;
    }
    count(suite, ran && known && hash_results(form, suite->got) == hash, form);
}

int main(int arguments, char **words)
{
    static struct suite suite;
    const char *mode = arguments > 1 ? words[1] : "";
    bool wants_gpu = strcmp(mode, "gpu") == 0, opened;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!wants_gpu && strcmp(mode, "emulator") != 0) {
        fprintf(stderr, "usage: forms_suite emulator expected=FILE\n"
                        "       forms_suite gpu [write=FILE]\n");
        return 2;
    }
    for (int i = 2; i < arguments; i++) {
        if (strncmp(words[i], "expected=", 9) == 0)
            suite.expected = fopen(words[i] + 9, "r");
        else if (strncmp(words[i], "write=", 6) == 0)
            suite.written = fopen(words[i] + 6, "w");
    }
    opened = be_exact() && open_machine(&suite.emulator, LATHE_EMULATOR_ALWAYS);
    suite.has_gpu = wants_gpu && opened && open_machine(&suite.gpu, LATHE_EMULATOR_NEVER);
    if (opened && suite.has_gpu == wants_gpu)
        each_form(run_form, &suite);
    if (suite.unknown > 0)
        printf("# of %d forms it is not known what an H200 gives\n", suite.unknown);
    printf("%d passed, %d failed, %d skipped\n", suite.passed, suite.failed,
           suite.skipped + (suite.passed + suite.failed == 0));
    if (suite.gpu.context)
        close_machine(&suite.gpu);
    if (suite.emulator.context)
        close_machine(&suite.emulator);
    if (suite.expected)
        fclose(suite.expected);
    if (suite.written)
        fclose(suite.written);
    return suite.passed + suite.failed == 0 ? 77 : suite.failed > 0;
}
