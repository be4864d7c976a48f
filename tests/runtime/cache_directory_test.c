#include "tests/runtime/cache_fixture.h"

#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534, STRANGER = 12345 };

static void skip_because(const char *reason)
{
    print_message("# %s\n", reason);
    skip();
}

static void assert_path(struct cache_fixture *f, const char *want)
{
    char path[CACHE_PATH_SIZE];

    make_again(f);
    assert_int_equal(lt_cache_path(f->cache, path, sizeof path, NULL), LATHE_OK);
    assert_string_equal(path, want);
}

static void the_first_place_that_is_given_is_taken(void **state)
{
    struct cache_fixture *f = *state;
    char want[2 * CACHE_PATH_SIZE];

    f->settings.xdg_cache_home = "/xdg";
    f->settings.home = f->directory;
    assert_path(f, f->place);
    f->settings.directory = "";
    assert_path(f, "/xdg/lathe");
    f->settings.xdg_cache_home = "relative/is/ignored";
    snprintf(want, sizeof want, "%s/.cache/lathe", f->directory);
    assert_path(f, want);
    f->settings.directory = "here/it/is//";
    assert_non_null(getcwd(want, CACHE_PATH_SIZE));
    strcat(want, "/here/it/is");
    assert_path(f, want);
}

static void the_home_of_the_password_file_comes_last(void **state)
{
    struct cache_fixture *f = *state;
    char path[CACHE_PATH_SIZE];

    f->settings.directory = NULL;
    make_again(f);
    if (lt_cache_path(f->cache, path, sizeof path, NULL) != LATHE_OK)
        skip_because("the user has no home that can hold a cache");
    assert_non_null(strstr(path, "/.cache/lathe"));
}

static void missing_parts_of_the_path_are_made(void **state)
{
    struct cache_fixture *f = *state;
    char deep[2 * CACHE_PATH_SIZE];

    snprintf(deep, sizeof deep, "%s/a/b/c", f->place);
    f->settings.directory = deep;
    make_again(f);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_MISS);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_HIT);
}

static void a_home_that_is_missing_is_not_made(void **state)
{
    struct cache_fixture *f = *state;

    f->settings.directory = NULL;
    f->settings.home = f->place;
    make_again(f);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_OFF);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_OFF);
    assert_log_has(f, 1, "cannot create");
    assert_log_has(f, 1, "set LATHE_CACHE_DIR");
    assert_false(is_there(f->place));
}

static void a_file_in_place_of_the_directory_costs_one_line(void **state)
{
    struct cache_fixture *f = *state;

    write_file(f->place, "x", 1);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_OFF);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_OFF);
    assert_log_has(f, 1, "Not a directory");
}

static void a_directory_that_others_may_write_is_refused(void **state)
{
    struct cache_fixture *f = *state;
    static const mode_t modes[] = {0777, 0770, 0702, 01777};

    assert_int_equal(mkdir(f->place, 0700), 0);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(f->place, modes[i]), 0);
        assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_OFF);
    }
    assert_log_has(f, 1, "other users may write to");
    assert_log_has(f, 1, "(mode 0777)");
    assert_int_equal(count_files(f, ""), 0);

    /* Mended while the program runs: it is taken from then on. */
    assert_int_equal(chmod(f->place, 0755), 0);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_MISS);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_HIT);
}

static void a_directory_of_another_user_is_refused(void **state)
{
    struct cache_fixture *f = *state;

    assert_int_equal(mkdir(f->place, 0700), 0);
    if (chown(f->place, STRANGER, STRANGER) != 0)
        skip_because("only root can give files away");
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_OFF);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_OFF);
    assert_log_has(f, 1, "belongs to user 12345");
    assert_log_has(f, 1, "set LATHE_CACHE_DIR");
    assert_int_equal(count_files(f, ""), 0);
}

static void a_link_to_the_directory_is_followed_if_it_is_ours(void **state)
{
    struct cache_fixture *f = *state;
    char target[CACHE_PATH_SIZE];

    snprintf(target, sizeof target, "%s/target", f->directory);
    assert_int_equal(mkdir(target, 0700) + symlink("target", f->place), 0);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_MISS);
    if (lchown(f->place, STRANGER, STRANGER) != 0)
        skip_because("only root can give files away");
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_OFF);
    assert_log_has(f, 1, "it is a link that another user made");
}

static void a_directory_that_is_removed_is_made_again(void **state)
{
    struct cache_fixture *f = *state;

    obtain(f->cache, &f->sample);
    sample_directory_remove(f->place);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_MISS);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_HIT);
    assert_int_equal(atomic_load(&f->log.lines), 0);
}

/* In a child, since rights mean nothing to root. 0 if all is as it should be. */
static int use_as_nobody(struct cache_fixture *f)
{
    struct sample other;

    if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
        return 77;
    sample_make(&other, 2, CACHE_CODE_BYTES);
    if (obtain(f->cache, &f->sample) != LATHE_CACHE_HIT || atomic_load(&f->log.lines) != 0)
        return 1;
    if (obtain(f->cache, &other) != LATHE_CACHE_MISS ||
        obtain(f->cache, &other) != LATHE_CACHE_MISS)
        return 2;
    sample_free(&other);
    return atomic_load(&f->log.lines) == 1 && strstr(f->log.last, "cannot write to the cache") ? 0
                                                                                               : 3;
}

static void a_read_only_directory_serves_hits_and_costs_one_line(void **state)
{
    struct cache_fixture *f = *state;
    char path[CACHE_PATH_SIZE];
    int status;

    obtain(f->cache, &f->sample);
    entry_path(f, &f->sample, path);
    if (geteuid() == 0)
        assert_int_equal(chown(f->directory, NOBODY, NOBODY) + chown(f->place, NOBODY, NOBODY) +
                             chown(path, NOBODY, NOBODY),
                         0);
    path_of(f, "lock", path);
    assert_int_equal(unlink(path) + chmod(f->place, 0500), 0);

    pid_t child = fork();

    if (child == 0)
        _exit(use_as_nobody(f));
    assert_int_equal(waitpid(child, &status, 0), child);
    chmod(f->place, 0700);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip_because("this root cannot become another user");
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CACHE_TEST(the_first_place_that_is_given_is_taken),
        CACHE_TEST(the_home_of_the_password_file_comes_last),
        CACHE_TEST(missing_parts_of_the_path_are_made),
        CACHE_TEST(a_home_that_is_missing_is_not_made),
        CACHE_TEST(a_file_in_place_of_the_directory_costs_one_line),
        CACHE_TEST(a_directory_that_others_may_write_is_refused),
        CACHE_TEST(a_directory_of_another_user_is_refused),
        CACHE_TEST(a_link_to_the_directory_is_followed_if_it_is_ours),
        CACHE_TEST(a_directory_that_is_removed_is_made_again),
        CACHE_TEST(a_read_only_directory_serves_hits_and_costs_one_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
