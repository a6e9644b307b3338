# SPDX-License-Identifier: MIT
"""tare diff as a user runs it: on made recordings, and on rustc's with what measureme says of them.

usage: diff_test.py TARE SCHEMAS ROOT PROGRAM     (PROGRAM: tests/programs/regions)
"""
import csv
import io
import json
import os
import random
import re
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, test, true  # noqa: E402
from mmprofdata import INSTRUCTIONS, write  # noqa: E402
from recordings import TARE, blocks, copy, damaged, document, fixtures, patched, room, tare, without_handlers  # noqa: E402

PROGRAM = sys.argv[4]
EXACT = ["--engine", "exact", "-e", "instructions:u"]


def run(name, costs, metadata=None):
    """A recording in which each label costs so much, one after the other."""
    at, events = 1000, []
    for label, cost in costs.items():
        events.append(("GenericActivity", label, 1, at, at + cost))
        at += cost + 10
    return write(room(name), events, **({"metadata": metadata} if metadata else {}))


def noisy(name, seed, scale=1.0):
    r = random.Random(seed)
    return run(name, {"steady": round(r.gauss(1000000, 1000)), "slower": round(r.gauss(1000000, 1000) * scale), "wild": round(r.gauss(1000000, 100000)),
                      **{f"other {i}": round(r.gauss(500000, 5000)) for i in range(20)}})


@test
def one_on_each_side():
    a, b = run("a", {"x": 1000, "y": 2000, "gone": 5}), run("b", {"x": 1500, "y": 1000, "fresh": 7})
    d = document("diff", a, b)
    equal(d["test"], None, "no test")
    got = {r["label"]: (r["counters"]["wall-time"]["self"]["change"], r["counters"]["wall-time"]["self"]["percent"]) for r in d["labels"]}
    equal(got, {"x": (500, 50), "y": (-1000, -50), "gone": (-5, -100), "fresh": (7, None)}, "changes")
    equal([r["label"] for r in d["labels"]], ["y", "x", "fresh", "gone"], "the greatest first")
    equal(d["all"]["counters"]["wall-time"]["whole"]["change"], -498, "all")
    text = tare("diff", a, b).stdout
    true("the noise is not known" in text and re.search(r"gone +5 ns +0 ns", text) and re.search(r"new +0 ns +7 ns", text), text)
    true("--check: with one recording" in tare("diff", "--check", a, b, status=125).stderr, "no check without noise")


@test
def the_order_of_the_runs():
    """A difference of three spreads is found if the runs are interleaved, not judged in blocks. One of forty is found in blocks, too."""
    def made(order, apart, counter=None):
        metadata = '{ "start_time": %d, "process_id": 42, "cmd": "made", "counter": { "name": "%s", "units": [["ns", 1]] } }'
        sides, spread = ([], []), [0, 130, 40, 210, 90]
        for turn, side in enumerate(order):
            at = len(sides[side])
            path = room(f"{len(set(order[:5]))}{apart}{counter}{side}{at}")
            run(path.name, {"x": 100000 + spread[at] + apart * side}, metadata % (1700000000000000000 + turn * 10**9, counter or "wall-time"))
            sides[side].append(path)
        return *sides[0], "--", *sides[1]
    blocks_, turns = [0] * 5 + [1] * 5, [0, 1, 1, 0, 0, 1, 1, 0, 0, 1]

    def row(files):
        return document("diff", *files)["labels"][0]["counters"]["wall-time"]["self"]
    got = row(made(turns, 250))
    equal((got["beyond"], got["reason"], got["test"]), (True, None, "welch"), "turns")
    files = made(blocks_, 250)
    withheld = row(files)
    equal((withheld["beyond"], withheld["judged"], withheld["reason"], withheld["test"]), (False, False, "order", "drift"), "blocks")
    true(withheld["half_95"] > 3 * got["half_95"], "the interval is wider")
    text = tare("diff", *files).stdout
    true("not judged: order of the runs" in text and "tare regions --turns 5" in text, text)
    said = " ".join(text.split())
    true("1 change of self is not judged, because a drift of the machine may explain them" in said, said)
    true("or the machine drifted: only interleaved runs" in tare("diff", "--check=0.1", *files, status=125).stderr, "--check")
    true(",order\n" in tare("diff", "--format", "csv", *files).stdout, "CSV")
    equal(row(made(blocks_, 4000))["beyond"], True, "a large one")
    true("turns" not in tare("diff", *made(turns, 250)).stdout, "no note")


@test
def rows_add_up_to_all():
    """Selves, what is in no region, and less what lies beside the threads; with the own cost taken off and without."""
    def made(name, gap, cost):
        # t begins before y and ends in it: it lies beside what nests.
        y = 500 + gap
        return write(room(name), [("K", "x", 1, 0, 500), ("K", "t", 1, y - 10, y + cost // 2), ("K", "y", 1, y, y + cost)])
    a, b = made("before", 50, 1000), made("after", 250, 1020)
    recorded = []
    for n, loops in (("before", 20), ("after", 30)):
        tare("regions", "-q", "-e", "wall-time", "-o", room(f"{n}.tare"), "--", PROGRAM, "known", str(loops), "2")
        recorded.append(room(f"{n}.tare"))
    for words in ((a, b), (*recorded,), ("--subtract-own", *recorded)):
        d = document("diff", *words)
        all_ = d["all"]["counters"]["wall-time"]
        for of in (lambda c: c["change"], lambda c: c["before"]["mean"], lambda c: c["after"]["mean"]):
            true(abs(sum(of(r["counters"]["wall-time"]["self"]) for r in d["labels"]) + of(all_["outside"]) - of(all_["detached"]) - of(all_["whole"])) < 1e-3, f"{words}: {all_}")
        text = tare("diff", *words).stdout
        equal((text.count("(in no region)"), text.count("(detached timings, not in all)")), (1, int(all_["detached"]["after"]["mean"] > 0)), text)
        true("(in no" not in tare("diff", "--match", d["labels"][0]["label"], *words).stdout, "with --match there are labels only")
    equal(document("diff", a, b)["all"]["counters"]["wall-time"]["outside"]["change"], 200, "in no region")
    true(re.search(r"\n *\+200 ns +\+400 % +50 ns +250 ns +\(in no region\)\n *\+10 ns .* \(detached timings, not in all\)\n", tare("diff", a, b).stdout), tare("diff", a, b).stdout)
    counted = [write(room(n), [("K", "x", 1, 0, 5)] * k) for n, k in (("one", 1), ("two", 2))]
    true("(in no region)" not in tare("diff", *counted).stdout, "there is none")


@test
def recordings_of_two_machines():
    """A note, and no verdict where the instructions are others."""
    a = room("here.tare")
    tare("regions", "-q", "-e", "none", "-o", a, "--", PROGRAM, "loop", "3", "1")
    cpus = [patched(a, f"cpu{i}", 3128, name.ljust(64, b"\0")) for i, name in enumerate((b"Model A", b"Model B"))]
    arm, x86 = (patched(cpus[0], f"kind{k}", 28, bytes([k, 0])) for k in (183, 62))
    for files, wanted, said in (([x86, arm], "kind", "is from another kind of CPU (arm64, Model A) than"), (cpus, "cpu", "Model B) than"), ([cpus[0], room("here.tare")], None, None)):
        if wanted is None:
            files = [cpus[0], patched(a, "unknown", 3128, bytes(64))]
        for command in ("diff", "aggregate"):
            d = document(command, *files)
            equal(d["machines_differ"], wanted, f"{command} {files}")
            text = " ".join(tare(command, *files).stdout.split())
            true(said in text if said else "another" not in text, text)
    d = document("summarize", arm)["recordings"][0]
    equal((d["machine"], d["cpu"]), ("arm64", "Model A"))
    true("arm64, Model A" in tare("summarize", arm).stdout, "summarize")
    more = [patched(x86, f"again{i}", 2000, b"x%d" % i) for i in range(2)]
    said = tare("diff", "--check", x86, *more, "--", arm, status=125).stderr
    true("another kind of CPU (arm64)" in said, said)


@test
def what_exceeds_the_noise():
    before = [noisy(f"b{i}", i) for i in range(6)]
    after = [noisy(f"a{i}", 100 + i, 1.01) for i in range(6)]
    d = document("diff", *before, "--", *after)
    equal(d["test"], "welch", "test")
    equal(document("diff", before[0], "--match", "slower", *before[1:], "--", *after)["labels"],
          [r for r in d["labels"] if "slower" in r["label"]], "options stand anywhere before --")
    rows = {r["label"]: r["counters"]["wall-time"]["self"] for r in d["labels"]}
    true(rows["slower"]["beyond"] and 0.5 < rows["slower"]["percent"] < 1.5, f"{rows['slower']}")
    true(len([k for k, v in rows.items() if v["beyond"] and k != "slower"]) <= 1, "and hardly anything by chance")
    for name, r in rows.items():
        x, y = r["before"]["runs"], r["after"]["runs"]
        true(abs(r["change"] - (statistics.mean(y) - statistics.mean(x))) < 1e-6, name)
        se = (statistics.variance(x) / 6 + statistics.variance(y) / 6) ** 0.5
        true(2.22 < r["half_95"] / se < 2.6, f"{name}: between 10 and 5 degrees of freedom")
        true(r["q"] >= r["p"], name)
    # Benjamini and Hochberg, worked out again.
    p = sorted((r["p"], name) for name, r in rows.items())
    for i, (value, name) in enumerate(p):
        want = min(q * len(p) / (k + 1) for k, (q, _) in list(enumerate(p))[i:])
        true(abs(rows[name]["q"] - min(1, want)) < 1e-9, f"q of {name}")
    tare("diff", "--check", "--match", "slower", *before, "--", *after, status=2)
    tare("diff", "--check=5", "--match", "slower", *before, "--", *after)
    tare("diff", "--check", "--match", "steady", *before, "--", *after)
    text = tare("diff", "--sure", *before, "--", *after).stdout
    true("slower" in text and "steady" not in text and "Welch's t test" in text and re.search("[12] changes? of self exceeds?", text.replace("\n  ", "")), text)


@test
def what_got_cheaper_is_no_regression():
    before = [noisy(f"b{i}", i, 1.02) for i in range(5)]
    after = [noisy(f"a{i}", 100 + i) for i in range(5)]
    d = document("diff", *before, "--", *after)
    (r,) = [r["counters"]["wall-time"]["self"] for r in d["labels"] if r["label"] == "slower"]
    true(r["beyond"] and r["change"] < 0, f"{r}")
    tare("diff", "--check", "--match", "slower", *before, "--", *after)


def change(d, label, counter="instructions:u", what="self"):
    return next(r for r in d["labels"] if r["label"] == label)["counters"][counter][what]


def judged(c):
    return c["beyond"], c["judged"], c["reason"], c.get("enough_runs"), c["p"], c.get("q")


@test
def runs_that_agree_may_be_too_few_to_tell():
    """What a noise makes that shows in half of the runs: 2 / 2^n, or f (1 - f) of 2 + 1."""
    same = [run(f"s{i}", {"x": 10**14, "y": 7}, INSTRUCTIONS) for i in range(3)]
    more = [run(f"m{i}", {"x": 10**14 + 150000, "y": 7}, INSTRUCTIONS) for i in range(3)]
    for n, m, p, enough in ((3, 3, 0.03125, None), (3, 2, 0.0625, 3), (2, 2, 0.125, 3), (3, 1, 0.125, 3), (2, 1, 0.25, 3)):
        words = [*same[:n], "--", *more[:m]]
        d = document("diff", *words)
        x, name = change(d, "x"), f"{n} + {m}"
        equal(judged(x), (enough is None, enough is None, enough and "few_runs", enough, p, p), name)
        equal((x["change"], "half_95" in x), (150000, False), f"{name}: no spread was seen, so there is no interval")
        equal(judged(d["all"]["counters"]["instructions:u"]["whole"])[:5], judged(x)[:5], f"{name}: all")
        equal(judged(change(d, "y")), (False, True, None, None, 1, 1), f"{name}: none is none")
        equal(d["test"], "welch" if m > 1 else "student", name)
        text = " ".join(tare("diff", *words).stdout.split())
        equal(("beyond the noise" in text, "x too few runs to tell" in text, "3 + 3 runs are enough" in text), (not enough, bool(enough), bool(enough)), text)
        true(("1 change of self is not judged, because the runs are too few; of the others 0 changes" in text) == bool(enough), text)
        equal("each recording has points of one thread" in text, False, "a processor counted it")
        (row,) = [r for r in csv.DictReader(io.StringIO(tare("diff", "--format", "csv", *words).stdout)) if r["label"] == "x"]
        equal((row["beyond"], row["half_95"], float(row["q"]), row["reason"]), (str(int(not enough)), "", p, "few_runs" if enough else ""), name)
        r = tare("diff", "--check", *words, status=125 if enough else 2)
        true(not enough or "(instructions:u, by 150000) or differs by chance" in r.stderr and "3 recordings on each side are enough" in r.stderr, r.stderr)
        tare("diff", "--check=1", *words)
        true(enough or "--check: x grew by 1.5e-07 % (instructions:u), beyond the noise" in r.stderr.replace("self of ", "") and "and 1 more; --sure shows them\n" in r.stderr, r.stderr)
        true(enough or tare("diff", "--check", "--sure", *words, status=2).stderr.endswith("\n  and 1 more\n"), "which it does")
        tare("diff", "--check", "--match", "y", "--by", "instructions:u", *words)  # (all) has no such name
        tare("diff", "--check", "--match", "x", "--by", "instructions:u", *words, status=125 if enough else 2)
        equal((x["test"], change(d, "y")["test"]), ("barnard", "welch" if m > 1 else "student"), f"{name}: which test")
        true("p is by Barnard's test, where the runs of each side agree; q" in text and "its ±" not in text and "by Welch" not in text and ("sure" in text), text)
        tare("diff", "--check", *more[:n], "--", *same[:m])
    c = change(document("diff", same[0], more[0]), "x")
    equal((c["reason"], c["enough_runs"], "p" in c), ("few_runs", 3, False), "one on each side")
    # Whose runs differ takes certainty, and then one run more on each side is enough; what is small beside the noise does not become beyond it.
    noisy = [[run(f"{side}{i}", {"x": cost, "z": z}, INSTRUCTIONS) for i, z in enumerate((100, 900, 500, 600))] for side, cost in (("n", 5000), ("o", 9000))]
    for n, q, beyond in ((3, 0.0625, False), (4, 1 / 64, True)):
        d = document("diff", *noisy[0][:n], "--", *noisy[1][:n])
        equal(judged(change(d, "x")), (beyond, beyond, None if beyond else "few_runs", None if beyond else 4, 2 / 4**n, q), f"{n} + {n}")
        equal((change(d, "z")["judged"], change(d, "z")["beyond"]), (True, False), "noise is judged")
    thirds = [run(f"t{i}", {"x": 10**14 + 1}, INSTRUCTIONS) for i in range(3)]
    side = document("diff", *thirds, "--", *(copy(f) for f in thirds))["labels"][0]["counters"]["instructions:u"]["self"]["before"]
    equal((side["mean"], side["min"], side["max"]), (10**14 + 1,) * 3, "what is the same each time has no rounding in its mean")
    # With one run only on either side, the variance is the other's.
    a = [run(f"v{i}", {"x": v}) for i, v in enumerate((1000, 1200, 1400))]
    d = document("diff", *a, "--", run("far", {"x": 2000}))
    r = d["labels"][0]["counters"]["wall-time"]["self"]
    true(abs(r["half_95"] / (200 * (4 / 3) ** 0.5) - 4.3027) < 1e-3, f"{r['half_95']}")


def counted(name, *words):
    tare("regions", "-q", *EXACT, "-o", room(name), "--", PROGRAM, *words)
    return room(name)


@test
def exact_counts_of_one_thread_and_of_several():
    if os.uname().machine != "x86_64":
        return
    single = {n: [counted(f"one{n}.{i}", "loop", n, 1) for i in range(3)] for n in (2000, 2001)}
    d = document("diff", single[2000][0], single[2001][0])
    c = change(d, "work")
    equal((d["one_thread"], c["reason"], c["change"]), (True, "few_runs", c["after"]["mean"] - c["before"]["mean"]), "one each")
    true(0 < c["change"] < 500, f"one more turn, whatever a point costs in this build: {c}")
    for n in (1, 2, 3):  # no number of runs tells what of it is the change
        text = " ".join(tare("diff", *single[2000][:n], "--", *single[2001][:n]).stdout.split())
        true("instructions:u is exact, and each recording has points of one thread: a difference means that other instructions were executed" in text and "threads, if there are any without" in text, text)
    text = tare("diff", *single[2000][:1], "--", *single[2000][1:]).stdout
    true("other instructions were executed" not in text, "nothing differs")
    equal(judged(change(document("diff", *single[2000], "--", *single[2001]), "work")), (True, True, None, None, 0.03125, 0.03125), "3 + 3")
    tare("diff", "--check", *single[2000], "--", *single[2001], status=2)
    # Threads race for the first use of a label: some tens of instructions, in some runs.
    several = {n: [counted(f"several{n}.{i}", "once", n, 3) for i in range(3)] for n in (100000, 100100, 150000)}
    d = document("diff", *several[100000], "--", *several[150000])
    c = change(d, "work")
    equal((d["one_thread"], judged(c), "half_95" in c), (False, (True, True, None, None, 0.03125, 0.03125), False), "what is large is found by 3 + 3")
    tare("diff", "--check", *several[100000], "--", *several[150000], status=2)
    d = document("diff", *several[100000][:2], "--", several[150000][0])
    equal(judged(change(d, "work")), (False, False, "few_runs", 3, 0.25, 0.25), "by 2 + 1 it is not")
    for n in (1, 2, 3):
        words = [*several[100000][:n], "--", *several[100100][:n]]
        c = change(document("diff", *words), "work")
        true(0 < c["change"] < 2000, f"planted: 600, and what the race makes of it: {c}")
        equal((c.get("beyond", False), c["reason"], c["enough_runs"], "q" in c), (False, "resolution", 6, False), f"what is small is not, by {n} + {n}")
        if n > 1:
            tare("diff", "--check", *words)
            text = " ".join(tare("diff", *words).stdout.split())
            true("work too few runs to tell" in text and "differ by at most 4,000, or 0.01 %" in text and "6 + 6 runs are enough" in text, text)


def counts(name, n, threads=1):
    tare("regions", "-q", "-e", "none", "-o", room(name), "--", PROGRAM, "loop", n, threads)
    return room(name)


@test
def recordings_without_a_counter():
    """How often labels ran is what is compared."""
    a, b = ([counts(f"counts{n}.{i}", n) for i in range(3)] for n in (100, 105))
    d = document("diff", *a, "--", *b)
    equal(d["counters"], [{"counter": "count", "unit": "", "quality": "exact"}], "the counter")
    equal([judged(change(d, label, "count")) for label in ("work", "thread")], [(True, True, None, None, 0.03125, 0.03125), (False, True, None, None, 1, 1)], "judged")
    equal((change(d, "work", "count")["change"], d["all"]["counters"]["count"]["whole"]["change"]), (5, 5), "changes")
    text = tare("diff", *a, "--", *b).stdout
    true(re.search(r"\+5 +\+5.0 % +q=0.031 +100 +105 +work +beyond the noise", text) and "1 change exceeds the noise" in text.replace("\n  ", ""), text)
    text = tare("diff", a[0], b[0]).stdout
    true(re.search(r"\+5 +\+5.0 % +100 +105 +work\n", text) and "the noise is not known" in text, text)
    rows = list(csv.DictReader(io.StringIO(tare("diff", "--format", "csv", *a, "--", *b).stdout)))
    equal([(r["label"], r["counter"], r["before"], r["after"], r["beyond"]) for r in rows], [("work", "count", "100", "105", "1"), ("thread", "count", "1", "1", "0")], "csv")
    r = tare("diff", "--check", "--by", "count", *a, "--", *b, status=2)
    true("--check: work grew by 5 % (count), beyond the noise" in r.stderr, r.stderr)
    tare("diff", "--check", "--match", "thread", *a, "--", *b)
    tare("diff", "--check", *b, "--", *a)
    tare("diff", "--check", *a[:2], "--", *b[:2], status=125)
    text = tare("aggregate", a[0], b[0]).stdout
    true(re.search(r"\n +100 to 105 +work +count differs\n", text) and re.search(r"\n +1 +thread\n", text) and "medians" not in text, text)
    rows = list(csv.DictReader(io.StringIO(tare("aggregate", "--format", "csv", a[0], b[0]).stdout)))
    equal([(r["label"], r["run"], r["count"], r["counter"], r["self"]) for r in rows], [("thread", "1", "1", "", ""), ("thread", "2", "1", "", ""), ("work", "1", "100", "", ""), ("work", "2", "105", "", "")], "aggregate")
    true("no counter to compare regions by" in tare("summarize", "--label", "work", a[0], status=125).stderr, "the most expensive")


@test
def usage():
    a = run("a", {"x": 1})
    for words in ([], [a], [a, a, a], [a, "--"], ["--", a], ["--", "--", a]):
        true("which recordings are from before" in tare("diff", *words, status=125).stderr, f"{words}")
    true("its counter 1 is instructions:u" in tare("diff", a, run("i", {"x": 1}, INSTRUCTIONS), status=125).stderr, "counters")
    true("have no counter" in tare("diff", "--by", "cycles", a, copy(a), status=125).stderr, "no such counter")
    for bad in ("x", "-1", "nan", "1x"):
        true("is not a percentage" in tare("diff", f"--check={bad}", a, a, "--", a, status=125).stderr, bad)
    for words in (("summarize", a), ("aggregate", a, copy(a)), ("diff", a, copy(a))):
        true("no label contains 'typo'" in tare(*words, "--match", "typo", status=125).stderr, f"{words}")
        tare(*words, "--match", "x")
    broken = write(room("broken"), [("K", "x", 1, 0, 5), ("K", "y", 1, 9, 3)])
    tare("diff", a, broken, status=1)
    rows = list(csv.DictReader(io.StringIO(tare("diff", "--format", "csv", a, run("b", {"x": 3})).stdout)))
    equal([(r["label"], r["change"], r["percent"], r["p"]) for r in rows], [("x", "2", "200", "")], "csv")
    for columns in (40, 60, 100):
        for line in tare("diff", a, copy(a), "--", run("b", {"x": 3000000}), COLUMNS=str(columns)).stdout.split("\n")[2:]:
            true(len(line) <= columns, line)


@test
def several_counters_of_recordings_of_its_own():
    files = []
    for i, rounds in enumerate((10, 10, 10, 30, 30, 30)):
        files.append(room(f"own{i}"))
        tare("regions", "-q", "-e", "wall-time,page-faults", "-o", files[-1], "--", PROGRAM, "loop", str(rounds), "2")
    sums = [document("summarize", f) for f in files]
    names = [c["counter"] for c in sums[0]["counters"]]
    true(len(names) > 1, f"{names}")
    d = document("diff", *files[:3], "--", *files[3:])
    equal([c["counter"] for c in d["counters"]], names, "counters")
    for row in d["labels"]:
        for name in names:
            for what in ("self", "total", "sum"):
                got = row["counters"][name][what]
                want = [next(r["counters"][name][what] for r in s["labels"] if r["label"] == row["label"]) for s in sums]
                equal((got["before"]["runs"], got["after"]["runs"]), (want[:3], want[3:]), f"{row['label']}, {name}, {what}")
    a = document("aggregate", *files[:3])
    equal([c["counter"] for c in a["counters"]], names, "side by side")
    equal((a["differences"], [t["runs"] for t in a["threads"]]), (0, [3] * len(a["threads"])), "the same work")
    for row in a["labels"]:
        for name in names:
            equal(row["counters"][name]["self"]["runs"],
                  [next(r["counters"][name]["self"] for r in s["labels"] if r["label"] == row["label"]) for s in sums[:3]], f"{row['label']}, {name}")
    b = document("aggregate", files[0], files[3])
    true(b["differences"] > 0, "more rounds are a difference")


def in_ns(text):
    n, unit = re.fullmatch(r"([-+][\d.]+)(ns|µs|ms|s)", text).groups()
    return round(float(n) * {"ns": 1, "µs": 10**3, "ms": 10**6, "s": 10**9}[unit])


@test
def rustcs_recordings_as_measureme_compares_them():
    path = fixtures()
    d = document("diff", path / "rustc-check-1.mm_profdata", path / "rustc-check-2.mm_profdata")
    got = {}
    for r in d["labels"]:  # measureme has one row for all kinds of a label
        g, t = got.setdefault(r["label"], [0, 0, 0]), r["counters"]["wall-time"]
        g[0] += t["self"]["change"]
        g[1] += t["sum"]["change"] if r["kind"] != "IncrementalResultHashing" else 0
        g[2] += r["counts"]["after"][0] - r["counts"]["before"][0] if r["kind"] in ("Query", "GenericActivity") else 0
    n = 0
    for line in (path / "expected/diff-1-2.txt").read_text().splitlines():
        cells = [c.strip() for c in line.split("|")[1:-1]]
        if len(cells) < 6 or cells[0] == "Item":
            continue
        n += 1
        label = cells[0].rstrip(". ")
        # What has only hits of a cache and no region is no row here.
        equal(got.get(label, [0, 0, 0]), [in_ns(cells[1]), in_ns(cells[3]), int(cells[5])], label)
        if label in [r["label"] for r in d["labels"] if r["kind"] in ("Query", "GenericActivity")] and cells[2] != "NaN%":
            rows = [r for r in d["labels"] if r["label"] == label]
            if len(rows) == 1:
                equal(f"{rows[0]['counters']['wall-time']['self']['percent']:+.2f}%", cells[2], label)
    true(n > 250, f"{n} rows")
    (total,) = re.findall(r"Total cpu time: (\S+)", (path / "expected/diff-1-2.txt").read_text())
    equal(d["all"]["counters"]["wall-time"]["whole"]["change"], in_ns(total), "all")


@test
def one_file_is_one_run():
    """Also by another name: what is added twice would pass for noise that is 0."""
    a, b, c = (run(n, {"x": 1000 + len(n)}) for n in ("one", "other", "third"))
    link = room("link")
    link.symlink_to(a)
    for words in (("diff", a, b, "--", c, a), ("diff", a, b, "--", link, c), ("aggregate", a, link), ("summarize", b, b)):
        r = tare(*words, status=125)
        true("are one file" in r.stderr and "name each recording once" in r.stderr, r.stderr)


@test
def a_copy_is_told():
    a, b, c = (run(n, {"x": 1000 + 100 * i}) for i, n in enumerate(("first", "second", "larger")))
    twins = [copy(b), copy(b, 2)]
    longer = room("longer")
    longer.write_bytes(b.read_bytes() + bytes(1))
    says = f"warning: {twins[0]} is a copy of {b}: it is not another run"
    d = tare("diff", "--format", "json", a, b, "--", *twins, c)
    equal([r["copy_of"] for side in ("before", "after") for r in json.loads(d.stdout)[side]], [None, None, str(b), str(b), None], "diff")
    true(d.stderr.count("warning") == 2 and says in d.stderr, d.stderr)
    d = tare("aggregate", "--format", "json", b, a, twins[0])
    equal([r["copy_of"] for r in json.loads(d.stdout)["runs"]], [None, None, str(b)], "aggregate")
    true(d.stderr.count("warning") == 1 and says in d.stderr, d.stderr)
    for words in (("diff", a, b, "--", c), ("aggregate", a, b, c)):
        equal(tare(*words).stderr, "", f"{words}")
    true("is a copy of" not in tare("diff", a, b, "--", longer, status=None).stderr, "a byte more")


@test
def what_lost_its_name_is_not_judged():
    """It is not gone, nor new, where regions without a name may be it; other labels are judged, and so is the whole."""
    if os.uname().machine != "x86_64":
        return  # counts that repeat, so that whatever differs is a change
    whole, lost = [room(f"named{i}") for i in range(3)], [room(f"nameless{i}") for i in range(3)]
    for f in whole + lost:
        limit = "" if f in whole else 'trap "" XFSZ; ulimit -f 276; '
        tare("regions", "-q", *EXACT, "-o", f, "--", "sh", "-c", limit + 'exec "$0" names 1400', PROGRAM)
    d = document("diff", *whole, "--", *lost, status=1)
    rows = {r["label"]: r for r in d["labels"]}
    gone = [r for r in d["labels"] if r["kind"] != "lost" and r["counts"]["after"] == [None] * 3]
    own = rows["(label with lost name)"]
    n = own["counts"]["after"][0]
    true(100 < n < 1300 and len(gone) == n and own["kind"] == "lost" and len(rows) == 1401, f"{n}, {len(gone)}, {len(rows)}")
    equal({(r["judged"], *(c[k] is None if k in ("after", "change", "percent") else c[k] for k in ("after", "change", "percent", "reason", "judged", "beyond")))
           for r in gone for c in [r["counters"]["instructions:u"]["self"], r["counters"]["instructions:u"]["total"]]}, {(False, True, True, True, "names", False, False)}, "not known")
    equal((own["judged"], change(d, own["label"])["reason"], change(d, own["label"])["beyond"]), (False, "names", False), "nor is it new")
    kept = [r for r in d["labels"] if r not in gone and r is not own]
    equal({(r["judged"], r["counters"]["instructions:u"]["self"]["reason"]) for r in kept}, {(True, None)}, "whose regions are all there")
    equal(d["all"]["judged"], True, "points are all there")
    text = " ".join(tare("diff", "--top", "0", *whole, "--", *lost, status=1, COLUMNS="200").stdout.split())
    true("gone" not in text and " new " not in text and text.count("names lost") == n + 1 and "changes of those are not judged" in text, text[-1500:])
    true(f"{n + 1} changes of self are not judged, because names were lost; of the others" in text, text[-1500:])
    tare("diff", "--check", "--match", "0", *whole, "--", *lost, status=1)
    tare("diff", "--check", "--match", "lost", *whole, "--", *lost, status=1)
    table = [r for r in csv.DictReader(io.StringIO(tare("diff", "--top", "0", "--format", "csv", *lost, "--", *whole, status=1).stdout)) if r["reason"] == "names" and r["kind"] != "lost"]
    equal((len(table), {(r["before"], r["change"], r["percent"], r["q"], r["beyond"], r["total_before"], r["total_change"]) for r in table}), (n, {("",) * 7}), "as CSV")
    # Of several processes one may have lost what another has.
    both = room("both")
    tare("regions", "-q", *EXACT, "-o", both, "--", "sh", "-c", f'"$0" names 3; trap "" XFSZ; ulimit -f 600; exec "$0" names 1400', PROGRAM)
    d = document("diff", whole[0], both, status=1)
    equal({r["judged"] or r["counters"]["instructions:u"]["self"]["reason"] for r in d["labels"]}, {"names"}, "of two processes")


@test
def what_lost_points_is_not_judged():
    if os.uname().machine != "x86_64":
        return  # counts that repeat, so that whatever differs is a change
    whole, lost = [room(f"whole{i}") for i in range(3)], [room(f"lost{i}") for i in range(3)]
    for f in whole:
        tare("regions", "-q", *EXACT, "-o", f, "--", PROGRAM, "loop", "50000", "1")
    for f in lost:
        tare("regions", "-q", *EXACT, "-o", f, "--", "sh", "-c", 'ulimit -f 320; exec "$0" loop 50000 1', PROGRAM)
    d = document("diff", *whole, "--", *lost, status=1)
    rows = {r["label"]: r["counters"]["instructions:u"] for r in d["labels"] if r["label"] != "(lost)"}
    equal([x["lost"] > 0 for x in d["before"] + d["after"]], [False] * 3 + [True] * 3, "which")
    true(rows["work"]["self"]["p"] < 0.05 and "q" not in rows["work"]["self"] and rows["work"]["self"]["percent"] < -20, f"planted: most of work is gone; {rows['work']['self']}")
    true(not any(r[k]["beyond"] for r in rows.values() for k in ("self", "total", "sum")), "and nothing is said of it")
    text = tare("diff", *whole, "--", *lost, status=1, COLUMNS="200").stdout
    true("beyond the noise" not in text and re.search(r"work +points lost", text) and "their changes are not judged" in text.replace("\n  ", " "), text)
    true("0 changes" not in text and re.search(r"\d changes of self are not judged", text), text)
    d = document("diff", lost[0], whole[0], status=1)
    equal((change(d, "work")["reason"], d["all"]["counters"]["instructions:u"]["whole"]["reason"]), ("lost", "lost"), "one on each side")
    text = tare("diff", lost[0], whole[0], status=1, COLUMNS="200").stdout
    true(re.search(r"\(all\) +points lost\n", text) and re.search(r"work +points lost\n", text), text)
    # What a thread with a gap has at all may have lost whole regions; a label of other threads only has not.
    sides = []
    for name, n in (("thin", 50), ("thick", 150)):
        sides.append([room(f"{name}{i}") for i in range(3)])
        for f in sides[-1]:
            tare("regions", "-q", *EXACT, "-o", f, "--", "sh", "-c", f'"$0" loop 60000 1; "$0" known {n} 1', PROGRAM)
    gaps = [damaged(f, f"{f.name}gap", 2) for f in sides[1]]
    d = document("diff", *sides[0], "--", *gaps, status=1)
    rows = {r["label"]: (r["judged"], r["counters"]["instructions:u"]["self"]["beyond"]) for r in d["labels"]}
    equal([rows[x] for x in ("work", "thread", "1000", "(lost)")], [(False, False), (False, False), (True, True), (False, False)], "whose points were lost")
    equal(d["all"]["judged"], False, "nor all of them together")
    text = " ".join(tare("diff", *sides[0], "--", *gaps, status=1, COLUMNS="200").stdout.split())
    true(re.search(r"3 changes of self are not judged, because points were lost; of the others \d+ changes", text), text)
    # A thread of which only its gap is left may have had any label.
    none = [patched(f, f"{f.name}none", blocks(f)[-1][0] + 200, bytes(8)) for f in sides[1]]
    d = document("diff", *sides[0], "--", *none, status=1)
    equal({r["label"] for r in d["labels"] if r["judged"]} - {"(lost)"}, set(), "a whole thread is lost")
    d = document("aggregate", whole[0], lost[0], status=1)
    true(d["runs"][1]["lost"] > 0 and d["runs"][0]["lost"] == 0, "aggregate says which")
    true("Run 2: " in tare("aggregate", whole[0], lost[0], status=1).stdout, "and how many")


@test
def points_of_handlers_stop_no_verdict_but_their_labels():
    if os.uname().machine != "x86_64":
        return
    runs = {}
    for name, rounds in (("few", 1000), ("more", 3000)):
        runs[name] = [room(f"{name}{i}") for i in range(3)]
        for f in runs[name]:
            tare("regions", "-q", *EXACT, "-o", f, "--", PROGRAM, "loop", str(rounds), "1")

    def judged(before, after):
        d = document("diff", *before, "--", *after, status=1)
        rows = {r["label"]: {k: (x["judged"], x["beyond"]) for k, x in r["counters"]["instructions:u"].items() if k != "unit"} for r in d["labels"]}
        true(all(r["judged"] or not any(sum(rows[r["label"]].values(), ())) for r in d["labels"]), d["labels"])
        text = " ".join(tare("diff", *before, "--", *after, status=1, COLUMNS="200").stdout.split())
        return d, rows, text

    def lost(name, points, *labels):
        return [without_handlers(f, f"{f.name}lost", points, *labels) for f in runs[name]]

    no, yes, none = (False, False), (True, True), (True, False)
    # Another label's points: what they may have cost is less than what changed here.
    d, rows, text = judged(lost("few", 7, "thread"), lost("more", 7, "thread"))
    equal([x["lost"] for x in d["before"] + d["after"]], [7] * 6, "told")
    equal((rows["work"]["self"], rows["work"]["total"], rows["thread"]["self"], rows["thread"]["total"]), (no, yes, no, no),
          "4 regions of thread may have cost more than what changed in the self of work, but not in its total")
    true(d["all"]["judged"] and d["all"]["counters"]["instructions:u"]["whole"]["beyond"], "in all, too")
    true("work points lost, total beyond the noise" in text and "thread points lost" in text, text)
    equal(text.count("Points of signal handlers were lost"), 1, text)
    equal(tare("diff", "--check", *lost("few", 7, "thread"), "--", *lost("more", 7, "thread"), status=None).returncode, 2, "by the total of work")
    d, rows, text = judged(lost("few", 7, "work"), lost("more", 7, "work"))
    equal((rows["work"]["self"], rows["work"]["total"], rows["thread"]["self"], rows["thread"]["total"]), (no, no, yes, yes),
          "4 regions of work are next to nothing of thread")
    # Lost on one side only; or more of them than what changed.
    equal(judged(runs["few"], lost("more", 1, "work"))[1]["work"]["self"], no, "the side that is whole judges nothing")
    _, rows, _ = judged(runs["few"], lost("more", 10**6, "work"))
    equal((rows["thread"]["self"], rows["thread"]["total"]), (no, yes), "what was lost stands in the self of what is around it")
    equal(judged(lost("few", 10**6, "work"), runs["more"])[1]["thread"]["self"], yes, "before, it can only have made the change less")
    # A recording that does not know which.
    equal({x for r in judged(runs["few"], lost("more", 1))[1].values() for x in r.values()}, {no}, "any label")
    text = " ".join(tare("summarize", lost("few", 7, "work")[0], status=1).stdout.split())
    true("7 points were lost, of signal handlers." in text and "(lost)" not in text, text)


@test
def a_recording_says_that_there_was_one_cpu():
    """tare aggregate does not advise it then: src/regions/aggregate_view_test.c."""
    cpu = str(min(os.sched_getaffinity(0)))
    for way in ([TARE, "regions", "--deterministic=+cpu"], ["taskset", "-c", cpu, TARE, "regions"]):
        subprocess.run([*way, "-q", "-e", "none", "-o", room("bound"), "--", PROGRAM, "loop", "1", "1"], check=True, capture_output=True)
        equal(room("bound").read_bytes()[3208], 1, f"file_head.one_cpu by {way}")


@test
def a_gap_of_known_length_is_one_difference():
    """aggregate passes over as many points in the other runs as one lost, and compares the same intervals behind it."""
    if os.uname().machine != "x86_64":
        return
    a, b = room("gapless"), room("gapless2")
    for f in (a, b):
        tare("regions", "-q", *EXACT, "-o", f, "--", PROGRAM, "loop", "40000", "1")
    n = document("aggregate", a, b)["runs"][0]["points"]
    for files in ((a, damaged(b, "middle", 2)), (damaged(b, "first", 1), a), (a, b, damaged(b, "last", 0)),
                  (damaged(a, "gap2", 2), damaged(b, "gap3", 3))):
        d = document("aggregate", *files, status=1)
        lost = sum(r["lost"] for r in d["runs"])
        gaps = sum(r["lost"] > 0 for r in d["runs"])
        equal([r["points"] + r["lost"] for r in d["runs"]], [n] * len(files) if len(files) == 2 else [n, n, n], "what is there and what is lost")
        equal([r["alone"] for r in d["runs"]], [lost - r["lost"] for r in d["runs"]], "and nothing else is alone")
        true(lost > 0 and d["differences"] == gaps, f"{d['differences']} differences by {gaps} gaps")
        (c,) = d["counters"]
        true(n - lost - 1 - gaps <= c["intervals"] <= n - lost - 1, f"all others are compared: {c['intervals']} of {n} less {lost}")
        equal((c["noise"], c["equal"]), (0, c["intervals"]), "and are the same")
        if files[0].name == "first":
            equal([r["kind"] for r in d["first_differences"][0]["runs"]], ["lost", "begin"], "no thread ends there")


@test
def what_was_open_at_a_gap_is_in_pieces():
    whole, path = room("openwhole"), room("opengap")
    tare("regions", "-q", "-o", whole, "--", PROGRAM, "loop", "40000", "1")
    path = damaged(whole, path.name, 2)
    rows = [r for r in csv.DictReader(io.StringIO(tare("export", "-f", "csv", path, status=1).stdout)) if r["kind"] == "region"]
    at = [(r["label"], r["at_gap"], r["repaired"]) for r in rows if r["label"] != "work"]
    equal(at, [("thread", "end", "yes"), ("(lost)", "", "yes"), ("thread", "begin", "yes")], "csv")
    pieces = [r["at_gap"] for r in rows if r["label"] == "work" and r["at_gap"]]
    true(pieces in ([], ["end"], ["begin"], ["end", "begin"]) and all(r["repaired"] == ("yes" if r["at_gap"] else "") for r in rows if r["label"] != "(lost)"), f"{pieces}")
    want = sorted(["end", "begin"] + pieces)
    r = tare("export", "-f", "chrome", path, status=1)
    equal(sorted(e["args"]["at_gap"] for e in json.loads(r.stdout)["traceEvents"] if "at_gap" in e.get("args", {})), want, "chrome")
    true(f"{len(want)} begins or ends" in r.stderr, f"each once: {r.stderr}")
    equal(tare("export", "-f", "firefox", path, status=1).stdout.count("may be a piece of a region that was open where points were lost"), len(want), "firefox")
    true("at_gap" not in tare("export", "-f", "chrome", whole).stdout, "nothing of the kind where nothing is lost")
    # What was open across it, behind it, is in what is around it, or in no region: the summary says so.
    true(re.search(r"\(in no region\) +points lost\n", tare("summarize", path, status=1, COLUMNS="200").stdout), "summarize")
    true("points lost" not in tare("summarize", whole, COLUMNS="200").stdout, "of a whole one it does not")


@test
def a_gap_at_the_begin_has_no_length():
    """Nobody knows when it began: all exports have it as an instant, where the first point behind it is."""
    made = room("wholebegin")
    tare("regions", "-q", "-o", made, "--", PROGRAM, "loop", "40000", "1")
    made = damaged(made, "nobegin", 1)
    made = {x: json.loads(tare("export", "-f", x, made, status=1).stdout) for x in ("chrome", "speedscope", "firefox")}
    (gap,) = [e for e in made["chrome"]["traceEvents"] if e["name"] == "(lost)"]
    (at,) = [e["ts"] for e in made["chrome"]["traceEvents"] if e["name"] == "lost points"]
    equal((gap["ts"], gap["dur"], gap["args"]["unknown"]), (at, 0, "begin"), "chrome")
    frame = [f["name"] for f in made["speedscope"]["shared"]["frames"]].index("(lost)")
    first, last = [e["at"] for p in made["speedscope"]["profiles"] for e in p["events"] if e["frame"] == frame]
    true(first == last > 0, f"speedscope: {first} to {last}")
    gaps = []
    for t in made["firefox"]["threads"]:
        names = t.get("stringArray") or made["firefox"]["shared"]["stringArray"]
        m = t["markers"]
        gaps += [(m["startTime"][i], m["endTime"][i]) for i in range(len(m["name"])) if names[m["name"][i]] == "(lost)"]
    true(len(gaps) == 1 and gaps[0][0] == gaps[0][1] > 0, f"firefox: {gaps}")


main()
