/* SPDX-License-Identifier: MIT */
/*
 * The tables of a thread's samples in a profile of the Firefox Profiler: samples, stacks, frames,
 * functions, resources.
 */
#ifndef EXPORT_FIREFOX_STACKS_H
#define EXPORT_FIREFOX_STACKS_H

#include "export/export.h"

struct firefox_stacks {
	struct spool time, stack, weight, prefix, frame, category, func, name, file, resource,
		address, line, module, lib;
	struct export_ids nodes, frames, modules;
	struct export_ids libs; /* of the whole profile: module -> lib */
	uint32_t *lib_module;   /* by lib */
	size_t libs_room;
	struct set funcs; /* of the thread: name, module, source file */
	uint64_t samples;
};

/* The thread's number of a string; `key` identifies it. */
typedef uint64_t firefox_string(struct export *x, uint32_t key, const char *text);
enum { FIREFOX_USER, FIREFOX_KERNEL }; /* categories of the profile */

void firefox_stacks_open(struct firefox_stacks *f);
void firefox_stacks_close(struct firefox_stacks *f);
void firefox_stacks_add(struct export *x, struct firefox_stacks *f, const struct export_sample *e,
			firefox_string *string);
/* The profile's list of libs, after the last thread. */
void firefox_stacks_libs(struct export *x, struct firefox_stacks *f);
/* The tables, as members of the thread, each followed by a comma. Empties them. */
void firefox_stacks_pour(struct export *x, struct firefox_stacks *f);

#endif
