/* SPDX-License-Identifier: MIT */
/* A build without libzstd: compressed records are reported, not read. */
#include "perfdata/perfdata_inflate.h"

struct inflate *inflate_new(struct tare_error *err)
{
	tare_fail(err, ENOTSUP, "is compressed with zstd, and tare was built without libzstd");
	tare_hint(err, "build with libzstd-dev installed (meson setup -Dzstd=enabled)");
	return NULL;
}

void inflate_free(struct inflate *z)
{
	(void)z;
}

void inflate_feed(struct inflate *z, const void *bytes, size_t n, uint64_t max)
{
	(void)z, (void)bytes, (void)n, (void)max;
}

ssize_t inflate_peek(struct inflate *z, size_t n, const unsigned char **p, struct tare_error *err)
{
	(void)z, (void)n, (void)p;
	return tare_fail(err, ENOTSUP, "tare was built without libzstd");
}

void inflate_take(struct inflate *z, size_t n)
{
	(void)z, (void)n;
}

size_t inflate_rest(const struct inflate *z)
{
	(void)z;
	return 0;
}
