# SPDX-License-Identifier: MIT
"""`tare record --alloc`: what a program takes and gives back, by threads, in children, after a kill, under the exact engine too.

usage: record_alloc_test.py TARE CC RECORDER
"""
import collections
import os
import re
import shutil
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
    equal((magic, version, block, lost), (b"TAREBLKS", 1, 65536, 0))
    for i in range(blocks):
        at = 4096 + i * block
        magic, pid, used = struct.unpack_from("=4sIQ", data, at)
        equal(magic, b"BLOK")
        at, end = at + 16, at + 16 + used
        while at < end:
            size, kind, n, tid, time, address, bytes_ = struct.unpack_from("=HBBIQQQ", data, at)
            out.append(Event(time, kind, pid, tid, address, bytes_, struct.unpack_from(f"={n}Q", data, at + 32)))
            at += size
    return sorted(out)


def function(address):
    for line in sh("nm", "-S", program()).stdout.splitlines():
        words = line.split()
        if len(words) == 4 and int(words[0], 16) < address <= int(words[0], 16) + int(words[1], 16):
            return words[3]
    return None


def check(*how, words=(), status=0):
    r = sh(TARE, "record", *how, "--alloc", "-o", FILE, "--", program(), *words)
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
def blocks_of_threads_and_children():
    all_, r = check("-e", "cpu-clock")
    taken, freed = (sum(x.kind == k for x in all_) for k in (TAKEN, FREED))
    true(f"perf.data.alloc: {taken} blocks taken, {freed} given back; " in r.stderr, r.stderr)


@test
def several_with_one_name():
    """Each recording has its own blocks: those of another are at other addresses, of other processes."""
    both = [subprocess.Popen([TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", "sh", "-c", f"{program()}; sleep 0.2"],
                             stderr=subprocess.PIPE, text=True) for _ in "ab"]
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


# One line each, by which it is known; what is thrown is caught, and what is taken then is the catcher's.
OPERATORS = r"""
#include <cstdio>
#include <cstdlib>
#include <new>
struct alignas(128) wide { char c[128 * 31]; };
extern "C" {
void *volatile keep;
__attribute__((noinline)) void *plain() { void *p = ::operator new(20001); keep = p; return p; }
__attribute__((noinline)) void *array() { void *p = ::operator new[](20002); keep = p; return p; }
__attribute__((noinline)) void *quiet() { void *p = ::operator new(20003, std::nothrow); keep = p; return p; }
__attribute__((noinline)) void *quiet_array() { void *p = ::operator new[](20004, std::nothrow); keep = p; return p; }
__attribute__((noinline)) void *aligned() { void *p = ::operator new(20096, std::align_val_t(64)); keep = p; return p; }
__attribute__((noinline)) void *aligned_array() { void *p = ::operator new[](20160, std::align_val_t(64)); keep = p; return p; }
__attribute__((noinline)) void *aligned_quiet() { void *p = ::operator new(20224, std::align_val_t(64), std::nothrow); keep = p; return p; }
__attribute__((noinline)) void *aligned_quiet_array() { void *p = ::operator new[](20288, std::align_val_t(64), std::nothrow); keep = p; return p; }
__attribute__((noinline)) void *object() { void *p = new wide; keep = p; return p; }
__attribute__((noinline)) void *too_much() { try { keep = ::operator new((size_t)-1 / 4); } catch (const std::bad_alloc &) { } return NULL; }
__attribute__((noinline)) void *catcher() { too_much(); void *p = malloc(20009); keep = p; return p; }
int all()
{
	void *p[] = { plain(), array(), quiet(), quiet_array(), aligned(), aligned_array(), aligned_quiet(), aligned_quiet_array(), object(), catcher() };
	for (void *q : p) printf("%p ", q);
	fflush(stdout);
	::operator delete(p[0]);
	::operator delete[](p[1]);
	::operator delete(p[2], (size_t)20003);
	::operator delete[](p[3], (size_t)20004);
	::operator delete(p[4], std::align_val_t(64));
	::operator delete[](p[5], std::align_val_t(64));
	::operator delete(p[6], std::align_val_t(64), std::nothrow);
	::operator delete[](p[7], 20288, std::align_val_t(64));
	delete (wide *)p[8];
	free(p[9]);
	return 0;
}
}
#ifndef PART
int main() { return all(); }
#endif
"""
OPENS = r"""
#include <dlfcn.h>
int main(int argc, char **argv)
{
	void *of = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : 0;
	int (*all)(void) = of ? (int (*)(void))dlsym(of, "all") : 0;
	return all ? all() : 3;
}
"""


def operators(*command, symbols, base):
    """By the lines above: who called, and that each block is given back once. `base`: what the addresses of symbols are beyond the file's."""
    r = sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", *command)
    equal(r.returncode, 0, r.stderr)
    blocks, all_ = [int(w, 16) for w in r.stdout.split()], events()
    names = ("plain", "array", "quiet", "quiet_array", "aligned", "aligned_array", "aligned_quiet", "aligned_quiet_array", "object", "catcher")
    at = {}
    for line in sh("nm", "-S", symbols).stdout.splitlines():
        words = line.split()
        if len(words) == 4:
            at[words[3]] = (int(words[0], 16), int(words[0], 16) + int(words[1], 16))
    for name, block in zip(names, blocks, strict=True):
        taken, freed = ([x for x in all_ if x.kind == kind and x.address == block] for kind in (TAKEN, FREED))
        taken = [x for x in taken if x.size > 3000]
        equal((len(taken), len(freed)), (1, 1), f"{name}: once taken, once given back")
        low, high = at[name]
        true(low < taken[0].frames[0] - base(taken[0].frames[0], low) <= high, f"{name}: {taken[0].frames[0]:#x} is not in {low:#x}-{high:#x}")


def build(name, source, *flags, cc="c++"):
    out = os.path.join(ROOM.name, name)
    subprocess.run([cc, "-O1", *flags, "-x", "c" if cc == CC else "c++", "-", "-o", out], input=source, text=True, check=True)
    return out


@test
def operators_of_cplusplus():
    """The caller is the operator's; the program and C++'s library have no frame pointers."""
    if not shutil.which("c++"):
        skip("no C++ compiler")
    program = build("operators", OPERATORS, "-std=c++17", "-no-pie")
    operators(program, symbols=program, base=lambda at, low: 0)


@test
def operators_of_a_part_that_is_loaded_later():
    """No C++ library is in sight of the recorder then."""
    if not shutil.which("c++"):
        skip("no C++ compiler")
    part = build("part.so", OPERATORS, "-std=c++17", "-DPART", "-shared", "-fPIC")
    opens = build("opens", OPENS, "-ldl", cc=CC)
    # where it was loaded is not told, but for pages
    operators(opens, part, symbols=part, base=lambda at, low: (at - low) & ~0xfff)


# Each part counts what its own operators take; what is left of a part that was closed is overwritten.
OWN = r"""
typedef __SIZE_TYPE__ size_t;
extern "C" void *malloc(size_t);
extern "C" void free(void *);
static int mine;
void *operator new(size_t n) { mine += PART; return malloc(n); }
void operator delete(void *p) noexcept { mine += 10 * PART; free(p); }
void operator delete(void *p, size_t) noexcept { mine += 10 * PART; free(p); }
extern "C" void *take(void) { return operator new(20001); }
extern "C" void give(void *p) { operator delete(p); }
extern "C" int count(void) { return mine; }
"""
OPENS_OWN = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
	void *of[2];
	for (int i = 0; i < 4; i++) {
		void *h = of[i & 1] = dlopen(argv[1 + (i & 1)], RTLD_NOW | RTLD_LOCAL), *p;
		if (!h) return 1;
		p = ((void *(*)(void))dlsym(h, "take"))();
		((void (*)(void *))dlsym(h, "give"))(p);
		printf("%d ", ((int (*)(void))dlsym(h, "count"))());
		if (i > 1) continue; /* the last two are there at once */
		dlclose(h);
		for (int k = 0; k < 8; k++) mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	return 0;
}
"""


@test
def parts_with_operators_of_their_own():
    """They keep them, and may be closed: the program does what it does alone."""
    if not shutil.which("c++"):
        skip("no C++ compiler")
    parts = [build(f"own{n}.so", OWN, f"-DPART={n}", "-O2", "-shared", "-fPIC", "-nostdlib", "-fno-exceptions", "-lc") for n in (1, 2)]
    opens = build("opens_own", OPENS_OWN, "-ldl", cc=CC)
    equal(sh(opens, *parts).stdout, "11 22 11 22 ")
    r = sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", opens, *parts)
    equal((r.stdout, r.returncode), ("11 22 11 22 ", 0), r.stderr)
    equal(sorted(x.kind for x in events() if x.size == 20001), [TAKEN] * 4, "their blocks come from malloc")
    # what is there at the beginning is recorded by the plain names
    linked = build("linked_own", "#include <new>\nint main() { ::operator delete(::operator new(20003)); }", parts[0], "-Wl,-rpath," + ROOM.name)
    equal(sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", linked).returncode, 0)
    block = next(x for x in events() if x.size == 20003)
    equal([x.kind for x in events() if x.address == block.address and x.time >= block.time][:2], [TAKEN, FREED])


@test
def after_a_kill():
    check("-e", "cpu-clock", words=["kill"], status=137)


@test
def under_the_exact_engine():
    if sh(TARE, "stat", "--engine", "exact", "-e", "exact/accesses/", "--", "true").returncode:
        skip("no exact engine here")
    check("--engine", "exact", "--precise")
    text = sh(TARE, "memory", "--by", "function", FILE).stdout
    true(" of what wrote the blocks down (libtare-alloc.so) left out; not so " in text, text)


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
    said = re.search(r"(\d+) blocks taken, (\d+) given back; (\d+) mapped\n +(\d+) more times that one was taken, given back or mapped were lost: "
                     r"the file could not grow\n", r.stderr)
    true(said, r.stderr)
    room = sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE + "2", "--", *limited[:1], "-c", 'exec "$@"', "sh", program())
    all_ = re.search(r"(\d+) blocks taken, (\d+) given back; (\d+) mapped", room.stderr)
    lost = sum(int(n) for n in all_.groups()) - sum(int(n) for n in said.groups()[:3])
    true(abs(lost - int(said[4])) <= 100, f"all that is lacking: {lost} of {room.stderr} {r.stderr}") # processes, and what is unmapped, too
    before = Path(FILE + ".alloc").read_bytes()
    r = sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", "/none/such")
    equal(r.returncode, 127)
    true(Path(FILE + ".alloc").read_bytes() == before, "a command that did not run leaves what there was")
    equal([f for f in os.listdir(ROOM.name) if ".part" in f], [])


@test
def what_cannot_be():
    for words, why in ((["--alloc", "-p", "1"], "a command that tare starts"), (["--alloc", "-o", "-", "--", "true"], "-o FILE, and not -"),
                       (["--alloc", "-o", "/proc/none/x", "--", "true"], "/proc/none/x.alloc")):
        r = sh(TARE, "record", "-e", "cpu-clock", *words)
        true(r.returncode == 125 and why in r.stderr, f"{words}: {r.stderr}")
    static = os.path.join(ROOM.name, "static")
    subprocess.run([CC, "-static", "-x", "c", "-", "-o", static], input="int main(void) { return 0; }", text=True, check=True)
    r = sh(TARE, "record", "-e", "cpu-clock", "--alloc", "-o", FILE, "--", static)
    true(r.returncode == 0 and "no allocation was recorded" in r.stderr, r.stderr)


if not os.path.exists(sys.argv[3]):
    print("1..0 # SKIP this build has no libtare-alloc.so")
    sys.exit(0)
main()
