/* SPDX-License-Identifier: MIT */
/* Folded stacks of one profile, of a ratio, of two profiles. */
#include "tap.h"
#include "profile/report/folded.h"

static char shown[4096];

static int keep(void *arg, struct text *out, struct tare_error *err)
{
	(void)arg, (void)err;
	snprintf(shown, sizeof(shown), "%s", out->s ? out->s : "");
	return 0;
}

static void count(struct call_tree *s, const char *stack, const char *comm, uint32_t column,
		  uint64_t amount)
{
	uint32_t node = 0, task = call_tree_add_task(s, 1, amount & 1, call_tree_add_name(s, comm));
	char *words = strdup(stack), *save = NULL;

	for (char *w = strtok_r(words, "/", &save); w; w = strtok_r(NULL, "/", &save)) {
		struct call_tree_frame f = { .function = call_tree_add_name(s, w) };

		node = call_tree_add_node(s, node, call_tree_add_frame(s, &f));
	}
	free(words);

	struct call_tree_row row = { node, task, column, 0, 1, amount };

	call_tree_count(s, &row, 0, NULL);
}

static const char *folded(const struct call_tree *s, const struct folded_options *o)
{
	struct text out = { 0 };

	shown[0] = '\0';
	CHECK_EQ(folded_write(&out, s, o, keep, NULL, NULL), 0, "write");
	text_free(&out);
	return shown;
}

TEST(one_profile)
{
	struct call_tree *s = call_tree_new(NULL);
	struct folded_options o = { .with_comm = true };

	call_tree_add_column(s, "cycles", "");
	call_tree_add_column(s, "instructions", "");
	CHECK_STR(folded(s, &o), "", "nothing");
	count(s, "main/b", "x", 0, 10);
	count(s, "main/a;\x1b\n", "x", 0, 5);
	count(s, "main/b", "x", 0, 11); /* another thread of the same name */
	count(s, "main", "x", 1, 100);
	count(s, "main/b", "x", 1, 42);
	CHECK_STR(folded(s, &o), "x;main;a:?? 5\nx;main;b 21\n", "sorted, merged, made safe");
	o.with_comm = false;
	o.column = 1;
	CHECK_STR(folded(s, &o), "main 100\nmain;b 42\n", "the other column");
	o.column = 0;
	o.ratio = &(struct derived_column){ 0 };
	CHECK_EQ(derived_parse(o.ratio, "instructions / cycles", s, NULL), 0, "a ratio");
	CHECK_STR(folded(s, &o), "main;a:?? 5 0\nmain;b 21 2\n", "after the count");
	derived_free(o.ratio);
	call_tree_free(s);
}

TEST(before_and_after)
{
	struct call_tree *a = call_tree_new(NULL), *b = call_tree_new(NULL);
	struct folded_options o = { .before = a, .before_column = 1 };

	call_tree_add_column(a, "other", "");
	call_tree_add_column(a, "cycles", "");
	call_tree_add_column(b, "cycles", "");
	count(a, "main/gone", "x", 1, 10);
	count(a, "main/both", "x", 1, 30);
	count(a, "main/both", "x", 0, 999);
	count(b, "main/both", "x", 0, 60);
	count(b, "main/new", "x", 0, 20);
	CHECK_STR(folded(b, &o), "main;both 30 60\nmain;gone 10 0\nmain;new 0 20\n", "two counts");
	o.normalise = true;
	CHECK_STR(folded(b, &o), "main;both 60 60\nmain;gone 20 0\nmain;new 0 20\n",
		  "of the same sum");
	call_tree_free(a);
	call_tree_free(b);
}

TEST_MAIN()
