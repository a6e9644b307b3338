/* SPDX-License-Identifier: MIT */
/* Escaped names, and records as text. */
#include "perfdata/perfdata_maker.h"
#include "output/escape.h"
#include "perfdata/dump/perfdata_view.h"

TEST(escaped_names)
{
	static const struct {
		int line;
		const char *s;
		size_t n;
		const char *shown;
	} rows[] = {
		{ __LINE__, "plain name", 10, "plain name" },
		{ __LINE__, "\033[2Jx", 5, "\\x1b[2Jx" },
		{ __LINE__, "a\nb\tc\rd", 7, "a\\x0ab\\x09c\\x0dd" },
		{ __LINE__, "a\0b", 3, "a\\x00b" },
		{ __LINE__, "q\"\\", 3, "q\\\"\\\\" },
		{ __LINE__, "\x7f", 1, "\\x7f" },
		{ __LINE__, "\xc3\xa9", 2, "\xc3\xa9" },                 /* e acute */
		{ __LINE__, "\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80" }, /* beyond 16 bits */
		{ __LINE__, "\xc2\x9b", 2, "\\xc2\\x9b" },               /* C1: CSI */
		{ __LINE__, "\xe2\x80\xae", 3, "\\xe2\\x80\\xae" }, /* right-to-left override */
		{ __LINE__, "\xe2\x80\xa8", 3, "\\xe2\\x80\\xa8" }, /* line separator */
		{ __LINE__, "\xef\xbb\xbf", 3, "\\xef\\xbb\\xbf" }, /* byte order mark */
		{ __LINE__, "\xc0\xaf", 2, "\\xc0\\xaf" },          /* overlong '/' */
		{ __LINE__, "\xed\xa0\x80", 3, "\\xed\\xa0\\x80" }, /* surrogate */
		{ __LINE__, "\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80" },
		{ __LINE__, "\xe2\x82", 2, "\\xe2\\x82" }, /* truncated */
		{ __LINE__, "\xff", 1, "\\xff" },
		{ __LINE__, "\xc2\xa0\xc2\x9f", 4,
		  "\xc2\xa0\\xc2\\x9f" }, /* just after C1, and the last code point */
		{ __LINE__, "", 0, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text t = { 0 };

		text_add(&t, "<");
		escape(&t, rows[i].s, rows[i].n);
		CHECK_STR(t.s + 1, rows[i].shown, "row at line %d", rows[i].line);
		text_free(&t);
	}

	struct text t = { 0 };

	escape_quoted(&t, "a\"b");
	CHECK_STR(t.s, "\"a\\\"b\"");
	text_free(&t);

	/* In a cell, printable text is unchanged, and no other text looks the same. */
	static const struct {
		const char *is, *shown;
	} cells[] = {
		{ "C:\\dir \"x\"", "C:\\dir \"x\"" },
		{ "\\\\", "\\\\" },
		{ "\x1b", "\\x1b" },
		{ "\\x1b", "\\\\x1b" },
		{ "\\\x1b", "\\\\\\x1b" },
		{ "\\\\x", "\\\\\\\\x" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		t = (struct text){ 0 };
		escape_cell(&t, cells[i].is);
		CHECK_STR(t.s, cells[i].shown, "cell %zu", i);
		text_free(&t);
	}
}

TEST(middles_left_out)
{
	static const struct {
		const char *is;
		size_t most;
		const char *shown;
	} rows[] = {
		{ "", 3, "" },
		{ "abc", 3, "abc" },
		{ "abcd", 3, "..." },
		{ "abcdefgh", 8, "abcdefgh" },
		{ "abcdefghi", 8, "ab...ghi" },
		{ "abcdefghi", 7, "ab...hi" },
		/* a two-byte character is kept or removed as a whole */
		{ "a\u00e9cdefgh\u00e9i", 7, "a...i" },
		{ "\x1b"
		  "bcdefgh\x1b",
		  5, "\\x1b...\\x1b" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text t = { 0 };

		text_add(&t, "<");
		escape_middle(&t, rows[i].is, strlen(rows[i].is), rows[i].most);
		CHECK_STR(t.s + 1, rows[i].shown, "row %zu", i);
		text_free(&t);
	}
}

TEST(bytes)
{
	struct text t = { 0 };

	perfdata_view_bytes(&t, (const unsigned char *)"0123456789abcdef\033!", 18);
	CHECK_STR(t.s,
		  "    0000  30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  0123456789abcdef\n"
		  "    0010  1b 21                                            .!\n");
	text_free(&t);
}

static struct maker m;

/* All records of a file made by the test, as text. */
static char *shown(void)
{
	struct perfdata *r = must_open(&m);
	struct perfdata_record rec;
	struct text t = { 0 };

	while (perfdata_next(r, &rec, NULL) == 1)
		perfdata_view_record(&t, r, &rec);
	perfdata_view_loss(&t, r);
	perfdata_close(r);
	return text_take(&t);
}

TEST(records_in_words)
{
	struct perfdata_attr a = {
		.size = 104,
		.sample_type = PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_CPU |
			PD_SAMPLE_PERIOD | PD_SAMPLE_READ | PD_SAMPLE_CALLCHAIN |
			PD_SAMPLE_BRANCH_STACK | PD_SAMPLE_REGS_USER | PD_SAMPLE_WEIGHT_STRUCT |
			PD_SAMPLE_DATA_SRC,
		.read_format = PD_READ_GROUP | PD_READ_ID | PD_READ_ENABLED,
		.regs_user = 1 << 3,
		.flags = PD_ATTR_SAMPLE_ID_ALL | PD_ATTR_EXCLUDE_GUEST,
	};
	char *s;

	m = (struct maker){ 0 };
	put_magic(&m, 16);
	put_event(&m, &a, 40);
	begin_record(&m, PD_RECORD_SAMPLE, 2);
	put64(&m, 0x401000), put32(&m, 7), put32(&m, 8), put64(&m, 5000000001), put32(&m, 3);
	put32(&m, 0), put64(&m, 1000);
	put64(&m, 1), put64(&m, 500), put64(&m, 77), put64(&m, 40);
	put64(&m, 3), put64(&m, (uint64_t)-128), put64(&m, 0xffffffff81000000),
		put64(&m, (uint64_t)-99);
	put64(&m, 1), put64(&m, 0x10), put64(&m, 0x20), put64(&m, 1 | 9 << 4 | 4 << 20);
	put64(&m, 2), put64(&m, 0xabc);
	put64(&m, 2ull << 32 | 1), put64(&m, 0x6a100142);
	end_record(&m);
	begin_record(&m, PD_RECORD_COMM, PD_MISC_13);
	put32(&m, 7), put32(&m, 8), put_name(&m, "a\033b");
	put32(&m, 7), put32(&m, 8), put64(&m, 6000000000), put32(&m, 3), put32(&m, 0);
	end_record(&m);
	begin_record(&m, PD_RECORD_LOST, 0);
	put64(&m, 0), put64(&m, 12), put64(&m, 0), put64(&m, 0), put64(&m, 0);
	end_record(&m);
	begin_record(&m, PD_RECORD_STAT, 0);
	end_record(&m);
	begin_record(&m, 200, 0);
	end_record(&m);
	s = shown();
	CHECK_STR(
		s,
		"@0x10 ATTR size=120 misc=0x0 describes=\"cycles\" ids=1\n"
		"@0x88 SAMPLE size=176 misc=0x2 event=\"cycles\" time=5.000000001 cpu=3 pid=7 tid=8 "
		"ip=0x401000 period=1000 weight=1,2,0 data_src=0x6a100142 (op load; level hit+L1; "
		"snoop none; lock locked; tlb hit+L1+L2) chain=3 branches=1\n"
		"    value 77 id=40 event=\"cycles\" enabled_ns=500\n"
		"    chain 0xffffffffffffff80 [kernel]\n"
		"    chain 0xffffffff81000000\n"
		"    chain 0xffffffffffffff9d [unknown context]\n"
		"    branch 0x0000000000000010 0x0000000000000020 mispredicted cycles=9 call\n"
		"    regs_user abi=2 reg3=0xabc\n"
		"@0x138 COMM size=48 misc=0x2000 event=\"cycles\" time=6.000000000 cpu=3 pid=7 tid=8 "
		"of_pid=7 of_tid=8 comm=\"a\\x1bb\" exec\n"
		"@0x168 LOST size=48 misc=0x0 event=\"cycles\" time=0.000000000 cpu=0 pid=0 tid=0 "
		"of_id=0 lost=12\n"
		"@0x198 STAT size=8 misc=0x0 undecodable: its fields do not fit\n"
		"@0x1a0 TYPE_200 size=8 misc=0x0\n"
		"lost                 12 records dropped by the kernel: sum of LOST\n"
		"undecodable          1 records with fields that do not fit\n");
	free(s);
}

/* One record of every type, each field with a distinct value. */
static void put_every_type(void)
{
	static const struct {
		uint32_t type;
		uint16_t misc;
		/* 2, 4, 8: an integer of that size, 1, 2, 3 ...; n: a name; b: 8 bytes */
		const char *layout;
	} rows[] = {
		{ PD_RECORD_MMAP, PD_MISC_13, "44888n" },
		{ PD_RECORD_MMAP2, 2, "44888448844n" },
		{ PD_RECORD_MMAP2, PD_MISC_14, "448884bb444n" },
		{ PD_RECORD_LOST_SAMPLES, 0, "8" },
		{ PD_RECORD_FORK, PD_MISC_13, "44448" },
		{ PD_RECORD_EXIT, 0, "44448" },
		{ PD_RECORD_THROTTLE, 0, "888" },
		{ PD_RECORD_UNTHROTTLE, 0, "888" },
		{ PD_RECORD_READ, 0, "448" },
		{ PD_RECORD_AUX, 0, "888" },
		{ PD_RECORD_ITRACE_START, 0, "44" },
		{ PD_RECORD_SWITCH, PD_MISC_13 | PD_MISC_14, "" },
		{ PD_RECORD_SWITCH, 0, "" },
		{ PD_RECORD_SWITCH_CPU_WIDE, PD_MISC_13, "44" },
		{ PD_RECORD_KSYMBOL, 0, "8422n" },
		{ PD_RECORD_BPF_EVENT, 0, "224b" },
		{ PD_RECORD_CGROUP, 0, "8n" },
		{ PD_RECORD_AUX_OUTPUT_HW_ID, 0, "8" },
		{ PD_RECORD_EVENT_TYPE, 0, "8n" },
		{ PD_RECORD_BUILD_ID, PD_MISC_BUILD_ID_SIZE, "4bb44n" },
		{ PD_RECORD_AUXTRACE_INFO, 0, "4488" },
		{ PD_RECORD_AUXTRACE_ERROR, 0, "44444488n" },
		{ PD_RECORD_STAT, 0, "844888" },
		{ PD_RECORD_STAT_ROUND, 0, "88" },
		{ PD_RECORD_TIME_CONV, 0, "888" },
		{ PD_RECORD_TIME_CONV, 0, "888888" },
		{ PD_RECORD_FINISHED_INIT, 0, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t v = 1;

		begin_record(&m, rows[i].type, rows[i].misc);
		for (const char *p = rows[i].layout; *p; p++)
			if (*p == 'n')
				put_name(&m, "name");
			else if (*p == 'b')
				put_bytes(&m, "\1\2\3\4\5\6\7\b", 8);
			else
				put(&m, v++, (size_t)(*p - '0'));
		end_record(&m);
	}
}

TEST(every_type_in_words)
{
	static const struct perfdata_attr a = { .size = 64, .flags = PD_ATTR_EXCLUDE_GUEST };
	char *s;

	m = (struct maker){ 0 };
	put_magic(&m, 16);
	put_event(&m, &a, 0);
	put_every_type();
	s = shown();
	CHECK_STR(
		s,
		"@0x10 ATTR size=72 misc=0x0 describes=\"cycles\" ids=0\n"
		"@0x58 MMAP size=48 misc=0x2000 event=\"cycles\" of_pid=1 of_tid=2 addr=0x3 len=0x4 "
		"pgoff=0x5 file=\"name\" data\n"
		"@0x88 MMAP2 size=80 misc=0x2 event=\"cycles\" of_pid=1 of_tid=2 addr=0x3 len=0x4 "
		"pgoff=0x5 prot=0xa flags=0xb file=\"name\" dev=6:7 inode=8\n"
		"@0xd8 MMAP2 size=80 misc=0x4000 event=\"cycles\" of_pid=1 of_tid=2 addr=0x3 len=0x4 "
		"pgoff=0x5 prot=0x8 flags=0x9 file=\"name\" build_id=010203040506\n"
		"@0x128 LOST_SAMPLES size=16 misc=0x0 event=\"cycles\" lost=1\n"
		"@0x138 FORK size=32 misc=0x2000 event=\"cycles\" of_pid=1 ppid=2 of_tid=3 ptid=4 "
		"at=0.000000005 exec\n"
		"@0x158 EXIT size=32 misc=0x0 event=\"cycles\" of_pid=1 ppid=2 of_tid=3 ptid=4 "
		"at=0.000000005\n"
		"@0x178 THROTTLE size=32 misc=0x0 event=\"cycles\" at=0.000000001 of_id=2 of_stream=3\n"
		"@0x198 UNTHROTTLE size=32 misc=0x0 event=\"cycles\" at=0.000000001 of_id=2 "
		"of_stream=3\n"
		"@0x1b8 READ size=24 misc=0x0 event=\"cycles\" of_pid=1 of_tid=2\n"
		"    value 3\n"
		"@0x1d0 AUX size=32 misc=0x0 event=\"cycles\" offset=0x1 bytes=0x2 flags=0x3\n"
		"@0x1f0 ITRACE_START size=16 misc=0x0 event=\"cycles\" of_pid=1 of_tid=2\n"
		"@0x200 SWITCH size=8 misc=0x6000 event=\"cycles\" out preempted\n"
		"@0x208 SWITCH size=8 misc=0x0 event=\"cycles\" in\n"
		"@0x210 SWITCH_CPU_WIDE size=16 misc=0x2000 event=\"cycles\" other_pid=1 other_tid=2 "
		"out\n"
		"@0x220 KSYMBOL size=32 misc=0x0 event=\"cycles\" addr=0x1 len=0x2 kind=3 flags=0x4 "
		"name=\"name\"\n"
		"@0x240 BPF_EVENT size=24 misc=0x0 event=\"cycles\" kind=1 flags=0x2 program=3 "
		"tag=0102030405060708\n"
		"@0x258 CGROUP size=24 misc=0x0 event=\"cycles\" cgroup=1 path=\"name\"\n"
		"@0x270 AUX_OUTPUT_HW_ID size=16 misc=0x0 event=\"cycles\" hw_id=0x1\n"
		"@0x280 EVENT_TYPE size=24 misc=0x0 config=0x1 name=\"name\"\n"
		"@0x298 BUILD_ID size=44 misc=0x8000 of_pid=1 file=\"name\" build_id=010203\n"
		"@0x2c4 AUXTRACE_INFO size=32 misc=0x0 kind=1\n"
		"    priv 0x3\n"
		"    priv 0x4\n"
		"@0x2e4 AUXTRACE_ERROR size=56 misc=0x0 kind=1 code=2 of_cpu=3 of_pid=4 of_tid=5 "
		"ip=0x7 at=0.000000008 message=\"name\"\n"
		"@0x31c STAT size=48 misc=0x0 of_id=1 of_cpu=2 thread=3 value=4 enabled_ns=5 "
		"running_ns=6\n"
		"@0x34c STAT_ROUND size=24 misc=0x0 kind=1 at=0.000000002\n"
		"@0x364 TIME_CONV size=32 misc=0x0 shift=1 mult=2 zero=3\n"
		"@0x384 TIME_CONV size=56 misc=0x0 shift=1 mult=2 zero=3 cycles=4 mask=0x5 time_zero=1 "
		"time_short=0\n"
		"@0x3bc FINISHED_INIT size=8 misc=0x0\n"
		"lost samples         1 samples dropped by the kernel: sum of LOST_SAMPLES\n"
		"throttled            1 times the kernel throttled an event\n"
		"incomplete AUX       1 blocks of AUX data with gaps\n");
	free(s);
}

TEST(head_in_words)
{
	struct perfdata_attr a = { .size = 64,
				   .flags = PD_ATTR_FREQ | PD_ATTR_EXCLUDE_GUEST,
				   .period = 4000,
				   .config = 1 };
	struct perfdata_record rec;
	struct text t = { 0 };
	struct perfdata *r;

	m = (struct maker){ 0 };
	put_magic(&m, 16);
	put_event(&m, &a, 40);
	begin_record(&m, PD_RECORD_FEATURE, 0);
	put64(&m, PD_FEAT_HOSTNAME), put_string(&m, "h\nost");
	end_record(&m);
	begin_record(&m, PD_RECORD_FEATURE, 0);
	put64(&m, PD_FEAT_CMDLINE), put32(&m, 2), put_string(&m, "perf"), put_string(&m, "a b");
	end_record(&m);
	begin_record(&m, PD_RECORD_FEATURE, 0);
	put64(&m, PD_FEAT_CPUID), put32(&m, 999);
	end_record(&m);
	r = must_open(&m);
	while (perfdata_next(r, &rec, NULL) == 1)
		;
	perfdata_view_header(&t, r);
	CHECK(strstr(t.s, "format           pipe layout, version 2, little-endian\n"), "%s", t.s);
	CHECK(strstr(t.s,
		     "event            0 \"instructions\" (name made from its type) type=0 "
		     "config=0x1 "),
	      "%s", t.s);
	CHECK(strstr(t.s, " frequency_hz=4000 "), "%s", t.s);
	CHECK(strstr(t.s, " ids=1:40\n"), "%s", t.s);
	CHECK(strstr(t.s, "host             h\\x0aost\n"), "%s", t.s);
	CHECK(strstr(t.s, "command          \"perf\" \"a b\"\n"), "%s", t.s);
	CHECK(strstr(t.s, "features         3 HOSTNAME 9 CPUID (damaged) 11 CMDLINE\n"), "%s", t.s);
	CHECK(strstr(t.s, "feature 9: its contents do not fit its 4 bytes"), "%s", t.s);
	CHECK(!strstr(t.s, "\ncpuid"), "%s", t.s);
	text_free(&t);
	perfdata_close(r);
}

TEST_MAIN()
