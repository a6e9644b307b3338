/* SPDX-License-Identifier: MIT */
/* For builds without libdw, and static programs, which cannot load libraries. */
#include "symbols/symbols.h"

int symbols_probe(struct tare_error *err)
{
	tare_fail(err, ENOTSUP, "this tare was built without libdw, which reads symbols");
	tare_hint(err, "install libdw-dev and build tare again, not as a static program");
	return -ENOTSUP;
}

int symbols_open(struct symbols **out, const char *path, int fd, struct tare_error *err)
{
	(void)path, (void)fd;
	*out = NULL;
	return symbols_probe(err);
}

void symbols_close(struct symbols *s)
{
	(void)s;
}

bool symbols_complete(const struct symbols *s)
{
	(void)s;
	return false;
}

bool symbols_find(struct symbols *s, uint64_t offset, struct symbol *out)
{
	(void)s, (void)offset, (void)out;
	return false;
}

bool symbols_line(struct symbols *s, uint64_t offset, const char **file, unsigned *line)
{
	(void)s, (void)offset, (void)file, (void)line;
	return false;
}

bool symbols_address(const struct symbols *s, uint64_t offset, uint64_t *address)
{
	(void)s, (void)offset, (void)address;
	return false;
}

int symbols_data(struct symbols *s, struct symbol_data **out, size_t *n, struct tare_error *err)
{
	(void)s;
	*out = NULL;
	*n = 0;
	return symbols_probe(err);
}

bool symbols_field(struct symbols *s, uint64_t address, uint64_t at, bool last,
		   struct symbol_field *out)
{
	(void)s, (void)address, (void)at, (void)last;
	*out = (struct symbol_field){ 0 };
	return false;
}

unsigned symbols_inlined(struct symbols *s, uint64_t offset,
			 struct symbol_inlined out[SYMBOL_INLINED_MAX])
{
	(void)s, (void)offset, (void)out;
	return 0;
}
