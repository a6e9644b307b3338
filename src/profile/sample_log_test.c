/* SPDX-License-Identifier: MIT */
/* Samples in any order of time and task all come back sorted, from memory and from the file. */
#include <string.h>
#include "profile/sample_log.h"
#include "tap.h"

enum { TASKS = 7 };

struct check {
	uint64_t seen, in_order;
	struct logged_sample last;
	uint64_t stop_at;
};

static int take_sample(void *with, const struct logged_sample *m)
{
	struct check *c = with;
	const struct logged_sample *l = &c->last;

	if (!c->seen || m->task > l->task ||
	    (m->task == l->task &&
	     (m->time_ns > l->time_ns || (m->time_ns == l->time_ns && m->amount > l->amount))))
		c->in_order++;
	c->last = *m;
	c->seen++;
	return c->seen == c->stop_at ? -77 : 0;
}

/* `amount` is the index at which it was added. */
static void fill(struct sample_log *m, size_t run, uint64_t n)
{
	uint32_t dice = 1;

	*m = (struct sample_log){ .run = run };
	for (uint64_t i = 0; i < n; i++) {
		dice = dice * 1664525 + 1013904223;
		CHECK_EQ(sample_log_add(m,
					&(struct logged_sample){ dice >> 24, i, dice >> 8 & 15,
								 (dice >> 16) % TASKS, 0, 0 },
					NULL),
			 0);
	}
}

TEST(sorted_by_task_and_time)
{
	static const uint64_t counts[] = { 0, 1, 99, 100, 101, 200, 12345 };
	static const uint32_t nodes[16] = { 3 }, tasks[TASKS] = { 6, 5, 4, 3, 2, 1, 0 },
			      columns[] = { 5 };
	struct sample_log m;

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		for (size_t run = 1; run <= 10000; run *= 100) {
			struct check c = { 0 };

			if (counts[i] / run > 1000)
				continue;
			fill(&m, run, counts[i]);
			CHECK_EQ(m.n, counts[i]);
			CHECK(m.room <= run, "the amount");
			CHECK_EQ(sample_log_each(&m, take_sample, &c, NULL), 0);
			CHECK(c.seen == counts[i] && c.in_order == counts[i],
			      "%llu in runs of %zu: %llu, %llu in order",
			      (unsigned long long)counts[i], run, (unsigned long long)c.seen,
			      (unsigned long long)c.in_order);
			CHECK_EQ(sample_log_renumber(&m, nodes, tasks, columns, NULL), 0);
			c = (struct check){ 0 };
			CHECK_EQ(sample_log_each(&m, take_sample, &c, NULL), 0);
			CHECK(c.seen == counts[i], "after new numbers");
			CHECK(c.in_order == counts[i], "by the new ones");
			CHECK(!counts[i] || c.last.node == 0 || c.last.node == 3);
			CHECK(!counts[i] || c.last.column == 5);
			sample_log_free(&m);
		}
}

TEST(whoever_takes_them_may_stop)
{
	struct sample_log m;
	struct check c = { .stop_at = 150 };

	fill(&m, 100, 1000);
	CHECK_EQ(sample_log_each(&m, take_sample, &c, NULL), -77);
	CHECK_EQ(c.seen, 150);
	sample_log_free(&m);
	sample_log_free(&m);
}

TEST_MAIN()
