/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "tap.h"
#include "doctor/doctor_view.h"

static struct diagnosis two_findings(void)
{
	return (struct diagnosis){
		.verdict = VERDICT_SOFTWARE,
		.sentence = "This machine has no PMU that this user can count with: none was "
			    "found. Software events work.",
		.findings = 3,
		.finding = { { .id = "pmu",
			       .mark = MARK_FAIL,
			       .what = "there is no core PMU: this virtual machine offers none to "
				       "its guest, as it seems",
			       .why = "Cycles come from it.",
			       .fixes = 2,
			       .fix = { { "sysctl a.b=1", "until the next boot", FIX_HERE, true },
					{ "docker run --cap-add PERFMON IMAGE", "", FIX_START,
					  false } } },
			     { .id = "watchdog",
			       .mark = MARK_WARN,
			       .what = "it holds one",
			       .why = "Groups do not fit.",
			       .fixes = 1,
			       .fix = { { "sysctl c.d=0", "", FIX_HOST, true } } },
			     { .id = "kernel", .mark = MARK_OK, .what = "Linux 6.1" } },
	};
}

static void check_text(long uid, struct doctor_style style, const char *wanted)
{
	static struct host h;
	static struct diagnosis d;
	struct text out = { 0 };

	h.uid = uid;
	d = two_findings();
	doctor_text(&out, &h, &d, style);
	CHECK_STR(out.s, wanted, "uid %ld, width %u", uid, style.width);
	text_free(&out);
}

TEST(text_for_a_user)
{
	check_text(
		1000, (struct doctor_style){ .width = 80 },
		"This machine has no PMU that this user can count with: none was found. Software\n"
		"events work.\n"
		"\n"
		"FAIL  pmu             there is no core PMU: this virtual machine offers none to\n"
		"                      its guest, as it seems\n"
		"                      Cycles come from it.\n"
		"                      type:        sudo sysctl a.b=1\n"
		"                                   (until the next boot)\n"
		"                      start with:  docker run --cap-add PERFMON IMAGE\n"
		"warn  watchdog        it holds one\n"
		"                      Groups do not fit.\n"
		"                      on the host: sudo sysctl c.d=0\n"
		"ok    kernel          Linux 6.1\n");
}

/* Root needs no sudo here; who is root on the host is unknown. */
TEST(text_for_root_in_colour_on_a_narrow_terminal)
{
	check_text(0, (struct doctor_style){ .width = 3, .colour = true },
		   "This machine has no PMU that this user can count with: none\n"
		   "was found. Software events work.\n"
		   "\n"
		   "\033[1;31mFAIL  \033[0mpmu             there is no core PMU: this virtual\n"
		   "                      machine offers none to its guest, as\n"
		   "                      it seems\n"
		   "                      Cycles come from it.\n"
		   "                      type:        sysctl a.b=1\n"
		   "                                   (until the next boot)\n"
		   "                      start with:  docker run --cap-add PERFMON IMAGE\n"
		   "\033[33mwarn  \033[0mwatchdog        it holds one\n"
		   "                      Groups do not fit.\n"
		   "                      on the host: sudo sysctl c.d=0\n"
		   "\033[32mok    \033[0mkernel          Linux 6.1\n");
}

static const struct {
	int line;
	struct attempt attempt;
	const char *outcome, *error, *count;
} tries[] = {
	{ __LINE__, { .outcome = OUTCOME_UNTRIED }, "\"untried\"", "null", "null" },
	{ __LINE__,
	  { .outcome = OUTCOME_REFUSED, .code = EACCES },
	  "\"refused\"",
	  "\"Permission denied\"",
	  "null" },
	{ __LINE__, { .outcome = OUTCOME_OFF }, "\"never ran\"", "null", "null" },
	{ __LINE__, { .outcome = OUTCOME_ZERO }, "\"zero\"", "null", "0" },
	{ __LINE__, { .outcome = OUTCOME_WRONG, .count = 27 }, "\"wrong\"", "null", "27" },
	{ __LINE__, { .outcome = OUTCOME_SHARED, .count = 28 }, "\"shared\"", "null", "28" },
	{ __LINE__, { .outcome = OUTCOME_COUNTED, .count = 29 }, "\"counted\"", "null", "29" },
};

/* A number is shown only if something was counted. */
TEST(json_of_attempts)
{
	static struct host h;
	static struct diagnosis d;

	d = two_findings();
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		struct text out = { 0 };
		char wanted[300];

		h.tries[TRY_TASK_CLOCK] = tries[i].attempt;
		doctor_json(&out, &h, &d);
		snprintf(wanted, sizeof(wanted),
			 "\"event\": \"task-clock\",\n        \"outcome\": %s,\n        "
			 "\"error\": %s,\n"
			 "        \"count\": %s,\n",
			 tries[i].outcome, tries[i].error, tries[i].count);
		CHECK(strstr(out.s, wanted), "row at line %d: no %s", tries[i].line, wanted);
		text_free(&out);
	}
}

TEST_MAIN()
