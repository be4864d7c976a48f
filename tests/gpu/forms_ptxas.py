#!/usr/bin/env python3
"""Whether ptxas takes the kernels of forms_suite for sm_90a: a form that it refuses is none.

Usage: forms_ptxas.py FORMS_SUITE [WORD...]. The words go to forms_suite (only=WORD). Looks for
ptxas in the path and in /usr/local/cuda; exits 77 without it, else 1 if any kernel is refused.
"""
import concurrent.futures
import glob
import os
import shutil
import subprocess
import sys
import tempfile


def complaint(ptxas, path):
    """What ptxas says of a text; nothing where it takes it."""
    done = subprocess.run([ptxas, "-arch=sm_90a", path, "-o", path + ".cubin"],
                          capture_output=True, text=True, check=False)
    if done.returncode == 0:
        os.remove(path + ".cubin")
        return ""
    with open(path, encoding="ascii") as file:
        return file.readline() + done.stderr + done.stdout


def main():
    ptxas = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
    if not ptxas:
        print("no ptxas")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], "texts", folder] + sys.argv[2:], check=True)
        paths = sorted(glob.glob(os.path.join(folder, "*.ptx")))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            complaints = [c for c in pool.map(lambda path: complaint(ptxas, path), paths) if c]
    print("".join(complaints), end="")
    print(f"{len(paths) - len(complaints)} taken, {len(complaints)} refused")
    return 1 if complaints or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
