"""The files of `lathe bench -o`, for the scripts beside this one: a record a problem.

Of a problem that was measured in passes (`passes=N`) the record is that of all of them: medians, with
the least and the greatest that their intervals reach, as the command's own table has it. A problem
that a file holds more often counts as it was last.
"""
import json
import statistics

MEDIANS = ("time_us", "tflops", "vs_time_us", "vs_tflops", "ratio")


def _lines(path):
    """The last may have been cut, and is left out then; or it may merely lack its newline."""
    with open(path, encoding="utf-8") as file:
        *lines, last = file.read().split("\n")
    records = [json.loads(line) for line in lines if line.strip()]
    try:
        return records + ([json.loads(last)] if last.strip() else [])
    except ValueError:
        return records


def _merge_rows(rows):
    merged = dict(rows[0])
    for key in MEDIANS:
        values = [row[key] for row in rows if row.get(key) is not None]
        if values:
            merged[key] = statistics.median(values)
    if merged.get("ratio") is not None:
        merged["ratio_low"] = min(row["ratio_low"] for row in rows)
        merged["ratio_high"] = max(row["ratio_high"] for row in rows)
    return merged


def _merge(passes):
    """One that is wrong or refused stands for all."""
    for record in passes:
        if not record.get("verified"):
            return record
    merged = dict(passes[0])
    merged["rows"] = [_merge_rows(rows) for rows in zip(*(record["rows"] for record in passes))]
    return merged


def read(path):
    """The records of suites and of single problems, in the order in which they came; no ladders."""
    problems = {}
    for record in _lines(path):
        if "ladder" not in record:
            problems.setdefault(record["words"], {})[record.get("pass", 0)] = record
    return [_merge(list(passes.values())) for passes in problems.values()]


F16_SUMS = "f16 sums: not like for like"


def has_f16_sums(record):
    """Records that were made before there was a key for it are known by their plan."""
    return record.get("f16_sums", record.get("plan", {}).get("acc") == "f16")


def name(record):
    return f"{record['m']}x{record['n']}x{record['k']}"
