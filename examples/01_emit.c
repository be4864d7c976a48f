/* 01_emit: plan a problem, write its kernel, print it. Needs no GPU and no CUDA.
 *
 *     01_emit                                      a bf16 GEMM of 4096 x 4096 x 4096
 *     01_emit gemm m=512 n=512 k=512 stages=3      any problem and plan fields, as key=value words
 *
 * Standard output is a PTX file: the plan and the launch contract stand in it as comments. */
#include <lathe.h>

#include <stdio.h>
#include <stdlib.h>

static int refuse(const struct lathe_error *err)
{
    fprintf(stderr, "01_emit: %s (%s)\n", err->message, lathe_status_name(err->status));
    return EXIT_FAILURE;
}

/* The texts of a plan and of a contract come as from snprintf: asked twice, once for the length. */
static void print_plan(const struct lathe_plan *plan)
{
    size_t size = lathe_plan_words(plan, NULL, 0) + 1;
    char *words = malloc(size);

    if (words) {
        lathe_plan_words(plan, words, size);
        printf("// plan: %s\n// why: %s\n", words, plan->reason);
    }
    free(words);
}

static void print_contract(const struct lathe_contract *contract)
{
    size_t size = lathe_contract_json(contract, NULL, 0) + 1;
    char *json = malloc(size);

    if (json) {
        lathe_contract_json(contract, json, size);
        printf("// launch contract: %s\n", json);
    }
    free(json);
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"gemm", "m=4096", "n=4096", "k=4096", "type=bf16"};
    const char *const *words = argc > 1 ? (const char *const *)(argv + 1) : usual;
    int count = argc > 1 ? argc - 1 : (int)(sizeof usual / sizeof usual[0]);

    struct lathe_request request = LATHE_REQUEST_INIT;
    struct lathe_plan plan = LATHE_PLAN_INIT;
    struct lathe_kernel *kernel = NULL;
    struct lathe_error err = {0};

    if (lathe_request_parse(&request, count, words, &err) != LATHE_OK ||
        lathe_plan_gemm(&plan, &request.gemm, &request.plan, &err) != LATHE_OK ||
        lathe_emit(&kernel, &plan, NULL, &err) != LATHE_OK)
        return refuse(&err);

    print_plan(&plan);
    print_contract(lathe_kernel_contract(kernel));
    fputs(lathe_kernel_text(kernel, NULL), stdout);
    lathe_kernel_destroy(&kernel);
    return EXIT_SUCCESS;
}
