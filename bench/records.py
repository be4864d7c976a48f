"""The files of `lathe bench -o`, for the scripts beside this one: a record a problem.

Of a problem that was measured in passes (`passes=N`) the record is that of all of them: medians, with
the least and the greatest that their intervals reach, as the command's own table has it. Passes are of
one device, version, protocol and contenders (cli/bench_record.c has the same keys). A problem that a
file holds more often counts as it was last beside the contender that is asked for.
"""
import json
import os
import statistics
import sys

SAME = ("class", "words", "vs", "protocol", "device", "device_hash", "lathe", "cublaslt")
MEDIANS = ("time_us", "tflops", "vs_time_us", "vs_tflops", "ratio")
INTERVAL = ("ratio_low", "ratio_high")
RATIO_MOST = 1e4  # as in cli/bench_record.c: more is no measurement


class Refused(Exception):
    """What was given cannot be used: a line for who gave it."""


def run(main):
    """What `main` returns, or 2 after saying why what was given cannot be used."""
    try:
        return main()
    except Refused as why:
        print(f"{os.path.basename(sys.argv[0])}: {why}", file=sys.stderr)
        return 2


def read_text(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise Refused(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def parse(text):
    """JSON as the command reads it: no NaN; ValueError where it is none."""
    def no_number(word):
        raise ValueError(word)
    try:
        return json.loads(text, parse_constant=no_number)
    except RecursionError:
        raise ValueError("too deep") from None


def _is(value, kind):
    return value is None or isinstance(value, kind) and not isinstance(value, bool)


def _is_row(row):
    return (isinstance(row, dict) and _is(row.get("vs"), str) and
            all(_is(row.get(key), (int, float)) and abs(row.get(key) or 0) < 1e300
                for key in MEDIANS + INTERVAL))


def _is_record(record):
    """As far as anything here or in the scripts depends on it."""
    if not isinstance(record, dict) or not isinstance(record.get("words"), str):
        return False
    if "ladder" in record:
        return True
    return (all(isinstance(record.get(key), int) for key in ("m", "n", "k")) and
            all(_is(record.get(key), str) for key in ("class", "model", "vs", "device")) and
            all(_is(record.get(key), dict) for key in ("plan", "refused")) and
            _is(record.get("pass"), int) and isinstance(record.get("rows", []), list) and
            all(_is_row(row) for row in record.get("rows", [])))


def _lines(path):
    """The last may have been cut, and is left out then; or it may merely lack its newline."""
    records = []
    *lines, last = read_text(path).split("\n")
    for number, line in enumerate(lines + [last], 1):
        if not line.strip():
            continue
        try:
            record = parse(line)
        except ValueError:
            if number > len(lines) and line.startswith("{"):
                break
            record = None
        if not _is_record(record):
            raise Refused(f"{path}:{number}: no record of lathe bench; files of results hold one a "
                          "line")
        records.append(record)
    return records


def _merge_rows(rows):
    merged = dict(rows[0])
    for key in MEDIANS:
        values = [row[key] for row in rows if row.get(key) is not None]
        if values:
            merged[key] = statistics.median(values)
    for key, most in zip(INTERVAL, (min, max)):
        values = [row[key] for row in rows if row.get(key) is not None]
        if values:
            merged[key] = most(values)
    return merged


def _merge(passes):
    """One that is wrong or refused stands for all."""
    for record in passes:
        if not record.get("verified"):
            return record
    merged = dict(passes[0])
    merged["rows"] = [_merge_rows(rows) for rows in zip(*(record.get("rows", []) for record in passes))]
    return merged


def _key(record):
    """What was measured in passes is not what was measured alone."""
    return json.dumps([record.get(key) for key in SAME] + ["pass" in record], sort_keys=True)


def read(path):
    """The records of suites and of single problems, in the order in which they came; no ladders."""
    return [record for record in _lines(path) if "ladder" not in record]


def _find_row(record, contender):
    for row in record.get("rows", []):
        if (row.get("vs") or "").split()[:1] == [contender]:
            return row
    return None


def row_beside(record, contender):
    """The row beside the contender, the first word of its name, whose ratio is one; or None."""
    row = _find_row(record, contender) or {}
    measured = [row.get(key) or 0 for key in ("ratio",) + INTERVAL]
    return row if measured[0] > 0 and all(0 <= value < RATIO_MOST for value in measured) else None


def _concerns(record, contender):
    """What was refused has no rows."""
    return (contender in (record.get("vs") or "").split(",") or
            _find_row(record, contender) is not None)


def problem(record):
    return record.get("class"), record["words"]


def latest(records, contender):
    """Each problem as it was last beside the contender, where it was first; passes are one."""
    found, passes = {}, {}
    for record in records:
        older = found.get(problem(record))
        if older is None or _concerns(record, contender) or not _concerns(older, contender):
            found[problem(record)] = record
        passes.setdefault(_key(record), {})[record.get("pass")] = record
    return [_merge(list(passes[_key(record)].values())) for record in found.values()]


F16_SUMS = "f16 sums: not like for like"


def has_f16_sums(record):
    """Records that were made before there was a key for it are known by their plan."""
    return record.get("f16_sums", (record.get("plan") or {}).get("acc") == "f16")


def name(record):
    return f"{record['m']}x{record['n']}x{record['k']}"


def printable(text):
    """Words of a file, which may hold anything, for a terminal."""
    return "".join(c if c.isprintable() else "?" for c in str(text))
