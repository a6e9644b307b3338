/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include "analyze/sharing_named.h"

static int name_cells(struct sharing_named *n, struct tare_error *err)
{
	const struct sharing_cell *cell = sharing_cells(n->s);
	struct accessed_code *code;
	uint64_t *samples;
	size_t cells = 0;
	int ret;

	for (size_t i = 0; i < n->n; i++)
		cells += n->line[i].line->n_cells;
	code = calloc(cells + 1, sizeof(*code));
	samples = calloc(cells + 1, sizeof(*samples));
	n->name = calloc(cells + 1, sizeof(*n->name));
	ret = code && samples && n->name ? 0 : tare_fail_nomem(err);
	for (size_t i = 0; ret == 0 && i < cells; i++) {
		struct tare_access a = { .ip = cell[i].ip, .pid = cell[i].pid, .kernel = cell[i].kernel, .time_ns = cell[i].time_ns,
					 .has = cell[i].time_ns == UINT64_MAX ? 0 : TARE_ACCESS_TIME };

		code[i] = accessed_code(n->of, &a);
		samples[i] = cell[i].loads + cell[i].stores;
	}
	if (ret == 0)
		ret = accessed_name(n->of, code, samples, cells, n->name, err);
	free(code);
	free(samples);
	return ret;
}

static int name_lines(struct sharing_named *n, struct tare_error *err)
{
	const struct sharing_line *line = sharing_lines(n->s, &n->n);

	n->line = calloc(n->n + 1, sizeof(*n->line));
	if (!n->line)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < n->n; i++) {
		n->line[i] = (struct sharing_named_line){ .line = &line[i], .object = SET_NONE };
		if (!line[i].seen_at)
			continue;
		n->line[i].object = accessed_object(n->of, line[i].seen_by, line[i].time_ns, line[i].seen_at + sharing_cells(n->s)[line[i].cell].offset,
						    &n->line[i].offset);
		n->line[i].offset -= sharing_cells(n->s)[line[i].cell].offset; /* of the first byte that is used to the line's first */
		if (n->line[i].object == SET_NONE)
			return tare_fail_nomem(err);
	}
	return 0;
}

int sharing_named_read(struct sharing_named *n, struct accessed *c, const struct sharing_options *opts, struct tare_error *err)
{
	struct tare_access a;
	int ret = 0;

	*n = (struct sharing_named){ .of = c, .s = sharing_new(opts, err) };
	if (!n->s)
		return -ENOMEM;
	while (ret == 0 && (ret = accessed_next(c, &a, err)) == 1) {
		bool memory = a.kind == TARE_ACCESS_LOAD || a.kind == TARE_ACCESS_STORE || a.kind == TARE_ACCESS_UPDATE ||
			      a.kind == TARE_ACCESS_PREFETCH;

		n->no_accesses += !memory;
		n->origins |= 1u << a.origin;
		ret = memory ? sharing_add(n->s, &a, err) : 0;
	}
	if (ret == 0)
		ret = sharing_finish(n->s, err);
	if (ret == 0)
		ret = name_lines(n, err);
	return ret < 0 ? ret : name_cells(n, err);
}

void sharing_named_free(struct sharing_named *n)
{
	sharing_free(n->s);
	free(n->line);
	free(n->name);
	*n = (struct sharing_named){ 0 };
}
