/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "output/escape.h"
#include "regions/region_cells.h"

/* Shorten a text of more than `most` columns in its middle, because both ends of a label matter. */
static void shorten(struct text *t, const struct style *s, size_t most)
{
	const char *mark = s->utf8 ? "\u2026" : "..";
	size_t width = t->s ? shown_width(t->s) : 0, keep, tail_columns, head, tail;
	struct text cut = { 0 };

	if (width <= most || most < 5)
		return;
	keep = most - shown_width(mark);
	tail_columns = keep / 3;
	for (head = 0, keep -= tail_columns; keep; keep--)
		for (head++; ((unsigned char)t->s[head] & 0xc0) == 0x80;)
			head++;
	for (tail = t->len; tail_columns; tail_columns--)
		for (tail--; ((unsigned char)t->s[tail] & 0xc0) == 0x80;)
			tail--;
	text_put(&cut, t->s, head);
	text_put(&cut, mark, strlen(mark));
	text_put(&cut, t->s + tail, t->len - tail);
	text_free(t);
	*t = cut;
}

void put_label(struct text *out, const struct style *s, const struct labels *of, uint32_t number,
	       size_t most)
{
	const struct labels_entry *l = &of->entry[number];
	struct text t = { 0 };

	escape_cell(&t, l->name);
	for (size_t i = 0; l->arg[i]; i++) {
		text_add(&t, "%s", i ? ", " : "(");
		escape_cell(&t, l->arg[i]);
	}
	if (l->arg[0])
		text_add(&t, ")");
	if (l->kind[0] && (!labels_is_usual(l->kind) || labels_repeats(of, number))) {
		text_add(&t, " [");
		escape_cell(&t, l->kind);
		text_add(&t, "]");
	}
	shorten(&t, s, most);
	out->failed |= t.failed;
	if (t.s)
		text_put(out, t.s, t.len);
	text_free(&t);
}

const struct grid_column count_columns[3] = { { "count", true }, { "label" }, { NULL, false, 1 } };

void put_amount(struct text *out, const struct style *s, const char *unit, double amount)
{
	double size = fabs(amount);

	if (amount < 0 && llround(size))
		text_put(out, "-", 1);
	if (!strcmp(unit, "ns")) {
		put_time(out, s, (uint64_t)llround(size));
		return;
	}
	put_count(out, s, (uint64_t)llround(size));
	if (unit[0])
		text_add(out, " %s", unit);
}

void grid_amount(struct grid *g, unsigned column, enum ink ink, const struct style *s,
		 const char *unit, double amount)
{
	struct text t = { 0 };

	put_amount(&t, s, unit, amount);
	grid_put(g, column, ink, &t);
}

void put_change(struct text *out, const struct style *s, const char *unit, double change)
{
	if (llround(fabs(change)) == 0) {
		text_put(out, "0", 1);
		return;
	}
	if (change > 0)
		text_put(out, "+", 1);
	put_amount(out, s, unit, change);
}

void put_source(struct text *out, const char *file, uint32_t line)
{
	if (!file)
		return;
	text_add(out, " (");
	escape(out, file, strlen(file));
	text_add(out, ":%u)", line);
}

void put_unbalanced(struct text *out, const struct region_unbalanced *u)
{
	const struct {
		uint64_t n;
		const char *words;
	} kinds[] = {
		{ u->not_ended, "begun and not ended" },
		{ u->not_begun, "ended and not begun" },
		{ u->not_finished, "started and not finished" },
		{ u->not_started, "finished and not started" },
		{ u->finished_again, "finished again" },
	};
	const char *between = "";

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].n) {
			text_add(out, "%s%" PRIu64 " %s", between, kinds[i].n, kinds[i].words);
			between = ", ";
		}
}

void json_label(struct json *j, const struct labels_entry *l)
{
	json_string(j, "label", l->name);
	json_string(j, "kind", l->kind);
	json_array(j, "arguments");
	for (size_t i = 0; l->arg[i]; i++)
		json_string(j, NULL, l->arg[i]);
	json_end(j);
}

void put_points_lost(struct text *out, uint64_t lost, bool unknown)
{
	if (lost)
		text_add(out, "%" PRIu64 " point%s lost%s", lost, lost == 1 ? " was" : "s were",
			 unknown ? ", and an unknown number of others" : "");
	else if (unknown)
		text_add(out, "an unknown number of points may be lost");
}

void put_machine(struct text *out, const struct timeline_machine *m)
{
	text_add(out, "%s%s", m->kind ? m->kind : "", m->kind && m->cpu[0] ? ", " : "");
	escape(out, m->cpu, strlen(m->cpu));
}

void json_machine(struct json *j, const struct timeline_machine *m)
{
	json_string(j, "machine", m->kind);
	json_string(j, "cpu", m->cpu[0] ? m->cpu : NULL);
}

void machines_add(struct machines *m, const char *path, const struct timeline_machine *one)
{
	enum timeline_machines how = m->first ? timeline_machines(m->first, one) : MACHINES_ALIKE;

	if (!m->first) {
		m->first = one;
		m->path = path;
	}
	m->more += how != MACHINES_ALIKE && m->other;
	if (how > m->how) {
		m->how = how;
		m->other = one;
		m->other_path = path;
	}
}

void put_machines(struct text *out, const struct style *s, const struct machines *m)
{
	struct text t = { 0 };

	if (m->how == MACHINES_ALIKE)
		return;
	escape(&t, m->other_path, strlen(m->other_path));
	if (m->more)
		text_add(&t, " (and %zu more)", m->more);
	text_add(&t, " is from another %s (",
		 m->how == MACHINES_OTHER_KIND ? "kind of CPU" : "CPU");
	put_machine(&t, m->other);
	text_add(&t, ") than ");
	escape(&t, m->path, strlen(m->path));
	text_add(&t, " (");
	put_machine(&t, m->first);
	put_paragraph(
		out, s, INK_CAREFUL, "%s): %s.", t.s ? t.s : "",
		m->how == MACHINES_OTHER_KIND
			? "they execute other instructions, so only times can be compared, as between two machines"
			: "this alone changes clocks, cycles and cache events");
	out->failed |= t.failed;
	text_free(&t);
}

void json_machines(struct json *j, const struct machines *m)
{
	json_string(j, "machines_differ",
		    m->how == MACHINES_OTHER_KIND          ? "kind"
			    : m->how == MACHINES_OTHER_CPU ? "cpu"
							   : NULL);
}
