# SPDX-License-Identifier: MIT
"""`tare sharing` on recordings in which it is known what each line is, with its names, and on a real program and its repaired twin.

usage: sharing_test.py TARE SCHEMAS ROOT CC EXACT
"""
import collections
import csv
import io
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from made_accesses import *  # noqa: E402,F403
from recordings import document, room, tare  # noqa: E402

CC, EXACT = sys.argv[4], sys.argv[5] == "yes"
BASE = 0x10000000
PLANS = {"private": None, "read only": None, "fields": "false", "counter": "true", "read mostly": "true", "lock and data": "both", "turns": "handed over"}


def machine(seed, kinds=KIND, hitm=True, **more):
    """Threads at a few hundred lines, each by a plan; what hardware samples of them."""
    rng = random.Random(seed)
    plans, threads = {}, rng.randrange(2, 6)
    r = Recording(kind=kinds, **more)
    r.comm(1, 1, "prog")
    r.mmap(1, BASE, 1 << 20, 0, "//anon", data=True)
    samples = []
    for line in range(20):
        plan = rng.choice(list(PLANS))
        plans[BASE + 64 * line] = plan
        n, last = rng.randrange(120, 400), None
        for i in range(n):
            thread = rng.randrange(threads)
            word, op, time = 0, "load", rng.randrange(1 << 30)
            if plan == "private":
                thread, op = 0, rng.choice(("load", "store"))
            elif plan == "read only":
                word = rng.randrange(8)
            elif plan == "fields":
                word, op = thread, rng.choice(("load", "store"))
            elif plan == "counter":
                word, op = 3, rng.choice(("load", "store", "update"))
            elif plan == "read mostly":
                word, op = 3, "store" if thread == 0 else "load"
            elif plan == "lock and data":
                word, op = rng.choice(((7, "update"), (thread, "store")))
            else:
                word, op, time = rng.randrange(8), "store", (thread << 30) + time
            samples.append((time, line, thread, word, op))
    writer = {}
    for time, line, thread, word, op in sorted(samples):
        modified = hitm and writer.get(line, thread) != thread and op != "store"
        if op != "load":
            writer[line] = thread
        r.sample(0x400000 + 16 * line, 1, 100 + thread, time, BASE + 64 * line + 8 * word, 0, 1, 0,
                 source(op, "far cache" if modified else "L1", "modified" if modified else "none"))
    return r, plans


@test
def verdicts_are_right():
    """Thousands of lines with and without word of other caches' lines: of what was planted, how much is found; of what is said, how much is so."""
    for hitm in (True, False):
        said, planted, right, wrong = collections.Counter(), collections.Counter(), collections.Counter(), []
        for seed in range(12):
            r, plans = machine(seed, hitm=hitm)
            path = r.write(room("machine"))  # checking thousands of cells against the schema takes longer than all else
            d = document("sharing", path) if seed == 0 else json.loads(tare("sharing", "--format", "json", path).stdout)
            equal(d["knows_modified"], hitm, "modified lines")
            got = {int(l["address"], 16): l["verdict"] for l in d["lines"]}
            for address, plan in plans.items():
                verdict = got.get(address)
                said[verdict] += 1
                planted[PLANS[plan]] += 1
                right[verdict] += verdict == PLANS[plan]
                if verdict != PLANS[plan]:
                    wrong.append((seed, plan, verdict))
        for verdict in ("false", "true", "both", "handed over", None):
            print(f"# {'with' if hitm else 'without'} hitm, {verdict or 'not shared'}: precision {right[verdict]}/{said[verdict]}, recall {right[verdict]}/{planted[verdict]}")
            true(right[verdict] >= 0.97 * said[verdict] and right[verdict] >= 0.97 * planted[verdict], f"{verdict}: {wrong}")


@test
def counts_are_the_known_ones():
    r = Recording()
    r.comm(1, 1, "prog")
    r.comm(1, 2, "helper")
    truth = collections.Counter()
    for i in range(600):
        thread, op, modified = 1 + i % 2, ("load", "store")[i % 3 == 0], i % 5 == 0
        weight = 100 + i if op == "load" else 0
        r.sample(0x1000 * thread, 1, thread, i, BASE + 8 * thread, 0, 1, weight, source(op, "L3", "modified" if modified else "none"))
        for key, n in ((op, 1), ("modified", modified), ("latency", weight)):
            truth[thread, key] += n
    line, = document("sharing", r.write(room("counts")))["lines"]
    equal((line["verdict"], line["samples"], line["threads"], line["switches_true"]), ("false", 600, 2, 0), "line")
    equal([(c["offset"], c["tid"], c["comm"], c["loads"], c["stores"], c["modified"], round(c["latency_mean"] * c["loads"])) for c in line["cells"]],
          [(8 * t, t, {1: "prog", 2: "helper"}[t], truth[t, "load"], truth[t, "store"], truth[t, "modified"], truth[t, "latency"]) for t in (1, 2)], "cells")
    table = list(csv.DictReader(io.StringIO(tare("sharing", "--format", "csv", room("counts")).stdout)))
    equal([(r["offset"], r["loads"], r["verdict"]) for r in table], [(str(c["offset"]), str(c["loads"]), "false") for c in line["cells"]], "CSV")
    text = tare("sharing", room("counts")).stdout
    for says in ("FALSE SHARING: threads use separate bytes in one cache line (90 % sure)", "the size of some of these accesses is unknown", "bytes +8 by 1, +16 by 2", "alignas(64)",
                 "1 contended", "helper 1/2"):
        true(says in text, f"{says} in {text}")
    text = tare("sharing", "--filter", "tid=2", room("counts")).stdout
    true("No line is contended" in text, text)


FIELDS = """
#include <stdint.h>
struct inner { int x, y; };
struct base { uint64_t hits, more; };
typedef struct { struct base first; const volatile struct inner in[2]; union { long l; char c[8]; } u; struct { int deep; }; unsigned low : 4, high : 12; } counters;
counters stats __attribute__((aligned(64)));
static uint64_t alone[8] __attribute__((aligned(64)));
int plain __attribute__((aligned(64)));
struct inner grid[2][3] __attribute__((aligned(64)));
struct four { uint64_t a, b; struct inner c; uint64_t d[2]; } four __attribute__((aligned(64)));
int main(void) { static struct inner loc __attribute__((aligned(64))); loc.x++; grid[four.a][2].y++; return (int)alone[stats.first.hits & 7] + plain; }
"""


def built(name, source, *command):
    """A program at its own addresses, and where its variables are."""
    compiled = [str(room(name + end)) for end in (".c" if command[0] != "c++" else ".cc", ".o", "")]
    Path(compiled[0]).write_text(source)
    subprocess.run([*command, "-c", compiled[0], "-o", compiled[1]], check=True)
    subprocess.run([command[0], "-no-pie", compiled[1], "-o", compiled[2]], check=True)
    symbols = subprocess.run(["nm", "-C", compiled[2]], capture_output=True, text=True, check=True).stdout.splitlines()
    return compiled[2], {w[2]: int(w[0], 16) for w in (line.split() for line in symbols) if len(w) == 3}


def fights(program, at, threads):
    """Of each variable the offsets that threads 1, 2, ... use, by turns."""
    r = Recording()
    r.comm(1, 1, "prog")
    r.mmap(1, 0x401000, 0x1000, 0x1000, program)
    for name, offsets in threads:
        for i in range(600):
            mine = offsets[i % len(offsets)]
            r.sample(0x401000, 1, 1 + i % len(offsets), i, at[name] + mine[i // len(offsets) % len(mine)], 0, 1, 0, source("store", "L1", "none"))
    return r.write(room(Path(program).name + ".data"))


@test
def bytes_are_named_by_their_types():
    out = {}
    # clang names addresses by their place in a table; split types are in a file of their own.
    ways = {"-g": (CC, "-g"), "-g0": (CC, "-g0"), "split": (CC, "-g", "-gsplit-dwarf"), "gone": (CC, "-g", "-gsplit-dwarf"),
            "pipe": (CC, "-g", "-gsplit-dwarf"), "dwarf4": (CC, "-gdwarf-4")}
    ways |= {"clang": ("clang", "-gdwarf-5")} if shutil.which("clang") else {}
    for how, command in ways.items():
        program, at = built("fields" + how, FIELDS, *command, "-O0")
        if how in ("gone", "pipe"):
            Path(program + ".dwo").unlink()
        if how == "pipe":
            os.mkfifo(program + ".dwo")
        loc, = (name for name in at if name in ("loc.0", "main.loc"))
        path = fights(program, at, [("stats", ((0,), (8, 16, 28, 32, 36, 40, 44))), ("alone", ((8,), (24,))), ("plain", ((0,), (4,))), ("grid", ((16,), (36,))), (loc, ((0,), (4,))),
                                    ("four", ((0,), (8,), (16, 20), (24, 32)))])
        lines = {l["symbol"]: l for l in document("sharing", path)["lines"]}
        out[how] = {"loc" if name == loc else name: {c["offset"]: c["field"] for c in l["cells"]} for name, l in lines.items()}
        text, typed = tare("sharing", "-n", "0", path).stdout, how not in ("-g0", "gone", "pipe")
        said = [line.strip() for line in text.splitlines() if "aligned to" in line]
        equal(sorted(said), sorted(["stats.first.more aligned to 64 bytes begins a line of its own, and stats.first.hits keeps this one",
                                    "loc.y aligned to 64 bytes begins a line of its own, and loc.x keeps this one",
                                    "four.b, four.c and four.d, each aligned to 64 bytes, begin lines of their own, and four.a keeps this one: 4 lines in total"])
              if typed else [], f"{how}: of members, neither of elements nor of the whole")
        told = {l["symbol"]: l["padding"] for l in json.loads(tare("sharing", "--format", "json", path).stdout)["lines"]}
        equal(sorted(p["means"] for p in told.values() if p), sorted(said), f"{how}: JSON says what the text says")
        aligned = {}
        for row in csv.DictReader(io.StringIO(tare("sharing", "--format", "csv", path).stdout)):
            aligned.setdefault(row["line"], []).extend([row["align"]] if row["align"] else [])
        equal(sorted(a for a in aligned.values() if a), sorted(p["align"] for p in told.values() if p), f"{how}: CSV has the same")
        if typed:
            equal((told["four"]["align"], told["four"]["keeps"], told["plain"]), (["four.b", "four.c", "four.d"], "four.a", None), f"{how}: padding")
        equal([c["field"] or "" for l in json.loads(tare("sharing", "--format", "json", path).stdout)["lines"] for c in l["cells"]],
              [row["field"] for row in csv.DictReader(io.StringIO(tare("sharing", "--format", "csv", path).stdout))], f"{how}: CSV")
        if typed:
            heads = [line.split() for line in text.splitlines() if line.startswith("    at ")]
            equal({tuple(h[:3]) for h in heads}, {("at", "field", "thread")}, "a column")
        else:
            equal(out[how], {name: dict.fromkeys(cells, loc if name == "loc" else name) if name != "plain" else {0: "plain", 4: None} for name, cells in out["-g"].items()}, "without types")
    for how in set(ways) - {"-g0", "gone", "pipe"}:
        equal(out[how], out["-g"], how)
    equal(out["-g"], {"stats": {0: "stats.first.hits", 8: "stats.first.more", 16: "stats.in[0].x", 28: "stats.in[1].y", 32: "stats.u", 36: "stats.u",
                                40: "stats.deep", 44: "stats.low"}, "alone": {8: "alone[1]", 24: "alone[3]"}, "plain": {0: "plain", 4: None},
                      "grid": {16: "grid[0][2].x", 36: "grid[1][1].y"}, "loc": {0: "loc.x", 4: "loc.y"},
                      "four": {0: "four.a", 8: "four.b", 16: "four.c.x", 20: "four.c.y", 24: "four.d[0]", 32: "four.d[1]"}}, "with types")


CLASSES = """
#include <utility>
struct Empty {};
struct Counts : Empty { std::pair<long, long> pair; long first, second, third; };
struct Shared { long common; };
struct Child : virtual Shared { long own; };
namespace held { alignas(64) Counts counts; alignas(64) Child child; }
int main() { return held::counts.first + held::child.common; }
"""


@test
def bytes_are_somebodys_but_for_a_tenth():
    """As the verdict has it: who looks at another's counter now and then does not make it his, and what is only read is nobody's."""
    program, at = built("mostly", FIELDS, CC, "-g", "-O0")
    r = Recording()
    r.comm(1, 1, "prog")
    r.mmap(1, 0x401000, 0x1000, 0x1000, program)
    for i in range(3000):
        thread = 1 + i % 2
        r.sample(0x401000, 1, thread, 2 * i, at["stats"] + (8 if thread == 2 or i % 100 == 0 else 0), 0, 1, 0, source("store", "L1", "none"))
        thread = 1 + i % 3
        r.sample(0x401000, 1, thread, 2 * i + 1, at["four"] + (0 if thread == 1 else 8), 0, 1, 0, source("store" if thread == 1 else "load", "L1", "none"))
    text = tare("sharing", "-n", "0", r.write(room("mostly.data"))).stdout
    for says in ("bytes +0 by 1, +8 by 2 (all but 30 of 1530)", "stats.first.more aligned to 64 bytes begins a line of its own, and stats.first.hits keeps this one",
                 "bytes +0 by 1, +8 read by 2 threads", "four.b aligned to 64 bytes begins a line of its own, and four.a keeps this one"):
        true(says in text, f"{says}: {text}")


@test
def members_of_classes():
    if not shutil.which("c++"):
        skip("no C++ compiler")
    program, at = built("classes", CLASSES, "c++", "-g", "-O0")
    path = fights(program, at, [("held::counts", ((0,), (8,), (16,), (24,))), ("held::child", ((8,), (16,)))])
    lines = {l["symbol"]: {c["offset"]: c["field"] for c in l["cells"]} for l in document("sharing", path)["lines"]}
    equal(lines["held::counts"], {0: "held::counts.pair.first", 8: "held::counts.pair.second", 16: "held::counts.first", 24: "held::counts.second"}, "behind an empty base class")
    equal(lines["held::child"], {8: "held::child.own", 16: "held::child"}, "a virtual base class")
    true("aligned to" not in tare("sharing", path).stdout, "one of the cuts would be in <utility>")
    path = fights(program, at, [("held::counts", ((0, 8), (16,), (24,)))])
    true("held::counts.first and held::counts.second, each aligned to 64 bytes, begin lines of their own, and held::counts.pair keeps this one: 3 lines in total"
         in tare("sharing", path).stdout, "this one's are the program's own")
    path = fights(program, at, [("held::counts", ((16, 32), (24,)))])
    true("aligned to" not in tare("sharing", path).stdout, "no cut parts a thread's bytes from those between them")


@test
def why_there_is_no_verdict():
    """What moved a few times only, bytes seen once, threads one after the other, and a verdict of a part of the time: in JSON and CSV as in the text."""
    r, store = Recording(), source("store", "L1", "none")
    for i in range(8):
        r.sample(0x1000, 1, 1 + i % 2, i, BASE, 0, 1, 0, store)
    for i in range(16):
        r.sample(0x1000, 1, 1 + i % 2, i, BASE + 0x40 + i // 2 + 32 * (i % 2), 0, 1, 0, store)
    for i in range(400):
        r.sample(0x1000, 1, 3 + i // 200, i, BASE + 0x80, 0, 1, 0, store)
    for i in range(10000):
        tid = 5 + (i // 100 % 2 if i >= 6000 else 0)
        r.sample(0x1000, 1, tid, i, BASE + 0xc0 + 8 * tid, 0, 1, 0, store)
    path = r.write(room("why"))
    told = {int(l["address"], 16) - BASE: l for l in document("sharing", path)["lines"]}
    why = ("verdict", "in_turns", "few_turns", "few_bytes", "seldom")
    equal({at: tuple(l[k] for k in why) for at, l in told.items()},
          {0: ("unclear", False, False, False, True), 0x40: ("unclear", False, False, True, False), 0x80: ("unclear", False, True, False, False), 0xc0: ("false", True, False, False, False)}, "lines")
    true([told[at]["part"] for at in (0, 0x40, 0x80)] == [None] * 3 and told[0xc0]["part"] in (5000, 2500), f"part: {told[0xc0]['part']}")
    rows = {int(row["line"], 16) - BASE: row for row in csv.DictReader(io.StringIO(tare("sharing", "--format", "csv", path).stdout))}
    for at, l in told.items():
        equal([rows[at][k] for k in why[1:]] + [rows[at]["part"], rows[at]["align"]], [str(l[k]).lower() for k in why[1:]] + [str(l["part"] or ""), ""], f"CSV, {at:#x}")
    text = tare("sharing", "-a", path).stdout
    for says in ("it moved too rarely to matter", "too few samples of the same bytes", "its threads ran one after the other", f", in part of the time: {told[0xc0]['part']:,} of its samples)"):
        true(text.count(says) == 1, f"{says} in {text}")


@test
def bytes_that_are_only_read_beside_a_counter():
    """Two threads poll a word, two others count beside it: `writes` of a thousand of their accesses are to that word. The counter is truly shared, the word only lies there."""
    for polls, writes, verdict in (((1, 2), 0, "both"), ((1, 2), 20, "both"), ((1, 2, 3), 0, "false"), ((), 0, "true"), ((1,), 0, "both")):
        r, rng, same, moves, last = Recording(), random.Random(5), 0, 0, None
        r.comm(1, 1, "prog")
        for i in range(3000):
            tid = 1 + rng.randrange(4)
            at, op = (0, "load") if tid in polls else (0, "store") if rng.randrange(1000) < writes else (8, "update")
            if last and last[0] != tid and (op != "load" or last[2] != "load"):
                moves, same = moves + 1, same + (at == last[1])
            last = tid, at, op
            r.sample(0x1000 + 16 * at, 1, tid, i, BASE + at, 0, 1, 0, source(op, "L1", "none"))
        line, = document("sharing", r.write(room("polled")))["lines"]
        equal((line["verdict"], line["switches_true"], line["switches_false"]), (verdict, same, moves - same), f"{polls} poll, {writes} written")
        text = tare("sharing", room("polled")).stdout
        true(f" {same:,} for the same bytes" in text, "the text says how many")
        equal("may be faster in lines of their own" in text, verdict == "true", "padding is not ruled out where the fields of one line have one writer each")


@test
def two_processes_meet_by_physical_address():
    r = Recording()
    for pid in (1, 2):
        r.mmap(pid, BASE * pid, 4096, 0, "/dev/shm/queue", data=True)
    for i in range(300):
        pid = 1 + i * 7 % 3 % 2
        r.sample(0x1000, pid, pid, i, BASE * pid + 0x40, 0, 1, 0, source("update"), phys=0x77040)
    line, = document("sharing", r.write(room("physical")))["lines"]
    equal((line["address"], line["physical"], line["verdict"]), ("0x77040", True, "true"), "line")
    true("/dev/shm/queue" in line["object"], line["object"])
    true("300 samples by 2 threads of 2 processes: " in tare("sharing", room("physical")).stdout, "processes")
    # the same without physical addresses: two lines of one process each
    r.kind &= ~PHYS
    r.data = b""
    for i in range(300):
        r.sample(0x1000, 1 + i % 2, 1 + i % 2, i, BASE + 0x40, src=source("update"))
    d = document("sharing", r.write(room("virtual")))
    equal((d["lines"], d["processes"], d["knows_physical"]), ([], 2, False), "lines")
    said = "2 processes, but neither physical addresses nor shared mappings (MAP_SHARED) were recorded: lines shared by two processes are not found"
    true(said in tare("sharing", room("virtual")).stdout, "what is not found is said")
    true("physical addresses nor" not in tare("sharing", room("physical")).stdout, "nor where it is found")


@test
def two_processes_meet_in_a_file_that_both_map():
    """Of each process: its address of the mapping, where in the file that begins, flags (1: MAP_SHARED), device and inode."""
    for second, found in (((0x2000000, 0, 1, 8, 77), True), ((0x2000000, 4096, 1, 8, 77), True), ((BASE, 0, 1, 8, 77), True), ((0x2000000, 0, 2, 8, 77), False),
                          ((0x2000000, 0, 1, 8, 78), False), ((0x2000000, 0, 1, 9, 77), False), ((0x2000000, 0, 1, 8, 77 + (1 << 32)), False),
                          ((0x2000000, 0, 1, 8, 0), False), ((BASE, 0, 1, 8, 78), False)):
        r = Recording(kind=KIND & ~PHYS)
        maps = {1: (BASE, 0, 1, 8, second[4] and 77), 2: second}
        for pid, (start, offset, flags, device, inode) in maps.items():
            r.add(MMAP2, struct.pack("<IIQQQIIQQII", pid, pid, start, 1 << 20, offset, device, 1, inode, pid, 3, flags) + name("/dev/zero (deleted)"),
                  USER | DATA, pid, pid)
        for i in range(300):  # each its own word of the line at byte 0x8040 of the file
            pid = 1 + i * 7 % 3 % 2
            r.sample(0x1000, pid, pid, i, maps[pid][0] + 0x8040 - maps[pid][1] + 8 * pid, src=source("update"))
        d = document("sharing", r.write(room("shared")))
        equal([(x["address"], x["physical"], x["threads"], x["verdict"]) for x in d["lines"]],
              [(f"{BASE + 0x8040:#x}", False, 2, "false")] if found else [], second)
        equal("neither physical" in tare("sharing", room("shared")).stdout, not second[4], second)


@test
def a_child_has_its_parents_mappings_and_physical_addresses_go_first():
    for phys in (0, 0x77000):
        r = Recording()
        r.add(MMAP2, struct.pack("<IIQQQIIQQII", 1, 1, BASE, 4096, 0, 8, 1, 77, 0, 3, 1) + name("/memfd:x (deleted)"), USER | DATA, 1, 1)
        r.fork(2, 1, 2, 1, time=1)
        for i in range(300):
            pid = 1 + i * 7 % 3 % 2
            r.sample(0x1000, pid, pid, 2 + i, BASE + 8 * pid, phys=phys + 8 * pid if phys and i % 2 else 0, src=source("update"))
        line, = document("sharing", r.write(room("child")))["lines"]
        equal((line["physical"], line["samples"], line["verdict"]), (phys > 0, 300, "false"), "line")


@test
def spe_without_times_and_sources():
    r = Recording(config=0, config1=0, pmu=(9, "arm_spe_0"), cpuid="0x00000000410fd0c0", kind=IDENTIFIER | IP | TID | TIME | CPU)
    for i in range(200):
        r.spe(spe_record(0x401000, BASE + 8 * (i % 2), True), tid=1000 + i % 2)
    for t in (1000, 1001):
        r.comm(1000, t, "spe")
    d = document("sharing", r.write(room("spe")))
    line, = d["lines"]
    equal((d["without_time"], line["verdict"], line["kind"], line["switches_by_chance"], line["switches_false"]), (200, "untimed", "false", None, None), "without times")
    text = tare("sharing", room("spe")).stdout
    for says in ("1 shared without timestamps", "shared, but perhaps not at the same time", "if it is: FALSE SHARING", "bytes +0 by 1000, +8 by 1001", "ts_enable=1"):
        true(says in text, f"{says} in {text}")
    for says in ("moved", "had to move", "No line is contended"):
        true(says not in text, f"{says} in {text}")


@test
def without_times_bytes_tell_the_kind_and_no_more():
    """As buffers are read one after another, threads seem to take turns in the file: neither that nor the offsets say anything."""
    for plan, kind in (("fields", "false"), ("turns", "false"), ("counter", "true"), ("lock", "both")):
        r = Recording(kind=KIND & ~TIME)
        for k in range(400):
            thread = k // 200 if plan == "turns" else k % 2
            word = {"fields": thread, "turns": 2 * (k % 4) + thread, "counter": 0, "lock": (0, 1 + thread)[k // 2 % 2]}[plan]
            r.sample(0x400000, 1, 11 + thread, 0, BASE + 8 * word, src=source("store", "L1"))
        line, = document("sharing", r.write(room("untimed")))["lines"]
        equal((line["verdict"], line["kind"], line["switches_true"], line["switches_false"], line["switches_by_chance"]), ("untimed", kind, None, None, None), plan)


@test
def lines_of_one_object_are_added_up():
    """False sharing all over an array is one thing to know."""
    r = Recording()
    r.mmap(1, BASE, 1 << 20, 0, "//anon", data=True)
    for k in range(40):
        for line in range(100):
            r.sample(0x400000, 1, 11 + k % 2, 1000 * k + line, BASE + 64 * line + 8 * (k % 2), src=source("store"))
    for k in range(40):
        r.sample(0x400000, 1, 11 + k % 2, 10**6 + k, BASE + (1 << 20) + 64, src=source("store"))
    d = document("sharing", r.write(room("array")))
    equal(sorted((o["verdict"], o["lines"], o["samples"], o["moves"]) for o in d["objects"]), [("false", 100, 4000, 3900), ("true", 1, 40, 39)], "objects")
    equal(len(d["lines"]), 101, "each is listed, too")
    text = tare("sharing", room("array")).stdout
    true("also 99 more lines of this object; in total 4,000 samples and 3,900 moves" in text, text)
    equal([l.split(".")[0] for l in text.splitlines() if l[:1] == " " and l[1:2].isdigit() and ". " in l], [" 1", " 2"], "shown")
    true("more lines (-n 0" not in text, text)
    equal(tare("sharing", "-a", "-n", "0", room("array")).stdout.count("FALSE SHARING:"), 100, "-a lists each")


@test
def a_line_with_physical_addresses_here_and_there_is_one():
    """Loads bring them and stores do not, as PEBS has it on some processors."""
    r = Recording()
    for k in range(200):
        r.sample(0x400000, 1, 11 + k % 2, k, BASE + 8 * (k % 2), phys=0x77000 + 8 * (k % 2) if k // 2 % 2 else 0, src=source(("store", "load")[k // 2 % 2]))
    d = document("sharing", r.write(room("here")))
    line, = d["lines"]
    equal((d["lines_in_all"], line["address"], line["samples"], line["loads"], line["stores"], line["verdict"]), (1, "0x77000", 200, 100, 100, "false"), "line")


@test
def what_is_hidden_is_hinted_at():
    r = Recording()
    for k, (thread, op) in enumerate(((11, "store"), (12, "load"), (12, "load"), (12, "load"))):
        r.sample(0x400000, 1, thread, k, BASE, src=source(op))
    text = tare("sharing", r.write(room("few"))).stdout
    for says in ("4 accesses to 1 line of 64 bytes", " 1 shared without a verdict\n", " No line is known to be contended.\n",
                 " No verdict on 1 shared line (-a shows it). 4 samples: too few samples to tell; record longer, or with a smaller -c.\n"):
        true(says in text, f"{says} in {text}")
    true("2 threads: 3 loads, 1 store;" in tare("sharing", "-a", room("few")).stdout, "plurals")
    for i in range(600):
        r.sample(0x1000, 1, 3 + i // 300, 100 + i, BASE + 0x80, src=source("store"))
    for i in range(2):
        r.sample(0x1000, 1, 3 + i, 800 + i, BASE + 0x100, src=source("store"))
    text = tare("sharing", r.write(room("late"))).stdout
    for says in (" 3 shared without a verdict\n", " No verdict on 2 shared lines (-a shows them). Of the one with the most samples, ",
                 "600 samples: its threads ran one after the other, with too few switches to tell; record longer, or with a CPU for each thread.\n",
                 " 1 more shared line has fewer than 4 samples.\n"):
        true(says in text, f"{says} in {text}")
    text = tare("sharing", "-a", room("late")).stdout
    true(" 1 shared line has fewer than 4 samples.\n" in text and "No verdict on" not in text, text)


@test
def a_line_is_named_by_what_most_of_it_is_of():
    """The first byte that is used is another variable's; and two instructions of one source line are one row of the text, two of JSON."""
    program, at = built("late", "long before[2] __attribute__((aligned(64))) = { 1 }, held[2] __attribute__((aligned(32))) = { 1 };\nint main(void) { return 0; }\n", CC, "-g", "-O0")
    begin = at["held"] & ~63
    r = Recording()
    r.mmap(1, 0x401000, 0x1000, 0x1000, program)
    for i in range(600):
        r.sample(at["main"] + (1, 4)[i // 2 % 2], 1, 1 + i % 2, i, begin + (0 if i in (0, 1) else at["held"] - begin + 8 * (i % 2)), 0, 1, 0, source("store", "L1", "none"))
    line, = document("sharing", r.write(room("named")))["lines"]
    equal((line["symbol"], line["address"]), ("held", hex(begin)), "the line")
    equal(line["object"], f"held in late, from +{at['held'] - begin} of the line on" if at["held"] > begin else "held+0x0 in late", "its name")
    rows = [l for l in tare("sharing", room("named")).stdout.splitlines() if "main  late.c:2" in l]
    equal((len(rows), len([c for c in line["cells"] if c["function"] == "main"])), (4, 6), "rows and cells")
    true("299" in rows[2] and "299" in rows[3], rows)


def spe(**more):
    return Recording(config=0, config1=0, pmu=(9, "arm_spe_0"), cpuid="0x00000000410fd0c0", kind=IDENTIFIER | IP | TID | TIME | CPU, **more)


@test
def switches_tell_whose_the_records_of_a_cpu_are():
    """Those of a recording of tasks, and the other kind that the kernel writes of whole CPUs (-a)."""
    for wide in (False, True):
        r, aux = spe(), b""
        r.announce_spe()
        r.clock_is_spe()
        for t in (500, 501):
            r.comm(500, t, "spe")
        for turn in range(8):
            start, tid = 1000 * (turn + 1), 500 + turn % 2
            r.switch(500, tid, start, wide=wide)
            for k in range(40):
                aux += spe_record(0x401000, BASE + 8 * (tid - 500), k % 2 == 0, time=start + 10 + k)
            r.switch(500, tid, start + 900, out=True, wide=wide)
        r.spe(aux, tid=0xffffffff)
        path = r.write(room("switches"))
        rows = [(a["tid"], int(a["address"], 16) - BASE) for a in csv.DictReader(io.StringIO(tare("export", "--accesses", "-f", "csv", path).stdout))]
        equal(collections.Counter(rows), {("500", 0): 160, ("501", 8): 160}, f"whose, wide={wide}")
        equal(document("sharing", path)["lines"][0]["threads"], 2, "threads of the line")


@test
def context_registers_tell_whose_the_records_are():
    """Each exception level's is a packet of its own; of two, EL2's is the host's."""
    for contexts, tid in ((((1, 500),), "500"), (((2, 7),), "7"), (((1, 500), (2, 7)), "7"), (((2, 7), (1, 500)), "7")):
        r = spe()
        r.spe(b"".join(spe_record(0x401000, BASE, contexts=contexts, time=i) for i in range(20)), tid=0xffffffff)
        done = tare("export", "--accesses", "-f", "csv", r.write(room("contexts")))
        equal([a["tid"] for a in csv.DictReader(io.StringIO(done.stdout))], [tid] * 20, f"threads by {contexts}")
        true("could not be decoded" not in done.stderr, done.stderr)


@test
def modified_and_remote_lines_count_whatever_the_source_says():
    """On a Neoverse N1, source 9 is another core's cache near by, and "peer": of the event it is known that the line was changed."""
    modified, remote = 1 << 21, 1 << 10
    for number in (None, 9):
        for events, snoop, distance in ((0x16, "peer" if number else "", "near" if number else "own"), (0x16 | modified, "modified", "near" if number else "own"),
                                        (0x16 | modified | remote, "modified", "remote")):
            r = spe()
            r.spe(b"".join(spe_record(0x401000, BASE, events=events, source=number, time=i) for i in range(4)))
            rows = list(csv.DictReader(io.StringIO(tare("export", "--accesses", "-f", "csv", r.write(room("modified"))).stdout)))
            equal([(a["snoop"], a["distance"]) for a in rows], [(snoop, distance)] * 4, f"source {number}, events {events:#x}")


@test
def what_cannot_be_told_is_said():
    r = Recording()
    r.sample(0x1000, src=source("load"))
    said = tare("sharing", r.write(room("noaddress")), status=125).stderr
    true("no access of its 1 has an address and a thread" in said, said)
    r = Recording(kind=IDENTIFIER | IP | TID | TIME)
    r.sample(0x1000)
    said = tare("sharing", r.write(room("nothing")), status=125).stderr
    true("its 1 sample has no data of memory accesses" in said, said)
    for words, says in ((("--line-size", "48"), "48 is not one of"), (("-n", "x"), "x"), (("a", "b"), "one file too many"), (("/nonexistent",), "/nonexistent")):
        said = tare("sharing", *words, status=125).stderr
        true(says in said, f"{words}: {said}")


# Rounds of a hundred increments each, so that the threads take turns on any machine, however busy.
PROGRAM = r"""
#include <pthread.h>
struct counter { _Alignas(LINE) volatile long n; };
_Alignas(64) struct counter counters[2];
static _Alignas(64) pthread_barrier_t turn;
__attribute__((noinline)) static void *count(void *p)
{
	for (int round = 0; round < 400; round++) {
		pthread_barrier_wait(&turn);
		for (int i = 0; i < 100; i++)
			((struct counter *)p)->n++;
	}
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_barrier_init(&turn, 0, 2);
	pthread_create(&t, 0, count, &counters[1]);
	count(&counters[0]);
	return pthread_join(t, 0);
}
"""


@test
def a_real_program_is_found_and_its_repaired_twin_is_not():
    if not EXACT:
        skip("this machine has no exact engine")
    room("turns.c").write_text(PROGRAM)
    for line, verdict in ((8, "false"), (64, None)):
        r = subprocess.run([CC, "-g", "-O1", "-pthread", f"-DLINE={line}", str(room("turns.c")), "-o", str(room("turns"))], capture_output=True, text=True)
        true(r.returncode == 0, r.stderr)
        tare("record", "--engine", "exact", "--precise=memory", "-c", "101", "-o", room("turns.data"), "--", room("turns"))
        lines = {l["symbol"]: l for l in document("sharing", room("turns.data"))["lines"] if l["symbol"]}
        equal(lines["counters"]["verdict"] if "counters" in lines else None, verdict, f"alignas({line}): {lines.get('counters')}")
        if verdict:
            equal({c["function"] for c in lines["counters"]["cells"]}, {"count"}, "code")
            equal({c["offset"] for c in lines["counters"]["cells"]}, {0, 8}, "fields")
            true("counters+0x0 in turns" in tare("sharing", room("turns.data")).stdout, "its name")


# One thread writes 16 bytes at once, the other reads the second half of them: the same bytes, at another offset.
WIDE = r"""
#include <pthread.h>
#include <emmintrin.h>
struct message { _Alignas(64) volatile long a; volatile long b, c; } message;
static _Alignas(64) pthread_barrier_t turn;
static void *reader(void *p)
{
	for (int round = 0; round < 400; round++) {
		pthread_barrier_wait(&turn);
		for (int i = 0; i < 100; i++)
			(void)message.WORD;
	}
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_barrier_init(&turn, 0, 2);
	pthread_create(&t, 0, reader, 0);
	for (int round = 0; round < 400; round++) {
		pthread_barrier_wait(&turn);
		for (int i = 0; i < 100; i++)
			*(volatile __m128i *)&message = _mm_set1_epi64x(i);
	}
	return pthread_join(t, 0);
}
"""


MEETING = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	FILE *f = tmpfile();
	int flags = argc > 1 ? MAP_PRIVATE : MAP_SHARED, times = argc > 1 ? 3000 : 300000;
	if (!f || ftruncate(fileno(f), 8192)) return 1;
	pid_t child = fork();
	if (!child) mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* so that the addresses differ */
	volatile long *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, flags, fileno(f), child ? 0 : 4096);
	volatile long *q = mmap(NULL, 4096, PROT_READ | PROT_WRITE, flags, fileno(f), child ? 4096 : 0);
	if (p == MAP_FAILED || q == MAP_FAILED) return 1;
	volatile long *line = child ? p : q;
	for (long i = 0; i < times; i++) line[child ? 8 : 9]++;
	return child ? wait(NULL) != child : 0;
}
"""


@test
def two_real_processes_meet_under_the_exact_engine():
    if not EXACT:
        skip("this machine has no exact engine")
    room("meeting.c").write_text(MEETING)
    r = subprocess.run([CC, "-O1", str(room("meeting.c")), "-o", str(room("meeting"))], capture_output=True, text=True)
    true(r.returncode == 0, r.stderr)
    tare("record", "--engine", "exact", "--precise=memory", "-c", "101", "-o", room("meeting.data"), "--", room("meeting"))
    d = document("sharing", room("meeting.data"))
    lines = [x for x in d["lines"] if x["threads"] == 2]
    equal((d["processes"], len(lines), lines[0]["address"][-3:] if lines else ""), (2, 1, "040"), "the line at byte 64 of the file")
    true(lines[0]["samples"] > 5000, f"{lines[0]['samples']} of 600,000 accesses or twice as many")
    true("processes, and" not in tare("sharing", room("meeting.data")).stdout, "what they share is known and used")
    # the mappings are told, and none is shared: nothing is missing
    tare("record", "--engine", "exact", "--precise=memory", "-c", "101", "-o", room("meeting.data"), "--", room("meeting"), "private")
    text = tare("sharing", room("meeting.data")).stdout
    true("2 processes, and no access to memory that they share (MAP_SHARED): no line is used by two of them." in text and "--phys-data" not in text, text)


NAMED = r"""
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>
int main(void)
{
	int fd = memfd_create("pool", 0), id = shmget(0x7a9e0000 + getpid() % 9999, 4096, 0600 | IPC_CREAT);
	if (fd < 0 || ftruncate(fd, 4096) || id < 0) return 1;
	volatile long *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *q = shmat(id, 0, 0);
	shmctl(id, IPC_RMID, 0);
	for (int i = 0; i < 5000; i++) p[i % 100]++, q[i % 100]++;
	return 0;
}
"""


@test
def memory_that_programs_name_has_its_name():
    if not EXACT:
        skip("this machine has no exact engine")
    room("named.c").write_text(NAMED)
    r = subprocess.run([CC, "-O1", str(room("named.c")), "-o", str(room("named"))], capture_output=True, text=True)
    true(r.returncode == 0, r.stderr)
    tare("record", "--engine", "exact", "--precise=memory", "-c", "11", "-o", room("named.data"), "--", room("named"))
    text = tare("memory", "--by", "symbol", room("named.data")).stdout
    true("/memfd:pool at 0x" in text and "/SYSV7a9e" in text and "(deleted)" not in text, text)


BRIEFLY = r"""
#include <pthread.h>
volatile long x[8];
static void *other(void *a) { for (int i = 0; i < 4; i++) x[1] = i; return a; }
int main(void)
{
	pthread_t t;
	if (pthread_create(&t, 0, other, 0)) return 1;
	for (int i = 0; i < 4; i++) x[0] = i;
	return pthread_join(t, 0);
}
"""


@test
def no_smaller_period_than_one_is_advised():
    if not EXACT:
        skip("this machine has no exact engine")
    room("briefly.c").write_text(BRIEFLY)
    r = subprocess.run([CC, "-O1", str(room("briefly.c")), "-o", str(room("briefly")), "-pthread"], capture_output=True, text=True)
    true(r.returncode == 0, r.stderr)
    tare("record", "--engine", "exact", "--precise=memory", "-c", "1", "-o", room("briefly.data"), "--", room("briefly"))
    text = tare("sharing", "-a", "-n", "0", room("briefly.data")).stdout
    true("    record longer\n" in text and "smaller -c" not in text, text)


UNDER_A_MASK = r"""
#include <emmintrin.h>
static char to[16];
int main(void)
{
	for (int i = 0; i < 3000; i++) _mm_maskmoveu_si128(_mm_set1_epi8(1), _mm_set1_epi8((char)(i & 1 ? -1 : 0)), to);
	return to[0] != 1;
}
"""


@test
def why_an_access_has_no_address_is_said():
    if not EXACT:
        skip("this machine has no exact engine")
    room("mask.c").write_text(UNDER_A_MASK)
    r = subprocess.run([CC, "-O1", str(room("mask.c")), "-o", str(room("mask"))], capture_output=True, text=True)
    true(r.returncode == 0, r.stderr)
    tare("record", "--engine", "exact", "--precise=memory", "-c", "11", "-o", room("mask.data"), "--", room("mask"))
    why = "(the exact engine gives no address for gathers, scatters, enter and masked accesses: vmaskmov, vpmaskmov, maskmovdqu, AVX-512 under k1 to k7)"
    text = tare("memory", "--by", "symbol", room("mask.data")).stdout
    true(f" accesses have no address {why}." in text and "[no address]" in text, text)
    text = tare("sharing", room("mask.data")).stdout
    true(f"those without an address {why} or a thread." in text, text)
    true("one of every 11 loads and stores on average" in text, text)
    tare("record", "--engine", "exact", "--precise=memory", "-c", "1", "-o", room("mask.data"), "--", room("mask"))
    true("exact/accesses/: every load and store; a repeated" in tare("sharing", room("mask.data")).stdout, "all of them")


@test
def wide_accesses_reach_other_fields():
    if not EXACT:
        skip("this machine has no exact engine")
    room("wide.c").write_text(WIDE)
    for word, verdict in (("b", "true"), ("c", "false")):
        r = subprocess.run([CC, "-g", "-O1", "-pthread", f"-DWORD={word}", str(room("wide.c")), "-o", str(room("wide"))], capture_output=True, text=True)
        true(r.returncode == 0, r.stderr)
        tare("record", "--engine", "exact", "--precise=memory", "-c", "101", "-o", room("wide.data"), "--", room("wide"))
        line, = [l for l in document("sharing", room("wide.data"))["lines"] if l["symbol"] == "message"]
        if line["cells"][0]["size"] is None:
            skip("no Capstone: how wide instructions are is not known")
        equal({(c["offset"], c["size"]) for c in line["cells"]}, {(0, 16), ({"b": 8, "c": 16}[word], 8)}, "bytes by the instructions")
        equal((line["verdict"], line["sizes_known"]), (verdict, True), f"the reader's field is {word}")
        equal({c["field"] for c in line["cells"]}, {"message.a..message.b", f"message.{word}"}, "all that an access is to")
        true(("message.c aligned to 64 bytes begins a line of its own, and message.b keeps this one" in tare("sharing", room("wide.data")).stdout) == (word == "c"), "the cut")
        true(line["sure"] > 0.9, line["sure"])


# Both on one CPU, which they yield now and then: fields that each works on all the while, and a box that is handed to and fro with other work between.
ON_ONE_CPU = r"""
#include <pthread.h>
#include <sched.h>
enum { TURNS = 60, EACH = 2000 };
static struct { _Alignas(64) volatile long n[2]; } fields;
static struct { _Alignas(64) volatile long n[8]; } box;
static struct { _Alignas(64) volatile int of; } turn;
static struct { _Alignas(64) volatile long n; } own[2];
static void *work(void *p)
{
	int me = p != 0;
	for (int i = 0; i < TURNS; i++) {
		for (int k = 0; turn.of == me && k < EACH; k++)
			box.n[k % 8]++, fields.n[me]++;
		turn.of = !me;
		for (int k = 0; k < EACH; k++)
			own[me].n++, own[me].n++, fields.n[me]++;
		sched_yield();
	}
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, work, &t);
	work(0);
	return pthread_join(t, 0);
}
"""


@test
def threads_on_one_cpu_share_falsely_or_hand_over():
    if not EXACT:
        skip("this machine has no exact engine")
    room("one.c").write_text(ON_ONE_CPU)
    r = subprocess.run([CC, "-g", "-O1", "-pthread", str(room("one.c")), "-o", str(room("one"))], capture_output=True, text=True)
    true(r.returncode == 0, r.stderr)
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        tare("record", "--engine", "exact", "--precise=memory", "-c", "101", "-o", room("one.data"), "--", room("one"))
    finally:
        os.sched_setaffinity(0, allowed)
    lines = {l["symbol"]: l for l in document("sharing", room("one.data"))["lines"] if l["symbol"]}
    equal((lines["fields"]["verdict"], lines["fields"]["in_turns"]), ("false", True), f"fields: {lines['fields']}")
    true(0.75 <= lines["fields"]["sure"] <= 0.8, lines["fields"]["sure"])
    equal((lines["box"]["verdict"], lines["box"]["in_turns"]), ("handed over", False), f"box: {lines['box']}")
    text = tare("sharing", room("one.data")).stdout
    for says in ("if its threads can run at once: FALSE SHARING", "mostly ran one after the other", "if they wait for each other (a condition, a lock), they never do"):
        true(says in text, f"{says} in {text}")


main()
