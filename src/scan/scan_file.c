/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "scan/scan_file.h"

static const char *const state_names[] = {
	[SCAN_DEAD] = "dead",
	[SCAN_LIVE] = "live",
	[SCAN_REFUSED] = "refused",
	[SCAN_UNCOUNTED] = "uncounted",
};

void scan_file_write(struct text *out, const struct scan *s, bool kernel)
{
	text_add(out,
		 "tare scan 2\ncpu %s\npmu %s\nmachine %s\nmode %s\nguessed %d\ncommand %016" PRIx64
		 "\nrows",
		 s->cpu, s->pmu, s->machine, kernel ? "uk" : "u", s->interrupts_guessed,
		 s->command);
	for (size_t i = 0; i < s->rows; i++)
		text_add(out, " %u:%" PRIu64, s->row[i].kind, s->row[i].turns);
	text_add(out, "\n");
	for (size_t i = 0; i < s->n; i++) {
		const struct scan_event *e = &s->event[i];

		text_add(out, "%s 0x%x 0x%x", state_names[e->state], e->select, e->umask);
		for (size_t k = 0; e->state == SCAN_LIVE && k < s->rows * SCAN_ROUNDS; k++)
			text_add(out, " %" PRId64, e->count[k]);
		text_add(out, "%s", e->state == SCAN_LIVE ? " /" : "");
		for (size_t k = 0; e->state == SCAN_LIVE && k < s->rows * SCAN_ROUNDS; k++)
			text_add(out, " %u", e->interrupts[k]);
		if (e->has_command)
			text_add(out, " = %" PRIu64, e->command);
		text_add(out, "\n");
	}
	text_add(out, "end\n");
}

/* ---- reading ---- */

struct reader {
	const char *p, *path;
	unsigned line;
};

static int damaged(const struct reader *r, const char *what, struct tare_error *err)
{
	tare_fail(err, EBADMSG, "%s:%u: %s", r->path, r->line, what);
	tare_hint(err, "--fresh starts over");
	return -EBADMSG;
}

/* "WORD " at the reader's position; skips it. */
static bool takes(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(r->p, word, n))
		return false;
	r->p += n;
	return true;
}

static bool ends_line(struct reader *r)
{
	if (*r->p != '\n')
		return false;
	r->p++;
	r->line++;
	return true;
}

static bool name(struct reader *r, const char *key, char *out, size_t room)
{
	size_t n;

	if (!takes(r, key))
		return false;
	n = strcspn(r->p, "\n");
	if (n >= room)
		return false;
	memcpy(out, r->p, n);
	out[n] = '\0';
	r->p += n;
	return ends_line(r);
}

static bool read_number(struct reader *r, int base, int64_t *out)
{
	char *end;

	if (*r->p != ' ')
		return false;
	if (r->p[1] != '-' && (r->p[1] < '0' || r->p[1] > '9'))
		return false;
	errno = 0;
	*out = strtoll(r->p + 1, &end, base);
	if (errno || end == r->p + 1)
		return false;
	r->p = end;
	return true;
}

static bool row(struct reader *r, struct scan *s)
{
	int64_t kind, turns;
	char *end;

	if (s->rows == SCAN_ROWS_MOST || !read_number(r, 10, &kind) || kind < 0 ||
	    kind >= WORK_KINDS || !work_name((unsigned)kind) || *r->p != ':')
		return false;
	errno = 0;
	turns = strtoll(r->p + 1, &end, 10);
	if (errno || end == r->p + 1 || turns <= 0 || turns > 1000000000)
		return false;
	r->p = end;
	s->row[s->rows++] = (struct scan_row){ (unsigned)kind, (uint64_t)turns };
	return true;
}

static int samples(struct reader *r, const struct scan *s, struct scan_event *e,
		   struct tare_error *err)
{
	int64_t x;

	e->count = calloc(SCAN_SAMPLES_MOST, sizeof(*e->count));
	e->interrupts = calloc(SCAN_SAMPLES_MOST, sizeof(*e->interrupts));
	if (!e->count || !e->interrupts)
		return tare_fail_nomem(err);
	for (size_t k = 0; k < s->rows * SCAN_ROUNDS; k++)
		if (!read_number(r, 10, &e->count[k]) || e->count[k] > SCAN_COUNT_MOST ||
		    e->count[k] < -SCAN_COUNT_MOST)
			return damaged(r, "fewer counts than pieces of work", err);
	if (!takes(r, " /"))
		return damaged(r, "'/' is expected after the counts", err);
	for (size_t k = 0; k < s->rows * SCAN_ROUNDS; k++) {
		if (!read_number(r, 10, &x) || x < 0 || x > UINT32_MAX)
			return damaged(r, "numbers of interrupts are expected", err);
		e->interrupts[k] = (uint32_t)x;
	}
	return 0;
}

static int event(struct reader *r, struct scan *s, struct tare_error *err)
{
	struct scan_event e = { 0 };
	int64_t select, umask, command;
	size_t state = 0;
	int ret = 0;

	while (state < ARRAY_SIZE(state_names) && !takes(r, state_names[state]))
		state++;
	if (state == ARRAY_SIZE(state_names) || !read_number(r, 16, &select) ||
	    !read_number(r, 16, &umask) || select < 0 || select > UINT32_MAX || umask < 0 ||
	    umask > UINT32_MAX)
		return damaged(r, "an event is expected", err);
	e = (struct scan_event){ .select = (uint32_t)select,
				 .umask = (uint32_t)umask,
				 .state = (enum scan_state)state };
	if (e.state == SCAN_LIVE)
		ret = samples(r, s, &e, err);
	if (ret == 0 && takes(r, " =")) {
		if (!read_number(r, 10, &command) || command < 0)
			ret = damaged(r, "the command's count is not a number", err);
		e.has_command = true;
		e.command = (uint64_t)command;
	}
	if (ret == 0 && !ends_line(r))
		ret = damaged(r, "unexpected text at the end of the line", err);
	if (ret == 0)
		ret = scan_put(s, &e, err);
	if (ret < 0) {
		free(e.count);
		free(e.interrupts);
	}
	return ret;
}

static int head(struct reader *r, struct scan *s, bool *kernel, struct tare_error *err)
{
	char mode[4], guessed[2], command[17];

	if (!takes(r, "tare scan 2\n"))
		return damaged(r, "this is not a state file of tare scan", err);
	r->line++;
	if (!name(r, "cpu ", s->cpu, sizeof(s->cpu)) || !name(r, "pmu ", s->pmu, sizeof(s->pmu)) ||
	    !name(r, "machine ", s->machine, sizeof(s->machine)) ||
	    !name(r, "mode ", mode, sizeof(mode)) ||
	    !name(r, "guessed ", guessed, sizeof(guessed)) ||
	    !name(r, "command ", command, sizeof(command)) || !takes(r, "rows"))
		return damaged(r, "its header is damaged", err);
	while (*r->p == ' ')
		if (!row(r, s))
			return damaged(r, "a piece of work is KIND:TURNS", err);
	*kernel = !strcmp(mode, "uk");
	s->command = strtoull(command, NULL, 16);
	s->interrupts_guessed = guessed[0] == '1';
	if (!s->rows || !ends_line(r))
		return damaged(r, "pieces of work are expected", err);
	return 0;
}

int scan_file_parse(const char *text, const char *path, struct scan *s, bool *kernel,
		    struct tare_error *err)
{
	struct reader r = { text, path, 1 };
	int ret = head(&r, s, kernel, err);

	while (ret == 0 && *r.p && strcmp(r.p, "end\n"))
		ret = event(&r, s, err);
	if (ret == 0 && !*r.p)
		ret = damaged(&r, "it is truncated", err);
	if (ret < 0)
		scan_free(s);
	return ret;
}

/* ---- writing ---- */

static int make_parents(const char *path, struct tare_error *err)
{
	char folder[4096];
	size_t n = strlen(path);

	if (n >= sizeof(folder))
		return tare_fail(err, ENAMETOOLONG, "%.100s...: the name is too long", path);
	memcpy(folder, path, n + 1);
	for (char *p = strchr(folder + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(folder, 0777) < 0 && errno != EEXIST)
			return tare_fail(err, errno, "cannot make %s: %s", folder, strerror(errno));
		*p = '/';
	}
	return 0;
}

int scan_file_replace(const char *path, const struct text *bytes, struct tare_error *err)
{
	char part[FILE_PART_ROOM], place[PATH_MAX];
	sigset_t all, before;
	int fd = -1, ret = file_place(path, place);

	if (ret == 0)
		return tare_fail(err, EINVAL, "cannot replace %s: it is not a regular file", path);
	if (ret < 0)
		return file_part_failed(path, -ret, err);
	ret = make_parents(place, err);
	if (ret == 0 && bytes->failed)
		ret = tare_fail_nomem(err);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before); /* a signal must not leave the temporary file */
	if (ret == 0) {
		fd = file_part_open(place, 0666, part);
		ret = fd < 0 ? tare_fail(err, -fd, "cannot write a temporary file for %s: %s", path,
					 strerror(-fd))
			     : 0;
	}
	if (fd >= 0) {
		ret = file_write_all(fd, bytes->s, bytes->len) < 0 ? -errno : file_sync(fd);
		if (close(fd) < 0 && ret == 0)
			ret = -errno;
		if (ret < 0)
			tare_fail(err, -ret, "cannot write %s: %s", part, strerror(-ret));
	}
	if (ret == 0 && rename(part, place) < 0)
		ret = tare_fail(err, errno, "cannot replace %s: %s", path, strerror(errno));
	if (ret < 0 && fd >= 0)
		unlink(part);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ret;
}
