/* SPDX-License-Identifier: MIT */
/* What is mapped in a process, line by line out of /proc/PID/maps. Source: proc(5), "/proc/[pid]/maps". */
#ifndef BASE_PROC_MAPS_H
#define BASE_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_map {
	uint64_t start, end, offset, inode;
	unsigned major, minor; /* of the device */
	char rights[4];	       /* "rwxp", without an end; the last is 's' where it is shared */
	const char *name;      /* the file's, "[stack]", ...; "" where there is none; ends of lines in it are the kernel's "\012" no more. Valid until the next line */
};

/* Takes no memory. A line longer than `text` loses its end. */
struct proc_maps {
	int fd;
	size_t at, n;
	bool cut; /* what comes first belongs to a line that was given without it */
	char text[8192];
};

/* root may be NULL or "" for "/". 0 or a negative errno. */
int proc_maps_open(struct proc_maps *m, const char *root, pid_t pid);
/* Likewise: the file is called `name` in the directory `dir`. */
int proc_maps_open_at(struct proc_maps *m, int dir, const char *name);
/* false at the end; lines of another form are passed by. */
bool proc_maps_next(struct proc_maps *m, struct proc_map *out);
void proc_maps_close(struct proc_maps *m);

#endif
