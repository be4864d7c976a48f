#!/usr/bin/env python3
"""What the command promises whatever its words are: exit codes, JSON, failing output,
examples that run, and a machine without a GPU or without nvJitLink."""
import json
import os
import pty
import re
import subprocess
import sys

import support
from support import equal, one_line

GEMM = "gemm m=4096 n=4096 k=4096 arch=sm_90a"
REFUSED = f"plan {GEMM} stages=64 tile=128x256x64"
MISTYPED = f"plan {GEMM} staegs=4"
PRINTING = ("--help", "--version", "help plan", "list", "list --json", "list plans",
            f"plan {GEMM}", f"plan {GEMM} --json", f"emit {GEMM}", f"emit {GEMM} --json",
            f"emit {GEMM} -o -", "doctor", "doctor --json", "cache path", "cache list --json")


# ---- Refusals ----

def every_refusal_is_one_object_and_one_line(bench):
    for words, code, name in ((REFUSED, 1, "does-not-fit"), (MISTYPED, 2, "bad-word"),
                              (f"plan {GEMM} m=-1", 2, "out-of-range"),
                              (f"plan {GEMM} arch=sm_80", 1, "unsupported"),
                              (f"run {GEMM}", 1, "no-driver"), (f"bench {GEMM}", 1, "no-driver"),
                              (f"emit {GEMM} -o /nonexistent/x", 1, "io-failed")):
        text, as_json = bench.run(words), bench.run(words + " --json")
        equal((text.code, as_json.code), (code, code), words)
        equal(text.out, b"", words)
        equal(list(as_json.json), ["error"], words)
        equal(as_json.json["error"]["code"], name, words)
        one_line(as_json, words)
        equal(as_json.err, f"lathe: {as_json.json['error']['message']}\n", words)
        equal(text.err.splitlines()[0] + "\n", as_json.err, words)


def what_does_not_fit_says_what_would(bench):
    for tail in ("stages=64 tile=128x256x64", "tile=256x256x64", "stages=9", "arch=sm_80",
                 "tile=128x256x64 stages=9 beta=any out=f32", "lda=4097"):
        words = f"plan {GEMM} {tail}"
        result = bench.run(words + " --json")
        if result.code == 0:
            continue
        error = result.json["error"]
        doors = error["fits_with"]
        assert doors, f"{words}: nothing would fit"
        if error["code"] == "does-not-fit":
            assert error["needs_bytes"] > error["limit_bytes"] > 0, words
        for door in doors:
            equal(bench.run(words.split() + door).code, 0, f"{words} {door}")
        text = " | ".join(" ".join(door) for door in doors)
        equal(bench.run(words).err.splitlines()[1], f"  would fit: {text}", words)


def doors_of_a_comparison_open_both_sides(bench):
    """Appended to the same command, as those of a plan: none sets the key that has two values."""
    problem = "gemm m=4096 n=4096 k=4096"
    offered = 0
    for words in ("arch=sm_90a stages=4,9", "arch=sm_90a stages=9,4", "arch=sm_90a stages=9,10",
                  "type=tf32 arch=sm_90a,sm_100a", "arch=sm_90a tile=128x256x64 stages=3,9",
                  "arch=sm_100a stages=9 cta_group=1,2", "arch=sm_90a stages=7 out=f16,f32",
                  "arch=sm_90a tile=128x256x64,128x256x128 stages=3", "arch=sm_90a k=4096,4097",
                  "arch=sm_90a cluster=2x1x1,3x5x1"):
        key = next(word for word in words.split() if "," in word).split("=")[0]
        result = bench.run(f"diff {problem} {words} --json")
        for door in result.json.get("error", {}).get("fits_with", []):
            assert not any(word.startswith(key + "=") for word in door), f"{words}: {door}"
            equal(bench.run(f"diff {problem} {words}".split() + door).code, 0, f"{words}: {door}")
            offered += 1
    assert offered >= 10, offered


def words_of_any_bytes_are_refused_in_one_line(bench):
    for word in (b"m=\xff\xfe", b"m=1\n2", b"\x1b[31m=1", b"k=" + 5000 * b"9", 5000 * b"x",
                 "m=\u00e9".encode()):
        words = ["plan", "gemm", "m=1", "n=1", "k=1", word]
        result = bench.run(words)
        equal(result.code, 2, repr(word[:20]))
        one_line(result, repr(word[:20]))
        assert "\x1b" not in result.err, repr(word[:20])
        equal(bench.run(words + ["--json"]).json["error"]["code"] in ("bad-word", "out-of-range"),
              True, repr(word[:20]))


def json_is_understood_wherever_it_stands(bench):
    for words in (f"--json plan {GEMM}", f"plan --json {GEMM}", f"plan {GEMM} --json"):
        equal(bench.run(words).json["family"], "gemm", words)
    equal(bench.run("plan --unknown --json").json["error"]["code"], "bad-word", "behind a mistake")


# ---- Machines that lack something ----

def without_a_gpu_run_says_so(bench):
    result = bench.run(f"run {GEMM}")
    equal(result.code, 1, "exit code")
    one_line(result, "run")


def without_a_gpu_the_emulator_runs(bench):
    """By itself or when it is named, and it says so; gpu alone means a GPU."""
    emulator = {"LATHE_EMU_LIBRARY": support.emulator()}
    for words in ("run gemm m=70 n=72 k=40 data=integers", "run gemm m=1 n=8 k=0 beta=any guard=1",
                  "run gemm m=129 n=80 k=136 type=bf16 out=f32 device=emulator guard=1"):
        result = bench.run(words + " --json", **emulator)
        equal((result.code, result.err), (0, ""), words)
        equal((result.json["ok"], result.json["cache"], result.json["time_us"]),
              (True, "off", None), words)
        assert "emulator" in result.json["device"], words
        plain = bench.run(words, **emulator)
        equal((plain.code, plain.err), (0, ""), words)
        assert "on the CPU: the emulator cannot time a GPU" in plain.out.decode(), words
    result = bench.run("run gemm m=70 n=72 k=40 device=gpu --json", **emulator)
    equal((result.code, result.json["error"]["code"]), (1, "no-driver"), "device=gpu")
    result = bench.run(f"run {GEMM} --json", **emulator)
    equal((result.code, result.json["error"]["code"]), (1, "unsupported"), "too much work")
    equal(bench.files(), [], "files left")


# ---- The sanitizer ----

SMALL = "gemm m=128 n=64 k=64 arch=sm_90a tile=64x64x64 stages=2 cluster=1x1x1"
LAUNCH = ("grid=2 block=256 smem=50176 buffer=16K:random-f16 buffer=8K:random-f16 buffer=16K "
          "arg=map:0:f16:64x128:-:64x64:128 arg=map:1:f16:64x64:-:64x64:128 "
          "arg=map:2:f16:64x128:-:64x64:128 arg=u32:128 arg=u32:64 arg=u32:64 "
          "arg=u32:2,2,1,1,1,0,1,0,1,0 arg=f32:1 arg=ptr:2 arg=u64:64 seed=1")
FENCE = "fence.proxy.async.shared::cta;"


def emulate_finds_what_was_deleted_from_a_kernel(bench):
    """Though the answer is what it was."""
    bench.use_emulator()
    text = bench.run(f"emit {SMALL}").text
    assert FENCE in text
    for name, words in (("right.ptx", text), ("wrong.ptx", text.replace(FENCE, ""))):
        with open(bench.path(name), "w", encoding="ascii") as file:
            file.write(words)
    equal(bench.run(f"emulate right.ptx {LAUNCH} out=2:d check=all seeds=3").code, 0, "right")
    result = bench.run(f"emulate wrong.ptx {LAUNCH} expect=2:d check=0")
    equal(result.code, 0, "unchecked")
    result = bench.run(f"emulate wrong.ptx {LAUNCH} expect=2:d check=all seeds=3")
    equal((result.code, result.err), (1, ""), "wrong")
    assert "\nbuffer 2  is d\n" in result.text, result.text
    assert re.search(r"\nmissing-proxy-fence: lathe_gemm\S+: CTA \(0,0,0\) warp 4", result.text)
    assert re.search(r"\n  seed 1, in 3 of 3 schedules, seen \d+ times\n", result.text)
    assert re.search(r"\n\d findings\n$", result.text), result.text
    answer = bench.run(f"emulate wrong.ptx {LAUNCH} expect=2:d check=1 seeds=3 --json").json
    equal((answer["ok"], answer["runs"], answer["completed"], answer["results"]),
          (False, 1, 0, []), "the first ends it")
    finding = answer["findings"][0]
    equal((finding["code"], finding["warning"], finding["seed"], finding["role"]),
          ("missing-proxy-fence", False, 1, "consumer"), "the finding")
    lines = text.replace(FENCE, "").splitlines()
    assert "cp.async.bulk.tensor" in lines[finding["line"] - 1], finding
    assert "stmatrix" in lines[finding["other"]["line"] - 1], finding


def check_finds_what_is_planted(bench):
    """A kernel that lacks its fence, one that sums half of k: exit code 1, and what it is."""
    driver, _, _ = support.stubs()
    planting = os.path.join(os.path.dirname(driver), "libcuda_planting.so")
    for plant, code, words in (
            (FENCE + "|", "missing-proxy-fence", "consumer"),
            ("shr.u32 %k_blocks, %k_blocks, 6;|shr.u32 %k_blocks, %k_blocks, 7;",
             "wrong-answer", None)):
        env = {"LATHE_EMU_LIBRARY": planting, "EMU_PLANT": plant}
        command = f"check {SMALL} k=256 seed=3"
        result = bench.run(command, **env)
        equal((result.code, result.err), (1, ""), plant)
        assert "\nschedules  1 of 20, seed 3\n" in result.text, result.text
        assert f"\n{code}: lathe_gemm_f16_f16_64x64x64_s2_c1x1: " in result.text, result.text
        result = bench.run(command + " all=1 seeds=2 --json", **env)
        equal((result.code, result.err, result.json["ok"], result.json["runs"]),
              (1, "", False, 2), plant)
        for finding in result.json["findings"]:
            equal((finding["code"], finding["seed"], finding["schedules"], finding["role"]),
                  (code, 3, 2, words), plant)


def check_finds_nothing_where_threads_copy_narrow_tiles(bench):
    """Rows of B that are no multiple of those that 128 threads copy at a time."""
    bench.use_emulator()
    for columns in (8, 24, 56):
        words = (f"check gemm m=64 n={columns} k=96 arch=sm_100a variant=blackwell-2 "
                 f"tile=64x{columns}x64 seeds=2")
        result = bench.run(words)
        equal((result.code, result.err), (0, ""), f"{words}: {result.text}")


PRINTS = """.version 8.0
.target sm_90a
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[4] = {104, 105, 10, 0};
.visible .entry prints() {
    .reg .b64 %f;
    mov.u64 %f, text;
    cvta.global.u64 %f, %f;
    {
        .param .b64 x; .param .b64 y; .param .b32 r;
        st.param.b64 [x], %f;
        st.param.b64 [y], 0;
        call.uni (r), vprintf, (x, y);
    }
    ret;
}
.visible .entry other() { ret; }
.visible .entry endless() { again: bra again; }
"""


TRACED = "trace gemm m=512 n=256 k=512 arch=sm_90a tile=128x256x64 stages=3 cluster=2x1x1"


def the_emulators_device_follows_the_words(bench):
    """Of arch=; else of a variant that is for another than the usual; else the usual, or any."""
    bench.use_emulator()
    for words, devices, arch in (
            ("", None, "sm_100a"), ("arch=sm_103a", None, "sm_103a"),
            ("variant=hopper-v2", None, "sm_90a"), ("variant=blackwell-7", None, "sm_100a"),
            ("variant=custom(from hopper-v2)", None, "sm_90a"),
            ("", "sm_90a", "sm_90a"), ("variant=blackwell-7", "sm_80,sm_103a", "sm_103a")):
        env = {"LATHE_EMU_ARCH": devices} if devices else {}
        for verb in ("run", "check", "trace"):
            command = [verb, "gemm", "m=64", "n=64", "k=64", "--json"]
            command += [words] if words else []
            command += ["seeds=1"] if verb == "check" else []
            if verb == "trace" and devices:
                continue
            result = bench.run(command, **env)
            equal(result.code, 0, f"{command} {devices}: {result.err}")
            equal(result.json["arch"], arch, f"{command} {devices}")


def an_environment_that_makes_no_sense_is_told_of(bench):
    """Where there is no GPU, that the emulator has no device is the nearer reason."""
    bench.use_emulator()
    for words, env, code, reason in (
            ("", {"LATHE_EMU_ARCH": "sm_50"}, 2, "LATHE_EMU_ARCH: sm_50 is no architecture"),
            ("", {"LATHE_EMU_ARCH": ","}, 2, "LATHE_EMU_ARCH: no architecture is named"),
            ("", {"LATHE_EMU_SMS": "many"}, 2, "LATHE_EMU_SMS: many is no number"),
            ("arch=sm_90a", {"LATHE_EMU_ARCH": "sm_100a"}, 1, "has no device of sm_90a"),
            ("", {"LATHE_EMU_LIBRARY": "/nowhere"}, 1, "no emulator: /nowhere: cannot")):
        for device in ("auto", "emulator"):
            result = bench.run(f"run gemm m=64 n=64 k=64 device={device} {words}", **env)
            equal(result.code, code, f"{env} {device}: {result.err}")
            assert reason in result.err, f"{env} {device}: {result.err}"


def beside_a_gpu_the_emulator_takes_its_architecture(bench):
    """What emit writes there, check and trace take: the stubs' GPU is of sm_90a."""
    bench.use_emulator()
    bench.use_stubs()
    equal(bench.run("emit gemm m=64 n=64 k=64 -o k.ptx").code, 0, "emit")
    for words in ("check gemm m=64 n=64 k=64 seeds=1 text=k.ptx", "trace gemm m=64 n=64 k=64",
                  "run gemm m=64 n=64 k=64 device=emulator"):
        result = bench.run(words + " --json")
        equal((result.code, result.json.get("arch")), (0, "sm_90a"), f"{words}: {result.err}")


def lanes_without_a_row_store_nothing(bench):
    """64 rows in 16 lanes of every 32, and a D whose rows end within 16 bytes."""
    bench.use_emulator()
    for words in ("tile=64x96x64 cta_group=1", "tile=128x96x64 cluster=2x1x1 cta_group=2"):
        result = bench.run(f"check gemm m=130 n=77 k=64 ldd=80 arch=sm_100a guard=1 seeds=2 {words}")
        equal((result.code, result.err), (0, ""), f"{words}: {result.text}")


def a_timeline_has_tracks_whose_spans_do_not_overlap(bench):
    bench.use_emulator()
    for words, tracks, ctas in (("", 3, 2), (" warps=all clusters=2", 12, 4)):
        answer = bench.run(TRACED + words + " -o trace.json --json").json
        assert 0 < answer["tensor_share"] <= 1, answer["tensor_share"]
        with open(os.path.join(bench.work, "trace.json"), encoding="ascii") as file:
            events = json.load(file)["traceEvents"]
        names, spans = {}, {}
        for event in events:
            track = event["pid"], event["tid"]
            if event["ph"] == "M":
                names.setdefault(track, event["args"].get("name"))
                continue
            assert track in names, f"a track without a name: {event}"
            assert 0 <= event["ts"] <= event["ts"] + event.get("dur", 0) <= answer["cycles"], event
            if event["ph"] == "X":
                spans.setdefault(track, []).append((event["ts"], event["ts"] + event["dur"]))
            else:
                equal(event["ph"], "i", str(event))
        for track, list_ in spans.items():
            list_.sort()
            for (_, end), (begin, _) in zip(list_, list_[1:]):
                assert end <= begin, f"{names[track]}: a span from {begin} on, one to {end}"
        equal(len([name for name in names.values() if " (warp " in name]), tracks * ctas, words)
        equal(len([name for name in names.values() if name.startswith("CTA ")]), ctas, words)
        products = sum(end - begin for track, list_ in spans.items()
                       if names[track] == "tensor cores" for begin, end in list_)
        equal(products, ctas * 2 * 8 * 4 * 128, "cycles of the shown tensor cores")


def a_trace_is_the_same_every_time(bench):
    bench.use_emulator()
    first, again = [bench.run(TRACED + " -o -", LATHE_EMU_THREADS=threads) for threads in "14"]
    equal(first.code, 0, first.err)
    equal(first.out, again.out, "the timeline")


def what_a_kernel_prints_is_no_part_of_the_object(bench):
    bench.use_emulator()
    with open(bench.path("k.ptx"), "w", encoding="ascii") as file:
        file.write(PRINTS)
    result = bench.run("emulate k.ptx entry=prints block=2")
    equal((result.code, result.text.split("device")[0], result.err), (0, "hi\nhi\n", ""), "text")
    result = bench.run("emulate k.ptx entry=prints block=2 --json")
    equal((result.code, result.json["entry"], result.err), (0, "prints", "hi\nhi\n"), "--json")
    result = bench.run("emulate k.ptx --json")
    equal((result.code, result.json["error"]["code"]), (2, "bad-word"), "no entry named")
    assert "prints other endless" in result.json["error"]["message"], result.err
    equal(bench.run("emulate k.ptx entry=other cluster=2 grid=2").code, 0, "a cluster")
    result = bench.run("emulate k.ptx entry=endless steps=1000")
    equal(result.code, 1, "without an end")
    assert "endless: not over after" in result.err, result.err


def elements_are_read_and_shown_as_they_are(bench):
    """Through a kernel that does nothing: what is put into a buffer is what is printed."""
    bench.use_emulator()
    with open(bench.path("k.ptx"), "w", encoding="ascii") as file:
        file.write(PRINTS)
    for type_, data, shown in (
            ("f16", "003c007c00fc0080ff7b0100", ["1", "inf", "-inf", "-0", "65504", "5.9605e-08"]),
            ("bf16", "803fc07f0100", ["1", "nan", "9.1835e-41"]),
            ("f32", "0000803fcdcccc3d", ["1", "0.100000001"]), ("f64", "9a9999999999b93f", ["0.10000000000000001"]),
            ("s8", "ff7f80", ["-1", "127", "-128"]), ("u64", "f" * 16, [str(2**64 - 1)]),
            ("s64", "f" * 16, ["-1"]), ("u16", "0180", ["32769"])):
        with open(bench.path("data"), "wb") as file:
            file.write(bytes.fromhex(data))
        result = bench.run(f"emulate k.ptx entry=other buffer={len(data) // 2}:data print=0:{type_}")
        equal((result.code, result.text.split("buffer 0")[1].split()), (0, shown), type_)
    for type_, shown in (("f16", ["0", "1", "2"]), ("bf16", ["0", "1", "2"]), ("u8", ["0", "1", "2"])):
        result = bench.run(f"emulate k.ptx entry=other buffer=12:iota-{type_} print=0:{type_}:3")
        equal(result.text.split("buffer 0")[1].split(), shown, type_)
    drawn = bench.run("emulate k.ptx entry=other buffer=4K:random-f16 print=0:f16 --json").json
    values = drawn["results"][0]["elements"]
    assert len(set(values)) == 33 and all(abs(v) <= 2 and v * 8 % 1 == 0 for v in values), values


def drivers_that_cannot_do_it_are_named(bench):
    """On the stub drivers: exit code 1, what the driver lacks, and never an answer."""
    driver, old_driver, _ = support.stubs()
    for code, words, env in (
            ("no-driver", "CUDA 12.0 or newer", {"LATHE_CUDA_LIBRARY": old_driver}),
            ("no-device", "no GPU", {"LATHE_CUDA_LIBRARY": driver, "STUB_DEVICES": "0"}),
            ("no-device", "sm_89",
             {"LATHE_CUDA_LIBRARY": driver, "STUB_CAPABILITY": "8.9"}),
            ("no-device", "compute capability 7.5",
             {"LATHE_CUDA_LIBRARY": driver, "STUB_CAPABILITY": "7.5"}),
            ("out-of-memory", "bytes",
             {"LATHE_CUDA_LIBRARY": driver, "STUB_FAIL": "cuMemAlloc_v2=2"})):
        result = bench.run("run gemm m=64 n=64 k=64 --json", **env)
        equal((result.code, result.json["error"]["code"]), (1, code), env)
        assert words in result.json["error"]["message"], result.err
        one_line(result, env)


def planning_does_without_a_gpu_that_can_do_it(bench):
    """No GPU, one without kernels, one that fails: the plan is for the usual one, and complete."""
    driver, _, _ = support.stubs()
    usual = bench.run("plan gemm m=64 n=64 k=64").out
    for env in ({"STUB_DEVICES": "0"}, {"STUB_CAPABILITY": "8.9"}, {"STUB_CAPABILITY": "7.5"},
                {"STUB_FAIL": "cuInit=999"}, {"STUB_FAIL": "cuDeviceGetAttribute=2"}):
        env["LATHE_CUDA_LIBRARY"] = driver
        result = bench.run("plan gemm m=64 n=64 k=64", **env)
        equal((result.code, result.out, result.err), (0, usual, ""), env)


def planning_makes_no_cuda_context(bench):
    driver, _, _ = support.stubs()
    env = {"LATHE_CUDA_LIBRARY": driver, "STUB_FAIL": "cuDevicePrimaryCtxRetain=2"}
    for words in ("plan gemm m=64 n=64 k=64", "emit gemm m=64 n=64 k=64", "doctor"):
        result = bench.run(words, **env)
        equal((result.code, result.err), (0, ""), words)
    assert b"GPU 0      found" in result.out, result.out


def without_nvjitlink_build_says_so(bench):
    env = {"LATHE_NVJITLINK_LIBRARY": support.NO_SUCH_LIBRARY}
    result = bench.run(f"build {GEMM} -o kernel.cubin --json", **env)
    equal(result.code, 1, "exit code")
    equal(result.json["error"]["code"], "no-library", "code")
    one_line(result, "build")
    equal(bench.files(), [], "files left")


def planning_and_emitting_need_neither(bench):
    env = {"LATHE_NVJITLINK_LIBRARY": support.NO_SUCH_LIBRARY}
    for words in ("plan gemm m=64 n=64 k=64", "emit gemm m=64 n=64 k=64", f"plan {GEMM}"):
        result = bench.run(words, **env)
        equal((result.code, result.err), (0, ""), words)


def doctor_reports_what_is_missing(bench):
    result = bench.run("doctor --json", LATHE_NVJITLINK_LIBRARY=support.NO_SUCH_LIBRARY)
    equal(result.code, 0, "exit code")
    equal(result.json["ok"], False, "ok")
    found = {finding["what"]: finding for finding in result.json["findings"]}
    for what in ("driver", "nvJitLink"):
        assert found[what]["found"] != "found", what
        assert found[what]["advice"], what
    lines = bench.run("doctor", LATHE_NVJITLINK_LIBRARY=support.NO_SUCH_LIBRARY).text.splitlines()
    equal(len(lines), len(found) + 1, "lines")
    assert lines[0].endswith(", git " + result.json["git"]), lines[0]


def the_commit_is_told(bench):
    git = bench.run("--version --json").json["git"]
    assert re.fullmatch(r"unknown|[0-9a-f]{7,40}(-dirty)?", git), git
    for words in (f"emit {GEMM}", f"emit {GEMM} --json"):
        assert git == "unknown" or git.split("-")[0] not in bench.run(words).text, words


# ---- Results ----

def emit_gives_the_same_bytes_everywhere(bench):
    text = bench.run(f"emit {GEMM}").out
    equal(bench.run(f"emit {GEMM} -o kernel.ptx").out, b"", "standard output with -o")
    with open(bench.path("kernel.ptx"), "rb") as file:
        equal(file.read(), text, "the file")
    as_json = bench.run(f"emit {GEMM} --json").json
    equal(as_json["text"].encode(), text, "the text in JSON")
    equal(as_json["bytes"], len(text), "bytes")
    equal(bench.run(f"emit {GEMM} -o -").out, text, "-o -")
    text.decode("ascii")


def emit_describes_the_kernel(bench):
    answer = bench.run(f"emit {GEMM} -o kernel.ptx --json").json
    equal(answer["output"], "kernel.ptx", "output")
    assert "text" not in answer
    assert answer["emit_us"] > 0
    equal(answer["plan"], bench.run(f"plan {GEMM} --json").json, "plan")
    kernel = answer["kernel"]
    with open(bench.path("kernel.ptx"), encoding="ascii") as file:
        assert f".entry {kernel['name']}" in file.read()
    for key in ("block", "cluster", "smem", "params", "tensor_maps", "registers", "spills",
                "warnings"):
        assert key in kernel, key


def plan_holds_what_is_promised(bench):
    plan = bench.run(f"plan {GEMM} --json").json
    for key in ("family arch variant tile cta_tile cluster_tile cluster cta_group stages consumers "
                "threads smem tmem_columns registers predicted_us reason").split():
        assert key in plan, key
    tenants = plan["smem"]["tenants"]
    equal(sum(tenant["bytes"] for tenant in tenants), plan["smem"]["bytes"], "sum of the tenants")
    assert plan["smem"]["bytes"] <= plan["smem"]["limit"]


def explain_answers_beside_its_picture(bench):
    """With --json the same object, whether the plan fits or not, and the file's name in it."""
    for tail, code in (("", 0), (" tile=128x256x64 stages=9", 1)):
        words = f"plan {GEMM}{tail} --explain"
        alone = bench.run(words + " --json")
        both = bench.run(words + " --json -o budget.svg")
        equal((alone.code, both.code), (code, code), words)
        equal(both.json, {**alone.json, "output": "budget.svg"}, words)
        equal(both.err, alone.err, words)
        with open(bench.path("budget.svg"), "rb") as file:
            equal(file.read(), bench.run(words + " -o -").out, words)
        result = bench.run(words + " --json -o /nonexistent/budget.svg")
        equal((result.code, list(result.json)), (1, ["error"]), "a file that cannot be")
        equal(result.json["error"]["code"], "io-failed", "a file that cannot be")


def every_listed_plan_can_be_planned(bench):
    plans = bench.run("list plans")
    assert re.fullmatch(r"lathe: \d+ plans.*\n", plans.err), plans.err
    lines = plans.text.splitlines()
    equal(bench.run("list plans --json").json["plans"], lines, "JSON")
    assert len(lines) >= 10
    for line in lines:
        equal(bench.run(f"plan gemm m=4096 n=4096 k=4096 {line}").code, 0, line)


def list_has_every_section(bench):
    answer = bench.run("list --json").json
    for name in ("families", "variants", "architectures", "types", "problem", "plan"):
        assert answer[name], name
        equal(list(bench.run(f"list {name} --json").json), [name], name)
    keys = [field["key"] for field in answer["problem"] + answer["plan"]]
    assert {"m", "type", "arch", "tile", "stages"} <= set(keys)


def variants_are_listed_with_where_they_plan_and_emit(bench):
    architectures = bench.run("list architectures --json").json["architectures"]
    for variant in bench.run("list variants --json").json["variants"]:
        assert variant["archs"], variant
        for arch in architectures:
            words = f"gemm m=4096 n=4096 k=4096 variant={variant['name']} arch={arch['name']}"
            code = bench.run(f"plan {words}").code
            equal(code == 0, arch["name"] in variant["archs"], words)
            if code == 0:
                equal(bench.run(f"emit {words}").code, 0, words)


def a_default_that_is_a_value_is_that_of_every_variant(bench):
    """What another variant has otherwise is no default: it is listed as "by variant"."""
    fields = bench.run("list plan --json").json["plan"]
    literal = {field["key"]: field["default"] for field in fields
               if field["default"].isdigit() or field["default"] in field["values"].split()}
    assert "split" in literal, literal
    for variant in bench.run("list variants --json").json["variants"]:
        for arch in variant["archs"]:
            words = f"gemm m=4096 n=4096 k=4096 variant={variant['name']} arch={arch}"
            plan = bench.run(f"plan {words} --json").json
            for key, value in literal.items():
                equal(str(plan[key]), value, f"{words}: {key}")


def a_wrong_answer_is_a_failure_that_says_where(bench):
    """On the stub driver, which computes nothing: D is what it was before, NaN."""
    driver, _, linker = support.stubs()
    env = {"LATHE_CUDA_LIBRARY": driver, "LATHE_NVJITLINK_LIBRARY": linker,
           "LATHE_NVRTC_LIBRARY": support.NO_SUCH_LIBRARY}
    words = "run gemm m=60 n=40 k=72 data=integers"
    result = bench.run(words + " --json", **env)
    equal((result.code, result.err), (1, ""), "as JSON")
    answer = result.json
    equal((answer["ok"], answer["wrong"], answer["reference"]), (False, 60 * 40, "CPU, f64"),
          "the verdict")
    first = answer["first_wrong"]
    equal((first["row"], first["column"], first["got"]), (0, 0, None), "the first")
    assert first["want"] == int(first["want"]), first
    result = bench.run(words, **env)
    equal((result.code, result.err), (1, ""), "as text")
    assert "NO: 2400 of 2400 elements are wrong (reference: CPU, f64)\n" in result.text, result.text
    assert re.search(rf"the first at row 0, column 0: got -?nan, want {first['want']:.9g} within",
                     result.text), result.text


# ---- Cubins and the cache ----

def build_writes_a_cubin_and_keeps_it(bench):
    bench.needs_linker()
    first = bench.run(f"build {GEMM} -o kernel.cubin --json").json
    equal(first["cache"], "miss", "the first time")
    assert first["link_ms"] > 0
    equal(os.path.getsize(bench.path("kernel.cubin")), first["bytes"], "bytes")
    assert first["kernel"]["registers"] > 0
    equal((first["kernel"]["spills"], first["linker_warnings"]), (0, []), "spills, warnings")
    equal(bench.run(f"build {GEMM} --json").json["cache"], "hit", "the second time")
    equal(len(bench.run(f"build {GEMM} -o -").out), first["bytes"], "-o -")
    equal(bench.run(f"build {GEMM} -o - --json").code, 2, "-o - and --json")
    assert "cache hit" in bench.run(f"build {GEMM}").text


def cache_shows_what_it_keeps(bench):
    bench.needs_linker()
    bench.run("cache clear")
    bench.run(f"build {GEMM} -o kernel.cubin")
    listing = bench.run("cache list --json").json
    name = listing["entries"][0]["name"]
    equal((len(listing["entries"]), len(name)), (1, 38), "entries")
    equal(bench.run("cache path").text, listing["path"] + "\n", "path")
    assert bench.run("cache list").text.startswith(name)
    equal(bench.run(f"cache show {name[:6]} --json").json["name"], name, "by its beginning")
    equal(bench.run(f"cache show {name} text").out, bench.run(f"emit {GEMM}").out, "text")
    with open(bench.path("kernel.cubin"), "rb") as file:
        equal(bench.run(f"cache show {name} cubin").out, file.read(), "cubin")
    contract = json.loads(bench.run(f"cache show {name} contract").text)
    equal(bench.run(f"cache show {name} contract --json").json["contract"], contract, "contract")
    equal(bench.run(f"cache show {name} cubin --json").code, 2, "a cubin as JSON")


def cache_names_must_be_unambiguous(bench):
    bench.needs_linker()
    # Seventeen names: two at least begin with the same digit.
    for k in range(17):
        bench.run(f"build gemm m=64 n=64 k={64 * k + 64} static=k arch=sm_90a")
    entries = bench.run("cache list --json").json["entries"]
    digits = [entry["name"][0] for entry in entries]
    twice = next(digit for digit in digits if digits.count(digit) > 1)
    equal(bench.run(f"cache show {twice}").code, 2, "ambiguous")
    equal(bench.run("cache show zz").code, 1, "none")


def cache_forgets(bench):
    bench.needs_linker()
    bench.run(f"build {GEMM}")
    equal(bench.run("cache verify --json").json["removed"], 0, "verify")
    equal(bench.run("cache prune limit=1G --json").json["removed"], 0, "prune to 1G")
    assert bench.run("cache prune limit=0 --json").json["removed"] > 0
    equal(bench.run("cache list --json").json["entries"], [], "after prune limit=0")
    bench.run(f"build {GEMM}")
    equal(bench.run("cache clear --json").json["removed"], 1, "clear")
    equal(bench.run("cache list").text, "", "after clear")


def a_bad_entry_is_found(bench):
    bench.needs_linker()
    name = bench.run("cache list --json").json["entries"][0]["name"]
    path = os.path.join(bench.run("cache path").text.strip(), name)
    if not os.path.exists(path):
        raise support.Skip("entries are not files of that name")
    with open(path, "r+b") as file:
        file.seek(64)
        file.write(b"not what was there")
    entry = bench.run("cache list --json").json["entries"][0]
    equal(entry["valid"], False, "valid")
    equal(bench.run(f"cache show {name}").code, 1, "show")
    result = bench.run("cache verify --json")
    equal((result.code, result.json), (1, {"checked": 1, "removed": 1}), "verify")
    equal(bench.run("cache verify").code, 0, "verify again")


# ---- Output that cannot be written ----

def a_full_disk_is_an_error(bench):
    for words in PRINTING:
        with open("/dev/full", "wb") as full:
            result = bench.run(words, stdout=full)
        equal(result.code, 1, words)
        last = (result.err.splitlines() or [""])[-1]
        equal(last, "lathe: standard output: No space left on device", words)


def a_refusal_on_a_full_disk_keeps_its_code(bench):
    for words, code in ((REFUSED, 1), (MISTYPED, 2)):
        with open("/dev/full", "wb") as full:
            result = bench.run(words + " --json", stdout=full)
        equal(result.code, code, words)
        equal(len(result.err.splitlines()), 2, words)


def a_closed_pipe_is_an_error_that_is_not_told(bench):
    for words in PRINTING:
        told = bench.run(words).err
        reading, writing = os.pipe()
        os.close(reading)
        result = bench.run(words, stdout=writing)
        os.close(writing)
        equal((result.code, result.err), (1, told), words)


def a_closed_standard_output_is_an_error(bench):
    for words in PRINTING + (f"build {GEMM}", "cache list"):
        result = bench.run(words, stdout=None, before=lambda: os.close(1))
        equal(result.code, 1 if "cache list" != words else result.code, words)
        assert "Traceback" not in result.err


def a_closed_standard_error_changes_nothing(bench):
    for words, code in ((REFUSED, 1), (MISTYPED, 2), (f"plan {GEMM}", 0)):
        equal(bench.run(words, before=lambda: os.close(2)).code, code, words)


def full_device_is_refused_for_parts_and_cubins(bench):
    bench.needs_linker()
    name = bench.run("cache list --json").json["entries"][0]["name"]
    for words in (f"cache show {name} text", f"cache show {name} cubin", f"cache show {name}",
                  f"build {GEMM}", f"build {GEMM} --json", f"build {GEMM} -o -"):
        with open("/dev/full", "wb") as full:
            equal(bench.run(words, stdout=full).code, 1, words)
    equal(bench.run(f"build {GEMM} -o /dev/full").code, 1, "-o /dev/full")


# ---- Terminals ----

def on_terminal(bench, words, **env):
    ours, theirs = pty.openpty()
    child = subprocess.Popen(["lathe"] + words.split(), env={**bench.env, "TERM": "xterm", **env},
                             stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            part = b""
        if not part:
            break
        seen += part
    os.close(ours)
    child.wait(timeout=60)
    return seen


def colour_is_for_terminals(bench):
    assert b"\x1b[" in on_terminal(bench, "list")
    assert b"\x1b[" not in on_terminal(bench, "list", NO_COLOR="1")
    assert b"\x1b[" not in on_terminal(bench, "list", TERM="dumb")
    assert b"\x1b[" not in bench.run("list").out
    bench.use_emulator()
    assert b"\x1b[32mnothing was found" in on_terminal(bench, "check gemm m=8 n=8 k=8 seeds=1")


# ---- Help ----

def examples_of(bench, verb):
    text = bench.run(f"{verb} --help").text
    lines = text.split("Examples:\n")[1].split("\n\n")[0].splitlines()
    assert lines, f"{verb} --help has no examples"
    return [line.strip() for line in lines]


def examples_run(bench, verb):
    examples = examples_of(bench, verb)
    if verb in ("build", "cache"):
        bench.needs_linker()
    if verb in ("check", "emulate", "trace"):
        bench.use_emulator()
    if verb == "plot":
        support.write_results(bench)
    for line in examples:
        assert line.startswith(f"lathe {verb}") or verb in ("", "cache"), line
        result = bench.shell(line)
        if verb in ("run", "bench"):
            equal(result.code, 1, line)
            assert result.err.startswith("lathe: "), result.err
        else:
            equal(result.code, 0, f"{line}: {result.err}")


def examples_run_on_a_gpu(bench):
    del bench.env["LATHE_CUDA_LIBRARY"]
    found = {f["what"]: f["found"] for f in bench.run("doctor --json").json["findings"]}
    if found.get("driver") != "found" or found.get("GPU 0") != "found":
        raise support.Skip("no GPU")
    for line in examples_of(bench, "run") + examples_of(bench, "bench"):
        if "cublaslt" in line and found.get("cuBLASLt") != "found":
            continue
        # Of a suite one problem will do.
        result = bench.shell(line + " limit_s=1 heat_ms=10" * ("suite=" in line))
        equal(result.code, 0, f"{line}: {result.err}")


def no_verb_is_named_that_is_not_there(bench):
    verbs = [verb["name"] for verb in bench.run("help --json").json["verbs"]]
    for verb in verbs:
        equal(bench.run(f"{verb} --help").code, 0, verb)
        equal(bench.run(f"{verb} --help").out, bench.run(f"help {verb}").out, verb)
        equal(bench.run(f"help {verb} --json").json["verb"], verb, verb)


VERBS = ("", "list", "plan", "emit", "build", "run", "check", "diff", "bench", "plot",
         "emulate",
         "trace", "cache", "doctor", "help")
TESTS = [
    every_refusal_is_one_object_and_one_line, what_does_not_fit_says_what_would,
    doors_of_a_comparison_open_both_sides,
    words_of_any_bytes_are_refused_in_one_line, json_is_understood_wherever_it_stands,
    without_a_gpu_run_says_so, without_a_gpu_the_emulator_runs,
    emulate_finds_what_was_deleted_from_a_kernel, check_finds_what_is_planted,
    check_finds_nothing_where_threads_copy_narrow_tiles,
    the_emulators_device_follows_the_words, an_environment_that_makes_no_sense_is_told_of,
    lanes_without_a_row_store_nothing,
    beside_a_gpu_the_emulator_takes_its_architecture,
    a_timeline_has_tracks_whose_spans_do_not_overlap, a_trace_is_the_same_every_time,
    what_a_kernel_prints_is_no_part_of_the_object, elements_are_read_and_shown_as_they_are,
    drivers_that_cannot_do_it_are_named,
    planning_does_without_a_gpu_that_can_do_it, planning_makes_no_cuda_context,
    without_nvjitlink_build_says_so, planning_and_emitting_need_neither,
    doctor_reports_what_is_missing, the_commit_is_told, emit_gives_the_same_bytes_everywhere, emit_describes_the_kernel,
    plan_holds_what_is_promised, explain_answers_beside_its_picture,
    every_listed_plan_can_be_planned, list_has_every_section,
    variants_are_listed_with_where_they_plan_and_emit,
    a_default_that_is_a_value_is_that_of_every_variant,
    a_wrong_answer_is_a_failure_that_says_where, build_writes_a_cubin_and_keeps_it,
    cache_shows_what_it_keeps, cache_names_must_be_unambiguous, cache_forgets,
    a_bad_entry_is_found, a_full_disk_is_an_error,
    a_refusal_on_a_full_disk_keeps_its_code, a_closed_pipe_is_an_error_that_is_not_told,
    a_closed_standard_output_is_an_error, a_closed_standard_error_changes_nothing,
    full_device_is_refused_for_parts_and_cubins, colour_is_for_terminals,
    no_verb_is_named_that_is_not_there, examples_run_on_a_gpu,
]

if __name__ == "__main__":
    sys.exit(support.main(
        [(test.__name__.replace("_", " "), test) for test in TESTS] +
        [(f"examples of lathe {verb} --help run",
          lambda bench, verb=verb: examples_run(bench, verb)) for verb in VERBS]))
