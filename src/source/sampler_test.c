/* SPDX-License-Identifier: MIT */
/*
 * Overflow records of an event that every kernel counts, and that a test controls exactly: page
 * faults.
 */
#include <sys/mman.h>
#include "base/error.h"
#include "source/sampler.h"
#include "tap.h"

/* A touched page faults once; with the thread sanitizer its shadow does, too, up to three times. */
enum { SHADOW = TAP_THREAD_SANITIZER ? 4 : 1 };

static struct encoding faults = { .name = "page-faults",
				  .source = &source_perf,
				  .scale = 1,
				  .attr = { .type = PERF_TYPE_SOFTWARE,
					    .config = PERF_COUNT_SW_PAGE_FAULTS,
					    .exclude_kernel = 1,
					    .exclude_hv = 1 } };

struct taken {
	uint64_t samples, lost, bytes;
};

static int take_records(void *with, const unsigned char *bytes, size_t n, struct tare_error *err)
{
	struct taken *t = with;
	struct perf_event_header h;
	uint64_t word;

	(void)err;
	for (size_t at = 0; at < n; at += h.size) {
		memcpy(&h, bytes + at, sizeof(h));
		memcpy(&word, bytes + at + 16, sizeof(word));
		if (h.type == PERF_RECORD_SAMPLE)
			t->samples++;
		else if (h.type == PERF_RECORD_LOST)
			t->lost += word;
	}
	t->bytes += n;
	return 0;
}

static char *room;
static size_t page, next, pages = 1 << 16;

/* Each write to an untouched page is one fault. */
static void touch(size_t n)
{
	if (!room) {
		page = (size_t)sysconf(_SC_PAGESIZE);
		room = mmap(NULL, pages * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		madvise(room, pages * page, MADV_NOHUGEPAGE);
	}
	for (size_t i = 0; i < n; i++)
		room[page * next++] = 1;
}

struct opened {
	struct sampler *s;
	struct sampled event;
	struct tare_error err;
};

static void open_faults(struct opened *o, uint64_t period, size_t ring, size_t most)
{
	static const size_t at[] = { 0 };
	const struct sampler_options options = { ring, most, -1 };
	const struct target self = { .cpu = -1, .cgroup_fd = -1 };

	*o = (struct opened){ .event = { .enc = &faults, .attr = faults.attr },
			      .err = TARE_ERROR_INIT };
	o->event.attr.size = sizeof(o->event.attr);
	o->event.attr.disabled = 1;
	o->event.attr.sample_period = period;
	o->event.attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_CPU | PERF_SAMPLE_ADDR;
	o->event.attr.read_format = sampler_counts_lost() ? 1u << 4 : 0; /* PERF_FORMAT_LOST */
	if (sampler_new(&o->s, &options, &o->err) < 0 ||
	    sampler_add(o->s, &o->event, at, 1, &self, NULL, &o->err) < 0)
		tap_skip("perf", "%s (%s)", o->err.what, o->err.hint);
	touch(1);
}

static void close_faults(struct opened *o)
{
	sampler_close(o->s);
	free(o->event.ids);
}

TEST(one_sample_per_period_and_the_count_beside_it)
{
	static const uint64_t periods[] = { 1, 7, 100 };

	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		struct taken t = { 0 };
		struct sampler_total total;
		struct opened o;

		open_faults(&o, periods[i], 1 << 18, 1 << 18);
		CHECK_EQ(sampler_start(o.s, NULL, &o.err), 0);
		touch(1000);
		CHECK_EQ(sampler_stop(o.s, &o.err), 0);
		CHECK(sampler_drain(o.s, take_records, &t, &o.err) > 0, "%s", o.err.what);
		CHECK_EQ(sampler_total(o.s, &o.event, &total, &o.err), 0);
		/* The number of samples matches the count. */
		CHECK(total.value >= 1000 && total.value < 1200 * SHADOW, "%llu",
		      (unsigned long long)total.value);
		CHECK_EQ(t.samples, total.value / periods[i], "period %d", (int)periods[i]);
		CHECK_EQ(t.lost, 0);
		close_faults(&o);
	}
}

TEST(what_finds_no_room_is_counted)
{
	struct taken t = { 0 };
	struct sampler_total total;
	struct opened o;

	open_faults(&o, 1, page ? page : 4096, 4096);
	sampler_start(o.s, NULL, &o.err);
	touch(500);
	sampler_drain(o.s, take_records, &t, &o.err);
	touch(1); /* now there is room for the record that reports the lost ones */
	sampler_stop(o.s, &o.err);
	sampler_drain(o.s, take_records, &t, &o.err);
	CHECK_EQ(sampler_total(o.s, &o.event, &total, &o.err), 0);
	CHECK(t.lost > 300, "%llu", (unsigned long long)t.lost);
	CHECK_EQ(t.samples + t.lost, total.value);
	if (total.lost_known)
		CHECK_EQ(total.lost, t.lost);
	CHECK_EQ(sampler_rings(o.s).grown, 0, "it may not grow");
	close_faults(&o);
}

TEST(a_ring_that_fills_gives_way_to_a_larger_one)
{
	struct taken t = { 0 };
	struct sampler_total total;
	struct opened o;
	size_t before;

	open_faults(&o, 1, 1 << 14, 1 << 20);
	before = sampler_rings(o.s).largest;
	sampler_start(o.s, NULL, &o.err);
	for (int i = 0; i < 20; i++) {
		touch(200 / SHADOW); /* 48 bytes each: over half of the first ring's size */
		CHECK(sampler_drain(o.s, take_records, &t, &o.err) >= 0, "%s", o.err.what);
	}
	touch(400 / SHADOW);
	sampler_stop(o.s, &o.err);
	sampler_drain(o.s, take_records, &t, &o.err);
	sampler_total(o.s, &o.event, &total, &o.err);
	if (sampler_rings(o.s).limited)
		tap_skip("mlock", "no more memory may be locked here");
	sampler_want_room(o.s);
	CHECK(sampler_drain(o.s, take_records, &t, &o.err) >= 0);
	CHECK(sampler_rings(o.s).largest > before && sampler_rings(o.s).grown > 0);
	CHECK_EQ(t.samples, total.value, "not one is missing, and none comes twice");
	CHECK_EQ(t.lost, 0);
	close_faults(&o);
}

/* A real error of the kernel: page faults have no such hardware. */
TEST(an_event_without_an_aux_area_is_named)
{
	static const size_t at[] = { 0 };
	const struct sampler_options options = {
		.ring_bytes = 1 << 14, .ring_most = 1 << 14, .clockid = -1, .aux_bytes = 1 << 14
	};
	const struct target self = { .cpu = -1, .cgroup_fd = -1 };
	struct sampled event = { .enc = &faults, .attr = faults.attr, .aux = true };
	struct tare_error err = TARE_ERROR_INIT;
	struct sampler_clock clock;
	struct sampler *s;

	event.attr.size = sizeof(event.attr);
	event.attr.sample_period = 1;
	event.attr.disabled = 1;
	if (sampler_new(&s, &options, &err) < 0)
		tap_skip("perf", "%s", err.what);
	CHECK(!sampler_clock(s, &clock), "nothing is mapped that could tell");
	if (sampler_add(s, &event, at, 1, &self, NULL, &err) != -EOPNOTSUPP)
		tap_skip("perf", "%s", err.what);
	CHECK(strstr(err.what, "cannot map an AUX area for page-faults"), "%s", err.what);
	CHECK_EQ(sampler_rings(s).aux, 0);
	CHECK_EQ(sampler_drain_aux(s, NULL, NULL, &err), 0);
	if (sampler_clock(s, &clock))
		CHECK(clock.mult > 0 && clock.shift < 64 && clock.mask, "shift %d",
		      (int)clock.shift);
	sampler_close(s);
	free(event.ids);
}

TEST(events_that_do_not_exist_are_named)
{
	static const size_t at[] = { 0 };
	struct encoding nothing = faults;
	struct sampled event = { .enc = &nothing,
				 .attr = { .type = PERF_TYPE_SOFTWARE,
					   .config = 999,
					   .size = sizeof(struct perf_event_attr) } };
	const struct sampler_options options = { 4096, 4096, -1 };
	const struct target self = { .cpu = -1, .cgroup_fd = -1 };
	struct tare_error err = TARE_ERROR_INIT;
	struct sampler *s;
	size_t failed = 9;

	strcpy(nothing.name, "no-such");
	if (sampler_new(&s, &options, &err) < 0)
		tap_skip("perf", "%s", err.what);
	CHECK(sampler_add(s, &event, at, 1, &self, &failed, &err) < 0);
	CHECK(failed == 0 && strstr(err.what, "no-such"), "%s", err.what);
	sampler_close(s);
	sampler_close(NULL);
}

TEST_MAIN()
