#include "runtime/cubin.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Not in every libc's <elf.h>. */
enum { MACHINE_CUDA = 190 };

struct image {
    const unsigned char *data;
    size_t bytes;
};

/* A part of the image, or null if it is not wholly inside. */
static const unsigned char *get_part(const struct image *image, uint64_t offset, uint64_t bytes)
{
    if (offset > image->bytes || bytes > image->bytes - offset)
        return NULL;
    return image->data + offset;
}

/* Copied, since nothing says that a header is aligned. */
static bool get_section(const struct image *image, const Elf64_Ehdr *header, uint64_t index,
                        Elf64_Shdr *section)
{
    if (index > image->bytes / sizeof *section)
        return false;

    const unsigned char *part =
        header->e_shoff > image->bytes
            ? NULL
            : get_part(image, header->e_shoff + index * sizeof *section, sizeof *section);

    if (!part)
        return false;
    memcpy(section, part, sizeof *section);
    return true;
}

static const char *check_header(const struct image *image, Elf64_Ehdr *header)
{
    const unsigned char *part = get_part(image, 0, sizeof *header);

    if (!part || memcmp(part, ELFMAG, SELFMAG) != 0)
        return "the cubin is not an ELF file";
    memcpy(header, part, sizeof *header);
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
        return "the cubin is not a 64-bit little-endian ELF file";
    if (header->e_machine != MACHINE_CUDA)
        return "the cubin is not for CUDA";
    if (header->e_shoff == 0 || header->e_shentsize != sizeof(Elf64_Shdr))
        return "the cubin has no table of sections";
    return NULL;
}

/* How many sections there are, and which one holds their names: files with very many keep both in
 * the first section's header. */
static bool get_counts(const struct image *image, const Elf64_Ehdr *header, uint64_t *count,
                       uint64_t *names)
{
    Elf64_Shdr first;

    if (!get_section(image, header, 0, &first))
        return false;
    *count = header->e_shnum != 0 ? header->e_shnum : first.sh_size;
    *names = header->e_shstrndx != SHN_XINDEX ? header->e_shstrndx : first.sh_link;
    return true;
}

static bool has_name(const struct image *image, const Elf64_Shdr *names, const Elf64_Shdr *section,
                     const char *kernel)
{
    static const char prefix[] = ".text.";
    size_t prefix_bytes = sizeof prefix - 1, kernel_bytes = strlen(kernel) + 1;
    uint64_t room = names->sh_size;

    if (section->sh_name > room || prefix_bytes + kernel_bytes > room - section->sh_name)
        return false;

    const unsigned char *name =
        get_part(image, names->sh_offset, room) ? image->data + names->sh_offset : NULL;

    if (!name)
        return false;
    name += section->sh_name;
    return memcmp(name, prefix, prefix_bytes) == 0 &&
           memcmp(name + prefix_bytes, kernel, kernel_bytes) == 0;
}

const char *lt_elf_fault(const void *data, size_t bytes, const char *kernel)
{
    const struct image image = {data, bytes};
    Elf64_Ehdr header;
    Elf64_Shdr names, section;
    uint64_t count, names_index;
    const char *fault = check_header(&image, &header);

    if (fault)
        return fault;
    if (!get_counts(&image, &header, &count, &names_index) ||
        !get_section(&image, &header, names_index, &names) || names.sh_type != SHT_STRTAB)
        return "the cubin's table of sections is damaged";

    /* get_section() ends the loop at the latest where the file ends. */
    for (uint64_t i = 1; i < count; i++) {
        if (!get_section(&image, &header, i, &section))
            return "the cubin's table of sections is damaged";
        if (section.sh_type != SHT_PROGBITS || !has_name(&image, &names, &section, kernel))
            continue;
        if (section.sh_size == 0 || !get_part(&image, section.sh_offset, section.sh_size))
            return "the kernel's section of the cubin is empty";
        return NULL;
    }
    return "the cubin has no section for the kernel";
}
