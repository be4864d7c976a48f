#!/usr/bin/env python3
"""What docs/ shows is what the command gives: every ```console block is run, and compared.

A block holds commands after "$ " and, below each, its standard output and then its standard error.
LATHE_UPDATE_GOLDEN=1 writes the blocks, and the pictures, anew.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DOCS = os.path.join(HERE, "..", "..", "docs")
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
import support  # noqa: E402

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
UPDATE = os.environ.get("LATHE_UPDATE_GOLDEN") == "1"
# What draws a picture, by the picture's file.
PICTURES = {
    "budget.svg": "plan gemm m=4096 n=4096 k=4096 out=f32 arch=sm_100a cluster=2x1x1 "
                  "tile=128x128x64 cta_group=1 --explain -o -",
}


def pages():
    return sorted(name for name in os.listdir(DOCS) if name.endswith(".md"))


def read(name):
    with open(os.path.join(DOCS, name), encoding="ascii") as file:
        return file.read()


def write(name, text):
    with open(os.path.join(DOCS, name), "w", encoding="ascii") as file:
        file.write(text)


def replay(bench, block):
    """The block as it should be: each command with what it prints."""
    shown = []
    for line in block.splitlines():
        if not line.startswith("$ lathe "):
            continue
        result = bench.run(line[len("$ lathe "):])
        out, err = result.text, result.err
        shown.append(line + "\n" + out + ("" if not out or out.endswith("\n") else "\n") + err)
    return "".join(shown)


def check_page(bench, name):
    text = read(name)
    seen = BLOCK.sub(lambda match: "```console\n" + replay(bench, match.group(1)) + "```", text)
    if UPDATE:
        write(name, seen)
    elif seen != text:
        raise AssertionError(f"{name} differs:\n" + support.difference(text, seen))


def check_picture(bench, name):
    drawn = bench.run(PICTURES[name]).text
    if UPDATE:
        write(name, drawn)
    support.equal(drawn, read(name), name)


TESTS = ([(f"{name} shows what the command gives",
           lambda bench, name=name: check_page(bench, name)) for name in pages()] +
         [(f"{name} is drawn as kept", lambda bench, name=name: check_picture(bench, name))
          for name in PICTURES])

if __name__ == "__main__":
    sys.exit(support.main(TESTS))
