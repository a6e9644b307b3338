/* SPDX-License-Identifier: MIT */
/*
 * The lines of source files that the debug information of a program names. A program may name any
 * file: "#line 1 "/etc/shadow"". So only these are read: files of the program's owner; if that is
 * the user who runs tare, or root, also files of that user; and root's world-readable files where
 * packages install sources.
 */
#ifndef PROFILE_REPORT_SOURCE_FILES_H
#define PROFILE_REPORT_SOURCE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct source_file {
	const char *file;
	char *text;
	char **line; /* line N is at N - 1 */
	size_t lines;
	bool *put;    /* the caller's, freed with the rest: per line, it is in the document */
	bool newer;   /* newer than the program */
	bool refused; /* by the rule above */
};

struct source_files {
	const char *root; /* directory with the source files; NULL: "" */
	bool owned;       /* the program is a file of `owner` */
	bool any;         /* read any file */
	uid_t owner;
	struct timespec program; /* when it was modified; 0: not known */
	struct source_file *file;
	size_t n;
};

/* `file` must live as long; a file that cannot be read has no lines. NULL: out of memory. */
struct source_file *source_files_find(struct source_files *all, const char *file);
void source_files_free(struct source_files *all);

#endif
