/* SPDX-License-Identifier: MIT */
/*
 * stuck HOW: overwrites a word of the shared state of the exact engine (src/exact/shared_state.h)
 * on which the engine or its supervisor waits, or which bounds a loop, and continues. It ends by
 * itself, or tare or the engine ends it. `none` changes nothing. `stuck` alone lists the words,
 * each with the command of tests/exact/scribble that it is for.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "exact/samples.h"
#include "exact/thread.h"

/* supervisor.h, shared_places */
static struct shared_state *const board = (struct shared_state *)0x559000000000;

static struct process *process_at(unsigned i)
{
	return (struct process *)((uint8_t *)board + SHARED_PROCESSES) + i;
}

static struct thread *thread_at(unsigned i)
{
	return (struct thread *)((uint8_t *)board + SHARED_THREADS + i * THREAD_STRIDE);
}

static struct filter *filter_at(unsigned i)
{
	return (struct filter *)((uint8_t *)board + SHARED_FILTERS) + i;
}

static struct thread *self(void)
{
	unsigned i = 0;

	while (thread_at(i)->tid != gettid())
		i++;
	return thread_at(i);
}

static struct process *own_process(void)
{
	return process_at(self()->process);
}

static void work(int turns)
{
	for (volatile int i = 0; i < turns; i++)
		;
}

static void *end_at_once(void *unused)
{
	return unused;
}

static void with_thread(void *(*body)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, NULL))
		exit(2);
	pthread_join(thread, NULL);
}

/* Wait until the supervisor has seen that the head is damaged. */
static void damage(void)
{
	board->magic = 0;
	usleep(600000);
}

static void exec_true(void)
{
	execl("/bin/true", "true", (char *)NULL);
}

static void new_code(void)
{
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(code, "\xc3", 1);
	((void (*)(void))code)();
}

static void install_filter(void)
{
	struct sock_filter code[] = { { BPF_JMP | BPF_JA, 0, 0, 0 },
				      { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW } };
	struct sock_fprog prog = { 2, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &prog))
		exit(2);
}

static void exec_after_damage(void)
{
	damage();
	exec_true();
}

static void code_after_damage(void)
{
	damage();
	new_code();
}

static void core_after_damage(void)
{
	damage();
	abort();
}

static void dies_second(void)
{
	/* enough for a core to be asked for, and too little for one to be written */
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 1, 1 });
	own_process()->dying_tid = 1;
	own_process()->threads = 2;
	abort();
}

static void comes_out(void)
{
	siginfo_t info = { .si_signo = SIGTRAP, .si_code = PARK_CODE };

	own_process()->dying_tid = 1;
	syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGTRAP, &info);
	work(1000);
}

static void says_it_dies(void)
{
	own_process()->dying = DYING_ASKED;
	board->bell++;
	pause();
}

static void no_fold(void)
{
	own_process()->hold_folds = 1;
	with_thread(end_at_once);
}

static void counters(void)
{
	board->lineage_top[own_process()->lineage] = ~0u;
	with_thread(end_at_once);
}

static void filter_list(void)
{
	install_filter();
	filter_at(1)->before = 1;
	getppid();
}

static void filter_jump(void)
{
	uint64_t back = (uint64_t)(BPF_JMP | BPF_JA) | (uint64_t)~0u << 32;

	install_filter();
	filter_at(1)->code[0] = back;
	getppid();
}

static void filter_exec(void)
{
	install_filter();
	filter_at(1)->before = 1;
	board->has_gainer = 1;
	execl("/bin/su", "su", "--version", (char *)NULL);
}

static void peeks(void)
{
	board->every.n_peek = ~0u;
	work(100000);
}

static void chain(void)
{
	board->every.chain = board->every.stack = ~0u;
	work(100000);
}

static void events(void)
{
	board->every.n_events = ~0u;
	work(100000);
}

static void budget_low(void)
{
	struct thread *t = self();

	t->left[0] = INT64_MIN;
	work(100000);
}

static void budget_high(void)
{
	struct thread *t = self();

	t->left[0] = INT64_MAX;
	work(10000000);
}

static void budgets(int64_t most)
{
	struct thread *t = self();

	for (int i = 0; i < SAMPLE_EVENTS; i++)
		t->sampler[i].left_more = most;
	t->left[0] = -1;
	work(100000);
}

static void budget_more(void)
{
	budgets(INT64_MIN);
}

static void ring_head(void)
{
	((struct sample_ring *)((uint8_t *)self() + SAMPLE_RING))->tail = 1ull << 63;
	work(1000000);
}

/* The other thread changes the size of this one's draft. */
static volatile struct sample_record *draft;
static volatile int over;

static void *enlarge(void *unused)
{
	while (!over)
		draft->size = 0x7ffffff8;
	return unused;
}

static void draft_size(void)
{
	pthread_t thread;

	draft = (struct sample_record *)((uint8_t *)self() + SAMPLE_DRAFT);
	if (pthread_create(&thread, NULL, enlarge, NULL))
		exit(2);
	work(3000000);
	over = 1;
	pthread_join(thread, NULL);
}

/* Thread slots that ask for a trace of a kernel thread, which never ends. */
static void asks_of_kernel_threads(void)
{
	for (unsigned i = 1; i < THREADS; i++) {
		struct thread *t = thread_at(i);

		t->process = 0;
		t->not_process = ~0u;
		t->tid = 2;
		t->exec = EXEC_ASKED;
		board->thread_states[i] = THREAD_LIVE;
	}
	board->threads_top = THREADS;
	board->bell++;
	usleep(600000);
}

/* Processes that seem to run: one that never ends. */
static void lives_of_others(void)
{
	for (unsigned i = 1; i < PROCESSES; i++) {
		process_at(i)->pid = 1;
		process_at(i)->state = PROCESS_LIVE;
	}
	board->processes_top = PROCESSES;
}

static void questions(void)
{
	for (unsigned i = 1; i < PROCESSES; i++) {
		process_at(i)->question.tid = getpid();
		process_at(i)->question.state = QUESTION_ASKED;
		process_at(i)->pid = getpid();
		process_at(i)->state = PROCESS_LIVE;
	}
	board->processes_top = PROCESSES;
	usleep(600000);
}

static void file_times(void)
{
	board->clock.lock = 1;
	board->clock.n_times = ~0u;
	board->clock.timers = INT64_MAX;
	access("/", F_OK);
	usleep(1000);
}

/* A deadline that this process computed from the start of the clock. */
static void clock_start(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec = 0;
	until.tv_sec++;
	board->clock.start = INT64_MIN / 2;
	clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
}

static void supervisor_pid(void)
{
	pid_t supervisor = board->supervisor;

	board->supervisor = 1;
	kill(supervisor, SIGKILL);
	usleep(100000);
	exec_true();
}

static void process_numbers(void)
{
	self()->process = ~0u;
	work(1000);
	getppid();
}

static const struct {
	const char *name, *with; /* a command of tests/exact/scribble */
	void (*body)(void);
} ways[] = {
	{ "exec-after-damage", "stat", exec_after_damage },
	{ "code-after-damage", "profile", code_after_damage },
	{ "core-after-damage", "stat", core_after_damage },
	{ "dies-second", "stat", dies_second },
	{ "comes-out", "stat", comes_out },
	{ "says-it-dies", "stat", says_it_dies },
	{ "no-fold", "stat", no_fold },
	{ "counters", "stat", counters },
	{ "filter-list", "stat", filter_list },
	{ "filter-jump", "stat", filter_jump },
	{ "filter-exec", "stat", filter_exec },
	{ "peeks", "record", peeks },
	{ "chain", "record", chain },
	{ "events", "record", events },
	{ "budget-low", "record", budget_low },
	{ "budget-high", "record", budget_high },
	{ "budget-more", "record", budget_more },
	{ "ring-head", "record", ring_head },
	{ "draft-size", "record", draft_size },
	{ "asks-of-kernel-threads", "stat", asks_of_kernel_threads },
	{ "lives-of-others", "stat", lives_of_others },
	{ "questions", "profile", questions },
	{ "file-times", "clock", file_times },
	{ "clock-start", "clock", clock_start },
	{ "supervisor-pid", "stat", supervisor_pid },
	{ "process-numbers", "stat", process_numbers },
	{ "none", "stat", NULL },
};

int main(int argc, char **argv)
{
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 1 });
	if (argc < 2) {
		for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
			printf("%s %s\n", ways[i].name, ways[i].with);
		return 0;
	}
	work(20000);
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		if (!strcmp(argv[1], ways[i].name) && ways[i].body)
			ways[i].body();
	return 0;
}
