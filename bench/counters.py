#!/usr/bin/env python3
"""What the hardware counters say of every rung of a ladder, as a Markdown table.

Usage: counters.py LATHE [rungs=PREFIX] [WORD...]: each variant whose name begins with PREFIX
(hopper- if none is named) runs once under Nsight Compute (`ncu`, which has to be there) with these
words (m=8192 n=8192 k=8192 if none are given). The clocks are left as they are. One launch of each is
read, with the caches cold; times under a profiler are no benchmark. docs/hopper-ladder.md says what
the rows mean.
"""
import csv
import subprocess
import sys

from records import Refused, parse, run

# Row, metric, by how much to divide, format.
ROWS = [
    ("time, us", "gpu__time_duration.sum", 1e3, "{:.0f}"),
    ("tensor cores busy, %", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 1,
     "{:.1f}"),
    ("registers a thread", "launch__registers_per_thread", 1, "{:.0f}"),
    ("CTAs a multiprocessor, by registers", "launch__occupancy_limit_registers", 1, "{:.0f}"),
    ("CTAs a multiprocessor, by shared memory", "launch__occupancy_limit_shared_mem", 1, "{:.0f}"),
    ("instructions, millions", "smsp__inst_executed.sum", 1e6, "{:.0f}"),
    ("shared memory reads by ldmatrix, million wavefronts",
     "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 1e6, "{:.0f}"),
    ("from L2, GB", "lts__t_sectors_srcunit_tex_op_read.sum", 1e9 / 32, "{:.1f}"),
    ("from memory, GB", "dram__bytes_read.sum", 1e9, "{:.1f}"),
    ("warps that wait at a barrier of the CTA",
     "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 1, "{:.1f}"),
    ("warps that wait for an mbarrier (long scoreboard)",
     "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 1, "{:.1f}"),
    ("warps that wait for wgmma",
     "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio", 1, "{:.1f}"),
]


def variants(lathe, prefix):
    try:
        listed = parse(subprocess.run([lathe, "list", "--json"], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True, check=True).stdout)
        return [variant["name"] for variant in listed["variants"]
                if variant["name"].startswith(prefix) and variant["has_kernel"]]
    except OSError as error:
        raise Refused(f"{lathe}: {error.strerror}") from None
    except (subprocess.SubprocessError, ValueError, KeyError, TypeError):
        raise Refused(f"{lathe}: does not list variants as lathe does") from None


def counters(lathe, variant, words):
    """The value of each metric, in the unit of ROWS' metrics as ncu counts them."""
    done = subprocess.run(
        ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base",
         "--metrics", ",".join(row[1] for row in ROWS), "-k", "regex:lathe_gemm", "-c", "1", lathe,
         "run", "gemm", *words, "variant=" + variant, "repeats=1"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    lines = list(csv.reader(line for line in done.stdout.splitlines() if line.startswith('"')))
    if done.returncode != 0 or len(lines) < 3:
        raise RuntimeError(f"{variant}: ncu says nothing: {(done.stderr or done.stdout).strip()}")
    return dict(zip(lines[0], lines[2]))


def cell(values, row):
    text = values.get(row[1], "").replace(",", "")
    return row[3].format(float(text) / row[2]) if text else "-"


def main(words):
    if not words or "-h" in words or "--help" in words:
        print(__doc__)
        return 0 if words else 2
    prefixes = [word[len("rungs="):] for word in words[1:] if word.startswith("rungs=")]
    named = [word for word in words[1:] if not word.startswith("rungs=")]
    prefix = prefixes[-1] if prefixes else "hopper-"
    names = variants(words[0], prefix)
    if not names:
        raise Refused(f"rungs={prefix}: no variant with a kernel begins so")
    table = {}
    for name in names:
        try:
            table[name] = counters(words[0], name, named or ["m=8192", "n=8192", "k=8192"])
        except (RuntimeError, OSError) as error:
            print(error, file=sys.stderr)
            return 1
    print("| | " + " | ".join(names) + " |")
    print("|---|" + "---|" * len(names))
    for row in ROWS:
        print(f"| {row[0]} | " + " | ".join(cell(table[name], row) for name in names) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(run(lambda: main(sys.argv[1:])))
