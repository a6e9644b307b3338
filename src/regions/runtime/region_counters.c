/* SPDX-License-Identifier: MIT */
#include "regions/runtime/region_counters.h"
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/file.h"
#include "base/pages.h"
#include "base/text.h"
#include "regions/runtime/region_irqs.h"
#include "source/source.h"
#include "tare/reading.h"

void region_clock_pair(uint64_t *ticks, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 8; i++) {
		uint64_t before = tare_pmc_clock(), at = kernel_clock(), after = tare_pmc_clock();

		if (after - before < best) {
			best = after - before;
			*ticks = before + best / 2;
			*ns = at;
		}
	}
}

/* The conversion from ticks to ns, from the kernel's page of a dummy event. */
static bool page_scale(uint32_t *mult, uint32_t *shift)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_DUMMY,
					.exclude_kernel = 1,
					.exclude_hv = 1 };
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	const struct perf_event_mmap_page *page;
	bool good = false;

	if (fd < 0)
		return false;
	page = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED) {
		good = page->cap_user_time && page->time_mult && page->time_shift < 64;
		*mult = page->time_mult;
		*shift = page->time_shift;
		munmap((void *)page, bytes);
	}
	close(fd);
	return good;
}

bool region_trust_clock;

/* Does the kernel itself use the clock that programs can read? */
static bool clock_trusted(void)
{
	char name[32];

	if (region_trust_clock)
		return true;
	return file_line(NULL, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
			 name, sizeof(name), NULL) >= 0 &&
		(!strcmp(name, "tsc") || !strcmp(name, "arch_sys_counter"));
}

static struct file_counter *add_counter(struct region_counters *c, const char *name,
					enum counter_from from)
{
	struct file_counter *info = &c->info[c->n];

	snprintf(info->name, sizeof(info->name), "%s", name);
	info->kind = COUNTER_COUNT;
	info->quality = TARE_COUNTED;
	c->from[c->n++] = from;
	return info;
}

static void add_clock(struct region_counters *c)
{
	struct file_counter *info = add_counter(c, "wall-time", FROM_CLOCK);

	c->clocks |= 1u << (c->n - 1);
	snprintf(info->unit, sizeof(info->unit), "ns");
	info->kind = COUNTER_CLOCK;
	if (page_scale(&c->mult, &c->shift)) {
		snprintf(info->note, sizeof(info->note),
			 "the CPU's clock, by the scale that the kernel publishes");
	} else if (clock_trusted()) {
		c->mult = 0;
		snprintf(info->note, sizeof(info->note),
			 "the CPU's clock, which the kernel keeps time by, scaled by "
			 "CLOCK_MONOTONIC_RAW");
	} else {
		c->from[c->n - 1] = FROM_KERNEL;
		info->kind = COUNTER_CLOCK_NS;
		snprintf(info->note, sizeof(info->note),
			 "clock_gettime: the kernel does not use the CPU's clock here");
	}
}

#define MINUS_IRQS "instructions-minus-irqs:u"

/* The next word of the list. Commas within {} and // do not end a word. NULL at the end. */
static char *next_word(char **rest)
{
	char *word = *rest, *p = word;
	int depth = 0;
	bool slash = false;

	if (!word)
		return NULL;
	for (; *p && !(*p == ',' && !depth && !slash); p++) {
		depth += (*p == '{') - (*p == '}');
		slash ^= *p == '/';
	}
	*rest = *p ? p + 1 : NULL;
	*p = '\0';
	return word;
}

static int add_pmu(struct region_counters *c, struct text *names, const char *word,
		   enum counter_from from, const char *shown, struct tare_error *err)
{
	struct tare_events *events = tare_events_new(word, err);
	size_t n = events ? tare_events_count(events) : 0;

	if (!events)
		return -err->code;
	if (from == FROM_PMU_LESS && n != 2) {
		tare_events_free(events);
		return tare_fail(err, EOPNOTSUPP, "%s: each kind of core counts it separately",
				 shown);
	}
	if (c->n + n > FILE_COUNTERS || c->n_pmu + n > TARE_PINNED_MAX) {
		tare_events_free(events);
		return tare_fail(err, EINVAL, "at most %d counters can be recorded", FILE_COUNTERS);
	}
	text_add(names, "%s%s", names->len ? "," : "", word);
	for (size_t i = 0; i < (from == FROM_PMU_LESS ? 1 : n); i++) {
		struct file_counter *info = add_counter(
			c, shown ? shown : tare_events_name(events, i), from);

		snprintf(info->unit, sizeof(info->unit), "%s", tare_events_unit(events, i));
		c->pmu[c->n - 1] = (uint8_t)(c->n_pmu + i);
	}
	c->n_pmu += (unsigned)n;
	tare_events_free(events);
	return 0;
}

/* tare's own counters, which have one name each. */
static int wrong_name(const char *word, struct tare_error *err)
{
	static const struct {
		const char *name, *whole, *why;
	} own[] = {
		{ "wall-time", "wall-time",
		  "takes no modifier: it is the elapsed time in all modes" },
		{ "none", "none", "takes no modifier" },
		{ "instructions-minus-irqs", MINUS_IRQS, "is for user mode only" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (strcspn(word, ":") == strlen(own[i].name) &&
		    !strncmp(word, own[i].name, strlen(own[i].name)) &&
		    strcmp(word, own[i].whole)) {
			tare_fail(err, EINVAL, "'%.60s': %s %s", word, own[i].name, own[i].why);
			tare_hint(err, "-e %s", own[i].whole);
			return -EINVAL;
		}
	return 0;
}

static int add_word(struct region_counters *c, struct text *names, const char *word, bool exact,
		    struct tare_error *err)
{
	struct interrupts_event irqs;
	char pair[128];
	int ret;

	for (unsigned i = 0; i < c->n; i++)
		if (!strcmp(c->info[i].name, word))
			return tare_fail(err, EINVAL, "'%.60s' is named twice", word);
	ret = wrong_name(word, err);
	if (ret < 0)
		return ret;
	if (!strcmp(word, "wall-time")) {
		add_clock(c);
		return 0;
	}
	if (!strcmp(word, "none"))
		return tare_fail(err, EINVAL, "'none' cannot be combined with counters");
	if (exact && !strcmp(word, "instructions:u")) {
		struct file_counter *info = add_counter(c, word, FROM_EXACT);

		info->quality = TARE_EXACT;
		snprintf(info->note, sizeof(info->note), "counted by the exact engine");
		return 0;
	}
	if (exact) {
		ret = tare_fail(err, EOPNOTSUPP,
				"%.60s: under the exact engine, it would also count the engine",
				word);
		tare_hint(err, "the exact engine counts instructions:u; wall-time can be added");
		return ret;
	}
	if (strcmp(word, MINUS_IRQS))
		return add_pmu(c, names, word, FROM_PMU, NULL, err);
	ret = region_irqs_find(&irqs, err);
	if (ret < 0)
		return ret;
	snprintf(pair, sizeof(pair), "instructions:u,%s", irqs.event);
	ret = add_pmu(c, names, pair, FROM_PMU_LESS, word, err);
	if (ret == 0)
		snprintf(c->info[c->n - 1].note, sizeof(c->info[0].note), "less %s, %s", irqs.event,
			 irqs.note);
	return ret;
}

static void choose_mode(struct region_counters *c)
{
	c->mode = c->n == 0                             ? READ_NOTHING
		: c->n == 1 && c->from[0] == FROM_CLOCK ? READ_CLOCK
		: c->n == 1 && c->from[0] == FROM_EXACT ? READ_EXACT
							: READ_SEVERAL;
}

static void measure_detour(struct region_counters *c, struct thread_counters *t);

/*
 * Choose the cheapest way to read the events here. Uses the calling thread, which must have no
 * counters yet.
 */
static int prove(struct region_counters *c, struct tare_error *err)
{
	struct tare_error why = TARE_ERROR_INIT;
	struct thread_counters here;
	int ret;

	c->pinned = c->n_pmu > 0;
	ret = thread_counters_open(&here, c, &why);
	if (ret == -EOPNOTSUPP && c->pinned) {
		thread_counters_close(&here);
		c->pinned = false;
		ret = thread_counters_open(&here, c, &why);
	}
	if (ret < 0)
		*err = why;
	else if (c->n_pmu)
		measure_detour(c, &here);
	for (unsigned i = 0; ret == 0 && i < c->n; i++) {
		struct file_counter *info = &c->info[i];

		if (c->from[i] == FROM_PMU_LESS)
			ret = region_irqs_prove(here.pinned, c->n_pmu, c->pmu[i], info->note,
						sizeof(info->note), err);
		else if (c->from[i] == FROM_PMU && !c->pinned)
			snprintf(info->note, sizeof(info->note), "%s",
				 here.page[c->pmu[i]] && tare_group_user_reads(here.group, NULL)
					 ? "each read follows the kernel's page"
					 : "each read is a system call");
	}
	thread_counters_close(&here);
	return ret;
}

/*
 * If instructions were requested and no PMU counts them, the error names the requested word and an
 * alternative.
 */
static void say_which(const char *words, struct tare_error *err)
{
	/* The command's, as cmd_regions.c chose it. */
	const struct source *engine = source_find(secure_getenv("TARE_REGIONS_ENGINE"));
	bool less = strstr(words, MINUS_IRQS),
	     unavailable = strstr(err->what, "instructions") && err->code != EINVAL &&
		err->code != ENOMEM;

	if (less && unavailable && !strstr(err->what, MINUS_IRQS))
		tare_prefix(err, MINUS_IRQS ": ");
	if (!HAVE_EXACT || !unavailable || err->code == EBUSY ||
	    !(less || strstr(words, "instructions:u")))
		return;
	if (engine && engine->needs_engine) {
		tare_fail(
			err, EOPNOTSUPP,
			"instructions:u: 'tare regions' counts it with the exact engine here, and this program runs outside the engine");
		tare_hint(
			err,
			"programs in another pid namespace (a container) do; -e wall-time records it");
	} else {
		tare_hint(
			err,
			"'tare regions -e instructions:u -- command' counts with the exact engine if there is no PMU%s",
			less ? ": without interrupts" : "");
	}
}

int region_counters_new(struct region_counters *c, const char *words, struct tare_error *caller_err)
{
	struct tare_error own = TARE_ERROR_INIT, *err = caller_err ? caller_err : &own;
	struct text names = { 0 };
	size_t bytes = strlen(words) + 1;
	char *copy = pages_new(bytes), *rest = copy, *word;
	bool exact = tare_exact_now() >= 0;
	int ret = copy ? 0 : tare_fail_nomem(err);

	memset(c, 0, sizeof(*c));
	if (copy)
		memcpy(copy, words, bytes);
	if (copy && !strcmp(words, "none"))
		rest = NULL;
	while (ret == 0 && (word = next_word(&rest)))
		ret = c->n == FILE_COUNTERS
			? tare_fail(err, EINVAL, "at most %d counters can be recorded",
				    FILE_COUNTERS)
			: add_word(c, &names, word, exact, err);
	pages_free(copy, bytes);
	if (ret == 0 && names.failed)
		ret = tare_fail_nomem(err);
	if (ret == 0 && c->n_pmu) {
		c->events = tare_events_new(names.s, err);
		ret = c->events ? 0 : -err->code;
	}
	text_free(&names);
	choose_mode(c);
	if (ret == 0)
		ret = prove(c, err);
	if (ret < 0) {
		say_which(words, err);
		region_counters_free(c);
	}
	return ret;
}

void region_counters_free(struct region_counters *c)
{
	tare_events_free(c->events);
	c->events = NULL;
}

static int open_group(struct thread_counters *t, const struct region_counters *c,
		      struct tare_error *err)
{
	int ret = 0;

	t->group = tare_group_open(c->events, 0, TARE_USER_READS | TARE_NEVER_SHARE, err);
	if (!t->group)
		return -err->code;
	ret = tare_group_start(t->group, err);
	for (unsigned i = 0; i < c->n_pmu; i++)
		t->page[i] = tare_group_page(t->group, i);
	return ret;
}

static int open_events(struct thread_counters *t, const struct region_counters *c,
		       struct tare_error *err)
{
	uint64_t count[FILE_COUNTERS];
	int ret;

	if (!c->pinned) {
		ret = open_group(t, c, err);
		/* An event that never gets onto the PMU can be opened all the same. */
		for (unsigned i = 0; ret == 0 && i < c->n_pmu; i++)
			ret = tare_group_count(t->group, i, &count[i], err);
		if (ret == -ENODATA && !err->code)
			ret = tare_fail(err, EBUSY,
					"%s: the counters that the group needs are in use",
					tare_events_name(c->events, 0));
		return ret;
	}
	t->pinned = tare_pinned_open(c->events, err);
	return t->pinned ? 0 : -err->code;
}

int thread_counters_open(struct thread_counters *t, const struct region_counters *c,
			 struct tare_error *err)
{
	struct tare_error own = TARE_ERROR_INIT;
	int ret = 0;

	memset(t, 0, sizeof(*t));
	if (!err)
		err = &own;
	if (c->n_pmu)
		ret = open_events(t, c, err);
	for (unsigned i = 0; i < c->n; i++) {
		bool pmu = c->from[i] == FROM_PMU || c->from[i] == FROM_PMU_LESS;

		t->mask[i] = pmu && t->pinned ? t->pinned->mask : UINT64_MAX;
		if (pmu && ret < 0)
			t->missing |= 1u << i;
	}
	return ret;
}

void thread_counters_close(struct thread_counters *t)
{
	tare_pinned_close(t->pinned);
	tare_group_close(t->group);
	t->pinned = NULL;
	t->group = NULL;
}

enum { TRIES = 16 };

/*
 * Read each event by its page, and repeat if the kernel changes it meanwhile. Returns the number of
 * repetitions; -1: ask the kernel.
 */
static inline int read_pages(struct thread_counters *t, unsigned n, uint64_t *count)
{
	for (int again = 0; again < TRIES; again++) {
		uint32_t stale = t->stale;

		t->stale = 0;
		for (unsigned i = 0; i < n; i++) {
			const struct perf_event_mmap_page *page = t->page[i];
			uint32_t version, index;

			if (__builtin_expect(!page, 0))
				return -1;
			tare_pmc_page_head(page, &version, &index);
			tare_page_barrier();
			if (__builtin_expect(!tare_pmc_index_known(index) ||
						     page->time_enabled != page->time_running,
					     0))
				return -1;
			count[i] = tare_page_sum(page, tare_pmc_read_index(index));
			tare_page_barrier();
			stale |= tare_page_version(page) ^ version;
		}
		if (__builtin_expect(!stale, 1))
			return again;
	}
	return -1;
}

/* All PMU events, minus the recorder's part. False if one of them has no count any more. */
static __attribute__((noinline)) bool read_events(struct thread_counters *t,
						  const struct region_counters *c, uint64_t *count)
{
	const unsigned n = c->n_pmu;
	int again;

	if (t->pinned) {
		uint32_t version = t->pinned->version;

		if (tare_pinned_read(t->pinned, count, n))
			return false;
		again = t->pinned->version != version;
	} else {
		again = read_pages(t, n, count);
		for (unsigned i = 0; again < 0 && i < n; i++)
			if (!t->group || tare_group_count(t->group, i, &count[i], NULL) < 0)
				return false;
	}
	for (unsigned i = 0; i < n; i++)
		count[i] -= t->skip[i];
	if (__builtin_expect(again > 0, 0))
		for (unsigned i = 0; i < n; i++) {
			count[i] -= (uint64_t)again * c->detour[i].before;
			t->skip[i] += (uint64_t)again * c->detour[i].whole;
		}
	return true;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

enum { DETOURS = 31 };

static uint64_t middle_of(uint64_t x[DETOURS])
{
	qsort(x, DETOURS, sizeof(x[0]), by_size);
	return x[DETOURS / 2];
}

/*
 * Measure what a read adds to the counts if it is repeated because the kernel changed the counters
 * meanwhile, as in each context switch. This is forced between two reads, with the same
 * instructions as in a read without repetition.
 */
static void measure_detour(struct region_counters *c, struct thread_counters *t)
{
	uint64_t first[2][FILE_COUNTERS][DETOURS], second[2][FILE_COUNTERS][DETOURS];

	for (int k = 0; k < 2 * DETOURS; k++) {
		uint64_t a[FILE_COUNTERS], b[FILE_COUNTERS], d[FILE_COUNTERS];
		uint32_t forced = k & 1, none = 0,
			 *version = t->pinned ? &t->pinned->version : &none;
		bool read = read_events(t, c, a);

		*version += forced;
		t->stale = forced;
		read &= read_events(t, c, b);
		read &= read_events(t, c, d);
		if (!read)
			return;
		for (unsigned i = 0; i < c->n_pmu; i++) {
			first[forced][i][k / 2] = b[i] - a[i];
			second[forced][i][k / 2] = d[i] - a[i];
		}
	}
	for (unsigned i = 0; i < c->n_pmu; i++) {
		c->detour[i].before = middle_of(first[1][i]) - middle_of(first[0][i]);
		c->detour[i].whole = middle_of(second[1][i]) - middle_of(second[0][i]);
	}
}

void thread_counters_read_several(struct thread_counters *t, const struct region_counters *c,
				  uint64_t clock, uint64_t *value)
{
	uint64_t pmu[TARE_PINNED_MAX] = { 0 };
	bool lost = c->n_pmu && !read_events(t, c, pmu);

	for (unsigned i = 0; i < c->n; i++) {
		switch (c->from[i]) {
		case FROM_CLOCK:
			value[i] = clock ? clock : tare_pmc_clock();
			break;
		case FROM_KERNEL:
			value[i] = kernel_clock();
			break;
		case FROM_EXACT:
			value[i] = (uint64_t)tare_exact_now();
			break;
		case FROM_PMU:
		case FROM_PMU_LESS:
			value[i] = pmu[c->pmu[i]];
			if (c->from[i] == FROM_PMU_LESS)
				value[i] -= pmu[c->pmu[i] + 1];
			if (lost)
				t->missing |= 1u << i;
			break;
		}
	}
}
