/* SPDX-License-Identifier: MIT */
/* A build without jansson. */
#include "compare/compare_document.h"

int compare_documents_read(struct compare_documents *out, const char *const path[COMPARE_SIDES],
			   double threshold, bool allow_failure, struct tare_error *err)
{
	(void)threshold, (void)allow_failure;
	*out = (struct compare_documents){ 0 };
	tare_fail(err, EOPNOTSUPP, "%.200s is JSON, and this tare was built without jansson",
		  path[COMPARE_BEFORE]);
	tare_hint(err, "build with -Djansson=enabled, or compare two commands");
	return -EOPNOTSUPP;
}

void compare_documents_free(struct compare_documents *d)
{
	(void)d;
}
