#include "tests/support/ptx_run.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MAX = 2048, SCOPES_MAX = 1024, STEPS_MAX = 20000000 };

struct label {
    char *name;
    int scope, at;
};

struct ptx_program {
    struct ptx_insn *insns;
    int count, room;
    struct label *labels;
    int label_count;
    int parents[SCOPES_MAX]; /* scopes are numbered as they open, 0 is outside */
    int scope_count;
    char *registers[SLOTS_MAX]; /* one slot a name: sibling scopes share theirs */
    int register_count;
    char **names; /* of what the host knows */
    int name_count;
};

struct ptx_thread {
    const struct ptx_program *program;
    const struct ptx_host *host;
    void *user;
    int at;
    long steps;
    uint64_t values[SLOTS_MAX];
    bool written[SLOTS_MAX];
};

/* ---- Scalar instructions ---- */

float ptx_float(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;

    memcpy(&value, &low, sizeof value);
    return value;
}

uint64_t ptx_float_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#define U32(x) ((uint32_t)(x))

static uint64_t quotient(uint32_t a, uint32_t b)
{
    if (b == 0)
        fail_msg("division by zero");
    return a / b;
}

/* clang-format off */
#define SCALARS(X)                                                          \
    X("mov.u32", U32(a))                   X("mov.b32", U32(a))             \
    X("mov.b64", a)                        X("mov.b16", (uint16_t)a)        \
    X("cvt.u64.u32", U32(a))               X("cvt.u16.u32", (uint16_t)a)    \
    X("cvta.param.u64", a)                 X("shfl.sync.idx.b32", U32(a))   \
    X("add.u32", U32(a + b))               X("add.s32", U32(a + b))         \
    X("add.u64", a + b)                    X("add.s64", a + b)              \
    X("sub.u32", U32(a - b))               X("mul.lo.u32", U32(a) * U32(b)) \
    X("mad.hi.u32", U32((U32(a) * (uint64_t)U32(b) >> 32) + U32(c)))        \
    X("mad.lo.u32", U32(U32(a) * U32(b) + U32(c)))                          \
    X("mad.wide.u32", U32(a) * (uint64_t)U32(b) + c)                        \
    X("mad.lo.u64", a * b + c)                                              \
    X("div.u32", quotient(U32(a), U32(b)))                                  \
    X("rem.u32", U32(a) - quotient(U32(a), U32(b)) * U32(b))                \
    X("min.u32", U32(a) < U32(b) ? U32(a) : U32(b))                         \
    X("and.b32", U32(a & b))               X("and.pred", a & b)             \
    X("or.b32", U32(a | b))                X("or.b64", a | b)               \
    X("xor.b32", U32(a ^ b))                                                \
    X("shl.b32", U32(b) > 31 ? 0 : U32(a << U32(b)))                        \
    X("shr.u32", U32(b) > 31 ? 0 : U32(a) >> U32(b))                        \
    X("selp.b32", U32(c ? a : b))                                           \
    X("setp.eq.u32", U32(a) == U32(b))     X("setp.ne.u32", U32(a) != U32(b)) \
    X("setp.lt.u32", U32(a) < U32(b))      X("setp.ge.u32", U32(a) >= U32(b)) \
    X("setp.neu.f32", !(ptx_float(a) == ptx_float(b)))                      \
    X("mul.f32", ptx_float_bits(ptx_float(a) * ptx_float(b)))               \
    X("fma.rn.f32", ptx_float_bits(fmaf(ptx_float(a), ptx_float(b), ptx_float(c))))
/* clang-format on */

static const char *const scalars[] = {
#define X(opcode, result) opcode,
    SCALARS(X)
#undef X
};
enum { SCALAR_COUNT = sizeof scalars / sizeof scalars[0] };

static int scalar_of(const char *opcode)
{
    for (int i = 0; i < SCALAR_COUNT; i++)
        if (strcmp(scalars[i], opcode) == 0)
            return i;
    return -1;
}

/* The numbers of the cases are the places in `scalars`. */
static uint64_t computed(int scalar, uint64_t a, uint64_t b, uint64_t c)
{
    int at = 0;

#define X(opcode, result)                                                                          \
    if (scalar == at++)                                                                            \
        return (uint64_t)(result);
    SCALARS(X)
#undef X
    return 0;
}

/* ---- Parsing ---- */

static char *copy_of(const char *start, size_t length)
{
    char *copy = malloc(length + 1);

    assert_non_null(copy);
    memcpy(copy, start, length);
    copy[length] = '\0';
    return copy;
}

static void skip_blanks(const char **at)
{
    *at += strspn(*at, " \n\t");
}

static int slot_of(struct ptx_program *program, const char *name, size_t length)
{
    for (int i = 0; i < program->register_count; i++)
        if (strlen(program->registers[i]) == length &&
            memcmp(program->registers[i], name, length) == 0)
            return i;
    assert_true(program->register_count < SLOTS_MAX);
    program->registers[program->register_count] = copy_of(name, length);
    return program->register_count++;
}

static const char *host_name(struct ptx_program *program, const char *name, size_t length)
{
    program->names =
        realloc(program->names, (size_t)(program->name_count + 1) * sizeof *program->names);
    assert_non_null(program->names);
    program->names[program->name_count] = copy_of(name, length);
    return program->names[program->name_count++];
}

/* One reference at `*at`; moves behind it. */
static struct ptx_ref parse_ref(struct ptx_program *program, const char **at)
{
    struct ptx_ref ref = {.slot = -1};
    char *end = NULL;

    if (ptx_starts_with(*at, "0f")) {
        ref.number = strtoull(*at + 2, &end, 16);
        *at = end;
    } else if (isdigit((unsigned char)**at)) {
        ref.number = strtoull(*at, &end, 0);
        *at = end;
    } else if (**at == '-') {
        ref.number = (uint64_t)strtoll(*at, &end, 0);
        *at = end;
    } else {
        size_t length = **at == '%';

        while (isalnum((unsigned char)(*at)[length]) || (*at)[length] == '_' ||
               (*at)[length] == '.')
            length++;
        assert_true(length > 0);
        if (**at == '%' && !memchr(*at, '.', length))
            ref.slot = slot_of(program, *at, length);
        else
            ref.name = host_name(program, *at, length);
        *at += length;
    }
    if (**at == '+' || **at == '-') {
        ref.offset = strtoll(*at, &end, 10);
        *at = end;
    }
    return ref;
}

/* An operand up to the next comma outside of brackets and braces, or the semicolon. */
static struct ptx_operand parse_operand(struct ptx_program *program, const char **at)
{
    struct ptx_operand operand = {0};
    int depth = 0;

    for (; **at && !(depth == 0 && (**at == ',' || **at == ';'));) {
        if (**at == '[' || **at == '{')
            depth++;
        if (**at == ']' || **at == '}')
            depth--;
        if (strchr("[]{}, |\n", **at) || (**at == '_' && !isalnum((unsigned char)(*at)[1]))) {
            ++*at;
            continue;
        }
        operand.refs = realloc(operand.refs, (size_t)(operand.count + 1) * sizeof *operand.refs);
        assert_non_null(operand.refs);
        operand.refs[operand.count++] = parse_ref(program, at);
    }
    return operand;
}

static struct ptx_insn *add_insn(struct ptx_program *program)
{
    if (program->count == program->room) {
        program->room = program->room ? 2 * program->room : 256;
        program->insns = realloc(program->insns, (size_t)program->room * sizeof *program->insns);
        assert_non_null(program->insns);
    }
    program->insns[program->count] = (struct ptx_insn){.guard = -1};
    return &program->insns[program->count++];
}

/* "@!%p opcode a, [b], {c, d};" */
static void parse_insn(struct ptx_program *program, const char **at, int scope)
{
    struct ptx_insn *insn = add_insn(program);
    size_t length;

    insn->scope = scope;
    if (**at == '@') {
        insn->negated = (*at)[1] == '!';
        *at += insn->negated ? 2 : 1;
        length = strcspn(*at, " ");
        insn->guard = slot_of(program, *at, length);
        *at += length;
        skip_blanks(at);
    }
    length = strcspn(*at, " ;\n");
    insn->opcode = copy_of(*at, length);
    *at += length;
    skip_blanks(at);
    if (**at == '$') {
        length = strcspn(*at, ";");
        insn->label = copy_of(*at, length);
        *at += length;
    }
    while (**at != ';') {
        assert_true(**at != '\0' && insn->operand_count < PTX_OPERANDS_MAX);
        insn->operand[insn->operand_count++] = parse_operand(program, at);
        if (**at == ',')
            ++*at;
        skip_blanks(at);
    }
    ++*at;
    /* A scalar instruction has scalar operands: "mov.b32 {%low, %high}, %pair" is none. */
    insn->compute = scalar_of(insn->opcode);
    for (int i = 0; i < insn->operand_count; i++)
        if (insn->operand[i].count != 1)
            insn->compute = -1;
}

static void add_label(struct ptx_program *program, const char *start, size_t length, int scope)
{
    program->labels =
        realloc(program->labels, (size_t)(program->label_count + 1) * sizeof *program->labels);
    assert_non_null(program->labels);
    program->labels[program->label_count++] =
        (struct label){copy_of(start, length), scope, program->count};
}

static void find_target(const struct ptx_program *program, struct ptx_insn *insn)
{
    for (int scope = insn->scope;; scope = program->parents[scope]) {
        for (int i = 0; i < program->label_count; i++)
            if (program->labels[i].scope == scope &&
                strcmp(program->labels[i].name, insn->label) == 0) {
                insn->target = program->labels[i].at;
                return;
            }
        if (scope == 0)
            fail_msg("no label %s can be seen from where it is branched to", insn->label);
    }
}

struct ptx_program *ptx_parse(const char *text)
{
    struct ptx_program *program = calloc(1, sizeof *program);
    char *code = ptx_code_of(text);
    const char *entry = strstr(code, ".entry");
    const char *at = entry ? strchr(entry, '{') : NULL;
    int scope = 0;

    assert_non_null(program);
    assert_non_null(at);
    for (skip_blanks(&at); *at; skip_blanks(&at)) {
        if (*at == '{') {
            assert_true(program->scope_count + 1 < SCOPES_MAX);
            program->parents[++program->scope_count] = scope;
            scope = program->scope_count;
            at++;
        } else if (*at == '}') {
            scope = program->parents[scope];
            at++;
        } else if (*at == '.') {
            at += strcspn(at, ";") + 1;
        } else if (*at == '$') {
            size_t length = strcspn(at, ":");

            add_label(program, at, length, scope);
            at += length + 1;
        } else {
            parse_insn(program, &at, scope);
        }
    }
    assert_int_equal(scope, 0);
    for (int i = 0; i < program->count; i++)
        if (program->insns[i].label)
            find_target(program, &program->insns[i]);
    free(code);
    return program;
}

void ptx_free(struct ptx_program *program)
{
    for (int i = 0; i < program->count; i++) {
        free(program->insns[i].opcode);
        free(program->insns[i].label);
        for (int j = 0; j < program->insns[i].operand_count; j++)
            free(program->insns[i].operand[j].refs);
    }
    for (int i = 0; i < program->label_count; i++)
        free(program->labels[i].name);
    for (int i = 0; i < program->register_count; i++)
        free(program->registers[i]);
    for (int i = 0; i < program->name_count; i++)
        free(program->names[i]);
    free(program->insns);
    free(program->labels);
    free(program->names);
    free(program);
}

/* ---- Running ---- */

bool ptx_is(const struct ptx_insn *insn, const char *opcode_start)
{
    return ptx_starts_with(insn->opcode, opcode_start);
}

static uint64_t value_of(struct ptx_thread *thread, const struct ptx_ref *ref)
{
    if (ref->name)
        return thread->host->special(thread->user, ref->name) + (uint64_t)ref->offset;
    if (ref->slot < 0)
        return ref->number;
    if (!thread->written[ref->slot])
        fail_msg("%s is read before it was written", thread->program->registers[ref->slot]);
    return thread->values[ref->slot] + (uint64_t)ref->offset;
}

static const struct ptx_ref *ref_at(const struct ptx_insn *insn, int operand, int ref)
{
    assert_true(operand < insn->operand_count && ref < insn->operand[operand].count);
    return &insn->operand[operand].refs[ref];
}

const char *ptx_name(const struct ptx_thread *thread, const struct ptx_insn *insn, int operand,
                     int ref)
{
    int slot = ref_at(insn, operand, ref)->slot;

    assert_true(slot >= 0);
    return thread->program->registers[slot];
}

uint64_t ptx_read(struct ptx_thread *thread, const struct ptx_insn *insn, int operand, int ref)
{
    return value_of(thread, ref_at(insn, operand, ref));
}

void ptx_write(struct ptx_thread *thread, const struct ptx_insn *insn, int operand, int ref,
               uint64_t value)
{
    int slot = ref_at(insn, operand, ref)->slot;

    assert_true(slot >= 0);
    thread->values[slot] = value;
    thread->written[slot] = true;
}

struct ptx_thread *ptx_start(const struct ptx_program *program, const struct ptx_host *host,
                             void *user)
{
    struct ptx_thread *thread = calloc(1, sizeof *thread);

    assert_non_null(thread);
    thread->program = program;
    thread->host = host;
    thread->user = user;
    return thread;
}

void ptx_end(struct ptx_thread *thread)
{
    free(thread);
}

static bool guard_holds(struct ptx_thread *thread, const struct ptx_insn *insn)
{
    const struct ptx_ref ref = {.slot = insn->guard};

    return insn->guard < 0 || (value_of(thread, &ref) != 0) != insn->negated;
}

static void compute(struct ptx_thread *thread, const struct ptx_insn *insn)
{
    uint64_t values[3] = {0};

    for (int i = 1; i < insn->operand_count && i < 4; i++)
        values[i - 1] = value_of(thread, &insn->operand[i].refs[0]);
    ptx_write(thread, insn, 0, 0, computed(insn->compute, values[0], values[1], values[2]));
}

static void load_param(struct ptx_thread *thread, const struct ptx_insn *insn)
{
    const struct ptx_host *host = thread->host;
    const struct ptx_ref *ref = ref_at(insn, 1, 0);
    const char *block = host->block && ref->name ? host->block(thread->user, ref->name) : NULL;
    uint32_t word;

    if (!block) {
        ptx_write(thread, insn, 0, 0, value_of(thread, ref));
        return;
    }
    assert_true(ptx_is(insn, "ld.param.u32"));
    memcpy(&word, block + ref->offset, sizeof word);
    ptx_write(thread, insn, 0, 0, word);
}

const struct ptx_insn *ptx_continue(struct ptx_thread *thread)
{
    const struct ptx_program *program = thread->program;

    while (thread->at < program->count) {
        const struct ptx_insn *insn = &program->insns[thread->at++];

        if (++thread->steps == STEPS_MAX)
            fail_msg("the kernel does not end");
        if (!guard_holds(thread, insn))
            continue;
        if (insn->label) {
            thread->at = insn->target;
        } else if (insn->compute >= 0) {
            compute(thread, insn);
        } else if (ptx_is(insn, "ld.param.")) {
            load_param(thread, insn);
        } else if (ptx_is(insn, "ret")) {
            thread->at = program->count;
        } else {
            enum ptx_answer answer = thread->host->other(thread->user, thread, insn);

            if (answer == PTX_UNKNOWN)
                fail_msg("nobody knows the instruction %s", insn->opcode);
            if (answer == PTX_PAUSE)
                return insn;
        }
    }
    return NULL;
}

void ptx_run(const struct ptx_program *program, const struct ptx_host *host, void *user)
{
    struct ptx_thread *thread = ptx_start(program, host, user);

    assert_null(ptx_continue(thread));
    ptx_end(thread);
}
