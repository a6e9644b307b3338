/* SPDX-License-Identifier: MIT */
/*
 * Any bytes in the exact engine's shared state, which tare reads when the command has ended: each
 * reading refuses, or returns terminated texts and numbers within their limits.
 */
#include "exact_state.h"

/* A torn reading is repeated at once: nothing else writes here. */
static int no_sleep(unsigned us)
{
	(void)us;
	return 0;
}
#define usleep no_sleep
#include "exact/exact.c"
#undef usleep

enum { MOST = 64 };

static void read_lists(struct exact *x)
{
	struct exact_process p[MOST];
	struct exact_thread t[MOST];
	size_t n = exact_processes(x, p, MOST);

	for (size_t i = 0; i < n && i < MOST; i++)
		must(memchr(p[i].name, 0, sizeof p[i].name));
	exact_threads(x, t, MOST);
}

static void read_rest(struct exact *x)
{
	struct exact_partial partial;
	struct exact_slow slow;
	char program[24], path[GAINER_MAX];

	exact_partial(x, &partial);
	for (unsigned i = 0; i < partial.n && i < EXACT_UNCOUNTED_MAX; i++)
		must(memchr(partial.process[i].name, 0, sizeof partial.process[i].name) &&
		     memchr(partial.process[i].reason, 0, sizeof partial.process[i].reason));
	exact_slow(x, &slow);
	exact_clock_beyond(x);
	if (exact_isa_beyond(x, program))
		must(memchr(program, 0, sizeof program));
	exact_gainer(x, path, sizeof path);
	exact_stops(x);
}

static void read_profile(struct exact *x)
{
	struct exact_profile p = { 0 };
	struct tare_error err = TARE_ERROR_INIT;

	if (exact_profile(x, &p, &err) == 0)
		for (size_t i = 0; i < p.n_code; i++)
			must(p.code[i].module < p.n_modules);
	exact_profile_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct exact x = { .report_fd = -1, .image_fd = -1, .ended = true, .alone = true };
	int64_t counts[EXACT_CLASSES];
	struct tare_error err = TARE_ERROR_INIT;

	if (!n)
		return 0;
	state_reset();
	x.shared = state;
	x.shared_fd = state_fd;
	state_write(bytes + 1, n - 1);
	/* as if the supervisor had reported the same, so that the next checks are reached */
	if (bytes[0] & 1) {
		state->not_past = ~state->n_past;
		x.n_past = state->n_past;
		x.n_uncounted = state->n_uncounted;
		x.uncounted_hash = uncounted_hash(state, x.n_uncounted);
	}
	if (exact_counts(&x, counts, &err) < 0)
		must(err.what[0] && err.code > 0);
	read_lists(&x);
	read_rest(&x);
	if (bytes[0] & 2)
		read_profile(&x);
	return 0;
}
