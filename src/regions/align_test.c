/* SPDX-License-Identifier: MIT */
/*
 * Runs that differ: the common points found are compared with the longest common subsequence, for
 * any order of the runs.
 */
#include "regions/align.h"
#include "tap.h"

enum { LABELS = 4000, MOST_RUNS = 4, LONGEST = 700000 };

struct made_run {
	struct align_source base;
	uint32_t *label;
	size_t n, at;
};

static struct made_run made[MOST_RUNS];
static uint64_t keys[LABELS + 1];
static uint64_t state = 88172645463325252ull;

static uint64_t any(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

static int read_labels(struct align_source *s, size_t most, struct align_point *p, uint64_t *value,
		       struct tare_error *err)
{
	struct made_run *r = (struct made_run *)s;
	size_t n = 0;

	(void)err;
	for (; n < most && r->at < r->n; n++, r->at++) {
		p[n] = (struct align_point){ .kind = TIMELINE_INSTANT,
					     .label = r->label[r->at],
					     .around = LABELS_NONE };
		value[n] = r->at;
	}
	return (int)n;
}

static void start(size_t runs)
{
	for (size_t r = 0; r < runs; r++) {
		free(made[r].label);
		made[r] = (struct made_run){
			{ read_labels }, malloc(LONGEST * sizeof(uint32_t)), 0, 0
		};
	}
	for (uint32_t i = 0; i <= LABELS; i++)
		keys[i] = (i + 1) * 0x9e3779b97f4a7c15ull;
}

static void put_point(size_t run, uint32_t label)
{
	made[run].label[made[run].n++] = label;
}

static bool steady_is_known;

static int find_steady(void *with, bool *steady, struct tare_error *err)
{
	static size_t n[MOST_RUNS][LABELS];
	size_t runs = *(size_t *)with;

	(void)err;
	memset(n, 0, sizeof(n));
	for (size_t r = 0; steady_is_known && r < runs; r++)
		for (size_t i = 0; i < made[r].n; i++)
			n[r][made[r].label[i]]++;
	for (size_t r = 1; r < runs; r++)
		for (size_t i = 0; i < LABELS; i++)
			steady[i] &= n[r][i] == n[0][i];
	return 0;
}

struct found {
	size_t steps, differences, lost;
	uint64_t sum; /* checksum of the matched points, by run and not by place in `order` */
};

static struct found look(size_t runs, const size_t *order)
{
	struct align_source *source[MOST_RUNS];
	struct tare_error err = TARE_ERROR_INIT;
	struct found f = { 0 };
	const struct align_labels labels = { keys, LABELS, find_steady, &runs };
	struct align a;
	int what;

	for (size_t i = 0; i < runs; i++) {
		source[i] = &made[order[i]].base;
		made[order[i]].at = 0;
	}
	if (align_open(&a, source, runs, 1, &labels, &err) < 0)
		abort();
	while ((what = align_next(&a, &err)) > ALIGN_END) {
		f.differences += what != ALIGN_STEP;
		f.lost += what == ALIGN_LOST;
		for (size_t k = 0; what == ALIGN_STEP && k < a.n_shown; k++) {
			uint64_t here = 0;

			f.steps++;
			for (size_t i = 0; i < runs; i++) {
				uint64_t place = align_values(&a, i)[k];

				CHECK_EQ(align_points(&a, i)[k].label, align_points(&a, 0)[k].label,
					 "the same in all");
				CHECK_EQ(place, a.run[i].index + k, "its place");
				here += (place + 1) * (2654435761u + 97 * order[i]);
			}
			f.sum = f.sum * 31 + here;
		}
	}
	CHECK_EQ(what, ALIGN_END, "%s", err.what);
	align_close(&a);
	return f;
}

static size_t longest(void)
{
	static size_t row[256];

	memset(row, 0, sizeof(row));
	for (size_t i = 0; i < made[0].n; i++)
		for (size_t j = 0, diagonal = 0; j < made[1].n; j++) {
			size_t above = row[j + 1];

			row[j + 1] = made[0].label[i] == made[1].label[j] ? diagonal + 1
				: above > row[j]                          ? above
									  : row[j];
			diagonal = above;
		}
	return row[made[1].n];
}

static const size_t forth[] = { 0, 1, 2, 3 };

TEST(two_runs_have_the_longest_in_common)
{
	static const size_t back[] = { 1, 0 };

	for (int round = 0, rounds = (int)tap_cases(500); round < rounds; round++) {
		struct found f, g;
		uint64_t kinds = 2 + any(6);

		start(2);
		for (size_t r = 0; r < 2; r++)
			for (uint64_t n = any(50); n--;)
				put_point(r, (uint32_t)any(kinds));
		f = look(2, forth);
		g = look(2, back);
		CHECK_EQ(f.steps, longest(), "round %d", round);
		CHECK_EQ(f.sum, g.sum, "round %d: by the order", round);
	}
}

/*
 * Points inserted and removed at random, also in long runs. The order of the runs does not matter.
 */
TEST(the_order_of_runs_changes_nothing)
{
	for (int round = 0, rounds = (int)tap_cases(150); round < rounds; round++) {
		size_t runs = 2 + any(3), common = 0;
		uint64_t length = 20 + any(round % 25 ? 300 : 9000), kinds = 3 + any(20),
			 percent = any(20);
		struct found f[MOST_RUNS];

		start(runs);
		for (uint64_t i = 0; i < length; i++) {
			bool in_all = true;

			for (size_t r = 0; r < runs; r++) {
				bool here = any(100) >= percent;

				in_all &= here;
				if (here)
					put_point(r, (uint32_t)(i % kinds));
				if (any(100) < percent)
					put_point(r, 100 + (uint32_t)any(3));
			}
			common += in_all;
		}
		for (size_t k = 0; k < runs; k++) {
			size_t order[MOST_RUNS];

			for (size_t i = 0; i < runs; i++)
				order[i] = k % 2 ? (k + runs - i) % runs : (i + k) % runs;
			f[k] = look(runs, order);
			CHECK_EQ(f[k].steps, f[0].steps, "round %d", round);
			CHECK_EQ(f[k].sum, f[0].sum, "round %d: which", round);
		}
		/*
		 * With two runs, all common points are found, except a few at the end of each
		 * window.
		 */
		if (runs == 2 && length < 60)
			CHECK(f[0].steps >= common, "round %d: %zu, not %zu", round, f[0].steps,
			      common);
		CHECK(10 * f[0].steps >= 8 * common, "round %d: %zu of %zu", round, f[0].steps,
		      common);
	}
}

/* Additional points of one run, however many, do not affect the other points. */
TEST(far_apart)
{
	unsigned lengths = 0;

	for (size_t extra = 100000; extra; extra /= 3) {
		struct found f;

		if (!tap_tried(lengths++))
			continue;
		start(3);
		for (size_t r = 0; r < 3; r++) {
			for (uint32_t i = 0; i < 1000; i++)
				put_point(r, i % 2);
			for (uint32_t i = 0; r == 1 && i < extra; i++)
				put_point(r, 2 + i % 2);
			for (uint32_t i = 0; i < 5000; i++)
				put_point(r, 4 + i % 4);
		}
		f = look(3, forth);
		CHECK_EQ(f.steps, 6000, "%zu more", extra);
		CHECK_EQ(f.differences, 1, "%zu more", extra);
	}
}

/* A difference larger than the window is reported, and the comparison continues after it. */
TEST(too_far_apart)
{
	struct found f;

	start(2);
	for (size_t r = 0; r < 2; r++) {
		for (uint32_t i = 0; i < 300000; i++)
			put_point(r, (uint32_t)(100 * r + 100 + i % 7));
		for (uint32_t i = 0; i < 1000; i++)
			put_point(r, 4);
	}
	f = look(2, forth);
	CHECK_EQ(f.lost, 1, "the first window");
	CHECK_EQ(f.steps, 1000, "what both do then");
}

/*
 * Rounds of two points, equal in all runs, and a third point at random: matching more third points
 * would shift the rounds.
 */
TEST(what_is_as_often_in_all_is_not_shifted)
{
	steady_is_known = true;
	for (uint64_t percent = 5; percent < 100; percent += 15) {
		struct found f;
		size_t both = 0;

		start(2);
		for (uint32_t i = 0; i < 3000; i++) {
			size_t extra = 0;

			for (size_t r = 0; r < 2; r++) {
				put_point(r, 1);
				for (size_t k = any(100) < percent; k--; extra++)
					put_point(r, 3);
				put_point(r, 2);
			}
			both += extra == 2;
		}
		if (made[0].n == made[1].n)
			put_point(0, 3);
		f = look(2, forth);
		CHECK_EQ(f.steps, 6000 + both, "%d %%: rounds are not shifted", (int)percent);
	}
}

TEST_MAIN()
