#!/usr/bin/env python3
"""Adds up single tests from the logs of `meson test` and ends with one plain line:

    412 passed, 0 failed, 9 skipped

Usage: count_tap.py BUILD/meson-logs/testlog.json...

Before that line it shows the output of what failed and the reason of every skip. An executable
that crashed, ran out of time, or stopped before its plan was done counts as a failure of its own.
Exits 1 if anything failed, or if nothing ran.
"""
import json
import os
import re
import sys

LINES_SHOWN = 200
RESULT = re.compile(r"(not )?ok(?=\s|$)\s*\d*\s*(?:- )?(.*)")
DIRECTIVE = re.compile(r"#\s*(skip|todo)\S*\s*(.*)", re.IGNORECASE)
PLAN = re.compile(r"1\.\.(\d+)\s*(?:#\s*skip\S*\s*(.*))?$", re.IGNORECASE)


class Count:
    """What one executable reported, then what all did."""

    def __init__(self):
        self.passed = 0
        self.failures = []  # one line each
        self.skips = []     # (name, reason)

    def add(self, other, prefix):
        self.passed += other.passed
        self.failures += [f"{prefix}: {what}" for what in other.failures]
        self.skips += [(f"{prefix}: {name}" if name else prefix, reason)
                       for name, reason in other.skips]


def read_result(count, failed, text, comment):
    """One line "ok" or "not ok". cmocka 1.1.5 writes "not ok 3 # SKIP name" for a skipped test, with
    the reason, if the test printed one, as a comment before it."""
    directive = DIRECTIVE.search(text)
    if not directive:
        if failed:
            count.failures.append(text.strip() or "a test without a name")
        else:
            count.passed += 1
        return
    word, reason = directive.group(1).lower(), directive.group(2).strip()
    name = text[:directive.start()].strip()
    if word == "todo" and not failed:
        count.passed += 1
        return
    if not name and comment:
        name, reason = reason, comment
    count.skips.append((name, reason or comment or "no reason given"))


def read_tap(output):
    """Counts the lines of TAP, and says how many there were and should have been."""
    count = Count()
    planned = results = 0
    comment = ""
    for line in output.splitlines():
        plan, result = PLAN.match(line), RESULT.match(line)
        if plan:
            planned += int(plan.group(1))
            if plan.group(1) == "0":
                count.skips.append(("", (plan.group(2) or comment or "no reason given").strip()))
        elif result:
            results += 1
            read_result(count, bool(result.group(1)), result.group(2), comment)
        elif line.startswith("Bail out!"):
            count.failures.append(line)
        comment = line[1:].strip() if line.startswith("#") else ""
    return count, planned, results


def is_tap(output):
    return any(PLAN.match(line) or RESULT.match(line) for line in output.splitlines())


def read_plain(entry):
    """A test that speaks through its exit status alone; 77 is a skip, its last line the reason."""
    count = Count()
    lines = (entry.get("stdout", "") + entry.get("stderr", "")).strip().splitlines()
    if entry["result"] in ("OK", "EXPECTEDFAIL"):
        count.passed = 1
    elif entry["result"] == "SKIP" and entry.get("returncode") == 77:
        count.skips.append(("", lines[-1] if lines else "no reason given"))
    elif entry["result"] == "SKIP":
        count.failures.append("printed no TAP")
    else:
        count.failures.append(how_it_ended(entry))
    return count


def how_it_ended(entry):
    code = entry.get("returncode", 0)
    if entry["result"] == "TIMEOUT":
        return "ran out of time"
    return f"killed by signal {-code}" if code < 0 else f"exit status {code}"


def read_entry(entry):
    """What one executable counts for. Its own lines are believed before meson's verdict, which
    takes cmocka's way of skipping for a failure; but trouble that no line tells of counts too."""
    output = entry.get("stdout", "")
    if not is_tap(output):
        return read_plain(entry)
    count, planned, results = read_tap(output)
    code = entry.get("returncode", 0)
    skips_alone = "\nnot ok" in "\n" + output and not count.failures
    if entry["result"] == "TIMEOUT" or code < 0:
        count.failures.append(f"{how_it_ended(entry)} after {results} of {planned} tests")
    elif results < planned:
        count.failures.append(f"stopped after {results} of {planned} tests")
    elif not count.failures and code != 0:
        count.failures.append(how_it_ended(entry))
    elif not count.failures and entry["result"] in ("FAIL", "ERROR") and not skips_alone:
        count.failures.append("its TAP is broken")
    return count


def show_output(title, entry, log):
    lines = [line for line in entry.get("stdout", "").splitlines()
             if not line.startswith("ok ") and not PLAN.match(line)]
    lines += entry.get("stderr", "").splitlines()
    print(f"---- {title}")
    for line in lines[:LINES_SHOWN]:
        print(f"  {line}")
    if len(lines) > LINES_SHOWN:
        print(f"  ... {len(lines) - LINES_SHOWN} more lines in {log}")


def read_log(path, prefix, total):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = [line for line in file if line.strip()]
    except OSError as error:
        total.failures.append(f"no log of the tests: {error}")
        return
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            title = prefix + re.sub(r"^[^:/]*:", "", entry["name"]).replace(" / ", "/")
            count = read_entry(entry)
        except (ValueError, KeyError, TypeError) as error:
            total.failures.append(f"{path}:{number}: not an entry of a log: {error}")
            continue
        if count.failures:
            show_output(title, entry, path)
        total.add(count, title)


def printable(text):
    return text.encode("ascii", "backslashreplace").decode("ascii")


def main(paths):
    sys.stdout.reconfigure(errors="backslashreplace")
    total = Count()
    for path in paths:
        build = os.path.basename(os.path.dirname(os.path.dirname(os.path.abspath(path))))
        read_log(path, f"{build}: " if len(paths) > 1 else "", total)
    for name, reason in total.skips:
        print(printable(f"SKIP {name}: {reason}"))
    for what in total.failures:
        print(printable(f"FAIL {what}"))
    if total.passed + len(total.failures) == 0:
        print("nothing ran")
    print(f"{total.passed} passed, {len(total.failures)} failed, {len(total.skips)} skipped")
    return 1 if total.failures or total.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
