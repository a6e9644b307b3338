/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include "pmu/precise.h"

const char *const precise_names[PRECISE_WHATS] = { "memory", "branches", "fetch", "all" };

int precise_exact(enum precise_what what, struct precise_choice *out, struct tare_error *err)
{
	static const struct {
		const char *event, *why;
	} rows[PRECISE_WHATS] = {
		[PRECISE_MEMORY] = { "exact/accesses/", "the exact engine: every load and store of the command is counted" },
		[PRECISE_BRANCHES] = { "exact/branches/", "the exact engine: every branch of the command is counted" },
	};

	if (!rows[what].event) {
		tare_fail(err, ENOTSUP, "the exact engine samples one kind of event at a time, and no fetches");
		tare_hint(err, "--precise=memory or --precise=branches");
		return -ENOTSUP;
	}
	snprintf(out->events, sizeof(out->events), "%s", rows[what].event);
	snprintf(out->why, sizeof(out->why), "%s", rows[what].why);
	return 0;
}

int precise_choose(struct machine *m, enum precise_what what, bool all_cpus, struct precise_choice *out,
		   struct tare_error *err)
{
	(void)m, (void)what, (void)all_cpus, (void)out;
	tare_fail(err, ENOTSUP, "this machine shows no PMU that samples precisely");
	tare_hint(err, "--engine exact samples a command without one");
	return -ENOTSUP;
}
