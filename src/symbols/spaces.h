/* SPDX-License-Identifier: MIT */
/*
 * What each process had mapped where, as the recording goes on: a mapping replaces what it covers, a
 * fork inherits, an exec begins anew. The kernel is one more space, for all processes.
 */
#ifndef SYMBOLS_SPACES_H
#define SYMBOLS_SPACES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "base/set.h"

struct map {
	uint64_t start, last; /* inclusive */
	uint64_t offset;      /* of `start` in the file */
	uint32_t module;
	bool data; /* not to be executed */
	uint32_t shared;	/* number of the file, where what one process writes another one sees (MAP_SHARED); 0: it is no such mapping */
	uint64_t shared_offset; /* of `start` in it */
};

/* The mappings of a process, shared by those that forked and have changed nothing since. */
struct maps {
	struct map *map; /* by start, none over another */
	size_t n, room;
	unsigned refs;
	uint32_t serial; /* another one after every change, in any process */
};

struct spaces {
	struct set process; /* private */
	uint32_t last;	    /* private: the process that was asked for last; the next question is often of it */
	uint32_t serial;
	struct maps kernel;
	size_t total; /* mappings of all of them */
	size_t most;  /* -EFBIG beyond; 0: 16 Mi */
};

int spaces_map(struct spaces *s, uint32_t pid, const struct map *m, struct tare_error *err);
int spaces_map_kernel(struct spaces *s, const struct map *m, struct tare_error *err);
int spaces_fork(struct spaces *s, uint32_t child, uint32_t parent, struct tare_error *err);
void spaces_exec(struct spaces *s, uint32_t pid);
/* NULL when nothing is known of that process. Valid until the next change. */
const struct maps *spaces_of(struct spaces *s, uint32_t pid);
const struct map *maps_find(const struct maps *m, uint64_t address);
void spaces_free(struct spaces *s);

#endif
