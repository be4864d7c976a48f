/* cache_sample.h: made-up kernels for tests of the cache, and a directory to keep them in. Needs no
 * CUDA: the cubins are ELF files with one section of code, made by hand. */
#ifndef LATHE_TESTS_CACHE_SAMPLE_H
#define LATHE_TESTS_CACHE_SAMPLE_H

#include "runtime/cache.h"

#include <stdatomic.h>

/* Writes a cubin whose kernel has so many bytes of code, drawn from `seed`, and returns its size;
 * with a null buffer only the size. */
size_t sample_cubin(unsigned char *buffer, const char *kernel, size_t code_bytes, unsigned seed);

/* One kernel: what is asked of the cache, what the linker would make, and how it behaves. */
struct sample {
    struct lt_cache_key key;
    struct lt_cache_value value;
    unsigned char *cubin;
    char text[512], kernel[32];

    int build_ms;             /* how long a build takes                           */
    enum lathe_status status; /* what a build returns                              */
    const char *journal;      /* a file that gets a byte for each build; or null   */
    atomic_int builds;
};

void sample_make(struct sample *sample, unsigned number, size_t code_bytes);
void sample_free(struct sample *sample);
/* A lt_cache_build; `user` is the sample. */
enum lathe_status sample_build(void *user, struct lt_cache_value *value, struct lathe_error *err);
/* Whether the value is the sample's, in every field. */
bool sample_is(const struct sample *sample, const struct lt_cache_value *value);

/* A log callback; `user` is a struct sample_log. */
struct sample_log {
    atomic_int of_level[LATHE_LOG_WARNING + 1];
    atomic_int lines; /* of warnings     */
    char last[1024];  /* of the warnings */
};
void sample_log(void *user, enum lathe_log_level level, const char *line);

/* Makes an empty directory, private to the user, under TMPDIR or /tmp; false if it cannot. */
enum { SAMPLE_PATH_SIZE = 512 };
bool sample_directory_make(char path[SAMPLE_PATH_SIZE]);
/* Removes it with all that is in it. */
void sample_directory_remove(const char *path);

#endif
