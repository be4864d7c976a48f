/* build.c: the kernel's cubin, from the cache or from nvJitLink. */
#include "cli/file.h"
#include "cli/report.h"
#include "cli/request.h"
#include "cli/verb.h"

#include <string.h>

static int answer_json(struct output *out, const struct lathe_image *image, const char *file,
                       double emit_us)
{
    size_t bytes;
    json_t *object = report_kernel(lathe_image_plan(image), lathe_image_contract(image), emit_us);

    lathe_image_cubin(image, &bytes);
    if (object) {
        json_object_set_new(object, "link_ms", json_number(lathe_image_link_ms(image)));
        json_object_set_new(object, "cache",
                            json_string(cache_result_name(lathe_image_cache(image))));
        json_object_set_new(object, "bytes", json_integer((json_int_t)bytes));
        json_object_set_new(object, "linker_warnings", report_lines(lathe_image_warnings(image)));
        json_object_set_new(object, "output", file ? json_text(file) : json_null());
    }
    return output_json(out, object, EXIT_DONE);
}

static int answer_text(struct output *out, const struct lathe_image *image, double emit_us)
{
    const struct lathe_contract *contract = lathe_image_contract(image);
    const char *warnings = lathe_image_warnings(image);
    size_t bytes;

    lathe_image_cubin(image, &bytes);
    output_text(out, "kernel    %s\n", contract->name);
    output_text(out, "arch      %s\n", lathe_arch_name(contract->arch));
    output_text(out, "launch    block %dx%dx%d, cluster %dx%dx%d, %d bytes of shared memory\n",
                contract->block[0], contract->block[1], contract->block[2], contract->cluster[0],
                contract->cluster[1], contract->cluster[2], contract->smem_bytes);
    output_text(out, "linked    %d registers, %d bytes spilled, %d warning%s\n",
                contract->registers, contract->spill_bytes, contract->warnings,
                contract->warnings == 1 ? "" : "s");
    output_text(out, "cubin     %zu bytes\n", bytes);
    output_text(out, "cost      emit %.0f us, link %.1f ms, cache %s\n", emit_us,
                lathe_image_link_ms(image), cache_result_name(lathe_image_cache(image)));
    if (warnings[0])
        output_text(out, "\n%s%s", warnings, warnings[strlen(warnings) - 1] == '\n' ? "" : "\n");
    return EXIT_DONE;
}

static int answer(const struct words *words, struct output *out, const struct lathe_image *image,
                  double emit_us)
{
    struct lathe_error err;
    size_t bytes;
    const void *cubin = lathe_image_cubin(image, &bytes);

    if (words->output && file_is_standard_output(words->output)) {
        output_bytes(out, cubin, bytes);
        return EXIT_DONE;
    }
    if (words->output && file_write(words->output, cubin, bytes, &err) != LATHE_OK)
        return output_refuse(out, &err);
    return out->json ? answer_json(out, image, words->output, emit_us)
                     : answer_text(out, image, emit_us);
}

static int run(const struct words *words, struct output *out)
{
    struct lathe_request request;
    struct lathe_plan plan;
    struct lathe_error err;
    struct lathe_context *context = NULL;
    struct lathe_kernel *kernel = NULL;
    struct lathe_image *image = NULL;
    double emit_us = 0;

    if (out->json && words->output && file_is_standard_output(words->output)) {
        fail(&err, LATHE_BAD_WORD, "-o %.80s and --json: both want standard output", words->output);
        return output_refuse(out, &err);
    }

    enum lathe_status status = request_plan(words, &request, &plan, &err);

    if (status == LATHE_OK) {
        double start = now_us();

        status = lathe_emit(&kernel, &plan, NULL, &err);
        emit_us = now_us() - start;
    }
    if (status == LATHE_OK)
        status = context_open(&context, &err);
    if (status == LATHE_OK)
        status = lathe_build(context, &image, kernel, &err);

    int code = status == LATHE_OK ? answer(words, out, image, emit_us) : output_refuse(out, &err);

    lathe_image_destroy(&image);
    lathe_context_destroy(&context);
    lathe_kernel_destroy(&kernel);
    return code;
}

const struct verb verb_build = {
    .name = "build",
    .synopsis = "gemm m=M n=N k=K [KEY=VALUE...] [-o kernel.cubin]",
    .summary = "the kernel's cubin, from the cache or from nvJitLink",
    .about = "Links the kernel and keeps the cubin in the cache; with -o also writes it to FILE.\n"
             "Prints the launch contract's numbers, what the linker says and what it cost. Needs\n"
             "nvJitLink, unless the cubin is in the cache, but no GPU.\n"
             "\n"
             "--json: {\"arch\", \"plan\": as of lathe plan, \"kernel\": {\"name\", \"arch\", "
             "\"block\", \"cluster\",\n"
             "\"smem\", \"cluster_tile\", \"params\", \"tensor_maps\", \"registers\", \"spills\", "
             "\"warnings\"},\n"
             "\"emit_us\", \"link_ms\", \"cache\": \"hit\", \"miss\" or \"off\", \"bytes\", "
             "\"linker_warnings\": lines,\n"
             "\"output\": FILE or null}.\n",
    .examples = "  lathe build gemm m=4096 n=4096 k=4096 arch=sm_90a\n"
                "  lathe build gemm m=4096 n=4096 k=4096 arch=sm_100a -o kernel.cubin\n"
                "  lathe build gemm m=128 n=4096 k=4096 arch=sm_90a beta=any --json\n",
    .output = "write the cubin there; - is standard output, and nothing else is printed",
    .takes_request = true,
    .run = run,
};
