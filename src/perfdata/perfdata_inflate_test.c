/* SPDX-License-Identifier: MIT */
/*
 * Compressed records: one stream over many records, straddling records, decompression bombs and
 * damage.
 */
#include <sys/resource.h>
#include <zstd.h>
#include "perfdata/perfdata_maker.h"

static struct maker m, inner;
static struct perfdata_record rec;

static const struct perfdata_attr attr = { .size = 64,
					   .sample_type = PD_SAMPLE_IP | PD_SAMPLE_TIME };

static void begin_pipe(void)
{
	m = (struct maker){ 0 };
	put_magic(&m, 16);
	put_event(&m, &attr, 0);
}

/* Samples with ip 0, 1, 2, ... */
static void put_samples(struct maker *to, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		begin_record(to, PD_RECORD_SAMPLE, 0);
		put64(to, i), put64(to, 1000 + i);
		end_record(to);
	}
}

/* One compressed record with the next n bytes of the stream; the last one ends the frame. */
static void put_compressed(ZSTD_CCtx *ctx, const void *bytes, size_t n, bool second_form, bool last)
{
	static unsigned char room[65000];
	ZSTD_inBuffer in = { bytes, n, 0 };
	ZSTD_outBuffer out = { room, sizeof(room), 0 };

	if (ZSTD_compressStream2(ctx, &out, &in, last ? ZSTD_e_end : ZSTD_e_flush) != 0)
		abort();
	begin_record(&m, second_form ? PD_RECORD_COMPRESSED2 : PD_RECORD_COMPRESSED, 0);
	if (second_form)
		put64(&m, out.pos);
	put_bytes(&m, room, out.pos);
	while (second_form && (m.n - m.record) % 8)
		put(&m, 0xff, 1); /* padding that is not part of the stream */
	end_record(&m);
}

static int count_samples(struct perfdata *r, struct tare_error *err, uint64_t *n)
{
	int ret;

	for (*n = 0; (ret = perfdata_next(r, &rec, err)) == 1;) {
		CHECK(!rec.bad, "%s", rec.bad);
		if (rec.type != PD_RECORD_SAMPLE)
			continue;
		CHECK(rec.inflated);
		CHECK_EQ(rec.sample.ip, *n);
		CHECK_EQ(rec.time, 1000 + *n);
		++*n;
	}
	return ret;
}

/* Payloads of many sizes, so that headers and bodies straddle them. */
TEST(one_stream)
{
	static const size_t pieces[] = { 7, 24, 25, 100, 1000, 60000 };

	for (int form = 0; form < 2; form++)
		for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
			ZSTD_CCtx *ctx = ZSTD_createCCtx();
			struct tare_error err = TARE_ERROR_INIT;
			struct perfdata *r;
			uint64_t n;

			begin_pipe();
			inner.n = 0;
			put_samples(&inner, 2000);
			for (size_t at = 0; at < inner.n; at += pieces[i]) {
				size_t len = inner.n - at < pieces[i] ? inner.n - at : pieces[i];

				put_compressed(ctx, inner.b + at, len, form, false);
				/* other records between the payloads of a straddling one */
				begin_record(&m, PD_RECORD_FINISHED_ROUND, 0);
				end_record(&m);
			}
			r = must_open(&m);
			CHECK_EQ(count_samples(r, &err, &n), 0, "pieces of %zu: %s", pieces[i],
				 err.what);
			CHECK_EQ(n, 2000, "pieces of %zu", pieces[i]);
			perfdata_close(r);
			ZSTD_freeCCtx(ctx);
		}
}

TEST(several_frames)
{
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	struct tare_error err = TARE_ERROR_INIT;
	struct perfdata *r;
	uint64_t n;

	begin_pipe();
	inner.n = 0;
	put_samples(&inner, 100);
	put_compressed(ctx, inner.b, 50 * 24, false, true);
	put_compressed(ctx, inner.b + 50 * 24, 50 * 24, false, true);
	r = must_open(&m);
	CHECK_EQ(count_samples(r, &err, &n), 0, "%s", err.what);
	CHECK_EQ(n, 100);
	perfdata_close(r);
	ZSTD_freeCCtx(ctx);
}

/* A small payload that expands without end is stopped, using little memory until then. */
TEST(bombs)
{
	static const struct {
		int line;
		uint32_t mmap_len; /* of the COMPRESSED feature; 0: none */
		uint64_t limit;    /* option */
		uint64_t samples;  /* the record's bytes / 24 */
		bool fits;
	} rows[] = {
		{ __LINE__, 0, 24 * 1000, 1000, true },
		{ __LINE__, 0, 24 * 1000 - 1, 1000, false },
		{ __LINE__, 0, 0, 40000, true },
		{ __LINE__, 4096, 0, 22016, true }, /* 4096 and 512 KiB */
		{ __LINE__, 4096, 0, 22017, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct perfdata_opts opts = { .inflate_max = rows[i].limit };
		ZSTD_CCtx *ctx = ZSTD_createCCtx();
		struct tare_error err = TARE_ERROR_INIT;
		struct perfdata *r;
		int ret;

		begin_pipe();
		if (rows[i].mmap_len) {
			begin_record(&m, PD_RECORD_FEATURE, 0);
			put64(&m, PD_FEAT_COMPRESSED);
			put32(&m, 1), put32(&m, 1), put32(&m, 1), put32(&m, 9),
				put32(&m, rows[i].mmap_len);
			end_record(&m);
		}
		inner.n = 0;
		for (uint64_t k = 0; k < rows[i].samples; k++)
			put64(&inner, PD_RECORD_SAMPLE | 24ull << 48), put64(&inner, 0),
				put64(&inner, 0);
		put_compressed(ctx, inner.b, inner.n, false, false);
		r = open_made(&m, &opts, &err);
		while ((ret = perfdata_next(r, &rec, &err)) == 1)
			;
		CHECK_EQ(ret, rows[i].fits ? 0 : -EFBIG, "row at line %d: %s", rows[i].line,
			 err.what);
		if (!rows[i].fits)
			CHECK(strstr(err.what, "byte ") && strstr(err.what, "exceeds the largest"),
			      "%s", err.what);
		perfdata_close(r);
		ZSTD_freeCCtx(ctx);
	}

	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	CHECK(used.ru_maxrss < 128 * 1024, "%ld kB", used.ru_maxrss);
}

/* Many payloads that each expand to the limit: their total is stopped. */
TEST(bombs_in_pieces)
{
	enum { PIECES = 120, SAMPLES = 40000, FREE = 64 << 20 };
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	struct tare_error err = TARE_ERROR_INIT;
	struct perfdata *r;
	uint64_t n = 0;
	int ret;

	begin_pipe();
	inner.n = 0;
	for (uint64_t k = 0; k < SAMPLES; k++)
		put64(&inner, PD_RECORD_SAMPLE | 24ull << 48), put64(&inner, 0), put64(&inner, 0);
	for (int k = 0; k < PIECES; k++)
		put_compressed(ctx, inner.b, inner.n, false, false);
	r = open_made(&m, NULL, &err);
	while ((ret = perfdata_next(r, &rec, &err)) == 1)
		n++;
	CHECK_EQ(ret, -EFBIG, "%s", err.what);
	CHECK(strstr(err.what, "exceeds the largest"), "%s", err.what);
	CHECK(n > FREE / 24 && n < FREE / 24 + 1000 * m.n / 24, "%llu records of %zu bytes",
	      (unsigned long long)n, m.n);
	perfdata_close(r);
	ZSTD_freeCCtx(ctx);
}

TEST(damage)
{
	static const struct {
		int line;
		const char *says;
	} rows[] = {
		{ __LINE__, "cannot be decompressed" },
		{ __LINE__, "ends within a record" },
		{ __LINE__, "contains a record of size 0" },
		{ __LINE__, "inside a compressed record" },
		{ __LINE__, "claims 1000 bytes" },
		{ __LINE__, "compressed by method 2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		ZSTD_CCtx *ctx = ZSTD_createCCtx();
		struct tare_error err = TARE_ERROR_INIT;
		struct perfdata *r;
		uint64_t n;

		begin_pipe();
		inner.n = 0;
		put_samples(&inner, 10);
		if (i == 5) {
			begin_record(&m, PD_RECORD_FEATURE, 0);
			put64(&m, PD_FEAT_COMPRESSED);
			put32(&m, 1), put32(&m, 2), put32(&m, 1), put32(&m, 9), put32(&m, 4096);
			end_record(&m);
		}
		if (i == 2)
			put64(&inner, 0);
		if (i == 3)
			put64(&inner, PD_RECORD_COMPRESSED | 8ull << 48);
		put_compressed(ctx, inner.b, inner.n - (i == 1 ? 5 : 0), i == 4, false);
		if (i == 0)
			memset(m.b + m.record + 8, 0xee, 8);
		if (i == 4)
			patch(&m, m.record + 8, 1000, 8);
		r = must_open(&m);
		CHECK(count_samples(r, &err, &n) < 0, "row at line %d", rows[i].line);
		CHECK_EQ(n, i == 1 ? 9 : i == 2 || i == 3 ? 10 : 0, "row at line %d", rows[i].line);
		CHECK(strstr(err.what, rows[i].says) && strstr(err.what, "byte "),
		      "row at line %d: %s", rows[i].line, err.what);
		perfdata_close(r);
		ZSTD_freeCCtx(ctx);
	}
}

TEST_MAIN()
