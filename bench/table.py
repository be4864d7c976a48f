#!/usr/bin/env python3
"""A suite that was measured, as the Markdown table of docs/benchmark.md.

Usage: table.py FILE.jsonl [CONTENDER]: a file of `lathe bench suite=... vs=cublaslt -o`, beside
cublaslt unless another contender is named.
What was refused, wrong or summed in f16 is named below. Exits 1 where there is nothing to show, and 2
where a file cannot be used.
"""
import math
import sys

from records import (F16_SUMS, INTERVAL, MEDIANS, Refused, has_f16_sums, latest, name, printable, read,
                     row_beside, run)


def row_of(record, contender):
    if not record.get("verified") or has_f16_sums(record):
        return None
    return row_beside(record, contender)


def line(record, row):
    plan = record.get("plan") or {}
    kind = printable(" ".join(filter(None, (record.get("class"), record.get("model")))))
    missing = ([key for key in ("tile", "stages", "cluster") if key not in plan] +
               [key for key in MEDIANS + INTERVAL if row.get(key) is None])
    if missing:
        raise Refused(f"{name(record)}: its record has no {' '.join(missing)}")
    return (f"| {kind} | {name(record)} | {printable(plan['tile'])}, "
            f"{printable(plan['stages'])} stages, cluster {printable(plan['cluster'])} | "
            f"{row['time_us']:.1f} | {row['tflops']:.0f} | {row['vs_time_us']:.1f} | {row['ratio']:.3f} | "
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
    lines = [line(record, row) for record, row in rows]
    print(f"| | m x n x k | plan | Lathe us | TFLOPS | {contender} us | ratio | 95 % |")
    print("|---|---|---|---|---|---|---|---|")
    print("\n".join(lines))
    mean = math.exp(sum(math.log(row["ratio"]) for _, row in rows) / len(rows))
    worst = sorted(rows, key=lambda both: both[1]["ratio"])[:3]
    device = printable(rows[0][0].get("device"))
    print(f"\n{device}: {len(rows)} shapes, geometric mean of the ratios {mean:.3f}; "
          "lowest: " + ", ".join(f"{name(record)} {row['ratio']:.3f}" for record, row in worst))
    for record in records:
        if "refused" in record:
            message = (record["refused"] or {}).get("message")
            print(f"{name(record)}: refused: {printable(message)}")
        elif not record.get("verified"):
            print(f"{name(record)}: WRONG")
        elif has_f16_sums(record):
            print(f"{name(record)}: {F16_SUMS}")
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
