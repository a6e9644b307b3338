/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include "base/array.h"
#include "memory/decode/access_running.h"

enum { NOBODY = UINT32_MAX };

#define ATTR_USE_CLOCKID (1ull << 25) /* then its clock is not SPE's */

struct stint {
	uint64_t from_ns; /* until the next entry */
	uint32_t tid;
};

struct on_cpu {
	uint32_t cpu, n;
	size_t room;
	struct stint *stint;
};

static int add_stint(struct on_cpu *c, uint64_t from_ns, uint32_t tid, struct tare_error *err)
{
	if (!array_reserve(&c->stint, &c->room, c->n + 1, sizeof(*c->stint)))
		return tare_fail_nomem(err);
	c->stint[c->n++] = (struct stint){ from_ns, tid };
	return 0;
}

int running_learn(struct running *r, const struct perfdata_record *rec, struct tare_error *err)
{
	const uint64_t wanted = PD_SAMPLE_TIME | PD_SAMPLE_CPU | PD_SAMPLE_TID;
	struct on_cpu key = { .cpu = rec->cpu }, *c;
	bool leaves = rec->misc & PD_MISC_13;
	int ret = 0;
	uint32_t i;

	if ((rec->type != PD_RECORD_SWITCH && rec->type != PD_RECORD_SWITCH_CPU_WIDE) ||
	    (rec->has & wanted) != wanted || !rec->event ||
	    rec->event->attr.flags & ATTR_USE_CLOCKID)
		return 0;
	i = set_add(&r->cpus, &key, sizeof(key), sizeof(key.cpu), NULL);
	if (i == SET_NONE)
		return tare_fail_nomem(err);
	c = &((struct on_cpu *)r->cpus.item)[i];
	if (!leaves)
		return add_stint(c, rec->time, rec->tid, err);
	if (!c->n) /* it was running when recording began */
		ret = add_stint(c, 0, rec->tid, err);
	else if (c->stint[c->n - 1].tid != rec->tid) /* records in between were lost */
		c->stint[c->n - 1].tid = NOBODY;
	return ret < 0 ? ret : add_stint(c, rec->time, NOBODY, err);
}

uint32_t running_at(const struct running *r, uint32_t cpu, uint64_t time_ns)
{
	const struct on_cpu key = { .cpu = cpu }, *c;
	uint32_t i = set_find(&r->cpus, &key, sizeof(key), sizeof(key.cpu));
	size_t before;

	if (i == SET_NONE)
		return NOBODY;
	c = &((const struct on_cpu *)r->cpus.item)[i];
	before = ARRAY_UPTO(c->stint, c->n, from_ns, time_ns);
	return before ? c->stint[before - 1].tid : NOBODY;
}

void running_free(struct running *r)
{
	for (size_t i = 0; i < r->cpus.n; i++)
		free(((struct on_cpu *)r->cpus.item)[i].stint);
	set_free(&r->cpus);
}
