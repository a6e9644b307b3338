/* SPDX-License-Identifier: MIT */
/* A build without jansson. */
#include "pmu/vendor.h"

int vendor_json_parse(const char *text, size_t n, const char *path, struct vendor_file *out,
		      struct tare_error *err)
{
	(void)text, (void)n, (void)out;
	tare_fail(err, EOPNOTSUPP, "%s is JSON, and this tare was built without jansson", path);
	tare_hint(err,
		  "build with -Djansson=enabled, or write lines 'name event umask flags meaning'");
	return -EOPNOTSUPP;
}
