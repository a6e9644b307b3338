# SPDX-License-Identifier: MIT
"""`tare stat` as a user runs it. Software events only: they are counted on every machine.

usage: stat_test.py TARE SCHEMA TREES
"""
import contextlib
import json
import os
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import children, ended_within_exec, refused_by_the_engine, validated  # noqa: E402

TARE, SCHEMA, TREES = (os.path.abspath(p) for p in sys.argv[1:4])
os.environ.update(LC_ALL="C.UTF-8", COLUMNS="160")
for variable in ("NO_COLOR", "CLICOLOR_FORCE"):
    os.environ.pop(variable, None)
WORK = tempfile.TemporaryDirectory()
os.chdir(WORK.name)

try:
    import jsonschema
except ImportError:
    print("1..0 # SKIP python3-jsonschema is not installed")
    sys.exit(0)


def stat(*words, status=0, before=(), **options):
    """tare stat WORDS; the result, with its exit status checked."""
    options.setdefault("stdin", subprocess.DEVNULL)
    r = subprocess.run([*before, TARE, "stat", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                       timeout=60, **options)
    equal(r.returncode, status, f"status of tare stat {' '.join(words)}\n{r.stdout}{r.stderr}")
    return r


def document(*words, status=0, **options):
    d = json.loads(stat("--format", "json", *words, status=status, **options).stderr)
    validated(d, SCHEMA)
    return d


def event(d, name):
    return next(e for e in d["events"] if e["event"] == name)


def refused(*words, status=125, says, hint=None, **options):
    """One line that says it, at most one hint and a caret; no command was started."""
    r = stat(*words, status=status, **options)
    true(says in r.stderr.splitlines()[0], f"'{says}' is not in {r.stderr!r}")
    true(r.stderr.startswith("tare stat: "), r.stderr)
    true(len(r.stderr.splitlines()) <= 4, f"too much said: {r.stderr}")
    if hint:
        true(hint in r.stderr, f"'{hint}' is not in {r.stderr!r}")
    return r


def wait_for(condition, what):
    end = time.monotonic() + 20
    while not condition():
        true(time.monotonic() < end, f"waited in vain for {what}")
        time.sleep(0.005)


def listens(pid, number):
    """Has it taken that signal over, by a handler or by blocking it?"""
    masks = re.findall(r"Sig(?:Blk|Cgt):\t(\w+)", Path(f"/proc/{pid}/status").read_text())
    return any(int(m, 16) >> number - 1 & 1 for m in masks)


# ---- counts that are known ----

@test
def page_faults_of_known_work():
    """Touching 1000 further pages costs 1000 further faults."""
    program = "import mmap; m = mmap.mmap(-1, 4096 * %d, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n" \
              "m.madvise(mmap.MADV_NOHUGEPAGE)\nfor i in range(%d): m[4096 * i] = 1"
    few, many = (event(document("-r", "3", "-e", "page-faults", "--", sys.executable, "-I", "-S", "-c", program % (n, n)),
                       "page-faults")["value"] for n in (100, 1100))
    true(abs(many - few - 1000) <= 20, f"{few} and {many}")


@test
def inherit_or_not():
    script = "for i in 1 2 3 4 5 6 7 8; do /bin/true; done"
    whole, alone = (event(document(*flag, "-e", "page-faults", "--", "sh", "-c", script), "page-faults")["value"]
                    for flag in ((), ("-i",)))
    true(whole > alone + 8 * 20, f"{whole} with children, {alone} without")


@test
def what_includes_engine_overhead_comes_last():
    """No such time leads, of a table or an interval; one line names the way out; each footnote is there once, and -v has all of them."""
    if HARDWARE or subprocess.run([TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", "true"], capture_output=True).returncode:
        skip("not a machine where the exact engine counts in the place of a PMU")
    wide = {**os.environ, "COLUMNS": "200", "LC_ALL": "C"}
    for words in ((), ("-r", "2"), ("-e", "task-clock,page-faults,instructions:u"), ("-v",), ("-I", "50", "-e", "task-clock,instructions:u,page-faults")):
        out = stat(*words, "--", "sh", "-c", ":", env=wide).stderr
        rows = [line for line in out.splitlines() if re.match(r" *[\d.,]+ ", line)]
        true(rows, f"{words}: {out}")
        tables = {}
        for r in rows:  # in an interval without a moment for the command, what the kernel counts is unavailable
            if "unavailable" not in r:
                tables.setdefault(r.split()[0] if "-I" in words else "", []).append(r)
        for table in tables.values():
            marked = ["+engine" in r for r in table]
            true(marked == sorted(marked) and "exact" in table[0], f"{words}: {out}")
        if "-I" in words:
            continue
        names = [r.split("+engine")[0].split() for r in rows if "+engine" in r]
        times = [n[-1] for n in names if n[-1] in ("wall", "user", "system")]
        equal(times, ["wall", "user", "system"] if "-r" in words else ["wall"], out)
        true("-r" in words or re.search(r" wall +\+engine +user [\d.]+, system [\d.]+$", out, re.M), out)
        if not words:  # what most people see first
            true(len([line for line in out.splitlines() if line.strip()]) <= 10, f"more than ten lines: {out}")
        equal([line.count("+engine: includes the overhead of the exact engine; --clean-times ") for line in out.splitlines() if "--clean-times" in line], [1], out)
        notes = [line for line in out.split("\n\n")[-2].splitlines() if line.startswith(" ")]
        equal(len(notes), len(set(notes)), f"each once: {notes}")
    text = stat("--clean-times", "--", "sh", "-c", ":", env=wide).stderr
    true("+engine" not in text, text)


@test
def a_command_runs_as_often_as_asked():
    for words, n in (((), 1), (("-r", "3"), 3), (("-v",), 1), (("--engine", "perf"), 1), (("--split",), 1), (("--html", "page.html"), 1)):
        Path("ran").write_text("")
        stat("-e", "task-clock,page-faults,instructions:u", *words, "--", "sh", "-c", "echo x >> ran")
        equal(Path("ran").read_text().count("x"), n, str(words))


@test
def times_add_up():
    d = document("-e", "task-clock,duration_time,user_time,system_time", "--", "sh", "-c",
                 "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")
    wall, clock = d["times_ns"]["wall"]["value"], event(d, "task-clock")["value"]
    equal(event(d, "duration_time")["value"], wall, "duration_time")
    true(5e6 < clock <= 1.02 * wall, f"task-clock {clock} of {wall}")
    used = d["times_ns"]["user"]["value"] + d["times_ns"]["system"]["value"]
    true(abs(used - clock) < 0.2 * clock + 10e6, f"user and system {used}, task-clock {clock}")
    equal(event(d, "user_time")["value"], d["times_ns"]["user"]["value"], "user_time")
    metric = next(m for m in d["metrics"] if m["metric"] == "cpus-utilized")
    true(abs(metric["value"] - clock / wall) < 0.01, metric)


@test
def groups_and_modifiers():
    d = document("-e", "{page-faults,minor-faults,major-faults}:u", "--", "true")
    names = ["page-faults", "minor-faults", "major-faults"]
    equal([e["event"] for e in d["events"]], names, "names")
    every, minor, major = (event(d, name)["value"] for name in names)
    equal(every, minor + major, "counted together")


# ---- what cannot be counted ----

@test
def full_counts_or_none():
    if not HARDWARE:
        refused("--no-multiplex", "-e", "cycles,task-clock", "--", "touch", "started", says="cycles is unavailable, and --no-multiplex")
        refused("--no-multiplex", "--", "touch", "started", says="cycles is unavailable, and --no-multiplex")
        true(not os.path.exists("started"), "before the command starts")
    stat("--no-multiplex", "-e", "page-faults,task-clock", "--", "true")


@test
def hardware_without_pmu_has_a_reason_once():
    r = stat("--", "true")
    hardware = [e for e in document("--", "true")["events"] if e["event"] in ("cycles", "instructions")]
    if hardware[0]["quality"] != "unavailable":
        skip("a machine with a PMU: tests/hw counts there")
    for e in hardware:
        equal((e["value"], e["n"]), (None, 0), "no number")
        true(e["reason"] and "doctor" in e["remedy"], e)
    equal(r.stderr.count("unavailable"), 1, "said once")
    true("tare doctor" in r.stderr, "and where to go")
    true(re.search(r"\n +[\d.,]+ +ms +task-clock", r.stderr), r.stderr)
    x = stat("-x,", "-e", "cycles,page-faults", "--", "true").stderr
    true(x.startswith("<not supported>,,cycles,0,100.00,,\n"), x)


@test
def nothing_countable_starts_nothing():
    if document("--", "true")["events"][4]["quality"] == "unavailable":
        refused("-e", "cycles", "--", "touch", "started", says="cycles is unavailable", hint="doctor")
        refused("--engine", "perf", "-e", "cycles,instructions", "--", "touch", "started", says="cycles is unavailable")
        true(not os.path.exists("started"), "the command must not run")


@test
def counters_that_exec_takes_away():
    """The kernel drops them when rights change or the file cannot be read: no number then, and no 0."""
    if os.geteuid():
        skip("needs root")
    os.chmod(WORK.name, 0o755)
    tare = os.path.abspath(shutil.copy(TARE, "tare"))
    hidden = os.path.abspath(shutil.copy("/bin/true", "hidden"))
    for mode, word in ((0o711, "may not read"), (0o4755, "changes its rights")):
        os.chmod(hidden, mode)
        r = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", tare, "stat", "-e",
                            "page-faults:u", "--", hidden], capture_output=True, text=True)
        equal(r.returncode, 125, r.stderr)
        true(word in r.stderr, r.stderr)
    os.chmod(hidden, 0o755)
    r = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", tare, "stat", "-e",
                        "page-faults:u", "--", hidden], capture_output=True, text=True)
    equal(r.returncode, 0, r.stderr)


@test
def as_nobody():
    """perf_event_paranoid 2: user mode only; what only the kernel counts is refused, not shown as 0."""
    if os.geteuid() or int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) != 2:
        skip("needs root and perf_event_paranoid 2")
    os.chmod(WORK.name, 0o755)
    tare = os.path.abspath(shutil.copy(TARE, "tare"))
    r = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", tare, "stat", "--format",
                        "json", "-e", "page-faults,context-switches,task-clock", "--", "/bin/true"],
                       capture_output=True, text=True)
    equal(r.returncode, 0, r.stderr)
    e = {e["event"]: e for e in json.loads(r.stderr)["events"]}
    true(e["page-faults:u"]["value"] > 10, e)
    equal(e["context-switches:u"]["quality"], "unavailable", "context-switches")
    true("paranoid" in e["context-switches:u"]["remedy"], e)
    equal((e["task-clock"]["quality"], e["task-clock"]["value"] > 0), ("counted", True), "of user mode and the kernel, and named so")
    windows = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", tare, "windows", "--every", "2ms", "--format", "json"]
    for words, names in ((["-e", "page-faults,cpu-clock"], ["task-clock", "page-faults:u", "cpu-clock"]), ([], ["task-clock", "page-faults:u"])):
        for mode in ("sample", "poll"):
            r = subprocess.run([*windows, *words, "--mode", mode, "--", "/bin/true"], capture_output=True, text=True)
            d = json.loads(r.stdout)
            equal(([e["event"] for e in d["events"]], d["kernel_left_out"]), (names, True), r.stderr)
    # The kernel's own files of tracepoints are for their group, where their folder is for all.
    number = os.path.join(WORK.name, "tree", "sys/kernel/tracing/events/sched/sched_switch/id")
    os.makedirs(os.path.dirname(number))
    Path(number).write_text("314\n")
    os.chmod(number, 0o440)
    r = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", tare, "events", "--sysfs-root", os.path.join(WORK.name, "tree"),
                        "explain", "--format", "json", "sched:sched_switch"], capture_output=True, text=True)
    (e,) = json.loads(r.stdout)["events"]
    true("may not read /sys/kernel/tracing" in e["reason"] and "gid=NUMBER" in e["remedy"], r.stdout)
    r = subprocess.run([*windows, "--mode", "poll", "-e", "context-switches", "--", "/bin/true"], capture_output=True, text=True)
    equal((r.returncode, r.stdout), (125, ""), r.stderr)
    true("context-switches:u is unavailable: it happens in the kernel" in r.stderr, r.stderr)
    r = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", tare, "stat", "-a", "-e",
                        "page-faults", "--", "/bin/true"], capture_output=True, text=True)
    equal(r.returncode, 125, "-a needs more")
    true("perf_event_paranoid" in r.stderr, r.stderr)


# ---- perf's layouts ----

def perf(*words):
    return subprocess.run(["perf", "stat", *words], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"}).stderr


def shape(line):
    """A line with every number replaced, so that two runs can be compared."""
    return re.sub(r"(?<=[KMG])?/sec", "RATE", re.sub(r"[KMG]/sec", "RATE", re.sub(r"\d+(\.\d+)?", "N", line)))


def digits(line):
    return [len(n.split(".")[1]) if "." in n else 0 for n in re.findall(r"\d+(?:\.\d+)?", line)]


@test
def perf_csv_and_json_field_for_field():
    if not shutil.which("perf"):
        skip("perf is not installed")
    events = "task-clock,page-faults,context-switches,cpu-clock,minor-faults"
    rows = [(["-e", events, "--", "true"], True), (["-r", "3", "-e", events, "--", "true"], True),
            (["-e", "page-faults", "--", "true"], True), (["-e", "page-faults:u,cs", "--", "true"], True),
            (["-a", "-e", events, "--", "sleep", "0.02"], True), (["-a", "-A", "-e", events, "--", "sleep", "0.02"], True),
            (["-a", "--per-core", "-e", events, "--", "sleep", "0.02"], True),
            (["-a", "--per-socket", "-e", events, "--", "sleep", "0.02"], True),
            (["-a", "--per-die", "-e", events, "--", "sleep", "0.02"], True),
            (["-a", "--per-node", "-e", events, "--", "sleep", "0.02"], True),
            (["-I", "50", "-e", events, "--", "sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"], False)]
    for words, same_lines in rows:
        for layout in (["-x,"], ["-x;"], ["-j"]):
            theirs, ours = perf(*layout, *words).splitlines(), stat(*layout, *words).stderr.splitlines()
            theirs, ours = [t for t in theirs if t], [o for o in ours if o]
            if same_lines:
                equal(len(ours), len(theirs), f"lines of {layout} {words}\n{ours}\n{theirs}")
            for t, o in zip(theirs, ours):
                t = t.replace('"(null)"', '""')  # what perf 6.1 prints for no unit
                if not same_lines and "<not counted>" in t + o:
                    continue  # an interval in which another command had the CPU
                equal(shape(o), shape(t), f"{layout} {words}")
                if layout == ["-j"]:
                    equal(list(json.loads(o)), list(json.loads(t)), "keys")
                else:
                    equal(digits(o), digits(t), f"digits of {words}\n{o}\n{t}")


@test
def clocks_as_perf_places_and_names_them():
    out = stat("-x,", "-a", "-A", "-e", "duration_time,cpu-clock", "--", "true").stderr.splitlines()
    true(out[0].startswith("CPU0,") and ",duration_time," in out[0], out)
    true("S0,1," in stat("-x,", "-a", "--per-socket", "-e", "duration_time", "--", "true").stderr, "a socket")
    out = stat("-x,", "-e", "task-clock/name=foo/", "--", "true").stderr
    true(re.fullmatch(r"\d+\.\d\d,msec,foo,\d+,100\.00,\d+\.\d{3},CPUs utilized\n", out), out)
    for layout in ("-x,", "-j"):
        refused("--metric-only", layout, "--", "true", says="--metric-only is for text")


@test
def a_long_list():
    """Thousands of events take time in proportion: three times as many took sixty times as long."""
    def user_time(n, *layout):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        out = stat(*layout, "-e", ",".join(["faults"] * n), "--", "true").stderr.splitlines()
        true(len(out) >= n, f"{len(out)} rows")
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    for layout in ["-x,"], []:
        few, many = (user_time(n, *layout) for n in (2000, 8000))
        true(many < 16 * few + 1, f"{layout}: {few:.2f} s of tare's own time for 2000, {many:.2f} s for 8000")


@test
def perf_and_tare_count_alike():
    if not shutil.which("perf"):
        skip("perf is not installed")
    words = ["-r", "5", "-x,", "-e", "page-faults", "--", "true"]
    theirs, ours = (float(out.split(",")[0]) for out in (perf(*words), stat(*words).stderr))
    true(abs(theirs - ours) <= 4, f"perf says {theirs} page faults, tare {ours}")


@test
def hybrid_and_uncore_are_opened_where_they_are():
    out = stat("--sysfs-root", f"{TREES}/hybrid", "-e", "cycles", "--", "touch", "started").stderr
    true("cpu_core/cycles/" in out and "cpu_atom/cycles/" in out, out)
    true(not os.path.exists("started"), "nothing is run for another machine")
    out = stat("--sysfs-root", f"{TREES}/hybrid", "-a", "-e", "cycles").stderr
    true("every task on CPUs 0-3" in out and "every task on CPUs 4-7" in out, out)
    out = stat("--sysfs-root", f"{TREES}/intel-server", "-e", "uncore_imc/cas_count_read/").stderr
    equal(out.count("every task on CPUs 0,"), 4, out)


# ---- our own formats ----

@test
def libraries_are_opened_when_needed():
    """Where none of them can be loaded, who needs none counts, and who needs one is told which it is."""
    for name in ("libzstd.so.1", "libz.so.1", "libjansson.so.4", "libdw.so.1", "libpfm.so.4", "libcapstone.so.4"):
        Path("broken", name).parent.mkdir(exist_ok=True)
        Path("broken", name).write_bytes(b"")
    broken = dict(os.environ, LD_LIBRARY_PATH=os.path.abspath("broken"))
    stat("-e", "page-faults,instructions:u", "--", "true", env=broken)
    Path("events.json").write_text('{"Events":[{"EventName":"MINE","EventCode":"0x3c","UMask":"0x01","Counter":"0,1"}]}')
    for words, library in ((["record", "-z", "-e", "cpu-clock:u", "-o", "z.data", "--", "true"], "libzstd.so.1"),
                           (["events", "--event-file", "events.json", "MINE"], "libjansson.so.4")):
        whole, without = (subprocess.run([TARE, *words], capture_output=True, text=True, timeout=60, env=env) for env in (None, broken))
        if whole.returncode:
            true(re.search("without (zstd|jansson)", whole.stderr), whole.stderr)
        else:
            true(without.returncode and f"{library}, which" in without.stderr and "install it" in without.stderr, without.stderr)


@test
def json_document():
    d = document("-r", "6", "-e", "page-faults,task-clock", "--", "sh", "-c", "exit 3", status=3)
    equal((d["schema"], d["exit_status"], d["runs"], d["command"]), ("tare/stat/1", 3, 6, ["sh", "-c", "exit 3"]), "")
    e = event(d, "page-faults")
    equal(len(e["runs"]), 6, "runs")
    equal((e["min"], e["max"]), (min(e["runs"]), max(e["runs"])), "min and max")
    middle = sorted(e["runs"])[2:4]
    equal(e["median"], sum(middle) // 2, "median")
    equal(e["unit"], "", "a count has no unit")
    equal(event(d, "task-clock")["unit"], "ns", "a clock has")


@test
def csv_with_a_header():
    lines = stat("--format", "csv", "-e", "page-faults,task-clock", "--", "true").stderr.splitlines()
    equal(len(lines), 3, lines)
    for line in lines:
        equal(line.count(","), 20, line)
    true(re.fullmatch(r",page-faults,(\d+),,counted,perf,1\.000000,1,\1,\1,\1,\1,0,.*", lines[1]), lines[1])


@test
def machine_output_ignores_the_locale():
    env = {**os.environ, "LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}
    for layout in ("-x;", "-j"):
        line = stat(layout, "-e", "task-clock", "--", "true", env=env).stderr
        true(re.search(r"\d\.\d\d", line), line)


@test
def thousands_for_people_only():
    script = "import sys\nx = bytearray(40 << 20)"
    words = ["-e", "page-faults", "--", sys.executable, "-c", script]
    true(re.search(r"\d,\d{3} +page-faults", stat(*words).stderr), "with")
    true(re.search(r" \d{4,} +page-faults", stat("--no-big-num", *words).stderr), "without")
    true(re.match(r"\d{4,},,page", stat("-x,", *words).stderr), "never for machines")


@test
def colour():
    words = ["-e", "page-faults", "--", "true"]
    true("\033" not in stat(*words).stderr, "none in a pipe")
    true("\033" in stat("--color", "always", *words).stderr, "when asked for")
    true("\033" in stat(*words, env={**os.environ, "CLICOLOR_FORCE": "1"}).stderr, "CLICOLOR_FORCE")
    true("\033" not in stat(*words, env={**os.environ, "CLICOLOR_FORCE": "1", "NO_COLOR": "1"}).stderr, "NO_COLOR")
    for term, wanted in (("xterm", True), ("dumb", False)):
        out = subprocess.run(["script", "-qec", f"{TARE} stat -e page-faults -- true", "/dev/null"],
                             capture_output=True, text=True, env={**os.environ, "TERM": term}).stdout
        equal("\033[1m" in out, wanted, f"on a terminal with TERM={term}: {out!r}")


@test
def fits_the_window():
    for width in (60, 80, 100, 140):
        env = {**os.environ, "COLUMNS": str(width)}
        for line in stat("-r", "3", "-e", "task-clock,page-faults,cs", "--", "true", env=env).stderr.splitlines():
            true(len(line) <= width, f"{len(line)} in {width}: {line}")


@test
def ascii_where_the_locale_is():
    out = stat("-r", "6", "-e", "task-clock", "--", "true", env={**os.environ, "LC_ALL": "C"}).stderr
    out.encode("ascii")
    true("+-" in out, out)


# ---- where output goes ----

@test
def files():
    stat("-o", "out", "-x,", "-e", "page-faults", "--", "true")
    first = Path("out").read_text()
    true(first.startswith("# started on "), "as perf begins a file")
    stat("-o", "out", "--append", "-x,", "-e", "page-faults", "--", "true")
    true(Path("out").read_text().startswith(first) and len(Path("out").read_text()) > len(first), "appended")
    stat("-o", "out", "--format", "json", "-e", "page-faults", "--", "true")
    json.loads(Path("out").read_text())
    equal(stat("-o", "-", "-x,", "-e", "page-faults", "--", "true").stdout.count(",page-faults,"), 1, "- is stdout")
    r, w = os.pipe()
    stat("--log-fd", str(w), "-x,", "-e", "page-faults", "--", "true", pass_fds=[w])
    true(b"page-faults" in os.read(r, 1000), "--log-fd")


@test
def nothing_half_written():
    Path("old").write_text("what was there")
    for layout in (["--format", "json"], ["-x,"], []):
        for name in ("new", "old"):
            stat(*layout, "-o", name, "-e", "page-faults", "-C", "9999", "--", "true", status=125)
            stat(*layout, "-o", name, "-e", "bogus", "--", "true", status=125)
            stat(*layout, "-o", name, "-e", "page-faults", "--", "no-such-command", status=127)
        true(not os.path.exists("new"), f"{layout}: an empty file")
        equal(Path("old").read_text(), "what was there", f"{layout}: of before")
    stat("-o", "old", "--format", "json", "-e", "page-faults", "--", "true")
    json.loads(Path("old").read_text())


@test
def full_disk_and_closed_descriptors():
    for words in ((), ("--format", "json"), ("-I", "10")):
        refused(*words, "-o", "/dev/full", "-e", "page-faults", "--", "sleep", "0.05", says="No space left on device")
    refused("-o", "/nonexistent/x", "-e", "page-faults", "--", "touch", "started", says="cannot write to /nonexistent/x")
    true(not os.path.exists("started"), "found before the command starts")
    r = subprocess.run(f"{TARE} stat -e page-faults -- true 2>&-", shell=True)
    equal(r.returncode, 125, "closed stderr")
    r = subprocess.run(f"{TARE} stat -x, -o - -e page-faults -- true >&-", shell=True, stderr=subprocess.PIPE)
    equal(r.returncode, 125, "closed stdout")
    r = subprocess.run(f"{TARE} stat -x, -e page-faults -- true <&- 2>/dev/null", shell=True)
    equal(r.returncode, 0, "closed stdin")


@test
def a_reader_that_goes_away():
    r = subprocess.run(["bash", "-c", f"{TARE} stat -I 10 -x, -e task-clock -- sleep 30 2>&1 | head -n 2; "
                        "echo ${PIPESTATUS[0]}"], capture_output=True, text=True, timeout=20)
    lines = r.stdout.splitlines()
    equal(lines[-1], str(128 + signal.SIGPIPE), r.stdout)
    equal(len(lines), 3, lines)


# ---- the command ----

@test
def exit_statuses():
    for n in (0, 1, 77, 255):
        stat("-e", "page-faults", "--", "sh", "-c", f"exit {n}", status=n)
    for s in (signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM):
        stat("-e", "page-faults", "--", "sh", "-c", f"kill -{int(s)} $$", status=128 + s)
    stat("-r", "3", "-e", "page-faults", "--", "sh", "-c", "[ -e once ] || { touch once; exit 9; }", status=9)


@test
def commands_that_cannot_be_run():
    Path("plain").write_text("")
    Path("bad").write_text("#!/nonexistent/interpreter\n")
    os.chmod("bad", 0o755)
    Path("script").write_text("exit 4\n")
    os.chmod("script", 0o755)
    refused("--", "no-such-command", status=127, says="there is no command 'no-such-command'")
    refused("--", "./no-such-command", status=127, says="./no-such-command")
    refused("--", "./plain", status=126, says="it has no execute permission")
    refused("--", "/", status=126, says="it is a directory")
    refused("--", "./bad", status=126, says="its interpreter or loader does not exist")
    path = dict(os.environ, PATH=f"{os.getcwd()}:{os.environ['PATH']}")
    refused("--", "bad", status=126, says=f"{os.getcwd()}/bad cannot be executed: its interpreter or loader does not exist", env=path)
    os.symlink("true", "true")
    refused("--", "true", status=126, says="Too many levels of symbolic links", env=path)  # no other directory is looked at: execvp(3)
    os.unlink("true")
    stat("-e", "page-faults", "--", "./script", status=4)  # as the shell does, without #!
    stat("-e", "page-faults", "--", "", status=127)


@test
def nothing_leaks_into_the_command():
    script = "import os, sys, json, signal; print(json.dumps([sorted(os.listdir('/proc/self/fd')), dict(os.environ), " \
             "os.getpgrp(), sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, []))), " \
             "open('/proc/self/status').read().split('SigIgn:')[1].split()[0], os.getcwd(), os.nice(0)]))"
    command = [sys.executable, "-I", "-S", "-c", script]
    bare = json.loads(subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout)
    for words in ((), ("-a",), ("-I", "1000"), ("-o", "out"), ("-r", "1", "--timeout", "30s")):
        seen = json.loads(stat("-e", "page-faults,task-clock", *words, "--", *command).stdout)
        equal(seen, bare, f"what the command sees under {words}")


@test
def input_and_output_are_the_commands():
    r = subprocess.run([TARE, "stat", "-x,", "-e", "page-faults", "--", "sh", "-c", "cat; echo err >&2"], input="hello",
                       capture_output=True, text=True)
    equal(r.stdout, "hello", "stdout")
    true(r.stderr.startswith("err\n"), r.stderr)


@test
def a_parent_that_ignores_sigchld():
    """Without a status of the command tare would wait for ever; the command has SIGCHLD as it would have natively."""
    start = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    ignored = ["grep", "-q", "SigIgn:.*[13579bdf][0-9a-f]\\{4\\}$", "/proc/self/status"]  # bit 16: SIGCHLD is 17
    equal(subprocess.run(ignored).returncode, 1, "not ignored here")
    for words in (["-n"], ["-e", "task-clock"], ["-a", "-e", "cpu-clock"], ["--engine", "exact", "-e", "instructions:u"]):
        if words[0] == "--engine" and not exact_works():
            continue
        r = subprocess.run([sys.executable, "-c", start, TARE, "stat", *words, "--", *ignored], stderr=subprocess.PIPE,
                           text=True, timeout=20)
        equal(r.returncode, 0, f"{words}: {r.stderr}")


# ---- how runs end ----

def group_interrupted(after, *words):
    p = subprocess.Popen([TARE, "stat", *words], stderr=subprocess.PIPE, text=True, start_new_session=True)
    after()
    os.killpg(p.pid, signal.SIGINT)
    out = p.communicate(timeout=20)[1]
    return p.returncode, out


@test
def a_run_cut_off_is_left_out():
    script = "echo >>begun; n=$(wc -l <begun); [ $n = 3 ] && exec sleep 20; exec sleep 0.02"
    third = lambda: wait_for(lambda: os.path.exists("begun") and len(Path("begun").read_text()) == 3, "the third run")  # noqa: E731
    status, out = group_interrupted(third, "-r", "5", "--format", "json", "-e", "page-faults", "--", "sh", "-c", script)
    equal(status, 130, out)
    d = json.loads(out)
    validated(d, SCHEMA)
    e = event(d, "page-faults")
    equal((d["runs"], e["n"], e["runs"][2]), (3, 2, None), "two whole runs")
    equal([r["left_out"] for r in d["each_run"]], [False, False, True], "each run")
    equal(d["each_run"][2]["ended_by"], "interrupt", d["each_run"])
    true(d["times_ns"]["wall"]["max"] < 15e9, d["times_ns"])
    os.unlink("begun")
    out = group_interrupted(third, "-r", "5", "-e", "page-faults", "--", "sh", "-c", script)[1]
    true("median of 2 runs" in out and "the last run was cut short by SIGINT and is excluded" in out, out)
    out = group_interrupted(lambda: wait_for(lambda: os.path.exists("first"), "the first run"), "-r", "5", "-e", "page-faults", "--", "sh", "-c",
                            "echo >first; exec sleep 20")[1]
    true("cut short by SIGINT; these are the counts until then" in out and re.search(r"\d+ +page-faults", out), out)


@test
def runs_that_fail_are_named():
    script = "echo >>begun2; case $(wc -l <begun2) in 2) exit 5;; 4) kill -SEGV $$;; esac"
    r = stat("-r", "6", "-e", "page-faults", "--", "sh", "-c", script, status=5)
    true("2 of 6 runs failed (exit 5, SIGSEGV)" in r.stderr, r.stderr)
    os.unlink("begun2")
    d = document("-r", "6", "-e", "page-faults", "--", "sh", "-c", script, status=5)
    equal([(e["exit_status"], e["signal"]) for e in d["each_run"]],
          [(0, None), (5, None), (0, None), (None, 11), (0, None), (0, None)], "each run")
    true("the command failed: SIGSEGV" in stat("-e", "page-faults", "--", "sh", "-c", "kill -SEGV $$", status=139).stderr, "one")
    true("the command failed: exit 4" in stat("-e", "page-faults", "--", "sh", "-c", "exit 4", status=4).stderr, "one")
    true("failed" not in stat("--timeout", "50", "-e", "page-faults", "--", "sleep", "20").stderr, "ended by tare, as asked")


# ---- repeated, over time, for a time ----

def until(enough, *words, then=lambda p: p.stdin.close(), status=0):
    """Lines of tare stat WORDS: as they come until they are `enough`, and those that follow when the command's input has ended."""
    lines = []
    with subprocess.Popen([TARE, "stat", *words], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
        while not enough(lines):
            lines.append(p.stderr.readline())
            true(lines[-1], f"ended early: {lines}")
        then(p)
        lines += p.stderr
        equal(p.wait(20), status, f"status of tare stat {' '.join(words)}")
        return lines


@test
def outliers_are_marked():
    Path("n").write_text("0")
    script = "n=$(($(cat n)+1)); echo $n >n; if [ $n = 4 ]; then for i in 1 2 3 4 5 6 7 8 9; do /bin/true; done; fi"
    d = document("-r", "9", "-e", "page-faults", "--", "sh", "-c", script)
    true(3 in event(d, "page-faults")["outliers"], event(d, "page-faults"))
    Path("n").write_text("0")
    true("outlier" in stat("-r", "9", "-e", "page-faults", "--", "sh", "-c", script).stderr, "and shown")


@test
def intervals():
    asleep = lambda lines: len(lines) > 2 and "<not counted>" in lines[-1]  # noqa: E731  which is not 0
    lines = until(asleep, "-I", "20", "-x,", "-e", "task-clock,page-faults", "--", "cat")
    times = [float(line.split(",")[0]) for line in lines[::2]]
    true(2 <= len(times) <= times[-1] / 0.02 + 1.5, lines)
    equal(times, sorted(times), "in order")
    out = until(lambda lines: len(lines) > 2, "--format", "json", "-I", "20", "-e", "task-clock,page-faults,instructions", "--", "sh", "-c", "read line; ls / >/dev/null")
    seen = [json.loads(line) for line in out]  # every line a document
    whole = validated(seen.pop(), SCHEMA)  # the last one of the whole
    schema = json.loads(Path(SCHEMA).with_name("tare-stat-interval-1.json").read_text())
    for line in seen:
        jsonschema.validate(line, schema)
    true(len(seen) >= 2 and seen[0]["time_ns"] < seen[-1]["time_ns"], out)
    equal(sum(event(line, "page-faults")["value"] or 0 for line in seen), event(whole, "page-faults")["value"], "the intervals add up")
    equal(len(stat("-I", "10", "--interval-count", "3", "-x,", "-e", "page-faults", "--", "sleep", "30").stderr
              .splitlines()), 3, "three, and no rest")


@test
def intervals_are_written_as_they_end():
    p = subprocess.Popen([TARE, "stat", "-I", "10", "-x,", "-e", "task-clock", "--", "sleep", "30"],
                         stderr=subprocess.PIPE, text=True)
    p.stderr.readline()
    equal(p.poll(), None, "the first line comes while the command runs")
    p.terminate()
    p.communicate(timeout=20)
    equal(p.returncode, 128 + signal.SIGTERM, "the command's own end")


@test
def many_intervals():
    lines = stat("-I", "1", "-x,", "-e", "page-faults,task-clock", "--interval-count", "2000", "--", "sleep", "60")
    true(4000 <= len(lines.stderr.splitlines()) <= 4002, len(lines.stderr.splitlines()))


@test
def limits_in_time():
    d = document("--timeout", "50", "-e", "page-faults", "--", "sleep", "30")
    true(d["conditions"]["timed_out"] and 50e6 <= d["times_ns"]["wall"]["value"] < 25e9, d["times_ns"])
    d = document("-D", "100", "--timeout", "150", "-e", "task-clock", "--", "sh", "-c", "while :; do :; done")
    true(d["times_ns"]["counted"]["value"] < d["times_ns"]["wall"]["value"] - 90e6, d["times_ns"])


# ---- what runs already, and the whole machine ----

@test
def running_processes():
    busy = "import threading, time\nt = [threading.Thread(target=lambda: time.sleep(20), daemon=True) for _ in range(3)]\n" \
           "for x in t: x.start()\nprint(flush=True)\nwhile True: pass"
    p = subprocess.Popen([sys.executable, "-c", busy], stdout=subprocess.PIPE)
    p.stdout.readline()
    try:
        d = document("-p", str(p.pid), "-e", "task-clock", "--timeout", "1000")
        true(1e6 < event(d, "task-clock")["value"] <= 1.02 * d["times_ns"]["counted"]["value"], d)  # of two clocks
        equal((d["exit_status"], d["target"]), (None, f"process {p.pid}"), "no command")
        rows = stat("-p", str(p.pid), "--per-thread", "-x,", "-e", "task-clock", "--timeout", "500").stderr.splitlines()
        equal(len(rows), 4, rows)
        equal(sum(not row.split(",")[1].startswith("<") for row in rows), 1, "three of them sleep")
        d = document("-t", str(p.pid), "-e", "task-clock", "--", "sleep", "0.5")
        true(1e6 < event(d, "task-clock")["value"] <= 1.02 * d["times_ns"]["counted"]["value"], f"while another command runs: {d}")
    finally:
        p.kill()
        p.wait()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as cat:
        until(len, "-I", "20", "-x,", "-p", str(cat.pid), "-e", "page-faults", then=lambda p: cat.stdin.close())  # ends with the process


@test
def names_of_processes_reach_no_terminal():
    """A process may call itself anything, also what a terminal would obey."""
    name = "import ctypes, sys, time\nctypes.CDLL(None).prctl(15, b'\\x1b[31m\\x9bX\\n', 0, 0, 0)\nprint(flush=True)\n" \
           "while True: pass"
    p = subprocess.Popen([sys.executable, "-c", name], stdout=subprocess.PIPE)
    p.stdout.readline()
    try:
        for layout in ([], ["-x,"], ["-j"], ["--format", "csv"], ["--format", "json"], ["-I", "20"]):
            out = stat("--per-thread", "-p", str(p.pid), "-e", "task-clock", "--timeout", "50", *layout).stderr
            true(re.search(r"x1b\[31m|u001b\[31m", out), f"{layout}: the name is shown: {out!r}")
            true(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", out), f"{layout}: {out!r}")
    finally:
        p.kill()
        p.wait()


@test
def the_whole_machine():
    online = len(os.sched_getaffinity(0))
    begun = time.monotonic()
    d = document("-a", "-A", "-e", "cpu-clock", "--", "sleep", "0.05")
    most = (time.monotonic() - begun) * 1e9
    equal(len({e["cpu"] for e in d["events"]}), len(d["events"]), "a row per CPU")
    true(len(d["events"]) >= online, d["events"])
    for e in d["events"]:
        true(45e6 < e["value"] < 1.02 * most, f"{most} outside, {e}")
    equal([e["cpu"] for e in document("-C", "0", "-A", "-e", "cpu-clock", "--", "true")["events"]], [0], "-C 0")
    for by in ("core", "socket", "node"):
        true(document("-a", f"--per-{by}", "-e", "cpu-clock", "--", "true")["events"][0][by] >= 0, by)


# ---- control ----

@test
def controlled_by_fifo():
    os.mkfifo("ctl")
    os.mkfifo("ack")
    script = "say() { echo $1 >ctl; read a <ack; echo $a; }; /bin/true; /bin/true; say enable; /bin/true; say disable;" \
             "/bin/true; /bin/true; say nonsense"
    d = stat("-D", "-1", "--control", "fifo:ctl,ack", "--format", "json", "-o", "d", "-e", "page-faults", "--", "sh", "-c",
             script)
    equal(d.stdout.splitlines()[:2], ["ack", "ack"], d.stdout)
    true(d.stdout.splitlines()[2].startswith("error"), d.stdout)
    region = event(json.loads(Path("d").read_text()), "page-faults")["value"]
    one = event(document("-e", "page-faults", "--", "true"), "page-faults")["value"]
    true(one - 5 <= region < 3 * one, f"{region} in the region, {one} in one true")


@test
def controlled_from_outside():
    ctl, ack = os.pipe(), os.pipe()
    p = subprocess.Popen([TARE, "stat", "-D", "-1", "--control", f"fd:{ctl[0]},{ack[1]}", "-x,", "-e", "task-clock", "--",
                          "sleep", "30"], pass_fds=[ctl[0], ack[1]], stderr=subprocess.PIPE, text=True)
    for word in (b"ping\n", b"enable\n", b"disable\n", b"stop\n"):
        os.write(ctl[1], word)
        equal(os.read(ack[0], 100), b"ack\n", word)
    out = p.communicate(timeout=20)[1]
    true("task-clock" in out, out)
    equal(p.returncode, 0, "stop was asked for, as a time limit is")


@test
def a_signal_that_the_command_survives():
    """It finished its work: the run is whole."""
    p = subprocess.Popen([TARE, "stat", "--format", "json", "--engine", "perf", "-e", "task-clock", "--", "sh", "-c",
                          "trap '' TERM; echo >trapped; read line; true"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: os.path.exists("trapped"), "the command")
    p.terminate()
    wait_for(lambda: "ShdPnd:\t0000000000000000\n" in Path(f"/proc/{p.pid}/status").read_text(), "tare to take the signal")
    out = json.loads(p.communicate("\n")[1])
    equal(p.returncode, 0, out)
    equal(out["conditions"]["interrupted"], False, out)
    equal(out["events"][0]["n"], 1, out)


@test
def names_with_newlines():
    """A process may put any byte into its name, and is counted to its end all the same."""
    victim = subprocess.Popen([sys.executable, "-c", "import ctypes, time\n"
                               "ctypes.CDLL(None).prctl(15, b'a\\nb', 0, 0, 0)\nprint(1, flush=True)\ntime.sleep(60)"],
                              stdout=subprocess.PIPE)
    victim.stdout.readline()
    r = subprocess.run([TARE, "stat", "-e", "task-clock", "-p", str(victim.pid), "--", "sleep", "0.3"], capture_output=True,
                       text=True)
    victim.kill()
    victim.wait()
    equal(r.returncode, 0, r.stderr)


@test
def control_without_a_newline():
    ctl, ack = os.pipe(), os.pipe()
    p = subprocess.Popen([TARE, "stat", "-D", "-1", "--control", f"fd:{ctl[0]},{ack[1]}", "-x,", "-e", "cpu-clock", "-C", "0"],
                         pass_fds=[ctl[0], ack[1]], stderr=subprocess.PIPE, text=True)
    for word in (b"enable", b"stop"):
        os.write(ctl[1], word)
        true(select.select([ack[0]], [], [], 20)[0], f"{word} is obeyed")
        equal(os.read(ack[0], 100), b"ack\n", word)
    out = p.communicate(timeout=20)[1]
    true(re.match(r"\d", out), out)


# ---- signals to tare ----

def signalled(number, *words):
    p = subprocess.Popen([TARE, "stat", "-x,", "-e", "page-faults", *words], stderr=subprocess.PIPE, text=True,
                         start_new_session=True)
    wait_for(lambda: "sleep" in subprocess.run(["ps", "-o", "comm=", "--ppid", str(p.pid)], capture_output=True,
                                               text=True).stdout or not words[-1].isdigit(), "the command")
    wait_for(lambda: listens(p.pid, number), "tare to hear the signal")
    time.sleep(0.05)
    p.send_signal(number)
    out = p.communicate(timeout=20)[1]
    return p.returncode, out


@test
def interrupted():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        status, out = signalled(number, "--", "sleep", "30")
        equal(status, 128 + number, out)
        true(re.match(r"\d+,,page-faults", out), f"what was counted is printed: {out}")
    status, out = signalled(signal.SIGINT, "-r", "0", "--", "sleep", "30")
    equal(status, 130, "no further runs")
    status, out = signalled(signal.SIGINT, "-a")
    equal(status, 0, "the usual end of -a")
    true("page-faults" in out, out)


@test
def killed_before_the_command_starts_leaves_nothing():
    mark = f"31.{os.getpid()}"
    p = subprocess.Popen([TARE, "stat", "-e", "page-faults", "--", "sleep", mark], stderr=subprocess.DEVNULL)
    p.kill()
    p.wait()

    def left():
        lines = subprocess.run(["ps", "-eo", "pid=,args="], capture_output=True, text=True).stdout.splitlines()
        return [line for line in lines if line.endswith(f" sleep {mark}")]

    # Either the command never ran, or it runs on as the user's; a waiting half-started child would be a leak.
    wait_for(lambda: not any("tare stat" in line for line in left()), "what is left behind to end")
    for line in left():
        os.kill(int(line.split()[0]), signal.SIGTERM)


# ---- metrics ----

@test
def metrics():
    d = document("-r", "5", "--metric", "fault-cost = task-clock / page-faults", "--", "true")
    m = next(m for m in d["metrics"] if m["metric"].strip() == "fault-cost")
    true(m["low"] <= m["value"] <= m["high"] and m["value"] > 0, m)
    equal({e["event"] for e in d["events"]}, {"task-clock", "page-faults"}, "its events are counted")
    refused("--metric", "x=page-faults/", "--", "true", says="the formula ends too early")
    refused("-M", "ipcc", "--", "true", says="there is no metric 'ipcc'", hint="ipc")
    refused("-M", "x=page-faults*2", "--", "true", says="there is no metric 'x=page-faults*2'")
    refused("--metric", "x=1+1", "--", "true", says="the formula has no event")
    true("fault" in stat("--metric", "fault=page-faults*2", "--", "true").stderr, "shown by its name")


@test
def split_and_no_multiplex():
    d = document("--split", "-e", "task-clock,page-faults,cs", "-r", "2", "--", "true")
    equal([e["n"] for e in d["events"]], [2, 2, 2], "software events fit at once")
    equal(d["conditions"]["batches"], 1, "one round")
    d = document("--no-multiplex", "-e", "task-clock,page-faults", "--", "true")
    equal([e["share"] for e in d["events"]], [1, 1], "all the time")


# ---- the exact engine ----

def exact_works():
    return subprocess.run([TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", "true"],
                          capture_output=True).returncode != 125


def exact_or_skip():
    r = subprocess.run([TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", "true"], capture_output=True,
                       text=True)
    if r.returncode == 125:
        skip(r.stderr.strip().splitlines()[0])
    return True


@test
def exact_counts_beside_the_kernels():
    exact_or_skip()
    # Not a shell, which makes decimal digits of its parent's pid: 19 instructions for each.
    d = document("--engine", "exact", "-r", "3", "-e", "{instructions,page-faults},branches:u",
                 "--", "grep", "x", "/dev/null", status=1)
    equal([e["event"] for e in d["events"]], ["instructions:u", "branches:u", "page-faults"], "names: overhead last")
    equal([e["engine"] for e in d["events"]], ["exact", "exact", "perf"], "engines")
    equal([e["quality"] for e in d["events"]], ["exact", "exact", "counted"], "qualities")
    equal((d["conditions"]["engine"], d["conditions"]["aslr"]), ("exact", False), "conditions")
    n = event(d, "instructions:u")
    true(n["min"] == n["max"] > 100000, n)
    true(0 < event(d, "branches:u")["value"] < n["value"], d["events"])
    true(event(d, "page-faults")["value"] > 50, "the kernel's count of the command, not of tare")
    true("exact engine" in stat("--engine", "exact", "--", "true").stderr, "people are told")


@test
def one_within_another():
    """The inner one counts its command as it would alone; the outer one says what it did not count. Each has a status of its own."""
    exact_or_skip()
    command = ("grep", "x", "/dev/null")  # no shell: its count has the digits of its parent's pid
    alone = document("--engine", "exact", "-e", "instructions:u", "--", *command, status=1)
    for words in (["--engine", "exact", "-e", "instructions:u"], ["-e", "task-clock,instructions:u"]):
        outer = document(*words, "--", TARE, "stat", "--format", "json", "-o", "inner.json", "--engine", "exact", "-e", "instructions:u", "--",
                         *command, status=1)
        inner = json.loads(Path("inner.json").read_text())
        equal(event(inner, "instructions:u")["value"], event(alone, "instructions:u")["value"], "the inner count")
        if words[0] == "--engine":
            equal(event(outer, "instructions:u")["quality"], "exact, without 1 process", "the outer count")
            equal([p["comm"] for p in outer["conditions"]["uncounted_processes"]], ["grep"], "what it is without")


@test
def exact_says_stops():
    """A stop may cost an exact count an instruction per sleeping thread: people and programs are told how many there were."""
    exact_or_skip()
    script = "sleep 0.1 & kill -STOP $!; kill -CONT $!; wait"
    words = ("--engine", "exact", "-r", "2", "-e", "instructions:u", "--", "sh", "-c")
    equal(document(*words, script)["conditions"].get("stops"), 2, "stops in two runs")
    true("But: stopped at least 2 times and continued." in stat(*words, script).stderr, "people are told")
    calm = stat(*words, "sleep 0.1 & wait")
    true("stopped" not in calm.stderr, calm.stderr)
    true("stops" not in document(*words, "sleep 0.1 & wait")["conditions"], "no word where there was none")


@test
def exact_says_what_runs_on():
    """Processes that run on when the command ends are counted up to there: people and programs are told that there are some."""
    exact_or_skip()
    words = ("--engine", "exact", "-e", "instructions:u", "--", "sh", "-c")
    ended = "But: 1 process was still running when the command ended, sleep, pid %d: counted up to there."
    pids = []
    try:
        # The shell ends when it is asleep: then it has its name.
        script = "sleep 100 >&- 2>&- & until grep -q '(sleep) S' /proc/$!/stat; do :; done; echo $!"
        told = stat(*words, script)
        pids.append(int(told.stdout))
        true(ended % pids[0] in " ".join(told.stderr.split()), told.stderr)
        several = stat(*words, script + "; " + script)
        pids += map(int, several.stdout.split())
        r = stat("--format", "json", *words, script)
        pids.append(int(r.stdout))
        equal(validated(r.stderr, SCHEMA)["conditions"].get("left_running"), 1, "programs are told")
        true("But: 2 processes were still running when the command ended, sleep, pid" in " ".join(several.stderr.split()), several.stderr)
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
    for _ in range(5): # one that has hardly begun has no pid yet
        true("pid 0" not in stat(*words, "sleep 0.1 >&- 2>&- &").stderr, "no pid that is none")
    true("still running" not in stat(*words, "sleep 0.1 & wait").stderr, "no word where there was none")
    true("left_running" not in document(*words, "sleep 0.1 & wait")["conditions"], "nor there")


NEVER = "the command was ended by SIGSEGV before its first instruction"


@test
def a_command_that_never_began_has_executed_nothing():
    """0 with the cause, and the status that it has by itself; in every format."""
    exact_or_skip()
    words = ("--engine", "exact", "-e", "instructions:u", "--", ended_within_exec("./unbegun"))
    equal(subprocess.run(["./unbegun"]).returncode, -signal.SIGSEGV, "by itself")
    r = stat(*words, status=139)
    true(re.search(r"^ +0 +instructions:u +exact", r.stderr, re.M) and r.stderr.count(NEVER) == 1 and "failed" not in r.stderr, r.stderr)
    for format in (["--format", "json"], ["--format", "csv"], ["-x", ","], ["-j"]):
        r = stat(*format, "-o", "unbegun.out", *words, status=139)
        equal(r.stderr, f"tare stat: {NEVER}\n")
        text = Path("unbegun.out").read_text()
        true(re.search(r"\b0\b", text), text)
        if format[-1] == "json":
            d = json.loads(text)
            validated(d, SCHEMA)
            equal((d["exit_status"], event(d, "instructions:u")["value"], d["each_run"][0].get("never_began")), (139, 0, True), text)
    true("instructions by" not in stat("--profile", *words, status=139).stderr, "no table of nothing")
    true("never_began" not in str(document("--engine", "exact", "-e", "instructions:u", "--", "true")), "of no other")


@test
def runs_that_never_began_are_in_no_number():
    exact_or_skip()
    ended_within_exec("./unbegun")
    words = ("-r", "3", "--engine", "exact", "-e", "instructions:u", "--pre", "echo >>turn; case $(wc -l <turn) in 2) cp unbegun turns;; *) cp /bin/true turns;; esac",
             "--", "./turns")
    r = stat(*words, status=139)
    true("median of 2 runs" in r.stderr and "1 of 3 runs ended before their first instruction, by SIGSEGV: they are excluded." in r.stderr and
         "failed" not in r.stderr and "all 2 equal" in r.stderr, r.stderr)
    os.unlink("turn")
    d = document(*words, status=139)
    e = event(d, "instructions:u")
    equal((e["n"], e["runs"][1], [r["left_out"] for r in d["each_run"]]), (2, None, [False, True, False]))
    true(e["min"] == e["max"] > 10000, e)


@test
def ended_while_it_is_prepared():
    """Whoever ends the command in the engine's first moment: a whole number, or 0 with the cause; a document each time, and the status of the signal."""
    exact_or_skip()
    for i in range(24):
        Path("early.json").unlink(missing_ok=True)
        p = subprocess.Popen([TARE, "stat", "--engine", "exact", "--format", "json", "-o", "early.json", "-e", "instructions:u", "--", "sleep", "9"],
                             stderr=subprocess.PIPE, text=True)
        pid = 0
        while not pid and p.poll() is None:  # whoever forks first is the supervisor, and the command is its child
            pid = next((g for c in children(p.pid) for g in children(c)), 0)
        true(pid, "the command before its end")
        time.sleep(i % 8 / 4000)
        number = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)[i % 3]
        os.kill(pid, number)
        said = p.communicate(timeout=20)[1]
        equal(p.returncode, 128 + number, said)
        d = json.loads(Path("early.json").read_text())
        n = event(d, "instructions:u")["value"]
        equal(d["each_run"][0].get("never_began", False), n == 0, f"{n} {said}")
        equal("before its first instruction" in said, n == 0, said)


@test
def the_supervisor_killed_while_the_command_is_prepared():
    """No count is known then: 125 and the reason each time, in the document once there is a command; and nothing runs on."""
    exact_or_skip()
    for i in range(16):
        Path("lost.json").unlink(missing_ok=True)
        p = subprocess.Popen([TARE, "stat", "--engine", "exact", "--profile", "--format", "json", "-o", "lost.json", "-e", "instructions:u", "--", "sleep", "9"],
                             stderr=subprocess.PIPE, text=True)
        command = 0
        while not command and p.poll() is None:
            supervisor = next(iter(children(p.pid)), 0)
            command = next(iter(children(supervisor)), 0) if supervisor else 0
        true(command, "the command before its end")
        time.sleep(i % 4 / 4000)
        os.kill(supervisor, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):  # it may have begun, and goes on
            os.kill(command, signal.SIGTERM)
        said = p.communicate(timeout=20)[1]
        equal(p.returncode, 125, said)
        if not Path("lost.json").exists():  # before it had put down which process it forked: no command was begun
            true("supervisor" in said and "signal 9" in said, said)
            continue
        e = event(json.loads(Path("lost.json").read_text()), "instructions:u")
        true(e["value"] is None and "supervisor" in e["reason"] and "was ended by signal 9" in e["reason"], e)
        wait_for(lambda: not Path(f"/proc/{command}").exists(), "the command to be gone")  # noqa: B023


@test
def exact_counts_known_work():
    """A loop of three instructions: a million further rounds are three million further instructions."""
    exact_or_skip()
    if not shutil.which("cc"):
        skip("cc is not installed")
    Path("loop.c").write_text("#include <stdlib.h>\nint main(int c, char **v) { long n = atol(v[1]);"
                              "__asm__ volatile(\"1: nop\\n dec %0\\n jnz 1b\" : \"+r\"(n)); return c - 2; }\n")
    subprocess.run(["cc", "-O1", "-o", "loop", "loop.c"], check=True)
    counts = [event(document("--engine", "exact", "-e", "instructions:u", "--", "./loop", n), "instructions:u")["value"]
              for n in ("1000000", "2000000")]
    equal(counts[1] - counts[0], 3000000, "a million rounds")


@test
def a_command_runs_where_the_exact_engine_cannot():
    """auto never fails for want of the engine: it says what is not counted, and why."""
    exact_or_skip()
    for kib in (4 << 20, 880 << 20):
        r = subprocess.run(["sh", "-c", f"ulimit -v {kib}; exec {TARE} stat -e instructions:u,page-faults -- sh -c 'echo on; exit 3'"],
                           capture_output=True, text=True)
        equal((r.returncode, r.stdout), (3, "on\n"), f"status and output at {kib} KiB: {r.stderr}")
        true("ulimit -v" in r.stderr and "GiB of address space" in r.stderr, r.stderr)
        r = subprocess.run(["sh", "-c", f"ulimit -v {kib}; exec {TARE} stat --engine exact -e instructions:u -- touch begun3"],
                           capture_output=True, text=True)
        equal((r.returncode, os.path.exists("begun3")), (125, False), "exact alone may refuse")


@test
def limits_that_the_exact_engine_does_not_fit():
    exact_or_skip()
    for limit, says in (("-d 1000000", "limit on data segments"), ("-n 10", "Too many open files")):
        r = subprocess.run(["bash", "-c", f"ulimit {limit}; exec {TARE} stat -e instructions:u,page-faults -- sh -c 'echo on; exit 3'"],
                           capture_output=True, text=True, stdin=subprocess.DEVNULL)
        equal((r.returncode, r.stdout), (3, "on\n"), f"status and output at ulimit {limit}: {r.stderr}")
        true(says in r.stderr or HARDWARE, r.stderr)


@test
def a_signal_for_the_whole_group_leaves_the_exact_counts():
    exact_or_skip()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1):
        p = subprocess.Popen([TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", "sh", "-c", "echo on; exec sleep 60"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        equal(p.stdout.readline(), "on\n")
        p.send_signal(number)  # as timeout(1) sends it: to its child, and to the group
        os.killpg(p.pid, number)
        said = p.communicate(timeout=30)[1]
        if number != signal.SIGUSR1:  # which ends tare itself
            true(re.search(r"[0-9,]+ +instructions:u +exact", said), f"{number.name}: {p.returncode} {said}")


@test
def exact_counts_lost_with_their_supervisor():
    """The command goes on, to its own end, and is waited for in sleep; no number is shown."""
    exact_or_skip()
    for engine, status in (("auto", 3), ("exact", 125)):
        if engine == "auto" and HARDWARE:
            continue
        p = subprocess.Popen([TARE, "stat", "--engine", engine, "-e", "instructions:u", "--", "sh", "-c", "echo on; read line; exit 3"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.PIPE)
        equal(p.stdout.readline(), "on\n", "output")
        os.kill(children(p.pid)[0], signal.SIGKILL)
        ticks = lambda: sum(map(int, Path(f"/proc/{p.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))  # noqa: B023,E731
        before = ticks()
        time.sleep(0.6)
        true(ticks() - before < os.sysconf("SC_CLK_TCK") // 4, f"tare spins: {ticks() - before} ticks")
        equal(p.poll(), None, "tare waits for the command")
        said = p.communicate("\n", timeout=20)[1]
        equal(p.returncode, status, f"status with --engine {engine}: {said}")
        true("counts are lost: their supervisor" in said and not re.search(r"\d +instructions:u", said), said)


@test
def exact_engine_in_odd_cases():
    exact_or_skip()
    stat("--engine", "exact", "-e", "instructions:u", "--", "no-such-command", status=127)
    stat("--engine", "exact", "-e", "instructions:u", "--", "sh", "-c", "kill -9 $$", status=137)
    for words in (["-a"], ["-p", "1"], ["-i", "true"], ["-D", "1", "true"]):
        refused("--engine", "exact", *words, says="cannot with " + words[0])
        refused("-e", "exact/calls/", *words, says="exact/calls/ is unavailable: the exact engine counts a command")
    command = [sys.executable, "-I", "-S", "-c", "import signal; print(sorted(signal.pthread_sigmask(0, [])), "
               "signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN, open('/proc/self/status').read().split('SigIgn:')[1].split()[0])"]
    bare = subprocess.run(command, capture_output=True, text=True).stdout
    equal(stat("--engine", "exact", "-e", "instructions:u", "--", *command).stdout, bare, "signals of the command")
    p = subprocess.Popen([TARE, "stat", "--engine", "exact", "-x,", "-e", "instructions:u", "--", "sh", "-c", "echo on; exec sleep 30"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    equal(p.stdout.readline(), "on\n")
    p.terminate()
    out = p.communicate(timeout=20)[1]
    equal(p.returncode, 143, out)
    true(re.match(r"\d{5,},,instructions:u", out), f"what was counted until then: {out}")


HARDWARE = document("-e", "cycles,page-faults", "--", "true")["events"][0]["quality"] != "unavailable"


@test
def auto_takes_the_engine_where_there_is_no_pmu():
    exact_or_skip()
    if HARDWARE:
        skip("a machine with a PMU")
    d = document("-r", "3", "--", "ls", "/")
    e = {e["event"]: e for e in d["events"]}
    for name in ("instructions:u", "branches:u"):
        equal((e[name]["engine"], e[name]["quality"]), ("exact", "exact"), name)
        true(e[name]["min"] == e[name]["max"] > 10000 and "with_engine_work" not in e[name], e[name])
    true("instructions" not in e, "not under a name that holds the kernel's too")
    for name in ("task-clock", "page-faults"):
        true(e[name]["engine"] == "perf" and e[name]["with_engine_work"], e[name])
    true(d["times_ns"]["with_engine_work"], d["times_ns"])
    equal([m for m in d["metrics"] if m["event"] in ("task-clock", "page-faults")], [], "no rate by the engine's time")
    equal((d["conditions"]["engine"], d["conditions"]["launch"], d["conditions"]["aslr"]), ("exact", "fixed", False), "")
    text, all_ = stat("--", "ls", "/").stderr, stat("-v", "--", "ls", "/").stderr
    for words in ("counted +engine", "instructions:u    exact", "--clean-times"):
        true(words in text, f"'{words}' is not in {text}")
    for words in ("TARE_STACK_PADDING", "no address randomisation"):
        true(words in all_ and words not in text, f"'{words}' is for -v: {text} {all_}")
    d = document("-e", "page-faults", "--", "true")  # nothing to gain: the command runs as it is
    equal((d["conditions"]["engine"], d["conditions"]["launch"]), ("perf", "plain"), "software events alone")
    d = document("-e", "instructions", "-p", str(os.getpid()), "-e", "page-faults", "--", "true")
    equal(event(d, "instructions")["quality"], "unavailable", "a process that runs already")
    lines = stat("-x,", "-e", "task-clock,instructions", "--", "true").stderr.splitlines()
    true(lines[1].endswith(",,includes engine overhead"), lines)
    true(re.fullmatch(r"\d+,,instructions:u,\d+,100.00,,", lines[0]), lines)
    equal(json.loads(stat("-j", "-e", "page-faults,instructions", "--", "true").stderr.splitlines()[1])["metric-unit"],
          "includes engine overhead", "-j")


@test
def clean_times():
    exact_or_skip()
    Path("runs").write_text("")
    d = document("--engine", "exact", "--clean-times", "-r", "2", "-e", "task-clock,page-faults,instructions:u,exact/calls/",
                 "--", "sh", "-c", "echo x >>runs")
    equal(Path("runs").read_text().count("x"), 4, "two runs without the engine, two with it")
    equal([e["n"] for e in d["events"]], [2, 2, 2, 2], "each event in its own")
    true(not any(e.get("with_engine_work") for e in d["events"]) and "with_engine_work" not in d["times_ns"], d)
    near = event(document("-e", "page-faults", "--", "sh", "-c", "echo x >>runs"), "page-faults")["value"]
    true(abs(event(d, "page-faults")["value"] - near) < 30, f"{d['events']}, {near} without any engine")
    true("without the engine" in stat("--engine", "exact", "--clean-times", "--", "true").stderr, "people are told")


@test
def classes_of_instructions():
    exact_or_skip()
    names = ["instructions", "branches", "conditional-branches", "taken-branches", "calls", "returns", "indirect-branches", "loads",
             "stores", "atomics", "rep", "syscalls", "x87", "mmx", "vector-128", "vector-256", "vector-512", "accesses"]
    d = document("-e", ",".join(f"exact/{n}/" for n in names) + ",instructions:u,branches:u", "--", "sh", "-c", "ls / >/dev/null")
    v = {e["event"]: e["value"] for e in d["events"]}
    equal({e["quality"] for e in d["events"]}, {"exact"}, "all of them")
    equal(v["exact/instructions/"], v["instructions:u"], "one number under two names")
    equal(v["exact/branches/"], v["branches:u"], "likewise")
    true(v["exact/conditional-branches/"] + v["exact/calls/"] + v["exact/returns/"] < v["branches:u"] and
         v["exact/taken-branches/"] < v["branches:u"] < v["exact/loads/"] < v["instructions:u"], v)
    true(v["exact/syscalls/"] > 50 and v["exact/mmx"  "/"] == 0, v)


@test
def processes_and_threads_of_a_command():
    exact_or_skip()
    command = ["sh", "-c", "ls / >/dev/null; wc -c </dev/null >/dev/null"]
    d = document("--engine", "exact", "--per-process", "-r", "2", "-e", "instructions:u,exact/loads/,page-faults", "--", *command)
    for name in ("instructions:u", "exact/loads/"):
        rows = [e for e in d["events"] if e["event"] == name]
        equal([e.get("comm") for e in rows], [None, "sh", "ls", "wc"], name)
        equal([e.get("process_number") for e in rows], [None, 1, 2, 3], name)
        equal([sum(e["runs"][i] for e in rows[1:]) for i in range(2)], rows[0]["runs"], f"the parts of {name}")
        true(all(e["n"] == 2 and e["min"] > 1000 for e in rows), rows)
        # Not the shell's, which makes digits of its parent's pid.
        true(all(e["min"] == e["max"] for e in rows[2:]), rows)
    equal(len([e for e in d["events"] if e["event"] == "page-faults"]), 1, "the kernel cannot divide its own")
    true(re.search(r"\n ls #2 +[\d,]+ +instructions:u", stat("--engine", "exact", "--per-process", "--", *command).stderr), "text")
    script = "import threading\nt = [threading.Thread(target=lambda: sum(range(10000))) for _ in range(3)]\n" \
             "[x.start() for x in t]; [x.join() for x in t]"
    events = "instructions:u", "exact/loads/", "exact/taken-branches/", "exact/x87/"
    d = document("--engine", "exact", "--per-thread", "-e", ",".join(events), "--", sys.executable, "-I", "-S", "-c", script)
    for name in events:
        rows = [e for e in d["events"] if e["event"] == name]
        equal([e.get("thread_number") for e in rows], [None, 1, 2, 3, 4], rows)
        equal(sum(e["value"] for e in rows[1:]), rows[0]["value"], f"the parts of {name}")
        true(name == "exact/x87/" or all(e["value"] > 1000 for e in rows), rows)


@test
def launched_alike():
    """Neither the length of PWD nor that of another variable is in the count; the program sees what was set."""
    exact_or_skip()
    longer = Path("d" * 60)
    longer.mkdir()
    counts = set()
    for where in (".", str(longer)):
        for word in ("", "x" * 777):
            env = {**os.environ, "PWD": os.path.abspath(where), "WORD": word}
            counts.add(event(document("--engine", "exact", "-e", "instructions:u", "--", "/bin/true", env=env, cwd=where),
                             "instructions:u")["value"])
    equal(len(counts), 1, f"counts from two directories and environments: {counts}")
    env = {**os.environ, "WORD": "kept as it is"}
    seen = stat("--engine", "exact", "-e", "instructions:u", "--", "env", env=env).stdout.splitlines()
    equal([line for line in seen if not line.startswith("TARE_STACK_PADDING=...")], [f"{k}={v}" for k, v in env.items()], "environment")
    d = document("--engine", "exact", "-e", "instructions:u", "--", "true")
    equal(d["conditions"]["environment_bytes"] % 8192, 0, d["conditions"])
    d = document("--engine", "exact", "--launch", "plain", "-e", "instructions:u", "--", "env")
    true(d["conditions"]["launch"] == "plain" and "environment_bytes" not in d["conditions"], d["conditions"])
    for words, wanted in ((["--launch", "fixed"], False), ([], True)):
        maps = [stat(*words, "-e", "page-faults", "--", "grep", "stack", "/proc/self/maps").stdout for _ in range(3)]
        equal(len(set(maps)) > 1, wanted, f"stacks under {words}: {maps}")


@test
def partial_exact_counts():
    exact_or_skip()
    d = document("--engine", "exact", "-e", "instructions:u", "--timeout", "1000", "--", "sh", "-c", "while :; do :; done")
    true(d["conditions"]["timed_out"] and event(d, "instructions:u")["value"] > 1e5, d)
    p = subprocess.Popen([TARE, "stat", "--engine", "exact", "-x,", "-e", "instructions:u", "--", "sh", "-c",
                          "i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done; echo on; while :; do :; done"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    equal(p.stdout.readline(), "on\n")
    os.killpg(p.pid, signal.SIGINT)  # as Ctrl-C does
    out = p.communicate(timeout=20)[1]
    equal(p.returncode, 130, out)
    true(re.match(r"\d{7,},,instructions:u", out), out)
    busy = lambda lines: sum(re.match(r" *[\d.]+,\d{4,},,instructions:u", line) is not None for line in lines) == 4  # noqa: E731
    lines = until(busy, "--engine", "exact", "-I", "100", "-x,", "-e", "instructions:u", "--", "sh", "-c", "while :; do :; done",
                  then=subprocess.Popen.terminate, status=143)
    true(len(lines) <= float(lines[-1].split(",")[0]) / 0.1 + 1.5, lines)


@test
def a_32_bit_program_is_refused():
    """Asked for exact counts: 125 and the reason, never a number. Not asked: the command runs without."""
    exact_or_skip()
    # A 32-bit program that exits with 7: mov eax,1; mov ebx,7; int 0x80.
    code = bytes.fromhex("b801000000bb07000000cd80")
    head = bytes.fromhex("7f454c4601010100") + bytes(8) + (2).to_bytes(2, "little") + (3).to_bytes(2, "little")
    at = 0x10000
    words = [1, at + 84, 52, 0, 0]
    head += b"".join(w.to_bytes(4, "little") for w in words)
    head += b"".join(w.to_bytes(2, "little") for w in (52, 32, 1, 0, 0, 0))
    head += b"".join(w.to_bytes(4, "little") for w in (1, 0, at, at, 84 + len(code), 84 + len(code), 5, 4096))
    Path("small").write_bytes(head + code)
    os.chmod("small", 0o755)
    try:
        equal(subprocess.run(["./small"]).returncode, 7, "without the engine")
    except OSError as e:
        skip(f"the kernel executes no 32-bit programs: {e.strerror}")
    refused("--engine", "exact", "-e", "instructions:u", "--", "./small", says="32-bit")
    refused("-e", "exact/calls/,page-faults", "--", "./small", says="32-bit")
    if not HARDWARE:
        d = document("-e", "instructions,page-faults", "--", "./small", status=7)
        e = event(d, "instructions:u")
        true(e["quality"] == "unavailable" and "32-bit" in e["reason"], e)
        true(event(d, "page-faults")["value"] > 0 and d["conditions"]["engine"] == "perf", d)
    equal(subprocess.run(["sh", "-c", "./small; exit 3"]).returncode, 3)
    words = ["--engine", "exact", "-e", "instructions:u,page-faults", "--", "sh", "-c", "/bin/true; ./small; /bin/true; exit 3"]
    without_one(words, "small", "a 32-bit program, which the exact engine does not run", status=3)
    d = document("--engine", "exact", "-e", "instructions:u", "--per-process", *words[4:], status=3)
    rows = {e["process_number"]: e for e in d["events"] if "process_number" in e}
    equal([(rows[i]["comm"], rows[i]["quality"]) for i in (1, 2, 3, 4)],
          [("sh", "exact"), ("true", "exact"), ("small", "exact, in part"), ("true", "exact")])
    equal(sum(e["value"] for e in rows.values()), next(e["value"] for e in d["events"] if "process_number" not in e), "the rows are all there is")
    equal(rows[2]["value"], rows[4]["value"], "other processes are exact")
    d = document("--engine", "exact", "-e", "instructions:u", "-r", "2", "--", "sh", "-c", "./small; ./small", status=7)
    equal((event(d, "instructions:u")["quality"], event(d, "instructions:u")["n"]), ("exact, without 2 processes", 2))


def without_one(words, name, reason, status):
    """The same in text, JSON, CSV and perf's CSV: a number, and what it is without. Each is of a run of its own, with the same
    pids where they can be fixed, as the shell makes digits of its parent's; elsewhere the numbers are near."""
    words = ["--deterministic=aslr,environment,pid", *words]
    r = stat(*words, status=status)
    shown = re.search(r"([\d,]+) +instructions:u +exact, without 1 process\n", r.stderr)
    true(shown and f"Without {name}, process " in r.stderr and reason in " ".join(r.stderr.split()), r.stderr)
    true("of the command and of all it started" not in r.stderr, r.stderr)
    d = document(*words, status=status)
    e = event(d, "instructions:u")
    most = 0 if "pid" in d["conditions"]["fixed"] else 0.02 * e["value"]
    same = lambda number: abs(int(number) - e["value"]) <= most  # noqa: E731
    true(same(shown[1].replace(",", "")), f"{shown[1]}, {e['value']}")
    equal((e["quality"], e["without_processes"]), ("exact, without 1 process", 1))
    true(reason in e["without_reason"], e)
    missing = d["conditions"]["uncounted_processes"]
    equal([(m["comm"], reason in m["reason"], d["conditions"]["without_processes"]) for m in missing], [(name, True, 1)])
    row = stat("--format", "csv", *words, status=status).stderr.splitlines()
    equal(row[0].split(",")[-1], "without_processes")
    number = re.search(r',(\d+),,"exact, without 1 process",exact,', row[1])
    true(row[1].endswith(",1") and number and same(number[1]) and reason in row[1], row[1])
    shown = stat("-x,", *words, status=status).stderr
    number = re.search(r"^(\d+),,instructions:u,\d+,100.00,,without 1 process$", shown, re.M)
    true(number and same(number[1]), shown)
    return e, missing[0]


@test
def programs_that_run_without_the_engine():
    """Traced, or ended by the engine: the rest is counted, with the command's own exit status."""
    exact_or_skip()
    far = refused_by_the_engine(os.path.abspath("far"))
    words = ["--engine", "exact", "-e", "instructions:u", "--", "sh", "-c", f"exec 2>/dev/null; {far}; /bin/true; exit 4"]
    e, missing = without_one(words, "far", "a far call, jump or return", 4)
    true(missing["ended_by_engine"] and e["value"] > 100000, missing)
    equal(stat("--engine", "exact", "-e", "instructions:u", "--", far, status=125).stderr.count("a far call, jump or return"), 2, "of the command itself: none")
    if shutil.which("strace"):
        words = ["--engine", "exact", "-e", "instructions:u", "--", "strace", "-f", "-o", "/dev/null", "sh", "-c", "exit 6"]
        d = document(*words, status=6)
        (m,) = d["conditions"]["uncounted_processes"]
        true(m["comm"] == "sh" and "traces it already" in m["reason"] and not m["ended_by_engine"], m)
        true(event(d, "instructions:u")["value"] > 100000, d)


SLOW = """
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
static void send_descriptor(int fd)
{
	union { struct cmsghdr head; char bytes[CMSG_SPACE(4)]; } c = { { CMSG_LEN(4), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec byte = { "x", 1 };
	struct msghdr m = { .msg_iov = &byte, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c };
	int pair[2];
	memcpy(CMSG_DATA(&c.head), &fd, 4);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	sendmsg(pair[0], &m, 0);
}
int main(int n, char **v)
{
	unsigned char code[] = { 0xb8, 1, 0, 0, 0, 0xc3 }, *w, *x;
	long gs[1] = { 1 };
	int fd = memfd_create("code", 0), sum = ftruncate(fd, 4096);

	w = x = mmap(0, 4096, *v[1] == 'o' ? 7 : 3, MAP_SHARED, fd, 0);
	if (*v[1] == 't' || *v[1] == 'r' || *v[1] == 's')
		x = mmap(0, 4096, 5, MAP_SHARED, fd, 0);
	if (*v[1] == 't' || *v[1] == 's')
		send_descriptor(*v[1] == 's' ? fd : 1);
	for (int i = 0; i < 300 && *v[1] == 'r'; i++) {
		code[1] = i;
		memcpy(w, code, sizeof code);
		sum += ((int (*)(void))x)();
	}
	memcpy(w, code, sizeof code);
	if (*v[1] != 'g')
		for (int i = 0; i < 150000; i++)
			sum += ((int (*)(void))x)();
	else
		syscall(SYS_arch_prctl, ARCH_SET_GS, gs);
	if (*v[1] == 'g')
		for (int i = 0; i < 1500; i++)
			__asm__ volatile("mov %%gs:0, %0" : "=r"(sum));
	return sum == 0;
}
"""


@test
def what_makes_a_run_slow():
    """Code in shared memory compares itself for a while after it was rewritten often, and not at all where it is written once, in one mapping
    or by a view of its own, after another descriptor was sent too; where its own was sent, all the time. What names GS is single-stepped."""
    exact_or_skip()
    if not shutil.which("cc"):
        skip("cc is not installed")
    Path("slow.c").write_text(SLOW)
    subprocess.run(["cc", "-O1", "-w", "-o", "slow", "slow.c"], check=True)
    for how, least, most, stepped in (("rewritten", 4000, 10000, 0), ("sent", 149000, 160000, 0), ("one", 0, 0, 0), ("two", 0, 0, 0), ("gs", 0, 0, 1500)):
        words = ["--engine", "exact", "-e", "instructions:u", "--", "./slow", how]
        c, text = document(*words)["conditions"], " ".join(stat(*words).stderr.split())
        true(least <= c.get("compared_blocks", 0) <= most, (how, c))
        equal(c.get("single_steps", 0), stepped, how)
        equal(("times a block of code was compared" in text, "1,500 instructions were executed by a single step" in text),
              (least > 100000, stepped > 0), text)


@test
def metrics_of_what_is_without_a_process():
    exact_or_skip()
    far = refused_by_the_engine(os.path.abspath("far"))
    words = ["--engine", "exact", "-e", "instructions:u,branches:u", "--metric", "share=branches:u / instructions:u", "--", "sh", "-c"]
    m = next(m for m in document(*words, "exit 4", status=4)["metrics"] if m["metric"] == "share")
    true(m["value"] > 0, m)
    m = next(m for m in document(*words, f"exec 2>/dev/null; {far}; exit 4", status=4)["metrics"] if m["metric"] == "share")
    true(m["value"] is None and "without some processes" in m["reason"], m)


# ---- more of perf's options ----

@test
def modes_for_all_events():
    e = document("--all-user", "-e", "page-faults,minor-faults:u", "--", "true")["events"]
    equal([x["event"] for x in e], ["page-faults:u", "minor-faults:u"], "names")
    e = document("--all-user", "-e", "page-faults,task-clock", "--", "true")["events"][1]
    equal((e["event"], e["value"], "both user mode and the kernel" in e["reason"]), ("task-clock:u", None, True), "asked for")
    equal(document("--all-user", "--engine", "perf", "--", "true")["events"][0]["event"], "task-clock", "not asked for")
    if os.geteuid() == 0:
        user, kernel, both = (x["value"] for x in document("-e", "page-faults:u,page-faults:k,page-faults", "--", "true")["events"])
        true(user > 0 and kernel > 0, f"{user} and {kernel}")
        equal(user + kernel, both, "in one run")
        equal(document("--all-kernel", "-e", "page-faults", "--", "true")["events"][0]["event"], "page-faults:k", "name")
    refused("--all-user", "--all-kernel", "--", "true", says="choose one")


@test
def what_would_be_of_both_modes_is_refused():
    """The kernel's clocks count user mode and the kernel whatever is left out; most tracepoints are of the kernel."""
    d = document("--engine", "perf", "-e", "task-clock:u,cpu-clock:k,page-faults,task-clock,page-faults:h", "--", "true")["events"]
    equal([x["quality"] for x in d], ["unavailable", "unavailable", "counted", "counted", "unavailable"], str(d))
    equal((d[0]["reason"], "user_time" in d[0]["remedy"]), ("it would count both user mode and the kernel: the kernel's clocks take no modifier", True))
    if not os.access("/sys/kernel/tracing/events/syscalls/sys_enter_getppid/id", os.R_OK):
        skip("tracefs is closed to this user")
    calls = ("--", sys.executable, "-S", "-c", "import os\nfor i in range(70): os.getppid()")
    d = document("--engine", "perf", "-e", "syscalls:sys_enter_getppid,syscalls:sys_enter_getppid:u,syscalls:sys_enter_getppid:k,raw_syscalls:sys_enter:u",
                 *calls)["events"]
    equal([x["value"] for x in d], [70, 70, None, None], str(d))
    equal([x["reason"].split(",")[0] for x in d[2:]], ["it occurs in user mode", "it happens in the kernel"], str(d))


@test
def commands_around_runs():
    stat("-r", "3", "--pre", "echo pre >>log", "--post", "echo post >>log", "-S", "-e", "page-faults", "--", "sh", "-c", "echo run >>log")
    equal(Path("log").read_text().split(), ["pre", "run", "post"] * 3, "in order")
    r = stat("--pre", "exit 3", "-e", "page-faults", "--", "touch", "started", status=125)
    true("--pre 'exit 3' failed: exit 3" in r.stderr and not os.path.exists("started"), r.stderr)
    stat("--engine", "perf", "--pre", "exit 3", "-e", "page-faults", "--", "true", status=125)
    refused("--pre", "true", "-a", says="before or after a command")


@test
def quiet_and_summary():
    equal(stat("--quiet", "-e", "page-faults", "--", "sh", "-c", "exit 3", status=3).stderr, "", "no output")
    out = stat("-I", "20", "--summary", "-e", "page-faults", "--", "sleep", "0.1").stderr
    true(re.search(r"\n +\d+\.\d+ +ms +wall", out), out)
    refused("--summary", "--", "true", says="--summary needs -I")
    for words in (["--no-scale"], ["--for-each-cgroup", "x"], ["--no-merge"], ["-b", "1"], ["--bpf-counters"], ["--topdown"]):
        r = refused(*words, "--", "touch", "started", says=words[0][:2])
        true(len(r.stderr.splitlines()) == 2, f"why, and what instead: {r.stderr}")
    true(not os.path.exists("started"), "nothing is run")


# ---- bad input ----

@test
def bad_options():
    rows = [(["--bogus"], "there is no option --bogus"), (["--repeet", "3"], "there is no option --repeet"),
            (["-r"], "-r needs a value"), (["-r", "x", "true"], "'x' is not a number"),
            (["-r", "99999999999", "true"], "99999999999"), (["-I", "0", "true"], "less than 1 ms"),
            (["-I", "soon", "true"], "'soon' is not a time"), (["--timeout", "0", "true"], "a time limit of 0"),
            (["-e", "", "true"], ""), (["-e", "page-faults,bogus", "true"], "there is no event 'bogus'"),
            (["-e", "{page-faults", "true"], ""), (["-C", "0-", "true"], "list of CPUs"),
            (["-C", "9999", "true"], "CPU 9999 is not online"), (["-p", "x"], "'x' is not the number of a process"),
            (["-p", "1,,2"], "not the number"), (["-p", "99999999999999999999"], "not the number"),
            (["-p", "4194303"], "there is no process 4194303"), (["-t", "4194303"], "there is no thread 4194303"),
            ([], "nothing to count"), (["-p", "1", "-t", "1"], "choose one"), (["-a", "-p", "1"], "-a counts everything"),
            (["--per-thread", "-a"], "--per-thread needs -p or -t"),
            (["--per-process", "-a"], "--per-process divides"), (["--launch", "odd", "true"], "no launch 'odd'"),
            (["--launch", "fixed", "-a"], "how a command starts"),
            (["--clean-times", "-I", "10", "true"], "choose one"),
            (["--engine", "perf", "-e", "exact/calls/", "true"], "--engine perf leaves it out"),
            (["--engine", "perf", "--per-process", "true"], "the exact engine counts, and here"),
            (["-e", "exact/load/", "true"], "no event 'load'"), (["-A", "true"], "need -a or -C"),
            (["-G", "x", "true"], "-G needs -a"), (["-r", "2", "-a"], "-r repeats a command"),
            (["-D", "-1", "true"], "--control"), (["--append", "true"], "--append needs -o"),
            (["--format", "xml", "true"], "there is no format 'xml'"), (["--engine", "magic", "true"], "no engine 'magic'"),
            (["--control", "magic", "true"], "not a control channel"), (["--control", "fd:99", "true"], "99 is not open"),
            (["--event-file", "/nonexistent", "-e", "task-clock", "true"], "cannot open /nonexistent"), (["--control", "fifo:/nonexistent", "true"], "/nonexistent"), (["--color", "x", "true"], "auto, always, never"),
            (["--interval-count", "3", "true"], "needs -I"), (["--split", "-a"], "--split repeats a command"),
            (["-x", "", "true"], "separator is empty"), (["-a", "-G", "no-such-group", "true"], "group"),
            (["--sysfs-root", "/nonexistent", "true"], "")]
    for words, says in rows:
        refused(*words, says=says)
    equal(stat("-e", "page-faults,bogus", "true", status=125).stderr.splitlines()[2].index("^"),
          len("  page-faults,"), "the caret is at the event")


@test
def hostile_values():
    for value in ("%s%n" * 20, "\033[31m", "x" * 100000, "\xff\xfe", "-" * 300):
        for option in ("-e", "-r", "-p", "-C", "-I", "--control", "--metric", "-M", "--format", "--engine"):
            r = stat(option, value, "--", "true", status=125)
            true(len(r.stderr) < 3000 and "\033[31m" not in r.stderr, f"{option} {value[:20]!r}: {r.stderr[:300]!r}")


@test
def each_run_reads_the_same_file():
    """From the offset at which tare got it."""
    file = Path(WORK.name, "lines")
    file.write_text("one\ntwo\nthree\n")
    for words in (["-r", "3"], ["-r", "3", "-n"]):
        with open(file) as lines:
            os.lseek(lines.fileno(), 4, os.SEEK_SET)
            equal(stat(*words, "--", "cat", stdin=lines).stdout, "two\nthree\n" * 3, f"{words}")


@test
def help_begins_with_an_example():
    r = stat("--help")
    true(r.stdout.startswith("  tare stat "), r.stdout[:80])


@test
def instructions_minus_interrupts_are_a_pair():
    less = "instructions-minus-irqs:u"
    out = stat("--sysfs-root", f"{TREES}/amd-zen4", "-e", f"page-faults,{less},cycles", "--", "touch", "started").stderr
    lines = [x.split() for x in out.splitlines() if x.startswith("  group")]
    equal([(x[1], x[2]) for x in lines], [("0", "page-faults"), ("1", less), ("1", "cpu/event=0x2c/u"), ("2", "cycles")], out)
    true("type 0 config 0x1:" in " ".join(lines[1]) and "config 0x2c:" in " ".join(lines[2]), out)
    for tree, why in (("intel-server", "is only a guess"), ("vm-no-pmu", "no core PMU"), ("hybrid", "their interrupt events are unknown")):
        out = stat("--sysfs-root", f"{TREES}/{tree}", "-e", less, "--", "true").stderr
        lines = [x for x in out.splitlines() if x.startswith("  group")]
        true(lines and all("instructions-minus-irqs:u" in x and "unavailable: " in x and why in x for x in lines), out)
    for words, why in ((("-e", "instructions-minus-irqs"), "counts user mode"), (("-e", "instructions-minus-irqs:uk"), "counts user mode"),
                       (("-e", "{cycles," + less + "}"), "cannot be in another one"), (("--all-kernel", "-e", less), "not with --all-kernel")):
        r = stat("--sysfs-root", f"{TREES}/amd-zen4", *words, "--", "true", status=125)
        true(why in r.stderr, r.stderr)


main()
