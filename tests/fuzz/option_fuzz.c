/* SPDX-License-Identifier: MIT */
/* Any words as options of every kind: refused with a message, or values within the limits of their
 * rows. */
#include <fcntl.h>
#include <math.h>
#include <unistd.h>
#include "fuzz.h"
#include "output/options/output_options.h"

enum { WORDS_MOST = 12, LIST_MOST = 3 };

struct all {
	unsigned verbose;
	bool flag, given;
	int word;
	uint16_t small, beside;
	uint64_t large, optional, ns;
	double percent;
	const char *text, *choice, *input, *texts[LIST_MOST + 1];
	size_t n_texts;
	struct cpus cpus;
	struct output_options out;
};

#define OPTIONS struct all

static const struct option_row rows[] = {
	{ 'v', "verbose", NULL, "", COUNT(verbose) },
	{ 'f', "flag", NULL, "", FLAG(flag) },
	{ 'w', "word", "[WORD]", "", WORD_FROM(word, 3, "word", "one", "two", "three"),
	  GIVEN(given) },
	{ 's', "small", "N", "", NUMBER(small, 2, 60000) },
	{ 'l', "large", "N", "", NUMBER(large, 1, UINT64_MAX) },
	{ 'z', "optional", "[N]", "", NUMBER(optional, 0, 22), .value = 7 },
	{ 't', "time", "MS", "", DURATION(ns, 1000000, 1000) },
	{ 'p', "percent", "[P]", "", PERCENT(percent, 100) },
	{ 0, "text", "[TEXT]", "", TEXT(text, "text") },
	{ 'c', "choice", "WHICH", "", TEXT_OF(choice, "choice", "one", "two") },
	{ 'I', "include", "TEXT", "", TEXTS(texts, n_texts, LIST_MOST, "texts") },
	{ 'C', "cpu", "CPUS", "", CPUS(cpus) },
	OUTPUT_FORMAT_ROWS(out, "", "text", "json", "csv"),
	BLOCK_ROW(out, output_file_rows),
	{ 0, "refused", NULL, "", REFUSED("no", "yes") },
	{ 0 },
};

static void check(const struct all *o)
{
	must(o->beside == 0x5aa5);
	must(o->word == -1 || (o->given && o->word >= 3 && o->word <= 5));
	must(!o->small || (o->small >= 2 && o->small <= 60000));
	must(o->optional <= 22);
	must(!o->ns || o->ns >= 1000);
	must(o->percent >= 0 && o->percent <= 100);
	must(!o->text || *o->text);
	must(!o->choice || !strcmp(o->choice, "one") || !strcmp(o->choice, "two"));
	must(o->n_texts <= LIST_MOST && !o->texts[LIST_MOST]);
	must(o->out.format >= FORMAT_TEXT && o->out.format <= FORMAT_CSV);
	must(!o->out.path || *o->out.path);
}

/* The first byte chooses where options may stand; words are parted by newlines. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static int nowhere = -1;
	const struct command command = { .name = "try",
					 .about = "",
					 .args = "",
					 .example = "",
					 .words = n ? bytes[0] % 3 : 0,
					 .options = rows };
	struct all o = { .word = -1, .beside = 0x5aa5 };
	char *text = fuzz_text(bytes + !!n, n - !!n), *rest = text,
	     *argv[WORDS_MOST + 2] = { "try" };
	int argc = 1, status = -1, ret, out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);

	for (char *word; argc <= WORDS_MOST && (word = strsep(&rest, "\n"));)
		argv[argc++] = word;
	if (nowhere < 0)
		nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	fflush(stdout);
	dup2(nowhere, STDOUT_FILENO);
	dup2(nowhere, STDERR_FILENO);
	ret = options_parse(&command, argc, argv, &o, &status);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	check(&o);
	must(ret >= -1 && ret != 0 && ret <= argc);
	must(ret == -1 ? status == 0 || status == EXIT_CANNOT_MEASURE
		       : status == 0 && (!o.cpus.cpu || o.cpus.n));
	cpus_free(&o.cpus);
	free(text);
	return 0;
}
