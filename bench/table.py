#!/usr/bin/env python3
"""A suite that was measured, as the Markdown table of docs/benchmark.md.

Usage: table.py FILE.jsonl [CONTENDER]: a file of `lathe bench suite=... vs=cublaslt -o`, beside
cublaslt unless another contender is named.
What was refused, wrong or summed in f16 is named below. Exits 1 where there is nothing to show.
"""
import math
import sys

from records import F16_SUMS, has_f16_sums, latest, name, read, row_beside


def row_of(record, contender):
    if not record.get("verified") or has_f16_sums(record):
        return None
    return row_beside(record, contender)


def line(record, row):
    plan = record["plan"]
    kind = " ".join(filter(None, (record.get("class"), record.get("model"))))
    return (f"| {kind} | {name(record)} | {plan['tile']}, {plan['stages']} "
            f"stages, cluster {plan['cluster']} | {row['time_us']:.1f} | "
            f"{row['tflops']:.0f} | {row['vs_time_us']:.1f} | {row['ratio']:.3f} | "
            f"{row['ratio_low']:.3f} to {row['ratio_high']:.3f} |")


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if len(sys.argv) == 2 else 2
    contender = sys.argv[2] if len(sys.argv) == 3 else "cublaslt"
    records = latest(read(sys.argv[1]), contender)
    rows = [(record, row) for record in records if (row := row_of(record, contender))]
    if not rows:
        print(f"table.py: no ratio to {contender} in {sys.argv[1]}", file=sys.stderr)
        return 1
    print(f"| | m x n x k | plan | Lathe us | TFLOPS | {contender} us | ratio | 95 % |")
    print("|---|---|---|---|---|---|---|---|")
    for record, row in rows:
        print(line(record, row))
    mean = math.exp(sum(math.log(row["ratio"]) for _, row in rows) / len(rows))
    worst = sorted(rows, key=lambda both: both[1]["ratio"])[:3]
    print(f"\n{rows[0][0]['device']}: {len(rows)} shapes, geometric mean of the ratios {mean:.3f}; "
          "lowest: " + ", ".join(f"{name(record)} {row['ratio']:.3f}" for record, row in worst))
    for record in records:
        if "refused" in record:
            print(f"{name(record)}: refused: {record['refused']['message']}")
        elif not record["verified"]:
            print(f"{name(record)}: WRONG")
        elif has_f16_sums(record):
            print(f"{name(record)}: {F16_SUMS}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
