# SPDX-License-Identifier: MIT
"""Many processes of many threads: tare counts all of them, or reports what is lost.

usage: load_test.py TARE PROGRAMS [THREADS PROCESSES AT_A_TIME]

The default is 100 20 5: 20 processes, 5 at a time, of 100 threads each. docs/internals/limits.md
has the result of a large one.

The reference is the kernel: the page faults of getrusage(), and a FORK record for each thread and
process.
"""
import collections
import json
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import ROOM  # noqa: E402

TARE = os.path.abspath(sys.argv[1])
PROGRAM = os.path.abspath(sys.argv[2]) + "/thread_storm"
THREADS, PROCESSES, AT_A_TIME = map(int, sys.argv[3:6] or (100, 20, 5))
STORM = (PROGRAM, str(THREADS), str(PROCESSES), str(AT_A_TIME))
HOUR = 3600
NEAR = 100  # page faults of the exec, which only one of the two counts
DATA = Path(ROOM.name, "storm.data")


def run(*words):
    r = subprocess.run(words, capture_output=True, text=True, timeout=HOUR, cwd=ROOM.name,
                       stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"})
    if r.returncode == 1 and not r.stderr.startswith("tare"):  # of the program
        skip("this machine does not start so many threads")
    equal(r.returncode, 0, f"{words}: {r.stderr[-500:]}")
    return r


def near(got, wanted, what):
    print(f"# {what}: {got}, of {wanted}")
    true(abs(got - wanted) <= NEAR, f"{what}: {got}, not {wanted}")


def counts(path):
    """How many records of each type; LOST: how many were, of any type."""
    text = run(TARE, "dump", "--counts", path).stdout
    rows = re.findall(r"^([A-Z_0-9]+) +(\d+)$", text, re.M)
    found = collections.Counter({name: int(n) for name, n in rows})
    # The event's own number (Linux 6.0) is of all records.
    lost = re.search(r"^lost samples +(\d+)", text, re.M) or re.search(r"^lost +(\d+)", text, re.M)
    found["LOST"] = int(lost[1]) if lost else 0
    return found


@test
def intervals_add_up():
    r = run(TARE, "stat", "-e", "page-faults", "-I", "10", "--format", "json", "-o", "rows.json",
            "--", *STORM)
    rows = [json.loads(line) for line in Path(ROOM.name, "rows.json").read_text().splitlines()]
    intervals = [d for d in rows if d["schema"] == "tare/stat-interval/1"]
    values = [d["events"][0]["value"] or 0 for d in intervals]  # null: before the exec
    print(f"# {len(values)} intervals")
    true(len(values) > 1, f"{rows}")
    near(sum(values), int(r.stdout), "page faults")


@test
def every_record_is_there_or_reported_lost():
    counts_lost = tuple(map(int, os.uname().release.split(".")[:2])) >= (6, 0)
    for more in ((), ("-m", "16K")) if counts_lost else ((),):
        r = run(TARE, "record", "-e", "page-faults", "-c1", *more, "-o", DATA, "--", *STORM)
        print("# " + r.stderr.strip().replace("\n", "\n# "))
        found = counts(DATA)
        print(f"# {dict(found)}")
        started = (THREADS + 1) * PROCESSES
        got = sum(found[name] for name in ("SAMPLE", "FORK", "EXIT", "LOST"))
        near(got, int(r.stdout) + 2 * started, "records, with those lost")
        if found["LOST"]:
            true(f"{found['LOST']:,} record" in r.stderr, "the loss is reported")
        else:
            equal(found["FORK"], started, "threads and processes")
            true("none lost" in r.stderr, "no loss is reported")


def own_instructions(*storm):
    """The instructions that tare itself executes for a row per thread."""
    inner = (TARE, "stat", "--engine", "exact", "-e", "instructions:u,cycles:u", "--per-thread", "-o", "rows", "--", PROGRAM, *map(str, storm))
    run(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "-x,", "-o", "own", "--", *inner)
    rows, own = (Path(ROOM.name, name).read_text() for name in ("rows", "own"))
    true(rows.count("thread_storm") >= max(storm), rows[-500:])
    return int(own.splitlines()[-1].split(",")[0])


@test
def rows_of_threads_take_linear_time():
    """Four times the threads: four times the instructions, not sixteen times."""
    if subprocess.run([TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", "true"], capture_output=True).returncode:
        skip("needs the exact engine")
    for few, many in (((2000,), (8000,)), ((1, 750, 1), (1, 3000, 1))):
        a, b = own_instructions(*few), own_instructions(*many)
        print(f"# {few}: {a:,}; {many}: {b:,}; ratio {b / a:.2f}")
        true(b < 4.4 * a, f"{few}: {a:,} instructions, {many}: {b:,}")


main()
