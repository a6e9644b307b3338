/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include "base/array.h"
#include "symbols/address_spaces.h"

/* More mappings than this are not from real programs: the recording is damaged or hostile. */
enum { MAPS_MAX = 1 << 24 };

struct process {
	uint32_t pid, zero;
	struct maps *maps; /* NULL: nothing known */
};

static struct process *process_of(struct address_spaces *s, uint32_t pid)
{
	struct process key = { .pid = pid }, *item = s->process.item;
	uint32_t at;

	if (s->last < s->process.n && item[s->last].pid == pid)
		return &item[s->last];
	at = set_find(&s->process, &key, sizeof(key), sizeof(key.pid));
	if (at == SET_NONE)
		return NULL;
	s->last = at;
	return &item[at];
}

static struct process *make_process(struct address_spaces *s, uint32_t pid)
{
	struct process key = { .pid = pid };
	uint32_t at = set_add(&s->process, &key, sizeof(key), sizeof(key.pid), NULL);

	return at == SET_NONE ? NULL : (struct process *)s->process.item + at;
}

static void maps_drop(struct address_spaces *s, struct maps *m)
{
	if (!m || --m->refs)
		return;
	s->total -= m->n;
	free(m->map);
	free(m);
}

/* The index of the first mapping that ends at or after `address`. */
static size_t first_behind(const struct maps *m, uint64_t address)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->map[mid].last < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Inserts `add`, replacing what it overlaps. */
static bool insert(struct maps *m, const struct map *add)
{
	size_t from = first_behind(m, add->start), to = from;
	struct map before, behind;
	bool has_before = false, has_behind = false;
	size_t n;

	if (!array_reserve(&m->map, &m->room, m->n + 2, sizeof(*m->map)))
		return false;
	while (to < m->n && m->map[to].start <= add->last)
		to++;
	if (from < to && m->map[from].start < add->start) {
		before = m->map[from];
		before.last = add->start - 1;
		has_before = true;
	}
	if (from < to && m->map[to - 1].last > add->last) {
		behind = m->map[to - 1];
		behind.offset += add->last + 1 - behind.start;
		behind.start = add->last + 1;
		has_behind = true;
	}
	n = 1u + has_before + has_behind;
	memmove(m->map + from + n, m->map + to, (m->n - to) * sizeof(*m->map));
	m->n = m->n - (to - from) + n;
	if (has_before)
		m->map[from++] = before;
	m->map[from++] = *add;
	if (has_behind)
		m->map[from] = behind;
	return true;
}

/* The process's own copy, which may be changed. */
static struct maps *own(struct address_spaces *s, struct process *p)
{
	struct maps *m;

	if (p->maps && p->maps->refs == 1)
		return p->maps;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->refs = 1;
	m->serial = ++s->serial;
	if (p->maps) {
		if (!array_reserve(&m->map, &m->room, p->maps->n, sizeof(*m->map))) {
			free(m);
			return NULL;
		}
		memcpy(m->map, p->maps->map, p->maps->n * sizeof(*m->map));
		m->n = p->maps->n;
		s->total += m->n;
		maps_drop(s, p->maps);
	}
	p->maps = m;
	return m;
}

static int put_mapping(struct address_spaces *s, struct maps *m, const struct map *add,
		       struct tare_error *err)
{
	size_t n = m ? m->n : 0;

	if (!m || add->last < add->start)
		return m ? 0 : tare_fail_nomem(err);
	if (s->total >= (s->most ? s->most : MAPS_MAX))
		return tare_fail(err, EFBIG, "more than %zu mappings at a time",
				 s->most ? s->most : (size_t)MAPS_MAX);
	if (!insert(m, add))
		return tare_fail_nomem(err);
	s->total += m->n - n;
	m->serial = ++s->serial;
	return 0;
}

int address_spaces_map(struct address_spaces *s, uint32_t pid, const struct map *m,
		       struct tare_error *err)
{
	struct process *p = make_process(s, pid);

	return put_mapping(s, p ? own(s, p) : NULL, m, err);
}

int address_spaces_map_kernel(struct address_spaces *s, const struct map *m, struct tare_error *err)
{
	return put_mapping(s, &s->kernel, m, err);
}

int address_spaces_fork(struct address_spaces *s, uint32_t child, uint32_t parent,
			struct tare_error *err)
{
	struct process *to, *from;

	if (child == parent) /* a thread */
		return 0;
	to = make_process(s, child);
	if (!to)
		return tare_fail_nomem(err);
	from = process_of(s, parent);
	if (from && from->maps)
		from->maps->refs++;
	maps_drop(s, to->maps);
	to->maps = from ? from->maps : NULL;
	return 0;
}

void address_spaces_exec(struct address_spaces *s, uint32_t pid)
{
	struct process *p = process_of(s, pid);

	if (!p)
		return;
	maps_drop(s, p->maps);
	p->maps = NULL;
}

const struct maps *address_spaces_of(struct address_spaces *s, uint32_t pid)
{
	const struct process *p = process_of(s, pid);

	return p ? p->maps : NULL;
}

const struct map *maps_find(const struct maps *m, uint64_t address)
{
	size_t at = first_behind(m, address);

	return at < m->n && m->map[at].start <= address ? &m->map[at] : NULL;
}

void address_spaces_free(struct address_spaces *s)
{
	struct process *p = s->process.item;

	for (size_t i = 0; i < s->process.n; i++)
		maps_drop(s, p[i].maps);
	set_free(&s->process);
	free(s->kernel.map);
	*s = (struct address_spaces){ 0 };
}
