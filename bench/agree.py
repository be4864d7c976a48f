#!/usr/bin/env python3
"""Whether two runs of one suite agree within their own confidence intervals.

Usage: agree.py A.jsonl B.jsonl: files of `lathe bench suite=... -o`. A shape agrees when the
median ratio of one run lies within the 95 % interval of the other, either way round; how many
intervals overlap at all is said beside, and how far ratios moved. Exits 1 when fewer than 90 %
agree, or nothing is in both, and 2 where a file cannot be used.
"""
import sys

from records import latest, name, problem, read, row_beside, run

ENOUGH = 0.9


def ratios_of(path):
    """{(contender, problem): (ratio, low, high)} and the name of each shape; what was refused or wrong
    is left out."""
    ratios, names = {}, {}
    records = read(path)
    contenders = {word for record in records for row in record.get("rows", [])
                  for word in (row.get("vs") or "").split()[:1]}
    for contender in sorted(contenders):
        for record in latest(records, contender):
            row = row_beside(record, contender)
            if row and record.get("verified"):
                key = contender, problem(record)
                ratios[key] = tuple(row.get(number) or 0
                                    for number in ("ratio", "ratio_low", "ratio_high"))
                names[key] = name(record)
    return ratios, names


def agree(a, b):
    return b[1] <= a[0] <= b[2] or a[1] <= b[0] <= a[2]


def overlap(a, b):
    return a[1] <= b[2] and b[1] <= a[2]


def shown(ratio):
    return "{:.3f} ({:.3f} to {:.3f})".format(*ratio)


def compare(contender, first, second, names):
    """Says how far the two agree beside one contender; whether they do."""
    both = [key for key in first if key in second and key[0] == contender]
    apart = [key for key in both if not agree(first[key], second[key])]
    agreed, touching = len(both) - len(apart), sum(overlap(first[k], second[k]) for k in both)
    moved = sorted(abs(second[key][0] / first[key][0] - 1) for key in both)
    print(f"{contender}: {agreed} of {len(both)} shapes agree ({100 * agreed / len(both):.1f} %); "
          f"intervals of {touching} overlap; half of the ratios moved by at most "
          f"{100 * moved[(len(moved) - 1) // 2]:.2f} %, nine of ten by "
          f"{100 * moved[(9 * len(moved) - 1) // 10]:.2f} %")
    for key in apart:
        print(f"  {names[key]}: {shown(first[key])}, then {shown(second[key])}")
    return agreed >= ENOUGH * len(both)


def main():
    if len(sys.argv) != 3 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if len(sys.argv) == 2 else 2
    (first, names), (second, _) = ratios_of(sys.argv[1]), ratios_of(sys.argv[2])
    contenders = sorted({key[0] for key in first if key in second})
    if not contenders:
        print("agree.py: no shape has a ratio in both files", file=sys.stderr)
        return 1
    # Beside all contenders, whether or not one has failed.
    results = [compare(contender, first, second, names) for contender in contenders]
    alone = {key[1] for key in first.keys() ^ second.keys()}
    if alone:
        print(f"{len(alone)} shapes are in one of the files alone")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(run(main))
