/* SPDX-License-Identifier: MIT */
/* A stack as the kernel sets it up, constructed by hand, and damaged ones. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "diverge/initial_stack.h"
#include "base/error.h"
#include "tap.h"

enum {
	AT = 0x7000,
	SIZE = 0x200,
	ARG0 = AT + 0x100,
	ARG1 = AT + 0x108,
	ENV0 = AT + 0x10c,
	ENV1 = AT + 0x120,
	RANDOM = AT + 0xe0,
	EXECFN = AT + 0x130
};

static const uint64_t lists[] = { 2,    ARG0,      ARG1,   0,         ENV0,   ENV1,    0, AT_PAGESZ,
				  4096, AT_RANDOM, RANDOM, AT_EXECFN, EXECFN, AT_NULL, 0 };

static void lay_out(uint8_t to[SIZE])
{
	memset(to, 0xa5, SIZE);
	memcpy(to, lists, sizeof(lists));
	strcpy((char *)to + ARG0 - AT, "./prog");
	strcpy((char *)to + ARG1 - AT, "one");
	strcpy((char *)to + ENV0 - AT, "PATH=/bin");
	strcpy((char *)to + ENV1 - AT, "no variable");
	strcpy((char *)to + EXECFN - AT, "./prog");
}

TEST(each_part_is_told)
{
	static const struct {
		int line;
		uint64_t address;
		enum initial_stack_part part;
		unsigned number;
		const char *name;
	} rows[] = {
		{ __LINE__, AT, INITIAL_STACK_POINTERS, 0, "" },
		{ __LINE__, AT + 48, INITIAL_STACK_POINTERS, 0, "" },
		{ __LINE__, AT + 56, INITIAL_STACK_VECTOR, AT_PAGESZ, "" },
		{ __LINE__, AT + 80, INITIAL_STACK_VECTOR, AT_RANDOM, "" },
		{ __LINE__, RANDOM, INITIAL_STACK_RANDOM, 0, "" },
		{ __LINE__, RANDOM + 15, INITIAL_STACK_RANDOM, 0, "" },
		{ __LINE__, RANDOM + 16, INITIAL_STACK_UNKNOWN, 0, "" },
		{ __LINE__, RANDOM - 1, INITIAL_STACK_UNKNOWN, 0, "" },
		{ __LINE__, ARG0, INITIAL_STACK_ARGUMENT, 0, "" },
		{ __LINE__, ARG1, INITIAL_STACK_ARGUMENT, 1, "" },
		{ __LINE__, ARG1 + 3, INITIAL_STACK_ARGUMENT, 1, "" },
		{ __LINE__, ENV0, INITIAL_STACK_VARIABLE, 0, "PATH" },
		{ __LINE__, ENV1 - 1, INITIAL_STACK_VARIABLE, 0, "PATH" },
		{ __LINE__, ENV1, INITIAL_STACK_VARIABLE, 0, "" },
		{ __LINE__, EXECFN, INITIAL_STACK_NAME, 0, "" },
		{ __LINE__, AT - 1, INITIAL_STACK_UNKNOWN, 0, "" },
	};
	uint8_t stack[SIZE];

	lay_out(stack);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct initial_stack_place p;
		bool found = initial_stack_find(stack, SIZE, AT, rows[i].address, &p);

		CHECK_EQ(found, rows[i].part != INITIAL_STACK_UNKNOWN, "row at line %d",
			 rows[i].line);
		CHECK_EQ(p.part, rows[i].part, "row at line %d", rows[i].line);
		CHECK_EQ(p.number, rows[i].number, "row at line %d", rows[i].line);
		CHECK(!strcmp(p.name, rows[i].name), "row at line %d: %s", rows[i].line, p.name);
	}
}

/* Without valid lists nothing is found. For a truncated stack, the part that is there is used. */
TEST(what_is_no_initial_stack)
{
	static const struct {
		int line;
		size_t word;
		uint64_t value;
	} rows[] = { { __LINE__, 0, 0 },    { __LINE__, 0, 3 },    { __LINE__, 0, UINT64_MAX },
		     { __LINE__, 1, 5 },    { __LINE__, 2, ARG0 }, { __LINE__, 3, ARG1 + 1 },
		     { __LINE__, 5, ENV0 }, { __LINE__, 6, 1 } };
	struct initial_stack_place p;
	uint8_t stack[SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		lay_out(stack);
		memcpy(stack + 8 * rows[i].word, &rows[i].value, 8);
		CHECK(!initial_stack_find(stack, SIZE, AT, ARG1, &p) &&
			      p.part == INITIAL_STACK_UNKNOWN,
		      "row at line %d", rows[i].line);
	}
	lay_out(stack);
	for (size_t n = 0; n <= SIZE; n++) {
		uint8_t *cut = malloc(n + 1);

		if (!cut)
			break;
		memcpy(cut, stack, n);
		CHECK_EQ(initial_stack_find(cut, n, AT, ENV0 + 2, &p), n >= sizeof(lists),
			 "%zu bytes", n);
		CHECK_EQ(p.name[0] != '\0', n >= 0x118, "%zu bytes: the name of the variable", n);
		free(cut);
	}
}

TEST_MAIN()
