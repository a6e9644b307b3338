# SPDX-License-Identifier: MIT
"""`tare run`, `tare verify launch` and --deterministic, on a program with planted causes.

usage: verify_test.py TARE NOISY SCHEMAS ARCH FILTERED     (NOISY: tests/programs/noisy)
"""
import errno
import fcntl
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import ROOM, ended_within_exec, sh, told_of_a_terminal, told_while_input_stays_open, validated  # noqa: E402

TARE, NOISY, SCHEMAS, ARCH = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
FILTERED = os.path.abspath(sys.argv[5])
for variable in ("PYTHONHASHSEED", "PERL_HASH_SEED", "MALLOC_CONF"):
    os.environ.pop(variable, None)
ENV = os.environ


@test
def what_no_work_here_causes_is_not_dead():
    for _ in range(3):  # a fault that the kernel begins again, on a busy machine, is counted twice
        r = sh(TARE, "verify", "--no-store", "-e", "dummy,emulation-faults,page-faults:u", status=None)
        if re.search(r"^ page-faults:u +exact ", r.stdout, re.M):
            break
    equal(r.returncode, 0, r.stdout)
    for name in ("dummy", "emulation-faults"):
        true(re.search(rf"^ {name} +untested +0: the work done here does not cause it$", r.stdout, re.M), r.stdout)
    true(re.search(r"^ page-faults:u +exact ", r.stdout, re.M), r.stdout)


@test
def skid_of_what_the_kernel_knows_the_cause_of():
    r = sh(TARE, "verify", "skid", "--format", "json", status=None)
    d = validated(r.stdout, SCHEMAS / "tare-verify-skid-1.json")
    rows = {(e["event"], e["level"]): e for e in d["events"]}
    hardware = [e for e in d["events"] if e["hardware"] and not e["reason"]]
    equal(r.returncode, 2 if not hardware else 0 if all(e["kept"] for e in hardware) else 1)
    true(("branches:u", 0) in rows and ("L1-dcache-loads:u", 0) in rows, "tried or not, they are told of")
    faults = rows["page-faults:u", 0]
    if faults["reason"]:
        skip(f"no page faults can be sampled: {faults['reason']}")
    # A fault that the kernel breaks off and begins again, on a busy machine, is two of the same load.
    true(1000 <= faults["samples"] <= 1010, f"each turn's load: {faults}")
    equal((faults["shape"], faults["median"]["bytes"]), ("exact", 0), "and nothing else")
    watched = rows["mem:ADDRESS:rw:u", 0]
    silent = not watched["reason"] and watched["samples"] == 0 and watched["shape"] == "too-few"
    if not watched["reason"] and not silent: # a trap on x86, behind the instruction; on arm64 a fault, before it
        equal((watched["samples"], watched["shape"]), (1000, "exact" if ARCH == "arm64" else "next"))
    text = sh(TARE, "verify", "skid", status=r.returncode).stdout
    true(re.search(r"^ page-faults:u +0 +10(0\d|10) +100\.0 % .* the instruction itself$", text, re.M), text)
    equal(bool(re.search(r"^ mem:ADDRESS:rw:u +0 +no samples$", text, re.M)), silent, text)
    true(not silent or "median" not in watched, f"no place without a sample: {watched}")
    true(hardware or "their skid is unknown here" in text, text)
    for words, why in ((["ls"], "takes no command"), (["--format", "x"], "there is no format"), (["-o", "/none/x"], "/none/x")):
        bad = sh(TARE, "verify", "skid", *words, status=125)
        true(why in bad.stderr, bad.stderr)
    if silent:
        skip("watchpoints open here and never trap, as under some hypervisors: their skid was not seen")


@test
def what_is_kept_is_said():
    """Wherever the result goes: in the text, in the document, or on standard error. --no-store writes nothing."""
    for kind, name in ((["counts", "-e", "page-faults:u"], "verdicts"), (["skid"], "skid")):
        kept = Path(ROOM.name) / f"kept-{name}"
        env, file = {**ENV, "XDG_STATE_HOME": str(kept)}, kept / "tare" / name
        for words in ([], ["--format", "json"], ["-o", "out.txt"], ["--format", "json", "-o", "out.json"]):
            r = sh(TARE, "verify", *kind, *words, status=None, env=env)
            if not file.exists():
                skip(f"nothing could be measured: {r.stdout[:200]}{r.stderr[:200]}")
            equal(str(file) in r.stdout + r.stderr, True, f"{kind} {words}")
            equal("are stored in" in r.stderr, "-o" in words or (kind == ["skid"] and "json" in words), r.stderr)
            shutil.rmtree(kept)
            sh(TARE, "verify", *kind, *words, "--no-store", status=None, env=env)
            true(not kept.exists(), f"{kind} {words}: --no-store")


@test
def skid_is_kept_for_reports_of_this_machine():
    kept, where = Path(ROOM.name) / "kept", None
    env = {**ENV, "XDG_STATE_HOME": str(kept)}
    r = sh(TARE, "verify", "skid", "--no-store", status=None, env=env)
    true(not kept.exists() and "Stored in" not in r.stdout, "--no-store")
    recorded = sh(TARE, "record", "-q", "-e", "page-faults:u", "-c", "1", "-o", "faults.data", "--", NOISY, status=None)
    if not Path(ROOM.name, "faults.data").exists():
        skip(f"page faults cannot be sampled here: {recorded.stderr[:200]}")
    before = sh(TARE, "report", "--skid", "-i", "faults.data", env=env).stdout
    true("page-faults:u: its skid was not measured" in before, before)
    r = sh(TARE, "verify", "skid", status=None, env=env)
    where = kept / "tare" / "skid"
    true(f"Stored in {where}" in r.stdout, r.stdout)
    true(where.read_text().startswith("tare skid 1\n"), where.read_text())
    once = where.read_text().count("\n")
    sh(TARE, "verify", "skid", status=None, env=env)
    equal(where.read_text().count("\n"), once, "measured again, not kept twice")
    line = "page-faults:u at precise level 0 here: 100.0 % of samples are at the instruction that caused the event, half of them at it or nearer, 99 % at it or nearer"
    for words in (["--skid"], [f"--skid={where}"]):
        text = sh(TARE, "report", *words, "-i", "faults.data", env=env).stdout
        true(line in text, text)
    d = json.loads(sh(TARE, "report", "--skid", "--format", "json", "-i", "faults.data", env=env).stdout)
    validated(json.dumps(d), SCHEMAS / "tare-report-1.json")
    equal({k: d["events"][0]["skid"][k] for k in ("measured_event", "same_event", "level", "exact", "p99")},
          {"measured_event": "page-faults:u", "same_event": True, "level": 0, "exact": 1, "p99": 0})
    function = next(r["function"] for r in d["rows"] if r["function"])
    true(line in sh(TARE, "annotate", "--skid", "-i", "faults.data", function, env=env).stdout, "annotate")
    Path(ROOM.name, "bad").write_text("tare skid 1\nnonsense\n")
    for words, why in (([f"--skid={ROOM.name}/bad"], "line 2 has no skid results"), (["--skid=/none"], "/none"), (["--skid", "--folded"], "--skid needs the table")):
        true(why in sh(TARE, "report", *words, "-i", "faults.data", status=125, env=env).stderr, why)
    where.write_text("nonsense\n")
    sh(TARE, "report", "--sort", "address", "-i", "faults.data", env=env)
    true("line 1 is not" in sh(TARE, "report", "--skid", "-i", "faults.data", status=125, env=env).stderr, "asked for, a file that is none is said")


def need_exact():
    if ARCH != "x86":
        skip("the exact engine is x86-64 only")


def had(verbose):
    return re.search(r"^tare run: fixed: (.*)", verbose, re.M).group(1).split(", ")


@test
def the_list():
    lines = [x.split(None, 2) for x in sh(TARE, "run", "--list").stdout.splitlines()]
    equal([x[0] for x in lines], ["aslr", "environment", "order", "random", "seeds", "malloc", "vdso", "pid", "cpu", "locale", "cwd", "binding", "readdir", "env", "isa", "cpus", "terminal", "clock", "turns"], "items")
    equal({x[1] for x in lines}, {"usual", "by", "exact"}, "kinds")
    equal([x[0] for x in lines if x[1] == "exact"], ["isa", "cpus"], "usual under the exact engine alone")


@test
def a_command_keeps_its_status():
    sh(TARE, "run", "--", "sh", "-c", "exit 3", status=3)
    sh(TARE, "run", "--", "sh", "-c", "kill -9 $$", status=128 + 9)
    sh(TARE, "run", "--", "./nothing", status=127)
    sh(TARE, "run", "--", ROOM.name, status=126)
    r = sh(TARE, "run", "--deterministic=none", "--", "sh", "-c", "echo out; echo err >&2")
    equal((r.stdout, r.stderr), ("out\n", "err\n"), "what it writes")
    equal(sh(TARE, "run", "--", "cat", input="in").stdout, "in", "what it reads")


@test
def two_runs_see_the_same():
    words = [TARE, "run", "-v", "--", sys.executable, "-c", "import os; print(os.urandom(8), hash('x'), os.getpid(), id(object()), list(os.environ))"]
    a, b = sh(*words), sh(*words)
    fixed = had(a.stderr)
    true({"aslr", "environment", "order", "seeds"} <= set(fixed), str(fixed))
    if {"random", "pid"} <= set(fixed):
        equal(a.stdout, b.stdout, "all of it")
    else:
        print("# not fixed here:", a.stderr)


@test
def without_an_item_two_runs_differ():
    for item, code in (("seeds,-random", "print(hash('x'))"), ("random", "import os; print(os.urandom(8))")):
        words = [TARE, "run", f"--deterministic=-{item}", "--", sys.executable, "-c", code]
        true(len({sh(*words).stdout for _ in range(3)}) == 3, item)


@test
def a_seed_of_the_users_own_stays():
    own = dict(ENV, PYTHONHASHSEED="17", LC_ALL="C")
    out = sh(TARE, "run", "--", sys.executable, "-c", "import os; print(os.environ['PYTHONHASHSEED'], os.environ['LC_ALL'])", env=own).stdout
    equal(out, "17 C\n", "variables")
    out = sh(TARE, "run", "--deterministic=locale", "--", sys.executable, "-c", "import os; print(os.environ['LC_ALL'], os.environ['TZ'])", env=own).stdout
    equal(out, "C.UTF-8 UTC0\n", "locale")
    out = sh(TARE, "run", "--deterministic=+binding", "--", sys.executable, "-c", "import os; print(os.environ.get('LD_BIND_NOW'))").stdout
    equal(out, "1\n", "binding")


@test
def one_cpu():
    out = sh(TARE, "run", "--deterministic=cpu", "--", sys.executable, "-c", "import os; print(len(os.sched_getaffinity(0)))").stdout
    equal(out, "1\n", "CPUs")


@test
def a_clock_without_the_vdso_is_right():
    words = [sys.executable, "-c", "import time; print(time.time())"]
    now = time.time()
    true(abs(float(sh(TARE, "run", "--deterministic=vdso", "--", *words).stdout) - now) < 100, "time")


@test
def children_have_it_too():
    code = "import os, subprocess, sys; subprocess.run([sys.executable, '-c', 'import os; print(os.urandom(8))'])"
    words = [TARE, "run", "-v", "--", sys.executable, "-c", code]
    a, b = sh(*words), sh(*words)
    if "random" in had(a.stderr):
        equal(a.stdout, b.stdout, "a child's random bytes")


@test
def many_threads_ask_for_random_bytes():
    code = ("import os, threading\n"
            "t = [threading.Thread(target=lambda: [os.urandom(3000) for _ in range(50)]) for _ in range(8)]\n"
            "[x.start() for x in t]; [x.join() for x in t]; print(len(os.urandom(100000)))")
    equal(sh(TARE, "run", "--", sys.executable, "-c", code).stdout, "100000\n", "bytes")


@test
def a_signal_reaches_the_command():
    p = subprocess.Popen([TARE, "run", "--", "sh", "-c", "trap 'echo got; exit 7' TERM; echo ready; while :; do sleep 0.05; done"],
                         stdout=subprocess.PIPE, text=True, env=ENV)
    equal(p.stdout.readline(), "ready\n", "ready")
    p.terminate()
    equal((p.stdout.read(), p.wait(60)), ("got\n", 7), "output and status")


@test
def nothing_is_left_behind():
    p = subprocess.Popen([TARE, "run", "--", "sh", "-c", "echo $$; exec sleep 1000"], stdout=subprocess.PIPE, text=True, env=ENV,
                         stderr=subprocess.DEVNULL)
    p.stdout.readline()
    p.terminate()
    equal(p.wait(60), 128 + 15, "status")
    p.stdout.close()


@test
def bad_items():
    for word, what, hint in (("asrl", "'asrl'", "aslr"), ("+", "''", "--list"), ("aslr,,pid", "''", "--list"), ("pid,xyz", "'xyz'", "--list")):
        for words in ([TARE, "run"], [TARE, "stat"], [TARE, "regions"], [TARE, "verify", "launch"]):
            r = sh(*words, f"--deterministic={word}", "--", "true", status=125)
            true(what in r.stderr and hint in r.stderr, r.stderr)
    for words, what in ((["run"], "which command?"), (["run", "--list", "true"], "takes no command"), (["stat", "--deterministic", "-a"], "no"),
                        (["stat", "--deterministic", "--launch", "plain", "true"], "choose one"), (["verify", "lunch"], "'tare verify launch'"), (["verify", "launch"], "which command?"),
                        (["verify", "launch", "-r", "1", "true"], "between 2 and 1000"), (["verify", "launch", "--format", "xml", "true"], "text or json")):
        r = sh(TARE, *words, status=125)
        true(what in r.stderr and r.stderr.count("\n") <= 2, r.stderr)
    sh(TARE, "verify", "launch", "--", "./nothing", status=127 if ARCH == "x86" else None)


@test
def stat_says_what_was_fixed():
    need_exact()
    d = validated(sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "-r", "3", "--format", "json", "-o", "-", "--deterministic=all", "--",
                     NOISY, "none").stdout, SCHEMAS / "tare-stat-1.json")
    c = d["conditions"]
    equal(sorted(c["fixed"] + [x["item"] for x in c["not_fixed"]]),
          sorted(x.split()[0] for x in sh(TARE, "run", "--list").stdout.splitlines()), "every item has its place")
    equal((c["aslr"], c["launch"]), (False, "fixed"), "layout")
    equal(d["events"][0]["min"], d["events"][0]["max"], "counts")
    text = sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--deterministic=aslr,seeds", "--", NOISY, "none").stderr
    true("Fixed in each run: aslr, seeds." in text, text)


@test
def variables_of_the_environment_are_fixed_by_name():
    """Variables of a CI system change what a shell executes, unless env clears them; tare names each unfixed item once."""
    need_exact()
    note = "Not fixed: env: the command has all variables of this environment; --deterministic=+env keeps only PATH and HOME"

    def counted(items, more):
        r = sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "-r", "2", "--format", "json", *items, "--", "sh", "-c", ":", env={**without, **more})
        d = validated(r.stderr, SCHEMAS / "tare-stat-1.json")
        equal(d["events"][0]["min"], d["events"][0]["max"], "both runs")
        return d["events"][0]["value"], d["conditions"]

    ci = {"CI": "true", "BUILD_NUMBER": "17", "TARE_REGIONS_OF": "x"}
    without = {k: v for k, v in ENV.items() if k not in ci}  # a CI system may run this test
    true(counted(["--deterministic"], {})[0] != counted(["--deterministic"], ci)[0], "they matter")
    for items in ("+env", "all", "all,env=SOMETHING"):
        (a, c), (b, _) = counted([f"--deterministic={items}"], {}), counted([f"--deterministic={items}"], ci)
        equal((a, "env" in c["fixed"]), (b, True), items)
        equal(c["kept_variables"], ["PATH", "HOME", *(["SOMETHING"] if "=" in items else [])], items)
    true(counted(["--deterministic=+env=CI"], ci)[0] != counted(["--deterministic=+env=CI"], {})[0], "a kept one matters")
    equal(counted(["--deterministic"], {})[1]["kept_variables"], None, "all are there")
    out = sh(TARE, "run", "--deterministic=env=CI:A,seeds", "--", "/usr/bin/env", env={**ENV, **ci, "A": "1", "PYTHONHASHSEED": "7"}).stdout.splitlines()
    equal(sorted(v.split("=")[0] for v in out), sorted(["PATH", "CI", "A", "PYTHONHASHSEED", "PERL_HASH_SEED", "PERL_PERTURB_KEYS"] + ["HOME"] * ("HOME" in ENV)), "names")
    true("PYTHONHASHSEED=0" in out, "the caller's seed is cleared, too")
    for items, n in (("", 1), ("=+cpu", 1), ("=+env", 0), ("=-env", 0), ("=all", 0), ("=none", 0), ("=aslr,seeds", 0)):
        equal(sh(TARE, "run", f"--deterministic{items}", "--", "true").stderr.lower().count(note.lower()), n, f"run {items}")
        said = sh(TARE, "stat", "--engine", "exact", "-r", "3", f"--deterministic{items}", "--", "true", env={**ENV, "COLUMNS": "1000"}).stderr
        equal(said.count(note), n, f"stat {items}: {said}")
        stored = json.loads(sh(TARE, "stat", "--engine", "exact", "--format", "json", f"--deterministic{items}", "--", "true").stderr)["conditions"].get("not_fixed", [])
        equal([f" Not fixed: {x['item']}: {x['reason']}." for x in stored], [line for line in said.splitlines() if line.startswith(" Not fixed: ")], f"text and JSON, {items}")
    equal(sh(TARE, "run", "--", "true").stderr, "", "nobody gave the option")
    for items, what in (("env=", "env=: names of variables are wanted"), ("+env=A::B", "env=A::B: names"), ("-env=A", "'env=A'")):
        true(what in sh(TARE, "run", f"--deterministic={items}", "--", "true", status=125).stderr, items)


# What each planted cause needs, and whether it makes counts differ by itself in five runs.
CAUSES = {"address": "aslr", "stack": "environment", "order": "order", "random": "random", "urandom": "random", "at-random": "random", "pid": "pid",
          "cwd": "cwd", "locale": "locale", "readdir": "readdir", "variables": "env"}


@test
def page_faults_are_exact():
    for words in (["verify"], ["verify", "counts"]):
        for _ in range(3):  # a fault that the kernel begins again, on a busy machine, is counted twice
            r = sh(TARE, *words, "-e", "page-faults:u,minor-faults:u,task-clock", "--format", "json", status=None)
            d = validated(r.stdout, SCHEMAS / "tare-verify-1.json")
            found = {e["event"]: e for e in d["events"]}
            if r.returncode == 0:
                break
        if found["page-faults:u"]["verdict"] == "unavailable":
            skip(found["page-faults:u"]["words"])
        equal((found["page-faults:u"]["verdict"], found["minor-faults:u"]["verdict"], found["task-clock"]["verdict"], r.returncode),
              ("exact", "exact", "untested", 0), str(d)[:2000])
    for _ in range(3):
        text = sh(TARE, "verify", status=None).stdout
        if re.search(r"page-faults:u +exact +each time", text):
            break
    true(re.search(r"page-faults:u +exact +each time", text) and re.search(r"instructions:u +\w", text), text)


@test
def what_is_no_threads_count_is_said():
    r = sh(TARE, "verify", "-e", "duration_time", status=2)
    true("it is a clock" in r.stdout and "tare doctor" in r.stderr, r.stdout + r.stderr)
    for words, what in ((["counts", "x"], "takes only options"), (["-e", "no-such-event"], "no-such-event"), (["-e", ""], "an event name is expected"),
                        (["--format", "xml"], "text or json"), (["-o", "/nowhere/x"], "/nowhere/x")):
        r = sh(TARE, "verify", *words, status=125)
        true(what in r.stderr, r.stderr)


def long_names():
    """Folders of tare run's in /tmp that no process has locked. Those of other tests come and go: they are made before they are locked."""
    found = set()
    for path in Path("/tmp").glob("tare-cwd-*"):
        try:
            fd = os.open(path, os.O_RDONLY)
        except OSError:
            continue
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found.add(path)
        except OSError:
            pass
        os.close(fd)
    return found


def nothing_left_since(before):
    for _ in range(200):
        if not long_names() - before:
            return
        time.sleep(0.1)
    equal(long_names() - before, set(), "nothing is left behind")


@test
def launch_finds_each_planted_cause():
    need_exact()
    here = Path(ROOM.name) / "noisy.dir"
    here.mkdir()
    for i in "mabcdnoxyz":
        (here / i).touch()
    while os.listdir(here).index("m") == sorted(os.listdir(here)).index("m"):  # where it stands by chance, on file systems that order by a hash
        (here / f"a{len(os.listdir(here))}").touch()
    folders = long_names()
    for cause, item in CAUSES.items():
        r = sh(TARE, "verify", "launch", "-r", "4", f"--deterministic={item}" + ("" if item == "aslr" else ",aslr,environment,order"),
               "--format", "json", "--", NOISY, cause, status=None)
        d = validated(r.stdout, SCHEMAS / "tare-verify-launch-1.json")
        if d["not_fixed"]:
            print(f"# {cause}: {d['not_fixed']}")
            continue
        if item != "aslr":
            true(d["repeats"] and r.returncode == 0, f"{cause}: {d['all']}")
        worth = d["without"][item]["spread"]
        true(worth > 100, f"{cause}: {d['without']}")
        true(item in ("pid", "cwd") or max(d["without"].items(), key=lambda x: x[1]["spread"])[0] in (item, "environment", "aslr"), f"{cause}: {d['without']}")
    nothing_left_since(folders)


@test
def each_run_reads_the_same_input():
    need_exact()
    words = (TARE, "verify", "launch", "-r", "3", "--deterministic=aslr,environment,order,random,vdso", "--format", "json", "--", NOISY, "input")
    Path(ROOM.name, "input").write_text("a line that is skipped\n" + "x" * 100)
    with open(Path(ROOM.name, "input")) as file:
        os.lseek(file.fileno(), 23, os.SEEK_SET)
        of_file = json.loads(sh(*words, stdin=file).stdout)
    of_pipe = json.loads(sh(*words, input="x" * 100).stdout)
    none = json.loads(sh(*words, stdin=subprocess.DEVNULL).stdout)
    for d in (of_file, of_pipe):
        true(d["all"]["min"] > none["all"]["max"] + 10000, f"each run has read all of it: {d['all']}, {none['all']}")
        equal(d["without"]["order"]["output_differs"], False)


@test
def launch_tells_what_nothing_fixes():
    need_exact()
    r = sh(TARE, "verify", "launch", "-r", "3", "--deterministic=aslr,environment", "--", NOISY, "ticks", status=1)
    true("different counts in 3 runs" in r.stdout and "another cause" in r.stdout, r.stdout)
    r = sh(TARE, "verify", "launch", "-r", "2", "--deterministic=aslr", "--", "date", "+%N", status=None)
    true("output differs between runs" in r.stdout, r.stdout)
    r = sh(TARE, "verify", "launch", "-r", "2", "--timeout", "300", "--", "sleep", "100", status=125)
    true("did not end" in r.stderr, r.stderr)
    r = sh(TARE, "verify", "launch", "--", ended_within_exec(Path(ROOM.name, "unbegun")), status=125)
    equal(r.stderr, "tare verify launch: a run was ended by SIGSEGV before its first instruction: there is nothing to compare\n")
    p = subprocess.Popen([TARE, "verify", "launch", "--", "sleep", "100"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(0.3)
    p.terminate()
    true((p.communicate(timeout=60)[1], p.returncode) in (("tare verify launch: stopped by SIGTERM\n", 143), ("", -15)), f"{p.returncode}")


@test
def a_first_run_that_leaves_something_behind_is_set_apart():
    """By its count, its output and its end; with two runs nobody can tell which was the odd one."""
    need_exact()
    words = (TARE, "verify", "launch", "--deterministic=aslr,environment,pid")  # a shell makes digits of its parent's pid
    counted, written = "if [ -e %s ]; then :; else : > %s; for i in 1 2 3 4; do :; done; fi", "[ -e %s ] || { : > %s; echo new; exit 3; }"
    text = sh(*words, "-r", "3", "--", "sh", "-c", counted.replace("%s", "cold-1"), status=1).stdout
    true(re.search(r"Everything fixed: [0-9,]+ instructions:u, the same in runs 2 to 3; run 1 had [1-9][0-9,]* more\.\n", text), text)
    true("Only run 1 differs, by its count:" in text and "Run the command again" in text and "another cause" not in text and "differs between runs" not in text, text)
    text = sh(*words, "-r", "3", "--", "sh", "-c", counted.replace("%s", "cold-1"), status=0).stdout
    true("the same in all 3 runs" in text and "Run 1" not in text, text)
    d = validated(sh(*words, "-r", "3", "--format", "json", "--", "sh", "-c", written.replace("%s", "cold-2"), status=1).stdout, SCHEMAS / "tare-verify-launch-1.json")
    equal((d["repeats"], d["exit_status"], d["all"]["spread"], d["all"]["output_differs"], d["all"]["exit_differs"]), (False, 3, 0, False, False), str(d))
    first = d["first_apart"]
    true(first["min"] != d["all"]["min"] and first["output_differs"] and first["exit_differs"], str(d))
    true(not any(o["output_differs"] or o["exit_differs"] for o in d["without"].values()), "theirs are compared with the usual ones")
    text = sh(*words, "-r", "2", "--", "sh", "-c", counted.replace("%s", "cold-3"), status=1).stdout
    true("2 different counts in 2 runs" in text and "-r 3 shows it" in text, text)
    text = sh(*words, "-r", "3", "--", "sh", "-c", "echo >> few; [ -e cold-4 ] || { : > cold-4; i=0; while [ $i -lt 300 ]; do i=$((i+1)); done; }; while read line; do :; done < few",
              status=1).stdout
    true("3 different counts in 3 runs" in text and "Most of it comes from run 1" in text and "Only run 1" not in text, text)
    text = sh(*words, "-r", "3", "--", "sh", "-c", "echo >> longer; while read line; do :; done < longer", status=1).stdout
    true("3 different counts in 3 runs" in text and "un 1" not in text and "another cause.\n" in text, text)


@test
def the_working_directory_by_a_long_name():
    before = long_names()
    script = 'printf "%s|%s|" "$(pwd -P)" "$PWD"; cat inside ../up'
    (Path(ROOM.name) / "deep").mkdir()
    (Path(ROOM.name) / "deep" / "inside").write_text("in")
    (Path(ROOM.name) / "up").write_text("up")
    env = {**ENV, "PWD": f"{ROOM.name}/deep"}
    r = subprocess.run([TARE, "run", "--deterministic=cwd", "--", "sh", "-c", script], capture_output=True, text=True, timeout=60, env=env, cwd=f"{ROOM.name}/deep")
    if "not fixed: cwd" in r.stderr:
        skip(r.stderr.strip())
    physical, logical, rest = r.stdout.split("|")
    equal((r.returncode, len(physical), logical, rest), (0, 256, physical, "inup"), r.stderr)
    true(physical.endswith(f"{os.path.realpath(ROOM.name)}/deep") and physical.startswith("/tmp/tare-cwd-"), physical)
    nothing_left_since(before)
    d = json.loads(sh(TARE, "stat", "--format", "json", "-e", "task-clock", "-r", "2", "--deterministic=cwd", "--", "true").stderr)
    equal(d["conditions"]["fixed"], ["cwd"])


TAKE_AWAY = (TARE, "run", "--deterministic=cwd", "--", "true")


def left_by_a_killed_run():
    """A folder that no process has locked; None if another tare was quicker to take it away, as of a test that runs at the same time."""
    p = subprocess.Popen([TARE, "run", "--deterministic=cwd", "--", "sh", "-c", "pwd -P; exec sleep 100"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         env=ENV, cwd=ROOM.name)
    folder = Path(p.stdout.readline().strip()[:-len(os.path.realpath(ROOM.name))])
    if not folder.name.startswith("tare-cwd-"):
        p.kill()
        skip(p.communicate()[1].strip())
    true(folder.is_dir() and folder not in long_names(), "it is held")
    sh(*TAKE_AWAY)
    true(folder.is_dir() and p.poll() is None, "whoever lives keeps it")
    p.kill()
    p.communicate()
    end = time.monotonic() + 60
    while folder not in long_names() and folder.is_dir():
        true(time.monotonic() < end, "a killed one still holds it")
        time.sleep(0.01)
    if os.geteuid() == 0 and shutil.which("setpriv"):
        sh(*NOBODY, *TAKE_AWAY, status=None)  # another user may not
    return folder if folder.is_dir() else None


@test
def what_a_killed_run_left_is_taken_away():
    """The folder of the long name: of the dead alone, and of no other user's."""
    for _ in range(5):
        folder = left_by_a_killed_run()
        if folder:
            break
    true(folder, "left behind, and not for another user to take away")
    sh(*TAKE_AWAY)
    true(not folder.exists(), "taken away")
    long = Path(ROOM.name) / ("x" * 240)
    long.mkdir()
    r = subprocess.run([TARE, "run", "--deterministic=cwd", "--", "pwd"], capture_output=True, text=True, timeout=60, env=ENV, cwd=long)
    true("not fixed: cwd: its name of" in r.stderr and r.stdout.strip().endswith("x" * 240), r.stdout + r.stderr)
    text = sh(TARE, "run", "--list").stdout
    true(re.search(r"^cwd +by name", text, re.M), text)


@test
def who_kills_tare_has_killed_the_command():
    """Also by SIGKILL: nobody is left to go on to the command's end, or to begin its next run."""
    r = sh(TARE, "run", "--deterministic=pid", "--", "true")
    if "not fixed: pid" in r.stderr:
        skip(r.stderr.strip())
    for words in (["run"], ["stat", "--deterministic"], *([["diverge", "-r", "2"], ["verify", "launch", "-r", "2"]] if ARCH == "x86" else [])):
        ours, theirs = os.pipe()
        p = subprocess.Popen([TARE, *words, "--", "sh", "-c", f"echo began >&{theirs}; sleep 20; echo ended >&{theirs}"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[theirs], env=ENV, cwd=ROOM.name)
        os.close(theirs)
        with open(ours) as told:
            began = told.readline()
            p.kill()
            p.wait()
            equal(began + told.read(), "began\n", " ".join(words))  # to the end: no process holds it any more


# Reads a directory, goes back to places in it, and takes it away while it is read: x86-64's struct dirent.
DIRECTORY = """
import ctypes, os, sys
c = ctypes.CDLL(None)
c.opendir.restype = c.readdir.restype = ctypes.c_void_p
c.opendir.argtypes, c.telldir.restype = [ctypes.c_char_p], ctypes.c_long
for f in (c.readdir, c.telldir, c.rewinddir, c.closedir): f.argtypes = [ctypes.c_void_p]
c.seekdir.argtypes = [ctypes.c_void_p, ctypes.c_long]
d = c.opendir(sys.argv[1].encode())
def one():
    e = c.readdir(d)
    return ctypes.string_at(e + 19).decode() if e else None
names, places = [], []
while (n := one()) is not None:
    names.append(n); places.append(c.telldir(d))
wrong = 0
for i in range(len(names) - 2, 0, -53):
    c.seekdir(d, places[i]); wrong += one() != names[i + 1]
c.seekdir(d, places[-1]); wrong += one() is not None
c.rewinddir(d); wrong += one() != names[0]
c.rewinddir(d)
if len(sys.argv) > 2:
    os.chdir(sys.argv[1])
    while (n := one()) is not None:
        if n not in (".", ".."): os.unlink(n)
    os.rmdir(sys.argv[1])
print(names == [".", ".."] + sorted(names[2:]), wrong, len(names))
"""


@test
def directories_by_name():
    need_exact()
    count = (TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--format", "json")
    names = [f"a-name-of-some-length-{i}" for i in range(1200)] + [".hidden", "-x", "+"]
    for folder, order in (("one", names), ("two", names[::-1])):
        (Path(ROOM.name) / folder).mkdir()
        for n in order:
            (Path(ROOM.name) / folder / n).touch()
    by_name = "--deterministic=+readdir"
    for extra in ((), ("remove",)):
        r = sh(*count, by_name, "--", sys.executable, "-c", DIRECTORY, f"{ROOM.name}/one", *extra)
        equal(r.stdout, "True 0 1205\n", "sorted; places that were wrong; entries")
    true("readdir" in json.loads(r.stderr)["conditions"]["fixed"], r.stderr)
    true(not (Path(ROOM.name) / "one").exists(), "all was seen, though it was removed meanwhile")
    (Path(ROOM.name) / "one").mkdir()
    for n in names[::2] + names[1::2]:
        (Path(ROOM.name) / "one" / n).touch()
    script = "import os, sys; print([e.name for e in os.scandir(sys.argv[1])])"
    out = {sh(*count, by_name, "--", sys.executable, "-c", script, f"{ROOM.name}/{f}").stdout for f in ("one", "two")}
    equal(out, {f"{sorted(names)}\n"}, "two copies")
    (Path(ROOM.name) / "empty").mkdir()
    r = sh(*count, by_name, "--", sys.executable, "-c", "import os; print(len(os.listdir('/proc/self/fd')) > 2, os.listdir('empty'))")
    equal(r.stdout, "True []\n", "what the kernel makes up; nothing")


@test
def directories_by_name_only_with_the_engine():
    r = sh(TARE, "run", "--deterministic=+readdir", "--", "true")
    true("not fixed: readdir: only the exact engine can" in r.stderr, r.stderr)
    true(re.search(r"^readdir +by name", sh(TARE, "run", "--list").stdout, re.M), "the list")


CPUID = """
#include <cpuid.h>
#include <elf.h>
#include <stdio.h>
int main(int argc, char **argv, char **environment)
{
	unsigned long hwcap = 0;
	while (*environment++)
		;
	for (Elf64_auxv_t *v = (void *)environment; v->a_type; v++) /* getauxval() has values of the C library's own */
		if (v->a_type == AT_HWCAP)
			hwcap = v->a_un.a_val;
	unsigned a, b, c, d, low, high, cpu;
	char brand[49] = "";
	for (unsigned i = 0; i < 3; i++)
		__cpuid(0x80000002 + i, ((unsigned *)brand)[4 * i], ((unsigned *)brand)[4 * i + 1], ((unsigned *)brand)[4 * i + 2], ((unsigned *)brand)[4 * i + 3]);
	__cpuid(1, a, b, c, d);
	printf("%s;%d;%d;", brand, c >> 28 & 1, hwcap == d);
	__cpuid_count(7, 0, a, b, c, d);
	printf("%d;%d;", b >> 5 & 1, b >> 16 & 1);
	asm volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(cpu));
	printf("%u;", cpu);
	asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	printf("%u\\n", low);
	return 0;
}
"""


@test
def the_cpu_is_the_model():
    need_exact()
    Path(ROOM.name, "cpuid.c").write_text(CPUID)
    sh("cc", "-o", "cpuid", "cpuid.c")
    count = (TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--format", "json")
    flags = set(re.search(r"^flags.*", Path("/proc/cpuinfo").read_text(), re.M).group(0).split())
    v3 = {"avx2", "bmi1", "bmi2", "fma", "f16c", "movbe"} <= flags  # "abm" is not listed by every kernel
    usual = "x86-64-v3" if v3 else "x86-64-v2"
    r = sh(*count, "--deterministic", "--", "./cpuid")
    d = validated(r.stderr, SCHEMAS / "tare-stat-1.json")
    equal((d["conditions"]["isa"], "isa" in d["conditions"]["fixed"]), (usual, True))
    if v3:
        equal(r.stdout, "tare x86-64-v3;1;1;1;0;0;7\n")
        text = sh(*count[:6], "--deterministic=isa=v3", "--", "./cpuid").stderr
        true("isa=x86-64-v3" in text, text)
    r = sh(*count, "--deterministic=-isa", "--", "./cpuid")
    equal(json.loads(r.stderr)["conditions"]["isa"], None)
    true(not r.stdout.startswith("tare "), r.stdout)
    r = sh(*count, "--deterministic=isa=host", "--", "./cpuid")
    equal(json.loads(r.stderr)["conditions"]["isa"], "host")
    leaves = sh(TARE, "run", "--isa-dump").stdout
    Path(ROOM.name, "leaves").write_text(leaves)
    file = sh(*count, "--deterministic=isa=./leaves", "--", "./cpuid")
    name = json.loads(file.stderr)["conditions"]["isa"]
    true(re.fullmatch("leaves:[0-9a-f]{8}", name), name)
    equal(file.stdout, r.stdout, "a file of this machine's")
    Path(ROOM.name, "leaves").write_text(leaves.replace("0x00000001 0x00: eax=0x", "0x00000001 0x00: eax=0x1", 1).replace("eax=0x10", "eax=0x1", 1))
    other = sh(*count, "--deterministic=isa=./leaves", "--", "./cpuid")
    true(json.loads(other.stderr)["conditions"]["isa"] != name, "other leaves, another name")


@test
def the_model_of_verify_launch():
    need_exact()
    words = (TARE, "verify", "launch", "--deterministic=aslr,isa=v2", "-r", "2")
    d = json.loads(sh(*words, "--format", "json", "--", "true").stdout)
    equal((d["isa"], "isa" in d["fixed"]), ("x86-64-v2", True))
    true(" CPU model: x86-64-v2.\n" in sh(*words, "--", "true").stdout, "text")


CPUS = """
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static unsigned rdtscp_cpu(void)
{
	unsigned low, high, cpu;
	asm volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(cpu));
	return cpu;
}
static void *inherits(void *with)
{
	cpu_set_t mask;
	sched_getaffinity(0, sizeof mask, &mask);
	printf("thread %d %d\\n", CPU_COUNT(&mask), CPU_ISSET(2, &mask));
	return with;
}
static void lines(const char *path)
{
	char text[1024];
	int fd = open(path, O_RDONLY);
	long n = read(fd, text, sizeof text - 1);
	text[n > 0 ? n : 0] = 0;
	printf("%s %.20s", strrchr(path, '/') + 1, text);
	close(fd);
}
int main(int argc, char **argv)
{
	cpu_set_t mask, two;
	unsigned long word;
	unsigned cpu = 9, node = 9;
	pthread_t other;
	CPU_ZERO(&two);
	CPU_SET(2, &two);
	CPU_SET(3, &two);
	if (argc > 1) { /* after an exec */
		inherits(NULL);
		return 0;
	}
	printf("%ld %ld\\n", sysconf(_SC_NPROCESSORS_ONLN), sysconf(_SC_NPROCESSORS_CONF));
	printf("raw %ld", syscall(SYS_sched_getaffinity, 0, 8, &word));
	printf(" %lx\\n", word);
	printf("small %d %d\\n", (int)syscall(SYS_sched_getaffinity, 0, 4, &word), (int)syscall(SYS_sched_getaffinity, 0, 12, &word));
	printf("fault %d %d\\n", (int)syscall(SYS_sched_getaffinity, 0, 8, 1), (int)syscall(SYS_sched_getaffinity, 1 << 30, 8, &word));
	lines("/sys/devices/system/cpu/online");
	lines("/sys/devices/system/cpu/possible");
	lines("/sys/devices/system/cpu/present");
	lines("/proc/stat");
	printf(" %d\\n", open("/proc/cpuinfo", O_RDONLY | O_DIRECTORY) < 0);
	syscall(SYS_getcpu, &cpu, &node, 0);
	printf("on %u %u %d %u\\n", cpu, node, sched_getcpu(), rdtscp_cpu());
	printf("set %d\\n", sched_setaffinity(getpid(), sizeof two, &two));
	sched_getaffinity(0, sizeof mask, &mask);
	printf("has %d, on %d %u\\n", CPU_EQUAL(&mask, &two), sched_getcpu(), rdtscp_cpu());
	CPU_ZERO(&two);
	CPU_SET(63, &two);
	printf("none %d\\n", sched_setaffinity(0, sizeof two, &two));
	printf("rseq %ld", syscall(SYS_rseq, &two, 0, 0, 0));
	printf(" %d\\n", errno == ENOSYS);
	pthread_create(&other, NULL, inherits, NULL);
	pthread_join(other, NULL);
	fflush(stdout);
	execl(argv[0], argv[0], "again", NULL);
	return 1;
}
"""


@test
def the_number_of_cpus():
    need_exact()
    Path(ROOM.name, "cpus.c").write_text(CPUS)
    sh("cc", "-pthread", "-o", "cpus", "cpus.c")
    count = (TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--format", "json")
    r = sh(*count, "--deterministic=+cpus=4", "--", "./cpus")
    lists = "online 0-3\npossible 0-3\npresent 0-3\n"
    equal(r.stdout, "4 4\nraw 8 f\nsmall -1 -1\nfault -1 -1\n" + lists + "stat cpu  0 0 0 0 0 0 0 0 1\non 0 0 0 0\nset 0\nhas 1, on 2 2\nnone -1\nrseq -1 1\nthread 2 1\nthread 2 1\n")
    d = validated(r.stderr, SCHEMAS / "tare-stat-1.json")
    equal((d["conditions"]["cpus"], "cpus" in d["conditions"]["fixed"]), (4, True))
    d = json.loads(sh(*count, "--deterministic=-cpus", "--", "true").stderr)
    equal((d["conditions"]["cpus"], "cpus" in d["conditions"]["fixed"]), (None, False))
    text = sh(*count[:6], "--deterministic=cpus=4,isa=v2", "--", "true").stderr
    true("isa=x86-64-v2, cpus=4" in text, text)
    shell = "nproc; nproc --all; grep -c ^processor /proc/cpuinfo; grep -m1 '^model name' /proc/cpuinfo; taskset -c 0 nproc"
    equal(sh(*count, "--deterministic=isa=v2,cpus", "--", "sh", "-c", shell).stdout, "1\n1\n1\nmodel name\t: tare x86-64-v2\n1\n", "one by default")
    equal(sh(*count, "--deterministic=+cpus=3,+cpu", "--", "sh", "-c", "nproc").stdout, "3\n", "bound to one, and sees three")
    for words in ("cpus=0", "cpus=65", "cpus=x"):
        true("from 1 to 64" in sh(*count, f"--deterministic={words}", "--", "true", status=125).stderr, words)
    true("cpus" not in sh(TARE, "run", "--deterministic", "--", "true").stderr, "not named: no remark")
    true("not fixed: cpus: only the exact engine can" in sh(TARE, "run", "--deterministic=+cpus", "--", "true").stderr, "asked for by name")


@test
def the_size_of_a_terminal():
    need_exact()
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 132, 0, 0))
    Path(ROOM.name, "size.py").write_text("""import fcntl, os, struct, sys, termios
try:
    rows = struct.unpack("HHHH", fcntl.ioctl(0, termios.TIOCGWINSZ, b"\\0" * 8))
except OSError as e:
    rows = e.errno
print(rows, os.environ.get("LINES"), os.environ.get("COLUMNS"))
""")
    exact = (TARE, "stat", "--engine", "exact", "-e", "instructions:u")
    env = {k: v for k, v in ENV.items() if k not in ("LINES", "COLUMNS")}
    script = ("--", os.path.realpath(sys.executable), "-S", "size.py")
    equal(sh(*exact, "--deterministic=terminal", *script, stdin=slave, env=env).stdout, "(24, 80, 0, 0) 24 80\n", "fixed")
    equal(sh(*exact, "--deterministic=aslr", *script, stdin=slave, env=env).stdout, "(50, 132, 0, 0) None None\n", "not fixed")
    equal(sh(*exact, "--deterministic=terminal", *script, stdin=subprocess.DEVNULL, env=env).stdout, f"{errno.ENOTTY} 24 80\n", "no terminal")
    r = sh(TARE, "run", "-v", "--deterministic=terminal", *script, stdin=slave, env=env)
    equal(r.stdout, "(50, 132, 0, 0) 24 80\n", "without the engine")
    true("fixed in part: terminal: " in r.stderr, r.stderr)
    os.close(master)
    os.close(slave)


AUXV = """
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
int main(void)
{
	char file[4096], again[4096];
	char **e = environ;
	long n = 0, got, part;
	int fd = open("/proc/self/auxv", O_RDONLY);
	while (*e)
		e++;
	const Elf64_auxv_t *a = (const Elf64_auxv_t *)(e + 1);
	while (a[n++].a_type)
		;
	got = read(fd, file, sizeof file);
	lseek(fd, 0, SEEK_SET);
	part = read(fd, again, 24);
	part += read(fd, again + 24, sizeof again - 24);
	printf("%d %d %d\\n", got == n * (long)sizeof *a, !memcmp(file, a, (size_t)n * sizeof *a), part == got && !memcmp(file, again, (size_t)got));
	return 0;
}
"""


@test
def the_auxiliary_vector_in_proc_is_the_programs():
    need_exact()
    Path(ROOM.name, "auxv.c").write_text(AUXV)
    sh("cc", "-o", "auxv", "auxv.c")
    equal(sh("./auxv").stdout, "1 1 1\n", "natively")
    for items in ("isa=v2,vdso,random", "vdso", "isa", "none"):
        equal(sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", f"--deterministic={items}", "--", "./auxv").stdout, "1 1 1\n", items)


@test
def a_dump_that_cannot_be_written_is_said():
    for option in ("--list", *(["--isa-dump"] if ARCH == "x86" else [])):
        with open("/dev/full", "w") as full:
            r = subprocess.run([TARE, "run", option], stdout=full, stderr=subprocess.PIPE, text=True)
        equal((r.returncode, r.stderr.count("\n")), (125, 1), r.stderr)


# xsave with every bit, as the loader's lazy binding does it, into an area of the size that cpuid tells.
XSAVE = """
#include <cpuid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
	unsigned a, size, c, d, low, high;
	__cpuid_count(0xd, 0, a, size, c, d);
	unsigned char *area = aligned_alloc(64, size + 4096);
	memset(area, 0x55, size + 4096);
	memset(area + 512, 0, 64);
	asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	asm volatile("xsave64 (%0)" : : "r"(area), "a"(-1), "d"(-1) : "memory");
	for (unsigned i = size; i < size + 4096; i++)
		if (area[i] != 0x55)
			return 1;
	printf("%d\\n", a == low);
	return 0;
}
"""


@test
def xsave_has_room_whatever_the_model():
    need_exact()
    if "xsave" not in re.search(r"^flags.*", Path("/proc/cpuinfo").read_text(), re.M).group(0).split():
        skip("this CPU has no xsave")
    Path(ROOM.name, "xsave.c").write_text(XSAVE)
    sh("cc", "-o", "xsave", "xsave.c")
    # A machine that enables less: x87, SSE and AVX alone, in 832 bytes.
    small = re.sub(r"^0x0000000d 0x00: .*", "0x0000000d 0x00: eax=0x00000007 ebx=0x00000340 ecx=0x00000340 edx=0x00000000", sh(TARE, "run", "--isa-dump").stdout, flags=re.M)
    small = re.sub(r"^0x0000000d 0x(0[3-9]|1.): .*\n", "", small, flags=re.M)
    small = re.sub(r"^(0x00000007 0x00: eax=\S+ ebx=)0x(........)", lambda m: f"{m.group(1)}0x{int(m.group(2), 16) & ~0xdc230000:08x}", small, flags=re.M)
    Path(ROOM.name, "small").write_text(small)
    models = ["host", "./small"]
    if subprocess.run([TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--deterministic=isa=v3", "--", "true"], capture_output=True).returncode == 0:
        models.append("v3")
    for model in models:
        r = sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", f"--deterministic=isa={model}", "--", "./xsave")
        equal(r.stdout, "1\n", model)


TSC = """
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>
static void on_fault(int sig) { write(1, "fault\\n", 6); _exit(0); }
int main(void)
{
	unsigned low, high, cpu = 7, flags_kept;
	asm volatile("stc\\n\\trdtscp\\n\\tsetc %b3" : "=a"(low), "=d"(high), "=c"(cpu), "=b"(flags_kept));
	printf("%u %d\\n", cpu, flags_kept & 1);
	fflush(stdout);
	signal(SIGSEGV, on_fault);
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	asm volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(cpu));
	puts("no fault"); /* some hypervisors ignore CR4.TSD */
	return 0;
}
"""


@test
def rdtscp_names_processor_0_and_may_fault():
    need_exact()
    Path(ROOM.name, "tsc.c").write_text(TSC)
    sh("cc", "-O1", "-w", "-o", "tsc", "tsc.c")
    r = sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--deterministic=isa=host", "--", "./tsc")
    equal(r.stdout, "0 1\n" + sh("./tsc").stdout.split("\n", 1)[1], "the processor, the carry flag; the fault, as natively")


@test
def cpu_models_that_cannot_be_had():
    need_exact()
    stat = (TARE, "stat", "--engine", "exact", "-e", "instructions:u")
    r = sh(*stat, "--deterministic=isa=v9", "--", "true", status=125)
    true("there is no CPU model 'v9'" in r.stderr and "x86-64-v3" in r.stderr, r.stderr)
    r = sh(*stat, "--deterministic=isa=/none", "--", "true", status=125)
    true("/none" in r.stderr, r.stderr)
    leaves = sh(TARE, "run", "--isa-dump").stdout
    Path(ROOM.name, "more").write_text(re.sub(r"^(0x00000007 0x00: eax=\S+ ebx=\S+ ecx=\S+ edx=)\S+", r"\g<1>0xffffffff", leaves, flags=re.M))
    r = sh(*stat, "--deterministic=isa=./more", "--", "true", status=125)
    true(re.search("this CPU cannot execute all of more:[0-9a-f]{8}: it has no ", r.stderr), r.stderr)
    r = sh(TARE, "run", "--deterministic=+isa", "--", "true")
    true("not fixed: isa: only the exact engine can" in r.stderr, r.stderr)
    for model, why in (("v9", "there is no CPU model 'v9'"), ("/none", "/none"), ("./no_leaves", "tare run: ./no_leaves: leaves 0 and 1 are missing\n")):
        Path(ROOM.name, "no_leaves").write_text("")
        r = sh(TARE, "run", f"--deterministic=+isa={model}", "--", "touch", "begun", status=125)
        true(why in r.stderr and not Path(ROOM.name, "begun").exists(), r.stderr)
    r = sh(TARE, "run", "--deterministic=+isa=v2,-vdso", "--", "true")
    true("not fixed: isa" in r.stderr, r.stderr)
    true("isa" not in sh(TARE, "run", "--deterministic", "--", "true").stderr, "not asked for by name: nothing is said")


@test
def an_instruction_that_the_model_lacks_is_said():
    need_exact()
    if "aes" not in re.search(r"^flags.*", Path("/proc/cpuinfo").read_text(), re.M).group(0).split():
        skip("this CPU has no AES instructions")
    Path(ROOM.name, "aes.c").write_text('int main(void) { asm volatile("aesenc %xmm0, %xmm1"); return 0; }')
    sh("cc", "-o", "aes", "aes.c")
    Path(ROOM.name, "aes_not.c").write_text('int main(int argc, char **argv) { if (argc > 1) asm volatile("aesenc %xmm0, %xmm1"); return 0; }')
    sh("cc", "-O1", "-o", "aes_not", "aes_not.c")
    for words, lost in (((), False), (("run",), True)):
        d = json.loads(sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--deterministic", "--format", "json", "--", "./aes_not", *words).stderr)
        equal("isa" not in d["conditions"]["fixed"], lost, "a branch skips it")
    hostile = "a\x1b[31mes"
    sh("cc", "-o", hostile, "aes.c")
    r = sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--deterministic", "--", f"./{hostile}")
    true("Not fixed: isa: a\\x1b[31mes executed" in r.stderr and "\x1b" not in r.stderr.split("Not fixed: isa")[1], r.stderr)
    d = json.loads(sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--deterministic", "--format", "json", "--", "./aes").stderr)
    true(re.fullmatch("x86-64-v[23]", d["conditions"]["isa"]) and "isa" not in d["conditions"]["fixed"], "the model that the command saw")
    r = sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--deterministic", "--", "./aes")
    true(re.search(r"Not fixed: isa: aes executed an instruction of the extension aes, which x86-64-v. does not have", r.stderr), r.stderr)


CLOCKS = """
import os, select, signal, sys, threading, time
def lasts(what, n, wait):
    before = time.time(), time.monotonic()
    wait()
    print(what, *(0 <= after - b - n < 0.05 for b, after in zip(before, (time.time(), time.monotonic()))))
start = time.time()
print(time.strftime("%Y-%m-%d", time.gmtime()), 0 < start % 86400 < 2, open("/proc/uptime").read().split(".")[0])
lasts("sleep", 2000, lambda: time.sleep(2000))
lasts("select", 1000, lambda: select.select([], [], [], 1000))
lasts("event", 3000, lambda: threading.Event().wait(3000))
threads = [threading.Thread(target=time.sleep, args=(n,)) for n in (500, 4000)]
lasts("threads", 4000, lambda: [[t.start() for t in threads], [t.join() for t in threads]])
lasts("child", 700, lambda: os.system("sleep 700"))
lasts("pipe", 600, lambda: os.popen("sleep 600; echo end").read())
open("a", "w").close()
a = os.stat("a")
time.sleep(5)
open("b", "w").close()
b = os.stat("b")
print("files", start <= a.st_mtime <= b.st_mtime - 5 <= time.time() - 5, os.stat("a") == a, os.stat(__file__).st_mtime < start)
os.utime("b", ns=(a.st_atime_ns, a.st_mtime_ns))
print("utime", os.stat("b").st_mtime_ns == a.st_mtime_ns)
if sys.argv[1:] == ["timers"]:
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    before = time.time()
    signal.pause()
    print("timer", time.time() - before >= 0.2)
"""


@test
def the_clock_goes_by_instructions():
    need_exact()
    Path(ROOM.name, "clocks.py").write_text(CLOCKS)
    stat = (TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--format", "json", "--timeout", "100s")
    program = ("--", sys.executable, "-S", "clocks.py")
    expected = "".join(f"{x} True True\n" for x in ("sleep", "select", "event", "threads", "child", "pipe")) + "files True True True\nutime True\n"
    r = sh(*stat, "--deterministic=+clock", *program)
    equal(r.stdout, "2030-01-01 True 100000\n" + expected, "thousands of seconds, which took none")
    d = validated(r.stderr, SCHEMAS / "tare-stat-1.json")["conditions"]
    equal((d["clock"], "clock" in d["fixed"], "clock" in str(d["fixed_in_part"])), ("2030-01-01T00:00:00Z", True, False))
    r = sh(*stat, "--deterministic=+clock=2031-02-03T00:00:00Z", *program, "timers")
    equal(r.stdout, "2031-02-03 True 100000\n" + expected + "timer True\n")
    d = json.loads(r.stderr)["conditions"]
    equal((d["clock"], d["fixed_in_part"]), ("2031-02-03T00:00:00Z", [{"item": "clock", "reason": "timers ran in real time"}]))
    for real in ("--deterministic", "--deterministic=+clock=real"):
        r = sh(*stat, real, "--", "date", "+%Y")
        equal((json.loads(r.stderr)["conditions"]["clock"], int(r.stdout) < 2030 or time.gmtime().tm_year >= 2030), (None, True))
    r = sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--deterministic=+clock", "--", "true")
    true("clock=2030-01-01T00:00:00Z" in r.stderr, r.stderr)
    r = sh(TARE, "run", "--deterministic=+clock", "--", "true")
    true("not fixed: clock: only the exact engine can" in r.stderr, r.stderr)
    r = sh(*stat[:6], "--deterministic=+clock=soon", "--", "true", status=125)
    true("clock=soon" in r.stderr and "clock=2026-01-01" in r.stderr, r.stderr)


@test
def real_programs_see_one_world():
    need_exact()
    Path(ROOM.name, "Makefile").write_text("all: double\ncopy: source\n\tcp source copy\ndouble: copy\n\tcat copy copy > double\n")
    Path(ROOM.name, "source").write_text("1\n")
    make = "make 2>&1; make 2>&1; sleep 1; echo 2 > source; make 2>&1; make 2>&1; "
    older = "touch a; sleep 1; touch b; cp -p a c; [ b -nt a ] && ! [ c -nt a ] && ! [ a -nt c ] && echo newer; "
    ends = "timeout 1 sleep 1000; echo $?; timeout 1000 sleep 1; echo $?"
    r = sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--timeout", "100s", "--deterministic=+clock", "--", "bash", "-c", make + older + ends)
    built = "cp source copy\ncat copy copy > double\nmake: Nothing to be done for 'all'.\n"
    equal(r.stdout, 2 * built + "newer\n124\n0\n", "no clock skew, no file twice")
    start = int(time.time()) - 30 * 86400
    r = sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--timeout", "100s", f"--deterministic=+clock={start}", "--", "bash", "-c", "make -B 2>&1; make 2>&1; [ double -nt a ] && [ a -nt source ] && stat -c %Y source Makefile")
    true(r.stdout.startswith(built), r.stdout)
    true(all(start - 3600 <= int(x) < start for x in r.stdout[len(built):].split()), f"before {start}: {r.stdout}")


@test
def a_loop_until_a_time_is_equal():
    need_exact()
    loop = "import time\nend = time.time() + 0.02\nwhile time.time() < end: pass"
    stat = (TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--format", "json", "-r", "3", "--deterministic=+clock")
    e = json.loads(sh(*stat, "--", sys.executable, "-S", "-c", loop).stderr)["events"][0]
    true(int(e["max"]) - int(e["min"]) < 20000, f"of millions: {e}")


@test
def programs_that_do_not_lend_themselves():
    """Each runs, or is refused; what could not be fixed is said, and nothing hangs."""
    twice = (TARE, "stat", "-r", "2", "--deterministic", "-e", "task-clock", "--format", "json")
    d = json.loads(sh(*twice, "--", "setarch", "x86_64" if ARCH == "x86" else "aarch64", "true", status=None).stderr)
    equal(d["exit_status"], 0, "a program that changes its own personality")
    r = sh(TARE, "stat", "-r", "2", "--deterministic", "--timeout", "300", "-e", "task-clock", "--", "sleep", "100", status=None)
    true("ended by the time limit" in r.stderr, r.stderr)
    r = sh(TARE, "stat", "-r", "6", "--explain", "-e", "task-clock", "--", "date", "+%N", status=0)
    true("Its output differs between runs although everything is fixed" in r.stderr, r.stderr)
    r = sh(TARE, "stat", "-r", "6", "--explain=regression", "--timeout", "50", "-e", "task-clock", "--", "sleep", "100", status=None)
    true("task-clock  0 runs: too few" in r.stderr, "runs that were cut off are no runs: " + r.stderr)


@test
def a_filter_that_forbids_filters():
    r = sh(FILTERED, "seccomp", TARE, "run", "--deterministic=random,seeds", "--", sys.executable, "-c", "import os; print(len(os.urandom(8)), os.environ['PYTHONHASHSEED'])")
    equal(r.stdout, "8 0\n", "it runs, with what is left")
    true("not fixed: random: a seccomp filter with a listener is not permitted here" in r.stderr, r.stderr)


@test
def a_filter_that_forbids_personality():
    why = "personality(2), which switches it off, is refused here"
    r = sh(FILTERED, "personality", TARE, "run", "--deterministic=aslr,seeds", "--", "echo", "on")
    equal(r.stdout, "on\n", "it runs, with what is left")
    equal(r.stderr, f"tare run: not fixed: aslr: {why}: Operation not permitted\n", "and says why")
    if ARCH != "x86":
        return
    r = sh(FILTERED, "personality", TARE, "diverge", "--", "touch", "never", status=125)
    true(why in r.stderr and "docker" in r.stderr and not Path(ROOM.name, "never").exists(), r.stderr)


# Of a program that starts: its AT_RANDOM, where it finds the vdso, and random bytes. 25, 33: getauxval(3).
TOLD = """
import ctypes, os
c = ctypes.CDLL(None)
c.getauxval.restype, c.getauxval.argtypes = ctypes.c_ulong, [ctypes.c_ulong]
print(ctypes.string_at(c.getauxval(25), 16).hex(), c.getauxval(33), os.urandom(4).hex(), flush=True)
"""


@test
def what_the_kernel_tells_is_fixed_at_each_exec():
    """A wrapper that becomes the command, one that starts it, one that looks for it along PATH."""
    for script in ('exec "$0" "$@"', '"$0" "$@"; "$0" "$@"; true', 'exec env "$(basename "$0")" "$@"', "/nowhere/to/be/found 2> /dev/null; exec \"$0\" \"$@\""):
        words = [TARE, "run", "-v", "--", "sh", "-c", script, sys.executable, "-c", TOLD]
        a, b = sh(*words), sh(*words)
        if not {"random", "vdso"} <= set(had(a.stderr)):
            skip(a.stderr)
        equal(a.stdout, b.stdout, script)
        true(all(x.split()[1] == "0" for x in a.stdout.splitlines()) and a.stdout, a.stdout)
    several = ("import os, threading\n"
               "threading.Thread(target=lambda: os.execv('/bin/sh', ['sh', '-c', 'exec \"$0\" -c \"$1\"', *__import__('sys').argv[1:]])).start()\n"
               "threading.Event().wait()")
    words = [TARE, "run", "--", sys.executable, "-c", several, sys.executable, TOLD]
    equal(sh(*words).stdout.split()[:2], a.stdout.split()[:2], "executed by a second thread")


@test
def what_verify_launch_could_not_fix_heads_its_table():
    words = (TARE, "verify", "launch", "-r", "2", "--engine", "auto", "--deterministic=aslr,seeds", "--", NOISY)
    lost = "aslr: lost on the way to exe: it was started with other rights, or its personality was changed"
    for begin, way, head, remark in ((), "none", "Everything fixed: ", None), ((), "own-personality", "All fixed but aslr: ", lost), \
            ((FILTERED, "personality"), "none", "All fixed but aslr: ", "aslr: personality(2), which switches it off, is refused here"):
        text = sh(*begin, *words, way, status=None).stdout
        true(f"\n {head}" in text and "\n seeds " in text and ("\n aslr " in text) == (remark is None), text)
        true(remark is None or f" Not fixed: {remark}" in text, text)


@test
def what_a_later_exec_takes_back_is_said():
    why = "aslr: lost on the way to exe: it was started with other rights, or its personality was changed"
    for words in ((NOISY, "own-personality"), ("sh", "-c", f"exec {NOISY} own-personality"), ("sh", "-c", f"{NOISY} own-personality; true")):
        r = sh(TARE, "run", "-v", "--", *words)
        true(f"tare run: not fixed: {why}\n" in r.stderr and "aslr" not in had(r.stderr), r.stderr)
    for items in ("aslr", "aslr,random"):
        d = json.loads(sh(TARE, "stat", f"--deterministic={items}", "-r", "2", "-e", "task-clock", "--format", "json", "--", NOISY, "own-personality").stderr)
        equal([x["item"] for x in d["conditions"]["not_fixed"]], ["aslr"], "stored")
        true("aslr" not in d["conditions"]["fixed"], d["conditions"])


@test
def a_program_that_another_traces():
    """Its debugger keeps it; what could then not be fixed is said."""
    code = ("import ctypes, os\np = ctypes.CDLL(None).ptrace\npid = os.fork()\n"
            "if not pid:\n p(0, 0, None, None)\n os.execv('/bin/true', ['true'])\n"
            "print(os.WIFSTOPPED(os.waitpid(pid, 0)[1]), p(7, pid, None, None), os.waitpid(pid, 0)[1])")
    r = sh(TARE, "run", "-v", "--", sys.executable, "-c", code)
    equal(r.stdout, "True 0 0\n", "traced, let go, ended")
    if "seccomp" not in r.stderr:
        for item in ("random", "vdso"):
            true(re.search(f"not fixed: {item}: python.* traces a process that executed a program, and a process has one tracer", r.stderr), r.stderr)


@test
def what_the_command_leaves_behind_executes_programs():
    """Without a pid namespace it outlives tare, which may be killed, too, in the middle of an answer."""
    busy = "echo on; i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i+1)); done; "
    for name, script in (*((f"killed{n}", f"{busy}echo late > killed{n}") for n in range(5)), ("left", "(sleep 0.3; sleep 0.1; echo late > left) > /dev/null 2>&1 &"),
                         ("killed", "echo on; sleep 0.5; sleep 0.1; echo late > killed")):
        p = subprocess.Popen([TARE, "run", "--deterministic=random,vdso", "--", "sh", "-c", script], stdout=subprocess.PIPE, text=True, env=ENV, cwd=ROOM.name)
        if name.startswith("killed"):
            equal(p.stdout.readline(), "on\n", "on")
            p.kill()
        p.wait(60)
        p.stdout.close()
        for _ in range(600):
            if Path(ROOM.name, name).exists() and Path(ROOM.name, name).stat().st_size:
                break
            time.sleep(0.05)
        equal(Path(ROOM.name, name).read_text(), "late\n", name)


@test
def standard_descriptors_may_be_closed():
    fds = "import os\nn = []\nfor i in range(3):\n try: os.fstat(i)\n except OSError: n.append(i)\nos.write(os.open('fds', os.O_CREAT | os.O_WRONLY | os.O_TRUNC), repr(n).encode())"
    Path(ROOM.name, "fds.py").write_text(fds)
    count = f"'{TARE}' stat --engine exact -e instructions:u -o /dev/null -- " if ARCH == "x86" else ""
    for closed, which in (("0<&-", "[0]"), ("1>&-", "[1]"), ("2>&-", "[2]"), ("0<&- 1>&- 2>&-", "[0, 1, 2]")):
        sh("sh", "-c", f"exec '{TARE}' verify launch -r 2 --engine auto --deterministic=none,+aslr -o closed.txt -- true {closed}", status=None, timeout=60)
        true("Everything fixed" in Path(ROOM.name, "closed.txt").read_text(), closed)
        for begin in (f"'{TARE}' run -- ", f"'{TARE}' run --deterministic=random,vdso -- ", count):
            sh("sh", "-c", f"exec {begin}{sys.executable} fds.py {closed}", timeout=60)
            equal(Path(ROOM.name, "fds").read_text(), which, f"closed for the command, too: {begin}")


LAUNCH = ("verify", "launch", "-r", "2", "--engine", "auto", "--deterministic=none,+aslr", "--", "true")


@test
def a_pipe_that_stays_open():
    told_while_input_stays_open([TARE, *LAUNCH], "tare verify launch", 0)


@test
def a_terminal_is_told_of():
    told_of_a_terminal([TARE, *LAUNCH], "tare verify launch", 0)


@test
def flags_of_getrandom_are_the_kernels():
    code = ("import ctypes\nc = ctypes.CDLL(None, use_errno=True)\nb = ctypes.create_string_buffer(8)\n"
            "for f in (0, 1, 2, 4, 5, 6, 8, 0x1000):\n ctypes.set_errno(0)\n print(f, c.getrandom(b, 8, f), ctypes.get_errno())")
    plain = sh(sys.executable, "-c", code).stdout
    equal(sh(TARE, "run", "--", sys.executable, "-c", code).stdout, plain, "tare run")
    if ARCH == "x86":
        equal(sh(TARE, "stat", "--engine", "exact", "--deterministic", "-e", "instructions:u", "-o", "/dev/null", "--", sys.executable, "-c", code).stdout, plain, "exact")


@test
def what_is_fixed_in_part_is_said():
    r = sh(TARE, "run", "-v", "--", "true")
    if "random" not in had(r.stderr):
        skip(r.stderr)
    leaves = "/dev/urandom and /dev/random remain random: only the exact engine replaces them"
    true(f"tare run: fixed in part: random: {leaves}\n" in r.stderr, r.stderr)
    count = (TARE, "stat", "--deterministic", "-e", "task-clock")
    true(f"Fixed in part: random: {leaves}." in re.sub(r"\s+", " ", sh(*count, "--", "true").stderr), "stat")
    d = validated(sh(*count, "--format", "json", "--", "true").stderr, SCHEMAS / "tare-stat-1.json")
    equal(d["conditions"]["fixed_in_part"], [{"item": "random", "reason": leaves}])
    if ARCH == "x86":
        d = json.loads(sh(TARE, "stat", "--engine", "exact", "--deterministic", "-e", "instructions:u", "--format", "json", "--", "true").stderr)
        equal(d["conditions"]["fixed_in_part"], [])


@test
def who_needs_randomness_gets_on():
    """The constant bytes are a sequence: who waits for others than the last ones ends."""
    code = "import os\na = os.urandom(8)\nwhile os.urandom(8) == a: pass\nprint('others')"
    equal(sh(TARE, "run", "--", sys.executable, "-c", code).stdout, "others\n", "natively")
    if ARCH == "x86":
        equal(sh(TARE, "stat", "--engine", "exact", "--deterministic", "-e", "instructions:u", "-o", "/dev/null", "--", sys.executable, "-c", code).stdout, "others\n", "exact")


@test
def what_does_not_end_is_ended_by_hand():
    for words, status in ((["run"], 130), (["verify", "launch", "-r", "2"], None)):
        p = subprocess.Popen([TARE, *words, "--", "sh", "-c", "echo on; exec sleep 1000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV,
                             cwd=ROOM.name, start_new_session=True)
        if words == ["run"]:
            equal(p.stdout.readline(), "on\n")
        for _ in range(100):
            if p.poll() is not None:
                break
            os.killpg(p.pid, signal.SIGINT)
            time.sleep(0.3)
        p.communicate(timeout=60)
        true(p.returncode not in (0, -9) and (status is None or p.returncode == status), f"{words}: {p.returncode}")


NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")


@test
def as_nobody():
    """Without any right: what still works works, and what could not be had is said."""
    if os.geteuid() or not shutil.which("setpriv"):
        skip("needs root, and setpriv")
    with tempfile.TemporaryDirectory() as room:
        os.chmod(room, 0o755)
        tare = shutil.copy(TARE, room)
        root = shutil.copy(shutil.which("id"), f"{room}/id-as-root")
        os.chmod(root, 0o4755)
        own = dict(ENV, HOME=room)
        r = subprocess.run([*NOBODY, tare, "run", "-v", "--", "id", "-u"], capture_output=True, text=True, env=own, cwd=room, timeout=60)
        equal((r.returncode, r.stdout), (0, "65534\n"), r.stderr)
        true({"aslr", "environment", "order", "seeds", "malloc"} <= set(had(r.stderr)), r.stderr)
        r = subprocess.run([*NOBODY, tare, "run", "--", root, "-u"], capture_output=True, text=True, env=own, cwd=room, timeout=60)
        equal((r.returncode, r.stdout), (0, "0\n"), r.stderr)
        for item in ("aslr", "random", "vdso"):
            true(f"not fixed: {item}: the command changes its rights" in r.stderr, r.stderr)
        below = ["--", "sh", "-c", f"{root} -u; {root} -u; true"]
        r = subprocess.run([*NOBODY, tare, "run", *below], capture_output=True, text=True, env=own, cwd=room, timeout=60)
        equal((r.stdout, r.stderr.count("without its rights"), r.stderr.count(f"{root} (setuid)")), ("65534\n" * 2, 1, 1), r.stderr)
        leave = r.stderr.split("--deterministic with ")[1].split()[0]
        r = subprocess.run([*NOBODY, tare, "run", f"--deterministic={leave},-env", *below], capture_output=True, text=True, env=own, cwd=room, timeout=60)
        equal((r.stdout, r.stderr), ("0\n" * 2, ""), leave)
        said = subprocess.run([*NOBODY, tare, "stat", "--engine", "perf", "--deterministic", "-e", "task-clock", "--format", "json", *below],
                              capture_output=True, text=True, env=own, cwd=room, timeout=60)
        equal(said.stdout, "65534\n" * 2, said.stderr)
        true(json.loads(said.stderr)["conditions"]["without_rights"].startswith(f"{root} (setuid); "), said.stderr)
        if ARCH != "x86":
            return
        r = subprocess.run([*NOBODY, tare, "diverge", *below], capture_output=True, text=True, env=own, cwd=room, timeout=100)
        true(r.returncode == 1 and "Some parts were not compared: exact: without " in r.stdout and "it changes its rights" in r.stdout, r.stdout + r.stderr)
        if "Not fixed: pid" not in r.stdout:  # there is a namespace, in which its file gives no rights
            gone = f"an without its rights: {root} (setuid); --deterministic with -pid keeps them"
            true(gone in r.stdout, r.stdout)
            for words in (("stat", "--engine", "exact", "--deterministic", "-e", "instructions:u"), ("verify", "launch", "-r", "2")):
                r = subprocess.run([*NOBODY, tare, *words, *below], capture_output=True, text=True, env=own, cwd=room, timeout=100)
                true(gone in r.stdout + r.stderr, f"{words}: {r.stdout} {r.stderr}")
            r = subprocess.run([*NOBODY, tare, "stat", "--engine", "exact", "--deterministic=-pid", "-e", "instructions:u", *below], capture_output=True,
                               text=True, env=own, cwd=room, timeout=60)
            true(r.stdout == "0\n" * 2 and "without its rights" not in r.stderr, r.stdout + r.stderr)
        count = [*NOBODY, tare, "stat", "--engine", "exact", "--deterministic", "-r", "3", "-e", "instructions:u", "--format", "json", "--", "true"]
        d = json.loads(subprocess.run(count, capture_output=True, text=True, env=own, cwd=room, timeout=60).stderr)
        true({"aslr", "random", "vdso"} <= set(d["conditions"]["fixed"]), str(d["conditions"]))
        equal(len(set(d["events"][0]["runs"])), 1, "counts repeat")
        r = subprocess.run([*NOBODY, tare, "diverge", "--", "true"], capture_output=True, text=True, env=own, cwd=room, timeout=100)
        equal(r.returncode, 0, r.stdout + r.stderr)
        r = subprocess.run([*NOBODY, tare, "verify", "launch", "-r", "2", "--", "true"], capture_output=True, text=True, env=own, cwd=room, timeout=100)
        equal(r.returncode, 0, r.stdout + r.stderr)
        r = subprocess.run([*NOBODY, tare, "doctor"], capture_output=True, text=True, env=own, cwd=room, timeout=60)
        true(r.returncode in (0, 1) and not r.stderr, r.stderr)


main()
