/* stub_linker.c: plays nvJitLink; stub_linker.h says how. */
#include "tests/support/stub_linker.h"

#include <elf.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, PTX_COMPILE = 4, PARAMS_MAX = 32, CUBIN_MAX = 8192, MACHINE_CUDA = 190 };

struct link {
    char log[256];
    unsigned char cubin[CUBIN_MAX];
    size_t cubin_bytes;
};

static atomic_int mode, links, delay_ms;

EXPORT void stub_linker_set(enum stub_linker_mode wanted);
EXPORT int stub_linker_count(void);
EXPORT void stub_linker_delay(int milliseconds);
EXPORT int nvJitLinkVersion(unsigned *major, unsigned *minor);
EXPORT int nvJitLinkCreate(struct link **handle, uint32_t count, const char **options);
EXPORT int nvJitLinkDestroy(struct link **handle);
EXPORT int nvJitLinkAddData(struct link *link, int type, const void *data, size_t size,
                            const char *name);
EXPORT int nvJitLinkComplete(struct link *link);
EXPORT int nvJitLinkGetLinkedCubinSize(struct link *link, size_t *size);
EXPORT int nvJitLinkGetLinkedCubin(struct link *link, void *cubin);
EXPORT int nvJitLinkGetErrorLogSize(struct link *link, size_t *size);
EXPORT int nvJitLinkGetErrorLog(struct link *link, char *log);
EXPORT int nvJitLinkGetInfoLogSize(struct link *link, size_t *size);
EXPORT int nvJitLinkGetInfoLog(struct link *link, char *log);

void stub_linker_set(enum stub_linker_mode wanted)
{
    atomic_store(&mode, (int)wanted);
}

int stub_linker_count(void)
{
    return atomic_load(&links);
}

void stub_linker_delay(int milliseconds)
{
    atomic_store(&delay_ms, milliseconds);
}

/* ---- The text ---- */

struct entry {
    char name[128];
    int params;
    unsigned bytes[PARAMS_MAX];
};

/* The size of ".param .align 64 .b8 x[128]" or ".param .u32 x", of which `at` is the start. */
static unsigned param_bytes(const char *at)
{
    const char *end = at + strcspn(at, ",)\n");
    const char *bracket = memchr(at, '[', (size_t)(end - at));

    if (bracket)
        return (unsigned)strtoul(bracket + 1, NULL, 10);
    return memmem(at, (size_t)(end - at), "64 ", 3) ? 8 : 4;
}

static int read_entry(struct entry *entry, const char *text)
{
    const char *at = strstr(text, ".entry ");
    const char *end = at ? strchr(at, ')') : NULL;
    size_t length;

    memset(entry, 0, sizeof *entry);
    if (!end)
        return 0;
    at += strlen(".entry ");
    length = strcspn(at, "( \n");
    if (length == 0 || length >= sizeof entry->name)
        return 0;
    memcpy(entry->name, at, length);
    while ((at = strstr(at, ".param ")) != NULL && at < end && entry->params < PARAMS_MAX) {
        entry->bytes[entry->params++] = param_bytes(at);
        at += strlen(".param ");
    }
    return 1;
}

/* ---- The cubin ---- */

/* Records of KPARAM_INFO: ordinal, offset, and the size above bit 18. */
static size_t write_info(unsigned char *to, const struct entry *entry)
{
    size_t at = 0;
    unsigned offset = 0;

    for (int i = 0; i < entry->params; i++) {
        const uint32_t words[] = {0, (uint32_t)i | offset << 16, entry->bytes[i] << 18};

        to[at++] = 4;
        to[at++] = 0x17;
        to[at++] = sizeof words;
        to[at++] = 0;
        memcpy(to + at, words, sizeof words);
        at += sizeof words;
        offset += entry->bytes[i];
    }
    return at;
}

/* Sections: none, names, code, records. */
static void make_cubin(struct link *link, const struct entry *entry, int code_bytes)
{
    enum { NAMES = 1, CODE, INFO, SECTIONS };
    Elf64_Ehdr header = {.e_type = ET_EXEC,
                         .e_machine = MACHINE_CUDA,
                         .e_version = EV_CURRENT,
                         .e_flags = 90u << 8 | 90u,
                         .e_ehsize = sizeof header,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = SECTIONS,
                         .e_shstrndx = NAMES};
    Elf64_Shdr sections[SECTIONS] = {{.sh_name = 0}};
    size_t at = sizeof header;
    char *names = (char *)link->cubin + at;
    int length = snprintf(names + 1, 600, ".shstrtab%c.text.%s%c.nv.info.%s", 0, entry->name, 0,
                          entry->name);
    size_t code_name = 1 + sizeof ".shstrtab", info_name = code_name + 7 + strlen(entry->name);

    memcpy(header.e_ident,
           "\x7f"
           "ELF\2\1\1",
           7);
    sections[NAMES] = (Elf64_Shdr){
        .sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = at, .sh_size = (size_t)length + 2};
    at = (at + (size_t)length + 2 + 15) / 16 * 16;
    sections[CODE] = (Elf64_Shdr){.sh_name = (Elf64_Word)code_name,
                                  .sh_type = SHT_PROGBITS,
                                  .sh_offset = at,
                                  .sh_size = (size_t)code_bytes};
    memset(link->cubin + at, 0x5a, (size_t)code_bytes);
    at += (size_t)code_bytes;
    sections[INFO] = (Elf64_Shdr){.sh_name = (Elf64_Word)info_name,
                                  .sh_type = SHT_PROGBITS,
                                  .sh_offset = at,
                                  .sh_size = write_info(link->cubin + at, entry)};
    at = (at + sections[INFO].sh_size + 15) / 16 * 16;
    header.e_shoff = at;
    memcpy(link->cubin + at, sections, sizeof sections);
    memcpy(link->cubin, &header, sizeof header);
    link->cubin_bytes = at + sizeof sections;
}

/* ---- The functions of nvJitLink ---- */

int nvJitLinkVersion(unsigned *major, unsigned *minor)
{
    *major = 99;
    *minor = 1;
    return SUCCESS;
}

int nvJitLinkCreate(struct link **handle, uint32_t count, const char **options)
{
    int has_arch = 0;

    for (uint32_t i = 0; i < count; i++)
        has_arch = has_arch || strncmp(options[i], "-arch=sm_", 9) == 0;
    *handle = calloc(1, sizeof **handle);
    return *handle && has_arch ? SUCCESS : 2;
}

int nvJitLinkDestroy(struct link **handle)
{
    free(*handle);
    *handle = NULL;
    return SUCCESS;
}

int nvJitLinkAddData(struct link *link, int type, const void *data, size_t size, const char *name)
{
    struct timespec pause = {0, atomic_load(&delay_ms) * 1000000L};
    struct entry entry;

    (void)size;
    atomic_fetch_add(&links, 1);
    nanosleep(&pause, NULL);
    if (type != 2 || atomic_load(&mode) == STUB_REFUSES || !read_entry(&entry, data)) {
        snprintf(link->log, sizeof link->log, "ptxas %.64s, line 1; error : planted\nsecond line\n",
                 name);
        return PTX_COMPILE;
    }
    if (atomic_load(&mode) == STUB_WARNS)
        snprintf(link->log, sizeof link->log,
                 "ptxas info : (C7510) Potential Performance Loss: planted\n"
                 "ptxas . 64 bytes stack frame, 48 bytes spill stores, 56 bytes spill loads\n"
                 "ptxas info : Used 123 registers, used 2 barriers\n");
    else
        snprintf(link->log, sizeof link->log,
                 "ptxas . 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                 "ptxas info : Used 96 registers, used 2 barriers\n");
    make_cubin(link, &entry, atomic_load(&mode) == STUB_EMPTY ? 0 : 256);
    return SUCCESS;
}

int nvJitLinkComplete(struct link *link)
{
    return link->cubin_bytes > 0 ? SUCCESS : 9;
}

int nvJitLinkGetLinkedCubinSize(struct link *link, size_t *size)
{
    *size = link->cubin_bytes;
    return SUCCESS;
}

int nvJitLinkGetLinkedCubin(struct link *link, void *cubin)
{
    memcpy(cubin, link->cubin, link->cubin_bytes);
    return SUCCESS;
}

static int log_size(const struct link *link, size_t *size)
{
    *size = link->log[0] ? strlen(link->log) + 1 : 0;
    return SUCCESS;
}

int nvJitLinkGetErrorLogSize(struct link *link, size_t *size)
{
    return log_size(link, size);
}

int nvJitLinkGetErrorLog(struct link *link, char *log)
{
    memcpy(log, link->log, strlen(link->log) + 1);
    return SUCCESS;
}

int nvJitLinkGetInfoLogSize(struct link *link, size_t *size)
{
    return log_size(link, size);
}

int nvJitLinkGetInfoLog(struct link *link, char *log)
{
    return nvJitLinkGetErrorLog(link, log);
}
