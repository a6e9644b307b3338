# SPDX-License-Identifier: MIT
"""Regions of coroutines, by a program whose loops have a known number of instructions.

usage: fibers_test.py TARE PROGRAM     (PROGRAM: tests/programs/fibers)
"""
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402

TARE, PROGRAM = (os.path.abspath(p) for p in sys.argv[1:3])
ROOM = tempfile.TemporaryDirectory()
ENV = {k: v for k, v in os.environ.items() if not k.startswith("TARE_REGIONS")}
COUNT = "duration_instructions:u"


def sh(*words, status=0):
    r = subprocess.run(words, capture_output=True, text=True, timeout=100, env=ENV, cwd=ROOM.name)
    equal(r.returncode, status, f"exit status of {' '.join(words)}; {r.stderr[:500]}")
    return r


def record(name, events, *args):
    engine = ["--engine", "exact"] if events == "instructions:u" else []
    sh(TARE, "regions", *engine, "-e", events, "-o", name, "--", PROGRAM, *map(str, args))
    rows = list(csv.DictReader(sh(TARE, "export", "-f", "csv", "-o", "-", name).stdout.splitlines()))
    true(not any(r["repaired"] or r["at_gap"] for r in rows), f"all regions are whole: {rows}")
    return rows


def counts(rows, thread, label):
    return [int(r[COUNT]) for r in rows if (r["thread"], r["label"]) == (thread, label)]


def exact(name, *args):
    if os.uname().machine != "x86_64":
        skip("the exact engine runs on x86-64")
    return record(name, "instructions:u", *args)


@test
def counts_belong_to_their_coroutine():
    """Each interval, minus the instructions of its loops, is the same number: it includes no count of the other coroutine."""
    rounds, beside = 20, set()
    for a, b, *how in ((1000, 5000), (1000, 70000), (300000, 1), (1000, 5000, "hop")):
        rows = exact("e.tare", rounds, a, b, *how)
        part = [c - 2 * n for k, n in (("A", a), ("B", b)) for c in counts(rows, k, "part")]
        equal(len(part), 2 * rounds, "intervals")
        equal(len(set(part)), 1, f"{a} {b} {how}: one loop each, {part}")
        # The first one names the region `part`, which is in `loop`.
        loop = [c - 4 * n for k, n in (("A", a), ("B", b)) for c in counts(rows, k, "loop")][1:]
        equal(len(set(loop)), 1, f"{a} {b} {how}: two loops each, {loop}")
        beside.add((part[0], loop[0]))
    equal(len(beside), 1, f"whatever the sizes and threads: {beside}")


@test
def the_resumer_has_none_of_it():
    whole = {counts(exact("w.tare", 5, a, b), "fibers", "whole")[0] for a, b in ((1000, 5000), (200000, 1), (7, 100000))}
    equal(len(whole), 1, f"{whole}")


@test
def a_clock_goes_on():
    """What passes while a coroutine is switched out is a region within those that are open."""
    rows = record("t.tare", "wall-time", 3, 1000, 2000)
    for k in ("A", "B"):
        mine = [r for r in rows if r["thread"] == k]
        span = {label: [(int(r["start_ns"]), int(r["start_ns"]) + int(r["duration_ns"])) for r in mine if r["label"] == label]
                for label in ("loop", "part", "(switched out)")}
        equal({label: len(s) for label, s in span.items()}, {"loop": 3, "part": 3, "(switched out)": 3}, k)
        for (at, to), (begin, end) in zip(span["(switched out)"], span["part"]):
            true(begin <= at <= to <= end, f"{at} to {to} in {begin} to {end}")
        # Where one of them runs, the other does not.
        others = [(int(r["start_ns"]), int(r["start_ns"]) + int(r["duration_ns"])) for r in rows if r["thread"] == "AB"[k == "A"] and r["label"] == "part"]
        true(any(begin < other < end for begin, end in span["part"] for other, _ in others), "open at the same time")


@test
def summarize_aggregate_and_exports():
    for name in ("1.tare", "2.tare"):
        record(name, "wall-time", 4, 100, 200)
    found = json.loads(sh(TARE, "summarize", "--format", "json", "1.tare").stdout)["recordings"][0]
    equal(found["damage"], None, "summarize")
    true("Threads go together by name" in sh(TARE, "aggregate", "1.tare", "2.tare").stdout, "aggregate")
    for kind in ("chrome", "perfetto", "firefox", "speedscope", "folded", "pprof", "html"):
        sh(TARE, "export", "-f", kind, "-o", f"out.{kind}", "1.tare")
    names = {(e["tid"], e["args"]["name"]) for e in json.loads(Path(ROOM.name, "out.chrome").read_text())["traceEvents"]
             if e["ph"] == "M" and e["name"] == "thread_name"}
    equal({name for _, name in names}, {"fibers", "A", "B"}, "tracks")
    equal(len({tid for tid, _ in names}), 3, "each its own")


main()
