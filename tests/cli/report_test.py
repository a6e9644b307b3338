# SPDX-License-Identifier: MIT
"""`tare report` as a user runs it, on what Debian's perf records here, with `perf report` as the judge, and on
recordings of real machines where they are at hand (TARE_FIXTURES).

usage: report_test.py TARE SCHEMA CC
"""
import collections
import csv
import gzip
import io
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import validated  # noqa: E402
from tracepoint import of_tracepoint, of_two, raw_data  # noqa: E402

TARE, SCHEMA, CC = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
HERE = Path(__file__).resolve().parent
FIXTURES = Path(os.environ.get("TARE_FIXTURES", HERE.parents[2] / "shared" / "fixtures")) / "perfdata"
ROOM = tempfile.TemporaryDirectory()
ENV = {**os.environ, "LC_ALL": "C.UTF-8", "PAGER": "cat", "HOME": ROOM.name, "DEBUGINFOD_URLS": ""}


def sh(*words, **options):
    return subprocess.run(words, capture_output=True, timeout=100, env=ENV, **options)


def program(name, *flags, source="stacks.c"):
    out = os.path.join(ROOM.name, name)
    if not os.path.exists(out):
        if "-fno-omit-frame-pointer" in flags:
            flags += ("-mno-omit-leaf-frame-pointer", "-fno-shrink-wrap")
        r = sh(CC, "-g", "-O1", "-fno-optimize-sibling-calls", *flags, str(HERE / "report" / source), "-o", out, "-lpthread")
        true(r.returncode == 0, r.stderr.decode())
    return out


def record(name, command, *options, event="cpu-clock:u", rate="4000"):
    path = os.path.join(ROOM.name, name)
    if not os.path.exists(path):
        # With BPF events perf's own thread for them would end a second late.
        r = sh("perf", "record", "-q", "--no-bpf-event", "-e", event, "-F", rate, *options, "-o", path, "--", *command)
        true(r.returncode == 0 and os.path.exists(path), f"perf record: {r.stderr.decode()}")
    return path


def report(*words, status=0, text=True, **options):
    r = sh(TARE, "report", *words, **options)
    equal(r.returncode, status, f"exit status of {words}; {r.stderr.decode()[:500]}")
    return r.stdout.decode(errors="replace") if text else r


def document(*words, status=0):
    d = json.loads(report("--format", "json", *words, status=status))
    validated(d, SCHEMA)
    return d


def rows(*words, status=0):
    return list(csv.DictReader(io.StringIO(report("--format", "csv", *words, status=status))))


def by_perf(path):
    """Period by event, comm, basename of the module, function, as perf report adds them up."""
    r = sh("perf", "report", "-i", path, "--stdio", "--no-children", "-g", "none", "-F", "period,sample,comm,dso,sym", "-t", "\x01",
           "--no-inline", "--no-demangle", "-f")
    out, event = collections.Counter(), None
    for line in r.stdout.decode(errors="replace").splitlines():
        m = re.match(r"# Samples: .* of event '(.*)'", line)
        event = m[1] if m else event
        if line.startswith("#") or "\x01" not in line:
            continue
        period, _, comm, dso, sym = [x.strip() for x in line.split("\x01")[:5]]
        sym = sym[4:].strip()
        out[event, comm, os.path.basename(dso), "" if re.match(r"0x[0-9a-f]{16}$|\[unknown\]$", sym) else sym] += int(period)
    return out


def by_tare(path):
    out = collections.Counter()
    table = rows(path)
    events = [h[:-5] for h in table[0] if h.endswith(" self")]
    for r in table:
        for e in events:
            if int(r[e + " self"]):
                out[e, r["comm"], os.path.basename(r["module"]), r["function"]] += int(r[e + " self"])
    return out


def modules(counter):
    out = collections.Counter()
    for (event, comm, module, _), n in counter.items():
        out[event, comm, module] += n
    return out


@test
def the_same_samples_and_names_as_perf_report():
    path = record("fp.data", [program("fp", "-fno-omit-frame-pointer"), "threads"], "-g")
    perf, tare = by_perf(path), by_tare(path)
    true(sum(perf.values()) > 0, "perf has samples")
    equal(modules(tare), modules(perf), "amounts by event, command and module")
    # The PLT has no symbol: perf gives its samples to the one before it.
    own = lambda c: {k: v for k, v in c.items() if k[2] == "fp" and k[3] not in ("_init", "[.plt]")}  # noqa: E731
    equal(own(tare), own(perf), "functions of the program")
    # Of several symbols at one address the two may take different ones; the rest has the same names.
    differs = sum(v for k, v in tare.items() if perf.get(k) != v)
    true(differs <= sum(tare.values()) * 0.05, f"{differs} differ: {set(tare.items()) ^ set(perf.items())}")


@test
def a_table_says_that_callers_of_leaves_may_be_missing():
    """Also the plain one; and no chain's end is shown as the program's start, which the recording does not know."""
    path = record("fp.data", [program("fp", "-fno-omit-frame-pointer"), "threads"], "-g")
    note = "callers were found by frame pointers: the direct caller of a function without a frame may be missing"
    for words in [], ["--callers", "*"]:
        text = report(*words, path)
        equal(text.count(note), 1, f"{words} {text}")
    rows = "".join(line for line in text.splitlines(True) if "stacks truncated" not in line)  # a signal may arrive in the middle of a stack's change
    true("(none: the chain ends here)" in rows and "outermost" not in rows, text)
    text = report(record("plain.data", [program("fp", "-fno-omit-frame-pointer"), "threads"]))
    true(note not in text, text)


@test
def options_stand_where_they_like():
    """As perf's and GNU's do; behind -- everything is a file."""
    path = record("fp.data", [program("fp", "-fno-omit-frame-pointer"), "threads"], "-g")
    wanted = report("--sort", "module", "--format", "csv", path)
    for words in ((path, "--sort", "module", "--format", "csv"), ("--format=csv", path, "--sort=module"), ("--sort", "module", "--format", "csv", "--", path)):
        equal(report(*words), wanted, str(words))
    true("there is no option --sotr" in report(path, "--sotr", status=125, text=False).stderr.decode(), "a wrong one is told")
    true("--sort needs a value" in report(path, "--sort", status=125, text=False).stderr.decode(), "so is one without its value")
    for words in ((path, "--", "--sort"), ("--", path, "--sort")):
        true("'--sort' is one file too many" in report(*words, status=125, text=False).stderr.decode(), str(words))
    true("Count what" in sh(TARE, "help").stdout.decode() and "usage: tare report" in report(path, "--help"), "help")


@test
def forks_threads_and_libraries_that_are_opened_late():
    lib = os.path.join(ROOM.name, "late.so")
    r = sh(CC, "-g", "-O1", "-shared", "-fPIC", "-DLATE", str(HERE / "report" / "stacks.c"), "-o", lib)
    true(r.returncode == 0, r.stderr.decode())
    path = record("late.data", [program("fp", "-fno-omit-frame-pointer"), "late", lib], "-g")
    perf, tare = by_perf(path), by_tare(path)
    equal(modules(tare), modules(perf), "amounts by event, command and module")
    late = {k[1]: v for k, v in tare.items() if k[2:] == ("late.so", "late_work")}
    true(set(late) == {"fp", "child"}, f"both processes worked in the library: {tare}")


@test
def frame_pointers_and_dwarf_agree():
    fp = document(record("fp2.data", [program("fp", "-fno-omit-frame-pointer"), "deep"], "-g"))
    dwarf = document(record("dwarf.data", [program("nofp", "-fomit-frame-pointer"), "deep"], "--call-graph", "dwarf"))
    equal(dwarf["quality"]["not_unwound"], None, "unwound")

    def totals(d):
        all_ = d["events"][0]["amount"]
        return {r["function"]: r["events"][0]["total"] / all_ for r in d["rows"] if r["module"].startswith(ROOM.name)}
    a, b = totals(fp), totals(dwarf)
    for name in ("main", "deep", "recurse", "outer", "inner", "leaf"):
        true(name in a and name in b, f"{name} is in both: {a} {b}")
        true(abs(a[name] - b[name]) < 0.12, f"{name}: {a[name]:.3f} by frame pointers, {b[name]:.3f} by DWARF")
    true(b["main"] > 0.9 and b["recurse"] > 0.9, f"stacks reach main: {b}")
    # The chain itself, from the outermost: a function is below the one that calls it.
    # By frame pointers a sample in a function's first instructions lacks the direct caller: few of all do.
    for path, most_without in (record("fp2.data", []), 0.05), (record("dwarf.data", []), 0):
        lines = report("--folded", path).splitlines()
        deep = [l for l in lines if ";recurse" in l and ";leaf" in l]
        true(deep, f"there are deep stacks: {lines[:5]}")
        without = 0
        for line in deep:
            if "[stack cut off]" not in line:
                true(m := re.search(r";main;deep;(?:recurse;)+(outer;)?(?:inner;)?leaf(?:;touch)? (\d+)$", line), line)
                without += 0 if m[1] else int(m[2])
        total = sum(int(l.rsplit(" ", 1)[1]) for l in deep)
        true(without <= most_without * total, f"{without} of {total} without their caller")


@test
def dwarf_stacks_as_perf_unwinds_them():
    path = record("dwarf.data", [program("nofp", "-fomit-frame-pointer"), "deep"], "--call-graph", "dwarf")
    r = sh("perf", "script", "-i", path, "-F", "ip,sym", "--no-inline", "-f")
    theirs = collections.Counter()
    for block in r.stdout.decode().split("\n\n"):
        names = [l.split(None, 1)[1].strip() for l in block.splitlines() if len(l.split(None, 1)) == 2]
        if "leaf" in names and names.count("main") == 1:
            theirs[tuple(reversed(names[:names.index("main") + 1]))] += 1
    ours = collections.Counter()
    for line in report("--folded", path).splitlines():
        names = line.rsplit(" ", 1)[0].split(";")
        if "leaf" in names and names.count("main") == 1:
            ours[tuple(names[names.index("main"):])] += 1
    true(theirs, "perf unwinds stacks")
    equal(set(ours), set(theirs), "different stacks from main to leaf")


@test
def shares_add_up():
    d = document(record("fp.data", []))
    e = d["events"][0]
    equal(sum(r["events"][0]["self"] for r in d["rows"]), e["amount"], "self of all rows")
    equal(sum(r["events"][0]["samples"] for r in d["rows"]), e["samples"], "samples of all rows")
    equal(e["samples"], d["quality"]["used"], "samples")
    equal(e["unit"], "ns", "a clock's unit")
    for r in d["rows"]:
        v = r["events"][0]
        true(v["self"] <= v["total"] <= e["amount"], f"self within total within all: {r}")
        true(0 < v["margin"] < 1, f"margin: {r}")


@test
def the_forms_agree():
    path = record("fp.data", [])
    d = document(path)
    table = rows(path)
    equal([(r["comm"], r["module"], r["function"] or "[unknown]", str(r["events"][0]["self"])) for r in d["rows"]],
          [(r["comm"], r["module"], r["function"], r["cpu-clock:u self"]) for r in table], "json and csv")
    text = report("-n", "1", path)
    true("samples" in text and "± " in text and " more row" in text, text)
    folded = report("--folded", path).splitlines()
    equal(sum(int(l.rsplit(" ", 1)[1]) for l in folded), d["events"][0]["amount"], "folded adds up")
    equal(folded, sorted(folded, key=lambda l: l.rsplit(" ", 1)[0].encode()), "in order of their text")


@test
def sorting_by_every_key():
    path = record("fp.data", [])
    for keys in ("comm", "pid", "tid", "module", "function", "line", "address", "comm,tid,line", "dso,sym", "srcline"):
        d = document("--sort", keys, path)
        equal(sum(r["events"][0]["self"] for r in d["rows"]), d["events"][0]["amount"], keys)
        selves = [r["events"][0]["self"] for r in d["rows"]]
        equal(selves, sorted(selves, reverse=True), f"{keys}: most first")
        equal(sum(int(r["cpu-clock:u self"]) for r in rows("--sort", keys, path)), d["events"][0]["amount"], f"{keys} in csv")
        report("--sort", keys, path)
    source = (HERE / "report" / "stacks.c").read_text().splitlines()
    lines = {(os.path.basename(r["file"] or ""), r["line"]) for r in document("--sort", "line", path)["rows"][:3]}
    true(any(f == "stacks.c" and "LEAF" in source[n - 1] for f, n in lines if f), f"the leaf's line: {lines}")


def made_of_two():
    return of_two(os.path.join(ROOM.name, "two.data"))


@test
def sorting_by_the_fields_of_tracepoints():
    path = made_of_two()
    d = document("--sort", "comm,exec_probe.comm,pid", path)
    equal(d["fields"], ["exec_probe.comm"], "comm and pid are a process's, as for perf")
    d = document("--sort", "exec_probe.comm", "-e", "made:exec_probe", path)
    equal([(r["fields"], r["events"][1]["self"]) for r in d["rows"]],
          [({"exec_probe.comm": "sh"}, 2), ({"exec_probe.comm": "ls"}, 1), ({"exec_probe.comm": None}, 0)], "one field")
    d = document("--sort", "made:exec_probe.pid,other_probe.pid/raw", path)
    equal(d["fields"], ["made:exec_probe.pid", "other_probe.pid/raw"], "event and field, with /raw as perf takes it")
    equal({(r["fields"]["made:exec_probe.pid"], r["fields"]["other_probe.pid/raw"]) for r in d["rows"]},
          {(-7, None), (8, None), (9, None), (None, 5), (None, None)}, "signed numbers, and null where an event has no such field")
    d = document("--sort", "trace_fields", path)
    equal(d["fields"], ["pid", "big", "comm", "depth", "file", "args", "far"], "every field, in the order of the events")
    equal(sorted(r["fields"]["pid"] for r in d["rows"] if r["fields"]["pid"] is not None), [-7, 5, 8, 9], "of both tracepoints")
    equal({r["fields"]["big"] for r in d["rows"]}, {str(2**64 - 1), None}, "above 2^53 as digits")
    equal({r["fields"]["file"] for r in d["rows"]}, {"/bin/\"\x1b", None}, "a string elsewhere in the data")
    equal([r["fields"]["far"] for r in d["rows"] if r["fields"]["comm"]], [{"missing": "(outside the raw data)"}] * 3, "is not there")
    for e in range(3):
        equal(sum(r["events"][e]["self"] for r in d["rows"]), d["events"][e]["amount"], "adds up")
    table = rows("--sort", "trace_fields", path)
    equal([(r["comm"], r["pid"], r["far"]) for r in table],
          [(r["fields"]["comm"] or "", "" if r["fields"]["pid"] is None else str(r["fields"]["pid"]),
            (r["fields"]["far"] or {"missing": ""})["missing"]) for r in d["rows"]], "csv has what json has")
    text = report("--sort", "trace_fields", "-e", "made:exec_probe", path)
    true('comm="ls" pid=8 depth=3 file="/bin/\\"\\x1b" args=0001' in text and "\x1b" not in text, text)
    text = report("--sort", "exec_probe.pid", path)
    true(re.search(r"33\.33 %.* -7\n", text), f"of the first event that has the field: {text}")
    text = document("--sort", "trace", path)
    true(any((r["fields"]["trace"] or "").startswith("comm=ls pid=8 depth=3 ") for r in text["rows"]), text)


@test
def fields_of_tracepoints_that_are_not_there():
    path = made_of_two()
    r = report("--sort", "exec_probe.comn", path, status=125, text=False)
    equal(r.stderr.decode().splitlines()[0],
          "tare report: there is no key 'exec_probe.comn', and no tracepoint of the recording has a field of that name", "a field that is none")
    true(b"comm" in r.stderr.splitlines()[1], f"close ones: {r.stderr}")
    r = report("--sort", "trace_fields", record("true.data", ["true"]), status=125, text=False)
    true(b"no tracepoint with a format" in r.stderr and r.stderr.count(b"\n") == 2, r.stderr)
    r = report("--sort", "a b", path, status=125, text=False)
    true(b"there is no key 'a b'" in r.stderr, r.stderr)
    r = report("--diff", path, "--sort", "exec_probe.comm", path, status=125, text=False)
    true(b"--diff does not compare fields of tracepoints" in r.stderr, r.stderr)
    many = of_tracepoint(os.path.join(ROOM.name, "many.data"), True, ">", raws=[raw_data(">", pid=i) for i in range(5000)])
    d = document("--sort", "exec_probe.pid", many)
    equal(sorted(r["fields"]["exec_probe.pid"] for r in d["rows"]), list(range(5000)), "of the other byte order, through a pipe's format")


@test
def fields_of_tracepoints_as_perf_shows_them():
    path = os.path.join(ROOM.name, "switches.data")
    r = sh("perf", "record", "-q", "-e", "sched:sched_process_exec", "-e", "sched:sched_process_fork", "-o", path, "--", "sh", "-c", "ls; true; ls; id")
    if r.returncode:
        skip("perf cannot record tracepoints here")
    judged, event = collections.Counter(), None
    lines = sh("perf", "report", "-i", path, "--stdio", "-n", "--raw-trace", "-s", "trace_fields", "-t", ";").stdout.decode().splitlines()
    for line in lines:
        if m := re.match(r"# Samples: \d+ +of event '(.*)'", line):
            event, head = m[1], None
        elif line.startswith("# Overhead"):
            head = [h.strip() for h in line.split(";")]
        elif line and not line.startswith("#"):
            cells = dict(zip(head, (c.strip() for c in line.split(";"))))
            judged[event, tuple(sorted((k, v) for k, v in cells.items() if k not in ("# Overhead", "Samples")))] += int(cells["Samples"])
    d = document("--sort", "trace_fields", path)
    ours = collections.Counter()
    for row in d["rows"]:
        for e, of in zip(d["events"], row["events"]):
            if of["samples"]:
                ours[e["event"], tuple(sorted((k, str(v)) for k, v in row["fields"].items() if v is not None))] += of["samples"]
    equal(ours, judged, "fields, values and counts are perf's")
    true(len(judged) > 3, judged)


@test
def addresses_are_those_of_the_file():
    path = record("fp.data", [])
    r = sh("nm", program("fp", "-fno-omit-frame-pointer"))
    start = next(int(l.split()[0], 16) for l in r.stdout.decode().splitlines() if l.endswith(" leaf"))
    hits = [int(r["address"], 16) for r in document("--sort", "module,function,address", path)["rows"] if r["function"] == "leaf"]
    true(hits and all(start <= a < start + 200 for a in hits), f"{start:#x}: {[hex(a) for a in hits]}")


@test
def callers_and_callees():
    path = record("fp2.data", [program("fp", "-fno-omit-frame-pointer"), "deep"], "-g")
    d = document("--callers", "outer", path)["function"]
    equal([c["function"] for c in d["callers"]], ["recurse"], "who calls outer")
    true({c["function"] for c in d["callees"]} <= {"inner", "leaf", "touch"}, f"whom it calls: {d['callees']}")
    equal(sum(c["amount"] for c in d["callers"]), d["total"], "one caller: all of it")
    d = document("--callers", "recurse", path)["function"]
    # A sample at a function's entry, before it has a frame of its own, lacks its caller: main is the next.
    often = {c["function"] for c in d["callers"] if c["samples"] > sum(c["samples"] for c in d["callers"]) / 100}
    true(often == {"deep", "recurse"}, f"itself, too: {d['callers']}")
    true(all(c["amount"] <= d["total"] for c in d["callers"] + d["callees"]), "no neighbour has more than all")
    true("called by" in report("--callers", "outer", path), "as text")
    true("side,function" in report("--callers", "outer", "--format", "csv", path), "as csv")
    report("--callers", "no_such_function", path, status=125)


@test
def inlined_functions():
    path = record("inl.data", [program("inl", "-O2", "-DINLINE", "-fno-omit-frame-pointer"), "deep"], "-g")
    d = document("--inline", path)
    inlined = {r["function"] for r in d["rows"] if r["inlined"]}
    true({"small", "tiny"} <= inlined, f"the inlined functions are rows: {inlined}")
    equal(sum(r["events"][0]["self"] for r in d["rows"]), d["events"][0]["amount"], "and the sum is the same")
    plain = {r["function"] for r in document(path)["rows"]}
    true(not {"small", "tiny"} & plain, "without --inline they are part of the function they are in")
    folded = report("--inline", "--folded", path)
    true(re.search(r";leaf;small;tiny \d+", folded), f"one frame within the other: {folded}")
    # Each frame's line is the one that calls the frame within it.
    source = ["", *(HERE / "report" / "stacks.c").read_text().splitlines()]
    for name, mark in (("leaf", "CALLS SMALL"), ("small", "SMALL"), ("tiny", "TINY")):
        lines = {r["line"] for r in document("--inline", "--sort", "function,line", path)["rows"]
                 if r["function"] == name and os.path.basename(r["file"] or "") == "stacks.c"}
        true(any(mark in source[n] for n in lines), f"{name}: {[source[n] for n in lines]}")


@test
def filters():
    path = record("late.data", [])
    whole = document(path)
    child = document("--filter", "comm=child", path)
    true(child["rows"] and all(r["comm"] == "child" for r in child["rows"]), "one command")
    rest = document("--filter", "comm=[!c]*", path)
    equal(child["quality"]["used"] + rest["quality"]["used"], whole["quality"]["used"], "the two are all")
    equal(whole["quality"]["samples"], child["quality"]["samples"], "what the file has stays known")
    pid = document("--sort", "pid", "--filter", "comm=child", path)["rows"][0]["pid"]
    equal(document("--filter", f"pid={pid}", path)["quality"]["used"] >= child["quality"]["used"], True, "by pid")
    module = document("--filter", "module=*/late.so", path)
    true(module["rows"] and all(r["module"].endswith("/late.so") for r in module["rows"]), "by module")
    equal(module["events"], whole["events"], "shares stay those of all")
    equal(document("--filter", "tid=1", path)["rows"], [], "nobody")
    report("--filter", "nonsense", path, status=125)
    report("--filter", "colour=red", path, status=125)
    report("--filter", "pid=x", path, status=125)


@test
def another_build_is_said_and_not_used():
    exe = os.path.join(ROOM.name, "changed")
    shutil.copy(program("fp", "-fno-omit-frame-pointer"), exe)
    path = record("changed.data", [exe, "deep"], "-g")
    before = {r["function"] for r in rows(path)}
    true("leaf" in before, "as it was")
    os.unlink(exe)
    shutil.rmtree(os.path.join(ROOM.name, ".debug"), ignore_errors=True)  # perf's copy
    d = document(path)
    true("leaf" not in {r["function"] for r in d["rows"]}, "gone: no names")
    why = next(u for u in d["quality"]["unnamed"] if u["module"] == exe)
    true("No such file" in why["reason"] and "--symfs" in why["remedy"], why)
    shutil.copy(program("nofp", "-fomit-frame-pointer"), exe)
    d = document(path)
    true("leaf" not in {r["function"] for r in d["rows"]}, "another build: no names, rather than wrong ones")
    true("another build" in next(u for u in d["quality"]["unnamed"] if u["module"] == exe)["reason"], d["quality"]["unnamed"])
    fs = os.path.join(ROOM.name, "fs")
    os.makedirs(fs + os.path.dirname(exe))
    shutil.copy(program("fp", "-fno-omit-frame-pointer"), fs + exe)
    true("leaf" in {r["function"] for r in rows("--symfs", fs, path)}, "names under another root")


@test
def without_build_ids_the_files_are_named():
    exe = os.path.join(ROOM.name, "unidentified")
    if os.path.exists(exe):
        os.unlink(exe)
    shutil.copy(program("noid", "-fno-omit-frame-pointer", "-Wl,--build-id=none"), exe)
    path = os.path.join(ROOM.name, "unidentified.data")
    r = sh(TARE, "record", "-q", "-B", "-e", "cpu-clock:u", "-o", path, "--", exe, "deep")
    equal(r.returncode, 0, r.stderr.decode())
    ended = os.stat(path).st_mtime
    def known(*words):
        return [(f["same_inode"], f["newer"], f["other_file"]) for f in document(*words, path)["quality"]["by_name"] if f["module"] == exe]

    def annotated(*words):
        return json.loads(sh(TARE, "annotate", "--format", "json", *words, "-i", path, "leaf").stdout)

    os.utime(exe, (ended - 5, ended - 5))
    if known()[0][0]:  # a file system that has inodes of its own
        true(f"{exe} is identified by its inode" in report(path), "text")
        true(f"{exe} is identified by its inode" in sh(TARE, "annotate", "-i", path, "leaf").stdout.decode(), "annotate")
    d = annotated()
    equal((d["build_verified"], d["newer_than_recording"], d["other_file"]), (False, False, False), "annotate's JSON")
    os.utime(exe, (ended + 5, ended + 5))
    unknown_everywhere(path, exe, "was changed after the recording")
    equal(known("--force-names"), [(False, True, False)], "forced")
    for said in (report("--force-names", path), sh(TARE, "annotate", "--force-names", "-i", path, "leaf").stdout.decode()):
        true("newer than the recording" in next(l for l in said.splitlines() if f"{exe} is identified only by its name" in l), said)
    equal(annotated("--force-names")["newer_than_recording"], True)
    # The same bytes and times, as of a package that is installed anew, in another file.
    shutil.copy(exe, exe + ".new")
    os.utime(exe + ".new", (ended - 5, ended - 5))
    os.rename(exe + ".new", exe)
    unknown_everywhere(path, exe, "the file here has another inode")
    equal(known("--force-names"), [(False, False, True)], "forced")
    for said in (report("--force-names", path), sh(TARE, "annotate", "--force-names", "-i", path, "leaf").stdout.decode()):
        true("not the file that ran: its inode differs" in next(l for l in said.splitlines() if f"{exe} is identified only by its name" in l), said)
    equal(annotated("--force-names")["other_file"], True)
    equal(known("--symfs", "/"), [(False, False, False)], "the user vouches for it")


def exported(form, *words):
    r = sh(TARE, "export", "-f", form, *words)
    equal(r.returncode, 0, r.stderr.decode())
    return gzip.decompress(r.stdout) if form == "pprof" else r.stdout, r.stderr.decode()


def unknown_everywhere(path, exe, why):
    """No name of the file here in any output, each says why or a line on standard error does; --symfs and --force-names give the names."""
    reason = next(u for u in document(path)["quality"]["unnamed"] if u["module"] == exe)
    true(why in reason["reason"] and "--symfs" in reason["remedy"] and "--force-names" in reason["remedy"], reason)
    true(why in report(path) and "leaf" not in report(path), report(path))
    for words in (["--format", "csv"], ["--folded"]):
        r = report(*words, path, text=False)
        true(b"leaf" not in r.stdout and b"[unknown]" in r.stdout and why in r.stderr.decode(), f"{words}: {r.stderr}")
        for given in (["--symfs", "/"], ["--force-names"]):
            r = report(*words, *given, path, text=False)
            true(b"leaf" in r.stdout and not r.stderr, f"{words} {given}: {r.stderr}")
    page = os.path.join(ROOM.name, "unknown.html")
    report("--html", page, path)
    true('"leaf"' not in Path(page).read_text(), "page")
    for form in ("folded", "pprof", "firefox", "perfetto", "speedscope", "csv", "html"):
        out, said = exported(form, path)
        true((b'"leaf"' if form == "html" else b"leaf") not in out, form)
        true(why in said, f"{form}: {said}")
        for given in (["--symfs", "/"], ["--force-names"]):
            out, said = exported(form, *given, path)
            true(b"leaf" in out and not said, f"{form} {given}: {said}")
    r = sh(TARE, "annotate", "-i", path, "leaf")
    true(r.returncode == 125 and why in r.stderr.decode(), r.stderr)


@test
def names_of_another_host_are_unknown():
    """The recording's host is another one by name, as of a file that was copied here: the same path, inode and time prove nothing."""
    exe = os.path.join(ROOM.name, "elsewhere")
    shutil.copy(program("noid", "-fno-omit-frame-pointer", "-Wl,--build-id=none"), exe)
    path = os.path.join(ROOM.name, "elsewhere.data")
    r = sh(TARE, "record", "-q", "-e", "cpu-clock:u", "-o", path, "--", exe, "deep")
    equal(r.returncode, 0, r.stderr.decode())
    true("leaf" in {r["function"] for r in rows(path)}, "named on its own host")
    data, hostname = bytearray(Path(path).read_bytes()), 3
    bits = struct.unpack("<Q", data[72:80])[0]
    row = sum(struct.unpack("<QQ", data[40:56])) + 16 * bin(bits & (1 << hostname) - 1).count("1")
    at = struct.unpack("<Q", data[row:row + 8])[0] + 4  # after the length of the string
    equal(data[at:at + len(os.uname().nodename)].decode(), os.uname().nodename, "the host's name")
    data[at] ^= 1
    Path(path).write_bytes(data)
    unknown_everywhere(path, exe, "it ran on another host")


@test
def a_recording_cut_behind_its_samples_is_partial():
    """Its list of build ids is cut off, wholly or in its middle: names of another build are not shown."""
    exe = os.path.join(ROOM.name, "cut")
    shutil.copy(program("fp", "-fno-omit-frame-pointer"), exe)
    path = record("cut.data", [exe, "deep"], "-g")
    whole = Path(path).read_bytes()
    end = sum(struct.unpack("<QQ", whole[40:56]))
    ids = struct.unpack("<QQ", whole[end:end + 16])  # of BUILD_ID: the first there is
    shutil.copy(program("nofp", "-fomit-frame-pointer"), exe)
    shutil.rmtree(os.path.join(ROOM.name, ".debug"), ignore_errors=True)
    for cut in (end + 8, end + 100, ids[0] + 10, sum(ids) - 1, sum(ids), len(whole) - 1):
        bad = os.path.join(ROOM.name, "bad.data")
        Path(bad).write_bytes(whole[:cut])
        d = document(bad, status=1)
        true("features are truncated" in (d["quality"]["damage"] or ""), f"cut at {cut}: {d['quality']['damage']}")
        equal("BUILD_ID" in d["quality"]["damage"], cut < sum(ids), f"cut at {cut}")
        true(not {"leaf", "inner"} & {r["function"] for r in d["rows"] if r["module"] == exe}, f"cut at {cut}: a name of another build")
        why = next(u["reason"] for u in d["quality"]["unnamed"] if u["module"] == exe)
        true("another build" in why or (cut < sum(ids) and "list of build ids is truncated" in why), f"cut at {cut}: {why}")
        true("partial:" in report(bad, status=1), f"cut at {cut}")
        equal(sum(r["events"][0]["self"] for r in d["rows"]), d["events"][0]["amount"], "every sample is there")
        for words in (("dump", "--header"), ("dump", "--counts"), ("export", "-o", "/dev/null", "--format", "folded")):
            r = sh(TARE, *words, bad)
            true(r.returncode == 1 and b"features are truncated" in r.stderr, f"cut at {cut}: {words}: {r.returncode} {r.stderr}")
    Path(bad).write_bytes(whole[:ids[0] + 10])
    d = document("--symfs", "/", bad, status=1)
    true(not d["quality"]["all_builds_verified"], "the user vouches for the files: said")


@test
def a_stripped_program_says_so():
    exe = os.path.join(ROOM.name, "stripped")
    shutil.copy(program("fp", "-fno-omit-frame-pointer"), exe)
    equal(sh("strip", exe).returncode, 0, "strip")
    path = record("stripped.data", [exe, "deep"])
    d = document(path)
    why = next(u for u in d["quality"]["unnamed"] if u["module"] == exe)
    true("stripped" in why["reason"], why)
    # Its debugging file beside it gives the names back.
    equal(sh("objcopy", "--only-keep-debug", program("fp"), exe + ".debug").returncode, 0, "objcopy")
    equal(sh("objcopy", f"--add-gnu-debuglink={exe}.debug", exe).returncode, 0, "objcopy")
    true("leaf" in {r["function"] for r in rows(path)}, "names by .gnu_debuglink")


@test
def a_jit_map_names_code_in_memory():
    path = record("jit.data", [program("fp", "-fno-omit-frame-pointer"), "jit"])
    d = document("--sort", "pid,module,function", path)
    pid = d["rows"][0]["pid"]
    where = f"/tmp/perf-{pid}.map"
    if not os.path.exists(where):
        skip(f"the program could not write {where}")
    try:
        jit = [r for r in d["rows"] if r["function"] == "jit\x1b[31m hot;code"]
        true(jit and jit[0]["module"] == "[anonymous memory]", f"its function: {d['rows'][:3]}")
        true("\x1b" not in report(path), "control characters do not reach the terminal")
        true("jit?[31m hot:code " in report("--folded", path), "nor a ';' a flame graph")
        real = where + ".real"  # hard links need the same file system
        os.rename(where, real)
        for make in (os.link, os.symlink, shutil.copy) if os.geteuid() == 0 else (os.link,):
            make(real, where)
            if make != os.link:
                os.lchown(where, 65534, 65534)
            why = " ".join(u["reason"] for u in document(path)["quality"]["unnamed"])
            true(f"{where} is another user's" in why, f"{make.__name__}: {why}")
            os.unlink(where)
        os.rename(real, where)
    finally:
        os.unlink(where)
    d = document(path)
    true(any("generated at run time" in u["reason"] for u in d["quality"]["unnamed"]), "without the map it says why")


def named_share(rows):
    """How much of these rows has names: code that the kernel makes at run time, as of seccomp filters, may have none."""
    return sum(r["events"][0]["self"] for r in rows if r["function"]) / sum(r["events"][0]["self"] for r in rows)


@test
def kernel_symbols():
    text = Path("/proc/kallsyms").read_text().splitlines()[:50]
    if os.geteuid() or not any(int(l.split()[0], 16) for l in text):
        skip("this user sees no kernel addresses")
    path = record("kernel.data", ["dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=30000"], event="cpu-clock")
    d = document(path)
    kernel = [r for r in d["rows"] if r["kernel"]]
    true(named_share(kernel) > 0.8, f"kernel functions: {kernel[:3]}")
    other = os.path.join(ROOM.name, "kallsyms")
    Path(other).write_text("".join(l + "\n" for l in Path("/proc/kallsyms").read_text().splitlines() if " T _text" in l) + "")
    report("--kallsyms", other, path)
    first = next(int(l.split()[0], 16) for l in Path("/proc/kallsyms").read_text().splitlines() if l.endswith(" T _text"))
    Path(other).write_text(f"{first:x} T _text\n{first + 1:x} T _RNvC6kernel4work\n{first + (1 << 26):x} T _etext\n")
    names = {r["function"] for r in document("--kallsyms", other, path)["rows"] if r["kernel"]}
    true("kernel::work" in names and "_RNvC6kernel4work" not in names, f"its parts in Rust: {names}")
    Path(other).write_text("0000000000000000 T _text\n")
    true("hides addresses" in report("--kallsyms", other, path), "secret ones are not used")
    d = document("--kallsyms", os.path.join(ROOM.name, "absent"), path)
    true(all(r["function"] is None for r in d["rows"] if r["kernel"]), "a file that is not there gives no names")


@test
def kernel_symbols_without_a_build_id():
    """As long as release, machine and address say that it is the running kernel, and no longer."""
    text = next((l.split()[0] for l in Path("/proc/kallsyms").read_text().splitlines() if l.endswith(" T _text")), "0")
    if os.geteuid() or not int(text, 16):
        skip("this user sees no kernel addresses")
    r = sh(TARE, "record", "-o", "-", "-e", "cpu-clock", "-F", "4000", "--", "dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=8000")
    release, host, place = os.uname().release.encode(), os.uname().nodename.encode(), struct.pack("<Q", int(text, 16))
    rows = [
        (r.stdout, None),
        (r.stdout.replace(release + b"\0", b"x" + release[1:] + b"\0"), "the kernel or machine differs from this one"),
        (r.stdout.replace(b"\0" + host + b"\0", b"\0" + b"x" + host[1:] + b"\0"), "the kernel or machine differs from this one"),
        (r.stdout.replace(place + b"[kernel", struct.pack("<Q", int(text, 16) + 0x200000) + b"[kernel"), "rebooted since then"),
    ]
    for raw, why in rows:
        true(why is None or raw != r.stdout, f"changed for {why}")
        d = json.loads(report("--format", "json", "-", input=raw))
        kernel = [row for row in d["rows"] if row["kernel"]]
        true(named_share(kernel) == 0 if why else named_share(kernel) > 0.8, f"{why}: {kernel[:3]}")
        equal([b["module"] for b in d["quality"]["by_name"] if "kernel" in b["module"]], [] if why else ["[kernel.kallsyms]"])
        if not why:
            names = [(row["function"], row["events"]) for row in kernel]
            elsewhere = os.path.join(ROOM.name, "kallsyms.moved")
            lines = (l.split() for l in Path("/proc/kallsyms").read_text().splitlines() if l[0] == "f" and "[" not in l)
            Path(elsewhere).write_text("".join(f"{int(l[0], 16) + 0x200000:x} {l[1]} {l[2]}\n" for l in lines))
            d = json.loads(report("--format", "json", "--kallsyms", elsewhere, "-", input=raw))
            moved = [(row["function"], row["events"]) for row in d["rows"] if row["kernel"]]
            true(len([n for n in names if n in moved]) > 0.8 * len(names), f"shifted: {names[:4]} {moved[:4]}")
        out = report("-", input=raw)
        true((why or "is named by the running kernel") in out, out)


@test
def pipes_and_compression():
    exe = program("fp", "-fno-omit-frame-pointer")
    r = sh("perf", "record", "-q", "-e", "cpu-clock:u", "-F", "4000", "-g", "-o", "-", "--", exe, "deep")
    out = report("--format", "csv", "-", input=r.stdout)
    true("leaf" in out, "through a pipe")
    zipped = record("z.data", [exe, "deep"], "-g", "-z")
    true("leaf" in {row["function"] for row in rows(zipped)}, "compressed")


@test
def damage_and_nonsense():
    whole = Path(record("fp.data", [])).read_bytes()
    for cut in (0, 7, 50, 103, 200, len(whole) // 3, len(whole) - len(whole) // 3):
        bad = os.path.join(ROOM.name, "bad.data")
        Path(bad).write_bytes(whole[:cut])
        r = sh(TARE, "report", bad)
        true(r.returncode in (0, 1, 125), f"cut at {cut}: {r.returncode} {r.stderr}")
        true(r.returncode == 0 or r.stdout or r.stderr.count(b"\n") in (1, 2), f"cut at {cut}: {r.stderr}")
    report(os.path.join(ROOM.name, "none"), status=125)
    report("a", "b", status=125)
    report("--sort", "colour", record("fp.data", []), status=125)
    report("-e", "cycles", record("fp.data", []), status=125)
    report("--ratio", "instructions / cycles", record("fp.data", []), status=125)
    report("--ratio", "1 +", record("fp.data", []), status=125)
    report("--diff", "x", record("fp.data", []), status=125)
    for words in (["--callers", "main"], ["--ratio", "a / b"], ["--sort", "pid"], ["--sort", "function,address"]):
        report("--diff", record("fp.data", []), *words, record("fp.data", []), status=125)
    report("-o", "/no/such/folder/x", record("fp.data", []), status=125)
    r = subprocess.run(f"exec {TARE} report {record('fp.data', [])} >&-", shell=True, capture_output=True, env=ENV)
    true(r.returncode == 125 and r.stderr, "closed standard output")
    r = subprocess.run(f"{TARE} report {record('fp.data', [])} >/dev/full", shell=True, capture_output=True, env=ENV)
    true(r.returncode == 125 and b"cannot write" in r.stderr, "a full disk")


@test
def tasks_have_a_column_of_their_name():
    path = record("fp.data", [program("fp", "-fno-omit-frame-pointer"), "threads"], "-g")
    for keys, head in (("tid", "process/thread"), ("pid", "process"), ("comm", "command"), ("comm,tid", "command")):
        lines = [l for l in report("--sort", keys, path).splitlines() if " self " in l and "cpu-clock" in l]
        true(lines and lines[0].split()[-1] == head, f"{keys}: {lines}")


@test
def a_name_of_100_kb_is_cut_in_csv():
    source = Path(ROOM.name, "long.c")
    name = "x" * 100000
    source.write_text(f"int {name}(int n) {{ volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }}\nint main(void) {{ return {name}(100000000) & 1; }}\n")
    exe = os.path.join(ROOM.name, "long")
    r = sh(CC, "-O0", str(source), "-o", exe)
    true(r.returncode == 0, r.stderr.decode()[:300])
    path = record("long.data", [exe], "-g")
    out = os.path.join(ROOM.name, "long.csv")
    r = sh(TARE, "export", "-f", "csv", "-o", out, path)
    equal(r.returncode, 0)
    longest = 0
    with open(out, newline="") as f:
        csv.field_size_limit(1 << 30)
        for row in csv.DictReader(f):
            longest = max(longest, *(len(part) for part in [row["function"], *row["stack"].split(";")]))
    equal(longest, 4096 + len("..."), "the beginning of the name")


@test
def differences_of_two_recordings():
    a, b = record("fp.data", []), record("fp2.data", [program("fp", "-fno-omit-frame-pointer"), "deep"], "-g")
    lines = [l.rsplit(" ", 2) for l in report("--folded", "--diff", a, b).splitlines()]
    equal(sum(int(l[1]) for l in lines), document(a)["events"][0]["amount"], "before")
    equal(sum(int(l[2]) for l in lines), document(b)["events"][0]["amount"], "after")
    scaled = [l.rsplit(" ", 2) for l in report("--folded", "--diff", a, "--normalise", b).splitlines()]
    off = sum(int(l[1]) for l in scaled) - document(b)["events"][0]["amount"]
    true(abs(off) <= len(scaled), f"normalised to the same sum: {off}")


@test
def what_changed_and_what_is_noise():
    a, b = record("fp.data", []), record("fp2.data", [program("fp", "-fno-omit-frame-pointer"), "deep"], "-g")
    d = json.loads(report("--format", "json", "--diff", a, b))
    validated(d, Path(sys.argv[2]).with_name("tare-report-diff-1.json"))
    old, new = document(a), document(b)
    for side, doc in (("before", old), ("after", new)):
        equal(d[side]["amount"], doc["events"][0]["amount"], side)
        for what in ("self", "total"):
            wanted = collections.Counter()
            for row in doc["rows"]:
                wanted[(row["comm"], row["module"].rpartition("/")[2], row["function"])] += row["events"][0][what]
            got = {(r["comm"], r["module"], r["function"]): r[what][side] for r in d["rows"] if r[what][side]}
            equal(got, {k: v for k, v in wanted.items() if v}, f"{what} {side}")
    same = json.loads(report("--format", "json", "--diff", a, a))
    true(all(r["self"]["change"] == 0 and not r["self"]["beyond"] and r["self"]["p"] == 1 for r in same["rows"]), "of itself nothing")
    shares = json.loads(report("--format", "json", "--normalise", "--diff", a, b))
    for r in shares["rows"]:
        change = r["self"]["after"] / d["after"]["amount"] - r["self"]["before"] / d["before"]["amount"]
        true(abs(r["self"]["change"] - change) < 1e-12, f"share of {r}")
    rows = list(csv.DictReader(io.StringIO(report("--format", "csv", "--diff", a, b))))
    equal([(r["function"], int(r["self before"])) for r in rows], [(r["function"] or "[unknown]", r["self"]["before"]) for r in d["rows"]], "csv")
    text = report("--diff", a, b)
    true("rows changed by more than the sampling noise" in text and "one recording of each" in text, text)


@test
def stacks_that_begin_in_the_loader_are_whole_and_small_copies_are_named():
    source, out = Path(ROOM.name, "frame.c"), os.path.join(ROOM.name, "frame")
    source.write_text("""__attribute__((noinline)) int leaf(volatile char *p) { int s = 0; for (int i = 0; i < 200000; i++) s += p[i % 12000]; return s; }
        int main(void) { volatile char b[12000]; for (int i = 0; i < 12000; i++) b[i] = i; int s = 0; for (int k = 0; k < 60; k++) s += leaf(b); return s == 1; }""")
    true(sh(CC, "-g", "-O1", str(source), "-o", out).returncode == 0, "built")
    for copied, short in ((8192, True), (32768, False)):
        path = record(f"frame{copied}.data", [out], "--call-graph", f"dwarf,{copied}")
        q, text = document(path)["quality"], report(path)
        equal((q["stacks_cut_by_size"] > 0, "--call-graph dwarf,BYTES copies more" in text), (short, short), text)
        true(q["cut_stacks"] >= q["stacks_cut_by_size"], str(q))
    started = cut = 0  # samples of the dynamic loader, which the kernel enters at code without rules
    for i in range(5):
        path = record(f"loader{i}.data", ["true"], "--call-graph", "dwarf", rate="20000")
        d = document("--sort", "module", path)
        started += sum(r["events"][0]["samples"] for r in d["rows"] if "ld-linux" in (r["module"] or ""))
        cut += d["quality"]["cut_stacks"]
    true(started > 0 and cut <= started / 5, f"{cut} cut off, of {started}")


@test
def the_head_has_the_command_as_a_shell_takes_it():
    path = record("quoted.data", ["sh", "-c", f"{program('fp', '-fno-omit-frame-pointer')} deep; : 'a b' $HOME"], "-g")
    head = sh("env", "COLUMNS=1000", TARE, "report", path).stdout.decode().splitlines()[1]
    equal(shlex.split(head), document(path)["recorded"]["command"], "the words again")
    leaf = next(r["function"] for r in document(path)["rows"] if r["function"] == "leaf")
    text = report("--callers", leaf, path)
    true("called by" in text and "\n calls\n" not in text, text)


@test
def sides_that_were_not_sampled_alike():
    seldom, often = (record(f"at{hz}.data", [program("fp", "-fno-omit-frame-pointer"), "deep"], "-g", rate=str(hz)) for hz in (500, 4000))
    for words, before, after, side in (([], seldom, often, "after"), ([], often, seldom, "before"), ([], often, often, None), (["--normalise"], seldom, often, None)):
        d = json.loads(report("--format", "json", *words, "--diff", before, after))
        validated(d, Path(sys.argv[2]).with_name("tare-report-diff-1.json"))
        equal(d["not_judged_more"], side, f"{words} {side}")
        equal((d["before"]["rate_hz"], d["before"]["period"]), (500, 2000000) if before == seldom else (4000, 250000), "as asked")
        more = [r for r in d["rows"] if r["self"]["change"] * (1 if side == "after" else -1) > 0]
        true(side is None or (more and all(r["self"]["p"] == 1 and not r["self"]["beyond"] for r in more)), f"{more[:2]}")
        text = report(*words, "--diff", before, after)
        equal(f"an increase {side} may be overhead of sampling, and is not judged" in text, side is not None, text)


@test
def narrow_and_wide():
    path = record("fp.data", [])
    for columns in ("40", "80", "300"):
        out = subprocess.run([TARE, "report", path], capture_output=True, env={**ENV, "COLUMNS": columns}).stdout.decode()
        table = out.split("\n\n")[1]
        true(all(len(l) <= max(int(columns), 110) for l in table.splitlines()), f"{columns}: {table}")


def fixture(name):
    path = FIXTURES / name
    if not FIXTURES.is_dir():
        skip(f"{FIXTURES} is not there; TARE_FIXTURES names the folder that holds perfdata/")
    return str(path)


@test
def recordings_of_real_machines():
    fixture("")
    for facts in sorted((FIXTURES / "expected").glob("*.json")):
        want = json.loads(facts.read_text())
        name = facts.name[:-5]
        samples = sum(want["samples_per_attr"].values())
        if want.get("err") or not samples:
            continue
        r = sh(TARE, "report", "--format", "json", "--sort", "module,address", fixture(name))
        true(r.returncode in (0, 1), f"{name}: {r.stderr.decode()}")
        d = json.loads(r.stdout)
        validated(d, SCHEMA)
        q = d["quality"]
        equal(q["samples"], samples, f"{name}: samples")
        equal(q["lost_records"], want["lost"], f"{name}: lost")
        equal(q["lost_samples"], want["lost_samples"], f"{name}: lost samples")
        if "group-read" in name:  # amounts are what the counters say, not periods
            equal({e["event"]: e["samples"] for e in d["events"]}, {"cycles": 34, "instructions": 34}, name)
            continue
        periods = all(int(a["sample_type"], 16) & 0x100 for a in want["attr"])
        if periods:
            equal(sum(int(e["amount"]) for e in d["events"]), want["period_sum"], f"{name}: sum of periods")
        mine = sorted((sum(e["samples"] for e in row["events"]) for row in d["rows"]), reverse=True)
        equal([n for n in mine if n][:len(want["top_ip"])], [n for _, n in want["top_ip"]][:len(mine)], f"{name}: the hottest addresses")


@test
def group_reads_are_columns():
    d = document(fixture("group-read-lost.perf.data"))
    equal([e["read_with_another"] for e in d["events"]], [False, True], "instructions were read with cycles")
    equal([e["amount"] for e in d["events"]], [sum(r["events"][i]["self"] for r in d["rows"]) for i in (0, 1)], "rows add up")
    ratio = document("--ratio", "instructions / cycles", fixture("group-read-lost.perf.data"))
    equal([d["ratio_mixed"], ratio["ratio_mixed"]], [False, True], "counted since the sample before")
    true("ratios are mixed where functions are short" in report("--ratio", "instructions / cycles", fixture("group-read-lost.perf.data")), "as text")
    for row in ratio["rows"]:
        cycles, instructions = (e["self"] for e in row["events"])
        equal(row["ratio"], instructions / cycles if cycles else None, "instructions per cycle")
    folded = report("--folded", "--ratio", "instructions / cycles", fixture("group-read-lost.perf.data"))
    true(all(re.search(r" \d+ (-|[0-9.e+-]+)$", l) for l in folded.splitlines()), folded)


def packed(path, make):
    """A recording as `perf record -z -o -` writes it: one event with ids in all records, and what make() gives, compressed.
    In a process of its own: what starts from here later would have this one's size as its own."""
    child = os.fork()
    if child:
        equal(os.waitpid(child, 0)[1], 0, "packing")
        return
    sample_type = 1 | 2 | 4 | 32 | 256  # address, thread, time, callchain, period
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000, sample_type, 0, 1 | 1 << 18).ljust(128, b"\0")
    z = subprocess.run(["zstd", "-9", "-c"], input=b"".join(make()), stdout=subprocess.PIPE, check=True).stdout
    out = b"PERFILE2" + struct.pack("<Q", 16) + record_of(64, attr + struct.pack("<Q", 1))
    Path(path).write_bytes(out + b"".join(record_of(81, z[k : k + 60000]) for k in range(0, len(z), 60000)))
    os._exit(0)


def record_of(kind, body, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def mapping(pid, start, size, offset, time):
    return record_of(1, struct.pack("<IIQQQ", pid, pid, start, size, offset) + b"/nosuch\0" + struct.pack("<IIQ", pid, pid, time))


def sampled(time, chain):
    return record_of(9, struct.pack("<QIIQQQ", 0x1000, 1, 1, time, 1000, len(chain)) + struct.pack(f"<{len(chain)}Q", *chain), 2)


def memory_of(status, path):
    with open(os.path.join(ROOM.name, "out"), "wb") as out:
        child = subprocess.Popen([TARE, "report", path], stdout=out, stderr=subprocess.DEVNULL, env=ENV)
        _, waited, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(waited)
    equal(child.returncode, status, f"exit status of {path}")
    return usage.ru_maxrss >> 10, Path(out.name).read_text()


@test
def a_small_file_that_unpacks_to_much_takes_little_memory():
    if not shutil.which("zstd"):
        skip("there is no zstd")
    path, chain = os.path.join(ROOM.name, "small"), [0x1000 + 16 * k for k in range(8000)]
    packed(path, lambda: [sampled(1, [1, 2, 3])])
    if sh(TARE, "report", path).returncode != 0:
        skip("this tare is built without zstd")
    # each mapping makes other places of the same addresses: 8 million of them in 20 KB
    packed(path, lambda: [r for i in range(1000) for r in (mapping(1, 0, 1 << 40, i << 20, 2 * i), sampled(2 * i + 1, chain))])
    true(os.path.getsize(path) < 40000, os.path.getsize(path))
    megabytes, said = memory_of(0, path)
    true(megabytes < 300, f"{megabytes} MiB")
    true("stacks truncated: too many different ones:" in said and " 1,000 samples" in said, said)
    # each child has 2000 mappings of its own
    children = lambda: [record_of(7, struct.pack("<IIIIQ", 2 + i, 1, 2 + i, 1, 0) + struct.pack("<IIQ", 1, 1, 0)) + mapping(2 + i, 7, 1, 0, 0) for i in range(2000)]
    packed(path, lambda: [mapping(1, k * 8192, 4096, 0, 0) for k in range(2000)] + [sampled(0, [5])] + children())
    megabytes, said = memory_of(1, path)
    true(megabytes < 100, f"{megabytes} MiB")
    true("mappings at a time" in said and "1 sample," in said, said)


@test
def a_sample_of_every_event_is_exact():
    if not os.access("/proc/sys/kernel/perf_event_paranoid", os.R_OK):
        skip("no perf events here")
    paths = [os.path.join(ROOM.name, f"every-{i}.data") for i in range(2)]
    for path in paths:
        r = sh(TARE, "record", "-q", "-e", "page-faults:u", "-c", "1", "-o", path, "--", "ls", "/")
        equal(r.returncode, 0, r.stderr.decode())
    text = report(paths[0])
    true("\n Every event was sampled, so shares are exact.\n" in text and "is known to" not in text, text)
    equal({e["margin"] for r in document(paths[0])["rows"] for e in r["events"]}, {0})
    text = report("--diff", *paths)
    true("there is no sampling noise" in text and "±" not in text and "+-" not in text, text)
    two = os.path.join(ROOM.name, "second.data")
    sh(TARE, "record", "-q", "-e", "page-faults:u", "-c", "2", "-o", two, "--", "ls", "/")
    true("is known to" in report(two), "one in two is a sample of them")


@test
def the_exact_engine_takes_the_same_samples():
    if sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", "true").returncode:
        skip("no exact engine here")
    paths = [os.path.join(ROOM.name, f"exact-{i}.data") for i in range(2)]
    for path in paths:
        sh(TARE, "record", "-q", "--engine", "exact", "-e", "instructions:u", "-c", "5003", "-o", path, "--", "ls", "/")
    true("is known to" in report("--filter", "comm=*", paths[0]), "of every 5003 one is a sample")
    d = json.loads(report("--format", "json", "--diff", *paths))
    equal({r["self"]["half_95"] for r in d["rows"]}, {0})
    text = report("--diff", *paths)
    true("\n The exact engine counted the same on both sides.\n" in text and "within the noise" not in text, text)
    by_samples = report("--diff", paths[0], "--filter", "comm=*", paths[1])
    true("\n The exact engine took the same samples on both sides.\n" in by_samples, by_samples)
    true("by chance" not in text, text)
    sh(TARE, "record", "-q", "--engine", "exact", "-e", "instructions:u", "-c", "5003", "-o", paths[1], "--", "true")
    true("the exact engine takes one in each period" in report("--diff", paths[0], "--filter", "comm=*", paths[1]), "the noise is not theirs")
    sh(TARE, "record", "-q", "--engine", "exact", "-e", "instructions:u", "-c", "1", "-o", paths[1], "--", "true")
    true("Every event was sampled" in report(paths[1]), "each instruction")


@test
def exact_totals_are_compared_to_the_event():
    if sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", "true").returncode:
        skip("no exact engine here")
    if not shutil.which("gcc"):
        skip("no gcc")
    spin = os.path.join(ROOM.name, "spin")
    subprocess.run(["gcc", "-O1", "-x", "c", "-", "-o", spin], text=True, check=True,
                   input='#include <stdlib.h>\nint main(int c, char **v) { long n = atol(v[1]); __asm__ volatile("1: dec %0; jnz 1b" : "+r"(n)); return c - 2; }')
    paths, counts = [os.path.join(ROOM.name, f"spin-{i}.data") for i in range(2)], []
    for path, turns in zip(paths, ("5000000", "5160000")):
        sh(TARE, "record", "-q", "--engine", "exact", "-o", path, "--", spin, turns)
        r = sh(TARE, "stat", "--engine", "exact", "--format", "json", "-e", "instructions:u", "--", spin, turns)
        counts.append(json.loads(r.stderr)["events"][0]["value"])
    more = counts[1] - counts[0]
    true(320000 <= more < 320100, f"two instructions a turn: {more}")
    whole = json.loads(report("--format", "json", "--diff", *paths))
    equal([whole[side]["total"] for side in ("before", "after")], counts)
    equal([whole["in_all"][k] for k in ("counted", "before", "after", "change", "half_95", "beyond")], [True, *counts, more, 0, True])
    text = report("--diff", *paths)
    true(f" in total: +3.2 % (counted exactly: {counts[0]:,} before, {counts[1]:,} after)\n" in text, text)
    same = report("--diff", paths[0], paths[0])
    true(f"(counted exactly: {counts[0]:,} before, {counts[0]:,} after)\n" in same and "counted the same on both sides" in same, same)


@test
def branch_stacks_as_callers():
    d = document("--by-total", fixture("x86-lbr-callstack.perf.data"))
    true(d["quality"]["with_stacks"], "stacks from branch records")
    r = sh(TARE, "report", "--folded", fixture("x86-lbr-callstack.perf.data"))
    depths = collections.Counter(l.count(b";") for l in r.stdout.splitlines())
    true(max(depths) >= 5, f"user and kernel frames: {depths}")


@test
def what_others_broke():
    fixture("")
    for path in sorted((FIXTURES / "corpus").iterdir()) + [FIXTURES / "corrupt-zero-size-sample.perf.data"]:
        for options in ([], ["--folded"], ["--format", "json", "--sort", "line"]):
            r = subprocess.run([TARE, "report", *options, str(path)], capture_output=True, timeout=20, env=ENV)
            true(r.returncode in (0, 1, 125), f"{path.name} {options}: {r.returncode} {r.stderr.decode()[:300]}")


main()
