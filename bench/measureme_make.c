/* SPDX-License-Identifier: MIT */
/*
 * Writes a `.mm_profdata` of any size, as measureme's own benchmark would: empty intervals with 64
 * labels, in trees of a given depth, on alternating threads. The seed changes the noise, but not
 * the sequence.
 *
 *	measureme_make FILE INTERVALS [DEPTH [THREADS [SEED]]]
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 8191 * 32, LABELS = 64, DEPTH_MAX = 1 << 20, THREADS_MAX = 64 };

static FILE *file;
static unsigned char page[PAGE + 64];
static size_t used;

static void put(unsigned char *to, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (unsigned char)(v >> 8 * i);
}

static void write_page(unsigned char tag, const void *bytes, size_t n)
{
	unsigned char head[5] = { tag };

	put(head + 1, n, 4);
	fwrite(head, 1, sizeof(head), file);
	fwrite(bytes, 1, n, file);
}

static void interval(uint64_t kind, uint64_t label, uint32_t thread, uint64_t start, uint64_t end)
{
	unsigned char *to = page + used;

	put(to, kind, 8);
	put(to + 8, label, 8);
	put(to + 16, thread, 4);
	put(to + 20, start, 4);
	put(to + 24, end, 4);
	put(to + 28, start >> 32 << 16 | end >> 32, 4);
	used += 32;
	if (used >= PAGE) {
		write_page(0, page, used);
		used = 0;
	}
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 0,
		 depth = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	uint64_t threads = argc > 4 ? strtoull(argv[4], NULL, 10) : 1,
		 seed = argc > 5 ? strtoull(argv[5], NULL, 10) : 1;
	static uint64_t start[DEPTH_MAX], clock[THREADS_MAX];
	static const char description[] =
		"{ \"start_time\": 1700000000000000000, \"process_id\": 1, \"cmd\": \"made\", \"counter\": "
		"{ \"name\": \"wall-time\", \"units\": [[\"ns\", 1]] } }\xff";
	unsigned char strings[8192], index[24];
	size_t at = 0;
	uint64_t label[LABELS + 1];

	if (n == 0 || depth == 0 || depth > DEPTH_MAX || threads == 0 || threads > THREADS_MAX ||
	    !(file = fopen(argv[1], "wb"))) {
		fprintf(stderr, "usage: measureme_make FILE INTERVALS [DEPTH [THREADS [SEED]]]\n");
		return 2;
	}
	memcpy(strings, "MMSD\11\0\0\0", 8);
	at = 8;
	for (unsigned i = 0; i <= LABELS; i++) {
		label[i] = 100000003 + at;
		at += (size_t)sprintf((char *)strings + at,
				      i < LABELS ? "label %02u" : "GenericActivity", i);
		strings[at++] = 0xff;
	}
	memcpy(index, "MMSI\11\0\0\0", 8);
	put(index + 8, 100000001, 8);
	put(index + 16, at, 8);
	memcpy(strings + at, description, sizeof(description) - 1);
	at += sizeof(description) - 1;

	fwrite("MMPD\11\0\0\0", 1, 8, file);
	memcpy(page, "MMES\11\0\0\0", 8);
	used = 8;
	for (uint64_t done = 0, tree = 0; done < n; tree++) {
		uint64_t t = tree % threads, deep = depth < n - done ? depth : n - done;

		for (uint64_t d = 0; d < deep; d++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			clock[t] += 30 + (seed >> 40) % 20;
			start[d] = clock[t];
		}
		for (uint64_t d = deep; d-- > 0;) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			clock[t] += 30 + (seed >> 40) % 20;
			interval(label[LABELS], label[(tree + d) % LABELS], (uint32_t)t, start[d],
				 clock[t]);
		}
		done += deep;
	}
	if (used)
		write_page(0, page, used);
	write_page(1, strings, at);
	write_page(2, index, sizeof(index));
	if (fclose(file)) {
		perror("measureme_make");
		return 1;
	}
	return 0;
}
