/* SPDX-License-Identifier: MIT */
#include "regions/pair_threads.h"
#include "made_timeline.h"
#include "tap.h"

static const struct made_point one[] = { { TIMELINE_BEGIN, "a", { 0 } },
					 { TIMELINE_END, "a", { 1 } } };
static const struct made_point two[] = { { TIMELINE_BEGIN, "b", { 0 } },
					 { TIMELINE_END, "b", { 5 } } };
static struct made m[2];

struct who {
	uint64_t pid, tid;
	const char *name;
	const struct made_point *points;
};

static void have(size_t run, const struct who *who, size_t n)
{
	made_init(&m[run], "x", 1);
	for (size_t i = 0; i < n; i++) {
		made_add(&m[run], who[i].tid, who[i].points, 2);
		m[run].thread[i].pid = who[i].pid;
		m[run].thread[i].name = who[i].name;
	}
}
#define HAVE(run, ...)                                                                             \
	have(run, (const struct who[]){ __VA_ARGS__ },                                             \
	     sizeof((const struct who[]){ __VA_ARGS__ }) / sizeof(struct who))

/* Two runs; the pairs as "0-1 1-0". */
static const char *pairs(enum thread_pairing how)
{
	struct timeline *t[] = { &m[0].base, &m[1].base };
	struct tare_error err = TARE_ERROR_INIT;
	static char out[200];
	struct thread_pairs p;
	size_t n = 0;

	CHECK_EQ(pair_threads(&p, t, 2, &err), 0, "%s", err.what);
	CHECK_EQ(p.how, how, "%s", thread_pairing_words(p.how));
	out[0] = 0;
	for (size_t i = 0; i < p.n; i++)
		for (size_t r = 0; r < 2; r++) {
			size_t k = p.thread[2 * i + r];

			n += (size_t)snprintf(out + n, sizeof(out) - n, "%s%c",
					      r           ? "-"
						      : i ? " "
							  : "",
					      k == SIZE_MAX ? 'x' : (char)('0' + k));
		}
	thread_pairs_free(&p);
	return out;
}

TEST(in_the_order_of_creation_whatever_the_file_has)
{
	HAVE(0, { 10, 12, "w", two }, { 10, 11, "w", one }, { 10, 13, "w", one });
	HAVE(1, { 20, 21, "w", one }, { 20, 23, "w", one }, { 20, 22, "w", two });
	CHECK_STR(pairs(PAIRED_BY_NAME), "1-0 0-2 2-1", "11-21, 12-22, 13-23");
}

TEST(numbers_that_went_round_came_later)
{
	HAVE(0, { 32766, 301, "w", two }, { 32766, 32766, "w", one }, { 32766, 32767, "w", one });
	HAVE(1, { 20, 20, "w", one }, { 20, 21, "w", one }, { 20, 22, "w", two });
	CHECK_STR(pairs(PAIRED_BY_NAME), "1-0 2-1 0-2", "301 is the last");
}

TEST(processes_first)
{
	HAVE(0, { 12, 12, "w", two }, { 10, 10, "w", one }, { 10, 13, "w", one });
	HAVE(1, { 20, 20, "w", one }, { 20, 21, "w", one }, { 22, 22, "w", two });
	CHECK_STR(pairs(PAIRED_BY_NAME), "1-0 2-1 0-2", "13 is of the first process");
}

TEST(names_are_stronger_than_order_where_they_are_the_same)
{
	HAVE(0, { 1, 11, "x", one }, { 1, 12, "y", two });
	HAVE(1, { 1, 21, "y", two }, { 1, 22, "x", one });
	CHECK_STR(pairs(PAIRED_BY_NAME), "0-1 1-0", "by name");
	HAVE(1, { 1, 22, "w 22", two }, { 1, 21, "w 21", one });
	CHECK_STR(pairs(PAIRED_BY_ORDER), "0-1 1-0", "different names in each run");
}

TEST(the_same_numbers)
{
	HAVE(0, { 9, 0, "", one }, { 9, 1, "", two }, { 9, 2, "", one });
	HAVE(1, { 9, 2, "", one }, { 9, 0, "", one });
	CHECK_STR(pairs(PAIRED_BY_NUMBER), "0-1 1-x 2-0", "1 is missing");
}

TEST(not_as_many)
{
	HAVE(0, { 1, 11, "w", one }, { 1, 12, "w", two }, { 1, 13, "w", two });
	HAVE(1, { 1, 22, "w", two }, { 1, 23, "w", two });
	CHECK_STR(pairs(PAIRED_BY_LABEL), "0-x 1-0 2-1", "by their first labels");
	HAVE(1, { 1, 22, "v", one });
	CHECK_STR(pairs(PAIRED_BY_LABEL), "0-x 1-x 2-x x-0", "a name missing in the other run");
	made_init(&m[1], "x", 1);
	CHECK_STR(pairs(PAIRED_BY_LABEL), "0-x 1-x 2-x", "no thread at all");
}

TEST_MAIN()
