/* SPDX-License-Identifier: MIT */
/* The formats of `perf stat -x` and `perf stat -j`. */
#include <inttypes.h>
#include <string.h>
#include "output/csv.h"
#include "output/json.h"
#include "count/partial.h"
#include "stat/stat_view.h"

static const struct {
	const char *key; /* in JSON */
	bool with_number;
} columns[] = {
	[BY_ALL] = { NULL, false },        [BY_CPU] = { "cpu", false },
	[BY_CORE] = { "core", true },      [BY_DIE] = { "die", true },
	[BY_SOCKET] = { "socket", true },  [BY_NODE] = { "node", true },
	[BY_THREAD] = { "thread", false }, [BY_PROCESS] = { "process", false },
};

/*
 * The field of a metric's unit in perf: such a row has no metric, and its number includes engine
 * overhead.
 */
static void put_remark(struct text *out, const struct stat_row *r)
{
	bool without = r->without && r->quality != TARE_UNAVAILABLE;

	if (without)
		partial_without(out, r->without);
	if (stat_with_overhead(r))
		text_add(out, "%sincludes engine overhead", without ? ", " : "");
}

void stat_key_name(struct text *out, const struct stat_table *t, const struct stat_row *r)
{
	const struct cpu_place *at = &r->key.at;

	switch (t->by) {
	case BY_ALL:
		text_put(out, "", 0);
		break;
	case BY_CPU:
		text_add(out, "CPU%d", at->cpu);
		break;
	case BY_CORE:
		text_add(out, "S%d-D%d-C%d", at->socket, at->die, at->core);
		break;
	case BY_DIE:
		text_add(out, "S%d-D%d", at->socket, at->die);
		break;
	case BY_SOCKET:
		text_add(out, "S%d", at->socket);
		break;
	case BY_NODE:
		text_add(out, "N%d", at->node);
		break;
	case BY_PROCESS:
	case BY_THREAD:
		if (!r->key.part && r->key.thread <= 0) {
			text_add(out, "all");
			break;
		}
		text_put(out, r->key.comm, strlen(r->key.comm));
		if (r->key.part)
			text_add(out, " #%u", r->key.part);
		else
			text_add(out, "-%d", r->key.thread);
		break;
	}
}

/* As in perf: a clock is shown in msec, a scaled event in its unit, a count unchanged. */
struct shown {
	double value;
	int digits; /* in CSV */
	const char *unit;
};

static struct shown shown_of(const struct stat_table *t, const struct stat_row *r)
{
	const struct encoding *e = &t->enc[r->event];
	char room[160];
	const char *name = metric_event_name(e, room, sizeof(room));

	if (!strcmp(name, "task-clock") || !strcmp(name, "cpu-clock"))
		return (struct shown){ r->spread.mean / 1e6, 2, "msec" };
	if (e->scale != 1 && e->scale != 0)
		return (struct shown){ r->spread.mean * e->scale, 2, e->unit };
	return (struct shown){ r->spread.mean, 0, e->unit };
}

/* The first metric of the row, because perf prints one. */
static const struct stat_metric *metric_at(const struct stat_metrics *m, size_t row)
{
	for (size_t i = 0; m && i < m->n; i++)
		if (m->metric[i].beside == row && m->metric[i].quality != TARE_UNAVAILABLE)
			return &m->metric[i];
	return NULL;
}

static double percent_running(const struct stat_row *r)
{
	return r->enabled_ns ? 100 * r->share : 100;
}

static const char *no_number(const struct stat_table *t, const struct stat_row *r)
{
	return t->enc[r->event].unavailable ? "<not supported>" : "<not counted>";
}

static double variance(const struct stat_row *r)
{
	return r->spread.mean > 0 ? 100 * r->spread.error_of_mean / r->spread.mean : 0;
}

void stat_perf_csv(struct text *out, const struct stat_table *t, const struct stat_metrics *m,
		   const char *sep, bool interval)
{
	for (size_t step = 0, i; stat_next_row(t, &step, &i);) {
		const struct stat_row *r = &t->row[i];
		const struct stat_metric *metric = metric_at(m, i);
		struct shown v = shown_of(t, r);
		struct text name = { 0 };

		if (interval)
			text_add(out, "%6" PRIu64 ".%09" PRIu64 "%s", t->time_ns / 1000000000,
				 t->time_ns % 1000000000, sep);
		stat_key_name(&name, t, r);
		out->failed |= name.failed;
		if (name.len) {
			csv_cell(out, name.s, sep);
			text_add(out, "%s", sep);
		}
		text_free(&name);
		if (columns[t->by].with_number)
			text_add(out, "%u%s", r->places ? r->places : 1, sep);
		if (r->quality == TARE_UNAVAILABLE)
			text_add(out, "%s", no_number(t, r));
		else
			text_add(out, "%.*f", v.digits, v.value);
		text_add(out, "%s%s%s%s", sep, v.unit, sep, t->enc[r->event].name);
		if (r->key.cgroup) {
			text_add(out, "%s", sep);
			csv_cell(out, r->key.cgroup, sep);
		}
		if (t->runs > 1)
			text_add(out, "%s%.2f%%", sep, variance(r));
		text_add(out, "%s%" PRIu64 "%s%.2f%s", sep, r->running_ns, sep, percent_running(r),
			 sep);
		if (metric)
			text_add(out, "%.*f%s%s%s\n", (int)metric->row->digits, metric->value, sep,
				 metric->prefix, metric->row->unit);
		if (metric)
			continue;
		text_add(out, "%s", sep);
		put_remark(out, r);
		text_add(out, "\n");
	}
}

void stat_perf_json(struct text *out, const struct stat_table *t, const struct stat_metrics *m,
		    bool interval)
{
	for (size_t step = 0, i; stat_next_row(t, &step, &i);) {
		const struct stat_row *r = &t->row[i];
		const struct stat_metric *metric = metric_at(m, i);
		struct shown v = shown_of(t, r);

		text_put(out, "{", 1);
		if (interval)
			text_add(out, "\"interval\" : %" PRIu64 ".%09" PRIu64 ", ",
				 t->time_ns / 1000000000, t->time_ns % 1000000000);
		if (columns[t->by].key) {
			struct text name = { 0 };

			stat_key_name(&name, t, r);
			text_add(out, "\"%s\" : ", columns[t->by].key);
			json_quote(out,
				   name.s ? name.s + (t->by == BY_CPU ? strlen("CPU") : 0) : "");
			text_add(out, ", ");
			text_free(&name);
		}
		if (columns[t->by].with_number)
			text_add(out, "\"aggregate-number\" : %u, ", r->places ? r->places : 1);
		if (r->quality == TARE_UNAVAILABLE)
			text_add(out, "\"counter-value\" : \"%s\"", no_number(t, r));
		else
			text_add(out, "\"counter-value\" : \"%f\"", v.value);
		text_add(out, ", \"unit\" : ");
		json_quote(out, v.unit);
		text_add(out, ", \"event\" : ");
		json_quote(out, t->enc[r->event].name);
		if (r->key.cgroup) {
			text_add(out, ", \"cgroup\" : ");
			json_quote(out, r->key.cgroup);
		}
		if (t->runs > 1)
			text_add(out, ", \"variance\" : %.2f", variance(r));
		text_add(out, ", \"event-runtime\" : %" PRIu64 ", \"pcnt-running\" : %.2f",
			 r->running_ns, percent_running(r));
		text_add(out, ", \"metric-value\" : %f, \"metric-unit\" : ",
			 metric ? metric->value : 0.0);
		text_add(out, "\"");
		if (metric)
			text_add(out, "%s%s", metric->prefix, metric->row->unit);
		else
			put_remark(out, r);
		text_add(out, "\"}\n");
	}
}
