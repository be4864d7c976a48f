#!/usr/bin/env python3
"""Fails when an #include points the wrong way: the table of who may include whom, checked.

Usage: check_layers.py [ROOT]. Prints one line a violation; exits 1 if there is any.
"""
import os
import re
import sys

# For each folder: the quoted includes it may have, as prefixes of paths from the top.
MAY_INCLUDE = {
    "include": ["lathe.h"],
    "codegen": ["include/", "codegen/"],
    "templates": ["include/", "codegen/", "templates/"],
    "runtime": ["include/lathe.h", "include/lathe_tools.h", "codegen/memory.h",
                "codegen/plan.h", "codegen/status.h", "templates/registry.h", "runtime/"],
    "emulator": ["emulator/"],
    "cli": ["lathe.h", "lathe_tools.h", "cli/"],
    "examples": ["lathe.h"],
}
# Headers of a system that only some folders may know.
CUDA = re.compile(r"^(cuda|nvJitLink|nvrtc|cublas)")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def sources(root):
    for folder in MAY_INCLUDE:
        for place, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                if name.endswith((".c", ".h", ".def")):
                    yield folder, os.path.relpath(os.path.join(place, name), root)


def violations(root):
    for folder, path in sources(root):
        with open(os.path.join(root, path), encoding="ascii") as file:
            for number, line in enumerate(file, 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                quote, target = match.groups()
                if quote == '"' and not any(target.startswith(p) for p in MAY_INCLUDE[folder]):
                    yield f'{path}:{number}: {folder}/ may not include "{target}"'
                if quote == "<" and CUDA.match(os.path.basename(target)):
                    yield f"{path}:{number}: CUDA's headers are not needed to build ({target})"


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..")
    found = list(violations(root))
    for line in found:
        print(line)
    print(f"{len(found)} violations" if found else "the layers hold")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
