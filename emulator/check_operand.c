/* check_operand.c: shared memory that the tensor cores read: operands of wgmma and tcgen05.mma, and
 * what tcgen05.cp copies.
 *
 * What nobody has written they may read: rows behind the end of a matrix are multiplied with the
 * others, and what comes of them is thrown away. So it is a mistake where part of a row is written,
 * for such a row adds what is there to sums of others; and where no row is, of neither CTA of a
 * pair, unless they look like the rest of a tile. Of a copy, whose rows may have any use, it is
 * where nothing is. */
#include "emulator/check_tcgen05.h"

#include "emulator/tcgen05_copy.h"

#include <stdio.h>

struct reader {
    struct emu_warp *warp;
    int lane;
    struct emu_access access;
    const struct emu_clock *clock;
    struct emu_cta *cta;
    bool is_told; /* that the CTA may not end; of its own warps it is known */
    bool has_unwritten, has_written;
    uint32_t first; /* byte of those that were looked at */
};

static void read_bytes(void *user, uint32_t offset, uint32_t bytes)
{
    struct reader *reader = user;

    if (!reader->is_told)
        emu_check_remote(reader->warp, reader->cta, offset, &reader->access);
    reader->is_told = true;
    reader->has_unwritten |= emu_check_access(reader->warp, reader->lane, &reader->access,
                                              reader->clock, reader->cta, offset, bytes);
}

/* ---- What nobody has written ---- */

static void report(const struct reader *reader, uint32_t offset, const char *what)
{
    const struct emu_found found = {
        .code = "uninitialised",
        .warp = reader->warp,
        .op = reader->access.op,
        .lane = reader->lane,
        .kind = reader->access.kind,
        .cta = reader->cta,
        .address = offset,
        .has_address = true,
        .what = what,
        .needed = "a write before it, or a wait for the copy that is to write; or a descriptor and "
                  "a shape that lead to what was written"};

    emu_check_found(&found);
}

/* How many elements of the row nobody has written, and the first of them. */
static int count_unwritten(const struct reader *reader, const struct emu_shared_operand *operand,
                           int row, uint32_t *first)
{
    const struct emu_matrix *matrix = &operand->matrix;
    int count = 0;

    for (int k = operand->depth - 1; k >= 0; k--) {
        uint32_t at = emu_matrix_offset(matrix, row, k);

        if (at >= matrix->bytes || emu_check_is_written(reader->cta, at))
            continue;
        *first = at;
        count++;
    }
    return count;
}

/* False where no row is written, and nothing is told. */
static bool look_at_rows(const struct reader *reader, const struct emu_shared_operand *operand)
{
    bool has_rows = false;
    uint32_t first = 0;
    char what[96];

    for (int row = 0; row < operand->rows; row++) {
        int count = count_unwritten(reader, operand, row, &first);

        has_rows |= count == 0;
        if (count == 0 || count == operand->depth)
            continue;
        snprintf(what, sizeof what, "nobody has written %d of the %d elements of %s %d of %c",
                 count, operand->depth, operand->name == 'A' ? "row" : "column", row,
                 operand->name);
        report(reader, first, what);
        return true;
    }
    return has_rows;
}

/* ---- The rest of a tile ---- */

/* Bytes from one group of rows to the next. */
static uint32_t step_of(const struct emu_matrix *matrix)
{
    const struct emu_descriptor *descriptor = &matrix->descriptor;

    return matrix->mn_major && descriptor->width > 1 ? descriptor->leading : descriptor->stride;
}

static bool is_within(const struct emu_shared_operand *operand, uint32_t offset)
{
    uint32_t least = UINT32_MAX, most = 0;

    for (int row = 0; row < operand->rows; row++)
        for (int k = 0; k < operand->depth; k++) {
            uint32_t at = emu_matrix_offset(&operand->matrix, row, k);

            least = at < least ? at : least;
            most = at > most ? at : most;
        }
    return offset >= least && offset <= most;
}

/* What the instruction wrote that brings the other operand is of that operand, in whichever stage,
 * if it is a copy; of what threads store nothing is known. Barriers are no rows. */
static bool is_row(const struct reader *reader, uint32_t offset,
                   const struct emu_shared_operand *other)
{
    struct emu_access writer, its;

    if (!emu_check_writer(reader->cta, offset, &writer) || !writer.op)
        return true;
    if (emu_op_is(writer.op, "mbarrier") || emu_op_is(writer.op, "tcgen05"))
        return false;
    if (!other)
        return true;
    return !is_within(other, offset) &&
           (!(writer.kind & EMU_BY_ASYNC) ||
            !emu_check_writer(reader->cta, emu_matrix_offset(&other->matrix, 0, 0), &its) ||
            writer.op != its.op);
}

/* Where several consumers share a tile and the matrix ends before it, the rows of the last may all
 * be behind its end. So they are unless what is written before them is of something else. */
static bool is_rest_of_tile(const struct reader *reader, const struct emu_shared_operand *operand,
                            const struct emu_shared_operand *other)
{
    struct emu_matrix before = operand->matrix;
    uint32_t step = step_of(&before);

    while (step > 0 && before.descriptor.start >= step) {
        uint32_t at;

        before.descriptor.start -= step;
        at = emu_matrix_offset(&before, 0, 0);
        if (at < before.bytes && emu_check_is_written(reader->cta, at))
            return is_row(reader, at, other);
    }
    return false;
}

/* ---- Operands ---- */

typedef struct emu_shared_operand operands_of_cta[EMU_SHARED_OPERANDS];

/* Of one CTA, or of each of a pair: rows of either are rows. */
static void read_operand(struct reader *readers, const operands_of_cta *operands, int ctas, int i,
                         int count)
{
    bool has_unwritten = false, has_rows = false;
    uint32_t first = 0;
    char what[96];

    for (int cta = 0; cta < ctas; cta++) {
        readers[cta].has_unwritten = false;
        emu_shared_operand_tell(&operands[cta][i], read_bytes, &readers[cta]);
        has_unwritten |= readers[cta].has_unwritten;
        has_rows |= !readers[cta].has_unwritten || look_at_rows(&readers[cta], &operands[cta][i]);
    }
    if (!has_unwritten || has_rows ||
        is_rest_of_tile(&readers[0], &operands[0][i], count > 1 ? &operands[0][1 - i] : NULL))
        return;
    count_unwritten(&readers[0], &operands[0][i], 0, &first);
    snprintf(what, sizeof what, "nobody has written any of %c", operands[0][i].name);
    report(&readers[0], first, what);
}

static void look_for_written(void *user, uint32_t offset, uint32_t bytes)
{
    struct reader *reader = user;

    for (uint32_t i = offset; i < offset + bytes && !reader->has_written; i++)
        reader->has_written = emu_check_is_written(reader->cta, i);
    reader->first = offset < reader->first ? offset : reader->first;
}

/* ---- Who reads ---- */

void emu_check_wgmma_reads(struct emu_warp *warp, const struct emu_op *op, uint32_t item,
                           const struct emu_snapshot *known, uint64_t a_descriptor,
                           uint64_t b_descriptor)
{
    struct emu_agent agent = warp->cta->check->tensor[warp->index / 4];
    struct reader reader = {
        .warp = warp,
        .lane = -1,
        .access = emu_access_of(warp, op, agent, item, EMU_READS | EMU_BY_ASYNC | EMU_OF_SHARED),
        .clock = &known->clock,
        .cta = warp->cta,
        .is_told = true};
    operands_of_cta operands;
    int count = emu_wgmma_in_shared(&op->tensor.wgmma, a_descriptor, b_descriptor,
                                    warp->cta->shared_bytes, operands);

    for (int i = 0; i < count; i++)
        read_operand(&reader, (const operands_of_cta *)&operands, 1, i, count);
}

/* What is copied, scale factors for one, may be the rest of a tile that is filled as far as the
 * matrix goes, too. Its parts stand one behind the other: then a row of it ends where this one
 * begins. */
static void read_copied(struct reader *reader, const struct emu_piped *item)
{
    const struct emu_tcgen05 *form = &item->op->tensor.tcgen05;
    uint32_t bytes = reader->cta->shared_bytes;

    emu_tmem_copy_reads(form, &item->matrix, bytes, read_bytes, reader);
    if (!reader->has_unwritten)
        return;
    reader->first = bytes;
    emu_tmem_copy_reads(form, &item->matrix, bytes, look_for_written, reader);
    if (!reader->has_written &&
        !(reader->first > 0 && emu_check_is_written(reader->cta, reader->first - 1) &&
          is_row(reader, reader->first - 1, NULL)))
        report(reader, reader->first, "nobody has written any of what is copied");
}

void emu_check_tcgen05_reads(const struct emu_piped *item)
{
    enum emu_tcgen05_what what = item->op->tensor.tcgen05.what;
    struct reader readers[EMU_PAIR];
    operands_of_cta operands[EMU_PAIR];
    int count = 0;

    if (!item->check || !item->check->known || what == EMU_TCGEN05_SHIFT)
        return;
    for (int i = 0; i < item->cta_count; i++) {
        struct emu_cta *cta = item->ctas[i];

        readers[i] = (struct reader){
            .warp = item->warp,
            .lane = item->lane,
            .access = emu_access_of(item->warp, item->op, item->check->agent, item->check->time,
                                    EMU_READS | EMU_BY_ASYNC | EMU_OF_SHARED),
            .clock = &item->check->known->clock,
            .cta = cta};
        if (what == EMU_TCGEN05_CP)
            read_copied(&readers[i], item);
        else
            count = emu_product_in_shared(&item->product, cta->shared_bytes, operands[i]);
    }
    for (int i = 0; i < count; i++)
        read_operand(readers, (const operands_of_cta *)operands, item->cta_count, i, count);
}
