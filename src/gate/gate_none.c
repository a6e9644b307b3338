/* SPDX-License-Identifier: MIT */
/* A build without jansson. */
#include "gate/gate.h"

static int missing(const char *name, struct tare_error *err)
{
	tare_fail(err, EOPNOTSUPP, "%.150s is JSON, and this tare was built without jansson", name);
	tare_hint(err, "build with -Djansson=enabled");
	return -EOPNOTSUPP;
}

int gate_config_parse(struct gate_config *out, const char *text, size_t n, const char *name,
		      struct tare_error *err)
{
	(void)text, (void)n;
	*out = (struct gate_config){ 0 };
	return missing(name, err);
}

int gate_records_parse(struct gate_records *out, const char *text, size_t n, const char *name,
		       struct tare_error *err)
{
	(void)out, (void)text, (void)n;
	return missing(name, err);
}
