# SPDX-License-Identifier: MIT
"""`tare record --precise` where it can run: by the exact engine, with Debian's perf as a second reader.

usage: record_precise_test.py TARE CC
"""
import collections
import csv
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402

TARE, CC = os.path.abspath(sys.argv[1]), sys.argv[2]
ROOM = tempfile.TemporaryDirectory()
FILE = os.path.join(ROOM.name, "perf.data")
ENV = {**os.environ, "LC_ALL": "C"}
# Two threads, each with a word of its own in one line; the second one's accesses are locked.
SHARING = r"""
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
static struct { volatile uint64_t a, b; } __attribute__((aligned(64))) shared;
static void *one(void *p) { for (int i = 0; i < 30000; i++) __asm__ volatile("incq %0" : "+m"(shared.a)); return p; }
static void *two(void *p) { for (int i = 0; i < 30000; i++) __atomic_fetch_add(&shared.b, 1, __ATOMIC_SEQ_CST); return p; }
int main(void)
{
	pthread_t x, y;
	pthread_create(&x, 0, one, 0);
	pthread_create(&y, 0, two, 0);
	pthread_join(x, 0);
	pthread_join(y, 0);
	printf("%p %p\n", (void *)&shared.a, (void *)&shared.b);
	return 3;
}
"""
# A loop of four stores and nothing else that accesses memory: every period that 4 divides hits one of them alone.
FOUR = r"""
static volatile int four[4];
int main(void)
{
	for (int i = 0; i < 50000; i++)
		__asm__ volatile("movl $1, %0; movl $1, %1; movl $1, %2; movl $1, %3"
				 : "=m"(four[0]), "=m"(four[1]), "=m"(four[2]), "=m"(four[3]));
	return 0;
}
"""
# Bytes copied by one instruction, a prefetch, a push, and a nop with an operand that accesses nothing.
KINDS = r"""
static char from[64], to[64];
int main(void)
{
	void *s = from, *d = to;
	long n = 64;
	__asm__ volatile(".globl here\nhere: rep movsb\nprefetcht0 from(%%rip)\nnopw 0x1234(%%rax,%%rax,1)\npush $1\npop %%rax\n.globl empty\nempty: rep movsb"
			 : "+S"(s), "+D"(d), "+c"(n) : : "rax", "memory");
	return 0;
}
"""


def sh(*words):
    return subprocess.run(words, capture_output=True, timeout=100, env=ENV, cwd=ROOM.name, text=True)


def program(name, source):
    out = os.path.join(ROOM.name, name)
    if not os.path.exists(out):
        subprocess.run([CC, "-O1", "-g", "-pthread", "-x", "c", "-", "-o", out], input=source, text=True, check=True)
    return out


def exact_or_skip():
    r = sh(TARE, "stat", "--engine", "exact", "-e", "exact/accesses/", "--", "true")
    if r.returncode:
        skip(f"no exact engine: {r.stderr.splitlines()[0]}")


def record(*words, status=0, file=FILE):
    r = sh(TARE, "record", "--engine", "exact", "-o", file, *words)
    equal(r.returncode, status, r.stderr)
    return r


def symbol(p, name):
    return next(int(line.split()[0], 16) for line in sh("nm", p).stdout.splitlines() if line.endswith(" " + name))


def accesses(file=FILE):
    r = sh(TARE, "export", "--accesses", "-f", "csv", file)
    equal(r.returncode, 0, r.stderr)
    return list(csv.DictReader(io.StringIO(r.stdout)))


@test
def threads_that_share_a_line():
    exact_or_skip()
    r = record("--precise=memory", "-c", "500", "--", program("sharing", SHARING), status=3)
    a, b = (int(w, 16) for w in r.stdout.split())
    true(re.search(r"by the exact engine: every 500 on average of exact/accesses/, of which there were [\d,]+", r.stderr), r.stderr)
    rows = accesses()
    equal({x["origin"] for x in rows}, {"exact"})
    by = collections.defaultdict(collections.Counter)
    for x in rows:
        by[x["tid"]][int(x["address"] or "0", 16), x["kind"], x["locked"]] += 1
    owners = {}
    for tid, places in by.items():
        for (address, kind, locked), n in places.items():
            if address in (a, b):
                owners.setdefault(address, set()).add(tid)
                equal((kind, locked), ("update", "true" if address == b else "false"), "a locked add, and one that is not")
                true(45 <= n <= 75, f"{n} of 30,000 / 500")
    equal(a // 64, b // 64, "one line")
    equal([len(owners[w]) for w in (a, b)], [1, 1], "a thread each")
    true(owners[a] != owners[b], owners)
    for x in rows:
        true(not any(x[k] for k in x if k.startswith("latency") or k in ("place", "snoop", "tlb")), f"nothing made up: {x}")


@test
def what_perf_reads():
    exact_or_skip()
    if not shutil.which("perf"):
        skip("no perf here")
    record("--precise", "-c", "500", "--", program("sharing", SHARING), status=3)
    r = sh("perf", "script", "-i", FILE, "-F", "ip,addr,tid,data_src")
    equal(r.returncode, 0, r.stderr)
    got = sorted(re.findall(r"^\s*(\d+)\s+([0-9a-f]+)\s+[0-9a-f]+ \|OP (LOAD|STORE|PFETCH|N/A)\|LVL N/A or N/A\|SNP N/A\|TLB N/A\|"
                            r"LCK (Yes|No)\|BLK  N/A[ ]+([0-9a-f]+)", r.stdout, re.M))
    words = {"load": "LOAD", "store": "STORE", "update": "LOAD", "prefetch": "PFETCH", "other": "N/A"}
    want = sorted((x["tid"], x["address"][2:] or "0", words[x["kind"]], "Yes" if x["locked"] == "true" else "No", x["ip"][2:])
                  for x in accesses())
    true(len(want) > 100, f"{len(want)} samples")
    equal(len(got), len(want))
    equal([g for g, w in zip(got, want) if g != w][:3], [])


@test
def periods_do_not_fall_in_step_with_loops():
    exact_or_skip()
    def places(*options):
        record("--precise=memory", "-c", "400", *options, "--", program("four", FOUR))
        return collections.Counter(x["address"] for x in accesses() if x["kind"] == "store").most_common(4)
    alone, (first, second, third, fourth) = places("--no-jitter"), places()
    true(alone[0][1] > 490 and (len(alone) < 2 or alone[1][1] < 10), f"in step: {alone}")
    true(first[1] < 165 and fourth[1] > 85, f"500 samples of four stores: {first, second, third, fourth}")
    equal([first, second, third, fourth], places(), "the same ones in each run")


@test
def one_by_one():
    """Every single access: what a repeated copy, a prefetch and a nop count as."""
    exact_or_skip()
    p = program("kinds", KINDS)
    here = symbol(p, "here")
    record("--precise=memory", "-c", "1", "--", p)
    rows = accesses()
    at = next(i for i, x in enumerate(rows) if x["kind"] == "load" and int(x["ip"], 16) & 0xfff == here & 0xfff)
    got = [(x["kind"], x["ip"]) for x in rows[at:at + 5]]
    equal([g[0] for g in got], ["load", "store", "prefetch", "store", "load"], "rep movsb once, from and to; no nop")
    equal(got[0][1], got[1][1])
    lines = [int(x["address"], 16) for x in rows[at:at + 5]]
    equal(lines[0], lines[2], "where the copy begins, and what is prefetched")
    equal(lines[3], lines[4], "what is pushed is popped")
    empty = f"{symbol(p, 'empty') & 0xfff:03x}"
    equal([(x["kind"], x["address"]) for x in rows[at + 5:at + 7] if x["ip"].endswith(empty)], [], "rep movsb of no byte")


MASKED = """
#include <immintrin.h>
static int from[64] __attribute__((aligned(32)));
int main(void)
{
	__m256i none = _mm256_setzero_si256(), v;
	__asm__ volatile(".globl here\\nhere: vpmaskmovd %1, %2, %0\\n.globl there\\nthere: vmovdqa %1, %0" : "=x"(v) : "m"(*from), "x"(none));
	return 0;
}
"""


@test
def masked_operands_have_no_address():
    exact_or_skip()
    if "avx2" not in open("/proc/cpuinfo", encoding="utf-8").read():
        skip("no AVX2 here")
    out = os.path.join(ROOM.name, "masked")
    subprocess.run([CC, "-O1", "-mavx2", "-x", "c", "-", "-o", out], input=MASKED, text=True, check=True)
    record("--precise=memory", "-c", "1", "--", out)
    rows = accesses()
    here, there = (symbol(out, word) & 0xfff for word in ("here", "there"))
    at = next(i for i, x in enumerate(rows) if i and int(x["ip"], 16) & 0xfff == there and int(rows[i - 1]["ip"], 16) & 0xfff == here)
    equal([(x["kind"], bool(x["address"])) for x in rows[at - 1:at + 1]], [("load", False), ("load", True)], "its mask may be 0")


@test
def branches_are_rows_too():
    exact_or_skip()
    p = program("four", FOUR)
    record("--precise=branches", "-c", "97", "--", p)
    rows = accesses()
    true(len(rows) > 10, f"{len(rows)} rows")
    equal({(x["kind"], x["exact_ip"], x["origin"], x["address"], x["target"]) for x in rows}, {("branch", "true", "exact", "", "")}, "branches")
    true("say nothing of an access" not in sh(TARE, "export", "--accesses", "-f", "csv", FILE).stderr, "none is left out")


@test
def what_cannot_be():
    exact_or_skip()
    for words, why in ((["--precise=fetch"], "no fetches"), (["--precise=cache"], "cannot be sampled precisely"),
                       (["--precise", "-e", "cycles"], "-e names others"), (["--precise", "-p", "1"], "cannot with no command")):
        r = sh(TARE, "record", "--engine", "exact", "-o", FILE, *words, *([] if "-p" in words else ["--", "true"]))
        true(r.returncode == 125 and why in r.stderr, f"{words}: {r.stderr}")


main()
