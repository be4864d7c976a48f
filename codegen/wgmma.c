#include "codegen/wgmma.h"

#include <stdio.h>

int lt_wgmma_k(enum lathe_type type)
{
    int bytes = lathe_type_bytes(type);

    return bytes > 0 ? 32 / bytes : 0;
}

void lt_wgmma_fence(struct lt_builder *b)
{
    lt_require(b, LT_HAS_WGMMA, "wgmma");
    lt_raw(b, "wgmma.fence.sync.aligned;");
}

void lt_wgmma(struct lt_builder *b, int n, enum lathe_type type, const struct lt_vector *acc,
              int first, lt_value a_descriptor, lt_value b_descriptor, lt_value accumulate)
{
    char opcode[96];
    const char *word = lathe_type_name(type);
    int held = acc->base.type == LT_F32 ? 1 : 2; /* in a register */

    lt_require(b, LT_HAS_WGMMA, "wgmma");
    if (n < 8 || n > 256 || n % 8 != 0)
        lt_mistake(b, "wgmma takes n from 8 to 256 in steps of 8, not %d", n);
    if (type != LATHE_F16 && type != LATHE_BF16)
        lt_mistake(b, "wgmma with operands of %s is not written yet", word);
    if (held == 2 && type != LATHE_F16)
        lt_mistake(b, "wgmma adds up in f16 what is of f16, not of %s", word);
    snprintf(opcode, sizeof opcode, "wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s", n,
             lt_wgmma_k(type), held == 1 ? "f32" : "f16", word, word);

    lt_inst_open(b, opcode);
    lt_inst_elements(b, acc, first / held, n / 2 / held);
    lt_inst_close(b, "%0, %1, %2, 1, 1, 0, 0;", a_descriptor, b_descriptor, accumulate);
}

void lt_wgmma_commit(struct lt_builder *b)
{
    lt_require(b, LT_HAS_WGMMA, "wgmma");
    lt_raw(b, "wgmma.commit_group.sync.aligned;");
}

void lt_wgmma_wait(struct lt_builder *b, int pending)
{
    lt_require(b, LT_HAS_WGMMA, "wgmma");
    lt_inst(b, "wgmma.wait_group.sync.aligned %0;", lt_imm(pending));
}
