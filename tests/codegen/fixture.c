#include "tests/codegen/fixture.h"

#include "codegen/builder_state.h"

#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <string.h>

struct lt_builder *kernel_for(enum lathe_arch arch, bool annotate,
                              const struct lathe_allocator *allocator)
{
    struct lt_builder *b = lt_builder_create(arch, annotate, allocator);
    struct lathe_plan plan = LATHE_PLAN_INIT;

    plan.threads = 128;
    plan.cta_group = 1;
    plan.cluster[0] = plan.cluster[1] = plan.cluster[2] = 1;
    if (b)
        lt_entry(b, "kernel", &plan);
    return b;
}

int open_kernel(void **state)
{
    *state = kernel_for(LATHE_SM_90A, true, NULL);
    return *state ? 0 : -1;
}

int close_kernel(void **state)
{
    lt_builder_destroy((struct lt_builder **)state);
    return 0;
}

const char *written(const struct lt_builder *b)
{
    return b->text.data ? b->text.data : "";
}

char *finished(struct lt_builder *b)
{
    struct lathe_contract contract;
    struct lathe_error err = {0};
    char *text = NULL;
    size_t length = 0;

    if (lt_builder_finish(b, &text, &length, &contract, &err) != LATHE_OK)
        fail_msg("%s", err.message);
    assert_int_equal(strlen(text), length);
    return text;
}

enum lathe_status status_of_finishing(struct lt_builder *b)
{
    struct lathe_contract contract;
    char *text = NULL;
    size_t length = 0;
    enum lathe_status status = lt_builder_finish(b, &text, &length, &contract, NULL);

    if (status == LATHE_OK)
        lt_release(b->allocator, text);
    return status;
}

lt_value number(struct lt_builder *b, const char *name, int64_t value)
{
    return lt_op(b, name, "mov.u32", lt_imm(value));
}

void assert_mistake_(struct lt_builder *b, const char *cause, const char *file, int line)
{
    struct lathe_contract contract;
    struct lathe_error err = {0};
    char *text = NULL;
    size_t length = 0;
    enum lathe_status status = lt_builder_finish(b, &text, &length, &contract, &err);
    char message[LATHE_MESSAGE_SIZE + 32] = "while emitting: ";

    strcat(message, cause);
    if (status == LATHE_OK)
        lt_release(b->allocator, text);
    if (status == LATHE_INTERNAL && err.status == status && strcmp(err.message, message) == 0 &&
        !text)
        return;
    print_error("finishing says %s \"%s\" instead of \"%s\"\n", lathe_status_name(status),
                err.message, message);
    _fail(file, line);
}

void assert_no_mistake_(const struct lt_builder *b, const char *file, int line)
{
    if (b->error.status == LATHE_OK)
        return;
    print_error("a mistake: %s\n", b->error.message);
    _fail(file, line);
}

struct lathe_tensor_map map_named(const char *name)
{
    struct lathe_tensor_map map = {
        .operand = LATHE_B,
        .type = LATHE_F16,
        .box = {64, 128},
        .swizzle_bytes = 128,
        .promotion_bytes = 256,
    };

    snprintf(map.name, sizeof map.name, "%s", name);
    return map;
}

struct lathe_plan plan_of_384_threads(void)
{
    struct lathe_plan plan = LATHE_PLAN_INIT;

    plan.threads = 384;
    plan.cta_group = 1;
    plan.tile[0] = 128;
    plan.tile[1] = 256;
    plan.tile[2] = 64;
    plan.cluster[0] = 2;
    plan.cluster[1] = plan.cluster[2] = 1;
    return plan;
}
