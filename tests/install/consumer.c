/* A program of someone else's, built against the installed library: plans a GEMM, emits it, and
 * prints what install_test.py looks for. The same in C and, as consumer.cpp, in C++. */
#include <lathe.h>

#include <stdio.h>

int main(void)
{
    struct lathe_gemm problem = LATHE_GEMM_INIT;
    struct lathe_plan plan = LATHE_PLAN_INIT;
    struct lathe_context *context = NULL;
    struct lathe_kernel *kernel = NULL;
    struct lathe_error err = {0};

    problem.m = problem.n = problem.k = 1024;
    problem.type = LATHE_BF16;
    if (lathe_plan_gemm(&plan, &problem, lathe_plan_options(.stages = 3), &err) != LATHE_OK ||
        lathe_emit(&kernel, &plan, NULL, &err) != LATHE_OK ||
        lathe_context_create(&context, lathe_context_options(.cache = LATHE_OFF), &err) !=
            LATHE_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    printf("version=%s\n", lathe_version());
    printf("stages=%d\n", plan.stages);
    printf("entry=%s\n", lathe_kernel_contract(kernel)->name);
    fputs(lathe_kernel_text(kernel, NULL), stdout);
    lathe_kernel_destroy(&kernel);
    lathe_context_destroy(&context);
    return 0;
}
