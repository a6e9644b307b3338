# SPDX-License-Identifier: MIT
"""A sample counts where it was taken, whatever its callers are: what `tare report` and `tare export` say of each module's own
counts is the same with callers and with --flat. Over recordings that are made here, one of Debian's perf, and those of real
machines where they are at hand (TARE_FIXTURES).

usage: self_counts_test.py TARE
"""
import gzip
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402

TARE = os.path.abspath(sys.argv[1])
FIXTURES = Path(os.environ.get("TARE_FIXTURES", Path(__file__).resolve().parents[3] / "shared" / "fixtures")) / "perfdata"
ROOM = tempfile.TemporaryDirectory()
ENV = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": ROOM.name, "DEBUGINFOD_URLS": "", "COLUMNS": "300"}
PAGE_LEAVES_OUT = 1e-6  # src/export/export_html.c and report_page.c: a smaller stack counts to its caller on a page


def tare(*words):
    r = subprocess.run([TARE, *words], capture_output=True, timeout=100, env=ENV)
    true(r.returncode in (0, 1), f"{words}: {r.returncode} {r.stderr.decode()[:300]}")
    return r.stdout


# ---- readers of each form: self counts of the first event, by module or by function ----

def by_json(path, key, *words):
    out = Counter()
    for row in json.loads(tare("report", "--format", "json", "--sort", key, *words, path))["rows"]:
        out[row[key] or ""] += row["events"][0]["self"] if row["events"] else 0
    return +out


def by_text(path, *words):
    """The rows as they are printed, without the column of totals."""
    lines = tare("report", "--sort", "module", "-n", "0", *words, path).decode().splitlines()
    head = next((i for i, l in enumerate(lines) if re.match(r" +self ", l)), None)
    if head is None:
        return []
    rows = []
    for line in lines[head + 1:]:
        if not line.strip():
            break
        rows.append(re.sub(r"^( *[\d.]+ %) +[\d.]+ %", r"\1", line) if " total " in lines[head] else line)
    return sorted(re.sub(" +", " ", r).strip() for r in rows)


def by_folded(*words):
    out = Counter()
    for line in tare(*words).decode(errors="replace").splitlines():
        stack, count = line.rsplit(" ", 1)
        leaf = stack.rsplit(";", 1)[-1]
        out["[unknown]" if re.search(r"(\+|^)0x[0-9a-f]+$", leaf) else leaf] += int(count)  # code without a symbol has the name of its place
    return out


def fields(data):
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
                return v

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            out.append((tag >> 3, varint()))
        else:
            n = varint()
            out.append((tag >> 3, data[at:at + n]))
            at += n
    return out


def numbers(value):
    return [v for _, v in fields(b"".join(b"\x08" + p for p in re.findall(rb"[\x80-\xff]*[\x00-\x7f]", value)))]


def by_pprof(path):
    p = fields(gzip.decompress(tare("export", "-f", "pprof", path)))
    strings = [v.decode() for f, v in p if f == 6]
    file_of = {dict(m)[1]: strings[dict(m)[5]] for m in (fields(v) for f, v in p if f == 3)}
    module_of = {dict(m)[1]: file_of.get(dict(m).get(2), "") for m in (fields(v) for f, v in p if f == 4)}
    out = Counter()
    for f, v in p:
        if f == 2:
            m = dict(fields(v))
            out[module_of[numbers(m[1])[0]]] += numbers(m[2])[1]  # 0 is how many samples, 1 the first event
    return +out


def by_page(path):
    """Self counts by module of the page's flame graph, and by how much they may differ."""
    page = os.path.join(ROOM.name, "page.html")
    tare("report", "--html", page, path)
    data = re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', Path(page).read_text(), re.S)[1]
    stacks, table = json.loads(data)["documents"][:2]
    out, total = Counter(), 0
    for i, own in enumerate(stacks["nodes"]["self"][0]):
        frame = stacks["nodes"]["frame"][i]
        out[stacks["names"][stacks["frames"]["module"][frame]] if i else ""] += int(own)
        total += int(own)
    rows = Counter()
    for row in table["rows"]:
        rows[row["module"] or ""] += row["events"][0]["self"]
    return out, +rows, stacks["left_out"] * PAGE_LEAVES_OUT * total


def agree(path, name):
    flat = by_json(path, "module", "--flat")
    equal(by_json(path, "module"), flat, f"{name}: JSON")
    equal(by_text(path), by_text(path, "--flat"), f"{name}: text")
    functions = by_folded("report", "--folded", "--flat", path)
    equal(by_folded("report", "--folded", path), functions, f"{name}: folded")
    if not flat:
        return 0
    equal(by_folded("export", "-f", "folded", path), functions, f"{name}: exported as folded")
    equal(by_pprof(path), flat, f"{name}: pprof")
    drawn, rows, least = by_page(path)
    equal(rows, flat, f"{name}: the page's table")
    equal({m for m in flat | drawn if abs(flat[m] - drawn[m]) > least}, set(), f"{name}: the page's flame graph")
    return len(flat)


# ---- recordings ----

IP, TID, TIME, CALLCHAIN, PERIOD, REGS_USER, STACK_USER = 1, 2, 4, 32, 256, 1 << 12, 1 << 13
NO_CHAIN_KERNEL, NO_CHAIN_USER = 1 << 21, 1 << 22
KERNEL, USER = 1, 2  # of the header's misc
PROGRAM, SYSTEM, AT_KERNEL = 0x400000, 0x700000, 0xffffffff81000000
CONTEXT_KERNEL, CONTEXT_USER, CONTEXT_DEFERRED = ((1 << 64) - n for n in (128, 512, 640))
PC_REGISTER, SP_REGISTER = 8, 7


def record(kind, body, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def mapping(start, size, name, pid=1, misc=USER):
    name = name.encode() + b"\0"
    return record(1, struct.pack("<IIQQQ", pid, 1, start, size, 0) + name.ljust(-(-len(name) // 8) * 8, b"\0"), misc)


def made(name, sample_type, flags, samples):
    """A recording through a pipe: two files and a kernel that are not here, and samples as (mode, address, chain, registers)."""
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000, sample_type, 0, flags)
    attr = (attr.ljust(80, b"\0") + struct.pack("<QII", 1 << PC_REGISTER | 1 << SP_REGISTER, 64, 0)).ljust(128, b"\0")
    out = b"PERFILE2" + struct.pack("<Q", 16) + record(64, attr + struct.pack("<Q", 1))
    out += mapping(AT_KERNEL, 1 << 24, "[kernel.kallsyms]_text", 0xffffffff, KERNEL)
    out += mapping(PROGRAM, 1 << 16, "/nosuch/program") + mapping(SYSTEM, 1 << 16, "/nosuch/libsystem.so")
    for i, (mode, ip, chain, pc) in enumerate(samples):
        body = struct.pack("<Q", ip) if sample_type & IP else b""
        body += struct.pack("<IIQQ", 1, 1, 1000 * i, 1000 + i)
        if sample_type & CALLCHAIN:
            body += struct.pack(f"<Q{len(chain)}Q", len(chain), *chain)
        if sample_type & REGS_USER:
            body += struct.pack("<QQQ", 2, 0x7ff000, pc) if pc else struct.pack("<Q", 0)
        if sample_type & STACK_USER:
            body += struct.pack("<Q64sQ", 64, bytes(64), 64) if pc else struct.pack("<Q", 0)
        out += record(9, body, mode)
    path = os.path.join(ROOM.name, name)
    Path(path).write_bytes(out)
    return path


ALL = IP | TID | TIME | CALLCHAIN | PERIOD
K, P, S = AT_KERNEL + 0x1000, PROGRAM + 0x100, SYSTEM + 0x200


@test
def an_empty_chain_and_a_stack_to_unwind():
    path = made("empty", ALL | REGS_USER | STACK_USER, NO_CHAIN_KERNEL | NO_CHAIN_USER,
                [(KERNEL, K, [], S), (KERNEL, K + 64, [], S), (USER, P, [], P), (USER, P, [], S), (KERNEL, K, [], 0)])
    flat = by_json(path, "module", "--flat")
    equal(flat, {"[kernel.kallsyms]": 1000 + 1001 + 1004, "/nosuch/program": 1002 + 1003}, "by the samples' own addresses")
    agree(path, "made")
    total = {r["module"]: r["events"][0]["total"] for r in json.loads(tare("report", "--format", "json", "--by-total", "--sort", "module", path))["rows"]}
    equal(total["/nosuch/libsystem.so"], 1000 + 1001, "it called the kernel")


@test
def a_chain_that_does_not_begin_at_the_sample():
    samples = [(KERNEL, K, [CONTEXT_USER, P, S], 0), (KERNEL, K, [CONTEXT_KERNEL, K + 8, CONTEXT_USER, P], 0), (USER, P, [CONTEXT_KERNEL, K], 0),
               (USER, P, [CONTEXT_KERNEL, K, CONTEXT_USER, P + 4, S], 0), (USER, P, [CONTEXT_DEFERRED, 7], 0), (USER, S, [CONTEXT_USER], 0),
               (KERNEL, K, [CONTEXT_KERNEL, K, CONTEXT_DEFERRED, 8], 0), (USER, S, [], 0)]
    path = made("begins", ALL, 0, samples)
    equal(by_json(path, "module", "--flat"), {"[kernel.kallsyms]": 1000 + 1001 + 1006, "/nosuch/program": 1002 + 1003 + 1004, "/nosuch/libsystem.so": 1005 + 1007}, "own")
    agree(path, "made")


@test
def a_sample_without_an_address():
    chains = [(USER, 0, [CONTEXT_USER, P, S], 0), (KERNEL, 0, [CONTEXT_KERNEL, K, CONTEXT_USER, S], 0), (USER, 0, [], S), (USER, 0, [], 0)]
    agree(made("addressless", (ALL | REGS_USER | STACK_USER) & ~IP, 0, chains), "made")


@test
def the_kernel_without_its_chain_as_perf_records_it():
    if not shutil.which("perf"):
        skip("there is no perf")
    path = os.path.join(ROOM.name, "dwarf.data")
    r = subprocess.run(["perf", "record", "-q", "--no-bpf-event", "-e", "cpu-clock", "-F", "4000", "--user-callchains", "--call-graph", "dwarf,4096", "-o", path, "--",
                        "dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=20000"], capture_output=True, timeout=60, env=ENV)
    if r.returncode or b"[kernel" not in tare("report", "--flat", "--sort", "module", path):
        skip("this user may not sample the kernel")
    true(agree(path, "dd") >= 2, "kernel and user code")
    wanted = subprocess.run(["perf", "report", "-i", path, "--stdio", "--no-children", "-g", "none", "-F", "period,dso", "-t", "\x01", "-f"],
                            capture_output=True, timeout=60, env=ENV).stdout.decode()
    perfs = {m[2].strip(): int(m[1]) for m in re.finditer(r"^ *(\d+) *\x01(.*)$", wanted, re.M)}
    mine = Counter()
    for module, n in by_json(path, "module").items():
        mine[os.path.basename(module)] += n
    perfs.pop("[unknown]", None)
    equal({m: mine[m] for m in perfs}, perfs, "as perf report counts")


@test
def recordings_of_real_machines():
    if not FIXTURES.is_dir():
        skip(f"{FIXTURES} is not there; TARE_FIXTURES names the folder that holds perfdata/")
    checked = sum(agree(str(path), path.name) > 0 for path in sorted(FIXTURES.glob("*.data")))
    true(checked >= 15, f"{checked} with samples")


main()
