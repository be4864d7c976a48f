/* gemm_sm90_wgmma.c: the products of one stage, by a warpgroup, from shared memory. */
#include "codegen/descriptor.h"
#include "templates/gemm_sm90_parts.h"

struct lt_wgmma_operands lt_gemm_wgmma_operands(struct lt_builder *b, const struct lt_gemm *g,
                                                lt_value consumer)
{
    struct lt_smem_layout layout = lt_smem_layout_k_major(LT_SWIZZLE_128B);
    lt_value constant = lt_hex(lt_wgmma_descriptor(&layout, 0));
    struct lt_wgmma_operands o;

    lt_comment(b, "matrix descriptors: K-major, 128-byte swizzle, 8 rows every 1024 bytes;");
    lt_comment(b, "all in units of 16 bytes: start, 1 << 16 (not used), 64 << 32, swizzle 1 << 62");
    lt_note(b, "this warpgroup's rows of A");
    lt_value a = lt_op(b, "a_start", "mad.lo.u32", consumer,
                       lt_imm(g->blocks * LT_WGMMA_ROWS * LT_SPAN_BYTES), g->ring_start);
    lt_value b_start =
        lt_op(b, "b_start", "add.u32", g->ring_start, lt_imm(lt_gemm_a_bytes(g->plan)));
    lt_note(b, "18 bits: a cluster address has the CTA's rank above");
    a = lt_op(b, "a_start", "and.b32", a, lt_hex(0x3ffff));
    b_start = lt_op(b, "b_start", "and.b32", b_start, lt_hex(0x3ffff));
    lt_note(b, "in units of 16 bytes");
    a = lt_op(b, "a_start", "shr.u32", a, lt_imm(4));
    b_start = lt_op(b, "b_start", "shr.u32", b_start, lt_imm(4));
    o.a_first = lt_op(b, "a_first", "cvt.u64.u32", a);
    o.b_first = lt_op(b, "b_first", "cvt.u64.u32", b_start);
    o.a_first = lt_op(b, "a_first", "or.b64", o.a_first, constant);
    o.b_first = lt_op(b, "b_first", "or.b64", o.b_first, constant);
    return o;
}

/* The descriptor of what lies `bytes` behind another. */
static lt_value advanced(struct lt_builder *b, const char *name, lt_value descriptor, int bytes)
{
    return lt_plus(b, name, descriptor, (int64_t)lt_wgmma_descriptor_step((uint32_t)bytes));
}

/* That of the stage, of which `first` is stage 0's. */
static lt_value of_stage(struct lt_builder *b, const struct lt_gemm *g, const char *name,
                         lt_value first, lt_value stage)
{
    lt_value step = lt_imm((int64_t)lt_wgmma_descriptor_step((uint32_t)g->tiles.bytes));

    if (stage.kind == LT_INTEGER)
        return lt_plus(b, name, first, stage.number * step.number);
    return lt_op(b, name, "mad.wide.u32", stage, step, first);
}

void lt_gemm_wgmma(struct lt_builder *b, const struct lt_gemm *g, const struct lt_wgmma_operands *o,
                   const struct lt_cursor *stage, const struct lt_vector *acc, lt_value later)
{
    const struct lathe_plan *plan = g->plan;
    int mma_bytes = lt_wgmma_k(plan->type) * lathe_type_bytes(plan->type);
    lt_value a = of_stage(b, g, "a_stage", o->a_first, stage->stage);
    lt_value b_stage = of_stage(b, g, "b_stage", o->b_first, stage->stage);

    lt_comment(b, "every %d columns of k: %d bytes, %d in a descriptor", lt_wgmma_k(plan->type),
               mma_bytes, mma_bytes / 16);
    lt_comment(b, "behind the descriptors: add to D or not; A and B times 1; both K-major");
    lt_wgmma_fence(b);
    for (int at = 0; at < g->spans * LT_SPAN_BYTES; at += mma_bytes) {
        int span = at / LT_SPAN_BYTES, inside = at % LT_SPAN_BYTES;
        lt_value b_now =
            advanced(b, "b_desc", b_stage, span * plan->tile[1] * LT_SPAN_BYTES + inside);

        for (int block = 0; block < g->blocks; block++) {
            int a_row = span * plan->tile[0] + block * LT_WGMMA_ROWS;
            lt_value a_now = advanced(b, "a_desc", a, a_row * LT_SPAN_BYTES + inside);

            lt_wgmma(b, plan->tile[1], plan->type, acc, block * plan->tile[1] / 2, a_now, b_now,
                     at == 0 ? later : lt_imm(1));
        }
    }
    lt_wgmma_commit(b);
}
