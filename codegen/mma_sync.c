#include "codegen/mma_sync.h"

void lt_mma_sync(struct lt_builder *b, enum lathe_type type, const struct lt_vector *acc, int first,
                 const lt_value a[4], lt_value b_left, lt_value b_right)
{
    const char *form =
        type == LATHE_BF16
            ? "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
              "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
              "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};";

    if (type != LATHE_F16 && type != LATHE_BF16)
        lt_mistake(b, "mma.sync with operands of %s is not written yet", lathe_type_name(type));
    lt_inst(b, form, lt_element(acc, first), lt_element(acc, first + 1), lt_element(acc, first + 2),
            lt_element(acc, first + 3), a[0], a[1], a[2], a[3], b_left, b_right);
}
