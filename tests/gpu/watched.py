#!/usr/bin/env python3
"""watched.py COMMAND...: runs it with the emulator's sanitizer on, which must find nothing.

The sanitizer goes on past what it finds and tells of it on standard error; so a right answer is not
enough here."""
import os
import subprocess
import sys

FINDING = "emulator: "

if __name__ == "__main__":
    ran = subprocess.run(sys.argv[1:], env=dict(os.environ, LATHE_EMU_CHECK="1"), text=True,
                         stderr=subprocess.PIPE, check=False)
    sys.stderr.write(ran.stderr)
    findings = sum(line.startswith(FINDING) for line in ran.stderr.splitlines())
    print(f"{findings} findings")
    sys.exit(1 if ran.returncode or findings else 0)
