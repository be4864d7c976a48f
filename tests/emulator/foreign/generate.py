#!/usr/bin/env python3
"""Compiles every kernel of this folder into ptx/, by nvcc and, for sm_90a, by NVRTC.

Usage: generate.py [--check] [NAME ...]. Needs nvcc in the path, or in CUDA_HOME/bin, and libnvrtc.
A file is made for sm_80, sm_90a and sm_100a, or for those that its line "// TARGETS:" names:
NAME.TARGET.ptx by nvcc -O3, NAME.sm_90a.nvrtc.ptx by NVRTC. --check compiles all, writes nothing,
and exits 1 if there is a text that differs (as with another release of the compiler it may).
"""
import argparse
import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TARGETS = ["sm_80", "sm_90a", "sm_100a"]
LANGUAGE = "-std=c++17"


def cuda_home():
    """The folder of the toolkit."""
    home = os.environ.get("CUDA_HOME")
    if home:
        return home
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        sys.exit("generate.py: no nvcc in the path; set CUDA_HOME")
    return os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))


def targets_of(path):
    with open(path, encoding="ascii") as file:
        match = re.search(r"^// TARGETS: (.*)$", file.read(), re.MULTILINE)
    return match.group(1).split() if match else TARGETS


def tidy(text):
    """Without comments, which name builds of the compiler, and without empty lines in rows."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    lines = [re.sub(r"\s*//.*$", "", line).rstrip() for line in text.split("\n")]
    return re.sub(r"\n{2,}", "\n\n", "\n".join(lines)).strip("\n") + "\n"


def compile_nvcc(home, path, target):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.ptx")
        subprocess.run([os.path.join(home, "bin", "nvcc"), "-O3", LANGUAGE, "-ptx",
                        "-arch=" + target, path, "-o", out], check=True)
        with open(out, encoding="ascii") as file:
            return file.read()


class Nvrtc:
    """As much of NVRTC as turns a text into another."""

    def __init__(self, home):
        self.home = home
        self.library = ctypes.CDLL(os.path.join(home, "lib64", "libnvrtc.so"))
        self.library.nvrtcGetErrorString.restype = ctypes.c_char_p

    def string(self, program, size_of, get):
        size = ctypes.c_size_t()
        getattr(self.library, size_of)(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value + 1)
        getattr(self.library, get)(program, text)
        return text.value.decode("ascii", "replace")

    def compile(self, path, target):
        with open(path, "rb") as file:
            source = file.read()
        options = [LANGUAGE, "-arch=" + target, "-I" + os.path.join(self.home, "include"),
                   "-I" + os.path.join(self.home, "include", "cccl"), "-device-int128"]
        array = (ctypes.c_char_p * len(options))(*[word.encode() for word in options])
        program = ctypes.c_void_p()
        self.library.nvrtcCreateProgram(ctypes.byref(program), source,
                                        os.path.basename(path).encode(), 0, None, None)
        result = self.library.nvrtcCompileProgram(program, len(options), array)
        if result != 0:
            sys.exit("%s: %s\n%s" % (path, self.library.nvrtcGetErrorString(result).decode(),
                                     self.string(program, "nvrtcGetProgramLogSize",
                                                 "nvrtcGetProgramLog")))
        text = self.string(program, "nvrtcGetPTXSize", "nvrtcGetPTX")
        self.library.nvrtcDestroyProgram(ctypes.byref(program))
        return text


def texts(home, nvrtc, name):
    """Pairs of a file's name in ptx/ and its text."""
    path = os.path.join(HERE, name + ".cu")
    targets = targets_of(path)
    for target in targets:
        yield "%s.%s.ptx" % (name, target), tidy(compile_nvcc(home, path, target))
    if "sm_90a" in targets:
        yield "%s.sm_90a.nvrtc.ptx" % name, tidy(nvrtc.compile(path, "sm_90a"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of files, without .cu; all")
    options = parser.parse_args()
    home = cuda_home()
    nvrtc = Nvrtc(home)
    names = options.names or sorted(file[:-3] for file in os.listdir(HERE) if file.endswith(".cu"))
    differing = 0

    os.makedirs(os.path.join(HERE, "ptx"), exist_ok=True)
    for name in names:
        for file, text in texts(home, nvrtc, name):
            path = os.path.join(HERE, "ptx", file)
            if not options.check:
                with open(path, "w", encoding="ascii") as out:
                    out.write(text)
                continue
            old = ""
            if os.path.exists(path):
                with open(path, encoding="ascii") as was:
                    old = was.read()
            if old != text:
                print("differs: ptx/" + file)
                differing += 1
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
