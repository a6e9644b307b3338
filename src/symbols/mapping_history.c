/* SPDX-License-Identifier: MIT */
/*
 * Facts are sorted by process and time and divided into lives: a life begins with a fork or an
 * exec. The mappings of a life are in a segment tree over the addresses at which any of them begins
 * or ends; each node holds, by time, the mappings that cover it whole. The mappings that cover an
 * address are in the nodes from its leaf to the root; of those up to a given time, the latest fact
 * counts.
 */
#include <stdlib.h>
#include "base/array.h"
#include "symbols/mapping_history.h"

enum { FACTS_MAX = 1 << 22, GENERATIONS_MAX = 64 };

enum what { FACT_MAP, FACT_FORK, FACT_EXEC };

struct fact {
	uint64_t time;
	uint32_t pid, sequence, parent;
	uint8_t what, layer;
	struct map map;
};

struct tree {
	uint64_t *edge; /* boundaries of mappings, ascending */
	uint32_t edges;
	uint32_t *first; /* per node, 2 * edges + 1: into `held` */
	uint32_t *held;  /* indices of facts */
};

struct life {
	uint32_t pid, parent; /* parent: it inherits this process's mappings; its own pid: none */
	uint64_t start;
	struct tree tree[MAPPING_HISTORY_LAYERS];
};

struct mapping_history {
	struct fact *fact;
	size_t n, room;
	struct life *life; /* by pid, then start */
	size_t lives;
};

struct mapping_history *mapping_history_new(struct tare_error *err)
{
	struct mapping_history *h = calloc(1, sizeof(*h));

	if (!h)
		tare_fail_nomem(err);
	return h;
}

void mapping_history_free(struct mapping_history *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->lives; i++)
		for (int l = 0; l < MAPPING_HISTORY_LAYERS; l++) {
			free(h->life[i].tree[l].edge);
			free(h->life[i].tree[l].first);
			free(h->life[i].tree[l].held);
		}
	free(h->life);
	free(h->fact);
	free(h);
}

/* ---- facts ---- */

static int state(struct mapping_history *h, struct fact f, struct tare_error *err)
{
	if (h->n == FACTS_MAX)
		return tare_fail(err, EFBIG, "more than %d mappings, forks and execs", FACTS_MAX);
	if (!array_reserve(&h->fact, &h->room, h->n + 1, sizeof(*h->fact)))
		return tare_fail_nomem(err);
	f.sequence = (uint32_t)h->n;
	h->fact[h->n++] = f;
	return 0;
}

int mapping_history_map(struct mapping_history *h, uint32_t pid, uint64_t time_ns,
			enum mapping_history_layer layer, const struct map *m,
			struct tare_error *err)
{
	if (m->last < m->start)
		return 0;
	return state(h,
		     (struct fact){ .time = time_ns,
				    .pid = pid,
				    .what = FACT_MAP,
				    .layer = (uint8_t)layer,
				    .map = *m },
		     err);
}

int mapping_history_fork(struct mapping_history *h, uint32_t child, uint32_t parent,
			 uint64_t time_ns, struct tare_error *err)
{
	if (child == parent) /* a thread */
		return 0;
	return state(
		h,
		(struct fact){ .time = time_ns, .pid = child, .what = FACT_FORK, .parent = parent },
		err);
}

int mapping_history_exec(struct mapping_history *h, uint32_t pid, uint64_t time_ns,
			 struct tare_error *err)
{
	return state(h,
		     (struct fact){ .time = time_ns, .pid = pid, .what = FACT_EXEC, .parent = pid },
		     err);
}

static int by_pid_and_time(const void *pa, const void *pb)
{
	const struct fact *a = pa, *b = pb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->sequence < b->sequence ? -1 : 1;
}

/* ---- trees ---- */

static int by_value(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

/* The last edge at or before the address; -1: all are above it. */
static ptrdiff_t edge_before(const struct tree *t, uint64_t address)
{
	return (ptrdiff_t)array_upto(t->edge, t->edges, sizeof(*t->edge), 0, address) - 1;
}

/* The nodes that together cover a mapping: counts them, or adds the mapping to them. */
static void cover(struct tree *t, const struct map *m, uint32_t *fill, uint32_t number)
{
	size_t low = (size_t)edge_before(t, m->start) + t->edges,
	       high = (size_t)edge_before(t, m->last) + t->edges + 1;

	for (; low < high; low /= 2, high /= 2) {
		size_t node[2], n = 0;

		if (low & 1)
			node[n++] = low++;
		if (high & 1)
			node[n++] = --high;
		while (n--)
			if (fill)
				t->held[fill[node[n]]++] = number;
			else
				t->first[node[n] + 1]++;
	}
}

static int build(struct mapping_history *h, struct tree *t, size_t from, size_t to, int layer,
		 struct tare_error *err)
{
	size_t edges = 0, nodes;
	uint32_t *fill;

	for (size_t i = from; i < to; i++)
		edges += 2u * (h->fact[i].what == FACT_MAP && h->fact[i].layer == layer);
	if (!edges)
		return 0;
	t->edge = malloc(edges * sizeof(*t->edge));
	if (!t->edge)
		return tare_fail_nomem(err);
	edges = 0;
	for (size_t i = from; i < to; i++)
		if (h->fact[i].what == FACT_MAP && h->fact[i].layer == layer) {
			t->edge[edges++] = h->fact[i].map.start;
			if (h->fact[i].map.last != UINT64_MAX)
				t->edge[edges++] = h->fact[i].map.last + 1;
		}
	qsort(t->edge, edges, sizeof(*t->edge), by_value);
	for (size_t i = 0; i < edges; i++)
		if (!t->edges || t->edge[t->edges - 1] != t->edge[i])
			t->edge[t->edges++] = t->edge[i];
	nodes = 2u * (size_t)t->edges;
	t->first = calloc(nodes + 1, sizeof(*t->first));
	fill = malloc((nodes + 1) * sizeof(*fill));
	if (t->first && fill) {
		for (size_t i = from; i < to; i++)
			if (h->fact[i].what == FACT_MAP && h->fact[i].layer == layer)
				cover(t, &h->fact[i].map, NULL, 0);
		for (size_t i = 0; i < nodes; i++)
			t->first[i + 1] += t->first[i];
		memcpy(fill, t->first, (nodes + 1) * sizeof(*fill));
		t->held = malloc((t->first[nodes] + 1) * sizeof(*t->held));
	}
	for (size_t i = from; t->held && i < to; i++)
		if (h->fact[i].what == FACT_MAP && h->fact[i].layer == layer)
			cover(t, &h->fact[i].map, fill, (uint32_t)i);
	free(fill);
	return t->held ? 0 : tare_fail_nomem(err);
}

int mapping_history_finish(struct mapping_history *h, struct tare_error *err)
{
	size_t lives = 0;
	int ret = 0;

	if (h->n)
		qsort(h->fact, h->n, sizeof(*h->fact), by_pid_and_time);
	for (size_t i = 0; i < h->n; i++)
		lives += i == 0 || h->fact[i].pid != h->fact[i - 1].pid ||
			h->fact[i].what != FACT_MAP;
	h->life = calloc(lives ? lives : 1, sizeof(*h->life));
	if (!h->life)
		return tare_fail_nomem(err);
	for (size_t i = 0, end; ret == 0 && i < h->n; i = end) {
		struct fact *f = &h->fact[i];
		struct life *l = &h->life[h->lives++];

		*l = (struct life){ .pid = f->pid,
				    .parent = f->what == FACT_FORK ? f->parent : f->pid,
				    .start = f->time };
		for (end = i + 1;
		     end < h->n && h->fact[end].pid == f->pid && h->fact[end].what == FACT_MAP;
		     end++)
			;
		for (int layer = 0; ret == 0 && layer < MAPPING_HISTORY_LAYERS; layer++)
			ret = build(h, &l->tree[layer], i, end, layer, err);
	}
	return ret;
}

/* ---- queries ---- */

/*
 * The life of a process at a time: its first one if the time is before all. NULL: the process is
 * unknown.
 */
static const struct life *life_at(const struct mapping_history *h, uint32_t pid, uint64_t time,
				  uint64_t *until)
{
	size_t low = 0, high = h->lives;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct life *l = &h->life[mid];

		if (l->pid < pid || (l->pid == pid && l->start <= time))
			low = mid + 1;
		else
			high = mid;
	}
	*until = low < h->lives && h->life[low].pid == pid ? h->life[low].start : UINT64_MAX;
	if (low && h->life[low - 1].pid == pid)
		return &h->life[low - 1];
	if (*until == UINT64_MAX)
		return NULL;
	*until = low + 1 < h->lives && h->life[low + 1].pid == pid ? h->life[low + 1].start
								   : UINT64_MAX;
	return &h->life[low];
}

/* Narrows *out's range to that of this tree's answer. */
static bool find_in(const struct mapping_history *h, const struct tree *t, uint64_t address,
		    uint64_t time, struct mapping_history_place *out)
{
	ptrdiff_t leaf = edge_before(t, address);
	uint32_t best = UINT32_MAX;

	if (leaf >= 0 && t->edge[leaf] > out->low)
		out->low = t->edge[leaf];
	if (leaf + 1 < (ptrdiff_t)t->edges && t->edge[leaf + 1] - 1 < out->high)
		out->high = t->edge[leaf + 1] - 1;
	for (size_t node = leaf < 0 ? 0 : (size_t)leaf + t->edges; node; node /= 2) {
		uint32_t low = t->first[node], high = t->first[node + 1];

		while (low < high) {
			uint32_t mid = low + (high - low) / 2;

			if (h->fact[t->held[mid]].time <= time)
				low = mid + 1;
			else
				high = mid;
		}
		if (low < t->first[node + 1] && h->fact[t->held[low]].time < out->until)
			out->until = h->fact[t->held[low]].time;
		if (low > t->first[node] && (best == UINT32_MAX || t->held[low - 1] > best))
			best = t->held[low - 1];
	}
	if (best == UINT32_MAX)
		return false;
	if (h->fact[best].time > out->from)
		out->from = h->fact[best].time;
	out->found = true;
	out->map = h->fact[best].map;
	return true;
}

void mapping_history_find(const struct mapping_history *h, uint32_t pid, uint64_t time_ns,
			  enum mapping_history_layer layer, uint64_t address,
			  struct mapping_history_place *out)
{
	*out = (struct mapping_history_place){ .high = UINT64_MAX, .until = UINT64_MAX };
	for (int generation = 0; generation < GENERATIONS_MAX; generation++) {
		uint64_t until, own = out->until;
		const struct life *l = life_at(h, pid, time_ns, &until);
		bool found;

		if (generation == 0 && until < out->until)
			out->until = until;
		if (!l)
			return;
		/*
		 * Before its birth a process has its initial mappings: the answer holds for this
		 * instant only.
		 */
		if (generation == 0)
			out->from = l->start <= time_ns ? l->start : time_ns;
		if (generation == 0 && l->start > time_ns)
			out->until = time_ns + 1;
		found = find_in(h, &l->tree[layer], address, time_ns, out);
		/* the parent's mappings after the fork do not affect the child */
		if (generation > 0)
			out->until = own;
		if (found || l->parent == pid)
			return;
		pid = l->parent;
		time_ns = l->start < time_ns ? l->start : time_ns;
	}
}
