/* SPDX-License-Identifier: MIT */
/*
 * Windows by overflow: the leader of a group samples, and its members are read in the interrupt.
 * The group is pinned: it always counts, or the kernel reports an error.
 *
 * With children, each thread has a group per CPU, because the kernel maps rings of inherited events
 * only per CPU. Each of those has separate windows: exact in what they contain, and marked if the
 * thread was on another CPU meanwhile. Without children, one group follows the thread everywhere.
 */
#include <time.h>
#include "windows/window_private.h"

enum { RING = 1 << 20, RING_MOST = 64 << 20 };

int window_sample(const struct window_plan *plan, struct window_sink *to, struct window_end *end,
		  struct tare_error *err)
{
	struct collect c;
	struct sample_plan how = {
		.events = plan->events,
		.how = { .period = plan->every,
			 .inherit = plan->inherit,
			 .clockid = CLOCK_MONOTONIC },
		.root = plan->root,
		.argv = plan->argv,
		.launcher = plan->launcher,
		.envp = plan->envp,
		.fixed = plan->fixed,
		.target = plan->target,
		.any_cpu = !plan->inherit,
		.timeout_ns = plan->timeout_ns,
		.delay_ns = plan->delay_ns,
		.ring_bytes = RING,
		.ring_most = RING_MOST,
	};
	struct sample_outcome o = { 0 };
	int ret;

	collect_open(&c, plan, to, &o);
	/*
	 * Groups in children need Linux 6.12. Before, one group follows the first thread, also from
	 * CPU to CPU.
	 */
	how.any_cpu |= !sampler_reads_inherited();
	for (size_t i = 0; i < plan->events->n; i++) {
		plan->events->enc[i].sample_read = true;
		plan->events->enc[i].attr.pinned = i == 0;
		plan->events->enc[i].group = plan->events->enc[0].group;
	}
	ret = sample_run(&how, &c.sink, &o, err);
	*end = (struct window_end){ .has_status = o.has_status,
				    .timed_out = o.timed_out,
				    .began = o.began,
				    .wait_status = o.wait_status,
				    .by_signal = o.by_signal,
				    .exec_code = o.exec_code,
				    .wall_ns = o.wall_ns,
				    .lost = o.lost,
				    .throttled = o.throttled,
				    .kernel_left_out = o.kernel_left_out,
				    .children_left_out = plan->inherit &&
					    (how.any_cpu || o.children_left_out) };
	if (ret == 0)
		ret = collect_end(&c, &o, end, err);
	end->rests_unknown |= ret < 0;
	sample_outcome_free(&o);
	collect_free(&c);
	return ret;
}
