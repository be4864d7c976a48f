#!/usr/bin/env python3
"""`lathe bench` on stubs: suites, what files hold, going on with them, ladders. Nothing is
computed by Lathe's kernels there, so every answer is wrong; files are put right by hand where a
test needs answers that are right."""
import json
import os
import subprocess
import sys

import support
from support import equal

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "table.py")
FAST = "warm_up_ms=1 block_ms=1 pairs=2 heat_ms=0"
ONE = "warm_up_ms=1 block_ms=1 pairs=2"
SUITE = """# three problems
class=small m=16 n=16 k=16
class=small m=8 n=16 k=8 type=bf16
class=odd   m=3 n=5 k=7   # rows that TMA cannot read
"""


def write_suite(bench, text=SUITE):
    with open(bench.path("suite.txt"), "w", encoding="ascii") as file:
        file.write(text)


def lines(bench, name="out.jsonl"):
    with open(bench.path(name), encoding="ascii") as file:
        return file.read().splitlines()


def run_suite(bench, words="", **env):
    return bench.run(f"bench suite=suite.txt vs=cublaslt,cublaslt-best {FAST} -o out.jsonl {words}",
                     **env)


def put_right(bench, name="out.jsonl"):
    """Every measured record of the file as if its answer had been right."""
    records = [json.loads(line) for line in lines(bench, name)]
    for record in records:
        if "refused" not in record:
            record["verified"] = True
    with open(bench.path(name), "w", encoding="ascii") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def a_contender_is_a_row(bench):
    bench.use_stubs()
    result = bench.run(f"bench gemm m=16 n=16 k=16 vs=cublaslt,cublaslt-best {ONE} --json")
    equal(result.code, 1, "exit code of a wrong answer")
    rows = result.json["rows"]
    equal([row["vs"] for row in rows], ["cublaslt 13.1", "cublaslt-best 13.1"], "contenders")
    equal([(row["heuristic"], row["heuristics"]) for row in rows], [(1, 3), (1, 3)], "heuristics")
    equal(result.json["device"], "NVIDIA H200", "device")
    equal(result.json["driver"], "580.95.05", "driver")
    equal(result.json["verified"], False, "verified")


def a_problem_alone_has_one_row(bench):
    bench.use_stubs()
    result = bench.run(f"bench gemm m=16 n=16 k=16 {ONE} --json")
    equal(len(result.json["rows"]), 1, "rows")
    equal((result.json["rows"][0]["vs"], result.json["rows"][0]["ratio"]), (None, None), "row")


def extras_are_there_where_they_are_asked_for(bench):
    bench.use_stubs()
    words = f"bench gemm m=16 n=16 k=16 vs=cublaslt,cublaslt-best {ONE}"
    plain = bench.run(words + " --json").json
    assert not {"isolated", "warm"} & set(plain["rows"][0]), plain
    assert not {"isolated_spin_us", "warm_refused"} & set(plain), plain
    assert not {"isolated", "warm"} & set(plain["protocol"]), plain
    text = bench.run(words).text
    assert "isolated" not in text and "warm" not in text, text
    words += " isolated=1 warm=1"
    answer = bench.run(words + " --json").json
    equal((answer["protocol"]["isolated"], answer["protocol"]["warm"]), (1, 1), "protocol")
    equal(answer["warm_refused"], None, "warm_refused")
    assert answer["isolated_spin_us"] >= 50, answer
    for row in answer["rows"]:
        for part in ("isolated", "warm"):
            times = [row[part]["time_us"], row[part]["vs_time_us"]]
            assert times[0] > 0 and times[0] == times[1], row
            equal([row[part][key] for key in ("ratio", "ratio_low", "ratio_high")], [1, 1, 1], part)
        equal(round(row["isolated"]["time_us"]), 400, "as between any two events")
    shown = bench.run(words).text
    assert "  TFLOPS  isolated us  L2-warm us  " in shown and "  400.00  " in shown, shown
    for title in ("isolated", "L2-warm "):
        assert f"\n{title}  1.000 to cublaslt-best 13.1 (95 %: 1.000 to 1.000)\n" in shown, shown


def what_l2_cannot_hold_is_null_with_the_reason(bench):
    bench.use_stubs()
    words = f"bench gemm m=16 n=16 k=64 vs=cublaslt {ONE} warm=1"
    answer = bench.run(words + " --json", STUB_L2="4000").json
    equal(answer["rows"][0]["warm"], None, "warm")
    equal(answer["warm_refused"], "the operands take 0.00461 MB, and L2 holds 0.004 MB", "why")
    assert answer["rows"][0]["time_us"] > 0, answer
    shown = bench.run(words, STUB_L2="4000").text
    assert "\nL2-warm   not measured: the operands take " in shown, shown
    assert "L2-warm us" not in shown, shown


def extras_of_a_plan_alone_have_no_ratio(bench):
    bench.use_stubs()
    words = f"bench gemm m=16 n=16 k=16 {ONE} isolated=1 warm=1"
    row = bench.run(words + " --json").json["rows"][0]
    for part in ("isolated", "warm"):
        assert row[part]["time_us"] > 0, row
        equal((row[part]["vs_time_us"], row[part]["ratio"]), (None, None), part)
    assert "ratio" not in bench.run(words).text


def a_suite_has_extras_and_goes_on_with_them(bench):
    bench.use_stubs()
    write_suite(bench)
    shown = run_suite(bench, "isolated=1 warm=1 passes=2").text
    assert "   isolated 400.00 us cublaslt 1.000 cublaslt-best 1.000   L2-warm " in shown, shown
    put_right(bench)
    before = len(lines(bench))
    run_suite(bench, "isolated=1 warm=1 passes=2 resume=1")
    equal(len(lines(bench)), before, "lines: all is held")
    run_suite(bench, "passes=2 resume=1 class=small")
    equal(len(lines(bench)), before + 4, "lines: without extras is another protocol")


def contenders_are_named_or_refused(bench):
    for value, words in (("cublast", "nearest: vs=cublaslt"), ("none,cublaslt", "none stands alone"),
                         ("", "no such vs"), ("cublaslt,,", "no such vs")):
        result = bench.run(f"bench gemm m=16 n=16 k=16 vs={value}")
        equal(result.code, 2, value)
        support.one_line(result, value)
        assert words in result.err, result.err


def a_suite_is_a_line_a_problem(bench):
    bench.use_stubs()
    write_suite(bench)
    result = run_suite(bench)
    equal(result.code, 1, "exit code of wrong answers")
    records = [json.loads(line) for line in lines(bench)]
    equal([record["class"] for record in records], ["small", "small", "odd"], "classes")
    equal(records[1]["words"], "gemm m=8 n=16 k=8 type=bf16", "words")
    equal(records[2]["refused"]["code"], "unsupported", "refusal")
    for key in ("device", "device_hash", "driver", "cuda", "cublaslt", "lathe", "git", "date", "plan_words",
                "protocol", "launches", "sets", "rows", "verified", "measured_again", "clocks",
                "suite", "class", "model", "vs"):
        assert key in records[0], key
    assert "00010203" not in lines(bench)[0], "the device's UUID is given away"
    assert "refused: lda=7" in result.text, result.text
    assert result.text.endswith("\n2 measured, 1 refused, 2 WRONG\n"), result.text
    assert "shapes" not in result.text, result.text


def what_a_file_holds_does_not_reach_the_terminal(bench):
    bench.use_stubs()
    write_suite(bench)
    run_suite(bench)
    records = [json.loads(line) for line in lines(bench)]
    records[2]["refused"]["message"] = "\x1b[31mEVIL\x07\x7f\x9b2J"
    with open(bench.path("out.jsonl"), "w", encoding="ascii") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    text = run_suite(bench, "resume=1").text
    assert "refused: ?[31mEVIL???2J\n" in text, text


def a_suite_is_one_object(bench):
    bench.use_stubs()
    write_suite(bench)
    result = bench.run(f"bench suite=suite.txt {FAST} class=odd --json")
    equal(result.code, 1, "exit code where nothing was measured")
    equal((result.json["suite"], len(result.json["records"]), result.json["left"]),
          ("suite.txt", 1, 0), "object")
    equal(result.json["summary"]["refused"], 1, "refused")


def what_is_held_is_shown_with_its_clock(bench):
    bench.use_stubs()
    write_suite(bench)
    run_suite(bench)
    put_right(bench)
    records = [json.loads(line) for line in lines(bench)]
    records[0]["clocks"] = {"sm_mhz": 1755.0, "power_w": 690.0, "temperature_c": 50.0, "samples": 9}
    records[0]["measured_again"] = True
    with open(bench.path("out.jsonl"), "w", encoding="ascii") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    text = run_suite(bench, "resume=1").text
    assert " TFLOPS  1755 MHz   cublaslt 1.000 " in text, text
    assert "measured twice: clocks differed" in text, text


def what_is_held_is_left_out(bench):
    bench.use_stubs()
    write_suite(bench)
    run_suite(bench)
    put_right(bench)
    before = lines(bench)
    result = run_suite(bench, "resume=1")
    equal((result.code, result.err), (0, ""), "exit code")
    equal(lines(bench), before, "the file")
    equal(result.text.count("   as held\n"), 2, "held")
    assert "small                  2  1.000     0     2       0  1.000  16x16x16" in result.text, \
        result.text


def a_file_becomes_a_table(bench):
    bench.use_stubs()
    write_suite(bench)
    run_suite(bench)
    put_right(bench)
    done = subprocess.run([sys.executable, TABLE, "out.jsonl", "cublaslt-best"], cwd=bench.work,
                          stdout=subprocess.PIPE, text=True, check=True)
    assert "\n| small | 16x16x16 | 64x8x64, 23 stages, cluster 1x4x1 | " in done.stdout, done.stdout
    assert "NVIDIA H200: 2 shapes, geometric mean of the ratios 1.000" in done.stdout, done.stdout
    assert "\n3x5x7: refused: lda=7" in done.stdout, done.stdout


def sums_in_f16_are_marked_everywhere(bench):
    bench.use_stubs()
    marked = "f16 sums: not like for like"
    one = f"bench gemm m=64 n=64 k=64 variant=hopper-v6 vs=cublaslt {ONE}"
    assert marked in bench.run(one).text
    equal(bench.run(one + " --json").json["f16_sums"], True, "f16_sums")
    equal(bench.run(f"bench gemm m=64 n=64 k=64 {ONE} --json").json["f16_sums"], False, "f16_sums")
    write_suite(bench, "m=64 n=64 k=64 variant=hopper-v6\nm=16 n=16 k=16\n")
    run_suite(bench)
    put_right(bench)
    text = run_suite(bench, "resume=1").text
    assert f"   {marked}   as held\n" in text, text
    assert f"2 measured, 1 with {marked}; above" in text, text
    assert "\nall                    1 " in text, text
    summary = run_suite(bench, "resume=1 --json").json["summary"]
    equal((summary["f16_sums"], summary["contenders"][0]["classes"][-1]["shapes"]), (1, 1), "summary")
    done = subprocess.run([sys.executable, TABLE, "out.jsonl"], cwd=bench.work,
                          stdout=subprocess.PIPE, text=True, check=True)
    assert f"\n64x64x64: {marked}\n" in done.stdout and ": 1 shapes, " in done.stdout, done.stdout


def wrong_answers_are_measured_again(bench):
    bench.use_stubs()
    write_suite(bench)
    run_suite(bench)
    run_suite(bench, "resume=1")
    equal(len(lines(bench)), 5, "lines")


def another_protocol_or_device_is_measured_again(bench):
    bench.use_stubs()
    write_suite(bench)
    run_suite(bench)
    put_right(bench)
    for words, env in (("pairs=3", {}), ("seed=2", {}), ("heat_ms=1", {}), ("vs=cublaslt", {}),
                       ("out=f32", {}),
                       ("device=gpu:1", {"STUB_DEVICES": "2"})):
        before = len(lines(bench))
        run_suite(bench, "resume=1 class=small " + words, **env)
        equal(len(lines(bench)), before + 2, words)


def a_cut_last_line_is_measured_anew(bench):
    bench.use_stubs()
    write_suite(bench)
    run_suite(bench)
    put_right(bench)
    whole = lines(bench)
    with open(bench.path("out.jsonl"), "w", encoding="ascii") as file:
        file.write(whole[0] + "\n" + whole[1][:100])
    run_suite(bench, "resume=1")
    records = [json.loads(line) for line in lines(bench)]
    equal([record["words"] for record in records],
          [json.loads(line)["words"] for line in whole], "records")


def a_limit_leaves_the_rest(bench):
    bench.use_stubs()
    write_suite(bench, "m=16 n=16 k=16\n" * 9)
    result = run_suite(bench, "limit_s=1 warm_up_ms=600")
    left = 9 - len(lines(bench))
    assert 0 < left < 9, left
    assert f"{left} left by limit_s=1: " in result.text, result.text


def mistakes_are_told_before_anything_is_measured(bench):
    bench.use_stubs()
    write_suite(bench, SUITE + "m=1 n=1 k=1 tipe=f16\n")
    for words, said in ((f"suite=suite.txt {FAST} -o out.jsonl", "suite.txt:5: tipe=f16"),
                        ("suite=nothing.txt", "nothing.txt: cannot be read"),
                        ("suite=suite.txt class=smal", "nearest: small"),
                        ("suite=public resume=1", "-o FILE"),
                        ("suite=public ladder=hopper", "a suite has not"),
                        ("suite=public m=16x", "m=16x"),
                        ("gemm m=8 n=8 k=8 limit_s=3", "only for suite="),
                        ("gemm m=8 n=8 k=8 -o -", "-o -:"),
                        ("gemm m=8 n=8 k=8 ladder=hoper", "nearest: hopper"),
                        ("gemm m=8 n=8 k=8 isolated=2", "isolated=2"),
                        ("gemm m=8 n=8 k=8 ladder=hopper isolated=1", "times of cold blocks alone"),
                        ("gemm m=8 n=8 k=8 ladder=hopper variant=hopper-best", "a ladder takes all")):
        result = bench.run("bench " + words)
        assert result.code in (1, 2), words
        support.one_line(result, words)
        assert said in result.err, f"{words}: {result.err}"
    equal(bench.files(), ["suite.txt"], "files left")


def without_a_gpu_no_file_is_made(bench):
    write_suite(bench)
    equal(run_suite(bench).code, 1, "exit code")
    equal(bench.files(), ["suite.txt"], "files left")


def a_device_that_fails_ends_the_suite(bench):
    bench.use_stubs()
    write_suite(bench)
    result = run_suite(bench, STUB_FAIL="cuGraphLaunch=700")
    equal((result.code, lines(bench)), (1, []), "exit code and lines")
    assert "cuGraphLaunch" in result.err, result.err


def a_contender_that_is_wrong_fails_but_does_not_end_the_suite(bench):
    bench.use_stubs()
    write_suite(bench)
    result = run_suite(bench, STUB_CUBLASLT_WRONG="1")
    equal((result.code, len(lines(bench))), (1, 3), "exit code and lines")
    assert "algorithm 1, gives another answer" in result.text, result.text
    assert "2 measured, 1 refused, 2 WRONG" in result.text, result.text
    run_suite(bench, "resume=1")
    equal(len(lines(bench)), 5, "lines: what is refused for what it is stays")


def a_ladder_has_a_row_a_rung(bench):
    bench.use_stubs()
    words = f"bench gemm m=16 n=16 k=16 ladder=hopper vs=cublaslt {ONE} -o ladder.jsonl"
    result = bench.run(words + " --json")
    equal(result.code, 1, "exit code of wrong answers")
    listed = [v["name"] for v in bench.run("list variants --json").json["variants"]
              if v["name"].startswith("hopper-")]
    rungs = [rung["variant"] for rung in result.json["rungs"]]
    equal(sorted(rungs), sorted(listed), "rungs")
    equal(rungs[-1], "hopper-best", "the last rung")
    equal([c["vs"] for c in result.json["contenders"]], ["cublaslt 13.1"], "contenders")
    equal(json.loads(lines(bench, "ladder.jsonl")[0])["ladder"], "hopper", "record")
    shown = bench.run(words).text
    for rung in rungs + ["cublaslt 13.1"]:
        assert f"\n{rung} " in shown, shown
    unlike = [rung["variant"] for rung in result.json["rungs"] if rung["f16_sums"]]
    equal(unlike, [rung["variant"] for rung in result.json["rungs"]
                   if "acc=f16" in rung["plan_words"].split()], "rungs that sum in f16")
    equal(shown.count("f16 sums: not like for like"), len(unlike), "marked rungs")


def a_rung_that_cannot_do_it_is_a_row(bench):
    bench.use_stubs()
    rungs = bench.run(f"bench gemm m=16 n=16 k=16 ladder=hopper type=bf16 {ONE} --json")\
        .json["rungs"]
    refused = [rung for rung in rungs if "refused" in rung]
    for rung in refused:
        equal(rung["refused"]["code"], "unsupported", rung["variant"])
    assert len(refused) < len(rungs), rungs


if __name__ == "__main__":
    sys.exit(support.main([
        (test.__name__.replace("_", " "), test) for test in (
            a_contender_is_a_row, a_problem_alone_has_one_row,
            extras_are_there_where_they_are_asked_for, extras_of_a_plan_alone_have_no_ratio,
            what_l2_cannot_hold_is_null_with_the_reason,
            a_suite_has_extras_and_goes_on_with_them, contenders_are_named_or_refused,
            a_suite_is_a_line_a_problem, what_a_file_holds_does_not_reach_the_terminal,
            a_suite_is_one_object, what_is_held_is_left_out,
            what_is_held_is_shown_with_its_clock,
            a_file_becomes_a_table, sums_in_f16_are_marked_everywhere,
            wrong_answers_are_measured_again, another_protocol_or_device_is_measured_again,
            a_cut_last_line_is_measured_anew, a_limit_leaves_the_rest,
            mistakes_are_told_before_anything_is_measured, without_a_gpu_no_file_is_made,
            a_device_that_fails_ends_the_suite,
            a_contender_that_is_wrong_fails_but_does_not_end_the_suite, a_ladder_has_a_row_a_rung,
            a_rung_that_cannot_do_it_is_a_row)]))
