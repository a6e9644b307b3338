/* SPDX-License-Identifier: MIT */
/* A constructed report, as text and JSON. */
#include <string.h>
#include "base/error.h"
#include "diverge/divergence_view.h"
#include "tap.h"

static char *const argv[] = { "prog", NULL };
static const struct determinism fixed;
static const struct divergence_about about = { argv, &fixed };
static const struct code_place spin = {
	.pc = 0x1010, .function = "spin", .into = 0x10, .module = "/bin/prog", .offset = 0x1010
};
static const struct code_place caller = {
	.pc = 0x1100, .function = "main", .into = 8, .module = "/bin/prog", .offset = 0x1100
};

static void has(const struct text *t, const char *words)
{
	CHECK(t->s && strstr(t->s, words), "'%s' is not in: %s", words, t->s ? t->s : "");
}

TEST(the_item_that_removes_a_cause)
{
	static const struct {
		int line;
		enum cause_kind cause;
		const char *call;
		unsigned fixed;
		const char *option; /* NULL: none */
	} rows[] = {
		{ __LINE__, CAUSE_TICKS, "", 0, "clock" },
		{ __LINE__, CAUSE_TICKS, "", FIXED(CLOCK), NULL },
		{ __LINE__, CAUSE_CLOCK, "", FIXED(TURNS), "clock" },
		{ __LINE__, CAUSE_WRITTEN, "clock_gettime", 0, "clock" },
		{ __LINE__, CAUSE_CALL, "getpid", 0, "pid" },
		{ __LINE__, CAUSE_CALL, "getpid", FIXED(PID), NULL },
		{ __LINE__, CAUSE_WRITTEN, "getdents64", 0, "readdir" },
		{ __LINE__, CAUSE_WRITTEN, "read", 0, NULL },
		{ __LINE__, CAUSE_THREADS, "", 0, "turns" },
		{ __LINE__, CAUSE_CPU, "", 0, "cpu" },
		{ __LINE__, CAUSE_START, "", 0, NULL },
	};
	const struct style plain = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct determinism had = { .set = rows[i].fixed };
		const struct divergence_about with = { argv, &had };
		const struct divergence d = { .verdict = DIVERGE_PARTED };
		struct divergence_report r = {
			.d = &d, .at = spin, .cause = rows[i].cause, .program = { "prog", "" }
		};
		char words[80], json[80];
		struct text t = { 0 }, j = { 0 };

		snprintf(r.call_name, sizeof(r.call_name), "%s", rows[i].call);
		divergence_text(&t, &r, &with, &plain);
		divergence_json(&j, &r, &with);
		snprintf(words, sizeof(words), "   --deterministic=+%s removes this cause\n",
			 rows[i].option ? rows[i].option : "");
		snprintf(json, sizeof(json), "\"remedy\": \"--deterministic=+%s\"",
			 rows[i].option ? rows[i].option : "");
		if (rows[i].option) {
			has(&t, words);
			has(&j, json);
		}
		CHECK(rows[i].option || (!strstr(t.s, "removes this") && !strstr(j.s, "remedy")),
		      "row at line %d: %s", rows[i].line, t.s);
		text_free(&t);
		text_free(&j);
	}
}

TEST(a_place_that_moves)
{
	static const struct {
		int line;
		unsigned there, beside;
		const char *said;
	} rows[] = {
		{ __LINE__, 0, 0,
		  "between instructions 1,000 and 2,000, in spin (prog).\n\n There" },
		{ __LINE__, 0, 1,
		  ": the order of the threads may be the cause.\n 1 other thread of its process existed at some earlier time in both of two runs." },
		{ __LINE__, 2, 3,
		  ": the order of the threads may be the cause.\n 2 other threads of its process existed at that time in both of two runs." },
	};
	const struct style plain = { .thousands = true };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct divergence d = { .verdict = DIVERGE_MOVES,
					      .thread = 2,
					      .low = 1000,
					      .high = 2000,
					      .beside_there = rows[i].there,
					      .beside = rows[i].beside };
		const struct divergence_report r = { .d = &d,
						     .at = spin,
						     .caller = { caller },
						     .callers = 1,
						     .callers_whole = true,
						     .program = { "prog", "" },
						     .roughly = { spin },
						     .n_roughly = 1 };
		struct text t = { 0 };

		divergence_text(&t, &r, &about, &plain);
		has(&t, "last in thread 2 (prog) between");
		has(&t, rows[i].said);
		has(&t,
		    " There one run executed\n\n   spin+0x10 (prog)\n\n called from\n   main+0x8 (prog)\n");
		CHECK_EQ(strstr(t.s, "may be the cause") != NULL, rows[i].beside > 0,
			 "row at line %d", rows[i].line);
		text_free(&t);
		divergence_json(&t, &r, &about);
		has(&t, rows[i].beside ? "\"threads\": true" : "\"threads\": false");
		has(&t, "\"callers\": [");
		text_free(&t);
	}
}

TEST(what_the_program_was_started_with)
{
	static const struct {
		int line;
		struct initial_stack_place place;
		const char *said, *json;
	} rows[] = {
		{ __LINE__,
		  { INITIAL_STACK_ARGUMENT, 2, "" },
		  "argument 2 of the program (0 is its name), at 0x7000",
		  "\"argument\": 2" },
		{ __LINE__,
		  { INITIAL_STACK_VARIABLE, 0, "NOW" },
		  "the environment variable NOW of the program, at 0x7000",
		  "\"variable\": \"NOW\"" },
		{ __LINE__,
		  { INITIAL_STACK_VARIABLE, 0, "" },
		  "an environment variable of the program, at 0x7000",
		  "\"environment\"" },
		{ __LINE__,
		  { INITIAL_STACK_RANDOM, 0, "" },
		  "(AT_RANDOM), at 0x7000",
		  "\"random\"" },
		{ __LINE__,
		  { INITIAL_STACK_VECTOR, 16, "" },
		  "entry 16 of the auxiliary vector",
		  "\"auxiliary-vector\"" },
		{ __LINE__,
		  { INITIAL_STACK_POINTERS, 0, "" },
		  "the number of arguments",
		  "\"pointers\"" },
		{ __LINE__, { INITIAL_STACK_NAME, 0, "" }, "the path name", "\"name\"" },
		{ __LINE__,
		  { INITIAL_STACK_UNKNOWN, 0, "" },
		  "the initial stack from the kernel, at 0x7000",
		  "\"startup\"" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct divergence d = { .verdict = DIVERGE_PARTED, .thread = 1 };
		const struct divergence_report r = { .d = &d,
						     .at = spin,
						     .next = { spin, caller },
						     .program = { "prog", "prog" },
						     .cause = CAUSE_STARTUP,
						     .address = 0x7000,
						     .started = rows[i].place };
		struct text t = { 0 };

		divergence_cause(&t, &r);
		has(&t, rows[i].said);
		text_free(&t);
		divergence_json(&t, &r, &about);
		has(&t, rows[i].json);
		CHECK_EQ(strstr(t.s, "started_with") != NULL,
			 rows[i].place.part != INITIAL_STACK_UNKNOWN, "row at line %d",
			 rows[i].line);
		text_free(&t);
	}
}

TEST(the_file_the_signal_and_the_cpu)
{
	const struct divergence d = { .verdict = DIVERGE_PARTED, .thread = 1 };
	const struct divergence_report read = { .d = &d,
						.cause = CAUSE_WRITTEN,
						.address = 0x5000,
						.program = { "prog", "prog" },
						.call_name = "read",
						.file = "/etc/passwd" },
				       signal = { .d = &d,
						  .cause = CAUSE_SIGNAL,
						  .program = { "prog", "prog" },
						  .call_name = "read",
						  .signal = 14 },
				       cpu = { .d = &d,
					       .program = { "prog", "prog" },
					       .cause = CAUSE_CPU };
	struct text t = { 0 };

	divergence_cause(&t, &read);
	has(&t, "the data that read wrote to 0x5000, of /etc/passwd");
	text_free(&t);
	divergence_json(&t, &read, &about);
	has(&t, "\"file\": \"/etc/passwd\"");
	text_free(&t);
	divergence_cause(&t, &signal);
	has(&t, "a signal, SIGALRM, that arrived in read in one run");
	text_free(&t);
	divergence_json(&t, &signal, &about);
	has(&t, "\"signal\": \"SIGALRM\"");
	text_free(&t);
	divergence_cause(&t, &cpu);
	has(&t, "the number of the CPU that the thread ran on");
	text_free(&t);
	divergence_json(&t, &cpu, &about);
	has(&t, "\"kind\": \"cpu\"");
	text_free(&t);
}

TEST(who_wrote_it)
{
	const struct divergence d = { .verdict = DIVERGE_PARTED, .thread = 1 };
	struct divergence_report r = { .d = &d,
				       .at = spin,
				       .next = { spin, caller },
				       .program = { "prog", "prog" },
				       .cause = CAUSE_THREADS,
				       .address = 0x5000,
				       .memory = "flag (prog)",
				       .writer = caller };
	const struct style plain = { .thousands = true };
	struct text t = { 0 };

	divergence_text(&t, &r, &about, &plain);
	has(&t,
	    " What differed: memory at 0x5000, flag (prog), written by another thread\n   --deterministic=+turns removes this cause\n\n");
	text_free(&t);
	r.writer_thread = 3;
	divergence_text(&t, &r, &about, &plain);
	has(&t,
	    "written by another thread\n   thread 3 wrote this in another run, at main+0x8 (prog)\n");
	text_free(&t);
	divergence_json(&t, &r, &about);
	has(&t, "\"writer_thread\": 3");
	text_free(&t);
}

TEST_MAIN()
