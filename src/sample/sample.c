/* SPDX-License-Identifier: MIT */
/*
 * One recording: prepare the command, open the events on it, start it, drain the rings as they
 * fill, end. tare sleeps in poll(2) until a ring is a quarter full, or DRAIN_MS passed: a kill -9
 * loses only that.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "launch/follow.h"
#include "sample/sample.h"
#include "sample/ring_size.h"
#include "sample/sample_state.h"

enum { DRAIN_MS = 250, IDS_SPREAD = 4 };

struct id_slot {
	uint64_t id;
	unsigned event; /* index + 1; 0: free */
};

struct recording {
	const struct sample_plan *plan;
	struct sample_sink *to;
	struct sample_outcome *out;
	struct tare_error *err;
	struct sampler *sampler;
	struct encoding tracker;
	struct sampled *event;
	size_t n;
	size_t cpus_per_task; /* CPUs that a task's events were opened on; 0: no task is followed */
	bool tracked_apart;   /* event[0] is the tracker */
	struct id_slot *slot;
	size_t slots; /* a power of two */
	struct follow follow;
	struct cpus online;
	uint64_t begin_ns;
	bool delayed;
};

/* ---- draining the rings ---- */

static size_t slot_of(const struct recording *r, uint64_t id)
{
	size_t at = (size_t)(id * 0x9e3779b97f4a7c15u >> 32) & (r->slots - 1);

	while (r->slot[at].event && r->slot[at].id != id)
		at = (at + 1) & (r->slots - 1);
	return at;
}

static int index_ids(struct recording *r)
{
	size_t ids = 1;

	for (size_t i = 0; i < r->n; i++)
		ids += r->event[i].n_ids;
	for (r->slots = 16; r->slots < ids * IDS_SPREAD; r->slots *= 2)
		;
	r->slot = calloc(r->slots, sizeof(*r->slot));
	r->out->event = calloc(r->n, sizeof(*r->out->event));
	r->out->n_events = r->n;
	if (!r->slot || !r->out->event)
		return tare_fail_nomem(r->err);
	for (size_t i = 0; i < r->n; i++) {
		snprintf(r->out->event[i].name, sizeof(r->out->event[i].name), "%s",
			 r->event[i].enc->name);
		r->out->event[i].member = !r->event[i].attr.sample_period;
		for (size_t k = 0; k < r->event[i].n_ids; k++)
			r->slot[slot_of(r, r->event[i].ids[k])] = (struct id_slot){
				r->event[i].ids[k], (unsigned)i + 1
			};
	}
	return 0;
}

static uint64_t word(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static void tally_sample(struct recording *r, const unsigned char *p, size_t size)
{
	unsigned event = r->slot[slot_of(r, word(p + 8))].event;
	uint64_t at = word(p + 32);

	if (!event)
		return;
	struct sample_tally *t = &r->out->event[event - 1];
	const struct perf_event_attr *attr = &r->event[event - 1].attr;
	size_t period = sample_period_at(attr);

	t->samples++;
	t->period_sum += period && period + 8 <= size ? word(p + period) : attr->sample_period;
	if (!r->out->first_ns || at < r->out->first_ns)
		r->out->first_ns = at;
	if (at > r->out->last_ns)
		r->out->last_ns = at;
}

/* PERF_RECORD_AUX: { header, u64 offset, size, flags }. Source: linux/perf_event.h. */
static void tally_aux(struct sample_outcome *o, uint64_t flags)
{
	o->aux_full += (flags & PERF_AUX_FLAG_TRUNCATED) != 0;
	o->aux_gaps += (flags & PERF_AUX_FLAG_PARTIAL) != 0;
	o->aux_collided += (flags & PERF_AUX_FLAG_COLLISION) != 0;
}

/* The records that were written, which are the ones reported. */
static void tally(struct recording *r, const unsigned char *bytes, size_t n)
{
	struct perf_event_header h;

	for (size_t at = 0; at < n; at += h.size) {
		memcpy(&h, bytes + at, sizeof(h));
		r->out->records++;
		if (h.type == PERF_RECORD_SAMPLE) {
			tally_sample(r, bytes + at, h.size);
		} else if (h.type == PERF_RECORD_LOST) {
			r->out->lost += word(bytes + at + 16);
			sampler_want_room(r->sampler);
		} else if (h.type == PERF_RECORD_LOST_SAMPLES)
			r->out->lost += word(bytes + at + 8);
		else if (h.type == PERF_RECORD_AUX)
			tally_aux(r->out, word(bytes + at + 24));
		else if (h.type == PERF_RECORD_FORK)
			r->out->forks++;
		else if (h.type == PERF_RECORD_THROTTLE)
			r->out->throttled++;
	}
	r->out->bytes += n;
}

/* If there is no room for all records, as many as fit. */
static int take_records(void *with, const unsigned char *bytes, size_t n, struct tare_error *err)
{
	struct recording *r = with;
	struct perf_event_header h;
	int ret = r->to->records(r->to, bytes, n, err);

	if (ret == 0)
		tally(r, bytes, n);
	for (size_t at = 0; ret < 0 && at < n; at += h.size) {
		memcpy(&h, bytes + at, sizeof(h));
		if (r->to->records(r->to, bytes + at, h.size, NULL) < 0)
			break;
		tally(r, bytes + at, h.size);
	}
	return ret;
}

static int take_aux(void *with, const struct aux_piece *piece, struct tare_error *err)
{
	struct recording *r = with;

	r->out->aux_bytes += piece->part[0].n + piece->part[1].n;
	return r->to->aux(r->to, piece, err);
}

static int drain(struct recording *r)
{
	int64_t got = sampler_drain(r->sampler, take_records, r, r->err), aux = 0;

	if (got >= 0 && r->out->aux)
		aux = sampler_drain_aux(r->sampler, take_aux, r, r->err);
	if (got < 0 || aux < 0)
		return (int)(got < 0 ? got : aux);
	if (!got && !aux)
		return 0;
	return r->to->round(r->to, r->err);
}

/* ---- opening ---- */

static bool leave_out_kernel(struct recording *r, struct sample_how *how)
{
	bool any = false;

	for (size_t i = 0; i < r->plan->events->n; i++) {
		struct encoding *e = &r->plan->events->enc[i];

		if (e->attr.exclude_user || (e->attr.exclude_kernel && e->attr.exclude_hv))
			continue;
		if (sample_reads_clock(r->plan->events, i)) {
			any |= !how->no_kernel;
			continue;
		}
		any = true;
		encoding_restrict(e, true);
	}
	how->no_kernel = true;
	return any;
}

/* The events of one group, on every CPU or thread that it belongs to. */
static int open_group(struct recording *r, size_t first, struct count_target target)
{
	const struct encoding *lead = r->event[first].enc;
	size_t at[512], n = 0, failed, gone = 0;
	struct places places;
	int ret;

	for (size_t i = first; i < r->n; i++)
		if (r->event[i].leader == first) {
			if (n == ARRAY_SIZE(at))
				return tare_fail(r->err, E2BIG, "a group of more than %zu events",
						 n);
			at[n++] = i;
		}
	if (!r->plan->any_cpu && !target.cpus.n)
		target.cpus = r->online;
	ret = places_for(lead, &r->follow.tasks, &target, &r->online, &places, r->err);
	if (ret == 0 && !places.n)
		ret = tare_fail(r->err, ENODEV, "no requested CPU has %.100s", lead->name);
	if (lead->place == PLACE_TASK && r->follow.tasks.n)
		r->cpus_per_task = places.n / r->follow.tasks.n;
	for (size_t p = 0; ret == 0 && p < places.n; p++) {
		struct target on = { .pid = places.place[p].pid,
				     .cpu = places.place[p].cpu,
				     .cgroup_fd = -1,
				     .inherit = r->event[first].attr.inherit };

		ret = sampler_add(r->sampler, r->event, at, n, &on, &failed, r->err);
		if (ret == -ESRCH) { /* this thread has ended meanwhile */
			gone++;
			ret = 0;
		}
	}
	if (ret == 0 && gone == places.n)
		ret = tare_fail(r->err, ESRCH, "the process to sample has ended");
	places_free(&places);
	return ret;
}

static void forget_events(struct recording *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->event[i].ids);
	free(r->event);
	r->event = NULL;
	r->n = 0;
}

static int make_events(struct recording *r, const struct sample_how *how)
{
	const struct encoding_list *list = r->plan->events;
	struct sample_how of = *how;

	/* A full AUX area stops its event, which then reports no mappings either. */
	for (size_t i = 0; i < list->n; i++)
		r->out->aux |= sample_by_aux(&list->enc[i]);
	r->tracked_apart = r->plan->delay_ns > 0 || r->out->aux;
	r->event = calloc(list->n + 1, sizeof(*r->event));
	if (!r->event)
		return tare_fail_nomem(r->err);
	r->n = list->n + r->tracked_apart;
	if (r->tracked_apart) {
		sample_tracker(&r->tracker, &r->event[0], how);
		of.track = false;
		of.on_exec &= !r->plan->delay_ns;
	}
	sample_attrs(r->event + r->tracked_apart, list, &of, r->tracked_apart);
	for (size_t i = 0; i < r->n; i++) {
		r->out->children_left_out |= how->inherit && !r->event[i].attr.inherit;
		r->out->groups_of_children |= r->event[i].attr.inherit &&
			!r->event[i].attr.sample_period && r->event[i].leader != i;
	}
	return 0;
}

/*
 * Room for several samples with their stacks, at least, and for the data written while tare waits
 * for a CPU.
 */
static size_t ring_bytes(const struct recording *r)
{
	const struct sample_plan *plan = r->plan;
	size_t bytes = plan->ring_bytes;

	while (bytes && bytes < 8 * (size_t)plan->how.stack_bytes && bytes < plan->ring_most)
		bytes *= 2;
	if (bytes && bytes < plan->ring_by_rate)
		bytes = sample_ring_bytes(
			r->event, r->n,
			&(struct ring_size){ plan->rate_most, bytes, plan->ring_by_rate });
	return bytes;
}

static int try_open(struct recording *r, const struct sample_how *how)
{
	const struct sample_plan *plan = r->plan;
	struct sampler_options o = { .ring_most = plan->ring_most,
				     .clockid = how->clockid,
				     .aux_bytes = plan->aux_bytes };
	int ret = make_events(r, how);

	if (ret == 0) {
		o.ring_bytes = ring_bytes(r);
		ret = sampler_new(&r->sampler, &o, r->err);
	}
	for (size_t i = 0; ret == 0 && i < r->n; i++)
		if (r->event[i].leader == i)
			ret = open_group(r, i, plan->target);
	if (ret < 0) {
		sampler_close(r->sampler);
		r->sampler = NULL;
		forget_events(r);
	}
	return ret;
}

static int open_events(struct recording *r)
{
	struct sample_how how = r->plan->how;
	bool grown = false;
	int ret = cpus_online(r->plan->root, &r->online, r->err);

	how.lost = sampler_counts_lost();
	how.reads_inherited = sampler_reads_inherited();
	how.on_exec = r->follow.counts_command;
	how.track = true;
	how.inherit &= r->follow.tasks.n && !r->plan->any_cpu;
	if (ret < 0)
		return ret;
	for (;;) {
		ret = try_open(r, &how);
		if (ret == -EMFILE && !grown && process_more_descriptors()) {
			grown = true;
			continue;
		}
		if ((ret != -EACCES && ret != -EPERM) || !leave_out_kernel(r, &how))
			return ret;
		r->out->kernel_left_out = true;
	}
}

/* ---- state before recording ---- */

static bool samples_kernel(const struct recording *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (!r->event[i].attr.exclude_kernel)
			return true;
	return false;
}

static int state_before(struct recording *r)
{
	const struct sample_state state = { .take = take_records,
					    .with = r,
					    .sample_type = r->event[0].attr.sample_type,
					    .data = sample_maps_data(&r->plan->how) };
	bool known = true;
	int ret = samples_kernel(r) ? sample_state_kernel(&state, r->plan->root, &known, r->err)
				    : 0;

	r->out->kernel_unplaced = !known;
	if (ret < 0 || r->follow.counts_command)
		return ret;
	if (!r->follow.tasks.n)
		return sample_state_all(&state, r->plan->root, r->err);

	pid_t last = 0;

	for (size_t i = 0; ret == 0 && i < r->follow.tasks.n; i++) {
		pid_t pid = follow_process_of(r->plan->root, r->follow.tasks.place[i].pid);

		if (pid && pid != last)
			ret = sample_state_process(&state, r->plan->root, pid, r->err);
		last = pid;
	}
	return ret;
}

static int tell_aux(struct recording *r)
{
	struct sample_aux about = { .per_cpu = !r->plan->any_cpu };

	for (size_t i = 0; i < r->n; i++)
		if (r->event[i].aux)
			about.pmu_type = r->event[i].attr.type;
	about.has_clock = sampler_clock(r->sampler, &about.clock);
	return r->to->about_aux(r->to, &about, r->err);
}

/* ---- begin, wait, end ---- */

static int begin_recording(struct recording *r)
{
	const struct sample_plan *plan = r->plan;
	int ret = index_ids(r);

	if (ret == 0)
		ret = r->to->begin(r->to, r->event, r->n, r->err);
	if (ret == 0 && r->out->aux)
		ret = tell_aux(r);
	if (ret == 0)
		ret = state_before(r);
	r->delayed = plan->delay_ns > 0;
	if (ret == 0 && !r->follow.counts_command)
		ret = sampler_start(r->sampler, r->delayed ? &r->event[0] : NULL, r->err);
	r->begin_ns = clock_now_ns();
	r->out->started_ns = r->follow.counts_command ? 0 : r->begin_ns;
	return ret == 0 ? follow_release(&r->follow, r->err) : ret;
}

static int do_what_is_due(struct recording *r, bool *ending)
{
	const struct sample_plan *plan = r->plan;
	uint64_t passed = clock_now_ns() - r->begin_ns;

	if (plan->timeout_ns && passed >= plan->timeout_ns)
		*ending = r->out->timed_out = true;
	if (plan->enough && plan->enough(plan->with))
		*ending = r->out->large_enough = true;
	if (r->delayed && passed >= plan->delay_ns) {
		int ret = sampler_start(r->sampler, NULL, r->err);

		r->delayed = false;
		r->out->started_ns = clock_now_ns();
		return ret;
	}
	return 0;
}

static int wait_ms(const struct recording *r)
{
	const struct sample_plan *plan = r->plan;
	uint64_t passed = clock_now_ns() - r->begin_ns, due = passed + DRAIN_MS * 1000000ull;

	if (plan->timeout_ns && plan->timeout_ns < due)
		due = plan->timeout_ns;
	if (r->delayed && plan->delay_ns < due)
		due = plan->delay_ns;
	return due > passed ? (int)((due - passed) / 1000000) + 1 : 0;
}

static int wait_for_end(struct recording *r)
{
	bool ending = false;
	int ret = 0;

	while (ret == 0 && !ending) {
		struct pollfd fds[3] = { { .fd = r->follow.signals.fd, .events = POLLIN },
					 { .fd = sampler_fd(r->sampler), .events = POLLIN },
					 { .fd = follow_wake_fd(&r->follow), .events = POLLIN } };

		poll(fds, ARRAY_SIZE(fds), wait_ms(r));
		ending = follow_ended(&r->follow);
		ret = drain(r);
		if (ret == 0 && !ending)
			ret = do_what_is_due(r, &ending);
	}
	return ret;
}

/* The number of lost records of each event, for readers of the file, as perf writes them. */
static int put_lost(struct recording *r, const struct sampled *e, uint64_t lost)
{
	struct {
		struct perf_event_header header;
		uint64_t lost;
		uint32_t pid, tid;
		uint64_t time, cpu, id;
	} rec = { .header = { PERF_RECORD_LOST_SAMPLES, 0, sizeof(rec) },
		  .lost = lost,
		  .id = e->ids[0] };

	rec.time = r->out->last_ns;
	return r->to->records(r->to, (const unsigned char *)&rec, sizeof(rec), r->err);
}

/*
 * If a task's event is opened on each CPU, all of them are enabled while it runs on one, but only
 * that one can be on the PMU. With several CPU types the enabled time is therefore not meaningful.
 */
static double share_of(const struct recording *r, const struct sampled *e,
		       const struct sampler_total *t)
{
	double running = (double)t->running_ns * (double)(r->cpus_per_task ? r->cpus_per_task : 1);
	bool tells = e->enc->place == PLACE_TASK || !r->follow.tasks.n;

	return tells && t->enabled_ns && running < (double)t->enabled_ns
		? running / (double)t->enabled_ns
		: 1;
}

/* A clock of one mode samples only that mode, but counts both. */
static bool counts_all_time(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE &&
		(a->config == PERF_COUNT_SW_CPU_CLOCK || a->config == PERF_COUNT_SW_TASK_CLOCK) &&
		!a->exclude_user && !a->exclude_kernel;
}

static int end(struct recording *r, bool broke_off)
{
	uint64_t known = 0;
	bool all_known = true;
	int ret = sampler_stop(r->sampler, r->err);

	r->out->wall_ns = clock_now_ns() - r->begin_ns;
	r->out->rings = sampler_rings(r->sampler);
	if (ret == 0 && !broke_off)
		ret = drain(r);
	/* Also for an incomplete recording: its reported numbers must be right. */
	for (size_t i = 0; i < r->n; i++) {
		struct sample_tally *t = &r->out->event[i];
		struct tare_error also = TARE_ERROR_INIT;
		int got = sampler_total(r->sampler, &r->event[i], &t->total,
					ret < 0 ? &also : r->err);

		t->total_unknown = got < 0;
		t->clock = got == 0 && counts_all_time(&r->event[i].attr);
		t->share = got == 0 ? share_of(r, &r->event[i], &t->total) : 1;
		all_known &= got == 0 && t->total.lost_known;
		known += t->total.lost;
		ret = ret < 0 ? ret : got;
		if (ret == 0 && t->total.lost && r->event[i].n_ids)
			ret = put_lost(r, &r->event[i], t->total.lost);
	}
	if (all_known && known > r->out->lost) /* also losses after which no record reported them */
		r->out->lost = known;
	return ret;
}

/* A disk that is full must not kill the command. */
static bool goes_on(struct recording *r, int why)
{
	uint64_t until_ns = r->plan->timeout_ns ? r->begin_ns + r->plan->timeout_ns : 0;

	return why < 0 && why != -EPIPE && follow_to_end(&r->follow, until_ns);
}

int sample_run(const struct sample_plan *plan, struct sample_sink *to,
	       struct sample_outcome *outcome, struct tare_error *err)
{
	struct recording r = { .plan = plan, .to = to, .out = outcome, .err = err };
	const struct follow_plan who = { .root = plan->root,
					 .argv = plan->argv,
					 .launcher = plan->launcher,
					 .envp = plan->envp,
					 .fixed = plan->fixed,
					 .target = &plan->target };
	int ret, late;

	*outcome = (struct sample_outcome){ 0 };
	ret = follow_prepare(&r.follow, &who, err);
	if (ret == 0)
		ret = open_events(&r);
	if (ret == 0)
		ret = begin_recording(&r);
	outcome->began = ret == 0;
	outcome->exec_code = r.follow.exec_code;
	if (ret == 0)
		ret = wait_for_end(&r);
	if (outcome->began) {
		/* Failures are reported; what was recorded is still returned. */
		struct tare_error also = TARE_ERROR_INIT;
		struct tare_error *told = r.err;

		r.err = ret < 0 ? &also : told;
		late = end(&r, ret < 0);
		r.err = told;
		ret = ret < 0 ? ret : late;
		outcome->went_on = goes_on(&r, ret);
		follow_end(&r.follow);
	}
	follow_close(&r.follow);
	outcome->by_signal = r.follow.by_signal;
	outcome->has_status = r.follow.has_status;
	outcome->wait_status = r.follow.wait_status;
	sampler_close(r.sampler);
	forget_events(&r);
	free(r.slot);
	cpus_free(&r.online);
	return ret;
}

void sample_outcome_free(struct sample_outcome *o)
{
	free(o->event);
	exact_places_free(&o->places);
	*o = (struct sample_outcome){ 0 };
}
