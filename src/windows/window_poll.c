/* SPDX-License-Identifier: MIT */
/*
 * Windows by a timer: tare reads the counters of the whole command at an interval. There are no
 * interrupts or samples in the program, but the length of windows varies, and threads are not
 * distinguished.
 */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/path.h"
#include "stat/stat.h"
#include "windows/window.h"

struct poll {
	struct sink sink;
	const struct window_plan *plan;
	struct window_sink *to;
	struct window_end *end;
	uint64_t *now, *before, *value; /* per event */
	uint64_t begin, time_ns, origin_ns;
	bool told;
	bool apart; /* the next row's counts do not begin at its time */
};

static int tell(struct poll *p, struct tare_error *err)
{
	const char *name = p->plan->argv ? p->plan->argv[0] : "";
	const struct window_thread t = { .comm = path_base(name) };

	p->told = true;
	return p->to->thread(p->to, &t, err);
}

static int put_row(struct poll *p, uint64_t time_ns, bool rest, struct tare_error *err)
{
	struct window w = { .begin = p->begin,
			    .time_ns = p->origin_ns + time_ns,
			    .wall_ns = time_ns > p->time_ns && !p->apart ? time_ns - p->time_ns : 0,
			    .cpu = -1,
			    .rest = rest,
			    .value = p->value };
	size_t n = p->plan->events->n;
	bool any = false;
	int ret = 0;

	if (time_ns < p->plan->delay_ns) /* counting has not begun */
		return 0;
	p->apart = false;
	if (!p->told)
		ret = tell(p, err);
	for (size_t i = 0; i < n; i++) {
		p->value[i] = p->now[i] - p->before[i];
		any |= p->value[i] > 0;
		p->before[i] = p->now[i];
		p->now[i] = 0;
	}
	p->begin += p->value[0];
	p->time_ns = time_ns;
	if (ret == 0 && (any || !rest))
		ret = p->to->window(p->to, &w, err);
	return ret;
}

static int put_fact(struct sink *self, const struct fact *f, struct tare_error *err)
{
	struct poll *p = (struct poll *)self;

	switch (f->kind) {
	case FACT_RUN_BEGIN:
		p->origin_ns = clock_now_ns();
		p->apart = p->plan->argv ||
			p->plan->delay_ns; /* they begin at the exec, or when the delay is over */
		return 0;
	case FACT_READING:
		if (f->reading.value.quality == TARE_UNAVAILABLE ||
		    f->reading.value.quality == TARE_SCALED) {
			const char *name = p->plan->events->enc[f->reading.event].name;

			return tare_fail(
				err, EBUSY, "%.100s was not counted all the time: %.200s", name,
				f->reading.why ? f->reading.why : "others held the counters");
		}
		/* summed over types of core and over tasks */
		p->now[f->reading.event] += f->reading.value.raw;
		return 0;
	case FACT_INTERVAL:
		return put_row(p, f->time_ns, false, err);
	case FACT_RUN_END:
		p->end->has_status = f->end.has_status;
		p->end->wait_status = f->end.wait_status;
		p->end->wall_ns = f->end.wall_ns;
		p->end->timed_out = f->end.timed_out;
		return put_row(p, f->end.wall_ns, true, err);
	default:
		return 0;
	}
}

/* Either all events are opened, or none; the names show the excluded modes. */
static int opened(void *with, const struct counting *c, struct tare_error *err)
{
	struct poll *p = with;

	for (size_t i = 0; i < c->n_enc; i++) {
		const struct encoding *e = &c->enc[i];
		struct encoding *asked = &p->plan->events->enc[i];

		if (e->unavailable) {
			tare_fail(err, e->unavailable, "%.100s is unavailable: %.250s", e->name,
				  e->why);
			tare_hint(err, "%s", e->remedy);
			return -e->unavailable;
		}
		p->end->kernel_left_out |= e->attr.exclude_kernel && !asked->attr.exclude_kernel;
		asked->attr = e->attr;
		memcpy(asked->name, e->name, sizeof(asked->name));
	}
	return 0;
}

int window_poll(const struct window_plan *plan, const struct source *source, struct window_sink *to,
		struct window_end *end, struct tare_error *err)
{
	size_t n = plan->events->n;
	struct poll p = { .sink = { put_fact },
			  .plan = plan,
			  .to = to,
			  .end = end,
			  .now = calloc(n + 1, sizeof(uint64_t)),
			  .before = calloc(n + 1, sizeof(uint64_t)),
			  .value = calloc(n + 1, sizeof(uint64_t)) };
	const struct stat_plan how = {
		.events = plan->events,
		.root = plan->root,
		.argv = plan->argv,
		.launcher = plan->launcher,
		.envp = plan->envp,
		.fixed = plan->fixed,
		.target = plan->target,
		.runs = 1,
		.interval_ns = plan->interval_ns,
		.timeout_ns = plan->timeout_ns,
		.delay_ns = plan->delay_ns,
		.source = source,
		.opened = opened,
		.with = &p,
	};
	struct stat_outcome o = { 0 };
	int ret = p.now && p.before && p.value ? 0 : tare_fail_nomem(err);

	*end = (struct window_end){ 0 };
	if (ret == 0)
		ret = stat_run(&how, &p.sink, &o, err);
	end->began = o.runs > 0;
	end->exec_code = o.exec_code;
	end->by_signal = o.by_signal;
	free(p.now);
	free(p.before);
	free(p.value);
	return ret;
}
