# SPDX-License-Identifier: MIT
"""`tare export` as a user runs it: every format is read back by a reader of its own and must say the same.

usage: export_test.py TARE GOLDEN SCHEMAS
"""
import csv
import gzip
import io
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import jsonschema

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import resident  # noqa: E402
import made_accesses  # noqa: E402
from tracepoint import of_two  # noqa: E402

TARE, GOLDEN, SCHEMAS = os.path.abspath(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
FIXTURES = Path(os.environ.get("TARE_FIXTURES", Path(__file__).parents[2] / ".." / "shared" / "fixtures")) / "mmprofdata"
ROOM = tempfile.TemporaryDirectory()
HERE = Path(ROOM.name)


def tare(*words, status=0, **options):
    r = subprocess.run([TARE, "export", *map(str, words)], capture_output=True, timeout=100, **options)
    equal(r.returncode, status, f"tare export {words}: {r.stderr.decode()[:500]}")
    return r


# ---- a recording whose content is known ----

class Maker:
    """measureme's version 9, from what its documentation says."""

    BASE = 100_000_003

    def __init__(self):
        self.events, self.strings, self.index = b"MMES" + struct.pack("<I", 9), b"MMSD" + struct.pack("<I", 9), b"MMSI" + struct.pack("<I", 9)
        self.known = {}

    def string(self, text):
        text = text if isinstance(text, bytes) else text.encode()
        if text not in self.known:
            self.known[text] = self.BASE + len(self.strings)
            self.strings += text + b"\xff"
        return self.known[text]

    def event(self, kind, label, thread, begin, end):
        return struct.pack("<QQIIII", self.string(kind), self.string(label), thread, begin & 0xffffffff, end & 0xffffffff,
                           (begin >> 32) << 16 | end >> 32)

    def add(self, *event):
        self.events += self.event(*event)

    def write(self, path, command="/opt/bin/made --x"):
        meta = json.dumps({"start_time": 1700000000000000000, "process_id": 42, "cmd": command,
                           "counter": {"name": "wall-time", "units": [["ns", 1]]}})
        at = self.string(meta) - self.BASE
        self.index += struct.pack("<QQ", 100_000_001, at)
        with open(path, "wb") as f:
            f.write(b"MMPD" + struct.pack("<I", 9))
            for tag, data in enumerate((self.events, self.strings, self.index)):
                f.write(struct.pack("<BI", tag, len(data)) + data)
        return path


# What is in it: (label, category, arguments, thread, begin, end), children before parents as measureme writes them.
EVIL = "</script><script>alert(1)</script>; \"q\", \u20ac"
REGIONS = [
    ("leaf", "Query", [], 1, 150, 1151),
    (EVIL, "Query", [], 1, 1300, 1301),
    ("leaf", "Query", ["src/a.rs:1", "T\\\"x"], 1, 1300, 1400),
    ("outer", "Activity", [], 1, 100, 2_000_000),
    ("leaf", "Query", [], 1, 2_000_100, 2_000_200),
    ("outer", "Activity", [], 2, 5_000_000_007, 5_000_000_008),
]
INSTANT, INTEGER = 2**48 - 1, 2**48 - 2


def made():
    path = HERE / "made.mm_profdata"
    if not path.exists():
        m = Maker()
        for label, kind, arguments, thread, begin, end in REGIONS:
            m.add(kind, "\x1e".join([label, *arguments]), thread, begin, end)
        m.write(path)
    return path


# ---- readers ----

def fields(data):
    """Protocol buffers without a schema: [(field, value)], a message or string as bytes."""
    at, out = 0, []

    def varint():
        nonlocal at
        v = shift = 0
        while True:
            b = data[at]
            at += 1
            v |= (b & 0x7f) << shift
            shift += 7
            if b < 0x80:
                return v & (1 << 64) - 1

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            out.append((tag >> 3, varint()))
        elif tag & 7 == 2:
            n = varint()
            true(at + n <= len(data), f"field {tag >> 3} at {at} ends behind its message")
            out.append((tag >> 3, data[at:at + n]))
            at += n
        else:
            raise AssertionError(f"wire type {tag & 7} at {at}")
    return out


def one(message, field, default=None):
    return next((v for f, v in message if f == field), default)


def packed(data):
    out, at = [], 0
    while at < len(data):
        v = shift = 0
        while True:
            b = data[at]
            at += 1
            v |= (b & 0x7f) << shift
            shift += 7
            if b < 0x80:
                break
        out.append(v)
    return out


def read_perfetto(data):
    """What ui.perfetto.dev would show: tracks, and slices, instants and values in their order."""
    tracks, state, slices, other = {}, {}, [], []
    for field, packet in fields(data):
        equal(field, 1, "a trace is packets")
        p = fields(packet)
        sequence = one(p, 10)
        if one(p, 60):
            t = fields(one(p, 60))
            process, thread = fields(one(t, 3, b"")), fields(one(t, 4, b""))
            name = one(thread, 5) or one(process, 6) or one(t, 2)
            tracks[one(t, 1)] = {"name": name.decode(), "parent": one(t, 5), "pid": one(process, 1), "tid": one(thread, 2),
                                 "counter": one(t, 8) is not None}
        if one(p, 13, 0) & 1:
            state[sequence] = {"names": {}, "categories": {}, "open": {}}
        s = state.get(sequence)
        if one(p, 59):
            d = fields(one(fields(one(p, 59)), 11))
            s["track"], s["counters"] = one(d, 11), [v for f, v in d if f == 31]
        for f, v in fields(one(p, 12, b"")):
            e = fields(v)
            s["categories" if f == 1 else "names"][one(e, 1)] = one(e, 2).decode()
        if one(p, 11) is None:
            continue
        true(one(p, 13) & 2, "an event needs the state of its sequence")
        e = fields(one(p, 11))
        track, kind = one(e, 11, s["track"]), one(e, 9)
        true(track in tracks, "a track has a descriptor before its events")
        name = s["names"][one(e, 10)] if one(e, 10) else (one(e, 23) or b"").decode()
        uuids = [v for f, v in e if f == 31] or s["counters"]
        values = dict(zip((tracks[u]["name"] for u in uuids), [v for f, v in e if f == 12]))
        notes = {}
        for f, v in e:
            if f == 4:
                a = fields(v)
                notes[one(a, 10).decode()] = one(a, 6, b"").decode() if one(a, 6) is not None else one(a, 3)
        if kind == 1:
            category = s["categories"].get(next((v for f, v in e if f == 3), None))
            s["open"].setdefault(track, []).append((name, category, one(p, 8), values, notes))
        elif kind == 2:
            before = [o["open"][track].pop() for o in state.values() if o["open"].get(track)][:1]
            if before:
                n, category, begin, from_, begun = before[0]
                delta = {k: values[k] - from_[k] for k in values if k in from_}
                slices.append((tracks[track]["name"], n, category, begin, one(p, 8), delta, {**begun, **notes}))
            else:
                other.append(("end", tracks[track]["name"], one(p, 8)))
        else:
            other.append((kind, tracks[track]["name"], name, one(p, 8), one(e, 30), notes))
    return tracks, slices, other


def read_pprof(data, of_samples=False):
    p = fields(gzip.decompress(data))
    strings = [v.decode() for f, v in p if f == 6]
    equal(strings[0], "", "string 0")
    types = [(strings[one(fields(v), 1)], strings[one(fields(v), 2)]) for f, v in p if f == 1]
    functions, locations, samples, files, modules, builds = {}, {}, {}, {}, {}, {}
    for f, v in p:
        m = fields(v) if f in (2, 3, 4, 5) else None
        if f == 5:
            functions[one(m, 1)] = strings[one(m, 2)]
        elif f == 4:
            locations[one(m, 1)] = functions[one(fields(one(m, 4)), 1)]
            modules.setdefault(locations[one(m, 1)], set()).update(files[v] for k, v in m if k == 2)
        elif f == 3:
            equal((one(m, 1), one(m, 7)), (len(files) + 1, 1), "mappings by number, with functions")
            files[one(m, 1)] = strings[one(m, 5)]
            builds[strings[one(m, 5)]] = strings[one(m, 6, 0)]
        elif f == 2:
            stack = tuple(locations[i] for i in reversed(packed(one(m, 1))))
            true(stack not in samples or of_samples, f"{stack} stands twice")  # of samples, functions of two modules may share a name
            values = packed(one(m, 2))
            equal(len(values), len(types), "values of a sample")
            samples[stack] = [a + b for a, b in zip(values, samples.get(stack, [0] * len(types)))]
    return {"types": types, "samples": samples, "files": list(files.values()), "modules": modules, "builds": builds, "default": strings[one(p, 14)], "time": one(p, 9),
            "comments": [strings[v] for f, v in p if f == 13]}


def stacks_of(regions):
    """Self time by path, from intervals: the slow way."""
    out, count = Counter(), Counter()
    for thread in {r[3] for r in regions}:
        mine = [r for r in regions if r[3] == thread]
        mine.sort(key=lambda r: (r[4], -r[5]))
        for r in mine:
            around = [o for o in mine if o is not r and o[4] <= r[4] and o[5] >= r[5] and (o[4], -o[5]) < (r[4], -r[5])]
            path = tuple(o[0] for o in around) + (r[0],)
            out[path] += r[5] - r[4]
            count[path] += 1
            if around:
                out[path[:-1]] -= r[5] - r[4]
        tops = [r for r in mine if not any(o is not r and o[4] <= r[4] and o[5] >= r[5] for o in mine)]
        for a, b in zip(tops, tops[1:]):
            out[()] += b[4] - a[5]
    return out, count


# ---- each format says what is in the recording ----

@test
def chrome():
    d = json.loads(tare("-f", "chrome", made()).stdout)
    got = sorted((e["name"], e["cat"], [e["args"][k] for k in sorted(e["args"]) if k.startswith("arg")], e["tid"],
                  round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)) for e in d["traceEvents"] if e["ph"] == "X")
    equal(got, sorted(REGIONS), "regions")
    true(all(e["pid"] == 42 for e in d["traceEvents"] if e["ph"] != "M" or "tid" in e), "the process")
    equal(d["otherData"]["start_ns"], "1700000000000000000", "when it began")
    equal(d["otherData"]["command"], "/opt/bin/made --x", "the command")


@test
def nanoseconds_survive_in_the_text():
    text = tare("-f", "chrome", made()).stdout.decode()
    true('"ts":5000000.007,"dur":0.001' in text, "the text has each digit")
    text = tare("-f", "firefox", made()).stdout.decode()
    true("5000.000007" in text and "5000.000008" in text, "Firefox counts in ms")


@test
def perfetto():
    tracks, slices, other = read_perfetto(tare("-f", "perfetto", made()).stdout)
    got = sorted((n, c, [notes[k] for k in sorted(notes)], b, e) for _, n, c, b, e, _, notes in slices)
    equal(got, sorted((r[0], r[1], r[2], r[4], r[5]) for r in REGIONS), "slices")
    equal(other, [], "nothing else")
    equal([(t["name"], t["pid"]) for t in tracks.values() if t["pid"] is not None], [("made", 42)], "the process")
    equal(sorted(t["tid"] for t in tracks.values() if t["tid"] is not None), [1, 2], "threads")
    true(all(t["parent"] in tracks for t in tracks.values() if t["parent"]), "parents are there")


@test
def perfetto_of_everything():
    """The recording of src/export/export_test.c, whose counters, losses and numbers are known."""
    tracks, slices, other = read_perfetto((GOLDEN / "all.pftrace").read_bytes())
    main_slices = [s for s in slices if s[0] == "main"]
    equal([(s[1], s[3], s[4], s[5]) for s in main_slices],
          [("inner", 150, 1151, {"instructions:u": 1000}),
           ("<script>alert(1)</script>; \ufffd\ufffd( \u20ac \x01\n,\"q\"", 1300, 1301, {"instructions:u": 10}),
           ("inner", 1300, 1400, {"instructions:u": 100}), ("outer", 100, 2000000, {"instructions:u": 4999000}),
           ("inner", 2000100, 2000200, {"instructions:u": 10})], "slices of main")
    worker = [s for s in slices if s[0].startswith("worker")]
    equal([s[5] for s in worker], [{}, {"instructions:u": 10}, {"instructions:u": 195}], "a value not read is not there")
    true("repaired" in worker[2][6], "what is repaired says so")
    numbers = [o for o in other if o[0] == 4]
    equal([(o[1], o[3], o[4]) for o in numbers], [("bytes", 160, 9007199254740993)], "an integer is a counter of its own")
    lost = [o for o in other if o[2] == "lost points"]
    equal([(o[3], o[5]["lost"]) for o in lost], [(500, 7)], "a loss")
    equal([(s[1], s[3], s[4]) for s in slices if s[0] == "load"], [("load", 1120, 400)], "a detached timing across threads")


@test
def firefox():
    d = json.loads(tare("-f", "firefox", made()).stdout)
    got = []
    for t in d["threads"]:
        m = t["markers"]
        for column in ("data", "name", "startTime", "endTime", "phase", "category"):
            equal(len(m[column]), m["length"], column)
        for table in ("samples", "stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols"):
            for column, values in t[table].items():
                true(column in ("length", "weight", "weightType") or len(values) == t[table]["length"], f"{table}.{column}")
        for i in range(m["length"]):
            arguments = m["data"][i].get("arguments")
            got.append((t["stringArray"][m["name"][i]], d["meta"]["categories"][m["category"][i]]["name"],
                        arguments.split(", ") if arguments else [], t["tid"], round(m["startTime"][i] * 1e6),
                        round(m["endTime"][i] * 1e6)))
            equal(m["phase"][i], 1, "an interval")
            true(any(s["name"] == m["data"][i]["type"] for s in d["meta"]["markerSchema"]), "its schema")
    equal(sorted(got), sorted(REGIONS), "markers")
    equal(d["meta"]["preprocessedProfileVersion"], 48, "version")
    equal(d["meta"]["startTime"], 1700000000000.0, "start in ms")


def check_firefox(d):
    """Its schema, and that every index is of a row that is there."""
    jsonschema.validate(d, json.loads(Path(__file__).with_name("firefox-profile-48.json").read_text()))
    categories = d["meta"]["categories"]
    kinds = {s["name"] for s in d["meta"]["markerSchema"]}

    def within(values, n, what, least=0):
        true(all(v is None or least <= v < n for v in values), f"{what}: an index of {n}")

    for c in d.get("counters", []):
        true(c["mainThreadIndex"] < len(d["threads"]), "the thread of a counter")
        equal({len(v) for k, v in c["samples"].items() if k != "length"}, {c["samples"]["length"]}, "columns of a counter")
    for t in d["threads"]:
        n, strings = {k: v["length"] for k, v in t.items() if isinstance(v, dict)}, len(t["stringArray"])
        for name, table in ((k, v) for k, v in t.items() if isinstance(v, dict)):
            for column, values in table.items():
                true(not isinstance(values, list) or len(values) == n[name], f"{name}.{column} is as long as the others")
        for table, column, rows, least in (
            ("samples", "stack", n["stackTable"], 0), ("stackTable", "frame", n["frameTable"], 0), ("stackTable", "category", len(categories), 0),
            ("frameTable", "func", n["funcTable"], 0), ("frameTable", "nativeSymbol", n["nativeSymbols"], 0), ("frameTable", "category", len(categories), 0),
            ("funcTable", "name", strings, 0), ("funcTable", "fileName", strings, 0), ("funcTable", "resource", n["resourceTable"], -1),
            ("resourceTable", "name", strings, 0), ("resourceTable", "lib", len(d["libs"]), 0), ("nativeSymbols", "name", strings, 0),
            ("nativeSymbols", "libIndex", len(d["libs"]), 0), ("markers", "name", strings, 0), ("markers", "category", len(categories), 0)):
            within(t[table][column], rows, f"{table}.{column}", least)
        for prefix, i in zip(t["stackTable"]["prefix"], range(n["stackTable"])):
            true(prefix is None or prefix < i, "a stack's caller stands before it")
        for category, sub in zip(t["stackTable"]["category"], t["stackTable"]["subcategory"]):
            true(sub < len(categories[category].get("subcategories", ["Other"])), "a subcategory")
        for phase, start, end, data in zip(*(t["markers"][c] for c in ("phase", "startTime", "endTime", "data"))):
            equal((start is not None, end is not None), (phase != 3, phase in (1, 3)), "which times a marker of that phase has")
            true(data is None or data["type"] in kinds, "a marker of a kind that is described")


@test
def firefox_is_what_its_schema_says():
    for d in (tare("-f", "firefox", made()).stdout, tare("-f", "firefox", recorded()).stdout, (GOLDEN / "all.firefox.json").read_bytes()):
        check_firefox(json.loads(d))


@test
def firefox_counters():
    d = json.loads((GOLDEN / "all.firefox.json").read_bytes())
    c = d["counters"][0]
    equal(c["name"], "instructions:u", "name")
    equal(len(c["samples"]["time"]), c["samples"]["length"], "times")
    equal(sum(c["samples"]["count"]), 5000060 - 1000, "what it went up by, from the first region to the last")
    equal(d["threads"][c["mainThreadIndex"]]["name"], "main", "its thread")


@test
def speedscope():
    d = json.loads(tare("-f", "speedscope", made()).stdout)
    frames = [f["name"] for f in d["shared"]["frames"]]
    got = []
    for p in d["profiles"]:
        open_, last = [], p["startValue"]
        equal(p["type"], "evented", "type")
        equal(p["unit"], "nanoseconds", "unit")
        for e in p["events"]:
            true(e["at"] >= last, "times do not go back")
            last = e["at"]
            if e["type"] == "O":
                open_.append((e["frame"], e["at"]))
            else:
                frame, at = open_.pop()
                equal(frame, e["frame"], "the innermost frame closes first")
                got.append((frames[frame], at, e["at"]))
        equal(open_, [], "every frame is closed")
        true(p["endValue"] >= last, "the end")
    equal(sorted(got), sorted((r[0], r[4], r[5]) for r in REGIONS), "frames")


def folded(*words):
    out = {}
    for line in tare("-f", "folded", *words).stdout.decode().splitlines():
        stack, n = line.rsplit(" ", 1)
        stack = tuple(stack.split(";"))
        true(stack not in out or "perf.data" in str(words), f"{stack} stands twice")  # there functions of two modules may share a name
        out[stack] = out.get(stack, 0) + int(n)
    return out


@test
def folded_stacks():
    wanted, _ = stacks_of(REGIONS)
    wanted = {("made", *(s.replace(";", ":") for s in k)): v for k, v in wanted.items() if v}
    equal(folded(made()), wanted, "stacks")


@test
def folded_by_thread():
    got = folded("--by-thread", made())
    equal(sum(got.values()), sum(folded(made()).values()), "the sum is the same")
    equal(len({k[1] for k in got}), 2, "two threads")


@test
def pprof():
    d = read_pprof(tare("-f", "pprof", made()).stdout)
    wanted, count = stacks_of(REGIONS)
    equal(d["types"], [("count", "count"), ("wall-time", "nanoseconds")], "types")
    equal(d["default"], "wall-time", "shown first")
    equal(d["samples"], {("made", *k): [count[k], v] for k, v in wanted.items() if v or count[k]}, "samples")
    equal(d["time"], 1700000000000000000, "when")
    equal(d["comments"], ["/opt/bin/made --x"], "the command")


@test
def comma_separated():
    text = tare("-f", "csv", made()).stdout.decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    got = [(r["label"], r["category"], json.loads(r["arguments"] or "[]"), int(r["tid"]), int(r["start_ns"]),
            int(r["start_ns"]) + int(r["duration_ns"])) for r in rows]
    equal(sorted(got), sorted(REGIONS), "rows")
    equal({r["kind"] for r in rows}, {"region"}, "kinds")
    equal([r["depth"] for r in rows][:4], ["1", "2", "1", "0"], "depths")


def page(*words):
    """The data of a page, with its documents checked against their schemas."""
    import jsonschema
    path = HERE / "page.html"
    r = subprocess.run([TARE, *map(str, words[:1]), *(w if w != "PAGE" else str(path) for w in map(str, words[1:]))], capture_output=True, timeout=100)
    if b"built without the page" in r.stderr:
        equal(r.returncode, 125, "status")
        true(not path.exists(), "no file")
        skip("this tare was built without its page")
    equal(r.returncode, 0, r.stderr)
    text = path.read_text()
    data = text.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    true("<" not in data, "no element can begin in the data")
    data = json.loads(data)
    for d in [data, *data["documents"]]:
        schema = json.loads((SCHEMAS / (d["schema"].replace("/", "-") + ".json")).read_text())
        jsonschema.validate(d, schema)
    return data


@test
def html():
    d = page("export", "-o", "PAGE", made())
    s = d["documents"][0]
    equal(d["recorded"], "2023-11-14 22:13:20 UTC", "when")
    wanted, _ = stacks_of(REGIONS)
    wanted["outer", "leaf"] += wanted.pop(("outer", "leaf", EVIL))  # less than a millionth of the whole
    equal(s["left_out"], 1, "and that is said")
    path = [()]
    for parent, frame in zip(s["nodes"]["parent"][1:], s["nodes"]["frame"][1:]):
        path.append((*path[parent], s["names"][s["frames"]["name"][frame]]))
    equal(dict(zip(path, s["nodes"]["self"][0])), dict(wanted), "stacks")
    equal(s["columns"], [{"name": "wall-time", "unit": "ns", "quality": "counted"}], "columns")


@test
def html_of_samples():
    recording = str(HERE / "quality.data")
    subprocess.run([TARE, "record", "-q", "-e", "page-faults:u", "-c", "1", "-o", recording, "--", "true"], check=True, capture_output=True)
    true(all("quality" not in c for c in page("export", "-o", "PAGE", recording)["documents"][0]["columns"]), "samples have none")


@test
def html_of_stat():
    evil = "</script><script>alert(1)</script>"
    d = page("stat", "--html", "PAGE", "-r", "2", "--", "true", evil)
    equal(d["documents"][0]["command"], ["true", evil], "command")
    true(evil in d["title"], "title")


@test
def html_of_report():
    recording = HERE / "perf.data"
    loop = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
    r = subprocess.run([TARE, "record", "-e", "cpu-clock:u", "-F", "2000", "-g", "-o", recording, "--", "sh", "-c", loop], capture_output=True, timeout=60)
    equal(r.returncode, 0, r.stderr)
    stacks, report, *code = page("report", "--html", "PAGE", recording)["documents"]
    equal(sum(sum(c) for c in stacks["nodes"]["self"]), sum(e["amount"] for e in report["events"]), "every sample is in the flame graph")
    selfs = {(r["function"], r["module"]): r["events"][0]["self"] for r in report["rows"]}
    true(code, "functions by instruction")
    equal({(d["function"], d["module"]): d["events"][0]["here"] for d in code}, {k: v for k, v in selfs.items() if k in [(d["function"], d["module"]) for d in code]},
          "the amounts of a function are those of its row")
    r = subprocess.run([TARE, "report", "--html", "x", "--folded", recording], capture_output=True, timeout=60)
    equal((r.returncode, b"--html cannot be combined" in r.stderr), (125, True), r.stderr)


@test
def html_of_summarize():
    stacks, summary = page("summarize", "--html", "PAGE", made())["documents"]
    wanted = {name: sum(v for k, v in stacks_of(REGIONS)[0].items() if k and k[-1] == name) for name in ("leaf", "outer", EVIL)}
    equal({l["label"]: l["counters"]["wall-time"]["self"] for l in summary["labels"]}, wanted, "labels")
    equal(sum(stacks["nodes"]["self"][0]), sum(stacks_of(REGIONS)[0].values()), "the flame graph")


@test
def html_of_windows():
    loop = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
    d = page("windows", "--every", "1ms", "-e", "page-faults", "--html", "PAGE", "--", "sh", "-c", loop)
    equal([x["schema"] for x in d["documents"]], ["tare/windows/1"], "documents")
    true(len(d["documents"][0]["threads"][0]["columns"]["begin"]) > 1, "windows")


@test
def small_stacks_count_to_the_one_above():
    """A millionth of the whole is left out, and nothing of the sum."""
    m = Maker()
    for i in range(50):
        m.add("Query", f"tiny {i}", 1, 100 + 10 * i, 101 + 10 * i)
    m.add("Query", "all", 1, 0, 10**10)
    path = m.write(HERE / "tiny.mm_profdata")
    s = page("export", "-o", "PAGE", path)["documents"][0]
    equal((s["left_out"], s["nodes"]["self"][0]), (50, [0, 10**10]), "left out, and the rest")


# ---- samples: every format says the same of one recording ----

def recorded():
    """Samples with stacks, of two threads and a child."""
    path = HERE / "stacks.perf.data"
    if not path.exists():
        work = ("import os, threading, zlib\nd = os.urandom(1 << 16)\ndef f():\n for _ in range(12): zlib.compress(d)\n"
                "t = threading.Thread(target=f); t.start(); f(); t.join()\nif os.fork() == 0: f(); os._exit(0)\nos.wait()")
        r = subprocess.run([TARE, "record", "-e", "cpu-clock", "-F", "4000", "-g", "-o", path, "--", sys.executable, "-c", work],
                           capture_output=True, timeout=60)
        equal(r.returncode, 0, r.stderr)
    return path


def csv_stacks(path, *words):
    rows = list(csv.DictReader(io.StringIO(tare("-f", "csv", *words, path).stdout.decode(), newline="")))
    true(len(rows) > 50, f"{len(rows)} samples")
    return rows


def sums(pairs):
    out = Counter()
    for stack, amount in pairs:
        out[stack] += amount
    return dict(out)


def exported_name(row):
    """Of a report's row: without a symbol a function is known by its file and address in an export."""
    nameless = row["function"].startswith("0x") and row["module"].startswith("/")
    return f"{row['module'].rsplit('/', 1)[1]}+{row['function']}" if nameless else row["function"]


@test
def samples_as_stacks():
    rows = csv_stacks(recorded())
    wanted = sums((tuple(s for s in r["stack"].split(";") if s), int(r["amount"])) for r in rows)
    got = folded(recorded())
    root = {k[0] for k in got}
    equal(len(root), 1, "one root")
    equal({k[1:]: v for k, v in got.items()}, wanted, "folded")
    d = read_pprof(tare("-f", "pprof", recorded()).stdout, of_samples=True)
    equal(d["types"], [("count", "count"), ("cpu-clock", "nanoseconds")], "types of pprof")
    count = sums((tuple(s for s in r["stack"].split(";") if s), 1) for r in rows)
    equal(sums((k[1:], v[1]) for k, v in d["samples"].items()), wanted, "pprof")
    equal(sums((k[1:], v[0]) for k, v in d["samples"].items()), count, "pprof's counts")
    r = subprocess.run([TARE, "report", "--format", "json", "--sort", "module,function", recorded()], capture_output=True, timeout=60)
    files = {}
    for row in json.loads(r.stdout)["rows"]:
        if row["function"]:
            files.setdefault(exported_name(row), set()).update({row["module"]} - {""})
    wrong = {k: (v, d["modules"].get(k)) for k, v in files.items() if d["modules"].get(k) != v}
    true(len(files) > 20 and not wrong, f"each function is of its file: {wrong}")
    equal(len(set(d["files"])), len(d["files"]), "each file once")
    notes = {f: re.search(rb"Build ID: (\w+)", subprocess.run(["readelf", "-n", f], capture_output=True, timeout=60).stdout)
             for f in d["files"] if f.startswith("/")}
    equal({f: d["builds"][f] for f in notes}, {f: n[1].decode() if n else "" for f, n in notes.items()}, "the files' builds, as their notes say")
    true(any(notes.values()), f"builds of {d['files']}")
    equal({b for f, b in d["builds"].items() if f.startswith("[anonymous")} - {""}, set(), "memory is of no build")


def program_of_known_addresses(stripped=0):
    """A recording of a program (1: without symbols, 2: and without call frame information), the program, and where its two functions are: name -> (address, size)."""
    if not shutil.which("cc"):
        skip("there is no compiler")
    program, source, path = HERE / f"addresses{stripped}", HERE / "addresses.c", HERE / f"addresses{stripped}.perf.data"
    if not path.exists():
        source.write_text("volatile unsigned long x;\n__attribute__((noinline)) void inner(void)\n{\n\tfor (int i = 0; i < 2000000; i++)\n\t\tx += i;\n}\n"
                          "__attribute__((noinline)) int outer(void)\n{\n\tinner();\n\treturn (int)x;\n}\nint main(void)\n{\n\treturn outer() == 1;\n}\n")
        subprocess.run(["cc", "-g", "-O1", "-fno-omit-frame-pointer", "-Wl,--build-id=sha1", "-o", program, source], check=True)
        subprocess.run(["cp", program, f"{program}.whole"], check=True)
        if stripped:
            subprocess.run(["strip", *(["-R", ".eh_frame", "-R", ".eh_frame_hdr"] if stripped == 2 else []), program], check=True)
        r = subprocess.run([TARE, "record", "--engine", "exact", "-e", "instructions:u", "-c", "10007", "-g", "-o", path, "--", program], capture_output=True, timeout=120)
        equal(r.returncode, 0, r.stderr)
    nm = subprocess.run(["nm", "-S", f"{program}.whole"], capture_output=True, text=True, check=True).stdout
    where = {n: (int(a, 16), int(s, 16)) for a, s, n in re.findall(r"^(\w+) (\w+) [tT] (inner|outer|main)$", nm, re.M)}
    return path, str(program.resolve()), where


def pprof_frames(path):
    """Of each location: name, address, line, mapping's number; and the mappings in the file's order."""
    p = fields(gzip.decompress(tare("-f", "pprof", path).stdout))
    strings = [v.decode() for f, v in p if f == 6]
    functions, out, maps, used = {}, {}, [], Counter()
    for f, v in p:
        m = fields(v) if f in (2, 3, 4, 5) else None
        if f == 3:
            maps.append((strings[one(m, 5)], one(m, 2, 0), one(m, 3, 0), one(m, 4, 0)))
        elif f == 5:
            functions[one(m, 1)] = (strings[one(m, 2)], strings[one(m, 4, 0)])
        elif f == 4:
            line = fields(one(m, 4))
            out[one(m, 1)] = (*functions[one(line, 1)], one(m, 3, 0), one(line, 2, 0), one(m, 2, 0))
    return list(out.values()), maps, functions


@test
def pprof_has_addresses_lines_and_the_program_first():
    path, program, where = program_of_known_addresses()
    frames, maps, functions = pprof_frames(path)
    equal(maps[0][0], program, "the first mapping is the program's")
    name, start, limit, offset = maps[0]
    code = next(s for s in re.findall(r"LOAD +(\w+) (\w+) \w+ \w+ (\w+) R +E", subprocess.run(["readelf", "-lW", program], capture_output=True, text=True).stdout))
    equal((offset, start, limit), (int(code[0], 16), int(code[1], 16), int(code[1], 16) + int(code[2], 16)), "its executable segment")
    mine = [f for f in frames if f[4] == 1 and f[0] in where]
    equal({f[0] for f in mine} >= {"inner", "main"}, True, f"functions: {frames}")
    lines = {"inner": range(2, 7), "outer": range(7, 12), "main": range(12, 16)}
    for function, file, address, line, _ in mine:
        at, size = where[function]
        true(at <= address < at + size and start <= address < limit, f"{function} at {address:#x}, not in {at:#x}+{size}")
        true(line in lines[function] and file.endswith("addresses.c"), f"{function}: {file}:{line}")
    true(len([f for f in mine if f[0] == "inner"]) > 1, "several addresses of one function")
    equal(len([n for n, _ in functions.values() if n == "inner"]), 1, "which is there once")


@test
def code_without_a_name_is_a_file_and_an_offset():
    for stripped in (1, 2):
        path, program, where = program_of_known_addresses(stripped)
        frames, maps, _ = pprof_frames(path)
        mine = [f for f in frames if f[4] == 1]
        at, size = where["inner"]
        of_inner = [f for f in mine if at <= f[2] < at + size]
        begins = {f[2]: at if stripped == 1 else f[2] for f in of_inner}  # call frame information says where a function begins
        true(of_inner and all(f[0] == f"{Path(program).name}+{begins[f[2]]:#x}" for f in of_inner), f"{mine}")
        true("[unknown]" not in {f[0] for f in mine}, mine)
        true(any(k[-1].startswith(Path(program).name + "+0x") for k in folded(path)), "in folded stacks, too")
        d = json.loads(tare("-f", "firefox", path).stdout)
        names = {n for t in d["threads"] for n in t["stringArray"]}
        true({f[0] for f in of_inner} <= names, "and for the Firefox Profiler")


@test
def firefox_has_libs_and_addresses():
    path, program, where = program_of_known_addresses()
    d = json.loads(tare("-f", "firefox", path).stdout)
    check_firefox(d)
    lib = next(i for i, l in enumerate(d["libs"]) if l["path"] == program)
    build = re.search(r"Build ID: (\w+)", subprocess.run(["readelf", "-n", program], capture_output=True, text=True).stdout)[1]
    b = bytes.fromhex(build)
    guid = (b[3::-1] + b[5:3:-1] + b[7:5:-1] + b[8:16]).hex().upper() + "0"
    equal((d["libs"][lib]["codeId"], d["libs"][lib]["breakpadId"], d["libs"][lib]["name"]), (build, guid, Path(program).name), "its lib")
    seen = set()
    for t in d["threads"]:
        fr, fu, res, strings = t["frameTable"], t["funcTable"], t["resourceTable"], t["stringArray"]
        for i in range(fr["length"]):
            f = fr["func"][i]
            name, resource = strings[fu["name"][f]], fu["resource"][f]
            if name in where and resource >= 0 and res["lib"][resource] == lib:
                at, size = where[name]
                true(at <= fr["address"][i] < at + size, f"{name}: {fr['address'][i]:#x}")
                true(strings[fu["fileName"][f]].endswith("addresses.c") and fr["line"][i] > 0, name)
                seen.add(name)
    true(seen >= {"inner", "main"}, f"functions: {seen}")


@test
def folded_stacks_of_exact_recordings_are_exact():
    for words, exact in (([], True), (["-g"], False)):
        path = HERE / f"exact{len(words)}.perf.data"
        r = subprocess.run([TARE, "record", "-q", "--engine", "exact", "-e", "instructions:u", "-c", "10007", *words, "-o", path, "--", "true"], capture_output=True, timeout=120)
        equal(r.returncode, 0, r.stderr)
        event = json.loads(subprocess.run([TARE, "report", "--format", "json", "-i", path], capture_output=True, timeout=120).stdout)["events"][0]
        r = subprocess.run([TARE, "export", "-f", "folded", "-o", "-", path], capture_output=True, text=True, timeout=120)
        equal(sum(int(line.rpartition(" ")[2]) for line in r.stdout.splitlines()) == event["amount"], exact, r.stdout)
        equal("amounts are from samples, although" in r.stderr, not exact, r.stderr)


@test
def pages_know_commands_and_processes():
    path = HERE / "commands.perf.data"
    work = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done"
    r = subprocess.run([TARE, "record", "--engine", "exact", "-e", "instructions:u", "-c", "10007", "-o", path, "--", "sh", "-c",
                        f"({work}) & ({work}); {sys.executable} -c 'pass'; wait"], capture_output=True, timeout=120)
    equal(r.returncode, 0, r.stderr)
    s = page("export", "-o", "PAGE", path)["documents"][0]
    names = [s["names"][i] for i in s["processes"]["command"]]
    rows = csv_stacks(path)
    mine, got = Counter(), Counter()
    for r in rows:
        mine[r["command"], int(r["pid"])] += int(r["amount"])
    for process, amount in zip(s["parts"]["process"], s["parts"]["self"][0]):
        got[names[process], s["processes"]["pid"][process]] += amount
    equal({k: v for k, v in got.items() if v}, dict(mine), "by process, as the samples say")
    true(len(set(names)) > 1 and len(names) > len(set(names)), f"several commands and processes: {names}")
    sums_ = [0] * len(s["nodes"]["self"][0])
    for node, amount in zip(s["parts"]["node"], s["parts"]["self"][0]):
        sums_[node] += amount
    equal(sums_, s["nodes"]["self"][0], "the parts of a node add up to it")


@test
def samples_for_speedscope():
    d = json.loads(tare("-f", "speedscope", recorded()).stdout)
    frames = [f["name"] for f in d["shared"]["frames"]]
    got = []
    for p in d["profiles"]:
        equal((p["type"], p["unit"], len(p["samples"])), ("sampled", "nanoseconds", len(p["weights"])), "a profile")
        equal(p["endValue"] - p["startValue"], sum(p["weights"]), "its end")
        got += [(tuple(frames[i].replace(";", ":") for i in s), w) for s, w in zip(p["samples"], p["weights"])]
    equal(sums(got), {k[1:]: v for k, v in folded(recorded()).items()}, "stacks")
    rows = csv_stacks(recorded())
    equal(len(d["profiles"]), len({(r["pid"], r["tid"]) for r in rows}), "a profile for each thread")


@test
def samples_for_firefox():
    d = json.loads(tare("-f", "firefox", recorded()).stdout)
    got, times = [], []
    for t in d["threads"]:
        for table in ("samples", "stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols", "markers"):
            for name, values in t[table].items():
                true(name in ("length", "weightType") or len(values) == t[table]["length"], f"{table}.{name}")
        s, st, fr, fu = t["samples"], t["stackTable"], t["frameTable"], t["funcTable"]
        equal(s["weightType"], "tracing-ms", "a clock's weights")
        true(all(p is None or p < i for i, p in enumerate(st["prefix"])), "a stack comes after what is below it")
        true(s["time"] == sorted(s["time"]), "in order of time")
        for stack, weight, at in zip(s["stack"], s["weight"], s["time"]):
            path = []
            while stack is not None:
                path.append(t["stringArray"][fu["name"][fr["func"][st["frame"][stack]]]].replace(";", ":"))
                stack = st["prefix"][stack]
            got.append((tuple(reversed(path)), round(weight * 1e6)))
            times.append((int(t["pid"]), t["tid"], round(at * 1e6)))
        true(all(t["stringArray"][i].startswith(("/", "[")) for i in t["resourceTable"]["name"]), "modules")
    equal(sums(got), {k[1:]: v for k, v in folded(recorded()).items()}, "stacks")
    equal(sorted(times), sorted((int(r["pid"]), int(r["tid"]), int(r["time_ns"])) for r in csv_stacks(recorded())), "times, to the nanosecond")


@test
def samples_for_perfetto():
    interned, got, times = {}, [], []
    for _, packet in fields(tare("-f", "perfetto", recorded()).stdout):
        p = fields(packet)
        if one(p, 13, 0) & 1:
            interned[one(p, 10)] = {5: {}, 6: {}, 7: {}, 17: {}, 19: {}}
        tables = interned.get(one(p, 10))
        for f, v in fields(one(p, 12, b"")):
            m = fields(v)
            tables[f][one(m, 1)] = m
        if one(p, 66) is None:
            continue
        s, stack = fields(one(p, 66)), []
        for f, frame in tables[7][one(s, 4)]:
            if f == 2:
                m = tables[6][frame]
                true(one(m, 3) is None or one(tables[17][one(tables[19][one(m, 3)], 7)], 2), "a frame's mapping has a path")
                stack.append(one(tables[5][one(m, 2)], 2).decode().replace(";", ":"))
        got.append((tuple(stack), 1))
        times.append((one(s, 2), one(s, 3), one(p, 8)))
        true(one(s, 5) in (1, 2), "kernel or user")
    rows = [r for r in csv_stacks(recorded()) if r["stack"]]
    equal(sums(got), sums((tuple(r["stack"].split(";")), 1) for r in rows), "stacks")
    equal(sorted(times), sorted((int(r["pid"]), int(r["tid"]), int(r["time_ns"])) for r in rows), "times")


def by_schema(message, data):
    """protoc's text of it. What exports.proto does not know, or knows to be of another type, protoc writes as a number."""
    here = Path(__file__).resolve().parent
    r = subprocess.run(["protoc", f"--decode={message}", f"-I{here}", "exports.proto"], input=data, capture_output=True, cwd=here)
    equal(r.returncode, 0, r.stderr.decode()[:500])
    text = r.stdout.decode()
    strange = [line for line in text.splitlines() if re.match(r" *[0-9]+[:{ ]", line)]
    equal(strange[:5], [], f"fields of {message} that the schema does not have")
    return text


@test
def perfetto_and_pprof_are_what_their_schemas_say():
    if not shutil.which("protoc"):
        skip("there is no protoc (Debian: protobuf-compiler)")
    of_regions, of_samples = (by_schema("Trace", tare("-f", "perfetto", what()).stdout) for what in (made, recorded))
    true("type: TYPE_SLICE_BEGIN" in of_regions and "track_descriptor {" in of_regions, of_regions[:500])
    true("perf_sample {" in of_samples and "cpu_mode: MODE_USER" in of_samples, of_samples[:500])
    by_schema("Trace", (GOLDEN / "all.pftrace").read_bytes())
    for what in (made, recorded):
        text = by_schema("Profile", gzip.decompress(tare("-f", "pprof", what()).stdout))
        true("sample_type {" in text and "location_id: 1" in text, text[:500])


@test
def a_thread_that_execs_is_one():
    """Samples of the shell and of what it executed, under one pid and tid."""
    path = HERE / "exec.perf.data"
    script = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; exec %s -c 'for i in range(3000000): pass'" % sys.executable
    r = subprocess.run([TARE, "record", "-e", "cpu-clock", "-F", "4000", "-o", path, "--", "sh", "-c", script], capture_output=True, timeout=60)
    equal(r.returncode, 0, r.stderr)
    rows = csv_stacks(path)
    names = list(dict.fromkeys(r["command"] for r in rows))
    true(len(names) >= 2 and "sh" in names[:-1], names)
    equal({(r["pid"], r["tid"]) for r in rows}, {(rows[0]["pid"], rows[0]["pid"])}, "one process, one thread")
    speedscope = json.loads(tare("-f", "speedscope", path).stdout)["profiles"]
    equal([len(p["samples"]) for p in speedscope], [len(rows)], "speedscope")
    true(names[-1] in speedscope[0]["name"], speedscope[0]["name"])
    firefox = json.loads(tare("-f", "firefox", path).stdout)["threads"]
    equal([(t["samples"]["length"], t["samples"]["time"] == sorted(t["samples"]["time"])) for t in firefox], [(len(rows), True)], "Firefox")
    packets = [fields(p) for _, p in fields(tare("-f", "perfetto", path).stdout)]
    tracks = [fields(one(p, 60)) for p in packets if one(p, 60) is not None]
    equal(len([t for t in tracks if one(t, 4) is not None]), 1, "Perfetto's tracks of threads")
    by_thread = {line.split(";")[1] for line in tare("-f", "folded", "--by-thread", path).stdout.decode().splitlines()}
    equal(len(by_thread), 1, f"folded: {by_thread}")
    equal({k[0] for k in folded(path)}, {names[-1]}, "the root")
    said = subprocess.run([TARE, "report", path], capture_output=True, timeout=60).stdout.decode()
    true(", 1 thread," in said, said)
    true({"sh", names[-1]} <= {r["comm"] for r in json.loads(subprocess.run([TARE, "report", "--format", "json", "--sort", "comm", path], capture_output=True).stdout)["rows"]}, "the report tells commands apart")


@test
def numbers_that_are_used_again_are_another_thread():
    r = made_accesses.Recording()
    r.comm(7, 7, "first", time=1)
    r.sample(0x1000, 7, 7, 2)
    r.comm(7, 7, "second", time=3, exec=True)
    r.sample(0x1000, 7, 7, 4)
    r.fork(7, 1, 7, 1, time=5)
    r.comm(7, 7, "third", time=6, exec=True)
    r.sample(0x1000, 7, 7, 7)
    profiles = json.loads(tare("-f", "speedscope", r.write(HERE / "again.perf.data")).stdout)["profiles"]
    equal([(re.search("first|second|third", p["name"])[0], len(p["samples"])) for p in profiles], [("second", 2), ("third", 1)], "threads")


def pprof_labels(data):
    p = fields(data)
    strings = [v for f, v in p if f == 6]
    labels = [fields(label) for f, v in p if f == 2 for g, label in fields(v) if g == 3]
    return {(strings[one(l, 1)], strings[one(l, 2)]) for l in labels}


def perfetto_events(data):
    """Name and annotations of each event that has its name with it."""
    events = [fields(one(fields(p), 11)) for _, p in fields(data) if one(fields(p), 11)]
    notes = lambda e: [(one(fields(v), 10), next(w for g, w in fields(v) if g in (3, 4, 6))) for f, v in e if f == 4]
    return [(one(e, 23), notes(e)) for e in events if one(e, 23)]


@test
def fields_of_tracepoints_are_exported():
    path = of_two(os.path.join(ROOM.name, "two.data"))
    table = list(csv.DictReader(io.StringIO(tare("-f", "csv", path).stdout.decode())))
    equal([json.loads(r["fields"]).get("pid") if r["fields"] else None for r in table], [5, -7, 8, 9, None], "csv")
    equal(json.loads(table[1]["fields"]), {"comm": "sh", "pid": -7, "depth": 3, "file": "/bin/\"\x1b", "args": bytes(range(16)).hex(),
                                           "far": {"missing": "(outside the raw data)"}}, "every field")
    d = json.loads(tare("-f", "firefox", path).stdout)
    t = d["threads"][0]
    shown = [(t["stringArray"][n], m["fields"]) for n, m in zip(t["markers"]["name"], t["markers"]["data"])]
    equal([n for n, _ in shown], ["made:other_probe"] + ["made:exec_probe"] * 3, "firefox: a marker for each, of any event")
    true(shown[2][1].startswith('comm="ls" pid=8 depth=3 ') and shown[0][1] == f"pid=5 big={2**64 - 1}", shown)
    data = gzip.decompress(tare("-f", "pprof", path).stdout)
    true({(b"comm", b"ls"), (b"pid", b"-7"), (b"pid", b"8"), (b"big", b"18446744073709551615")} <= pprof_labels(data), pprof_labels(data))
    events = perfetto_events(tare("-f", "perfetto", path).stdout)
    equal([e[0] for e in events], [b"made:other_probe"] + [b"made:exec_probe"] * 3, "perfetto: an instant for each")
    equal(events[1][1][:3], [(b"comm", b"sh"), (b"pid", 2**64 - 7), (b"depth", 3)], "with its fields")


@test
def samples_on_a_page():
    d = page("export", "-o", "PAGE", recorded())["documents"][0]
    equal(sum(d["nodes"]["self"][0]), sum(folded(recorded()).values()), "all of it")


@test
def samples_agree_with_the_report():
    r = subprocess.run([TARE, "report", "--format", "json", "--sort", "module,function", recorded()], capture_output=True, timeout=60)
    rows = json.loads(r.stdout)["rows"]  # one name may stand in several objects: memset in libc and in the kernel
    wanted = sums((exported_name(row), row["events"][0]["self"]) for row in rows if row["function"] and row["events"][0]["self"])
    got = sums((r["function"], int(r["amount"])) for r in csv_stacks(recorded()) if r["function"])
    equal({k: got.get(k) for k in wanted}, wanted, "self of each function")


@test
def what_shows_no_samples_says_so():
    r = tare("-f", "chrome", recorded(), status=125)
    true(b"chrome shows regions" in r.stderr and b"perfetto, firefox" in r.stderr, r.stderr)
    r = tare("-f", "csv", "--counter", "cpu-clok", recorded(), status=125)
    true(b"did you mean cpu-clock?" in r.stderr, r.stderr)


@test
def recordings_of_other_machines():
    """Every fixture: each format is written, or the reason said."""
    room = FIXTURES.parent / "perfdata"
    if not room.is_dir():
        skip(f"{room} is not here")
    exported = 0
    for path in sorted(room.glob("*.data")):
        for how in ("perfetto", "firefox", "speedscope", "folded", "pprof", "csv"):
            r = subprocess.run([TARE, "export", "-f", how, path], capture_output=True, timeout=60)
            true(r.returncode in (0, 1, 125), f"{path.name} {how}: {r.returncode} {r.stderr}")
            true(r.returncode != 125 or (r.stdout == b"" and r.stderr), f"{path.name} {how}: {r.stderr}")
            exported += r.returncode != 125
            if how in ("firefox", "speedscope") and r.returncode != 125:
                json.loads(r.stdout)
    true(exported > 60, f"{exported} exports")


# ---- rustc's own recordings ----

def fixture(n):
    path = FIXTURES / f"rustc-check-{n}.mm_profdata"
    if not path.exists():
        skip(f"{path} is not here")
    return path


@test
def folded_equals_measureme():
    wanted = sorted((FIXTURES / "expected" / "folded-1.txt").read_text().splitlines()) if fixture(1) else None
    equal(sorted(tare("-f", "folded", fixture(1)).stdout.decode().splitlines()), wanted, "stack_collapse's lines")


@test
def pprof_and_folded_agree():
    d = read_pprof(tare("-f", "pprof", fixture(1)).stdout)
    equal({k: v[1] for k, v in d["samples"].items() if v[1]}, folded(fixture(1)), "self time of every stack")


@test
def traces_agree():
    """Every region of a real recording, in five formats."""
    path = fixture(2)
    rows = list(csv.DictReader(io.StringIO(tare("-f", "csv", path).stdout.decode(), newline="")))
    rows = [r for r in rows if r["kind"] == "region"]
    wanted = sorted((r["label"], int(r["start_ns"]), int(r["start_ns"]) + int(r["duration_ns"])) for r in rows)
    true(len(wanted) > 1000, "a real recording")
    summary = json.loads((FIXTURES / "expected" / "summarize-2.json").read_text())
    counts = Counter(r["label"] for r in rows)
    for q in summary["query_data"]:
        equal(counts[q["label"]], q["invocation_count"], q["label"])
    d = json.loads(tare("-f", "chrome", path).stdout)
    equal(sorted((e["name"], round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)) for e in d["traceEvents"]
                 if e["ph"] == "X"), wanted, "chrome")
    _, slices, _ = read_perfetto(tare("-f", "perfetto", path).stdout)
    equal(sorted((s[1], s[3], s[4]) for s in slices), wanted, "perfetto")
    d = json.loads(tare("-f", "firefox", path).stdout)
    got = [(t["stringArray"][m["name"][i]], round(m["startTime"][i] * 1e6), round(m["endTime"][i] * 1e6))
           for t in d["threads"] for m in [t["markers"]] for i in range(m["length"]) if m["phase"][i] == 1]
    equal(sorted(got), wanted, "firefox")


# ---- files, descriptors, mistakes ----

@test
def the_ending_chooses():
    for ending, first in ((".pftrace", b"\x0a"), (".pb.gz", b"\x1f\x8b"), (".csv", b"kind,"), (".folded", b"made"),
                          (".trace.json", b'{"displayTimeUnit'), (".firefox.json", b'{"threads'),
                          (".speedscope.json", b'{"$schema')):
        path = HERE / f"x{ending}"
        tare("-o", path, made())
        true(path.read_bytes().startswith(first), ending)
        path.unlink()
    equal(tare("-f", "csv", "-i", made()).stdout, tare("-f", "csv", made()).stdout, "-i FILE")
    r = tare("-o", HERE / "x.json", made(), status=125)
    true(b"no format is chosen by the ending of" in r.stderr and b"perfetto" in r.stderr, r.stderr)


@test
def mistakes_have_a_line():
    for words, what in ((("-f", "chrom", made()), b"there is no format 'chrom'"), (("-f", "csv"), b"no recording is named"),
                        (("-f", "csv", made(), made()), b"one file too many"), (("-f", "csv", "-i", made(), made()), b"one file too many"),
                        (("-f", "csv", HERE / "none"), b"No such file"),
                        (("-f", "csv", "--counter", "cycles", made()), b"has no counter 'cycles'"),
                        (("-f", "csv", "--by-thread", made()), b"has no stacks to keep apart"),
                        (("-f", "csv", "-o", HERE / "no" / "x", made()), b"cannot write to"),
                        (("-f", "csv", __file__), b"not a recording of regions")):
        r = tare(*words, status=125)
        true(what in r.stderr and r.stderr.count(b"\n") <= 2, f"{words}: {r.stderr}")
        equal(r.stdout, b"", "nothing on standard output")


@test
def nothing_is_left_of_a_failure():
    room = HERE / "left"
    room.mkdir()
    bad = HERE / "bad.mm_profdata"
    bad.write_bytes(made().read_bytes()[:6])
    tare("-o", room / "x.csv", bad, status=125)
    old = room / "old.csv"
    old.write_text("before")
    tare("-o", old, "--counter", "nope", made(), status=125)
    equal(old.read_text(), "before", "what was there stays")
    equal(os.listdir(room), ["old.csv"], "and nothing else is there")


@test
def a_link_stays_a_link_and_rights_stay():
    target, link = HERE / "target.csv", HERE / "link.csv"
    target.write_text("before")
    target.chmod(0o640)
    link.symlink_to(target)
    tare("-o", link, made())
    true(link.is_symlink() and target.read_text().startswith("kind,"), "written through the link")
    equal(target.stat().st_mode & 0o777, 0o640, "rights")
    tare("-o", "/dev/null", "-f", "csv", made())
    true(Path("/dev/null").is_char_device(), "a device stays a device")


@test
def what_is_no_regular_file_is_written_in_place():
    """As /dev/stdout: a link to a link in /proc, to whatever standard output is. Nothing takes the link's name."""
    whole = tare("-f", "csv", made()).stdout
    room = HERE / "streams"
    room.mkdir()
    (room / "stdout").symlink_to("/proc/self/fd/1")
    (room / "again").symlink_to("stdout")
    for name in ("stdout", "again"):
        equal(tare("-f", "csv", "-o", room / name, made()).stdout, whole, name)
        true((room / name).is_symlink(), f"{name} stays a link")
    with tempfile.TemporaryFile(dir=room) as gone:
        subprocess.run([TARE, "export", "-f", "csv", "-o", room / "stdout", made()], stdout=gone, check=True, timeout=100)
        gone.seek(0)
        equal(gone.read(), whole, "a file without a name")
    os.mkfifo(room / "fifo")
    (room / "to-fifo").symlink_to("fifo")
    for name in ("fifo", "to-fifo"):
        reader = subprocess.Popen(["cat", room / "fifo"], stdout=subprocess.PIPE)
        tare("-f", "csv", "-o", room / name, made())
        equal(reader.communicate(timeout=100)[0], whole, name)
        true((room / "fifo").is_fifo(), "stays a pipe")
    equal(sorted(os.listdir(room)), ["again", "fifo", "stdout", "to-fifo"], "and nothing else is there")


@test
def a_link_to_nothing_yet():
    whole, room = tare("-f", "csv", made()).stdout, HERE / "links"
    (room / "there").mkdir(parents=True)
    (room / "link").symlink_to("there/new.csv")
    tare("-f", "csv", "-o", room / "link", made())
    true((room / "link").is_symlink() and (room / "there" / "new.csv").read_bytes() == whole, "made behind the link")
    (room / "round").symlink_to("round")
    true(b"symbolic links" in tare("-f", "csv", "-o", room / "round", made(), status=125).stderr, "said")
    equal(sorted(os.listdir(room)), ["link", "round", "there"])


@test
def no_binary_on_a_terminal():
    primary, secondary = pty.openpty()
    r = subprocess.run([TARE, "export", "-f", "perfetto", made()], stdout=secondary, stderr=subprocess.PIPE, timeout=60)
    equal(r.returncode, 125, "status")
    true(b"not written to a terminal" in r.stderr and b"-o FILE" in r.stderr, r.stderr)
    r = subprocess.run([TARE, "export", "-f", "folded", made()], stdout=secondary, stderr=subprocess.PIPE, timeout=60)
    equal(r.returncode, 0, "text is")
    os.close(primary)
    os.close(secondary)


def large(n):
    """n regions of 64 labels in an outer one."""
    path = HERE / f"large-{n}.mm_profdata"
    if not path.exists():
        m = Maker()
        ids = [m.event("Query", f"label {i}", 1, 0, 0)[8:16] for i in range(64)]
        kind = m.event("Query", "label 0", 1, 0, 0)[:8]
        m.events += b"".join(kind + ids[i % 64] + struct.pack("<IIII", 1, 1000 + 10 * i, 1005 + 10 * i, 0) for i in range(n))
        m.add("Activity", "all", 1, 0, 1000 + 10 * n)
        m.write(path)
    return path


@test
def memory_does_not_grow_with_the_recording():
    """Every format: the largest resident set with eight times as much in the recording."""
    small, big = large(25_000), large(200_000)

    for how in ("chrome", "perfetto", "firefox", "speedscope", "folded", "pprof", "csv"):
        a, b = (resident(TARE, "export", "-f", how, path) for path in (small, big))
        true(b < a + 1024, f"{how}: {a} KiB, then {b} KiB")


@test
def a_reader_that_leaves():
    p = subprocess.Popen([TARE, "export", "-f", "csv", large(200_000)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdout.read(10)
    p.stdout.close()
    equal(p.stderr.read(), b"", "no complaint")
    true(p.wait(60) in (128 + signal.SIGPIPE, -signal.SIGPIPE), f"status {p.returncode}")


@test
def interrupted():
    """Nothing is left, whenever the interrupt comes."""
    room = HERE / "interrupted"
    room.mkdir()
    for delay in (0.002, 0.01, 0.05):
        p = subprocess.Popen([TARE, "export", "-o", room / "x.trace.json", large(200_000)], stderr=subprocess.PIPE)
        time.sleep(delay)
        p.send_signal(signal.SIGINT)
        p.wait(60)
        left = os.listdir(room)
        if p.returncode == 0:
            equal(left, ["x.trace.json"], "whole")
            (room / "x.trace.json").unlink()
        else:
            equal(left, [], f"after {delay} s")


@test
def a_full_disk():
    r = subprocess.run([TARE, "export", "-f", "csv", "-o", "/dev/full", made()], capture_output=True, timeout=60)
    equal(r.returncode, 125, "status")
    true(b"No space left on device" in r.stderr, r.stderr)


main()
