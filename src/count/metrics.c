/* SPDX-License-Identifier: MIT */
/*
 * Bind formulas to rows. A formula applies once for each row of its first name. The other names are
 * looked up among rows with the same key, modes and PMU, so that instructions:u is never divided by
 * cycles of user and kernel.
 */
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "count/metrics.h"
#include "event/metric.h"

enum { NAMES_MAX = 64, BY_DURATION = -2 };

const struct metric_row metric_rows[] = {
	{ "cpus-utilized", "task-clock / duration_time", "CPUs utilized",
	  "CPUs kept busy, on average", 3 },
	{ "cpus-utilized", "cpu-clock / duration_time", "CPUs utilized",
	  "CPUs kept busy, on average", 3 },
	{ "ipc", "instructions / cycles", "insn per cycle", "instructions retired per core cycle",
	  2 },
	{ "frequency", "cycles / task-clock", "GHz", "core clock while the program ran", 3,
	  .whole_only = true },
	{ "frontend-stalls", "stalled-cycles-frontend / cycles * 100", "frontend cycles idle",
	  "cycles without instructions coming in", 2, .percent = true },
	{ "backend-stalls", "stalled-cycles-backend / cycles * 100", "backend cycles idle",
	  "cycles waiting for execution or memory", 2, .percent = true },
	{ "branch-miss-rate", "branch-misses / branches * 100", "of all branches",
	  "branches predicted wrongly", 2, .percent = true },
	{ "cache-miss-rate", "cache-misses / cache-references * 100", "of all cache refs",
	  "last-level accesses that missed", 3, .percent = true },
	{ "l1d-miss-rate", "L1-dcache-load-misses / L1-dcache-loads * 100",
	  "of all L1-dcache accesses", "loads that missed the first data cache", 2,
	  .percent = true },
	{ "l1i-miss-rate", "L1-icache-load-misses / L1-icache-loads * 100",
	  "of all L1-icache accesses", "fetches that missed the first instruction cache", 2,
	  .percent = true },
	{ "llc-miss-rate", "LLC-load-misses / LLC-loads * 100", "of all LL-cache accesses",
	  "loads that missed the last cache", 2, .percent = true },
	{ "dtlb-miss-rate", "dTLB-load-misses / dTLB-loads * 100", "of all dTLB cache accesses",
	  "loads that missed the data TLB", 2, .percent = true },
	{ "itlb-miss-rate", "iTLB-load-misses / iTLB-loads * 100", "of all iTLB cache accesses",
	  "fetches that missed the instruction TLB", 2, .percent = true },
	{ "branch-mpki", "branch-misses * 1000 / instructions", "per 1000 insn",
	  "wrongly predicted branches per 1000 instructions", 2 },
	{ "cache-mpki", "cache-misses * 1000 / instructions", "per 1000 insn",
	  "last-level misses per 1000 instructions", 2 },
	{ 0 },
};

static const struct metric_row rate_row = {
	.name = "rate", .unit = "/sec", .about = "events per second of CPU time", .digits = 3
};

const struct metric_row *metric_find(const char *name)
{
	for (const struct metric_row *r = metric_rows; r->name; r++)
		if (!strcmp(r->name, name))
			return r;
	return NULL;
}

/* ---- names ---- */

const char *metric_event_name(const struct encoding *e, char *room, size_t size)
{
	static const struct {
		const char *alias, *name;
	} rows[] = {
		{ "cpu-cycles", "cycles" },
		{ "branch-instructions", "branches" },
		{ "cs", "context-switches" },
		{ "faults", "page-faults" },
		{ "migrations", "cpu-migrations" },
		{ "idle-cycles-frontend", "stalled-cycles-frontend" },
		{ "idle-cycles-backend", "stalled-cycles-backend" },
	};
	/* Under whatever name= the user gave it. */
	if (e->attr.type == PERF_TYPE_SOFTWARE && encoding_source(e)->kernel &&
	    e->attr.config <= PERF_COUNT_SW_TASK_CLOCK)
		return e->attr.config == PERF_COUNT_SW_CPU_CLOCK ? "cpu-clock" : "task-clock";

	const char *slash = strchr(e->name, '/'), *from = slash ? slash + 1 : e->name;
	const char *end = slash ? strrchr(from, '/') : strrchr(from, ':');

	if (!end || (!slash && strspn(end + 1, "ukhGHIpPSDWeR") != strlen(end + 1)))
		end = from + strlen(from);
	snprintf(room, size, "%.*s", (int)(end - from), from);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(room, rows[i].alias))
			return rows[i].name;
	return room;
}

static bool is_clock(const char *name)
{
	static const char *const clocks[] = { "task-clock", "cpu-clock", "duration_time",
					      "user_time", "system_time" };

	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++)
		if (!strcmp(name, clocks[i]))
			return true;
	return false;
}

static bool same_modes(const struct encoding *a, const struct encoding *b)
{
	return a->attr.exclude_user == b->attr.exclude_user &&
		a->attr.exclude_kernel == b->attr.exclude_kernel &&
		a->attr.exclude_hv == b->attr.exclude_hv &&
		a->attr.exclude_guest == b->attr.exclude_guest &&
		a->attr.exclude_host == b->attr.exclude_host && !strcmp(a->pmu, b->pmu);
}

/* By place, thread or process, and control group. */
static int by_key(const struct stat_row *a, const struct stat_row *b)
{
	const char *x = a->key.cgroup, *y = b->key.cgroup;
	int order = stat_key_order(&a->key, &b->key);

	if (order || x == y)
		return order;
	return !x || !y ? (x != NULL) - (y != NULL) : strcmp(x, y);
}

/*
 * Index of the rows by their names in formulas, so that thousands of rows can be bound in less than
 * quadratic time.
 */
struct names {
	const struct stat_table *t;
	char (*name)[160];  /* per row */
	unsigned *order;    /* rows sorted by name, key and index */
	unsigned *by_event; /* rows sorted by event, key and index */
};

static int by_name(const void *a, const void *b, void *with)
{
	const struct names *n = with;
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	int order = strcmp(n->name[x], n->name[y]);

	order = order ? order : by_key(&n->t->row[x], &n->t->row[y]);
	return order ? order : (x > y) - (x < y);
}

static int by_event(const void *a, const void *b, void *with)
{
	const struct names *n = with;
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b, e = n->t->row[x].event,
		 f = n->t->row[y].event;
	int order = e != f ? (e > f) - (e < f) : by_key(&n->t->row[x], &n->t->row[y]);

	return order ? order : (x > y) - (x < y);
}

static void names_free(struct names *n)
{
	free(n->name);
	free(n->order);
	free(n->by_event);
}

static int names_of(struct names *n, const struct stat_table *t, struct tare_error *err)
{
	*n = (struct names){ .t = t,
			     .name = calloc(t->n + 1, sizeof(*n->name)),
			     .order = calloc(t->n + 1, sizeof(*n->order)),
			     .by_event = calloc(t->n + 1, sizeof(*n->by_event)) };
	if (!n->name || !n->order || !n->by_event) {
		names_free(n);
		return tare_fail_nomem(err);
	}
	for (size_t i = 0; i < t->n; i++) {
		char room[160];

		snprintf(n->name[i], sizeof(n->name[i]), "%s",
			 metric_event_name(&t->enc[t->row[i].event], room, sizeof(room)));
		n->order[i] = n->by_event[i] = (unsigned)i;
	}
	qsort_r(n->order, t->n, sizeof(*n->order), by_name, n);
	qsort_r(n->by_event, t->n, sizeof(*n->by_event), by_event, n);
	return 0;
}

/* The first position in `order` with that name, and with the anchor's key if there is one. */
static size_t names_first(const struct names *n, const char *name, const struct stat_row *anchor)
{
	size_t low = 0, high = n->t->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		unsigned row = n->order[middle];
		int order = strcmp(n->name[row], name);

		if (order < 0 || (!order && anchor && by_key(&n->t->row[row], anchor) < 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first row of an event, with the anchor's key if there is one; -1: none. */
static long row_of_event(const struct names *n, unsigned event, const struct stat_row *anchor)
{
	size_t low = 0, high = n->t->n;
	const struct stat_row *r;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		r = &n->t->row[n->by_event[middle]];
		if (r->event < event || (r->event == event && anchor && by_key(r, anchor) < 0))
			low = middle + 1;
		else
			high = middle;
	}
	r = low < n->t->n ? &n->t->row[n->by_event[low]] : NULL;
	return r && r->event == event && (!anchor || !by_key(r, anchor)) ? r - n->t->row : -1;
}

/* The row for `name` with the key of `anchor` (NULL: any row), or -1, or BY_DURATION. */
static long bind(const struct names *names, const char *name, const struct stat_row *anchor)
{
	const struct stat_table *t = names->t;
	bool exact = strpbrk(
		name, ":/"); /* the user specified the modes or the PMU, so they must match */

	for (unsigned e = 0; exact && e < t->n_enc; e++) {
		long row = strcmp(t->enc[e].name, name) ? -1 : row_of_event(names, e, anchor);

		if (row >= 0)
			return row;
	}
	for (size_t at = names_first(names, name, anchor); at < t->n; at++) {
		size_t i = names->order[at];
		const struct encoding *e = &t->enc[t->row[i].event];

		if (strcmp(names->name[i], name) || (anchor && by_key(&t->row[i], anchor)))
			break;
		if (!anchor || is_clock(name) || same_modes(e, &t->enc[anchor->event]))
			return (long)i;
	}
	return strcmp(name, "duration_time") ? -1 : BY_DURATION;
}

/* ---- values ---- */

struct inputs {
	long row[NAMES_MAX];
	size_t n;
	const struct stat_row *anchor;
};

enum end { END_VALUE, END_LOW, END_HIGH };

/* The fraction of its time that a task spent on the anchor's type of core. */
static double part_on_core_type(const struct stat_row *anchor, unsigned run)
{
	const struct amount *a = &anchor->run[run];

	if (!anchor->of_core_type || !a->enabled_ns || !a->raw)
		return 1;
	/* If the PMU was multiplexed, too, value / raw removes that factor. */
	return (double)a->running_ns / (double)a->enabled_ns * ((double)a->value / (double)a->raw);
}

static double worth(const struct stat_table *t, const struct inputs *in, size_t i, unsigned run,
		    enum end end)
{
	long row = in->row[i];
	char room[160];

	if (row == BY_DURATION)
		return (double)t->counted_ns[run];

	const struct encoding *e = &t->enc[t->row[row].event];
	const struct amount *a = &t->row[row].run[run];
	double v = (double)(end == END_LOW ? a->low : end == END_HIGH ? a->high : a->value);

	const char *name = metric_event_name(e, room, sizeof(room));

	if (!strcmp(name, "task-clock") || !strcmp(name, "cpu-clock"))
		return v * part_on_core_type(in->anchor, run);
	return is_clock(name) || e->scale == 0 ? v : v * e->scale;
}

/*
 * One run: the value, and its limits from varying one input at a time (root of the summed squares).
 */
static int value_of_run(const struct stat_table *t, const struct formula *f,
			const struct inputs *in, unsigned run, double out[3])
{
	double value[NAMES_MAX], below = 0, above = 0;

	for (size_t i = 0; i < in->n; i++) {
		if (in->row[i] >= 0 && t->row[in->row[i]].run[run].quality == TARE_UNAVAILABLE)
			return -ENODATA;
		value[i] = worth(t, in, i, run, END_VALUE);
	}
	if (formula_eval(f, value, &out[0]) < 0)
		return -EDOM;
	for (size_t i = 0; i < in->n; i++)
		for (enum end end = END_LOW; end <= END_HIGH; end++) {
			double kept = value[i], moved;

			value[i] = worth(t, in, i, run, end);
			if (formula_eval(f, value, &moved) == 0) {
				double d = moved - out[0];

				*(d < 0 ? &below : &above) += d * d;
			}
			value[i] = kept;
		}
	out[1] = sqrt(below);
	out[2] = sqrt(above);
	return 0;
}

static int value_of(const struct stat_table *t, const struct formula *f, const struct inputs *in,
		    struct stat_metric *m, struct tare_error *err)
{
	double *value = calloc(t->runs + 1, sizeof(*value)), below = 0, above = 0;
	struct spread_real s;
	unsigned n = 0;
	int ret = value ? 0 : tare_fail_nomem(err);

	for (unsigned k = 0; ret == 0 && k < t->runs; k++) {
		double one[3];

		if (value_of_run(t, f, in, k, one) < 0)
			continue;
		value[n++] = one[0];
		below += one[1];
		above += one[2];
	}
	if (ret == 0 && !n) {
		m->quality = TARE_UNAVAILABLE;
		snprintf(m->why, sizeof(m->why), "no run has all its counts, or it divides by 0");
	} else if (ret == 0) {
		ret = spread_of_real(value, n, &s, err);
		m->value = s.median;
		m->low = s.median - hypot(s.median - s.low, below / n);
		m->high = s.median + hypot(s.high - s.median, above / n);
		m->quality = TARE_EXACT;
		for (size_t i = 0; i < in->n; i++) {
			enum tare_quality q = in->row[i] == BY_DURATION
				? TARE_COUNTED
				: t->row[in->row[i]].quality;

			m->quality = q < m->quality ? q : m->quality;
		}
	}
	free(value);
	return ret;
}

static int add_metric(struct stat_metrics *out, struct stat_metric m, struct tare_error *err)
{
	if (!array_one_more(&out->metric, out->n, sizeof(*out->metric)))
		return tare_fail_nomem(err);
	out->metric[out->n++] = m;
	return 0;
}

/* Find the rows for the formula's names with this anchor. Returns the missing name, or NULL. */
static const char *bind_all(const struct names *names, const struct formula *f,
			    const struct stat_row *anchor, struct inputs *in)
{
	in->n = formula_names(f);
	for (size_t i = 0; i < in->n; i++) {
		in->row[i] = i == 0 && anchor ? anchor - names->t->row
					      : bind(names, formula_name(f, i), anchor);
		if (in->row[i] == -1)
			return formula_name(f, i);
	}
	return NULL;
}

static bool is_anchor(const struct names *names, size_t row, const char *name)
{
	return !strcmp(names->t->enc[names->t->row[row].event].name, name) ||
		!strcmp(names->name[row], name);
}

static bool any_unavailable(const struct stat_table *t, const struct inputs *in)
{
	for (size_t i = 0; i < in->n; i++)
		if (in->row[i] >= 0 && t->row[in->row[i]].quality == TARE_UNAVAILABLE)
			return true;
	return false;
}

/* The name of an input that includes an engine's overhead; NULL: none. */
static const char *with_added_work(const struct stat_table *t, const struct inputs *in)
{
	bool exact = false, duration = false;

	for (size_t i = 0; i < in->n; i++) {
		const struct stat_row *r = in->row[i] >= 0 ? &t->row[in->row[i]] : NULL;

		if (r && r->added_work)
			return t->enc[r->event].name;
		duration |= in->row[i] == BY_DURATION;
		exact |= r && encoding_source(&t->enc[r->event])->adds_overhead;
	}
	return duration && exact ? "duration_time" : NULL;
}

/*
 * The name of an input without some processes, which other inputs may include; NULL: all are for
 * the whole command.
 */
static const char *without_some(const struct stat_table *t, const struct inputs *in)
{
	for (size_t i = 0; i < in->n; i++)
		if (in->row[i] >= 0 && t->row[in->row[i]].without)
			return t->enc[t->row[in->row[i]].event].name;
	return NULL;
}

static int apply(const struct names *names, const struct metric_row *row, bool asked,
		 struct stat_metrics *out, struct tare_error *err)
{
	const struct stat_table *t = names->t;
	struct formula *f;
	size_t found = 0, missing_row = 0;
	const char *missing = NULL;
	int ret = formula_parse(row->formula, &f, err);

	for (size_t i = 0; ret == 0 && i < t->n && formula_names(f); i++) {
		struct stat_metric m = { .row = row, .beside = i, .prefix = "" };
		const struct encoding *e = &t->enc[t->row[i].event];
		struct inputs in;

		if (!is_anchor(names, i, formula_name(f, 0)))
			continue;
		missing_row = i;
		in.anchor = &t->row[i];
		missing = bind_all(names, f, &t->row[i], &in);
		if (missing || (any_unavailable(t, &in) && !asked) ||
		    (row->whole_only && (e->attr.exclude_kernel || e->attr.exclude_user)))
			continue;
		if (without_some(t, &in)) {
			if (!asked)
				continue;
			m.quality = TARE_UNAVAILABLE;
			snprintf(m.why, sizeof(m.why),
				 "%.100s is without some processes of the command",
				 without_some(t, &in));
		} else if (with_added_work(t, &in)) {
			if (!asked)
				continue;
			m.quality = TARE_UNAVAILABLE;
			snprintf(
				m.why, sizeof(m.why),
				"%.100s includes engine overhead; --clean-times counts it in runs without",
				with_added_work(t, &in));
		} else {
			ret = value_of(t, f, &in, &m, err);
		}
		if (ret == 0 && (m.quality != TARE_UNAVAILABLE || asked)) {
			found++;
			ret = add_metric(out, m, err);
		}
	}
	if (ret == 0 && asked && !found) {
		struct stat_metric m = {
			.row = row, .beside = missing_row, .prefix = "", .quality = TARE_UNAVAILABLE
		};

		snprintf(m.why, sizeof(m.why),
			 missing ? "%s is not among the events counted in the same modes"
				 : "its events are not among those counted",
			 missing ? missing : "");
		ret = add_metric(out, m, err);
	}
	formula_free(f);
	return ret;
}

/* ---- rates ---- */

static int add_rates(const struct names *names, struct stat_metrics *out, struct tare_error *err)
{
	const struct stat_table *t = names->t;
	static const struct {
		double from;
		const char *prefix;
	} prefixes[] = { { 1e9, "G" }, { 1e6, "M" }, { 1e3, "K" }, { 0, "" } };
	struct formula *f;
	bool *has_metric = calloc(t->n + 1, sizeof(*has_metric));
	int ret = formula_parse("count * 1000000000 / time", &f, err);

	if (ret == 0 && !has_metric)
		ret = tare_fail_nomem(err);
	for (size_t i = 0; ret == 0 && i < out->n; i++)
		if (out->metric[i].quality != TARE_UNAVAILABLE && out->metric[i].beside < t->n)
			has_metric[out->metric[i].beside] = true;

	for (size_t i = 0; ret == 0 && i < t->n; i++) {
		const struct encoding *e = &t->enc[t->row[i].event];
		struct stat_metric m = { .row = &rate_row, .beside = i };
		struct inputs in = { .n = 2, .anchor = &t->row[i] };
		size_t p = 0;

		/* Under the exact engine, the CPU time includes engine overhead. */
		if (t->row[i].quality == TARE_UNAVAILABLE || has_metric[i] || e->unit[0] ||
		    encoding_source(e)->adds_overhead || is_clock(names->name[i]))
			continue;
		in.row[0] = (long)i;
		in.row[1] = bind(names, "task-clock", &t->row[i]);
		if (in.row[1] < 0)
			in.row[1] = bind(names, "cpu-clock", &t->row[i]);
		if (in.row[1] < 0 || any_unavailable(t, &in) || with_added_work(t, &in))
			continue;
		ret = value_of(t, f, &in, &m, err);
		if (ret < 0 || m.quality == TARE_UNAVAILABLE)
			continue;
		while (m.value < prefixes[p].from)
			p++;
		m.prefix = prefixes[p].prefix;
		if (prefixes[p].from > 0) {
			m.value /= prefixes[p].from;
			m.low /= prefixes[p].from;
			m.high /= prefixes[p].from;
		}
		ret = add_metric(out, m, err);
	}
	free(has_metric);
	formula_free(f);
	return ret;
}

int metrics_of(const struct stat_table *t, const struct metric_row *const *asked,
	       struct stat_metrics *out, struct tare_error *err)
{
	struct names names;
	int ret;

	*out = (struct stat_metrics){ 0 };
	ret = names_of(&names, t, err);
	if (ret < 0)
		return ret;
	for (size_t i = 0; ret == 0 && asked && asked[i]; i++)
		ret = apply(&names, asked[i], true, out, err);
	for (const struct metric_row *r = metric_rows; ret == 0 && r->name; r++) {
		bool done = false;

		for (size_t i = 0; asked && asked[i]; i++)
			done |= asked[i] == r;
		if (!done)
			ret = apply(&names, r, false, out, err);
	}
	if (ret == 0)
		ret = add_rates(&names, out, err);
	names_free(&names);
	if (ret < 0)
		metrics_free(out);
	return ret;
}

void metrics_free(struct stat_metrics *m)
{
	free(m->metric);
	*m = (struct stat_metrics){ 0 };
}
