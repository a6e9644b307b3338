# SPDX-License-Identifier: MIT
"""`tare events` as a user runs it, here and on the recorded machines of tests/sysfs.

usage: events_test.py TARE SCHEMAS MACHINES
"""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, test, true  # noqa: E402
from commands import validated  # noqa: E402

TARE, SCHEMAS, MACHINES = os.path.abspath(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
TESTS = Path(__file__).parent.parent

try:
    import jsonschema
except ImportError:
    print("1..0 # SKIP python3-jsonschema is not installed")
    sys.exit(0)


def events(*words, **options):
    return subprocess.run([TARE, "events", *words], capture_output=True, text=True, timeout=60, **options)


def on(tree):
    return ["--sysfs-root", str(MACHINES / tree)]


def document(schema, *words):
    r = events("--format", "json", *words)
    equal((r.returncode, r.stderr), (0, ""), "status and stderr")
    d = json.loads(r.stdout)
    validated(d, SCHEMAS / f"tare-{schema}-1.json")
    return d["events"]


@test
def the_list_is_what_the_machine_has():
    for tree in ("intel-server", "hybrid", "amd-zen4", "arm64-neoverse-n1", "arm64-biglittle", "vm-no-pmu", "hostile"):
        rows = {e["name"]: e for e in document("events", *on(tree))}
        equal(rows["task-clock"]["available"], True, tree)
        equal(rows["cycles"]["available"], tree not in ("vm-no-pmu", "hostile"), tree)
        equal(rows["instructions-minus-irqs:u"]["available"], tree == "amd-zen4", f"{tree}: of the others the event of interrupts is a guess, or nobody knows it")
    equal(rows["instructions-minus-irqs:u"]["group"], "corrected")
    rows = {e["name"]: e for e in document("events", *on("intel-server"))}
    equal(rows["uncore_imc/cas_count_read/"]["terms"], "event=0x04,umask=0x0f", "terms")
    true("sched:sched_switch" in rows, "tracepoints are in machine output")


@test
def csv_has_the_same_rows():
    rows = list(csv.DictReader(io.StringIO(events("--format", "csv", *on("intel-server")).stdout)))
    equal([r["name"] for r in rows], [e["name"] for e in document("events", *on("intel-server"))], "names")
    equal([r["about"] for r in rows if r["name"] == "cycles"], ["core cycles; they follow the frequency"], "about")


@test
def every_word_must_match_and_case_does_not_matter():
    names = [e["name"] for e in document("events", *on("vm-no-pmu"), "CACHE", "miss", "stores")]
    equal(names, [f"{c}-store-misses" for c in ("L1-dcache", "LLC", "dTLB", "node")], "found")


@test
def a_word_that_nothing_has():
    r = events("zzzz")
    equal((r.returncode, r.stdout), (125, ""), "status")
    true("no event has 'zzzz'" in r.stderr, r.stderr)


@test
def explained_on_trees():
    rows = document("explain", *on("amd-zen4"), "explain", "instructions-minus-irqs:u")
    equal([e["event"] for e in rows], ["instructions-minus-irqs:u", "cpu/event=0x2c/u"], "what is taken off stands beside it")
    true("less one for each interrupt" in rows[0]["about"] and rows[0]["available"] is not False, rows[0])
    (e,) = document("explain", *on("vm-no-pmu"), "explain", "instructions-minus-irqs:u")
    equal((e["available"], e["user"], e["kernel"], e["type"]), (False, True, False, None))
    true("to count interrupts" in e["reason"] and "--engine exact" in e["remedy"], e)
    rows = document("explain", *on("hybrid"), "explain", "instructions:u")
    equal([(e["event"], e["cpus"], e["config"], e["user"], e["kernel"]) for e in rows],
          [("cpu_core/instructions/u", "0-3", "0x400000001", True, False),
           ("cpu_atom/instructions/u", "4-7", "0xa00000001", True, False)], "both kinds of core")
    (e,) = document("explain", *on("intel-server"), "explain", "cpu/umask=8,event=0xd1/pp")
    equal((e["terms"], e["precise"], e["counters"]), ("event=0xd1,umask=0x8", 2, None), "terms; precise: not certain")
    (e,) = document("explain", *on("intel-server"), "explain", "cpu/umask=8,event=0xd1/")
    equal(e["counters"], "programmable 0-3", "mem_load_retired.l1_miss")


@test
def the_exact_engine_as_a_pmu():
    rows = {e["name"]: e for e in document("events", "exact") if e["group"] == "exact engine"}
    equal(len(rows), 18, rows)
    here = os.uname().machine == "x86_64"
    true(all(e["available"] == here and len(e["about"]) > 8 for e in rows.values()), rows)
    for name in rows:
        (e,) = document("explain", "explain", name)
        equal((e["event"], e["about"], e["source"], e["pmu"], e["available"]), (name, rows[name]["about"], "exact", "exact", here), name)
        equal((e["user"], e["kernel"], e["type"], e["config"], e["terms"]), (True, False, None, None, None), name)
        true(here or "x86-64" in e["reason"], e)
    (e,) = document("explain", "explain", "branches:u")
    true(e["available"] is not False or not here or "with the exact engine" in e["remedy"], e)
    (e,) = document("explain", "explain", "exact/calls/u", "--beside", "cycles,branches")
    equal((e["fits"], e["blocker"]), (True, None), "it needs no counter")
    for words, says, hint in ((["exact/load/"], "no event 'load'", "did you mean loads"), (["exact/loads,calls/"], "one event", "exact/loads/,"),
                              (["exact/loads/k"], "user mode, and nothing else", ""), (["exact/loads/uk"], "user mode, and nothing else", ""), (["exact/loads/uh"], "user mode, and nothing else", "")):
        r = events("explain", *words)
        equal(r.returncode, 125, words)
        true(says in r.stderr and hint in r.stderr, r.stderr)


@test
def fit():
    def fits(*words):
        return [(e["fits"], e["blocker"]) for e in document("explain", *on("intel-server"), "explain", *words)]

    equal(fits("cycles"), [(None, None)], "not asked")
    equal(fits("rc9", "--beside", "rc1,rc2,rc3,rc4,rc5,rc6,rc7"), [(True, None)], "the eighth")
    equal(fits("rc9", "--beside", "rc1,rc2,rc3,rc4,rc5,rc6,rc7,rc8"), [(False, "rc9")], "the ninth")
    equal(fits("instructions", "--beside", "rc1,rc2,rc3,rc4,rc5,rc6,rc7,rc8"), [(True, None)], "a fixed counter")
    equal(fits("task-clock", "--beside", "rc1,rc2,rc3,rc4,rc5,rc6,rc7,rc8"), [(True, None)], "needs none")


@test
def no_guess_is_a_fact():
    def asked(*words):
        (e,) = document("explain", *on("intel-server"), "explain", *words)
        return e["fits"], e["blocker"], e["unsure"]

    equal(asked("rc4", "--beside", "rc0"), (True, None, None), "all known")
    equal(asked("rc4", "--beside", "rc0:p"), (None, None, "rc0:p"), "precise")
    equal(asked("rc4", "--beside", "cpu/config=0x200/"), (None, None, "cpu/config=0x200/"), "code 0")
    equal(asked("cpu/config=0x100/", "--beside", "cpu/config=0x100/"), (False, "cpu/config=0x100/", None), "fixed 0")
    text = events("explain", "--cpu", "hsw", "rc4", "--beside", "L1-dcache-loads").stdout
    true("as far as known, together with L1-dcache-loads: the counters that L1-dcache-loads may use are unknown for Intel Haswell" in
         " ".join(text.split()), text)
    text = events("explain", "--cpu", "hsw", "L1-dcache-loads").stdout
    true("unknown for this event; Intel Haswell has 4 programmable" in " ".join(text.split()), text)
    text = events("explain", "--cpu", "hsw", "rca3").stdout
    true("programmable 2; Intel Haswell" in " ".join(text.split()), text)


@test
def here_it_is_tried():
    (e,) = document("explain", "explain", "task-clock")
    equal(e["available"], True, "task-clock opens for anyone")
    (e,) = document("explain", "explain", "task-clock:u")
    equal((e["available"], "both user mode and the kernel" in e["reason"], "user_time" in e["remedy"]), (False, True, True), str(e))
    true("counts    in user and kernel; samples: user\n" in events("explain", "task-clock:u").stdout, "what :u leaves out of samples alone")
    (e,) = document("explain", "explain", "bpf-output")
    equal((e["available"], "has no count" in e["reason"]), (False, True), str(e))
    true("tare regions records a counter of that name; the clock among the events is duration_time" in
         events("explain", "wall-time").stderr, "a counter of tare's own")
    (e,) = document("explain", *on("vm-no-pmu"), "explain", "cycles")
    equal(e["available"], False, "no PMU")
    true("no core PMU" in e["reason"] and "tare doctor" in e["remedy"], e["reason"])


@test
def files_of_vendors():
    files = ["--event-file", str(TESTS / "vendor" / "mine.txt"), *on("intel-server")]
    (e,) = document("explain", *files, "explain", "mine.stalled")
    equal((e["config"], e["about"]), ("0x18001a2", "stalled"), "mine.stalled")
    true("mine.loads" in [e["name"] for e in document("events", *files)], "listed")


@test
def absent_pmus_of_files():
    with tempfile.TemporaryDirectory() as room:
        Path(room, "a.json").write_text('''[{"EventName":"UNC_HIT","EventCode":"0x34","UMask":"0x88","Unit":"CBOX"},
            {"EventName":"CORE","EventCode":"0x48","UMask":"2"},
            {"EventName":"LATENCY_0","EventCode":"0xb","UMask":"0x10","MSRIndex":"0x3F6"}]''')
        files = ["--event-file", f"{room}/a.json"]
        for name, pmu, terms in [("UNC_HIT", "uncore_cbox", "event=0x34,umask=0x88"), ("CORE", None, "event=0x48,umask=0x2")]:
            (e,) = document("explain", *on("vm-no-pmu"), *files, "explain", name)
            equal((e["pmu"], e["terms"], e["type"], e["config"], e["available"]), (pmu, terms, None, None, False), "no encoding is made up")
        text = events(*on("vm-no-pmu"), *files, "explain", "UNC_HIT").stdout
        true("uncore_cbox/event=0x34,umask=0x88/" in text and "config" not in text and "which this machine does not have" in text, text)
        (e,) = document("explain", *on("intel-server"), *files, "explain", "LATENCY_0")
        equal((e["config"], e["config1"]), ("0x100b", "0"), "a field that Linux's files leave out is 0")
        r = subprocess.run([TARE, "msr", "plan", "--cpu", "skl", *files, "-e", "UNC_HIT"], capture_output=True, text=True, timeout=60)
        true(r.returncode != 0 and "it is an event of the PMU uncore_cbox" in r.stderr, r.stderr)


@test
def a_cpu_without_a_table():
    r = events("explain", "--cpu", "zen 5", "ex_ret_instr")
    true(r.returncode != 0 and "tare has no table of the vendor's events of zen 5" in r.stderr and "--event-file" in r.stderr, r.stderr)


@test
def odd_rows_cost_themselves():
    with tempfile.TemporaryDirectory() as room:
        Path(room, "a.json").write_text('[{"EventName":"GOOD","EventCode":"1"},\n{"EventName":"ODD","EventCode":"1","Strange":"0x1"}]')
        Path(room, "metrics.json").write_text('[{"MetricName":"M","MetricExpr":"1"}]')
        r = events(*on("intel-server"), "--event-file", room, "--format", "json")
        d = json.loads(r.stdout)
        equal([e["name"] for e in d["events"] if e["group"].startswith(room)], ["GOOD"])
        why = f"{room}/a.json:2: ODD: Strange is not known, and may change the count"
        equal(d["refused"], [why])
        equal(r.stderr, f"tare events: 1 row of the files could not be read, and is not in the list:\n  {why}\n")
        r = events("explain", *on("intel-server"), "--event-file", room, "odd")
        true(r.returncode != 0 and why in r.stderr, r.stderr)


@test
def mistakes():
    for words, what, hint in [
        (["explain"], "explain needs the name of an event", "tare events explain instructions:u"),
        (["explain", "cyclse"], "there is no event 'cyclse'", "did you mean cycles?"),
        (["explain", "cpu/event=1"], "the '/' that ends the terms of cpu is missing", ""),
        (["explain", "cycles:x"], "'x' is no modifier of cycles", "u user"),
        (["--cpu", "pdp11"], "no CPU model 'pdp11' is known", "--cpu list"),
        (["--format", "xml"], "there is no format 'xml'", ""),
        (["--event-file", "/nonexistent"], "cannot open /nonexistent", ""),
        (["--event-file", "/etc/passwd"], "/etc/passwd:1: ", ""),
        (["explain", "cycles", "--format", "csv"], "explain has the formats text and json", ""),
    ]:
        r = events(*words)
        equal((r.returncode, r.stdout), (125, ""), " ".join(words))
        true(what in r.stderr and hint in r.stderr and r.stderr.startswith("tare events: "), r.stderr)
    r = events("explain", "cs,cpu/event=0x100/", *on("intel-server"))
    equal(r.stderr.splitlines()[1:], ["  cs,cpu/event=0x100/", "         ^"], "the caret")


@test
def a_full_disk_is_noticed():
    with open("/dev/full", "w") as full:
        r = subprocess.run([TARE, "events"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    equal(r.returncode, 125, "status")
    true("No space left" in r.stderr, r.stderr)


@test
def names_for_completion():
    equal(events("--names", "page-f", *on("vm-no-pmu")).stdout, "page-faults\n", "page-f")
    equal(events("--names", "zzz", *on("vm-no-pmu")).stdout, "", "zzz")


main()
