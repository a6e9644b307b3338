/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/clock.h"
#include "base/signal_name.h"
#include "launch/exact_follow.h"
#include "launch/signals.h"

enum { LOOK_MS = 100 };

enum exact_class exact_class_of(const struct encoding *e)
{
	return (enum exact_class)e->attr.config;
}

size_t exact_leader(const struct encoding_list *list, size_t i)
{
	size_t at = 0;

	while (list->enc[at].group != list->enc[i].group)
		at++;
	return at;
}

bool exact_samples_event(const struct encoding_list *list, size_t i)
{
	return exact_leader(list, i) == i || !list->enc[i].sample_read;
}

/* The destination of samples, until it fails. */
struct handing {
	const struct exact_follow *plan;
	struct exact_followed *out;
	uint64_t begin_ns;
	int failed;
};

static void stop_handing(struct handing *h, int why)
{
	h->failed = why;
	h->out->wall_ns = clock_now_ns() - h->begin_ns;
}

static int each(void *with, const struct exact_sample *s)
{
	struct handing *h = with;
	int ret = h->failed ? 0 : h->plan->each(h->plan->with, s);

	if (ret >= 0 || !h->plan->goes_on || ret == -EPIPE)
		return ret;
	stop_handing(h, ret);
	return 0;
}

static int hand_over(struct handing *h, const struct follow *f, struct tare_error *err)
{
	struct tare_error also = TARE_ERROR_INIT;

	return launched_samples(&f->child, each, h, h->failed ? &also : err);
}

/* A signal to end the command is sent before its last samples are requested: it runs until then. */
static int wait_for_end(struct handing *h, struct follow *f, struct tare_error *err)
{
	const struct exact_follow *plan = h->plan;
	struct exact_followed *out = h->out;
	bool ending = false;
	int ret = 0;

	while (ret == 0 && !ending) {
		struct pollfd fds[2] = { { .fd = f->signals.fd, .events = POLLIN },
					 { .fd = follow_wake_fd(f), .events = POLLIN } };

		poll(fds, ARRAY_SIZE(fds), LOOK_MS);
		ending = follow_ended(f);
		ret = hand_over(h, f, err);
		if (ending)
			break;
		out->timed_out = plan->timeout_ns &&
			clock_now_ns() - h->begin_ns >= plan->timeout_ns;
		out->enough = ret == 0 && !h->failed && plan->enough && plan->enough(plan->with);
		ending = out->timed_out || out->enough;
		if (ending)
			launch_signal(f->plan->launcher, &f->child, SIGTERM);
		if (ending && plan->who.kills)
			grace_ask(&f->grace);
	}
	return ret;
}

static void look_for_uncounted(const struct follow *f, struct exact_followed *out)
{
	int64_t counts[EXACT_CLASSES];
	struct tare_error why = TARE_ERROR_INIT;

	int ret = launched_counts(&f->child, counts, &why);

	if (ret < 0)
		snprintf(out->uncounted, sizeof(out->uncounted), "%.199s", why.what);
	if (ret == -ENODATA)
		launched_partial(&f->child, &out->partial);
}

int exact_fail_uncounted(const char *uncounted, bool has_status, int wait_status,
			 struct tare_error *err)
{
	char by[SIGNAL_NAME_ROOM];

	tare_fail(err, ENODATA, "not all of the command was counted: %.199s", uncounted);
	if (has_status && WIFSIGNALED(wait_status))
		tare_hint(err, "the rest is there; the command was ended by %s",
			  signal_name(WTERMSIG(wait_status), by));
	else if (has_status)
		tare_hint(err, "the rest is there; the command ended with exit status %d",
			  WEXITSTATUS(wait_status));
	return -ENODATA;
}

int exact_follow(const struct exact_follow *plan, struct exact_followed *out,
		 struct tare_error *err)
{
	struct handing h = { .plan = plan, .out = out };
	struct follow f;
	int ret = follow_prepare(&f, &plan->who, err), late;

	*out = (struct exact_followed){ 0 };
	f.child.every = plan->every;
	f.child.profile = plan->mappings;
	if (ret == 0) {
		h.begin_ns = clock_now_ns();
		ret = follow_release(&f, err);
	}
	out->began = ret == 0;
	if (ret == 0)
		ret = wait_for_end(&h, &f, err);
	if (out->began) {
		struct tare_error also = TARE_ERROR_INIT;
		unsigned patience = f.asked_to_stop + SIGNALS_MEANT;

		/*
		 * The program waits while there is no room for samples, so they must be read for it
		 * to end.
		 */
		while (f.child.pid && f.asked_to_stop < patience) {
			struct pollfd fd = { .fd = follow_wake_fd(&f), .events = POLLIN };

			if (ret < 0)
				launch_signal(f.plan->launcher, &f.child, SIGTERM);
			poll(&fd, 1, LOOK_MS);
			follow_ended(&f);
			late = launched_samples(&f.child, each, &h, &also);
			if (late < 0 && ret == 0 && !h.failed) {
				ret = late;
				*err = also;
			}
		}
		if (!h.failed)
			out->wall_ns = clock_now_ns() - h.begin_ns;
		if (ret == 0)
			ret = hand_over(&h, &f, err);
		if (ret == 0 && !h.failed &&
		    plan->profile) /* first: where it finds no sum, there are no counts */
			launched_profile(&f.child, plan->profile, NULL);
		look_for_uncounted(&f, out);
		if (out->uncounted[0] && plan->profile)
			exact_profile_free(plan->profile);
		ret = ret < 0 ? ret : h.failed;
		out->went_on = h.failed && f.has_status && !out->timed_out;
	}
	out->exec_code = f.exec_code;
	out->by_signal = f.by_signal;
	out->has_status = f.has_status;
	out->wait_status = f.wait_status;
	out->never_began = f.child.never_began;
	follow_close(&f);
	return ret;
}
