/* SPDX-License-Identifier: MIT */
/*
 * Writes and reads the file of skids; finds the rows for a recording; and one event recorded both
 * ways, with a known shift.
 */
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "profile/report/skid_kept.h"
#include "profile/report/skid_shift.h"
#include "perfdata/perfdata_maker.h"
#include "tap.h"

static const char head[] = "tare skid 1\n";

static struct skid_kept made(unsigned i)
{
	struct skid_kept k = { .cpu = "GenuineIntel,6,85,7",
			       .release = "6.1.0",
			       .type = i % 5,
			       .config = (uint64_t)i << 40 | i,
			       .level = i % 4,
			       .samples = 1000 + i,
			       .exact = i / 64.0,
			       .median = (int64_t)i - 3,
			       .p99 = 2 * (int64_t)i - 3,
			       .time = 1700000000 + i };

	snprintf(k.event, sizeof(k.event), "event-%u:u", i);
	return k;
}

TEST(written_and_read)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct skids_kept k = { 0 }, again;
	struct text text = { 0 }, twice = { 0 };

	for (unsigned i = 0; i < 40; i++) {
		struct skid_kept one = made(i);

		CHECK_EQ(skids_kept_put(&k, &one, &err), 0);
		one.samples++;
		CHECK_EQ(skids_kept_put(&k, &one, &err), 0, "a newer one takes the place");
	}
	skids_kept_write(&text, &k);
	CHECK_EQ(skids_kept_parse(&again, text.s, text.len, &err), 0, "%s", err.what);
	CHECK_EQ(again.n, 40);
	for (unsigned i = 0; i < again.n; i++) {
		struct skid_kept a = made(i), *b = &again.row[i];

		CHECK_STR(b->event, a.event);
		CHECK(!strcmp(a.cpu, b->cpu) && !strcmp(a.release, b->release) &&
		      a.type == b->type && a.config == b->config && a.level == b->level);
		CHECK(b->samples == a.samples + 1 && fabs(a.exact - b->exact) < 1e-6 &&
		      a.median == b->median && a.p99 == b->p99 && a.time == b->time);
	}
	skids_kept_write(&twice, &again);
	CHECK_STR(twice.s, text.s);
	text_free(&text);
	text_free(&twice);
	skids_kept_free(&k);
	skids_kept_free(&again);
}

TEST(the_oldest_goes_when_there_are_too_many)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct skids_kept k = { 0 };

	for (unsigned i = 0; i < 1030; i++) {
		struct skid_kept one = made(i);

		one.exact = 0;
		CHECK_EQ(skids_kept_put(&k, &one, &err), 0);
	}
	CHECK_EQ(k.n, 1024);
	CHECK_STR(k.row[0].event, "event-6:u");
	CHECK_STR(k.row[1023].event, "event-1029:u");
	skids_kept_free(&k);
}

TEST(what_is_none_is_refused_with_its_line)
{
	static const char *const good = "a:u\t0\t4\t1\tcpu\t6.1\t1000\t0.5\t-1\t7\t1700000000\n";
	static const char *const bad[] = {
		"a:u\t0\t4\t1\tcpu\t6.1\t1000\t0.5\t-1\t7\t17\t9\n",
		"a:u\t0\t4\t1\tcpu\t6.1\t1000\t0.5\t-1\t7\n",
		"a:u\t0\t4\t4\tcpu\t6.1\t1000\t0.5\t-1\t7\t17\n",
		"a:u\t0\t4\t1\tcpu\t6.1\t1000\t1.5\t-1\t7\t17\n",
		"a:u\t0\t4\t1\tcpu\t6.1\t1000\tnan\t-1\t7\t17\n",
		"\t0\t4\t1\tcpu\t6.1\t1000\t0.5\t-1\t7\t17\n",
		"a:u\t4294967296\t4\t1\tc\t6\t1000\t0.5\t-1\t7\t17\n",
		"a:u\t0\t-4\t1\tcpu\t6.1\t1000\t0.5\t-1\t7\t17\n",
		"a:u\t0\t4\t1\tcpu\t6.1\t1000\t0.5\t-1\t7\t17",
		"a:u\t0\t4\t1\tc\x01pu\t6.1\t1000\t0.5\t-1\t7\t17\n",
		"a:u\t0\t4\t1\tcpu\t6.1\t1000\t0.5\tx\t7\t17\n",
		"\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct text text = { 0 };
		struct skids_kept k;

		text_add(&text, "%s%s%s", head, good, bad[i]);
		CHECK_EQ(skids_kept_parse(&k, text.s, text.len, &err), -EBADMSG, "row %zu", i);
		CHECK_STR(err.what, "line 3 has no skid results");
		CHECK_EQ(k.n, 1, "what stood before");
		skids_kept_free(&k);
		text_free(&text);
	}
	for (size_t n = 0; n < sizeof(head) - 1; n++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct skids_kept k;

		CHECK_EQ(skids_kept_parse(&k, head, n, &err), -EBADMSG);
		CHECK_EQ(skids_kept_put(
				 &k,
				 &(struct skid_kept){ .event = "a\tb", .cpu = "c", .release = "r" },
				 &err),
			 -EINVAL);
	}
}

/* ---- of a recording ---- */

enum { PLAIN, PRECISE, FAULTS };

static void put_feature(struct maker *m, uint64_t which, const char *s)
{
	begin_record(m, PD_RECORD_FEATURE, 0);
	put64(m, which);
	put_string(m, s);
	end_record(m);
}

static void sample(struct maker *m, unsigned id, uint64_t ip, unsigned n)
{
	while (n--) {
		begin_record(m, PD_RECORD_SAMPLE, 2);
		put64(m, 100 + id), put64(m, ip), put32(m, 1), put32(m, 1);
		end_record(m);
	}
}

static void read_made(struct samples *s, unsigned before, unsigned after)
{
	const uint64_t flags[] = { 0, 2ull << PD_ATTR_PRECISE_SHIFT, 0 };
	static const uint32_t types[] = { 0, 0, 1 };
	static const uint64_t configs[] = { 4, 4, 2 };
	char path[] = "/tmp/tare-skid-XXXXXX";
	const struct samples_options all = { .filter = SAMPLES_ALL, .detail = SAMPLES_FUNCTION };
	struct tare_error err = TARE_ERROR_INIT;
	static struct maker m;
	int fd = mkstemp(path);

	close(fd);
	m.n = 0;
	put_magic(&m, 16);
	for (unsigned i = 0; i < 3; i++) {
		const struct perfdata_attr a = { .type = types[i],
						 .config = configs[i],
						 .size = 64,
						 .period = 100,
						 .flags = flags[i],
						 .sample_type = PD_SAMPLE_IDENTIFIER |
							 PD_SAMPLE_IP | PD_SAMPLE_TID };

		put_event(&m, &a, 100 + i);
	}
	put_feature(&m, PD_FEAT_CPUID, "GenuineIntel,6,85,7");
	put_feature(&m, PD_FEAT_OS_RELEASE, "6.1.0");
	for (unsigned i = 0; i < 2; i++) {
		begin_record(&m, PD_RECORD_MMAP, 2);
		put32(&m, 1), put32(&m, 1), put64(&m, 0x1000 + 0x1000 * i), put64(&m, 0x1000),
			put64(&m, 0);
		put_name(&m, i ? "/none/b" : "/none/a");
		end_record(&m);
	}
	sample(&m, PLAIN, 0x1010, before), sample(&m, PLAIN, 0x2010, 1000 - before);
	sample(&m, PRECISE, 0x1010, after), sample(&m, PRECISE, 0x2010, 1000 - after);
	sample(&m, FAULTS, 0x1010, 1);
	write_file(path, &m);
	CHECK_EQ(samples_read(s, path, &all, &err), 0, "%s", err.what);
	unlink(path);
}

static const char *name_of(const struct samples *s, size_t i)
{
	return perfdata_event_at(s->file, i)->name;
}

TEST(the_event_itself_or_another_of_that_level)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct skid_kept one = { .event = "branches:u",
				 .cpu = "GenuineIntel,6,85,7",
				 .release = "6.1.0",
				 .type = 0,
				 .config = 4,
				 .level = 0,
				 .p99 = 9 };
	struct skids_kept k = { 0 };
	struct samples s = { 0 };
	bool other = true;

	read_made(&s, 500, 500);
	CHECK(!skids_kept_of(&k, s.file, name_of(&s, PLAIN), &other), "nothing is known");
	skids_kept_put(&k, &one, &err);
	CHECK(skids_kept_of(&k, s.file, name_of(&s, PLAIN), &other) == &k.row[0] && !other);
	CHECK(!skids_kept_of(&k, s.file, name_of(&s, PRECISE), &other), "another level");
	CHECK(!skids_kept_of(&k, s.file, name_of(&s, FAULTS), &other),
	      "of software: it has no skid in common with branches");
	CHECK(!skids_kept_of(&k, s.file, "none", &other));
	one.config = 5, one.level = 2, one.p99 = 1;
	skids_kept_put(&k, &one, &err);
	one.config = 6, one.p99 = 3;
	skids_kept_put(&k, &one, &err);
	other = false;
	CHECK(skids_kept_of(&k, s.file, name_of(&s, PRECISE), &other) == &k.row[2] && other,
	      "the worst of that level");
	strcpy(one.release, "6.2.0");
	one.config = 4;
	skids_kept_put(&k, &one, &err);
	strcpy(one.release, "6.1.0");
	strcpy(one.cpu, "GenuineIntel,6,85,8");
	skids_kept_put(&k, &one, &err);
	CHECK(skids_kept_of(&k, s.file, name_of(&s, PRECISE), &other) == &k.row[2] && other,
	      "another kernel's, another CPU's: not this one's");
	skids_kept_free(&k);
	samples_free(&s);
}

TEST(what_skid_did_to_functions)
{
	static const struct {
		unsigned before, after;
		size_t differ;
	} rows[] = { { 500, 500, 0 }, { 500, 520, 0 }, { 500, 700, 2 },
		     { 700, 500, 2 }, { 1000, 0, 2 },  { 0, 1000, 2 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct skid_shift k;
		struct samples s = { 0 };

		read_made(&s, rows[i].before, rows[i].after);
		CHECK_EQ(skid_shift_make(&k, &s, &err), 0, "row %zu", i);
		CHECK_EQ(k.functions, 2);
		CHECK_EQ(k.n, rows[i].differ, "row %zu", i);
		for (size_t r = 0; r < k.n; r++) {
			bool first = strstr(call_tree_name(s.call_tree, k.row[r].module), "a");

			CHECK(fabs(k.row[r].ordinary -
				   (first ? rows[i].before : 1000 - rows[i].before) / 1000.0) <
			      1e-9);
			CHECK(fabs(k.row[r].precise -
				   (first ? rows[i].after : 1000 - rows[i].after) / 1000.0) < 1e-9);
		}
		skid_shift_free(&k);
		samples_free(&s);
	}
}

TEST_MAIN()
