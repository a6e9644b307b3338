/* SPDX-License-Identifier: MIT */
/*
 * Vendor files and libpfm4. The expected encodings of libpfm4's names come from intel/perfmon and
 * AMD's manuals.
 */
#include <sys/stat.h>
#include "pmu/encode.h"
#include "pmu/libpfm.h"
#include "pmu/table.h"
#include "pmu/trees.h"
#include "tap.h"

static const char *vendor_path(const char *name, char room[256])
{
	if (name[0] == '/')
		snprintf(room, 256, "%s", name);
	else
		snprintf(room, 256, "%s/vendor/%.40s", TESTS_DIR, name);
	return room;
}

/* "type:config,config1 counters pmu" of each encoding, separated by "; "; or the error. */
static void encode(const char *tree, const char *file, const char *cpu, const char *text, char *to,
		   size_t room)
{
	char root[256], path[256];
	const char *files[] = { file ? vendor_path(file, path) : NULL, NULL };
	struct encode_options opt = { .keep_unavailable = true, .event_files = files, .cpu = cpu };
	struct tare_error err = TARE_ERROR_INIT;
	struct event_list events = { 0 };
	struct encoding_list list = { 0 };
	struct machine *m = machine_open(tree_root(tree, root), NULL);
	struct text out = { 0 };
	int ret = event_list_parse(text, &events, &err);

	if (ret == 0)
		ret = pmu_encode(m, &events, &opt, &list, &err);
	if (ret < 0)
		text_add(&out, "%s", err.what);
	for (size_t i = 0; i < list.n; i++)
		text_add(&out, "%s%u:%#llx,%#llx %#llx %s%s", i ? "; " : "", list.enc[i].attr.type,
			 (unsigned long long)list.enc[i].attr.config,
			 (unsigned long long)list.enc[i].attr.config1,
			 (unsigned long long)list.enc[i].counters, list.enc[i].pmu,
			 list.enc[i].unavailable ? " unavailable" : "");
	snprintf(to, room, "%s", out.s ? out.s : "");
	text_free(&out);
	machine_close(m);
	encoding_list_free(&list);
	event_list_free(&events);
}

TEST(events_of_files)
{
	static const struct {
		int line;
		const char *tree, *file, *text, *expected;
	} rows[] = {
		{ __LINE__, "intel-server", "intel.json", "inst_retired.any",
		  "4:0xc0,0 0x100000000 cpu" },
		{ __LINE__, "intel-server", "intel.json", "INST_RETIRED.ANY_P:u",
		  "4:0xc0,0 0xff cpu" },
		{ __LINE__, "intel-server", "intel.json", "mem_load_retired.l1_miss:pp",
		  "4:0x8d1,0 0xf cpu" },
		{ __LINE__, "intel-server", "intel.json", "MEM_LOAD_RETIRED_L1_MISS:PMC2",
		  "4:0x8d1,0 0xf cpu" },
		{ __LINE__, "intel-server", "intel.json", "MEM_LOAD_RETIRED:L1_MISS",
		  "4:0x8d1,0 0xf cpu" },
		{ __LINE__, "intel-server", "intel.json", "cycle_activity.stalls_l1d_miss",
		  "4:0xc000ca3,0 0xf cpu" },
		{ __LINE__, "intel-server", "intel.json", "ocr.demand_data_rd.l3_miss",
		  "4:0x1b7,0x3fbfc00001 0xf cpu" },
		{ __LINE__, "intel-server", "intel.json", "mem_trans_retired.load_latency_gt_8",
		  "4:0x1cd,0x8 0xfe cpu" },
		{ __LINE__, "intel-server", "intel.json", "l1d_pend_miss.fb_full",
		  "4:0x1840248,0 0x4 cpu" },
		{ __LINE__, "intel-server", "intel.json", "unc_m_cas_count.rd",
		  "14:0xf04,0 0xf uncore_imc_0; 15:0xf04,0 0xf uncore_imc_1; 16:0xf04,0 0xf "
		  "uncore_imc_2; 17:0xf04,0 0xf uncore_imc_3" },
		{ __LINE__, "intel-server", "intel.json", "unc_cha_llc_lookup.all",
		  "30:0x1fff0000ff34,0 0xf uncore_cha_0; 31:0x1fff0000ff34,0 0xf uncore_cha_1" },
		{ __LINE__, "intel-server", "mine.txt", "mine.loads,mine.stalled,mine.both,plain",
		  "4:0x81d0,0 0 cpu; 4:0x18001a2,0 0 cpu; 4:0x400a2,0 0 cpu; 4:0x3c,0 0 cpu" },
		{ __LINE__, "hybrid", "mine.txt", "mine.loads",
		  "4:0x81d0,0 0 cpu_core; 10:0x81d0,0 0 cpu_atom" },
		{ __LINE__, "arm64-neoverse-n1", "arm.json", "l2d_cache_lmiss_rd",
		  "8:0x4009,0 0 armv8_pmuv3_0" },
		{ __LINE__, "arm64-neoverse-n1", NULL, "stall_slot", "8:0x3f,0 0 armv8_pmuv3_0" },
		{ __LINE__, "arm64-biglittle", NULL, "ll_cache_rd", "9:0x36,0 0 armv8_cortex_a72" },
		{ __LINE__, "arm64-biglittle", NULL, "op_spec",
		  "8:0x3b,0 0 armv8_cortex_a53; 9:0x3b,0 0 armv8_cortex_a72" },
		{ __LINE__, "vm-no-pmu", "intel.json", "inst_retired.any,unc_m_cas_count.rd",
		  "4:0,0 0  unavailable; 4:0,0 0 uncore_imc unavailable" },
		{ __LINE__, "amd-zen4", "mine.txt", "nothing.such",
		  "there is no event 'nothing.such'" },
	};

	trees_needed();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char got[600];

		encode(rows[i].tree, rows[i].file, NULL, rows[i].text, got, sizeof(got));
#ifndef HAVE_JANSSON
		if (rows[i].file && strstr(rows[i].file, "json"))
			continue;
#endif
		CHECK_STR(got, rows[i].expected, "row at line %d", rows[i].line);
	}
}

TEST(mistakes_in_files)
{
	static const struct {
		int line;
		const char *text, *what;
		int ret;
	} rows[] = {
		/* the text form */
		{ __LINE__, "a 1\nb\n", "F:2: a name and an event number are expected", -EINVAL },
		{ __LINE__, "# c\n\na x\n", "F:3: the event of a is no number", -EINVAL },
		{ __LINE__, "a 1 x\n", "F:1: the umask of a is no number", -EINVAL },
		{ __LINE__, "a 1 2 a/b x\n", "F:1: the flags of a are no terms such as cmask=1,inv",
		  -EINVAL },
		{ __LINE__, "a 1 2 ,,=\n", "F:1: the flags of a are no terms such as cmask=1,inv",
		  -EINVAL },
		{ __LINE__, "a 1 2 inv/,b/c\n",
		  "F:1: the flags of a are no terms such as cmask=1,inv", -EINVAL },
		{ __LINE__, "a/b 1\n", "F:1: a name has letters, digits and _ . - : only",
		  -EINVAL },
		{ __LINE__, "a 123456789012345678901234567890\n", "F:1: a column is too long",
		  -EINVAL },
		{ __LINE__, "# pmu: a/b\na 1\n", "F: '# pmu:' names no PMU", -EINVAL },
		{ __LINE__, "a 1 123456789012345678901234567890\n", "F:1: a column is too long",
		  -EINVAL },
		{ __LINE__, "x# pmu: a/b\n", "F:1: a name has letters, digits and _ . - : only",
		  -EINVAL },
		{ __LINE__, "a 1\n", NULL, 0 },
		{ __LINE__, "", NULL, 0 },
#ifdef HAVE_JANSSON
		/* JSON */
		{ __LINE__, "{\n\"Events\": [\n}", "F:3:1: unexpected token near '}'", -EINVAL },
		{ __LINE__, "[]", NULL, 0 },
		{ __LINE__, "{}", "F: neither a list nor an object with \"Events\" or \"events\"",
		  -ENODATA },
		{ __LINE__, "[1]", "F:1: an event: an element of the list is no object", 0 },
		{ __LINE__, "[{}]", "F:1: an event: EventName is missing", 0 },
		{ __LINE__,
		  "{\"Header\":{\"Events\":[\n1,{}]},\n\"Events\": "
		  "[{\"EventName\":\"A\",\n\"EventCode\":1,"
		  "\"x\":[{\"y,\\\"\":\"]\"}]},\n{}\n]}",
		  "F:5: an event: EventName is missing", 0 },
		{ __LINE__, "[\n{\"EventName\":\"A\",\"EventCode\":1},\n7]",
		  "F:3: an event: an element of the list is no object", 0 },
		{ __LINE__,
		  "[{\"EventName\":\"A\",\"EventCode\":1,\"about\":\"B\"},\n{\"EventName\":\"B\"}]",
		  NULL, 0 },
		{ __LINE__, "[{\"EventName\":\"A\",\"EventCode\":1,\"Counter\":\"99\"}]",
		  "F:1: A: Counter is no list of counters such as 0,1,2,3 or Fixed counter 1", 0 },
		{ __LINE__, "[{\"EventName\":\"A\",\"EventCode\":1,\"Counter\":\"fish\"}]",
		  "F:1: A: Counter is no list of counters such as 0,1,2,3 or Fixed counter 1", 0 },
		{ __LINE__,
		  "[{\"EventName\":\"A\",\"EventCode\":1,\"Counter\":\"Fixed counter 16\"}]",
		  "F:1: A: Counter is no list of counters such as 0,1,2,3 or Fixed counter 1", 0 },
		{ __LINE__, "[{\"EventName\":\"A\",\"EventCode\":1,\"Counter\":7}]",
		  "F:1: A: Counter is no list of counters such as 0,1,2,3 or Fixed counter 1", 0 },
		{ __LINE__, "[{\"EventName\":\"A\",\"EventCode\":1,\"Counter\":\"FIXED\"}]", NULL,
		  0 },
		{ __LINE__, "{\"events\":[\n{\"name\":\"X\",\"code\":1},\n{\"code\":1}]}",
		  "F:3: an event: the event has no name", 0 },
		{ __LINE__, "[{\"MetricName\":\"IPC\"}]", NULL, 0 },
		{ __LINE__, "[\n{\"EventName\":\"A\"}]", NULL, 0 },
		{ __LINE__, "[{\"EventName\":\"A\",\"Odd\":\"0x2\"}]",
		  "F:1: A: Odd is not known, and may change the count", 0 },
		{ __LINE__, "[{\"EventName\":\"A\",\"Odd\":\"0\",\"Other\":\"text\"}]", NULL, 0 },
		{ __LINE__, "[{\"EventName\":\"A\",\"MSRIndex\":\"0x3f6\"}]", NULL, 0 },
		{ __LINE__, "{\"Events\":[{\"EventName\":\"A\",\"MSRIndex\":\"0x3f6\"}]}",
		  "F:1: A: MSRValue is missing, and MSRIndex needs it", 0 },
		{ __LINE__, "[{\"EventName\":\"A\",\"MSRIndex\":\"0x3e0,0x1\",\"MSRValue\":\"1\"}]",
		  "F:1: A: MSRIndex is a register that no term of perf sets", 0 },
		{ __LINE__, "[{\"EventName\":\"A\",\"Filter\":\"CBoFilter0[23:17]\"}]",
		  "F:1: A: Filter needs a value, which the file does not give", 0 },
		{ __LINE__, "[{\"EventName\":\"A\",\"Filter\":\"a=1/,b/c=1\"}]",
		  "F:1: A: Filter is no list of terms such as filter_opc=0x182", 0 },
		{ __LINE__, "[{\"EventName\":\"A\",\"FILTER_VALUE\":\"0x33\"}]",
		  "F:1: A: FILTER_VALUE is given without its Filter", 0 },
		{ __LINE__, "[{\"EventName\":\"A\",\"CounterType\":\"FREERUN\"}]",
		  "F:1: A: CounterType FREERUN: the kernel's own events of that PMU count it", 0 },
		{ __LINE__, "[{\"ArchStdEvent\":\"NO_SUCH\"}]",
		  "F:1: NO_SUCH: ArchStdEvent is no standard event of the folder that has mapfile.csv, nor of armv8",
		  0 },
		{ __LINE__, "[\n\n{\"EventName\":\"A\",\"EventCode\":\"x\"}]",
		  "F:3: A: EventCode is no number", 0 },
		{ __LINE__, "[{\"EventName\":\"A\",\"EventCode\":-1}]",
		  "F:1: A: EventCode is no number", 0 },
		{ __LINE__, "[{\"EventName\":\"A\",\"EventCode\":\"0x1ffffffffffffffff\"}]",
		  "F:1: A: EventCode is no number", 0 },
		{ __LINE__, "[{\"EventName\":\"A\",\"EventCode\":[]}]",
		  "F:1: A: EventCode is no number", 0 },
		{ __LINE__, "[{\"EventName\":\"A\",\"EventCode\":\"1 2\"}]",
		  "F:1: A: EventCode is no number", 0 },
		{ __LINE__, "[{\"EventName\":\"A\",\"EventCode\":1,\"UMask\":\"z\"}]",
		  "F:1: A: UMask is no number", 0 },
		{ __LINE__,
		  "[{\"EventName\":\"A\",\"EventCode\":1,\"UMask\":\"0x100\",\"UMaskExt\":\"1\"}]",
		  "F:1: A: UMask is over 8 bits with a UMaskExt", 0 },
		{ __LINE__, "[{\"EventName\":\"A\",\"EventCode\":1,\"CounterMask\":\"z\"}]",
		  "F:1: A: CounterMask is no number", 0 },
		{ __LINE__,
		  "[{\"EventName\":\"A\",\"EventCode\":1,\"MSRIndex\":\"0x1b\",\"MSRValue\":\"1\"}"
		  "]",
		  "F:1: A: MSRIndex is a register that no term of perf sets", 0 },
		{ __LINE__, "[{\"EventName\":\"A,B\",\"EventCode\":1}]",
		  "F:1: A,B: EventName has bytes that no event name has", 0 },
		{ __LINE__, "[{\"EventName\":\"A\",\"EventCode\":1,\"Unit\":\"a/b\"}]",
		  "F:1: A: Unit is no unit", 0 },
		{ __LINE__, "{\"events\":{\"A\":{}}}", "F:1: A: code is missing", 0 },
		{ __LINE__, "{\"events\":{\"A\":1}}",
		  "F:1: A: the event is no object, or its name has strange bytes", 0 },
		{ __LINE__, "{\"events\":[{\"code\":1}]}", "F:1: an event: the event has no name",
		  0 },
		{ __LINE__, "{\"events\":[{\"name\":\"X\",\"code\":17}]}", NULL, 0 },
#endif
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct vendor_file f = { 0 };
		bool json = rows[i].text[0] == '{' || rows[i].text[0] == '[';
		int ret = json
			? vendor_json_parse(rows[i].text, strlen(rows[i].text), "F", &f, &err)
			: vendor_text_parse(rows[i].text, "F", &f, &err);

		CHECK_EQ(ret, rows[i].ret, "row at line %d: %s", rows[i].line, err.what);
		CHECK_STR(f.n_refused ? f.refused[0].why : err.what,
			  rows[i].what ? rows[i].what : "", "row at line %d", rows[i].line);
		CHECK(f.n_refused <= 1, "row at line %d", rows[i].line);
		CHECK(!ret || (!f.event && !f.memory), "row at line %d", rows[i].line);
		vendor_file_free(&f);
	}
}

TEST(files_that_are_none)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct vendor_file f;
	char path[] = "/tmp/tare-vendor-XXXXXX";
	int fd = mkstemp(path);

	CHECK_EQ(vendor_file_read("/nonexistent.json", &f, &err), -ENOENT);
	CHECK_EQ(vendor_file_read(path, &f, &err), -ENODATA);
	CHECK(strstr(err.what, "has no event"), "%s", err.what);
	CHECK_EQ(write(fd, "a\0b 1\n", 6), 6);
	CHECK_EQ(vendor_file_read(path, &f, &err), -EINVAL);
	CHECK(strstr(err.what, "a NUL byte at offset 1"), "%s", err.what);
	close(fd);
	unlink(path);

	CHECK_EQ(mkfifo(path, 0600), 0); /* it has no writer: opening must not block */
	alarm(20);
	CHECK_EQ(vendor_file_read(path, &f, &err), -EINVAL);
	alarm(0);
	CHECK(strstr(err.what, "is not a regular file"), "%s", err.what);
	unlink(path);
}

#ifdef HAVE_JANSSON
/*
 * Values that do not fit a PMU's format are found when the event is used, and reported with the
 * line.
 */
TEST(values_too_wide)
{
	char path[] = "/tmp/tare-vendor-XXXXXX.json", got[600];
	static const char json[] =
		"[\n{\"EventName\":\"A\",\"EventCode\":1},\n"
		"{\"EventName\":\"wide\",\"EventCode\":1,\"UMask\":\"0x1ffff\"}]";
	int fd = mkstemps(path, 5);

	trees_needed();
	CHECK_EQ(write(fd, json, strlen(json)), (ssize_t)strlen(json));
	close(fd);
	encode("intel-server", path, NULL, "wide", got, sizeof(got));
	CHECK(strstr(got, ".json:3: "), "%s", got);
	unlink(path);
}

/* Counters that a file may name, and how they are stored. */
TEST(counters_of_files)
{
	static const struct {
		const char *counter;
		uint64_t mask;
	} rows[] = {
		{ "0,1,2,3", 0xf },          { "2", 0x4 }, { "Fixed counter 1", UINT64_C(2) << 32 },
		{ "33", UINT64_C(2) << 32 }, { "", 0 },    { "NA", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct vendor_file f = { 0 };
		char json[200];

		snprintf(json, sizeof(json),
			 "[\n{\"EventName\":\"A\",\"EventCode\":1,\"Counter\":\"%s\"}]",
			 rows[i].counter);
		CHECK_EQ(vendor_json_parse(json, strlen(json), "F", &f, NULL), 0, "%s", json);
		CHECK_EQ(f.event[0].counters, rows[i].mask, "%s", json);
		CHECK_EQ(f.event[0].line, 2, "%s", json);
		vendor_file_free(&f);
	}
}
#endif

#ifdef HAVE_JANSSON
/*
 * Each field that selects the counted event, as in Linux's jevents.py. tests/vendor/gold.py
 * compares all rows of Linux's files.
 */
TEST(fields_of_linux)
{
	static const struct {
		int line;
		const char *row, *terms;
	} rows[] = {
		{ __LINE__, "\"EventName\":\"A\"", "event=0" },
		{ __LINE__, "\"EventName\":\"A\",\"EventCode\":\"0xB7, 0xBB\"", "event=0xb7" },
		{ __LINE__, "\"EventName\":\"A\",\"EventCode\":\"0x35\",\"ExtSel\":\"1\"",
		  "event=0x135" },
		{ __LINE__, "\"EventName\":\"INST_RETIRED.ANY\",\"UMask\":\"0x1\"", "event=0xc0" },
		{ __LINE__, "\"EventName\":\"CPU_CLK_UNHALTED.REF\",\"UMask\":\"0x1\"",
		  "event=0x0,umask=0x3" },
		{ __LINE__,
		  "\"EventName\":\"CPU_CLK_UNHALTED.THREAD_ANY\",\"UMask\":\"0x2\",\"AnyThread\":\"1\"",
		  "event=0x3c,any=0x1" },
		{ __LINE__,
		  "\"EventName\":\"A\",\"EventCode\":\"0x4\",\"EnAllCores\":\"0x1\",\"EnAllSlices\":\"0x1\",\"SliceId\":\"0x3\",\"ThreadMask\":\"0x3\",\"Unit\":\"L3PMC\"",
		  "event=0x4,enallcores=0x1,enallslices=0x1,sliceid=0x3,threadmask=0x3" },
		{ __LINE__,
		  "\"EventName\":\"A\",\"EventCode\":\"0xa\",\"RdWrMask\":\"0x2\",\"Unit\":\"UMCPMC\"",
		  "event=0xa,rdwrmask=0x2" },
		{ __LINE__,
		  "\"EventName\":\"A\",\"EventCode\":\"0x80\",\"Filter\":\"occ_sel=1\",\"Unit\":\"PCU\"",
		  "event=0x80,occ_sel=1" },
		{ __LINE__,
		  "\"EventName\":\"A\",\"EventCode\":\"0x35\",\"UMask\":\"0x21\",\"Filter\":\"config1=0x40433\",\"Unit\":\"CHA\"",
		  "event=0x35,umask=0x21,config1=0x40433" },
		{ __LINE__,
		  "\"EventName\":\"A\",\"EventCode\":\"0x35\",\"Filter\":\"CHAFilter1\",\"FILTER_VALUE\":\"0x40433\",\"Unit\":\"CHA\"",
		  "event=0x35,config1=0x40433" },
		{ __LINE__,
		  "\"EventName\":\"A\",\"EventCode\":\"0x83\",\"PortMask\":\"0x1\",\"FCMask\":\"0x7\",\"Unit\":\"IIO\"",
		  "event=0x83,fc_mask=0x7,ch_mask=0x1" },
		{ __LINE__,
		  "\"EventName\":\"A\",\"EventidCode\":\"0x2a\",\"NodeType\":\"0x5\",\"Unit\":\"arm_cmn\"",
		  "eventid=0x2a,type=0x5" },
		{ __LINE__,
		  "\"EventName\":\"A\",\"ConfigCode\":\"0x3a\",\"Unit\":\"hisi_sccl,hha\"",
		  "config=0x3a" },
		{ __LINE__,
		  "\"EventName\":\"OFFCORE_RESPONSE:request=X:response=Y.Z\",\"EventCode\":\"0xB7\",\"MSRIndex\":\"0x1a6,0x1a7\",\"MSRValue\":\"0x10\"",
		  "event=0xb7,offcore_rsp=0x10" },
		{ __LINE__, "\"ArchStdEvent\":\"cpu_cycles\"", "event=0x11" },
		{ __LINE__, "\"ArchStdEvent\":\"L1D_CACHE\",\"EventName\":\"MINE\"", "event=0x4" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct vendor_file f = { 0 };
		char json[600];

		snprintf(json, sizeof(json), "[{%s},7]", rows[i].row);
		CHECK_EQ(vendor_json_parse(json, strlen(json), "F", &f, NULL), 0, "row at line %d",
			 rows[i].line);
		CHECK_EQ(f.n, 1, "row at line %d: %s", rows[i].line,
			 f.n_refused ? f.refused[0].why : "");
		CHECK_EQ(f.n_refused, 1, "the 7 alone, row at line %d", rows[i].line);
		if (f.n)
			CHECK_STR(f.event[0].terms, rows[i].terms, "row at line %d", rows[i].line);
		vendor_file_free(&f);
	}
}

static void put_file(const char *folder, const char *name, const char *text)
{
	char path[300];
	FILE *to;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	to = fopen(path, "w");
	CHECK(to && fputs(text, to) >= 0 && fclose(to) == 0, "%s", path);
}

/*
 * Files of a folder are read together; standard events come from the folder that has mapfile.csv.
 */
TEST(folders)
{
	char root[] = "/tmp/tare-vendor-XXXXXX", cpu[64], sys[70], got[400], clean[100];

	trees_needed();
	CHECK(mkdtemp(root) != NULL);
	snprintf(cpu, sizeof(cpu), "%s/cpu", root);
	snprintf(sys, sizeof(sys), "%s/sys", cpu);
	CHECK(mkdir(cpu, 0700) == 0 && mkdir(sys, 0700) == 0);
	put_file(root, "mapfile.csv", "x\n");
	put_file(
		root, "standard.json",
		"[{\"EventName\":\"STD\",\"EventCode\":\"0x77\"},{\"MetricName\":\"M\",\"MetricExpr\":\"1\"},{\"ArchStdEvent\":\"STD\"}]");
	put_file(
		cpu, "a.json",
		"[{\"ArchStdEvent\":\"STD\"},{\"ArchStdEvent\":\"M\"},{\"EventName\":\"BOTH\",\"EventCode\":\"1\",\"Unit\":\"cpu_core\"},"
		"{\"EventName\":\"ODD\",\"Strange\":\"1\"}]");
	put_file(
		cpu, "b.json",
		"[{\"EventName\":\"BOTH\",\"EventCode\":\"2\",\"Unit\":\"cpu_atom\"},{\"EventName\":\"TWICE\",\"EventCode\":\"2\"}]");
	put_file(cpu, "groups.json", "{\"Group\":\"what it is\"}");
	put_file(
		sys, "c.json",
		"[{\"EventName\":\"TWICE\",\"EventCode\":\"3\"},{\"EventName\":\"L3\",\"Unit\":\"L3PMC\",\"EventCode\":\"4\"}]");
	encode("hybrid", cpu, NULL, "std", got, sizeof(got));
	CHECK_STR(got, "4:0x77,0 0 cpu_core; 10:0x77,0 0 cpu_atom");
	encode("hybrid", cpu, NULL, "both", got, sizeof(got));
	CHECK_STR(got, "4:0x1,0 0 cpu_core; 10:0x2,0 0 cpu_atom");
	encode("hybrid", cpu, NULL, "cpu_atom/both/,cpu_core/both,cmask=1/", got, sizeof(got));
	CHECK_STR(got, "10:0x2,0 0 cpu_atom; 4:0x1000001,0 0 cpu_core");
	encode("hybrid", cpu, NULL, "odd", got, sizeof(got));
	CHECK(strstr(got, "a.json:1: ODD: Strange is not known"), "%s", got);
	encode("hybrid", cpu, NULL, "twice", got, sizeof(got));
	CHECK(strstr(got, "TWICE is event=0x2 at"), "%s", got);
	encode("amd-zen4", cpu, NULL, "l3", got, sizeof(got));
	CHECK(strstr(got, " amd_l3") && !strstr(got, "unavailable"), "%s", got);
	encode("hybrid", root, NULL, "std", got, sizeof(got));
	CHECK(strstr(got, "4:0x77"), "%s", got);
	encode("hybrid", sys, NULL, "std", got, sizeof(got));
	CHECK(!strstr(got, "0x77"), "%s", got);
	snprintf(clean, sizeof(clean), "rm -r %s", root);
	CHECK_EQ(system(clean), 0);
}
#endif

TEST(descriptions_cannot_drive_a_terminal)
{
	struct vendor_file f = { 0 };

	CHECK_EQ(vendor_text_parse("a 1 - - red \033[31m bell \a\n", "F", &f, NULL), 0);
	CHECK_STR(f.event[0].about, "red  [31m bell  ");
	vendor_file_free(&f);
}

/* The PMU of an event, and elements that are not events. */
TEST(units_of_files)
{
	static const char json[] =
		"[{\"MetricName\":\"IPC\"},"
		"{\"EventName\":\"A\",\"EventCode\":1,\"Unit\":\"cpu_atom\"},"
		"{\"EventName\":\"B\",\"EventCode\":1,\"Unit\":\"CBO\"},"
		"{\"EventName\":\"C\",\"EventCode\":1,\"Unit\":\"UPI LL\"},"
		"{\"EventName\":\"D\",\"EventCode\":1,\"Unit\":\"cpu\"},"
		"{\"EventName\":\"E\",\"Unit\":\"L3PMC\"},"
		"{\"EventName\":\"F\",\"Unit\":\"DFPMC\"},"
		"{\"EventName\":\"G\",\"Unit\":\"UMCPMC\"},"
		"{\"EventName\":\"H\",\"Unit\":\"hisi_sccl,l3c\"},"
		"{\"EventName\":\"I\",\"Unit\":\"arm_cmn\"},"
		"{\"EventName\":\"J\",\"Unit\":\"iMC\"},"
		"{\"Unit\":\"core\",\"CountersNumFixed\":\"4\",\"CountersNumGeneric\":\"8\"}]";
	static const char *const pmus[] = { "cpu_atom",  "uncore_cbox",   "uncore_upi",
					    "",          "amd_l3",        "amd_df",
					    "amd_umc",   "hisi_sccl,l3c", "arm_cmn",
					    "uncore_imc" };
	struct vendor_file f = { 0 };

	CHECK_EQ(vendor_text_parse("# pmu: uncore_x\nA 1\n", "F", &f, NULL), 0);
	CHECK_STR(f.event[0].pmu, "uncore_x");
	vendor_file_free(&f);
	CHECK_EQ(vendor_text_parse("# see # pmu: uncore_x\nA 1\n", "F", &f, NULL), 0);
	CHECK_STR(f.event[0].pmu, "");
	vendor_file_free(&f);
#ifdef HAVE_JANSSON
	CHECK_EQ(vendor_json_parse(json, sizeof(json) - 1, "F", &f, NULL), 0);
	CHECK_EQ(f.n, ARRAY_SIZE(pmus));
	for (size_t i = 0; i < f.n && i < ARRAY_SIZE(pmus); i++)
		CHECK_STR(f.event[i].pmu, pmus[i]);
	vendor_file_free(&f);
#else
	(void)json, (void)pmus;
#endif
}

TEST(names_that_are_the_same)
{
	CHECK(vendor_same_name("INST_RETIRED.ANY_P", "inst_retired:any_p"));
	CHECK(vendor_same_name("a-b", "A_B"));
	CHECK(!vendor_same_name("a", "ab") && !vendor_same_name("ab", "a") &&
	      !vendor_same_name("a.b", "a.c"));
}

TEST(the_table_of_arm)
{
	struct vendor_file f = { 0 };
	const struct vendor_event *ev;

	CHECK_EQ(vendor_text_parse(embedded_text("armv8-pmuv3.txt"), "arm", &f, NULL), 0);
	CHECK_EQ(f.n, 63);
	ev = vendor_find(&f, "CPU_CYCLES");
	CHECK(ev && !strcmp(ev->terms, "event=0x11") && !strcmp(ev->about, "cycles") &&
	      !ev->pmu[0]);
	vendor_file_free(&f);
}

/* Compares with another source of the same events: libpfm4's tables, for CPUs that are absent. */
TEST(libpfm4)
{
	static const struct {
		int line;
		const char *cpu, *text, *expected;
	} rows[] = {
		{ __LINE__, "skl", "inst_retired.any_p", "4:0xc0,0 0 cpu" },
		{ __LINE__, "skl", "MEM_LOAD_RETIRED:L1_MISS:u", "4:0x8d1,0 0 cpu" },
		{ __LINE__, "skl", "mem_load_retired.l1_miss", "4:0x8d1,0 0 cpu" },
		{ __LINE__, "skl", "cpu/event=0xd1,umask=0x8/", "4:0x8d1,0 0 cpu" },
		{ __LINE__, "skl", "cycle_activity.stalls_l1d_miss", "4:0xc000ca3,0 0 cpu" },
		{ __LINE__, "Skylake server", "br_inst_retired.all_branches", "4:0xc4,0 0 cpu" },
		{ __LINE__, "icl", "topdown.slots", "4:0x400,0 0 cpu" },
		{ __LINE__, "zen 4", "retired_instructions", "4:0xc0,0 0 cpu" },
		{ __LINE__, "zen 3", "retired_branch_instructions", "4:0xc2,0 0 cpu" },
		{ __LINE__, "zen 4", "cpu/event=0x5c4/", "4:0x5000000c4,0 0 cpu" },
		{ __LINE__, "Neoverse N1", "inst_retired", "4:0x8,0 0 cpu" },
		{ __LINE__, "skl", "cycles", "0:0,0 0 cpu" },
		{ __LINE__, "no such", "cycles", "no CPU model 'no such' is known" },
		{ __LINE__, "zen 4", "mem_load_retired.l1_miss",
		  "'mem_load_retired.l1_miss' is an event of Intel SapphireRapid and others, not "
		  "of zen 4" },
		{ __LINE__, "zen 5", "mem_load_retired.l1_miss",
		  "'mem_load_retired.l1_miss': tare has no table of the vendor's events of zen 5; "
		  "Intel SapphireRapid, as others, has an event of that name" },
	};
	struct libpfm_event probe;

	trees_needed();
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); /* a test is a program of its own */
	if (libpfm_encode("skl", "INST_RETIRED:ANY_P", &probe, NULL) < 0)
		tap_skip("libpfm4", "this build has none, or one without tables of x86");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char got[400];

		encode("vm-no-pmu", NULL, rows[i].cpu, rows[i].text, got, sizeof(got));
		CHECK_STR(got, rows[i].expected, "row at line %d", rows[i].line);
	}
	CHECK_STR(probe.name, "skl::INST_RETIRED:ANY_P");
}

TEST(formats_of_other_cpus)
{
	static const struct {
		const char *cpu, *text, *expected;
	} rows[] = {
		{ "skl", "cpu/event=0xb7,umask=1,offcore_rsp=0x3fbfc00001/",
		  "4:0x1b7,0x3fbfc00001 0 cpu" },
		{ "skl", "cpu/event=0xcd,umask=1,ldlat=3/", "4:0x1cd,0x3 0 cpu" },
		{ "skl", "cpu/event=1,any,edge,inv,cmask=0xff,in_tx,in_tx_cp/",
		  "4:0x3ffa40001,0 0 cpu" },
		{ "zen 2", "cpu/event=0xfff,umask=0xff,edge,inv,cmask=0xff/",
		  "4:0xfff84ffff,0 0 cpu" },
		{ "Neoverse V1", "cpu/event=0xffff,long/", "4:0xffff,0x1 0 cpu" },
		{ "skl", "cpu/event=0x100/",
		  "cpu/event=0x100/: the term event: 0x100 does not fit its 8 bits" },
	};

	trees_needed();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char got[300];

		encode("vm-no-pmu", NULL, rows[i].cpu, rows[i].text, got, sizeof(got));
		CHECK_STR(got, rows[i].expected, "%s", rows[i].text);
	}
}

/* On a tree of an Intel server, names come from its own table, and the terms of sysfs give the same
 * bits. */
TEST(libpfm4_agrees_with_sysfs)
{
	static const struct {
		const char *name, *terms;
	} rows[] = {
		{ "icx::INST_RETIRED:ANY_P", "cpu/instructions/" },
		{ "icx::BR_INST_RETIRED:ALL_BRANCHES", "cpu/branch-instructions/" },
		{ "icx::BR_MISP_RETIRED:ALL_BRANCHES", "cpu/branch-misses/" },
		{ "icx::UNHALTED_CORE_CYCLES", "cpu/cpu-cycles/" },
		{ "icx::LONGEST_LAT_CACHE:MISS", "cpu/cache-misses/" },
		{ "icx::MEM_INST_RETIRED:ALL_STORES", "cpu/mem-stores/" },
	};
	struct libpfm_event probe;

	trees_needed();
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (libpfm_encode("icx", "INST_RETIRED:ANY_P", &probe, NULL) < 0)
		tap_skip("libpfm4", "this build has none, or one without tables of x86");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char a[200], b[200];

		encode("intel-server", NULL, NULL, rows[i].name, a, sizeof(a));
		encode("intel-server", NULL, NULL, rows[i].terms, b, sizeof(b));
		CHECK_STR(a, b, "%s", rows[i].name);
	}
}

TEST_MAIN()
