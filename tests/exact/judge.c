/* SPDX-License-Identifier: MIT */
/*
 * The reference for the exact engine: runs a command under ptrace, one instruction at a time, with
 * every process and thread that it creates, and writes the instructions retired in user mode, by
 * class, as JSON. Slow (about 30,000 instructions per second) and simple: it reads the bytes at RIP
 * before each step, so self-modifying code needs no special handling.
 *
 *	judge [-o FILE] [-t TRACE] [-r READS] [-e N:CLASS:SAMPLES] [--] COMMAND [ARGUMENT...]
 *
 * An instruction counts when it retires. A stop means one retired instruction, with these
 * exceptions, each handled below:
 *   - a rep string instruction stops once per iteration; it counts when RIP moves on;
 *   - a system call stops in the kernel's exit path (si_code TRAP_BRKPT), not by the trap flag;
 *   - entering a signal handler stops before its first instruction (si_code SIGTRAP);
 *   - a fault stops with RIP at the instruction, which has not retired;
 *   - `mov ss` delays the trap until the instruction after it has retired, too;
 *   - some hypervisors emulate cpuid and lose the trap after it: the judge then emulates cpuid;
 *   - now and then a trap has no step bit in DR6, and stops as a breakpoint does (TRAP_BRKPT);
 *   - under a tracer, ignored signals interrupt system calls, which are then executed again: that
 *     is caused by the judge and does not count. A restart after a signal that stops the process
 *     or is handled also happens without a tracer, and counts;
 *   - a step unblocks SIGTRAP, which is visible to a program that reads its mask: it is blocked
 *     again before each of its system calls. A program that blocks SIGTRAP also loses its handler
 *     for it. A signal handler starts with SIGTRAP unblocked, and can see that. A program that
 *     ignores SIGTRAP and executes an int3 dies of it.
 * Sources: ptrace(2), "Stopped states"; Intel SDM vol. 3, 18.3.1.4 "Single-Step Exception
 * Condition".
 */
#include "classify.h"
#include "watch.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXACT_READ = 0x74617265 }; /* as in src/exact/classes.h */
enum { LOST = 123 };              /* exit status: the counts are too small, as in tree.py */
enum { MAX_TID = 1 << 22 };       /* PID_MAX_LIMIT of the kernel's include/linux/threads.h */

struct process {
	pid_t pid;
	int status; /* wait(2) status; -1 while it runs */
	struct process *next;
};

struct task {
	pid_t tid;
	struct process *of;
	struct task *next; /* in order of creation */
	uint64_t counts[C_COUNT];
	struct insn pending, after; /* what the next step executes; after: the one after a mov ss */
	/* start of that step: `pending`, or what the kernel emulates before it */
	uint64_t from;
	uint64_t flags, rcx; /* before `pending` */
	uint64_t returns_to; /* where a pending return goes; 0: unknown */
	uint64_t restart_at; /* a system call that the kernel may restart, or 0 */
	bool restart_is_ours;
	bool trap_blocked; /* by the program: the kernel unblocks SIGTRAP to report a step */
	int trap_will_be;  /* after the pending system call: 1 blocked, 0 not, -1 unchanged */
	bool pending_known, gone;
	struct watch_access accesses[WATCH_ACCESSES]; /* of the pending instruction */
	unsigned n_accesses;
	struct watch_state state;
	bool asks;       /* the pending system call reads the thread's counts */
	unsigned number; /* in order of creation */
};

static struct task *tasks[MAX_TID];
static struct task *first_task, **last_task = &first_task;
static struct process *first_process, **last_process = &first_process;
static unsigned n_tasks;
static uint64_t undecoded;
static unsigned long lost; /* instructions that retired without a stop */
static FILE *trace;

static __attribute__((noreturn)) void die(const char *what)
{
	fprintf(stderr, "judge: %s: %s\n", what, strerror(errno));
	exit(125);
}

static void *new_zeroed(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		die("out of memory");
	return p;
}

/* The value of a hexadecimal or decimal line such as "SigIgn:\t" of /proc/TID/status. */
static uint64_t proc_status(pid_t tid, const char *key, int base)
{
	char path[64], line[256];
	uint64_t value = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			value = strtoull(line + strlen(key), NULL, base);
	if (f)
		fclose(f);
	return value;
}

static struct process *process_of(pid_t tid)
{
	pid_t pid = (pid_t)proc_status(tid, "Tgid:", 10);
	struct process *p;

	for (p = first_process; p; p = p->next)
		if (p->pid == pid && p->status == -1)
			return p;
	p = new_zeroed(sizeof(*p));
	p->pid = pid;
	p->status = -1;
	*last_process = p;
	last_process = &p->next;
	return p;
}

static struct task *task_of(pid_t tid)
{
	struct task *t = tasks[tid];

	if (t)
		return t;
	t = new_zeroed(sizeof(*t));
	t->tid = tid;
	t->of = process_of(tid);
	t->number = n_tasks++;
	*last_task = t;
	last_task = &t->next;
	return tasks[tid] = t;
}

static unsigned read_code(pid_t tid, uint64_t at, uint8_t out[15])
{
	uint64_t page_end = (at | 0xfff) + 1;
	size_t here = page_end - at < 15 ? page_end - at : 15;
	struct iovec to = { out, 15 };
	struct iovec from[2] = { { (void *)at, here }, { (void *)page_end, 15 - here } };
	ssize_t n = process_vm_readv(tid, &to, 1, from, 2, 0);

	return n < 0 ? 0 : (unsigned)n;
}

/* 0 if it cannot be read. */
static uint64_t word_at(pid_t tid, uint64_t at)
{
	uint64_t word = 0;
	struct iovec to = { &word, sizeof(word) }, from = { (void *)at, sizeof(word) };

	return process_vm_readv(tid, &to, 1, &from, 1, 0) == sizeof(word) ? word : 0;
}

static struct insn decode(uint64_t at, const uint8_t *code, unsigned size)
{
	struct insn in = classify(at, code, size);

	in.reads_now = watch_is_now(code, size);
	return in;
}

static struct insn decode_at(pid_t tid, uint64_t at)
{
	uint8_t code[15];

	return decode(at, code, read_code(tid, at, code));
}

static void retire(struct task *t, const struct insn *in, uint64_t next_rip)
{
	uint64_t before[C_COUNT];

	memcpy(before, t->counts, sizeof(before));
	if (in->length == 0) {
		undecoded++;
		t->counts[C_INSTRUCTIONS]++;
	}
	for (int c = 0; c < C_COUNT; c++)
		t->counts[c] += in->adds[c];
	if (in->syscall && t->trap_will_be >= 0)
		t->trap_blocked = t->trap_will_be;
	if (in->conditional)
		t->counts[C_TAKEN] += in->to_next ? branch_holds(in, t->flags, t->rcx)
						  : next_rip != in->at + in->length;
	watch_retired(t->number, t->tid, in, in->syscall && t->asks, before, t->counts, t->accesses,
		      t->n_accesses, &t->state, next_rip);
	if (trace)
		fprintf(trace, "%d %#llx %u\n", t->tid, (unsigned long long)in->at, in->mnemonic);
}

static void unretire_syscall(struct task *t)
{
	t->counts[C_INSTRUCTIONS]--;
	t->counts[C_SYSCALLS]--;
}

static bool is_ignored(pid_t tid, int sig)
{
	uint64_t bit = 1ull << (sig - 1);

	if (proc_status(tid, "SigIgn:", 16) & bit)
		return true;
	if (proc_status(tid, "SigCgt:", 16) & bit)
		return false;
	return sig == SIGCHLD || sig == SIGURG || sig == SIGWINCH || sig == SIGCONT;
}

/*
 * Did the step execute more than its instruction? A hypervisor that emulates an instruction can
 * lose its trap; the one after it then retires within the same step, and is not counted.
 */
static bool trap_was_lost(const struct task *t, uint64_t rip)
{
	const struct insn *last = t->pending.holds_traps ? &t->after : &t->pending;

	if (last->adds[C_RETURNS])
		return t->returns_to && rip != t->returns_to;
	return last->straight && rip != last->at + last->length;
}

/*
 * Did exactly the pending instruction retire? A hypervisor can report its trap without the bit of
 * DR6 that says "step"; the kernel then takes it for a breakpoint. Source: Linux,
 * arch/x86/kernel/traps.c, exc_debug_user().
 */
static bool stepped_over(const struct task *t, uint64_t rip)
{
	const struct insn *in = &t->pending;

	if (in->adds[C_RETURNS])
		return rip == t->returns_to;
	return in->straight ? rip == in->at + in->length : in->adds[C_BRANCHES] && rip != in->at;
}

/* The stop after a step: did the pending instruction retire? */
static void after_step(struct task *t, int si_code, uint64_t rip)
{
	const struct insn *in = &t->pending;

	if (si_code == TRAP_TRACE) {
		if (!t->pending_known || (in->rep_string && rip == in->at))
			return;
		lost += trap_was_lost(t, rip);
		retire(t, in, rip);
		if (in->holds_traps)
			retire(t, &t->after, rip);
	} else if (si_code == TRAP_BRKPT) {
		if (t->pending_known && in->syscall) {
			retire(t, in, rip);
		} else if (t->restart_at && rip == t->restart_at + 2) {
			struct insn again = decode_at(t->tid, t->restart_at);

			retire(t, &again, rip);
			if (t->restart_is_ours)
				unretire_syscall(t);
		} else if (t->pending_known && !t->restart_at && stepped_over(t, rip)) {
			retire(t, in, rip);
		}
	}
}

static bool in_restart(const struct user_regs_struct *r)
{
	long ret = (long)r->rax;

	/* ERESTARTSYS, NOINTR, NOHAND, RESTARTBLOCK: linux/errno.h */
	return (long)r->orig_rax >= 0 && (ret == -512 || ret == -513 || ret == -514 || ret == -516);
}

/* Before a system call: the signal mask as set by the program, and how the call will change it. */
static void keep_mask(struct task *t, const struct user_regs_struct *r)
{
	const uint64_t trap = 1ull << (SIGTRAP - 1);
	uint64_t mask, set;
	struct iovec to = { &set, sizeof(set) }, from = { (void *)r->rsi, sizeof(set) };

	t->trap_will_be = -1;
	if (t->trap_blocked && ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(mask), &mask) == 0) {
		mask |= trap;
		ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(mask), &mask);
	}
	if (r->rax != SYS_rt_sigprocmask || r->rsi == 0 ||
	    process_vm_readv(t->tid, &to, 1, &from, 1, 0) != sizeof(set))
		return;
	if (r->rdi == SIG_SETMASK)
		t->trap_will_be = !!(set & trap);
	else if (set & trap)
		t->trap_will_be = r->rdi == SIG_BLOCK;
}

static volatile sig_atomic_t traps;

static void count_trap(int number)
{
	(void)number;
	traps++;
}

/*
 * Is the trap after cpuid lost? The three instructions have a trap each, as has the popf that
 * clears the flag.
 */
static bool loses_cpuid_trap(void)
{
	static int loses = -1;
	unsigned a = 0, c = 0;

	if (loses >= 0)
		return loses;
	signal(SIGTRAP, count_trap);
	__asm__ volatile(
		"sub $128, %%rsp; pushf; orq $0x100, (%%rsp); popf; cpuid; nop; pushf; andq $~0x100, (%%rsp); popf; add $128, %%rsp"
		: "+a"(a), "+c"(c)
		:
		: "rbx", "rdx", "cc", "memory");
	signal(SIGTRAP, SIG_DFL);
	loses = traps < 5;
	return loses;
}

static bool has_umip(void)
{
	unsigned a, b, c = 0, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & 1u << 2);
}

static void prepare(struct task *t, const struct user_regs_struct *r, int sig)
{
	bool again = t->pending_known && t->pending.rep_string && t->pending.at == r->rip;
	uint8_t code[15];
	unsigned size = read_code(t->tid, r->rip, code);

	t->pending = decode(r->rip, code, size);
	t->pending_known = true;
	t->from = r->rip;
	while (t->pending.umip && has_umip()) /* the kernel continues after it without a trap */
		t->pending = decode_at(t->tid, t->pending.at + t->pending.length);
	if (t->pending.holds_traps)
		t->after = decode_at(t->tid, r->rip + t->pending.length);
	t->flags = r->eflags;
	t->rcx = r->rcx;
	t->returns_to = t->pending.adds[C_RETURNS] ? word_at(t->tid, r->rsp) : 0;
	if (!again) { /* a rep string instruction continues: it started earlier */
		t->n_accesses = watch_accesses(r->rip, code, size, r, t->accesses);
		watch_state(t->tid, r, &t->state);
	}
	t->asks = t->pending.syscall && r->rax == SYS_arch_prctl && r->rdi == EXACT_READ;
	if (t->pending.syscall)
		keep_mask(t, r);
	if (!in_restart(r)) {
		t->restart_at = 0;
	} else if (sig) {
		bool ignored = is_ignored(t->tid, sig);

		t->restart_is_ours = ignored && (!t->restart_at || t->restart_is_ours);
		t->restart_at = r->rip - 2;
	}
}

/*
 * If the signal of a step is blocked, the kernel resets it to its default action permanently.
 * Source: kernel/signal.c, force_sig_info_to_task()
 */
static void unblock_trap(pid_t tid)
{
	uint64_t mask;

	if (ptrace(PTRACE_GETSIGMASK, tid, sizeof(mask), &mask) < 0 ||
	    !(mask & 1ull << (SIGTRAP - 1)))
		return;
	mask &= ~(1ull << (SIGTRAP - 1));
	ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask);
}

/* Emulate the pending cpuid; then the next instruction is pending. */
static void execute_cpuid(struct task *t, struct user_regs_struct *r)
{
	unsigned a, b, c, d;

	__cpuid_count((unsigned)r->rax, (unsigned)r->rcx, a, b, c, d);
	r->rax = a;
	r->rbx = b;
	r->rcx = c;
	r->rdx = d;
	r->rip += t->pending.length;
	r->orig_rax = -1ull; /* no system call is restarted */
	if (ptrace(PTRACE_SETREGS, t->tid, 0, r) < 0)
		return;
	retire(t, &t->pending, r->rip);
	prepare(t, r, 0);
}

/* A stop that is not an event; returns the signal to pass on, or 0. */
static int signal_stop(struct task *t, int sig, const struct user_regs_struct *r)
{
	const struct insn *in = &t->pending;
	siginfo_t si = { 0 };

	if (sig == SIGTRAP && ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) == 0 &&
	    (si.si_code == TRAP_TRACE || si.si_code == TRAP_BRKPT || si.si_code == SIGTRAP)) {
		after_step(t, si.si_code, r->rip);
		if (si.si_code == SIGTRAP) /* a handler starts */
			unblock_trap(t->tid);
		return 0;
	}
	/* seccomp's SIGSYS, int3's SIGTRAP: RIP is after an instruction that has retired. */
	if (t->pending_known && (in->syscall || in->trap) && r->rip == in->at + in->length)
		retire(t, in, r->rip);
	/* A sigreturn with a frame that the kernel rejects: RIP is as in the frame. */
	else if (t->pending_known && in->syscall && sig == SIGSEGV &&
		 ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) == 0 && si.si_code == SI_KERNEL)
		retire(t, in, r->rip);
	return sig;
}

static void thread_took_over(pid_t leader, unsigned long former)
{
	if ((pid_t)former == leader || former >= MAX_TID || !tasks[former])
		return;

	/* exec in a thread other than the first: that thread continues with the first one's id. */
	struct task *old = tasks[leader];

	if (old)
		old->gone = true;
	tasks[leader] = tasks[former];
	tasks[leader]->tid = leader;
	tasks[former] = NULL;
}

static void end_of(pid_t tid, int status)
{
	struct task *t = tasks[tid];

	if (!t)
		return;
	if (t->of->pid == tid)
		t->of->status = status;
	t->gone = true;
	tasks[tid] = NULL;
}

/* Handle one stop of one task, and continue it. `started` is false until the command's own exec. */
static void one_stop(pid_t tid, int status, bool *started)
{
	int sig = WSTOPSIG(status), event = status >> 16, deliver = 0;
	struct user_regs_struct r;
	unsigned long message = 0;

	if (event)
		ptrace(PTRACE_GETEVENTMSG, tid, 0, &message);
	if (event == PTRACE_EVENT_EXEC && *started)
		thread_took_over(tid, message);

	struct task *t = task_of(tid);

	if (ptrace(PTRACE_GETREGS, tid, 0, &r) < 0)
		return; /* killed meanwhile: its end is reported separately */

	switch (event) {
	case PTRACE_EVENT_EXEC:
		if (t->pending_known)
			retire(t, &t->pending, r.rip);
		t->pending_known = false;
		*started = true;
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		task_of((pid_t)message)->trap_blocked = t->trap_blocked;
		break;
	case PTRACE_EVENT_VFORK_DONE:
		break; /* inside the system call, which stays pending */
	case PTRACE_EVENT_EXIT:
		if (t->pending_known && r.rip != t->from)
			retire(t, &t->pending, r.rip);
		t->pending_known = false;
		ptrace(PTRACE_CONT, tid, 0, 0);
		return;
	case PTRACE_EVENT_STOP:
		if (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU) {
			prepare(t, &r, sig);
			ptrace(PTRACE_LISTEN, tid, 0, 0);
			return;
		}
		prepare(t, &r, 0);
		break;
	default:
		deliver = signal_stop(t, sig, &r);
		prepare(t, &r, deliver);
	}
	while (*started && !deliver && t->pending.cpuid && loses_cpuid_trap())
		execute_cpuid(t, &r);
	if (*started)
		ptrace(PTRACE_SINGLESTEP, tid, 0, deliver);
	else
		ptrace(PTRACE_CONT, tid, 0, deliver);
}

static void print_counts(FILE *out, const uint64_t counts[C_COUNT])
{
	for (int c = 0; c < C_COUNT; c++)
		fprintf(out, "\"%s\":%llu,", class_names[c], (unsigned long long)counts[c]);
}

static void add_counts(uint64_t to[C_COUNT], const struct task *t)
{
	for (int c = 0; c < C_COUNT; c++)
		to[c] += t->counts[c];
}

static void report(FILE *out)
{
	uint64_t all[C_COUNT] = { 0 };

	for (struct task *t = first_task; t; t = t->next)
		add_counts(all, t);
	fprintf(out, "{");
	print_counts(out, all);
	fprintf(out, "\"undecoded\":%llu,\"processes\":[", (unsigned long long)undecoded);
	for (struct process *p = first_process; p; p = p->next) {
		uint64_t sum[C_COUNT] = { 0 };
		const char *comma = "";

		for (struct task *t = first_task; t; t = t->next)
			if (t->of == p)
				add_counts(sum, t);
		fprintf(out, "%s\n{\"pid\":%d,\"wait_status\":%d,", p == first_process ? "" : ",",
			p->pid, p->status);
		print_counts(out, sum);
		fprintf(out, "\"threads\":[");
		for (struct task *t = first_task; t; t = t->next)
			if (t->of == p) {
				fprintf(out, "%s{", comma);
				print_counts(out, t->counts);
				fprintf(out, "\"tid\":%d}", t->tid);
				comma = ",";
			}
		fprintf(out, "]}");
	}
	fprintf(out, "]}\n");
}

static const char usage[] =
	"usage: judge [-o FILE] [-t TRACE] [-r READS] [-e N:CLASS:SAMPLES] [--] COMMAND [ARGUMENT...]";

static bool take_option(int option, char *word, const char **to)
{
	char class[64], path[4096];
	unsigned long long n;

	switch (option) {
	case 'o':
		*to = word;
		return true;
	case 't':
		return (trace = fopen(word, "we"));
	case 'r':
		return watch_reads(word);
	case 'e':
		return sscanf(word, "%llu:%63[^:]:%4095s", &n, class, path) == 3 &&
			watch_every(path, n, class);
	default:
		return false;
	}
}

static pid_t launch(char **argv)
{
	const long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
		PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;
	int go[2];
	pid_t pid;
	char c;

	if (pipe(go) < 0 || (pid = fork()) < 0)
		die("cannot start a process");
	if (pid == 0) {
		close(go[1]);
		if (read(go[0], &c, 1) < 0) /* end of file: the judge is attached */
			_exit(125);
		close(go[0]);
		personality(ADDR_NO_RANDOMIZE);
		execvp(argv[0], argv);
		die(argv[0]);
	}
	close(go[0]);
	if (ptrace(PTRACE_SEIZE, pid, 0, options) < 0)
		die("cannot trace");
	close(go[1]);
	return pid;
}

int main(int argc, char **argv)
{
	const char *to = NULL;
	bool started = false;
	int option, status, end = 0;
	pid_t root, tid;

	while ((option = getopt(argc, argv, "+o:t:r:e:")) != -1)
		if (!take_option(option, optarg, &to))
			die(usage);
	if (optind == argc)
		die(usage);

	root = launch(argv + optind);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (tid < 0)
			continue;
		if (WIFSTOPPED(status)) {
			one_stop(tid, status, &started);
			continue;
		}
		if (tid == root)
			end = status;
		end_of(tid, status);
	}
	if ((trace && fclose(trace) != 0) || !watch_end())
		die("cannot write the trace");
	if (!started)
		return WIFEXITED(end) ? WEXITSTATUS(end) : 125;

	FILE *out = to ? fopen(to, "we") : stderr;

	if (!out)
		die(to);
	report(out);
	if (fflush(out) != 0)
		die("cannot write the counts");
	if (lost) {
		fprintf(stderr, "judge: %lu instructions retired without a trap\n", lost);
		return LOST;
	}
	return WIFEXITED(end) ? WEXITSTATUS(end) : 128 + WTERMSIG(end);
}
