/* SPDX-License-Identifier: MIT */
#include "output/reader/json_value.h"

/* Bytes of jansson 2.14 on a 64-bit machine, with those of malloc. */
enum {
	OBJECT_BYTES = 240,
	ARRAY_BYTES = 136,
	PAIR_BYTES = 72,    /* with the slots of a table that doubles; without its key */
	ELEMENT_BYTES = 40, /* a number, and its slot in an array */
	STRING_BYTES = 48,  /* without its text */
};

static const uint16_t bytes_of[256] = {
	['{'] = OBJECT_BYTES,  ['['] = ARRAY_BYTES,  [':'] = PAIR_BYTES - STRING_BYTES,
	[','] = ELEMENT_BYTES, ['"'] = STRING_BYTES,
};

uint64_t json_memory(const char *text, size_t n)
{
	uint64_t bytes = n;

	for (size_t i = 0; i < n; i++) {
		bytes += bytes_of[(unsigned char)text[i]];
		if (text[i] != '"')
			continue;
		for (i++; i < n && text[i] != '"'; i++)
			i += text[i] == '\\';
	}
	return bytes;
}

int json_check_memory(const char *text, size_t n, const char *name, struct tare_error *err)
{
	const uint64_t most = 1 << 30, usual = 128 << 20, bytes = json_memory(text, n);

	if (bytes <= most && (bytes <= usual || bytes / 32 <= n))
		return 0;
	tare_fail(err, EFBIG, "%.200s: its values need %llu MiB of memory, for %llu KiB of text",
		  name, (unsigned long long)bytes >> 20, (unsigned long long)n >> 10);
	tare_hint(err, "the limit is 1 GiB, and above 128 MiB also 32 times the size of the text");
	return -EFBIG;
}
