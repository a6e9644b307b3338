/* SPDX-License-Identifier: MIT */
/*
 * Two coroutines with separate stacks, with regions that are open across switches and loops of a
 * known number of instructions.
 *
 *	fibers ROUNDS A B [hop]
 *
 * Each round of each coroutine: region, half of its loop, a switch, the other half, end. hop:
 * resumes alternate between two threads.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include "tare/fiber.h"
#include "tare/region.h"

TARE_REGION(loop, "loop");
TARE_REGION(part, "part");
TARE_REGION(whole, "whole");

enum { N = 2, STACK = 65536 };

struct coroutine {
	ucontext_t here;
	struct tare_fiber *fiber;
	unsigned long rounds, iterations;
	bool done;
};

static struct coroutine co[N];
static ucontext_t resumer;

/* Two instructions for each iteration. */
static __attribute__((noinline)) void spin(unsigned long n)
{
#if defined(__x86_64__)
	__asm__ volatile("1: sub $1, %0; jnz 1b" : "+r"(n) : : "cc");
#else
	__asm__ volatile("1: subs %0, %0, #1; b.ne 1b" : "+r"(n) : : "cc");
#endif
}

/*
 * Not inlined: after a switch to another thread, a function must not keep the address of a
 * thread-local variable.
 */
static __attribute__((noinline)) void begin(struct tare_region *r)
{
	tare_region_begin(r);
}

static __attribute__((noinline)) void end(struct tare_region *r)
{
	tare_region_end(r);
}

static void yield(struct coroutine *c)
{
	tare_region_switch(NULL);
	swapcontext(&c->here, &resumer);
}

static void run(int which)
{
	struct coroutine *c = &co[which];

	for (unsigned long i = 0; i < c->rounds; i++) {
		begin(&loop);
		begin(&part);
		spin(c->iterations);
		yield(c);
		end(&part);
		spin(c->iterations);
		end(&loop);
	}
	c->done = true;
	tare_region_switch(NULL);
	swapcontext(&c->here, &resumer);
}

static void *resume(void *coroutine)
{
	struct coroutine *c = coroutine;

	tare_region_switch(c->fiber);
	swapcontext(&resumer, &c->here);
	return NULL;
}

static int resume_on_other(struct coroutine *c)
{
	pthread_t thread;
	int ret = pthread_create(&thread, NULL, resume, c);

	if (ret == 0)
		ret = pthread_join(thread, NULL);
	return ret;
}

/* A separate function, because getcontext() may return twice. */
static bool make(int which, unsigned long rounds, unsigned long iterations)
{
	struct coroutine *c = &co[which];
	char name[] = { (char)('A' + which), '\0' };

	c->fiber = tare_fiber_new(name);
	c->rounds = rounds;
	c->iterations = iterations;
	getcontext(&c->here);
	c->here.uc_stack.ss_sp = malloc(STACK);
	c->here.uc_stack.ss_size = STACK;
	if (!c->fiber || !c->here.uc_stack.ss_sp)
		return false;
	makecontext(&c->here, (void (*)(void))run, 1, which);
	return true;
}

int main(int argc, char **argv)
{
	bool hop = argc > 4 && !strcmp(argv[4], "hop");
	int ret = 0;

	if (argc < 4)
		return 2;
	for (int i = 0; i < N; i++)
		if (!make(i, strtoul(argv[1], NULL, 10), strtoul(argv[2 + i], NULL, 10)))
			return 1;
	begin(&whole);
	for (unsigned long i = 0; ret == 0 && !(co[0].done && co[1].done); i++) {
		for (int k = 0; k < N; k++) {
			if (co[k].done)
				continue;
			if (hop && i % 2)
				ret = resume_on_other(&co[k]);
			else
				resume(&co[k]);
		}
	}
	end(&whole);
	for (int i = 0; i < N; i++) {
		tare_fiber_free(co[i].fiber);
		free(co[i].here.uc_stack.ss_sp);
	}
	return ret != 0;
}
