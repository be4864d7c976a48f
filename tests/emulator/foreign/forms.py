#!/usr/bin/env python3
"""Counts the distinct PTX instructions, opcodes with all their modifiers, in the texts of ptx/.

Usage: forms.py [--list] [FILE ...]. Prints the count; --list prints them with how often they stand.
"""
import argparse
import collections
import glob
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
DIRECTIVE_LINE = re.compile(r"^\s*\.(version|target|address_size|loc|file)\b.*$", re.MULTILINE)
HEADER = re.compile(r"[^;{}]*\.(entry|func)\b[^;{}]*\{")
LABEL = re.compile(r"^[A-Za-z_$%][\w$]*\s*:\s*")
GUARD = re.compile(r"^@!?%?\w+\s+")
FORM = re.compile(r"^[a-z][a-z0-9_]*(\.[A-Za-z0-9_:]+)*")


def forms(text):
    """Of each instruction of a text, its words."""
    text = re.sub(r'"[^"]*"', '""', text)
    text = re.sub(r"//.*$", "", text, flags=re.MULTILINE)
    text = DIRECTIVE_LINE.sub("", text)
    text = HEADER.sub("", text)
    for statement in text.split(";"):
        statement = statement.lstrip("{} \t\n")
        while LABEL.match(statement):
            statement = LABEL.sub("", statement, count=1).lstrip("{} \t\n")
        match = FORM.match(GUARD.sub("", statement))
        if match:
            yield match.group(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--list", action="store_true", help="print them all")
    parser.add_argument("files", nargs="*", metavar="FILE", help="PTX text; all of ptx/")
    options = parser.parse_args()
    counts = collections.Counter()

    for path in options.files or sorted(glob.glob(os.path.join(HERE, "ptx", "*.ptx"))):
        with open(path, encoding="ascii") as file:
            counts.update(forms(file.read()))
    if options.list:
        for form, count in sorted(counts.items()):
            print("%7d  %s" % (count, form))
    print("%d distinct forms, %d opcodes" % (len(counts), len({f.split(".")[0] for f in counts})))


if __name__ == "__main__":
    main()
