# SPDX-License-Identifier: MIT
"""`tare record --alloc`: what a program takes and gives back, by threads, in children, after a kill, under the exact engine too.

usage: record_alloc_test.py TARE CC RECORDER FILTERED
"""
import collections
import csv
import io
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402

TARE, CC = os.path.abspath(sys.argv[1]), sys.argv[2]
ROOM = tempfile.TemporaryDirectory()
FILE = os.path.join(ROOM.name, "perf.data")
ENV = {**{k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "TARE_ALLOC")}, "LC_ALL": "C"}
TAKEN, FREED, MAPPED, UNMAPPED, FORK, PROGRAM = range(1, 7)
Event = collections.namedtuple("Event", "time kind pid tid address size frames")
# Sizes that nobody else asks for; each call is known by the address behind it.
SOURCE = r"""
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static void *volatile keep;
__attribute__((noinline)) void *inner(size_t n) { void *p = malloc(n); keep = p; return p; }
__attribute__((noinline)) void *outer(size_t n) { void *p = inner(n); __asm__ volatile(""); return p; }
static void *thread(void *p)
{
	for (int i = 0; i < 1000; i++)
		free(p = outer(40001));
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t[4];
	void *a = outer(30001), *b = realloc(a, 30003), *c = calloc(3, 10001), *d = NULL, *e = aligned_alloc(64, 64 * 501), *m;
	if (posix_memalign(&d, 4096, 30007)) return 1;
	void *f = memalign(128, 30011), *g = reallocarray(NULL, 7, 5003);
	printf("%p %p %p %p %p %p %p\n", a, b, c, d, e, f, g);
	for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
	m = mmap(NULL, 123 << 12, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(m, 123 << 12);
	printf("%p\n", m);
	fflush(stdout);
	if (fork() == 0) {
		keep = malloc(50021);
		free(b);
		_exit(0);
	}
	wait(NULL);
	keep = realloc(c, 0);
	free(d);
	if (argc > 1 && !strcmp(argv[1], "kill")) kill(getpid(), SIGKILL);
	if (argc > 1) execl(argv[1], argv[1], NULL);
	return 0;
}
"""


def sh(*words):
    return subprocess.run(words, capture_output=True, timeout=100, env=ENV, cwd=ROOM.name, text=True)


def program():
    out = os.path.join(ROOM.name, "program")
    if not os.path.exists(out):
        subprocess.run([CC, "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-fno-builtin", "-no-pie", "-pthread", "-x", "c", "-",
                        "-o", out], input=SOURCE, text=True, check=True)
    return out


def events(file=FILE):
    data, out = Path(file + ".alloc").read_bytes(), []
    magic, version, block, blocks, lost = struct.unpack_from("=8sIIQQ", data)
    equal((magic, version, block, lost), (b"TAREBLKS", 3, 65536, 0))
    for i in range(blocks):
        at = 4096 + i * block
        magic, pid, used = struct.unpack_from("=4sIQ", data, at)
        equal(magic, b"BLOK")
        at, end = at + 16, at + 16 + used
        while at < end:
            size, kind, n, tid, time, address, bytes_ = struct.unpack_from("=HBBIQQQ", data, at)
            frames = tuple(int.from_bytes(data[at + 42 + 12 * k:][:6], "little") for k in range(n))
            out.append(Event(time, kind, pid, tid, address, bytes_, frames))
            at += size
    return sorted(out)


def function(address):
    for line in sh("nm", "-S", program()).stdout.splitlines():
        words = line.split()
        if len(words) == 4 and int(words[0], 16) < address <= int(words[0], 16) + int(words[1], 16):
            return words[3]
    return None


def check(*how, words=(), status=0, before=()):
    r = sh(*before, TARE, "record", *how, "--alloc", "-o", FILE, "--", program(), *words)
    equal(r.returncode, status, r.stderr)
    a, b, c, d, e, f, g, m = (int(w, 16) for w in r.stdout.split())
    all_ = events()
    parent = next(x.pid for x in all_ if x.kind == PROGRAM)
    by_size = collections.Counter((x.kind, x.size, x.address) for x in all_ if x.pid == parent and x.kind in (TAKEN, MAPPED, UNMAPPED))
    for kind, size, address in ((TAKEN, 30001, a), (TAKEN, 30003, b), (TAKEN, 30003, c), (TAKEN, 30007, d), (TAKEN, 64 * 501, e),
                                (TAKEN, 30011, f), (TAKEN, 35021, g), (MAPPED, 123 << 12, m), (UNMAPPED, 123 << 12, m)):
        equal(by_size[kind, size, address], 1, f"{kind} of {size}")
    first = next(x for x in all_ if x.size == 30001)
    equal([function(x) for x in first.frames[:3]], ["inner", "outer", "main"], "who called")
    freed = [x.address for x in all_ if x.kind == FREED and x.pid == parent]
    true(a in freed and c in freed and d in freed and (a == b or b not in freed), "what realloc gave back, too")
    threads = collections.Counter(x.tid for x in all_ if x.size == 40001)
    equal(sorted(threads.values()), [1000] * 4, "four threads")
    live = set()
    for x in sorted((x for x in all_ if x.pid == parent), key=lambda x: (x.time, -x.kind)):
        true(x.kind != TAKEN or x.address not in live, f"{x}: taken twice, in the order of time")
        {TAKEN: live.add, FREED: live.discard}.get(x.kind, bool)(x.address)
    child = next(x for x in all_ if x.kind == FORK)
    equal(child.address, parent)
    mine = [x for x in all_ if x.pid == child.pid]
    equal([(x.kind, x.size or x.address) for x in mine[1:]], [(TAKEN, 50021), (FREED, b)], "of the child")
    return all_, r


@test
def without_perf_event_open():
    """As in most containers: under the exact engine, which says so."""
    if sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", "true").returncode:
        skip("no exact engine here")
    _, r = check(before=(os.path.abspath(sys.argv[4]), "container"))
    true("the exact engine sampled instructions:u instead\n" in r.stderr and " allocations, " in r.stderr, r.stderr)


@test
def blocks_of_threads_and_children():
    all_, r = check("-e", "cpu-clock")
    taken, freed = (sum(x.kind == k for x in all_) for k in (TAKEN, FREED))
    true(f"perf.data.alloc: {taken} allocations, {freed} frees; " in r.stderr, r.stderr)


@test
def several_with_one_name():
    """Each recording has its own blocks: those of another are at other addresses, of other processes."""
    both = [subprocess.Popen([TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", "sh", "-c", f"{program()}; sleep 0.2"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in "ab"]
    for p in both:
        said = p.communicate(timeout=60)[1]
        equal(p.returncode, 0, said)
        true(f"{FILE}.alloc: " in said, said)
    ids = []
    for name in (FILE + ".old", FILE):
        dump = subprocess.run([TARE, "dump", "-r", "mmap2", name], capture_output=True, text=True, check=True).stdout
        blocks = {x.pid for x in events(name) if x.kind == PROGRAM}
        mapped = {int(w) for w in re.findall(r"\bpid=(\d+)", dump)}
        true(blocks and blocks <= mapped, f"{name}: blocks of {blocks}, mappings of {mapped}")
        ids.append(blocks)
    true(not ids[0] & ids[1], f"{ids}")
    equal([f for f in os.listdir(ROOM.name) if ".part" in f], [])


def build(name, source, *flags, cc="c++"):
    out = os.path.join(ROOM.name, name)
    subprocess.run([cc, "-O1", *flags, "-x", "c" if cc == CC else "c++", "-", "-o", out], input=source, text=True, check=True)
    return out


# What its operators take only they can give back; the C++ library, which comes with it, calls them, too.
OWN = r"""
#include <cstdlib>
#include <string>
void *operator new(size_t n) { char *p = (char *)malloc(n + 16); return p + 16; }
void operator delete(void *p) noexcept { if (p) free((char *)p - 16); }
void operator delete(void *p, size_t) noexcept { operator delete(p); }
extern "C" long work(int k) { std::string s(20000 + k, 'x'); return s.size(); }
"""
OPENS = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *of = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		if (!of) return 1;
		printf("%ld ", ((long (*)(int))dlsym(of, "work"))(i));
		dlclose(of);
	}
	return 0;
}
"""


@test
def parts_with_operators_of_their_own():
    """They keep them, and may be closed: the program does what it does alone."""
    if not shutil.which("c++"):
        skip("no C++ compiler")
    part = build("own.so", OWN, "-shared", "-fPIC")
    opens = build("opens", OPENS, "-ldl", cc=CC)
    equal(sh(opens, part, part).stdout, "20001 20002 ")
    r = sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", opens, part, part)
    equal((r.stdout, r.returncode), ("20001 20002 ", 0), r.stderr)
    blocks = [x for x in events() if x.kind == TAKEN and x.size in (20018, 20019)]
    equal(len(blocks), 2, "their blocks come from malloc: a byte behind the string, and 16 of the operator")


# Children of which only the kernel knows; both go on at once, in copies of one stack.
CLONES = r"""
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
static char *volatile keep;
static int child(void *p)
{
	for (int i = 0; i < 3000; i++) {
		keep = malloc(40005);
		free(keep);
	}
	return 0;
}
int main(void)
{
	char *stack = malloc(1 << 16);
	int pid = clone(child, stack + (1 << 16), SIGCHLD, NULL);
	for (int i = 0; i < 3000; i++) {
		keep = malloc(40003);
		free(keep);
	}
	waitpid(pid, NULL, 0);
	return pid < 0;
}
"""


@test
def a_child_that_no_handler_of_fork_is_told_of():
    r = sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", build("clones", CLONES, cc=CC))
    equal(r.returncode, 0, r.stderr)
    all_ = events()
    parent, child = (next(x for x in all_ if x.kind == kind) for kind in (PROGRAM, FORK))
    equal(child.address, parent.pid)
    equal(collections.Counter((x.pid, x.tid, x.size) for x in all_ if x.size in (40003, 40005)),
          {(parent.pid, parent.pid, 40003): 3000, (child.pid, child.pid, 40005): 3000})


# Stacks within a thread's own that end at a page nobody can read, after the thread's was seen to be readable. Words are read up to 256 bytes above a call.
STACKS = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
enum { PAGE = 4096 };
static __thread ucontext_t back, there;
static void body(void)
{
	free(malloc(40007));
}
static void *run(void *p)
{
	char room[4 * PAGE], *pages = (char *)(((unsigned long)room + PAGE) & -PAGE);
	free(malloc(40009));
	if (mprotect(pages + PAGE, PAGE, PROT_NONE)) abort();
	getcontext(&there);
	there.uc_stack.ss_sp = pages;
	there.uc_stack.ss_size = PAGE;
	there.uc_link = &back;
	makecontext(&there, body, 0);
	swapcontext(&back, &there);
	if (mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE)) abort();
	return p;
}
int main(void)
{
	pthread_t t;
	run(NULL);
	return pthread_create(&t, NULL, run, NULL) || pthread_join(t, NULL);
}
"""


@test
def stacks_that_end_within_another():
    r = sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", build("stacks", STACKS, "-pthread", "-fno-builtin", cc=CC))
    equal(r.returncode, 0, r.stderr)
    equal([x.size for x in events() if x.kind == TAKEN and x.size in (40007, 40009)], [40009, 40007] * 2)


# Each function has its own sizes, so that rows are known in every number. Threads wait for each other: the peak is known.
WHO = r"""
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void *volatile keep;
static pthread_barrier_t all_have, all_may_free;
#define OWN __attribute__((noinline))
OWN void by_malloc(void) { for (int i = 0; i < 10; i++) { void *p = malloc(1000); keep = p; if (i % 2) free(p); } }
OWN void by_calloc(void) { void *p = calloc(7, 300); keep = p; free(p); p = calloc(3, 11); keep = p; }
OWN void by_realloc(void) { char *p = realloc(NULL, 100); for (int n = 200; n <= 1600; n *= 2) p = realloc(p, n); keep = p; }
OWN void by_memalign(void) { void *p = NULL; if (posix_memalign(&p, 4096, 5000)) abort(); keep = p; p = aligned_alloc(64, 640); keep = p; free(p); p = memalign(64, 77); keep = p; }
OWN void in_thread(void) { void *p[20]; for (int i = 0; i < 20; i++) { p[i] = malloc(50000); keep = p[i]; }
	pthread_barrier_wait(&all_have); pthread_barrier_wait(&all_may_free); for (int i = 0; i < 20; i++) free(p[i]); }
static void *thread(void *p) { in_thread(); return p; }
OWN void in_child(void *parents) { free(parents); keep = malloc(70001); }
OWN void *for_child(void) { void *p = malloc(60013); keep = p; return p; }
int main(int argc, char **argv)
{
	pthread_t t[4];
	pthread_barrier_init(&all_have, NULL, 4);
	pthread_barrier_init(&all_may_free, NULL, 4);
	by_malloc();
	by_calloc();
	by_realloc();
	by_memalign();
	for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
	void *p = for_child();
	if (fork() == 0) { in_child(p); _exit(0); }
	wait(NULL);
	free(p);
	if (argc > 1) { keep = malloc(80021); execl(argv[0], argv[0], NULL); }
	return 0;
}
"""
# function: count, bytes, freed, largest, live blocks, live bytes
KNOWN = {"by_malloc": (10, 10000, 5, 1000, 5, 5000), "by_calloc": (2, 2133, 1, 2100, 1, 33), "by_realloc": (5, 3100, 4, 1600, 1, 1600),
         "by_memalign": (3, 5717, 1, 5000, 2, 5077), "in_thread": (80, 4000000, 80, 50000, 0, 0), "in_child": (1, 70001, 0, 70001, 1, 70001),
         "for_child": (1, 60013, 1, 60013, 0, 0)}
SCHEMA = Path(__file__).parent.parent.parent / "docs/schema/tare-allocations-1.json"


def allocations(*words, status=0):
    r = sh(TARE, "memory", "--allocations", "--format", "json", *words, FILE)
    equal(r.returncode, status, r.stderr)
    d = json.loads(r.stdout)
    try:
        import jsonschema
    except ImportError:
        return d
    jsonschema.validate(d, json.loads(SCHEMA.read_text()))
    return d


def numbers(of):
    return tuple(of[k] for k in ("count", "bytes", "freed", "largest", "live_count", "live_bytes"))


def added_up(all_):
    """The same sums, from the raw records: of each program of each process, in their order. The slow way."""
    programs, at = [], {}
    for x in sorted(all_, key=lambda x: x.time):
        if x.kind in (PROGRAM, FORK):
            at[x.pid] = {"pid": x.pid, "live": {}, "count": 0, "bytes": 0, "freed": 0, "peak_bytes": 0, "peak_count": 0, "unmatched": 0}
            programs.append(at[x.pid])
        p = at[x.pid]
        if x.kind == TAKEN:
            true(x.address not in p["live"], "taken once")
            p["live"][x.address] = x.size
            p["count"] += 1
            p["bytes"] += x.size
            if sum(p["live"].values()) > p["peak_bytes"]:
                p["peak_bytes"], p["peak_count"] = sum(p["live"].values()), len(p["live"])
        elif x.kind == FREED and x.address in p["live"]:
            del p["live"][x.address]
            p["freed"] += 1
        elif x.kind == FREED:
            p["unmatched"] += 1
    for p in programs:
        p["live_count"], p["live_bytes"] = len(p["live"]), sum(p.pop("live").values())
    return programs


@test
def who_allocates():
    who = build("who", WHO, "-g", "-fno-builtin", "-fno-omit-frame-pointer", "-pthread", cc=CC)
    r = sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", who)
    equal(r.returncode, 0, r.stderr)
    d = allocations("--by", "function")
    rows = {x["function"]: x for x in d["rows"] if x["module"] == who}
    equal({k: numbers(rows[k]) for k in KNOWN}, KNOWN, "each function")
    # The most is live when all threads have their blocks: in_child and for_child come later, by_calloc's first block was before.
    parent, child = d["processes"]
    at_peak = {"by_malloc": (5, 5000), "by_calloc": (1, 33), "by_realloc": (1, 1600), "by_memalign": (2, 5077), "in_thread": (80, 4000000), "for_child": (0, 0), "in_child": (1, 70001)}
    equal({k: (rows[k]["peak_count"], rows[k]["peak_bytes"]) for k in at_peak}, at_peak, "at the peak of the process")
    equal(sum(x["peak_bytes"] for x in d["rows"]), parent["peak_bytes"] + child["peak_bytes"], "rows add up to the peaks")
    for k in ("count", "bytes", "freed", "live_count", "live_bytes"):
        equal(sum(x[k] for x in d["rows"]), d["total"][k], f"rows add up: {k}")
    mine = added_up(events())
    equal([{k: p[k] for k in mine[0]} for p in d["processes"]], mine, "the raw records, added up")
    equal((child["count"], child["unmatched"], d["total"]["peak_bytes"]), (1, 1, None), "the child: its parent's block is not its own")
    equal({x["function"]: numbers(x) for x in allocations("--by", "function", "--filter", f"pid={child['pid']}")["rows"]}, {"in_child": KNOWN["in_child"]}, "one process")
    # By line: each line is that of the call, and callers are told apart.
    lines = {(x["function"], x["line"]): x for x in allocations()["rows"] if x["module"] == who}
    source = WHO.splitlines()
    for (function, line), x in lines.items():
        true(function in "".join(source[line - 2:line + 1]), f"{function}:{line}")
    equal({x["caller"]["function"] for x in lines.values() if x["function"].startswith("by_")}, {"main"}, "who called")
    for sort in ("bytes", "count", "peak", "live"):
        key = {"peak": "peak_bytes", "live": "live_bytes"}.get(sort, sort)
        values = [x[key] for x in allocations("--sort", sort)["rows"]]
        equal(values, sorted(values, reverse=True), sort)


@test
def who_allocates_is_the_same_in_text_and_csv():
    who = build("who", WHO, "-g", "-fno-builtin", "-fno-omit-frame-pointer", "-pthread", cc=CC)
    equal(sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", who, "again").returncode, 0)
    d = allocations("--by", "function")
    equal([p["program"] for p in d["processes"]], [1, 1, 2, 1], "an exec begins anew")
    equal([p["live_bytes"] for p in d["processes"] if p["program"] == 1][0] - [p["live_bytes"] for p in d["processes"] if p["program"] == 2][0], 80021, "what the first program left")
    equal([{k: p[k] for k in m} for p, m in zip(d["processes"], added_up(events()))], added_up(events()), "the raw records, added up")
    table = list(csv.DictReader(io.StringIO(sh(TARE, "memory", "--allocations", "--by", "function", "--format", "csv", FILE).stdout)))
    names = ("count", "bytes", "freed", "largest", "peak_count", "peak_bytes", "live_count", "live_bytes")
    equal([[x["function"]] + [int(x[k]) for k in names] for x in table], [[x["function"] or ""] + [x[k] for k in names] for x in d["rows"]], "csv")
    text = sh(TARE, "memory", "--allocations", "--by", "function", "-n", "0", FILE).stdout
    for x in d["rows"]:
        if x["function"]:
            wanted = [f"{x[k]:,}" for k in ("bytes", "count", "peak_bytes", "live_bytes", "live_count")]
            got = [re.sub(r" +[\d.]+ %", "", l).split()[:5] for l in text.splitlines() if l.endswith(f" {x['function']}")]
            true(wanted in [[w.replace(",", "") for w in g] for g in got] or wanted in got or [w.replace(",", "") for w in wanted] in got, f"{x['function']}: {wanted}, {got}")
    t = d["total"]
    true(re.search(rf"{t['count']} allocations of {t['bytes']} bytes; live at exit {t['live_bytes']} bytes in {t['live_count']} blocks", text.replace(",", "")), text)


@test
def allocations_of_many_processes():
    """Many processes are one line, and -v lists them, each by the name of its last exec; stripped code is module+address."""
    static = "static __attribute__((noinline, noipa)) void *"
    gone = build("gone", f"#include <stdlib.h>\nstatic void *volatile p;\n{static}a(void) {{ return p = malloc(9); }}\n"
                 f"{static}b(void) {{ return p = a(); }}\nint main(void) {{ return !a() + !b(); }}", "-O1", "-s", "-fno-optimize-sibling-calls", cc=CC)
    script = f"for i in 1 2 3 4 5 6; do {gone} & done; wait"
    equal(sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", "sh", "-c", script).returncode, 0)
    text = sh(TARE, "memory", "--allocations", "-n", "0", FILE).stdout
    true(re.search(r"^   7 processes with 13 programs \(-v lists each\); the largest peak is of process \d+ \w+(?: \(program 2\))?: [\d,]+ bytes$", text, re.M), text)
    true(not re.search("^   process", text, re.M), text)
    each = re.findall(r"^   process \d+ (\w+) \(program 2\): ", sh(TARE, "memory", "--allocations", "-v", FILE).stdout, re.M)
    equal(each, ["gone"] * 6, "a process has the name of its last exec")
    rows = [l.split("  ")[-1].strip() for l in text.splitlines() if "gone" in l]
    true(len(rows) == 2 and all(re.fullmatch(r"gone\+0x[0-9a-f]+, called by gone\+0x[0-9a-f]+", r) for r in rows), rows)
    equal(len({r.split("+")[-1] for r in rows}), 2, "each caller has an address of its own")
    r = sh(TARE, "memory", "-v", FILE)
    true(r.returncode == 125 and "--verbose needs --allocations" in r.stderr, r.stderr)


@test
def allocations_of_operator_new_are_the_programs():
    if not shutil.which("c++"):
        skip("no C++ compiler")
    source = """
#include <memory>
#include <vector>
static void *volatile keep;
struct big { char c[3001]; };
__attribute__((noinline)) void by_new() { for (int i = 0; i < 6; i++) { big *b = new big; keep = b; if (i < 4) delete b; } char *c = new char[517]; keep = c; }
__attribute__((noinline)) void by_vector() { std::vector<big> v(9); keep = &v[0]; }
int main() { by_new(); by_vector(); }
"""
    out = os.path.join(ROOM.name, "news")
    subprocess.run(["c++", "-g", "-O1", "-fno-omit-frame-pointer", "-x", "c++", "-", "-o", out], input=source, text=True, check=True)
    equal(sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", out).returncode, 0)
    rows = {(x["function"] or "").split("(")[0]: numbers(x) for x in allocations("--by", "function")["rows"]}
    equal((rows["by_new"], rows["by_vector"]), ((7, 6 * 3001 + 517, 4, 3001, 3, 2 * 3001 + 517), (1, 9 * 3001, 1, 9 * 3001, 0, 0)), rows)


@test
def allocations_that_cannot_be_told():
    who = build("who", WHO, "-g", "-fno-builtin", "-fno-omit-frame-pointer", "-pthread", cc=CC)
    equal(sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", who).returncode, 0)
    for words, said in ((["--by", "symbol"], "rows by line or function"), (["--sort", "samples"], "one of bytes, count, peak, live"), (["--html", "x.html"], "has no page"),
                        (["--filter", "tid=1"], "only pid="), (["--filter", "pid=1"], "no allocation was recorded of that process")):
        r = sh(TARE, "memory", "--allocations", *words, FILE)
        equal((r.returncode, r.stdout), (125, ""), words)
        true(said in r.stderr, r.stderr)
    r = sh(TARE, "memory", "--sort", "live", FILE)
    true(r.returncode == 125 and "with --allocations" in r.stderr, r.stderr)
    whole = Path(FILE + ".alloc").read_bytes()
    Path(FILE + ".alloc").write_bytes(whole[:24] + struct.pack("=Q", 7) + whole[32:])
    equal(allocations(status=1)["lost"], 7, "records without room")
    true("7 records are missing" in sh(TARE, "memory", "--allocations", FILE).stdout, "and the text says so")
    Path(FILE + ".alloc").write_bytes(whole[:4096 + 16 + 1000])
    d = allocations(status=1)
    blocks = struct.unpack_from("=Q", whole, 16)[0]
    lacking = {u["type"]: (u["number"], u["first_offset"]) for u in d["undecoded"]}
    equal((d["damaged"], lacking.get("blocks")), (True, (blocks - 1, 4096 + 65536) if blocks > 1 else None), "cut off")
    true(4096 + 16 < lacking["bytes"][1] <= 4096 + 16 + 1000, lacking)
    words = (f"{lacking['bytes'][0]} bytes are not records, the first at byte {lacking['bytes'][1]}")
    for form in "text", "csv", "json":
        r = sh(TARE, "memory", "--allocations", "--format", form, FILE)
        equal(r.returncode, 1, form)
        true(f"tare memory: {FILE}.alloc: not decoded: {words}" in r.stderr, f"{form}: {r.stderr}")
    true(f"{FILE}.alloc is damaged: {words}" in sh(TARE, "memory", "--allocations", FILE).stdout, "the text")
    os.unlink(FILE + ".alloc")
    r = sh(TARE, "memory", "--allocations", FILE)
    true(r.returncode == 125 and "tare record --alloc" in r.stderr, r.stderr)


@test
def after_a_kill():
    check("-e", "cpu-clock", words=["kill"], status=137)


@test
def under_the_exact_engine():
    if sh(TARE, "stat", "--engine", "exact", "-e", "exact/accesses/", "--", "true").returncode:
        skip("no exact engine here")
    check("--engine", "exact", "--precise")
    text = sh(TARE, "memory", "--by", "function", FILE).stdout
    true(" of the allocation recorder (libtare-alloc.so) left out; included: " in text, text)


@test
def nothing_of_libc_on_its_behalf():
    """What the program's libraries access is told as the program's: the recorder calls none of them but for what the program asked for."""
    undefined = {line.split()[-1].split("@")[0] for line in sh("nm", "-D", "--undefined-only", os.path.abspath(sys.argv[3])).stdout.splitlines()}
    true("dlsym" in undefined, undefined)
    more = {x for x in undefined if x[0] != "_"} - {"dlsym", "getauxval", "madvise", "pthread_atfork", "pthread_key_create", "pthread_setspecific", "secure_getenv"}
    equal(more, set(), "those above are called once for each process or thread")
    if sh(TARE, "stat", "--engine", "exact", "-e", "exact/accesses/", "--", "true").returncode:
        skip("no exact engine here")
    pairs = build("pairs", "#include <stdlib.h>\nstatic char *volatile p;\nint main(void) { for (int i = 0; i < 5000; i++) { p = malloc(32); *p = 1; free(p); } }",
                  "-fno-builtin", cc=CC)
    r = sh(TARE, "record", "--engine", "exact", "--precise=memory", "-c", "101", "--alloc", "-o", FILE, "--", pairs)
    equal(r.returncode, 0, r.stderr)
    got = {}
    for row in json.loads(sh(TARE, "memory", "--by", "function", "--format", "json", FILE).stdout)["rows"]:
        if re.match(r"libc[.-]", os.path.basename(row["module"])):
            got[row["label"]] = row["samples"]
    others = {k: v for k, v in got.items() if not re.search("malloc|free|int_|tcache", k)}
    true(sum(got.values()) > 500, f"malloc and free: {got}")
    true(max(others.values(), default=0) < 25, f"one access by each pair would be 50 samples, and nothing but the beginning is as much as half: {others}")


@test
def another_program():
    all_, _ = check("-e", "cpu-clock", words=["/bin/true"])
    begun = [x.pid for x in all_ if x.kind == PROGRAM]
    equal(len(begun), 2)
    equal(begun[0], begun[1], "the same process")


@test
def a_file_that_may_not_grow():
    limited = ["sh", "-c", 'ulimit -f 300; exec "$@"', "sh"] # blocks of 512 bytes: two blocks of the file, no more
    r = sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", *limited, program())
    equal(r.returncode, 0, r.stderr)
    said = re.search(r"(\d+) allocations, (\d+) frees; (\d+) mappings\n +(\d+) more allocations, frees or mappings were lost: "
                     r"the file could not grow, or no file descriptor was free to open it\n", r.stderr)
    true(said, r.stderr)
    room = sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE + "2", "--", *limited[:1], "-c", 'exec "$@"', "sh", program())
    all_ = re.search(r"(\d+) allocations, (\d+) frees; (\d+) mappings", room.stderr)
    lost = sum(int(n) for n in all_.groups()) - sum(int(n) for n in said.groups()[:3])
    true(abs(lost - int(said[4])) <= 100, f"all that is lacking: {lost} of {room.stderr} {r.stderr}") # processes, and what is unmapped, too
    before = Path(FILE + ".alloc").read_bytes()
    r = sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", "/none/such")
    equal(r.returncode, 127)
    true(Path(FILE + ".alloc").read_bytes() == before, "a command that did not run leaves what there was")
    equal([f for f in os.listdir(ROOM.name) if ".part" in f], [])


@test
def a_file_put_in_place_of_it_is_neither_read_nor_renamed():
    file, there = Path(FILE + "3"), Path(FILE + "3.alloc")
    record = ["record", "-e", "cpu-clock", "--alloc", "-o", file, "--"]
    equal(sh(TARE, *record, program()).returncode, 0)
    for make in ("mkfifo", "ln -s /dev/zero", "cp /dev/null"):
        r = sh(TARE, *record, "sh", "-c", f"rm -f {there}.part; {make} {there}.part")
        equal(r.returncode, 125, r.stderr)
        true(f"{there}.part, to which the result was written, was replaced by another file\n" in r.stderr, r.stderr)
        true(r.stderr.count(".alloc") == 1 and not os.path.lexists(there), f"no file of that name is installed: {r.stderr}")
        os.unlink(f"{there}.part")
    r = sh(TARE, *record, program())
    equal(r.returncode, 0, r.stderr)
    data, before = file.read_bytes(), there.read_bytes()
    for make in ("mkfifo", "cp /dev/null"):
        r = sh(TARE, *record, "sh", "-c", f"rm -f {file}.part; {make} {file}.part")
        equal(r.returncode, 125, r.stderr)
        true(f"{file}.part, to which the result was written, was replaced by another file\n" in r.stderr, r.stderr)
        true((file.read_bytes(), there.read_bytes()) == (data, before), f"both stay: {make}")
        for left in (f"{file}.part", f"{there}.part"):
            if os.path.lexists(left):
                os.unlink(left)
    for make in (lambda: os.mkfifo(there), lambda: there.symlink_to("/dev/zero"), lambda: socket.socket(socket.AF_UNIX).bind(str(there))):
        there.unlink()
        make()
        for how in (["-i", file], ["--allocations", "-i", file]):
            r = sh(TARE, "memory", *how)
            equal(r.returncode, 125, f"{how}: {r.stderr}")
        true(f"{there} is not a regular file" in r.stderr, r.stderr)
    r = sh(TARE, *record, "true")
    equal((r.returncode, there.is_socket()), (125, True), r.stderr)
    true(f"{there} is not a regular file" in r.stderr, r.stderr)


FULL = r"""
#include <stdlib.h>
#include <sys/resource.h>
static char *volatile p;
static char *first(void) { p = malloc(3000); for (int i = 0; i < 60000; i++) p[i % 3000] = i; return p; }
static void later(void) { p = malloc(3000); for (int i = 0; i < 600000; i++) p[i % 3000] = i; }
int main(void)
{
	struct rlimit most = { 300000, 300000 };
	char *begun = first();
	setrlimit(RLIMIT_FSIZE, &most);
	for (int i = 0; i < 3000; i++) { p = malloc(64); free(p); }
	free(begun);
	later();
}
"""


@test
def an_address_is_no_blocks_once_some_were_lost():
    """A block whose giving back was lost stands where another one is now."""
    if sh(TARE, "stat", "--engine", "exact", "-e", "exact/accesses/", "--", "true").returncode:
        skip("no exact engine here")
    full = build("full", FULL, cc=CC)
    r = sh(TARE, "record", "--engine", "exact", "--precise=memory", "-c", "101", "--alloc", "-o", FILE, "--", full)
    true("were lost" in r.stderr, r.stderr)
    rows = json.loads(sh(TARE, "memory", "--by", "symbol", "--format", "json", FILE).stdout)["rows"]
    blocks = sum(x["samples"] for x in rows if x["label"].startswith("block allocated"))
    heap = sum(x["samples"] for x in rows if x["label"].startswith("heap"))
    true(400 < blocks < 1000 and heap > 5000, f"60,000 accesses to the first block, and 600,000 to what came later: {rows}")


@test
def what_is_only_mapped_is_told():
    """A program without malloc: the reason names malloc alone, and what was mapped is not denied."""
    maps = build("maps", """#include <sys/mman.h>
        int main(void) { for (int i = 0; i < 3; i++) { volatile char *p = mmap(0, 8192, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); *p = 1; } }""", cc=CC)
    r = sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", maps)
    true(re.search(r"0 allocations, 0 frees; [3-9] mappings\n  no allocation by malloc: the program makes none, or has its own malloc, which is not recorded; "
                   r"its mappings are\n", r.stderr), r.stderr)


@test
def max_size_counts_blocks():
    """The command is ended by them alone; and of a file that is full before that is seen nothing is written beyond."""
    endless = build("endless", "#include <stdlib.h>\nstatic void *volatile p;\nint main(void) { for (;;) { p = malloc(9); free(p); } }", cc=CC)
    r = sh(TARE, "record", "-e", "cpu-clock", "--alloc", "--max-size", "300K", "-o", FILE, "--", endless)
    true("ended at --max-size: later samples are missing" in r.stderr, r.stderr)
    true("were lost: the file is full (0.3 MiB)" in r.stderr, r.stderr)
    true(os.path.getsize(FILE + ".alloc") <= 300 << 10, os.path.getsize(FILE + ".alloc"))
    r = sh(TARE, "record", "-e", "cpu-clock", "--alloc", "--max-size", "60K", "-o", FILE, "--", program())  # not one block, and not ended
    true(r.returncode == 0 and "0 allocations, 0 frees; 0 mappings\n" in r.stderr and "were lost: the file is full (0.0 MiB)" in r.stderr, r.stderr)


@test
def what_cannot_be():
    for words, why in ((["--alloc", "-p", "1"], "a command that tare starts"), (["--alloc", "-o", "-", "--", "true"], "-o FILE, not -o -"),
                       (["--alloc", "-o", "/proc/none/x", "--", "true"], "/proc/none/x.alloc")):
        r = sh(TARE, "record", "-e", "cpu-clock", *words)
        true(r.returncode == 125 and why in r.stderr, f"{words}: {r.stderr}")
    static = os.path.join(ROOM.name, "static")
    subprocess.run([CC, "-static", "-x", "c", "-", "-o", static], input="int main(void) { return 0; }", text=True, check=True)
    r = sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", static)
    true(r.returncode == 0 and "no allocation was recorded" in r.stderr and "AddressSanitizer" in r.stderr, r.stderr)
    own = build("own", "#include <stddef.h>\nstatic char room[99];\nvoid *malloc(size_t n) { (void)n; return room; }\nvoid free(void *p) { (void)p; }\n"
                "int main(void) { free(malloc(9)); return 0; }", "-fno-builtin", cc=CC)
    for what, says in ((own, True), (program(), False)):
        r = sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", what)
        true(r.returncode == 0 and ("has its own malloc" in r.stderr) == says, r.stderr)


# Loads the recorder itself: the dynamic linker ignores LD_PRELOAD of a setuid program.
LOADER = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <sys/auxv.h>
int main(int argc, char **argv)
{
	if (argc < 2 || !dlopen(argv[1], RTLD_NOW)) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	printf("%lu\n", getauxval(AT_SECURE));
	return 0;
}
"""


@test
def setuid_programs_write_no_file():
    """A setuid program has the rights of another user; its caller sets TARE_ALLOC."""
    if os.geteuid() or not shutil.which("setpriv"):
        skip("needs root, and setpriv")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        loader, file = Path(folder, "loader"), Path(folder, "x.alloc")
        recorder = shutil.copy(sys.argv[3], folder)
        subprocess.run([CC, "-x", "c", "-", "-o", loader, "-ldl"], input=LOADER, text=True, check=True)
        empty = struct.pack("=8sIIQQ", b"TAREBLKS", 3, 65536, 0, 0).ljust(4096, b"\0")

        def written(mode):
            os.chmod(loader, mode)
            file.write_bytes(empty)
            os.chmod(file, 0o666)
            r = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", loader, recorder], capture_output=True, text=True,
                               env={**ENV, "TARE_ALLOC": str(file)})
            equal(r.returncode, 0, r.stderr)
            return int(r.stdout), file.read_bytes() != empty

        equal(written(0o755), (0, True), "an ordinary program")
        secure, changed = written(0o4755)
        if not secure:
            skip("setuid programs gain no rights here")
        true(not changed, "the file that TARE_ALLOC names is unchanged")


if not os.path.exists(sys.argv[3]):
    print("1..0 # SKIP this build has no libtare-alloc.so")
    sys.exit(0)
main()
