/* SPDX-License-Identifier: MIT */
/* A small tree of stacks, added up. */
#include "profile/stacks.h"
#include "tap.h"

static uint32_t frame(struct stacks *s, const char *function)
{
	struct stacks_frame f = { .function = stacks_add_name(s, function),
				  .module = stacks_add_name(s, "prog") };

	return stacks_add_frame(s, &f);
}

static void count(struct stacks *s, uint32_t node, uint32_t task, uint32_t column, uint64_t amount)
{
	struct stacks_row row = { node, task, column, 0, 1, amount };

	CHECK_EQ(stacks_count(s, &row, (double)amount * (double)amount, NULL), 0, "count");
}

TEST(a_tree_adds_up)
{
	struct stacks *s = stacks_new(NULL);
	uint32_t cycles = stacks_add_column(s, "cycles", ""),
		 misses = stacks_add_column(s, "misses", "");
	uint32_t one = stacks_add_task(s, 10, 10, stacks_add_name(s, "a")),
		 two = stacks_add_task(s, 10, 11, stacks_add_name(s, "b"));
	uint32_t f_main = frame(s, "main"), f_leaf = frame(s, "leaf");
	uint32_t n_main = stacks_add_node(s, 0, f_main),
		 n_leaf = stacks_add_node(s, n_main, f_leaf),
		 n_rec = stacks_add_node(s, n_leaf, f_leaf);
	uint64_t self[4], total[4];
	size_t n;

	CHECK_EQ(frame(s, "leaf"), f_leaf, "a frame is kept once");
	CHECK_EQ(stacks_add_node(s, n_main, f_leaf), n_leaf, "a node is kept once");
	CHECK_EQ(stacks_add_task(s, 10, 10, stacks_add_name(s, "a")), one, "a task is kept once");
	count(s, n_leaf, one, cycles, 100);
	count(s, n_leaf, one, cycles, 50);
	count(s, n_rec, two, cycles, 7);
	count(s, n_main, one, cycles, 1);
	count(s, n_main, one, misses, 3);
	stacks_nodes(s, &n);
	CHECK_EQ(n, (size_t)4, "nodes");
	stacks_sums(s, cycles, SET_NONE, self, total);
	CHECK_EQ(self[n_main], 1u, "self");
	CHECK_EQ(self[n_leaf], 150u, "self");
	CHECK_EQ(total[n_leaf], 157u, "with what it called");
	CHECK_EQ(total[n_main], 158u, "with what it called");
	CHECK_EQ(total[0], 158u, "all");
	CHECK_EQ(self[0], 0u, "the root has none of its own");
	stacks_sums(s, cycles, two, NULL, total);
	CHECK_EQ(total[n_main], 7u, "of one thread");
	stacks_sums(s, misses, SET_NONE, self, NULL);
	CHECK_EQ(self[n_main], 3u, "of the other column");
	CHECK_EQ(s->column[cycles].samples, 4u, "samples");
	CHECK_EQ(s->column[cycles].amount, 158u, "amount");
	CHECK(s->column[cycles].squares == 100 * 100 + 50 * 50 + 7 * 7 + 1, "squares");
	stacks_rows(s, &n);
	CHECK_EQ(n, (size_t)4, "one row for the two samples at one place");
	stacks_free(s);
}

TEST(builds_of_modules)
{
	struct stacks *s = stacks_new(NULL);
	uint32_t a = stacks_add_name(s, "/bin/a"), b = stacks_add_name(s, "/bin/b"),
		 c = stacks_add_name(s, "/bin/c");

	stacks_add_module(s, a, "0123");
	stacks_add_module(s, a, "0123");
	stacks_add_module(s, b, "0123");
	stacks_add_module(s, b, "4567");
	stacks_add_module(s, b, "4567");
	stacks_add_module(s, c, "");
	stacks_add_module(s, c, "89ab");
	CHECK_STR(stacks_build_id(s, a), "0123", "the only one");
	CHECK_STR(stacks_build_id(s, b), "", "two builds under one name");
	CHECK_STR(stacks_build_id(s, c), "", "one is not known");
	CHECK_STR(stacks_build_id(s, stacks_add_name(s, "/bin/d")), "", "one that is not there");
	stacks_place_module(s, 0, 0x1000, 0x200, 0x1000, 0);
	stacks_place_module(s, 0, 0x1000, 0x200, 0x1000, 0);
	stacks_place_module(s, 1, 0x1000, 0x200, 0x1000, 0);
	stacks_place_module(s, 1, 0x2000, 0x200, 0x1000, 0);
	CHECK_EQ(stacks_module(s, a)->address, 0x1000, "one build");
	CHECK_EQ(stacks_module(s, b)->size, 0, "two builds have no common place");
	CHECK(!stacks_module(s, stacks_add_name(s, "/bin/d")), "one that is not there");
	stacks_free(s);
}

TEST_MAIN()
