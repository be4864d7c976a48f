#!/usr/bin/env python3
"""What docs/ and README.md show is what the command gives.

In docs/ a ```console block holds commands after "$ " and, below each, its standard output and then
its standard error: each is run, and compared to the letter, but for the times that the emulator
took; variables of the environment may stand before it. Pages that emulate have the emulator, and
examples/. A block ```ptx CODE is lines of examples/sanitizer/CODE.ptx, and ```text CODE what the
sanitizer finds in it when the command at its head is run. In README.md commands and what they
print are indented and folded, "..." stands for what is left out, and times are those of another
machine; commands without "$ " are offered, not shown: they are run for their exit code.
LATHE_UPDATE_GOLDEN=1 writes the blocks of docs/, the pictures, and what README.md shows whole anew.
"""
import os
import re
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
DOCS = os.path.join(HERE, "..", "..", "docs")
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
import support  # noqa: E402

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^ *\$ .*", re.MULTILINE)
COMMAND = re.compile(r"\$ ((?:[A-Z_]+=\S+ )*)(?:build/cli/)?lathe (.+)")
EXCERPT = re.compile(r"^```ptx (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FOUND = re.compile(r"^```text (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
UPDATE = os.environ.get("LATHE_UPDATE_GOLDEN") == "1"
# What draws a picture, by the picture's file.
PICTURES = {
    "budget.svg": "plan gemm m=4096 n=4096 k=4096 out=f32 arch=sm_100a cluster=2x1x1 "
                  "tile=128x128x64 cta_group=1 --explain -o -",
}


def pages():
    """Those that show commands; for what shows none there is nothing to hold."""
    return sorted(name for name in os.listdir(DOCS)
                  if name.endswith(".md") and (SHOWN.search(read(name)) or
                                               BLOCK.search(read(name))))


def read(name):
    with open(os.path.join(DOCS, name), encoding="ascii") as file:
        return file.read()


def write(name, text):
    with open(os.path.join(DOCS, name), "w", encoding="ascii") as file:
        file.write(text)


def commands_of(block):
    """(variables, words, what is shown below) of each command; a line that belongs to none is a
    mistake."""
    commands = []
    for line in block.splitlines():
        command = COMMAND.match(line)
        if command:
            commands.append((command.group(1), command.group(2), []))
        elif line.startswith("$ ") or not commands:
            raise AssertionError(f"neither '$ lathe ...' nor below one: {line}")
        else:
            commands[-1][2].append(line)
    return [(variables, words, "\n".join(shown)) for variables, words, shown in commands]


def replay(bench, block):
    """The block as it should be: each command with what it prints."""
    shown = []
    for variables, words, _ in commands_of(block):
        result = bench.run(words, **dict(word.split("=", 1) for word in variables.split()))
        out, err = result.text, result.err
        shown.append(f"$ {variables}lathe {words}\n{out}" +
                     ("" if not out or out.endswith("\n") else "\n") + err)
    return "".join(shown)


def example(code):
    with open(os.path.join(support.EXAMPLES, "sanitizer", code + ".ptx"), encoding="ascii") as file:
        return file.read()


def finding(bench, code):
    """What is told first of that code when the command at the example's head is run."""
    words = re.search(r"^//  +lathe (.+)$", example(code), re.MULTILINE).group(1)
    err = bench.run(words, LATHE_EMU_CHECK="1").err
    for told in re.findall(r"^emulator: (.+\n(?:  .+\n)*)", err, re.MULTILINE):
        if told.removeprefix("warning: ").startswith(code + ": "):
            return told
    raise AssertionError(f"{code} is not found in its example:\n{err}")


def check_excerpts(name, text):
    for code, excerpt in EXCERPT.findall(text):
        lines = [line.strip() for line in excerpt.splitlines()]
        there = [line.strip() for line in example(code).splitlines()]
        assert any(there[at:at + len(lines)] == lines for at in range(len(there))), \
            f"{name}: these are no lines of the example {code}:\n{excerpt}"


def check_page(bench, name):
    text = read(name)
    if "lathe emulate" in text or "lathe trace" in text:
        bench.use_emulator()
    outside = SHOWN.search(BLOCK.sub("", text))
    assert not outside, f"{name}: not in a console block: {outside.group()}"
    check_excerpts(name, text)
    seen = BLOCK.sub(lambda match: "```console\n" + replay(bench, match.group(1)) + "```", text)
    seen = FOUND.sub(lambda match: f"```text {match.group(1)}\n" +
                     finding(bench, match.group(1)) + "```", seen)
    if support.EMULATED.sub("", seen) == support.EMULATED.sub("", text):
        return
    if UPDATE:
        write(name, seen)
    else:
        raise AssertionError(f"{name} differs:\n" + support.difference(text, seen))


def check_picture(bench, name):
    drawn = bench.run(PICTURES[name]).text
    if UPDATE:
        write(name, drawn)
    support.equal(drawn, read(name), name)


# ---- README.md ----

README = os.path.join("..", "README.md")
TRANSCRIPT = re.compile(r"^    \$ .*\n(?:    .*\n)*", re.MULTILINE)
OFFERED = re.compile(r"^    lathe (\S.*?)(?:\s+#.*)?$", re.MULTILINE)
WIDTH = 100
# Times, and what the linker of another version makes of a kernel.
MEASURED = re.compile(r"\d+(?:\\\.\d+)?(?=\\ (?:us|ms|TFLOPS|registers)\b)")
NEEDS_GPU = ("run", "bench")


def folded(text):
    return " ".join(text.split())


def pattern_of(shown):
    """Matches what is shown, whatever its folds, its times and what "..." stands for."""
    parts = (re.escape(part.strip()) for part in folded(shown).split("..."))
    return re.compile(".*".join(MEASURED.sub("[0-9.]+", part) for part in parts))


def refolded(text):
    """As README.md shows it: what is too wide goes on in the next line, as far in as it began."""
    for line in text.splitlines():
        indent = "    " + line[:len(line) - len(line.lstrip())]
        yield textwrap.fill(line.strip(), WIDTH, initial_indent=indent, subsequent_indent=indent,
                            break_long_words=False, break_on_hyphens=False) + "\n"


def lacks_only_a_gpu(bench, words):
    """Whether that is all that is wrong with a command which needs one."""
    return bench.run(words + " --json").json.get("error", {}).get("code") == "no-driver"


def check_transcript(bench, block):
    (_, words, shown), *others = commands_of("".join(line[4:] for line in block.splitlines(True)))
    assert not others, f"two commands in one block: {block}"
    if words.split()[0] in NEEDS_GPU:
        assert lacks_only_a_gpu(bench, words), words
        return
    if words.split()[0] == "build":
        bench.needs_linker()
    # What ./dev prints behind a command begins with "== " and is none of the command's.
    shown = re.sub(r"^== .*\n?", "", shown, flags=re.MULTILINE)
    os.mkdir(bench.path("build"))
    result = bench.run(words)
    seen = result.text + result.err
    if pattern_of(shown).fullmatch(folded(seen)):
        return
    if UPDATE and "..." not in shown:
        command = block.splitlines(True)[0]
        write(README, read(README).replace(block, command + "".join(refolded(seen))))
        return
    raise AssertionError(f"README.md shows below lathe {words}:\n" +
                         support.difference(folded(shown) + "\n", folded(seen) + "\n"))


def check_all_are_held(bench):
    """A command that is shown is one of the transcripts; one that is offered is no mistake."""
    text = read(README)
    outside = SHOWN.search(TRANSCRIPT.sub("", text))
    assert not outside, f"not at the head of a block: {outside.group()}"
    for words in OFFERED.findall(text):
        if words.split()[0] in ("check", "emulate", "trace"):
            bench.use_emulator()
        if words.split()[0] in NEEDS_GPU:
            assert lacks_only_a_gpu(bench, words), words
        else:
            result = bench.run(words)
            support.equal(result.code, 0, f"{words}: {result.err}")


def check_width(bench):
    """Rows of a table cannot be folded."""
    for number, line in enumerate(read(README).splitlines(), 1):
        assert len(line) <= WIDTH or line.startswith("|"), f"line {number}: {len(line)}: {line}"


def title_of(block):
    return f"README.md shows what {block.splitlines()[0].strip(' $')} gives"


TESTS = ([(f"{name} shows what the command gives",
           lambda bench, name=name: check_page(bench, name)) for name in pages()] +
         [(f"{name} is drawn as kept", lambda bench, name=name: check_picture(bench, name))
          for name in PICTURES] +
         [(title_of(block), lambda bench, block=block: check_transcript(bench, block))
          for block in TRANSCRIPT.findall(read(README))] +
         [("README.md offers what can be run", check_all_are_held),
          (f"README.md is at most {WIDTH} columns wide", check_width)])

if __name__ == "__main__":
    sys.exit(support.main(TESTS))
