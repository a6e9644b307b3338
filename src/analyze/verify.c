/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include "analyze/verify.h"

const char *const verify_names[VERIFY_VERDICTS] = {
	[VERIFY_UNAVAILABLE] = "unavailable", [VERIFY_EXACT] = "exact",		    [VERIFY_FIXED] = "exact-minus-fixed",
	[VERIFY_FAULTS] = "per-fault",	      [VERIFY_INTERRUPTS] = "per-interrupt", [VERIFY_NOISY] = "noisy",
	[VERIFY_UNDER] = "undercounts",	      [VERIFY_FACTOR] = "factor",	    [VERIFY_MULTIPLEXED] = "multiplexed",
	[VERIFY_IMPOSSIBLE] = "impossible",   [VERIFY_WIDTH] = "wrong-width",	    [VERIFY_FROZEN] = "frozen",
	[VERIFY_DEAD] = "dead",		      [VERIFY_UNTESTED] = "untested",
};

enum {
	PER_NS_MOST = 100,	/* events: no processor does more */
	PER_INTERRUPT_MOST = 4,
	BACKWARDS = 60,		/* bits: a count so large has gone below 0 */
	LONG = 10000,		/* expected: from here on a factor shows */
	MOMENT_NS = 10000,	/* shorter times are mostly the clock's own */
};

#define FACTOR_LEAST 0.01 /* further from 1 than this is a factor, if it is the same each time */
#define FACTOR_SAME 0.002

static int64_t over(const struct verify_sample *s)
{
	return (int64_t)(s->count - s->expected);
}

/* Too many, with what each reading adds taken off. */
static int64_t beyond(const struct verify_sample *s, int64_t fixed)
{
	return over(s) - (s->by_itself ? 0 : fixed);
}

/* counted / expected, the smallest and the largest of the long ones; false when there are none. */
static bool factors(const struct verify_sample *s, size_t n, double *low, double *high)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		double f;

		if (!s[i].expects || s[i].expected < LONG)
			continue;
		f = (double)s[i].count / (double)s[i].expected;
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

/* Zero from some sample on, though there was work; samples are in the order in which they were taken. */
static bool is_frozen(const struct verify_sample *s, size_t n)
{
	size_t last = 0, behind = 0;

	for (size_t i = 0; i < n; i++)
		if (s[i].count)
			last = i;
	for (size_t i = last + 1; i < n; i++)
		behind += s[i].expects && s[i].expected > 0;
	return behind > n / 4;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The smallest excess that comes more than once among samples that nothing disturbed; else the smallest there is. */
static int64_t find_fixed(const struct verify_sample *s, size_t n)
{
	int64_t *x = calloc(n, sizeof(*x)), found = 0;
	size_t m = 0;

	for (int pass = 0; x && !m && pass < 2; pass++)
		for (size_t i = 0; i < n; i++)
			if (s[i].expects && !s[i].faults && (pass || !s[i].interrupts))
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

/* As many too many for each fault, by the median. */
static int64_t find_per_fault(const struct verify_sample *s, size_t n, int64_t fixed)
{
	int64_t *x = calloc(n, sizeof(*x)), found = 0;
	size_t m = 0;

	for (size_t i = 0; x && i < n; i++)
		if (s[i].expects && s[i].faults) {
			int64_t rest = beyond(&s[i], fixed), f = (int64_t)s[i].faults;

			x[m++] = rest >= 0 ? (rest + f / 2) / f : -((-rest + f / 2) / f);
		}
	if (m) {
		qsort(x, m, sizeof(*x), compare);
		found = x[m / 2];
	}
	free(x);
	return found;
}

static bool explained(const struct verify_sample *s, size_t n, const struct verify_result *r, unsigned per_interrupt)
{
	for (size_t i = 0; i < n; i++) {
		int64_t rest = beyond(&s[i], r->fixed) - r->per_fault * (int64_t)s[i].faults;

		if (s[i].expects && (rest < 0 || (uint64_t)rest > s[i].interrupts * per_interrupt))
			return false;
	}
	return true;
}

static void measure_rest(const struct verify_sample *s, size_t n, struct verify_result *r)
{
	int64_t low = INT64_MAX, high = INT64_MIN;

	for (size_t i = 0; i < n; i++) {
		int64_t rest = beyond(&s[i], r->fixed) - r->per_fault * (int64_t)s[i].faults;

		if (!s[i].expects)
			continue;
		r->interrupts += s[i].interrupts;
		r->over += rest > 0 ? (uint64_t)rest : 0;
		low = rest < low ? rest : low;
		high = rest > high ? rest : high;
	}
	r->spread = high > low ? (uint64_t)(high - low) : 0;
}

/* Each long sample has fewer than the work was. */
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

static enum verify_verdict of_excess(const struct verify_sample *s, size_t n, struct verify_result *r)
{
	r->fixed = find_fixed(s, n);
	r->per_fault = find_per_fault(s, n, r->fixed);
	measure_rest(s, n, r);
	for (unsigned k = 0; k <= PER_INTERRUPT_MOST; k++)
		if (r->fixed >= 0 && explained(s, n, r, k)) {
			r->per_interrupt = k;
			return k ? VERIFY_INTERRUPTS : r->per_fault ? VERIFY_FAULTS : r->fixed ? VERIFY_FIXED : VERIFY_EXACT;
		}
	r->per_fault = 0;
	return always_less(s, n) ? VERIFY_UNDER : VERIFY_NOISY;
}

struct verify_result verify_judge(const struct verify_sample *s, size_t n)
{
	struct verify_result r = { .samples = n, .factor = 1, .share = 1 };
	uint64_t enabled = 0, running = 0, all = 0;
	bool expects = false;
	double low = 1, high = 1;

	for (size_t i = 0; i < n; i++) {
		enabled += s[i].enabled_ns;
		running += s[i].running_ns;
		all |= s[i].count;
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
		r.verdict = VERIFY_DEAD;
	else if (is_impossible(s, n))
		r.verdict = VERIFY_IMPOSSIBLE;
	else if (!expects)
		r.verdict = VERIFY_UNTESTED;
	else if (is_frozen(s, n))
		r.verdict = VERIFY_FROZEN;
	else if (factors(s, n, &low, &high) && high - low < FACTOR_SAME * high &&
		 (low > 1 + FACTOR_LEAST || high < 1 - FACTOR_LEAST))
		r.verdict = VERIFY_FACTOR;
	else
		r.verdict = of_excess(s, n, &r);
	if (r.verdict == VERIFY_FACTOR || r.verdict == VERIFY_UNDER)
		r.factor = (low + high) / 2;
	return r;
}

bool verify_trusted(const struct verify_result *r)
{
	return r->verdict == VERIFY_EXACT || r->verdict == VERIFY_FIXED;
}

void verify_words(struct text *out, const struct verify_result *r)
{
	switch (r->verdict) {
	case VERIFY_EXACT:
		text_add(out, "each time what the work was");
		break;
	case VERIFY_FIXED:
		text_add(out, "exact after %" PRId64 " are taken off, which each reading adds", r->fixed);
		break;
	case VERIFY_FAULTS:
		text_add(out, "%" PRId64 " too many for each page fault; else exact", r->per_fault);
		break;
	case VERIFY_INTERRUPTS:
		text_add(out, "%" PRIu64 " too many in all, with %" PRIu64 " interrupts meanwhile; else exact", r->over, r->interrupts);
		if (r->per_fault)
			text_add(out, " but for %" PRId64 " too many for each page fault", r->per_fault);
		break;
	case VERIFY_NOISY:
		text_add(out, "different each time, by up to %" PRIu64, r->spread);
		break;
	case VERIFY_UNDER:
		text_add(out, "too few: down to %.4f of the work", r->factor);
		break;
	case VERIFY_FACTOR:
		text_add(out, "%.4g times what the work was", r->factor);
		break;
	case VERIFY_MULTIPLEXED:
		text_add(out, "on a counter for %.0f %% of the time: other events, or the watchdog, hold counters", 100 * r->share);
		break;
	case VERIFY_IMPOSSIBLE:
		text_add(out, "more than any processor does in that time");
		break;
	case VERIFY_WIDTH:
		text_add(out, "it went backwards: its number of bits is taken for another");
		break;
	case VERIFY_FROZEN:
		text_add(out, "it counted at first, and then no more");
		break;
	case VERIFY_DEAD:
		text_add(out, "0, whatever was done");
		break;
	case VERIFY_UNTESTED:
		text_add(out, "it moves; what it should count is not known here");
		break;
	default:
		text_add(out, "it could not be read");
		break;
	}
}
