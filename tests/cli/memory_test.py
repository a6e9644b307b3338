# SPDX-License-Identifier: MIT
"""`tare memory` on recordings of which every sum is known, on a program that was compiled for it, and on the recordings of real machines
where they are at hand (TARE_FIXTURES).

usage: memory_test.py TARE SCHEMAS ROOT CC EXACT
"""
import collections
import csv
import io
import json
import os
import random
import re
import struct
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from made_accesses import *  # noqa: E402,F403
from recordings import ROOT, document, room, tare  # noqa: E402

CC, EXACT = sys.argv[4], sys.argv[5] == "yes"
BYS = ("line", "function", "instruction", "symbol", "page", "level", "tlb", "node", "thread")


def rows(path, by, checked=True):
    """By label; the schema is left alone where there are many."""
    d = document("memory", "--by", by, path) if checked else json.loads(tare("memory", "--by", by, "--format", "json", path).stdout)
    return {r["label"]: r for r in d["rows"]}


def quantile(values, q):
    """As tare defines it: the value at rank ceil(q * n)."""
    values = sorted(values)
    return values[max(0, -(-int(q * 1000) * len(values) // 1000) - 1)]


def check_row(row, truth, what):
    """One row against the accesses that belong to it."""
    equal(row["samples"], len(truth), what)
    equal(row["weight"], sum(t["period"] for t in truth), what)
    for op, key in (("load", "loads"), ("store", "stores"), ("update", "updates"), ("prefetch", "prefetches")):
        equal(row[key], sum(t["op"] == op for t in truth), f"{what} {key}")
    places = collections.Counter({"far memory": "memory", "far cache": "cache"}.get(t["level"], t["level"]) for t in truth if t["level"])
    equal(row["places"], dict(places), f"{what} places")
    equal(row["distances"], dict(collections.Counter(LEVELS[t["level"]][1] for t in truth if t["level"])), f"{what} distances")
    equal(row["snoops"], dict(collections.Counter(t["snoop"] for t in truth if t["snoop"])), f"{what} snoops")
    equal(row["tlbs"], dict(collections.Counter(t["tlb"] for t in truth if t["tlb"])), f"{what} TLBs")
    # one is no measurement of the other; of what is neither nothing is known
    by_op = {"use": [t["weight"] for t in truth if t["op"] == "load" and t["weight"]], "store": [t["weight"] for t in truth if t["op"] == "store" and t["weight"]]}
    equal(list(row["latencies"]), [name for name, n in by_op.items() if n], f"{what} latencies")
    for name, got in row["latencies"].items():
        latencies = by_op[name]
        equal((got["samples"], got["sum"], got["min"], got["max"]), (len(latencies), sum(latencies), min(latencies), max(latencies)), what)
        bins = collections.Counter(v.bit_length() for v in latencies)
        equal([(b["from"], b["to"], b["count"]) for b in got["histogram"]],
              [(1 << i >> 1, (1 << i) - 1, bins[i]) for i in range(min(bins), max(bins) + 1)], f"{what} histogram")
        for key, q in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
            wanted = quantile(latencies, q)
            true(abs(got[key] - wanted) <= wanted / 128, f"{what} {key}: {got[key]}, not {wanted}")


@test
def histograms_stand_in_the_table():
    r = Recording()
    for i in range(160):  # one place's take 4 to 7 cycles, or a few 512 to 1023; another's 64 to 127
        r.sample(0x1000 if i % 2 else 0x2000, 1, 1, i, 0x5000, 0, 1, (64 + i % 64) if i % 2 else 600 if i % 16 == 0 else 4 + i // 2 % 4, source("load", "L1"))
    path = r.write(room("histogram"))
    text = tare("memory", "--by", "instruction", path).stdout
    true("4..1023" in text.splitlines()[4], text)
    shown = {l.split("+0x")[1][:4]: l for l in text.splitlines() if "+0x" in l}
    true("█" + 6 * " " + "▂" in shown["2000"], text)  # 70 of 80, and 10: the eighth that an eighth of the fullest is
    true(" 127" + 6 * " " + "█   " in shown["1000"], text)
    text = tare("memory", "--by", "instruction", path, LC_ALL="C").stdout
    true("#" + 6 * " " + "." in text, text)
    one = Recording()
    one.sample(0x1000, 1, 1, 1, 0x5000, 0, 1, 100, source("load", "L1"))
    text = tare("memory", one.write(room("one"))).stdout
    true("1 access: 1 load, 0 stores" in text and "64..127" in text, text)
    one.sample(0x1000, 1, 1, 1 << 62, 0x5000, 0, 1, 100, source("load", "L1"))
    true("Some timestamps are damaged" in tare("memory", one.write(room("one"))).stdout and "damaged" not in tare("memory", path).stdout, "times")


@test
def a_small_share_is_not_none():
    r = Recording()
    for i in range(5400):
        r.sample(0x2000 if i else 0x1000, 1, 1, i, 0x5000, 0, 1, 5, source("load", "L1"))
    text = tare("memory", "--by", "instruction", r.write(room("small"))).stdout
    true(" <0.1 %        1" in text and "0.0 %" not in text, text)
    true(" >99.9 %    5,399" in text, text)


def random_accesses(seed, n):
    """Accesses of three processes with three mappings each, and all that is true of them."""
    rng = random.Random(seed)
    r = Recording(features={NUMA: struct.pack("<I", 2) + b"".join(struct.pack("<IQQ", node, 1, 1) + string(cpus) for node, cpus in ((0, "0-1"), (1, "2-3"))),
                            MEM_TOPOLOGY: struct.pack("<QQQ", 1, 1 << 20, 2) + struct.pack("<QQQQ", 0, 64, 64, 0xff) + struct.pack("<QQQQ", 1, 64, 64, 0xff00)})
    for pid in (10, 20, 30):
        r.comm(pid, pid, f"prog{pid}")
        r.mmap(pid, 0x400000, 0x10000, 0, f"/nonexistent/prog{pid}")
        r.mmap(pid, 0x10000000 * pid, 0x20000, 0, "//anon", data=True)
        r.mmap(pid, 0x7f0000000000, 0x21000, 0, "[stack]", data=True)
    truth = []
    for i in range(n):
        op = rng.choice(("load", "load", "store", "update", "prefetch"))
        t = {"pid": rng.choice((10, 20, 30)), "ip": 0x400000 + 4 * rng.randrange(40), "op": op, "level": rng.choice((*LEVELS, None)),
             "snoop": rng.choice((*SNOOPS, None)), "tlb": rng.choice((*TLBS, None)), "period": rng.randrange(1, 5000),
             "weight": rng.choice((0, rng.randrange(1, 60), rng.randrange(1, 5000))), "cpu": rng.randrange(4),
             "phys": rng.choice((0, rng.randrange(1, 16 << 20))), "time": 1000 + i}
        t["tid"] = t["pid"] + rng.randrange(3)
        t["addr"], t["object"] = rng.choice((
            (0x10000000 * t["pid"] + rng.randrange(0x20000), f"memory at {0x10000000 * t['pid']:#x} of prog{t['pid']} ({t['pid']})  131072 bytes"),
            (0x7f0000000000 - rng.randrange(-0x21000, 0x100000), f"stack of prog{t['pid']} ({t['pid']})"),
            (0xffff888000000000 + rng.randrange(1 << 20), "[kernel]"),
            (0x100000 + rng.randrange(100), f"[unrecorded memory] of prog{t['pid']} ({t['pid']})"),
            (0, "[no address]")))
        if t["addr"] == 0x7f0000021000:
            t["addr"] -= 1
        truth.append(t)
        r.sample(t["ip"], t["pid"], t["tid"], t["time"], t["addr"], t["cpu"], t["period"], t["weight"],
                 source(op, t["level"], t["snoop"], t["tlb"]), t["phys"])
    return r.write(room(f"random{seed}")), truth


def distance(t):
    return LEVELS[t["level"]][1] if t["level"] else None


def node(t):
    memory = "[unknown]" if not t["phys"] else int(t["phys"] >= 8 << 20)
    return f"CPU on {t['cpu'] // 2}, memory on {memory}" + (f", served from {distance(t)}" if distance(t) else "")


def level(t):
    place = {"far memory": "memory", "far cache": "cache"}.get(t["level"], t["level"])
    return f"{place}, {distance(t)}" if place else "[unknown]"


KEYS = {
    "function": lambda t: f"[unknown]  prog{t['pid']}",
    "line": lambda t: f"[unknown]  prog{t['pid']}",
    "instruction": lambda t: f"prog{t['pid']}+{t['ip'] - 0x400000:#x}  [unknown]",
    "symbol": lambda t: t["object"],
    "level": level,
    "tlb": lambda t: t["tlb"] or "[unknown]",
    "node": node,
    "thread": lambda t: f"prog{t['pid']} {t['pid']}/{t['tid']}",
}


@test
def every_sum_is_the_known_one():
    for seed in range(3):
        path, truth = random_accesses(seed, 1500)
        for by, key in KEYS.items():
            groups = collections.defaultdict(list)
            for t in truth:
                groups[key(t)].append(t)
            got = rows(path, by, seed == 0)
            equal(sorted(got), sorted(groups), f"rows by {by}")
            for label, members in groups.items():
                check_row(got[label], members, f"seed {seed}, {by} {label}")
        pages = collections.Counter((0 if t["addr"] >> 63 else t["pid"], t["addr"] >> 12) for t in truth if t["addr"])
        d = document("memory", "--by", "page", path)
        equal(sorted(r["samples"] for r in d["rows"] if "address" in r), sorted(pages.values()), "pages")
        check_row(d["total"], truth, "all")
        equal(d["without_address"], sum(not t["addr"] for t in truth), "without an address")
        equal(d["kernel_addresses"], sum(t["addr"] >> 63 for t in truth), "kernel addresses")


@test
def filters_and_orders():
    path, truth = random_accesses(1, 800)
    for words, keep in (("pid=10", lambda t: t["pid"] == 10), ("tid=21", lambda t: t["tid"] == 21), ("cpu=3", lambda t: t["cpu"] == 3),
                        ("comm=prog3*", lambda t: t["pid"] == 30), ("from=1500ns,to=1600ns", lambda t: 1500 <= t["time"] <= 1600)):
        equal(document("memory", "--filter", words, path)["total"]["samples"], sum(map(keep, truth)), words)
    for sort, key in (("samples", lambda r: r["samples"]), ("weight", lambda r: r["weight"]), ("loads", lambda r: r["loads"] + r["updates"]),
                      ("stores", lambda r: r["stores"] + r["updates"]), ("latency", lambda r: r["latencies"].get("use", {}).get("sum", 0)),
                      ("p99", lambda r: r["latencies"].get("use", {}).get("p99", 0)), ("remote", lambda r: r["distances"].get("remote", 0)),
                      ("modified", lambda r: r["snoops"].get("modified", 0)),
                      ("misses", lambda r: sum(n for p, n in r["places"].items() if p != "L1"))):
        values = [key(r) for r in json.loads(tare("memory", "--by", "instruction", "--sort", sort, "--format", "json", path).stdout)["rows"]]
        equal(values, sorted(values, reverse=True), sort)
    equal(len(document("memory", "--by", "instruction", "-n", 5, path)["rows"]), 5, "rows")


@test
def csv_and_text_say_the_same():
    path, truth = random_accesses(2, 500)
    table = list(csv.DictReader(io.StringIO(tare("memory", "--by", "symbol", "--format", "csv", path).stdout)))
    wanted = rows(path, "symbol")
    equal([r["symbol"] for r in table], list(wanted), "rows")
    for r in table:
        w = wanted[r["symbol"]]
        equal((int(r["samples"]), int(r["place L3"]), int(r["tlb walk"])), (w["samples"], w["places"].get("L3", 0), w["tlbs"].get("walk", 0)), r["symbol"])
        equal(r["use p50"], str(w["latencies"]["use"]["p50"]), "p50")
    text = tare("memory", "--by", "symbol", path).stdout
    for says in ("500 accesses over", "from the load's issue to the data's arrival (PEBS)", "the hardware tracks one load at a time", "stack of prog10 (10)",
                 "stores (PEBS) differs from that of loads"):
        true(says in text, f"{says} in {text}")


@test
def an_order_of_the_file_changes_nothing():
    """Buffers of two CPUs: mappings, forks and execs stand behind the accesses that need them."""
    r = Recording()
    say = [lambda: r.mmap(7, 0x400000, 0x1000, 0, "/nonexistent/old", time=10), lambda: r.fork(8, 7, 8, 7, time=20),
           lambda: r.comm(8, 8, "new", time=30, exec=True), lambda: r.mmap(8, 0x400000, 0x1000, 0, "/nonexistent/new", time=31),
           lambda: r.mmap(7, 0x400000, 0x1000, 0, "/nonexistent/later", time=40)]
    look = [(7, 15, "old"), (8, 25, "old"), (8, 35, "new"), (8, 99, "new"), (7, 45, "later"), (7, 39, "old")]
    for pid, time, _ in look:
        r.sample(0x400010, pid, pid, time, 0x1000, src=source("load"))
    for s in reversed(say):
        s()
    wanted = collections.Counter(f"[unknown]  {m}" for _, _, m in look)
    equal({k: v["samples"] for k, v in rows(r.write(room("order")), "function").items()}, dict(wanted), "modules")


PROGRAM = r"""
#include <stdio.h>
long first = 1;
static long zeros[100];
static volatile struct { int a, b; } pair = { 1, 2 };
__attribute__((noinline)) long reads(void) { return *(volatile long *)&first; }
__attribute__((noinline)) void writes(long i) { *(volatile long *)&zeros[i] = pair.a; }
int main(void) { writes(reads()); return 0; }
"""


def compiled():
    out = room("variables")
    if not out.exists():
        room("variables.c").write_text(PROGRAM)
        r = subprocess.run([CC, "-g", "-O1", str(room("variables.c")), "-o", str(out)], capture_output=True, text=True)
        true(r.returncode == 0, r.stderr)
    symbols = {}
    for line in subprocess.run(["nm", str(out)], capture_output=True, text=True, check=True).stdout.splitlines():
        words = line.split()
        if len(words) == 3:
            symbols[words[2]] = int(words[0], 16)
    return out, symbols


def code_segment(path):
    """(offset, address, size) of what is executable."""
    b = path.read_bytes()
    at, size, n = struct.unpack_from("<Q", b, 32)[0], *struct.unpack_from("<HH", b, 54)
    for i in range(n):
        kind, flags, offset, address, _, length = struct.unpack_from("<IIQQQQ", b, at + i * size)
        if kind == 1 and flags & 1:
            return offset, address, length
    raise AssertionError("no code")


@test
def variables_functions_and_lines_have_their_names():
    path, symbols = compiled()
    offset, address, length = code_segment(path)
    first_page, base = offset & ~4095, 0x555500000000
    r = Recording()
    r.comm(5, 5, "variables")
    r.mmap(5, base + (address & ~4095), length + 4096, first_page, str(path))  # code alone: as without -d
    look = [("reads", "first", 0), ("writes", "zeros", 8), ("writes", "zeros", 792), ("writes", "pair", 4)]
    for code, data, at in look:
        r.sample(base + symbols[code], 5, 5, 5, base + symbols[data] + at, src=source("load"))
    r.sample(base + symbols["reads"], 5, 5, 5, base + symbols["zeros"] + 800 + (1 << 20), src=source("load"))
    made = r.write(room("variables.data"))
    equal({(k, v.get("symbol"), v.get("size"), v["samples"]) for k, v in rows(made, "symbol").items()},
          {("first  variables  8 bytes", "first", 8, 1), ("zeros  variables  800 bytes", "zeros", 800, 2), ("pair  variables  8 bytes", "pair", 8, 1),
           ("[unrecorded memory] of variables (5)", None, None, 1)}, "variables")
    equal({k: v["samples"] for k, v in rows(made, "function").items()}, {"reads  variables": 2, "writes  variables": 3}, "functions")
    lines = rows(made, "line")
    equal({(v["function"], Path(v["file"]).name, v["line"]) for v in lines.values()}, {("reads", "variables.c", 6), ("writes", "variables.c", 7)}, "lines")


def page_of(base, symbols, look, name):
    """The row by page of accesses to variables of one page of `variables`."""
    r = Recording()
    path, _ = compiled()
    offset, address, length = code_segment(path)
    r.comm(5, 5, "variables")
    r.mmap(5, base + (address & ~4095), length + 4096, offset & ~4095, str(path))
    for data, n in look:
        for i in range(n):
            r.sample(base + symbols["reads"], 5, 5, 5, base + symbols[data], src=source("load"))
    made = r.write(room(name))
    (label, row), = rows(made, "page").items()
    true(label in tare("memory", "--by", "page", made).stdout, label)
    equal([x["page"] for x in csv.DictReader(io.StringIO(tare("memory", "--by", "page", "--format", "csv", made).stdout))], [label], "CSV")
    return label, row


@test
def a_page_is_named_by_what_most_of_it_is_and_says_what_else():
    _, symbols = compiled()
    base = 0x555500000000
    equal(len({symbols[v] >> 12 for v in ("first", "zeros", "pair")}), 1, "one page")
    page = f"{base + symbols['first'] & ~4095:#x}"
    for look, wanted, objects, most in (
            ((("first", 3),), "first", 1, None), ((("first", 1), ("zeros", 9)), "zeros (90 %) and 1 more", 2, ("zeros", 9)),
            ((("zeros", 999), ("first", 1)), "zeros (99 %) and 1 more", 2, ("zeros", 999)),  # rounded down: not all of it
            ((("first", 2), ("pair", 1), ("zeros", 4), ("first", 1), ("pair", 4)), "pair (41 %) and 2 more", 3, ("pair", 5)),
            ((("first", 2), ("zeros", 2)), "first (50 %) and 1 more", 2, ("first", 2))):
        label, row = page_of(base, symbols, look, "page")
        equal(label, f"{page}  {wanted}", look)
        equal((row["address"], row["samples"], row["objects"]), (page, sum(n for _, n in look), objects), look)
        equal((row.get("symbol"), row.get("size")), ("first", 8) if objects == 1 else (None, None), "one object's name and size are not the page's")
        equal((row.get("most"), row.get("most_samples")), most or (None, None), look)


@test
def what_is_missing_is_said():
    r = Recording(kind=IDENTIFIER | IP | TID | TIME | ADDR)
    for i in range(5):
        r.sample(0x1000, time=i, addr=0x2000)
    path = r.write(room("nosource"))
    said = tare("memory", path, status=125).stderr
    equal(said.count("\n"), 2, said)
    true("its 5 samples have no data of memory accesses" in said and "perf mem record" in said, said)

    r = Recording()
    r.add(LOST, struct.pack("<QQ", 1, 70))
    r.add(LOST_SAMPLES, struct.pack("<Q", 7))
    said = tare("memory", r.write(room("lost")), status=125).stderr
    true("all 77 samples were lost" in said, said)

    r = Recording()
    r.add(LOST, struct.pack("<QQ", 1, 70))
    r.sample(0x1000, src=source("load"))
    text = tare("memory", r.write(room("some"))).stdout
    true("70 samples were lost" in text and "1 accesses have no address" not in text and "1 access has no address" in text, text)
    true("This recording does not have the cache or memory level" in text and "No latencies" in text, text)
    said = tare("memory", "--sort", "p99", room("some"), status=125).stderr
    true("--sort p99: the recording does not have latencies" in said, said)
    said = tare("memory", "--sort", "remote", room("some"), status=125).stderr
    true("does not have the distance of the data" in said, said)
    for by, what in (("level", "the cache or memory level of the data"), ("tlb", "the TLB level"), ("node", "nodes of CPUs or memory, or the distance of data")):
        r = tare("memory", "--by", by, room("some"), status=125)
        equal(r.stdout, "", by)
        true(f"--by {by}: the recording does not have {what}" in r.stderr and "always work" in r.stderr, r.stderr)
    said = tare("memory", "--filter", "pid=99", room("some"), status=125).stderr
    true("no access passes the filter" in said, said)

    data = bytearray(Path(room("some")).read_bytes())
    at = data.rfind(struct.pack("<IH", SAMPLE, USER | 1 << 14))
    data[at + 6:at + 8] = b"\0\0"
    room("damaged").write_bytes(data)
    said = tare("memory", room("damaged"), status=125).stderr
    true("there is no access before that" in said, said)
    for words, says in ((("--by", "x"), "there is no 'x'"), (("--by", "allocation"), "rows of --by symbol where tare record --alloc was used"), (("--sort", "x"), "is not a sort key"), (("--filter", "module=x"), "do not select accesses"),
                        ((room("some"), room("some")), "one file too many"), (("--html", "x", "--by", "line"), "cannot be combined"),
                        (("/nonexistent/file",), "/nonexistent/file"), (("/etc/passwd",), "/etc/passwd")):
        said = tare("memory", *words, status=125).stderr
        true(says in said, f"{words}: {said}")


def refused(path):
    """What both commands that look at accesses say of one that has none."""
    said = {tare(c, path, status=125).stderr.replace(f"tare {c}: ", "") for c in ("memory", "sharing")}
    equal(len(said), 1, said)
    return said.pop()


@test
def why_there_is_no_access_is_told_by_all_samples():
    """(of the recording, lost samples, samples of the event, what is said, whether precise events are advised)"""
    plain, branches = {"kind": IDENTIFIER | IP | TID | TIME}, {"kind": IDENTIFIER | IP | TID | TIME, "pmu": (0, "cpu"), "config": 5, "period": 1}
    for of, lost, samples, says, precise in (
            ({}, 0, 0, "it has no samples", False), (plain, 0, 0, "it has no samples", True), ({}, 77, 0, "all 77 samples were lost", False),
            (plain, 77, 0, "all 77 samples were lost", True), (plain, 590, 10, "its 10 samples have no data of memory accesses; 590 more were lost", True),
            (plain, 0, 1, "its 1 sample has no data of memory accesses\n", True), (branches, 0, 3, "its 3 samples are of operations that access no memory\n", True),
            (branches, 5, 1, "its 1 sample is of operations that access no memory; 5 more were lost", True)):
        r = Recording(**of)
        r.comm(1, 1, "made")
        if lost:
            r.add(LOST_SAMPLES, struct.pack("<Q", lost))
        for i in range(samples):
            r.sample(0x1000, time=i)
        said = refused(r.write(room("silent")))
        true(says in said and ("perf mem record" in said) == precise and ("shorter period" in said) == (not precise and not lost), f"{of} {lost} {samples}: {said}")
    r = Recording(pmu=(10, "ibs_op"), config=1 << 19, cpuid="AuthenticAMD,23,49,0", kind=IDENTIFIER | IP | TID | TIME | 0x400)
    for registers in (3, 3, 3, 0):
        raw = struct.pack("<I", 0x3ff) + struct.pack("<8Q", 3 << 17, 0x401000, 0, 0, 0, 0, 0, 0) if registers else b"\0" * 4
        r.data += record(SAMPLE, struct.pack("<QQIIQ", 1, 0x1000, 7, 7, 1) + struct.pack("<I", len(raw)) + raw, 0x4002)
    said = refused(r.write(room("silent")))
    true("no memory access in its 4 samples: 3 of other operations, 1 unknown" in said, said)


@test
def a_process_without_a_name_and_prefetches():
    r = Recording()
    for i, op in enumerate(("load", "prefetch", "prefetch")):
        r.sample(ip=0x1000, pid=7, tid=7, time=1 + i, addr=0x9000, src=source(op))
    text = tare("memory", "--by", "symbol", r.write(room("nameless"))).stdout
    true("[unrecorded memory] of process 7\n" in text, text)
    row = text[text.index("share"):].splitlines()
    equal((row[0].split()[:5], row[1].split()[2:6]), (["share", "samples", "loads", "stores", "prefetches"], ["3", "1", "0", "2"]), "columns add up to the samples")


@test
def spe_with_gaps_and_cores_that_are_not_known():
    r = Recording(config=0x600000001, config1=0, pmu=(9, "arm_spe_0"), cpuid="0x00000000410fd0c0", kind=IDENTIFIER | IP | TID | TIME | CPU)
    r.comm(1000, 1000, "server")
    r.add(AUX, struct.pack("<QQQ", 0, 64, 1), 0, 1000, 1000, 5)
    r.add(AUX, struct.pack("<QQQ", 64, 64, 8), 0, 1000, 1000, 6)
    records = [spe_record(0x401000 + 4 * i, 0x5000, i % 2 == 1, latency=10 + i, source=14) for i in range(10)]
    equal(records[0][0], 0xb0, "a record begins with its PC")
    r.spe(b"".join(records) + b"\xff" * 6)
    d = document("memory", "--by", "level", r.write(room("spe")), status=1)
    equal([(x["label"], x["loads"], x["stores"], x["latencies"]["total"]["sum"]) for x in d["rows"]], [("memory, socket", 5, 5, 145)], "rows")
    equal((d["losses"]["truncated"], d["losses"]["collided"], d["losses"]["damaged"], d["losses"]["without_pc"]), (1, 1, 6, 0), "losses")
    h = Recording(config1=0, pmu=(9, "arm_spe_0"), cpuid="0x00000000410fd0c0", kind=IDENTIFIER | IP | TID | TIME | CPU)
    h.spe(records[0][9:] + b"".join(records))
    x = document("memory", h.write(room("headless")))
    equal((x["total"]["samples"], x["losses"]["without_pc"]), (10, 1), "the end of a record")
    true("1 hardware record has no instruction address and is left out" in tare("memory", room("headless")).stdout, "the text")
    true("1 record of AUX data has no instruction address and was left out" in tare("export", "--accesses=csv", room("headless")).stderr, "export")
    said = tare("export", "--accesses=json", room("spe"), status=125).stderr
    true("json is not a table format" in said and "--accesses=csv" in said, said)
    true(any("only loads and stores were recorded" in n for n in d["notes"]), d["notes"])
    true(any("one of every 1000 operations" in n for n in d["notes"]), d["notes"])
    equal(d["latency"], "total", "its own latency")

    # the kernel told of more than the file holds: its recorder was killed, and no flag says so
    equal(d["losses"]["missing"], 0, "nothing is missing")
    for more, missing in ((0, 0), (1, 1), (5000, 5000)):
        c = Recording(config=0x600000001, config1=0, pmu=(9, "arm_spe_0"), cpuid="0x00000000410fd0c0", kind=IDENTIFIER | IP | TID | TIME | CPU)
        aux = b"".join(spe_record(0x401000 + 4 * i, 0x5000, latency=10 + i, source=14) for i in range(8))
        aux += bytes(-len(aux) % 8)
        c.spe(aux)
        c.add(AUX, struct.pack("<QQQ", 0, len(aux) + more, 0), 0, 1000, 1000, 5)
        c.add(AUX, struct.pack("<QQQ", 0, 1 << 20, 2), 0, 1000, 1000, 6)  # PERF_AUX_FLAG_OVERWRITE: not counted
        x = document("memory", c.write(room("cut")))
        equal((x["total"]["samples"], x["losses"]["missing"], x["losses"]["truncated"]), (8, missing, 0), "cut")
    true("5,000 bytes of hardware trace data are not in the file" in tare("memory", room("cut")).stdout, "the text")
    true("5000 bytes of AUX data that the kernel announced are not in the file" in tare("export", "--accesses=csv", room("cut")).stderr, "export")
    c = Recording(config1=0, pmu=(9, "arm_spe_0"), cpuid="0x00000000410fd0c0", kind=IDENTIFIER | IP | TID | TIME | CPU)
    c.announce_spe()
    c.add(AUX, struct.pack("<QQQ", 0, 4096, 0), 0, 1000, 1000, 5)
    said = tare("memory", c.write(room("cut")), status=125).stderr
    true("truncated: 4096 bytes of hardware trace data are missing" in said, said)

    r.features[CPUID] = string("0x00000000000f0000")
    text = tare("memory", "--by", "level", r.write(room("unknown")), status=1).stdout
    true("The data sources of this core are unknown" in text, text)
    true("memory, socket" not in text, text)

    r = Recording(pmu=(9, "arm_spe_0"), config1=0, cpuid="0x00000000410fd0c0", kind=IDENTIFIER | IP | TID | TIME | CPU)
    r.add(AUX, struct.pack("<QQQ", 0, 0, 1), 0, 1000, 1000, 5)
    r.spe(b"\xff" * 64)
    said = tare("memory", r.write(room("none")), status=125).stderr
    true("empty or damaged: 1 truncated blocks, 64 bytes outside records" in said, said)


@test
def ibs_has_its_own_latency_and_says_how_it_chose():
    for config, slow, says in ((0, 0, "closer to shares of time than of accesses"), (1 << 19, 0, "one of every 1000 micro-ops"), (1 << 19 | 1 << 16, 0, "only L3 misses"),
                               (1 << 19, 150, "only loads that took more than 150 cycles were recorded (ldlat=150)"),
                               (1 << 19, 151, "only loads that missed L3 and took more than 151 cycles were recorded (ldlat=151)")):
        control = 3 << 17 | (1 << 16 if slow == 151 else 0)  # L3MissOnly, where Linux asked for it
        r = Recording(pmu=(10, "ibs_op"), config=config, config1=slow, cpuid="AuthenticAMD,23,49,0", kind=IDENTIFIER | IP | TID | TIME | 0x400)
        for i in range(40):
            miss = i % 4 == 0  # loads that miss L1 and L2, served by DRAM; the others hit, and have no latency
            raw = struct.pack("<I", 0x3ff) + struct.pack("<8Q", control, 0x401000, 11 << 16 | 3, 3, 1 | 3 << 17 | 4 << 22 |
                                                         (1 << 7 | 1 << 20 | (100 + i) << 32 if miss else 0), 0x7fff1000, 0x22000, 0)
            r.data += record(SAMPLE, struct.pack("<QQIIQ", 1, 0x1000, 7, 7, i) + struct.pack("<I", len(raw)) + raw, 0x4002)
        d = document("memory", "--by", "level", r.write(room("ibs")))
        got = {x["label"]: (x["loads"], x["latencies"].get("miss", {}).get("sum")) for x in d["rows"]}
        equal(got, {"memory, socket": (10, sum(100 + i for i in range(0, 40, 4))), "L1, own": (30, None)}, "rows")
        true(any(says in n for n in d["notes"]), d["notes"])
        equal(d["latency"], "miss", "its own latency")


@test
def standard_input_is_read_as_well():
    path, _ = random_accesses(3, 50)
    with open(path, "rb") as f:
        r = subprocess.run([os.path.abspath(sys.argv[1]), "memory", "--format", "csv", "-"], stdin=f, capture_output=True, text=True)
    equal((r.returncode, r.stdout), (0, tare("memory", "--format", "csv", path).stdout), r.stderr)
    whole = Path(path).read_bytes()
    for command in ("memory", "sharing"):
        for data, says in ((b"this is none", f"tare {command}: -: byte 0: "), (whole[:-200], None)):
            r = subprocess.run([os.path.abspath(sys.argv[1]), command, "-"], input=data, capture_output=True)
            said = (r.stdout + r.stderr).decode()
            true("/proc/self" not in said and (not says or said.startswith(says)), said)


@test
def one_byte_is_no_bytes():
    r = Recording()
    r.sample(0x1000, addr=0x9000, src=source("load"))
    for n, says in ((1, "the remaining 1 byte is too few for a record"), (2, "the remaining 2 bytes are too few for a record")):
        data = bytearray(r.write(room("left")).read_bytes())
        at = struct.unpack_from("<Q", data, 40)[0] + len(r.data)
        struct.pack_into("<Q", data, 48, len(r.data) + n)
        true(says in tare("memory", (room("left").write_bytes(data[:at] + bytes(n)), room("left"))[1], status=None).stdout, says)


@test
def recordings_of_real_machines():
    folder = Path(os.environ.get("TARE_FIXTURES") or ROOT.parent / "shared" / "fixtures") / "perfdata"
    if not folder.is_dir():
        skip(f"{folder} is not there; TARE_FIXTURES names the folder that holds perfdata/")
    d = document("memory", "--by", "symbol", folder / "x86-pebs-memload.perf.data")
    equal((d["total"]["samples"], d["total"]["loads"], d["latency"]), (14, 14, "use"), "PEBS")
    equal([r["label"] for r in d["rows"]][1:], ["stack of ls (214145)", "memory at 0x7f56ff78a000 of ls (214145)  8192 bytes"], "objects")
    d = document("memory", folder / "arm-spe.reconstructed.data", status=1)  # 47 bytes of it end without END or TS
    equal((d["total"]["samples"], d["no_memory_operations"], d["latency"]), (1, 3, "total"), "SPE")
    said = tare("memory", folder / "amd-ibs-fetch-op.reconstructed.data", status=125).stderr
    true("its 2 samples are of operations that access no memory" in said, said)
    for name, says in (("aarch64-two-events", "no memory access in its 1985 samples: 881 of other operations, 1104 unknown"),
                       ("multi-event-i686", "no memory access in its 703 samples"), ("pipe-lost-samples-4.4", "no memory access in its 191 samples"),
                       ("simpleperf-lost-fp", "its 10 samples have no data of memory accesses; 590 more were lost"), ("v1-magic", "it has no samples")):
        said = refused(folder / f"{name}.perf.data")
        true(says in said and "perf mem record" in said, f"{name}: {said}")
    for path in sorted(folder.glob("*.data")):
        r = subprocess.run([os.path.abspath(sys.argv[1]), "memory", str(path)], capture_output=True, text=True, timeout=60)
        true(r.returncode in (0, 1, 125) and (r.returncode != 125 or 1 <= r.stderr.count("\n") <= 3), f"{path.name}: {r.returncode} {r.stderr}")


@test
def a_real_program_by_the_exact_engine():
    if not EXACT:
        skip("this machine has no exact engine")
    path, _ = compiled()
    room("loop.c").write_text('static volatile long table[512], other;\n'
                              'int main(void) { for (long i = 0; i < 400000; i++) { table[i % 512] = i; if (i % 8 == 0) other = i; } return 0; }\n')
    r = subprocess.run([CC, "-g", "-O1", str(room("loop.c")), "-o", str(room("loop"))], capture_output=True, text=True)
    true(r.returncode == 0, r.stderr)
    tare("record", "--engine", "exact", "--precise=memory", "-c", "101", "-o", room("exact.data"), "--", room("loop"))
    d = document("memory", "--by", "symbol", room("exact.data"))
    got = {x.get("symbol"): x["weight"] for x in d["rows"]}
    # 400000 stores of the table, 50000 of the other: a volatile store is one access, whoever compiles it
    true(abs(got["table"] - 400000) < 40000 and abs(got["other"] - 50000) < 15000, got)
    equal(d["latency"], None, "no latencies")
    true(any("all equally likely" in n for n in d["notes"]), d["notes"])
    true(any(x["file"] and x["file"].endswith("loop.c") and x["line"] == 2 for x in document("memory", room("exact.data"))["rows"]), "the line")


BLOCKS = r"""
#include <stdlib.h>
__attribute__((noinline)) static long *kept(void) { return malloc(64 * sizeof(long)); }
__attribute__((noinline)) static long *passing(void) { return malloc(64 * sizeof(long)); }
int main(void)
{
	volatile long *p = kept(), *first;
	for (int i = 0; i < 64000; i++)
		p[i % 64] = i;
	for (int round = 0; round < 500; round++) { /* the same memory again and again, by turns of two places */
		first = round % 2 ? kept() : passing();
		for (int i = 0; i < 64; i++)
			first[i] = i;
		free((void *)first);
	}
	return 0;
}
"""


@test
def blocks_are_told_by_where_they_were_taken():
    if not EXACT:
        skip("this machine has no exact engine")
    room("blocks.c").write_text(BLOCKS)
    r = subprocess.run([CC, "-g", "-O1", str(room("blocks.c")), "-o", str(room("blocks"))], capture_output=True, text=True)
    true(r.returncode == 0, r.stderr)
    r = tare("record", "--engine", "exact", "--precise=memory", "-c", "13", "--alloc", "-o", room("blocks.data"), "--", room("blocks"), status=None)
    if r.returncode:
        skip(f"no --alloc here: {r.stderr.strip()}")
    got = {k: v["weight"] for k, v in rows(room("blocks.data"), "symbol").items() if "block allocated" in k}
    # the places and who called them, although the program has no frame pointers: 64000 stores; 250 times 64; the same
    for name, stores in (("kept  blocks.c:3, for main  blocks.c:7", 64000), ("kept  blocks.c:3, for main  blocks.c:11", 16000),
                         ("passing  blocks.c:4, for main  blocks.c:11", 16000)):
        true(abs(got.pop("block allocated in " + name) - stores) < 5000, f"{name}: {got}")
    equal(got, {})
    true(not any(".alloc.part" in k for k in rows(room("blocks.data"), "symbol")), "what is accessed of the recorder's own file")
    whole = room("blocks.data.alloc").read_bytes()
    others = bytearray(whole)
    for at in range(4096, len(others), 65536):
        struct.pack_into("=I", others, at + 4, 1)  # a process that is not in the recording
    room("blocks.data.alloc").write_bytes(others)
    d = document("memory", "--by", "symbol", room("blocks.data"))
    true(any("it belongs to another recording" in n for n in d["notes"]) and not any("block allocated" in r["label"] for r in d["rows"]), d["notes"])
    for command in ("memory", "sharing"):
        room("blocks.data.alloc").write_bytes(whole)
        document(command, room("blocks.data"))  # no damage
        room("blocks.data.alloc").write_bytes(whole[:6000])
        d = document(command, room("blocks.data"), status=1)
        true(any("blocks.data.alloc is damaged" in n for n in d["notes"]), d["notes"])
    room("blocks.data.alloc").write_bytes(b"TAREBLKS nonsense")
    d = document("memory", "--by", "symbol", room("blocks.data"), status=1)
    true(any("heap blocks are not shown" in n for n in d["notes"]), d["notes"])


WRAPPED = r"""
#include <stdlib.h>
__attribute__((noinline)) static void *xmalloc(size_t n) { void *p = malloc(n); if (!p) abort(); return p; }
__attribute__((noinline)) static void *node(void) { volatile char *q = xmalloc(512); for (int i = 0; i < 2000; i++) q[i % 512] = 1; void *p = xmalloc(512); __asm__ volatile("" : "+r"(p)); return p; }
__attribute__((noinline)) static void *name(void) { void *p = xmalloc(512); __asm__ volatile("" : "+r"(p)); return p; }
int main(void)
{
	volatile char *a = node(), *b = name();
	for (int i = 0; i < 40000; i++)
		a[i % 512] = 1, b[i % 512] = b[(i + 1) % 512] = 1;
	return 0;
}
"""


NEW = r"""
#include <memory>
#include <vector>
struct A { long v[64]; };
struct alignas(128) B { long v[64]; };
__attribute__((noinline)) A *first() { return new A(); }
__attribute__((noinline)) A *second() { return new A(); }
__attribute__((noinline)) B *third() { return new (std::nothrow) B[1]; } // three operators call one another
int main()
{
	A *a = first(), *b = second();
	B *e = third();
	auto c = std::make_unique<long[]>(64);
	std::vector<long> d(64);
	for (long i = 0; i < 8000; i++)
		for (volatile long *to : { a->v, b->v, c.get(), d.data(), e->v })
			to[i % 64] = i;
	delete a;
	delete b;
	return 0;
}
"""


@test
def blocks_of_new_are_told_by_who_asked():
    """C++'s library has no frame pointers, nor has the program with -O1; with -O0 what it makes of templates is functions of their own;
    and with the library in the program operators new are the program's."""
    if not EXACT or not shutil.which("c++"):
        skip("this machine has no exact engine, or no C++ compiler")
    room("new.cc").write_text(NEW)
    for flags in (["-O0"], ["-O1"], ["-O1", "-static-libstdc++"]):
        r = subprocess.run(["c++", "-g", *flags, str(room("new.cc")), "-o", str(room("new"))], capture_output=True, text=True)
        true(r.returncode == 0, r.stderr)
        r = tare("record", "--engine", "exact", "--precise=memory", "-c", "13", "--alloc", "-o", room("new.data"), "--", room("new"), status=None)
        if r.returncode:
            skip(f"no --alloc here: {r.stderr.strip()}")
        got = {k: v["stores"] for k, v in rows(room("new.data"), "symbol").items() if "block allocated" in k and v["stores"] > 100}
        equal(sorted(got), sorted(["block allocated in main  new.cc:13", "block allocated in main  new.cc:14", "block allocated in first()  new.cc:6, for main  new.cc:11",
                                   "block allocated in second()  new.cc:7, for main  new.cc:11",
                                   "block allocated in third()  new.cc:8, for main  new.cc:12"]), flags)


@test
def long_names_leave_their_middle_out():
    """In text alone."""
    if not EXACT:
        skip("this machine has no exact engine")
    name = "begin" + 1000 * "x" + "end"
    room("long.c").write_text(f"static volatile int v; __attribute__((noinline)) void {name}(void) {{ for (int i = 0; i < 9999; i++) v = i; }}"
                              f"int main(void) {{ {name}(); }}")
    r = subprocess.run([CC, "-O1", str(room("long.c")), "-o", str(room("long"))], capture_output=True, text=True)
    true(r.returncode == 0, r.stderr)
    tare("record", "--engine", "exact", "--precise=memory", "-c", "13", "-o", room("long.data"), "--", room("long"))
    text = tare("memory", "--by", "function", room("long.data")).stdout
    true(re.search(r" beginx+\.\.\.x+end  long$", text, re.M), text)
    true(f"{name}  long" in rows(room("long.data"), "function") and name in tare("memory", "--by", "function", "--format", "csv", room("long.data")).stdout, "whole")


@test
def versions_are_no_part_of_names():
    if not EXACT:
        skip("this machine has no exact engine")
    room("version.c").write_text("""volatile int hot_1[64]; __asm__(".symver hot_1, hot@@V1");
        void work_1(void); void work_1(void) { for (int i = 0; i < 9000; i++) hot_1[i % 64] = i; } __asm__(".symver work_1, work@@V1");""")
    room("version.map").write_text("V1 { global: hot; work; local: *; };")
    room("versioned.c").write_text("void work(void); int main(void) { work(); return 0; }")
    for words in (["-shared", "-fPIC", f"-Wl,--version-script={room('version.map')}", "version.c", "-o", "libversion.so"],
                  ["versioned.c", "libversion.so", f"-Wl,-rpath,{room('.')}", "-o", "versioned"]):
        r = subprocess.run([CC, "-O1", *words], capture_output=True, text=True, cwd=room(""))
        true(r.returncode == 0, r.stderr)
    tare("record", "--engine", "exact", "--precise=memory", "-c", "13", "-o", room("versioned.data"), "--", room("versioned"))
    true("work  libversion.so" in rows(room("versioned.data"), "function"), "a function")
    true(any(k.startswith("hot  libversion.so") for k in rows(room("versioned.data"), "symbol")), "a variable")


@test
def blocks_of_one_wrapper_are_told_apart_by_who_called_it():
    if not EXACT:
        skip("this machine has no exact engine")
    room("wrapped.c").write_text(WRAPPED)
    r = subprocess.run([CC, "-g", "-O1", "-fno-omit-frame-pointer", str(room("wrapped.c")), "-o", str(room("wrapped"))], capture_output=True, text=True)
    true(r.returncode == 0, r.stderr)
    r = tare("record", "--engine", "exact", "--precise=memory", "-c", "13", "--alloc", "-o", room("wrapped.data"), "--", room("wrapped"), status=None)
    if r.returncode:
        skip(f"no --alloc here: {r.stderr.strip()}")
    got = {k: v for k, v in rows(room("wrapped.data"), "symbol").items() if "block allocated" in k}
    equal(sorted(got), ["block allocated in xmalloc  wrapped.c:3, for name  wrapped.c:5", "block allocated in xmalloc  wrapped.c:3, for node  wrapped.c:4"], "blocks")
    a, b = (got[k]["stores"] for k in sorted(got, reverse=True))
    true(1.7 < b / a < 2.3, f"{a} and {b} stores")
    equal(len({(v["module"], v["offset"]) for v in got.values()}), 1, "the place")
    labels = [r["label"] for r in document("memory", "--by", "symbol", room("wrapped.data"))["rows"]]
    equal(sorted(set(labels)), sorted(labels), "two calls of one source line are one row")
    d = document("memory", "--by", "line", room("wrapped.data"))
    true(not any("libtare-alloc.so" == Path(r["module"]).name for r in d["rows"]), "what the recorder accesses itself is in no row")
    table = list(csv.DictReader(io.StringIO(tare("export", "--accesses=csv", room("wrapped.data")).stdout)))
    equal(d["recorder_left_out"] + d["total"]["samples"] + d["no_memory_operations"], len(table), "nor is it lost")
    true(d["recorder_left_out"] > 0, d["recorder_left_out"])
    says = " of the allocation recorder (libtare-alloc.so) left out" + (f"; included: {d['recorder_or_program_clock']:,} in the vDSO" if d["recorder_or_program_clock"] else "\n")
    true(says in tare("memory", room("wrapped.data")).stdout and says in tare("sharing", room("wrapped.data")).stdout, says)
    equal(document("sharing", room("wrapped.data"))["recorder_left_out"], d["recorder_left_out"], "tare sharing")
    equal(len({(v["caller_module"], v["caller_offset"]) for v in got.values()}), 2, "its callers")
    true("heap blocks are not shown" not in tare("memory", room("wrapped.data")).stdout, "they are there")
    os.rename(room("wrapped.data.alloc"), room("away"))
    text = tare("memory", "--by", "symbol", room("wrapped.data")).stdout
    true("heap blocks are not shown: libtare-alloc.so recorded them (tare record --alloc), but " in text and "wrapped.data.alloc is missing" in text, text)
    with open(room("wrapped.data"), "rb") as f:
        r = subprocess.run([os.path.abspath(sys.argv[1]), "memory", "-"], stdin=f, capture_output=True, text=True)
    true("but their file cannot be found for standard input, and so is missing" in r.stdout, r.stdout)
    os.rename(room("away"), room("wrapped.data.alloc"))


PLACES = r"""
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
enum { TIMES = 40000, PAGES = 16 };
static volatile char *shared;
__attribute__((noinline)) static void touch(volatile char *p) { for (int i = 0; i < TIMES; i++) p[i % 256] = 1; }
static void *work(void *p)
{
	volatile char own[256];
	touch(own);
	touch(p);
	return p;
}
int main(void)
{
	pthread_t t;
	volatile char own[256], *heap = malloc(256);
	pthread_create(&t, 0, work, (void *)heap);
	pthread_join(t, 0);
	touch(own);
	shared = mmap(0, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	touch(shared);
	munmap((void *)shared, PAGES * 4096);
	return 0;
}
"""


@test
def stacks_and_the_heap_are_told_under_the_exact_engine():
    if not EXACT:
        skip("this machine has no exact engine")
    room("places.c").write_text(PLACES)
    r = subprocess.run([CC, "-g", "-O1", "-pthread", str(room("places.c")), "-o", str(room("places"))], capture_output=True, text=True)
    true(r.returncode == 0, r.stderr)
    tare("record", "--engine", "exact", "--precise=memory", "-c", "31", "-o", room("places.data"), "--", room("places"))
    stores = {}
    for name, x in rows(room("places.data"), "symbol").items():
        kind = next((k for k in ("stack of thread", "stack of places", "heap of places", "memory at") if name.startswith(k)), "else")
        true("unrecorded" not in name, name)
        stores[kind] = stores.get(kind, 0) + x["stores"] * 31
    for kind in ("stack of thread", "stack of places", "heap of places", "memory at"):
        true(35000 < stores.get(kind, 0) < 60000, f"{kind}: {stores}")  # 40000, and on the first stack what the loader does


@test
def a_data_source_that_the_core_does_not_have():
    for codes, says in (((14, 0, 14), None), ((63, 0, 14), "1 access has an unknown data source"),
                        ((63, 63, 14), "2 accesses have unknown data sources")):
        r = Recording(config=0x600000001, config1=0, pmu=(9, "arm_spe_0"), cpuid="0x00000000410fd0c0", kind=IDENTIFIER | IP | TID | TIME | CPU)
        r.spe(b"".join(spe_record(0x401000, 0x5000, source=code) for code in codes), tid=7)
        r.write(room("codes"))
        text = tare("memory", room("codes")).stdout
        equal("unknown data source" in text, says is not None, text)
        true(not says or says in text, text)
        equal(json.loads(tare("memory", "--format", "json", room("codes")).stdout)["losses"]["unknown_sources"], codes.count(63), codes)


@test
def a_recording_that_broke_off_says_so():
    r = Recording()
    for tid in (1, 2):
        r.sample(0x1000, 1, tid, tid, 0x5000, 0, 1, 100, source("load", "L1"))
    said = "the recording broke off: its recorder did not finish, and its end may be missing"
    for broke_off in (False, True):
        path = r.write(room("broke"))
        head = bytearray(path.read_bytes())
        if broke_off:
            head[72:104] = bytes(32)  # no features: they come last
        path.write_bytes(head)
        for command in ("memory", "sharing"):
            equal(tare(command, path).stdout.count(said), broke_off, command)
            equal(json.loads(tare(command, "--format", "json", path).stdout)["losses"]["broke_off"], broke_off, command)
            remarks = json.loads(tare(command, "--format", "json", path).stdout)["remarks"]
            equal([r["doubtful"] for r in remarks if r["text"] == said], [True] * broke_off, command)
            true(all(f" {r['text']}\n" in tare(command, path).stdout for r in remarks), remarks)
            equal(tare(command, "--format", "csv", path).stderr.count(said), broke_off, command)
        equal(tare("export", "--accesses=csv", path).stderr.count(said), broke_off, "the table")


main()
