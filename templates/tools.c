/* tools.c: what the command asks of the kernels: which there are, and a list of plans that stands
 * for all that can be made. */
#include "codegen/arch.h"
#include "include/lathe_tools.h"
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
        .arch = variant->arch,
    };
    return 1;
}

int lathe_arch_at(size_t index, struct lathe_arch_info *info)
{
    for (const struct lt_arch *row = lt_arch_table; info && row->id != LATHE_ARCH_DEFAULT; row++) {
        if (index-- > 0)
            continue;
        *info = (struct lathe_arch_info){
            .name = row->name,
            .has_kernels = lt_variant_find(LATHE_GEMM, row->id, "") != NULL,
            .smem_bytes = row->smem_bytes,
            .sms = row->sms,
            .tmem_columns = row->tmem_columns,
        };
        return 1;
    }
    return 0;
}

/* ---- The list of legal plans ---- */

/* Every tile that gemm for sm_90a has, by rows and most columns; a tile stands in the list with two
 * draws of the other choices. */
static const struct {
    int rows, most_columns, consumers;
} tile_families[] = {{64, 256, 1}, {128, 256, 2}, {128, 128, 1}, {192, 80, 1}, {256, 128, 2}};

enum { DRAWS = 2 };

/* The `index`th tile, or false behind the last. */
static bool tile_at(size_t index, int *rows, int *columns, int *consumers)
{
    for (size_t i = 0; i < sizeof tile_families / sizeof tile_families[0]; i++) {
        size_t count = (size_t)tile_families[i].most_columns / 8;

        if (index < count) {
            *rows = tile_families[i].rows;
            *columns = 8 * ((int)index + 1);
            *consumers = tile_families[i].consumers;
            return true;
        }
        index -= count;
    }
    return false;
}

static bool plans(const char *words)
{
    struct lathe_request request = LATHE_REQUEST_INIT;
    struct lathe_plan plan = LATHE_PLAN_INIT;
    const char *split[20] = {"gemm", "m=4096", "n=4096", "k=4096"};
    char copy[256];
    char *rest = NULL;
    int count = 4;

    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, " ", &rest); word && count < 20;
         word = strtok_r(NULL, " ", &rest))
        split[count++] = word;
    return lathe_request_parse(&request, count, split, NULL) == LATHE_OK &&
           lathe_plan_gemm(&plan, &request.gemm, &request.plan, NULL) == LATHE_OK;
}

/* The other choices go round with periods that have no common factor, so that all of them meet. */
int lathe_legal_plan_at(size_t index, char *words, size_t size)
{
    static const char *const types[] = {"f16", "bf16"};
    static const char *const outs[] = {"f16", "f32", "bf16"};
    static const char *const clusters[] = {"1x1x1", "2x1x1", "1x2x1", "2x2x1",
                                           "4x1x1", "1x4x1", "1x1x1"};
    int rows, columns, consumers;
    size_t draw = index * 7 + index / 11;

    if (!words || !tile_at(index / DRAWS, &rows, &columns, &consumers))
        return 0;

    int k = rows / 64 * columns / 2 / consumers <= 64 && draw % 5 == 0 ? 128 : 64;

    snprintf(words, size,
             "arch=sm_90a type=%s out=%s beta=%s tile=%dx%dx%d consumers=%d cluster=%s stages=%d",
             types[draw % 2], outs[draw % 3], index % 2 ? "any" : "0", rows, columns, k, consumers,
             clusters[draw % 7], 2 + (int)(draw % 3));
    if (!plans(words)) /* that many stages do not fit: as many as do */
        snprintf(words, size,
                 "arch=sm_90a type=%s out=%s beta=%s tile=%dx%dx%d consumers=%d cluster=%s",
                 types[draw % 2], outs[draw % 3], index % 2 ? "any" : "0", rows, columns, k,
                 consumers, clusters[draw % 7]);
    return 1;
}
