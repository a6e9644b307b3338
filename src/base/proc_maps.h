/* SPDX-License-Identifier: MIT */
/*
 * Reads the mappings of a process line by line from /proc/PID/maps. Source: proc(5),
 * "/proc/[pid]/maps".
 */
#ifndef BASE_PROC_MAPS_H
#define BASE_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_map {
	uint64_t start, end, offset, inode;
	unsigned major, minor; /* of the device */
	/* "rwxp", not NUL-terminated; the last is 's' for a shared mapping */
	char rights[4];
	/*
	 * the file's name, "[stack]", ...; "" if there is none; the kernel's "\012" are newlines
	 * again. Valid until the next line
	 */
	const char *name;
};

/* Allocates nothing. A line longer than `text` is truncated. */
struct proc_maps {
	int fd;
	size_t at, n;
	bool cut; /* the text starts with the rest of a truncated line */
	char text[8192];
};

/* root may be NULL or "" for "/". 0 or a negative errno. */
int proc_maps_open(struct proc_maps *m, const char *root, pid_t pid);
/* The same for the file `name` in the directory `dir`. */
int proc_maps_open_at(struct proc_maps *m, int dir, const char *name);
/* False at the end; malformed lines are skipped. */
bool proc_maps_next(struct proc_maps *m, struct proc_map *out);
void proc_maps_close(struct proc_maps *m);

#endif
