/* SPDX-License-Identifier: MIT */
#include <math.h>
#include "tap.h"
#include "output/csv.h"

/* A document like those of tare sharing and tare summarize. */
static void document(struct json *j, int lines)
{
	json_object(j, NULL);
	json_string(j, "schema", "tare/x/1");
	json_array(j, "lines");
	for (int i = 0; i < lines; i++) {
		json_object(j, NULL);
		json_uint(j, "address", 64 * (uint64_t)i);
		json_string(j, "verdict", i == 1 ? NULL : "true, by \"both\"");
		json_array(j, "arguments");
		for (int k = 0; k < i; k++)
			json_string(j, NULL, k ? "b" : "a");
		json_end(j);
		if (i == 0) {
			json_object(j, "places");
			json_uint(j, "L1", 3);
			json_end(j);
		}
		json_array(j, "cells");
		for (int k = 0; k < i; k++) {
			json_object(j, NULL);
			json_uint_if(j, "offset", k == 0, 8);
			json_real(j, "mean", k ? NAN : 1.0 / 3);
			json_object(j, "caller");
			json_string(j, "function", k ? "-main" : "main");
			json_end(j);
			json_bool(j, "kernel", k);
			json_hex(j, "ip", 255);
			table_string(j, "shown", "only here");
			json_end(j);
		}
		json_end(j);
		json_object(j, "counters");
		for (int k = 0; k < i; k++) {
			json_object(j, k ? "cpu/x,y/" : "cycles");
			json_uint(j, "self", UINT64_MAX);
			json_int(j, "change", INT64_MIN);
			json_end(j);
		}
		json_end(j);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void check_csv(const struct table_layout *as, int lines, const char *want)
{
	struct text out = { 0 };
	struct json j = document_as(FORMAT_CSV, as);

	document(&j, lines);
	json_into(&out, &j);
	CHECK_EQ(out.failed, false);
	CHECK_STR(out.s, want);
	text_free(&out);
}

TEST(rows_have_values_of_themselves_and_around)
{
	static const struct table_layout as = {
		.rows = "lines/cells",
		.columns =
			"line=../address%x,verdict=../verdict?none,offset?-,mean,caller/function,"
			"kernel,ip,shown,missing",
		.digits = 3,
	};

	check_csv(&as, 3,
		  "line,verdict,offset,mean,caller/function,kernel,ip,shown,missing\n"
		  "0x40,none,8,0.333,main,false,0xff,only here,\n"
		  "0x80,\"true, by \"\"both\"\"\",8,0.333,main,false,0xff,only here,\n"
		  "0x80,\"true, by \"\"both\"\"\",-,,'-main,true,0xff,only here,\n");
}

TEST(a_table_without_rows_has_a_head)
{
	check_csv(&(struct table_layout){ .rows = "lines/cells", .columns = "a,b=../c" }, 1,
		  "a,b\n");
	check_csv(&(struct table_layout){ .rows = "no/such/rows",
					  .columns = "a",
					  .line_end = "\r\n" },
		  2, "a\r\n");
}

TEST(an_object_without_rows_can_be_one)
{
	static const struct table_layout as = {
		.rows = "lines/counters/*",
		.outer = "lines",
		.columns = "line=../../address,arguments=../../arguments,counter=.,self,change",
	};

	check_csv(&as, 3,
		  "line,arguments,counter,self,change\n"
		  "0,,,,\n"
		  "64,a,cycles,18446744073709551615,-9223372036854775808\n"
		  "128,a\\x1eb,cycles,18446744073709551615,-9223372036854775808\n"
		  "128,a\\x1eb,\"cpu/x,y/\",18446744073709551615,-9223372036854775808\n");
}

TEST(columns_are_added_and_values_do_not_stay)
{
	static const struct table_layout as = { .rows = "lines", .columns = "address" };
	struct text out = { 0 };
	struct json j = document_as(FORMAT_CSV, &as);

	table_column(&j, "place L1", "places", "L1", "0");
	document(&j, 2);
	json_into(&out, &j);
	CHECK_STR(out.s, "address,place L1\n0,3\n64,0\n");
	text_free(&out);
}

TEST(an_object_is_no_row_and_a_column_has_digits)
{
	static const struct table_layout as = { .rows = "rows",
						.columns = "a,b=a%3,c=a%x",
						.digits = 15 };
	struct text out = { 0 };
	struct json j = document_as(FORMAT_CSV, &as);

	json_object(&j, NULL);
	json_array(&j, "rows");
	for (int i = 0; i < 3; i++) {
		json_object(&j, NULL);
		json_real(&j, "a", i + 1 / 3.0);
		json_real(&j, "a", i + 1 / 3.0);
		json_uint(&j, "a", 16);
		if (i == 1)
			table_no_row(&j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	json_into(&out, &j);
	CHECK_STR(out.s, "a,b,c\n0.333333333333333,0.333,0x10\n2.33333333333333,2.33,0x10\n");
	text_free(&out);
}

TEST(json_has_no_value_of_the_table_alone)
{
	struct json j = document_as(FORMAT_JSON, NULL);

	table_column(&j, "a", "", "a", NULL);
	json_object(&j, NULL);
	table_no_row(&j);
	table_string(&j, "a", "b");
	table_real(&j, "c", 1);
	json_real_if(&j, "r", false, 1);
	json_int_if(&j, "i", true, -1);
	json_bool_if(&j, "b", false, true);
	json_strings(&j, "s", (const char *const[]){ "x", NULL });
	json_end(&j);
	CHECK_STR(
		j.out.s,
		"{\n  \"r\": null,\n  \"i\": -1,\n  \"b\": null,\n  \"s\": [\n    \"x\"\n  ]\n}\n");
	text_free(&j.out);
}
TEST_MAIN()
