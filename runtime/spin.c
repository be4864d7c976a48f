#include "runtime/spin.h"

/* Of the oldest architecture that Lathe has kernels for: the driver compiles it for newer ones. */
static const char text[] = ".version 7.8\n"
                           ".target sm_90\n"
                           ".address_size 64\n"
                           "\n"
                           ".visible .entry lathe_spin(.param .u64 nanoseconds)\n"
                           ".maxntid 1, 1, 1\n"
                           "{\n"
                           "    .reg .u64 %wanted, %most_clocks;\n"
                           "    .reg .u64 %begin, %first_clock, %passed, %clocks;\n"
                           "    .reg .pred %over;\n"
                           "\n"
                           "    ld.param.u64 %wanted, [nanoseconds];\n"
                           "    shl.b64 %most_clocks, %wanted, 2;\n"
                           "    mov.u64 %begin, %globaltimer;\n"
                           "    mov.u64 %first_clock, %clock64;\n"
                           "$spin:\n"
                           "    mov.u64 %passed, %globaltimer;\n"
                           "    sub.u64 %passed, %passed, %begin;\n"
                           "    mov.u64 %clocks, %clock64;\n"
                           "    sub.u64 %clocks, %clocks, %first_clock;\n"
                           "    setp.ge.u64 %over, %passed, %wanted;\n"
                           "    setp.ge.or.u64 %over, %clocks, %most_clocks, %over;\n"
                           "    @!%over bra $spin;\n"
                           "    ret;\n"
                           "}\n";

enum lathe_status lt_spin_open(struct lt_spin *spin, const struct lt_stream *stream,
                               struct lathe_error *err)
{
    const struct lt_driver *driver = &stream->device->driver;
    struct lt_spin made = {.stream = stream};
    int result = driver->cuModuleLoadData(&made.module, text);

    if (result != LT_CUDA_SUCCESS)
        return lt_stream_check(stream, result, "cuModuleLoadData of a kernel that spins", err);
    result = driver->cuModuleGetFunction(&made.function, made.module, "lathe_spin");
    if (result != LT_CUDA_SUCCESS) {
        lt_spin_close(&made);
        return lt_stream_check(stream, result, "cuModuleGetFunction", err);
    }
    *spin = made;
    return LATHE_OK;
}

void lt_spin_close(struct lt_spin *spin)
{
    if (spin->stream)
        spin->stream->device->driver.cuModuleUnload(spin->module);
    *spin = (struct lt_spin){.stream = NULL};
}

enum lathe_status lt_spin_launch(const struct lt_spin *spin, double us, struct lathe_error *err)
{
    uint64_t nanoseconds = (uint64_t)(us * 1e3);
    void *params[] = {&nanoseconds};

    return lt_stream_launch(spin->stream, spin->function, 1, 1, params, err);
}
