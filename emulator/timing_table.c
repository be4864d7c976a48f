/* timing_table.c: the constants of the model of time.
 *
 * What is marked [m] is of the size that microbenchmarks of Hopper report (arXiv 2402.13499 and
 * others), and was not measured here; what stands without a source is assumed. bench/predict.py
 * shows how far all of it together is from measured times. */
#include "emulator/timing.h"

const struct emu_timing emu_timings[] = {
    {
        .arch = "sm_90a",
        .target = 90,
        /* The highest of an H200, as its driver tells. What is fitted to an H200 is so to the times
         * of docs/benchmark.md, and bench/predict.py shows how well. */
        .clock_khz = 1980000,
        .power_from_percent = 30, /* fitted to an H200: squares */
        .power_slope = 72,        /* fitted to an H200: squares */
        .loads_under_way = 6,     /* scoreboards of a warp */
        .cta_start = 400,
        .wake = 20,
        .shared_bytes = 128, /* 32 banks of 4 bytes: CUDA C Programming Guide, "Shared Memory" */
        .global_bytes = 64,
        .copy_start = 100,
        .copy_bytes = 128,
        .ingress_bytes = 78, /* fitted to an H200: 64x64x131072 */
        .l2_latency = 560,   /* with copy_start the 660 of a small tensor copy; [m] */
        .l2_bytes =
            7700, /* fitted to an H200: 302 MB in 21.4 us, docs/benchmark.md, 512x1280x8192 */
        .dram_latency = 220, /* [m] */
        .dram_bytes = 2222,  /* 4.4 of the data sheet's 4.8 TB/s */
        .store_latency = 400,
        .remote_latency = 180, /* [m] */
        .product_start = 16,
        .product_end = 24,
        .products = 2048,  /* H200 data sheet, 989 TFLOPS dense f16: 4096 FLOP of 132 at 1.83 GHz */
        .mma_percent = 62, /* [m] */
        .costs =
            {
                /* Of the text, not of machine code, in which some of it vanishes. */
                [EMU_COST_ALU] = {2, 0},
                [EMU_COST_MULTI] = {8, 20},
                [EMU_COST_DIVIDE] = {60, 0},
                [EMU_COST_BRANCH] = {8, 0},
                [EMU_COST_SHUFFLE] = {2, 24},
                [EMU_COST_ELECT] = {12, 0},
                [EMU_COST_SHARED_LOAD] = {2, 29}, /* [m] */
                [EMU_COST_SHARED_STORE] = {2, 0},
                [EMU_COST_SHARED_ATOMIC] = {4, 60},
                [EMU_COST_REMOTE] = {4, 180},
                [EMU_COST_GLOBAL_LOAD] = {4, 263}, /* of L2; [m] */
                [EMU_COST_GLOBAL_STORE] = {4, 0},
                [EMU_COST_GLOBAL_ATOMIC] = {4, 300},
                [EMU_COST_SMALL_COPY] = {4, 0},
                [EMU_COST_MBARRIER] = {8, 0},
                [EMU_COST_MBARRIER_WAIT] = {4, 20},
                [EMU_COST_BARRIER] = {20, 0},
                [EMU_COST_CLUSTER_BARRIER] = {90, 0}, /* its two halves make 180 */
                [EMU_COST_FENCE] = {10, 0},
                [EMU_COST_PROXY_FENCE] = {30, 0},
                [EMU_COST_SYSTEM_FENCE] = {500, 0},
                [EMU_COST_COPY_ISSUE] = {24, 0},
                [EMU_COST_GROUP] = {4, 0},
                [EMU_COST_PRODUCT_ISSUE] = {8, 0},
                [EMU_COST_MMA] = {2, 33}, /* [m] */
                [EMU_COST_SETMAXNREG] = {30, 0},
            },
    },
};

const int emu_timing_count = sizeof emu_timings / sizeof emu_timings[0];
