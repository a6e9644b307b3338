/* SPDX-License-Identifier: MIT */
/* Records by time: rounds, files without rounds, a full queue, and damage at the end. */
#include "perfdata/perfdata_maker.h"
#include "perfdata/perfdata_private.h"

static struct maker m;
static struct perfdata_record rec;

static const struct perfdata_attr attr = {
	.size = 64,
	.sample_type = PD_SAMPLE_IP | PD_SAMPLE_TIME,
	.flags = PD_ATTR_SAMPLE_ID_ALL,
};

/* 0: FINISHED_ROUND; -1: COMM with time 0; -2: COMM with time -1; -3: THREAD_MAP */
static void put_item(int64_t time, uint64_t ip)
{
	begin_record(&m,
		     time > 0             ? PD_RECORD_SAMPLE
			     : time == 0  ? PD_RECORD_FINISHED_ROUND
			     : time == -3 ? PD_RECORD_THREAD_MAP
					  : PD_RECORD_COMM,
		     0);
	if (time > 0)
		put64(&m, ip), put64(&m, (uint64_t)time);
	else if (time == -3)
		put64(&m, 0);
	else if (time < 0)
		put32(&m, 1), put32(&m, 1), put_name(&m, "x"),
			put64(&m, time == -1 ? 0 : UINT64_MAX);
	end_record(&m);
}

static struct perfdata *begin_recording(const int64_t *items, size_t n, size_t queue_max)
{
	struct perfdata_opts opts = { .queue_max = queue_max };
	struct perfdata *r;

	m = (struct maker){ 0 };
	put_magic(&m, 16);
	put_event(&m, &attr, 0);
	for (size_t i = 0; i < n; i++)
		put_item(items[i], i);
	r = open_made(&m, &opts, NULL);
	CHECK_EQ(perfdata_next_ordered(r, &rec, NULL), 1, "the ATTR record");
	return r;
}

TEST(orders)
{
	static const struct {
		int line;
		int64_t items[10];
		int64_t out[10]; /* ends with 99 */
	} rows[] = {
		/* no rounds: everything at the end, equal times as in the file */
		{ __LINE__, { 3, 1, 2, 99 }, { 1, 2, 3, 99 } },
		/* the first round releases nothing, the second the records of the first */
		{ __LINE__, { 5, 3, 0, 6, 4, 0, 7, 99 }, { 0, 0, 3, 4, 5, 6, 7, 99 } },
		{ __LINE__, { 5, 0, 6, 0, 9, 7, 0, 8, 99 }, { 0, 0, 5, 0, 6, 7, 8, 9, 99 } },
		/* without a time: immediately, in file order */
		{ __LINE__, { 2, -1, 1, -2, -3, 99 }, { -1, -2, -3, 1, 2, 99 } },
		{ __LINE__, { 99 }, { 99 } },
		{ __LINE__, { 0, 0, 99 }, { 0, 0, 99 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t n = 0, k = 0;
		struct perfdata *r;

		while (rows[i].items[n] != 99)
			n++;
		r = begin_recording(rows[i].items, n, 0);
		for (; rows[i].out[k] != 99; k++) {
			int64_t want = rows[i].out[k];

			CHECK_EQ(perfdata_next_ordered(r, &rec, NULL), 1, "row at line %d",
				 rows[i].line);
			if (want > 0)
				CHECK_EQ(rec.time, want, "row at line %d, place %zu", rows[i].line,
					 k);
			else
				CHECK_EQ(rec.type,
					 want == 0            ? PD_RECORD_FINISHED_ROUND
						 : want == -3 ? PD_RECORD_THREAD_MAP
							      : PD_RECORD_COMM,
					 "row at line %d, place %zu", rows[i].line, k);
		}
		CHECK_EQ(k, n, "row at line %d", rows[i].line);
		CHECK_EQ(perfdata_next_ordered(r, &rec, NULL), 0, "row at line %d", rows[i].line);
		CHECK_EQ(perfdata_next_ordered(r, &rec, NULL), 0, "again");
		CHECK_EQ(perfdata_loss(r)->disordered, 0, "row at line %d", rows[i].line);
		perfdata_close(r);
	}
}

TEST(equal_times_keep_their_order)
{
	int64_t items[500];
	struct perfdata *r;

	for (size_t i = 0; i < ARRAY_SIZE(items); i++)
		items[i] = 7 + (int64_t)(i % 3);
	r = begin_recording(items, ARRAY_SIZE(items), 0);

	uint64_t last = 0, at = 0;

	while (perfdata_next_ordered(r, &rec, NULL) == 1) {
		CHECK(rec.time > at || (rec.time == at && rec.sample.ip > last), "at %llu",
		      (unsigned long long)rec.sample.ip);
		at = rec.time;
		last = rec.sample.ip;
	}
	perfdata_close(r);
}

/*
 * Records that do not fit in the queue are released early; later ones that are out of order are
 * counted.
 */
TEST(a_full_queue)
{
	static int64_t items[5000];
	uint64_t seen = 0, late = 0, at = 0;
	struct perfdata *r;

	for (size_t i = 0; i < ARRAY_SIZE(items); i++)
		items[i] = (int64_t)(ARRAY_SIZE(items) - i);
	r = begin_recording(items, ARRAY_SIZE(items), 64 << 10);
	while (perfdata_next_ordered(r, &rec, NULL) == 1) {
		seen++;
		late += rec.time < at;
		at = rec.time > at ? rec.time : at;
	}
	CHECK_EQ(seen, ARRAY_SIZE(items));
	CHECK(late > 0);
	CHECK_EQ(perfdata_loss(r)->disordered, late);
	perfdata_close(r);
}

/* Long runs: chunks of copies are filled, freed and reused; closing early leaks none. */
TEST(many_rounds)
{
	for (int early = 0; early < 2; early++) {
		static int64_t items[20000];
		uint64_t seen = 0, at = 0;
		struct perfdata *r;

		for (size_t i = 0; i < ARRAY_SIZE(items); i++)
			items[i] = i % 100 == 99 ? 0 : (int64_t)(1000 + i - 40 * (i % 2));
		r = begin_recording(items, ARRAY_SIZE(items), 0);
		while (perfdata_next_ordered(r, &rec, NULL) == 1 && !(early && seen == 7000)) {
			if (rec.type != PD_RECORD_SAMPLE)
				continue;
			seen++;
			CHECK(rec.time >= at);
			at = rec.time;
		}
		CHECK_EQ(seen, early ? 7000 : 19800);
		CHECK_EQ(perfdata_loss(r)->disordered, 0);
		perfdata_close(r);
	}
}

/*
 * A file without rounds: samples of four processors in order of time, except that every seventh is
 * 3000 late; or those of one processor after the other.
 */
static struct perfdata *open_many(size_t n, bool by_cpu)
{
	char path[] = "/tmp/tare-perfdata-XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
	struct perfdata *r;

	m = (struct maker){ 0 };
	put_bytes(&m, "PERFILE2", 8);
	put64(&m, 104), put64(&m, 64 + 16);
	put64(&m, 104), put64(&m, 64 + 16);
	put64(&m, 104 + 64 + 16), put64(&m, 24 * n);
	while (m.n < 104)
		put64(&m, 0);
	put_attr(&m, &attr, 64);
	put64(&m, 0), put64(&m, 0);
	for (size_t i = 0; i < n; i++) {
		uint64_t time = by_cpu      ? i % (n / 4) * 4 + i / (n / 4)
			: i % 7 || i < 3000 ? 2 * i
					    : 2 * (i - 3000) + 1;

		put_item((int64_t)time + 1, i);
		if (m.n > sizeof(m.b) / 2 || i == n - 1) {
			if (!f || fwrite(m.b, 1, m.n, f) != m.n)
				abort();
			m.n = 0;
		}
	}
	fclose(f);
	r = perfdata_open(path, NULL, NULL);
	unlink(path);
	return r;
}

/* The most samples that were read but not returned yet. */
static size_t held_most(size_t n, bool by_cpu)
{
	struct perfdata *r = open_many(n, by_cpu);
	uint64_t last = 0;
	size_t most = 0, i = 0;

	for (; perfdata_next_ordered(r, &rec, NULL) == 1 && rec.time > last; i++, last = rec.time) {
		size_t held = (size_t)(r->streams[0].in.offset - 184) / 24 - i - 1;
		most = held > most ? held : most;
	}
	CHECK_EQ(i, n, "all of them, each later than the one before");
	CHECK_EQ(perfdata_loss(r)->disordered, 0, "none came late");
	perfdata_close(r);
	return most;
}

TEST(a_file_without_rounds)
{
	enum { N = 262144 };
	size_t by_time = held_most(N, false), by_cpu = held_most(N, true);

	/* 2 MiB are queued before the reader looks ahead. */
	CHECK(by_time < N / 6, "held %zu of %d", by_time, N);
	CHECK(by_cpu >= N / 2, "held only %zu of %d, whose last quarter goes with the first",
	      by_cpu, N);
}

TEST(damage_comes_last)
{
	static const int64_t items[] = { 3, 1, 2 };
	struct tare_error err = TARE_ERROR_INIT;
	struct perfdata *r;

	begin_recording(items, 3, 0); /* leaves its bytes in m */
	put64(&m, 0);                 /* a record of size 0 */
	r = must_open(&m);
	CHECK_EQ(perfdata_next_ordered(r, &rec, NULL), 1);
	for (uint64_t time = 1; time <= 3; time++) {
		CHECK_EQ(perfdata_next_ordered(r, &rec, &err), 1);
		CHECK_EQ(rec.time, time);
	}
	for (int again = 0; again < 2; again++) {
		CHECK_EQ(perfdata_next_ordered(r, &rec, &err), -EBADMSG);
		CHECK(strstr(err.what, "a record of size 0"), "%s", err.what);
	}
	perfdata_close(r);
}

TEST_MAIN()
