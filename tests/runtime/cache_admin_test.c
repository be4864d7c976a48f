#include "tests/runtime/cache_fixture.h"

#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct listing {
    struct lathe_cache_entry entries[4];
    int count, stop_after;
};

static int note_entry(void *user, const struct lathe_cache_entry *entry)
{
    struct listing *listing = user;

    assert_true(listing->count < 4);
    listing->entries[listing->count++] = *entry;
    return listing->count == listing->stop_after;
}

/* Three entries, the second of them damaged. */
static void fill(struct cache_fixture *f, char paths[3][CACHE_PATH_SIZE])
{
    for (unsigned i = 0; i < 3; i++) {
        struct sample sample;

        sample_make(&sample, 1 + i, CACHE_CODE_BYTES);
        obtain(f->cache, &sample);
        entry_path(f, &sample, paths[i]);
        if (i == 1)
            assert_int_equal(truncate(paths[i], 700), 0);
        age(paths[i], 1000 - 100 * (long)i);
        sample_free(&sample);
    }
}

/* Whatever else lives in the directory, with names like ours too, is not ours to remove. */
static void files_of_others_are_left_alone(void **state)
{
    struct cache_fixture *f = *state;
    static const char *const names[] = {"d41d8cd98f00b204e9800998ecf8427e", "kernel.cubin",
                                        "d41d8cd98f00b204e9800998ecf8427e.cubin.bak"};
    char paths[3][CACHE_PATH_SIZE], path[CACHE_PATH_SIZE];
    int removed = 0;

    fill(f, paths);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        path_of(f, names[i], path);
        write_file(path, "precious", 8);
        age(path, 100000);
    }
    assert_int_equal(lt_cache_verify(f->cache, NULL, &removed, NULL), LATHE_OK);
    assert_int_equal(removed, 1); /* the damaged one */
    assert_int_equal(lt_cache_prune(f->cache, 0, &removed, NULL), LATHE_OK);
    assert_int_equal(removed, 2);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        path_of(f, names[i], path);
        assert_true(is_there(path));
    }
}

static void entries_are_listed_oldest_first_with_what_they_hold(void **state)
{
    struct cache_fixture *f = *state;
    struct listing listing = {.count = 0};
    char paths[3][CACHE_PATH_SIZE], name[LT_CACHE_NAME_SIZE];

    assert_int_equal(lt_cache_list(f->cache, note_entry, &listing, NULL), LATHE_OK);
    assert_int_equal(listing.count, 0);
    fill(f, paths);
    assert_int_equal(lt_cache_list(f->cache, note_entry, &listing, NULL), LATHE_OK);
    assert_int_equal(listing.count, 3);

    const struct lathe_cache_entry *first = &listing.entries[0], *second = &listing.entries[1];

    lt_cache_name(&f->sample.key, name);
    assert_string_equal(first->name, name);
    assert_int_equal(first->valid, 1);
    assert_true(first->bytes > CACHE_CODE_BYTES);
    assert_true(labs((long)(time(NULL) - first->written) - 1000) < 60);
    assert_string_equal(first->kernel, "sample_1");
    assert_string_equal(first->arch, "sm_90a");
    assert_string_equal(first->linker, "nvJitLink 13.0");
    assert_string_equal(first->options, "-arch=sm_90a -O3");
    assert_string_equal(first->plan, "arch=sm_90a variant=sample");
    assert_int_equal(first->registers, 168);
    assert_int_equal(first->spill_bytes, -1);
    assert_int_equal(first->warning_count, 1);
    assert_int_equal(second->valid, 0);
    assert_string_equal(second->kernel, "");
    assert_int_equal(second->bytes, 700);
    listing = (struct listing){.stop_after = 2};
    assert_int_equal(lt_cache_list(f->cache, note_entry, &listing, NULL), LATHE_OK);
    assert_int_equal(listing.count, 2);
}

static void verify_removes_what_is_damaged(void **state)
{
    struct cache_fixture *f = *state;
    char paths[3][CACHE_PATH_SIZE];
    int checked = -1, removed = -1;

    fill(f, paths);
    assert_int_equal(lt_cache_verify(f->cache, &checked, &removed, NULL), LATHE_OK);
    assert_int_equal(checked, 3);
    assert_int_equal(removed, 1);
    assert_true(is_there(paths[0]) && !is_there(paths[1]) && is_there(paths[2]));
}

static void prune_removes_the_oldest(void **state)
{
    struct cache_fixture *f = *state;
    char paths[3][CACHE_PATH_SIZE];
    struct stat status;
    int removed = -1;

    fill(f, paths);
    assert_int_equal(lt_cache_prune(f->cache, -1, &removed, NULL), LATHE_OK);
    assert_int_equal(removed, 0);
    assert_int_equal(stat(paths[2], &status), 0);
    assert_int_equal(lt_cache_prune(f->cache, status.st_size + 700, &removed, NULL), LATHE_OK);
    assert_int_equal(removed, 1);
    assert_false(is_there(paths[0]));
    assert_int_equal(lt_cache_prune(f->cache, 0, &removed, NULL), LATHE_OK);
    assert_int_equal(removed, 2);
    assert_int_equal(count_files(f, ""), 1); /* the lock */
}

static void the_parts_of_an_entry_can_be_taken_out(void **state)
{
    struct cache_fixture *f = *state;
    char name[LT_CACHE_NAME_SIZE], path[CACHE_PATH_SIZE], buffer[4096];
    struct lathe_error err;
    const struct {
        enum lathe_cache_part part;
        const void *data;
        size_t bytes;
    } parts[] = {
        {LATHE_CACHE_TEXT, f->sample.key.text, f->sample.key.text_bytes},
        {LATHE_CACHE_CUBIN, f->sample.cubin, f->sample.value.cubin_bytes},
        {LATHE_CACHE_CONTRACT, f->sample.value.contract, strlen(f->sample.value.contract)},
    };

    obtain(f->cache, &f->sample);
    lt_cache_name(&f->sample.key, name);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int pipes[2];

        assert_int_equal(pipe(pipes), 0);
        assert_int_equal(lt_cache_write_part(f->cache, name, parts[i].part, pipes[1], NULL),
                         LATHE_OK);
        close(pipes[1]);
        assert_int_equal(read(pipes[0], buffer, sizeof buffer), parts[i].bytes);
        assert_memory_equal(buffer, parts[i].data, parts[i].bytes);
        close(pipes[0]);
    }
    assert_int_equal(lt_cache_write_part(f->cache, "../etc/passwd", LATHE_CACHE_TEXT, 1, &err),
                     LATHE_IO_FAILED);
    assert_non_null(strstr(err.message, "has no entry ../etc/passwd"));
    entry_path(f, &f->sample, path);
    assert_int_equal(truncate(path, 100), 0);
    assert_int_equal(lt_cache_write_part(f->cache, name, LATHE_CACHE_TEXT, 1, &err),
                     LATHE_IO_FAILED);
    assert_non_null(strstr(err.message, "it does not end as an entry does"));
}

static void the_owner_is_told_why_there_is_no_directory(void **state)
{
    struct cache_fixture *f = *state;
    struct lathe_error err;
    char path[CACHE_PATH_SIZE];
    int count;

    assert_int_equal(mkdir(f->place, 0700) + chmod(f->place, 0777), 0);
    assert_int_equal(lt_cache_path(f->cache, path, sizeof path, &err), LATHE_IO_FAILED);
    assert_non_null(strstr(err.message, "other users may write to"));
    assert_int_equal(lt_cache_verify(f->cache, &count, &count, NULL), LATHE_IO_FAILED);
    assert_int_equal(lt_cache_prune(f->cache, 0, &count, NULL), LATHE_IO_FAILED);
    f->settings.enabled = false;
    make_again(f);
    assert_int_equal(lt_cache_path(f->cache, path, sizeof path, &err), LATHE_IO_FAILED);
    assert_string_equal(err.message, "the cache is off");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CACHE_TEST(files_of_others_are_left_alone),
        CACHE_TEST(entries_are_listed_oldest_first_with_what_they_hold),
        CACHE_TEST(verify_removes_what_is_damaged),
        CACHE_TEST(prune_removes_the_oldest),
        CACHE_TEST(the_parts_of_an_entry_can_be_taken_out),
        CACHE_TEST(the_owner_is_told_why_there_is_no_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
