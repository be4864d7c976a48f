#include "codegen/arch.h"

#include "codegen/text.h"

enum {
    AMPERE = LT_HAS_MBARRIER,
    HOPPER = AMPERE | LT_HAS_TMA,
    BLACKWELL = HOPPER | LT_HAS_CLC | LT_HAS_SETMAXNREG,
    DATACENTER = BLACKWELL | LT_HAS_MULTICAST | LT_HAS_TCGEN05
};

/* clang-format off */
const struct lt_arch lt_arch_table[] = {
    /*                             ptx   capability smem  registers threads tmem  sms  features */
    {LATHE_SM_80,   "sm_80",   "7.0",  80, 166912, 65536, 2048,   0, 108, AMPERE},
    {LATHE_SM_86,   "sm_86",   "7.1",  86, 101376, 65536, 1536,   0,  84, AMPERE},
    {LATHE_SM_89,   "sm_89",   "7.8",  89, 101376, 65536, 1536,   0, 128, AMPERE},
    {LATHE_SM_90A,  "sm_90a",  "8.0",  90, 232448, 65536, 2048,   0, 132,
     HOPPER | LT_HAS_MULTICAST | LT_HAS_WGMMA | LT_HAS_SETMAXNREG},
    {LATHE_SM_100A, "sm_100a", "8.6", 100, 232448, 65536, 2048, 512, 148,
     DATACENTER | LT_HAS_TCGEN05_I8},
    {LATHE_SM_103A, "sm_103a", "8.8", 103, 232448, 65536, 2048, 512, 148, DATACENTER},
    {LATHE_SM_110A, "sm_110a", "9.0", 110, 232448, 65536, 2048, 512,  20,
     DATACENTER | LT_HAS_TCGEN05_I8},
    {LATHE_SM_120A, "sm_120a", "8.7", 120, 101376, 65536, 1536,   0, 170, BLACKWELL},
    {LATHE_ARCH_DEFAULT, "default", "", 0, 0, 0, 0, 0, 0, 0},
};
/* clang-format on */

const struct lt_arch *lt_arch(enum lathe_arch arch)
{
    for (const struct lt_arch *row = lt_arch_table; row->id != LATHE_ARCH_DEFAULT; row++)
        if (row->id == arch)
            return row;
    return NULL;
}

const char *lathe_arch_name(enum lathe_arch arch)
{
    const struct lt_arch *row = lt_arch(arch);

    return row ? row->name : "default";
}

size_t lt_arch_names_with(unsigned feature, char *buffer, size_t size)
{
    struct lt_text names = {0};
    const struct lt_arch *last = NULL;

    for (const struct lt_arch *row = lt_arch_table; row->id != LATHE_ARCH_DEFAULT; row++)
        if (row->features & feature)
            last = row;
    for (const struct lt_arch *row = lt_arch_table; last && row <= last; row++) {
        if (!(row->features & feature))
            continue;
        if (names.length > 0)
            lt_text_append(&names, row == last ? " or " : ", ");
        lt_text_append(&names, row->name);
    }

    size_t length = lt_text_copy(&names, buffer, size);

    lt_text_free(&names);
    return length;
}
