/* arch.h: what each target architecture has, as one table of facts.
 *
 * Sources: CUDA C++ Programming Guide "Compute Capabilities"; PTX ISA "Release Notes" and the
 * target notes of each instruction; multiprocessor counts of the usual product. */
#ifndef LT_CODEGEN_ARCH_H
#define LT_CODEGEN_ARCH_H

#include "include/lathe.h"

enum lt_feature {
    LT_HAS_MBARRIER = 1 << 0,  /* mbarrier.init, arrive, test_wait               */
    LT_HAS_TMA = 1 << 1,       /* cp.async.bulk.tensor, try_wait, clusters, elect,
                                  stmatrix, griddepcontrol                       */
    LT_HAS_MULTICAST = 1 << 2, /* TMA .multicast::cluster at full speed          */
    LT_HAS_WGMMA = 1 << 3,
    LT_HAS_SETMAXNREG = 1 << 4,
    LT_HAS_TCGEN05 = 1 << 5,
    LT_HAS_TCGEN05_I8 = 1 << 6,
    LT_HAS_CLC = 1 << 7 /* clusterlaunchcontrol */
};

struct lt_arch {
    enum lathe_arch id;
    const char *name;        /* as .target and -arch= want it                        */
    const char *ptx_version; /* lowest .version that knows the target and its features */
    int capability;          /* 10 * major + minor, as the device reports it         */
    int smem_bytes;          /* most shared memory a block may have (opt-in)         */
    int registers;           /* 32-bit registers a multiprocessor                    */
    int threads;             /* most threads a multiprocessor                        */
    int tmem_columns;        /* tensor memory, columns of 128 lanes x 4 bytes        */
    int sms;                 /* multiprocessors of the usual product                 */
    unsigned features;       /* of enum lt_feature                                   */
};

/* Null for LATHE_ARCH_DEFAULT and for values that are no architecture. */
const struct lt_arch *lt_arch(enum lathe_arch arch);

/* The names of the architectures that have the feature, for messages: "sm_100a, sm_103a or ...". */
size_t lt_arch_names_with(unsigned feature, char *buffer, size_t size);

/* In the order of the enumeration, the last has id LATHE_ARCH_DEFAULT. */
extern const struct lt_arch lt_arch_table[];

#endif
