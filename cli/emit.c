/* emit.c: the kernel's text. */
#include "cli/file.h"
#include "cli/report.h"
#include "cli/request.h"
#include "cli/verb.h"

/* With --json the text is a member of the object, unless a file has it. */
static int answer_json(struct output *out, const struct lathe_plan *plan,
                       const struct lathe_kernel *kernel, const char *file, double emit_us)
{
    size_t length;
    const char *text = lathe_kernel_text(kernel, &length);
    json_t *object = report_kernel(plan, lathe_kernel_contract(kernel), emit_us);

    if (object)
        json_object_set_new(object, "bytes", json_integer((json_int_t)length));
    if (object && file)
        json_object_set_new(object, "output", json_text(file));
    else if (object)
        json_object_set_new(object, "text", json_stringn(text, length));
    return output_json(out, object, EXIT_DONE);
}

static int run(const struct words *words, struct output *out)
{
    struct lathe_request request;
    struct lathe_plan plan;
    struct lathe_error err;
    struct lathe_kernel *kernel = NULL;
    bool to_file = words->output && !file_is_standard_output(words->output);

    if (request_plan(words, &request, &plan, &err) != LATHE_OK)
        return output_refuse(out, &err);

    double start = now_us();
    enum lathe_status status = lathe_emit(&kernel, &plan, NULL, &err);
    double emit_us = now_us() - start;

    if (status != LATHE_OK)
        return output_refuse(out, &err);

    size_t length;
    const char *text = lathe_kernel_text(kernel, &length);
    int code = EXIT_DONE;

    if (to_file && file_write(words->output, text, length, &err) != LATHE_OK)
        code = output_refuse(out, &err);
    else if (out->json)
        code = answer_json(out, &plan, kernel, to_file ? words->output : NULL, emit_us);
    else if (!to_file)
        output_bytes(out, text, length);
    lathe_kernel_destroy(&kernel);
    return code;
}

const struct verb verb_emit = {
    .name = "emit",
    .synopsis = "gemm m=M n=N k=K [KEY=VALUE...] [-o kernel.ptx]",
    .summary = "the kernel's text: annotated PTX",
    .about =
        "Prints the PTX, or writes it to FILE. The plan decides it alone: the same plan gives\n"
        "the same bytes on every machine. Needs no GPU and, where arch= is named, touches no\n"
        "driver.\n"
        "\n"
        "--json: {\"arch\", \"plan\": as of lathe plan, \"kernel\": {\"name\", \"arch\", "
        "\"block\", \"cluster\",\n"
        "\"smem\", \"cluster_tile\", \"params\", \"tensor_maps\", \"registers\", \"spills\", "
        "\"warnings\"},\n"
        "\"emit_us\", \"bytes\", \"text\", or with -o in place of the text \"output\"}. What only "
        "the\n"
        "linker knows (registers, spills, warnings) is null.\n",
    .examples = "  lathe emit gemm m=4096 n=4096 k=4096\n"
                "  lathe emit gemm m=4096 n=4096 k=4096 variant=blackwell-9 -o kernel.ptx\n"
                "  lathe emit gemm m=4096 n=4096 k=4096 arch=sm_90a annotate=0 | wc -l\n",
    .output = "write the text there; - is standard output",
    .takes_request = true,
    .run = run,
};
