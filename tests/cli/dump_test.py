# SPDX-License-Identifier: MIT
"""`tare dump` as a user runs it, on what Debian's perf records here, with `perf report -D` as the judge.

usage: dump_test.py TARE
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, test, true  # noqa: E402
from tracepoint import FORMAT, of_tracepoint, tracing  # noqa: E402

TARE = os.path.abspath(sys.argv[1])
ROOM = tempfile.TemporaryDirectory()
# Forks, threads of a name, a library opened late, and enough time for a few hundred samples.
WORK = [sys.executable, "-c", """
import os, sqlite3, threading
def spin(): return sum(i * i for i in range(400000))
if os.fork() == 0:
    spin(); os._exit(0)
t = threading.Thread(target=spin); t.start(); spin(); t.join(); os.wait()
"""]
ENV = {**os.environ, "LC_ALL": "C", "PAGER": "cat"}


def sh(*words, **options):
    return subprocess.run(words, capture_output=True, timeout=100, env=ENV, **options)


def record(name, *options):
    """A recording made here, whose path is returned."""
    path = os.path.join(ROOM.name, name)
    if not os.path.exists(path):
        r = sh("perf", "record", "-q", "--no-bpf-event", "-e", "cpu-clock", "-F", "2000", *options, "-o", path, "--", *WORK)
        true(r.returncode == 0, f"perf record: {r.stderr.decode()}")
    return path


def dump(*words, status=0, **options):
    r = sh(TARE, "dump", *words, **options)
    equal(r.returncode, status, f"exit status; {r.stderr.decode()[:500]}")
    return r.stdout.decode()


def fields(line):
    return {k: v for k, v in re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)', line)}


def shown(path, *options):
    """What tare dump prints: a list of records (offset, type, fields, rows)."""
    out = []
    for line in dump(*options, path).splitlines():
        m = re.match(r"@0x([0-9a-f]+) (?:data\S* )?(\w+) (.*)", line)
        if m:
            out.append((int(m[1], 16), m[2], fields(m[3]), []))
        elif line.startswith("    ") and out:
            out[-1][3].append(line.strip())
    return out


def judged(path):
    """The same from perf report -D: by offset, (type, size, sample or None)."""
    out = {}
    sample = None
    for line in sh("perf", "report", "-D", "-i", path).stdout.decode(errors="replace").splitlines():
        m = re.match(r"(?:-?\d+ )*0x([0-9a-f]+) \[(0x[0-9a-f]+|0)\]: PERF_RECORD_(\w+)(.*)", line)
        if m:
            s = re.search(r"^\(IP, 0x([0-9a-f]+)\): (-?\d+)/(-?\d+): 0x([0-9a-f]+|0) period: (\d+)|^\(IP, 0x([0-9a-f]+)\): "
                          r"(-?\d+)/(-?\d+): 0 period: (\d+)", m[4])
            sample = None
            if m[3] == "SAMPLE":
                true(s and s[1], f"a sample line of perf: {line}")
                time = int(re.findall(r"(\d+) 0x", line)[0])
                sample = {"misc": int(s[1], 16), "pid": int(s[2]), "tid": int(s[3]), "ip": int(s[4], 16),
                          "period": int(s[5]), "time": time, "chain": [], "regs": [], "stack": None}
            out[int(m[1], 16)] = (m[3], int(m[2], 16), sample)
        elif sample is not None:
            if m := re.match(r"\.\.\.\.\.\s+\d+: ([0-9a-f]+)", line):
                sample["chain"].append(int(m[1], 16))
            elif m := re.match(r"\.\.\.\. (\w+)\s+0x([0-9a-f]+)", line):
                sample["regs"].append((m[1].lower(), int(m[2], 16)))
            elif m := re.match(r"\.\.\. ustack: size (\d+)", line):
                sample["stack"] = int(m[1])
    return out


def same_sample(rec, want):
    _, _, f, rows = rec
    equal(int(f["misc"], 16), want["misc"], "misc")
    equal((int(f["pid"]), int(f["tid"])), (want["pid"], want["tid"]), "pid, tid")
    equal(int(f["ip"], 16), want["ip"], "ip")
    equal(int(f["time"].replace(".", "")), want["time"], "time")
    if "period" in f:
        equal(int(f["period"]), want["period"], "period")
    equal([int(r.split()[1], 16) for r in rows if r.startswith("chain ")], want["chain"], "call chain")
    regs = [r for r in rows if r.startswith("regs_user ")]
    equal([(k, int(v, 16)) for r in regs for k, v in re.findall(r"(\w+)=0x([0-9a-f]+)", r)], want["regs"], "registers")
    if want["stack"] is not None:
        equal(int(f["stack_valid"]), want["stack"], "valid bytes of the stack")


NAMES = {"HEADER_ATTR": "ATTR", "HEADER_EVENT_TYPE": "EVENT_TYPE", "HEADER_FEATURE": "FEATURE"}


def compare(path):
    """Every record of perf's at its offset, and none besides."""
    mine, want = shown(path), judged(path)
    samples = 0
    equal([r[0] for r in mine if r[0] not in want and r[1] not in ("FINISHED_ROUND",)], [], "records that perf has not")
    for rec in mine:
        offset, kind, f, _ = rec
        if offset not in want:
            continue
        name, size, sample = want.pop(offset)
        equal(kind, NAMES.get(name, name), f"type at {offset:#x}")
        equal(int(f["size"]), size, f"size at {offset:#x}")
        if sample:
            samples += 1
            same_sample(rec, sample)
    equal(want, {}, "records that only perf has")
    true(samples > 20, f"{samples} samples")


def stats(path):
    out = sh("perf", "report", "-i", path, "--stats").stdout.decode()
    first = out.split("stats:", 2)[1]
    return {k: int(v) for k, v in re.findall(r"(\w+) events:\s+(\d+)", first) if k != "TOTAL"}


def counts(path, **options):
    return {k: int(v) for k, v in re.findall(r"^([A-Z_0-9]+) +(\d+)$", dump("--counts", path, **options), re.M)}


@test
def plain_samples():
    compare(record("plain"))


@test
def call_chains():
    compare(record("chains", "-g"))


@test
def stacks_and_registers():
    compare(record("dwarf", "--call-graph", "dwarf,1024"))


@test
def cpus_and_addresses():
    compare(record("cpus", "--sample-cpu", "-d", "-W"))


@test
def fixed_period():
    path = os.path.join(ROOM.name, "period")
    sh("perf", "record", "-q", "-e", "cpu-clock", "-c", "1000000", "-o", path, "--", *WORK)
    compare(path)


@test
def two_events():
    path = os.path.join(ROOM.name, "two")
    sh("perf", "record", "-q", "-e", "cpu-clock,page-faults", "-o", path, "--", *WORK)
    compare(path)
    per = dict(re.findall(r'^samples of "([\w-]+)(?::u)?" (\d+)$', dump("--counts", path), re.M))
    script = sh("perf", "script", "-i", path, "-F", "event").stdout.decode().split()
    for event in ("cpu-clock", "page-faults"):
        n = sum(1 for word in script if word.startswith(event))
        true(n > 0, f"samples of {event}")
        equal(int(per[event]), n, f"samples of {event}")


def by_script(path):
    """Samples of perf script, in time order, as tuples."""
    out = []
    for line in sh("perf", "script", "-i", path, "-F", "pid,tid,time,ip,sym", "--ns", "-G").stdout.decode().splitlines():
        m = re.match(r"\s*(-?\d+)/(-?\d+)\s+(\d+)\.(\d+):\s+([0-9a-f]+)", line)
        if m:
            out.append((int(m[3] + m[4]), int(m[1]), int(m[2]), int(m[5], 16)))
    return out


def by_dump(path, *options, **more):
    out = []
    for line in dump("--by-time", "-r", "sample", path, *options, **more).splitlines():
        if line.startswith("@"):
            f = fields(line)
            out.append((int(f["time"].replace(".", "")), int(f["pid"]), int(f["tid"]), int(f["ip"], 16)))
    return out


def in_order(path):
    mine, want = by_dump(path), by_script(path)
    equal([s[0] for s in mine], sorted(s[0] for s in mine), "order")
    equal(len(mine), len(want), "samples")
    # perf script without -g shows the address relative to its file: the same only where it has no file.
    equal([s[:3] for s in mine], [s[:3] for s in want], "time, pid, tid")


@test
def in_order_of_time():
    in_order(record("plain"))


@test
def compressed():
    path = record("zstd", "-z")
    equal(counts(path), stats(path), "records")
    true(counts(path).get("COMPRESSED", 0) > 0, "it is compressed")
    in_order(path)


@test
def a_directory():
    path = record("directory", "--threads")
    true(os.path.isdir(path), "perf record --threads makes a directory")
    equal(counts(path), stats(path), "records")
    in_order(path)


@test
def through_a_pipe():
    for options in ([], ["-z"]):
        r = sh("perf", "record", "-q", "-e", "cpu-clock", *options, "-o", "-", "--", *WORK)
        path = os.path.join(ROOM.name, "pipe")
        Path(path).write_bytes(r.stdout)
        want = counts(path)
        true(want["SAMPLE"] > 20 and want["ATTR"] == 1, f"{want}")
        if not options:  # perf 6.1 cannot read a compressed pipe of its own
            equal(want, stats(path), "records")
        with open(path, "rb") as f:
            equal(counts("-", stdin=f), want, "from standard input")
        equal(counts("-", input=r.stdout), want, "from a pipe")


@test
def a_file_through_a_pipe():
    path = record("plain")
    equal(counts("-", input=Path(path).read_bytes()), counts(path), "records")
    equal(dump("--header", "-", input=Path(path).read_bytes()).splitlines()[1:], dump("--header", path).splitlines()[1:], "head")


@test
def the_head():
    path = record("plain")
    mine = dump("--header", path)
    theirs = sh("perf", "report", "--header-only", "-i", path).stdout.decode()
    for name, key in {"host": "hostname", "kernel": "os release", "recorded by": "perf version", "architecture": "arch",
                      "processor": "cpudesc", "cpuid": "cpuid"}.items():
        equal(re.search(rf"^{name} +(.*)$", mine, re.M)[1], re.search(rf"^# {key} : (.*)$", theirs, re.M)[1], name)
    equal(re.search(r"^cpus +(\d+) available, (\d+) online$", mine, re.M).groups(),
          (re.search(r"nrcpus avail : (\d+)", theirs)[1], re.search(r"nrcpus online : (\d+)", theirs)[1]), "cpus")
    equal(re.search(r"^memory +(\d+) kB$", mine, re.M)[1], re.search(r"total memory : (\d+) kB", theirs)[1], "memory")
    equal(sorted(re.findall(r'^pmu +(\d+) "(.*)"$', mine, re.M)),
          sorted((n, name) for name, n in re.findall(r"([^ ,:]+) = (\d+)", re.search(r"# pmu mappings: (.*)", theirs)[1])), "pmus")
    first, last = (re.search(rf"# time of {w} sample : (.*)", theirs)[1] for w in ("first", "last"))
    words = re.search(r"^sample times +(\S+) to (\S+) s$", mine, re.M)
    # perf cuts its microseconds off; ours are nanoseconds.
    equal((words[1][:-3], words[2][:-3]), (first, last), "times")
    ids = sorted(line.split()[:2] for line in sh("perf", "buildid-list", "-i", path).stdout.decode().splitlines())
    equal(sorted([i, f.strip('"')] for i, f in re.findall(r"^build id +([0-9a-f]+) pid=-?\d+ (.*)$", mine, re.M)), ids, "build ids")
    true("(damaged)" not in mine, "no feature is damaged")


@test
def cut_anywhere():
    whole = Path(record("plain")).read_bytes()
    path = os.path.join(ROOM.name, "cut")
    offset, size = struct.unpack_from("<QQ", whole, 40)
    n = counts(record("plain"))
    for length in (offset, offset + 1, offset + size // 3, offset + size - 1):
        Path(path).write_bytes(whole[:length])
        r = sh(TARE, "dump", "--counts", path)
        equal(r.returncode, 1, f"cut at {length}")
        true(re.search(rf"{re.escape(path)}: byte \d+: ", r.stderr.decode()), r.stderr.decode())
        got = re.search(r"^SAMPLE +(\d+)$", r.stdout.decode(), re.M)
        true((int(got[1]) if got else 0) <= n["SAMPLE"], "no more samples than there are")
    for length in (0, 7, 15, 50, 103, offset - 1):
        Path(path).write_bytes(whole[:length])
        equal(sh(TARE, "dump", path).returncode, 125, f"cut at {length}")


@test
def bytes_as_they_stand():
    path = record("plain")
    out = dump("--raw", "-r", "comm", path)
    whole = Path(path).read_bytes()
    n = 0
    for m in re.finditer(r"^@0x([0-9a-f]+) COMM size=(\d+).*\n((?:    .*\n)+)", out, re.M):
        raw = bytes.fromhex("".join(line[10:58] for line in m[3].splitlines()))
        equal(raw, whole[int(m[1], 16):int(m[1], 16) + int(m[2])], "bytes")
        n += 1
    true(n > 0, "COMM records")


@test
def tracepoints_have_names_and_fields():
    for pipe in (False, True):
        for order in "<>":
            path = of_tracepoint(os.path.join(ROOM.name, "tracepoint.data"), pipe, order)
            want = ('    made:exec_probe comm="sh" pid=-7 depth=3 file="/bin/\\"\\x1b" args=000102030405060708090a0b0c0d0e0f far=(outside the raw data)')
            out = dump(path)
            equal(out.splitlines().count(want), 2, f"pipe {pipe}, {order}: {out}")
            true('samples of "made:exec_probe" 2' in dump("--counts", path), f"pipe {pipe}, {order}: its name")
            said = sh(TARE, "report", path).stdout.decode()
            true("made:exec_probe: 2 samples" in said, said)
            true(b"made:exec_probe" in sh(TARE, "export", "-f", "csv", path).stdout, "exported by its name")


@test
def tracepoints_formats_that_are_cut_off_are_damage():
    whole = tracing()
    for pipe in (False, True):
        for data in [whole[:n] for n in (5, 20, 60, len(whole) - 40)] + [whole.replace(b"name: exec_probe", b"nome: exec_probe")]:
            path = of_tracepoint(os.path.join(ROOM.name, "cut-tracepoint.data"), pipe, data=data)
            r = sh(TARE, "dump", path)
            true(r.returncode == 1 and b"TRACING_DATA" in r.stderr, f"{pipe} {len(data)}: {r.returncode} {r.stderr}")
            equal(r.stdout.count(b" SAMPLE "), 2, "samples are read")


@test
def tracepoints_fields_that_overlap_are_bounded():
    """A format of 500 arrays that are the whole data each shows them twice at most; one of 1025 fields is damage."""
    line = "\tfield:unsigned char f%d[60];\toffset:0;\tsize:60;\tsigned:0;"
    for n, status in ((500, 0), (1025, 1)):
        text = "name: many\nID: 777\nformat:\n" + "\n".join(line % i for i in range(n)) + "\n"
        path = of_tracepoint(os.path.join(ROOM.name, "overlap.data"), False, data=tracing(formats=[text]))
        r = sh(TARE, "dump", path)
        equal(r.returncode, status, r.stderr.decode()[:300])
        if not status:
            shown = next(l for l in r.stdout.decode().splitlines() if " f0=" in l)
            true(shown.count("=(overlaps other fields)") >= 495 and " f0=0903" in shown, shown[:300])


@test
def a_wicked_name():
    """A program's name that would clear the screen comes out escaped."""
    name = os.path.join(ROOM.name, "\033[2J\nbad\"name")
    shutil.copy("/bin/true", name)
    path = os.path.join(ROOM.name, "wicked")
    sh("perf", "record", "-q", "-e", "cpu-clock", "-o", path, "--", name)
    out = dump(path)
    true('\\x1b[2J\\x0abad\\"name' in out, "the name, escaped")
    true("\033" not in out, "no escape character")


@test
def mistakes():
    for words, status, says in (
        (["/nonexistent"], 125, "cannot open /nonexistent"),
        (["/etc/passwd"], 125, "not a perf.data file"),
        (["/tmp"], 125, "without a file named data"),
        (["a", "b"], 125, "one file too many"),
        (["--records", "sampel", "x"], 125, "did you mean SAMPLE"),
        (["--records", "sample,", "x"], 125, "no record type ''"),
        (["--records", "999", "x"], 125, "no record type '999'"),
        (["--nosuch"], 125, "there is no option"),
    ):
        r = sh(TARE, "dump", *words)
        equal(r.returncode, status, f"{words}")
        true(says in r.stderr.decode(), f"{words}: {r.stderr.decode()}")
        equal(r.stdout, b"", f"{words}: stdout")


if not shutil.which("perf"):
    print("1..0 # SKIP perf is not installed")
    sys.exit(0)
if sh("perf", "record", "-q", "-e", "cpu-clock", "-o", os.path.join(ROOM.name, "probe"), "true").returncode:
    print("1..0 # SKIP perf record -e cpu-clock is not allowed here")
    sys.exit(0)
main()
