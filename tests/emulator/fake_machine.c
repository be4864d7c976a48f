#include "tests/emulator/fake_machine.h"
#include "emulator/tensor_map.h"
#include "emulator/trace.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOOK __attribute__((visibility("default")))

enum { ALIGNMENT = 512, FRESH = 0xcd, ENTRIES_MAX = 16, PARAMS_MAX = 8, VARIABLES_MAX = 8 };
#define BASE UINT64_C(0x700000000)

static struct {
    int launches;
    struct fake_launch last;
    enum emu_outcome outcome;
    char message[128];
    int registers;
} fake = {.registers = 16};

HOOK int fake_launches(void)
{
    return fake.launches;
}

HOOK const struct fake_launch *fake_last_launch(void)
{
    return &fake.last;
}

HOOK void fake_set_outcome(enum emu_outcome outcome, const char *message)
{
    fake.outcome = outcome;
    snprintf(fake.message, sizeof fake.message, "%s", message);
}

HOOK void fake_set_registers(int registers)
{
    fake.registers = registers;
}

HOOK void fake_reset(void)
{
    memset(&fake, 0, sizeof fake);
    fake.registers = 16;
}

/* ---- Devices and memory ---- */

struct piece {
    uint64_t address, bytes;
    void *host;
    struct piece *next;
};

struct emu_device {
    struct emu_options options;
    struct piece *pieces;
    uint64_t next, used;
};

struct emu_device *emu_device_create(const struct emu_options *options)
{
    struct emu_device *device = calloc(1, sizeof *device);

    if (device) {
        device->options = *options;
        device->next = BASE;
    }
    return device;
}

void emu_device_destroy(struct emu_device *device)
{
    while (device->pieces)
        emu_release(device, device->pieces->address);
    free(device);
}

void emu_device_set_seed(struct emu_device *device, uint64_t seed)
{
    device->options.seed = seed;
}

void emu_device_set_threads(struct emu_device *device, uint32_t threads)
{
    device->options.threads = threads;
}

uint64_t emu_allocate(struct emu_device *device, uint64_t bytes)
{
    uint64_t limit = device->options.limits.memory_bytes;
    struct piece *piece = calloc(1, sizeof *piece);

    if (!piece || bytes > (limit ? limit : (uint64_t)1 << 30) - device->used) {
        free(piece);
        return 0;
    }
    piece->host = malloc(bytes);
    if (!piece->host) {
        free(piece);
        return 0;
    }
    memset(piece->host, FRESH, bytes);
    piece->bytes = bytes;
    piece->address = device->next;
    piece->next = device->pieces;
    device->pieces = piece;
    device->next += (bytes + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    device->used += bytes;
    return piece->address;
}

bool emu_release(struct emu_device *device, uint64_t address)
{
    for (struct piece **at = &device->pieces; *at; at = &(*at)->next) {
        struct piece *piece = *at;

        if (piece->address != address)
            continue;
        *at = piece->next;
        device->used -= piece->bytes;
        free(piece->host);
        free(piece);
        return true;
    }
    return false;
}

static struct piece *piece_of(struct emu_device *device, uint64_t address)
{
    for (struct piece *piece = device->pieces; piece; piece = piece->next)
        if (address - piece->address < piece->bytes)
            return piece;
    return NULL;
}

void *emu_bytes(struct emu_device *device, uint64_t address, uint64_t bytes)
{
    struct piece *piece = piece_of(device, address);

    return piece && bytes <= piece->bytes - (address - piece->address)
               ? (char *)piece->host + (address - piece->address)
               : NULL;
}

bool emu_range(struct emu_device *device, uint64_t address, uint64_t *base, uint64_t *bytes)
{
    const struct piece *piece = piece_of(device, address);

    if (!piece)
        return false;
    *base = piece->address;
    *bytes = piece->bytes;
    return true;
}

uint64_t emu_used_bytes(const struct emu_device *device)
{
    return device->used;
}

/* ---- PTX, as far as it goes ---- */

struct entry {
    struct emu_function function;
    char name[64];
    uint32_t offsets[PARAMS_MAX], bytes[PARAMS_MAX], param_bytes, shared_bytes;
};

struct text {
    struct emu_module module; /* functions copied from entries */
    struct entry entries[ENTRIES_MAX];
    char variables[VARIABLES_MAX][64];
    uint64_t variable_bytes[VARIABLES_MAX];
    int entry_count, variable_count;
};

/* The next word of the text: letters, digits, _ and $, or one other sign. Empty at the end. */
static const char *next_word(const char *at, char word[64])
{
    size_t length = 0;

    while (isspace((unsigned char)*at))
        at++;
    while (length < 63 && (isalnum((unsigned char)*at) || *at == '_' || *at == '$' || *at == '.'))
        word[length++] = *at++;
    if (length == 0 && *at)
        word[length++] = *at++;
    word[length] = '\0';
    return at;
}

static uint32_t bytes_of(const char *type)
{
    const char *digits = type + strcspn(type, "0123456789");

    return (uint32_t)atoi(digits) / 8;
}

/* "name[n]" or "name": how many bytes of the type. */
static const char *read_variable(const char *at, char name[64], uint32_t *align, uint32_t *bytes)
{
    char word[64];

    *align = 0;
    *bytes = 1;
    for (at = next_word(at, name); name[0] == '.'; at = next_word(at, name)) {
        if (strcmp(name, ".align") == 0) {
            at = next_word(at, word);
            *align = (uint32_t)atoi(word);
        } else {
            *bytes = bytes_of(name);
        }
    }
    if (*align < *bytes)
        *align = *bytes;
    if (*at == '[') {
        at = next_word(at + 1, word);
        *bytes *= (uint32_t)atoi(word);
        at += strcspn(at, "]") + 1;
    }
    return at;
}

static const char *read_params(const char *at, struct entry *entry)
{
    char word[64];

    for (at = next_word(at, word); word[0] != ')' && word[0]; at = next_word(at, word)) {
        uint32_t align, bytes;
        int index = entry->function.param_count;

        if (strcmp(word, ".param") != 0)
            continue;
        at = read_variable(at, word, &align, &bytes);
        if (index == PARAMS_MAX)
            return at;
        entry->offsets[index] = (entry->param_bytes + align - 1) / align * align;
        entry->bytes[index] = bytes;
        entry->param_bytes = entry->offsets[index] + bytes;
        entry->function.param_count++;
    }
    return at;
}

static const char *read_dims(const char *at, uint32_t dims[3])
{
    char word[64];
    int count = 0;

    dims[0] = dims[1] = dims[2] = 1;
    do {
        at = next_word(at, word);
        dims[count++] = (uint32_t)atoi(word);
        at += strspn(at, " \n");
    } while (*at == ',' && at++ && count < 3);
    return at;
}

static const char *read_entry(const char *at, struct entry *entry)
{
    char word[64];

    at = next_word(at, entry->name);
    at = next_word(at, word); /* ( */
    at = read_params(at, entry);
    entry->function.is_entry = entry->function.has_body = true;
    for (at = next_word(at, word); word[0] && word[0] != '}'; at = next_word(at, word)) {
        uint32_t align, bytes;

        if (strcmp(word, ".maxntid") == 0) {
            at = read_dims(at, entry->function.maxntid);
        } else if (strcmp(word, ".reqntid") == 0) {
            at = read_dims(at, entry->function.reqntid);
        } else if (strcmp(word, ".reqnctapercluster") == 0) {
            at = read_dims(at, entry->function.reqnctapercluster);
        } else if (strcmp(word, ".explicitcluster") == 0) {
            entry->function.explicitcluster = true;
        } else if (strcmp(word, ".shared") == 0) {
            at = read_variable(at, word, &align, &bytes);
            entry->shared_bytes += bytes;
        }
    }
    return at;
}

struct emu_module *emu_module_parse(const char *source, size_t length, struct emu_error *error)
{
    struct text *text = calloc(1, sizeof *text);
    char word[64];

    (void)length;
    if (!text)
        return NULL;
    for (const char *at = next_word(source, word); word[0]; at = next_word(at, word)) {
        uint32_t align, bytes;

        if (strcmp(word, ".entry") == 0 && text->entry_count < ENTRIES_MAX)
            at = read_entry(at, &text->entries[text->entry_count++]);
        if (strcmp(word, ".global") == 0 && text->variable_count < VARIABLES_MAX) {
            at = read_variable(at, text->variables[text->variable_count], &align, &bytes);
            text->variable_bytes[text->variable_count++] = bytes;
        }
        if (strcmp(word, "garbage") == 0) {
            emu_fail(error, 3, "garbage is no instruction");
            free(text);
            return NULL;
        }
    }
    text->module.functions = calloc(ENTRIES_MAX, sizeof *text->module.functions);
    text->module.function_count = text->entry_count;
    for (int i = 0; text->module.functions && i < text->entry_count; i++) {
        text->entries[i].function.name = text->entries[i].name;
        text->module.functions[i] = text->entries[i].function;
    }
    return &text->module;
}

void emu_module_free(struct emu_module *module)
{
    free(module->functions);
    free(module);
}

/* ---- Programs ---- */

struct emu_program {
    struct emu_device *device;
    struct text *text;
    uint64_t addresses[VARIABLES_MAX];
    int registers;
};

struct emu_program *emu_program_load(struct emu_device *device, const char *source, size_t length,
                                     struct emu_error *error)
{
    struct emu_module *module = emu_module_parse(source, length, error);
    struct emu_program *program = module ? calloc(1, sizeof *program) : NULL;

    if (!program)
        return NULL;
    program->device = device;
    program->text = (struct text *)module;
    program->registers = fake.registers;
    for (int i = 0; i < program->text->variable_count; i++) {
        uint64_t bytes = program->text->variable_bytes[i];

        program->addresses[i] = emu_allocate(device, bytes);
        memset(emu_bytes(device, program->addresses[i], bytes), 0, bytes);
    }
    return program;
}

void emu_program_unload(struct emu_program *program)
{
    for (int i = 0; i < program->text->variable_count; i++)
        emu_release(program->device, program->addresses[i]);
    emu_module_free(&program->text->module);
    free(program);
}

int emu_program_entry(const struct emu_program *program, const char *name)
{
    for (int i = 0; i < program->text->entry_count; i++)
        if (strcmp(program->text->entries[i].name, name) == 0)
            return i;
    return -1;
}

bool emu_program_variable(const struct emu_program *program, const char *name, uint64_t *address,
                          uint64_t *bytes)
{
    for (int i = 0; i < program->text->variable_count; i++)
        if (strcmp(program->text->variables[i], name) == 0) {
            *address = program->addresses[i];
            *bytes = program->text->variable_bytes[i];
            return true;
        }
    return false;
}

void emu_program_entry_info(const struct emu_program *program, int entry,
                            struct emu_entry_info *info)
{
    const struct entry *of = &program->text->entries[entry];

    *info = (struct emu_entry_info){.function = &of->function,
                                    .static_shared_bytes = of->shared_bytes,
                                    .param_bytes = of->param_bytes,
                                    .param_count = of->function.param_count,
                                    .registers = program->registers};
}

bool emu_program_param(const struct emu_program *program, int entry, int index, uint32_t *offset,
                       uint32_t *bytes)
{
    const struct entry *of = &program->text->entries[entry];

    if (index >= of->function.param_count)
        return false;
    *offset = of->offsets[index];
    *bytes = of->bytes[index];
    return true;
}

enum emu_outcome emu_run(struct emu_device *device, const struct emu_launch *launch,
                         struct emu_error *error)
{
    const struct entry *entry = &launch->program->text->entries[launch->entry];

    fake.launches++;
    memset(&fake.last, 0, sizeof fake.last);
    snprintf(fake.last.entry, sizeof fake.last.entry, "%s", entry->name);
    memcpy(fake.last.grid, launch->grid, sizeof launch->grid);
    memcpy(fake.last.block, launch->block, sizeof launch->block);
    memcpy(fake.last.cluster, launch->cluster, sizeof launch->cluster);
    fake.last.shared_bytes = launch->dynamic_shared_bytes;
    fake.last.param_bytes = entry->param_bytes;
    memcpy(fake.last.params, launch->params, entry->param_bytes);
    fake.last.target = device->options.target;
    fake.last.multiprocessors = device->options.multiprocessors;
    fake.last.limits = device->options.limits;
    fake.last.seed = device->options.seed;
    fake.last.exact = device->options.exact;
    fake.last.threads = device->options.threads;
    if (fake.outcome != EMU_DONE)
        emu_fail(error, 0, "%s", fake.message);
    return fake.outcome;
}

/* ---- Tensor maps: no rule but one, that shows a refusal ---- */

int emu_tensor_element_bytes(int type)
{
    return type == 6 ? 2 : 4;
}

int emu_tensor_map_encode(unsigned char bytes[EMU_TENSOR_MAP_BYTES],
                          const struct emu_tensor_map *map)
{
    const struct emu_tensor_map *const kept = map;

    if (map->address % 16 != 0)
        return 1;
    memset(bytes, 0, EMU_TENSOR_MAP_BYTES);
    memcpy(bytes, "map", 4);
    memcpy(bytes + 8, &kept->address, 8);
    memcpy(bytes + 16, &kept->rank, 4);
    memcpy(bytes + 20, kept->box, sizeof kept->box);
    memcpy(bytes + 40, kept->strides, sizeof kept->strides);
    memcpy(bytes + 80, kept->lower, sizeof kept->lower);
    memcpy(bytes + 92, kept->upper, sizeof kept->upper);
    bytes[104] = kept->is_im2col;
    bytes[105] = (unsigned char)kept->swizzle;
    bytes[106] = (unsigned char)kept->type;
    bytes[107] = (unsigned char)kept->channels;
    bytes[108] = (unsigned char)kept->pixels;
    return 0;
}

bool emu_tensor_map_decode(struct emu_tensor_map *map,
                           const unsigned char bytes[EMU_TENSOR_MAP_BYTES])
{
    if (memcmp(bytes, "map", 4) != 0)
        return false;
    memset(map, 0, sizeof *map);
    memcpy(&map->address, bytes + 8, 8);
    memcpy(&map->rank, bytes + 16, 4);
    memcpy(map->box, bytes + 20, sizeof map->box);
    memcpy(map->strides, bytes + 40, sizeof map->strides);
    memcpy(map->lower, bytes + 80, sizeof map->lower);
    memcpy(map->upper, bytes + 92, sizeof map->upper);
    map->is_im2col = bytes[104];
    map->swizzle = bytes[105];
    map->type = bytes[106];
    map->channels = bytes[107];
    map->pixels = bytes[108];
    return true;
}

/* ---- The sanitizer: it never finds anything ---- */

bool emu_device_set_check(struct emu_device *device, const struct emu_check_options *options)
{
    (void)device, (void)options;
    return true;
}

void emu_unwritten(struct emu_device *device, uint64_t address, uint64_t bytes)
{
    (void)device, (void)address, (void)bytes;
}

void emu_written(struct emu_device *device, uint64_t address, uint64_t bytes)
{
    (void)device, (void)address, (void)bytes;
}

size_t emu_device_findings(const struct emu_device *device)
{
    (void)device;
    return 0;
}

const struct emu_finding *emu_device_finding(const struct emu_device *device, size_t index)
{
    (void)device, (void)index;
    return NULL;
}

void emu_device_forget(struct emu_device *device)
{
    (void)device;
}

void emu_finding_text(const struct emu_finding *finding, char *text, size_t size)
{
    (void)finding;
    if (size > 0)
        text[0] = '\0';
}

/* ---- The model of time: nothing happens in it ---- */

void emu_device_set_trace(struct emu_device *device, struct emu_trace *trace)
{
    (void)device, (void)trace;
}

struct emu_trace *emu_trace_create(const struct emu_trace_options *options)
{
    struct emu_trace *trace = calloc(1, sizeof *trace);

    (void)options;
    return trace;
}

void emu_trace_destroy(struct emu_trace *trace)
{
    free(trace);
}

void emu_trace_forget(struct emu_trace *trace)
{
    (void)trace;
}
