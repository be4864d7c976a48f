#include "runtime/rotation.h"

#include "codegen/memory.h"
#include "codegen/status.h"

#include <string.h>

/* The benchmark's protocol: 3 x 60 MB, the L2 of an H200. Larger caches are asked for their size.
 */
#define USUAL_BYTES 180e6
#define USUAL_L2_BYTES 64e6

/* Streams of random numbers of the sets: away from those of a single run. */
enum { SET_STREAM = 64 };

int lt_rotation_wanted(double footprint_bytes, int64_t l2_bytes, int most)
{
    double enough = (double)l2_bytes > USUAL_L2_BYTES ? 3 * (double)l2_bytes : USUAL_BYTES;
    int wanted = 2;

    if (enough > footprint_bytes * most)
        return most;
    while (wanted < most && footprint_bytes * wanted < enough)
        wanted++;
    return wanted;
}

/* Each set costs its bytes and the rest of a page of 2 MiB a matrix at most. */
static int affordable(const struct lt_stream *stream, double set_bytes, int64_t spare_bytes)
{
    size_t free_bytes = 0, total_bytes = 0;

    if (stream->device->driver.cuMemGetInfo(&free_bytes, &total_bytes) != LT_CUDA_SUCCESS)
        return 1;

    double sets = ((double)free_bytes - (double)spare_bytes) / (set_bytes + 4 * 0x1p21);

    return sets < 1 ? 1 : sets > 1e6 ? 1000000 : (int)sets;
}

/* What the matrices take with their padding. */
static double set_bytes(const struct lathe_gemm *p)
{
    double m = (double)p->m, n = (double)p->n;
    double outputs = (double)p->ldd + (p->beta == LATHE_BETA_ANY ? (double)p->ldc : 0);

    return (m * (double)p->lda + n * (double)p->ldb) * lathe_type_bytes(p->type) +
           m * outputs * lathe_type_bytes(p->out);
}

static enum lathe_status create_set(struct lt_rotation *rotation, const struct lt_checker *checker,
                                    const struct lathe_gemm *problem, uint64_t seed,
                                    struct lathe_error *err)
{
    struct lt_operands *set = &rotation->sets[rotation->count];
    enum lathe_status status = lt_operands_create(set, checker->stream, problem, false, err);

    if (status != LATHE_OK)
        return status;
    rotation->count++;
    return lt_operands_fill(set, checker, LT_DATA_NORMAL,
                            lt_random_stream(seed, SET_STREAM + (uint64_t)rotation->count), err);
}

enum lathe_status lt_rotation_create(struct lt_rotation *rotation, const struct lt_checker *checker,
                                     const struct lathe_gemm *problem, int most,
                                     int64_t spare_bytes, uint64_t seed, struct lathe_error *err)
{
    struct lt_rotation made = {.allocator = checker->allocator};
    int wanted =
        lt_rotation_wanted(lt_operands_footprint(problem), checker->stream->device->l2_bytes, most);
    int room = affordable(checker->stream, set_bytes(problem), spare_bytes);
    int count = wanted < room ? wanted : room;
    size_t bytes = (size_t)count * sizeof *made.sets;
    enum lathe_status status = LATHE_OK;

    made.sets = lt_allocate(made.allocator, bytes);
    if (!made.sets)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for %d sets of matrices", count);
    memset(made.sets, 0, bytes);
    while (made.count < count && status == LATHE_OK)
        status = create_set(&made, checker, problem, seed, err);
    if (status == LATHE_OK)
        *rotation = made;
    else
        lt_rotation_destroy(&made);
    return status;
}

void lt_rotation_destroy(struct lt_rotation *rotation)
{
    for (int i = 0; i < rotation->count; i++)
        lt_operands_destroy(&rotation->sets[i]);
    lt_release(rotation->allocator, rotation->sets);
    *rotation = (struct lt_rotation){.allocator = NULL};
}

const struct lt_operands *lt_rotation_at(const struct lt_rotation *rotation, int index)
{
    return &rotation->sets[index % rotation->count];
}

enum lathe_status lt_rotation_poison(const struct lt_rotation *rotation, struct lathe_error *err)
{
    enum lathe_status status = LATHE_OK;

    for (int i = 0; i < rotation->count && status == LATHE_OK; i++)
        status = lt_operands_poison(&rotation->sets[i], err);
    return status;
}
