/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include "verify/verify.h"

const char *const verify_names[VERIFY_VERDICTS] = {
	[VERIFY_UNAVAILABLE] = "unavailable",
	[VERIFY_EXACT] = "exact",
	[VERIFY_FIXED] = "exact-minus-fixed",
	[VERIFY_FAULTS] = "per-fault",
	[VERIFY_SYSCALLS] = "per-syscall",
	[VERIFY_INTERRUPTS] = "per-interrupt",
	[VERIFY_SOME] = "some-work",
	[VERIFY_NOISY] = "noisy",
	[VERIFY_UNDER] = "undercounts",
	[VERIFY_FACTOR] = "factor",
	[VERIFY_MULTIPLEXED] = "multiplexed",
	[VERIFY_IMPOSSIBLE] = "impossible",
	[VERIFY_WIDTH] = "wrong-width",
	[VERIFY_FROZEN] = "frozen",
	[VERIFY_DEAD] = "dead",
	[VERIFY_UNTESTED] = "untested",
};

enum {
	PER_NS_MOST = 100, /* events per ns: no processor does more */
	PER_INTERRUPT_MOST = 4,
	BACKWARDS = 60,    /* bits: a count this large has become negative */
	LONG = 10000,      /* expected: from here on a factor is visible */
	MOMENT_NS = 10000, /* shorter times are mostly the overhead of reading the clock */
};

#define FACTOR_LEAST 0.01 /* if further from 1 than this, and the same each time, it is a factor */
#define FACTOR_SAME  0.002

static int64_t over(const struct verify_sample *s)
{
	return (int64_t)(s->count - s->expected);
}

/* The overcount, less the overhead of each reading. */
static int64_t beyond(const struct verify_sample *s, int64_t fixed)
{
	return over(s) - (s->by_itself ? 0 : fixed);
}

/*
 * counted / expected, less the overhead of a reading: the smallest and the largest of the long
 * samples; false if there are none.
 */
static bool factors(const struct verify_sample *s, size_t n, int64_t fixed, double *low,
		    double *high)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		double f;

		if (!s[i].expects || s[i].expected < LONG)
			continue;
		f = ((double)s[i].count - (double)(fixed > 0 && !s[i].by_itself ? fixed : 0)) /
			(double)s[i].expected;
		if (!any || f < *low)
			*low = f;
		if (!any || f > *high)
			*high = f;
		any = true;
	}
	return any;
}

static bool went_backwards(const struct verify_sample *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i].count >> BACKWARDS)
			return true;
	return false;
}

static bool is_impossible(const struct verify_sample *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i].ns >= MOMENT_NS && s[i].count / PER_NS_MOST > s[i].ns)
			return true;
	return false;
}

/* The same work was counted before. */
static bool counted_once(const struct verify_sample *s, size_t i)
{
	if (s[i].counted_before)
		return true;
	for (size_t k = 0; k < i; k++)
		if (s[k].kind == s[i].kind && s[k].length == s[i].length && s[k].count)
			return true;
	return false;
}

/*
 * Zero from some sample on, though the event counted some of the same work before; samples are in
 * order of time.
 */
static bool is_frozen(const struct verify_sample *s, size_t n)
{
	size_t last = 0;

	for (size_t i = 0; i < n; i++)
		if (s[i].count)
			last = i;
	for (size_t i = last + 1; i < n; i++)
		if (s[i].expects && s[i].expected && counted_once(s, i))
			return true;
	return false;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/*
 * Uses the loop, which every nearly exact event counts correctly; without the loop, all kinds of
 * work.
 */
static bool tells_fixed(const struct verify_sample *s, size_t n, size_t i)
{
	for (size_t k = 0; s[i].kind && k < n; k++)
		if (!s[k].kind && s[k].expects)
			return false;
	return s[i].expects && !s[i].faults && !s[i].syscalls;
}

/*
 * The smallest overcount that occurs more than once among undisturbed samples; else the smallest.
 */
static int64_t find_fixed(const struct verify_sample *s, size_t n)
{
	int64_t *x = calloc(n, sizeof(*x)), found = 0;
	size_t m = 0;

	for (int pass = 0; x && !m && pass < 2; pass++)
		for (size_t i = 0; i < n; i++)
			if (tells_fixed(s, n, i) && (pass || !s[i].interrupts))
				x[m++] = over(&s[i]);
	if (m) {
		qsort(x, m, sizeof(*x), compare);
		found = x[0];
		for (size_t i = 0; i + 1 < m; i++)
			if (x[i] == x[i + 1]) {
				found = x[i];
				break;
			}
	}
	free(x);
	return found;
}

static uint64_t faults_of(const struct verify_sample *s)
{
	return s->faults;
}

static uint64_t syscalls_of(const struct verify_sample *s)
{
	return s->syscalls;
}

/* The overcount per fault, or per system call, as the median. */
static int64_t find_per(const struct verify_sample *s, size_t n, int64_t fixed,
			uint64_t (*causes)(const struct verify_sample *))
{
	int64_t *x = calloc(n, sizeof(*x)), found = 0;
	size_t m = 0;

	for (size_t i = 0; x && i < n; i++)
		if (s[i].expects && causes(&s[i])) {
			int64_t rest = beyond(&s[i], fixed), f = (int64_t)causes(&s[i]);

			x[m++] = rest >= 0 ? (rest + f / 2) / f : -((-rest + f / 2) / f);
		}
	if (m) {
		qsort(x, m, sizeof(*x), compare);
		found = x[m / 2];
	}
	free(x);
	return found;
}

/* The overcount that is not yet explained. */
static int64_t rest_of(const struct verify_sample *s, const struct verify_result *r)
{
	return beyond(s, r->fixed) - r->per_fault * (int64_t)s->faults -
		r->per_syscall * (int64_t)s->syscalls;
}

/*
 * The kinds of work, one bit each, for which an overcount per interrupt does not explain the rest.
 */
static uint32_t unexplained(const struct verify_sample *s, size_t n, const struct verify_result *r,
			    unsigned per_interrupt)
{
	uint32_t kinds = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t rest = rest_of(&s[i], r);

		/* The expected count may have been too high as well. */
		if (s[i].expects &&
		    (rest < -(int64_t)(s[i].interrupts_again * per_interrupt) ||
		     rest > (int64_t)(s[i].interrupts * per_interrupt)))
			kinds |= 1u << s[i].kind;
	}
	return kinds;
}

static uint32_t kinds_of(const struct verify_sample *s, size_t n)
{
	uint32_t kinds = 0;

	for (size_t i = 0; i < n; i++)
		kinds |= (uint32_t)s[i].expects << s[i].kind;
	return kinds;
}

static void measure_rest(const struct verify_sample *s, size_t n, struct verify_result *r)
{
	int64_t low = INT64_MAX, high = INT64_MIN;
	double sum = 0, turns = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t rest = rest_of(&s[i], r);

		if (!s[i].expects)
			continue;
		if (r->kinds >> s[i].kind & 1) {
			sum += (double)rest;
			turns += (double)s[i].length;
			continue;
		}
		r->interrupts += s[i].interrupts + s[i].interrupts_again;
		r->over += rest > 0 ? (uint64_t)rest : 0;
		low = rest < low ? rest : low;
		high = rest > high ? rest : high;
	}
	r->spread = high > low ? (uint64_t)(high - low) : 0;
	r->per_turn = turns > 0 ? sum / turns : 0;
}

/* Each long sample counts less than the work. */
static bool always_less(const struct verify_sample *s, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++)
		if (s[i].expects && s[i].expected >= LONG) {
			any = true;
			if (over(&s[i]) >= 0)
				return false;
		}
	return any;
}

/* Wrong for few kinds of work, and right for all others, including the loop. */
static bool is_some(uint32_t wrong, uint32_t all)
{
	return !(wrong & 1) && (all & 1) &&
		4 * __builtin_popcount(wrong) <= __builtin_popcount(all);
}

static enum verify_verdict of_excess(const struct verify_sample *s, size_t n,
				     struct verify_result *r)
{
	uint32_t wrong;

	r->per_fault = find_per(s, n, r->fixed, faults_of);
	r->per_syscall = find_per(s, n, r->fixed, syscalls_of);
	wrong = r->fixed < 0 ? UINT32_MAX : unexplained(s, n, r, PER_INTERRUPT_MOST);
	if (wrong && !is_some(wrong, kinds_of(s, n))) {
		measure_rest(s, n, r);
		r->per_fault = r->per_syscall = 0;
		return always_less(s, n) ? VERIFY_UNDER : VERIFY_NOISY;
	}
	r->kinds = wrong;
	measure_rest(s, n, r);
	while (unexplained(s, n, r, r->per_interrupt) & ~wrong)
		r->per_interrupt++;
	if (wrong)
		return VERIFY_SOME;
	return r->per_interrupt  ? VERIFY_INTERRUPTS
		: r->per_syscall ? VERIFY_SYSCALLS
		: r->per_fault   ? VERIFY_FAULTS
		: r->fixed       ? VERIFY_FIXED
				 : VERIFY_EXACT;
}

struct verify_result verify_judge(const struct verify_sample *s, size_t n)
{
	struct verify_result r = { .samples = n, .factor = 1, .share = 1, .as = WORK_UNKNOWN };
	uint64_t enabled = 0, running = 0, all = 0;
	bool expects = false, before = false;
	double low = 1, high = 1;

	r.fixed = find_fixed(s, n);
	for (size_t i = 0; i < n; i++) {
		enabled += s[i].enabled_ns;
		running += s[i].running_ns;
		all |= s[i].count;
		before |= s[i].counted_before;
		expects |= s[i].expects && s[i].expected;
	}
	if (!n || (enabled && !running))
		return r;
	if (enabled)
		r.share = (double)running / (double)enabled;
	if (went_backwards(s, n))
		r.verdict = VERIFY_WIDTH;
	else if (running < enabled)
		r.verdict = VERIFY_MULTIPLEXED;
	else if (!all)
		r.verdict = before ? VERIFY_FROZEN : VERIFY_DEAD;
	else if (is_impossible(s, n))
		r.verdict = VERIFY_IMPOSSIBLE;
	else if (!expects)
		r.verdict = VERIFY_UNTESTED;
	else if (is_frozen(s, n))
		r.verdict = VERIFY_FROZEN;
	else if (factors(s, n, r.fixed, &low, &high) && high - low < FACTOR_SAME * high &&
		 (low > 1 + FACTOR_LEAST || high < 1 - FACTOR_LEAST))
		r.verdict = VERIFY_FACTOR;
	else
		r.verdict = of_excess(s, n, &r);
	if (r.verdict == VERIFY_FACTOR || r.verdict == VERIFY_UNDER)
		r.factor = (low + high) / 2;
	return r;
}

struct verify_result verify_judge_any(struct verify_sample *s, size_t n)
{
	struct verify_result unknown = verify_judge(s, n), r;

	if (unknown.verdict != VERIFY_UNTESTED)
		return unknown;
	for (int class = 0; class < WORK_CLASSES; class ++) {
		verify_expect(s, n, class);
		r = verify_judge(s, n);
		if (verify_trusted(&r)) {
			r.as = class;
			return r;
		}
	}
	verify_expect(s, n, WORK_UNKNOWN);
	return unknown;
}

bool verify_trusted(const struct verify_result *r)
{
	return r->verdict == VERIFY_EXACT || r->verdict == VERIFY_FIXED;
}

/* " but for 2 too many for each page fault", if that is not the verdict itself. */
static void put_causes(struct text *out, const struct verify_result *r)
{
	if (r->per_syscall && r->verdict != VERIFY_SYSCALLS)
		text_add(out, ", but for %" PRId64 " too many for each system call",
			 r->per_syscall);
	if (r->per_fault && r->verdict != VERIFY_FAULTS)
		text_add(out, ", but for %" PRId64 " too many for each page fault", r->per_fault);
}

void verify_name_kinds(struct text *out, uint32_t kinds)
{
	for (unsigned k = 0; k < WORK_KINDS; k++)
		if (kinds >> k & 1)
			text_add(out, "%s%s", out->len ? ", " : "",
				 work_name(k) ? work_name(k) : "?");
}

static void put_some(struct text *out, const struct verify_result *r)
{
	struct text kinds = { 0 };

	verify_name_kinds(&kinds, r->kinds);
	text_add(out, "%.4g too %s per iteration of %s; otherwise exact",
		 r->per_turn < 0 ? -r->per_turn : r->per_turn, r->per_turn < 0 ? "few" : "many",
		 kinds.s ? kinds.s : "");
	text_free(&kinds);
}

static const char *as_what(const struct verify_result *r)
{
	return r->as == WORK_UNKNOWN ? "the work done" : work_class_names[r->as];
}

void verify_words(struct text *out, const struct verify_result *r)
{
	switch (r->verdict) {
	case VERIFY_EXACT:
		text_add(out, "each time %s%s",
			 r->as == WORK_UNKNOWN ? "exactly " : "the exact number of ", as_what(r));
		break;
	case VERIFY_FIXED:
		text_add(out, "exact after %" PRId64 " are subtracted, which each reading adds",
			 r->fixed);
		if (r->as != WORK_UNKNOWN)
			text_add(out, ": the exact number of %s", as_what(r));
		break;
	case VERIFY_FAULTS:
		text_add(out, "%" PRId64 " too many for each page fault; otherwise exact",
			 r->per_fault);
		break;
	case VERIFY_SYSCALLS:
		text_add(out, "%" PRId64 " too many for each system call; otherwise exact",
			 r->per_syscall);
		put_causes(out, r);
		break;
	case VERIFY_INTERRUPTS:
		text_add(out,
			 "%" PRIu64 " too many in total, with %" PRIu64
			 " interrupts during that time; otherwise exact",
			 r->over, r->interrupts);
		put_causes(out, r);
		break;
	case VERIFY_SOME:
		put_some(out, r);
		put_causes(out, r);
		break;
	case VERIFY_NOISY:
		text_add(out, "different each time, by up to %" PRIu64, r->spread);
		break;
	case VERIFY_UNDER:
		text_add(out, "too few: down to %.4f of the work", r->factor);
		break;
	case VERIFY_FACTOR:
		text_add(out, "%.4g times the work done", r->factor);
		break;
	case VERIFY_MULTIPLEXED:
		text_add(
			out,
			"on a counter for %.0f %% of the time: other events or the watchdog use the counters",
			100 * r->share);
		break;
	case VERIFY_IMPOSSIBLE:
		text_add(out, "more than any processor can do in that time");
		break;
	case VERIFY_WIDTH:
		text_add(out,
			 "it went backwards: tare or the kernel assumes a wrong counter width");
		break;
	case VERIFY_FROZEN:
		text_add(out, "it counted at first, then stopped");
		break;
	case VERIFY_DEAD:
		text_add(out, "always 0");
		break;
	case VERIFY_UNTESTED:
		text_add(out,
			 r->idle ? "0: the work done here does not cause it"
				 : "it counts, but the correct count is unknown");
		break;
	default:
		text_add(out, "it could not be read");
		break;
	}
}
