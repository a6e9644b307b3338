/* SPDX-License-Identifier: MIT */
/*
 * See proc_maps.h. Hand-written, as it runs at the start of each program that the exact engine
 * counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/proc_maps.h"

int proc_maps_open(struct proc_maps *m, const char *root, pid_t pid)
{
	int len = snprintf(m->text, sizeof(m->text), "%s/proc/%d/maps", root ? root : "", (int)pid);

	if ((size_t)len >= sizeof(m->text))
		return -ENAMETOOLONG;
	return proc_maps_open_at(m, AT_FDCWD, m->text);
}

int proc_maps_open_at(struct proc_maps *m, int dir, const char *name)
{
	m->fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	m->at = m->n = 0;
	m->cut = false;
	return m->fd < 0 ? -errno : 0;
}

void proc_maps_close(struct proc_maps *m)
{
	close(m->fd);
}

/* Read more text after the remaining one; false at the end, or if there is no room. */
static bool fill(struct proc_maps *m)
{
	ssize_t got;

	memmove(m->text, m->text + m->at, m->n - m->at);
	m->n -= m->at;
	m->at = 0;
	do {
		got = read(m->fd, m->text + m->n, sizeof(m->text) - 1 - m->n);
	} while (got < 0 && errno == EINTR);
	if (got <= 0)
		return false;
	m->n += (size_t)got;
	return true;
}

/* The next line, NUL-terminated; NULL at the end. */
static char *next_line(struct proc_maps *m)
{
	for (;;) {
		char *line = m->text + m->at, *end = memchr(line, '\n', m->n - m->at);
		bool cut = m->cut;

		if (!end && fill(m))
			continue;
		if (!end && m->at == m->n)
			return NULL;
		line = m->text + m->at;
		m->cut = !end && m->n == sizeof(m->text) - 1;
		if (!end)
			end = m->text + m->n;
		*end = '\0';
		m->at = (size_t)(end - m->text) + (end < m->text + m->n);
		if (!cut)
			return line;
	}
}

static uint64_t parse_number(const char **p, unsigned base)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t value = 0;

	for (const char *d; **p && (d = memchr(digits, **p, base)); (*p)++)
		value = value * base + (uint64_t)(d - digits);
	return value;
}

static bool passed(const char **p, char c)
{
	return *(*p)++ == c;
}

/* "7f00-7f10 r-xp 00001000 fe:00 1234   /usr/lib/x" */
static bool read_map(const char *p, struct proc_map *out)
{
	out->start = parse_number(&p, 16);
	if (!passed(&p, '-'))
		return false;
	out->end = parse_number(&p, 16);
	if (!passed(&p, ' ') || strnlen(p, 5) < 5)
		return false;
	memcpy(out->rights, p, sizeof(out->rights));
	p += sizeof(out->rights);
	if (!passed(&p, ' '))
		return false;
	out->offset = parse_number(&p, 16);
	if (!passed(&p, ' '))
		return false;
	out->major = (unsigned)parse_number(&p, 16);
	if (!passed(&p, ':'))
		return false;
	out->minor = (unsigned)parse_number(&p, 16);
	if (!passed(&p, ' '))
		return false;
	out->inode = parse_number(&p, 10);
	out->name = p + strspn(p, " ");
	return *p == ' ' || !*p;
}

/*
 * The kernel escapes newlines in names this way, and nothing else. Source: Linux,
 * fs/proc/task_mmu.c, show_map_vma(): "\n" to seq_path().
 */
static void restore_ends_of_lines(char *name)
{
	static const char escape[] = "\\012";
	char *to = strstr(name, escape);

	for (const char *from = to; from && (*to = *from); to++) {
		bool escaped = !strncmp(from, escape, strlen(escape));

		if (escaped)
			*to = '\n';
		from += escaped ? strlen(escape) : 1;
	}
}

bool proc_maps_next(struct proc_maps *m, struct proc_map *out)
{
	char *line;

	while ((line = next_line(m)))
		if (read_map(line, out)) {
			restore_ends_of_lines(line + (out->name - line));
			return true;
		}
	return false;
}
