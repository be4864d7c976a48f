/* stub_cubin.h: what the driver reads in a cubin, or in text: its kernels, and what each needs at a
 * launch. */
#ifndef STUB_CUBIN_H
#define STUB_CUBIN_H

#include <stdbool.h>
#include <stddef.h>

enum { STUB_KERNEL_PARAMS_MAX = 64 };

struct stub_kernel {
    const char *name; /* in the image */
    int registers, local_bytes;
    int static_bytes;    /* of shared memory, without what the system reserves */
    int max_threads;     /* .maxntid or .reqntid; 0 when not said */
    unsigned block[3];   /* .reqntid; 0 when not said */
    unsigned cluster[3]; /* .reqnctapercluster; 0 when not said */
    bool explicit_cluster;
    int param_count;
    size_t param_bytes[STUB_KERNEL_PARAMS_MAX];
};

struct stub_cubin {
    int sm; /* 90 for sm_90 and sm_90a */
    bool is_text;
    int kernel_count;
    struct stub_kernel *kernels;
};

/* The size that an image's own headers give it; 0 when it is no cubin of 64 bits, or would be
 * larger than `limit`. Reads its header and section table, nothing beyond `limit`. */
size_t stub_cubin_bytes(const void *image, size_t limit);

/* Reads an image of so many bytes, which must stay until the release. False when it is damaged, or
 * without memory. */
bool stub_cubin_read(struct stub_cubin *cubin, const void *image, size_t bytes);
void stub_cubin_release(struct stub_cubin *cubin);

/* Whether an image is text, which begins with ".version". */
bool stub_is_text(const void *image, size_t limit);
/* The same of text that ends in a zero and stays until the release; names are ended in it. False
 * where there is no kernel, or one that has other parameters than scalars. */
bool stub_text_read(struct stub_cubin *cubin, char *text);

#endif
