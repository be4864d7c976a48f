#!/usr/bin/env python3
"""What the script ./dev refuses, and what its lint says.

It runs as a copy, in a directory where there is nothing to build, and with no more tools than it is
given."""
import os
import re
import shutil
import subprocess
import sys

import support
from support import equal, one_line

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
WITHOUT_ARGUMENTS = ("setup", "build", "run", "test", "test-long", "lint", "help", "-h", "--help")


def stand_in(path, script):
    with open(path, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\n" + script + "\n")
    os.chmod(path, 0o755)


def prepare(bench, *tools):
    """Copies ./dev; of the machine's tools it will find these and the plainest."""
    shutil.copy(os.path.join(TOP, "dev"), bench.path("dev"))
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


# ---- Lint ----

FOLDERS = ("include", "codegen", "templates", "runtime", "emulator", "cli", "examples",
           "bench", "tests")
HINTS = "bench/x.c:1:1: warning: one\nbench/x.c:1:1: note: of it\ncli/x.c:2:1: warning: two"


def prepare_lint(bench):
    """A tree with a file a folder, and analysers that note the files that they are given."""
    prepare(bench, "find", "grep", "python3", "sort", "xargs")
    for name in ("gcc", "g++", "clang", "clang++", "cc", "cppcheck", "clang-format"):
        analyser(bench, name)
    analyser(bench, "clang-tidy", f"echo '{HINTS}'")
    os.makedirs(bench.path("build/cli"))
    stand_in(bench.path("build/cli/lathe"), "")
    for folder in FOLDERS:
        os.mkdir(bench.path(folder))
        write(bench, folder + "/x.c", "int x;\n")
    shutil.copy(os.path.join(TOP, "tests", "check_layers.py"), bench.path("tests"))
    write(bench, "bench/x.py", "x = 1\n")
    os.mkdir(bench.path(".ci"))
    write(bench, ".ci/run", "exec true\n")


def analyser(bench, name, script="true"):
    stand_in(os.path.join(bench.folder, "tools", name),
             f'cat >/dev/null; echo "$*" >>{bench.folder}/{name}.log; {script}')


def write(bench, name, text):
    with open(bench.path(name), "w", encoding="utf-8") as file:
        file.write(text)


def last_line(text):
    return text.splitlines()[-1]


def lint_looks_into_every_folder(bench):
    prepare_lint(bench)
    dev(bench, "lint")
    for name, folders in (("clang-format", FOLDERS), ("clang-tidy", FOLDERS[1:-1]),
                          ("cppcheck", FOLDERS[:-1])):
        with open(os.path.join(bench.folder, name + ".log"), encoding="ascii") as file:
            given = [word.split("/")[0] for word in file.read().split()]
        equal(sorted(set(given) & set(FOLDERS)), sorted(folders), name)


def lint_ends_with_what_it_found(bench):
    prepare_lint(bench)
    result = dev(bench, "lint")
    equal((result.code, last_line(result.text)),
          (0, "== lint: nothing wrong; hints of clang-tidy: 2"), "with hints")
    assert HINTS in result.text, result.text
    analyser(bench, "clang-tidy")
    equal(last_line(dev(bench, "lint").text), "== lint: nothing wrong; hints of clang-tidy: 0",
          "without hints")
    os.remove(os.path.join(bench.folder, "tools", "clang-tidy"))
    equal(last_line(dev(bench, "lint").text),
          "== lint: nothing wrong; no clang-tidy here to give hints", "without clang-tidy")


def lint_fails_where_a_check_does(bench):
    for check, spoil in (
            ("format", lambda: analyser(bench, "clang-format", "false")),
            ("layers", lambda: write(bench, "cli/x.c", '#include "runtime/x.h"\n')),
            ("ascii", lambda: write(bench, "bench/x.c", "int \u00e9;\n")),
            ("scripts", lambda: write(bench, "bench/x.py", "x = (\n")),
            ("headers", lambda: analyser(bench, "clang++", "false")),
            ("cppcheck", lambda: analyser(bench, "cppcheck", "false"))):
        prepare_lint(bench)
        spoil()
        result = dev(bench, "lint")
        equal((result.code, last_line(result.err)),
              (1, f"dev: lint: wrong: {check}; hints of clang-tidy: 2"), check)
        shutil.rmtree(bench.work)
        shutil.rmtree(os.path.join(bench.folder, "tools"))
        os.mkdir(bench.work)


TESTS = [
    arguments_that_a_verb_does_not_take_are_refused, arguments_that_a_verb_takes_reach_the_program,
    help_names_every_verb, lint_looks_into_every_folder, lint_ends_with_what_it_found,
    lint_fails_where_a_check_does,
]

if __name__ == "__main__":
    sys.exit(support.main([(test.__name__.replace("_", " "), test) for test in TESTS]))
