/* tensor_text.c: see tensor_text.h. */
#include "tests/gpu/tensor_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tensor_say(struct tensor_case *it, const char *format, ...)
{
    size_t length = strlen(it->text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(it->text + length, sizeof it->text - length, format, arguments);
    va_end(arguments);
}

void tensor_say_begin(struct tensor_case *it, const char *declarations)
{
    it->text[0] = '\0';
    tensor_say(it,
               ".version 8.6\n.target sm_90a\n.address_size 64\n"
               ".extern .shared .align 1024 .b8 space[];\n"
               ".global .align 128 .b8 scratch[128];\n"
               ".visible .entry k(.param .u64 memory, .param .align 64 .b8 map[128])\n"
               ".maxntid %u\n{\n"
               "    .reg .pred %%p, %%q, %%first, %%target;\n"
               "    .reg .b32 %%thread, %%rank, %%space, %%status, %%i, %%n, %%to, %%v<4>;\n"
               "    .reg .b64 %%memory, %%map, %%at;\n%s"
               "    ld.param.u64 %%memory, [memory];\n"
               "    cvta.to.global.u64 %%memory, %%memory;\n"
               "    mov.u64 %%map, map;\n"
               "    cvta.param.u64 %%map, %%map;\n"
               "    mov.u32 %%thread, %%tid.x;\n"
               "    mov.u32 %%rank, %%cluster_ctarank;\n"
               "    mov.u32 %%space, space;\n"
               "    setp.eq.u32 %%first, %%thread, 0;\n"
               "    mov.u32 %%status, %d;\n",
               it->threads, declarations, TENSOR_DONE);
}

void tensor_say_fill(struct tensor_case *it)
{
    tensor_say(it,
               "    shl.b32 %%i, %%thread, 4;\n"
               "$fill:\n"
               "    setp.ge.u32 %%p, %%i, %u;\n"
               "    @%%p bra $filled;\n"
               "    cvt.u64.u32 %%at, %%i;\n"
               "    add.u64 %%at, %%at, %%memory;\n"
               "    ld.global.v4.b32 {%%v0, %%v1, %%v2, %%v3}, [%%at+%u];\n"
               "    add.u32 %%to, %%space, %%i;\n"
               "    st.shared.v4.b32 [%%to], {%%v0, %%v1, %%v2, %%v3};\n"
               "    add.u32 %%i, %%i, %u;\n"
               "    bra $fill;\n"
               "$filled:\n"
               "    fence.proxy.async;\n",
               it->shared_bytes, it->image_at, 16 * it->threads);
}

void tensor_say_meet(struct tensor_case *it)
{
    if (it->ctas > 1)
        tensor_say(it, "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n");
    else
        tensor_say(it, "    bar.sync 0;\n");
}

void tensor_say_end(struct tensor_case *it)
{
    tensor_say_meet(it);
    tensor_say(it,
               "    mul.wide.u32 %%at, %%rank, %u;\n"
               "    add.u64 %%memory, %%memory, %%at;\n"
               "    add.u64 %%memory, %%memory, %u;\n"
               "    mul.wide.u32 %%at, %%thread, 4;\n"
               "    add.u64 %%at, %%at, %%memory;\n"
               "    st.global.b32 [%%at], %%status;\n"
               "    shl.b32 %%i, %%thread, 4;\n"
               "$give:\n"
               "    setp.ge.u32 %%p, %%i, %u;\n"
               "    @%%p bra $given;\n"
               "    add.u32 %%to, %%space, %%i;\n"
               "    ld.shared.v4.b32 {%%v0, %%v1, %%v2, %%v3}, [%%to];\n"
               "    cvt.u64.u32 %%at, %%i;\n"
               "    add.u64 %%at, %%at, %%memory;\n"
               "    st.global.v4.b32 [%%at+%u], {%%v0, %%v1, %%v2, %%v3};\n"
               "    add.u32 %%i, %%i, %u;\n"
               "    bra $give;\n"
               "$given:\n"
               "    ret;\n}\n",
               tensor_result_bytes(it), it->result_at, it->shared_bytes, 4 * it->threads,
               16 * it->threads);
}
