/* SPDX-License-Identifier: MIT */
/*
 * Coroutines with separate stacks, each with its own stream of regions: one call before each
 * switch.
 *
 *	cc -O2 coroutines.c $(pkg-config --cflags --libs tare)
 *	tare regions -e wall-time -o coroutines.tare -- ./a.out
 *	tare summarize coroutines.tare
 */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <tare/fiber.h>
#include <tare/region.h>

TARE_REGION(request, "request");

enum { COROUTINES = 3, STEPS = 4, STACK = 65536 };

static struct coroutine {
	ucontext_t context;
	struct tare_fiber *fiber;
	unsigned long sum;
} all[COROUTINES];

static ucontext_t scheduler;

/* From a coroutine back to the scheduler, which runs on the thread's own stack. */
static void yield(struct coroutine *c)
{
	tare_region_switch(NULL);
	swapcontext(&c->context, &scheduler);
}

static void resume(struct coroutine *c)
{
	tare_region_switch(c->fiber);
	swapcontext(&scheduler, &c->context);
}

/* The region stays open across every yield, and is complete in the recording. */
static void handle_request(int which)
{
	struct coroutine *c = &all[which];

	tare_region_begin(&request);
	for (int step = 0; step < STEPS; step++) {
		for (int i = 0; i < 100000; i++)
			c->sum = c->sum * 6364136223846793005u + (unsigned long)which;
		yield(c);
	}
	tare_region_end(&request);
	yield(c); /* forever */
}

static int create(int which)
{
	struct coroutine *c = &all[which];
	char name[16];

	snprintf(name, sizeof(name), "request %d", which);
	c->fiber = tare_fiber_new(name);
	getcontext(&c->context);
	c->context.uc_stack.ss_sp = malloc(STACK);
	c->context.uc_stack.ss_size = STACK;
	if (!c->fiber || !c->context.uc_stack.ss_sp)
		return -1;
	makecontext(&c->context, (void (*)(void))handle_request, 1, which);
	return 0;
}

int main(void)
{
	unsigned long sum = 0;

	for (int i = 0; i < COROUTINES; i++)
		if (create(i) < 0)
			return 1;
	for (int step = 0; step <= STEPS; step++)
		for (int i = 0; i < COROUTINES; i++)
			resume(&all[i]);
	for (int i = 0; i < COROUTINES; i++) {
		sum += all[i].sum;
		tare_fiber_free(all[i].fiber);
		free(all[i].context.uc_stack.ss_sp);
	}
	printf("%lu\n", sum);
	return 0;
}
