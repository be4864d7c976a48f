"""support.py: what the tests of the command are written with: running it, TAP, golden files.

Every command runs in an empty directory of its own test, with an environment in which there is no
GPU and no emulator (LATHE_CUDA_LIBRARY and LATHE_EMU_LIBRARY name a file that is not there), and
the cache is a fresh directory.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected")
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
NO_SUCH_LIBRARY = "/nonexistent/libnothing.so"
# Of the caller's environment only what the loader and the sanitizers need.
KEPT = ("LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "CUDA_HOME",
        "CUDA_PATH", "LATHE_NVJITLINK_LIBRARY")


# What the emulator took, in its two times.
EMULATED = re.compile(r"((?<=time      )|(?<=time       ))[0-9.]+ ms(?= on the CPU)|"
                      r"(?<=loaded in )[0-9.]+ ms")


class Skip(Exception):
    """Raised by a test that has nothing to test on this machine."""


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def text(self):
        return self.out.decode("utf-8")

    @property
    def json(self):
        return json.loads(self.text)


class Bench:
    """One test's directory and environment, and the command to run in them."""

    def __init__(self, lathe):
        self.folder = tempfile.mkdtemp(prefix="lathe-cli-")
        self.work = os.path.join(self.folder, "work")
        self.bin = os.path.join(self.folder, "bin")
        os.mkdir(self.work)
        os.mkdir(self.bin)
        os.symlink(os.path.abspath(lathe), os.path.join(self.bin, "lathe"))
        self.env = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.env.update(PATH=self.bin + ":" + os.environ.get("PATH", "/usr/bin:/bin"),
                        HOME=self.folder, LC_ALL="C", TZ="UTC",
                        LATHE_CACHE_DIR=os.path.join(self.folder, "cache"),
                        LATHE_CUDA_LIBRARY=NO_SUCH_LIBRARY,
                        LATHE_EMU_LIBRARY=NO_SUCH_LIBRARY,
                        LATHE_NVML_LIBRARY=NO_SUCH_LIBRARY)

    def close(self):
        os.chmod(self.work, 0o755)
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, words, stdout=subprocess.PIPE, before=None, **env):
        """Runs `lathe WORDS...`; words are a list, or one string to be split at spaces."""
        if isinstance(words, str):
            words = words.split()
        done = subprocess.run(["lathe"] + words, cwd=self.work, env={**self.env, **env},
                              stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
                              preexec_fn=before, timeout=120)
        return Result(done.returncode, done.stdout or b"", done.stderr.decode("utf-8", "replace"))

    def shell(self, line):
        """Runs a line of shell, as a reader of the help would type it."""
        done = subprocess.run(["sh", "-c", line], cwd=self.work, env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=600)
        return Result(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))

    def use_emulator(self):
        """From now on there is one, and examples/ is there to be run on it."""
        self.env["LATHE_EMU_LIBRARY"] = emulator()
        if not os.path.islink(self.path("examples")):
            os.symlink(EXAMPLES, self.path("examples"))

    def use_stubs(self):
        """From now on there is a GPU, played by stubs: its kernels compute nothing, cuBLASLt does,
        answers are compared by the CPU, and every pair of events is 0.4 ms apart."""
        driver, _, linker = stubs()
        beside = os.path.dirname(driver)
        self.env.update(LATHE_CUDA_LIBRARY=driver, LATHE_NVJITLINK_LIBRARY=linker,
                        LATHE_CUBLASLT_LIBRARY=os.path.join(beside, "libcublaslt_stub.so"),
                        LATHE_NVML_LIBRARY=os.path.join(beside, "libnvml_stub.so"),
                        LATHE_NVRTC_LIBRARY=NO_SUCH_LIBRARY, STUB_MEMORY="700000000",
                        STUB_ELAPSED_US="400")

    def path(self, name):
        return os.path.join(self.work, name)

    def files(self):
        return sorted(os.listdir(self.work))

    def needs_linker(self):
        result = self.run("build gemm m=64 n=64 k=64 arch=sm_90a --json")
        if result.code != 0:
            raise Skip(result.json["error"]["message"])


def stubs():
    """The paths of the stub driver, the old one and the stub of nvJitLink."""
    if len(sys.argv) < 5:
        raise Skip("the stubs are not given")
    return map(os.path.abspath, sys.argv[2:5])


def emulator():
    """The path of the emulator, which is built beside the command."""
    path = os.path.join(os.path.dirname(os.path.abspath(sys.argv[1])), "..", "emulator",
                        "libcuda-emu.so")
    if not os.path.exists(path):
        raise Skip("the emulator is not built")
    return path


def suite_record(name, ratio, width, **more):
    """A line of `lathe bench suite=`, of the problem MxNxK, as far as readers need it."""
    m, n, k = map(int, name.split("x"))
    row = {"vs": "cublaslt 13.1", "time_us": 10.0, "tflops": 600.0, "vs_time_us": 10 * ratio,
           "vs_tflops": 600 / ratio, "ratio": ratio, "ratio_low": ratio - width,
           "ratio_high": ratio + width}
    return {"words": f"gemm m={m} n={n} k={k} type=bf16", "m": m, "n": n, "k": k, "type": "bf16",
            "vs": "cublaslt,cublaslt-best", "device": "NVIDIA H200", "class": "square",
            "verified": True, "plan": {"tile": "128x256x64", "stages": 4, "cluster": "2x1x1"},
            "rows": [row, {**row, "vs": "cublaslt-best 13.1", "ratio": ratio - 0.01}], **more}


def ladder_record(count=8):
    """A line of `lathe bench ladder=hopper`: the sixth rung sums in f16, the third is refused."""
    rungs = [{"variant": f"hopper-v{i}", "plan_words": "", "verified": True, "f16_sums": i == 5,
              "time_us": 100.0 / (i + 1), "tflops": 80.0 * (i + 1), "ratio": 80 * (i + 1) / 660,
              "step": (i + 1) / i if i else None} for i in range(count)]
    rungs[2] = {"variant": "hopper-v2", "refused": {"code": "unsupported", "message": "no"}}
    rungs[-1]["variant"] = "hopper-best"
    return {"ladder": "hopper", "words": "gemm m=8192 n=8192 k=8192 type=bf16",
            "device": "NVIDIA H200", "verified": True, "rungs": rungs,
            "contenders": [{"vs": "cublaslt 13.1", "time_us": 1.0, "tflops": 660.0},
                           {"vs": "cublaslt-best 13.1", "time_us": 1.0, "tflops": 670.0}]}


def write_results(bench):
    """The files that the help of `lathe plot` speaks of."""
    records = {"public.jsonl": [suite_record("512x512x512", 1.05, 0.01),
                                suite_record("1x6144x4096", 0.97, 0.002, **{"class": "decode"})],
               "ladder.jsonl": [ladder_record()]}
    for name, lines in records.items():
        with open(bench.path(name), "w", encoding="ascii") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)


def equal(seen, wanted, what):
    assert seen == wanted, f"{what}: {shortened(seen)}, not {shortened(wanted)}"


def shortened(value):
    text = repr(value)
    return text if len(text) <= 300 else text[:300] + "..."


def one_line(result, what, who="lathe"):
    assert re.fullmatch(rf"{who}: [^\n]+\n", result.err), f"{what}: {result.err!r}"


def steady(text, bench):
    """Takes out what differs from run to run and from machine to machine."""
    text = text.replace(bench.folder, "FOLDER")
    text = re.sub(r'"(emit_us|link_ms|load_ms|emulated_ms)": [0-9.e+-]+', r'"\1": 0', text)
    text = EMULATED.sub("0.00 ms", text)
    text = re.sub(r'"version": "[0-9.]+"', '"version": "VERSION"', text)
    text = re.sub(r'"git": "[^"]+"', '"git": "COMMIT"', text)
    return re.sub(r"\blathe [0-9]+\.[0-9]+\.[0-9]+", "lathe VERSION", text)


def transcript(bench, commands):
    """What the commands print, and their exit codes."""
    parts = []
    for words in commands:
        result = bench.run(words)
        parts.append(f"$ lathe {words}".strip() + "\n")
        if result.text:
            parts.append(result.text if result.text.endswith("\n") else result.text + "\n")
        if result.err:
            parts.append("--- standard error\n" + result.err)
        parts.append(f"--- exit code {result.code}\n\n")
    return steady("".join(parts), bench)


def check_golden(bench, name, commands):
    """Compares with expected/NAME.txt; LATHE_UPDATE_GOLDEN=1 writes it anew."""
    path = os.path.join(EXPECTED, name + ".txt")
    seen = transcript(bench, commands)
    if os.environ.get("LATHE_UPDATE_GOLDEN") == "1":
        with open(path, "w", encoding="utf-8") as file:
            file.write(seen)
        return
    with open(path, encoding="utf-8") as file:
        wanted = file.read()
    assert seen == wanted, f"differs from {os.path.relpath(path)}:\n" + difference(wanted, seen)


def difference(wanted, seen):
    import difflib
    return "".join(difflib.unified_diff(wanted.splitlines(True), seen.splitlines(True),
                                        "expected", "seen"))


def run_tests(lathe, tests):
    """Runs (name, function of a bench) pairs and prints TAP; returns the exit code."""
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        bench = Bench(lathe)
        try:
            test(bench)
            print(f"ok {number} - {name}", flush=True)
        except Skip as why:
            print(f"ok {number} - {name} # SKIP {why}", flush=True)
        except Exception as error:  # a test's mistake is a failure like any other
            failed += 1
            print(f"not ok {number} - {name}", flush=True)
            for line in f"{type(error).__name__}: {error}".splitlines():
                print(f"# {line}", flush=True)
        finally:
            bench.close()
    print(f"1..{len(tests)}")
    return 1 if failed else 0


def main(tests):
    if len(sys.argv) not in (2, 5):
        print(f"usage: {sys.argv[0]} LATHE [STUB_DRIVER OLD_STUB_DRIVER STUB_LINKER]",
              file=sys.stderr)
        return 2
    return run_tests(sys.argv[1], tests)
