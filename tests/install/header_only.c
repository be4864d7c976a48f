/* Nothing but lathe.h: no other header is needed to plan a kernel and emit it. */
#include <lathe.h>

int main(void)
{
    const char *words[] = {"gemm", "m=512", "n=512", "k=512"};
    struct lathe_request request = LATHE_REQUEST_INIT;
    struct lathe_plan plan = LATHE_PLAN_INIT;
    struct lathe_kernel *kernel = 0;
    size_t length = 0;

    if (lathe_request_parse(&request, 4, words, 0) != LATHE_OK ||
        lathe_plan_gemm(&plan, &request.gemm, &request.plan, 0) != LATHE_OK ||
        lathe_emit(&kernel, &plan, 0, 0) != LATHE_OK)
        return 1;
    lathe_kernel_text(kernel, &length);
    lathe_kernel_destroy(&kernel);
    return length > 0 ? 0 : 1;
}
