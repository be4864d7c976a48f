#include "tests/runtime/cache_fixture.h"

#include "tests/support/cmocka_all.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int cache_set_up(void **state)
{
    struct cache_fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    assert_true(sample_directory_make(f->directory));
    snprintf(f->place, sizeof f->place, "%s/cache", f->directory);
    f->settings = (struct lt_cache_settings){
        .enabled = true, .directory = f->place, .log = sample_log, .log_user = &f->log};
    assert_int_equal(lt_cache_create(&f->cache, &f->settings, NULL), LATHE_OK);
    sample_make(&f->sample, 1, CACHE_CODE_BYTES);
    *state = f;
    return 0;
}

int cache_tear_down(void **state)
{
    struct cache_fixture *f = *state;

    lt_cache_destroy(&f->cache);
    sample_free(&f->sample);
    sample_directory_remove(f->directory);
    free(f);
    return 0;
}

void make_again(struct cache_fixture *f)
{
    lt_cache_destroy(&f->cache);
    assert_int_equal(lt_cache_create(&f->cache, &f->settings, NULL), LATHE_OK);
}

enum lathe_cache_result obtain(struct lt_cache *cache, struct sample *sample)
{
    struct lt_cache_value value;
    enum lathe_cache_result result = LATHE_CACHE_OFF;
    struct lathe_error err = {.status = LATHE_OK};

    assert_int_equal(
        lt_cache_obtain(cache, &sample->key, sample_build, sample, &value, &result, &err),
        LATHE_OK);
    assert_true(sample_is(sample, &value));
    lt_cache_value_release(cache, &value);
    return result;
}

void assert_log_has(const struct cache_fixture *f, int lines, const char *words)
{
    if (atomic_load(&f->log.lines) != lines || !strstr(f->log.last, words))
        fail_msg("%d lines, the last: %s", atomic_load(&f->log.lines), f->log.last);
}

void path_of(const struct cache_fixture *f, const char *name, char path[CACHE_PATH_SIZE])
{
    snprintf(path, CACHE_PATH_SIZE, "%s/%.60s", f->place, name);
}

void entry_path(const struct cache_fixture *f, const struct sample *sample,
                char path[CACHE_PATH_SIZE])
{
    char name[LT_CACHE_NAME_SIZE];

    lt_cache_name(&sample->key, name);
    path_of(f, name, path);
}

bool is_there(const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0;
}

int count_files(const struct cache_fixture *f, const char *ending)
{
    DIR *stream = opendir(f->place);
    int count = 0;

    if (!stream)
        return 0;
    for (const struct dirent *found; (found = readdir(stream)) != NULL;) {
        size_t length = strlen(found->d_name), tail = strlen(ending);

        count += found->d_name[0] != '.' && length >= tail &&
                 strcmp(found->d_name + length - tail, ending) == 0;
    }
    closedir(stream);
    return count;
}

void write_file(const char *path, const void *data, size_t bytes)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, data, bytes), bytes);
    close(descriptor);
}

unsigned char *read_file(const char *path, size_t *bytes)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;

    assert_true(descriptor >= 0);
    assert_int_equal(fstat(descriptor, &status), 0);
    *bytes = (size_t)status.st_size;

    unsigned char *data = malloc(*bytes);

    assert_non_null(data);
    assert_int_equal(read(descriptor, data, *bytes), *bytes);
    close(descriptor);
    return data;
}

void age(const char *path, long seconds)
{
    struct timespec times[2];

    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}
