/* SPDX-License-Identifier: MIT */
/*
 * Pinned counters (tare/pinned.h): open, look up, and the slow paths of the inline read.
 *
 * One mapping contains the state, followed by the kernel's pages of the group:
 *
 *	page 0      struct pinned_state
 *	page 1+i    the kernel's page of event i
 *
 * A value is the register's contents. When the thread is scheduled again, the kernel restores the
 * register (its period continues), so values continue, too. `base` is the page's offset at open;
 * while the offset is unchanged, register and count differ by it. After an overflow (2^47 events on
 * x86) it changes, and from then on values are computed from the full count, out of line.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "source/events.h"
#include "source/page.h"
#include "source/perf.h"
#include "tare/pinned.h"

struct pinned_state {
	struct tare_pinned pub;
	struct counters *group;
	size_t page_bytes;
	int64_t base[TARE_PINNED_MAX];
};

static const struct perf_event_mmap_page *page_at(const struct pinned_state *s, size_t i)
{
	return (const void *)((const char *)s + s->page_bytes * (i + 1));
}

/*
 * Look up the registers again. False if one is off the PMU or was reset, or if they keep changing.
 */
static bool look_up(struct pinned_state *s)
{
	for (int tries = 0; tries < PAGE_TRIES; tries++) {
		uint32_t version = tare_pmc_version(s->pub.pages, s->pub.n);

		tare_page_barrier();
		for (uint32_t i = 0; i < s->pub.n; i++) {
			const struct perf_event_mmap_page *page = page_at(s, i);
			uint32_t index = page->index;

			if (!tare_pmc_index_known(index) || page->offset != s->base[i])
				return false;
			s->pub.counter[i] = pmc_handle(index);
		}
		tare_page_barrier();
		if (tare_pmc_version(s->pub.pages, s->pub.n) == version) {
			s->pub.version = version;
			return true;
		}
	}
	return false;
}

static bool read_registers(struct pinned_state *s, uint64_t *out, uint32_t n)
{
	for (int tries = 0; tries < PAGE_TRIES; tries++) {
		if (!look_up(s))
			return false;
		tare_pmc_fence();
		for (uint32_t i = 0; i < n; i++)
			out[i] = tare_pmc_read(s->pub.counter[i]);
		tare_pmc_fence();
		if (tare_pmc_version(s->pub.pages, s->pub.n) == s->pub.version)
			return true;
	}
	return false;
}

/* Full counts, one by one, converted to the register's values. */
static int read_counts(struct pinned_state *s, uint64_t *out, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!perf_page(s->group, i) || !tare_page_count(page_at(s, i), &out[i])) {
			struct tare_reading r;
			int ret = perf_read_one(s->group, i, &r, NULL);

			if (ret < 0)
				return ret;
			if (r.quality != TARE_COUNTED)
				return -ENODATA;
			out[i] = r.raw;
		}
		out[i] -= (uint64_t)s->base[i];
	}
	return 0;
}

int tare_pinned_read_slowly(struct tare_pinned *p, uint64_t *out, uint32_t n)
{
	struct pinned_state *s = (struct pinned_state *)p;

	if (n > p->n)
		return -EINVAL;
	if (perf_page(s->group, 0) && read_registers(s, out, n))
		return 0;
	return read_counts(s, out, n);
}

static struct pinned_state *map_all(struct counters *group, struct tare_error *err)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE), n = perf_size(group);
	char *at = mmap(NULL, bytes * (n + 1), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	struct pinned_state *s = (void *)at;

	if (at == MAP_FAILED) {
		tare_fail_nomem(err);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		if (mmap(at + bytes * (i + 1), bytes, PROT_READ, MAP_SHARED | MAP_FIXED,
			 perf_fd(group, i), 0) == MAP_FAILED) {
			tare_fail(err, errno, "%s: the kernel gave no page for event %zu: %s",
				  perf_leader(group), i + 1, strerror(errno));
			tare_hint(err,
				  "every counter takes a locked page: `ulimit -l`, "
				  "kernel.perf_event_mlock_kb");
			munmap(at, bytes * (n + 1));
			return NULL;
		}
	s->group = group;
	s->page_bytes = bytes;
	s->pub.n = (uint32_t)n;
	s->pub.pages = at + bytes;
	return s;
}

/* While the group counts, check that its registers allow every read to be validated. */
static int prove(struct pinned_state *s, const struct tare_events *events, struct tare_error *err)
{
	unsigned width = 64;
	int ret;

	for (uint32_t i = 0; i < s->pub.n; i++) {
		const struct perf_event_mmap_page *page = page_at(s, i);
		struct tare_reading r;

		if (!tare_pmc_index_known(page->index)) {
			ret = perf_read_one(s->group, i, &r, err);
			if (ret == -EIO)
				return tare_fail(err, EBUSY,
						 "%s: the counters that the group needs are in use",
						 events->list.enc[i].name);
			if (ret < 0)
				return ret;
			ret = tare_fail(err, EOPNOTSUPP,
					"%s: its register may not be read from user space",
					events->list.enc[i].name);
			tare_hint(err, "%s (now %s says no)", PMC_SWITCH_ON, PMC_SWITCH_PATH);
			return ret;
		}
		if (page->pmc_width < TARE_PMC_MIN_WIDTH) {
			ret = tare_fail(
				err, EOPNOTSUPP,
				"%s: its register has %u bits, and reads by a cached number take %d",
				events->list.enc[i].name, page->pmc_width, TARE_PMC_MIN_WIDTH);
			tare_hint(err,
				  "tare_group_count() reads it without a system call all the same");
			return ret;
		}
		if (page->pmc_width < width)
			width = page->pmc_width;
		s->base[i] = page->offset;
	}
	s->pub.mask = UINT64_MAX >> (64 - width);
	if (!look_up(s))
		return tare_fail(err, EBUSY, "%s: its register does not stay the same",
				 perf_leader(s->group));
	return 0;
}

struct tare_pinned *tare_pinned_open(const struct tare_events *events, struct tare_error *err)
{
	const struct target self = { .cpu = -1, .cgroup_fd = -1, .user_reads = true };
	const struct encoding **enc = NULL;
	struct encoding leader;
	struct counters *group = NULL;
	struct pinned_state *s = NULL;
	size_t failed = 0;
	int ret;

	if (events->list.n > TARE_PINNED_MAX) {
		tare_fail(err, EINVAL, "at most %d counters can be pinned, not %zu",
			  TARE_PINNED_MAX, events->list.n);
		return NULL;
	}
	ret = events_as_group(events, &enc, &leader, err);
	if (ret < 0)
		return NULL;
	leader.attr.pinned = 1;
	ret = perf_open_wide(&group, enc, events->list.n, &self, true, &failed, err);
	free(enc);
	if (ret == -EOPNOTSUPP && TARE_PMC_MIN_WIDTH == 64) {
		tare_fail(err, EOPNOTSUPP,
			  "%s: this PMU has no register of 64 bits for it, which reads by a cached "
			  "number take",
			  events->list.enc[failed].name);
		tare_hint(err, "tare_group_count() reads it without a system call all the same");
	}
	if (ret < 0)
		return NULL;
	if (perf_user_reads(group, err) == -EOPNOTSUPP && !perf_page(group, 0))
		goto fail;
	s = map_all(group, err);
	if (!s || source_perf.start(group, err) < 0 || prove(s, events, err) < 0)
		goto fail;
	tare_no_error(err);
	return &s->pub;
fail:
	if (s)
		munmap(s, s->page_bytes * (s->pub.n + 1));
	source_perf.close(group);
	return NULL;
}

void tare_pinned_close(struct tare_pinned *p)
{
	struct pinned_state *s = (struct pinned_state *)p;

	if (!s)
		return;

	struct counters *group = s->group;

	munmap(s, s->page_bytes * (s->pub.n + 1));
	source_perf.close(group);
}
