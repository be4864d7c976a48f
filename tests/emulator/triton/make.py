#!/usr/bin/env python3
"""Compiles the kernels of this folder into ptx/, and texts.def, which says how each is launched.

Usage: make.py [--check] [NAME ...]. Needs Triton (pip install triton), but no GPU; the texts that are
here are of TRITON below. --check compiles, writes nothing, and exits 1 if a text differs, or 77 if
there is no Triton or another one.
"""
import argparse
import os
import re
import sys
import tempfile
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
TRITON = "3.9.0"
PTX_VERSION = 86  # of TMA with .shared::cta; older drivers take it than what is the default
SKIPPED = 77

# Before Triton reads them. No .loc and .file; a cache that nobody else has.
os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"
CACHE = tempfile.TemporaryDirectory()
os.environ["TRITON_CACHE_DIR"] = CACHE.name
warnings.filterwarnings("ignore")

try:
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
except ImportError:
    print("make.py: no Triton is installed")
    sys.exit(SKIPPED)

sys.path.append(os.path.join(HERE, os.pardir, "foreign"))
import arithmetic  # noqa: E402  pylint: disable=wrong-import-position
import lists  # noqa: E402  pylint: disable=wrong-import-position
import matmul  # noqa: E402  pylint: disable=wrong-import-position
import rows  # noqa: E402  pylint: disable=wrong-import-position
import tensor  # noqa: E402  pylint: disable=wrong-import-position
from generate import tidy  # noqa: E402  pylint: disable=wrong-import-position


class Text:
    """One kernel for one set of types, constants and options. A type with :16 is a multiple of 16,
    as all addresses are."""

    def __init__(self, name, kernel, types, constants=None, target=90, **options):
        self.name, self.kernel, self.target, self.options = name, kernel, target, options
        self.constants = constants or {}
        self.types, self.attributes = {}, {}
        words = types.split()
        for index, argument in enumerate(kernel.arg_names):
            if argument in self.constants:
                self.types[argument] = "constexpr"
                continue
            self.types[argument], _, multiple = words.pop(0).partition(":")
            if multiple or self.types[argument].startswith("*"):
                self.attributes[(index,)] = [["tt.divisibility", 16]]
        assert not words, name

    def compile(self):
        source = ASTSource(fn=self.kernel, signature=self.types, constexprs=self.constants,
                           attrs=self.attributes)
        return triton.compile(source, target=GPUTarget("cuda", self.target, 32),
                              options={"ptx_version": PTX_VERSION, **self.options})


def tile(m, n, k, **others):
    return {"BM": m, "BN": n, "BK": k, **others}


def product(name, a, c, sizes, warps, stages, b=None, total=tl.float32, precision=None, **options):
    """A text of matmul.matmul."""
    types = f"*{a} *{b or a} *{c} i32 i32 i32:16 i32:16 i32:16 i32:16"
    constants = tile(*sizes, SUM=total, PRECISION=precision)
    shape = "x".join(str(size) for size in sizes)
    return Text(f"matmul_{name}_{shape}", matmul.matmul, types, constants, num_warps=warps,
                num_stages=stages, **options)


MATMUL = [
    product("f16", "fp16", "fp16", (64, 64, 32), 4, 2),
    product("f16", "fp16", "fp16", (128, 128, 64), 8, 3),
    product("f16", "fp16", "fp16", (64, 256, 32), 4, 4),
    product("bf16", "bf16", "bf16", (64, 128, 64), 4, 4),
    product("e4m3", "fp8e4nv", "fp32", (64, 64, 64), 4, 3),
    product("e5m2", "fp8e5", "fp16", (128, 128, 128), 8, 3),
    product("tf32", "fp32", "fp32", (64, 64, 32), 4, 3),
    product("s8", "i8", "i32", (64, 64, 64), 4, 3, total=tl.int32),
    product("f16sum", "fp16", "fp16", (64, 64, 32), 4, 2, total=tl.float16),
    product("e4m3_f16", "fp8e4nv", "fp32", (64, 64, 64), 4, 3, b="fp16"),
    product("e5m2_bf16", "fp8e5", "fp32", (64, 64, 32), 4, 3, b="bf16"),
    product("f16_2ctas", "fp16", "fp16", (128, 64, 32), 4, 3, num_ctas=2),
    product("f16", "fp16", "fp16", (16, 16, 16), 1, 2),
    product("bf16", "bf16", "bf16", (32, 64, 32), 4, 3),
    product("tf32", "fp32", "fp32", (32, 32, 32), 4, 3),
    product("tf32x3", "fp32", "fp32", (32, 32, 16), 4, 3, precision="tf32x3"),
    product("f32", "fp32", "fp32", (16, 32, 16), 4, 2, precision="ieee"),
    product("s8", "i8", "i32", (32, 32, 32), 4, 3, total=tl.int32),
    product("e5m2", "fp8e5", "fp16", (32, 32, 32), 4, 3),
    product("f64", "fp64", "fp64", (32, 32, 16), 4, 2, total=tl.float64),
    product("f16_sm80", "fp16", "fp16", (64, 64, 32), 4, 3, target=80),
    product("s8_sm80", "i8", "i32", (64, 64, 32), 4, 3, total=tl.int32, target=80),
    product("f16_sm100", "fp16", "fp16", (64, 64, 32), 4, 2, target=100),
    product("e4m3_sm100", "fp8e4nv", "fp32", (128, 64, 64), 4, 3, target=100),
    Text("layer", matmul.layer, "*fp16 *fp16 *fp32 *fp16 i32 i32:16 i32:16", tile(64, 64, 64),
         num_warps=4, num_stages=3),
    Text("grouped", matmul.grouped, "*fp16 *fp16 *fp16 *i32 i32", tile(64, 64, 32), num_warps=4,
         num_stages=3),
    Text("scaled_e4m3", matmul.scaled, "*fp8e4nv *u8 *fp8e4nv *u8 *fp32 i32 i32:16 i32:16",
         tile(64, 64, 64, KIND="e4m3", PACKED=1), num_warps=4, num_stages=2),
    Text("scaled_e2m1", matmul.scaled, "*u8 *u8 *u8 *u8 *fp32 i32 i32:16 i32:16",
         tile(64, 64, 64, KIND="e2m1", PACKED=2), num_warps=4, num_stages=2),
    Text("convolve", matmul.convolve, "*fp16 *fp16 *fp32 i32 i32",
         {"C": 32, "F": 32, "BP": 64}, num_warps=4),
]

OF_TMA = "*fp16 *fp16 *fp16 i32 i32:16 i32:16"
TENSOR = [
    Text("tma_64x64x64", tensor.tma, OF_TMA, tile(64, 64, 64), num_warps=4, num_stages=3),
    Text("tma_128x128x64", tensor.tma, OF_TMA, tile(128, 128, 64), num_warps=8, num_stages=4),
    Text("tma_2ctas", tensor.tma, OF_TMA, tile(128, 64, 64), num_warps=4, num_stages=3,
         num_ctas=2),
    Text("tma_given", tensor.tma_given,
         "tensordesc<fp16[64,64]> tensordesc<fp16[64,64]> *fp16 i32 i32:16 i32:16",
         tile(64, 64, 64), num_warps=4, num_stages=3),
    Text("tma_persistent", tensor.tma_persistent, OF_TMA,
         tile(128, 128, 64, FLAT=True, ROLES=False), num_warps=8, num_stages=3),
    Text("tma_roles", tensor.tma_persistent, OF_TMA,
         tile(64, 64, 64, FLAT=False, ROLES=True), num_warps=4, num_stages=3),
    Text("tma_sm100", tensor.tma, OF_TMA, tile(128, 64, 64), num_warps=4, num_stages=3,
         target=100),
    Text("tma_roles_sm100", tensor.tma_persistent, OF_TMA,
         tile(128, 64, 64, FLAT=False, ROLES=True), num_warps=4, num_stages=3, target=100),
    Text("tma_batch", tensor.tma_batch, "*fp16 *fp16 *fp16 i32 i32 i32:16 i32:16",
         tile(64, 64, 32), num_warps=4, num_stages=3),
    Text("tma_reduce", tensor.tma_reduce, "*i32 *i32 *i32 *i32 i32 i32:16", {"BM": 32, "BN": 64},
         num_warps=4),
]

OF_ATTENTION = "*fp16 *fp16 *fp16 *fp32 *fp32 i32 fp32"
ROWS = [
    Text("softmax_512", rows.softmax, "*fp32 *fp32 i32 i32", {"B": 512}, num_warps=4),
    Text("softmax_2048", rows.softmax, "*fp32 *fp32 i32 i32", {"B": 2048}, num_warps=8),
    Text("softmax_2ctas", rows.softmax, "*fp32 *fp32 i32 i32", {"B": 1024}, num_warps=4,
         num_ctas=2),
    Text("norm", rows.norm, "*fp16 *fp16 *fp32 *fp32 *fp32 *fp32 i32 fp32", {"B": 256},
         num_warps=4),
    Text("norm_back", rows.norm_back, "*fp32 *fp32 *fp32 *fp32 *fp32 *fp32 *fp32 *fp32 *i32 i32",
         {"GROUPS": 3, "B": 512}, num_warps=8),
    Text("norm_sums", rows.norm_sums, "*fp32 *fp32 i32 i32", {"BM": 32, "BN": 128}, num_warps=4),
    Text("attention_64x64", rows.attention, OF_ATTENTION,
         {"D": 64, "BM": 64, "BN": 64, "CAUSAL": True}, num_warps=4, num_stages=3),
    Text("attention_128x64", rows.attention, OF_ATTENTION,
         {"D": 64, "BM": 128, "BN": 64, "CAUSAL": False}, num_warps=8, num_stages=2),
    Text("attention_16x16", rows.attention, OF_ATTENTION,
         {"D": 16, "BM": 16, "BN": 16, "CAUSAL": True}, num_warps=1, num_stages=2),
    Text("attention_sm80", rows.attention, OF_ATTENTION,
         {"D": 32, "BM": 64, "BN": 32, "CAUSAL": True}, num_warps=4, num_stages=3, target=80),
    Text("variance", rows.variance, "*fp32 *fp32 *fp32 i32", {"R": 8, "B": 128}, num_warps=4),
    Text("sum_split", rows.sum_split, "*fp32 *fp32 *i32 i32", {"B": 256}, num_warps=4),
]

LISTS = [
    Text("scans_16x64", lists.scans, "*fp32 *fp32 *fp32 *fp32 *fp32 *fp32", {"R": 16, "C": 64},
         num_warps=4),
    Text("scans_2x256", lists.scans, "*fp32 *fp32 *fp32 *fp32 *fp32 *fp32", {"R": 2, "C": 256},
         num_warps=8),
    Text("scan_chained", lists.scan_chained, "*i64 *i64 *i64 *i32 i32", {"B": 256}, num_warps=4),
    Text("sorts_u32", lists.sorts, "*u32 *u32 *u32 *u32", {"N": 128, "K": 8}, num_warps=4),
    Text("sorts_f16", lists.sorts, "*fp16 *fp16 *fp16 *fp16", {"N": 64, "K": 4}, num_warps=1),
    Text("counts_256", lists.counts, "*i32 *i32 *i32 *i32 i32", {"N": 256, "BINS": 16},
         num_warps=4),
    Text("counts_1024", lists.counts, "*i32 *i32 *i32 *i32 i32", {"N": 1024, "BINS": 128},
         num_warps=8),
    Text("reductions_16x64", lists.reductions, "*fp32 *fp32 *i32", {"R": 16, "C": 64},
         num_warps=4),
    Text("reductions_4x512", lists.reductions, "*fp32 *fp32 *i32", {"R": 4, "C": 512},
         num_warps=8),
    Text("atomics", lists.atomics, "*i32 *i32 i32", {"B": 256}, num_warps=4),
    Text("atomics_real", lists.atomics_real, "*fp32 *fp32 *fp16 *fp64 *bf16 i32", {"B": 256},
         num_warps=4),
    Text("shapes_32x64", lists.shapes, "*fp16 *fp16", {"R": 32, "C": 64}, num_warps=4),
    Text("shapes_16x16", lists.shapes, "*fp16 *fp16", {"R": 16, "C": 16}, num_warps=1),
]

ARITHMETIC = [
    Text("dropout", arithmetic.dropout, "*fp32 *fp32 i32 fp32 i32", {"B": 256}, num_warps=4),
    Text("randoms", arithmetic.randoms, "*u32 *fp32 i32 i32", {"B": 128}, num_warps=4),
    Text("functions", arithmetic.functions, "*fp32 *fp32", {"N": 256}, num_warps=4),
    Text("integers", arithmetic.integers, "*i32 *i32 *i32 *i64", {"N": 256}, num_warps=4),
    Text("casts", arithmetic.casts, "*fp32 *fp16 *bf16 *fp8e4nv *fp8e5 *i8 *i64", {"N": 256},
         num_warps=4),
    Text("assembly", arithmetic.assembly, "*i32 *i32 *i8", {"N": 256}, num_warps=2),
    Text("dependent", arithmetic.dependent, "*fp32 *fp32 i32", {"B": 128}, num_warps=4,
         launch_pdl=True),
    Text("prints", arithmetic.prints, "*i32", {"N": 32}, num_warps=1, debug=True),
]

TEXTS = MATMUL + TENSOR + ROWS + LISTS + ARITHMETIC


def launch_of(text, compiled, ptx):
    """Its line of texts.def."""
    threads = re.search(r"\.reqntid (\d+)", ptx).group(1)
    made = compiled.metadata
    return (f"LAUNCHED({text.name}, {made.name}, {text.target}, {threads}, {made.shared}, "
            f"{made.global_scratch_size}, {made.num_ctas})\n")


def made(texts):
    """Pairs of a file's path here and its content; the last is texts.def, if all are wanted."""
    lines = [f"/* Made by make.py of Triton {TRITON}.\n"
             " * LAUNCHED(name, entry, target, threads, shared bytes, scratch bytes of a CTA, CTAs of a"
             " cluster) */\n/* clang-format off */\n"]
    for text in texts:
        compiled = text.compile()
        ptx = tidy(compiled.asm["ptx"])
        lines.append(launch_of(text, compiled, ptx))
        yield os.path.join("ptx", text.name + ".ptx"), ptx
    if texts is TEXTS:
        yield "texts.def", "".join(lines)


def differs(path, content):
    if os.path.exists(path):
        with open(path, encoding="ascii") as file:
            return file.read() != content
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of texts; all, and texts.def")
    options = parser.parse_args()
    if triton.__version__ != TRITON:
        print(f"make.py: the texts are of Triton {TRITON}, and this is {triton.__version__}")
        if options.check:
            return SKIPPED
    texts = [text for text in TEXTS if text.name in options.names] if options.names else TEXTS
    differing = 0

    os.makedirs(os.path.join(HERE, "ptx"), exist_ok=True)
    for name, content in made(texts):
        path = os.path.join(HERE, name)
        if not options.check:
            with open(path, "w", encoding="ascii") as out:
                out.write(content)
        elif differs(path, content):
            print("differs: " + name)
            differing += 1
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
