/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "output/input.h"
#include "cli/trust/skid_file.h"
#include "output/state_file.h"

static const char everybodys[] = STATE_EVERYBODYS "/skid";

static int read_one(struct skids_kept *out, const char *path, struct tare_error *err)
{
	char *text;
	size_t len;
	int ret = file_read(NULL, path, SKIDS_MOST_BYTES, &text, &len, err);

	*out = (struct skids_kept){ 0 };
	if (ret < 0)
		return ret;
	input_note(path);
	ret = skids_kept_parse(out, text, len, err);
	if (ret < 0) {
		tare_prefix(err, "%.200s: ", path);
		tare_hint(err, "tare verify skid writes such files: remove it and measure again");
		skids_kept_free(out);
	}
	free(text);
	return ret;
}

static int read_if_there(struct skids_kept *out, const char *path, struct tare_error *err)
{
	int ret = read_one(out, path, err);

	return ret == -ENOENT || ret == -ENOTDIR ? 0 : ret;
}

int skid_load(struct skids_kept *out, const char *path, struct tare_error *err)
{
	struct skids_kept own = { 0 };
	char mine[PATH_MAX];
	int ret;

	if (path)
		return read_one(out, path, err);
	*out = (struct skids_kept){ 0 };
	ret = state_home_set() ? 0 : read_if_there(out, everybodys, err);
	if (ret == 0 && state_path(mine, sizeof(mine), "skid") && strcmp(mine, everybodys))
		ret = read_if_there(&own, mine, err);
	for (size_t i = 0; ret == 0 && i < own.n; i++)
		ret = skids_kept_put(out, &own.row[i], err);
	skids_kept_free(&own);
	if (ret < 0)
		skids_kept_free(out);
	return ret;
}

int skid_keep(const struct skid_kept *one, size_t n, char *stored, size_t room,
	      struct tare_error *err)
{
	struct skids_kept all = { 0 };
	struct text text = { 0 };
	int held, ret;

	if (!state_path(stored, room, "skid"))
		return tare_fail(
			err, ENOENT,
			"there is no directory for it: neither XDG_STATE_HOME nor HOME is set");
	held = state_lock(stored, err);
	if (held < 0)
		return held;
	ret = read_if_there(&all, stored, err);
	for (size_t i = 0; ret == 0 && i < n; i++)
		ret = skids_kept_put(&all, &one[i], err);
	skids_kept_write(&text, &all);
	if (ret == 0)
		ret = text.failed ? tare_fail_nomem(err) : state_replace(stored, &text, err);
	text_free(&text);
	skids_kept_free(&all);
	close(held);
	return ret;
}
