# SPDX-License-Identifier: MIT
"""`tare stat --explain` on a program with planted causes, `tare aggregate --explain` on made runs.

usage: explain_test.py TARE NOISY SCHEMAS ARCH     (NOISY: tests/programs/noisy)
"""
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import ROOM, sh, validated  # noqa: E402

TARE, NOISY, SCHEMAS, ARCH = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), Path(sys.argv[3]).resolve(), sys.argv[4]


def explained(*words, name="instructions:u"):
    d = validated(sh(TARE, "stat", "--format", "json", *words).stderr, SCHEMAS / "tare-stat-1.json")["explain"]
    return d, next(e for e in d["events"] if e["event"] == name)


def need_exact():
    if ARCH != "x86" or sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", "true", status=None).returncode:
        skip("the exact engine does not count here")


EXACT = ("--engine", "exact", "-e", "instructions:u", "--launch", "plain")


@test
def each_planted_cause_of_the_launch():
    need_exact()
    for program, cause in (("address", "address-layout"), ("random", "hash-seeds")):
        d, e = explained("-r", "8", "--explain", *EXACT, "--", NOISY, program)
        if any(n["cause"] == cause for n in d["not_switched"]):
            print(f"# {program}: {d['not_switched']}")
            continue
        equal(e["state"], "split", program)
        equal([p["causes"] for p in e["parts"]][:1], [[cause]], f"{program}: {e}")
        true(re.match(r"(address layout|hash seeds and other random bytes): alone a standard deviation of [\d,.]+(, in runs of its own)?$", e["parts"][0]["words"]), f"{e}")
        true(e["parts"][0]["how"] == "switched" and e["parts"][0]["share"] > 0.9, f"{program}: {e}")
        equal(e["fixed_deviation"], 0, program)
        true(e["unexplained"]["share"] < 0.1, f"{program}: {e}")
        equal(d["off_already"], [], program)


@test
def what_nothing_fixes_is_left_with_its_place():
    need_exact()
    for _ in range(3):  # a cause is named by chance once in a hundred times for each cause that is tried
        _, e = explained("-r", "8", "--explain", *EXACT[:4], "--", NOISY, "ticks")
        if not e["parts"]:
            break
    equal(e["parts"], [], "rdtsc is no cause that a launch can fix")
    true(e["unexplained"]["share"] == 1, f"{e}")
    true("spin" in (e["unexplained"]["place"] or ""), f"{e}")
    text = sh(TARE, "stat", "-r", "8", "--explain", *EXACT[:4], "--", NOISY, "ticks").stderr
    true(re.search(r"^ +\d+ %  .*unexplained: two runs diverge in spin", text, re.M), text)
    true("Already fixed by the launch: address layout." in text, text)


@test
def json_has_the_words_of_the_text():
    words = ("-r", "8", "--explain=regression", "-e", "task-clock,page-faults,context-switches", "--", "true")
    d, _ = explained(*words, name="task-clock")
    true(any("By regression alone: as requested." == n for n in d["notes"]), d["notes"])
    true(all(n and n == n.strip() and n.endswith(".") for n in d["notes"]), d["notes"])
    for e in d["events"]:
        begins = "standard deviation " if e["state"] == "split" else "all 8 equal: there is no spread"
        true(e["words"].startswith(begins), e["words"])
        true(all(p["words"] for p in e["parts"]), f"{e}")
        true(not e["one_run"] or e["one_run"]["words"].startswith(f"Run {e['one_run']['run']} alone makes "), f"{e}")


@test
def no_spread_is_said_in_a_line():
    need_exact()
    words = ("-r", "6", "--explain=regression", *EXACT[:4], "--", NOISY, "none")
    d, e = explained(*words)
    equal((e["state"], e["n"], d["conditions"]), ("no spread", 6, 0))
    text = sh(TARE, "stat", *words).stderr
    true(" instructions:u  all 6 equal: there is no spread to explain.\n" in text, text)


@test
def too_few_runs_are_said_to_be_too_few():
    d, e = explained("-r", "3", "--explain", "-e", "task-clock", "--", "true", name="task-clock")
    equal((e["state"], e["n"], e["parts"], d["conditions"]), ("too few runs", 3, [], 0))
    text = sh(TARE, "stat", "-r", "3", "--explain", "-e", "task-clock", "--", "true").stderr
    true("3 runs: too few to name a cause" in text and "-r 6 at least" in text, text)
    true("regression alone" not in text, "nobody asked for that: " + text)


@test
def by_regression_alone_the_command_runs_no_more_often():
    mark = Path(ROOM.name) / "mark"
    d, _ = explained("-r", "7", "--explain=regression", "-e", "task-clock", "--", "sh", "-c", "echo x >> mark", name="task-clock")
    equal(mark.read_text(), "x\n" * 7)
    equal((d["runs"], d["conditions"]), (7, 0))
    mark.unlink()
    d, _ = explained("-r", "6", "--explain", "-e", "task-clock", "--", "sh", "-c", "echo x >> mark; echo seen", name="task-clock")
    equal(mark.read_text(), "x\n" * 6 * (1 + d["conditions"]))
    r = sh(TARE, "stat", "-r", "6", "--explain", "-e", "task-clock", "--", "sh", "-c", "echo seen")
    equal(r.stdout, "seen\n" * 6, "of the further runs nothing is shown")


@test
def an_event_is_not_its_own_cause():
    d, e = explained("-r", "8", "--explain=regression", "-e", "page-faults,task-clock", "--", "true", name="page-faults")
    true("page-faults" in e["unseen"] or e["state"] != "split", f"{e}")
    _, e = explained("-r", "8", "--explain=regression", "-e", "page-faults,task-clock", "--", "true", name="task-clock")
    true("page-faults" in e["tried"] + e["constant"], f"{e}")


@test
def what_cannot_be_explained_is_refused():
    for words, why in ((("--explain",), "--explain compares runs"), (("-r", "5", "--explain=x"), "no way to explain"),
                       (("-r", "5", "--explain", "-I", "100"), "not with -I"), (("-r", "5", "--explain", "-x,"), "text or json"),
                       (("-r", "5", "--explain", "--split"), "not with --split"), (("-r", "2000", "--explain"), "2 to 1000")):
        r = sh(TARE, "stat", *words, "--", "touch", "never", status=125)
        true(why in r.stderr, r.stderr)
    true(not (Path(ROOM.name) / "never").exists(), "nothing was started")


main()
