/* SPDX-License-Identifier: MIT */
/* Tables, neighbours, ratios and margins of a handmade profile. */
#include <math.h>
#include "profile/report/derived_column.h"
#include "profile/report/report.h"
#include "base/text.h"
#include "tap.h"

static struct call_tree *s;
static uint32_t one, two; /* tasks */

static uint32_t frame(const char *function, const char *module, uint32_t flags)
{
	struct call_tree_frame f = { .function = call_tree_add_name(s, function),
				     .module = call_tree_add_name(s, module),
				     .file = call_tree_add_name(s, function),
				     .line = 7,
				     .address = 0x10 + (uint64_t)function[0],
				     .flags = flags };

	return call_tree_add_frame(s, &f);
}

/* "main;f;g" by first letters, outermost first; 'k' is kernel code. */
static void count(const char *stack, uint32_t task, uint32_t column, uint64_t amount)
{
	uint32_t node = 0;

	for (const char *c = stack; *c; c++) {
		char name[2] = { *c, 0 };

		node = call_tree_add_node(s, node,
					  frame(name, *c == 'k' ? "kernel" : "prog",
						*c == 'k' ? CALL_TREE_KERNEL : 0));
	}

	struct call_tree_row row = { node, task, column, 0, 1, amount };

	call_tree_count(s, &row, (double)amount * (double)amount, NULL);
}

static void make(void)
{
	call_tree_free(s);
	s = call_tree_new(NULL);
	call_tree_add_column(s, "cycles:u", "");
	call_tree_add_column(s, "instructions:u", "");
	one = call_tree_add_task(s, 10, 10, call_tree_add_name(s, "a"));
	two = call_tree_add_task(s, 10, 11, call_tree_add_name(s, "b"));
	count("mfg", one, 0, 50);
	count("mf", one, 0, 20);
	count("mffk", two, 0, 10);
	count("m", one, 0, 20);
	count("mf", one, 1, 80);
}

/* Rows as "key self/total(samples)" of the first column. */
static const char *table(const struct report_options *o)
{
	static char out[1024];
	struct text t = { 0 };
	struct report r;

	CHECK_EQ(report_make(&r, s, o, NULL), 0, "make");
	for (size_t i = 0; i < r.n; i++) {
		const struct report_what *w = &r.row[i].what;

		text_add(&t, "%s%s%s%s %llu/%llu(%llu)", i ? "; " : "", call_tree_name(s, w->comm),
			 call_tree_name(s, w->module), call_tree_name(s, w->function),
			 (unsigned long long)r.row[i].self[0],
			 (unsigned long long)r.row[i].total[0],
			 (unsigned long long)r.row[i].samples[0]);
		if (w->tid)
			text_add(&t, " %u/%u", w->pid, w->tid);
		if (w->address)
			text_add(&t, " @%llx", (unsigned long long)w->address);
		if (w->file)
			text_add(&t, " %s:%u", call_tree_name(s, w->file), w->line);
	}
	if (r.hidden)
		text_add(&t, "; %zu hidden", r.hidden);
	snprintf(out, sizeof(out), "%s", t.s ? t.s : "");
	text_free(&t);
	report_free(&r);
	return out;
}

TEST(rows_by_what_is_alike)
{
	struct report_options o = { .keys = REPORT_FUNCTION };

	make();
	CHECK_STR(
		table(&o), "g 50/50(1); m 20/100(1); f 20/80(1); k 10/10(1)",
		"by function; of equal ones the one with more below; one that calls itself counts once");
	o.by_total = true;
	CHECK_STR(table(&o), "m 20/100(1); f 20/80(1); g 50/50(1); k 10/10(1)", "by total");
	o = (struct report_options){ .keys = REPORT_COMM };
	CHECK_STR(table(&o), "a 90/90(3); b 10/10(1)", "by command");
	o.keys = REPORT_TID;
	CHECK_STR(table(&o), " 90/90(3) 10/10;  10/10(1) 10/11", "by thread");
	o.keys = REPORT_MODULE;
	CHECK_STR(table(&o), "prog 90/100(3); kernel 10/10(1)", "by module");
	o.keys = REPORT_COMM | REPORT_FUNCTION;
	CHECK_STR(table(&o),
		  "ag 50/50(1); am 20/90(1); af 20/70(1); bk 10/10(1); bf 0/10(0); bm 0/10(0)",
		  "by both");
	o.keys = REPORT_LINE;
	CHECK_STR(table(&o), " 50/50(1) g:7;  20/100(1) m:7;  20/80(1) f:7;  10/10(1) k:7",
		  "by line");
	o.keys = REPORT_ADDRESS;
	CHECK_STR(table(&o),
		  "prog 50/50(1) @77; prog 20/100(1) @7d; prog 20/80(1) @76; kernel 10/10(1) @7b",
		  "by address, which is of a module");
}

TEST(another_column_sorts)
{
	struct report_options o = { .keys = REPORT_FUNCTION, .column = 1 };

	make();
	CHECK_STR(table(&o), "f 20/80(1); m 20/100(1); g 50/50(1); k 10/10(1)", "by instructions");
}

TEST(patterns_hide_rows)
{
	struct report_options o = { .keys = REPORT_FUNCTION | REPORT_MODULE, .module = "k*" };

	make();
	CHECK_STR(table(&o), "kernelk 10/10(1); 3 hidden", "by module");
	o = (struct report_options){ .keys = REPORT_FUNCTION, .function = "[fg]" };
	CHECK_STR(table(&o), "g 50/50(1); f 20/80(1); 2 hidden", "by function");
	CHECK(report_matches("operator[]", "operator[]"),
	      "a name matches itself, whatever is in it");
	CHECK(!report_matches("x", "y") && report_matches(NULL, "y"), "no pattern matches all");
	CHECK(report_matches_function("T::add", "T::add(int)") &&
		      report_matches_function("T::add(int)", "T::add(int)") &&
		      report_matches_function(NULL, "f"),
	      "a function without its parameters");
	CHECK(!report_matches_function("T::add", "T::added(int)") &&
		      !report_matches_function("T::ad", "T::add(int)") &&
		      !report_matches("T::add", "T::add(int)"),
	      "nothing else");
}

TEST(neighbours)
{
	struct report_relatives r;
	struct tare_error err = TARE_ERROR_INIT;

	make();
	CHECK_EQ(report_relatives(&r, s, "f", 0, NULL), 0, "of f");
	CHECK_EQ(r.self, 20u, "in itself");
	CHECK_EQ(r.total, 80u, "and below");
	CHECK_EQ(r.samples, 3u, "samples");
	CHECK_EQ(r.callers, (size_t)2, "callers");
	CHECK_STR(call_tree_name(s, r.caller[0].function), "m", "its caller");
	CHECK_EQ(r.caller[0].amount, 80u, "of all of it");
	CHECK_STR(call_tree_name(s, r.caller[1].function), "f", "itself");
	CHECK_EQ(r.caller[1].amount, 10u, "once");
	CHECK_EQ(r.callees, (size_t)3, "callees");
	CHECK_STR(call_tree_name(s, r.callee[0].function), "g", "the largest");
	report_relatives_free(&r);
	CHECK_EQ(report_relatives(&r, s, "m", 0, NULL), 0, "of the outermost");
	CHECK_EQ(r.callers, (size_t)1, "one");
	CHECK_EQ(r.caller[0].function, 0u, "which is none");
	report_relatives_free(&r);
	CHECK_EQ(report_relatives(&r, s, "zzz", 0, &err), -ENOENT, "of nothing");
	CHECK(strstr(err.what, "zzz"), "named");
}

TEST(margins)
{
	struct call_tree_column c = { .samples = 100, .amount = 100, .squares = 100 };
	double alike = report_margin(&c, 0.5);

	c.lost = 0.25;
	CHECK(fabs(report_margin(&c, 0.5) - alike - 0.25) < 1e-9, "losses add their share");
	c.lost = 0.99;
	CHECK(report_margin(&c, 0.5) == 1, "up to all");
	c.lost = 0;

	c.asked.every = true;
	CHECK(report_margin(&c, 0.5) == 0, "a sample of every one");
	c.amount = 101;
	CHECK(report_margin(&c, 0.5) > 0, "not if one represents two");
	c = (struct call_tree_column){
		.samples = 100, .amount = 100, .squares = 100, .lost = 0.25, .asked.every = true
	};
	CHECK(fabs(report_margin(&c, 0.5) - alike - 0.25) < 1e-9, "not of all");
	c = (struct call_tree_column){ .samples = 100, .amount = 100, .squares = 100 };

	CHECK(fabs(alike - 0.0961) < 0.001, "a half of 100: %f", alike);
	CHECK(report_margin(&c, 0) > 0.01 && report_margin(&c, 0) < 0.03, "0 of 100 is not 0");
	/* One sample with half of the total amount: counts as about four samples. */
	c = (struct call_tree_column){ .samples = 101, .amount = 200, .squares = 100 * 100 + 100 };
	CHECK(report_margin(&c, 0.5) > 3 * alike, "fewer where they differ: %f",
	      report_margin(&c, 0.5));
	c = (struct call_tree_column){ 0 };
	CHECK(report_margin(&c, 0.5) == 1, "of nothing, anything");
}

TEST(ratios)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct derived_column r;
	uint64_t values[] = { 50, 100 }, none[] = { 0, 3 };
	double v;

	make();
	CHECK_EQ(derived_parse(&r, "instructions / cycles", s, &err), 0, "%s", err.what);
	CHECK(derived_of(&r, values, &v) && v == 2, "of two columns");
	CHECK(!derived_of(&r, none, &v), "none by 0");
	derived_free(&r);
	CHECK_EQ(derived_parse(&r, "1000 * cycles:u / instructions:u", s, &err), 0,
		 "with modifiers: %s", err.what);
	CHECK(derived_of(&r, values, &v) && v == 500, "per 1000");
	derived_free(&r);
	CHECK_EQ(derived_parse(&r, "branches / cycles", s, &err), -ENOENT,
		 "an event that is not there");
	CHECK(strstr(err.what, "branches") && strstr(err.hint, "cycles:u"), "what there is: %s",
	      err.hint);
	CHECK(derived_parse(&r, "cycles /", s, &err) < 0, "no formula");
	{
		uint64_t exact[] = { 50, 100, 10, 40 };
		static const char *const alike[] = { "exact/loads/ / exact/stores/u",
						     "exact/loads//exact/stores/u",
						     "loads / stores",
						     "exact@loads@ / exact@stores@u",
						     "exact/loads//exact/stores/",
						     "(exact/loads/)/stores" };

		call_tree_add_column(s, "exact/loads/", "");
		call_tree_add_column(s, "exact/stores/u", "");
		for (size_t i = 0; i < ARRAY_SIZE(alike); i++) {
			if (CHECK(derived_parse(&r, alike[i], s, &err) == 0, "%s: %s", alike[i],
				  err.what))
				CHECK(derived_of(&r, exact, &v) && v == 0.25, "%s: %g", alike[i],
				      v);
			derived_free(&r);
		}
		CHECK_EQ(derived_parse(&r, "instructions/cycles/loads", s, &err), 0, "%s",
			 err.what);
		CHECK(derived_of(&r, exact, &v) && v == 0.2, "divisions: %g", v);
		derived_free(&r);
		CHECK_EQ(derived_parse(&r, "load / stores", s, &err), -ENOENT, "no such event");
		CHECK(derived_parse(&r, "", s, &err) < 0 && err.code != ENOMEM, "nothing");
	}
	call_tree_add_column(s, "cycles:k", "");
	CHECK_EQ(derived_column(s, "cycles", &err), (uint32_t)SET_NONE, "two of them");
	CHECK_EQ(derived_column(s, "cycles:k", &err), 4u, "the one");
}

TEST_MAIN()
