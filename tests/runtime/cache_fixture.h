/* cache_fixture.h: a cache in an empty directory with a sample kernel, and what its tests share. */
#ifndef LATHE_TESTS_CACHE_FIXTURE_H
#define LATHE_TESTS_CACHE_FIXTURE_H

#include "tests/runtime/cache_sample.h"

enum { CACHE_CODE_BYTES = 400, CACHE_PATH_SIZE = SAMPLE_PATH_SIZE + 128 };

struct cache_fixture {
    char directory[SAMPLE_PATH_SIZE]; /* of the test                                  */
    char place[SAMPLE_PATH_SIZE + 8]; /* of the cache: in it, and not there at first  */
    struct sample_log log;
    struct lt_cache_settings settings;
    struct lt_cache *cache; /* made with them */
    struct sample sample;
};

/* For cmocka: `state` is the fixture. */
int cache_set_up(void **state);
int cache_tear_down(void **state);

#define CACHE_TEST(name) cmocka_unit_test_setup_teardown(name, cache_set_up, cache_tear_down)

/* The cache anew, with the settings as they are now. */
void make_again(struct cache_fixture *f);

/* One call that must succeed with the right value, whatever the state of the cache. */
enum lathe_cache_result obtain(struct lt_cache *cache, struct sample *sample);

/* That the log has so many lines, and the last of them these words. */
void assert_log_has(const struct cache_fixture *f, int lines, const char *words);

/* The path of a file of the cache; of a sample's entry. */
void path_of(const struct cache_fixture *f, const char *name, char path[CACHE_PATH_SIZE]);
void entry_path(const struct cache_fixture *f, const struct sample *sample,
                char path[CACHE_PATH_SIZE]);

bool is_there(const char *path);
/* Files in the directory of the cache whose names end so. */
int count_files(const struct cache_fixture *f, const char *ending);
void write_file(const char *path, const void *data, size_t bytes);
/* Allocated with malloc. */
unsigned char *read_file(const char *path, size_t *bytes);
/* Makes a file look as if it was written so long ago. */
void age(const char *path, long seconds);

#endif
