/* SPDX-License-Identifier: MIT */
#include "bisect/bisect.h"
#include "bisect/bisect_state.h"
#include "tap.h"

static const struct bisect_try *add(struct bisect_tries *tries, const char *commit,
				    const char *parent, bool skipped, uint64_t count)
{
	struct bisect_try *t = bisect_add(tries);

	snprintf(t->commit, sizeof(t->commit), "%s", commit);
	snprintf(t->parent, sizeof(t->parent), "%s", parent);
	t->skipped = skipped;
	t->count = count;
	return t;
}

TEST(what_is_bad)
{
	static const struct {
		int line;
		uint64_t good, bad, count;
		bool is;
	} rows[] = {
		{ __LINE__, 100, 200, 100, false },
		{ __LINE__, 100, 200, 149, false },
		{ __LINE__, 100, 200, 150, false }, /* the middle */
		{ __LINE__, 100, 200, 151, true },
		{ __LINE__, 100, 200, 200, true },
		{ __LINE__, 100, 200, 0, false },
		{ __LINE__, 100, 200, 9999, true },
		{ __LINE__, 100, 101, 100, false },
		{ __LINE__, 100, 101, 101, true },
		{ __LINE__, 0, UINT64_MAX, UINT64_MAX / 2, false },
		{ __LINE__, 0, UINT64_MAX, UINT64_MAX / 2 + 1, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(bisect_is_bad(rows[i].good, rows[i].bad, rows[i].count), rows[i].is,
			 "row at line %d", rows[i].line);
}

TEST(what_differs)
{
	CHECK(bisect_differs(100, 101, 0), "by one");
	CHECK(!bisect_differs(100, 100, 0), "by none");
	CHECK(!bisect_differs(101, 100, 0), "faster");
	CHECK(!bisect_differs(1000, 1010, 1), "the threshold itself");
	CHECK(bisect_differs(1000, 1011, 1), "above it");
	CHECK(bisect_differs(0, 1, 50), "from 0");
}

/* A range of n commits with names; the order that git would give. */
static size_t candidates(const char *out[], char name[][16], int from, int to)
{
	size_t n = 0;
	int middle = (from + to) / 2;

	for (int away = 0; away <= to - from; away++)
		for (int side = -1; side <= 1; side += 2) {
			int at = middle + side * away;

			if (at > from && at <= to && (away || side > 0))
				out[n++] = name[at];
		}
	return n;
}

/* Commits 0..n-1, slow from `step` on; `broken` cannot be built. */
static int search(int n, int step, int broken_from, int broken_to, int *tries_made, size_t *left)
{
	static char name[128][16];
	const char *c[128];
	struct bisect_tries tries = { 0 };
	int good = 0, bad = n - 1;

	for (int i = 0; i < n; i++)
		snprintf(name[i], sizeof(name[i]), "c%d", i);
	add(&tries, name[good], "", false, 100);
	add(&tries, name[bad], name[bad - 1], false, 200);
	for (;;) {
		size_t count = candidates(c, name, good, bad);
		struct bisect_choice choice = bisect_choose(&tries, c, count, name[bad]);
		int at;

		*left = count;
		if (choice.next == SIZE_MAX)
			break;
		at = atoi(c[choice.next] + 1);
		add(&tries, name[at], name[at - 1], at >= broken_from && at < broken_to,
		    at >= step ? 200 : 100);
		if (at >= broken_from && at < broken_to)
			continue;
		*(at >= step ? &bad : &good) = at;
	}
	*tries_made = (int)tries.n;
	bisect_free(&tries);
	return bad;
}

TEST(every_step_is_found)
{
	size_t left;
	int tries;

	for (int step = 1; step < 100; step++) {
		CHECK_EQ(search(100, step, 0, 0, &tries, &left), step, "step %d", step);
		CHECK_EQ(left, 1, "step %d", step);
		CHECK(tries <= 2 + 7, "%d tries", tries);
	}
}

TEST(skipped_commits)
{
	size_t left;
	int tries;

	/* a block in the middle, far from the step */
	CHECK_EQ(search(100, 90, 30, 70, &tries, &left), 90, "found");
	CHECK_EQ(left, 1, "alone");
	CHECK(tries <= 2 + 7 + 8, "%d tries", tries);
	/* the step is in it: all of them, and the first good one after it, are left */
	CHECK_EQ(search(100, 50, 45, 55, &tries, &left), 55, "the earliest bad one");
	CHECK_EQ(left, 11, "suspects");
	CHECK_EQ(search(3, 1, 1, 2, &tries, &left), 2, "all are skipped");
	CHECK_EQ(left, 2, "suspects");
}

TEST(the_largest_step)
{
	struct bisect_tries tries = { 0 };

	CHECK(!bisect_largest_step(&tries), "nothing was tried");
	add(&tries, "a", "", false, 100);
	add(&tries, "e", "d", false, 200);
	CHECK(!bisect_largest_step(&tries), "no parent was tried");
	add(&tries, "c", "b", false, 151);
	add(&tries, "b", "a", false, 149);
	add(&tries, "d", "c", true, 0);
	CHECK_STR(bisect_largest_step(&tries)->commit, "b", "+49, not +2");
	add(&tries, "f", "e", false, 10);
	add(&tries, "g", "f", false, 300);
	CHECK_STR(bisect_largest_step(&tries)->commit, "g", "+290");
	bisect_free(&tries);
}

/* ---- the file ---- */

#define HASH_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HASH_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

TEST(a_file_says_what_was_written)
{
	char build[] = "make\n\t-j 2 100%", event[] = "instructions", prefix[] = "s\303\244 c/",
	     word[] = "./p", empty[] = "", odd[] = "a\x01\xff\nb",
	     *argv[] = { word, empty, odd, NULL };
	struct bisect_state s = { .end = { HASH_A, HASH_B },
				  .build = build,
				  .event = event,
				  .prefix = prefix,
				  .argv = argv,
				  .first_parent = true,
				  .threshold = 0.1,
				  .timeout_ns = UINT64_MAX,
				  .folder = "/tmp/tare-bisect-a b" },
			    back;
	struct tare_error err = TARE_ERROR_INIT;
	struct text text = { 0 };
	struct bisect_try *t = bisect_add(&s.tries);

	strcpy(t->commit, HASH_A);
	t->count = UINT64_MAX;
	t = bisect_add(&s.tries);
	strcpy(t->commit, HASH_B);
	t->skipped = true;
	strcpy(t->why, "it\nfailed");
	bisect_state_write(&text, &s);
	CHECK_EQ(bisect_state_parse(&back, text.s, text.len, "f", &err), 0, "%s", err.what);
	CHECK(bisect_state_same(&s, &back), "the question");
	CHECK_STR(back.folder, s.folder, "folder");
	CHECK_STR(back.argv[2], odd, "a word");
	CHECK_EQ(back.tries.n, 2, "tries");
	CHECK_EQ(back.tries.t[0].count, UINT64_MAX, "count");
	CHECK_STR(back.tries.t[1].why, "it\nfailed", "reason");
	back.threshold = 0.2;
	CHECK(!bisect_state_same(&s, &back), "another threshold");
	bisect_state_free(&back);
	bisect_free(&s.tries);
	text_free(&text);
}

TEST(pairs_of_times_are_kept)
{
	char event[] = "wall", prefix[] = "", word[] = "w", *argv[] = { word, NULL };
	struct bisect_state s = { .end = { HASH_A, HASH_B },
				  .event = event,
				  .prefix = prefix,
				  .argv = argv,
				  .confidence = 99 },
			    back;
	struct tare_error err = TARE_ERROR_INIT;
	struct text text = { 0 };

	strcpy(bisect_add(&s.tries)->commit, HASH_A);
	strcpy(bisect_add(&s.tries)->commit, HASH_B);
	for (uint64_t i = 0; i < 3; i++)
		CHECK(bisect_add_pair(&s.tries.t[1], 1000 + i, UINT64_MAX - i), "memory");
	bisect_state_write(&text, &s);
	CHECK_EQ(bisect_state_parse(&back, text.s, text.len, "f", &err), 0, "%s", err.what);
	CHECK(bisect_state_same(&s, &back) && back.confidence == 99, "the question");
	CHECK(back.tries.n == 2 && back.tries.t[0].pairs == 0 && back.tries.t[1].pairs == 3,
	      "tries");
	CHECK(back.tries.t[1].pair[2].good == 1002 &&
		      back.tries.t[1].pair[2].this == UINT64_MAX - 2,
	      "a pair");
	bisect_state_free(&back);
	bisect_free(&s.tries);
	text_free(&text);
}

TEST(files_that_are_refused)
{
	static const char question[] = "folder /tmp/tare-bisect-x\ngood " HASH_A "\nbad " HASH_B
				       "\nevent e\nprefix \nfirst-parent 0\nthreshold 0\n"
				       "timeout 0\nword w\n";
	static const struct {
		int line;
		const char *head, *tail, *what;
	} rows[] = {
		{ __LINE__, "tare-bisect 1 " TARE_VERSION "\n", "end\n", NULL },
		{ __LINE__, "tare-bisect 1 " TARE_VERSION "\n", "end\ncount " HASH_A " 1\n", NULL },
		{ __LINE__, "tare-bisect 1 0.0\n", "end\n", "another version" },
		{ __LINE__, "tare-bisect 2 " TARE_VERSION "\n", "end\n", "line 1" },
		{ __LINE__, "", "end\n", "line 1" },
		{ __LINE__, "tare-bisect 1 " TARE_VERSION "\n", "", "not a bisection" },
		{ __LINE__, "tare-bisect 1 " TARE_VERSION "\n", "end", "line 11" },
		{ __LINE__, "tare-bisect 1 " TARE_VERSION "\n", "word %4\nend\n", "line 11" },
		{ __LINE__, "tare-bisect 1 " TARE_VERSION "\n", "good --all\nend\n", "line 11" },
		{ __LINE__, "tare-bisect 1 " TARE_VERSION "\n", "other 1\nend\n", "line 11" },
		{ __LINE__, "tare-bisect 1 " TARE_VERSION "\n", "end\ncount --all 1\n", "line 12" },
		{ __LINE__, "tare-bisect 1 " TARE_VERSION "\n", "end\npairs " HASH_A " 1 2\n",
		  NULL },
		{ __LINE__, "tare-bisect 1 " TARE_VERSION "\n", "end\npairs " HASH_A " 1 2 3\n",
		  "line 12" },
		{ __LINE__, "tare-bisect 1 " TARE_VERSION "\n", "end\npairs " HASH_A " 0 2\n",
		  "line 12" },
		{ __LINE__, "tare-bisect 1 " TARE_VERSION "\n", "end\npairs --all 1 2\n",
		  "line 12" },
		{ __LINE__, "tare-bisect 1 " TARE_VERSION "\n", "end\ncount " HASH_A " x\n",
		  "line 12" },
		{ __LINE__, "tare-bisect 1 " TARE_VERSION "\n",
		  "end\ncount " HASH_A " 1\ncount " HASH_A " 1\n", "has two results" },
		{ __LINE__, "tare-bisect 1 " TARE_VERSION "\n", "end\nword x\n", "line 12" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct bisect_state s;
		struct text text = { 0 };
		int ret;

		text_add(&text, "%s%s%s", rows[i].head, question, rows[i].tail);
		ret = bisect_state_parse(&s, text.s, text.len, "f", &err);
		CHECK_EQ(ret, rows[i].what ? -EINVAL : 0, "row at line %d: %s", rows[i].line,
			 err.what);
		CHECK(!rows[i].what || strstr(err.what, rows[i].what), "row at line %d: %s",
		      rows[i].line, err.what);
		bisect_state_free(&s);
		text_free(&text);
	}
}

TEST_MAIN()
