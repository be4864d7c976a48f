#!/usr/bin/env python3
"""Tests of count_tap.py: made-up logs in, the last line and the exit status out. Speaks TAP."""
import json
import os
import subprocess
import sys
import tempfile

COUNT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "count_tap.py")


def entry(result, stdout="", code=0, stderr=""):
    return json.dumps({"name": "lathe:codegen / ring", "result": result, "stdout": stdout,
                       "stderr": stderr, "returncode": code})


def run(*logs):
    """Writes one log a list of lines; returns the exit status and the lines of the output."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, lines in enumerate(logs):
            place = os.path.join(folder, f"build{number}", "meson-logs")
            os.makedirs(place)
            paths.append(os.path.join(place, "testlog.json"))
            if lines is not None:
                with open(paths[-1], "w", encoding="utf-8") as file:
                    file.write("\n".join(lines) + "\n")
        done = subprocess.run([sys.executable, COUNT, *paths], stdout=subprocess.PIPE, text=True,
                              check=False)
        return done.returncode, done.stdout.splitlines()


GOOD = entry("OK", "1..2\nok 1 - a\nok 2 - b\n")

# name, log, exit status, last line, a line that must be there
CASES = [
    ("counts single tests", [GOOD, entry("OK", "ok 1\nok 2 - b\n1..2\n")], 0,
     "4 passed, 0 failed, 0 skipped", None),
    ("counts a test that speaks no TAP as one", [entry("OK"), entry("FAIL", "", 1)], 1,
     "1 passed, 1 failed, 0 skipped", "FAIL codegen/ring: exit status 1"),
    ("names what failed", [entry("FAIL", "1..2\nok 1 - a\nnot ok 2 - b\n# 1 != 2\n", 1)], 1,
     "1 passed, 1 failed, 0 skipped", "  # 1 != 2"),
    ("counts a crash beside what was counted before it",
     [entry("ERROR", "1..3\nok 1 - a\nok 2 - b\n", -11)], 1, "2 passed, 1 failed, 0 skipped",
     "FAIL codegen/ring: killed by signal 11 after 2 of 3 tests"),
    ("counts a crash after the last test", [entry("ERROR", "1..1\nok 1 - a\n", -6)], 1,
     "1 passed, 1 failed, 0 skipped", None),
    ("counts a time-out", [entry("TIMEOUT", "1..2\nok 1 - a\n", -15)], 1,
     "1 passed, 1 failed, 0 skipped", "FAIL codegen/ring: ran out of time after 1 of 2 tests"),
    ("counts an early end", [entry("ERROR", "1..3\nok 1 - a\n", 0)], 1,
     "1 passed, 1 failed, 0 skipped", "FAIL codegen/ring: stopped after 1 of 3 tests"),
    ("counts an exit status that no test explains", [entry("ERROR", "1..1\nok 1 - a\n", 3)], 1,
     "1 passed, 1 failed, 0 skipped", "FAIL codegen/ring: exit status 3"),
    ("counts a test that bails out", [entry("ERROR", "1..1\nok 1 - a\nBail out! no disk\n")], 1,
     "1 passed, 1 failed, 0 skipped", "FAIL codegen/ring: Bail out! no disk"),
    ("counts broken TAP", [entry("ERROR", "1..1\nok 1 - a\nok 2 - b\n")], 1,
     "2 passed, 1 failed, 0 skipped", "FAIL codegen/ring: its TAP is broken"),
    ("counts silence where TAP was due", [GOOD, entry("SKIP")], 1,
     "2 passed, 1 failed, 0 skipped", "FAIL codegen/ring: printed no TAP"),
    ("gives a skip's reason", [GOOD, entry("OK", "1..1\nok 1 - a # SKIP no GPU\n")], 0,
     "2 passed, 0 failed, 1 skipped", "SKIP codegen/ring: a: no GPU"),
    ("takes cmocka's skip for one, with the comment before it",
     [GOOD, entry("FAIL", "1..1\n# no GPU\nnot ok 1 # SKIP a\n")], 0,
     "2 passed, 0 failed, 1 skipped", "SKIP codegen/ring: a: no GPU"),
    ("takes an empty plan for a skip", [GOOD, entry("SKIP", "1..0 # SKIP no cmocka\n")], 0,
     "2 passed, 0 failed, 1 skipped", "SKIP codegen/ring: no cmocka"),
    ("takes exit status 77 for a skip", [GOOD, entry("SKIP", "no GPU\n", 77)], 0,
     "2 passed, 0 failed, 1 skipped", "SKIP codegen/ring: no GPU"),
    ("fails when nothing ran", [entry("SKIP", "no GPU\n", 77)], 1, "0 passed, 0 failed, 1 skipped",
     "nothing ran"),
    ("fails on a log cut short", [GOOD, GOOD[:20]], 1, "2 passed, 1 failed, 0 skipped", None),
    ("fails without a log", None, 1, "0 passed, 1 failed, 0 skipped", None),
]


def several_logs():
    status, lines = run([GOOD], [entry("FAIL", "1..1\nnot ok 1 - a\n", 1)])
    return (status == 1 and lines[-1] == "2 passed, 1 failed, 0 skipped"
            and "FAIL build1: codegen/ring: a" in lines)


def main():
    print(f"1..{len(CASES) + 1}")
    failed = 0
    for number, (name, log, status, last, line) in enumerate(CASES, 1):
        got_status, lines = run(log)
        good = got_status == status and lines[-1] == last and (line is None or line in lines)
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
        if not good:
            failed += 1
            print("\n".join(f"# {got_status}: {text}" for text in lines))
    good = several_logs()
    failed += not good
    print(f"{'ok' if good else 'not ok'} {len(CASES) + 1} - adds up several logs")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
