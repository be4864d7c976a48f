#!/usr/bin/env python3
"""Makes every system call of a cache write and of a hit fail; the run must succeed all the same.

Usage: cache_errors.py CACHE_STRESS, the program of cache_stress.c. Needs strace, and the right to
trace. Each call on the cache's files fails once with each of a few errors, as a broken disk, a full
one, a process without descriptors or a file system without locks would have it. The process must
get the right kernel and say at most one line; the next one, without failures, must heal what there
is. Speaks TAP.
"""
import os
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

from cache_kill import KERNEL, prepare_damaged, prepare_empty, results, run_once, skip_reason

ERRORS = ("EIO", "ENOSPC", "EMFILE", "ENOLCK", "EACCES")
# What has no error to give, or is no call of the cache's.
NOT_FAILING = {"brk", "mmap", "munmap", "exit_group", "clock_gettime", "getrandom", "mremap"}


def prepare_stored(program, directory):
    run_once(program, directory, KERNEL)


def calls_on_cache(program, prepare):
    """(name, nth) of the calls from the first on the directory to the last before the results."""
    with tempfile.TemporaryDirectory(prefix="lathe-errors-") as scratch:
        directory, trace = os.path.join(scratch, "cache"), os.path.join(scratch, "trace")
        prepare(program, directory)
        run_once(program, directory, KERNEL, "strace", "-o", trace)
        with open(trace, encoding="utf-8", errors="replace") as file:
            lines = [line for line in file if "(" in line and line[0] != "+"]
    names = [line.split("(", 1)[0] for line in lines]
    on_cache = [i for i, line in enumerate(lines) if directory in line and i > 0]
    end = max(i for i, line in enumerate(lines) if line.startswith("write(1,"))
    return [(names[i], names[:i + 1].count(names[i])) for i in range(on_cache[0], end)
            if names[i] not in NOT_FAILING]


def fail_at(program, prepare, name, nth, error):
    """What is wrong, in words, or None."""
    with tempfile.TemporaryDirectory(prefix="lathe-errors-") as scratch:
        directory = os.path.join(scratch, "cache")
        prepare(program, directory)
        done = run_once(program, directory, KERNEL, "strace", "-o", "/dev/null", "-e",
                        f"inject={name}:error={error}:when={nth}")
        if done.returncode != 0 or results(done)["right"] != "1":
            return f"the run failed: {done.stdout}{done.stderr}"
        # One line a cause: damage is one of its own.
        if int(results(done)["lines"]) > (2 if prepare is prepare_damaged else 1):
            return f"too many lines: {done.stdout}"
        healed = [results(run_once(program, directory, KERNEL)) for _ in range(2)]
        if healed[0]["right"] != "1" or healed[1]["results"] != "hit":
            return f"not healed: {healed}"
    return None


def fail_everywhere(program, number, prepare):
    """One test: prints its line, and returns whether it failed."""
    calls = calls_on_cache(program, prepare)
    failures = 0
    for name, nth in calls:
        for error in ERRORS:
            wrong = fail_at(program, prepare, name, nth, error)
            if wrong:
                failures += 1
                print(f"# {error} from {name} number {nth}: {wrong}")
    failed = failures > 0 or not calls
    print(f"{'not ' if failed else ''}ok {number} - {prepare.__name__[8:]}: {len(calls)} system "
          f"calls failed with {len(ERRORS)} errors each, {failures} failures", flush=True)
    return failed


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    reason = skip_reason()
    if reason:
        print(f"1..0 # SKIP {reason}")
        return 0
    prepares = (prepare_empty, prepare_damaged, prepare_stored)
    print(f"1..{len(prepares)}")
    failed = [fail_everywhere(sys.argv[1], number, prepare)
              for number, prepare in enumerate(prepares, 1)]
    return 1 if any(failed) else 0


if __name__ == "__main__":
    sys.exit(main())
