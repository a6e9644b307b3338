/* SPDX-License-Identifier: MIT */
/*
 * Any bytes in the rings and lists of samples, which the command can overwrite while tare reads
 * them: the reader refuses, or returns samples within the limits of exact.h. The first bytes select
 * the events.
 */
#include "exact_state.h"
#include "exact/samples_read.h"

enum { CHOICES = 8 };

static int look(void *with, const struct exact_sample *s)
{
	uint64_t *sum = with;

	if (s->kind == EXACT_SAMPLE_MAPPING)
		must(s->path && strlen(s->path) < MODULE_PATH_MAX && s->start <= s->end);
	if (s->kind == EXACT_SAMPLE_PROGRAM || s->kind == EXACT_SAMPLE_NAME)
		must(s->name && strlen(s->name) < 24);
	if (s->kind != EXACT_SAMPLE)
		return 0;
	must(s->event < SAMPLE_EVENTS && s->n_chain <= SAMPLE_CHAIN_MAX &&
	     s->n_stack <= SAMPLE_STACK_MAX);
	for (size_t i = 0; i < s->n_chain; i++)
		*sum += s->chain[i];
	for (size_t i = 0; i < s->n_stack; i++)
		*sum += s->stack[i];
	for (int c = 0; c < EXACT_CLASSES; c++)
		*sum += s->adds[c] + (s->counts ? (uint64_t)s->counts[c] : 0);
	for (int i = 0; s->registers && i < SAMPLE_REGISTERS; i++)
		*sum += s->registers[i];
	return 0;
}

static void choose(struct every *e, const uint8_t *b)
{
	*e = (struct every){ .n_events = 1u + b[0] % SAMPLE_EVENTS,
			     .jitter = b[1] & 1,
			     .stack = b[1] & 2 ? SAMPLE_STACK_MAX : b[2],
			     .chain = b[1] & 4 ? SAMPLE_CHAIN_MAX : b[3] % SAMPLE_CHAIN_MAX,
			     .counts = !!(b[1] & 8),
			     .counts_once = !!(b[1] & 16),
			     .registers = !!(b[1] & 32),
			     .n_peek = b[4] % SAMPLE_PEEKS };
	for (uint32_t i = 0; i < e->n_events; i++)
		e->event[i] = (struct every_event){ .n = 1 + b[5],
						    .class = (b[6] + i) % EXACT_CLASSES };
	if (e->n_events == 1)
		e->first = b[7];
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct tare_error err = TARE_ERROR_INIT;
	int64_t total[EXACT_CLASSES] = { 0 };
	struct samples *samples = NULL;
	struct exact_clock clock = { 0 };
	struct every every;
	uint64_t sum = 0;
	struct samples_of of = { .every = &every, .clock = &clock };
	int ret;

	if (n < CHOICES)
		return 0;
	state_reset();
	choose(&every, bytes);
	state->every = every;
	exact_clock_begin(&clock);
	of.b = state;
	for (int round = 0; round < 2; round++) {
		const uint8_t *half = bytes + CHOICES + (round ? (n - CHOICES) / 2 : 0);

		state_write(half, round ? (size_t)(bytes + n - half) : (n - CHOICES) / 2);
		of.ended = round;
		ret = samples_give(&samples, &of, look, &sum, &err);
		must(ret <= 0);
		if (ret == 0)
			samples_add_up(samples, total);
	}
	free(samples);
	return 0;
}
