#include "runtime/cache_entry.h"

#include "runtime/cubin.h"
#include "tests/runtime/cache_sample.h"
#include "tests/support/cmocka_all.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_BYTES = 300 };

/* Everything is allocated with its exact size, so that the address sanitizer sees a byte too far.
 */
struct fixture {
    struct sample sample;
    unsigned char *bytes; /* of the entry */
    size_t size;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    sample_make(&f->sample, 1, CODE_BYTES);
    f->size = lt_entry_bytes(&f->sample.key, &f->sample.value);
    f->bytes = malloc(f->size);
    assert_non_null(f->bytes);
    lt_entry_encode(f->bytes, &f->sample.key, &f->sample.value);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    sample_free(&f->sample);
    free(f->bytes);
    free(f);
    return 0;
}

static void *copy_of(const void *data, size_t bytes)
{
    void *copy = malloc(bytes ? bytes : 1);

    assert_non_null(copy);
    memcpy(copy, data, bytes);
    return copy;
}

/* ---- ELF ---- */

static void a_cubin_that_holds_its_kernel_is_taken(void **state)
{
    struct fixture *f = *state;

    assert_null(lt_elf_fault(f->sample.cubin, f->sample.value.cubin_bytes, "sample_1"));
}

static void a_cubin_that_holds_another_kernel_is_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const others[] = {"sample_2", "sample_", "sample_11", "", "ample_1"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_non_null(lt_elf_fault(f->sample.cubin, f->sample.value.cubin_bytes, others[i]));
}

static void a_cubin_without_code_is_refused(void **state)
{
    (void)state;
    struct sample empty;

    sample_make(&empty, 1, 0);
    assert_string_equal(lt_elf_fault(empty.cubin, empty.value.cubin_bytes, "sample_1"),
                        "the kernel's section of the cubin is empty");
    assert_non_null(lt_elf_fault(empty.cubin, 0, "sample_1"));
    sample_free(&empty);
}

static void a_cubin_cut_off_anywhere_is_refused(void **state)
{
    struct fixture *f = *state;

    for (size_t bytes = 0; bytes < f->sample.value.cubin_bytes; bytes++) {
        void *cut = copy_of(f->sample.cubin, bytes);

        assert_non_null(lt_elf_fault(cut, bytes, "sample_1"));
        free(cut);
    }
}

static void a_file_for_another_machine_is_refused(void **state)
{
    struct fixture *f = *state;
    static const size_t places[] = {0, EI_CLASS, EI_DATA, offsetof(Elf64_Ehdr, e_machine),
                                    offsetof(Elf64_Ehdr, e_shentsize)};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        f->sample.cubin[places[i]] ^= 0x40;
        assert_non_null(lt_elf_fault(f->sample.cubin, f->sample.value.cubin_bytes, "sample_1"));
        f->sample.cubin[places[i]] ^= 0x40;
    }
}

/* Every byte of the headers, set to values that lead far away: only the sanitizers can object. */
static void headers_that_lead_outside_are_read_without_harm(void **state)
{
    struct fixture *f = *state;
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    size_t bytes = f->sample.value.cubin_bytes, table = bytes - 3 * sizeof(Elf64_Shdr);

    for (size_t at = 4; at < bytes; at++) {
        if (at == sizeof(Elf64_Ehdr))
            at = table;
        for (size_t i = 0; i < sizeof values; i++) {
            unsigned char before = f->sample.cubin[at];

            f->sample.cubin[at] = values[i];
            lt_elf_fault(f->sample.cubin, bytes, "sample_1");
            if (at + 7 < bytes) {
                unsigned char *wide = copy_of(f->sample.cubin, bytes);

                memset(wide + at, values[i], 8);
                lt_elf_fault(wide, bytes, "sample_1");
                free(wide);
            }
            f->sample.cubin[at] = before;
        }
    }
}

/* ---- Entries ---- */

static void what_was_encoded_is_decoded(void **state)
{
    struct fixture *f = *state;
    struct lt_entry entry;

    assert_null(lt_entry_decode(&entry, f->bytes, f->size));
    assert_true(sample_is(&f->sample, &entry.value));
    assert_true(lt_entry_is_for(&entry, &f->sample.key));
    assert_null(entry.value.memory);
}

static void an_entry_begins_with_the_cubin_as_it_is(void **state)
{
    struct fixture *f = *state;

    assert_memory_equal(f->bytes, f->sample.cubin, f->sample.value.cubin_bytes);
    assert_null(lt_elf_fault(f->bytes, f->size, "sample_1"));
}

static void an_entry_cut_off_anywhere_is_refused(void **state)
{
    struct fixture *f = *state;
    struct lt_entry entry;

    for (size_t bytes = 0; bytes < f->size; bytes++) {
        void *cut = copy_of(f->bytes, bytes);

        assert_non_null(lt_entry_decode(&entry, cut, bytes));
        free(cut);
    }
}

static void an_entry_with_more_behind_it_is_refused(void **state)
{
    struct fixture *f = *state;
    struct lt_entry entry;
    unsigned char *longer = calloc(1, f->size + 8);

    assert_non_null(longer);
    memcpy(longer, f->bytes, f->size);
    for (size_t more = 1; more <= 8; more++)
        assert_non_null(lt_entry_decode(&entry, longer, f->size + more));
    free(longer);
}

static void an_entry_with_any_bit_flipped_is_refused(void **state)
{
    struct fixture *f = *state;
    struct lt_entry entry;

    for (size_t bit = 0; bit < 8 * f->size; bit++) {
        f->bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
        assert_non_null(lt_entry_decode(&entry, f->bytes, f->size));
        f->bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
    }
    assert_null(lt_entry_decode(&entry, f->bytes, f->size));
}

/* The footer is 9 sizes, 4 numbers, checksum and magic: see cache_entry.h. */
static void sizes_are_not_believed_for_a_right_checksum(void **state)
{
    struct fixture *f = *state;
    struct lt_entry entry;
    static const uint64_t values[] = {
        0,         1, 2, 1 << 20, UINT32_MAX, INT64_MAX, 1 + (uint64_t)INT64_MAX, UINT64_MAX - 1,
        UINT64_MAX};
    size_t footer = f->size - 9 * 8 - 4 * 4 - 32;

    for (size_t size = 0; size < 9; size++) {
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            unsigned char *wrong = copy_of(f->bytes, f->size);

            for (int byte = 0; byte < 8; byte++)
                wrong[footer + 8 * size + (size_t)byte] = (unsigned char)(values[i] >> 8 * byte);
            lt_entry_seal(wrong, f->size);
            /* The warnings are empty: for them 0 is right. */
            if (size < 8 || values[i] != 0)
                assert_non_null(lt_entry_decode(&entry, wrong, f->size));
            free(wrong);
        }
    }
}

static void an_entry_of_another_format_is_refused(void **state)
{
    struct fixture *f = *state;
    struct lt_entry entry;

    f->bytes[f->size - 4 * 4 - 32]++;
    lt_entry_seal(f->bytes, f->size);
    assert_string_equal(lt_entry_decode(&entry, f->bytes, f->size), "it is of another format");
}

static void an_entry_whose_cubin_lacks_the_kernel_is_refused(void **state)
{
    struct fixture *f = *state;
    struct lt_entry entry;

    f->sample.value.kernel = "sample_2";
    lt_entry_encode(f->bytes, &f->sample.key, &f->sample.value);
    assert_non_null(lt_entry_decode(&entry, f->bytes, f->size));
}

static void every_part_of_the_key_counts(void **state)
{
    struct fixture *f = *state;
    struct lt_entry entry;
    struct lt_cache_key keys[] = {f->sample.key, f->sample.key, f->sample.key, f->sample.key};
    char name[LT_CACHE_NAME_SIZE], other[LT_CACHE_NAME_SIZE];

    keys[0].text_bytes--;
    keys[1].text = "x";
    keys[1].text_bytes = 1;
    keys[2].arch = "sm_100a";
    keys[3].options = "";
    assert_null(lt_entry_decode(&entry, f->bytes, f->size));
    lt_cache_name(&f->sample.key, name);
    assert_int_equal(strspn(name, "0123456789abcdef"), 32);
    assert_string_equal(name + 32, ".cubin");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_false(lt_entry_is_for(&entry, &keys[i]));
        lt_cache_name(&keys[i], other);
        assert_string_not_equal(name, other);
    }
}

static void parts_of_a_key_do_not_run_together(void **state)
{
    (void)state;
    const struct lt_cache_key left = {"ab", 2, "c", "d"}, right = {"a", 1, "bc", "d"};
    char a[LT_CACHE_NAME_SIZE], b[LT_CACHE_NAME_SIZE];

    lt_cache_name(&left, a);
    lt_cache_name(&right, b);
    assert_string_not_equal(a, b);
}

static void an_entry_that_is_too_large_has_no_size(void **state)
{
    struct fixture *f = *state;

    f->sample.value.cubin_bytes = LT_ENTRY_BYTES_MAX;
    assert_int_equal(lt_entry_bytes(&f->sample.key, &f->sample.value), 0);
    f->sample.value.cubin_bytes = SIZE_MAX;
    assert_int_equal(lt_entry_bytes(&f->sample.key, &f->sample.value), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_cubin_that_holds_its_kernel_is_taken),
        TEST(a_cubin_that_holds_another_kernel_is_refused),
        TEST(a_cubin_without_code_is_refused),
        TEST(a_cubin_cut_off_anywhere_is_refused),
        TEST(a_file_for_another_machine_is_refused),
        TEST(headers_that_lead_outside_are_read_without_harm),
        TEST(what_was_encoded_is_decoded),
        TEST(an_entry_begins_with_the_cubin_as_it_is),
        TEST(an_entry_cut_off_anywhere_is_refused),
        TEST(an_entry_with_more_behind_it_is_refused),
        TEST(an_entry_with_any_bit_flipped_is_refused),
        TEST(sizes_are_not_believed_for_a_right_checksum),
        TEST(an_entry_of_another_format_is_refused),
        TEST(an_entry_whose_cubin_lacks_the_kernel_is_refused),
        TEST(every_part_of_the_key_counts),
        TEST(parts_of_a_key_do_not_run_together),
        TEST(an_entry_that_is_too_large_has_no_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
