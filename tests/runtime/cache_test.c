#include "tests/runtime/cache_fixture.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/fail_allocator.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Hit and miss ---- */

static void the_first_call_builds_and_the_second_reads(void **state)
{
    struct cache_fixture *f = *state;

    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_MISS);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_HIT);
    make_again(f);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_HIT);
    assert_int_equal(atomic_load(&f->sample.builds), 1);
    assert_int_equal(atomic_load(&f->log.lines), 0);
}

static void making_a_cache_touches_no_file(void **state)
{
    struct cache_fixture *f = *state;

    assert_false(is_there(f->place));
}

static void all_that_is_made_is_private_to_the_user(void **state)
{
    struct cache_fixture *f = *state;
    char path[CACHE_PATH_SIZE];
    struct stat status;
    mode_t before = umask(0);

    obtain(f->cache, &f->sample);
    umask(before);
    assert_int_equal(stat(f->place, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    entry_path(f, &f->sample, path);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    path_of(f, "lock", path);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
}

static void a_hit_changes_nothing_in_the_directory(void **state)
{
    struct cache_fixture *f = *state;
    char path[CACHE_PATH_SIZE];
    struct stat before[2], after[2];

    obtain(f->cache, &f->sample);
    path_of(f, "lock", path);
    assert_int_equal(unlink(path), 0);
    entry_path(f, &f->sample, path);
    assert_int_equal(stat(f->place, &before[0]) + stat(path, &before[1]), 0);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_HIT);
    assert_int_equal(stat(f->place, &after[0]) + stat(path, &after[1]), 0);
    for (int i = 0; i < 2; i++) {
        assert_memory_equal(&before[i].st_mtim, &after[i].st_mtim, sizeof before[i].st_mtim);
        assert_memory_equal(&before[i].st_ctim, &after[i].st_ctim, sizeof before[i].st_ctim);
    }
    assert_int_equal(count_files(f, ""), 1);
}

static void a_cache_that_is_off_touches_nothing(void **state)
{
    struct cache_fixture *f = *state;

    f->settings.enabled = false;
    make_again(f);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_OFF);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_OFF);
    assert_int_equal(atomic_load(&f->sample.builds), 2);
    assert_false(is_there(f->place));
}

static void a_failed_build_is_reported_and_not_kept(void **state)
{
    struct cache_fixture *f = *state;
    struct lt_cache_value value = {.registers = 77};
    enum lathe_cache_result result = LATHE_CACHE_OFF;
    struct lathe_error err = {.status = LATHE_OK};

    f->sample.status = LATHE_LINK_FAILED;
    assert_int_equal(
        lt_cache_obtain(f->cache, &f->sample.key, sample_build, &f->sample, &value, &result, &err),
        LATHE_LINK_FAILED);
    assert_string_equal(err.message, "the linker does not like it");
    assert_int_equal(value.registers, 77);
    assert_int_equal(
        lt_cache_obtain(f->cache, &f->sample.key, sample_build, &f->sample, &value, &result, NULL),
        LATHE_LINK_FAILED);
    f->sample.status = LATHE_OK;
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_MISS);
    assert_int_equal(atomic_load(&f->log.lines), 0);
}

static void an_image_without_its_kernel_is_a_failed_link(void **state)
{
    struct cache_fixture *f = *state;
    struct lt_cache_value value;
    enum lathe_cache_result result;
    struct lathe_error err = {.status = LATHE_OK};
    char path[CACHE_PATH_SIZE];

    f->sample.value.cubin_bytes = 0;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(lt_cache_obtain(f->cache, &f->sample.key, sample_build, &f->sample, &value,
                                         &result, &err),
                         LATHE_LINK_FAILED);
        assert_non_null(strstr(err.message, "nvJitLink 13.0 reported success for sample_1, but"));
        f->settings.enabled = false;
        make_again(f);
    }
    entry_path(f, &f->sample, path);
    assert_false(is_there(path));
}

static enum lathe_status build_in_memory(void *user, struct lt_cache_value *value,
                                         struct lathe_error *err)
{
    enum lathe_status status = sample_build(user, value, err);

    value->memory = malloc(value->cubin_bytes);
    assert_non_null(value->memory);
    memcpy(value->memory, value->cubin, value->cubin_bytes);
    value->cubin = value->memory;
    return status;
}

static void memory_that_a_build_hands_over_is_released(void **state)
{
    struct cache_fixture *f = *state;
    struct lt_cache_value value;
    enum lathe_cache_result result;

    assert_int_equal(lt_cache_obtain(f->cache, &f->sample.key, build_in_memory, &f->sample, &value,
                                     &result, NULL),
                     LATHE_OK);
    assert_ptr_equal(value.cubin, value.memory);
    lt_cache_value_release(f->cache, &value);
    assert_null(value.cubin);
    lt_cache_value_release(f->cache, &value);
}

/* ---- Damage ---- */

/* The entry holds these bytes now: they must be refused, said once, and replaced. */
static void assert_healed(struct cache_fixture *f, const void *data, size_t bytes)
{
    char path[CACHE_PATH_SIZE];
    int builds = atomic_load(&f->sample.builds);

    entry_path(f, &f->sample, path);
    write_file(path, data, bytes);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_MISS);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_HIT);
    assert_int_equal(atomic_load(&f->sample.builds), builds + 1);
}

static void an_entry_cut_off_anywhere_is_built_anew(void **state)
{
    struct cache_fixture *f = *state;
    char path[CACHE_PATH_SIZE];
    size_t bytes;

    obtain(f->cache, &f->sample);
    entry_path(f, &f->sample, path);

    unsigned char *whole = read_file(path, &bytes);

    for (size_t cut = 0; cut < bytes; cut += 3)
        assert_healed(f, whole, cut);
    assert_log_has(f, 1, "is not used: it is empty; it is built anew");
    free(whole);
}

static void an_entry_with_a_bit_flipped_is_built_anew(void **state)
{
    struct cache_fixture *f = *state;
    char path[CACHE_PATH_SIZE];
    size_t bytes;

    obtain(f->cache, &f->sample);
    entry_path(f, &f->sample, path);

    unsigned char *entry = read_file(path, &bytes);

    for (size_t bit = 5; bit < 8 * bytes; bit += 37) {
        entry[bit / 8] ^= (unsigned char)(1U << bit % 8);
        assert_healed(f, entry, bytes);
        entry[bit / 8] ^= (unsigned char)(1U << bit % 8);
    }
    assert_log_has(f, 1, "its checksum is wrong");
    free(entry);
}

static void an_entry_under_another_name_is_refused(void **state)
{
    struct cache_fixture *f = *state;
    struct sample other;
    char path[CACHE_PATH_SIZE], other_path[CACHE_PATH_SIZE];

    sample_make(&other, 2, CACHE_CODE_BYTES);
    obtain(f->cache, &f->sample);
    entry_path(f, &f->sample, path);
    entry_path(f, &other, other_path);
    assert_int_equal(rename(path, other_path), 0);
    assert_int_equal(obtain(f->cache, &other), LATHE_CACHE_MISS);
    assert_log_has(f, 1, "it is the entry of another kernel");
    sample_free(&other);
}

static void a_link_is_not_followed(void **state)
{
    struct cache_fixture *f = *state;
    char path[CACHE_PATH_SIZE], elsewhere[CACHE_PATH_SIZE];
    struct stat status;

    obtain(f->cache, &f->sample);
    entry_path(f, &f->sample, path);
    path_of(f, "elsewhere", elsewhere);
    assert_int_equal(rename(path, elsewhere), 0);
    assert_int_equal(symlink("elsewhere", path), 0);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_MISS);
    assert_log_has(f, 1, "it is a link");
    assert_int_equal(lstat(path, &status), 0);
    assert_true(S_ISREG(status.st_mode));
    assert_true(is_there(elsewhere));
}

static void a_pipe_in_place_of_an_entry_does_not_hang(void **state)
{
    struct cache_fixture *f = *state;
    char path[CACHE_PATH_SIZE];

    obtain(f->cache, &f->sample);
    entry_path(f, &f->sample, path);
    assert_int_equal(unlink(path) + mkfifo(path, 0600), 0);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_MISS);
    assert_log_has(f, 1, "it is not a regular file");
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_HIT);
}

static void a_directory_in_place_of_an_entry_costs_only_speed(void **state)
{
    struct cache_fixture *f = *state;
    char path[CACHE_PATH_SIZE];

    obtain(f->cache, &f->sample);
    entry_path(f, &f->sample, path);
    assert_int_equal(unlink(path) + mkdir(path, 0700), 0);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_MISS);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_MISS);
    assert_int_equal(count_files(f, ".tmp"), 0);
}

static void an_entry_that_others_may_write_is_refused(void **state)
{
    struct cache_fixture *f = *state;
    char path[CACHE_PATH_SIZE];

    obtain(f->cache, &f->sample);
    entry_path(f, &f->sample, path);
    assert_int_equal(chmod(path, 0620), 0);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_MISS);
    assert_log_has(f, 1, "other users may write to it");
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_HIT);
}

/* ---- The limit ---- */

static void the_oldest_entries_go_first_and_only_after_a_store(void **state)
{
    struct cache_fixture *f = *state;
    struct sample samples[6];
    char paths[6][CACHE_PATH_SIZE];
    struct stat status;

    obtain(f->cache, &f->sample);
    entry_path(f, &f->sample, paths[0]);
    assert_int_equal(stat(paths[0], &status), 0);
    f->settings.limit_bytes = 4 * status.st_size + 100;
    make_again(f);
    for (int i = 0; i < 6; i++) {
        sample_make(&samples[i], 1 + (unsigned)i, CACHE_CODE_BYTES);
        entry_path(f, &samples[i], paths[i]);
    }
    for (int i = 1; i < 4; i++) {
        assert_int_equal(obtain(f->cache, &samples[i]), LATHE_CACHE_MISS);
        age(paths[i], 100 * (4 - i));
    }
    /* The first one was written last, and reading another makes that no younger. */
    assert_int_equal(obtain(f->cache, &samples[1]), LATHE_CACHE_HIT);
    assert_int_equal(count_files(f, ""), 4 + 1);
    assert_int_equal(obtain(f->cache, &samples[4]), LATHE_CACHE_MISS);
    assert_false(is_there(paths[1]));
    assert_int_equal(obtain(f->cache, &samples[5]), LATHE_CACHE_MISS);
    assert_false(is_there(paths[2]));
    assert_int_equal(count_files(f, ""), 4 + 1);
    for (int i = 3; i < 6; i++)
        assert_int_equal(obtain(f->cache, &samples[i]), LATHE_CACHE_HIT);
    for (int i = 0; i < 6; i++)
        sample_free(&samples[i]);
    assert_int_equal(atomic_load(&f->log.lines), 0);
}

static void an_entry_over_the_limit_is_not_kept(void **state)
{
    struct cache_fixture *f = *state;

    f->settings.limit_bytes = 500;
    make_again(f);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_MISS);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_MISS);
    assert_log_has(f, 1, "over the cache's limit of 500");
    assert_int_equal(count_files(f, ""), 1);
}

static void what_killed_writers_left_is_removed_once_it_is_old(void **state)
{
    struct cache_fixture *f = *state;
    static const char *const names[] = {"0123456789abcdef0123456789abcdef.1-1.tmp",
                                        "0123456789abcdef0123456789abcdef.1-2.tmp",
                                        "0123456789abcdef0123456789abcdef.1-3.tmp", "notes.tmp"};
    char paths[4][CACHE_PATH_SIZE];

    assert_int_equal(mkdir(f->place, 0700), 0);
    for (int i = 0; i < 4; i++) {
        path_of(f, names[i], paths[i]);
        write_file(paths[i], "half an ent", 11);
        age(paths[i], i == 1 ? 60 : 3600);
    }

    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    int writer = open(paths[2], O_RDWR | O_CLOEXEC);

    assert_int_equal(fcntl(writer, F_OFD_SETLK, &lock), 0);
    obtain(f->cache, &f->sample);
    assert_false(is_there(paths[0]));
    assert_true(is_there(paths[1])); /* young                           */
    assert_true(is_there(paths[2])); /* its writer lives                */
    assert_true(is_there(paths[3])); /* somebody's, not one of the cache */
    close(writer);
}

/* ---- The caller's own cache ---- */

struct own_cache {
    void *data;
    size_t bytes;
    char key[64];
    int loads, stores;
};

static void *load(void *user, const char *key, size_t *bytes)
{
    struct own_cache *own = user;
    void *copy = NULL;

    own->loads++;
    snprintf(own->key, sizeof own->key, "%s", key);
    if (own->data) {
        copy = malloc(own->bytes);
        assert_non_null(copy);
        memcpy(copy, own->data, own->bytes);
        *bytes = own->bytes;
    }
    return copy;
}

static void store(void *user, const char *key, const void *data, size_t bytes)
{
    struct own_cache *own = user;

    own->stores++;
    assert_string_equal(key, own->key);
    free(own->data);
    own->data = malloc(bytes);
    assert_non_null(own->data);
    memcpy(own->data, data, bytes);
    own->bytes = bytes;
}

static void callbacks_take_the_place_of_the_directory(void **state)
{
    struct cache_fixture *f = *state;
    struct own_cache own = {.data = NULL};
    struct lathe_cache_callbacks callbacks = {load, store, &own};
    struct lathe_error err;
    char path[CACHE_PATH_SIZE], name[LT_CACHE_NAME_SIZE];

    f->settings.callbacks = &callbacks;
    make_again(f);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_MISS);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_HIT);
    lt_cache_name(&f->sample.key, name);
    assert_string_equal(own.key, name);
    assert_int_equal(own.loads, 2);
    assert_int_equal(own.stores, 1);
    assert_false(is_there(f->place));
    assert_int_equal(lt_cache_path(f->cache, path, sizeof path, &err), LATHE_IO_FAILED);
    free(own.data);
}

static void what_callbacks_return_is_checked_like_a_file(void **state)
{
    struct cache_fixture *f = *state;
    struct own_cache own = {.data = NULL};
    struct lathe_cache_callbacks callbacks = {load, store, &own};

    f->settings.callbacks = &callbacks;
    make_again(f);
    obtain(f->cache, &f->sample);
    for (size_t byte = 0; byte < own.bytes; byte += 50) {
        ((unsigned char *)own.data)[byte] ^= 1;
        assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_MISS);
        assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_HIT);
    }
    assert_log_has(f, 1, "of the caller's cache is not used");
    free(own.data);
}

/* ---- Memory ---- */

static void a_cache_without_memory_still_returns_what_was_built(void **state)
{
    struct cache_fixture *f = *state;
    struct fail_allocator fail;

    for (long from = 0, failed = 1; failed; from++) {
        struct lt_cache *cache = NULL;
        struct lathe_error err;

        fail_allocator_init(&fail, from);
        f->settings.allocator = &fail.allocator;

        enum lathe_status status = lt_cache_create(&cache, &f->settings, &err);

        if (status == LATHE_OK) {
            obtain(cache, &f->sample);
            obtain(cache, &f->sample);
        } else {
            assert_int_equal(status, LATHE_OUT_OF_MEMORY);
        }
        lt_cache_destroy(&cache);
        assert_int_equal(fail.live, 0);
        failed = fail.calls > from;
        sample_directory_remove(f->place);
    }
    f->settings.allocator = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CACHE_TEST(the_first_call_builds_and_the_second_reads),
        CACHE_TEST(making_a_cache_touches_no_file),
        CACHE_TEST(all_that_is_made_is_private_to_the_user),
        CACHE_TEST(a_hit_changes_nothing_in_the_directory),
        CACHE_TEST(a_cache_that_is_off_touches_nothing),
        CACHE_TEST(a_failed_build_is_reported_and_not_kept),
        CACHE_TEST(an_image_without_its_kernel_is_a_failed_link),
        CACHE_TEST(memory_that_a_build_hands_over_is_released),
        CACHE_TEST(an_entry_cut_off_anywhere_is_built_anew),
        CACHE_TEST(an_entry_with_a_bit_flipped_is_built_anew),
        CACHE_TEST(an_entry_under_another_name_is_refused),
        CACHE_TEST(a_link_is_not_followed),
        CACHE_TEST(a_pipe_in_place_of_an_entry_does_not_hang),
        CACHE_TEST(a_directory_in_place_of_an_entry_costs_only_speed),
        CACHE_TEST(an_entry_that_others_may_write_is_refused),
        CACHE_TEST(the_oldest_entries_go_first_and_only_after_a_store),
        CACHE_TEST(an_entry_over_the_limit_is_not_kept),
        CACHE_TEST(what_killed_writers_left_is_removed_once_it_is_old),
        CACHE_TEST(callbacks_take_the_place_of_the_directory),
        CACHE_TEST(what_callbacks_return_is_checked_like_a_file),
        CACHE_TEST(a_cache_without_memory_still_returns_what_was_built),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
