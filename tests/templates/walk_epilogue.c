#include "tests/templates/walk_model.h"

#include "tests/support/cmocka_all.h"

#include <string.h>

static uint16_t half_of(enum lathe_type type, float value)
{
    uint32_t bits = (uint32_t)ptx_float_bits(value);
    uint32_t exponent = bits >> 23 & 0xff;

    assert_int_equal(bits & (type == LATHE_F16 ? 0x1fff : 0xffff), 0); /* it is exact */
    if (type == LATHE_BF16)
        return (uint16_t)(bits >> 16);
    if (value == 0)
        return 0;
    assert_in_range(exponent, 113, 142);
    return (uint16_t)(bits >> 31 << 15 | (exponent - 112) << 10 | (bits >> 13 & 0x3ff));
}

static float float_of_f16(uint16_t half)
{
    uint32_t exponent = half >> 10 & 0x1f;

    if ((half & 0x7fff) == 0)
        return 0;
    assert_in_range(exponent, 1, 30);
    return ptx_float((uint32_t)(half >> 15) << 31 | (exponent + 112) << 23 |
                     (uint32_t)(half & 0x3ff) << 13);
}

static float element_at(const struct group *group, enum lathe_type type, uint32_t offset)
{
    uint32_t bits = 0;

    memcpy(&bits, group->smem + offset, (size_t)lathe_type_bytes(type));
    if (type == LATHE_F32)
        return ptx_float(bits);
    return type == LATHE_F16 ? float_of_f16((uint16_t)bits) : ptx_float(bits << 16);
}

static int buffer_at(const struct view *view, uint32_t offset)
{
    const struct lathe_plan *plan = view->walk->plan;
    uint32_t start = (uint32_t)tenant_of(plan, "epilogue staging")->offset +
                     (uint32_t)(view->group->consumer * plan->epilogue[2] * 8192);

    assert_true(offset >= start && offset < start + (uint32_t)plan->epilogue[2] * 8192);
    return (int)(offset - start) / 8192;
}

/* Nobody writes into a buffer that a store may still be reading. */
static void expect_free(const struct view *view, uint32_t offset)
{
    const struct group *group = view->group;
    int buffer = buffer_at(view, offset);

    for (int i = group->groups_read; i < group->groups; i++)
        assert_int_not_equal(group->buffer_of_group[i % 256], buffer);
}

/* Whether another thread wrote there since the last barrier: the one who runs first would win. */
static bool is_contested(const struct view *view, uint32_t offset, size_t count)
{
    const struct group *group = view->group;

    for (uint32_t at = offset / 2; at < (offset + count) / 2; at++)
        if (group->writes[at].epoch == group->epoch && group->writes[at].thread != view->thread)
            return true;
    return false;
}

static void store_bytes(struct view *view, uint32_t offset, const void *bytes, size_t count)
{
    struct group *group = view->group;

    expect_free(view, offset);
    assert_false(is_contested(view, offset, count));
    for (uint32_t at = offset / 2; at < (offset + count) / 2; at++)
        group->writes[at] = (struct touch){group->epoch, view->thread};
    memcpy(group->smem + offset, bytes, count);
    view->unfenced_writes++;
}

/* What is contested reads as nonsense, which does no harm as long as nothing is made of it. */
static void load_bytes(const struct view *view, uint32_t offset, void *bytes, size_t count)
{
    buffer_at(view, offset);
    if (is_contested(view, offset, count))
        memset(bytes, 0x7f, count);
    else
        memcpy(bytes, view->group->smem + offset, count);
}

uint32_t walk_c_barriers(const struct view *view)
{
    const struct lathe_plan *plan = view->walk->plan;

    return (uint32_t)(16 * plan->stages + view->group->consumer * plan->epilogue[2] * 8);
}

/* TMA brings a box of C, zeros outside of the matrix, to a buffer that is free. */
static void load_c(struct view *view, struct ptx_thread *thread, const struct ptx_insn *insn)
{
    struct group *group = view->group;
    const struct walk *walk = view->walk;
    uint32_t smem = walk_offset_of(ptx_read(thread, insn, 0, 0));
    const struct lathe_tensor_map *map = walk_map_at(walk, ptx_read(thread, insn, 1, 0));
    int64_t column = (int32_t)ptx_read(thread, insn, 1, 1);
    int64_t row = (int32_t)ptx_read(thread, insn, 1, 2);
    uint32_t barrier = (walk_offset_of(ptx_read(thread, insn, 2, 0)) - walk_c_barriers(view)) / 8;
    int bytes = lathe_type_bytes(map->type);

    assert_int_equal(view->thread % WARPGROUP, 0);
    assert_int_equal(map->operand, LATHE_C);
    assert_int_equal(barrier, buffer_at(view, smem));
    assert_int_equal(view->c_bytes, map->box[0] * map->box[1] * bytes);
    assert_true(walk->beta != 0 || column >= walk->n); /* nothing of C is read */
    expect_free(view, smem);
    for (int r = 0; r < map->box[1]; r++)
        for (int c = 0; c < map->box[0]; c++) {
            uint32_t offset =
                walk_swizzled(SMEM_START + smem + (uint32_t)(r * 128 + c * bytes)) - SMEM_START;
            float value = walk_c_value(walk, row + r, column + c);
            uint32_t bits = map->type == LATHE_F32 ? (uint32_t)ptx_float_bits(value)
                                                   : half_of(map->type, value);

            memcpy(group->smem + offset, &bits, (size_t)bytes);
        }
    group->c_phases[barrier]++;
}

static void write_d(struct walk *walk, int64_t row, int64_t column, float value)
{
    int64_t at = row * walk->n + column;

    assert_true(row >= 0 && row < walk->m && column >= 0 && column < walk->n);
    assert_true(walk->written[at] < 200);
    walk->written[at]++;
    walk->d[at] = value;
}

/* Columns that TMA writes: the map's inner size, up to the end of a piece of 16 bytes. */
static int64_t columns_by_tma(const struct walk *walk, const struct lathe_tensor_map *map)
{
    int piece = 16 / lathe_type_bytes(map->type);
    int64_t inner = walk->n / map->inner_multiple * map->inner_multiple;

    return ((inner > 0 ? inner : 1) + piece - 1) / piece * piece;
}

/* TMA takes a box to D and leaves out what lies outside of it. */
static void store_d(struct view *view, struct ptx_thread *thread, const struct ptx_insn *insn)
{
    struct group *group = view->group;
    struct walk *walk = view->walk;
    const struct lathe_tensor_map *map = walk_map_at(walk, ptx_read(thread, insn, 0, 0));
    int64_t column = (int32_t)ptx_read(thread, insn, 0, 1);
    int64_t row = (int32_t)ptx_read(thread, insn, 0, 2);
    uint32_t smem = walk_offset_of(ptx_read(thread, insn, 1, 0));

    assert_int_equal(view->thread % WARPGROUP, 0);
    assert_int_equal(map->operand, LATHE_D);
    assert_int_equal(smem % 1024, 0);
    for (int t = 0; t < WARPGROUP; t++)
        assert_int_equal(group->views[t].unfenced_writes, 0); /* TMA sees what all threads wrote */
    assert_true(row >= 0 && column >= 0);                     /* negative coordinates trap */
    group->buffer_of_group[group->groups % 256] = buffer_at(view, smem);
    group->open_stores++;
    for (int r = 0; r < map->box[1] && row + r < walk->m; r++)
        for (int c = 0; c < map->box[0] && column + c < columns_by_tma(walk, map); c++) {
            uint32_t linear =
                SMEM_START + smem + (uint32_t)(r * 128 + c * lathe_type_bytes(map->type));

            write_d(walk, row + r, column + c,
                    element_at(group, map->type, walk_swizzled(linear) - SMEM_START));
        }
}

/* Two halves or floats at once, by one thread. */
static bool convert(struct view *view, struct ptx_thread *thread, const struct ptx_insn *insn)
{
    enum lathe_type type = view->walk->plan->out;

    if (ptx_is(insn, "cvt.rn.f16x2.f32") || ptx_is(insn, "cvt.rn.bf16x2.f32")) {
        assert_int_equal(type, ptx_is(insn, "cvt.rn.f16x2") ? LATHE_F16 : LATHE_BF16);
        ptx_write(thread, insn, 0, 0,
                  (uint64_t)half_of(type, ptx_float(ptx_read(thread, insn, 1, 0))) << 16 |
                      half_of(type, ptx_float(ptx_read(thread, insn, 2, 0))));
    } else if (ptx_is(insn, "cvt.f32.f16")) {
        ptx_write(thread, insn, 0, 0,
                  ptx_float_bits(float_of_f16((uint16_t)ptx_read(thread, insn, 1, 0))));
    } else if (ptx_is(insn, "mov.b32")) { /* {low, high} of a register */
        ptx_write(thread, insn, 0, 0, ptx_read(thread, insn, 1, 0) & 0xffff);
        ptx_write(thread, insn, 0, 1, ptx_read(thread, insn, 1, 0) >> 16 & 0xffff);
    } else {
        return false;
    }
    return true;
}

/* Stores to D by threads: what TMA cannot write. */
static void store_element(struct view *view, struct ptx_thread *thread, const struct ptx_insn *insn)
{
    struct walk *walk = view->walk;
    enum lathe_type type = walk->plan->out;
    uint64_t offset = ptx_read(thread, insn, 0, 0) - D_BASE;
    uint64_t bits = ptx_read(thread, insn, 1, 0);
    int64_t ldd = walk->n + LDD_MORE;
    int bytes = lathe_type_bytes(type);
    int64_t element = (int64_t)offset / bytes;

    assert_true(ptx_is(insn, bytes == 4 ? "st.b32" : "st.b16") && offset % (uint64_t)bytes == 0);
    write_d(walk, element / ldd, element % ldd,
            type == LATHE_F16    ? float_of_f16((uint16_t)bits)
            : type == LATHE_BF16 ? ptx_float(bits << 16)
                                 : ptx_float(bits));
}

/* "ld.shared.v4.b32 {...}, [...]", "st.shared.v2.f32 [...], {...}": one to four words a thread. */
static bool move_words(struct view *view, struct ptx_thread *thread, const struct ptx_insn *insn)
{
    bool load = ptx_is(insn, "ld.shared.");
    int values_at = load ? 0 : 1, address_at = load ? 1 : 0;
    uint32_t words[4];

    if (!load && !ptx_is(insn, "st.shared."))
        return false;

    int count = insn->operand[values_at].count;
    uint32_t offset = walk_offset_of(ptx_read(thread, insn, address_at, 0));

    assert_true(strstr(insn->opcode, count == 4   ? ".v4."
                                     : count == 2 ? ".v2."
                                                  : ".shared.") != NULL);
    assert_true(strstr(insn->opcode, "32") != NULL);
    assert_int_equal(offset % (4 * (uint32_t)count), 0);
    if (load)
        load_bytes(view, offset, words, 4 * (size_t)count);
    for (int i = 0; i < count; i++)
        if (load)
            ptx_write(thread, insn, 0, i, words[i]);
        else
            words[i] = (uint32_t)ptx_read(thread, insn, 1, i);
    if (!load)
        store_bytes(view, offset, words, 4 * (size_t)count);
    return true;
}

static bool take_bulk(struct view *view, struct ptx_thread *thread, const struct ptx_insn *insn)
{
    struct group *group = view->group;

    if (ptx_is(insn, "cp.async.bulk.tensor.2d.shared::cluster")) {
        load_c(view, thread, insn);
    } else if (ptx_is(insn, "cp.async.bulk.tensor.2d.global")) {
        store_d(view, thread, insn);
    } else if (ptx_is(insn, "cp.async.bulk.commit_group")) {
        assert_in_range(group->open_stores, 0, 1);
        if (group->open_stores == 0)
            group->buffer_of_group[group->groups % 256] = -1;
        group->open_stores = 0;
        group->groups++;
    } else if (ptx_is(insn, "cp.async.bulk.wait_group.read")) {
        int left = (int)ptx_read(thread, insn, 0, 0);

        assert_int_equal(view->thread % WARPGROUP, 0);
        if (group->groups - group->groups_read > left)
            group->groups_read = group->groups - left;
    } else {
        return false;
    }
    return true;
}

/* Matrix i has its 8 rows at the addresses of lanes 8i to 8i + 7; a lane holds of each row l/4 the
 * columns 2(l%4) and the next: PTX ISA "stmatrix", "ldmatrix". */
void walk_move_matrices(struct view *views, struct ptx_thread **threads,
                        const struct ptx_insn *insn)
{
    bool store = ptx_is(insn, "stmatrix.");
    int address_at = store ? 0 : 1, values_at = store ? 1 : 0;

    for (int t = 0; t < WARPGROUP; t++)
        for (int i = 0; i < insn->operand[values_at].count; i++) {
            int row_lane = t / 32 * 32 + 8 * i + t % 32 / 4;
            uint64_t row = ptx_read(threads[row_lane], insn, address_at, 0);
            uint32_t offset = walk_offset_of(row) + (uint32_t)(4 * (t % 4)), bits;

            assert_int_equal(row % 16, 0);
            if (store) {
                bits = (uint32_t)ptx_read(threads[t], insn, values_at, i);
                store_bytes(&views[t], offset, &bits, sizeof bits);
            } else {
                load_bytes(&views[t], offset, &bits, sizeof bits);
                ptx_write(threads[t], insn, values_at, i, bits);
            }
        }
}

bool walk_take_epilogue(struct view *view, struct ptx_thread *thread, const struct ptx_insn *insn)
{
    if (ptx_is(insn, "st.b"))
        store_element(view, thread, insn);
    else if (ptx_is(insn, "fence.proxy.async.shared::cta"))
        view->unfenced_writes = 0;
    else
        return take_bulk(view, thread, insn) || convert(view, thread, insn) ||
               move_words(view, thread, insn);
    return true;
}
