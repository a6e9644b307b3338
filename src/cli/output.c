/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "cli/output.h"

enum { WIDTH_OF_A_FILE = 160, WIDTH_LEAST = 40, WIDTH_MOST = 1000 };

int output_open(struct output *o, const char *path, bool append, int fd, struct tare_error *err)
{
	*o = (struct output){ .fd = fd,
			      .name = fd == STDERR_FILENO ? "standard error" : "the descriptor" };
	if (path && !strcmp(path, "-")) {
		o->fd = STDOUT_FILENO;
		o->name = "standard output";
	} else if (path) {
		int flags = O_WRONLY | O_CLOEXEC | (append ? O_APPEND : 0);

		o->fd = open(path, flags | O_CREAT | O_EXCL, 0666);
		o->made = o->fd >= 0;
		if (o->fd < 0 && errno == EEXIST)
			o->fd = open(path, flags | O_CREAT, 0666);
		o->name = path;
		o->own = true;
		o->append = append;
		if (o->fd < 0)
			return tare_fail(err, errno, "cannot write to %.200s: %s", path,
					 strerror(errno));
		return 0;
	}
	if (fcntl(o->fd, F_GETFD) < 0)
		return tare_fail(err, EBADF, "cannot write results: %s %d is not open", o->name,
				 o->fd);
	return 0;
}

/* What was there goes when its successor comes, and not before. A device or pipe has nothing to empty. */
static void empty(const struct output *o)
{
	struct stat st;

	if (o->own && !o->append && fstat(o->fd, &st) == 0 && S_ISREG(st.st_mode) && ftruncate(o->fd, 0) < 0)
		return; /* writing will say why */
}

int output_put(struct output *o, struct text *t, struct tare_error *err)
{
	int ret = t->failed ? -ENOMEM : 0;

	if (ret == 0 && t->len && !o->any)
		empty(o);
	if (ret == 0 && t->len) {
		o->any = true;
		ret = file_write_all(o->fd, t->s, t->len);
	}

	text_free(t);
	if (ret < 0)
		return tare_fail(err, -ret, "cannot write results to %.200s: %s", o->name,
				 strerror(-ret));
	return 0;
}

int output_close(struct output *o, struct tare_error *err)
{
	int fd = o->fd;

	o->fd = -1;
	if (o->made && !o->any && fd >= 0)
		unlink(o->name); /* nothing was measured: no empty file passes for a result */
	if (o->own && fd >= 0 && close(fd) < 0 &&
	    errno != EINTR) /* where a network file's errors come */
		return tare_fail(err, errno, "cannot write results to %.200s: %s", o->name,
				 strerror(errno));
	return 0;
}

static bool is_set(const char *variable)
{
	const char *v = getenv(variable);

	return v && *v;
}

static bool wants_colour(bool terminal, enum when colour)
{
	const char *force = getenv("CLICOLOR_FORCE"), *term = getenv("TERM");

	if (colour != WHEN_AUTO)
		return colour == WHEN_ALWAYS;
	if (is_set("NO_COLOR"))
		return false;
	if (force && *force && strcmp(force, "0"))
		return true;
	return terminal && !(term && !strcmp(term, "dumb"));
}

/* The first of these that is set decides. Source: locale(7). */
static bool is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (is_set(names[i]))
			return strcasestr(getenv(names[i]), "utf-8") ||
			       strcasestr(getenv(names[i]), "utf8");
	return false;
}

struct style output_style(const struct output *o, enum when colour)
{
	bool terminal = isatty(o->fd);
	const char *columns = getenv("COLUMNS");
	struct style s = { .colour = wants_colour(terminal, colour),
			   .utf8 = is_utf8(),
			   .width = WIDTH_OF_A_FILE };
	struct winsize size;

	if (terminal && ioctl(o->fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
		s.width = size.ws_col;
	if (columns && atoi(columns) > 0)
		s.width = atoi(columns);
	if (s.width < WIDTH_LEAST)
		s.width = WIDTH_LEAST;
	if (s.width > WIDTH_MOST)
		s.width = WIDTH_MOST;
	return s;
}

int document_open(struct document *d, const char *path, struct tare_error *err)
{
	int ret;

	*d = (struct document){ 0 };
	ret = output_open(&d->to, path, false, STDOUT_FILENO, err);
	if (ret == 0)
		d->style = output_style(&d->to, WHEN_AUTO);
	return ret;
}

int document_close(struct document *d, struct tare_error *err)
{
	int ret = d->out.failed ? tare_fail_nomem(err) : output_put(&d->to, &d->out, err), closed = output_close(&d->to, ret < 0 ? NULL : err);

	text_free(&d->out);
	return ret < 0 ? ret : closed;
}
