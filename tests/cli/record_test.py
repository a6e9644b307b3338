# SPDX-License-Identifier: MIT
"""`tare record` as a user runs it, on timers and page faults, with Debian's perf as the judge of its files.

usage: record_test.py TARE FILTERED
"""
import contextlib
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import children, ended_within_exec, refused_by_the_engine  # noqa: E402

TARE, FILTERED = map(os.path.abspath, sys.argv[1:3])
ROOM = tempfile.TemporaryDirectory()
FILE = os.path.join(ROOM.name, "perf.data")
ENV = {**os.environ, "LC_ALL": "C", "PAGER": "cat"}
# A fork, two threads, a library opened late, and enough time for a few hundred samples.
WORK = [os.path.realpath(sys.executable), "-S", "-c", """
import ctypes, os, threading
def spin(): return sum(i * i for i in range(300000))
if os.fork() == 0:
    spin(); os._exit(0)
ctypes.CDLL("libm.so.6")
t = threading.Thread(target=spin); t.start(); spin(); t.join(); os.wait(); os._exit(5)
"""]

# In a virtual machine a sample can take as long as the period of 10 us, and the program hardly advances. So the number of samples ends it, not its work. Sampling begins
# after the exec: during an exec, the kernel may then never finish a page fault.
A_THOUSAND = ["--delay", "50", "--max-size", "64K", "--", "sh", "-c", "while :; do :; done"]


def busy(seconds, then=""):
    """A command that computes for so long: a look at its time alone is the kernel's work, of which it is another part on each machine."""
    return [sys.executable, "-S", "-c", f"import os, time\nwhile time.process_time() < {seconds}: sum(range(10000))\n{then}"]


def sh(*words, **options):
    return subprocess.run(words, capture_output=True, timeout=100, env=ENV, cwd=ROOM.name, **options)


def record(*words, status=0, file=FILE):
    r = sh(TARE, "record", "-o", file, *words)
    equal(r.returncode, status, f"status of tare record {' '.join(words)[:200]}; {r.stderr.decode()[:600]}")
    return r.stderr.decode()


def dump(*words, file=FILE, status=0):
    r = sh(TARE, "dump", *words, file)
    equal(r.returncode, status, r.stderr.decode())
    return r.stdout.decode()


def fields(line):
    return {k: v.strip('"') for k, v in re.findall(r'(\w+)=("[^"]*"|\S+)', line)}


def records(kind, file=FILE):
    return [fields(line) for line in dump("-r", kind, file=file).splitlines() if line.startswith("@")]


def perf(*words, file=FILE):
    if not shutil.which("perf"):
        skip("no perf here")
    r = sh("perf", *words, "-i", file)
    equal(r.returncode, 0, r.stderr.decode())
    return r.stdout.decode()


def by_perf(file=FILE):
    """(pid, tid, cpu, ns, event, ip) of each sample, sorted."""
    rows = re.findall(r"^\s*(\d+)/(\d+)\s+\[(\d+)\]\s+([\d.]+):\s+(?:\d+\s+)?(\S+):\s+([0-9a-f]+)",
                      perf("script", "-F", "pid,tid,cpu,time,event,ip", "--ns", "-G", file=file), re.M)
    return sorted((int(p), int(t), int(c), s, e, int(ip, 16)) for p, t, c, s, e, ip in rows)


@test
def without_an_event():
    for words in ((), ("-g",), ("--call-graph", "dwarf")):
        said = record(*words, "-F", "5000", "--", *WORK, status=5)
        true(len(records("SAMPLE")) > 20, f"{words}: {said}")


def by_tare(file=FILE):
    return sorted((int(s["pid"]), int(s["tid"]), int(s["cpu"]), s["time"], s["event"], int(s["ip"], 16))
                  for s in records("sample", file=file))


@test
def threads_forks_and_a_library():
    """The file tells of all of them, and perf reads every sample as it stands."""
    err = record("-e", "cpu-clock:u", "-e", "page-faults:u", "-F", "2000", "--", *WORK, status=5)
    got = by_tare()
    true(len(got) > 50, f"{len(got)} samples; {err}")
    equal(got, by_perf(), "samples")
    equal(len({g[0] for g in got}), 2, "two processes")
    equal(len({g[1] for g in got}), 3, "three threads")
    equal({g[4] for g in got}, {"cpu-clock:u", "page-faults:u"})
    maps = {m["file"] for m in records("mmap2")}
    true(any("libm.so.6" in m or "libm-" in m for m in maps), f"the late library in {maps}")
    equal(len(records("fork")), 2)
    equal(len(records("exit")), 3)
    true(re.search(r"tare record: [\d,]+ samples in ", err) and "\n  none lost\n" in err, err)
    n = sum(g[4] == "cpu-clock:u" for g in got)
    true(f"\n  {n} of cpu-clock:u: a share of 10 % is known to +- {196 * (0.09 / n) ** 0.5:.1f} points (95 %)\n" in err or n < 40, err)


@test
def what_perf_reports_of_it():
    record("-g", "-e", "cpu-clock", "-F", "2000", "--", *WORK, status=5)
    head = perf("report", "--header-only")
    for wanted in ("# arch : ", "# cpudesc : ", "# cmdline : ", "# event : name = cpu-clock", "CPU_TOPOLOGY", "pmu mappings",
                   "# time of first sample", "clockid: monotonic"):
        true(wanted in head, f"{wanted} in\n{head}")
    ids = perf("buildid-list")
    python = WORK[0]
    true(any(python in line or "libpython" in line for line in ids.splitlines()), ids)
    n = len(by_tare())
    total = re.search(r"# Samples: (\d+)", perf("report", "--stdio", "-g", "none"))
    true(total and int(total[1]) == n, f"{total} {n}")


@test
def compressed_and_piped_they_are_the_same_to_perf():
    for options in (["-z"], ["--compression-level=19"], ["-z", "-o", "-"], ["-o", "-"])[0 if has_zstd() else 3:]:
        r = sh(TARE, "record", "-q", "-o", FILE, "-e", "cpu-clock:u", "-F", "2000", *options, "--", *WORK)
        equal(r.returncode, 5, r.stderr.decode())
        equal(r.stderr, b"")
        if "-" in options:
            Path(FILE).write_bytes(r.stdout)
        equal(b"COMPRESSED" in dump("--counts").encode(), "-z" in options or options[0].startswith("--c"))
        got = by_tare()
        true(len(got) > 50, f"{len(got)} samples with {options}")
        if "-" in options:
            if shutil.which("perf"):
                with open(FILE, "rb") as f:
                    r = subprocess.run(["perf", "script", "-i", "-", "-F", "ip", "-G"], stdin=f, capture_output=True, env=ENV)
                equal((r.returncode, len(r.stdout.split())), (0, len(got)), r.stderr.decode()[:400])
        else:
            equal(got, by_perf(), str(options))


@test
def a_period_is_kept_to_the_event():
    """Faults that are made: a sample every 10 of them, nothing scaled, nothing lost."""
    err = record("-e", "page-faults:u", "-c", "1", "--", *WORK, status=5)
    every = len(by_tare())
    true("none lost; every event was sampled, so shares are exact\n" in err, err)
    record("-e", "page-faults:u", "-c", "10", "--", *WORK, status=5)
    per_thread = {}
    for s in by_tare():
        per_thread[s[1]] = per_thread.get(s[1], 0) + 1
    true(abs(sum(per_thread.values()) * 10 - every) <= every / 10 + 60, f"{per_thread} of {every}; {err}")


@test
def a_clock_goes_no_faster_than_its_timer():
    for event in ("cpu-clock", "task-clock"):
        said = record("-e", event, "-c", "1000", *A_THOUSAND)
        true(f"{event}: a sample every 10 us, not every 1000 ns" in said, said)
        d = json.loads(sh(TARE, "report", "--format", "json", FILE).stdout)
        true(int(d["events"][0]["samples"]) > 500, said)
        equal(int(d["events"][0]["amount"]), 10000 * int(d["events"][0]["samples"]), "each stands for 10 us")
        equal(d["quality"]["clock_too_fast"], False, "and the file says so")
    true("not every" not in record("-e", "cpu-clock", "-c", "10000", *A_THOUSAND), "10 us can be")
    out = sh(TARE, "windows", "--every", "9999:cpu-clock", "-e", "page-faults", "--", "true")
    equal(out.returncode, 125, out.stderr.decode())
    true("do not support windows of less than 10 us" in out.stderr.decode(), out.stderr.decode())


@test
def another_tool_asked_a_clock_for_too_much():
    record("-e", "cpu-clock", "-c", "10000", *A_THOUSAND)
    raw = open(FILE, "rb").read()
    each, attrs, size = struct.unpack_from("<QQQ", raw, 16)
    at, = [a + 16 for a in range(attrs, attrs + size, each) if struct.unpack_from("<Q", raw, a + 16)[0] == 10000]  # its period
    fast = FILE + ".fast"
    with open(fast, "wb") as f:
        f.write(raw[:at] + struct.pack("<Q", 1000) + raw[at + 8:])
    note = "each sample represents more time than is shown here"
    true(note in sh(TARE, "report", fast).stdout.decode(), "said")
    true(note not in sh(TARE, "report", FILE).stdout.decode(), "only where it is so")
    equal(json.loads(sh(TARE, "report", "--format", "json", fast).stdout)["quality"]["clock_too_fast"], True)


@test
def group_members_are_in_each_sample():
    record("-i", "-e", "{task-clock,page-faults:u}:S", "-c", "1000000", "--", *WORK, status=5)
    values = {}
    event = None
    for line in dump("-r", "sample").splitlines():
        m = re.match(r'\s+value (\d+) .*event="([^"]+)"', line)
        if line.startswith("@"):
            equal(fields(line)["event"], "task-clock")
        elif m:
            event = m[2]
            values.setdefault(event, []).append(int(m[1]))
    equal(set(values), {"task-clock", "page-faults:u"})
    equal(len(values["task-clock"]), len(values["page-faults:u"]))
    equal(event, "page-faults:u", "in the order of the group")


@test
def call_graphs_by_frame_pointers_and_by_dwarf_agree():
    """A C program built both ways: the same functions call each other."""
    source = os.path.join(ROOM.name, "calls.c")
    if not shutil.which("cc") or not shutil.which("perf"):
        skip("no compiler, or no perf")
    Path(source).write_text("""
        volatile long sink;
        __attribute__((noinline)) void leaf(long n) { for (long i = 0; i < n; i++) sink += i; }
        __attribute__((noinline)) void middle(long n) { leaf(n); sink++; }
        __attribute__((noinline)) void outer(long n) { middle(n); sink++; }
        int main(void) { for (int i = 0; i < 40; i++) outer(2000000); return 0; }
    """)
    for flags, how in ((["-O0", "-fno-omit-frame-pointer"], "fp"), (["-O1", "-fomit-frame-pointer"], "dwarf")):
        program = source[:-2] + "-" + how
        built = sh("cc", "-g", "-fno-optimize-sibling-calls", *flags, "-o", program, source)
        equal(built.returncode, 0, built.stderr.decode())
        record("-e", "task-clock:u", "-F", "1000", "--call-graph", how, "--", program)
        stacks = [re.findall(r"^\s*[0-9a-f]+ (\w+)", block, re.M)
                  for block in perf("script", "-F", "ip,sym").strip().split("\n\n")]
        inside = [s[:4] for s in stacks if s and s[0] == "leaf"]
        true(len(inside) > 20, f"{how}: {stacks[:5]}")
        right = sum(s == ["leaf", "middle", "outer", "main"] for s in inside)
        true(right >= len(inside) - 1, f"{how}: {right} of {len(inside)}; {[s for s in inside if s[1:2] != ['middle']][:3]}")


@test
def tracepoints_are_told_with_their_fields():
    """Each occurrence is a sample; perf prints it by what the file itself says of its fields: as file, compressed and piped."""
    if not os.access("/sys/kernel/tracing/events/sched/sched_process_exec/format", os.R_OK):
        skip("this user may not read tracefs here")
    for options in ([], ["-z"], ["-o", "-"]):
        r = sh(TARE, "record", "-o", FILE, "-e", "sched:sched_process_exec,sched:sched_process_exit", "-e", "task:task_newtask", *options,
               "--", "sh", "-c", "env true & wait; exec env false")
        if r.returncode == 125 and b"built without zstd" in r.stderr:
            continue
        equal(r.returncode, 1, r.stderr.decode())
        if "-" in options:
            Path(FILE).write_bytes(r.stdout)
        said = perf("script", "-F", "pid,event,trace")
        execs = re.findall(r"^\s*(\d+)\s+sched:sched_process_exec:\s+filename=(\S+) pid=(\d+) old_pid=(\d+)$", said, re.M)
        equal([os.path.basename(e[1]) for e in execs], ["sh", "env", "true", "env", "false"], said)
        true(all(e[0] == e[2] == e[3] for e in execs), said)
        equal(len(re.findall(r"task:task_newtask:\s+pid=\d+ comm=sh clone_flags=", said)), 1, said)
        equal(len(re.findall(r"sched:sched_process_exit:\s+comm=", said)), 2, said)
        equal(len(by_tare()), 5 + 2 + 1)
        if "-" not in options:
            true("# event : name = sched:sched_process_exec" in perf("report", "--header-only"), "event_desc")


@test
def a_running_process_and_the_whole_machine():
    p = subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"])
    try:
        time.sleep(0.3)
        record("-e", "cpu-clock:u", "-F", "500", "-p", str(p.pid), "--timeout", "1000")
        got = by_tare()
        true(len(got) > 10, f"{len(got)} samples")
        equal({g[0] for g in got}, {p.pid})
        true(any("python" in m["file"] for m in records("mmap2")), "its mappings")
        record("-t", str(p.pid), "-D", "100", "--timeout", "1000", "-e", "cpu-clock:u")
        true(by_tare(), "samples of a thread, after a while")
        if os.geteuid() == 0:
            record("-a", "-e", "cpu-clock", "-F", "200", "--timeout", "1000")
            true(p.pid in {g[0] for g in by_tare()}, "the process in the whole machine")
            record("-C", "0", "-e", "cpu-clock", "-F", "500", "--timeout", "200")
            equal({g[2] for g in by_tare()} - {0}, set())
    finally:
        p.kill()
        p.wait()


def command_worked(p, seconds):
    """Wait until the command that this tare runs has had so much of a processor."""
    for _ in range(6000):
        used = 0
        for child in children(p.pid):
            with contextlib.suppress(OSError):
                used += sum(map(int, Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))
        if used >= seconds * os.sysconf("SC_CLK_TCK"):
            return
        time.sleep(0.01)
    true(False, "the command does not run")


@test
def ends_at_a_size():
    for words in ([], ["-z"]):
        err = record("-e", "cpu-clock:u", "-c", "50000", *words, "--max-size", "64K", "--", sys.executable, "-S", "-c", "while True: pass")
        true("ended at --max-size: later samples are missing" in err, err)
        true(os.path.getsize(FILE) >= 64 << 10, f"{os.path.getsize(FILE)} bytes")
        equal(len(by_tare()), int(re.search(r"([\d,]+) samples in", err).group(1).replace(",", "")), "whole")
    r = sh(TARE, "record", "-q", "-o", "-", "-e", "cpu-clock:u", "-c", "50000", "--max-size", "64K", "--", sys.executable, "-S", "-c", "while True: pass")
    equal((r.returncode, r.stderr), (0, b""), "what was asked for")
    true(len(r.stdout) >= 64 << 10, f"{len(r.stdout)} bytes through a pipe")


@test
def a_command_that_writes_while_the_recording_goes_to_standard_output():
    """Its standard output is standard error, so that nothing but records is in the stream."""
    loud = ["sh", "-c", "for i in 1 2 3; do echo noise $i; seq 20000 | tail -1; done"]
    ways = [["-e", "cpu-clock:u", "-F", "5000"]]
    if sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", "true").returncode == 0:
        ways.append(["-e", "instructions:u", "--engine", "exact"])
    for words in ways:
        for target in ("-", "/dev/stdout", "/dev/fd/1"):
            r = sh(TARE, "record", "-o", target, *words, "--", *loud)
            said = r.stderr.decode()
            equal((r.returncode, said.count("noise"), said.count("20000\n"), b"noise 1\n" in r.stdout), (0, 3, 3, False), f"{words} {target}")
            read = sh(TARE, "dump", "-r", "sample", "-", input=r.stdout)
            equal((read.returncode, read.stderr), (0, b""), "what dump says of the stream")
            n = int(re.search(r"([\d,]+) samples in ", said).group(1).replace(",", ""))
            equal(sum(line.startswith(b"@") for line in read.stdout.splitlines()), n, f"samples; {said}")
            true(n > 0, said)
    r = subprocess.run(["sh", "-c", f"{TARE} record -q -o - -e cpu-clock:u -- echo noise 2>&- | {TARE} dump -"], capture_output=True, env=ENV, timeout=100)
    true(b"COMM" in r.stdout and b"noise\n" not in r.stdout and not r.stderr, f"without standard error: {r.stderr}")


@test
def without_perf_event_open():
    """As in most containers: tare samples with the exact engine and says so; it refuses what the engine cannot do, with both reasons."""
    if sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", "true").returncode:
        skip("no exact engine here")
    command = ["sh", "-c", "seq 30000 | tail -1; exit 3"]

    def there(how, *words):
        r = sh(FILTERED, how, TARE, "record", "-o", FILE, *words)
        return r.returncode, r.stderr.decode()

    for how in ("container", "EPERM", "ENOSYS"):
        for words in ([], ["-g"], ["-c", "5000"]):
            status, said = there(how, *words, "--", *command)
            equal(status, 3, f"the command's own: {how} {words} {said}")
            true("tare record: perf_event_open is refused here (" in said and "the exact engine sampled instructions:u instead\n" in said, said)
            true("cpu-clock was sampled" not in said, said)
            equal({s["event"] for s in records("SAMPLE")}, {"instructions:u"})
            true(len(records("SAMPLE")) > 5, said)
    equal(there("container", "-q", "--", "true"), (0, ""), "quietly")
    for words in (["-F", "1000", "--", "true"], ["-a", "--", "true"], ["-b", "--", "true"]):
        status, said = there("container", *words)
        true(status == 125 and "Operation not permitted\n" in said and f"it cannot with {words[0]}; without perf_event_open: tare record --engine exact" in said, said)
        equal(said.count("\n"), 2, said)
    for words in (["-e", "cpu-clock", "--", "true"], ["--engine", "perf", "--", "true"], ["-p", str(os.getpid())]):
        status, said = there("container", *words)
        true(status == 125 and "`tare doctor` tells which\n" in said, said)


@test
def signals_end_it_with_a_whole_file():
    for number in (signal.SIGINT, signal.SIGTERM):
        p = subprocess.Popen([TARE, "record", "-o", FILE, "-e", "cpu-clock:u", "--", sys.executable, "-S", "-c", "while True: pass"],
                             stderr=subprocess.PIPE, env=ENV)
        command_worked(p, 0.3)
        p.send_signal(number)
        err = p.communicate(timeout=20)[1].decode()
        true("samples in" in err, err)
        true(p.returncode in (128 + number, 1), f"{p.returncode}; {err}")
        true(len(by_tare()) > 20, err)
        equal(by_tare(), by_perf())


@test
def a_signal_in_the_first_moment_leaves_no_file_without_a_name():
    """Nothing, or a recording: tare is ended, or ends the command."""
    room = Path(ROOM.name, "first_moment")
    kinds = [["record", "-e", "cpu-clock"], ["record", "--alloc", "-e", "cpu-clock"], ["regions"], ["stat", "-I", "100", "-e", "page-faults"]]
    if not sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", "true").returncode:
        kinds.append(["record", "--engine", "exact", "-c", "1000"])
    for kind in kinds:
        for i in range(6):
            shutil.rmtree(room, ignore_errors=True)
            room.mkdir()
            number = (signal.SIGINT, signal.SIGTERM)[i % 2]
            p = subprocess.Popen([TARE, *kind, "-o", room / "f", "--", "sleep", "9"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 env=ENV, start_new_session=True)
            time.sleep(i / 1500)
            os.killpg(p.pid, number)
            true(p.wait(20) in (-number, 128 + number), f"{kind}: {p.returncode}")
            left = {f.name for f in room.iterdir()}
            true(left <= ({"f", "f.alloc"} if p.returncode > 0 else set()), f"{kind}: {left}, {p.returncode}")


def has_zstd():
    return "built without zstd" not in sh(TARE, "record", "-z", "-o", FILE, "-e", "cpu-clock:u", "--", "true").stderr.decode()


def killed(*options):
    """A recording whose recorder was killed once there were samples in it."""
    with tempfile.TemporaryDirectory(dir=ROOM.name) as room:
        part = Path(room, "f.part")
        p = subprocess.Popen([TARE, "record", "-o", part.with_suffix(""), *options, "-e", "cpu-clock:u", "-e", "page-faults:u", "-F", "2000", "--", *busy(60)],
                             stderr=subprocess.DEVNULL, env=ENV, start_new_session=True)
        command_worked(p, 0.8)
        p.kill()
        p.wait()
        os.killpg(p.pid, signal.SIGKILL)  # the command
        part.rename(FILE)


@test
def a_killed_recorder_leaves_a_readable_file():
    for options in ([], ["-z"])[:1 + has_zstd()]:
        killed(*options)
        got = by_tare()
        true(len(got) > 100, f"{len(got)} samples")
        equal({g[4] for g in got} - {"cpu-clock:u", "page-faults:u"}, set(), "names without features")
        equal(by_perf(), got, str(options))


@test
def a_whole_recording_outlives_broken_ones():
    """The one before is FILE.old; where FILE broke off, too, it stays that."""
    room = Path(ROOM.name, "outlives")
    room.mkdir()
    file, old = room / "good.data", room / "good.data.old"
    spin = ["-e", "cpu-clock:u", "-F", "5000", "--", *busy(0.5)]
    record("-q", *spin, file=file)
    good = file.read_bytes()
    for most in (20000, 24000):
        said = sh(TARE, "record", "-o", file, *spin, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))  # noqa: B023
        true(said.returncode == 125 and b"broke off" in said.stderr and file.read_bytes() != good, said.stderr.decode())
        equal(old.read_bytes() == good, True, "the whole one")
    broken = file.read_bytes()
    said = sh(TARE, "record", "-o", file, *spin, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (320, 320))).stderr.decode()
    true("0 samples in" in said and "nothing was saved" in said and "can be read" not in said and ".part" not in said, said)
    equal((sorted(f.name for f in room.iterdir()), file.read_bytes() == broken), ([file.name, old.name], True), said)
    record("-q", *spin, file=file)
    equal(old.read_bytes() == good, True, "a broken one takes no whole one's place")
    record("-q", *spin, file=file)
    equal(old.read_bytes() == good, False, "a whole one does")


@test
def every_output_says_that_it_broke_off():
    """In a place of its own where the output has one, else on standard error."""
    record("-q", "-e", "cpu-clock:u", "-F", "5000", "--", *busy(0.2))
    whole = Path(FILE).read_bytes()
    said = "the recording broke off: its recorder did not finish, and its end may be missing"
    page = Path(ROOM.name, "page.html")
    inside = (["report"], ["report", "--sort", "comm"], ["annotate", "*"])
    fields = (["report", "--format", "json"], ["annotate", "--format", "json", "*"])
    beside = (["report", "--folded"], ["report", "--format", "csv"], ["report", "--format", "csv", "--diff", FILE], ["report", "--folded", "--diff", FILE], ["annotate", "--format", "csv", "*"],
              ["dump"], ["dump", "--header"], *(["export", "-f", f, "-o", "-"] for f in ("folded", "speedscope", "csv", "firefox", "perfetto", "pprof")))
    pages = (["report", "--html", page], ["annotate", "*", "--html", page], ["export", "-o", page])
    with_pages = sh(TARE, "report", "--html", page, FILE).returncode == 0
    for broke_off in (False, True):
        Path(FILE).write_bytes(whole[:72] + bytes(32) + whole[104:] if broke_off else whole)  # as written when nothing follows the records
        file = lambda words: ["-i", FILE] if words[0] == "annotate" else [FILE]  # noqa: E731
        for words in inside:
            r = sh(TARE, *words, *file(words))
            equal((r.returncode, r.stdout.decode().count(said), r.stderr), (0, broke_off, b""), str(words))
        for words in fields:
            d = json.loads(sh(TARE, *words, *file(words)).stdout)
            equal(d.get("quality", d)["broke_off"], broke_off, str(words))
        for words in beside:
            r = sh(TARE, *words, *file(words))
            equal((r.returncode, r.stderr.decode()), (0, f"tare {words[0]}: note: {FILE}: {said}\n" * broke_off * (2 if "--diff" in words else 1)), str(words))
        for words in pages if with_pages else ():
            r = sh(TARE, *words, *file(words))
            equal((r.returncode, re.search('"broke_off": ?true', page.read_text()) is not None), (0, broke_off), f"{words} {r.stderr}")


@test
def what_found_room_is_told_and_read():
    """A file that may grow no further, as on a full disk: told are the samples that are in it, for every reader."""
    for most, options in ((40000, []), (60000, ["--call-graph", "dwarf"]), (50000, ["-z", "--call-graph", "dwarf"]))[:2 + has_zstd()]:
        def small():
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        out = sh(TARE, "record", *options, "-o", FILE, "-e", "cpu-clock:u", "-F", "5000", "--", *busy(1), preexec_fn=small)
        said = out.stderr.decode()
        equal(out.returncode, 125, said)
        told = int(re.search(r"([\d,]+) samples? in", said).group(1).replace(",", ""))
        true("broke off" in said and told > 0, said)
        equal(len(by_tare()), told, said)
        equal(len(by_perf()), told, said)
        true("% of the time" not in said, said)
        true(json.loads(sh(TARE, "report", "--format", "json", FILE).stdout)["quality"]["broke_off"], "it says so itself")
        diff = json.loads(sh(TARE, "report", "--format", "json", "--diff", FILE, FILE).stdout)
        true(diff["before"]["broke_off"] and diff["after"]["broke_off"], "and where it is compared")
        equal(sh(TARE, "report", "--diff", FILE, FILE).stdout.count(b"broke off"), 2)


@test
def a_recording_without_a_sample_takes_no_name():
    """Nothing found room: the recording before is there still, and is the one of its name."""
    record("-q", "-e", "cpu-clock:u", "--", "true")
    before = Path(FILE).read_bytes()
    for _ in range(2):
        out = sh(TARE, "record", "-o", FILE, "-e", "cpu-clock:u", "-F", "5000", "--call-graph", "dwarf,32768", "--", sys.executable, "-S", "-c", "sum(range(3000000))",
                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (12000, 12000)))
        equal(out.returncode, 125, out.stderr.decode())
        true(b"0 samples" in out.stderr and b"nothing was saved" in out.stderr, out.stderr.decode())
        equal(Path(FILE).read_bytes(), before)
    true(not os.path.exists(FILE + ".part"), "nothing is left")


@test
def files_of_others_are_left_alone():
    room = Path(ROOM.name, "others")
    room.mkdir()
    for i in range(1, 5):
        (room / f"book.part-{i}").write_text(f"chapter {i}\n")
    record("-q", "-e", "cpu-clock:u", "--", "true")
    (room / "book.part").write_bytes(Path(FILE).read_bytes())  # a whole one
    said = record("-e", "cpu-clock:u", "--", "true", file=room / "book")
    true("killed" not in said, said)
    equal(sorted(f.name for f in room.iterdir()), ["book", "book.part"] + [f"book.part-{i}" for i in range(1, 5)])
    equal(sh(TARE, "report", room / "book").stderr, b"")


@test
def what_a_killed_recorder_left_is_named():
    room = Path(ROOM.name, "left")
    room.mkdir()
    file, part, second = room / "x.data", room / "x.data.part", room / "x.data.part-2"
    spin = [sys.executable, "-S", "-c", "import time\ne = time.time() + 60\nwhile time.time() < e: pass"]

    def recorder():
        """One that is under way, and has something in its file."""
        before = {f.name for f in room.iterdir()}
        p = subprocess.Popen([TARE, "record", "-q", "-o", file, "-e", "cpu-clock:u", "-F", "2000", "--", *spin], stderr=subprocess.DEVNULL, env=ENV,
                             start_new_session=True)
        for _ in range(3000):
            if any(".part" in f.name and f.name not in before and f.stat().st_size > 5000 for f in room.iterdir()):
                return p
            time.sleep(0.01)
        kill(p)
        true(False, "nothing was recorded in 30 s")

    def kill(p):
        p.kill()
        p.wait()
        os.killpg(p.pid, signal.SIGKILL)  # what it recorded

    record("-q", "-e", "cpu-clock:u", "--", "true", file=file)
    kill(recorder())
    for words in (["report"], ["dump", "--header"], ["export", "-f", "folded"]):
        r = sh(TARE, *words, file)
        equal((r.returncode, r.stderr.decode()), (0, f"tare {words[0]}: note: {part} is newer: a recording whose recorder was killed\n"))
    r = sh(TARE, "report", part)
    # 1: the last record is cut off, and stderr says so.
    true(b"the recording broke off" in r.stdout and (r.returncode == 0 or r.returncode == 1 and b"the part before the damage was read" in r.stderr), f"{r.returncode} {r.stderr} {r.stdout.decode()[-600:]}")
    true(json.loads(sh(TARE, "report", "--format", "json", part).stdout)["quality"]["broke_off"], "in JSON")
    true(not json.loads(sh(TARE, "report", "--format", "json", file).stdout)["quality"]["broke_off"], "the one before did not")
    os.rename(file, room / "away")
    for words in (["report"], ["dump"]):
        r = sh(TARE, *words, file)
        true(r.returncode == 125 and f"{part} is there: a recording whose recorder was killed" in r.stderr.decode(), r.stderr.decode())
    kill(recorder())
    said = sh(TARE, "report", file).stderr.decode()
    true(f"{second} is there: a recording whose recorder was killed; and 1 more" in said, said)
    alive = recorder()
    equal(sorted(f.name for f in room.iterdir()), ["away", "x.data.part", "x.data.part-2", "x.data.part-3"])
    newest = second.read_bytes()
    said = record("-e", "cpu-clock:u", "--", "true", file=file)
    true(f"{second} exists, too: the recording of a killed recorder, the newest of 2 (" in said, said)
    equal(sorted(f.name for f in room.iterdir()), ["away", "x.data", "x.data.part", "x.data.part-2", "x.data.part-3"], "none is removed")
    equal(second.read_bytes(), newest)
    equal(sh(TARE, "report", file).stderr, b"", "nothing newer that is left")
    os.killpg(alive.pid, signal.SIGINT)
    alive.wait()
    equal(sorted(f.name for f in room.iterdir()), ["away", "x.data", "x.data.old", "x.data.part", "x.data.part-2"])


@test
def the_longest_names():
    """What lies beside a file has a shorter name where there is no room for more; of two names that begin alike each has its own."""
    room = Path(ROOM.name, "long")
    room.mkdir()
    for file in (room / ("n" * 255), room / ("n" * 254 + "m"), room / ("\u00e9" * 126)):
        for _ in range(2):
            record("-e", "cpu-clock:u", "--", "true", file=file)
        true("sample" in dump("--header", file=file) or file.stat().st_size > 100, "it is there")
    names = sorted(p.name for p in room.iterdir())
    olds = [n for n in names if n.endswith(".old")]
    equal((len(names), len(olds)), (6, 3), str(names))
    true(all(len(n.encode()) <= 255 for n in names) and len(set(olds)) == 3, "each has its own .old")


def exact_or_skip():
    if sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", "true").returncode:
        skip("no exact engine here")


@test
def exact_samples_are_the_same_in_every_run():
    """Without a PMU `instructions` is the exact engine's: count / period samples, the same addresses each time."""
    exact_or_skip()
    # No clock, as python reads at its start: what the kernel's clock code takes depends on the time. No pid, of which a shell makes digits.
    command = ["seq", "200000"]
    runs = []
    for _ in range(2):
        r = sh(TARE, "record", "--engine", "exact", "-c", "20011", "-g", "-o", FILE, "--", *command)
        equal(r.returncode, 0, r.stderr.decode())
        runs.append([(s["ip"], s["event"]) for s in records("sample")])
    true(len(runs[0]) > 200, str(len(runs[0])))
    true(runs[0] == runs[1], "the same addresses")
    equal({s[1] for s in runs[0]}, {"instructions:u"})
    r = sh(TARE, "stat", "--engine", "exact", "--format", "json", "-e", "instructions:u", "--", *command)
    whole = json.loads(r.stderr)["events"][0]["value"]
    true(len(runs[0]) - whole // 20011 in (0, 1), f"one in every 20011 of {whole}, maybe one in what is left of them: {len(runs[0])}")
    err = record("--engine", "exact", "-c", "20011", "--", "true")
    true("the same in every run" in err, err)


@test
def a_recording_names_the_cpu_model():
    """The one that --deterministic gave the command; a comparison of two models says that they are two."""
    exact_or_skip()
    a, b = (os.path.join(ROOM.name, name) for name in ("v2.data", "host.data"))
    for model, file in (("v2", a), ("host", b)):
        err = record("--engine", "exact", f"--deterministic=isa={model},cpus,aslr", "-c", "1000", "--", "seq", "1000", file=file)
        true(f"tare record: fixed: aslr, isa={'x86-64-v2' if model == 'v2' else model}, cpus=1\n" in err, err)
    report = (TARE, "report", "--format", "json")
    equal(json.loads(sh(*report, a).stdout)["recorded"]["cpu"], "x86-64-v2")
    true("9 CPUID" not in dump("--header", file=a), "its family and stepping would be of this machine")
    d = json.loads(sh(*report, "--diff", a, b).stdout)
    equal((d["before"]["cpu"], d["after"]["cpu"]), ("x86-64-v2", "host"))
    text = sh(TARE, "report", "--diff", a, b).stdout.decode()
    true(" The CPUs differ: x86-64-v2 before, host after." in text, text)
    true("The CPUs differ" not in sh(TARE, "report", "--diff", a, a).stdout.decode(), "one CPU")
    piped = sh(TARE, "record", "--engine", "exact", "--deterministic=isa=v2", "-c", "1000", "-o", "-", "--", "true")
    Path(ROOM.name, "piped").write_bytes(piped.stdout)
    equal(json.loads(sh(*report, "piped").stdout)["recorded"]["cpu"], "x86-64-v2", "in a pipe, which has it before the first sample")
    record("--engine", "exact", "-c", "1000", "--", "true", file=b)
    true(json.loads(sh(*report, b).stdout)["recorded"]["cpu"] not in ("host", "x86-64-v2", "x86-64-v3"), "without the option it is this machine's")
    for words in (["--deterministic", "--", "true"], ["--engine", "exact", "--deterministic", "-a"]):
        true("--deterministic needs a command and --engine exact" in record(*words, status=125), words)
    true("there is no CPU model 'v9'" in record("--engine", "exact", "--deterministic=isa=v9", "--", "true", status=125), "before the command begins")


@test
def what_never_began_is_no_event_too_rare():
    exact_or_skip()
    r = sh(TARE, "record", "--engine", "exact", "-o", FILE, "--", ended_within_exec(Path(ROOM.name, "unbegun")))
    equal(r.returncode, 139, "as by itself")
    err = r.stderr.decode()
    true("; 0 in total\n  the command was ended by SIGSEGV before its first instruction\n" in err and "often enough" not in err, err)
    equal(list(records("sample")), [])


@test
def what_the_engine_did_not_count_is_said():
    exact_or_skip()
    err = record("--engine", "exact", "-c", "1000", "--", "sh", "-c", refused_by_the_engine(Path(ROOM.name, "far")) + "; exit 3", status=3)
    true("the same in every run" not in err and "in total" not in err and "not all of the command; " in err, err)
    true(re.search(r"  Without far, process \d+, after the exact engine ended it: a far ", err), err)
    true(len(list(records("sample"))) > 20, err)


@test
def without_its_supervisor_a_recording_ends_with_the_cause():
    """Whenever that is killed: the command goes on to its own end, and waits for no answer that does not come."""
    exact_or_skip()
    for i in range(8):
        p = subprocess.Popen([TARE, "record", "--engine", "exact", "-c", "1000", "-o", FILE, "--", "cat"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env=ENV)
        supervisor = None
        while not supervisor and p.poll() is None:
            supervisor = next((c for c in children(p.pid) if children(c)), None)
        true(supervisor, "the command before its end")
        time.sleep(i / 4000)
        os.kill(supervisor, signal.SIGKILL)
        try:
            err = p.communicate(timeout=20)[1]
        except subprocess.TimeoutExpired:
            p.kill()
            raise
        equal(p.returncode, 125, err)
        true(f"the counts are lost: their supervisor, process {supervisor}, was ended by signal 9" in err, err)


def compiled(name, source, *options):
    if not shutil.which("gcc"):
        skip("no gcc")
    out = str(Path(ROOM.name, name))
    subprocess.run(["gcc", "-O1", "-g", "-x", "c", "-", "-o", out, *options], input=source, text=True, check=True)
    return out


# A report of samples, although the recording says what was counted: a filter by command has samples alone.
BY_SAMPLES = ("--filter", "comm=*")

# A turn of the loop is 2 * (5 * 10000 + 2) - 1 instructions: 100,003, which is the period unless one is given.
TURNS = r"""
#define LOOP(n) __asm__ volatile("1: dec %0\n nop\n nop\n nop\n jnz 1b" : "+r"(n) : : "cc")
__attribute__((noinline)) void first(unsigned long n) { LOOP(n); }
__attribute__((noinline)) void second(unsigned long n) { LOOP(n); }
int main(void) { for (int i = 0; i < 3000; i++) { first(10000); second(10000); } return 0; }
"""


@test
def no_loop_is_in_step_with_exact_samples():
    exact_or_skip()
    turns = compiled("turns", TURNS)
    for period in (100003, 50002, 9973):
        err = record("--engine", "exact", "-c", str(period), "--", turns)
        true("fixed period" not in err and "in step" not in err, err)
        r = sh(TARE, "report", "--format", "json", *BY_SAMPLES, FILE, text=True)
        d = json.loads(r.stdout)
        share = {x["function"]: (x["events"][0]["self"] / d["events"][0]["amount"], x["events"][0]["margin"]) for x in d["rows"]}
        true(all(abs(share[f][0] - 0.5) <= 3 * share[f][1] for f in ("first", "second")), f"-c {period}: half each, within three margins: {share}")
        equal(d["events"][0]["in_step"], False)
        r = sh(TARE, "stat", "--engine", "exact", "--format", "json", "-e", "instructions:u", "--", turns, text=True)
        equal(d["events"][0]["total"], json.loads(r.stderr)["events"][0]["value"], "the file has the count")
    err = record("--engine", "exact", "--no-jitter", "--", turns)
    true("a loop that is in step with it" in err and "unless a loop is in step with the fixed period" in err, err)
    r = sh(TARE, "report", *BY_SAMPLES, FILE, text=True)
    true("unless a loop is in step with the fixed period" in r.stdout, r.stdout)
    err = record("--engine", "exact", "--no-jitter", "-c", "1", "--", "true")
    true("in step" not in err, err)
    piped = sh(TARE, "record", "-q", "--engine", "exact", "-o", "-", "--", turns)
    r = sh(TARE, "report", "--format", "json", "-", input=piped.stdout)
    equal([json.loads(r.stdout)["events"][0][k] for k in ("total", "in_step")], [None, False], "in a pipe")


# Of the leaf's turns 60 % are called by `two`. `two` also calls `one`; the leaf has no frame, the others have.
LEAF = r"""
#define LOOP(n) do { unsigned long k = (n); __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(k) : : "cc"); } while (0)
__attribute__((noinline)) void leaf(int n) { LOOP(n); }
__attribute__((noinline)) int one(int n) { leaf(n); return n + 1; }
__attribute__((noinline)) int two(int n) { leaf(3 * n); return one(n) + 1; }
int main(void) { volatile int s = 0; for (int i = 0; i < 2000; i++) { s += one(1000); s += two(1000); } return 0; }
"""
# Ways into and out of functions that a stack of calls would have to follow: longjmp over frames, a handler, a coroutine, a tail call.
WAYS = r"""
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>
#define LOOP(n) do { unsigned long k = (n); __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(k) : : "cc"); } while (0)
static jmp_buf back;
static ucontext_t outer, inner;
static char stack[65536];
__attribute__((noinline)) void leaf_jump(void) { LOOP(5000); }
__attribute__((noinline)) void jumps(int deep) { if (deep) jumps(deep - 1); leaf_jump(); longjmp(back, 1); }
__attribute__((noinline)) void leaf_signal(void) { LOOP(5000); }
__attribute__((noinline)) void handler(int s) { leaf_signal(); __asm__ volatile("" : : "r"(s)); }
__attribute__((noinline)) void leaf_fiber(void) { LOOP(5000); }
__attribute__((noinline)) void fiber(void) { for (;;) { leaf_fiber(); swapcontext(&inner, &outer); } }
__attribute__((noinline)) void leaf_tail(void) { LOOP(5000); }
__attribute__((noinline)) void tail(void) { __asm__ volatile("jmp leaf_tail_2"); }
__attribute__((noinline, used)) void leaf_tail_2(void) { LOOP(5000); }
__attribute__((noinline)) void calls_tail(void) { tail(); leaf_tail(); __asm__ volatile(""); }
int main(void) {
	signal(SIGUSR1, handler);
	getcontext(&inner);
	inner.uc_stack.ss_sp = stack;
	inner.uc_stack.ss_size = sizeof stack;
	makecontext(&inner, fiber, 0);
	for (int i = 0; i < 200; i++) {
		if (!setjmp(back))
			jumps(3);
		raise(SIGUSR1);
		swapcontext(&outer, &inner);
		calls_tail();
	}
	return 0;
}
"""


def callers_of(function, path=FILE):
    r = sh(TARE, "report", "--format", "json", "--callers", function, path)
    d = json.loads(r.stdout)
    equal(d["quality"]["leaf_callers_may_be_missing"], False, "the engine's stacks")
    return {c["function"]: c["amount"] / d["function"]["total"] for c in d["function"]["callers"]}


# Visits of 212 instructions with 11 branches, and of 201 with 151, by turns: a sample's period holds hundreds of each.
BRANCHES = r"""
__attribute__((noinline)) void few(unsigned long n) { __asm__ volatile("1:\n .rept 19\n nop\n .endr\n dec %0\n jnz 1b" : "+r"(n) : : "cc"); }
__attribute__((noinline)) void many(unsigned long n) { __asm__ volatile("1: dec %0\n jmp 2f\n2: jmp 3f\n3: jnz 1b" : "+r"(n) : : "cc"); }
int main(void) { for (int i = 0; i < 20000; i++) { few(10); many(50); } return 0; }
"""


@test
def ratios_are_those_of_the_function_itself():
    exact_or_skip()
    branches = compiled("branches", BRANCHES)
    formula = "exact/branches/ / exact/instructions/"
    # Each limit is six standard deviations or more: 4,000 samples of each function, of which one shows 0.5 or 1 branches an instruction.
    for period in ("1009", "101"):
        err = record("-e", "{exact/instructions/,exact/branches/}:S", "-c", period, "--", branches)
        true("spread" not in err, err)
        d = json.loads(sh(TARE, "report", "--format", "json", "--ratio", formula, *BY_SAMPLES, FILE).stdout)
        equal(d["ratio_mixed"], False)
        of = {x["function"]: x["ratio"] for x in d["rows"]}
        true(abs(of["few"] - 11 / 212) < 0.015 and abs(of["many"] - 151 / 201) < 0.03, f"-c {period}: {of['few']}, {of['many']}")
        amount, total = (d["events"][1][k] for k in ("amount", "total"))
        true(abs(amount - total) < 0.07 * total, f"-c {period}: the samples stand for {amount} branches of {total}")
        folded = sh(TARE, "report", "--folded", "--ratio", formula, *BY_SAMPLES, FILE, text=True).stdout
        of = {line.split()[0].split(";")[-1]: float(line.split()[-1]) for line in folded.splitlines() if not line.endswith("-")}
        true(abs(of["few"] - 11 / 212) < 0.015 and abs(of["many"] - 151 / 201) < 0.03, f"folded: {of['few']}, {of['many']}")
    err = record("-e", "{exact/branches/,exact/instructions/}:S", "-c", "5003", "--", branches)
    true("tare report and annotate have exact counts; at single samples, which filters and other tools take," in err, err)
    true("spread over the code between samples" in err, err)
    d = json.loads(sh(TARE, "report", "--format", "json", "--ratio", formula, *BY_SAMPLES, FILE).stdout)
    equal(d["ratio_mixed"], True)


# straight: 2,000,000 instructions, 20,000 branches. branchy: 1,000,000 and 750,000; 250,000 of them load.
PARTS = r"""
static long place;
__attribute__((noinline)) void straight(long n) { __asm__ volatile("1: .rept 98\n nop\n .endr\n dec %0\n jnz 1b" : "+r"(n) : : "cc"); }
__attribute__((noinline)) void branchy(long n) { __asm__ volatile("1: jmp 2f\n2: jmp 3f\n3: dec %0\n jnz 1b" : "+r"(n) : : "cc"); }
__attribute__((noinline)) void loads(long n) { __asm__ volatile("1: cmp %1, %0\n dec %0\n jnz 1b" : "+r"(n) : "m"(place) : "cc"); }
int main(void) { straight(20000); branchy(250000); loads(100000); return 0; }
"""
PARTS_COUNTED = {"instructions:u": {"straight": 2000000, "branchy": 1000000, "loads": 300000},
                 "branches:u": {"straight": 20000, "branchy": 750000, "loads": 100000},
                 "exact/loads,period=307/": {"loads": 100000}}
PARTS_PERIODS = {"instructions:u": 1009, "branches:u": 503, "exact/loads,period=307/": 307}


def samples_by_event(*words):
    record("--engine", "exact", *words)
    of = {}
    for s in records("sample"):
        of.setdefault(s["event"], []).append(s["ip"])
    return of


@test
def each_of_several_exact_events_has_its_own_samples():
    exact_or_skip()
    command = ["--", compiled("stretches", PARTS)]
    words = ["-e", "instructions/period=1009/u,branches:u,exact/loads,period=307/", "-c", "503"]
    several = samples_by_event(*words, *command)
    equal(samples_by_event(*words, *command), several, "the same in each run")
    equal(set(several), set(PARTS_PERIODS))
    for event, ips in several.items():
        asked = event.replace(",period=307", "")
        alone = samples_by_event("-e", asked, "-c", str(PARTS_PERIODS[event]), *command)
        equal(alone, {asked: ips}, f"{event}: the samples that it has alone")
    record("--engine", "exact", *words, *command)
    stat = sh(TARE, "stat", "--engine", "exact", "--format", "json", "-e", "{instructions:u,branches:u,exact/loads/}", *command)
    totals = dict(zip(PARTS_PERIODS, (e["value"] for e in json.loads(stat.stderr)["events"])))
    for event, period in PARTS_PERIODS.items():
        true(len(several[event]) - totals[event] // period in (0, 1), f"{event}: {len(several[event])} samples, {totals[event]} events")
        rows = json.loads(sh(TARE, "report", *BY_SAMPLES, "-e", event, "--format", "json", FILE).stdout)
        column = [e["event"] for e in rows["events"]].index(event)
        got = {r["function"]: r["events"][column]["self"] for r in rows["rows"]}
        for function, counted in PARTS_COUNTED[event].items():  # all in one go: only the first and the last run of a period may be shared
            true(abs(got[function] - counted) <= 2 * period + 20, f"{event} in {function}: {got[function]} of {counted}")
    fixed = samples_by_event("--no-jitter", *words, *command)
    equal({e: len(ips) for e, ips in fixed.items()}, {e: totals[e] // period for e, period in PARTS_PERIODS.items()}, "samples * period + rest is all")


@test
def readers_tell_several_exact_events_apart():
    exact_or_skip()
    several = samples_by_event("-e", "{instructions:u,branches:u,exact/loads/}", "-c", "503", "--", compiled("stretches", PARTS))
    for event, ips in several.items():
        shown = json.loads(sh(TARE, "annotate", "-i", FILE, "--format", "json", "-e", event, "loads").stdout)
        start, end = (int(shown[k], 16) & 0xfff for k in ("start", "end"))  # a few bytes of one page
        here = [ip for ip in ips if start <= int(ip, 16) & 0xfff < end and int(ip, 16) >> 40 == 0x55]
        got = next(e["samples"] for e in shown["events"] if e["event"] == event)
        true(got > 100 and got == len(here), f"{event}: {got} samples, {len(here)} addresses")
        folded = sh(TARE, "export", "-f", "folded", "--counter", event, "-o", "-", FILE).stdout.decode()
        total = sum(int(line.split()[-1]) for line in folded.splitlines())  # exact: all, also what is after the last sample
        true(abs(total - 503 * len(ips)) < 503, f"{event}: {total} of {len(ips)} samples")
    if shutil.which("perf"):
        shown = re.findall(r"^\s*(\d+)\s+(\S+):\s+([0-9a-f]+)", perf("script", "-F", "period,event,ip", "-G"), re.M)
        equal(sorted((e, f"0x{ip}") for _, e, ip in shown), sorted((e, ip) for e, ips in several.items() for ip in ips), "in perf, too")
        equal({int(period) for period, *_ in shown}, {503})


@test
def exact_groups_may_use_the_names_of_hardware():
    exact_or_skip()
    err = record("-e", "{instructions:u,exact/loads/,branches:u}:S", "-c", "1009", "--", compiled("stretches", PARTS))
    first = dump("-r", "sample").split(" SAMPLE ")[1]
    equal(re.findall(r'value \d+ id=\S+ event="([^"]*)"', first), ["instructions:u", "exact/loads/", "branches:u"], err)
    true("spread" not in err, err)
    err = record("-e", "{instructions:u,exact/taken-branches/}:S", "-c", "1009", "--", compiled("stretches", PARTS))
    true("spread over the code between samples" in err, "taken branches are not known from the code at a sample: " + err)


@test
def callers_of_functions_without_a_frame():
    exact_or_skip()
    frames = ["-fno-omit-frame-pointer", "-fno-optimize-sibling-calls"]
    for name, flags in ("leaf_callers", frames), ("no_frames", ["-fomit-frame-pointer", "-fno-optimize-sibling-calls"]):
        record("--engine", "exact", "-g", "-c", "1009", "--", compiled(name, LEAF, *flags))
        of = callers_of("leaf")
        true(set(of) == {"one", "two"} and abs(of["two"] - 0.6) < 0.03, f"{name}: 60 % by two: {of}")
        equal(set(callers_of("one")), {"main", "two"}, name)
    record("--engine", "exact", "-g", "-c", "1009", "--", compiled("ways", WAYS, *frames))
    equal({f: set(callers_of(f)) for f in ("leaf_jump", "leaf_signal", "leaf_fiber", "leaf_tail")},
          {"leaf_jump": {"jumps"}, "leaf_signal": {"handler"}, "leaf_fiber": {"fiber"}, "leaf_tail": {"calls_tail"}})


@test
def exact_samples_of_threads_and_forks_are_read_by_perf():
    exact_or_skip()
    record("-e", "exact/instructions/", "-c", "100k", "--", *WORK, status=5)
    got = [(int(s["pid"]), int(s["tid"]), int(s["ip"], 16)) for s in records("sample")]
    equal((len({g[0] for g in got}), len({g[1] for g in got})), (2, 3))
    shown = re.findall(r"^\s*(\d+)/(\d+)\s+.*exact/instructions/:\s+([0-9a-f]+)", perf("script", "-F", "pid,tid,event,ip", "-G"), re.M)
    equal(sorted((int(p), int(t), int(ip, 16)) for p, t, ip in shown), sorted(got))
    dsos = perf("report", "--stdio", "--sort", "dso")
    true("python" in dsos, dsos)
    # A group is read per thread, which perf 6.1 takes for one series: its samples are looked at here alone.
    record("-e", "{exact/instructions/,exact/loads/}:S", "-c", "100k", "--no-jitter", "--", *WORK, status=5)
    values = [int(m) for m in re.findall(r'value (\d+) id=\S+ event="exact/instructions/"', dump("-r", "sample"))]
    true(values and all(v % 100000 == 0 for v in values), "each at a multiple of the period, of its thread")


@test
def exact_samples_are_in_order_however_long_one_takes():
    """A system call of half a second is sampled when it has returned; what another thread did meanwhile was written, in rounds, long before."""
    exact_or_skip()
    script = "import threading, time\nt = threading.Thread(target=time.sleep, args=(0.5,)); t.start()\nwhile t.is_alive(): time.sleep(0.01)"
    record("--engine", "exact", "-e", "exact/syscalls/", "-c", "1", "--", os.path.realpath(sys.executable), "-S", "-c", script)
    quality = json.loads(sh(TARE, "report", "--format", "json", FILE).stdout)["quality"]
    true(quality["used"] > 40, str(quality))
    equal(quality["disordered"], 0)


@test
def exact_samples_follow_the_names_of_threads():
    """The kernel's own word, at each thread's end, is the last name that the recording has for it, and the one its samples go by."""
    exact_or_skip()
    program = Path(__file__).parent / "named_threads.py"
    r = sh(TARE, "record", "--engine", "exact", "-e", "instructions", "-c", "20000", "-o", FILE, "--", os.path.realpath(sys.executable), "-S", program)
    said = dict(line.split("\t") for line in r.stdout.decode().splitlines())
    true(sorted(said.values()) == sorted(["another", "first", "first", "itself longer t", "itself longer t", os.path.basename(os.path.realpath(sys.executable))]),
         f"{said} {r.stderr}")
    last = {tid: name for tid, name in re.findall(r'of_tid=(\d+) comm="([^"]*)"', dump("-r", "comm"))}
    for tid, name in said.items():
        equal(last.get(tid), name, f"thread {tid}")
    rows = json.loads(sh(TARE, "report", "--sort", "comm,tid", "--format", "json", FILE).stdout)["rows"]
    shown = {(str(row["tid"]), row["comm"]) for row in rows}
    equal(sorted(set(said.items()) - shown), [], "each has samples by its name")
    if shutil.which("perf"):
        by_perf = {(tid, name.strip()) for name, tid in re.findall(r"^(.+?)\s+(\d+)\s*$", perf("script", "-F", "comm,tid"), re.M)}
        equal(sorted(set(said.items()) - by_perf), [], "in perf, too")


@test
def the_exact_engine_refuses_what_it_cannot():
    exact_or_skip()
    rows = [
        (["-F", "99", "--", "true"], "it cannot with -F"),
        (["-a"], "it cannot with no command"),
        (["-e", "page-faults", "--", "true"], "the exact engine does not count page-faults"),
        (["-e", ",".join(["instructions", "branches", *(f"exact/{c}/" for c in ("loads", "stores", "calls", "returns", "atomics", "rep", "x87"))]), "--", "true"],
         "samples up to 8 events in one run, not 9"),
        (["-e", "{instructions,branches}:S,exact/loads/", "--", "true"], "a group that is read (:S) is recorded without other events"),
        (["-e", "branches,exact/taken-branches/", "--", "true"], "taken branches cannot be sampled"),
        (["-e", "exact/loads,freq=100/", "--", "true"], "one event of the exact engine at a time"),
        (["--call-graph", "lbr", "--", "true"], "--call-graph lbr"),
    ]
    for words, line in rows:
        out = sh(TARE, "record", "--engine", "exact", "-o", FILE, *words)
        equal(out.returncode, 125, f"{words} {out.stderr}")
        true(line in out.stderr.decode().splitlines()[0], f"{words}: {out.stderr.decode()}")


@test
def the_kernel_by_name():
    if os.geteuid() != 0:
        skip("this user may not sample the kernel")
    record("-e", "cpu-clock:k", "-F", "5000", "--", "dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=40000")
    if not records("mmap"):
        skip("the kernel's addresses are hidden")
    out = perf("script", "-F", "ip,sym,dso", "-G")
    named = [l for l in out.splitlines() if "kernel.kallsyms" in l and "[unknown]" not in l]
    true(named and len(named) > 0.8 * len(out.splitlines()), out[:500])


@test
def a_buffer_too_small_grows():
    if os.geteuid() != 0:
        skip("memory may be locked by root")
    err = record("-m", "1", "-e", "cpu-clock:u", "-F", "5000", "--call-graph", "dwarf,16384", "--", *WORK, status=5)
    true(len(by_tare()) > 20, err)
    lost = re.search(r"([\d,]+) records lost", err)
    if lost:
        true("so a share may be wrong by as many points; if mappings are among them" in err and "-m gives a larger buffer" in err, err)
        true("LOST" in dump("--counts"), "and the file says so")


@test
def groups_of_children_are_told():
    told = "perf report --group may treat them"
    err = record("-e", "{task-clock,page-faults:u}:S", "-c", "1000000", "--", *WORK, status=5)
    true((told in err) != ("the first thread only: in children" in err), err)
    true(told not in record("-i", "-e", "{task-clock,page-faults:u}:S", "-c", "1000000", "--", *WORK, status=5), "one thread")
    true(told not in record("-e", "task-clock:u", "-c", "1000000", "--", *WORK, status=5), "no group")


@test
def a_full_disk_is_one_line_and_125():
    out = sh(TARE, "record", "-q", "-o", "/dev/full", "-e", "cpu-clock:u", "--", *WORK)
    equal(out.returncode, 125)
    equal(out.stderr.decode().splitlines()[0], "tare record: cannot write to /dev/full: No space left on device")
    true("not a regular file" in out.stderr.decode(), "and no word of a file that can be read")


@test
def a_disk_that_gets_full_is_no_end_of_the_command():
    """What found room can be read; the command and what it says are its own."""
    def most(kib=60):
        resource.setrlimit(resource.RLIMIT_FSIZE, (kib << 10, resource.RLIM_INFINITY))

    command = busy(0.5, "os.write(1, b'to its end'); os._exit(7)")
    out = sh(TARE, "record", "-o", FILE, "-e", "cpu-clock:u", "-F", "10000", "--", *command, preexec_fn=most)
    equal((out.returncode, out.stdout), (125, b"to its end"), out.stderr)
    said = out.stderr.decode()
    true("the command continued unrecorded and ended with exit status 7\n" in said and "the recording broke off" in said, said)
    true(f"cannot write to {FILE}: File too large" in said, said)
    told = int(re.search(r"([\d,]+) samples in", said)[1].replace(",", ""))
    equal(dump("-r", "sample").count("\n"), told, "samples in the file")
    out = sh(TARE, "record", "-o", FILE, "-e", "cpu-clock:u", "-F", "10000", "--timeout", "2s", "--", "sh", "-c", "while :; do :; done", preexec_fn=lambda: most(20))
    true(out.returncode == 125 and b"went on" not in out.stderr, f"--timeout ends it: {out.stderr}")


@test
def mistakes_have_a_line():
    rows = [
        ([], "there is nothing to record"),
        (["-e", "nope", "--", "true"], "there is no event 'nope'"),
        (["-e", "duration_time", "--", "true"], "duration_time cannot be sampled"),
        (["-F", "0", "--", "true"], "0 samples a second"),
        (["-F", "100", "-c", "100", "--", "true"], "exclude each other"),
        (["-c", "100", "-F", "max", "--", "true"], "exclude each other"),
        (["-c", "0", "--", "true"], "a sample every 0 events"),
        (["-F", "999999999", "--", "true"], "the kernel allows"),
        (["--call-graph", "magic", "--", "true"], "there is no call graph 'magic'"),
        (["--call-graph", "dwarf,7", "--", "true"], "multiple of 8 bytes"),
        (["-j", "any,odd", "--", "true"], "there is no branch filter 'odd'"),
        (["-m", "12Q", "--", "true"], "'12Q' is not a buffer size"),
        (["-k", "wall", "--", "true"], "there is no clock 'wall' for timestamps"),
        (["-p", "1", "-t", "1"], "-p and -t"),
        (["-p", "99999999"], "there is no process 99999999"),
        (["--compression-level=40", "--", "true"], "zstd has levels 1 to 22"),
        (["-e", "cpu-clock", "-b", "--", "true"], "cannot open cpu-clock"),
    ]
    for words, line in rows:
        out = sh(TARE, "record", "-o", FILE, *words)
        equal(out.returncode, 125, str(words))
        true(line in out.stderr.decode().splitlines()[0], f"{words}: {out.stderr.decode()}")
    equal(sh(TARE, "record", "-o", FILE, "--", "/no/such/command").returncode, 127)
    equal(sh(TARE, "record", "-o", FILE, "--", "/etc/passwd").returncode, 126)


@test
def the_recording_before_stays():
    room = Path(ROOM.name, "before")
    room.mkdir()
    file, old = room / "x.data", room / "x.data.old"
    record("-q", "-e", "cpu-clock:u", "--", "true", file=file)
    first = file.read_bytes()
    sh(TARE, "record", "-o", file, "--", "/no/such/command")
    sh(TARE, "record", "-o", file, "-e", "nope", "--", "true")
    true(file.read_bytes() == first, "what fails before it begins touches nothing")
    equal(os.listdir(room), [file.name])
    record("-q", "-e", "cpu-clock:u", "--", "true", file=file)
    true(old.read_bytes() == first, "kept as .old")
    equal(sorted(os.listdir(room)), [file.name, old.name])
    equal(file.stat().st_mode & 0o777, 0o600)


@test
def several_recorders_with_one_name():
    """Each is whole: the last to end has the name, the one before is kept."""
    room = Path(ROOM.name, "several")
    room.mkdir()
    file, old = room / "same.data", room / "same.data.old"
    for i in range(4):
        both = [subprocess.Popen([TARE, "record", "-q", "-e", "cpu-clock:u", "-o", file, "--", "sh", "-c", f": number {i}{k}; sleep 0.1"],
                                 stderr=subprocess.PIPE, env=ENV) for k in "ab"]
        for p in both:
            err = p.communicate(timeout=60)[1].decode()
            equal((p.returncode, err), (0, ""))
        heads = [dump("--header", file=f) for f in (file, old)]
        equal(sorted(k for k in "ab" for h in heads if f"number {i}{k};" in h), ["a", "b"], "both are there")
    equal(sorted(os.listdir(room)), [file.name, old.name])


@test
def a_link_leads_to_the_recording():
    """Behind a link a recording is kept as by name, and nothing truncated before there is a whole one."""
    room = Path(ROOM.name, "linked")
    (room / "there").mkdir(parents=True)
    link, real, old = room / "link.data", room / "there" / "real.data", room / "there" / "real.data.old"
    link.symlink_to("there/real.data")
    sh(TARE, "record", "-o", link, "--", "/no/such/command")
    true(not real.exists(), "nothing is made for a command that is not")
    record("-q", "-e", "cpu-clock:u", "--", "true", file=link)
    first = real.read_bytes()
    sh(TARE, "record", "-o", link, "--", "/no/such/command")
    equal(real.read_bytes(), first, "left as it was")
    both = [subprocess.Popen([TARE, "record", "-q", "-e", "cpu-clock:u", "-o", link, "--", "sh", "-c", f": number {k}; sleep 0.1"],
                             stderr=subprocess.PIPE, env=ENV) for k in "ab"]
    for p in both:
        err = p.communicate(timeout=60)[1].decode()
        equal((p.returncode, err), (0, ""))
    heads = [dump("--header", file=f) for f in (real, old)]
    equal(sorted(k for k in "ab" for h in heads if f"number {k};" in h), ["a", "b"], "both are there")
    true(link.is_symlink(), "stays a link")
    equal(sorted(os.listdir(room) + os.listdir(room / "there")), ["link.data", "real.data", "real.data.old", "there"])


@test
def what_cannot_be_kept_is_not_replaced():
    room = Path(ROOM.name, "folder-old")
    (room / "x.data.old").mkdir(parents=True)
    record("-q", "-e", "cpu-clock:u", "--", "true", file=room / "x.data")
    first = (room / "x.data").read_bytes()
    said = record("-e", "cpu-clock:u", "--", "true", file=room / "x.data", status=125)
    true("x.data.old: it is a directory" in said and "the recording is " in said, said)
    true("x.data.part (" in said, f"the summary names the file that is there: {said}")
    equal((room / "x.data").read_bytes(), first)
    dump("--header", file=room / "x.data.part")


@test
def what_would_stay_0_is_refused():
    said = record("-e", "context-switches:u", "--", "true", file=Path(ROOM.name, "zero.data"), status=125)
    true("happens in the kernel" in said and "leave out the :u" in said or "kernel.perf_event_paranoid" in said, said)
    # Its samples are of user mode, the counts that come with them are not.
    said = record("-e", "{task-clock:u,page-faults:u}:S", "-c", "1000000", "--", "true", file=Path(ROOM.name, "zero.data"), status=125)
    true("task-clock:u would count both user mode and the kernel" in said, said)
    if os.access("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", os.R_OK):
        said = record("-e", "raw_syscalls:sys_enter:u", "--", "true", file=Path(ROOM.name, "zero.data"), status=125)
        true("happens in the kernel" in said, said)


main()
