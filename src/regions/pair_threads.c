/* SPDX-License-Identifier: MIT */
/*
 * Each thread gets a key and a rank among the threads of its run with that key, in order of
 * creation. Threads with the same key and rank are paired.
 */
#include "regions/pair_threads.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"

struct one {
	const struct timeline_thread *thread;
	char *key;
	/* rank: among threads with its key; seniority: among all of its run */
	size_t run, index, rank, seniority;
	size_t pair;
};

/* Thread numbers wrap around: a number below the process's own was assigned after it. */
static int by_creation(const void *pa, const void *pb)
{
	const struct one *a = pa, *b = pb;
	const struct timeline_thread *x = a->thread, *y = b->thread;
	bool x_round = x->tid < x->pid, y_round = y->tid < y->pid;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x_round != y_round)
		return x_round ? 1 : -1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static int by_key(const void *pa, const void *pb)
{
	const struct one *a = pa, *b = pb;
	int order = strcmp(a->key, b->key);

	if (order)
		return order;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->run > b->run) - (a->run < b->run);
}

static int by_run(const void *pa, const void *pb)
{
	const struct one *a = pa, *b = pb;

	if (a->run != b->run)
		return a->run < b->run ? -1 : 1;
	return (a->seniority > b->seniority) - (a->seniority < b->seniority);
}

/* Name and arguments of the first point with a label. */
static int add_first_label(struct text *key, struct timeline *t, size_t thread,
			   struct tare_error *err)
{
	const struct timeline_label *l = NULL;
	struct cursor *cursor = NULL;
	struct timeline_point p;
	int ret = timeline_thread(t, thread, &cursor, err);

	while (ret >= 0 && !l && (ret = cursor_next(cursor, &p, err)) == 1)
		if (p.kind != TIMELINE_LOST)
			l = timeline_label(t, p.label);
	if (ret >= 0 && l) {
		text_add(key, "%s", l->name);
		for (size_t i = 0; l->arg[i]; i++)
			text_add(key, "\x1e%s", l->arg[i]);
	}
	cursor_close(cursor);
	return ret < 0 ? ret : 0;
}

static int set_key(struct one *o, struct timeline **t, enum thread_pairing how,
		   struct tare_error *err)
{
	struct text key = { 0 };
	int ret = 0;

	text_add(&key, "%s\x1f", how == PAIRED_BY_ORDER ? "" : o->thread->name);
	if (how == PAIRED_BY_NUMBER)
		text_add(&key, "%" PRIu64, o->thread->tid);
	if (how == PAIRED_BY_LABEL)
		ret = add_first_label(&key, t[o->run], o->index, err);
	free(o->key);
	o->key = key.failed ? NULL : key.s;
	if (key.failed)
		text_free(&key);
	return ret < 0 ? ret : o->key ? 0 : tare_fail_nomem(err);
}

/* Compute the ranks within keys. Afterwards `one` is sorted by key. */
static void rank(struct one *one, size_t n)
{
	for (size_t i = 0; i < n; i++)
		/* keeps a run's threads with the same key adjacent */
		one[i].rank = one[i].run * n + one[i].seniority;
	qsort(one, n, sizeof(*one), by_key);
	for (size_t i = 0, first = 0; i < n; i++) {
		if (i && (one[i].run != one[i - 1].run || strcmp(one[i].key, one[i - 1].key)))
			first = i;
		one[i].rank = i - first;
	}
	qsort(one, n, sizeof(*one), by_key);
}

static bool together(const struct one *a, const struct one *b)
{
	return a->rank == b->rank && !strcmp(a->key, b->key);
}

/* Threads sorted by key: count those that are in all runs. */
static size_t shared(const struct one *one, size_t n, size_t runs)
{
	size_t whole = 0;

	for (size_t i = 0, next; i < n; i = next) {
		for (next = i; next < n && together(&one[i], &one[next]); next++)
			;
		whole += next - i == runs;
	}
	return whole;
}

static int try(struct thread_pairs *out, struct one *one, size_t n, struct timeline **t,
	       enum thread_pairing how, struct tare_error *err)
{
	int ret = 0;

	out->how = how;
	for (size_t i = 0; ret == 0 && i < n; i++)
		ret = set_key(&one[i], t, how, err);
	if (ret == 0)
		rank(one, n);
	return ret;
}

/* Build the pairs, in order of creation in the first run that has each of them. */
static int build_pairs(struct thread_pairs *out, struct one *one, size_t n, struct tare_error *err)
{
	size_t *slot = calloc(n + 1, sizeof(*slot)), first = 0;

	out->thread = malloc((n * out->n_runs + 1) * sizeof(*out->thread));
	if (!slot || !out->thread) {
		free(slot);
		return tare_fail_nomem(err);
	}
	for (size_t i = 0; i < n * out->n_runs; i++)
		out->thread[i] = SIZE_MAX;
	for (size_t i = 0; i < n; i++) {
		if (i && !together(&one[first], &one[i]))
			first = i;
		one[i].pair = first;
	}
	qsort(one, n, sizeof(*one), by_run);
	for (size_t i = 0; i < n; i++) {
		if (!slot[one[i].pair])
			slot[one[i].pair] = ++out->n;
		out->thread[(slot[one[i].pair] - 1) * out->n_runs + one[i].run] = one[i].index;
	}
	free(slot);
	return 0;
}

int pair_threads(struct thread_pairs *out, struct timeline **timelines, size_t n_runs,
		 struct tare_error *err)
{
	size_t n = 0, least = SIZE_MAX, most = 0;
	struct one *one;
	int ret;

	*out = (struct thread_pairs){ .n_runs = n_runs };
	for (size_t r = 0; r < n_runs; r++) {
		size_t has = timeline_info(timelines[r])->n_threads;

		n += has;
		least = has < least ? has : least;
		most = has > most ? has : most;
	}
	one = calloc(n + 1, sizeof(*one));
	if (!one)
		return tare_fail_nomem(err);
	n = 0;
	for (size_t r = 0; r < n_runs; r++) {
		const struct timeline_info *info = timeline_info(timelines[r]);
		struct one *own = &one[n];

		for (size_t i = 0; i < info->n_threads; i++)
			one[n++] = (struct one){ .thread = &info->thread[i], .run = r, .index = i };
		qsort(own, info->n_threads, sizeof(*own), by_creation);
		for (size_t i = 0; i < info->n_threads; i++)
			own[i].seniority = i;
	}
	ret = try(out, one, n, timelines, PAIRED_BY_NUMBER, err);
	if (ret == 0 && (least == 0 || shared(one, n, n_runs) < least)) {
		ret = try(out, one, n, timelines, least == most ? PAIRED_BY_NAME : PAIRED_BY_LABEL,
			  err);
		if (ret == 0 && least == most && shared(one, n, n_runs) < least)
			ret = try(out, one, n, timelines, PAIRED_BY_ORDER, err);
	}
	if (ret == 0)
		ret = build_pairs(out, one, n, err);
	for (size_t i = 0; i < n; i++)
		free(one[i].key);
	free(one);
	if (ret < 0)
		thread_pairs_free(out);
	return ret;
}

void thread_pairs_free(struct thread_pairs *p)
{
	free(p->thread);
	p->thread = NULL;
}

const char *thread_pairing_words(enum thread_pairing how)
{
	static const char *const words[] = {
		"by their numbers",
		"by name, and those of one name in the order in which they were created",
		"in the order in which they were created",
		"by name and first label, because the runs have different numbers of threads, and within those in the order in which they were created",
	};

	return words[how];
}

const char *thread_pairing_name(enum thread_pairing how)
{
	static const char *const names[] = { "number", "name", "order", "label" };

	return names[how];
}
