#!/usr/bin/env python3
"""Kills a writer of the cache at every system call it makes; nothing half-written may be loaded.

Usage: cache_kill.py CACHE_STRESS, the program of cache_stress.c. Needs strace, and the right to
trace. Three times: into no directory yet, over a damaged entry, and beside what another writer left
behind long ago. After each kill a second process must get the right kernel without delay, from the
directory as it was left, and with nothing in its log; only a directory that holds a whole entry may
give a hit. Speaks TAP.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

KERNEL, OTHER = "7", "8"
STALE = ".1-1.tmp"
FAST_SECONDS = 10  # far below the 30 s for which a held lock would be waited for


def run_once(program, directory, kernel, *before):
    command = [*before, program, "once", directory, kernel, "1"]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)


def results(done):
    """The words of the first line, such as {"results": "miss", "builds": "1", ...}."""
    return dict(word.split("=") for word in done.stdout.split("\n", 1)[0].split())


def entries(directory):
    return [name for name in os.listdir(directory) if name.endswith(".cubin")]


def temporaries(directory):
    return [name for name in os.listdir(directory) if name.endswith(".tmp")]


def of_this_writer(names):
    return [name for name in names if not name.endswith(STALE)]


def prepare_empty(program, directory):
    del program, directory


def prepare_damaged(program, directory):
    run_once(program, directory, KERNEL)
    (name,) = entries(directory)
    with open(os.path.join(directory, name), "r+b") as file:
        file.seek(1000)
        file.write(b"damage")


def prepare_stale(program, directory):
    """What a writer that was killed long ago left: the next store removes it."""
    run_once(program, directory, OTHER)
    (name,) = entries(directory)
    stale = os.path.join(directory, name + STALE)
    with open(stale, "wb") as file:
        file.write(b"half an entry")
    os.utime(stale, (time.time() - 7200,) * 2)


def check_after(program, directory, left, damaged):
    """What is wrong after a kill, in words, or None."""
    start = time.monotonic()
    done = run_once(program, directory, KERNEL)
    seconds = time.monotonic() - start
    words = results(done) if done.returncode == 0 else {}
    if words.get("right") != "1":
        return f"wrong kernel: {done.stdout}{done.stderr}"
    if words["lines"] != "0" and not (damaged and "checksum" in done.stdout):
        return f"a message: {done.stdout}"
    if seconds > FAST_SECONDS:
        return f"it took {seconds:.1f} s"
    if words["results"] == "hit" and not left:
        return "a hit although there was no entry"
    again = results(run_once(program, directory, KERNEL))
    if again["results"] != "hit":
        return f"not healed: {again}"
    return None


def clean_up(program, directory):
    """Ages what killed writers left; a store must remove it. Returns what is wrong, or None."""
    for name in temporaries(directory):
        os.utime(os.path.join(directory, name), (time.time() - 7200,) * 2)
    run_once(program, directory, "99")
    return f"not cleaned up: {temporaries(directory)}" if temporaries(directory) else None


def calls_of_writer(program, prepare):
    """Every system call that a writer makes, as (name, how many of that name): from a trace."""
    with tempfile.TemporaryDirectory(prefix="lathe-kill-") as scratch:
        directory, trace = os.path.join(scratch, "cache"), os.path.join(scratch, "trace")
        prepare(program, directory)
        run_once(program, directory, KERNEL, "strace", "-o", trace)
        with open(trace, encoding="utf-8", errors="replace") as file:
            names = [line.split("(", 1)[0] for line in file if "(" in line and line[0] != "+"]
    return [(name, names[:i + 1].count(name)) for i, name in enumerate(names)]


def kill_at(program, prepare, name, nth):
    """Kills a writer at one call. Returns (killed, temporary files left, what is wrong or None)."""
    with tempfile.TemporaryDirectory(prefix="lathe-kill-") as scratch:
        directory = os.path.join(scratch, "cache")
        prepare(program, directory)
        writer = run_once(program, directory, KERNEL, "strace", "-o", "/dev/null", "-e",
                          f"inject={name}:signal=SIGKILL:when={nth}")
        there = os.path.isdir(directory)
        leftovers = len(of_this_writer(temporaries(directory))) if there else 0
        wrong = check_after(program, directory, there and entries(directory),
                            prepare is prepare_damaged)
        return writer.returncode != 0, leftovers, wrong or clean_up(program, directory)


def kill_everywhere(program, number, prepare):
    """One test: prints its line, and returns whether it failed."""
    kills = left = failures = 0
    for name, nth in calls_of_writer(program, prepare):
        killed, leftovers, wrong = kill_at(program, prepare, name, nth)
        kills += killed
        left += leftovers
        if wrong:
            failures += 1
            print(f"# killed at {name} number {nth}: {wrong}")
    if kills < 20:
        print("# fewer kills than a writer makes calls: strace did not do what was asked")
    failed = failures > 0 or kills < 20
    print(f"{'not ' if failed else ''}ok {number} - {prepare.__name__[8:]}: killed at {kills} "
          f"system calls, {left} times a temporary file was left, {failures} failures", flush=True)
    return failed


def skip_reason():
    if not shutil.which("strace"):
        return "strace is not installed"
    probe = subprocess.run(["strace", "-o", "/dev/null", "true"], stderr=subprocess.PIPE, text=True,
                           check=False)
    return None if probe.returncode == 0 else f"strace may not trace: {probe.stderr.strip()}"


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    reason = skip_reason()
    if reason:
        print(f"1..0 # SKIP {reason}")
        return 0
    prepares = (prepare_empty, prepare_damaged, prepare_stale)
    print(f"1..{len(prepares)}")
    failed = [kill_everywhere(sys.argv[1], number, prepare)
              for number, prepare in enumerate(prepares, 1)]
    return 1 if any(failed) else 0


if __name__ == "__main__":
    sys.exit(main())
