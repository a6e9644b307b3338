/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "base/num.h"
#include "cli/verify.h"

int verify_set_format(void *options, const char *arg, struct tare_error *err)
{
	if (strcmp(arg, "text") && strcmp(arg, "json"))
		return tare_fail(err, EINVAL, "there is no format '%.32s': text or json", arg);
	((struct verify_form *)options)->json = !strcmp(arg, "json");
	return 0;
}

int verify_set_output(void *options, const char *arg, struct tare_error *err)
{
	((struct verify_form *)options)->output = arg;
	return *arg ? 0 : tare_fail(err, EINVAL, "the name of a file is wanted");
}

int verify_set_timeout(void *options, const char *arg, struct tare_error *err)
{
	struct verify_form *o = options;
	int ret = num_parse_ns(arg, 1000000, &o->timeout_ns, err);

	return ret < 0 || o->timeout_ns ? ret : tare_fail(err, EINVAL, "a time above 0 is wanted");
}
