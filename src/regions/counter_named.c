/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "regions/counter_named.h"
#include "base/text.h"

enum { NEAR_AMONG = 64 };

int counter_named(size_t *at, const char *wanted, const void *of, size_t n, counter_name *name,
		  const char *who, struct tare_error *err)
{
	struct text names = { 0 }, near = { 0 };
	const char *some[NEAR_AMONG];

	for (*at = 0; wanted && *at < n && strcmp(name(of, *at), wanted); ++*at) {
		text_add(&names, "%s%s", *at ? ", " : "", name(of, *at));
		some[*at % NEAR_AMONG] = name(of, *at);
	}
	if (!wanted || *at < n) {
		text_free(&names);
		return 0;
	}
	text_nearest(&near, wanted, some, n < NEAR_AMONG ? n : NEAR_AMONG, 1);
	tare_fail(err, EINVAL, "%.150s no counter '%.60s'", who, wanted);
	if (near.len)
		tare_hint(err, "did you mean %s?", near.s);
	else if (names.len)
		tare_hint(err, "counters there: %s", names.s);
	text_free(&names);
	text_free(&near);
	return -EINVAL;
}
