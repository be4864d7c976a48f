// consumer.c in C++17: the initialisers are the header's, the rest is the same.
#include <lathe.h>

#include <cstdio>
#include <memory>

namespace
{

struct destroy {
    void operator()(lathe_kernel *kernel) const
    {
        lathe_kernel_destroy(&kernel);
    }
    void operator()(lathe_context *context) const
    {
        lathe_context_destroy(&context);
    }
};

int refuse(const lathe_error &err)
{
    std::fprintf(stderr, "%s\n", err.message);
    return 1;
}

} // namespace

int main()
{
    lathe_gemm problem = LATHE_GEMM_INIT;
    lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;
    lathe_context_options settings = LATHE_CONTEXT_OPTIONS_INIT;
    lathe_gemm_args args = LATHE_GEMM_ARGS_INIT;
    lathe_plan plan = LATHE_PLAN_INIT;
    lathe_error err{};

    problem.m = problem.n = problem.k = 1024;
    problem.type = LATHE_BF16;
    options.stages = 3;
    settings.cache = LATHE_OFF;
    if (args.struct_size != sizeof args || args.alpha != 1.0f || args.beta != 0.0f)
        return 1;

    lathe_kernel *made = nullptr;
    lathe_context *created = nullptr;

    if (lathe_plan_gemm(&plan, &problem, &options, &err) != LATHE_OK ||
        lathe_emit(&made, &plan, nullptr, &err) != LATHE_OK)
        return refuse(err);
    std::unique_ptr<lathe_kernel, destroy> kernel(made);
    if (lathe_context_create(&created, &settings, &err) != LATHE_OK)
        return refuse(err);
    std::unique_ptr<lathe_context, destroy> context(created);

    std::printf("version=%s\n", lathe_version());
    std::printf("stages=%d\n", plan.stages);
    std::printf("entry=%s\n", lathe_kernel_contract(kernel.get())->name);
    std::fputs(lathe_kernel_text(kernel.get(), nullptr), stdout);
    return 0;
}
