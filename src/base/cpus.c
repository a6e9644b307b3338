/* SPDX-License-Identifier: MIT */
/* Sets of CPUs: sorted arrays, as machines have few CPUs and the kernel lists them sorted. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/cpus.h"

enum { CPU_MAX = 65535 };

static int parse_cpu(const char **p, int *out)
{
	long n = 0;
	const char *start = *p;

	for (; isdigit((unsigned char)**p); ++*p) {
		n = n * 10 + (**p - '0');
		if (n > CPU_MAX)
			return -ERANGE;
	}
	*out = (int)n;
	return *p == start ? -EINVAL : 0;
}

int cpus_parse(const char *text, struct cpus *out, struct tare_error *err)
{
	unsigned char *seen = calloc(CPU_MAX + 1, 1);
	const char *p = text;
	size_t n = 0;

	if (!seen)
		return tare_fail_nomem(err);
	*out = (struct cpus){ 0 };
	while (*p && *p != '\n') {
		int from, to, bad = parse_cpu(&p, &from);

		to = from;
		if (!bad && *p == '-') {
			p++;
			bad = parse_cpu(&p, &to);
		}
		if (bad || to < from || (*p && *p != ',' && *p != '\n')) {
			free(seen);
			return tare_fail_at(err, (int)(p - text), bad == -ERANGE ? ERANGE : EINVAL,
					    "'%.64s' is not a list of CPUs such as 0-3,8", text);
		}
		for (int i = from; i <= to; i++) {
			n += !seen[i];
			seen[i] = 1;
		}
		if (*p == ',')
			p++;
	}
	out->cpu = calloc(n ? n : 1, sizeof(*out->cpu));
	if (!out->cpu) {
		free(seen);
		return tare_fail_nomem(err);
	}
	for (int i = 0; i <= CPU_MAX && out->n < n; i++)
		if (seen[i])
			out->cpu[out->n++] = i;
	free(seen);
	return 0;
}

bool cpus_has(const struct cpus *set, int cpu)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->cpu[i] == cpu)
			return true;
	return false;
}

int cpus_copy(struct cpus *out, const struct cpus *from, struct tare_error *err)
{
	return cpus_and(out, from, from, err);
}

int cpus_and(struct cpus *out, const struct cpus *a, const struct cpus *b, struct tare_error *err)
{
	struct cpus both = { .cpu = calloc(a->n ? a->n : 1, sizeof(*both.cpu)) };

	if (!both.cpu)
		return tare_fail_nomem(err);
	for (size_t i = 0, j = 0; i < a->n; i++) {
		while (j < b->n && b->cpu[j] < a->cpu[i])
			j++;
		if (j < b->n && b->cpu[j] == a->cpu[i])
			both.cpu[both.n++] = a->cpu[i];
	}
	*out = both;
	return 0;
}

void cpus_write(struct text *out, const struct cpus *set)
{
	for (size_t i = 0; i < set->n;) {
		size_t j = i;

		while (j + 1 < set->n && set->cpu[j + 1] == set->cpu[j] + 1)
			j++;
		text_add(out, "%s%d", i ? "," : "", set->cpu[i]);
		if (j > i)
			text_add(out, "-%d", set->cpu[j]);
		i = j + 1;
	}
}

void cpus_free(struct cpus *set)
{
	free(set->cpu);
	*set = (struct cpus){ 0 };
}
