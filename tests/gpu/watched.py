#!/usr/bin/env python3
"""watched.py [known=KERNEL:CODE...] [known=CODE...] COMMAND...: runs it with the emulator's sanitizer
on, which must find nothing but warnings and what is known, and that indeed.

The sanitizer goes on past what it finds and tells of it on standard error; so a right answer is not
enough here."""
import os
import subprocess
import sys

FINDING = "emulator: "
WARNING = FINDING + "warning: "
KNOWN = "known="


def code_of(line):
    """"emulator: race: kernel: ..." is ("race", "kernel")."""
    code, kernel = line[len(FINDING):].split(": ")[:2]
    return code, kernel


def main(words):
    known = {word[len(KNOWN):] for word in words if word.startswith(KNOWN)}
    command = [word for word in words if not word.startswith(KNOWN)]
    ran = subprocess.run(command, env=dict(os.environ, LATHE_EMU_CHECK="1"), text=True,
                         stderr=subprocess.PIPE, check=False)
    seen, findings = set(), 0
    for line in ran.stderr.splitlines():
        if not line.startswith(FINDING) or line.startswith(WARNING):
            continue
        code, kernel = code_of(line)
        names = {code, f"{kernel}:{code}"} & known
        seen |= names
        findings += not names
        if not names:
            print("#", line)
    for name in known - seen:
        print(f"# {name} is known, and was not found")
    print(f"{findings} findings")
    return 1 if ran.returncode or findings or known - seen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
