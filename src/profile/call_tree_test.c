/* SPDX-License-Identifier: MIT */
/* A small tree of stacks, added up. */
#include "profile/call_tree.h"
#include "tap.h"

static uint32_t frame(struct call_tree *s, const char *function)
{
	struct call_tree_frame f = { .function = call_tree_add_name(s, function),
				     .module = call_tree_add_name(s, "prog") };

	return call_tree_add_frame(s, &f);
}

static void count(struct call_tree *s, uint32_t node, uint32_t task, uint32_t column,
		  uint64_t amount)
{
	struct call_tree_row row = { node, task, column, 0, 1, amount };

	CHECK_EQ(call_tree_count(s, &row, (double)amount * (double)amount, NULL), 0, "count");
}

TEST(a_tree_adds_up)
{
	struct call_tree *s = call_tree_new(NULL);
	uint32_t cycles = call_tree_add_column(s, "cycles", ""),
		 misses = call_tree_add_column(s, "misses", "");
	uint32_t one = call_tree_add_task(s, 10, 10, call_tree_add_name(s, "a")),
		 two = call_tree_add_task(s, 10, 11, call_tree_add_name(s, "b"));
	uint32_t f_main = frame(s, "main"), f_leaf = frame(s, "leaf");
	uint32_t n_main = call_tree_add_node(s, 0, f_main),
		 n_leaf = call_tree_add_node(s, n_main, f_leaf),
		 n_rec = call_tree_add_node(s, n_leaf, f_leaf);
	uint64_t self[4], total[4];
	size_t n;

	CHECK_EQ(frame(s, "leaf"), f_leaf, "a frame is kept once");
	CHECK_EQ(call_tree_add_node(s, n_main, f_leaf), n_leaf, "a node is kept once");
	CHECK_EQ(call_tree_add_task(s, 10, 10, call_tree_add_name(s, "a")), one,
		 "a task is kept once");
	count(s, n_leaf, one, cycles, 100);
	count(s, n_leaf, one, cycles, 50);
	count(s, n_rec, two, cycles, 7);
	count(s, n_main, one, cycles, 1);
	count(s, n_main, one, misses, 3);
	call_tree_nodes(s, &n);
	CHECK_EQ(n, (size_t)4, "nodes");
	call_tree_sums(s, cycles, SET_NONE, self, total);
	CHECK_EQ(self[n_main], 1u, "self");
	CHECK_EQ(self[n_leaf], 150u, "self");
	CHECK_EQ(total[n_leaf], 157u, "with what it called");
	CHECK_EQ(total[n_main], 158u, "with what it called");
	CHECK_EQ(total[0], 158u, "all");
	CHECK_EQ(self[0], 0u, "the root has none of its own");
	call_tree_sums(s, cycles, two, NULL, total);
	CHECK_EQ(total[n_main], 7u, "of one thread");
	call_tree_sums(s, misses, SET_NONE, self, NULL);
	CHECK_EQ(self[n_main], 3u, "of the other column");
	CHECK_EQ(s->column[cycles].samples, 4u, "samples");
	CHECK_EQ(s->column[cycles].amount, 158u, "amount");
	CHECK(s->column[cycles].squares == 100 * 100 + 50 * 50 + 7 * 7 + 1, "squares");
	call_tree_rows(s, &n);
	CHECK_EQ(n, (size_t)4, "one row for the two samples at one place");
	call_tree_free(s);
}

TEST(builds_of_modules)
{
	struct call_tree *s = call_tree_new(NULL);
	uint32_t a = call_tree_add_name(s, "/bin/a"), b = call_tree_add_name(s, "/bin/b"),
		 c = call_tree_add_name(s, "/bin/c");

	call_tree_add_module(s, a, "0123");
	call_tree_add_module(s, a, "0123");
	call_tree_add_module(s, b, "0123");
	call_tree_add_module(s, b, "4567");
	call_tree_add_module(s, b, "4567");
	call_tree_add_module(s, c, "");
	call_tree_add_module(s, c, "89ab");
	CHECK_STR(call_tree_build_id(s, a), "0123", "the only one");
	CHECK_STR(call_tree_build_id(s, b), "", "two builds under one name");
	CHECK_STR(call_tree_build_id(s, c), "", "one is not known");
	CHECK_STR(call_tree_build_id(s, call_tree_add_name(s, "/bin/d")), "",
		  "one that is not there");
	call_tree_place_module(s, 0, 0x1000, 0x200, 0x1000, 0);
	call_tree_place_module(s, 0, 0x1000, 0x200, 0x1000, 0);
	call_tree_place_module(s, 1, 0x1000, 0x200, 0x1000, 0);
	call_tree_place_module(s, 1, 0x2000, 0x200, 0x1000, 0);
	CHECK_EQ(call_tree_module(s, a)->address, 0x1000, "one build");
	CHECK_EQ(call_tree_module(s, b)->size, 0, "two builds have no common place");
	CHECK(!call_tree_module(s, call_tree_add_name(s, "/bin/d")), "one that is not there");
	call_tree_free(s);
}

TEST_MAIN()
