/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include "base/signal_name.h"
#include "output/escape.h"
#include "count/partial.h"
#include "sample/record_view.h"

/* Below it an event was multiplexed; above it, it was enabled slightly after its clock. */
#define SHARE_WHOLE 0.99

static uint64_t samples_of(const struct sample_outcome *o)
{
	uint64_t n = 0;

	for (size_t i = 0; i < o->n_events; i++)
		n += o->event[i].samples;
	return n;
}

static void put_size(struct text *out, uint64_t bytes)
{
	if (bytes >= 1 << 20)
		text_add(out, "%.1f MiB", (double)bytes / (1 << 20));
	else
		text_add(out, "%.1f KiB", (double)bytes / 1024);
}

/* Event, period or frequency, number of samples. */
static void put_exact(struct text *out, const struct sample_outcome *o,
		      const struct sample_tally *t, const struct style *s)
{
	uint64_t period = t->period ? t->period : o->period;

	text_add(out, "  by the exact engine: every ");
	if (period == 1)
		text_add(out, "one");
	else
		put_count(out, s, period);
	text_add(out, "%s of %s", o->jitter && period > 1 ? " on average" : "", t->name);
	if (!t->total_unknown) {
		text_add(out, "; ");
		put_count(out, s, t->total.value);
		text_add(out, " in total%s",
			 o->large_enough ? " to the command's end"
					 : ""); /* it ran on when the file was full */
	}
	text_add(out, "\n");
}

static void put_careful(struct text *out, const struct style *s, const char *words)
{
	text_add(out, "  %s%s%s\n", ink_on(s, INK_CAREFUL), words, ink_off(s));
}

static double lost_points(const struct sample_outcome *o, uint64_t samples)
{
	return o->lost ? 100.0 * (double)o->lost / (double)(o->lost + samples) : 0;
}

/* Records missing from the file, and their effect on a share of the total. */
static void put_loss(struct text *out, const struct sample_outcome *o, uint64_t samples,
		     bool of_several, const struct style *s)
{
	if (o->lost) {
		text_add(out, "  %s", ink_on(s, INK_BAD));
		put_count(out, s, o->lost);
		text_add(out, " records lost because the buffer was full");
		if (samples) {
			text_add(out, ": ");
			put_percent(out, lost_points(o, samples));
			text_add(out,
				 " of all%s; if mappings are among them, code there has no names",
				 of_several ? "" : ", so a share may be wrong by as many points");
		}
		text_add(out, "%s\n  -m gives a larger buffer (now ", ink_off(s));
		put_size(out, o->rings.largest);
		text_add(out, " per CPU%s), -F or -c take fewer samples\n",
			 o->rings.limited ? ", the limit: kernel.perf_event_mlock_kb" : "");
	}
	if (o->throttled) {
		text_add(out, "  %s", ink_on(s, INK_BAD));
		put_count(out, s, o->throttled);
		text_add(
			out,
			" times the kernel paused sampling because it took too much time%s\n"
			"  -F or -c take fewer samples; kernel.perf_cpu_time_max_percent is the limit\n",
			ink_off(s));
	}
}

/* If more than this fraction of a clock's time is in no sample, it is reported. */
#define SHARE_MISSED 0.1

/*
 * If taking a sample takes longer than the time to the next one, the kernel's timer skips that one.
 * Each thread may end, and each counter be read, before its next sample is due: that time is in no
 * sample, either.
 */
static void put_missed(struct text *out, const struct sample_outcome *o,
		       const struct sample_tally *t, const struct style *s)
{
	uint64_t in_samples = t->period_sum, all = t->total.value,
		 each = t->samples ? in_samples / t->samples : 0;
	uint64_t found = in_samples + o->lost * each; /* nearly all lost records are samples */

	if (!t->clock || t->share < SHARE_WHOLE || o->throttled || o->broke_off || !each ||
	    all <= found || (double)(all - found) <= SHARE_MISSED * (double)all ||
	    all - found <= (o->forks + o->rings.n) * each)
		return;
	text_add(out, "  %sthe samples represent only ", ink_on(s, INK_CAREFUL));
	put_time(out, s, in_samples);
	text_add(out, " of ");
	put_time(out, s, all);
	text_add(out, " of CPU time: the timer was too slow for one every ");
	put_time(out, s, each);
	text_add(
		out,
		"%s\n  amounts are too small by the rest, and sampling may have taken as much of the command's time; -F or -c take fewer\n",
		ink_off(s));
}

/* AUX data and its losses: the number of lost samples is unknown. */
static void put_aux(struct text *out, const struct sample_outcome *o, bool loss_only,
		    const struct style *s)
{
	const struct {
		uint64_t n;
		const char *what;
	} rows[] = {
		{ o->aux_full,
		  "times the AUX area was full and samples were lost: -m SIZE,AUX gives a larger one, -c takes fewer samples" },
		{ o->aux_gaps, "times the hardware reported gaps" },
		{ o->aux_collided,
		  "times operations were skipped because the previous sampled one took too long: -c takes fewer samples" },
	};
	bool whole = true;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!rows[i].n)
			continue;
		whole = false;
		text_add(out, "  %s", ink_on(s, INK_BAD));
		put_count(out, s, rows[i].n);
		text_add(out, " %s%s\n", rows[i].what, ink_off(s));
	}
	if (o->aux_full) {
		text_add(out, "  an AUX area now has ");
		put_size(out, o->rings.aux);
		text_add(out, " per CPU\n");
	}
	if (loss_only)
		return;
	if (!o->aux_bytes)
		put_careful(
			out, s,
			"the hardware wrote nothing: the command was too short, or -c must be smaller");
	else if (whole && !o->lost)
		text_add(out, "  none lost, according to the kernel\n");
}

/*
 * Events with samples of their own: a member is read with its leader, and the dummy is only there
 * for the kernel's side-band records.
 */
static bool sampled(const struct sample_tally *t)
{
	return !t->member && strcmp(t->name, "dummy:u");
}

/* A sample for each occurrence, and none is missing: shares have no sampling error. */
static bool is_census(const struct sample_outcome *o, const struct sample_tally *t)
{
	return t->samples && t->period_sum == t->samples && t->total.value == t->samples &&
		t->share >= SHARE_WHOLE && !o->lost && !o->throttled;
}

/*
 * The accuracy of a share of one event's samples: half the width of the 95 % interval for a share
 * of 10 %, by the normal approximation. In addition, all missing samples may have been of that
 * event and of one place.
 */
static void put_confidence(struct text *out, const struct sample_outcome *o,
			   const struct sample_tally *t, const struct style *s)
{
	const double share = 0.1, z = 1.96;
	double chance = 100 * z * sqrt(share * (1 - share) / (double)t->samples),
	       points = chance + lost_points(o, t->samples);

	if (is_census(o, t))
		text_add(out, "every event was sampled, so shares are exact\n");
	else if (points < 10)
		text_add(out, "a share of 10 %% is known to %s %.*f points (95 %%)%s\n",
			 s->utf8 ? "\u00b1" : "+-", points < 1 ? 2 : 1, points,
			 o->exact && !o->jitter && o->period > 1
				 ? " unless a loop is in step with the fixed period"
				 : "");
	else
		text_add(out, "too %s to estimate shares\n", chance < 10 ? "many missing" : "few");
}

/* For several events, each has the accuracy given by its own number of samples. */
static void put_event(struct text *out, const struct sample_outcome *o,
		      const struct sample_tally *t, bool of_several, const struct style *s)
{
	text_add(out, "  ");
	put_count(out, s, t->samples);
	text_add(out, " of %s", t->name);
	if (t->share < SHARE_WHOLE) {
		text_add(out, ", which was on the PMU ");
		put_percent(out, 100 * t->share);
		text_add(out, " of the time");
	}
	if (of_several && t->samples) {
		text_add(out, ": ");
		put_confidence(out, o, t, s);
	} else {
		text_add(out, "\n");
	}
}

/* `only`: the one event with samples; NULL: several have samples. */
static void put_whole(struct text *out, const struct sample_outcome *o,
		      const struct sample_tally *only, const struct style *s)
{
	const char *whole = NULL;

	if (o->uncounted[0])
		whole = "not all of the command";
	else if (o->exact && !o->broke_off && !o->timed_out && !o->large_enough)
		whole = "the same in every run of a deterministic program";
	else if (o->broke_off)
		whole = "the recording broke off: later samples are missing";
	else if (!o->lost && !o->throttled)
		whole = "none lost";
	if (!whole && !only)
		return;
	text_add(out, "  %s%s", whole ? whole : "", !only ? "\n" : whole ? "; " : "");
	if (only)
		put_confidence(out, o, only, s);
}

/* Processes that were not recorded to their end, and why. */
static void put_partial(struct text *out, const struct sample_outcome *o, const struct style *s)
{
	struct text words = { 0 };

	for (unsigned i = 0; partial_sentence(&words, &o->partial, i); i++) {
		put_careful(out, s, words.failed ? "" : words.s);
		text_free(&words);
	}
}

static void put_went_on(struct text *out, const struct sample_outcome *o)
{
	char by[SIGNAL_NAME_ROOM];

	if (WIFSIGNALED(o->wait_status))
		text_add(out, "  the command continued unrecorded until %s ended it\n",
			 signal_name(WTERMSIG(o->wait_status), by));
	else
		text_add(out, "  the command continued unrecorded and ended with exit status %d\n",
			 WEXITSTATUS(o->wait_status));
}

static void put_never_began(struct text *out, const struct sample_outcome *o, const struct style *s)
{
	char by[SIGNAL_NAME_ROOM];

	text_add(out, "  %sthe command was ended by %s before its first instruction%s\n",
		 ink_on(s, INK_CAREFUL), signal_name(WTERMSIG(o->wait_status), by), ink_off(s));
}

void record_view(struct text *out, const struct sample_outcome *o, const char *file,
		 uint64_t file_bytes, bool loss_only, const struct style *s)
{
	uint64_t samples = samples_of(o);
	const struct sample_tally *only = NULL;
	size_t n_sampled = 0;
	struct text name = { 0 };

	escape(&name, file ? file : "standard output", strlen(file ? file : "standard output"));
	if (!loss_only || o->lost || o->throttled || o->aux_full || o->aux_gaps ||
	    o->aux_collided) {
		text_add(out, "tare record: ");
		if (samples || !o->aux) {
			put_count(out, s, samples);
			text_add(out, " sample%s%s ", samples == 1 ? "" : "s",
				 o->aux ? " and" : "");
		}
		if (o->aux) {
			put_size(out, o->aux_bytes);
			text_add(out, " of AUX data ");
		}
		text_add(out, "in ");
		put_time(out, s, o->wall_ns);
		if (samples || o->aux_bytes || !o->broke_off) {
			text_add(out, ": %s (", name.s ? name.s : "?");
			put_size(out, file_bytes);
			text_add(out, ")");
		}
		text_add(out, "\n");
	}
	text_free(&name);
	for (size_t i = 0; i < o->n_events; i++)
		if (sampled(&o->event[i]) && n_sampled++ == 0)
			only = &o->event[i];
	if (n_sampled > 1)
		only = NULL;
	for (size_t i = 0; !loss_only && i < o->n_events; i++)
		if (sampled(&o->event[i]) && (!only || o->event[i].share < SHARE_WHOLE))
			put_event(out, o, &o->event[i], !only, s);
	for (size_t i = 0; !loss_only && o->exact && i < o->n_events; i++)
		if (sampled(&o->event[i]))
			put_exact(out, o, &o->event[i], s);
	put_loss(out, o, samples, !only, s);
	for (size_t i = 0; !loss_only && i < o->n_events; i++)
		put_missed(out, o, &o->event[i], s);
	if (o->aux)
		put_aux(out, o, loss_only, s);
	if (o->went_on)
		put_went_on(out, o);
	if (loss_only)
		return;
	if (o->never_began)
		put_never_began(out, o, s);
	else if (samples)
		put_whole(out, o, only, s);
	else if (o->broke_off)
		put_careful(
			out, s,
			"the recording broke off before its first sample was in a file: nothing was saved");
	else if (!o->lost && !o->aux)
		put_careful(
			out, s,
			"the event did not happen often enough for one sample: -c must be smaller");
	put_partial(out, o, s);
	if (samples && o->accesses)
		text_add(
			out,
			"  cache hits, data sources and latencies need hardware that records them\n");
	if (o->large_enough)
		put_careful(out, s, "ended at --max-size: later samples are missing");
	if (o->kernel_left_out)
		put_careful(
			out, s,
			"user mode only: this user may not sample the kernel ('tare doctor' says more)");
	if (o->kernel_unplaced)
		put_careful(
			out, s,
			"the kernel's functions have no names: kernel.kptr_restrict hides its addresses");
	if (o->groups_of_children)
		put_careful(
			out, s,
			"groups are read (:S) in each thread from 0: perf report --group may treat them as one series, tare "
			"report does not; -i records the first thread only");
	if (o->children_left_out)
		put_careful(
			out, s,
			"the first thread only: in children, groups are read (:S) from Linux 6.12 on");
}
