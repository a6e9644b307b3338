/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/file.h"
#include "launch/system_noise.h"
#include "verify/calibration.h"

enum { INTERRUPTS_MOST = 16 << 20, IDLE_NS = 50000 };

struct real {
	struct calibration shop;
	size_t page;
	char *memory, *pages;
	cpu_set_t before;
	bool moved;
	pthread_t rival; /* the other thread, which contends for the first line of the memory */
	bool has_rival;
	atomic_int contend; /* 1: run, 0: wait, -1: end */
};

const char *work_name(unsigned kind)
{
	const struct kernel *k = kernel_at(kind);

	return kind == WORK_PAGES ? "pages" : k ? k->name : NULL;
}

const char *work_about(unsigned kind)
{
	const struct kernel *k = kernel_at(kind);

	return kind == WORK_PAGES ? "pages touched for the first time" : k ? k->about : NULL;
}

uint64_t work_retires(unsigned kind, enum work_class c, uint64_t turns, bool *sure)
{
	const struct kernel *k = kernel_at(kind);

	*sure = k ? !(k->unsure >> c & 1) : c == WORK_FAULTS;
	if (!k)
		return c == WORK_FAULTS ? turns : 0;
	return kernel_retires(k, c, turns);
}

static void *contend(void *arg)
{
	struct real *r = arg;
	int now;

	while ((now = atomic_load(&r->contend)) >= 0)
		if (now)
			atomic_fetch_add((_Atomic uint64_t *)(void *)r->memory, 1);
		else
			nanosleep(&(struct timespec){ .tv_nsec = IDLE_NS }, NULL);
	return NULL;
}

/* Runs on any CPU that the caller may use, except this one. */
static int bring_rival(struct real *r, struct tare_error *err)
{
	pthread_attr_t attr;
	cpu_set_t others = r->before;
	int code;

	if (r->has_rival)
		return 0;
	CPU_CLR(r->shop.cpu, &others);
	if (!r->moved || !CPU_COUNT(&others))
		return tare_fail(err, ENOTSUP,
				 "there is no second CPU for a thread to contend with");
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(others), &others);
	code = pthread_create(&r->rival, &attr, contend, r);
	pthread_attr_destroy(&attr);
	r->has_rival = code == 0;
	return code ? tare_fail(err, ENOTSUP, "no thread to contend with: %s", strerror(code)) : 0;
}

static int prepare(struct calibration *w, unsigned kind, struct tare_error *err)
{
	struct real *r = (struct real *)w;
	const struct kernel *k = kernel_at(kind);
	int ret = 0;

	if (k && k->contended && (ret = bring_rival(r, err)) == 0)
		atomic_store(&r->contend, 1);
	if (kind != WORK_PAGES)
		return ret;
	r->pages = mmap(NULL, WORK_PAGES_MOST * r->page, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->pages == MAP_FAILED) {
		r->pages = NULL;
		return tare_fail(err, errno, "no memory to touch: %s", strerror(errno));
	}
	madvise(r->pages, WORK_PAGES_MOST * r->page, MADV_NOHUGEPAGE);
	return 0;
}

static void leave(struct calibration *w, unsigned kind)
{
	struct real *r = (struct real *)w;

	if (kind != WORK_PAGES) {
		atomic_store(&r->contend, 0);
	} else if (r->pages) {
		munmap(r->pages, WORK_PAGES_MOST * r->page);
		r->pages = NULL;
	}
}

static void touch(volatile char *memory, uint64_t n, size_t page)
{
	for (uint64_t i = 0; i < n; i++)
		memory[i * page] = 1;
}

static void work(struct calibration *w, unsigned kind, uint64_t turns)
{
	struct real *r = (struct real *)w;

	if (kind == WORK_PAGES)
		touch(r->pages, turns, r->page);
	else
		kernel_at(kind)->run(turns, r->memory);
}

static uint64_t now_ns(struct calibration *w)
{
	(void)w;
	return clock_now_ns();
}

static bool is_own(void *with, int cpu)
{
	return cpu == *(const int *)with;
}

/* All interrupts of the CPU so far. */
static bool interrupts(struct calibration *w, uint64_t *out)
{
	char *text;
	bool known;

	*out = 0;
	if (file_read(NULL, "/proc/interrupts", INTERRUPTS_MOST, &text, NULL, NULL) < 0)
		return false;
	known = system_noise_interrupts(text, is_own, &w->cpu, out);
	free(text);
	return known;
}

int calibration_open(struct calibration **out, int cpu, struct tare_error *err)
{
	struct real *r = calloc(1, sizeof(*r));
	cpu_set_t one;

	*out = NULL;
	if (!r)
		return tare_fail_nomem(err);
	r->shop = (struct calibration){
		cpu < 0 ? sched_getcpu() : cpu, prepare, work, leave, now_ns, interrupts
	};
	r->page = (size_t)sysconf(_SC_PAGESIZE);
	r->memory = mmap(NULL, KERNEL_MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	if (r->memory == MAP_FAILED) {
		int ret = tare_fail(err, errno, "no memory to work in: %s", strerror(errno));

		free(r);
		return ret;
	}
	madvise(r->memory, KERNEL_MEMORY, MADV_NOHUGEPAGE);
	touch(r->memory, KERNEL_MEMORY / r->page, r->page);
	r->moved = sched_getaffinity(0, sizeof(r->before), &r->before) == 0;
	CPU_ZERO(&one);
	CPU_SET(r->shop.cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	*out = &r->shop;
	return 0;
}

void calibration_close(struct calibration *w)
{
	struct real *r = (struct real *)w;

	if (!r)
		return;
	atomic_store(&r->contend, -1);
	if (r->has_rival)
		pthread_join(r->rival, NULL);
	if (r->moved)
		sched_setaffinity(0, sizeof(r->before), &r->before);
	munmap(r->memory, KERNEL_MEMORY);
	free(r);
}

int work_count(struct calibration *w, const struct source *source, struct counters *c,
	       unsigned kind, uint64_t turns, struct work_counted *out, struct tare_error *err)
{
	uint64_t before, after, began;
	int ret;

	out->interrupts_known = w->interrupts(w, &before);
	began = w->now_ns(w);
	ret = source->read(c, out->before, err);
	if (ret < 0)
		return ret;
	w->work(w, kind, turns);
	ret = source->read(c, out->after, err);
	if (ret < 0)
		return ret;
	out->ns = w->now_ns(w) - began;
	out->interrupts_known &= w->interrupts(w, &after);
	out->interrupts = out->interrupts_known ? after - before : 0;
	return 0;
}
