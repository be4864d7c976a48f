#!/usr/bin/env python3
"""Damages the cache's entry of a kernel that was really linked, in every way that it can be cut.

Usage: cache_damage.py LATHE CACHE_STRESS. Needs nvJitLink. Speaks TAP.
"""
import json
import os
import subprocess
import sys
import tempfile

PROBLEM = ["gemm", "m=64", "n=64", "k=64", "arch=sm_90a", "tile=64x8x64"]


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    lathe, stress = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="lathe-damage-") as scratch:
        cubin = os.path.join(scratch, "kernel.cubin")
        done = subprocess.run([lathe, "build", *PROBLEM, "--json", "-o", cubin],
                              env={**os.environ, "LATHE_CACHE": "off"}, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        answer = json.loads(done.stdout)
        if answer.get("error", {}).get("code") == "no-library":
            print(f"1..0 # SKIP {answer['error']['message']}")
            return 0
        return subprocess.run([stress, "damage", cubin, answer["kernel"]["name"]],
                              check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
