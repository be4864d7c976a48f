/* allocation_sweep: the n-th allocation fails, for every n, on all of a kernel's way and in looking
 * after the cache.
 *
 * Once only that allocation fails, once all from it on. Each call must then succeed or say
 * LATHE_OUT_OF_MEMORY, and succeed when it is made again with memory to be had: nothing is
 * remembered. At the end no block and nothing of the driver's is left. */
#include "include/lathe_tools.h"
#include "tests/stress/stress.h"
#include "tests/support/fail_allocator.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PLACES_MAX = 10000, TOLD_MAX = 8, KEPT_MAX = 16 };

enum scene { COLD, WARM, OFF, CALLBACKS, UPKEEP, SCENES };
static const char *const scene_names[] = {
    [COLD] = "a kernel's way, with an empty cache",
    [WARM] = "a kernel's way, with a cache that has it",
    [OFF] = "a kernel's way, without a cache",
    [CALLBACKS] = "a kernel's way, with the caller's own cache",
    [UPKEEP] = "looking after a cache",
};

/* The caller's cache: what was stored in this round. */
struct kept {
    char key[64];
    void *data;
    size_t bytes;
};

struct sweep {
    struct stress stress;
    enum scene scene;
    bool recovers;
    long place; /* of the allocation that fails */
    long wrong;

    /* Of one round. */
    struct fail_allocator fail;
    struct kept kept[KEPT_MAX];
    int kept_count;
    struct lathe_context *context;
    struct lathe_function *function, *loaded;
    struct lathe_kernel *kernel, *edited;
    struct lathe_image *image;
    char entry[40]; /* the name of one in the cache */
    int invalid;    /* entries that were listed as bad */
};

/* ---- The caller's cache ---- */

static void *load_kept(void *user, const char *key, size_t *bytes)
{
    struct sweep *sweep = user;
    const struct lathe_allocator *allocator = &sweep->fail.allocator;

    for (int i = 0; i < sweep->kept_count; i++) {
        const struct kept *kept = &sweep->kept[i];
        void *copy;

        if (strcmp(kept->key, key) != 0)
            continue;
        copy = allocator->allocate(allocator->user, kept->bytes);
        if (copy)
            memcpy(copy, kept->data, kept->bytes);
        *bytes = kept->bytes;
        return copy;
    }
    return NULL;
}

static void store_kept(void *user, const char *key, const void *data, size_t bytes)
{
    struct sweep *sweep = user;
    struct kept *kept = &sweep->kept[sweep->kept_count];

    if (sweep->kept_count == KEPT_MAX)
        return;
    kept->data = malloc(bytes);
    if (!kept->data)
        return;
    memcpy(kept->data, data, bytes);
    kept->bytes = bytes;
    snprintf(kept->key, sizeof kept->key, "%s", key);
    sweep->kept_count++;
}

/* ---- The calls ---- */

static struct lathe_gemm any_problem(void)
{
    struct lathe_gemm problem = LATHE_GEMM_INIT;

    problem.m = problem.n = 512;
    problem.k = 256;
    return problem;
}

/* In a cluster, so that the driver is asked for more. */
static struct lathe_plan_options small_plan(int columns)
{
    struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;

    options.arch = LATHE_SM_90A; /* the stub driver's */
    options.tile[0] = options.tile[2] = 64;
    options.tile[1] = columns;
    options.cluster[0] = 2;
    options.cluster[1] = options.cluster[2] = 1;
    return options;
}

static enum lathe_status create(struct sweep *sweep, struct lathe_error *err)
{
    const struct lathe_cache_callbacks callbacks = {load_kept, store_kept, sweep};
    struct lathe_context_options options = stress_options(&sweep->stress);

    options.allocator = &sweep->fail.allocator;
    if (sweep->scene == OFF)
        options.cache = LATHE_OFF;
    if (sweep->scene == CALLBACKS)
        options.cache_callbacks = &callbacks;
    return lathe_context_create(&sweep->context, &options, err);
}

static enum lathe_status get_arch(struct sweep *sweep, struct lathe_error *err)
{
    enum lathe_arch arch;

    return lathe_context_arch(sweep->context, &arch, err);
}

static enum lathe_status get(struct sweep *sweep, struct lathe_error *err)
{
    struct lathe_gemm problem = any_problem();
    struct lathe_plan_options options = small_plan(16);

    return lathe_gemm_get(sweep->context, &sweep->function, &problem, &options, err);
}

static enum lathe_status launch(struct sweep *sweep, struct lathe_error *err)
{
    struct lathe_gemm_args args = LATHE_GEMM_ARGS_INIT;

    args.m = args.n = args.k = 64;
    args.a = 0x100000;
    args.b = 0x200000;
    args.d = 0x300000;
    return lathe_gemm_launch(sweep->function, &args, err);
}

/* With one thread: which allocation is the n-th must not be left to chance. */
static enum lathe_status prepare(struct sweep *sweep, struct lathe_error *err)
{
    struct lathe_gemm problems[] = {any_problem(), any_problem()};
    struct lathe_plan_options options[] = {small_plan(24), small_plan(32)};

    return lathe_gemm_prepare(sweep->context, 2, problems, options, 1, err);
}

static enum lathe_status emit(struct sweep *sweep, struct lathe_error *err)
{
    struct lathe_gemm problem = any_problem();
    struct lathe_plan_options options = small_plan(40);
    struct lathe_plan plan = LATHE_PLAN_INIT;
    enum lathe_status status = lathe_plan_gemm(&plan, &problem, &options, err);

    return status == LATHE_OK ? lathe_emit(&sweep->kernel, &plan, &sweep->fail.allocator, err)
                              : status;
}

static enum lathe_status edit(struct sweep *sweep, struct lathe_error *err)
{
    return lathe_kernel_edit(&sweep->edited, sweep->kernel, lathe_kernel_text(sweep->kernel, NULL),
                             err);
}

static enum lathe_status build(struct sweep *sweep, struct lathe_error *err)
{
    return lathe_build(sweep->context, &sweep->image, sweep->edited, err);
}

static enum lathe_status load(struct sweep *sweep, struct lathe_error *err)
{
    return lathe_load(sweep->context, &sweep->loaded, sweep->image, err);
}

static int note_entry(void *user, const struct lathe_cache_entry *entry)
{
    struct sweep *sweep = user;

    sweep->invalid += !entry->valid;
    memcpy(sweep->entry, entry->name, sizeof sweep->entry);
    return 0;
}

/* All entries are good: none may be called bad because there was no memory to read it. */
static enum lathe_status list(struct sweep *sweep, struct lathe_error *err)
{
    enum lathe_status status;

    sweep->invalid = 0;
    status = lathe_cache_list(sweep->context, note_entry, sweep, err);
    if (status != LATHE_OK || sweep->invalid == 0)
        return status;
    snprintf(err->message, sizeof err->message, "%d good entries are listed as bad",
             sweep->invalid);
    return LATHE_INTERNAL;
}

static enum lathe_status verify(struct sweep *sweep, struct lathe_error *err)
{
    int removed = 0;
    enum lathe_status status = lathe_cache_verify(sweep->context, NULL, &removed, err);

    if (removed == 0)
        return status;
    snprintf(err->message, sizeof err->message, "%d good entries are removed", removed);
    return LATHE_INTERNAL;
}

static enum lathe_status show(struct sweep *sweep, struct lathe_error *err)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    enum lathe_status status =
        lathe_cache_write_part(sweep->context, sweep->entry, LATHE_CACHE_TEXT, nowhere, err);

    close(nowhere);
    return status;
}

static enum lathe_status prune(struct sweep *sweep, struct lathe_error *err)
{
    return lathe_cache_prune(sweep->context, -1, NULL, err);
}

struct step {
    const char *name;
    enum lathe_status (*run)(struct sweep *sweep, struct lathe_error *err);
};

static const struct step way[] = {
    {"lathe_context_create", create},
    {"lathe_context_arch", get_arch},
    {"lathe_gemm_get", get},
    {"lathe_gemm_launch", launch},
    {"lathe_gemm_get again", get},
    {"lathe_gemm_prepare", prepare},
    {"lathe_emit", emit},
    {"lathe_kernel_edit", edit},
    {"lathe_build", build},
    {"lathe_load", load},
};
static const struct step upkeep[] = {
    {"lathe_context_create", create}, {"lathe_cache_list", list},   {"lathe_cache_verify", verify},
    {"lathe_cache_write_part", show}, {"lathe_cache_prune", prune},
};

/* ---- One round ---- */

static void tell(struct sweep *sweep, const char *step, const char *what, const char *message)
{
    if (sweep->wrong++ < TOLD_MAX)
        printf("# %s, allocation %ld: %s %s: %s\n", scene_names[sweep->scene], sweep->place, step,
               what, message);
}

/* False if the round cannot go on. */
static bool take_step(struct sweep *sweep, const struct step *step)
{
    struct lathe_error error = {.status = LATHE_OK};
    enum lathe_status status = step->run(sweep, &error);

    if (status == LATHE_OK)
        return true;
    if (status != LATHE_OUT_OF_MEMORY)
        tell(sweep, step->name, lathe_status_name(status), error.message);
    else if (!stress_error_is_told(&error, status))
        tell(sweep, step->name, "does not tell its error", error.message);

    sweep->fail.fails_from = -1;
    status = step->run(sweep, &error);
    if (status != LATHE_OK)
        tell(sweep, step->name, "fails again with memory to be had", error.message);
    return status == LATHE_OK;
}

static void end_round(struct sweep *sweep)
{
    lathe_image_destroy(&sweep->image);
    lathe_kernel_destroy(&sweep->edited);
    lathe_kernel_destroy(&sweep->kernel);
    lathe_context_destroy(&sweep->context);
    sweep->function = sweep->loaded = NULL;
    while (sweep->kept_count > 0)
        free(sweep->kept[--sweep->kept_count].data);
    if (sweep->fail.live != 0)
        tell(sweep, "lathe_context_destroy", "leaves", "blocks of memory behind");
    if (!stress_driver_is_clean(&sweep->stress))
        tell(sweep, "lathe_context_destroy", "leaves", "something in the driver");
}

/* False if no allocation was left to fail. */
static bool run_round(struct sweep *sweep)
{
    const struct step *steps = sweep->scene == UPKEEP ? upkeep : way;
    size_t count =
        sweep->scene == UPKEEP ? sizeof upkeep / sizeof *upkeep : sizeof way / sizeof *way;
    bool goes_on = true, failed;

    sweep->stress.stub.reset();
    if (sweep->scene == COLD)
        sample_directory_remove(sweep->stress.cache);
    fail_allocator_init(&sweep->fail, sweep->place);
    sweep->fail.recovers = sweep->recovers;
    for (size_t i = 0; i < count && goes_on; i++)
        goes_on = take_step(sweep, &steps[i]);
    failed = sweep->fail.fails_from < 0 || sweep->fail.calls > sweep->place;
    end_round(sweep);
    return failed;
}

/* ---- All rounds ---- */

static void fill_cache(struct sweep *sweep)
{
    sweep->scene = WARM;
    sweep->place = -1;
    run_round(sweep);
}

static void run_sweep(struct sweep *sweep, enum scene scene, bool recovers)
{
    sweep->recovers = recovers;
    sweep->wrong = 0;
    fill_cache(sweep);
    sweep->scene = scene;
    for (sweep->place = 0; sweep->place < PLACES_MAX && run_round(sweep); sweep->place++)
        ;
    stress_result(&sweep->stress, sweep->wrong == 0 && sweep->place < PLACES_MAX,
                  "%s, %s of %ld allocations fails: %ld faults", scene_names[scene],
                  recovers ? "each one" : "each one with all that follow", sweep->place,
                  sweep->wrong);
}

int main(void)
{
    struct sweep sweep = {.wrong = 0};

    stress_open(&sweep.stress);
    for (int scene = 0; scene < SCENES; scene++) {
        run_sweep(&sweep, (enum scene)scene, true);
        run_sweep(&sweep, (enum scene)scene, false);
    }
    return stress_close(&sweep.stress);
}
