/* tensor_product_kernel.c: the text of a few wgmma (PTX ISA, "wgmma.mma_async"). Registers come
 * from the case's memory, a word a thread and register behind each other, and D goes back there. */
#include "tests/gpu/tensor_product.h"
#include "tests/gpu/tensor_text.h"

#include <string.h>

enum { A_REGISTERS = 4 };

static int d_registers(const struct tensor_product *product)
{
    return product->accumulators * tensor_product_registers(product);
}

uint32_t tensor_product_register_bytes(const struct tensor_product *product)
{
    return (uint32_t)(d_registers(product) + A_REGISTERS) * product->threads * 4;
}

static void say_registers(struct tensor_case *it, const struct tensor_product *product,
                          const char *operation, const char *prefix, int begin, int end,
                          int first_word)
{
    bool is_store = strcmp(operation, "st.global") == 0;
    const char *type = prefix[1] == 'd' && strcmp(product->d->name, "f32") == 0 ? "f32" : "b32";

    for (int i = begin; i < end; i++) {
        unsigned at = (unsigned)(first_word + i) * product->threads * 4;

        if (is_store)
            tensor_say(it, "    %s.%s [%%words+%u], %s%d;\n", operation, type, at, prefix, i);
        else
            tensor_say(it, "    %s.%s %s%d, [%%words+%u];\n", operation, type, prefix, i, at);
    }
}

static void say_list(struct tensor_case *it, const char *prefix, int begin, int count)
{
    for (int i = 0; i < count; i++)
        tensor_say(it, "%s%s%d", i == 0 ? "{" : ", ", prefix, begin + i);
    tensor_say(it, "}");
}

/* The matrix descriptor (ISA, "Matrix Descriptor Format"), but for its start. */
static unsigned long long descriptor_bits(const struct tensor_operand *operand)
{
    unsigned long long swizzle = operand->swizzle == 0     ? 0
                                 : operand->swizzle == 128 ? 1
                                 : operand->swizzle == 64  ? 2
                                                           : 3;

    return (unsigned long long)(operand->leading >> 4) << 16 |
           (unsigned long long)(operand->stride >> 4) << 32 |
           (unsigned long long)operand->base_offset << 49 | swizzle << 62;
}

static void say_descriptor(struct tensor_case *it, const char *name,
                           const struct tensor_operand *operand)
{
    tensor_say(it,
               "    add.u32 %%n, %%space, %u;\n"
               "    shr.u32 %%n, %%n, 4;\n"
               "    and.b32 %%n, %%n, 0x3fff;\n"
               "    cvt.u64.u32 %s, %%n;\n"
               "    or.b64 %s, %s, 0x%llx;\n",
               operand->at + operand->start, name, name, name, descriptor_bits(operand));
}

/* Of the first of an accumulator; those that follow add to it. */
static const char *scale_d(const struct tensor_product *product, int step)
{
    static const char *const operands[TENSOR_SCALES] = {"%no", "%yes", "0", "1"};

    return step < product->accumulators ? operands[product->scale_d] : "%yes";
}

static void say_multiply(struct tensor_case *it, const struct tensor_product *product, int step)
{
    int registers = tensor_product_registers(product);
    bool is_binary = product->a.type->bits == 1;

    if (step > 0)
        tensor_say(it, "    add.u64 %%a_at, %%a_at, %u;\n    add.u64 %%b_at, %%b_at, %u;\n",
                   product->step_bytes >> 4, product->step_bytes >> 4);
    tensor_say(it, "    wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s%s ", product->n,
               tensor_product_depth(product), product->d->name, product->a.type->name,
               product->b.type->name,
               is_binary            ? ".and.popc"
               : product->saturates ? ".satfinite"
                                    : "");
    say_list(it, "%d", step % product->accumulators * registers, registers);
    tensor_say(it, ", ");
    if (product->a_in_registers)
        say_list(it, "%a", 0, A_REGISTERS);
    else
        tensor_say(it, "%%a_at");
    tensor_say(it, ", %%b_at, %s", scale_d(product, step));
    if (product->d->exponent > 0)
        tensor_say(it, ", %d, %d", product->a.is_negated ? -1 : 1, product->b.is_negated ? -1 : 1);
    if (product->a.type->bits == 16 && !product->a_in_registers)
        tensor_say(it, ", %d", product->a.is_mn_major);
    if (product->a.type->bits == 16)
        tensor_say(it, ", %d", product->b.is_mn_major);
    tensor_say(it, ";\n    wgmma.commit_group.sync.aligned;\n");
}

static void say_steps(struct tensor_case *it, const struct tensor_product *product)
{
    int registers = tensor_product_registers(product);

    tensor_say(it, "    wgmma.fence.sync.aligned;\n");
    for (int step = 0; step < product->steps; step++)
        say_multiply(it, product, step);
    for (int i = 0; i < product->accumulators; i++) {
        tensor_say(it, "    wgmma.wait_group.sync.aligned %d;\n", product->accumulators - 1 - i);
        say_registers(it, product, "st.global", "%d", i * registers, (i + 1) * registers, 0);
    }
}

void tensor_product_write(const struct tensor_product *product, struct tensor_case *it)
{
    tensor_say_begin(it, "    .reg .b64 %words, %a_at, %b_at;\n"
                         "    .reg .b32 %a<4>;\n    .reg .pred %yes, %no;\n");
    tensor_say(it,
               "    .reg .%s %%d<%d>;\n"
               "    mul.wide.u32 %%at, %%thread, 4;\n"
               "    add.u64 %%words, %%memory, %%at;\n"
               "    setp.eq.u32 %%no, %%rank, 1;\n"
               "    setp.ne.u32 %%yes, %%rank, 1;\n",
               strcmp(product->d->name, "f32") == 0 ? "f32" : "b32", d_registers(product));
    tensor_say_fill(it);
    tensor_say_meet(it);
    say_registers(it, product, "ld.global", "%d", 0, d_registers(product), 0);
    if (product->a_in_registers)
        say_registers(it, product, "ld.global", "%a", 0, A_REGISTERS, d_registers(product));
    else
        say_descriptor(it, "%a_at", &product->a);
    say_descriptor(it, "%b_at", &product->b);
    say_steps(it, product);
    tensor_say_end(it);
}
