#!/usr/bin/env python3
"""Runs the examples as a reader would. Usage: examples_test.py 01_EMIT 02_SPECIALISE 03_EMBED.
Speaks TAP. An example that exits with 77 has said in its last line what the machine lacks; with
LATHE_MUST_RUN=1 in the environment the machine lacks nothing, and that is a failure."""
import json
import os
import subprocess
import sys
import tempfile

NOT_RUN = 77


class Skip(Exception):
    """The machine lacks what the test needs."""


def start(scratch, *command):
    """Runs in an empty directory with a cache of its own; returns exit status, output, errors."""
    env = dict(os.environ, LATHE_CACHE_DIR=os.path.join(scratch, "cache"))
    done = subprocess.run(command, cwd=scratch, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def last_line(*texts):
    return ("\n".join(texts).strip().splitlines() or ["it said nothing"])[-1]


def must_run(scratch, *command):
    code, output, errors = start(scratch, *command)
    if code == NOT_RUN and os.environ.get("LATHE_MUST_RUN") != "1":
        raise Skip(last_line(output, errors))
    assert code == 0, f"exit {code}\n{output}{errors}"
    return output


def contract_of(comment):
    return json.loads(comment.removeprefix("// launch contract: "))


def test_01_prints_plan_contract_and_text(scratch, emit, _specialise, _embed):
    output = must_run(scratch, emit)
    plan, why, contract = output.splitlines()[:3]
    assert plan.startswith("// plan: gemm "), plan
    assert why.startswith("// why: "), why
    assert f".visible .entry {contract_of(contract)['name']}(" in output, contract
    assert output == must_run(scratch, emit), "two runs differ"


def test_01_takes_a_problem_as_words(scratch, emit, _specialise, _embed):
    output = must_run(scratch, emit, "gemm", "m=512", "n=512", "k=512", "stages=3")
    assert " stages=3 " in output.splitlines()[0], output.splitlines()[0]


def test_01_refuses_a_word_it_does_not_know(scratch, emit, _specialise, _embed):
    code, output, errors = start(scratch, emit, "gemm", "m=512", "n=512", "k=512", "stage=3")
    assert code == 1 and output == "" and "stages" in errors, f"exit {code}\n{output}{errors}"


def test_02_gets_right_answers(scratch, _emit, specialise, _embed):
    output = must_run(scratch, specialise)
    assert "linked" in output, output


def test_02_finds_its_kernels_in_the_cache_at_the_next_start(scratch, _emit, specialise, _embed):
    must_run(scratch, specialise)
    output = must_run(scratch, specialise)
    assert "from the cache" in output and "linked" not in output, output


def test_03_prints_and_writes_the_contract(scratch, _emit, _specialise, embed):
    code, output, errors = start(scratch, embed)
    assert code in (0, NOT_RUN), f"exit {code}\n{output}{errors}"
    contract = json.loads(output.splitlines()[0])
    kinds = {param["holds"] for param in contract["params"]}
    assert kinds == {"tensor_map", "m", "n", "k", "walk", "alpha", "beta", "d", "ldd"}, kinds
    with open(os.path.join(scratch, "03_embed.json"), encoding="ascii") as file:
        assert json.load(file) == contract


def test_03_writes_the_cubin(scratch, _emit, _specialise, embed):
    code, output, errors = start(scratch, embed, scratch)
    path = os.path.join(scratch, "03_embed.cubin")
    if code == NOT_RUN and not os.path.exists(path):
        raise Skip(last_line(output, errors))
    with open(path, "rb") as file:
        assert file.read(4) == b"\x7fELF"


def test_03_launches_by_the_contract_alone(scratch, _emit, _specialise, embed):
    output = must_run(scratch, embed)
    assert ", 0 wrong" in last_line(output), output


def main():
    tests = [value for name, value in globals().items() if name.startswith("test_")]
    programs = [os.path.abspath(path) for path in sys.argv[1:4]]
    failed = 0
    print(f"1..{len(tests)}")
    for number, test in enumerate(tests, 1):
        title = test.__name__.removeprefix("test_").replace("_", " ")
        try:
            with tempfile.TemporaryDirectory() as scratch:
                test(scratch, *programs)
            print(f"ok {number} - {title}")
        except Skip as reason:
            print(f"ok {number} - {title} # SKIP {reason}")
        except (AssertionError, OSError, ValueError, subprocess.SubprocessError) as trouble:
            failed += 1
            print(f"not ok {number} - {title}")
            print("\n".join(f"# {line}" for line in str(trouble).splitlines()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
