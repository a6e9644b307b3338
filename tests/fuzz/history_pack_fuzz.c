/* SPDX-License-Identifier: MIT */
/*
 * Packed functions of a store: the first three bytes are the size without compression. The
 * result is packed and unpacked again, and must be the same.
 */
#include "base/arena.h"
#include "fuzz.h"
#include "history/history_pack.h"

static void check(const struct history_finding *f)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct history_finding again = { 0 };
	unsigned char *packed = NULL;
	size_t n, unpacked;
	void *strings = NULL;

	must(history_pack(&packed, &n, &unpacked, f, &err) == 0);
	must(history_unpack(&again, &strings, packed, n, unpacked, &err) == 0 && again.n == f->n);
	for (size_t i = 0; i < f->n; i++)
		must(!strcmp(f->function[i].name, again.function[i].name) &&
		     !strcmp(f->function[i].module, again.function[i].module) &&
		     f->function[i].count == again.function[i].count);
	free(packed);
	free(again.function);
	arena_free(&strings);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct history_finding f = { 0 };
	void *strings = NULL;
	size_t size;

	if (n < 3)
		return 0;
	size = (size_t)bytes[0] << 16 | (size_t)bytes[1] << 8 | bytes[2];
	if (history_unpack(&f, &strings, bytes + 3, n - 3, size, &err) == 0)
		check(&f);
	else
		must(err.what[0]);
	free(f.function);
	arena_free(&strings);
	return 0;
}
