# SPDX-License-Identifier: MIT
"""Threads of a program that is run again are known by their descent, whatever order their siblings take: `descent_test.py TARE TWINS`.

TWINS (tests/programs/twins.c) goes the same way each time, and has its two children begin children and execute programs in turns."""
import collections
import hashlib
import json
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, test, true  # noqa: E402
from commands import ROOM, sh  # noqa: E402

TARE, TWINS = map(os.path.abspath, sys.argv[1:3])
WHO = ["child of the first", "child of the second", "first", "program of the first", "program of the second", "second"]


def in_both_orders(run):
    """What runs give of which the first says it first, and the others; until there are two of each."""
    given = {"first": [], "second": []}
    for _ in range(12):
        what, first = run()
        given[first].append(what)
        if min(map(len, given.values())) == 2:
            return given["first"] + given["second"]
    raise AssertionError(f"always in one order: {list(map(len, given.values()))}")


@test
def constant_random_bytes():
    def run():
        lines = sh(TARE, "stat", "--engine", "exact", "--deterministic", "-o", "/dev/null", "--", TWINS).stdout.splitlines()
        return sorted(lines), lines[0].split()[0]

    runs = in_both_orders(run)
    words = [w for line in runs[0] for w in re.findall("[0-9a-f]{8}", line.split()[-1])]
    equal([line[:-17] for line in runs[0]], WHO, "who has some")
    equal((len(words), len(set(words))), (12, 12), f"each has others: {runs[0]}")
    for r in runs:
        equal(r, runs[0], "in each run the same")


@test
def runs_that_go_the_same_way():
    for words in ((), ("--every", "1000")):
        d = json.loads(sh(TARE, "diverge", "-r", "5", *words, "--format", "json", "--", TWINS).stdout)
        equal((d["verdict"], d["pairs"], d["instructions_min"]), ("same", 4, d["instructions_max"]), str(d)[:1500])


@test
def samples_at_intervals_by_chance():
    """The samples of each process, whichever number it has."""
    def run():
        first = sh(TARE, "record", "-q", "--precise", "--engine", "exact", "-c", "60", "-o", "twins.data", "--", TWINS).stdout.split()[0]
        by_pid = collections.defaultdict(list)
        for line in sh(TARE, "dump", "--by-time", "-r", "sample", "twins.data").stdout.splitlines():
            if line.startswith("@"):
                by_pid[re.search(" pid=(\\d+)", line)[1]].append(re.search(" ip=(\\w+)", line)[1])
        return sorted(f"{len(at)} samples: {hashlib.sha256(' '.join(at).encode()).hexdigest()}" for at in by_pid.values()), first

    runs = in_both_orders(run)
    equal(len(set(runs[0])), 5, f"processes, each with intervals of its own: {runs[0]}")
    for r in runs:
        equal(r, runs[0], "in each run the same")


@test
def threads_and_processes_of_several_runs():
    """A row is of one of them, not of whoever came first."""
    for by, n in (("--per-thread", 7), ("--per-process", 5)):
        d = json.loads(sh(TARE, "stat", "--engine", "exact", "--deterministic", by, "-r", "4", "-e", "instructions:u", "--format", "json", "-o",
                          "stat.json", "--", TWINS) and Path(ROOM.name, "stat.json").read_text())
        rows = [e for e in d["events"] if "thread_number" in e or "process_number" in e]
        equal(len(rows), n, by)
        for e in rows:
            equal((e["n"], e["min"]), (4, e["max"]), f"{by}: {e}")


main()
