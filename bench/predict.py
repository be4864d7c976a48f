#!/usr/bin/env python3
"""What the model of time says of plans, beside what a GPU has measured.

    predict.py LATHE [measured=FILE] [size=N]     18 plans of N x N x N, f16 (4096 unless it is
                                                  named): times, and ratios to the first
    predict.py LATHE measure [size=N] > FILE      the same plans by `lathe bench` on a GPU: a line of
                                                  JSON for each, some 3 s
    predict.py LATHE shapes                       the shapes of docs/benchmark.md, up to 2^34
                                                  products, beside the times that stand there

The model takes some seconds of one core for each. docs/trace.md tells what it is and leaves out.
"""
import json
import math
import os
import re
import subprocess
import sys

from records import Refused, parse, read_text, run

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "benchmark.md")
# | group | m x n x k | tile, stages, cluster | microseconds | ...
ROW = re.compile(r"^\| [^|]+ \| (\d+)x(\d+)x(\d+) \| (\S+), (\d+) stages, cluster (\S+) \| ([\d.]+) \|",
                 re.MULTILINE)
PRODUCTS_MOST = 2 ** 34

CLUSTERS = ("1x1x1", "2x1x1", "1x2x1")
PLANS = ([("128x256x64", stages, cluster) for cluster in CLUSTERS for stages in (4, 3, 2)] +
         [("128x128x64", stages, cluster) for cluster in CLUSTERS for stages in (6, 4, 2)])


def words(plan, size):
    tile, stages, cluster = plan
    return ["gemm", f"m={size}", f"n={size}", f"k={size}", "type=f16", "arch=sm_90a",
            f"tile={tile}", f"stages={stages}", f"cluster={cluster}", "--json"]


def lathe(command):
    """The answer, or None after saying why not."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
    except OSError as error:
        raise Refused(f"{command[0]}: {error.strerror}") from None
    if done.returncode == 0:
        try:
            return parse(done.stdout)
        except ValueError:
            raise Refused(f"{command[0]}: does not answer as lathe does") from None
    print(f"{' '.join(command)}: {done.stderr.strip()}", file=sys.stderr)
    return None


def measure(program, size):
    for plan in PLANS:
        answer = lathe([program, "bench", *words(plan, size), "pairs=4", "warm_up_ms=200"])
        if answer is None:
            return 1
        print(json.dumps(answer), flush=True)
    return 0


def read(path):
    """Microseconds by plan, of `lathe bench --json` or `lathe run --json`."""
    times = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            answer = parse(line)
            plan = answer["plan"]
            row = answer["rows"][0] if "rows" in answer else answer
            times[plan["tile"], plan["stages"], plan["cluster"]] = float(row["time_us"])
        except (ValueError, KeyError, IndexError, TypeError):
            raise Refused(f"{path}:{number}: no answer of lathe bench or lathe run") from None
    return times


def mean_of(errors):
    """The geometric mean of by how much they are off, either way, in percent."""
    return 100 * (math.exp(sum(abs(math.log(e)) for e in errors) / len(errors)) - 1)


def predict(program, size, measured):
    first, errors = None, []
    print(f"{'tile':12}{'stages':>7}  {'cluster':8}{'cycles':>10}{'us':>9}{'wgmma':>8}"
          f"{'ratio':>8}{'measured us':>13}{'ratio':>8}{'error':>8}")
    for plan in PLANS:
        answer = lathe([program, "trace", *words(plan, size)])
        if answer is None:
            return 1
        first = first or (plan, answer["time_us"])
        ratio = answer["time_us"] / first[1]
        line = (f"{plan[0]:12}{plan[1]:>7}  {plan[2]:8}{answer['cycles']:>10}"
                f"{answer['time_us']:>9.1f}{100 * answer['tensor_share']:>7.1f}%{ratio:>8.3f}")
        if plan in measured and first[0] in measured:
            real = measured[plan] / measured[first[0]]
            errors.append(ratio / real)
            line += f"{measured[plan]:>13.1f}{real:>8.3f}{100 * (ratio / real - 1):>7.1f}%"
        print(line, flush=True)
    if errors:
        print(f"mean error of {len(errors)} ratios: {mean_of(errors):.1f} %")
    return 0


def shapes(program):
    errors = []
    rows = ROW.findall(read_text(DOCS))
    print("| m x n x k | plan | cycles | wgmma | MHz | model us | measured us | error |")
    print("|---|---|---|---|---|---|---|---|")
    for m, n, k, tile, stages, cluster, measured in rows:
        if int(m) * int(n) * int(k) > PRODUCTS_MOST:
            continue
        answer = lathe([program, "trace", "gemm", f"m={m}", f"n={n}", f"k={k}", "type=bf16",
                        "arch=sm_90a", f"tile={tile}", f"stages={stages}", f"cluster={cluster}",
                        "--json"])
        if answer is None:
            return 1
        errors.append(answer["time_us"] / float(measured))
        print(f"| {m}x{n}x{k} | {tile}, {stages} stages, cluster {cluster} | {answer['cycles']} | "
              f"{100 * answer['tensor_share']:.0f} % | {answer['clock_mhz']:.0f} | "
              f"{answer['time_us']:.1f} | {measured} | {round(100 * (errors[-1] - 1))} % |", flush=True)
    print(f"\nmean error of {len(errors)} times: {mean_of(errors):.1f} %")
    return 0


def main():
    given = dict(word.split("=", 1) for word in sys.argv[2:] if "=" in word)
    plain = [word for word in sys.argv[2:] if "=" not in word]
    if (len(sys.argv) < 2 or set(given) - {"measured", "size"} or plain not in ([], ["measure"], ["shapes"]) or
            not given.get("size", "4096").isdigit()):
        print(__doc__)
        return 2
    size = int(given.get("size", "4096"))
    if plain == ["shapes"]:
        return shapes(sys.argv[1])
    if plain:
        return measure(sys.argv[1], size)
    return predict(sys.argv[1], size, read(given["measured"]) if "measured" in given else {})


if __name__ == "__main__":
    sys.exit(run(main))
