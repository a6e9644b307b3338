/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "cli/stat/stat_cross_check.h"
#include "msr/msr.h"
#include "stat/cross_check_view.h"

static int try_open(const struct encoding *e, int cpu, struct tare_error *err)
{
	const struct target on = { .pid = -1, .cpu = cpu, .cgroup_fd = -1 };
	const struct source *s = encoding_source(e);
	struct counters *c;
	int ret;

	if (e->unavailable) {
		tare_fail(err, e->unavailable, "%.255s", e->why);
		tare_hint(err, "%s", e->remedy);
		ret = -e->unavailable;
	} else {
		ret = s->open(&c, &e, 1, &on, NULL, err);
		if (ret == 0)
			s->close(c);
	}
	if (ret < 0)
		tare_prefix(err, "--cross-check needs both, but %s cannot count %.100s: ",
			    s->registers ? "registers" : "perf", e->name);
	return ret;
}

int stat_cross_check_ready(struct encoding_list *list, const struct cpus *on,
			   struct tare_error *err)
{
	int ret;

	for (size_t i = 0; i < list->n; i++)
		if (!list->enc[i].unavailable && !encoding_source(&list->enc[i])->registers) {
			tare_fail(
				err, EOPNOTSUPP,
				"%.100s is counted only by the kernel: there is nothing to compare",
				list->enc[i].name);
			tare_hint(
				err,
				"--cross-check takes events of the core's counters, such as -e cycles,instructions");
			return -EOPNOTSUPP;
		}
	ret = cross_check_add(list, err);
	for (size_t i = 0; ret == 0 && i < list->n; i++)
		ret = try_open(&list->enc[i], on->n ? on->cpu[0] : 0, err);
	return ret;
}

static int verdict_of(const struct cross_check_row *row, size_t n, struct tare_error *err)
{
	int status = 0;

	for (size_t i = 0; i < n; i++) {
		if (row[i].verdict == CROSS_CHECK_UNKNOWN)
			return tare_fail(err, ENODATA, "%.100s could not be compared: %.300s",
					 row[i].name, row[i].why);
		status |= row[i].verdict == CROSS_CHECK_DIFFER;
	}
	return status;
}

int stat_cross_check_show(struct output *to, const struct stat_table *t,
			  const struct stat_options *o, char *const *argv,
			  const struct style *style, struct tare_error *err)
{
	struct cross_check_view v = { .argv = argv, .via = source_msr_via() };
	struct cross_check_row *row = cross_check_judge(t, &v.n, err);
	struct text out = { 0 };
	int ret;

	if (!row)
		return -ENOMEM;
	v.row = row;
	if (o->out.format == FORMAT_JSON)
		cross_check_json(&out, &v);
	else
		cross_check_text(&out, &v, style);
	ret = output_put(to, &out, err);
	if (ret == 0)
		ret = verdict_of(row, v.n, err);
	free(row);
	return ret;
}
