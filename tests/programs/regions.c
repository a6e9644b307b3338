/* SPDX-License-Identifier: MIT */
/*
 * A program with regions, for the tests of `tare regions`, and a reader of its recordings:
 *
 *	regions loop N THREADS	N times "work" within "thread", on each thread
 *	regions known N THREADS [ODD]
 *			N loops of known sizes on each thread, a label for each size; every
 *			ODD-th loop has one round too many
 *	regions once N THREADS	a loop of N rounds within "work", once on each thread
 *	regions unbalanced | detached | exit STATUS | kill SIGNAL | fork N
 *	regions exit-inside | fork-inside
 *			the process or its child exits within "work"; with the child, a timing
 *			of "other" is not finished
 *	regions vfork N	twice: a vfork() child does "other" N times within "work"
 *	regions until-killed FILE THREADS [US]
 *			forever; FILE has a u64 per thread, the number of its points so far.
 *			US: sleep for that time after every 1,000
 *	regions exec WORDS	"work", then exec of another program
 *	regions check FILE	counts the contents of a recording
 *	regions words FILE	the same in words, a line per thread: "outer( inner( inner) outer)"
 *	regions labels N THREADS
 *			N times a new label, within "work"
 *	regions names N	N labels, each with a name of 31 bytes, once each
 *	regions small-stack	the first region in a handler with 8 KiB of stack and no heap; later
 *			ones, and a label, on a thread with the minimum stack
 *	regions loader	"work" while another thread holds the loader's lock; meanwhile
 *			children exit, and the recording ends
 *	regions known-check FILE
 *			is each interval its loop plus a constant number of instructions?
 *			Lists the others
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "arch/cpu.h"
#include "regions/timeline/timeline.h"
#include "tare/region.h"

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
	__has_feature(memory_sanitizer)
#define SANITIZED true
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#undef SANITIZED
#define SANITIZED true
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

TARE_REGION(thread_region, "thread");
TARE_REGION(work, "work");
TARE_REGION(other, "other");

enum { THREADS_MAX = 64, SIZES = 7 };

static const uint64_t turns[SIZES] = { 1, 10, 100, 1000, 10000, 1000, 100000 };
static tare_label sized[SIZES];
static long count, odd_every;
static volatile uint64_t *known;
static useconds_t rest_us;

static void *loop(void *unused)
{
	TARE_REGION_SCOPE(&thread_region);
	for (long i = 0; i < count; i++) {
		tare_region_begin(&work);
		tare_region_end(&work);
	}
	return unused;
}

static void *loops(void *unused)
{
	for (long i = 0; i < count; i++) {
		uint64_t n = turns[i % SIZES] + (odd_every && i % odd_every == odd_every - 1);

		tare_label_begin(sized[i % SIZES]);
		cpu_loop(n);
		tare_label_end(sized[i % SIZES]);
	}
	return unused;
}

static void *once(void *unused)
{
	TARE_REGION_SCOPE(&work);
	cpu_loop((uint64_t)count);
	return unused;
}

/* A label is new each time, and threads create them concurrently. */
static void *labels(void *unused)
{
	static int threads;
	int me = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);

	for (long i = 0; i < count; i++) {
		TARE_REGION_SCOPE(&work);
		char name[32];
		tare_label label;

		snprintf(name, sizeof(name), "%07ld of %02d", i, me);
		label = tare_label_new(name, NULL, 0);
		tare_label_begin(label);
		tare_label_end(label);
	}
	return unused;
}

static void *for_ever(void *number)
{
	volatile uint64_t *mine = &known[(uintptr_t)number];

	while (known) {
		tare_region_begin(&work);
		++*mine;
		tare_region_end(&work);
		++*mine;
		if (rest_us && *mine % 1000 == 0)
			usleep(rest_us);
	}
	return number;
}

static void on_threads(void *(*run)(void *), long threads)
{
	pthread_t thread[THREADS_MAX];

	for (long i = 1; i < threads; i++)
		pthread_create(&thread[i], NULL, run, (void *)i);
	run(NULL);
	for (long i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
}

static int fail(const struct tare_error *err)
{
	fprintf(stderr, "regions: %s\n", err->what);
	return 1;
}

static int check(const char *path)
{
	struct tare_error err = TARE_ERROR_INIT;
	uint64_t points = 0, repaired = 0, lost;
	struct timeline *t;

	if (timeline_open(&t, path, &err) < 0)
		return fail(&err);
	lost = timeline_info(t)->lost;
	for (size_t i = 0; i < timeline_info(t)->n_threads; i++) {
		struct timeline_point p;
		struct cursor *c;

		if (timeline_thread(t, i, &c, &err) < 0)
			return fail(&err);
		while (cursor_next(c, &p, &err) == 1) {
			points += p.kind != TIMELINE_LOST && !p.repaired;
			repaired += p.repaired != TIMELINE_AS_RECORDED;
			lost += p.kind == TIMELINE_LOST ? p.number : 0;
		}
		cursor_close(c);
	}
	printf("threads %zu points %" PRIu64 " repaired %" PRIu64 " lost %" PRIu64 "\n",
	       timeline_info(t)->n_threads, points, repaired, lost);
	timeline_close(t);
	return 0;
}

static int words(const char *path)
{
	static const char marks[] = { '(', ')', '.', '=', '<', '>', '?' };
	struct tare_error err = TARE_ERROR_INIT;
	struct timeline *t;

	if (timeline_open(&t, path, &err) < 0)
		return fail(&err);
	for (size_t i = 0; i < timeline_info(t)->n_threads; i++) {
		const char *space = "";
		struct timeline_point p;
		struct cursor *c;

		if (timeline_thread(t, i, &c, &err) < 0)
			return fail(&err);
		while (cursor_next(c, &p, &err) == 1) {
			const struct timeline_label *l = timeline_label(t, p.label);

			printf("%s%s", space, p.kind == TIMELINE_LOST ? "" : l->name);
			for (const char *const *a = l->arg; p.kind != TIMELINE_LOST && *a; a++)
				printf(",%s", *a);
			printf("%c%s", marks[p.kind], p.repaired ? "!" : "");
			if (p.kind == TIMELINE_INTEGER)
				printf("%" PRIu64, p.number);
			space = " ";
		}
		printf("\n");
		cursor_close(c);
	}
	timeline_close(t);
	return 0;
}

struct interval { /* of a loop of known size */
	size_t thread;
	uint64_t number; /* index in its thread, from 0 */
	uint32_t label;
	uint64_t over;     /* instructions in addition to its loop */
	const char *wrong; /* or NULL */
};

struct intervals {
	struct interval *at;
	size_t n, room;
};

static const char *wrong_with(const struct timeline_point *p)
{
	return p->missing                 ? "not counted"
		: p->repaired             ? "inserted by the reader"
		: p->kind != TIMELINE_END ? "no end"
					  : NULL;
}

/* The last counter's value, because a clock comes first. False: out of memory. */
static bool add_intervals(struct intervals *of, struct timeline *t, size_t thread, struct cursor *c,
			  struct tare_error *err)
{
	size_t which = timeline_info(t)->n_counters - 1;
	uint64_t begun = 0, number = 0;
	struct timeline_point p;

	while (cursor_next(c, &p, err) == 1) {
		if (p.kind == TIMELINE_BEGIN) {
			begun = p.value[which];
			continue;
		}
		if (of->n == of->room) {
			struct interval *more = realloc(of->at, (of->room + 4096) * sizeof(*more));

			if (!more)
				return false;
			of->at = more;
			of->room += 4096;
		}
		of->at[of->n++] = (struct interval){
			thread, number++, p.label,
			p.value[which] - begun -
				CPU_LOOP_INSTRUCTIONS *
					strtoull(timeline_label(t, p.label)->name, NULL, 10),
			wrong_with(&p)
		};
	}
	return err->code == 0;
}

/* The majority value, if there is one, by the algorithm of Boyer and Moore. */
static uint64_t excess_of(const struct intervals *of)
{
	uint64_t excess = 0, votes = 0;

	for (size_t i = 0; i < of->n; i++) {
		if (!votes)
			excess = of->at[i].over;
		votes = of->at[i].over == excess ? votes + 1 : votes - 1;
	}
	return excess;
}

static int known_check(const char *path)
{
	enum { ODD_SHOWN = 10 };
	struct tare_error err = TARE_ERROR_INIT;
	struct intervals of = { 0 };
	uint64_t excess, odd = 0;
	struct timeline *t;

	if (timeline_open(&t, path, &err) < 0)
		return fail(&err);

	const struct timeline_info *info = timeline_info(t);
	const struct timeline_own *own = &info->counter[info->n_counters - 1].own[0];

	for (size_t i = 0; i < info->n_threads; i++) {
		struct cursor *c;

		if (timeline_thread(t, i, &c, &err) < 0 || !add_intervals(&of, t, i, c, &err))
			return fail(&err);
		cursor_close(c);
	}
	excess = excess_of(&of);
	for (size_t i = 0; i < of.n; i++)
		odd += of.at[i].over != excess || of.at[i].wrong;
	printf("%zu threads, %zu intervals, %" PRIu64
	       " instructions more than their loop, of which the region itself %.0f +- %.0f: ",
	       info->n_threads, of.n, excess, own->inside, own->inside_off);
	if (odd || !of.n)
		printf("%" PRIu64 " are different\n", odd);
	else
		printf("all exact\n");
	for (size_t i = 0, shown = 0; i < of.n && shown < ODD_SHOWN; i++) {
		const struct interval *v = &of.at[i];
		const char *name = timeline_label(t, v->label)->name;
		uint64_t loop = CPU_LOOP_INSTRUCTIONS * strtoull(name, NULL, 10);

		if (v->over == excess && !v->wrong)
			continue;
		shown++;
		printf("  region %s, thread %zu (%" PRIu64 "), interval %" PRIu64 ": %" PRIu64
		       " counted, %" PRIu64 " expected%s%s\n",
		       name, v->thread, info->thread[v->thread].tid, v->number, loop + v->over,
		       loop + excess, v->wrong ? ", " : "", v->wrong ? v->wrong : "");
	}
	if (odd > ODD_SHOWN)
		printf("  and %" PRIu64 " more\n", odd - ODD_SHOWN);
	free(of.at);
	timeline_close(t);
	return 0;
}

static void *with_label(void *unused)
{
	tare_label label;

	loop(NULL);
	label = tare_label_new("label", NULL, 0);
	tare_label_begin(label);
	tare_label_end(label);
	return unused;
}

static unsigned heap_asked; /* while a handler runs, which may have interrupted malloc() */
static bool within_handler;

#if defined(OWN_MALLOC) && defined(__GLIBC__) && !SANITIZED
void *__libc_malloc(size_t size);

void *malloc(size_t size)
{
	heap_asked += within_handler;
	return __libc_malloc(size);
}
#endif

static void in_handler(int signal)
{
	(void)signal;
	within_handler = true;
	with_label(NULL);
	within_handler = false;
}

/* Each stack has a guard page below it. */
static int small_stack(void)
{
	size_t least = getauxval(AT_MINSIGSTKSZ),
	       size = least > 4096 ? (least + 4096 + 4095) & ~(size_t)4095 : 8192;
	char *stack = mmap(NULL, 4096 + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	struct sigaction action = { .sa_handler = in_handler, .sa_flags = SA_ONSTACK };
	pthread_attr_t least_stack;
	pthread_t thread;

	if (SANITIZED)
		return 77; /* this needs more stack */
	if (stack == MAP_FAILED || mprotect(stack, 4096, PROT_NONE) < 0)
		return 1;
	sigaltstack(&(stack_t){ .ss_sp = stack + 4096, .ss_size = size }, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	if (heap_asked) {
		fprintf(stderr, "the heap was asked %u times\n", heap_asked);
		return 1;
	}
	pthread_attr_init(&least_stack);
	pthread_attr_setstacksize(&least_stack, (size_t)PTHREAD_STACK_MIN);
	if (pthread_create(&thread, &least_stack, with_label, NULL))
		return 1;
	pthread_join(thread, NULL);
	return 0;
}

static sem_t has_lock;

static int keep_lock(struct dl_phdr_info *object, size_t size, void *unused)
{
	(void)object;
	(void)size;
	(void)unused;
	sem_post(&has_lock);
	pause();
	return 1;
}

static void *keep_loader(void *unused)
{
	dl_iterate_phdr(keep_lock, NULL);
	return unused;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
extern int _dl_find_object(void *address, struct dl_find_object *result) __attribute__((weak));
/* the C library finds libraries without the loader's lock */
#define WITHOUT_LOADER (_dl_find_object != NULL)
#else
#define WITHOUT_LOADER false
#endif

static int beside_loader(void)
{
	pthread_t thread;
	int status, failed = 0;

	if (SANITIZED)
		return 77; /* this uses the loader itself at exit */
	loop(NULL);
	sem_init(&has_lock, 0, 0);
	if (pthread_create(&thread, NULL, keep_loader, NULL))
		return 1;
	sem_wait(&has_lock);
	for (int i = 0; i < 2; i++) {
		if (fork() == 0) {
			alarm(10);
			if (i)
				loop(NULL);
			exit(0);
		}
		wait(&status);
		failed += status != 0;
	}
	alarm(10);
	if (WITHOUT_LOADER)
		failed += tare_regions_stop(NULL) != 0;
	_exit(failed);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long threads = argc > 3 ? atol(argv[3]) : 1;

	count = argc > 2 ? atol(argv[2]) : 0;
	if (threads > THREADS_MAX)
		return 2;
	if (!strcmp(what, "loop")) {
		on_threads(loop, threads);
	} else if (!strcmp(what, "once")) {
		on_threads(once, threads);
	} else if (!strcmp(what, "known")) {
		for (int i = 0; i < SIZES; i++) {
			char name[24];

			snprintf(name, sizeof(name), "%" PRIu64, turns[i]);
			sized[i] = tare_label_new(name, NULL, 0);
		}
		odd_every = argc > 4 ? atol(argv[4]) : 0;
		on_threads(loops, threads);
	} else if (!strcmp(what, "names")) {
		for (long i = 0; i < count; i++) {
			char name[32];
			tare_label label;

			snprintf(name, sizeof(name), "%031ld", i);
			label = tare_label_new(name, NULL, 0);
			tare_label_begin(label);
			tare_label_end(label);
		}
	} else if (!strcmp(what, "labels")) {
		on_threads(labels, threads);
	} else if (!strcmp(what, "small-stack")) {
		count = 3;
		return small_stack();
	} else if (!strcmp(what, "loader")) {
		count = 3;
		return beside_loader();
	} else if (!strcmp(what, "unbalanced")) {
		tare_region_begin(&work);
		tare_region_end(&other);
	} else if (!strcmp(what, "detached")) {
		struct tare_timing t = tare_timing_start(tare_region_label(&work));

		tare_timing_finish(t);
		tare_timing_finish(t);
		tare_timing_finish(t);
		tare_timing_start(tare_region_label(&other));
		t.number += 100;
		tare_timing_finish(t);
	} else if (!strcmp(what, "exit")) {
		loop(NULL);
		printf("out\n");
		return atoi(argv[2]);
	} else if (!strcmp(what, "elsewhere")) {
		count = 1;
		if (chdir(argv[2]) < 0)
			return 1;
		loop(NULL);
	} else if (!strcmp(what, "kill")) {
		count = 1;
		loop(NULL);
		kill(getpid(), atoi(argv[2]));
	} else if (!strcmp(what, "fork")) {
		loop(NULL);
		if (fork() == 0) {
			loop(NULL);
			return 0;
		}
		wait(NULL);
	} else if (!strcmp(what, "vfork")) {
		for (int i = 0; i < 2; i++) {
			TARE_REGION_SCOPE(&work);
			if (vfork() == 0) {
				for (long k = 0; k < count; k++) {
					tare_region_begin(&other);
					tare_region_end(&other);
				}
				_exit(0);
			}
			wait(NULL);
		}
	} else if (!strcmp(what, "exit-inside")) {
		tare_region_begin(&work);
		_exit(0);
	} else if (!strcmp(what, "fork-inside")) {
		tare_timing_start(tare_region_label(&other));
		tare_region_begin(&work);
		if (fork() == 0) {
			tare_region_begin(&work);
			_exit(0);
		}
		wait(NULL);
	} else if (!strcmp(what, "until-killed") && argc > 3) {
		int fd = open(argv[2], O_RDWR);

		known = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (known == MAP_FAILED)
			return 2;
		rest_us = argc > 4 ? (useconds_t)atol(argv[4]) : 0;
		on_threads(for_ever, threads);
	} else if (!strcmp(what, "exec") && argc > 2) {
		tare_region_begin(&work);
		tare_region_end(&work);
		execvp(argv[2], argv + 2);
		return 2;
	} else if (!strcmp(what, "check") && argc > 2) {
		return check(argv[2]);
	} else if (!strcmp(what, "words") && argc > 2) {
		return words(argv[2]);
	} else if (!strcmp(what, "known-check") && argc > 2) {
		return known_check(argv[2]);
	} else {
		fprintf(stderr, "regions: see the top of regions.c\n");
		return 2;
	}
	return 0;
}
