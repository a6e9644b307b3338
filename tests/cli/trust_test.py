# SPDX-License-Identifier: MIT
"""Verdicts of `tare verify`, kept, and what `tare stat` makes of them. page-faults:u can be counted and verified anywhere.

usage: trust_test.py TARE SCHEMAS
"""
import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import ROOM, sh, validated  # noqa: E402

TARE, SCHEMAS = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve()


def home(name):
    return {**os.environ, "XDG_STATE_HOME": f"{ROOM.name}/{name}"}


def tare(*words, env, status=0):
    return sh(TARE, *words, env=env, status=status)


def verified(name):
    """A folder with a verdict on page-faults:u, and whether it is a good one."""
    env = home(name)
    d = validated(tare("verify", "counts", "-e", "page-faults:u", "--format", "json", env=env, status=None).stdout, SCHEMAS / "tare-verify-1.json")
    if d["events"][0]["verdict"] == "unavailable":
        skip("page faults cannot be counted here")
    equal(d["stored"], f"{ROOM.name}/{name}/tare/verdicts")
    return env, Path(d["stored"]), d["events"][0]["trusted"]


def event(env, *words, status=0):
    return validated(tare("stat", "--format", "json", *words, "--", "true", env=env, status=status).stderr, SCHEMAS / "tare-stat-1.json")


@test
def a_verdict_is_kept_and_shown():
    env, path, good = verified("kept")
    true(path.read_text().startswith("tare verdicts 1\n"), path.read_text())
    if not good:
        skip("page faults are not counted right here")
    e = event(env, "-e", "page-faults:u,context-switches:u")["events"]
    equal((e[0]["verdict"]["verdict"], e[0]["verdict"]["trusted"], e[0]["verdict"]["same_boot"]), ("exact", True, True))
    equal(e[1]["verdict"], None)
    text = tare("stat", "-e", "page-faults:u", "--", "true", env=env).stderr
    true("counted, verified" in text and "verified: tare verify found" in text, text)
    tare("verify", "counts", "-e", "page-faults:u", env=env, status=None)
    equal(len(path.read_text().splitlines()), 2, "a new verdict takes the place of the old one")
    equal(sorted(p.name for p in path.parent.iterdir()), ["verdicts", "verdicts.lock"], "nothing else is left")


@test
def only_verified_events():
    env, _, good = verified("only")
    r = tare("stat", "--verified-only", "-e", "page-faults:u,major-faults:u", "--", "touch", "never", env=env, status=125)
    true("no verdict for major-faults:u" in r.stderr and "tare verify counts -e major-faults:u" in r.stderr, r.stderr)
    true(not (Path(ROOM.name) / "never").exists(), "nothing was started")
    if good:
        tare("stat", "--verified-only", "-e", "page-faults:u,duration_time,user_time,task-clock,cpu-clock", "--", "true", env=env)
        if "unavailable  cycles:u" in tare("stat", "-e", "cycles:u,page-faults:u", "--", "true", env=env).stderr:
            tare("stat", "--verified-only", "-e", "page-faults:u,cycles:u", "--", "true", env=env)  # what has no number needs no verdict
    r = tare("stat", "--verified-only", "-e", "instructions-minus-irqs:u", "--", "true", env=home("nobody"), status=125)
    true("a difference of two events" in r.stderr and "--correct -e instructions:u" in r.stderr and "-e instructions-minus-irqs" not in r.stderr, r.stderr)
    r = tare("stat", "--verified-only", "-e", "page-faults:u", "--", "true", env=home("nobody"), status=125)
    true("no verdict for page-faults:u" in r.stderr, r.stderr)


@test
def what_the_exact_engine_counts_needs_no_proof():
    env = home("exact")
    d = validated(tare("verify", "counts", "-e", "exact/loads/,duration_time", "--format", "json", env=env, status=None).stdout, SCHEMAS / "tare-verify-1.json")
    equal([e["counts"] for e in d["events"]], [None, None], "no class was looked for")
    equal(d["stored"], None, "nothing was counted")
    if d["events"][0]["verdict"] == "unavailable":
        skip(d["events"][0]["words"])
    equal([(e["verdict"], e["trusted"]) for e in d["events"]], [("exact", True), ("unavailable", False)])
    r = tare("verify", "counts", "-e", "exact/loads/", env=env)
    true("by design" in r.stdout and "Each counted loops" not in r.stdout, r.stdout)
    r = tare("verify", "counts", "-e", "duration_time", env=env, status=2)
    true("a clock" in r.stdout and "each row has its reason" in r.stderr, r.stdout + r.stderr)


def rewritten(path, **fields):
    names = ("event", "machine", "verdict", "fixed", "per_fault", "per_syscall", "per_interrupt", "interrupts", "over", "spread", "kinds", "per_turn", "factor",
             "share", "samples", "class", "time", "boot")
    head, line = path.read_text().splitlines()
    f = dict(zip(names, line.split("\t"), strict=True))
    f.update(fields)
    return head + "\n" + "\t".join(f[n] for n in names) + "\n"


@test
def bad_verdicts_and_those_of_other_machines():
    env, path, _ = verified("bad")
    good = path.read_text()
    path.write_text(rewritten(path, verdict="noisy", spread="12"))
    text = tare("stat", "-e", "page-faults:u", "--", "true", env=env).stderr
    true("counted, noisy" in text and "page-faults:u: noisy, by tare verify: different each time, by up to 12." in text, text)
    r = tare("stat", "--verified-only", "-e", "page-faults:u", "--", "true", env=env, status=125)
    true("page-faults:u (noisy)" in r.stderr, r.stderr)
    path.write_text(good)
    path.write_text(rewritten(path, machine="GenuineIntel-6-1-1 microcode 0x1 Linux 5.0 #1 -"))
    equal(event(env, "-e", "page-faults:u")["events"][0]["verdict"], None, "another CPU's")
    path.write_text(good)
    path.write_text(rewritten(path, boot="0000"))
    equal(event(env, "-e", "page-faults:u")["events"][0]["verdict"]["same_boot"], False)
    path.write_text(good + "nonsense\n")
    text = tare("stat", "-e", "page-faults:u", "--", "true", env=env).stderr
    true("No verdicts:" in text and "line 3 is not a verdict" in text, text)
    r = tare("stat", "--verified-only", "-e", "page-faults:u", "--", "true", env=env, status=125)
    true("cannot be read" in r.stderr and "remove that file" in r.stderr, r.stderr)
    r = tare("verify", "counts", "-e", "page-faults:u", env=env, status=None)
    true("Not stored for tare stat" in r.stdout, r.stdout)
    equal(path.read_text(), good + "nonsense\n", "what is not understood is not overwritten")


@test
def dead_and_yet_it_counts():
    env, path, _ = verified("dead")
    path.write_text(rewritten(path, verdict="dead"))
    text = tare("stat", "-e", "page-faults:u", "--", "true", env=env).stderr
    true("the verdict 'dead' of tare verify is refuted; tare verify counts -e page-faults:u tests it again" in text and "counted, dead" not in text, text)
    r = tare("stat", "--verified-only", "-e", "page-faults:u", "--", "true", env=env, status=125)
    true("refuted: run tare verify again" in r.stderr and "page-faults:u: counted " in r.stderr, r.stderr)
    r = tare("stat", "--verified-only", "--format", "json", "-o", "refuted.json", "-e", "page-faults:u", "--", "true", env=env, status=125)
    equal(event(env, "-e", "page-faults:u")["events"][0]["verdict"]["refuted"], True)
    path.write_text(rewritten(path, verdict="dead", event="perf software 0x7 0 0 u"))  # alignment-faults, of which true has none
    r = tare("stat", "--verified-only", "-e", "alignment-faults:u", "--", "true", env=env, status=125)
    true("counted 0, but tare verify found it dead" in r.stderr, r.stderr)


@test
def who_may_not_count_the_kernel():
    """A verdict is of what is counted; what cannot be counted needs none, and the advice is one that helps."""
    if os.geteuid() or not shutil.which("setpriv") or int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) < 2:
        skip("needs root, setpriv, and a perf_event_paranoid of 2")
    with tempfile.TemporaryDirectory() as room:
        own = shutil.copy(TARE, room)
        os.chmod(room, 0o777)
        user = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "env", f"XDG_STATE_HOME={room}/state", own)
        stat = (*user, "stat", "--verified-only", "-e", "page-faults,context-switches,task-clock", "--", "true")
        r = sh(*stat, status=125, cwd=room)
        true("no verdict for page-faults:u on" in r.stderr and "tare verify counts -e page-faults:u\n" in r.stderr, r.stderr)
        r = sh(*user, "verify", "counts", "-e", "page-faults:u,task-clock", status=None, cwd=room)
        true("Stored in" in r.stdout, r.stdout)
        if "page-faults:u            exact " not in r.stdout:
            skip("page faults are not counted right here")
        r = sh(*stat, status=0, cwd=room)  # a time needs none, also where one says that it was not tested
        true("counted, verified" in r.stderr, r.stderr)


@test
def a_known_overcount_is_taken_off():
    env, path, good = verified("correct")
    if not good:
        skip("page faults are not counted right here")
    page_faults = path.read_text()
    tare("verify", "counts", "-e", "minor-faults:u", env=env, status=None)
    lines = path.read_text().splitlines()
    minor = next(l for l in lines if " 0x5 " in l).split("\t")
    minor[2], minor[4] = "per-fault", "1"  # as if each page fault were one too many
    path.write_text(page_faults + "\t".join(minor) + "\n")
    d = event(env, "-r", "3", "--correct", "-e", "minor-faults:u,page-faults:u")
    c = d["corrected"]
    equal([x["event"] for x in c], ["minor-faults:u"])
    minors, faults = (next(e for e in d["events"] if e["event"] == n) for n in ("minor-faults:u", "page-faults:u"))
    wanted = sorted(a - b for a, b in zip(minors["runs"], faults["runs"]))
    equal((c[0]["min"], c[0]["value"], c[0]["max"]), (wanted[0], wanted[1], wanted[2]))
    equal((c[0]["per_fault"], c[0]["counted"]), (1, minors["value"]))
    text = tare("stat", "--correct", "-e", "minor-faults:u,page-faults:u", "--", "true", env=env).stderr
    true("minor-faults:u corrected:" in text and "1 for each of" in text, text)
    text = tare("stat", "--correct", "-e", "minor-faults:u", "--", "true", env=env).stderr
    true("minor-faults:u is not corrected" in text and "page-faults:u" in text, text)
    true("corrected" not in event(env, "-e", "minor-faults:u"), "only where it is asked for")
    tare("stat", "--verified-only", "--correct", "-e", "minor-faults:u,page-faults:u", "--", "true", env=env)
    r = tare("stat", "--verified-only", "-e", "minor-faults:u", "--", "true", env=env, status=125)
    true("(per-fault)" in r.stderr, r.stderr)


@test
def where_nothing_can_be_kept():
    env = home("closed")
    (Path(ROOM.name) / "closed").write_text("a file, not a folder")
    r = tare("verify", "counts", "-e", "page-faults:u", env=env, status=None)
    if "unavailable" in r.stdout:
        skip("page faults cannot be counted here")
    true("Not stored for tare stat: cannot create the directory" in r.stdout, r.stdout)
    tare("stat", "-e", "page-faults:u", "--", "true", env=env)
    env = home("not-asked")
    tare("verify", "counts", "-e", "page-faults:u", "--no-store", env=env, status=None)
    true(not (Path(ROOM.name) / "not-asked").exists(), "--no-store leaves nothing")


main()
