/* tools.c: what the command asks of the kernels: which there are, and a list of plans that stands
 * for all that can be made. */
#include "codegen/arch.h"
#include "include/lathe_tools.h"
#include "templates/epilogue.h"
#include "templates/registry.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int lathe_variant_at(size_t index, struct lathe_variant_info *info)
{
    if (!info || index >= lt_variant_count)
        return 0;

    const struct lt_variant *variant = &lt_variants[index];

    *info = (struct lathe_variant_info){
        .name = variant->name,
        .ladder_name = variant->ladder_name,
        .doc = variant->doc,
        .family = variant->family,
        .arch = variant->archs[0],
    };
    return 1;
}

enum lathe_arch lathe_variant_arch(const char *variant)
{
    return lt_variant_arch(variant ? variant : "");
}

int lathe_arch_at(size_t index, struct lathe_arch_info *info)
{
    for (const struct lt_arch *row = lt_arch_table; info && row->id != LATHE_ARCH_DEFAULT; row++) {
        if (index-- > 0)
            continue;
        *info = (struct lathe_arch_info){
            .name = row->name,
            .has_kernels = lt_arch_has_kernels(row->id),
            .smem_bytes = row->smem_bytes,
            .sms = row->sms,
            .tmem_columns = row->tmem_columns,
        };
        return 1;
    }
    return 0;
}

/* ---- The list of legal plans ---- */

/* Every tile that gemm for sm_90a has, by rows and most columns; a tile stands in the list with a
 * few draws of the other choices. */
static const struct {
    int rows, most_columns, consumers;
} tile_families[] = {
    {64, 256, 1}, {128, 256, 2}, {128, 128, 1}, {192, 80, 1}, {256, 128, 2}, {256, 64, 1},
};

enum { DRAWS = 3, WORDS_SIZE = 256 };

struct choice {
    int rows, columns, k, consumers;
    enum lathe_type type, out;
    const char *beta, *cluster;
    int buffers;
    int stages; /* 0: not named */
};

/* The `index`th tile, or false behind the last. */
static bool tile_at(size_t index, struct choice *choice)
{
    for (size_t i = 0; i < sizeof tile_families / sizeof tile_families[0]; i++) {
        size_t count = (size_t)tile_families[i].most_columns / 8;

        if (index < count) {
            choice->rows = tile_families[i].rows;
            choice->columns = 8 * ((int)index + 1);
            choice->consumers = tile_families[i].consumers;
            return true;
        }
        index -= count;
    }
    return false;
}

/* The other choices go round with periods that have no common factor, so that all of them meet. */
static void draw_others(size_t draw, struct choice *choice)
{
    static const enum lathe_type types[] = {LATHE_F16, LATHE_BF16};
    static const enum lathe_type outs[] = {LATHE_F16, LATHE_F32, LATHE_BF16};
    static const int ks[] = {64, 128, 64, 192, 256};
    static const int stages[] = {2, 3, 4, 0, 2, 3, 0};
    static const char *const clusters[] = {"1x1x1", "2x1x1", "1x2x1", "2x2x1", "4x1x1", "1x4x1",
                                           "8x1x1", "1x8x1", "4x2x1", "2x4x1", "1x1x1"};
    static const int buffers[] = {2, 1, 2, 3, 2, 4, 2, 8, 2, 1, 5, 2, 3};

    choice->type = types[draw % 2];
    choice->out = outs[draw % 3];
    choice->k = ks[draw % 5];
    choice->stages = stages[draw % 7];
    choice->cluster = clusters[draw % 11];
    choice->buffers = buffers[draw % 13];
    choice->beta = draw / 2 % 2 ? "any" : "0";
}

static void write_words(const struct choice *choice, char words[WORDS_SIZE])
{
    int chunk = lt_epilogue_chunk_columns(choice->out);
    int length =
        snprintf(words, WORDS_SIZE,
                 "arch=sm_90a type=%s out=%s beta=%s tile=%dx%dx%d consumers=%d cluster=%s "
                 "epilogue=%dx%dx%d",
                 lathe_type_name(choice->type), lathe_type_name(choice->out), choice->beta,
                 choice->rows, choice->columns, choice->k, choice->consumers, choice->cluster,
                 choice->consumers * LT_EPILOGUE_ROWS,
                 choice->columns < chunk ? choice->columns : chunk, choice->buffers);

    if (choice->stages > 0)
        snprintf(words + length, (size_t)(WORDS_SIZE - length), " stages=%d", choice->stages);
}

static bool plans(const char *words)
{
    struct lathe_request request = LATHE_REQUEST_INIT;
    struct lathe_plan plan = LATHE_PLAN_INIT;
    const char *split[20] = {"gemm", "m=4096", "n=4096", "k=4096"};
    char copy[WORDS_SIZE];
    char *rest = NULL;
    int count = 4;

    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, " ", &rest); word && count < 20;
         word = strtok_r(NULL, " ", &rest))
        split[count++] = word;
    return lathe_request_parse(&request, count, split, NULL) == LATHE_OK &&
           lathe_plan_gemm(&plan, &request.gemm, &request.plan, NULL) == LATHE_OK;
}

int lathe_legal_plan_at(size_t index, char *words, size_t size)
{
    struct choice choice;
    char whole[WORDS_SIZE];

    if (!words || !tile_at(index / DRAWS, &choice))
        return 0;
    draw_others(index, &choice);
    write_words(&choice, whole);
    if (!plans(whole)) { /* that many stages do not fit: as many as do */
        choice.stages = 0;
        write_words(&choice, whole);
    }
    for (; !plans(whole) && choice.k > 64; write_words(&choice, whole))
        choice.k -= 64; /* nor do two of so many columns of k */
    snprintf(words, size, "%s", whole);
    return 1;
}
