/* SPDX-License-Identifier: MIT */
/*
 * Where measurements are kept. A kind of store is a row of functions; history/history_sqlite.c is
 * the one of files.
 */
#ifndef HISTORY_HISTORY_STORE_H
#define HISTORY_HISTORY_STORE_H

#include "history/history.h"

struct history_store; /* of its kind */

struct history_listed {
	int64_t id; /* of the series */
	struct history_series series;
	/* With HISTORY_LAST: the number of values, and the one that was added last. */
	uint64_t values;
	struct history_commit commit;
	struct history_number value;
};

struct history_list {
	struct history_listed *row; /* owned; ordered by name */
	size_t n, room;
	void *strings;
};

/* What to remove: the values that meet all conditions. */
struct history_prune {
	const struct history_listed *series; /* only of these */
	size_t n;
	int64_t before; /* only of commits before this time; INT64_MAX: of any age */
	uint64_t keep;  /* keep this number of last values of each series */
	bool (*kept)(void *with, const char *commit); /* keep these commits; NULL: none */
	void *with;
	bool dry; /* remove nothing, only count; a store that is open for reading is enough */
};

struct history_pruned {
	uint64_t *of; /* of each series: the number of its values; owned by the caller */
	uint64_t values, series, runs; /* series and runs: those without a value left */
	uint64_t bytes_before, bytes_after;
	bool compacted; /* otherwise the file has free space for new values */
};

enum history_access { HISTORY_READ, HISTORY_WRITE };
enum history_detail { HISTORY_NAMES, HISTORY_LAST };

struct history_store_kind {
	const char *name;
	/*
	 * HISTORY_WRITE creates it if there is none. A store of another program or of a newer tare
	 * is refused, and not changed. Functions wait up to wait_ns for other users of the store;
	 * then -EBUSY.
	 */
	int (*open)(struct history_store **out, const char *where, enum history_access access,
		    uint64_t wait_ns, struct tare_error *err);
	/*
	 * All or nothing: when it returns 0, the values are on the disk. *known: runs that were
	 * added before, by their digest; they are not added again, except for a finding that they
	 * do not have.
	 */
	int (*add)(struct history_store *s, const struct history_batch *b, size_t *known,
		   struct tare_error *err);
	/* Free the result in any case. */
	int (*list)(struct history_store *s, enum history_detail detail, struct history_list *out,
		    struct tare_error *err);
	/* The values of one series, not judged. Free the result in any case. */
	int (*values)(struct history_store *s, const struct history_listed *of,
		      struct history_values *out, struct tare_error *err);
	/*
	 * The finding of a measurement; without one, it is empty. Its strings are owned by
	 * *strings. Free its functions in any case.
	 */
	int (*finding)(struct history_store *s, const struct history_digest *measurement,
		       struct history_finding *out, void **strings, struct tare_error *err);
	/* Removes all or nothing; compacting may fail. `of` has room for all series. */
	int (*prune)(struct history_store *s, const struct history_prune *what,
		     struct history_pruned *out, struct tare_error *err);
	void (*close)(struct history_store *s); /* NULL: nothing */
};

/* Without the library, open() says so. */
extern const struct history_store_kind history_sqlite;
extern const struct history_store_kind history_postgres; /* where: "postgresql://..." */

void history_list_free(struct history_list *l);

#endif
