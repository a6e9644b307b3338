# SPDX-License-Identifier: MIT
"""`tare record --precise` where it can run: by the exact engine, with Debian's perf as a second reader.

usage: record_precise_test.py TARE CC
"""
import collections
import csv
import io
import json
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
    true(re.search(r"by the exact engine: every 500 on average of exact/accesses/; [\d,]+ in total\n", r.stderr), r.stderr)
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
        said = record("--precise=memory", "-c", "400", *options, "--", program("four", FOUR)).stderr
        equal("a loop that is in step with it" in said, bool(options), f"a period that is always the same is said: {said}")
        return collections.Counter(x["address"] for x in accesses() if x["kind"] == "store").most_common(4)
    alone, (first, second, third, fourth) = places("--no-jitter"), places()
    true(alone[0][1] > 490 and (len(alone) < 2 or alone[1][1] < 10), f"in step: {alone}")
    true(first[1] < 165 and fourth[1] > 85, f"500 samples of four stores: {first, second, third, fourth}")
    equal([first, second, third, fourth], places(), "the same ones in each run")
    true("in step" not in record("--precise=memory", "--no-jitter", "-c", "1", "--", program("four", FOUR)).stderr, "each one")


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
    equal([x["size"] for x in rows[at:at + 5]], ["64", "64", "", "8", "8"], "all that is copied; a prefetch has no size")
    empty = f"{symbol(p, 'empty') & 0xfff:03x}"
    equal([(x["kind"], x["address"]) for x in rows[at + 5:at + 7] if x["ip"].endswith(empty)], [], "rep movsb of no byte")
    equal(json.loads(sh(TARE, "memory", "--format", "json", FILE).stdout)["losses"]["no_access"], 0, "of which there is no sample, either")


# One access of each size behind the other, each by an instruction of its own; copies upwards, downwards, and one that stops early.
SIZES = r"""
#include <stdint.h>
static char from[8192] __attribute__((aligned(64))), to[8192] __attribute__((aligned(64)));
int main(void)
{
	void *s = from, *d = to;
	long n = 100;
	__asm__ volatile(".globl here\nhere: movb (%0), %%al\nmovw %%ax, (%1)\nmovl (%0), %%eax\nmovq %%rax, (%1)\nmovzbl (%0), %%eax\n"
			 "movups (%0), %%xmm0\nmovss %%xmm0, (%1)\nmovlps %%xmm0, (%1)\nvmovups (%0), %%ymm1\nvmovups %%ymm1, (%1)\nfldt (%0)\nfstpl (%1)\n"
			 "fxsave64 1024(%1)\nxor %%edx, %%edx\nmov $3, %%eax\nxsave64 2048(%1)\nlock cmpxchg16b (%1)\nbtsq $1, (%1)\npushw $1\npopw %%ax\npush %%rax\npop %%rax\n"
			 "sub $128, %%rsp\ncall 1f\nadd $128, %%rsp\njmp 2f\n1: ret\n2:\n"
			 : : "r"(s), "r"(d) : "rax", "rbx", "rcx", "rdx", "xmm0", "xmm1", "memory", "st");
	__asm__ volatile("rep movsw" : "+S"(s), "+D"(d), "+c"(n) : : "memory");
	n = 10;
	__asm__ volatile("std\nrep stosq\ncld" : "+D"(d), "+c"(n) : "a"(7) : "memory");
	to[3000] = 1;
	d = to + 2900;
	n = 5000;
	__asm__ volatile("repe scasb" : "+D"(d), "+c"(n) : "a"(0) : "memory");
	__asm__ volatile(".globl there\nthere: movb $1, %0" : "=m"(*to));
	return 0;
}
"""


@test
def sizes():
    exact_or_skip()
    if "avx" not in open("/proc/cpuinfo", encoding="utf-8").read():
        skip("no AVX here")
    p = program("sizes", SIZES)
    record("--precise=memory", "-c", "1", "--", p)
    rows, to = accesses(), symbol(p, "to") & 0xfff
    here, there = symbol(p, "here") & 0xfff, symbol(p, "there") & 0xfff
    begin, end = (next(i for i, x in enumerate(rows) if int(x["ip"], 16) & 0xfff == at and int(x["ip"], 16) >> 40 == 0x55 and x["kind"] == k)
                  for at, k in ((here, "load"), (there, "store")))
    got = [(x["kind"], x["size"]) for x in rows[begin:end]]
    wanted = [("load", "1"), ("store", "2"), ("load", "4"), ("store", "8"), ("load", "1"), ("load", "16"), ("store", "4"), ("store", "8"),
              ("load", "32"), ("store", "32"), ("load", "10"), ("store", "8"), ("store", "512"), ("update", ""), ("update", "16"), ("update", "8"),
              ("store", "2"), ("load", "2"), ("store", "8"), ("load", "8"), ("store", "8"), ("load", "8")]
    equal(got[:len(wanted)], wanted, "what each instruction accesses; what xsave writes depends on the processor's state")
    strings = [(x["kind"], x["size"], (int(x["address"], 16) - to) % 4096) for x in rows[begin:end] if int(x["size"] or 0) in (200, 80, 101)]
    equal([s for s in strings if s[0] == "store"], [("store", "200", 0), ("store", "80", 200 - 9 * 8)], "from the lowest byte on, downwards, too")
    equal([s[:2] for s in strings if s[0] == "load"], [("load", "200"), ("load", "101")], "as far as it came")


# A large copy by one instruction into lines that another thread writes a byte of, and reads from.
COPIES = r"""
#include <pthread.h>
#include <stdint.h>
static char from[8192] __attribute__((aligned(64)));
static volatile char to[8192] __attribute__((aligned(64)));
static pthread_barrier_t both;
static void *one(void *p)
{
	pthread_barrier_wait(&both);
	for (int i = 0; i < 3000; i++) {
		const void *s = from;
		volatile void *d = to;
		long n = 8192;
		__asm__ volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(n) : : "memory");
	}
	return p;
}
static void *two(void *p)
{
	pthread_barrier_wait(&both);
	for (int i = 0; i < 1000000; i++)
		to[64 * 77 + 5]++;
	return p;
}
int main(void)
{
	pthread_t x, y;
	pthread_barrier_init(&both, 0, 2);
	pthread_create(&x, 0, one, 0);
	pthread_create(&y, 0, two, 0);
	pthread_join(x, 0);
	pthread_join(y, 0);
	return 0;
}
"""


@test
def lines_inside_a_copy():
    """A line in the middle of a copy is seen, with both threads in it; whether they ran at once is the machine's matter."""
    exact_or_skip()
    record("--precise=memory", "-c", "50", "--", program("copies", COPIES))
    r = sh(TARE, "sharing", "-a", "--format", "json", FILE)
    equal(r.returncode, 0, r.stderr)
    lines = [x for x in json.loads(r.stdout)["lines"] if x["object"] and x["object"].startswith(f"to+{hex(64 * 77)} ")]
    equal(len(lines), 1, "the line that both use")
    cells = lines[0]["cells"]
    equal({(c["offset"], c["size"]) for c in cells}, {(0, 64), (5, 1)}, "all of it, and a byte")
    equal(len({c["tid"] for c in cells}), 2, "by two threads")


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


# A loop of three rounds, a call and its return, a jump through a register, and one that leads to the next instruction either way.
JUMPS = r"""
int main(void)
{
	__asm__ volatile("mov $3, %%ecx\n.globl again\nagain: dec %%ecx\n.globl back\nback: jnz again\nsub $128, %%rsp\n.globl call\ncall: call callee\n"
			 ".globl behind\nbehind: add $128, %%rsp\nlea last(%%rip), %%rax\n.globl through\nthrough: jmp *%%rax\nnop\n"
			 ".globl callee\ncallee: ret\n.globl last\nlast: nop\n.globl next\nnext: jz 1f\n1:\n" : : : "rax", "rcx", "memory");
	return 0;
}
"""


@test
def branches_are_rows_too():
    exact_or_skip()
    p = program("four", FOUR)
    record("--precise=branches", "-c", "97", "--", p)
    rows = accesses()
    true(len(rows) > 10, f"{len(rows)} rows")
    equal({(x["kind"], x["exact_ip"], x["origin"], x["address"], x["size"]) for x in rows}, {("branch", "true", "exact", "", "")}, "branches")
    true(all(x["target"] for x in rows), "where each leads")
    p = program("jumps", JUMPS)
    record("--precise=branches", "-c", "1", "--", p)
    low = {w: symbol(p, w) & 0xfff for w in ("again", "back", "call", "callee", "behind", "through", "last", "next")}
    at = {(w, low[w]): [(x["taken"], int(x["target"], 16) & 0xfff) for x in accesses() if int(x["ip"], 16) & 0xfff == low[w] and
                        int(x["ip"], 16) >> 40 == 0x55] for w in ("back", "call", "callee", "through", "next")}
    equal({k[0]: v for k, v in at.items()},
          {"back": [("true", low["again"])] * 2 + [("false", low["again"])], "call": [("true", low["callee"])], "callee": [("true", low["behind"])],
           "through": [("true", low["last"])], "next": [("", low["next"] + 2)]}, "where each leads, and whether it went there")
    true("samples have no access" not in sh(TARE, "export", "--accesses", "-f", "csv", FILE).stderr, "none is left out")


# Ends at a signal only; with an argument, takes no notice of it for some ten million accesses more.
ENDLESS = r"""
#include <signal.h>
int main(int n, char **v)
{
	static volatile int x[64];
	(void)v;
	if (n > 1)
		signal(SIGTERM, SIG_IGN);
	for (long i = 0; n < 2 || i < 5000000; i++)
		x[i & 63]++;
	return 0;
}
"""


@test
def ends_at_a_size():
    exact_or_skip()
    for words in ([], ["deaf"]):
        r = record("--precise=memory", "-c", "20", "--max-size", "300K", "--", program("endless", ENDLESS), *words)
        true(re.search(r"; [\d,]+ in total to the command's end\n", r.stderr), r.stderr)
        true("ended at --max-size: later samples are missing" in r.stderr and "in every run" not in r.stderr, r.stderr)
        size, told = os.path.getsize(FILE), int(re.search(r"([\d,]+) samples in", r.stderr).group(1).replace(",", ""))
        d = sh(TARE, "dump", FILE)
        equal((d.returncode, d.stderr), (0, ""), "whole")
        equal(len(accesses()), told, "as many as it says")
        true(size >= 300 << 10 and told * 20 > 64, f"{size} bytes")
        if words:
            true(told < 5000000 / 20, f"{told} of all")
    r = record("--precise=memory", "-c", "1000", "--max-size", "1G", "--", "true")
    true("max-size" not in r.stderr, r.stderr)
    for size in ("5", "5X", "-1M", "0B", "1.5G", "99999999999G", ""):
        r = sh(TARE, "record", "--max-size", size, "-o", FILE, "--", "true")
        true(r.returncode == 125 and "is not a file size" in r.stderr, f"{size}: {r.stderr}")


ON_A_FULL_DISK = r"""
mkdir full; mount -t tmpfs -o size=100k none full || exit 77
"$1" record --precise -c 101 -o full/x.data -- sh -c 'i=0; while [ $i -lt 9000 ]; do i=$((i + 1)); done; echo to its end; exit 7' 2> said
echo $?
"$1" dump --counts full/x.data
"""


@test
def a_disk_that_gets_full_is_no_end_of_the_command():
    exact_or_skip()
    r = sh("unshare", "-rm", "sh", "-c", ON_A_FULL_DISK, "sh", TARE)
    if r.returncode == 77 or "unshare failed" in r.stderr:
        skip("no file system can be mounted here")
    said = Path(ROOM.name, "said").read_text()
    equal(r.stdout.splitlines()[:2], ["to its end", "125"], said)
    true("continued unrecorded and ended with exit status 7\n" in said and "the recording broke off" in said, said)
    true("every 101 on average of exact/accesses/\n" in said, f"how many there were is not known: {said}")
    told = re.search(r"([\d,]+) samples in", said)[1].replace(",", "")
    true(re.search(rf"\b{told}\b.* SAMPLE|SAMPLE .*\b{told}\b", r.stdout), f"{told} samples, in the file: {r.stdout}")


@test
def what_cannot_be():
    exact_or_skip()
    for words, why in ((["--precise=fetch"], "no fetches"), (["--precise=cache"], "no precise sampling of 'cache'"),
                       (["--precise", "-e", "cycles"], "it excludes -e"), (["--precise", "-p", "1"], "cannot with no command")):
        r = sh(TARE, "record", "--engine", "exact", "-o", FILE, *words, *([] if "-p" in words else ["--", "true"]))
        true(r.returncode == 125 and why in r.stderr, f"{words}: {r.stderr}")


main()
