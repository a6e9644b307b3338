/* SPDX-License-Identifier: MIT */
/* A build without jansson. */
#include "history/history_document.h"

int history_document_parse(struct history_batch *to, const char *text, size_t n, const char *name,
			   const struct history_about *about, struct tare_error *err)
{
	(void)to, (void)text, (void)n, (void)about;
	tare_fail(err, EOPNOTSUPP, "%.150s is JSON, and this tare was built without jansson", name);
	tare_hint(err, "build with -Djansson=enabled");
	return -EOPNOTSUPP;
}
