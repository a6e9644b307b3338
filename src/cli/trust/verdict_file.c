/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "output/state_file.h"
#include "cli/trust/verdict_file.h"

static const char everybodys[] = STATE_EVERYBODYS "/verdicts";

bool verdict_path(char *out, size_t room)
{
	return state_path(out, room, "verdicts");
}

static int read_one(struct verdicts *out, const char *path, struct tare_error *err)
{
	char *text;
	size_t len;
	int ret = file_read(NULL, path, VERDICTS_MOST_BYTES, &text, &len, err);

	*out = (struct verdicts){ 0 };
	if (ret == -ENOENT || ret == -ENOTDIR)
		return 0;
	if (ret < 0)
		return ret;
	ret = verdicts_parse(out, text, len, err);
	if (ret < 0) {
		tare_prefix(err, "%.200s: ", path);
		tare_hint(err, "rm %.140s; then tare verify", path);
		verdicts_free(out);
	}
	free(text);
	return ret;
}

int verdict_load(struct verdicts *out, struct tare_error *err)
{
	struct verdicts own = { 0 };
	char path[PATH_MAX];
	int ret = 0, other = 0;

	*out = (struct verdicts){ 0 };
	if (!state_home_set())
		ret = read_one(out, everybodys, err);

	if (verdict_path(path, sizeof(path)) && strcmp(path, everybodys))
		other = read_one(&own, path, err);
	for (size_t i = 0; ret != -ENOMEM && i < own.n; i++)
		if (verdicts_put(out, &own.entry[i], err) < 0)
			ret = -ENOMEM;
	verdicts_free(&own);
	return ret < 0 ? ret : other;
}

int verdict_keep(const struct verdict *one, size_t n, struct tare_error *err)
{
	struct verdicts all = { 0 };
	struct text text = { 0 };
	char path[PATH_MAX];
	int held, ret;

	if (!verdict_path(path, sizeof(path)))
		return tare_fail(
			err, ENOENT,
			"there is no directory for it: neither XDG_STATE_HOME nor HOME is set");
	held = state_lock(path, err);
	if (held < 0)
		return held;
	ret = read_one(&all, path, err);
	for (size_t i = 0; ret == 0 && i < n; i++)
		ret = verdicts_put(&all, &one[i], err);
	verdicts_write(&text, &all);
	if (ret == 0)
		ret = text.failed ? tare_fail_nomem(err) : state_replace(path, &text, err);
	text_free(&text);
	verdicts_free(&all);
	close(held);
	return ret;
}
