/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "memory/sharing/sharing_private.h"

enum {
	LINE_SIZE = 64,
	LEAST = 4,
	WIDEST = 1 << 20,
	MORE_LINES = 4 << 20 /* lines after the first of each access, over all accesses */
};

struct sharing *sharing_new(const struct sharing_options *opt, struct tare_error *err)
{
	struct sharing *s = calloc(1, sizeof(*s));

	if (!s) {
		tare_fail_nomem(err);
		return NULL;
	}
	if (opt)
		s->opt = *opt;
	if (!s->opt.line_size)
		s->opt.line_size = LINE_SIZE;
	if (!s->opt.least)
		s->opt.least = LEAST;
	return s;
}

/* Everything except the results. */
static void free_judged(struct sharing *s)
{
	set_free(&s->lines);
	set_free(&s->aliases);
	free(s->same);
	free(s->hit);
	free(s->seen);
	free(s->ran);
	s->same = NULL;
	s->hit = NULL;
	s->seen = NULL;
	s->ran = NULL;
	s->n = s->room = 0;
}

void sharing_free(struct sharing *s)
{
	if (!s)
		return;
	free_judged(s);
	set_free(&s->threads);
	set_free(&s->ips);
	free(s->out);
	free(s->cell);
	free(s->weight);
	free(s->use);
	free(s->ran_at);
	free(s);
}

static struct line *line_at(const struct sharing *s, uint32_t i)
{
	return (struct line *)s->lines.item + i;
}

/* The latency of the data in cycles, as this hardware measures it. */
static uint32_t latency_of(const struct tare_access *a)
{
	static const enum tare_access_latency which[] = { TARE_LATENCY_USE, TARE_LATENCY_TOTAL,
							  TARE_LATENCY_MISS };

	for (size_t i = 0; i < ARRAY_SIZE(which); i++)
		if (a->has_latency >> which[i] & 1)
			return a->latency[which[i]];
	return 0;
}

/*
 * A page in two address spaces, or seen only by loads: names its lines if no physical address is
 * known.
 */
struct alias {
	struct line_key key; /* virtual */
	uint32_t line;
};

static int add_alias(struct sharing *s, uint64_t address, uint32_t pid, uint32_t line,
		     struct tare_error *err)
{
	struct alias alias = { .key = { address, pid, 0 } };
	uint32_t at = set_add(&s->aliases, &alias, sizeof(alias), sizeof(alias.key), NULL);

	if (at == SET_NONE)
		return tare_fail_nomem(err);
	((struct alias *)s->aliases.item)[at].line = line;
	return 0;
}

/*
 * The part of an access that is in one line: `size` bytes (0: not known), from its byte `from` on.
 */
static int add_part(struct sharing *s, const struct tare_access *a, const struct sharing_file *file,
		    struct hit h, uint64_t from, unsigned size, struct tare_error *err)
{
	bool physical = a->has & TARE_ACCESS_PHYSICAL, fresh;
	uint64_t mask = s->opt.line_size - 1,
		 address = (physical       ? a->physical
				    : file ? file->offset
					   : a->address) +
		from;
	uint64_t seen_at = a->has & TARE_ACCESS_ADDRESS ? (a->address + from) & ~mask : 0;
	uint32_t pid = (a->address + from) >> 63 ? 0 : a->pid;
	struct line line = { .key = { address & ~mask, physical || file ? 0 : pid,
				      physical       ? LINE_PHYSICAL
					      : file ? LINE_SHARED + file->number
						     : LINE_VIRTUAL },
			     .seen_by = a->pid,
			     .seen_at = seen_at },
		    *known;

	h.line = set_add(&s->lines, &line, sizeof(line), sizeof(line.key), &fresh);
	if (h.line == SET_NONE)
		return tare_fail_nomem(err);
	known = line_at(s, h.line);
	if (physical && seen_at &&
	    (fresh || known->seen_at != seen_at || known->seen_by != a->pid) &&
	    add_alias(s, seen_at, pid, h.line, err) < 0)
		return -ENOMEM;
	if (seen_at && !known->seen_at)
		known->seen_at = seen_at, known->seen_by = a->pid;
	h.offset = (uint8_t)(address & mask);
	h.size = (uint16_t)size;
	if (!array_reserve(&s->hit, &s->room, s->n + 1, sizeof(*s->hit)))
		return tare_fail_nomem(err);
	s->hit[s->n++] = h;
	return 0;
}

int sharing_add(struct sharing *s, const struct tare_access *a, const struct sharing_file *file,
		struct tare_error *err)
{
	enum { PAGE = 4096, OPERAND = 4096 /* only repeated instructions access more */ };
	bool sized = a->has & TARE_ACCESS_SIZE &&
		(a->origin == TARE_FROM_EXACT || a->size <= OPERAND);
	bool load = a->kind == TARE_ACCESS_LOAD || a->kind == TARE_ACCESS_UPDATE;
	bool store = a->kind == TARE_ACCESS_STORE || a->kind == TARE_ACCESS_UPDATE;
	uint64_t address = a->has & TARE_ACCESS_PHYSICAL ? a->physical : a->address,
		 line_size = s->opt.line_size;
	uint64_t size = sized ? a->size : 0, done = 0,
		 most = (MORE_LINES - s->more_lines) * line_size;
	struct thread_key task = { a->pid, a->tid };
	struct hit h = { .time = a->has & TARE_ACCESS_TIME ? a->time_ns : UINT64_MAX,
			 .latency = latency_of(a) };
	int ret;

	if (!(load || store) || !(a->has & (TARE_ACCESS_ADDRESS | TARE_ACCESS_PHYSICAL)) ||
	    !(a->has & TARE_ACCESS_TASK)) {
		s->totals.passed_over++;
		return 0;
	}
	h.thread = s->thread;
	if (!s->threads.n ||
	    memcmp((struct thread_key *)s->threads.item + s->thread, &task, sizeof(task)) != 0)
		h.thread = set_add(&s->threads, &task, sizeof(task), sizeof(task), NULL);
	h.ip = set_add(&s->ips, &a->ip, sizeof(a->ip), sizeof(a->ip), NULL);
	if (h.thread == SET_NONE || h.ip == SET_NONE)
		return tare_fail_nomem(err);
	s->thread = h.thread;
	h.flags = (load ? HIT_LOAD : 0) | (store ? HIT_STORE : 0) | (a->kernel ? HIT_KERNEL : 0) |
		(a->has & TARE_ACCESS_TIME ? HIT_TIMED : 0);
	if (a->has & TARE_ACCESS_SNOOP && a->snoop == TARE_SNOOP_MODIFIED) {
		h.flags |= HIT_HITM;
		s->totals.knows_hitm = true;
	}
	s->totals.without_time += !(a->has & TARE_ACCESS_TIME);
	s->totals.used++;
	s->totals.knows_physical |= (a->has & TARE_ACCESS_PHYSICAL) != 0;
	s->totals.knows_shared |= file != NULL;
	most = most > WIDEST ? WIDEST : most < 2 * line_size ? 2 * line_size : most;
	if (size > most) { /* of large copies only the beginning, since each line costs memory */
		s->totals.cut_short++;
		size = most;
	}
	do { /* a hit in every line touched */
		uint64_t room = line_size - ((address + done) & (line_size - 1)),
			 part = size - done < room ? size - done : room;

		ret = add_part(s, a, file, h, done, size ? (unsigned)part : 0, err);
		done += part;
		s->more_lines += h.flags & HIT_MORE && s->more_lines < MORE_LINES;
		h.flags |= HIT_MORE;
		/* the next page in physical memory is not known */
	} while (ret == 0 && size && done < size &&
		 !(a->has & TARE_ACCESS_PHYSICAL && (address + done) % PAGE == 0));
	return ret;
}

/* ---- results ---- */

static bool same_cell(const struct hit *a, const struct hit *b)
{
	return a->offset == b->offset && a->thread == b->thread && a->ip == b->ip &&
		a->size == b->size;
}

static int add_cells(struct sharing *s, struct hit *h, size_t n, struct sharing_line *l,
		     struct tare_error *err)
{
	const struct thread_key *task = s->threads.item;
	const uint64_t *ip = s->ips.item;

	sharing_sort(h, n, BY_BYTES);
	l->cell = s->n_cells;
	for (size_t i = 0; i < n; i++) {
		struct sharing_cell *c;

		if (i == 0 || !same_cell(&h[i - 1], &h[i])) {
			if (!array_reserve(&s->cell, &s->cell_room, s->n_cells + 1,
					   sizeof(*s->cell)))
				return tare_fail_nomem(err);
			s->cell[s->n_cells++] = (struct sharing_cell){
				.offset = h[i].offset,
				.size = h[i].size,
				.pid = task[h[i].thread].pid,
				.tid = task[h[i].thread].tid,
				.ip = ip[h[i].ip],
				.time_ns = h[i].flags & HIT_TIMED ? h[i].time : UINT64_MAX,
				.kernel = h[i].flags & HIT_KERNEL
			};
			l->n_cells++;
		}
		c = &s->cell[s->n_cells - 1];
		c->loads += (h[i].flags & HIT_LOAD) != 0;
		c->stores += (h[i].flags & HIT_STORE) != 0;
		c->hitm += (h[i].flags & HIT_HITM) != 0;
		c->latency_sum += h[i].latency;
		c->latency_n += h[i].latency != 0;
	}
	return 0;
}

static int add_line(struct sharing *s, struct hit *h, size_t n, struct tare_error *err)
{
	const struct line *line = line_at(s, h->line);
	bool shared = line->key.where > LINE_PHYSICAL;
	struct sharing_line l = { .address = shared ? line->seen_at : line->key.address,
				  .pid = shared ? line->seen_by : line->key.pid,
				  .physical = line->key.where == LINE_PHYSICAL,
				  .seen_at = line->seen_at,
				  .seen_by = line->seen_by,
				  .samples = n };
	size_t timed = 0;
	int ret;

	for (size_t i = 0; i < n; i++)
		s->weight[h[i].thread] = 0;
	for (size_t i = 0; i < n; i++) {
		l.threads += !s->weight[h[i].thread]++;
		l.loads += (h[i].flags & HIT_LOAD) != 0;
		l.stores += (h[i].flags & HIT_STORE) != 0;
		l.hitm += (h[i].flags & HIT_HITM) != 0;
		timed += (h[i].flags & HIT_TIMED) != 0; /* they come first */
	}
	l.time_ns = timed ? h[timed - 1].time : UINT64_MAX;
	if (2 * timed >= n)
		sharing_judge(s, h, timed, &l);
	else
		sharing_judge_untimed(s, h, n, &l);
	ret = add_cells(s, h, n, &l, err);
	if (ret < 0)
		return ret;
	if (!array_reserve(&s->out, &s->out_room, s->n_out + 1, sizeof(*s->out)))
		return tare_fail_nomem(err);
	s->out[s->n_out++] = l;
	return 0;
}

static int rank(enum sharing_verdict v)
{
	return v == SHARING_MIGRATORY || v == SHARING_UNCLEAR ? 2 : v == SHARING_UNTIMED;
}

static int by_movement(const void *pa, const void *pb)
{
	const struct sharing_line *a = pa, *b = pb;
	uint64_t ma = a->switches_true + a->switches_false + a->hitm,
		 mb = b->switches_true + b->switches_false + b->hitm;
	int ca = rank(a->verdict), cb = rank(b->verdict);

	if (ca != cb)
		return ca < cb ? -1 : 1;
	if (ma != mb)
		return ma > mb ? -1 : 1;
	if (a->verdict == SHARING_UNTIMED && a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* All hits of one line get one number; counts who uses the line and how. */
static int note_lines(struct sharing *s, struct tare_error *err)
{
	uint32_t n = s->lines.n;

	s->same = malloc((n + 1ul) * sizeof(*s->same));
	if (!s->same)
		return tare_fail_nomem(err);
	for (uint32_t i = 0; i < n; i++) {
		const struct line *l = line_at(s, i);
		const struct alias key = { .key = l->key.where > LINE_PHYSICAL
						   ? (struct line_key){ l->seen_at, l->seen_by,
									LINE_VIRTUAL }
						   : l->key };
		uint32_t at = set_find(&s->aliases, &key, sizeof(key), sizeof(key.key));

		s->same[i] = at == SET_NONE ? i : ((struct alias *)s->aliases.item)[at].line;
		s->totals.lines += s->same[i] == i;
	}
	for (size_t i = 0; i < s->n; i++) {
		struct hit *h = &s->hit[i];
		struct line *l;

		h->line = s->same[h->line];
		l = line_at(s, h->line);
		if (!l->samples++)
			l->thread = h->thread;
		l->many |= l->thread != h->thread;
		l->stored |= (h->flags & HIT_STORE) != 0;
	}
	return 0;
}

static int count_processes(struct sharing *s, struct tare_error *err)
{
	struct set pids = { 0 };

	for (uint32_t i = 0; i < s->threads.n; i++) {
		uint32_t pid = ((struct thread_key *)s->threads.item)[i].pid;

		if (set_add(&pids, &pid, sizeof(pid), sizeof(pid), NULL) == SET_NONE) {
			set_free(&pids);
			return tare_fail_nomem(err);
		}
	}
	s->totals.processes = pids.n;
	set_free(&pids);
	return 0;
}

int sharing_finish(struct sharing *s, struct tare_error *err)
{
	size_t kept = 0, most = 0;
	void *shrunk;
	int ret = 0;

	ret = sharing_note_running(s, err);
	if (ret < 0)
		return ret;
	ret = count_processes(s, err);
	if (ret == 0)
		ret = note_lines(s, err);
	if (ret < 0)
		return ret;
	for (uint32_t i = 0; i < s->lines.n; i++)
		s->totals.too_few += line_at(s, i)->many && line_at(s, i)->stored &&
			line_at(s, i)->samples < s->opt.least;
	for (size_t i = 0; i < s->n; i++) {
		const struct line *l = line_at(s, s->hit[i].line);

		if (l->many && l->stored && l->samples >= s->opt.least)
			s->hit[kept++] = s->hit[i];
	}
	s->n = kept;
	shrunk = realloc(s->hit, (kept + 1) * sizeof(*s->hit)); /* the results need memory, too */
	if (shrunk)
		s->hit = shrunk;
	s->weight = calloc(s->threads.n ? 2 * s->threads.n : 1, sizeof(*s->weight));
	s->use = calloc(s->threads.n ? s->threads.n : 1, sizeof(*s->use));
	if (!s->weight || !s->use)
		return tare_fail_nomem(err);
	sharing_sort(s->hit, s->n, BY_LINE_AND_TIME);
	for (size_t i = 0, end; i < s->n; i = end) {
		for (end = i + 1; end < s->n && s->hit[end].line == s->hit[i].line; end++)
			;
		most = end - i > most ? end - i : most;
	}
	s->seen = malloc((most + 1) * sizeof(*s->seen));
	if (!s->seen)
		return tare_fail_nomem(err);
	for (size_t i = 0, end; ret == 0 && i < s->n; i = end) {
		for (end = i + 1; end < s->n && s->hit[end].line == s->hit[i].line; end++)
			;
		ret = add_line(s, s->hit + i, end - i, err);
	}
	if (s->n_out)
		qsort(s->out, s->n_out, sizeof(*s->out), by_movement);
	free_judged(s);
	return ret;
}

const struct sharing_line *sharing_lines(const struct sharing *s, size_t *n)
{
	*n = s->n_out;
	return s->out;
}

const struct sharing_cell *sharing_cells(const struct sharing *s)
{
	return s->cell;
}

struct sharing_totals sharing_totals(const struct sharing *s)
{
	return s->totals;
}

const char *sharing_verdict_name(enum sharing_verdict v)
{
	static const char *const names[] = {
		"none",        "false sharing", "true sharing",      "true and false sharing",
		"handed over", "unclear",       "at times not known"
	};

	return (unsigned)v < ARRAY_SIZE(names) ? names[v] : "unclear";
}
