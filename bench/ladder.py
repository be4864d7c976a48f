#!/usr/bin/env python3
"""The Blackwell ladder in the model of time: no such GPU is needed, and none was there.

    ladder.py LATHE [size=N]       each rung at N x N x N, f16 (4096 unless it is named), and at a quarter
                                   of that where threads copy, which takes the emulator long: the
                                   table of docs/blackwell-ladder.md
    ladder.py LATHE published      rungs whose times on a B200 are public, beside these times, at
                                   4096 x 4096 x 4096: the table of docs/trace.md
    ladder.py LATHE tiles          what the planner chooses for some shapes, beside other tiles: the
                                   table of docs/planning.md

docs/trace.md tells what the model is and leaves out, and what was fitted to what.
"""
import math
import sys

from predict import lathe, mean_of
from records import Refused, run

# Shapes of docs/benchmark.md, and what else the planner could have chosen for them.
SHAPES = [(512, 512, 512), (1024, 1024, 1024), (1536, 1536, 1536), (2048, 2048, 2048),
          (4096, 4096, 4096), (16, 28672, 4096), (64, 4096, 14336), (128, 28672, 4096),
          (256, 4096, 4096), (512, 6144, 4096), (512, 1280, 8192), (64, 2112, 7168),
          (128, 24576, 1536), (65536, 256, 256), (32768, 512, 512), (8192, 1024, 8192)]
TILES = ["256x256x64 cta_group=2", "256x128x64 cta_group=2", "256x64x64 cta_group=2",
         "128x256x64 cta_group=1", "128x128x64 cta_group=1", "128x64x64 cta_group=1",
         "128x32x64 cta_group=1"]
LOST = 1.1

# What the table calls it, and its words. Rungs 4 and 5 have more CTAs than one on a multiprocessor
# at a time; as persistent ones they have not.
RUNGS = ([(str(i), f"variant=blackwell-{i}") for i in range(1, 10)] +
         [("best", "variant=blackwell-best"),
          ("4, alone", "variant=blackwell-4 schedule=persistent"),
          ("5, alone", "variant=blackwell-5 schedule=persistent")])
COPIED_BY_THREADS = ("1", "2", "3")

# "Modern GPU Programming for MLSys", chapters GEMM basics, async and advanced, f16; and "tcgen05
# for dummies" (gau-nernst.github.io) with the two tables of its repository's README, bf16: of two
# days, which are 3 to 16 % apart, as TFLOPS. Both of a B200.
BOOK, POST = "book", "post"
PUBLISHED = [
    (BOOK, "4: TMA", "variant=blackwell-4 schedule=persistent", (494.0,)),
    (BOOK, "7: roles", "variant=blackwell-7", (227.0,)),
    (BOOK, "8: pairs", "variant=blackwell-8", (104.0,)),
    (BOOK, "9: two accumulators", "variant=blackwell-9", (94.0,)),
    (POST, "v2: one stage", "variant=blackwell-4 tile=128x256x256", (695.0, 721.0)),
    (POST, "v3: two stages", "variant=blackwell-5 tile=128x256x128 schedule=grid", (940.0, 914.0)),
    (POST, "v4: roles", "variant=blackwell-7 tile=128x128x64 stages=6 schedule=grid",
     (1209.0, 1054.0)),
    (POST, "v5: pairs", "variant=blackwell-8 stages=6 schedule=grid", (1302.0, 1170.0)),
    (POST, "v6: persistent", "variant=blackwell-best tile=256x256x64 stages=6", (1476.0, 1273.0)),
]


def trace(program, m, n, k, words):
    """The answer of lathe trace, or nothing after it has said why not."""
    answer = lathe([program, "trace", "gemm", f"m={m}", f"n={n}", f"k={k}", "arch=sm_100a",
                    *words.split(), "--json"])
    if answer is None:
        raise Refused(f"{words}: not traced")
    return answer


def tflops(m, n, k, microseconds):
    return 2 * m * n * k / microseconds / 1e6


def rungs(program, size):
    print("| | m = n = k | cycles | us | TFLOPS | tensor cores busy, of the multiprocessors in use "
          "| which are | L2, bytes a cycle |")
    print("|---|---|---|---|---|---|---|---|")
    for name, words in RUNGS:
        n = size // 4 if name in COPIED_BY_THREADS else size
        answer = trace(program, n, n, n, words)
        print(f"| {name} | {n} | {answer['cycles']:,} | {answer['time_us']:,.1f} "
              f"| {tflops(n, n, n, answer['time_us']):,.1f} | {100 * answer['tensor_share']:.1f} % "
              f"| {answer['multiprocessors']} | {answer['l2_bytes_cycle']:,.0f} |", flush=True)
    return 0


def published(program):
    size, errors = 4096, []
    print("| source | rung | here | cycles | tensor cores | MHz | model us | published us | error |")
    print("|---|---|---|---|---|---|---|---|---|")
    for source, name, words, given in PUBLISHED:
        times = given if source == BOOK else [2 * size ** 3 / t / 1e6 for t in given]
        kind = "f16" if source == BOOK else "bf16"
        answer = trace(program, size, size, size, f"type={kind} {words}")
        mean = math.sqrt(times[0] * times[-1])
        errors.append(answer["time_us"] / mean)
        told = " and ".join(f"{t:.1f}" for t in times)
        print(f"| {source} | {name} | `{words}` | {answer['cycles']} "
              f"| {100 * answer['tensor_share']:.0f} % | {answer['clock_mhz']:.0f} "
              f"| {answer['time_us']:.1f} | {told} | {round(100 * (errors[-1] - 1))} % |", flush=True)
    print(f"\nMean error of {len(errors)} times: {mean_of(errors):.1f} %.")
    return 0


def tiles(program):
    print("| m x n x k | the planner's tile | us | tensor cores | best of the others | us | lost |")
    print("|---|---|---|---|---|---|---|")
    lost = []
    for m, n, k in SHAPES:
        own = trace(program, m, n, k, "")
        others = [(trace(program, m, n, k, f"tile={tile}")["time_us"], tile) for tile in TILES]
        time, tile = min(others)
        ratio = own["time_us"] / time
        lost += [ratio] if ratio > LOST else []
        plan = own["plan"]
        print(f"| {m}x{n}x{k} | {plan['tile']} cta_group={plan['cta_group']} "
              f"| {own['time_us']:.1f} | {100 * own['tensor_share']:.0f} % | {tile} | {time:.1f} "
              f"| {round(100 * (ratio - 1))} % |", flush=True)
    print(f"\nMore than {100 * (LOST - 1):.0f} % are lost in {len(lost)} of {len(SHAPES)}.")
    return 0


def main():
    given = dict(word.split("=", 1) for word in sys.argv[2:] if "=" in word)
    plain = [word for word in sys.argv[2:] if "=" not in word]
    size = given.get("size", "4096")
    if (len(sys.argv) < 2 or set(given) - {"size"} or not size.isdigit() or
            plain not in ([], ["published"], ["tiles"])):
        print(__doc__)
        return 2
    if plain:
        return published(sys.argv[1]) if plain == ["published"] else tiles(sys.argv[1])
    return rungs(sys.argv[1], int(size))


if __name__ == "__main__":
    sys.exit(run(main))
