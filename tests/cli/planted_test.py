#!/usr/bin/env python3
"""What is easy to get wrong in a kernel whose warps have roles, planted by hand in the text of
`lathe emit`, as someone would who writes it: `lathe check text=` must name the fault, and of it
the role and the barrier or the buffer."""
import re
import sys

import support
from support import equal

# Several k blocks for each stage, and an odd number of them, so that parities matter.
PROBLEM = "gemm m=256 n=256 k=448 arch=sm_90a tile=128x128x64 cluster=2x1x1 stages=2".split()
ALONE = [word.replace("2x1x1", "1x1x1") for word in PROBLEM]
# More tiles than there are CTAs.
TILES = "gemm m=768 n=768 k=192 arch=sm_90a tile=64x64x64 cluster=1x1x1 stages=2".split()


def replace(old, new, count=1):
    """The change of one place, which must be there; count=0: of every place."""
    def change(text):
        assert old in text, f"the text has no longer: {old}"
        return text.replace(old, new, count or -1)
    return change


def delete(old, count=1):
    return replace(old, "", count)


def before(place, line):
    return replace(place, line + place)


def both(first, second):
    return lambda text: second(first(text))


def without_line(*words):
    """The change that leaves out the one line that has all the words."""
    def change(text):
        lines = text.splitlines(keepends=True)
        fitting = [line for line in lines if all(word in line for word in words)]
        assert len(fitting) == 1, f"{len(fitting)} lines have {words}"
        return text.replace(fitting[0], "", 1)
    return change


PRODUCER_PARITY = "mov.u32 %tiles_parity, 1;"
CONSUMER_PARITY = "mov.u32 %tiles_parity, 0;"
FULL_WAIT = """        mbarrier.try_wait.parity.shared::cta.b64 %tiles_ready, [%tiles_full], %tiles_parity;
        @!%tiles_ready bra $consumer_tiles_ready_wait;
"""
EMPTY_WAIT = """        mbarrier.try_wait.parity.shared::cta.b64 %tiles_free, [%tiles_empty], %tiles_parity;
        @!%tiles_free bra $producer_tiles_free_wait;
"""
EMPTY_TRY = EMPTY_WAIT.splitlines(keepends=True)[0]
DRAIN_WAIT = """        mbarrier.try_wait.parity.shared::cta.b64 %tiles_drained, [%tiles_empty], %tiles_parity;
        @!%tiles_drained bra $producer_tiles_drained_wait;
"""
CLUSTER_BARRIER = """    barrier.cluster.arrive.relaxed;
    barrier.cluster.wait;
"""
RESET = "        mov.u32 %k_block, 0;\n    $consumer_k_block:"

# What is planted, the change, codes that fit, and what a report with one of them must name.
FAULTS = [
    ("a producer that starts at parity 0", replace(PRODUCER_PARITY, "mov.u32 %tiles_parity, 0;"),
     "deadlock", ["(producer)", "%tiles_empty"]),
    ("a consumer that starts at parity 1", replace(CONSUMER_PARITY, "mov.u32 %tiles_parity, 1;"),
     "premature-use uninitialised", ["(consumer)", "stage ring"]),
    ("bytes announced without those of the other CTA's multicast",
     replace("mad.lo.u32 %stage_bytes, %a_rows, 128, 16384;",
             "mad.lo.u32 %stage_bytes, %a_rows, 128, 8192;"),
     "transaction-count", ["(producer)", "[%b_tile] at barriers (shared 0x400"]),
    ("bytes announced for two CTAs", replace("mad.lo.u32 %stage_bytes, %a_rows, 128, 16384;",
                                             "mad.lo.u32 %stage_bytes, %a_rows, 256, 32768;"),
     "deadlock transaction-count", ["%tiles_full"]),
    ("a wait without which its loop never ends", delete(EMPTY_TRY), "uninitialised",
     ["(producer)", "bra reads register %tiles_free"]),
    ("a barrier of the whole CTA in a role", before(RESET, "        bar.sync 0;\n"),
     "deadlock", ["(producer)", "at barrier 0: 256 threads are there"]),
    ("a barrier of the CTA where the cluster's belongs",
     replace(CLUSTER_BARRIER, "    bar.sync 0;\n"), "barrier-init early-access",
     ["barriers"]),
    ("a CTA that ends while another still signals it", delete(DRAIN_WAIT), "early-exit",
     ["(consumer)", "barriers + 16"]),
    ("a product of a stage that was not waited for", delete(FULL_WAIT),
     "premature-use uninitialised", ["(consumer)", "stage ring"]),
    ("a copy into a stage that was not waited for", delete(EMPTY_WAIT), "arrival-count",
     ["(producer)", "%tiles_full"]),
    ("a stage that goes before its product is done",
     replace("wgmma.wait_group.sync.aligned 1;", "wgmma.wait_group.sync.aligned 2;"),
     "stage-reused", ["(producer)", "(consumer)", "stage ring"]),
    ("sums that are read before they are there", delete("wgmma.wait_group.sync.aligned 0;"),
     "premature-accumulator", ["(consumer)", "%acc"]),
    ("rows of A that nobody copies",
     both(without_line("cp.async.bulk.tensor", "[%a_map, "),
          replace("%a_rows, 128, 16384;", "%a_rows, 0, 16384;")),
     "uninitialised", ["(consumer)", "stage ring", "any of A"], ALONE),
    ("columns of B that nobody copies",
     both(without_line("cp.async.bulk.tensor", "[%b_map, "),
          replace("%a_rows, 128, 16384;", "%a_rows, 128, 0;")),
     "uninitialised", ["(consumer)", "stage ring", "any of B"], ALONE),
    ("no proxy fence before a store by TMA", delete("fence.proxy.async.shared::cta;", 0),
     "missing-proxy-fence", ["(consumer)", "epilogue staging"]),
    ("no barrier before a store by TMA",
     replace("fence.proxy.async.shared::cta;  // TMA reads what ordinary stores have written\n"
             "                bar.sync %store_barrier, 128;", "fence.proxy.async.shared::cta;", 0),
     "race", ["(consumer)", "epilogue staging"]),
    ("a phase that starts anew with each tile",
     before(RESET, "        mov.u32 %tiles_parity, 0;\n"),
     "premature-use", ["(producer)", "(consumer)", "stage ring"], TILES),
]


# A pair of CTAs: k blocks that are no multiple of the stages; and more tiles than there are pairs.
PAIR = "gemm m=256 n=128 k=448 arch=sm_100a variant=blackwell-8 tile=256x64x64 stages=2".split()
PAIRS = "gemm m=4096 n=384 k=192 arch=sm_100a variant=blackwell-8 tile=256x64x64 stages=2".split()
ROLES = "gemm m=2048 n=2560 k=64 arch=sm_100a variant=blackwell-7 tile=128x128x64".split()
REPLIES = [*ROLES, "schedule=dynamic"]
COPIES = "gemm m=128 n=128 k=128 arch=sm_100a variant=blackwell-3".split()

MMA_FULL_WAIT = FULL_WAIT.replace("$consumer", "$mma")
TILE_BEGINS = "        mov.u32 %k_block, 0;\n    $mma_k_block:"
LAST_BARRIER = """    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
"""
STAGE_COMMIT = ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
                "[%tiles_empty];")
PLAIN_ARRIVAL = "mbarrier.arrive.shared::cta.b64 _, [%tiles_empty];"

FAULTS += [
    ("a producer of a pair that starts at parity 0",
     replace(PRODUCER_PARITY, "mov.u32 %tiles_parity, 0;"),
     "deadlock", ["warp 7", "%tiles_empty"], PAIR),
    ("an MMA that starts at parity 1", replace(CONSUMER_PARITY, "mov.u32 %tiles_parity, 1;"),
     "premature-use uninitialised", ["(mma)", "stage ring"], PAIR),
    ("a writer that starts at parity 1",
     replace("mov.u32 %accs_parity, 0;", "mov.u32 %accs_parity, 1;"),
     "uninitialised premature-use race premature-accumulator", ["(writer)", "tensor memory"], PAIR),
    ("bytes announced for one CTA of two", replace("[%tiles_full], 40960;", "[%tiles_full], 20480;"),
     "premature-use", ["(mma)", "(producer)", "stage ring"], PAIR),
    ("both CTAs of a pair issue its MMAs", delete("    and.pred %issues, %issues, %is_leader;\n"),
     "deadlock", ["warp 4", "%tiles_full", "of rank 1"], PAIR),
    ("writers counted in one CTA of two", replace("[%accs_empty], 256;", "[%accs_empty], 128;"),
     "missing-tcgen05-fence race", ["(mma)", "(writer)", "tensor memory"], PAIRS),
    ("a barrier of the whole CTA in the role of the MMA",
     before(TILE_BEGINS, "        bar.sync 0;\n"), "divergence", ["(mma)", "bar.sync"], PAIR),
    ("a barrier of the CTA before a pair frees tensor memory",
     replace(LAST_BARRIER, "    bar.sync 0;\n"), "race early-exit tmem-misuse", ["(teardown)"], PAIR),
    ("tensor memory that is not waited for", delete("tcgen05.wait::ld.sync.aligned;"),
     "missing-tcgen05-wait", ["(writer)", "tensor memory"], PAIR),
    ("an MMA of a stage that was not waited for", delete(MMA_FULL_WAIT),
     "premature-use uninitialised", ["(mma)", "stage ring"], PAIR),
    ("rows of A of a pair that nobody copies",
     both(without_line("cp.async.bulk.tensor", "[%a_map, "),
          replace("[%tiles_full], 40960;", "[%tiles_full], 8192;")),
     "uninitialised", ["(mma)", "stage ring", "any of A"], PAIR),
    ("columns of B of a pair that nobody copies",
     both(without_line("cp.async.bulk.tensor", "[%b_map, "),
          replace("[%tiles_full], 40960;", "[%tiles_full], 32768;")),
     "uninitialised", ["(mma)", "stage ring", "any of B"], PAIR),
    ("a stage that goes before its MMA is done", replace(STAGE_COMMIT, PLAIN_ARRIVAL),
     "premature-use", ["(producer)", "(mma)", "stage ring"],
     "gemm m=128 n=128 k=448 arch=sm_100a variant=blackwell-7".split()),
    ("no proxy fence between copies and the tensor core",
     delete("fence.proxy.async.shared::cta;"), "missing-proxy-fence", ["(multiply)", "stage ring"],
     COPIES),
    ("no proxy fence between a reply that is read and the next one in its place",
     delete("fence.proxy.async.shared::cta;  // this read comes before what the async proxy writes "
            "next\n", 0), "missing-proxy-fence", ["(scheduler)", "scheduler reply"], REPLIES),
    ("no fence between those who read sums and those who overwrite them",
     delete("tcgen05.fence::before_thread_sync;", 0), "missing-tcgen05-fence",
     ["tensor memory", "(writer)"], ROLES),
    ("tensor memory that is not given back", without_line("tcgen05.dealloc"),
     "tmem-leak", ["warp 0 (tensor memory)", "tcgen05.alloc"], PAIR),
    ("an MMA whose phase starts anew with each tile",
     before(TILE_BEGINS, "        mov.u32 %tiles_parity, 0;\n"),
     "premature-use", ["(mma)", "stage ring"], PAIRS),
]

# Two pairs that share B; four CTAs that share A and B by twos.
SHARED = ("gemm m=1024 n=128 k=448 arch=sm_100a variant=blackwell-8 tile=256x64x64 stages=2 "
          "cluster=4x1x1").split()
SHARED_ALONE = ("gemm m=256 n=256 k=448 arch=sm_100a variant=blackwell-7 tile=128x64x64 stages=2 "
                "cluster=2x2x1").split()

FAULTS += [
    ("a stage that goes for its own pair alone",
     replace("[%tiles_empty], %filling_mask;", "[%tiles_empty], %pair_mask;"),
     "deadlock", ["warp 7", "%tiles_empty", "1 of 2 arrivals"], SHARED),
    ("a stage that is free when one pair of two has read it",
     lambda text: re.sub(r"(\[%tiles_empty[+0-9]*\]), 2;", r"\1, 1;", text),
     "stage-reused arrival-count", ["(producer)", "stage ring"], SHARED),
    ("bytes announced without those that the other pair sends",
     replace("[%tiles_full], 40960;", "[%tiles_full], 36864;"),
     "transaction-count", ["(producer)", "barriers", "%b_to"], SHARED),
    ("a slice that goes where the other one does",
     replace("add.u32 %b_to, %a_tile, %b_slice;", "mov.u32 %b_to, %a_tile;"),
     "stage-reused uninitialised", ["(producer)", "stage ring", "%b_to"], SHARED),
    ("a slice of the rows that the other one fetches",
     delete("add.u32 %b_row, %b_row, %b_slice_row;"), "wrong-answer",
     ["elements are wrong"], SHARED),
    ("a slice for both halves of the pairs",
     replace("mov.b32 %b_ranks, 0x5;", "mov.b32 %b_ranks, 0x7;"),
     "stage-reused transaction-count race", ["(producer)"], SHARED),
    ("bytes that count at the odd CTA of a pair",
     replace("and.b32 %leader_full, %tiles_full, 0xfeffffff;", "mov.b32 %leader_full, %tiles_full;"),
     "deadlock transaction-count", ["%tiles_full"], SHARED),
    ("pairs that do not wait for each other before they send",
     replace(CLUSTER_BARRIER, "    bar.sync 0;\n"), "barrier-init early-access", ["barriers"], SHARED),
    ("a pair that ends before the other one has",
     delete(LAST_BARRIER), "early-exit tmem-misuse race", ["(teardown)"], SHARED),
    ("a CTA that ends while others let stages go",
     delete(DRAIN_WAIT), "early-exit", ["(mma)", "barriers + "], SHARED_ALONE),
]

# Where the phase is over already it is the same with the branch and without it: so every one is
# found by the text, whatever the schedule.
FAULTS += [
    (f"a wait of the {role} for {barrier} that is tried once",
     without_line(f"@!%{predicate} bra ${role}_"), "unchecked-wait", [f"({role})", f"%{barrier}"],
     problem)
    for problem, role, predicate, barrier in [
        (PROBLEM, "producer", "tiles_free", "tiles_empty"),
        (PROBLEM, "producer", "tiles_drained", "tiles_empty"),
        (PROBLEM, "consumer", "tiles_ready", "tiles_full"),
        (PAIRS, "producer", "tiles_free", "tiles_empty"),
        (PAIRS, "mma", "tiles_ready", "tiles_full"),
        (PAIRS, "mma", "accs_free", "accs_empty"),
        (PAIRS, "writer", "accs_ready", "accs_full"),
    ]
]

# Four pairs that share A and B by twos, and ask for their next tile. Where one of them stands still
# the others do soon; the report begins with the barrier that they come from.
DYNAMIC = ("gemm m=900 n=300 k=448 type=bf16 arch=sm_100a tile=256x64x64 cluster=4x2x1 cta_group=2 "
           "stages=3 acc_stages=2 schedule=dynamic beta=any ldc=304 ldd=304").split()
EXPECTED_REPLY = """mapa.shared::cluster.u32 %expecting_full, %replies_full, 5;
        mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%expecting_full], 16;
"""

FAULTS += [
    ("half of a reply announced in one CTA of eight",
     replace(EXPECTED_REPLY, EXPECTED_REPLY.replace("16;", "8;")),
     "transaction-count", ["[%replies_full] at barriers", "of rank 5)", "(scheduler)",
                           "-8 bytes are still due, and nobody who waits is known to give them"],
     DYNAMIC),
    ("a reply that goes to the CTA that asks for it alone",
     delete(".multicast::cluster::all"),
     "transaction-count", ["[%replies_full] at barriers", "(scheduler)",
                           "16 bytes are still due, and nobody who waits is known to give them"],
     DYNAMIC),
    ("a stage that goes without telling one of those who fill it",
     replace("mov.b32 %row_ranks, 0x33;", "mov.b32 %row_ranks, 0x13;"),
     "deadlock", ["[%tiles_empty] at barriers", "1 of 3 arrivals",
                  "also waiting: CTA", "(mma)", "[%tiles_full] of rank"], DYNAMIC),
    ("rows of A that do not go to the other pair",
     replace("mov.b32 %a_ranks, 0x11;", "mov.b32 %a_ranks, 0x1;"),
     "transaction-count", ["[%tiles_full] at barriers (shared 0x400 of rank 4)",
                           "32768 bytes are still due, and nobody who waits is known to give them"],
     DYNAMIC),
]


def plant(bench, change, problem=PROBLEM):
    """Writes k.ptx."""
    equal(bench.run(["emit", *problem, "-o", "k.ptx"]).code, 0, "emit")
    with open(bench.path("k.ptx"), encoding="ascii") as file:
        text = file.read()
    changed = change(text)
    assert changed != text, "nothing is planted"
    with open(bench.path("k.ptx"), "w", encoding="ascii") as file:
        file.write(changed)


def found(bench, name, change, codes, words, problem=PROBLEM):
    bench.use_emulator()
    plant(bench, change, problem)
    result = bench.run(["check", *problem, "text=k.ptx", "data=integers", "seeds=10", "--json"])
    findings = result.json.get("findings", [])
    seen = [(finding["code"], " ".join(finding["report"])) for finding in findings]
    fitting = [report for code, report in seen if code in codes.split()]
    equal(result.code in (0, 1), True, f"{name}: {result.text}{result.err}")
    assert fitting, f"{name}: {seen or 'nothing was found'}"
    assert any(all(word in report for word in words) for report in fitting), (
        f"{name}: no report has all of {words}: {fitting}")


def nothing_is_found_in_the_text_as_it_was(bench):
    bench.use_emulator()
    equal(bench.run(["emit", *PROBLEM, "-o", "k.ptx"]).code, 0, "emit")
    result = bench.run(["check", *PROBLEM, "text=k.ptx", "guard=1", "seeds=10", "--json"])
    equal((result.code, result.json["findings"]), (0, []), "check")
    result = bench.run(["run", *PROBLEM, "text=k.ptx", "--json"])
    equal((result.code, result.json["ok"]), (0, True), "run")


def one_mistake_is_told_once(bench):
    """However many registers of the accumulator were read too early."""
    bench.use_emulator()
    plant(bench, delete("wgmma.wait_group.sync.aligned 0;"))
    result = bench.run(["check", *PROBLEM, "text=k.ptx", "seeds=3", "--json"])
    codes = [finding["code"] for finding in result.json["findings"]]
    equal(codes.count("premature-accumulator"), 1, f"findings {codes}")


def run_runs_the_text_that_it_is_given(bench):
    bench.use_emulator()
    plant(bench, replace("mul.f32 %low, %acc0, %alpha;", "mov.f32 %low, %acc0;"))
    result = bench.run(["run", *PROBLEM, "text=k.ptx", "--json"])
    equal((result.code, result.json["ok"]), (1, False), "run")


def a_deadlock_names_the_barrier_that_waits_for_too_many(bench):
    """Of all that are waited for in the end. The second stages of some rings are never used."""
    bench.use_emulator()
    text = bench.run(["emit", *DYNAMIC]).text
    places = {"smem_start": 0}
    places.update((name, int(place)) for name, place in
                  re.findall(r"add.u32 %(\w+), %smem_start, (\d+);", text))
    told = 0
    for name, behind, count in re.findall(r"mbarrier.init\S* \[%(\w+)\+?(\d*)\], (\d+);", text):
        init = f"[%{name}{'+' if behind else ''}{behind}], "
        plant(bench, replace(f"{init}{count};", f"{init}{int(count) + 1};"), DYNAMIC)
        result = bench.run(["check", *DYNAMIC, "text=k.ptx", "seeds=1", "--json"])
        place = places.get(name, 0) + int(behind or 0)
        for finding in result.json["findings"]:
            told += 1
            equal(finding["object"].split(" (")[0], f"barriers + {place}" if place else "barriers",
                  f"{init}: {finding['report']}")
    equal(told >= 10, True, f"{told} deadlocks")


def a_deadlock_begins_with_the_role_that_starts_wrong(bench):
    """Roles wait for it, and it for them: for room where there is nothing but room."""
    bench.use_emulator()
    for problem in (PROBLEM, ROLES, PAIR, PAIRS, REPLIES, DYNAMIC):
        for ring, role in (("tiles", "producer"), ("accs", "mma"), ("replies", "scheduler")):
            start = f"mov.u32 %{ring}_parity, 1;"
            if start not in bench.run(["emit", *problem]).text:
                continue
            plant(bench, replace(start, start.replace("1;", "0;")), problem)
            result = bench.run(["check", *problem, "text=k.ptx", "seeds=1", "--json"])
            told = [(finding["code"], finding["role"], finding["operand"])
                    for finding in result.json["findings"]]
            equal(told, [("deadlock", role, f"[%{ring}_empty]")], f"{problem}: {ring}")


def what_cannot_run_is_refused_in_a_line(bench):
    bench.use_emulator()
    with open(bench.path("empty.ptx"), "w", encoding="ascii"):
        pass
    plant(bench, lambda text: text[:len(text) // 2])
    for file, said in (("absent.ptx", "No such file"), ("empty.ptx", "must keep the entry"),
                       ("k.ptx", r"line \d+: ")):
        for verb in ("check", "run"):
            result = bench.run([verb, *PROBLEM, "text=" + file])
            equal(result.code, 1, f"{verb} {file}")
            support.one_line(result, f"{verb} {file}")
            assert re.search(said, result.err), result.err


TESTS = [nothing_is_found_in_the_text_as_it_was, one_mistake_is_told_once,
         run_runs_the_text_that_it_is_given, what_cannot_run_is_refused_in_a_line,
         a_deadlock_names_the_barrier_that_waits_for_too_many,
         a_deadlock_begins_with_the_role_that_starts_wrong]

if __name__ == "__main__":
    sys.exit(support.main(
        [(test.__name__.replace("_", " "), test) for test in TESTS] +
        [(fault[0] + " is found",
          lambda bench, fault=fault: found(bench, *fault)) for fault in FAULTS]))
