/* SPDX-License-Identifier: MIT */
/*
 * Fields of tracepoints as keys of a report. A key is, as for perf report --sort, "trace_fields"
 * (every field), "trace" (all fields of a sample in one), FIELD or EVENT.FIELD; EVENT is a
 * tracepoint's name, with or without its system. "/raw" may follow: values always come from the raw
 * data.
 */
#ifndef PROFILE_TRACED_H
#define PROFILE_TRACED_H

#include "profile/call_tree.h"
#include "perfdata/perfdata.h"

enum { TRACED_KEYS_MOST = 64, TRACED_COLUMNS_MOST = 1024 };

/* Which fields of one event, and their column names. */
struct traced_event {
	struct traced_pick *pick;
	size_t n;
	bool known;
};

struct traced {
	const char *const *key;
	size_t n_keys;
	struct call_tree *call_tree; /* columns of the values */
	struct traced_event *event;  /* by its index in the file */
	size_t n_events;
};

/* Can a word be such a key? A name of letters, digits and _, or one of the two above. */
bool traced_is_key(const char *word, size_t n);
/*
 * The trace of a sample's fields, 0 if it has none of the requested ones. `most`: how many
 * different values are kept.
 */
int traced_sample(struct traced *t, const struct perfdata *file, const struct perfdata_record *rec,
		  uint32_t most, uint32_t *trace);
/*
 * The names of all columns, as words of `s`: those requested by name in their order, then those of
 * "trace_fields" in the file's order. Free *column. -ENOENT for a name that no tracepoint of the
 * file has; -E2BIG for more than TRACED_COLUMNS_MOST.
 */
int traced_columns(struct traced *t, const struct perfdata *file, struct call_tree *s,
		   uint32_t **column, size_t *n, struct tare_error *err);
void traced_free(struct traced *t);

#endif
