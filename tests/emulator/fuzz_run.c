/* Any bytes as a program that runs: whatever it does, the launch ends, and in words if not well.
 *
 * With clang and -Dfuzzers=true this is a libFuzzer target, whose mutator knows what PTX looks
 * like:
 *
 *     build/tests/emulator/fuzz_run -max_len=16384 -timeout=20 corpus/ tests/emulator/data/hostile
 *
 * A first line "//@ 4 64 2 1024 7" says grid, block, cluster, bytes of dynamic shared memory and
 * seed of the launches. */
#include "tests/emulator/fuzz_run.h"

#include "emulator/machine.h"
#include "emulator/tensor_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEMORY = 64 << 20,
    STEPS = 20000,
    DEPTH = 64,
    BUFFER = 4096,
    MAP_AT = 1024, /* of a tensor map in the buffer: few texts make one of nothing */
    ENTRIES_MAX = 4
};

struct shape {
    unsigned grid, block, cluster, shared, seed;
};

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_run: %s\n", what);
    abort();
}

static struct shape shape_of(const char *text)
{
    struct shape shape = {.grid = 2, .block = 40, .cluster = 1, .shared = 256, .seed = 1};

    if (strncmp(text, "//@", 3) == 0)
        sscanf(text + 3, "%9u %9u %9u %9u %9u", &shape.grid, &shape.block, &shape.cluster,
               &shape.shared, &shape.seed);
    shape.grid = 1 + (shape.grid - 1) % 8;
    shape.block = 1 + (shape.block - 1) % 160;
    shape.cluster %= 5;
    shape.shared %= 1 << 16;
    return shape;
}

/* Words that are addresses in the buffer, small numbers and nonsense, as the seed draws them. */
static void fill_params(unsigned char *params, uint32_t bytes, uint64_t buffer, unsigned seed)
{
    uint64_t random = seed;

    for (uint32_t at = 0; at < bytes; at += 8) {
        uint64_t word = buffer + at % 64 * 16;

        random = random * 6364136223846793005u + 1442695040888963407u;
        if (at > 0 && random >> 60 == 0)
            word = random >> 58 & 3 ? random >> 56 & 15 : random;
        memcpy(params + at, &word, bytes - at < 8 ? bytes - at : 8);
    }
}

static void put_map(unsigned char *at, uint64_t address)
{
    const struct emu_tensor_map map = {.type = 7,
                                       .rank = 2,
                                       .address = address,
                                       .dims = {16, 8},
                                       .strides = {4, 64},
                                       .box = {8, 4},
                                       .element_strides = {1, 1}};

    require(emu_tensor_map_encode(at, &map) == 0, "a tensor map");
}

static void run_entry(struct emu_device *device, const struct emu_program *program, int entry,
                      const struct shape *shape)
{
    struct emu_error error = {.line = 0};
    struct emu_entry_info info;
    uint64_t buffer = emu_allocate(device, BUFFER);
    unsigned char *bytes = emu_bytes(device, buffer, BUFFER), *params;

    emu_program_entry_info(program, entry, &info);
    params = malloc(info.param_bytes + 1);
    require(params != NULL, "memory for parameters");
    if (!bytes) { /* the program's variables leave no room */
        free(params);
        return;
    }
    memset(bytes, 0, BUFFER);
    put_map(bytes + MAP_AT, buffer);
    fill_params(params, info.param_bytes, buffer, shape->seed);

    const struct emu_launch launch = {
        .program = program,
        .entry = entry,
        .grid = {shape->grid, 1, 1},
        .block = {shape->block, 1, 1},
        .cluster = {shape->cluster, shape->cluster ? 1 : 0, shape->cluster ? 1 : 0},
        .dynamic_shared_bytes = shape->shared,
        .params = params};
    enum emu_outcome outcome = emu_run(device, &launch, &error);

    require((outcome == EMU_DONE) == (error.message[0] == '\0'), "the end is well, or has words");
    free(params);
    emu_release(device, buffer);
}

/* Of the sanitizer. */
enum mode { OFF, TO_THE_FIRST, PAST_ALL, MODES };

static void set_check(struct emu_device *device, enum mode mode)
{
    const struct emu_check_options check = {.is_on = mode != OFF, .goes_on = mode == PAST_ALL};

    require(emu_device_set_check(device, &check), "memory for the sanitizer");
}

/* What was found can be told. */
static void tell_findings(const struct emu_device *device)
{
    char words[256];

    for (size_t i = 0; i < emu_device_findings(device); i++) {
        emu_finding_text(emu_device_finding(device, i), words, sizeof words);
        require(words[0] != '\0', "a finding in words");
    }
}

/* A text for Blackwell has a device of its own: sm_90a has what no other has. */
static int target_of(const char *text)
{
    return strstr(text, ".target sm_10") ? 100 : 90;
}

static void run_text(const char *text, size_t size, const struct shape *shape, enum mode mode)
{
    const struct emu_options options = {
        .target = target_of(text),
        .multiprocessors = 2,
        .limits = {.memory_bytes = MEMORY, .steps = STEPS, .depth = DEPTH},
        .seed = shape->seed,
        .exact = shape->seed % 2,
        .threads = 1 + (uint32_t)(shape->seed % 3),
        .eager = true,
    };
    struct emu_device *device = emu_device_create(&options);
    struct emu_error error = {.line = 0};
    struct emu_program *program;
    int count = 0;

    require(device != NULL, "memory for a device");
    set_check(device, mode);
    program = emu_program_load(device, text, size, &error);
    require((program != NULL) == (error.message[0] == '\0'), "a program or a message");
    for (const char *at = text; program && count < ENTRIES_MAX && (at = strstr(at, ".entry"));) {
        char name[128] = "";
        int entry;

        at += strlen(".entry");
        sscanf(at, " %127[A-Za-z0-9_$%]", name);
        entry = emu_program_entry(program, name);
        if (entry >= 0) {
            run_entry(device, program, entry, shape);
            count++;
        }
    }
    tell_findings(device);
    emu_program_unload(program);
    emu_device_destroy(device);
}

void fuzz_run_checked(const char *text, size_t size)
{
    const struct shape shape = shape_of(text);

    run_text(text, size, &shape, PAST_ALL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct shape shape;

    require(text != NULL, "memory for the text");
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    shape = shape_of(text);
    run_text(text, size, &shape, (enum mode)(shape.seed / 6 % MODES));
    free(text);
    return 0;
}
