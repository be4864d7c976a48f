#include "include/lathe.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"

#include <string.h>

/* Splits at spaces; the words live until the next call. */
static int split(const char *line, const char *words[32])
{
    static char copy[512];
    int count = 0;

    strncpy(copy, line, sizeof copy - 1);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    return count;
}

static enum lathe_status parse(struct lathe_request *request, const char *line,
                               struct lathe_error *err)
{
    const char *words[32];

    return lathe_request_parse(request, split(line, words), words, err);
}

static void assert_refused(const char *line, enum lathe_status status, const char *message)
{
    struct lathe_request request = LATHE_REQUEST_INIT, before = LATHE_REQUEST_INIT;
    struct lathe_error err = {0};

    assert_int_equal(parse(&request, line, &err), status);
    assert_int_equal(err.status, status);
    assert_string_equal(err.message, message);
    assert_memory_equal(&request, &before, sizeof request);
}

static void words_fill_problem_and_plan(void **state)
{
    (void)state;
    struct lathe_request r = LATHE_REQUEST_INIT;

    assert_int_equal(parse(&r,
                           "gemm m=4096 n=8 k=0 type=bf16 out=f32 beta=any lda=64 static=k "
                           "tile=128x256x64 cluster=2x1x1 stages=4 epilogue=128x64 annotate=0 "
                           "variant=hopper-best arch=sm_90a",
                           NULL),
                     LATHE_OK);

    assert_int_equal(r.family, LATHE_GEMM);
    assert_true(r.gemm.m == 4096 && r.gemm.n == 8 && r.gemm.k == 0 && r.gemm.lda == 64);
    assert_int_equal(r.gemm.type, LATHE_BF16);
    assert_int_equal(r.gemm.out, LATHE_F32);
    assert_int_equal(r.gemm.beta, LATHE_BETA_ANY);
    assert_int_equal(r.gemm.statics, LATHE_STATIC_K);
    assert_true(r.plan.tile[0] == 128 && r.plan.tile[1] == 256 && r.plan.tile[2] == 64);
    assert_true(r.plan.cluster[0] == 2 && r.plan.cluster[1] == 1 && r.plan.cluster[2] == 1);
    assert_int_equal(r.plan.stages, 4);
    assert_true(r.plan.epilogue[0] == 128 && r.plan.epilogue[1] == 64 && r.plan.epilogue[2] == 1);
    assert_int_equal(r.plan.annotate, LATHE_OFF);
    assert_string_equal(r.plan.variant, "hopper-best");
    assert_int_equal(r.plan.arch, LATHE_SM_90A);
    assert_true(r.plan.raster == 0 && r.plan.split == 0 && r.gemm.ldb == 0);
}

static void a_key_given_twice_holds_as_given_last(void **state)
{
    (void)state;
    struct lathe_request r = LATHE_REQUEST_INIT;

    assert_int_equal(parse(&r,
                           "gemm m=1 n=2 k=3 stages=4 m=5 stages=6 epilogue=64x64x3 "
                           "epilogue=64x64",
                           NULL),
                     LATHE_OK);

    assert_true(r.gemm.m == 5 && r.plan.stages == 6 && r.plan.epilogue[2] == 1);
}

static void what_was_there_before_is_forgotten(void **state)
{
    (void)state;
    struct lathe_request r = LATHE_REQUEST_INIT;

    assert_int_equal(parse(&r, "gemm m=1 n=2 k=3 stages=4", NULL), LATHE_OK);
    assert_int_equal(parse(&r, "gemm m=1 n=2 k=3", NULL), LATHE_OK);

    assert_int_equal(r.plan.stages, 0);
}

static void a_request_is_written_as_it_was_read(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "gemm m=0 n=0 k=0",
        "gemm m=1 n=2 k=3 type=bf16 out=f32 layout=nt lda=8 ldd=16 beta=any static=m,n,k",
        "gemm m=1 n=2 k=3 beta=0",
        "gemm m=1 n=2 k=3 arch=sm_100a variant=hopper-best tile=64x8x64 cluster=1x2x1 cta_group=2 "
        "stages=3 consumers=1 schedule=persistent raster=7 epilogue=64x8x4 split=2 regs=40x232 "
        "annotate=0 sms=99",
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct lathe_request r = LATHE_REQUEST_INIT;
        char words[512];

        assert_int_equal(parse(&r, lines[i], NULL), LATHE_OK);
        assert_int_equal(lathe_request_words(&r, words, sizeof words), strlen(lines[i]));
        assert_string_equal(words, lines[i]);
    }
}

static void words_are_cut_as_snprintf_does(void **state)
{
    (void)state;
    struct lathe_request r = LATHE_REQUEST_INIT;
    char words[10];

    assert_int_equal(parse(&r, "gemm m=1 n=2 k=3", NULL), LATHE_OK);

    assert_int_equal(lathe_request_words(&r, NULL, 0), strlen("gemm m=1 n=2 k=3"));
    assert_int_equal(lathe_request_words(&r, NULL, sizeof words), strlen("gemm m=1 n=2 k=3"));
    assert_int_equal(lathe_request_words(&r, words, sizeof words), strlen("gemm m=1 n=2 k=3"));
    assert_string_equal(words, "gemm m=1 ");
}

static void a_misspelt_key_is_refused_with_the_nearest(void **state)
{
    (void)state;

    assert_refused("gemm m=1 n=2 k=3 stage=4", LATHE_BAD_WORD,
                   "stage=4: no such key; nearest: stages; lathe list names them all");
    assert_refused("gemm m=1 n=2 k=3 tpye=f16", LATHE_BAD_WORD,
                   "tpye=f16: no such key; nearest: type; lathe list names them all");
    assert_refused("gemm M=1 n=2 k=3", LATHE_BAD_WORD,
                   "M=1: no such key; lathe list names them all");
}

static void a_misspelt_value_is_refused_with_the_nearest(void **state)
{
    (void)state;

    assert_refused("gemm m=1 n=2 k=3 beta=on", LATHE_BAD_WORD,
                   "beta=on: no such beta; known: 0 any");
    assert_refused("gemm m=1 n=2 k=3 arch=sm90a", LATHE_BAD_WORD,
                   "arch=sm90a: no such arch; nearest: arch=sm_90a; known: sm_80 sm_86 sm_89 "
                   "sm_90a sm_100a sm_103a sm_110a sm_120a");
}

static void what_is_no_word_of_a_request_is_refused(void **state)
{
    (void)state;

    assert_refused("gemm m=1 n=2 k=3 fast", LATHE_BAD_WORD, "'fast': not of the form key=value");
    assert_refused("gemm m=1 n=2 k=3 =5", LATHE_BAD_WORD, "'=5': not of the form key=value");
    assert_refused("gem m=1 n=2 k=3", LATHE_BAD_WORD, "'gem': no such family; nearest: gemm");
    assert_refused("m=1 n=2 k=3", LATHE_BAD_WORD, "'m=1': no such family; nearest: gemm");
}

static void a_request_without_words_is_refused_with_an_example(void **state)
{
    (void)state;
    struct lathe_request r = LATHE_REQUEST_INIT;
    struct lathe_error err = {0};

    assert_int_equal(lathe_request_parse(&r, 0, NULL, &err), LATHE_BAD_WORD);
    assert_has(err.message, "gemm m=4096 n=4096 k=4096");
}

static void a_word_that_is_null_is_misuse(void **state)
{
    (void)state;
    static const char *const no_family[] = {NULL}, *const hole[] = {"gemm", "m=1", NULL, "k=1"};
    struct lathe_request r = LATHE_REQUEST_INIT;
    struct lathe_error err = {0};

    assert_int_equal(lathe_request_parse(&r, 1, no_family, &err), LATHE_MISUSED);
    assert_int_equal(lathe_request_parse(&r, 4, hole, &err), LATHE_MISUSED);
    assert_string_equal(err.message, "lathe_request_parse: word 3 of 4 is null");
}

static void no_request_has_the_words_of_an_empty_one(void **state)
{
    (void)state;
    struct lathe_request r = LATHE_REQUEST_INIT;
    char words[64], same[64];

    lathe_request_words(NULL, words, sizeof words);
    lathe_request_words(&r, same, sizeof same);
    assert_string_equal(words, same);
}

static void sizes_must_be_there(void **state)
{
    (void)state;

    assert_refused("gemm m=1 n=2", LATHE_BAD_WORD, "k is missing; a gemm needs m=, n= and k=");
    assert_refused("gemm n=1 k=2", LATHE_BAD_WORD, "m is missing; a gemm needs m=, n= and k=");
    assert_refused("gemm m=1 k=2 ldb=8", LATHE_BAD_WORD,
                   "n is missing; a gemm needs m=, n= and k=");
}

static void a_size_out_of_range_is_refused_with_the_range(void **state)
{
    (void)state;

    assert_refused("gemm m=-1 n=2 k=3", LATHE_OUT_OF_RANGE,
                   "m=-1: must be a whole number from 0 to 2147479552");
    assert_refused("gemm m=1 n=2 k=", LATHE_OUT_OF_RANGE,
                   "k=: must be a whole number from 0 to 2147479552");
    assert_refused("gemm m=1 n=2 k=3 stages=0", LATHE_OUT_OF_RANGE,
                   "stages=0: must be a whole number from 1 to 64");
}

static void words_of_any_length_are_refused_in_a_line(void **state)
{
    (void)state;
    char word[4000];
    const char *words[] = {"gemm", word};

    for (int equals = -1; equals < 100; equals += 20) {
        struct lathe_request r = LATHE_REQUEST_INIT;
        struct lathe_error err = {0};

        memset(word, 'a', sizeof word - 1);
        word[sizeof word - 1] = '\0';
        if (equals >= 0)
            word[equals] = '=';
        assert_int_equal(lathe_request_parse(&r, 2, words, &err), LATHE_BAD_WORD);
        assert_in_range(strlen(err.message), 10, 200);
    }
}

static void fields_are_set_one_by_one_too(void **state)
{
    (void)state;
    struct lathe_request r = LATHE_REQUEST_INIT;
    struct lathe_error err = {0};

    assert_int_equal(lathe_request_set(&r, "m", "12", &err), LATHE_OK);
    assert_int_equal(lathe_request_set(&r, "tile", "64x8x64", &err), LATHE_OK);
    assert_int_equal(lathe_request_set(&r, "tile", "64x8", &err), LATHE_OUT_OF_RANGE);
    assert_int_equal(lathe_request_set(&r, "title", "64x8x64", &err), LATHE_BAD_WORD);
    assert_string_equal(err.message,
                        "title=64x8x64: no such key; nearest: tile; lathe list names them all");

    assert_true(r.gemm.m == 12 && r.plan.tile[0] == 64 && r.plan.tile[1] == 8);
}

/* What is in the place of its plan, or how much, nobody can tell. */
static void a_request_of_an_older_header_is_refused(void **state)
{
    (void)state;
    struct lathe_request old, before;
    struct lathe_error err = {0};
    char words[64], none[64];

    memset(&old, 0x5a, sizeof old);
    old.struct_size = offsetof(struct lathe_request, plan);
    before = old;

    assert_int_equal(parse(&old, "gemm m=1 n=2 k=3 stages=4", &err), LATHE_MISUSED);
    assert_non_null(strstr(err.message, "compile what uses it anew"));
    assert_int_equal(lathe_request_set(&old, "stages", "4", NULL), LATHE_MISUSED);
    assert_memory_equal(&old, &before, sizeof old);
    lathe_request_words(&old, words, sizeof words);
    lathe_request_words(NULL, none, sizeof none);
    assert_string_equal(words, none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_fill_problem_and_plan),
        cmocka_unit_test(a_key_given_twice_holds_as_given_last),
        cmocka_unit_test(what_was_there_before_is_forgotten),
        cmocka_unit_test(a_request_is_written_as_it_was_read),
        cmocka_unit_test(words_are_cut_as_snprintf_does),
        cmocka_unit_test(a_misspelt_key_is_refused_with_the_nearest),
        cmocka_unit_test(a_misspelt_value_is_refused_with_the_nearest),
        cmocka_unit_test(what_is_no_word_of_a_request_is_refused),
        cmocka_unit_test(a_request_without_words_is_refused_with_an_example),
        cmocka_unit_test(a_word_that_is_null_is_misuse),
        cmocka_unit_test(no_request_has_the_words_of_an_empty_one),
        cmocka_unit_test(sizes_must_be_there),
        cmocka_unit_test(a_size_out_of_range_is_refused_with_the_range),
        cmocka_unit_test(words_of_any_length_are_refused_in_a_line),
        cmocka_unit_test(fields_are_set_one_by_one_too),
        cmocka_unit_test(a_request_of_an_older_header_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
