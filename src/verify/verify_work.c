/* SPDX-License-Identifier: MIT */
/*
 * A loop of two instructions at several lengths, including 1 iteration, so that the overhead is the
 * same for all; every other kernel at two lengths; and new pages, compared with touching the same
 * pages again. All are repeated several times, interleaved, so that a disturbance does not affect
 * only one kind of work.
 */
#include <errno.h>
#include "verify/verify_work.h"

enum {
	ROUNDS = 6,
	EACH_ROUNDS = 3
}; /* of the loop and the pages; of each other kernel: the first, the last and one in between */

static const uint64_t loop_turns[] = { 1, 1000, 20000, 400000, 2000000 };
static const uint64_t kernel_turns[] = { 100, 4000 }, call_turns[] = { 20, 400 };
static const uint64_t page_turns[] = { 16, 48 };

struct tallying {
	const struct source *source;
	struct counters *counters;
	struct calibration *shop;
	bool interrupts_known;
	struct verify_sample *out;
	int n;
};

static int count_one(struct tallying *t, unsigned kind, uint64_t turns, struct verify_sample *s,
		     struct tare_error *err)
{
	struct tare_reading a, b;
	struct work_counted c = { .before = &a, .after = &b };
	int ret = work_count(t->shop, t->source, t->counters, kind, turns, &c, err);

	if (ret < 0)
		return ret;
	*s = (struct verify_sample){ .length = turns,
				     .count = b.raw - a.raw,
				     .ns = c.ns,
				     .enabled_ns = b.enabled_ns - a.enabled_ns,
				     .running_ns = b.running_ns - a.running_ns,
				     .interrupts = c.interrupts,
				     .kind = kind };
	t->interrupts_known &= c.interrupts_known;
	return 0;
}

/*
 * New pages are counted and compared with the same ones touched again, which shows the other costs
 * of touching them.
 */
static void expect_of_pages(struct verify_sample *s, int class)
{
	s->expects = true;
	if (class == WORK_FAULTS) {
		s->expected = s->length;
		return;
	}
	s->expected = s->again;
	s->faults = s->length;
	s->by_itself = true;
}

void verify_expect(struct verify_sample *s, size_t n, int class)
{
	bool sure;

	for (size_t i = 0; i < n; i++) {
		s[i].expects = s[i].by_itself = false;
		s[i].expected = s[i].faults = s[i].syscalls = 0;
		if (class == WORK_UNKNOWN)
			continue;
		if (s[i].kind == WORK_PAGES) {
			expect_of_pages(&s[i], class);
			continue;
		}
		s[i].expected = work_retires(s[i].kind, (enum work_class) class, s[i].length,
					     &s[i].expects);
		s[i].syscalls = work_retires(s[i].kind, WORK_SYSCALLS, s[i].length, &sure);
	}
}

/* `turns` iterations, or new pages and then the same ones again. */
static int count_piece(struct tallying *t, unsigned kind, uint64_t turns, struct tare_error *err)
{
	struct verify_sample *s = &t->out[t->n], again = { 0 };
	int ret = count_one(t, kind, turns, s, err);

	if (ret == 0 && kind == WORK_PAGES)
		ret = count_one(t, kind, turns, &again, err);
	if (ret < 0)
		return ret;
	s->again = again.count;
	s->interrupts_again = again.interrupts;
	t->n++;
	return 0;
}

/* At each of its lengths. Anything unavailable here, such as a second CPU, is skipped. */
static int count_kind(struct tallying *t, unsigned kind, struct tare_error *err)
{
	const struct kernel *k = kernel_at(kind);
	const uint64_t *turns = !kind        ? loop_turns
		: !k                         ? page_turns
		: k->per_turn[WORK_SYSCALLS] ? call_turns
					     : kernel_turns;
	size_t n = kind ? 2 : sizeof(loop_turns) / sizeof(*loop_turns);
	struct tare_error why = TARE_ERROR_INIT;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < n; i++) {
		int ready = t->shop->prepare(t->shop, kind, &why);

		if (ready == -ENOTSUP)
			return 0;
		if (ready < 0)
			*err = why;
		ret = ready < 0 ? ready : count_piece(t, kind, turns[i], err);
		t->shop->leave(t->shop, kind);
	}
	return ret;
}

static int count_all(struct tallying *t, struct verify_sample *out, int rounds,
		     struct tare_error *err)
{
	int ret = 0;

	t->out = out;
	t->n = 0;
	for (int round = 0; ret == 0 && round < rounds; round++)
		for (unsigned kind = 0; ret == 0 && kind < WORK_KINDS; kind++)
			if (work_name(kind) &&
			    (!kind || kind == WORK_PAGES || round % (ROUNDS / 2) == 0 ||
			     round == ROUNDS - 1))
				ret = count_kind(t, kind, err);
	return ret;
}

static bool counted(const struct verify_sample *warm, int n, const struct verify_sample *s)
{
	for (int i = 0; i < n; i++)
		if (warm[i].kind == s->kind && warm[i].length == s->length && warm[i].count)
			return true;
	return false;
}

_Static_assert(VERIFY_SAMPLES_MOST >= ROUNDS * (5 + 2) + EACH_ROUNDS * 2 * KERNELS_MOST,
	       "room for all");

int verify_work(struct verify_sample *samples, const struct encoding *event, int class,
		const struct source *source, struct calibration *w, bool *interrupts_known,
		struct tare_error *err)
{
	const struct target on = { .cpu = -1, .cgroup_fd = -1 };
	struct tallying t = { .source = source, .shop = w, .interrupts_known = true };
	struct verify_sample warm[VERIFY_SAMPLES_MOST];
	int ret, n_warm;

	if (event->unavailable) {
		tare_fail(err, event->unavailable, "%s", event->why);
		tare_hint(err, "%s", event->remedy);
		return -event->unavailable;
	}
	ret = source->open(&t.counters, &event, 1, &on, NULL, err);
	if (ret < 0)
		return ret;
	ret = source->start(t.counters, err);
	if (ret == 0)
		ret = count_all(&t, warm, 1, err); /* our code and pages are then mapped */
	n_warm = t.n;
	if (ret == 0)
		ret = count_all(&t, samples, ROUNDS, err);
	source->close(t.counters);
	for (int i = 0; i < t.n; i++)
		samples[i].counted_before = counted(warm, n_warm, &samples[i]);
	verify_expect(samples, (size_t)t.n, class);
	*interrupts_known = t.interrupts_known;
	return ret < 0 ? ret : t.n;
}
