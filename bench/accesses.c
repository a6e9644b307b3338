/* SPDX-License-Identifier: MIT */
/*
 * Measures how fast precise samples are read and summed up.
 *
 *	accesses_speed make KIND N FILE	a recording of N accesses
 *	accesses_speed read FILE	decode all of it; prints CPU seconds, accesses, bytes of hardware data
 *
 * KIND: pebs ip, tid, time, addr, cpu, period, weight, data_src: 72 bytes, of four threads at 1 GiB
 *       ibs   an IBS op sample with its registers: 120 bytes
 *       spe   AUX data of Arm SPE, a load or store with all it tells: 64 bytes, in pieces of 1 MiB
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "perfdata/perfdata.h"
#include "tare/access.h"

enum {
	THREADS = 4,
	ADDRESSES = 1 << 30,
	CODE = 0x10000,
	ATTR = 128,
	SPE_BYTES = 64,
	PIECE = 1 << 20,
	REGISTERS = 8
};

static unsigned char *put(unsigned char *p, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)(v >> 8 * i);
	return p + n;
}

static uint64_t seed = 88172645463325252ull;

static uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* One in four falls into 4 MiB, as programs do. */
static uint64_t address(void)
{
	return 0x10000000 + (draw() % (draw() & 3 ? ADDRESSES : 4 << 20) & ~7ull);
}

static unsigned char *text(unsigned char *p, const char *s, size_t n)
{
	strncpy((char *)p, s, n);
	return p + n;
}

static size_t finish(unsigned char *rec, unsigned char *p, uint32_t type, uint16_t misc, FILE *f)
{
	put(put(put(rec, type, 4), misc, 2), (uint64_t)(p - rec), 2);
	return fwrite(rec, 1, (size_t)(p - rec), f);
}

static size_t mapping(unsigned char *rec, uint64_t at, uint64_t size, const char *name, bool data,
		      FILE *f)
{
	unsigned char *p = put(put(rec + 8, 1, 4), 1, 4);

	p = text(put(put(put(p, at, 8), size, 8), 0, 8), name, 16);
	return finish(rec, put(put(put(put(p, 1, 4), 1, 4), 0, 8), 0, 8), PD_RECORD_MMAP,
		      data ? 2 | 1 << 13 : 2, f);
}

static unsigned char *spe(unsigned char *p, uint64_t i)
{
	unsigned char *from = p;

	*p++ = 0xb0;
	p = put(put(p, 0x400000 + draw() % CODE, 7), 0x80, 1);
	*p++ = 0x49;
	*p++ = i % 4 == 0;
	*p++ = 0x52;
	p = put(p, 0x16, 2);
	for (int k = 0; k < 3; k++) {
		*p++ = (unsigned char)(0x98 + k);
		p = put(p, 4 + draw() % 300, 2);
	}
	*p++ = 0xb2;
	p = put(p, address(), 8);
	*p++ = 0x43;
	*p++ = (unsigned char)(draw() % 3 * 8);
	while (p < from + SPE_BYTES - 9)
		*p++ = 0;
	*p++ = 0x71;
	return put(p, 1000000 + i * 100, 8);
}

static int make(const char *kind, uint64_t n, const char *path)
{
	bool ibs = !strcmp(kind, "ibs"), aux = !strcmp(kind, "spe");
	uint64_t type = PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_CPU |
		PD_SAMPLE_PERIOD |
		(ibs           ? PD_SAMPLE_RAW
			 : aux ? 0
			       : PD_SAMPLE_ADDR | PD_SAMPLE_WEIGHT | PD_SAMPLE_DATA_SRC);
	static unsigned char head[104 + ATTR + 16], rec[1 << 12], piece[PIECE];
	static const uint64_t sizes[] = { 8, 68, 92, 76 };
	unsigned char *p = head;
	FILE *f = fopen(path, "wb");
	uint64_t written = 0;

	if (!f)
		return 1;
	memcpy(p, "PERFILE2", 8);
	p = put(put(put(put(put(p + 8, 104, 8), ATTR + 16, 8), 104, 8), ATTR + 16, 8), sizeof(head),
		8);
	put(put(put(head + 104, ibs ? 10 : aux ? 9 : 4, 4), ATTR, 4), ibs ? 1 << 19 : 0x1cd, 8);
	put(put(head + 120, 1000, 8), type, 8);
	put(head + 144, 1ull << 18 | 2 << 15, 8);
	put(head + 72, 1 << 7 | 1 << 9 | 1 << 14 | 1 << 16, 8);
	written += fwrite(head, 1, sizeof(head), f) - sizeof(head);
	written += mapping(rec, 0x400000, CODE, "/nonexistent/x", false, f);
	written += mapping(rec, 0x10000000, ADDRESSES, "//anon", true, f);
	if (aux)
		written += finish(rec, put(put(put(put(rec + 8, 4, 4), 0, 4), 9, 8), 0, 8), 70, 0,
				  f);
	for (uint64_t i = 0; i < n; i++) {
		if (aux) {
			uint64_t each = PIECE / SPE_BYTES;

			spe(piece + i % each * SPE_BYTES, i);
			if (i % each != each - 1 && i + 1 != n)
				continue;
			p = put(put(put(rec + 8, (i % each + 1) * SPE_BYTES, 8), i / each * PIECE,
				    8),
				0, 8);
			p = put(put(put(put(p, 0, 4), 1 + i / each % THREADS, 4), 0, 4), 0, 4);
			written += finish(rec, p, 71, 0, f) +
				fwrite(piece, 1, (i % each + 1) * SPE_BYTES, f);
			continue;
		}
		p = put(put(put(rec + 8, 0x400000 + draw() % (CODE / 16) * 16, 8), 1, 4),
			1 + i % THREADS, 4);
		p = put(p, 1000000 + i * 100, 8);
		if (!ibs)
			p = put(p, address(), 8);
		p = put(put(put(p, i % THREADS, 4), 0, 4), 1000, 8);
		if (ibs) {
			p = put(put(p, 4 + 8 * REGISTERS, 4), 0x3ff, 4);
			p = put(put(put(put(p, 3 << 17 | 1000, 8), 0x400000 + draw() % CODE, 8),
				    draw() % 200 << 16, 8),
				draw() % 4 + 1, 8);
			p = put(p,
				(1 + (i & 1)) | 1 << 7 | 3 << 17 | 4 << 22 | (draw() & 1) << 20 |
					(draw() % 400) << 32,
				8);
			p = put(put(put(p, address(), 8), address(), 8), 0, 8);
		} else {
			static const uint64_t levels[] = { 0x8, 0x8, 0x20, 0x40, 0x80, 0x400 };
			uint64_t level = levels[draw() % 6];

			p = put(p, 4 + draw() % 600, 8);
			p = put(p,
				(i % 4 ? 2 : 4) | (level | 2) << 5 |
					(level == 0x400 ? 16ull : 2ull) << 19 | 10ull << 26,
				8);
		}
		written += finish(rec, p, PD_RECORD_SAMPLE, 2 | 1 << 14, f);
	}
	/* NRCPUS, CPUID, NUMA_TOPOLOGY, PMU_MAPPINGS: the table, then each */
	memset(rec, 0, sizeof(rec));
	p = rec;
	for (uint64_t i = 0, at = sizeof(head) + written + 64; i < 4; at += sizes[i++])
		p = put(put(p, at, 8), sizes[i], 8);
	p = put(put(p, THREADS, 4), THREADS, 4);
	p = text(put(p, 64, 4),
		 aux           ? "0x00000000410fd0c0"
			 : ibs ? "AuthenticAMD,23,49,0"
			       : "GenuineIntel-6-55-4",
		 64);
	p = text(put(put(put(put(put(p, 1, 4), 0, 4), 1 << 20, 8), 1 << 20, 8), 64, 4), "0-3", 64);
	p = text(put(put(put(p, 1, 4),
			 ibs           ? 10
				 : aux ? 9
				       : 4,
			 4),
		     64, 4),
		 ibs           ? "ibs_op"
			 : aux ? "arm_spe_0"
			       : "cpu",
		 64);
	fwrite(rec, 1, (size_t)(p - rec), f);
	put(rec, written, 8);
	if (fseek(f, 48, SEEK_SET) || fwrite(rec, 1, 8, f) != 8)
		return 1;
	return fclose(f) != 0;
}

static int walk(const char *path)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_access a;
	struct timespec t;
	struct tare_accesses *r = tare_accesses_open(path, &err);
	uint64_t n = 0, sum = 0;
	int ret = r ? 1 : -1;

	while (r && (ret = tare_accesses_next(r, &a, &err)) == 1) {
		n++;
		sum += a.address + a.ip + a.place;
	}
	if (ret < 0) {
		fprintf(stderr, "%s\n", err.what);
		return 1;
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	printf("%.6f %" PRIu64 " %" PRIu64 "\n", (double)t.tv_sec + (double)t.tv_nsec / 1e9, n,
	       sum);
	tare_accesses_close(r);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "make"))
		return make(argv[2], strtoull(argv[3], NULL, 10), argv[4]);
	if (argc == 3 && !strcmp(argv[1], "read"))
		return walk(argv[2]);
	fprintf(stderr, "usage: accesses_speed make pebs|ibs|spe N FILE | read FILE\n");
	return 2;
}
