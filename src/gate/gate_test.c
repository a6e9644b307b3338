/* SPDX-License-Identifier: MIT */
#include "gate/gate.h"
#include "gate/gate_view.h"
#include "tap.h"

static int parse(struct gate_config *c, const char *text, struct tare_error *err)
{
	return gate_config_parse(c, text, strlen(text), "t.json", err);
}

static bool has_json(void)
{
	struct gate_config c;
	struct tare_error err = TARE_ERROR_INIT;

	parse(&c, "", &err);
	gate_config_free(&c);
	return err.code != EOPNOTSUPP;
}

TEST(every_key_of_the_configuration)
{
	static const char text[] =
		"{\"build\": \"make\", \"limit\": {\"exact/loads/\": 7, \"instructions\": \"2 %\"},\n"
		"\"benchmarks\": {\"a\": {\"command\": [\"./a\", \"b c\"], \"setup\": \"true\",\n"
		"\"directory\": \"d\", \"events\": [\"instructions\", \"exact/loads/\"], \"isa\": "
		"\"x86-64-v2\",\n"
		"\"environment\": {\"X\": \"1 2\"}, \"runs\": 3, \"timeout\": 2, \"limit\": 5},\n"
		"\"b\": {\"command\": \"./b | cat\"}}}";
	struct tare_error err = TARE_ERROR_INIT;
	struct gate_config c;
	const struct gate_benchmark *a, *b;

	if (!has_json())
		tap_skip("jansson", "built without it");
	CHECK_EQ(parse(&c, text, &err), 0, "%s", err.what);
	CHECK_EQ(c.n, 2, "benchmarks");
	a = &c.benchmark[0];
	b = &c.benchmark[1];
	if (!strcmp(a->name, "b")) { /* jansson need not keep the order */
		a = &c.benchmark[1];
		b = &c.benchmark[0];
	}
	CHECK(!strcmp(c.build, "make") && !strcmp(a->setup, "true") && !strcmp(a->directory, "d"),
	      "texts");
	CHECK(!strcmp(a->argv[1], "b c") && !a->argv[2], "a list of words");
	CHECK(!strcmp(a->events, "instructions,exact/loads/"), "%s", a->events);
	CHECK(!strcmp(a->environment[0], "X=1 2") && !a->environment[1], "environment");
	CHECK(a->runs == 3 && a->timeout_ns == 2000000000 && b->runs == 2 && !b->timeout_ns,
	      "numbers");
	CHECK(!strcmp(b->argv[0], "sh") && !strcmp(b->argv[1], "-c") &&
		      !strcmp(b->argv[2], "./b | cat") && !b->argv[3],
	      "a shell command");
	CHECK_EQ(a->limits, 3, "its own limit and the usual ones");
	CHECK(!a->limit[0].event && !a->limit[0].relative && a->limit[0].amount == 5, "its own");
	CHECK_EQ(b->limits, 2, "the usual limits");
	gate_config_free(&c);
}

static const struct {
	const char *text, *said;
} wrong[] = {
	{ "", "t.json: line 1: not JSON" },
	{ "[]", "t.json: $: must be an object" },
	{ "{}", "benchmarks: must be an object with 1 to" },
	{ "{\"benchmarks\": {}}", "benchmarks: must be an object with 1 to" },
	{ "{\"benchmarks\": []}", "benchmarks: must be an object with 1 to" },
	{ "{\"benchmark\": {}}", "benchmark: there is no such key; did you mean benchmarks" },
	{ "{\"benchmarks\": {\"a\": 1}}", "benchmarks.a: must be an object" },
	{ "{\"benchmarks\": {\"a\": {}}}", "benchmarks.a: there is no command" },
	{ "{\"benchmarks\": {\"a\": {\"comand\": \"x\"}}}", "a.comand: there is no such key; did" },
	{ "{\"benchmarks\": {\"a\\u001b\": {\"command\": \"x\"}}}", "benchmarks.?: a name has" },
	{ "{\"benchmarks\": {\"\": {\"command\": \"x\"}}}", "a name has" },
	{ "{\"benchmarks\": {\"a\": {\"command\": []}}}", "a.command: must be a list" },
	{ "{\"benchmarks\": {\"a\": {\"command\": \"\"}}}", "a.command: must be a list" },
	{ "{\"benchmarks\": {\"a\": {\"command\": [\"\"]}}}", "the first word is empty" },
	{ "{\"benchmarks\": {\"a\": {\"command\": [\"x\", 1]}}}", "word 2 is not a string" },
	{ "{\"benchmarks\": {\"a\": {\"command\": \"x\", \"runs\": 1}}}",
	  "a.runs: must be a whole" },
	{ "{\"benchmarks\": {\"a\": {\"command\": \"x\", \"isa\": \"a,b\"}}}", "one CPU model" },
	{ "{\"benchmarks\": {\"a\": {\"command\": \"x\", \"events\": []}}}", "list of events" },
	{ "{\"benchmarks\": {\"a\": {\"bench\": \"x.c\", \"events\": \"wall\"}}}",
	  "not of \"bench\"" },
	{ "{\"benchmarks\": {\"a\": {\"command\": \"x\", \"events\": [\"cpu-time\"], \"regions\": true}}}",
	  "counts instructions" },
	{ "{\"limit\": {\"wall\": 5}, \"benchmarks\": {\"a\": {\"command\": \"x\"}}}",
	  "limit.wall: must be a percentage" },
	{ "{\"benchmarks\": {\"a\": {\"command\": \"x\", \"bench\": \"y\"}}}", "not both" },
	{ "{\"benchmarks\": {\"a\": {\"bench\": []}}}", "a.bench: must be a file, or a list" },
	{ "{\"benchmarks\": {\"a\": {\"bench\": [1]}}}", "a.bench: must be a file, or a list" },
	{ "{\"benchmarks\": {\"a\": {\"bench\": \"x\", \"regions\": true}}}", "is for a command" },
	{ "{\"benchmarks\": {\"a\": {\"command\": \"x\", \"regions\": false}}}",
	  "a.regions: must be true, or a list of 1 to 64 labels" },
	{ "{\"benchmarks\": {\"a\": {\"command\": \"x\", \"regions\": [\"a\", 1]}}}",
	  "a.regions: must be true" },
	{ "{\"benchmarks\": {\"a\": {\"command\": \"x\", \"environment\": {\"A=\": \"\"}}}}",
	  "A=" },
	{ "{\"benchmarks\": {\"a\": {\"command\": \"x\", \"environment\": {\"A\": 1}}}}",
	  "A must" },
	{ "{\"benchmarks\": {\"a\": {\"command\": \"x\", \"limit\": \"1\"}}}",
	  "a.limit: must be a p" },
	{ "{\"benchmarks\": {\"a\": {\"command\": \"x\", \"limit\": \"-1 %\"}}}", "a percentage" },
	{ "{\"benchmarks\": {\"a\": {\"command\": \"x\", \"limit\": \"1e999 %\"}}}",
	  "a percentage" },
	{ "{\"benchmarks\": {\"a\": {\"command\": \"x\", \"limit\": -1}}}", "a percentage" },
	{ "{\"benchmarks\": {\"a\": {\"command\": \"x\", \"limit\": {\"e\": []}}}}",
	  "a.limit.e: " },
	{ "{\"benchmarks\": {\"a\": {\"command\": \"x\"}}, \"limit\": \"x\"}",
	  "limit: must be a per" },
	{ "{\"benchmarks\": {\"a\": {\"command\": \"x\"}, \"a\": {}}}", "duplicate" },
};

TEST(wrong_configurations)
{
	if (!has_json())
		tap_skip("jansson", "built without it");
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct gate_config c;

		CHECK_EQ(parse(&c, wrong[i].text, &err), -EINVAL, "%s", wrong[i].text);
		CHECK(strstr(err.what, wrong[i].said), "'%s' instead of '%s'", err.what,
		      wrong[i].said);
		CHECK(err.hint[0] && !strpbrk(err.what, "\n\033"), "a hint, in one line");
		gate_config_free(&c);
	}
}

/* ---- records ---- */

static struct gate_record result(const char *name, uint64_t count)
{
	struct gate_record r = { .command = "./a", .tare = "1", .fixed = "aslr", .isa = "v3" };

	snprintf(r.benchmark, sizeof(r.benchmark), "%s", name);
	strcpy(r.value[0].event, "instructions:u");
	r.value[0].count = count;
	r.n = 1;
	return r;
}

TEST(a_note_returns_what_was_written)
{
	struct gate_record a = result("a\"\n|<", UINT64_MAX), accept = result("b", 7);
	struct gate_records read = { 0 };
	struct tare_error err = TARE_ERROR_INIT;
	struct text note = { 0 };

	if (!has_json())
		tap_skip("jansson", "built without it");
	strcpy(accept.accept, "because \\ \"");
	gate_record_line(&note, &a);
	text_add(&note, "\n"); /* a merge may add empty lines */
	gate_record_line(&note, &accept);
	CHECK_EQ(gate_records_parse(&read, note.s, note.len, "n", &err), 0, "%s", err.what);
	CHECK_EQ(read.n, 2, "records");
	CHECK(!memcmp(&read.record[0], &a, sizeof(a)), "the result");
	CHECK(!memcmp(&read.record[1], &accept, sizeof(accept)), "the accepted change");
	gate_records_free(&read);
	text_free(&note);
}

static const struct {
	const char *text, *said;
} wrong_records[] = {
	{ "x", "n: line 1: not JSON" },
	{ "\n{", "n: line 2: not JSON" },
	{ "{\"benchmark\": \"a\", \"accept\": \"y\"}", "record 1: the key \"command\"" },
	{ "{\"benchmark\": 1}", "record 1: the key \"benchmark\"" },
	{ "[]", "record 1: the key \"benchmark\"" },
	{ "{\"benchmark\": \"a\"}", "record 1: the key \"command\"" },
	{ "{\"benchmark\": \"a\", \"accept\": \"\"}", "the key \"accept\"" },
	{ "{\"benchmark\": \"a\", \"command\": \"\", \"tare\": \"\", \"fixed\": \"\", \"isa\": \"\", "
	  "\"events\": {\"e\": -1}}",
	  "the key \"events\"" },
	{ "{\"schema\": \"tare/stat/1\"}", "is not a document of tare gate" },
};

TEST(wrong_records)
{
	if (!has_json())
		tap_skip("jansson", "built without it");
	for (size_t i = 0; i < ARRAY_SIZE(wrong_records); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct gate_records r = { 0 };
		const char *text = wrong_records[i].text;

		CHECK_EQ(gate_records_parse(&r, text, strlen(text), "n", &err), -EINVAL, "%s",
			 text);
		CHECK(strstr(err.what, wrong_records[i].said), "'%s' instead of '%s'", err.what,
		      wrong_records[i].said);
		gate_records_free(&r);
	}
}

TEST(of_several_results_the_comparable_one)
{
	struct gate_record head = result("a", 1), other = result("a", 2), old = result("a", 3);
	struct gate_records all = { 0 };

	strcpy(other.isa, "v2");
	gate_records_add(&all, &old, NULL);
	gate_records_add(&all, &other, NULL);
	CHECK_EQ(gate_records_find(&all, &head)->value[0].count, 3, "the same CPU model");
	strcpy(head.isa, "v4");
	CHECK_EQ(gate_records_find(&all, &head)->value[0].count, 2, "the last one");
	strcpy(head.benchmark, "b");
	CHECK(!gate_records_find(&all, &head), "another benchmark");
	gate_records_free(&all);
}

/* ---- verdicts ---- */

static const struct {
	int line;
	uint64_t base, head;
	struct gate_limit limit;
	bool limited;
	uint64_t accepted; /* up to; 0: nothing was */
	enum gate_verdict verdict;
} rows[] = {
	{ __LINE__, 1000, 1000, { 0 }, false, 0, GATE_SAME },
	{ __LINE__, 1000, 1001, { 0 }, false, 0, GATE_SLOWER },
	{ __LINE__, 1000, 999, { 0 }, false, 0, GATE_FASTER },
	{ __LINE__, 1000, 1001, { 0 }, false, 1001, GATE_ACCEPTED },
	{ __LINE__, 1000, 1000, { 0 }, false, 1001, GATE_SAME },
	{ __LINE__, 1000, 1002, { 0 }, false, 1001, GATE_SLOWER },
	{ __LINE__, 1000, 1111, { .relative = true, .percent = 1 }, true, 1100, GATE_ACCEPTED },
	{ __LINE__, 1000, 1112, { .relative = true, .percent = 1 }, true, 1100, GATE_SLOWER },
	{ __LINE__, 1000, 1010, { .relative = true, .percent = 1 }, true, 0, GATE_WITHIN },
	{ __LINE__, 1000, 1011, { .relative = true, .percent = 1 }, true, 0, GATE_SLOWER },
	{ __LINE__, 1000, 1010, { .amount = 10 }, true, 0, GATE_WITHIN },
	{ __LINE__, 1000, 1011, { .amount = 10 }, true, 0, GATE_SLOWER },
	{ __LINE__, 0, 1, { .relative = true, .percent = 100 }, true, 0, GATE_SLOWER },
	{ __LINE__, 1ULL << 60, (1ULL << 60) + 1, { 0 }, false, 0, GATE_SLOWER },
};

static const struct gate_records none;

TEST(verdicts)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct gate_benchmark b = { .limits = rows[i].limited };
		struct gate_record base = result("a", rows[i].base);
		struct gate_records bases = { .record = &base, .n = 1 };
		struct gate_record change = result("a", rows[i].accepted);
		struct gate_records accepted = { .record = &change, .n = rows[i].accepted != 0 };
		struct gate_outcome o = { .head = result("a", rows[i].head) };

		strcpy(change.accept, "x");
		b.limit[0] = rows[i].limit;
		gate_judge(&o, &b, &bases, &accepted);
		CHECK_EQ(o.verdict, rows[i].verdict, "line %d", rows[i].line);
	}
}

TEST(limits_of_an_event)
{
	char instructions[] = "instructions", loads[] = "instructions:u:x";
	struct gate_benchmark b = { .limits = 2 };
	struct gate_record base = result("a", 100);
	struct gate_records bases = { .record = &base, .n = 1 };
	struct gate_outcome o = { .head = result("a", 105) };

	b.limit[0] = (struct gate_limit){ .event = loads, .amount = 1000 };
	b.limit[1] = (struct gate_limit){ .event = instructions, .amount = 4 };
	gate_judge(&o, &b, &bases, &none);
	CHECK_EQ(o.verdict, GATE_SLOWER, "the limit of another event does not apply");
	b.limit[1].amount = 5;
	o = (struct gate_outcome){ .head = result("a", 105) };
	gate_judge(&o, &b, &bases, &none);
	CHECK_EQ(o.verdict, GATE_WITHIN, "instructions means instructions:u");
}

TEST(a_limit_of_a_region)
{
	CHECK(gate_is_event("instructions", "instructions:u") &&
		      gate_is_event("instructions:u", "instructions:u"),
	      "an event");
	CHECK(gate_is_event("instructions in a b", "instructions:u in a b") &&
		      gate_is_event("instructions:u in a", "instructions:u in a"),
	      "a region");
	CHECK(!gate_is_event("instructions", "instructions:u in a") &&
		      !gate_is_event("instructions in a", "instructions:u") &&
		      !gate_is_event("instructions in a", "instructions:u in ab") &&
		      !gate_is_event("instruction", "instructions:u"),
	      "others");
}

TEST(other_variables)
{
	struct gate_benchmark b = { 0 };
	struct gate_record base = result("a", 2);
	struct gate_records bases = { .record = &base, .n = 1 };
	static const enum gate_verdict wanted[] = { GATE_UNLIKE, GATE_SAME, GATE_FASTER };

	strcpy(base.variables, "1");
	for (uint64_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct gate_outcome o = { .head = result("a", 3 - i) };

		gate_judge(&o, &b, &bases, &none);
		CHECK_EQ(o.verdict, i ? wanted[i] : GATE_SLOWER, "unknown variables");
		strcpy(o.head.variables, "2");
		gate_judge(&o, &b, &bases, &none);
		CHECK_EQ(o.verdict, wanted[i], "only an increase can be an effect of them");
	}
}

TEST(what_only_the_baseline_has)
{
	struct gate_benchmark b = { 0 };
	struct gate_record base = result("a", 2);
	struct gate_records bases = { .record = &base, .n = 1 };
	struct gate_outcome o = { .head = result("a", 2) };

	base.n = 3;
	strcpy(base.value[1].event, "instructions:u in x");
	strcpy(base.value[2].event, "instructions:u in y");
	gate_judge(&o, &b, &bases, &none);
	CHECK(o.verdict == GATE_SAME &&
		      !strcmp(o.why, "only in the baseline: instructions:u in x and 1 more"),
	      "%s", o.why);
}

/* ---- parts ---- */

#define SUMMARY(lost, labels)                                                                      \
	"{\"recordings\": [{\"damage\": null}], \"lost\": " lost                                   \
	", \"lost_unknown\": false, \"unmatched\": 0, \"labels\": [" labels "]}"
#define LABEL(name, total)                                                                         \
	"{\"label\": \"" name "\", \"counters\": {\"instructions:u\": {\"total\": " total "}}}"
#define LONG "0123456789012345678901234567890123456789012345678901234567890123456789"

static char region_a[] = "a", region_c[] = "c", region_none[] = "none";

static const struct {
	const char *text;
	char *regions[3]; /* none: all */
	const char *said; /* NULL: accepted */
	const char *first;
} summaries[] = {
	{ SUMMARY("0", LABEL("b", "7") "," LABEL("a", "\"18446744073709551615\"")),
	  { 0 },
	  NULL,
	  "a" },
	{ SUMMARY("0", LABEL("a", "1") "," LABEL("c", "2")), { region_c }, NULL, "c" },
	{ SUMMARY("0", LABEL("a", "1")), { region_a, region_none }, "it has no region none", NULL },
	{ SUMMARY("0", ""), { 0 }, "it has no region", NULL },
	{ SUMMARY("3", LABEL("a", "1")), { 0 }, "is not complete", NULL },
	{ SUMMARY("0", LABEL("a", "-1")), { 0 }, "a region is missing or wrong", NULL },
	{ SUMMARY("0", LABEL("a", "1") "," LABEL("a", "1")), { 0 }, "the name a", NULL },
	{ SUMMARY("0", LABEL(LONG LONG, "1")), { 0 }, "bytes too long", NULL },
	{ "{\"recordings\": [{\"damage\": \"cut\"}]}", { 0 }, "damaged: cut", NULL },
	{ "{}", { 0 }, "\"lost\" is missing", NULL },
	{ "", { 0 }, "not JSON", NULL },
};

TEST(counts_of_regions)
{
	if (!has_json())
		tap_skip("jansson", "built without it");
	for (size_t i = 0; i < ARRAY_SIZE(summaries); i++) {
		char *regions[3];
		struct gate_benchmark b = { .regions = regions,
					    .all_regions = !summaries[i].regions[0] };
		struct gate_record r = { 0 };
		struct tare_error err = TARE_ERROR_INIT;
		const char *text = summaries[i].text, *said = summaries[i].said;
		int ret;

		memcpy(regions, summaries[i].regions, sizeof(regions));
		ret = gate_regions_parse(&r, &b, text, strlen(text), &err);
		CHECK(ret < 0 ? said && strstr(err.what, said) : !said, "%zu: %s", i, err.what);
		CHECK(said ||
			      !strcmp(strstr(r.value[0].event, GATE_IN) + strlen(GATE_IN),
				      summaries[i].first),
		      "%zu: %s", i, r.value[0].event);
	}
}

#define BENCH(ops, min, max)                                                                       \
	"{\"conditions\": {\"fixed\": [\"aslr\", \"env\"], \"isa\": \"v3\", "                      \
	"\"not_fixed\": [{\"item\": \"pid\", \"reason\": \"no\"}]}, "                              \
	"\"variants\": [{\"name\": \"t\", \"ops\": " ops "}], "                                    \
	"\"results\": [{\"variant\": 0, \"event\": \"e\", \"min\": " min ", \"max\": " max "}]}"

TEST(counts_of_tests)
{
	static const struct {
		const char *text;
		int ret;
		uint64_t count;
	} row[] = {
		{ BENCH("null", "7", "7"), 0, 7 },
		{ BENCH("100", "1.25", "1.25"), 0, 125 },
		{ BENCH("3", "0.3333333333333333", "0.3333333333333333"), 0, 1 },
		{ BENCH("1", "7", "8"), -EAGAIN, 0 },
		{ BENCH("1", "-1", "-1"), -ERANGE, 0 },
		{ BENCH("1", "null", "null"), -EINVAL, 0 },
		{ BENCH("\"x\"", "1", "1"), -EINVAL, 0 },
		{ "{}", -EINVAL, 0 },
	};

	if (!has_json())
		tap_skip("jansson", "built without it");
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct gate_outcome o = { .verdict = GATE_SAME };
		const struct gate_record *r = &o.head;
		struct tare_error err = TARE_ERROR_INIT;

		CHECK_EQ(gate_bench_parse(&o, row[i].text, strlen(row[i].text), &err), row[i].ret,
			 "%zu: %s", i, err.what);
		if (row[i].ret == 0)
			CHECK(r->value[0].count == row[i].count &&
				      !strcmp(r->value[0].event, "e in t") &&
				      !strcmp(r->fixed, "aslr,env") && !strcmp(r->isa, "v3") &&
				      o.remarks == 1 && !strcmp(o.remark[0], "Not fixed: pid: no"),
			      "%zu: %llu %s %s %s", i, (unsigned long long)r->value[0].count,
			      r->value[0].event, r->fixed, o.remark[0]);
	}
}

TEST(only_like_is_compared_with_like)
{
	for (int i = 0; i < 4; i++) {
		struct gate_benchmark b = { 0 };
		struct gate_record base = result("a", 1);
		struct gate_records bases = { .record = &base, .n = 1 };
		struct gate_outcome o = { .head = result("a", 2) };
		struct gate_record change = result("a", 2);
		struct gate_records accepted = { .record = &change, .n = 1 };
		char *const differs[] = { base.tare, base.isa, base.fixed, base.command };

		strcpy(change.accept, "known");
		strcpy(differs[i], "other");
		gate_judge(&o, &b, &bases, &none);
		CHECK_EQ(o.verdict, GATE_UNLIKE, "%d", i);
		CHECK(strstr(o.why,
			     differs[i] == base.fixed
				     ? "the fixed items differ: other only in the baseline; "
				     : "other in the baseline") &&
			      o.hint[0],
		      "%s", o.why);
		o = (struct gate_outcome){ .head = result("a", 2) };
		gate_judge(&o, &b, &bases, &accepted);
		CHECK_EQ(o.verdict, differs[i] == base.command ? GATE_ACCEPTED : GATE_UNLIKE,
			 "%d: only a new command can be accepted", i);
	}
}

TEST(times_are_split_from_the_events)
{
	static const struct {
		const char *events, *counted; /* NULL: none */
		bool cpu, wall;
	} row[] = {
		{ "\"instructions,wall\"", "instructions", false, true },
		{ "[\"cpu-time\", \"branches\", \"wall\", \"loads\"]", "branches,loads", true,
		  true },
		{ "\"cpu-time\"", NULL, true, false },
		{ "\"walls,exact/wall/\"", "walls,exact/wall/", false, false },
	};

	if (!has_json())
		tap_skip("jansson", "built without it");
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct gate_config c;
		const struct gate_benchmark *b;
		char text[200];

		snprintf(text, sizeof(text),
			 "{\"benchmarks\": {\"a\": {\"command\": \"x\", \"events\": %s}}}",
			 row[i].events);
		CHECK_EQ(parse(&c, text, &err), 0, "%s", err.what);
		b = c.benchmark;
		CHECK(b->time[COMPARE_CPU_TIME] == row[i].cpu &&
			      b->time[COMPARE_WALL] == row[i].wall,
		      "%zu", i);
		CHECK(b->only_times == !row[i].counted &&
			      !strcmp(b->events ? b->events : "",
				      row[i].counted ? row[i].counted : ""),
		      "%zu: %s", i, b->events ? b->events : "none");
		gate_config_free(&c);
	}
}

TEST(limits_of_times_are_percentages)
{
	struct gate_benchmark b = { .limits = 3 };
	char wall[] = "wall";

	b.limit[0] = (struct gate_limit){ .amount = 5 };
	b.limit[1] = (struct gate_limit){ .event = wall, .relative = true, .percent = 2 };
	b.limit[2] = (struct gate_limit){ .relative = true, .percent = 3 };
	CHECK(gate_time_limit(&b, COMPARE_WALL) == &b.limit[1] &&
		      gate_time_limit(&b, COMPARE_CPU_TIME) == &b.limit[2],
	      "the first that applies");
	b.limits = 1;
	CHECK(!gate_time_limit(&b, COMPARE_WALL), "a number of events is none");
}

TEST(times_are_part_of_the_verdict)
{
	static const struct {
		enum gate_verdict counts;
		enum compare_verdict time;
		enum gate_verdict all;
	} row[] = {
		{ GATE_SAME, COMPARE_SAME, GATE_SAME },
		{ GATE_SAME, COMPARE_MORE, GATE_SLOWER },
		{ GATE_SAME, COMPARE_LESS, GATE_FASTER },
		{ GATE_FASTER, COMPARE_CANNOT_TELL, GATE_UNCLEAR },
		{ GATE_SLOWER, COMPARE_LESS, GATE_SLOWER },
		{ GATE_ACCEPTED, COMPARE_SAME, GATE_ACCEPTED },
		{ GATE_ACCEPTED, COMPARE_MORE, GATE_SLOWER },
		{ GATE_UNLIKE, COMPARE_MORE, GATE_UNLIKE },
		{ GATE_NEW, COMPARE_SAME, GATE_SAME }, /* nothing else was measured */
	};

	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct gate_outcome o = { .head = result("a", 1), .verdict = row[i].counts };

		o.event[0] = row[i].counts;
		if (row[i].counts == GATE_NEW)
			o.head.n = 0;
		o.time[COMPARE_WALL].measured = true;
		o.time[COMPARE_WALL].numbers.verdict = row[i].time;
		gate_judge_times(&o);
		CHECK_EQ(o.verdict, row[i].all, "%zu", i);
	}
}

TEST(times_in_all_formats)
{
	static struct gate_outcome o;
	const struct gate_limit limit = { .relative = true, .percent = 2 };
	const struct gate_shown s = { .outcome = &o, .n = 1, .baseline = "b" };
	struct style plain = { .width = 200, .thousands = true };
	struct text text = { 0 };
	char name[] = "wall";
	static const char *const said[] = {
		"it is unclear whether the benchmark is slower\n",
		" wall            1.00 ms  1.02 ms  +2.00 +- 0.50 %    2 %  cannot tell\n",
		" a: wall: about 99 runs of each side would show whether the change exceeds 2 %.\n",
		"| a | wall | 1.00 ms | 1.02 ms | +2.00 ± 0.50 % | 2 % | cannot tell |\n",
		("<skipped message=\"cannot tell: instructions:u: new 1; wall: cannot tell 1.00 ms "
		 "-&gt; 1.02 ms (+2.00 ± 0.50 %, limit 2 %)\"/>"),
		"\"pairs\": 12,",
		"\"limit_percent\": 2,",
		"\"verdict\": \"cannot tell\",\n  \"regression\": false",
	};

	o = (struct gate_outcome){ .head = result("a", 1) };
	o.in_base[0] = -1;
	o.event[0] = GATE_NEW;
	o.time[COMPARE_WALL] = (struct gate_time){
		.measured = true,
		.limit = &limit,
		.numbers = { .name = name,
			     .time = true,
			     .by_pairs = true,
			     .verdict = COMPARE_CANNOT_TELL,
			     .median = { 1000000, 1020000 },
			     .percent = 2,
			     .change = 20000,
			     .half_percent = 0.5,
			     .low_percent = 1.5,
			     .high_percent = 2.5,
			     .threshold = 2,
			     .of = { { .n = 12 }, { .n = 12 } },
			     .needed = 99 },
	};
	gate_judge_times(&o);
	CHECK_EQ(o.verdict, GATE_UNCLEAR, "cannot tell");
	gate_show_text(&text, &s, &plain);
	text_add(&text, "\n---\n");
	gate_markdown(&text, &s);
	text_add(&text, "\n---\n");
	gate_junit(&text, &s);
	text_add(&text, "\n---\n");
	gate_show_json(&text, &s);
	for (size_t i = 0; i < ARRAY_SIZE(said); i++)
		CHECK(strstr(text.s, said[i]), "%s is not in\n%s", said[i], text.s);
	text_free(&text);
}

TEST(the_items_that_differ)
{
	static const struct {
		const char *base, *head, *why;
	} row[] = {
		{ "aslr, pid, cpus=1", "aslr, pid, cwd, cpus=1", "cwd only in the head" },
		{ "aslr, pid, cwd, cpus=1", "aslr, cpus=2",
		  "pid, cwd, cpus=1 only in the baseline; cpus=2 only in the head" },
		{ "env", "environment", "env only in the baseline; environment only in the head" },
		{ "a, b", "b, a",
		  "the list of fixed items differs: a, b in the baseline, b, a now" },
		{ "", "a", "a only in the head" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct gate_benchmark b = { 0 };
		struct gate_record base = result("a", 1);
		struct gate_records bases = { .record = &base, .n = 1 };
		struct gate_outcome o = { .head = result("a", 2) };

		strcpy(base.fixed, row[i].base);
		strcpy(o.head.fixed, row[i].head);
		gate_judge(&o, &b, &bases, &none);
		CHECK(o.verdict == GATE_UNLIKE && strstr(o.why, row[i].why), "%zu: %s", i, o.why);
	}
}

TEST(a_remark_of_many_benchmarks_is_shown_once)
{
	static struct gate_outcome o[3];
	const struct gate_shown s = { .outcome = o, .n = 3, .baseline = "", .none = "n" };
	struct style plain = { .width = 200 };
	struct text text = { 0 };

	for (size_t i = 0; i < 3; i++) {
		o[i] = (struct gate_outcome){ .head = result(i ? "b" : "a", 1) };
		gate_remark(&o[i], i == 1 ? "Not fixed: cwd: why" : "Not fixed: pid: no");
	}
	gate_show_text(&text, &s, &plain);
	CHECK(strstr(text.s, "\n a and 1 more: not fixed: pid: no.\n b: not fixed: cwd: why.\n"),
	      "%s", text.s);
	text_free(&text);
	gate_markdown(&text, &s);
	CHECK(strstr(text.s, "\n- a and 1 more: not fixed: pid: no\n- b: not fixed: cwd: why\n"),
	      "%s", text.s);
	text_free(&text);
}

TEST_MAIN()
