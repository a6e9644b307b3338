/* SPDX-License-Identifier: MIT */
/* Open a recording in any known format. One row per format. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "recording/recording_input.h"
#include "regions/timeline/timeline_format.h"

extern const struct timeline_format timeline_measureme;
extern const struct timeline_format timeline_tare;

static const struct timeline_format *const formats[] = {
	&timeline_tare,
	&timeline_measureme,
};

static int open_by_content(struct timeline **out, int fd, const char *path, struct tare_error *err)
{
	unsigned char head[TIMELINE_HEAD];
	ssize_t n = pread(fd, head, sizeof(head), 0);

	if (n < 0)
		return tare_fail(err, errno, "cannot read: %s", strerror(errno));
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		int ret;

		if (!formats[i]->is(head, (size_t)n))
			continue;
		ret = formats[i]->open(out, fd, path, err);
		if (ret == 0) {
			(*out)->format = formats[i];
			(*out)->info.path = path;
		}
		return ret;
	}
	if (n == 0) {
		tare_fail(err, EINVAL, "the file is empty");
		tare_hint(err, "the program that should write it ended early or was never started");
	} else if (n >= 8 &&
		   (!memcmp(head, "PERFILE2", 8) || !memcmp(head, "2ELIFREP", 8) ||
		    !memcmp(head, "PERFFILE", 8))) {
		tare_fail(err, EINVAL, "not a recording of regions: it is a perf.data file");
		tare_hint(
			err,
			"tare report reads it, and tare report --diff BEFORE AFTER compares two; tare memory and sharing read its accesses");
	} else {
		tare_fail(err, EINVAL,
			  "not a recording of regions: the format at byte 0 is not known");
		tare_hint(
			err,
			"'tare regions' writes them, and measureme ('rustc -Z self-profile') does");
	}
	return -EINVAL;
}

int timeline_open(struct timeline **out, const char *path, struct tare_error *err)
{
	struct input in;
	char *name = NULL;
	int ret = input_open(&in, path, err);

	if (ret == 0 && !in.seekable)
		ret = input_spool(&in, err);
	if (ret == 0) {
		name = strdup(in.path);
		ret = name ? open_by_content(out, in.fd, name, err) : tare_fail_nomem(err);
		if (ret < 0)
			tare_prefix(err, "%.150s: ", in.path);
	}
	if (ret == 0)
		in.fd = -1; /* now owned by the timeline */
	else
		free(name);
	input_close(&in);
	return ret;
}

const struct timeline_info *timeline_info(const struct timeline *t)
{
	return &t->info;
}

const struct timeline_label *timeline_label(struct timeline *t, uint32_t index)
{
	return t->format->label(t, index);
}

void *timeline_take_texts(struct timeline *t)
{
	return t->format->take_texts ? t->format->take_texts(t) : NULL;
}

void timeline_close(struct timeline *t)
{
	char *name;

	if (!t)
		return;
	name = (char *)t->info.path;
	t->format->close(t);
	free(name);
}

int timeline_thread(struct timeline *t, size_t thread, struct cursor **out, struct tare_error *err)
{
	return t->format->thread(t, thread, out, err);
}

int cursor_read(struct cursor *c, size_t most, const struct timeline_point **points,
		struct tare_error *err)
{
	size_t n = c->n_left < most ? c->n_left : most;

	if (!n)
		return c->of->format->read(c, most, points, err);
	*points = c->left;
	c->left += n;
	c->n_left -= n;
	return (int)n;
}

int cursor_next(struct cursor *c, struct timeline_point *p, struct tare_error *err)
{
	if (!c->n_left) {
		int n = c->of->format->read(c, TIMELINE_AT_ONCE, &c->left, err);

		if (n <= 0)
			return n;
		c->n_left = (size_t)n;
	}
	c->n_left--;
	*p = *c->left++;
	return 1;
}

void cursor_close(struct cursor *c)
{
	if (c)
		c->of->format->cursor_close(c);
}

enum timeline_machines timeline_machines(const struct timeline_machine *a,
					 const struct timeline_machine *b)
{
	if (a->kind && b->kind && strcmp(a->kind, b->kind))
		return MACHINES_OTHER_KIND;
	return a->cpu[0] && b->cpu[0] && strcmp(a->cpu, b->cpu) ? MACHINES_OTHER_CPU
								: MACHINES_ALIKE;
}

const char *timeline_record_path(uint8_t record_path)
{
	/* By enum tare_region_path. */
	static const char *const words[TIMELINE_PATHS / 2] = {
		"C", "-finstrument-functions", "Python", "Rust", "Rust, by label", "a binding"
	};
	const char *word = words[record_path % (TIMELINE_PATHS / 2)];

	return word ? word : "?";
}
