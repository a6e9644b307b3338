/* SPDX-License-Identifier: MIT */
/* A build without libdw cannot unwind stacks. */
#include "symbols/unwind.h"

struct unwinder *unwinder_new(unwind_file_of *file_of, void *arg, struct tare_error *err)
{
	(void)file_of, (void)arg;
	tare_fail(err, ENOSYS, "this build has no libdw, which unwinds recorded stacks");
	tare_hint(err, "build it with -Dlibdw=enabled");
	return NULL;
}

void unwinder_free(struct unwinder *u)
{
	(void)u;
}

bool unwinder_ran_out(const struct unwinder *u)
{
	(void)u;
	return false;
}

unsigned unwind(struct unwinder *u, const struct maps *maps, const struct perfdata_sample *s,
		uint64_t *out, unsigned max, bool *whole)
{
	(void)u, (void)maps, (void)s, (void)out, (void)max;
	*whole = false;
	return 0;
}

void unwind_from(struct unwinder *u, const struct unwind_call *call)
{
	(void)u, (void)call;
}

bool unwind_next(struct unwinder *u, uint64_t *returns)
{
	(void)u, (void)returns;
	return false;
}
