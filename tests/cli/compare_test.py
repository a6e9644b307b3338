# SPDX-License-Identifier: MIT
"""tare compare as a user runs it.

usage: compare_test.py TARE SCHEMAS CC
"""
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, test, true  # noqa: E402
from commands import ROOM, sh, validated  # noqa: E402

TARE, SCHEMA, CC = os.path.abspath(sys.argv[1]), Path(sys.argv[2]) / "tare-compare-1.json", sys.argv[3]

SOURCE = """
#include <stdio.h>
__attribute__((noinline)) static long parse_line(long n) { long s = 0; for (long i = 0; i < n; i++) s += i * i % 7; return s; }
__attribute__((noinline)) static long helper(long n) { long s = 0; for (long i = 0; i < n; i++) s ^= i; return s; }
#ifdef EXTRA
__attribute__((noinline)) static long extra(long n) { volatile long s = 0; for (long i = 0; i < n; i++) s ^= i; return s; }
#endif
int main(void)
{
	volatile long s = parse_line(STEPS) + helper(10000);
#ifdef EXTRA
	s += extra(EXTRA);
#endif
	(void)s;
	return puts("done") < 0;
}
"""


def built(name, *flags):
    Path(ROOM.name, "made.c").write_text(SOURCE)
    sh(CC, "-O1", "-g", *flags, "-o", name, "made.c")
    return f"./{name}"


BEFORE, AFTER = built("before", "-DSTEPS=200000"), built("after", "-DSTEPS=200020")
EXTRA = built("extra", "-DSTEPS=200000", "-DEXTRA=100")


def compare(*words, status=0, **options):
    return sh(TARE, "compare", *words, status=status, **options)


def document(*words, status=0, **options):
    return validated(compare("-j", *words, status=status, **options).stdout, SCHEMA)


def adds_up(d):
    cause, event = d["cause"], d["events"][0]
    for side in ("before", "after", "change"):
        equal(sum(f[side] for f in cause["functions"]) + cause["others"][side], cause["total"][side], f"the rows add up: {side}")
    for side in ("before", "after"):
        equal(cause["total"][side], event[side]["median"], f"to the count: {side}")
        equal(len(set(event[side]["runs"])), 1, "it repeats")


@test
def a_small_planted_change_is_found():
    """20 steps of 200,000: 0.01 %."""
    d = document("-r", "0", "--", BEFORE, ":::", AFTER, status=2)
    equal((d["verdict"], d["regression"], d["events"][0]["verdict"], d["events"][0]["compared"]), ("slower", True, "more", "equality"), "verdict")
    adds_up(d)
    f = d["cause"]["functions"][0]
    equal((f["function"], f["change"], f["module"], f["state"]), ("parse_line", d["events"][0]["change"], "after", None), "the function")
    true(d["events"][0]["change"] % 20 == 0 and d["events"][0]["percent"] < 0.02, d["events"][0])
    text = compare("-r", "0", "--", BEFORE, ":::", AFTER, status=2).stdout
    true(re.match(r"slower: 0\.0\d+ % more instructions \(exact\), in parse_line \+\d+\n\n", text), text)
    true("Not seen: the same instructions" in text, text)
    text = compare("-r", "0", "--", AFTER, ":::", BEFORE).stdout
    true(re.match(r"faster: 0\.0\d+ % fewer instructions \(exact\), in parse_line -\d+\n\n", text), text)


@test
def new_and_gone_functions():
    d = document("-r", "0", "-n", "0", "--", BEFORE, ":::", EXTRA, status=2)
    adds_up(d)
    states = {f["function"]: f["state"] for f in d["cause"]["functions"]}
    equal(states["extra"], "new", f"{states}")
    d = document("-r", "0", "-n", "1", "--", EXTRA, ":::", BEFORE)
    adds_up(d)
    equal([(f["function"], f["state"]) for f in d["cause"]["functions"]], [("extra", "gone")], "only one is shown")
    equal(document("-r", "0", "--no-cause", "--", EXTRA, ":::", BEFORE)["cause"], None, "--no-cause")


@test
def the_same_program():
    d = document("--", BEFORE, ":::", BEFORE)
    equal((d["events"][0]["verdict"], d["events"][0]["change"], d["cause"]), ("same", 0, None), "exact")
    equal([e["event"] for e in d["events"]], ["instructions:u", "cpu-time", "wall"], "events")
    equal([len(e["before"]["runs"]) for e in d["events"]], [2, 5, 5], "runs")
    true(compare("-r", "0", "--", BEFORE, ":::", BEFORE).stdout.startswith("same: "), "text")


@test
def the_threshold():
    d = document("-r", "0", "--threshold", "1", "--", BEFORE, ":::", AFTER)
    equal((d["verdict"], d["events"][0]["verdict"], d["events"][0]["below_threshold"]), ("same", "more", True), "small")
    true("below the threshold" in d["headline"], d["headline"])
    equal(document("-r", "0", "--threshold", "0.001", "--", BEFORE, ":::", AFTER, status=2)["verdict"], "slower", "large")


@test
def counts_that_do_not_repeat():
    noisy = "for ((i = 0; i < RANDOM % 200; i++)); do :; done"
    d = document("-r", "0", "--deterministic=none", "--", "bash", "-c", noisy, ":::", "bash", "-c", noisy, status=None)
    e = d["events"][0]
    equal((e["compared"], e["before"]["varies"], e["after"]["varies"]), ("test", True, True), "both vary")
    true(len(e["before"]["runs"]) >= 5 and any("does not repeat before" in n for n in d["notes"]), d["notes"])


@test
def the_first_run_creates_a_file():
    script = "[ -e made ] || { for ((i = 0; i < 500; i++)); do :; done; : >made; }"
    d = document("-r", "0", "--", "bash", "-c", script, ":::", "bash", "-c", script)
    equal((d["verdict"], len(d["events"][0]["before"]["runs"])), ("same", 2), "the first run is left out")
    true(any(n.startswith("The first run before is left out") for n in d["notes"]), d["notes"])


@test
def slower_times_are_confirmed():
    """By a second set of runs, unless a busy machine keeps the two sets from being far apart."""
    d = document("-r", "4", "--threshold", "50", "--", "sleep", "0.0", ":::", "sleep", "0.5", status=None)
    wall = [e for e in d["events"] if e["event"] == "wall"][0]
    for key in ("runs", "second_runs"):
        a, b = wall["before"][key], wall["after"][key]
        if min(b, default=0) - max(a, default=0) < 4 * (max(a, default=0) - min(a, default=0) + max(b, default=0) - min(b, default=0)):
            true(wall["verdict"] != "same", wall)
            return
    equal((wall["verdict"], d["verdict"], len(a), len(b)), ("more", "slower", 4, 4), "confirmed")
    true(" % more wall time" in d["headline"], d["headline"])


@test
def commands_that_fail():
    for words, said in ((("false", ":::", "true"), "before: false failed with exit status 1"), (("true", ":::", "false"), "after: false failed with exit status 1"),
                        (("true", ":::", "sh", "-c", "kill -TERM $$"), "after: sh was ended by SIGTERM")):
        for more in ((), ("--allow-failure",)):
            r = compare("-r", "0", *more, "--", *words, status=125)
            true(said in r.stderr and not r.stdout, r.stderr)
    true("before: false failed" in compare("-r", "0", "--", "false", ":::", "false", status=125).stderr, "both")
    d = document("-r", "0", "--allow-failure", "--", "false", ":::", "false")
    equal((d["verdict"], "The command fails, alike on both sides" in d["notes"]), ("same", True), "both, allowed")
    true("there is no command './none'" in compare("--", BEFORE, ":::", "./none", status=127).stderr, "none")
    equal(compare("--", "/etc/passwd", ":::", BEFORE, status=126).stdout, "", "cannot be executed")


@test
def wrong_usage():
    for words, said in (((), "two commands"), (("--", BEFORE), "two commands"), (("--", BEFORE, ":::"), "two commands"), (("--", ":::", BEFORE), "two commands"),
                        (("--", "a", ":::", "b", ":::", "c"), "more than one :::"), (("-r", "x", "--", "a", ":::", "b"), "-r")):
        r = compare(*words, status=125)
        true(said in r.stderr and r.stderr.count("\n") <= 2, r.stderr)


@test
def each_run_gets_the_same_input():
    d = document("-r", "0", "--", "cat", ":::", "cat", input="x" * 100000)
    equal((d["verdict"], d["events"][0]["change"]), ("same", 0), "a pipe")
    d = document("-r", "0", "--", "wc", "-c", ":::", "wc", "-c", input="x\n" * 100000)
    equal(d["notes"], [], "the output is the same")
    d = document("-r", "0", "--", "echo", "a", ":::", "echo", "b")
    true(any("different output" in n for n in d["notes"]), d["notes"])


@test
def stopped():
    with subprocess.Popen([TARE, "compare", "--", "sleep", "60", ":::", "sleep", "60"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=ROOM.name) as p:
        time.sleep(1)
        p.send_signal(signal.SIGTERM)
        err = p.stderr.read()
        equal(p.wait(60), 128 + signal.SIGTERM, err)


main()
