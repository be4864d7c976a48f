#!/usr/bin/env python3
"""Lathe beside cuBLASLt on the dense GEMM shapes of a few well-known models, as a Markdown table.

Usage: shapes.py LATHE [KEY=VALUE...]: every shape through `lathe bench` with these words, bf16
unless they say otherwise; no plan field is named, so the plans are the planner's. The ratio is
cuBLASLt's time by Lathe's: above 1 Lathe is faster. Exits 1 when an answer is wrong or a bench
fails. docs/benchmark.md says how it measures.
"""
import json
import math
import subprocess
import sys

# m, n, k. Where the names come from: squares; the projections of Llama 3 (8B, 70B) and DeepSeek V3
# by tokens in flight; shapes with one extreme side.
SHAPES = {
    "squares": [(s, s, s) for s in (512, 1024, 1536, 2048, 3072, 4096, 5120, 6144, 8192, 12288,
                                    16384)],
    "Llama 3 8B": [(1, 6144, 4096), (16, 28672, 4096), (64, 4096, 14336), (128, 28672, 4096),
                   (256, 4096, 4096), (512, 6144, 4096), (2048, 28672, 4096), (4096, 4096, 14336),
                   (8192, 6144, 4096)],
    "Llama 3 70B": [(16, 10240, 8192), (128, 8192, 28672), (1024, 57344, 8192), (4096, 8192, 8192),
                    (512, 1280, 8192), (2048, 7168, 8192), (8192, 8192, 1024)],
    "DeepSeek V3": [(64, 2112, 7168), (128, 24576, 1536), (128, 32768, 512), (4096, 7168, 16384),
                    (4096, 4096, 7168), (4096, 7168, 2048)],
    "skinny, large k": [(65536, 256, 256), (32768, 512, 512), (256, 256, 65536), (64, 64, 131072),
                        (8192, 1024, 8192), (16384, 16384, 1024), (65536, 1024, 1024)],
}


def bench(lathe, shape, words):
    """The answer of one bench, or None after saying why not."""
    sizes = [f"{name}={size}" for name, size in zip("mnk", shape)]
    done = subprocess.run([lathe, "bench", "gemm", *sizes, "type=bf16", "vs=cublaslt", *words,
                           "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    answer = json.loads(done.stdout or "{}")
    if done.returncode != 0 or not answer.get("verified"):
        print(f"{'x'.join(map(str, shape))}: {done.stderr.strip()}", file=sys.stderr)
        return None
    return answer


def row(kind, shape, answer):
    result, plan = answer["rows"][0], answer["plan"]
    return (f"| {kind} | {'x'.join(map(str, shape))} | {plan['tile']}, {plan['stages']} "
            f"stages, cluster {plan['cluster']} | {result['time_us']:.1f} | "
            f"{result['tflops']:.0f} | {result['vs_time_us']:.1f} | {result['ratio']:.3f} | "
            f"{result['ratio_low']:.3f} to {result['ratio_high']:.3f} |")


def main():
    if len(sys.argv) < 2 or "-h" in sys.argv or "--help" in sys.argv:
        print(__doc__)
        return 0 if len(sys.argv) > 1 else 2
    ratios, failed, device = {}, 0, ""
    print("| | m x n x k | plan | Lathe us | TFLOPS | cuBLASLt us | ratio | 95 % |")
    print("|---|---|---|---|---|---|---|---|")
    for kind, shapes in SHAPES.items():
        for shape in shapes:
            answer = bench(sys.argv[1], shape, sys.argv[2:])
            if answer is None:
                failed += 1
                continue
            device = answer["device"]
            ratios[shape] = answer["rows"][0]["ratio"]
            print(row(kind, shape, answer), flush=True)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
        worst = sorted(ratios, key=ratios.get)[:3]
        print(f"\n{device}: {len(ratios)} shapes, geometric mean of the ratios {mean:.3f}; lowest: "
              + ", ".join(f"{'x'.join(map(str, s))} {ratios[s]:.3f}" for s in worst))
    print(f"{len(ratios)} measured, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
