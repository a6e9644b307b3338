/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "profile/inlined_parts.h"

void inlined_parts_add(struct inlined_parts *p, struct symbols *s, uint64_t offset, uint64_t weight)
{
	struct symbol_inlined in[SYMBOL_INLINED_MAX];
	size_t i = 0;

	if (!weight || !symbols_inlined(s, offset, in))
		return;
	while (i < p->n && strcmp(p->part[i].name, in[0].name) != 0)
		i++;
	if (i == p->n) {
		if (!array_reserve(&p->part, &p->room, p->n + 1, sizeof(*p->part))) {
			p->failed = true;
			return;
		}
		p->part[p->n++] = (struct inlined_part){ .name = in[0].name };
	}
	p->part[i].weight += weight;
	p->all += weight;
}

const char *inlined_parts_most(const struct inlined_parts *p, uint64_t total)
{
	const struct inlined_part *most = p->part;

	if (!p->n || p->all < total / INLINED_SHARE)
		return NULL;
	for (size_t i = 1; i < p->n; i++)
		if (p->part[i].weight > most->weight)
			most = &p->part[i];
	return most->name;
}

void inlined_parts_free(struct inlined_parts *p)
{
	free(p->part);
	*p = (struct inlined_parts){ .n = 0 };
}
