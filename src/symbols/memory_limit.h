/* SPDX-License-Identifier: MIT */
/*
 * Limits the memory for a recording's processes, threads, files and their names in proportion to
 * the bytes read, so that a small (hostile) file that decompresses to a large one takes little. A
 * fork is 56 bytes or more, compressed 30 times at most by a real recorder's zstd, and takes about
 * 150 in memory.
 */
#ifndef SYMBOLS_MEMORY_LIMIT_H
#define SYMBOLS_MEMORY_LIMIT_H

#include "symbols/modules.h"
#include "base/error.h"

#define MEMORY_LIMIT_LEAST    (64ull << 20)
#define MEMORY_LIMIT_PER_BYTE 128u

/*
 * -EFBIG if `bytes` plus the modules' memory exceed the limit for `read` bytes of a file. Costs
 * about 20 instructions.
 */
static inline int memory_limit_check(const struct modules *m, uint64_t bytes, const char *path,
				     uint64_t read, struct tare_error *err)
{
	bytes += m->room * sizeof(*m->module) + words_memory(&m->words) +
		set_memory(&m->key, sizeof(uint32_t[4])) +
		set_memory(&m->path_id, sizeof(uint32_t[2]));
	if (bytes <= MEMORY_LIMIT_LEAST ||
	    bytes - MEMORY_LIMIT_LEAST <= MEMORY_LIMIT_PER_BYTE * read)
		return 0;
	return tare_fail(
		err, EFBIG,
		"%.150s: byte %llu: more threads, files and names than a recording of this size has",
		path, (unsigned long long)read);
}

#endif
