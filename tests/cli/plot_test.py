#!/usr/bin/env python3
"""`lathe plot`: pictures are XML, nothing in them leaves the page or lies on other words, and they
say what the file says. And bench/agree.py, which compares two files."""
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

import support
from support import equal, suite_record

SVG = "{http://www.w3.org/2000/svg}"
AGREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "agree.py")
# Of a sans-serif font: no letter is wider, on average, than this part of its size.
LETTER = 0.62


def write(bench, records, name="r.jsonl"):
    with open(bench.path(name), "w", encoding="ascii") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    return name


def public_suite():
    """A record for each shape of the public suite, with a few outliers and refusals."""
    table = os.path.join(os.path.dirname(AGREE), "..", "cli", "suite_public.def")
    with open(table, encoding="ascii") as file:
        shapes = re.findall(r'^SUITE_SHAPE\("(.*?)", ".*?", (\d+), (\d+), (\d+)\)', file.read(),
                            re.MULTILINE)
    equal(len(shapes), 44, "shapes")
    for i, (kind, m, n, k) in enumerate(shapes):
        ratio = 0.2 if kind == "large-k" else 1.6 if i == 3 else 0.93 + i % 17 / 100
        record = suite_record(f"{m}x{n}x{k}", ratio, i % 5 / 100, **{"class": kind})
        if kind == "odd":
            del record["rows"]
            record["refused"] = {"code": "unsupported", "message": "lda"}
        yield record


def texts_of(svg):
    return [element.text for element in xml.fromstring(svg).iter(SVG + "text")]


def boxes(svg):
    """(left, top, right, bottom, what) of every text, as wide as it may be."""
    for element in xml.fromstring(svg).iter(SVG + "text"):
        size, x, y = (float(element.get(key)) for key in ("font-size", "x", "y"))
        width = LETTER * size * len(element.text)
        left = x - {"start": 0, "middle": width / 2, "end": width}[element.get("text-anchor")]
        yield left, y - 0.75 * size, left + width, y + 0.2 * size, element.text


def check_page(svg):
    page = xml.fromstring(svg)
    width, height = float(page.get("width")), float(page.get("height"))
    found = list(boxes(svg))
    assert found, "no text"
    for left, top, right, bottom, what in found:
        assert left >= 0 and top >= 0 and right <= width and bottom <= height, what
    for i, a in enumerate(found):
        for b in found[i + 1:]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (a, b)
    for element in page.iter(SVG + "rect"):
        assert float(element.get("x", 0)) + float(element.get("width")) <= width, element.attrib
        assert float(element.get("y", 0)) + float(element.get("height")) <= height, element.attrib
    ground = page.find(SVG + "rect")
    equal((ground.get("fill"), ground.get("width")), ("#ffffff", page.get("width")), "ground")


def a_suite_fits_its_page(bench):
    svg = bench.run(f"plot {write(bench, public_suite())}").text
    check_page(svg)
    said = texts_of(svg)
    for words in ("square", "decode", "prefill", "skinny", "large-k", "16384x16384x16384",
                  "0.200 ("):
        assert any(words in text for text in said), words
    assert any(text.endswith("4 more have no ratio.") for text in said), said
    equal(len(list(xml.fromstring(svg).iter(SVG + "polygon"))), 3, "arrows")


def classes_are_as_many_as_there_are(bench):
    records = [suite_record(f"{i + 1}x8x8", 1.0, 0.01, **{"class": f"c{i}"}) for i in range(40)]
    svg = bench.run(f"plot {write(bench, records)}").text
    check_page(svg)
    said = texts_of(svg)
    equal(len(list(xml.fromstring(svg).iter(SVG + "circle"))), 40, "dots")
    assert "c39" in said and "40x8x8" in said, said


def a_ladder_fits_its_page(bench):
    svg = bench.run(f"plot {write(bench, [support.ladder_record()])}").text
    check_page(svg)
    said = texts_of(svg)
    assert "480, 72.7 %, x 1.20; f16 sums: not like for like" in said, said
    assert "refused: not for this problem" in said, said
    equal([text for text in said if text.startswith("hopper-")][-1], "hopper-best", "last rung")
    equal(sum("not like for like" in text for text in said), 1, "marked rungs")


def colours_of(svg):
    return [dot.get("fill") for dot in xml.fromstring(svg).iter(SVG + "circle")]


def what_is_wrong_is_no_win(bench):
    name = write(bench, [suite_record("8x8x8", 1.1, 0.01, verified=False),
                         suite_record("8x8x16", 1.1, 0.01), suite_record("8x8x24", 1.2, 0.01)])
    seen = bench.run(f"plot {name} --json").json
    check_page(seen["svg"])
    equal(colours_of(seen["svg"]), ["#ccbb44", "#228833", "#228833"], "dots")
    equal(seen["marks"], 3, "marks")
    said = texts_of(seen["svg"])
    assert "1.100; wrong" in said, said
    assert "1 in yellow is not counted. " in said, said
    assert any(text.startswith("2 shapes, ") and text.endswith(" 0 losses.") for text in said), said


def sums_in_f16_are_no_win(bench):
    name = write(bench, [suite_record("8x8x8", 1.1, 0.01, f16_sums=True),
                         suite_record("8x8x16", 1.1, 0.01, plan={"acc": "f16"}),
                         suite_record("8x8x24", 1.2, 0.01, plan={"acc": "f32"})])
    svg = bench.run(f"plot {name}").text
    check_page(svg)
    equal(colours_of(svg), ["#ccbb44", "#ccbb44", "#228833"], "dots")
    said = texts_of(svg)
    equal(said.count("1.100; f16 sums: not like for like"), 2, "marks")
    assert any(text.startswith("1 shapes, ") for text in said), said


def only_what_is_drawn_is_counted(bench):
    refused = suite_record("8x8x16", 1.1, 0.01, refused={"code": "unsupported", "message": "no"})
    del refused["verified"]
    name = write(bench, [suite_record("8x8x8", 1.1, 0.01), refused])
    seen = bench.run(f"plot {name} --json").json
    equal((seen["marks"], colours_of(seen["svg"])), (1, ["#228833"]), "marks")


def numbers_beyond_all_sense_stay_on_the_page(bench):
    rows = [suite_record("8x8x8", ratio, 0) for ratio in (1e300, 1e-300, 1234.5, 98.7, -3.0)]
    for i, record in enumerate(rows):
        record.update(words=str(i), n=2**63 - 1, k=-2**63)
    rows.append(suite_record("9x8x8", 1.0, 0.01))
    rows[-1]["rows"][0].update(ratio_low=-1e308, ratio_high=1e308)
    check_page(bench.run(f"plot {write(bench, rows)}").text)
    ladder = support.ladder_record()
    ladder["rungs"][0].update(tflops=-5.0, ratio=1e300, step=1e300)
    ladder["rungs"][1].update(tflops=1e308)
    svg = bench.run(f"plot {write(bench, [ladder])}").text
    check_page(svg)
    for element in xml.fromstring(svg).iter(SVG + "rect"):
        assert float(element.get("width")) >= 0, element.attrib


def a_picture_is_the_same_every_time(bench):
    name = write(bench, public_suite())
    bench.run(f"plot {name} -o a.svg")
    bench.run(f"plot {name} -o b.svg")
    with open(bench.path("a.svg"), "rb") as a, open(bench.path("b.svg"), "rb") as b:
        equal(a.read(), b.read(), "pictures")


def a_problem_is_drawn_as_it_was_last(bench):
    name = write(bench, [suite_record("8x8x8", 1.5, 0.01), suite_record("8x8x16", 1.0, 0.01),
                         suite_record("8x8x8", 1.1, 0.01)])
    said = texts_of(bench.run(f"plot {name}").text)
    equal([text for text in said if "x8x" in text and text[0] == "8"], ["8x8x8", "8x8x16"], "names")
    assert "1.100 (1.090 to 1.110)" in said and "1.500 (1.490 to 1.510)" not in said, said


def two_runs_of_two_contenders_stand_beside_each_other(bench):
    first, second = (suite_record("8x8x8", ratio, 0.01, vs=vs)
                     for ratio, vs in ((1.1, "cublaslt"), (0.9, "cublaslt-best")))
    del first["rows"][1], second["rows"][0]
    name = write(bench, [first, second])
    assert "1.100 (1.090 to 1.110)" in texts_of(bench.run(f"plot {name} vs=cublaslt").text)
    assert "0.890 (0.890 to 0.910)" in texts_of(bench.run(f"plot {name} vs=cublaslt-best").text)
    for contender, ratio in (("cublaslt", "1.100"), ("cublaslt-best", "0.890")):
        done = script(bench, "table.py", name, contender)
        equal((done.returncode, done.stderr), (0, ""), contender)
        assert f"lowest: 8x8x8 {ratio}\n" in done.stdout, done.stdout


def types_of_one_shape_are_two_shapes(bench):
    name = write(bench, [suite_record("8x8x8", ratio, 0.01, words=f"gemm m=8 n=8 k=8 type={kind}")
                         for ratio, kind in ((0.9, "bf16"), (0.8, "f16"))])
    out = script(bench, "table.py", name).stdout
    assert "lowest: 8x8x8 0.800, 8x8x8 0.900\n" in out, out


def passes_of_two_devices_are_not_one(bench):
    records = [suite_record("8x8x8", ratio, 0.01, **{"pass": i + 1, "device": device})
               for i, (ratio, device) in enumerate(((1.1, "H200"), (0.9, "H100")))]
    name = write(bench, records)
    out = script(bench, "table.py", name).stdout
    assert "| 0.900 | 0.890 to 0.910 |" in out, out
    assert "0.900 (0.890 to 0.910)" in texts_of(bench.run(f"plot {name}").text)


def passes_stand_together_where_the_latest_is_one_of_them(bench):
    passes = [suite_record("8x8x8", 1 + i / 10, 0.01, **{"pass": i}) for i in (1, 2, 3)]
    alone = suite_record("8x8x8", 1.5, 0.01)
    for records, ratio in ((passes + [alone], "1.500"), ([alone] + passes, "1.200"),
                           (passes[1:] + [alone] + passes[:1], "1.200")):
        name = write(bench, records)
        said = texts_of(bench.run(f"plot {name}").text)
        assert any(text.startswith(ratio + " (") for text in said), (ratio, said)
        out = script(bench, "table.py", name).stdout
        assert f"lowest: 8x8x8 {ratio}\n" in out, (ratio, out)


def the_contender_can_be_chosen(bench):
    name = write(bench, [suite_record("8x8x8", 1.10, 0.01)])
    assert "1.090 (1.090 to 1.110)" in texts_of(bench.run(f"plot {name} vs=cublaslt-best").text)
    result = bench.run(f"plot {name} vs=cutlass")
    equal(result.code, 1, "exit code")
    assert "no ratio to cutlass" in result.err, result.err


def words_from_outside_stay_words(bench):
    name = write(bench, [suite_record("8x8x8", 1.0, 0.01, device="<script>&\"\u00e9\u0007",
                                      **{"class": "</text>"})])
    said = texts_of(bench.run(f"plot {name}").text)
    assert any("<script>&\"" in text for text in said), said
    assert "</text>" in said, said


def json_says_what_was_drawn(bench):
    name = write(bench, [suite_record("8x8x8", 1.0, 0.01), support.ladder_record()])
    seen = bench.run(f"plot {name} -o a.svg --json").json
    equal(seen, {"chart": "ratio", "marks": 1, "file": "a.svg", "svg": None}, "answer")
    seen = bench.run(f"plot {name} chart=ladder --json").json
    equal((seen["chart"], seen["marks"], seen["file"]), ("ladder", 8, None), "answer")
    check_page(seen["svg"])


# ---- bench/agree.py ----

def script(bench, name, *words):
    """Runs one of bench/*.py."""
    return subprocess.run([sys.executable, os.path.join(os.path.dirname(AGREE), name), *words],
                          cwd=bench.work, text=True, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


def agree(bench, *names):
    done = script(bench, "agree.py", *names)
    return done.returncode, done.stdout, done.stderr


def two_files_agree_within_their_intervals(bench):
    first = [suite_record(f"{i}x8x8", 1.0, 0.01) for i in range(1, 11)]
    second = [suite_record(f"{i}x8x8", 1.005 if i > 1 else 1.5, 0.01) for i in range(1, 11)]
    names = write(bench, first, "a.jsonl"), write(bench, second, "b.jsonl")
    code, out, err = agree(bench, *names)
    equal((code, err), (0, ""), "agree")
    assert "cublaslt: 9 of 10 shapes agree (90.0 %)" in out, out
    assert "1x8x8: 1.000 (0.990 to 1.010), then 1.500 (1.490 to 1.510)" in out, out


def fewer_than_nine_of_ten_are_a_failure(bench):
    first = [suite_record(f"{i}x8x8", 1.0, 0.01) for i in range(1, 11)]
    second = [suite_record(f"{i}x8x8", 1.005 if i > 2 else 1.03, 0.015) for i in range(1, 11)]
    names = write(bench, first, "a.jsonl"), write(bench, second, "b.jsonl")
    code, out, _ = agree(bench, *names)
    equal(code, 1, "exit code")
    assert "cublaslt: 8 of 10 shapes agree (80.0 %)" in out, out


def what_only_one_file_has_is_counted(bench):
    names = (write(bench, [suite_record("1x8x8", 1.0, 0.01), suite_record("2x8x8", 1.0, 0.01)],
                   "a.jsonl"),
             write(bench, [suite_record("1x8x8", 1.0, 0.01), suite_record("3x8x8", 1.0, 0.01)],
                   "b.jsonl"))
    with open(bench.path("b.jsonl"), "a", encoding="ascii") as file:
        file.write('{"cut')
    code, out, _ = agree(bench, *names)
    equal(code, 0, "exit code")
    assert "2 shapes are in one of the files alone" in out, out
    code, _, err = agree(bench, "a.jsonl", write(bench, [], "empty.jsonl"))
    equal(code, 1, "exit code where nothing is in both")
    assert "no shape" in err, err


def a_last_line_counts_without_its_newline(bench):
    names = [write(bench, [suite_record(f"{i}x8x8", 1.0, 0.01) for i in (1, 2)], name)
             for name in ("a.jsonl", "b.jsonl")]
    with open(bench.path("b.jsonl"), "r+", encoding="ascii") as file:
        text = file.read()
        file.seek(0)
        file.truncate()
        file.write(text.rstrip("\n"))
    code, out, _ = agree(bench, *names)
    equal(code, 0, "exit code")
    assert "2 of 2 shapes agree" in out, out
    said = texts_of(bench.run("plot b.jsonl").text)
    assert "1x8x8" in said and "2x8x8" in said, said


# ---- All of bench/*.py ----

def what_cannot_be_used_is_refused_in_a_line(bench):
    good = suite_record("8x8x8", 1.0, 0.01)
    for name, data in (("array", b"[1]\n"), ("text", b"notes\n"), ("foreign", b'{"config": 1}\n'),
                       ("bytes", b"\xff\xfe\n"), ("nul", b"\0\n"), ("nan", b'{"words": NaN}\n'),
                       ("deep", b"[" * 100000 + b"\n"),
                       ("sizes", b'{"words": "gemm"}\n'),
                       ("rows", json.dumps({**good, "rows": [1]}).encode() + b"\n")):
        with open(bench.path(name), "wb") as file:
            file.write(data)
    write(bench, [good], "good")
    write(bench, [{**good, "plan": None}], "planless")
    for words in ([["table.py", name] for name in
                   ("missing", "array", "text", "foreign", "bytes", "nul", "nan", "deep", "sizes",
                    "rows", "planless", ".")] +
                  [["agree.py", "good", "missing"], ["agree.py", "foreign", "good"],
                   ["counters.py", "./missing"], ["counters.py", "/bin/true"],
                   ["predict.py", "./missing"], ["predict.py", "/bin/true"],
                   ["predict.py", "./missing", "measured=array"]]):
        done = script(bench, *words)
        equal((done.returncode, done.stdout.count("\n| ")), (2, 0), f"{words}: {done.stderr}")
        assert re.fullmatch(rf"{re.escape(words[0])}: [^\n]+\n", done.stderr), (words, done.stderr)


def a_cut_line_is_left_out_by_the_scripts_too(bench):
    write(bench, [suite_record("8x8x8", 1.0, 0.01)], "cut")
    with open(bench.path("cut"), "a", encoding="ascii") as file:
        file.write('{"words": "gemm m=')
    done = script(bench, "table.py", "cut")
    equal((done.returncode, done.stderr), (0, ""), "cut")


if __name__ == "__main__":
    sys.exit(support.main([
        (test.__name__.replace("_", " "), test) for test in (
            a_suite_fits_its_page, classes_are_as_many_as_there_are, a_ladder_fits_its_page,
            what_is_wrong_is_no_win, sums_in_f16_are_no_win, only_what_is_drawn_is_counted,
            numbers_beyond_all_sense_stay_on_the_page, a_picture_is_the_same_every_time,
            a_problem_is_drawn_as_it_was_last,
            two_runs_of_two_contenders_stand_beside_each_other, types_of_one_shape_are_two_shapes,
            passes_of_two_devices_are_not_one,
            passes_stand_together_where_the_latest_is_one_of_them, the_contender_can_be_chosen,
            words_from_outside_stay_words, json_says_what_was_drawn,
            two_files_agree_within_their_intervals, fewer_than_nine_of_ten_are_a_failure,
            what_only_one_file_has_is_counted, a_last_line_counts_without_its_newline,
            what_cannot_be_used_is_refused_in_a_line, a_cut_line_is_left_out_by_the_scripts_too)]))
