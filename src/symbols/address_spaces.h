/* SPDX-License-Identifier: MIT */
/*
 * The current mappings of each process while a recording is read: a mapping replaces those it
 * overlaps, a fork inherits, an exec starts empty. The kernel is one more space, for all processes.
 */
#ifndef SYMBOLS_ADDRESS_SPACES_H
#define SYMBOLS_ADDRESS_SPACES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "base/set.h"

struct map {
	uint64_t start, last; /* inclusive */
	uint64_t offset;      /* of `start` in the file */
	uint32_t module;
	bool data; /* not executable */
	/*
	 * number of the file if other processes see its writes (MAP_SHARED); 0: not such a mapping
	 */
	uint32_t shared;
	uint64_t shared_offset; /* of `start` in it */
};

/* The mappings of a process, shared by forked processes until one changes them. */
struct maps {
	struct map *map; /* by start, without overlaps */
	size_t n, room;
	unsigned refs;
	uint32_t serial; /* changes with every change in any process */
};

struct address_spaces {
	struct set process; /* private */
	/* private: the last process looked up; the next lookup is often the same */
	uint32_t last;
	uint32_t serial;
	struct maps kernel;
	size_t total; /* mappings in all spaces */
	size_t most;  /* -EFBIG if there are more; 0: 16 Mi */
};

int address_spaces_map(struct address_spaces *s, uint32_t pid, const struct map *m,
		       struct tare_error *err);
int address_spaces_map_kernel(struct address_spaces *s, const struct map *m,
			      struct tare_error *err);
int address_spaces_fork(struct address_spaces *s, uint32_t child, uint32_t parent,
			struct tare_error *err);
void address_spaces_exec(struct address_spaces *s, uint32_t pid);
/* NULL if nothing is known of that process. Valid until the next change. */
const struct maps *address_spaces_of(struct address_spaces *s, uint32_t pid);
const struct map *maps_find(const struct maps *m, uint64_t address);
void address_spaces_free(struct address_spaces *s);

#endif
