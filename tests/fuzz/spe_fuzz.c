/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as SPE data: every byte is of a record, headless, skipped, or of the tail; reading goes
 * on, and ends.
 */
#include "fuzz.h"
#include "perfdata/spe.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);
	struct spe_walk w = { .data = copy, .n = n };
	struct spe_record r;
	size_t last = 0, at = 0;

	must(copy);
	memcpy(copy, bytes, n);
	while (at < n) {
		struct spe_packet p = spe_packet(copy, n, at);

		must(at + p.size <= n);
		if (!p.size)
			break;
		must(p.kind != SPE_BAD || p.size == 1);
		at += p.size;
	}
	while (spe_next(&w, &r)) {
		must(r.offset >= last && r.offset < w.at && w.at <= n);
		must(r.has & SPE_HAS_ADDRESS(SPE_PC));
		last = w.at;
	}
	must(w.at == n && w.skipped + w.tail <= n);
	free(copy);
	return 0;
}
