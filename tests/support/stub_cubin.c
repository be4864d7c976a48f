/* stub_cubin.c: reads cubins: ELF files of 64 bits for machine 190.
 *
 * A kernel NAME is a section .text.NAME that is not empty. Beside it lie .nv.info.NAME, a row of
 * records that say how to launch it, and .nv.shared.NAME, as large as its static shared memory; the
 * section .nv.info has records for all kernels, which name theirs by its place in the symbol table.
 * A record is a byte for its form, one for what it says, and 16 bits: the value itself, or, in form
 * 4, the number of bytes that follow. Seen in what ptxas and nvJitLink of CUDA 13.0 write, by
 * nvdisasm's words for it. */
#include "tests/support/stub_cubin.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER_BYTES = 64,
    SECTION_BYTES = 64,
    SEGMENT_BYTES = 56,
    MACHINE_CUDA = 190,
    SECTION_WITHOUT_BYTES = 8, /* SHT_NOBITS */
    RESERVED_SHARED = 1024,    /* counted in .nv.shared.NAME from sm_90 on */
    LARGEST_BLOCK = 1024       /* threads along one dimension; of clusters, more than enough */
};

/* What a record says; EIATTR_ and these words in nvdisasm's output. */
enum {
    MAX_THREADS = 0x05,
    REQNTID = 0x10,
    FRAME_SIZE = 0x11,
    KPARAM_INFO = 0x17,
    REGCOUNT = 0x2f,
    CTA_PER_CLUSTER = 0x3d,
    EXPLICIT_CLUSTER = 0x3e
};
enum { FORM_SIZED = 4 };

struct section {
    const char *name;
    uint32_t type, info;
    const unsigned char *bytes;
    uint64_t size;
};

struct record {
    unsigned what;
    const unsigned char *bytes; /* after the first four; null unless of form 4 */
    size_t size;
};

static unsigned read_u16(const unsigned char *bytes)
{
    return (unsigned)bytes[0] | (unsigned)bytes[1] << 8;
}

static uint32_t read_u32(const unsigned char *bytes)
{
    return (uint32_t)read_u16(bytes) | (uint32_t)read_u16(bytes + 2) << 16;
}

static uint64_t read_u64(const unsigned char *bytes)
{
    return (uint64_t)read_u32(bytes) | (uint64_t)read_u32(bytes + 4) << 32;
}

/* ---- The file -------------------------------------------------------------------------------- */

static bool is_cubin(const unsigned char *image, size_t limit)
{
    /* 64 bits, little-endian, version 1 */
    static const unsigned char start[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};

    for (size_t i = 0; i < sizeof start; i++)
        if (i >= limit || image[i] != start[i])
            return false;
    return limit >= HEADER_BYTES && read_u16(image + 18) == MACHINE_CUDA &&
           read_u16(image + 58) == SECTION_BYTES &&
           (read_u16(image + 56) == 0 || read_u16(image + 54) == SEGMENT_BYTES);
}

/* The end of `size` bytes at `offset`, or 0 if that is beyond the limit. */
static size_t end_of(uint64_t offset, uint64_t size, size_t limit)
{
    return offset <= limit && size <= limit - offset ? (size_t)(offset + size) : 0;
}

size_t stub_cubin_bytes(const void *image, size_t limit)
{
    const unsigned char *bytes = image;
    size_t end, most;
    unsigned count;

    if (!is_cubin(bytes, limit))
        return 0;
    count = read_u16(bytes + 60);
    most = end_of(read_u64(bytes + 40), (uint64_t)count * SECTION_BYTES, limit);
    end = end_of(read_u64(bytes + 32), (uint64_t)read_u16(bytes + 56) * SEGMENT_BYTES, limit);
    if (most < HEADER_BYTES || (end == 0 && read_u16(bytes + 56) != 0))
        return 0;
    most = end > most ? end : most;
    for (unsigned i = 0; i < count; i++) {
        const unsigned char *entry = bytes + read_u64(bytes + 40) + (size_t)i * SECTION_BYTES;

        if (read_u32(entry + 4) == SECTION_WITHOUT_BYTES || read_u64(entry + 32) == 0)
            continue;
        end = end_of(read_u64(entry + 24), read_u64(entry + 32), limit);
        if (end == 0)
            return 0;
        most = end > most ? end : most;
    }
    return most;
}

/* A string of the table, or null if it does not end within it. */
static const char *string_at(const struct section *table, uint32_t offset)
{
    if (offset >= table->size ||
        memchr(table->bytes + offset, '\0', (size_t)(table->size - offset)) == NULL)
        return NULL;
    return (const char *)table->bytes + offset;
}

/* Without the name. stub_cubin_bytes() has found all of it to lie within the image. */
static struct section section_at(const unsigned char *image, unsigned i)
{
    const unsigned char *entry = image + read_u64(image + 40) + (size_t)i * SECTION_BYTES;
    struct section section = {
        .type = read_u32(entry + 4),
        .info = read_u32(entry + 44),
        .size = read_u64(entry + 32),
    };

    if (section.type != SECTION_WITHOUT_BYTES && section.size != 0)
        section.bytes = image + read_u64(entry + 24);
    return section;
}

/* All sections with their names; null if the file is damaged, or without memory. */
static struct section *read_sections(const unsigned char *image, unsigned count)
{
    struct section *sections = calloc(count != 0 ? count : 1, sizeof *sections);
    unsigned names = read_u16(image + 62);

    if (sections == NULL || names >= count)
        goto damaged;
    for (unsigned i = 0; i < count; i++)
        sections[i] = section_at(image, i);
    if (sections[names].bytes == NULL)
        goto damaged;
    for (unsigned i = 0; i < count; i++) {
        const unsigned char *entry = image + read_u64(image + 40) + (size_t)i * SECTION_BYTES;

        sections[i].name = string_at(&sections[names], read_u32(entry));
        if (sections[i].name == NULL)
            goto damaged;
    }
    return sections;

damaged:
    free(sections);
    return NULL;
}

/* ---- Records --------------------------------------------------------------------------------- */

/* Takes the record at *at and moves on. False at the end, and, then with *damaged, where the
 * section breaks off within a record. */
static bool next_record(const struct section *section, size_t *at, struct record *record,
                        bool *damaged)
{
    const unsigned char *bytes = section->bytes;
    size_t left = bytes != NULL ? (size_t)section->size - *at : 0;

    if (left == 0)
        return false;
    if (left < 4 || bytes[*at] == 0 || bytes[*at] > FORM_SIZED ||
        (bytes[*at] == FORM_SIZED && read_u16(bytes + *at + 2) > left - 4)) {
        *damaged = true;
        return false;
    }
    *record = (struct record){.what = bytes[*at + 1]};
    if (bytes[*at] == FORM_SIZED) {
        record->bytes = bytes + *at + 4;
        record->size = read_u16(bytes + *at + 2);
    }
    *at += 4 + record->size;
    return true;
}

static bool read_three(unsigned *three, const struct record *record)
{
    if (record->size < 12)
        return false;
    for (size_t i = 0; i < 3; i++) {
        three[i] = read_u32(record->bytes + 4 * i);
        if (three[i] > LARGEST_BLOCK)
            return false;
    }
    return true;
}

/* 32 bits unused, 16 bits ordinal, 16 bits offset, and the size in the upper 14 bits of the last.
 */
static bool read_param(struct stub_kernel *kernel, const struct record *record)
{
    unsigned ordinal;

    if (record->size < 12)
        return false;
    ordinal = read_u16(record->bytes + 4);
    if (ordinal >= STUB_KERNEL_PARAMS_MAX)
        return false;
    kernel->param_bytes[ordinal] = read_u32(record->bytes + 8) >> 18;
    if ((int)ordinal >= kernel->param_count)
        kernel->param_count = (int)ordinal + 1;
    return true;
}

static bool read_record(struct stub_kernel *kernel, const struct record *record)
{
    unsigned three[3];

    switch (record->what) {
    case KPARAM_INFO:
        return read_param(kernel, record);
    case MAX_THREADS:
        if (!read_three(three, record))
            return false;
        kernel->max_threads = (int)(three[0] * three[1] * three[2]);
        return true;
    case REQNTID:
        if (!read_three(kernel->block, record))
            return false;
        kernel->max_threads = (int)(kernel->block[0] * kernel->block[1] * kernel->block[2]);
        return true;
    case CTA_PER_CLUSTER:
        return read_three(kernel->cluster, record);
    case EXPLICIT_CLUSTER:
        kernel->explicit_cluster = true;
        return true;
    default:
        return true;
    }
}

static bool read_own_records(struct stub_kernel *kernel, const struct section *section)
{
    struct record record;
    bool damaged = false;
    size_t at = 0;

    while (next_record(section, &at, &record, &damaged))
        if (!read_record(kernel, &record))
            return false;
    for (int i = 0; i < kernel->param_count; i++)
        if (kernel->param_bytes[i] == 0)
            return false;
    return !damaged;
}

/* From .nv.info: registers and stack, of the kernel that is this symbol. */
static bool read_common_records(struct stub_kernel *kernel, const struct section *section,
                                uint32_t symbol)
{
    struct record record;
    bool damaged = false;
    size_t at = 0;

    while (next_record(section, &at, &record, &damaged)) {
        if (record.what != REGCOUNT && record.what != FRAME_SIZE)
            continue;
        if (record.size < 8)
            return false;
        if (read_u32(record.bytes) != symbol)
            continue;
        if (record.what == REGCOUNT)
            kernel->registers = (int)(read_u32(record.bytes + 4) & 0xffff);
        else
            kernel->local_bytes = (int)(read_u32(record.bytes + 4) & 0xffffff);
    }
    return !damaged;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static const char *after(const char *prefix, const char *name)
{
    size_t length = strlen(prefix);

    return strncmp(name, prefix, length) == 0 && name[length] != '\0' ? name + length : NULL;
}

static bool is_kernel(const struct section *section)
{
    return section->bytes != NULL && after(".text.", section->name) != NULL;
}

static bool read_kernel(struct stub_kernel *kernel, const struct stub_cubin *cubin,
                        const struct section *text, const struct section *sections, unsigned count)
{
    bool sound = true;

    kernel->name = after(".text.", text->name);
    for (unsigned i = 0; i < count && sound; i++) {
        const struct section *section = &sections[i];
        const char *info = after(".nv.info.", section->name);
        const char *shared = after(".nv.shared.", section->name);

        if (info != NULL && strcmp(info, kernel->name) == 0) {
            sound = read_own_records(kernel, section);
        } else if (strcmp(section->name, ".nv.info") == 0) {
            sound = read_common_records(kernel, section, text->info & 0xffffff);
        } else if (shared != NULL && strcmp(shared, kernel->name) == 0) {
            uint64_t reserved = cubin->sm >= 90 ? RESERVED_SHARED : 0;

            sound = section->size <= 1 << 24;
            kernel->static_bytes =
                sound && section->size > reserved ? (int)(section->size - reserved) : 0;
        }
    }
    return sound;
}

bool stub_cubin_read(struct stub_cubin *cubin, const void *image, size_t bytes)
{
    const unsigned char *file = image;
    unsigned count = stub_cubin_bytes(image, bytes) == bytes ? read_u16(file + 60) : 0;
    struct section *sections = count != 0 ? read_sections(file, count) : NULL;
    uint32_t flags;
    bool sound = true;

    memset(cubin, 0, sizeof *cubin);
    if (sections == NULL)
        return false;
    flags = read_u32(file + 48);
    /* Version 8 of the ABI, that of CUDA 13, moved the architecture up by a byte. */
    cubin->sm = (int)(file[8] >= 8 ? flags >> 8 & 0xff : flags & 0xff);
    cubin->kernels = calloc(count, sizeof *cubin->kernels);
    sound = cubin->kernels != NULL;
    for (unsigned i = 0; i < count && sound; i++)
        if (is_kernel(&sections[i]))
            sound = read_kernel(&cubin->kernels[cubin->kernel_count++], cubin, &sections[i],
                                sections, count);
    free(sections);
    if (!sound)
        stub_cubin_release(cubin);
    return sound;
}

void stub_cubin_release(struct stub_cubin *cubin)
{
    free(cubin->kernels);
    memset(cubin, 0, sizeof *cubin);
}
