/* SPDX-License-Identifier: MIT */
/* Reads command lines and writes acknowledgements. Never blocks. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/num.h"
#include "launch/control.h"

static const struct {
	const char *text;
	enum control_word word;
	bool may_name;
} words[] = {
	{ "enable", CONTROL_ENABLE, true },
	{ "disable", CONTROL_DISABLE, true },
	{ "ping", CONTROL_PING, false },
	{ "stop", CONTROL_STOP, false },
};

static int refuse(const char *spec, struct tare_error *err)
{
	tare_fail(err, EINVAL, "'%.200s' is not a control channel", spec);
	tare_hint(
		err,
		"write fd:IN[,ACK] with open descriptors, or fifo:IN[,ACK] with paths made by mkfifo");
	return -EINVAL;
}

static int take_fd(const char *text, size_t n, int *out, struct tare_error *err)
{
	char word[16];
	uint64_t fd;

	snprintf(word, sizeof(word), "%.*s", (int)n, text);
	if (n >= sizeof(word) || num_parse(word, &fd, NULL) < 0 || fd > 1 << 20)
		return tare_fail(err, EINVAL, "'%.*s' is not a descriptor's number", (int)n, text);
	if (fcntl((int)fd, F_GETFD) < 0)
		return tare_fail(err, EBADF, "descriptor %d is not open", (int)fd);
	*out = (int)fd;
	return 0;
}

static int take_fifo(const char *text, size_t n, int *out, struct tare_error *err)
{
	char path[4096];
	struct stat st;

	if (n >= sizeof(path))
		return tare_fail(err, ENAMETOOLONG, "%.64s...: the path is too long", text);
	memcpy(path, text, n);
	path[n] = '\0';
	if (stat(path, &st) < 0)
		return tare_fail(err, errno, "cannot open %.200s: %s", path, strerror(errno));
	if (!S_ISFIFO(st.st_mode)) {
		tare_fail(err, EINVAL, "%.200s is not a fifo", path);
		tare_hint(err, "make one with mkfifo");
		return -EINVAL;
	}
	*out = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (*out < 0)
		return tare_fail(err, errno, "cannot open %.200s: %s", path, strerror(errno));
	return 0;
}

int control_open(struct control *c, const char *spec, struct tare_error *err)
{
	int (*take)(const char *, size_t, int *, struct tare_error *);
	const char *in;
	size_t n;
	int ret;

	*c = (struct control)CONTROL_INIT;
	if (!strncmp(spec, "fd:", 3)) {
		take = take_fd;
		in = spec + 3;
	} else if (!strncmp(spec, "fifo:", 5)) {
		take = take_fifo;
		in = spec + 5;
		c->own = true;
	} else {
		return refuse(spec, err);
	}
	n = strcspn(in, ",");
	if (!n || (in[n] && !in[n + 1]))
		return refuse(spec, err);
	ret = take(in, n, &c->in, err);
	if (ret == 0 && in[n])
		ret = take(in + n + 1, strlen(in + n + 1), &c->ack, err);
	if (ret < 0)
		control_close(c);
	return ret;
}

/* Is the first word complete? "enable" without a newline is accepted, as in perf. */
static bool is_command(const struct control *c)
{
	size_t n = 0;

	while (n < c->len && c->line[n] != ' ')
		n++;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].text) == n && !memcmp(c->line, words[i].text, n))
			return true;
	return false;
}

static bool take_line(struct control *c)
{
	c->line[c->len] = '\0';
	c->len = 0;
	return true;
}

/*
 * Reads single bytes, so what follows the line is left for the next call; commands are rare and
 * short.
 */
static bool next_line(struct control *c)
{
	struct pollfd ready = { .fd = c->in, .events = POLLIN };
	char byte;

	while (poll(&ready, 1, 0) == 1) {
		ssize_t got = read(c->in, &byte, 1);

		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			break;
		if (got <= 0) {
			if (c->own)
				close(c->in);
			c->in = -1;
			if (!c->len)
				return false;
			byte = '\n';
		}
		if (byte != '\n' && byte != '\0') {
			if (c->len + 1 < sizeof(c->line))
				c->line[c->len++] = byte;
			else
				c->skipping = true;
			continue;
		}
		if (!c->len)
			continue;
		return take_line(c);
	}
	return !c->skipping && is_command(c) && take_line(c);
}

enum control_word control_next(struct control *c, const char **name)
{
	*name = NULL;
	if (c->in < 0 || !next_line(c))
		return CONTROL_NONE;
	if (c->skipping) {
		c->skipping = false;
		return CONTROL_UNKNOWN;
	}

	size_t n = strcspn(c->line, " ");
	const char *rest = c->line + n + strspn(c->line + n, " ");

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].text) == n && !strncmp(c->line, words[i].text, n)) {
			if (*rest && !words[i].may_name)
				break;
			*name = *rest ? rest : NULL;
			return words[i].word;
		}
	return CONTROL_UNKNOWN;
}

void control_answer(struct control *c, const char *answer)
{
	struct pollfd ready = { .fd = c->ack, .events = POLLOUT };
	char line[320];
	int n = snprintf(line, sizeof(line), "%s\n", answer);

	if (c->ack < 0 || n < 0 || n >= (int)sizeof(line) || poll(&ready, 1, 0) != 1)
		return;

	bool gone = ready.revents & (POLLERR | POLLNVAL);

	if (!gone && (ready.revents & POLLOUT))
		gone = write(c->ack, line, (size_t)n) < 0 && errno != EAGAIN && errno != EINTR;
	if (gone) { /* there is no reader any more */
		if (c->own)
			close(c->ack);
		c->ack = -1;
	}
}

void control_close(struct control *c)
{
	if (c->own && c->in >= 0)
		close(c->in);
	if (c->own && c->ack >= 0)
		close(c->ack);
	*c = (struct control)CONTROL_INIT;
}
