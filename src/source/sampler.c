/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/array.h"
#include "source/perf_why.h"
#include "source/sampler.h"

#define FORMAT_LOST (1u << 4) /* PERF_FORMAT_LOST, which older headers lack */

struct opened {
	int fd, leader_fd; /* -1: leads */
	const struct sampled *of;
	uint64_t id;
	size_t ring;
};

struct cpu_ring {
	struct ring ring;
	/* next to it; its event cannot be redirected, so the ring does not grow */
	struct aux_ring aux;
	int fd;    /* of the event that owns the ring */
	int cpu;   /* -1: any, for one thread */
	pid_t pid; /* for a ring without a CPU */
};

struct sampler {
	struct sampler_options o;
	struct cpu_ring **ring;
	size_t rings;
	struct opened *event;
	size_t events, room;
	int epoll;
	size_t grown;
	bool limited, pressed, stopped;
};

static int perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		     unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group,
			    flags | PERF_FLAG_FD_CLOEXEC);
}

static struct perf_event_attr dummy(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

static bool opens(const struct perf_event_attr *attr)
{
	int fd = perf_open(attr, 0, -1, -1, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool sampler_counts_lost(void)
{
	struct perf_event_attr attr = dummy();

	attr.read_format = FORMAT_LOST;
	return opens(&attr);
}

bool sampler_reads_inherited(void)
{
	struct perf_event_attr attr = dummy();

	attr.inherit = 1;
	attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
	attr.read_format = PERF_FORMAT_GROUP;
	return opens(&attr);
}

int sampler_new(struct sampler **out, const struct sampler_options *o, struct tare_error *err)
{
	struct sampler *s;

	if (!o->ring_bytes)
		return tare_fail(err, EINVAL, "a ring without room for records");
	s = calloc(1, sizeof(*s));
	if (!s)
		return tare_fail_nomem(err);
	s->o = *o;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0) {
		int code = errno;

		free(s);
		return tare_fail(err, code, "cannot wait for samples: %s", strerror(code));
	}
	*out = s;
	return 0;
}

/* ---- rings ---- */

/*
 * A ring of `size` bytes or, if the memory lock limit does not allow that, of as many as possible.
 */
static int make_ring(struct cpu_ring *r, size_t size, size_t least, int clockid,
		     struct tare_error *err)
{
	struct perf_event_attr attr = dummy();
	int ret;

	attr.watermark = 1;
	attr.wakeup_watermark = (uint32_t)(size / 4);
	/* output can only be redirected between events with the same clock */
	attr.use_clockid = clockid >= 0;
	attr.clockid = clockid >= 0 ? clockid : 0;
	/* On a CPU the owner may be any task's event; without one it must be the thread's. */
	r->fd = perf_open(&attr, r->cpu >= 0 ? 0 : r->pid, r->cpu, -1, 0);
	if (r->fd < 0)
		return tare_fail(err, errno,
				 "cannot open an event to hold the samples of %s %d: %s",
				 r->cpu >= 0 ? "cpu" : "thread", r->cpu >= 0 ? r->cpu : (int)r->pid,
				 strerror(errno));
	do
		ret = ring_map(&r->ring, r->fd, size);
	while (ret == -EPERM && (size /= 2) >= least);
	if (ret == 0)
		return 0;
	close(r->fd);
	r->fd = -1;
	tare_fail(err, -ret, "cannot map a buffer of %zu KiB for samples: %s", size / 1024,
		  strerror(-ret));
	if (ret == -EPERM)
		tare_hint(
			err,
			"no more memory may be locked: raise kernel.perf_event_mlock_kb or `ulimit -l`");
	return ret;
}

/* Edge-triggered: the ring of a thread that has ended would always be ready. */
static int watch(struct sampler *s, size_t i)
{
	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->ring[i]->fd,
			 &(struct epoll_event){ .events = EPOLLIN | EPOLLET, .data.u64 = i });
}

static int find_ring(struct sampler *s, const struct target *on, size_t *index,
		     struct tare_error *err)
{
	for (size_t i = 0; i < s->rings; i++)
		if (s->ring[i]->cpu == on->cpu && (on->cpu >= 0 || s->ring[i]->pid == on->pid)) {
			*index = i;
			return 0;
		}

	struct cpu_ring *r = calloc(1, sizeof(*r));
	int ret;

	if (!r || !array_one_more(&s->ring, s->rings, sizeof(struct cpu_ring *))) {
		free(r);
		return tare_fail_nomem(err);
	}
	r->cpu = on->cpu;
	r->pid = on->pid;
	ret = make_ring(r, s->o.ring_bytes, (size_t)sysconf(_SC_PAGESIZE), s->o.clockid, err);
	if (ret < 0) {
		free(r);
		return ret;
	}
	s->ring[s->rings] = r;
	if (r->ring.size < s->o.ring_bytes)
		s->limited = true;
	*index = s->rings++;
	if (watch(s, *index) < 0)
		return tare_fail(err, errno, "cannot wait for samples: %s", strerror(errno));
	return 0;
}

/* Redirect the ring's events to another one; if one fails, those before it have moved. */
static int redirect(const struct sampler *s, size_t ring, int to)
{
	for (size_t i = 0; i < s->events; i++)
		if (s->event[i].ring == ring &&
		    ioctl(s->event[i].fd, PERF_EVENT_IOC_SET_OUTPUT, to) < 0)
			return -errno;
	return 0;
}

/* Replace a nearly full ring by a larger one; the old one's remaining data is read first. */
static int64_t grow(struct sampler *s, size_t i, size_t times, ring_take *take, void *with,
		    struct tare_error *err)
{
	struct cpu_ring *old = s->ring[i], *larger;
	int64_t got = 0;

	while (times > 1 && old->ring.size * times > s->o.ring_most)
		times /= 2;
	if (s->limited || times < 2 || old->aux.page)
		return 0;
	larger = calloc(1, sizeof(*larger));
	if (!larger)
		return 0;
	larger->cpu = old->cpu;
	larger->pid = old->pid;
	/* Not smaller than requested: a ring that is not larger does not help. */
	if (make_ring(larger, old->ring.size * times, old->ring.size * 2, s->o.clockid, NULL) < 0 ||
	    redirect(s, i, larger->fd) < 0) {
		s->limited = true;
		if (larger->ring.page) {
			redirect(s, i, old->fd);
			got = ring_read(&larger->ring, take, with, err);
			ring_unmap(&larger->ring);
			close(larger->fd);
		}
		free(larger);
		return got;
	}
	s->grown++;
	got = ring_read(&old->ring, take, with, err);
	epoll_ctl(s->epoll, EPOLL_CTL_DEL, old->fd, NULL);
	ring_unmap(&old->ring);
	close(old->fd);
	free(old);
	s->ring[i] = larger;
	watch(s, i);
	return got;
}

int sampler_fd(const struct sampler *s)
{
	return s->epoll;
}

int64_t sampler_drain(struct sampler *s, ring_take *take, void *with, struct tare_error *err)
{
	struct epoll_event seen[16];
	bool pressed = s->pressed;
	int64_t sum = 0;

	s->pressed = false;
	while (epoll_wait(s->epoll, seen, ARRAY_SIZE(seen), 0) == ARRAY_SIZE(seen))
		;
	for (size_t i = 0; i < s->rings; i++) {
		int64_t got = ring_read(&s->ring[i]->ring, take, with, err);

		if (got >= 0 && (pressed || got > (int64_t)(s->ring[i]->ring.size / 2))) {
			int64_t rest = grow(s, i, pressed ? 8 : 2, take, with, err);

			got = rest < 0 ? rest : got + rest;
		}
		if (got < 0)
			return got;
		sum += got;
	}
	return sum;
}

void sampler_want_room(struct sampler *s)
{
	s->pressed = true;
}

struct sampler_rings sampler_rings(const struct sampler *s)
{
	struct sampler_rings r = { .n = s->rings, .grown = s->grown, .limited = s->limited };

	for (size_t i = 0; i < s->rings; i++)
		if (s->ring[i]->ring.size > r.largest)
			r.largest = s->ring[i]->ring.size;
	for (size_t i = 0; i < s->rings; i++)
		if (s->ring[i]->aux.page && (!r.aux || s->ring[i]->aux.size < r.aux))
			r.aux = s->ring[i]->aux.size;
	return r;
}

/* ---- AUX areas ---- */

/*
 * Minimum: SPE's driver requires two pages. Source: linux drivers/perf/arm_spe_pmu.c,
 * arm_spe_pmu_setup_aux().
 */
static int make_aux(struct sampler *s, const struct opened *o, struct tare_error *err)
{
	struct cpu_ring *r = s->ring[o->ring];
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = s->o.aux_bytes;
	int ret;

	if (r->aux.page)
		return 0;
	do
		ret = aux_ring_map(&r->aux, r->ring.page, page + r->ring.size, o->fd, size);
	while ((ret == -EPERM || ret == -ENOMEM) && (size /= 2) >= 2 * page);
	if (ret == 0)
		return 0;
	tare_fail(err, -ret, "cannot map an AUX area for %.100s: %s", o->of->enc->name,
		  strerror(-ret));
	if (ret == -EPERM)
		tare_hint(
			err,
			"no more memory may be locked: -m 16,32 asks for less; kernel.perf_event_mlock_kb or `ulimit -l` allow more");
	return ret;
}

/* A full area stops its event permanently: after reading, start it again. */
static int go_on(const struct sampler *s, size_t ring, struct tare_error *err)
{
	for (size_t i = 0; i < s->events; i++)
		if (s->event[i].ring == ring && s->event[i].of->aux &&
		    ioctl(s->event[i].fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
			return tare_fail(err, errno, "cannot continue %s: %s",
					 s->event[i].of->enc->name, strerror(errno));
	return 0;
}

int64_t sampler_drain_aux(struct sampler *s, aux_take *take, void *with, struct tare_error *err)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->rings; i++) {
		struct cpu_ring *r = s->ring[i];
		const struct aux_piece whose = { .index = (uint32_t)i,
						 .tid = r->cpu >= 0 ? -1 : r->pid,
						 .cpu = r->cpu };
		int64_t got = r->aux.page ? aux_ring_read(&r->aux, &whose, take, with, err) : 0;
		int ret = got > 0 && !s->stopped ? go_on(s, i, err) : 0;

		if (got < 0 || ret < 0)
			return got < 0 ? got : ret;
		sum += got;
	}
	return sum;
}

bool sampler_clock(const struct sampler *s, struct sampler_clock *out)
{
	const volatile struct perf_event_mmap_page *p;
	uint32_t seq;
	bool known;

	if (!s->rings)
		return false;
	p = s->ring[0]->ring.page;
	do {
		seq = p->lock;
		atomic_thread_fence(memory_order_acquire);
		known = p->cap_user_time_zero;
		*out = (struct sampler_clock){ .shift = p->time_shift,
					       .mult = p->time_mult,
					       .zero = p->time_zero,
					       .mask = UINT64_MAX,
					       .is_short = p->cap_user_time_short };
		if (out->is_short) {
			out->cycles = p->time_cycles;
			out->mask = p->time_mask;
		}
		atomic_thread_fence(memory_order_acquire);
	} while (seq & 1 || p->lock != seq);
	return known;
}

/* ---- events ---- */

static int add_id(struct sampled *e, uint64_t id, struct tare_error *err)
{
	if (!array_one_more(&e->ids, e->n_ids, sizeof(*e->ids)))
		return tare_fail_nomem(err);
	e->ids[e->n_ids++] = id;
	return 0;
}

static int add_opened(struct sampler *s, struct opened o, struct tare_error *err)
{
	if (!array_reserve(&s->event, &s->room, s->events + 1, sizeof(*s->event))) {
		close(o.fd);
		return tare_fail_nomem(err);
	}
	s->event[s->events++] = o;
	return 0;
}

static int add_one(struct sampler *s, struct sampled *events, size_t i, size_t first,
		   const struct target *on, size_t ring, size_t n, struct tare_error *err)
{
	struct sampled *e = &events[i];
	const struct sampled *leader = &events[e->leader];
	struct opened o = { .fd = -1, .leader_fd = -1, .of = e, .ring = ring };
	const struct perf_ask ask = { e->enc, &e->attr, on, leader != e ? 1 : 0, n };
	unsigned long flags = on->cgroup_fd >= 0 ? PERF_FLAG_PID_CGROUP : 0;
	int ret = perf_modes_fail(&ask, err);

	if (ret < 0)
		return ret;
	for (size_t k = first; leader != e && k < s->events; k++)
		if (s->event[k].of == leader)
			o.leader_fd = s->event[k].fd;
	o.fd = perf_open(&e->attr, on->cgroup_fd >= 0 ? on->cgroup_fd : on->pid, on->cpu,
			 o.leader_fd, flags);
	if (o.fd < 0)
		return perf_why(err, errno, &ask);
	ret = add_opened(s, o, err);
	if (ret < 0)
		return ret;
	if (ioctl(o.fd, PERF_EVENT_IOC_ID, &s->event[s->events - 1].id) < 0 ||
	    ioctl(o.fd, PERF_EVENT_IOC_SET_OUTPUT, s->ring[ring]->fd) < 0)
		return tare_fail(err, errno, "cannot lead the samples of %s into a buffer: %s",
				 e->enc->name, strerror(errno));
	ret = e->aux ? make_aux(s, &s->event[s->events - 1], err) : 0;
	return ret < 0 ? ret : add_id(e, s->event[s->events - 1].id, err);
}

int sampler_add(struct sampler *s, struct sampled *events, const size_t *at, size_t n,
		const struct target *on, size_t *failed, struct tare_error *err)
{
	size_t ring = 0, first = s->events;
	int ret = find_ring(s, on, &ring, err);

	for (size_t i = 0; ret == 0 && i < n; i++) {
		if (failed)
			*failed = at[i];
		ret = add_one(s, events, at[i], first, on, ring, n, err);
	}
	return ret;
}

static int all_leaders(struct sampler *s, const struct sampled *only, unsigned long request,
		       const char *what, struct tare_error *err)
{
	for (size_t i = 0; i < s->events; i++)
		if (s->event[i].leader_fd < 0 && (!only || s->event[i].of == only) &&
		    ioctl(s->event[i].fd, request, 0) < 0)
			return tare_fail(err, errno, "cannot %s %s: %s", what,
					 s->event[i].of->enc->name, strerror(errno));
	return 0;
}

int sampler_start(struct sampler *s, const struct sampled *only, struct tare_error *err)
{
	return all_leaders(s, only, PERF_EVENT_IOC_ENABLE, "start", err);
}

int sampler_stop(struct sampler *s, struct tare_error *err)
{
	s->stopped = true;
	return all_leaders(s, NULL, PERF_EVENT_IOC_DISABLE, "stop", err);
}

/* One read of an event, or of its group: { [nr] value|times ... }, depending on read_format. */
static int add_total(const struct opened *o, uint64_t *buf, size_t room, struct sampler_total *out)
{
	uint64_t format = o->of->attr.read_format;
	ssize_t got = read(o->fd, buf, room);
	size_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & FORMAT_LOST), at, n = 1;
	bool group = format & PERF_FORMAT_GROUP;

	if (got < 8)
		return got < 0 ? -errno : -EIO;
	at = 1; /* nr, or the value itself */
	if (group)
		n = (size_t)buf[0];
	else
		out->value += buf[0];
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		out->enabled_ns += buf[at++];
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		out->running_ns += buf[at++];
	if (!group)
		at--; /* so that the value's index is before the id */
	for (size_t i = 0; i < n && (at + each) * 8 <= (size_t)got; i++, at += each) {
		if (group && buf[at + 1] != o->id)
			continue;
		if (group)
			out->value += buf[at];
		if (format & FORMAT_LOST)
			out->lost += buf[at + each - 1];
	}
	return 0;
}

int sampler_total(struct sampler *s, const struct sampled *event, struct sampler_total *out,
		  struct tare_error *err)
{
	size_t room = (3 + 3 * 512) * sizeof(uint64_t);
	uint64_t *buf = malloc(room);
	int ret = buf ? 0 : tare_fail_nomem(err);

	*out = (struct sampler_total){ .lost_known = event->attr.read_format & FORMAT_LOST };
	for (size_t i = 0; ret == 0 && i < s->events; i++)
		if (s->event[i].of == event) {
			ret = add_total(&s->event[i], buf, room, out);
			if (ret < 0)
				tare_fail(err, -ret, "cannot read %s: %s", event->enc->name,
					  strerror(-ret));
		}
	free(buf);
	return ret;
}

void sampler_close(struct sampler *s)
{
	if (!s)
		return;
	for (size_t i = s->events; i-- > 0;)
		close(s->event[i].fd);
	for (size_t i = 0; i < s->rings; i++) {
		aux_ring_unmap(&s->ring[i]->aux);
		ring_unmap(&s->ring[i]->ring);
		close(s->ring[i]->fd);
		free(s->ring[i]);
	}
	close(s->epoll);
	free(s->ring);
	free(s->event);
	free(s);
}
