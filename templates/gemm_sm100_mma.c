/* gemm_sm100_mma.c: the products of a stage, by tcgen05.mma: one thread has the tensor cores of its
 * CTA, or of both CTAs of a pair, read A and B from shared memory and add up in tensor memory. */
#include "templates/gemm_sm100_kernel.h"

/* Counts of 16 bytes, as in the start of a descriptor. */
enum { UNIT = 16 };

struct lt_tcgen05_operands lt_gemm_sm100_operands(struct lt_builder *b,
                                                  const struct lt_gemm_sm100 *s, lt_value consumer)
{
    const struct lathe_plan *plan = s->g.plan;
    int rows = plan->tile[0] / plan->consumers;
    struct lt_tcgen05_operands o = {.a_behind = {0}};

    lt_comment(
        b, "descriptors: K-major, 128-byte swizzle, 8 rows every 1024 bytes; start in 18 bits,");
    lt_comment(b, "in units of 16 bytes: what lies behind is reached by adding to them");
    lt_value start = lt_op(b, "ring_start", "and.b32", s->g.ring_start, lt_hex(0x3ffff));
    start = lt_op(b, "ring_start", "shr.u32", start, lt_imm(4));
    o.ring = lt_op(b, "ring_desc", "cvt.u64.u32", start);
    o.ring =
        lt_op(b, "ring_desc", "or.b64", o.ring, lt_hex(lt_tcgen05_descriptor(LT_SWIZZLE_128B, 0)));
    if (consumer.kind != LT_NOTHING) {
        lt_note(b, "this consumer's rows of A");
        o.a_behind = lt_op(b, "a_behind", "mul.wide.u32", consumer,
                           lt_imm(s->cta_rows * LT_SPAN_BYTES / UNIT));
    }
    lt_note(b, "%d x %d of %s, %s sums, both K-major", rows, plan->tile[1],
            lathe_type_name(plan->type), plan->type == LATHE_INT8 ? "s32" : "f32");
    o.instruction = lt_op(b, "instruction", "mov.b32",
                          lt_hex(lt_tcgen05_instruction(plan->type, rows, plan->tile[1])));
    return o;
}

/* The descriptor of the stage's first bytes. */
static lt_value of_stage(struct lt_builder *b, const struct lt_gemm_sm100 *s, lt_value ring,
                         lt_value stage)
{
    int step = s->g.tiles.bytes / UNIT;

    if (stage.kind == LT_INTEGER)
        return lt_plus(b, "stage_desc", ring, stage.number * step);
    return lt_op(b, "stage_desc", "mad.wide.u32", stage, lt_imm(step), ring);
}

void lt_gemm_sm100_multiply(struct lt_builder *b, const struct lt_gemm_sm100 *s,
                            const struct lt_tcgen05_operands *o, const struct lt_cursor *stage,
                            lt_value d, lt_value later)
{
    const struct lathe_plan *plan = s->g.plan;
    lt_value b_first = of_stage(b, s, o->ring, stage->stage), a_first = b_first;

    if (o->a_behind.kind != LT_NOTHING)
        a_first = lt_op(b, "a_first", "add.s64", a_first, o->a_behind);
    lt_comment(b, "every %d bytes of k; B lies behind A", LT_TCGEN05_K_BYTES);
    for (int at = 0; at < s->g.spans * LT_SPAN_BYTES; at += LT_TCGEN05_K_BYTES) {
        int span = at / LT_SPAN_BYTES, inside = at % LT_SPAN_BYTES;
        int a_bytes = span * plan->consumers * s->cta_rows * LT_SPAN_BYTES + inside;
        int b_bytes = lt_gemm_a_bytes(plan) + span * s->cta_columns * LT_SPAN_BYTES + inside;
        lt_value a_now = lt_plus(b, "a_desc", a_first, a_bytes / UNIT);
        lt_value b_now = lt_plus(b, "b_desc", b_first, b_bytes / UNIT);

        lt_tcgen05_mma(b, plan->cta_group, plan->type, d, a_now, b_now, o->instruction,
                       at == 0 ? later : lt_imm(1));
    }
}

lt_value lt_gemm_sm100_is_later(struct lt_builder *b, lt_value k_block)
{
    lt_note(b, "false in a tile's first step: D = A*B");
    return lt_op(b, "later", "setp.ne.u32", k_block, lt_imm(0));
}
