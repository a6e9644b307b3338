/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as what --control reads, in two pieces: one answer for each line that is not empty, at
 * any place of the cut, and an event's name only where a line can have one.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>
#include "fuzz.h"
#include "launch/control.h"

enum { PIPE_ROOM = 65536, LINE_MOST = 255 };

/* What a line says, by the words of tare-stat(1). */
static enum control_word meaning(const char *line, size_t n, const char **name)
{
	char copy[LINE_MOST + 1];
	const char *space;

	*name = NULL;
	if (n > LINE_MOST)
		return CONTROL_UNKNOWN;
	memcpy(copy, line, n);
	copy[n] = '\0';
	if (!strcmp(copy, "ping") || !strcmp(copy, "stop"))
		return copy[0] == 'p' ? CONTROL_PING : CONTROL_STOP;
	space = strchr(copy, ' ');
	if (space && space[strspn(space, " ")])
		*name = line + (space - copy) + strspn(space, " ");
	if (space) {
		copy[space - copy] = '\0';
		if (!*name && (!strcmp(copy, "ping") || !strcmp(copy, "stop")))
			return copy[0] == 'p' ? CONTROL_PING : CONTROL_STOP;
	}
	return !strcmp(copy, "enable")     ? CONTROL_ENABLE
		: !strcmp(copy, "disable") ? CONTROL_DISABLE
					   : CONTROL_UNKNOWN;
}

struct expected {
	const char *at, *end;
};

/* The next line that is not empty; false when there is none. */
static bool next(struct expected *e, const char **line, size_t *n)
{
	while (e->at < e->end && (*e->at == '\n' || *e->at == '\0'))
		e->at++;
	*line = e->at;
	while (e->at < e->end && *e->at != '\n' && *e->at != '\0')
		e->at++;
	*n = (size_t)(e->at - *line);
	return *n > 0;
}

/* Does what stands between the last end of a line and `n` begin with a command's word? */
static bool ends_a_command(const char *bytes, size_t n)
{
	const char *wanted;
	size_t from = n, word;

	while (from && bytes[from - 1] != '\n' && bytes[from - 1] != '\0')
		from--;
	for (word = from; word < n && bytes[word] != ' '; word++)
		;
	return from < word && meaning(bytes + from, word - from, &wanted) != CONTROL_UNKNOWN;
}

static void hear(struct control *c, struct expected *e)
{
	enum control_word word;
	const char *name;

	while ((word = control_next(c, &name)) != CONTROL_NONE) {
		const char *line, *wanted;
		size_t n;

		must(next(e, &line, &n));
		must(word == meaning(line, n, &wanted));
		if (word == CONTROL_UNKNOWN)
			continue;
		must(!name == !wanted);
		must(!name ||
		     (strlen(name) == (size_t)(line + n - wanted) &&
		      !memcmp(name, wanted, strlen(name))));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct control c = CONTROL_INIT;
	struct expected e;
	const char *line;
	char spec[32];
	size_t cut;
	int fd[2];

	if (n < 1 || n > PIPE_ROOM)
		return 0;
	cut = bytes[0] % n;
	bytes++;
	n--;
	/* A command that comes to an end there is obeyed there: cut where none does. */
	while (cut < n && ends_a_command((const char *)bytes, cut))
		cut++;
	e = (struct expected){ (const char *)bytes, (const char *)bytes + n };
	must(pipe2(fd, O_CLOEXEC) == 0);
	snprintf(spec, sizeof(spec), "fd:%d", fd[0]);
	must(control_open(&c, spec, NULL) == 0);
	must(write(fd[1], bytes, cut < n ? cut : n) >= 0);
	hear(&c, &e);
	if (cut < n)
		must(write(fd[1], bytes + cut, n - cut) == (ssize_t)(n - cut));
	close(fd[1]);
	hear(&c, &e);
	must(c.in < 0 || n == 0);
	hear(&c, &e);
	must(c.in < 0 && !next(&e, &line, &n));
	control_close(&c);
	close(fd[0]);
	return 0;
}
