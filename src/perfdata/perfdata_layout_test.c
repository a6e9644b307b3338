/* SPDX-License-Identifier: MIT */
/* The head, payloads, pipes and directories, and all kinds of damage to them. */
#include <sys/stat.h>
#include "perfdata/perfdata_made_file.h"

/* Six features that are one string each. */
static const struct made_feature few_features[] = {
	{ PD_FEAT_HOSTNAME, put_hostname }, { PD_FEAT_OS_RELEASE, put_hostname },
	{ PD_FEAT_VERSION, put_hostname },  { PD_FEAT_ARCH, put_hostname },
	{ PD_FEAT_CPU_DESC, put_hostname }, { PD_FEAT_CPUID, put_hostname },
};

TEST(file_layout)
{
	static const struct {
		int line, version;
		size_t head, attr_size;
	} rows[] = {
		{ __LINE__, 2, 104, 64 },  { __LINE__, 2, 104, 72 },  { __LINE__, 2, 104, 112 },
		{ __LINE__, 2, 104, 136 }, { __LINE__, 2, 104, 200 }, { __LINE__, 1, 104, 72 },
		{ __LINE__, 2, 72, 64 },
	};

	for (int big = 0; big < 2; big++)
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			struct perfdata *r;
			int n;

			begin_file(big, rows[i].version, rows[i].head, rows[i].attr_size);
			put_time_sample(41, 5);
			put_time_sample(42, 6);
			end_data();
			r = must_open(&m);
			CHECK_EQ(perfdata_file(r)->version, rows[i].version, "row at line %d",
				 rows[i].line);
			CHECK_EQ(perfdata_file(r)->swapped, big, "row at line %d", rows[i].line);
			CHECK(!perfdata_file(r)->pipe && !perfdata_file(r)->unfinished);
			CHECK_EQ(perfdata_file(r)->attr_size, rows[i].attr_size + 16);
			CHECK_EQ(perfdata_event_count(r), 2);
			CHECK_EQ(perfdata_event_at(r, 1)->attr.config, 1);
			CHECK_EQ(perfdata_event_at(r, 1)->n_ids, 2);
			CHECK_EQ(perfdata_event_at(r, 1)->ids[1], 43);
			CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
			CHECK_EQ(rec.offset, data_at);
			CHECK(rec.event == perfdata_event_at(r, 0), "row at line %d", rows[i].line);
			CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
			CHECK_EQ(rec.offset, data_at + 32);
			CHECK(rec.event == perfdata_event_at(r, 1), "row at line %d", rows[i].line);
			CHECK_EQ(count(r, NULL, &n), 0);
			CHECK_EQ(n, 0);
			CHECK(perfdata_note(r, 0) == NULL, "%s", perfdata_note(r, 0));
			perfdata_close(r);
		}
}

TEST(unfinished_file)
{
	struct perfdata *r;
	struct tare_error err = TARE_ERROR_INIT;
	int n;

	begin_file(false, 2, 104, 64);
	patch(&m, AT_FEATURES, 1 << PD_FEAT_HOSTNAME, 8);
	put_time_sample(40, 5);
	put_time_sample(41, 6);
	r = must_open(&m);
	CHECK(perfdata_file(r)->unfinished);
	CHECK(strstr(perfdata_note(r, 0), "did not finish"), "%s", perfdata_note(r, 0));
	CHECK(!perfdata_has_feature(r, PD_FEAT_HOSTNAME));
	CHECK_EQ(count(r, &err, &n), 0, "%s", err.what);
	CHECK_EQ(n, 2);
	perfdata_close(r);
}

/* A file truncated at any byte: complete records are read, and the loss is reported. */
TEST(cut_files)
{
	size_t whole;

	begin_file(false, 2, 104, 64);
	for (int i = 0; i < 3; i++)
		put_time_sample(40, 5);
	end_data();
	put_features(few_features, 6, 0, 0);
	whole = m.n;
	for (size_t n = 0; n < whole; n++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct perfdata *r;
		int records, ret;

		m.n = n;
		r = open_made(&m, NULL, &err);
		CHECK_EQ(r == NULL, n < data_at, "%zu bytes: %s", n, err.what);
		if (!r) {
			CHECK(strstr(err.what, "byte ") && strstr(err.what, "/tmp/tare-perfdata-"),
			      "%s", err.what);
			continue;
		}
		ret = count(r, &err, &records);
		CHECK_EQ(records, n - data_at < 96 ? (n - data_at) / 32 : 3, "%zu bytes", n);
		CHECK_EQ(ret, n - data_at < 96 ? -EBADMSG : 0, "%zu bytes: %s", n, err.what);
		CHECK_EQ(perfdata_loss(r)->unread, n - data_at < 96 ? (n - data_at) % 32 : 0,
			 "%zu bytes", n);
		CHECK(perfdata_note(r, 0) != NULL, "%zu bytes", n);
		for (size_t i = 0; i < 6; i++) /* present if its row of the table is */
			CHECK_EQ(perfdata_has_feature(r, few_features[i].bit),
				 n >= data_at + 96 + 16 * (i + 1), "%zu bytes, feature %zu", n, i);
		if (ret < 0)
			CHECK(strstr(err.what, "byte "), "%s", err.what);
		perfdata_close(r);
	}
}

TEST(forged_heads)
{
	static const struct {
		int line;
		size_t at;
		uint64_t value;
	} rows[] = {
		{ __LINE__, 0, 0 },
		{ __LINE__, 8, 0 },
		{ __LINE__, 8, 15 },
		{ __LINE__, 8, 105 },
		{ __LINE__, AT_ATTR_SIZE, 0 },
		{ __LINE__, AT_ATTR_SIZE, 79 },
		{ __LINE__, AT_ATTR_SIZE, UINT64_MAX },
		{ __LINE__, AT_ATTRS, UINT64_MAX },
		{ __LINE__, AT_ATTRS, 1 << 30 },
		{ __LINE__, AT_ATTRS + 8, UINT64_MAX },
		{ __LINE__, AT_ATTRS + 8, 1 << 30 },
		{ __LINE__, AT_DATA, UINT64_MAX },
		{ __LINE__, AT_DATA, 1 << 30 },
		{ __LINE__, AT_DATA + 8, UINT64_MAX },
		{ __LINE__, 136 + 64, 1 << 30 }, /* where the ids of the first event are */
		{ __LINE__, 136 + 64, UINT64_MAX - 7 },
		{ __LINE__, 136 + 72, 7 }, /* their size */
		{ __LINE__, 136 + 72, 1ull << 60 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct perfdata *r;

		begin_file(false, 2, 104, 64);
		put_time_sample(40, 5);
		end_data();
		patch(&m, rows[i].at, rows[i].value, 8);
		r = open_made(&m, NULL, &err);
		CHECK(!r, "row at line %d", rows[i].line);
		CHECK(err.code && strstr(err.what, "byte "), "row at line %d: %s", rows[i].line,
		      err.what);
		perfdata_close(r);
	}
}

/* Many events that share one long section of ids would use unbounded memory. */
TEST(ids_that_overlap)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct perfdata *r;

	begin_file(false, 2, 104, 64);
	patch(&m, 136 + 64, 0, 8);
	patch(&m, 136 + 72, 104 + 160, 8); /* both events: nearly all of the file */
	patch(&m, 136 + 144, 0, 8);
	patch(&m, 136 + 152, 104 + 160, 8);
	r = open_made(&m, NULL, &err);
	CHECK(!r && strstr(err.what, "more ids than fit in the file"), "%s", err.what);
	perfdata_close(r);
}

TEST(damaged_records)
{
	static const struct {
		int line;
		uint16_t size;
		const char *says;
	} rows[] = {
		{ __LINE__, 0, "a record of size 0" },
		{ __LINE__, 7, "a record of size 7" },
		{ __LINE__, 65535, "but only 64 bytes are present" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct perfdata *r;
		char byte[32];
		int n;

		begin_file(false, 2, 104, 64);
		for (int k = 0; k < 3; k++)
			put_time_sample(40, 5);
		end_data();
		patch(&m, data_at + 32 + 6, rows[i].size, 2);
		snprintf(byte, sizeof(byte), "byte %zu", data_at + 32);
		r = must_open(&m);
		CHECK_EQ(count(r, &err, &n), -EBADMSG, "row at line %d", rows[i].line);
		CHECK_EQ(n, 1);
		CHECK(strstr(err.what, byte) && strstr(err.what, rows[i].says),
		      "row at line %d: %s", rows[i].line, err.what);
		CHECK_EQ(perfdata_loss(r)->unread, 64, "row at line %d", rows[i].line);
		err = (struct tare_error)TARE_ERROR_INIT;
		CHECK_EQ(perfdata_next(r, &rec, &err), -EBADMSG, "again");
		CHECK(strstr(err.what, byte), "again");
		CHECK_EQ(perfdata_loss(r)->unread, 64, "counted once");
		perfdata_close(r);
	}
}

/* Data that follows a record: read, partly read, or skipped. */
TEST(payloads)
{
	for (size_t take = 0; take <= 40; take += 8) {
		struct tare_error err = TARE_ERROR_INIT;
		struct perfdata *r;
		char buf[64];

		begin_file(false, 2, 104, 64);
		begin_record(&m, PD_RECORD_AUXTRACE, 0);
		put64(&m, 40), put64(&m, 1), put64(&m, 2), put32(&m, 3), put32(&m, 4), put32(&m, 5);
		put32(&m, 0);
		end_record(&m);
		put_bytes(&m, "forty bytes that are data of the tracer", 40);
		begin_record(&m, PD_RECORD_TRACING_DATA, 0);
		put32(&m, 5);
		end_record(&m);
		put_bytes(&m, "5byte\0\0", 8);
		put_time_sample(40, 5);
		end_data();
		r = must_open(&m);
		CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
		CHECK_EQ(rec.payload, 40);
		CHECK_EQ(rec.auxtrace.size, 40);
		CHECK_EQ(rec.auxtrace.offset, 1);
		CHECK_EQ(rec.auxtrace.reference, 2);
		CHECK_EQ(rec.auxtrace.index, 3);
		CHECK_EQ(rec.auxtrace.tid, 4);
		CHECK_EQ(rec.auxtrace.cpu, 5);
		CHECK_EQ(perfdata_payload(r, buf, take, &err), take);
		CHECK(!memcmp(buf, "forty bytes that are data of the tracer", take));
		CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
		CHECK_EQ(rec.type, PD_RECORD_TRACING_DATA);
		CHECK_EQ(rec.payload, 8);
		CHECK_EQ(perfdata_next(r, &rec, &err), 1, "%s", err.what);
		CHECK_EQ(rec.type, PD_RECORD_SAMPLE);
		CHECK_EQ(perfdata_payload(r, buf, 8, &err), 0);
		CHECK_EQ(perfdata_next(r, &rec, NULL), 0);
		perfdata_close(r);
	}
}

/* More than the window: read partly, the rest skipped. */
TEST(large_payloads)
{
	static const size_t takes[] = { 0, 100, 200000, 262144, 299999, 300000 };
	static unsigned char buf[300000];

	for (size_t i = 0; i < ARRAY_SIZE(takes); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct perfdata *r;

		begin_file(false, 2, 104, 64);
		begin_record(&m, PD_RECORD_AUXTRACE, 0);
		put64(&m, 300000);
		for (int k = 0; k < 4; k++)
			put64(&m, 0);
		end_record(&m);
		for (uint64_t k = 0; k < 300000 / 4; k++)
			put32(&m, k);
		put_time_sample(40, 5);
		put_time_sample(42, 6);
		end_data();
		r = must_open(&m);
		CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
		CHECK_EQ(perfdata_payload(r, buf, takes[i], &err), takes[i], "%s", err.what);
		CHECK(!memcmp(buf, m.b + data_at + 48, takes[i]), "%zu taken", takes[i]);
		for (uint64_t time = 5; time <= 6; time++) {
			CHECK_EQ(perfdata_next(r, &rec, &err), 1, "%zu taken: %s", takes[i],
				 err.what);
			CHECK_EQ(rec.type, PD_RECORD_SAMPLE, "%zu taken", takes[i]);
			CHECK_EQ(rec.time, time, "%zu taken", takes[i]);
		}
		CHECK_EQ(perfdata_next(r, &rec, NULL), 0);
		perfdata_close(r);
	}
}

TEST(payload_beyond_the_end)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct perfdata *r;
	char buf[64];

	for (int read = 0; read < 2; read++) {
		begin_file(false, 2, 104, 64);
		begin_record(&m, PD_RECORD_AUXTRACE, 0);
		put64(&m, UINT64_MAX - 1);
		for (int i = 0; i < 4; i++)
			put64(&m, 0);
		end_record(&m);
		put64(&m, 1);
		end_data();
		r = must_open(&m);
		CHECK_EQ(perfdata_next(r, &rec, NULL), 1);
		if (read) {
			CHECK_EQ(perfdata_payload(r, buf, sizeof(buf), &err), 8);
			CHECK_EQ(perfdata_payload(r, buf, sizeof(buf), &err), -EBADMSG);
		}
		CHECK_EQ(perfdata_next(r, &rec, &err), -EBADMSG);
		CHECK(strstr(err.what, "the file ends"), "%s", err.what);
		perfdata_close(r);
	}
}

/* Through a real pipe: the pipe layout directly, the file layout through a temporary file. */
TEST(from_a_pipe)
{
	for (int layout = 0; layout < 2; layout++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct perfdata *r;
		int fd[2], n;
		char path[64];

		if (layout == 0) {
			m = (struct maker){ 0 };
			put_magic(&m, 16);
			put_event(&m, &plain, 40);
			begin_record(&m, PD_RECORD_AUXTRACE, 0);
			put64(&m, 300000);
			for (int i = 0; i < 4; i++)
				put64(&m, 0);
			end_record(&m);
			m.n += 300000;
		} else {
			begin_file(false, 2, 104, 64);
		}
		for (int i = 0; i < 10000; i++)
			put_time_sample(40, 5);
		if (layout == 1) {
			end_data();
			put_features(few_features, 6, 0, 0);
		}
		if (pipe(fd))
			abort();
		if (fork() == 0) {
			size_t done = 0;

			close(fd[0]);
			while (done < m.n) { /* in odd pieces */
				size_t piece = m.n - done < 4099 ? m.n - done : 4099;

				if (write(fd[1], m.b + done, piece) != (ssize_t)piece)
					_exit(1);
				done += piece;
			}
			_exit(0);
		}
		close(fd[1]);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd[0]);
		r = perfdata_open(path, NULL, &err);
		if (!CHECK(r != NULL, "%s", err.what))
			return;
		CHECK_EQ(count(r, &err, &n), 0, "%s", err.what);
		CHECK_EQ(n, layout ? 10000 : 10002);
		if (layout)
			CHECK_STR(perfdata_features(r)->hostname, "host");
		perfdata_close(r);
		close(fd[0]);
	}
}

TEST(directory)
{
	static const char *const parts[] = { "data", "data.0", "data.1" };
	char dir[] = "/tmp/tare-perfdata-XXXXXX", path[128];
	struct tare_error err = TARE_ERROR_INIT;
	struct perfdata *r;
	int n = 0, ret;

	if (!mkdtemp(dir))
		abort();
	CHECK(!perfdata_open(dir, NULL, &err) && strstr(err.what, "without a file named data"),
	      "%s", err.what);
	for (int i = 0; i < 3; i++) {
		if (i == 0)
			begin_file(false, 2, 104, 64);
		else
			m.n = 0;
		put_time_sample(40, 30 - 10 * (uint64_t)i);
		put_time_sample(42, 31 - 10 * (uint64_t)i);
		if (i == 0)
			end_data();
		else if (i == 1)
			put32(&m, 9); /* damaged: the others are still read */
		snprintf(path, sizeof(path), "%s/%s", dir, parts[i]);
		write_file(path, &m);
	}
	for (int ordered = 0; ordered < 2; ordered++) {
		static const uint64_t times[2][6] = { { 30, 31, 20, 21, 10, 11 },
						      { 10, 11, 20, 21, 30, 31 } };
		static const unsigned files[2][6] = { { 0, 0, 1, 1, 2, 2 }, { 2, 2, 1, 1, 0, 0 } };

		r = perfdata_open(dir, NULL, &err);
		if (!CHECK(r != NULL, "%s", err.what))
			return;
		CHECK(perfdata_file(r)->directory);
		CHECK_EQ(perfdata_file(r)->n_files, 3);
		for (n = 0; (ret = ordered ? perfdata_next_ordered(r, &rec, &err)
					   : perfdata_next(r, &rec, &err)) == 1 &&
		     n < 6;
		     n++) {
			CHECK_EQ(rec.time, times[ordered][n], "record %d", n);
			CHECK_EQ(rec.file, files[ordered][n], "record %d", n);
			CHECK(rec.event == perfdata_event_at(r, n & 1));
		}
		CHECK_EQ(n, 6);
		CHECK_EQ(ret, -EBADMSG);
		CHECK(strstr(err.what, "/data.0: byte 64: the remaining 4 bytes"), "%s", err.what);
		CHECK_EQ(perfdata_loss(r)->disordered, 0);
		perfdata_close(r);
	}
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, parts[i]);
		unlink(path);
	}
	rmdir(dir);
}

TEST(no_file)
{
	struct tare_error err = TARE_ERROR_INIT;

	CHECK(!perfdata_open("/nonexistent/perf.data", NULL, &err));
	CHECK_EQ(err.code, ENOENT);
	CHECK(strstr(err.what, "/nonexistent/perf.data"), "%s", err.what);
	CHECK(!perfdata_open("/dev/null", NULL, &err));
	CHECK_EQ(err.code, EBADMSG);
	perfdata_close(NULL);
}

TEST_MAIN()
