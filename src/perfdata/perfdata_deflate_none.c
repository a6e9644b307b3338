/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include "perfdata/perfdata_deflate.h"

int deflate_new(struct deflate **out, int level, struct tare_error *err)
{
	(void)out, (void)level;
	tare_fail(err, ENOSYS, "this build of tare cannot compress: it was built without zstd");
	tare_hint(err, "leave -z out");
	return -ENOSYS;
}

int64_t deflate_piece(struct deflate *z, const void *bytes, size_t n, void *out, size_t room,
		      struct tare_error *err)
{
	(void)z, (void)bytes, (void)n, (void)out, (void)room;
	return tare_fail(err, ENOSYS, "no zstd");
}

void deflate_free(struct deflate *z)
{
	(void)z;
}
