/* SPDX-License-Identifier: MIT */
/*
 * Measures how fast a perf.data is read.
 *
 *	perfdata_speed make KIND BYTES FILE	a file of that many bytes of records
 *	perfdata_speed read|order FILE		iterate and decode all of it; seconds and records
 *
 * KIND: plain ip, tid, time, cpu, period: 56 bytes, perf record's default for one event
 *       chain   the same with a call chain of 24 entries
 *       events  plain, with eight events distinguished by their ids
 *       big     plain, recorded by a big-endian machine
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "perfdata/perfdata.h"

enum { CHAIN = 24, EVENTS = 8 };

static bool big;

static unsigned char *put(unsigned char *p, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[big ? n - 1 - i : i] = (unsigned char)(v >> 8 * i);
	return p + n;
}

static int make(const char *kind, uint64_t bytes, const char *path)
{
	bool chain = !strcmp(kind, "chain"), many = !strcmp(kind, "events");
	uint64_t type = PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_CPU |
		PD_SAMPLE_PERIOD | (chain ? PD_SAMPLE_CALLCHAIN : 0) |
		(many ? PD_SAMPLE_IDENTIFIER : 0);
	unsigned n_events = many ? EVENTS : 1;
	unsigned char head[104 + EVENTS * 8 + EVENTS * (112 + 16)] = { 0 }, rec[1024], *p = head;
	FILE *f = fopen(path, "wb");
	uint64_t at = 104, attrs = at + 8 * n_events, data = attrs + n_events * 128, written = 0;
	/* perf takes every word below this address as user space and looks for a mapping. */
	uint64_t ip = 0x400000;

	big = !strcmp(kind, "big");
	if (!f)
		return 1;
	memcpy(p, big ? "2ELIFREP" : "PERFILE2", 8);
	p = put(put(put(put(p + 8, 104, 8), 128, 8), attrs, 8), 128 * n_events, 8);
	p = put(p, data, 8);
	for (unsigned i = 0; i < n_events; i++) {
		put(head + at + 8 * i, 40 + i, 8);
		p = head + attrs + 128 * i;
		put(p, 1, 4); /* software events */
		put(p + 4, 112, 4);
		put(p + 8, i, 8);
		put(p + 16, 1000, 8);
		put(p + 24, type, 8);
		/* sample_id_all is bit 18 from the lowest; on big-endian machines from the highest
		 */
		put(p + 40, big ? 1ull << (63 - 18) : 1ull << 18, 8);
		put(p + 112, at + 8 * i, 8);
		put(p + 120, 8, 8);
	}
	if (fwrite(head, 1, data, f) != data)
		return 1;
	for (uint64_t i = 0; written < bytes; i++) {
		p = rec + 8;
		if (many)
			p = put(p, 40 + i % EVENTS, 8);
		p = put(put(put(p, ip + i % 4096 * 16, 8), 100, 4), 100 + i % 4, 4);
		p = put(put(put(put(p, 1000000 + i * 1000 - i % 7 * 900, 8), i % 16, 4), 0, 4),
			1000, 8);
		if (chain) {
			p = put(put(p, CHAIN, 8), (uint64_t)-512, 8);
			for (unsigned k = 1; k < CHAIN; k++)
				p = put(p, ip + (i + k) % 512 * 64, 8);
		}
		put(put(put(rec, PD_RECORD_SAMPLE, 4), 2, 2), (uint64_t)(p - rec), 2);
		if (fwrite(rec, 1, (size_t)(p - rec), f) != (size_t)(p - rec))
			return 1;
		written += (uint64_t)(p - rec);
		if (i % 10000 == 9999) { /* one round */
			put(put(put(rec, PD_RECORD_FINISHED_ROUND, 4), 0, 2), 8, 2);
			if (fwrite(rec, 1, 8, f) != 8)
				return 1;
			written += 8;
		}
	}
	put(rec, written, 8);
	if (fseek(f, 48, SEEK_SET) || fwrite(rec, 1, 8, f) != 8)
		return 1;
	return fclose(f) != 0;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int walk(const char *path, bool ordered)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct perfdata_record rec;
	double began = now(), took;
	struct perfdata *r = perfdata_open(path, NULL, &err);
	uint64_t n = 0, sum = 0;
	int ret;

	if (!r) {
		fprintf(stderr, "%s\n", err.what);
		return 1;
	}
	while ((ret = ordered ? perfdata_next_ordered(r, &rec, &err)
			      : perfdata_next(r, &rec, &err)) == 1) {
		n++;
		if (rec.type != PD_RECORD_SAMPLE)
			continue;
		/*
		 * Fields that every user of a sample reads; also keeps the compiler from removing
		 * the loop.
		 */
		sum += rec.sample.ip ^ rec.time ^ rec.tid ^ rec.sample.period;
		if (rec.has & PD_SAMPLE_CALLCHAIN)
			for (uint64_t i = 0; i < rec.sample.n_chain; i++)
				sum += rec.sample.chain[i];
	}
	took = now() - began;
	if (ret < 0 || perfdata_loss(r)->undecodable || perfdata_loss(r)->unattributed) {
		fprintf(stderr, "%s: %s\n", path,
			ret < 0 ? err.what : "not every record was decoded");
		return 1;
	}
	printf("%.6f %" PRIu64 " %" PRIu64 "\n", took, n, sum);
	perfdata_close(r);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "make"))
		return make(argv[2], strtoull(argv[3], NULL, 10), argv[4]);
	if (argc == 3)
		return walk(argv[2], !strcmp(argv[1], "order"));
	fprintf(stderr, "usage: perfdata_speed make KIND BYTES FILE | read FILE | order FILE\n");
	return 2;
}
