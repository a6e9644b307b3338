# SPDX-License-Identifier: MIT
"""The spread of instruction counts of programs with several threads or processes, by items of --deterministic.

usage: thread_order.py TARE [-r RUNS] [-b BUSY] [-i ITEMS]... [NAME]...

Each program runs RUNS times (default: 10) under `tare stat --engine exact --deterministic=ITEMS` for each ITEMS (default: the
default items, +cpu, +turns, +turns,+clock), with BUSY busy loops in the background (default: 4). Prints a table: the median count with the last ITEMS,
and for each ITEMS the largest count minus the smallest, or in parentheses the reason why there is no number. NAMEs select programs.
Programs that are not installed are left out, and listed at the end.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

C_POOL = """
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int next, limit = 400;
static long sum;
static void *work(void *p)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		while (next >= limit && limit < 2000)
			pthread_cond_wait(&more, &lock);
		if (next >= 2000) {
			pthread_mutex_unlock(&lock);
			return p;
		}
		long item = next++, h = item;
		pthread_mutex_unlock(&lock);
		for (long i = 0; i < 500 + item % 7 * 100; i++)
			h = h * 31 + i;
		pthread_mutex_lock(&lock);
		sum += h;
		if (next == limit) {
			limit += 400;
			pthread_cond_broadcast(&more);
		}
		pthread_mutex_unlock(&lock);
	}
}
int main(void)
{
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	printf("%ld\\n", sum);
}
"""

C_SPIN = """
#include <pthread.h>
#include <stdatomic.h>
static atomic_int turn;
static void *work(void *p)
{
	for (int i = 0; i < 20; i++) {
		while (atomic_load(&turn) != 1)
			;
		atomic_store(&turn, 0);
	}
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	for (int i = 0; i < 20; i++) {
		while (atomic_load(&turn) != 0)
			;
		atomic_store(&turn, 1);
	}
	pthread_join(t, 0);
}
"""

PY_POOL = """
import concurrent.futures, hashlib
def work(n):
    return hashlib.sha256(b"x" * (n % 97) * 50).hexdigest()
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(hash(tuple(pool.map(work, range(400)))))
"""

PY_CLOCK = """
import random, time
end, n = time.time() + 0.02, 0
while time.time() < end:
    random.random()
    n += 1
print(n)
"""

PY_SLEEP = """
import threading, time
def work(n):
    for i in range(5):
        time.sleep(0.002 * n)
        sum(range(1000 * n))
threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2, 3)]
[t.start() for t in threads]
[t.join() for t in threads]
"""

MAKEFILE = """
all: a b c d e f
a b c d e f: %: %.o
	gcc -o $@ $<
%.o: %.c
	gcc -O1 -c -o $@ $<
"""

JAVA = 'public class Hello { public static void main(String[] a) { System.out.println("hello"); } }'
RUST = 'fn main() { let v: Vec<u64> = (0..100).map(|x| x * x).collect(); println!("{}", v.iter().sum::<u64>()); }'
GO = 'package main\nfunc main() { println("hello") }'

# name, program that must be installed, command for the shell or list of words, command to prepare each run
PROGRAMS = [
    ("bash, 50 children", "bash", ["bash", "-c", "for i in $(seq 50); do /bin/true; x=$(echo $i); done"]),
    ("make -j2 of six C files", "make", "rm -f a b c d e f *.o; exec make -s -j2"),
    ("zstd -T2", "zstd", "exec zstd -q -T2 -B512K -c data >/dev/null"),
    ("xz -T2", "xz", "exec xz -T2 --block-size=400KiB -0 -c data >/dev/null"),
    ("ls | sort | wc", "ls", "ls -l . | sort | wc"),
    ("a pool of threads in C", "gcc", ["./pool"]),
    ("threads in C that spin", "gcc", ["./spin"]),
    ("a Python thread pool", "python3", [sys.executable, "pool.py"]),
    ("Python that reads the clock", "python3", [sys.executable, "clock.py"]),
    ("Python threads that sleep", "python3", [sys.executable, "sleep.py"]),
    ("node -e", "node", ["node", "-e", "console.log([3,1,2].sort())"]),
    ("rustc", "rustc", "exec rustc -O --emit obj -o main.o main.rs"),
    ("go build", "go", "GOCACHE=$PWD/cache exec go build -o hello hello.go"),
    ("java Hello", "java", ["java", "-Xshare:auto", "-cp", ".", "Hello"]),
    ("gdb", "gdb", ["gdb", "-nx", "-batch", "-ex", "info functions main", "./pool"]),
    ("git log", "git", ["git", "-C", "repository", "log", "--stat"]),
    ("sqlite3", "sqlite3", ["sqlite3", ":memory:", "with recursive n(i) as (select 1 union all select i+1 from n where i<5000) select sum(i*i%7) from n"]),
    ("perl", "perl", ["perl", "-e", "my %h; $h{$_ % 997} .= $_ for 1..20000; print scalar keys %h"]),
    ("gcc -O2 -c", "gcc", "exec gcc -O2 -c -o x.o pool.c"),
]


def write(name, text):
    with open(name, "w") as f:
        f.write(text)


def prepare():
    write("pool.c", C_POOL), write("spin.c", C_SPIN), write("pool.py", PY_POOL), write("clock.py", PY_CLOCK), write("sleep.py", PY_SLEEP)
    write("Makefile", MAKEFILE), write("Hello.java", JAVA), write("main.rs", RUST), write("hello.go", GO)
    for i, name in enumerate("abcdef"):
        write(f"{name}.c", "#include <stdio.h>\n" + "".join(
            f"int f{k}(int x) {{ return x * {k} + {i}; }}\n" for k in range(20 + 15 * i)) + 'int main(void) { puts("x"); return f3(1) == 0; }\n')
    with open("data", "wb") as f:
        f.write(b"".join(b"%d: %d\n" % (i, i * i % 7919) for i in range(150000)))
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for name in ("pool", "spin"):
        if shutil.which("gcc"):
            subprocess.run(["gcc", "-O2", "-pthread", "-o", name, f"{name}.c"], check=True)
    if shutil.which("javac"):
        subprocess.run(["javac", "Hello.java"], check=True)
    if shutil.which("git"):
        git = ["git", "-C", "repository", "-c", "user.name=x", "-c", "user.email=x@x"]
        os.mkdir("repository")
        subprocess.run([*git, "init", "-q"], check=True, **quiet)
        for i in range(20):
            write(f"repository/{i}", f"{i}\n" * 50)
            subprocess.run([*git, "add", "."], check=True)
            subprocess.run([*git, "commit", "-q", "-m", f"commit {i}"], check=True)


def spread(tare, items, words, runs):
    """The largest count minus the smallest, as text, and the median."""
    stat = [tare, "stat", "--engine", "exact", f"--deterministic={items}" if items else "--deterministic", "-e", "instructions:u",
            "--timeout", "120s", "--format", "json"]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    subprocess.run([*stat, "--", *words], **quiet)  # fills the page cache
    done = subprocess.run([*stat, "-r", str(runs), "-o", "result.json", "--", *words], **quiet, text=True)
    with open("result.json") as f:
        result = json.load(f)
    failed = [r for r in result["each_run"] if r["exit_status"] or r["left_out"]]
    missed = [m["reason"] for m in result["conditions"]["not_fixed"] if m["item"] != "env"]
    if done.returncode or failed or missed:
        return f"({missed[0] if missed else f'{len(failed)} failed'})", None
    counts = result["events"][0]["runs"]
    return f"{max(counts) - min(counts):,}", statistics.median_low(counts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tare")
    parser.add_argument("-r", dest="runs", type=int, default=10)
    parser.add_argument("-b", dest="busy", type=int, default=4)
    parser.add_argument("-i", dest="items", action="append")
    parser.add_argument("names", nargs="*")
    o = parser.parse_intermixed_args()
    items = o.items or ["", "+cpu", "+turns", "+turns,+clock"]
    tare = os.path.abspath(o.tare)
    absent = []
    with tempfile.TemporaryDirectory(prefix="tare-order-") as room:
        os.chdir(room)
        prepare()
        loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(o.busy)]
        try:
            print(f"| program | instructions | {' | '.join(f'`{i}`' if i else 'default items' for i in items)} |")
            print("|---|---|" + "---|" * len(items))
            for name, needs, words in PROGRAMS:
                if o.names and not any(n in name for n in o.names):
                    continue
                if not shutil.which(needs) or (name.startswith("java") and not os.path.exists("Hello.class")):
                    absent.append(name)
                    continue
                words = words if isinstance(words, list) else ["sh", "-c", words]
                row = [spread(tare, i, words, o.runs) for i in items]
                median = row[-1][1]
                print(f"| {name} | {f'{median:,}' if median else ''} | {' | '.join(r[0] for r in row)} |", flush=True)
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
        os.chdir("/")
    if absent:
        print("not installed:", ", ".join(absent))


if __name__ == "__main__":
    main()
