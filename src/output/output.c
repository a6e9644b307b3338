/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "output/temp_cleanup.h"
#include "output/input.h"
#include "output/output.h"
#include "output/own_stdout.h"

enum { WIDTH_OF_A_FILE = 160, WIDTH_LEAST = 40, WIDTH_MOST = 1000 };

/* A growing file: created now, truncated when its first rows are written. */
static int open_rows(struct output *o, const char *path, struct tare_error *err)
{
	const int flags = O_WRONLY | O_CLOEXEC | (o->how == OUTPUT_APPEND ? O_APPEND : 0);
	int as = whole_file_descriptor(path), ret = input_refuse(path, err);
	struct stat st;

	if (ret < 0)
		return ret;
	ret = as >= 0 ? 0 : file_place(path, o->place);
	if (ret < 0)
		return file_part_failed(path, -ret, err);
	if (as >= 0) {
		o->fd = fcntl(as, F_DUPFD_CLOEXEC, 0);
	} else {
		const char *to = ret ? o->place : path; /* no link if it is a regular file */
		sigset_t before = temp_cleanup_block();

		o->fd = open(to, flags | O_CREAT | O_EXCL, 0666);
		o->made = o->fd >= 0 ? to : NULL;
		temp_cleanup_add(o->made);
		temp_cleanup_unblock(&before);
		if (o->fd < 0 && errno == EEXIST)
			o->fd = open(to, flags | (ret ? O_NOFOLLOW : 0));
		o->regular = o->fd >= 0 && fstat(o->fd, &st) == 0 && S_ISREG(st.st_mode);
	}
	if (o->fd < 0)
		return tare_fail(err, errno, "cannot write to %.200s: %s", path, strerror(errno));
	return 0;
}

int output_open(struct output *o, const char *path, enum output_how how, int fd,
		struct tare_error *err)
{
	*o = (struct output){ .fd = fd,
			      .how = how,
			      .file.fd = -1,
			      .name = fd == STDERR_FILENO ? "standard error" : "the descriptor" };
	if (path && !strcmp(path, "-")) {
		o->fd = own_stdout();
		o->name = "standard output";
	} else if (path) {
		int ret = how == OUTPUT_WHOLE ? whole_file_open(&o->file, path, false, err)
					      : open_rows(o, path, err);

		o->own = ret == 0;
		o->name = path;
		if (how == OUTPUT_WHOLE) {
			o->fd = o->file.fd;
			o->regular = o->own && !o->file.direct;
		}
		return ret;
	}
	if (fcntl(o->fd, F_GETFD) < 0)
		return tare_fail(err, EBADF, "cannot write results: %s %d is not open", o->name,
				 o->fd);
	return 0;
}

/*
 * Append rows to a file, all of them or none. The first ones replace the old contents, once there
 * is room for them.
 */
static int put_rows(struct output *o, const struct text *t)
{
	const bool anew = o->how == OUTPUT_ROWS && !o->any;
	off_t at = anew ? 0 : lseek(o->fd, 0, SEEK_END);
	int ret = at < 0 ? -errno : file_reserve(o->fd, at, (off_t)t->len);
	off_t end = at;

	if (ret < 0)
		return ret;
	ret = file_write_all(o->fd, t->s, t->len);
	if (ret == 0)
		end = at + (off_t)t->len;
	if ((anew || ret < 0) && ftruncate(o->fd, end) < 0 && ret == 0)
		ret = -errno;
	return ret;
}

int output_put(struct output *o, struct text *t, struct tare_error *err)
{
	int ret = t->failed ? -ENOMEM : 0;

	if (t->len)
		temp_cleanup_forget(o->made);
	if (ret == 0 && t->len)
		ret = o->regular ? put_rows(o, t) : file_write_all(o->fd, t->s, t->len);
	if (ret < 0)
		o->failed = true;
	else if (t->len)
		o->any = true;
	text_free(t);
	if (ret < 0)
		return tare_fail(err, -ret, "cannot write results to %.150s: %s%s", o->name,
				 strerror(-ret),
				 o->regular && o->any && o->how != OUTPUT_WHOLE
					 ? "; the previous rows were written"
					 : "");
	return 0;
}

void output_abandon(struct output *o)
{
	o->failed = true;
	output_close(o, NULL);
}

int output_close(struct output *o, struct tare_error *err)
{
	int fd = o->fd;

	o->fd = -1;
	if (!o->own)
		return 0;
	o->own = false;
	if (o->how == OUTPUT_WHOLE && o->any && !o->failed)
		return whole_file_commit(&o->file, err);
	if (o->how == OUTPUT_WHOLE) {
		whole_file_abandon(&o->file);
		return 0;
	}
	temp_cleanup_forget(o->made);
	if (o->made && !o->any)
		/* nothing was measured: an empty file must not look like a result */
		unlink(o->made);
	if (close(fd) < 0 && errno != EINTR) /* a network file system reports errors here */
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

/* The first of these that is set applies. Source: locale(7). */
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
	ret = output_open(&d->to, path, OUTPUT_WHOLE, own_stdout(), err);
	if (ret == 0)
		d->style = output_style(&d->to, WHEN_AUTO);
	return ret;
}

int document_close(struct document *d, struct tare_error *err)
{
	int ret = d->out.failed ? tare_fail_nomem(err) : output_put(&d->to, &d->out, err),
	    closed = output_close(&d->to, ret < 0 ? NULL : err);

	text_free(&d->out);
	return ret < 0 ? ret : closed;
}
