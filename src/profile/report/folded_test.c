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

static void count(struct stacks *s, const char *stack, const char *comm, uint32_t column,
		  uint64_t amount)
{
	uint32_t node = 0, task = stacks_add_task(s, 1, amount & 1, stacks_add_name(s, comm));
	char *words = strdup(stack), *save = NULL;

	for (char *w = strtok_r(words, "/", &save); w; w = strtok_r(NULL, "/", &save)) {
		struct stacks_frame f = { .function = stacks_add_name(s, w) };

		node = stacks_add_node(s, node, stacks_add_frame(s, &f));
	}
	free(words);

	struct stacks_row row = { node, task, column, 0, 1, amount };

	stacks_count(s, &row, 0, NULL);
}

static const char *folded(const struct stacks *s, const struct folded_options *o)
{
	struct text out = { 0 };

	shown[0] = '\0';
	CHECK_EQ(folded_write(&out, s, o, keep, NULL, NULL), 0, "write");
	text_free(&out);
	return shown;
}

TEST(one_profile)
{
	struct stacks *s = stacks_new(NULL);
	struct folded_options o = { .with_comm = true };

	stacks_add_column(s, "cycles", "");
	stacks_add_column(s, "instructions", "");
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
	o.ratio = &(struct ratio){ 0 };
	CHECK_EQ(ratio_parse(o.ratio, "instructions / cycles", s, NULL), 0, "a ratio");
	CHECK_STR(folded(s, &o), "main;a:?? 5 0\nmain;b 21 2\n", "after the count");
	ratio_free(o.ratio);
	stacks_free(s);
}

TEST(before_and_after)
{
	struct stacks *a = stacks_new(NULL), *b = stacks_new(NULL);
	struct folded_options o = { .before = a, .before_column = 1 };

	stacks_add_column(a, "other", "");
	stacks_add_column(a, "cycles", "");
	stacks_add_column(b, "cycles", "");
	count(a, "main/gone", "x", 1, 10);
	count(a, "main/both", "x", 1, 30);
	count(a, "main/both", "x", 0, 999);
	count(b, "main/both", "x", 0, 60);
	count(b, "main/new", "x", 0, 20);
	CHECK_STR(folded(b, &o), "main;both 30 60\nmain;gone 10 0\nmain;new 0 20\n", "two counts");
	o.normalise = true;
	CHECK_STR(folded(b, &o), "main;both 60 60\nmain;gone 20 0\nmain;new 0 20\n",
		  "of the same sum");
	stacks_free(a);
	stacks_free(b);
}

TEST_MAIN()
