/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "regions/labels.h"
#include "output/command.h"
#include "cli/regions/recording_options.h"
#include "output/own_stdout.h"
#include "output/escape.h"

#define OPTIONS struct recording_options

const struct option_row recording_top_rows[] = {
	{ 0, "top", "N", "show N rows (text: 30 by default; json and csv: all); 0: all",
	  NUMBER(top, 0, UINT64_MAX), GIVEN(top_given) },
	{ 0 },
};

const struct option_row recording_region_rows[] = {
	{ 0, "by", "COUNTER", "only this counter", TEXT(by, NULL) },
	{ 0, "match", "TEXT", "only labels that contain TEXT", TEXT(match, NULL) },
	{ 0 },
};

int recording_open(struct opened_output *o, const struct recording_options *r,
		   struct tare_error *err)
{
	int ret = output_open(&o->to, r->out.path, OUTPUT_WHOLE, own_stdout(), err);

	if (ret < 0)
		return ret;
	if (!r->out.path)
		o->to.name = "standard output";
	o->style = output_style(&o->to, r->out.colour);
	o->style.thousands = true;
	return 0;
}

int recording_close(struct opened_output *o, struct text *out, struct tare_error *err)
{
	int ret = output_put(&o->to, out, err), closed = output_close(&o->to, ret < 0 ? NULL : err);

	return ret < 0 ? ret : closed;
}

int recording_each_once(char *const *files, size_t n, struct tare_error *err)
{
	struct stat *st = calloc(n + 1, sizeof(*st));
	int ret = st ? 0 : tare_fail_nomem(err);

	for (size_t i = 0; ret == 0 && i < n; i++) {
		if (stat(files[i], &st[i]) < 0)
			continue; /* opening it later reports the error */
		for (size_t k = 0; k < i; k++)
			if (st[k].st_nlink && st[k].st_ino == st[i].st_ino &&
			    st[k].st_dev == st[i].st_dev) {
				ret = tare_fail(
					err, EINVAL,
					"%.100s and %.100s are one file: it would count as two runs",
					files[k], files[i]);
				tare_hint(err, "name each recording once");
				break;
			}
	}
	free(st);
	return ret;
}

static FILE *open_regular(const char *path)
{
	int fd = file_open_regular(path, INT64_MAX);
	FILE *f = fd >= 0 ? fdopen(fd, "rb") : NULL;

	if (!f && fd >= 0)
		close(fd);
	return f;
}

static bool same_content(const char *a, const char *b)
{
	FILE *f[2] = { open_regular(a), open_regular(b) };
	struct stat st[2];
	bool same = f[0] && f[1] && fstat(fileno(f[0]), &st[0]) == 0 &&
		fstat(fileno(f[1]), &st[1]) == 0 && st[0].st_size == st[1].st_size;

	while (same) {
		char block[2][16384];
		size_t n[] = { fread(block[0], 1, sizeof(block[0]), f[0]),
			       fread(block[1], 1, sizeof(block[1]), f[1]) };

		same = n[0] == n[1] && !memcmp(block[0], block[1], n[0]) && !ferror(f[0]) &&
			!ferror(f[1]);
		if (n[0] < sizeof(block[0]))
			break;
	}
	for (int i = 0; i < 2; i++)
		if (f[i])
			fclose(f[i]);
	return same;
}

int recording_copies(size_t **out, const struct command *self, char *const *files, size_t n,
		     struct tare_error *err)
{
	*out = calloc(n + 1, sizeof(**out));
	if (!*out)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < i && ((*out)[k] != k || !same_content(files[k], files[i])))
			k++;
		(*out)[i] = k;
		if (k < i)
			fprintf(stderr,
				"tare %s: warning: %s is a copy of %s: it is not another run, and hides the noise\n",
				self->name, files[i], files[k]);
	}
	return 0;
}

static void warn_of(const struct command *self, const char *path, const char *what)
{
	struct text words = { 0 };

	escape(&words, path, strlen(path));
	text_add(&words, ": ");
	escape(&words, what, strlen(what));
	fprintf(stderr, "tare %s: warning: %s\n", self->name, words.s ? words.s : what);
	text_free(&words);
}

bool recording_damage(const struct command *self, const struct recording_options *form,
		      const char *path, const char *damage, const char *live)
{
	if (damage && form->out.format == FORMAT_CSV)
		warn_of(self, path, damage);
	if (live && form->out.format == FORMAT_CSV)
		warn_of(self, path, live);
	return damage != NULL;
}

int recording_some_match(const struct recording_options *form, const struct labels *l,
			 struct tare_error *err)
{
	for (size_t i = 0; form->match && i < l->n; i++)
		if (strstr(l->entry[i].name, form->match))
			return 0;
	if (!form->match)
		return 0;
	tare_fail(err, EINVAL, "--match: no label contains '%.100s'", form->match);
	tare_hint(err, "without --match all are shown; upper and lower case differ");
	return -EINVAL;
}
