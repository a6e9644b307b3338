/* SPDX-License-Identifier: MIT */
/*
 * The text next to and below counts of events that were verified, corrected, or are known to be
 * faulty here.
 */
#include <string.h>
#include "tap.h"
#include "verify/trust_view.h"

static struct encoding enc[3] = { { .name = "instructions:u" },
				  { .name = "branches:u" },
				  { .name = "cycles:u" } };
static const struct verdict exact = { .boot = "b1",
				      .time = 5,
				      .result = { .verdict = VERIFY_EXACT, .as = WORK_UNKNOWN } };
static const struct verdict noisy = {
	.result = { .verdict = VERIFY_NOISY, .spread = 12, .as = WORK_UNKNOWN }
};
static const struct verdict *verdicts[3] = { &exact, &noisy, NULL };
static struct stat_row rows[3] = { { .event = 0, .quality = TARE_COUNTED },
				   { .event = 1, .quality = TARE_COUNTED },
				   { .event = 2, .quality = TARE_COUNTED } };
static const struct stat_table table = { .enc = enc, .n_enc = 3, .row = rows, .n = 3, .runs = 1 };
static const struct style plain = { .width = 100 };

TEST(qualities)
{
	const struct trust_view v = { .verdict = verdicts, .n = 3 };
	static const char *const wanted[] = { ", verified", ", noisy", "" };

	for (unsigned i = 0; i < 3; i++) {
		struct text t = { 0 };

		trust_quality(&t, trust_of(&v, i), &rows[i]);
		CHECK_STR(t.s ? t.s : "", wanted[i]);
		text_free(&t);
	}
	CHECK(!trust_of(&v, 3) && !trust_of(NULL, 0));
}

TEST(notes)
{
	static struct fault_finding fault = { .fault = { .id = "x",
							 .known = "seen",
							 .what = "bees in the counter",
							 .why = "It hums." },
					      .state = FAULT_PRESENT };
	struct overcount corrected[2] = {
		{ .event = 0,
		  .counted = { .median = 1010 },
		  .corrected = { .min = 998, .median = 1000, .max = 1001 },
		  .per_fault = 1,
		  .faults = 10 },
		{ .event = 1, .why_not = "it is scaled" }
	};
	const struct trust_view v = { .verdict = verdicts,
				      .n = 3,
				      .corrected = corrected,
				      .n_corrected = 2,
				      .fault = &fault,
				      .n_faults = 1 };
	struct text t = { 0 };

	CHECK(trust_notes(&t, &v, &table, &plain));
	CHECK_STR(
		t.s,
		" verified: tare verify found that it counts correctly on this CPU, microcode and kernel.\n"
		" branches:u: noisy, by tare verify: different each time, by up to 12.\n"
		" instructions:u corrected: 1000 (998 .. 1001), 10 less than counted; 1 for each of 10 page faults.\n"
		" branches:u is not corrected: it is scaled.\n"
		" Known fault here: bees in the counter. It hums. 'tare doctor' shows the commands.\n");
	text_free(&t);
	CHECK(!trust_notes(&t, NULL, &table, &plain));
}

TEST(json)
{
	const struct trust_view v = { .verdict = verdicts, .n = 3, .boot = "b1" };
	struct json j = { 0 };

	json_object(&j, NULL);
	trust_json(&j, &v, &rows[0]);
	json_end(&j);
	CHECK(strstr(j.out.s, "\"same_boot\": true") && strstr(j.out.s, "\"trusted\": true"), "%s",
	      j.out.s);
	text_free(&j.out);
	j = (struct json){ 0 };
	json_object(&j, NULL);
	trust_json(&j, &v, &rows[2]);
	trust_json_corrected(&j, &v, &table);
	json_end(&j);
	CHECK(strstr(j.out.s, "\"verdict\": null") && !strstr(j.out.s, "corrected"), "%s", j.out.s);
	text_free(&j.out);
}

/* Found dead by tare verify ("always 0"), and then it counts. */
TEST(a_dead_event_that_counts)
{
	static const struct verdict dead = { .result = { .verdict = VERIFY_DEAD,
							 .as = WORK_UNKNOWN } };
	const struct verdict *one[3] = { NULL, &dead, NULL };
	const struct trust_view v = { .verdict = one, .n = 3 };
	struct stat_row counts[] = {
		{ .event = 1, .quality = TARE_COUNTED, .spread = { .n = 2, .max = 10 } },
		{ .event = 1, .quality = TARE_COUNTED },
		{ .event = 1, .quality = TARE_UNAVAILABLE, .spread = { .max = 10 } }
	};
	static const char *const wanted[] = {
		" branches:u: counted 10: the verdict 'dead' of tare verify is refuted; tare verify counts -e branches:u tests it again.\n",
		" branches:u: dead, by tare verify: always 0.\n",
		" branches:u: dead, by tare verify: always 0.\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		const struct stat_table of = {
			.enc = enc, .n_enc = 3, .row = &counts[i], .n = 1, .runs = 2
		};
		struct text t = { 0 }, quality = { 0 };
		struct json j = { 0 };

		CHECK(trust_notes(&t, &v, &of, &plain));
		CHECK_STR(t.s, wanted[i], "row %zu", i);
		trust_quality(&quality, &dead, &counts[i]);
		CHECK_STR(quality.s ? quality.s : "", i ? ", dead" : "", "row %zu", i);
		json_object(&j, NULL);
		trust_json(&j, &v, &counts[i]);
		json_end(&j);
		CHECK(strstr(j.out.s, i ? "\"refuted\": false" : "\"refuted\": true"), "%s",
		      j.out.s);
		text_free(&t);
		text_free(&quality);
		text_free(&j.out);
	}
}

TEST_MAIN()
