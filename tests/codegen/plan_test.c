#include "codegen/plan.h"

#include "codegen/fields.h"

#include "tests/support/child.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* What codegen/ knows of a plan is how to carry it about: this one need not be able to exist. */
static struct lathe_plan some_plan(void)
{
    struct lathe_plan plan = {
        .struct_size = sizeof plan,
        .family = LATHE_GEMM,
        .arch = LATHE_SM_90A,
        .variant = "custom(from hopper-best)",
        .type = LATHE_BF16,
        .out = LATHE_F32,
        .layout = LATHE_TN,
        .beta = LATHE_BETA_ANY,
        .statics = LATHE_STATIC_K,
        .static_size = {-1, -1, 512},
        .tile = {128, 256, 64},
        .cluster = {2, 1, 1},
        .cta_group = 1,
        .stages = 4,
        .consumers = 2,
        .schedule = LATHE_PERSISTENT,
        .raster = 8,
        .epilogue = {128, 32, 2},
        .split = 1,
        .regs = {40, 232},
        .annotate = LATHE_ON,
        .sms = 132,
        .threads = 384,
        .tenant_count = 2,
        .tenants = {{"barriers", 1024, 0}, {"stage ring", 196608, 1024}},
        .smem_bytes = 197632,
        .smem_limit = 232448,
        .registers = 168,
        .accumulators = 128,
        .predicted_ns = 1500,
        .reason = "because",
    };

    return plan;
}

static const char some_words[] =
    "gemm type=bf16 out=f32 layout=tn beta=any static=k k=512 arch=sm_90a "
    "variant=custom(from hopper-best) tile=128x256x64 cluster=2x1x1 cta_group=1 stages=4 "
    "consumers=2 schedule=persistent raster=8 epilogue=128x32x2 split=1 regs=40x232 annotate=1 "
    "sms=132";

/* ---- Versions of structs ---- */

static void the_library_says_the_version_of_its_header(void **state)
{
    (void)state;
    char version[32];

    snprintf(version, sizeof version, "%d.%d.%d", LATHE_VERSION_MAJOR, LATHE_VERSION_MINOR,
             LATHE_VERSION_PATCH);
    assert_string_equal(lathe_version(), version);
}

static void a_struct_of_an_older_header_lacks_what_is_then_zero(void **state)
{
    (void)state;
    struct lathe_plan old = some_plan(), ours;
    size_t old_size = offsetof(struct lathe_plan, raster);

    old.struct_size = old_size;
    memset(&ours, 0x5a, sizeof ours);
    assert_int_equal(lt_import(&ours, &old, "lathe_plan", NULL), LATHE_OK);

    assert_int_equal(ours.struct_size, sizeof ours);
    assert_int_equal(ours.consumers, 2);
    assert_int_equal(ours.raster, 0);
    assert_int_equal(ours.sms, 0);
    assert_string_equal(ours.reason, "");
}

static void a_struct_of_a_newer_header_may_leave_what_we_do_not_know_at_its_default(void **state)
{
    (void)state;
    struct {
        struct lathe_plan plan;
        char more[64];
    } new = {.plan = some_plan()};
    struct lathe_plan ours;
    struct lathe_error err;

    new.plan.struct_size = sizeof new;
    assert_int_equal(lt_import(&ours, &new, "lathe_plan", NULL), LATHE_OK);
    assert_int_equal(ours.struct_size, sizeof ours);
    assert_string_equal(ours.reason, "because");

    new.more[63] = 1;
    assert_int_equal(lt_import(&ours, &new, "lathe_plan", &err), LATHE_MISUSED);
    assert_has(err.message, "struct lathe_plan has a field set that Lathe ");
}

static void a_struct_without_a_size_is_refused(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, sizeof(size_t), (1 << 16) + 1, SIZE_MAX};
    struct lathe_plan plan = some_plan(), ours;
    struct lathe_error err;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        plan.struct_size = sizes[i];
        assert_int_equal(lt_import(&ours, &plan, "lathe_plan", &err), LATHE_MISUSED);
        assert_has(err.message, "make it with its _INIT macro");
        assert_int_equal(lt_check_size(&plan, "lathe_plan", NULL), LATHE_MISUSED);
    }
}

static void nothing_to_import_is_all_zero(void **state)
{
    (void)state;
    struct lathe_plan_options ours, zero = LATHE_PLAN_OPTIONS_INIT;

    memset(&ours, 0x5a, sizeof ours);
    assert_int_equal(lt_import(&ours, NULL, "lathe_plan_options", NULL), LATHE_OK);

    assert_memory_equal(&ours, &zero, sizeof ours);
}

static void what_an_older_struct_has_no_room_for_is_not_written(void **state)
{
    (void)state;
    struct lathe_plan plan = some_plan();
    union {
        struct lathe_plan plan;
        unsigned char bytes[sizeof(struct lathe_plan)];
    } old;
    size_t sizes[] = {offsetof(struct lathe_plan, raster), sizeof(struct lathe_plan)};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        memset(&old, 0x5a, sizeof old);
        old.plan.struct_size = sizes[i];
        lt_export(&old, &plan);
        for (size_t at = sizes[i]; at < sizeof old; at++)
            assert_int_equal(old.bytes[at], 0x5a);
        assert_int_equal(old.plan.struct_size, sizes[i]); /* the caller's */
        assert_int_equal(old.plan.consumers, 2);
    }
}

static void what_a_newer_struct_has_beyond_ours_stays(void **state)
{
    (void)state;
    struct lathe_plan plan = some_plan();
    struct {
        struct lathe_plan plan;
        unsigned char more[64];
    } new;

    memset(&new, 0x5a, sizeof new);
    new.plan.struct_size = sizeof new;
    lt_export(&new, &plan);

    assert_int_equal(new.plan.struct_size, sizeof new);
    assert_string_equal(new.plan.reason, "because");
    for (size_t i = 0; i < sizeof new.more; i++)
        assert_int_equal(new.more[i], 0x5a);
}

/* ---- Labels ---- */

static void a_label_leads_to_its_preset(void **state)
{
    (void)state;
    static const struct {
        const char *label, *preset;
    } labels[] = {
        {"hopper-best", "hopper-best"},
        {"custom(from hopper-best)", "hopper-best"},
        {"custom(from hopper-best)junk", "custom(from hopper-best)junk"},
        {"custom(from )", "custom(from )"},
        {"custom(from hopper", "custom(from hopper"},
        {"Custom(from hopper)", "Custom(from hopper)"},
        {"hopper)", "hopper)"},
        {"", ""},
    };
    char preset[LATHE_NAME_SIZE];

    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        lt_plan_preset(labels[i].label, preset);
        assert_string_equal(preset, labels[i].preset);
    }
}

/* ---- Words ---- */

static void words_name_every_field_that_was_set(void **state)
{
    (void)state;
    struct lathe_plan plan = some_plan();
    char words[512];

    assert_int_equal(lathe_plan_words(&plan, words, sizeof words), strlen(some_words));
    assert_string_equal(words, some_words);
}

static void words_are_cut_as_snprintf_does(void **state)
{
    (void)state;
    struct lathe_plan plan = some_plan();
    char words[16];

    assert_int_equal(lathe_plan_words(&plan, NULL, 0), strlen(some_words));
    assert_int_equal(lathe_plan_words(&plan, words, sizeof words), strlen(some_words));
    assert_string_equal(words, "gemm type=bf16 ");
}

/* raster and sms go to the launch and to the planner; a kernel's text must not depend on them. */
static void words_of_the_text_are_those_that_decide_it(void **state)
{
    (void)state;
    struct lathe_plan plan = some_plan(), other = some_plan();
    char words[512], same[512];

    other.raster = 1;
    other.sms = 1;
    other.predicted_ns = 1;
    strcpy(other.variant, "hopper-best");
    strcpy(other.reason, "another");
    lt_plan_text_words(&plan, words, sizeof words);
    lt_plan_text_words(&other, same, sizeof same);

    assert_string_equal(words, same);
    assert_lacks(words, "raster=");
    assert_lacks(words, "sms=");
    assert_has(words, "stages=4");
    assert_has(words, " variant=hopper-best ");
}

static void words_are_read_back_into_the_same_fields(void **state)
{
    (void)state;
    struct lathe_plan plan = some_plan(), read;
    char words[512];

    assert_int_equal(lt_plan_read(&read, some_words, NULL), LATHE_OK);

    for (size_t i = 0; i < lt_plan_field_count; i++) {
        struct lt_text a = {0}, c = {0};
        size_t offset = lt_plan_fields[i].plan_offset;

        lt_field_print(&lt_plan_fields[i], (const char *)&plan + offset, &a);
        lt_field_print(&lt_plan_fields[i], (const char *)&read + offset, &c);
        assert_string_equal(a.data, c.data);
        lt_text_free(&a);
        lt_text_free(&c);
    }
    assert_memory_equal(read.static_size, plan.static_size, sizeof plan.static_size);
    assert_int_equal(read.type, LATHE_BF16);
    assert_int_equal(read.beta, LATHE_BETA_ANY);
    assert_int_equal(read.statics, LATHE_STATIC_K);
    lathe_plan_words(&read, words, sizeof words);
    assert_string_equal(words, some_words);
}

static void blanks_and_line_breaks_stand_between_words(void **state)
{
    (void)state;
    struct lathe_plan read;

    assert_int_equal(lt_plan_read(&read, "\n  gemm\tstages=3\r\n\n  tile=64x8x64 \n", NULL),
                     LATHE_OK);
    assert_int_equal(read.stages, 3);
    assert_int_equal(read.tile[1], 8);
}

static void assert_unreadable(const char *text, enum lathe_status status, const char *part)
{
    struct lathe_plan read;
    struct lathe_error err = {0};

    assert_int_equal(lt_plan_read(&read, text, &err), status);
    assert_int_equal(err.status, status);
    assert_has(err.message, part);
}

static void what_are_no_words_of_a_plan_is_refused(void **state)
{
    (void)state;
    char longer[400];

    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    memcpy(longer, "gemm ", 5);

    assert_unreadable("", LATHE_BAD_WORD, "begins with: gemm");
    assert_unreadable("  \n", LATHE_BAD_WORD, "begins with: gemm");
    assert_unreadable("conv stages=4", LATHE_BAD_WORD, "'conv': no such family");
    assert_unreadable("gemm stages", LATHE_BAD_WORD, "'stages': not of the form key=value");
    assert_unreadable("gemm lda=8", LATHE_BAD_WORD, "lda=8: a plan has no such field");
    assert_unreadable("gemm stagse=4", LATHE_BAD_WORD,
                      "stagse=4: a plan has no such field; nearest: stages");
    assert_unreadable("gemm tpye=f16", LATHE_BAD_WORD, "; nearest: type");
    assert_unreadable("gemm stages=four", LATHE_OUT_OF_RANGE, "stages=four: ");
    assert_unreadable("gemm type=f17", LATHE_BAD_WORD, "nearest: type=f16");
    assert_unreadable(longer, LATHE_BAD_WORD, "too long for a word of a plan");
    assert_unreadable("gemm variant=custom(from hopper-best)junk", LATHE_BAD_WORD,
                      "variant=custom(from hopper-best)junk: must be a name ");
    assert_unreadable("gemm variant=custom(from", LATHE_BAD_WORD, "variant=custom(from: must ");
    assert_unreadable("gemm variant=custom(from x y) stages=3", LATHE_BAD_WORD,
                      "variant=custom(from x y): must be ");
    assert_unreadable("gemm variant=hopper best", LATHE_BAD_WORD, "'best': not of the form");
}

/* ---- JSON ---- */

static json_t *json_of(const struct lathe_plan *plan)
{
    char buffer[4096];
    size_t length = lathe_plan_json(plan, buffer, sizeof buffer);
    json_t *object;

    assert_in_range(length, 2, sizeof buffer - 1);
    assert_int_equal(strlen(buffer), length);
    object = json_loads(buffer, JSON_REJECT_DUPLICATES, NULL);
    assert_true(json_is_object(object));
    return object;
}

static const char *string_at(json_t *object, const char *key)
{
    const char *string = json_string_value(json_object_get(object, key));

    assert_non_null(string);
    return string;
}

static long long number_at(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static void json_holds_the_fields_and_what_follows_from_them(void **state)
{
    (void)state;
    struct lathe_plan plan = some_plan();
    json_t *object = json_of(&plan), *smem = json_object_get(object, "smem"), *tenant;

    assert_string_equal(string_at(object, "family"), "gemm");
    assert_string_equal(string_at(object, "arch"), "sm_90a");
    assert_string_equal(string_at(object, "variant"), "custom(from hopper-best)");
    assert_string_equal(string_at(object, "tile"), "128x256x64");
    assert_string_equal(string_at(object, "cta_tile"), "128x256x64");
    assert_string_equal(string_at(object, "cluster_tile"), "256x256x64");
    assert_string_equal(string_at(object, "cluster"), "2x1x1");
    assert_string_equal(string_at(object, "static"), "k");
    assert_int_equal(number_at(object, "k"), 512);
    assert_null(json_object_get(object, "m"));
    assert_int_equal(number_at(object, "cta_group"), 1);
    assert_int_equal(number_at(object, "stages"), 4);
    assert_int_equal(number_at(object, "consumers"), 2);
    assert_int_equal(number_at(object, "threads"), 384);
    assert_int_equal(number_at(object, "tmem_columns"), 0);
    assert_int_equal(number_at(json_object_get(object, "registers"), "launch"), 168);
    assert_int_equal(number_at(json_object_get(object, "registers"), "producer"), 40);
    assert_int_equal(number_at(json_object_get(object, "registers"), "consumer"), 232);
    assert_int_equal(number_at(json_object_get(object, "registers"), "accumulators"), 128);
    assert_string_equal(string_at(object, "reason"), "because");
    assert_true(json_real_value(json_object_get(object, "predicted_us")) == 1.5);
    assert_int_equal(number_at(smem, "bytes"), 197632);
    assert_int_equal(number_at(smem, "limit"), 232448);
    assert_int_equal(json_array_size(json_object_get(smem, "tenants")), 2);
    tenant = json_array_get(json_object_get(smem, "tenants"), 1);
    assert_string_equal(string_at(tenant, "name"), "stage ring");
    assert_int_equal(number_at(tenant, "bytes"), 196608);
    assert_int_equal(number_at(tenant, "offset"), 1024);
    json_decref(object);
}

static void a_tile_of_a_cta_pair_is_twice_that_of_a_cta(void **state)
{
    (void)state;
    struct lathe_plan plan = some_plan();
    json_t *object;

    plan.cta_group = 2;
    plan.tile[0] = 256;
    object = json_of(&plan);

    assert_string_equal(string_at(object, "cta_tile"), "128x256x64");
    assert_string_equal(string_at(object, "cluster_tile"), "256x256x64");
    json_decref(object);
}

static void json_is_read_back_into_the_same_json(void **state)
{
    (void)state;
    struct lathe_plan plan = some_plan(), read;
    char before[4096], after[4096];

    lathe_plan_json(&plan, before, sizeof before);
    assert_int_equal(lt_plan_read(&read, before, NULL), LATHE_OK);

    /* What follows from the choices is not read: it is worked out by the check. */
    assert_int_equal(read.threads, 0);
    assert_int_equal(read.tenant_count, 0);
    assert_int_equal(read.smem_bytes, 0);
    assert_int_equal(read.predicted_ns, 0);
    read.threads = plan.threads;
    read.registers = plan.registers;
    read.accumulators = plan.accumulators;
    read.tenant_count = plan.tenant_count;
    memcpy(read.tenants, plan.tenants, sizeof plan.tenants);
    read.smem_bytes = plan.smem_bytes;
    read.smem_limit = plan.smem_limit;
    read.predicted_ns = plan.predicted_ns;
    strcpy(read.reason, plan.reason);
    lathe_plan_json(&read, after, sizeof after);
    assert_string_equal(before, after);
}

static void json_is_cut_as_snprintf_does(void **state)
{
    (void)state;
    struct lathe_plan plan = some_plan();
    char json[12];
    size_t length = lathe_plan_json(&plan, NULL, 0);

    assert_true(length > 200);
    assert_int_equal(lathe_plan_json(&plan, NULL, sizeof json), length);
    assert_int_equal(lathe_plan_json(&plan, json, sizeof json), length);
    assert_string_equal(json, "{\"family\":\"");
}

static void what_is_no_json_of_a_plan_is_refused(void **state)
{
    (void)state;

    assert_unreadable("{", LATHE_BAD_WORD, "line 1");
    assert_unreadable("{\"family\":\"gemm\"} x", LATHE_BAD_WORD, "must be one object");
    assert_unreadable("{}", LATHE_BAD_WORD, "begins with: gemm");
    assert_unreadable("{\"family\":\"conv\"}", LATHE_BAD_WORD, "'conv': no such family");
    assert_unreadable("{\"family\":\"gemm\",\"stages\":4,\"stages\":5}", LATHE_BAD_WORD,
                      "must be one object");
    assert_unreadable("{\"family\":\"gemm\",\"stages\":4.5}", LATHE_BAD_WORD,
                      "\"stages\": must be a string or a whole number");
    assert_unreadable("{\"family\":\"gemm\",\"stages\":null}", LATHE_BAD_WORD, "\"stages\": ");
    assert_unreadable("{\"family\":\"gemm\",\"stages\":99}", LATHE_OUT_OF_RANGE, "stages=99: ");
    assert_unreadable("{\"family\":\"gemm\",\"stagse\":4}", LATHE_BAD_WORD,
                      "stagse=4: a plan has no such field");
    assert_unreadable("{\"family\":\"gemm\",\"label\":\"x\"}", LATHE_BAD_WORD,
                      "label=x: a plan has no such field");
    assert_unreadable("{\"family\":\"gemm\",\"tile\":[1,2,3]}", LATHE_BAD_WORD, "\"tile\": ");
}

/* ---- Odd plans: printing must take any value that a caller can hold ---- */

static int print_a_plan_of_zeros(void)
{
    struct lathe_plan plan = LATHE_PLAN_INIT;
    char buffer[4096];

    lathe_plan_words(&plan, buffer, sizeof buffer);
    return lathe_plan_json(&plan, buffer, sizeof buffer) > 2 ? 0 : 1;
}

static void a_plan_of_zeros_can_be_printed(void **state)
{
    (void)state;

    assert_int_equal(result_in_child(print_a_plan_of_zeros), 0);
}

/* A caller may put anything into any field. */
static void strings_without_an_end_are_printed_as_far_as_they_go(void **state)
{
    (void)state;
    struct lathe_plan plan = some_plan();
    json_t *object, *tenant;
    const char *reason;
    char words[512];

    memset(plan.variant, 'v', sizeof plan.variant);
    memset(plan.reason, 'r', sizeof plan.reason);
    memset(plan.tenants[1].name, 't', sizeof plan.tenants[1].name);
    object = json_of(&plan);
    tenant = json_array_get(json_object_get(json_object_get(object, "smem"), "tenants"), 1);
    reason = string_at(object, "reason");

    assert_int_equal(strlen(string_at(object, "variant")), sizeof plan.variant - 1);
    assert_int_equal(strlen(reason), sizeof plan.reason - 1);
    assert_int_equal(strspn(reason, "r"), strlen(reason));
    assert_int_equal(strlen(string_at(tenant, "name")), sizeof plan.tenants[1].name - 1);
    json_decref(object);

    lathe_plan_words(&plan, words, sizeof words);
    assert_has(words, "vvv tile=128x256x64 ");
    assert_int_equal(ptx_count(words, "v") - ptx_count(some_words, "v"), sizeof plan.variant - 1);
}

static void a_variant_of_a_request_without_an_end_is_printed_as_far_as_it_goes(void **state)
{
    (void)state;
    struct lathe_request request = LATHE_REQUEST_INIT;
    char words[512];

    memset(request.plan.variant, 'v', sizeof request.plan.variant);
    request.plan.tile[0] = 0x76767676; /* so that what stands behind it reads on */
    request.plan.tile[1] = 1;
    lathe_request_words(&request, words, sizeof words);

    assert_int_equal(ptx_count(words, "v"), 1 + sizeof request.plan.variant);
}

static void tenants_are_as_many_as_there_is_room_for(void **state)
{
    (void)state;
    static const struct {
        int count;
        size_t printed;
    } counts[] = {{-1, 0},
                  {INT_MIN, 0},
                  {LATHE_TENANTS_MAX + 1, LATHE_TENANTS_MAX},
                  {INT_MAX, LATHE_TENANTS_MAX}};

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct lathe_plan plan = some_plan();
        json_t *object;

        plan.tenant_count = counts[i].count;
        object = json_of(&plan);
        assert_int_equal(
            json_array_size(json_object_get(json_object_get(object, "smem"), "tenants")),
            counts[i].printed);
        json_decref(object);
    }
}

static void products_of_any_numbers_are_printed(void **state)
{
    (void)state;
    struct lathe_plan plan = some_plan();
    json_t *object;

    plan.tile[0] = plan.cluster[0] = INT_MIN;
    plan.tile[1] = plan.cluster[1] = INT_MAX;
    object = json_of(&plan);

    assert_string_equal(string_at(object, "cluster_tile"),
                        "4611686018427387904x4611686014132420609x64");
    json_decref(object);
}

static void a_plan_of_an_older_header_can_be_printed(void **state)
{
    (void)state;
    struct lathe_plan plan = some_plan();
    char words[512];

    plan.struct_size = offsetof(struct lathe_plan, raster);
    lathe_plan_words(&plan, words, sizeof words);

    assert_has(words, " stages=4 ");
    assert_lacks(words, "raster");
    json_decref(json_of(&plan));
}

/* ---- Contract ---- */

static void a_contract_is_written_with_all_that_a_launch_needs(void **state)
{
    (void)state;
    struct lathe_contract contract = {
        .name = "gemm",
        .arch = LATHE_SM_90A,
        .block = {384, 1, 1},
        .cluster = {2, 1, 1},
        .smem_bytes = 230400,
        .cluster_tile = {256, 128},
        .param_count = 4,
        .params = {{"map_d", LATHE_PARAM_TENSOR_MAP, 128, 0},
                   {"m", LATHE_PARAM_M, 4, -1},
                   {"beta", LATHE_PARAM_BETA, 4, -1},
                   {"ldd", LATHE_PARAM_LDD, 8, -1}},
        .tensor_map_count = 1,
        .tensor_maps = {{"map_d", LATHE_D, LATHE_BF16, {64, 32}, 128, 256, 8, 16}},
        .registers = -1,
        .spill_bytes = -1,
        .warnings = -1,
    };
    const char *unlinked =
        "{\"name\":\"gemm\",\"arch\":\"sm_90a\",\"block\":[384,1,1],\"cluster\":[2,1,1],"
        "\"smem\":230400,\"cluster_tile\":[256,128],\"one_tile\":false,\"most_clusters\":0,"
        "\"params\":["
        "{\"name\":\"map_d\",\"holds\":\"tensor_map\",\"type\":\"tensor_map\",\"bytes\":128},"
        "{\"name\":\"m\",\"holds\":\"m\",\"type\":\"u32\",\"bytes\":4},"
        "{\"name\":\"beta\",\"holds\":\"beta\",\"type\":\"f32\",\"bytes\":4},"
        "{\"name\":\"ldd\",\"holds\":\"ldd\",\"type\":\"u64\",\"bytes\":8}],\"tensor_maps\":["
        "{\"name\":\"map_d\",\"operand\":\"d\",\"type\":\"bf16\",\"dims\":[\"n\",\"m\"],"
        "\"pitch\":\"ldd\",\"box\":[64,32],\"swizzle_bytes\":128,\"promotion_bytes\":256,"
        "\"inner_multiple\":8,\"outer_multiple\":16}]}";
    char buffer[2048];

    assert_int_equal(lathe_contract_json(&contract, buffer, sizeof buffer), strlen(unlinked));
    assert_string_equal(buffer, unlinked);

    contract.registers = 168;
    contract.spill_bytes = 0;
    contract.warnings = 2;
    lathe_contract_json(&contract, buffer, sizeof buffer);
    assert_has(buffer, "\"registers\":168,\"spills\":0,\"warnings\":2}");
    assert_int_equal(lathe_contract_json(NULL, buffer, sizeof buffer), 0);
    assert_string_equal(buffer, "");
}

static void every_operand_has_its_sizes_and_its_row_distance(void **state)
{
    (void)state;
    static const char *const parts[] = {
        [LATHE_A] = "\"operand\":\"a\",\"type\":\"f16\",\"dims\":[\"k\",\"m\"],\"pitch\":\"lda\"",
        [LATHE_B] = "\"operand\":\"b\",\"type\":\"f16\",\"dims\":[\"k\",\"n\"],\"pitch\":\"ldb\"",
        [LATHE_C] = "\"operand\":\"c\",\"type\":\"f16\",\"dims\":[\"n\",\"m\"],\"pitch\":\"ldc\"",
        [LATHE_D] = "\"operand\":\"d\",\"type\":\"f16\",\"dims\":[\"n\",\"m\"],\"pitch\":\"ldd\"",
    };

    for (int operand = LATHE_A; operand <= LATHE_D; operand++) {
        struct lathe_contract contract = {.tensor_map_count = 1, .registers = -1};
        char buffer[1024];

        contract.tensor_maps[0].operand = (enum lathe_operand)operand;
        contract.tensor_maps[0].type = LATHE_F16;
        lathe_contract_json(&contract, buffer, sizeof buffer);
        assert_has(buffer, parts[operand]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_says_the_version_of_its_header),
        cmocka_unit_test(a_struct_of_an_older_header_lacks_what_is_then_zero),
        cmocka_unit_test(a_struct_of_a_newer_header_may_leave_what_we_do_not_know_at_its_default),
        cmocka_unit_test(a_struct_without_a_size_is_refused),
        cmocka_unit_test(nothing_to_import_is_all_zero),
        cmocka_unit_test(what_an_older_struct_has_no_room_for_is_not_written),
        cmocka_unit_test(what_a_newer_struct_has_beyond_ours_stays),
        cmocka_unit_test(a_label_leads_to_its_preset),
        cmocka_unit_test(words_name_every_field_that_was_set),
        cmocka_unit_test(words_are_cut_as_snprintf_does),
        cmocka_unit_test(words_of_the_text_are_those_that_decide_it),
        cmocka_unit_test(words_are_read_back_into_the_same_fields),
        cmocka_unit_test(blanks_and_line_breaks_stand_between_words),
        cmocka_unit_test(what_are_no_words_of_a_plan_is_refused),
        cmocka_unit_test(json_holds_the_fields_and_what_follows_from_them),
        cmocka_unit_test(a_tile_of_a_cta_pair_is_twice_that_of_a_cta),
        cmocka_unit_test(json_is_read_back_into_the_same_json),
        cmocka_unit_test(json_is_cut_as_snprintf_does),
        cmocka_unit_test(what_is_no_json_of_a_plan_is_refused),
        cmocka_unit_test(a_plan_of_zeros_can_be_printed),
        cmocka_unit_test(strings_without_an_end_are_printed_as_far_as_they_go),
        cmocka_unit_test(a_variant_of_a_request_without_an_end_is_printed_as_far_as_it_goes),
        cmocka_unit_test(tenants_are_as_many_as_there_is_room_for),
        cmocka_unit_test(products_of_any_numbers_are_printed),
        cmocka_unit_test(a_plan_of_an_older_header_can_be_printed),
        cmocka_unit_test(a_contract_is_written_with_all_that_a_launch_needs),
        cmocka_unit_test(every_operand_has_its_sizes_and_its_row_distance),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
