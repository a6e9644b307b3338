/* SPDX-License-Identifier: MIT */
/*
 * Runs the work on synthetic machines (tests/made_machine.h). In each machine one event has one
 * planted fault, or there is none. The verdict must be that fault, and no faulty event may be
 * called exact. Thousands of machines, the same ones each time.
 */
#include <stdio.h>
#include "verify/verify.h"
#include "made_machine.h"
#include "tap.h"

enum { MACHINES = 3000 };

/* The faults that can be planted in an event; each has a verdict to be found. */
static const enum verify_verdict faults[] = {
	VERIFY_EXACT,      VERIFY_FIXED, VERIFY_FAULTS, VERIFY_SYSCALLS, VERIFY_INTERRUPTS,
	VERIFY_SOME,       VERIFY_NOISY, VERIFY_UNDER,  VERIFY_FACTOR,   VERIFY_MULTIPLEXED,
	VERIFY_IMPOSSIBLE, VERIFY_WIDTH, VERIFY_FROZEN, VERIFY_DEAD,     VERIFY_UNTESTED,
};

static const enum work_class classes[] = { WORK_INSTRUCTIONS, WORK_BRANCHES, WORK_CONDITIONAL,
					   WORK_TAKEN,        WORK_LOADS,    WORK_STORES,
					   WORK_ATOMICS };

static uint64_t part(struct made *m, uint64_t below)
{
	return 1 + made_chance(m, below);
}

/* Returns what the event should count. */
static int plant(struct made *m, struct made_event *e, enum verify_verdict fault)
{
	enum work_class class = classes[made_chance(m, ARRAY_SIZE(classes))];

	/* These are visible only in long loops of two instructions, or only in atomics. */
	if (fault == VERIFY_FACTOR || fault == VERIFY_UNDER || fault == VERIFY_IMPOSSIBLE ||
	    fault == VERIFY_WIDTH || fault == VERIFY_NOISY)
		class = made_chance(m, 2) ? WORK_INSTRUCTIONS : WORK_BRANCHES;
	if (fault == VERIFY_SOME)
		class = WORK_ATOMICS;
	/* Processors differ in whether a system call is a branch, so it is not judged. */
	if (fault == VERIFY_SYSCALLS && (class == WORK_BRANCHES || class == WORK_TAKEN))
		class = WORK_INSTRUCTIONS;
	e->weight[class] = 1;
	if (fault != VERIFY_EXACT && fault != VERIFY_DEAD && fault != VERIFY_FACTOR &&
	    fault != VERIFY_UNDER && made_chance(m, 2))
		e->fixed = (unsigned)part(m, 300);
	switch (fault) {
	case VERIFY_FIXED:
		e->fixed = (unsigned)part(m, 300);
		break;
	case VERIFY_FAULTS:
		e->per_fault = (unsigned)part(m, 3);
		break;
	case VERIFY_SYSCALLS:
		e->per_syscall = (unsigned)part(m, 5);
		e->per_fault = (unsigned)made_chance(m, 2);
		break;
	case VERIFY_INTERRUPTS:
		e->per_interrupt = 1;
		e->per_fault = (unsigned)made_chance(m, 2);
		m->gap_ns = 50000 + made_chance(m, 500000);
		break;
	case VERIFY_SOME:
		e->replays = (unsigned)part(m, 3);
		break;
	case VERIFY_NOISY:
		e->noise = 0.001 * (double)part(m, 50);
		break;
	case VERIFY_UNDER:
		e->missed = (unsigned)part(m, 1000) + 20;
		break;
	case VERIFY_FACTOR:
		e->factor = made_chance(m, 2) ? 2 + (double)made_chance(m, 6)
					      : 0.1 + 0.1 * (double)made_chance(m, 8);
		break;
	case VERIFY_MULTIPLEXED:
		e->share = 0.01 * (double)part(m, 90);
		break;
	case VERIFY_IMPOSSIBLE:
		e->per_ns = 300 + (double)made_chance(m, 1000);
		break;
	case VERIFY_WIDTH:
		e->width = 12 + (unsigned)made_chance(m, 10);
		break;
	case VERIFY_FROZEN:
		e->frozen_after = 60 + part(m, 90); /* of about 200 samples */
		break;
	case VERIFY_DEAD:
		e->weight[class] = 0;
		break;
	case VERIFY_UNTESTED:
		e->weight[class] = 0;
		e->per_ns = 0.5 + 0.01 * (double)part(m, 400);
		return WORK_UNKNOWN;
	default:
		break;
	}
	return (int)class;
}

static struct verify_result judged(struct made *m, int class, int *n, struct tare_error *err)
{
	const struct encoding e = { .name = "it",
				    .attr = { .type = PERF_TYPE_RAW, .config = 0x10 },
				    .scale = 1 };
	struct verify_sample samples[VERIFY_SAMPLES_MOST];
	bool known;

	*n = verify_work(samples, &e, class, &source_made, &m->shop, &known, err);
	CHECK_EQ(m->opened, 0u, "closed again");
	CHECK_EQ(m->prepared, 0, "everything prepared is released");
	if (class == WORK_UNKNOWN)
		return verify_judge_any(samples, *n > 0 ? (size_t)*n : 0);
	return verify_judge(samples, *n > 0 ? (size_t)*n : 0);
}

TEST(every_planted_fault_is_found_and_nothing_else_blamed)
{
	unsigned said[VERIFY_VERDICTS][VERIFY_VERDICTS] = { { 0 } }, right = 0;

	for (unsigned i = 0; i < MACHINES; i++) {
		enum verify_verdict fault = faults[i % ARRAY_SIZE(faults)];
		struct made *m = made_new(i);
		struct made_event *e = made_add(m, 0x10, 0);
		struct tare_error err = TARE_ERROR_INIT;
		int n, class = plant(m, e, fault);
		struct verify_result r = judged(m, class, &n, &err);

		CHECK(n > 100, "machine %u: %d samples", i, n);
		said[fault][r.verdict]++;
		right += r.verdict == fault;
		if (verify_trusted(&r))
			CHECK(fault == VERIFY_EXACT || fault == VERIFY_FIXED,
			      "machine %u: %s is called %s", i, verify_names[fault],
			      verify_names[r.verdict]);
		if (r.verdict == fault && fault != VERIFY_DEAD && fault <= VERIFY_INTERRUPTS) {
			CHECK_EQ(r.fixed, (int64_t)e->fixed, "machine %u: fixed", i);
			CHECK_EQ(r.per_fault, (int64_t)e->per_fault, "machine %u: faults", i);
			CHECK_EQ(r.per_syscall, (int64_t)e->per_syscall, "machine %u: system calls",
				 i);
		}
		free(m);
	}
	for (unsigned i = 0; i < VERIFY_VERDICTS; i++)
		for (unsigned k = 0; k < VERIFY_VERDICTS; k++)
			if (said[i][k])
				printf("# planted %-18s found %-18s %u\n", verify_names[i],
				       verify_names[k], said[i][k]);
	printf("# right: %u of %u\n", right, (unsigned)MACHINES);
	CHECK(right * 1000 >= MACHINES * 999, "%u of %u", right, (unsigned)MACHINES);
}

/* Replays of locked instructions: exactly the two kinds of work that have them are named. */
TEST(replays_are_told_by_the_work_they_are_in)
{
	struct made *m = made_new(7);
	struct made_event *e = made_add(m, 0x10, 0);
	struct tare_error err = TARE_ERROR_INIT;
	struct text words = { 0 }, kinds = { 0 };
	struct verify_result r;
	int n;

	e->weight[WORK_ATOMICS] = 1;
	e->replays = 1;
	r = judged(m, WORK_ATOMICS, &n, &err);
	verify_name_kinds(&kinds, r.kinds);
	verify_words(&words, &r);
	CHECK(!strcmp(kinds.s, "atomics, contended"), "%s", kinds.s);
	CHECK(r.per_turn > 0.5 && r.per_turn < 4, "%g", r.per_turn);
	CHECK(strstr(words.s, "too many per iteration of atomics, contended; otherwise exact"),
	      "%s", words.s);
	text_free(&kinds);
	text_free(&words);
	free(m);
}

/* One unknown event for each class: it is found exact for that class and no other. */
TEST(what_an_unknown_event_counts_is_found)
{
	for (unsigned c = 0; c < WORK_CLASSES; c++) {
		struct made *m = made_new(c + 1);
		struct made_event *e = made_add(m, 0x10, 0);
		struct tare_error err = TARE_ERROR_INIT;
		struct verify_result r;
		bool any = c == WORK_FAULTS;
		int n;

		for (size_t i = 0; kernel_at(i); i++)
			any |= kernel_at(i)->per_turn[c] != 0;
		e->weight[c] = 1;
		e->fixed = c % 3;
		r = judged(m, WORK_UNKNOWN, &n, &err);
		if (any)
			CHECK(verify_trusted(&r) && r.as == (int)c, "%s: %s as %d",
			      work_class_names[c], verify_names[r.verdict], r.as);
		free(m);
	}
}

/* If interrupts cannot be counted, their effect is noise, and is not called exact. */
TEST(interrupts_that_nobody_tells_are_noise)
{
	struct made *m = made_new(11);
	struct made_event *e = made_add(m, 0x10, 0);
	struct tare_error err = TARE_ERROR_INIT;
	struct verify_result r;
	int n;

	e->weight[WORK_INSTRUCTIONS] = e->per_interrupt = 1;
	m->gap_ns = 100000;
	m->interrupts_hidden = true;
	r = judged(m, WORK_INSTRUCTIONS, &n, &err);
	CHECK(r.verdict == VERIFY_NOISY, "%s", verify_names[r.verdict]);
	free(m);
}

TEST(an_event_that_cannot_be_opened)
{
	struct made *m = made_new(1);
	struct tare_error err = TARE_ERROR_INIT;
	int n;

	made_add(m, 0x10, 0)->refused = true;
	judged(m, WORK_INSTRUCTIONS, &n, &err);
	CHECK_EQ(n, -EINVAL, "the reason is passed on");
	free(m);
}

/*
 * The calibration of this thread, counted by a PMU that returns nothing: each kind of work is done.
 */
TEST(the_real_workshop_does_all_of_it)
{
	const struct encoding e = { .name = "it",
				    .attr = { .type = PERF_TYPE_RAW, .config = 0x10 },
				    .scale = 1 };
	struct tare_error err = TARE_ERROR_INIT;
	struct verify_sample samples[VERIFY_SAMPLES_MOST];
	struct calibration *shop = NULL;
	bool known, seen[WORK_KINDS] = { false };
	int n = calibration_open(&shop, -1, &err);

	made_new(3);
	CHECK_EQ(n, 0, "%s", err.what);
	n = verify_work(samples, &e, WORK_INSTRUCTIONS, &source_made, shop, &known, &err);
	calibration_close(shop);
	for (int i = 0; i < n; i++)
		seen[samples[i].kind] = true;
	for (unsigned k = 0; k < WORK_KINDS; k++)
		CHECK(seen[k] || !work_name(k) || kernel_at(k)->contended, "%s", work_name(k));
	CHECK_EQ(samples[0].expected, 3u, "one turn and a return");
}

TEST_MAIN()
