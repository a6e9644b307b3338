# SPDX-License-Identifier: MIT
"""tare bisect in git repositories.

usage: bisect_test.py TARE SCHEMAS CC
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import ROOM, sh, validated  # noqa: E402

TARE, SCHEMA, CC = os.path.abspath(sys.argv[1]), Path(sys.argv[2]) / "tare-bisect-1.json", sys.argv[3]
TEMP = Path(ROOM.name, "temp")
TEMP.mkdir()
# Nothing of the user's configuration of git, and no repository around the room.
for name in [n for n in os.environ if n.startswith("GIT_")]:
    del os.environ[name]
os.environ.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1", HOME=ROOM.name, TMPDIR=str(TEMP), GIT_CEILING_DIRECTORIES=ROOM.name)
if not shutil.which("git"):
    print("1..0 # SKIP git is not installed")
    sys.exit()

LOOP = "i=0; while [ $i -lt {} ]; do i=$((i + 1)); done"


class Repository:
    count = 0

    def __init__(self):
        Repository.count += 1
        self.path = Path(ROOM.name, f"repository-{Repository.count}")
        self.path.mkdir()
        self.git("init", "-q", "-b", "main")
        self.builds = self.path.with_name(self.path.name + "-builds")
        self.hold = self.path.with_name(self.path.name + "-hold")

    def git(self, *words, status=0):
        return sh("git", "-c", "user.name=T", "-c", "user.email=t@example.org", *words, cwd=self.path, status=status).stdout.strip()

    def commit(self, steps, message="change", **files):
        for name, text in {"loop": f"#!/bin/sh\n{LOOP.format(steps)}\n", **files}.items():
            (self.path / name).write_text(text)
            (self.path / name).chmod(0o755)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def line(self, n, step, broken=(), status="1"):
        """n commits, slow from commit `step` on; those of `broken` cannot be built."""
        return [self.commit(200 if i >= step else 100, f"commit {i}", build=f"exit {status}\n" if i in broken else "exit 0\n") for i in range(n)]

    def bisect(self, *words, status=0, **options):
        return sh(TARE, "bisect", *words, status=status, **{"cwd": self.path, **options})

    def document(self, *words, status=0):
        return validated(self.bisect("-j", *words, status=status).stdout, SCHEMA)

    def stopped(self, how, *words):
        """Start it, and end it by a signal while it builds the fourth commit; its exit status."""
        self.hold.touch()
        tare = subprocess.Popen([TARE, "bisect", *words], cwd=self.path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not self.builds.exists() or len(self.built()) < 4:
            time.sleep(0.05)
            true(tare.poll() is None, f"it ended: {tare.returncode}")
        tare.send_signal(how)
        self.said = tare.communicate(timeout=200)[1]
        self.hold.unlink()
        return tare.returncode

    def slow_build(self):
        return f"git rev-parse HEAD >>{self.builds}; while [ $(wc -l <{self.builds}) -ge 4 ] && [ -e {self.hold} ]; do sleep 0.05; done"

    def built(self):
        return self.builds.read_text().split()

    def nothing_is_left(self):
        equal((self.git("worktree", "list").count("\n"), list(TEMP.iterdir()), (self.path / ".git/tare-bisect").exists()), (0, [], False), "nothing is left")


def one_error(r, *said):
    true(r.stderr.startswith("tare bisect: ") and r.stderr.count("\n") <= 2 and all(s in r.stderr for s in said), r.stderr)


@test
def one_step_of_thirty_commits():
    r = Repository()
    commits = r.line(30, 17)
    (r.path / "loop").write_text("not committed")
    (r.path / "untracked").write_text("kept")
    before = r.git("status", "--porcelain"), r.git("rev-parse", "--symbolic-full-name", "HEAD"), r.git("reflog")
    d = r.document(f"{commits[0]}..main", "--", "./loop")
    equal((d["verdict"], d["commit"]["hash"], d["commit"]["parent"], d["commit"]["subject"]), ("found", commits[17], commits[16], "commit 17"), "the commit")
    by = {t["commit"]: t for t in d["tries"]}
    equal((by[commits[17]]["count"], by[commits[16]]["count"], d["change"]), (d["after"], d["before"], d["after"] - d["before"]), "counts")
    true(d["change"] > 0 and len(d["tries"]) <= 8 and [t["commit"] for t in d["tries"][:2]] == [commits[0], commits[29]], d["tries"])
    equal({c: t["result"] for c, t in by.items()}, {c: "bad" if commits.index(c) >= 17 else "good" for c in by}, "results")
    equal((d["good"]["commit"], d["bad"]["commit"], d["event"], d["suspects"]), (commits[0], commits[29], "instructions", []), "the question")
    equal((r.git("status", "--porcelain"), r.git("rev-parse", "--symbolic-full-name", "HEAD"), r.git("reflog")), before, "the checkout is untouched")
    equal((r.path / "untracked").read_text(), "kept", "a file of the user")
    r.nothing_is_left()
    text = r.bisect(f"{commits[14]}..{commits[18]}", "--no-cause", "--", "./loop").stdout
    true(re.match(rf"{commits[17][:12]} made it slower: \+[\d,]+ instructions \(\+[\d.]+ %, exact\)\n\n commit:  {commits[17]}\n author:  T, \d{{4}}-\d\d-\d\d\n"
                  r" subject: commit 17\n\n +step +commit +instructions +change +result +subject\n", text), text)
    text = r.bisect(f"{commits[16]}..{commits[17]}", "--format", "markdown", "--no-cause", "--", "./loop").stdout
    true(text.startswith(f"**{commits[17][:12]} made it slower: ") and text.count("|\n") == 4, text)


@test
def commits_that_cannot_be_built_are_skipped():
    r = Repository()
    commits = r.line(16, 12, range(4, 11), "125")
    d = r.document(f"{commits[0]}..HEAD", "--build", "echo why; ./build", "--", "./loop")
    equal(d["commit"]["hash"], commits[12], "found")
    skipped = [t for t in d["tries"] if t["result"] == "skipped"]
    true(skipped and all((t["why"], t["count"]) == ("the build failed with exit status 125: why", None) for t in skipped), d["tries"])
    # the command itself
    d = r.document(f"{commits[0]}..HEAD", "--", "sh", "-c", "./build || exit 125; ./loop")
    equal(d["commit"]["hash"], commits[12], "found")
    true(any("failed with exit status 125" in (t["why"] or "") for t in d["tries"]), d["tries"])
    r.nothing_is_left()


@test
def a_step_among_skipped_commits():
    r = Repository()
    commits = r.line(8, 4, (3, 4))
    d = r.document(f"{commits[0]}..HEAD", "--build", "./build", "--", "./loop", status=125)
    equal((d["verdict"], d["commit"], sorted(d["suspects"])), ("one of several", None, sorted(commits[3:6])), "suspects")
    r = r.bisect(f"{commits[0]}..HEAD", "--build", "./build", "--", "./loop", status=125)
    true(r.stdout.startswith("one of 3 commits made it slower: +") and commits[4][:12] in r.stdout and "could not all be measured" in r.stdout, r.stdout)


@test
def merged_branches():
    r = Repository()
    first = r.commit(100, "first")
    r.git("checkout", "-q", "-b", "topic")
    r.commit(100, "on the branch", topic="1")
    slow = r.commit(200, "slow, on the branch", topic="2")
    r.commit(200, "later on the branch", topic="3")
    r.git("checkout", "-q", "main")
    for i in range(3):
        r.commit(100, f"on main {i}", main=str(i))
    r.git("merge", "-q", "--no-ff", "-m", "the merge", "topic")
    merge = r.git("rev-parse", "HEAD")
    r.commit(200, "after it", main="9")
    equal(r.document(f"{first}..", "--", "./loop")["commit"]["hash"], slow, "in the branch")
    d = r.document(f"{first}..", "--first-parent", "--", "./loop")
    equal((d["commit"]["hash"], d["commit"]["parent"]), (merge, r.git("rev-parse", merge + "^1")), "the merge")
    true(not any("branch" in t["subject"] for t in d["tries"]), d["tries"])


@test
def ends_that_cannot_be_measured():
    r = Repository()
    commits = r.line(4, 2, (0,))
    one_error(r.bisect(f"{commits[0]}..", "--build", "echo why; ./build", "--", "./loop", status=125), "the good commit", commits[0][:12], "exit status 1: why", "git worktree add")
    one_error(r.bisect(f"{commits[1]}..", "--", "./none", status=125), "the good commit", "cannot be executed", "no --build was given")
    one_error(r.bisect(f"{commits[1]}..", "-e", "wall", "--", "./none", status=125), "cannot be executed", "no --build was given")
    one_error(r.bisect(f"{commits[1]}..", "--build", "true", "--", "./none", status=125), "cannot be executed", "git worktree add")
    one_error(r.bisect(f"{commits[1]}..", "--timeout", "1s", "--", "sleep", "60", status=125), "timeout")
    r.nothing_is_left()


@test
def after_ctrl_c_it_continues():
    r = Repository()
    commits = r.line(20, 11)
    words = f"{commits[0]}..main", "--build", r.slow_build(), "--no-cause", "--", "./loop"
    equal(r.stopped(signal.SIGINT, *words), 130, "exit status")
    true("stopped by SIGINT" in r.said and "--resume" in r.said, r.said)
    equal((r.git("worktree", "list").count("\n"), list(TEMP.iterdir()), (r.path / ".git/tare-bisect").exists()), (0, [], True), "only the results are left")
    one_error(r.bisect(f"{commits[1]}..main", "--", "./loop", status=125), "another bisection", "--reset")
    one_error(r.bisect("--resume", "x..y", status=125), "takes no range")
    d = r.document("--resume", "--no-cause")
    built = r.built()
    equal((d["commit"]["hash"], d["command"]), (commits[11], ["./loop"]), "found")
    equal((len(built), len(set(built)), built[3] == built[4]), (len(d["tries"]) + 1, len(d["tries"]), True), "only the interrupted one is built again")
    r.nothing_is_left()


@test
def a_reader_that_goes_away():
    """No worktree is left, and --resume shows the result."""
    r = Repository()
    commits = r.line(3, 2)
    with subprocess.Popen([TARE, "bisect", f"{commits[0]}..main", "--no-cause", "--", "./loop"], cwd=r.path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as p:
        p.stdout.close()
        equal((p.wait(200), r.git("worktree", "list").count("\n"), list(TEMP.iterdir())), (-signal.SIGPIPE, 0, []), "nothing but the results is left")
    equal(r.document("--resume")["commit"]["hash"], commits[2], "shown")
    r.nothing_is_left()


@test
def after_kill_it_continues():
    r = Repository()
    commits = r.line(20, 11)
    words = f"{commits[0]}..main", "--build", r.slow_build(), "--no-cause", "--", "./loop"
    equal(r.stopped(signal.SIGKILL, *words), -signal.SIGKILL, "killed")
    equal(r.git("worktree", "list").count("\n"), 1, "its worktree is left")
    d = r.document(*words)
    equal((d["commit"]["hash"], len(set(r.built()))), (commits[11], len(d["tries"])), "found")
    r.nothing_is_left()
    r.builds.unlink()
    r.stopped(signal.SIGKILL, *words)
    equal(r.bisect("--reset").stdout, "dropped\n", "--reset")
    r.nothing_is_left()
    equal(r.bisect("--reset").stdout, "there is no bisection to drop\n", "again")
    one_error(r.bisect("--resume", status=125), "no interrupted bisection")


@test
def files_of_another_version():
    r = Repository()
    commits = r.line(2, 1)
    state = r.path / ".git/tare-bisect"
    for text, said in (("tare-bisect 1 0.0\nfolder /nowhere\n", "another version"), ("garbage\n", "line 1"), (f"tare-bisect 1 0.0\nfolder {r.path}\n", "another version")):
        state.write_text(text)
        one_error(r.bisect(f"{commits[0]}..", "--", "./loop", status=125), said, "--reset drops it")
        r.bisect("--reset")
        true(not state.exists() and (r.path / "loop").exists(), "dropped, and no other folder is removed")


def question(commits, folder, n=0):
    """The text of a state with n results."""
    version = sh(TARE, "--version").stdout.split()[1]
    lines = [f"tare-bisect 1 {version}", f"folder {folder}", f"good {commits[0]}", f"bad {commits[1]}", "event instructions", "prefix ", "first-parent 0", "threshold 0", "timeout 0", "confidence 95", "word ./loop", "end"]
    return "\n".join(lines + [f"count {i:040x} 5" for i in range(n)]) + "\n"


@test
def folders_of_others_stay():
    """A name in the state is not enough: a killed tare marked its folder, and no process has it locked."""
    r = Repository()
    commits = r.line(2, 1)
    for way in (("--reset",), ("--resume", "--no-cause")):
        results = Path(ROOM.name, "tare-bisect-results")
        (results / "cache").mkdir(parents=True)
        for name in ("data", "cache/data"):
            (results / name).write_text("mine")
        (r.path / ".git/tare-bisect").write_text(question(commits, results))
        r.bisect(*way)
        equal(sorted(p.name for p in results.rglob("data")), ["data", "data"], f"{way}")
        equal((r.path / ".git/tare-bisect").exists(), False, "the state")
        (results / ".tare-folder").touch()
        (r.path / ".git/tare-bisect").write_text(question(commits, results))
        r.bisect(*way)
        equal(results.exists(), False, f"one that a killed tare left: {way}")


@test
def a_state_that_is_no_file():
    """A FIFO is not waited for, and --reset removes it."""
    r = Repository()
    commits = r.line(2, 1)
    state = r.path / ".git/tare-bisect"
    for way in (("--resume",), (f"{commits[0]}..{commits[-1]}", "--", "true")):
        state.unlink(missing_ok=True)
        os.mkfifo(state)
        out = r.bisect(*way, status=125)
        true("tare-bisect cannot be read" in out.stderr and state.is_fifo(), out.stderr)
    r.bisect("--reset")
    equal(state.exists(), False, "the state")


@test
def many_results():
    """The time to read them is linear, by the number of instructions."""
    if subprocess.run([TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", "true"], capture_output=True).returncode:
        skip("the exact engine is of x86-64")
    r = Repository()
    commits = r.line(2, 1)
    steps = []
    for n in (0, 4000, 8000):
        (r.path / ".git/tare-bisect").write_text(question(commits, "", n))
        counts = sh(TARE, "stat", "-j", "--engine", "exact", "-e", "instructions:u", "-o", f"{ROOM.name}/steps", "--", TARE, "bisect", "--reset", cwd=r.path)
        equal(counts.stdout, "dropped\n", "--reset")
        steps.append(int(re.search(r'"counter-value" : "(\d+)', Path(ROOM.name, "steps").read_text())[1]))
    true(steps[2] - steps[1] < 2.5 * (steps[1] - steps[0]), f"instructions: {steps}")


@test
def one_at_a_time():
    r = Repository()
    commits = r.line(20, 11)
    words = f"{commits[0]}..main", "--build", r.slow_build(), "--no-cause", "--", "./loop"
    r.hold.touch()
    tare = subprocess.Popen([TARE, "bisect", *words], cwd=r.path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    while not r.builds.exists() or len(r.built()) < 4:
        time.sleep(0.05)
    for other in (words, ("--reset",), ("--resume",)):
        one_error(r.bisect(*other, status=125), "another tare")
    r.hold.unlink()
    true(tare.communicate(timeout=200)[0].startswith(commits[11][:12]), "the first one is not disturbed")


def sleeping(r, n, step):
    """n commits; from `step` on, the command takes six times as long."""
    return [r.commit(100, f"commit {i}", nap=f"#!/bin/sh\nexec sleep {0.12 if i >= step else 0.02}\n") for i in range(n)]


@test
def times_have_noise():
    r = Repository()
    commits = sleeping(r, 12, 7)
    d = r.document(f"{commits[0]}..main", "-e", "wall", "--", "./nap")
    equal((d["verdict"], d["commit"]["hash"], d["event"], d["suspects"]), ("found", commits[7], "wall", []), "the commit")
    true(95 <= d["confidence_percent"] <= 100 and d["low_percent"] <= d["percent"] <= d["high_percent"] and d["before"] < d["after"], d)
    by = {t["commit"]: t for t in d["tries"]}
    equal((by[commits[0]]["pairs"], by[commits[11]]["pairs"] >= 24, {t["result"] for t in d["tries"]}), (0, True, {"timed"}), "pairs are with the good commit")
    true(all(t["pairs"] >= 12 and t["percent"] is not None for t in d["tries"][1:] if t["commit"] != commits[7]), d["tries"])
    text = r.bisect(f"{commits[5]}..{commits[8]}", "-e", "wall", "--confidence", "99", "--", "./nap").stdout
    true(re.match(rf"{commits[7][:12]} made it slower: \+[\d.]+ % wall \([\d.-]+ to [\d.]+\), confidence 99\.\d+ %\n", text), text)
    text = r.bisect(f"{commits[6]}..{commits[7]}", "-e", "wall", "--format", "markdown", "--", "./nap").stdout
    true(text.startswith(f"**{commits[7][:12]} made it slower: ") and text.count("|\n") == 4, text)
    one_error(r.bisect(f"{commits[0]}..{commits[3]}", "-e", "wall", "--threshold", "300", "--", "./nap", status=125), "slower than", "wall")
    one_error(r.bisect(f"{commits[0]}..", "-e", "wall", "--confidence", "20", "--", "./nap", status=125), "at least 50")
    one_error(r.bisect(f"{commits[0]}..", "-e", "wall", "--", "./none", status=125), "the bad commit", "cannot be executed")
    r.nothing_is_left()


@test
def times_with_skipped_commits():
    r = Repository()
    commits = [r.commit(100, f"commit {i}", nap=f"#!/bin/sh\nexec sleep {0.12 if i >= 3 else 0.02}\n", build=f"exit {int(i in (2, 3))}\n") for i in range(6)]
    d = r.document(f"{commits[0]}..main", "-e", "wall", "--build", "./build", "--", "./nap", status=125)
    equal((d["verdict"], d["commit"], sorted(d["suspects"])), ("one of several", None, sorted(commits[2:5])), "suspects")
    equal({t["commit"] for t in d["tries"] if t["result"] == "skipped"}, set(commits[2:4]), "skipped")


@test
def times_continue_after_a_kill():
    r = Repository()
    commits = sleeping(r, 12, 7)
    words = f"{commits[0]}..main", "-e", "wall", "--build", r.slow_build(), "--", "./nap"
    equal(r.stopped(signal.SIGKILL, *words), -signal.SIGKILL, "killed")
    kept = [line.split() for line in (r.path / ".git/tare-bisect").read_text().splitlines() if line.startswith("pairs ")]
    equal([line[1] for line in kept[:2]], [commits[0], commits[11]], "the ends were measured")
    d = r.document("--resume")
    equal(d["commit"]["hash"], commits[7], "found")
    equal(next(t["pairs"] for t in d["tries"] if t["commit"] == commits[11]), (len(kept[1]) - 2) // 2, "the end is not measured again")
    r.nothing_is_left()


@test
def builds_are_kept():
    """The commit that was found is built again to find the function, unless its build was kept."""
    r = Repository()
    commits = r.line(8, 5)
    for cache, times in (((), 2), (("--cache", "100M"), 1), (("--cache", "1k"), 2)):
        r.builds.unlink(missing_ok=True)
        d = r.document(f"{commits[0]}..main", *cache, "--build", f"git rev-parse HEAD >>{r.builds}; cp loop prog; mkdir -p made; cp loop made/{'x' * 20}", "--", "./prog")
        equal((d["commit"]["hash"], r.built().count(commits[5])), (commits[5], times), f"{cache}")
    r.nothing_is_left()


@test
def a_cache_of_builds_that_a_build_replaced():
    """By a link: no build is kept, and nothing is removed where it points to."""
    r = Repository()
    commits = r.line(8, 5)
    victim = r.path.parent / "victim"
    victim.mkdir()
    (victim / "data").write_bytes(bytes(4 << 20))
    build = f"[ -e ../cache ] || ln -s {victim} ../cache; cp loop prog"
    d = r.document(f"{commits[0]}..main", "--cache", "1M", "--build", build, "--", "./prog")
    equal((d["commit"]["hash"], [p.name for p in victim.iterdir()]), (commits[5], ["data"]))
    r.nothing_is_left()


@test
def hostile_subjects():
    r = Repository()
    first = r.commit(100, "first")
    r.commit(200, "red \x1b[31m | <b> `x` @you \u202e \x9b\n\nbody")
    text = r.bisect(f"{first}..", "--no-cause", "--", "./loop").stdout
    true("\\x1b[31m" in text and not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text) and "body" not in text, repr(text))
    text = r.bisect(f"{first}..", "--format", "markdown", "--no-cause", "--", "./loop").stdout
    true(not re.search("[<`@\x1b]", text) and text.count("|\n") == 4, text)
    true(r.document(f"{first}..", "--no-cause", "--", "./loop")["commit"]["subject"].startswith("red \x1b[31m"), "JSON")


@test
def ranges_that_are_refused():
    r = Repository()
    commits = r.line(4, 2)
    r.git("checkout", "-q", "-b", "topic", commits[1])
    r.commit(300, "topic")
    for words, said in (((), "no range"), ((f"{commits[0]}..",), "no command"), (("none..", "--", "./loop"), "no revision 'none'"),
                        (("main..topic", "--", "./loop"), f"tare bisect {commits[1][:12]}..topic"), ((f"main..{commits[1]}", "--", "./loop"), f"tare bisect {commits[1]}..main"),
                        (("main..main", "--", "./loop"), "same commit"), ((f"{commits[0]}..{commits[1]}", "--", "./loop"), "did not become slower"),
                        ((f"{commits[0]}..main", "--threshold", "1000", "--", "./loop"), "below --threshold"),
                        ((f"{commits[0]}..main", "-e", "cycles", "--", "./loop"), "cycles"), ((f"{commits[0]}..main", "-e", "page-faults", "--", "./loop"), "not counted exactly"),
                        ((f"{commits[0]}..main", "-e", "instructions,branches", "--", "./loop"), "-e names 2")):
        one_error(r.bisect(*words, status=125), said)
    r.nothing_is_left()
    equal(r.document(f"{commits[0]}..main", "-e", "branches", "--", "./loop")["event"], "branches", "another exact event")
    one_error(sh(TARE, "bisect", "a..b", "--", "true", status=125, cwd=ROOM.name), "no git repository")
    clone = str(Path(ROOM.name, "shallow"))
    sh("git", "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{r.path}", clone)
    one_error(sh(TARE, "bisect", "origin/topic..origin/main", "--", "true", status=125, cwd=clone), "in this clone", "fetch-depth: 0")
    one_error(sh(TARE, "bisect", f"{commits[0]}..", "--", "true", status=125, cwd=clone), "no revision", "fetch-depth: 0")


@test
def several_steps():
    r = Repository()
    commits = [r.commit(n, f"{n} steps") for n in (100, 100, 110, 110, 110, 160, 200, 200)]
    d = r.document(f"{commits[0]}..", "--", "./loop")
    equal(d["commit"]["subject"], "160 steps", "the largest step")
    notes = " ".join(d["notes"])
    true("Several commits" in notes and f"tare bisect {commits[0][:12]}..{commits[4][:12]}" in notes and f"tare bisect {commits[5][:12]}..{commits[7][:12]}" in notes, notes)
    d = r.document(f"{commits[0]}..{commits[4]}", "--", "./loop")
    equal((d["commit"]["hash"], "Several" in " ".join(d["notes"])), (commits[2], False), "the rest")


@test
def in_a_subfolder_and_in_a_hook():
    r = Repository()
    (r.path / "sub").mkdir()
    commits = [r.commit(n, f"{n}", **{"sub/x": f"#!/bin/sh\n{LOOP.format(n)}\n"}) for n in (100, 100, 200)]
    d = validated(sh(TARE, "bisect", "-j", f"{commits[0]}..", "--", "./x", cwd=r.path / "sub").stdout, SCHEMA)
    equal(d["commit"]["hash"], commits[2], "seen from the subfolder")
    variables = {**os.environ, "GIT_DIR": str(r.path / ".git"), "GIT_WORK_TREE": str(r.path), "GIT_INDEX_FILE": str(r.path / ".git/index")}
    r.bisect(f"{commits[0]}..", "--build", "git status", "--no-cause", "--", "./loop", env=variables)
    equal((r.git("status", "--porcelain"), r.git("rev-parse", "HEAD"), r.git("symbolic-ref", "HEAD")), ("", commits[2], "refs/heads/main"), "the checkout is untouched")


@test
def the_function_that_changed():
    if not shutil.which(CC):
        skip("no C compiler")
    r = Repository()
    for n in (10000, 10000, 10000, 20000, 20000):
        last = r.commit(0, f"{n}", **{"a.c": f"void parse_line(void) {{ for (volatile int i = 0; i < {n}; i++); }}\nint main(void) {{ parse_line(); return 0; }}\n"})
    first, build = r.git("rev-list", "--max-parents=0", last), f"{CC} -g -O0 -o a a.c"
    d = r.document(f"{first}..", "--build", build, "--", "./a")
    equal((d["commit"]["subject"], d["function"]), ("20000", {"function": "parse_line", "change": d["change"]}), "all of the change is in it")
    true(re.fullmatch(r"\w+ made it slower: \+[\d,]+ instructions \(\+[\d.]+ %, exact\), in parse_line", d["headline"]), d["headline"])
    d = r.document(f"{first}..", "--build", build, "--no-cause", "--", "./a")
    equal(d["function"], None, "--no-cause")
    r.nothing_is_left()


main()
