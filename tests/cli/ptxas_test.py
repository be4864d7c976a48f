#!/usr/bin/env python3
"""What lathe emits is taken by ptxas as a whole program: no error, no spill, no warning.

nvJitLink, which Lathe links with, compiles for linking and leaves out setmaxnreg; the driver, for
a text that is loaded as it is, and ptxas do not. Skipped where there is no ptxas.
"""
import re
import shutil
import subprocess
import sys

import support

SIZES = "gemm m=4096 n=4096 k=4096"
TEXTS = [
    "arch=sm_90a",
    "arch=sm_90a tile=128x256x64 regs=40x232",
    "arch=sm_90a tile=128x256x64 regs=24x240 beta=any out=f32",
    "arch=sm_90a variant=hopper-v6",
    "arch=sm_100a",
    "arch=sm_100a beta=any out=f32",
    "arch=sm_100a schedule=dynamic",
    "arch=sm_100a variant=blackwell-1 beta=any",
    "arch=sm_100a variant=blackwell-9",
    "arch=sm_100a variant=blackwell-9 regs=40x232",
    "arch=sm_100a variant=blackwell-9 regs=24x240 schedule=dynamic beta=any",
    "arch=sm_103a variant=blackwell-9 regs=40x208",
]


def taken_by_ptxas(bench, words):
    ptxas = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
    if not ptxas:
        raise support.Skip("no ptxas")
    emitted = bench.run(f"emit {SIZES} {words} -o kernel.ptx")
    support.equal(emitted.code, 0, emitted.err)
    arch = re.search(r"arch=(\w+)", words).group(1)
    done = subprocess.run([ptxas, f"-arch={arch}", "-v", "kernel.ptx", "-o", "kernel.cubin"],
                          cwd=bench.work, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    support.equal(done.returncode, 0, said)
    support.equal(set(re.findall(r"\d+ bytes spill", said)), {"0 bytes spill"}, said)
    support.equal(re.findall(r"warning|\(C7\d+\)", said), [], said)


TESTS = [(words, lambda bench, words=words: taken_by_ptxas(bench, words)) for words in TEXTS]

if __name__ == "__main__":
    sys.exit(support.main(TESTS))
