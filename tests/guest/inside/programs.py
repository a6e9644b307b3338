# SPDX-License-Identifier: MIT
"""The known counts of the programs in tests/programs/arm64, and functions to run tare and the judge."""
import json

from check import equal, sh

LOOPS = {n: 2 * n + 5 for n in (1, 1000, 1000000, 100000000)}
CHILD = 2 * 100000 + 6  # one child or thread of family-100000
CREW = [2 * m * 100000 + 6 for m in (1, 2, 3, 4)]  # the threads of crew-100000, after the end of their input
FAMILY = 7 * CHILD + 82


def perf(events, *command):
    """Debian's perf: event -> count."""
    out = sh("perf", "stat", "-x", ",", "-e", events, "--", *command)
    equal(out.returncode, 0, out.stderr)
    return {line.split(",")[2]: int(line.split(",")[0]) for line in out.stderr.splitlines()}


def environment_under_perf():
    """perf adds variables to its command's environment, which costs instructions: adds the same."""
    out = sh("perf", "stat", "-o", "/dev/null", "--", "cat", "/proc/self/environ")
    return dict(v.split("=", 1) for v in out.stdout.split("\0") if v)


def tare(*words, status=0, **options):
    """`tare stat --format json WORDS`: the document."""
    out = sh("tare", "stat", "--format", "json", "-o", "/tmp/stat.json", *words, **options)
    if status is not None:
        equal(out.returncode, status, f"status of tare stat {' '.join(words)}\n{out.stdout}{out.stderr}")
    with open("/tmp/stat.json") as f:
        return json.load(f)


def counts(document):
    """event -> count, from a document in which all events were counted all the time."""
    for e in document["events"]:
        equal(e["share"], 1, f"share of {e['event']}")
        equal(e["quality"] in ("counted", "exact"), True, f"quality of {e}")
    return {e["event"]: e["value"] for e in document["events"]}
