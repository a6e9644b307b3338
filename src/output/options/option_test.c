/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include "output/options/output_options.h"
#include "tap.h"

enum fruit { APPLE, PEAR, PLUM };

struct inner {
	bool before; /* offset 0: no GIVEN */
	struct output_options out;
};

struct all {
	unsigned verbose;
	bool flag, given;
	enum fruit fruit, fruit_named;
	uint16_t small;
	uint64_t large;
	size_t optional;
	uint64_t ns;
	double percent;
	const char *text, *choice, *input;
	const char *texts[3], *inputs[2];
	size_t n_texts, n_inputs;
	struct cpus cpus;
	struct inner inner;
	int special;
};

#define OPTIONS struct inner
static const struct option_row inner_rows[] = {
	OUTPUT_FORMAT_ROWS(out, "text or json", "text", "json"),
	BLOCK_ROW(out, output_file_rows),
	{ 0 },
};
#undef OPTIONS

#define OPTIONS struct all

static int set_special(void *to, const char *arg, struct tare_error *err)
{
	*(int *)to = (int)strlen(arg);
	return strcmp(arg, "bad") ? 0 : tare_fail(err, EINVAL, "'bad' is refused");
}

static const struct option_row rows[] = {
	{ 'v', "verbose", NULL, "more words", COUNT(verbose) },
	{ 'f', "flag", NULL, "a flag", FLAG(flag) },
	{ 'P', "plum", NULL, "a plum", VALUE(fruit, PLUM) },
	{ 0, "fruit", "NAME", "which", WORD(fruit, "fruit", "apple", "pear", "plum"),
	  GIVEN(given) },
	{ 0, "later", "[NAME]", NULL, WORD_FROM(fruit_named, PEAR, NULL, "pear", "plum") },
	{ 's', "small", "N", "a number", NUMBER(small, 2, UINT16_MAX) },
	{ 0, "large", "N", "a number", NUMBER(large, 1, UINT64_MAX) },
	{ 'z', "optional", "[N]", "a number", NUMBER(optional, 0, 22), .value = 7 },
	{ 't', "time", "MS", "a time", DURATION(ns, 1000000, 1000), .refusal = "less than 1 us",
	  .hint = "take more" },
	{ 0, "percent", "[P]", "a share", PERCENT(percent, 100) },
	{ 0, "text", "[TEXT]", "a text", TEXT(text, "text") },
	{ 0, "choice", "WHICH", "a text", TEXT_OF(choice, "choice", "one", "two") },
	{ 'i', "input", "FILE", "a file", INPUT_FILE(input) },
	{ 'I', "include", "TEXT", "texts", TEXTS(texts, n_texts, 3, "texts") },
	{ 0, "from", "FILE", "files", INPUTS(inputs, n_inputs, 2, "files") },
	{ 'C', "cpu", "CPUS", "CPUs", CPUS(cpus) },
	BLOCK_ROW(inner, inner_rows),
	{ 0, "special", "TEXT", "special", SPECIAL(special, set_special) },
	{ 0, "no-such", NULL, NULL, REFUSED("this is not done", "that is") },
	{ 0 },
};

static const struct command command = {
	.name = "try",
	.about = "about",
	.args = "WORD...",
	.example = "  example",
	.words = WORDS_ANYWHERE,
	.options = rows,
};

static char said[4096]; /* on standard error and standard output by the last parse() */

/* The words, up to a NULL. Returns what options_parse() does. */
static int parse(struct all *into, int *status, ...)
{
	static char word[16][80];
	char *argv[17] = { strcpy(word[0], "try") };
	int argc = 1, ret, fd = dup(STDERR_FILENO), out = dup(STDOUT_FILENO);
	FILE *file = tmpfile();
	va_list words;
	size_t n;

	va_start(words, status);
	for (const char *w; argc < 16 && (w = va_arg(words, const char *)); argc++)
		argv[argc] = strcpy(word[argc], w);
	va_end(words);
	fflush(stdout);
	dup2(fileno(file), STDERR_FILENO);
	dup2(fileno(file), STDOUT_FILENO);
	ret = options_parse(&command, argc, argv, into, status);
	fflush(stderr);
	fflush(stdout);
	dup2(fd, STDERR_FILENO);
	dup2(out, STDOUT_FILENO);
	close(fd);
	close(out);
	rewind(file);
	n = fread(said, 1, sizeof(said) - 1, file);
	said[n] = '\0';
	fclose(file);
	return ret;
}

#define TAKEN(o, ...)                                                                              \
	do {                                                                                       \
		int taken = parse((o), &(int){ 0 }, __VA_ARGS__, NULL);                            \
		CHECK(taken >= 0, "%s", said);                                                     \
	} while (0)
#define REFUSES(words, ...)                                                                        \
	do {                                                                                       \
		struct all none = { 0 };                                                           \
		int status = 0;                                                                    \
		CHECK_EQ(parse(&none, &status, __VA_ARGS__, NULL), -1, "refused: %s", words);      \
		CHECK_EQ(status, EXIT_CANNOT_MEASURE, "exit status");                              \
		CHECK(strstr(said, words), "'%s' has '%s'", said, words);                          \
	} while (0)

TEST(without_a_value)
{
	struct all o = { 0 };

	TAKEN(&o, "-vvf", "-P", "--verbose");
	CHECK_EQ(o.verbose, 3, "counted");
	CHECK(o.flag && !o.given, "the flag alone");
	CHECK_EQ(o.fruit, PLUM, "value");
	REFUSES("there is no option --flag=x", "--flag=x");
	REFUSES("--no-such: this is not done\n  that is", "--no-such");
}

TEST(numbers)
{
	struct all o = { 0 };

	TAKEN(&o, "-s", "65535", "--large=0x10", "-z");
	CHECK_EQ(o.small, 65535, "as large as fits");
	CHECK_EQ(o.flag | o.given | (int)o.fruit_named, 0, "no other byte is written");
	CHECK_EQ(o.large, 16, "hex");
	CHECK_EQ(o.optional, 7, "left out");
	TAKEN(&o, "-z22", "-s2", "--large", "18446744073709551615");
	CHECK_EQ(o.optional, 22, "given");
	CHECK_EQ(o.small, 2, "least");
	CHECK(o.large == UINT64_MAX, "most");
	REFUSES("tare try: --small: 65536 is not between 2 and 65535", "-s", "65536");
	REFUSES("--small: 1 is not between", "--small", "1");
	REFUSES("--large: 0 is too small", "--large", "0");
	REFUSES("--large: 18446744073709551616 is too large", "--large", "18446744073709551616");
	REFUSES("--optional: 23 is not between 0 and 22", "--optional=23");
	REFUSES("--small: '' is not a number", "-s", "");
	REFUSES("--small: '12x' is not a number", "-s", "12x");
}

TEST(durations)
{
	struct all o = { 0 };

	TAKEN(&o, "--time", "2");
	CHECK_EQ(o.ns, 2000000, "in the unit of a bare number");
	TAKEN(&o, "-t1us");
	CHECK_EQ(o.ns, 1000, "least");
	REFUSES("--time: less than 1 us\n  take more", "--time=999ns");
	REFUSES("--time: ", "--time=soon");
}

TEST(percentages)
{
	struct all o = { .percent = 5 };

	TAKEN(&o, "--percent");
	CHECK(o.percent == 5, "left out: as it was");
	TAKEN(&o, "--percent=0.5%");
	CHECK(o.percent == 0.5, "with its sign");
	TAKEN(&o, "--percent=100");
	CHECK(o.percent == 100, "most");
	for (const char *const *p =
		     (const char *const[]){ "", "100.1", "-1", "nan", "inf", "5%%", "x", NULL };
	     *p; p++) {
		char word[32];

		snprintf(word, sizeof(word), "--percent=%s", *p);
		REFUSES("is not a percentage", word);
	}
}

TEST(words)
{
	struct all o = { 0 };

	TAKEN(&o, "--fruit", "pear", "--later");
	CHECK_EQ(o.fruit, PEAR, "the second");
	CHECK(o.given, "given");
	CHECK_EQ(o.fruit_named, PEAR, "left out: the first");
	TAKEN(&o, "--later=plum");
	CHECK_EQ(o.fruit_named, PLUM, "counted from the first");
	REFUSES("--fruit: there is no fruit 'fig': apple, pear or plum", "--fruit=fig");
	REFUSES("--fruit: there is no fruit 'pea':", "--fruit", "pea"); /* no abbreviation */
	REFUSES("--later: 'apple' is not one of pear, plum", "--later=apple");
}

TEST(texts)
{
	struct all o = { .text = "before" };

	TAKEN(&o, "--choice=two", "--input", "a", "-I1", "-I", "", "--from=f");
	CHECK(!strcmp(o.choice, "two") && !strcmp(o.input, "a") && !strcmp(o.text, "before"),
	      "texts");
	CHECK(o.n_texts == 2 && !strcmp(o.texts[0], "1") && !*o.texts[1], "list");
	CHECK(o.n_inputs == 1 && !strcmp(o.inputs[0], "f"), "list of files");
	TAKEN(&o, "--text");
	CHECK(!o.text, "left out");
	REFUSES("--text: a text is expected", "--text=");
	REFUSES("--input: a file is expected", "-i", "");
	REFUSES("--choice: there is no choice 'three': one or two", "--choice=three");
	REFUSES("--include: more than 3 texts", "-I1", "-I2", "-I3", "-I4");
	REFUSES("--from: more than 2 files", "--from=1", "--from=2", "--from=3");
}

TEST(lists_of_cpus)
{
	struct all o = { 0 };

	TAKEN(&o, "-C", "0-2", "-C", "3,5");
	CHECK(o.cpus.n == 2 && o.cpus.cpu[0] == 3 && o.cpus.cpu[1] == 5, "the last one counts");
	cpus_free(&o.cpus);
	REFUSES("--cpu: a list of CPUs such as 0-3,8 is expected", "-C", "");
	REFUSES("tare try: '3-' is not a list of CPUs", "-C", "3-"); /* with a caret */
}

TEST(blocks)
{
	struct all o = { 0 };
	int status;

	TAKEN(&o, "--format", "json", "-o", "file");
	CHECK_EQ(o.inner.out.format, FORMAT_JSON, "of a block");
	CHECK(o.inner.out.path && !strcmp(o.inner.out.path, "file"), "of a block within it");
	o = (struct all){ 0 };
	TAKEN(&o, "-j");
	CHECK_EQ(o.inner.out.format, FORMAT_JSON, "-j");
	REFUSES("--format: there is no format 'csv': text or json", "--format=csv");
	CHECK_EQ(parse(&o, &status, "--help=all", NULL), -1, "--help=all");
	CHECK_EQ(status, 0, "exit status");
	CHECK(strstr(said,
		     "  -C, --cpu CPUS              CPUs\n      --format FORMAT         text "
		     "or json\n"
		     "  -j, --json                  the same as --format json\n"
		     "  -o, --output FILE           write to FILE instead of standard output\n"
		     "      --special TEXT          special\n"),
	      "rows in their order: %s", said);
	CHECK(!strstr(said, "--later") && !strstr(said, "--no-such"), "hidden ones");
}

TEST(special_ones)
{
	struct all o = { 0 };

	TAKEN(&o, "--special=four");
	CHECK_EQ(o.special, 4, "is given its member");
	REFUSES("tare try: --special: 'bad' is refused", "--special", "bad");
}

TEST(names_of_options)
{
	struct all o = { 0 };
	int status;

	TAKEN(&o, "--verb", "--outp=x", "--spec=1");
	CHECK(o.verbose == 1 && o.special == 1 && o.inner.out.path, "abbreviated");
	REFUSES("there is no option --f", "--f=pear"); /* flag, fruit, format, from */
	REFUSES("there is no option --frut\n  did you mean --fruit?", "--frut", "pear");
	REFUSES("there is no option -y", "-y");
	REFUSES("-s needs a value", "-s");
	REFUSES("--small needs a value", "--small");
	CHECK_EQ(parse(&o, &status, "one", "-v", "two", "--", "-v", NULL), 3,
		 "words between options follow them");
}

TEST_MAIN()
