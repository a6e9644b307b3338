/* SPDX-License-Identifier: MIT */
/*
 * A limit on the steps of a query, in proportion to the size of the file. A hostile file can claim
 * any number of rows: its tables may share pages, or all its keys be equal in a join.
 *
 *	sqlite3_progress_handler(db, HISTORY_EFFORT_EACH, history_effort_step, &effort);
 *
 * Source: sqlite.org, c3ref/progress_handler.html.
 */
#ifndef HISTORY_EFFORT_H
#define HISTORY_EFFORT_H

#include <stdint.h>

enum { HISTORY_EFFORT_EACH = 100000 }; /* instructions of SQLite's virtual machine */

struct history_effort {
	const char *path;
	uint64_t steps; /* of the current query; set it to 0 at its begin */
};

/* Non-zero, so that the query fails with SQLITE_INTERRUPT, if it took too many. */
int history_effort_step(void *effort);

#endif
