#!/usr/bin/env python3
"""What the command prints, word for word: help, lists, plans, refusals.

Each row is a file in expected/ and the commands whose output it holds. LATHE_UPDATE_GOLDEN=1
rewrites the files; the change is then reviewed like code.
"""
import sys

import support

GEMM = "gemm m=4096 n=4096 k=4096 arch=sm_90a"
VERBS = ("list", "plan", "emit", "build", "run", "check", "diff", "bench", "plot", "emulate", "trace",
         "cache", "doctor", "help")

# The two atoms of the note on stage budgets.
NOTE = "gemm m=4096 n=4096 k=4096 out=f32 arch=sm_100a cluster=2x1x1"
ONE_SM = NOTE + " tile=128x128x64 cta_group=1"
TWO_SM = NOTE + " tile=256x128x64 cta_group=2"


def both(*commands):
    """Each command as text and with --json."""
    return [form for words in commands for form in (words, words + " --json")]


GOLDEN = {
    "help": ["--help", "help", "help --json", "--version", "--version --json"],
    **{f"help_{verb}": [f"{verb} --help"] for verb in VERBS},
    "usage": both("", "paln", "--jsn", "plan --json=1", "plan -o x " + GEMM, "help paln",
                  "list varaints", "list types plans", "doctor gpu", "doctor gpu=1", "emit -o"),
    "list": ["list", "list --json", "list families"],
    "plan": both(f"plan {GEMM}", f"plan {GEMM} type=bf16 out=f32 beta=any",
                 f"plan {GEMM} tile=128x128x64 stages=3 cluster=1x1x1",
                 "plan gemm m=64 n=4096 k=14336 arch=sm_90a static=k"),
    "default_arch": ["plan gemm m=4096 n=4096 k=4096"],
    "explain": both(f"plan {ONE_SM} --explain", f"plan {ONE_SM} stages=7 --explain",
                    f"plan {TWO_SM} stages=9 --explain", f"plan {GEMM} --explain",
                    "plan gemm m=4096 n=4096 k=4096 arch=sm_100a variant=blackwell-4 --explain",
                    f"plan {GEMM} tile=100x64x64 --explain"),
    "explain_picture": [f"plan {ONE_SM} --explain -o -",
                        f"plan {GEMM} tile=128x256x64 stages=9 --explain -o -"],
    "diff": [f"diff {GEMM} stages=3,4", f"diff {GEMM} static=none,m,n,k",
             "diff gemm m=4096 n=4096 k=4096 arch=sm_100a variant=blackwell-7,blackwell-8",
             f"diff {GEMM} tile=64x16x64,64x24x64 --json",
             f"diff {GEMM} arch=sm_90a,sm_100a",
             "diff gemm m=4096 n=4096 k=4096 arch=sm_100a stages=3,4"],
    "diff_annotate": [f"diff {GEMM} tile=64x16x64 stages=2,3 annotate=0"],
    "refuse_diff": both(f"diff {GEMM}", f"diff {GEMM} stages=3,x",
                        f"diff {GEMM} stages=2,3 beta=0,any", f"diff {GEMM} static=m,n,k",
                        f"diff {GEMM} static=m,n,k stages=3,x",
                        f"diff {GEMM} stages=3,4 stages=2", f"diff {GEMM} stages=2,3 stages=3,4",
                        f"diff {GEMM} tile=128x256x64 stages=3,9",
                        f"diff {GEMM} type=tf32 arch=sm_90a,sm_100a", "diff"),
    "refuse_explain": both(f"emit {GEMM} --explain", f"plan {GEMM} --explain=1",
                           f"plan {GEMM} -o budget.svg"),
    "last_word_holds": [f"plan {GEMM} stages=2 stages=3", f"plan -- {GEMM} stages=3"],
    "refuse_key": both(f"plan {GEMM} staegs=4", f"plan {GEMM} seed=4", f"run {GEMM} sede=4",
                       f"plan {GEMM} =4", f"plan {GEMM} 4", "plan m=1 n=1 k=1", "plan gem",
                       "cache prune limt=4"),
    "refuse_variant": both(f"plan {GEMM} variant=hoper-best", f"plan {GEMM} variant=",
                           f"plan {GEMM} arch=sm_100a variant=hopper-best"),
    "refuse_emit": both("emit gemm m=4096 n=4096 k=4096 arch=sm_80"),
    "refuse_arch": both(f"plan {GEMM} arch=sm_90", f"plan {GEMM} arch=gpu",
                        f"plan {GEMM} arch=sm_80"),
    "refuse_type": both(f"plan {GEMM} type=fp16", f"plan {GEMM} type=", f"plan {GEMM} out=f61",
                        f"plan {GEMM} type=int8", f"plan {GEMM} layout=nm", f"plan {GEMM} beta=1"),
    "refuse_size": both("plan", "plan gemm", "plan gemm m=1 n=1", "plan gemm m=-1 n=1 k=1",
                        "plan gemm m=99999999999999999999 n=1 k=1",
                        "plan gemm m=2147483648 n=1 k=1", "plan gemm m=ten n=1 k=1",
                        "plan gemm m=1e3 n=1 k=1", "plan gemm m= n=1 k=1",
                        "plan gemm m=0x10 n=1 k=1", "plan gemm m=1.5 n=1 k=1"),
    "refuse_stride": both(f"plan {GEMM} lda=100", f"plan {GEMM} lda=4097",
                          "plan gemm m=16 n=16 k=9 arch=sm_90a"),
    "refuse_fit": both(f"plan {GEMM} tile=128x256x64 stages=9", f"plan {GEMM} stages=64",
                       f"plan {GEMM} tile=256x256x64", f"plan {GEMM} tile=128x256",
                       f"plan {GEMM} tile=128x256x64 epilogue=128x64x8", f"plan {GEMM} tile=0x0x0",
                       f"emit {GEMM} stages=9 tile=128x256x64"),
    "refuse_value": both(f"run {GEMM} seed=-1", f"run {GEMM} seed=x", f"run {GEMM} repeats=0",
                         f"run {GEMM} data=integer", f"run {GEMM} device=gpu:",
                         f"run {GEMM} device=gpu:99999", f"run {GEMM} device=gpus",
                         f"bench {GEMM} vs=cublas", f"bench {GEMM} pairs=99999999999999999999",
                         "cache prune limit=1T", "cache prune limit=9999999999G"),
    "refuse_emulator": both(f"run {GEMM} device=emulator", f"bench {GEMM} device=emulator",
                            f"check {GEMM}", "emulate /dev/null"),
    "refuse_check": both("check", f"check {GEMM} sedes=4", f"check {GEMM} seeds=0",
                         f"check {GEMM} all=2", f"check {GEMM} device=gpu"),
    "refuse_plot": both("plot", "plot nothing.jsonl", "plot /dev/null", "plot a b",
                        "plot /dev/null chart=ladder", "plot /dev/null chart=pie"),
    "refuse_cache": both("cache", "cache lsit", "cache show", "cache show 0 ptx",
                         "cache show 0 text x", "cache list limit=3", "cache clear now", "cache show zz"),
    "refuse_output": both(f"emit {GEMM} -o /nonexistent/kernel.ptx", f"emit {GEMM} -o .",
                          f"emit {GEMM} -o /dev/full"),
}

SAXPY = "emulate examples/saxpy.ptx grid=2 block=32 arg=u32:50 arg=f32:0.5"
TILE = "emulate examples/tile.ptx block=128 buffer=768:iota-f32 arg=map:0:f32:20x8:96:16x8:none"

SMALL = "gemm m=256 n=256 k=512 arch=sm_90a cluster=1x1x1"

# On the emulator, and with examples/.
EMULATED = {
    "emulate": [*both(f"{SAXPY} arg=buf:200:iota-f32 arg=buf:200 print=1:f32:6",
                      f"{TILE} arg=s32:8 arg=u32:512 arg=buf:512 print=1:f32:32",
                      f"{SAXPY} arg=buf:200:iota-f32 arg=buf:200 out=1:y seed=7 exact=1",
                      f"{SAXPY[:-3]}{40 * '0'}.5 arg=buf:200:iota-f32 arg=buf:200 expect=1:y seed=8",
                      f"{SAXPY} arg=buf:200:y arg=ptr:0 expect=0:y")],
    "emulate_faults": both(f"{TILE} arg=s32:8 arg=u32:528 arg=buf:512",
                           f"{TILE} arg=s32:8 arg=u32:512 arg=buf:508",
                           "emulate /dev/null",
                           f"{TILE} arg=s32:8 arg=u32:512 arg=buf:512 arch=sm_80"),
    "check": both("check gemm m=64 n=64 k=64 seeds=2",
                  "check gemm m=100 n=72 k=200 type=bf16 out=f32 beta=any data=integers guard=1 "
                  "seeds=1 seed=7 all=1",
                  f"check {GEMM}", f"check {GEMM} tile=128x256x64 stages=9"),
    # Bytes that never come; a write behind the buffer; no launch; none of it.
    "emulate_check": both(
        f"{TILE} arg=s32:8 arg=u32:528 arg=buf:512 print=1:f32:8 check=1 seeds=3",
        f"{TILE} arg=s32:8 arg=u32:512 arg=buf:508 check=all seeds=2",
        f"{TILE} arg=s32:8 arg=u32:512 arg=buf:512 smem=512K check=1",
        f"{TILE} arg=s32:8 arg=u32:512 arg=buf:512 print=1:f32:8 check=1 seeds=4",
        f"{TILE} arg=s32:8 arg=u32:512 arg=buf:512 seeds=2"),
    "trace": [*both(f"trace {SMALL} tile=128x128x64 stages=2", f"trace {SMALL} stages=4 first=1"),
              "trace gemm m=64 n=16 k=64 arch=sm_90a tile=64x8x64 stages=2 cluster=2x1x1 -o -",
              f"{TILE} arg=s32:8 arg=u32:512 arg=buf:512 trace=tile.json"],
    # Both at once: nothing is found; a finding ends the launch; more schedules than one.
    "trace_check": both(f"{TILE} arg=s32:8 arg=u32:512 arg=buf:512 trace=tile.json check=all",
                        f"{TILE} arg=s32:8 arg=u32:512 arg=buf:508 trace=tile.json check=1",
                        f"{TILE} arg=s32:8 arg=u32:512 arg=buf:512 trace=tile.json check=1 "
                        "seeds=2"),
    "refuse_trace": both("trace", f"trace {SMALL} first=-1", f"trace {SMALL} warps=none",
                         f"trace {SMALL} clusters=0", f"trace {SMALL} seed=1",
                         f"trace {SMALL} tile=100x64x64", f"trace {SMALL} -o -",
                         f"trace {SMALL} -o /nonexistent/trace.json"),
    "refuse_emulate": both("emulate", "emulate a b", "emulate nothing.ptx", "emulate k.ptx gird=1",
                           "emulate k.ptx grid=0", "emulate k.ptx block=1x2x3x4",
                           "emulate k.ptx cluster=x",
                           "emulate k.ptx block=33x32", "emulate k.ptx cluster=3", "emulate k.ptx exact=2",
                           "emulate k.ptx smem=2M", "emulate k.ptx arg=7", "emulate k.ptx arg=u8:256",
                           "emulate k.ptx arg=s8:-129", "emulate k.ptx arg=f32:x",
                           "emulate k.ptx arg=i32:1", "emulate k.ptx arg=buf:0",
                           "emulate k.ptx arg=u32:1,,2", "emulate k.ptx arg=f32:" + 50 * "0" + "x", "emulate k.ptx arg=u32:1,2,",
                           f"{SAXPY},1 arg=buf:8 arg=ptr:0",
                           "emulate k.ptx arg=buf:4:nothing", "emulate k.ptx arg=map:0:f32:8",
                           "emulate k.ptx arg=buf:4 print=1:f32", "emulate k.ptx print=f32",
                           "emulate k.ptx arg=buf:4 print=0:f33",
                           "emulate k.ptx arg=buf:4 print=0:f32:2",
                           "emulate k.ptx arg=buf:4 out=0:",
                           "emulate k.ptx buffer=4 expect=0:/dev/null",
                           SAXPY, f"{SAXPY} arg=buf:4 arg=u32:1", f"{SAXPY} arg=ptr:0 arg=ptr:0",
                           f"{SAXPY} arg=buf:8 arg=ptr:0:9", f"{SAXPY} entry=saxpi",
                           f"{SAXPY} arch=sm_90",
                           "emulate examples/tile.ptx arg=map:0:f32:20x8:90:16x8:none arg=s32:8 "
                           "arg=u32:512 arg=buf:512"),
}


def check_emulated(bench, name, commands):
    bench.use_emulator()
    support.check_golden(bench, name, commands)


TESTS = [(f"{name} is as expected",
          lambda bench, name=name, commands=commands: support.check_golden(bench, name, commands))
         for name, commands in GOLDEN.items()]
TESTS += [(f"{name} is as expected",
           lambda bench, name=name, commands=commands: check_emulated(bench, name, commands))
          for name, commands in EMULATED.items()]

if __name__ == "__main__":
    sys.exit(support.main(TESTS))
