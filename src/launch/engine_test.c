/* SPDX-License-Identifier: MIT */
/* Which engine counts which event, on machines with and without a PMU. */
#include "exact/exact.h"
#include "launch/engine.h"
#include "scripted.h"
#include "tap.h"

static const char server[] = TREES_DIR "/intel-server", hybrid[] = TREES_DIR "/hybrid",
		  vm[] = TREES_DIR "/vm-no-pmu";

static struct encoding_list encode(const char *root, const char *text)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct encode_options opt = { .keep_unavailable = true };
	struct event_list events = { 0 };
	struct encoding_list out = { 0 };
	struct machine *m = machine_open(root, &err);

	if (event_list_parse(text, &events, &err) < 0 ||
	    pmu_encode(m, &events, &opt, &out, &err) < 0)
		printf("# %s: %s\n", text, err.what);
	event_list_free(&events);
	machine_close(m);
	return out;
}

static int refuse_open(struct counters **out, const struct encoding *const *enc, size_t n,
		       const struct target *on, size_t *failed, struct tare_error *err)
{
	(void)out, (void)enc, (void)n, (void)on, (void)failed;
	return tare_fail(err, EACCES, "not this user");
}

/* A PMU that the user may not open. */
static const struct source closed = { .name = "perf", .open = refuse_open };

/*
 * "name" by perf, "name!" by the exact engine, "name?" unavailable; groups are separated by a bar.
 */
static const char *shown(const struct encoding_list *list)
{
	static char out[1000];

	out[0] = '\0';
	for (size_t i = 0; i < list->n; i++) {
		const struct encoding *e = &list->enc[i];
		size_t n = strlen(out);

		snprintf(out + n, sizeof(out) - n, "%s%s%s",
			 !i                                           ? ""
				 : e->group == list->enc[i - 1].group ? ","
								      : "|",
			 e->name,
			 e->unavailable             ? "?"
				 : engine_counts(e) ? "!"
						    : "");
	}
	return out;
}

static const struct {
	int line;
	const char *root, *events;
	enum engine_wish wish;
	bool cannot, apart, shut;
	int ret;
	const char *out;
} rows[] = {
	/*
	 * No PMU: auto selects the exact engine, and the names show that kernel mode is excluded.
	 */
	{ __LINE__, vm, "instructions,branches", ENGINE_AUTO, 0, 0, 0, 1,
	  "instructions:u!|branches:u!" },
	{ __LINE__, vm, "page-faults,instructions:u,cycles", ENGINE_AUTO, 0, 0, 0, 1,
	  "page-faults|instructions:u!|cycles?" },
	{ __LINE__, vm, "branch-instructions,PAPI_TOT_INS", ENGINE_AUTO, 0, 0, 0, 1,
	  "branch-instructions:u!|PAPI_TOT_INS:u!" },
	{ __LINE__, vm, "instructions:uk,instructions:k,instructions:pp", ENGINE_AUTO, 0, 0, 0, 1,
	  "instructions:u!|instructions:k?|instructions:u!" },
	{ __LINE__, vm, "page-faults,cycles", ENGINE_AUTO, 0, 0, 0, 0, "page-faults|cycles?" },
	{ __LINE__, vm, "instructions", ENGINE_AUTO, 1, 0, 0, 0, "instructions?" },
	/* Never in one group with events of another engine, and grouped among themselves. */
	{ __LINE__, vm, "{instructions,page-faults},{branches,instructions}", ENGINE_AUTO, 0, 0, 0,
	  1, "instructions:u!|page-faults|branches:u!,instructions:u!" },
	{ __LINE__, vm, "{exact/loads/,page-faults}", ENGINE_AUTO, 1, 0, 0, 0,
	  "exact/loads/?|page-faults" },
	/* There is a PMU: it counts, unless the engine is named. */
	{ __LINE__, server, "instructions,cycles", ENGINE_AUTO, 0, 0, 0, 0, "instructions|cycles" },
	{ __LINE__, server, "instructions,cycles", ENGINE_AUTO, 0, 0, 1, 1,
	  "instructions:u!|cycles?" },
	{ __LINE__, server, "instructions,cycles,page-faults", ENGINE_EXACT, 0, 0, 0, 1,
	  "instructions:u!|cycles?|page-faults" },
	{ __LINE__, server, "instructions,cycles,mem:0x1000:x", ENGINE_EXACT, 0, 1, 0, 1,
	  "instructions:u!|cycles|mem:0x1000:x" },
	{ __LINE__, server, "cycles,exact/calls/,mem:0x1000:x", ENGINE_AUTO, 0, 0, 0, 1,
	  "cycles?|exact/calls/!|mem:0x1000:x?" },
	{ __LINE__, server, "r1a8,cpu/instructions/", ENGINE_EXACT, 0, 1, 0, 1,
	  "r1a8|cpu/instructions/" },
	/* Once, not once per type of core. */
	{ __LINE__, hybrid, "instructions,branches:u", ENGINE_EXACT, 0, 0, 0, 1,
	  "instructions:u!|branches:u!" },
	{ __LINE__, hybrid, "cpu_core/instructions/", ENGINE_EXACT, 0, 1, 0, 1,
	  "cpu_core/instructions/" },
	/* Contradictions. */
	{ __LINE__, vm, "instructions", ENGINE_PERF, 0, 0, 0, 0, "instructions?" },
	{ __LINE__, server, "exact/calls/", ENGINE_PERF, 0, 0, 0, -EINVAL, "exact/calls/!" },
	{ __LINE__, vm, "instructions", ENGINE_EXACT, 1, 0, 0, -EPERM, "instructions?" },
	{ __LINE__, vm, "instructions,exact/calls/", ENGINE_AUTO, 1, 0, 0, 0,
	  "instructions?|exact/calls/?" },
};

TEST(who_counts_what)
{
	/* Built for an architecture that the engine does not support, it has no events. */
	bool absent = exact_probe(NULL) == -ENOTSUP;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (absent && strstr(rows[i].events, "exact/"))
			continue;

		struct tare_error cannot = { .code = EPERM,
					     .what = "not here",
					     .hint = "elsewhere" };
		struct engine_question q = { .wish = rows[i].wish,
					     .cannot = rows[i].cannot ? &cannot : NULL,
					     .apart = rows[i].apart,
					     .source = rows[i].shut ? &closed : &source_scripted };
		struct tare_error err = TARE_ERROR_INIT;
		struct encoding_list list = encode(rows[i].root, rows[i].events);

		CHECK_EQ(engine_choose(&list, &q, &err), rows[i].ret, "row at line %d: %s",
			 rows[i].line, err.what);
		CHECK_STR(shown(&list), rows[i].out, "row at line %d", rows[i].line);
		for (size_t k = 0; k < list.n; k++)
			CHECK(!list.enc[k].unavailable ||
				      (list.enc[k].why[0] && list.enc[k].remedy[0]),
			      "row at line %d: %s has a reason", rows[i].line, list.enc[k].name);
		encoding_list_free(&list);
	}
	CHECK_EQ(scripted_open_now, 0, "counters opened as a test are closed");
}

TEST(why_it_does_not_stand_in)
{
	struct tare_error cannot = { .code = EINVAL, .what = "it cannot with -D" };
	struct engine_question q = { .source = &source_scripted, .cannot = &cannot };
	struct encoding_list list = encode(vm, "page-faults,instructions,cycles");

	CHECK_EQ(engine_choose(&list, &q, NULL), 0, "not chosen");
	CHECK_STR(list.enc[1].remedy, "it cannot with -D");
	CHECK(strstr(list.enc[2].remedy, "tare doctor"), "%s", list.enc[2].remedy);
	CHECK(!engine_could_count(&list, 0) && engine_could_count(&list, 1) &&
	      !engine_could_count(&list, 2));
	encoding_list_free(&list);
}

TEST(a_command_that_cannot_be_run)
{
	struct engine_question q = { .source = &source_scripted };
	struct tare_error why = { .code = ENOTSUP,
				  .what = "a 32-bit program",
				  .hint = "--engine perf" };
	struct encoding_list list = encode(vm, "page-faults,instructions,branches:u");

	CHECK_EQ(engine_choose(&list, &q, NULL), 1, "chosen");
	engine_give_up(&list, &why);
	CHECK_STR(shown(&list), "page-faults|instructions:u?|branches:u?");
	CHECK_STR(list.enc[1].why, "a 32-bit program");
	CHECK_STR(list.enc[2].remedy, "--engine perf");
	encoding_list_free(&list);
}

TEST_MAIN()
