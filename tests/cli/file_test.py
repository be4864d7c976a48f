#!/usr/bin/env python3
"""What -o FILE does to the file, whatever it is."""
import os
import resource
import subprocess
import sys

import support
from support import equal, one_line

GEMM = "gemm m=4096 n=4096 k=4096 arch=sm_90a"


def a_file_is_replaced_whole_or_not_at_all(bench):
    with open(bench.path("kernel.ptx"), "w", encoding="ascii") as file:
        file.write("old")
    result = bench.run(f"emit {GEMM} -o kernel.ptx",
                       before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
    equal(result.code, 1, "exit code")
    one_line(result, "emit")
    equal(bench.files(), ["kernel.ptx"], "files")
    with open(bench.path("kernel.ptx"), encoding="ascii") as file:
        equal(file.read(), "old", "the file")


def a_file_that_may_not_be_written_is_left(bench):
    with open(bench.path("kernel.ptx"), "w", encoding="ascii") as file:
        file.write("old")
    os.chmod(bench.path("kernel.ptx"), 0o444)
    if os.access(bench.path("kernel.ptx"), os.W_OK):
        raise support.Skip("this user may write everywhere")
    equal(bench.run(f"emit {GEMM} -o kernel.ptx").code, 1, "exit code")
    with open(bench.path("kernel.ptx"), encoding="ascii") as file:
        equal(file.read(), "old", "the file")


def a_new_file_has_the_usual_permissions(bench):
    bench.run(f"emit {GEMM} -o kernel.ptx", before=lambda: os.umask(0o027))
    equal(os.stat(bench.path("kernel.ptx")).st_mode & 0o777, 0o640, "permissions")
    os.chmod(bench.path("kernel.ptx"), 0o600)
    bench.run(f"emit {GEMM} -o kernel.ptx")
    equal(os.stat(bench.path("kernel.ptx")).st_mode & 0o777, 0o600, "permissions kept")


def a_link_stays_a_link(bench):
    with open(bench.path("target"), "w", encoding="ascii") as file:
        file.write("old")
    os.symlink("target", bench.path("link"))
    equal(bench.run(f"emit {GEMM} -o link").code, 0, "exit code")
    assert os.path.islink(bench.path("link"))
    assert os.path.getsize(bench.path("target")) > 1000
    equal(bench.files(), ["link", "target"], "files")


def a_pipe_is_written_to_and_not_replaced(bench):
    os.mkfifo(bench.path("pipe"))
    reader = subprocess.Popen(["cat", bench.path("pipe")], stdout=subprocess.PIPE)
    equal(bench.run(f"emit {GEMM} -o pipe").code, 0, "exit code")
    equal(reader.communicate(timeout=60)[0], bench.run(f"emit {GEMM}").out, "the text")
    equal(bench.files(), ["pipe"], "files")


TESTS = [
    a_file_is_replaced_whole_or_not_at_all, a_file_that_may_not_be_written_is_left,
    a_new_file_has_the_usual_permissions, a_link_stays_a_link,
    a_pipe_is_written_to_and_not_replaced,
]

if __name__ == "__main__":
    sys.exit(support.main([(test.__name__.replace("_", " "), test) for test in TESTS]))
