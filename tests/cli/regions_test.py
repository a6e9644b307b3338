# SPDX-License-Identifier: MIT
"""`tare regions` as a user runs it.

usage: regions_test.py TARE PROGRAM     (PROGRAM: tests/programs/regions)
"""
import json
import os
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import refused_by_the_engine, resident  # noqa: E402

TARE, PROGRAM = (os.path.abspath(p) for p in sys.argv[1:3])
ROOM = tempfile.TemporaryDirectory()
ENV = {k: v for k, v in os.environ.items() if not k.startswith("TARE_REGIONS")}


def sh(*words, status=0, env=ENV, **options):
    r = subprocess.run(words, capture_output=True, text=True, timeout=100, env=env, cwd=ROOM.name, **options)
    if status is not None:
        equal(r.returncode, status, f"exit status of {' '.join(words)}; {r.stderr[:500]}")
    return r


def inside(name):
    return os.path.join(ROOM.name, name)


def counted(path, threads):
    """How many points each thread of `regions until-killed` knows to be written."""
    return struct.unpack(f"={threads}Q", Path(path).read_bytes()[:8 * threads])


@test
def says_what_was_recorded():
    r = sh(TARE, "regions", "-o", "a.tare", "--", PROGRAM, "loop", "10", "3")
    true("66 points of 3 threads" in r.stderr, r.stderr)
    true(os.path.getsize(inside("a.tare")) > 4096, "size")
    r = sh(TARE, "regions", "-q", "-o", "a.tare", "--", PROGRAM, "loop", "10", "1")
    equal(r.stderr, "", "quiet")


@test
def two_commands_in_turns():
    r = sh(TARE, "regions", "-e", "none", "--turns", "3", "-o", "turn", "--", PROGRAM, "loop", "3", "1", ":::", PROGRAM, "loop", "4", "1")
    true("tare diff turn.A.* -- turn.B.*" in r.stderr, r.stderr)
    names = [f"turn.{side}.{i}" for side in "AB" for i in (1, 2, 3)]
    equal(sorted(n for n in os.listdir(ROOM.name) if n.startswith("turn.")), names, "files")
    found = [json.loads(sh(TARE, "summarize", "--format", "json", n).stdout)["recordings"][0] for n in names]
    order = [n for _, n in sorted((f["start_ns"], n) for f, n in zip(found, names))]
    equal(order, ["turn.A.1", "turn.B.1", "turn.B.2", "turn.A.2", "turn.A.3", "turn.B.3"], "each turn in the reverse order of the one before")
    for words in ([], ["--turns", "1"]):
        r = sh(TARE, "regions", "-o", "-", *words, "--", PROGRAM, "loop", "3", "1", status=125)
        true("-o -: a recording of regions is a file" in r.stderr and not r.stdout and not os.path.exists("-") and not Path(ROOM.name, "-").exists(), r.stderr)
    true("::: between them" in sh(TARE, "regions", "--turns", "3", PROGRAM, "loop", "3", "1", status=125).stderr, "one command")
    true("::: between them" in sh(TARE, "regions", "--turns", "3", PROGRAM, ":::", status=125).stderr, "none after :::")
    true("between 1 and 10000" in sh(TARE, "regions", "--turns", "0", PROGRAM, ":::", PROGRAM, status=125).stderr, "no turns")
    r = sh(TARE, "regions", "-q", "--turns", "3", "-o", "bad", "--", PROGRAM, "loop", "3", "1", ":::", "sh", "-c", "exit 7", status=7)
    true("stopped at turn 1 of 3, command B" in r.stderr, r.stderr)


@test
def the_default_file():
    sh(TARE, "regions", "-e", "none", PROGRAM, "loop", "1", "1")
    true(os.path.exists(inside("regions.tare")), "regions.tare")


@test
def without_counters_there_are_labels_and_counts():
    sh(TARE, "regions", "-q", "-e", "none", "-o", "none.tare", PROGRAM, "loop", "7", "2")
    lines = [x.split() for x in sh(TARE, "summarize", "none.tare").stdout.split("\n")]
    true(["14", "work"] in lines and ["2", "thread"] in lines and lines.index(["14", "work"]) < lines.index(["2", "thread"]), str(lines))
    lines = [x.split() for x in sh(TARE, "summarize", "--sort", "name", "none.tare").stdout.split("\n")]
    true(lines.index(["2", "thread"]) < lines.index(["14", "work"]), f"by name: {lines}")
    sh(TARE, "regions", "-q", "-e", "none", "-o", "more.tare", PROGRAM, "loop", "7", "9")
    text = sh(TARE, "aggregate", "none.tare", "more.tare").stdout
    true(text.count("is in 1 of 2 runs only") == 4 and "and 3 threads more are not in all runs" in text, text)
    equal(sh(TARE, "summarize", "--top", "1", "none.tare").stdout.count("(1 more; --top 0 shows all)"), 1, "the rest is said")
    rows = sh(TARE, "summarize", "--format", "csv", "none.tare").stdout.split("\n")
    row = dict(zip(rows[0].split(","), rows[1].split(",")))
    zeros = dict.fromkeys(("recursive", "cut", "detached", "instants", "values"), "0")
    equal({k: v for k, v in row.items() if v}, {"label": "work", "count": "14", **zeros}, "csv")
    equal({r.count(",") for r in rows[:-1]}, {rows[0].count(",")}, "as many fields as the header")
    for how in ("csv", "folded"):
        r = sh(TARE, "export", "-f", how, "none.tare", status=125)
        true("has no counter" in r.stderr and "tare summarize --format csv" in r.stderr, r.stderr)


@test
def status_and_output_are_the_commands():
    r = sh(TARE, "regions", "--", PROGRAM, "exit", "7", status=7)
    equal(r.stdout, "out\n", "its output")
    sh(TARE, "regions", "--", PROGRAM, "kill", str(int(signal.SIGTERM)), status=128 + signal.SIGTERM)
    sh(TARE, "regions", "--", "no-such-command", status=127)
    sh(TARE, "regions", "--", "/", status=126)


@test
def without_regions():
    r = sh(TARE, "regions", "--", "true", status=125)
    true("no regions" in r.stderr and "TARE_FUNCTIONS" not in r.stderr, r.stderr)
    sh(TARE, "regions", "--", "false", status=1)
    r = sh(TARE, "regions", "-o", "never.tare", "--", "true", status=125, env={**ENV, "TARE_FUNCTIONS": "f*"})
    true("TARE_FUNCTIONS selects no function" in r.stderr and "never.tare is not written" in r.stderr, r.stderr)
    true(not os.path.exists(inside("never.tare")), "no file where none was")
    sh(TARE, "regions", "-q", "-o", "never.tare", "--", PROGRAM, "loop", "1", "1")
    before = Path(inside("never.tare")).read_bytes()
    r = sh(TARE, "regions", "-o", "never.tare", "--", "true", status=125)
    true("never.tare is unchanged" in r.stderr, r.stderr)
    equal(Path(inside("never.tare")).read_bytes(), before, "the old recording")


@test
def says_that_the_command_was_killed():
    r = sh(TARE, "regions", "-o", "never.tare", "--", "sh", "-c", "kill -SEGV $$", status=128 + signal.SIGSEGV)
    true("the command was killed by SIGSEGV\n" in r.stderr and "no regions: the command was killed before any began, or the program has none" in r.stderr, r.stderr)
    r = sh(TARE, "regions", "-o", "never.tare", "--", "sh", "-c", "sh -c 'kill -SEGV $$'; exit $?", status=128 + signal.SIGSEGV)
    true("no regions: the program was killed before any began, as status 139 may mean, or the program has none" in r.stderr, r.stderr)
    true("killed" not in sh(TARE, "regions", "-o", "never.tare", "--", "false", status=1).stderr, "who was not")
    r = sh(TARE, "regions", "-q", "-o", "killed.tare", "--", PROGRAM, "kill", str(int(signal.SIGTERM)), status=128 + signal.SIGTERM)
    true("the command was killed by SIGTERM\n" in r.stderr, r.stderr)


@test
def small_stacks():
    """Of a handler and of a thread, where the first region and later ones are; below them is memory that nobody may touch."""
    for words in ([], [TARE, "regions", "-q", "-o", "stack.tare", "--"]):
        if sh(*words, PROGRAM, "small-stack", status=None).returncode == 77:
            skip("a sanitizer needs more stack itself")
        sh(*words, PROGRAM, "small-stack")
    rows = {x["label"]: x["count"] for x in json.loads(sh(TARE, "summarize", "--format", "json", "stack.tare").stdout)["labels"]}
    equal((rows["work"], rows["label"]), (6, 2), "counts")


@test
def nothing_waits_for_the_loader():
    """Another thread has its lock; in a child that thread is not there to give it back."""
    if sh(PROGRAM, "loader", status=None).returncode == 77:
        skip("a sanitizer waits for it itself")
    sh(TARE, "regions", "-q", "-o", "loader.tare", "--", PROGRAM, "loader")
    rows = {x["label"]: x["count"] for x in json.loads(sh(TARE, "summarize", "--format", "json", "loader.tare").stdout)["labels"]}
    equal(rows["work"], 6, "of the process and of a child")


@test
def threads_that_did_not_come_to_their_end():
    r = sh(TARE, "regions", "-q", "-o", "ended.tare", "--", PROGRAM, "exit-inside")
    true(re.search(r"'work' \([^)]*regions\.c:\d+\): 1 begun and not ended\n", r.stderr) and re.search(r"1 of 1 threads did not end: \d+\n", r.stderr), r.stderr)
    text = sh(TARE, "summarize", "ended.tare").stdout
    true(re.search(r"1 of 1 threads did not end in the recording: @\d+ regions\.", " ".join(text.split())), text)
    r = sh(TARE, "regions", "-q", "-o", "ended.tare", "--", PROGRAM, "fork-inside")
    true(re.search(r"'work' \([^)]*regions\.c:\d+\): 2 begun and not ended\n", r.stderr) and "1 of 2 threads did not end" in r.stderr, r.stderr)
    true(re.search(r"'other' \([^)]*regions\.c:\d+\): 1 started and not finished\n", r.stderr), r.stderr)
    rows = {x["label"]: x for x in json.loads(sh(TARE, "summarize", "--format", "json", "ended.tare").stdout)["labels"]}
    equal((rows["work"]["not_ended"], rows["other"]["not_finished"]), (2, 1), "as summarize has it")


@test
def one_that_goes_on_in_the_background():
    """It is no broken recording: nothing of it is lost, and it is said who writes it."""
    count, path = inside("count"), inside("goes-on.tare")
    Path(count).write_bytes(b"\0" * 64)
    recorder = subprocess.Popen([TARE, "regions", "-o", "goes-on.tare", "--", "sh", "-c", f"{PROGRAM} until-killed {count} 2 1500 >/dev/null 2>&1 & echo $!; read on"],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV, cwd=ROOM.name)
    pid = int(recorder.stdout.readline())
    try:
        while not all(counted(count, 2)):
            time.sleep(0.001)
        told = recorder.communicate("go on\n", timeout=60)[1]
        equal(recorder.returncode, 0, told)
        said = f"goes-on.tare: it is still being written, by process {pid} (2 threads)"
        true(f"tare regions: {said}\n" in told, told)
        true("warning" not in told, "nor is what is open just then one: " + told)
        known = sum(counted(count, 2))
        for _ in range(5):
            d = json.loads(sh(TARE, "summarize", "--format", "json", "goes-on.tare").stdout)
            equal((d["lost"], d["lost_unknown"], d["recordings"][0]["damage"], [(t["complete"], t["goes_on"], t["lost"]) for t in d["threads"]]),
                  (0, False, None, [(False, True, 0)] * 2), d["recordings"])
            true(f"by process {pid} (2 threads); the points recorded so far are shown" in d["recordings"][0]["live"], d["recordings"])
            true("(lost)" not in [x["label"] for x in d["labels"]] and d["points"] >= known, f"{d['points']} of {known}")
            known = d["points"]
        text = " ".join(sh(TARE, "summarize", "goes-on.tare").stdout.split())
        true(said in text and "did not end" not in text and "lost" not in text, text)
        os.kill(pid, signal.SIGSTOP)
        while " T " not in Path(f"/proc/{pid}/stat").read_text():
            time.sleep(0.001)
        sh("cp", "goes-on.tare", "copy.tare")
        os.kill(pid, signal.SIGCONT)
        for words in (("aggregate", "copy.tare", "goes-on.tare"), ("diff", "copy.tare", "goes-on.tare"), ("summarize", "--format", "csv", "goes-on.tare"),
                      ("export", "-f", "folded", "goes-on.tare")):
            r = sh(TARE, *words)
            true(said in " ".join((r.stderr + r.stdout).split()) and "points were lost" not in r.stdout and "missing" not in r.stderr, f"{words}: {r.stderr} {r.stdout[-2000:]}")
        d = json.loads(sh(TARE, "summarize", "--format", "json", "copy.tare", status=None).stdout)
        equal((d["recordings"][0]["live"], {t["goes_on"] for t in d["threads"]}), (None, {False}), "nobody writes a copy")
    finally:
        os.kill(pid, signal.SIGKILL)
    while os.path.exists(f"/proc/{pid}/exe"):
        time.sleep(0.001)
    text = " ".join(sh(TARE, "summarize", "goes-on.tare").stdout.split())
    true("2 of 2 threads did not end in the recording" in text and "still" not in text, text)
    # As in a container, or on another machine: the number says nothing of a process here.
    namespace = os.stat("/proc/self/ns/pid").st_ino.to_bytes(8, "little")
    with open(path, "r+b") as f:
        f.seek(f.read(8192).index(namespace, 4096))
        f.write((1).to_bytes(8, "little"))
    text = " ".join(sh(TARE, "summarize", "goes-on.tare").stdout.split())
    true("2 of 2 threads have no end in the recording; they were killed or are still running: @" in text, text)
    equal({t["goes_on"] for t in json.loads(sh(TARE, "summarize", "--format", "json", "goes-on.tare").stdout)["threads"]}, {None}, "not known")


@test
def a_program_that_is_another_after_exec_goes_on_no_more():
    """The process is the same, and lives."""
    r = sh(TARE, "regions", "-o", "exec.tare", "--", "sh", "-c", f"{PROGRAM} exec sleep 20 >/dev/null 2>&1 & echo $! >pid; until grep -q sleep /proc/$!/comm; do :; done")
    os.kill(int(Path(inside("pid")).read_text()), signal.SIGKILL)
    true("did not end" in r.stderr and "still" not in r.stderr, r.stderr)


@test
def unbalanced_with_label_and_place():
    r = sh(TARE, "regions", "--", PROGRAM, "unbalanced")
    true("'work' (" in r.stderr and "regions.c:" in r.stderr and "1 begun and not ended" in r.stderr, r.stderr)
    true("'other' (" in r.stderr and "1 ended and not begun" in r.stderr, r.stderr)
    # By the environment nobody is told at once; the recording says it.
    sh(PROGRAM, "unbalanced", env={**ENV, "TARE_REGIONS": inside("unb.tare")})
    text = " ".join(sh(TARE, "summarize", "unb.tare").stdout.split())
    true(re.search(r"cut: work \([^)]*regions\.c:\d+\), 1 begun and not ended", text) and re.search(r"cut: other \([^)]*regions\.c:\d+\), 1 ended and not begun", text), text)
    rows = {x["label"]: x for x in json.loads(sh(TARE, "summarize", "--format", "json", "unb.tare").stdout)["labels"]}
    true(rows["work"]["file"].endswith("regions.c") and rows["work"]["line"] > 0, rows["work"])
    equal((rows["work"]["not_ended"], rows["work"]["not_begun"], rows["other"]["not_begun"]), (1, 0, 1), "which is missing")
    said = sh(TARE, "export", "-f", "csv", "unb.tare").stderr
    true("2 begins or ends" in said and said.endswith(": of other, work\n"), said)


@test
def detached_timings_with_one_end_or_three():
    r = sh(TARE, "regions", "-o", "det.tare", "--", PROGRAM, "detached")
    # Two finishes of one number beside the one that counts are kept as one and met again as another.
    true(re.search(r"'work' \([^)]*regions\.c:\d+\): 1 finished and not started, 2 finished again\n", r.stderr), r.stderr)
    true(re.search(r"'other' \([^)]*regions\.c:\d+\): 1 started and not finished\n", r.stderr), r.stderr)
    text = " ".join(sh(TARE, "summarize", "det.tare").stdout.split())
    true(re.search(r"detached: work \([^)]*regions\.c:\d+\), 1 finished and not started, 2 finished again, first in thread @\d+", text), text)
    true(re.search(r"detached: other \([^)]*regions\.c:\d+\), 1 started and not finished, first in thread @\d+", text), text)
    d = json.loads(sh(TARE, "summarize", "--format", "json", "det.tare").stdout)
    rows = {x["label"]: x for x in d["labels"]}
    equal([rows["work"][k] for k in ("count", "not_started", "finished_again", "first_thread")], [1, 1, 2, 0], "work")
    equal([rows["other"][k] for k in ("count", "not_finished")], [0, 1], "other")
    equal(d["unmatched"], 4, "all of them")


@test
def the_head_alone_says_nothing_of_counters():
    sh(TARE, "regions", "-q", "-o", "whole.tare", "--", PROGRAM, "loop", "10", "1")
    Path(inside("cut.tare")).write_bytes(Path(inside("whole.tare")).read_bytes()[:4096])
    r = sh(TARE, "summarize", "cut.tare", status=1)
    true("-e none" not in r.stdout and "are not known" in r.stdout, r.stdout + r.stderr)


@test
def a_file_in_which_no_process_began():
    """As a `tare regions` leaves it that was killed before its command had a region."""
    p = subprocess.Popen([TARE, "regions", "-o", "begun.tare", "--", "sleep", "100"], env=ENV, cwd=ROOM.name, start_new_session=True)
    part = inside("begun.tare.part")
    while not os.path.exists(part) or os.path.getsize(part) < 4096:
        time.sleep(0.01)
    os.killpg(p.pid, signal.SIGKILL)
    p.wait()
    os.rename(part, inside("begun.tare"))
    r = sh(TARE, "summarize", "begun.tare")
    true("-e none" not in r.stdout and "No thread recorded anything" in r.stdout, r.stdout)
    # With points, but without a counter.
    sh(TARE, "regions", "-q", "-e", "none", "-o", "begun.tare", "--", PROGRAM, "loop", "300", "1")
    r = sh(TARE, "summarize", "begun.tare")
    true("-e none" in r.stdout and "p99" not in r.stdout, r.stdout)


@test
def several_with_one_name():
    """Each tells of its own, and the file is the whole of one of them."""
    both = [subprocess.Popen([TARE, "regions", "-o", "same.tare", "--", "sh", "-c", f"{PROGRAM} loop {n} 1; sleep 0.2"], stderr=subprocess.PIPE,
                             env=ENV, cwd=ROOM.name, text=True) for n in (5, 7)]
    said = [p.communicate(timeout=60)[1] for p in both]
    equal([p.returncode for p in both], [0, 0], str(said))
    for n in (5, 7):
        equal(sum(f"{2 * n + 2} points of 1 thread" in s for s in said), 1, f"{n}: {said}")
    true(json.loads(sh(TARE, "summarize", "--format", "json", "same.tare").stdout)["points"] in (12, 16), "one of them")
    equal([f for f in os.listdir(ROOM.name) if ".part" in f], [])


@test
def processes_share_the_file():
    r = sh(TARE, "regions", "-o", "b.tare", "--", "sh", "-c", f"{PROGRAM} loop 5 1; {PROGRAM} fork 5; exec {PROGRAM} loop 5 1")
    true("of 4 processes" in r.stderr, r.stderr)


@test
def refused():
    for words, said in ((["-e", "nonsense"], "nonsense"), (["-e", "none,wall-time"], "cannot be combined"), (["-e", ""], "list of counters"), (["-e", "wall-time,context-switches:u"], "it would stay 0"), (["-e", "task-clock:u"], "the kernel's clocks take no modifier"),
                        (["-e", "page-faults,wall-time:u"], "'wall-time:u': wall-time takes no modifier"), (["-e", "none:u"], "none takes no modifier"),
                        (["-e", "instructions-minus-irqs:k"], "is for user mode only\n  -e instructions-minus-irqs:u"),
                        (["--engine", "fast"], "engine"), (["-o", "/dev/full"], "regular file"),
                        (["-o", "/nowhere/x"], "/nowhere/x"), (["--engine", "exact"], "exact"),
                        (["-e", "exact/instructions/"], "-e instructions:u --engine exact"),
                        (["-e", ",".join(["wall-time"] + ["page-faults"] * 8)], "")):
        r = sh(TARE, "regions", *words, "--", "true", status=125)
        true(r.stderr.startswith("tare regions: ") and said in r.stderr, r.stderr)
    sh(TARE, "regions", status=125)
    # Where there is a PMU both can be had.
    r = subprocess.run([TARE, "regions", "-e", "instructions:u,no-such-event", "--", "true"], capture_output=True, text=True, env=ENV, cwd=ROOM.name)
    true(r.returncode == 125 and "no-such-event" in r.stderr, r.stderr)
    for beside in ("cycles", "page-faults"):
        r = subprocess.run([TARE, "regions", "-e", f"instructions:u,{beside}", "--", PROGRAM, "loop", "1", "1"], capture_output=True, text=True, env=ENV, cwd=ROOM.name)
        true(r.returncode == 0 or "instructions:u is unavailable" not in r.stderr or os.uname().machine != "x86_64", r.stderr)
    # The file is named once.
    sh(TARE, "regions", "-q", "-o", "order.tare", "--", PROGRAM, "loop", "1", "1")
    for at in (8, 12):
        data = bytearray(Path(inside("order.tare")).read_bytes())
        data[at] ^= 0x55
        Path(inside("damaged.tare")).write_bytes(data)
        r = sh(TARE, "summarize", "damaged.tare", status=125)
        equal((r.stderr.count("damaged.tare"), r.stderr.count(f"offset {at}")), (1, 1), r.stderr)


@test
def a_page_that_reads_as_0_is_told():
    """As one that never came to the disk: a thread's only block, a process's, one of labels."""
    sh(TARE, "regions", "-q", "-o", "pages.tare", "--", "sh", "-c", f"{PROGRAM} loop 5 3; {PROGRAM} loop 5 1")
    data = Path(inside("pages.tare")).read_bytes()
    held = [at for at in range(4096, len(data), 4096) if any(data[at:at + 4096])]
    true(len(held) >= 8, held)
    said = []
    for at in held:
        Path(inside("page.tare")).write_bytes(data[:at] + bytes(len(data[at:at + 4096])) + data[at + 4096:])
        r = sh(TARE, "summarize", "--format", "json", "page.tare", status=1)
        damage = json.loads(r.stdout)["recordings"][0]["damage"]
        said.append(damage)
        true("the file has no points" in damage or "labels of process" in damage or "the block with the counters of process" in damage, f"{at}: {damage}")
    equal(sum("its points are in the file, but cannot be read" in x for x in said), 2, f"the processes' own: {said}")


@test
def a_full_disk_holds_what_was_written():
    """The file does not grow by what nobody could write."""
    os.mkdir(inside("full"))
    script = 'mount -t tmpfs -o size=1m none full || exit 77; "$0" regions -o full/x.tare -- "$1" loop 200000 1; stat -c %s full/x.tare; "$0" summarize --format json full/x.tare'
    r = subprocess.run(["unshare", "-rm", "sh", "-c", script, TARE, PROGRAM], capture_output=True, text=True, env=ENV, cwd=ROOM.name)
    if r.returncode == 77 or "unshare failed" in r.stderr:
        skip("no file system can be mounted here")
    size, document = r.stdout.split("\n", 1)
    true(int(size) <= 1 << 20, f"{size} bytes")
    lost, = re.findall(r"warning: ([0-9]+) points are missing", r.stderr)
    equal(sum(r["count"] for r in json.loads(document)["labels"] if r["label"] == "work") * 2 + int(lost) > 390000, True, f"{lost} of 400000")


@test
def a_recording_without_points_replaces_no_good_one():
    """Room for the head of a file but for no block of points: the old file stays."""
    os.mkdir(inside("scarce"))
    script = '''mount -t tmpfs -o size=1m none scarce || exit 77
"$0" regions -q -o scarce/x.tare -- "$1" loop 10 1 && cp scarce/x.tare good || exit 1
for pages in 0 1 2 4 9 60; do
    cat /dev/zero 2>/dev/null >scarce/fill; truncate -s -$((4096 * pages)) scarce/fill
    "$0" regions -q -o scarce/x.tare -- "$1" loop 10 1 2>said; status=$?
    cmp -s good scarce/x.tare && same=yes || same=no
    rm -f scarce/fill
    echo $pages $status $same $(ls scarce | wc -l)
    cp good scarce/x.tare
done'''
    r = subprocess.run(["unshare", "-rm", "sh", "-c", script, TARE, PROGRAM], capture_output=True, text=True, env=ENV, cwd=ROOM.name)
    if r.returncode == 77 or "unshare failed" in r.stderr:
        skip("no file system can be mounted here")
    rows = [line.split() for line in r.stdout.splitlines()]
    equal([x[1:] for x in rows], [["125", "yes", "1"]] * 5 + [["0", "no", "1"]], f"status, kept, files: {r.stdout}{r.stderr}")


@test
def names_that_could_not_be_written_are_told():
    """Of 2,500 labels, a region each, all points are there: by the command, by the program alone, by whatever reads it."""
    run = 'trap "" XFSZ; ulimit -f 300; exec "$0" names 2500'
    r = sh("sh", "-c", run, PROGRAM, env={**ENV, "TARE_REGIONS": inside("alone.tare")})
    lost, = re.findall(rf"tare: {inside('alone.tare')}: the names of (\d+) labels could not be written: File too large\n", r.stderr)
    true(r.stderr.count("\n") == 1 and 500 < int(lost) < 2000, r.stderr)
    r = sh(TARE, "regions", "-q", "-o", "names.tare", "--", "sh", "-c", run, PROGRAM)
    said = re.findall(r"process \d+ could not write the names of (\d+) labels: File too large", r.stderr)
    equal(said, [lost], r.stderr)
    d = json.loads(sh(TARE, "summarize", "--format", "json", "names.tare", status=1).stdout)
    counts = sorted(x["count"] for x in d["labels"])
    equal((counts[:-1], counts[-1], d["lost"], d["lost_unknown"]), ([1] * (2500 - int(lost)), int(lost), 0, False), "the regions of those without a name are one row")
    for words in (("summarize", "names.tare"), ("diff", "names.tare", "alone.tare"), ("aggregate", "names.tare", "alone.tare"),
                  ("summarize", "--html", "page.html", "names.tare"), ("export", "-f", "folded", "names.tare")):
        r = sh(TARE, *words, status=1)
        true(f"could not write the names of {lost} labels: File too large" in " ".join((r.stdout + r.stderr).split()), f"{words}: {r.stdout[-900:]} {r.stderr}")


@test
def a_file_that_is_something_else_is_left_alone():
    """By the environment alone; the program runs all the same."""
    path = inside("notes.txt")
    Path(path).write_text("x" * 9000)
    r = sh(PROGRAM, "exit", "7", status=7, env={**ENV, "TARE_REGIONS": path})
    true("no regions are recorded" in r.stderr and "notes.txt" in r.stderr, r.stderr)
    equal(Path(path).read_text(), "x" * 9000, "the file")


@test
def by_the_environment_and_appended():
    env = {**ENV, "TARE_REGIONS": inside("env.tare"), "TARE_REGIONS_EVENTS": "none"}
    for _ in range(2):
        sh(PROGRAM, "loop", "3", "1", env=env)
    r = sh(PROGRAM, "check", "env.tare")
    equal(r.stdout, "threads 2 points 16 repaired 0 lost 0\n", "both runs")


@test
def a_relative_path_counts_from_where_the_program_started():
    os.mkdir(inside("deeper"))
    sh(PROGRAM, "elsewhere", "deeper", env={**ENV, "TARE_REGIONS": "relative.tare"})
    true(os.path.exists(inside("relative.tare")), "the file")
    equal(os.listdir(inside("deeper")), [], "where the program went")


@test
def killed_at_random_moments():
    """No point that the program knows to be written is lost: it prints how many, before the next."""
    random.seed(1)
    for i in range(int(os.environ.get("TARE_KILLS", "100"))):
        path = inside("killed.tare")
        if os.path.exists(path):
            os.unlink(path)
        count = inside("count")
        Path(count).write_bytes(b"\0" * 64)
        p = subprocess.Popen([PROGRAM, "until-killed", count, "2"], env={**ENV, "TARE_REGIONS": path})
        time.sleep(0.003 + random.random() * 0.03)
        p.kill()
        p.wait()
        if not os.path.exists(path):
            continue  # killed before the first region
        said = sh(PROGRAM, "check", path).stdout.split()
        known = sum(counted(count, 2))
        # One begin and end more per thread may be there than the program had time to count.
        true(known <= int(said[3]) <= known + 4 and said[7] == "0", f"kill {i}: {known} points, and the file has {said}")


@test
def cut_between_blocks():
    """Of a program that did not end, or one of whose processes did not, too: never as if it were whole."""
    for words in (["exit-inside"], ["fork-inside"], ["fork", "3"], ["loop", "20000", "2"]):
        path = inside("between.tare")
        if os.path.exists(path):
            os.unlink(path)
        sh(PROGRAM, *words, status=None, env={**ENV, "TARE_REGIONS": path})
        whole = Path(path).read_bytes()
        sh(TARE, "summarize", path)
        starts = [at for at in range(8192, len(whole), 4096) if whole[at:at + 4] == b"TRB1"]
        true(len(starts) >= 2, f"{words}: {starts}")
        for at in starts:
            Path(inside("cut.tare")).write_bytes(whole[:at])
            r = json.loads(sh(TARE, "summarize", "--format", "json", "cut.tare", status=1).stdout)
            damage = r["recordings"][0]["damage"]
            true((f"ends at offset {at}" in damage and r["lost_unknown"]) or "missing" in damage, f"{words}, {at}: {damage}")


@test
def a_run_that_ends_early_differs_in_one_place():
    """However much the other does after that: here more than is looked through for where they come together again."""
    files = []
    for points, rest in ((2000, 50000), (600000, 0)):  # us after each 1,000, so that the first one gets no further before it is killed
        path, count = inside(f"early{points}.tare"), inside("count")
        Path(count).write_bytes(b"\0" * 64)
        p = subprocess.Popen([PROGRAM, "until-killed", count, "1", str(rest)], env={**ENV, "TARE_REGIONS": path})
        while counted(count, 1)[0] < points and p.poll() is None:
            time.sleep(0.001)
        p.kill()
        p.wait()
        files.append(path)
    there = [int(sh(PROGRAM, "check", f).stdout.split()[3]) for f in files]
    true(2000 <= there[0] < there[1] - 300000, there)
    for order in (1, -1):
        d = json.loads(sh(TARE, "aggregate", "--format", "json", *files[::order]).stdout)
        said = [(r["next"] is None, r["alone"]) for r in d["first_differences"][0]["runs"]][::order]
        equal((d["differences"], said), (1, [(True, 0), (False, there[1] - there[0])]), f"{d['first_differences']}")


@test
def the_disk_fills_up():
    """As a limit of the size of files, which is an error that writes return, or a signal."""
    r = sh("sh", "-c", f"ulimit -f 4096; exec {TARE} regions -o full.tare -- {PROGRAM} loop 2000000 2")
    true("could not write" in r.stderr or "are missing" in r.stderr, r.stderr)
    said = sh(PROGRAM, "check", "full.tare").stdout.split()
    equal(int(said[3]) + int(said[7]), 2 * 2 * 2000000 + 2 * 2, "what is there and what is lost")
    # What the lost points took is nobody's, in every view; the rest has the cost that the regions have.
    d = json.loads(sh(TARE, "summarize", "--format", "json", "full.tare", status=1).stdout)
    equal((d["points"], d["lost"], d["lost_unknown"]), (int(said[3]), int(said[7]), False), "in all; what is put in is none")
    true(f"{d['lost']} points are missing" in r.stderr, r.stderr)
    rows = {x["label"]: x for x in d["labels"]}
    cost = {k: x["counters"]["wall-time"] for k, x in rows.items()}
    true(rows["(lost)"]["count"] >= 1 and rows["work"]["holes"] == rows["work"]["cut"] and rows["thread"]["holes"] >= 1, rows)
    equal(sum(x["self"] for x in cost.values()) + d["counters"][0]["outside"], d["counters"][0]["whole"], "nothing is in two places")
    true(cost["(lost)"]["self"] > 3 * cost["thread"]["self"], cost)
    equal(sh(TARE, "summarize", "--match", "thread", "full.tare", status=1).stdout.count("with points lost"), 1, "in the row")
    one = sh(TARE, "summarize", "--label", "thread", "full.tare", status=1).stdout
    true(re.search(r"thread .* cut\n", one), one)
    folded = sh(TARE, "export", "-f", "folded", "full.tare", status=1).stdout
    true(f"regions;(lost) {cost['(lost)']['self']}\n" in folded, folded)


@test
def processes_of_which_nothing_is_known():
    """Which wrote neither points nor how many those were: a number in the file's head, at 3192."""
    sh(TARE, "regions", "-q", "-e", "none", "-o", "untold.tare", "--", PROGRAM, "loop", "10", "1")
    for n, words in ((0, ""), (1, "at least 1 process could write nothing, an unknown number of points: another thread"), (2, "at least 2 processes could")):
        with open(inside("untold.tare"), "r+b") as f:
            f.seek(3192)
            f.write(n.to_bytes(4, "little"))
        said = sh(TARE, "summarize", "untold.tare", status=min(n, 1)).stdout
        d = json.loads(sh(TARE, "summarize", "--format", "json", "untold.tare", status=min(n, 1)).stdout)
        equal((d["lost"], d["lost_unknown"], words in said), (0, n > 0, True), said)
        true("The recorded counters" not in said and "(-e none)" in said, said)


@test
def a_thread_of_which_nothing_could_be_written():
    """Its points are in the total, which is one number. There is room for one thread's block, and none to write it elsewhere."""
    r = sh("sh", "-c", f"ulimit -f 272; exec {TARE} regions -o none.tare -- {PROGRAM} loop 100000 2")
    d = json.loads(sh(TARE, "summarize", "--format", "json", "none.tare", status=1).stdout)
    said = sh(PROGRAM, "check", "none.tare").stdout.split()
    equal((d["lost"], d["lost_unknown"]), (int(said[7]), False), "in all")
    equal(d["lost"] + int(said[3]), 2 * (2 * 100000 + 2), "what is there and what is lost")
    true("nothing of 1 thread" in r.stderr and d["lost"] > d["threads"][0]["lost"] > 0, r.stderr)
    true(f"{d['lost']} points are missing" in r.stderr, r.stderr)


@test
def a_program_that_records_by_hand_says_what_is_lost():
    """On its standard error, when it ends; one under tare regions leaves that to it."""
    path = inside("hand.tare")
    run = 'ulimit -f 320; exec "$0" loop 100000 2'
    env = {**ENV, "TARE_REGIONS": path}
    r = sh("sh", "-c", run, PROGRAM, env=env)
    said = sh(PROGRAM, "check", path).stdout.split()
    true(int(said[7]) > 0, said)
    equal(r.stderr, f"tare: {path}: {said[7]} points could not be written: File too large\n", "lost")
    os.remove(path)
    equal(sh("sh", "-c", run, PROGRAM, env={**env, "TARE_REGIONS_ENGINE": "none"}).stderr, "", "under tare regions that tells it")


@test
def a_child_that_outgrows_its_small_block():
    """A forked child begins with a block of 16 KiB, and goes on in one of 64 when that is full."""
    for events in ("wall-time", "none"):
        sh(TARE, "regions", "-q", "-e", events, "-o", "grow.tare", "--", PROGRAM, "fork", "60000")
        equal(sh(PROGRAM, "check", "grow.tare").stdout, f"threads 2 points {2 * (120000 + 2)} repaired 0 lost 0\n", events)
        equal(json.loads(sh(TARE, "summarize", "--format", "json", "grow.tare").stdout)["recordings"][0]["damage"], None, events)


@test
def exact_counts():
    """Loops of a known size are, in each interval and in every run, the same number of instructions; through full blocks, too."""
    if os.uname().machine != "x86_64":
        return
    out = []
    for _ in range(2):
        sh(TARE, "regions", "--engine", "exact", "-e", "instructions:u", "-o", "exact.tare", "--", PROGRAM, "known", "10000", "1")
        out.append(sh(PROGRAM, "known-check", "exact.tare").stdout)
    equal(out[0], out[1], "two runs")
    true(out[0].endswith("all exact\n"), out[0])
    # One that is not is told: which, and what it has.
    for every, first in ((9999, 9998), (900, 899)):
        sh(TARE, "regions", "--engine", "exact", "-e", "instructions:u", "-o", "odd.tare", "--", PROGRAM, "known", "10000", "1", str(every))
        lines = sh(PROGRAM, "known-check", "odd.tare").stdout.splitlines()
        n = 10000 // every
        equal((lines[0].rpartition(": ")[2], lines[0].rpartition(": ")[0]), (f"{n} are different", out[0].rpartition(": ")[0]), "the others are as they were")
        told = [[int(x) for x in re.match(r"  region (\d+), thread 0 \(\d+\), interval (\d+): (\d+) counted, (\d+) expected$", line).groups()] for line in lines[1:11] if "region" in line]
        equal([t[1] for t in told], [first + every * i for i in range(min(n, 10))], "which")
        turn = {c - e for _, _, c, e in told}
        true(len(turn) == 1 and 1 <= turn.pop() <= 4 and all(e > region for region, _, _, e in told), lines[1])
        equal(lines[11:], [f"  and {n - 10} more"] if n > 10 else [], "no more than ten")
    # What is more than the loop is the region, as it was measured: by another piece of code, so within what that says.
    more, itself, off = (int(x) for x in re.search(r"(\d+) instructions more than their loop, of which the region itself (\d+) \+- (\d+)", out[0]).groups())
    true(abs(more - itself) <= off < itself / 4, out[0])


@test
def a_recording_names_the_cpu_that_its_program_saw():
    if os.uname().machine != "x86_64":
        return
    for model in ("x86-64-v2", "host"):
        sh(TARE, "regions", "-q", "--engine", "exact", "-e", "instructions:u", "-o", "seen.tare", f"--deterministic=isa={model}", "--", PROGRAM, "known", "10", "1")
        d = json.loads(sh(TARE, "summarize", "--format", "json", "seen.tare").stdout)
        equal(next(r["cpu"] for r in d["recordings"]), model, d)


@test
def a_process_without_the_engine_is_named():
    if os.uname().machine != "x86_64":
        return
    far = refused_by_the_engine(Path(ROOM.name, "far"))
    r = sh(TARE, "regions", "--engine", "exact", "-e", "instructions:u", "-o", "far.tare", "--", "sh", "-c", f"{far}; {PROGRAM} known 10 1; exit 5", status=5)
    true(re.search(r"^tare regions: Without far, process \d+, after the exact engine ended it: a far ", r.stderr, re.M), r.stderr)


@test
def what_recording_cost_is_taken_off_everywhere():
    """By the exact engine, so with ==: the rows and what is in no region add up to all, and shares are of that."""
    if os.uname().machine != "x86_64":
        return
    sh(TARE, "regions", "--engine", "exact", "-q", "-e", "instructions:u", "-o", "own.tare", PROGRAM, "known", "50", "2")
    raw, off = (json.loads(sh(TARE, "summarize", "--format", "json", *words, "own.tare").stdout) for words in ((), ("--subtract-own",)))
    k, less = raw["counters"][0], off["counters"][0]
    true(k["whole_own"] > k["outside_own"] > 0 and k["whole_own_off"] >= k["outside_own_off"], k)
    for what in ("whole", "outside"):
        equal(less[what], k[what] - k[f"{what}_own"], f"{what}, {less}")
    for d, c in ((raw, k), (off, less)):
        rows = [x["counters"]["instructions:u"] for x in d["labels"]]
        equal(round(sum(x["self"] for x in rows) + c["outside"], 6), round(c["whole"], 6), f"in all, {d['own_cost_subtracted']}")
        true(abs(sum(x["share"] for x in rows) + c["outside"] / c["whole"] - 1) < 1e-9, "shares")
    said = sh(TARE, "summarize", "--subtract-own", "own.tare").stdout
    true(f"{round(less['whole']):,}" in said and f"{round(k['whole']):,}" not in said, said)
    equal("negative values mean" in said, less["outside"] <= -0.5 or any(x["counters"]["instructions:u"][v] <= -0.5 for x in off["labels"] for v in ("self", "total", "min")), said)
    csv = [x.split(",") for x in sh(TARE, "summarize", "--format", "csv", "--subtract-own", "own.tare").stdout.splitlines()]
    share = csv[0].index("share")
    equal([round(float(x[share]), 9) for x in csv[1:]], [round(x["counters"]["instructions:u"]["share"], 9) for x in off["labels"]], "in CSV")


@test
def a_child_in_its_parents_memory_is_not_in_its_parents_counts():
    """vfork(): the engine's count is another one there. What goes from one's to the other's has no number, the rest has its own."""
    if os.uname().machine != "x86_64":
        return
    for n in (2, 20):
        sh(TARE, "regions", "--engine", "exact", "-e", "instructions:u", "-o", "vfork.tare", "--", PROGRAM, "vfork", str(n))
        rows = {r["label"]: r["counters"]["instructions:u"] | {"count": r["count"]}
                for r in json.loads(sh(TARE, "summarize", "--format", "json", "vfork.tare").stdout)["labels"]}
        true(rows["work"]["count"] == rows["work"]["unknown"] == 2 and rows["work"]["total"] is None, str(rows["work"]))
        equal((rows["other"]["count"], rows["other"]["unknown"]), (2 * n, 2), "the first of each child")
        true(0 < rows["other"]["total"] < 200 * 2 * n, str(rows["other"]))


@test
def what_was_there_stays_until_there_is_something_better():
    sh(TARE, "regions", "-q", "-o", "keep.tare", "--", PROGRAM, "known", "10", "1")
    before = Path(inside("keep.tare")).read_bytes()
    os.symlink("keep.tare", inside("link.tare"))
    for name in ("keep.tare", "link.tare"):
        sh(TARE, "regions", "-o", name, "--", "./typo", status=127)
        r = sh(TARE, "regions", "-o", name, "--", "true", status=125)
        true("unchanged" in r.stderr, r.stderr)
        equal(Path(inside("keep.tare")).read_bytes(), before, f"{name}: not touched")
    sh("cp", PROGRAM, "itself")
    r = sh(TARE, "regions", "-o", "./itself", "--", "./itself", "known", "10", "1", status=125)
    true("would replace the command itself" in r.stderr, r.stderr)
    equal(Path(inside("itself")).read_bytes(), Path(PROGRAM).read_bytes(), "the program")
    sh(TARE, "regions", "-q", "-o", "link.tare", "--", PROGRAM, "known", "20", "1")
    true(os.path.islink(inside("link.tare")) and Path(inside("keep.tare")).read_bytes() != before, "replaced, behind the link")
    os.symlink("later.tare", inside("early.tare"))
    sh(TARE, "regions", "-q", "-o", "early.tare", "--", PROGRAM, "known", "20", "1")
    true(os.path.islink(inside("early.tare")) and os.path.getsize(inside("later.tare")) > 4096, "made behind the link")
    sh(TARE, "regions", "-o", "nowhere.tare", "--", "./typo", status=127)
    equal([f for f in os.listdir(os.path.dirname(inside("x"))) if "before" in f or f == "nowhere.tare"], [], "no file is left")


@test
def a_file_put_in_place_of_the_new_one_is_neither_read_nor_renamed():
    sh(TARE, "regions", "-q", "-o", "good.tare", "--", PROGRAM, "known", "10", "1")
    sh("cp", "good.tare", "stays.tare")
    before, part = Path(inside("stays.tare")).read_bytes(), inside("stays.tare.part")
    for make in ("mkfifo stays.tare.part", "ln -s /dev/zero stays.tare.part", "ln -s good.tare stays.tare.part", "ln -s none stays.tare.part",
                 ": > stays.tare.part", "cp good.tare stays.tare.part", "mkdir stays.tare.part"):
        r = sh(TARE, "regions", "-o", "stays.tare", "--", "sh", "-c", f"{PROGRAM} known 10 1; rm -f stays.tare.part; {make}", status=125)
        equal(r.stderr, "tare regions: stays.tare.part, to which the result was written, was replaced by another file\n", make)
        true(not os.path.islink(inside("stays.tare")) and Path(inside("stays.tare")).read_bytes() == before, make)
        sh("rm", "-rf", part)
    for damage, message in ((": > stays.tare.part", "the file is empty"), ("rm stays.tare.part", "No such file")):
        r = sh(TARE, "regions", "-o", "stays.tare", "--", "sh", "-c", f"{PROGRAM} known 10 1; {damage}", status=125)
        true(message in r.stderr and "stays.tare.part" in r.stderr, r.stderr)
        equal(Path(inside("stays.tare")).read_bytes(), before, damage)
        sh("rm", "-f", part)


@test
def a_command_that_enlarges_the_recording():
    """By a hole of 4 TiB: it is not read."""
    r = sh(TARE, "regions", "-o", "huge.tare", "--", "sh", "-c", f"{PROGRAM} known 10 1; truncate -s 4T huge.tare.part")
    true(" points of 1 thread, " in r.stderr and os.path.getsize(inside("huge.tare")) == 4 << 40, r.stderr)
    true("known" in sh(TARE, "summarize", "huge.tare").stdout, "its regions")
    os.unlink(inside("huge.tare"))


@test
def one_whose_recorder_was_killed_is_told_of():
    """By the commands that read the one before it, or find none; while it is recorded it is nobody's leavings."""
    def recorder():
        p = subprocess.Popen([TARE, "regions", "-o", "told.tare", "--", "sh", "-c", f"{PROGRAM} loop 9 1; exec sleep 100"], env=ENV, cwd=ROOM.name, start_new_session=True)
        while not os.path.exists(part) or os.path.getsize(part) < 9000:
            time.sleep(0.01)
        return p

    part = inside("told.tare.part")
    note = ": note: " + part + " is newer: a recording whose recorder was killed\n"
    words = (["summarize"], ["aggregate", "a.tare"], ["diff", "a.tare"], ["export", "-f", "folded"])
    for name in ("a.tare", "told.tare"):
        sh(TARE, "regions", "-q", "-o", name, "--", PROGRAM, "loop", "9" if name == "a.tare" else "8", "1")
    p = recorder()
    equal(sh(TARE, "summarize", inside("told.tare")).stderr, "", "it is being recorded")
    p.kill()
    p.wait()
    os.killpg(p.pid, signal.SIGKILL)
    for w in words:
        equal(sh(TARE, *w, inside("told.tare")).stderr, f"tare {w[0]}" + note, w[0])
    equal(json.loads(sh(TARE, "summarize", "--format", "json", part).stdout)["points"], 20, "it can be read")
    os.unlink(inside("told.tare"))
    for w in words:
        r = sh(TARE, *w, inside("told.tare"), status=125)
        true(f"{part} is there: a recording whose recorder was killed" in r.stderr, r.stderr)
    said = sh(TARE, "regions", "-o", inside("told.tare"), "--", PROGRAM, "loop", "1", "1").stderr
    true(f"note: {part} exists, too: a recording whose recorder was killed\n" in said, said)


@test
def one_that_begins_when_the_recorder_has_ended_is_told_of():
    script = 'exec 3<&0; (read x <&3; "$0" loop 5 1; echo > ended) & exec "$0" loop 6 1'
    begin = subprocess.Popen([TARE, "regions", "-q", "-o", "late.tare", "--", "sh", "-c", script, PROGRAM], env=ENV, cwd=ROOM.name, stdin=subprocess.PIPE)
    equal(begin.wait(60), 0, "tare regions")
    begin.stdin.close()
    while not os.path.exists(inside("ended")):
        time.sleep(0.01)
    late = "a recording of a process that began to record after 'tare regions' had ended\n"
    equal(sh(TARE, "summarize", "late.tare").stderr, f"tare summarize: note: late.tare.part is newer: {late}")
    equal([json.loads(sh(TARE, "summarize", "--format", "json", f).stdout)["points"] for f in ("late.tare", "late.tare.part")], [14, 12], "in which")
    os.unlink(inside("late.tare"))
    true(f"late.tare.part is there: {late}" in sh(TARE, "summarize", "late.tare", status=125).stderr, "no other")
    os.unlink(inside("late.tare.part"))


@test
def labels_made_while_it_runs_are_in_no_interval():
    """Making one takes memory, a lock and now and then a block of the file: none of that is the program's."""
    if os.uname().machine != "x86_64":
        return
    for i in range(3):
        sh(TARE, "regions", "-q", "--engine", "exact", "-e", "instructions:u", "-o", f"labels{i}.tare", "--", PROGRAM, "labels", "500", "3")
    sums = [json.loads(sh(TARE, "summarize", "--format", "json", f"labels{i}.tare").stdout) for i in range(3)]
    selves = [next(l["counters"]["instructions:u"] for l in s["labels"] if l["label"] == "work") for s in sums]
    equal([(s["min"], s["max"], s["self"]) for s in selves[1:]], [(selves[0]["min"], selves[0]["max"], selves[0]["self"])] * 2, "work")
    true(selves[0]["max"] - selves[0]["min"] < 200, f"a first label costs what others do: {selves[0]}")


@test
def instructions_without_a_pmu():
    """The word that was asked for is named, and what counts it here."""
    r = sh(TARE, "regions", "-e", "instructions-minus-irqs:u", "-o", "less.tare", "--", PROGRAM, "loop", "1", "1", status=None)
    if "instructions:u is unavailable" in r.stderr:
        true(r.stderr.startswith("tare regions: instructions-minus-irqs:u: instructions:u is unavailable"), r.stderr)
        for events in ("instructions:u", "instructions-minus-irqs:u"):
            said = sh(PROGRAM, "loop", "1", "1", env={**ENV, "TARE_REGIONS": "less.tare", "TARE_REGIONS_EVENTS": events}).stderr
            true(events in said, said)
            if os.uname().machine == "x86_64":
                true("'tare regions -e instructions:u -- command' counts with the exact engine" in said, said)
                true("regions -e instructions:u --" in r.stderr and "without interrupts" in r.stderr, r.stderr)


@test
def processes_of_other_pid_namespaces_are_apart():
    """Each is pid 1 of its own, at once or one after another; a program that goes on by exec stays the same process."""
    if sh("unshare", "-pf", "true", status=None).returncode:
        skip("no pid namespace can be made here")
    one = f"unshare -pf {PROGRAM} loop 2 2"
    r = sh(TARE, "regions", "-o", "apart.tare", "--", "sh", "-c", f"{one} & {one} & wait; {one}; {one}; {PROGRAM} loop 2 1; unshare -pf {PROGRAM} fork 2")
    true("of 11 threads of 7 processes" in r.stderr, r.stderr)
    d = json.loads(sh(TARE, "summarize", "--format", "json", "apart.tare").stdout)
    ours = [(t["pid"], t["tid"]) for t in d["threads"] if t["pid"] < 5000000]
    others = [(t["pid"], t["tid"]) for t in d["threads"] if t["pid"] >= 5000000]
    equal((len(ours), len({pid for pid, _ in others}), len({tid for _, tid in others})), (1, 6, 10), str(d["threads"]))
    true("6 processes of other pid namespaces" in d["recordings"][0]["remark"], d["recordings"])


@test
def a_program_outside_the_engine_is_told_so():
    """Not to type what was typed."""
    r = sh("unshare", "-pf", "true", status=None)
    if r.returncode or os.uname().machine != "x86_64":
        skip("no pid namespace can be made here, or there is no engine")
    r = sh(TARE, "regions", "--engine", "exact", "-e", "instructions:u", "-o", "outside.tare", "--", "sh", "-c", f"{PROGRAM} loop 2 1; unshare -pf {PROGRAM} loop 1 1")
    said = [line for line in r.stderr.splitlines() if line.startswith("tare: no regions are recorded: ")]
    true("6 points of 1 thread" in r.stderr or not said, r.stderr)
    for line in said: # none where a PMU counts it
        true("this program runs outside the engine; programs in another pid namespace" in line and "command' counts" not in line, line)


@test
def a_million_labels_take_less_than_256_mib_to_summarise():
    """By how much more 130,000 more take, for what one takes is what a million do."""
    def size(n):
        sh(TARE, "regions", "-q", "-e", "none", "-o", "names.tare", "--", PROGRAM, "names", str(n))
        return resident(TARE, "summarize", "--top", "1", inside("names.tare"), env={**ENV, "MALLOC_PERTURB_": "0"}) * 1024

    each = (size(260_000) - size(130_000)) / 130_000
    true(150 < each < 2**28 / 1_000_000 - 8, f"{each:.1f} bytes for a label with a name of 31")


main()
