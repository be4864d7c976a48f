/* The ladder as a lesson: each rung's text differs from that of the rung before in the parts that
 * its idea is about, and in no others. A part is what stands under a heading. Not compared: which
 * registers are declared, braces, and the role in front of a label's name. */
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"
#include "tests/templates/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which parts are not the same, or are in one of the two alone. */
static const struct {
    const char *from, *to, *parts;
} steps[] = {
    /* What multiplies; and which of its sums a lane holds. */
    {"hopper-v0", "hopper-v1", "head operands multiply store"},
    /* A stage more, by run-time index; loads before and behind the products. */
    {"hopper-v1", "hopper-v2", "head barriers fill load multiply"},
    /* Roles; two barriers a stage; stages by constants. */
    {"hopper-v2", "hopper-v3",
     "head barriers ring fill steps load roles producer consumer multiply"},
    /* 256 columns, two warpgroups, three stages; tiles in groups. */
    {"hopper-v3", "hopper-v4", "head setup barriers tile roles producer operands multiply store"},
    /* A group in flight; a fourth stage for it. */
    {"hopper-v4", "hopper-v5", "head barriers producer multiply"},
    /* 256 rows, four warpgroups, sums in f16; D by TMA. */
    {"hopper-v5", "hopper-v6", "head setup barriers tile roles producer operands multiply store"},
    /* The barrier lives on, from phase to phase. */
    {"blackwell-1", "blackwell-2", "head wait"},
    /* A CTA has one tile: no walk, and nobody to wait for behind it. */
    {"blackwell-2", "blackwell-3", "head setup tile write-back"},
    /* Maps in the place of pointers, a barrier for what is loaded, D through staging; the word that
     * the columns are told in lies behind that barrier. */
    {"blackwell-3", "blackwell-4", "head setup barriers tensor rings load wait write-back"},
    /* Two stages, loaded ahead; one thread loads and multiplies, and the others wait once a tile.
     */
    {"blackwell-4", "blackwell-5", "head barriers tensor rings tile fill load multiply sums wait"},
    /* Tiles in groups of rows, several a CTA. */
    {"blackwell-5", "blackwell-6", "head setup tile write-back"},
    /* Roles. */
    {"blackwell-6", "blackwell-7",
     "head barriers tensor rings tile fill load multiply sums wait write-back roles producer mma "
     "writer"},
    /* Pairs. */
    {"blackwell-7", "blackwell-8", "head setup barriers tensor roles producer mma writer teardown"},
    /* Two accumulators, and so two of those who multiply and of those who write. */
    {"blackwell-8", "blackwell-9", "head setup barriers tensor roles producer mma writer teardown"},
};

enum { PARTS_MAX = 24, NAME_SIZE = 32 };

struct parts {
    int count;
    struct {
        char name[NAME_SIZE];
        char *text;
        size_t length;
    } list[PARTS_MAX];
};

/* "// ---- load: one thread ----" begins the part "load": the first word. */
static bool read_heading(const char *line, char name[NAME_SIZE])
{
    static const char mark[] = "// ---- ";
    size_t length;

    if (strncmp(line, mark, sizeof mark - 1) != 0)
        return false;
    line += sizeof mark - 1;
    length = strcspn(line, ": ");
    assert_true(length < NAME_SIZE);
    memcpy(name, line, length);
    name[length] = '\0';
    return true;
}

static bool is_structure(const char *line)
{
    size_t length = strlen(line);

    return length == 0 || strcmp(line, "{") == 0 || strcmp(line, "}") == 0 ||
           strncmp(line, ".reg ", 5) == 0 || strcmp(line, "bra $roles_end;") == 0 ||
           strcmp(line, "$roles_end:") == 0 || strcmp(line, "$consumer_end:") == 0 ||
           strcmp(line, "$producer_end:") == 0;
}

/* The line without the role in its label. */
static void append_line(struct parts *parts, const char *line)
{
    static const char *const roles[] = {"$producer_", "$consumer_", "$mma_", "$writer_"};
    char *end = parts->list[parts->count - 1].text + parts->list[parts->count - 1].length;
    const char *start = end;

    while (*line) {
        for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
            if (strncmp(line, roles[i], strlen(roles[i])) == 0) {
                *end++ = '$';
                line += strlen(roles[i]);
            }
        *end++ = *line++;
    }
    *end++ = '\n';
    *end = '\0';
    parts->list[parts->count - 1].length += (size_t)(end - start);
}

static void begin_part(struct parts *parts, const char *name, size_t room)
{
    assert_true(parts->count < PARTS_MAX);
    strcpy(parts->list[parts->count].name, name);
    parts->list[parts->count].text = calloc(1, room);
    assert_non_null(parts->list[parts->count].text);
    parts->count++;
}

static const char *arch_of(const char *variant)
{
    return strncmp(variant, "hopper", 6) == 0 ? "sm_90a" : "sm_100a";
}

static struct parts parts_of(const char *variant)
{
    char words[WORDS_MAX], name[NAME_SIZE];
    struct parts parts = {.count = 0};

    snprintf(words, sizeof words, "gemm m=8192 n=8192 k=8192 arch=%s variant=%s", arch_of(variant),
             variant);

    struct lathe_kernel *kernel = kernel_of(words);
    const char *text = lathe_kernel_text(kernel, NULL);
    struct ptx_lines lines = ptx_lines_of(text);

    begin_part(&parts, "head", strlen(text) + 1);
    for (size_t i = 0; i < lines.count; i++) {
        const char *line = ptx_trimmed(lines.line[i]);

        if (read_heading(line, name))
            begin_part(&parts, name, strlen(text) + 1);
        else if (!is_structure(line))
            append_line(&parts, line);
    }
    ptx_lines_free(&lines);
    lathe_kernel_destroy(&kernel);
    return parts;
}

static const char *text_of(const struct parts *parts, const char *name)
{
    for (int i = 0; i < parts->count; i++)
        if (strcmp(parts->list[i].name, name) == 0)
            return parts->list[i].text;
    return NULL;
}

static void free_parts(struct parts *parts)
{
    for (int i = 0; i < parts->count; i++)
        free(parts->list[i].text);
}

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

/* Every part of the one: it differs from the other's if, and only if, the table has it. */
static void compare(const struct parts *these, const struct parts *those, const char *allowed,
                    const char *step)
{
    for (int i = 0; i < these->count; i++) {
        const char *name = these->list[i].name, *other = text_of(those, name);
        bool is_same = other && strcmp(these->list[i].text, other) == 0;

        if (is_same == has_word(allowed, name))
            fail_msg("%s: '%s' is %s", step, name,
                     is_same ? "the same, and the table says that it is not"
                             : "not the same, and the table does not have it");
    }
}

static void a_rung_differs_where_its_idea_is(void **state)
{
    (void)state;

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct parts from = parts_of(steps[i].from), to = parts_of(steps[i].to);

        compare(&from, &to, steps[i].parts, steps[i].to);
        compare(&to, &from, steps[i].parts, steps[i].to);
        free_parts(&from);
        free_parts(&to);
    }
}

/* ---- What the ladder's table says of each ---- */

static void the_rungs_are_those_of_the_ladder(void **state)
{
    (void)state;
    static const struct {
        const char *variant;
        int warps, tile[3], stages, raster, groups, smem_bytes;
        enum lathe_type acc;
    } rungs[] = {
        {"hopper-v0", 4, {128, 128, 64}, 1, 1, 1, 1024 + 32768, LATHE_F32},
        {"hopper-v1", 4, {128, 128, 64}, 1, 1, 1, 1024 + 32768, LATHE_F32},
        {"hopper-v2", 4, {128, 128, 64}, 2, 1, 1, 1024 + 2 * 32768, LATHE_F32},
        {"hopper-v3", 5, {128, 128, 64}, 2, 1, 1, 1024 + 2 * 32768, LATHE_F32},
        {"hopper-v4", 9, {128, 256, 64}, 3, 4, 1, 1024 + 3 * 49152, LATHE_F32},
        {"hopper-v5", 9, {128, 256, 64}, 4, 4, 2, 1024 + 4 * 49152, LATHE_F32},
        {"hopper-v6", 17, {256, 256, 64}, 3, 4, 2, 1024 + 3 * 65536 + 32768, LATHE_F16},
    };

    for (size_t i = 0; i < sizeof rungs / sizeof rungs[0]; i++) {
        char words[WORDS_MAX];

        snprintf(words, sizeof words, "gemm m=8192 n=8192 k=8192 variant=%s", rungs[i].variant);

        struct lathe_plan plan = plan_of(words);

        assert_string_equal(plan.variant, rungs[i].variant);
        assert_int_equal(plan.threads, 32 * rungs[i].warps);
        assert_memory_equal(plan.tile, rungs[i].tile, sizeof plan.tile);
        assert_int_equal(plan.stages, rungs[i].stages);
        assert_int_equal(plan.raster, rungs[i].raster);
        assert_int_equal(plan.mma_groups, rungs[i].groups);
        assert_int_equal(plan.smem_bytes, rungs[i].smem_bytes);
        assert_int_equal(plan.acc, rungs[i].acc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rung_differs_where_its_idea_is),
        cmocka_unit_test(the_rungs_are_those_of_the_ladder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
