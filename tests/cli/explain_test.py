#!/usr/bin/env python3
"""plan --explain: lines that a terminal holds, and a picture that holds what it is to show."""
import random
import re
import sys
import xml.etree.ElementTree as ElementTree

import support

BIG = "gemm m=4096 n=4096 k=4096"
WIDTH, HEIGHT = 960, 540
CHARACTER = 0.56  # of the font size, on average

REQUESTS = [
    f"{BIG} arch=sm_90a",
    f"{BIG} arch=sm_90a tile=128x256x128",
    f"{BIG} arch=sm_90a tile=128x256x256",
    f"{BIG} arch=sm_90a stages=64",
    f"{BIG} arch=sm_100a stages=64",
    f"{BIG} arch=sm_100a tile=128x224x256",
    f"{BIG} arch=sm_100a tile=512x128x256 stages=64",
    f"{BIG} arch=sm_100a tile=512x256x64 acc_stages=2",
    f"{BIG} arch=sm_100a variant=blackwell-8 tile=128x144x64",
    f"{BIG} arch=sm_103a tile=512x176x256 schedule=dynamic beta=any",
    f"{BIG} out=f32 arch=sm_100a cluster=2x1x1 tile=128x128x64 cta_group=1",
    "gemm m=4096 n=2147479552 k=64 arch=sm_90a sms=2",
    "gemm m=4096 n=2147479552 k=64 arch=sm_90a sms=2 tile=128x256x64",
] + [f"{BIG} arch=sm_100a variant=blackwell-{step}" for step in range(1, 10)]


def drawn_requests():
    draw = random.Random(11)
    for _ in range(60):
        arch = draw.choice(["sm_90a", "sm_100a", "sm_103a"])
        words = [f"gemm m={draw.choice([64, 4096, 65536])} n={8 * draw.randint(1, 4000)} k=4096",
                 f"arch={arch}", f"out={draw.choice(['f16', 'f32', 'bf16'])}"]
        if draw.random() < 0.7:
            words.append(f"tile={draw.choice([64, 128, 256])}x{16 * draw.randint(1, 16)}"
                         f"x{64 * draw.randint(1, 4)}")
        if draw.random() < 0.4:
            words.append(f"stages={draw.randint(1, 64)}")
        yield " ".join(words)


def explained(bench):
    """(request, its explanation as an object) of every request that has one."""
    for request in REQUESTS + list(drawn_requests()):
        result = bench.run(f"plan {request} --explain --json").json
        if "doors" in result:
            yield request, result
        else:
            assert request not in REQUESTS, f"{request}: {result}"


def lines_are_no_longer_than_a_terminal_is_wide(bench):
    for request, _ in explained(bench):
        for line in bench.run(f"plan {request} --explain").text.splitlines():
            assert len(line) <= 80, f"{request}: {len(line)} columns: {line}"


def columns_of_doors_stand_under_their_headings(bench):
    ends = (8, 18, 27, 34, 40)
    for request, e in explained(bench):
        doors = [line for line in bench.run(f"plan {request} --explain").text.splitlines()
                 if re.match(r" {6,7}[0-9]+ ", line)]
        support.equal(len(doors), len(e["doors"]), request)
        for line in doors:
            seen = tuple(number.end() for number in re.finditer(r"\S+", line[:40]))
            assert seen == ends and line[40:42].strip() == "", f"{request}: {line}"


def picture(bench, request):
    text = bench.run(f"plan {request} --explain -o -").text
    return ElementTree.fromstring(text)


def shapes(svg, name):
    return svg.findall("{http://www.w3.org/2000/svg}" + name)


def texts(svg):
    return ["".join(text.itertext()) for text in shapes(svg, "text")]


def all_of_a_picture_lies_within_it(bench):
    for request, _ in explained(bench):
        svg = picture(bench, request)
        for box in shapes(svg, "rect"):
            right = float(box.get("x", 0)) + float(box.get("width"))
            bottom = float(box.get("y", 0)) + float(box.get("height"))
            assert right <= WIDTH and bottom <= HEIGHT, f"{request}: a box to {right} x {bottom}"
        for line in shapes(svg, "line"):
            assert float(line.get("x2")) <= WIDTH and float(line.get("y2")) <= HEIGHT, request
        for text in shapes(svg, "text"):
            right = float(text.get("x")) + CHARACTER * float(text.get("font-size")) * len(text.text)
            assert right <= WIDTH and float(text.get("y")) <= HEIGHT, f"{request}: {text.text}"


def a_picture_says_what_is_short_and_whether_the_plan_fits(bench):
    for request, e in explained(bench):
        said = texts(picture(bench, request))
        assert f"the limit: {e['limit']}" in said, f"{request}: {said}"
        equal = ("does not fit" in said[0]) != e["fits"]
        assert equal, f"{request}: {said[0]}"


def doors_that_a_picture_has_no_place_for_are_counted(bench):
    most = 0
    for request, e in explained(bench):
        said = texts(picture(bench, request))
        doors = [" ".join(door["words"]) for door in e["doors"]]
        shown = [door for door in doors if any(text.split("  (")[0] == door for text in said)]
        more = [int(text.split()[1]) for text in said if text.startswith("and ")]
        assert shown == doors[:5], f"{request}: {shown}"
        assert len(shown) + sum(more) == len(doors), f"{request}: {said}"
        most = max(most, len(doors))
    assert most > 5


def a_legend_names_what_there_is(bench):
    def legend(words):
        return [text for text in texts(picture(bench, f"{BIG} arch=sm_100a {words}"))
                if text in ("stages", "epilogue staging", "the next stage")]

    support.equal(legend("variant=blackwell-1"), ["stages"], "one stage by threads")
    support.equal(legend("stages=64"), ["stages", "epilogue staging"], "far too many stages")
    support.equal(legend(""), ["stages", "epilogue staging", "the next stage"], "as many as fit")


TESTS = [
    ("lines are no longer than a terminal is wide", lines_are_no_longer_than_a_terminal_is_wide),
    ("columns of doors stand under their headings", columns_of_doors_stand_under_their_headings),
    ("all of a picture lies within it", all_of_a_picture_lies_within_it),
    ("a picture says what is short and whether the plan fits",
     a_picture_says_what_is_short_and_whether_the_plan_fits),
    ("doors that a picture has no place for are counted",
     doors_that_a_picture_has_no_place_for_are_counted),
    ("a legend names what there is", a_legend_names_what_there_is),
]

if __name__ == "__main__":
    sys.exit(support.main(TESTS))
