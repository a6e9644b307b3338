/* SPDX-License-Identifier: MIT */
/* A perf.data of the file layout for tests: two events, then records, then features. */
#ifndef PERFDATA_PERFDATA_MADE_FILE_H
#define PERFDATA_PERFDATA_MADE_FILE_H

#include "perfdata/perfdata_features.h"
#include "perfdata/perfdata_maker.h"

static struct maker m;
__attribute__((unused)) static struct perfdata_record rec;

static const struct perfdata_attr plain = {
	.size = 64,
	.sample_type = PD_SAMPLE_IP | PD_SAMPLE_TIME | PD_SAMPLE_IDENTIFIER,
};

enum { AT_ATTR_SIZE = 16, AT_ATTRS = 24, AT_DATA = 40, AT_FEATURES = 72, AT_END = 104 };

__attribute__((unused)) static void put_time_sample(uint64_t id, uint64_t time)
{
	begin_record(&m, PD_RECORD_SAMPLE, 2);
	put64(&m, id), put64(&m, 0x1000), put64(&m, time);
	end_record(&m);
}

/*
 * A file of the file layout with two events of two ids each; features are added after end_data().
 */
static size_t data_at;

__attribute__((unused)) static void begin_file(bool big, int version, size_t head, size_t attr_size)
{
	struct perfdata_attr a = plain;
	size_t ids;

	m = (struct maker){ .big = big };
	put_bytes(&m, version == 2 ? big ? "2ELIFREP" : "PERFILE2" : "PERFFILE", 8);
	put64(&m, head);
	while (m.n < head)
		put64(&m, 0);
	ids = m.n;
	for (uint64_t id = 40; id < 44; id++)
		put64(&m, id);
	patch(&m, AT_ATTR_SIZE, attr_size + 16, 8);
	patch(&m, AT_ATTRS, m.n, 8);
	patch(&m, AT_ATTRS + 8, 2 * (attr_size + 16), 8);
	for (int i = 0; i < 2; i++) {
		a.size = (uint32_t)attr_size;
		a.config = (uint64_t)i;
		put_attr(&m, &a, attr_size);
		put64(&m, ids + 16 * (size_t)i), put64(&m, 16);
	}
	data_at = m.n;
	patch(&m, AT_DATA, m.n, 8);
}

__attribute__((unused)) static void end_data(void)
{
	patch(&m, AT_DATA + 8, m.n - data_at, 8);
}

__attribute__((unused)) static int count(struct perfdata *r, struct tare_error *err, int *n)
{
	int ret;

	for (*n = 0; (ret = perfdata_next(r, &rec, err)) == 1; ++*n)
		CHECK(!rec.bad, "%s", rec.bad);
	return ret;
}

/* Writes the sections of features after the data, then their table. */
struct made_feature {
	unsigned bit;
	void (*put)(void);
};

__attribute__((unused)) static void put_hostname(void)
{
	put_string(&m, "host");
}
/* Truncates the section of `cut` to `keep` bytes; cut 0: none. */
__attribute__((unused)) static void put_features(const struct made_feature *list, size_t n,
						 unsigned cut, size_t keep)
{
	size_t table = m.n;
	uint64_t bits[4] = { 0 };

	for (size_t i = 0; i < n; i++) {
		put64(&m, 0), put64(&m, 0);
		bits[list[i].bit / 64] |= 1ull << list[i].bit % 64;
	}
	for (size_t i = 0; i < n; i++) {
		size_t start = m.n;

		list[i].put();
		if (list[i].bit == cut && keep < m.n - start)
			m.n = start + keep;
		patch(&m, table + 16 * i, start, 8);
		patch(&m, table + 16 * i + 8, m.n - start, 8);
	}
	for (int i = 0; i < 4; i++)
		patch(&m, AT_FEATURES + 8 * (size_t)i, bits[i], 8);
}

#endif
