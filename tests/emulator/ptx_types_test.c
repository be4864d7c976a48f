/* Types and special registers: the tables of PTX ISA "Fundamental Types", "Alternate
 * Floating-Point Data Formats" and "Special Registers", by hand once more. */
#include "emulator/ptx.h"
#include "tests/support/cmocka_all.h"

#include <string.h>

static const struct {
    const char *name;
    int bytes;
} sizes[] = {
    {"pred", 0},       {"b8", 1},     {"u8", 1},     {"s8", 1},     {"b16", 2},    {"u16", 2},
    {"s16", 2},        {"f16", 2},    {"bf16", 2},   {"b32", 4},    {"u32", 4},    {"s32", 4},
    {"f32", 4},        {"tf32", 4},   {"f16x2", 4},  {"bf16x2", 4}, {"u16x2", 4},  {"s16x2", 4},
    {"b64", 8},        {"u64", 8},    {"s64", 8},    {"f64", 8},    {"f32x2", 8},  {"b128", 16},
    {"e4m3", 1},       {"e5m2", 1},   {"e4m3x2", 2}, {"e5m2x2", 2}, {"e4m3x4", 4}, {"e5m2x4", 4},
    {"e2m3x2", 2},     {"e3m2x2", 2}, {"e2m1x2", 1}, {"e2m3x4", 4}, {"e3m2x4", 4}, {"e2m1x4", 2},
    {"ue8m0x2", 2},    {"u4", 0},     {"s4", 0},     {"b1", 0},     {"texref", 8}, {"surfref", 8},
    {"samplerref", 8}, {"e2m3", 0},   {"e3m2", 0},   {"e2m1", 0},
};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static void every_type_has_its_name_and_its_size(void **state)
{
    (void)state;
    bool seen[EMU_SURFREF + 1] = {false};

    for (int i = 0; i < SIZES; i++) {
        enum emu_type type = emu_type_of(sizes[i].name, strlen(sizes[i].name));

        assert_int_not_equal(type, EMU_TYPE_NONE);
        assert_false(seen[type]);
        seen[type] = true;
        assert_string_equal(emu_type_name(type), sizes[i].name);
        assert_int_equal(emu_type_bytes(type), sizes[i].bytes);
    }
    assert_int_equal(SIZES, EMU_SURFREF); /* all of them, but for "none" */
}

static void what_is_no_type_is_none(void **state)
{
    (void)state;
    const char *const words[] = {"", "u", "u320", "global", "U32", "f8", "e4m3x", "no type", "v2"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        assert_int_equal(emu_type_of(words[i], strlen(words[i])), EMU_TYPE_NONE);
    assert_int_equal(emu_type_of("u32", 2), EMU_TYPE_NONE);
    assert_int_equal(emu_type_of("u32x", 3), EMU_U32);
    assert_non_null(emu_type_name((enum emu_type)1000));
    assert_int_equal(emu_type_bytes((enum emu_type)1000), 0);
}

static const struct {
    const char *name;
    enum emu_special special;
    int number;
    char kind; /* v: of four parts; 8: 64 bits; 4: 32; p: predicate */
} specials[] = {
    {"%tid", EMU_TID, 0, 'v'},
    {"%ntid", EMU_NTID, 0, 'v'},
    {"%laneid", EMU_LANEID, 0, '4'},
    {"%warpid", EMU_WARPID, 0, '4'},
    {"%nwarpid", EMU_NWARPID, 0, '4'},
    {"%ctaid", EMU_CTAID, 0, 'v'},
    {"%nctaid", EMU_NCTAID, 0, 'v'},
    {"%smid", EMU_SMID, 0, '4'},
    {"%nsmid", EMU_NSMID, 0, '4'},
    {"%gridid", EMU_GRIDID, 0, '8'},
    {"%is_explicit_cluster", EMU_IS_EXPLICIT_CLUSTER, 0, 'p'},
    {"%clusterid", EMU_CLUSTERID, 0, 'v'},
    {"%nclusterid", EMU_NCLUSTERID, 0, 'v'},
    {"%cluster_ctaid", EMU_CLUSTER_CTAID, 0, 'v'},
    {"%cluster_nctaid", EMU_CLUSTER_NCTAID, 0, 'v'},
    {"%cluster_ctarank", EMU_CLUSTER_CTARANK, 0, '4'},
    {"%cluster_nctarank", EMU_CLUSTER_NCTARANK, 0, '4'},
    {"%lanemask_eq", EMU_LANEMASK_EQ, 0, '4'},
    {"%lanemask_le", EMU_LANEMASK_LE, 0, '4'},
    {"%lanemask_lt", EMU_LANEMASK_LT, 0, '4'},
    {"%lanemask_ge", EMU_LANEMASK_GE, 0, '4'},
    {"%lanemask_gt", EMU_LANEMASK_GT, 0, '4'},
    {"%clock", EMU_CLOCK, 0, '4'},
    {"%clock_hi", EMU_CLOCK_HI, 0, '4'},
    {"%clock64", EMU_CLOCK64, 0, '8'},
    {"%pm0", EMU_PM, 0, '4'},
    {"%pm7", EMU_PM, 7, '4'},
    {"%pm0_64", EMU_PM64, 0, '8'},
    {"%pm7_64", EMU_PM64, 7, '8'},
    {"%envreg0", EMU_ENVREG, 0, '4'},
    {"%envreg9", EMU_ENVREG, 9, '4'},
    {"%envreg31", EMU_ENVREG, 31, '4'},
    {"%globaltimer", EMU_GLOBALTIMER, 0, '8'},
    {"%globaltimer_lo", EMU_GLOBALTIMER_LO, 0, '4'},
    {"%globaltimer_hi", EMU_GLOBALTIMER_HI, 0, '4'},
    {"%reserved_smem_offset_begin", EMU_RESERVED_SMEM_OFFSET_BEGIN, 0, '4'},
    {"%reserved_smem_offset_end", EMU_RESERVED_SMEM_OFFSET_END, 0, '4'},
    {"%reserved_smem_offset_cap", EMU_RESERVED_SMEM_OFFSET_CAP, 0, '4'},
    {"%reserved_smem_offset_0", EMU_RESERVED_SMEM_OFFSET, 0, '4'},
    {"%reserved_smem_offset_1", EMU_RESERVED_SMEM_OFFSET, 1, '4'},
    {"%total_smem_size", EMU_TOTAL_SMEM_SIZE, 0, '4'},
    {"%aggr_smem_size", EMU_AGGR_SMEM_SIZE, 0, '4'},
    {"%dynamic_smem_size", EMU_DYNAMIC_SMEM_SIZE, 0, '4'},
    {"%current_graph_exec", EMU_CURRENT_GRAPH_EXEC, 0, '8'},
};

static void every_special_register_of_the_manual_is_known(void **state)
{
    (void)state;

    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        int number = -1;
        int found = emu_special_of(specials[i].name, strlen(specials[i].name), &number);
        enum emu_special special = specials[i].special;

        assert_int_equal(found, special);
        assert_int_equal(number, specials[i].number);
        assert_int_equal(emu_special_is_vector(special), specials[i].kind == 'v');
        assert_int_equal(emu_special_type(special), specials[i].kind == '8'   ? EMU_U64
                                                    : specials[i].kind == 'p' ? EMU_PRED
                                                                              : EMU_U32);
    }
}

static void what_is_no_special_register_is_none(void **state)
{
    (void)state;
    const char *const names[] = {"%",     "%ti",      "%tidx",     "tid",       "%pm",
                                 "%pm8",  "%pm00",    "%pm8_64",   "%pm_64",    "%envreg32",
                                 "%pm1_", "%envreg",  "%envreg05", "%envreg-1", "%clock32",
                                 "%pm1a", "%envreg1a"};
    int number;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal(emu_special_of(names[i], strlen(names[i]), &number), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_its_name_and_its_size),
        cmocka_unit_test(what_is_no_type_is_none),
        cmocka_unit_test(every_special_register_of_the_manual_is_known),
        cmocka_unit_test(what_is_no_special_register_is_none),
    };

    return cmocka_run_group_tests_name("emulator types", tests, NULL, NULL);
}
