/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "perfdata/dump/tell_partial.h"
#include "perfdata/perfdata_features.h"
#include "perfdata/perfdata_precise.h"
#include "output/escape.h"
#include "count/partial.h"
#include "perfdata/dump/undecoded.h"

/* The program that reads that kind of AUX data; "" if none is known. */
static const char *remedy(const struct perfdata_undecoded *row)
{
	return row->why ? ""
		: row->aux == PD_AUXTRACE_ARM_SPE
		? "; tare memory, tare sharing and tare export --accesses read it"
		: "; tare does not read it, perf script --itrace does";
}

bool tell_partial(const char *command, const char *path, const struct perfdata *file,
		  const char *damage, bool spe_unread)
{
	struct perfdata_undecoded row[PERFDATA_UNDECODED_MAX];
	size_t n = perfdata_undecoded(file, spe_unread, row, PERFDATA_UNDECODED_MAX);
	struct text out = { 0 };

	if (*damage) {
		text_add(&out, "tare %s: ", command);
		escape(&out, damage, strlen(damage));
		text_add(&out, "\n  the part before the damage was read\n");
	}
	for (size_t i = 0; i < n; i++) {
		text_add(&out, "tare %s: ", command);
		escape(&out, path, strlen(path));
		text_add(&out, ": ");
		undecoded_text(&out, file, &row[i]);
		text_add(&out, "%s\n", remedy(&row[i]));
	}
	if (!out.failed && out.len)
		fputs(out.s, stderr);
	text_free(&out);
	return *damage || n;
}

void tell_uncounted(const char *command, const char *path, const struct perfdata *file)
{
	const struct exact_partial *p = perfdata_features(file)->partial;
	struct text words = { 0 }, out = { 0 };

	for (unsigned i = 0; p && partial_sentence(&words, p, i); i++) {
		text_add(&out, "tare %s: ", command);
		escape(&out, path, strlen(path));
		text_add(&out, ": %s\n", words.failed ? "" : words.s);
		text_free(&words);
	}
	if (!out.failed && out.len)
		fputs(out.s, stderr);
	text_free(&out);
}
