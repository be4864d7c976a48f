/* figures.c: what Lathe costs on the host: emitting, linking, a warm start, a hit, a launch.
 *
 *     figures               all of it, as a table
 *     figures link WORDS    milliseconds of the first link of this process
 *     figures warm WORDS    a warm start of this process, and what it opened and wrote
 *
 * Links and warm starts are measured in fresh processes, five each, and the median is printed. The
 * cache stands in a directory of its own. CUDA_CACHE_DISABLE=1 is set for the links: beside a
 * driver nvJitLink keeps a cache of its own, which would answer a repeat. */
#include "include/lathe_tools.h"
#include "runtime/clock.h"
#include "runtime/context.h"
#include "runtime/statistics.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES = 5, CALLS = 2001 };

static void must(enum lathe_status status, const struct lathe_error *error)
{
    if (status == LATHE_OK)
        return;
    fprintf(stderr, "figures: %s\n", error->message);
    exit(1);
}

static struct lathe_request request_of(const char *words)
{
    struct lathe_request request = LATHE_REQUEST_INIT;
    struct lathe_error error;
    const char *list[32];
    char copy[512];
    char *rest = NULL;
    int count = 0;

    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, " ", &rest); word && count < 32;
         word = strtok_r(NULL, " ", &rest))
        list[count++] = word;
    must(lathe_request_parse(&request, count, list, &error), &error);
    return request;
}

static struct lathe_plan plan_of(const char *words)
{
    struct lathe_request request = request_of(words);
    struct lathe_plan plan = LATHE_PLAN_INIT;
    struct lathe_error error;

    must(lathe_plan_gemm(&plan, &request.gemm, &request.plan, &error), &error);
    return plan;
}

/* ---- Emission ---- */

static void print_emission(const char *words)
{
    struct lathe_plan plan = plan_of(words);
    struct lathe_kernel *kernel = NULL;
    struct lathe_error error;
    double times[101], plans[101];
    size_t bytes = 0;

    for (int i = 0; i < 101; i++) {
        double start = lt_now_us();

        plan = plan_of(words);
        plans[i] = lt_now_us() - start;
        lathe_kernel_destroy(&kernel);
        start = lt_now_us();
        must(lathe_emit(&kernel, &plan, NULL, &error), &error);
        times[i] = lt_now_us() - start;
    }
    lathe_kernel_text(kernel, &bytes);
    lathe_kernel_destroy(&kernel);
    printf("plan %6.0f us  emit %6.0f us  %6zu bytes   %s\n", lt_median(plans, 101),
           lt_median(times, 101), bytes, words);
}

/* ---- In a process of its own ---- */

static void link_once(const char *words)
{
    struct lathe_plan plan = plan_of(words);
    struct lathe_context *context = NULL;
    struct lathe_kernel *kernel = NULL;
    struct lathe_image *image = NULL;
    struct lathe_error error;

    must(lathe_context_create(&context, lathe_context_options(.cache = LATHE_OFF), &error), &error);
    must(lathe_emit(&kernel, &plan, NULL, &error), &error);
    must(lathe_build(context, &image, kernel, &error), &error);
    printf("%.2f\n", lathe_image_link_ms(image));
    lathe_image_destroy(&image);
    lathe_kernel_destroy(&kernel);
    lathe_context_destroy(&context);
}

static bool is_mapped(const char *name)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024];
    bool found = false;

    while (maps && fgets(line, sizeof line, maps))
        found = found || strstr(line, name);
    if (maps)
        fclose(maps);
    return found;
}

/* A number that changes when anything in the directory does. */
static unsigned long long snapshot(const char *directory)
{
    DIR *open = opendir(directory);
    unsigned long long sum = 0;
    char path[1024];
    struct stat status;

    for (struct dirent *entry; open && (entry = readdir(open)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (stat(path, &status) == 0)
            sum = sum * 31 + (unsigned long long)status.st_mtim.tv_nsec +
                  (unsigned long long)status.st_mtim.tv_sec + (unsigned long long)status.st_size +
                  (unsigned long long)status.st_ino;
    }
    if (open)
        closedir(open);
    return sum;
}

static void start_warm(const char *words)
{
    struct lathe_request request = request_of(words);
    struct lathe_context *context = NULL;
    struct lathe_function *function = NULL;
    struct lathe_error error;
    const struct lt_device *device = NULL;
    const char *directory = getenv("LATHE_CACHE_DIR");

    if (!directory) {
        fprintf(stderr, "figures: warm: LATHE_CACHE_DIR must name the cache\n");
        exit(2);
    }

    unsigned long long before = snapshot(directory);

    must(lathe_context_create(&context, NULL, &error), &error);
    must(lt_context_device(context, &device, &error), &error); /* cuInit, the primary context */

    double start = lt_now_us();

    must(lathe_gemm_get(context, &function, &request.gemm, &request.plan, &error), &error);

    double spent = lt_now_us() - start;

    printf("%.1f %s %s %s\n", spent / 1e3,
           lathe_function_cache(function) == LATHE_CACHE_HIT ? "hit" : "miss",
           is_mapped("nvJitLink") || is_mapped("nvrtc") ? "compilers-opened" : "no-compiler",
           snapshot(directory) == before ? "nothing-written" : "something-written");
    fflush(stdout);
    lathe_context_destroy(&context);
}

/* Runs this program again and reads the first line that it prints. */
static bool ask_process(const char *self, const char *mode, const char *words, char *line, int size)
{
    char command[1024];

    snprintf(command, sizeof command, "CUDA_CACHE_DISABLE=1 '%s' %s '%s'", self, mode, words);

    FILE *pipe = popen(command, "r");
    bool read = pipe && fgets(line, size, pipe);

    return pipe && pclose(pipe) == 0 && read;
}

static void print_links(const char *self, const char *words)
{
    double times[PROCESSES];
    char line[256];

    for (int i = 0; i < PROCESSES; i++) {
        if (!ask_process(self, "link", words, line, sizeof line)) {
            printf("cold link: not to be had here (see above)\n");
            return;
        }
        times[i] = atof(line);
    }
    printf("cold link %6.1f ms   %3d accumulators   %s\n", lt_median(times, PROCESSES),
           plan_of(words).accumulators, words);
}

static void print_warm(const char *self, const char *words)
{
    double times[PROCESSES];
    char line[256] = "", first[256];

    ask_process(self, "warm", words, first, sizeof first); /* fills the cache */
    for (int i = 0; i < PROCESSES; i++) {
        if (!ask_process(self, "warm", words, line, sizeof line)) {
            printf("warm start: not to be had here (see above)\n");
            return;
        }
        times[i] = atof(line);
    }
    line[strcspn(line, "\n")] = '\0';
    printf("warm start %5.2f ms  (%s)   %s\n", lt_median(times, PROCESSES),
           strchr(line, ' ') ? strchr(line, ' ') + 1 : "", words);
}

/* ---- In this process, on a GPU ---- */

static void print_hit(struct lathe_context *context, const struct lathe_request *request)
{
    struct lathe_function *function = NULL;
    struct lathe_error error;
    double times[CALLS];

    for (int i = 0; i < CALLS; i++) {
        double start = lt_now_us();

        for (int j = 0; j < 16; j++)
            must(lathe_gemm_get(context, &function, &request->gemm, &request->plan, &error),
                 &error);
        times[i] = (lt_now_us() - start) / 16;
    }
    printf("in-process hit %.3f us\n", lt_median(times, CALLS));
}

/* m changes from launch to launch, so every one encodes its tensor maps anew. The queue of the
 * device is drained now and then, or a launch would wait for room in it. */
static void print_launch(struct lathe_context *context, const struct lathe_request *request)
{
    struct lathe_gemm_args args = LATHE_GEMM_ARGS_INIT;
    struct lathe_function *function = NULL;
    const struct lt_device *device;
    struct lt_entered entered;
    struct lathe_error error;
    double times[CALLS];

    must(lathe_gemm_get(context, &function, &request->gemm, &request->plan, &error), &error);
    must(lt_context_device(context, &device, &error), &error);
    must(lt_enter(device, &entered, &error), &error);
    args.n = 256;
    args.k = 64;
    must(lt_driver_check(&device->driver, device->driver.cuMemAlloc(&args.a, 1 << 20), "cuMemAlloc",
                         &error),
         &error);
    args.b = args.a + (256 << 10);
    args.d = args.a + (512 << 10);
    for (int i = 0; i < CALLS; i++) {
        args.m = 1 + i % 128;

        double start = lt_now_us();

        must(lathe_gemm_launch(function, &args, &error), &error);
        times[i] = lt_now_us() - start;
        if (i % 64 == 63)
            device->driver.cuCtxSynchronize();
    }
    device->driver.cuCtxSynchronize();
    device->driver.cuMemFree(args.a);
    lt_leave(device, &entered);
    printf("warm launch with a changed m %.2f us on the CPU\n", lt_median(times, CALLS));
}

/* Names no GPU: the same on every machine but for its speed. What is refused for another reason
 * than its size counts too: its ways out are looked for by planning. */
static void print_explanation(const char *words)
{
    struct lathe_request request = request_of(words);
    static struct lathe_explanation explanation = LATHE_EXPLANATION_INIT;
    enum lathe_status status = LATHE_OK;
    struct lathe_error error;
    double times[101];

    for (int i = 0; i < 101; i++) {
        double start = lt_now_us();

        status = lathe_explain_gemm(&explanation, &request.gemm, &request.plan, &error);
        times[i] = lt_now_us() - start;
    }
    printf("explain %5.0f us  %2d doors   %s\n", lt_median(times, 101),
           status == LATHE_OK ? explanation.door_count : error.fits_count, words);
}

static void print_on_device(const char *words)
{
    struct lathe_request request = request_of(words);
    struct lathe_context *context = NULL;
    struct lathe_error error;
    enum lathe_arch arch;

    must(lathe_context_create(&context, NULL, &error), &error);
    if (lathe_context_arch(context, &arch, &error) == LATHE_OK) {
        print_hit(context, &request);
        print_launch(context, &request);
    } else {
        printf("hit and launch: not to be had here (%s)\n", error.message);
    }
    lathe_context_destroy(&context);
}

static void remove_directory(const char *directory)
{
    char command[256];

    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    if (system(command) != 0)
        fprintf(stderr, "figures: %s is left behind\n", directory);
}

int main(int count, char **words)
{
    static const char narrow[] =
        "gemm m=4096 n=4096 k=4096 arch=sm_90a tile=128x128x64 cluster=1x1x1";
    static const char wide[] =
        "gemm m=4096 n=4096 k=4096 arch=sm_90a tile=128x256x64 cluster=2x1x1";
    static const char beta[] =
        "gemm m=4096 n=4096 k=4096 arch=sm_90a tile=128x256x64 cluster=2x1x1 beta=any";
    static const char *const linked[] = {
        narrow,
        wide,
        beta,
        "gemm m=4096 n=4096 k=4096 arch=sm_100a",
        "gemm m=4096 n=4096 k=4096 arch=sm_100a beta=any",
        "gemm m=4096 n=4096 k=4096 arch=sm_100a variant=blackwell-9",
    };
    static const char *const explained[] = {
        "gemm m=4096 n=4096 k=4096 arch=sm_90a tile=128x256x64 stages=9",
        "gemm m=4096 n=4096 k=4096 out=f32 arch=sm_100a tile=256x128x64 stages=9",
        "gemm m=4096 n=4096 k=4096 arch=sm_90a",
        "gemm m=4096 n=4096 k=4096 arch=sm_90a stages=60",
        "gemm m=4096 n=4096 k=4096 arch=sm_90a cta_group=2 stages=61",
        "gemm m=4096 n=4096 k=4096 arch=sm_100a variant=blackwell-4",
        "gemm m=4096 n=4096 k=4096 arch=sm_100a stages=64",
    };
    char directory[] = "/tmp/lathe-figures-XXXXXX";

    if (count == 3 && strcmp(words[1], "link") == 0)
        return link_once(words[2]), 0;
    if (count == 3 && strcmp(words[1], "warm") == 0)
        return start_warm(words[2]), 0;
    if (!mkdtemp(directory) || setenv("LATHE_CACHE_DIR", directory, 1) != 0)
        return 1;
    print_emission(narrow);
    print_emission(wide);
    print_emission(beta);
    print_emission("gemm m=4096 n=4096 k=4096 arch=sm_100a variant=blackwell-9 beta=any");
    for (size_t i = 0; i < sizeof explained / sizeof explained[0]; i++)
        print_explanation(explained[i]);
    fflush(stdout);
    for (size_t i = 0; i < sizeof linked / sizeof linked[0]; i++)
        print_links(words[0], linked[i]);
    print_warm(words[0], wide);
    print_on_device(wide);
    remove_directory(directory);
    return 0;
}
