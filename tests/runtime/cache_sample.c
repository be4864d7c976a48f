#include "tests/runtime/cache_sample.h"

#include <elf.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MACHINE_CUDA = 190, SECTIONS = 3 };

/* header, code, names, table of sections: the table comes last, as in what nvJitLink writes, so
 * that no file that was cut off has a whole one. */
size_t sample_cubin(unsigned char *buffer, const char *kernel, size_t code_bytes, unsigned seed)
{
    char names[128];
    int names_bytes = snprintf(names, sizeof names, "%c.shstrtab%c.text.%s", 0, 0, kernel) + 1;
    size_t code_at = sizeof(Elf64_Ehdr), names_at = code_at + code_bytes;
    size_t table_at = (names_at + (size_t)names_bytes + 7) / 8 * 8;
    size_t bytes = table_at + SECTIONS * sizeof(Elf64_Shdr);

    if (!buffer)
        return bytes;

    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_EXEC,
                         .e_machine = MACHINE_CUDA,
                         .e_version = EV_CURRENT,
                         .e_shoff = table_at,
                         .e_ehsize = sizeof header,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = SECTIONS,
                         .e_shstrndx = 1};
    Elf64_Shdr table[SECTIONS] = {
        {.sh_type = SHT_NULL},
        {.sh_name = 1,
         .sh_type = SHT_STRTAB,
         .sh_offset = names_at,
         .sh_size = (size_t)names_bytes},
        {.sh_name = 11, .sh_type = SHT_PROGBITS, .sh_offset = code_at, .sh_size = code_bytes},
    };

    memset(buffer, 0, bytes);
    memcpy(buffer, &header, sizeof header);
    for (size_t i = 0; i < code_bytes; i++) {
        seed = seed * 1664525U + 1013904223U;
        buffer[code_at + i] = (unsigned char)(seed >> 24);
    }
    memcpy(buffer + names_at, names, (size_t)names_bytes);
    memcpy(buffer + table_at, table, sizeof table);
    return bytes;
}

void sample_make(struct sample *sample, unsigned number, size_t code_bytes)
{
    memset(sample, 0, sizeof *sample);
    snprintf(sample->kernel, sizeof sample->kernel, "sample_%u", number);
    snprintf(sample->text, sizeof sample->text,
             ".version 8.0\n.target sm_90a\n.visible .entry %s()\n{\n\tret;\n}\n", sample->kernel);

    size_t cubin_bytes = sample_cubin(NULL, sample->kernel, code_bytes, number);

    sample->cubin = malloc(cubin_bytes);
    if (!sample->cubin)
        abort();
    sample_cubin(sample->cubin, sample->kernel, code_bytes, number);
    sample->key = (struct lt_cache_key){.text = sample->text,
                                        .text_bytes = strlen(sample->text),
                                        .arch = "sm_90a",
                                        .options = "-arch=sm_90a -O3"};
    sample->value = (struct lt_cache_value){.cubin = sample->cubin,
                                            .cubin_bytes = cubin_bytes,
                                            .kernel = sample->kernel,
                                            .plan = "arch=sm_90a variant=sample",
                                            .contract = "{\"name\":\"sample\"}",
                                            .linker = "nvJitLink 13.0",
                                            .warnings = "",
                                            .registers = 168,
                                            .spill_bytes = -1,
                                            .warning_count = (int)number};
}

void sample_free(struct sample *sample)
{
    free(sample->cubin);
    sample->cubin = NULL;
}

/* One write of one byte to the end: seen by all processes, however many build at once. */
static void note_build(const char *journal)
{
    int descriptor = open(journal, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

    if (descriptor < 0 || write(descriptor, "x", 1) != 1)
        abort();
    close(descriptor);
}

enum lathe_status sample_build(void *user, struct lt_cache_value *value, struct lathe_error *err)
{
    struct sample *sample = user;
    struct timespec pause = {sample->build_ms / 1000, sample->build_ms % 1000 * 1000000L};

    atomic_fetch_add(&sample->builds, 1);
    if (sample->journal)
        note_build(sample->journal);
    if (sample->build_ms > 0)
        nanosleep(&pause, NULL);
    if (sample->status != LATHE_OK) {
        err->status = sample->status;
        snprintf(err->message, sizeof err->message, "the linker does not like it");
        return sample->status;
    }
    *value = sample->value;
    return LATHE_OK;
}

bool sample_is(const struct sample *sample, const struct lt_cache_value *value)
{
    const struct lt_cache_value *want = &sample->value;

    return value->cubin_bytes == want->cubin_bytes &&
           memcmp(value->cubin, want->cubin, want->cubin_bytes) == 0 &&
           strcmp(value->kernel, want->kernel) == 0 && strcmp(value->plan, want->plan) == 0 &&
           strcmp(value->contract, want->contract) == 0 &&
           strcmp(value->linker, want->linker) == 0 &&
           strcmp(value->warnings, want->warnings) == 0 && value->registers == want->registers &&
           value->spill_bytes == want->spill_bytes && value->warning_count == want->warning_count;
}

void sample_log(void *user, enum lathe_log_level level, const char *line)
{
    struct sample_log *log = user;

    atomic_fetch_add(&log->of_level[level], 1);
    if (level != LATHE_LOG_WARNING)
        return;
    atomic_fetch_add(&log->lines, 1);
    snprintf(log->last, sizeof log->last, "%s", line);
}

bool sample_directory_make(char path[SAMPLE_PATH_SIZE])
{
    const char *base = getenv("TMPDIR");

    snprintf(path, SAMPLE_PATH_SIZE, "%s/lathe-cache-XXXXXX", base && *base ? base : "/tmp");
    return mkdtemp(path) != NULL;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

void sample_directory_remove(const char *path)
{
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
