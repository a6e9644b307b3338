# SPDX-License-Identifier: MIT
"""tare gate in git repositories.

usage: gate_test.py TARE SCHEMAS
"""
import html
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import ROOM, ended, running, sh, validated  # noqa: E402

TARE, SCHEMA = os.path.abspath(sys.argv[1]), Path(sys.argv[2]) / "tare-gate-1.json"
# Nothing of the user's configuration of git, and no repository around the room.
os.environ.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1", HOME=ROOM.name, TMPDIR=ROOM.name, GIT_CEILING_DIRECTORIES=ROOM.name)
for name in [n for n in os.environ if n.startswith("GIT_") and n not in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES")]:
    del os.environ[name]
if not shutil.which("git"):
    print("1..0 # SKIP git is not installed")
    sys.exit()

LOOP = "i=0; while [ $i -lt {} ]; do i=$((i + 1)); done; echo noise; echo noise >&2"


class Repository:
    """With a benchmark that reads its number of steps from a file; `store`: its first commit has results."""

    count = 0

    def __init__(self, store=True, config=None, **more):
        Repository.count += 1
        self.path = Path(ROOM.name, f"repository-{Repository.count}")
        self.path.mkdir()
        self.git("init", "-q", "-b", "main")
        self.configure(config or {"loop": {"command": ["./loop"], **more}})
        self.steps(100)
        if store:
            self.gate("run", "--store")

    def git(self, *words, status=0):
        return sh("git", "-c", "user.name=T", "-c", "user.email=t@example.org", *words, cwd=self.path, status=status).stdout.strip()

    def configure(self, benchmarks, **more):
        (self.path / "tare.json").write_text(json.dumps({"benchmarks": benchmarks, **more}))

    def write(self, n):
        (self.path / "loop").write_text("#!/bin/sh\n" + LOOP.format(n) + "\n")
        (self.path / "loop").chmod(0o755)

    def commit(self, message="change"):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def steps(self, n):
        self.write(n)
        return self.commit()

    def gate(self, *words, status=0, **options):
        return sh(TARE, "gate", *words, status=status, cwd=self.path, **options)

    def document(self, *words, status=0, **options):
        return validated(self.gate("run", "-j", *words, status=status, **options).stdout, SCHEMA)

    def notes(self, commit="HEAD"):
        return [json.loads(line) for line in self.git("notes", "--ref=tare", "show", commit).splitlines() if line]


def verdicts(d):
    return {b["benchmark"]: b["verdict"] for b in d["benchmarks"]}


FULL = {"$schema": "tare-gate-config-1.json", "build": "make", "limit": "1 %", "benchmarks": {"a": {
    "command": ["true"], "setup": "true", "directory": ".", "events": ["instructions", "branches"], "isa": "x86-64-v2", "environment": {"A": "b"}, "runs": 3, "timeout": 9,
    "limit": {"instructions": "0.5 %", "branches": 7}}, "b": {"command": "true", "events": "instructions", "limit": 5},
    "c": {"command": "true", "regions": True}, "d": {"command": "true", "regions": ["x"]}, "e": {"bench": "x.c"}, "f": {"bench": ["--asm", "nop"]}}}


def one_error(r, *said):
    true(r.stderr.startswith("tare gate: ") and r.stderr.count("\n") <= 2 and all(s in r.stderr for s in said), r.stderr)


@test
def init_writes_a_configuration_once():
    here = Path(ROOM.name, "init")
    here.mkdir()
    for words, said in ((("run",), "there is no tare.json"), (("init",), "needs the command"), ((), "init, run, accept"), (("ran",), "'ran' is not one of"),
                        (("run", "x"), "run takes no 'x'"), (("run", "--build", "x"), "--build is for"), (("accept", "x"), "a reason")):
        one_error(sh(TARE, "gate", *words, status=125, cwd=here), said)
    sh(TARE, "gate", "init", "--", "/bin/echo", "a b", "-c", cwd=here)
    equal(json.loads((here / "tare.json").read_text()), {"benchmarks": {"echo": {"command": ["/bin/echo", "a b", "-c"]}}}, "the file")
    one_error(sh(TARE, "gate", "init", "--", "true", status=125, cwd=here), "cannot create tare.json: File exists")
    r = sh(TARE, "gate", "run", cwd=here)  # in no repository
    true(r.stdout.startswith("no baseline: nothing was compared\n\n") and "--baseline FILE" in r.stdout, r.stdout)
    one_error(sh(TARE, "gate", "run", "--store", status=125, cwd=here), "there is no git repository")
    one_error(sh(TARE, "gate", "accept", "echo", "--reason", "x", status=125, cwd=here), "not a git repository")


@test
def a_slower_commit_fails():
    r = Repository()
    base = r.git("rev-parse", "HEAD")
    r.git("checkout", "-q", "-b", "topic")
    r.steps(101)
    d = r.document(status=2)
    equal((d["verdict"], d["regression"], d["baseline"], d["headline"]), ("slower", True, base, "the benchmark is slower"), "verdict")
    b = d["benchmarks"][0]
    true(0 < b["events"]["instructions:u"] - b["base"]["instructions:u"] < 20000, b)
    text = r.gate("run", status=2)
    true(re.match(r"the benchmark is slower\n\n +benchmark +event +base +head +change +verdict\n loop +instructions:u +[\d,]+ +[\d,]+ +\+[\d.]+ % +slower\n", text.stdout), text.stdout)
    true(f"tare compare --rev {base[:12]}..HEAD --build COMMAND -- ./loop" in text.stdout, text.stdout)
    true("noise" not in text.stdout + text.stderr and f"the note of {base[:12]}" in text.stdout, text)
    r.steps(99)
    equal(verdicts(r.document()), {"loop": "faster"}, "fewer steps")
    r.steps(100)
    equal((verdicts(r.document()), r.gate("run").stdout.split("\n")[0]), ({"loop": "same"}, "the benchmark is not slower"), "as before")


@test
def the_baseline_is_of_the_nearest_ancestor():
    r = Repository()
    first = r.git("rev-parse", "HEAD")
    r.steps(120)  # not stored
    r.git("checkout", "-q", "-b", "topic")
    r.steps(130)
    r.gate("run", "--store", status=2)
    r.steps(140)
    equal(r.document(status=2)["baseline"], first, "results of the branch itself are not a baseline")
    r.git("checkout", "-q", "main")
    r.gate("run", "--store", status=2)
    equal(r.document(status=2)["baseline"], first, "nor those of HEAD")
    r.git("checkout", "-q", "topic")
    equal(r.document(status=2)["baseline"], r.git("rev-parse", "main"), "the merge base")
    equal(r.document("--base", first, status=2)["baseline"], first, "--base")
    one_error(r.gate("run", "--base", "none", status=125), "--base: there is no revision 'none'", "git ")
    r.git("checkout", "-q", "--detach")
    equal(r.document(status=2)["baseline"], r.git("rev-parse", "main"), "detached")


@test
def without_a_baseline():
    r = Repository(store=False)
    for words, status in (((), 0), (("--strict",), 125)):
        out = r.gate("run", *words, status=status).stdout
        true(out.startswith("no baseline: nothing was compared\n") and "git fetch origin refs/notes/tare" in out and "--measure-base" in out, out)
    d = r.document()
    equal((d["verdict"], d["baseline"], verdicts(d)), ("no baseline", None, {"loop": "new"}), "document")
    one_error(r.gate("run", "--measure-base", status=125), "there is no base to be measured")


@test
def repositories_that_cannot_be_used():
    r = Repository()
    one_error(r.gate("run", status=125, env={**os.environ, "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}), "this repository cannot be used: git: ", "dubious ownership")
    empty = Path(ROOM.name, "empty")
    empty.mkdir()
    (empty / "tare.json").write_text('{"benchmarks": {"a": {"command": ["/bin/true"]}}}')
    sh("git", "init", "-q", cwd=empty)
    for path, said in ((os.environ["PATH"], "there is no commit yet: keep a result"), ("/none", "git is not installed: keep a result")):
        out = sh(TARE, "gate", "run", cwd=empty, env={**os.environ, "PATH": path}).stdout
        true(said in out and out.startswith("no baseline"), out)
    one_error(sh(TARE, "gate", "run", "--base", "main", status=125, cwd=empty), "--base: there is no git repository with a commit")


@test
def a_result_in_a_file():
    r = Repository(store=False)
    r.gate("run", "-j", "-o", "base.json")
    r.write(110)
    equal(r.document("--baseline", "base.json", status=2)["baseline"], "base.json", "compared with")
    shutil.rmtree(r.path / ".git")
    equal(verdicts(r.document("--baseline", "base.json", status=2)), {"loop": "slower"}, "without git")
    (r.path / "wrong.json").write_text('{"schema": "tare/gate/1", "benchmarks": [{"benchmark": "loop"}]}')
    one_error(r.gate("run", "--baseline", "wrong.json", status=125), 'wrong.json: record 1: the key "command"')
    one_error(r.gate("run", "--baseline", "none.json", status=125), "none.json")
    line = '{"benchmark":"a%d","command":"","tare":"","fixed":"","isa":"","events":{"i":1}}\n'
    (r.path / "many").write_text("".join(line % i for i in range(9000)))
    one_error(r.gate("run", "--baseline", "many", status=125), "many: there are more than 8192 results")


@test
def the_base_is_measured_in_a_worktree():
    r = Repository(store=False, config={"loop": {"command": ["./built"]}})
    (r.path / ".gitignore").write_text("built\n")
    r.commit()
    r.git("checkout", "-q", "-b", "topic")
    r.steps(110)
    shutil.copy(r.path / "loop", r.path / "built")
    d = r.document("--measure-base", "--build", "cp loop built", status=2)
    equal((d["baseline"], verdicts(d)), (r.git("rev-parse", "main"), {"loop": "slower"}), "built")
    equal(r.document("--measure-base", status=125)["benchmarks"][0]["remedy"], 'the base was not built: give --build COMMAND, or "build" in tare.json', "not built")
    r.configure({"loop": {"command": ["./built"]}}, build="cp loop built")
    equal(verdicts(r.document("--measure-base", status=2)), {"loop": "slower"}, "build of tare.json")
    d = r.document("--measure-base", "--build", "true", status=125)
    b, = d["benchmarks"]
    equal((d["verdict"], b["verdict"], b["error"]), ("error", "failed", True), "it fails in the base")
    true(b["why"].startswith("it could not be measured in the base: ./built cannot be executed") and b["remedy"], b)
    r.configure({"loop": {"command": ["./built"]}, "other": {"command": ["./other"]}})
    shutil.copy(r.path / "loop", r.path / "other")
    d = r.document("--measure-base", "--build", "cp loop built", status=2)
    equal(verdicts(d), {"loop": "slower", "other": "new"}, "one that the base does not have")
    true("could not be measured in the base" in [b for b in d["benchmarks"] if b["benchmark"] == "other"][0]["why"], d)
    one_error(r.gate("run", "--measure-base", "--build", "echo why; false", status=125), "the build of the base", "exit status 1", "its last line: why")
    equal((r.git("worktree", "list").count("\n"), list(Path(ROOM.name).glob("tare-gate-*"))), (0, []), "nothing is left")


@test
def times_are_compared_in_pairs():
    """Base and head are built here; only the exact counts are stored."""
    run = "test -z \"$SECRET\" && ./loop"
    r = Repository(store=False, config={"loop": {"command": run, "events": ["instructions", "cpu-time"], "limit": "50 %"}})
    base = r.commit()
    for words in (("run",), ("run", "--store")):
        one_error(r.gate(*words, status=125), "tare.json: benchmarks.loop.events: cpu-time has noise", "--measure-base")
    r.git("checkout", "-q", "-b", "topic")
    r.steps(6000)
    os.environ["SECRET"] = "not a variable of the benchmark"
    d = r.document("--measure-base", "--store", status=2)
    del os.environ["SECRET"]
    b, = d["benchmarks"]
    t, = b["times"]
    equal((d["baseline"], b["verdict"], list(b["events"])), (base, "slower", ["instructions:u"]), "the benchmark")
    equal((t["event"], t["verdict"], t["limit_percent"], t["unconfirmed"], t["pairs_needed"]), ("cpu-time", "slower", 50, False, None), "the time")
    true(t["head_ns"] > t["base_ns"] > 0 and 50 < t["low_percent"] <= t["percent"] <= t["high_percent"] and t["second_pairs"] >= 2 * t["pairs"] > 0, t)
    equal([list(n["events"]) for n in r.notes()], [["instructions:u"]], "stored")
    r.configure({"loop": {"command": run, "events": "cpu-time", "limit": "100000 %"}})
    r.commit()
    text = r.gate("run", "--measure-base").stdout
    true(re.match(r"the benchmark is not slower\n\n.*verdict\n loop +cpu-time +[\d.]+ ms +[\d.]+ ms +\S+ (±|\+-) [\d.]+ % +100000 % +same\n", text), text)
    one_error(r.gate("accept", "loop", "--reason", "x", status=125), "loop has only times")


@test
def each_time_is_measured_after_its_setup():
    """The setup runs again, because setups of other benchmarks change the files."""
    r = Repository(store=False, config={n: {"command": f"test $(cat name) = {n}", "setup": f"echo {n} >name", "events": "cpu-time", "limit": "100000 %"} for n in "ab"})
    r.git("checkout", "-q", "-b", "topic")
    (r.path / "name").write_text("")
    r.commit()
    d = r.document("--measure-base")
    equal((verdicts(d), [len(b["times"]) for b in d["benchmarks"]]), ({"a": "same", "b": "same"}, [1, 1]), "both")
    r.configure({"a": {"command": "test $(cat name) = a || exit 3", "setup": "echo ${KIND-a} >name", "events": "cpu-time"}})
    (r.path / "name").write_text("")
    r.commit()
    os.environ["KIND"] = "b"
    d = r.document("--measure-base", status=125)
    del os.environ["KIND"]
    equal((verdicts(d), d["benchmarks"][0]["why"].endswith("failed with exit status 3"), d["benchmarks"][0]["times"]), ({"a": "failed"}, True, []), "it fails")


@test
def the_instructions_of_each_function():
    """From one more run; they add up to the count."""
    r = Repository(store=False, config={"loop": {"command": ["./loop"]}, "bad": {"command": "exit 3"}})
    one_error(r.gate("run", "--functions", status=125), "--functions is for --format json")
    b = {b["benchmark"]: b for b in r.document("--functions", status=125)["benchmarks"]}
    f = b["loop"]["functions"]
    counts = [row["count"] for row in f["rows"]]
    equal((f["total"], sum(counts) + f["others"]), (b["loop"]["events"]["instructions:u"],) * 2, "total")
    true(len(counts) > 10 and counts == sorted(counts, reverse=True) and any(row["module"].startswith("libc") for row in f["rows"]), f)
    equal((b["bad"]["functions"], r.document("--filter", "loop")["benchmarks"][0]["functions"]), (None, None), "none")


@test
def a_reader_that_goes_away():
    """Of standard output, and of standard error: the worktree is removed."""
    r = Repository()
    r.commit()
    for build, stream, status in (("true", "stdout", -signal.SIGPIPE), ("false", "stderr", 125)):
        with subprocess.Popen([TARE, "gate", "run", "--measure-base", "--build", build], stdin=subprocess.DEVNULL, cwd=r.path, **{stream: subprocess.PIPE}) as p:
            getattr(p, stream).close()
            equal((p.wait(100), r.git("worktree", "list").count("\n"), list(Path(ROOM.name).glob("tare-gate-*"))), (status, 0, []), stream)


@test
def the_function_that_changed():
    if not shutil.which("cc"):
        skip("no cc")
    r = Repository(store=False, config={"a": {"command": ["./a"], "directory": "sub"}})
    source, build = r.path / "sub/a.c", "cc -g -O0 -o sub/a sub/a.c"
    source.parent.mkdir()
    for n in (10000, 20000):
        source.write_text(f"void parse_line(void) {{ for (volatile int i = 0; i < {n}; i++); }}\nint main(void) {{ parse_line(); return 0; }}\n")
        (r.path / ".gitignore").write_text("sub/a\n")
        r.commit()
    sh("sh", "-c", build, cwd=r.path)
    d = r.document("--measure-base", "--build", build, status=2)
    true(re.fullmatch(r"most of the change is in parse_line: \+[\d.]+ k instructions", d["benchmarks"][0]["why"]), d)
    equal((r.git("worktree", "list").count("\n"), list(Path(ROOM.name).glob("tare-gate-*"))), (0, []), "nothing is left")


@test
def limits():
    """Each format shows them."""
    r = Repository(limit={"instructions": "5 %"})
    r.steps(102)
    equal(verdicts(r.document()), {"loop": "within limit"}, "relative")
    r.steps(300)
    d = r.document(status=2)
    equal((verdicts(d), d["benchmarks"][0]["limits"]), ({"loop": "slower"}, {"instructions:u": "5 %"}), "beyond it")
    text = r.gate("run", status=2).stdout
    true(re.search(r" +benchmark +event +base +head +change +limit +verdict\n loop .* % +5 % +slower\n", text), text)
    md = r.gate("run", "--format", "markdown", status=2).stdout
    true("| change | limit | verdict |\n" in md and " % | 5 % | **slower** |\n" in md and len({x.count("|") for x in md.splitlines() if x.startswith("|")}) == 1, md)
    true(" %, limit 5 %)" in r.gate("run", "--format", "junit", status=2).stdout, "JUnit")
    r.configure({"loop": {"command": ["./loop"]}}, limit=100000000)
    d = r.document()
    equal((verdicts(d), d["benchmarks"][0]["limits"]), ({"loop": "within limit"}, {"instructions:u": 100000000}), "absolute, the usual one")
    true("  100,000,000  within limit" in r.gate("run").stdout, "absolute, in text")


@test
def limits_of_events_that_are_not_measured():
    r = Repository(store=False)
    for limit, usual, said in (({"branches": 5}, 0, "tare.json: benchmarks.loop.limit.branches: "), ({"instructions": 5}, {"branches": 5}, "tare.json: limit.branches: no benchmark")):
        r.configure({"loop": {"command": ["./loop"], "limit": limit}, "two": {"command": ["./loop"]}}, limit=usual)
        one_error(r.gate("run", status=125), said)
        one_error(r.gate("accept", "loop", "--reason", "x", status=125), said)
    r.configure({"loop": {"command": ["./loop"]}, "two": {"command": ["./loop"], "events": ["instructions", "branches"]}}, limit={"branches": 5})
    equal(verdicts(r.document()), {"loop": "new", "two": "new"}, "one of the benchmarks measures it")


@test
def only_like_is_compared():
    r = Repository()
    for change, said in (({"isa": "x86-64-v2"}, "the CPU model differs: x86-64-v3 in the baseline, x86-64-v2 now"), ({"command": ["./loop", "1"]}, "the command differs"),
                         ({"environment": {"A": "1"}}, "differs")):
        r.configure({"loop": {"command": ["./loop"], **change}})
        d = r.document(status=125)
        b = d["benchmarks"][0]
        equal((d["verdict"], b["verdict"], b["error"]), ("error", "not comparable", True), f"{change}")
        true(said in b["why"] and b["remedy"], b)
    r.configure({"loop": {"command": ["./loop"]}})
    note = r.git("notes", "--ref=tare", "show", "HEAD")
    r.commit()
    r.git("notes", "--ref=tare", "add", "-f", "-m", note.replace('"tare": "', '"tare": "0.0.'), "HEAD^")
    true("the version of tare differs" in r.document(status=125)["benchmarks"][0]["why"], "version")


@test
def items_that_are_not_fixed_are_named():
    """cwd cannot be fixed in one folder, and is fixed in another."""
    r = Repository(store=False)
    short, long = r.path, Path(ROOM.name, "d" * 120, "e" * 120)
    remark = "Not fixed: cwd: its name of {} characters is too long to be filled up to 256".format(len(str(long.resolve())))
    if "cwd" not in r.document()["benchmarks"][0]["fixed"].split(", "):
        skip("no mount namespaces here")
    long.parent.mkdir()
    r.path = short.rename(long)
    text = r.gate("run", "--store").stdout
    true(f"\n loop: n{remark[1:]}.\n" in text, text)
    true(f"\n- loop: n{remark[1:]}\n" in r.gate("run", "--format", "markdown").stdout, "Markdown")
    true(remark in r.gate("accept", "loop", "--reason", "x").stdout, "accept")
    equal(r.document()["benchmarks"][0]["remarks"], [remark], "JSON")
    r.path = long.rename(short)
    r.commit()
    b = r.document(status=125)["benchmarks"][0]
    equal((b["verdict"], b["why"], b["remarks"]), ("not comparable", "the fixed items differ: cwd only in the head", []), "elsewhere")
    equal(set(b["fixed"].split(", ")) - set(b["base_fixed"].split(", ")), {"cwd"}, "both lists")


@test
def failures_have_names():
    noisy = "echo >>runs; i=0; while [ $i -lt $(wc -l <runs) ]; do i=$((i + 1)); done"
    r = Repository(store=False, config={"good": {"command": "true"}, "bad": {"command": "echo a; echo 'no input' >&2; exit 3"}, "once": {"command": "[ -e once ] || { >once; exit 1; }"}, "none": {"command": ["./none"]}, "noisy": {"command": noisy},
                                        "setup": {"command": "true", "setup": "echo why >&2; exit 4"}, "slow": {"command": "sleep 60", "timeout": 1},
                                        "killed": {"command": "kill -9 $$"}, "folder": {"command": "true", "directory": "missing"},
                                        "event": {"command": "true", "events": "cycles"}})
    d = r.document("--store", status=125)
    why = {b["benchmark"]: b["why"] for b in d["benchmarks"]}
    equal(verdicts(d), {**dict.fromkeys(why, "failed"), "good": "new", "noisy": "does not repeat"}, "verdicts")
    for name, said in (("bad", "exit status 3: no input"), ("once", "; once more, without counting, it succeeded"), ("none", "cannot be executed"), ("noisy", "instructions:u does not repeat: "), ("setup", "its setup failed with exit status 4: why"),
                       ("slow", "timeout"), ("killed", "SIGKILL"), ("folder", "cannot change to"), ("event", "cycles")):
        true(said in why[name], f"{name}: {why[name]}")
    equal([n["benchmark"] for n in r.notes()], ["good"], "only results are stored")
    true("9 of 10 benchmarks could not be measured" in d["headline"], d["headline"])
    equal([b["remedy"] for b in d["benchmarks"] if b["benchmark"] == "none"], ["tare gate does not build: build the program first"], "hint")


@test
def filters_and_renamed_benchmarks():
    r = Repository(config={"one": {"command": "true"}, "two": {"command": "true"}})
    r.configure({"one": {"command": "true"}, "three": {"command": "true"}})
    d = r.document()
    equal((verdicts(d), d["headline"]), ({"one": "same", "three": "new", "two": "not run"}, "none of 2 benchmarks is slower"), "renamed")
    true("removed or renamed" in [b for b in d["benchmarks"] if b["benchmark"] == "two"][0]["why"], d)
    equal(set(verdicts(r.document("--filter", "o*", "--filter", "three"))), {"one", "three"}, "filters")
    one_error(r.gate("run", "--filter", "ona", status=125), "no benchmark 'ona'", "did you mean one")


@test
def a_note_without_results_is_no_baseline():
    """A commit with an accepted change becomes part of the main branch: the results before it still count."""
    r = Repository()
    measured = r.git("rev-parse", "HEAD")
    r.steps(110)
    r.gate("accept", "loop", "--reason", "wanted")
    slower = r.commit("more")
    r.git("checkout", "-q", "-b", "topic")
    r.commit()
    d = r.document("--base", slower)
    equal((d["baseline"], verdicts(d)), (measured, {"loop": "accepted"}), "compared with the results, and accepted since")
    r.git("notes", "--ref=tare", "remove", measured)
    equal(verdicts(r.document("--base", slower)), {"loop": "new"}, "no results are left")


@test
def a_benchmark_that_failed_in_the_nearest_note():
    """Its baseline is the note before; an increase does not pass as a new benchmark."""
    r = Repository(store=False, config={"loop": {"command": ["./loop"]}, "other": {"command": ["./other"]}})

    def other(text, message):
        (r.path / "other").write_text("#!/bin/sh\n" + text + "\n")
        (r.path / "other").chmod(0o755)
        return r.commit(message)

    first = other(LOOP.format(50), "works")
    r.gate("run", "--store")
    failing = other("exit 3", "fails")
    r.gate("run", "--store", status=125)
    r.git("checkout", "-q", "-b", "topic")
    other(LOOP.format(60), "works, slower")
    for words in ((), ("--strict",)):
        d = r.document(*words, status=2)
        equal((verdicts(d), d["baseline"]), ({"loop": "same", "other": "slower"}, failing), "compared with the note before")
    text = r.gate("run", status=2).stdout
    true(f"compared with the note of {first[:12]}: later ones have no result of this benchmark" in text, text)
    # Accepted between the two notes, or since.
    r.git("checkout", "-q", "-B", "accepted", first)
    other(LOOP.format(70), "slower")
    r.gate("accept", "other", "--reason", "early")
    other("exit 3", "fails")
    r.gate("run", "--store", status=125)
    base = r.git("rev-parse", "HEAD")
    other(LOOP.format(70), "again")
    equal(verdicts(r.document("--base", base)), {"loop": "same", "other": "accepted"}, "accepted after its own baseline")
    r.configure({"loop": {"command": ["./loop"]}})
    equal(verdicts(r.document("--base", base)), {"loop": "same"}, "a removed benchmark of an older note is not listed")


@test
def a_program_that_is_older_than_a_changed_file():
    """If it was not built, the counts are those of the program before the change."""
    r = Repository(store=False, config={"loop": {"command": ["./built"]}})
    (r.path / ".gitignore").write_text("built\n")
    r.commit("ignored")
    build = "cp loop built"
    sh("sh", "-c", build, cwd=r.path)
    r.gate("run", "--store")
    r.git("checkout", "-q", "-b", "topic")
    r.steps(110)
    os.utime(r.path / "loop", (2e9, 2e9))
    said = "loop is newer than ./built: was the program built after the change?"
    true(said in r.document()["notes"], "not built")
    sh("sh", "-c", build, cwd=r.path)
    os.utime(r.path / "built", (2e9 + 1, 2e9 + 1))
    equal([n for n in r.document(status=2)["notes"] if "newer" in n], [], "built")
    os.utime(r.path / "tare.json", (2e9 + 2, 2e9 + 2))
    equal([n for n in r.document(status=2)["notes"] if "newer" in n], [], "a file that did not change")


@test
def the_last_accepted_change_counts():
    r = Repository()
    r.git("checkout", "-q", "-b", "topic")
    for n in (110, 120):
        r.steps(n)
        r.gate("accept", "loop", "--reason", f"up to {n}")
    d = r.document()
    equal((verdicts(d), d["benchmarks"][0]["why"]), ({"loop": "accepted"}, "accepted: up to 120"), "the later one")


@test
def an_accepted_change_passes():
    r = Repository()
    r.git("checkout", "-q", "-b", "topic")
    slower = r.steps(110)
    one_error(r.gate("accept", "lop", "--reason", "x", status=125), "no benchmark 'lop'")
    r.write(111)
    one_error(r.gate("accept", "loop", "--reason", "x", status=125), f"uncommitted changes, so its counts are not those of {slower[:12]}")
    r.write(110)
    r.gate("accept", "loop", "--reason", "reads | <b>all</b>")
    note, = r.notes(slower)
    equal((note["benchmark"], note["accept"]), ("loop", "reads | <b>all</b>"), "the note")
    r.commit("later")
    d = r.document("--store")
    equal((verdicts(d), d["benchmarks"][0]["why"]), ({"loop": "accepted"}, "accepted: reads | <b>all</b>"), "passes")
    equal(note["events"], d["benchmarks"][0]["events"], "up to the counts of that commit")
    r.write(111)
    d = r.document(status=2)
    equal(verdicts(d), {"loop": "slower"}, "one step more than was accepted")
    true(d["benchmarks"][0]["why"].startswith("only ") and "reads | <b>all</b>" in d["benchmarks"][0]["why"], str(d["benchmarks"]))
    r.write(110)
    equal(len(r.notes()), 1, "the results")
    r.git("checkout", "-q", "main")
    r.git("merge", "-q", "--ff-only", "topic")
    r.commit("on main")
    equal(verdicts(r.document()), {"loop": "same"}, "the base moves on")
    r.steps(120)
    equal(verdicts(r.document(status=2)), {"loop": "slower"}, "an accepted change before the baseline does not count")


@test
def a_dirty_checkout_is_not_stored():
    r = Repository()
    stored = r.notes()
    r.commit()
    r.write(110)
    d = r.document("--store", status=2)
    true("Not stored" in d["notes"][-1], d["notes"])
    equal((r.git("notes", "--ref=tare", "list").count("\n"), stored == r.notes("HEAD^")), (0, True), "no new note")
    true("uncommitted changes" in r.gate("run", status=2).stdout, "said without --store, too")


@test
def shallow_clones():
    r = Repository()
    r.git("checkout", "-q", "-b", "topic")
    for n in range(3):
        r.commit()
    clone = str(Path(ROOM.name, "shallow"))
    sh("git", "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{r.path}", clone)
    one_error(sh(TARE, "gate", "run", "--base", "origin/main", status=125, cwd=clone), "no common ancestor in this clone", "fetch-depth: 0")
    shutil.rmtree(clone)
    sh("git", "clone", "-q", "--depth", "2", f"file://{r.path}", clone)
    true("fetch-depth: 0" in sh(TARE, "gate", "run", cwd=clone).stdout, "no baseline, because it is shallow")
    shutil.rmtree(clone)
    sh("git", "clone", "-q", "--depth", "1", "--branch", "main", f"file://{r.path}", clone)
    r.git("checkout", "-q", "main")
    r.commit()
    sh("git", "fetch", "-q", "--depth", "1", "origin", "main", cwd=clone)
    sh("git", "reset", "-q", "--hard", "FETCH_HEAD", cwd=clone)
    sh("git", "update-ref", "refs/remotes/origin/main", "HEAD", cwd=clone)
    one_error(sh(TARE, "gate", "run", "--measure-base", status=125, cwd=clone), "no base to be measured: this clone is shallow", "fetch-depth: 0")


@test
def notes_of_two_clones_merge():
    r = Repository(config={"one": {"command": "true"}, "two": {"command": "true"}}, store=False)
    other = str(Path(ROOM.name, "other"))
    sh("git", "clone", "-q", str(r.path), other)
    r.gate("run", "--store", "--filter", "one")
    sh(TARE, "gate", "run", "--store", "--filter", "two", cwd=other)
    sh("git", "fetch", "-q", "origin", "refs/notes/tare:refs/notes/theirs", cwd=other)
    sh("git", "-c", "user.name=T", "-c", "user.email=t@example.org", "notes", "--ref=tare", "merge", "-q", "-s", "union", "theirs", cwd=other)
    sh("git", "commit", "-q", "--allow-empty", "-m", "x", cwd=other, env={**os.environ, **{f"GIT_{who}_{what}": "t@t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}})
    d = json.loads(sh(TARE, "gate", "run", "-j", "--base", "HEAD^", cwd=other).stdout)
    equal(verdicts(d), {"one": "same", "two": "same"}, "both are in the note")


@test
def two_results_of_one_commit():
    """As after a merge of notes: equal ones count, others decide nothing."""
    r = Repository()
    r.commit()
    line = r.git("notes", "--ref=tare", "show", "HEAD^")
    count = json.loads(line)["events"]["instructions:u"]
    r.git("notes", "--ref=tare", "add", "-f", "-m", f"{line}\n{line}", "HEAD^")
    equal(verdicts(r.document()), {"loop": "same"}, "equal")
    for other in (f"{line}\n{line.replace(str(count), str(count + 1))}", f"{line.replace(str(count), str(count + 1))}\n{line}"):
        r.git("notes", "--ref=tare", "add", "-f", "-m", other, "HEAD^")
        b, = r.document(status=125)["benchmarks"]
        equal((b["verdict"], b["error"], b["base"]), ("not comparable", True, None), "different")
        true("two results that differ" in b["why"] and f"{count:,}" in b["why"] and f"{count + 1:,}" in b["why"] and "--store" in b["remedy"], b)
    r.gate("accept", "loop", "--reason", "x")
    equal(verdicts(r.document(status=125)), {"loop": "not comparable"}, "an accepted change does not decide it")
    r.git("checkout", "-q", "HEAD^")
    r.gate("run", "--store")
    r.git("checkout", "-q", "main")
    equal((len(r.notes("HEAD^")), verdicts(r.document())), (1, {"loop": "same"}), "measured again")


@test
def several_gates_at_once_lose_nothing():
    names = ["a", "b", "c", "d"]
    r = Repository(config={n: {"command": "true"} for n in names}, store=False)
    threads = [threading.Thread(target=r.gate, args=("accept", n, "--reason", n)) for n in names]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    equal(sorted(n["accept"] for n in r.notes()), names, "all records")
    lock = r.path / ".git/refs/notes/tare.lock"
    lock.touch()
    one_error(r.gate("accept", "a", "--reason", "x", status=125), "cannot store the note of HEAD: git: ", "lock")
    lock.unlink()


@test
def markup_in_names():
    name = "a|b<i>&\"'`@x [l](u)"
    r = Repository(store=False, config={name: {"command": "exit 1"}})
    out = r.gate("run", "--format", "markdown", status=125).stdout
    true(not re.search(r"[<`@\[\]]", out) and out.count("|\n") == 3, out)
    root = ElementTree.fromstring(r.gate("run", "--format", "junit", status=125).stdout)
    case = root.find("testsuite/testcase")
    equal((root.get("errors"), case.get("name"), case.find("error") is not None), ("1", name, True), "JUnit")
    r = Repository()
    r.steps(110)
    r.gate("accept", "loop", "--reason", 'a "b" c:\\d \\x41')
    out = html.unescape(r.gate("run", "--format", "markdown").stdout)
    true('- loop: accepted: a \\"b\\" c:\\\\d \\\\x41\n' in out, out)


@test
def formats():
    r = Repository()
    r.steps(110)
    out = r.gate("run", "--format", "markdown", status=2).stdout
    true(out.startswith("**the benchmark is slower**\n\n| benchmark | event |") and "| **slower** |" in out, out)
    root = ElementTree.fromstring(r.gate("run", "--format", "junit", status=2).stdout)
    equal((root.get("failures"), root.find("testsuite/testcase/failure").get("type")), ("1", "regression"), "JUnit")


@test
def hostile_files():
    r = Repository()
    for text, said in (("", "tare.json: line"), ("[" * 100000, "not JSON"), ('{"benchmarks": {"a": {"command": "x", "limit": "1"}}}', "benchmarks.a.limit: must be"),
                       ('{"benchmarks": {"a": {"comand": "x"}}}', "benchmarks.a.comand: there is no such key; did you mean command")):
        (r.path / "tare.json").write_text(text)
        one_error(r.gate("run", status=125), said)
    r.git("checkout", "-q", "tare.json")
    r.commit()
    r.git("notes", "--ref=tare", "add", "-f", "-m", "not json", "HEAD^")
    one_error(r.gate("run", status=125), "the note of ", "line 1: not JSON", "git notes --ref=tare")


REGIONS = """
#include <tare/region.h>
static void part(const char *name, int n) { TARE_LABEL_SCOPE(tare_label_new(name, 0, 0)); for (volatile int i = 0; i < n; i++); }
int main(void) { part("first", 100); part("second", SECOND); return 0; }
"""


@test
def regions_are_rows():
    r = Repository(store=False, config={"all": {"command": ["./prog"], "regions": True}, "one": {"command": ["./prog"], "regions": ["second"], "limit": {"instructions in second": "50 %"}},
                                        "none": {"command": ["./prog"], "regions": ["third"]}, "without": {"command": ["true"], "regions": True},
                                        "limit": {"command": ["./prog"], "regions": ["first"], "limit": {"instructions in second": 1}}})
    regions_program(r.path, 100)
    (r.path / ".gitignore").write_text("prog\n")
    r.commit()
    d = r.document("--store", status=125)
    events = {b["benchmark"]: b["events"] for b in d["benchmarks"]}
    equal(list(events["all"]), ["instructions:u", "instructions:u in first", "instructions:u in second"], "rows")
    equal(events["all"]["instructions:u in first"], events["all"]["instructions:u in second"], "the same work")
    equal(events["one"]["instructions:u in second"], events["all"]["instructions:u in second"], "the same region")
    why = {b["benchmark"]: b["why"] for b in d["benchmarks"]}
    equal((why["none"], why["without"]), ("it has no region third", "no regions: the program has none, by tare/region.h or a binding to it, or its message says why"), "why")
    equal(why["limit"], "there is a limit for instructions in second, but it is not measured", "a limit")
    regions_program(r.path, 200)
    r.commit()
    d = r.document(status=2)
    equal({k: v for k, v in verdicts(d).items() if k in ("all", "one")}, {"all": "slower", "one": "slower"}, "verdicts")
    rows = [line.split() for line in r.gate("run", "--filter", "all", status=2).stdout.splitlines() if " in " in line]
    equal([(row[3], row[-1]) for row in rows], [("first", "same"), ("second", "slower")], "only the region that changed")
    regions_program(r.path, 130)
    equal(verdicts(r.document("--filter", "one", status=2))["one"], "slower", "the whole command has no limit")
    r.configure({"one": {"command": ["./prog"], "regions": ["second"], "limit": {"instructions in second": "50 %", "instructions": "50 %"}}})
    equal(verdicts(r.document())["one"], "within limit", "the limit of a region")


def regions_program(where, n):
    """With the library of this build, from include and src of its folders."""
    build, top = Path(TARE).parent, Path(__file__).parents[2]
    r = subprocess.run(["cc", "-O1", f"-DSECOND={n}", f"-I{top}/include", "-xc", "-", "-o", where / "prog", f"-L{build}/lib", "-ltare", f"-Wl,-rpath,{build}/lib"],
                       input=REGIONS, text=True, capture_output=True)
    if r.returncode:
        skip(f"no compiler: {r.stderr.splitlines()[0]}")


BENCH = """
char s[100];
void execute_test(void (*start)(void), void (*stop)(void)) { start(); for (volatile int i = 0; i < N; i++); stop(); }
"""


@test
def tests_of_tare_bench_are_rows():
    if not shutil.which("cc"):
        skip("no cc")
    r = Repository(store=False, config={"micro": {"bench": "micro.c"}, "asm": {"bench": ["--asm", "nop", "--unroll", "7", "--form", "written"], "events": "instructions,exact/loads/"},
                                        "broken": {"bench": "missing.c"}})
    (r.path / "micro.c").write_text(BENCH.replace("N;", "10;"))
    r.commit()
    d = r.document("--store", status=125)
    by = {b["benchmark"]: b for b in d["benchmarks"]}
    equal(by["asm"]["events"], {"instructions:u in nop": 7, "exact/loads/ in nop": 0}, "counts")
    true("missing.c" in by["broken"]["why"] and by["broken"]["verdict"] == "failed", by["broken"])
    equal(by["micro"]["command"], "tare bench micro.c", "command")
    true("aslr" in by["micro"]["fixed"] and by["micro"]["isa"].startswith("x86-64"), by["micro"])
    (r.path / "micro.c").write_text(BENCH.replace("N;", "11;"))
    d = r.document("--filter", "[ma]*", status=2)
    equal(verdicts(d), {"asm": "same", "micro": "slower"}, "verdicts")
    r.commit()
    r.gate("accept", "micro", "--reason", "one more")
    equal(verdicts(r.document("--filter", "micro")), {"micro": "accepted"}, "accepted")


@test
def other_variables():
    """More instructions under another PATH or HOME are not called slower."""
    r = Repository()
    r.write(101)
    equal(verdicts(r.document(status=125, env={**os.environ, "HOME": "/nonexistent"})), {"loop": "not comparable"}, "HOME")
    equal(verdicts(r.document(status=2)), {"loop": "slower"}, "the same")
    r = Repository(environment={"HOME": "/x", "PATH": os.environ["PATH"]})
    r.commit()
    equal(verdicts(r.document(env={**os.environ, "HOME": "/nonexistent"})), {"loop": "same"}, "set in the configuration")


@test
def the_schema_of_the_configuration():
    """It accepts what tare accepts, and has the same keys."""
    path = SCHEMA.with_name("tare-gate-config-1.json")
    r = Repository(store=False)
    (r.path / "tare.json").write_text(json.dumps(validated(FULL, path)))
    equal(verdicts(r.document("--filter", "[ab]")), {"a": "new", "b": "new"}, "tare")
    schema = json.loads(path.read_text())
    equal((schema["properties"].keys(), schema["$defs"]["benchmark"]["properties"].keys()), (FULL.keys(), {k for b in FULL["benchmarks"].values() for k in b}), "keys")


@test
def setup_directory_and_environment():
    r = Repository(store=False, config={"a": {"command": "test $(cat made) = $X && test -z \"$Y\" && test $(basename $PWD) = sub", "setup": "echo $X >made; echo s >>../setups",
                                              "directory": "sub", "environment": {"X": "12"}}})
    (r.path / "sub").mkdir()
    os.environ["Y"] = "y"
    equal(verdicts(r.document()), {"a": "new"}, "it passes")
    del os.environ["Y"]
    equal((r.path / "setups").read_text(), "s\n", "once")


@test
def stopped():
    r = Repository(store=False, config={"a": {"command": "echo >started; sleep 60"}})
    with subprocess.Popen([TARE, "gate", "run"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=r.path) as p:
        while not (r.path / "started").exists():
            time.sleep(0.1)
        p.send_signal(signal.SIGTERM)
        err = p.stderr.read()
        equal(p.wait(60), 128 + signal.SIGTERM, err)
    true("stopped by SIGTERM" in err, err)


@test
def commands_that_ignore_signals():
    """They are killed some seconds after the signal."""
    seconds = f"98765.{os.getpid()}"
    stubborn = f"trap '' INT TERM; echo >started; exec sleep {seconds}"
    for benchmark in ({"command": stubborn}, {"command": "true", "setup": stubborn}, {"command": stubborn, "timeout": 1}):
        r = Repository(store=False, config={"a": benchmark})
        with subprocess.Popen([TARE, "gate", "run"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=r.path) as p:
            while not (r.path / "started").exists():
                time.sleep(0.1)
            if "timeout" not in benchmark:
                p.send_signal(signal.SIGINT)
            err = ended(p)
            equal((p.returncode, running(seconds)), (125 if "timeout" in benchmark else 128 + signal.SIGINT, []), f"{benchmark}: {err}")


main()
