/* SPDX-License-Identifier: MIT */
/* The library's groups (tare/group.h): the perf source with the library's guarantees. */
#include <stdlib.h>
#include <string.h>
#include "source/events.h"
#include "source/perf.h"
#include "tare/group.h"
#include "tare/page.h"

struct tare_group {
	struct counters *counters;
};

int events_as_group(const struct tare_events *events, const struct encoding ***out,
		    struct encoding *leader, struct tare_error *err)
{
	const struct encoding_list *list = &events->list;
	const struct encoding *core = NULL;

	for (size_t i = 0; i < list->n; i++) {
		const struct encoding *enc = &list->enc[i];

		if (!encoding_source(enc)->kernel)
			return tare_fail(
				err, EOPNOTSUPP,
				"%s is not counted by the kernel but by tare's source '%s'",
				enc->name, enc->source->name);
		if (enc->place != PLACE_CORE)
			continue;
		if (core && strcmp(core->pmu, enc->pmu)) {
			int ret = tare_fail(
				err, EINVAL,
				"%s and %s are on different PMUs and cannot be one group",
				core->name, enc->name);

			tare_hint(err,
				  "this machine has several kinds of cores: name one, as in %s/%s/",
				  core->pmu, "cycles");
			return ret;
		}
		core = enc;
	}
	if (list->n == 0)
		return tare_fail(err, EINVAL, "a group needs an event");
	*out = malloc(list->n * sizeof(**out));
	if (!*out)
		return tare_fail_nomem(err);
	*leader = list->enc[0];
	(*out)[0] = leader;
	for (size_t i = 1; i < list->n; i++)
		(*out)[i] = &list->enc[i];
	return 0;
}

static struct tare_group *open_on(const struct tare_events *events, const struct target *on,
				  unsigned flags, struct tare_error *err)
{
	const struct encoding **enc = NULL;
	struct encoding leader;
	struct tare_group *g = malloc(sizeof(*g));
	int ret;

	if (!g) {
		tare_fail_nomem(err);
		return NULL;
	}
	g->counters = NULL;
	ret = events_as_group(events, &enc, &leader, err);
	if (ret < 0)
		goto out;
	leader.attr.pinned |= !!(flags & TARE_NEVER_SHARE);
	ret = source_perf.open(&g->counters, enc, events->list.n, on, NULL, err);
out:
	free(enc);
	if (ret == 0) {
		tare_no_error(err);
		return g;
	}
	free(g);
	return NULL;
}

struct tare_group *tare_group_open(const struct tare_events *events, int thread, unsigned flags,
				   struct tare_error *err)
{
	const struct target on = {
		.pid = thread,
		.cpu = -1,
		.cgroup_fd = -1,
		.inherit = flags & TARE_INHERIT,
		.enable_on_exec = flags & TARE_ENABLE_ON_EXEC,
		.user_reads = flags & TARE_USER_READS,
	};

	if (thread < 0) {
		tare_fail(err, EINVAL, "%d is not a thread", thread);
		return NULL;
	}
	if (flags &
	    ~(unsigned)(TARE_USER_READS | TARE_INHERIT | TARE_ENABLE_ON_EXEC | TARE_NEVER_SHARE)) {
		tare_fail(err, EINVAL, "%#x holds flags that this libtare does not know", flags);
		return NULL;
	}
	return open_on(events, &on, flags, err);
}

struct tare_group *tare_group_open_cpu(const struct tare_events *events, int cpu, unsigned flags,
				       struct tare_error *err)
{
	const struct target on = { .pid = -1, .cpu = cpu, .cgroup_fd = -1 };

	if (cpu < 0) {
		tare_fail(err, EINVAL, "%d is not a CPU", cpu);
		return NULL;
	}
	if (flags & ~(unsigned)TARE_NEVER_SHARE) {
		tare_fail(err, EINVAL, "%#x holds flags that a group on a CPU cannot have", flags);
		return NULL;
	}
	return open_on(events, &on, flags, err);
}

void tare_group_close(struct tare_group *g)
{
	if (!g)
		return;
	source_perf.close(g->counters);
	free(g);
}

size_t tare_group_size(const struct tare_group *g)
{
	return perf_size(g->counters);
}

int tare_group_start(struct tare_group *g, struct tare_error *err)
{
	return tare_end(source_perf.start(g->counters, err), err);
}

int tare_group_stop(struct tare_group *g, struct tare_error *err)
{
	return tare_end(source_perf.stop(g->counters, err), err);
}

static int never_counted(const struct tare_group *g, struct tare_error *err)
{
	tare_fail(err, ENODATA,
		  "%s and its group have not counted yet: they never got onto the PMU",
		  perf_leader(g->counters));
	tare_hint(
		err,
		"the group may need more counters than there are, or others hold them: count fewer events at once");
	return -ENODATA;
}

int tare_group_read(struct tare_group *g, struct tare_reading *out, struct tare_error *err)
{
	int ret = source_perf.read(g->counters, out, err);

	if (ret == 0 && out[0].quality == TARE_UNAVAILABLE)
		return never_counted(g, err);
	return tare_end(ret, err);
}

int tare_group_count(struct tare_group *g, size_t i, uint64_t *count, struct tare_error *err)
{
	struct tare_reading r;
	int ret;

	if (perf_count(g->counters, i, count))
		return tare_end(0, err);
	if (i >= perf_size(g->counters))
		return tare_fail(err, EINVAL, "a group of %zu events has no event %zu",
				 perf_size(g->counters), i);
	ret = perf_read_one(g->counters, i, &r, err);
	if (ret < 0)
		return ret;
	if (r.quality == TARE_UNAVAILABLE)
		return never_counted(g, err);
	if (r.quality == TARE_SCALED)
		return tare_fail(
			err, ENODATA,
			"%s and its group counted for %llu of %llu ns: a bare count would mislead",
			perf_leader(g->counters), (unsigned long long)r.running_ns,
			(unsigned long long)r.enabled_ns);
	*count = r.raw;
	return tare_end(0, err);
}

bool tare_group_user_reads(const struct tare_group *g, struct tare_error *why)
{
	return tare_end(perf_user_reads(g->counters, why), why) == 0;
}

const struct perf_event_mmap_page *tare_group_page(const struct tare_group *g, size_t i)
{
	return i < perf_size(g->counters) ? perf_page(g->counters, i) : NULL;
}
