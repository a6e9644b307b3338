/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "output/csv.h"
#include "scan/scan_view.h"

enum { NEAREST = 10 };

static const char *const meaning_names[SCAN_MEANINGS] = { "unknown", "constant", "counts",
							  "sum",     "follows",  "broken" };
static const char *const state_names[] = { "dead", "live", "refused", "uncounted" };

/* One bit, or none if that counts by itself: what several bits count is also counted by each of
 * them. */
static bool is_shown(const struct scan_event *e)
{
	return e->state == SCAN_LIVE && __builtin_popcount(e->umask) <= 1;
}

static void count_states(const struct scan_shown *v, size_t n[4])
{
	for (size_t i = 0; i < v->scan->n; i++)
		n[v->scan->event[i].state]++;
}

/* "0xc0:0x01", or without a mask if the PMU has none. */
static void put_code(struct text *out, const struct scan_shown *v, const struct scan_event *e)
{
	bool masks = false;

	for (size_t i = 0; i < v->scan->n; i++)
		masks |= v->scan->event[i].umask != 0;
	text_add(out, "0x%02x", e->select);
	if (masks)
		text_add(out, ":0x%02x", e->umask);
}

/* The expected count of the command, if all terms are classes with known counts for it. */
static bool predict(const struct scan_shown *v, const struct scan_finding *f, uint64_t *out)
{
	double sum = 0;

	if (!v->classes || f->meaning != SCAN_COUNTS)
		return false;
	for (size_t i = 0; i < f->n; i++) {
		if (f->term[i].what == TERM_INTERRUPTS)
			continue;
		if (f->term[i].what != TERM_CLASS || f->term[i].which > WORK_X87)
			return false;
		sum += f->term[i].factor * (double)v->classes[f->term[i].which];
	}
	*out = sum > 0 ? (uint64_t)llround(sum) : 0;
	return true;
}

/* ---- the nearest ---- */

struct near_one {
	const struct scan_event *event;
	struct scan_near near;
};

static int nearer(const void *a, const void *b)
{
	const struct near_one *x = a, *y = b;

	if (x->near.equal != y->near.equal)
		return x->near.equal < y->near.equal ? 1 : -1;
	return (x->near.correlation < y->near.correlation) -
		(x->near.correlation > y->near.correlation);
}

/* Allocated; *n entries, most similar first. */
static struct near_one *find_nearest(const struct scan_shown *v, size_t *n)
{
	struct near_one *all = calloc(v->scan->n + 1, sizeof(*all));

	*n = 0;
	for (size_t i = 0; all && v->like_event && i < v->scan->n; i++)
		if (is_shown(&v->scan->event[i]))
			all[(*n)++] = (struct near_one){ &v->scan->event[i],
							 scan_nearness(v->scan, &v->scan->event[i],
								       v->like_event) };
	if (*n)
		qsort(all, *n, sizeof(*all), nearer);
	*n = *n > NEAREST ? NEAREST : *n;
	return all;
}

static void put_nearest(struct text *out, const struct scan_shown *v)
{
	size_t n;
	struct near_one *all = find_nearest(v, &n);

	text_add(out, "\n Nearest to %s:\n", v->like);
	for (size_t i = 0; i < n; i++) {
		struct text code = { 0 };

		put_code(&code, v, all[i].event);
		text_add(
			out,
			" %-12s equal in %.0f %% of the work that either counts, correlation %.3f, factor %.4g  %s\n",
			code.s, 100 * all[i].near.equal, all[i].near.correlation,
			all[i].near.factor,
			v->name(v->with, all[i].event->select, all[i].event->umask));
		text_free(&code);
	}
	if (!n)
		text_add(out, " none: no event counts, or %s itself could not be counted\n",
			 v->like);
	free(all);
}

/* ---- text ---- */

static enum ink ink_of(enum scan_confidence sure)
{
	return sure == SCAN_CERTAIN ? INK_STRONG : sure == SCAN_NO_IDEA ? INK_FAINT : INK_PLAIN;
}

/* Documented events, counted on the same work, whose counts were all equal. */
static void put_same(struct text *out, const struct scan_shown *v, const struct scan_event *e)
{
	bool any = false;

	for (size_t i = 0; i < v->n_known; i++)
		if (v->known[i].event->state == SCAN_LIVE &&
		    scan_nearness(v->scan, e, v->known[i].event).equal == 1) {
			text_add(out, "%s%s", any ? ", " : "; the same as ", v->known[i].name);
			any = true;
		}
}

static void put_row(struct text *out, const struct scan_shown *v, size_t i,
		    const struct style *style)
{
	const struct scan_event *e = &v->scan->event[i];
	const struct scan_finding *f = &v->finding[i];
	const char *name = v->name(v->with, e->select, e->umask);
	struct text code = { 0 };
	uint64_t want;

	put_code(&code, v, e);
	text_add(out, " %-12s %s%-8s%s ", code.s, ink_on(style, ink_of(f->sure)),
		 scan_confidence_names[f->sure], ink_off(style));
	scan_words(out, v->scan, v->known, f);
	put_same(out, v, e);
	if (*name)
		text_add(out, "  [%s]", name);
	if (v->command && e->has_command) {
		text_add(out, "  (command: ");
		put_count(out, style, e->command);
		if (predict(v, f, &want)) {
			text_add(out, ", the exact engine ");
			put_count(out, style, want);
		}
		text_add(out, ")");
	}
	text_add(out, "\n");
	text_free(&code);
}

void scan_view_text(struct text *out, const struct scan_shown *v, const struct style *style)
{
	size_t n[4] = { 0 }, shown = 0;

	count_states(v, n);
	text_add(out, "\n");
	for (size_t i = 0; i < v->scan->n; i++)
		if (is_shown(&v->scan->event[i])) {
			put_row(out, v, i, style);
			shown++;
		}
	if (!shown)
		text_add(out, " No event counts.\n");
	text_add(out, "\n %s of %s, %s mode: %zu events tried, %zu count, %zu are dead",
		 v->scan->pmu, v->scan->cpu[0] ? v->scan->cpu : "this CPU",
		 v->kernel ? "user and kernel" : "user", v->scan->n, n[SCAN_LIVE], n[SCAN_DEAD]);
	if (n[SCAN_REFUSED])
		text_add(out, ", %zu refused by the kernel", n[SCAN_REFUSED]);
	if (n[SCAN_UNCOUNTED])
		text_add(out, ", %zu never scheduled on a counter", n[SCAN_UNCOUNTED]);
	text_add(out, ".\n Each counted %zu pieces of work of known size, %d times.\n",
		 v->scan->rows, SCAN_ROUNDS);
	if (v->like)
		put_nearest(out, v);
}

/* ---- JSON ---- */

static void json_term(struct json *j, const struct scan_shown *v, const struct scan_term *t)
{
	static const char *const what[] = { "class", "interrupts", "documented", "event" };
	const struct scan_event *e = t->what == TERM_EVENT ? &v->scan->event[t->which] : NULL;
	struct text name = { 0 };

	if (e)
		put_code(&name, v, e);
	json_object(j, NULL);
	json_string(j, "what", what[t->what]);
	json_string(j, "name",
		    t->what == TERM_CLASS           ? work_class_names[t->which]
			    : t->what == TERM_KNOWN ? v->known[t->which].name
			    : e                     ? name.s
						    : "interrupts");
	json_real(j, "factor", t->factor);
	json_end(j);
	text_free(&name);
}

static void json_event(struct json *j, const struct scan_shown *v, size_t i)
{
	const struct scan_event *e = &v->scan->event[i];
	const struct scan_finding *f = &v->finding[i];
	struct text words = { 0 }, terms = { 0 };
	uint64_t want;

	json_object(j, NULL);
	json_uint(j, "select", e->select);
	json_uint(j, "umask", e->umask);
	json_string(j, "state", state_names[e->state]);
	if (e->state == SCAN_LIVE) {
		scan_words(&words, v->scan, v->known, f);
		scan_terms(&terms, v->scan, v->known, f);
		table_string(j, "terms_words", terms.s);
		json_string(j, "documented", v->name(v->with, e->select, e->umask));
		json_string(j, "meaning", meaning_names[f->meaning]);
		json_string(j, "sure", scan_confidence_names[f->sure]);
		json_string(j, "words", words.s);
		json_array(j, "terms");
		for (size_t k = 0; k < f->n; k++)
			json_term(j, v, &f->term[k]);
		json_end(j);
		json_int(j, "fixed", f->fixed);
		json_array(j, "except");
		for (unsigned k = 0; k < WORK_KINDS; k++)
			if (f->except >> k & 1)
				json_string(j, NULL, work_name(k));
		json_end(j);
		json_uint(j, "also", f->also);
		json_real(j, "explained", f->explained);
		json_real(j, "correlation", f->correlation);
		json_bool(j, "repeats", f->repeats);
		json_array(j, "same_as");
		for (size_t k = 0; k < v->n_known; k++)
			if (v->known[k].event->state == SCAN_LIVE &&
			    scan_nearness(v->scan, e, v->known[k].event).equal == 1)
				json_string(j, NULL, v->known[k].name);
		json_end(j);
		if (v->command && e->has_command)
			json_uint(j, "command", e->command);
		if (v->command && e->has_command && predict(v, f, &want))
			json_uint(j, "command_exact", want);
	}
	json_end(j);
	text_free(&words);
	text_free(&terms);
}

void scan_view_document(struct text *out, enum output_format format, const struct scan_shown *v)
{
	static const struct table_layout rows = {
		.rows = "events",
		.columns = "select%x,umask%x,state,documented,meaning,sure,terms=terms_words,fixed,"
			   "words,command",
	};
	struct json document = document_as(format, &rows), *j = &document;
	size_t n;
	struct near_one *nearest = find_nearest(v, &n);

	json_object(j, NULL);
	json_string(j, "schema", "tare/scan/1");
	json_string(j, "cpu", v->scan->cpu);
	json_string(j, "pmu", v->scan->pmu);
	json_bool(j, "kernel", v->kernel);
	json_uint(j, "pieces", v->scan->rows);
	json_uint(j, "rounds", SCAN_ROUNDS);
	json_bool(j, "interrupts_known", !v->scan->interrupts_guessed);
	if (v->command) {
		json_strings(j, "command", (const char *const *)v->command);
	}
	json_array(j, "events");
	for (size_t i = 0; i < v->scan->n; i++)
		json_event(j, v, i);
	json_end(j);
	if (v->like) {
		json_string(j, "like", v->like);
		json_array(j, "nearest");
		for (size_t i = 0; i < n; i++) {
			json_object(j, NULL);
			json_uint(j, "select", nearest[i].event->select);
			json_uint(j, "umask", nearest[i].event->umask);
			json_real(j, "equal", nearest[i].near.equal);
			json_real(j, "correlation", nearest[i].near.correlation);
			json_real(j, "factor", nearest[i].near.factor);
			json_end(j);
		}
		json_end(j);
	}
	json_end(j);
	json_into(out, j);
	free(nearest);
}

/* ---- the table to keep ---- */

void scan_view_table(struct text *out, const struct scan_shown *v)
{
	text_add(
		out,
		"# Events that tare scan found on %s: names made by tare, each with its apparent meaning and confidence.\n",
		v->scan->cpu[0] ? v->scan->cpu : "this CPU");
	if (v->kernel)
		text_add(out, "# Counted in user and kernel mode: use them in the same way.\n");
	text_add(out, "# pmu: %s\n# name event umask flags meaning\n", v->scan->pmu);
	for (size_t i = 0; i < v->scan->n; i++) {
		const struct scan_event *e = &v->scan->event[i];
		const char *name = v->name(v->with, e->select, e->umask);

		if (!is_shown(e))
			continue;
		text_add(out, "scan.%s0x%02x.0x%02x 0x%x ", v->kernel ? "kernel." : "", e->select,
			 e->umask, e->select);
		if (e->umask)
			text_add(out, "0x%x", e->umask);
		else
			text_add(out, "-");
		text_add(out, " - %s%s: ", scan_confidence_names[v->finding[i].sure],
			 v->kernel ? ", with the kernel" : "");
		scan_words(out, v->scan, v->known, &v->finding[i]);
		if (*name)
			text_add(out, " [%s]", name);
		text_add(out, "\n");
	}
}
