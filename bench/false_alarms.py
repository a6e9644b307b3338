# SPDX-License-Identifier: MIT
"""How often `tare diff` finds a change in wall time between two sets of recordings of one program.

usage: false_alarms.py TARE PROGRAM PAIRS RUNS turns|blocks

turns: as docs/internals/noise.md shows, `tare regions --turns`. blocks: all runs of one side before those of the other. An alarm means
that the self or total of any label, or of all, is beyond the noise. A change that is not tested because of the order of the runs would
be an alarm if tare diff did not know the order. The last line has the rate with its 95 % interval (Wilson).
PROGRAM: build/bench/five_regions.
"""
import json
import os
import subprocess
import sys
import tempfile

TARE, PROGRAM, PAIRS, RUNS, HOW = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]


def tare(*words):
    r = subprocess.run([TARE, *words], capture_output=True, text=True)
    if r.returncode:
        sys.exit(f"tare {' '.join(words)}: status {r.returncode}: {r.stderr}")
    return r.stdout


def record(room):
    """The recordings of both sides."""
    if HOW == "turns":
        tare("regions", "-q", "--turns", str(RUNS), "-o", f"{room}/r", "--", PROGRAM, ":::", PROGRAM)
        return [[f"{room}/r.{side}.{i + 1}" for i in range(RUNS)] for side in "AB"]
    files = [f"{room}/{i}" for i in range(2 * RUNS)]
    for name in files:
        tare("regions", "-q", "-o", name, "--", PROGRAM)
    return files[:RUNS], files[RUNS:]


def changes(document):
    for row in document["labels"]:
        for counter in row["counters"].values():
            yield from (counter["self"], counter["total"])
    for counter in document["all"]["counters"].values():
        yield counter["whole"]


alarms = withheld = 0
for _ in range(PAIRS):
    with tempfile.TemporaryDirectory() as room:
        a, b = record(room)
        found = [c for c in changes(json.loads(tare("diff", "--format", "json", *a, "--", *b))) if c]
    alarms += any(c["beyond"] for c in found)
    withheld += any(c["reason"] == "order" for c in found)

share, z = alarms / PAIRS, 1.96
middle = (share + z * z / (2 * PAIRS)) / (1 + z * z / PAIRS)
half = z * (share * (1 - share) / PAIRS + z * z / (4 * PAIRS * PAIRS)) ** 0.5 / (1 + z * z / PAIRS)
print(f"{HOW}, {RUNS} + {RUNS} runs, {PAIRS} pairs: {alarms} with an alarm, {100 * share:.1f} % "
      f"({100 * max(middle - half, 0):.1f} to {100 * (middle + half):.1f}); {withheld} with a change not judged for the order of the runs")
