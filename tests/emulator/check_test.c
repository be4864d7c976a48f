/* The sanitizer on the smallest kernel of each of its codes, on some more, and on each repaired.
 *
 * The texts are examples/sanitizer/CODE.ptx and those of data/check, and the launch is what the
 * comment at the head of each says to `lathe emulate`. As it stands a text must give the finding;
 * without the lines that end in
 * "// wrong" and with those behind "// repair:" it must give none, whatever the schedule. */
#include "emulator/machine.h"
#include "emulator/tensor_map.h"
#include "tests/emulator/ptx_support.h"
#include "tests/support/cmocka_all.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 10, REPAIRED_SEEDS = 20, PARAM_BYTES = 256, TEXT_SIZE = 1 << 14, MAP_FLOAT32 = 7 };

/* A side of the finding: the heading, and what its line of the text begins with. */
struct side {
    const char *role, *line;
};

static const struct fault {
    const char *code;
    struct side who, other; /* of a fault that both sides may find, either way round */
    const char *object;
    /* Found with each schedule, the other side with some; found with some. */
    enum { ALWAYS, OTHER_BY_SCHEDULE, BY_SCHEDULE } when;
} faults[] = {
    {"arrival-count", {"", NULL}, {"all", "mbarrier.arrive"}, "ready (shared 0x400)", ALWAYS},
    {"barrier-init",
     {"all", "mbarrier.arrive"},
     {"prologue", "mbarrier.init"},
     "ready (shared 0x400)",
     OTHER_BY_SCHEDULE},
    {"barrier-misuse", {"all", "bar.sync 1, 48"}, {NULL, NULL}, "", ALWAYS},
    {"barrier-overlaid",
     {"all", "mbarrier.arrive"},
     {"table", "st.shared.b32 [%table]"},
     "mbarrier ready (shared",
     ALWAYS},
    {"deadlock", {"producer", "mbarrier.try_wait"}, {NULL, NULL}, "empty (shared", ALWAYS},
    {"divergence", {"lower half", "bar.sync 0; // wrong"}, {NULL, NULL}, "", ALWAYS},
    {"early-access",
     {"send", "st.shared::cluster"},
     {NULL, NULL},
     "box (shared 0x400 of rank 0)",
     ALWAYS},
    {"early-exit",
     {"", NULL},
     {"send", "st.shared::cluster"},
     "box (shared 0x400 of rank 0)",
     ALWAYS},
    {"endless", {"count", NULL}, {NULL, NULL}, "", ALWAYS},
    {"illegal-instruction", {"choice", "brx.idx"}, {NULL, NULL}, "", ALWAYS},
    {"invalid-copy", {"producer", "cp.async.bulk"}, {NULL, NULL}, "", ALWAYS},
    {"invalid-descriptor", {"consumer", "wgmma.mma_async"}, {NULL, NULL}, "", ALWAYS},
    {"misaligned", {"store", "st.global.b64"}, {NULL, NULL}, "to + 4 (global", ALWAYS},
    {"missing-proxy-fence",
     {"store", "cp.async.bulk"},
     {"epilogue", "st.shared.b32"},
     "tile (shared",
     ALWAYS},
    {"missing-tcgen05-fence",
     {"load", "tcgen05.ld"},
     {"store", "tcgen05.st"},
     "tensor memory, lane 0, column",
     ALWAYS},
    {"missing-tcgen05-wait",
     {"load", "tcgen05.st"},
     {"load", "tcgen05.ld"},
     "tensor memory, lane 0, column",
     ALWAYS},
    {"missing-wgmma-fence",
     {"consumer", "wgmma.mma_async"},
     {"consumer", "mov.f32 %d0"},
     "register %d0",
     ALWAYS},
    {"out-of-bounds",
     {"store", "st.global.b32"},
     {NULL, NULL},
     "to + 128, of 128 bytes (global",
     ALWAYS},
    {"phase-aliasing",
     {"consumer", "mbarrier.try_wait"},
     {NULL, NULL},
     "ready (shared",
     BY_SCHEDULE},
    {"premature-accumulator",
     {"consumer", "st.global.f32"},
     {"consumer", "wgmma.mma_async"},
     "register %d0",
     ALWAYS},
    {"premature-use",
     {"producer", "cp.async.bulk"},
     {"consumer", "ld.shared.b32"},
     "tile (shared",
     ALWAYS},
    {"race", {"write", "st.shared.b32"}, {"read", "ld.shared.b32"}, "words", ALWAYS},
    {"register-in-flight",
     {"consumer", "mov.f32 %d0"},
     {"consumer", "wgmma.mma_async"},
     "register %d0",
     ALWAYS},
    {"stage-reused",
     {"producer", "cp.async.bulk"},
     {"consumer", "ld.shared.b32"},
     "tile (shared",
     ALWAYS},
    {"tmem-lanes", {"store", "tcgen05.st"}, {NULL, NULL}, "", ALWAYS},
    {"tmem-leak", {"prologue", "tcgen05.alloc"}, {NULL, NULL}, "", ALWAYS},
    {"tmem-misuse", {"prologue", "tcgen05.alloc"}, {NULL, NULL}, "", ALWAYS},
    {"tmem-unallocated", {"store", "tcgen05.st"}, {NULL, NULL}, "", ALWAYS},
    {"transaction-count",
     {"consumer", "mbarrier.try_wait"},
     {"producer", "mbarrier.arrive.expect_tx"},
     "full (shared 0x500)",
     ALWAYS},
    {"trap", {"check of the arguments", "@%is_empty trap"}, {NULL, NULL}, "", ALWAYS},
    {"unchecked-wait", {"consumer", "mbarrier.try_wait"}, {NULL, NULL}, "full (shared", ALWAYS},
    {"uninitialised", {"sums", "ld.shared.b32"}, {NULL, NULL}, "sums (shared", ALWAYS},
};
enum { FAULTS = sizeof faults / sizeof faults[0] };

/* What has been forgotten in other places than those. */
static const struct {
    const char *file;
    struct fault fault;
} cases[] = {
    {"barrier_for_too_many", {"deadlock", {"workers", "bar.sync 1, 96"}, {NULL, NULL}, "", ALWAYS}},
    {"commit_by_another_lane",
     {"premature-use",
      {"sums", "tcgen05.ld"},
      {"multiply", "@!%idle tcgen05.mma"},
      "tensor memory, lane",
      ALWAYS}},
    {"copy_not_fenced",
     {"missing-proxy-fence",
      {"store", "cp.async.bulk"},
      {"load", "cp.async.ca"},
      "tile (shared",
      ALWAYS}},
    {"copy_not_waited",
     {"premature-use", {"load", "cp.async.ca"}, {"use", "ld.shared"}, "words (shared", ALWAYS}},
    {"copy_behind_barrier",
     {"uninitialised",
      {"copy and multiply", "tcgen05.cp"},
      {NULL, NULL},
      "operands (shared",
      ALWAYS}},
    {"copy_of_nothing",
     {"uninitialised",
      {"copy and multiply", "tcgen05.cp"},
      {NULL, NULL},
      "operands (shared",
      ALWAYS}},
    {"copy_over_a",
     {"race",
      {"copy again", "tcgen05.cp"},
      {"multiply", "tcgen05.cp"},
      "tensor memory, lane 0, column",
      ALWAYS}},
    {"counter_read_plainly",
     {"race", {"count", "red.global"}, {"look", "ld.global"}, "counter (global", ALWAYS}},
    {"counter_reset_plainly",
     {"race", {"count", "atom.global"}, {"reset", "@%last st.global"}, "counter (global", ALWAYS}},
    {"fence_by_another",
     {"missing-proxy-fence",
      {"store", "cp.async.bulk"},
      {"epilogue", "st.shared"},
      "tile + 128 (shared",
      ALWAYS}},
    {"fence_of_shared",
     {"missing-proxy-fence",
      {"load", "cp.async.bulk"},
      {"write", "st.global"},
      "words (global",
      ALWAYS}},
    {"flag_without_acquire",
     {"race", {"send", "st.global.b32 [%mail]"}, {"receive", "ld.global"}, "mail (global", ALWAYS}},
    {"flag_without_fences",
     {"race", {"send", "st.global.b32 [%mail]"}, {"receive", "ld.global"}, "mail (global", ALWAYS}},
    {"generic_before_load",
     {"missing-proxy-fence",
      {"load", "cp.async.bulk"},
      {"clear", "st.shared"},
      "tile (shared",
      ALWAYS}},
    {"guard_of_nothing",
     {"uninitialised",
      {"store", "@%is_inside st.global"},
      {NULL, NULL},
      "register %is_inside",
      ALWAYS}},
    {"half_a_barrier",
     {"race", {"write", "st.shared"}, {"read", "ld.shared"}, "words", BY_SCHEDULE}},
    {"half_a_warp", {"race", {"write", "st.shared"}, {"read", "ld.shared"}, "words", ALWAYS}},
    {"lanes_not_synced", {"race", {"write", "st.shared"}, {"read", "ld.shared"}, "words", ALWAYS}},
    {"lanes_write_again",
     {"race", {"write again", "st.shared"}, {"read", "ld.shared"}, "words", ALWAYS}},
    {"last_block", {"race", {"leave", "st.global"}, {"sum", "ld.volatile"}, "sums", ALWAYS}},
    {"load_overwritten",
     {"missing-tcgen05-wait",
      {"load", "mov.u32 %value"},
      {"load", "tcgen05.ld"},
      "register %value",
      ALWAYS}},
    {"map_not_fenced",
     {"missing-proxy-fence",
      {"load by it", "cp.async.bulk.tensor"},
      {"make the map", "st.global"},
      "made (global",
      ALWAYS}},
    {"mma_b_of_nothing",
     {"uninitialised",
      {"multiply", "tcgen05.mma"},
      {NULL, NULL},
      "operands + 2048 (shared",
      ALWAYS}},
    {"mma_descriptor",
     {"invalid-descriptor", {"multiply", "tcgen05.mma"}, {NULL, NULL}, "", ALWAYS}},
    {"mma_many_accumulators",
     {"premature-use",
      {"last", "tcgen05.ld"},
      {"multiply", "tcgen05.mma"},
      "tensor memory, lane",
      ALWAYS}},
    {"mma_not_waited",
     {"premature-use",
      {"sums", "tcgen05.ld"},
      {"multiply", "tcgen05.mma"},
      "tensor memory, lane",
      ALWAYS}},
    {"mma_operands_not_fenced",
     {"missing-proxy-fence",
      {"multiply", "tcgen05.mma"},
      {"operands", "st.shared"},
      "operands (shared",
      ALWAYS}},
    {"mma_over_loads",
     {"stage-reused",
      {"multiply again", "tcgen05.mma"},
      {"sums", "tcgen05.ld"},
      "tensor memory, lane",
      BY_SCHEDULE}},
    {"mma_operands_overwritten",
     {"stage-reused",
      {"multiply", "tcgen05.mma"},
      {"multiply", "st.shared"},
      "operands (shared",
      OTHER_BY_SCHEDULE}},
    {"mma_part_of_rows",
     {"uninitialised",
      {"multiply", "tcgen05.mma"},
      {NULL, NULL},
      "operands + 128 (shared",
      ALWAYS}},
    {"mma_stage_not_waited",
     {"premature-use",
      {"multiply", "tcgen05.mma"},
      {"producer", "cp.async.bulk"},
      "stage (shared",
      ALWAYS}},
    {"mma_stage_reused",
     {"stage-reused",
      {"producer again", "cp.async.bulk"},
      {"multiply", "tcgen05.mma"},
      "stage (shared",
      BY_SCHEDULE}},
    {"mma_sum_of_nothing",
     {"uninitialised",
      {"multiply", "tcgen05.mma"},
      {NULL, NULL},
      "tensor memory, lane 0, column",
      ALWAYS}},
    {"mma_two_accumulators",
     {"race",
      {"multiply", "tcgen05.mma"},
      {"multiply", "tcgen05.mma"},
      "tensor memory, lane 0, column",
      ALWAYS}},
    {"mma_without_fence",
     {"missing-tcgen05-fence",
      {"sums", "tcgen05.ld"},
      {"multiply", "tcgen05.mma"},
      "tensor memory, lane",
      ALWAYS}},
    {"multicast_to_exited",
     {"early-exit",
      {"", NULL},
      {"send", "cp.async.bulk"},
      "tile (shared 0x400 of rank 1)",
      ALWAYS}},
    {"one_way_beside_barrier",
     {"missing-proxy-fence",
      {"request", "clusterlaunchcontrol.try_cancel"},
      {"answer", "ld.shared.b128"},
      "reply (shared",
      ALWAYS}},
    {"one_way_not_acquired",
     {"missing-proxy-fence",
      {"request", "clusterlaunchcontrol.try_cancel"},
      {"answer", "ld.shared.b128"},
      "reply (shared",
      ALWAYS}},
    {"one_way_not_released",
     {"stage-reused",
      {"request", "clusterlaunchcontrol.try_cancel"},
      {"answer", "ld.shared.b128"},
      "reply (shared",
      ALWAYS}},
    {"one_way_of_cluster",
     {"stage-reused",
      {"request", "clusterlaunchcontrol.try_cancel"},
      {"answer", "ld.shared.b128"},
      "reply (shared",
      ALWAYS}},
    {"one_way_of_generic",
     {"race", {"writer", "st.shared"}, {"reader", "ld.shared"}, "words", ALWAYS}},
    {"pair_not_together",
     {"race", {"end", "tcgen05.dealloc"}, {"use", "tcgen05.st"}, "tensor memory, lane 0", ALWAYS}},
    {"parity_of_count",
     {"barrier-misuse", {"all", "mbarrier.try_wait"}, {NULL, NULL}, "ready (shared", ALWAYS}},
    {"peer_not_ready",
     {"barrier-init",
      {"send", "st.async"},
      {"prologue", "mbarrier.init"},
      "full (shared",
      OTHER_BY_SCHEDULE}},
    {"plain_flag", {"race", {"send", "st.global"}, {"receive", "ld.global"}, "flag", ALWAYS}},
    {"register_of_inner_scope",
     {"uninitialised", {"store", "st.global"}, {NULL, NULL}, "register %sum", ALWAYS}},
    {"register_of_other_role",
     {"uninitialised", {"second", "cvt.u64.u32"}, {NULL, NULL}, "register %place", ALWAYS}},
    {"relaxed_arrival",
     {"race", {"writer", "st.shared"}, {"reader", "ld.shared"}, "words", ALWAYS}},
    {"reply_not_fenced",
     {"missing-proxy-fence",
      {"request", "clusterlaunchcontrol.try_cancel"},
      {"answer", "ld.shared.b128"},
      "reply (shared",
      ALWAYS}},
    {"scope_of_acquire",
     {"race", {"send", "st.global.b32 [%mail]"}, {"receive", "ld.global"}, "mail (global", ALWAYS}},
    {"scope_of_arrival",
     {"race", {"send", "st.shared::cluster"}, {"receive", "ld.shared"}, "box", ALWAYS}},
    {"scope_of_atomics",
     {"race", {"count", "red.relaxed"}, {"count", "red.relaxed"}, "counter", ALWAYS}},
    {"scope_of_fence",
     {"race", {"send", "st.global.b32 [%mail]"}, {"receive", "ld.global"}, "mail (global", ALWAYS}},
    {"scope_of_flag",
     {"race", {"send", "st.global.b32 [%mail]"}, {"receive", "ld.global"}, "mail (global", ALWAYS}},
    {"scope_of_release",
     {"race", {"send", "st.global.b32 [%mail]"}, {"receive", "ld.global"}, "mail (global", ALWAYS}},
    {"scopes_of_two_waits",
     {"race", {"send", "st.shared::cluster"}, {"receive", "ld.shared"}, "box", ALWAYS}},
    {"store_not_over",
     {"premature-use",
      {"store", "cp.async.bulk"},
      {"read again", "ld.global"},
      "through (global",
      ALWAYS}},
    {"store_of_nothing",
     {"uninitialised", {"store", "cp.async.bulk"}, {NULL, NULL}, "tile (shared", ALWAYS}},
    {"store_of_part",
     {"uninitialised",
      {"store", "cp.async.bulk.tensor"},
      {NULL, NULL},
      "tile + 64 (shared",
      ALWAYS}},
    {"tmem_a_not_fenced",
     {"missing-tcgen05-fence",
      {"multiply", "tcgen05.mma"},
      {"A", "tcgen05.st"},
      "tensor memory, lane 32, column",
      ALWAYS}},
    {"tmem_a_part_of_rows",
     {"uninitialised",
      {"multiply", "tcgen05.mma"},
      {NULL, NULL},
      "tensor memory, lane 0, column",
      ALWAYS}},
    {"tmem_allocated_anew",
     {"uninitialised",
      {"again", "tcgen05.ld"},
      {NULL, NULL},
      "tensor memory, lane 0, column",
      ALWAYS}},
    {"store_source_reused",
     {"stage-reused", {"store", "cp.async.bulk"}, {"fill", "st.shared"}, "tile (shared", ALWAYS}},
    {"wgmma_of_nothing",
     {"uninitialised", {"consumer", "wgmma.mma_async"}, {NULL, NULL}, "operands (shared", ALWAYS}},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* A text, and what is wrong with it. */
struct subject {
    const char *folder, *file;
    const struct fault *fault;
};

/* ---- Texts ---- */

static bool ends_in(const char *line, size_t length, const char *words)
{
    size_t count = strlen(words);

    return length >= count && memcmp(line + length - count, words, count) == 0;
}

/* Line by line, so that their numbers stay. */
static void repair(const char *text, char repaired[TEXT_SIZE])
{
    static const char mark[] = "// repair: ";

    *repaired = '\0';
    while (*text) {
        size_t length = strcspn(text, "\n");
        const char *words = text + strspn(text, " ");

        if (strncmp(words, mark, sizeof mark - 1) == 0)
            strncat(repaired, words + sizeof mark - 1,
                    length - (size_t)(words - text) - (sizeof mark - 1));
        else if (!ends_in(text, length, "// wrong"))
            strncat(repaired, text, length);
        strcat(repaired, "\n");
        text += length + (text[length] == '\n');
    }
}

static bool line_begins(const char *text, int line, const char *words)
{
    for (; line > 1; line--) {
        text = strchr(text, '\n');
        if (!text)
            return false;
        text++;
    }
    text += strspn(text, " ");
    return strncmp(text, words, strlen(words)) == 0;
}

/* ---- Launches ---- */

/* The value of a key in the text's command, or what is usual. */
static uint32_t value_of(const char *text, const char *key, uint32_t usual)
{
    const char *at = strstr(text, key);

    return at && at < strstr(text, ".version") ? (uint32_t)strtoul(at + strlen(key), NULL, 10)
                                               : usual;
}

struct world {
    struct emu_device *device;
    struct emu_program *program;
    uint64_t first; /* buffer */
    unsigned char params[PARAM_BYTES];
};

static uint64_t make_buffer(struct world *world, const char *bytes_word)
{
    uint32_t bytes = (uint32_t)strtoul(bytes_word, NULL, 10);
    uint64_t buffer = emu_allocate(world->device, bytes);

    assert_int_not_equal(buffer, 0);
    memset(emu_bytes(world->device, buffer, bytes), 0, bytes);
    emu_written(world->device, buffer, bytes);
    world->first = world->first ? world->first : buffer;
    return buffer;
}

/* Of the first buffer: 32 x 8 words in one box. */
static void make_map(const struct world *world, unsigned char *to)
{
    const struct emu_tensor_map map = {.type = MAP_FLOAT32,
                                       .rank = 2,
                                       .address = world->first,
                                       .dims = {32, 8},
                                       .strides = {4, 128},
                                       .box = {32, 8},
                                       .element_strides = {1, 1}};

    assert_int_equal(emu_tensor_map_encode(to, &map), 0);
}

static bool is_word(const char *at, const char *start)
{
    return strncmp(at, start, strlen(start)) == 0;
}

static void make_arguments(struct world *world, const char *text)
{
    const char *end = strstr(text, ".version");
    int index = 0;

    for (const char *at = text; at < end; at++) {
        uint32_t offset = 0, bytes;
        uint64_t buffer;

        if (is_word(at, " buffer="))
            make_buffer(world, at + strlen(" buffer="));
        if (!is_word(at, " arg="))
            continue;
        assert_true(emu_program_param(world->program, 0, index++, &offset, &bytes));
        assert_in_range(offset + bytes, 1, PARAM_BYTES);
        if (is_word(at, " arg=map:0:f32:32x8:-:32x8:none")) {
            make_map(world, world->params + offset);
            continue;
        }
        assert_true(is_word(at, " arg=buf:"));
        buffer = make_buffer(world, at + strlen(" arg=buf:"));
        memcpy(world->params + offset, &buffer, sizeof buffer);
    }
}

static struct world make_world(const char *text, uint64_t seed)
{
    const struct emu_options options = {
        .target = (int)strtol(strstr(text, ".target sm_") + strlen(".target sm_"), NULL, 10),
        .multiprocessors = 4,
        .seed = seed,
        .limits = {.steps = value_of(text, " steps=", 1 << 20)},
    };
    const struct emu_check_options check = {.is_on = true, .goes_on = true};
    struct world world = {.device = emu_device_create(&options)};
    struct emu_error error = {.line = 0};

    assert_non_null(world.device);
    assert_true(emu_device_set_check(world.device, &check));
    world.program = emu_program_load(world.device, text, strlen(text), &error);
    if (!world.program)
        fail_msg("%s", error.message);
    make_arguments(&world, text);
    return world;
}

static void end_world(struct world *world)
{
    emu_program_unload(world->program);
    emu_device_destroy(world->device);
}

static enum emu_outcome run(struct world *world, const char *text, struct emu_error *error)
{
    const struct emu_launch launch = {.program = world->program,
                                      .entry = emu_program_entry(world->program, "example"),
                                      .grid = {value_of(text, " grid=", 1), 1, 1},
                                      .block = {value_of(text, " block=", 1), 1, 1},
                                      .cluster = {value_of(text, " cluster=", 1), 1, 1},
                                      .dynamic_shared_bytes = value_of(text, " smem=", 0),
                                      .params = world->params};

    assert_int_equal(launch.entry, 0);
    return emu_run(world->device, &launch, error);
}

/* ---- Findings ---- */

static bool is_side(const struct emu_finding_side *found, const struct side *side, const char *text)
{
    return strcmp(found->role, side->role) == 0 &&
           (!side->line || line_begins(text, found->line, side->line));
}

static bool is_it(const struct emu_finding *finding, const struct fault *fault, const char *text)
{
    if (strcmp(finding->code, fault->code) != 0 ||
        strncmp(finding->object, fault->object, strlen(fault->object)) != 0)
        return false;
    if (finding->has_other != (fault->other.role != NULL) && fault->when != OTHER_BY_SCHEDULE)
        return false;
    if (!finding->has_other)
        return is_side(&finding->who, &fault->who, text);
    return (is_side(&finding->who, &fault->who, text) &&
            is_side(&finding->other, &fault->other, text)) ||
           (is_side(&finding->who, &fault->other, text) &&
            is_side(&finding->other, &fault->who, text));
}

static void print_findings(const struct emu_device *device)
{
    char words[4096];

    for (size_t i = 0; i < emu_device_findings(device); i++) {
        emu_finding_text(emu_device_finding(device, i), words, sizeof words);
        print_error("%s\n", words);
    }
}

static bool finds(const struct fault *fault, const char *text, uint64_t seed)
{
    struct world world = make_world(text, seed);
    struct emu_error error = {.line = 0};
    bool found = false;

    run(&world, text, &error);
    for (size_t i = 0; i < emu_device_findings(world.device); i++)
        found = found || is_it(emu_device_finding(world.device, i), fault, text);
    if (!found && fault->when != BY_SCHEDULE)
        print_findings(world.device);
    end_world(&world);
    return found;
}

static void a_fault_is_found_and_its_repair_is_not(void **state)
{
    const struct subject *subject = *state;
    const struct fault *fault = subject->fault;
    static char text[TEXT_SIZE], repaired[TEXT_SIZE];
    int times = 0;

    read_ptx(subject->folder, subject->file, text, sizeof text);
    repair(text, repaired);
    assert_string_not_equal(text, repaired);
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        times += finds(fault, text, seed);
    if (fault->when != BY_SCHEDULE)
        assert_int_equal(times, SEEDS);
    else
        assert_in_range(times, 1, SEEDS - 1);
    for (uint64_t seed = 0; seed < REPAIRED_SEEDS; seed++) {
        struct world world = make_world(repaired, seed);
        struct emu_error error = {.line = 0};

        if (run(&world, repaired, &error) != EMU_DONE)
            fail_msg("repaired, seed %llu: %s", (unsigned long long)seed, error.message);
        print_findings(world.device);
        assert_int_equal(emu_device_findings(world.device), 0);
        end_world(&world);
    }
}

/* The first finding ends the launch, where that is wanted; warnings do not. */
static void the_first_finding_ends_a_launch(void **state)
{
    static char text[TEXT_SIZE];
    struct emu_error error = {.line = 0};

    (void)state;
    for (int i = 0; i < FAULTS; i++) {
        struct world world;
        enum emu_outcome outcome;
        bool is_warning = true;

        read_ptx(EMU_EXAMPLES, faults[i].code, text, sizeof text);
        world = make_world(text, 1);
        assert_true(emu_device_set_check(world.device, &(struct emu_check_options){.is_on = true}));
        outcome = run(&world, text, &error);
        for (size_t k = 0; k < emu_device_findings(world.device); k++)
            is_warning = is_warning && emu_device_finding(world.device, k)->is_warning;
        assert_int_equal(outcome == EMU_DONE, is_warning);
        end_world(&world);
    }
}

static int texts_of(const char *path)
{
    DIR *folder = opendir(path);
    int texts = 0;

    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        texts += strstr(entry->d_name, ".ptx") != NULL;
    closedir(folder);
    return texts;
}

static void every_text_is_tried(void **state)
{
    (void)state;
    assert_int_equal(texts_of(EMU_EXAMPLES), FAULTS);
    assert_int_equal(texts_of(EMU_CASES), CASES);
}

int main(void)
{
    static struct subject subjects[FAULTS + CASES];
    struct CMUnitTest tests[FAULTS + CASES + 2] = {
        cmocka_unit_test(the_first_finding_ends_a_launch),
        cmocka_unit_test(every_text_is_tried),
    };

    for (int i = 0; i < FAULTS; i++)
        subjects[i] = (struct subject){EMU_EXAMPLES, faults[i].code, &faults[i]};
    for (int i = 0; i < CASES; i++)
        subjects[FAULTS + i] = (struct subject){EMU_CASES, cases[i].file, &cases[i].fault};
    for (int i = 0; i < FAULTS + CASES; i++)
        tests[i + 2] = (struct CMUnitTest){.name = subjects[i].file,
                                           .test_func = a_fault_is_found_and_its_repair_is_not,
                                           .initial_state = &subjects[i]};
    return cmocka_run_group_tests_name("emulator check", tests, NULL, NULL);
}
