/* SPDX-License-Identifier: MIT */
/* tare history export: all values as a table. */
#include <string.h>
#include "cli/history/history_job.h"
#include "history/history_export.h"
#include "output/whole_file.h"

/* --format, or the ending of the file; otherwise CSV. */
static enum history_export_format find_format(const struct history_job *j)
{
	static const struct {
		const char *ending;
		int format;
		enum history_export_format is;
	} rows[] = { { ".csv", FORMAT_CSV, HISTORY_CSV },
		     { ".json", FORMAT_JSON, HISTORY_JSON },
		     { ".parquet", FORMAT_PARQUET, HISTORY_PARQUET } };
	const char *dot = j->o->out.path ? strrchr(j->o->out.path, '.') : NULL;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (j->o->out.format == rows[i].format ||
		    (j->o->out.format == FORMAT_TEXT && dot && !strcmp(dot, rows[i].ending)))
			return rows[i].is;
	return HISTORY_CSV;
}

static int put_all(struct history_job *j, enum history_export_format format, struct out *to)
{
	struct history_export x;
	int ret = history_export_begin(&x, format, to, j->err), ended;

	for (size_t i = 0; ret == 0 && to->error == 0 && i < j->list.n; i++) {
		struct history_values v;

		ret = j->kind->values(j->store, &j->list.row[i], &v, j->err);
		if (ret == 0)
			ret = history_export_series(&x, &v, j->err);
		history_values_free(&v);
	}
	ended = history_export_end(&x, ret == 0, ret == 0 ? j->err : NULL);
	return ret == 0 ? ended : ret;
}

int history_run_export(struct history_job *j, char **words)
{
	struct whole_file file = { .fd = -1 };
	enum history_export_format format;
	struct out out;
	int ret, closed;

	if (words[0] && words[1])
		return tare_fail(j->err, EINVAL, "export takes one benchmark or pattern");
	format = find_format(j);
	ret = history_read_list(j, words[0], HISTORY_NAMES);
	if (ret == 0)
		ret = whole_file_open(&file, j->o->out.path, format == HISTORY_PARQUET, j->err);
	if (ret < 0)
		return ret;
	out_open_fd(&out, &file.fd);
	ret = put_all(j, format, &out);
	closed = out_close(&out);
	if (ret == 0 && closed < 0)
		ret = tare_fail(j->err, -closed, "cannot write %.200s: %s",
				j->o->out.path ? j->o->out.path : "the output", strerror(-closed));
	if (ret == 0)
		ret = whole_file_commit(&file, j->err);
	whole_file_abandon(&file);
	return ret;
}
