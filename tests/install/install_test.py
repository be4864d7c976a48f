#!/usr/bin/env python3
"""Installs the build into a temporary directory and builds separate programs against it.

Usage: install_test.py BUILD SANITIZE. Speaks TAP. SANITIZE is meson's b_sanitize: programs built
without the sanitizers cannot use a library that was built with them, so all is skipped then.

Programs are compiled as C11 and as C++17, with the flags that pkg-config gives, against the shared
library and, with the shared one taken away, against the static one.
"""
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


class Skip(Exception):
    """The machine lacks what the test needs."""


def run(command, **options):
    """Runs a command and returns its output; its whole output is the message when it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, timeout=120, **options)
    assert done.returncode == 0, f"{shlex.join(command)}: exit {done.returncode}\n{done.stdout}"
    return done.stdout


def tool(variable, *names):
    for name in [os.environ.get(variable), *names]:
        if name and shutil.which(name.split()[0]):
            return shlex.split(name)
    raise Skip(f"none of {', '.join(names)} was found")


class Installed:
    """The installed tree below `root`, as a packager would see it."""

    def __init__(self, root):
        self.root = root
        found = glob.glob(f"{root}/**/lathe.pc", recursive=True)
        assert len(found) == 1, f"one lathe.pc was expected, found: {found}"
        self.libdir = os.path.dirname(os.path.dirname(found[0]))
        self.env = dict(os.environ, PKG_CONFIG_SYSROOT_DIR=root,
                        PKG_CONFIG_PATH=os.path.dirname(found[0]))

    def pkg_config(self, *words):
        # The sysroot would be put before the paths of the system's own packages too, but those
        # need no paths.
        return shlex.split(run([*tool("PKG_CONFIG", "pkg-config"), *words, "lathe"], env=self.env))

    def file(self, pattern):
        found = sorted(glob.glob(f"{self.root}/**/{pattern}", recursive=True))
        assert found, f"{pattern} is not installed"
        return found[0]

    def without_shared(self, place):
        """A copy that has only the static library."""
        shutil.copytree(self.root, place, symlinks=True)
        copy = Installed(place)
        for path in glob.glob(f"{copy.libdir}/liblathe.so*"):
            os.remove(path)
        return copy

    def build_and_run(self, compiler, source, static=False):
        program = os.path.join(self.root, "program")
        flags = self.pkg_config(*["--static"] * static, "--cflags", "--libs")
        run([*compiler, *WARNINGS, os.path.join(HERE, source), "-o", program, *flags])
        needed = run(["ldd", program])
        assert ("liblathe" in needed) != static, f"the wrong library is used:\n{needed}"
        return run([program], env=dict(os.environ, LD_LIBRARY_PATH=self.libdir))


def check_output(output, version):
    lines = output.splitlines()
    assert lines[0] == f"version={version}", lines[0]
    assert lines[1] == "stages=3", lines[1]
    entry = lines[2].removeprefix("entry=")
    assert f".visible .entry {entry}(" in output, "the text lacks the contract's entry"


def c11():
    return [*tool("CC", "cc", "gcc", "clang"), "-std=c11"]


def cxx17():
    return [*tool("CXX", "c++", "g++", "clang++"), "-std=c++17"]


def declared(header):
    with open(header, encoding="ascii") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
    return set(re.findall(r"LATHE_API[^;()]*?(lathe_\w+)\(", text))


class Tests:
    """Each test_ method is one; their order is the order here."""

    def __init__(self, scratch, build):
        self.scratch, self.build = scratch, build
        self.shared = None

    def tree(self):
        assert self.shared, "nothing was installed"
        return self.shared

    def version(self):
        return self.tree().pkg_config("--modversion")[0]

    def test_meson_install_works(self):
        root = os.path.join(self.scratch, "root")
        run([*shlex.split(os.environ.get("MESON", "meson")), "install", "-C", self.build,
             "--no-rebuild", "--destdir", root])
        self.shared = Installed(root)

    def test_library_headers_and_command_are_installed(self):
        for pattern in ("lathe.h", "lathe_tools.h", "liblathe.a", "liblathe.so", "lathe.pc",
                        "bin/lathe"):
            self.tree().file(pattern)

    def test_installed_command_gives_the_version(self):
        output = run([self.tree().file("bin/lathe"), "--version"],
                     env=dict(os.environ, LD_LIBRARY_PATH=self.tree().libdir))
        assert self.version() in output, output

    def test_shared_library_exports_what_the_headers_declare_and_no_more(self):
        nm = tool("NM", "nm")
        table = run([*nm, "-D", "--defined-only", self.tree().file("liblathe.so")])
        exported = {line.split()[-1].split("@")[0] for line in table.splitlines()}
        wanted = declared(self.tree().file("lathe.h")) | declared(self.tree().file("lathe_tools.h"))
        assert exported == wanted, (f"missing: {sorted(wanted - exported)}\n"
                                    f"undeclared: {sorted(exported - wanted)}")

    def test_c11_program_runs_with_the_shared_library(self):
        check_output(self.tree().build_and_run(c11(), "consumer.c"), self.version())

    def test_cxx17_program_runs_with_the_shared_library(self):
        check_output(self.tree().build_and_run(cxx17(), "consumer.cpp"), self.version())

    def test_c11_program_runs_with_the_static_library(self):
        static = self.tree().without_shared(os.path.join(self.scratch, "static_c"))
        check_output(static.build_and_run(c11(), "consumer.c", static=True), self.version())

    def test_cxx17_program_runs_with_the_static_library(self):
        static = self.tree().without_shared(os.path.join(self.scratch, "static_cxx"))
        check_output(static.build_and_run(cxx17(), "consumer.cpp", static=True), self.version())

    def test_program_needs_no_header_but_lathe_h(self):
        self.tree().build_and_run(c11(), "header_only.c")


    def test_program_of_the_readme_prints_a_kernel(self):
        with open(os.path.join(HERE, "..", "..", "README.md"), encoding="ascii") as file:
            program = re.search(r"^```c\n(.*?)^```$", file.read(), re.DOTALL | re.MULTILINE).group(1)
        source = os.path.join(self.scratch, "readme.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(program)
        output = self.tree().build_and_run(c11(), source)
        assert ".visible .entry lathe_gemm_bf16_f32_" in output, output[:400]


def names():
    return [name for name in vars(Tests) if name.startswith("test_")]


def run_all(tests):
    failed = 0
    for number, name in enumerate(names(), 1):
        title = name.removeprefix("test_").replace("_", " ")
        try:
            getattr(tests, name)()
            print(f"ok {number} - {title}")
        except Skip as reason:
            print(f"ok {number} - {title} # SKIP {reason}")
        except (AssertionError, OSError, subprocess.SubprocessError) as trouble:
            failed += 1
            print(f"not ok {number} - {title}")
            print("\n".join(f"# {line}" for line in str(trouble).splitlines()))
    return failed


def main():
    build, sanitize = sys.argv[1:3]
    if sanitize != "none":
        print(f"1..0 # SKIP built with the {sanitize} sanitizers, which installed programs lack")
        return 0
    print(f"1..{len(names())}")
    with tempfile.TemporaryDirectory() as scratch:
        return 1 if run_all(Tests(scratch, build)) else 0


if __name__ == "__main__":
    sys.exit(main())
