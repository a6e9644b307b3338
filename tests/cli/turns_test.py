# SPDX-License-Identifier: MIT
"""`--deterministic=+turns`: one thread at a time, in the same order.

usage: turns_test.py TARE SCHEMA CC
"""
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import sh, validated  # noqa: E402

TARE, SCHEMA, CC = os.path.abspath(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
STAT = (TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--timeout", "60s")
ROOM = tempfile.mkdtemp(prefix="tare-turns-")

SPIN = """
#include <pthread.h>
#include <stdatomic.h>
static atomic_int turn;
static void *work(void *p)
{
	for (int i = 0; i < 5; i++) {
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
	for (int i = 0; i < 5; i++) {
		while (atomic_load(&turn) != 0)
			;
		atomic_store(&turn, 1);
	}
	pthread_join(t, 0);
}
"""

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

def may():
    """May this user use SCHED_FIFO here?"""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(2))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    except OSError as e:
        return f"SCHED_FIFO is not permitted: {e}"
    if int(Path("/proc/sys/kernel/sched_rt_runtime_us").read_text()) < 0:
        return "kernel.sched_rt_runtime_us is -1"
    return None


REFUSED = may()


def needs_fifo():
    if REFUSED:
        skip(REFUSED)


def program(name, text):
    path = Path(ROOM, name)
    if not path.exists():
        path.with_suffix(".c").write_text(text)
        subprocess.run([CC, "-O1", "-w", "-pthread", "-o", path, path.with_suffix(".c")], check=True)
    return str(path)


def counts(*words, runs=3):
    """The counts of several runs beside a busy loop on each CPU."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in os.sched_getaffinity(0)]
    try:
        d = validated(sh(*STAT, "--deterministic=+turns", "-r", str(runs), "--format", "json", "-o", "-", "--", *words).stdout, SCHEMA)
    finally:
        for b in busy:
            b.kill()
            b.wait()
    equal([r["ended_by"] for r in d["each_run"]], ["itself"] * runs, "no run was ended by the time limit")
    return d["events"][0]["runs"]


def scheduling(pid):
    """Policy, priority and number of CPUs of a process, from the kernel."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[38]), int(fields[37]), len(os.sched_getaffinity(pid))


@test
def threads_that_spin_repeat():
    needs_fifo()
    equal(len(set(counts(program("spin", SPIN)))), 1, "the same number of instructions in each run")


@test
def each_kind_of_loop_ends():
    needs_fifo()
    for kind in ("table", "flags", "signal"):
        equal(len(set(counts(program("loops", LOOPS), kind))), 1, kind)


@test
def processes_repeat():
    needs_fifo()
    equal(len(set(counts("sh", "-c", "for i in 1 2 3 4 5 6; do ls | sort | wc -l; done; true & true & wait"))), 1, "children")


@test
def the_kernel_has_the_policy_and_the_program_its_own():
    needs_fifo()
    script = """
import ctypes, os, subprocess, sys
print(os.getpid(), os.sched_getscheduler(0), os.sched_getparam(0).sched_priority)
os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
print(os.sched_getscheduler(0), subprocess.run([sys.executable, "-c", "import os; print(os.sched_getscheduler(0))"], capture_output=True, text=True).stdout.strip())
for policy, priority in ((os.SCHED_BATCH, 1), (os.SCHED_RR, 0), (77, 0)):
    try:
        os.sched_setscheduler(0, policy, os.sched_param(priority))
    except OSError as e:
        print(e.errno)
os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(5))
print(os.sched_getscheduler(0) == os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_getparam(0).sched_priority)
print(subprocess.run([sys.executable, "-c", "import os; print(os.sched_getscheduler(0))"], capture_output=True, text=True).stdout.strip(), flush=True)
sys.stdin.read()
"""
    p = subprocess.Popen([*STAT, "--deterministic=+turns,-pid", "-o", "/dev/null", "--", sys.executable, "-c", script], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)
    lines = [p.stdout.readline().split() for _ in range(7)]
    equal(lines[0][1:], ["0", "0"], "at the start")
    equal(lines[1], [str(os.SCHED_BATCH)] * 2, "set, and inherited by a child and its program")
    equal(lines[2:5], [["22"]] * 3, "EINVAL, as in a native run")
    equal(lines[5:], [["True", "5"], ["0"]], "real-time, and reset in a child")
    equal(scheduling(int(lines[0][0])), (1, 1, 1), "SCHED_FIFO with priority 1 on one CPU")
    equal(scheduling(p.pid)[:2], (1, 2), "tare itself is above")
    p.stdin.close()
    equal(p.wait(), 0)


@test
def what_is_left_running_gets_the_usual_policy():
    needs_fifo()
    script = "$0 -c 'import sys; sys.stdin.read()' <&3 >/dev/null 2>&1 & echo $!"
    r, w = os.pipe()
    out = subprocess.run([*STAT, "--deterministic=+turns,-pid", "-o", "/dev/null", "--", "sh", "-c", f"exec 3<&{r}; {script}", sys.executable], pass_fds=[r],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    pid = int(out)
    os.close(r)
    try:
        equal(scheduling(pid)[:2], (0, 0), "SCHED_OTHER")
    finally:
        os.close(w)


@test
def an_endless_loop_is_ended():
    needs_fifo()
    one = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
    for on in ([], one):
        words = [*on, TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--deterministic=+turns", "--format", "json", "-o"]
        r = subprocess.run([*words, f"{ROOM}/ended.json", "--timeout", "200ms", "--", program("loops", LOOPS), "x"], timeout=60, stdin=subprocess.DEVNULL)
        equal(json.loads(Path(ROOM, "ended.json").read_text())["conditions"]["timed_out"], True, f"by the time limit, status {r.returncode}")
        p = subprocess.Popen([*words, "/dev/null", "--", "sh", "-c", "echo begun; while :; do :; done"], stdout=subprocess.PIPE, start_new_session=True)
        equal(p.stdout.readline(), b"begun\n")
        os.killpg(p.pid, signal.SIGINT)
        true(p.wait(60) != 0, "by SIGINT to its process group")
    equal(os.sched_getscheduler(0), os.SCHED_OTHER)


@test
def where_it_is_not_permitted():
    def not_fixed(words, prepare=None):
        r = subprocess.run([*words, *STAT, "--deterministic=+turns,-pid", "--format", "json", "-o", "-", "--", "sh", "-c", "true"],
                           capture_output=True, text=True, preexec_fn=prepare)
        equal(r.returncode, 0, r.stderr)
        d = validated(r.stdout, SCHEMA)["conditions"]
        true("turns" not in d["fixed"] and "cpu" in d["fixed"], str(d["fixed"]))
        (reason,) = [m["reason"] for m in d["not_fixed"] if m["item"] == "turns"]
        return reason

    if not os.geteuid():
        nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        if subprocess.run([*nobody, TARE, "--version"], capture_output=True).returncode:
            skip("another user cannot execute tare here")
        true("ulimit -r 2" in not_fixed(nobody) and "CAP_SYS_NICE" in not_fixed(nobody), "an ordinary user")
    elif REFUSED:
        true("ulimit -r 2" in not_fixed([]), "an ordinary user")
    if not REFUSED:
        limit = lambda: resource.setrlimit(15, (10**6, resource.getrlimit(15)[1]))  # RLIMIT_RTTIME
        true("RLIMIT_RTTIME" in not_fixed([], limit), "a limit that would end the command")
    r = sh(TARE, "run", "--deterministic=+turns", "--", "true")
    true("not fixed: turns: only the exact engine can" in r.stderr, r.stderr)


main()
