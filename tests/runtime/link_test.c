/* Text to cubin: what the linker says is passed on. */
#include "runtime/link.h"

#include "tests/runtime/fixture.h"

static const char text[] = ".version 8.0\n.target sm_90a\n.address_size 64\n"
                           ".visible .entry k(.param .u64 p) { ret; }\n";

static struct lt_linker *open_linker(struct runtime_fixture *f)
{
    struct lt_linker *linker = NULL;

    assert_status(f, lt_linker_open(&linker, STUB_LINKER_PATH, NULL, NULL, &f->error), LATHE_OK);
    return linker;
}

static enum lathe_status link_text(struct runtime_fixture *f, struct lt_linker *linker,
                                   struct lt_linked *linked)
{
    return lt_link(linker, text, strlen(text), "k", LATHE_SM_90A, linked, &f->error);
}

static void registers_and_spills_come_from_the_log(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_linker *linker = open_linker(f);
    struct lt_linked linked;

    assert_status(f, link_text(f, linker, &linked), LATHE_OK);
    assert_string_equal(lt_linker_version(linker), "nvJitLink 99.1");
    assert_int_equal(linked.registers, 96);
    assert_int_equal(linked.spill_bytes, 0);
    assert_int_equal(linked.warning_count, 0);
    assert_string_equal(linked.warnings, "");
    assert_true(linked.cubin_bytes > 64);
    lt_linked_release(linker, &linked);
    lt_linker_close(&linker);
    assert_null(linker);
}

static void warnings_are_counted_and_kept_alone(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_linker *linker = open_linker(f);
    struct lt_linked linked;

    f->link_mode(STUB_WARNS);
    assert_status(f, link_text(f, linker, &linked), LATHE_OK);
    assert_int_equal(linked.registers, 123);
    assert_int_equal(linked.spill_bytes, 48);
    assert_int_equal(linked.warning_count, 1);
    assert_string_equal(linked.warnings,
                        "ptxas info : (C7510) Potential Performance Loss: planted\n");
    lt_linked_release(linker, &linked);
    lt_linker_close(&linker);
}

static void a_refusal_gives_the_first_line_of_the_log(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_linker *linker = open_linker(f);
    struct lt_linked linked;

    f->link_mode(STUB_REFUSES);
    assert_status(f, link_text(f, linker, &linked), LATHE_LINK_FAILED);
    assert_string_equal(f->error.message, "nvJitLink 99.1: nvJitLinkAddData failed on k: ptxas k, "
                                          "line 1; error : planted");
    assert_null(linked.cubin);
    lt_linker_close(&linker);
}

static void a_missing_linker_is_named_with_what_to_install(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_linker *linker = NULL;

    assert_status(f, lt_linker_open(&linker, "/nowhere/libnvJitLink.so", NULL, NULL, &f->error),
                  LATHE_NO_LIBRARY);
    assert_message(f, "/nowhere/libnvJitLink.so");
    assert_message(f, "LATHE_NVJITLINK_LIBRARY");
    assert_null(linker);
}

static void another_library_is_no_linker(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_linker *linker = NULL;

    assert_status(f, lt_linker_open(&linker, STUB_DRIVER_PATH, NULL, NULL, &f->error),
                  LATHE_NO_LIBRARY);
    assert_message(f, "is no nvJitLink");
}

static void running_out_of_memory_is_reported_at_every_allocation(void **state)
{
    struct runtime_fixture *f = *state;
    bool succeeded = false;

    for (long n = 0; !succeeded && n < 20; n++) {
        struct fail_allocator memory;
        struct lt_linker *linker = NULL;
        struct lt_linked linked;

        fail_allocator_init(&memory, n);
        if (lt_linker_open(&linker, STUB_LINKER_PATH, NULL, &memory.allocator, &f->error) ==
            LATHE_OK) {
            enum lathe_status status = link_text(f, linker, &linked);

            succeeded = status == LATHE_OK;
            assert_true(succeeded || status == LATHE_OUT_OF_MEMORY);
            lt_linked_release(linker, &linked);
            lt_linker_close(&linker);
        } else {
            assert_int_equal(f->error.status, LATHE_OUT_OF_MEMORY);
        }
        assert_int_equal(memory.live, 0);
    }
    assert_true(succeeded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUNTIME_TEST(registers_and_spills_come_from_the_log),
        RUNTIME_TEST(warnings_are_counted_and_kept_alone),
        RUNTIME_TEST(a_refusal_gives_the_first_line_of_the_log),
        RUNTIME_TEST(a_missing_linker_is_named_with_what_to_install),
        RUNTIME_TEST(another_library_is_no_linker),
        RUNTIME_TEST(running_out_of_memory_is_reported_at_every_allocation),
    };

    return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
