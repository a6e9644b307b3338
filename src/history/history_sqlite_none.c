/* SPDX-License-Identifier: MIT */
/* A build without SQLite. */
#include "history/history_import.h"
#include "history/history_store.h"

static int missing(struct tare_error *err)
{
	tare_fail(err, EOPNOTSUPP,
		  "the history is an SQLite file, and this tare was built without SQLite");
	tare_hint(err, "build with -Dsqlite=enabled");
	return -EOPNOTSUPP;
}

int history_import_rustc(struct history_batch *to, const char *path,
			 const struct history_import *how, size_t *undated, struct tare_error *err)
{
	(void)to, (void)path, (void)how, (void)undated;
	return missing(err);
}

static int open_none(struct history_store **out, const char *where, enum history_access access,
		     uint64_t wait_ns, struct tare_error *err)
{
	(void)where, (void)access, (void)wait_ns;
	*out = NULL;
	return missing(err);
}

static void close_none(struct history_store *s)
{
	(void)s;
}

const struct history_store_kind history_sqlite = {
	.name = "sqlite",
	.open = open_none,
	.close = close_none,
};
