/* SPDX-License-Identifier: MIT */
/* A build without libpq. */
#include "history/history_store.h"

static int open_none(struct history_store **out, const char *where, enum history_access access,
		     uint64_t wait_ns, struct tare_error *err)
{
	(void)where, (void)access, (void)wait_ns;
	*out = NULL;
	tare_fail(err, EOPNOTSUPP, "this tare was built without PostgreSQL");
	tare_hint(err, "build with -Dlibpq=enabled; or use a file: --db FILE");
	return -EOPNOTSUPP;
}

static void close_none(struct history_store *s)
{
	(void)s;
}

const struct history_store_kind history_postgres = {
	.name = "postgresql",
	.open = open_none,
	.close = close_none,
};
