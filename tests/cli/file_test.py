#!/usr/bin/env python3
"""What -o FILE does to the file, whatever it is."""
import os
import resource
import subprocess
import sys

import support
from support import equal, one_line

GEMM = "gemm m=4096 n=4096 k=4096 arch=sm_90a"


def write_old(bench, name):
    with open(bench.path(name), "w", encoding="ascii") as file:
        file.write("old\n")


def read(bench, name):
    with open(bench.path(name), "rb") as file:
        return file.read()


def small_files():
    """For `before`: writing fails after the first bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


def without_privilege(bench):
    """For `before`: gives up being root, whom no permission stops."""
    def become_nobody():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)

    if os.geteuid() != 0:
        return None
    os.chmod(bench.folder, 0o755)
    try:
        bench.run("--version", before=become_nobody)
    except PermissionError:
        raise support.Skip("other users cannot reach the command") from None
    return become_nobody


# ---- Files ----

def a_file_is_replaced_whole_or_not_at_all(bench):
    write_old(bench, "kernel.ptx")
    result = bench.run(f"emit {GEMM} -o kernel.ptx", before=small_files)
    equal(result.code, 1, "exit code")
    equal(result.err, "lathe: kernel.ptx: cannot be written: File too large\n", "message")
    equal(bench.files(), ["kernel.ptx"], "files")
    equal(read(bench, "kernel.ptx"), b"old\n", "the file")


def a_file_that_may_not_be_written_is_left(bench):
    write_old(bench, "kernel.ptx")
    os.chmod(bench.path("kernel.ptx"), 0o444)
    os.chmod(bench.work, 0o777)
    result = bench.run(f"emit {GEMM} -o kernel.ptx", before=without_privilege(bench))
    equal(result.code, 1, "exit code")
    one_line(result, "emit")
    equal(bench.files(), ["kernel.ptx"], "files")
    equal(read(bench, "kernel.ptx"), b"old\n", "the file")


def a_file_in_a_directory_that_may_not_be_changed_is_written(bench):
    write_old(bench, "kernel.ptx")
    os.chmod(bench.path("kernel.ptx"), 0o666)
    os.chmod(bench.work, 0o555)
    before = without_privilege(bench)
    result = bench.run(f"emit {GEMM} -o kernel.ptx", before=before)
    equal((result.code, result.err), (0, ""), "an old file")
    equal(read(bench, "kernel.ptx"), bench.run(f"emit {GEMM}").out, "the file")
    result = bench.run(f"emit {GEMM} -o new.ptx", before=before)
    equal((result.code, result.err),
          (1, "lathe: new.ptx: cannot be written: Permission denied\n"), "a new file")


def a_file_that_only_its_owner_may_replace_is_written(bench):
    before = without_privilege(bench)
    if before is None:
        raise support.Skip("only root can make a file of another user's")
    write_old(bench, "kernel.ptx")
    os.chmod(bench.path("kernel.ptx"), 0o666)
    os.chmod(bench.work, 0o1777)
    result = bench.run(f"emit {GEMM} -o kernel.ptx", before=before)
    equal((result.code, result.err), (0, ""), "emit")
    equal(bench.files(), ["kernel.ptx"], "files")
    equal(read(bench, "kernel.ptx"), bench.run(f"emit {GEMM}").out, "the file")


def a_name_may_be_as_long_as_names_can_be(bench):
    name = "k" * os.pathconf(bench.work, "PC_NAME_MAX")
    equal(bench.run(f"emit {GEMM} -o {name}", before=small_files).code, 1, "without room")
    equal(bench.files(), [], "files without room")
    for what in ("a new file", "an old file"):
        result = bench.run(f"emit {GEMM} -o {name}")
        equal((result.code, result.err), (0, ""), what)
        equal(bench.files(), [name], what)
        equal(read(bench, name), bench.run(f"emit {GEMM}").out, what)
        with open(bench.path(name), "ab") as file:
            file.write(b"older and longer")


def a_new_file_has_the_usual_permissions(bench):
    bench.run(f"emit {GEMM} -o kernel.ptx", before=lambda: os.umask(0o027))
    equal(os.stat(bench.path("kernel.ptx")).st_mode & 0o777, 0o640, "permissions")
    os.chmod(bench.path("kernel.ptx"), 0o600)
    bench.run(f"emit {GEMM} -o kernel.ptx")
    equal(os.stat(bench.path("kernel.ptx")).st_mode & 0o777, 0o600, "permissions kept")


def a_link_stays_a_link(bench):
    write_old(bench, "target")
    os.symlink("target", bench.path("link"))
    equal(bench.run(f"emit {GEMM} -o link").code, 0, "exit code")
    assert os.path.islink(bench.path("link"))
    equal(read(bench, "target"), bench.run(f"emit {GEMM}").out, "the target")
    equal(bench.files(), ["link", "target"], "files")


def what_a_link_names_is_made_where_it_is_not_there(bench):
    os.mkdir(bench.path("there"))
    os.symlink("there/kernel.ptx", bench.path("second"))
    os.symlink("second", bench.path("first"))
    equal(bench.run(f"emit {GEMM} -o first", before=small_files).code, 1, "without room")
    equal(os.listdir(bench.path("there")), [], "files without room")
    result = bench.run(f"emit {GEMM} -o first", before=lambda: os.umask(0o027))
    equal((result.code, result.err), (0, ""), "emit")
    assert os.path.islink(bench.path("first")) and os.path.islink(bench.path("second"))
    equal(os.stat(bench.path("first")).st_mode & 0o777, 0o640, "permissions")
    equal(read(bench, "there/kernel.ptx"), bench.run(f"emit {GEMM}").out, "the target")
    os.symlink("nowhere/kernel.ptx", bench.path("third"))
    equal(bench.run(f"emit {GEMM} -o third").err,
          "lathe: third: cannot be written: No such file or directory\n", "into no directory")


# ---- What is no file, or is open already ----

def a_pipe_is_written_to_and_not_replaced(bench):
    os.mkfifo(bench.path("pipe"))
    reader = subprocess.Popen(["cat", bench.path("pipe")], stdout=subprocess.PIPE)
    equal(bench.run(f"emit {GEMM} -o pipe").code, 0, "exit code")
    equal(reader.communicate(timeout=60)[0], bench.run(f"emit {GEMM}").out, "the text")
    equal(bench.files(), ["pipe"], "files")


def a_redirection_is_kept_whatever_name_it_is_given(bench):
    text = bench.run(f"emit {GEMM}").out
    for line in ("-o /dev/stdout >> log", "-o /dev/fd/1 >> log", "-o log >> log",
                 "-o /dev/stderr 2>> log", "-o log 2>> log", "-o /dev/fd/3 3>> log",
                 "-o /proc/self/fd/3 3>> log", "-o link >> log",
                 "-o /dev/stdout | cat >> log", "-o /dev/fd/3 3>&1 > other | cat >> log"):
        write_old(bench, "log")
        if not os.path.islink(bench.path("link")):
            os.symlink("log", bench.path("link"))
        result = bench.shell(f"lathe emit {GEMM} {line}")
        equal((result.code, result.out, result.err), (0, b"", ""), line)
        equal(read(bench, "log"), b"old\n" + text, line)
    equal(bench.shell(f"{{ echo old; lathe emit {GEMM} -o /dev/stdout; echo new; }} > log").code,
          0, "between other output")
    equal(read(bench, "log"), b"old\n" + text + b"new\n", "between other output")


def a_descriptor_that_is_not_open_is_refused(bench):
    for name in ("/dev/fd/9", "/dev/fd/99999", "/proc/self/fd/9"):
        result = bench.run(f"emit {GEMM} -o {name}")
        equal((result.code, result.err),
              (1, f"lathe: {name}: cannot be written: Bad file descriptor\n"), name)


def standard_output_by_another_name_is_standard_output(bench):
    text = bench.run(f"emit {GEMM}").out
    for name in ("-", "/dev/stdout", "/dev/fd/1"):
        equal(bench.run(f"emit {GEMM} -o {name}").out, text, name)
        answer = bench.run(f"emit {GEMM} -o {name} --json").json
        equal(answer.get("text", "").encode(), text, f"{name} in JSON")
        result = bench.run(f"build {GEMM} -o {name} --json")
        equal(result.code, 2, f"a cubin as JSON in {name}")
        equal(result.err, f"lathe: -o {name} and --json: both want standard output\n", name)


def a_cubin_on_standard_output_is_alone_there(bench):
    bench.needs_linker()
    equal(bench.run(f"build {GEMM} -o kernel.cubin").code, 0, "into a file")
    equal(bench.run(f"build {GEMM} -o /dev/stdout").out, read(bench, "kernel.cubin"), "the cubin")


TESTS = [
    a_file_is_replaced_whole_or_not_at_all, a_file_that_may_not_be_written_is_left,
    a_file_in_a_directory_that_may_not_be_changed_is_written,
    a_file_that_only_its_owner_may_replace_is_written, a_name_may_be_as_long_as_names_can_be,
    a_new_file_has_the_usual_permissions, a_link_stays_a_link,
    what_a_link_names_is_made_where_it_is_not_there, a_pipe_is_written_to_and_not_replaced,
    a_redirection_is_kept_whatever_name_it_is_given, a_descriptor_that_is_not_open_is_refused,
    standard_output_by_another_name_is_standard_output, a_cubin_on_standard_output_is_alone_there,
]

if __name__ == "__main__":
    sys.exit(support.main([(test.__name__.replace("_", " "), test) for test in TESTS]))
