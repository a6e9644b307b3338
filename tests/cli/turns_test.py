# SPDX-License-Identifier: MIT
"""`--deterministic=+turns`: one thread at a time, in the same order.

usage: turns_test.py TARE SCHEMA CC
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
sys.path.insert(0, str(Path(__file__).parent.parent.parent / "bench"))
from check import equal, main, test, true  # noqa: E402
from commands import sh, validated  # noqa: E402
from thread_order import C_SPIN  # noqa: E402

TARE, SCHEMA, CC = os.path.abspath(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
STAT = (TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--timeout", "60s")
ROOM = tempfile.mkdtemp(prefix="tare-turns-")

# The first thread loops by a table of addresses, with live flags, or by a fault and its handler, until the other one stops it.
LOOPS = """
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
static volatile int stop;
static void *by_table(void *p)
{
	void *labels[] = { &&again, &&end };
again:
	goto *labels[stop];
end:
	return p;
}
static void *by_flags(void *p)
{
	__asm__ volatile("stc\\n 1: mov %0, %%eax\\n jrcxz 2f\\n 2: jnc 3f\\n pushf\\n test %%eax, %%eax\\n jnz 3f\\n popf\\n jmp 1b\\n 3:" ::"m"(stop) : "rax", "cc");
	return p;
}
static void skip(int sig, siginfo_t *i, void *context)
{
	if (stop)
		exit(0);
}
static void *start(void *p)
{
	stop = 1;
	return p;
}
int main(int argc, char **argv)
{
	struct sigaction a = { .sa_sigaction = skip, .sa_flags = SA_SIGINFO };
	pthread_t t;
	switch (argv[1][0]) {
	case 't': pthread_create(&t, 0, start, 0); by_table(0); break;
	case 'f': pthread_create(&t, 0, start, 0); by_flags(0); break;
	case 's': sigaction(SIGSEGV, &a, 0); pthread_create(&t, 0, start, 0); *(volatile int *)0; break;
	default: for (;;) ;
	}
	exit(0);
}
"""

def program(name, text):
    path = Path(ROOM, name)
    if not path.exists():
        path.with_suffix(".c").write_text(text)
        subprocess.run([CC, "-O1", "-w", "-pthread", "-o", path, path.with_suffix(".c")], check=True)
    return str(path)


@test
def threads_that_spin_repeat():
    repeats(program("spin", C_SPIN), runs=3, items="+turns")


@test
def each_kind_of_loop_ends():
    for kind in ("table", "flags", "signal"):
        repeats(program("loops", LOOPS), kind, runs=3, items="+turns")


@test
def an_endless_loop_is_ended():
    one = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
    for on in ([], one):
        words = [*on, TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--deterministic=+turns", "--format", "json", "-o"]
        r = subprocess.run([*words, f"{ROOM}/ended.json", "--timeout", "200ms", "--", program("loops", LOOPS), "x"], timeout=60, stdin=subprocess.DEVNULL)
        equal(json.loads(Path(ROOM, "ended.json").read_text())["conditions"]["timed_out"], True, f"by the time limit, status {r.returncode}")
        p = subprocess.Popen([*words, "/dev/null", "--", "sh", "-c", "echo begun; while :; do :; done"], stdout=subprocess.PIPE, start_new_session=True)
        equal(p.stdout.readline(), b"begun\n")
        os.killpg(p.pid, signal.SIGINT)
        true(p.wait(60) != 0, "by SIGINT to its process group")


def order():
    path = Path(ROOM, "order")
    if not path.exists():
        subprocess.run([CC, "-O1", "-pthread", "-o", path, Path(__file__).parent / "order.c"], check=True)
    return str(path)


def results(items, runs, *words):
    """The document of several runs with four busy loops in the background, and the lines that the runs printed."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=lambda: os.nice(19)) for _ in range(4)]
    try:
        r = sh(*STAT, f"--deterministic={items}", "-r", str(runs), "--format", "json", "-o", f"{ROOM}/result.json", "--", *words)
    finally:
        for b in busy:
            b.kill()
            b.wait()
    document = Path(ROOM, "result.json")
    d = validated(document.read_text(), SCHEMA)
    document.unlink()
    return d, r.stdout.splitlines()


def about_turns(d):
    return [m["reason"] for m in d["conditions"]["fixed_in_part"] + d["conditions"]["not_fixed"] if m["item"] == "turns"]


def repeats(*words, runs=10, items="+turns,+clock"):
    d, lines = results(items, runs, *words)
    equal([r["ended_by"] for r in d["each_run"]], ["itself"] * runs, f"{words}: no run was ended by the time limit")
    equal(len(set(d["events"][0]["runs"])), 1, f"{words}: {d['events'][0]['runs']}")
    return d, lines


@test
def order_repeats():
    for kind in ("threads", "children", "pipeline", "signals", "events", "sleepers"):
        d, lines = repeats(order(), kind)
        equal((len(lines), len(set(lines)), about_turns(d)), (10, 1, []), f"{kind}: {set(lines)}")


@test
def programs_repeat():
    for script in ("for i in 1 2 3 4 5 6; do /bin/true; x=$(echo $i); done", "for i in 1 2 3; do ls / | sort | wc -l; done; true & true & wait",
                   "sleep 100 & kill $!; wait $!; echo $?", "sleep 100 & kill -9 $!; wait $!; echo $?",
                   "trap 'echo caught' USR1; (sleep 1; kill -USR1 $$) & wait; echo $?; wait"):
        d, lines = repeats("bash", "-c", script, runs=5)
        equal(about_turns(d), [], script)
        native = subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout.splitlines()
        equal(lines, native * 5, script)


@test
def what_has_no_fixed_order_is_named():
    def reasons(items, *words):
        return about_turns(results(items, 1, *words)[0])[:1]

    equal(reasons("+turns", order(), "sleepers"), ["sleeps and timeouts take real time without clock"], "real time")
    equal(reasons("+turns", "timeout", "100", "true"), ["timers"], "timers")
    equal(reasons("+turns,+clock", sys.executable, "-c", "import socket; s = socket.socket(); s.connect_ex(('127.0.0.1', 1))"), ["network sockets"], "sockets")
    fifo = f"rm -f {ROOM}/fifo; mkfifo {ROOM}/fifo; echo x > {ROOM}/fifo & cat {ROOM}/fifo; wait"
    traces = "import ctypes; print(ctypes.CDLL(None).ptrace(0, 0, 0, 0))"
    equal(reasons("+turns,+clock", sys.executable, "-c", traces), ["no order from the first ptrace call on"], "PTRACE_TRACEME")
    equal(reasons("+turns,+clock", "sh", "-c", fifo), ["system call 257 waited in the kernel"], "openat() of a FIFO")


@test
def io_uring_and_aio_are_absent():
    script = "import ctypes; l = ctypes.CDLL(None, use_errno=True); print([(l.syscall(n, 1, 0), ctypes.get_errno()) for n in (425, 206, 449)])"
    equal(results("+turns", 1, sys.executable, "-c", script)[1], [str([(-1, 38)] * 3)], "ENOSYS")


@test
def a_stopped_child_continues():
    script = "sleep 1 & kill -STOP $!; sleep 0.1; kill -CONT $!; wait; echo $?"
    equal(results("+turns,+clock", 1, "sh", "-c", script)[1], ["0"], script)


@test
def a_deadlock_is_reported():
    r = subprocess.run([*STAT, "--deterministic=+turns,+clock", "--", order(), "deadlock"], capture_output=True, text=True, timeout=60)
    true(r.returncode == 125 and "a deadlock: each thread of the command waits for another one" in r.stderr, f"{r.returncode} {r.stderr}")


@test
def it_needs_the_engine():
    r = sh(TARE, "run", "--deterministic=+turns", "--", "true")
    true("not fixed: turns: only the exact engine can" in r.stderr, r.stderr)


main()
