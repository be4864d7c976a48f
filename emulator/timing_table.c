/* timing_table.c: the constants of the model of time, for each architecture that has some of its
 * own. Each has its source behind it; what stands without one, or under "assumed", has none.
 * bench/predict.py shows how far all of it together is from measured times, and docs/trace.md tells
 * what was fitted to what. */
#include "emulator/timing.h"

/* [m] is of the size that microbenchmarks of Hopper report (arXiv 2402.13499 and others), and was
 * not measured here.
 *
 * Of Blackwell no GPU was there to measure. Public sources, by the marks below:
 * [ds]     NVIDIA's data sheets: B200 2.25 PFLOPS dense f16, 8 TB/s, 1000 W; B300 1100 W
 * [b300]   github ademeure/QuickRunCUDA, b300_clean and justifications: measured on a B300
 * [gb300]  a public program that times 32 tcgen05.mma and a commit on a GB300
 * [utcmma] a public report on tcgen05.mma and .cp, and on TMA, of a B200 at 1.845 GHz
 * [sweep]  github SemiAnalysisAI/microbench-blackwell, cutlass_gemm_mainloop/results.csv, and
 *          [tma], tma2d_throughput there: a B200
 * [tile]   TileSight, arXiv 2607.22432, table 3: microbenchmarks of a B200
 *
 * The rate of tensor cores is sure: 2.25 PFLOPS [ds] of 148 multiprocessors at 1.856 GHz are 4096
 * products a cycle; a B300 takes 128.13 cycles for M=128, N=256, K of 32 bytes, whatever the type
 * [b300]; and the times of [sweep] that hang on nothing else are, from 32 cycles on, those of N/2
 * cycles, for 64 rows as for 128, or of what shared memory brings, whichever is longer, at one
 * clock between 1.23 and 1.29 GHz. */

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
        .dram_latency = 220,      /* [m] */
        .dram_bytes = 2222,       /* 4.4 of the data sheet's 4.8 TB/s */
        .waits_for_lines = false, /* as the fits were made */
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
    {
        .arch = "sm_100a",
        .target = 100,
        .clock_khz = 1965000, /* the highest: 148 x 8192 x 1.965 GHz are the 2382 of [tile] */
        .l2_bytes = 10433,    /* 20.5 TB/s [tile]                                       */
        .dram_latency = 680,  /* 546 ns with it, 197 without [utcmma]; 336 more [sweep] */
        .dram_bytes = 3664,   /* 7.2 [tma] of 8 TB/s [ds]                               */
#include "emulator/timing_blackwell.def"
    },
    {
        .arch = "sm_103a",
        .target = 103,
        .clock_khz = 2032000, /* [b300] */
        .l2_bytes = 10083,    /* 20.49 TB/s by TMA [b300]                  */
        .dram_latency = 700,  /* in nanoseconds as that of a B200; assumed */
        .dram_bytes = 3593,   /* 7.3 [b300] of 8 TB/s [ds]                 */
#include "emulator/timing_blackwell.def"
    },
};

const int emu_timing_count = sizeof emu_timings / sizeof emu_timings[0];
