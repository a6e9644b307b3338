/* SPDX-License-Identifier: MIT */
/*
 * The labels of a process: each text is written once, before its number is used in the file.
 * Callers hold the lock of the recording.
 */
#ifndef REGIONS_RUNTIME_REGION_LABELS_H
#define REGIONS_RUNTIME_REGION_LABELS_H

#include "regions/runtime/region_file.h"

struct region_label {
	uint64_t hash;
	uint32_t number, bytes;
	char *text; /* as in the file: the record from its line number on */
};

struct region_labels {
	struct region_file *file;
	struct block_head like; /* the common fields of the heads of its blocks */
	struct block_head *block;
	uint8_t *at, *end;
	uint64_t seq;
	uint32_t own;      /* number of labels written by this process */
	uint32_t next;     /* the next number; starts at 1 */
	uint32_t nameless; /* shared number of labels that cannot be written; 0: not assigned yet */
	/*
	 * this process's labels that cannot be written, each counted once; when out of memory,
	 * every time
	 */
	uint32_t lost;
	int lost_errno; /* the reason for the last of them */
	struct region_texts *texts;
	struct region_label *slot; /* by hash, open addressing */
	size_t n, room;
};

/*
 * The number of a label, which is assigned if new. If the label cannot be written, the number for
 * nameless labels, now and later. file: "" for none.
 */
uint32_t region_labels_number(struct region_labels *l, const char *name, const char *file,
			      uint32_t line, const char *const *args, unsigned n_args);
/*
 * A number that is not in the file, for points with a label that cannot be written. The label is
 * counted in `lost`, or its points are counted as lost.
 */
uint32_t region_labels_nameless(struct region_labels *l);
/* In a child after fork: new labels go to a block of its own. */
void region_labels_forked(struct region_labels *l);
/* Seal the last block. */
void region_labels_close(struct region_labels *l);
void region_labels_free(struct region_labels *l);

#endif
