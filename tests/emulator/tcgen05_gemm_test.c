/* Whole kernels of tcgen05, of one CTA and of pairs, with TMA, rings and commits: right for every
 * schedule, and nothing for the sanitizer to find; and with one thing left out, what it finds. */
#include "emulator/machine.h"
#include "emulator/tensor_map.h"
#include "tests/emulator/random.h"
#include "tests/emulator/ptx_support.h"
#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEEDS = 20,
    TEXT_SIZE = 1 << 15,
    PARAM_BYTES = 512,
    ROWS = 512,
    DEPTH = 320,
    TILES = 5,
    COLUMNS = 64 * TILES,
    MAP_FLOAT16 = 6,
    SWIZZLE_128 = 3
};

static const struct kernel {
    const char *file;
    uint32_t cluster;
    uint32_t b_rows; /* of a box */
    uint32_t shared_bytes;
} kernels[] = {{"gemm_cta", 1, 64, 3 * (16384 + 8192)}, {"gemm_pair", 2, 32, 3 * (16384 + 4096)}};

/* ---- Data: small whole numbers ---- */

static int a[ROWS][DEPTH], b[COLUMNS][DEPTH];

static uint16_t f16_of(int value)
{
    static const uint16_t bits[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400};

    return value < 0 ? 0x8000 | bits[-value] : bits[value];
}

static void draw_data(void)
{
    uint64_t seed = 1;

    for (int k = 0; k < DEPTH; k++) {
        for (int m = 0; m < ROWS; m++)
            a[m][k] = (int)draw_between(&seed, -4, 4);
        for (int n = 0; n < COLUMNS; n++)
            b[n][k] = (int)draw_between(&seed, -4, 4);
    }
}

/* ---- Launches ---- */

struct world {
    struct emu_device *device;
    struct emu_program *program;
    uint64_t to;
    unsigned char params[PARAM_BYTES];
};

static uint64_t make_operand(struct emu_device *device, const int *values, int count)
{
    uint64_t buffer = emu_allocate(device, (uint64_t)count * 2);
    uint16_t *bits = emu_bytes(device, buffer, (uint64_t)count * 2);

    assert_non_null(bits);
    for (int i = 0; i < count; i++)
        bits[i] = f16_of(values[i]);
    emu_written(device, buffer, (uint64_t)count * 2);
    return buffer;
}

static void put_map(struct world *world, int index, uint64_t buffer, uint64_t rows,
                    uint32_t box_rows)
{
    const struct emu_tensor_map map = {.type = MAP_FLOAT16,
                                       .rank = 2,
                                       .address = buffer,
                                       .dims = {DEPTH, rows},
                                       .strides = {2, DEPTH * 2},
                                       .box = {64, box_rows},
                                       .element_strides = {1, 1},
                                       .swizzle = SWIZZLE_128};
    uint32_t offset, bytes;

    assert_true(emu_program_param(world->program, 0, index, &offset, &bytes));
    assert_int_equal(emu_tensor_map_encode(world->params + offset, &map), 0);
}

static void put_param(struct world *world, int index, const void *value, size_t size)
{
    uint32_t offset, bytes;

    assert_true(emu_program_param(world->program, 0, index, &offset, &bytes));
    assert_int_equal(bytes, size);
    memcpy(world->params + offset, value, size);
}

static struct world make_world(const char *text, const struct kernel *kernel, uint64_t seed,
                               bool exact)
{
    const struct emu_options options = {.target = 100,
                                        .multiprocessors = 4,
                                        .seed = seed,
                                        .exact = exact,
                                        .threads = 2,
                                        .limits = {.steps = 1u << 24}};
    const struct emu_check_options check = {.is_on = true, .goes_on = true};
    const uint32_t tiles = TILES, blocks = DEPTH / 64;
    struct world world = {.device = emu_device_create(&options)};
    struct emu_error error = {.line = 0};

    assert_non_null(world.device);
    assert_true(exact || emu_device_set_check(world.device, &check));
    world.program = emu_program_load(world.device, text, strlen(text), &error);
    if (!world.program)
        fail_msg("%s", error.message);
    put_map(&world, 0, make_operand(world.device, &a[0][0], ROWS * DEPTH), ROWS, 128);
    put_map(&world, 1, make_operand(world.device, &b[0][0], COLUMNS * DEPTH), COLUMNS,
            kernel->b_rows);
    world.to = emu_allocate(world.device, ROWS * COLUMNS * 4);
    put_param(&world, 2, &world.to, sizeof world.to);
    put_param(&world, 3, &tiles, sizeof tiles);
    put_param(&world, 4, &blocks, sizeof blocks);
    return world;
}

static void end_world(struct world *world)
{
    emu_program_unload(world->program);
    emu_device_destroy(world->device);
}

static enum emu_outcome run(struct world *world, const struct kernel *kernel,
                            struct emu_error *error)
{
    const struct emu_launch launch = {.program = world->program,
                                      .entry = 0,
                                      .grid = {ROWS / 128, 1, 1},
                                      .block = {256, 1, 1},
                                      .cluster = {kernel->cluster, 1, 1},
                                      .dynamic_shared_bytes = kernel->shared_bytes,
                                      .params = world->params};

    return emu_run(world->device, &launch, error);
}

static void check_result(const struct world *world)
{
    const float *d = emu_bytes(world->device, world->to, ROWS * COLUMNS * 4);

    for (int m = 0; m < ROWS; m++)
        for (int n = 0; n < COLUMNS; n++) {
            int sum = 0;

            for (int k = 0; k < DEPTH; k++)
                sum += a[m][k] * b[n][k];
            if (d[m * COLUMNS + n] != (float)sum)
                fail_msg("D[%d][%d] is %g, not %d", m, n, (double)d[m * COLUMNS + n], sum);
        }
}

static void print_findings(const struct world *world)
{
    char words[4096];

    for (size_t i = 0; i < emu_device_findings(world->device); i++) {
        emu_finding_text(emu_device_finding(world->device, i), words, sizeof words);
        print_error("%s\n", words);
    }
}

static void check_kernel(const char *text, const struct kernel *kernel, uint64_t seed, bool exact)
{
    struct world world = make_world(text, kernel, seed, exact);
    struct emu_error error = {.line = 0};

    if (run(&world, kernel, &error) != EMU_DONE)
        fail_msg("seed %llu: %s", (unsigned long long)seed, error.message);
    print_findings(&world);
    assert_int_equal(emu_device_findings(world.device), 0);
    check_result(&world);
    end_world(&world);
}

static void kernels_are_right_for_every_schedule(void **state)
{
    (void)state;
    static char text[TEXT_SIZE];

    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        read_ptx(EMU_TEXTS, kernels[i].file, text, sizeof text);
        for (uint64_t seed = 0; seed < SEEDS; seed++)
            check_kernel(text, &kernels[i], seed, false);
        check_kernel(text, &kernels[i], 1, true);
    }
}

/* ---- One thing left out ---- */

static const struct mistake {
    int kernel;
    const char *words; /* the first lines that have them go ... */
    int lines;         /* so many of them: the first `skip` stay */
    int skip;
    const char *instead; /* null: nothing */
    const char *code;    /* what is found */
} mistakes[] = {
    {0, "[%sums + 64], %t;", 1, 0, "setp.eq.u32 %done, %t, %t;", "stage-reused"},
    {0, "@!%done bra full_wait", 1, 0, NULL, "premature-use"},
    {0, "@!%done bra producer_wait", 1, 0, NULL, "stage-reused"},
    {0, "@!%done bra epilogue_wait", 1, 0, NULL, "premature-use"},
    {0, "tcgen05.wait::ld", 1, 0, NULL, "missing-tcgen05-wait"},
    {0, "tcgen05.fence::after_thread_sync", 2, 1, NULL, "missing-tcgen05-fence"},
    {0, "tcgen05.fence::after_thread_sync", 1, 3, NULL, "missing-tcgen05-fence"},
    {0, "tcgen05.fence::before_thread_sync", 1, 0, NULL, "missing-tcgen05-fence"},
    {0, "tcgen05.dealloc", 1, 0, NULL, "tmem-leak"},
    {0, "add.u32 %taddr, %taddr, %t", 1, 0, NULL, "tmem-lanes"},
    {0, "tcgen05.alloc", 1, 0,
     "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%slot], 64;", "tmem-unallocated"},
    {0, "setp.ne.u32 %more, %block, 0", 1, 0, "setp.eq.u32 %more, %block, %block;",
     "uninitialised"},
    {0, "[%bar + 64], 128", 1, 0, "mbarrier.init.shared::cta.b64 [%bar + 64], 64;", "deadlock"},
    {1, "[%bar + 64], 256", 1, 0, "mbarrier.init.shared::cta.b64 [%bar + 64], 128;", "deadlock"},
    {1, "mov.u32 %phase, 1;", 1, 0, "mov.u32 %phase, 0;", "deadlock"},
    {1, "mov.u32 %phase, 0;", 1, 0, "mov.u32 %phase, 1;", "premature-use"},
    {1, "@!%done bra full_wait", 1, 0, NULL, "premature-use"},
    {1, "@!%done bra epilogue_wait", 1, 0, NULL, "premature-use"},
    {1, "@!%leader bra end", 1, 0, NULL, "deadlock"},
    {1, "arrive.expect_tx", 1, 0,
     "@%leader mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full], 20480;", "transaction-count"},
    {1, "barrier.cluster", 2, 0, NULL, "barrier-init"},
    {1, "barrier.cluster", 2, 2, NULL, "early-exit"},
    {1, "mov.b16 %both, 3", 1, 0, "mov.b16 %both, 1;", "deadlock"},
    {1, "and.b32 %remote, %sums, 0xfeffffff", 1, 0, "mov.u32 %remote, %sums;", "deadlock"},
};

static bool has_words(const char *line, size_t length, const char *words)
{
    const char *found = strstr(line, words);

    return found && found < line + length;
}

static void leave_out(const char *text, const struct mistake *mistake, char made[TEXT_SIZE])
{
    int seen = 0;

    *made = '\0';
    while (*text) {
        size_t length = strcspn(text, "\n");
        bool goes = has_words(text, length, mistake->words) && seen++ >= mistake->skip &&
                    seen <= mistake->skip + mistake->lines;

        if (!goes)
            strncat(made, text, length);
        else if (mistake->instead)
            strcat(made, mistake->instead);
        strcat(made, "\n");
        text += length + (text[length] == '\n');
    }
    assert_true(seen >= mistake->skip + mistake->lines);
}

static bool finds(const char *text, const struct mistake *mistake, uint64_t seed)
{
    const struct kernel *kernel = &kernels[mistake->kernel];
    struct world world = make_world(text, kernel, seed, false);
    struct emu_error error = {.line = 0};
    bool found = false;

    run(&world, kernel, &error);
    for (size_t i = 0; i < emu_device_findings(world.device); i++)
        found = found || strcmp(emu_device_finding(world.device, i)->code, mistake->code) == 0;
    end_world(&world);
    return found;
}

/* Most by every schedule; each by most of them. */
static void mistakes_are_found(void **state)
{
    (void)state;
    static char text[TEXT_SIZE], made[TEXT_SIZE];
    enum { TIMES = 6 };

    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        int times = 0;

        read_ptx(EMU_TEXTS, kernels[mistakes[i].kernel].file, text, sizeof text);
        leave_out(text, &mistakes[i], made);
        for (uint64_t seed = 0; seed < TIMES; seed++)
            times += finds(made, &mistakes[i], seed);
        if (times < TIMES / 2)
            fail_msg("%s without \"%s\" (%d): %s in %d of %d", kernels[mistakes[i].kernel].file,
                     mistakes[i].words, mistakes[i].skip, mistakes[i].code, times, TIMES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_right_for_every_schedule),
        cmocka_unit_test(mistakes_are_found),
    };

    draw_data();
    return cmocka_run_group_tests_name("emulator tcgen05 kernels", tests, NULL, NULL);
}
