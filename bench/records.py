"""The files of `lathe bench -o`, for the scripts beside this one: a record a problem.

Of a problem that was measured in passes (`passes=N`) the record is that of all of them: medians, with
the least and the greatest that their intervals reach, as the command's own table has it. Passes are of
one device, version, protocol and contenders (cli/bench_record.c has the same keys). A problem that a
file holds more often counts as it was last beside the contender that is asked for.
"""
import json
import statistics

SAME = ("class", "words", "vs", "protocol", "device", "device_hash", "lathe", "cublaslt")
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


def _key(record):
    """What was measured in passes is not what was measured alone."""
    return json.dumps([record.get(key) for key in SAME] + ["pass" in record], sort_keys=True)


def read(path):
    """The records of suites and of single problems, in the order in which they came; no ladders."""
    measured = {}
    for record in _lines(path):
        if "ladder" not in record:
            measured.setdefault(_key(record), {})[record.get("pass")] = record
    return [_merge(list(passes.values())) for passes in measured.values()]


def row_beside(record, contender):
    """The row beside the contender, the first word of its name, or None."""
    for row in record.get("rows", []):
        if row["vs"] and row["vs"].split()[0] == contender:
            return row
    return None


def _concerns(record, contender):
    """What was refused has no rows."""
    return (contender in (record.get("vs") or "").split(",") or
            row_beside(record, contender) is not None)


def problem(record):
    return record.get("class"), record["words"]


def latest(records, contender):
    """Each problem as it was last beside the contender, where it was first."""
    found = {}
    for record in records:
        older = found.get(problem(record))
        if older is None or _concerns(record, contender) or not _concerns(older, contender):
            found[problem(record)] = record
    return list(found.values())


F16_SUMS = "f16 sums: not like for like"


def has_f16_sums(record):
    """Records that were made before there was a key for it are known by their plan."""
    return record.get("f16_sums", record.get("plan", {}).get("acc") == "f16")


def name(record):
    return f"{record['m']}x{record['n']}x{record['k']}"
