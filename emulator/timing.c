/* timing.c: which table of the model of time is whose, and of what class an instruction is. */
#include "emulator/timing.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

const struct emu_timing *emu_timing_of(int target)
{
    const struct emu_timing *found = &emu_timings[0];

    for (int i = 0; i < emu_timing_count; i++)
        if (emu_timings[i].target <= target)
            found = &emu_timings[i];
    return found;
}

/* ---- Classes ---- */

static bool has(const struct emu_instruction *text, const char *word)
{
    for (int i = 1; i < text->word_count; i++)
        if (strcmp(text->words[i], word) == 0)
            return true;
    return false;
}

static bool is_shared(const struct emu_instruction *text)
{
    return has(text, "shared") || has(text, "shared::cta") || has(text, "shared::cluster");
}

static enum emu_cost_class of_memory(const struct emu_instruction *text, bool loads)
{
    if (has(text, "param") || has(text, "const"))
        return EMU_COST_ALU;
    if (has(text, "shared::cluster") || has(text, "async"))
        return EMU_COST_REMOTE;
    if (is_shared(text) || has(text, "local"))
        return loads ? EMU_COST_SHARED_LOAD : EMU_COST_SHARED_STORE;
    return loads ? EMU_COST_GLOBAL_LOAD : EMU_COST_GLOBAL_STORE;
}

static enum emu_cost_class of_mbarrier(const struct emu_instruction *text)
{
    return has(text, "try_wait") || has(text, "test_wait") ? EMU_COST_MBARRIER_WAIT
                                                           : EMU_COST_MBARRIER;
}

static enum emu_cost_class of_fence(const struct emu_instruction *text)
{
    if (has(text, "proxy"))
        return EMU_COST_PROXY_FENCE;
    return has(text, "gpu") || has(text, "gl") || has(text, "sys") ? EMU_COST_SYSTEM_FENCE
                                                                   : EMU_COST_FENCE;
}

static enum emu_cost_class of_copy(const struct emu_instruction *text)
{
    if (has(text, "commit_group") || has(text, "wait_group") || has(text, "wait_all"))
        return EMU_COST_GROUP;
    if (has(text, "mbarrier"))
        return EMU_COST_MBARRIER;
    if (has(text, "prefetch"))
        return EMU_COST_ALU;
    return has(text, "bulk") ? EMU_COST_COPY_ISSUE : EMU_COST_SMALL_COPY;
}

static enum emu_cost_class of_product(const struct emu_instruction *text)
{
    return has(text, "mma_async") ? EMU_COST_PRODUCT_ISSUE : EMU_COST_GROUP;
}

static enum emu_cost_class of_tensor(const struct emu_instruction *text)
{
    static const struct {
        const char *word;
        enum emu_cost_class class;
    } kinds[] = {
        {"mma", EMU_COST_TENSOR_ISSUE},   {"cp", EMU_COST_TENSOR_ISSUE},
        {"shift", EMU_COST_TENSOR_ISSUE}, {"commit", EMU_COST_TENSOR_COMMIT},
        {"alloc", EMU_COST_TMEM_ALLOC},   {"ld", EMU_COST_TMEM_LOAD},
        {"st", EMU_COST_TMEM_STORE},      {"wait::ld", EMU_COST_TMEM_WAIT},
        {"wait::st", EMU_COST_TMEM_WAIT},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (text->word_count > 1 && strcmp(text->words[1], kinds[i].word) == 0)
            return kinds[i].class;
    return EMU_COST_GROUP; /* fences, and what is given back */
}

static enum emu_cost_class of_launch_control(const struct emu_instruction *text)
{
    return has(text, "try_cancel") ? EMU_COST_COPY_ISSUE : EMU_COST_ALU;
}

static enum emu_cost_class of_atomic(const struct emu_instruction *text)
{
    if (has(text, "async"))
        return EMU_COST_REMOTE;
    if (strcmp(text->words[0], "red") == 0 && !is_shared(text))
        return EMU_COST_GLOBAL_STORE;
    return is_shared(text) ? EMU_COST_SHARED_ATOMIC : EMU_COST_GLOBAL_ATOMIC;
}

static enum emu_cost_class of_barrier(const struct emu_instruction *text)
{
    return has(text, "cluster") ? EMU_COST_CLUSTER_BARRIER : EMU_COST_BARRIER;
}

/* Quotients of integers, and exact ones of floats. */
static bool is_sequence(const struct emu_instruction *text)
{
    const char *word = text->words[0];

    return strcmp(word, "div") == 0 || strcmp(word, "rem") == 0 ||
           (strcmp(word, "sqrt") == 0 && !has(text, "approx"));
}

enum emu_cost_class emu_cost_class_of(const struct emu_instruction *text)
{
    static const struct {
        const char *word;
        enum emu_cost_class class;
    } plain[] = {
        {"bra", EMU_COST_BRANCH},
        {"brx", EMU_COST_BRANCH},
        {"call", EMU_COST_BRANCH},
        {"ret", EMU_COST_BRANCH},
        {"exit", EMU_COST_BRANCH},
        {"shfl", EMU_COST_SHUFFLE},
        {"vote", EMU_COST_SHUFFLE},
        {"match", EMU_COST_SHUFFLE},
        {"redux", EMU_COST_SHUFFLE},
        {"activemask", EMU_COST_SHUFFLE},
        {"movmatrix", EMU_COST_SHUFFLE},
        {"elect", EMU_COST_ELECT},
        {"ldmatrix", EMU_COST_SHARED_LOAD},
        {"stmatrix", EMU_COST_SHARED_STORE},
        {"setmaxnreg", EMU_COST_SETMAXNREG},
        {"mma", EMU_COST_MMA},
        {"rcp", EMU_COST_MULTI},
        {"rsqrt", EMU_COST_MULTI},
        {"sqrt", EMU_COST_MULTI},
        {"ex2", EMU_COST_MULTI},
        {"lg2", EMU_COST_MULTI},
        {"sin", EMU_COST_MULTI},
        {"cos", EMU_COST_MULTI},
        {"tanh", EMU_COST_MULTI},
    };
    static const struct {
        const char *word;
        enum emu_cost_class (*class_of)(const struct emu_instruction *text);
    } split[] = {
        {"mbarrier", of_mbarrier},
        {"fence", of_fence},
        {"membar", of_fence},
        {"cp", of_copy},
        {"wgmma", of_product},
        {"atom", of_atomic},
        {"red", of_atomic},
        {"bar", of_barrier},
        {"barrier", of_barrier},
        {"tcgen05", of_tensor},
        {"clusterlaunchcontrol", of_launch_control},
    };
    const char *word = text->words[0];

    if (is_sequence(text))
        return EMU_COST_DIVIDE;
    if (strcmp(word, "ld") == 0 || strcmp(word, "ldu") == 0)
        return of_memory(text, true);
    if (strcmp(word, "st") == 0)
        return of_memory(text, false);
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (strcmp(plain[i].word, word) == 0)
            return plain[i].class;
    for (size_t i = 0; i < sizeof split / sizeof split[0]; i++)
        if (strcmp(split[i].word, word) == 0)
            return split[i].class_of(text);
    return EMU_COST_ALU;
}
