/* SPDX-License-Identifier: MIT */
/*
 * The labels that a process has given out: each text once, in the file before anybody can say its number. Callers
 * hold the lock of the recording.
 */
#ifndef REGIONS_RUNTIME_REGION_LABELS_H
#define REGIONS_RUNTIME_REGION_LABELS_H

#include "regions/runtime/region_file.h"

struct region_label {
	uint64_t hash;
	uint32_t number, bytes;
	char *text; /* as in the file: the record from its line on */
};

struct region_labels {
	struct region_file *file;
	struct block_head like; /* what the heads of its blocks have in common */
	struct block_head *block;
	uint8_t *at, *end;
	uint64_t seq;
	uint32_t own; /* that this process has put there */
	uint32_t next; /* number for the next one; from 1 */
	uint32_t nameless; /* of all that cannot be written; 0: none yet */
	uint32_t lost;	   /* this process's that cannot: each once, but for want of memory, where it is each time */
	int lost_errno;	   /* why the last of them */
	struct region_texts *texts;
	struct region_label *slot; /* by hash, open addressing */
	size_t n, room;
};

/* The number of a label, which is made when it is new; that of all nameless ones, from then on, when it cannot be written. file: "" for none. */
uint32_t region_labels_number(struct region_labels *l, const char *name, const char *file, uint32_t line,
			      const char *const *args, unsigned n_args);
/* One that stands nowhere in the file, for points whose label cannot: they are counted, or lost and counted as lost. */
uint32_t region_labels_nameless(struct region_labels *l);
/* In a child after fork: what comes goes into a block of its own. */
void region_labels_forked(struct region_labels *l);
/* Seal what is there. */
void region_labels_close(struct region_labels *l);
void region_labels_free(struct region_labels *l);

#endif
