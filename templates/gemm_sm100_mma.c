/* gemm_sm100_mma.c: the products of a stage, by tcgen05.mma: one thread has the tensor cores of its
 * CTA, or of both CTAs of a pair, read A and B from shared memory and add up in tensor memory. */
#include "templates/gemm_sm100_kernel.h"

/* The descriptor of what begins at that address. */
static lt_value descriptor(struct lt_builder *b, const char *start, const char *name, lt_value at)
{
    lt_value address = lt_op(b, start, "and.b32", at, lt_hex(0x3ffff));
    lt_value units = lt_op(b, start, "shr.u32", address, lt_imm(4));
    lt_value wide = lt_op(b, name, "cvt.u64.u32", units);

    return lt_op(b, name, "or.b64", wide, lt_hex(lt_tcgen05_descriptor(LT_SWIZZLE_128B, 0)));
}

struct lt_tcgen05_operands lt_gemm_sm100_operands(struct lt_builder *b,
                                                  const struct lt_gemm_sm100 *s, lt_value consumer)
{
    const struct lathe_plan *plan = s->g.plan;
    int rows = plan->tile[0] / plan->consumers;
    lt_value a = s->g.ring_start;
    struct lt_tcgen05_operands o;

    if (consumer.kind != LT_NOTHING)
        a = lt_op(b, "a_start", "mad.lo.u32", consumer, lt_imm(s->cta_rows * LT_SPAN_BYTES), a);
    lt_comment(
        b, "descriptors: K-major, 128-byte swizzle, 8 rows every 1024 bytes; start in 18 bits,");
    lt_comment(b, "in units of 16 bytes");
    o.a_first = descriptor(b, "a_start", "a_first", a);
    a = lt_op(b, "b_start", "add.u32", s->g.ring_start, lt_imm(lt_gemm_a_bytes(plan)));
    o.b_first = descriptor(b, "b_start", "b_first", a);
    lt_note(b, "%d x %d of %s, %s sums, both K-major", rows, plan->tile[1],
            lathe_type_name(plan->type), plan->type == LATHE_INT8 ? "s32" : "f32");
    o.instruction = lt_op(b, "instruction", "mov.b32",
                          lt_hex(lt_tcgen05_instruction(plan->type, rows, plan->tile[1])));
    return o;
}

static lt_value advanced(struct lt_builder *b, const char *name, lt_value first, int bytes)
{
    return lt_plus(b, name, first, bytes / 16);
}

static lt_value of_stage(struct lt_builder *b, const struct lt_gemm_sm100 *s, const char *name,
                         lt_value first, lt_value stage)
{
    int step = s->g.tiles.bytes / 16;

    if (stage.kind == LT_INTEGER)
        return lt_plus(b, name, first, stage.number * step);
    return lt_op(b, name, "mad.wide.u32", stage, lt_imm(step), first);
}

void lt_gemm_sm100_multiply(struct lt_builder *b, const struct lt_gemm_sm100 *s,
                            const struct lt_tcgen05_operands *o, const struct lt_cursor *stage,
                            lt_value d, lt_value later)
{
    const struct lathe_plan *plan = s->g.plan;
    lt_value a_stage = of_stage(b, s, "a_stage", o->a_first, stage->stage);
    lt_value b_stage = of_stage(b, s, "b_stage", o->b_first, stage->stage);

    lt_comment(b, "every %d bytes of k", LT_TCGEN05_K_BYTES);
    for (int at = 0; at < s->g.spans * LT_SPAN_BYTES; at += LT_TCGEN05_K_BYTES) {
        int span = at / LT_SPAN_BYTES, inside = at % LT_SPAN_BYTES;
        int a_bytes = span * plan->consumers * s->cta_rows * LT_SPAN_BYTES + inside;
        int b_bytes = span * s->cta_columns * LT_SPAN_BYTES + inside;
        lt_value a_now = advanced(b, "a_desc", a_stage, a_bytes);
        lt_value b_now = advanced(b, "b_desc", b_stage, b_bytes);

        lt_tcgen05_mma(b, plan->cta_group, plan->type, d, a_now, b_now, o->instruction,
                       at == 0 ? later : lt_imm(1));
    }
}

lt_value lt_gemm_sm100_is_later(struct lt_builder *b, lt_value k_block)
{
    lt_note(b, "false in a tile's first step: D = A*B");
    return lt_op(b, "later", "setp.ne.u32", k_block, lt_imm(0));
}
