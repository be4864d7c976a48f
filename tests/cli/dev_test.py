#!/usr/bin/env python3
"""What the script ./dev refuses. It runs as a copy, in a directory where there is nothing to build,
and with no more tools than it is given."""
import os
import re
import shutil
import subprocess
import sys

import support
from support import equal, one_line

DEV = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "dev")
WITHOUT_ARGUMENTS = ("setup", "build", "run", "test", "test-long", "lint", "help", "-h", "--help")


def stand_in(path, script):
    with open(path, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\n" + script + "\n")
    os.chmod(path, 0o755)


def prepare(bench, *tools):
    """Copies ./dev; of the machine's tools it will find these and the plainest."""
    shutil.copy(DEV, bench.path("dev"))
    os.mkdir(os.path.join(bench.folder, "tools"))
    for tool in ("bash", "cat", "dirname", "id") + tools:
        os.symlink(shutil.which(tool), os.path.join(bench.folder, "tools", tool))


def dev(bench, words):
    done = subprocess.run([shutil.which("bash"), bench.path("dev")] + words.split(),
                          env={"PATH": os.path.join(bench.folder, "tools"), "LATHE_CARRIED": "1"},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60)
    return support.Result(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


def arguments_that_a_verb_does_not_take_are_refused(bench):
    prepare(bench)
    for verb in WITHOUT_ARGUMENTS:
        result = dev(bench, f"{verb} cli now")
        equal((result.code, result.out), (2, b""), verb)
        one_line(result, verb, "dev")
        assert f"{verb} cli now: " in result.err, result.err


def arguments_that_a_verb_takes_reach_the_program(bench):
    prepare(bench)
    for program, words, given in (
            ("cli/lathe", "bench gemm m=64 n=64 k=64", "bench gemm m=64 n=64 k=64"),
            ("bench/figures", "bench figures quick", "quick"),
            ("tests/gpu/gpu_suite", "test-gpu guard", "guard")):
        os.makedirs(os.path.dirname(bench.path("build/" + program)))
        stand_in(bench.path("build/" + program), 'echo "given: $*"')
        result = dev(bench, words)
        equal((result.code, result.text.splitlines()[-1]), (0, "given: " + given), words)


def help_names_every_verb(bench):
    prepare(bench)
    text = dev(bench, "help").text
    for verb in WITHOUT_ARGUMENTS[:-2] + ("test-gpu", "bench"):
        assert re.search(rf"^  {verb} ", text, re.MULTILINE), verb
    for words in ("", "-h", "--help"):
        equal(dev(bench, words).text, text, words)


TESTS = [
    arguments_that_a_verb_does_not_take_are_refused, arguments_that_a_verb_takes_reach_the_program,
    help_names_every_verb,
]

if __name__ == "__main__":
    sys.exit(support.main([(test.__name__.replace("_", " "), test) for test in TESTS]))
